// SPDX-License-Identifier: MIT
/*
 * Operations of several sources: what joins and cuts tensors, and what loads indices.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "layout/expression.h"
#include "lower/operation.h"

/* Indices ---------------------------------------------------------------------------------- */

/* The tensor that indices are loaded from. */
static int find_indices(const struct operation *operation, const char *name,
			const struct function_tensor **indices)
{
	uint32_t number;
	int ret = function_require(operation->function, name, &number, operation->error);

	if (!ret)
		*indices = &operation->function->tensors[number];
	return ret;
}

static struct accel_expression *loaded_index(void)
{
	return expression_variable(VALUE_INDEX, strlen(VALUE_INDEX));
}

ACCEL_API int accel_function_gather(struct accel_function *function, const char *result,
				    const char *source, uint32_t axis, const char *indices,
				    struct accel_error *error)
{
	const struct function_tensor *from = NULL;
	int64_t shape[2 * ACCEL_MAX_DIMS];
	struct operation operation;
	uint32_t rank = 0, first = axis;
	int ret;

	ret = operation_start(&operation, function, result, source, error);
	if (ret)
		return ret;
	ret = operation_check_axis(&operation, "gather", axis);
	if (!ret)
		ret = find_indices(&operation, indices, &from);
	for (uint32_t k = 0; !ret && k < operation.source.rank; k++) {
		if (k != axis) {
			shape[rank++] = operation.source.shape[k];
			continue;
		}
		memcpy(&shape[rank], from->shape, from->rank * sizeof(shape[0]));
		rank += from->rank;
	}
	if (!ret)
		ret = operation_set_shape(&operation, rank, shape, NULL);
	if (!ret)
		ret = operation_load_at(from, first, &operation.index, error);
	for (uint32_t k = 0; !ret && k < operation.source.rank; k++)
		operation.indices[k] = k == axis ? loaded_index() : operation_axis(
			&operation, k < axis ? k : k + from->rank - 1);
	if (!ret)
		ret = operation_set_text(&operation, "%s = gather(%s, axis %u, %s)", result, source,
					 axis, indices);
	return operation_define_load(&operation, ret);
}

/* The load of indices at the result's index, 0 where they are broadcast. */
static int take_indices(struct operation *operation, const struct function_tensor *from)
{
	struct accel_expression *at[ACCEL_MAX_DIMS] = { NULL };
	bool is_built = true;
	int ret;

	for (uint32_t k = 0; k < from->rank; k++) {
		at[k] = from->shape[k] == 1 ? expression_constant(0) : operation_axis(operation, k);
		is_built &= at[k] != NULL;
	}
	ret = !is_built ? accel_error_set(operation->error, -ENOMEM, "take_along: out of memory") :
	      value_load(from->name, from->rank, at, NULL, NULL, NULL, &operation->index,
			 operation->error);
	for (uint32_t k = 0; k < from->rank; k++)
		expression_unref(at[k]);
	return ret;
}

/* On other axes than that of the indices, both are broadcast. */
static int take_shape(const struct operation *operation, const struct function_tensor *from,
		      uint32_t axis, int64_t *shape)
{
	if (from->rank != operation->source.rank)
		return accel_error_set(operation->error, -EINVAL,
				       "take_along to %s: %s has %u axes, expected the %u of %s",
				       operation->definition.name, from->name, from->rank,
				       operation->source.rank, operation->source.name);
	for (uint32_t k = 0; k < from->rank; k++) {
		int64_t extent = operation->source.shape[k];

		shape[k] = k == axis || extent == 1 ? from->shape[k] : extent;
		if (k != axis && from->shape[k] != 1 && from->shape[k] != shape[k])
			return accel_error_set(operation->error, -EINVAL,
					       "take_along to %s: axis %u has %" PRId64
					       " elements in %s and %" PRId64 " in %s",
					       operation->definition.name, k, from->shape[k],
					       from->name, extent, operation->source.name);
	}
	return 0;
}

ACCEL_API int accel_function_take_along(struct accel_function *function, const char *result,
					const char *source, uint32_t axis, const char *indices,
					struct accel_error *error)
{
	const struct function_tensor *from = NULL;
	int64_t shape[ACCEL_MAX_DIMS];
	struct operation operation;
	int ret;

