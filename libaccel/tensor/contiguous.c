// SPDX-License-Identifier: MIT
/*
 * Row-major copies of tensors that are not: a copy between two tensors is lower/'s.
 */
#include "tensor/tensor.h"

ACCEL_API int accel_tensor_contiguous(struct accel_tensor *tensor, struct accel_tensor **result,
				      struct accel_error *error)
{
	int ret;

	if (accel_tensor_is_contiguous(tensor)) {
		*result = accel_tensor_ref(tensor);
		return 0;
	}
	ret = accel_tensor_create(accel_buffer_device(tensor->base->buffer), tensor->dtype,
				  tensor->rank, tensor->shape, NULL, result, error);
	if (ret)
		return ret;
	ret = accel_copy(*result, tensor, error);
	if (ret) {
		accel_tensor_unref(*result);
		*result = NULL;
	}
	return ret;
}
