// SPDX-License-Identifier: MIT
/*
 * Rows with borders that go on into each other: the kernels that put their lines together, and the
 * jobs that take them, by every instruction set that this CPU has. The engine takes the caches to
 * have room for nothing here, so that small jobs are streamed.
 */
#include "engine/cache.h"
#include "engine/check.h"
#include "engine/kernels.h"
#include "engine/move_bordered.h"
#include "engine_test.h"
#include "random_test.h"

/* In the place of the engine's own. */
uint64_t engine_last_level_cache(void)
{
	return 0;
}

/* --- kernels ---------------------------------------------------------------------------------- */

enum { MAX_BYTES = 4096 };

static const uint8_t fill[4] = { 0xf1, 0xe2, 0xd3, 0xc4 };

/* What a kernel is given. */
struct kernel_case {
	int64_t offset;		/* of the first row after a line's beginning */
	int64_t count;
	int64_t bytes;
	int64_t stride;
	int64_t first, end;
	int64_t ahead;
	bool at_end;		/* memory ends, and else begins, at a guard page */
};

/* The lowest byte of the source that a row has, before row 0's first one. */
static int64_t lowest_byte(const struct kernel_case *given)
{
	return given->stride < 0 ? (given->count - 1) * given->stride : 0;
}

static uint8_t expected_byte(const struct kernel_case *given, const uint8_t *from, int64_t at)
{
	int64_t row = at / given->bytes, byte = at % given->bytes;

	if (byte < given->first || byte >= given->end)
		return fill[(given->offset + at) % (int64_t)sizeof(fill)];
	return from[byte - given->first + row * given->stride - lowest_byte(given)];
}

/* As a move calls it: what waits in the end is stored by others. */
static void run_kernel(engine_bordered_kernel *kernel, const struct kernel_case *given,
		       uint8_t *dst, const uint8_t *src)
{
	struct engine_line line = {
		.to = dst - given->offset, .filled = given->offset, .others = given->offset,
	};
	uint8_t pattern[64];

	for (size_t b = 0; b < sizeof(pattern); b++)
		pattern[b] = fill[b % sizeof(fill)];
	kernel(&line, src, &(struct engine_bordered_rows){
		.count = given->count, .stride = given->stride, .bytes = given->bytes,
		.first = given->first, .end = given->end, .ahead = given->ahead, .fill = pattern,
	});
	assert_ptr_equal(line.to + line.filled, dst + given->count * given->bytes);
	assert_in_range(line.filled, 0, 63);
	assert_int_equal(line.others, 0);
	memcpy(line.to, line.bytes, (size_t)line.filled);
}

static void check_places(engine_bordered_kernel *kernel, const struct kernel_case *given)
{
	const int64_t lowest = lowest_byte(given);
	const int64_t reach = given->stride < 0 ? -lowest : (given->count - 1) * given->stride;
	const size_t src_bytes = (size_t)(given->end - given->first + reach);
	const size_t dst_bytes = (size_t)(given->count * given->bytes);
	uint8_t from[2 * MAX_BYTES], expected[64 + MAX_BYTES] = { 0 };
	/* a page begins and ends with whole lines: so may the memory, with what is no row's */
	const size_t before = (size_t)given->offset;
	const size_t after = given->at_end ? -(before + dst_bytes) % 64 : 0;
	struct guarded src, dst;

	assert_true(src_bytes <= sizeof(from) && dst_bytes <= MAX_BYTES);
	for (size_t i = 0; i < src_bytes; i++)
		from[i] = (uint8_t)(i * 37 + i / 256);
	src = guarded_copy(from, src_bytes, given->at_end);
	dst = guarded_copy(expected, before + dst_bytes + after, given->at_end);
	for (size_t i = 0; i < dst_bytes; i++)
		expected[before + i] = expected_byte(given, from, (int64_t)i);
	run_kernel(kernel, given, dst.bytes + before,
		   (uint8_t *)((uintptr_t)src.bytes - (uintptr_t)(given->first + lowest)));
	assert_memory_equal(dst.bytes, expected, before + dst_bytes + after);
	munmap(dst.mapping, dst.mapped);
	munmap(src.mapping, src.mapped);
}

