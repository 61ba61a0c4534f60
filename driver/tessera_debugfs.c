// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files in debugfs, in the directory that DRM makes for the device.
 */
#include <linux/cleanup.h>
#include <linux/math64.h>
#include <linux/seq_file.h>

#include <drm/drm_debugfs.h>
#include <drm/drm_gem.h>

#include "tessera_device.h"
#include "tessera_gem.h"
#include "tessera_queue.h"

static void show_queue(struct seq_file *m, struct tessera_queue *queue)
{
	lockdep_assert_held(&queue->lock);

	seq_printf(m, "%s: status 0x%x progress %llu pending %d sequence %llu completed %llu",
		   queue->name, readl(queue->regs + TESSERA_QUEUE_STATUS),
		   lo_hi_readq(queue->regs + TESSERA_QUEUE_PROGRESS),
		   atomic_read(&queue->num_pending), queue->sequence, queue->completed);
	seq_printf(m, " tail %u doorbells %u interrupts %u%s\n", queue->tail,
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

	if (!tessera_device_enter(tdev, &cookie))
		return -ENODEV;
	for (q = 0; q < tdev->num_queues; q++)
		scoped_guard(spinlock_irqsave, &tdev->queues[q].lock)
			show_queue(m, &tdev->queues[q]);
	tessera_device_exit(tdev, cookie);
	return 0;
}

static int show_buffers(struct seq_file *m, void *data)
{
	struct drm_debugfs_entry *entry = m->private;
	struct tessera_device *tdev = to_tessera_device(entry->dev);
	struct tessera_bo *bo;

	guard(mutex)(&tdev->mapped_lock);
	list_for_each_entry(bo, &tdev->mapped_buffers, node) {
		seq_printf(m, "%u: size %zu ", bo->id, bo->base.base.size);
		if (tessera_bo_is_sram(bo))
			seq_printf(m, "sram pe%llu\n", div64_u64(bo->sram.start, tdev->sram_size));
		else
			seq_printf(m, "page-size %llu%s%s\n", 1ULL << bo->page_shift,
				   bo->attach ? " imported" : "",
				   bo->is_read_only ? " read-only" : "");
	}
	return 0;
}

/* The members of struct drm_tessera_job_counters, in their order */
static const char *const counter_names[] = {
	"points", "windows_failed",
	"system_bytes_read", "system_bytes_written", "system_bursts_read", "system_bursts_written",
	"system_cycles_read", "system_cycles_written",
	"sram_bytes_read", "sram_bytes_written", "sram_bursts_read", "sram_bursts_written",
	"sram_cycles_read", "sram_cycles_written",
	"noc_bytes", "noc_hops", "noc_cycles", "noc_wait_cycles",
	"cycles", "energy_pj", "uncounted",
};

/* What is more than 32 bits wide is read in two halves, and may have moved in between */
static int show_counters(struct seq_file *m, void *data)
{
	struct drm_debugfs_entry *entry = m->private;
	struct tessera_device *tdev = to_tessera_device(entry->dev);
	int cookie;
	u32 q, n;

	if (!tessera_device_enter(tdev, &cookie))
		return -ENODEV;
	for (q = 0; q < tdev->num_queues; q++) {
		seq_printf(m, "%s:", tdev->queues[q].name);
		for (n = 0; n < ARRAY_SIZE(counter_names); n++)
			seq_printf(m, " %s %llu", counter_names[n],
				   lo_hi_readq(tdev->queues[q].regs + TESSERA_QUEUE_TOTAL(n)));
		seq_puts(m, " links");
		for (n = 0; n < TESSERA_NUM_LINKS; n++)
			seq_printf(m, " %llu", lo_hi_readq(tdev->regs + TESSERA_REG_LINK(q, n)));
		seq_putc(m, '\n');
	}
	tessera_device_exit(tdev, cookie);
	return 0;
}

static const struct drm_debugfs_info infos[] = {
	{ "queues", show_queues },
	{ "buffers", show_buffers },
	/* The last one, for devices that have some */
	{ "counters", show_counters },
};

/**
 * tessera_debugfs_init() - make the files
 * @tdev: the device; DRM removes them with its directory
 */
void tessera_debugfs_init(struct tessera_device *tdev)
{
	drm_debugfs_add_files(&tdev->drm, infos, ARRAY_SIZE(infos) - !tdev->clock_khz);
	if (tdev->features & TESSERA_FEATURE_TEST)
		tessera_test_registers_init(tdev);
}
