/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The queues and the worker threads. A queue with something to do stands on a list; a worker
 * takes the first, runs one job of it and puts it back at the end if there is more. So the jobs
 * of a queue run in order, those of several queues at once, and each queue gets its turn.
 *
 * A job that is small and comes alone runs where its doorbell was written, in the thread of a
 * processor: to wake a worker, and the main loop for the interrupt, would take many times as long.
 *
 * What a job does is tessera-job.c's.
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "qemu/bswap.h"
#include "qemu/cutils.h"
#include "tessera.h"
#include "trace.h"

static uint32_t tessera_queue_size(const TesseraQueue *q)
{
	return 1u << q->ring_shift;
}

bool tessera_queue_is_canceled(const TesseraQueue *q)
{
	return qatomic_read(&q->cancel) & (TESSERA_CANCEL_STOP | TESSERA_CANCEL_REPEAT);
}

bool tessera_queue_is_stopped(const TesseraQueue *q)
{
	return qatomic_read(&q->cancel) & TESSERA_CANCEL_STOP;
}

void tessera_queue_refuse_repeat(TesseraQueue *q)
{
	qemu_mutex_lock(&q->device->lock);
	q->must_finish = true;
	qatomic_and(&q->cancel, ~TESSERA_CANCEL_REPEAT);
	qemu_cond_broadcast(&q->device->change);
	qemu_mutex_unlock(&q->device->lock);
}

uint32_t tessera_queue_status(const TesseraQueue *q)
{
	return (q->is_enabled ? TESSERA_QUEUE_STATUS_ENABLED : 0) |
	       (q->is_running ? TESSERA_QUEUE_STATUS_BUSY : 0) |
	       (q->error ? TESSERA_QUEUE_STATUS_ERROR | q->error : 0);
}

static void tessera_queue_fail(TesseraQueue *q, uint32_t error)
{
	if (!q->is_enabled || q->error)
		return;
	trace_tessera_queue_error(q->index, error, q->head, q->tail);
	q->error = error;
	tessera_raise(q->device, TESSERA_VECTOR_ERROR(q->device->num_queues));
}

static void tessera_queue_unlist(TesseraQueue *q)
{
	if (!q->is_listed)
		return;
	QTAILQ_REMOVE(&q->device->listed, q, next);
	q->is_listed = false;
}

void tessera_queue_list(TesseraQueue *q)
{
	if (!q->is_enabled || q->error || q->is_running || q->is_listed || q->head == q->tail)
		return;
	QTAILQ_INSERT_TAIL(&q->device->listed, q, next);
	q->is_listed = true;
	qemu_cond_signal(&q->device->work);
}

bool tessera_queue_is_configured(const TesseraQueue *q)
{
	uint64_t ring_size, results_size;

	if (q->ring_shift < TESSERA_RING_MIN_SHIFT || q->ring_shift > TESSERA_RING_MAX_SHIFT)
		return false;
	ring_size = (uint64_t)sizeof(struct tessera_hw_ring_entry) << q->ring_shift;
	results_size = (uint64_t)sizeof(struct tessera_hw_result) << q->ring_shift;
	return QEMU_IS_ALIGNED(q->ring, sizeof(struct tessera_hw_ring_entry)) &&
	       QEMU_IS_ALIGNED(q->results, sizeof(struct tessera_hw_result)) &&
	       QEMU_IS_ALIGNED(q->completion, sizeof(uint64_t)) &&
	       QEMU_IS_ALIGNED(q->hints, sizeof(struct tessera_hw_hints)) &&
	       q->ring <= UINT64_MAX - ring_size && q->results <= UINT64_MAX - results_size;
}

/* Does nothing unless STATUS reads 0. */
void tessera_queue_enable(TesseraQueue *q)
{
	if (tessera_queue_status(q))
		return;
	q->is_enabled = true;
	q->head = 0;
	q->tail = 0;
	q->num_doorbells = 0;
	q->num_interrupts = 0;
	q->is_raised = false;
	memset(q->totals, 0, sizeof(q->totals));
	q->has_begun = false;
	qatomic_set(&q->progress, 0);
	qatomic_set(&q->cancel, 0);
	if (!tessera_queue_is_configured(q))
		tessera_queue_fail(q, TESSERA_QUEUE_ERROR_CONFIG);
}