/* A case with all places as they are, and as multiples of 4, for which kernels may have a way. */
static void check_kernel(engine_bordered_kernel *kernel, const struct kernel_case *given)
{
	for (int64_t size = 1; size <= 4; size += 3)
		check_places(kernel, &(struct kernel_case){
			.offset = given->offset / size * size, .count = given->count,
			.bytes = given->bytes / size * size, .stride = given->stride / size * size,
			.first = given->first / size * size, .end = given->end / size * size,
			.ahead = given->ahead, .at_end = given->at_end,
		});
}

static void for_each_kernel(void (*check)(engine_bordered_kernel *kernel))
{
	for (uint32_t k = 0; engine_isa_at(k); k++)
		if (engine_isa_at(k)->is_available() && engine_isa_at(k)->copy->stream_bordered)
			check(engine_isa_at(k)->copy->stream_bordered);
}

static const int64_t row_bytes[] = { 64, 65, 100, 127, 128, 129, 191, 192, 255, 256, 380 };

static void check_whole_rows(engine_bordered_kernel *kernel)
{
	for (size_t i = 0; i < 64 * COUNT(row_bytes); i++) {
		const int64_t bytes = row_bytes[i / 64];

		check_kernel(kernel, &(struct kernel_case){
			.offset = (int64_t)i % 64, .count = 1 + (int64_t)i % 5, .bytes = bytes,
			.stride = bytes + (int64_t)i % 7, .end = bytes, .at_end = i / 2 % 2,
		});
	}
}

static void rows_without_borders_are_put_together(void **state)
{
	(void)state;
	for_each_kernel(check_whole_rows);
}

/* Every border of a row, from both sides. */
static void check_borders(engine_bordered_kernel *kernel)
{
	for (size_t i = 0; i < COUNT(row_bytes); i++) {
		const int64_t bytes = row_bytes[i];

		for (int64_t first = 0; first <= bytes; first += 1 + first % 3)
			for (int64_t end = bytes; end >= first; end -= 1 + end % 5)
				check_kernel(kernel, &(struct kernel_case){
					.offset = (first + end) % 64, .count = 1 + end % 3,
					.bytes = bytes, .stride = end - first, .first = first,
					.end = end, .at_end = (first + end) / 2 % 2,
				});
	}
}

static void what_a_row_does_not_have_is_filled_and_not_read(void **state)
{
	(void)state;
	for_each_kernel(check_borders);
}

static void check_strides(engine_bordered_kernel *kernel)
{
	static const int64_t strides[] = { -300, -150, -1, 0, 1, 64, 600 };

	for (size_t i = 0; i < COUNT(strides); i++)
		check_kernel(kernel, &(struct kernel_case){
			.offset = 20, .count = 7, .bytes = 150, .stride = strides[i], .first = 8,
			.end = 140, .ahead = strides[i] * 2,
		});
}

static void rows_may_lie_anywhere_in_the_source(void **state)
{
	(void)state;
	for_each_kernel(check_strides);
}

/* --- jobs ------------------------------------------------------------------------------------- */

/* A job that loops over points[0] to points[3], the last one along rows. */
enum { LOOPS = 4 };

static bool holds(const struct drm_tessera_window *window, const int64_t *point)
{
	int64_t value = window->value.offset;

	for (int d = 0; d < LOOPS; d++)
		value += window->value.strides[d] * point[d];
	return value >= 0 && (uint64_t)value < window->limit;
}

/* The first and the last place that a job loads, by going through its points, or those it has. */
static void find_bounds(const struct engine_job *job, bool loads, int64_t *lowest, int64_t *highest)
{
	const struct drm_tessera_affine *address = &job->operands[1].spec.address;
	int64_t point[LOOPS] = { 0 };

	*lowest = INT64_MAX;
	*highest = 0;
	for (bool goes_on = true; goes_on; ) {
		int64_t place = 0;
		bool is_there = true;

		for (uint32_t w = 0; w < job->num_windows && loads; w++)
			is_there = is_there && holds(&job->windows[w], point);
		for (int d = 0; d < LOOPS; d++)
			place += address->strides[d] * point[d];
		if (is_there) {
			*highest = *lowest == INT64_MAX || place > *highest ? place : *highest;
			*lowest = place < *lowest ? place : *lowest;
		}
		goes_on = false;
		for (int d = LOOPS; d-- > 0 && !goes_on; ) {
			goes_on = (uint64_t)++point[d] < job->extents[d];
			point[d] = goes_on ? point[d] : 0;
		}
	}
	*lowest = *lowest == INT64_MAX ? 0 : *lowest;
}

