// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files in debugfs, in the directory that DRM makes for the device.
 */
#include <linux/cleanup.h>
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include <drm/drm_debugfs.h>
#include <drm/drm_drv.h>
#include <drm/drm_gem.h>

#include "tessera_debugfs.h"
#include "tessera_device.h"
#include "tessera_gem.h"
#include "tessera_queue.h"

static void show_queue(struct seq_file *m, struct tessera_queue *queue)
{
	lockdep_assert_held(&queue->lock);

	seq_printf(m, "%s: status 0x%x progress %llu", queue->name,
		   readl(queue->regs + TESSERA_QUEUE_STATUS),
		   lo_hi_readq(queue->regs + TESSERA_QUEUE_PROGRESS));
	seq_printf(m, " pending %d sequence %llu completed %llu tail %u",
		   atomic_read(&queue->num_pending), queue->sequence, queue->completed,
		   queue->tail);
	seq_printf(m, " doorbells %u interrupts %u%s\n",
		   readl(queue->regs + TESSERA_QUEUE_NUM_DOORBELLS),
		   readl(queue->regs + TESSERA_QUEUE_NUM_INTERRUPTS),
		   queue->is_stopped ? " stopped" : "");
}

static int show_queues(struct seq_file *m, void *data)
{
	struct drm_debugfs_entry *entry = m->private;
	struct tessera_device *tdev = to_tessera_device(entry->dev);
	u32 q;
	int cookie;

	if (!drm_dev_enter(entry->dev, &cookie))
		return -ENODEV;
	for (q = 0; q < tdev->num_queues; q++) {
		struct tessera_queue *queue = &tdev->queues[q];

		scoped_guard(spinlock_irqsave, &queue->lock)
			show_queue(m, queue);
	}
	drm_dev_exit(cookie);
	return 0;
}

static int show_buffers(struct seq_file *m, void *data)
{
	struct drm_debugfs_entry *entry = m->private;
	struct tessera_device *tdev = to_tessera_device(entry->dev);
	struct tessera_bo *bo;

	guard(mutex)(&tdev->mapped_lock);
	list_for_each_entry(bo, &tdev->mapped_buffers, node)
		seq_printf(m, "%u: size %zu page-size %llu%s%s\n", bo->id, bo->base.base.size,
			   1ULL << bo->page_shift, bo->attach ? " imported" : "",
			   bo->is_read_only ? " read-only" : "");
	return 0;
}

static const struct drm_debugfs_info infos[] = {
	{ "queues", show_queues },
	{ "buffers", show_buffers },
};

static int read_test_register(struct tessera_device *tdev, u32 offset, u64 *value)
{
	int cookie;

	if (!drm_dev_enter(&tdev->drm, &cookie))
		return -ENODEV;
	*value = readl(tdev->regs + offset);
	drm_dev_exit(cookie);
	return 0;
}

static int write_test_register(struct tessera_device *tdev, u32 offset, u64 value)
{
	int cookie;

	if (value > U32_MAX)
		return -ERANGE;
	if (!drm_dev_enter(&tdev->drm, &cookie))
		return -ENODEV;
	writel(value, tdev->regs + offset);
	drm_dev_exit(cookie);
	return 0;
}

static int get_test_hang(void *data, u64 *value)
{
	return read_test_register(data, TESSERA_REG_TEST_HANG, value);
}

static int set_test_hang(void *data, u64 value)
{
	return write_test_register(data, TESSERA_REG_TEST_HANG, value);
}
DEFINE_DEBUGFS_ATTRIBUTE(test_hang_fops, get_test_hang, set_test_hang, "%llu\n");

static int get_test_skew(void *data, u64 *value)
{
	return read_test_register(data, TESSERA_REG_TEST_SKEW, value);
}

static int set_test_skew(void *data, u64 value)
{
	return write_test_register(data, TESSERA_REG_TEST_SKEW, value);
}
DEFINE_DEBUGFS_ATTRIBUTE(test_skew_fops, get_test_skew, set_test_skew, "%llu\n");

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
 * tessera_debugfs_init() - make the files
 * @tdev: the device; DRM removes them with its directory
 */
void tessera_debugfs_init(struct tessera_device *tdev)
{
	struct dentry *root = tdev->drm.debugfs_root;

	drm_debugfs_add_files(&tdev->drm, infos, ARRAY_SIZE(infos));
	if (!(tdev->features & TESSERA_FEATURE_TEST))
		return;
	debugfs_create_file("test_hang", 0600, root, tdev, &test_hang_fops);
	debugfs_create_file("test_skew", 0600, root, tdev, &test_skew_fops);
	debugfs_create_file("test_round_trip", 0400, root, tdev, &test_round_trip_fops);
}
