// SPDX-License-Identifier: MIT
/*
 * Operations that change the type of elements: casts and affine quantization.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "lower/operation.h"

/* A chain of instructions on one value, each in place of the last. */
struct chain {
	struct accel_value *value;
	int code;
	struct accel_error *error;
};

/* Applies an operation to the value and, if it takes two, a constant of the type. */
static void apply(struct chain *chain, enum accel_opcode opcode, enum accel_dtype dtype,
		  uint8_t flags, uint64_t bits)
{
	const uint64_t wide[2] = { bits, 0 };
	struct accel_value *operands[3] = { chain->value }, *result = NULL;

	if (chain->code)
		return;
	if (value_arity(opcode) > 1)
		chain->code = value_constant(dtype, wide, &operands[1], chain->error);
	if (!chain->code)
		chain->code = accel_value_operate(opcode, dtype, flags, 0, operands, &result,
						  chain->error);
	accel_value_unref(operands[0]);
	accel_value_unref(operands[1]);
	chain->value = result;
}

static int start_chain(struct operation *operation, struct chain *chain)
{
	int ret;

	*chain = (struct chain){ .error = operation->error };
	ret = operation_set_shape(operation, operation->source.rank, operation->source.shape, NULL);
	if (!ret)
		ret = function_set_parts(&operation->definition, 1, operation->error);
	if (!ret)
		ret = operation_load_at(&operation->source, 0, &chain->value, operation->error);
	chain->code = ret;
	return ret;
}

static int finish_chain(struct operation *operation, struct chain *chain)
{
	if (operation->definition.parts)
		operation->definition.parts[0].value = chain->value;
	return operation_define(operation, chain->code);
}

ACCEL_API int accel_function_cast(struct accel_function *function, const char *result,
				  const char *source, enum accel_dtype dtype,
				  struct accel_error *error)
{
	struct operation operation;
	struct chain chain;
	int ret;

	ret = operation_start(&operation, function, result, source, error);
	if (ret)
		return ret;
	start_chain(&operation, &chain);
	apply(&chain, ACCEL_OP_CAST, dtype,
	      dtype_is_integer(dtype) ? ACCEL_INSTRUCTION_SATURATE : 0, 0);
	return finish_chain(&operation, &chain);
}

/* Quantized values are integers of at most 32 bits that i32 holds. */
static int check_quantized(const char *name, enum accel_dtype dtype, float scale,
			   struct accel_error *error)
{
	if (!dtype_is_integer(dtype) || accel_dtype_size(dtype) > 4 || dtype == ACCEL_DTYPE_U32)
		return accel_error_set(error, -EINVAL,
				       "%s: quantized elements are %s, expected i8, u8, i16, u16 "
				       "or i32", name, accel_dtype_name(dtype) ?: "of no type");
	if (!isfinite(scale) || scale <= 0 || !isfinite(1 / scale))
		return accel_error_set(error, -EINVAL,
				       "%s: the scale is %g, expected a positive number", name,
				       (double)scale);
	return 0;
}

/* The type in which a zero point is added: i32 where that saturates no sum that fits the result. */
static enum accel_dtype sum_dtype(enum accel_dtype quantized, int32_t zero_point)
{
	bool fits = quantized == ACCEL_DTYPE_I32 ? !zero_point :
		    zero_point >= INT16_MIN && zero_point <= UINT16_MAX;

	return fits ? ACCEL_DTYPE_I32 : ACCEL_DTYPE_I64;
}

static uint64_t integer_bits(enum accel_dtype dtype, int32_t value)
{
	return dtype == ACCEL_DTYPE_I64 ? (uint64_t)(int64_t)value : (uint32_t)value;
}

static uint64_t float_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

ACCEL_API int accel_function_quantize(struct accel_function *function, const char *result,
				      const char *source, enum accel_dtype dtype, float scale,
				      int32_t zero_point, struct accel_error *error)
{
	enum accel_dtype sum = sum_dtype(dtype, zero_point);
	struct operation operation;
	struct chain chain;
	int ret;

	ret = operation_start(&operation, function, result, source, error);
	if (ret)
		return ret;
	ret = check_quantized("quantize", dtype, scale, error);
	if (ret)
		return operation_define(&operation, ret);
	start_chain(&operation, &chain);
	apply(&chain, ACCEL_OP_MUL, ACCEL_DTYPE_F32, 0, float_bits(1 / scale));
	apply(&chain, ACCEL_OP_CAST, sum, ACCEL_INSTRUCTION_SATURATE, 0);
	apply(&chain, ACCEL_OP_ADD, sum, ACCEL_INSTRUCTION_SATURATE,
	      integer_bits(sum, zero_point));
	if (dtype != sum)
		apply(&chain, ACCEL_OP_CAST, dtype, ACCEL_INSTRUCTION_SATURATE, 0);
	return finish_chain(&operation, &chain);
}

ACCEL_API int accel_function_dequantize(struct accel_function *function, const char *result,
					const char *source, float scale, int32_t zero_point,
					struct accel_error *error)
{
	struct operation operation;
	enum accel_dtype sum;
	struct chain chain;
	int ret;

	ret = operation_start(&operation, function, result, source, error);
	if (ret)
		return ret;
	ret = check_quantized("dequantize", operation.source.dtype, scale, error);
	if (ret)
		return operation_define(&operation, ret);
	start_chain(&operation, &chain);
	sum = sum_dtype(operation.source.dtype, zero_point);
	if (operation.source.dtype != sum)
		apply(&chain, ACCEL_OP_CAST, sum, ACCEL_INSTRUCTION_SATURATE, 0);
	apply(&chain, ACCEL_OP_SUB, sum, ACCEL_INSTRUCTION_SATURATE,
	      integer_bits(sum, zero_point));
	apply(&chain, ACCEL_OP_CAST, ACCEL_DTYPE_F32, 0, 0);
	apply(&chain, ACCEL_OP_MUL, ACCEL_DTYPE_F32, 0, float_bits(scale));
	return finish_chain(&operation, &chain);
}
