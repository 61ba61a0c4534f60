/* SPDX-License-Identifier: MIT */
/*
 * The binary interface of DLPack, versions 0.x and 1.x: tensors as they go from one library to
 * another. Declared here, as the header that distributions have may know nothing of versions;
 * tags are DLPack's own, so that accel.h names the same structures.
 */
#ifndef TENSOR_DLPACK_H
#define TENSOR_DLPACK_H

#include <stdint.h>

#define DLPACK_MAJOR	1
#define DLPACK_MINOR	0

#define DLPACK_DEVICE_CPU	1

enum dlpack_code {
	DLPACK_INT = 0,
	DLPACK_UINT = 1,
	DLPACK_FLOAT = 2,
	DLPACK_OPAQUE = 3,
	DLPACK_BFLOAT = 4,
	DLPACK_COMPLEX = 5,
	DLPACK_BOOL = 6,
};

#define DLPACK_FLAG_READ_ONLY	(UINT64_C(1) << 0)
#define DLPACK_FLAG_COPIED	(UINT64_C(1) << 1)

struct dlpack_device {
	int32_t type;
	int32_t id;
};

struct dlpack_dtype {
	uint8_t code;
	uint8_t bits;
	uint16_t lanes;
};

struct dlpack_tensor {
	void *data;
	struct dlpack_device device;
	int32_t ndim;
	struct dlpack_dtype dtype;
	int64_t *shape;
	int64_t *strides;		/* elements; NULL: row-major */
	uint64_t byte_offset;		/* from data to the element at index 0 */
};

struct DLManagedTensor {
	struct dlpack_tensor tensor;
	void *manager_ctx;
	void (*deleter)(struct DLManagedTensor *self);	/* or NULL */
};

struct dlpack_version {
	uint32_t major;
	uint32_t minor;
};

/* Of another major version only version, manager_ctx and deleter are where they are here. */
struct DLManagedTensorVersioned {
	struct dlpack_version version;
	void *manager_ctx;
	void (*deleter)(struct DLManagedTensorVersioned *self);	/* or NULL */
	uint64_t flags;
	struct dlpack_tensor tensor;
};

#endif /* TENSOR_DLPACK_H */
