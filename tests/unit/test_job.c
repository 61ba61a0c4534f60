// SPDX-License-Identifier: MIT
/*
 * Jobs, submissions and fences: built, refused, run and reported. On the CPU backend. What jobs
 * compute is the engine's to test; here it is that they reach it whole.
 */
#include <fcntl.h>

#include "accel_test.h"

static struct accel_error error;

/* Two pages: the source holds 0, 1, 2, .. as u32, the destination zeros. */
struct fixture {
	struct accel_device *device;
	struct accel_buffer *src, *dst;
	uint32_t *src_data, *dst_data;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	expect_ok(accel_open("cpu", &fixture->device, &error));
	expect_ok(accel_buffer_create(fixture->device, 4096, &fixture->src, &error));
	expect_ok(accel_buffer_create(fixture->device, 4096, &fixture->dst, &error));
	expect_ok(accel_buffer_map(fixture->src, (void **)&fixture->src_data, &error));
	expect_ok(accel_buffer_map(fixture->dst, (void **)&fixture->dst_data, &error));
	for (uint32_t i = 0; i < 1024; i++)
		fixture->src_data[i] = i;
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	accel_buffer_unref(fixture->src);
	accel_buffer_unref(fixture->dst);
	accel_device_unref(fixture->device);
	free(fixture);
	return 0;
}

/* A row of u32 that starts at this byte. */
static struct accel_operand row(struct accel_buffer *buffer, int64_t offset)
{
	struct accel_operand operand = {
		.buffer = buffer,
		.dtype = ACCEL_DTYPE_U32,
		.address = { .offset = offset, .strides = { 4 } },
	};

	return operand;
}

/* dst[i] = src[i] for i < count, dst from byte dst_offset on */
static struct accel_job *create_row_copy(struct fixture *fixture, uint64_t count,
					 int64_t dst_offset)
{
	struct accel_operand dst = row(fixture->dst, dst_offset), src = row(fixture->src, 0);
	struct accel_job *job;

	expect_ok(accel_job_create(1, &count, &job, &error));
	expect_ok(accel_job_set_destination(job, &dst, &error));
	expect_ok(accel_job_add_source(job, &src, &error));
	return job;
}

/* dst[i] = src[indices[i]], fails at an index of limit or more */
static struct accel_job *create_gather(struct fixture *fixture, struct accel_buffer *indices,
				       uint64_t count, uint64_t limit)
{
	struct accel_operand dst = row(fixture->dst, 0), src = row(fixture->src, 0);
	struct accel_job *job;

	src.address.strides[0] = 0;
	src.index_buffer = indices;
	src.index_dtype = ACCEL_DTYPE_I32;
	src.index_address.strides[0] = 4;
	src.index_stride = 4;
	src.index_limit = limit;
	expect_ok(accel_job_create(1, &count, &job, &error));
	expect_ok(accel_job_set_destination(job, &dst, &error));
	expect_ok(accel_job_add_source(job, &src, &error));
	return job;
}

static struct accel_buffer *create_indices(struct fixture *fixture, const int32_t *values,
					   size_t count)
{
	struct accel_buffer *buffer;
	void *data;

	expect_ok(accel_buffer_create(fixture->device, 4096, &buffer, &error));
	expect_ok(accel_buffer_map(buffer, &data, &error));
	memcpy(data, values, count * sizeof(values[0]));
	return buffer;
}

static void submit_and_wait(struct fixture *fixture, struct accel_job *job)
{
	struct accel_fence *fence;

	expect_ok(accel_submit(fixture->device, &job, 1, NULL, 0, &fence, &error));
	expect_ok(accel_fence_wait(fence, -1, &error));
	accel_fence_unref(fence);
}

static void job_moves_what_its_operands_say(void **state)
{
	struct fixture *fixture = *state;
	struct accel_job *job = create_row_copy(fixture, 3, 8);
	static const uint32_t expected[] = { 0, 0, 0, 1, 2, 0 };

	submit_and_wait(fixture, job);
	assert_memory_equal(fixture->dst_data, expected, sizeof(expected));
	accel_job_unref(job);
}

