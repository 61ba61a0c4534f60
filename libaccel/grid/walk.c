// SPDX-License-Identifier: MIT
/*
 * Walks over blocks of a box, and the views of a tensor that the blocks are.
 */
#include "grid/walk.h"

bool walk_next(struct walk *walk)
{
	for (uint32_t k = walk->rank; k--;) {
		uint32_t axis = walk->order[k];

		if (walk->shape[axis] - walk->first[axis] > walk->block[axis]) {
			walk->first[axis] += walk->block[axis];
			return true;
		}
		walk->first[axis] = 0;
	}
	return false;
}

void walk_extents(const struct walk *walk, int64_t *extents)
{
	for (uint32_t d = 0; d < walk->rank; d++) {
		int64_t left = walk->shape[d] - walk->first[d];

		extents[d] = left < walk->block[d] ? left : walk->block[d];
	}
}

int walk_view(const struct walk *walk, struct accel_tensor *tensor, struct accel_tensor **result,
	      struct accel_error *error)
{
	struct accel_tensor *view = accel_tensor_ref(tensor), *next;
	int64_t extents[ACCEL_MAX_DIMS];
	int ret = 0;

	*result = NULL;
	walk_extents(walk, extents);
	for (uint32_t d = 0; d < walk->rank && !ret; d++) {
		ret = accel_tensor_slice(view, d, walk->first[d], walk->first[d] + extents[d], 1,
					 &next, error);
		accel_tensor_unref(view);
		view = next;
	}
	if (ret)
		return ret;
	ret = accel_tensor_permute(view, walk->order, result, error);
	accel_tensor_unref(view);
	return ret;
}
