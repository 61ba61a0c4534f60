// SPDX-License-Identifier: MIT
/*
 * DEV_QUERY_SUBMIT_RESULT: what is told of a submission, to whom, for how long, and in an array of
 * any size. What failed jobs leave in it is in fault.c.
 */
#include "tessera_test.h"

#define SIZE	TEST_PAGE_SIZE
#define JOBS	3

FIXTURE(results) {
	int fd;
	struct test_buffer destination;
	struct test_buffer source;
	struct test_job job;
	struct drm_tessera_job jobs[JOBS];
	__s64 before_ns;
	__s64 after_ns;
	__u64 id;
	struct drm_tessera_job_result job_results[JOBS + 1];
	struct drm_tessera_submit_result result;
	struct drm_tessera_dev_query query;
};

/* A submission of three jobs has ended, and its result can be asked for */
FIXTURE_SETUP(results)
{
	struct drm_tessera_submit submit;
	int k;

	self->fd = test_open(_metadata);
	self->destination = test_buffer_create(_metadata, self->fd, SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	test_job_copy(&self->job, self->destination.handle, self->source.handle, SIZE / 4);
	for (k = 0; k < JOBS; k++)
		self->jobs[k] = self->job.job;
	submit = test_submission(self->jobs, JOBS);
	self->before_ns = test_now_ns();
	ASSERT_EQ(1, test_run(_metadata, self->fd, &submit));
	self->after_ns = test_now_ns();
	self->id = submit.id;
	self->query = (struct drm_tessera_dev_query){
		.type = DRM_TESSERA_DEV_QUERY_SUBMIT_RESULT,
		.size = sizeof(self->result),
		.pointer = (uintptr_t)&self->result,
	};
	self->result.id = self->id;
	memset(self->job_results, 0xaa, sizeof(self->job_results));
	self->result.results = TEST_ARRAY(self->job_results, JOBS);
}

FIXTURE_TEARDOWN(results)
{
	close(self->fd);
}

static int ask(int fd, struct drm_tessera_dev_query *query)
{
	return test_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, query);
}

TEST_F(results, success_is_told)
{
	ASSERT_EQ(0, ask(self->fd, &self->query));
	EXPECT_EQ(DRM_TESSERA_SUBMIT_DONE, self->result.state);
	EXPECT_EQ(JOBS, self->result.num_jobs);
	EXPECT_EQ(0, self->result.num_failed);
	EXPECT_EQ(JOBS, self->result.first_failed);
}

TEST_F(results, success_of_each_job_is_told)
{
	int k;

	ASSERT_EQ(0, ask(self->fd, &self->query));
	for (k = 0; k < JOBS; k++) {
		EXPECT_EQ(DRM_TESSERA_CAUSE_NONE, self->job_results[k].cause);
		EXPECT_EQ(0, self->job_results[k].operand);
		EXPECT_EQ(0, self->job_results[k].offset);
	}
}

TEST_F(results, what_was_asked_is_left_as_it_was)
{
	struct drm_tessera_array array = self->result.results;

	ASSERT_EQ(0, ask(self->fd, &self->query));
	EXPECT_EQ(self->id, self->result.id);
	EXPECT_EQ(0, memcmp(&array, &self->result.results, sizeof(array)));
	EXPECT_EQ(sizeof(self->result), self->query.size);
}

TEST_F(results, times_follow_each_other)
{
	ASSERT_EQ(0, ask(self->fd, &self->query));
	EXPECT_LE(self->before_ns, self->result.submit_ns);
	EXPECT_LE(self->result.submit_ns, self->result.start_ns);
	EXPECT_LE(self->result.start_ns, self->result.end_ns);
	EXPECT_LE(self->result.end_ns, self->after_ns);
}

TEST_F(results, jobs_took_no_longer_than_their_submission)
{
	__u64 total = 0;
	int k;

	ASSERT_EQ(0, ask(self->fd, &self->query));
	for (k = 0; k < JOBS; k++)
		total += self->job_results[k].device_ns;
	EXPECT_LE(total, self->result.end_ns - self->result.start_ns);
}

