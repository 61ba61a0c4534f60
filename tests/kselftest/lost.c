// SPDX-License-Identifier: MIT
/*
 * A device that no longer answers, for its registers are switched off behind the driver's back, and
 * one whose registers say that it does not do what it is told to (TEST_READ), until it is reset or
 * for good: what becomes of submissions, and what userspace is told.
 */
#include "../../driver/tessera_hw.h"

#include "tessera_test.h"

#include <sys/socket.h>

#include <linux/netlink.h>
#include <linux/pci_regs.h>

#define SIZE		TEST_PAGE_SIZE
#define EVENT_SIZE	4096	/* more than the kernel makes them */

FIXTURE(lost) {
	int fd;
	int config;
	int uevents;
	char bus[NAME_MAX];
	struct test_buffer destination;
	struct test_buffer other;
	struct test_buffer source;
	struct test_job job;
	struct test_job gated;		/* does not wait for the other, nor the other for it */
};

/* By the name of the device, which may have no node */
static int write_sysfs(const char *bus, const char *file, const char *text)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", bus, file);
	return test_write_file(path, text);
}

/* What the kernel tells from now on of devices that come, change and go */
static int listen_to_uevents(struct __test_metadata *_metadata)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int listener = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);

	ASSERT_GE(listener, 0);
	ASSERT_EQ(0, bind(listener, (struct sockaddr *)&address, sizeof(address)));
	return listener;
}

FIXTURE_SETUP(lost)
{
	char path[PATH_MAX];

	self->fd = test_open(_metadata);
	test_bus_name(_metadata, self->fd, self->bus);
	/* What wakes a device switches its registers on again */
	ASSERT_EQ(0, write_sysfs(self->bus, "power/control", "on"));
	test_sysfs_path(_metadata, self->fd, "config", path);
	self->config = open(path, O_RDWR | O_CLOEXEC);
	ASSERT_GE(self->config, 0);
	self->uevents = listen_to_uevents(_metadata);
	self->destination = test_buffer_create(_metadata, self->fd, SIZE);
	self->other = test_buffer_create(_metadata, self->fd, SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	test_fill(self->source.map, SIZE, 1);
	test_job_copy(&self->job, self->destination.handle, self->source.handle, SIZE / 4);
	test_job_copy(&self->gated, self->other.handle, self->source.handle, SIZE / 4);
}

static void set_memory_space(struct __test_metadata *_metadata, int config, bool is_on)
{
	__u16 command;

	ASSERT_EQ(2, pread(config, &command, 2, PCI_COMMAND));
	command &= ~PCI_COMMAND_MEMORY;
	command |= is_on ? PCI_COMMAND_MEMORY : 0;
	ASSERT_EQ(2, pwrite(config, &command, 2, PCI_COMMAND));
}

/* As the event asks for: the function is reset, and the driver bound anew */
static void rebind(struct __test_metadata *_metadata, FIXTURE_DATA(lost) *self)
{
	set_memory_space(_metadata, self->config, true);
	ASSERT_EQ(0, test_driver_write("unbind", self->bus));
	ASSERT_EQ(0, write_sysfs(self->bus, "reset", "1"));
	ASSERT_EQ(0, test_driver_write("bind", self->bus));
}

FIXTURE_TEARDOWN(lost)
{
	rebind(_metadata, self);
	munmap(self->destination.map, SIZE);
	munmap(self->other.map, SIZE);
	munmap(self->source.map, SIZE);
	close(self->uevents);
	close(self->config);
	close(self->fd);
	write_sysfs(self->bus, "power/control", "auto");
}

/* The value of NAME=VALUE in the lines of an event, or NULL */
static const char *find_value(const char *event, size_t size, const char *name)
{
	const char *line = event;

	for (; line < event + size; line += strlen(line) + 1) {
		if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == '=')
			return line + strlen(name) + 1;
	}
	return NULL;
}

/* Waits for an event of the node that has such a line, and returns what it says. */
static const char *wait_for_event(struct __test_metadata *_metadata, FIXTURE_DATA(lost) *self,
				  const char *name, char event[EVENT_SIZE])
{
	struct stat status;
	char minor_text[16];

	ASSERT_EQ(0, fstat(self->fd, &status));
	snprintf(minor_text, sizeof(minor_text), "%u", minor(status.st_rdev));
	for (;;) {
		ssize_t size = recv(self->uevents, event, EVENT_SIZE - 1, 0);
		const char *subsystem, *node, *value;

		ASSERT_GT(size, 0);
		event[size] = '\0';
		subsystem = find_value(event, size, "SUBSYSTEM");
		node = find_value(event, size, "MINOR");
		value = find_value(event, size, name);
		if (subsystem && !strcmp(subsystem, "accel") && node &&
		    !strcmp(node, minor_text) && value)
			return value;
	}
}

