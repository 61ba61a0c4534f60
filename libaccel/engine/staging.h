/* SPDX-License-Identifier: MIT */
/*
 * Transposing what is larger than the caches: a block at a time goes to a staging buffer, and from
 * there to the destination in long runs that pass the caches by. While a block is filled, the one
 * before it is streamed out and the source's next rows are fetched, a step of one or two kilobytes
 * at a time, so that memory reads and writes all the while.
 */
#ifndef TESSERA_ENGINE_STAGING_H
#define TESSERA_ENGINE_STAGING_H

#include "kernels.h"
#include "nest.h"

struct engine_move;
struct engine_run;

/* How a nest of two streams is cut into blocks and steps. Loops are those of the nest. */
struct engine_staging {
	uint32_t src_loop;			/* in which the source is contiguous */
	uint32_t row_mask;			/* loops that are no part of a block's runs */
	int64_t block[DRM_TESSERA_MAX_RANK];	/* extents of a block */
	int64_t step[DRM_TESSERA_MAX_RANK];	/* extents of a step: those of a tile */
	int64_t strides[DRM_TESSERA_MAX_RANK];	/* of elements in the staging buffer */
	int64_t run_bytes;			/* of a whole block's runs */
	int64_t block_bytes;			/* of a whole block there */
	uint32_t order[DRM_TESSERA_MAX_RANK];	/* loops by strides of the source, largest first */
	bool fetches;				/* the source, ahead of the CPU itself */
	bool packs;				/* rows are copied side by side first */
	int64_t pitch;				/* of these */
};

/*
 * Cuts a nest whose last loop is contiguous in the destination, and whose loop src_loop is in the
 * source; elements have size bytes. Returns false where staging is of no use.
 */
bool engine_staging_prepare(struct engine_staging *staging, const struct engine_nest *nest,
			    uint32_t src_loop, int64_t size);

/* As engine_move_run(), with the run's scratch memory. */
int engine_staging_run(struct engine_run *run, const struct engine_move *move, uint8_t *dst,
		       const uint8_t *src);

#endif /* TESSERA_ENGINE_STAGING_H */
