// SPDX-License-Identifier: MIT
/*
 * Tensors from and to other libraries, by DLPack. What another library says of its tensor is
 * checked before it is used; that its memory is there has to be believed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "error.h"
#include "tensor/dlpack.h"
#include "tensor/tensor.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "elements are little endian, those of DLPack are the machine's"
#endif

/*
 * The first row of an element type is what it is exported as. Booleans are bytes; complex numbers
 * are moved as they are; float8 and smaller types have no counterpart.
 */
static const struct dlpack_type {
	uint8_t code;
	uint8_t bits;
	enum accel_dtype dtype;
} types[] = {
	{ DLPACK_INT, 8, ACCEL_DTYPE_I8 },
	{ DLPACK_INT, 16, ACCEL_DTYPE_I16 },
	{ DLPACK_INT, 32, ACCEL_DTYPE_I32 },
	{ DLPACK_INT, 64, ACCEL_DTYPE_I64 },
	{ DLPACK_UINT, 8, ACCEL_DTYPE_U8 },
	{ DLPACK_UINT, 16, ACCEL_DTYPE_U16 },
	{ DLPACK_UINT, 32, ACCEL_DTYPE_U32 },
	{ DLPACK_UINT, 64, ACCEL_DTYPE_U64 },
	{ DLPACK_FLOAT, 16, ACCEL_DTYPE_F16 },
	{ DLPACK_FLOAT, 32, ACCEL_DTYPE_F32 },
	{ DLPACK_FLOAT, 64, ACCEL_DTYPE_F64 },
	{ DLPACK_BFLOAT, 16, ACCEL_DTYPE_BF16 },
	{ DLPACK_BOOL, 8, ACCEL_DTYPE_U8 },
	{ DLPACK_COMPLEX, 64, ACCEL_DTYPE_RAW64 },
	{ DLPACK_COMPLEX, 128, ACCEL_DTYPE_RAW128 },
	{ DLPACK_OPAQUE, 8, ACCEL_DTYPE_RAW8 },
	{ DLPACK_OPAQUE, 16, ACCEL_DTYPE_RAW16 },
	{ DLPACK_OPAQUE, 32, ACCEL_DTYPE_RAW32 },
	{ DLPACK_OPAQUE, 64, ACCEL_DTYPE_RAW64 },
	{ DLPACK_OPAQUE, 128, ACCEL_DTYPE_RAW128 },
};

#define NUM_TYPES (sizeof(types) / sizeof(types[0]))

/* Import ------------------------------------------------------------------------------------ */

static int import_dtype(const struct dlpack_dtype *type, enum accel_dtype *dtype,
			struct accel_error *error)
{
	if (type->lanes != 1)
		return accel_error_set(error, -ENOTSUP, "dlpack: elements of %u lanes, expected 1",
				       type->lanes);
	for (size_t k = 0; k < NUM_TYPES; k++) {
		if (types[k].code == type->code && types[k].bits == type->bits) {
			*dtype = types[k].dtype;
			return 0;
		}
	}
	return accel_error_set(error, -ENOTSUP,
			       "dlpack: elements of type code %u with %u bits, expected int, uint, "
			       "float, opaque, bfloat, complex or bool (0 to 6) of a usual width",
			       type->code, type->bits);
}

/* What an imported tensor's buffer and map are made from. */
struct import {
	enum accel_dtype dtype;
	uint32_t rank;
	bool is_empty;
	int64_t strides[ACCEL_MAX_DIMS];
	int64_t offset;			/* of the element at index 0 in the buffer, in elements */
	char *address;			/* of the buffer: its lowest element */
	uint64_t size;			/* bytes */
};

