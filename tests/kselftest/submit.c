// SPDX-License-Identifier: MIT
/*
 * SUBMIT: its own arguments, the array of jobs, queues, order, and that what is asked for is done.
 * The rules of a single job are in job.c, syncobjs in sync.c, results in results.c.
 */
#include "tessera_test.h"

#include <pthread.h>

#define SIZE	TEST_PAGE_SIZE

FIXTURE(submit) {
	int fd;
	struct drm_tessera_dev_info info;
	struct test_buffer destination;
	struct test_buffer source;
	struct test_job job;
	struct drm_tessera_submit submit;
};

/* The base case is submitted, and each test then changes one thing of it */
FIXTURE_SETUP(submit)
{
	self->fd = test_open(_metadata);
	self->info = test_info(_metadata, self->fd);
	self->destination = test_buffer_create(_metadata, self->fd, SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	test_fill(self->source.map, SIZE, 1);
	test_job_copy(&self->job, self->destination.handle, self->source.handle, SIZE / 4);
	self->submit = test_submission(&self->job.job, 1);
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	ASSERT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
	memset(self->destination.map, 0, SIZE);
}

FIXTURE_TEARDOWN(submit)
{
	close(self->fd);
}

/* Arguments */

TEST_F(submit, unknown_flag_is_refused)
{
	self->submit.flags = DRM_TESSERA_SUBMIT_COUNTERS << 1;
	EXPECT_EQ(-EINVAL, test_submit(self->fd, &self->submit));
}

TEST_F(submit, argument_from_nowhere_faults)
{
	EXPECT_EQ(-EFAULT, test_ioctl(self->fd, DRM_IOCTL_TESSERA_SUBMIT,
				      (void *)TEST_BAD_POINTER));
}

TEST_F(submit, every_queue_runs_jobs)
{
	__u32 queue;

	for (queue = 0; queue < self->info.num_queues; queue++) {
		memset(self->destination.map, 0, SIZE);
		self->submit.queue = queue;
		ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
		ASSERT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
	}
}

TEST_F(submit, queue_beyond_the_last_is_refused)
{
	self->submit.queue = self->info.num_queues;
	EXPECT_EQ(-EINVAL, test_submit(self->fd, &self->submit));
}

TEST_F(submit, queue_just_below_any_is_refused)
{
	self->submit.queue = DRM_TESSERA_QUEUE_ANY - 1;
	EXPECT_EQ(-EINVAL, test_submit(self->fd, &self->submit));
}

TEST_F(submit, submission_without_jobs_is_refused)
{
	self->submit.jobs.count = 0;
	EXPECT_EQ(-EINVAL, test_submit(self->fd, &self->submit));
}

TEST_F(submit, jobs_from_nowhere_fault)
{
	self->submit.jobs.pointer = TEST_BAD_POINTER;
	EXPECT_EQ(-EFAULT, test_submit(self->fd, &self->submit));
}

TEST_F(submit, jobs_that_run_into_a_hole_fault)
{
	__u8 *pages = mmap(NULL, 2 * TEST_PAGE_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct drm_tessera_job *last;

	ASSERT_NE(MAP_FAILED, pages);
	ASSERT_EQ(0, munmap(pages + TEST_PAGE_SIZE, TEST_PAGE_SIZE));
	last = (struct drm_tessera_job *)(pages + TEST_PAGE_SIZE) - 1;
	*last = self->job.job;
	self->submit.jobs = TEST_ARRAY(last, 2);
	EXPECT_EQ(-EFAULT, test_submit(self->fd, &self->submit));
	self->submit.jobs.count = 1;
	EXPECT_EQ(0, test_submit(self->fd, &self->submit));
}

TEST_F(submit, largest_count_of_jobs_is_refused)
{
	self->submit.jobs.count = ~0U;
	EXPECT_EQ(-EINVAL, test_submit(self->fd, &self->submit));
}

TEST_F(submit, thousand_and_24_jobs_run)
{
	struct test_buffer large = test_buffer_create(_metadata, self->fd,
						      DRM_TESSERA_MAX_JOBS * 4);
	static struct test_job tests[DRM_TESSERA_MAX_JOBS];
	static struct drm_tessera_job jobs[DRM_TESSERA_MAX_JOBS];
	__u32 k;

	for (k = 0; k < DRM_TESSERA_MAX_JOBS; k++) {
		test_job_copy(&tests[k], large.handle, self->source.handle, 1);
		tests[k].operands[0].address.offset = k * 4;
		tests[k].operands[1].address.offset = k * 4;
		jobs[k] = tests[k].job;
	}
	self->submit.jobs = TEST_ARRAY(jobs, DRM_TESSERA_MAX_JOBS);
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(SIZE, test_filled(large.map, SIZE, 1));
}

TEST_F(submit, thousand_and_25_jobs_are_refused)
{
	static struct drm_tessera_job jobs[DRM_TESSERA_MAX_JOBS + 1];
	__u32 k;

	for (k = 0; k <= DRM_TESSERA_MAX_JOBS; k++)
		jobs[k] = self->job.job;
	self->submit.jobs = TEST_ARRAY(jobs, DRM_TESSERA_MAX_JOBS + 1);
	EXPECT_EQ(-EINVAL, test_submit(self->fd, &self->submit));
}

/* The stride of jobs */

TEST_F(submit, narrower_job_reads_as_zero)
{
	self->submit.jobs.stride = offsetof(struct drm_tessera_job, windows);
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
}

TEST_F(submit, narrower_job_is_not_read_behind_its_stride)
{
	self->submit.jobs.stride = offsetof(struct drm_tessera_job, windows);
	self->job.job.windows.count = ~0U;
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	self->submit.jobs.stride = sizeof(struct drm_tessera_job);
	EXPECT_EQ(-EINVAL, test_submit(self->fd, &self->submit));
}

struct wide_job {
	struct drm_tessera_job job;
	__u64 more[2];
};

TEST_F(submit, wider_jobs_are_taken_when_zero)
{
	struct wide_job jobs[2] = { { .job = self->job.job }, { .job = self->job.job } };

	self->submit.jobs = TEST_ARRAY(jobs, 2);
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
}

TEST_F(submit, wider_jobs_are_refused_when_not_zero)
{
	struct wide_job jobs[2] = { { .job = self->job.job }, { .job = self->job.job } };

	jobs[1].more[1] = 1;
	self->submit.jobs = TEST_ARRAY(jobs, 2);
	EXPECT_EQ(-EINVAL, test_submit(self->fd, &self->submit));
}

TEST_F(submit, stride_that_is_no_multiple_of_8_is_refused)
{
	self->submit.jobs.stride = sizeof(struct drm_tessera_job) + 4;
	EXPECT_EQ(-EINVAL, test_submit(self->fd, &self->submit));
}

TEST_F(submit, stride_0_is_refused)
{
	self->submit.jobs.stride = 0;
	EXPECT_EQ(-EINVAL, test_submit(self->fd, &self->submit));
}

TEST_F(submit, largest_stride_is_taken)
{
	static __u8 jobs[2 * DRM_TESSERA_MAX_STRIDE];

	memcpy(jobs, &self->job.job, sizeof(self->job.job));
	memcpy(jobs + DRM_TESSERA_MAX_STRIDE, &self->job.job, sizeof(self->job.job));
	self->submit.jobs = test_array(jobs, DRM_TESSERA_MAX_STRIDE, 2);
	EXPECT_EQ(1, test_run(_metadata, self->fd, &self->submit));
}

TEST_F(submit, stride_over_the_largest_is_refused)
{
	static __u8 jobs[2 * DRM_TESSERA_MAX_STRIDE];

	memcpy(jobs, &self->job.job, sizeof(self->job.job));
	self->submit.jobs = test_array(jobs, DRM_TESSERA_MAX_STRIDE + 8, 1);
	EXPECT_EQ(-EINVAL, test_submit(self->fd, &self->submit));
}

/* All or nothing */

TEST_F(submit, one_bad_job_keeps_the_others_from_running)
{
	struct test_job bad;
	struct drm_tessera_job jobs[3];

	test_job_copy(&bad, self->destination.handle, self->source.handle, SIZE / 4 + 1);
	jobs[0] = self->job.job;
	jobs[1] = self->job.job;
	jobs[2] = bad.job;
	self->submit.jobs = TEST_ARRAY(jobs, 3);
	ASSERT_EQ(-ERANGE, test_submit(self->fd, &self->submit));
	ASSERT_EQ(0, test_buffer_wait(self->fd, self->destination.handle, 0, INT64_MAX));
	EXPECT_EQ(SIZE, test_constant(self->destination.map, SIZE, 0));
}

TEST_F(submit, refused_submission_takes_no_number)
{
	__u64 id = self->submit.id;

	self->submit.queue = self->info.num_queues;
	ASSERT_EQ(-EINVAL, test_submit(self->fd, &self->submit));
	self->submit.queue = 0;
	ASSERT_EQ(0, test_submit(self->fd, &self->submit));
	EXPECT_EQ(id + 1, self->submit.id);
}

TEST_F(submit, numbers_of_a_file_begin_at_1)
{
	int fd = test_open(_metadata);
	struct test_buffer buffer = test_buffer_create(_metadata, fd, SIZE);
	struct drm_tessera_submit submit;
	struct test_job job;
	__u64 id;

	test_job_copy(&job, buffer.handle, buffer.handle, SIZE / 4);
	submit = test_submission(&job.job, 1);
	for (id = 1; id <= 3; id++) {
		ASSERT_EQ(0, test_submit(fd, &submit));
		EXPECT_EQ(id, submit.id);
	}
	close(fd);
}

/* Order */

TEST_F(submit, jobs_of_a_submission_see_what_those_before_stored)
{
	struct test_buffer stations[5];
	struct drm_tessera_job jobs[5];
	struct test_job tests[5];
	__u32 k;

	for (k = 0; k < 5; k++) {
		stations[k] = test_buffer_create(_metadata, self->fd, SIZE);
		test_job_copy(&tests[k], stations[k].handle,
			      k ? stations[k - 1].handle : self->source.handle, SIZE / 4);
		jobs[k] = tests[k].job;
	}
	self->submit.jobs = TEST_ARRAY(jobs, 5);
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(SIZE, test_filled(stations[4].map, SIZE, 1));
}

TEST_F(submit, later_jobs_overwrite_earlier_ones)
{
	struct test_buffer other = test_buffer_create(_metadata, self->fd, SIZE);
	struct drm_tessera_job jobs[64];
	struct test_job last;
	__u32 k;

	test_fill(other.map, SIZE, 2);
	test_job_copy(&last, self->destination.handle, other.handle, SIZE / 4);
	for (k = 0; k < 64; k++)
		jobs[k] = k % 2 ? last.job : self->job.job;
	self->submit.jobs = TEST_ARRAY(jobs, 64);
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 2));
}

