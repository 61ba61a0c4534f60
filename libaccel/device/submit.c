// SPDX-License-Identifier: MIT
/*
 * Submissions: what is common to all backends. How the jobs are run is the backend's, how one
 * waits for them fence.c's.
 */
#include <errno.h>
#include <stdlib.h>

#include "device/device.h"
#include "device/fence.h"
#include "device/submission.h"

static int check_job(const struct accel_device *device, const struct accel_job *job, size_t number,
		     size_t count, struct accel_error *error)
{
	if (!job->buffers[0])
		return accel_error_set(error, -EINVAL, "job %zu of %zu: it has no destination",
				       number, count);
	if (job->device != device)
		return accel_error_set(error, -EXDEV,
				       "job %zu of %zu: its buffers are of another device than %s",
				       number, count, device->info.name);
	return 0;
}

static int check_jobs(const struct accel_device *device, struct accel_job *const *jobs,
		      size_t num_jobs, struct accel_error *error)
{
	if (!num_jobs)
		return accel_error_set(error, -EINVAL, "submit: no job, expected at least 1");
	if (num_jobs > device->info.max_jobs)
		return accel_error_set(error, -E2BIG, "submit: %zu jobs, expected at most %u",
				       num_jobs, device->info.max_jobs);
	for (size_t i = 0; i < num_jobs; i++) {
		int ret = check_job(device, jobs[i], i, num_jobs, error);

		if (ret)
			return ret;
	}
	return 0;
}

static int check_in_fences(size_t num_in_fences, struct accel_error *error)
{
	if (num_in_fences > DRM_TESSERA_MAX_SYNCS)
		return accel_error_set(error, -E2BIG, "submit: %zu fences, expected at most %u",
				       num_in_fences, DRM_TESSERA_MAX_SYNCS);
	return 0;
}

/* A fence that waits for nothing yet. */
static int create_fence(const struct accel_submission *submission, struct accel_fence **result,
			struct accel_error *error)
{
	struct accel_device *device = submission->device;
	struct accel_fence *fence = fence_create(device, submission->jobs, submission->num_jobs);
	int ret;

	if (!fence)
		return accel_error_set(error, -ENOMEM, "submit: out of memory");
	ret = device->backend->init_fence(fence, error);
	if (ret) {
		fence_free(fence);
		return ret;
	}
	*result = fence;
	return 0;
}

static void free_submission(struct accel_submission *submission)
{
	for (size_t i = 0; i < submission->num_jobs; i++)
		accel_job_unref(submission->jobs[i]);
	accel_device_unref(submission->device);
	free(submission->jobs);
	free(submission);
}

static struct accel_submission *new_submission(struct accel_device *device,
					       struct accel_job *const *jobs, size_t num_jobs)
{
	struct accel_submission *submission = calloc(1, sizeof(*submission));

	if (!submission)
		return NULL;
	submission->jobs = calloc(num_jobs, sizeof(submission->jobs[0]));
	if (!submission->jobs) {
		free(submission);
		return NULL;
	}
	submission->device = accel_device_ref(device);
	submission->num_jobs = num_jobs;
	submission->queue = ACCEL_QUEUE_ANY;
	for (size_t i = 0; i < num_jobs; i++)
		submission->jobs[i] = accel_job_ref(jobs[i]);
	return submission;
}

int submission_create(struct accel_device *device, struct accel_job *const *jobs, size_t num_jobs,
		      struct accel_submission **result, struct accel_error *error)
{
	struct accel_submission *submission;
	int ret = check_jobs(device, jobs, num_jobs, error);

	*result = NULL;
	if (ret)
		return ret;
	submission = new_submission(device, jobs, num_jobs);
	if (!submission)
		return accel_error_set(error, -ENOMEM, "submit: out of memory");
	ret = create_fence(submission, &submission->fence, error);
	if (ret)
		goto err_free;
	ret = device->backend->prepare(submission, error);
	if (ret)
		goto err_unref_fence;
	*result = submission;
	return 0;

err_unref_fence:
	accel_fence_unref(submission->fence);
err_free:
	free_submission(submission);
	return ret;
}

int submission_set_queue(struct accel_submission *submission, uint32_t queue,
			 struct accel_error *error)
{
	const struct accel_device_info *info = &submission->device->info;

