// SPDX-License-Identifier: MIT
/*
 * Operations whose elements are those of one source at other places: maps, and what NumPy has
 * for shapes. Those that join tensors or load indices are in operations_join.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "layout/map.h"
#include "lower/operation.h"
#include "tensor/slice.h"

/* Maps ------------------------------------------------------------------------------------- */

static int set_map_text(struct operation *operation, const char *name, const struct accel_map *map)
{
	const char *result = operation->definition.name, *source = operation->source.name;
	char few[256], *text = few;
	int length, ret;

	length = accel_map_print(map, few, sizeof(few));
	if (length >= (int)sizeof(few)) {
		text = malloc((size_t)length + 1);
		if (!text)
			return accel_error_set(operation->error, -ENOMEM, "%s: out of memory",
					       name);
		accel_map_print(map, text, (size_t)length + 1);
	}
	ret = length < 0 ? accel_error_set(operation->error, length,
					   "%s: its map cannot be printed", name) :
	      operation_set_text(operation, "%s = %s(%s, %s)", result, name, source, text);
	if (text != few)
		free(text);
	return ret;
}

/* The extents of a map's outputs. */
static int map_shape(const struct operation *operation, const struct accel_map_analysis *analysis,
		     int64_t shape[ACCEL_MAX_DIMS])
{
	if (analysis->output_rank > ACCEL_MAX_DIMS)
		return accel_error_set(operation->error, -E2BIG,
				       "map to %s: %u axes, a tensor has at most %d",
				       operation->definition.name, analysis->output_rank,
				       ACCEL_MAX_DIMS);
	for (uint32_t k = 0; k < analysis->output_rank; k++)
		if (!analysis->output_shape[k] ||
		    !accel_expression_is_constant(analysis->output_shape[k], &shape[k]))
			return accel_error_set(operation->error, -EINVAL,
					       "map to %s: the extent of output %u is not known",
					       operation->definition.name, k);
	return 0;
}

/* Each element of the result is pulled through the inverse. */
static int pull_map(struct operation *operation, const struct accel_map_analysis *analysis,
		    const int64_t *shape)
{
	const struct accel_map *inverse = analysis->inverse;
	const char *names[ACCEL_MAP_MAX_AXES];
	int ret;

	map_names(inverse, names);
	ret = operation_set_shape(operation, analysis->output_rank, shape, names);
	if (ret)
		return operation_define(operation, ret);
	for (uint32_t k = 0; k < operation->source.rank; k++)
		operation->indices[k] = expression_ref(inverse->outputs[k]);
	operation->definition.is_in_range = true;
	if (analysis->padding) {
		operation->condition = condition_negate(expression_ref(analysis->padding));
		if (!operation->condition)
			ret = expression_error(operation->error, -errno, "padding");
	}
	return operation_define_load(operation, ret);
}

/* Each element of the source is pushed to where the map says. */
static int push_map(struct operation *operation, const struct accel_map_analysis *analysis,
		    struct accel_map *map, const int64_t *shape)
{
	struct function_tensor *definition = &operation->definition;
	const char *names[ACCEL_MAP_MAX_AXES];
	struct accel_map *expanded;
	int ret;

	ret = map_expand(map, operation->source.rank, &expanded, operation->error);
	if (ret)
		return operation_define(operation, ret);
	map_names(expanded, names);
	ret = function_set_axes(definition, operation->source.rank, names, operation->source.shape,
				operation->error);
	if (!ret)
		ret = function_set_parts(definition, 1, operation->error);
	definition->kind = FUNCTION_PUSH;
	definition->rank = analysis->output_rank;
	memcpy(definition->shape, shape, definition->rank * sizeof(shape[0]));
	definition->leaves_gaps = analysis->bijective != ACCEL_ANSWER_YES;
	if (operation->padding)
		memcpy(definition->padding, operation->padding, sizeof(definition->padding));
	for (uint32_t k = 0; k < definition->rank; k++)
		definition->indices[k] = expression_ref(expanded->outputs[k]);
	for (uint32_t k = 0; !ret && k < operation->source.rank; k++) {
		operation->indices[k] = operation_axis(operation, k);
		if (!operation->indices[k])
			ret = accel_error_set(operation->error, -ENOMEM, "map: out of memory");
	}
	if (!ret)
		ret = value_load(operation->source.name, operation->source.rank,
				 operation->indices, NULL, NULL, NULL,
				 &definition->parts[0].value, operation->error);
	accel_map_unref(expanded);
	return operation_define(operation, ret);
}

