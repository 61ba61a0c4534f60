/* SPDX-License-Identifier: MIT */
/*
 * How fences are made and what is common to them.
 */
#ifndef DEVICE_FENCE_H
#define DEVICE_FENCE_H

#include "device/device.h"

/* A fence of one reference, with no ops yet, for jobs that have destinations; NULL: no memory. */
struct accel_fence *fence_create(struct accel_device *device, struct accel_job *const *jobs,
				 size_t num_jobs);

/* Frees a fence without asking its ops to release anything. */
void fence_free(struct accel_fence *fence);

/* How the jobs of a complete fence ended: 0 or an error, as accel_fence_wait() returns it. */
int fence_report(struct accel_fence *fence, struct accel_error *error);

/* 0 or the error that stands for the cause. */
int fence_status(enum accel_cause cause);

/* 0 or the error with which the fence of a sync_file has signalled. */
int fence_sync_file_status(int fd);

#endif /* DEVICE_FENCE_H */
