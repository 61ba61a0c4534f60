// SPDX-License-Identifier: MIT
/*
 * The engine against the reference on a great many small random jobs, by every instruction set that
 * the CPU has. As in test_engine_sizes.c the engine is what the library has, without sanitizers,
 * and buffers lie between pages that cannot be accessed; test_engine_random.c is the same under
 * sanitizers, with larger jobs and fewer of them.
 *
 * test_engine_jobs [--seed N] [--count N]: the job of seed N is the first of a run from N on.
 */
#include "engine/isa.h"
#include "random_test.h"

#define MAX_POINTS	512
#define ARENA_BYTES	(64 << 10)

static struct random_run run;

/* Memory for each buffer, used again and again. */
static struct guarded arenas[RANDOM_JOB_MAX_BUFFERS];

static int make_arenas(void **state)
{
	static const uint8_t zeros[ARENA_BYTES];

	(void)state;
	for (int b = 0; b < RANDOM_JOB_MAX_BUFFERS; b++)
		arenas[b] = guarded_copy(zeros, ARENA_BYTES, false);
	return 0;
}

/* Puts a buffer's bytes at the front of its memory, or at its end. */
static void place_buffers(struct prepared *prepared)
{
	const struct random_job *job = prepared->job;
	void *bases[RANDOM_JOB_MAX_BUFFERS];

	for (uint32_t b = 0; b < job->num_buffers; b++) {
		uint64_t size = job->buffers[b].size;

		assert_true(size <= ARENA_BYTES);
		prepared->memory[b].bytes = arenas[b].bytes +
					    ((job->seed + b) % 2 ? ARENA_BYTES - size : 0);
		memcpy(prepared->memory[b].bytes, job->buffers[b].initial, size);
		bases[b] = prepared->memory[b].bytes;
	}
	random_job_bind(job, bases, &prepared->engine_job);
}

static void check_job(const struct prepared *prepared, const char *isa)
{
	const struct random_job *job = prepared->job;
	struct engine_fault fault = { .text = "" };
	int error = try_job(&prepared->engine_job, NULL, &fault);
	int expected = job->outcome == RANDOM_JOB_REFUSED ? -job->error :
		       job->outcome == RANDOM_JOB_FAULTS ? -ERANGE : 0;
	char text[200];

	if (error != expected)
		fail_job(prepared, "%s returned %d, expected %d: %s", isa, error, expected,
			 fault.text);
	if (job->outcome == RANDOM_JOB_FAULTS &&
	    (fault.cause != job->cause || fault.operand != job->operand))
		fail_job(prepared, "%s: cause %d, operand %u: %s", isa, fault.cause, fault.operand,
			 fault.text);
	for (uint32_t b = 0; b < job->num_buffers; b++)
		if (!random_job_check(job, b, prepared->memory[b].bytes, text, sizeof(text)))
			fail_job(prepared, "%s: %s", isa, text);
}

static void small_random_jobs_give_what_the_reference_says(void **state)
{
	const struct random_job_options options = {
		.max_points = MAX_POINTS, .max_buffer_bytes = ARENA_BYTES,
		.with_refused = true, .with_faults = true,
	};
	const struct engine_isa *isa;

	(void)state;
	for (uint64_t n = 0; n < run.count; n++) {
		struct prepared prepared = { .job = random_job_create(run.seed + n, &options) };

		for (uint32_t k = 0; (isa = engine_isa_at(k)); k++) {
			if (!isa->is_available())
				continue;
			setenv(ENGINE_ISA_VARIABLE, isa->name, 1);
			place_buffers(&prepared);
			check_job(&prepared, isa->name);
		}
		random_job_destroy(prepared.job);
	}
	print_message("seeds %" PRIu64 " to %" PRIu64 "\n", run.seed, run.seed + run.count - 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_random_jobs_give_what_the_reference_says),
	};

	run = parse_options(argc, argv, 200000);
	return cmocka_run_group_tests(tests, make_arenas, NULL);
}
