// SPDX-License-Identifier: MIT
/*
 * The system goes to sleep and comes back while submissions are under way: by the kernel's own test
 * of it (/sys/power/pm_test), which goes through all that suspending to idle does to devices, waits
 * a second, and comes back.
 *
 * The guest's file system does not survive that: run_in_memory runs this, in a guest of its own.
 */
#include "../../driver/tessera_hw.h"

#include "tessera_test.h"

#define SIZE		(64ULL << 20)	/* a job takes milliseconds */
#define NUM_QUEUED	24

FIXTURE(suspend) {
	int fd;
	bool has_test;			/* the kernel can do it */
	struct drm_tessera_dev_info info;
	struct test_buffer buffer;
	struct test_job increment;	/* of each element of the buffer, in place */
};

FIXTURE_SETUP(suspend)
{
	self->has_test = !test_write_file("/sys/power/pm_test", "platform");
	test_write_file("/sys/module/suspend/parameters/pm_test_delay", "1");
	self->fd = test_open(_metadata);
	self->info = test_info(_metadata, self->fd);
	self->buffer = test_buffer_create(_metadata, self->fd, SIZE);
	memset(self->buffer.map, 0, SIZE);
	test_job_increment(&self->increment, self->buffer.handle);
	self->increment.job.extents[0] = SIZE / 4;
}

FIXTURE_TEARDOWN(suspend)
{
	test_write_file("/sys/power/pm_test", "none");
	close(self->fd);
}

#define PM_TEST_OR_SKIP								\
	do {									\
		if (!self->has_test)						\
			SKIP(return, "the kernel has no /sys/power/pm_test");	\
	} while (0)

static int sleep_and_wake(void)
{
	return test_write_file("/sys/power/state", "freeze");
}

/* Whether each element of the buffer was incremented so many times */
static bool is_incremented(const struct test_buffer *buffer, __u32 times)
{
	const __u32 *element = (const __u32 *)buffer->map;
	__u64 i;

	for (i = 0; i < buffer->size / 4 && element[i] == times; i++)
		;
	return i == buffer->size / 4;
}

TEST_F(suspend, idle_device_comes_back)
{
	PM_TEST_OR_SKIP;
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->increment));
	ASSERT_EQ(0, sleep_and_wake());
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->increment));
	EXPECT_TRUE(is_incremented(&self->buffer, 2));
}

TEST_F(suspend, device_that_sleeps_by_itself_comes_back)
{
	char path[PATH_MAX];

	PM_TEST_OR_SKIP;
	test_sysfs_path(_metadata, self->fd, "power/control", path);
	ASSERT_EQ(0, test_write_file(path, "auto"));
	test_sysfs_path(_metadata, self->fd, "power/autosuspend_delay_ms", path);
	ASSERT_EQ(0, test_write_file(path, "0"));
	ASSERT_EQ(0, sleep_and_wake());
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->increment));
	ASSERT_EQ(0, test_write_file(path, "500"));
	EXPECT_TRUE(is_incremented(&self->buffer, 1));
}

/* While the system sleeps it is in system memory, and nothing of it in the device */
TEST_F(suspend, on_chip_memory_is_as_before)
{
	struct test_buffer sram[2];
	struct test_job job;
	int k;

	PM_TEST_OR_SKIP;
	if (!self->info.sram_size)
		SKIP(return, "the device has no on-chip memory");
	for (k = 0; k < 2; k++) {
		sram[k] = test_sram_create(_metadata, self->fd, 3 * TEST_PAGE_SIZE,
					   k % self->info.num_queues);
		test_fill(sram[k].map, sram[k].size, k);
	}
	ASSERT_EQ(0, sleep_and_wake());
	for (k = 0; k < 2; k++)
		EXPECT_EQ(sram[k].size, test_filled(sram[k].map, sram[k].size, k));
	/* Once more, with what a job has left there, for a job */
	test_job_copy(&job, sram[0].handle, sram[1].handle, sram[0].size / 4);
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &job));
	ASSERT_EQ(0, sleep_and_wake());
	test_job_copy(&job, self->buffer.handle, sram[0].handle, sram[0].size / 4);
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &job));
	EXPECT_EQ(sram[0].size, test_filled(self->buffer.map, sram[0].size, 1));
}

TEST_F(suspend, queued_jobs_work_on_on_chip_memory)
{
	struct drm_tessera_submit submit = test_submission(&self->increment.job, 1);
	struct test_buffer sram;
	struct test_job count;
	int fences[NUM_QUEUED], k;

	PM_TEST_OR_SKIP;
	if (!self->info.sram_size)
		SKIP(return, "the device has no on-chip memory");
	sram = test_sram_create(_metadata, self->fd, TEST_PAGE_SIZE, 0);
	test_job_increment(&count, sram.handle);
	for (k = 0; k < NUM_QUEUED; k++) {
		submit.queue = 0;
		submit.jobs = TEST_ARRAY(k % 2 ? &count.job : &self->increment.job, 1);
		fences[k] = test_submit_fence(_metadata, self->fd, &submit);
	}
	ASSERT_EQ(0, sleep_and_wake());
	for (k = 0; k < NUM_QUEUED; k++)
		EXPECT_EQ(1, test_sync_file_wait(_metadata, fences[k]));
	EXPECT_EQ(NUM_QUEUED / 2, *(__u32 *)sram.map);
}

