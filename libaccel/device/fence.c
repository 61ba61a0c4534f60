// SPDX-License-Identifier: MIT
/*
 * Fences: counted, waited for, and what became of their jobs put into words. How one waits and
 * where a result comes from is the backend's; imported sync_files are handled here.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "device/device.h"
#include "device/fence.h"

struct accel_fence *fence_create(struct accel_device *device, struct accel_job *const *jobs,
				 size_t num_jobs)
{
	struct accel_fence *fence = calloc(1, sizeof(*fence));
	bool is_counted = false;

	if (!fence)
		return NULL;
	atomic_init(&fence->refs, 1);
	pthread_mutex_init(&fence->lock, NULL);
	fence->fd = -1;
	fence->num_jobs = (uint32_t)num_jobs;
	fence->device = device ? accel_device_ref(device) : NULL;
	if (!num_jobs)
		return fence;
	fence->jobs = calloc(num_jobs, sizeof(fence->jobs[0]));
	fence->job_results = calloc(num_jobs, sizeof(fence->job_results[0]));
	if (device && atomic_load_explicit(&device->is_counting, memory_order_relaxed)) {
		fence->counters = calloc(num_jobs, sizeof(fence->counters[0]));
		is_counted = true;
	}
	if (!fence->jobs || !fence->job_results || (is_counted && !fence->counters)) {
		fence_free(fence);
		return NULL;
	}
	for (size_t j = 0; j < num_jobs; j++) {
		for (uint32_t i = 0; i < jobs[j]->num_operands; i++) {
			struct accel_buffer *index_buffer = jobs[j]->index_buffers[i];

			fence->jobs[j].sizes[i] = jobs[j]->buffers[i]->size;
			fence->jobs[j].index_sizes[i] = index_buffer ? index_buffer->size : 0;
			fence->jobs[j].index_limits[i] = jobs[j]->operands[i].index_limit;
		}
	}
	return fence;
}

void fence_free(struct accel_fence *fence)
{
	accel_device_unref(fence->device);
	pthread_mutex_destroy(&fence->lock);
	free(fence->jobs);
	free(fence->job_results);
	free(fence->counters);
	free(fence);
}

ACCEL_API struct accel_fence *accel_fence_ref(struct accel_fence *fence)
{
	atomic_fetch_add_explicit(&fence->refs, 1, memory_order_relaxed);
	return fence;
}

ACCEL_API void accel_fence_unref(struct accel_fence *fence)
{
	/* acq_rel: whoever frees sees what all others did to the object before they let go */
	if (!fence || atomic_fetch_sub_explicit(&fence->refs, 1, memory_order_acq_rel) != 1)
		return;
	fence->ops->release(fence);
	fence_free(fence);
}

int fence_status(enum accel_cause cause)
{
	switch (cause) {
	case ACCEL_CAUSE_NONE:
		return 0;
	case ACCEL_CAUSE_TIMEOUT:
		return -ETIMEDOUT;
	case ACCEL_CAUSE_CANCELED:
		return -ECANCELED;
	default:
		return -EIO;
	}
}