/* Windows that depend on any loops, by small steps; most on few. */
static void add_random_windows(struct engine_job *job, struct random *random)
{
	for (int64_t w = random_between(random, 0, 2); w > 0; w--) {
		struct drm_tessera_window *window = add_window(job, 1, 0, 1);
		int64_t lowest = 0, highest = 0;

		for (int d = 0; d < LOOPS; d++) {
			int64_t step = random_between(random, d < LOOPS - 1 ? -2 : -1, 3);

			if (random_between(random, 0, 2))
				continue;
			window->value.strides[d] = step;
			highest += step > 0 ? step * (int64_t)(job->extents[d] - 1) : 0;
			lowest += step < 0 ? step * (int64_t)(job->extents[d] - 1) : 0;
		}
		window->value.offset = -random_between(random, lowest - 2, highest + 2);
		window->limit = (uint64_t)random_between(random, 1, highest - lowest + 2);
	}
}

/* Rows of a line or more; most go on into each other, in all loops or but for some gaps. */
static struct engine_job *new_random_job(struct random *random)
{
	const uint32_t shift = (uint32_t)random_between(random, 0, 4);
	const int64_t size = 1 << shift, columns = random_between(random, 64 / size, 320 / size);
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_CLASS_RAW | shift);
	int64_t lowest, highest, offset, bytes = size;

	job->rank = LOOPS;
	for (int d = LOOPS; d-- > 0; ) {
		int64_t *src = (int64_t *)&job->operands[1].spec.address.strides[d];

		job->extents[d] = (uint64_t)(d == LOOPS - 1 ? columns :
							      random_between(random, 1, 5));
		job->operands[0].spec.address.strides[d] = bytes;
		*src = d == LOOPS - 1 ? size : size * random_between(random, -columns, 2 * columns);
		bytes *= (int64_t)job->extents[d];
		if (d < LOOPS - 1 && !random_between(random, 0, 5))
			bytes += size * random_between(random, 1, 70);
	}
	add_random_windows(job, random);
	for (int64_t b = 0; b < size; b++)
		((uint8_t *)job->operands[1].spec.fill)[b] = (uint8_t)(0xa0 + b);
	/* what windows leave out the engine cannot always prove */
	find_bounds(job, random_between(random, 0, 3) == 0, &lowest, &highest);
	job->operands[1].spec.address.offset = -lowest;
	set_buffer(job, 1, NULL, (uint64_t)(highest - lowest + size));
	offset = random_between(random, 0, 64);
	offset -= random_between(random, 0, 3) ? offset % size : 0;
	job->operands[0].spec.address.offset = offset;
	set_buffer(job, 0, NULL, (uint64_t)(bytes + offset));
	return job;
}

/* Runs a job in guarded memory on the instruction set chosen. Returns whether it has borders. */
static bool run_bordered(struct engine_job *job, const uint8_t *const *initial,
			 const uint8_t *expected, bool at_end)
{
	struct engine_fault fault = { 0 };
	struct engine_plan *plan;
	struct guarded memory[2];
	bool is_bordered;

	for (uint32_t k = 0; k < 2; k++) {
		memory[k] = guarded_copy(initial[k], job->operands[k].buffer.size, at_end);
		job->operands[k].buffer.base = memory[k].bytes;
	}
	if (engine_plan_create(job, &plan, &fault) || engine_plan_run(plan, NULL, &fault))
		fail_msg("%s", fault.text);
	is_bordered = plan->is_bordered;
	engine_plan_destroy(plan);
	assert_memory_equal(memory[0].bytes, expected, job->operands[0].buffer.size);
	for (uint32_t k = 0; k < 2; k++)
		munmap(memory[k].mapping, memory[k].mapped);
	return is_bordered;
}

/* Runs it everywhere. Returns whether an instruction set takes it for rows. */
static bool run_everywhere(struct engine_job *job, const uint8_t *const *initial,
			   const uint8_t *expected)
{
	bool is_bordered = false;

	for (uint32_t n = 0; engine_isa_at(n); n++) {
		if (!engine_isa_at(n)->is_available())
			continue;
		setenv(ENGINE_ISA_VARIABLE, engine_isa_at(n)->name, 1);
		is_bordered = run_bordered(job, initial, expected, false) || is_bordered;
		is_bordered = run_bordered(job, initial, expected, true) || is_bordered;
		unsetenv(ENGINE_ISA_VARIABLE);
	}
	return is_bordered;
}