/* Each of them takes longer than to submit it, however fast it is by itself */
TEST_F(suspend, queued_jobs_are_all_done_once)
{
	struct drm_tessera_submit submit = test_submission(&self->increment.job, 1);
	struct drm_tessera_submit_result result;
	int fences[NUM_QUEUED], k;

	PM_TEST_OR_SKIP;
	if (test_write_debugfs(_metadata, self->fd, "test_slow", 50))
		SKIP(return, "the device has no test registers");
	submit.queue = 0;
	for (k = 0; k < NUM_QUEUED; k++)
		fences[k] = test_submit_fence(_metadata, self->fd, &submit);
	ASSERT_EQ(0, test_query_result(self->fd, submit.id, &result, NULL, 0));
	EXPECT_EQ(DRM_TESSERA_SUBMIT_PENDING, result.state)
		TH_LOG("all jobs were done before the system slept");
	ASSERT_EQ(0, sleep_and_wake());
	for (k = 0; k < NUM_QUEUED; k++)
		EXPECT_EQ(1, test_sync_file_wait(_metadata, fences[k]));
	ASSERT_EQ(0, test_write_debugfs(_metadata, self->fd, "test_slow", 0));
	EXPECT_TRUE(is_incremented(&self->buffer, NUM_QUEUED));
}

/* Each waits for the one before it, for they are on all queues in turn */
TEST_F(suspend, jobs_that_wait_for_others_are_all_done_once)
{
	struct drm_tessera_submit submit = test_submission(&self->increment.job, 1);
	int fences[NUM_QUEUED], k;

	PM_TEST_OR_SKIP;
	for (k = 0; k < NUM_QUEUED; k++) {
		submit.queue = k % self->info.num_queues;
		fences[k] = test_submit_fence(_metadata, self->fd, &submit);
	}
	ASSERT_EQ(0, sleep_and_wake());
	for (k = 0; k < NUM_QUEUED; k++)
		EXPECT_EQ(1, test_sync_file_wait(_metadata, fences[k]));
	EXPECT_TRUE(is_incremented(&self->buffer, NUM_QUEUED));
}

TEST_F(suspend, job_that_does_not_end_is_canceled_and_those_behind_it_run)
{
	struct drm_tessera_submit submit = test_submission(&self->increment.job, 1);
	struct test_buffer victim;
	struct test_job job;
	int hanging, behind;

	PM_TEST_OR_SKIP;
	if (test_write_debugfs(_metadata, self->fd, "test_hang", 1))
		SKIP(return, "the device has no test registers");
	victim = test_buffer_create(_metadata, self->fd, TEST_PAGE_SIZE);
	test_job_increment(&job, victim.handle);
	submit.queue = 0;
	submit.jobs = TEST_ARRAY(&job.job, 1);
	hanging = test_submit_fence(_metadata, self->fd, &submit);
	while (test_read_debugfs(_metadata, self->fd, "test_hang"))
		sched_yield();
	submit.jobs = TEST_ARRAY(&self->increment.job, 1);
	behind = test_submit_fence(_metadata, self->fd, &submit);
	ASSERT_EQ(0, sleep_and_wake());
	EXPECT_EQ(-ECANCELED, test_sync_file_wait(_metadata, hanging));
	EXPECT_EQ(1, test_sync_file_wait(_metadata, behind));
	EXPECT_TRUE(is_incremented(&self->buffer, 1));
}

TEST_F(suspend, device_that_does_not_come_back_is_lost)
{
	struct drm_tessera_submit submit = test_submission(&self->increment.job, 1);
	const __u32 read = TESSERA_REG_CONTROL | TESSERA_TEST_READ_VALUE | TESSERA_TEST_READ_KEPT;
	char bus[NAME_MAX];
	int fence;

	PM_TEST_OR_SKIP;
	if (test_write_debugfs(_metadata, self->fd, "test_hang", 1))
		SKIP(return, "the device has no test registers");
	test_bus_name(_metadata, self->fd, bus);
	ASSERT_EQ(0, test_write_debugfs(_metadata, self->fd, "test_value", TESSERA_CONTROL_RESET));
	ASSERT_EQ(0, test_write_debugfs(_metadata, self->fd, "test_read", read));
	fence = test_submit_fence(_metadata, self->fd, &submit);
	ASSERT_EQ(0, sleep_and_wake());
	EXPECT_EQ(-ENODEV, test_sync_file_wait(_metadata, fence));
	EXPECT_EQ(-ENODEV, test_submit_job(self->fd, &self->increment));
	ASSERT_EQ(0, test_write_debugfs(_metadata, self->fd, "test_read", 0));
	ASSERT_EQ(0, test_driver_write("unbind", bus));
	ASSERT_EQ(0, test_driver_write("bind", bus));
}

TEST_HARNESS_MAIN