	ret = operation_start(&operation, function, result, source, error);
	if (ret)
		return ret;
	ret = operation_check_axis(&operation, "take_along", axis);
	if (!ret)
		ret = find_indices(&operation, indices, &from);
	if (!ret)
		ret = take_shape(&operation, from, axis, shape);
	if (!ret)
		ret = operation_set_shape(&operation, from->rank, shape, NULL);
	if (!ret)
		ret = take_indices(&operation, from);
	for (uint32_t k = 0; !ret && k < operation.source.rank; k++) {
		if (k == axis)
			operation.indices[k] = loaded_index();
		else
			operation.indices[k] = operation.source.shape[k] == 1 ?
					       expression_constant(0) :
					       operation_axis(&operation, k);
	}
	if (!ret)
		ret = operation_set_text(&operation, "%s = take_along(%s, axis %u, %s)", result,
					 source, axis, indices);
	return operation_define_load(&operation, ret);
}

/* The checks that are a scatter's own. */
static int check_scatter(const struct operation *operation, const struct function_tensor *from,
			 uint32_t axis, int64_t extent)
{
	int64_t slices = operation->source.shape[axis];

	if (from->rank != 1 || from->shape[0] != slices)
		return accel_error_set(operation->error, -EINVAL,
				       "scatter to %s: expected indices of one axis with %" PRId64
				       " elements, as axis %u of %s has",
				       operation->definition.name, slices, axis,
				       operation->source.name);
	if (extent < 0)
		return accel_error_set(operation->error, -EINVAL,
				       "scatter to %s: axis %u has extent %" PRId64,
				       operation->definition.name, axis, extent);
	if (operation->padding && !value_bits_fit(operation->source.dtype, operation->padding))
		return accel_error_set(operation->error, -EINVAL,
				       "scatter to %s: the padding has more bits than an element "
				       "of %s", operation->definition.name,
				       accel_dtype_name(operation->source.dtype));
	return 0;
}

ACCEL_API int accel_function_scatter(struct accel_function *function, const char *result,
				     const char *source, uint32_t axis, const char *indices,
				     int64_t extent, const uint64_t padding[2],
				     struct accel_error *error)
{
	const struct function_tensor *from = NULL;
	struct function_tensor *definition;
	struct operation operation;
	int ret;

	ret = operation_start(&operation, function, result, source, error);
	if (ret)
		return ret;
	operation.padding = padding;
	definition = &operation.definition;
	ret = operation_check_axis(&operation, "scatter", axis);
	if (!ret)
		ret = find_indices(&operation, indices, &from);
	if (!ret)
		ret = check_scatter(&operation, from, axis, extent);
	if (!ret)
		ret = operation_set_shape(&operation, operation.source.rank,
					  operation.source.shape, NULL);
	if (!ret)
		ret = function_set_parts(definition, 1, error);
	if (!ret)
		ret = operation_load_at(&operation.source, 0, &definition->parts[0].value, error);
	if (!ret)
		ret = operation_load_at(from, axis, &definition->index, error);
	for (uint32_t k = 0; !ret && k < definition->rank; k++) {
		definition->indices[k] = k == axis ? loaded_index() :
						     operation_axis(&operation, k);
		if (!definition->indices[k])
			ret = accel_error_set(error, -ENOMEM, "scatter: out of memory");
	}
	if (ret)
		return operation_define(&operation, ret);
	definition->kind = FUNCTION_PUSH;
	definition->shape[axis] = extent;
	definition->leaves_gaps = true;
	if (padding)
		memcpy(definition->padding, padding, sizeof(definition->padding));
	ret = operation_set_text(&operation, "%s = scatter(%s, axis %u, %s, %" PRId64 ")", result,
				 source, axis, indices, extent);
	return operation_define(&operation, ret);
}

/* Parts ------------------------------------------------------------------------------------ */

