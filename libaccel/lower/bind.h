/* SPDX-License-Identifier: MIT */
/*
 * From a plan and tensors to jobs with buffers.
 */
#ifndef LOWER_BIND_H
#define LOWER_BIND_H

#include "lower/plan.h"

/* Jobs that keep the buffers that they name: those of the tensors, temporaries and tables. */
struct plan_binding {
	struct accel_device *device;	/* of the buffers, which keep it */
	uint32_t num_jobs;		/* at least 1: one that does nothing, if need be */
	struct accel_job **jobs;
};

/* As accel_task_create() takes them. On failure there is nothing to release. */
int plan_bind(const struct accel_plan *plan, uint32_t num_tensors,
	      struct accel_tensor *const *tensors, struct plan_binding *binding,
	      struct accel_error *error);
void plan_binding_release(struct plan_binding *binding);

#endif /* LOWER_BIND_H */