static int check_padding(const struct operation *operation)
{
	if (!operation->padding || value_bits_fit(operation->source.dtype, operation->padding))
		return 0;
	return accel_error_set(operation->error, -EINVAL,
			       "definition of %s: the padding has more bits than an element of %s",
			       operation->definition.name,
			       accel_dtype_name(operation->source.dtype));
}

ACCEL_API int accel_function_map(struct accel_function *function, const char *result,
				 const char *source, struct accel_map *map,
				 const uint64_t padding[2], struct accel_error *error)
{
	struct accel_map_analysis analysis;
	struct operation operation;
	int64_t shape[ACCEL_MAX_DIMS];
	int ret;

	ret = operation_start(&operation, function, result, source, error);
	if (ret)
		return ret;
	operation.padding = padding;
	ret = check_padding(&operation);
	if (!ret)
		ret = accel_map_analyze(map, operation.source.rank, operation.source.shape,
					&analysis, error);
	if (ret)
		return operation_define(&operation, ret);
	if (analysis.injective == ACCEL_ANSWER_NO)
		ret = accel_error_set(error, -EDOM, "map to %s: two elements go to the same place",
				      result);
	if (!ret)
		ret = map_shape(&operation, &analysis, shape);
	if (!ret)
		ret = set_map_text(&operation, "map", map);
	if (ret)
		ret = operation_define(&operation, ret);
	else if (analysis.inverse)
		ret = pull_map(&operation, &analysis, shape);
	else
		ret = push_map(&operation, &analysis, map, shape);
	accel_map_analysis_release(&analysis);
	return ret;
}

ACCEL_API int accel_function_unmap(struct accel_function *function, const char *result,
				   const char *source, struct accel_map *map, uint32_t rank,
				   const int64_t *shape, struct accel_error *error)
{
	const char *names[ACCEL_MAP_MAX_AXES];
	struct accel_map *expanded;
	struct operation operation;
	int ret;

	ret = operation_start(&operation, function, result, source, error);
	if (ret)
		return ret;
	ret = map_expand(map, rank, &expanded, error);
	if (ret)
		return operation_define(&operation, ret);
	if (expanded->num_inputs != rank || expanded->num_outputs != operation.source.rank)
		ret = accel_error_set(error, -EINVAL,
				      "unmap to %s: the map goes from %u axes to %u, expected from "
				      "%u to the %u of %s", result, expanded->num_inputs,
				      expanded->num_outputs, rank, operation.source.rank, source);
	map_names(expanded, names);
	if (!ret)
		ret = operation_set_shape(&operation, rank, shape, names);
	if (!ret)
		ret = set_map_text(&operation, "unmap", map);
	for (uint32_t k = 0; !ret && k < operation.source.rank; k++)
		operation.indices[k] = expression_ref(expanded->outputs[k]);
	accel_map_unref(expanded);
	return operation_define_load(&operation, ret);
}

/* Axes ------------------------------------------------------------------------------------- */

ACCEL_API int accel_function_permute(struct accel_function *function, const char *result,
				     const char *source, const uint32_t *axes,
				     struct accel_error *error)
{
	int64_t shape[ACCEL_MAX_DIMS], order[ACCEL_MAX_DIMS];
	bool is_taken[ACCEL_MAX_DIMS] = { false };
	struct operation operation;
	char text[200];
	int ret;

	ret = operation_start(&operation, function, result, source, error);
	if (ret)
		return ret;
	for (uint32_t k = 0; !ret && k < operation.source.rank; k++) {
		if (axes[k] >= operation.source.rank || is_taken[axes[k]]) {
			ret = accel_error_set(error, -EINVAL,
					      "permute to %s: axis %u at place %u, expected each "
					      "of the %u axes once", result, axes[k], k,
					      operation.source.rank);
			break;
		}
		is_taken[axes[k]] = true;
		order[k] = axes[k];
		shape[k] = operation.source.shape[axes[k]];
	}
	if (!ret)
		ret = operation_set_shape(&operation, operation.source.rank, shape, NULL);
	for (uint32_t k = 0; !ret && k < operation.source.rank; k++)
		operation.indices[axes[k]] = operation_axis(&operation, k);
	if (!ret) {
		operation_print_shape(operation.source.rank, order, text, sizeof(text));
		ret = operation_set_text(&operation, "%s = permute(%s, %s)", result, source, text);
	}
	return operation_define_load(&operation, ret);
}

