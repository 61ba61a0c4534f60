// SPDX-License-Identifier: MIT
/*
 * Windows that slide over their source: the kernels for rows that begin anywhere, and the jobs that
 * take them, by every instruction set that this CPU has.
 */
#include "engine/cache.h"
#include "engine/kernels.h"
#include "engine/move_windows.h"
#include "engine/plan.h"
#include "engine_test.h"
#include "random_test.h"

enum { MAX_ROWS = 128, PITCH = 128 };

/* What a kernel is given. */
struct kernel_case {
	int64_t size;
	int64_t columns;
	int64_t rows;
	int64_t steps;		/* from column to column, in elements */
	bool has_borders;	/* rows do not have all columns */
	bool streams;
	bool at_end;		/* memory ends, and else begins, at a guard page */
};

/* The columns that row r has: all but the first, all but the last, all, or none. */
static uint64_t columns_of(const struct kernel_case *given, int64_t r)
{
	const uint64_t all = ~0ull >> (64 - given->columns);

	switch (r % 4) {
	case 0:
		return all & ~1ull;
	case 1:
		return all >> 1;
	case 2:
		return all;
	default:
		return 0;
	}
}

/*
 * Where row r is, of rows that lie in no order, and overlap. What it does not have would be before
 * the memory, or behind it.
 */
static int64_t place_of(const struct kernel_case *given, int64_t r)
{
	const int64_t step = given->steps * given->size;

	if (!given->has_borders || r % 4 == 2)
		return (r * 5 + 3) % (2 * given->rows + 1) * given->size;
	if (r % 4 == 0)
		return -step;
	return r % 4 == 1 ? (2 * given->rows + given->steps) * given->size : INT64_MAX / 2;
}

static void expect_rows(const struct kernel_case *given, uint8_t *expected, const uint8_t *from,
			const uint8_t *fill)
{
	for (int64_t c = 0; c < given->columns; c++)
		for (int64_t r = 0; r < given->rows; r++) {
			bool is_there = !given->has_borders || columns_of(given, r) >> c & 1;
			int64_t place = place_of(given, r) + c * given->steps * given->size;

			memcpy(expected + (c * PITCH + r) * given->size,
			       is_there ? from + place : fill, (size_t)given->size);
		}
}

/* From guard page to guard page; what is streamed begins at a line. */
static void check_kernel(engine_rows_kernel *kernel, const struct kernel_case *given)
{
	static const uint8_t fill[8] = { 0xf1, 0xe2, 0xd3, 0xc4, 0xb5, 0xa6, 0x97, 0x88 };
	const int64_t size = given->size, columns = given->columns, rows = given->rows;
	const size_t src_bytes = (size_t)(((columns - 1) * given->steps + 1 + 2 * rows) * size);
	const size_t dst_bytes = (size_t)(((columns - 1) * PITCH + rows) * size);
	const struct engine_tile tile = {
		.extents = { columns, rows },
		.dst_strides = { PITCH * size, size },
		.src_strides = { given->steps * size },
	};
	uint8_t *from = malloc(src_bytes), *expected = calloc(1, dst_bytes);
	int64_t places[MAX_ROWS];
	uint64_t had[MAX_ROWS];
	struct guarded src, dst;

	for (size_t i = 0; i < src_bytes; i++)
		from[i] = (uint8_t)(i * 37 + i / 256);
	src = guarded_copy(from, src_bytes, given->at_end);
	dst = guarded_copy(expected, dst_bytes, given->at_end);
	for (int64_t r = 0; r < rows; r++) {
		places[r] = place_of(given, r);
		had[r] = given->has_borders ? columns_of(given, r) : 0;
	}
	expect_rows(given, expected, from, fill);
	kernel(dst.bytes, src.bytes,
	       &(struct engine_rows){ .places = places, .columns = given->has_borders ? had : NULL,
				      .fill = fill, .streams = given->streams }, &tile);
	assert_memory_equal(dst.bytes, expected, dst_bytes);
	munmap(dst.mapping, dst.mapped);
	munmap(src.mapping, src.mapped);
	free(from);
	free(expected);
}

/* Every size, for every instruction set that has such kernels. */
static void for_each_kernel(void (*check)(engine_rows_kernel *kernel, int64_t size,
					  int64_t most_steps))
{
	for (uint32_t k = 0; engine_isa_at(k); k++) {
		const struct engine_isa *isa = engine_isa_at(k);

		if (!isa->is_available() || !isa->transpose->transpose_rows)
			continue;
		for (uint32_t shift = 0; shift < ENGINE_NUM_INTERLEAVED; shift++)
			check(isa->transpose->transpose_rows[shift], 1 << shift,
			      isa->transpose->most_steps);
	}
}

