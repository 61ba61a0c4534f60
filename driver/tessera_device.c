// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device as a whole: finding out what it is, bringing it up, resetting it, stopping it for
 * good, and telling it of buffers.
 */
#include <linux/iopoll.h>
#include <linux/mm.h>
#include <linux/pm_runtime.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "tessera_compat.h"
#include "tessera_device.h"
#include "tessera_drv.h"
#include "tessera_gem.h"
#include "tessera_queue.h"
#include "tessera_trace.h"

/*
 * Every page of a buffer is pinned and listed in one array of pointers, of which a kernel
 * allocates at most 2 GiB: 1 TiB of pages of 4 KiB. Half of that leaves no doubt.
 */
#define MAX_BO_SIZE	BIT_ULL(39)

/* Awake */

/**
 * tessera_device_put() - let the device sleep again, some time after the last who needs it awake
 * @tdev: the device
 */
void tessera_device_put(struct tessera_device *tdev)
{
	pm_runtime_mark_last_busy(tdev->drm.dev);
	pm_runtime_put_autosuspend(tdev->drm.dev);
}

/**
 * tessera_device_enter() - wake the device, and keep it awake and from going away
 * @tdev: the device
 * @cookie: for tessera_device_exit()
 *
 * May sleep, and wait for a reset. Nobody does it whom a fence waits for.
 *
 * Return: false when the device is gone, or does not wake.
 */
bool tessera_device_enter(struct tessera_device *tdev, int *cookie)
{
	if (!drm_dev_enter(&tdev->drm, cookie))
		return false;
	if (!pm_runtime_resume_and_get(tdev->drm.dev))
		return true;
	drm_dev_exit(*cookie);
	return false;
}

/**
 * tessera_device_exit() - the end of what tessera_device_enter() has begun
 * @tdev: the device
 * @cookie: as it was set
 */
void tessera_device_exit(struct tessera_device *tdev, int cookie)
{
	tessera_device_put(tdev);
	drm_dev_exit(cookie);
}

/* Reset */

static int reset_hardware(struct tessera_device *tdev)
{
	u32 control;
	int ret;

	writel(TESSERA_CONTROL_RESET, tdev->regs + TESSERA_REG_CONTROL);
	ret = readl_poll_timeout(tdev->regs + TESSERA_REG_CONTROL, control, !control,
				 TESSERA_STOP_POLL_US, TESSERA_STOP_TIMEOUT_US);
	if (ret)
		drm_err(&tdev->drm, "no end of a reset: control 0x%x, expected 0\n", control);
	return ret;
}

/* What the device has forgotten in a reset, but for the queues */
static void configure_hardware(struct tessera_device *tdev)
{
	lo_hi_writeq(tdev->directory_dma, tdev->regs + TESSERA_REG_BUFFERS);
	writel(tdev->num_buffers, tdev->regs + TESSERA_REG_NUM_BUFFERS);
}

/* The last resort: whatever the device still does, it no longer reaches memory. */
static void lose_device(struct tessera_device *tdev)
{
	struct tessera_queue *queue;

	drm_err(&tdev->drm, "the device is lost\n");
	pci_clear_master(to_pci_dev(tdev->drm.dev));
	WRITE_ONCE(tdev->is_lost, true);
	for (queue = tdev->queues; queue < tdev->queues + tdev->num_queues; queue++)
		tessera_queue_fail_all(queue, -ENODEV);
}

/* Keeps what is handed over from now on from the device. */
static void hold_queues(struct tessera_device *tdev)
{
	struct tessera_queue *queue;

	for (queue = tdev->queues; queue < tdev->queues + tdev->num_queues; queue++) {
		scoped_guard(spinlock_irqsave, &queue->lock)
			queue->is_stopped = true;
	}
}

static int start_queues(struct tessera_device *tdev)
{
	struct tessera_queue *queue;
	int ret = 0;

	for (queue = tdev->queues; queue < tdev->queues + tdev->num_queues; queue++)
		ret = ret ?: tessera_queue_start(queue);
	return ret;
}