/* Names of tensors with commas between them, of malloc(); NULL: no memory. */
static char *join_names(uint32_t count, const char *const *names)
{
	size_t length = 1;
	char *text, *at;

	for (uint32_t k = 0; k < count; k++)
		length += strlen(names[k]) + 2;
	text = malloc(length);
	if (!text)
		return NULL;
	at = text;
	*at = '\0';
	for (uint32_t k = 0; k < count; k++)
		at = stpcpy(stpcpy(at, k ? ", " : ""), names[k]);
	return text;
}

static int set_join_text(struct operation *operation, const char *name, uint32_t num_sources,
			 const char *const *sources, uint32_t axis)
{
	char *names = join_names(num_sources, sources);
	int ret;

	if (!names)
		return accel_error_set(operation->error, -ENOMEM, "%s: out of memory", name);
	ret = operation_set_text(operation, "%s = %s(%s, axis %u)", operation->definition.name,
				 name, names, axis);
	free(names);
	return ret;
}

/* Whether another source has the type of the first, and its shape but on one axis. */
static int check_like_first(const struct operation *operation, const char *name,
			    const struct function_tensor *other, uint32_t axis)
{
	const struct function_tensor *first = &operation->source;

	if (other->rank != first->rank || other->dtype != first->dtype)
		return accel_error_set(operation->error, -EINVAL,
				       "%s to %s: %s is %s of %u axes, %s is %s of %u axes", name,
				       operation->definition.name, first->name,
				       accel_dtype_name(first->dtype), first->rank, other->name,
				       accel_dtype_name(other->dtype), other->rank);
	for (uint32_t k = 0; k < first->rank; k++)
		if (k != axis && other->shape[k] != first->shape[k])
			return accel_error_set(operation->error, -EINVAL,
					       "%s to %s: axis %u has %" PRId64 " elements in %s "
					       "and %" PRId64 " in %s", name,
					       operation->definition.name, k, first->shape[k],
					       first->name, other->shape[k], other->name);
	return 0;
}

/* The load of one source, whose axis begins at start; with is_new the result has one more. */
static int part_value(struct operation *operation, const struct function_tensor *source,
		      uint32_t axis, bool is_new, int64_t start, struct accel_value **value)
{
	struct accel_expression *indices[ACCEL_MAX_DIMS] = { NULL };
	bool is_built = true;
	int ret;

	for (uint32_t k = 0; k < source->rank; k++) {
		indices[k] = operation_axis(operation, is_new && k >= axis ? k + 1 : k);
		if (!is_new && k == axis)
			indices[k] = operation_affine(indices[k], 1, -start);
		is_built &= indices[k] != NULL;
	}
	ret = !is_built ? expression_error(operation->error, -errno, operation->definition.name) :
	      value_load(source->name, source->rank, indices, NULL, NULL, NULL, value,
			 operation->error);
	for (uint32_t k = 0; k < source->rank; k++)
		expression_unref(indices[k]);
	return ret;
}

/* Tensors in a row along an axis, which with is_new is not theirs. */
static int join(struct accel_function *function, const char *name, const char *result,
		uint32_t num_sources, const char *const *sources, uint32_t axis, bool is_new,
		struct accel_error *error)
{
	int64_t shape[ACCEL_MAX_DIMS + 1], start = 0;
	struct function_tensor *definition;
	struct operation operation;
	uint32_t number, rank;
	int ret;

	if (!num_sources)
		return accel_error_set(error, -EINVAL, "%s to %s: no tensors are given", name,
				       result);
	ret = operation_start(&operation, function, result, sources[0], error);
	if (ret)
		return ret;
	definition = &operation.definition;
	rank = operation.source.rank + is_new;
	if (axis >= rank)
		ret = accel_error_set(error, -EINVAL, "%s to %s: axis %u of %u", name, result, axis,
				      rank);
	for (uint32_t k = 0; !ret && k < num_sources; k++) {
		const struct function_tensor *source;

		ret = function_require(function, sources[k], &number, error);
		if (ret)
			break;
		source = &function->tensors[number];
		ret = check_like_first(&operation, name, source, is_new ? UINT32_MAX : axis);
		if (!ret && __builtin_add_overflow(start, is_new ? 1 : source->shape[axis], &start))
			ret = accel_error_set(error, -EOVERFLOW,
					      "%s to %s: axis %u does not fit 63 bits", name,
					      result, axis);
	}
	for (uint32_t k = 0; k < rank; k++)
		shape[k] = k == axis ? start :
			   operation.source.shape[is_new && k > axis ? k - 1 : k];
	if (!ret)
		ret = operation_set_shape(&operation, rank, shape, NULL);
	if (!ret)
		ret = function_set_parts(definition, num_sources, error);
	definition->kind = FUNCTION_PARTS;
	definition->axis = axis;
	start = 0;
	for (uint32_t k = 0; !ret && k < num_sources; k++) {
		struct function_part *part = &definition->parts[k];
		const struct function_tensor *source;

		source = &function->tensors[function_find(function, sources[k])];
		part->start = start;
		part->size = is_new ? 1 : source->shape[axis];
		ret = part_value(&operation, source, axis, is_new, start, &part->value);
		start += part->size;
	}
	if (!ret)
		ret = set_join_text(&operation, name, num_sources, sources, axis);
	return operation_define(&operation, ret);
}

