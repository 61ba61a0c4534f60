// SPDX-License-Identifier: MIT
/*
 * The driver's validation of jobs (driver/tessera_layout.c), compiled for userspace: each rule by
 * the driver's own case for it, which breaks that rule alone; then random jobs, on which it must
 * agree with the point-by-point reference.
 *
 * test_driver_layout [--seed N] [--count N]: the random jobs are those of seeds N and on.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "../../driver/tests/tessera_layout_cases.h"
#include "reference/random_job.h"
#include "reference/reference.h"

static uint64_t first_seed;
static uint64_t num_jobs = 2000;

static int check(const struct tessera_layout_job *job)
{
	struct tessera_layout_error error = { "" };
	int ret = tessera_layout_check(job, &error);

	/* What is refused is refused with a reason */
	assert_true(!ret == !error.text[0]);
	return ret;
}

/* Rules */

static void rule(void **state)
{
	const struct layout_case *rule = *state;
	struct tessera_layout_job job = { .rank = 0 };

	rule->build(&job);
	assert_int_equal(check(&job), 0);
	rule->change(&job);
	assert_int_equal(check(&job), rule->check);
}

static void bounds_of_a_windowed_address_are_exact(void **state)
{
	struct tessera_layout_job job = { .rank = 0 };
	struct tessera_interval bounds;

	(void)state;
	windowed(&job);
	job.windows[0].value.offset = -1;
	job.windows[0].limit = 2;
	assert_true(tessera_layout_bounds(&job, 1, &job.operands[1].address, &bounds));
	assert_int_equal(bounds.lowest, 32);
	assert_int_equal(bounds.highest, 64 + 28);
}

/* Random jobs */

static struct tessera_layout_job of_random_job(const struct random_job *random)
{
	struct tessera_layout_job job = {
		.rank = random->rank,
		.num_operands = random->num_operands,
		.num_windows = random->num_windows,
		.num_instructions = random->num_instructions,
	};
	uint32_t k;

	memcpy(job.extents, random->extents, sizeof(job.extents));
	memcpy(job.operands, random->operands, sizeof(job.operands));
	memcpy(job.windows, random->windows, sizeof(job.windows));
	memcpy(job.program, random->program, sizeof(job.program));
	for (k = 0; k < random->num_operands; k++) {
		const struct drm_tessera_operand *operand = &random->operands[k];

		job.buffers[k].id = operand->handle;
		job.buffers[k].is_writable = true;
		if (operand->handle)
			job.buffers[k].size = random->buffers[operand->handle - 1].size;
		job.index_buffers[k].id = operand->index_handle;
		if (operand->index_handle)
			job.index_buffers[k].size =
				random->buffers[operand->index_handle - 1].size;
	}
	return job;
}

static struct random_job *random_job(uint64_t seed, struct tessera_layout_job *job)
{
	const struct random_job_options options = { .with_refused = true, .with_faults = true };
	struct random_job *random = random_job_create(seed, &options);

	*job = of_random_job(random);
	return random;
}

static void assert_same_bounds(const struct random_job *random, uint32_t k, bool is_index,
			       const struct tessera_layout_job *job,
			       const struct engine_job *engine_job)
{
	struct reference_bounds expected = reference_bounds_by_rule(engine_job, k, is_index);
	const struct drm_tessera_operand *operand = &job->operands[k];
	uint32_t size = tessera_dtype_size(is_index ? operand->index_dtype : operand->dtype);
	struct tessera_interval bounds;
	bool is_empty;

	is_empty = !tessera_layout_bounds(job, operand->window_mask, is_index ?
					  &operand->index_address : &operand->address, &bounds);
	if (is_empty != (expected.lowest > expected.highest) ||
	    (!is_empty && (bounds.lowest != expected.lowest ||
			   (__int128)bounds.highest + size - 1 != expected.highest)))
		fail_msg("seed %" PRIu64 ": operand %u%s: %lld to %lld", random->seed, k,
			 is_index ? " (index)" : "", (long long)bounds.lowest,
			 (long long)bounds.highest);
}

static bool is_empty_job(const struct tessera_layout_job *job)
{
	uint32_t d;

	for (d = 0; d < job->rank; d++) {
		if (!job->extents[d])
			return true;
	}
	return false;
}

static void assert_all_bounds(const struct random_job *random, const struct tessera_layout_job *job)
{
	void *bases[RANDOM_JOB_MAX_BUFFERS];
	struct engine_job engine_job;
	uint32_t b, k;

	for (b = 0; b < random->num_buffers; b++)
		bases[b] = random->buffers[b].initial;
	random_job_bind(random, bases, &engine_job);
	for (k = 0; k < job->num_operands; k++) {
		assert_same_bounds(random, k, false, job, &engine_job);
		if (job->operands[k].flags & DRM_TESSERA_OPERAND_INDIRECT)
			assert_same_bounds(random, k, true, job, &engine_job);
	}
}

/* Rules and bounds: a job that the reference runs is never refused */
static void random_jobs_are_judged_as_the_reference_says(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = first_seed; seed < first_seed + num_jobs; seed++) {
		struct tessera_layout_job job;
		struct random_job *random = random_job(seed, &job);
		int ret = check(&job);

		if ((!ret || ret == -ERANGE) && !is_empty_job(&job))
			assert_all_bounds(random, &job);
		if (ret != (random->outcome == RANDOM_JOB_REFUSED ? -random->error : 0)) {
			random_job_print(random, stderr);
			fail_msg("seed %" PRIu64 " (%s): %d", seed, random->description, ret);
		}
		random_job_destroy(random);
	}
}

static const struct CMUnitTest other_tests[] = {
	cmocka_unit_test(bounds_of_a_windowed_address_are_exact),
	cmocka_unit_test(random_jobs_are_judged_as_the_reference_says),
};

int main(int argc, char **argv)
{
	struct CMUnitTest tests[ARRAY_SIZE(layout_cases) + ARRAY_SIZE(other_tests)];
	size_t n;
	int i;

	first_seed = (uint64_t)time(NULL) << 20;
	for (i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--seed"))
			first_seed = strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--count"))
			num_jobs = strtoull(argv[i + 1], NULL, 0);
	}
	print_message("--seed %" PRIu64 "\n", first_seed);
	for (n = 0; n < ARRAY_SIZE(layout_cases); n++)
		tests[n] = (struct CMUnitTest){
			.name = layout_cases[n]->name,
			.test_func = rule,
			.initial_state = (void *)layout_cases[n],
		};
	memcpy(tests + n, other_tests, sizeof(other_tests));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
