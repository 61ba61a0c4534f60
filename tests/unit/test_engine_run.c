// SPDX-License-Identifier: MIT
/*
 * Running plans: progress, cancellation, several threads, and what a plan keeps of its job.
 */
#include <pthread.h>

#include "engine/cache.h"
#include "engine/plan.h"
#include "transposition_test.h"

static void plan_runs_without_its_job_and_more_than_once(void **state)
{
	struct transposition t = new_transposition();
	struct engine_fault fault;

	(void)state;
	for (int run = 0; run < 2; run++) {
		memset(t.to, 0, SIDE * SIDE * sizeof(uint32_t));
		assert_int_equal(engine_plan_run(t.plan, NULL, &fault), 0);
		assert_true(is_transposed(&t));
	}
	free_transposition(&t);
}

/* It has no use for it, and the memory would be asked for each time. */
static void move_that_stays_in_the_caches_has_no_scratch(void **state)
{
	struct transposition t = new_transposition();

	(void)state;
	assert_int_equal(t.plan->scratch != NULL, t.plan->streams);
	free_transposition(&t);
}

/* A plan that copies so many bytes, some bytes apart, or the first one so many times. */
static void check_copy(uint64_t bytes, int64_t src_stride, bool streams, bool overflows)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);
	uint8_t *dst = calloc(3, bytes);
	struct engine_plan *plan;
	struct engine_fault fault;

	assert_non_null(dst);
	add_loop(job, bytes, 1, src_stride);
	set_buffer(job, 0, dst, bytes);
	set_buffer(job, 1, dst + bytes, 2 * bytes);
	assert_int_equal(engine_plan_create(job, &plan, &fault), 0);
	assert_int_equal(plan->streams, streams);
	assert_int_equal(plan->overflows, overflows);
	engine_plan_destroy(plan);
	free(dst);
	free(job);
}

static void more_than_a_third_of_the_last_level_cache_on_either_side_is_streamed(void **state)
{
	const uint64_t bytes = engine_last_level_cache();

	(void)state;
	check_copy(bytes / 3, 1, false, false);
	check_copy(bytes / 3, 2, false, false);
	check_copy(bytes / 3 + 1, 1, true, false);
	check_copy(bytes / 2, 1, true, false);
	check_copy(bytes / 2 + 1, 1, true, true);
}

static void more_than_half_of_the_last_level_cache_is_streamed_from_anywhere(void **state)
{
	const uint64_t bytes = engine_last_level_cache();

	(void)state;
	check_copy(bytes / 3 + 1, 0, false, false);
	check_copy(bytes / 2, 0, false, false);
	check_copy(bytes / 2 + 1, 0, true, true);
}

static void *run_plan(void *plan)
{
	struct engine_fault fault;

	return (void *)(intptr_t)engine_plan_run(plan, NULL, &fault);
}

static void plan_runs_in_two_threads_at_once(void **state)
{
	struct transposition t = new_transposition();
	pthread_t threads[2];
	void *result;

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run_plan, t.plan), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pthread_join(threads[i], &result), 0);
		assert_null(result);
	}
	assert_true(is_transposed(&t));
	free_transposition(&t);
}

static void progress_grows_by_at_least_the_bytes_moved(void **state)
{
	struct transposition t = new_transposition();
	uint64_t progress = 5;
	struct engine_control control = { .progress = &progress };
	struct engine_fault fault;

	(void)state;
	assert_int_equal(engine_plan_run(t.plan, &control, &fault), 0);
	assert_true(progress >= 5 + SIDE * SIDE * sizeof(uint32_t));
	free_transposition(&t);
}

static void run_that_is_canceled_before_it_starts_stores_nothing(void **state)
{
	struct transposition t = new_transposition();
	const uint32_t cancel = 1;
	struct engine_control control = { .cancel = &cancel };
	struct engine_fault fault;

	(void)state;
	assert_int_equal(engine_plan_run(t.plan, &control, &fault), -ECANCELED);
	assert_int_equal(fault.cause, DRM_TESSERA_CAUSE_CANCELED);
	assert_string_equal(fault.text, "the job was canceled");
	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		assert_int_equal(t.to[i], 0);
	free_transposition(&t);
}

/* A job that would take years, and the thread that it runs in. */
struct endless {
	struct engine_job *job;
	uint32_t cancel;
	uint64_t progress;
	int error;
};

static void *run_endless(void *argument)
{
	struct endless *endless = argument;
	struct engine_control control = {
		.cancel = &endless->cancel,
		.progress = &endless->progress,
	};
	struct engine_fault fault;

	endless->error = try_job(endless->job, &control, &fault);
	return NULL;
}

/* Waits for progress, not for time, and cancels. */
static void check_canceled(struct engine_job *job)
{
	struct endless endless = { .job = job };
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, run_endless, &endless), 0);
	while (!__atomic_load_n(&endless.progress, __ATOMIC_RELAXED))
		;
	__atomic_store_n(&endless.cancel, 1, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(endless.error, -ECANCELED);
	free(job);
}

/* How often a run asks, and from when on it may not go on */
struct gate {
	unsigned num_asked;
	unsigned limit;
};

static bool may_go_on(void *context)
{
	struct gate *gate = context;

	return ++gate->num_asked < gate->limit;
}

