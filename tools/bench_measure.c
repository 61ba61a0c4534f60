// SPDX-License-Identifier: MIT
/*
 * The clock of accel bench: contestants take turns, round after round, so that what else the
 * machine does meets all of them alike. Also memcpy, the first of them, with threads.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "error.h"

/* A turn is to last at least this long, for the clock and a wake-up to be small beside it. */
#define TURN_NS		4000000
#define LONG_TURN_NS	(10 * TURN_NS)
#define MAX_REPETITIONS	10000

#define CHUNK_BYTES	4096

uint64_t bench_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int bench_pin(uint32_t num_threads, struct accel_error *error)
{
	uint32_t num_cpus = 0;
	cpu_set_t allowed, chosen;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return accel_error_set(error, -errno, "CPUs of this process: %s", strerror(errno));
	CPU_ZERO(&chosen);
	for (int cpu = 0; cpu < CPU_SETSIZE && num_cpus < num_threads; cpu++) {
		if (CPU_ISSET(cpu, &allowed)) {
			CPU_SET(cpu, &chosen);
			num_cpus++;
		}
	}
	if (num_cpus < num_threads)
		return accel_error_set(error, -EINVAL, "--threads %u, expected at most %u: this "
				       "process may run on no more CPUs", num_threads, num_cpus);
	if (sched_setaffinity(0, sizeof(chosen), &chosen))
		return accel_error_set(error, -errno, "CPUs of this process: %s", strerror(errno));
	return 0;
}

/* Statistics ------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

struct bench_statistics bench_statistics(const double *values, uint32_t count)
{
	double sorted[BENCH_MAX_ROUNDS];
	struct bench_statistics statistics;

	memcpy(sorted, values, count * sizeof(*values));
	qsort(sorted, count, sizeof(*sorted), compare);
	statistics.minimum = sorted[0];
	statistics.maximum = sorted[count - 1];
	statistics.median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
	return statistics;
}

/* Rounds ----------------------------------------------------------------------------------- */

/*
 * So many that a turn is long enough. The first time may have pages to find: it only counts where
 * the turn will be long anyway.
 */
static int choose_repetitions(struct bench_contestant *contestant, struct accel_error *error)
{
	uint64_t taken;
	int ret = contestant->run(contestant->context, 1, &taken, error);

	if (!ret && taken < LONG_TURN_NS)
		ret = contestant->run(contestant->context, 1, &taken, error);
	if (ret)
		return ret;
	taken += !taken;
	contestant->repetitions = taken < TURN_NS ? (uint32_t)(TURN_NS / taken) + 1 : 1;
	if (contestant->repetitions > MAX_REPETITIONS)
		contestant->repetitions = MAX_REPETITIONS;
	return 0;
}

/*
 * A turn that does not count comes first. What is repeated is to find its data in the caches, and
 * where others use the last one, too, it takes several times until most of it is there. What has
 * waited for others finds its pages in no TLB, and where a hypervisor shadows page tables, in none
 * of those either.
 */
static int take_turn(struct bench_contestant *contestant, uint32_t round,
		     struct accel_error *error)
{
	uint32_t times = contestant->repetitions;
	uint64_t taken = 0;
	int ret = 0;

	if (times > 1 || !contestant->touches_memory)
		ret = contestant->run(contestant->context, times, &taken, error);
	if (times < contestant->least_repetitions)
		times = contestant->least_repetitions;
	if (!ret)
		ret = contestant->run(contestant->context, times, &taken, error);
	contestant->samples[round] = (double)(taken + !taken) / times;
	return ret;
}

int bench_measure(struct bench_contestant *const *contestants, uint32_t count, uint32_t rounds,
		  struct accel_error *error)
{
	int ret = 0;

	for (uint32_t k = 0; k < count && !ret; k++)
		ret = choose_repetitions(contestants[k], error);
	for (uint32_t round = 0; round < rounds && !ret; round++)
		for (uint32_t k = 0; k < count && !ret; k++)
			ret = take_turn(contestants[k], round, error);
	return ret;
}

/* The job ---------------------------------------------------------------------------------- */

int bench_run_job(void *context, uint32_t repetitions, uint64_t *nanoseconds,
		  struct accel_error *error)
{
	uint64_t start = bench_now();
	int ret = 0;

	for (uint32_t k = 0; k < repetitions && !ret; k++)
		ret = bench_setup_run(context, error);
	*nanoseconds = bench_now() - start;
	return ret;
}

/* Waits for a submission, if there is one, and lets go of it. */
static int finish(struct accel_fence **fence, struct accel_error *error)
{
	int ret = *fence ? accel_fence_wait(*fence, -1, error) : 0;

	accel_fence_unref(*fence);
	*fence = NULL;
	return ret;
}

int bench_run_stream(void *context, uint32_t repetitions, uint64_t *nanoseconds,
		     struct accel_error *error)
{
	struct accel_fence *under_way[BENCH_UNDER_WAY] = { NULL };
	struct bench_setup *setup = context;
	uint64_t start = bench_now();
	int ret = 0, later;

