/* SPDX-License-Identifier: MIT */
/*
 * A place in the text of a notation, and what all notations read alike: literals, numbers, lists,
 * options, and errors with their column. Index maps have a lexer of their own in expression.h.
 */
#ifndef ACCEL_LAYOUT_CURSOR_H
#define ACCEL_LAYOUT_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <accel.h>

struct cursor {
	const char *text;
	const char *next;
	struct accel_error *error;
};

/* Fills in the error for a place in the text. Returns -EINVAL. */
int cursor_fail(struct cursor *cursor, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Fails with what stands next and what was expected there. */
int cursor_unexpected(struct cursor *cursor, const char *expected);

/* Takes literal if it stands next. */
bool cursor_take(struct cursor *cursor, const char *literal);

void cursor_skip_blanks(struct cursor *cursor);

/* The end of the text, or an error. */
int cursor_end(struct cursor *cursor, const char *expected);

/* A decimal number of at least minimum; what names it for a person. */
int cursor_number(struct cursor *cursor, int64_t minimum, const char *what, int64_t *value);

/*
 * Numbers with commas between, at most capacity, with or without brackets around them. An empty
 * list is one without a digit or sign.
 */
int cursor_numbers(struct cursor *cursor, int64_t minimum, const char *what, uint32_t capacity,
		   int64_t *values, uint32_t *count);

/*
 * A list that holds each of 0 .. count - 1 once. Those who call say with what it has to agree in
 * length.
 */
int cursor_permutation(struct cursor *cursor, const char *what, uint32_t capacity,
		       uint32_t *values, uint32_t *count);

/* An option of a notation, such as order=1,0,2. parse reads what follows the = sign. */
struct cursor_option {
	const char *name;
	bool is_flag;				/* stands alone, without a value */
	int (*parse)(struct cursor *cursor, void *layout);
};

/*
 * Options with ; or blanks between them, each at most once, to the end of the text. Bit k of
 * given is set when option k is there, and places[k] is where it begins.
 */
int cursor_options(struct cursor *cursor, uint32_t num_options,
		   const struct cursor_option *options, void *layout, uint32_t *given,
		   const char **places);

#endif /* ACCEL_LAYOUT_CURSOR_H */