/* The running job goes on until it sees cancel; tessera_queue_leave() is its end. */
void tessera_queue_disable(TesseraQueue *q)
{
	q->is_enabled = false;
	q->error = 0;
	q->has_begun = false;
	tessera_queue_unlist(q);
	q->device->pending_vectors[q->index / 64] &= ~(1ull << (q->index % 64));
	if (q->is_hung) {
		q->is_hung = false;
		q->is_running = false;
	}
	if (q->is_running) {
		qatomic_or(&q->cancel, TESSERA_CANCEL_STOP);
		qemu_cond_broadcast(&q->device->change);
	}
}

/* The ring cannot be read any more; the job that runs is stopped. */
void tessera_queue_cut_off(TesseraQueue *q)
{
	if (!q->is_running || q->is_hung)
		return;
	tessera_queue_fail(q, TESSERA_QUEUE_ERROR_RING);
	qatomic_or(&q->cancel, TESSERA_CANCEL_STOP);
	qemu_cond_broadcast(&q->device->change);
}

static void tessera_queue_enter_here(TesseraQueue *q)
{
	q->is_running = true;
	q->is_running_here = true;
	q->device->num_busy_workers++;
}

/* Whether the next job may run here: it is the only one of the device, and no test is about it. */
static bool tessera_queue_may_run_here(const TesseraQueue *q)
{
	const TesseraState *s = q->device;

	return q->tail - q->head == 1 && !q->is_running && !q->is_listed && !s->is_paused &&
	       QTAILQ_EMPTY(&s->listed) && buffer_is_zero(&s->tests, sizeof(s->tests));
}

/*
 * The pending entries are head to tail - 1, the first of them the one that runs. A tail that
 * leaves less than that, or more than the ring has, is no tail.
 */
void tessera_queue_doorbell(TesseraQueue *q, uint32_t tail)
{
	uint32_t pending = tail - q->head;

	trace_tessera_doorbell(q->index, tail, q->head);
	if (!q->is_enabled || q->error)
		return;
	if (q->tail == q->head)
		tessera_time_begin(q);
	q->tail = tail;
	q->num_doorbells++;
	if (pending > tessera_queue_size(q) || pending < q->is_running)
		tessera_queue_fail(q, TESSERA_QUEUE_ERROR_TAIL);
	else if (tessera_queue_may_run_here(q))
		tessera_queue_enter_here(q);
	else
		tessera_queue_list(q);
}

/* Waits for as long as a test has it. */
static void tessera_queue_delay(TesseraQueue *q, uint32_t milliseconds)
{
	int64_t end = tessera_host_nanoseconds() + milliseconds * 1000000ll, left;

	while (!tessera_queue_is_canceled(q) && (left = end - tessera_host_nanoseconds()) > 0)
		qemu_cond_timedwait(&q->device->change, &q->device->lock,
				    MIN(left / 1000000 + 1, INT_MAX));
}

/* The job at head begins for the first time: what of the tests is about it. */
static void tessera_queue_begin(TesseraQueue *q)
{
	TesseraState *s = q->device;

	q->has_begun = true;
	if (s->tests.hang && --s->tests.hang == 0) {
		trace_tessera_job_hang(q->index, q->head);
		q->is_hung = true;
		return;
	}
	q->tests = s->tests;
	s->tests.skew = s->tests.fault = s->tests.corrupt = 0;
}

/* A job of the queue is to be run. False: it is one that hangs. */
static bool tessera_queue_enter(TesseraQueue *q)
{
	q->is_running = true;
	if (!q->has_begun)
		tessera_queue_begin(q);
	if (q->is_hung)
		return false;
	q->device->num_busy_workers++;
	tessera_queue_delay(q, q->tests.slow);
	return true;
}

