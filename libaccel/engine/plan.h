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
#include "nest.h"
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

struct engine_plan {
	bool is_empty;			/* there is nothing to do */
	struct engine_box box;
	uint32_t num_operands;
	uint32_t num_windows;
	struct engine_plan_operand operands[DRM_TESSERA_MAX_OPERANDS];
	struct drm_tessera_window windows[DRM_TESSERA_MAX_WINDOWS];
	bool has_program;
	struct engine_program program;
};

/* A run of a plan: how far it is and who watches. */
struct engine_run {
	const struct engine_plan *plan;
	const struct engine_control *control;
	struct engine_fault *fault;
	uint64_t unreported;		/* bytes moved since progress was last told */
};

/* Tells progress and looks whether to stop: returns 0 or -ECANCELED. */
int engine_run_report(struct engine_run *run);

/* Progress is told, and cancellation noticed, after so many bytes; blocks are no larger. */
#define ENGINE_REPORT_BYTES	32768

static inline int engine_run_advance(struct engine_run *run, uint64_t bytes)
{
	run->unreported += bytes;
	return run->unreported < ENGINE_REPORT_BYTES ? 0 : engine_run_report(run);
}

/*
 * Runs the points of a box in which every window holds everywhere or nowhere: those of the
 * destination everywhere, and of source k everywhere where bit k + 1 of loads is set.
 */
int engine_run_move(struct engine_run *run, const struct engine_box *box, uint32_t loads);
int engine_run_program(struct engine_run *run, const struct engine_box *box, uint32_t loads);

#endif /* TESSERA_ENGINE_PLAN_H */
