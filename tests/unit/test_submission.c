// SPDX-License-Identifier: MIT
/*
 * Prepared submissions on the CPU: jobs that run again and again, what each run leaves to be asked
 * for, and that none of them allocates.
 */
#include "accel_test.h"
#include "allocation_test.h"
#include "device/device.h"
#include "device/submission.h"

/* The value of a call in which no allocation succeeds. */
#define WITHOUT_MEMORY(call)								\
	__extension__ ({								\
		int value_;								\
											\
		num_left = 0;								\
		value_ = (call);							\
		num_left = -1;								\
		value_;									\
	})

#define NUM_ELEMENTS	1024

/* dst[i] = src[index[i]] for as many elements as there are, of 4 bytes */
struct fixture {
	struct accel_device *device;
	struct accel_buffer *dst, *src, *index;
	uint32_t *dst_map, *src_map, *index_map;
	struct accel_job *copy, *gather;
};

static struct accel_error error;

static uint32_t *create_buffer(struct accel_device *device, struct accel_buffer **buffer)
{
	void *map;

	expect_ok(accel_buffer_create(device, NUM_ELEMENTS * 4, buffer, &error));
	expect_ok(accel_buffer_map(*buffer, &map, &error));
	return map;
}

static struct accel_job *create_job(const struct fixture *fixture, uint64_t count, bool is_gather)
{
	struct accel_operand destination = {
		.buffer = fixture->dst,
		.dtype = ACCEL_DTYPE_U32,
		.address.strides = { 4 },
	};
	struct accel_operand source = {
		.buffer = fixture->src,
		.dtype = ACCEL_DTYPE_U32,
		.address.strides = { is_gather ? 0 : 4 },
	};
	struct accel_job *job;

	if (is_gather) {
		source.index_buffer = fixture->index;
		source.index_dtype = ACCEL_DTYPE_U32;
		source.index_address.strides[0] = 4;
		source.index_stride = 4;
		source.index_limit = NUM_ELEMENTS;
	}
	expect_ok(accel_job_create(1, &count, &job, &error));
	expect_ok(accel_job_set_destination(job, &destination, &error));
	expect_ok(accel_job_add_source(job, &source, &error));
	return job;
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	expect_ok(accel_open("cpu", &fixture->device, &error));
	fixture->dst_map = create_buffer(fixture->device, &fixture->dst);
	fixture->src_map = create_buffer(fixture->device, &fixture->src);
	fixture->index_map = create_buffer(fixture->device, &fixture->index);
	fixture->copy = create_job(fixture, NUM_ELEMENTS, false);
	fixture->gather = create_job(fixture, NUM_ELEMENTS, true);
	for (uint32_t i = 0; i < NUM_ELEMENTS; i++) {
		fixture->src_map[i] = i;
		fixture->index_map[i] = NUM_ELEMENTS - 1 - i;
	}
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	accel_job_unref(fixture->copy);
	accel_job_unref(fixture->gather);
	accel_buffer_unref(fixture->dst);
	accel_buffer_unref(fixture->src);
	accel_buffer_unref(fixture->index);
	accel_device_unref(fixture->device);
	free(fixture);
	return 0;
}

static struct accel_submission *prepare(const struct fixture *fixture, struct accel_job *job)
{
	struct accel_submission *submission;

	expect_ok(submission_create(fixture->device, &job, 1, &submission, &error));
	return submission;
}

static void each_submit_runs_the_jobs_again(void **state)
{
	struct fixture *fixture = *state;
	struct accel_submission *submission = prepare(fixture, fixture->copy);

	for (uint32_t run = 0; run < 3; run++) {
		fixture->src_map[5] = 1000 + run;
		expect_ok(submission_submit(submission, NULL, 0, &error));
		expect_ok(submission_wait(submission, -1, &error));
		assert_int_equal(fixture->dst_map[5], 1000 + run);
	}
	submission_destroy(submission);
}

static void jobs_run_in_order(void **state)
{
	struct fixture *fixture = *state;
	struct accel_job *jobs[2] = { fixture->copy, fixture->gather };
	struct accel_submission *submission;

	expect_ok(submission_create(fixture->device, jobs, 2, &submission, &error));
	expect_ok(submission_submit(submission, NULL, 0, &error));
	assert_int_equal(fixture->dst_map[0], NUM_ELEMENTS - 1);
	submission_destroy(submission);
}

