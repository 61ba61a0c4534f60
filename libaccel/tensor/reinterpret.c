// SPDX-License-Identifier: MIT
/*
 * Views of another element type. One of the same size is a matter of its name; with a wider or
 * narrower one the base counts in other units, and the innermost digit of the last axis takes what
 * that leaves.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "error.h"
#include "tensor/tensor.h"

/* Old units to new ones: value * numerator / denominator. One of both is 1. */
struct ratio {
	int64_t numerator;
	int64_t denominator;
};

/* False if the value is no whole number of new units, or does not fit. */
static bool rescale(int64_t *value, const struct ratio *ratio)
{
	return !(*value % ratio->denominator) &&
	       !__builtin_mul_overflow(*value / ratio->denominator, ratio->numerator, value);
}

/* The base's axis that the last axis goes along, a value a step; or TENSOR_NO_AXIS. */
static uint32_t find_base_axis(const struct accel_tensor *tensor)
{
	uint32_t last = tensor->rank - 1, found = TENSOR_NO_AXIS;

	/* one element: its parts are side by side wherever it is */
	if (tensor->shape[last] == 1)
		return tensor->base->linear;
	for (uint32_t b = 0; b < tensor_base_rank(tensor); b++) {
		if (!tensor->steps[b][last])
			continue;
		if (tensor->steps[b][last] != 1 || found != TENSOR_NO_AXIS)
			return TENSOR_NO_AXIS;
		found = b;
	}
	return found;
}

static bool rescale_digit(const struct placement *placement, struct digit *digit, uint32_t axis,
			  const struct ratio *ratio, uint32_t *num_innermost)
{
	char name[4];

	placement_variable(placement, axis, name);
	if (digit->expression)
		return !expression_mentions(digit->expression, name) &&
		       rescale(&digit->stride, ratio);
	if (!memchr(digit->dims, (int)axis, digit->num_dims))
		return rescale(&digit->stride, ratio);
	if (digit->num_dims != 1)
		return false;
	if (digit->divisor != 1)
		return rescale(&digit->divisor, ratio) && rescale(&digit->stride, ratio);
	++*num_innermost;
	return digit->stride == 1 && rescale(&digit->modulus, ratio);
}

/* In place. axis is the one along which elements are put together or taken apart. */
static bool rescale_base(struct tensor_base *base, uint32_t axis, const struct ratio *ratio)
{
	struct placement *placement = &base->placement;
	uint32_t num_innermost = 0;

	for (uint32_t k = 0; k < placement->num_digits; k++) {
		struct digit *digit = &placement->digits[k];

		/* the linear axis stays that of single elements: its steps are rescaled instead */
		if (digit->num_dims == 1 && digit->dims[0] == base->linear) {
			num_innermost += base->linear == axis;
			continue;
		}
		if (!rescale_digit(placement, digit, axis, ratio, &num_innermost))
			return false;
	}
	/* what is left at the end is less than an element, and no index goes there */
	placement->num_elements = placement->num_elements / ratio->denominator * ratio->numerator;
	if (base->linear != TENSOR_NO_AXIS)
		placement->shape[base->linear] = placement->num_elements;
	if (axis != base->linear &&
	    __builtin_mul_overflow(placement->shape[axis] / ratio->denominator, ratio->numerator,
				   &placement->shape[axis]))
		return false;
	return num_innermost == 1 && rescale(&placement->offset, ratio);
}

/* The rows of the map that count in elements: that of the linear axis and that of axis. */
static bool rescale_map(struct accel_tensor *view, uint32_t axis, const struct ratio *ratio)
{
	uint32_t last = view->rank - 1;

	for (uint32_t b = 0; b < tensor_base_rank(view); b++) {
		view->steps[b][last] = b == axis;
		if (b != axis && b != view->base->linear)
			continue;
		if (!rescale(&view->origin[b], ratio))
			return false;
		for (uint32_t a = 0; a < last; a++) {
			if (rescale(&view->steps[b][a], ratio))
				continue;
			if (view->shape[a] != 1)
				return false;
			view->steps[b][a] = 0;
		}
	}
	return rescale(&view->shape[last], ratio);
}

/* Nothing is side by side in an empty tensor. */
static int reinterpret_empty(const struct accel_tensor *tensor, enum accel_dtype dtype,
			     const struct ratio *ratio, struct accel_tensor **result,
			     struct accel_error *error)
{
	int64_t shape[ACCEL_MAX_DIMS];

