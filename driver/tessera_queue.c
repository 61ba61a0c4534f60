// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hardware queues. The scheduler hands over one submission at a time; its jobs become as many ring
 * entries, of which the last one asks for an interrupt. Submissions complete in order.
 *
 * Hangs are looked for here and not by the scheduler's timer: that is started anew by every job
 * that is handed over, so that a steady stream would hide a hang, and it cannot know of progress.
 * Recovery needs nothing of the scheduler either: what is handed over meanwhile is collected, and
 * put into the ring when the queue runs again.
 */
#include <linux/cleanup.h>
#include <linux/iopoll.h>

#include <drm/drm_drv.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "tessera_compat.h"
#include "tessera_device.h"
#include "tessera_drv.h"
#include "tessera_file.h"
#include "tessera_queue.h"
#include "tessera_submit.h"
#include "tessera_trace.h"

static struct tessera_submission *to_submission(struct drm_sched_job *job)
{
	return container_of(job, struct tessera_submission, base);
}

/* A device whose host is busy may stand still for a while, and is well all the same */
#define MIN_TIMEOUT_MS	100U

/**
 * tessera_queue_timeout_ms() - how long a job may make no progress
 * @queue: the queue
 *
 * Return: milliseconds.
 */
u32 tessera_queue_timeout_ms(const struct tessera_queue *queue)
{
	u32 ms = READ_ONCE(queue->timeout_ms) ?: READ_ONCE(tessera_job_timeout_ms);

	return max(ms, MIN_TIMEOUT_MS);
}

static unsigned long timeout(const struct tessera_queue *queue)
{
	return msecs_to_jiffies(tessera_queue_timeout_ms(queue));
}

/* Four looks in a timeout: a hang is found at most a quarter of it late */
static unsigned long watch_period(const struct tessera_queue *queue)
{
	unsigned long limit = msecs_to_jiffies(READ_ONCE(tessera_job_limit_ms));

	return DIV_ROUND_UP(min_not_zero(timeout(queue), limit), 4);
}

static void schedule_watch(struct tessera_queue *queue)
{
	queue_delayed_work(queue->tdev->recovery_wq, &queue->watch, watch_period(queue));
}

/* The ring; all of it under the lock */

static void ring_put(struct tessera_queue *queue, struct tessera_submission *submission)
{
	u64 sequence = submission->last_sequence - submission->num_jobs;
	u32 n;

	submission->first_entry = queue->tail;
	for (n = 0; n < submission->num_jobs; n++) {
		u32 slot = (queue->tail + n) % TESSERA_RING_SIZE;
		struct tessera_hw_ring_entry *entry = &queue->memory->ring[slot];
		bool is_last = n == submission->num_jobs - 1;

		entry->descriptor = cpu_to_le64(submission->descriptors[n].dma);
		entry->descriptor_size = cpu_to_le32(submission->descriptors[n].size);
		entry->flags = cpu_to_le32(is_last ? TESSERA_RING_INTERRUPT : 0);
		entry->sequence = cpu_to_le64(++sequence);
		entry->counters = 0;
		if (submission->result->counters)
			entry->counters = cpu_to_le64(queue->counters_dma +
						      slot * sizeof(*queue->counters));
	}
	queue->tail += submission->num_jobs;
	queue->told = sequence;
}

/* writel() orders what was written to the ring before the doorbell */
static void ring_doorbell(struct tessera_queue *queue)
{
	writel(queue->tail, queue->regs + TESSERA_QUEUE_TAIL);
}

/* A device that has not completed what came before looks for the new tail when it has */
static void ring_tell(struct tessera_queue *queue, u64 sequence_before)
{
	/* The device must not see the tail before the entries */
	dma_wmb();
	WRITE_ONCE(queue->memory->hints.tail, cpu_to_le32(queue->tail));
	/* Pairs with the device, which writes the completion word before it reads the tail */
	mb();
	if (le64_to_cpu(READ_ONCE(queue->memory->completion)) == sequence_before)
		ring_doorbell(queue);
}

