// SPDX-License-Identifier: MIT
/*
 * Tasks: plans bound to buffers. All that a submission needs is made here, once.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "device/submission.h"
#include "error.h"
#include "lower/bind.h"

struct accel_task {
	atomic_uint refs;
	struct plan_binding binding;
	struct accel_submission *submission;
};

static void destroy(struct accel_task *task)
{
	submission_destroy(task->submission);
	plan_binding_release(&task->binding);
	free(task);
}

ACCEL_API int accel_task_create(struct accel_plan *plan, uint32_t num_tensors,
				struct accel_tensor *const *tensors, struct accel_task **result,
				struct accel_error *error)
{
	struct accel_task *task = calloc(1, sizeof(*task));
	int ret;

	*result = NULL;
	if (!task)
		return accel_error_set(error, -ENOMEM, "task: out of memory");
	atomic_init(&task->refs, 1);
	ret = plan_bind(plan, num_tensors, tensors, &task->binding, error);
	if (!ret)
		ret = submission_create(task->binding.device, task->binding.jobs,
					task->binding.num_jobs, &task->submission, error);
	if (ret) {
		destroy(task);
		return ret;
	}
	*result = task;
	return 0;
}

ACCEL_API struct accel_task *accel_task_ref(struct accel_task *task)
{
	atomic_fetch_add_explicit(&task->refs, 1, memory_order_relaxed);
	return task;
}

ACCEL_API void accel_task_unref(struct accel_task *task)
{
	/* the last one must see what the others did */
	if (task && atomic_fetch_sub_explicit(&task->refs, 1, memory_order_acq_rel) == 1)
		destroy(task);
}

ACCEL_API int accel_task_submit(struct accel_task *task, struct accel_fence *const *in_fences,
				size_t num_in_fences, struct accel_error *error)
{
	return submission_submit(task->submission, in_fences, num_in_fences, error);
}

ACCEL_API int accel_task_wait(struct accel_task *task, int64_t timeout_ns,
			      struct accel_error *error)
{
	return submission_wait(task->submission, timeout_ns, error);
}

ACCEL_API int accel_task_fence(struct accel_task *task, struct accel_fence **fence,
			       struct accel_error *error)
{
	return submission_fence(task->submission, fence, error);
}

ACCEL_API struct accel_job *accel_task_job(const struct accel_task *task, uint32_t k)
{
	return k < task->binding.num_jobs ? task->binding.jobs[k] : NULL;
}
