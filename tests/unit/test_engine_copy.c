// SPDX-License-Identifier: MIT
/*
 * Kernels of copies, of every instruction set that this CPU has, against loops over bytes; and the
 * ways in which plans use them: rows around the caches, parts put together in scratch, gathers.
 *
 * test_engine_copy [--seed N] [--count N]
 */
#include "engine/assemble.h"
#include "engine/kernels.h"
#include "engine/plan.h"
#include "random.h"
#include "random_test.h"

enum { BUFFER_BYTES = 32768 };

static struct random_run run;

/* What is copied from, what is copied to, and what the latter should hold then. */
static _Alignas(64) uint8_t source[BUFFER_BYTES], result[BUFFER_BYTES], expected[BUFFER_BYTES];

static void fill_buffers(struct random *random)
{
	for (size_t i = 0; i < BUFFER_BYTES; i += sizeof(uint64_t)) {
		uint64_t bits = random_bits(random);

		memcpy(&source[i], &bits, sizeof(bits));
		memset(&result[i], (int)(bits & 0xff), sizeof(bits));
	}
	memcpy(expected, result, BUFFER_BYTES);
}

/* Copies a tile element by element, as far as it is inside of the buffers. */
static void copy_slowly(int64_t dst, int64_t src, const struct engine_tile *tile, int64_t size)
{
	for (int64_t j = 0; j < tile->extents[0]; j++)
		for (int64_t i = 0; i < tile->extents[1]; i++)
			memcpy(&expected[dst + j * tile->dst_strides[0] + i * tile->dst_strides[1]],
			       &source[src + j * tile->src_strides[0] + i * tile->src_strides[1]],
			       (size_t)size);
}

/* A tile within the buffers, whose stores do not collide. */
struct case_of_tile {
	struct engine_tile tile;
	int64_t dst;
	int64_t src;
};

/* The lowest and highest byte of one side. */
static struct engine_interval reach(const struct engine_tile *tile, const int64_t *strides,
				    int64_t size)
{
	struct engine_interval bytes = { 0, size - 1 };

	for (int t = 0; t < 2; t++) {
		int64_t farthest = strides[t] * (tile->extents[t] - 1);

		if (farthest < 0)
			bytes.lowest += farthest;
		else
			bytes.highest += farthest;
	}
	return bytes;
}

/* A place for one side at a random alignment, or somewhere at all if it does not fit: -1. */
static int64_t choose_place(struct random *random, const struct engine_tile *tile,
			    const int64_t *strides, int64_t size)
{
	struct engine_interval bytes = reach(tile, strides, size);
	int64_t room = BUFFER_BYTES - (bytes.highest - bytes.lowest + 1);

	if (room < 0)
		return -1;
	return random_between(random, 0, room < 64 ? room : 64) - bytes.lowest;
}

/* The inner loop has dst_step and src_step elements; rows follow each other or are apart. */
static bool choose_tile(struct random *random, struct case_of_tile *chosen, int64_t size,
			int64_t dst_step, int64_t src_step)
{
	struct engine_tile *tile = &chosen->tile;
	int64_t row;

	*tile = (struct engine_tile){
		.extents = { random_between(random, 0, 9),
			     random_between(random, 0, random_chance(random, 80) ? 130 : 1000) },
		.dst_strides = { 0, dst_step * size },
		.src_strides = { random_between(random, -300, 300), src_step * size },
	};
	row = (tile->extents[1] ? tile->extents[1] : 1) * dst_step * size;
	tile->dst_strides[0] = row + (random_chance(random, 50) ?
				      0 : random_between(random, 1, 200));
	if (random_chance(random, 30))
		tile->dst_strides[0] = (tile->dst_strides[0] + 63) / 64 * 64;
	tile->ahead = random_chance(random, 50) ? 0 : random_between(random, -4096, 4096);
	chosen->dst = choose_place(random, tile, tile->dst_strides, size);
	chosen->src = choose_place(random, tile, tile->src_strides, size);
	return chosen->dst >= 0 && chosen->src >= 0;
}

