// SPDX-License-Identifier: MIT
/*
 * Element types by size and name. What is computed with them is the engine's.
 */
#include <errno.h>
#include <string.h>

#include "engine/engine.h"
#include "error.h"

static const enum accel_dtype dtypes[] = {
	ACCEL_DTYPE_U8, ACCEL_DTYPE_U16, ACCEL_DTYPE_U32, ACCEL_DTYPE_U64,
	ACCEL_DTYPE_I8, ACCEL_DTYPE_I16, ACCEL_DTYPE_I32, ACCEL_DTYPE_I64,
	ACCEL_DTYPE_F16, ACCEL_DTYPE_F32, ACCEL_DTYPE_F64, ACCEL_DTYPE_BF16,
	ACCEL_DTYPE_RAW8, ACCEL_DTYPE_RAW16, ACCEL_DTYPE_RAW32, ACCEL_DTYPE_RAW64,
	ACCEL_DTYPE_RAW128,
};

ACCEL_API size_t accel_dtype_size(enum accel_dtype dtype)
{
	return engine_dtype_size(dtype);
}

ACCEL_API const char *accel_dtype_name(enum accel_dtype dtype)
{
	return engine_dtype_name(dtype);
}

ACCEL_API int accel_dtype_parse(const char *name, enum accel_dtype *dtype,
				struct accel_error *error)
{
	for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
		if (!strcmp(name, engine_dtype_name(dtypes[i]))) {
			*dtype = dtypes[i];
			return 0;
		}
	}
	return accel_error_set(error, -EINVAL,
			       "element type \"%.40s\": expected u8, i8, u16, i16, f16, bf16, u32, "
			       "i32, f32, u64, i64, f64 or raw8 to raw128", name);
}
