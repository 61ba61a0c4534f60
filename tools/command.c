// SPDX-License-Identifier: MIT
/*
 * What the subcommands have in common: messages and names.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

int command_fail(const struct command *command, int status, const struct accel_error *error)
{
	fprintf(stderr, "accel %s: %s\n", command->name, error->message);
	return status;
}

int command_misuse(const struct command *command, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "accel %s: ", command->name);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "\nTry 'accel help %s'.\n", command->name);
	return STATUS_USAGE;
}

int command_open(const char *name, struct accel_device **device, struct accel_error *error)
{
	return accel_open(strcmp(name, "auto") ? name : NULL, device, error);
}

const char *command_print_shape(char *text, uint32_t rank, const int64_t *shape)
{
	int length = sprintf(text, "(");

	for (uint32_t i = 0; i < rank; i++)
		length += sprintf(text + length, "%s%" PRId64, i ? "," : "", shape[i]);
	strcpy(text + length, ")");
	return text;
}
