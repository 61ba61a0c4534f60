// SPDX-License-Identifier: MIT
/*
 * Tensors: a shape over a buffer, proved to stay inside of it when it is made. Moves no data.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

struct accel_tensor {
	atomic_uint refs;
	enum accel_dtype dtype;
	uint32_t rank;
	int64_t shape[ACCEL_MAX_DIMS];
	int64_t strides[ACCEL_MAX_DIMS];	/* in elements */
	int64_t offset;				/* in elements */
	int64_t num_elements;
	struct accel_buffer *buffer;
	struct accel_layout *layout;		/* or NULL */
};

static int count_elements(const struct accel_tensor *tensor, int64_t *num_elements,
			  struct accel_error *error)
{
	*num_elements = 1;
	for (uint32_t i = 0; i < tensor->rank; i++) {
		if (tensor->shape[i] < 0)
			return accel_error_set(error, -EINVAL,
				"tensor: extent %u is %" PRId64 ", expected 0 or more",
				i, tensor->shape[i]);
	}
	for (uint32_t i = 0; i < tensor->rank; i++) {
		if (!tensor->shape[i]) {
			*num_elements = 0;
			return 0;
		}
	}
	for (uint32_t i = 0; i < tensor->rank; i++) {
		if (__builtin_mul_overflow(*num_elements, tensor->shape[i], num_elements))
			return accel_error_set(error, -EOVERFLOW,
				"tensor: the number of elements does not fit 63 bits");
	}
	return 0;
}

/* The lowest and the highest element, of a tensor that has elements. */
static int find_extremes(const struct accel_tensor *tensor, int64_t *lowest, int64_t *highest,
			 struct accel_error *error)
{
	*lowest = tensor->offset;
	*highest = tensor->offset;
	for (uint32_t i = 0; i < tensor->rank; i++) {
		int64_t *extreme = tensor->strides[i] < 0 ? lowest : highest;
		int64_t reach;

		if (__builtin_mul_overflow(tensor->shape[i] - 1, tensor->strides[i], &reach) ||
		    __builtin_add_overflow(*extreme, reach, extreme))
			return accel_error_set(error, -EOVERFLOW,
				"tensor: extent %" PRId64 " with stride %" PRId64
				" on axis %u does not fit 64 bits",
				tensor->shape[i], tensor->strides[i], i);
	}
	return 0;
}

/* Bytes that the buffer must have for the tensor. */
static int find_size(const struct accel_tensor *tensor, int64_t *size, struct accel_error *error)
{
	int64_t element_size = (int64_t)accel_dtype_size(tensor->dtype);
	int64_t lowest, highest;
	int ret;

	*size = 0;
	if (!tensor->num_elements)
		return 0;
	ret = find_extremes(tensor, &lowest, &highest, error);
	if (ret)
		return ret;
	if (lowest < 0)
		return accel_error_set(error, -ERANGE,
				       "tensor: its lowest element is %" PRId64
				       ", below its buffer, expected 0 or more", lowest);
	if (__builtin_mul_overflow(highest, element_size, size) ||
	    __builtin_add_overflow(*size, element_size, size))
		return accel_error_set(error, -EOVERFLOW,
				       "tensor: element %" PRId64 " of %" PRId64
				       " bytes: the address does not fit 63 bits",
				       highest, element_size);
	return 0;
}

/* A tensor without strides and buffer. */
static int new_tensor(enum accel_dtype dtype, uint32_t rank, const int64_t *shape,
		      struct accel_tensor **result, struct accel_error *error)
{
	struct accel_tensor *tensor;
	int ret;

	*result = NULL;
	if (!accel_dtype_size(dtype))
		return accel_error_set(error, -EINVAL, "tensor: no element type has the number %u",
				       (unsigned int)dtype);
	if (rank > ACCEL_MAX_DIMS)
		return accel_error_set(error, -EINVAL, "tensor: %u axes, expected at most %u",
				       rank, ACCEL_MAX_DIMS);
	tensor = calloc(1, sizeof(*tensor));
	if (!tensor)
		return accel_error_set(error, -ENOMEM, "tensor: out of memory");
	atomic_init(&tensor->refs, 1);
	tensor->dtype = dtype;
	tensor->rank = rank;
	if (rank)
		memcpy(tensor->shape, shape, rank * sizeof(shape[0]));
	ret = count_elements(tensor, &tensor->num_elements, error);
	if (ret) {
		free(tensor);
		return ret;
	}
	*result = tensor;
	return 0;
}

