// SPDX-License-Identifier: MIT
/*
 * What the driver writes to the kernel's log when a job goes wrong: who it was, once, and not
 * without end.
 */
#include "tessera_test.h"

#define SIZE	TEST_PAGE_SIZE

FIXTURE(log) {
	int fd;
	int log;
	char who[32];
	char timeout[PATH_MAX];
	struct test_buffer destination;
	struct test_buffer source;
	struct test_job job;
	struct drm_tessera_submit submit;
};

FIXTURE_SETUP(log)
{
	self->fd = test_open(_metadata);
	self->destination = test_buffer_create(_metadata, self->fd, SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	memset(self->source.map, 5, SIZE);
	test_job_copy(&self->job, self->destination.handle, self->source.handle, SIZE / 4);
	self->submit = test_submission(&self->job.job, 1);
	self->submit.queue = 0;
	test_sysfs_path(_metadata, self->fd, "job_timeout_ms/pe0", self->timeout);
	snprintf(self->who, sizeof(self->who), " log[%d]", getpid());
	self->log = test_log_open(_metadata);
}

FIXTURE_TEARDOWN(log)
{
	test_write_file(self->timeout, "0");
	close(self->log);
	close(self->fd);
}

/* Tests before this one may have used up what may be said in a few seconds */
TEST_F(log, fault_names_the_process)
{
	__s64 end = test_now_ns() + 20000000000LL;

	test_job_gather(&self->job, self->source.handle);
	do {
		ASSERT_EQ(-EIO, test_run(_metadata, self->fd, &self->submit));
	} while (!test_log_count(self->log, self->who) && test_now_ns() < end);
	EXPECT_LT(test_now_ns(), end);
}

TEST_F(log, faults_of_a_submission_are_told_once)
{
	struct drm_tessera_job jobs[100];
	int k;

	test_job_gather(&self->job, self->source.handle);
	for (k = 0; k < 100; k++)
		jobs[k] = self->job.job;
	self->submit.jobs = TEST_ARRAY(jobs, 100);
	ASSERT_EQ(-EIO, test_run(_metadata, self->fd, &self->submit));
	EXPECT_GE(1, test_log_count(self->log, self->who));
}

TEST_F(log, faults_in_a_row_are_not_all_told)
{
	int k;

	test_job_gather(&self->job, self->source.handle);
	for (k = 0; k < 200; k++)
		ASSERT_EQ(0, test_submit(self->fd, &self->submit));
	ASSERT_EQ(-EIO, test_run(_metadata, self->fd, &self->submit));
	EXPECT_GT(200, test_log_count(self->log, self->who));
}

TEST_F(log, hang_is_told_once)
{
	if (test_write_debugfs(_metadata, self->fd, "test_hang", 1) == -ENOENT)
		SKIP(return, "the device has no test registers");
	ASSERT_EQ(0, test_write_file(self->timeout, "1000"));
	ASSERT_EQ(-ECANCELED, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(1, test_log_count(self->log, self->who));
}

TEST_F(log, refused_job_is_not_told)
{
	self->job.job.extents[0]++;
	ASSERT_EQ(-ERANGE, test_submit(self->fd, &self->submit));
	EXPECT_EQ(0, test_log_count(self->log, self->who));
}

TEST_HARNESS_MAIN
