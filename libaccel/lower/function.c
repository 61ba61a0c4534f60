// SPDX-License-Identifier: MIT
/*
 * The function object: tensors in it, and which are asked for. What definitions may say is
 * checked in define.c; what becomes of them is schedule.c's.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "lower/function.h"
#include "tensor/tensor.h"

ACCEL_API int accel_function_create(struct accel_function **function, struct accel_error *error)
{
	*function = calloc(1, sizeof(**function));
	if (!*function)
		return accel_error_set(error, -ENOMEM, "function: out of memory");
	atomic_init(&(*function)->refs, 1);
	return 0;
}

ACCEL_API struct accel_function *accel_function_ref(struct accel_function *function)
{
	if (function)
		atomic_fetch_add_explicit(&function->refs, 1, memory_order_relaxed);
	return function;
}

void function_tensor_release(struct function_tensor *tensor)
{
	accel_tensor_unref(tensor->layout);
	for (uint32_t k = 0; tensor->parts && k < tensor->num_parts; k++)
		accel_value_unref(tensor->parts[k].value);
	for (uint32_t k = 0; k < ACCEL_MAX_DIMS; k++)
		expression_unref(tensor->indices[k]);
	accel_value_unref(tensor->index);
	free(tensor->parts);
	free(tensor->axes);
	free(tensor->text);
	*tensor = (struct function_tensor){ 0 };
}

ACCEL_API void accel_function_unref(struct accel_function *function)
{
	/* Pairs with itself: who frees it sees what the others did before they let go. */
	if (!function ||
	    atomic_fetch_sub_explicit(&function->refs, 1, memory_order_acq_rel) != 1)
		return;
	for (uint32_t k = 0; k < function->num_tensors; k++)
		function_tensor_release(&function->tensors[k]);
	for (uint32_t k = 0; k < function->num_outputs; k++)
		accel_tensor_unref(function->outputs[k].layout);
	free(function->tensors);
	free(function->outputs);
	free(function);
}

uint32_t function_find(const struct accel_function *function, const char *name)
{
	for (uint32_t k = 0; k < function->num_tensors; k++)
		if (names_equal(function->tensors[k].name, name))
			return k;
	return FUNCTION_NO_TENSOR;
}

int function_require(const struct accel_function *function, const char *name, uint32_t *number,
		     struct accel_error *error)
{
	*number = function_find(function, name);
	if (*number != FUNCTION_NO_TENSOR)
		return 0;
	return accel_error_set(error, -ENOENT,
			       "tensor \"%.40s\" is neither an input nor defined before", name);
}

int function_check_name(const char *what, const char *name, struct accel_error *error)
{
	struct accel_expression *variable;

	if (!name || !name[0])
		return accel_error_set(error, -EINVAL, "%s without a name", what);
	variable = name[0] == '*' ? NULL : expression_variable(name, strlen(name));
	if (!variable && errno == ENOMEM)
		return accel_error_set(error, -ENOMEM, "%s %s: out of memory", what, name);
	expression_unref(variable);
	if (!variable || names_equal(name, VALUE_INDEX))
		return accel_error_set(error, -EINVAL,
				       "%s \"%.40s\" is no name: expected a letter or _, then "
				       "letters, digits and _, %d characters at most, and no "
				       "keyword", what, name, ACCEL_NAME_MAX);
	return 0;
}

/* Inputs ----------------------------------------------------------------------------------- */

/* Adds an input of that layout, which is consumed. */
static int add_input(struct accel_function *function, const char *name,
		     struct accel_tensor *layout, struct accel_error *error)
{
	struct function_tensor input = { .kind = FUNCTION_INPUT, .layout = layout };

	strcpy(input.name, name);
	input.dtype = accel_tensor_dtype(layout);
	input.rank = accel_tensor_rank(layout);
	memcpy(input.shape, accel_tensor_shape(layout), input.rank * sizeof(input.shape[0]));
	input.input = function->num_inputs;
	return function_define(function, &input, error);
}

ACCEL_API int accel_function_add_input(struct accel_function *function, const char *name,
				       enum accel_dtype dtype, uint32_t rank,
				       const int64_t *shape, struct accel_layout *layout,
				       struct accel_error *error)
{
	struct accel_tensor *tensor;
	int ret;