/**
 * tessera_device_recover() - reset the device, and run again what had not begun
 * @tdev: the device
 * @guilty_queue: the queue at fault, or NULL
 * @guilty: &tessera_submission.last_sequence of the submission at fault
 * @cause: why its job was stopped
 *
 * Called on &tessera_device.recovery_wq, or while that is idle and disabled.
 */
void tessera_device_recover(struct tessera_device *tdev, struct tessera_queue *guilty_queue,
			    u64 guilty, enum drm_tessera_cause cause)
{
	struct tessera_queue *queue;

	if (tdev->is_lost)
		return;
	trace_tessera_reset("device", guilty, cause);
	hold_queues(tdev);
	if (reset_hardware(tdev)) {
		lose_device(tdev);
		return;
	}
	configure_hardware(tdev);
	for (queue = tdev->queues; queue < tdev->queues + tdev->num_queues; queue++)
		tessera_queue_fail_oldest(queue, queue == guilty_queue ? guilty : 0, cause);
	if (start_queues(tdev))
		lose_device(tdev);
}

/**
 * tessera_device_tell_wedged() - tell userspace that the device was reset, or is lost
 * @tdev: the device, within drm_dev_enter()
 *
 * In the words of drm_dev_wedged_event(). That sends them from the primary node, which a device
 * with an accel node does not have, and looks at it all the same.
 */
void tessera_device_tell_wedged(struct tessera_device *tdev)
{
	char *words[2] = { tdev->is_lost ? "WEDGED=rebind,bus-reset" : "WEDGED=none", NULL };

	kobject_uevent_env(&tdev->drm.accel->kdev->kobj, KOBJ_CHANGE, words);
}

static void reset_work(struct work_struct *work)
{
	struct tessera_device *tdev = container_of(work, struct tessera_device, reset_work);
	int cookie;

	if (!drm_dev_enter(&tdev->drm, &cookie))
		return;
	tessera_device_recover(tdev, NULL, 0, DRM_TESSERA_CAUSE_CANCELED);
	tessera_device_tell_wedged(tdev);
	drm_dev_exit(cookie);
}

static void disable_recovery(struct tessera_device *tdev)
{
	struct tessera_queue *queue;

	for (queue = tdev->queues; queue < tdev->queues + tdev->num_queues; queue++)
		disable_delayed_work_sync(&queue->watch);
	disable_work_sync(&tdev->reset_work);
}

static bool is_drained(struct tessera_device *tdev)
{
	struct tessera_queue *queue;

	for (queue = tdev->queues; queue < tdev->queues + tdev->num_queues; queue++) {
		if (readl(queue->regs + TESSERA_QUEUE_HEAD) != queue->tail)
			return false;
	}
	return true;
}

/**
 * tessera_device_pause() - stop the device for a reset or a sleep that others are about to begin
 * @tdev: the device
 * @drain_us: for how long it may go on with what it has, or 0
 */
void tessera_device_pause(struct tessera_device *tdev, u32 drain_us)
{
	struct tessera_queue *queue;
	bool is_done;
	int cookie;

	disable_recovery(tdev);
	if (!drm_dev_enter(&tdev->drm, &cookie))
		return;
	hold_queues(tdev);
	if (drain_us && !tdev->is_lost)
		read_poll_timeout(is_drained, is_done, is_done, TESSERA_DRAIN_POLL_US, drain_us,
				  false, tdev);
	for (queue = tdev->queues; queue < tdev->queues + tdev->num_queues; queue++)
		tessera_queue_stop(queue);
	drm_dev_exit(cookie);
}

/**
 * tessera_device_resume() - bring the device up again after tessera_device_pause()
 * @tdev: the device
 *
 * What had begun before the pause and has not ended is canceled, the rest runs now.
 */
void tessera_device_resume(struct tessera_device *tdev)
{
	struct tessera_queue *queue;
	int cookie;

	if (drm_dev_enter(&tdev->drm, &cookie)) {
		tessera_device_recover(tdev, NULL, 0, DRM_TESSERA_CAUSE_CANCELED);
		if (tdev->is_lost)
			tessera_device_tell_wedged(tdev);
		drm_dev_exit(cookie);
	}
	enable_work(&tdev->reset_work);
	for (queue = tdev->queues; queue < tdev->queues + tdev->num_queues; queue++) {
		enable_delayed_work(&queue->watch);
		tessera_queue_look(queue);
	}
}

