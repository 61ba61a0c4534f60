/* SPDX-License-Identifier: MIT */
/*
 * What jobs did to memory, for a person and for a program. Documentation/accel.rst names the keys.
 */
#ifndef TOOLS_COUNTERS_H
#define TOOLS_COUNTERS_H

#include <accel.h>

#include "json.h"

/* clock_khz is that of the device that has counted. */
double counters_us(uint64_t cycles, uint32_t clock_khz);
void counters_print(const struct accel_job_counters *counters, uint32_t clock_khz);
void counters_write(struct json *json, const char *key, const struct accel_job_counters *counters,
		    uint32_t clock_khz);

#endif /* TOOLS_COUNTERS_H */
