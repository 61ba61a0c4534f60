/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tessera, an accelerator that copies tensors from one memory layout to another: its registers,
 * interrupts and resets. Documentation/device.rst is what drivers are written from. What the queues
 * do is in tessera-queue.c.
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "qemu/log.h"
#include "tessera.h"
#include "trace.h"

#define TESSERA_QUEUE_STRIDE	(TESSERA_QUEUE(1) - TESSERA_QUEUE(0))
#define NANOSECONDS_IN_MS	1000000

/*
 * Registers. Each is a row of one of two tables; a missing function reads as zero and ignores
 * writes. They are called with the lock held; q is NULL for the global ones.
 */
struct tessera_register {
	const char *name;
	uint32_t (*read)(TesseraState *s, TesseraQueue *q);
	void (*write)(TesseraState *s, TesseraQueue *q, uint32_t value);
};

static uint32_t id_read(TesseraState *s, TesseraQueue *q)
{
	return TESSERA_ID;
}

static uint32_t version_read(TesseraState *s, TesseraQueue *q)
{
	return TESSERA_VERSION;
}

static uint32_t num_queues_read(TesseraState *s, TesseraQueue *q)
{
	return s->num_queues;
}

uint32_t tessera_features(const TesseraState *s)
{
	return TESSERA_FEATURE_HINTS | TESSERA_FEATURE_COUNTERS |
	       (s->has_test_registers ? TESSERA_FEATURE_TEST : 0);
}

static uint32_t features_read(TesseraState *s, TesseraQueue *q)
{
	return tessera_features(s);
}

static uint32_t sram_size_low_read(TesseraState *s, TesseraQueue *q)
{
	return extract64(s->sram_size, 0, 32);
}

static uint32_t sram_size_high_read(TesseraState *s, TesseraQueue *q)
{
	return extract64(s->sram_size, 32, 32);
}

static uint32_t grid_columns_read(TesseraState *s, TesseraQueue *q)
{
	return s->grid.columns;
}

static uint32_t clock_read(TesseraState *s, TesseraQueue *q)
{
	return s->timing.clock_khz;
}

static void tessera_tests_reset(TesseraState *s)
{
	const struct tessera_tests before = s->tests;

	s->tests = s->tests_at_reset;
	if (before.read & TESSERA_TEST_READ_KEPT) {
		s->tests.read = before.read;
		s->tests.value = before.value;
	}
}

/* No worker is busy: nothing refers to the views, and nothing writes to guest memory. */
void tessera_reset_finish(TesseraState *s)
{
	unsigned i;

	for (i = 0; i < s->num_queues; i++) {
		s->queues[i].ring = 0;
		s->queues[i].completion = 0;
		s->queues[i].results = 0;
		s->queues[i].hints = 0;
		s->queues[i].ring_shift = 0;
		s->queues[i].tail = 0;
		s->queues[i].head = 0;
		s->queues[i].num_doorbells = 0;
		s->queues[i].num_interrupts = 0;
		qatomic_set(&s->queues[i].progress, 0);
	}
	s->buffers = 0;
	s->num_buffers = 0;
	tessera_tests_reset(s);
	tessera_counters_reset(s);
	memset(s->pending_vectors, 0, sizeof(s->pending_vectors));
	tessera_views_drop_all(s);
	s->is_resetting = false;
	trace_tessera_reset_end();
}

static void tessera_reset_begin(TesseraState *s, const char *kind)
{
	unsigned i;

	trace_tessera_reset_begin(kind);
	if (s->is_resetting)
		return;
	s->is_resetting = true;
	for (i = 0; i < s->num_queues; i++)
		tessera_queue_disable(&s->queues[i]);
	if (!s->num_busy_workers)
		tessera_reset_finish(s);
}

static uint32_t control_read(TesseraState *s, TesseraQueue *q)
{
	return s->is_resetting ? TESSERA_CONTROL_RESET : 0;
}

