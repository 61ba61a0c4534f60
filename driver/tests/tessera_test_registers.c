// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device's test registers, as files in debugfs. For tests and measurements alone: a device that
 * is not made for these has no such registers.
 */
#include <linux/debugfs.h>

#include "../tessera_device.h"
#include "../tessera_queue.h"

static int read_test_register(struct tessera_device *tdev, u32 offset, u64 *value)
{
	int cookie;

	if (!tessera_device_enter(tdev, &cookie))
		return -ENODEV;
	*value = readl(tdev->regs + offset);
	tessera_device_exit(tdev, cookie);
	return 0;
}

static int write_test_register(struct tessera_device *tdev, u32 offset, u64 value)
{
	int cookie;

	if (value > U32_MAX)
		return -ERANGE;
	if (!tessera_device_enter(tdev, &cookie))
		return -ENODEV;
	writel(value, tdev->regs + offset);
	tessera_device_exit(tdev, cookie);
	return 0;
}

#define TEST_REGISTER(name, NAME)							\
static int get_test_##name(void *data, u64 *value)					\
{											\
	return read_test_register(data, TESSERA_REG_TEST_##NAME, value);		\
}											\
											\
static int set_test_##name(void *data, u64 value)					\
{											\
	return write_test_register(data, TESSERA_REG_TEST_##NAME, value);		\
}											\
DEFINE_DEBUGFS_ATTRIBUTE(test_##name##_fops, get_test_##name, set_test_##name, "%llu\n")

TEST_REGISTER(hang, HANG);
TEST_REGISTER(skew, SKEW);
TEST_REGISTER(slow, SLOW);
TEST_REGISTER(corrupt, CORRUPT);
TEST_REGISTER(drop, DROP);
TEST_REGISTER(read, READ);
TEST_REGISTER(value, VALUE);
TEST_REGISTER(interrupt, INTERRUPT);

/* How long it takes from a write to a register to the interrupt, and to a task that waits for it */
static int get_test_round_trip(void *data, u64 *value)
{
	struct tessera_device *tdev = data;
	struct tessera_queue *queue = &tdev->queues[0];
	u32 before = READ_ONCE(queue->num_interrupts);
	u64 start = ktime_get_ns();
	long left;
	int ret;

	ret = write_test_register(tdev, TESSERA_REG_TEST_INTERRUPT, TESSERA_VECTOR_QUEUE(0));
	if (ret)
		return ret;
	left = wait_event_interruptible_timeout(queue->interrupted,
						READ_ONCE(queue->num_interrupts) != before, HZ);
	*value = ktime_get_ns() - start;
	return left > 0 ? 0 : left ?: -ETIMEDOUT;
}
DEFINE_DEBUGFS_ATTRIBUTE(test_round_trip_fops, get_test_round_trip, NULL, "%llu\n");

/**
 * tessera_test_registers_init() - make the files
 * @tdev: a device that has the registers; DRM removes the files with its directory
 */
void tessera_test_registers_init(struct tessera_device *tdev)
{
	struct dentry *root = tdev->drm.debugfs_root;

	debugfs_create_file("test_hang", 0600, root, tdev, &test_hang_fops);
	debugfs_create_file("test_skew", 0600, root, tdev, &test_skew_fops);
	debugfs_create_file("test_slow", 0600, root, tdev, &test_slow_fops);
	debugfs_create_file("test_corrupt", 0600, root, tdev, &test_corrupt_fops);
	debugfs_create_file("test_drop", 0600, root, tdev, &test_drop_fops);
	debugfs_create_file("test_read", 0600, root, tdev, &test_read_fops);
	debugfs_create_file("test_value", 0600, root, tdev, &test_value_fops);
	debugfs_create_file("test_interrupt", 0200, root, tdev, &test_interrupt_fops);
	debugfs_create_file("test_round_trip", 0400, root, tdev, &test_round_trip_fops);
}