/* The directory of buffers */

/**
 * tessera_device_set_buffer() - let the device use a buffer
 * @tdev: the device
 * @id: its entry, which was clear
 * @buffer: what the entry becomes
 */
void tessera_device_set_buffer(struct tessera_device *tdev, u32 id,
			       const struct tessera_hw_buffer *buffer)
{
	struct tessera_hw_buffer *entry = &tdev->directory[id];

	entry->table = buffer->table;
	entry->size = buffer->size;
	entry->page_shift = buffer->page_shift;
	/* The device must not see the entry valid before it sees what is in it */
	dma_wmb();
	WRITE_ONCE(entry->flags, buffer->flags);
}

/**
 * tessera_device_clear_buffer() - take a buffer from the device
 * @tdev: the device
 * @id: its entry; no submission uses it any more
 *
 * On return the device no longer touches the buffer's memory, nor its table.
 */
void tessera_device_clear_buffer(struct tessera_device *tdev, u32 id)
{
	int cookie, is_awake;
	u32 in_use;

	if (!drm_dev_enter(&tdev->drm, &cookie)) {
		/* The directory is gone, or soon will be, but for a moment the device may be not */
		wait_for_completion(&tdev->stopped);
		return;
	}
	WRITE_ONCE(tdev->directory[id].flags, 0);
	/* Asleep it touches nothing, and before it is at work again it has forgotten everything */
	is_awake = pm_runtime_get_if_active(tdev->drm.dev);
	if (!is_awake || READ_ONCE(tdev->is_lost))
		goto out_exit;
	writel(id, tdev->regs + TESSERA_REG_INVALIDATE);
	if (readl_poll_timeout(tdev->regs + TESSERA_REG_INVALIDATE, in_use, !in_use,
			       TESSERA_STOP_POLL_US, TESSERA_STOP_TIMEOUT_US)) {
		drm_err(&tdev->drm, "buffer %u: still used after invalidation, resetting\n", id);
		queue_work(tdev->recovery_wq, &tdev->reset_work);
		flush_work(&tdev->reset_work);
	}
out_exit:
	/* Where runtime PM is disabled, it cannot be told, and there is no reference */
	if (is_awake > 0)
		tessera_device_put(tdev);
	drm_dev_exit(cookie);
}

/* Interrupts */

static irqreturn_t error_interrupt(int irq, void *data)
{
	struct tessera_device *tdev = data;
	struct tessera_queue *queue;

	for (queue = tdev->queues; queue < tdev->queues + tdev->num_queues; queue++)
		tessera_queue_look(queue);
	return IRQ_HANDLED;
}

static int request_interrupt(struct tessera_device *tdev, u32 vector, irq_handler_t handler,
			     const char *name, void *data)
{
	struct pci_dev *pdev = to_pci_dev(tdev->drm.dev);
	int irq = pci_irq_vector(pdev, vector);
	int ret = irq < 0 ? irq : devm_request_irq(&pdev->dev, irq, handler, 0, name, data);

	return ret ? dev_err_probe(&pdev->dev, ret, "no interrupt %s\n", name) : 0;
}

static int init_interrupts(struct tessera_device *tdev)
{
	struct pci_dev *pdev = to_pci_dev(tdev->drm.dev);
	u32 num_vectors = tdev->num_queues + 1;
	struct tessera_queue *queue;
	int ret;

	ret = pci_alloc_irq_vectors(pdev, num_vectors, num_vectors, PCI_IRQ_MSIX);
	if (ret < 0)
		return dev_err_probe(&pdev->dev, ret, "no %u MSI-X vectors\n", num_vectors);

	for (queue = tdev->queues; queue < tdev->queues + tdev->num_queues; queue++) {
		ret = request_interrupt(tdev, TESSERA_VECTOR_QUEUE(queue->index),
					tessera_queue_interrupt, queue->name, queue);
		if (ret)
			return ret;
	}
	return request_interrupt(tdev, TESSERA_VECTOR_ERROR(tdev->num_queues), error_interrupt,
				 TESSERA_NAME "-error", tdev);
}

/* Bringing up */

