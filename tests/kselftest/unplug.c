// SPDX-License-Identifier: MIT
/*
 * The device is pulled out of its slot while it is at work. The slot is that of a PCI Express port:
 * where software takes the power from it without a word to the driver, QEMU pulls out what is in
 * it, and the kernel finds that it is gone. There is no way back: there is one test, and it is run
 * in a guest of its own. Removal that begins with the kernel is in module.c.
 */
#include "tessera_test.h"

#include <linux/pci_regs.h>

#define SIZE	TEST_PAGE_SIZE

FIXTURE(unplug) {
	int fd;
	int port;			/* configuration space of the port, or -1 */
	int slot_control;		/* where in it */
	struct test_buffer destination;
	struct test_buffer source;
	struct test_job job;
};

static __u32 read_config(struct __test_metadata *_metadata, int port, __u32 offset, __u32 bytes)
{
	__u32 value = 0;

	ASSERT_EQ(bytes, pread(port, &value, bytes, offset));
	return value;
}

/* Where the register is, or 0 when the port has no slot */
static int find_slot_control(struct __test_metadata *_metadata, int port)
{
	__u32 at = read_config(_metadata, port, PCI_CAPABILITY_LIST, 1);

	while (at && read_config(_metadata, port, at + PCI_CAP_LIST_ID, 1) != PCI_CAP_ID_EXP)
		at = read_config(_metadata, port, at + PCI_CAP_LIST_NEXT, 1);
	if (!at || !(read_config(_metadata, port, at + PCI_EXP_FLAGS, 2) & PCI_EXP_FLAGS_SLOT))
		return 0;
	return at + PCI_EXP_SLTCTL;
}

FIXTURE_SETUP(unplug)
{
	char path[PATH_MAX];

	self->fd = test_open(_metadata);
	test_sysfs_path(_metadata, self->fd, "../config", path);
	self->port = open(path, O_RDWR | O_CLOEXEC);
	if (self->port >= 0)
		self->slot_control = find_slot_control(_metadata, self->port);
	self->destination = test_buffer_create(_metadata, self->fd, SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	test_fill(self->source.map, SIZE, 1);
	test_job_copy(&self->job, self->destination.handle, self->source.handle, SIZE / 4);
}

FIXTURE_TEARDOWN(unplug)
{
	close(self->fd);
}

/* The port's driver is told when the power is back, and then sees an empty slot, and no more */
static void pull_out(struct __test_metadata *_metadata, int port, int slot_control)
{
	__u16 before = read_config(_metadata, port, slot_control, 2);
	__u16 value = (before | PCI_EXP_SLTCTL_PIC | PCI_EXP_SLTCTL_PCC) & ~PCI_EXP_SLTCTL_HPIE;

	ASSERT_EQ(2, pwrite(port, &value, 2, slot_control));
	ASSERT_EQ(2, pwrite(port, &before, 2, slot_control));
}

/* Submits to the last queue until it cannot any more */
static pid_t start_submitting(struct __test_metadata *_metadata, FIXTURE_DATA(unplug) *self)
{
	struct drm_tessera_submit submit = test_submission(&self->job.job, 1);
	int ready[2], ret, k = 0;
	pid_t child;
	char byte;

	submit.queue = test_info(_metadata, self->fd).num_queues - 1;
	ASSERT_EQ(0, pipe(ready));
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		while (!(ret = test_submit(self->fd, &submit)))
			if (++k == 20)
				ASSERT_EQ(1, write(ready[1], "", 1));
		_exit(ret != -ENODEV || k < 20);
	}
	ASSERT_EQ(1, read(ready[0], &byte, 1));
	return child;
}

/* A job on the first queue that makes no progress: its fence */
static int start_hanging(struct __test_metadata *_metadata, FIXTURE_DATA(unplug) *self)
{
	struct drm_tessera_submit submit = test_submission(&self->job.job, 1);
	int fence;

	submit.queue = 0;
	fence = test_submit_fence(_metadata, self->fd, &submit);
	while (test_read_debugfs(_metadata, self->fd, "test_hang"))
		sched_yield();
	return fence;
}

TEST_F(unplug, everything_ends_with_enodev_and_memory_stays)
{
	struct drm_tessera_submit submit = test_submission(&self->job.job, 1);
	struct drm_tessera_bo_create create = { .size = SIZE };
	struct test_buffer sram = test_sram_create(_metadata, self->fd, SIZE, 0);
	int hanging, behind;
	pid_t child;

	if (self->port < 0 || !self->slot_control)
		SKIP(return, "the device is in no slot");
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
	if (test_write_debugfs(_metadata, self->fd, "test_hang", 1))
		SKIP(return, "the device has no test registers");
	test_fill(sram.map, SIZE, 3);
	hanging = start_hanging(_metadata, self);
	submit.queue = 0;
	behind = test_submit_fence(_metadata, self->fd, &submit);
	child = start_submitting(_metadata, self);
	pull_out(_metadata, self->port, self->slot_control);
	test_join(_metadata, child);
	EXPECT_EQ(-ENODEV, test_sync_file_wait(_metadata, hanging));
	EXPECT_EQ(-ENODEV, test_sync_file_wait(_metadata, behind));
	EXPECT_EQ(-ENODEV, test_submit(self->fd, &submit));
	EXPECT_EQ(-ENODEV, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_CREATE, &create));
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
	EXPECT_EQ(SIZE, test_filled(self->source.map, SIZE, 1));
	memset(self->destination.map, 2, SIZE);
	/* What was in the device is gone with it, but not the mapping */
	EXPECT_EQ(SIZE, test_constant(sram.map, SIZE, 0));
	test_fill(sram.map, SIZE, 4);
	EXPECT_EQ(SIZE, test_filled(sram.map, SIZE, 4));
	EXPECT_EQ(-ENODEV, test_open_driver("/dev/accel", "accel", "tessera"));
}

TEST_HARNESS_MAIN