static const int64_t sides[] = { 1, 2, 3, 8, 15, 16, 17, 24, 32, 33, 48, 64, 70 };

static void check_whole_rows(engine_rows_kernel *kernel, int64_t size, int64_t most_steps)
{
	for (size_t i = 0; i < 2 * COUNT(sides) * COUNT(sides); i++)
		check_kernel(kernel, &(struct kernel_case){
			.size = size, .columns = sides[i / 2 / COUNT(sides)],
			.rows = sides[i / 2 % COUNT(sides)], .steps = 1 + (int64_t)i % most_steps,
			.at_end = i / 2 % 2,
		});
}

static void kernels_touch_their_elements_alone(void **state)
{
	(void)state;
	for_each_kernel(check_whole_rows);
}

static void check_borders(engine_rows_kernel *kernel, int64_t size, int64_t most_steps)
{
	for (size_t i = 0; i < 4 * COUNT(sides) * COUNT(sides); i++) {
		struct kernel_case given = {
			.size = size, .columns = sides[i / 4 / COUNT(sides)],
			.rows = sides[i / 4 % COUNT(sides)], .steps = 1 + (int64_t)i % most_steps,
			.has_borders = true, .at_end = i / 2 % 2,
		};

		if (given.columns <= 64)
			check_kernel(kernel, &given);
	}
}

static void what_a_row_does_not_have_is_filled_and_not_read(void **state)
{
	(void)state;
	for_each_kernel(check_borders);
}

/* Rows of the destination are whole lines, but for the last one. */
static void check_streams(engine_rows_kernel *kernel, int64_t size, int64_t most_steps)
{
	for (int64_t i = 0; i < 4; i++)
		check_kernel(kernel, &(struct kernel_case){
			.size = size, .columns = 40, .rows = PITCH - 8 + 8 * (i % 2),
			.steps = 1 + i % most_steps, .has_borders = i / 2, .streams = true,
		});
}

static void whole_lines_are_streamed(void **state)
{
	(void)state;
	for_each_kernel(check_streams);
}

static const uint32_t raw_types[] = {
	DRM_TESSERA_DTYPE_RAW8, DRM_TESSERA_DTYPE_RAW16, DRM_TESSERA_DTYPE_RAW32,
	DRM_TESSERA_DTYPE_RAW64, DRM_TESSERA_DTYPE_RAW128,
};

/* Windows of taps x taps over an image of channels planes, as rows of a matrix, row by row. */
struct im2col {
	uint32_t size_shift;
	int64_t channels;
	int64_t taps;
	int64_t padding;
	int64_t width;		/* of the image */
	int64_t step;		/* from window to window, in elements; 0: one */
};

enum { HEIGHT = 9 };

static struct engine_job *new_im2col(const struct im2col *im2col, const uint8_t *image,
				     uint8_t *matrix, size_t *matrix_bytes)
{
	const int64_t size = 1 << im2col->size_shift, taps = im2col->taps;
	const int64_t row = im2col->channels * taps * taps * size, width = im2col->width;
	const int64_t step = im2col->step ? im2col->step : 1;
	const int64_t rows = (HEIGHT + 2 * im2col->padding - taps) / step + 1;
	const int64_t columns = (width + 2 * im2col->padding - taps) / step + 1;
	struct engine_job *job = new_job(1, raw_types[im2col->size_shift]);

	*matrix_bytes = (size_t)(rows * columns * row);
	set_buffer(job, 0, matrix, *matrix_bytes);
	set_buffer(job, 1, image, (uint64_t)(im2col->channels * HEIGHT * width * size));
	add_loop(job, (uint64_t)rows, columns * row, step * width * size);
	add_loop(job, (uint64_t)columns, row, step * size);
	add_loop(job, (uint64_t)im2col->channels, taps * taps * size, HEIGHT * width * size);
	add_loop(job, (uint64_t)taps, taps * size, width * size);
	add_loop(job, (uint64_t)taps, size, size);
	job->operands[1].spec.address.offset = -im2col->padding * (width + 1) * size;
	memset(job->operands[1].spec.fill, 0x3c, (size_t)size);
	for (int t = 0; t < 2; t++) {
		struct drm_tessera_window *window = add_window(job, 1, -im2col->padding,
							       (uint64_t)(t ? width : HEIGHT));

		window->value.strides[t] = step;
		window->value.strides[3 + t] = 1;
	}
	return job;
}