/* The extent that -1 stands for, and whether the elements are as many. */
static int resolve_shape(const struct operation *operation, uint32_t rank, int64_t *shape)
{
	int64_t count = 1, wanted = 1;
	uint32_t open = UINT32_MAX;

	for (uint32_t k = 0; k < operation->source.rank; k++)
		count *= operation->source.shape[k];
	for (uint32_t k = 0; k < rank; k++) {
		if (shape[k] == -1 && open == UINT32_MAX) {
			open = k;
			continue;
		}
		if (shape[k] < 0 || __builtin_mul_overflow(wanted, shape[k], &wanted))
			return accel_error_set(operation->error, -EINVAL,
					       "reshape to %s: extent %" PRId64 " at axis %u",
					       operation->definition.name, shape[k], k);
	}
	if (open != UINT32_MAX && wanted && !(count % wanted)) {
		shape[open] = count / wanted;
		wanted = count;
	}
	if (count == wanted && (open == UINT32_MAX || shape[open] >= 0))
		return 0;
	return accel_error_set(operation->error, -EINVAL,
			       "reshape to %s: %s has %" PRId64 " elements, the shape %" PRId64,
			       operation->definition.name, operation->source.name, count, wanted);
}

/* Axes of both shapes that have as many elements go to each other: source's [from, to). */
static void reshape_group(struct operation *operation, uint32_t first, uint32_t last,
			  uint32_t from, uint32_t to)
{
	const int64_t *shape = operation->definition.shape;
	struct accel_expression *flat = expression_constant(0);
	int64_t stride = 1;

	for (uint32_t k = first; k < last; k++)
		flat = expression_add(operation_affine(flat, shape[k], 0),
				      operation_axis(operation, k));
	for (uint32_t k = to; k-- > from;) {
		struct accel_expression *index = operation_quotient(expression_ref(flat), stride);

		if (k > from)
			index = operation_remainder(index, operation->source.shape[k]);
		operation->indices[k] = index;
		stride *= operation->source.shape[k];
	}
	expression_unref(flat);
}

static void reshape_indices(struct operation *operation)
{
	const struct function_tensor *result = &operation->definition, *source = &operation->source;
	uint32_t first = 0, from = 0;

	while (from < source->rank) {
		uint32_t last = first, to = from + 1;
		int64_t inner = source->shape[from], outer = 1;

		while (outer != inner) {
			if (outer < inner)
				outer *= result->shape[last++];
			else
				inner *= source->shape[to++];
		}
		reshape_group(operation, first, last, from, to);
		first = last;
		from = to;
	}
}

ACCEL_API int accel_function_reshape(struct accel_function *function, const char *result,
				     const char *source, uint32_t rank, const int64_t *shape,
				     struct accel_error *error)
{
	int64_t resolved[ACCEL_MAX_DIMS];
	struct operation operation;
	bool is_empty = false;
	char text[400];
	int ret;

	ret = operation_start(&operation, function, result, source, error);
	if (ret)
		return ret;
	if (rank > ACCEL_MAX_DIMS)
		return operation_define(&operation, accel_error_set(
			error, -E2BIG, "reshape to %s: %u axes, a tensor has at most %d", result,
			rank, ACCEL_MAX_DIMS));
	memcpy(resolved, shape, rank * sizeof(shape[0]));
	ret = resolve_shape(&operation, rank, resolved);
	if (!ret)
		ret = operation_set_shape(&operation, rank, resolved, NULL);
	for (uint32_t k = 0; k < operation.source.rank; k++)
		is_empty |= !operation.source.shape[k];
	/* Of nothing, every index is as good as any. */
	for (uint32_t k = 0; !ret && is_empty && k < operation.source.rank; k++)
		operation.indices[k] = expression_constant(0);
	if (!ret && !is_empty)
		reshape_indices(&operation);
	if (!ret) {
		operation_print_shape(rank, resolved, text, sizeof(text));
		ret = operation_set_text(&operation, "%s = reshape(%s, %s)", result, source, text);
	}
	return operation_define_load(&operation, ret);
}

