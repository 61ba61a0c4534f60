// SPDX-License-Identifier: MIT
/*
 * What tensors say of themselves: parts, places of elements, bounds, and whether two are laid out
 * alike. Changes nothing.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "error.h"
#include "tensor/tensor.h"

ACCEL_API struct accel_buffer *accel_tensor_buffer(const struct accel_tensor *tensor)
{
	return tensor->base->buffer;
}

ACCEL_API struct accel_layout *accel_tensor_layout(const struct accel_tensor *tensor)
{
	return tensor->layout;
}

ACCEL_API enum accel_dtype accel_tensor_dtype(const struct accel_tensor *tensor)
{
	return tensor->dtype;
}

ACCEL_API uint32_t accel_tensor_rank(const struct accel_tensor *tensor)
{
	return tensor->rank;
}

ACCEL_API const int64_t *accel_tensor_shape(const struct accel_tensor *tensor)
{
	return tensor->shape;
}

ACCEL_API const int64_t *accel_tensor_strides(const struct accel_tensor *tensor)
{
	static const int64_t zeros[ACCEL_MAX_DIMS];
	uint32_t linear = tensor->base->linear;

	for (uint32_t b = 0; b < tensor_base_rank(tensor); b++) {
		for (uint32_t a = 0; a < tensor->rank && b != linear; a++) {
			if (tensor->steps[b][a] && tensor->shape[a] != 1 && tensor->num_elements)
				return NULL;
		}
	}
	return linear == TENSOR_NO_AXIS ? zeros : tensor->steps[linear];
}

ACCEL_API int64_t accel_tensor_offset(const struct accel_tensor *tensor)
{
	return tensor->offset;
}

ACCEL_API int64_t accel_tensor_num_elements(const struct accel_tensor *tensor)
{
	return tensor->num_elements;
}

ACCEL_API int accel_tensor_element(const struct accel_tensor *tensor, const int64_t *index,
				   int64_t *element, struct accel_error *error)
{
	int64_t place[ACCEL_MAX_DIMS];

	for (uint32_t i = 0; i < tensor->rank; i++) {
		if (index[i] < 0 || index[i] >= tensor->shape[i])
			return accel_error_set(error, -ERANGE,
				"tensor: index %" PRId64 " on axis %u, expected 0 or more and less "
				"than %" PRId64, index[i], i, tensor->shape[i]);
	}
	/*
	 * Cannot overflow: every partial sum lies between the extremes of the tensor on that axis
	 * of the base, which have been found to fit, and an axis with an index above 0 has been
	 * multiplied by more.
	 */
	for (uint32_t b = 0; b < tensor_base_rank(tensor); b++) {
		place[b] = tensor->origin[b];
		for (uint32_t i = 0; i < tensor->rank; i++)
			place[b] += index[i] * tensor->steps[b][i];
	}
	return placement_element(&tensor->base->placement, place, element, error);
}

ACCEL_API bool accel_tensor_is_contiguous(const struct accel_tensor *tensor)
{
	const int64_t *strides = accel_tensor_strides(tensor);
	int64_t stride = 1;

	if (!tensor->num_elements)
		return true;
	for (uint32_t i = tensor->rank; strides && i--;) {
		if (tensor->shape[i] != 1 && strides[i] != stride)
			return false;
		stride *= tensor->shape[i];
	}
	return strides != NULL;
}

/* Bounds ------------------------------------------------------------------------------------ */

struct range {
	int64_t lowest;
	int64_t highest;
};

/* The values that an axis of the base takes. They fit: each is in the base's shape. */
static struct range base_range(const struct accel_tensor *tensor, uint32_t b)
{
	struct range range = { tensor->origin[b], tensor->origin[b] };

	for (uint32_t a = 0; a < tensor->rank; a++) {
		int64_t reach = (tensor->shape[a] - 1) * tensor->steps[b][a];

		if (reach < 0)
			range.lowest += reach;
		else
			range.highest += reach;
	}
	return range;
}

/* No value of the digit's coordinate is outside; a digit that wraps has the whole range. */
static struct range digit_bounds(const struct accel_tensor *tensor, const struct digit *digit)
{
	const struct placement *placement = &tensor->base->placement;
	struct range whole = { 0, digit_range(placement, digit) - 1 }, range = { 0, 0 };