static int identify(struct tessera_device *tdev)
{
	struct device *dev = tdev->drm.dev;
	u32 id = readl(tdev->regs + TESSERA_REG_ID);

	if (id != TESSERA_ID)
		return dev_err_probe(dev, -ENODEV, "id 0x%x, expected 0x%x\n", id, TESSERA_ID);
	tdev->hw_version = readl(tdev->regs + TESSERA_REG_VERSION);
	if (tdev->hw_version >> 16 != TESSERA_VERSION >> 16)
		return dev_err_probe(dev, -ENODEV, "version %u.%u, expected %u.x\n",
				     tdev->hw_version >> 16, tdev->hw_version & 0xffff,
				     TESSERA_VERSION >> 16);
	tdev->num_queues = readl(tdev->regs + TESSERA_REG_NUM_QUEUES);
	if (!tdev->num_queues || tdev->num_queues > TESSERA_MAX_QUEUES)
		return dev_err_probe(dev, -ENODEV, "%u queues, expected 1 to %u\n",
				     tdev->num_queues, TESSERA_MAX_QUEUES);
	tdev->features = readl(tdev->regs + TESSERA_REG_FEATURES);
	if (!(tdev->features & TESSERA_FEATURE_HINTS))
		return dev_err_probe(dev, -ENODEV, "features 0x%x, expected 0x%x among them\n",
				     tdev->features, TESSERA_FEATURE_HINTS);
	tdev->sram_size = lo_hi_readq(tdev->regs + TESSERA_REG_SRAM_SIZE);
	/* Zero where there is no such register */
	tdev->grid_columns = readl(tdev->regs + TESSERA_REG_GRID_COLUMNS);
	tdev->clock_khz = readl(tdev->regs + TESSERA_REG_CLOCK);
	tdev->max_bo_size = min_t(u64, (u64)totalram_pages() << PAGE_SHIFT, MAX_BO_SIZE);
	return 0;
}

static int map_registers(struct tessera_device *tdev)
{
	struct pci_dev *pdev = to_pci_dev(tdev->drm.dev);
	resource_size_t size = pci_resource_len(pdev, TESSERA_BAR_REGISTERS);
	int ret;

	if (size < TESSERA_QUEUE(1))
		return dev_err_probe(&pdev->dev, -ENODEV, "%pa bytes of registers, expected %u\n",
				     &size, TESSERA_QUEUE(1));
	ret = pcim_enable_device(pdev);
	if (ret)
		return dev_err_probe(&pdev->dev, ret, "cannot be enabled\n");
	tdev->regs = pcim_iomap_region(pdev, TESSERA_BAR_REGISTERS, TESSERA_NAME);
	if (IS_ERR(tdev->regs))
		return dev_err_probe(&pdev->dev, PTR_ERR(tdev->regs), "no registers\n");
	ret = identify(tdev);
	if (ret)
		return ret;
	if (size < TESSERA_QUEUE(tdev->num_queues))
		return dev_err_probe(&pdev->dev, -ENODEV, "%pa bytes of registers for %u queues\n",
				     &size, tdev->num_queues);
	/* Of 64 bits it never fails */
	dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	return 0;
}

/* In one piece, of which a kernel that has run for long may not have a large one */
static int init_directory(struct tessera_device *tdev)
{
	u32 wanted = clamp(tessera_max_buffers, 1U, TESSERA_MAX_BUFFERS);
	u32 count;

	for (count = wanted; count && !tdev->directory; count /= 2) {
		tdev->directory = dmam_alloc_coherent(tdev->drm.dev,
						      array_size(count, sizeof(*tdev->directory)),
						      &tdev->directory_dma,
						      GFP_KERNEL | __GFP_NOWARN);
		tdev->num_buffers = count;
	}
	if (!tdev->directory)
		return dev_err_probe(tdev->drm.dev, -ENOMEM, "no directory of buffers\n");
	if (tdev->num_buffers < wanted)
		drm_warn(&tdev->drm, "memory for %u buffers, not for %u\n", tdev->num_buffers,
			 wanted);
	return 0;
}

static void free_wq(struct drm_device *drm, void *data)
{
	destroy_workqueue(data);
}

