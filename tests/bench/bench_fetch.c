// SPDX-License-Identifier: MIT
/*
 * How many lines that prefetch instructions ask for are there some time later: as many as are asked
 * for at once, and one after the other with some work between them. What is not there takes as long
 * as what nobody has asked for; the bound between both is measured first.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <x86intrin.h>

/* Rows in pages of their own, as those of a large transposition, but for few sets of the caches. */
#define NUM_ROWS	256
#define PITCH		(16384 + 64)
#define ROW_LINES	16
#define PAGE_BYTES	4096
#define LINE_BYTES	64
#define MOST_LINES	(NUM_ROWS * ROW_LINES)
#define NUM_ROUNDS	100
/* Has no divisor in common with any number of lines. */
#define SCATTER		167
/* By then memory has answered. */
#define WAIT_NS		20e3

static char *rows;

static char *line_at(size_t n)
{
	return rows + n / ROW_LINES * PITCH + n % ROW_LINES * LINE_BYTES;
}

/* Cycles of one load, with nothing else under way. */
static double time_load(const char *line)
{
	unsigned int cpu;
	uint64_t start;

	_mm_mfence();
	_mm_lfence();
	start = __rdtscp(&cpu);
	_mm_lfence();
	*(const volatile char *)line;
	_mm_lfence();
	return (double)(__rdtscp(&cpu) - start);
}

/* Drops the lines from the caches, but not their pages from the TLB. */
static void drop(size_t first, size_t count)
{
	for (size_t n = first; n < first + count; n++)
		_mm_clflush(line_at(n));
	_mm_mfence();
	for (size_t n = first; n < first + count; n++)
		*(const volatile char *)((uintptr_t)line_at(n) ^ PAGE_BYTES / 2);
}

/* Halfway between a load of what is in the caches and one of what is not. */
static double measure_bound(void)
{
	double there[NUM_ROUNDS], missing[NUM_ROUNDS];

	for (size_t k = 0; k < NUM_ROUNDS; k++) {
		drop(k * ROW_LINES, 1);
		missing[k] = time_load(line_at(k * ROW_LINES));
		there[k] = time_load(line_at(k * ROW_LINES));
	}
	return (median(there, NUM_ROUNDS) + median(missing, NUM_ROUNDS)) / 2;
}

/* Asks for so many lines, with so many multiplications between one and the next. */
static void ask(size_t first, size_t count, int work)
{
	unsigned int number = 1;

	for (size_t n = first; n < first + count; n++) {
		_mm_prefetch(line_at(n), _MM_HINT_T1);
		for (int k = 0; k < work; k++)
			__asm__ volatile("imul %0, %0" : "+r"(number));
	}
}

/* Prints how many of the lines are not there, and how long it took to ask for one. */
static void measure(size_t count, int work, double bound)
{
	double missing = 0, taken = 0;

	for (size_t k = 0; k < NUM_ROUNDS; k++) {
		const size_t first = k * ROW_LINES % (MOST_LINES - count);
		double start;

		drop(first, count);
		start = now_ns();
		ask(first, count, work);
		taken += now_ns() - start;
		while (now_ns() - start < WAIT_NS)
			;
		/* out of order, lest the CPU sees them come */
		for (size_t n = 0; n < count; n++)
			missing += time_load(line_at(first + n * SCATTER % count)) > bound;
	}
	printf("%8.2f ns a line  %3.0f %% missing  of %zu lines\n",
	       taken / NUM_ROUNDS / (double)count, 100 * missing / NUM_ROUNDS / (double)count,
	       count);
}

int main(void)
{
	double bound;

	rows = aligned_alloc(4096, (size_t)NUM_ROWS * PITCH);
	if (!rows) {
		fprintf(stderr, "bench_fetch: no memory\n");
		return 1;
	}
	memset(rows, 1, (size_t)NUM_ROWS * PITCH);
	bound = measure_bound();
	for (size_t count = 8; count <= 512; count *= 2)
		measure(count, 0, bound);
	for (int work = 1; work <= 16; work *= 2)
		measure(512, work, bound);
	free(rows);
	return 0;
}

#else

int main(void)
{
	printf("not measured: the CPU is not an x86-64\n");
	return 0;
}

#endif