	for (uint32_t k = 0; k < repetitions && !ret; k++) {
		struct accel_fence **fence = &under_way[k % BENCH_UNDER_WAY];

		ret = finish(fence, error);
		if (!ret)
			ret = accel_submit(setup->device, &setup->job, 1, NULL, 0, fence, error);
	}
	for (uint32_t k = 0; k < BENCH_UNDER_WAY; k++) {
		later = finish(&under_way[k], ret ? NULL : error);
		ret = ret ? ret : later;
	}
	*nanoseconds = bench_now() - start;
	return ret;
}

/* memcpy ----------------------------------------------------------------------------------- */

struct copier {
	struct bench_copiers *copiers;
	pthread_t thread;
	uint32_t number;
};

/*
 * The calling thread is number 0. What is to be done is written before a barrier and read behind
 * it, by all: the barriers order it.
 */
struct bench_copiers {
	uint32_t num_threads;	/* this one, and those that were started */
	pthread_mutex_t gate;	/* held until all threads are there or one cannot be had */
	pthread_barrier_t begin;
	pthread_barrier_t end;
	char *destination;
	const char *source;
	uint64_t bytes;
	bool is_over;
	struct copier copiers[];
};

/* Its share, in whole chunks but for the last one. */
static void copy_share(const struct bench_copiers *copiers, uint32_t number)
{
	uint64_t share = copiers->bytes / copiers->num_threads / CHUNK_BYTES * CHUNK_BYTES;
	uint64_t start = share * number;
	uint64_t end = number + 1 < copiers->num_threads ? start + share : copiers->bytes;

	memcpy(copiers->destination + start, copiers->source + start, end - start);
	/* the copy is wanted, although nobody here reads it */
	__asm__ volatile("" : : "r"(copiers->destination) : "memory");
}

static bool passes_gate(struct bench_copiers *copiers)
{
	bool is_over;

	pthread_mutex_lock(&copiers->gate);
	is_over = copiers->is_over;
	pthread_mutex_unlock(&copiers->gate);
	return !is_over;
}

static void *copier_main(void *argument)
{
	struct copier *copier = argument;
	struct bench_copiers *copiers = copier->copiers;

	if (!passes_gate(copiers))
		return NULL;
	for (;;) {
		pthread_barrier_wait(&copiers->begin);
		if (copiers->is_over)
			return NULL;
		copy_share(copiers, copier->number);
		pthread_barrier_wait(&copiers->end);
	}
}

static int start_copiers(struct bench_copiers *copiers, uint32_t num_threads)
{
	int ret = 0;

	for (copiers->num_threads = 1; copiers->num_threads < num_threads;
	     copiers->num_threads++) {
		struct copier *copier = &copiers->copiers[copiers->num_threads];

		copier->copiers = copiers;
		copier->number = copiers->num_threads;
		ret = pthread_create(&copier->thread, NULL, copier_main, copier);
		if (ret)
			break;
	}
	return ret;
}

static void free_copiers(struct bench_copiers *copiers)
{
	for (uint32_t k = 1; k < copiers->num_threads; k++)
		pthread_join(copiers->copiers[k].thread, NULL);
	pthread_barrier_destroy(&copiers->end);
	pthread_barrier_destroy(&copiers->begin);
	pthread_mutex_destroy(&copiers->gate);
	free(copiers);
}

int bench_copiers_create(uint32_t num_threads, struct bench_copiers **result,
			 struct accel_error *error)
{
	struct bench_copiers *copiers =
		calloc(1, sizeof(*copiers) + num_threads * sizeof(copiers->copiers[0]));
	int ret;

	*result = NULL;
	if (!copiers)
		return accel_error_set(error, -ENOMEM, "memcpy: out of memory");
	pthread_mutex_init(&copiers->gate, NULL);
	pthread_barrier_init(&copiers->begin, NULL, num_threads);
	pthread_barrier_init(&copiers->end, NULL, num_threads);
	pthread_mutex_lock(&copiers->gate);
	ret = start_copiers(copiers, num_threads);
	copiers->is_over = ret;
	pthread_mutex_unlock(&copiers->gate);
	if (!ret) {
		*result = copiers;
		return 0;
	}
	accel_error_set(error, -ret, "memcpy: thread %u of %u: %s", copiers->num_threads,
			num_threads, strerror(ret));
	free_copiers(copiers);
	return -ret;
}

void bench_copiers_destroy(struct bench_copiers *copiers)
{
	if (!copiers)
		return;
	copiers->is_over = true;
	pthread_barrier_wait(&copiers->begin);
	free_copiers(copiers);
}

void bench_copiers_aim(struct bench_copiers *copiers, struct bench_setup *setup)
{
	copiers->source = setup->source.data;
	copiers->destination = setup->destination.data;
	copiers->bytes = setup->copy_bytes;
}

int bench_run_copy(void *context, uint32_t repetitions, uint64_t *nanoseconds,
		   struct accel_error *error)
{
	struct bench_copiers *copiers = context;
	uint64_t start = bench_now();

	(void)error;
	for (uint32_t k = 0; k < repetitions; k++) {
		pthread_barrier_wait(&copiers->begin);
		copy_share(copiers, 0);
		pthread_barrier_wait(&copiers->end);
	}
	*nanoseconds = bench_now() - start;
	return 0;
}
