// SPDX-License-Identifier: MIT
/*
 * What the memory of this machine gives to one thread, and so what a copy can reach at best: reads,
 * writes (by two threads, too), copies, copies whose source is taken piece by piece from rows
 * 16 KiB apart, as a transposition does, or from anywhere, as a gather does, and writes to such
 * rows. Each beside memcpy of 64 MiB in the same rounds, as a ratio of bytes read and written; with
 * pages of 4 KiB and, as far as the kernel has them, of 2 MiB.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "measure.h"

#define SIZE		((size_t)64 << 20)
#define PITCH		((size_t)16384)
#define AHEAD		((size_t)2048)

/* Rows that are written piece by piece, and those of a block; all fit if a line lies between. */
#define NUM_ROWS	((size_t)3584)
#define BLOCK_ROWS	((size_t)512)
#define NUM_ROUNDS	11

#if defined(__x86_64__)
#include <immintrin.h>

/* AVX is what all of these CPUs have; wider vectors change little where memory is the limit. */
#define WITH_AVX	__attribute__((target("avx")))

struct memory {
	char *source;
	char *destination;
};

static void copy_plainly(const struct memory *memory, size_t piece)
{
	(void)piece;
	memcpy(memory->destination, memory->source, SIZE);
	/* the copy must not be optimised away */
	__asm__ volatile("" : : "r"(memory->destination) : "memory");
}

WITH_AVX static void read_only(const struct memory *memory, size_t piece)
{
	__m256 sums[4] = { _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),
			   _mm256_setzero_ps() };

	(void)piece;
	for (size_t i = 0; i < SIZE; i += 128) {
		for (int k = 0; k < 4; k++)
			sums[k] = _mm256_or_ps(sums[k], _mm256_load_ps(
				(const float *)(memory->source + i + 32 * (size_t)k)));
	}
	/* nor the reading */
	for (int k = 0; k < 4; k++)
		__asm__ volatile("" : : "x"(sums[k]));
}

WITH_AVX static void store_bytes(char *destination, size_t bytes, float number)
{
	__m256 value = _mm256_set1_ps(number);

	for (size_t i = 0; i < bytes; i += 32)
		_mm256_store_ps((float *)(destination + i), value);
	__asm__ volatile("" : : "r"(destination) : "memory");
}

WITH_AVX static void stream_bytes(char *destination, size_t bytes, float number)
{
	__m256 value = _mm256_set1_ps(number);

	for (size_t i = 0; i < bytes; i += 32)
		_mm256_stream_ps((float *)(destination + i), value);
	_mm_sfence();
}

/* Of those that only write, the piece is what they write. */
static void store_only(const struct memory *memory, size_t piece)
{
	store_bytes(memory->destination, SIZE, (float)piece);
}

static void stream_only(const struct memory *memory, size_t piece)
{
	stream_bytes(memory->destination, SIZE, (float)piece);
}

static void *store_half(void *destination)
{
	store_bytes(destination, SIZE / 2, 1);
	return NULL;
}

static void *stream_half(void *destination)
{
	stream_bytes(destination, SIZE / 2, 1);
	return NULL;
}

/* What two threads write: as much as one where the memory is the limit, and not the CPU. */
static void write_by_two(const struct memory *memory, void *(*write_half)(void *destination))
{
	pthread_t other;

	if (pthread_create(&other, NULL, write_half, memory->destination + SIZE / 2)) {
		fputs("bench_roofline: no second thread\n", stderr);
		exit(1);
	}
	write_half(memory->destination);
	pthread_join(other, NULL);
}

static void store_by_two(const struct memory *memory, size_t piece)
{
	(void)piece;
	write_by_two(memory, store_half);
}

static void stream_by_two(const struct memory *memory, size_t piece)
{
	(void)piece;
	write_by_two(memory, stream_half);
}

WITH_AVX static void store_piece(char *destination, const char *source, size_t piece)
{
	for (size_t i = 0; i < piece; i += 32)
		_mm256_store_ps((float *)(destination + i),
				_mm256_load_ps((const float *)(source + i)));
}

WITH_AVX static void stream_piece(char *destination, const char *source, size_t piece)
{
	for (size_t i = 0; i < piece; i += 32)
		_mm256_stream_ps((float *)(destination + i),
				 _mm256_load_ps((const float *)(source + i)));
}

