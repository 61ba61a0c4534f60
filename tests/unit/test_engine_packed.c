// SPDX-License-Identifier: MIT
/*
 * Transposes in the caches, of rows that crowd each other: when they are packed, every edge of a
 * block, progress and cancellation; and kernels on rows and columns that crowd each other.
 */
#include "engine/isa.h"
#include "engine/kernels.h"
#include "engine/place.h"
#include "engine/plan.h"
#include "random_test.h"

/* Columns of the source, rows of the destination, and how far apart they lie on either side. */
struct matrix {
	uint32_t size_shift;
	int64_t columns, rows;
	int64_t dst_stride, src_stride;	/* in bytes */
	int64_t offset;			/* bytes before the first element of the source */
};

/*
 * Who packs: AVX2 what is near, and what comes from far, and AVX-512 both; or that only on CPUs
 * that wait for loads across lines.
 */
enum { AVX2_NEAR = 1, AVX2_FAR = 2, AVX2 = 3, AVX512 = 4, BY_LINES = 8, BOTH = 7 };

struct memory {
	uint8_t *dst, *src, *expected;
	size_t dst_bytes, src_bytes;
};

static uint8_t *new_array(size_t size, uint32_t seed)
{
	uint8_t *bytes = malloc(size);

	assert_non_null(bytes);
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(i * 31 + i / 251 + seed);
	return bytes;
}

static size_t bytes_of(int64_t count, int64_t stride, int64_t row_bytes)
{
	return (size_t)((count - 1) * (stride < 0 ? -stride : stride) + row_bytes);
}

static void init_memory(struct memory *memory, const struct matrix *m)
{
	const int64_t size = 1ll << m->size_shift;

	memory->dst_bytes = bytes_of(m->columns, m->dst_stride, m->rows * size);
	memory->src_bytes = (size_t)m->offset + bytes_of(m->rows, m->src_stride, m->columns * size);
	memory->dst = new_array(memory->dst_bytes, 1);
	memory->src = new_array(memory->src_bytes, 2);
	memory->expected = new_array(memory->dst_bytes, 1);
}

static void free_memory(struct memory *memory)
{
	free(memory->dst);
	free(memory->src);
	free(memory->expected);
}

/* The last row of the source first, if its stride is negative. */
static struct engine_job *matrix_job(const struct matrix *m, const struct memory *memory,
				     uint8_t *dst, const uint8_t *src)
{
	const int64_t size = 1ll << m->size_shift;
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_CLASS_RAW | m->size_shift);

	add_loop(job, (uint64_t)m->columns, m->dst_stride, size);
	add_loop(job, (uint64_t)m->rows, size, m->src_stride);
	job->operands[1].spec.address.offset =
		m->offset + (m->src_stride < 0 ? (1 - m->rows) * m->src_stride : 0);
	set_buffer(job, 0, dst, memory->dst_bytes);
	set_buffer(job, 1, src, memory->src_bytes);
	return job;
}

/* A plan of the instruction set chosen, and what it says of itself. */
static struct engine_plan *create_plan(const struct engine_job *job, bool streams, bool is_far,
				       char text[160])
{
	struct engine_fault fault = { 0 };
	struct engine_plan *plan;

	if (engine_plan_create(job, &plan, &fault))
		fail_msg("%s", fault.text);
	plan->streams = streams;
	plan->is_far = is_far;
	engine_plan_describe(plan, text, 160);
	return plan;
}

/*
 * Runs it in memory that begins or ends at a guard page, where it is from far; gaps between rows
 * must stay.
 */
static void check_run(const struct matrix *m, const struct memory *memory, bool streams,
		      bool is_packed, bool at_end)
{
	struct guarded dst = guarded_copy(memory->dst, memory->dst_bytes, at_end);
	/* where rows begin with lines it matters which ones */
	struct guarded src = guarded_copy(memory->src, memory->src_bytes,
					  at_end && m->src_stride % 64);
	struct engine_job *job = matrix_job(m, memory, dst.bytes, src.bytes);
	struct engine_fault fault = { 0 };
	struct engine_plan *plan;
	char text[160];

	plan = create_plan(job, streams, at_end, text);
	if (!strstr(text, " packed") == is_packed)
		fail_msg("%s, %" PRId64 " and %" PRId64 " bytes apart: expected to be%s packed",
			 text, m->dst_stride, m->src_stride, is_packed ? "" : " not");
	assert_int_equal(engine_plan_run(plan, NULL, &fault), 0);
	engine_plan_destroy(plan);
	if (memcmp(dst.bytes, memory->expected, memory->dst_bytes))
		fail_msg("%s, %" PRId64 " columns, %" PRId64 " rows: wrong", text, m->columns,
			 m->rows);
	munmap(dst.mapping, dst.mapped);
	munmap(src.mapping, src.mapped);
	free(job);
}

