// SPDX-License-Identifier: MIT
/*
 * Runtime power management: the device sleeps when it has nothing to do, and nobody notices but by
 * looking into sysfs. Sleep of the whole system is in suspend.c.
 */
#include "tessera_test.h"

#include <pthread.h>

#define SIZE	TEST_PAGE_SIZE

FIXTURE(power) {
	int fd;
	char bus[NAME_MAX];
	struct test_buffer destination;
	struct test_buffer source;
	struct test_job job;
};

/* By the name of the device: its file may be closed, or the device have no node */
static int write_power(const char *bus, const char *file, const char *text)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/power/%s", bus, file);
	return test_write_file(path, text);
}

/*
 * Lets the device sleep without delay: when the second of these returns it does, unless somebody
 * needs it.
 */
static void may_suspend_now(struct __test_metadata *_metadata, const char *bus)
{
	ASSERT_EQ(0, write_power(bus, "autosuspend_delay_ms", "-1"));
	ASSERT_EQ(0, write_power(bus, "autosuspend_delay_ms", "0"));
}

/* What has ended may be freed a moment later, and only then is the device not needed */
static void suspend(struct __test_metadata *_metadata, const char *bus)
{
	may_suspend_now(_metadata, bus);
	while (!test_is_suspended(_metadata, bus))
		sched_yield();
	/* From now on, what wakes it lets it stay awake */
	ASSERT_EQ(0, write_power(bus, "autosuspend_delay_ms", "1000000"));
	ASSERT_TRUE(test_is_suspended(_metadata, bus));
}

FIXTURE_SETUP(power)
{
	self->fd = test_open(_metadata);
	test_bus_name(_metadata, self->fd, self->bus);
	ASSERT_EQ(0, write_power(self->bus, "control", "auto"));
	self->destination = test_buffer_create(_metadata, self->fd, SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	test_fill(self->source.map, SIZE, 1);
	test_job_copy(&self->job, self->destination.handle, self->source.handle, SIZE / 4);
}

FIXTURE_TEARDOWN(power)
{
	write_power(self->bus, "autosuspend_delay_ms", "500");
	if (self->fd >= 0)
		close(self->fd);
}

static void expect_copied(struct __test_metadata *_metadata, FIXTURE_DATA(power) *self)
{
	memset(self->destination.map, 0, SIZE);
	EXPECT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
}

TEST_F(power, idle_device_is_suspended_by_itself)
{
	ASSERT_EQ(0, test_driver_write("unbind", self->bus));
	ASSERT_EQ(0, test_driver_write("bind", self->bus));
	while (!test_is_suspended(_metadata, self->bus))
		sched_yield();
}

TEST_F(power, job_wakes_a_suspended_device)
{
	expect_copied(_metadata, self);
	suspend(_metadata, self->bus);
	expect_copied(_metadata, self);
	EXPECT_FALSE(test_is_suspended(_metadata, self->bus));
}

TEST_F(power, device_with_a_submission_that_waits_is_not_suspended)
{
	struct test_gate gate;
	int fence;

	TEST_GATE_OR_SKIP(self->fd, &gate);
	fence = test_submit_gated(_metadata, self->fd, &self->job, &gate, NULL);
	may_suspend_now(_metadata, self->bus);
	EXPECT_FALSE(test_is_suspended(_metadata, self->bus));
	ASSERT_EQ(0, test_gate_signal(&gate));
	EXPECT_EQ(1, test_sync_file_wait(_metadata, fence));
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
	suspend(_metadata, self->bus);
	close(fence);
}

TEST_F(power, device_with_a_buffer_in_on_chip_memory_is_not_suspended)
{
	struct test_buffer sram;

	if (!test_info(_metadata, self->fd).sram_size)
		SKIP(return, "the device has no on-chip memory");
	suspend(_metadata, self->bus);
	sram = test_sram_create(_metadata, self->fd, SIZE, 0);
	EXPECT_FALSE(test_is_suspended(_metadata, self->bus));
	test_fill(sram.map, SIZE, 3);
	may_suspend_now(_metadata, self->bus);
	EXPECT_FALSE(test_is_suspended(_metadata, self->bus));
	EXPECT_EQ(SIZE, test_filled(sram.map, SIZE, 3));
	test_buffer_destroy(_metadata, self->fd, &sram);
	suspend(_metadata, self->bus);
}

TEST_F(power, refused_buffer_in_on_chip_memory_keeps_nothing_awake)
{
	struct drm_tessera_dev_info info = test_info(_metadata, self->fd);
	struct drm_tessera_bo_create create = {
		.size = info.sram_size, .flags = DRM_TESSERA_BO_SRAM,
	};
	struct test_buffer sram;

	if (!info.sram_size)
		SKIP(return, "the device has no on-chip memory");
	sram = test_sram_create(_metadata, self->fd, SIZE, 0);
	ASSERT_EQ(-ENOSPC, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_CREATE, &create));
	test_buffer_destroy(_metadata, self->fd, &sram);
	suspend(_metadata, self->bus);
}

