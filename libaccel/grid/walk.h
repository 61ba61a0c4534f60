/* SPDX-License-Identifier: MIT */
/*
 * Walks: a box that is visited block by block, in an order of its axes.
 */
#ifndef GRID_WALK_H
#define GRID_WALK_H

#include <stdbool.h>

#include <accel.h>

struct walk {
	uint32_t rank;
	int64_t shape[ACCEL_MAX_DIMS];
	int64_t block[ACCEL_MAX_DIMS];		/* extents; those at the ends may be less */
	uint32_t order[ACCEL_MAX_DIMS];		/* of axes, outermost first */
	int64_t first[ACCEL_MAX_DIMS];		/* of the block that is next */
};

/* Goes to the next block; false after the last, when the first is next again. */
bool walk_next(struct walk *walk);

/* The extents of the block that is next. */
void walk_extents(const struct walk *walk, int64_t *extents);

/* That block of a tensor of the box's shape, its axes in the order of the walk. */
int walk_view(const struct walk *walk, struct accel_tensor *tensor, struct accel_tensor **view,
	      struct accel_error *error);

#endif /* GRID_WALK_H */
