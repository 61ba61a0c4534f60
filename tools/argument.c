// SPDX-License-Identifier: MIT
/*
 * Arguments that subcommands read alike.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argument.h"

/* Of a long text, this much before the fault and behind it is shown. */
#define WINDOW	60

/* The text on one line of its own: hostile bytes are not passed on to a terminal. */
static void print_excerpt(const char *text, size_t length)
{
	for (size_t k = 0; k < length; k++)
		fputc(isprint((unsigned char)text[k]) ? text[k] : '?', stderr);
}

int argument_fail(const struct command *command, const char *text,
		  const struct accel_error *error)
{
	size_t length = strlen(text), column = 0, start = 0;

	command_fail(command, STATUS_USAGE, error);
	if (error->column <= 0)
		return STATUS_USAGE;
	column = (size_t)error->column - 1;
	if (column > length)
		column = length;
	if (column > WINDOW)
		start = column - WINDOW;
	if (length - start > 2 * WINDOW)
		length = start + 2 * WINDOW;
	fputs("  ", stderr);
	print_excerpt(text + start, length - start);
	fprintf(stderr, "\n  %*s^\n", (int)(column - start), "");
	return STATUS_USAGE;
}

static int fail_at(const struct command *command, const char *option, const char *text,
		   const char *at, const char *expected)
{
	struct accel_error error = { .code = -EINVAL, .column = (int)(at - text) + 1 };

	snprintf(error.message, sizeof(error.message), "%s: expected %s at column %d", option,
		 expected, error.column);
	return argument_fail(command, text, &error);
}

int argument_numbers(const struct command *command, const char *option, const char *text,
		     int64_t minimum, uint32_t capacity, uint32_t *count, int64_t *numbers)
{
	const char *next = text;

	*count = 0;
	if (!*text)
		return STATUS_OK;
	for (;; next++) {
		const char *digits = next + (minimum < 0 && *next == '-');
		long long number;
		char *end;

		/* strtoll() alone would take blanks and a plus sign */
		if (!isdigit((unsigned char)*digits))
			return fail_at(command, option, text, next, "a number");
		if (*count == capacity)
			return fail_at(command, option, text, next, "no more numbers");
		errno = 0;
		number = strtoll(next, &end, 10);
		if (errno == ERANGE || number < minimum)
			return fail_at(command, option, text, next, "a number in range");
		numbers[(*count)++] = number;
		next = end;
		if (!*next)
			return STATUS_OK;
		if (*next != ',')
			return fail_at(command, option, text, next, "',' or the end");
	}
}
