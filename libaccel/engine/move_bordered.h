/* SPDX-License-Identifier: MIT */
/*
 * Moves of rows that go on into each other in the destination, and end within cache lines or have
 * borders beyond which a row has no source: as im2col has them along planes, padded images, slices.
 * Every line is stored once, as a whole, around the caches.
 */
#ifndef TESSERA_ENGINE_MOVE_BORDERED_H
#define TESSERA_ENGINE_MOVE_BORDERED_H

#include "borders.h"
#include "kernels.h"

/* A box of a job, matched. */
struct engine_bordered {
	const struct engine_plan *plan;
	engine_bordered_kernel *kernel;
	struct engine_borders borders;	/* loops outside, the one over rows, the one along them */
	int64_t size;			/* bytes of an element */
	int64_t row_bytes;
	int64_t block;			/* rows that are moved at a time */
	int64_t ahead;			/* bytes in the source, to what is fetched meanwhile */
};

/* Matches a box of the plan, all of it. Returns false where it is something else. */
bool engine_bordered_match(struct engine_bordered *bordered, const struct engine_plan *plan,
			   const struct engine_box *box);

/* Moves it. Returns 0 or -ECANCELED. */
int engine_bordered_run(struct engine_run *run, const struct engine_bordered *bordered);

#endif /* TESSERA_ENGINE_MOVE_BORDERED_H */
