/* SPDX-License-Identifier: MIT */
/*
 * Whether a job may be run: all that uapi/drm/tessera_accel.h demands of its fields, and that its
 * affine addresses stay inside their buffers.
 */
#ifndef TESSERA_ENGINE_CHECK_H
#define TESSERA_ENGINE_CHECK_H

#include "engine.h"

/* Returns what engine_plan_create() does for a job that is refused, or 0. */
int engine_check(const struct engine_job *job, struct engine_fault *fault);

/* Whether the job has no points. */
bool engine_job_is_empty(const struct engine_job *job);

#endif /* TESSERA_ENGINE_CHECK_H */
