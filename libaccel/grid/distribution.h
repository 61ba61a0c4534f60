/* SPDX-License-Identifier: MIT */
/*
 * A distribution: a tensor that is laid out over all memory of the grid as if that were one, cut
 * into the parts that PEs have.
 */
#ifndef GRID_DISTRIBUTION_H
#define GRID_DISTRIBUTION_H

#include <stdatomic.h>

#include <accel.h>

#include "grid/partition.h"

struct accel_distribution {
	atomic_uint refs;
	struct accel_device *device;
	struct accel_tensor *tensor;	/* of all parts, without a buffer; whole: with one */
	int64_t part_elements;		/* part p begins at element p * part_elements of it */
	struct partition partition;
	bool is_whole;			/* made from a tensor: one part, wherever that is */
	struct accel_buffer *buffers[ACCEL_MAX_PES];	/* by PE; NULL: it has no element */
};

/* Where the elements of a piece of the partition are: a PE, or ACCEL_PE_NONE. */
uint32_t distribution_pe(const struct accel_distribution *distribution, const struct piece *piece);

/* Those elements of the part that a piece of the partition is in which are in common, too. */
int distribution_view(const struct accel_distribution *distribution, const struct piece *piece,
		      const struct piece *common, struct accel_tensor **view,
		      struct accel_error *error);

#endif /* GRID_DISTRIBUTION_H */
