// SPDX-License-Identifier: MIT
/*
 * What rows cost that begin within cache lines, in the caches and before anything is done with
 * them: 256 rows of 256 bytes are loaded, stored or copied, 64 bytes at a time, in the order of a
 * transposition, down the rows first. Where they are 256 bytes apart each vector is a line; where
 * they are 257 apart nearly all are parts of two.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define WITH_AVX512	__attribute__((target("avx512f")))

#define NUM_ROWS	256
#define ROW_BYTES	256
#define VECTOR_BYTES	64
#define MOST_PITCH	512
#define NUM_ROUNDS	101
#define NUM_CALLS	50

struct rows {
	char *bytes;
	size_t pitch;
};

struct sides {
	struct rows destination;
	struct rows source;
};

static inline void *place(const struct rows *rows, size_t row, size_t column)
{
	return rows->bytes + row * rows->pitch + column;
}

WITH_AVX512 static void load(const void *context)
{
	const struct sides *sides = context;
	__m512i all = _mm512_setzero_si512();

	for (size_t c = 0; c < ROW_BYTES; c += VECTOR_BYTES)
		for (size_t r = 0; r < NUM_ROWS; r++)
			all = _mm512_or_si512(all, _mm512_loadu_si512(place(&sides->source, r, c)));
	/* the loads must not be optimised away */
	__asm__ volatile("" : : "v"(all));
}

WITH_AVX512 static void store(const void *context)
{
	const struct sides *sides = context;
	const __m512i zeros = _mm512_setzero_si512();

	for (size_t c = 0; c < ROW_BYTES; c += VECTOR_BYTES)
		for (size_t r = 0; r < NUM_ROWS; r++)
			_mm512_storeu_si512(place(&sides->destination, r, c), zeros);
}

WITH_AVX512 static void copy_rows(const void *context)
{
	const struct sides *sides = context;

	for (size_t c = 0; c < ROW_BYTES; c += VECTOR_BYTES)
		for (size_t r = 0; r < NUM_ROWS; r++)
			_mm512_storeu_si512(place(&sides->destination, r, c),
					    _mm512_loadu_si512(place(&sides->source, r, c)));
}

static const struct kind {
	const char *name;
	void (*run)(const void *context);
	size_t destination;		/* pitch, in bytes */
	size_t source;
} kinds[] = {
	{ "loads, rows 256 apart", load, 256, 256 },
	{ "loads, rows 257 apart", load, 256, 257 },
	{ "stores, rows 256 apart", store, 256, 256 },
	{ "stores, rows 257 apart", store, 257, 256 },
	{ "copy, rows 256 apart on either side", copy_rows, 256, 256 },
	{ "copy, rows 257 apart in the source", copy_rows, 256, 257 },
	{ "copy, rows 257 apart in the destination", copy_rows, 257, 256 },
	{ "copy, rows 257 apart on either side", copy_rows, 257, 257 },
};

static char *allocate(void)
{
	char *bytes = aligned_alloc(4096, NUM_ROWS * MOST_PITCH);

	if (!bytes) {
		fprintf(stderr, "bench_lines: no memory\n");
		exit(1);
	}
	memset(bytes, 1, NUM_ROWS * MOST_PITCH);
	return bytes;
}

int main(void)
{
	char *destination = allocate(), *source = allocate();
	double first = 0;

	if (!__builtin_cpu_supports("avx512f")) {
		printf("not measured: the CPU has no AVX-512\n");
		return 0;
	}
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		const struct sides sides = {
			{ destination, kinds[k].destination }, { source, kinds[k].source },
		};
		double us = measure_us(kinds[k].run, &sides, NUM_ROUNDS, NUM_CALLS);

		if (kinds[k].destination == 256 && kinds[k].source == 256)
			first = us;
		printf("%8.4f ns/byte  %5.2f times as long  %s\n",
		       us * 1e3 / (NUM_ROWS * ROW_BYTES), us / first, kinds[k].name);
	}
	free(destination);
	free(source);
	return 0;
}

#else

int main(void)
{
	printf("not measured: the CPU is not an x86-64\n");
	return 0;
}

#endif
