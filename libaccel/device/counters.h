/* SPDX-License-Identifier: MIT */
/*
 * Counters of jobs that the CPU has run.
 */
#ifndef DEVICE_COUNTERS_H
#define DEVICE_COUNTERS_H

#include "device/device.h"

/* Cycles of its model in a millisecond. */
uint32_t counters_clock_khz(void);

/* Of a job that has succeeded, by the default model; PEs have no network between them. */
int counters_of_job(const struct accel_job *job, const struct accel_device_info *info,
		    struct accel_job_counters *counters);

#endif /* DEVICE_COUNTERS_H */
