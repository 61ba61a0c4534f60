// SPDX-License-Identifier: MIT
/*
 * Random jobs with random fields overwritten: whatever a job holds, the engine and the driver come
 * to the same decision, nothing outside of the buffers is touched, and what is accepted and defined
 * gives what the reference says.
 *
 * test_engine_mangled [--seed N] [--count N]
 */
#include "random_test.h"
#include "../../driver/tessera_layout.h"

static struct random_run run;

/* Values that break things, or do not. */
static uint64_t strange_value(struct random *random)
{
	switch (random_below(random, 6)) {
	case 0:
		return (uint64_t)random_between(random, -4, 4);
	case 1:
		return 1ull << random_below(random, 64);
	case 2:
		return -(1ull << random_below(random, 64));
	case 3:
		return (uint64_t)INT64_MAX - random_below(random, 3);
	case 4:
		return random_bits(random);
	default:
		return random_below(random, 300);
	}
}

/* Where the job is overwritten: operands are most of it, and the most interesting. */
static void mangle(struct random *random, struct engine_job *job)
{
	uint64_t k = random_below(random, job->num_operands);
	uint64_t w = random_below(random, job->num_windows + 1) % DRM_TESSERA_MAX_WINDOWS;
	uint64_t i = random_below(random, job->num_instructions + 1) % DRM_TESSERA_MAX_INSTRUCTIONS;
	struct drm_tessera_operand *spec = &job->operands[k].spec;
	struct drm_tessera_window *window = &job->windows[w];
	struct drm_tessera_instruction *instruction = &job->program[i];
	uint64_t loop = random_below(random, DRM_TESSERA_MAX_RANK);
	uint64_t value = strange_value(random);

	switch (random_below(random, 16)) {
	case 0:
		job->extents[loop] = value;
		break;
	case 1:
		window->limit = value;
		break;
	case 2:
		window->value.offset = (int64_t)value;
		break;
	case 3:
		window->value.strides[loop] = (int64_t)value;
		break;
	case 4:
		spec->window_mask ^= 1u << random_below(random, 32);
		break;
	case 5:
		spec->address.offset = (int64_t)((uint64_t)spec->address.offset + value % 100);
		break;
	case 6:
		spec->address.offset = (int64_t)value;
		break;
	case 7:
		spec->address.strides[loop] = (int64_t)value;
		break;
	case 8:
		spec->index_address.strides[loop] = (int64_t)value;
		break;
	case 9:
		spec->index_stride = (int64_t)value;
		break;
	case 10:
		spec->index_limit = value;
		break;
	case 11:
		spec->fill[loop % 2] = value;
		break;
	case 12:
		spec->dtype ^= 1u << random_below(random, 8);
		break;
	case 13:
		job->extents[loop] = value % 5;
		break;
	default:
		((uint8_t *)instruction)[random_below(random, sizeof(*instruction))] ^=
			(uint8_t)(1u << random_below(random, 8));
	}
}

/* The same job for the driver's check. */
static void bind_driver(const struct prepared *prepared, struct tessera_layout_job *job)
{
	const struct engine_job *from = &prepared->engine_job;

	memset(job, 0, sizeof(*job));
	job->rank = from->rank;
	job->num_operands = from->num_operands;
	job->num_windows = from->num_windows;
	job->num_instructions = from->num_instructions;
	memcpy(job->extents, from->extents, sizeof(job->extents));
	memcpy(job->windows, from->windows, sizeof(job->windows));
	memcpy(job->program, from->program, sizeof(job->program));
	for (uint32_t k = 0; k < from->num_operands; k++) {
		const struct drm_tessera_operand *spec = &from->operands[k].spec;

		job->operands[k] = *spec;
		job->buffers[k] = (struct tessera_layout_buffer){
			from->operands[k].buffer.size, spec->handle, true
		};
		job->index_buffers[k] = (struct tessera_layout_buffer){
			from->operands[k].index_buffer.size, spec->index_handle, true
		};
	}
}

static uint64_t count_points(const struct engine_job *job)
{
	uint64_t points = 1;

	for (uint32_t d = 0; d < job->rank; d++)
		if (__builtin_mul_overflow(points, job->extents[d], &points))
			return UINT64_MAX;
	return points;
}