/* Without any syncobj: who reads a buffer waits for who writes it, whatever the queues */
TEST_F(submit, submissions_on_different_queues_are_ordered_by_their_buffers)
{
	struct test_buffer stations[16];
	struct test_job job;
	__u32 k;

	for (k = 0; k < 16; k++) {
		struct drm_tessera_submit submit = test_submission(&job.job, 1);

		stations[k] = test_buffer_create(_metadata, self->fd, SIZE);
		test_job_copy(&job, stations[k].handle,
			      k ? stations[k - 1].handle : self->source.handle, SIZE / 4);
		submit.queue = k % self->info.num_queues;
		ASSERT_EQ(0, test_submit(self->fd, &submit));
	}
	ASSERT_EQ(0, test_buffer_wait(self->fd, stations[15].handle, 0, INT64_MAX));
	EXPECT_EQ(SIZE, test_filled(stations[15].map, SIZE, 1));
}

TEST_F(submit, writer_waits_for_readers_on_other_queues)
{
	struct test_buffer copies[32], other;
	struct test_job job;
	__u32 k;

	other = test_buffer_create(_metadata, self->fd, SIZE);
	test_fill(other.map, SIZE, 2);
	for (k = 0; k < 32; k++) {
		struct drm_tessera_submit submit = test_submission(&job.job, 1);

		copies[k] = test_buffer_create(_metadata, self->fd, SIZE);
		test_job_copy(&job, copies[k].handle, self->source.handle, SIZE / 4);
		submit.queue = k % self->info.num_queues;
		ASSERT_EQ(0, test_submit(self->fd, &submit));
	}
	test_job_copy(&job, self->source.handle, other.handle, SIZE / 4);
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &job));
	for (k = 0; k < 32; k++)
		EXPECT_EQ(SIZE, test_filled(copies[k].map, SIZE, 1));
	EXPECT_EQ(SIZE, test_filled(self->source.map, SIZE, 2));
}