/* Takes over a new workqueue, or NULL. */
static int keep_wq(struct tessera_device *tdev, struct workqueue_struct **kept,
		   struct workqueue_struct *wq)
{
	*kept = wq;
	return wq ? drmm_add_action_or_reset(&tdev->drm, free_wq, wq) : -ENOMEM;
}

static int init_software(struct tessera_device *tdev)
{
	int ret;

	/* Empty, and so without memory of its own, when the last buffer is gone */
	ida_init(&tdev->buffer_ids);
	init_completion(&tdev->stopped);
	INIT_LIST_HEAD(&tdev->mapped_buffers);
	INIT_LIST_HEAD(&tdev->mapped_submissions);
	INIT_WORK(&tdev->reset_work, reset_work);
	INIT_WORK(&tdev->dump_work, tessera_dump_work);
	ret = drmm_mutex_init(&tdev->drm, &tdev->mapped_lock) ?:
	      drmm_mutex_init(&tdev->drm, &tdev->closing_lock) ?:
	      keep_wq(tdev, &tdev->recovery_wq,
		      alloc_ordered_workqueue(TESSERA_NAME "-recovery", WQ_MEM_RECLAIM)) ?:
	      keep_wq(tdev, &tdev->submit_wq,
		      alloc_workqueue(TESSERA_NAME "-submit", WQ_MEM_RECLAIM | WQ_HIGHPRI |
				      TESSERA_WQ_PERCPU, 0));
	if (ret)
		return ret;
	/* Huge pages make tables small and the device fast, and are no condition for anything */
	ret = tessera_huge_mount_create(&tdev->drm, &tdev->huge_mount);
	if (ret)
		drm_dbg(&tdev->drm, "no mount with huge pages: %d\n", ret);
	return 0;
}

static void stop_hardware(void *data)
{
	struct tessera_device *tdev = data;

	disable_recovery(tdev);
	flush_work(&tdev->dump_work);
	/* A device that was pulled out does not answer, one that is lost would not end the reset */
	if (!tdev->is_lost && pci_device_is_present(to_pci_dev(tdev->drm.dev)))
		reset_hardware(tdev);
	pci_clear_master(to_pci_dev(tdev->drm.dev));
}

/**
 * tessera_device_init() - bring up a device that was just found
 * @tdev: the device, of which &tessera_device.drm alone is initialized
 *
 * All that it takes is given back when the driver lets go of the PCI device.
 *
 * Return: 0 or an error, which is in the log with its reason.
 */
int tessera_device_init(struct tessera_device *tdev)
{
	u32 q;
	int ret;

	ret = map_registers(tdev) ?: init_software(tdev) ?: init_directory(tdev) ?:
	      tessera_sram_init(tdev);
	if (ret)
		return ret;
	tdev->queues = drmm_kcalloc(&tdev->drm, tdev->num_queues, sizeof(*tdev->queues),
				    GFP_KERNEL);
	if (!tdev->queues)
		return -ENOMEM;
	for (q = 0; !ret && q < tdev->num_queues; q++)
		ret = tessera_queue_init(tdev, q);
	/* Before it may reach memory: whatever used the device last may have left it at work */
	ret = ret ?: reset_hardware(tdev) ?: init_interrupts(tdev);
	if (ret)
		return ret;
	pci_set_master(to_pci_dev(tdev->drm.dev));
	ret = devm_add_action_or_reset(tdev->drm.dev, stop_hardware, tdev);
	if (ret)
		return ret;
	configure_hardware(tdev);
	return start_queues(tdev);
}

/**
 * tessera_device_unplug() - the device goes away: stop it, and end all that waits for it
 * @tdev: the device, after drm_dev_unplug()
 */
void tessera_device_unplug(struct tessera_device *tdev)
{
	struct tessera_queue *queue;

	devm_release_action(tdev->drm.dev, stop_hardware, tdev);
	for (queue = tdev->queues; queue < tdev->queues + tdev->num_queues; queue++)
		tessera_queue_fail_all(queue, -ENODEV);
	complete_all(&tdev->stopped);
}

#if IS_ENABLED(CONFIG_DRM_ACCEL_TESSERA_KUNIT_TEST)
#include "tests/tessera_device_test.c"
#endif