static void control_write(TesseraState *s, TesseraQueue *q, uint32_t value)
{
	if (value & TESSERA_CONTROL_RESET)
		tessera_reset_begin(s, "by register");
}

static uint32_t status_read(TesseraState *s, TesseraQueue *q)
{
	unsigned i;

	for (i = 0; i < s->num_queues; i++)
		if (s->queues[i].is_running)
			return TESSERA_STATUS_BUSY;
	return 0;
}

static uint32_t buffers_low_read(TesseraState *s, TesseraQueue *q)
{
	return extract64(s->buffers, 0, 32);
}

static uint32_t buffers_high_read(TesseraState *s, TesseraQueue *q)
{
	return extract64(s->buffers, 32, 32);
}

static void buffers_low_write(TesseraState *s, TesseraQueue *q, uint32_t value)
{
	s->buffers = deposit64(s->buffers, 0, 32, value);
	tessera_views_drop_all(s);
}

static void buffers_high_write(TesseraState *s, TesseraQueue *q, uint32_t value)
{
	s->buffers = deposit64(s->buffers, 32, 32, value);
	tessera_views_drop_all(s);
}

static uint32_t num_buffers_read(TesseraState *s, TesseraQueue *q)
{
	return s->num_buffers;
}

static void num_buffers_write(TesseraState *s, TesseraQueue *q, uint32_t value)
{
	s->num_buffers = MIN(value, TESSERA_MAX_BUFFERS);
	tessera_views_drop_all(s);
}

static uint32_t invalidate_read(TesseraState *s, TesseraQueue *q)
{
	return s->num_dropped_views;
}

static void invalidate_write(TesseraState *s, TesseraQueue *q, uint32_t value)
{
	if (value == TESSERA_INVALIDATE_ALL)
		tessera_views_drop_all(s);
	else
		tessera_view_drop(s, value);
}

/* A register for tests is there only for a device that is */
#define TESSERA_TEST(name)									\
static uint32_t test_##name##_read(TesseraState *s, TesseraQueue *q)				\
{												\
	return s->tests.name;									\
}												\
												\
static void test_##name##_write(TesseraState *s, TesseraQueue *q, uint32_t value)		\
{												\
	if (s->has_test_registers)								\
		s->tests.name = value;								\
}

TESSERA_TEST(hang)
TESSERA_TEST(skew)
TESSERA_TEST(fault)
TESSERA_TEST(slow)
TESSERA_TEST(corrupt)
TESSERA_TEST(drop)
TESSERA_TEST(read)
TESSERA_TEST(value)

static void test_interrupt_write(TesseraState *s, TesseraQueue *q, uint32_t value)
{
	if (s->has_test_registers && value <= s->num_queues)
		tessera_raise(s, value);
}

static uint32_t queue_control_read(TesseraState *s, TesseraQueue *q)
{
	return q->is_enabled ? TESSERA_QUEUE_ENABLE : 0;
}

static void queue_control_write(TesseraState *s, TesseraQueue *q, uint32_t value)
{
	if (value & TESSERA_QUEUE_ENABLE)
		tessera_queue_enable(q);
	else
		tessera_queue_disable(q);
}

static uint32_t queue_status_read(TesseraState *s, TesseraQueue *q)
{
	return tessera_queue_status(q);
}

static uint32_t queue_ring_shift_read(TesseraState *s, TesseraQueue *q)
{
	return q->ring_shift;
}

static void queue_ring_shift_write(TesseraState *s, TesseraQueue *q, uint32_t value)
{
	if (!tessera_queue_status(q))
		q->ring_shift = value;
}

static uint32_t queue_tail_read(TesseraState *s, TesseraQueue *q)
{
	return q->tail;
}

static void queue_tail_write(TesseraState *s, TesseraQueue *q, uint32_t value)
{
	tessera_queue_doorbell(q, value);
}

static uint32_t queue_head_read(TesseraState *s, TesseraQueue *q)
{
	return q->head;
}