static void job_without_loops_has_one_point(void **state)
{
	struct fixture *fixture = *state;
	struct accel_operand dst = row(fixture->dst, 0), src = row(fixture->src, 20);
	struct accel_job *job;

	dst.address.strides[0] = 0;
	src.address.strides[0] = 0;
	expect_ok(accel_job_create(0, NULL, &job, &error));
	expect_ok(accel_job_set_destination(job, &dst, &error));
	expect_ok(accel_job_add_source(job, &src, &error));
	submit_and_wait(fixture, job);
	assert_int_equal(fixture->dst_data[0], 5);
	accel_job_unref(job);
}

static void window_fill_and_program_reach_the_engine(void **state)
{
	struct fixture *fixture = *state;
	struct accel_operand dst = row(fixture->dst, 0), src = row(fixture->src, 0);
	/* points 1 and 2 are inside */
	struct accel_window window = { .value = { .offset = -1, .strides = { 1 } }, .limit = 2 };
	struct accel_instruction add = {
		.opcode = ACCEL_OP_ADD, .dtype = ACCEL_DTYPE_U32, .src = { 0, 0 },
	};
	static const uint32_t expected[] = { 14, 2, 4, 14 };
	struct accel_job *job;
	uint64_t count = 4;

	src.window_mask = 1;
	src.fill[0] = 7;
	expect_ok(accel_job_create(1, &count, &job, &error));
	expect_ok(accel_job_set_destination(job, &dst, &error));
	expect_ok(accel_job_add_source(job, &src, &error));
	expect_ok(accel_job_add_window(job, &window, &error));
	expect_ok(accel_job_add_instruction(job, &add, &error));
	submit_and_wait(fixture, job);
	assert_memory_equal(fixture->dst_data, expected, sizeof(expected));
	accel_job_unref(job);
}

static void gather_reads_its_indices(void **state)
{
	static const int32_t indices[] = { 9, 3, 9 };
	static const uint32_t expected[] = { 9, 3, 9, 0 };
	struct fixture *fixture = *state;
	struct accel_buffer *buffer = create_indices(fixture, indices, 3);
	struct accel_job *job = create_gather(fixture, buffer, 3, 10);

	submit_and_wait(fixture, job);
	assert_memory_equal(fixture->dst_data, expected, sizeof(expected));
	accel_job_unref(job);
	accel_buffer_unref(buffer);
}

static void operands_are_given_back_as_they_were(void **state)
{
	struct fixture *fixture = *state;
	struct accel_operand src = row(fixture->src, 4), found;
	uint64_t extents[] = { 2, 3 }, found_extents[ACCEL_MAX_RANK];
	struct accel_job *job;

	src.window_mask = 5;
	src.fill[1] = 6;
	src.index_buffer = fixture->dst;
	src.index_dtype = ACCEL_DTYPE_U8;
	src.index_address.offset = 7;
	src.index_address.strides[1] = 8;
	src.index_stride = -9;
	src.index_limit = 10;
	expect_ok(accel_job_create(2, extents, &job, &error));
	expect_ok(accel_job_add_source(job, &src, &error));
	assert_int_equal(accel_job_extents(job, found_extents), 2);
	assert_memory_equal(found_extents, extents, sizeof(extents));
	assert_int_equal(accel_job_operand(job, 1, &found), 0);
	assert_memory_equal(&found, &src, sizeof(src));
	assert_int_equal(accel_job_operand(job, 0, &found), -ENOENT);
	assert_int_equal(accel_job_operand(job, 2, &found), -ENOENT);
	accel_job_unref(job);
}

