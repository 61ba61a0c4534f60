// SPDX-License-Identifier: MIT
/*
 * Batches: kept, submitted and waited for.
 */
#include <errno.h>
#include <stdlib.h>

#include "device/device.h"
#include "device/submission.h"
#include "error.h"
#include "grid/batch.h"

int batch_add(struct batch *batch, struct accel_device *device, uint32_t queue,
	      struct accel_job *const *jobs, size_t num_jobs, struct accel_error *error)
{
	struct batch_entry *entries = batch->entries, *entry;
	size_t count = batch->count;
	int ret;

	if (!(count & (count - 1)))
		entries = reallocarray(entries, count ? 2 * count : 1, sizeof(*entries));
	if (!entries)
		return accel_error_set(error, -ENOMEM, "%s: out of memory", batch->name);
	batch->entries = entries;
	entry = &entries[count];
	ret = submission_create(device, jobs, num_jobs, &entry->submission, error);
	if (ret)
		return ret;
	batch->count++;
	entry->queue = queue;
	return submission_set_queue(entry->submission, queue, error);
}

void batch_release(struct batch *batch)
{
	for (size_t k = 0; k < batch->count; k++)
		submission_destroy(batch->entries[k].submission);
	free(batch->entries);
}

int batch_begin(struct batch *batch, struct accel_error *error)
{
	for (size_t k = 0; k < batch->num_submitted; k++) {
		int ret = submission_wait(batch->entries[k].submission, 0, NULL);

		if (ret == -ETIME)
			return accel_error_set(error, -EBUSY, "%s: what was submitted last is not "
					       "complete", batch->name);
	}
	batch->num_submitted = 0;
	return 0;
}

int batch_submit_next(struct batch *batch, struct accel_fence *const *in_fences,
		      size_t num_in_fences, struct accel_error *error)
{
	struct batch_entry *entry = &batch->entries[batch->num_submitted];
	int ret = submission_submit(entry->submission, in_fences, num_in_fences, error);

	batch->num_submitted += !ret;
	return ret;
}

int batch_wait(struct batch *batch, int64_t timeout_ns, struct accel_error *error)
{
	int64_t deadline_ns = device_deadline_ns(timeout_ns);
	int ret = 0;

	if (!batch->num_submitted && batch->count)
		return accel_error_set(error, -EINVAL, "%s: nothing was submitted", batch->name);
	for (size_t k = 0; k < batch->num_submitted; k++) {
		int64_t left_ns = timeout_ns > 0 ? deadline_ns - device_now_ns() : timeout_ns;
		bool is_late = timeout_ns > 0 && left_ns < 0;
		int failure = submission_wait(batch->entries[k].submission, is_late ? 0 : left_ns,
					      ret ? NULL : error);

		if (failure == -ETIME)
			return accel_error_set(error, -ETIME, "%s: the jobs of queue %u are not "
					       "complete", batch->name, batch->entries[k].queue);
		if (!ret)
			ret = failure;
	}
	return ret;
}
