// SPDX-License-Identifier: MIT
/*
 * The device's files in debugfs: what the queues have counted, and how long an interrupt takes.
 */
#include "tessera_test.h"

#define SIZE	TEST_PAGE_SIZE

FIXTURE(debugfs) {
	int fd;
	struct test_buffer destination;
	struct test_buffer source;
	struct test_job job;
};

FIXTURE_SETUP(debugfs)
{
	self->fd = test_open(_metadata);
	self->destination = test_buffer_create(_metadata, self->fd, SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	test_job_copy(&self->job, self->destination.handle, self->source.handle, SIZE / 4);
}

FIXTURE_TEARDOWN(debugfs)
{
	close(self->fd);
}

static void read_file(struct __test_metadata *_metadata, int fd, const char *file, char *text,
		      size_t size)
{
	char path[PATH_MAX];
	ssize_t length;
	int debugfs;

	test_debugfs_path(_metadata, fd, file, path);
	debugfs = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_GE(debugfs, 0);
	length = read(debugfs, text, size - 1);
	ASSERT_GT(length, 0);
	text[length] = '\0';
	close(debugfs);
}

/* The sum of what stands behind a name, over all queues */
static unsigned long queues_sum(struct __test_metadata *_metadata, int fd, const char *name)
{
	const char *found;
	unsigned long sum = 0;
	char text[16384];

	read_file(_metadata, fd, "queues", text, sizeof(text));
	found = text;
	ASSERT_NE(NULL, strstr(text, name));
	while ((found = strstr(found, name))) {
		found += strlen(name);
		sum += strtoul(found, NULL, 10);
	}
	return sum;
}

TEST_F(debugfs, submission_of_many_jobs_is_one_doorbell_and_one_interrupt)
{
	struct drm_tessera_job jobs[100];
	struct drm_tessera_submit submit;
	unsigned long doorbells, interrupts;
	int k;

	for (k = 0; k < 100; k++)
		jobs[k] = self->job.job;
	submit = test_submission(jobs, 100);
	doorbells = queues_sum(_metadata, self->fd, " doorbells ");
	interrupts = queues_sum(_metadata, self->fd, " interrupts ");
	ASSERT_EQ(1, test_run(_metadata, self->fd, &submit));
	EXPECT_EQ(doorbells + 1, queues_sum(_metadata, self->fd, " doorbells "));
	EXPECT_EQ(interrupts + 1, queues_sum(_metadata, self->fd, " interrupts "));
}

/* They go to one queue, and are more than it runs before the next comes */
TEST_F(debugfs, submissions_in_a_row_take_at_most_one_of_each)
{
	unsigned long doorbells, interrupts;
	struct drm_tessera_job jobs[16];
	struct drm_tessera_submit submit;
	int fence = -1;
	int k;

	for (k = 0; k < 16; k++)
		jobs[k] = self->job.job;
	submit = test_submission(jobs, 16);
	submit.queue = 0;
	doorbells = queues_sum(_metadata, self->fd, " doorbells ");
	interrupts = queues_sum(_metadata, self->fd, " interrupts ");
	for (k = 0; k < 50; k++) {
		if (fence >= 0)
			close(fence);
		fence = test_submit_fence(_metadata, self->fd, &submit);
	}
	ASSERT_EQ(1, test_sync_file_wait(_metadata, fence));
	close(fence);
	EXPECT_GE(doorbells + 50, queues_sum(_metadata, self->fd, " doorbells "));
	EXPECT_GE(interrupts + 50, queues_sum(_metadata, self->fd, " interrupts "));
}

TEST_F(debugfs, buffers_are_listed_while_they_are_there)
{
	struct test_buffer buffer = test_buffer_create(_metadata, self->fd, 77 * SIZE);
	char text[16384];

	read_file(_metadata, self->fd, "buffers", text, sizeof(text));
	EXPECT_NE(NULL, strstr(text, ": size 315392 page-size "));
	test_buffer_destroy(_metadata, self->fd, &buffer);
	read_file(_metadata, self->fd, "buffers", text, sizeof(text));
	EXPECT_EQ(NULL, strstr(text, ": size 315392 page-size "));
}

TEST_F(debugfs, round_trip_of_an_interrupt_takes_time)
{
	char path[PATH_MAX];

	test_debugfs_path(_metadata, self->fd, "test_round_trip", path);
	if (access(path, F_OK))
		SKIP(return, "the device has no test registers");
	EXPECT_NE(0, test_read_debugfs(_metadata, self->fd, "test_round_trip"));
}

TEST_HARNESS_MAIN
