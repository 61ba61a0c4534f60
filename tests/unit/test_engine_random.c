// SPDX-License-Identifier: MIT
/*
 * The engine against the reference on random jobs, in buffers with an unmapped page at one end.
 *
 * test_engine_random [--seed N] [--count N]: the job of seed N is the first of a run from N on.
 */
#include "random_test.h"

static struct random_run run;

static void check_refused(const struct prepared *prepared)
{
	const struct random_job *job = prepared->job;
	struct engine_fault fault = { 0 };
	struct engine_plan *plan;
	int error = engine_plan_create(&prepared->engine_job, &plan, &fault);

	if (!error)
		engine_plan_destroy(plan);
	if (error != -job->error)
		fail_job(prepared, "returned %d, expected %d", error, -job->error);
	if (!fault.text[0])
		fail_job(prepared, "refused without a text");
}

static void check_run(const struct prepared *prepared)
{
	const struct random_job *job = prepared->job;
	struct engine_fault fault = { 0 };
	struct engine_plan *plan;
	char text[200];
	int error = engine_plan_create(&prepared->engine_job, &plan, &fault);

	if (error)
		fail_job(prepared, "refused with %d: %s", error, fault.text);
	if (engine_job_check_overlap(&prepared->engine_job, &fault))
		fail_job(prepared, "said to overlap: %s", fault.text);
	error = engine_plan_run(plan, NULL, &fault);
	engine_plan_destroy(plan);
	if (job->outcome == RANDOM_JOB_SUCCEEDS && error)
		fail_job(prepared, "failed with %d: %s", error, fault.text);
	if (job->outcome == RANDOM_JOB_FAULTS &&
	    (error != -ERANGE || fault.cause != job->cause || fault.operand != job->operand))
		fail_job(prepared, "returned %d, cause %d, operand %u: %s", error, fault.cause,
			 fault.operand, fault.text);
	for (uint32_t b = 0; b < job->num_buffers; b++)
		if (!random_job_check(job, b, prepared->memory[b].bytes, text, sizeof(text)))
			fail_job(prepared, "%s", text);
}

static void random_jobs_give_what_the_reference_says(void **state)
{
	const struct random_job_options options = { .with_refused = true, .with_faults = true };
	uint64_t outcomes[3] = { 0 };

	(void)state;
	for (uint64_t n = 0; n < run.count; n++) {
		struct prepared prepared;

		prepare(&prepared, run.seed + n, &options);
		outcomes[prepared.job->outcome]++;
		if (prepared.job->outcome == RANDOM_JOB_REFUSED)
			check_refused(&prepared);
		else
			check_run(&prepared);
		release(&prepared);
	}
	print_message("seeds %" PRIu64 " to %" PRIu64 ": %" PRIu64 " succeeded, %" PRIu64
		      " refused, %" PRIu64 " faulted\n", run.seed, run.seed + run.count - 1,
		      outcomes[RANDOM_JOB_SUCCEEDS], outcomes[RANDOM_JOB_REFUSED],
		      outcomes[RANDOM_JOB_FAULTS]);
	/* a generator that makes one kind only tests nothing */
	if (run.count >= 1000)
		for (int outcome = 0; outcome < 3; outcome++)
			assert_true(outcomes[outcome] > run.count / 100);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_jobs_give_what_the_reference_says),
	};

	run = parse_options(argc, argv, 10000);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