static bool is_defined(const struct engine_job *job)
{
	if (reference_stores_collide(job))
		return false;
	for (uint32_t k = 1; k < job->num_operands; k++)
		if (reference_overlaps(job, k))
			return false;
	return true;
}

/* What the reference makes of the job, on copies of its buffers. */
static int reference_result(const struct prepared *prepared, uint8_t **copies)
{
	const struct random_job *job = prepared->job;
	struct engine_job engine_job = prepared->engine_job;

	for (uint32_t b = 0; b < job->num_buffers; b++) {
		copies[b] = malloc(job->buffers[b].size);
		memcpy(copies[b], job->buffers[b].initial, job->buffers[b].size);
	}
	for (uint32_t k = 0; k < job->num_operands; k++) {
		engine_job.operands[k].buffer.base = copies[job->operands[k].handle - 1];
		if (job->operands[k].index_handle)
			engine_job.operands[k].index_buffer.base =
				copies[job->operands[k].index_handle - 1];
	}
	return reference_run(&engine_job, NULL);
}

static void check_run(const struct prepared *prepared, const struct engine_plan *plan)
{
	const struct random_job *job = prepared->job;
	bool is_checked = is_defined(&prepared->engine_job);
	uint8_t *copies[RANDOM_JOB_MAX_BUFFERS];
	struct engine_fault fault = { .text = "" };
	int expected = reference_result(prepared, copies);
	int error = engine_plan_run(plan, NULL, &fault);

	if (error != expected)
		fail_job(prepared, "returned %d, expected %d: %s", error, expected, fault.text);
	for (uint32_t b = 0; b < job->num_buffers; b++) {
		if (is_checked && !error &&
		    memcmp(copies[b], prepared->memory[b].bytes, job->buffers[b].size))
			fail_job(prepared, "buffer %u differs", b);
		free(copies[b]);
	}
}

/* No overlap may be found that is not there. */
static void check_overlap(const struct prepared *prepared)
{
	struct engine_fault fault = { .text = "" };

	if (!is_defined(&prepared->engine_job))
		return;
	if (engine_job_check_overlap(&prepared->engine_job, &fault))
		fail_job(prepared, "%s", fault.text);
}

static void mangled_jobs_are_decided_alike_and_stay_in_their_buffers(void **state)
{
	uint64_t num_accepted = 0, num_run = 0;

	(void)state;
	for (uint64_t n = 0; n < run.count; n++) {
		struct random random = { run.seed + n };
		struct engine_fault fault = { .text = "" };
		struct tessera_layout_error text = { "" };
		struct tessera_layout_job driver_job;
		struct engine_plan *plan;
		struct prepared prepared;
		uint64_t num_strange = random_below(&random, 3) + 1;
		int error, driver_error;

		prepare(&prepared, run.seed + n, NULL);
		for (uint64_t i = 0; i < num_strange; i++)
			mangle(&random, &prepared.engine_job);
		bind_driver(&prepared, &driver_job);
		error = engine_plan_create(&prepared.engine_job, &plan, &fault);
		driver_error = tessera_layout_check(&driver_job, &text);
		/* of two things that are wrong, each may tell of another */
		if (!error != !driver_error || (num_strange == 1 && error != driver_error))
			fail_job(&prepared, "engine %d (%s), driver %d (%s)", error, fault.text,
				 driver_error, text.text);
		if (!error) {
			num_accepted++;
			if (count_points(&prepared.engine_job) <= 10000) {
				num_run++;
				check_overlap(&prepared);
				check_run(&prepared, plan);
			}
			engine_plan_destroy(plan);
		}
		release(&prepared);
	}
	print_message("of %" PRIu64 " jobs %" PRIu64 " were accepted and %" PRIu64 " run\n",
		      run.count, num_accepted, num_run);
	if (run.count >= 1000)
		assert_true(num_run > run.count / 10 && num_accepted < run.count);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mangled_jobs_are_decided_alike_and_stay_in_their_buffers),
	};

	run = parse_options(argc, argv, 5000);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
