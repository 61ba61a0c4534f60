/* SPDX-License-Identifier: MIT */
/*
 * The points of a box, one by one or some of them: for what is decided by looking.
 */
#ifndef ACCEL_LAYOUT_POINTS_H
#define ACCEL_LAYOUT_POINTS_H

#include "layout/map.h"

/* Points up to which a question is decided by looking at all of them, ... */
#define POINTS_MAX	65536
/* ... if that takes no more operations than this: some tenths of a second. */
#define POINTS_MAX_OPERATIONS	(1 << 26)

/* How many points of this map are looked at: at most POINTS_MAX, and fewer of a large map. */
int64_t points_limit(const struct accel_map *map);

/* How many points the box has, or POINTS_MAX + 1 if there are more. */
int64_t points_count(const struct bounds *bounds);

/* The first point. False if an end of the box is not known. */
bool points_first(const struct bounds *bounds, int64_t *index);

/* The next point in row-major order; false after the last. */
bool points_next(const struct bounds *bounds, int64_t *index);

/* A point drawn by a fixed rule that looks random, near the lower end of long axes. */
void points_sample(const struct bounds *bounds, uint64_t *state, int64_t *index);

/*
 * Looks for two points that the map, which has no symbols, takes to the same place. NO with
 * a collision that was seen; YES if all points were looked at and there is none; else UNKNOWN.
 * Returns 0 or -ENOMEM.
 */
int points_find_collision(const struct accel_map *map, const struct bounds *bounds,
			  enum accel_answer *injective,
			  int64_t collision[2][ACCEL_MAP_MAX_AXES]);

#endif /* ACCEL_LAYOUT_POINTS_H */