TEST_F(power, refused_submission_keeps_nothing_awake)
{
	struct drm_tessera_sync sync = { .handle = TEST_NO_HANDLE };
	struct drm_tessera_submit submit = test_submission(&self->job.job, 1);

	submit.in_syncs = TEST_ARRAY(&sync, 1);
	ASSERT_EQ(-ENOENT, test_submit(self->fd, &submit));
	suspend(_metadata, self->bus);
}

TEST_F(power, administrator_keeps_the_device_awake)
{
	ASSERT_EQ(0, write_power(self->bus, "control", "on"));
	may_suspend_now(_metadata, self->bus);
	EXPECT_FALSE(test_is_suspended(_metadata, self->bus));
	ASSERT_EQ(0, write_power(self->bus, "control", "auto"));
	suspend(_metadata, self->bus);
}

TEST_F(power, buffer_of_a_suspended_device_can_be_created)
{
	struct test_buffer buffer;

	suspend(_metadata, self->bus);
	buffer = test_buffer_create(_metadata, self->fd, SIZE);
	self->job.operands[0].handle = buffer.handle;
	EXPECT_TRUE(test_is_suspended(_metadata, self->bus));
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
	EXPECT_EQ(SIZE, test_filled(buffer.map, SIZE, 1));
}

/* The new buffer gets the number of the old one, whose pages the device must have forgotten */
TEST_F(power, buffer_that_is_replaced_in_sleep_is_not_mistaken_for_the_old)
{
	struct test_buffer other = test_buffer_create(_metadata, self->fd, 16 * SIZE);
	void *old;

	self->job.operands[0].handle = other.handle;
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
	suspend(_metadata, self->bus);
	test_buffer_destroy(_metadata, self->fd, &other);
	EXPECT_TRUE(test_is_suspended(_metadata, self->bus));
	/* What was the old one's memory is that of others now */
	old = mmap(NULL, 16 * SIZE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ASSERT_NE(MAP_FAILED, old);
	other = test_buffer_create(_metadata, self->fd, 16 * SIZE);
	self->job.operands[0].handle = other.handle;
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
	EXPECT_EQ(SIZE, test_filled(other.map, SIZE, 1));
	EXPECT_EQ(16 * SIZE, test_constant(old, 16 * SIZE, 0));
}

TEST_F(power, debugfs_wakes_a_suspended_device)
{
	char path[PATH_MAX], text[4096] = "";
	int file;

	suspend(_metadata, self->bus);
	test_debugfs_path(_metadata, self->fd, "queues", path);
	file = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_GE(file, 0);
	ASSERT_GT(read(file, text, sizeof(text) - 1), 0);
	close(file);
	EXPECT_NE(NULL, strstr(text, "pe0: status 0x1 "));
	EXPECT_FALSE(test_is_suspended(_metadata, self->bus));
}

TEST_F(power, timeout_of_a_suspended_device_can_be_set)
{
	char path[PATH_MAX];

	suspend(_metadata, self->bus);
	test_sysfs_path(_metadata, self->fd, "job_timeout_ms/pe0", path);
	EXPECT_EQ(0, test_write_file(path, "2000"));
	EXPECT_EQ(0, test_write_file(path, "0"));
	EXPECT_TRUE(test_is_suspended(_metadata, self->bus));
	expect_copied(_metadata, self);
}

TEST_F(power, suspended_device_can_be_reset)
{
	char path[PATH_MAX];

	suspend(_metadata, self->bus);
	test_sysfs_path(_metadata, self->fd, "reset", path);
	ASSERT_EQ(0, test_write_file(path, "1"));
	expect_copied(_metadata, self);
	suspend(_metadata, self->bus);
	expect_copied(_metadata, self);
}

TEST_F(power, suspended_device_can_be_unbound_and_bound)
{
	suspend(_metadata, self->bus);
	ASSERT_EQ(0, test_driver_write("unbind", self->bus));
	EXPECT_EQ(-ENODEV, test_submit_job(self->fd, &self->job));
	close(self->fd);
	ASSERT_EQ(0, test_driver_write("bind", self->bus));
	self->fd = test_open(_metadata);
	self->destination = test_buffer_create(_metadata, self->fd, SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	test_fill(self->source.map, SIZE, 1);
	test_job_copy(&self->job, self->destination.handle, self->source.handle, SIZE / 4);
	expect_copied(_metadata, self);
}

/* Whatever falls into one another: falling asleep, waking, submitting, closing, resets */

#define ROUNDS	200

struct sleeper {
	const char *bus;
	bool is_over;
	__u32 times;
};

static void *fall_asleep(void *argument)
{
	struct sleeper *sleeper = argument;

	while (!__atomic_load_n(&sleeper->is_over, __ATOMIC_RELAXED)) {
		if (write_power(sleeper->bus, "autosuspend_delay_ms", "-1") ||
		    write_power(sleeper->bus, "autosuspend_delay_ms", "0"))
			return "no autosuspend_delay_ms";
		sleeper->times++;
	}
	return NULL;
}

static void begin_sleeping(struct __test_metadata *_metadata, struct sleeper *sleeper,
			   pthread_t *thread)
{
	ASSERT_EQ(0, pthread_create(thread, NULL, fall_asleep, sleeper));
	while (!__atomic_load_n(&sleeper->times, __ATOMIC_RELAXED))
		sched_yield();
}

static void end_sleeping(struct __test_metadata *_metadata, struct sleeper *sleeper,
			 pthread_t thread)
{
	void *complaint;

	__atomic_store_n(&sleeper->is_over, true, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_join(thread, &complaint));
	ASSERT_EQ(NULL, complaint);
}

TEST_F(power, jobs_are_done_while_the_device_falls_asleep)
{
	struct sleeper sleeper = { .bus = self->bus };
	struct test_job increment;
	pthread_t thread;
	int round;

	test_job_increment(&increment, self->destination.handle);
	memset(self->destination.map, 0, SIZE);
	begin_sleeping(_metadata, &sleeper, &thread);
	for (round = 0; round < ROUNDS; round++)
		ASSERT_EQ(1, test_run_job(_metadata, self->fd, &increment));
	end_sleeping(_metadata, &sleeper, thread);
	EXPECT_EQ(ROUNDS, *(__u32 *)self->destination.map);
}

TEST_F(power, files_are_closed_with_jobs_while_the_device_falls_asleep)
{
	struct sleeper sleeper = { .bus = self->bus };
	pthread_t thread;
	int round;

	begin_sleeping(_metadata, &sleeper, &thread);
	for (round = 0; round < ROUNDS / 4; round++) {
		int fd = test_open(_metadata);
		struct test_buffer buffer = test_buffer_create(_metadata, fd, SIZE);
		struct test_job job;
		int k;

		test_job_increment(&job, buffer.handle);
		for (k = 0; k < 4; k++)
			ASSERT_EQ(0, test_submit_job(fd, &job));
		ASSERT_EQ(0, munmap(buffer.map, SIZE));
		close(fd);
	}
	end_sleeping(_metadata, &sleeper, thread);
	expect_copied(_metadata, self);
}

TEST_F(power, resets_come_while_the_device_falls_asleep)
{
	struct sleeper sleeper = { .bus = self->bus };
	char path[PATH_MAX];
	pthread_t thread;
	int round;

	test_sysfs_path(_metadata, self->fd, "reset", path);
	begin_sleeping(_metadata, &sleeper, &thread);
	for (round = 0; round < 10; round++) {
		ASSERT_EQ(0, test_write_file(path, "1"));
		expect_copied(_metadata, self);
	}
	end_sleeping(_metadata, &sleeper, thread);
}

TEST_HARNESS_MAIN