static bool is_packed_by(uint32_t packers, const struct engine_isa *isa, bool is_far)
{
	if (!strcmp(isa->name, "avx2"))
		return packers & (is_far ? AVX2_FAR : AVX2_NEAR);
	return !strcmp(isa->name, "avx512") &&
	       packers & (engine_loads_across() ? AVX512 : AVX512 | BY_LINES);
}

static void check_matrix(const struct matrix *m, bool streams, uint32_t packers)
{
	struct memory memory;
	struct engine_job *job;

	init_memory(&memory, m);
	job = matrix_job(m, &memory, memory.expected, memory.src);
	assert_int_equal(reference_run(job, NULL), 0);
	free(job);
	for (uint32_t k = 0; engine_isa_at(k); k++) {
		const struct engine_isa *isa = engine_isa_at(k);

		if (!isa->is_available())
			continue;
		setenv(ENGINE_ISA_VARIABLE, isa->name, 1);
		check_run(m, &memory, streams, is_packed_by(packers, isa, false), false);
		check_run(m, &memory, streams, is_packed_by(packers, isa, true), true);
		unsetenv(ENGINE_ISA_VARIABLE);
	}
	free_memory(&memory);
}

/*
 * Some rows of the destination, of each size, from such strides of the source. Columns are as far
 * apart, or have room enough.
 */
static void check_stride(int64_t stride, bool adds_element, bool are_crowded,
			 const uint32_t packers[4])
{
	for (uint32_t shift = 0; shift <= 3; shift++) {
		const int64_t size = 1ll << shift, apart = stride + (adds_element ? size : 0);
		struct matrix m = { shift, 200 >> shift, 131, 150 * size, apart, 0 };

		if (are_crowded)
			m.dst_stride = apart;
		check_matrix(&m, false, packers[shift]);
		m.src_stride = -apart;
		check_matrix(&m, false, packers[shift]);
	}
}

/* AVX-512 has rows enough in squares of elements of 8 bytes; AVX2 leaves these if they are far. */
static void rows_almost_a_power_of_two_apart_are_packed(void **state)
{
	static const uint32_t packers[] = { BOTH, BOTH, BOTH, AVX2_NEAR };

	(void)state;
	check_stride(4096, true, true, packers);
	check_stride(4096 - 4, false, true, packers);
	check_stride(3 * 4096, true, true, packers);
}

/*
 * AVX2 has a strip of whole lines then, but for squares of more rows than have room. AVX-512 packs
 * all, but not where few rows meet in a set and loads across lines are quick.
 */
static void rows_to_columns_that_have_room_are_packed_by_few(void **state)
{
	(void)state;
	check_stride(4096, true, false, (const uint32_t[]){ BOTH, BOTH, AVX512, 0 });
	check_stride(2048, true, false, (const uint32_t[]){ BOTH, BY_LINES, BY_LINES, 0 });
	check_stride(1024, true, false, (const uint32_t[]){ BY_LINES, BY_LINES, 0, 0 });
}

/* Of columns that crowd each other lanes are stored, which come back to each line of a row. */
static void fewer_rows_that_meet_are_packed_for_lanes(void **state)
{
	(void)state;
	check_matrix(&(struct matrix){ 0, 200, 131, 1025, 1025, 0 }, false, BOTH);
	check_matrix(&(struct matrix){ 1, 100, 131, 514, 2050, 0 }, false, BOTH);
	check_matrix(&(struct matrix){ 1, 100, 131, 2050, 2050, 0 }, false, BOTH);
}

static void rows_with_other_strides_are_not_packed(void **state)
{
	(void)state;
	check_stride(1400, true, false, (const uint32_t[4]){ 0 });
	check_stride(4096 - 32, false, false, (const uint32_t[4]){ 0 });
	check_stride(4096, false, false, (const uint32_t[]){ AVX2, AVX2, 0, 0 });
	/* whatever the columns */
	check_matrix(&(struct matrix){ 2, 100, 131, 4100, 1404, 0 }, false, 0);
}