TEST_F(submit, many_submissions_without_waiting_all_run)
{
	const __u32 *source = (const __u32 *)self->source.map;
	const __u32 *element = (const __u32 *)self->destination.map;
	struct test_job job;
	__u32 k;

	test_job_copy(&job, self->destination.handle, self->source.handle, 1);
	for (k = 0; k < SIZE / 4; k++) {
		job.operands[0].address.offset = k * 4;
		job.operands[1].address.offset = SIZE - 4 - k * 4;
		ASSERT_EQ(0, test_submit_job(self->fd, &job));
	}
	ASSERT_EQ(0, test_buffer_wait(self->fd, self->destination.handle, 0, INT64_MAX));
	for (k = 0; k < SIZE / 4; k++)
		ASSERT_EQ(source[SIZE / 4 - 1 - k], element[k]);
}

/* More jobs than a ring has entries, again and again */
TEST_F(submit, more_jobs_than_the_ring_holds_all_run)
{
	struct test_buffer counter = test_buffer_create(_metadata, self->fd, SIZE);
	static struct drm_tessera_job jobs[DRM_TESSERA_MAX_JOBS];
	struct test_job add;
	int k;

	test_job_increment(&add, counter.handle);
	for (k = 0; k < DRM_TESSERA_MAX_JOBS; k++)
		jobs[k] = add.job;
	self->submit.jobs = TEST_ARRAY(jobs, DRM_TESSERA_MAX_JOBS);
	self->submit.queue = 0;
	for (k = 0; k < 10; k++)
		ASSERT_EQ(0, test_submit(self->fd, &self->submit));
	ASSERT_EQ(0, test_buffer_wait(self->fd, counter.handle, 0, INT64_MAX));
	EXPECT_EQ(10 * DRM_TESSERA_MAX_JOBS, *(__u32 *)counter.map);
}