ACCEL_API int accel_function_slice(struct accel_function *function, const char *result,
				   const char *source, const char *text, struct accel_error *error)
{
	struct slice_item items[SLICE_MAX_ITEMS];
	int64_t shape[SLICE_MAX_ITEMS];
	struct operation operation;
	uint32_t num_items = 0, rank = 0, from = 0, to = 0;
	int ret;

	ret = operation_start(&operation, function, result, source, error);
	if (ret)
		return ret;
	ret = slice_parse(text, operation.source.rank, operation.source.shape, &num_items, items,
			  error);
	for (uint32_t k = 0; !ret && k < num_items; k++)
		if (items[k].kind != SLICE_INDEX)
			shape[rank++] = items[k].kind == SLICE_NEW ? 1 : items[k].count;
	if (!ret)
		ret = operation_set_shape(&operation, rank, shape, NULL);
	for (uint32_t k = 0; !ret && k < num_items; k++) {
		if (items[k].kind == SLICE_INDEX)
			operation.indices[from++] = expression_constant(items[k].start);
		if (items[k].kind == SLICE_RANGE)
			operation.indices[from++] = operation_affine(operation_axis(&operation, to),
								     items[k].step,
								     items[k].start);
		to += items[k].kind != SLICE_INDEX;
	}
	if (!ret)
		ret = operation_set_text(&operation, "%s = slice(%s, %s)", result, source, text);
	return operation_define_load(&operation, ret);
}

ACCEL_API int accel_function_pad(struct accel_function *function, const char *result,
				 const char *source, const int64_t *before, const int64_t *after,
				 const uint64_t padding[2], struct accel_error *error)
{
	char before_text[200], after_text[200];
	int64_t shape[ACCEL_MAX_DIMS];
	struct operation operation;
	int ret;

	ret = operation_start(&operation, function, result, source, error);
	if (ret)
		return ret;
	operation.padding = padding;
	ret = check_padding(&operation);
	for (uint32_t k = 0; !ret && k < operation.source.rank; k++) {
		if (__builtin_add_overflow(operation.source.shape[k], before[k], &shape[k]) ||
		    __builtin_add_overflow(shape[k], after[k], &shape[k]) || shape[k] < 0)
			ret = accel_error_set(error, -EINVAL,
					      "pad to %s: %" PRId64 " before and %" PRId64 " after "
					      "the %" PRId64 " elements of axis %u", result,
					      before[k], after[k], operation.source.shape[k], k);
	}
	if (!ret)
		ret = operation_set_shape(&operation, operation.source.rank, shape, NULL);
	for (uint32_t k = 0; !ret && k < operation.source.rank; k++) {
		operation.indices[k] = operation_affine(operation_axis(&operation, k), 1,
							-before[k]);
		if (operation.indices[k] && (before[k] > 0 || after[k] > 0))
			operation_confine(&operation, operation.indices[k],
					  operation.source.shape[k]);
	}
	if (!ret) {
		operation_print_shape(operation.source.rank, before, before_text,
				      sizeof(before_text));
		operation_print_shape(operation.source.rank, after, after_text, sizeof(after_text));
		ret = operation_set_text(&operation, "%s = pad(%s, %s, %s)", result, source,
					 before_text, after_text);
	}
	return operation_define_load(&operation, ret);
}

ACCEL_API int accel_function_broadcast(struct accel_function *function, const char *result,
				       const char *source, uint32_t rank, const int64_t *shape,
				       struct accel_error *error)
{
	struct operation operation;
	uint32_t added;
	char text[400];
	int ret;

	ret = operation_start(&operation, function, result, source, error);
	if (ret)
		return ret;
	added = rank - operation.source.rank;
	if (rank < operation.source.rank)
		ret = accel_error_set(error, -EINVAL, "broadcast to %s: %u axes, %s has %u", result,
				      rank, source, operation.source.rank);
	if (!ret)
		ret = operation_set_shape(&operation, rank, shape, NULL);
	for (uint32_t k = 0; !ret && k < operation.source.rank; k++) {
		int64_t extent = operation.source.shape[k];

		if (extent != 1 && extent != shape[added + k])
			ret = accel_error_set(error, -EINVAL,
					      "broadcast to %s: axis %u of %s has %" PRId64
					      " elements, expected 1 or %" PRId64, result, k,
					      source, extent, shape[added + k]);
		else
			operation.indices[k] = extent == 1 ? expression_constant(0) :
							     operation_axis(&operation, added + k);
	}
	if (!ret) {
		operation_print_shape(rank, shape, text, sizeof(text));
		ret = operation_set_text(&operation, "%s = broadcast(%s, %s)", result, source,
					 text);
	}
	return operation_define_load(&operation, ret);
}