/* Takes over the results of the first jobs of a submission. */
static void ring_take_results(struct tessera_queue *queue, struct tessera_submission *submission,
			      u32 num_done)
{
	u64 sequence = submission->last_sequence - submission->num_jobs;
	u64 *counters = (u64 *)submission->result->counters;
	u32 n, k;

	for (n = 0; n < num_done; n++) {
		u32 slot = (submission->first_entry + n) % TESSERA_RING_SIZE;
		const struct tessera_hw_result *hw = &queue->memory->results[slot];
		struct drm_tessera_job_result *result = &submission->result->jobs[n];

		/* A device that answers for another job has not said how this one ended */
		if (le64_to_cpu(hw->sequence) != ++sequence) {
			result->cause = DRM_TESSERA_CAUSE_DESCRIPTOR;
			continue;
		}
		result->cause = le32_to_cpu(hw->cause);
		result->operand = le32_to_cpu(hw->operand);
		result->offset = le64_to_cpu(hw->offset);
		result->device_ns = le64_to_cpu(hw->nanoseconds);
		if (!counters || result->cause)
			continue;
		for (k = 0; k < TESSERA_NUM_COUNTERS; k++)
			counters[n * TESSERA_NUM_COUNTERS + k] =
				le64_to_cpu(queue->counters[slot][k]);
	}
}

/* Ends a submission of which the device has completed all or, with an error, some jobs. */
static void end_submission(struct tessera_queue *queue, struct tessera_submission *submission,
			   enum drm_tessera_cause cause, int error)
{
	u64 before_first = submission->last_sequence - submission->num_jobs;
	u32 num_done = 0;

	if (queue->completed > before_first)
		num_done = min_t(u64, queue->completed - before_first, submission->num_jobs);
	ring_take_results(queue, submission, num_done);
	list_del_init(&submission->running_node);
	tessera_submission_end(submission, num_done, cause, error);
}

static struct tessera_submission *oldest_submission(struct tessera_queue *queue)
{
	return list_first_entry_or_null(&queue->running, struct tessera_submission, running_node);
}

/* Whether the device has told how the last job ended: one that is wrong frees nothing in use. */
static bool has_result(const struct tessera_queue *queue,
		       const struct tessera_submission *submission)
{
	u32 slot = (submission->first_entry + submission->num_jobs - 1) % TESSERA_RING_SIZE;

	return le64_to_cpu(queue->memory->results[slot].sequence) == submission->last_sequence;
}

/* Completes up to what the completion word says. False: it says nothing new, or nonsense */
static bool complete_some(struct tessera_queue *queue)
{
	u64 completed = le64_to_cpu(READ_ONCE(queue->memory->completion));
	u64 before = queue->completed;
	struct tessera_submission *submission;

	if (completed == before)
		return false;
	if (completed - before > queue->sequence - before) {
		drm_err_ratelimited(&queue->tdev->drm,
				    "%s: completed %llu, expected %llu to %llu\n", queue->name,
				    completed, before, queue->sequence);
		return false;
	}
	/* Pairs with the device, which writes results before it writes the completion word */
	dma_rmb();
	while ((submission = oldest_submission(queue)) && submission->last_sequence <= completed &&
	       has_result(queue, submission)) {
		queue->completed = submission->last_sequence;
		end_submission(queue, submission, DRM_TESSERA_CAUSE_NONE, 0);
	}
	/* The first jobs of the next one */
	if (!submission || submission->last_sequence > completed)
		queue->completed = completed;
	if (queue->completed == before)
		return false;
	WRITE_ONCE(queue->memory->hints.seen, cpu_to_le64(queue->completed));
	/* Pairs with the device, which writes the completion word before it reads what was seen */
	mb();
	return true;
}

static void complete_submissions(struct tessera_queue *queue)
{
	lockdep_assert_held(&queue->lock);

	while (complete_some(queue))
		;
}

/**
 * tessera_queue_interrupt() - some submission has completed
 * @irq: not looked at
 * @data: the queue
 *
 * Looks at memory alone, and so needs no drm_dev_enter(): the memory is freed after the interrupt.
 *
 * Return: IRQ_HANDLED.
 */
irqreturn_t tessera_queue_interrupt(int irq, void *data)
{
	struct tessera_queue *queue = data;

	trace_tessera_interrupt(queue);
	scoped_guard(spinlock_irqsave, &queue->lock)
		complete_submissions(queue);
	WRITE_ONCE(queue->interrupted_cpu, smp_processor_id());
	WRITE_ONCE(queue->num_interrupts, queue->num_interrupts + 1);
	if (wq_has_sleeper(&queue->interrupted))
		wake_up(&queue->interrupted);
	return IRQ_HANDLED;
}