static void check_kernel(const struct engine_isa *isa, const char *name, uint64_t seed,
			 engine_tile_kernel *kernel, const struct case_of_tile *chosen,
			 int64_t size)
{
	const struct engine_tile *tile = &chosen->tile;

	copy_slowly(chosen->dst, chosen->src, tile, size);
	kernel(result + chosen->dst, source + chosen->src, tile);
	isa->copy->end_streams();
	if (memcmp(result, expected, BUFFER_BYTES))
		fail_msg("%s of %s, seed %" PRIu64 ", size %" PRId64 ", extents %" PRId64 " %"
			 PRId64 ", strides %" PRId64 " %" PRId64 " and %" PRId64 " %" PRId64, name,
			 isa->name, seed, size, tile->extents[0], tile->extents[1],
			 tile->dst_strides[0], tile->dst_strides[1], tile->src_strides[0],
			 tile->src_strides[1]);
}

/* A kind of kernel, and the steps of its inner loop in elements: lowest to highest. */
struct kind {
	const char *name;
	size_t table;			/* in struct engine_copy_kernels */
	int64_t dst_steps[2];
	int64_t src_steps[2];
};

#define KIND(member)	#member, offsetof(struct engine_copy_kernels, member)

static const struct kind kinds[] = {
	{ KIND(run), { 1, 1 }, { 1, 1 } },
	{ KIND(stream_run), { 1, 1 }, { 1, 1 } },
	{ KIND(broadcast), { 1, 1 }, { 0, 0 } },
	{ KIND(stream_broadcast), { 1, 1 }, { 0, 0 } },
	{ KIND(strided), { 1, 5 }, { -5, 5 } },
};

static void check_kind(const struct engine_isa *isa, const struct kind *kind)
{
	for (uint64_t n = 0; n < run.count; n++) {
		struct random random = { run.seed + n };
		uint32_t shift = (uint32_t)random_below(&random, ENGINE_NUM_SIZES);
		engine_tile_kernel *const *kernels =
			(void *)((const char *)isa->copy + kind->table);
		struct case_of_tile chosen;
		int64_t dst_step, src_step;

		dst_step = random_between(&random, kind->dst_steps[0], kind->dst_steps[1]);
		src_step = random_between(&random, kind->src_steps[0], kind->src_steps[1]);
		if (!choose_tile(&random, &chosen, 1 << shift, dst_step, src_step))
			continue;
		fill_buffers(&random);
		check_kernel(isa, kind->name, run.seed + n, kernels[shift], &chosen, 1 << shift);
	}
}

static void kernels_copy_what_loops_over_bytes_do(void **state)
{
	const struct engine_isa *isa;

	(void)state;
	for (uint32_t k = 0; (isa = engine_isa_at(k)); k++)
		for (size_t i = 0; isa->is_available() && i < COUNT(kinds); i++)
			check_kind(isa, &kinds[i]);
	print_message("seeds %" PRIu64 " to %" PRIu64 "\n", run.seed, run.seed + run.count - 1);
}

static void check_runs(const struct engine_isa *isa, int64_t bytes, bool streams)
{
	enum { COUNT_RUNS = 40, NUM_KNOWN = 60 };
	uint8_t *dst[NUM_KNOWN], *src[NUM_KNOWN];
	struct random random = { (uint64_t)bytes };

	fill_buffers(&random);
	for (int i = 0; i < NUM_KNOWN; i++) {
		src[i] = source + random_below(&random, BUFFER_BYTES - 512);
		dst[i] = result + (i * 7 % COUNT_RUNS) * 320;
		if (i < COUNT_RUNS)
			memcpy(expected + (dst[i] - result), src[i], (size_t)bytes);
	}
	isa->copy->runs(dst, src, COUNT_RUNS, NUM_KNOWN, bytes, streams);
	isa->copy->end_streams();
	if (memcmp(result, expected, BUFFER_BYTES))
		fail_msg("runs of %" PRId64 " bytes, %s", bytes, isa->name);
}