#define THREADS		4
#define SUBMISSIONS	100

struct thread {
	pthread_t thread;
	int fd;
	struct drm_tessera_submit submit;
	__u64 ids[SUBMISSIONS];
	int ret;
};

static void *submit_in_a_thread(void *argument)
{
	struct thread *thread = argument;
	int k;

	for (k = 0; k < SUBMISSIONS && !thread->ret; k++) {
		thread->ret = test_submit(thread->fd, &thread->submit);
		thread->ids[k] = thread->submit.id;
	}
	return NULL;
}

TEST_F(submit, threads_of_one_file_submit_at_once)
{
	struct test_buffer counter = test_buffer_create(_metadata, self->fd, SIZE);
	bool is_used[THREADS * SUBMISSIONS] = {};
	struct thread threads[THREADS] = {};
	struct test_job add;
	__u64 first = self->submit.id + 1;
	int t, k;

	test_job_increment(&add, counter.handle);
	for (t = 0; t < THREADS; t++) {
		threads[t].fd = self->fd;
		threads[t].submit = test_submission(&add.job, 1);
		threads[t].submit.queue = t % self->info.num_queues;
		ASSERT_EQ(0, pthread_create(&threads[t].thread, NULL, submit_in_a_thread,
					    &threads[t]));
	}
	for (t = 0; t < THREADS; t++) {
		ASSERT_EQ(0, pthread_join(threads[t].thread, NULL));
		ASSERT_EQ(0, threads[t].ret);
		for (k = 0; k < SUBMISSIONS; k++) {
			ASSERT_LT(threads[t].ids[k] - first, THREADS * SUBMISSIONS);
			ASSERT_FALSE(is_used[threads[t].ids[k] - first]);
			is_used[threads[t].ids[k] - first] = true;
		}
	}
	ASSERT_EQ(0, test_buffer_wait(self->fd, counter.handle, 0, INT64_MAX));
	EXPECT_EQ(THREADS * SUBMISSIONS, *(__u32 *)counter.map);
}

