/* SPDX-License-Identifier: MIT */
/*
 * Large programs whose sources lie in another order than the destination: computed in the order of
 * the sources, row by row, and what comes out of it, which is often smaller, is transposed on its
 * way to the destination. Where sources disagree on the order, panels put them in that of the
 * destination instead.
 */
#ifndef TESSERA_ENGINE_RUN_CROSSED_H
#define TESSERA_ENGINE_RUN_CROSSED_H

#include "access.h"
#include "move.h"

struct engine_crossed {
	const struct engine_plan *plan;
	const struct engine_access *access;
	uint32_t source;			/* the first one that is walked across */
	uint32_t runs;				/* sources that are contiguous in rows, by bit */
	int64_t strip_points;			/* of which rows have so many at most */
	uint8_t *strips;
	const uint8_t *loaded[DRM_TESSERA_MAX_OPERANDS];	/* what of others strips have */
	struct engine_move move;		/* of the results */
};

/*
 * Prepares a box, whose access is referred to. Returns false where it cannot be run this way, or
 * should not.
 */
bool engine_crossed_prepare(struct engine_crossed *crossed, const struct engine_run *run,
			    const struct engine_access *access);

/* Runs it with these strips. Returns 0 or -ECANCELED. */
int engine_crossed_run(struct engine_crossed *crossed, struct engine_run *run, uint8_t *strips);

#endif /* TESSERA_ENGINE_RUN_CROSSED_H */
