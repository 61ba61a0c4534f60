// SPDX-License-Identifier: MIT
/*
 * In and out syncobjs of SUBMIT, binary and timeline, and the fences of their sync_files. What
 * waits in these tests waits for a gate that the test itself opens.
 */
#include "tessera_test.h"

#include <pthread.h>

#define SIZE	TEST_PAGE_SIZE

FIXTURE(sync) {
	int fd;
	struct test_buffer destination;
	struct test_buffer source;
	struct test_job job;
	struct drm_tessera_submit submit;
	__u32 syncobj;			/* without a fence */
	__u32 signalled;		/* with one that has signalled */
	struct drm_tessera_sync syncs[DRM_TESSERA_MAX_SYNCS + 1];
};

FIXTURE_SETUP(sync)
{
	struct drm_syncobj_create create = { .flags = DRM_SYNCOBJ_CREATE_SIGNALED };

	self->fd = test_open(_metadata);
	self->destination = test_buffer_create(_metadata, self->fd, SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	test_fill(self->source.map, SIZE, 1);
	test_job_copy(&self->job, self->destination.handle, self->source.handle, SIZE / 4);
	self->submit = test_submission(&self->job.job, 1);
	self->syncobj = test_syncobj_create(_metadata, self->fd);
	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_SYNCOBJ_CREATE, &create));
	self->signalled = create.handle;
}

FIXTURE_TEARDOWN(sync)
{
	close(self->fd);
}

typedef FIXTURE_DATA(sync) fixture;

static void wait_for(fixture *self, __u32 handle, __u32 flags, __u64 value)
{
	self->syncs[0] = (struct drm_tessera_sync){ handle, flags, value };
	self->submit.in_syncs = TEST_ARRAY(self->syncs, 1);
}

static void signal_to(fixture *self, __u32 handle, __u32 flags, __u64 value)
{
	self->syncs[0] = (struct drm_tessera_sync){ handle, flags, value };
	self->submit.out_syncs = TEST_ARRAY(self->syncs, 1);
}

static __u64 timeline_value(struct __test_metadata *_metadata, int fd, __u32 handle)
{
	__u64 value = 0;
	struct drm_syncobj_timeline_array query = {
		.handles = (uintptr_t)&handle,
		.points = (uintptr_t)&value,
		.count_handles = 1,
	};

	ASSERT_EQ(0, test_ioctl(fd, DRM_IOCTL_SYNCOBJ_QUERY, &query));
	return value;
}

/* Whether the syncobj has a fence at all */
static bool has_fence(int fd, __u32 handle)
{
	struct drm_syncobj_handle export = {
		.handle = handle,
		.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
		.fd = -1,
	};

	if (test_ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &export))
		return false;
	close(export.fd);
	return true;
}

/* Signalling */

TEST_F(sync, binary_syncobj_signals_when_the_job_is_done)
{
	signal_to(self, self->syncobj, 0, 0);
	ASSERT_EQ(0, test_submit(self->fd, &self->submit));
	ASSERT_EQ(0, test_syncobj_wait(self->fd, self->syncobj, 0, INT64_MAX));
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
}

TEST_F(sync, timeline_point_signals_when_the_job_is_done)
{
	signal_to(self, self->syncobj, DRM_TESSERA_SYNC_TIMELINE, 5);
	ASSERT_EQ(0, test_submit(self->fd, &self->submit));
	ASSERT_EQ(0, test_syncobj_wait(self->fd, self->syncobj, 5, INT64_MAX));
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
	EXPECT_EQ(5, timeline_value(_metadata, self->fd, self->syncobj));
}

TEST_F(sync, timeline_grows_point_by_point)
{
	__u64 point;

	for (point = 1; point <= 20; point++) {
		signal_to(self, self->syncobj, DRM_TESSERA_SYNC_TIMELINE, point * 10);
		ASSERT_EQ(0, test_submit(self->fd, &self->submit));
	}
	ASSERT_EQ(0, test_syncobj_wait(self->fd, self->syncobj, 200, INT64_MAX));
	EXPECT_EQ(200, timeline_value(_metadata, self->fd, self->syncobj));
}

