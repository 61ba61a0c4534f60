// SPDX-License-Identifier: MIT
/*
 * Windows that slide over their source: the kernels for rows that begin anywhere, and the jobs that
 * take them, by every instruction set that this CPU has.
 */
#include "engine/cache.h"
#include "engine/kernels.h"
#include "engine/move.h"
#include "engine_test.h"
#include "random_test.h"

enum { MAX_ROWS = 70, MAX_COLUMNS = 70, PITCH = MAX_ROWS + 3 };

/* From guard page to guard page; rows of the source lie in no order, and overlap. */
static void check_kernel(engine_rows_kernel *kernel, int64_t size, int64_t columns, int64_t rows,
			 bool at_end)
{
	const size_t src_bytes = (size_t)((columns + 2 * rows) * size);
	const size_t dst_bytes = (size_t)(((columns - 1) * PITCH + rows) * size);
	const struct engine_tile tile = {
		.extents = { columns, rows },
		.dst_strides = { PITCH * size, size },
		.src_strides = { size },
	};
	uint8_t *from = malloc(src_bytes), *expected = calloc(1, dst_bytes);
	struct guarded src, dst;
	int64_t places[MAX_ROWS];

	for (size_t i = 0; i < src_bytes; i++)
		from[i] = (uint8_t)(i * 37 + i / 256);
	src = guarded_copy(from, src_bytes, at_end);
	dst = guarded_copy(expected, dst_bytes, at_end);
	for (int64_t r = 0; r < rows; r++)
		places[r] = (r * 5 + 3) % (2 * rows + 1) * size;
	for (int64_t c = 0; c < columns; c++)
		for (int64_t r = 0; r < rows; r++)
			memcpy(expected + (c * PITCH + r) * size, from + places[r] + c * size,
			       (size_t)size);
	kernel(dst.bytes, src.bytes, places, &tile);
	assert_memory_equal(dst.bytes, expected, dst_bytes);
	munmap(dst.mapping, dst.mapped);
	munmap(src.mapping, src.mapped);
	free(from);
	free(expected);
}

static void kernels_touch_their_elements_alone(void **state)
{
	static const int64_t sides[] = { 1, 3, 8, 15, 16, 17, 32, 33, 64, 70 };

	(void)state;
	for (uint32_t k = 0; engine_isa_at(k); k++) {
		const struct engine_isa *isa = engine_isa_at(k);

		for (uint32_t shift = 0; isa->is_available() && shift < ENGINE_NUM_SIZES; shift++) {
			engine_rows_kernel *kernel = isa->transpose->transpose_rows[shift];

			for (size_t i = 0; kernel && i < COUNT(sides) * COUNT(sides); i++)
				check_kernel(kernel, 1 << shift, sides[i / COUNT(sides)],
					     sides[i % COUNT(sides)], i % 2);
		}
	}
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
};

enum { HEIGHT = 9 };

static struct engine_job *new_im2col(const struct im2col *im2col, const uint8_t *image,
				     uint8_t *matrix, size_t *matrix_bytes)
{
	const int64_t size = 1 << im2col->size_shift, taps = im2col->taps;
	const int64_t row = im2col->channels * taps * taps * size, width = im2col->width;
	const int64_t rows = HEIGHT + 2 * im2col->padding - taps + 1;
	const int64_t columns = width + 2 * im2col->padding - taps + 1;
	struct engine_job *job = new_job(1, raw_types[im2col->size_shift]);

	*matrix_bytes = (size_t)(rows * columns * row);
	set_buffer(job, 0, matrix, *matrix_bytes);
	set_buffer(job, 1, image, (uint64_t)(im2col->channels * HEIGHT * width * size));
	add_loop(job, (uint64_t)rows, columns * row, width * size);
	add_loop(job, (uint64_t)columns, row, size);
	add_loop(job, (uint64_t)im2col->channels, taps * taps * size, HEIGHT * width * size);
	add_loop(job, (uint64_t)taps, taps * size, width * size);
	add_loop(job, (uint64_t)taps, size, size);
	job->operands[1].spec.address.offset = -im2col->padding * (width + 1) * size;
	memset(job->operands[1].spec.fill, 0x3c, (size_t)size);
	for (int t = 0; t < 2; t++) {
		struct drm_tessera_window *window = add_window(job, 1, -im2col->padding,
							       (uint64_t)(t ? width : HEIGHT));

		window->value.strides[t] = 1;
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
							       taps % 2, widths[w] });
}

static void windows_of_every_shape_are_moved(void **state)
{
	(void)state;
	for_each_isa(check_shapes);
}

static void check_many_taps(void)
{
	check_im2col(&(struct im2col){ 2, 300, 3, 1, 20 });
	check_im2col(&(struct im2col){ 1, 5, 7, 0, 40 });
	check_im2col(&(struct im2col){ 0, 1100, 1, 0, 20 });
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
	const struct im2col im2col = { 2, 8, taps, padding, 64 };
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
	const struct im2col im2col = { 2, 64, 3, 0, 64 };
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
		cmocka_unit_test(windows_of_every_shape_are_moved),
		cmocka_unit_test(windows_of_more_elements_than_are_placed_at_a_time),
		cmocka_unit_test(loop_of_a_window_that_is_too_long_is_cut),
		cmocka_unit_test(short_runs_of_a_large_destination_are_put_together),
		cmocka_unit_test(windows_are_canceled_while_they_are_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