	if (queue != ACCEL_QUEUE_ANY && queue >= info->num_queues)
		return accel_error_set(error, -EINVAL,
				       "submit: queue %u, expected less than %u on %s", queue,
				       info->num_queues, info->name);
	submission->queue = queue;
	return 0;
}

/* 0, or -EBUSY while the last submit is under way, or a failure to find out. */
static int need_idle(struct accel_submission *submission, struct accel_error *error)
{
	struct accel_fence *fence = submission->fence;
	int ret = submission->is_pending ? fence->ops->wait(fence, 0, error) : 0;

	if (ret == -ETIME)
		return accel_error_set(error, -EBUSY,
				       "submit: what was submitted last is not complete");
	if (!ret)
		submission->is_pending = false;
	return ret;
}

/* The fence of the last submit stays as it is where somebody else has it, too. */
static void renew_fence(struct accel_submission *submission)
{
	if (submission->next_fence) {
		accel_fence_unref(submission->fence);
		submission->fence = submission->next_fence;
		submission->next_fence = NULL;
	}
	submission->fence->has_result = false;
	submission->is_submitted = false;
}

int submission_submit(struct accel_submission *submission, struct accel_fence *const *in_fences,
		      size_t num_in_fences, struct accel_error *error)
{
	int ret = check_in_fences(num_in_fences, error);

	if (!ret)
		ret = need_idle(submission, error);
	if (ret)
		return ret;
	renew_fence(submission);
	ret = submission->device->backend->submit(submission, in_fences, num_in_fences, error);
	submission->is_submitted = !ret;
	submission->is_pending = !ret;
	return ret;
}

static int need_submitted(const struct accel_submission *submission, struct accel_error *error)
{
	if (!submission->is_submitted)
		return accel_error_set(error, -EINVAL, "submission: nothing was submitted");
	return 0;
}

int submission_wait(struct accel_submission *submission, int64_t timeout_ns,
		    struct accel_error *error)
{
	struct accel_fence *fence = submission->fence;
	int ret = need_submitted(submission, error);

	if (ret)
		return ret;
	ret = fence->ops->wait(fence, device_deadline_ns(timeout_ns), error);
	if (ret)
		return ret;
	submission->is_pending = false;
	return fence_report(fence, error);
}

int submission_fence(struct accel_submission *submission, struct accel_fence **fence,
		     struct accel_error *error)
{
	int ret = need_submitted(submission, error);

	*fence = NULL;
	if (!ret && !submission->next_fence)
		ret = create_fence(submission, &submission->next_fence, error);
	if (!ret)
		*fence = accel_fence_ref(submission->fence);
	return ret;
}

struct accel_fence *submission_borrow_fence(const struct accel_submission *submission)
{
	return submission->fence;
}

void submission_destroy(struct accel_submission *submission)
{
	if (!submission)
		return;
	submission->device->backend->unprepare(submission);
	accel_fence_unref(submission->next_fence);
	accel_fence_unref(submission->fence);
	free_submission(submission);
}

ACCEL_API int accel_submit_to(struct accel_device *device, uint32_t queue,
			      struct accel_job *const *jobs, size_t num_jobs,
			      struct accel_fence *const *in_fences, size_t num_in_fences,
			      struct accel_fence **result, struct accel_error *error)
{
	struct accel_submission *submission;
	int ret = check_in_fences(num_in_fences, error);

	if (result)
		*result = NULL;
	if (!ret)
		ret = submission_create(device, jobs, num_jobs, &submission, error);
	if (ret)
		return ret;
	ret = submission_set_queue(submission, queue, error);
	if (!ret)
		ret = submission_submit(submission, in_fences, num_in_fences, error);
	/* there is no next submit, and so no need for submission_fence() */
	if (!ret && result)
		*result = accel_fence_ref(submission->fence);
	submission_destroy(submission);
	return ret;
}

ACCEL_API int accel_submit(struct accel_device *device, struct accel_job *const *jobs,
			   size_t num_jobs, struct accel_fence *const *in_fences,
			   size_t num_in_fences, struct accel_fence **fence,
			   struct accel_error *error)
{
	return accel_submit_to(device, ACCEL_QUEUE_ANY, jobs, num_jobs, in_fences, num_in_fences,
			       fence, error);
}
