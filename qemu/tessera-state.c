/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the model as it is saved and loaded, between two jobs. What is loaded comes from
 * outside: it is taken if registers can have come to it, and refused in full if not. What the
 * device keeps of guest memory, views above all, is read anew.
 */
#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "tessera.h"

static bool tessera_saved_has(const struct tessera_saved_queue *saved, uint32_t flag)
{
	return saved->flags & flag;
}

static void tessera_links_save(const TesseraQueue *q, uint64_t *saved)
{
	const struct tessera_link *link = q->device->links[q->index];
	unsigned i;

	for (i = 0; i < TESSERA_NUM_LINKS; i++) {
		saved[2 * i] = link[i].bytes;
		saved[2 * i + 1] = link[i].free;
	}
}

static void tessera_links_load(const TesseraQueue *q, const uint64_t *saved)
{
	struct tessera_link *link = q->device->links[q->index];
	unsigned i;

	for (i = 0; i < TESSERA_NUM_LINKS; i++) {
		link[i].bytes = saved[2 * i];
		link[i].free = saved[2 * i + 1];
	}
}

static void tessera_queue_save(const TesseraQueue *q, struct tessera_saved_queue *saved)
{
	*saved = (struct tessera_saved_queue) {
		.ring = q->ring,
		.completion = q->completion,
		.results = q->results,
		.hints = q->hints,
		.raised = q->raised,
		.progress = qatomic_read(&q->progress),
		.ring_shift = q->ring_shift,
		.tail = q->tail,
		.head = q->head,
		.error = q->error,
		.num_doorbells = q->num_doorbells,
		.num_interrupts = q->num_interrupts,
		.tests = q->tests,
		.time = q->time,
		.flags = (q->is_enabled ? TESSERA_SAVED_ENABLED : 0) |
			 (q->is_raised ? TESSERA_SAVED_RAISED : 0) |
			 (q->has_begun ? TESSERA_SAVED_BEGUN : 0) |
			 (q->is_hung ? TESSERA_SAVED_HUNG : 0),
	};
	memcpy(saved->totals, q->totals, sizeof(saved->totals));
}

void tessera_save(TesseraState *s, struct tessera_saved *saved)
{
	unsigned i;

	memset(saved, 0, sizeof(*saved));
	qemu_mutex_lock(&s->lock);
	for (i = 0; i < s->num_queues; i++) {
		tessera_queue_save(&s->queues[i], &saved->queues[i]);
		tessera_links_save(&s->queues[i], saved->queues[i].links);
	}
	saved->features = tessera_features(s);
	saved->clock = s->timing.clock_khz;
	saved->grid_columns = s->grid.columns;
	saved->time = s->time;
	saved->buffers = s->buffers;
	saved->num_buffers = s->num_buffers;
	saved->tests = s->tests;
	memcpy(saved->pending_vectors, s->pending_vectors, sizeof(saved->pending_vectors));
	qemu_mutex_unlock(&s->lock);
}

static void tessera_queue_load(TesseraQueue *q, const struct tessera_saved_queue *saved)
{
	q->ring = saved->ring;
	q->completion = saved->completion;
	q->results = saved->results;
	q->hints = saved->hints;
	q->raised = saved->raised;
	q->progress = saved->progress;
	q->ring_shift = saved->ring_shift;
	q->tail = saved->tail;
	q->head = saved->head;
	q->error = saved->error;
	q->num_doorbells = saved->num_doorbells;
	q->num_interrupts = saved->num_interrupts;
	q->tests = saved->tests;
	q->time = saved->time;
	memcpy(q->totals, saved->totals, sizeof(q->totals));
	q->is_enabled = tessera_saved_has(saved, TESSERA_SAVED_ENABLED);
	q->is_raised = tessera_saved_has(saved, TESSERA_SAVED_RAISED);
	q->has_begun = tessera_saved_has(saved, TESSERA_SAVED_BEGUN);
	q->is_hung = tessera_saved_has(saved, TESSERA_SAVED_HUNG);
	q->is_running = q->is_hung;
}