static void run_that_may_go_on_is_not_canceled(void **state)
{
	struct transposition t = new_transposition();
	struct gate gate = { .limit = UINT32_MAX };
	const uint32_t cancel = 1;
	struct engine_control control = {
		.cancel = &cancel,
		.may_go_on = may_go_on,
		.context = &gate,
	};
	struct engine_fault fault;

	(void)state;
	assert_int_equal(engine_plan_run(t.plan, &control, &fault), 0);
	assert_true(is_transposed(&t));
	/* for 4 MiB, at least every 64 KiB */
	assert_true(gate.num_asked >= 64);
	free_transposition(&t);
}

static void run_is_canceled_when_it_may_not_go_on(void **state)
{
	struct transposition t = new_transposition();
	struct gate gate = { .limit = 3 };
	const uint32_t cancel = 1;
	struct engine_control control = {
		.cancel = &cancel,
		.may_go_on = may_go_on,
		.context = &gate,
	};
	struct engine_fault fault;

	(void)state;
	assert_int_equal(engine_plan_run(t.plan, &control, &fault), -ECANCELED);
	assert_int_equal(gate.num_asked, 3);
	free_transposition(&t);
}

static void move_is_canceled_while_it_runs(void **state)
{
	uint8_t byte = 0;
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

	(void)state;
	set_buffer(job, 0, &byte, 1);
	set_buffer(job, 1, "x", 1);
	add_loop(job, 1ull << 40, 0, 0);
	add_loop(job, 1ull << 20, 0, 0);
	check_canceled(job);
}

static void program_is_canceled_while_it_runs(void **state)
{
	uint8_t byte = 0;
	struct engine_job *job = new_job(0, DRM_TESSERA_DTYPE_U8);

	(void)state;
	set_buffer(job, 0, &byte, 1);
	add_loop(job, 1ull << 60, 0, 0);
	add_instruction(job, DRM_TESSERA_OP_CONST, DRM_TESSERA_DTYPE_U8);
	check_canceled(job);
}

static void gather_is_canceled_while_it_runs(void **state)
{
	static const uint8_t index;
	uint8_t byte = 0;
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);
	struct drm_tessera_window *window;

	(void)state;
	set_buffer(job, 0, &byte, 1);
	set_buffer(job, 1, "x", 1);
	add_loop(job, 1, 0, 0);
	add_loop(job, 1ull << 60, 0, 0);
	add_indices(job, 1, &index, 1, DRM_TESSERA_DTYPE_U8, 0, 1);
	window = add_window(job, 0, 0, INT64_MAX);
	window->value.strides[1] = 1;
	check_canceled(job);
}

static void search_for_points_is_canceled_where_windows_hold_nowhere(void **state)
{
	uint8_t byte = 0;
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);
	struct drm_tessera_window *window;

	(void)state;
	/* 2 * i - 2 * j is never 1, but no loop alone tells so */
	set_buffer(job, 0, &byte, 1);
	set_buffer(job, 1, "x", 1);
	add_loop(job, 1ull << 30, 0, 0);
	add_loop(job, 1ull << 30, 0, 0);
	window = add_window(job, 0, -1, 1);
	window->value.strides[0] = 2;
	window->value.strides[1] = -2;
	check_canceled(job);
}

/* The job has 2^62 points: who went through them all would never come back. */
static void window_that_holds_nowhere_leaves_nothing_to_run(void **state)
{
	uint8_t byte = 'a';
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

	(void)state;
	set_buffer(job, 0, &byte, 1);
	set_buffer(job, 1, "x", 1);
	add_loop(job, 1ull << 31, 0, 0);
	add_loop(job, 1ull << 31, 0, 0);
	add_window(job, 0, 0, 0);
	run_job(job);
	assert_int_equal(byte, 'a');
}

/* As many, of which four are stored, far from both ends. */
static void points_outside_of_the_windows_are_not_run_through(void **state)
{
	const uint64_t first = 1ull << 30;
	uint8_t bytes[4] = "....";
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

	(void)state;
	set_buffer(job, 0, bytes, sizeof(bytes));
	set_buffer(job, 1, "abcd", 4);
	add_loop(job, 1ull << 31, 2, 2);
	add_loop(job, 1ull << 31, 1, 1);
	job->operands[0].spec.address.offset = -3 * (int64_t)first;
	job->operands[1].spec.address.offset = -3 * (int64_t)first;
	for (uint32_t k = 0; k < 2; k++) {
		for (uint32_t d = 0; d < 2; d++)
			add_window(job, k, -(int64_t)first, 2)->value.strides[d] = 1;
	}
	run_job(job);
	assert_memory_equal(bytes, "abcd", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plan_runs_without_its_job_and_more_than_once),
		cmocka_unit_test(move_that_stays_in_the_caches_has_no_scratch),
		cmocka_unit_test(
			more_than_a_third_of_the_last_level_cache_on_either_side_is_streamed),
		cmocka_unit_test(
			more_than_half_of_the_last_level_cache_is_streamed_from_anywhere),
		cmocka_unit_test(plan_runs_in_two_threads_at_once),
		cmocka_unit_test(progress_grows_by_at_least_the_bytes_moved),
		cmocka_unit_test(run_that_is_canceled_before_it_starts_stores_nothing),
		cmocka_unit_test(run_that_may_go_on_is_not_canceled),
		cmocka_unit_test(run_is_canceled_when_it_may_not_go_on),
		cmocka_unit_test(move_is_canceled_while_it_runs),
		cmocka_unit_test(program_is_canceled_while_it_runs),
		cmocka_unit_test(gather_is_canceled_while_it_runs),
		cmocka_unit_test(search_for_points_is_canceled_where_windows_hold_nowhere),
		cmocka_unit_test(window_that_holds_nowhere_leaves_nothing_to_run),
		cmocka_unit_test(points_outside_of_the_windows_are_not_run_through),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