static void check_im2col(const struct im2col *im2col)
{
	const size_t most = (size_t)(HEIGHT + 2) * 70 * 16 * (size_t)(im2col->channels *
							     im2col->taps * im2col->taps);
	uint8_t *image = malloc((size_t)(im2col->channels * HEIGHT * im2col->width) * 16);
	uint8_t *matrix = malloc(most), *right = malloc(most);
	struct engine_fault fault;
	struct engine_plan *plan;
	struct engine_job *job;
	size_t bytes;

	for (int64_t i = 0; i < im2col->channels * HEIGHT * im2col->width * 16; i++)
		image[i] = (uint8_t)(i * 59 + i / 256);
	job = new_im2col(im2col, image, matrix, &bytes);
	assert_true(bytes <= most);
	assert_int_equal(engine_plan_create(job, &plan, &fault), 0);
	assert_int_equal(engine_plan_run(plan, NULL, &fault), 0);
	job->operands[0].buffer.base = right;
	assert_int_equal(reference_run(job, NULL), 0);
	assert_memory_equal(matrix, right, bytes);
	engine_plan_destroy(plan);
	free(job);
	free(image);
	free(matrix);
	free(right);
}

static void for_each_isa(void (*check)(void))
{
	for (uint32_t k = 0; engine_isa_at(k); k++) {
		if (!engine_isa_at(k)->is_available())
			continue;
		setenv(ENGINE_ISA_VARIABLE, engine_isa_at(k)->name, 1);
		check();
		unsetenv(ENGINE_ISA_VARIABLE);
	}
}

static void check_shapes(void)
{
	static const int64_t widths[] = { 7, 8, 10, 16, 33, 66 };

	for (uint32_t shift = 0; shift < COUNT(raw_types); shift++)
		for (int64_t taps = 1; taps <= 7; taps++)
			for (size_t w = 0; w < COUNT(widths); w++)
				check_im2col(&(struct im2col){ shift, taps % 3 * 5 + 1, taps,
							       taps % 2, widths[w], 0 });
}

static void windows_of_every_shape_are_moved(void **state)
{
	(void)state;
	for_each_isa(check_shapes);
}

static void check_steps(void)
{
	static const int64_t widths[] = { 16, 19, 35, 66 };

	for (uint32_t shift = 0; shift < COUNT(raw_types); shift++)
		for (int64_t taps = 2; taps <= 7; taps++)
			for (size_t w = 0; w < COUNT(widths); w++)
				check_im2col(&(struct im2col){ shift, 8, taps, taps / 2, widths[w],
							       2 + taps % 2 });
}

static void windows_move_by_more_than_an_element(void **state)
{
	(void)state;
	for_each_isa(check_steps);
}

/* The plan of a small job, as if the destination had no room in the caches. */
static void check_streamed_windows(void)
{
	enum { CHANNELS = 64, TAPS = 3, COLUMNS = 40, BYTES = HEIGHT * COLUMNS * CHANNELS * 36 };
	const struct im2col im2col = { 2, CHANNELS, TAPS, 1, COLUMNS, 1 };
	uint8_t *image = malloc(CHANNELS * HEIGHT * COLUMNS * 4);
	uint8_t *matrix = aligned_alloc(64, BYTES), *right = malloc(BYTES);
	struct engine_windows windows;
	struct engine_fault fault;
	struct engine_plan *plan;
	struct engine_job *job;
	size_t bytes;

	for (size_t i = 0; i < CHANNELS * HEIGHT * COLUMNS * 4; i++)
		image[i] = (uint8_t)(i * 59 + i / 256);
	job = new_im2col(&im2col, image, matrix, &bytes);
	assert_int_equal(bytes, BYTES);
	assert_int_equal(engine_plan_create(job, &plan, &fault), 0);
	plan->streams = true;
	if (plan->slides) {
		assert_true(engine_windows_match(&windows, plan, &plan->box));
		assert_true(windows.streams);
	}
	assert_int_equal(engine_plan_run(plan, NULL, &fault), 0);
	job->operands[0].buffer.base = right;
	assert_int_equal(reference_run(job, NULL), 0);
	assert_memory_equal(matrix, right, BYTES);
	engine_plan_destroy(plan);
	free(job);
	free(image);
	free(matrix);
	free(right);
}

static void windows_of_whole_lines_are_streamed_with_their_borders(void **state)
{
	(void)state;
	for_each_isa(check_streamed_windows);
}

static void check_many_taps(void)
{
	check_im2col(&(struct im2col){ 2, 300, 3, 1, 20, 0 });
	check_im2col(&(struct im2col){ 1, 5, 7, 0, 40, 0 });
	check_im2col(&(struct im2col){ 0, 1100, 1, 0, 20, 0 });
}

