/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every state that the device can be in, and every way out of it: queue 0 is disabled, the device
 * is reset by its register, its function or the machine is reset. After each, registers are what
 * they have to be, memory is left alone, no interrupt comes, and jobs do what they should. It is
 * done several times over with one machine, for what is left behind may show the next time only.
 */
#include "qemu/osdep.h"
#include "harness.h"

#define NUM_QUEUES	4u
#define NUM_REGISTERS	(0x8000u / 4)	/* of so many queues */
#define NUM_ROUNDS	3u
#define MANY_ROUNDS	100u
#define OLD_COMPLETION	0x1234u
#define RESULTS_SIZE	(RING_SIZE * sizeof(struct tessera_hw_result))

enum { OTHERS = 2, FROM, TO };		/* buffers, beside those of a pair */

struct registers {
	uint32_t values[NUM_REGISTERS];
};

/* States */

static void busy_wait(struct pair *p, unsigned queue)
{
	wait_for(&p->m, TESSERA_QUEUE(queue) + TESSERA_QUEUE_STATUS, ~0u,
		 TESSERA_QUEUE_STATUS_ENABLED | TESSERA_QUEUE_STATUS_BUSY);
}

static void job_begin(struct pair *p, unsigned queue, const struct job *job)
{
	job_push(&p->m, queue, job, TESSERA_RING_INTERRUPT);
	doorbell(&p->m, queue);
}

/* What runs on another queue stores elsewhere: it goes on when queue 0 is disabled. */
static void other_begin(struct pair *p, unsigned queue)
{
	struct job job = job_endless();

	job.operands[DESTINATION].buffer = OTHERS;
	job_begin(p, queue, &job);
	busy_wait(p, queue);
}

static void error_wait(struct pair *p, uint32_t error)
{
	wait_for(&p->m, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS,
		 TESSERA_QUEUE_STATUS_ERROR | TESSERA_QUEUE_STATUS_ERROR_MASK,
		 TESSERA_QUEUE_STATUS_ERROR | error);
}

static void nothing_happens(struct pair *p)
{
}

static void the_queue_is_not_enabled(struct pair *p)
{
	queue_disable(&p->m, 0);
	queue_configure(&p->m, 0);
}

/* In a thread of the device, at a doorbell, and with what is counted of SRAM elsewhere */
static void jobs_have_ended(struct pair *p)
{
	struct job job = job_bytes(4096);

	assert_works(p);
	assert_works(p);
	buffer_set(&p->m, TO, 1 << 20, 4096, TESSERA_BUFFER_VALID | TESSERA_BUFFER_WRITABLE |
		   TESSERA_BUFFER_SRAM, 0);
	job.operands[DESTINATION].buffer = TO;
	job_begin(p, 0, &job);
	assert_success(result_next(&p->m, 0));
	g_assert_cmpuint(get64(&p->m, TESSERA_QUEUE(0) + TESSERA_QUEUE_TOTAL(0)), >, 0);
	g_assert_cmpuint(get64(&p->m, TESSERA_REG_LINK(0, TESSERA_LINK_EAST)), >, 0);
}

static void a_job_runs(struct pair *p)
{
	endless_start(p, 0);
}

static void a_job_runs_in_place(struct pair *p)
{
	struct job job = job_endless();

	job.operands[SOURCE].buffer = DESTINATION;
	job_begin(p, 0, &job);
	busy_wait(p, 0);
}

static void a_job_runs_on_copies(struct pair *p)
{
	struct job job = job_endless();

	scattered_create(&p->m, TO, 2, TESSERA_BUFFER_WRITABLE);
	job.operands[DESTINATION].buffer = TO;
	job_begin(p, 0, &job);
	busy_wait(p, 0);
}

/* Of another queue has what it would need. */
static void a_job_waits_for_memory(struct pair *p)
{
	int64_t deadline = g_get_monotonic_time() + PATIENCE;
	struct job job = job_bytes(1ull << 32);
	unsigned i;

	buffer_of_two_pages(&p->m, FROM, MANY_PAGES, allocate(&p->m, TWO_PAGES), 0);
	buffer_of_two_pages(&p->m, TO, MANY_PAGES, allocate(&p->m, TWO_PAGES),
			    TESSERA_BUFFER_WRITABLE);
	job.head.rank = 2;
	job.head.extents[1] = RAM_SIZE;
	for (i = DESTINATION; i <= SOURCE; i++) {
		job.operands[i].buffer = i == SOURCE ? FROM : TO;
		job.operands[i].address.strides[0] = 0;
		job.operands[i].address.strides[1] = 1;
	}
	job_begin(p, 1, &job);
	/* It has its memory once it has copied half of it */
	while (get64(&p->m, TESSERA_QUEUE(1) + TESSERA_QUEUE_PROGRESS) < RAM_SIZE / 2)
		g_assert_cmpint(g_get_monotonic_time(), <, deadline);
	job_begin(p, 0, &job);
	busy_wait(p, 0);
}

