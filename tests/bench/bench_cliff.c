// SPDX-License-Identifier: MIT
/*
 * Whether a shape falls off a cliff: what a job whose extents are odd or prime, or whose memory
 * begins beside a cache line, takes for a byte, beside its even neighbour in the same rounds. Both
 * are dense arrays of a permuted array's elements. A case more is a line of the table. Given a part
 * of their names, those cases alone are measured. Given "grid", transposes of matrices in the
 * caches are, whose sides are one more than a multiple of eight, and cliffs among them counted;
 * given "far", of larger ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/engine.h"
#include "measure.h"

#define NUM_ROUNDS	5
#define MAX_RANK	6
#define SIZE		((size_t)320 << 20)

/* A turn that is shorter than this is repeated. */
#define LEAST_NS	2e6

/* A cliff: how many times its even neighbour a shape takes for a byte. */
#define CLIFF		1.5

#define MOST_GRID_SHIFT	4
#define NUM_SIDES	10

struct shape {
	uint64_t extents[MAX_RANK];	/* of the source, the outermost first; 0 ends them */
	uint32_t padding;		/* elements between the source's rows */
	uint32_t offset;		/* elements by which both sides begin later */
};

/* Where odd neighbours of a power of two have their rows in few sets of the caches. */
#define TRANSPOSES_IN_CACHE(what, shift)							\
	{ "transpose of 1024 x 1024, " what, shift, { 1, 0 },					\
	  { .extents = { 1024, 1024 } }, { .extents = { 1023, 1025 } } },			\
	{ "transpose of 1024 x 1024, " what ", one more of both", shift, { 1, 0 },		\
	  { .extents = { 1024, 1024 } }, { .extents = { 1025, 1025 } } },			\
	{ "transpose of 1024 x 1024, " what ", one further on", shift, { 1, 0 },		\
	  { .extents = { 1024, 1024 } }, { .extents = { 1024, 1024 }, .offset = 1 } },		\
	{ "transpose of 256 x 256, " what ", one more of both", shift, { 1, 0 },		\
	  { .extents = { 256, 256 } }, { .extents = { 257, 257 } } },				\
	{ "transpose of 640 x 480, " what ", one more of both", shift, { 1, 0 },		\
	  { .extents = { 640, 480 } }, { .extents = { 641, 481 } } }