TEST_F(results, result_can_be_asked_for_again)
{
	struct drm_tessera_submit_result first;

	ASSERT_EQ(0, ask(self->fd, &self->query));
	first = self->result;
	ASSERT_EQ(0, ask(self->fd, &self->query));
	EXPECT_EQ(0, memcmp(&first, &self->result, sizeof(first)));
}

TEST_F(results, array_may_be_empty)
{
	self->result.results = (struct drm_tessera_array){ .stride = 3, .pointer = 8 };
	ASSERT_EQ(0, ask(self->fd, &self->query));
	EXPECT_EQ(DRM_TESSERA_SUBMIT_DONE, self->result.state);
}

TEST_F(results, shorter_array_gets_the_first_jobs)
{
	self->result.results.count = 1;
	ASSERT_EQ(0, ask(self->fd, &self->query));
	EXPECT_EQ(DRM_TESSERA_CAUSE_NONE, self->job_results[0].cause);
	EXPECT_EQ(sizeof(self->job_results[1]),
		  test_constant(&self->job_results[1], sizeof(self->job_results[1]), 0xaa));
	EXPECT_EQ(JOBS, self->result.num_jobs);
}

TEST_F(results, longer_array_is_left_alone_behind_the_last_job)
{
	self->result.results.count = JOBS + 1;
	ASSERT_EQ(0, ask(self->fd, &self->query));
	EXPECT_EQ(DRM_TESSERA_CAUSE_NONE, self->job_results[JOBS - 1].cause);
	EXPECT_EQ(sizeof(self->job_results[JOBS]),
		  test_constant(&self->job_results[JOBS], sizeof(self->job_results[JOBS]), 0xaa));
}

TEST_F(results, narrower_elements_get_their_first_members)
{
	struct {
		__u32 cause;
		__u32 operand;
	} narrow[JOBS + 1];

	memset(narrow, 0xaa, sizeof(narrow));
	self->result.results = TEST_ARRAY(narrow, JOBS);
	ASSERT_EQ(0, ask(self->fd, &self->query));
	EXPECT_EQ(JOBS * sizeof(narrow[0]),
		  test_constant(narrow, JOBS * sizeof(narrow[0]), DRM_TESSERA_CAUSE_NONE));
	EXPECT_EQ(sizeof(narrow[0]), test_constant(&narrow[JOBS], sizeof(narrow[0]), 0xaa));
}

TEST_F(results, wider_elements_are_zeroed_behind_what_the_driver_knows)
{
	struct {
		struct drm_tessera_job_result result;
		__u64 more;
	} wide[JOBS];
	int k;

	memset(wide, 0xaa, sizeof(wide));
	self->result.results = TEST_ARRAY(wide, JOBS);
	ASSERT_EQ(0, ask(self->fd, &self->query));
	for (k = 0; k < JOBS; k++) {
		EXPECT_EQ(DRM_TESSERA_CAUSE_NONE, wide[k].result.cause);
		EXPECT_EQ(0, wide[k].more);
	}
}

TEST_F(results, stride_that_is_no_multiple_of_8_is_refused)
{
	ASSERT_EQ(0, ask(self->fd, &self->query));
	self->result.results.stride = 12;
	EXPECT_EQ(-EINVAL, ask(self->fd, &self->query));
}

TEST_F(results, array_at_nowhere_faults)
{
	ASSERT_EQ(0, ask(self->fd, &self->query));
	self->result.results.pointer = TEST_BAD_POINTER;
	EXPECT_EQ(-EFAULT, ask(self->fd, &self->query));
}

TEST_F(results, array_in_kernel_memory_faults)
{
	ASSERT_EQ(0, ask(self->fd, &self->query));
	self->result.results.pointer = 0xffff888000000000ULL;
	EXPECT_EQ(-EFAULT, ask(self->fd, &self->query));
}

TEST_F(results, question_from_nowhere_faults)
{
	ASSERT_EQ(0, ask(self->fd, &self->query));
	self->query.pointer = TEST_BAD_POINTER;
	EXPECT_EQ(-EFAULT, ask(self->fd, &self->query));
}

