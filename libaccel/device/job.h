/* SPDX-License-Identifier: MIT */
/*
 * A job as it is built, in the form that the driver takes, and the checks made of it here.
 */
#ifndef DEVICE_JOB_H
#define DEVICE_JOB_H

#include <stdatomic.h>

#include <accel.h>

#include "engine/engine.h"

struct accel_job {
	atomic_uint refs;
	struct accel_device *device;	/* of its buffers, no reference; NULL: it has none yet */
	uint32_t rank;
	uint32_t num_operands;		/* the destination included, set or not */
	uint32_t num_windows;
	uint32_t num_instructions;
	uint64_t extents[DRM_TESSERA_MAX_RANK];
	/* What the driver is given; handles are those of buffers[] and index_buffers[]. */
	struct drm_tessera_operand operands[DRM_TESSERA_MAX_OPERANDS];
	struct drm_tessera_window windows[DRM_TESSERA_MAX_WINDOWS];
	struct drm_tessera_instruction program[DRM_TESSERA_MAX_INSTRUCTIONS];
	struct accel_buffer *buffers[DRM_TESSERA_MAX_OPERANDS];		/* [0]: may be NULL */
	struct accel_buffer *index_buffers[DRM_TESSERA_MAX_OPERANDS];	/* NULL: not indirect */
};

/*
 * The job for the engine, with its buffers where they are mapped, or with place_apart somewhere
 * apart from each other: good for checks alone.
 */
int job_to_engine(const struct accel_job *job, bool place_apart, struct engine_job *engine_job,
		  struct accel_error *error);

/*
 * Checks the engine's job and makes its plan; plan may be NULL. number and count say which job of a
 * submission it is, for the message; with count 0 it is one alone.
 */
int job_plan(const struct engine_job *engine_job, size_t number, size_t count,
	     struct engine_plan **plan, struct accel_error *error);

#endif /* DEVICE_JOB_H */