static int check_form(const struct dlpack_tensor *tensor, struct import *import,
		      struct accel_error *error)
{
	if (tensor->device.type != DLPACK_DEVICE_CPU)
		return accel_error_set(error, -ENOTSUP,
				       "dlpack: memory of device type %d, expected the CPU's (%d)",
				       (int)tensor->device.type, DLPACK_DEVICE_CPU);
	if (tensor->ndim < 0 || tensor->ndim > ACCEL_MAX_DIMS)
		return accel_error_set(error, -EINVAL, "dlpack: %d axes, expected 0 to %d",
				       (int)tensor->ndim, ACCEL_MAX_DIMS);
	if (tensor->ndim && !tensor->shape)
		return accel_error_set(error, -EINVAL, "dlpack: %d axes without a shape",
				       (int)tensor->ndim);
	import->rank = (uint32_t)tensor->ndim;
	for (uint32_t i = 0; i < import->rank; i++) {
		if (tensor->shape[i] < 0)
			return accel_error_set(error, -EINVAL,
				"dlpack: extent %u is %" PRId64 ", expected 0 or more", i,
				tensor->shape[i]);
		import->is_empty |= !tensor->shape[i];
	}
	return import_dtype(&tensor->dtype, &import->dtype, error);
}

/* Bytes from data to the lowest and to the highest element. */
static int find_reach(const struct dlpack_tensor *tensor, const struct import *import,
		      int64_t *lowest, int64_t *highest, struct accel_error *error)
{
	int64_t size = (int64_t)accel_dtype_size(import->dtype);

	*lowest = 0;
	*highest = 0;
	for (uint32_t i = 0; i < import->rank; i++) {
		int64_t *extreme = import->strides[i] < 0 ? lowest : highest;
		int64_t reach;

		if (__builtin_mul_overflow(tensor->shape[i] - 1, import->strides[i], &reach) ||
		    __builtin_mul_overflow(reach, size, &reach) ||
		    __builtin_add_overflow(*extreme, reach, extreme))
			return accel_error_set(error, -EOVERFLOW,
				"dlpack: extent %" PRId64 " with stride %" PRId64
				" on axis %u does not fit 63 bits",
				tensor->shape[i], import->strides[i], i);
	}
	return 0;
}

/* Finds the memory that the elements are in. There are some. */
static int find_memory(const struct dlpack_tensor *tensor, struct import *import,
		       struct accel_error *error)
{
	uint64_t element_size = accel_dtype_size(import->dtype);
	uintptr_t first, address, end;
	int64_t lowest, highest;
	int ret;

	if (!tensor->data)
		return accel_error_set(error, -EINVAL, "dlpack: elements without data");
	ret = find_reach(tensor, import, &lowest, &highest, error);
	if (ret)
		return ret;
	/* data is where the offset counts from: the elements begin behind it */
	if (__builtin_add_overflow((uintptr_t)tensor->data, tensor->byte_offset, &first) ||
	    __builtin_add_overflow(first, lowest, &address) ||
	    __builtin_add_overflow(first, highest, &end) ||
	    __builtin_add_overflow(end, element_size, &end))
		return accel_error_set(error, -EOVERFLOW,
				       "dlpack: offset %" PRIu64 " and elements from byte %" PRId64
				       " to %" PRId64 " of it reach beyond 64 bits",
				       tensor->byte_offset, lowest, highest);
	if (first % element_size)
		return accel_error_set(error, -EINVAL,
				       "dlpack: the first element is at 0x%" PRIxPTR ", expected a "
				       "multiple of %" PRIu64 " for %s", first, element_size,
				       accel_dtype_name(import->dtype));
	import->address = (char *)tensor->data + tensor->byte_offset + lowest;
	import->size = end - address;
	import->offset = -(lowest / (int64_t)element_size);
	return 0;
}

/* What can be wrong with the tensor shows here, before its memory is anybody's. */
static int prepare_import(const struct dlpack_tensor *tensor, struct import *import,
			  struct accel_error *error)
{
	int ret;

	memset(import, 0, sizeof(*import));
	ret = check_form(tensor, import, error);
	if (ret)
		return ret;
	if (tensor->strides && import->rank)
		memcpy(import->strides, tensor->strides,
		       import->rank * sizeof(tensor->strides[0]));
	else
		ret = tensor_row_major(import->rank, tensor->shape, import->strides, error);
	if (ret || import->is_empty)
		return ret;
	return find_memory(tensor, import, error);
}

/* A managed tensor that buffers may release. */
struct lease {
	bool is_taken;			/* false: the import failed, the tensor is the caller's */
	struct DLManagedTensor *legacy;
	struct DLManagedTensorVersioned *versioned;	/* one of both is NULL */
};