/* By AVX2, the fewer columns there is room for; by AVX-512 all, unless few rows meet. */
static void narrow_strips_are_packed(void **state)
{
	(void)state;
	/* for a line: rows of 64 bytes of each strip */
	check_matrix(&(struct matrix){ 0, 200, 131, 513, 1025, 0 }, false, AVX2 | BY_LINES);
	check_matrix(&(struct matrix){ 2, 100, 131, 2052, 2052, 0 }, false, AVX2 | BY_LINES);
	/* for two: where few rows are back in their sets, and not bytes */
	check_matrix(&(struct matrix){ 0, 200, 131, 257, 1025, 0 }, false, BY_LINES);
	check_matrix(&(struct matrix){ 1, 100, 131, 514, 1026, 0 }, false, AVX2 | BY_LINES);
	check_matrix(&(struct matrix){ 2, 100, 131, 1028, 2052, 0 }, false, AVX2 | BY_LINES);
	check_matrix(&(struct matrix){ 2, 100, 131, 1028, 1026, 0 }, false, BY_LINES);
	check_matrix(&(struct matrix){ 3, 50, 131, 2056, 4104, 0 }, false, AVX2_NEAR);
	check_matrix(&(struct matrix){ 3, 50, 131, 2056, 2052, 0 }, false, 0);
	check_matrix(&(struct matrix){ 4, 25, 131, 4112, 4112, 0 }, false, AVX2_NEAR);
	/* for more */
	check_matrix(&(struct matrix){ 2, 100, 128, 516, 4100, 0 }, false, AVX512);
}

/* AVX-512 has lines whole that rows begin with, AVX2 where strips are that wide. */
static void rows_that_begin_with_lines_are_packed_by_few(void **state)
{
	(void)state;
	check_matrix(&(struct matrix){ 2, 100, 131, 600, 2048, 4 }, false, AVX512);
	check_matrix(&(struct matrix){ 2, 100, 131, 600, 2048, 64 }, false, 0);
	check_matrix(&(struct matrix){ 2, 100, 131, 600, 1024, 4 }, false, 0);
	check_matrix(&(struct matrix){ 2, 100, 131, 4100, 1024, 0 }, false, AVX2_NEAR);
	check_matrix(&(struct matrix){ 2, 100, 131, 2052, 1024, 0 }, false, 0);
	check_matrix(&(struct matrix){ 1, 100, 131, 2050, 1024, 0 }, false, AVX2);
	check_matrix(&(struct matrix){ 0, 200, 131, 150, 4096, 1 }, false, BOTH);
	check_matrix(&(struct matrix){ 0, 200, 131, 150, 4096, 0 }, false, AVX2);
	check_matrix(&(struct matrix){ 3, 50, 131, 1200, 4096, 8 }, false, 0);
	check_matrix(&(struct matrix){ 3, 50, 131, 4096, 4096, 0 }, false, 0);
}

static void only_small_elements_are_packed_where_jobs_are_to_stream(void **state)
{
	(void)state;
	check_matrix(&(struct matrix){ 0, 200, 131, 4097, 4097, 0 }, true, BOTH);
	check_matrix(&(struct matrix){ 1, 100, 131, 4098, 4098, 0 }, true, BOTH);
	check_matrix(&(struct matrix){ 2, 100, 131, 4100, 4100, 0 }, true, 0);
	check_matrix(&(struct matrix){ 3, 100, 131, 4104, 4104, 0 }, true, 0);
}

static void few_or_short_rows_are_not_packed(void **state)
{
	(void)state;
	check_matrix(&(struct matrix){ 2, 100, 64, 4100, 4100, 0 }, false, BOTH);
	check_matrix(&(struct matrix){ 2, 100, 63, 4100, 4100, 0 }, false, 0);
	check_matrix(&(struct matrix){ 2, 32, 131, 4100, 4100, 0 }, false, BOTH);
	check_matrix(&(struct matrix){ 2, 31, 131, 4100, 4100, 0 }, false, 0);
}