/* "source 1 reaches byte 4100 of a buffer of 4096 bytes" */
static void describe_failure(const struct fence_job *job, const struct accel_job_result *result,
			     char text[160])
{
	uint32_t i = result->operand < DRM_TESSERA_MAX_OPERANDS ? result->operand : 0;
	char name[24] = "the destination";

	if (result->operand)
		snprintf(name, sizeof(name), "source %u", result->operand - 1);
	switch (result->cause) {
	case ACCEL_CAUSE_DESCRIPTOR:
		snprintf(text, 160, "the device found it malformed or could not read it");
		break;
	case ACCEL_CAUSE_BUFFER:
		snprintf(text, 160, "%s names a buffer that the device does not know", name);
		break;
	case ACCEL_CAUSE_PERMISSION:
		snprintf(text, 160, "%s is a buffer that is read-only", name);
		break;
	case ACCEL_CAUSE_BOUNDS:
		snprintf(text, 160, "%s reaches byte %" PRId64 " of a buffer of %" PRIu64 " bytes",
			 name, result->offset, job->sizes[i]);
		break;
	case ACCEL_CAUSE_INDEX_BOUNDS:
		snprintf(text, 160, "the indices of %s reach byte %" PRId64
			 " of a buffer of %" PRIu64 " bytes", name, result->offset,
			 job->index_sizes[i]);
		break;
	case ACCEL_CAUSE_INDEX_LIMIT:
		snprintf(text, 160, "an index of %s is %" PRId64 ", expected 0 or more and less "
			 "than %" PRIu64, name, result->offset, job->index_limits[i]);
		break;
	case ACCEL_CAUSE_TRANSLATION:
		snprintf(text, 160, "the page at byte %" PRId64 " of the buffer of %s is not in "
			 "memory", result->offset, name);
		break;
	case ACCEL_CAUSE_CANCELED:
		snprintf(text, 160, "it was stopped by a reset or by the removal of the device");
		break;
	case ACCEL_CAUSE_TIMEOUT:
		snprintf(text, 160, "it made no progress and was stopped");
		break;
	case ACCEL_CAUSE_MEMORY:
		snprintf(text, 160, "the device had no memory of its own left to run it with");
		break;
	default:
		snprintf(text, 160, "it failed for a cause of number %d, unknown to this library",
			 (int)result->cause);
		break;
	}
}

static int get_result(struct accel_fence *fence, struct accel_error *error)
{
	int ret = 0;

	pthread_mutex_lock(&fence->lock);
	if (!fence->has_result) {
		ret = fence->ops->fetch_result(fence, error);
		fence->has_result = !ret;
	}
	pthread_mutex_unlock(&fence->lock);
	return ret;
}

/* 0, or the error of the first job that failed, in words. */
static int report_result(const struct accel_fence *fence, struct accel_error *error)
{
	uint32_t first = fence->result.first_failed;
	char text[160];

	if (first >= fence->num_jobs)
		return 0;
	describe_failure(&fence->jobs[first], &fence->job_results[first], text);
	return accel_error_set(error, fence_status(fence->job_results[first].cause),
			       "job %u of %u: %s", first, fence->num_jobs, text);
}

/* The same where only the fence's own error is known. */
static int report_status(struct accel_fence *fence, struct accel_error *error)
{
	int ret = fence->ops->status(fence);

	if (ret < 0)
		accel_error_set(error, ret, "fence: the submission failed: %s", strerror(-ret));
	return ret;
}

int fence_report(struct accel_fence *fence, struct accel_error *error)
{
	int ret = get_result(fence, error);

	if (ret == -ENODATA)
		return report_status(fence, error);
	return ret ? ret : report_result(fence, error);
}

ACCEL_API int accel_fence_wait(struct accel_fence *fence, int64_t timeout_ns,
			       struct accel_error *error)
{
	int ret = fence->ops->wait(fence, device_deadline_ns(timeout_ns), error);

	return ret ? ret : fence_report(fence, error);
}

ACCEL_API int accel_fence_poll(struct accel_fence *fence, struct accel_error *error)
{
	struct accel_error ignored;
	int ret = fence->ops->wait(fence, 0, error ? error : &ignored);

	return ret == -ETIME ? 0 : ret ? ret : 1;
}

/* Complete, with its result fetched; or an error. */
static int need_result(struct accel_fence *fence, struct accel_error *error)
{
	int ret = fence->ops->wait(fence, 0, error);

	if (ret == -ETIME)
		return accel_error_set(error, -EBUSY, "fence: the submission is not complete");
	return ret ? ret : get_result(fence, error);
}

/* The same, and it has that job. */
static int need_job_result(struct accel_fence *fence, uint32_t job, struct accel_error *error)
{
	int ret = need_result(fence, error);

	if (!ret && job >= fence->num_jobs)
		return accel_error_set(error, -EINVAL, "fence: job %u, expected less than %u", job,
				       fence->num_jobs);
	return ret;
}

ACCEL_API int accel_fence_result(struct accel_fence *fence, struct accel_fence_result *result,
				 struct accel_error *error)
{
	int ret = need_result(fence, error);

