// SPDX-License-Identifier: MIT
/*
 * Bases: what the views of a tensor share. Which axes a base has is tensor.c's to say.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "tensor/tensor.h"

struct tensor_base *tensor_base_new(struct accel_buffer *buffer, enum accel_dtype dtype,
				    struct accel_error *error)
{
	struct tensor_base *base = calloc(1, sizeof(*base));

	if (!base) {
		accel_error_set(error, -ENOMEM, "tensor: out of memory");
		return NULL;
	}
	atomic_init(&base->refs, 1);
	base->buffer = buffer ? accel_buffer_ref(buffer) : NULL;
	base->linear = TENSOR_NO_AXIS;
	base->placement.dtype = dtype;
	base->placement.element_size = (int64_t)accel_dtype_size(dtype);
	return base;
}

struct tensor_base *tensor_base_copy(const struct tensor_base *base, struct accel_buffer *buffer,
				     struct accel_error *error)
{
	struct tensor_base *copy = tensor_base_new(buffer, base->placement.dtype, error);

	if (!copy)
		return NULL;
	copy->linear = base->linear;
	copy->placement = base->placement;
	for (uint32_t k = 0; k < copy->placement.num_digits; k++) {
		if (copy->placement.digits[k].expression)
			expression_ref(copy->placement.digits[k].expression);
	}
	return copy;
}

struct tensor_base *tensor_base_ref(struct tensor_base *base)
{
	atomic_fetch_add_explicit(&base->refs, 1, memory_order_relaxed);
	return base;
}

void tensor_base_unref(struct tensor_base *base)
{
	/* acq_rel: whoever frees sees what all others did to the object before they let go */
	if (!base || atomic_fetch_sub_explicit(&base->refs, 1, memory_order_acq_rel) != 1)
		return;
	placement_release(&base->placement);
	accel_buffer_unref(base->buffer);
	free(base);
}

void tensor_base_add_axis(struct tensor_base *base, int64_t extent, char letter)
{
	struct placement *placement = &base->placement;

	placement->axes[placement->rank] = letter;
	placement->shape[placement->rank++] = extent;
}

/* The first letter that the axes do not have: there are 26, and at most 16 axes. */
static char unused_letter(const char *axes)
{
	char letter = 'A';

	while (strchr(axes, letter))
		letter++;
	return letter;
}

void tensor_base_add_linear(struct tensor_base *base, int64_t num_elements)
{
	struct placement *placement = &base->placement;

	base->linear = placement->rank;
	placement->digits[placement->num_digits++] = (struct digit){
		.num_dims = 1,
		.dims = { (uint8_t)base->linear },
		.divisor = 1,
		.extent = num_elements,
		.stride = 1,
	};
	tensor_base_add_axis(base, num_elements, unused_letter(placement->axes));
}