/* Around as many rows and columns as a block has, and with what is left over, and twice as many. */
static void blocks_end_anywhere(void **state)
{
	static const int64_t rows[] = { 64, 65, 127, 128, 129, 191, 192, 257, 319 };
	static const int64_t bytes[] = { 248, 256, 264, 316, 320, 504, 536 };

	(void)state;
	for (uint32_t shift = 0; shift <= 4; shift++)
		for (size_t i = 0; i < COUNT(rows) * COUNT(bytes); i++)
			check_matrix(&(struct matrix){
				shift, bytes[i / COUNT(rows)] >> shift, rows[i % COUNT(rows)],
				8192 + (1 << shift), 4096 + (1 << shift), 0 },
				false, shift <= 2 ? BOTH : AVX2_NEAR);
}

/* Runs a job from one array to another; whether its rows were packed. */
static bool run_packed(struct engine_job *job, size_t dst_bytes, size_t src_bytes)
{
	uint8_t *src = new_array(src_bytes, 3), *dst = new_array(dst_bytes, 4);
	uint8_t *expected = new_array(dst_bytes, 4);
	struct engine_fault fault = { 0 };
	struct engine_plan *plan;
	char text[160];
	bool is_packed;

	set_buffer(job, 0, expected, dst_bytes);
	set_buffer(job, 1, src, src_bytes);
	assert_int_equal(reference_run(job, NULL), 0);
	set_buffer(job, 0, dst, dst_bytes);
	plan = create_plan(job, false, false, text);
	assert_non_null(strstr(text, "transpose of"));
	is_packed = strstr(text, " packed");
	assert_int_equal(engine_plan_run(plan, NULL, &fault), 0);
	assert_memory_equal(dst, expected, dst_bytes);
	engine_plan_destroy(plan);
	free(job);
	free(src);
	free(dst);
	free(expected);
	return is_packed;
}

/* One after the other. */
static void planes_of_packed_rows_are_transposed(void **state)
{
	enum { PLANES = 3, COLUMNS = 80, ROWS = 70, STRIDE = 4098 };
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U16);

	(void)state;
	add_loop(job, PLANES, COLUMNS * ROWS * 2, ROWS * STRIDE);
	add_loop(job, COLUMNS, ROWS * 2, 2);
	add_loop(job, ROWS, 2, STRIDE);
	assert_int_equal(run_packed(job, PLANES * COLUMNS * ROWS * 2, PLANES * ROWS * STRIDE),
			 engine_isa_choose()->transpose->is_better_packed != NULL);
}

/* Pairs of 16 bytes, which are more than a square has of a row. */
static void larger_elements_than_squares_are_not_packed(void **state)
{
	enum { COLUMNS = 20, ROWS = 70, STRIDE = 4112 };
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_CLASS_RAW | 4);

	(void)state;
	add_loop(job, COLUMNS, STRIDE, 32);
	add_loop(job, ROWS, 32, STRIDE);
	add_loop(job, 2, 16, 16);
	assert_false(run_packed(job, COLUMNS * STRIDE, ROWS * STRIDE));
}

/* Lets a run go on three times. */
static bool may_go_on(void *context)
{
	uint32_t *num_asked = context;

	return ++*num_asked <= 3;
}

/*
 * Told of every byte, as of other moves; where it may not go on, it stops. The destination begins
 * within a line, so that the first blocks have fewer rows, and progress is told after each second.
 */
static void progress_is_told_and_cancellation_noticed(void **state)
{
	const struct matrix m = { 2, 512, 508, 2048, 4100, 0 };
	uint64_t progress = 0;
	uint32_t cancel = 0, num_asked = 0;
	const struct engine_control control = {
		.progress = &progress,
		.cancel = &cancel,
		.may_go_on = may_go_on,
		.context = &num_asked,
	};
	struct engine_fault fault = { 0 };
	struct engine_plan *plan;
	struct memory memory;
	struct guarded dst;
	struct engine_job *job;
	char text[160];

	(void)state;
	init_memory(&memory, &m);
	dst = guarded_copy(memory.dst, memory.dst_bytes, true);
	assert_int_equal((uintptr_t)dst.bytes % 64, 16);
	job = matrix_job(&m, &memory, dst.bytes, memory.src);
	plan = create_plan(job, false, false, text);
	assert_int_equal(!strstr(text, " packed"), !plan->isa->transpose->is_better_packed);
	assert_int_equal(engine_plan_run(plan, &control, &fault), 0);
	assert_int_equal(progress, 512 * 508 * 4);
	progress = 0;
	cancel = 1;
	assert_int_equal(engine_plan_run(plan, &control, &fault), -ECANCELED);
	assert_int_equal(num_asked, 4);
	/* first it is asked at the beginning */
	assert_true(progress < 3 * 2 * ENGINE_REPORT_BYTES);
	engine_plan_destroy(plan);
	munmap(dst.mapping, dst.mapped);
	free(job);
	free_memory(&memory);
}

