// SPDX-License-Identifier: MIT
/*
 * Plans in several threads: the same bytes, the same faults, progress and cancellation, several
 * callers, and children of fork().
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transposition_test.h"

enum { ROWS = 16384, ROW_BYTES = 256, FIRST_BAD_ROW = 1024 };

static const uint32_t thread_counts[] = { 1, 2, 3, 7 };

static struct engine_pool *new_pool(uint32_t num_threads)
{
	struct engine_pool *pool;

	assert_int_equal(engine_pool_create(num_threads, &pool), 0);
	return pool;
}

static void any_number_of_threads_gives_the_same_bytes(void **state)
{
	struct transposition t = new_transposition();
	struct engine_fault fault;

	(void)state;
	for (size_t i = 0; i < COUNT(thread_counts); i++) {
		struct engine_pool *pool = new_pool(thread_counts[i]);

		/* again and again: workers go back to sleep in between, or do not */
		for (int run = 0; run < 20; run++) {
			memset(t.to, 0, SIDE * SIDE * sizeof(uint32_t));
			assert_int_equal(engine_plan_run_parallel(t.plan, pool, NULL, &fault), 0);
			assert_true(is_transposed(&t));
		}
		engine_pool_destroy(pool);
	}
	free_transposition(&t);
}

static void no_pool_is_one_thread(void **state)
{
	struct transposition t = new_transposition();
	struct engine_fault fault;

	(void)state;
	assert_int_equal(engine_plan_run_parallel(t.plan, NULL, NULL, &fault), 0);
	assert_true(is_transposed(&t));
	free_transposition(&t);
	engine_pool_destroy(NULL);
}

static void pool_of_no_threads_leaves_all_to_the_caller(void **state)
{
	struct transposition t = new_transposition();
	struct engine_pool *pool = new_pool(0);
	struct engine_fault fault;

	(void)state;
	assert_int_equal(engine_plan_run_parallel(t.plan, pool, NULL, &fault), 0);
	assert_true(is_transposed(&t));
	engine_pool_destroy(pool);
	free_transposition(&t);
}

static void plan_without_points_does_nothing_in_a_pool(void **state)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);
	struct engine_pool *pool = new_pool(2);
	struct engine_fault fault;
	struct engine_plan *plan;

	(void)state;
	set_buffer(job, 0, NULL, 0);
	add_loop(job, 0, 1, 1);
	assert_int_equal(engine_plan_create(job, &plan, &fault), 0);
	assert_int_equal(engine_plan_run_parallel(plan, pool, NULL, &fault), 0);
	engine_plan_destroy(plan);
	engine_pool_destroy(pool);
	free(job);
}

static void progress_of_all_threads_is_told(void **state)
{
	struct transposition t = new_transposition();
	struct engine_pool *pool = new_pool(3);
	uint64_t progress = 5;
	struct engine_control control = { .progress = &progress };
	struct engine_fault fault;

	(void)state;
	assert_int_equal(engine_plan_run_parallel(t.plan, pool, &control, &fault), 0);
	assert_true(progress >= 5 + SIDE * SIDE * sizeof(uint32_t));
	engine_pool_destroy(pool);
	free_transposition(&t);
}

/* Rows of 256 bytes gathered by an index each; 4 MiB. */
struct gather {
	uint8_t *from;
	uint8_t *to;
	uint32_t *indices;
	struct engine_plan *plan;
};

static struct gather new_gather(void)
{
	struct gather g = {
		.from = calloc(ROWS, ROW_BYTES),
		.to = calloc(ROWS, ROW_BYTES),
		.indices = calloc(ROWS, sizeof(uint32_t)),
	};
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);
	struct engine_fault fault;

	set_buffer(job, 0, g.to, ROWS * ROW_BYTES);
	set_buffer(job, 1, g.from, ROWS * ROW_BYTES);
	add_loop(job, ROWS, ROW_BYTES, 0);
	add_loop(job, ROW_BYTES, 1, 1);
	add_indices(job, 1, g.indices, ROWS * sizeof(uint32_t), DRM_TESSERA_DTYPE_U32, 0,
		    ROW_BYTES);
	assert_int_equal(engine_plan_create(job, &g.plan, &fault), 0);
	free(job);
	return g;
}

static void free_gather(struct gather *g)
{
	engine_plan_destroy(g->plan);
	free(g->from);
	free(g->to);
	free(g->indices);
}

static void first_fault_is_told_whatever_the_threads(void **state)
{
	struct gather g = new_gather();

	(void)state;
	/* soon in a part that is not the first, and late in those that run beside it */
	g.indices[FIRST_BAD_ROW] = ROWS + FIRST_BAD_ROW;
	for (uint32_t i = FIRST_BAD_ROW + 2048; i < ROWS; i += 1024)
		g.indices[i - 1] = ROWS + i;
	for (size_t i = 0; i < COUNT(thread_counts); i++) {
		struct engine_pool *pool = new_pool(thread_counts[i]);

		for (int run = 0; run < 100; run++) {
			struct engine_fault fault = { 0 };

			assert_int_equal(engine_plan_run_parallel(g.plan, pool, NULL, &fault),
					 -ERANGE);
			assert_int_equal(fault.cause, DRM_TESSERA_CAUSE_BOUNDS);
			assert_int_equal(fault.operand, 1);
			assert_int_equal(fault.offset, (ROWS + FIRST_BAD_ROW) * ROW_BYTES + 255);
		}
		engine_pool_destroy(pool);
	}
	free_gather(&g);
}

