/* SPDX-License-Identifier: MIT */
/*
 * Partitions: which elements of a shape each PE has, as boxes of evenly spaced indices. Knows
 * expressions; nothing of tensors, memory or devices.
 */
#ifndef GRID_PARTITION_H
#define GRID_PARTITION_H

#include "layout/map.h"

/* The indices first, first + step, .. of an axis, count of them, at least one. */
struct progression {
	int64_t first;
	int64_t step;			/* 1 where count is 1 */
	int64_t count;
};

/* Elements that are all on one PE: those with an index of axes[d] on each axis d. */
struct piece {
	uint32_t pe;
	struct progression axes[ACCEL_MAX_DIMS];
};

/* Pieces by PE, disjoint, all elements together. Those of a PE p begin at starts[p]. */
struct partition {
	uint32_t rank;
	uint32_t num_pes;
	size_t num_pieces;		/* 0: the shape has no elements */
	struct piece *pieces;
	size_t starts[ACCEL_MAX_PES + 1];
};

/* More pieces than anybody needs, and fewer than would take long to compare with each other. */
#define PARTITION_MAX_PIECES	8192

/*
 * The partition that output 0 of a map makes of a shape: it is the PE, less than num_pes, of each
 * element. Errors: -ERANGE, which names a PE that is not there; -E2BIG where it takes more than
 * PARTITION_MAX_PIECES pieces, or too long to find them; those of evaluating the map; -ENOMEM.
 */
int partition_create(struct accel_map *map, const int64_t *shape, uint32_t num_pes,
		     struct partition *partition, struct accel_error *error);

/* The partition of a shape that is in one place, which is called number 0. -ENOMEM. */
int partition_create_whole(uint32_t rank, const int64_t *shape, struct partition *partition,
			   struct accel_error *error);

void partition_release(struct partition *partition);

/* What two pieces have in common; false if that is nothing. The pe is not set. */
bool piece_intersect(const struct piece *a, const struct piece *b, uint32_t rank,
		     struct piece *result);

/* How many elements, of a shape whose elements 63 bits count. */
int64_t piece_num_elements(const struct piece *piece, uint32_t rank);

#endif /* GRID_PARTITION_H */
