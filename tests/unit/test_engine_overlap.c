// SPDX-License-Identifier: MIT
/*
 * Overlaps and collisions: cases by hand, and random small jobs against enumeration.
 *
 * test_engine_overlap [--seed N] [--count N]
 */
#include "random_test.h"

static struct random_run run;

static uint8_t memory[4096];

/* A move inside of memory, to be given loops. */
static struct engine_job *move_in_memory(uint32_t dtype)
{
	struct engine_job *job = new_job(1, dtype);

	SET_BUFFER(job, 0, memory);
	SET_BUFFER(job, 1, memory);
	return job;
}

/* Asserts that the job is valid, and what is said of its overlaps; -1: nothing is found. */
static void check_found(struct engine_job *job, int operand)
{
	struct engine_fault fault = { .operand = UINT32_MAX };
	struct engine_plan *plan;
	int error;

	if (engine_plan_create(job, &plan, &fault))
		fail_msg("%s", fault.text);
	engine_plan_destroy(plan);
	error = engine_job_check_overlap(job, &fault);
	assert_int_equal(error, operand < 0 ? 0 : -EINVAL);
	if (operand >= 0) {
		assert_int_equal(fault.operand, operand);
		assert_int_equal(fault.cause, DRM_TESSERA_CAUSE_DESCRIPTOR);
	}
	free(job);
}

static void different_buffers_do_not_overlap(void **state)
{
	uint8_t other[64];
	struct engine_job *job = move_in_memory(DRM_TESSERA_DTYPE_U8);

	(void)state;
	SET_BUFFER(job, 1, other);
	add_loop(job, 64, 1, 1);
	check_found(job, -1);
}

static void exactly_in_place_is_good(void **state)
{
	struct engine_job *job = move_in_memory(DRM_TESSERA_DTYPE_U32);

	(void)state;
	add_loop(job, 8, 32, 32);
	add_loop(job, 8, 4, 4);
	check_found(job, -1);
}

static void in_place_is_seen_through_different_buffers(void **state)
{
	struct engine_job *job = move_in_memory(DRM_TESSERA_DTYPE_U8);

	(void)state;
	set_buffer(job, 1, memory + 16, 64);
	job->operands[0].spec.address.offset = 16;
	add_loop(job, 8, 1, 1);
	check_found(job, -1);
}

static void shifted_by_an_element_overlaps(void **state)
{
	struct engine_job *job = move_in_memory(DRM_TESSERA_DTYPE_U32);
	struct engine_fault fault;

	(void)state;
	job->operands[1].spec.address.offset = 4;
	add_loop(job, 8, 4, 4);
	assert_int_equal(engine_job_check_overlap(job, &fault), -EINVAL);
	assert_string_equal(fault.text,
			    "source 0: it overlaps the destination, and not exactly in place");
	check_found(job, 1);
}

static void shifted_by_a_byte_overlaps(void **state)
{
	struct engine_job *job = move_in_memory(DRM_TESSERA_DTYPE_U32);

	(void)state;
	job->operands[1].spec.address.offset = 1;
	add_loop(job, 8, 16, 16);
	check_found(job, 1);
}

static void transposed_in_place_overlaps(void **state)
{
	struct engine_job *job = move_in_memory(DRM_TESSERA_DTYPE_U8);

	(void)state;
	add_loop(job, 8, 8, 1);
	add_loop(job, 8, 1, 8);
	check_found(job, 1);
}

static void element_of_another_size_in_place_overlaps(void **state)
{
	struct engine_job *job = move_in_memory(DRM_TESSERA_DTYPE_U16);

	(void)state;
	job->operands[1].spec.dtype = DRM_TESSERA_DTYPE_U8;
	add_loop(job, 8, 2, 2);
	add_instruction(job, DRM_TESSERA_OP_CAST, DRM_TESSERA_DTYPE_U16);
	check_found(job, 1);
}

static void one_half_to_the_other_does_not_overlap(void **state)
{
	struct engine_job *job = move_in_memory(DRM_TESSERA_DTYPE_U8);

	(void)state;
	job->operands[1].spec.address.offset = 64;
	add_loop(job, 64, 1, 1);
	check_found(job, -1);
}

static void left_columns_to_right_columns_do_not_overlap(void **state)
{
	struct engine_job *job = move_in_memory(DRM_TESSERA_DTYPE_U8);

	(void)state;
	job->operands[1].spec.address.offset = 32;
	add_loop(job, 64, 64, 64);
	add_loop(job, 32, 1, 1);
	check_found(job, -1);
}

