// SPDX-License-Identifier: MIT
/*
 * A device that no longer answers, for its registers are switched off behind the driver's back, and
 * one that only a reset makes answer: what becomes of submissions, and what userspace is told.
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

static int write_sysfs(struct __test_metadata *_metadata, int fd, const char *file,
		       const char *text)
{
	char path[PATH_MAX];

	test_sysfs_path(_metadata, fd, file, path);
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
	ASSERT_EQ(0, write_sysfs(_metadata, self->fd, "power/control", "on"));
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

static int write_driver(const char *file, const char *bus)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/bus/pci/drivers/tessera/%s", file);
	return test_write_file(path, bus);
}

/* As the event asks for: the driver is bound anew */
static void rebind(struct __test_metadata *_metadata, FIXTURE_DATA(lost) *self)
{
	set_memory_space(_metadata, self->config, true);
	ASSERT_EQ(0, write_driver("unbind", self->bus));
	ASSERT_EQ(0, write_driver("bind", self->bus));
}

FIXTURE_TEARDOWN(lost)
{
	int fd;

	rebind(_metadata, self);
	munmap(self->destination.map, SIZE);
	munmap(self->other.map, SIZE);
	munmap(self->source.map, SIZE);
	close(self->uevents);
	close(self->config);
	close(self->fd);
	fd = test_open(_metadata);
	write_sysfs(_metadata, fd, "power/control", "auto");
	close(fd);
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
	ASSERT_EQ(0, write_sysfs(_metadata, self->fd, "job_timeout_ms/pe0", "1"));
	set_memory_space(_metadata, self->config, false);
	status = test_run(_metadata, self->fd, &submit);
	ASSERT_STREQ("rebind,bus-reset", wait_for_event(_metadata, self, "WEDGED", event));
	return status;
}

TEST_F_TIMEOUT(lost, submission_to_a_device_that_does_not_answer_fails, TEST_LONG_TIMEOUT)
{
	char event[EVENT_SIZE] = "";

	EXPECT_LT(lose(_metadata, self, event), 0);
	EXPECT_EQ(SIZE, test_constant(self->destination.map, SIZE, 0));
}

TEST_F_TIMEOUT(lost, event_is_a_change_of_the_node, TEST_LONG_TIMEOUT)
{
	char event[EVENT_SIZE] = "";

	lose(_metadata, self, event);
	EXPECT_STREQ("change", find_value(event, EVENT_SIZE, "ACTION"));
	EXPECT_STREQ("accel_minor", find_value(event, EVENT_SIZE, "DEVTYPE"));
}

TEST_F_TIMEOUT(lost, submission_to_a_lost_device_is_refused, TEST_LONG_TIMEOUT)
{
	char event[EVENT_SIZE] = "";

	lose(_metadata, self, event);
	EXPECT_EQ(-ENODEV, test_submit_job(self->fd, &self->job));
}

TEST_F_TIMEOUT(lost, submission_that_waits_ends_with_enodev_when_its_turn_comes, TEST_LONG_TIMEOUT)
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

TEST_F_TIMEOUT(lost, buffers_of_a_lost_device_can_be_used_and_freed, TEST_LONG_TIMEOUT)
{
	char event[EVENT_SIZE] = "";

	lose(_metadata, self, event);
	EXPECT_EQ(SIZE, test_filled(self->source.map, SIZE, 1));
	EXPECT_EQ(0, test_handle_close(self->fd, self->source.handle));
	EXPECT_EQ(0, test_handle_close(self->fd, self->destination.handle));
}

TEST_F_TIMEOUT(lost, device_that_does_not_answer_after_a_function_level_reset_is_lost,
	       TEST_LONG_TIMEOUT)
{
	char event[EVENT_SIZE] = "";

	set_memory_space(_metadata, self->config, false);
	ASSERT_EQ(0, write_sysfs(_metadata, self->fd, "reset", "1"));
	EXPECT_STREQ("rebind,bus-reset", wait_for_event(_metadata, self, "WEDGED", event));
	EXPECT_EQ(-ENODEV, test_submit_job(self->fd, &self->job));
}

TEST_F_TIMEOUT(lost, device_that_is_bound_anew_works, TEST_LONG_TIMEOUT)
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

/* The registers, or NULL where the kernel keeps them for the driver: without iomem=relaxed */
static volatile __u32 *map_registers(struct __test_metadata *_metadata, int fd)
{
	char path[PATH_MAX];
	void *registers;
	int resource;

	test_sysfs_path(_metadata, fd, "resource0", path);
	resource = open(path, O_RDWR | O_CLOEXEC);
	ASSERT_GE(resource, 0);
	registers = mmap(NULL, TESSERA_QUEUE(1), PROT_READ | PROT_WRITE, MAP_SHARED, resource, 0);
	close(resource);
	return registers == MAP_FAILED ? NULL : registers;
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
TEST_F_TIMEOUT(lost, event_of_a_reset_that_has_helped_asks_for_nothing, TEST_LONG_TIMEOUT)
{
	struct drm_tessera_submit submit = test_submission(&self->gated.job, 1);
	volatile __u32 *registers = map_registers(_metadata, self->fd);
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

TEST_HARNESS_MAIN