	ret = function_check_name("input", name, error);
	if (!ret)
		ret = tensor_describe(dtype, rank, shape, layout, &tensor, error);
	return ret ? ret : add_input(function, name, tensor, error);
}

ACCEL_API int accel_function_add_input_like(struct accel_function *function, const char *name,
					    const struct accel_tensor *tensor,
					    struct accel_error *error)
{
	struct accel_tensor *layout;
	int ret;

	ret = function_check_name("input", name, error);
	if (!ret)
		ret = tensor_detach(tensor, &layout, error);
	return ret ? ret : add_input(function, name, layout, error);
}

/* Outputs ---------------------------------------------------------------------------------- */

/* Adds an output, whose layout is consumed. */
static int add_output(struct accel_function *function, struct function_output *output,
		      struct accel_error *error)
{
	struct function_output *grown;

	grown = realloc(function->outputs, (function->num_outputs + 1) * sizeof(*grown));
	if (!grown) {
		accel_tensor_unref(output->layout);
		return accel_error_set(error, -ENOMEM, "function: out of memory");
	}
	function->outputs = grown;
	grown[function->num_outputs++] = *output;
	return 0;
}

ACCEL_API int accel_function_add_output(struct accel_function *function, const char *name,
					struct accel_layout *layout, const uint64_t padding[2],
					struct accel_error *error)
{
	struct function_output output = { .fills_padding = layout };
	const struct function_tensor *tensor;
	int ret;

	ret = function_require(function, name, &output.tensor, error);
	if (ret)
		return ret;
	tensor = &function->tensors[output.tensor];
	if (padding)
		memcpy(output.padding, padding, sizeof(output.padding));
	if (!value_bits_fit(tensor->dtype, output.padding))
		return accel_error_set(error, -EINVAL,
				       "output %s: the padding has more bits than an element of %s",
				       name, accel_dtype_name(tensor->dtype));
	ret = tensor_describe(tensor->dtype, tensor->rank, tensor->shape, layout, &output.layout,
			      error);
	return ret ? ret : add_output(function, &output, error);
}

static int check_like(const struct function_tensor *tensor, const struct accel_tensor *like,
		      struct accel_error *error)
{
	enum accel_dtype dtype = accel_tensor_dtype(like);
	const int64_t *shape = accel_tensor_shape(like);

	if (dtype != tensor->dtype &&
	    (accel_dtype_size(dtype) != accel_dtype_size(tensor->dtype) ||
	     (!dtype_is_raw(dtype) && !dtype_is_raw(tensor->dtype))))
		return accel_error_set(error, -EINVAL,
				       "output %s has elements of %s, the tensor of %s",
				       tensor->name,
				       accel_dtype_name(tensor->dtype), accel_dtype_name(dtype));
	if (accel_tensor_rank(like) != tensor->rank)
		return accel_error_set(error, -EINVAL, "output %s has %u axes, the tensor %u",
				       tensor->name, tensor->rank, accel_tensor_rank(like));
	for (uint32_t k = 0; k < tensor->rank; k++)
		if (shape[k] != tensor->shape[k])
			return accel_error_set(error, -EINVAL,
					       "axis %u of output %s has %" PRId64 " elements, "
					       "of the tensor %" PRId64, k, tensor->name,
					       tensor->shape[k], shape[k]);
	return 0;
}

ACCEL_API int accel_function_add_output_like(struct accel_function *function, const char *name,
					     const struct accel_tensor *tensor,
					     struct accel_error *error)
{
	struct function_output output = { 0 };
	int ret;

	ret = function_require(function, name, &output.tensor, error);
	if (!ret)
		ret = check_like(&function->tensors[output.tensor], tensor, error);
	if (!ret)
		ret = tensor_detach(tensor, &output.layout, error);
	return ret ? ret : add_output(function, &output, error);
}

ACCEL_API int accel_function_tensor(const struct accel_function *function, const char *name,
				    enum accel_dtype *dtype, uint32_t *rank,
				    int64_t shape[ACCEL_MAX_DIMS], struct accel_error *error)
{
	const struct function_tensor *tensor;
	uint32_t number;
	int ret;

	ret = function_require(function, name, &number, error);
	if (ret)
		return ret;
	tensor = &function->tensors[number];
	*dtype = tensor->dtype;
	*rank = tensor->rank;
	memcpy(shape, tensor->shape, tensor->rank * sizeof(shape[0]));
	return 0;
}
