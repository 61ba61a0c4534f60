// SPDX-License-Identifier: MIT
/*
 * Counters of jobs: whether they are kept, what they are on the CPU, and how they are asked for. On
 * a Tessera the device counts, and tessera.c fetches what it has counted.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "device/counters.h"
#include "engine/model.h"

/* What is counted goes to the caller as the driver and the engine have it. */
#define SAME_PLACE(member)								\
	_Static_assert(offsetof(struct accel_job_counters, member) ==			\
		       offsetof(struct drm_tessera_job_counters, member) &&		\
		       sizeof(((struct accel_job_counters *)0)->member) ==		\
		       sizeof(((struct drm_tessera_job_counters *)0)->member),		\
		       #member " is elsewhere in the driver's counters")
SAME_PLACE(points);
SAME_PLACE(windows_failed);
SAME_PLACE(memory);
SAME_PLACE(memory[0].cycles_written);
SAME_PLACE(noc_bytes);
SAME_PLACE(noc_hops);
SAME_PLACE(noc_cycles);
SAME_PLACE(noc_wait_cycles);
SAME_PLACE(cycles);
SAME_PLACE(energy_pj);
SAME_PLACE(uncounted);
_Static_assert(sizeof(struct accel_job_counters) == sizeof(struct drm_tessera_job_counters),
	       "the driver's counters have another size");

uint32_t counters_clock_khz(void)
{
	return engine_model_default.clock_khz;
}

static struct engine_place place_of(const struct accel_buffer *buffer)
{
	if (!buffer || buffer->pe == ACCEL_PE_NONE)
		return (struct engine_place){ DRM_TESSERA_MEMORY_SYSTEM, 0 };
	/* The model asks which PE's it is, and not where in its memory */
	return (struct engine_place){ DRM_TESSERA_MEMORY_SRAM,
				      buffer->pe * buffer->device->info.sram_size };
}

int counters_of_job(const struct accel_job *job, struct accel_job_counters *counters)
{
	const struct accel_device_info *info = &job->device->info;
	struct engine_traffic traffic[ENGINE_MAX_TRAFFICS] = { 0 };
	struct drm_tessera_job_counters counted;
	struct engine_job engine_job;
	struct engine_placed_job placed = { .job = &engine_job, .unit_bytes = info->sram_size };
	uint32_t steps = ENGINE_COUNT_STEPS;
	int ret = job_to_engine(job, true, &engine_job, NULL);

	if (ret)
		return ret;
	for (uint32_t i = 0; i < job->num_operands; i++) {
		placed.operands[i] = place_of(job->buffers[i]);
		placed.indices[i] = place_of(job->index_buffers[i]);
	}
	engine_model_job(&engine_model_default, &placed, &steps, &counted, traffic,
			 1 + info->num_queues);
	memcpy(counters, &counted, sizeof(counted));
	return 0;
}

void counters_add(struct accel_job_counters *sum, const struct accel_job_counters *counters)
{
	const uint64_t *from = (const uint64_t *)counters;
	uint64_t *to = (uint64_t *)sum;

	for (size_t n = 0; n < sizeof(*sum) / sizeof(*to); n++)
		to[n] += from[n];
}

ACCEL_API int accel_job_counters(const struct accel_job *job, struct accel_job_counters *counters,
				 struct accel_error *error)
{
	int ret = accel_job_check(job, error);

	return ret ? ret : counters_of_job(job, counters);
}

ACCEL_API int accel_device_set_counting(struct accel_device *device, bool is_counting,
					struct accel_error *error)
{
	if (is_counting && !device->info.clock_khz)
		return accel_error_set(error, -ENOTSUP, "device %s: it has no counters",
				       device->info.name);
	/* relaxed: it stands for nothing but itself */
	atomic_store_explicit(&device->is_counting, is_counting, memory_order_relaxed);
	return 0;
}