/* Tiles of which either side's rows crowd each other, or begin with lines, or neither. */
static void check_kernel(engine_tile_kernel *kernel, const struct matrix *m, bool at_end)
{
	const int64_t size = 1ll << m->size_shift;
	const struct engine_tile tile = {
		.extents = { m->columns, m->rows },
		.dst_strides = { m->dst_stride, size },
		.src_strides = { size, m->src_stride },
		.ahead = 64,
	};
	struct guarded dst, src;
	struct memory memory;

	init_memory(&memory, m);
	dst = guarded_copy(memory.dst, memory.dst_bytes, at_end);
	src = guarded_copy(memory.src, memory.src_bytes, at_end);
	for (int64_t c = 0; c < m->columns; c++)
		for (int64_t r = 0; r < m->rows; r++)
			memcpy(memory.expected + c * m->dst_stride + r * size,
			       memory.src + r * m->src_stride + c * size, (size_t)size);
	kernel(dst.bytes, src.bytes, &tile);
	if (memcmp(dst.bytes, memory.expected, memory.dst_bytes))
		fail_msg("%" PRId64 " columns, %" PRId64 " rows of %" PRId64
			 "-byte elements, strides %" PRId64 ", %" PRId64 ": wrong",
			 m->columns, m->rows, size, m->dst_stride, m->src_stride);
	munmap(dst.mapping, dst.mapped);
	munmap(src.mapping, src.mapped);
	free_memory(&memory);
}

static void check_kernels_of(const struct engine_isa *isa, uint32_t shift)
{
	static const int64_t sides[] = { 1, 15, 16, 17, 64, 65, 130 };
	static const struct { int64_t dst, src; } strides[] = {
		{ 4100, 2240 }, { 4092, 2256 }, { 2240, 4112 }, { 4096, 4096 },
		/* in the same sets, if both sides begin alike in a page, and in others */
		{ 4104, 4104 }, { 4104, 4088 },
		/* so that columns drift through sets together with rows */
		{ 4104, 6152 }, { 6152, 6152 },
		/* rows have room */
		{ 4104, 1048 }, { 4104, 4408 },
	};
	const size_t num = COUNT(sides) * COUNT(sides);

	for (size_t i = 0; i < num * COUNT(strides); i++)
		check_kernel(isa->transpose->transpose[shift],
			     &(struct matrix){
				     shift, sides[i % num / COUNT(sides)],
				     sides[i % COUNT(sides)], strides[i / num].dst,
				     strides[i / num].src, 0
			     }, i % 2);
}

static void kernels_take_rows_that_crowd_each_other(void **state)
{
	(void)state;
	for (uint32_t k = 0; engine_isa_at(k); k++)
		if (engine_isa_at(k)->is_available())
			for (uint32_t shift = 0; shift <= 4; shift++)
				check_kernels_of(engine_isa_at(k), shift);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_almost_a_power_of_two_apart_are_packed),
		cmocka_unit_test(rows_to_columns_that_have_room_are_packed_by_few),
		cmocka_unit_test(rows_with_other_strides_are_not_packed),
		cmocka_unit_test(fewer_rows_that_meet_are_packed_for_lanes),
		cmocka_unit_test(narrow_strips_are_packed),
		cmocka_unit_test(rows_that_begin_with_lines_are_packed_by_few),
		cmocka_unit_test(only_small_elements_are_packed_where_jobs_are_to_stream),
		cmocka_unit_test(few_or_short_rows_are_not_packed),
		cmocka_unit_test(blocks_end_anywhere),
		cmocka_unit_test(planes_of_packed_rows_are_transposed),
		cmocka_unit_test(larger_elements_than_squares_are_not_packed),
		cmocka_unit_test(progress_is_told_and_cancellation_noticed),
		cmocka_unit_test(kernels_take_rows_that_crowd_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
