// SPDX-License-Identifier: MIT
/*
 * A place in the text of a notation. Reads each byte a fixed number of times, whatever the text.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "layout/cursor.h"
#include "layout/expression.h"

static int column_of(const struct cursor *cursor, const char *at)
{
	ptrdiff_t column = at - cursor->text + 1;

	return column > INT_MAX ? INT_MAX : (int)column;
}

int cursor_fail(struct cursor *cursor, const char *at, const char *format, ...)
{
	char message[sizeof(cursor->error->message)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	return accel_error_set_at(cursor->error, -EINVAL, column_of(cursor, at), "layout: %s",
				  message);
}

/* What stands at p, for a message: hostile bytes are not passed on to a terminal. */
static const char *describe_character(const char *p, char buffer[16])
{
	if (!*p)
		return "the end";
	if (isprint((unsigned char)*p))
		snprintf(buffer, 16, "'%c'", *p);
	else
		snprintf(buffer, 16, "byte 0x%02x", (unsigned char)*p);
	return buffer;
}

int cursor_unexpected(struct cursor *cursor, const char *expected)
{
	char buffer[16];

	return cursor_fail(cursor, cursor->next, "found %s at column %d, expected %s",
			   describe_character(cursor->next, buffer),
			   column_of(cursor, cursor->next), expected);
}

bool cursor_take(struct cursor *cursor, const char *literal)
{
	size_t length = strlen(literal);

	if (strncmp(cursor->next, literal, length))
		return false;
	cursor->next += length;
	return true;
}

void cursor_skip_blanks(struct cursor *cursor)
{
	while (*cursor->next == ' ' || *cursor->next == '\t')
		cursor->next++;
}

int cursor_end(struct cursor *cursor, const char *expected)
{
	return *cursor->next ? cursor_unexpected(cursor, expected) : 0;
}

int cursor_number(struct cursor *cursor, int64_t minimum, const char *what, int64_t *value)
{
	const char *start = cursor->next;
	bool is_negative = minimum < 0 && *cursor->next == '-';
	int64_t number = 0;
	bool overflows = false;

	cursor->next += is_negative;
	if (!isdigit((unsigned char)*cursor->next))
		return cursor_unexpected(cursor, what);
	/* counted down, as the least number has no positive counterpart */
	for (; isdigit((unsigned char)*cursor->next); cursor->next++) {
		overflows |= __builtin_mul_overflow(number, 10, &number);
		overflows |= __builtin_sub_overflow(number, *cursor->next - '0', &number);
	}
	if (!is_negative)
		overflows |= __builtin_sub_overflow(0, number, &number);
	if (overflows)
		return cursor_fail(cursor, start, "the number at column %d does not fit 64 bits",
				   column_of(cursor, start));
	if (number < minimum)
		return cursor_fail(cursor, start,
				   "the number at column %d is %" PRId64 ", expected at least %"
				   PRId64, column_of(cursor, start), number, minimum);
	*value = number;
	return 0;
}

int cursor_numbers(struct cursor *cursor, int64_t minimum, const char *what, uint32_t capacity,
		   int64_t *values, uint32_t *count)
{
	bool has_brackets = cursor_take(cursor, "[");
	char limit[32];
	int ret;

	*count = 0;
	if (has_brackets)
		cursor_skip_blanks(cursor);
	if (isdigit((unsigned char)*cursor->next) || *cursor->next == '-') {
		do {
			if (has_brackets)
				cursor_skip_blanks(cursor);
			if (*count == capacity) {
				snprintf(limit, sizeof(limit), "at most %u numbers", capacity);
				return cursor_unexpected(cursor, limit);
			}
			ret = cursor_number(cursor, minimum, what, &values[*count]);
			if (ret)
				return ret;
			(*count)++;
			if (has_brackets)
				cursor_skip_blanks(cursor);
		} while (cursor_take(cursor, ","));
	}
	if (has_brackets && !cursor_take(cursor, "]"))
		return cursor_unexpected(cursor, "',' or ']'");
	return 0;
}

int cursor_permutation(struct cursor *cursor, const char *what, uint32_t capacity,
		       uint32_t *values, uint32_t *count)
{
	const char *start = cursor->next;
	int64_t numbers[ACCEL_MAX_DIMS];
	uint32_t seen = 0;
	int ret;

	ret = cursor_numbers(cursor, 0, what, capacity, numbers, count);
	if (ret)
		return ret;
	for (uint32_t i = 0; i < *count; i++) {
		if (numbers[i] >= *count || seen & 1U << numbers[i])
			return cursor_fail(cursor, start,
					   "the list at column %d has %" PRId64
					   " as number %u, expected each of 0 to %u once",
					   column_of(cursor, start), numbers[i], i, *count - 1);
		seen |= 1U << numbers[i];
		values[i] = (uint32_t)numbers[i];
	}
	return 0;
}

/* The option whose name stands next and ends there, or num_options. */
static uint32_t find_option(const struct cursor *cursor, uint32_t num_options,
			    const struct cursor_option *options)
{
	for (uint32_t k = 0; k < num_options; k++) {
		size_t length = strlen(options[k].name);
		char after;

		if (strncmp(cursor->next, options[k].name, length))
			continue;
		after = cursor->next[length];
		if (!isalnum((unsigned char)after) && after != '_')
			return k;
	}
	return num_options;
}

static int unknown_option(struct cursor *cursor, uint32_t num_options,
			  const struct cursor_option *options)
{
	char names[160];
	struct printer printer;

	printer_init(&printer, names, sizeof(names));
	for (uint32_t k = 0; k < num_options; k++)
		printer_add(&printer, "%s%s%s", k ? (k + 1 < num_options ? ", " : " or ") : "",
			    options[k].name, options[k].is_flag ? "" : "=");
	return cursor_unexpected(cursor, names);
}

int cursor_options(struct cursor *cursor, uint32_t num_options,
		   const struct cursor_option *options, void *layout, uint32_t *given,
		   const char **places)
{
	*given = 0;
	do {
		uint32_t k;
		int ret;

		cursor_skip_blanks(cursor);
		k = find_option(cursor, num_options, options);
		if (k == num_options)
			return unknown_option(cursor, num_options, options);
		if (*given & 1U << k)
			return cursor_fail(cursor, cursor->next, "%s is given twice",
					   options[k].name);
		*given |= 1U << k;
		places[k] = cursor->next;
		cursor->next += strlen(options[k].name);
		if (!options[k].is_flag) {
			cursor_skip_blanks(cursor);
			if (!cursor_take(cursor, "="))
				return cursor_unexpected(cursor, "'='");
			cursor_skip_blanks(cursor);
		}
		ret = options[k].parse(cursor, layout);
		if (ret)
			return ret;
		if (!*cursor->next)
			return 0;
	} while (cursor_take(cursor, ";") || *cursor->next == ' ');
	return cursor_unexpected(cursor, "';' or the end");
}