	if (!ret)
		*result = fence->result;
	return ret;
}

ACCEL_API int accel_fence_job_result(struct accel_fence *fence, uint32_t job,
				     struct accel_job_result *result, struct accel_error *error)
{
	int ret = need_job_result(fence, job, error);

	if (!ret)
		*result = fence->job_results[job];
	return ret;
}

ACCEL_API int accel_fence_job_counters(struct accel_fence *fence, uint32_t job,
				       struct accel_job_counters *counters,
				       struct accel_error *error)
{
	int ret = need_job_result(fence, job, error);

	if (ret)
		return ret;
	if (!fence->counters)
		return accel_error_set(error, -ENODATA, "fence: its jobs were not counted");
	*counters = fence->counters[job];
	return 0;
}

ACCEL_API int accel_fence_export(struct accel_fence *fence, int *fd, struct accel_error *error)
{
	*fd = -1;
	return fence->ops->export(fence, fd, error);
}

/* Imported fences: a sync_file of anybody's. */

static int sync_file_wait(struct accel_fence *fence, int64_t deadline_ns,
			  struct accel_error *error)
{
	struct pollfd pollfd = { .fd = fence->fd, .events = POLLIN };

	for (;;) {
		int64_t left_ns = deadline_ns - (deadline_ns ? device_now_ns() : 0);
		struct timespec left = { .tv_sec = left_ns > 0 ? left_ns / 1000000000 : 0,
					 .tv_nsec = left_ns > 0 ? left_ns % 1000000000 : 0 };
		int ret = ppoll(&pollfd, 1, deadline_ns == INT64_MAX ? NULL : &left, NULL);

		if (ret > 0)
			return 0;
		if (!ret)
			return accel_error_set(error, -ETIME, "fence: it is not complete");
		if (errno != EINTR && errno != EAGAIN)
			return accel_error_set(error, -errno, "fence: poll: %s", strerror(errno));
	}
}

static int sync_file_no_result(struct accel_fence *fence, struct accel_error *error)
{
	(void)fence;
	return accel_error_set(error, -ENODATA, "fence: it was imported and has no result");
}

int fence_sync_file_status(int fd)
{
	struct sync_file_info info = { 0 };

	if (ioctl(fd, SYNC_IOC_FILE_INFO, &info))
		return -errno;
	return info.status < 0 ? info.status : 0;
}

static int sync_file_status(struct accel_fence *fence)
{
	return fence_sync_file_status(fence->fd);
}

static int duplicate(int fd, int *copy, struct accel_error *error)
{
	*copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (*copy < 0)
		return accel_error_set(error, -errno, "fence: file descriptor %d: %s", fd,
				       strerror(errno));
	return 0;
}

static int sync_file_export(struct accel_fence *fence, int *fd, struct accel_error *error)
{
	return duplicate(fence->fd, fd, error);
}

static void sync_file_release(struct accel_fence *fence)
{
	close(fence->fd);
}

static const struct fence_ops sync_file_fence_ops = {
	.wait = sync_file_wait,
	.fetch_result = sync_file_no_result,
	.status = sync_file_status,
	.export = sync_file_export,
	.release = sync_file_release,
};

ACCEL_API int accel_fence_import(int fd, struct accel_fence **result, struct accel_error *error)
{
	struct sync_file_info info = { 0 };
	struct accel_fence *fence;
	int copy, ret;

	*result = NULL;
	ret = duplicate(fd, &copy, error);
	if (ret)
		return ret;
	if (ioctl(copy, SYNC_IOC_FILE_INFO, &info)) {
		ret = accel_error_set(error, -EINVAL, "fence: file descriptor %d is no sync_file",
				      fd);
		goto err_close;
	}
	fence = fence_create(NULL, NULL, 0);
	if (!fence) {
		ret = accel_error_set(error, -ENOMEM, "fence: out of memory");
		goto err_close;
	}
	fence->ops = &sync_file_fence_ops;
	fence->fd = copy;
	*result = fence;
	return 0;

err_close:
	close(copy);
	return ret;
}