static void runs_of_every_length_are_gathered(void **state)
{
	const struct engine_isa *isa;

	(void)state;
	for (uint32_t k = 0; (isa = engine_isa_at(k)); k++)
		for (int64_t bytes = 1; isa->is_available() && bytes <= 320; bytes++)
			for (int streams = 0; streams < 2; streams++)
				check_runs(isa, bytes, streams);
}

/* An im2col of 3 x 3 with a padding of 1, of which parts are put together in scratch. */
enum { CHANNELS = 24, SIDE = 20, TAPS = 3, COLUMN = CHANNELS * TAPS * TAPS };

static struct engine_job *new_im2col(const float *image, float *columns)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_F32);
	struct drm_tessera_window *window;

	set_buffer(job, 0, columns, SIDE * SIDE * COLUMN * sizeof(float));
	set_buffer(job, 1, image, CHANNELS * SIDE * SIDE * sizeof(float));
	add_loop(job, SIDE, SIDE * COLUMN * 4, SIDE * 4);
	add_loop(job, SIDE, COLUMN * 4, 4);
	add_loop(job, CHANNELS, TAPS * TAPS * 4, SIDE * SIDE * 4);
	add_loop(job, TAPS, TAPS * 4, SIDE * 4);
	add_loop(job, TAPS, 4, 4);
	job->operands[1].spec.address.offset = -(SIDE + 1) * 4;
	job->operands[1].spec.fill[0] = 0x7fc00000;
	for (int t = 0; t < 2; t++) {
		window = add_window(job, 1, -1, SIDE);
		window->value.strides[t] = 1;
		window->value.strides[3 + t] = 1;
	}
	return job;
}

/* The destination begins so many bytes behind a cache line. */
static void check_staged(bool has_scratch, size_t shift)
{
	float *image = malloc(CHANNELS * SIDE * SIDE * sizeof(float));
	size_t bytes = SIDE * SIDE * COLUMN * sizeof(float);
	uint8_t *memory = aligned_alloc(64, bytes + 128);
	uint8_t *columns = memory + shift, *right = malloc(bytes);
	struct engine_job *job = new_im2col(image, (float *)columns);
	struct engine_scratch *scratch = aligned_alloc(64, sizeof(*scratch));
	struct engine_fault fault;
	struct engine_plan *plan;

	for (int i = 0; i < CHANNELS * SIDE * SIDE; i++)
		image[i] = (float)i;
	memset(memory, 0xa5, bytes + 128);
	assert_int_equal(engine_plan_create(job, &plan, &fault), 0);
	/* as the plan of a destination is that has no room in the caches */
	assert_non_null(plan->regions);
	assert_true(plan->num_regions > 4);
	free(plan->scratch);
	plan->scratch = scratch;
	scratch->is_taken = !has_scratch;
	plan->streams = true;
	plan->is_staged = true;
	assert_true(engine_assemble_init(&plan->chunks, plan));
	assert_int_equal(plan->chunks.count, 3);
	plan->chunks_per_part = 2;
	plan->parts = (struct engine_parts){ .count = 2 };
	assert_int_equal(engine_plan_run(plan, NULL, &fault), 0);
	job->operands[0].buffer.base = right;
	assert_int_equal(reference_run(job, NULL), 0);
	assert_memory_equal(columns, right, bytes);
	for (size_t i = 0; i < shift; i++)
		assert_int_equal(memory[i], 0xa5);
	for (size_t i = shift + bytes; i < bytes + 128; i++)
		assert_int_equal(memory[i], 0xa5);
	assert_int_equal(scratch->is_taken, !has_scratch);
	engine_plan_destroy(plan);
	free(job);
	free(image);
	free(memory);
	free(right);
}

static void parts_are_put_together_in_scratch(void **state)
{
	(void)state;
	for (size_t shift = 0; shift < 64; shift += 4)
		check_staged(true, shift);
}

static void run_goes_without_scratch_while_another_has_it(void **state)
{
	(void)state;
	check_staged(false, 0);
}

