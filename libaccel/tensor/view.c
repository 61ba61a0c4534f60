// SPDX-License-Identifier: MIT
/*
 * Views: tensors that share another's memory. Each is an operation on the columns of the map from
 * the tensor's index to the base's, so none knows whether memory is strided or in a layout that
 * splits axes. Views of another element type are reinterpret.c's.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "tensor/slice.h"
#include "tensor/tensor.h"

/* Columns ----------------------------------------------------------------------------------- */

/* What a step along an axis of the tensor is on each axis of the base. */
struct column {
	int64_t steps[ACCEL_MAX_DIMS];
};

static struct column get_column(const struct accel_tensor *tensor, uint32_t axis)
{
	struct column column;

	for (uint32_t b = 0; b < ACCEL_MAX_DIMS; b++)
		column.steps[b] = tensor->steps[b][axis];
	return column;
}

static void set_axis(struct accel_tensor *view, uint32_t axis, int64_t extent,
		     const struct column *column)
{
	view->shape[axis] = extent;
	for (uint32_t b = 0; b < ACCEL_MAX_DIMS; b++)
		view->steps[b][axis] = column->steps[b];
}

/*
 * column * factor. What does not fit is the step of an axis that is never stepped along, as of one
 * value: it becomes 0.
 */
static struct column scale(const struct column *column, int64_t factor)
{
	struct column scaled;

	for (uint32_t b = 0; b < ACCEL_MAX_DIMS; b++) {
		if (__builtin_mul_overflow(column->steps[b], factor, &scaled.steps[b]))
			scaled.steps[b] = 0;
	}
	return scaled;
}

/* Likewise. */
static struct column add(const struct column *a, const struct column *b)
{
	struct column sum;

	for (uint32_t d = 0; d < ACCEL_MAX_DIMS; d++) {
		if (__builtin_add_overflow(a->steps[d], b->steps[d], &sum.steps[d]))
			sum.steps[d] = 0;
	}
	return sum;
}

static const struct column no_step;

/* Moves the element at index 0 along an axis, to an index that the axis has. */
static void move_origin(struct accel_tensor *view, const struct column *column, int64_t index)
{
	for (uint32_t b = 0; b < ACCEL_MAX_DIMS; b++)
		view->origin[b] += column->steps[b] * index;
}

static void remove_axis(struct accel_tensor *view, uint32_t axis)
{
	for (uint32_t a = axis; a + 1 < view->rank; a++) {
		struct column column = get_column(view, a + 1);

		set_axis(view, a, view->shape[a + 1], &column);
	}
	view->rank--;
	set_axis(view, view->rank, 0, &no_step);
}

/* There is room for it. */
static void insert_axis(struct accel_tensor *view, uint32_t axis, int64_t extent,
			const struct column *column)
{
	for (uint32_t a = view->rank; a > axis; a--) {
		struct column before = get_column(view, a - 1);

		set_axis(view, a, view->shape[a - 1], &before);
	}
	view->rank++;
	set_axis(view, axis, extent, column);
}

/* Hands the view out, or drops it. */
static int finish(struct accel_tensor *view, struct accel_tensor **result,
		  struct accel_error *error)
{
	int ret = tensor_settle(view, error);

	if (ret) {
		accel_tensor_unref(view);
		return ret;
	}
	*result = view;
	return 0;
}

static int check_axis(const struct accel_tensor *tensor, const char *what, uint32_t axis,
		      struct accel_error *error)
{
	if (axis < tensor->rank)
		return 0;
	return accel_error_set(error, -EINVAL, "%s: axis %u, the tensor has %u", what, axis,
			       tensor->rank);
}

static int check_rank(const char *what, uint32_t rank, struct accel_error *error)
{
	if (rank <= ACCEL_MAX_DIMS)
		return 0;
	return accel_error_set(error, -EINVAL, "%s: %u axes, expected at most %u", what, rank,
			       ACCEL_MAX_DIMS);
}

/* The order of axes ------------------------------------------------------------------------- */

ACCEL_API int accel_tensor_permute(const struct accel_tensor *tensor, const uint32_t *axes,
				   struct accel_tensor **result, struct accel_error *error)
{
	struct accel_tensor *view;
	uint32_t seen = 0;