/* None of them finds in its jobs what another one has just put there */
TEST_F(submit, threads_of_one_file_submit_jobs_of_their_own)
{
	struct test_buffer counters[THREADS];
	struct drm_tessera_job jobs[THREADS][16];
	struct thread threads[THREADS] = {};
	struct test_job adds[THREADS];
	int t, k;

	for (t = 0; t < THREADS; t++) {
		counters[t] = test_buffer_create(_metadata, self->fd, SIZE);
		test_job_increment(&adds[t], counters[t].handle);
		for (k = 0; k < 16; k++)
			jobs[t][k] = adds[t].job;
		threads[t].fd = self->fd;
		threads[t].submit = test_submission(jobs[t], 16);
		ASSERT_EQ(0, pthread_create(&threads[t].thread, NULL, submit_in_a_thread,
					    &threads[t]));
	}
	for (t = 0; t < THREADS; t++) {
		ASSERT_EQ(0, pthread_join(threads[t].thread, NULL));
		ASSERT_EQ(0, threads[t].ret);
	}
	for (t = 0; t < THREADS; t++) {
		ASSERT_EQ(0, test_buffer_wait(self->fd, counters[t].handle, 0, INT64_MAX));
		EXPECT_EQ(16 * SUBMISSIONS, *(__u32 *)counters[t].map);
	}
}

/* What is asked for */

TEST_F(submit, nchw_becomes_nhwc)
{
	const __u32 n = 2, c = 3, h = 5, w = 7;
	__u32 i, j, k, l, *out = (__u32 *)self->destination.map, *in = (__u32 *)self->source.map;
	struct test_job *job = &self->job;

	test_job_init(job, 4, 2);
	job->job.extents[0] = n;
	job->job.extents[1] = h;
	job->job.extents[2] = w;
	job->job.extents[3] = c;
	job->operands[0].handle = self->destination.handle;
	job->operands[0].dtype = DRM_TESSERA_DTYPE_F32;
	job->operands[0].address.strides[0] = h * w * c * 4;
	job->operands[0].address.strides[1] = w * c * 4;
	job->operands[0].address.strides[2] = c * 4;
	job->operands[0].address.strides[3] = 4;
	job->operands[1].handle = self->source.handle;
	job->operands[1].dtype = DRM_TESSERA_DTYPE_F32;
	job->operands[1].address.strides[0] = c * h * w * 4;
	job->operands[1].address.strides[1] = w * 4;
	job->operands[1].address.strides[2] = 4;
	job->operands[1].address.strides[3] = h * w * 4;
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	for (i = 0; i < n; i++)
		for (j = 0; j < c; j++)
			for (k = 0; k < h; k++)
				for (l = 0; l < w; l++)
					ASSERT_EQ(in[((i * c + j) * h + k) * w + l],
						  out[((i * h + k) * w + l) * c + j]);
	EXPECT_EQ(SIZE - n * c * h * w * 4,
		  test_constant(&out[n * c * h * w], SIZE - n * c * h * w * 4, 0));
}