/* The result's shape is the source's, times counts. */
static int set_multiple(struct operation *operation, const char *name, const int64_t *counts)
{
	int64_t shape[ACCEL_MAX_DIMS];

	for (uint32_t k = 0; k < operation->source.rank; k++)
		if (counts[k] < 0 ||
		    __builtin_mul_overflow(operation->source.shape[k], counts[k], &shape[k]))
			return accel_error_set(operation->error, -EINVAL,
					       "%s to %s: %" PRId64 " times axis %u", name,
					       operation->definition.name, counts[k], k);
	return operation_set_shape(operation, operation->source.rank, shape, NULL);
}

ACCEL_API int accel_function_repeat(struct accel_function *function, const char *result,
				    const char *source, uint32_t axis, int64_t count,
				    struct accel_error *error)
{
	int64_t counts[ACCEL_MAX_DIMS];
	struct operation operation;
	int ret;

	ret = operation_start(&operation, function, result, source, error);
	if (ret)
		return ret;
	ret = operation_check_axis(&operation, "repeat", axis);
	for (uint32_t k = 0; k < operation.source.rank; k++)
		counts[k] = k == axis ? count : 1;
	if (!ret)
		ret = set_multiple(&operation, "repeat", counts);
	for (uint32_t k = 0; !ret && k < operation.source.rank; k++)
		operation.indices[k] = operation_quotient(operation_axis(&operation, k),
							  counts[k] ? counts[k] : 1);
	if (!ret)
		ret = operation_set_text(&operation, "%s = repeat(%s, %" PRId64 ", axis %u)",
					 result, source, count, axis);
	return operation_define_load(&operation, ret);
}

ACCEL_API int accel_function_tile(struct accel_function *function, const char *result,
				  const char *source, const int64_t *counts,
				  struct accel_error *error)
{
	struct operation operation;
	char text[400];
	int ret;

	ret = operation_start(&operation, function, result, source, error);
	if (ret)
		return ret;
	ret = set_multiple(&operation, "tile", counts);
	for (uint32_t k = 0; !ret && k < operation.source.rank; k++) {
		operation.indices[k] = operation_axis(&operation, k);
		if (counts[k] > 1 && operation.source.shape[k])
			operation.indices[k] = operation_remainder(operation.indices[k],
								   operation.source.shape[k]);
	}
	if (!ret) {
		operation_print_shape(operation.source.rank, counts, text, sizeof(text));
		ret = operation_set_text(&operation, "%s = tile(%s, %s)", result, source, text);
	}
	return operation_define_load(&operation, ret);
}

/* Images ----------------------------------------------------------------------------------- */

/* A window of an image along one axis. */
struct window {
	int64_t extent;		/* of the image */
	int64_t kernel;
	int64_t stride;
	int64_t pad;
	int64_t dilation;
	int64_t positions;	/* of the window */
};

static int set_window(const struct operation *operation, const struct accel_im2col *im2col,
		      unsigned int k, int64_t extent, struct window *window)
{
	int64_t padded, span;

	*window = (struct window){
		.extent = extent,
		.kernel = im2col->kernel[k],
		.stride = im2col->stride[k] ? im2col->stride[k] : 1,
		.pad = im2col->pad[k],
		.dilation = im2col->dilation[k] ? im2col->dilation[k] : 1,
	};
	if (window->kernel < 1 || window->stride < 1 || window->pad < 0 || window->dilation < 1)
		return accel_error_set(operation->error, -EINVAL,
				       "im2col to %s: kernel %" PRId64 ", stride %" PRId64
				       ", pad %" PRId64 ", dilation %" PRId64,
				       operation->definition.name, window->kernel, window->stride,
				       window->pad, window->dilation);
	if (__builtin_mul_overflow(window->pad, 2, &padded) ||
	    __builtin_add_overflow(padded, extent, &padded) ||
	    __builtin_mul_overflow(window->kernel - 1, window->dilation, &span) ||
	    span >= padded)
		return accel_error_set(operation->error, -EINVAL,
				       "im2col to %s: a kernel of %" PRId64 " with dilation "
				       "%" PRId64 " does not fit %" PRId64 " elements with %" PRId64
				       " around them", operation->definition.name, window->kernel,
				       window->dilation, extent, window->pad);
	window->positions = (padded - span - 1) / window->stride + 1;
	return 0;
}