TEST_F(results, number_0_is_unknown)
{
	ASSERT_EQ(0, ask(self->fd, &self->query));
	self->result.id = 0;
	EXPECT_EQ(-ENOENT, ask(self->fd, &self->query));
}

TEST_F(results, number_not_given_yet_is_unknown)
{
	ASSERT_EQ(0, ask(self->fd, &self->query));
	self->result.id = self->id + 1;
	EXPECT_EQ(-ENOENT, ask(self->fd, &self->query));
}

TEST_F(results, largest_number_is_unknown)
{
	ASSERT_EQ(0, ask(self->fd, &self->query));
	self->result.id = ~0ULL;
	EXPECT_EQ(-ENOENT, ask(self->fd, &self->query));
}

TEST_F(results, number_beyond_the_size_reads_as_0)
{
	ASSERT_EQ(0, ask(self->fd, &self->query));
	self->query.size = 0;
	EXPECT_EQ(-ENOENT, ask(self->fd, &self->query));
}

TEST_F(results, smaller_answer_is_a_prefix)
{
	memset(&self->result.state, 0xaa, sizeof(self->result) -
	       offsetof(struct drm_tessera_submit_result, state));
	self->query.size = offsetof(struct drm_tessera_submit_result, num_failed);
	ASSERT_EQ(0, ask(self->fd, &self->query));
	EXPECT_EQ(DRM_TESSERA_SUBMIT_DONE, self->result.state);
	EXPECT_EQ(JOBS, self->result.num_jobs);
	EXPECT_EQ(0xaaaaaaaa, self->result.num_failed);
	EXPECT_EQ(sizeof(self->result), self->query.size);
}

TEST_F(results, larger_answer_is_zeroed_behind_what_the_driver_knows)
{
	struct {
		struct drm_tessera_submit_result result;
		__u64 more;
	} wide = { .result = self->result, .more = 0 };

	wide.more = ~0ULL;
	self->query.pointer = (uintptr_t)&wide;
	self->query.size = sizeof(wide);
	ASSERT_EQ(0, ask(self->fd, &self->query));
	EXPECT_EQ(DRM_TESSERA_SUBMIT_DONE, wide.result.state);
	EXPECT_EQ(0, wide.more);
}

TEST_F(results, submission_of_another_file_is_unknown)
{
	int stranger = test_open(_metadata);

	ASSERT_EQ(0, ask(self->fd, &self->query));
	EXPECT_EQ(-ENOENT, ask(stranger, &self->query));
	close(stranger);
}

TEST_F(results, last_64_are_kept)
{
	struct drm_tessera_submit submit = test_submission(self->jobs, 1);
	int k;

	for (k = 0; k < DRM_TESSERA_MAX_RESULTS - 1; k++)
		ASSERT_EQ(1, test_run(_metadata, self->fd, &submit));
	EXPECT_EQ(0, ask(self->fd, &self->query));
	ASSERT_EQ(1, test_run(_metadata, self->fd, &submit));
	EXPECT_EQ(-ENOENT, ask(self->fd, &self->query));
	self->result.id++;
	EXPECT_EQ(0, ask(self->fd, &self->query));
}

TEST_F(results, pending_submission_is_told)
{
	struct drm_tessera_submit_result result;
	struct test_gate gate;
	__u64 id;
	int fence;

	TEST_GATE_OR_SKIP(self->fd, &gate);
	fence = test_submit_gated(_metadata, self->fd, &self->job, &gate, &id);
	ASSERT_EQ(0, test_query_result(self->fd, id, &result, NULL, 0));
	EXPECT_EQ(DRM_TESSERA_SUBMIT_PENDING, result.state);
	EXPECT_EQ(1, result.num_jobs);
	ASSERT_EQ(0, test_gate_signal(&gate));
	ASSERT_EQ(1, test_sync_file_wait(_metadata, fence));
	ASSERT_EQ(0, test_query_result(self->fd, id, &result, NULL, 0));
	EXPECT_EQ(DRM_TESSERA_SUBMIT_DONE, result.state);
}

TEST_HARNESS_MAIN