static uint32_t queue_progress_low_read(TesseraState *s, TesseraQueue *q)
{
	return extract64(qatomic_read(&q->progress), 0, 32);
}

static uint32_t queue_progress_high_read(TesseraState *s, TesseraQueue *q)
{
	return extract64(qatomic_read(&q->progress), 32, 32);
}

static uint32_t queue_num_doorbells_read(TesseraState *s, TesseraQueue *q)
{
	return q->num_doorbells;
}

static uint32_t queue_num_interrupts_read(TesseraState *s, TesseraQueue *q)
{
	return q->num_interrupts;
}

/* An address of a queue: two halves, fixed while the queue is enabled or busy */
#define TESSERA_QUEUE_ADDRESS(name)								\
static uint32_t queue_##name##_low_read(TesseraState *s, TesseraQueue *q)			\
{												\
	return extract64(q->name, 0, 32);							\
}												\
												\
static uint32_t queue_##name##_high_read(TesseraState *s, TesseraQueue *q)			\
{												\
	return extract64(q->name, 32, 32);							\
}												\
												\
static void queue_##name##_low_write(TesseraState *s, TesseraQueue *q, uint32_t value)		\
{												\
	if (!tessera_queue_status(q))								\
		q->name = deposit64(q->name, 0, 32, value);					\
}												\
												\
static void queue_##name##_high_write(TesseraState *s, TesseraQueue *q, uint32_t value)		\
{												\
	if (!tessera_queue_status(q))								\
		q->name = deposit64(q->name, 32, 32, value);					\
}

TESSERA_QUEUE_ADDRESS(ring)
TESSERA_QUEUE_ADDRESS(completion)
TESSERA_QUEUE_ADDRESS(results)
TESSERA_QUEUE_ADDRESS(hints)

#define LOW(offset)	((offset) / 4)
#define HIGH(offset)	((offset) / 4 + 1)

static const struct tessera_register global_registers[] = {
	[LOW(TESSERA_REG_ID)] = { "ID", id_read },
	[LOW(TESSERA_REG_VERSION)] = { "VERSION", version_read },
	[LOW(TESSERA_REG_NUM_QUEUES)] = { "NUM_QUEUES", num_queues_read },
	[LOW(TESSERA_REG_FEATURES)] = { "FEATURES", features_read },
	[LOW(TESSERA_REG_SRAM_SIZE)] = { "SRAM_SIZE", sram_size_low_read },
	[HIGH(TESSERA_REG_SRAM_SIZE)] = { "SRAM_SIZE+4", sram_size_high_read },
	[LOW(TESSERA_REG_CONTROL)] = { "CONTROL", control_read, control_write },
	[LOW(TESSERA_REG_STATUS)] = { "STATUS", status_read },
	[LOW(TESSERA_REG_BUFFERS)] = { "BUFFERS", buffers_low_read, buffers_low_write },
	[HIGH(TESSERA_REG_BUFFERS)] = { "BUFFERS+4", buffers_high_read, buffers_high_write },
	[LOW(TESSERA_REG_NUM_BUFFERS)] = { "NUM_BUFFERS", num_buffers_read, num_buffers_write },
	[LOW(TESSERA_REG_INVALIDATE)] = { "INVALIDATE", invalidate_read, invalidate_write },
	[LOW(TESSERA_REG_TEST_HANG)] = { "TEST_HANG", test_hang_read, test_hang_write },
	[LOW(TESSERA_REG_TEST_SKEW)] = { "TEST_SKEW", test_skew_read, test_skew_write },
	[LOW(TESSERA_REG_TEST_INTERRUPT)] = { "TEST_INTERRUPT", NULL, test_interrupt_write },
	[LOW(TESSERA_REG_GRID_COLUMNS)] = { "GRID_COLUMNS", grid_columns_read },
	[LOW(TESSERA_REG_CLOCK)] = { "CLOCK", clock_read },
	[LOW(TESSERA_REG_TEST_FAULT)] = { "TEST_FAULT", test_fault_read, test_fault_write },
	[LOW(TESSERA_REG_TEST_SLOW)] = { "TEST_SLOW", test_slow_read, test_slow_write },
	[LOW(TESSERA_REG_TEST_CORRUPT)] = { "TEST_CORRUPT", test_corrupt_read, test_corrupt_write },
	[LOW(TESSERA_REG_TEST_DROP)] = { "TEST_DROP", test_drop_read, test_drop_write },
	[LOW(TESSERA_REG_TEST_READ)] = { "TEST_READ", test_read_read, test_read_write },
	[LOW(TESSERA_REG_TEST_VALUE)] = { "TEST_VALUE", test_value_read, test_value_write },
};

