// SPDX-License-Identifier: MIT
/*
 * Values of elements as text.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "element.h"
#include "engine/float.h"
#include "error.h"

static bool is_float(enum accel_dtype dtype)
{
	return dtype == ACCEL_DTYPE_F16 || dtype == ACCEL_DTYPE_BF16 || dtype == ACCEL_DTYPE_F32 ||
	       dtype == ACCEL_DTYPE_F64;
}

static bool is_signed(enum accel_dtype dtype)
{
	return dtype >= ACCEL_DTYPE_I8 && dtype <= ACCEL_DTYPE_I64;
}

static int refuse(const char *text, enum accel_dtype dtype, const char *expected,
		  struct accel_error *error)
{
	return accel_error_set(error, -EINVAL, "value '%.40s' for %s: expected %s", text,
			       accel_dtype_name(dtype), expected);
}

static int parse_float(const char *text, enum accel_dtype dtype, uint64_t bits[2],
		       struct accel_error *error)
{
	double value;
	float narrow;
	uint32_t narrow_bits;
	char *end;

	if (!*text || isspace((unsigned char)*text))
		return refuse(text, dtype, "a number, inf or nan", error);
	/* strtof(): a double in between would round twice */
	narrow = strtof(text, &end);
	value = dtype == ACCEL_DTYPE_F64 ? strtod(text, &end) : (double)narrow;
	if (*end)
		return refuse(text, dtype, "a number, inf or nan", error);
	if (dtype == ACCEL_DTYPE_F64) {
		memcpy(bits, &value, sizeof(value));
	} else if (dtype == ACCEL_DTYPE_F32) {
		memcpy(&narrow_bits, &narrow, sizeof(narrow));
		bits[0] = narrow_bits;
	} else {
		value = strtod(text, &end);
		bits[0] = dtype == ACCEL_DTYPE_F16 ? engine_f16_of_f64(value) :
						     engine_bf16_of_f64(value);
	}
	return 0;
}

static int parse_integer(const char *text, enum accel_dtype dtype, uint64_t bits[2],
			 struct accel_error *error)
{
	size_t size = accel_dtype_size(dtype);
	uint32_t width = size < 8 ? (uint32_t)size * 8 : 64;
	uint64_t highest = UINT64_MAX >> (64 - width);
	bool is_negative = *text == '-';
	const char *digits = text + is_negative;
	uint64_t magnitude;
	char *end;

	if (!isdigit((unsigned char)*digits))
		return refuse(text, dtype, "an integer", error);
	errno = 0;
	/* not base 0: 010 is ten */
	magnitude = strtoull(digits, &end, digits[0] == '0' && tolower(digits[1]) == 'x' ? 16 : 10);
	if (*end)
		return refuse(text, dtype, "an integer", error);
	if (is_signed(dtype))
		highest = (highest >> 1) + is_negative;
	else if (is_negative)
		highest = 0;
	if (errno == ERANGE || magnitude > highest)
		return refuse(text, dtype, "an integer that fits", error);
	bits[0] = (is_negative ? -magnitude : magnitude) & (UINT64_MAX >> (64 - width));
	return 0;
}

int element_parse(const char *text, enum accel_dtype dtype, uint64_t bits[2],
		 struct accel_error *error)
{
	bits[0] = 0;
	bits[1] = 0;
	return is_float(dtype) ? parse_float(text, dtype, bits, error) :
				 parse_integer(text, dtype, bits, error);
}