/* Watch and recovery */

/**
 * tessera_queue_look() - look at the queue soon, for the device says that something is wrong
 * @queue: the queue
 */
void tessera_queue_look(struct tessera_queue *queue)
{
	mod_delayed_work(queue->tdev->recovery_wq, &queue->watch, 0);
}

/**
 * tessera_queue_stop() - stop the running job and drop those behind it
 * @queue: the queue
 *
 * Return: 0, then nothing of the queue is in flight; -ETIMEDOUT when the device does not stop.
 */
int tessera_queue_stop(struct tessera_queue *queue)
{
	u32 status;

	scoped_guard(spinlock_irqsave, &queue->lock)
		queue->is_stopped = true;
	writel(0, queue->regs + TESSERA_QUEUE_CONTROL);
	return readl_poll_timeout(queue->regs + TESSERA_QUEUE_STATUS, status, !status,
				  TESSERA_STOP_POLL_US, TESSERA_STOP_TIMEOUT_US);
}

static int enable(struct tessera_queue *queue)
{
	dma_addr_t dma = queue->memory_dma;
	u32 status;

	lo_hi_writeq(dma + offsetof(struct tessera_queue_memory, ring),
		     queue->regs + TESSERA_QUEUE_RING);
	lo_hi_writeq(dma + offsetof(struct tessera_queue_memory, results),
		     queue->regs + TESSERA_QUEUE_RESULTS);
	lo_hi_writeq(dma + offsetof(struct tessera_queue_memory, completion),
		     queue->regs + TESSERA_QUEUE_COMPLETION);
	lo_hi_writeq(dma + offsetof(struct tessera_queue_memory, hints),
		     queue->regs + TESSERA_QUEUE_HINTS);
	writel(TESSERA_RING_SHIFT, queue->regs + TESSERA_QUEUE_RING_SHIFT);
	writel(TESSERA_QUEUE_ENABLE, queue->regs + TESSERA_QUEUE_CONTROL);
	status = readl(queue->regs + TESSERA_QUEUE_STATUS);
	if (status != TESSERA_QUEUE_STATUS_ENABLED) {
		drm_err(&queue->tdev->drm, "%s: status 0x%x when enabled, expected 0x%x\n",
			queue->name, status, TESSERA_QUEUE_STATUS_ENABLED);
		return -EIO;
	}
	return 0;
}

/**
 * tessera_queue_start() - enable a stopped queue and run what it has collected
 * @queue: the queue; none of its submissions has begun
 *
 * Return: 0, or -EIO when the device refuses.
 */
int tessera_queue_start(struct tessera_queue *queue)
{
	struct tessera_submission *submission;
	int ret;

	scoped_guard(spinlock_irqsave, &queue->lock) {
		queue->memory->completion = cpu_to_le64(queue->completed);
		queue->memory->hints.seen = cpu_to_le64(queue->completed);
		queue->memory->hints.tail = 0;
		ret = enable(queue);
		if (ret)
			return ret;
		queue->tail = 0;
		queue->is_stopped = false;
		/* The next look is at another job than the last, whichever it is */
		queue->watched_completed = U64_MAX;
		list_for_each_entry(submission, &queue->running, running_node)
			ring_put(queue, submission);
		queue->memory->hints.tail = cpu_to_le32(queue->tail);
		if (queue->tail)
			ring_doorbell(queue);
	}
	schedule_watch(queue);
	return 0;
}

/**
 * tessera_queue_fail_oldest() - end the submission that a stopped queue may have begun
 * @queue: the queue
 * @guilty: &tessera_submission.last_sequence of the submission at fault, or 0
 * @cause: why its job was stopped
 *
 * A job that was stopped half way cannot be run again, for it may work in place. When it is not
 * the one at fault, it is canceled.
 */
void tessera_queue_fail_oldest(struct tessera_queue *queue, u64 guilty,
			       enum drm_tessera_cause cause)
{
	struct tessera_submission *submission;
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	complete_submissions(queue);
	submission = oldest_submission(queue);
	if (submission && submission->last_sequence <= queue->told) {
		u64 last_sequence = submission->last_sequence;

		if (last_sequence != guilty)
			cause = DRM_TESSERA_CAUSE_CANCELED;
		if (cause == DRM_TESSERA_CAUSE_TIMEOUT)
			atomic_inc(&submission->file->num_hangs);
		end_submission(queue, submission, cause,
			       cause == DRM_TESSERA_CAUSE_DESCRIPTOR ? -EIO : -ECANCELED);
		/* Its jobs that were never run count as completed from here on */
		queue->completed = last_sequence;
		queue->memory->completion = cpu_to_le64(last_sequence);
	}
	spin_unlock_irqrestore(&queue->lock, flags);
}

