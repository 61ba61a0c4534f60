/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic that several parts of the engine do with extents, strides and bytes.
 */
#ifndef TESSERA_ENGINE_ARITHMETIC_H
#define TESSERA_ENGINE_ARITHMETIC_H

#include <stdint.h>

/* Bytes that memory is read and written in. */
#define LINE_BYTES	64

static inline int64_t min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t max(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Of any value, the least one included. */
static inline uint64_t magnitude(int64_t value)
{
	return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

/* Neither is negative, and the sum of both fits. */
static inline int64_t divide_up(int64_t value, int64_t divisor)
{
	return (value + divisor - 1) / divisor;
}

static inline int64_t round_up(int64_t value, int64_t multiple)
{
	return divide_up(value, multiple) * multiple;
}

#endif /* TESSERA_ENGINE_ARITHMETIC_H */
