// SPDX-License-Identifier: MIT
/*
 * Priorities of submissions: which of those that wait for the same fence the device gets first.
 */
#include "tessera_test.h"

#define SIZE	TEST_PAGE_SIZE

FIXTURE(priority) {
	int fd;
	struct test_buffer destinations[2];
	struct test_buffer source;
};

FIXTURE_SETUP(priority)
{
	self->fd = test_open(_metadata);
	self->destinations[0] = test_buffer_create(_metadata, self->fd, SIZE);
	self->destinations[1] = test_buffer_create(_metadata, self->fd, SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	test_fill(self->source.map, SIZE, 1);
}

FIXTURE_TEARDOWN(priority)
{
	close(self->fd);
}

/*
 * Two submissions of these priorities wait for the gate, which is then signalled. Whether the one
 * that came last was the first to be handed over.
 */
static bool last_is_first(struct __test_metadata *_metadata, FIXTURE_DATA(priority) *self,
			  struct test_gate *gate, __u32 first, __u32 last)
{
	struct drm_tessera_sync wait = { .handle = gate->syncobj };
	const __u32 priorities[] = { first, last };
	struct drm_tessera_submit_result results[2];
	int fences[2];
	__u64 ids[2];
	int k;

	for (k = 0; k < 2; k++) {
		struct drm_tessera_submit submit;
		struct test_job job;

		test_job_copy(&job, self->destinations[k].handle, self->source.handle, SIZE / 4);
		submit = test_submission(&job.job, 1);
		submit.queue = 0;
		submit.priority = priorities[k];
		submit.in_syncs = TEST_ARRAY(&wait, 1);
		fences[k] = test_submit_fence(_metadata, self->fd, &submit);
		ids[k] = submit.id;
	}
	/* Both have been looked at, and wait for the gate and for nothing else */
	test_overtake(_metadata);
	ASSERT_EQ(0, test_gate_signal(gate));
	for (k = 0; k < 2; k++) {
		ASSERT_EQ(1, test_sync_file_wait(_metadata, fences[k]));
		ASSERT_EQ(0, test_query_result(self->fd, ids[k], &results[k], NULL, 0));
		close(fences[k]);
	}
	return results[1].start_ns < results[0].start_ns;
}

TEST_F(priority, normal_submission_goes_before_low_ones)
{
	struct test_gate gate;

	TEST_GATE_OR_SKIP(self->fd, &gate);
	EXPECT_TRUE(last_is_first(_metadata, self, &gate, DRM_TESSERA_PRIORITY_LOW,
				DRM_TESSERA_PRIORITY_NORMAL));
}

TEST_F(priority, low_submission_goes_behind_normal_ones)
{
	struct test_gate gate;

	TEST_GATE_OR_SKIP(self->fd, &gate);
	EXPECT_FALSE(last_is_first(_metadata, self, &gate, DRM_TESSERA_PRIORITY_NORMAL,
				DRM_TESSERA_PRIORITY_LOW));
}

TEST_F(priority, submissions_of_the_same_priority_keep_their_order)
{
	struct test_gate gate;

	TEST_GATE_OR_SKIP(self->fd, &gate);
	EXPECT_FALSE(last_is_first(_metadata, self, &gate, DRM_TESSERA_PRIORITY_LOW,
				DRM_TESSERA_PRIORITY_LOW));
}

TEST_F(priority, low_submission_runs_on_every_queue)
{
	struct drm_tessera_dev_info info = test_info(_metadata, self->fd);
	struct drm_tessera_submit submit;
	struct test_job job;

	test_job_copy(&job, self->destinations[0].handle, self->source.handle, SIZE / 4);
	submit = test_submission(&job.job, 1);
	submit.priority = DRM_TESSERA_PRIORITY_LOW;
	for (submit.queue = 0; submit.queue < info.num_queues; submit.queue++) {
		memset(self->destinations[0].map, 0, SIZE);
		ASSERT_EQ(1, test_run(_metadata, self->fd, &submit));
		EXPECT_EQ(SIZE, test_filled(self->destinations[0].map, SIZE, 1));
	}
}

TEST_F(priority, low_submission_that_a_normal_one_depends_on_runs_before_it)
{
	struct drm_tessera_submit submit;
	struct test_job job;
	int k;

	test_job_increment(&job, self->destinations[0].handle);
	submit = test_submission(&job.job, 1);
	submit.queue = 0;
	for (k = 0; k < 100; k++) {
		submit.priority = k % 2 ? DRM_TESSERA_PRIORITY_NORMAL : DRM_TESSERA_PRIORITY_LOW;
		ASSERT_EQ(0, test_submit(self->fd, &submit));
	}
	ASSERT_EQ(0, test_buffer_wait(self->fd, self->destinations[0].handle, 0, INT64_MAX));
	EXPECT_EQ(100, *(__u32 *)self->destinations[0].map);
}

static int submit_with(struct __test_metadata *_metadata, FIXTURE_DATA(priority) *self,
		       __u32 priority, __u32 reserved)
{
	struct drm_tessera_submit submit;
	struct test_job job;

	test_job_copy(&job, self->destinations[0].handle, self->source.handle, SIZE / 4);
	submit = test_submission(&job.job, 1);
	submit.priority = priority;
	submit.reserved = reserved;
	return test_submit(self->fd, &submit);
}

TEST_F(priority, unknown_priority_is_refused)
{
	EXPECT_EQ(-EINVAL, submit_with(_metadata, self, DRM_TESSERA_PRIORITY_LOW + 1, 0));
}

TEST_F(priority, reserved_that_is_not_zero_is_refused)
{
	EXPECT_EQ(-EINVAL, submit_with(_metadata, self, DRM_TESSERA_PRIORITY_NORMAL, 1));
}

TEST_HARNESS_MAIN
