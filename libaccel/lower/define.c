// SPDX-License-Identifier: MIT
/*
 * What a definition may say: that names are there, that types fit, and that axes have extents;
 * whether indices stay in their tensors is asked of define_range.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "layout/interval.h"
#include "lower/function.h"

/* What is checked, and for which definition. */
struct check {
	const struct accel_function *function;
	const struct function_tensor *definition;
	struct accel_error *error;
};

/* Axes and parts --------------------------------------------------------------------------- */

int function_set_axes(struct function_tensor *definition, uint32_t num_axes,
		      const char *const *names, const int64_t *extents, struct accel_error *error)
{
	definition->axes = calloc(num_axes + 1, sizeof(*definition->axes));
	if (!definition->axes)
		return accel_error_set(error, -ENOMEM, "definition: out of memory");
	definition->num_axes = num_axes;
	for (uint32_t k = 0; k < num_axes; k++) {
		struct lower_axis *axis = &definition->axes[k];

		if (names)
			snprintf(axis->name, sizeof(axis->name), "%s", names[k]);
		else
			snprintf(axis->name, sizeof(axis->name), "i%u", k);
		axis->extent = extents[k];
	}
	return 0;
}

int function_set_parts(struct function_tensor *definition, uint32_t num_parts,
		       struct accel_error *error)
{
	definition->parts = calloc(num_parts, sizeof(*definition->parts));
	if (!definition->parts)
		return accel_error_set(error, -ENOMEM, "definition: out of memory");
	definition->num_parts = num_parts;
	return 0;
}

void function_bounds(const struct lower_axis *axes, uint32_t num_axes,
		     struct variable_bounds *variables, struct bounds *bounds)
{
	for (uint32_t k = 0; k < num_axes; k++) {
		int64_t max = axes[k].extent ? axes[k].extent - 1 : 0;

		variables[k] = (struct variable_bounds){
			.name = axes[k].name,
			.interval = { .min = 0, .max = max },
		};
	}
	bounds->count = num_axes;
	bounds->variables = variables;
}

/* Types ------------------------------------------------------------------------------------ */

enum accel_dtype function_value_dtype(const struct accel_function *function,
				      const struct accel_value *value)
{
	switch (value->kind) {
	case VALUE_LOAD:
		return function->tensors[function_find(function, value->load.tensor)].dtype;
	case VALUE_CHOOSE:
		return function_value_dtype(function, value->choose.operands[0]);
	case VALUE_OPERATE:
		return value->operate.opcode == ACCEL_OP_COMPARE ? ACCEL_DTYPE_U8 : value->dtype;
	default:
		return value->dtype;
	}
}

static int check_flags(const struct check *check, const struct accel_value *value,
		       enum accel_dtype source)
{
	const struct value_operate *operate = &value->operate;
	uint8_t allowed = ACCEL_INSTRUCTION_SATURATE;

	if (operate->opcode == ACCEL_OP_CAST && !dtype_is_integer(source))
		allowed |= ACCEL_INSTRUCTION_TRUNCATE;
	if (!dtype_is_integer(value->dtype) || operate->opcode == ACCEL_OP_MIN ||
	    operate->opcode == ACCEL_OP_MAX || operate->opcode >= ACCEL_OP_SELECT)
		allowed = 0;
	if (operate->flags & ~allowed)
		return accel_error_set(check->error, -EINVAL,
				       "definition of %s: operation %u has flags 0x%x, allowed "
				       "for %s is 0x%x", check->definition->name, operate->opcode,
				       operate->flags, accel_dtype_name(value->dtype), allowed);
	if (operate->opcode == ACCEL_OP_COMPARE ?
	    operate->predicate < ACCEL_PREDICATE_EQ || operate->predicate > ACCEL_PREDICATE_GE :
	    operate->predicate)
		return accel_error_set(check->error, -EINVAL,
				       "definition of %s: operation %u has predicate %u",
				       check->definition->name, operate->opcode,
				       operate->predicate);
	return 0;
}