/* How many points a part has, all of which are the box's. */
static uint64_t count_points(const struct engine_box *part, const struct engine_box *box)
{
	uint64_t count = 1;

	for (uint32_t d = 0; d < box->rank; d++) {
		assert_true(part->dims[d].lowest <= part->dims[d].highest);
		assert_true(part->dims[d].lowest >= box->dims[d].lowest);
		assert_true(part->dims[d].highest <= box->dims[d].highest);
		count *= (uint64_t)(part->dims[d].highest - part->dims[d].lowest) + 1;
	}
	return count;
}

/* Parts that are merged have the points of each, and no more. Returns how many parts that is. */
static uint64_t check_merged(const struct engine_parts *parts, const struct engine_box *box,
			     uint64_t first, uint64_t most)
{
	struct engine_box merged, part;
	uint64_t num_merged = engine_parts_merge(parts, box, first, most, &merged), sum = 0;

	assert_in_range(num_merged, 1, most);
	for (uint64_t n = first; n < first + num_merged; n++) {
		engine_parts_box(parts, box, n, &part);
		sum += count_points(&part, &merged);
	}
	assert_int_equal(sum, count_points(&merged, box));
	return num_merged;
}

/* Every point of the box is in one part. Returns the most points of one. */
static uint64_t check_parts(const struct engine_parts *parts, const struct engine_box *box,
			    uint64_t points)
{
	uint64_t sum = 0, most = 0;

	for (uint64_t n = 0; n < parts->count; n++) {
		struct engine_box part;
		uint64_t count;

		engine_parts_box(parts, box, n, &part);
		count = count_points(&part, box);
		sum += count;
		most = count > most ? count : most;
	}
	assert_int_equal(sum, points);
	for (uint64_t n = 0; n < parts->count; )
		n += check_merged(parts, box, n, min(3, parts->count - n));
	return most;
}

static void parts_hold_all_points(void **state)
{
	static const int64_t dst_strides[] = { 4, 64000, 40, 2000 };
	static const int64_t src_strides[] = { 400, 4, 12000, 0 };
	const struct engine_box box = { 4, { { 0, 9 }, { 5, 36 }, { 2, 51 }, { 0, 31 } } };
	struct engine_parts parts;

	(void)state;
	for (int64_t bytes = 4; bytes <= 1 << 21; bytes *= 2) {
		engine_parts_init(&parts, &box, dst_strides, src_strides, 4, bytes, false);
		check_parts(&parts, &box, 10 * 32 * 50 * 32);
	}
}

/* All parts that have the same values of the other loops, or what is left of them, or so many. */
static void parts_are_merged_that_follow_each_other(void **state)
{
	static const int64_t dst_strides[] = { 8002, 2 }, src_strides[] = { 2, 3074 };
	const struct engine_box box = { 2, { { 0, 1536 }, { 0, 4000 } } };
	struct engine_parts parts;
	struct engine_box merged;
	uint64_t in_row;

	(void)state;
	engine_parts_init(&parts, &box, dst_strides, src_strides, 2, 1 << 18, false);
	assert_int_equal(parts.num_dims, 2);
	in_row = engine_parts_merge(&parts, &box, 0, parts.count, &merged);
	assert_true(in_row > 4);
	assert_int_equal(parts.count % in_row, 0);
	assert_int_equal(merged.dims[1].lowest, 0);
	assert_int_equal(merged.dims[1].highest, 4000);
	assert_int_equal(engine_parts_merge(&parts, &box, in_row + 3, parts.count, &merged),
			 in_row - 3);
	assert_true(merged.dims[1].lowest > 0);
	assert_int_equal(merged.dims[1].highest, 4000);
	assert_int_equal(engine_parts_merge(&parts, &box, in_row, 2, &merged), 2);
	assert_true(merged.dims[1].highest < 4000);
}

static void one_part_is_merged_with_none(void **state)
{
	static const int64_t strides[] = { 4 };
	const struct engine_box box = { 1, { { 2, 9 } } };
	struct engine_parts parts;
	struct engine_box merged;

	(void)state;
	engine_parts_init(&parts, &box, strides, strides, 4, 1 << 20, false);
	assert_int_equal(engine_parts_merge(&parts, &box, 0, 1, &merged), 1);
	assert_memory_equal(&merged, &box, sizeof(box));
}