	if (digit->expression)
		return whole;
	for (uint32_t k = 0; k < digit->num_dims; k++) {
		struct range axis = base_range(tensor, digit->dims[k]);

		range.lowest = range.lowest * placement->shape[digit->dims[k]] + axis.lowest;
		range.highest = range.highest * placement->shape[digit->dims[k]] + axis.highest;
	}
	range.lowest /= digit->divisor;
	range.highest /= digit->divisor;
	if (!digit->modulus)
		return range;
	if (range.lowest / digit->modulus != range.highest / digit->modulus)
		return whole;
	range.lowest %= digit->modulus;
	range.highest %= digit->modulus;
	return range;
}

/* Of a tensor with strides and elements: nothing overflows, as all are in the buffer. */
static struct range strided_bounds(const struct accel_tensor *tensor, const int64_t *strides)
{
	struct range range = { tensor->offset, tensor->offset };

	for (uint32_t a = 0; a < tensor->rank; a++) {
		int64_t reach = (tensor->shape[a] - 1) * strides[a];

		if (reach < 0)
			range.lowest += reach;
		else
			range.highest += reach;
	}
	return range;
}

static struct range split_bounds(const struct accel_tensor *tensor)
{
	const struct placement *placement = &tensor->base->placement;
	struct range range = { placement->offset, placement->offset };

	for (uint32_t k = 0; k < placement->num_digits; k++) {
		const struct digit *digit = &placement->digits[k];
		struct range values = digit_bounds(tensor, digit);
		bool is_down = digit->stride < 0;

		range.lowest += digit->stride * (is_down ? values.highest : values.lowest);
		range.highest += digit->stride * (is_down ? values.lowest : values.highest);
	}
	return range;
}

ACCEL_API void accel_tensor_bounds(const struct accel_tensor *tensor, int64_t *lowest_byte,
				   int64_t *end_byte)
{
	const int64_t *strides = accel_tensor_strides(tensor);
	int64_t size = (int64_t)accel_dtype_size(tensor->dtype);
	struct range range;

	*lowest_byte = 0;
	*end_byte = 0;
	if (!tensor->num_elements)
		return;
	range = strides ? strided_bounds(tensor, strides) : split_bounds(tensor);
	*lowest_byte = range.lowest * size;
	*end_byte = (range.highest + 1) * size;
}

/* Comparing --------------------------------------------------------------------------------- */

static bool same_digit(const struct digit *a, const struct digit *b)
{
	if (a->stride != b->stride || !a->expression != !b->expression)
		return false;
	if (a->expression)
		return !expression_compare(a->expression, b->expression);
	return a->num_dims == b->num_dims && !memcmp(a->dims, b->dims, a->num_dims) &&
	       a->divisor == b->divisor && a->modulus == b->modulus;
}

/* Whether both have the same axes in the same digits, wherever their memory begins. */
static bool same_base(const struct tensor_base *a, const struct tensor_base *b)
{
	if (a->placement.rank != b->placement.rank || a->linear != b->linear ||
	    a->placement.num_digits != b->placement.num_digits)
		return false;
	for (uint32_t d = 0; d < a->placement.rank; d++) {
		if (d != a->linear && (a->placement.shape[d] != b->placement.shape[d] ||
				       a->placement.axes[d] != b->placement.axes[d]))
			return false;
	}
	for (uint32_t k = 0; k < a->placement.num_digits; k++) {
		if (!same_digit(&a->placement.digits[k], &b->placement.digits[k]))
			return false;
	}
	return true;
}

static bool same_steps(const struct accel_tensor *tensor, const int64_t *a, const int64_t *b)
{
	for (uint32_t i = 0; i < tensor->rank; i++) {
		if (tensor->shape[i] != 1 && a[i] != b[i])
			return false;
	}
	return true;
}

bool tensor_is_laid_out_as(const struct accel_tensor *a, const struct accel_tensor *b)
{
	const int64_t *strides_a = accel_tensor_strides(a), *strides_b = accel_tensor_strides(b);

	if (a->rank != b->rank || accel_dtype_size(a->dtype) != accel_dtype_size(b->dtype) ||
	    memcmp(a->shape, b->shape, a->rank * sizeof(a->shape[0])))
		return false;
	if (!a->num_elements)
		return true;
	if (strides_a && strides_b)
		return same_steps(a, strides_a, strides_b);
	if (!same_base(a->base, b->base))
		return false;
	for (uint32_t d = 0; d < tensor_base_rank(a); d++) {
		if ((d != a->base->linear && a->origin[d] != b->origin[d]) ||
		    !same_steps(a, a->steps[d], b->steps[d]))
			return false;
	}
	return true;
}
