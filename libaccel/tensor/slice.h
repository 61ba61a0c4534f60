/* SPDX-License-Identifier: MIT */
/*
 * Slices as Python has them, of bounds and as text. Knows nothing of tensors but their shape.
 */
#ifndef TENSOR_SLICE_H
#define TENSOR_SLICE_H

#include <stdbool.h>
#include <stdint.h>

#include <accel.h>

#define SLICE_MAX_ITEMS	(2 * ACCEL_MAX_DIMS)

enum slice_kind {
	SLICE_RANGE,	/* start, start + step, .. of an axis, count of them */
	SLICE_INDEX,	/* start alone; the axis goes */
	SLICE_NEW,	/* an axis of extent 1 that was not there */
};

/* Resolved: 0 <= start < extent where count is not 0; otherwise start is 0. */
struct slice_item {
	enum slice_kind kind;
	int64_t start;
	int64_t step;
	int64_t count;
};

/*
 * start:stop:step of an axis with extent elements; ACCEL_SLICE_END is a bound that was left out.
 * -EINVAL for a step of 0.
 */
int slice_resolve(int64_t extent, int64_t start, int64_t stop, int64_t step,
		  struct slice_item *item, struct accel_error *error);

/*
 * "0:5, ::2, ..., -1, None": an item for each axis of the shape and each new axis, in order, the
 * ellipsis and what was left out at the end filled in. -EINVAL with the column; -ERANGE for
 * an index outside of its axis.
 */
int slice_parse(const char *text, uint32_t rank, const int64_t *shape, uint32_t *num_items,
		struct slice_item items[SLICE_MAX_ITEMS], struct accel_error *error);

#endif /* TENSOR_SLICE_H */
