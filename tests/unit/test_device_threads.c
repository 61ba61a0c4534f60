// SPDX-License-Identifier: MIT
/*
 * The threads of the CPU device: how many, and large jobs that run in them.
 */
#include <pthread.h>

#include "accel_test.h"

enum { ELEMENTS = 1 << 20, BYTES = 4 * ELEMENTS };

static struct accel_error error;

/* Turns 4 MiB of numbers around, and says whether they are where they should be. */
static bool reverses(struct accel_device *device)
{
	struct accel_operand operand = {
		.dtype = ACCEL_DTYPE_U32,
		.address = { .strides = { 4 } },
	};
	struct accel_buffer *from, *to;
	struct accel_job *job;
	struct accel_fence *fence;
	const uint64_t extent = ELEMENTS;
	struct accel_error error;
	uint32_t *source, *result;
	bool is_right = true;

	expect_ok(accel_buffer_create(device, BYTES, &from, &error));
	expect_ok(accel_buffer_create(device, BYTES, &to, &error));
	expect_ok(accel_buffer_map(from, (void **)&source, &error));
	expect_ok(accel_buffer_map(to, (void **)&result, &error));
	for (uint32_t i = 0; i < ELEMENTS; i++)
		source[i] = i;
	expect_ok(accel_job_create(1, &extent, &job, &error));
	operand.buffer = to;
	expect_ok(accel_job_set_destination(job, &operand, &error));
	operand.buffer = from;
	operand.address.offset = BYTES - 4;
	operand.address.strides[0] = -4;
	expect_ok(accel_job_add_source(job, &operand, &error));
	expect_ok(accel_submit(device, &job, 1, NULL, 0, &fence, &error));
	expect_ok(accel_fence_wait(fence, -1, &error));
	for (uint32_t i = 0; i < ELEMENTS; i++)
		is_right = is_right && result[i] == ELEMENTS - 1 - i;
	accel_fence_unref(fence);
	accel_job_unref(job);
	accel_buffer_unref(from);
	accel_buffer_unref(to);
	return is_right;
}

static void number_of_threads_is_from_1_to_1024(void **state)
{
	expect_failure(accel_device_set_threads(*state, 0, &error), -EINVAL,
		       "device: 0 threads, expected 1 to 1024");
	expect_failure(accel_device_set_threads(*state, 1025, &error), -EINVAL,
		       "device: 1025 threads, expected 1 to 1024");
	expect_ok(accel_device_set_threads(*state, 1, &error));
	expect_ok(accel_device_set_threads(*state, 1024, &error));
}

static void any_number_of_threads_gives_the_same_bytes(void **state)
{
	static const uint32_t counts[] = { 3, 1, 2, 2, 9 };

	assert_true(reverses(*state));
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		expect_ok(accel_device_set_threads(*state, counts[i], &error));
		assert_true(reverses(*state));
		assert_true(reverses(*state));
	}
}

static void *reverse_often(void *device)
{
	bool is_right = true;

	for (int round = 0; round < 5; round++)
		is_right = reverses(device) && is_right;
	return (void *)(intptr_t)is_right;
}

static void jobs_of_several_threads_run_while_their_number_changes(void **state)
{
	pthread_t threads[3];
	void *is_right;

	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, reverse_often, *state), 0);
	for (uint32_t count = 1; count < 20; count++)
		expect_ok(accel_device_set_threads(*state, 1 + count % 4, &error));
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pthread_join(threads[i], &is_right), 0);
		assert_non_null(is_right);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(number_of_threads_is_from_1_to_1024),
		cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
		cmocka_unit_test(jobs_of_several_threads_run_while_their_number_changes),
	};

	return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