static void submit_and_wait_allocate_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct accel_submission *submission = prepare(fixture, fixture->gather);

	expect_ok(WITHOUT_MEMORY(submission_submit(submission, NULL, 0, &error)));
	expect_ok(WITHOUT_MEMORY(submission_wait(submission, -1, &error)));
	submission_destroy(submission);
}

static void failing_submit_and_wait_allocate_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct accel_submission *submission = prepare(fixture, fixture->gather);

	fixture->index_map[7] = NUM_ELEMENTS;
	expect_ok(WITHOUT_MEMORY(submission_submit(submission, NULL, 0, &error)));
	expect_failure(WITHOUT_MEMORY(submission_wait(submission, -1, &error)), -EIO,
		       "job 0 of 1: an index of source 0 is 1024, expected 0 or more and less "
		       "than 1024");
	submission_destroy(submission);
}

static void failure_of_one_run_is_gone_in_the_next(void **state)
{
	struct fixture *fixture = *state;
	struct accel_submission *submission = prepare(fixture, fixture->gather);

	fixture->index_map[7] = NUM_ELEMENTS;
	expect_ok(submission_submit(submission, NULL, 0, &error));
	assert_int_equal(submission_wait(submission, -1, &error), -EIO);
	fixture->index_map[7] = 0;
	expect_ok(submission_submit(submission, NULL, 0, &error));
	expect_ok(submission_wait(submission, -1, &error));
	submission_destroy(submission);
}

static void fence_keeps_the_result_of_its_own_submit(void **state)
{
	struct fixture *fixture = *state;
	struct accel_submission *submission = prepare(fixture, fixture->gather);
	struct accel_fence *failed, *succeeded;

	fixture->index_map[7] = NUM_ELEMENTS;
	expect_ok(submission_submit(submission, NULL, 0, &error));
	expect_ok(submission_fence(submission, &failed, &error));
	fixture->index_map[7] = 0;
	expect_ok(submission_submit(submission, NULL, 0, &error));
	expect_ok(submission_fence(submission, &succeeded, &error));
	submission_destroy(submission);
	assert_int_equal(accel_fence_wait(failed, -1, &error), -EIO);
	expect_ok(accel_fence_wait(succeeded, -1, &error));
	accel_fence_unref(failed);
	accel_fence_unref(succeeded);
}

static void fence_asked_for_twice_is_one(void **state)
{
	struct fixture *fixture = *state;
	struct accel_submission *submission = prepare(fixture, fixture->copy);
	struct accel_fence *first, *second;

	expect_ok(submission_submit(submission, NULL, 0, &error));
	expect_ok(submission_fence(submission, &first, &error));
	expect_ok(submission_fence(submission, &second, &error));
	assert_ptr_equal(first, second);
	accel_fence_unref(first);
	accel_fence_unref(second);
	submission_destroy(submission);
}

static void submit_after_a_fence_was_given_allocates_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct accel_submission *submission = prepare(fixture, fixture->copy);
	struct accel_fence *fence;

	expect_ok(submission_submit(submission, NULL, 0, &error));
	expect_ok(submission_fence(submission, &fence, &error));
	expect_ok(WITHOUT_MEMORY(submission_submit(submission, NULL, 0, &error)));
	accel_fence_unref(fence);
	submission_destroy(submission);
}

static void submission_keeps_its_jobs(void **state)
{
	struct fixture *fixture = *state;
	struct accel_job *job = create_job(fixture, 16, false);
	struct accel_submission *submission = prepare(fixture, job);

	accel_job_unref(job);
	expect_ok(submission_submit(submission, NULL, 0, &error));
	assert_int_equal(fixture->dst_map[15], 15);
	submission_destroy(submission);
}

static void submission_may_be_destroyed_without_a_submit(void **state)
{
	struct fixture *fixture = *state;

	submission_destroy(prepare(fixture, fixture->copy));
	submission_destroy(NULL);
}