/* Digit k of a mixed radix number, of which the digits behind it have the extents. */
static struct accel_expression *digit(struct accel_expression *number, uint32_t k, uint32_t count,
				      const int64_t *extents)
{
	int64_t stride = 1;

	for (uint32_t d = k + 1; d < count; d++)
		if (__builtin_mul_overflow(stride, extents[d], &stride)) {
			expression_unref(number);
			errno = EOVERFLOW;
			return NULL;
		}
	number = operation_quotient(number, stride);
	return k ? operation_remainder(number, extents[k]) : number;
}

/* Axis k of (N, Ho, Wo, C, Kh, Kw), whichever form the result has. */
static struct accel_expression *im2col_axis(const struct operation *operation, uint32_t k,
					    bool is_view, const int64_t extents[6])
{
	if (is_view)
		return operation_axis(operation, k);
	return digit(operation_axis(operation, k / 3), k % 3, 3, &extents[k / 3 * 3]);
}

static int set_im2col_shape(struct operation *operation, bool is_view, const int64_t extents[6])
{
	int64_t matrix[2] = { 1, 1 };

	if (is_view)
		return operation_set_shape(operation, 6, extents, NULL);
	for (unsigned int k = 0; k < 6; k++)
		if (__builtin_mul_overflow(matrix[k / 3], extents[k], &matrix[k / 3]))
			return accel_error_set(operation->error, -EOVERFLOW,
					       "im2col to %s: its rows or columns do not fit 63 "
					       "bits", operation->definition.name);
	return operation_set_shape(operation, 2, matrix, NULL);
}

ACCEL_API int accel_function_im2col(struct accel_function *function, const char *result,
				    const char *source, const struct accel_im2col *im2col,
				    struct accel_error *error)
{
	static const uint32_t channel_axes[] = { 1, 3 }, image_axes[] = { 2, 1 };
	struct window windows[2] = { { 0 } };
	struct operation operation;
	uint32_t channel = channel_axes[im2col->is_nhwc], image = image_axes[im2col->is_nhwc];
	int64_t extents[6];
	int ret;

	ret = operation_start(&operation, function, result, source, error);
	if (ret)
		return ret;
	if (operation.source.rank != 4)
		ret = accel_error_set(error, -EINVAL, "im2col to %s: %s has %u axes, expected 4",
				      result, source, operation.source.rank);
	for (unsigned int k = 0; !ret && k < 2; k++) {
		ret = set_window(&operation, im2col, k, operation.source.shape[image + k],
				 &windows[k]);
		extents[1 + k] = windows[k].positions;
		extents[4 + k] = windows[k].kernel;
	}
	extents[0] = operation.source.shape[0];
	extents[3] = operation.source.shape[channel];
	if (!ret)
		ret = set_im2col_shape(&operation, im2col->is_view, extents);
	if (ret)
		return operation_define(&operation, ret);
	operation.indices[0] = im2col_axis(&operation, 0, im2col->is_view, extents);
	operation.indices[channel] = im2col_axis(&operation, 3, im2col->is_view, extents);
	for (unsigned int k = 0; k < 2; k++) {
		struct accel_expression *index;

		index = expression_add(
			operation_affine(im2col_axis(&operation, 1 + k, im2col->is_view, extents),
					 windows[k].stride, 0),
			operation_affine(im2col_axis(&operation, 4 + k, im2col->is_view, extents),
					 windows[k].dilation, -windows[k].pad));
		operation.indices[image + k] = index;
		if (index && windows[k].pad)
			operation_confine(&operation, index, windows[k].extent);
	}
	ret = operation_set_text(&operation,
				 "%s = im2col(%s, kernel %" PRId64 "x%" PRId64 ", stride %" PRId64
				 "x%" PRId64 ", pad %" PRId64 "x%" PRId64 ", dilation %" PRId64
				 "x%" PRId64 ")", result, source, windows[0].kernel,
				 windows[1].kernel, windows[0].stride, windows[1].stride,
				 windows[0].pad, windows[1].pad, windows[0].dilation,
				 windows[1].dilation);
	return operation_define_load(&operation, ret);
}