static void parts_have_no_more_bytes_than_a_limit(void **state)
{
	static const int64_t dst_strides[] = { 4, 64000, 40, 2000 }, src_strides[4];
	const struct engine_box box = { 4, { { 0, 9 }, { 5, 36 }, { 2, 51 }, { 0, 31 } } };
	struct engine_parts parts;

	(void)state;
	for (int64_t bytes = 4; bytes <= 1 << 21; bytes += bytes / 3 + 1) {
		engine_parts_init(&parts, &box, dst_strides, src_strides, 4, bytes, true);
		assert_in_range(check_parts(&parts, &box, 10 * 32 * 50 * 32), 1,
				(uintmax_t)bytes / 4);
	}
}

static void parts_that_begin_with_lines_hold_all_points(void **state)
{
	static const int64_t dst_strides[] = { 4096, 4 }, src_strides[] = { 4, 40000 * 64 };
	static uint8_t line[64] __attribute__((aligned(64)));
	struct engine_box box = { 2, { { 0, 9999 }, { 0, 1023 } } };
	struct engine_parts parts;

	(void)state;
	for (int64_t extent = 1023; extent < 1700; extent++) {
		box.dims[0] = (struct engine_interval){ 7, 7 + extent - 1 };
		engine_parts_init(&parts, &box, dst_strides, src_strides, 4, 8192, false);
		engine_parts_align(&parts, &box, dst_strides, src_strides, 4,
				   line + extent % 16 * 4);
		check_parts(&parts, &box, (uint64_t)extent * 1024);
	}
}

/* Elements of a source that are read in one piece. */
#define PIECE		512
#define SHORT_PIECE	256
#define ROW_PIECE	128

/* The parts of a loop along the source begin at its lines, if all rows have them at one place. */
static void check_cut(const int64_t *dst_strides, const int64_t *src_strides, size_t place,
		      int64_t expected)
{
	static const uint8_t line[64] __attribute__((aligned(64)));
	const struct engine_box box = { 2, { { 5, 10004 }, { 0, 1023 } } };
	struct engine_parts parts;
	struct engine_box part;

	engine_parts_init(&parts, &box, dst_strides, src_strides, 4, PIECE * 4 * 1024, false);
	engine_parts_align(&parts, &box, dst_strides, src_strides, 4, line + place);
	engine_parts_box(&parts, &box, 0, &part);
	assert_int_equal(part.dims[0].lowest, 5);
	assert_int_equal(part.dims[0].highest, 5 + expected - 1);
	engine_parts_box(&parts, &box, 1, &part);
	assert_int_equal(part.dims[0].lowest, 5 + expected);
	assert_int_equal(part.dims[0].highest, 5 + expected + PIECE - 1);
	assert_int_equal(parts.count, (10000 + PIECE - expected - 1) / PIECE + 1);
}

static void parts_begin_with_lines_of_the_source(void **state)
{
	static const int64_t dst_strides[] = { 4096, 4 }, src_strides[] = { 4, 40000 * 64 };
	static const int64_t odd_dst_strides[] = { 4100, 4 }, odd_src_strides[] = { 4, 40004 };

	(void)state;
	check_cut(dst_strides, src_strides, 0, PIECE);
	check_cut(dst_strides, src_strides, 4, PIECE - 1);
	check_cut(dst_strides, src_strides, 60, PIECE - 15);
	check_cut(dst_strides, src_strides, 3, PIECE);
	check_cut(odd_dst_strides, src_strides, 4, PIECE);
	check_cut(dst_strides, odd_src_strides, 4, PIECE);
}