static void wait_before_the_first_submit_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct accel_submission *submission = prepare(fixture, fixture->copy);
	struct accel_fence *fence;

	expect_failure(submission_wait(submission, 0, &error), -EINVAL,
		       "submission: nothing was submitted");
	expect_failure(submission_fence(submission, &fence, &error), -EINVAL,
		       "submission: nothing was submitted");
	assert_null(fence);
	submission_destroy(submission);
}

static void no_job_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct accel_submission *submission = (void *)1;

	expect_failure(submission_create(fixture->device, NULL, 0, &submission, &error), -EINVAL,
		       "submit: no job, expected at least 1");
	assert_null(submission);
}

static void bad_job_is_refused_when_it_is_prepared(void **state)
{
	struct fixture *fixture = *state;
	struct accel_job *jobs[2] = { fixture->copy, create_job(fixture, NUM_ELEMENTS + 1, false) };
	struct accel_submission *submission;

	assert_int_equal(submission_create(fixture->device, jobs, 2, &submission, &error),
			 -ERANGE);
	assert_non_null(strstr(error.message, "job 1 of 2: "));
	assert_null(submission);
	accel_job_unref(jobs[1]);
}

static void too_many_fences_are_refused(void **state)
{
	struct fixture *fixture = *state;
	struct accel_submission *submission = prepare(fixture, fixture->copy);

	expect_failure(submission_submit(submission, NULL, DRM_TESSERA_MAX_SYNCS + 1, &error),
		       -E2BIG, "submit: 257 fences, expected at most 256");
	submission_destroy(submission);
}

static int fail_to_wait(struct accel_fence *fence, int64_t deadline_ns, struct accel_error *out)
{
	(void)fence;
	(void)deadline_ns;
	return accel_error_set(out, -EBADF, "fence: not one that can be waited for");
}

static void submit_that_failed_leaves_nothing_to_wait_for(void **state)
{
	struct fixture *fixture = *state;
	struct accel_submission *submission = prepare(fixture, fixture->copy);
	const struct fence_ops ops = { .wait = fail_to_wait };
	struct accel_fence fence = { .ops = &ops }, *in_fence = &fence;

	expect_ok(submission_submit(submission, NULL, 0, &error));
	expect_failure(submission_submit(submission, &in_fence, 1, &error), -EBADF,
		       "fence: not one that can be waited for");
	expect_failure(submission_wait(submission, 0, &error), -EINVAL,
		       "submission: nothing was submitted");
	submission_destroy(submission);
}

static void preparing_without_memory_fails(void **state)
{
	struct fixture *fixture = *state;
	struct accel_submission *submission;
	long total;

	num_allocations = 0;
	submission_destroy(prepare(fixture, fixture->copy));
	total = num_allocations;
	assert_true(total > 0);
	for (long k = 0; k < total; k++) {
		int ret;

		num_left = k;
		ret = submission_create(fixture->device, &fixture->copy, 1, &submission, &error);
		num_left = -1;
		assert_int_equal(ret, -ENOMEM);
		assert_null(submission);
	}
}

static void fence_without_memory_fails(void **state)
{
	struct fixture *fixture = *state;
	struct accel_submission *submission = prepare(fixture, fixture->copy);
	struct accel_fence *fence;

	expect_ok(submission_submit(submission, NULL, 0, &error));
	expect_failure(WITHOUT_MEMORY(submission_fence(submission, &fence, &error)), -ENOMEM,
		       "submit: out of memory");
	assert_null(fence);
	submission_destroy(submission);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_submit_runs_the_jobs_again),
		TEST(jobs_run_in_order),
		TEST(submit_and_wait_allocate_nothing),
		TEST(failing_submit_and_wait_allocate_nothing),
		TEST(failure_of_one_run_is_gone_in_the_next),
		TEST(fence_keeps_the_result_of_its_own_submit),
		TEST(fence_asked_for_twice_is_one),
		TEST(submit_after_a_fence_was_given_allocates_nothing),
		TEST(submission_keeps_its_jobs),
		TEST(submission_may_be_destroyed_without_a_submit),
		TEST(wait_before_the_first_submit_is_refused),
		TEST(no_job_is_refused),
		TEST(bad_job_is_refused_when_it_is_prepared),
		TEST(too_many_fences_are_refused),
		TEST(submit_that_failed_leaves_nothing_to_wait_for),
		TEST(preparing_without_memory_fails),
		TEST(fence_without_memory_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