static void destination_may_be_replaced(void **state)
{
	struct fixture *fixture = *state;
	struct accel_job *job = create_row_copy(fixture, 3, 0);
	struct accel_operand dst = row(fixture->dst, 4);

	expect_ok(accel_job_set_destination(job, &dst, &error));
	submit_and_wait(fixture, job);
	assert_int_equal(fixture->dst_data[1], 0);
	assert_int_equal(fixture->dst_data[3], 2);
	accel_job_unref(job);
}

static void job_keeps_its_buffers(void **state)
{
	struct fixture *fixture = *state;
	struct accel_buffer *own;
	struct accel_operand dst;
	struct accel_job *job = create_row_copy(fixture, 3, 0);

	expect_ok(accel_buffer_create(fixture->device, 4096, &own, &error));
	dst = row(own, 0);
	expect_ok(accel_job_set_destination(job, &dst, &error));
	accel_buffer_unref(own);
	assert_ptr_equal(accel_job_ref(job), job);
	accel_job_unref(job);
	submit_and_wait(fixture, job);
	accel_job_unref(job);
}

static void nine_loops_are_refused(void **state)
{
	uint64_t extents[9] = { 0 };
	struct accel_job *job = (void *)1;

	(void)state;
	expect_failure(accel_job_create(9, extents, &job, &error), -EINVAL,
		       "job: 9 loops, expected at most 8");
	assert_null(job);
}

static void fifth_source_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct accel_job *job = create_row_copy(fixture, 3, 0);
	struct accel_operand src = row(fixture->src, 0);

	for (int i = 1; i < ACCEL_MAX_SOURCES; i++)
		expect_ok(accel_job_add_source(job, &src, &error));
	expect_failure(accel_job_add_source(job, &src, &error), -E2BIG,
		       "job: it has 4 sources, no more fit");
	accel_job_unref(job);
}

static void window_33_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct accel_job *job = create_row_copy(fixture, 3, 0);
	struct accel_window window = { .limit = 1 };

	for (int i = 0; i < ACCEL_MAX_WINDOWS; i++)
		expect_ok(accel_job_add_window(job, &window, &error));
	expect_failure(accel_job_add_window(job, &window, &error), -E2BIG,
		       "job: it has 32 windows, no more fit");
	accel_job_unref(job);
}

static void instruction_17_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct accel_job *job = create_row_copy(fixture, 3, 0);
	struct accel_instruction neg = { .opcode = ACCEL_OP_NEG, .dtype = ACCEL_DTYPE_U32 };

	for (int i = 0; i < ACCEL_MAX_INSTRUCTIONS; i++)
		expect_ok(accel_job_add_instruction(job, &neg, &error));
	expect_failure(accel_job_add_instruction(job, &neg, &error), -E2BIG,
		       "job: it has 16 instructions, no more fit");
	accel_job_unref(job);
}

static void operand_without_a_buffer_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct accel_job *job = create_row_copy(fixture, 3, 0);
	struct accel_operand none = row(NULL, 0);

	expect_failure(accel_job_set_destination(job, &none, &error), -EINVAL,
		       "job: the destination has no buffer");
	expect_failure(accel_job_add_source(job, &none, &error), -EINVAL,
		       "job: source 1 has no buffer");
	accel_job_unref(job);
}

static void index_buffer_of_another_device_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct accel_job *job = create_row_copy(fixture, 3, 0);
	struct accel_operand src = row(fixture->src, 0);
	struct accel_device *other;

	expect_ok(accel_open("cpu", &other, &error));
	expect_ok(accel_buffer_create(other, 1, &src.index_buffer, &error));
	expect_failure(accel_job_add_source(job, &src, &error), -EXDEV,
		       "job: source 1 has a buffer of another device than the others");
	accel_buffer_unref(src.index_buffer);
	accel_device_unref(other);
	accel_job_unref(job);
}

static void good_job_passes_its_check(void **state)
{
	struct fixture *fixture = *state;
	struct accel_job *job = create_row_copy(fixture, 1024, 0);

	expect_ok(accel_job_check(job, &error));
	accel_job_unref(job);
}

