// SPDX-License-Identifier: MIT
/*
 * Transforms: maps pending for the layout of one tensor, which are applied once. That they
 * cannot be applied again is what this exists for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout/map.h"

struct accel_transform {
	atomic_uint references;
	bool is_applied;
	uint32_t logical_rank;
	uint32_t physical_rank;
	int64_t logical_shape[ACCEL_MAP_MAX_AXES];
	int64_t physical_shape[ACCEL_MAP_MAX_AXES];
	struct accel_map *map;		/* what was pushed so far, as one; NULL once applied */
};

int accel_transform_create(uint32_t rank, const int64_t *shape,
			   struct accel_transform **transform, struct accel_error *error)
{
	struct accel_transform *made;
	uint32_t k;
	int code;

	*transform = NULL;
	if (rank > ACCEL_MAP_MAX_AXES)
		return accel_error_set(error, -E2BIG, "shape of %u axes, expected %d at most", rank,
				       ACCEL_MAP_MAX_AXES);
	for (k = 0; k < rank; k++)
		if (shape[k] < 0)
			return accel_error_set(error, -EINVAL,
					       "extent of axis %u is %lld, expected 0 or more", k,
					       (long long)shape[k]);
	made = calloc(1, sizeof(*made));
	if (!made)
		return accel_error_set(error, -ENOMEM, "transform: out of memory");
	atomic_init(&made->references, 1);
	made->logical_rank = rank;
	made->physical_rank = rank;
	for (k = 0; k < rank; k++) {
		made->logical_shape[k] = shape[k];
		made->physical_shape[k] = shape[k];
	}
	code = accel_map_create_identity(rank, &made->map, error);
	if (code) {
		free(made);
		return code;
	}
	*transform = made;
	return 0;
}

struct accel_transform *accel_transform_ref(struct accel_transform *transform)
{
	atomic_fetch_add_explicit(&transform->references, 1, memory_order_relaxed);
	return transform;
}

void accel_transform_unref(struct accel_transform *transform)
{
	/* Pairs with itself: who frees it sees what the others did before they let go. */
	if (!transform ||
	    atomic_fetch_sub_explicit(&transform->references, 1, memory_order_acq_rel) != 1)
		return;
	accel_map_unref(transform->map);
	free(transform);
}

static int check_pending(const struct accel_transform *transform, struct accel_error *error)
{
	if (!transform->is_applied)
		return 0;
	return accel_error_set(error, -EALREADY,
			       "transform was applied already, and a layout is transformed once");
}

static int check_injective(struct accel_map *map, const struct accel_transform *transform,
			   struct accel_error *error)
{
	struct accel_map_analysis analysis;
	enum accel_answer injective;
	int code;

	code = accel_map_analyze(map, transform->physical_rank, transform->physical_shape,
				 &analysis, error);
	injective = analysis.injective;
	accel_map_analysis_release(&analysis);
	if (!code && injective != ACCEL_ANSWER_YES)
		code = accel_error_set(
			error, -EDOM,
			injective == ACCEL_ANSWER_NO ?
				"map takes two elements to the same place" :
				"map is not proved to take each element to a place of its own");
	return code;
}

int accel_transform_push(struct accel_transform *transform, struct accel_map *map,
			 struct accel_error *error)
{
	int64_t shape[ACCEL_MAP_MAX_AXES];
	struct accel_map *composed;
	uint32_t rank;
	int code;

	code = check_pending(transform, error);
	if (code)
		return code;
	if (transform->map->separators)
		return accel_error_set(
			error, -EINVAL,
			"map after one with axis separators, expected it to be last");
	code = check_injective(map, transform, error);
	if (!code)
		code = accel_map_apply_shape(map, transform->physical_rank,
					     transform->physical_shape, &rank, shape, error);
	if (!code)
		code = accel_map_compose(transform->map, map, &composed, error);
	if (code)
		return code;
	accel_map_unref(transform->map);
	transform->map = composed;
	transform->physical_rank = rank;
	memcpy(transform->physical_shape, shape, rank * sizeof(*shape));
	return 0;
}

void accel_transform_shape(const struct accel_transform *transform, uint32_t *physical_rank,
			   int64_t *physical_shape)
{
	*physical_rank = transform->physical_rank;
	memcpy(physical_shape, transform->physical_shape,
	       transform->physical_rank * sizeof(*physical_shape));
}

int accel_transform_apply(struct accel_transform *transform, struct accel_map **map,
			  struct accel_error *error)
{
	int code;

	*map = NULL;
	code = check_pending(transform, error);
	if (!code)
		code = accel_map_simplify(transform->map, transform->logical_rank,
					  transform->logical_shape, map, error);
	if (code)
		return code;
	transform->is_applied = true;
	accel_map_unref(transform->map);
	transform->map = NULL;
	return 0;
}