/* 2 x 2 kernels over the letters a to i in three rows */
TEST_F(submit, im2col_takes_each_neighbourhood)
{
	struct test_job *job = &self->job;

	memcpy(self->source.map, "abcdefghi", 9);
	test_job_init(job, 4, 2);
	job->job.extents[0] = job->job.extents[1] = 2;
	job->job.extents[2] = job->job.extents[3] = 2;
	job->operands[0].handle = self->destination.handle;
	job->operands[0].dtype = DRM_TESSERA_DTYPE_U8;
	job->operands[0].address.strides[0] = 8;
	job->operands[0].address.strides[1] = 4;
	job->operands[0].address.strides[2] = 2;
	job->operands[0].address.strides[3] = 1;
	job->operands[1].handle = self->source.handle;
	job->operands[1].dtype = DRM_TESSERA_DTYPE_U8;
	job->operands[1].address.strides[0] = 3;
	job->operands[1].address.strides[1] = 1;
	job->operands[1].address.strides[2] = 3;
	job->operands[1].address.strides[3] = 1;
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(0, memcmp(self->destination.map, "abdebcefdeghefhi", 16));
}

TEST_F(submit, window_past_the_end_reads_fill)
{
	struct test_job *job = &self->job;

	memcpy(self->source.map, "abcde", 5);
	test_job_init(job, 1, 2);
	job->job.extents[0] = 8;
	job->operands[0].handle = self->destination.handle;
	job->operands[0].dtype = DRM_TESSERA_DTYPE_U8;
	job->operands[0].address.strides[0] = 1;
	job->operands[1] = job->operands[0];
	job->operands[1].handle = self->source.handle;
	job->operands[1].window_mask = 1;
	job->operands[1].fill[0] = '.';
	job->job.windows.count = 1;
	job->windows[0].value.strides[0] = 1;
	job->windows[0].limit = 5;
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(0, memcmp(self->destination.map, "abcde...", 8));
}

TEST_F(submit, window_of_the_destination_stores_nothing_outside)
{
	struct test_job *job = &self->job;

	memset(self->destination.map, '.', SIZE);
	memcpy(self->source.map, "abcdefgh", 8);
	test_job_init(job, 1, 2);
	job->job.extents[0] = 8;
	job->operands[0].handle = self->destination.handle;
	job->operands[0].dtype = DRM_TESSERA_DTYPE_U8;
	job->operands[0].address.strides[0] = 1;
	job->operands[1] = job->operands[0];
	job->operands[1].handle = self->source.handle;
	job->operands[0].window_mask = 1;
	job->job.windows.count = 1;
	job->windows[0].value.offset = -2;
	job->windows[0].value.strides[0] = 1;
	job->windows[0].limit = 4;
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(0, memcmp(self->destination.map, "..cdef..", 8));
}

TEST_F(submit, gather_reads_the_rows_that_the_indices_name)
{
	struct test_buffer index = test_buffer_create(_metadata, self->fd, SIZE);
	struct test_job *job = &self->job;

	memcpy(self->source.map, "aaaabbbbccccdddd", 16);
	memcpy(index.map, "\3\0\2\0\0\0\3\0", 8);
	test_job_init(job, 2, 2);
	job->job.extents[0] = job->job.extents[1] = 4;
	job->operands[0].handle = self->destination.handle;
	job->operands[0].dtype = DRM_TESSERA_DTYPE_RAW8;
	job->operands[0].address.strides[0] = 4;
	job->operands[0].address.strides[1] = 1;
	job->operands[1].handle = self->source.handle;
	job->operands[1].dtype = DRM_TESSERA_DTYPE_RAW8;
	job->operands[1].address.strides[1] = 1;
	job->operands[1].flags = DRM_TESSERA_OPERAND_INDIRECT;
	job->operands[1].index_handle = index.handle;
	job->operands[1].index_dtype = DRM_TESSERA_DTYPE_I16;
	job->operands[1].index_address.strides[0] = 2;
	job->operands[1].index_stride = 4;
	job->operands[1].index_limit = 4;
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(0, memcmp(self->destination.map, "ddddccccaaaadddd", 16));
}