/*
 * Switches the registers off, submits, and waits until the driver has given the device up. Returns
 * the error of the fence: that depends on what a machine reads where no registers are.
 */
static int lose(struct __test_metadata *_metadata, FIXTURE_DATA(lost) *self,
		char event[EVENT_SIZE])
{
	struct drm_tessera_submit submit = test_submission(&self->job.job, 1);
	int status;

	submit.queue = 0;
	/* The least there is */
	ASSERT_EQ(0, write_sysfs(self->bus, "job_timeout_ms/pe0", "1"));
	set_memory_space(_metadata, self->config, false);
	status = test_run(_metadata, self->fd, &submit);
	ASSERT_STREQ("rebind,bus-reset", wait_for_event(_metadata, self, "WEDGED", event));
	return status;
}

TEST_F(lost, submission_to_a_device_that_does_not_answer_fails)
{
	char event[EVENT_SIZE] = "";

	EXPECT_LT(lose(_metadata, self, event), 0);
	EXPECT_EQ(SIZE, test_constant(self->destination.map, SIZE, 0));
}

TEST_F(lost, event_is_a_change_of_the_node)
{
	char event[EVENT_SIZE] = "";

	lose(_metadata, self, event);
	EXPECT_STREQ("change", find_value(event, EVENT_SIZE, "ACTION"));
	EXPECT_STREQ("accel_minor", find_value(event, EVENT_SIZE, "DEVTYPE"));
}

TEST_F(lost, submission_to_a_lost_device_is_refused)
{
	char event[EVENT_SIZE] = "";

	lose(_metadata, self, event);
	EXPECT_EQ(-ENODEV, test_submit_job(self->fd, &self->job));
}

TEST_F(lost, submission_that_waits_ends_with_enodev_when_its_turn_comes)
{
	char event[EVENT_SIZE] = "";
	struct test_gate gate;
	int fence;

	TEST_GATE_OR_SKIP(self->fd, &gate);
	fence = test_submit_gated(_metadata, self->fd, &self->gated, &gate, NULL);
	lose(_metadata, self, event);
	ASSERT_EQ(0, test_gate_signal(&gate));
	EXPECT_EQ(-ENODEV, test_sync_file_wait(_metadata, fence));
	close(fence);
}

TEST_F(lost, buffers_of_a_lost_device_can_be_used_and_freed)
{
	char event[EVENT_SIZE] = "";

	lose(_metadata, self, event);
	EXPECT_EQ(SIZE, test_filled(self->source.map, SIZE, 1));
	EXPECT_EQ(0, test_handle_close(self->fd, self->source.handle));
	EXPECT_EQ(0, test_handle_close(self->fd, self->destination.handle));
}

TEST_F(lost, device_that_does_not_answer_after_a_function_level_reset_is_lost)
{
	char event[EVENT_SIZE] = "";

	set_memory_space(_metadata, self->config, false);
	ASSERT_EQ(0, write_sysfs(self->bus, "reset", "1"));
	EXPECT_STREQ("rebind,bus-reset", wait_for_event(_metadata, self, "WEDGED", event));
	EXPECT_EQ(-ENODEV, test_submit_job(self->fd, &self->job));
}

TEST_F(lost, device_that_is_bound_anew_works)
{
	char event[EVENT_SIZE] = "";
	struct test_buffer buffer;
	struct test_job job;
	int fd;

	lose(_metadata, self, event);
	rebind(_metadata, self);
	fd = test_open(_metadata);
	buffer = test_buffer_create(_metadata, fd, SIZE);
	test_job_increment(&job, buffer.handle);
	EXPECT_EQ(1, test_run_job(_metadata, fd, &job));
	EXPECT_EQ(1, *(__u32 *)buffer.map);
	test_buffer_destroy(_metadata, fd, &buffer);
	close(fd);
}