static void job_says_what_it_runs_with(void **state)
{
	struct fixture *fixture = *state;
	struct accel_job *job = create_row_copy(fixture, 1024, 0);
	char text[160];

	expect_ok(accel_job_describe(job, text, sizeof(text), &error));
	assert_memory_equal(text, "run of ", 7);
	accel_job_unref(job);
}

static void malformed_job_is_not_described(void **state)
{
	struct accel_job *job;
	char text[160];

	(void)state;
	expect_ok(accel_job_create(0, NULL, &job, &error));
	expect_failure(accel_job_describe(job, text, sizeof(text), &error), -EINVAL,
		       "job: it has no destination");
	accel_job_unref(job);
}

static void job_without_a_destination_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct accel_job *job;

	expect_ok(accel_job_create(0, NULL, &job, &error));
	expect_failure(accel_job_check(job, &error), -EINVAL, "job: it has no destination");
	expect_failure(accel_submit(fixture->device, &job, 1, NULL, 0, NULL, &error), -EINVAL,
		       "job 0 of 1: it has no destination");
	accel_job_unref(job);
}

static void job_past_its_buffer_is_refused_with_its_number(void **state)
{
	struct fixture *fixture = *state;
	struct accel_job *good = create_row_copy(fixture, 3, 0);
	struct accel_job *bad = create_row_copy(fixture, 1024, 4);
	struct accel_job *jobs[] = { good, bad };
	struct accel_fence *fence = (void *)1;

	assert_int_equal(accel_job_check(bad, &error), -ERANGE);
	assert_memory_equal(error.message, "job: ", 5);
	assert_int_equal(accel_submit(fixture->device, jobs, 2, NULL, 0, &fence, &error),
			 -ERANGE);
	assert_memory_equal(error.message, "job 1 of 2: ", 12);
	assert_non_null(strstr(error.message, "4099"));
	assert_null(fence);
	/* nothing has run, not even the good one */
	assert_int_equal(fixture->dst_data[1], 0);
	accel_job_unref(good);
	accel_job_unref(bad);
}

static void job_that_overlaps_itself_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct accel_operand dst = row(fixture->src, 4);
	struct accel_job *job = create_row_copy(fixture, 3, 0);

	expect_ok(accel_job_set_destination(job, &dst, &error));
	assert_int_equal(accel_job_check(job, &error), -EINVAL);
	assert_int_equal(accel_submit(fixture->device, &job, 1, NULL, 0, NULL, &error), -EINVAL);
	accel_job_unref(job);
}

static void imported_memory_is_known_to_overlap(void **state)
{
	struct fixture *fixture = *state;
	struct accel_job *job = create_row_copy(fixture, 3, 0);
	struct accel_buffer *imported;
	struct accel_operand dst;
	int fd;

	expect_ok(accel_buffer_export(fixture->src, &fd, &error));
	expect_ok(accel_buffer_import(fixture->device, fd, &imported, &error));
	close(fd);
	dst = row(imported, 4);
	expect_ok(accel_job_set_destination(job, &dst, &error));
	assert_int_equal(accel_job_check(job, &error), -EINVAL);
	accel_job_unref(job);
	accel_buffer_unref(imported);
}

static void submission_of_no_jobs_is_refused(void **state)
{
	struct fixture *fixture = *state;

	expect_failure(accel_submit(fixture->device, NULL, 0, NULL, 0, NULL, &error), -EINVAL,
		       "submit: no job, expected at least 1");
}

static void submission_of_too_many_jobs_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct accel_job *jobs[ACCEL_MAX_JOBS + 1];
	struct accel_job *job = create_row_copy(fixture, 3, 0);

	for (size_t i = 0; i < COUNT(jobs); i++)
		jobs[i] = job;
	expect_failure(accel_submit(fixture->device, jobs, COUNT(jobs), NULL, 0, NULL, &error),
		       -E2BIG, "submit: 1025 jobs, expected at most 1024");
	expect_ok(accel_submit(fixture->device, jobs, ACCEL_MAX_JOBS, NULL, 0, NULL, &error));
	accel_job_unref(job);
}