/* The type that operand k of an operation must have; 0: any but raw ones. */
static enum accel_dtype operand_dtype(const struct accel_value *value, unsigned int k)
{
	if (value->operate.opcode == ACCEL_OP_CAST)
		return 0;
	return value->operate.opcode == ACCEL_OP_SELECT && !k ? ACCEL_DTYPE_U8 : value->dtype;
}

static int check_operate(const struct check *check, const struct accel_value *value)
{
	const char *name = check->definition->name;

	if (!accel_dtype_size(value->dtype) || dtype_is_raw(value->dtype))
		return accel_error_set(check->error, -EINVAL,
				       "definition of %s: elements of %s are moved, never computed "
				       "with", name, accel_dtype_name(value->dtype) ?: "no type");
	for (unsigned int k = 0; k < value_num_operands(value); k++) {
		enum accel_dtype expected = operand_dtype(value, k);
		enum accel_dtype dtype = function_value_dtype(check->function,
							      value->operate.operands[k]);

		if (expected ? dtype != expected : dtype_is_raw(dtype))
			return accel_error_set(check->error, -EINVAL,
					       "definition of %s: an operand is %s, expected %s",
					       name, accel_dtype_name(dtype),
					       expected ? accel_dtype_name(expected) :
					       "a type that is not raw");
	}
	return check_flags(check, value,
			   function_value_dtype(check->function, value->operate.operands[0]));
}

static int check_choose(const struct check *check, const struct accel_value *value)
{
	enum accel_dtype a = function_value_dtype(check->function, value->choose.operands[0]);
	enum accel_dtype b = function_value_dtype(check->function, value->choose.operands[1]);

	if (a == b)
		return 0;
	return accel_error_set(check->error, -EINVAL,
			       "definition of %s: select is between %s and %s, expected one type",
			       check->definition->name, accel_dtype_name(a), accel_dtype_name(b));
}

/* Names ------------------------------------------------------------------------------------ */

static int check_variables(const struct check *check, const struct accel_expression *expression,
			   bool has_index)
{
	const struct function_tensor *definition = check->definition;
	int ret = 0;

	if (!expression_is_variable(expression)) {
		for (unsigned int k = 0; !ret && k < expression_num_operands(expression->kind); k++)
			ret = check_variables(check, expression->operands[k], has_index);
		return ret;
	}
	for (uint32_t k = 0; k < definition->num_axes; k++)
		if (names_equal(definition->axes[k].name, expression->name))
			return 0;
	if (has_index && names_equal(expression->name, VALUE_INDEX))
		return 0;
	return accel_error_set(check->error, -EINVAL, "definition of %s: %s is no axis of it",
			       definition->name, expression->name);
}

static int check_load(const struct check *check, const struct accel_value *value);

static int check_index(const struct check *check, const struct accel_value *index)
{
	enum accel_dtype dtype;
	int ret;

	if (index->kind != VALUE_LOAD || index->load.index)
		return accel_error_set(check->error, -EINVAL,
				       "definition of %s: an index is loaded as it is from a "
				       "tensor", check->definition->name);
	ret = check_load(check, index);
	if (ret)
		return ret;
	dtype = function_value_dtype(check->function, index);
	if (dtype_is_integer(dtype))
		return 0;
	return accel_error_set(check->error, -EINVAL,
			       "definition of %s: indices in %s are %s, expected integers",
			       check->definition->name, index->load.tensor,
			       accel_dtype_name(dtype));
}

static int check_load(const struct check *check, const struct accel_value *value)
{
	const struct value_load *load = &value->load;
	const struct function_tensor *tensor;
	uint32_t number;
	int ret;

	ret = function_require(check->function, load->tensor, &number, check->error);
	if (ret)
		return ret;
	tensor = &check->function->tensors[number];
	if (load->num_indices != tensor->rank)
		return accel_error_set(check->error, -EINVAL,
				       "definition of %s: %s has %u axes, there are %u indices",
				       check->definition->name, tensor->name, tensor->rank,
				       load->num_indices);
	if (!value_bits_fit(tensor->dtype, load->padding))
		return accel_error_set(check->error, -EINVAL,
				       "definition of %s: the padding has more bits than an "
				       "element of %s", check->definition->name,
				       accel_dtype_name(tensor->dtype));
	for (uint32_t k = 0; !ret && k < load->num_indices; k++)
		ret = check_variables(check, load->indices[k], load->index);
	if (!ret && load->condition)
		ret = check_variables(check, load->condition, false);
	if (!ret && load->index)
		ret = check_index(check, load->index);
	return ret;
}

