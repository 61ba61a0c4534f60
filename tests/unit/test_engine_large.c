// SPDX-License-Identifier: MIT
/*
 * The engine against the reference on jobs that are large for it: it takes the caches to be small
 * here, so that it streams, and works in scratch. By every instruction set that the CPU has, in one
 * thread, in several, where another run has the scratch, and canceled on their way.
 *
 * test_engine_large [--seed N] [--count N]: the job of seed N is the first of a run from N on.
 */
#include <pthread.h>

#include "engine/cache.h"
#include "engine/isa.h"
#include "engine/plan.h"
#include "random_test.h"

/* In the place of the engine's own. */
uint64_t engine_last_level_cache(void)
{
	return 256 << 10;
}

static struct random_run run;
static struct engine_pool *pool;

static int make_pool(void **state)
{
	(void)state;
	return engine_pool_create(2, &pool);
}

static int destroy_pool(void **state)
{
	(void)state;
	engine_pool_destroy(pool);
	return 0;
}

/* A run of a plan in one of several ways. */
struct trial {
	const struct prepared *prepared;
	const struct engine_plan *plan;
	struct engine_control control;
	struct engine_fault fault;
	uint64_t progress;
};

static int run_alone(struct trial *trial)
{
	return engine_plan_run(trial->plan, &trial->control, &trial->fault);
}

static int run_in_threads(struct trial *trial)
{
	return engine_plan_run_parallel(trial->plan, pool, &trial->control, &trial->fault);
}

static int run_without_scratch(struct trial *trial)
{
	struct engine_scratch *scratch = trial->plan->scratch;
	int error;

	if (scratch)
		scratch->is_taken = 1;
	error = run_alone(trial);
	if (scratch)
		scratch->is_taken = 0;
	return error;
}

static bool is_in_place(const struct random_job *job)
{
	for (uint32_t k = 1; k < job->num_operands; k++)
		if (job->operands[k].handle == job->operands[0].handle)
			return true;
	return false;
}

static void *run_plan(void *plan)
{
	struct engine_fault fault;

	return (void *)(intptr_t)engine_plan_run(plan, NULL, &fault);
}

/* Both store the same, unless the one would load what the other has stored. */
static int run_twice_at_once(struct trial *trial)
{
	pthread_t other;
	void *result;
	int error;

	if (is_in_place(trial->prepared->job))
		return run_alone(trial);
	assert_int_equal(pthread_create(&other, NULL, run_plan, (void *)trial->plan), 0);
	error = run_alone(trial);
	assert_int_equal(pthread_join(other, &result), 0);
	return error ? error : (int)(intptr_t)result;
}

static const struct {
	const char *name;
	int (*run)(struct trial *trial);
} ways[] = {
	{ "alone", run_alone },
	{ "in threads", run_in_threads },
	{ "without scratch", run_without_scratch },
	{ "twice at once", run_twice_at_once },
};

static void start(struct trial *trial, const struct prepared *prepared, struct engine_plan **plan)
{
	const struct random_job *job = prepared->job;

	*trial = (struct trial){ .prepared = prepared };
	for (uint32_t b = 0; b < job->num_buffers; b++)
		memcpy(prepared->memory[b].bytes, job->buffers[b].initial, job->buffers[b].size);
	if (engine_plan_create(&prepared->engine_job, plan, &trial->fault))
		fail_job(prepared, "refused: %s", trial->fault.text);
	trial->plan = *plan;
	trial->control.progress = &trial->progress;
}

static uint64_t bytes_changed(const struct random_job *job)
{
	uint64_t count = 0;

	for (uint32_t b = 0; b < job->num_buffers; b++)
		for (uint64_t i = 0; i < job->buffers[b].size; i++)
			count += job->buffers[b].expected[i] != job->buffers[b].initial[i];
	return count;
}

/* One of the ways on each instruction set; which one changes with the job. */
static void check_job(const struct prepared *prepared, const char *isa, uint64_t turn)
{
	const struct random_job *job = prepared->job;
	const size_t way = turn % COUNT(ways);
	struct engine_plan *plan;
	struct trial trial;
	char text[200];

	start(&trial, prepared, &plan);
	if (ways[way].run(&trial))
		fail_job(prepared, "%s %s: %s", isa, ways[way].name, trial.fault.text);
	engine_plan_destroy(plan);
	for (uint32_t b = 0; b < job->num_buffers; b++)
		if (!random_job_check(job, b, prepared->memory[b].bytes, text, sizeof(text)))
			fail_job(prepared, "%s %s: %s", isa, ways[way].name, text);
	if (trial.progress < bytes_changed(job))
		fail_job(prepared, "%s %s: progress %" PRIu64, isa, ways[way].name, trial.progress);
}

/* What a job that is canceled has stored is right, and it has stored nothing else. */
static void check_partly_done(const struct prepared *prepared, const char *isa)
{
	const struct random_job *job = prepared->job;

	for (uint32_t b = 0; b < job->num_buffers; b++) {
		const struct random_job_buffer *buffer = &job->buffers[b];
		const uint8_t *bytes = prepared->memory[b].bytes;

		for (uint64_t i = 0; i < buffer->size; i++)
			if (bytes[i] != buffer->initial[i] && bytes[i] != buffer->expected[i])
				fail_job(prepared, "%s canceled: buffer %u, byte %" PRIu64, isa, b,
					 i);
	}
}

/* The upper half of progress, which is not 0 after so many bytes, is what cancels the job. */
static void check_canceled(const struct prepared *prepared, const char *isa, uint32_t bytes)
{
	struct engine_plan *plan;
	struct trial trial;
	int error;

	start(&trial, prepared, &plan);
	trial.progress = (1ull << 32) - bytes;
	trial.control.cancel = (const uint32_t *)&trial.progress + 1;
	error = run_alone(&trial);
	if (error && (error != -ECANCELED || trial.fault.cause != DRM_TESSERA_CAUSE_CANCELED))
		fail_job(prepared, "%s canceled: %d", isa, error);
	if (!error && bytes_changed(prepared->job) > bytes + (128 << 10))
		fail_job(prepared, "%s was not canceled", isa);
	engine_plan_destroy(plan);
	check_partly_done(prepared, isa);
}

static void large_random_jobs_give_what_the_reference_says(void **state)
{
	const struct random_job_options options = {
		.min_points = 520 << 10, .max_buffer_bytes = 16 << 20,
		.max_instructions = 3,
	};

	(void)state;
	for (uint64_t n = 0; n < run.count; n++) {
		struct prepared prepared;

		prepare(&prepared, run.seed + n, &options);
		for (uint32_t k = 0; engine_isa_at(k); k++) {
			if (!engine_isa_at(k)->is_available())
				continue;
			setenv(ENGINE_ISA_VARIABLE, engine_isa_at(k)->name, 1);
			check_job(&prepared, engine_isa_at(k)->name, run.seed + n + k);
			if (k == (run.seed + n) % 3)
				check_canceled(&prepared, engine_isa_at(k)->name,
					       (uint32_t)(run.seed + n) % 8 * 65536 + 1);
		}
		release(&prepared);
	}
	print_message("seeds %" PRIu64 " to %" PRIu64 "\n", run.seed, run.seed + run.count - 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_random_jobs_give_what_the_reference_says),
	};

	run = parse_options(argc, argv, 25);
	return cmocka_run_group_tests(tests, make_pool, destroy_pool);
}