/* 2^60 elements, each from where an index of 0 says, so that it is done one by one */
static void make_endless(struct test_job *job, __u32 destination, __u32 source)
{
	test_job_copy(job, destination, source, 1ULL << 60);
	job->operands[0].address.strides[0] = 0;
	test_job_gather(job, source);
	job->operands[1].index_address.strides[0] = 0;
}

/*
 * While a job runs, the device is told to forget its buffers, which it cannot yet. So it never says
 * that it has forgotten another one, which is freed, and the driver resets it.
 */
TEST_F(lost, event_of_a_reset_that_has_helped_asks_for_nothing)
{
	struct drm_tessera_submit submit = test_submission(&self->gated.job, 1);
	volatile __u32 *registers = test_registers_map(_metadata, self->bus);
	char event[EVENT_SIZE] = "";
	struct test_buffer freed;
	int fence;

	if (!registers)
		SKIP(return, "the kernel was not started with iomem=relaxed");
	freed = test_buffer_create(_metadata, self->fd, SIZE);
	make_endless(&self->gated, self->other.handle, self->other.handle);
	submit.queue = 0;
	fence = test_submit_fence(_metadata, self->fd, &submit);
	while (!registers[(TESSERA_QUEUE(0) + TESSERA_QUEUE_PROGRESS) / 4])
		sched_yield();
	registers[TESSERA_REG_INVALIDATE / 4] = TESSERA_INVALIDATE_ALL;
	ASSERT_NE(0, registers[TESSERA_REG_INVALIDATE / 4]);
	test_buffer_destroy(_metadata, self->fd, &freed);
	EXPECT_STREQ("none", wait_for_event(_metadata, self, "WEDGED", event));
	EXPECT_EQ(-ECANCELED, test_sync_file_wait(_metadata, fence));
	EXPECT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
	close(fence);
}

/* From now on the register gives that value: false where the device has no such test. */
static bool set_read(struct __test_metadata *_metadata, int fd, __u32 read, __u32 value)
{
	read |= TESSERA_TEST_READ_VALUE;
	return !test_write_debugfs(_metadata, fd, "test_value", value) &&
	       !test_write_debugfs(_metadata, fd, "test_read", read) &&
	       test_read_debugfs(_metadata, fd, "test_read") == read;
}

#define SET_READ_OR_SKIP(read, value)						\
	do {									\
		if (!set_read(_metadata, self->fd, read, value))		\
			SKIP(return, "the device has no test registers");	\
	} while (0)

/* Submits a job that hangs to queue 0, and that is stopped after so many ms; returns its fence. */
static int submit_hang(struct __test_metadata *_metadata, FIXTURE_DATA(lost) *self,
		       const char *timeout_ms)
{
	struct drm_tessera_submit submit = test_submission(&self->job.job, 1);

	submit.queue = 0;
	ASSERT_EQ(0, write_sysfs(self->bus, "job_timeout_ms/pe0", timeout_ms));
	ASSERT_EQ(0, test_write_debugfs(_metadata, self->fd, "test_hang", 1));
	return test_submit_fence(_metadata, self->fd, &submit);
}

/* The device falls asleep, by itself, and is woken. */
static void sleep_and_wake(struct __test_metadata *_metadata, const char *bus)
{
	ASSERT_EQ(0, write_sysfs(bus, "power/control", "auto"));
	ASSERT_EQ(0, write_sysfs(bus, "power/autosuspend_delay_ms", "-1"));
	ASSERT_EQ(0, write_sysfs(bus, "power/autosuspend_delay_ms", "0"));
	while (!test_is_suspended(_metadata, bus))
		sched_yield();
	ASSERT_EQ(0, write_sysfs(bus, "power/autosuspend_delay_ms", "500"));
	ASSERT_EQ(0, write_sysfs(bus, "power/control", "on"));
}

#define STATUS_0	(TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS)
#define BUSY		(TESSERA_QUEUE_STATUS_ENABLED | TESSERA_QUEUE_STATUS_BUSY)

TEST_F(lost, queue_that_does_not_stop_is_stopped_by_a_reset_of_the_device)
{
	char event[EVENT_SIZE] = "";
	int fence;

	SET_READ_OR_SKIP(STATUS_0, BUSY);
	fence = submit_hang(_metadata, self, "1");
	EXPECT_STREQ("none", wait_for_event(_metadata, self, "WEDGED", event));
	EXPECT_EQ(-ECANCELED, test_sync_file_wait(_metadata, fence));
	EXPECT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
	close(fence);
}

