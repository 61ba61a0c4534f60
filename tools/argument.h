/* SPDX-License-Identifier: MIT */
/*
 * Arguments that subcommands read alike: lists of numbers, and errors shown with a caret below
 * the text that they are in.
 */
#ifndef TOOLS_ARGUMENT_H
#define TOOLS_ARGUMENT_H

#include "command.h"

/*
 * Reads "14,31" into numbers, each of at least minimum; an empty text is an empty list. Returns
 * STATUS_OK, or STATUS_USAGE after a message that names the option, with a caret.
 */
int argument_numbers(const struct command *command, const char *option, const char *text,
		     int64_t minimum, uint32_t capacity, uint32_t *count, int64_t *numbers);

/* command_fail() with the text and, where the error has a column, a caret below it. */
int argument_fail(const struct command *command, const char *text,
		  const struct accel_error *error);

#endif /* TOOLS_ARGUMENT_H */
