/* SPDX-License-Identifier: MIT */
/*
 * Prepared submissions: jobs that are checked once and run as often as wanted, without an
 * allocation each time. accel_submit() is one that runs once. Of one device, like its jobs; a
 * submission is used by one thread at a time.
 */
#ifndef DEVICE_SUBMISSION_H
#define DEVICE_SUBMISSION_H

#include <accel.h>

struct accel_submission;

/*
 * Checks the jobs, from 1 to ACCEL_MAX_JOBS, and allocates all that running them takes. The jobs
 * are kept by reference, and their buffers with them; they must not be changed from now on.
 * Errors: those of accel_submit().
 */
int submission_create(struct accel_device *device, struct accel_job *const *jobs, size_t num_jobs,
		      struct accel_submission **submission, struct accel_error *error);

/*
 * The queue that the jobs run on from now on: that of a PE, or ACCEL_QUEUE_ANY, as at first.
 * -EINVAL.
 */
int submission_set_queue(struct accel_submission *submission, uint32_t queue,
			 struct accel_error *error);

/*
 * Runs the jobs after all of in_fences, as accel_submit() does, and allocates nothing unless the
 * driver refuses one, which it has to find words for. Errors: those of accel_submit(), and -EBUSY
 * while what was submitted last is not complete.
 */
int submission_submit(struct accel_submission *submission, struct accel_fence *const *in_fences,
		      size_t num_in_fences, struct accel_error *error);

/*
 * Waits for what was submitted last, as accel_fence_wait() does, and allocates nothing. -EINVAL if
 * nothing was, or the last submit failed.
 */
int submission_wait(struct accel_submission *submission, int64_t timeout_ns,
		    struct accel_error *error);

/*
 * The fence of what was submitted last, with a reference for the caller; it stays that of this
 * submit, whatever is submitted later. Allocates the fence of the next submit. Errors: -EINVAL as
 * above; -ENOMEM; those of making a syncobj.
 */
int submission_fence(struct accel_submission *submission, struct accel_fence **fence,
		     struct accel_error *error);

/* The same, borrowed until the next submit: for submissions that wait for it. */
struct accel_fence *submission_borrow_fence(const struct accel_submission *submission);

/* NULL is ignored. What is under way goes on, and its fence stays good. */
void submission_destroy(struct accel_submission *submission);

#endif /* DEVICE_SUBMISSION_H */