static void fault_need_not_be_asked_for(void **state)
{
	struct gather g = new_gather();
	struct engine_pool *pool = new_pool(2);

	(void)state;
	g.indices[ROWS - 1] = UINT32_MAX;
	assert_int_equal(engine_plan_run_parallel(g.plan, pool, NULL, NULL), -ERANGE);
	engine_pool_destroy(pool);
	free_gather(&g);
}

static void run_that_is_canceled_before_it_starts_stores_nothing(void **state)
{
	struct transposition t = new_transposition();
	struct engine_pool *pool = new_pool(2);
	const uint32_t cancel = 1;
	struct engine_control control = { .cancel = &cancel };
	struct engine_fault fault;

	(void)state;
	assert_int_equal(engine_plan_run_parallel(t.plan, pool, &control, &fault), -ECANCELED);
	assert_int_equal(fault.cause, DRM_TESSERA_CAUSE_CANCELED);
	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		assert_int_equal(t.to[i], 0);
	engine_pool_destroy(pool);
	free_transposition(&t);
}

/* A plan that would take years, and the thread that calls for it. */
struct endless {
	struct engine_plan *plan;
	struct engine_pool *pool;
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

	endless->error = engine_plan_run_parallel(endless->plan, endless->pool, &control, &fault);
	return NULL;
}

static void all_threads_stop_when_the_run_is_canceled(void **state)
{
	struct endless endless = { .pool = new_pool(3) };
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);
	struct drm_tessera_window *window;
	struct engine_fault fault;
	uint8_t byte = 0;
	pthread_t thread;

	(void)state;
	/* 2 * i - 2 * j is never 1, so that nothing is ever stored */
	set_buffer(job, 0, &byte, 1);
	set_buffer(job, 1, "x", 1);
	add_loop(job, 1ull << 30, 0, 0);
	add_loop(job, 1ull << 30, 0, 0);
	window = add_window(job, 0, -1, 1);
	window->value.strides[0] = 2;
	window->value.strides[1] = -2;
	assert_int_equal(engine_plan_create(job, &endless.plan, &fault), 0);
	assert_int_equal(pthread_create(&thread, NULL, run_endless, &endless), 0);
	while (!__atomic_load_n(&endless.progress, __ATOMIC_RELAXED))
		;
	__atomic_store_n(&endless.cancel, 1, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(endless.error, -ECANCELED);
	engine_plan_destroy(endless.plan);
	engine_pool_destroy(endless.pool);
	free(job);
}

/* One of several callers of a pool. */
struct caller {
	struct engine_pool *pool;
	bool is_right;
};

static void *call(void *argument)
{
	struct caller *caller = argument;
	struct transposition t = new_transposition();
	struct engine_fault fault;

	caller->is_right = true;
	for (int run = 0; run < 10; run++) {
		memset(t.to, 0, SIDE * SIDE * sizeof(uint32_t));
		if (engine_plan_run_parallel(t.plan, caller->pool, NULL, &fault) ||
		    !is_transposed(&t))
			caller->is_right = false;
	}
	free_transposition(&t);
	return NULL;
}

static void several_callers_share_a_pool(void **state)
{
	struct engine_pool *pool = new_pool(2);
	struct caller callers[3];
	pthread_t threads[COUNT(callers)];

	(void)state;
	for (size_t i = 0; i < COUNT(callers); i++) {
		callers[i].pool = pool;
		assert_int_equal(pthread_create(&threads[i], NULL, call, &callers[i]), 0);
	}
	for (size_t i = 0; i < COUNT(callers); i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_true(callers[i].is_right);
	}
	engine_pool_destroy(pool);
}

static void child_of_fork_runs_its_plan_alone(void **state)
{
	struct transposition t = new_transposition();
	struct engine_pool *pool = new_pool(2);
	struct engine_fault fault;
	int status;
	pid_t child = fork();

	(void)state;
	if (!child) {
		bool is_right = !engine_plan_run_parallel(t.plan, pool, NULL, &fault) &&
				is_transposed(&t);

		engine_pool_destroy(pool);
		_exit(is_right ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	/* the parent's workers are still there */
	assert_int_equal(engine_plan_run_parallel(t.plan, pool, NULL, &fault), 0);
	assert_true(is_transposed(&t));
	engine_pool_destroy(pool);
	free_transposition(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
		cmocka_unit_test(no_pool_is_one_thread),
		cmocka_unit_test(pool_of_no_threads_leaves_all_to_the_caller),
		cmocka_unit_test(plan_without_points_does_nothing_in_a_pool),
		cmocka_unit_test(progress_of_all_threads_is_told),
		cmocka_unit_test(first_fault_is_told_whatever_the_threads),
		cmocka_unit_test(fault_need_not_be_asked_for),
		cmocka_unit_test(run_that_is_canceled_before_it_starts_stores_nothing),
		cmocka_unit_test(all_threads_stop_when_the_run_is_canceled),
		cmocka_unit_test(several_callers_share_a_pool),
		cmocka_unit_test(child_of_fork_runs_its_plan_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