static void submission_with_too_many_fences_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct accel_job *job = create_row_copy(fixture, 3, 0);
	struct accel_fence *fence, *fences[257];

	expect_ok(accel_submit(fixture->device, &job, 1, NULL, 0, &fence, &error));
	for (size_t i = 0; i < COUNT(fences); i++)
		fences[i] = fence;
	expect_failure(accel_submit(fixture->device, &job, 1, fences, 257, NULL, &error), -E2BIG,
		       "submit: 257 fences, expected at most 256");
	expect_ok(accel_submit(fixture->device, &job, 1, fences, 256, NULL, &error));
	accel_fence_unref(fence);
	accel_job_unref(job);
}

static void submission_to_another_device_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct accel_job *job = create_row_copy(fixture, 3, 0);
	struct accel_device *other;

	expect_ok(accel_open("cpu", &other, &error));
	expect_failure(accel_submit(other, &job, 1, NULL, 0, NULL, &error), -EXDEV,
		       "job 0 of 1: its buffers are of another device than cpu");
	accel_device_unref(other);
	accel_job_unref(job);
}

static void jobs_see_what_those_before_them_stored(void **state)
{
	struct fixture *fixture = *state;
	struct accel_operand dst = row(fixture->src, 40), src = row(fixture->dst, 0);
	struct accel_job *first = create_row_copy(fixture, 3, 0), *second, *jobs[2];
	uint64_t count = 3;

	expect_ok(accel_job_create(1, &count, &second, &error));
	expect_ok(accel_job_set_destination(second, &dst, &error));
	expect_ok(accel_job_add_source(second, &src, &error));
	jobs[0] = first;
	jobs[1] = second;
	expect_ok(accel_submit(fixture->device, jobs, 2, NULL, 0, NULL, &error));
	assert_int_equal(fixture->src_data[11], 1);
	assert_int_equal(fixture->src_data[12], 2);
	accel_job_unref(first);
	accel_job_unref(second);
}

static void fence_of_success_tells_so(void **state)
{
	struct fixture *fixture = *state;
	struct accel_job *job = create_row_copy(fixture, 3, 0);
	struct accel_job_result job_result;
	struct accel_fence_result result;
	struct accel_fence *fence;

	expect_ok(accel_submit(fixture->device, &job, 1, NULL, 0, &fence, &error));
	assert_int_equal(accel_fence_poll(fence, &error), 1);
	expect_ok(accel_fence_wait(fence, 0, &error));
	expect_ok(accel_fence_result(fence, &result, &error));
	assert_int_equal(result.num_jobs, 1);
	assert_int_equal(result.num_failed, 0);
	assert_int_equal(result.first_failed, 1);
	assert_true(result.submit_ns && result.submit_ns <= result.start_ns);
	assert_true(result.start_ns <= result.end_ns);
	expect_ok(accel_fence_job_result(fence, 0, &job_result, &error));
	assert_int_equal(job_result.cause, ACCEL_CAUSE_NONE);
	assert_ptr_equal(accel_fence_ref(fence), fence);
	accel_fence_unref(fence);
	accel_fence_unref(fence);
	accel_job_unref(job);
}

static void job_result_past_the_last_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct accel_job *job = create_row_copy(fixture, 3, 0);
	struct accel_job_result job_result;
	struct accel_fence *fence;

	expect_ok(accel_submit(fixture->device, &job, 1, NULL, 0, &fence, &error));
	expect_failure(accel_fence_job_result(fence, 1, &job_result, &error), -EINVAL,
		       "fence: job 1, expected less than 1");
	accel_fence_unref(fence);
	accel_job_unref(job);
}

