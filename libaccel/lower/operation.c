// SPDX-License-Identifier: MIT
/*
 * Putting definitions of operations together; which there are is in operations_*.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "layout/expression.h"
#include "lower/operation.h"

int operation_start(struct operation *operation, struct accel_function *function,
		    const char *result, const char *source, struct accel_error *error)
{
	uint32_t number;
	int ret;

	*operation = (struct operation){ .function = function, .error = error };
	ret = function_check_name("tensor", result, error);
	if (!ret)
		ret = function_require(function, source, &number, error);
	if (ret)
		return ret;
	strcpy(operation->definition.name, result);
	operation->source = function->tensors[number];
	operation->definition.kind = FUNCTION_VALUE;
	return 0;
}

static void operation_release(struct operation *operation)
{
	for (uint32_t k = 0; k < ACCEL_MAX_DIMS; k++)
		expression_unref(operation->indices[k]);
	expression_unref(operation->condition);
	accel_value_unref(operation->index);
	function_tensor_release(&operation->definition);
}

int operation_set_shape(struct operation *operation, uint32_t rank, const int64_t *shape,
			const char *const *names)
{
	struct function_tensor *definition = &operation->definition;

	if (rank > ACCEL_MAX_DIMS)
		return accel_error_set(operation->error, -E2BIG,
				       "definition of %s: %u axes, a tensor has at most %d",
				       definition->name, rank, ACCEL_MAX_DIMS);
	definition->rank = rank;
	memcpy(definition->shape, shape, rank * sizeof(shape[0]));
	return function_set_axes(definition, rank, names, shape, operation->error);
}

int operation_set_text(struct operation *operation, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vasprintf(&operation->definition.text, format, arguments);
	va_end(arguments);
	if (length >= 0)
		return 0;
	operation->definition.text = NULL;
	return accel_error_set(operation->error, -ENOMEM, "definition: out of memory");
}

struct accel_expression *operation_axis(const struct operation *operation, uint32_t k)
{
	const char *name = operation->definition.axes[k].name;

	return expression_variable(name, strlen(name));
}

struct accel_expression *operation_affine(struct accel_expression *value, int64_t factor,
					  int64_t addend)
{
	if (factor != 1)
		value = expression_multiply(value, expression_constant(factor));
	return addend ? expression_add(value, expression_constant(addend)) : value;
}

struct accel_expression *operation_quotient(struct accel_expression *value, int64_t divisor)
{
	return divisor == 1 ? value : expression_divide(value, expression_constant(divisor));
}

struct accel_expression *operation_remainder(struct accel_expression *value, int64_t modulus)
{
	return expression_modulo(value, expression_constant(modulus));
}

void operation_confine(struct operation *operation, const struct accel_expression *index,
		       int64_t extent)
{
	struct accel_expression *value = expression_ref((struct accel_expression *)index);
	struct accel_expression *low, *high, *both;

	low = expression_binary(ACCEL_EXPRESSION_GREATER_EQUAL, expression_ref(value),
				expression_constant(0));
	high = expression_binary(ACCEL_EXPRESSION_LESS, value, expression_constant(extent));
	both = expression_binary(ACCEL_EXPRESSION_AND, low, high);
	operation->condition = operation->condition ?
		expression_binary(ACCEL_EXPRESSION_AND, operation->condition, both) : both;
}

int operation_check_axis(const struct operation *operation, const char *name, uint32_t axis)
{
	if (axis < operation->source.rank)
		return 0;
	return accel_error_set(operation->error, -EINVAL, "%s: axis %u of %s, which has %u axes",
			       name, axis, operation->source.name, operation->source.rank);
}

void operation_print_shape(uint32_t rank, const int64_t *shape, char *text, size_t size)
{
	struct printer printer;

	printer_init(&printer, text, size);
	printer_add_string(&printer, "(");
	for (uint32_t k = 0; k < rank; k++)
		printer_add(&printer, "%s%" PRId64, k ? ", " : "", shape[k]);
	printer_add_string(&printer, rank == 1 ? ",)" : ")");
}

int operation_load_at(const struct function_tensor *tensor, uint32_t first,
		      struct accel_value **value, struct accel_error *error)
{
	struct accel_expression *indices[ACCEL_MAX_DIMS] = { NULL };
	char name[ACCEL_NAME_MAX + 1];
	int ret = 0;

	*value = NULL;
	for (uint32_t k = 0; !ret && k < tensor->rank; k++) {
		snprintf(name, sizeof(name), "i%u", first + k);
		indices[k] = expression_variable(name, strlen(name));
		if (!indices[k])
			ret = accel_error_set(error, -ENOMEM, "definition: out of memory");
	}
	if (!ret)
		ret = value_load(tensor->name, tensor->rank, indices, NULL, NULL, NULL, value,
				 error);
	for (uint32_t k = 0; k < tensor->rank; k++)
		expression_unref(indices[k]);
	return ret;
}

int operation_define(struct operation *operation, int ret)
{
	if (!ret) {
		ret = function_define(operation->function, &operation->definition,
				      operation->error);
		operation->definition = (struct function_tensor){ 0 };
	}
	operation_release(operation);
	return ret;
}

/* Whether each index was built. */
static int check_built(const struct operation *operation)
{
	for (uint32_t k = 0; k < operation->source.rank; k++)
		if (!operation->indices[k])
			return expression_error(operation->error, -errno,
						operation->definition.name);
	return 0;
}

int operation_define_load(struct operation *operation, int ret)
{
	if (!ret)
		ret = check_built(operation);
	if (!ret)
		ret = function_set_parts(&operation->definition, 1, operation->error);
	if (!ret)
		ret = value_load(operation->source.name, operation->source.rank,
				 operation->indices, operation->condition,
				 operation->condition ? operation->padding : NULL,
				 operation->index, &operation->definition.parts[0].value,
				 operation->error);
	return operation_define(operation, ret);
}