	*result = NULL;
	for (uint32_t a = 0; a < tensor->rank; a++) {
		int ret = check_axis(tensor, "permute", axes[a], error);

		if (ret)
			return ret;
		if (seen & 1u << axes[a])
			return accel_error_set(error, -EINVAL, "permute: axis %u is there twice",
					       axes[a]);
		seen |= 1u << axes[a];
	}
	view = tensor_copy(tensor, error);
	if (!view)
		return -ENOMEM;
	for (uint32_t a = 0; a < tensor->rank; a++) {
		struct column column = get_column(tensor, axes[a]);

		set_axis(view, a, tensor->shape[axes[a]], &column);
	}
	return finish(view, result, error);
}

ACCEL_API int accel_tensor_transpose(const struct accel_tensor *tensor, uint32_t a, uint32_t b,
				     struct accel_tensor **result, struct accel_error *error)
{
	uint32_t axes[ACCEL_MAX_DIMS];
	int ret;

	*result = NULL;
	ret = check_axis(tensor, "transpose", a, error);
	if (!ret)
		ret = check_axis(tensor, "transpose", b, error);
	if (ret)
		return ret;
	for (uint32_t k = 0; k < tensor->rank; k++)
		axes[k] = k == a ? b : k == b ? a : k;
	return accel_tensor_permute(tensor, axes, result, error);
}

/* Parts ------------------------------------------------------------------------------------- */

/* Narrows an axis to start, start + step, .. */
static void slice_axis(struct accel_tensor *view, uint32_t axis, const struct slice_item *item)
{
	struct column column = get_column(view, axis);
	struct column scaled = scale(&column, item->step);

	/* an empty tensor is nowhere: where it is moved to need not fit */
	if (view->num_elements && item->count)
		move_origin(view, &column, item->start);
	set_axis(view, axis, item->count, &scaled);
}

ACCEL_API int accel_tensor_slice(const struct accel_tensor *tensor, uint32_t axis, int64_t start,
				 int64_t stop, int64_t step, struct accel_tensor **result,
				 struct accel_error *error)
{
	struct accel_tensor *view;
	struct slice_item item;
	int ret;

	*result = NULL;
	ret = check_axis(tensor, "slice", axis, error);
	if (!ret)
		ret = slice_resolve(tensor->shape[axis], start, stop, step, &item, error);
	if (ret)
		return ret;
	view = tensor_copy(tensor, error);
	if (!view)
		return -ENOMEM;
	slice_axis(view, axis, &item);
	return finish(view, result, error);
}

ACCEL_API int accel_tensor_slice_text(const struct accel_tensor *tensor, const char *text,
				      struct accel_tensor **result, struct accel_error *error)
{
	struct slice_item items[SLICE_MAX_ITEMS];
	struct accel_tensor *view;
	uint32_t num_items, axis = 0, rank = 0;
	int ret;

	*result = NULL;
	ret = slice_parse(text, tensor->rank, tensor->shape, &num_items, items, error);
	if (ret)
		return ret;
	for (uint32_t k = 0; k < num_items; k++)
		rank += items[k].kind != SLICE_INDEX;
	ret = check_rank("slice", rank, error);
	if (ret)
		return ret;
	view = tensor_copy(tensor, error);
	if (!view)
		return -ENOMEM;
	/* axes go before others come, so that there is room */
	for (uint32_t k = 0; k < num_items; k++) {
		if (items[k].kind == SLICE_NEW)
			continue;
		slice_axis(view, axis, &items[k]);
		if (items[k].kind == SLICE_INDEX)
			remove_axis(view, axis);
		else
			axis++;
	}
	axis = 0;
	for (uint32_t k = 0; k < num_items; k++) {
		if (items[k].kind == SLICE_NEW)
			insert_axis(view, axis, 1, &no_step);
		axis += items[k].kind != SLICE_INDEX;
	}
	return finish(view, result, error);
}

ACCEL_API int accel_tensor_select(const struct accel_tensor *tensor, uint32_t axis, int64_t index,
				  struct accel_tensor **result, struct accel_error *error)
{
	struct accel_tensor *view;
	int64_t extent;
	int ret;

