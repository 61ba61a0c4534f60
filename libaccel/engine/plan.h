/* SPDX-License-Identifier: MIT */
/*
 * A plan: a job that has been checked, without the loops and windows that make no difference. What
 * the parts of the engine that run it share.
 */
#ifndef TESSERA_ENGINE_PLAN_H
#define TESSERA_ENGINE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "bounds.h"
#include "engine.h"
#include "isa.h"
#include "nest.h"
#include "parts.h"
#include "program.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "elements and indices are little endian, and so must the host be"
#endif

struct engine_plan_operand {
	uint8_t *base;
	uint64_t size;			/* bytes at base */
	struct engine_stream address;
	uint32_t size_shift;		/* log2 of the bytes of an element */
	uint32_t window_mask;		/* windows that do not hold everywhere */
	uint8_t fill[16];

	bool is_indirect;
	uint8_t *index_base;
	struct engine_stream index_address;
	uint32_t index_dtype;
	int64_t index_stride;
	uint64_t index_limit;		/* 0: none */
};

/* A box in which every window that matters holds everywhere or nowhere. */
struct engine_region {
	struct engine_box box;
	uint32_t loads;		/* bit k: those of operand k hold; without bit 0 nothing is done */
};

/* Memory for what is under way, small enough to stay in a core's own cache. One run has it. */
#define ENGINE_SCRATCH_BYTES	(256 << 10)

struct engine_scratch {
	uint8_t bytes[ENGINE_SCRATCH_BYTES];
	uint32_t is_taken;		/* by compare and exchange; released by who took it */
} __attribute__((aligned(64)));

/* A plan keeps its regions if they are no more than this. */
#define ENGINE_MAX_REGIONS	64

struct engine_plan {
	const struct engine_isa *isa;	/* whose kernels it runs with */
	bool is_empty;			/* there is nothing to do */
	struct engine_box box;
	uint32_t num_operands;
	uint32_t num_windows;
	struct engine_plan_operand operands[DRM_TESSERA_MAX_OPERANDS];
	struct drm_tessera_window windows[DRM_TESSERA_MAX_WINDOWS];
	struct engine_parts parts;
	bool merges_parts;		/* those that follow each other are run as one */
	int64_t block_bytes;		/* of a move's blocks: progress is told after each */
	uint32_t num_regions;		/* 0: too many to keep; each run cuts the box anew */
	struct engine_region *regions;
	struct engine_scratch *scratch;	/* for one run at a time; NULL: the job is small */
	bool is_staged;			/* parts are put together in scratch, then streamed */
	struct engine_parts chunks;	/* of these: one after the other */
	uint64_t chunks_per_part;
	bool streams;			/* around the caches, which have no room for the job */
	bool overflows;			/* more than half of the last-level cache is stored */
	bool is_far;			/* more than a sixth: what is read comes from beyond */
	bool slides;			/* windows slide: boxes are tried as such, before regions */
	bool is_bordered;		/* rows have borders or share lines: the same */
	bool has_program;
	struct engine_program program;
};

struct engine_outflow;

/* A run of a plan: how far it is and who watches. */
struct engine_run {
	const struct engine_plan *plan;
	const struct engine_control *control;
	struct engine_fault *fault;
	uint8_t *scratch;		/* ENGINE_SCRATCH_BYTES, aligned to lines; NULL: none */
	uint64_t unreported;		/* bytes moved since progress was last told */
	bool is_one_of_many;		/* other threads run parts of the job and tell progress */
	struct engine_outflow *outflow;	/* what is streamed to the destination meanwhile, or NULL */
};

/* Tells progress. */
void engine_run_tell(struct engine_run *run);

/* Tells progress and looks whether to stop: returns 0 or -ECANCELED. */
int engine_run_report(struct engine_run *run);

/* Streams so many bytes of the outflow, a few more, or all that is left. */
void engine_run_stream(struct engine_run *run, uint64_t bytes);

/*
 * Progress is told, and cancellation noticed, after the block that makes it so many bytes; blocks
 * are no larger, but for the last of a loop.
 */
#define ENGINE_REPORT_BYTES	32768

static inline int engine_run_advance(struct engine_run *run, uint64_t bytes)
{
	if (run->outflow)
		engine_run_stream(run, bytes);
	run->unreported += bytes;
	return run->unreported < ENGINE_REPORT_BYTES ? 0 : engine_run_report(run);
}

/*
 * Runs the points of a box in which every window holds everywhere or nowhere: those of the
 * destination everywhere, and of source k everywhere where bit k + 1 of loads is set.
 */
int engine_run_move(struct engine_run *run, const struct engine_box *box, uint32_t loads);
int engine_run_program(struct engine_run *run, const struct engine_box *box, uint32_t loads);

/* Gives the run the plan's scratch, if it has any that no other run is using; takes it back. */
void engine_run_take_scratch(struct engine_run *run);
void engine_run_release_scratch(struct engine_run *run);

/* Runs a box of the plan, region by region. */
int engine_run_box(struct engine_run *run, const struct engine_box *box);

/*
 * Runs one of the plan's parts, and of those behind it, most in all at most, such as are better run
 * with it. What they have stored others may see after it. Says how many they were: more than one
 * can only fail by being canceled.
 */
int engine_run_parts(struct engine_run *run, uint64_t part, uint64_t most, uint64_t *num_run);

#endif /* TESSERA_ENGINE_PLAN_H */