ACCEL_API int accel_function_concat(struct accel_function *function, const char *result,
				    uint32_t num_sources, const char *const *sources,
				    uint32_t axis, struct accel_error *error)
{
	return join(function, "concat", result, num_sources, sources, axis, false, error);
}

ACCEL_API int accel_function_stack(struct accel_function *function, const char *result,
				   uint32_t num_sources, const char *const *sources,
				   uint32_t axis, struct accel_error *error)
{
	return join(function, "stack", result, num_sources, sources, axis, true, error);
}

/* The elements of an axis from start on, size of them. */
static int define_range(struct accel_function *function, const char *result, const char *source,
			uint32_t axis, int64_t start, int64_t size, struct accel_error *error)
{
	int64_t shape[ACCEL_MAX_DIMS];
	struct operation operation;
	int ret;

	ret = operation_start(&operation, function, result, source, error);
	if (ret)
		return ret;
	memcpy(shape, operation.source.shape, sizeof(shape));
	shape[axis] = size;
	ret = operation_set_shape(&operation, operation.source.rank, shape, NULL);
	for (uint32_t k = 0; !ret && k < operation.source.rank; k++)
		operation.indices[k] = operation_affine(operation_axis(&operation, k), 1,
							k == axis ? start : 0);
	if (!ret)
		ret = operation_set_text(&operation, "%s = split(%s, axis %u, %" PRId64 ":%" PRId64
					 ")", result, source, axis, start, start + size);
	return operation_define_load(&operation, ret);
}

static int check_sizes(const struct accel_function *function, const char *source, uint32_t axis,
		       uint32_t count, const int64_t *sizes, struct accel_error *error)
{
	const struct function_tensor *from;
	uint32_t number;
	int64_t sum = 0;
	int ret;

	ret = function_require(function, source, &number, error);
	if (ret)
		return ret;
	from = &function->tensors[number];
	if (axis >= from->rank)
		return accel_error_set(error, -EINVAL, "split: axis %u of %s, which has %u axes",
				       axis, source, from->rank);
	for (uint32_t k = 0; k < count; k++)
		if (sizes[k] < 0 || __builtin_add_overflow(sum, sizes[k], &sum))
			return accel_error_set(error, -EINVAL, "split of %s: size %" PRId64, source,
					       sizes[k]);
	if (sum == from->shape[axis])
		return 0;
	return accel_error_set(error, -EINVAL,
			       "split of %s: the sizes are %" PRId64 " in all, axis %u has %" PRId64
			       " elements", source, sum, axis, from->shape[axis]);
}

ACCEL_API int accel_function_split(struct accel_function *function, uint32_t num_results,
				   const char *const *results, const char *source, uint32_t axis,
				   const int64_t *sizes, struct accel_error *error)
{
	uint32_t before = function->num_tensors;
	int64_t start = 0;
	int ret;

	ret = check_sizes(function, source, axis, num_results, sizes, error);
	for (uint32_t k = 0; !ret && k < num_results; k++) {
		ret = define_range(function, results[k], source, axis, start, sizes[k], error);
		start += sizes[k];
	}
	/* All or none. */
	while (ret && function->num_tensors > before)
		function_tensor_release(&function->tensors[--function->num_tensors]);
	return ret;
}
