/* SPDX-License-Identifier: MIT */
/*
 * Element types by their encoding: size, name and class. What is computed with them is program.c's.
 */
#ifndef TESSERA_ENGINE_DTYPE_H
#define TESSERA_ENGINE_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

/* Types that programs compute with; they index the tables of program.c. */
enum engine_type {
	ENGINE_U8,
	ENGINE_U16,
	ENGINE_U32,
	ENGINE_U64,
	ENGINE_I8,
	ENGINE_I16,
	ENGINE_I32,
	ENGINE_I64,
	ENGINE_F16,
	ENGINE_BF16,
	ENGINE_F32,
	ENGINE_F64,
	ENGINE_NUM_TYPES,
	ENGINE_RAW = ENGINE_NUM_TYPES,
};

/* The type of a valid encoding; ENGINE_RAW for all raw ones. */
enum engine_type engine_dtype_type(uint32_t dtype);

bool engine_dtype_is_integer(uint32_t dtype);
bool engine_dtype_is_float(uint32_t dtype);
bool engine_dtype_is_raw(uint32_t dtype);

#endif /* TESSERA_ENGINE_DTYPE_H */
