// SPDX-License-Identifier: MIT
/*
 * Prepared submissions on the driver: what tests/unit/test_submission.c shows of them on the CPU,
 * and what only a device that works on its own can show: one that is still under way.
 */
#include "tessera_test.h"

#include <accel.h>

#include "device/submission.h"

#define SIZE	TEST_PAGE_SIZE
#define COUNT	(SIZE / 4)

/* What is behind the allocator's functions, which these stand before to count. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static unsigned long num_allocations;

void *malloc(size_t size)
{
	num_allocations++;
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	num_allocations++;
	return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	num_allocations++;
	return __libc_realloc(memory, size);
}

/* A job that gathers: dst[i] = src[index[i]] */
FIXTURE(submission) {
	struct accel_device *device;
	struct accel_buffer *dst, *src, *index;
	__u32 *dst_map, *src_map, *index_map;
	struct accel_job *job;
	struct accel_submission *submission;
	struct accel_error error;
};

/* A call that has to work for the test to make sense */
#define ASSERT_DONE(call)								\
	ASSERT_EQ(0, (call)) TH_LOG("%s: %s", #call, self->error.message)

static __u32 *create_buffer(struct __test_metadata *_metadata, FIXTURE_DATA(submission) *self,
			    struct accel_buffer **buffer)
{
	void *map;

	ASSERT_DONE(accel_buffer_create(self->device, SIZE, buffer, &self->error));
	ASSERT_DONE(accel_buffer_map(*buffer, &map, &self->error));
	return map;
}

FIXTURE_SETUP(submission)
{
	struct accel_operand destination = { .dtype = ACCEL_DTYPE_U32, .address.strides = { 4 } };
	struct accel_operand source = {
		.dtype = ACCEL_DTYPE_U32,
		.index_dtype = ACCEL_DTYPE_U32,
		.index_address.strides = { 4 },
		.index_stride = 4,
		.index_limit = COUNT,
	};
	uint64_t extent = COUNT;
	__u32 i;

	ASSERT_DONE(accel_open(NULL, &self->device, &self->error));
	self->dst_map = create_buffer(_metadata, self, &self->dst);
	self->src_map = create_buffer(_metadata, self, &self->src);
	self->index_map = create_buffer(_metadata, self, &self->index);
	for (i = 0; i < COUNT; i++) {
		self->src_map[i] = i;
		self->index_map[i] = COUNT - 1 - i;
	}
	destination.buffer = self->dst;
	source.buffer = self->src;
	source.index_buffer = self->index;
	ASSERT_DONE(accel_job_create(1, &extent, &self->job, &self->error));
	ASSERT_DONE(accel_job_set_destination(self->job, &destination, &self->error));
	ASSERT_DONE(accel_job_add_source(self->job, &source, &self->error));
	ASSERT_DONE(submission_create(self->device, &self->job, 1, &self->submission,
				       &self->error));
}

FIXTURE_TEARDOWN(submission)
{
	submission_destroy(self->submission);
	accel_job_unref(self->job);
	accel_buffer_unref(self->dst);
	accel_buffer_unref(self->src);
	accel_buffer_unref(self->index);
	accel_device_unref(self->device);
}

/* A fence that is pending until the gate is signalled */
static struct accel_fence *import_gate(struct __test_metadata *_metadata,
				       FIXTURE_DATA(submission) *self, struct test_gate *gate)
{
	struct dma_buf_export_sync_file export = { .flags = DMA_BUF_SYNC_RW };
	struct accel_fence *fence;

	ASSERT_EQ(0, test_ioctl(gate->dma_buf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &export));
	ASSERT_DONE(accel_fence_import(export.fd, &fence, &self->error));
	close(export.fd);
	return fence;
}

TEST_F(submission, each_submit_runs_the_jobs_again)
{
	__u32 run;

	for (run = 0; run < 3; run++) {
		self->src_map[COUNT - 1] = 1000 + run;
		ASSERT_DONE(submission_submit(self->submission, NULL, 0, &self->error));
		ASSERT_DONE(submission_wait(self->submission, -1, &self->error));
		EXPECT_EQ(1000 + run, self->dst_map[0]);
	}
}

TEST_F(submission, submit_and_wait_allocate_nothing)
{
	unsigned long before = num_allocations;
	int submitted, waited;

	EXPECT_NE(0, before);
	submitted = submission_submit(self->submission, NULL, 0, &self->error);
	waited = submission_wait(self->submission, -1, &self->error);
	EXPECT_EQ(before, num_allocations);
	EXPECT_EQ(0, submitted);
	EXPECT_EQ(0, waited);
}

TEST_F(submission, submit_behind_fences_allocates_nothing)
{
	struct accel_fence *own, *foreign;
	unsigned long before;
	struct test_gate gate;
	int fd = test_open(_metadata);
	int ret;

	TEST_GATE_OR_SKIP(fd, &gate);
	foreign = import_gate(_metadata, self, &gate);
	test_gate_signal(&gate);
	ASSERT_DONE(submission_submit(self->submission, NULL, 0, &self->error));
	ASSERT_DONE(submission_fence(self->submission, &own, &self->error));
	ASSERT_DONE(submission_wait(self->submission, -1, &self->error));
	before = num_allocations;
	ret = submission_submit(self->submission, (struct accel_fence *[]){ own, foreign }, 2,
				&self->error);
	EXPECT_EQ(before, num_allocations);
	EXPECT_EQ(0, ret);
	EXPECT_EQ(0, submission_wait(self->submission, -1, &self->error));
	accel_fence_unref(own);
	accel_fence_unref(foreign);
}

TEST_F(submission, submit_while_the_last_is_under_way_is_refused)
{
	struct accel_fence *fence;
	struct test_gate gate;
	int fd = test_open(_metadata);

	TEST_GATE_OR_SKIP(fd, &gate);
	fence = import_gate(_metadata, self, &gate);
	ASSERT_DONE(submission_submit(self->submission, &fence, 1, &self->error));
	EXPECT_EQ(-EBUSY, submission_submit(self->submission, NULL, 0, &self->error));
	EXPECT_STREQ("submit: what was submitted last is not complete", self->error.message);
	EXPECT_EQ(-ETIME, submission_wait(self->submission, 0, &self->error));
	test_gate_signal(&gate);
	EXPECT_EQ(0, submission_wait(self->submission, -1, &self->error));
	EXPECT_EQ(0, submission_submit(self->submission, NULL, 0, &self->error));
	accel_fence_unref(fence);
}

TEST_F(submission, submit_finds_out_by_itself_that_the_last_is_complete)
{
	struct accel_fence *fence;

	ASSERT_DONE(submission_submit(self->submission, NULL, 0, &self->error));
	ASSERT_DONE(submission_fence(self->submission, &fence, &self->error));
	ASSERT_DONE(accel_fence_wait(fence, -1, &self->error));
	EXPECT_EQ(0, submission_submit(self->submission, NULL, 0, &self->error));
	accel_fence_unref(fence);
}

TEST_F(submission, fence_outlives_the_submission_and_keeps_its_result)
{
	struct accel_fence *failed, *succeeded;

	self->index_map[7] = COUNT;
	ASSERT_DONE(submission_submit(self->submission, NULL, 0, &self->error));
	ASSERT_DONE(submission_fence(self->submission, &failed, &self->error));
	EXPECT_EQ(-EIO, submission_wait(self->submission, -1, &self->error));
	self->index_map[7] = 0;
	ASSERT_DONE(submission_submit(self->submission, NULL, 0, &self->error));
	ASSERT_DONE(submission_fence(self->submission, &succeeded, &self->error));
	submission_destroy(self->submission);
	self->submission = NULL;
	EXPECT_EQ(-EIO, accel_fence_wait(failed, -1, &self->error));
	EXPECT_EQ(0, accel_fence_wait(succeeded, -1, &self->error));
	accel_fence_unref(failed);
	accel_fence_unref(succeeded);
}

TEST_F(submission, destroyed_while_under_way_it_runs_all_the_same)
{
	struct accel_fence *gate_fence, *fence;
	struct test_gate gate;
	int fd = test_open(_metadata);

	TEST_GATE_OR_SKIP(fd, &gate);
	gate_fence = import_gate(_metadata, self, &gate);
	ASSERT_DONE(submission_submit(self->submission, &gate_fence, 1, &self->error));
	ASSERT_DONE(submission_fence(self->submission, &fence, &self->error));
	submission_destroy(self->submission);
	self->submission = NULL;
	test_gate_signal(&gate);
	EXPECT_EQ(0, accel_fence_wait(fence, -1, &self->error));
	EXPECT_EQ(COUNT - 1, self->dst_map[0]);
	accel_fence_unref(fence);
	accel_fence_unref(gate_fence);
}

TEST_F(submission, bad_job_is_refused_when_it_is_prepared)
{
	struct accel_operand destination = {
		.buffer = self->dst,
		.dtype = ACCEL_DTYPE_U32,
		.address.offset = SIZE,
	};
	struct accel_submission *submission;

	ASSERT_DONE(accel_job_set_destination(self->job, &destination, &self->error));
	EXPECT_EQ(-ERANGE, submission_create(self->device, &self->job, 1, &submission,
					      &self->error));
	EXPECT_EQ(NULL, submission);
}

TEST_HARNESS_MAIN
