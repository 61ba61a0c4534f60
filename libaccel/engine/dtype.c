// SPDX-License-Identifier: MIT
/*
 * Element types by their encoding, in one table. It owns no arithmetic.
 */
#include <stddef.h>

#include "dtype.h"
#include "engine.h"

struct dtype {
	const char *name;
	enum engine_type type;
};

static const struct dtype dtypes[] = {
	[DRM_TESSERA_DTYPE_U8] = { "u8", ENGINE_U8 },
	[DRM_TESSERA_DTYPE_U16] = { "u16", ENGINE_U16 },
	[DRM_TESSERA_DTYPE_U32] = { "u32", ENGINE_U32 },
	[DRM_TESSERA_DTYPE_U64] = { "u64", ENGINE_U64 },
	[DRM_TESSERA_DTYPE_I8] = { "i8", ENGINE_I8 },
	[DRM_TESSERA_DTYPE_I16] = { "i16", ENGINE_I16 },
	[DRM_TESSERA_DTYPE_I32] = { "i32", ENGINE_I32 },
	[DRM_TESSERA_DTYPE_I64] = { "i64", ENGINE_I64 },
	[DRM_TESSERA_DTYPE_F16] = { "f16", ENGINE_F16 },
	[DRM_TESSERA_DTYPE_BF16] = { "bf16", ENGINE_BF16 },
	[DRM_TESSERA_DTYPE_F32] = { "f32", ENGINE_F32 },
	[DRM_TESSERA_DTYPE_F64] = { "f64", ENGINE_F64 },
	[DRM_TESSERA_DTYPE_RAW8] = { "raw8", ENGINE_RAW },
	[DRM_TESSERA_DTYPE_RAW16] = { "raw16", ENGINE_RAW },
	[DRM_TESSERA_DTYPE_RAW32] = { "raw32", ENGINE_RAW },
	[DRM_TESSERA_DTYPE_RAW64] = { "raw64", ENGINE_RAW },
	[DRM_TESSERA_DTYPE_RAW128] = { "raw128", ENGINE_RAW },
};

static const struct dtype *find(uint32_t dtype)
{
	if (dtype >= sizeof(dtypes) / sizeof(dtypes[0]) || !dtypes[dtype].name)
		return NULL;
	return &dtypes[dtype];
}

enum engine_type engine_dtype_type(uint32_t dtype)
{
	return dtypes[dtype].type;
}

bool engine_dtype_is_integer(uint32_t dtype)
{
	uint32_t class = dtype & DRM_TESSERA_DTYPE_CLASS_MASK;

	return class == DRM_TESSERA_DTYPE_CLASS_UNSIGNED || class == DRM_TESSERA_DTYPE_CLASS_SIGNED;
}

bool engine_dtype_is_float(uint32_t dtype)
{
	uint32_t class = dtype & DRM_TESSERA_DTYPE_CLASS_MASK;

	return class == DRM_TESSERA_DTYPE_CLASS_FLOAT || class == DRM_TESSERA_DTYPE_CLASS_BFLOAT;
}

bool engine_dtype_is_raw(uint32_t dtype)
{
	return (dtype & DRM_TESSERA_DTYPE_CLASS_MASK) == DRM_TESSERA_DTYPE_CLASS_RAW;
}

uint32_t engine_dtype_size(uint32_t dtype)
{
	return find(dtype) ? 1u << (dtype & DRM_TESSERA_DTYPE_SHIFT_MASK) : 0;
}

const char *engine_dtype_name(uint32_t dtype)
{
	const struct dtype *found = find(dtype);

	return found ? found->name : NULL;
}