static const struct pair {
	const char *what;
	uint32_t size_shift;
	uint32_t axes[MAX_RANK];	/* axis d of the destination is axes[d] of the source */
	struct shape even, odd;
} pairs[] = {
	{ "transpose, 4-byte elements", 2, { 1, 0 },
	  { .extents = { 4096, 4096 } }, { .extents = { 4095, 4097 } } },
	{ "transpose, 4-byte elements, a row more", 2, { 1, 0 },
	  { .extents = { 4096, 4096 } }, { .extents = { 4097, 4096 } } },
	{ "transpose, 4-byte elements, primes", 2, { 1, 0 },
	  { .extents = { 4096, 4096 } }, { .extents = { 4093, 4099 } } },
	{ "transpose, 4-byte elements, one further on", 2, { 1, 0 },
	  { .extents = { 4096, 4096 } }, { .extents = { 4096, 4096 }, .offset = 1 } },
	{ "transpose, 4-byte elements, rows of a slice", 2, { 1, 0 },
	  { .extents = { 4096, 4096 } }, { .extents = { 4096, 4096 }, .padding = 3 } },
	{ "transpose, 4-byte elements, rows of 17 KiB", 2, { 1, 0 },
	  { .extents = { 4096, 4096 } }, { .extents = { 4352, 4352 } } },
	{ "transpose, 4-byte elements, 4080 x 4112", 2, { 1, 0 },
	  { .extents = { 4080, 4112 } }, { .extents = { 4081, 4111 } } },
	{ "transpose, 1-byte elements", 0, { 1, 0 },
	  { .extents = { 8192, 8192 } }, { .extents = { 8191, 8193 } } },
	{ "transpose, 1-byte elements, one further on", 0, { 1, 0 },
	  { .extents = { 8192, 8192 } }, { .extents = { 8192, 8192 }, .offset = 1 } },
	{ "transpose, 2-byte elements", 1, { 1, 0 },
	  { .extents = { 8192, 8192 } }, { .extents = { 8191, 8193 } } },
	{ "transpose, 8-byte elements", 3, { 1, 0 },
	  { .extents = { 4096, 4096 } }, { .extents = { 4095, 4097 } } },
	TRANSPOSES_IN_CACHE("1-byte elements", 0),
	TRANSPOSES_IN_CACHE("2-byte elements", 1),
	TRANSPOSES_IN_CACHE("4-byte elements", 2),
	TRANSPOSES_IN_CACHE("8-byte elements", 3),
	{ "transpose of 1000 x 1000, 8-byte elements, to 1001 x 1003", 3, { 1, 0 },
	  { .extents = { 1000, 1000 } }, { .extents = { 1001, 1003 } } },
	{ "transpose of 1024 x 2048, 4-byte elements, one more of both", 2, { 1, 0 },
	  { .extents = { 1024, 2048 } }, { .extents = { 1025, 2049 } } },
	{ "transpose of 1536 x 2048, 4-byte elements, one more of both", 2, { 1, 0 },
	  { .extents = { 1536, 2048 } }, { .extents = { 1537, 2049 } } },
	{ "transpose of 512 x 256, 4-byte elements, one more of both", 2, { 1, 0 },
	  { .extents = { 512, 256 } }, { .extents = { 513, 257 } } },
	{ "transpose of 512 x 512, 8-byte elements, one more of both", 3, { 1, 0 },
	  { .extents = { 512, 512 } }, { .extents = { 513, 513 } } },
	{ "planes to pixels, 4-byte elements", 2, { 0, 2, 1 },
	  { .extents = { 32, 64, 12544 } }, { .extents = { 32, 63, 12543 } } },
	{ "planes to pixels, 4-byte elements, one further on", 2, { 0, 2, 1 },
	  { .extents = { 32, 64, 12544 } }, { .extents = { 32, 64, 12544 }, .offset = 1 } },
	{ "planes to pixels, 4-byte elements, in cache", 2, { 0, 2, 1 },
	  { .extents = { 1, 64, 3136 } }, { .extents = { 1, 63, 3135 } } },
	{ "groups of 16 bytes to planes", 4, { 0, 2, 1 },
	  { .extents = { 16, 4096, 32 } }, { .extents = { 16, 4097, 31 } } },
	{ "planes to groups of 16 bytes", 4, { 0, 2, 1 },
	  { .extents = { 16, 32, 4096 } }, { .extents = { 16, 31, 4097 } } },
	{ "permutation of 6 axes, 4-byte elements", 2, { 5, 0, 3, 1, 4, 2 },
	  { .extents = { 16, 24, 16, 20, 16, 24 } }, { .extents = { 15, 25, 17, 19, 15, 23 } } },
	{ "permutation of 6 axes, 4-byte elements, runs of 20", 2, { 5, 0, 3, 1, 4, 2 },
	  { .extents = { 16, 24, 16, 20, 16, 16 } }, { .extents = { 16, 24, 20, 20, 16, 16 } } },
	{ "transposes of 1024 x 1024, 1-byte elements, to 1001 x 1003", 0, { 0, 2, 1 },
	  { .extents = { 64, 1024, 1024 } }, { .extents = { 64, 1001, 1003 } } },
	{ "reversal of 4 axes, 8-byte elements", 3, { 3, 2, 1, 0 },
	  { .extents = { 64, 32, 32, 64 } }, { .extents = { 63, 31, 33, 65 } } },
	{ "4 channels, 3 channels, to planes", 0, { 0, 2, 1 },
	  { .extents = { 64, 200000, 4 } }, { .extents = { 64, 199999, 3 } } },
	{ "31 planes to pixels, 1-byte elements", 0, { 0, 2, 1 },
	  { .extents = { 32, 32, 12544 } }, { .extents = { 32, 31, 12544 } } },
	{ "15 planes to pixels, 2-byte elements", 1, { 0, 2, 1 },
	  { .extents = { 32, 16, 12544 } }, { .extents = { 32, 15, 12544 } } },
	{ "15 planes to pixels, 4-byte elements", 2, { 0, 2, 1 },
	  { .extents = { 32, 16, 12544 } }, { .extents = { 32, 15, 12544 } } },
	{ "pixels to 15 planes, 1-byte elements", 0, { 0, 2, 1 },
	  { .extents = { 32, 12544, 16 } }, { .extents = { 32, 12543, 15 } } },
	{ "pixels to 15 planes, 4-byte elements", 2, { 0, 2, 1 },
	  { .extents = { 32, 12544, 16 } }, { .extents = { 32, 12543, 15 } } },
	{ "pixels to 15 planes, 4-byte elements, in step with pages", 2, { 0, 2, 1 },
	  { .extents = { 32, 12544, 16 } }, { .extents = { 32, 12296, 15 } } },
	{ "pixels to 31 planes, 4-byte elements", 2, { 0, 2, 1 },
	  { .extents = { 16, 12544, 32 } }, { .extents = { 16, 12543, 31 } } },
	{ "pixels to 63 planes, 4-byte elements", 2, { 0, 2, 1 },
	  { .extents = { 8, 12544, 64 } }, { .extents = { 8, 12543, 63 } } },
	{ "pixels to 257 planes, 1-byte elements", 0, { 0, 2, 1 },
	  { .extents = { 16, 5632, 256 } }, { .extents = { 16, 5631, 257 } } },
	{ "small matrices, 4-byte elements", 2, { 0, 2, 1 },
	  { .extents = { 64, 48, 48 } }, { .extents = { 64, 47, 49 } } },
	{ "small matrices, 1-byte elements", 0, { 0, 2, 1 },
	  { .extents = { 64, 64, 64 } }, { .extents = { 64, 63, 65 } } },
	{ "small matrices, 1-byte elements, a row more", 0, { 0, 2, 1 },
	  { .extents = { 64, 64, 64 } }, { .extents = { 64, 65, 64 } } },
	{ "small matrices, 1-byte elements, 31 x 31", 0, { 0, 2, 1 },
	  { .extents = { 64, 32, 32 } }, { .extents = { 64, 31, 31 } } },
};