TEST_F(lost, device_with_a_queue_that_does_not_start_after_a_reset_is_lost)
{
	struct drm_tessera_submit submit = test_submission(&self->job.job, 1);
	char event[EVENT_SIZE] = "";
	int fence, behind;

	SET_READ_OR_SKIP(STATUS_0 | TESSERA_TEST_READ_KEPT, BUSY);
	fence = submit_hang(_metadata, self, "1");
	submit.queue = 0;
	behind = test_submit_fence(_metadata, self->fd, &submit);
	EXPECT_STREQ("rebind,bus-reset", wait_for_event(_metadata, self, "WEDGED", event));
	EXPECT_EQ(-ECANCELED, test_sync_file_wait(_metadata, fence));
	EXPECT_EQ(-ENODEV, test_sync_file_wait(_metadata, behind));
	EXPECT_EQ(-ENODEV, test_submit_job(self->fd, &self->job));
	close(behind);
	close(fence);
}

/* By its interrupt: the driver would look by itself in some minutes */
TEST_F(lost, queue_that_has_stopped_with_an_error_is_recovered_at_once)
{
	__u32 num_queues = test_info(_metadata, self->fd).num_queues;
	struct drm_tessera_submit_result result;
	struct drm_tessera_job_result job_result;
	char event[EVENT_SIZE] = "";
	int fence;

	SET_READ_OR_SKIP(STATUS_0, BUSY | TESSERA_QUEUE_STATUS_ERROR | TESSERA_QUEUE_ERROR_RING);
	fence = submit_hang(_metadata, self, "1000000");
	while (test_read_debugfs(_metadata, self->fd, "test_hang"))
		sched_yield();
	ASSERT_EQ(0, test_write_debugfs(_metadata, self->fd, "test_interrupt",
					TESSERA_VECTOR_ERROR(num_queues)));
	EXPECT_STREQ("none", wait_for_event(_metadata, self, "WEDGED", event));
	EXPECT_EQ(-EIO, test_sync_file_wait(_metadata, fence));
	ASSERT_EQ(0, test_query_result(self->fd, 1, &result, &job_result, 1));
	EXPECT_EQ(DRM_TESSERA_CAUSE_DESCRIPTOR, job_result.cause);
	EXPECT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
	close(fence);
}

/* Its reset is what wakes it */
TEST_F(lost, device_whose_reset_does_not_end_is_lost_and_that_is_told_once)
{
	int told_of_reset = test_log_open(_metadata), told_of_loss = test_log_open(_metadata);
	char event[EVENT_SIZE] = "";

	SET_READ_OR_SKIP(TESSERA_REG_CONTROL | TESSERA_TEST_READ_KEPT, TESSERA_CONTROL_RESET);
	sleep_and_wake(_metadata, self->bus);
	EXPECT_STREQ("rebind,bus-reset", wait_for_event(_metadata, self, "WEDGED", event));
	EXPECT_EQ(-ENODEV, test_submit_job(self->fd, &self->job));
	EXPECT_EQ(SIZE, test_filled(self->source.map, SIZE, 1));
	rebind(_metadata, self);
	EXPECT_EQ(1, test_log_count(told_of_reset, "no end of a reset: control 0x1, expected 0"));
	EXPECT_EQ(1, test_log_count(told_of_loss, "the device is lost"));
}

TEST_F(lost, device_whose_reset_does_not_end_can_be_unbound)
{
	int log = test_log_open(_metadata);

	SET_READ_OR_SKIP(TESSERA_REG_CONTROL | TESSERA_TEST_READ_KEPT, TESSERA_CONTROL_RESET);
	rebind(_metadata, self);
	EXPECT_EQ(-ENODEV, test_submit_job(self->fd, &self->job));
	EXPECT_EQ(SIZE, test_filled(self->source.map, SIZE, 1));
	EXPECT_EQ(1, test_log_count(log, "no end of a reset: control 0x1, expected 0"));
}

TEST_F(lost, device_that_does_not_let_go_of_a_buffer_is_reset)
{
	char event[EVENT_SIZE] = "";

	SET_READ_OR_SKIP(TESSERA_REG_INVALIDATE, 1);
	test_buffer_destroy(_metadata, self->fd, &self->other);
	EXPECT_STREQ("none", wait_for_event(_metadata, self, "WEDGED", event));
	EXPECT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
}

TEST_HARNESS_MAIN
