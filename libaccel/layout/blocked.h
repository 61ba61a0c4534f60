/* SPDX-License-Identifier: MIT */
/*
 * Axes that are split into blocks: what dimension orders, TOPI strings, oneDNN tags, tiles and
 * packs have in common. Knows nothing of text.
 */
#ifndef ACCEL_LAYOUT_BLOCKED_H
#define ACCEL_LAYOUT_BLOCKED_H

#include "layout/placement.h"

/* A part of an axis. The blocks of an axis get smaller from the outermost part to the innermost. */
struct block {
	uint8_t dim;
	bool is_joined;		/* in one physical axis with the block before it */
	int64_t factor;		/* values in the block; 0: the outer part, all that is left */
};

/*
 * Appends the blocks' digits. An axis has one outer part, and its other blocks divide what that
 * leaves, so that shapes are rounded up to whole blocks. -E2BIG, -EOVERFLOW.
 */
int blocked_place(struct placement *placement, uint32_t num_blocks, const struct block *blocks,
		  struct accel_error *error);

/*
 * The placement as blocks in the order of memory, blocks of one value left out. False if it is no
 * such layout. blocks has room for PLACEMENT_MAX_DIGITS.
 */
bool blocked_recognize(const struct placement *placement, uint32_t *num_blocks,
		       struct block *blocks);

/* Moves nothing, but tells whether all outer parts come before all blocks. */
bool blocked_has_outer_first(uint32_t num_blocks, const struct block *blocks);

#endif /* ACCEL_LAYOUT_BLOCKED_H */