#define NUM_PAIRS	(sizeof(pairs) / sizeof(pairs[0]))

static uint32_t rank_of(const struct shape *shape)
{
	uint32_t rank = 0;

	while (rank < MAX_RANK && shape->extents[rank])
		rank++;
	return rank;
}

/* Those that are moved. */
static uint64_t bytes_of(const struct shape *shape, uint32_t size_shift)
{
	uint64_t bytes = 1ull << size_shift;

	for (uint32_t d = 0; d < rank_of(shape); d++)
		bytes *= shape->extents[d];
	return bytes;
}

static void set_operand(struct engine_job *job, uint32_t k, char *memory, size_t offset,
			uint32_t size_shift)
{
	job->operands[k].spec.dtype = DRM_TESSERA_DTYPE_CLASS_RAW | size_shift;
	job->operands[k].buffer = (struct engine_buffer){ memory + offset, SIZE - offset, k == 0 };
}

static struct engine_plan *make_plan(const struct pair *pair, const struct shape *shape, char *dst,
				     char *src)
{
	const size_t size = (size_t)1 << pair->size_shift;
	const uint32_t rank = rank_of(shape);
	struct engine_job *job = calloc(1, sizeof(*job));
	struct engine_plan *plan = NULL;
	struct engine_fault fault;
	int64_t dst_stride = (int64_t)size, src_strides[MAX_RANK], src_stride = (int64_t)size;

	if (!job)
		return NULL;
	job->rank = rank;
	job->num_operands = 2;
	set_operand(job, 0, dst, shape->offset * size, pair->size_shift);
	set_operand(job, 1, src, shape->offset * size, pair->size_shift);
	for (uint32_t d = rank; d-- > 0; ) {
		src_strides[d] = src_stride;
		src_stride *= (int64_t)shape->extents[d];
		if (d == rank - 1)
			src_stride += (int64_t)(shape->padding * size);
	}
	for (uint32_t d = rank; d-- > 0; ) {
		job->extents[d] = shape->extents[pair->axes[d]];
		job->operands[0].spec.address.strides[d] = dst_stride;
		job->operands[1].spec.address.strides[d] = src_strides[pair->axes[d]];
		dst_stride *= (int64_t)job->extents[d];
	}
	engine_plan_create(job, &plan, &fault);
	free(job);
	return plan;
}

/* Nanoseconds of a run. */
static double measure(const struct engine_plan *plan)
{
	struct engine_fault fault;
	double start = now_ns(), taken;
	int count = 0;

	do {
		engine_plan_run(plan, NULL, &fault);
		count++;
		taken = now_ns() - start;
	} while (taken < LEAST_NS);
	return taken / count;
}

