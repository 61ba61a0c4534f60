// SPDX-License-Identifier: MIT
/*
 * Random jobs of all kinds, built and submitted by the library, against the point-by-point
 * reference: nothing of a job gets lost on its way to the engine, and every outcome is reported.
 * `--seed N` replays a run from that seed, `--count N` is how many jobs.
 */
#include <time.h>

#include "accel_test.h"
#include "random_job.h"

static struct accel_error error;
static uint64_t seed, count = 2000;

static struct accel_affine affine(const struct drm_tessera_affine *from)
{
	struct accel_affine to = { .offset = from->offset };

	memcpy(to.strides, from->strides, sizeof(to.strides));
	return to;
}

static struct accel_operand operand(const struct drm_tessera_operand *from,
				    struct accel_buffer *const *buffers)
{
	struct accel_operand to = {
		.buffer = buffers[from->handle - 1],
		.dtype = (enum accel_dtype)from->dtype,
		.window_mask = from->window_mask,
		.address = affine(&from->address),
		.fill = { from->fill[0], from->fill[1] },
		.index_buffer = from->index_handle ? buffers[from->index_handle - 1] : NULL,
		.index_dtype = from->index_dtype,
		.index_address = affine(&from->index_address),
		.index_stride = from->index_stride,
		.index_limit = from->index_limit,
	};

	return to;
}

/* Whether the library has words for it: it sets flags and clears what lies beyond the rank. */
static bool can_be_said(const struct random_job *random)
{
	for (uint32_t d = random->rank; d < ACCEL_MAX_RANK; d++) {
		if (random->extents[d])
			return false;
	}
	for (uint32_t i = 0; i < random->num_operands; i++) {
		const struct drm_tessera_operand *from = &random->operands[i];

		if (from->flags != (from->index_handle ? DRM_TESSERA_OPERAND_INDIRECT : 0U))
			return false;
	}
	return random->rank <= ACCEL_MAX_RANK && random->num_operands;
}

static struct accel_job *build(const struct random_job *random,
			       struct accel_buffer *const *buffers)
{
	struct accel_job *job;

	expect_ok(accel_job_create(random->rank, random->extents, &job, &error));
	for (uint32_t i = 0; i < random->num_operands; i++) {
		struct accel_operand to = operand(&random->operands[i], buffers);

		if (i)
			expect_ok(accel_job_add_source(job, &to, &error));
		else
			expect_ok(accel_job_set_destination(job, &to, &error));
	}
	for (uint32_t i = 0; i < random->num_windows; i++) {
		struct accel_window window = {
			.value = affine(&random->windows[i].value),
			.limit = random->windows[i].limit,
		};

		expect_ok(accel_job_add_window(job, &window, &error));
	}
	for (uint32_t i = 0; i < random->num_instructions; i++) {
		const struct drm_tessera_instruction *from = &random->program[i];
		struct accel_instruction instruction = {
			from->opcode, from->dtype, from->flags, from->predicate, from->dst,
			{ from->src[0], from->src[1], from->src[2] }, from->immediate,
		};

		expect_ok(accel_job_add_instruction(job, &instruction, &error));
	}
	return job;
}

static void expect_outcome(const struct random_job *random, struct accel_device *device,
			   struct accel_job *job)
{
	struct accel_job_result result;
	struct accel_fence *fence;
	int ret = accel_submit(device, &job, 1, NULL, 0, &fence, &error);

	if (random->outcome == RANDOM_JOB_REFUSED) {
		if (ret != -random->error) {
			random_job_print(random, stderr);
			fail_msg("returned %d, expected %d", ret, -random->error);
		}
		assert_int_equal(accel_job_check(job, &error), -random->error);
		return;
	}
	if (ret)
		fail_msg("refused: %s", error.message);
	expect_ok(accel_job_check(job, &error));
	ret = accel_fence_wait(fence, 0, &error);
	assert_int_equal(ret, random->outcome == RANDOM_JOB_FAULTS ? -EIO : 0);
	expect_ok(accel_fence_job_result(fence, 0, &result, &error));
	assert_int_equal(result.cause, random->outcome == RANDOM_JOB_FAULTS ? random->cause : 0);
	if (ret)
		assert_int_equal(result.operand, random->operand);
	accel_fence_unref(fence);
}

static void run(struct accel_device *device, const struct random_job *random)
{
	struct accel_buffer *buffers[RANDOM_JOB_MAX_BUFFERS];
	struct accel_job *job;
	char text[200];
	void *data;

	for (uint32_t i = 0; i < random->num_buffers; i++) {
		expect_ok(accel_buffer_create(device, random->buffers[i].size, &buffers[i],
					      &error));
		expect_ok(accel_buffer_map(buffers[i], &data, &error));
		memcpy(data, random->buffers[i].initial, random->buffers[i].size);
	}
	job = build(random, buffers);
	expect_outcome(random, device, job);
	accel_job_unref(job);
	for (uint32_t i = 0; i < random->num_buffers; i++) {
		expect_ok(accel_buffer_map(buffers[i], &data, &error));
		if (!random_job_check(random, i, data, text, sizeof(text))) {
			random_job_print(random, stderr);
			fail_msg("buffer %u: %s", i, text);
		}
		accel_buffer_unref(buffers[i]);
	}
}

static void random_jobs_do_what_the_reference_says(void **state)
{
	/* the library's buffers are whole pages */
	const struct random_job_options options = {
		.max_points = 1024,
		.size_multiple = (uint32_t)sysconf(_SC_PAGESIZE),
		.with_refused = true,
		.with_faults = true,
	};
	struct accel_device *device;

	(void)state;
	print_message("seed %llu\n", (unsigned long long)seed);
	expect_ok(accel_open("cpu", &device, &error));
	for (uint64_t i = 0; i < count; i++) {
		struct random_job *random = random_job_create(seed + i, &options);

		if (can_be_said(random))
			run(device, random);
		random_job_destroy(random);
	}
	accel_device_unref(device);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_jobs_do_what_the_reference_says),
	};

	seed = (uint64_t)time(NULL) << 16;
	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--seed"))
			seed = strtoull(argv[i + 1], NULL, 0);
		if (!strcmp(argv[i], "--count"))
			count = strtoull(argv[i + 1], NULL, 0);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