TEST_F(submit, scatter_writes_the_rows_that_the_indices_name)
{
	struct test_buffer index = test_buffer_create(_metadata, self->fd, SIZE);
	struct test_job *job = &self->job;

	memset(self->destination.map, '.', SIZE);
	memcpy(self->source.map, "aaaabbbb", 8);
	memcpy(index.map, "\2\0", 2);
	test_job_init(job, 2, 2);
	job->job.extents[0] = 2;
	job->job.extents[1] = 4;
	job->operands[1].handle = self->source.handle;
	job->operands[1].dtype = DRM_TESSERA_DTYPE_RAW8;
	job->operands[1].address.strides[0] = 4;
	job->operands[1].address.strides[1] = 1;
	job->operands[0].handle = self->destination.handle;
	job->operands[0].dtype = DRM_TESSERA_DTYPE_RAW8;
	job->operands[0].address.strides[1] = 1;
	job->operands[0].flags = DRM_TESSERA_OPERAND_INDIRECT;
	job->operands[0].index_handle = index.handle;
	job->operands[0].index_dtype = DRM_TESSERA_DTYPE_U8;
	job->operands[0].index_address.strides[0] = 1;
	job->operands[0].index_stride = 4;
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(0, memcmp(self->destination.map, "bbbb....aaaa....", 16));
}

/* max(x, 0) of floats: r1 = 0; r0 = max(r0, r1) */
TEST_F(submit, program_is_applied_to_each_element)
{
	float *in = (float *)self->source.map, *out = (float *)self->destination.map;
	struct test_job *job = &self->job;
	int i;

	for (i = 0; i < 1024; i++)
		in[i] = i - 512.5f;
	job->operands[0].dtype = DRM_TESSERA_DTYPE_F32;
	job->operands[1].dtype = DRM_TESSERA_DTYPE_F32;
	job->job.program.count = 2;
	job->program[0].opcode = DRM_TESSERA_OP_CONST;
	job->program[0].dtype = DRM_TESSERA_DTYPE_F32;
	job->program[0].dst = 1;
	job->program[1].opcode = DRM_TESSERA_OP_MAX;
	job->program[1].dtype = DRM_TESSERA_DTYPE_F32;
	job->program[1].src[1] = 1;
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	for (i = 0; i < 1024; i++)
		ASSERT_EQ(true, out[i] == (in[i] > 0 ? in[i] : 0));
}

TEST_F(submit, elements_of_16_bytes_are_moved)
{
	struct test_job *job = &self->job;
	__u32 k;

	job->job.extents[0] = SIZE / 16;
	for (k = 0; k < 2; k++) {
		job->operands[k].dtype = DRM_TESSERA_DTYPE_RAW128;
		job->operands[k].address.strides[0] = 16;
	}
	job->operands[1].address.offset = SIZE - 16;
	job->operands[1].address.strides[0] = -16;
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(0, memcmp(self->destination.map, self->source.map + SIZE - 16, 16));
	EXPECT_EQ(0, memcmp(self->destination.map + SIZE - 16, self->source.map, 16));
}

TEST_F(submit, job_of_no_points_stores_nothing_and_ends_well)
{
	self->job.job.extents[0] = 0;
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(SIZE, test_constant(self->destination.map, SIZE, 0));
}

TEST_HARNESS_MAIN
