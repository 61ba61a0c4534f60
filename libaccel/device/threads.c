// SPDX-License-Identifier: MIT
/*
 * When threads are made for the CPU device, and how many. What they do is the engine's (pool.c).
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <sched.h>

#include "device/device.h"

#define MAX_THREADS	1024

static uint32_t usable_cpus(void)
{
	cpu_set_t cpus;

	/* more CPUs than fit the set: this machine has enough of them */
	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return MAX_THREADS;
	return (uint32_t)CPU_COUNT(&cpus);
}

void threads_init(struct threads *threads)
{
	pthread_rwlock_init(&threads->lock, NULL);
	threads->count = usable_cpus();
	threads->pool = NULL;
	threads->is_made = false;
}

void threads_destroy(struct threads *threads)
{
	engine_pool_destroy(threads->pool);
	pthread_rwlock_destroy(&threads->lock);
}

/* Makes the pool. Without one, which is no error, plans run in their callers alone. */
static void make_pool(struct threads *threads)
{
	pthread_rwlock_wrlock(&threads->lock);
	if (!threads->is_made && threads->count > 1 &&
	    engine_pool_create(threads->count, &threads->pool))
		threads->pool = NULL;
	threads->is_made = true;
	pthread_rwlock_unlock(&threads->lock);
}

int threads_run(struct threads *threads, const struct engine_plan *plan,
		struct engine_fault *fault)
{
	bool is_made;
	int ret;

	if (!engine_plan_has_parts(plan))
		return engine_plan_run(plan, NULL, fault);
	pthread_rwlock_rdlock(&threads->lock);
	is_made = threads->is_made;
	pthread_rwlock_unlock(&threads->lock);
	if (!is_made)
		make_pool(threads);
	pthread_rwlock_rdlock(&threads->lock);
	ret = engine_plan_run_parallel(plan, threads->pool, NULL, fault);
	pthread_rwlock_unlock(&threads->lock);
	return ret;
}

ACCEL_API int accel_device_set_threads(struct accel_device *device, uint32_t num_threads,
				       struct accel_error *error)
{
	struct threads *threads = &device->threads;

	if (device->backend != &cpu_backend)
		return accel_error_set(error, -ENOTSUP,
				       "device: %s has threads of its own, only those of the CPU "
				       "can be set", device->info.name);
	if (!num_threads || num_threads > MAX_THREADS)
		return accel_error_set(error, -EINVAL, "device: %u threads, expected 1 to %u",
				       num_threads, MAX_THREADS);
	pthread_rwlock_wrlock(&threads->lock);
	engine_pool_destroy(threads->pool);
	threads->pool = NULL;
	threads->is_made = false;
	threads->count = num_threads;
	pthread_rwlock_unlock(&threads->lock);
	return 0;
}