TEST_F(sync, binary_syncobj_gets_the_fence_of_the_last_submission)
{
	signal_to(self, self->signalled, 0, 0);
	ASSERT_EQ(0, test_submit(self->fd, &self->submit));
	ASSERT_EQ(0, test_syncobj_wait(self->fd, self->signalled, 0, INT64_MAX));
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
}

TEST_F(sync, binary_and_timeline_syncobjs_signal_together)
{
	__u32 timeline = test_syncobj_create(_metadata, self->fd);

	signal_to(self, self->syncobj, 0, 0);
	self->syncs[1] = (struct drm_tessera_sync){ timeline, DRM_TESSERA_SYNC_TIMELINE, 1 };
	self->submit.out_syncs.count = 2;
	ASSERT_EQ(0, test_submit(self->fd, &self->submit));
	ASSERT_EQ(0, test_syncobj_wait(self->fd, self->syncobj, 0, INT64_MAX));
	ASSERT_EQ(0, test_syncobj_wait(self->fd, timeline, 1, INT64_MAX));
}

TEST_F(sync, syncobj_without_a_submission_does_not_signal)
{
	EXPECT_EQ(-ETIME, test_syncobj_wait(self->fd, self->syncobj, 0, 0));
}

TEST_F(sync, two_hundred_and_56_syncobjs_signal)
{
	__u32 k;

	for (k = 0; k < DRM_TESSERA_MAX_SYNCS; k++)
		self->syncs[k].handle = test_syncobj_create(_metadata, self->fd);
	self->submit.out_syncs = TEST_ARRAY(self->syncs, DRM_TESSERA_MAX_SYNCS);
	ASSERT_EQ(0, test_submit(self->fd, &self->submit));
	for (k = 0; k < DRM_TESSERA_MAX_SYNCS; k++)
		ASSERT_EQ(0, test_syncobj_wait(self->fd, self->syncs[k].handle, 0, INT64_MAX));
}

struct waiter {
	int fd;
	__u32 syncobj;
	__u64 point;
	int ret;
};

static void *wait_in_a_thread(void *argument)
{
	struct waiter *waiter = argument;

	waiter->ret = test_syncobj_wait(waiter->fd, waiter->syncobj, waiter->point, INT64_MAX);
	return NULL;
}

static void wait_before_submit(struct __test_metadata *_metadata, fixture *self, __u64 point)
{
	struct waiter waiter = { self->fd, self->syncobj, point, 1 };
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_in_a_thread, &waiter));
	signal_to(self, self->syncobj, point ? DRM_TESSERA_SYNC_TIMELINE : 0, point);
	ASSERT_EQ(0, test_submit(self->fd, &self->submit));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, waiter.ret);
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
}

TEST_F(sync, binary_syncobj_can_be_waited_for_before_it_has_a_fence)
{
	wait_before_submit(_metadata, self, 0);
}

TEST_F(sync, timeline_point_can_be_waited_for_before_it_has_a_fence)
{
	wait_before_submit(_metadata, self, 3);
}

/* Waiting */

TEST_F(sync, signalled_syncobj_is_not_waited_for)
{
	wait_for(self, self->signalled, 0, 0);
	EXPECT_EQ(1, test_run(_metadata, self->fd, &self->submit));
}

TEST_F(sync, job_does_not_run_before_its_binary_syncobj)
{
	struct test_gate gate;
	int fence;

	TEST_GATE_OR_SKIP(self->fd, &gate);
	wait_for(self, gate.syncobj, 0, 0);
	fence = test_submit_fence(_metadata, self->fd, &self->submit);
	test_overtake(_metadata);
	EXPECT_EQ(0, test_sync_file_status(_metadata, fence));
	EXPECT_EQ(SIZE, test_constant(self->destination.map, SIZE, 0));
	ASSERT_EQ(0, test_gate_signal(&gate));
	EXPECT_EQ(1, test_sync_file_wait(_metadata, fence));
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
}

