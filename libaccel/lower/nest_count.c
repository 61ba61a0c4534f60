// SPDX-License-Identifier: MIT
/*
 * How many points of a job windows hold at. Loops that share a window are counted together: all
 * but the longest are walked, and of that the values are an interval.
 */
#include "engine/bounds.h"
#include "lower/nest_attempt.h"

/* Of loops that share windows, at most so many points are walked. */
#define MAX_WALKED	4096

/* The loops that a window compares. */
static uint32_t window_loops(const struct accel_plan_job *job, uint32_t w)
{
	uint32_t loops = 0;

	for (uint32_t d = 0; d < job->rank; d++)
		if (job->windows[w].value.strides[d])
			loops |= 1u << d;
	return loops;
}

/* The loops that share windows with loop d, directly or not, and these windows. */
static uint32_t group_of(const struct accel_plan_job *job, uint32_t mask, uint32_t d,
			 uint32_t *windows)
{
	uint32_t group = 1u << d, before;

	*windows = 0;
	do {
		before = group;
		for (uint32_t w = 0; w < job->num_windows; w++) {
			if (!(mask >> w & 1) || !(window_loops(job, w) & group))
				continue;
			group |= window_loops(job, w);
			*windows |= 1u << w;
		}
	} while (group != before);
	return group;
}

static uint32_t longest_loop(const struct accel_plan_job *job, uint32_t group)
{
	uint32_t longest = 0;

	for (uint32_t d = 0; d < job->rank; d++)
		if ((group >> d & 1) &&
		    (!(group >> longest & 1) || job->extents[d] > job->extents[longest]))
			longest = d;
	return longest;
}

/* How many values of a loop are left by the windows, the others being at the point. */
static uint64_t count_line(const struct accel_plan_job *job, uint32_t windows, uint32_t line,
			   const uint64_t *point)
{
	__int128 first = 0, last = (__int128)job->extents[line] - 1;

	for (uint32_t w = 0; w < job->num_windows; w++) {
		const struct accel_affine *affine = &job->windows[w].value;
		__int128 rest = affine->offset, room, low, high;

		if (!(windows >> w & 1))
			continue;
		for (uint32_t d = 0; d < job->rank; d++)
			if (d != line)
				rest += (__int128)affine->strides[d] * point[d];
		room = (__int128)job->windows[w].limit - 1 - rest;
		if (!affine->strides[line]) {
			if (rest < 0 || room < 0)
				return 0;
			continue;
		}
		low = affine->strides[line] > 0 ? -rest : room;
		high = affine->strides[line] > 0 ? room : -rest;
		low = engine_ceiling_divide(low, affine->strides[line]);
		high = engine_floor_divide(high, affine->strides[line]);
		first = low > first ? low : first;
		last = high < last ? high : last;
	}
	return last < first ? 0 : (uint64_t)(last - first + 1);
}

static uint64_t count_group(const struct accel_plan_job *job, uint32_t windows, uint32_t group)
{
	uint64_t point[ACCEL_MAX_RANK] = { 0 }, walked = 1, count = 0;
	uint32_t line = longest_loop(job, group);

	for (uint32_t d = 0; d < job->rank; d++)
		if ((group >> d & 1) && d != line && walked <= MAX_WALKED)
			walked *= job->extents[d] <= MAX_WALKED ? job->extents[d] : MAX_WALKED + 1;
	if (!windows || walked > MAX_WALKED)
		return walked > MAX_WALKED ? UINT64_MAX : job->extents[line];
	for (uint64_t i = 0; i < walked; i++) {
		count += count_line(job, windows, line, point);
		for (uint32_t d = 0; d < job->rank; d++) {
			if (!(group >> d & 1) || d == line)
				continue;
			if (++point[d] < job->extents[d])
				break;
			point[d] = 0;
		}
	}
	return count;
}

/* The product of extents fits 63 bits: nothing here does not. */
uint64_t nest_count_points(const struct accel_plan_job *job, uint32_t mask)
{
	uint64_t count = 1;
	uint32_t counted = 0;

	for (uint32_t w = 0; w < job->num_windows; w++)
		if ((mask >> w & 1) && !window_loops(job, w) && !job->windows[w].limit)
			return 0;
	for (uint32_t d = 0; d < job->rank; d++) {
		uint32_t windows, group;
		uint64_t part;

		if (counted >> d & 1)
			continue;
		group = group_of(job, mask, d, &windows);
		part = count_group(job, windows, group);
		if (part == UINT64_MAX) {
			part = 1;
			for (uint32_t e = d; e < job->rank; e++)
				if (group >> e & 1)
					part *= job->extents[e];
		}
		count *= part;
		counted |= group;
	}
	return count;
}
