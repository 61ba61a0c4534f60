/* SPDX-License-Identifier: MIT */
/*
 * A model of memories, by a few numbers: what a job costs in each, in cycles and in energy.
 * Documentation/device.rst has the formulas. What lies between memories is not modelled here.
 */
#ifndef TESSERA_ENGINE_MODEL_H
#define TESSERA_ENGINE_MODEL_H

#include "count.h"

struct engine_memory_model {
	uint32_t bandwidth;	/* at its peak, in 10^6 bytes a second */
	uint32_t latency;	/* until the first byte of an operand, in ns */
	uint32_t burst;		/* bytes */
	uint32_t energy;	/* of a byte, in pJ */
};

struct engine_model {
	uint32_t clock_khz;
	uint32_t efficiency;	/* percent of the peak that bursts one after another come to */
	struct engine_memory_model memories[DRM_TESSERA_NUM_MEMORIES];
};

extern const struct engine_model engine_model_default;

/* On-chip memory is in units of equal size, one for each processing element. */
#define ENGINE_MAX_UNITS	64

/* Where a buffer is. */
struct engine_place {
	enum drm_tessera_memory memory;
	uint64_t start;		/* on-chip: of all units together */
};

/* A job, checked by engine_plan_create(), and where its buffers are. */
struct engine_placed_job {
	const struct engine_job *job;
	struct engine_place operands[DRM_TESSERA_MAX_OPERANDS];
	struct engine_place indices[DRM_TESSERA_MAX_OPERANDS];
	uint64_t unit_bytes;	/* not 0 where a buffer is on-chip */
};

/* What a job did to one memory: the system's, or a unit. */
struct engine_traffic {
	uint64_t bursts_read;
	uint64_t bursts_written;
	uint64_t cycles;
};

/* The system's memory, then the units. */
#define ENGINE_MAX_TRAFFICS	(1 + ENGINE_MAX_UNITS)

/*
 * Fills in the counters, but for those of the network, and adds to the traffic of the first
 * num_traffics memories, which begin as zeros. With more steps than *steps (engine_count()), which
 * are taken from it, the job is not counted: all is zero but points and uncounted. Thread-safe.
 */
void engine_model_job(const struct engine_model *model, const struct engine_placed_job *placed,
		      uint32_t *steps, struct drm_tessera_job_counters *counters,
		      struct engine_traffic *traffic, uint32_t num_traffics);

/* Cycles of bytes at a bandwidth in 10^6 bytes a second, and of a latency in ns: rounded up. */
uint64_t engine_model_cycles(const struct engine_model *model, uint64_t bytes, uint32_t bandwidth);
uint64_t engine_model_latency(const struct engine_model *model, uint32_t latency);

#endif /* TESSERA_ENGINE_MODEL_H */
