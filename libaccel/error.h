/* SPDX-License-Identifier: MIT */
/*
 * How an accel_error is filled in. Knows nothing of what went wrong.
 */
#ifndef ACCEL_ERROR_H
#define ACCEL_ERROR_H

#include <stdarg.h>
#include <stdio.h>

#include <accel.h>

/* Both return code, so that a check is one statement: return accel_error_set(...). */
__attribute__((format(printf, 3, 4)))
static inline int accel_error_set(struct accel_error *error, int code, const char *format, ...)
{
	va_list arguments;

	if (!error)
		return code;
	error->code = code;
	error->column = 0;
	va_start(arguments, format);
	vsnprintf(error->message, sizeof(error->message), format, arguments);
	va_end(arguments);
	return code;
}

__attribute__((format(printf, 4, 5)))
static inline int accel_error_set_at(struct accel_error *error, int code, int column,
				     const char *format, ...)
{
	va_list arguments;

	if (!error)
		return code;
	error->code = code;
	error->column = column;
	va_start(arguments, format);
	vsnprintf(error->message, sizeof(error->message), format, arguments);
	va_end(arguments);
	return code;
}

#endif /* ACCEL_ERROR_H */