/*
 * Checks a job, and frees it; one of which the engine cannot prove that it stays in its source is
 * refused. Returns whether it is taken for rows.
 */
static bool check_job(struct engine_job *job)
{
	const size_t bytes = job->operands[0].buffer.size, src_bytes = job->operands[1].buffer.size;
	uint8_t *dst = calloc(1, bytes), *src = malloc(src_bytes), *expected = calloc(1, bytes);
	struct engine_fault fault = { 0 };
	bool is_bordered = false;
	int error;

	for (size_t i = 0; i < src_bytes; i++)
		src[i] = (uint8_t)(i * 59 + i / 256);
	job->operands[0].buffer.base = expected;
	job->operands[1].buffer.base = src;
	error = engine_check(job, &fault);
	if (error) {
		assert_int_equal(fault.cause, DRM_TESSERA_CAUSE_BOUNDS);
	} else {
		const uint8_t *const initial[] = { dst, src };

		assert_int_equal(reference_run(job, NULL), 0);
		is_bordered = run_everywhere(job, initial, expected);
	}
	free(dst);
	free(src);
	free(expected);
	free(job);
	return is_bordered;
}

static bool has_kernel(void)
{
	for (uint32_t n = 0; engine_isa_at(n); n++)
		if (engine_isa_at(n)->is_available() && engine_isa_at(n)->copy->stream_bordered)
			return true;
	return false;
}

static void random_jobs_do_what_the_reference_does(void **state)
{
	const int count = 4000;
	int num_bordered = 0;

	(void)state;
	for (int n = 0; n < count; n++) {
		struct random random = { (uint64_t)n };

		num_bordered += check_job(new_random_job(&random));
	}
	if (has_kernel())
		assert_in_range(num_bordered, count / 4, count);
}

/* An image with a padding, of so many columns of 4 bytes; the destination begins at a line. */
static struct engine_job *new_padded(uint64_t columns, uint64_t rows, uint64_t padding)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_RAW32);
	const uint64_t pitch = columns + 2 * padding;

	add_loop(job, rows + 2 * padding, (int64_t)pitch * 4, (int64_t)columns * 4);
	add_loop(job, pitch, 4, 4);
	add_window(job, 1, -(int64_t)padding, rows)->value.strides[0] = 1;
	add_window(job, 1, -(int64_t)padding, columns)->value.strides[1] = 1;
	job->operands[1].spec.address.offset = -(int64_t)(padding * (columns + 1) * 4);
	set_buffer(job, 0, NULL, (rows + 2 * padding) * pitch * 4);
	set_buffer(job, 1, NULL, rows * columns * 4);
	return job;
}

static void images_are_padded(void **state)
{
	(void)state;
	assert_int_equal(check_job(new_padded(40, 9, 1)), has_kernel());
	assert_int_equal(check_job(new_padded(1000, 9, 3)), has_kernel());
}

/* Several parts, whose ends are within lines. */
static void large_images_are_padded(void **state)
{
	(void)state;
	assert_int_equal(check_job(new_padded(333, 1111, 2)), has_kernel());
}

/* Rows whose window has values of nearly 64 bits, from row to row far apart. */
static void values_of_windows_may_be_as_large_as_fit(void **state)
{
	static const int64_t steps[] = { INT64_MAX / 2, -(INT64_MAX / 2), INT64_MAX / 4 };

	(void)state;
	for (size_t k = 0; k < COUNT(steps); k++)
		for (int64_t biased = -1; biased <= 1; biased++) {
			struct engine_job *job = new_padded(40, 2, 0);
			struct drm_tessera_window *window;

			job->operands[1].spec.address.strides[0] = 0;
			window = add_window(job, 1, biased * (INT64_MAX / 2), INT64_MAX);
			window->value.strides[0] = steps[k];
			check_job(job);
		}
}

/* A row of the source, and one that would be nearly 64 bits behind it. */
static void rows_that_are_not_there_may_be_anywhere(void **state)
{
	struct engine_job *job = new_padded(60, 2, 0);

	(void)state;
	job->operands[1].spec.address.strides[0] = INT64_MAX / 2;
	add_window(job, 1, 0, 1)->value.strides[0] = 1;
	set_buffer(job, 1, NULL, 240);
	assert_int_equal(check_job(job), has_kernel());
}