static void end_lease(void *context)
{
	struct lease *lease = context;

	if (lease->is_taken && lease->legacy && lease->legacy->deleter)
		lease->legacy->deleter(lease->legacy);
	if (lease->is_taken && lease->versioned && lease->versioned->deleter)
		lease->versioned->deleter(lease->versioned);
	free(lease);
}

/* No memory of the other library's is used: the lease ends at once. */
static int import_empty(struct accel_device *device, const struct dlpack_tensor *tensor,
			const struct import *import, struct lease *lease,
			struct accel_tensor **result, struct accel_error *error)
{
	int ret = accel_tensor_create(device, import->dtype, import->rank, tensor->shape, NULL,
				      result, error);

	lease->is_taken = !ret;
	end_lease(lease);
	return ret;
}

static int import_tensor(struct accel_device *device, const struct dlpack_tensor *tensor,
			 bool is_read_only, struct lease *lease, struct accel_tensor **result,
			 struct accel_error *error)
{
	struct accel_buffer *buffer;
	struct import import;
	int ret;

	ret = prepare_import(tensor, &import, error);
	if (!ret && import.is_empty)
		return import_empty(device, tensor, &import, lease, result, error);
	if (!ret)
		ret = buffer_from_memory(device, import.address, import.size, is_read_only,
					 end_lease, lease, &buffer, error);
	if (ret) {
		free(lease);
		return ret;
	}
	ret = accel_tensor_from_buffer(buffer, import.dtype, import.rank, tensor->shape,
				       import.strides, import.offset, result, error);
	lease->is_taken = !ret;
	accel_buffer_unref(buffer);
	return ret;
}

static struct lease *new_lease(struct DLManagedTensor *legacy,
			       struct DLManagedTensorVersioned *versioned,
			       struct accel_error *error)
{
	struct lease *lease = calloc(1, sizeof(*lease));

	if (!lease) {
		accel_error_set(error, -ENOMEM, "dlpack: out of memory");
		return NULL;
	}
	lease->legacy = legacy;
	lease->versioned = versioned;
	return lease;
}

ACCEL_API int accel_tensor_from_dlpack(struct accel_device *device,
				       struct DLManagedTensor *managed,
				       struct accel_tensor **tensor, struct accel_error *error)
{
	struct lease *lease = new_lease(managed, NULL, error);

	*tensor = NULL;
	if (!lease)
		return -ENOMEM;
	return import_tensor(device, &managed->tensor, false, lease, tensor, error);
}

ACCEL_API int accel_tensor_from_dlpack_versioned(struct accel_device *device,
						 struct DLManagedTensorVersioned *managed,
						 struct accel_tensor **tensor,
						 struct accel_error *error)
{
	struct lease *lease;

	*tensor = NULL;
	if (managed->version.major != DLPACK_MAJOR)
		return accel_error_set(error, -ENOTSUP, "dlpack: version %u.%u, expected %d.x",
				       managed->version.major, managed->version.minor,
				       DLPACK_MAJOR);
	lease = new_lease(NULL, managed, error);
	if (!lease)
		return -ENOMEM;
	return import_tensor(device, &managed->tensor, managed->flags & DLPACK_FLAG_READ_ONLY,
			     lease, tensor, error);
}

/* Export ------------------------------------------------------------------------------------ */

/* What is exported, in one piece with what it points to. */
struct export {
	union {
		struct DLManagedTensor legacy;
		struct DLManagedTensorVersioned versioned;
	} managed;
	struct accel_tensor *source;
	int64_t shape[ACCEL_MAX_DIMS];
	int64_t strides[ACCEL_MAX_DIMS];
};

static void delete_export(struct export *export)
{
	accel_tensor_unref(export->source);
	free(export);
}

static void delete_legacy(struct DLManagedTensor *self)
{
	delete_export(self->manager_ctx);
}

static void delete_versioned(struct DLManagedTensorVersioned *self)
{
	delete_export(self->manager_ctx);
}

/* Raw elements are unsigned integers for those who know no opaque ones. */
static int export_dtype(enum accel_dtype dtype, struct dlpack_dtype *type,
			struct accel_error *error)
{
	static const enum accel_dtype unsigned_types[] = {
		ACCEL_DTYPE_U8, ACCEL_DTYPE_U16, ACCEL_DTYPE_U32, ACCEL_DTYPE_U64,
	};

