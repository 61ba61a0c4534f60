/* SPDX-License-Identifier: MIT */
/*
 * Numbers as they are written, and as the bits of an element.
 */
#ifndef LOWER_NUMBER_H
#define LOWER_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <accel.h>

/* Without a type yet: an integer where is_integer, else what is in real. */
struct number {
	bool is_integer;
	int64_t integer;
	double real;
};

/*
 * The number at the start of text: digits, with a fraction and an exponent if there are any.
 * Returns how long it is; 0: no number. *fits is false for an integer beyond 64 bits.
 */
size_t number_parse(const char *text, struct number *number, bool *fits);

/* The bits of the number as an element, rounded to nearest even: -ERANGE if it is none. */
int number_bits(const struct number *number, enum accel_dtype dtype, uint64_t *bits);

/* The bits of an element as a number, as snprintf() prints. Raw ones are hexadecimal. */
int number_print(enum accel_dtype dtype, const uint64_t bits[2], char *text, size_t size);

#endif /* LOWER_NUMBER_H */
