/* SPDX-License-Identifier: MIT */
/*
 * Boxes of points, affine functions over them, and the proof of section "address bounds" of
 * uapi/drm/tessera_accel.h. It knows neither buffers nor element types.
 */
#ifndef TESSERA_ENGINE_BOUNDS_H
#define TESSERA_ENGINE_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include <drm/tessera_accel.h>

#ifndef __SIZEOF_INT128__
#error "the engine needs a compiler with __int128"
#endif

/* An interval of integers; empty where highest < lowest. */
struct engine_interval {
	int64_t lowest;
	int64_t highest;
};

/* The points of a job, or some of them: an interval for each loop. */
struct engine_box {
	uint32_t rank;
	struct engine_interval dims[DRM_TESSERA_MAX_RANK];
};

/* The sum of the magnitudes of all terms at their extremes is less than 2^63. */
bool engine_affine_fits(const struct drm_tessera_affine *affine, uint32_t rank,
			const uint64_t *extents);

/* The extremes of an affine that fits, over a box that is not empty. */
struct engine_interval engine_affine_range(const struct drm_tessera_affine *affine,
					   const struct engine_box *box);

/* The box of the extents, none of which is 0. */
void engine_box_init(struct engine_box *box, uint32_t rank, const uint64_t *extents);

/*
 * Step 1 of the proof: tightens the box by the windows in mask. Returns false when no point is
 * left; the box is undefined then.
 */
bool engine_box_tighten(struct engine_box *box, const struct drm_tessera_window *windows,
			uint32_t mask);

/* Step 2: the interval of address over a tightened box; empty when no point is left. */
struct engine_interval engine_bounds(const struct drm_tessera_affine *address,
				     const struct engine_box *box,
				     const struct drm_tessera_window *windows, uint32_t mask);

/* Floor division of any by a divisor that is not zero. */
static inline __int128 engine_floor_divide(__int128 dividend, __int128 divisor)
{
	__int128 quotient = dividend / divisor;

	return quotient - (dividend % divisor != 0 && (dividend < 0) != (divisor < 0));
}

static inline __int128 engine_ceiling_divide(__int128 dividend, __int128 divisor)
{
	return -engine_floor_divide(-dividend, divisor);
}

#endif /* TESSERA_ENGINE_BOUNDS_H */