static void fence_has_counters_where_they_were_asked_for(void **state)
{
	struct fixture *fixture = *state;
	struct accel_job *job = create_row_copy(fixture, 3, 0);
	struct accel_job_counters counters;
	struct accel_fence *fence;

	expect_ok(accel_device_set_counting(fixture->device, true, &error));
	expect_ok(accel_submit(fixture->device, &job, 1, NULL, 0, &fence, &error));
	expect_ok(accel_device_set_counting(fixture->device, false, &error));
	expect_ok(accel_fence_job_counters(fence, 0, &counters, &error));
	assert_int_equal(counters.points, 3);
	assert_int_equal(counters.memory[0].bytes_read, 3 * 4);
	assert_int_equal(counters.memory[0].bytes_written, 3 * 4);
	assert_int_equal(counters.memory[0].bursts_read, 1);
	assert_int_equal(counters.memory[1].bytes_read, 0);
	assert_int_equal(counters.uncounted, 0);
	expect_failure(accel_fence_job_counters(fence, 1, &counters, &error), -EINVAL,
		       "fence: job 1, expected less than 1");
	accel_fence_unref(fence);
	expect_ok(accel_submit(fixture->device, &job, 1, NULL, 0, &fence, &error));
	expect_failure(accel_fence_job_counters(fence, 0, &counters, &error), -ENODATA,
		       "fence: its jobs were not counted");
	accel_fence_unref(fence);
	accel_job_unref(job);
}

static void job_tells_without_running_what_it_would_count(void **state)
{
	static const int32_t indices[] = { 1, 2, 1 };
	struct fixture *fixture = *state;
	struct accel_buffer *buffer = create_indices(fixture, indices, 3);
	struct accel_job *jobs[] = {
		create_gather(fixture, buffer, 3, 10),
		create_row_copy(fixture, 1000, 4),
	};
	struct accel_job_counters before[COUNT(jobs)], after;
	struct accel_fence *fence;

	for (uint32_t i = 0; i < COUNT(jobs); i++)
		expect_ok(accel_job_counters(jobs[i], &before[i], &error));
	assert_int_equal(fixture->dst_data[1], 0);
	assert_int_equal(before[1].points, 1000);
	expect_ok(accel_device_set_counting(fixture->device, true, &error));
	expect_ok(accel_submit(fixture->device, jobs, COUNT(jobs), NULL, 0, &fence, &error));
	expect_ok(accel_device_set_counting(fixture->device, false, &error));
	for (uint32_t i = 0; i < COUNT(jobs); i++) {
		expect_ok(accel_fence_job_counters(fence, i, &after, &error));
		assert_memory_equal(&after, &before[i], sizeof(after));
		accel_job_unref(jobs[i]);
	}
	accel_fence_unref(fence);
	accel_buffer_unref(buffer);
}

static void job_that_would_not_run_is_not_counted(void **state)
{
	struct accel_job *job = create_row_copy(*state, 1025, 0);
	struct accel_error expected;
	struct accel_job_counters counters;

	assert_int_equal(accel_job_check(job, &expected), -ERANGE);
	expect_failure(accel_job_counters(job, &counters, &error), -ERANGE, expected.message);
	accel_job_unref(job);
}

static void job_that_fails_counts_nothing(void **state)
{
	static const int32_t indices[] = { 1, 12, 2 };
	struct fixture *fixture = *state;
	struct accel_buffer *buffer = create_indices(fixture, indices, 3);
	struct accel_job *jobs[] = {
		create_gather(fixture, buffer, 3, 10),
		create_row_copy(fixture, 3, 100),
	};
	struct accel_job_counters counters, zero = { 0 };
	struct accel_fence *fence;

	expect_ok(accel_device_set_counting(fixture->device, true, &error));
	expect_ok(accel_submit(fixture->device, jobs, 2, NULL, 0, &fence, &error));
	expect_ok(accel_device_set_counting(fixture->device, false, &error));
	expect_ok(accel_fence_job_counters(fence, 0, &counters, &error));
	assert_memory_equal(&counters, &zero, sizeof(zero));
	expect_ok(accel_fence_job_counters(fence, 1, &counters, &error));
	assert_int_equal(counters.points, 3);
	for (size_t i = 0; i < COUNT(jobs); i++)
		accel_job_unref(jobs[i]);
	accel_fence_unref(fence);
	accel_buffer_unref(buffer);
}

