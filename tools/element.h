/* SPDX-License-Identifier: MIT */
/*
 * Values of elements as text: what --pad-value takes.
 */
#ifndef TOOLS_ELEMENT_H
#define TOOLS_ELEMENT_H

#include <stdint.h>

#include <accel.h>

/*
 * The bits of an element with this value: an integer for integers and raw types, in decimal or as
 * 0x.., which must fit; a number, inf or nan for floats, rounded to the nearest. -EINVAL.
 */
int element_parse(const char *text, enum accel_dtype dtype, uint64_t bits[2],
		 struct accel_error *error);

#endif /* TOOLS_ELEMENT_H */