	*result = NULL;
	ret = check_axis(tensor, "select", axis, error);
	if (ret)
		return ret;
	extent = tensor->shape[axis];
	if (index >= extent || index < -extent)
		return accel_error_set(error, -ERANGE,
				       "select: index %" PRId64 " on axis %u, expected -%" PRId64
				       " or more and less than %" PRId64, index, axis, extent,
				       extent);
	view = tensor_copy(tensor, error);
	if (!view)
		return -ENOMEM;
	slice_axis(view, axis, &(struct slice_item){
		.start = index < 0 ? index + extent : index,
		.step = 1,
		.count = 1,
	});
	remove_axis(view, axis);
	return finish(view, result, error);
}

ACCEL_API int accel_tensor_flip(const struct accel_tensor *tensor, uint32_t axis,
				struct accel_tensor **result, struct accel_error *error)
{
	int ret = check_axis(tensor, "flip", axis, error);

	*result = NULL;
	if (ret)
		return ret;
	return accel_tensor_slice(tensor, axis, ACCEL_SLICE_END, ACCEL_SLICE_END, -1, result,
				  error);
}

/* Axes of one value ------------------------------------------------------------------------- */

ACCEL_API int accel_tensor_squeeze(const struct accel_tensor *tensor, uint32_t axis,
				   struct accel_tensor **result, struct accel_error *error)
{
	struct accel_tensor *view;
	int ret;

	*result = NULL;
	ret = check_axis(tensor, "squeeze", axis, error);
	if (ret)
		return ret;
	if (tensor->shape[axis] != 1)
		return accel_error_set(error, -EINVAL,
				       "squeeze: axis %u has %" PRId64 " elements, expected 1",
				       axis, tensor->shape[axis]);
	view = tensor_copy(tensor, error);
	if (!view)
		return -ENOMEM;
	remove_axis(view, axis);
	return finish(view, result, error);
}

ACCEL_API int accel_tensor_unsqueeze(const struct accel_tensor *tensor, uint32_t axis,
				     struct accel_tensor **result, struct accel_error *error)
{
	struct accel_tensor *view;
	int ret;

	*result = NULL;
	ret = check_rank("unsqueeze", tensor->rank + 1, error);
	if (ret)
		return ret;
	if (axis > tensor->rank)
		return accel_error_set(error, -EINVAL,
				       "unsqueeze: axis %u, expected 0 to %u", axis, tensor->rank);
	view = tensor_copy(tensor, error);
	if (!view)
		return -ENOMEM;
	insert_axis(view, axis, 1, &no_step);
	return finish(view, result, error);
}

ACCEL_API int accel_tensor_expand(const struct accel_tensor *tensor, uint32_t rank,
				  const int64_t *shape, struct accel_tensor **result,
				  struct accel_error *error)
{
	struct accel_tensor *view;
	uint32_t num_new;
	int ret;

	*result = NULL;
	ret = check_rank("expand", rank, error);
	if (ret)
		return ret;
	if (rank < tensor->rank)
		return accel_error_set(error, -EINVAL,
				       "expand: to %u axes, expected at least the tensor's %u",
				       rank, tensor->rank);
	num_new = rank - tensor->rank;
	for (uint32_t a = 0; a < tensor->rank; a++) {
		if (tensor->shape[a] != 1 && tensor->shape[a] != shape[num_new + a])
			return accel_error_set(error, -EINVAL,
				"expand: axis %u has %" PRId64 " elements, expected %" PRId64
				" or 1", a, tensor->shape[a], shape[num_new + a]);
	}
	view = tensor_copy(tensor, error);
	if (!view)
		return -ENOMEM;
	for (uint32_t a = 0; a < num_new; a++)
		insert_axis(view, 0, 1, &no_step);
	for (uint32_t a = 0; a < rank; a++) {
		if (view->shape[a] != shape[a])
			set_axis(view, a, shape[a], &no_step);
	}
	return finish(view, result, error);
}

/* Other shapes ------------------------------------------------------------------------------ */