static int check_value(const struct check *check, const struct accel_value *value)
{
	int ret = 0;

	for (unsigned int k = 0; !ret && k < value_num_operands(value); k++)
		ret = check_value(check, value_operand(value, k));
	if (ret)
		return ret;
	switch (value->kind) {
	case VALUE_LOAD:
		return check_load(check, value);
	case VALUE_OPERATE:
		return check_operate(check, value);
	case VALUE_CHOOSE:
		ret = check_variables(check, value->choose.condition, false);
		return ret ? ret : check_choose(check, value);
	default:
		return 0;
	}
}

/* Definitions ------------------------------------------------------------------------------ */

static int check_shape(const struct check *check)
{
	const struct function_tensor *definition = check->definition;
	int64_t size = (int64_t)accel_dtype_size(definition->dtype);
	bool is_empty = false, overflows = false;

	for (uint32_t k = 0; k < definition->rank; k++) {
		if (definition->shape[k] < 0)
			return accel_error_set(check->error, -EINVAL,
					       "definition of %s: axis %u has extent %" PRId64,
					       definition->name, k, definition->shape[k]);
		is_empty |= !definition->shape[k];
		overflows |= __builtin_mul_overflow(size, definition->shape[k], &size);
	}
	if (is_empty || !overflows)
		return 0;
	return accel_error_set(check->error, -EOVERFLOW,
			       "definition of %s: its bytes do not fit 63 bits", definition->name);
}

static int check_axes(const struct check *check)
{
	const struct function_tensor *definition = check->definition;
	int ret;

	for (uint32_t k = 0; k < definition->num_axes; k++) {
		const struct lower_axis *axis = &definition->axes[k];

		ret = function_check_name("axis", axis->name, check->error);
		if (ret)
			return ret;
		if (axis->extent < 0)
			return accel_error_set(check->error, -EINVAL,
					       "definition of %s: axis %s has extent %" PRId64,
					       definition->name, axis->name, axis->extent);
		for (uint32_t j = 0; j < k; j++)
			if (names_equal(definition->axes[j].name, axis->name))
				return accel_error_set(check->error, -EINVAL,
						       "definition of %s: two axes are named %s",
						       definition->name, axis->name);
	}
	return 0;
}

static bool has_points(const struct function_tensor *definition)
{
	for (uint32_t k = 0; k < definition->num_axes; k++)
		if (!definition->axes[k].extent)
			return false;
	return true;
}

/* The bounds of the points for which a part is the value. */
static int check_part(const struct check *check, struct function_part *part,
		      struct variable_bounds *variables, const struct bounds *bounds)
{
	const struct function_tensor *definition = check->definition;
	const struct conditions none = { 0 };

	if (definition->is_in_range || !has_points(definition) ||
	    (definition->kind == FUNCTION_PARTS && !part->size))
		return 0;
	if (definition->kind == FUNCTION_PARTS)
		variables[definition->axis].interval = (struct interval){
			.min = part->start,
			.max = part->start + part->size - 1,
		};
	return function_check_ranges(check->function, part->value, &none, bounds, check->error);
}

/* Where a push puts its values: in the result. */
static int check_target(const struct check *check, const struct bounds *bounds)
{
	const struct function_tensor *definition = check->definition;
	const struct conditions none = { 0 };
	int ret = 0;

	for (uint32_t k = 0; !ret && k < definition->rank; k++)
		ret = check_variables(check, definition->indices[k], definition->index);
	if (!ret && definition->index)
		ret = check_index(check, definition->index);
	if (ret || !has_points(definition))
		return ret;
	if (definition->index)
		ret = function_check_ranges(check->function, definition->index, &none, bounds,
					    check->error);
	if (ret)
		return ret;
	return function_check_indices(definition->name, definition->rank, definition->shape,
				      definition->indices, definition->index, &none, bounds,
				      check->error);
}