	if (dtype == ACCEL_DTYPE_RAW128)
		return accel_error_set(error, -ENOTSUP,
				       "dlpack: elements of raw128, for which it has no type; "
				       "reinterpreted they may go");
	if (dtype >= ACCEL_DTYPE_RAW8)
		dtype = unsigned_types[dtype - ACCEL_DTYPE_RAW8];
	for (size_t k = 0; k < NUM_TYPES; k++) {
		if (types[k].dtype == dtype) {
			*type = (struct dlpack_dtype){ types[k].code, types[k].bits, 1 };
			break;
		}
	}
	return 0;
}

/* Maps the tensor's memory and waits until nobody uses it any more. */
static int get_memory(const struct accel_tensor *tensor, char **address,
		      struct accel_error *error)
{
	struct accel_buffer *buffer = tensor->base->buffer;
	void *mapped;
	int ret = accel_buffer_map(buffer, &mapped, error);

	if (ret)
		return ret;
	*address = mapped;
	return accel_buffer_wait(buffer, ACCEL_ACCESS_WRITE, -1, error);
}

static int create_export(struct accel_tensor *tensor, struct dlpack_tensor *out,
			 struct export **result, struct accel_error *error)
{
	const int64_t *strides = accel_tensor_strides(tensor);
	struct export *export;
	char *address;
	int ret;

	memset(out, 0, sizeof(*out));
	if (!strides)
		return accel_error_set(error, -ENOTSUP,
				       "dlpack: the tensor has no strides, its layout splits axes");
	ret = export_dtype(tensor->dtype, &out->dtype, error);
	if (!ret)
		ret = get_memory(tensor, &address, error);
	if (ret)
		return ret;
	export = calloc(1, sizeof(*export));
	if (!export)
		return accel_error_set(error, -ENOMEM, "dlpack: out of memory");
	memcpy(export->shape, tensor->shape, sizeof(export->shape));
	memcpy(export->strides, strides, sizeof(export->strides));
	export->source = accel_tensor_ref(tensor);
	/*
	 * The address of the first element, and no offset: there are libraries that ignore it. An
	 * empty tensor may have been made outside of its buffer.
	 */
	out->data = address;
	if (tensor->num_elements)
		out->data = address + tensor->offset * (int64_t)accel_dtype_size(tensor->dtype);
	out->device.type = DLPACK_DEVICE_CPU;
	out->ndim = (int32_t)tensor->rank;
	out->shape = export->shape;
	out->strides = export->strides;
	*result = export;
	return 0;
}

ACCEL_API int accel_tensor_to_dlpack(struct accel_tensor *tensor, struct DLManagedTensor **managed,
				     struct accel_error *error)
{
	struct dlpack_tensor out;
	struct export *export;
	int ret;

	*managed = NULL;
	if (tensor->base->buffer->is_read_only)
		return accel_error_set(error, -ENOTSUP,
				       "dlpack: the memory is read-only, which only versioned "
				       "tensors can say");
	ret = create_export(tensor, &out, &export, error);
	if (ret)
		return ret;
	export->managed.legacy = (struct DLManagedTensor){
		.tensor = out,
		.manager_ctx = export,
		.deleter = delete_legacy,
	};
	*managed = &export->managed.legacy;
	return 0;
}

ACCEL_API int accel_tensor_to_dlpack_versioned(struct accel_tensor *tensor,
					       struct DLManagedTensorVersioned **managed,
					       struct accel_error *error)
{
	struct dlpack_tensor out;
	struct export *export;
	int ret;

	*managed = NULL;
	ret = create_export(tensor, &out, &export, error);
	if (ret)
		return ret;
	export->managed.versioned = (struct DLManagedTensorVersioned){
		.version = { DLPACK_MAJOR, DLPACK_MINOR },
		.manager_ctx = export,
		.deleter = delete_versioned,
		.flags = tensor->base->buffer->is_read_only ? DLPACK_FLAG_READ_ONLY : 0,
		.tensor = out,
	};
	*managed = &export->managed.versioned;
	return 0;
}
