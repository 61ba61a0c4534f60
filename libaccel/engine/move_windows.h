/* SPDX-License-Identifier: MIT */
/*
 * Moves of windows that slide over the source, as im2col has them, with the borders at which a
 * window has no source. These are no regions of their own: a box is moved as a whole.
 */
#ifndef TESSERA_ENGINE_MOVE_WINDOWS_H
#define TESSERA_ENGINE_MOVE_WINDOWS_H

#include "borders.h"
#include "kernels.h"
#include "plan.h"

/* What elements and columns add to the value of a condition. */
struct engine_condition {
	int64_t lowest, highest;
};

/* A box of a job, matched. */
struct engine_windows {
	const struct engine_plan *plan;
	engine_rows_kernel *kernel;
	bool streams;			/* every line of the destination is whole */
	struct engine_borders borders;	/* loops outside, the sliding one, those of elements */
	uint32_t rank;			/* of the loops outside; the sliding one has this number */
	uint32_t first;			/* of an element's loops */
	int64_t step;			/* of the first one, as far as there is room */
	struct engine_condition conditions[ENGINE_MAX_CONDITIONS];
	uint32_t first_bounded;		/* loops of elements before it change no condition */
	struct engine_tile tile;	/* a column for each step of the sliding loop */
	int64_t block[2];		/* columns and elements that are moved at a time */
};

/* Matches a box of the plan, all of it. Returns false where it is something else. */
bool engine_windows_match(struct engine_windows *windows, const struct engine_plan *plan,
			  const struct engine_box *box);

/* Moves it. Returns 0 or -ECANCELED. */
int engine_windows_run(struct engine_run *run, const struct engine_windows *windows);

#endif /* TESSERA_ENGINE_MOVE_WINDOWS_H */
