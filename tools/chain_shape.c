// SPDX-License-Identifier: MIT
/*
 * From a physical shape back to a logical one: a physical extent never shrinks when a logical one
 * grows, so that the largest logical extents that fit are found by bisection.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "chain_shape.h"
#include "command.h"
#include "error.h"

/* Extents beyond this are in no file. */
#define MAX_EXTENT	((int64_t)1 << 48)

struct search {
	chain_measure *measure;
	void *context;
	uint32_t rank;
	uint32_t physical_rank;
	const int64_t *physical_shape;
};

/* Whether the shape of ones, but for one axis, has its place in the physical shape. */
static bool fits(const struct search *search, uint32_t axis, int64_t extent)
{
	int64_t shape[ACCEL_MAX_DIMS], physical_shape[ACCEL_MAP_MAX_AXES];
	uint32_t physical_rank;

	for (uint32_t i = 0; i < search->rank; i++)
		shape[i] = i == axis ? extent : 1;
	if (search->measure(search->context, search->rank, shape, &physical_rank, physical_shape,
			    NULL) || physical_rank != search->physical_rank)
		return false;
	for (uint32_t i = 0; i < physical_rank; i++) {
		if (physical_shape[i] > search->physical_shape[i])
			return false;
	}
	return true;
}

static int64_t largest_extent(const struct search *search, uint32_t axis)
{
	int64_t good = 1, bad = 2;

	while (bad < MAX_EXTENT && fits(search, axis, bad)) {
		good = bad;
		bad *= 2;
	}
	while (bad - good > 1) {
		int64_t middle = good + (bad - good) / 2;

		if (fits(search, axis, middle))
			good = middle;
		else
			bad = middle;
	}
	return good;
}

static bool is_empty(uint32_t rank, const int64_t *shape)
{
	for (uint32_t i = 0; i < rank; i++) {
		if (!shape[i])
			return true;
	}
	return false;
}

int chain_logical_shape(chain_measure *measure, void *context, const char *what, uint32_t rank,
			uint32_t physical_rank, const int64_t *physical_shape, int64_t *shape,
			struct accel_error *error)
{
	struct search search = { measure, context, rank, physical_rank, physical_shape };

	if (is_empty(physical_rank, physical_shape))
		return accel_error_set(error, -EINVAL,
				       "%s: the input is empty, which says nothing of the shape "
				       "before", what);
	for (uint32_t i = 0; i < rank; i++)
		shape[i] = largest_extent(&search, i);
	return chain_check_shape(measure, context, what, rank, shape, physical_rank,
				 physical_shape, error);
}

int chain_check_shape(chain_measure *measure, void *context, const char *what, uint32_t rank,
		      const int64_t *shape, uint32_t physical_rank, const int64_t *physical_shape,
		      struct accel_error *error)
{
	char found_text[COMMAND_LONG_SHAPE_SIZE], made_text[COMMAND_LONG_SHAPE_SIZE];
	int64_t made[ACCEL_MAP_MAX_AXES];
	char text[COMMAND_SHAPE_SIZE];
	uint32_t made_rank;
	int ret = measure(context, rank, shape, &made_rank, made, error);

	if (ret)
		return ret;
	if (made_rank == physical_rank &&
	    !memcmp(made, physical_shape, made_rank * sizeof(made[0])))
		return 0;
	return accel_error_set(error, -EINVAL,
			       "%s: the input is %s, expected %s for a tensor of %s", what,
			       command_print_shape(found_text, physical_rank, physical_shape),
			       command_print_shape(made_text, made_rank, made),
			       command_print_shape(text, rank, shape));
}
