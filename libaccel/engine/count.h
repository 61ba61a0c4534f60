/* SPDX-License-Identifier: MIT */
/*
 * How often a job accesses memory and how many bursts that takes, found from its loops without
 * going through its points. It knows neither memories nor what an access costs.
 */
#ifndef TESSERA_ENGINE_COUNT_H
#define TESSERA_ENGINE_COUNT_H

#include "bounds.h"
#include "engine.h"

/* Bursts are powers of two; no element is larger than the least. */
#define ENGINE_MIN_BURST	16
#define ENGINE_MAX_BURST	256

/*
 * Without windows the work is one step for each loop. With windows, one for each run of values of a
 * loop at which the same points of the loops inside of it are accessed. Padding, im2col and partial
 * tiles have a few hundred steps at most, each of some 100 ns.
 */
#define ENGINE_COUNT_STEPS	16384

struct engine_count {
	uint64_t accesses;
	/* touched in the order of the loops, without those that were touched last before */
	uint64_t bursts;
};

/* The addresses that an operand, or its indices, name at the points of a job. */
struct engine_count_stream {
	const struct engine_job *job;
	uint32_t operand;
	const struct drm_tessera_affine *address;	/* of its data or of its indices */
	uint32_t element_bytes;
	const struct engine_interval *within;	/* only accesses that begin there; NULL: all */
};

/*
 * Counts for a job that engine_plan_create() accepts; all numbers are mod 2^64. An access that lies
 * in two bursts touches the lower one first. Takes from *steps what it needs; returns false, and no
 * counts, when that was not enough. Thread-safe.
 */
bool engine_count(const struct engine_count_stream *stream, uint32_t burst_bytes, uint32_t *steps,
		  struct engine_count *count);

#endif /* TESSERA_ENGINE_COUNT_H */
