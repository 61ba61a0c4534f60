/* SPDX-License-Identifier: MIT */
/*
 * Counters of jobs on the CPU, and sums of any.
 */
#ifndef DEVICE_COUNTERS_H
#define DEVICE_COUNTERS_H

#include "device/device.h"

/* Cycles of its model in a millisecond. */
uint32_t counters_clock_khz(void);

/* Of a job that was checked, by the default model; PEs have no network between them. */
int counters_of_job(const struct accel_job *job, struct accel_job_counters *counters);

/* Adds each to that of the sum, mod 2^64. */
void counters_add(struct accel_job_counters *sum, const struct accel_job_counters *counters);

#endif /* DEVICE_COUNTERS_H */
