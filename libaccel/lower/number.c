// SPDX-License-Identifier: MIT
/*
 * Numbers in definitions, between their text and their bits.
 */
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/float.h"
#include "lower/number.h"
#include "lower/value.h"

static size_t count_digits(const char *text)
{
	size_t count = 0;

	while (text[count] >= '0' && text[count] <= '9')
		count++;
	return count;
}

/* strtod() reads the decimal point of the process's locale. */
static double parse_real(const char *text, size_t length)
{
	const char *point = localeconv()->decimal_point;
	char copy[512], *to = copy, *end = copy + sizeof(copy) - strlen(point) - 1;

	for (size_t k = 0; k < length && to < end; k++) {
		if (text[k] == '.')
			to = stpcpy(to, point);
		else
			*to++ = text[k];
	}
	*to = '\0';
	return strtod(copy, NULL);
}

size_t number_parse(const char *text, struct number *number, bool *fits)
{
	size_t length = count_digits(text), digits;

	if (!length)
		return 0;
	*fits = true;
	number->is_integer = true;
	if (text[length] == '.') {
		number->is_integer = false;
		length += 1 + count_digits(text + length + 1);
	}
	if (text[length] == 'e' || text[length] == 'E') {
		size_t sign = text[length + 1] == '-' || text[length + 1] == '+';

		digits = count_digits(text + length + 1 + sign);
		if (digits) {
			number->is_integer = false;
			length += 1 + sign + digits;
		}
	}
	number->real = parse_real(text, length);
	if (!number->is_integer)
		return length;
	errno = 0;
	number->integer = strtoll(text, NULL, 10);
	*fits = errno == 0;
	return length;
}

/* Bits of floating types ------------------------------------------------------------------- */

static int float_bits(double value, enum accel_dtype dtype, uint64_t *bits)
{
	float narrow = (float)value;
	uint32_t bits32;

	switch (dtype) {
	case ACCEL_DTYPE_F64:
		*bits = engine_bits_of_f64(value);
		return isfinite(value) ? 0 : -ERANGE;
	case ACCEL_DTYPE_F32:
		memcpy(&bits32, &narrow, sizeof(bits32));
		*bits = bits32;
		return isfinite(narrow) ? 0 : -ERANGE;
	case ACCEL_DTYPE_F16:
		*bits = engine_f16_of_f64(value);
		return isfinite(engine_f64_of_f16((uint16_t)*bits)) ? 0 : -ERANGE;
	case ACCEL_DTYPE_BF16:
		*bits = engine_bf16_of_f64(value);
		return isfinite(engine_f64_of_bf16((uint16_t)*bits)) ? 0 : -ERANGE;
	default:
		return -ERANGE;
	}
}

static double float_value(enum accel_dtype dtype, uint64_t bits)
{
	switch (dtype) {
	case ACCEL_DTYPE_F64:
		return engine_f64_of_bits(bits);
	case ACCEL_DTYPE_F32:
		return (double)engine_f32_of_bits((uint32_t)bits);
	case ACCEL_DTYPE_F16:
		return engine_f64_of_f16((uint16_t)bits);
	default:
		return engine_f64_of_bf16((uint16_t)bits);
	}
}

/* Integers --------------------------------------------------------------------------------- */

static bool is_signed(enum accel_dtype dtype)
{
	return dtype >= ACCEL_DTYPE_I8 && dtype <= ACCEL_DTYPE_I64;
}

int number_bits(const struct number *number, enum accel_dtype dtype, uint64_t *bits)
{
	unsigned int width = 8 * (unsigned int)accel_dtype_size(dtype);
	uint64_t mask = width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
	int64_t max;

	if (!dtype_is_integer(dtype))
		return float_bits(number->is_integer ? (double)number->integer : number->real,
				  dtype, bits);
	if (!number->is_integer)
		return -ERANGE;
	*bits = (uint64_t)number->integer & mask;
	if (is_signed(dtype)) {
		max = (int64_t)(mask >> 1);
		return number->integer >= -max - 1 && number->integer <= max ? 0 : -ERANGE;
	}
	return number->integer >= 0 && (uint64_t)number->integer <= mask ? 0 : -ERANGE;
}

int number_print(enum accel_dtype dtype, const uint64_t bits[2], char *text, size_t size)
{
	unsigned int unused = 64 - 8 * (unsigned int)accel_dtype_size(dtype);

	if (dtype == ACCEL_DTYPE_RAW128)
		return snprintf(text, size, "0x%016" PRIx64 "%016" PRIx64, bits[1], bits[0]);
	if (dtype_is_raw(dtype))
		return snprintf(text, size, "0x%" PRIx64, bits[0]);
	if (is_signed(dtype))
		return snprintf(text, size, "%" PRId64,
				(int64_t)(bits[0] << unused) >> unused);
	if (dtype_is_integer(dtype))
		return snprintf(text, size, "%" PRIu64, bits[0]);
	return snprintf(text, size, "%.*g", dtype == ACCEL_DTYPE_F64 ? 17 : 9,
			float_value(dtype, bits[0]));
}