static void a_job_waits_for_a_thread(struct pair *p)
{
	struct job job = job_bytes(8192);

	other_begin(p, 1);
	other_begin(p, 2);
	job_begin(p, 0, &job);
	g_assert_cmphex(get(&p->m, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS), ==,
			TESSERA_QUEUE_STATUS_ENABLED);
}

static void a_job_of_each_queue_runs(struct pair *p)
{
	unsigned i;

	for (i = 1; i < NUM_QUEUES; i++)
		other_begin(p, i);
	endless_start(p, 0);
}

static void a_job_is_slow(struct pair *p)
{
	struct job job = job_bytes(8192);

	set(&p->m, TESSERA_REG_TEST_SLOW, ~0u);
	job_begin(p, 0, &job);
	busy_wait(p, 0);
}

static void a_job_hangs(struct pair *p)
{
	struct job job = job_bytes(8192);

	set(&p->m, TESSERA_REG_TEST_HANG, 1);
	job_begin(p, 0, &job);
	busy_wait(p, 0);
	g_assert_cmpuint(get(&p->m, TESSERA_REG_TEST_HANG), ==, 0);
}

static void the_ring_is_full(struct pair *p)
{
	struct job job = job_bytes(8192);
	unsigned i;

	endless_start(p, 0);
	for (i = 1; i < RING_SIZE; i++)
		job_push(&p->m, 0, &job, TESSERA_RING_INTERRUPT);
	doorbell(&p->m, 0);
}

/* Some will have, others will not, and interrupts will be on their way. */
static void jobs_are_ending(struct pair *p)
{
	struct job job = job_bytes(8192);
	unsigned i;

	for (i = 0; i < RING_SIZE; i++)
		job_push(&p->m, 0, &job, TESSERA_RING_INTERRUPT);
}

static void a_vector_is_pending(struct pair *p)
{
	int64_t deadline = g_get_monotonic_time() + PATIENCE;
	struct job job = job_bytes(1);

	qpci_io_writel(p->m.pci, p->m.msix, PCI_MSIX_ENTRY_VECTOR_CTRL,
		       PCI_MSIX_ENTRY_CTRL_MASKBIT);
	job_begin(p, 0, &job);
	while (!msix_pending(&p->m))
		g_assert_cmpint(g_get_monotonic_time(), <, deadline);
}

static void the_tail_is_too_far(struct pair *p)
{
	endless_start(p, 0);
	set(&p->m, TESSERA_QUEUE(0) + TESSERA_QUEUE_TAIL, p->m.queues[0].tail + RING_SIZE);
	error_wait(p, TESSERA_QUEUE_ERROR_TAIL);
}

/* Enables the queue with an address that it must not have. */
static void enable_with(struct pair *p, uint64_t offset, uint64_t address)
{
	queue_disable(&p->m, 0);
	queue_configure(&p->m, 0);
	set64(&p->m, TESSERA_QUEUE(0) + offset, address);
	set(&p->m, TESSERA_QUEUE(0) + TESSERA_QUEUE_CONTROL, TESSERA_QUEUE_ENABLE);
}

static void the_ring_is_misaligned(struct pair *p)
{
	enable_with(p, TESSERA_QUEUE_RING, p->m.queues[0].ring + 32);
	error_wait(p, TESSERA_QUEUE_ERROR_CONFIG);
}

static void the_ring_is_nowhere(struct pair *p)
{
	enable_with(p, TESSERA_QUEUE_RING, NOWHERE);
	set(&p->m, TESSERA_QUEUE(0) + TESSERA_QUEUE_TAIL, 1);
	error_wait(p, TESSERA_QUEUE_ERROR_RING);
}

static void results_are_nowhere(struct pair *p)
{
	struct job job = job_bytes(1);

	enable_with(p, TESSERA_QUEUE_RESULTS, NOWHERE);
	job_begin(p, 0, &job);
	error_wait(p, TESSERA_QUEUE_ERROR_RESULT);
}

static void bus_mastering_is_off(struct pair *p)
{
	endless_start(p, 0);
	qpci_config_writew(p->m.pci, PCI_COMMAND, PCI_COMMAND_MEMORY);
	error_wait(p, TESSERA_QUEUE_ERROR_RING);
}

