// SPDX-License-Identifier: MIT
/*
 * Jobs that go wrong as they run: what is stopped, what is told of it, and that everything else
 * goes on. An index that leads astray needs nothing; a job outside of its buffer gets past the
 * driver only by the device's test registers (x-test=on), and so does one that hangs.
 */
#include "tessera_test.h"

#include <signal.h>

#define SIZE	TEST_PAGE_SIZE

/* Longer than any test, so that what hangs stays pending until the test ends it */
#define NEVER	"job_timeout_ms=3600000"
/* As short as a healthy job stands on an emulated CPU */
#define SOON	"job_timeout_ms=1000"

/*
 * Indices
 */

FIXTURE(index) {
	int fd;
	struct test_buffer destination;
	struct test_buffer source;
	struct test_buffer index;
	struct test_job job;
	struct drm_tessera_submit submit;
	struct drm_tessera_submit_result result;
	struct drm_tessera_job_result job_result;
};

/* Gathers 4 rows of 32 bytes, of 16, by indices of type i32: 0 1 2 3 */
FIXTURE_SETUP(index)
{
	struct drm_tessera_operand *source = &self->job.operands[1];
	__s32 *index;
	int k;

	self->fd = test_open(_metadata);
	self->destination = test_buffer_create(_metadata, self->fd, SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	self->index = test_buffer_create(_metadata, self->fd, SIZE);
	test_fill(self->source.map, SIZE, 1);
	index = (__s32 *)self->index.map;
	for (k = 0; k < 4; k++)
		index[k] = k;
	test_job_init(&self->job, 2, 2);
	self->job.job.extents[0] = 4;
	self->job.job.extents[1] = 8;
	self->job.operands[0].handle = self->destination.handle;
	self->job.operands[0].dtype = DRM_TESSERA_DTYPE_U32;
	self->job.operands[0].address.strides[0] = 32;
	self->job.operands[0].address.strides[1] = 4;
	source->handle = self->source.handle;
	source->dtype = DRM_TESSERA_DTYPE_U32;
	source->flags = DRM_TESSERA_OPERAND_INDIRECT;
	source->address.strides[1] = 4;
	source->index_handle = self->index.handle;
	source->index_dtype = DRM_TESSERA_DTYPE_I32;
	source->index_address.strides[0] = 4;
	source->index_stride = 32;
	source->index_limit = 16;
	self->submit = test_submission(&self->job.job, 1);
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	ASSERT_EQ(128, test_filled(self->destination.map, 128, 1));
}

FIXTURE_TEARDOWN(index)
{
	close(self->fd);
}

#define EXPECT_FAULT(cause_, operand_, offset_)						\
	do {										\
		ASSERT_EQ(-EIO, test_run(_metadata, self->fd, &self->submit));		\
		ASSERT_EQ(0, test_query_result(self->fd, self->submit.id, &self->result, \
					       &self->job_result, 1));			\
		EXPECT_EQ(DRM_TESSERA_SUBMIT_FAILED, self->result.state);		\
		EXPECT_EQ(1, self->result.num_failed);					\
		EXPECT_EQ(0, self->result.first_failed);				\
		EXPECT_EQ(DRM_TESSERA_CAUSE_##cause_, self->job_result.cause);		\
		EXPECT_EQ(operand_, self->job_result.operand);				\
		EXPECT_EQ(offset_, self->job_result.offset);				\
	} while (0)

TEST_F(index, index_at_its_limit_faults)
{
	((__s32 *)self->index.map)[2] = 16;
	EXPECT_FAULT(INDEX_LIMIT, 1, 16);
}

TEST_F(index, negative_index_faults_at_a_limit)
{
	((__s32 *)self->index.map)[3] = -1;
	EXPECT_FAULT(INDEX_LIMIT, 1, -1);
}

TEST_F(index, index_past_the_buffer_faults)
{
	self->job.operands[1].index_limit = 0;
	((__s32 *)self->index.map)[1] = SIZE / 32;
	EXPECT_FAULT(BOUNDS, 1, SIZE + 31);
}

TEST_F(index, index_before_the_buffer_faults)
{
	self->job.operands[1].index_limit = 0;
	((__s32 *)self->index.map)[1] = -1;
	EXPECT_FAULT(BOUNDS, 1, -32);
}

TEST_F(index, index_times_its_stride_does_not_wrap_around)
{
	self->job.operands[1].index_limit = 0;
	self->job.operands[1].index_stride = 1LL << 62;
	((__s32 *)self->index.map)[0] = 4;
	ASSERT_EQ(-EIO, test_run(_metadata, self->fd, &self->submit));
	ASSERT_EQ(0, test_query_result(self->fd, self->submit.id, &self->result,
				       &self->job_result, 1));
	EXPECT_EQ(DRM_TESSERA_CAUSE_BOUNDS, self->job_result.cause);
}

TEST_F(index, index_of_64_bits_is_not_truncated)
{
	self->job.operands[1].index_dtype = DRM_TESSERA_DTYPE_U64;
	self->job.operands[1].index_address.strides[0] = 8;
	memset(self->index.map, 0, SIZE);
	((__u64 *)self->index.map)[3] = 1ULL << 32;
	EXPECT_FAULT(INDEX_LIMIT, 1, 1LL << 32);
}

TEST_F(index, scatter_past_the_buffer_leaves_the_neighbours_alone)
{
	struct drm_tessera_operand gathered = self->job.operands[1];
	struct test_buffer neighbours[16];
	int k;

	for (k = 0; k < 16; k++) {
		neighbours[k] = test_buffer_create(_metadata, self->fd, SIZE);
		test_fill(neighbours[k].map, SIZE, 100 + k);
	}
	self->job.operands[1] = self->job.operands[0];
	self->job.operands[1].handle = self->source.handle;
	self->job.operands[0] = gathered;
	self->job.operands[0].handle = self->destination.handle;
	self->job.operands[0].index_limit = 0;
	((__s32 *)self->index.map)[2] = SIZE / 32;
	EXPECT_FAULT(BOUNDS, 0, SIZE + 31);
	for (k = 0; k < 16; k++)
		EXPECT_EQ(SIZE, test_filled(neighbours[k].map, SIZE, 100 + k));
}

TEST_F(index, job_after_a_fault_runs)
{
	((__s32 *)self->index.map)[2] = 99;
	ASSERT_EQ(-EIO, test_run(_metadata, self->fd, &self->submit));
	((__s32 *)self->index.map)[2] = 2;
	memset(self->destination.map, 0, SIZE);
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(128, test_filled(self->destination.map, 128, 1));
}

TEST_F(index, fault_does_not_stop_the_jobs_around_it)
{
	struct test_buffer first = test_buffer_create(_metadata, self->fd, SIZE);
	struct test_buffer last = test_buffer_create(_metadata, self->fd, SIZE);
	struct drm_tessera_job_result results[3];
	struct drm_tessera_job jobs[3];
	struct test_job before, after;

	test_job_copy(&before, first.handle, self->source.handle, SIZE / 4);
	test_job_copy(&after, last.handle, self->source.handle, SIZE / 4);
	jobs[0] = before.job;
	jobs[1] = self->job.job;
	jobs[2] = after.job;
	((__s32 *)self->index.map)[0] = 99;
	self->submit.jobs = TEST_ARRAY(jobs, 3);
	ASSERT_EQ(-EIO, test_run(_metadata, self->fd, &self->submit));
	ASSERT_EQ(0, test_query_result(self->fd, self->submit.id, &self->result, results, 3));
	EXPECT_EQ(DRM_TESSERA_SUBMIT_FAILED, self->result.state);
	EXPECT_EQ(3, self->result.num_jobs);
	EXPECT_EQ(1, self->result.num_failed);
	EXPECT_EQ(1, self->result.first_failed);
	EXPECT_EQ(DRM_TESSERA_CAUSE_NONE, results[0].cause);
	EXPECT_EQ(DRM_TESSERA_CAUSE_INDEX_LIMIT, results[1].cause);
	EXPECT_EQ(99, results[1].offset);
	EXPECT_EQ(DRM_TESSERA_CAUSE_NONE, results[2].cause);
	EXPECT_EQ(SIZE, test_filled(first.map, SIZE, 1));
	EXPECT_EQ(SIZE, test_filled(last.map, SIZE, 1));
}

TEST_F(index, every_fault_of_a_submission_is_told)
{
	struct drm_tessera_job jobs[4];
	struct drm_tessera_job_result results[4];
	int k;

	((__s32 *)self->index.map)[0] = 99;
	for (k = 0; k < 4; k++)
		jobs[k] = self->job.job;
	self->submit.jobs = TEST_ARRAY(jobs, 4);
	ASSERT_EQ(-EIO, test_run(_metadata, self->fd, &self->submit));
	ASSERT_EQ(0, test_query_result(self->fd, self->submit.id, &self->result, results, 4));
	EXPECT_EQ(4, self->result.num_failed);
	EXPECT_EQ(0, self->result.first_failed);
	for (k = 0; k < 4; k++)
		EXPECT_EQ(DRM_TESSERA_CAUSE_INDEX_LIMIT, results[k].cause);
}

TEST_F(index, fault_is_told_by_the_fence_and_not_by_waiting)
{
	((__s32 *)self->index.map)[0] = 99;
	ASSERT_EQ(0, test_submit(self->fd, &self->submit));
	EXPECT_EQ(0, test_buffer_wait(self->fd, self->destination.handle, 0, INT64_MAX));
}

/*
 * A job outside of its buffer: the device adds to the address of the next job's destination what is
 * written to test_skew, when the driver has found it good
 */

FIXTURE(skew) {
	int fd;
	bool has_test;
	struct test_buffer before;
	struct test_buffer destination;
	struct test_buffer after;
	struct test_buffer source;
	struct test_job job;
	struct drm_tessera_submit submit;
	struct drm_tessera_submit_result result;
	struct drm_tessera_job_result job_result;
};

FIXTURE_SETUP(skew)
{
	self->fd = test_open(_metadata);
	self->before = test_buffer_create(_metadata, self->fd, SIZE);
	self->destination = test_buffer_create(_metadata, self->fd, SIZE);
	self->after = test_buffer_create(_metadata, self->fd, SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	test_fill(self->before.map, SIZE, 1);
	test_fill(self->destination.map, SIZE, 2);
	test_fill(self->after.map, SIZE, 3);
	test_fill(self->source.map, SIZE, 4);
	test_job_copy(&self->job, self->destination.handle, self->source.handle, SIZE / 4);
	self->submit = test_submission(&self->job.job, 1);
	self->has_test = test_write_debugfs(_metadata, self->fd, "test_skew", 0) != -ENOENT;
}

FIXTURE_TEARDOWN(skew)
{
	if (self->has_test)
		test_write_debugfs(_metadata, self->fd, "test_skew", 0);
	close(self->fd);
}

#define TEST_DEVICE_OR_SKIP							\
	do {									\
		if (!self->has_test)						\
			SKIP(return, "the device is not one of x-test=on");	\
	} while (0)

static void skew(struct __test_metadata *_metadata, int fd, __u32 bytes)
{
	ASSERT_EQ(0, test_write_debugfs(_metadata, fd, "test_skew", bytes));
}

TEST_F(skew, job_past_its_buffer_is_stopped_by_the_device)
{
	TEST_DEVICE_OR_SKIP;
	skew(_metadata, self->fd, 4);
	EXPECT_FAULT(BOUNDS, 0, SIZE + 3);
}

TEST_F(skew, job_a_page_past_its_buffer_is_stopped_by_the_device)
{
	TEST_DEVICE_OR_SKIP;
	skew(_metadata, self->fd, SIZE);
	EXPECT_FAULT(BOUNDS, 0, 2 * SIZE - 1);
}

TEST_F(skew, job_one_byte_past_its_buffer_is_stopped_by_the_device)
{
	TEST_DEVICE_OR_SKIP;
	skew(_metadata, self->fd, 1);
	EXPECT_FAULT(BOUNDS, 0, SIZE);
}

TEST_F(skew, job_far_past_its_buffer_is_stopped_by_the_device)
{
	TEST_DEVICE_OR_SKIP;
	skew(_metadata, self->fd, 0x7ffff000);
	EXPECT_FAULT(BOUNDS, 0, SIZE + 0x7ffff000LL - 1);
}

TEST_F(skew, neighbours_are_left_alone)
{
	TEST_DEVICE_OR_SKIP;
	skew(_metadata, self->fd, SIZE);
	ASSERT_EQ(-EIO, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(SIZE, test_filled(self->before.map, SIZE, 1));
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 2));
	EXPECT_EQ(SIZE, test_filled(self->after.map, SIZE, 3));
	EXPECT_EQ(SIZE, test_filled(self->source.map, SIZE, 4));
}

TEST_F(skew, job_moved_inside_of_its_buffer_runs)
{
	TEST_DEVICE_OR_SKIP;
	self->job.job.extents[0] = 8;
	skew(_metadata, self->fd, 64);
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(0, memcmp(self->destination.map + 64, self->source.map, 32));
}

TEST_F(skew, next_job_runs)
{
	TEST_DEVICE_OR_SKIP;
	skew(_metadata, self->fd, SIZE);
	ASSERT_EQ(-EIO, test_run(_metadata, self->fd, &self->submit));
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 4));
}