static void windows_of_more_elements_than_are_placed_at_a_time(void **state)
{
	(void)state;
	for_each_isa(check_many_taps);
}

/* Two loops around one of 2000 elements: a window goes no further than where there is room. */
static void check_long_inner_loop(void)
{
	enum { SLIDES = 16, SHORT = 3, LONG = 2000, WINDOW = 2 * LONG * SHORT };
	static uint32_t from[LONG * 8 + 40000], to[SLIDES * WINDOW], right[SLIDES * WINDOW];
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_RAW32);
	struct engine_fault fault;
	struct engine_plan *plan;

	for (uint32_t i = 0; i < COUNT(from); i++)
		from[i] = i;
	SET_BUFFER(job, 0, to);
	SET_BUFFER(job, 1, from);
	add_loop(job, SLIDES, WINDOW * 4, 4);
	add_loop(job, 2, LONG * SHORT * 4, 80000);
	add_loop(job, LONG, SHORT * 4, 7 * 4);
	add_loop(job, SHORT, 4, 4);
	assert_int_equal(engine_plan_create(job, &plan, &fault), 0);
	assert_int_equal(engine_plan_run(plan, NULL, &fault), 0);
	SET_BUFFER(job, 0, right);
	assert_int_equal(reference_run(job, NULL), 0);
	assert_memory_equal(to, right, sizeof(to));
	engine_plan_destroy(plan);
	free(job);
}

static void loop_of_a_window_that_is_too_long_is_cut(void **state)
{
	(void)state;
	for_each_isa(check_long_inner_loop);
}

/* A plan looks at no memory: the buffers need not be there. */
static bool is_put_together(int64_t taps, int64_t padding)
{
	static uint8_t nothing;
	const struct im2col im2col = { 2, 8, taps, padding, 64, 0 };
	const uint64_t images = engine_last_level_cache() / (8 * 9 * 7 * 62) + 1;
	struct engine_fault fault;
	struct engine_plan *plan;
	struct engine_job *job;
	size_t bytes;
	bool is_staged;

	job = new_im2col(&im2col, &nothing, &nothing, &bytes);
	job->operands[0].buffer.size *= images;
	add_loop(job, images, (int64_t)bytes, 0);
	assert_int_equal(engine_plan_create(job, &plan, &fault), 0);
	is_staged = plan->is_staged;
	engine_plan_destroy(plan);
	free(job);
	return is_staged;
}

static void short_runs_of_a_large_destination_are_put_together(void **state)
{
	(void)state;
	assert_true(is_put_together(3, 1));
	assert_true(is_put_together(3, 0));
	/* windows of one element are a transpose */
	assert_false(is_put_together(1, 0));
}

static void windows_are_canceled_while_they_are_moved(void **state)
{
	const struct im2col im2col = { 2, 64, 3, 0, 64, 0 };
	uint8_t *image = calloc(1, 64 * HEIGHT * 64 * 4);
	uint8_t *matrix = calloc(7 * 62, 64 * 9 * 4);
	const uint32_t cancel = 1;
	const struct engine_control control = { .cancel = &cancel };
	struct engine_fault fault;
	struct engine_run run = { .control = &control, .fault = &fault };
	struct engine_plan *plan;
	struct engine_job *job;
	size_t bytes;

	(void)state;
	memset(image, 1, 64 * HEIGHT * 64 * 4);
	job = new_im2col(&im2col, image, matrix, &bytes);
	assert_int_equal(engine_plan_create(job, &plan, &fault), 0);
	run.plan = plan;
	assert_int_equal(engine_run_box(&run, &plan->box), -ECANCELED);
	assert_int_equal(matrix[0], 1);
	assert_int_equal(matrix[bytes - 1], 0);
	engine_plan_destroy(plan);
	free(job);
	free(image);
	free(matrix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_touch_their_elements_alone),
		cmocka_unit_test(what_a_row_does_not_have_is_filled_and_not_read),
		cmocka_unit_test(whole_lines_are_streamed),
		cmocka_unit_test(windows_of_every_shape_are_moved),
		cmocka_unit_test(windows_move_by_more_than_an_element),
		cmocka_unit_test(windows_of_whole_lines_are_streamed_with_their_borders),
		cmocka_unit_test(windows_of_more_elements_than_are_placed_at_a_time),
		cmocka_unit_test(loop_of_a_window_that_is_too_long_is_cut),
		cmocka_unit_test(short_runs_of_a_large_destination_are_put_together),
		cmocka_unit_test(windows_are_canceled_while_they_are_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