static const struct tessera_register queue_registers[] = {
	[LOW(TESSERA_QUEUE_CONTROL)] = { "CONTROL", queue_control_read, queue_control_write },
	[LOW(TESSERA_QUEUE_STATUS)] = { "STATUS", queue_status_read },
	[LOW(TESSERA_QUEUE_RING)] = { "RING", queue_ring_low_read, queue_ring_low_write },
	[HIGH(TESSERA_QUEUE_RING)] = { "RING+4", queue_ring_high_read, queue_ring_high_write },
	[LOW(TESSERA_QUEUE_RING_SHIFT)] = { "RING_SHIFT", queue_ring_shift_read,
					    queue_ring_shift_write },
	[LOW(TESSERA_QUEUE_TAIL)] = { "TAIL", queue_tail_read, queue_tail_write },
	[LOW(TESSERA_QUEUE_HEAD)] = { "HEAD", queue_head_read },
	[LOW(TESSERA_QUEUE_COMPLETION)] = { "COMPLETION", queue_completion_low_read,
					    queue_completion_low_write },
	[HIGH(TESSERA_QUEUE_COMPLETION)] = { "COMPLETION+4", queue_completion_high_read,
					     queue_completion_high_write },
	[LOW(TESSERA_QUEUE_RESULTS)] = { "RESULTS", queue_results_low_read,
					 queue_results_low_write },
	[HIGH(TESSERA_QUEUE_RESULTS)] = { "RESULTS+4", queue_results_high_read,
					  queue_results_high_write },
	[LOW(TESSERA_QUEUE_PROGRESS)] = { "PROGRESS", queue_progress_low_read },
	[HIGH(TESSERA_QUEUE_PROGRESS)] = { "PROGRESS+4", queue_progress_high_read },
	[LOW(TESSERA_QUEUE_NUM_DOORBELLS)] = { "NUM_DOORBELLS", queue_num_doorbells_read },
	[LOW(TESSERA_QUEUE_NUM_INTERRUPTS)] = { "NUM_INTERRUPTS", queue_num_interrupts_read },
	[LOW(TESSERA_QUEUE_HINTS)] = { "HINTS", queue_hints_low_read, queue_hints_low_write },
	[HIGH(TESSERA_QUEUE_HINTS)] = { "HINTS+4", queue_hints_high_read,
					queue_hints_high_write },
};

/* The halves of LINK and TOTAL, which are many, and read only */
static bool tessera_counter_read(TesseraState *s, uint64_t address, uint32_t *value)
{
	TesseraQueue *q = NULL;
	uint64_t counter, index;
	bool is_there;

	if (address >= TESSERA_QUEUE(0)) {
		index = (address - TESSERA_QUEUE(0)) / TESSERA_QUEUE_STRIDE;
		if (index >= s->num_queues)
			return false;
		q = &s->queues[index];
		address = (address - TESSERA_QUEUE(0)) % TESSERA_QUEUE_STRIDE;
	}
	qemu_mutex_lock(&s->lock);
	is_there = tessera_counter_find(s, q, address, &counter);
	qemu_mutex_unlock(&s->lock);
	if (is_there)
		*value = address & 4 ? counter >> 32 : counter;
	return is_there;
}


