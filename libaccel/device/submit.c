// SPDX-License-Identifier: MIT
/*
 * Submissions: what is common to all backends, before the backend takes over.
 */
#include <errno.h>
#include <stdlib.h>

#include "device/device.h"
#include "device/fence.h"

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

static int check_submission(const struct accel_device *device, struct accel_job *const *jobs,
			    size_t num_jobs, size_t num_in_fences, struct accel_error *error)
{
	if (!num_jobs)
		return accel_error_set(error, -EINVAL, "submit: no job, expected at least 1");
	if (num_jobs > device->info.max_jobs)
		return accel_error_set(error, -E2BIG, "submit: %zu jobs, expected at most %u",
				       num_jobs, device->info.max_jobs);
	if (num_in_fences > DRM_TESSERA_MAX_SYNCS)
		return accel_error_set(error, -E2BIG, "submit: %zu fences, expected at most %u",
				       num_in_fences, DRM_TESSERA_MAX_SYNCS);
	for (size_t i = 0; i < num_jobs; i++) {
		int ret = check_job(device, jobs[i], i, num_jobs, error);

		if (ret)
			return ret;
	}
	return 0;
}

ACCEL_API int accel_submit(struct accel_device *device, struct accel_job *const *jobs,
			   size_t num_jobs, struct accel_fence *const *in_fences,
			   size_t num_in_fences, struct accel_fence **result,
			   struct accel_error *error)
{
	struct accel_fence *fence;
	int ret;

	if (result)
		*result = NULL;
	ret = check_submission(device, jobs, num_jobs, num_in_fences, error);
	if (ret)
		return ret;
	fence = fence_create(device, jobs, num_jobs);
	if (!fence)
		return accel_error_set(error, -ENOMEM, "submit: out of memory");
	ret = device->backend->submit(device, jobs, num_jobs, in_fences, num_in_fences, fence,
				      error);
	if (ret)
		fence_free(fence);
	else if (result)
		*result = fence;
	else
		accel_fence_unref(fence);
	return ret;
}