/* The destination in order; of the source, a piece of each row, then the next of each row. */
WITH_AVX static void store_pieces(const struct memory *memory, size_t piece)
{
	char *destination = memory->destination;

	for (size_t column = 0; column < PITCH; column += piece) {
		for (size_t row = 0; row < SIZE; row += PITCH, destination += piece)
			store_piece(destination, memory->source + row + column, piece);
	}
	__asm__ volatile("" : : "r"(memory->destination) : "memory");
}

WITH_AVX static void stream_pieces(const struct memory *memory, size_t piece)
{
	char *destination = memory->destination;

	for (size_t column = 0; column < PITCH; column += piece) {
		for (size_t row = 0; row < SIZE; row += PITCH, destination += piece)
			stream_piece(destination, memory->source + row + column, piece);
	}
	_mm_sfence();
}

/* The same, and what is copied next but AHEAD is asked for meanwhile. */
WITH_AVX static void stream_pieces_ahead(const struct memory *memory, size_t piece)
{
	size_t rows_ahead = piece < AHEAD ? AHEAD / piece : 1;
	char *destination = memory->destination;

	for (size_t column = 0; column < PITCH; column += piece) {
		for (size_t row = 0; row < SIZE; row += PITCH, destination += piece) {
			const char *source = memory->source + row + column;
			size_t last = SIZE - PITCH, next = row + rows_ahead * PITCH;
			const char *ahead = memory->source + column + (next < last ? next : last);

			for (size_t i = 0; i < piece; i += 64) {
				_mm_prefetch(ahead + i, _MM_HINT_T1);
				stream_piece(destination + i, source + i, 64);
			}
		}
	}
	_mm_sfence();
}

/* One piece after the other, without a pattern, and each once: count is a power of two. */
static size_t next_piece(size_t at, size_t count)
{
	/* Numerical Recipes, chapter 7.1 */
	return (at * 1664525 + 1013904223) % count;
}

/* The destination in order; pieces of the source that lie anywhere, asked for as above. */
WITH_AVX static void stream_scattered_pieces(const struct memory *memory, size_t piece)
{
	const size_t count = SIZE / piece;
	size_t at = 0, next = 0;

	for (size_t k = 0; k < AHEAD / piece; k++)
		next = next_piece(next, count);
	for (size_t k = 0; k < count; k++) {
		for (size_t i = 0; i < piece; i += 64) {
			_mm_prefetch(memory->source + next * piece + i, _MM_HINT_T1);
			stream_piece(memory->destination + k * piece + i,
				     memory->source + at * piece + i, 64);
		}
		at = next_piece(at, count);
		next = next_piece(next, count);
	}
	_mm_sfence();
}

/* A piece of each row of a block, then the next of each row. */
WITH_AVX static void stream_to_rows(char *destination, size_t piece, size_t pitch)
{
	__m256 value = _mm256_set1_ps(1);

	for (size_t first = 0; first < NUM_ROWS; first += BLOCK_ROWS) {
		for (size_t column = 0; column < PITCH; column += piece) {
			for (size_t row = first; row < first + BLOCK_ROWS; row++) {
				char *to = destination + row * pitch + column;

				for (size_t i = 0; i < piece; i += 32)
					_mm256_stream_ps((float *)(to + i), value);
			}
		}
	}
	_mm_sfence();
}

static void stream_to_even_rows(const struct memory *memory, size_t piece)
{
	stream_to_rows(memory->destination, piece, PITCH);
}

/* From row to row what is written is a line further on. */
static void stream_to_odd_rows(const struct memory *memory, size_t piece)
{
	stream_to_rows(memory->destination, piece, PITCH + 64);
}