static const uint32_t test_registers[] = {
	TESSERA_REG_TEST_HANG, TESSERA_REG_TEST_SKEW, TESSERA_REG_TEST_FAULT,
	TESSERA_REG_TEST_SLOW, TESSERA_REG_TEST_CORRUPT, TESSERA_REG_TEST_DROP,
};

static void every_test_is_armed(struct pair *p)
{
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(test_registers); i++)
		set(&p->m, test_registers[i], 1);
}

/* With hints, no second interrupt is raised until it has. */
static void the_driver_has_not_looked(struct pair *p)
{
	struct job job = job_bytes(1);

	queue_disable(&p->m, 0);
	p->m.queues[0].hints = allocate(&p->m, sizeof(struct tessera_hw_hints));
	qtest_memset(p->m.qts, p->m.queues[0].hints, 0, sizeof(struct tessera_hw_hints));
	queue_create(&p->m, 0);
	job_begin(p, 0, &job);
	assert_success(result_next(&p->m, 0));
	message_wait(&p->m, 0);
}

static void buffers_are_dropped_while_they_are_used(struct pair *p)
{
	endless_start(p, 0);
	set(&p->m, TESSERA_REG_INVALIDATE, TESSERA_INVALIDATE_ALL);
	g_assert_cmpuint(get(&p->m, TESSERA_REG_INVALIDATE), ==, 2);
}

static void a_reset_has_begun(struct pair *p)
{
	endless_start(p, 0);
	set(&p->m, TESSERA_REG_CONTROL, TESSERA_CONTROL_RESET);
}

static void machine_pause(struct pair *p)
{
	qtest_qmp_assert_success(p->m.qts, "{ 'execute': 'stop' }");
}

static void the_machine_is_paused(struct pair *p)
{
	the_ring_is_full(p);
	machine_pause(p);
}

static void the_machine_is_paused_while_a_job_hangs(struct pair *p)
{
	a_job_hangs(p);
	machine_pause(p);
}

struct state {
	const char *name;
	void (*enter)(struct pair *p);
	bool is_private;		/* RAM that is not mapped again: jobs are on copies */
	bool is_masked;			/* vector 0, which is pending */
	bool is_paused;
	bool is_reset;			/* whatever follows */
	bool is_rung_last;		/* the doorbell of its jobs */
	unsigned num_threads;
};

#define STATE(name, ...)	{ #name, name, __VA_ARGS__ }

static const struct state states[] = {
	STATE(nothing_happens),
	STATE(the_queue_is_not_enabled),
	STATE(jobs_have_ended),
	STATE(a_job_runs),
	STATE(a_job_runs_in_place),
	STATE(a_job_runs_on_copies, .is_private = true),
	STATE(a_job_waits_for_memory, .is_private = true),
	STATE(a_job_waits_for_a_thread),
	STATE(a_job_of_each_queue_runs, .num_threads = NUM_QUEUES),
	STATE(a_job_is_slow),
	STATE(a_job_hangs),
	STATE(the_ring_is_full),
	STATE(jobs_are_ending, .is_rung_last = true),
	STATE(a_vector_is_pending, .is_masked = true),
	STATE(the_tail_is_too_far),
	STATE(the_ring_is_misaligned),
	STATE(the_ring_is_nowhere),
	STATE(results_are_nowhere),
	STATE(bus_mastering_is_off),
	STATE(every_test_is_armed),
	STATE(the_driver_has_not_looked),
	STATE(buffers_are_dropped_while_they_are_used),
	STATE(a_reset_has_begun, .is_reset = true),
	STATE(the_machine_is_paused, .is_paused = true),
	STATE(the_machine_is_paused_while_a_job_hangs, .is_paused = true),
};

/* Ways out */

static void queue_is_disabled(struct machine *m)
{
	queue_disable(m, 0);
}

struct way {
	const char *name;
	void (*go)(struct machine *m);
	bool is_of_device;
	bool is_of_function;		/* MSI-X as well */
};

static const struct way ways[] = {
	{ "until_the_queue_is_disabled", queue_is_disabled },
	{ "until_the_device_is_reset", reset_by_register, true },
	{ "until_the_function_is_reset", reset_function, true, true },
	{ "until_the_machine_is_reset", reset_system, true, true },
};

/* Afterwards */

static void registers_read(struct machine *m, struct registers *registers)
{
	qtest_memread(m->qts, m->registers.addr, registers, sizeof(*registers));
}

static uint32_t value(const struct registers *registers, uint64_t offset)
{
	return registers->values[offset / 4];
}