	memcpy(shape, tensor->shape, sizeof(shape));
	if (!rescale(&shape[tensor->rank - 1], ratio))
		return accel_error_set(error, -EOVERFLOW,
				       "reinterpret: axis %u of %s: its elements do not fit 63 "
				       "bits", tensor->rank - 1, accel_dtype_name(dtype));
	if (!tensor->base->buffer)
		return tensor_describe(dtype, tensor->rank, shape, NULL, result, error);
	return accel_tensor_from_buffer(tensor->base->buffer, dtype, tensor->rank, shape, NULL, 0,
					result, error);
}

static int check_widening(const struct accel_tensor *tensor, enum accel_dtype dtype,
			  int64_t count, struct accel_error *error)
{
	int64_t extent = tensor->shape[tensor->rank - 1];
	int64_t size = (int64_t)accel_dtype_size(tensor->dtype);

	if (extent % count)
		return accel_error_set(error, -EINVAL,
				       "reinterpret: axis %u has %" PRId64 " elements of %s, "
				       "expected a multiple of %" PRId64 " for %s",
				       tensor->rank - 1, extent, accel_dtype_name(tensor->dtype),
				       count, accel_dtype_name(dtype));
	if (tensor->num_elements && tensor->offset % count)
		return accel_error_set(error, -EINVAL,
				       "reinterpret: the first element is at byte %" PRId64
				       ", expected a multiple of %" PRId64 " for %s",
				       tensor->offset * size, size * count,
				       accel_dtype_name(dtype));
	return 0;
}

static int reinterpret(const struct accel_tensor *tensor, enum accel_dtype dtype,
		       const struct ratio *ratio, struct accel_tensor **result,
		       struct accel_error *error)
{
	uint32_t axis = find_base_axis(tensor);
	struct accel_tensor *view;
	struct tensor_base *base;
	int ret;

	base = tensor_base_copy(tensor->base, tensor->base->buffer, error);
	if (!base)
		return -ENOMEM;
	view = tensor_copy(tensor, error);
	if (!view) {
		tensor_base_unref(base);
		return -ENOMEM;
	}
	tensor_base_unref(view->base);
	view->base = base;
	view->dtype = dtype;
	base->placement.dtype = dtype;
	base->placement.element_size = (int64_t)accel_dtype_size(dtype);
	if (axis == TENSOR_NO_AXIS || !rescale_base(base, axis, ratio) ||
	    !rescale_map(view, axis, ratio))
		ret = accel_error_set(error, -ENOTSUP,
				      "reinterpret: %s as %s: the elements on axis %u are not "
				      "side by side, or the other axes' steps are no multiple of "
				      "%s",
				      accel_dtype_name(tensor->dtype), accel_dtype_name(dtype),
				      tensor->rank - 1, accel_dtype_name(dtype));
	else
		ret = tensor_settle(view, error);
	if (ret)
		accel_tensor_unref(view);
	else
		*result = view;
	return ret;
}

ACCEL_API int accel_tensor_reinterpret(const struct accel_tensor *tensor, enum accel_dtype dtype,
				       struct accel_tensor **result, struct accel_error *error)
{
	int64_t old_size = (int64_t)accel_dtype_size(tensor->dtype);
	int64_t new_size = (int64_t)accel_dtype_size(dtype);
	struct ratio ratio = { 1, 1 };
	int ret;

	*result = NULL;
	if (!new_size)
		return accel_error_set(error, -EINVAL,
				       "reinterpret: no element type has the number %u",
				       (unsigned int)dtype);
	if (old_size == new_size) {
		*result = tensor_copy(tensor, error);
		if (!*result)
			return -ENOMEM;
		(*result)->dtype = dtype;
		return 0;
	}
	if (!tensor->rank)
		return accel_error_set(error, -EINVAL,
				       "reinterpret: a scalar of %s as %s, expected a type of the "
				       "same size", accel_dtype_name(tensor->dtype),
				       accel_dtype_name(dtype));
	if (new_size > old_size) {
		ratio.denominator = new_size / old_size;
		ret = check_widening(tensor, dtype, ratio.denominator, error);
		if (ret)
			return ret;
	} else {
		ratio.numerator = old_size / new_size;
	}
	if (!tensor->num_elements)
		return reinterpret_empty(tensor, dtype, &ratio, result, error);
	return reinterpret(tensor, dtype, &ratio, result, error);
}