TEST_F(sync, job_does_not_run_before_its_timeline_point)
{
	struct test_gate gate;
	struct drm_syncobj_transfer transfer = { .dst_point = 7 };
	int fence;

	TEST_GATE_OR_SKIP(self->fd, &gate);
	transfer.src_handle = gate.syncobj;
	transfer.dst_handle = self->syncobj;
	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &transfer));
	wait_for(self, self->syncobj, DRM_TESSERA_SYNC_TIMELINE, 7);
	fence = test_submit_fence(_metadata, self->fd, &self->submit);
	test_overtake(_metadata);
	EXPECT_EQ(0, test_sync_file_status(_metadata, fence));
	EXPECT_EQ(SIZE, test_constant(self->destination.map, SIZE, 0));
	ASSERT_EQ(0, test_gate_signal(&gate));
	EXPECT_EQ(1, test_sync_file_wait(_metadata, fence));
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
}

TEST_F(sync, job_waits_for_the_last_of_its_syncobjs)
{
	struct test_gate first, second;
	int fence;

	TEST_GATE_OR_SKIP(self->fd, &first);
	TEST_GATE_OR_SKIP(self->fd, &second);
	wait_for(self, first.syncobj, 0, 0);
	self->syncs[1].handle = second.syncobj;
	self->syncs[2].handle = self->signalled;
	self->submit.in_syncs.count = 3;
	fence = test_submit_fence(_metadata, self->fd, &self->submit);
	ASSERT_EQ(0, test_gate_signal(&first));
	test_overtake(_metadata);
	EXPECT_EQ(0, test_sync_file_status(_metadata, fence));
	ASSERT_EQ(0, test_gate_signal(&second));
	EXPECT_EQ(1, test_sync_file_wait(_metadata, fence));
}

TEST_F(sync, submission_that_waits_does_not_keep_other_files_from_its_queue)
{
	struct test_gate gate;
	int fence;

	TEST_GATE_OR_SKIP(self->fd, &gate);
	self->submit.queue = 0;
	wait_for(self, gate.syncobj, 0, 0);
	fence = test_submit_fence(_metadata, self->fd, &self->submit);
	test_overtake(_metadata);
	EXPECT_EQ(0, test_sync_file_status(_metadata, fence));
	ASSERT_EQ(0, test_gate_signal(&gate));
	EXPECT_EQ(1, test_sync_file_wait(_metadata, fence));
}

TEST_F(sync, waited_for_and_signalled_syncobj_may_be_the_same)
{
	struct drm_tessera_sync sync = { .handle = self->signalled };

	self->submit.in_syncs = TEST_ARRAY(&sync, 1);
	self->submit.out_syncs = TEST_ARRAY(&sync, 1);
	ASSERT_EQ(0, test_submit(self->fd, &self->submit));
	ASSERT_EQ(0, test_syncobj_wait(self->fd, self->signalled, 0, INT64_MAX));
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
}

TEST_F(sync, submissions_chain_through_a_timeline)
{
	struct drm_tessera_sync in = { self->syncobj, DRM_TESSERA_SYNC_TIMELINE, 0 };
	struct drm_tessera_sync out = { self->syncobj, DRM_TESSERA_SYNC_TIMELINE, 1 };
	struct drm_tessera_dev_info info = test_info(_metadata, self->fd);
	int k;

	for (k = 0; k < 32; k++) {
		self->submit.queue = k % info.num_queues;
		self->submit.in_syncs = TEST_ARRAY(&in, k ? 1 : 0);
		self->submit.out_syncs = TEST_ARRAY(&out, 1);
		ASSERT_EQ(0, test_submit(self->fd, &self->submit));
		in.timeline_value = out.timeline_value++;
	}
	ASSERT_EQ(0, test_syncobj_wait(self->fd, self->syncobj, 32, INT64_MAX));
	EXPECT_EQ(32, timeline_value(_metadata, self->fd, self->syncobj));
}