/* What is measured; the first is what the others are compared with. */
static const struct kind {
	const char *what;
	void (*run)(const struct memory *memory, size_t piece);
	size_t piece;
	size_t bytes;		/* read and written */
} kinds[] = {
	{ "memcpy", copy_plainly, 0, 2 * SIZE },
	{ "read", read_only, 0, SIZE },
	{ "write", store_only, 1, SIZE },
	{ "write, two threads", store_by_two, 0, SIZE },
	{ "write, streaming", stream_only, 1, SIZE },
	{ "write, streaming, two threads", stream_by_two, 0, SIZE },
	/* some CPUs have a shorter way for lines of zeros */
	{ "write of zeros, streaming", stream_only, 0, SIZE },
	{ "copy of rows of 16 KiB", store_pieces, PITCH, 2 * SIZE },
	{ "copy of rows of 16 KiB, streaming", stream_pieces, PITCH, 2 * SIZE },
	{ "copy in pieces of 64 bytes", store_pieces, 64, 2 * SIZE },
	{ "copy in pieces of 64 bytes, streaming", stream_pieces, 64, 2 * SIZE },
	{ "copy in pieces of 256 bytes, streaming", stream_pieces, 256, 2 * SIZE },
	{ "copy in pieces of 512 bytes, streaming", stream_pieces, 512, 2 * SIZE },
	{ "copy in pieces of 1024 bytes, streaming", stream_pieces, 1024, 2 * SIZE },
	{ "copy in pieces of 2048 bytes, streaming", stream_pieces, 2048, 2 * SIZE },
	{ "copy in pieces of 4096 bytes, streaming", stream_pieces, 4096, 2 * SIZE },
	{ "copy in pieces of 64 bytes, streaming, prefetched", stream_pieces_ahead, 64,
	  2 * SIZE },
	{ "copy in pieces of 256 bytes, streaming, prefetched", stream_pieces_ahead, 256,
	  2 * SIZE },
	{ "copy in pieces of 1024 bytes, streaming, prefetched", stream_pieces_ahead, 1024,
	  2 * SIZE },
	{ "copy in pieces of 4096 bytes, streaming, prefetched", stream_pieces_ahead, 4096,
	  2 * SIZE },
	{ "copy in pieces of 256 bytes from anywhere, streaming, prefetched",
	  stream_scattered_pieces, 256, 2 * SIZE },
	{ "copy in pieces of 1024 bytes from anywhere, streaming, prefetched",
	  stream_scattered_pieces, 1024, 2 * SIZE },
	{ "write of 64 bytes of each row, 16384 bytes apart, streaming", stream_to_even_rows, 64,
	  NUM_ROWS * PITCH },
	{ "write of 128 bytes of each row, 16384 bytes apart, streaming", stream_to_even_rows, 128,
	  NUM_ROWS * PITCH },
	{ "write of 256 bytes of each row, 16384 bytes apart, streaming", stream_to_even_rows, 256,
	  NUM_ROWS * PITCH },
	{ "write of 1024 bytes of each row, 16384 bytes apart, streaming", stream_to_even_rows,
	  1024, NUM_ROWS * PITCH },
	{ "write of 64 bytes of each row, 16448 bytes apart, streaming", stream_to_odd_rows, 64,
	  NUM_ROWS * PITCH },
	{ "write of 256 bytes of each row, 16448 bytes apart, streaming", stream_to_odd_rows, 256,
	  NUM_ROWS * PITCH },
};

#define NUM_KINDS	(sizeof(kinds) / sizeof(kinds[0]))

/* Anonymous memory, touched, at a multiple of 2 MiB. */
static char *allocate(int advice)
{
	size_t alignment = (size_t)2 << 20;
	char *memory = mmap(NULL, SIZE + alignment, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	memory += alignment - (uintptr_t)memory % alignment;
	madvise(memory, SIZE, advice);
	memset(memory, 1, SIZE);
	return memory;
}

/* Gigabytes a second. */
static double measure(const struct kind *kind, const struct memory *memory)
{
	double start = now_ns();

	kind->run(memory, kind->piece);
	return (double)kind->bytes / (now_ns() - start);
}

static void measure_all(const char *pages, int advice)
{
	static double rates[NUM_KINDS][NUM_ROUNDS], ratios[NUM_KINDS][NUM_ROUNDS];
	struct memory memory = { allocate(advice), allocate(advice) };

	for (int round = 0; round < NUM_ROUNDS; round++) {
		for (size_t k = 0; k < NUM_KINDS; k++) {
			rates[k][round] = measure(&kinds[k], &memory);
			ratios[k][round] = rates[k][round] / rates[0][round];
		}
	}
	for (size_t k = 0; k < NUM_KINDS; k++)
		printf("%10.2f GB/s  %5.2f memcpy  %s, pages of %s\n", median(rates[k], NUM_ROUNDS),
		       median(ratios[k], NUM_ROUNDS), kinds[k].what, pages);
}

int main(void)
{
	if (!__builtin_cpu_supports("avx"))
		return 0;
	measure_all("4 KiB", MADV_NOHUGEPAGE);
	measure_all("2 MiB", MADV_HUGEPAGE);
	return 0;
}

#else

int main(void)
{
	return 0;
}

#endif