/* Its worker is done with the queue; error: TESSERA_QUEUE_ERROR_x or 0. */
static void tessera_queue_leave(TesseraQueue *q, uint32_t error)
{
	TesseraState *s = q->device;

	q->is_running = false;
	q->must_finish = false;
	q->is_cut_short = false;
	qatomic_set(&q->cancel, 0);
	s->num_busy_workers--;
	if (error)
		tessera_queue_fail(q, error);
	tessera_queue_list(q);
	if (s->is_resetting && !s->num_busy_workers)
		tessera_reset_finish(s);
	qemu_cond_broadcast(&s->change);
}

/* Of a job that has succeeded */
static bool tessera_queue_count(TesseraQueue *q, const struct tessera_hw_ring_entry *entry,
				struct tessera_tally *tally)
{
	TesseraState *s = q->device;

	qemu_mutex_lock(&s->lock);
	tessera_tally_add(q, tally);
	qemu_mutex_unlock(&s->lock);
	return tessera_tally_write(s, le64_to_cpu(entry->counters), tally);
}

static uint32_t tessera_queue_complete(TesseraQueue *q,
				       const struct tessera_hw_ring_entry *entry,
				       const struct tessera_tests *tests,
				       const struct engine_fault *fault, uint64_t nanoseconds)
{
	TesseraState *s = q->device;
	struct tessera_hw_result result = {
		.cause = cpu_to_le32(fault->cause),
		.operand = cpu_to_le32(fault->operand),
		.offset = cpu_to_le64(fault->offset),
		.nanoseconds = cpu_to_le64(nanoseconds),
		.sequence = entry->sequence,
	};
	uint32_t index = q->head & (tessera_queue_size(q) - 1);
	uint64_t completed = le64_to_cpu(entry->sequence) + (int32_t)tests->corrupt;

	if (!tessera_dma_write(s, q->results + index * sizeof(result), &result, sizeof(result)) ||
	    !tessera_dma_write_word(s, q->completion, completed))
		return TESSERA_QUEUE_ERROR_RESULT;
	return 0;
}

/* New entries that the driver has told of in passing */
static void tessera_queue_take_tail(TesseraQueue *q, uint32_t tail)
{
	uint32_t num_new = tail - q->tail;

	if (!num_new || num_new > tessera_queue_size(q) - (q->tail - q->head))
		return;
	if (q->tail == q->head)
		tessera_time_begin(q);
	q->tail = tail;
}

/* What a driver that has not looked since the last interrupt will find by itself: without one */
static void tessera_queue_interrupt(TesseraQueue *q, uint64_t sequence, const uint64_t *seen)
{
	TesseraState *s = q->device;

	if (seen && q->is_raised && (int64_t)(*seen - q->raised) < 0)
		return;
	q->is_raised = true;
	q->raised = sequence;
	if (s->tests.drop) {
		s->tests.drop--;
		return;
	}
	if (q->is_running_here)
		tessera_pend(s, TESSERA_VECTOR_QUEUE(q->index));
	else
		tessera_raise(s, TESSERA_VECTOR_QUEUE(q->index));
}

/* The job at head has ended, and the completion word says so. */
static void tessera_queue_advance(TesseraQueue *q, const struct tessera_hw_ring_entry *entry)
{
	TesseraState *s = q->device;
	uint64_t hints[sizeof(struct tessera_hw_hints) / sizeof(uint64_t)];
	bool has_hints;

	/* Pairs with the driver, which writes a hint before it reads the completion word */
	smp_mb();
	has_hints = q->hints && tessera_dma_read_words(s, q->hints, hints, ARRAY_SIZE(hints));
	qemu_mutex_lock(&s->lock);
	q->head++;
	q->has_begun = false;
	qatomic_set(&q->progress, q->progress + 1);
	if (q->is_enabled && has_hints)
		tessera_queue_take_tail(q, extract64(hints[1], 0, 32));
	if (q->is_enabled && (le32_to_cpu(entry->flags) & TESSERA_RING_INTERRUPT))
		tessera_queue_interrupt(q, le64_to_cpu(entry->sequence),
					has_hints ? &hints[0] : NULL);
	qemu_mutex_unlock(&s->lock);
}

/*
 * Runs the job at head, without the lock. Returns TESSERA_QUEUE_ERROR_x or 0. Run here, a job that
 * is not small is left to a worker: HEAD is where it was.
 */