TEST_F(sync, syncobj_may_be_destroyed_while_the_job_is_pending)
{
	struct test_gate gate;
	__u32 syncobj = test_syncobj_create(_metadata, self->fd);
	struct drm_tessera_sync out = { .handle = syncobj };
	int fence;

	TEST_GATE_OR_SKIP(self->fd, &gate);
	wait_for(self, gate.syncobj, 0, 0);
	self->submit.out_syncs = TEST_ARRAY(&out, 1);
	ASSERT_EQ(0, test_submit(self->fd, &self->submit));
	fence = test_syncobj_export(_metadata, self->fd, syncobj);
	test_syncobj_destroy(_metadata, self->fd, syncobj);
	test_syncobj_destroy(_metadata, self->fd, gate.syncobj);
	ASSERT_EQ(0, test_gate_signal(&gate));
	EXPECT_EQ(1, test_sync_file_wait(_metadata, fence));
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
}

TEST_F(sync, two_hundred_and_56_syncobjs_are_waited_for)
{
	__u32 k;

	for (k = 0; k < DRM_TESSERA_MAX_SYNCS; k++)
		self->syncs[k].handle = self->signalled;
	self->submit.in_syncs = TEST_ARRAY(self->syncs, DRM_TESSERA_MAX_SYNCS);
	EXPECT_EQ(1, test_run(_metadata, self->fd, &self->submit));
}

/* Refusals: what is submitted is good but for one syncobj */

TEST_F(sync, two_hundred_and_57_syncobjs_to_wait_for_are_refused)
{
	__u32 k;

	for (k = 0; k <= DRM_TESSERA_MAX_SYNCS; k++)
		self->syncs[k].handle = self->signalled;
	self->submit.in_syncs = TEST_ARRAY(self->syncs, DRM_TESSERA_MAX_SYNCS + 1);
	EXPECT_EQ(-EINVAL, test_submit(self->fd, &self->submit));
}

TEST_F(sync, two_hundred_and_57_syncobjs_to_signal_are_refused)
{
	__u32 k;

	for (k = 0; k <= DRM_TESSERA_MAX_SYNCS; k++)
		self->syncs[k].handle = test_syncobj_create(_metadata, self->fd);
	self->submit.out_syncs = TEST_ARRAY(self->syncs, DRM_TESSERA_MAX_SYNCS + 1);
	EXPECT_EQ(-EINVAL, test_submit(self->fd, &self->submit));
}

TEST_F(sync, unknown_syncobj_to_wait_for_is_refused)
{
	wait_for(self, TEST_NO_HANDLE, 0, 0);
	EXPECT_EQ(-ENOENT, test_submit(self->fd, &self->submit));
}

TEST_F(sync, unknown_syncobj_to_signal_is_refused)
{
	signal_to(self, TEST_NO_HANDLE, 0, 0);
	EXPECT_EQ(-ENOENT, test_submit(self->fd, &self->submit));
}

TEST_F(sync, unknown_timeline_to_signal_is_refused)
{
	signal_to(self, TEST_NO_HANDLE, DRM_TESSERA_SYNC_TIMELINE, 1);
	EXPECT_EQ(-ENOENT, test_submit(self->fd, &self->submit));
}

TEST_F(sync, syncobj_of_another_file_is_unknown)
{
	int stranger = test_open(_metadata);
	__u32 theirs = 0;
	int k;

	/* Handles of each file count from 1: this one is beyond those of the fixture */
	for (k = 0; k < 8; k++)
		theirs = test_syncobj_create(_metadata, stranger);
	wait_for(self, theirs, 0, 0);
	EXPECT_EQ(-ENOENT, test_submit(self->fd, &self->submit));
	close(stranger);
}

