// SPDX-License-Identifier: MIT
/*
 * Values: building and counting. Types and shapes are checked in define.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "layout/expression.h"
#include "lower/value.h"

#define MAX_OPCODE	ACCEL_OP_COMPARE

static const uint8_t arities[MAX_OPCODE + 1] = {
	[ACCEL_OP_CAST] = 1,
	[ACCEL_OP_ADD] = 2,
	[ACCEL_OP_SUB] = 2,
	[ACCEL_OP_MUL] = 2,
	[ACCEL_OP_FMA] = 3,
	[ACCEL_OP_MIN] = 2,
	[ACCEL_OP_MAX] = 2,
	[ACCEL_OP_NEG] = 1,
	[ACCEL_OP_ABS] = 1,
	[ACCEL_OP_SELECT] = 3,
	[ACCEL_OP_COMPARE] = 2,
};

unsigned int value_arity(enum accel_opcode opcode)
{
	return (unsigned int)opcode <= MAX_OPCODE ? arities[opcode] : 0;
}

unsigned int value_num_operands(const struct accel_value *value)
{
	switch (value->kind) {
	case VALUE_OPERATE:
		return value_arity(value->operate.opcode);
	case VALUE_CHOOSE:
		return 2;
	default:
		return 0;
	}
}

struct accel_value *value_operand(const struct accel_value *value, unsigned int k)
{
	return value->kind == VALUE_CHOOSE ? value->choose.operands[k] : value->operate.operands[k];
}

bool value_bits_fit(enum accel_dtype dtype, const uint64_t bits[2])
{
	size_t size = accel_dtype_size(dtype);

	if (size > sizeof(bits[0]))
		return true;
	return !bits[1] && (size == sizeof(bits[0]) || !(bits[0] >> (8 * size)));
}

/* Nodes ------------------------------------------------------------------------------------ */

static int value_new(enum value_kind kind, struct accel_value **value, struct accel_error *error)
{
	*value = calloc(1, sizeof(**value));
	if (!*value)
		return accel_error_set(error, -ENOMEM, "value: out of memory");
	atomic_init(&(*value)->refs, 1);
	(*value)->kind = kind;
	(*value)->depth = 1;
	(*value)->size = 1;
	return 0;
}

/* Counts what an operand adds. */
static void value_contain(struct accel_value *value, const struct accel_value *operand)
{
	if (operand->depth >= value->depth)
		value->depth = operand->depth + 1;
	value->size += operand->size;
}

static int check_size(struct accel_value **value, struct accel_error *error)
{
	if ((*value)->depth <= VALUE_MAX_DEPTH && (*value)->size <= VALUE_MAX_SIZE)
		return 0;
	accel_value_unref(*value);
	*value = NULL;
	return accel_error_set(error, -E2BIG,
			       "value: more than %d operations inside of one another, or %d",
			       VALUE_MAX_DEPTH, VALUE_MAX_SIZE);
}

int value_constant(enum accel_dtype dtype, const uint64_t bits[2], struct accel_value **value,
		   struct accel_error *error)
{
	int ret;

	*value = NULL;
	if (!accel_dtype_size(dtype))
		return accel_error_set(error, -EINVAL, "constant: there is no type 0x%x", dtype);
	if (!value_bits_fit(dtype, bits))
		return accel_error_set(error, -EINVAL,
				       "constant: the bits 0x%" PRIx64 " are more than those of %s",
				       bits[0], accel_dtype_name(dtype));
	ret = value_new(VALUE_CONSTANT, value, error);
	if (ret)
		return ret;
	(*value)->dtype = dtype;
	memcpy((*value)->bits, bits, sizeof((*value)->bits));
	return 0;
}

static int check_load(const char *tensor, uint32_t num_indices,
		      struct accel_expression *const *indices, const struct accel_value *index,
		      struct accel_error *error)
{
	if (!tensor || !tensor[0] || strlen(tensor) > ACCEL_NAME_MAX)
		return accel_error_set(error, -EINVAL,
				       "load: expected the name of a tensor, 1 to %d characters",
				       ACCEL_NAME_MAX);
	if (num_indices > ACCEL_MAX_DIMS)
		return accel_error_set(error, -EINVAL,
				       "load of %s: %u indices, expected at most %d", tensor,
				       num_indices, ACCEL_MAX_DIMS);
	for (uint32_t k = 0; k < num_indices; k++)
		if (!indices[k])
			return accel_error_set(error, -EINVAL, "load of %s: index %u is missing",
					       tensor, k);
	if (index && (index->kind != VALUE_LOAD || index->load.index))
		return accel_error_set(error, -EINVAL,
				       "load of %s: an index is loaded from a tensor as it is, "
				       "expected a load that is no gather itself", tensor);
	return 0;
}

int value_load(const char *tensor, uint32_t num_indices, struct accel_expression *const *indices,
	       struct accel_expression *condition, const uint64_t padding[2],
	       struct accel_value *index, struct accel_value **value, struct accel_error *error)
{
	struct value_load *load;
	int ret;