static uint32_t tessera_queue_run(TesseraQueue *q, const struct tessera_tests *tests)
{
	TesseraState *s = q->device;
	uint32_t index = q->head & (tessera_queue_size(q) - 1);
	struct tessera_hw_ring_entry entry;
	struct engine_fault fault = { .cause = DRM_TESSERA_CAUSE_NONE };
	struct tessera_tally tally;
	uint64_t sequence, nanoseconds;
	uint32_t error;

	nanoseconds = tessera_host_nanoseconds();
	if (!tessera_dma_read(s, q->ring + index * sizeof(entry), &entry, sizeof(entry)))
		return TESSERA_QUEUE_ERROR_RING;
	sequence = le64_to_cpu(entry.sequence);
	trace_tessera_job_start(q->index, q->head, sequence, le64_to_cpu(entry.descriptor));
	if (!tessera_job_run(q, &entry, tests, q->is_running_here, &tally, &fault)) {
		trace_tessera_job_left(q->index, q->head);
		return 0;
	}
	nanoseconds = tessera_host_nanoseconds() - nanoseconds;
	if (fault.cause)
		trace_tessera_job_fault(q->index, sequence, fault.cause, fault.operand,
					fault.offset, fault.text);
	else
		trace_tessera_job_done(q->index, sequence, nanoseconds);
	/* Who disabled the queue expects nothing any more, or the job is run again */
	if (fault.cause == DRM_TESSERA_CAUSE_CANCELED && !q->is_cut_short) {
		if (!tessera_queue_is_stopped(q))
			trace_tessera_job_repeat(q->index, q->head);
		return 0;
	}
	if (!fault.cause && !tessera_queue_count(q, &entry, &tally))
		return TESSERA_QUEUE_ERROR_RESULT;
	error = tessera_queue_complete(q, &entry, tests, &fault, nanoseconds);
	if (!error)
		tessera_queue_advance(q, &entry);
	return error;
}

void tessera_queue_run_here(TesseraQueue *q)
{
	TesseraState *s = q->device;
	const struct tessera_tests tests = { 0 };
	uint32_t error = tessera_queue_run(q, &tests);

	qemu_mutex_lock(&s->lock);
	q->is_running_here = false;
	tessera_queue_leave(q, error);
	qemu_mutex_unlock(&s->lock);
}

static void *tessera_worker(void *opaque)
{
	TesseraState *s = opaque;
	TesseraQueue *q;
	uint32_t error;

	tessera_host_thread_begin();
	qemu_mutex_lock(&s->lock);
	while (!s->is_stopping) {
		/* First: so a guest cannot have more made than is unmapped */
		if (tessera_mapping_unmap_one(s))
			continue;
		q = s->is_paused ? NULL : QTAILQ_FIRST(&s->listed);
		if (!q) {
			qemu_cond_wait(&s->work, &s->lock);
			continue;
		}
		tessera_queue_unlist(q);
		/* The doorbell may have been taken back */
		if (q->head == q->tail || q->error || !tessera_queue_enter(q))
			continue;
		qemu_mutex_unlock(&s->lock);
		error = tessera_queue_run(q, &q->tests);
		qemu_mutex_lock(&s->lock);
		tessera_queue_leave(q, error);
	}
	qemu_mutex_unlock(&s->lock);
	tessera_host_thread_end();
	return NULL;
}

void tessera_workers_start(TesseraState *s)
{
	unsigned i;

	s->threads = g_new0(QemuThread, s->num_threads);
	for (i = 0; i < s->num_threads; i++)
		qemu_thread_create(&s->threads[i], "tessera", tessera_worker, s,
				   QEMU_THREAD_JOINABLE);
}

/* After a reset: the workers have nothing to do. */
void tessera_workers_stop(TesseraState *s)
{
	unsigned i;

	qemu_mutex_lock(&s->lock);
	s->is_stopping = true;
	qemu_cond_broadcast(&s->work);
	qemu_mutex_unlock(&s->lock);
	for (i = 0; i < s->num_threads; i++)
		qemu_thread_join(&s->threads[i]);
	g_free(s->threads);
	s->threads = NULL;
}
