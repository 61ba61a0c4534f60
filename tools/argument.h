/* SPDX-License-Identifier: MIT */
/*
 * Arguments that subcommands read alike: tables of options, lists of numbers, and errors shown
 * with a caret below the text that they are in.
 */
#ifndef TOOLS_ARGUMENT_H
#define TOOLS_ARGUMENT_H

#include <stddef.h>

#include "command.h"

/* What an option has behind it, and what that is kept in. */
enum argument_kind {
	ARGUMENT_FLAG,		/* nothing: a bool becomes true */
	ARGUMENT_TEXT,		/* a const char * */
	ARGUMENT_NUMBERS,	/* a struct argument_list */
	ARGUMENT_QUEUE,		/* a uint32_t, less than ACCEL_MAX_PES */
};

struct argument_list {
	bool is_given;
	uint32_t count;
	int64_t numbers[ACCEL_MAX_DIMS];
};

/* An option of a command, by its name without dashes. */
struct argument_option {
	const char *name;
	enum argument_kind kind;
	size_t offset;		/* of what it is kept in, in the command's own struct */
	int64_t minimum;	/* of numbers */
};

#define ARGUMENT_MAX_OPTIONS	16

/*
 * Reads options, the last of each if it is given again, to the command's own struct; optind is then
 * the place of the first argument that is none. Returns STATUS_OK, or STATUS_USAGE after a
 * message.
 */
int argument_parse(const struct command *command, int argc, char **argv,
		   const struct argument_option *options, size_t num_options, void *values);

/* The same for a command that has options alone. */
int argument_parse_all(const struct command *command, int argc, char **argv,
		       const struct argument_option *options, size_t num_options, void *values);

/*
 * Reads "14,31" into numbers, each of at least minimum; an empty text is an empty list. Returns
 * STATUS_OK, or STATUS_USAGE after a message that names the option, with a caret.
 */
int argument_numbers(const struct command *command, const char *option, const char *text,
		     int64_t minimum, uint32_t capacity, uint32_t *count, int64_t *numbers);

/* Puts the option that an error comes from before its message: "--to: ..". Returns its code. */
int argument_blame(const char *option, struct accel_error *error);

/* command_fail() with the text and, where the error has a column, a caret below it. */
int argument_fail(const struct command *command, const char *text,
		  const struct accel_error *error);

#endif /* TOOLS_ARGUMENT_H */