/**
 * tessera_queue_fail_all() - end all submissions of a stopped queue
 * @queue: the queue; the device no longer touches memory
 * @error: of their fences
 */
void tessera_queue_fail_all(struct tessera_queue *queue, int error)
{
	struct tessera_submission *submission;

	scoped_guard(spinlock_irqsave, &queue->lock) {
		queue->is_stopped = true;
		complete_submissions(queue);
		while ((submission = oldest_submission(queue)))
			end_submission(queue, submission, DRM_TESSERA_CAUSE_CANCELED, error);
	}
}

static void recover(struct tessera_queue *queue, u64 guilty, enum drm_tessera_cause cause)
{
	struct tessera_device *tdev = queue->tdev;

	trace_tessera_reset(queue->name, guilty, cause);
	if (!tessera_queue_stop(queue)) {
		tessera_queue_fail_oldest(queue, guilty, cause);
		if (!tessera_queue_start(queue))
			return;
	}
	drm_err(&tdev->drm, "%s: does not stop and start, resetting the device\n", queue->name);
	tessera_device_recover(tdev, queue, guilty, cause);
	tessera_device_tell_wedged(tdev);
}

/* The engine may be at the jobs of other queues: it has fewer hands than queues, maybe */
static bool waits_its_turn(struct tessera_queue *queue, u32 status)
{
	return !(status & TESSERA_QUEUE_STATUS_BUSY) &&
	       (readl(queue->tdev->regs + TESSERA_REG_STATUS) & TESSERA_STATUS_BUSY);
}

/*
 * How the oldest job hangs, or NULL. Where the device could have done nothing, it does not.
 * A look that is late counts as two: the machine stood still, maybe, and the device with it.
 */
static const char *find_hang(struct tessera_queue *queue, u32 status, unsigned long now)
{
	u64 progress = lo_hi_readq(queue->regs + TESSERA_QUEUE_PROGRESS);
	unsigned long limit = msecs_to_jiffies(READ_ONCE(tessera_job_limit_ms));
	unsigned long passed = min(now - queue->watch_time, 2 * watch_period(queue));
	bool is_new = queue->completed != queue->watched_completed || waits_its_turn(queue, status);

	queue->job_age = is_new ? 0 : queue->job_age + passed;
	queue->progress_age = is_new || progress != queue->watched_progress ?
			      0 : queue->progress_age + passed;
	queue->watched_completed = queue->completed;
	queue->watched_progress = progress;
	queue->watch_time = now;
	if (queue->progress_age >= timeout(queue))
		return "makes no progress";
	return limit && queue->job_age >= limit ? "takes too long" : NULL;
}

static void watch_device(struct tessera_queue *queue)
{
	enum drm_tessera_cause cause = DRM_TESSERA_CAUSE_TIMEOUT;
	struct tessera_submission *submission;
	char comm[TASK_COMM_LEN];
	const char *fault;
	u32 status;
	u64 guilty;
	pid_t pid;

	scoped_guard(spinlock_irqsave, &queue->lock) {
		complete_submissions(queue);
		submission = oldest_submission(queue);
		if (!submission || queue->is_stopped)
			return;
		status = readl(queue->regs + TESSERA_QUEUE_STATUS);
		if (status & TESSERA_QUEUE_STATUS_ERROR)
			cause = DRM_TESSERA_CAUSE_DESCRIPTOR;
		fault = status & TESSERA_QUEUE_STATUS_ERROR ? "stopped the queue" :
			find_hang(queue, status, jiffies);
		if (fault)
			tessera_dump_take(queue, submission, cause);
		/* Once the lock is let go, the submission may be too */
		guilty = submission->last_sequence;
		pid = submission->pid;
		strscpy(comm, submission->comm);
	}
	if (fault) {
		drm_err_ratelimited(&queue->tdev->drm, "%s: a job of %s[%d] %s: status 0x%x\n",
				    queue->name, comm, pid, fault, status);
		recover(queue, guilty, cause);
	}
	schedule_watch(queue);
}

