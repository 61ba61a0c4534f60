// SPDX-License-Identifier: MIT
/*
 * The proof that addresses stay inside their buffers: the documented rule, case by case, and on
 * random jobs against the reference's own reading of it and against enumeration.
 */
#include "engine_test.h"
#include "reference/random_job.h"

static uint8_t line[64];

/* The least size of the source's buffer with which the job is accepted, or -1. */
static int64_t least_size(struct engine_job *job)
{
	struct engine_fault fault;
	struct engine_plan *plan;
	int64_t size;

	for (size = 0; size <= (int64_t)sizeof(line); size++) {
		set_buffer(job, 1, line, (uint64_t)size);
		if (engine_plan_create(job, &plan, &fault))
			continue;
		engine_plan_destroy(plan);
		return size;
	}
	return -1;
}

/* One loop of 8 that stores to a line and loads from another. */
static struct engine_job *loop_of_8(void)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

	SET_BUFFER(job, 0, line);
	add_loop(job, 8, 1, 1);
	return job;
}

static void without_windows_the_last_byte_decides(void **state)
{
	struct engine_job *job = loop_of_8();

	(void)state;
	job->operands[0].spec.dtype = job->operands[1].spec.dtype = DRM_TESSERA_DTYPE_U32;
	job->operands[1].spec.address.offset = 3;
	assert_int_equal(least_size(job), 3 + 7 + 4);
	free(job);
}

static void negative_stride_reaches_down_from_the_offset(void **state)
{
	struct engine_job *job = loop_of_8();

	(void)state;
	job->operands[1].spec.address.strides[0] = -1;
	job->operands[1].spec.address.offset = 7;
	assert_int_equal(least_size(job), 8);
	job->operands[1].spec.address.offset = 6;
	assert_int_equal(least_size(job), -1);
	free(job);
}

static void window_of_one_loop_cuts_both_ends(void **state)
{
	struct engine_job *job = loop_of_8();

	(void)state;
	/* i from 2 to 4 */
	add_window(job, 1, -2, 3)->value.strides[0] = 1;
	job->operands[1].spec.address.offset = -2;
	assert_int_equal(least_size(job), 3);
	free(job);
}

static void window_with_a_coefficient_rounds_inward(void **state)
{
	struct engine_job *job = loop_of_8();

	(void)state;
	/* 0 <= 5 - 3 i + 10 < 10: i from 2 to 5 */
	add_window(job, 1, 15, 10)->value.strides[0] = -3;
	job->operands[1].spec.address.offset = -2;
	assert_int_equal(least_size(job), 4);
	free(job);
}

static void window_that_holds_nowhere_lets_any_address_be(void **state)
{
	struct engine_job *job = loop_of_8();

	(void)state;
	add_window(job, 1, -100, 5)->value.strides[0] = 1;
	job->operands[1].spec.address.offset = -12345;
	assert_int_equal(least_size(job), 0);
	free(job);
}

static void limit_of_0_lets_any_address_be(void **state)
{
	struct engine_job *job = loop_of_8();

	(void)state;
	add_window(job, 1, 0, 0)->value.strides[0] = 1;
	job->operands[1].spec.address.offset = -12345;
	assert_int_equal(least_size(job), 0);
	free(job);
}

static void constant_window_that_does_not_hold_lets_any_address_be(void **state)
{
	struct engine_job *job = loop_of_8();

	(void)state;
	add_window(job, 1, 1, 1);
	job->operands[1].spec.address.offset = -12345;
	assert_int_equal(least_size(job), 0);
	free(job);
}

static void window_of_another_operand_does_not_count(void **state)
{
	struct engine_job *job = loop_of_8();

	(void)state;
	add_window(job, 0, 0, 3)->value.strides[0] = 1;
	assert_int_equal(least_size(job), 8);
	free(job);
}

static void im2col_needs_the_image_and_no_more(void **state)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);
	struct drm_tessera_window *window;

	(void)state;
	/*
	 * an image of 3x5 in rows of 5, kernel 3x3, padding 1: [kh][kw][oh][ow], the last are 3x5
	 */
	add_loop(job, 3, 0, 5);
	add_loop(job, 3, 0, 1);
	add_loop(job, 3, 5, 5);
	add_loop(job, 5, 1, 1);
	SET_BUFFER(job, 0, line);
	job->operands[1].spec.address.offset = -6;
	window = add_window(job, 1, -1, 3);
	window->value.strides[0] = window->value.strides[2] = 1;
	window = add_window(job, 1, -1, 5);
	window->value.strides[1] = window->value.strides[3] = 1;
	assert_int_equal(least_size(job), 15);
	free(job);
}