TEST_F(skew, other_jobs_of_the_submission_run)
{
	struct drm_tessera_job_result results[2];
	struct drm_tessera_job jobs[2];
	struct test_job second;

	TEST_DEVICE_OR_SKIP;
	test_job_copy(&second, self->after.handle, self->source.handle, SIZE / 4);
	jobs[0] = self->job.job;
	jobs[1] = second.job;
	self->submit.jobs = TEST_ARRAY(jobs, 2);
	skew(_metadata, self->fd, SIZE);
	ASSERT_EQ(-EIO, test_run(_metadata, self->fd, &self->submit));
	ASSERT_EQ(0, test_query_result(self->fd, self->submit.id, &self->result, results, 2));
	EXPECT_EQ(DRM_TESSERA_CAUSE_BOUNDS, results[0].cause);
	EXPECT_EQ(DRM_TESSERA_CAUSE_NONE, results[1].cause);
	EXPECT_EQ(1, self->result.num_failed);
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 2));
	EXPECT_EQ(SIZE, test_filled(self->after.map, SIZE, 4));
}

/*
 * A job that makes no progress: the next one that starts hangs when 1 was written to test_hang, the
 * one after that with 2.
 */

FIXTURE(hang) {
	int fd;
	bool has_test;
	struct drm_tessera_dev_info info;
	struct test_buffer destination;
	struct test_buffer source;
	struct test_job job;
	struct drm_tessera_submit submit;
	struct drm_tessera_submit_result result;
	struct drm_tessera_job_result job_result;
};