static void watch_work(struct work_struct *work)
{
	struct tessera_queue *queue = container_of(work, struct tessera_queue, watch.work);
	int cookie;

	if (!drm_dev_enter(&queue->tdev->drm, &cookie))
		return;
	watch_device(queue);
	drm_dev_exit(cookie);
}

/* What the scheduler calls */

static void run_submission(struct tessera_queue *queue, struct tessera_submission *submission)
{
	u64 sequence_before = queue->sequence;

	lockdep_assert_held(&queue->lock);

	queue->sequence += submission->num_jobs;
	submission->last_sequence = queue->sequence;
	submission->result->start_time = ktime_get();
	tessera_submission_init_fence(submission);
	list_add_tail(&submission->running_node, &queue->running);
	trace_tessera_run(submission);
	if (!queue->is_stopped) {
		ring_put(queue, submission);
		ring_tell(queue, sequence_before);
	}
}

static struct dma_fence *tessera_sched_run_job(struct drm_sched_job *job)
{
	struct tessera_submission *submission = to_submission(job);
	struct tessera_queue *queue = submission->queue;
	int cookie, ret = -ENODEV;

	if (drm_dev_enter(&queue->tdev->drm, &cookie)) {
		scoped_guard(spinlock_irqsave, &queue->lock) {
			if (!queue->tdev->is_lost)
				ret = tessera_file_is_refused(submission->file) ? -ECANCELED : 0;
			if (!ret)
				run_submission(queue, submission);
		}
		if (!ret)
			schedule_watch(queue);
		drm_dev_exit(cookie);
	}
	if (ret) {
		tessera_submission_end(submission, 0, DRM_TESSERA_CAUSE_CANCELED, ret);
		return ERR_PTR(ret);
	}
	/* The submission, and its fence with it, is here until the scheduler has seen it signal */
	return dma_fence_get(&submission->fence->base);
}

static void tessera_sched_free_job(struct drm_sched_job *job)
{
	tessera_submission_free(to_submission(job));
}

static const struct drm_sched_backend_ops tessera_sched_ops = {
	.run_job = tessera_sched_run_job,
	.free_job = tessera_sched_free_job,
};

static void tessera_queue_fini(struct drm_device *drm, void *data)
{
	struct tessera_queue *queue = data;

	drm_sched_fini(&queue->sched);
}

/**
 * tessera_queue_init() - prepare a queue; tessera_queue_start() is still to come
 * @tdev: the device
 * @index: which of its queues
 *
 * Return: 0 or an error.
 */
int tessera_queue_init(struct tessera_device *tdev, u32 index)
{
	struct tessera_queue *queue = &tdev->queues[index];
	struct device *dev = tdev->drm.dev;

	queue->tdev = tdev;
	queue->index = index;
	queue->regs = tdev->regs + TESSERA_QUEUE(index);
	queue->fence_context = dma_fence_context_alloc(1);
	queue->is_stopped = true;
	atomic_set(&queue->num_pending, 0);
	spin_lock_init(&queue->lock);
	INIT_LIST_HEAD(&queue->running);
	init_waitqueue_head(&queue->interrupted);
	INIT_DELAYED_WORK(&queue->watch, watch_work);
	snprintf(queue->name, sizeof(queue->name), TESSERA_NAME "-pe%u", index);

	queue->memory = dmam_alloc_coherent(dev, sizeof(*queue->memory), &queue->memory_dma,
					    GFP_KERNEL);
	if (tdev->clock_khz)
		queue->counters = dmam_alloc_coherent(dev, TESSERA_RING_SIZE *
						      sizeof(*queue->counters),
						      &queue->counters_dma, GFP_KERNEL);
	if (!queue->memory || (tdev->clock_khz && !queue->counters))
		return -ENOMEM;

	/* Entities of files outlive the device: the scheduler has to live as long as they do */
	return tessera_sched_init(&queue->sched, &tessera_sched_ops, tdev->submit_wq,
				  TESSERA_RING_SIZE, queue->name, dev) ?:
	       drmm_add_action_or_reset(&tdev->drm, tessera_queue_fini, queue);
}

#if IS_ENABLED(CONFIG_DRM_ACCEL_TESSERA_KUNIT_TEST)
#include "tests/tessera_queue_test.c"
#endif
