/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device as a whole: registers, interrupts, the directory of buffers, reset. What happens on
 * one queue is in tessera_queue.h, what a buffer is in tessera_gem.h.
 */
#ifndef _TESSERA_DEVICE_H_
#define _TESSERA_DEVICE_H_

#include <linux/completion.h>
#include <linux/dma-mapping.h>
#include <linux/idr.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/sysfs.h>
#include <linux/workqueue.h>

#include <drm/drm_device.h>
#include <drm/drm_mm.h>

#include "tessera_hw.h"

struct tessera_bo;
struct drm_tessera_dump_header;
struct tessera_queue;
struct vfsmount;

/* How long a reset, a queue that is disabled and an invalidation may take */
#define TESSERA_STOP_TIMEOUT_US		(2 * USEC_PER_SEC)
#define TESSERA_STOP_POLL_US		20
/* What the device has may take so long before a sleep of the system; then it is canceled */
#define TESSERA_DRAIN_TIMEOUT_US	(5 * USEC_PER_SEC)
#define TESSERA_DRAIN_POLL_US		1000
/* So long without a submission the device stays awake */
#define TESSERA_AUTOSUSPEND_MS		500

/**
 * struct tessera_device - a Tessera
 */
struct tessera_device {
	/** @drm: the DRM device; its last reference frees this structure */
	struct drm_device drm;
	/**
	 * @regs: BAR 0; used while awake, within drm_dev_enter(), or by probe and remove alone.
	 * Whoever is not within tessera_device_enter() has a submission, which keeps it awake.
	 */
	void __iomem *regs;
	/** @hw_version: TESSERA_REG_VERSION */
	u32 hw_version;
	/** @features: TESSERA_REG_FEATURES */
	u32 features;
	/** @sram_size: TESSERA_REG_SRAM_SIZE */
	u64 sram_size;
	/** @grid_columns: TESSERA_REG_GRID_COLUMNS, or 0 */
	u32 grid_columns;
	/** @clock_khz: TESSERA_REG_CLOCK, or 0: the device has no counters */
	u32 clock_khz;
	/** @sram: BAR 2, if the device has on-chip memory; used as @regs */
	void __iomem *sram;
	/** @sram_mm: which pieces of it are buffers; under @mapped_lock */
	struct drm_mm sram_mm;
	/** @max_bo_size: bytes of the largest buffer in system memory */
	u64 max_bo_size;

	/** @num_queues: elements of @queues */
	u32 num_queues;
	/** @queues: the hardware queues */
	struct tessera_queue *queues;
	/** @next_queue: where the search for the least loaded queue starts */
	atomic_t next_queue;

	/**
	 * @submit_wq: of the schedulers. Bound to processors: a submission is handed over by the
	 * one that SUBMIT runs on, and no other has to be woken for it
	 */
	struct workqueue_struct *submit_wq;
	/**
	 * @closing_lock: a file that is closed stops the schedulers, and no other one starts them
	 * meanwhile. Outside of all that their works take
	 */
	struct mutex closing_lock;
	/** @recovery_wq: ordered: one recovery at a time, of whatever queue */
	struct workqueue_struct *recovery_wq;
	/** @reset_work: resets the device; on @recovery_wq */
	struct work_struct reset_work;
	/** @dump: of the last hang, until @dump_work is done with it, or NULL */
	struct drm_tessera_dump_header *dump;
	/** @dump_work: hands it to the kernel; on tessera_free_wq */
	struct work_struct dump_work;
	/**
	 * @is_lost: the device did not come back from a reset. Set once, before the queues' locks
	 * are taken to fail what they hold; read under a queue's lock, or as a hint.
	 */
	bool is_lost;
	/** @stopped: after removal has begun: the device no longer touches memory */
	struct completion stopped;

	/** @directory: of buffers, read by the device; coherent memory */
	struct tessera_hw_buffer *directory;
	/** @directory_dma: its address for the device */
	dma_addr_t directory_dma;
	/** @num_buffers: entries of @directory */
	u32 num_buffers;
	/** @buffer_ids: which entries are taken */
	struct ida buffer_ids;

	/**
	 * @mapped_lock: protects @mapped_buffers, @mapped_submissions, @sram_mm and what is in
	 * @sram; inside of mmap_lock, outside of dma_resv
	 */
	struct mutex mapped_lock;
	/** @mapped_buffers: &struct tessera_bo that are mapped for the device */
	struct list_head mapped_buffers;
	/** @mapped_submissions: &struct tessera_submission that are mapped for the device */
	struct list_head mapped_submissions;

	/** @huge_mount: where the memory of buffers comes from, or NULL; tessera_compat.h */
	struct vfsmount *huge_mount;
};

static inline struct tessera_device *to_tessera_device(struct drm_device *drm)
{
	return container_of(drm, struct tessera_device, drm);
}

/* tessera_sysfs.c; tessera_debugfs.c and a file of tests, where there is debugfs */
extern const struct attribute_group *tessera_dev_groups[];
void tessera_sysfs_init(void);
void tessera_debugfs_init(struct tessera_device *tdev);
void tessera_test_registers_init(struct tessera_device *tdev);

bool tessera_device_enter(struct tessera_device *tdev, int *cookie);
void tessera_device_exit(struct tessera_device *tdev, int cookie);
void tessera_device_put(struct tessera_device *tdev);

int tessera_device_init(struct tessera_device *tdev);
void tessera_device_unplug(struct tessera_device *tdev);

void tessera_device_recover(struct tessera_device *tdev, struct tessera_queue *guilty_queue,
			    u64 guilty, enum drm_tessera_cause cause);
void tessera_device_tell_wedged(struct tessera_device *tdev);
void tessera_device_pause(struct tessera_device *tdev, u32 drain_us);
void tessera_device_resume(struct tessera_device *tdev);

void tessera_device_set_buffer(struct tessera_device *tdev, u32 id,
			       const struct tessera_hw_buffer *buffer);
void tessera_device_clear_buffer(struct tessera_device *tdev, u32 id);

#endif /* _TESSERA_DEVICE_H_ */
