/* SPDX-License-Identifier: MIT */
/*
 * From a physical shape back to a logical one.
 */
#ifndef TOOLS_CHAIN_SHAPE_H
#define TOOLS_CHAIN_SHAPE_H

#include <stdint.h>

#include <accel.h>

/* The physical shape that is made of a logical one, of at most ACCEL_MAP_MAX_AXES axes. */
typedef int chain_measure(void *context, uint32_t rank, const int64_t *shape,
			  uint32_t *physical_rank, int64_t *physical_shape,
			  struct accel_error *error);

/*
 * The largest logical shape, axis by axis, from which this physical shape is made: the one without
 * padding where there is one. -EINVAL, with what and both shapes in the message, if there is none.
 */
int chain_logical_shape(chain_measure *measure, void *context, const char *what, uint32_t rank,
			uint32_t physical_rank, const int64_t *physical_shape, int64_t *shape,
			struct accel_error *error);

/* -EINVAL if the physical shape of a logical one is another than this. */
int chain_check_shape(chain_measure *measure, void *context, const char *what, uint32_t rank,
		      const int64_t *shape, uint32_t physical_rank, const int64_t *physical_shape,
		      struct accel_error *error);

#endif /* TOOLS_CHAIN_SHAPE_H */