/* The shape with its -1 replaced. The product of the rest is at most the number of elements. */
static int find_shape(const struct accel_tensor *tensor, uint32_t rank, const int64_t *given,
		      int64_t *shape, struct accel_error *error)
{
	uint32_t unknown = ACCEL_MAX_DIMS;
	int64_t product = 1;

	for (uint32_t a = 0; a < rank; a++) {
		shape[a] = given[a];
		if (shape[a] == -1 && unknown == ACCEL_MAX_DIMS)
			unknown = a;
		else if (shape[a] < 0)
			return accel_error_set(error, -EINVAL,
				"reshape: extent %u is %" PRId64 ", expected 0 or more, or one -1",
				a, shape[a]);
		else if (__builtin_mul_overflow(product, shape[a], &product))
			product = INT64_MAX;
	}
	/* one factor of 0 makes a product of 0, whatever did not fit before it */
	for (uint32_t a = 0; a < rank; a++)
		product = shape[a] ? product : 0;
	if (unknown < ACCEL_MAX_DIMS) {
		if (!product || tensor->num_elements % product)
			return accel_error_set(error, -EINVAL,
				"reshape: %" PRId64 " elements, extent %u is left out and the "
				"others' product is %" PRId64, tensor->num_elements, unknown,
				product);
		shape[unknown] = tensor->num_elements / product;
	} else if (product != tensor->num_elements) {
		return accel_error_set(error, -EINVAL,
				       "reshape: to %" PRId64 " elements, the tensor has %" PRId64,
				       product, tensor->num_elements);
	}
	return 0;
}

/* Whether a step along outer is as many steps along inner as inner has values. */
static bool runs_on(const struct accel_tensor *tensor, uint32_t outer, uint32_t inner)
{
	for (uint32_t b = 0; b < tensor_base_rank(tensor); b++) {
		int64_t run;

		if (__builtin_mul_overflow(tensor->steps[b][inner], tensor->shape[inner], &run) ||
		    run != tensor->steps[b][outer])
			return false;
	}
	return true;
}

/* Axes first .. end - 1 of the view become the digits of what was one axis of that column. */
static void split(struct accel_tensor *view, uint32_t first, uint32_t end,
		  const struct column *innermost)
{
	struct column column = *innermost;

	for (uint32_t a = end; a-- > first;) {
		set_axis(view, a, view->shape[a], &column);
		column = scale(&column, view->shape[a]);
	}
}

/*
 * Goes through both shapes from the outermost axis: the fewest axes on either side whose extents
 * have the same product are a group, which can be had where the tensor's axes in it run on. axes
 * has the tensor's axes of more than one value, num_axes of them; neither shape has a 0.
 */
static int regroup(const struct accel_tensor *tensor, uint32_t num_axes, const uint32_t *axes,
		   struct accel_tensor *view, struct accel_error *error)
{
	struct column innermost = no_step;
	uint32_t first = 0, next = 0;

	for (uint32_t k = 0; k < num_axes; k++) {
		int64_t old_count = tensor->shape[axes[k]], new_count = view->shape[next++];

		while (old_count != new_count) {
			if (new_count < old_count) {
				new_count *= view->shape[next++];
				continue;
			}
			if (!runs_on(tensor, axes[k], axes[k + 1]))
				return accel_error_set(error, -ENOTSUP,
					"reshape: axes %u and %u do not run on in memory: they "
					"need a copy", axes[k], axes[k + 1]);
			old_count *= tensor->shape[axes[++k]];
		}
		innermost = get_column(tensor, axes[k]);
		split(view, first, next, &innermost);
		first = next;
	}
	/* extents of 1 that are left */
	split(view, first, view->rank, &innermost);
	return 0;
}

/* Where nothing is stepped along, the strides are those of a dense tensor. */
static void reshape_empty(struct accel_tensor *view)
{
	struct column column = no_step;

	if (view->base->linear != TENSOR_NO_AXIS)
		column.steps[view->base->linear] = 1;
	split(view, 0, view->rank, &column);
}

ACCEL_API int accel_tensor_reshape(const struct accel_tensor *tensor, uint32_t rank,
				   const int64_t *shape, struct accel_tensor **result,
				   struct accel_error *error)
{
	uint32_t axes[ACCEL_MAX_DIMS], num_axes = 0;
	int64_t found[ACCEL_MAX_DIMS];
	struct accel_tensor *view;
	int ret;

