/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hardware queue: its ring, the submissions in it, their completion, and what is done when
 * they do not complete. The scheduler decides what comes next; submissions are tessera_submit.h's.
 */
#ifndef _TESSERA_QUEUE_H_
#define _TESSERA_QUEUE_H_

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/device.h>
#include <linux/dma-fence.h>
#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <drm/gpu_scheduler.h>

#include "tessera_hw.h"

struct tessera_device;
struct tessera_submission;

/* Twice the largest submission: the next one waits in the ring while the first one runs. */
#define TESSERA_RING_SHIFT	11
#define TESSERA_RING_SIZE	BIT(TESSERA_RING_SHIFT)

/**
 * struct tessera_queue_memory - what a queue shares with the device; coherent
 */
struct tessera_queue_memory {
	/** @ring: written by the driver */
	struct tessera_hw_ring_entry ring[TESSERA_RING_SIZE];
	/** @results: written by the device, in the order of the ring */
	struct tessera_hw_result results[TESSERA_RING_SIZE];
	/** @hints: written by the driver */
	struct tessera_hw_hints hints __aligned(16);
	/** @completion: written by the device, after the result: a sequence */
	__le64 completion;
};

/**
 * struct tessera_queue - a hardware queue
 */
struct tessera_queue {
	/** @tdev: the device */
	struct tessera_device *tdev;
	/** @index: which queue of the device */
	u32 index;
	/** @regs: its registers; as &tessera_device.regs */
	void __iomem *regs;
	/** @name: of the queue and of its fences' timeline */
	char name[24];
	/** @sched: feeds the queue; a credit is an entry of the ring */
	struct drm_gpu_scheduler sched;
	/** @fence_context: of the hardware fences */
	u64 fence_context;
	/** @num_pending: jobs that were submitted and whose submission is not freed */
	atomic_t num_pending;
	/** @written_buffer: id of one that the submission that came last writes; a hint */
	unsigned long written_buffer;

	/** @memory: shared with the device; under @lock */
	struct tessera_queue_memory *memory;
	/** @memory_dma: its address for the device */
	dma_addr_t memory_dma;

	/**
	 * @lock: protects all that follows, and is the lock of the hardware fences, so that they
	 * signal in order. Taken in interrupts.
	 */
	spinlock_t lock;
	/** @running: &struct tessera_submission that the device has, oldest first */
	struct list_head running;
	/** @sequence: of the job handed over last; goes on through resets */
	u64 sequence;
	/** @completed: the sequence of the job completed last */
	u64 completed;
	/** @told: the sequence of the job put into the ring last: none behind it has begun */
	u64 told;
	/** @tail: entries produced since the queue was enabled, modulo 2^32 */
	u32 tail;
	/** @is_stopped: submissions are collected in @running, the device is not told */
	bool is_stopped;
	/** @counters: of each entry of the ring, written by the device; NULL: it has none */
	const __le64 (*counters)[TESSERA_NUM_COUNTERS];
	/** @counters_dma: their address for the device */
	dma_addr_t counters_dma;

	/** @num_interrupts: taken, modulo 2^32; written by the interrupt alone */
	u32 num_interrupts;
	/** @interrupted_cpu: that took the last one; written by the interrupt alone */
	int interrupted_cpu;
	/** @interrupted: who waits for @num_interrupts to change */
	wait_queue_head_t interrupted;

	/** @timeout_ms: as the module's parameter, of this queue; 0: the module's */
	u32 timeout_ms;
	/** @watch: looks for jobs that make no progress; on &tessera_device.recovery_wq */
	struct delayed_work watch;
	/** @watch_time: jiffies at the last look; under @lock, as all that follows */
	unsigned long watch_time;
	/** @watched_progress: TESSERA_QUEUE_PROGRESS then */
	u64 watched_progress;
	/** @watched_completed: @completed then */
	u64 watched_completed;
	/** @progress_age: jiffies since the look at which either last had moved */
	unsigned long progress_age;
	/** @job_age: jiffies since the look at which the oldest job was another or could not run */
	unsigned long job_age;
};

int tessera_queue_init(struct tessera_device *tdev, u32 index);

irqreturn_t tessera_queue_interrupt(int irq, void *data);
u32 tessera_queue_timeout_ms(const struct tessera_queue *queue);
void tessera_queue_look(struct tessera_queue *queue);

int tessera_queue_stop(struct tessera_queue *queue);
int tessera_queue_start(struct tessera_queue *queue);
void tessera_queue_fail_oldest(struct tessera_queue *queue, u64 guilty,
			       enum drm_tessera_cause cause);
void tessera_queue_fail_all(struct tessera_queue *queue, int error);

/* tessera_dump.c */
void tessera_dump_take(struct tessera_queue *queue, struct tessera_submission *submission,
		       enum drm_tessera_cause cause);
void tessera_dump_work(struct work_struct *work);

#endif /* _TESSERA_QUEUE_H_ */
