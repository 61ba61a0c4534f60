// SPDX-License-Identifier: MIT
/*
 * How much of a core the bench has. Additions that wait for each other are one a cycle, whoever
 * else is there. Of others a core makes several at once, but half as many while its other hardware
 * thread is in use, by another guest of the same host for one. What computes takes longer then,
 * and memcpy, which waits for memory, does not: ratios fall.
 */
#include "bench.h"

#define NUM_SUMS	8
#define NUM_ADDITIONS	65536

/* One more, of which the compiler knows nothing. */
static inline uint64_t increase(uint64_t sum)
{
	sum++;
	__asm__ volatile("" : "+r"(sum));
	return sum;
}

static void add_in_a_chain(void)
{
	uint64_t sum = 0;

	for (int k = 0; k < NUM_ADDITIONS; k += NUM_SUMS) {
#pragma GCC unroll 8
		for (int n = 0; n < NUM_SUMS; n++)
			sum = increase(sum);
	}
}

static void add_side_by_side(void)
{
	uint64_t sums[NUM_SUMS] = { 0 };

	for (int k = 0; k < NUM_ADDITIONS; k += NUM_SUMS) {
#pragma GCC unroll 8
		for (int n = 0; n < NUM_SUMS; n++)
			sums[n] = increase(sums[n]);
	}
}

static int run(void (*add)(void), uint32_t repetitions, uint64_t *nanoseconds)
{
	uint64_t start = bench_now();

	for (uint32_t k = 0; k < repetitions; k++)
		add();
	*nanoseconds = bench_now() - start;
	return 0;
}

int bench_run_chain(void *context, uint32_t repetitions, uint64_t *nanoseconds,
		    struct accel_error *error)
{
	(void)context;
	(void)error;
	return run(add_in_a_chain, repetitions, nanoseconds);
}

int bench_run_additions(void *context, uint32_t repetitions, uint64_t *nanoseconds,
			struct accel_error *error)
{
	(void)context;
	(void)error;
	return run(add_side_by_side, repetitions, nanoseconds);
}