static void index_over_its_limit_fails_the_job_alone(void **state)
{
	static const int32_t indices[] = { 1, 12, 2 };
	struct fixture *fixture = *state;
	struct accel_buffer *buffer = create_indices(fixture, indices, 3);
	struct accel_job *jobs[] = {
		create_row_copy(fixture, 3, 100),
		create_gather(fixture, buffer, 3, 10),
		create_row_copy(fixture, 3, 200),
	};
	struct accel_job_result job_result;
	struct accel_fence_result result;
	struct accel_fence *fence;

	expect_ok(accel_submit(fixture->device, jobs, 3, NULL, 0, &fence, &error));
	expect_failure(accel_fence_wait(fence, -1, &error), -EIO,
		       "job 1 of 3: an index of source 0 is 12, expected 0 or more and less than "
		       "10");
	assert_int_equal(accel_fence_poll(fence, &error), 1);
	expect_ok(accel_fence_result(fence, &result, &error));
	assert_int_equal(result.num_failed, 1);
	assert_int_equal(result.first_failed, 1);
	expect_ok(accel_fence_job_result(fence, 1, &job_result, &error));
	assert_int_equal(job_result.cause, ACCEL_CAUSE_INDEX_LIMIT);
	assert_int_equal(job_result.operand, 1);
	assert_int_equal(job_result.offset, 12);
	/* the last one has run */
	assert_int_equal(fixture->dst_data[52], 2);
	for (size_t i = 0; i < COUNT(jobs); i++)
		accel_job_unref(jobs[i]);
	accel_fence_unref(fence);
	accel_buffer_unref(buffer);
}

static void first_of_several_failures_is_told(void **state)
{
	static const int32_t indices[] = { 12 };
	struct fixture *fixture = *state;
	struct accel_buffer *buffer = create_indices(fixture, indices, 1);
	struct accel_job *jobs[] = {
		create_gather(fixture, buffer, 1, 12),
		create_gather(fixture, buffer, 1, 11),
	};
	struct accel_fence_result result;
	struct accel_fence *fence;

	expect_ok(accel_submit(fixture->device, jobs, 2, NULL, 0, &fence, &error));
	expect_failure(accel_fence_wait(fence, -1, &error), -EIO,
		       "job 0 of 2: an index of source 0 is 12, expected 0 or more and less than "
		       "12");
	expect_ok(accel_fence_result(fence, &result, &error));
	assert_int_equal(result.num_failed, 2);
	assert_int_equal(result.first_failed, 0);
	for (size_t i = 0; i < COUNT(jobs); i++)
		accel_job_unref(jobs[i]);
	accel_fence_unref(fence);
	accel_buffer_unref(buffer);
}

static void index_out_of_the_buffer_fails_the_job(void **state)
{
	static const int32_t indices[] = { 1024 };
	struct fixture *fixture = *state;
	struct accel_buffer *buffer = create_indices(fixture, indices, 1);
	struct accel_job *job = create_gather(fixture, buffer, 1, 0);
	struct accel_fence *fence;

	expect_ok(accel_submit(fixture->device, &job, 1, NULL, 0, &fence, &error));
	expect_failure(accel_fence_wait(fence, -1, &error), -EIO,
		       "job 0 of 1: source 0 reaches byte 4099 of a buffer of 4096 bytes");
	accel_fence_unref(fence);
	accel_job_unref(job);
	accel_buffer_unref(buffer);
}

