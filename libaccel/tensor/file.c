// SPDX-License-Identifier: MIT
/*
 * Tensors from and to .npy files. The format is npy.c's, how a file is replaced replacement.c's.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "tensor/npy.h"
#include "tensor/replacement.h"
#include "tensor/tensor.h"

/* Strides of a file in Fortran's order: row-major ones of the axes backwards. */
static int column_major(uint32_t rank, const int64_t *shape, int64_t *strides,
			struct accel_error *error)
{
	int64_t backwards[ACCEL_MAX_DIMS], backwards_strides[ACCEL_MAX_DIMS];
	int ret;

	for (uint32_t i = 0; i < rank; i++)
		backwards[i] = shape[rank - 1 - i];
	ret = tensor_row_major(rank, backwards, backwards_strides, error);
	for (uint32_t i = 0; i < rank && !ret; i++)
		strides[i] = backwards_strides[rank - 1 - i];
	return ret;
}

static int read_data(int fd, const char *path, const struct npy_header *header,
		     struct accel_buffer *buffer, struct accel_error *error)
{
	void *data;
	int ret = accel_buffer_map(buffer, &data, error);

	return ret ? ret : npy_read(fd, path, header, data, error);
}

ACCEL_API int accel_tensor_load(struct accel_device *device, const char *path,
				struct accel_tensor **tensor, struct accel_error *error)
{
	int64_t strides[ACCEL_MAX_DIMS];
	struct accel_buffer *buffer;
	struct npy_header header;
	int fd, ret;

	*tensor = NULL;
	ret = npy_open(path, &header, &fd, error);
	if (ret)
		return ret;
	ret = accel_buffer_create(device, header.data_size ? header.data_size : 1, &buffer, error);
	if (ret)
		goto out_close;
	ret = read_data(fd, path, &header, buffer, error);
	if (!ret && header.is_fortran)
		ret = column_major(header.rank, header.shape, strides, error);
	if (!ret)
		ret = accel_tensor_from_buffer(buffer, header.dtype, header.rank, header.shape,
					       header.is_fortran ? strides : NULL, 0, tensor,
					       error);
	accel_buffer_unref(buffer);
out_close:
	close(fd);
	return ret;
}

/* The elements of a contiguous tensor, once jobs that write them are done. */
static int get_data(const struct accel_tensor *tensor, const char **data,
		    struct accel_error *error)
{
	void *address;
	int ret = accel_buffer_map(tensor->base->buffer, &address, error);

	if (!ret)
		ret = accel_buffer_wait(tensor->base->buffer, ACCEL_ACCESS_READ, -1, error);
	if (ret)
		return ret;
	*data = address;
	if (tensor->num_elements)
		*data += tensor->offset * (int64_t)accel_dtype_size(tensor->dtype);
	return 0;
}

static int write_file(const struct accel_tensor *tensor, const char *data, const char *path,
		      struct accel_error *error)
{
	size_t size = (size_t)tensor->num_elements * accel_dtype_size(tensor->dtype);
	struct replacement *replacement;
	char header[NPY_MAX_FORMATTED];
	size_t header_size = npy_format(npy_descr(tensor->dtype), tensor->rank, tensor->shape,
					header);
	int ret;

	ret = replacement_create(path, &replacement, error);
	if (ret)
		return ret;
	ret = replacement_write(replacement, header, header_size, error);
	if (!ret)
		ret = replacement_write(replacement, data, size, error);
	if (!ret)
		return replacement_commit(replacement, error);
	replacement_discard(replacement);
	return ret;
}

ACCEL_API int accel_tensor_save(struct accel_tensor *tensor, const char *path,
				struct accel_error *error)
{
	struct accel_tensor *dense;
	const char *data;
	int ret;

	ret = accel_tensor_contiguous(tensor, &dense, error);
	if (ret)
		return ret;
	ret = get_data(dense, &data, error);
	if (!ret)
		ret = write_file(dense, data, path, error);
	accel_tensor_unref(dense);
	return ret;
}
