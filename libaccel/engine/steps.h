/* SPDX-License-Identifier: MIT */
/*
 * Going through a box of a nest in steps, each of which may be gone through in smaller ones.
 */
#ifndef TESSERA_ENGINE_STEPS_H
#define TESSERA_ENGINE_STEPS_H

#include "arithmetic.h"
#include "nest.h"

/* A box of the nest that is gone through in steps, the last loop of the order fastest. */
struct steps {
	uint32_t rank;
	const uint32_t *order;		/* or NULL: that of the loops */
	const int64_t *step;
	int64_t head[DRM_TESSERA_MAX_RANK];	/* the first step of a loop, if it is another */
	int64_t first[DRM_TESSERA_MAX_RANK];
	int64_t end[DRM_TESSERA_MAX_RANK];
	int64_t at[DRM_TESSERA_MAX_RANK];
};

static inline int64_t whole_step(const struct steps *steps, uint32_t d)
{
	return steps->head[d] && steps->at[d] == steps->first[d] ? steps->head[d] : steps->step[d];
}

/* Goes on to the next step; after the last one returns false and is at the first. */
static inline bool next_step(struct steps *steps)
{
	for (uint32_t place = steps->rank; place-- > 0; ) {
		uint32_t d = steps->order ? steps->order[place] : place;

		steps->at[d] += whole_step(steps, d);
		if (steps->at[d] < steps->end[d])
			return true;
		steps->at[d] = steps->first[d];
	}
	return false;
}

/* The part of a step that is in its box. */
static inline int64_t step_extent(const struct steps *steps, uint32_t d)
{
	return min(whole_step(steps, d), steps->end[d] - steps->at[d]);
}

static inline int64_t step_bytes(const struct steps *steps, int64_t size)
{
	for (uint32_t d = 0; d < steps->rank; d++)
		size *= step_extent(steps, d);
	return size;
}

/* Begins with the box that is another's step. */
static inline void enter_step(struct steps *steps, const struct steps *outer)
{
	for (uint32_t d = 0; d < steps->rank; d++) {
		steps->first[d] = outer->at[d];
		steps->end[d] = outer->at[d] + step_extent(outer, d);
		steps->at[d] = outer->at[d];
	}
}

static inline void enter_nest(struct steps *steps, const struct engine_nest *nest)
{
	for (uint32_t d = 0; d < steps->rank; d++) {
		steps->first[d] = 0;
		steps->end[d] = nest->extents[d];
		steps->at[d] = 0;
	}
}

/*
 * The sum of the strides of steps that are so far from the origin. Kept from compilers that would
 * load two at a time: those wait for what has just been stored one by one.
 */
static inline int64_t offset_of(const int64_t *strides, const int64_t *at, const int64_t *origin,
			 uint32_t rank)
{
	int64_t offset = 0;

	for (uint32_t d = 0; d < rank; d++) {
		offset += strides[d] * (origin ? at[d] - origin[d] : at[d]);
		__asm__("" : "+r" (offset));
	}
	return offset;
}

#endif /* TESSERA_ENGINE_STEPS_H */