static void failed_fence_may_be_waited_for(void **state)
{
	static const int32_t indices[] = { 1024 };
	struct fixture *fixture = *state;
	struct accel_buffer *buffer = create_indices(fixture, indices, 1);
	struct accel_job *failing = create_gather(fixture, buffer, 1, 0);
	struct accel_job *job = create_row_copy(fixture, 3, 0);
	struct accel_fence *fence;

	expect_ok(accel_submit(fixture->device, &failing, 1, NULL, 0, &fence, &error));
	expect_ok(accel_submit(fixture->device, &job, 1, &fence, 1, NULL, &error));
	assert_int_equal(fixture->dst_data[2], 2);
	accel_fence_unref(fence);
	accel_job_unref(failing);
	accel_job_unref(job);
	accel_buffer_unref(buffer);
}

static void fence_of_the_cpu_has_no_sync_file(void **state)
{
	struct fixture *fixture = *state;
	struct accel_job *job = create_row_copy(fixture, 3, 0);
	struct accel_fence *fence;
	int fd = 0;

	expect_ok(accel_submit(fixture->device, &job, 1, NULL, 0, &fence, &error));
	expect_failure(accel_fence_export(fence, &fd, &error), -ENOTSUP,
		       "fence: one of the CPU is complete already and has no sync_file");
	assert_int_equal(fd, -1);
	accel_fence_unref(fence);
	accel_job_unref(job);
}

static void import_of_no_descriptor_is_refused(void **state)
{
	struct accel_fence *fence;

	(void)state;
	expect_failure(accel_fence_import(-1, &fence, &error), -EBADF,
		       "fence: file descriptor -1: Bad file descriptor");
	assert_null(fence);
}

static void import_of_no_sync_file_is_refused(void **state)
{
	struct accel_fence *fence;
	char message[100];
	int fd = open("/dev/null", O_RDWR);

	(void)state;
	snprintf(message, sizeof(message), "fence: file descriptor %d is no sync_file", fd);
	expect_failure(accel_fence_import(fd, &fence, &error), -EINVAL, message);
	close(fd);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(job_moves_what_its_operands_say),
		TEST(job_without_loops_has_one_point),
		TEST(window_fill_and_program_reach_the_engine),
		TEST(gather_reads_its_indices),
		TEST(operands_are_given_back_as_they_were),
		TEST(destination_may_be_replaced),
		TEST(job_keeps_its_buffers),
		TEST(nine_loops_are_refused),
		TEST(fifth_source_is_refused),
		TEST(window_33_is_refused),
		TEST(instruction_17_is_refused),
		TEST(operand_without_a_buffer_is_refused),
		TEST(index_buffer_of_another_device_is_refused),
		TEST(good_job_passes_its_check),
		TEST(job_says_what_it_runs_with),
		TEST(malformed_job_is_not_described),
		TEST(job_without_a_destination_is_refused),
		TEST(job_past_its_buffer_is_refused_with_its_number),
		TEST(job_that_overlaps_itself_is_refused),
		TEST(imported_memory_is_known_to_overlap),
		TEST(submission_of_no_jobs_is_refused),
		TEST(submission_of_too_many_jobs_is_refused),
		TEST(submission_with_too_many_fences_is_refused),
		TEST(submission_to_another_device_is_refused),
		TEST(jobs_see_what_those_before_them_stored),
		TEST(fence_of_success_tells_so),
		TEST(job_result_past_the_last_is_refused),
		TEST(fence_has_counters_where_they_were_asked_for),
		TEST(job_tells_without_running_what_it_would_count),
		TEST(job_that_would_not_run_is_not_counted),
		TEST(job_that_fails_counts_nothing),
		TEST(index_over_its_limit_fails_the_job_alone),
		TEST(first_of_several_failures_is_told),
		TEST(index_out_of_the_buffer_fails_the_job),
		TEST(failed_fence_may_be_waited_for),
		TEST(fence_of_the_cpu_has_no_sync_file),
		TEST(import_of_no_descriptor_is_refused),
		TEST(import_of_no_sync_file_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