static void columns_that_share_one_overlap(void **state)
{
	struct engine_job *job = move_in_memory(DRM_TESSERA_DTYPE_U8);

	(void)state;
	job->operands[1].spec.address.offset = 31;
	add_loop(job, 64, 64, 64);
	add_loop(job, 32, 1, 1);
	check_found(job, 1);
}

static void even_elements_to_odd_ones_do_not_overlap(void **state)
{
	struct engine_job *job = move_in_memory(DRM_TESSERA_DTYPE_U32);

	(void)state;
	job->operands[1].spec.address.offset = 4;
	add_loop(job, 64, 8, 8);
	check_found(job, -1);
}

static void windows_that_keep_apart_are_seen(void **state)
{
	struct engine_job *job = move_in_memory(DRM_TESSERA_DTYPE_U8);

	(void)state;
	/* stores to 0..3, loads from 4..7 of the same line */
	job->operands[1].spec.address.offset = 4;
	add_loop(job, 8, 1, 1);
	add_window(job, 0, 0, 4)->value.strides[0] = 1;
	check_found(job, -1);
}

static void stride_less_than_an_element_collides(void **state)
{
	struct engine_job *job = move_in_memory(DRM_TESSERA_DTYPE_U32);
	struct engine_fault fault;
	uint32_t other;

	(void)state;
	set_buffer(job, 1, &other, sizeof(other));
	add_loop(job, 8, 3, 0);
	assert_int_equal(engine_job_check_overlap(job, &fault), -EINVAL);
	assert_string_equal(fault.text, "destination: two points store to the same byte");
	check_found(job, 0);
}

static void destination_that_stands_still_collides(void **state)
{
	struct engine_job *job = move_in_memory(DRM_TESSERA_DTYPE_U8);
	uint8_t other;

	(void)state;
	set_buffer(job, 1, &other, 1);
	add_loop(job, 2, 0, 0);
	check_found(job, 0);
}

static void loops_that_cross_collide(void **state)
{
	struct engine_job *job = move_in_memory(DRM_TESSERA_DTYPE_U8);
	uint8_t other;

	(void)state;
	set_buffer(job, 1, &other, 1);
	add_loop(job, 10, 6, 0);
	add_loop(job, 4, 9, 0);
	check_found(job, 0);
}

static void loops_that_never_meet_do_not_collide(void **state)
{
	struct engine_job *job = move_in_memory(DRM_TESSERA_DTYPE_U8);
	uint8_t other;

	(void)state;
	set_buffer(job, 1, &other, 1);
	add_loop(job, 3, 7, 0);
	add_loop(job, 7, 3, 0);
	check_found(job, -1);
}

static void window_that_prevents_a_collision_is_seen(void **state)
{
	struct engine_job *job = move_in_memory(DRM_TESSERA_DTYPE_U8);
	struct drm_tessera_window *window;
	uint8_t other;

	(void)state;
	/* tiles of 4 that step by 3 are stored but for their last element */
	set_buffer(job, 1, &other, 1);
	add_loop(job, 5, 3, 0);
	add_loop(job, 4, 1, 0);
	add_window(job, 0, 0, 3)->value.strides[1] = 1;
	check_found(job, -1);

	/* a diagonal: no two of its points are in one row */
	job = move_in_memory(DRM_TESSERA_DTYPE_U8);
	set_buffer(job, 1, &other, 1);
	add_loop(job, 5, 1, 0);
	add_loop(job, 5, 0, 0);
	window = add_window(job, 0, 0, 1);
	window->value.strides[0] = 1;
	window->value.strides[1] = -1;
	check_found(job, -1);
}

static void large_layouts_are_decided_at_once(void **state)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_F32);

	(void)state;
	/* 2^40 bytes to the 2^40 bytes behind them; nothing is accessed by looking */
	set_buffer(job, 0, NULL, 1ull << 41);
	set_buffer(job, 1, NULL, 1ull << 41);
	job->operands[1].spec.address.offset = 1ll << 40;
	add_loop(job, 1 << 18, 4, 4ll << 20);
	add_loop(job, 1 << 20, 4ll << 18, 4);
	check_found(job, -1);
}

static void indirect_operands_are_not_looked_at(void **state)
{
	static const uint8_t indices[2];
	struct engine_job *job = move_in_memory(DRM_TESSERA_DTYPE_U8);

	(void)state;
	add_loop(job, 2, 1, 0);
	add_indices(job, 1, indices, sizeof(indices), DRM_TESSERA_DTYPE_U8, 0, 1);
	check_found(job, -1);
}