/* What a byte takes in an even shape, and how many times that in an odd one. */
struct result {
	double rate, times;
};

static int measure_pair(const struct pair *pair, char *dst, char *src, struct result *result)
{
	struct engine_plan *even = make_plan(pair, &pair->even, dst, src);
	struct engine_plan *odd = make_plan(pair, &pair->odd, dst, src);
	double rates[NUM_ROUNDS], ratios[NUM_ROUNDS];
	int error = !even || !odd;

	for (int round = 0; round < NUM_ROUNDS && !error; round++) {
		double bytes = (double)bytes_of(&pair->even, pair->size_shift);

		rates[round] = measure(even) / bytes;
		bytes = (double)bytes_of(&pair->odd, pair->size_shift);
		ratios[round] = measure(odd) / bytes / rates[round];
	}
	engine_plan_destroy(even);
	engine_plan_destroy(odd);
	if (error)
		fprintf(stderr, "bench_cliff: %s: no plan\n", pair->what);
	else
		*result = (struct result){ median(rates, NUM_ROUNDS), median(ratios, NUM_ROUNDS) };
	return error;
}

static void show(const struct pair *pair, const struct result *result)
{
	printf("%8.4f ns/byte  %5.2f times that  %s\n", result->rate, result->times, pair->what);
}

static int measure_pairs(const char *name, char *dst, char *src)
{
	struct result result;
	int error = 0;

	for (size_t k = 0; k < NUM_PAIRS && !error; k++) {
		if (!strstr(pairs[k].what, name))
			continue;
		error = measure_pair(&pairs[k], dst, src, &result);
		if (!error)
			show(&pairs[k], &result);
	}
	return error;
}

/* Matrices of these sides, that have so many bytes. */
static const struct grid {
	const char *name;
	uint64_t sides[NUM_SIDES];	/* 0 ends them */
	uint64_t least, most;
} grids[] = {
	{ "grid", { 65, 97, 129, 257, 385, 513, 769, 1025, 2049 }, 0, 8 << 20 },
	{ "far", { 513, 577, 769, 1001, 1537, 2049, 3073, 4001, 5001, 8193 }, 11 << 20, 48 << 20 },
};

/* One of a grid, if it has such. */
static int measure_matrix(const struct grid *grid, uint64_t rows, uint64_t columns,
			  uint32_t size_shift, char *dst, char *src, struct result *result)
{
	char what[80];
	const struct pair pair = {
		what, size_shift, { 1, 0 },
		{ .extents = { rows - 1, columns - 1 } }, { .extents = { rows, columns } },
	};
	const uint64_t bytes = rows * columns << size_shift;
	int error;

	*result = (struct result){ 0 };
	if (!bytes || bytes < grid->least || bytes > grid->most)
		return 0;
	snprintf(what, sizeof(what), "%llu x %llu, %u-byte elements", (unsigned long long)rows,
		 (unsigned long long)columns, 1u << size_shift);
	error = measure_pair(&pair, dst, src, result);
	if (!error)
		show(&pair, result);
	return error;
}

static int measure_grid(const struct grid *grid, char *dst, char *src)
{
	const size_t num = NUM_SIDES * NUM_SIDES;
	unsigned int num_measured = 0, num_cliffs = 0;
	int error = 0;

	for (size_t k = 0; k < num * (MOST_GRID_SHIFT + 1) && !error; k++) {
		struct result result;

		error = measure_matrix(grid, grid->sides[k % num / NUM_SIDES],
				       grid->sides[k % NUM_SIDES], (uint32_t)(k / num), dst, src,
				       &result);
		num_measured += result.times > 0;
		num_cliffs += result.times > CLIFF;
	}
	printf("%u of %u above %.1f\n", num_cliffs, num_measured, CLIFF);
	return error;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	char *memory = mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	if (memory == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	madvise(memory, 2 * SIZE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < 2 * SIZE; i++)
		memory[i] = (char)i;
	for (size_t k = 0; k < sizeof(grids) / sizeof(grids[0]); k++)
		if (!strcmp(name, grids[k].name))
			return measure_grid(&grids[k], memory, memory + SIZE);
	return measure_pairs(name, memory, memory + SIZE);
}