static int check_parts(const struct check *check, struct function_tensor *definition)
{
	struct variable_bounds variables[LOWER_MAX_AXES + 1];
	struct bounds bounds;
	int ret = 0;

	for (uint32_t k = 0; !ret && k < definition->num_parts; k++)
		ret = check_value(check, definition->parts[k].value);
	if (ret)
		return ret;
	definition->dtype = function_value_dtype(check->function, definition->parts[0].value);
	ret = check_shape(check);
	for (uint32_t k = 0; !ret && k < definition->num_parts; k++) {
		enum accel_dtype dtype = function_value_dtype(check->function,
							      definition->parts[k].value);

		if (dtype != definition->dtype)
			return accel_error_set(check->error, -EINVAL,
					       "definition of %s: parts are %s and %s, expected "
					       "one type", definition->name,
					       accel_dtype_name(definition->dtype),
					       accel_dtype_name(dtype));
		function_bounds(definition->axes, definition->num_axes, variables, &bounds);
		ret = check_part(check, &definition->parts[k], variables, &bounds);
	}
	if (!ret && definition->kind == FUNCTION_PUSH)
		ret = check_target(check, &bounds);
	return ret;
}

/* Room for one more, doubling. */
static int grow(struct accel_function *function, struct accel_error *error)
{
	uint32_t count = function->num_tensors;
	struct function_tensor *grown;

	if (count & (count - 1))
		return 0;
	grown = realloc(function->tensors, (count ? 2 * count : 1) * sizeof(*grown));
	if (!grown)
		return accel_error_set(error, -ENOMEM, "function: out of memory");
	function->tensors = grown;
	return 0;
}

static int check_definition(const struct check *check, struct function_tensor *definition)
{
	int ret;

	if (definition->rank > ACCEL_MAX_DIMS)
		return accel_error_set(check->error, -E2BIG,
				       "definition of %s: %u axes, a tensor has at most %d",
				       definition->name, definition->rank, ACCEL_MAX_DIMS);
	ret = check_axes(check);
	if (!ret)
		ret = check_parts(check, definition);
	if (ret || definition->text)
		return ret;
	definition->text = function_print(check->function, definition);
	return definition->text ? 0 : accel_error_set(check->error, -ENOMEM,
						      "definition of %s: out of memory",
						      definition->name);
}

int function_define(struct accel_function *function, struct function_tensor *definition,
		    struct accel_error *error)
{
	const struct check check = { function, definition, error };
	int ret;

	ret = function_check_name("tensor", definition->name, error);
	if (!ret && function_find(function, definition->name) != FUNCTION_NO_TENSOR)
		ret = accel_error_set(error, -EINVAL, "there is a tensor %s already",
				      definition->name);
	if (!ret && definition->kind != FUNCTION_INPUT)
		ret = check_definition(&check, definition);
	if (!ret)
		ret = grow(function, error);
	if (ret) {
		function_tensor_release(definition);
		return ret;
	}
	function->tensors[function->num_tensors++] = *definition;
	function->num_inputs += definition->kind == FUNCTION_INPUT;
	return 0;
}

ACCEL_API int accel_function_define_value(struct accel_function *function, const char *name,
					  uint32_t rank, const char *const *axes,
					  const int64_t *shape, struct accel_value *value,
					  struct accel_error *error)
{
	struct function_tensor definition = { .kind = FUNCTION_VALUE, .rank = rank };
	int ret;

	ret = function_check_name("definition", name, error);
	if (!ret && rank > ACCEL_MAX_DIMS)
		ret = accel_error_set(error, -E2BIG,
				      "definition of %s: %u axes, a tensor has at most %d", name,
				      rank, ACCEL_MAX_DIMS);
	for (uint32_t k = 0; !ret && k < rank; k++)
		ret = function_check_name("axis", axes[k], error);
	if (!ret)
		ret = function_set_axes(&definition, rank, axes, shape, error);
	if (!ret)
		ret = function_set_parts(&definition, 1, error);
	if (ret) {
		function_tensor_release(&definition);
		return ret;
	}
	strcpy(definition.name, name);
	memcpy(definition.shape, shape, rank * sizeof(shape[0]));
	definition.parts[0].value = accel_value_ref(value);
	return function_define(function, &definition, error);
}