static void lines_with_borders_are_put_together(void **state)
{
	(void)state;
	assert_int_equal(check_job(new_padded(14, 9, 1)), has_kernel());
	assert_int_equal(check_job(new_padded(30, 9, 1)), has_kernel());
}

static void whole_lines_are_left_to_others(void **state)
{
	struct engine_job *job = new_padded(32, 9, 0);

	(void)state;
	job->operands[1].spec.address.strides[0] += 4;
	set_buffer(job, 1, NULL, 9 * 33 * 4);
	assert_false(check_job(job));
}

/* So many columns with a border of one, and rows that lie apart in the source. */
static struct engine_job *new_far_apart(uint64_t columns)
{
	struct engine_job *job = new_padded(columns, 9, 1);
	const int64_t pitch = 128 * 4;

	job->operands[1].spec.address.strides[0] = pitch;
	job->operands[1].spec.address.offset = -pitch - 4;
	set_buffer(job, 1, NULL, 9 * (uint64_t)pitch);
	return job;
}

static void whole_lines_far_apart_are_left_to_others(void **state)
{
	(void)state;
	assert_false(check_job(new_far_apart(30)));
}

static void rows_far_apart_are_put_together_if_they_are_long_enough(void **state)
{
	(void)state;
	for (uint64_t columns = 22; columns <= 70; columns += 4) {
		bool is_long_enough = false;

		if ((columns + 2) * 4 % 64 == 0)
			continue;
		for (uint32_t n = 0; engine_isa_at(n); n++) {
			const struct engine_copy_kernels *copy = engine_isa_at(n)->copy;

			if (engine_isa_at(n)->is_available() && copy->stream_bordered &&
			    (int64_t)(columns + 2) * 4 >= copy->bordered_far_bytes)
				is_long_enough = true;
		}
		assert_int_equal(check_job(new_far_apart(columns)), is_long_enough);
	}
}

/* A block of rows is what a run can be canceled after. */
static void rows_that_are_too_long_are_left_to_others(void **state)
{
	(void)state;
	assert_false(check_job(new_padded(8191, 9, 1)));
}

/* What a plan says of itself. */
static void check_description(const struct engine_isa *isa)
{
	struct engine_job *job = new_padded(40, 9, 1);
	uint8_t *dst = aligned_alloc(64, 4096), *src = malloc(4096);
	struct engine_fault fault = { 0 };
	struct engine_plan *plan;
	char text[160], expected[160];

	job->operands[0].buffer.base = dst;
	job->operands[1].buffer.base = src;
	setenv(ENGINE_ISA_VARIABLE, isa->name, 1);
	assert_int_equal(engine_plan_create(job, &plan, &fault), 0);
	unsetenv(ENGINE_ISA_VARIABLE);
	engine_plan_describe(plan, text, sizeof(text));
	snprintf(expected, sizeof(expected),
		 "rows of 4-byte elements, %s, blocks 195x42, streaming stores", isa->name);
	assert_string_equal(text, expected);
	engine_plan_destroy(plan);
	free(job);
	free(dst);
	free(src);
}

static void plan_names_the_rows(void **state)
{
	(void)state;
	for (uint32_t n = 0; engine_isa_at(n); n++)
		if (engine_isa_at(n)->is_available() && engine_isa_at(n)->copy->stream_bordered)
			check_description(engine_isa_at(n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_without_borders_are_put_together),
		cmocka_unit_test(what_a_row_does_not_have_is_filled_and_not_read),
		cmocka_unit_test(rows_may_lie_anywhere_in_the_source),
		cmocka_unit_test(random_jobs_do_what_the_reference_does),
		cmocka_unit_test(images_are_padded),
		cmocka_unit_test(large_images_are_padded),
		cmocka_unit_test(values_of_windows_may_be_as_large_as_fit),
		cmocka_unit_test(rows_that_are_not_there_may_be_anywhere),
		cmocka_unit_test(lines_with_borders_are_put_together),
		cmocka_unit_test(whole_lines_are_left_to_others),
		cmocka_unit_test(whole_lines_far_apart_are_left_to_others),
		cmocka_unit_test(rows_far_apart_are_put_together_if_they_are_long_enough),
		cmocka_unit_test(rows_that_are_too_long_are_left_to_others),
		cmocka_unit_test(plan_names_the_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