static void assert_same(const struct registers *now, const struct registers *before,
			uint64_t offset)
{
	if (value(now, offset) != value(before, offset))
		g_error("register 0x%" PRIx64 " is 0x%x, it should be 0x%x", offset,
			value(now, offset), value(before, offset));
}

/* Addresses stay; other queues go on. */
static bool is_of_queue_or_moves(uint64_t offset)
{
	uint64_t of_queue = offset % TESSERA_QUEUE(0);

	return offset == TESSERA_REG_STATUS || offset == TESSERA_REG_INVALIDATE ||
	       (offset >= TESSERA_QUEUE(0) && offset < TESSERA_QUEUE(1) &&
		of_queue != TESSERA_QUEUE_RING && of_queue != TESSERA_QUEUE_RING_SHIFT &&
		of_queue != TESSERA_QUEUE_COMPLETION && of_queue != TESSERA_QUEUE_RESULTS &&
		of_queue != TESSERA_QUEUE_HINTS) ||
	       (offset >= TESSERA_QUEUE(1) && (of_queue == TESSERA_QUEUE_PROGRESS ||
					       of_queue == TESSERA_QUEUE_PROGRESS + 4));
}

static void assert_registers(struct machine *m, const struct registers *before,
			     bool (*is_left_out)(uint64_t offset))
{
	struct registers now;
	uint64_t offset;

	registers_read(m, &now);
	for (offset = 0; offset < sizeof(now); offset += 4)
		if (!is_left_out || !is_left_out(offset))
			assert_same(&now, before, offset);
	g_assert_cmphex(value(&now, TESSERA_QUEUE(0) + TESSERA_QUEUE_CONTROL), ==, 0);
	g_assert_cmphex(value(&now, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS), ==, 0);
	g_assert_cmphex(value(&now, TESSERA_REG_INVALIDATE), ==, 0);
}

/* A reset of the function takes what is pending with it; otherwise it is sent, once. */
static void pending_is_handled(struct pair *p, bool is_pending)
{
	qtest_memset(p->m.qts, p->m.messages, 0, 4096);
	g_assert_cmphex(msix_pending(&p->m), ==, is_pending);
	if (!is_pending)
		return;
	qpci_io_writel(p->m.pci, p->m.msix, PCI_MSIX_ENTRY_VECTOR_CTRL, 0);
	g_assert_cmphex(message_get(&p->m, 0), ==, MESSAGE(0));
	message_clear(&p->m, 0);
	g_assert_cmphex(msix_pending(&p->m), ==, 0);
}

static void assert_filled(struct machine *m, uint64_t address, uint8_t with, size_t size)
{
	g_autofree uint8_t *data = g_malloc(size), *expected = g_malloc(size);

	memset(expected, with, size);
	qtest_memread(m->qts, address, data, size);
	g_assert_cmpmem(data, size, expected, size);
}

/* Jobs that have not ended leave these as they are. */
static void marks_set(struct pair *p)
{
	qtest_memset(p->m.qts, p->m.queues[0].results, 0xdd, RESULTS_SIZE);
	qtest_writeq(p->m.qts, p->m.queues[0].completion, OLD_COMPLETION);
}

/* Nothing of what was is still on its way: no store, and no message that another one is behind. */
static void assert_quiet(struct pair *p, bool is_of_device)
{
	unsigned vector;

	set(&p->m, TESSERA_REG_TEST_INTERRUPT, TESSERA_VECTOR_QUEUE(3));
	message_wait(&p->m, TESSERA_VECTOR_QUEUE(3));
	for (vector = 0; vector <= NUM_QUEUES; vector++)
		if (vector != TESSERA_VECTOR_QUEUE(3) && (is_of_device || !vector))
			g_assert_cmphex(message_get(&p->m, vector), ==, 0);
	assert_untouched(p);
	assert_filled(&p->m, p->m.queues[0].results, 0xdd, RESULTS_SIZE);
	g_assert_cmphex(qtest_readq(p->m.qts, p->m.queues[0].completion), ==, OLD_COMPLETION);
}

/* What goes on when a queue is disabled ends: tests, and jobs of others, who give threads back. */
static void others_begin_anew(struct machine *m, bool is_of_device)
{
	unsigned i;

	for (i = 1; i < NUM_QUEUES; i++) {
		if (!is_of_device)
			queue_disable(m, i);
		queue_create(m, i);
	}
	if (is_of_device)
		return;
	for (i = 0; i < ARRAY_SIZE(test_registers); i++)
		set(m, test_registers[i], 0);
}

