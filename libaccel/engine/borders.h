/* SPDX-License-Identifier: MIT */
/*
 * Boxes of moves that have borders: the windows of the source hold in a part of the box alone, and
 * are values beside the addresses. What is beyond the border is the source's fill.
 */
#ifndef TESSERA_ENGINE_BORDERS_H
#define TESSERA_ENGINE_BORDERS_H

#include "nest.h"
#include "plan.h"

/* The streams of the nest; the values of conditions follow. */
enum { ENGINE_BORDERS_DST, ENGINE_BORDERS_SRC, ENGINE_BORDERS_OPERANDS };

#define ENGINE_MAX_CONDITIONS	(ENGINE_MAX_STREAMS - ENGINE_BORDERS_OPERANDS)

/* The source has an element where 0 <= value < limit for every condition. */
struct engine_borders {
	struct engine_nest nest;	/* in canonical form */
	uint32_t num_conditions;
	int64_t limits[ENGINE_MAX_CONDITIONS];
};

/*
 * Makes the nest of a box, with the windows that do not hold everywhere in it. Returns false where
 * they are too many, or the plan is no move of a source that has an address of its own.
 */
bool engine_borders_init(struct engine_borders *borders, const struct engine_plan *plan,
			 const struct engine_box *box);

/* Elements, or columns, from first on and before end. */
struct engine_span {
	int64_t first, end;
};

/* Those of count at which 0 <= value + i * step < limit; step is not negative. */
struct engine_span engine_span_of(int64_t value, int64_t step, int64_t limit, int64_t count);

struct engine_span engine_span_intersect(struct engine_span a, struct engine_span b);

#endif /* TESSERA_ENGINE_BORDERS_H */