/* NULL: there is no such register. */
static const struct tessera_register *tessera_register_find(TesseraState *s, uint64_t address,
							    TesseraQueue **q)
{
	const struct tessera_register *table = global_registers;
	size_t count = ARRAY_SIZE(global_registers);
	uint64_t offset = address;
	uint64_t index;

	*q = NULL;
	if (address >= TESSERA_QUEUE(0)) {
		index = (address - TESSERA_QUEUE(0)) / TESSERA_QUEUE_STRIDE;
		if (index >= s->num_queues)
			return NULL;
		*q = &s->queues[index];
		offset = (address - TESSERA_QUEUE(0)) % TESSERA_QUEUE_STRIDE;
		table = queue_registers;
		count = ARRAY_SIZE(queue_registers);
	}
	if (offset / 4 >= count || !table[offset / 4].name)
		return NULL;
	return &table[offset / 4];
}

/* Interrupts */

void tessera_pend(TesseraState *s, unsigned vector)
{
	s->pending_vectors[vector / 64] |= 1ull << (vector % 64);
}

void tessera_raise(TesseraState *s, unsigned vector)
{
	tessera_pend(s, vector);
	tessera_host_kick(s);
}

/* With the host's lock and without the other. */
static void tessera_deliver(TesseraState *s)
{
	uint64_t pending[ARRAY_SIZE(s->pending_vectors)];
	unsigned vector;

	qemu_mutex_lock(&s->lock);
	memcpy(pending, s->pending_vectors, sizeof(pending));
	memset(s->pending_vectors, 0, sizeof(pending));
	for (vector = 0; vector < s->num_queues; vector++)
		if (pending[vector / 64] & (1ull << (vector % 64)))
			s->queues[vector].num_interrupts++;
	qemu_mutex_unlock(&s->lock);
	for (vector = 0; vector <= s->num_queues; vector++) {
		if (!(pending[vector / 64] & (1ull << (vector % 64))))
			continue;
		trace_tessera_interrupt(vector);
		tessera_host_interrupt(s, vector);
	}
}

void tessera_serve(TesseraState *s)
{
	tessera_deliver(s);
	tessera_regions_collect(s);
}

uint32_t tessera_register_read(TesseraState *s, uint64_t address)
{
	const struct tessera_register *reg;
	TesseraQueue *q;
	uint32_t value;

	if (tessera_counter_read(s, address, &value))
		return value;
	reg = tessera_register_find(s, address, &q);
	if (!reg || !reg->read) {
		qemu_log_mask(LOG_GUEST_ERROR, "tessera: read of no register, at 0x%" PRIx64 "\n",
			      address);
		return 0;
	}
	qemu_mutex_lock(&s->lock);
	value = reg->read(s, q);
	if (s->tests.read == (address | TESSERA_TEST_READ_VALUE) ||
	    s->tests.read == (address | TESSERA_TEST_READ_VALUE | TESSERA_TEST_READ_KEPT))
		value = s->tests.value;
	qemu_mutex_unlock(&s->lock);
	trace_tessera_register_read(reg->name, q ? (int)q->index : -1, value);
	return value;
}

void tessera_register_write(TesseraState *s, uint64_t address, uint32_t value)
{
	const struct tessera_register *reg;
	TesseraQueue *q;

	reg = tessera_register_find(s, address, &q);
	if (!reg || !reg->write) {
		qemu_log_mask(LOG_GUEST_ERROR, "tessera: write of 0x%" PRIx32
			      " to no writable register, at 0x%" PRIx64 "\n", value, address);
		return;
	}
	trace_tessera_register_write(reg->name, q ? (int)q->index : -1, value);
	qemu_mutex_lock(&s->lock);
	if (!s->is_resetting)
		reg->write(s, q, value);
	qemu_mutex_unlock(&s->lock);
	if (q && q->is_running_here) {
		tessera_queue_run_here(q);
		tessera_deliver(s);
	}
}