/* A small job in one buffer, with strides that meet by chance. */
static struct engine_job *small_job(struct random *random, bool has_windows)
{
	static const uint32_t dtypes[] = {
		DRM_TESSERA_DTYPE_RAW8, DRM_TESSERA_DTYPE_RAW16, DRM_TESSERA_DTYPE_RAW32,
	};
	struct engine_job *job = new_job(1, dtypes[random_below(random, 3)]);
	uint64_t rank = random_below(random, 4);

	set_buffer(job, 0, memory + 1000, 2000);
	set_buffer(job, 1, memory + 1000 + random_below(random, 40), 2000);
	for (uint64_t d = 0; d < rank; d++)
		add_loop(job, 1 + random_below(random, 5), random_between(random, -40, 40),
			 random_between(random, -40, 40));
	if (random_chance(random, 30))
		job->operands[1].spec.address = job->operands[0].spec.address;
	job->operands[0].spec.address.offset = random_between(random, 500, 550);
	job->operands[1].spec.address.offset = random_between(random, 500, 550);
	for (uint32_t k = 0; has_windows && rank && k < 2; k++) {
		struct drm_tessera_window *window = add_window(job, k,
							       random_between(random, -4, 4),
							       1 + random_below(random, 6));

		window->value.strides[random_below(random, rank)] = random_between(random, -2, 2);
		window->value.strides[random_below(random, rank)] = random_between(random, -2, 2);
	}
	return job;
}

/* Counts what was found, and stops at a difference. */
static bool check_small_job(uint64_t seed, bool has_windows)
{
	struct random random = { seed };
	struct engine_job *job = small_job(&random, has_windows);
	struct engine_fault fault = { .text = "" };
	bool collides = reference_stores_collide(job), overlaps = reference_overlaps(job, 1);
	int error = engine_job_check_overlap(job, &fault);

	if (!!error != (collides || overlaps) ||
	    (error && fault.operand != (collides ? 0 : 1)))
		fail_msg("seed %" PRIu64 ": returned %d (%s), but collides %d, overlaps %d", seed,
			 error, fault.text, collides, overlaps);
	free(job);
	return error;
}

static void small_jobs_are_decided_as_by_enumeration(void **state)
{
	uint64_t found = 0;

	(void)state;
	for (uint64_t n = 0; n < run.count; n++)
		found += check_small_job(run.seed + n, false);
	print_message("found in %" PRIu64 " of %" PRIu64 "\n", found, run.count);
}

static void small_jobs_with_windows_are_decided_as_by_enumeration(void **state)
{
	uint64_t found = 0;

	(void)state;
	for (uint64_t n = 0; n < run.count; n++)
		found += check_small_job(run.seed + n, true);
	print_message("found in %" PRIu64 " of %" PRIu64 "\n", found, run.count);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(different_buffers_do_not_overlap),
		cmocka_unit_test(exactly_in_place_is_good),
		cmocka_unit_test(in_place_is_seen_through_different_buffers),
		cmocka_unit_test(shifted_by_an_element_overlaps),
		cmocka_unit_test(shifted_by_a_byte_overlaps),
		cmocka_unit_test(transposed_in_place_overlaps),
		cmocka_unit_test(element_of_another_size_in_place_overlaps),
		cmocka_unit_test(one_half_to_the_other_does_not_overlap),
		cmocka_unit_test(left_columns_to_right_columns_do_not_overlap),
		cmocka_unit_test(columns_that_share_one_overlap),
		cmocka_unit_test(even_elements_to_odd_ones_do_not_overlap),
		cmocka_unit_test(windows_that_keep_apart_are_seen),
		cmocka_unit_test(stride_less_than_an_element_collides),
		cmocka_unit_test(destination_that_stands_still_collides),
		cmocka_unit_test(loops_that_cross_collide),
		cmocka_unit_test(loops_that_never_meet_do_not_collide),
		cmocka_unit_test(window_that_prevents_a_collision_is_seen),
		cmocka_unit_test(large_layouts_are_decided_at_once),
		cmocka_unit_test(indirect_operands_are_not_looked_at),
		cmocka_unit_test(small_jobs_are_decided_as_by_enumeration),
		cmocka_unit_test(small_jobs_with_windows_are_decided_as_by_enumeration),
	};

	run = parse_options(argc, argv, 20000);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