FIXTURE_SETUP(hang)
{
	test_module_reload(_metadata, SOON);
	self->fd = test_open(_metadata);
	self->info = test_info(_metadata, self->fd);
	self->destination = test_buffer_create(_metadata, self->fd, SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	test_fill(self->source.map, SIZE, 1);
	test_job_copy(&self->job, self->destination.handle, self->source.handle, SIZE / 4);
	self->submit = test_submission(&self->job.job, 1);
	self->submit.queue = 0;
	self->has_test = test_write_debugfs(_metadata, self->fd, "test_hang", 0) != -ENOENT;
}

FIXTURE_TEARDOWN(hang)
{
	munmap(self->destination.map, SIZE);
	munmap(self->source.map, SIZE);
	close(self->fd);
	test_module_reload(_metadata, "");
}

static void hang(struct __test_metadata *_metadata, int fd, __u32 jobs)
{
	ASSERT_EQ(0, test_write_debugfs(_metadata, fd, "test_hang", jobs));
}

/* Until the job that was meant to hang has started */
static void wait_for_hang(struct __test_metadata *_metadata, int fd)
{
	while (test_read_debugfs(_metadata, fd, "test_hang"))
		sched_yield();
}

TEST_F(hang, hanging_job_is_stopped_and_told)
{
	TEST_DEVICE_OR_SKIP;
	hang(_metadata, self->fd, 1);
	ASSERT_EQ(-ECANCELED, test_run(_metadata, self->fd, &self->submit));
	ASSERT_EQ(0, test_query_result(self->fd, self->submit.id, &self->result,
				       &self->job_result, 1));
	EXPECT_EQ(DRM_TESSERA_SUBMIT_FAILED, self->result.state);
	EXPECT_EQ(1, self->result.num_failed);
	EXPECT_EQ(DRM_TESSERA_CAUSE_TIMEOUT, self->job_result.cause);
	EXPECT_EQ(SIZE, test_constant(self->destination.map, SIZE, 0));
}

TEST_F(hang, next_job_on_the_queue_succeeds)
{
	TEST_DEVICE_OR_SKIP;
	hang(_metadata, self->fd, 1);
	ASSERT_EQ(-ECANCELED, test_run(_metadata, self->fd, &self->submit));
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
}

/* Nobody tells the driver: it looks by itself */
TEST_F(hang, job_whose_interrupt_is_lost_completes)
{
	int k;

	TEST_DEVICE_OR_SKIP;
	for (k = 0; k < 3; k++) {
		test_fill(self->destination.map, SIZE, 2);
		ASSERT_EQ(0, test_write_debugfs(_metadata, self->fd, "test_drop", 1));
		ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
		EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
		EXPECT_EQ(0, test_read_debugfs(_metadata, self->fd, "test_drop"));
	}
}

/*
 * The device says of the first job that the second has completed, too, which then is late. Until it
 * has run nothing of it is over: neither its fence, nor what it works with.
 */
TEST_F(hang, completion_that_runs_ahead_completes_nothing)
{
	struct test_buffer other = test_buffer_create(_metadata, self->fd, SIZE);
	struct drm_tessera_submit submit;
	struct test_job job;
	int first, second;

	TEST_DEVICE_OR_SKIP;
	test_job_copy(&job, other.handle, self->source.handle, SIZE / 4);
	submit = test_submission(&job.job, 1);
	submit.queue = 0;
	ASSERT_EQ(0, test_write_debugfs(_metadata, self->fd, "test_corrupt", 1));
	ASSERT_EQ(0, test_write_debugfs(_metadata, self->fd, "test_slow", 300));
	first = test_submit_fence(_metadata, self->fd, &self->submit);
	second = test_submit_fence(_metadata, self->fd, &submit);
	EXPECT_EQ(1, test_sync_file_wait(_metadata, first));
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
	EXPECT_EQ(1, test_sync_file_wait(_metadata, second));
	EXPECT_EQ(SIZE, test_filled(other.map, SIZE, 1));
	ASSERT_EQ(0, test_write_debugfs(_metadata, self->fd, "test_slow", 0));
	munmap(other.map, SIZE);
	close(first);
	close(second);
}

TEST_F(hang, completion_that_lags_behind_is_made_up_for)
{
	TEST_DEVICE_OR_SKIP;
	ASSERT_EQ(0, test_write_debugfs(_metadata, self->fd, "test_corrupt", 0xffffffff));
	EXPECT_EQ(-ECANCELED, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
}

TEST_F(hang, hang_after_hang_is_recovered)
{
	int k;

	TEST_DEVICE_OR_SKIP;
	for (k = 0; k < 3; k++) {
		hang(_metadata, self->fd, 1);
		ASSERT_EQ(-ECANCELED, test_run(_metadata, self->fd, &self->submit));
	}
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
}

TEST_F(hang, queued_behind_a_hang_of_another_file_runs)
{
	int stranger = test_open(_metadata);
	struct test_buffer theirs = test_buffer_create(_metadata, stranger, 2 * SIZE);
	struct drm_tessera_submit submit;
	struct test_job job;
	int fence, their_fence;

	TEST_DEVICE_OR_SKIP;
	test_fill(theirs.map, SIZE, 5);
	test_job_copy(&job, theirs.handle, theirs.handle, SIZE / 4);
	job.operands[0].address.offset = SIZE;
	submit = test_submission(&job.job, 1);
	submit.queue = 0;
	hang(_metadata, self->fd, 1);
	fence = test_submit_fence(_metadata, self->fd, &self->submit);
	their_fence = test_submit_fence(_metadata, stranger, &submit);
	EXPECT_EQ(1, test_sync_file_wait(_metadata, their_fence));
	EXPECT_EQ(-ECANCELED, test_sync_file_wait(_metadata, fence));
	EXPECT_EQ(SIZE, test_filled(theirs.map + SIZE, SIZE, 5));
	munmap(theirs.map, theirs.size);
	close(fence);
	close(their_fence);
	close(stranger);
}

/* Elsewhere it would be handed over when the one before has ended, not put into the ring behind */
TEST_F(hang, submission_that_waits_for_the_last_of_a_queue_follows_there)
{
	struct drm_tessera_submit_result next;
	struct drm_tessera_submit submit;
	int fence, next_fence;

	TEST_DEVICE_OR_SKIP;
	if (self->info.num_queues < 2)
		SKIP(return, "one queue");
	self->submit.queue = DRM_TESSERA_QUEUE_ANY;
	submit = self->submit;
	hang(_metadata, self->fd, 1);
	fence = test_submit_fence(_metadata, self->fd, &self->submit);
	next_fence = test_submit_fence(_metadata, self->fd, &submit);
	EXPECT_EQ(-ECANCELED, test_sync_file_wait(_metadata, fence));
	EXPECT_EQ(1, test_sync_file_wait(_metadata, next_fence));
	ASSERT_EQ(0, test_query_result(self->fd, self->submit.id, &self->result, NULL, 0));
	ASSERT_EQ(0, test_query_result(self->fd, submit.id, &next, NULL, 0));
	EXPECT_LT(next.start_ns, self->result.end_ns);
	close(fence);
	close(next_fence);
}

TEST_F(hang, jobs_before_the_hang_in_its_submission_are_done)
{
	struct test_buffer first = test_buffer_create(_metadata, self->fd, SIZE);
	struct drm_tessera_job_result results[3];
	struct drm_tessera_job jobs[3];
	struct test_job before;

	TEST_DEVICE_OR_SKIP;
	test_job_copy(&before, first.handle, self->source.handle, SIZE / 4);
	jobs[0] = before.job;
	jobs[1] = self->job.job;
	jobs[2] = self->job.job;
	self->submit.jobs = TEST_ARRAY(jobs, 3);
	hang(_metadata, self->fd, 2);
	ASSERT_EQ(-ECANCELED, test_run(_metadata, self->fd, &self->submit));
	ASSERT_EQ(0, test_query_result(self->fd, self->submit.id, &self->result, results, 3));
	EXPECT_EQ(DRM_TESSERA_CAUSE_NONE, results[0].cause);
	EXPECT_EQ(DRM_TESSERA_CAUSE_TIMEOUT, results[1].cause);
	EXPECT_EQ(DRM_TESSERA_CAUSE_CANCELED, results[2].cause);
	EXPECT_EQ(1, self->result.first_failed);
	EXPECT_EQ(2, self->result.num_failed);
	EXPECT_EQ(SIZE, test_filled(first.map, SIZE, 1));
	munmap(first.map, SIZE);
}

TEST_F(hang, every_queue_recovers)
{
	__u32 queue;

	TEST_DEVICE_OR_SKIP;
	for (queue = 0; queue < self->info.num_queues; queue++) {
		self->submit.queue = queue;
		hang(_metadata, self->fd, 1);
		ASSERT_EQ(-ECANCELED, test_run(_metadata, self->fd, &self->submit));
		ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	}
}

/* Sets the timeout of queue 0 to the least there is */
static void be_impatient(struct __test_metadata *_metadata, int fd)
{
	char bus[NAME_MAX], path[PATH_MAX];

	test_bus_name(_metadata, fd, bus);
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/job_timeout_ms/pe0", bus);
	ASSERT_EQ(0, test_write_file(path, "100"));
}

TEST_F(hang, file_that_hangs_again_and_again_is_refused)
{
	int k;

	TEST_DEVICE_OR_SKIP;
	be_impatient(_metadata, self->fd);
	for (k = 0; k < DRM_TESSERA_MAX_HANGS; k++) {
		hang(_metadata, self->fd, 1);
		ASSERT_EQ(-ECANCELED, test_run(_metadata, self->fd, &self->submit));
	}
	EXPECT_EQ(-ECANCELED, test_submit(self->fd, &self->submit));
}

TEST_F(hang, file_of_another_is_not_refused)
{
	int stranger = test_open(_metadata);
	struct test_buffer theirs = test_buffer_create(_metadata, stranger, SIZE);
	struct test_job job;
	int k;

	TEST_DEVICE_OR_SKIP;
	be_impatient(_metadata, self->fd);
	for (k = 0; k < DRM_TESSERA_MAX_HANGS; k++) {
		hang(_metadata, self->fd, 1);
		ASSERT_EQ(-ECANCELED, test_run(_metadata, self->fd, &self->submit));
	}
	test_job_increment(&job, theirs.handle);
	EXPECT_EQ(1, test_run_job(_metadata, stranger, &job));
	munmap(theirs.map, theirs.size);
	close(stranger);
}

/* What such a file had submitted before: told apart by the device, which would have hung at it */
TEST_F(hang, what_a_refused_file_has_waiting_does_not_run)
{
	struct drm_tessera_submit other = self->submit;
	struct test_gate gate;
	struct test_job job;
	int fence, k;

	TEST_DEVICE_OR_SKIP;
	TEST_GATE_OR_SKIP(self->fd, &gate);
	be_impatient(_metadata, self->fd);
	memset(self->destination.map, 7, SIZE);
	job = self->job;
	job.job.operands = TEST_ARRAY(job.operands, 2);
	/* A queue waits for what comes first in it: the others are given to another */
	other.queue = 1 % self->info.num_queues;
	if (other.queue == 0)
		SKIP(return, "the device has one queue");
	other.in_syncs = TEST_ARRAY(&((struct drm_tessera_sync){ .handle = gate.syncobj }), 1);
	fence = test_submit_fence(_metadata, self->fd, &other);
	for (k = 0; k < DRM_TESSERA_MAX_HANGS; k++) {
		struct test_buffer own = test_buffer_create(_metadata, self->fd, SIZE);

		test_job_increment(&job, own.handle);
		self->submit = test_submission(&job.job, 1);
		self->submit.queue = 0;
		hang(_metadata, self->fd, 1);
		ASSERT_EQ(-ECANCELED, test_run(_metadata, self->fd, &self->submit));
		munmap(own.map, own.size);
	}
	ASSERT_EQ(0, test_gate_signal(&gate));
	EXPECT_EQ(-ECANCELED, test_sync_file_wait(_metadata, fence));
	EXPECT_EQ(SIZE, test_constant(self->destination.map, SIZE, 7));
	close(fence);
}

TEST_F(hang, fault_is_no_hang_and_does_not_count)
{
	int k;

	TEST_DEVICE_OR_SKIP;
	for (k = 0; k <= DRM_TESSERA_MAX_HANGS; k++) {
		skew(_metadata, self->fd, SIZE);
		ASSERT_EQ(-EIO, test_run(_metadata, self->fd, &self->submit));
	}
	EXPECT_EQ(1, test_run(_metadata, self->fd, &self->submit));
}

/*
 * A job that goes on for ever, and makes progress all the time: 2^60 elements, each stored to where
 * an index of 0 says
 */
FIXTURE(endless_job) {
	int fd;
	struct test_buffer destination;
	struct test_buffer source;
	struct test_job job;
	struct drm_tessera_submit submit;
	struct drm_tessera_submit_result result;
	struct drm_tessera_job_result job_result;
};

FIXTURE_SETUP(endless_job)
{
	struct drm_tessera_operand *destination = &self->job.operands[0];

	test_module_reload(_metadata, "job_limit_ms=300");
	self->fd = test_open(_metadata);
	self->destination = test_buffer_create(_metadata, self->fd, SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	test_job_init(&self->job, 1, 2);
	self->job.job.extents[0] = 1ULL << 60;
	destination->handle = self->destination.handle;
	destination->dtype = DRM_TESSERA_DTYPE_U8;
	destination->flags = DRM_TESSERA_OPERAND_INDIRECT;
	destination->index_handle = self->source.handle;
	destination->index_dtype = DRM_TESSERA_DTYPE_U8;
	self->job.operands[1].handle = self->source.handle;
	self->job.operands[1].dtype = DRM_TESSERA_DTYPE_U8;
	self->submit = test_submission(&self->job.job, 1);
	self->submit.queue = 0;
}

FIXTURE_TEARDOWN(endless_job)
{
	munmap(self->destination.map, SIZE);
	munmap(self->source.map, SIZE);
	close(self->fd);
	test_module_reload(_metadata, "");
}

TEST_F(endless_job, job_that_never_ends_is_stopped_at_its_limit)
{
	ASSERT_EQ(-ECANCELED, test_run(_metadata, self->fd, &self->submit));
	ASSERT_EQ(0, test_query_result(self->fd, self->submit.id, &self->result,
				       &self->job_result, 1));
	EXPECT_EQ(DRM_TESSERA_CAUSE_TIMEOUT, self->job_result.cause);
}

TEST_F(endless_job, next_job_after_an_endless_one_runs)
{
	struct test_job job;

	ASSERT_EQ(-ECANCELED, test_run(_metadata, self->fd, &self->submit));
	test_job_increment(&job, self->destination.handle);
	EXPECT_EQ(1, test_run_job(_metadata, self->fd, &job));
	EXPECT_EQ(1, self->destination.map[0]);
}

TEST_F(endless_job, endless_job_is_stopped_when_a_limit_is_set_as_it_runs)
{
	static const char parameter[] = "/sys/module/tessera/parameters/job_limit_ms";
	int fence;

	ASSERT_EQ(0, test_write_file(parameter, "0"));
	be_impatient(_metadata, self->fd);
	fence = test_submit_fence(_metadata, self->fd, &self->submit);
	EXPECT_EQ(0, test_sync_file_status(_metadata, fence));
	ASSERT_EQ(0, test_write_file(parameter, "300"));
	EXPECT_EQ(-ECANCELED, test_sync_file_wait(_metadata, fence));
	close(fence);
}

/*
 * Jobs that take longer than the driver has patience for those that hang: 64 Mi elements one by
 * one, by an index each and a program of 16 instructions
 */
FIXTURE(long_job) {
	int fd;
	struct drm_tessera_dev_info info;
	struct test_buffer source;
	struct test_job job;
};

#define LONG_SIZE	(64ULL << 20)

FIXTURE_SETUP(long_job)
{
	struct test_job *job = &self->job;
	int k;

	test_module_reload(_metadata, SOON);
	self->fd = test_open(_metadata);
	self->info = test_info(_metadata, self->fd);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	test_job_init(job, 2, 2);
	job->job.extents[0] = LONG_SIZE / SIZE;
	job->job.extents[1] = SIZE;
	job->operands[0].dtype = DRM_TESSERA_DTYPE_U8;
	job->operands[0].address.strides[0] = SIZE;
	job->operands[0].address.strides[1] = 1;
	job->operands[1].handle = self->source.handle;
	job->operands[1].dtype = DRM_TESSERA_DTYPE_U8;
	job->operands[1].flags = DRM_TESSERA_OPERAND_INDIRECT;
	job->operands[1].index_handle = self->source.handle;
	job->operands[1].index_dtype = DRM_TESSERA_DTYPE_U8;
	job->operands[1].index_address.strides[1] = 1;
	job->operands[1].index_stride = 1;
	job->job.program.count = DRM_TESSERA_MAX_INSTRUCTIONS;
	for (k = 0; k < DRM_TESSERA_MAX_INSTRUCTIONS; k++) {
		job->program[k].opcode = DRM_TESSERA_OP_MUL;
		job->program[k].dtype = DRM_TESSERA_DTYPE_U8;
		job->program[k].flags = DRM_TESSERA_INSTRUCTION_SATURATE;
	}
}

FIXTURE_TEARDOWN(long_job)
{
	munmap(self->source.map, SIZE);
	close(self->fd);
	test_module_reload(_metadata, "");
}

static int submit_long_job(struct __test_metadata *_metadata, FIXTURE_DATA(long_job) *self,
			   __u32 queue)
{
	struct drm_tessera_submit submit = test_submission(&self->job.job, 1);
	struct drm_tessera_bo_create create = { .size = LONG_SIZE };

	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_CREATE, &create));
	self->job.operands[0].handle = create.handle;
	submit.queue = queue;
	return test_submit_fence(_metadata, self->fd, &submit);
}

TEST_F(long_job, job_that_advances_is_let_alone)
{
	int fence = submit_long_job(_metadata, self, 0);

	EXPECT_EQ(1, test_sync_file_wait(_metadata, fence));
	close(fence);
}

/* There may be fewer engines than queues: a job that has not begun is not at fault */
TEST_F(long_job, jobs_that_wait_for_others_on_all_queues_are_let_alone)
{
	int fences[4], k;

	for (k = 0; k < 4; k++)
		fences[k] = submit_long_job(_metadata, self, k % self->info.num_queues);
	for (k = 0; k < 4; k++) {
		EXPECT_EQ(1, test_sync_file_wait(_metadata, fences[k]));
		close(fences[k]);
	}
}

/*
 * The same where nothing ends the hang: what else goes on meanwhile can be seen without a clock
 */

FIXTURE(endless_hang) {
	int fd;
	bool has_test;
	struct drm_tessera_dev_info info;
	struct test_buffer destination;
	struct test_buffer source;
	struct test_job job;
	struct drm_tessera_submit submit;
	char bus[NAME_MAX];
	int fence;
};

FIXTURE_SETUP(endless_hang)
{
	test_module_reload(_metadata, NEVER);
	self->fd = test_open(_metadata);
	self->info = test_info(_metadata, self->fd);
	test_bus_name(_metadata, self->fd, self->bus);
	self->destination = test_buffer_create(_metadata, self->fd, SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	test_fill(self->source.map, SIZE, 1);
	test_job_copy(&self->job, self->destination.handle, self->source.handle, SIZE / 4);
	self->submit = test_submission(&self->job.job, 1);
	self->submit.queue = 0;
	self->has_test = test_write_debugfs(_metadata, self->fd, "test_hang", 1) != -ENOENT;
	if (!self->has_test)
		return;
	self->fence = test_submit_fence(_metadata, self->fd, &self->submit);
	wait_for_hang(_metadata, self->fd);
}

/* Taking the device from the driver is what ends the hang */
FIXTURE_TEARDOWN(endless_hang)
{
	munmap(self->destination.map, SIZE);
	munmap(self->source.map, SIZE);
	ASSERT_EQ(0, test_driver_write("unbind", self->bus));
	close(self->fd);
	if (self->has_test)
		close(self->fence);
	test_module_reload(_metadata, "");
}

TEST_F(endless_hang, other_processes_go_on_on_the_other_queues)
{
	pid_t child;

	TEST_DEVICE_OR_SKIP;
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		int fd = test_open(_metadata);
		struct test_buffer buffer = test_buffer_create(_metadata, fd, 2 * SIZE);
		struct drm_tessera_submit submit;
		struct test_job job;
		__u32 queue;

		test_job_copy(&job, buffer.handle, buffer.handle, SIZE / 4);
		job.operands[0].address.offset = SIZE;
		submit = test_submission(&job.job, 1);
		for (queue = 1; queue < self->info.num_queues; queue++) {
			test_fill(buffer.map, SIZE, queue);
			submit.queue = queue;
			ASSERT_EQ(1, test_run(_metadata, fd, &submit));
			ASSERT_EQ(SIZE, test_filled(buffer.map + SIZE, SIZE, queue));
		}
		_exit(0);
	}
	test_join(_metadata, child);
	EXPECT_EQ(0, test_sync_file_status(_metadata, self->fence));
}

TEST_F(endless_hang, hanging_submission_is_pending)
{
	struct drm_tessera_submit_result result;

	TEST_DEVICE_OR_SKIP;
	ASSERT_EQ(0, test_query_result(self->fd, self->submit.id, &result, NULL, 0));
	EXPECT_EQ(DRM_TESSERA_SUBMIT_PENDING, result.state);
	EXPECT_EQ(-ETIME, test_buffer_wait(self->fd, self->destination.handle, 0, 0));
}

TEST_F(endless_hang, unbinding_the_driver_ends_it_with_enodev)
{
	TEST_DEVICE_OR_SKIP;
	ASSERT_EQ(0, test_driver_write("unbind", self->bus));
	EXPECT_EQ(-ENODEV, test_sync_file_wait(_metadata, self->fence));
	ASSERT_EQ(0, test_driver_write("bind", self->bus));
}

/* What had begun is canceled, what waited behind it runs */
TEST_F(endless_hang, function_level_reset_ends_it_with_ecanceled)
{
	struct test_buffer other;
	struct drm_tessera_submit submit;
	struct test_job job;
	char path[PATH_MAX];
	int fence;

	TEST_DEVICE_OR_SKIP;
	other = test_buffer_create(_metadata, self->fd, SIZE);
	test_job_copy(&job, other.handle, self->source.handle, SIZE / 4);
	submit = test_submission(&job.job, 1);
	submit.queue = 0;
	fence = test_submit_fence(_metadata, self->fd, &submit);
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/reset", self->bus);
	ASSERT_EQ(0, test_write_file(path, "1"));
	EXPECT_EQ(-ECANCELED, test_sync_file_wait(_metadata, self->fence));
	EXPECT_EQ(1, test_sync_file_wait(_metadata, fence));
	EXPECT_EQ(SIZE, test_filled(other.map, SIZE, 1));
	close(fence);
	munmap(other.map, SIZE);
}

TEST_F(endless_hang, device_works_after_a_hang_and_another_binding)
{
	struct drm_tessera_submit submit;
	struct test_buffer buffer;
	struct test_job job;
	int fd;

	TEST_DEVICE_OR_SKIP;
	ASSERT_EQ(0, test_driver_write("unbind", self->bus));
	ASSERT_EQ(0, test_driver_write("bind", self->bus));
	fd = test_open(_metadata);
	buffer = test_buffer_create(_metadata, fd, 2 * SIZE);
	test_fill(buffer.map, SIZE, 9);
	test_job_copy(&job, buffer.handle, buffer.handle, SIZE / 4);
	job.operands[0].address.offset = SIZE;
	submit = test_submission(&job.job, 1);
	submit.queue = 0;
	ASSERT_EQ(1, test_run(_metadata, fd, &submit));
	EXPECT_EQ(SIZE, test_filled(buffer.map + SIZE, SIZE, 9));
	munmap(buffer.map, buffer.size);
	close(fd);
}

TEST_F(endless_hang, process_that_is_killed_leaves_the_others_alone)
{
	struct drm_tessera_submit submit;
	struct test_buffer buffer;
	struct test_job job;
	int fd, status;
	pid_t child;

	TEST_DEVICE_OR_SKIP;
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		struct drm_tessera_submit theirs;
		struct test_buffer memory;
		struct test_job hanging;
		int own = test_open(_metadata);

		memory = test_buffer_create(_metadata, own, 2 * SIZE);
		test_job_copy(&hanging, memory.handle, memory.handle, SIZE / 4);
		hanging.operands[0].address.offset = SIZE;
		theirs = test_submission(&hanging.job, 1);
		theirs.queue = 1;
		hang(_metadata, own, 1);
		ASSERT_EQ(0, test_submit(own, &theirs));
		wait_for_hang(_metadata, own);
		raise(SIGKILL);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_TRUE(WIFSIGNALED(status));
	fd = test_open(_metadata);
	buffer = test_buffer_create(_metadata, fd, 2 * SIZE);
	test_fill(buffer.map, SIZE, 8);
	test_job_copy(&job, buffer.handle, buffer.handle, SIZE / 4);
	job.operands[0].address.offset = SIZE;
	submit = test_submission(&job.job, 1);
	submit.queue = self->info.num_queues - 1;
	ASSERT_EQ(1, test_run(_metadata, fd, &submit));
	EXPECT_EQ(SIZE, test_filled(buffer.map + SIZE, SIZE, 8));
	munmap(buffer.map, buffer.size);
	close(fd);
}

TEST_HARNESS_MAIN