/* Starts one of the two below: an image of four axes, and a factor. */
static int start_shuffle(struct operation *operation, struct accel_function *function,
			 const char *name, const char *result, const char *source, int64_t factor,
			 struct accel_error *error)
{
	int64_t square;
	int ret;

	ret = operation_start(operation, function, result, source, error);
	if (ret)
		return ret;
	if (operation->source.rank != 4)
		return accel_error_set(error, -EINVAL, "%s to %s: %s has %u axes, expected 4", name,
				       result, source, operation->source.rank);
	if (factor < 1 || __builtin_mul_overflow(factor, factor, &square))
		return accel_error_set(error, -EINVAL, "%s to %s: factor %" PRId64, name, result,
				       factor);
	return operation_set_text(operation, "%s = %s(%s, %" PRId64 ")", result, name, source,
				  factor);
}

ACCEL_API int accel_function_pixel_shuffle(struct accel_function *function, const char *result,
					   const char *source, int64_t factor,
					   struct accel_error *error)
{
	static const char *const names[] = { "n", "c", "h", "w" };
	struct operation operation;
	struct accel_expression *offset;
	const int64_t *from;
	int64_t shape[4];
	int ret;

	ret = start_shuffle(&operation, function, "pixel_shuffle", result, source, factor, error);
	if (ret)
		return operation_define(&operation, ret);
	from = operation.source.shape;
	if (from[1] % (factor * factor) || __builtin_mul_overflow(from[2], factor, &shape[2]) ||
	    __builtin_mul_overflow(from[3], factor, &shape[3]))
		return operation_define(&operation, accel_error_set(
			error, -EINVAL,
			"pixel_shuffle to %s: %" PRId64 " channels, expected a multiple of "
			"%" PRId64, result, from[1], factor * factor));
	shape[0] = from[0];
	shape[1] = from[1] / (factor * factor);
	ret = operation_set_shape(&operation, 4, shape, names);
	if (ret)
		return operation_define(&operation, ret);
	offset = expression_add(
		operation_affine(operation_remainder(operation_axis(&operation, 2), factor), factor,
				 0),
		operation_remainder(operation_axis(&operation, 3), factor));
	operation.indices[0] = operation_axis(&operation, 0);
	operation.indices[1] = expression_add(
		operation_affine(operation_axis(&operation, 1), factor * factor, 0), offset);
	operation.indices[2] = operation_quotient(operation_axis(&operation, 2), factor);
	operation.indices[3] = operation_quotient(operation_axis(&operation, 3), factor);
	return operation_define_load(&operation, 0);
}

ACCEL_API int accel_function_space_to_depth(struct accel_function *function, const char *result,
					    const char *source, int64_t factor,
					    struct accel_error *error)
{
	static const char *const names[] = { "n", "c", "h", "w" };
	struct operation operation;
	const int64_t *from;
	int64_t extents[3], shape[4];
	int ret;

	ret = start_shuffle(&operation, function, "space_to_depth", result, source, factor, error);
	if (ret)
		return operation_define(&operation, ret);
	from = operation.source.shape;
	if (from[2] % factor || from[3] % factor ||
	    __builtin_mul_overflow(from[1], factor * factor, &shape[1]))
		return operation_define(&operation, accel_error_set(
			error, -EINVAL,
			"space_to_depth to %s: an image of %" PRId64 "x%" PRId64
			", expected multiples of %" PRId64, result, from[2], from[3], factor));
	shape[0] = from[0];
	shape[2] = from[2] / factor;
	shape[3] = from[3] / factor;
	ret = operation_set_shape(&operation, 4, shape, names);
	if (ret)
		return operation_define(&operation, ret);
	extents[0] = from[1];
	extents[1] = extents[2] = factor;
	operation.indices[0] = operation_axis(&operation, 0);
	operation.indices[1] = digit(operation_axis(&operation, 1), 0, 3, extents);
	for (uint32_t k = 0; k < 2; k++)
		operation.indices[2 + k] = expression_add(
			operation_affine(operation_axis(&operation, 2 + k), factor, 0),
			digit(operation_axis(&operation, 1), 1 + k, 3, extents));
	return operation_define_load(&operation, 0);
}
