/* SPDX-License-Identifier: MIT */
/*
 * What a tensor is: an affine map from its index to that of a base, and where the base's elements
 * are in memory. All views share a base, and a view is nothing but another affine map: so
 * they work alike on strided memory and in layouts that split axes.
 */
#ifndef TENSOR_TENSOR_H
#define TENSOR_TENSOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <accel.h>

#include "layout/placement.h"

#define TENSOR_NO_AXIS	UINT32_MAX

/*
 * Memory, and where the elements of its axes are. The placement's rank and shape are those
 * of the base: an axis for each axis of the layout that has no single stride, and behind these one
 * for all that have, the linear axis, which counts elements of memory. A strided tensor's base has
 * the linear axis alone, and an element's place is base index 0. The placement's digits are
 * canonical (placement_canonical()) and its axes have letters. It never changes.
 */
struct tensor_base {
	atomic_uint refs;
	struct accel_buffer *buffer;		/* NULL: only says how a tensor is laid out */
	uint32_t linear;			/* the base's axis, or TENSOR_NO_AXIS */
	struct placement placement;
};

/*
 * The base's index b of an index i of the tensor: origin[b] + sum over a of steps[b][a] * i[a]. It
 * is in the base's shape for every index of the tensor; on the linear axis the element is in the
 * buffer. The dtype may differ from the placement's, its size does not.
 */
struct accel_tensor {
	atomic_uint refs;
	enum accel_dtype dtype;
	uint32_t rank;
	int64_t shape[ACCEL_MAX_DIMS];
	int64_t num_elements;
	struct tensor_base *base;
	int64_t origin[ACCEL_MAX_DIMS];
	int64_t steps[ACCEL_MAX_DIMS][ACCEL_MAX_DIMS];
	int64_t offset;				/* of the element at index 0, in elements */
	struct accel_layout *layout;		/* it was made with it; NULL: none, or a view */
};

static inline uint32_t tensor_base_rank(const struct accel_tensor *tensor)
{
	return tensor->base->placement.rank;
}

/* base.c */

/* A base without axes, with a reference to the buffer, which may be NULL. NULL: no memory. */
struct tensor_base *tensor_base_new(struct accel_buffer *buffer, enum accel_dtype dtype,
				    struct accel_error *error);

/* The same axes, with the buffer or with none. NULL: no memory. */
struct tensor_base *tensor_base_copy(const struct tensor_base *base, struct accel_buffer *buffer,
				     struct accel_error *error);

struct tensor_base *tensor_base_ref(struct tensor_base *base);
void tensor_base_unref(struct tensor_base *base);

/* Adds the linear axis, of as many elements of memory, behind at most 15 others. */
void tensor_base_add_linear(struct tensor_base *base, int64_t num_elements);

/* Adds an axis of a layout, which has no single stride; its digits are the caller's to add. */
void tensor_base_add_axis(struct tensor_base *base, int64_t extent, char letter);

/* tensor.c */

/*
 * A tensor without a buffer, which says how one is laid out; errors as accel_tensor_create().
 * Nothing that touches memory may be called with it, and accel_tensor_buffer() returns NULL.
 */
int tensor_describe(enum accel_dtype dtype, uint32_t rank, const int64_t *shape,
		    struct accel_layout *layout, struct accel_tensor **tensor,
		    struct accel_error *error);

/* The same, laid out as a tensor is, and as its layout says. */
int tensor_detach(const struct accel_tensor *tensor, struct accel_tensor **result,
		  struct accel_error *error);

/*
 * The tensor that a described one is in a buffer which begins at an element of what was described;
 * all its elements are in there.
 */
int tensor_attach(const struct accel_tensor *tensor, struct accel_buffer *buffer, int64_t first,
		  struct accel_tensor **result, struct accel_error *error);

/* A copy that shares the base, to be made a view of; its layout is NULL. NULL: no memory. */
struct accel_tensor *tensor_copy(const struct accel_tensor *tensor, struct accel_error *error);

/*
 * Counts the elements, -EOVERFLOW, and finds the offset: to be called after the map was changed and
 * before a view is handed out.
 */
int tensor_settle(struct accel_tensor *tensor, struct accel_error *error);

/* The row-major strides of a shape, in elements; those of an empty one as NumPy. -EOVERFLOW. */
int tensor_row_major(uint32_t rank, const int64_t *shape, int64_t *strides,
		     struct accel_error *error);

/* query.c */

/*
 * Whether both have the same shape, element size and places of elements but for the offset in
 * memory, which may differ.
 */
bool tensor_is_laid_out_as(const struct accel_tensor *a, const struct accel_tensor *b);

#endif /* TENSOR_TENSOR_H */
