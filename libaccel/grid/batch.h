/* SPDX-License-Identifier: MIT */
/*
 * Batches: prepared submissions to several queues that are one thing to who uses them, submitted
 * one after the other and waited for together. Which of them waits for which is the caller's.
 */
#ifndef GRID_BATCH_H
#define GRID_BATCH_H

#include <stddef.h>

#include <accel.h>

struct accel_submission;

struct batch_entry {
	uint32_t queue;
	struct accel_submission *submission;
};

struct batch {
	const char *name;		/* of what it is, for messages */
	size_t count;
	struct batch_entry *entries;	/* in the order in which they are submitted */
	size_t num_submitted;		/* of them, by the last submit */
};

/* Appends: -ENOMEM, and the errors of submission_create() and submission_set_queue(). */
int batch_add(struct batch *batch, struct accel_device *device, uint32_t queue,
	      struct accel_job *const *jobs, size_t num_jobs, struct accel_error *error);

void batch_release(struct batch *batch);

/* Before entries are submitted: -EBUSY while those of the last submit are under way. */
int batch_begin(struct batch *batch, struct accel_error *error);

/* Submits the next entry. */
int batch_submit_next(struct batch *batch, struct accel_fence *const *in_fences,
		      size_t num_in_fences, struct accel_error *error);

/*
 * Waits for all that were submitted. Returns the first failure, or -ETIME. -EINVAL if nothing was,
 * though there are entries.
 */
int batch_wait(struct batch *batch, int64_t timeout_ns, struct accel_error *error);

#endif /* GRID_BATCH_H */