	*value = NULL;
	ret = check_load(tensor, num_indices, indices, index, error);
	if (!ret)
		ret = value_new(VALUE_LOAD, value, error);
	if (ret)
		return ret;
	load = &(*value)->load;
	strcpy(load->tensor, tensor);
	load->num_indices = num_indices;
	for (uint32_t k = 0; k < num_indices; k++)
		load->indices[k] = expression_ref(indices[k]);
	load->condition = expression_ref(condition);
	if (padding)
		memcpy(load->padding, padding, sizeof(load->padding));
	load->index = accel_value_ref(index);
	if (index)
		value_contain(*value, index);
	return check_size(value, error);
}

int value_choose(struct accel_expression *condition, struct accel_value *a, struct accel_value *b,
		 struct accel_value **value, struct accel_error *error)
{
	int ret = value_new(VALUE_CHOOSE, value, error);

	if (ret)
		return ret;
	(*value)->choose.condition = expression_ref(condition);
	(*value)->choose.operands[0] = accel_value_ref(a);
	(*value)->choose.operands[1] = accel_value_ref(b);
	value_contain(*value, a);
	value_contain(*value, b);
	return check_size(value, error);
}

/* The public face ---------------------------------------------------------------------------- */

ACCEL_API struct accel_value *accel_value_ref(struct accel_value *value)
{
	if (value)
		atomic_fetch_add_explicit(&value->refs, 1, memory_order_relaxed);
	return value;
}

ACCEL_API void accel_value_unref(struct accel_value *value)
{
	/* Pairs with itself: who frees the value sees what the others did before they let go. */
	if (!value || atomic_fetch_sub_explicit(&value->refs, 1, memory_order_acq_rel) != 1)
		return;
	for (unsigned int k = 0; k < value_num_operands(value); k++)
		accel_value_unref(value_operand(value, k));
	if (value->kind == VALUE_CHOOSE)
		expression_unref(value->choose.condition);
	if (value->kind == VALUE_LOAD) {
		for (uint32_t k = 0; k < value->load.num_indices; k++)
			expression_unref(value->load.indices[k]);
		expression_unref(value->load.condition);
		accel_value_unref(value->load.index);
	}
	free(value);
}

ACCEL_API int accel_value_load(const char *tensor, uint32_t num_indices,
			       struct accel_expression *const *indices,
			       struct accel_value **value, struct accel_error *error)
{
	return value_load(tensor, num_indices, indices, NULL, NULL, NULL, value, error);
}

ACCEL_API int accel_value_load_padded(const char *tensor, uint32_t num_indices,
				      struct accel_expression *const *indices,
				      struct accel_expression *condition,
				      const uint64_t padding[2], struct accel_value **value,
				      struct accel_error *error)
{
	return value_load(tensor, num_indices, indices, condition, padding, NULL, value, error);
}

ACCEL_API int accel_value_gather(const char *tensor, uint32_t num_indices,
				 struct accel_expression *const *indices, uint32_t axis,
				 struct accel_value *index, struct accel_value **value,
				 struct accel_error *error)
{
	struct accel_expression *with_index[ACCEL_MAX_DIMS];
	int ret;

	*value = NULL;
	if (num_indices > ACCEL_MAX_DIMS || axis >= num_indices || !index)
		return accel_error_set(error, -EINVAL,
				       "gather: axis %u of %u, expected one of at most %d and its "
				       "index", axis, num_indices, ACCEL_MAX_DIMS);
	memcpy(with_index, indices, num_indices * sizeof(with_index[0]));
	with_index[axis] = expression_variable(VALUE_INDEX, strlen(VALUE_INDEX));
	if (!with_index[axis])
		return accel_error_set(error, -ENOMEM, "gather: out of memory");
	ret = value_load(tensor, num_indices, with_index, NULL, NULL, index, value, error);
	expression_unref(with_index[axis]);
	return ret;
}

ACCEL_API int accel_value_constant(enum accel_dtype dtype, uint64_t bits,
				   struct accel_value **value, struct accel_error *error)
{
	const uint64_t wide[2] = { bits, 0 };

	return value_constant(dtype, wide, value, error);
}

ACCEL_API int accel_value_operate(enum accel_opcode opcode, enum accel_dtype dtype, uint8_t flags,
				  enum accel_predicate predicate,
				  struct accel_value *const operands[3],
				  struct accel_value **value, struct accel_error *error)
{
	unsigned int arity = value_arity(opcode);
	int ret;

	*value = NULL;
	if (!arity)
		return accel_error_set(error, -EINVAL, "value: %d is no operation", (int)opcode);
	for (unsigned int k = 0; k < arity; k++)
		if (!operands[k])
			return accel_error_set(error, -EINVAL,
					       "value: operand %u of operation %d is missing", k,
					       (int)opcode);
	ret = value_new(VALUE_OPERATE, value, error);
	if (ret)
		return ret;
	(*value)->dtype = dtype;
	(*value)->operate.opcode = opcode;
	(*value)->operate.flags = flags;
	(*value)->operate.predicate = predicate;
	for (unsigned int k = 0; k < arity; k++) {
		(*value)->operate.operands[k] = accel_value_ref(operands[k]);
		value_contain(*value, operands[k]);
	}
	return check_size(value, error);
}