static void partial_tile_needs_the_elements_there_are(void **state)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U16);
	struct drm_tessera_window *window;

	(void)state;
	/* 7 elements in 2 tiles of 4 */
	SET_BUFFER(job, 0, line);
	add_loop(job, 2, 8, 8);
	add_loop(job, 4, 2, 2);
	window = add_window(job, 1, 0, 7);
	window->value.strides[0] = 4;
	window->value.strides[1] = 1;
	assert_int_equal(least_size(job), 14);
	free(job);
}

static void second_round_sees_what_the_first_has_cut(void **state)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);
	struct drm_tessera_window *window;

	(void)state;
	/* i + j < 4 is looked at before j >= 3; only the second time does it leave i = 0 alone */
	SET_BUFFER(job, 0, line);
	add_loop(job, 8, 0, 7);
	add_loop(job, 8, 0, 0);
	window = add_window(job, 1, 0, 4);
	window->value.strides[0] = window->value.strides[1] = 1;
	add_window(job, 1, -3, INT64_MAX)->value.strides[1] = 1;
	assert_int_equal(least_size(job), 1);
	free(job);
}

static void address_that_no_window_bounds_is_refused(void **state)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);
	struct drm_tessera_window *window;

	(void)state;
	/* i - j < 1 says nothing about i + j by the rule, which is no general solver */
	SET_BUFFER(job, 0, line);
	add_loop(job, 5, 0, 1);
	add_loop(job, 5, 0, 1);
	window = add_window(job, 1, 0, 1);
	window->value.strides[0] = 1;
	window->value.strides[1] = -1;
	assert_int_equal(least_size(job), 9);
	free(job);
}

static void step_that_does_not_fit_64_bits_is_passed_over(void **state)
{
	struct engine_job *job = loop_of_8();
	struct drm_tessera_window *window;

	(void)state;
	add_loop(job, 2, 8, 8);
	window = add_window(job, 1, INT64_MIN / 2, INT64_MAX);
	window->value.strides[0] = 1;
	window->value.strides[1] = 1ll << 61;
	/* the window cannot hold: the bias is too low */
	assert_int_equal(least_size(job), 0);
	/* now it always holds, and times a stride of 8 its bias does not fit */
	window->value.offset = 1ll << 60;
	assert_int_equal(least_size(job), 16);
	free(job);
}

static void bounds_are_those_of_the_rule(void **state)
{
	struct random_job_options options = { .max_points = 600 };
	void *bases[RANDOM_JOB_MAX_BUFFERS];
	uint64_t num_checked = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 3000; seed++) {
		struct random_job *job = random_job_create(seed, &options);

		for (uint32_t b = 0; b < job->num_buffers; b++)
			bases[b] = job->buffers[b].initial;
		for (uint32_t k = 0; k < job->num_operands; k++) {
			struct engine_job engine_job;
			struct reference_bounds rule, exact;
			struct engine_fault fault = { .text = "" };
			struct engine_plan *plan;
			bool of_index = job->operands[k].flags;
			struct engine_buffer *buffer;

			random_job_bind(job, bases, &engine_job);
			buffer = of_index ? &engine_job.operands[k].index_buffer :
					    &engine_job.operands[k].buffer;
			rule = reference_bounds_by_rule(&engine_job, k, of_index);
			exact = reference_bounds_exact(&engine_job, k, of_index);
			if (exact.lowest <= exact.highest)
				assert_true(rule.lowest <= exact.lowest &&
					    rule.highest >= exact.highest);
			if (rule.lowest > rule.highest)
				continue;
			num_checked++;
			buffer->size = (uint64_t)rule.highest + 1;
			if (engine_plan_create(&engine_job, &plan, &fault))
				fail_msg("seed %" PRIu64 ": %s", seed, fault.text);
			engine_plan_destroy(plan);
			buffer->size--;
			assert_int_equal(engine_plan_create(&engine_job, &plan, &fault), -ERANGE);
			assert_int_equal(fault.operand, k);
			assert_true(fault.offset == (int64_t)rule.highest);
		}
		random_job_destroy(job);
	}
	assert_true(num_checked > 3000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_windows_the_last_byte_decides),
		cmocka_unit_test(negative_stride_reaches_down_from_the_offset),
		cmocka_unit_test(window_of_one_loop_cuts_both_ends),
		cmocka_unit_test(window_with_a_coefficient_rounds_inward),
		cmocka_unit_test(window_that_holds_nowhere_lets_any_address_be),
		cmocka_unit_test(limit_of_0_lets_any_address_be),
		cmocka_unit_test(constant_window_that_does_not_hold_lets_any_address_be),
		cmocka_unit_test(window_of_another_operand_does_not_count),
		cmocka_unit_test(im2col_needs_the_image_and_no_more),
		cmocka_unit_test(partial_tile_needs_the_elements_there_are),
		cmocka_unit_test(second_round_sees_what_the_first_has_cut),
		cmocka_unit_test(address_that_no_window_bounds_is_refused),
		cmocka_unit_test(step_that_does_not_fit_64_bits_is_passed_over),
		cmocka_unit_test(bounds_are_those_of_the_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
