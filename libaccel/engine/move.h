/* SPDX-License-Identifier: MIT */
/*
 * A nest of two affine streams, matched to a kernel once and run at any two addresses.
 */
#ifndef TESSERA_ENGINE_MOVE_H
#define TESSERA_ENGINE_MOVE_H

#include "kernels.h"
#include "plan.h"
#include "staging.h"

/* The streams of a move's nest. */
enum { ENGINE_MOVE_DST, ENGINE_MOVE_SRC, ENGINE_MOVE_STREAMS };

/* A nest matched to a kernel. */
struct engine_move {
	int (*run)(struct engine_run *run, const struct engine_move *move, uint8_t *dst,
		   const uint8_t *src);
	engine_tile_kernel *kernel;
	const char *name;		/* what the kernel does, in a word */
	int64_t size;			/* bytes of an element, as the kernel sees it */
	struct engine_nest nest;	/* the loops outside of the tile, or all; both streams */

	/* in tiles */
	struct engine_tile tile;
	int64_t block[2];		/* the tile is done in blocks of so many elements */
	int along;			/* in which of its loops the next block is the one beside */
	bool packs;			/* and the rows of blocks are packed before */

	/* by way of the staging buffer */
	struct engine_staging staging;
};

/* Matches a canonical nest to a kernel; elements have 1 << size_shift bytes. */
void engine_move_prepare(struct engine_move *move, const struct engine_run *run,
			 const struct engine_nest *nest, uint32_t size_shift);

/*
 * Whether a nest that is transposed between its last loop and this one can be streamed line by
 * line: rows of the destination all begin with one where the first one does, and are not short or
 * whole lines.
 */
bool engine_move_has_lines(const struct engine_move *move, uint32_t loop);

/* Runs it from these addresses, to which the nest's offsets are added. Returns 0 or -ECANCELED. */
static inline int engine_move_run(struct engine_run *run, const struct engine_move *move,
				  uint8_t *dst, const uint8_t *src)
{
	return move->run(run, move, dst, src);
}

#endif /* TESSERA_ENGINE_MOVE_H */
