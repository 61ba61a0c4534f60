// SPDX-License-Identifier: MIT
/*
 * Arguments that subcommands read alike.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
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

/* Tables of options ---------------------------------------------------------------------------- */

static int read_queue(const struct command *command, const char *option, const char *text,
		      uint32_t *queue)
{
	int64_t number;
	uint32_t count;
	int status = argument_numbers(command, option, text, 0, 1, &count, &number);

	if (status)
		return status;
	if (!count || number >= ACCEL_MAX_PES)
		return command_misuse(command, "%s '%s', expected a number less than %d", option,
				      text, ACCEL_MAX_PES);
	*queue = (uint32_t)number;
	return STATUS_OK;
}

static int read_option(const struct command *command, const struct argument_option *option,
		       const char *text, void *values)
{
	void *value = (char *)values + option->offset;
	struct argument_list *list = value;
	char name[32];

	snprintf(name, sizeof(name), "--%s", option->name);
	switch (option->kind) {
	case ARGUMENT_FLAG:
		*(bool *)value = true;
		break;
	case ARGUMENT_TEXT:
		*(const char **)value = text;
		break;
	case ARGUMENT_NUMBERS:
		list->is_given = true;
		return argument_numbers(command, name, text, option->minimum, ACCEL_MAX_DIMS,
					&list->count, list->numbers);
	case ARGUMENT_QUEUE:
		return read_queue(command, name, text, value);
	}
	return STATUS_OK;
}

int argument_parse(const struct command *command, int argc, char **argv,
		   const struct argument_option *options, size_t num_options, void *values)
{
	struct option list[ARGUMENT_MAX_OPTIONS + 1] = { 0 };
	int number, status = STATUS_OK;

	/* getopt_long() returns the place in the table, and '?' for what is not there */
	_Static_assert(ARGUMENT_MAX_OPTIONS < '?', "the place of an option is that of an error");
	for (size_t k = 0; k < num_options; k++)
		list[k] = (struct option){
			options[k].name,
			options[k].kind == ARGUMENT_FLAG ? no_argument : required_argument,
			NULL, (int)k
		};
	optind = 0;
	while (!status && (number = getopt_long(argc, argv, "", list, NULL)) != -1)
		status = number == '?' ? command_misuse(command, "bad option") :
			 read_option(command, &options[number], optarg, values);
	return status;
}

int argument_parse_all(const struct command *command, int argc, char **argv,
		       const struct argument_option *options, size_t num_options, void *values)
{
	int status = argument_parse(command, argc, argv, options, num_options, values);

	if (!status && optind < argc)
		return command_misuse(command, "argument '%s', expected none", argv[optind]);
	return status;
}

int argument_blame(const char *option, struct accel_error *error)
{
	char message[sizeof(error->message)];

	snprintf(message, sizeof(message), "%s: %.*s", option,
		 (int)(sizeof(message) - 3 - strlen(option)), error->message);
	memcpy(error->message, message, sizeof(message));
	return error->code;
}