	*result = NULL;
	ret = check_rank("reshape", rank, error);
	if (!ret)
		ret = find_shape(tensor, rank, shape, found, error);
	if (ret)
		return ret;
	view = tensor_copy(tensor, error);
	if (!view)
		return -ENOMEM;
	view->rank = rank;
	for (uint32_t a = 0; a < ACCEL_MAX_DIMS; a++)
		set_axis(view, a, a < rank ? found[a] : 0, &no_step);
	for (uint32_t a = 0; a < tensor->rank; a++) {
		if (tensor->shape[a] != 1)
			axes[num_axes++] = a;
	}
	if (tensor->num_elements)
		ret = regroup(tensor, num_axes, axes, view, error);
	else
		reshape_empty(view);
	if (ret) {
		accel_tensor_unref(view);
		return ret;
	}
	return finish(view, result, error);
}

ACCEL_API int accel_tensor_as_strided(const struct accel_tensor *tensor, uint32_t rank,
				      const int64_t *shape, const int64_t *strides,
				      int64_t offset, struct accel_tensor **result,
				      struct accel_error *error)
{
	*result = NULL;
	if (!accel_tensor_strides(tensor))
		return accel_error_set(error, -ENOTSUP,
				       "as_strided: the tensor has no strides, its layout splits "
				       "axes");
	return accel_tensor_from_buffer(accel_tensor_buffer(tensor), tensor->dtype, rank, shape,
					strides, offset, result, error);
}

ACCEL_API int accel_tensor_diagonal(const struct accel_tensor *tensor, int64_t offset, uint32_t a,
				    uint32_t b, struct accel_tensor **result,
				    struct accel_error *error)
{
	struct column column_a, column_b, sum;
	struct accel_tensor *view;
	int64_t extent_a, extent_b, extent;
	int ret;

	*result = NULL;
	ret = check_axis(tensor, "diagonal", a, error);
	if (!ret)
		ret = check_axis(tensor, "diagonal", b, error);
	if (!ret && a == b)
		ret = accel_error_set(error, -EINVAL,
				      "diagonal: of axis %u with itself, expected two axes", a);
	if (ret)
		return ret;
	view = tensor_copy(tensor, error);
	if (!view)
		return -ENOMEM;
	/* what is left of either axis beside the corner that the offset cuts off */
	extent_a = tensor->shape[a];
	extent_b = tensor->shape[b];
	if (offset < 0)
		extent_a = -(uint64_t)offset < (uint64_t)extent_a ? extent_a + offset : 0;
	else
		extent_b = offset < extent_b ? extent_b - offset : 0;
	extent = extent_a < extent_b ? extent_a : extent_b;
	column_a = get_column(tensor, a);
	column_b = get_column(tensor, b);
	sum = add(&column_a, &column_b);
	if (tensor->num_elements && extent)
		move_origin(view, offset < 0 ? &column_a : &column_b,
			    offset < 0 ? -offset : offset);
	remove_axis(view, a > b ? a : b);
	remove_axis(view, a > b ? b : a);
	insert_axis(view, view->rank, extent, &sum);
	return finish(view, result, error);
}

ACCEL_API int accel_tensor_unfold(const struct accel_tensor *tensor, uint32_t axis, int64_t size,
				  int64_t step, struct accel_tensor **result,
				  struct accel_error *error)
{
	struct accel_tensor *view;
	struct column column, scaled;
	int ret;

	*result = NULL;
	ret = check_axis(tensor, "unfold", axis, error);
	if (!ret)
		ret = check_rank("unfold", tensor->rank + 1, error);
	if (ret)
		return ret;
	if (size < 0 || size > tensor->shape[axis])
		return accel_error_set(error, -EINVAL,
				       "unfold: windows of %" PRId64 ", expected 0 to %" PRId64
				       " on axis %u", size, tensor->shape[axis], axis);
	if (step < 1)
		return accel_error_set(error, -EINVAL,
				       "unfold: step %" PRId64 ", expected 1 or more", step);
	view = tensor_copy(tensor, error);
	if (!view)
		return -ENOMEM;
	column = get_column(tensor, axis);
	scaled = scale(&column, step);
	set_axis(view, axis, (tensor->shape[axis] - size) / step + 1, &scaled);
	insert_axis(view, view->rank, size, &column);
	return finish(view, result, error);
}