static int set_row_major(struct accel_tensor *tensor, struct accel_error *error)
{
	int64_t stride = 1;

	for (uint32_t i = tensor->rank; i--;) {
		int64_t extent = tensor->shape[i] ? tensor->shape[i] : 1;

		tensor->strides[i] = stride;
		if (__builtin_mul_overflow(stride, extent, &stride))
			return accel_error_set(error, -EOVERFLOW,
				"tensor: the strides of this shape do not fit 63 bits");
	}
	return 0;
}

ACCEL_API int accel_tensor_create(struct accel_device *device, enum accel_dtype dtype,
				  uint32_t rank, const int64_t *shape, struct accel_layout *layout,
				  struct accel_tensor **result, struct accel_error *error)
{
	struct accel_tensor *tensor;
	int64_t size;
	int ret;

	*result = NULL;
	ret = new_tensor(dtype, rank, shape, &tensor, error);
	if (ret)
		return ret;
	if (layout)
		ret = accel_layout_strides(layout, rank, shape, tensor->strides, &tensor->offset,
					   error);
	else
		ret = set_row_major(tensor, error);
	if (ret)
		goto err_free;
	ret = find_size(tensor, &size, error);
	if (ret)
		goto err_free;
	/* an empty tensor has a buffer as well, so that nobody has to ask */
	ret = accel_buffer_create(device, size ? (uint64_t)size : 1, &tensor->buffer, error);
	if (ret)
		goto err_free;
	if (layout)
		tensor->layout = accel_layout_ref(layout);
	*result = tensor;
	return 0;

err_free:
	free(tensor);
	return ret;
}

ACCEL_API int accel_tensor_from_buffer(struct accel_buffer *buffer, enum accel_dtype dtype,
				       uint32_t rank, const int64_t *shape,
				       const int64_t *strides, int64_t offset,
				       struct accel_tensor **result, struct accel_error *error)
{
	struct accel_tensor *tensor;
	int64_t size;
	int ret;

	*result = NULL;
	ret = new_tensor(dtype, rank, shape, &tensor, error);
	if (ret)
		return ret;
	tensor->offset = offset;
	if (strides && rank)
		memcpy(tensor->strides, strides, rank * sizeof(strides[0]));
	else
		ret = set_row_major(tensor, error);
	if (ret)
		goto err_free;
	ret = find_size(tensor, &size, error);
	if (ret)
		goto err_free;
	if ((uint64_t)size > accel_buffer_size(buffer)) {
		ret = accel_error_set(error, -ERANGE,
				      "tensor: it reaches byte %" PRId64 " of a buffer of %" PRIu64
				      " bytes", size - 1, accel_buffer_size(buffer));
		goto err_free;
	}
	tensor->buffer = accel_buffer_ref(buffer);
	*result = tensor;
	return 0;

err_free:
	free(tensor);
	return ret;
}

ACCEL_API struct accel_tensor *accel_tensor_ref(struct accel_tensor *tensor)
{
	atomic_fetch_add_explicit(&tensor->refs, 1, memory_order_relaxed);
	return tensor;
}

ACCEL_API void accel_tensor_unref(struct accel_tensor *tensor)
{
	/* acq_rel: whoever frees sees what all others did to the object before they let go */
	if (!tensor || atomic_fetch_sub_explicit(&tensor->refs, 1, memory_order_acq_rel) != 1)
		return;
	accel_layout_unref(tensor->layout);
	accel_buffer_unref(tensor->buffer);
	free(tensor);
}

ACCEL_API struct accel_buffer *accel_tensor_buffer(const struct accel_tensor *tensor)
{
	return tensor->buffer;
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
	return tensor->strides;
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
	int64_t sum = tensor->offset;

	for (uint32_t i = 0; i < tensor->rank; i++) {
		if (index[i] < 0 || index[i] >= tensor->shape[i])
			return accel_error_set(error, -ERANGE,
				"tensor: index %" PRId64 " on axis %u, expected 0 or more and less "
				"than %" PRId64, index[i], i, tensor->shape[i]);
	}
	/*
	 * Cannot overflow: every partial sum lies between the offset and an extreme of the
	 * tensor, which find_extremes() has found to fit, and an axis with an index above 0 has
	 * been multiplied by more.
	 */
	for (uint32_t i = 0; i < tensor->rank; i++)
		sum += index[i] * tensor->strides[i];
	*element = sum;
	return 0;
}