static void assert_counts_from_zero(struct machine *m)
{
	static const uint64_t offsets[] = {
		TESSERA_QUEUE_TAIL, TESSERA_QUEUE_HEAD, TESSERA_QUEUE_PROGRESS,
		TESSERA_QUEUE_PROGRESS + 4, TESSERA_QUEUE_NUM_DOORBELLS,
		TESSERA_QUEUE_NUM_INTERRUPTS,
	};
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(offsets); i++)
		g_assert_cmpuint(get(m, TESSERA_QUEUE(0) + offsets[i]), ==, 0);
	for (i = 0; i < TESSERA_NUM_COUNTERS; i++)
		g_assert_cmpuint(get64(m, TESSERA_QUEUE(0) + TESSERA_QUEUE_TOTAL(i)), ==, 0);
}

/* The first in a thread of the device, the second at its doorbell, each with its interrupt */
static void assert_jobs_run(struct pair *p)
{
	uint64_t hints = p->m.queues[0].hints;
	struct job job = job_bytes(8192);
	unsigned i;

	for (i = 0; i < 2; i++) {
		qtest_memset(p->m.qts, p->destination, 0xee, 8192);
		message_clear(&p->m, 0);
		job_begin(p, 0, &job);
		assert_success(result_next(&p->m, 0));
		assert_moved(p, 8192);
		message_wait(&p->m, 0);
		g_assert_cmpuint(get(&p->m, TESSERA_QUEUE(0) + TESSERA_QUEUE_NUM_INTERRUPTS), ==,
				 i + 1);
		if (hints)
			qtest_writeq(p->m.qts, hints + offsetof(struct tessera_hw_hints, seen),
				     sequence_of(i));
	}
}

/* Tests */

struct passage {
	const struct state *state;
	const struct way *way;
};

static void passage_go(struct pair *p, const struct passage *c, const struct registers *at_start)
{
	bool is_of_device = c->way->is_of_device || c->state->is_reset;
	struct registers before;

	c->state->enter(p);
	registers_read(&p->m, &before);
	marks_set(p);
	if (c->state->is_rung_last)
		doorbell(&p->m, 0);
	c->way->go(&p->m);
	if (c->state->is_rung_last)
		marks_set(p);
	qtest_memset(p->m.qts, p->destination, 0xee, 8192);
	qpci_device_enable(p->m.pci);
	if (c->state->is_paused)
		qtest_qmp_assert_success(p->m.qts, "{ 'execute': 'cont' }");
	if (is_of_device)
		assert_registers(&p->m, at_start, NULL);
	else
		assert_registers(&p->m, &before, is_of_queue_or_moves);
	pending_is_handled(p, c->state->is_masked && !c->way->is_of_function);
	if (c->way->is_of_function)
		msix_enable(&p->m, NUM_QUEUES + 1);
	others_begin_anew(&p->m, is_of_device);
	assert_quiet(p, is_of_device);
	directory_set(&p->m);
	queue_create(&p->m, 0);
	assert_counts_from_zero(&p->m);
	assert_jobs_run(p);
}

static void state_is_left(gconstpointer opaque)
{
	const struct passage *c = opaque;
	g_autofree char *properties = NULL;
	struct registers at_start;
	struct pair p;
	uint64_t mark;
	unsigned i;

	properties = g_strdup_printf("x-test=on,threads=%u", c->state->num_threads ?: 2);
	machine_start(&p.m, c->state->is_private ? ANONYMOUS : MEMFD, properties);
	registers_read(&p.m, &at_start);
	pair_create(&p);
	for (i = 1; i < NUM_QUEUES; i++)
		queue_create(&p.m, i);
	buffer_create(&p.m, OTHERS, 4096, TESSERA_BUFFER_WRITABLE);
	msix_enable(&p.m, NUM_QUEUES + 1);
	mark = p.m.free;
	for (i = 0; i < (c->state->is_rung_last ? MANY_ROUNDS : NUM_ROUNDS); i++) {
		p.m.free = mark;
		passage_go(&p, c, &at_start);
	}
	machine_stop(&p.m);
}

int main(int argc, char **argv)
{
	struct passage passages[ARRAY_SIZE(states)][ARRAY_SIZE(ways)];
	unsigned i, k;

	tests_init(&argc, &argv);
	for (i = 0; i < ARRAY_SIZE(states); i++) {
		for (k = 0; k < ARRAY_SIZE(ways); k++) {
			g_autofree char *path = g_strdup_printf("/reset/%s_%s", states[i].name,
								ways[k].name);

			passages[i][k] = (struct passage) { &states[i], &ways[k] };
			g_test_add_data_func(path, &passages[i][k], state_is_left);
		}
	}
	return tests_run();
}
