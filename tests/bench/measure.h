/* SPDX-License-Identifier: MIT */
/*
 * What the benchmarks share: the clock, what is kept of several rounds, and the memcpy that calls
 * are set beside.
 */
#ifndef TESTS_BENCH_MEASURE_H
#define TESTS_BENCH_MEASURE_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline int compare_numbers(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* Sorts the values. */
static inline double median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare_numbers);
	return values[count / 2];
}

/*
 * Microseconds of one call: each round makes a number of calls, and the least of the rounds counts,
 * as what else the machine does only adds to it.
 */
static inline double measure_us(void (*function)(const void *), const void *context, int num_rounds,
				int num_calls)
{
	double least = 1e30, start, taken;

	for (int round = 0; round < num_rounds; round++) {
		start = now_ns();
		for (int k = 0; k < num_calls; k++)
			function(context);
		taken = (now_ns() - start) / 1e3 / num_calls;
		if (taken < least)
			least = taken;
	}
	return least;
}

#define COPY_BYTES	65536

static inline void copy(const void *source)
{
	static char destination[COPY_BYTES];

	memcpy(destination, source, COPY_BYTES);
	/* The copy must not be optimised away. */
	__asm__ volatile("" : : "r"(destination) : "memory");
}

/* Microseconds of a memcpy of 64 KiB, measured in the same way. */
static inline double measure_memcpy_us(int num_rounds, int num_calls)
{
	static char source[COPY_BYTES];

	return measure_us(copy, source, num_rounds, num_calls);
}

#endif /* TESTS_BENCH_MEASURE_H */