TEST_F(sync, binary_syncobj_without_a_fence_is_refused)
{
	wait_for(self, self->syncobj, 0, 0);
	EXPECT_EQ(-ENOENT, test_submit(self->fd, &self->submit));
}

TEST_F(sync, timeline_point_without_a_fence_is_refused)
{
	signal_to(self, self->syncobj, DRM_TESSERA_SYNC_TIMELINE, 1);
	ASSERT_EQ(0, test_submit(self->fd, &self->submit));
	ASSERT_EQ(0, test_syncobj_wait(self->fd, self->syncobj, 1, INT64_MAX));
	self->submit.out_syncs.count = 0;
	wait_for(self, self->syncobj, DRM_TESSERA_SYNC_TIMELINE, 1);
	ASSERT_EQ(0, test_submit(self->fd, &self->submit));
	self->syncs[0].timeline_value = 2;
	EXPECT_EQ(-ENOENT, test_submit(self->fd, &self->submit));
}

TEST_F(sync, unknown_flag_of_a_syncobj_to_wait_for_is_refused)
{
	wait_for(self, self->signalled, 1 << 1, 0);
	EXPECT_EQ(-EINVAL, test_submit(self->fd, &self->submit));
}

TEST_F(sync, unknown_flag_of_a_syncobj_to_signal_is_refused)
{
	signal_to(self, self->syncobj, 1U << 31, 0);
	EXPECT_EQ(-EINVAL, test_submit(self->fd, &self->submit));
}

TEST_F(sync, point_of_a_binary_syncobj_to_wait_for_is_refused)
{
	wait_for(self, self->signalled, 0, 1);
	EXPECT_EQ(-EINVAL, test_submit(self->fd, &self->submit));
}

TEST_F(sync, point_of_a_binary_syncobj_to_signal_is_refused)
{
	signal_to(self, self->syncobj, 0, 1);
	EXPECT_EQ(-EINVAL, test_submit(self->fd, &self->submit));
}

TEST_F(sync, point_0_to_signal_is_refused)
{
	signal_to(self, self->syncobj, DRM_TESSERA_SYNC_TIMELINE, 0);
	EXPECT_EQ(-EINVAL, test_submit(self->fd, &self->submit));
}

TEST_F(sync, syncobjs_to_wait_for_from_nowhere_fault)
{
	wait_for(self, self->signalled, 0, 0);
	self->submit.in_syncs.pointer = TEST_BAD_POINTER;
	EXPECT_EQ(-EFAULT, test_submit(self->fd, &self->submit));
}

TEST_F(sync, syncobjs_to_signal_from_nowhere_fault)
{
	signal_to(self, self->syncobj, 0, 0);
	self->submit.out_syncs.pointer = TEST_BAD_POINTER;
	EXPECT_EQ(-EFAULT, test_submit(self->fd, &self->submit));
}

TEST_F(sync, stride_that_is_no_multiple_of_8_is_refused)
{
	wait_for(self, self->signalled, 0, 0);
	self->submit.in_syncs.stride = sizeof(self->syncs[0]) + 4;
	EXPECT_EQ(-EINVAL, test_submit(self->fd, &self->submit));
}

TEST_F(sync, narrower_syncobjs_read_as_zero)
{
	wait_for(self, self->signalled, 0, ~0ULL);
	self->submit.in_syncs.stride = offsetof(struct drm_tessera_sync, timeline_value);
	EXPECT_EQ(1, test_run(_metadata, self->fd, &self->submit));
}

TEST_F(sync, wider_syncobjs_are_taken_when_zero)
{
	struct {
		struct drm_tessera_sync sync;
		__u64 more;
	} wide = { .sync = { .handle = self->signalled } };

	self->submit.in_syncs = TEST_ARRAY(&wide, 1);
	EXPECT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	wide.more = 1;
	EXPECT_EQ(-EINVAL, test_submit(self->fd, &self->submit));
}