/* Parts of a matrix whose source is transposed, in rows, and in columns as wide as a piece. */
static void check_shape(int64_t rows, int64_t columns, int64_t expected_rows,
			int64_t expected_columns)
{
	const int64_t dst_strides[] = { rows * 4, 4 }, src_strides[] = { 4, columns * 4 };
	const struct engine_box box = { 2, { { 0, columns - 1 }, { 0, rows - 1 } } };
	struct engine_parts parts;
	struct engine_box part;

	engine_parts_init(&parts, &box, dst_strides, src_strides, 4, 4 << 20, false);
	check_parts(&parts, &box, (uint64_t)(rows * columns));
	engine_parts_box(&parts, &box, parts.count - 1, &part);
	assert_int_equal(part.dims[1].highest - part.dims[1].lowest + 1, expected_rows);
	assert_int_equal(part.dims[0].highest - part.dims[0].lowest + 1, expected_columns);
}

static void little_that_is_left_is_in_the_last_part(void **state)
{
	(void)state;
	check_shape(4096, 4096, 2048, PIECE);
	check_shape(4096 + 16, 4096, 2048 + 16, PIECE);
	check_shape(4096 + 2048 / 8, 4096, 2048 + 2048 / 8, PIECE);
	check_shape(4096 + 2048 / 8 + 16, 4096, 2048 / 8 + 16, PIECE);
	check_shape(4096, 4097, 2048, PIECE + 1);
	check_shape(4096, 4096 + PIECE / 8, 2048, PIECE + PIECE / 8);
	check_shape(4096, 4096 + PIECE / 8 + 1, 2048, PIECE / 8 + 1);
}

/*
 * Columns that begin anywhere in lines are cut as seldom as may be: parts have fewer of them, and
 * twice as much before one is cut.
 */
static void columns_off_cache_lines_stay_long(void **state)
{
	(void)state;
	check_shape(4097, 4096, 4097, SHORT_PIECE);
	check_shape(8192 + 8192 / 8 - 1, 4096, 8192 + 8192 / 8 - 1, SHORT_PIECE);
	check_shape(8192 + 8192 / 8 + 1, 4096, 8192 / 8 + 1, SHORT_PIECE);
}

/* How much of the source's rows parts of so many bytes have, whose columns begin within lines. */
static void check_rows(int64_t bytes, int64_t extent, int64_t expected)
{
	const int64_t dst_strides[] = { 80004, 4 }, src_strides[] = { 4, extent * 4 };
	const struct engine_box box = { 2, { { 0, extent - 1 }, { 0, 20000 } } };
	struct engine_parts parts;
	struct engine_box part;

	engine_parts_init(&parts, &box, dst_strides, src_strides, 4, bytes, false);
	check_parts(&parts, &box, (uint64_t)(extent * 20001));
	engine_parts_box(&parts, &box, 0, &part);
	assert_int_equal(part.dims[0].highest - part.dims[0].lowest + 1, expected);
}

static void rows_of_the_source_are_whole_if_columns_need_not_be_short(void **state)
{
	(void)state;
	check_rows(512 << 10, 384, 384);
	check_rows(512 << 10, 385, ROW_PIECE);
	check_rows(1 << 20, 512, 512);
	check_rows(1 << 20, 513, ROW_PIECE);
}

/* Whole columns that fill a part but for a little, or are a little more, are as many in one. */
static void parts_have_about_the_bytes_wished_for(void **state)
{
	(void)state;
	check_shape(1023, 4096, 1023, 2 * PIECE);
	check_shape(1025, 4096, 1025, 2 * PIECE);
	check_shape(2049, 4096, 2049, PIECE);
	check_shape(2048 + 2048 / 8, 4096, 2048 + 2048 / 8, PIECE);
	check_shape(2048 + 2048 / 8 + 16, 4096, 2048 / 8 + 16, PIECE);
}