static bool tessera_tests_are_on(const struct tessera_tests *tests)
{
	return !buffer_is_zero(tests, sizeof(*tests));
}

/* What of a queue no registers can have come to. NULL: nothing */
static const char *tessera_saved_queue_error(const TesseraState *s,
					     const struct tessera_saved_queue *saved)
{
	bool is_enabled = tessera_saved_has(saved, TESSERA_SAVED_ENABLED);
	bool has_begun = tessera_saved_has(saved, TESSERA_SAVED_BEGUN);
	bool is_hung = tessera_saved_has(saved, TESSERA_SAVED_HUNG);
	uint32_t pending = saved->tail - saved->head;
	TesseraQueue q;

	if (saved->flags & ~TESSERA_SAVED_FLAGS)
		return "it has unknown flags";
	if ((is_hung && !has_begun) || (has_begun && !is_enabled))
		return "its job has begun, and it is not enabled";
	if ((is_hung || tessera_tests_are_on(&saved->tests)) && !s->has_test_registers)
		return "a test is about it, and there are no test registers";
	if (!is_enabled)
		return saved->error ? "it is not enabled, and has an error" : NULL;
	tessera_queue_load(&q, saved);
	switch (saved->error) {
	case 0:
		if (!tessera_queue_is_configured(&q))
			return "it is enabled with an address or a size not allowed";
		if (pending > 1u << saved->ring_shift)
			return "it has more entries pending than its ring has";
		return has_begun && !pending ? "its job has begun, and it has none" : NULL;
	case TESSERA_QUEUE_ERROR_RING:
	case TESSERA_QUEUE_ERROR_TAIL:
	case TESSERA_QUEUE_ERROR_RESULT:
		if (!tessera_queue_is_configured(&q))
			return "it has run with an address or a size not allowed";
		return NULL;
	case TESSERA_QUEUE_ERROR_CONFIG:
		return has_begun ? "its job has begun, and it could not be enabled" : NULL;
	}
	return "it has an unknown error";
}

/* What is true of the device as a whole. NULL: nothing is wrong. */
static const char *tessera_saved_error(const TesseraState *s, const struct tessera_saved *saved)
{
	unsigned vector;

	if (saved->features != tessera_features(s))
		return "FEATURES is not what it was: property 'x-test'";
	if (saved->clock != s->timing.clock_khz)
		return "CLOCK is not what it was: property 'clock'";
	if (saved->grid_columns != s->grid.columns)
		return "GRID_COLUMNS is not what it was: property 'grid-columns'";
	if (saved->num_buffers > TESSERA_MAX_BUFFERS)
		return "NUM_BUFFERS is over 2^20";
	if (tessera_tests_are_on(&saved->tests) && !s->has_test_registers)
		return "a test register is not zero, and there are none";
	for (vector = s->num_queues + 1; vector < 64 * ARRAY_SIZE(saved->pending_vectors); vector++)
		if (saved->pending_vectors[vector / 64] & (1ull << (vector % 64)))
			return "a vector is pending that there is not";
	return NULL;
}

bool tessera_load(TesseraState *s, const struct tessera_saved *saved, char *text, size_t size)
{
	const char *error = tessera_saved_error(s, saved);
	unsigned i;

	if (error) {
		snprintf(text, size, "%s", error);
		return false;
	}
	for (i = 0; i < s->num_queues; i++) {
		error = tessera_saved_queue_error(s, &saved->queues[i]);
		if (!error)
			continue;
		snprintf(text, size, "queue %u: %s", i, error);
		return false;
	}
	qemu_mutex_lock(&s->lock);
	for (i = 0; i < s->num_queues; i++) {
		tessera_queue_load(&s->queues[i], &saved->queues[i]);
		tessera_links_load(&s->queues[i], saved->queues[i].links);
	}
	s->time = saved->time;
	s->buffers = saved->buffers;
	s->num_buffers = saved->num_buffers;
	s->tests = saved->tests;
	memcpy(s->pending_vectors, saved->pending_vectors, sizeof(s->pending_vectors));
	tessera_views_drop_all(s);
	qemu_mutex_unlock(&s->lock);
	return true;
}