/* A refused submission leaves everything as it was */

TEST_F(sync, refused_job_touches_no_syncobj)
{
	self->job.job.flags = 1;
	signal_to(self, self->syncobj, 0, 0);
	ASSERT_EQ(-EINVAL, test_submit(self->fd, &self->submit));
	EXPECT_FALSE(has_fence(self->fd, self->syncobj));
	self->job.job.flags = 0;
	ASSERT_EQ(0, test_submit(self->fd, &self->submit));
	EXPECT_TRUE(has_fence(self->fd, self->syncobj));
}

TEST_F(sync, refused_syncobj_touches_none_of_the_others)
{
	signal_to(self, self->syncobj, 0, 0);
	self->syncs[1].handle = TEST_NO_HANDLE;
	self->submit.out_syncs.count = 2;
	ASSERT_EQ(-ENOENT, test_submit(self->fd, &self->submit));
	EXPECT_FALSE(has_fence(self->fd, self->syncobj));
	ASSERT_EQ(0, test_buffer_wait(self->fd, self->destination.handle, 0, INT64_MAX));
	EXPECT_EQ(SIZE, test_constant(self->destination.map, SIZE, 0));
}

TEST_F(sync, refused_wait_touches_no_timeline)
{
	struct drm_tessera_sync out = { self->syncobj, DRM_TESSERA_SYNC_TIMELINE, 1 };

	wait_for(self, TEST_NO_HANDLE, 0, 0);
	self->submit.out_syncs = TEST_ARRAY(&out, 1);
	ASSERT_EQ(-ENOENT, test_submit(self->fd, &self->submit));
	EXPECT_FALSE(has_fence(self->fd, self->syncobj));
	EXPECT_EQ(0, timeline_value(_metadata, self->fd, self->syncobj));
}

/* sync_files */

TEST_F(sync, sync_file_of_a_good_job_has_status_1)
{
	EXPECT_EQ(1, test_run(_metadata, self->fd, &self->submit));
}

TEST_F(sync, sync_file_can_be_polled)
{
	int fence = test_submit_fence(_metadata, self->fd, &self->submit);
	struct pollfd poll_fence = { .fd = fence, .events = POLLIN };

	ASSERT_EQ(1, poll(&poll_fence, 1, -1));
	EXPECT_EQ(POLLIN, poll_fence.revents);
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
}

TEST_F(sync, sync_file_orders_submissions_of_two_files)
{
	int stranger = test_open(_metadata);
	struct test_buffer theirs = test_buffer_create(_metadata, stranger, SIZE);
	struct drm_tessera_submit submit;
	struct drm_tessera_sync in;
	struct test_gate gate;
	struct test_job job;
	int ours, their_fence;

	TEST_GATE_OR_SKIP(self->fd, &gate);
	wait_for(self, gate.syncobj, 0, 0);
	ours = test_submit_fence(_metadata, self->fd, &self->submit);
	in = (struct drm_tessera_sync){ .handle = test_syncobj_import(_metadata, stranger, ours) };
	test_job_copy(&job, theirs.handle, theirs.handle, SIZE / 4);
	submit = test_submission(&job.job, 1);
	submit.in_syncs = TEST_ARRAY(&in, 1);
	their_fence = test_submit_fence(_metadata, stranger, &submit);
	test_overtake(_metadata);
	EXPECT_EQ(0, test_sync_file_status(_metadata, their_fence));
	ASSERT_EQ(0, test_gate_signal(&gate));
	EXPECT_EQ(1, test_sync_file_wait(_metadata, their_fence));
	EXPECT_EQ(1, test_sync_file_status(_metadata, ours));
	close(stranger);
}

TEST_HARNESS_MAIN