/* Waits for the workers, who see cancel within 64 KiB of data moved. */
void tessera_reset(TesseraState *s)
{
	qemu_mutex_lock(&s->lock);
	s->tests.read = 0;
	tessera_reset_begin(s, "of the function");
	while (s->is_resetting)
		qemu_cond_wait(&s->change, &s->lock);
	qemu_mutex_unlock(&s->lock);
}

/* A queue whose job was stopped stays so until it is disabled: the job is not to begin anew. */
void tessera_cut_off(TesseraState *s)
{
	unsigned i;

	qemu_mutex_lock(&s->lock);
	s->is_waited_for = true;
	for (i = 0; i < s->num_queues; i++)
		tessera_queue_cut_off(&s->queues[i]);
	while (s->num_busy_workers)
		qemu_cond_wait(&s->change, &s->lock);
	s->is_waited_for = false;
	qemu_mutex_unlock(&s->lock);
}

/* The jobs that cannot be run again, and have had their time */
static void tessera_cut_short(TesseraState *s)
{
	TesseraQueue *q;

	for (q = s->queues; q < s->queues + s->num_queues; q++) {
		if (!q->is_running || !q->must_finish)
			continue;
		q->is_cut_short = true;
		qatomic_or(&q->cancel, TESSERA_CANCEL_STOP);
	}
}

void tessera_pause(TesseraState *s)
{
	int64_t deadline = tessera_host_nanoseconds() + s->stop_wait * (int64_t)NANOSECONDS_IN_MS;
	TesseraQueue *q;
	int64_t left;

	qemu_mutex_lock(&s->lock);
	s->is_paused = true;
	for (q = s->queues; q < s->queues + s->num_queues; q++)
		if (q->is_running)
			qatomic_or(&q->cancel, TESSERA_CANCEL_REPEAT);
	qemu_cond_broadcast(&s->change);
	while (s->num_busy_workers) {
		if (tessera_host_answer(s))
			continue;
		left = deadline - tessera_host_nanoseconds();
		if (left > 0) {
			qemu_cond_timedwait(&s->change, &s->lock,
					    DIV_ROUND_UP(left, NANOSECONDS_IN_MS));
		} else {
			tessera_cut_short(s);
			qemu_cond_wait(&s->change, &s->lock);
		}
	}
	qemu_mutex_unlock(&s->lock);
	tessera_serve(s);
}

void tessera_resume(TesseraState *s)
{
	unsigned i;

	qemu_mutex_lock(&s->lock);
	s->is_paused = false;
	for (i = 0; i < s->num_queues; i++)
		tessera_queue_list(&s->queues[i]);
	qemu_cond_broadcast(&s->work);
	qemu_mutex_unlock(&s->lock);
	tessera_host_kick(s);
}

void tessera_layout_changed(TesseraState *s)
{
	qemu_mutex_lock(&s->lock);
	tessera_views_drop_all(s);
	tessera_regions_renew(s);
	qemu_mutex_unlock(&s->lock);
}

void tessera_init(TesseraState *s)
{
	unsigned i;

	qemu_mutex_init(&s->lock);
	qemu_cond_init(&s->work);
	qemu_cond_init(&s->change);
	QTAILQ_INIT(&s->listed);
	s->is_paused = true;
	for (i = 0; i < s->num_queues; i++) {
		s->queues[i].device = s;
		s->queues[i].index = i;
	}
	s->tests = s->tests_at_reset;
	tessera_views_init(s);
	tessera_workers_start(s);
}

void tessera_cleanup(TesseraState *s)
{
	tessera_workers_stop(s);
	tessera_views_cleanup(s);
	qemu_cond_destroy(&s->change);
	qemu_cond_destroy(&s->work);
	qemu_mutex_destroy(&s->lock);
}