static void parts_begin_with_lines_of_the_destination(void **state)
{
	static const uint8_t line[64] __attribute__((aligned(64)));
	static const int64_t dst_strides[] = { 64000, 4 }, odd_dst_strides[] = { 64004, 4 };
	static const int64_t src_strides[] = { 4, 4096 };
	const struct engine_box box = { 2, { { 0, 1023 }, { 5, 10004 } } };
	struct engine_parts parts;
	struct engine_box part;

	(void)state;
	engine_parts_init(&parts, &box, dst_strides, src_strides, 4, 1 << 20, false);
	engine_parts_align(&parts, &box, dst_strides, dst_strides, 4, line + 12);
	check_parts(&parts, &box, 1024 * 10000);
	engine_parts_box(&parts, &box, 0, &part);
	assert_int_equal(part.dims[1].highest - part.dims[1].lowest + 1, 256 - 3);

	engine_parts_init(&parts, &box, odd_dst_strides, src_strides, 4, 1 << 20, false);
	engine_parts_align(&parts, &box, odd_dst_strides, odd_dst_strides, 4, line + 12);
	check_parts(&parts, &box, 1024 * 10000);
	engine_parts_box(&parts, &box, 0, &part);
	assert_int_equal(part.dims[1].highest - part.dims[1].lowest + 1, 2048);
}

static void loop_that_a_source_runs_along_is_not_cut_to_pieces(void **state)
{
	static const int64_t dst_strides[] = { 4096, 4 }, src_strides[] = { 4, 40000 };
	const struct engine_box box = { 2, { { 0, 9999 }, { 0, 1023 } } };
	struct engine_parts parts;

	(void)state;
	engine_parts_init(&parts, &box, dst_strides, src_strides, 4, 8192, false);
	assert_int_equal(parts.dims[0], 0);
	assert_int_equal(parts.steps[0], PIECE);
}

static void parts_that_cannot_be_counted_are_one(void **state)
{
	static const int64_t strides[3];
	const struct engine_box box = {
		3, { { 0, INT64_MAX - 1 }, { 0, INT64_MAX - 1 }, { 0, INT64_MAX - 1 } }
	};
	struct engine_parts parts;

	(void)state;
	engine_parts_init(&parts, &box, strides, strides, 1, 1 << 20, false);
	assert_int_equal(parts.count, 1);
	assert_int_equal(parts.num_dims, 0);
}

static void parts_that_cannot_be_counted_with_one_more_are_one(void **state)
{
	static const uint8_t line[64] __attribute__((aligned(64)));
	static const int64_t dst_strides[] = { 4096, 0 }, src_strides[] = { 4, 0 };
	const struct engine_box box = {
		2, { { 0, 9 * PIECE + PIECE / 8 - 1 }, { 0, 2000000000000000000 - 1 } }
	};
	struct engine_parts parts;

	(void)state;
	engine_parts_init(&parts, &box, dst_strides, src_strides, 4, 4 * PIECE, false);
	assert_true(parts.count == 9 * 2000000000000000000u);
	engine_parts_align(&parts, &box, dst_strides, src_strides, 4, line + 4);
	assert_int_equal(parts.count, 1);
	assert_int_equal(parts.num_dims, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_copy_what_loops_over_bytes_do),
		cmocka_unit_test(runs_of_every_length_are_gathered),
		cmocka_unit_test(parts_are_put_together_in_scratch),
		cmocka_unit_test(run_goes_without_scratch_while_another_has_it),
		cmocka_unit_test(parts_hold_all_points),
		cmocka_unit_test(parts_are_merged_that_follow_each_other),
		cmocka_unit_test(one_part_is_merged_with_none),
		cmocka_unit_test(parts_have_no_more_bytes_than_a_limit),
		cmocka_unit_test(little_that_is_left_is_in_the_last_part),
		cmocka_unit_test(columns_off_cache_lines_stay_long),
		cmocka_unit_test(rows_of_the_source_are_whole_if_columns_need_not_be_short),
		cmocka_unit_test(parts_have_about_the_bytes_wished_for),
		cmocka_unit_test(parts_that_begin_with_lines_hold_all_points),
		cmocka_unit_test(parts_begin_with_lines_of_the_source),
		cmocka_unit_test(parts_begin_with_lines_of_the_destination),
		cmocka_unit_test(loop_that_a_source_runs_along_is_not_cut_to_pieces),
		cmocka_unit_test(parts_that_cannot_be_counted_are_one),
		cmocka_unit_test(parts_that_cannot_be_counted_with_one_more_are_one),
	};

	run = parse_options(argc, argv, 500);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
