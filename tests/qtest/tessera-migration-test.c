/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Tessera device saved and loaded, in every state that it can be in: a machine is migrated
 * through a file to a second one, which then does what the first would have done. States that no
 * device can be in are refused.
 */
#include "qemu/osdep.h"
#include "qobject/qlist.h"
#include "harness.h"

/* Migration */

/* The status at which a migration of either side ends; why, where it has failed */
static char *migration_wait(QTestState *qts, char **error)
{
	int64_t deadline = g_get_monotonic_time() + PATIENCE;
	const char *status;

	for (;;) {
		g_autoptr(QDict) answer = qtest_qmp(qts, "{ 'execute': 'query-migrate' }");
		QDict *info = qdict_get_qdict(answer, "return");

		status = qdict_get_try_str(info, "status") ?: "none";
		if (error)
			*error = g_strdup(qdict_get_try_str(info, "error-desc"));
		if (g_str_equal(status, "completed") || g_str_equal(status, "failed"))
			return g_strdup(status);
		if (error)
			g_clear_pointer(error, g_free);
		g_assert_cmpint(g_get_monotonic_time(), <, deadline);
	}
}

static char *file_create(void)
{
	g_autoptr(GError) error = NULL;
	char *path;
	int fd = g_file_open_tmp("tessera-test-XXXXXX", &path, &error);

	g_assert_no_error(error);
	close(fd);
	return path;
}

static void file_remove(char *path)
{
	unlink(path);
	g_free(path);
}

static void machine_save(struct machine *m, const char *path)
{
	g_autofree char *uri = g_strdup_printf("file:%s", path);
	g_autofree char *status = NULL;

	qtest_qmp_assert_success(m->qts, "{ 'execute': 'migrate', 'arguments': { 'uri': %s } }",
				 uri);
	status = migration_wait(m->qts, NULL);
	g_assert_cmpstr(status, ==, "completed");
}

/* A machine that waits for the state of another */
static char *machine_load(struct machine *m, const char *path, const char *memory,
			  const char *properties)
{
	g_autofree char *arguments = g_strconcat(memory, "-incoming defer ", NULL);
	g_autofree char *uri = g_strdup_printf("file:%s", path);

	machine_start(m, arguments, properties);
	qtest_qmp_assert_success(m->qts, "{ 'execute': 'migrate-incoming', 'arguments': "
				 "{ 'uri': %s, 'exit-on-error': false } }", uri);
	return migration_wait(m->qts, NULL);
}

/* The machine goes on as another of the same memory. */
static void machine_migrate_with(struct machine *m, const char *memory, const char *properties)
{
	char *path = file_create();
	g_autofree char *status = NULL;
	struct machine next;

	machine_save(m, path);
	status = machine_load(&next, path, memory, properties);
	g_assert_cmpstr(status, ==, "completed");
	file_remove(path);
	next.msix = m->msix;
	next.free = m->free;
	next.directory = m->directory;
	memcpy(next.queues, m->queues, sizeof(next.queues));
	machine_stop(m);
	*m = next;
}

static void machine_migrate(struct machine *m, const char *properties)
{
	machine_migrate_with(m, MEMFD, properties);
}

static void machine_pause(struct machine *m)
{
	qtest_qmp_assert_success(m->qts, "{ 'execute': 'stop' }");
}

static void machine_go_on(struct machine *m)
{
	qtest_qmp_assert_success(m->qts, "{ 'execute': 'cont' }");
}

/* Jobs */

#define REPEATS	(1u << 17)		/* of a job that takes long: a gigabyte */

/* The bytes of SOURCE to DESTINATION, over and over, with an end */
static struct job job_long(void)
{
	struct job job = job_bytes(0);

	job.head.rank = 2;
	job.head.extents[0] = REPEATS;
	job.head.extents[1] = 4096;
	job.operands[DESTINATION].address.strides[0] = 0;
	job.operands[DESTINATION].address.strides[1] = 1;
	job.operands[SOURCE].address.strides[0] = 0;
	job.operands[SOURCE].address.strides[1] = 1;
	return job;
}

static uint64_t progress(struct machine *m)
{
	return get64(m, TESSERA_QUEUE(0) + TESSERA_QUEUE_PROGRESS);
}

static void progress_wait(struct machine *m, uint64_t more_than)
{
	int64_t deadline = g_get_monotonic_time() + PATIENCE;

	while (progress(m) <= more_than)
		g_assert_cmpint(g_get_monotonic_time(), <, deadline);
}

/* Begins it on queue 0, and waits until it is under way. */
static void job_start(struct machine *m, const struct job *job)
{
	job_push(m, 0, job, 0);
	doorbell(m, 0);
	progress_wait(m, 0);
}

static void busy_wait(struct machine *m)
{
	wait_for(m, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS, ~0u,
		 TESSERA_QUEUE_STATUS_ENABLED | TESSERA_QUEUE_STATUS_BUSY);
}

/* What is carried over */

static void registers_are_carried_over(void)
{
	static const uint32_t written[] = {
		TESSERA_QUEUE_RING, TESSERA_QUEUE_RING + 4, TESSERA_QUEUE_RING_SHIFT,
		TESSERA_QUEUE_COMPLETION, TESSERA_QUEUE_COMPLETION + 4, TESSERA_QUEUE_RESULTS,
		TESSERA_QUEUE_RESULTS + 4, TESSERA_QUEUE_HINTS, TESSERA_QUEUE_HINTS + 4,
	};
	uint32_t before[2][0x200 / 4];
	struct pair p;
	unsigned i, q;

	pair_start(&p, "queues=2,x-test=on");
	assert_works(&p);
	/* A queue that is not enabled holds what it likes */
	for (i = 0; i < ARRAY_SIZE(written); i++)
		set(&p.m, TESSERA_QUEUE(1) + written[i], 0x11223300 + i);
	set(&p.m, TESSERA_REG_TEST_HANG, 7);
	set(&p.m, TESSERA_REG_TEST_SKEW, 9);
	for (i = 0; i < ARRAY_SIZE(before[0]); i++)
		for (q = 0; q < 2; q++)
			before[q][i] = get(&p.m, TESSERA_QUEUE(q) + 4 * i);
	machine_migrate(&p.m, "queues=2,x-test=on");
	for (i = 0; i < ARRAY_SIZE(before[0]); i++)
		for (q = 0; q < 2; q++)
			g_assert_cmphex(get(&p.m, TESSERA_QUEUE(q) + 4 * i), ==, before[q][i]);
	g_assert_cmphex(get64(&p.m, TESSERA_REG_BUFFERS), ==, p.m.directory);
	g_assert_cmpuint(get(&p.m, TESSERA_REG_NUM_BUFFERS), ==, NUM_BUFFERS);
	g_assert_cmpuint(get(&p.m, TESSERA_REG_TEST_HANG), ==, 7);
	g_assert_cmpuint(get(&p.m, TESSERA_REG_TEST_SKEW), ==, 9);
	machine_stop(&p.m);
}

static void a_queue_goes_on_where_it_was(void)
{
	struct pair p;
	unsigned i;

	pair_start(&p, "");
	for (i = 0; i < RING_SIZE - 3; i++)
		assert_works(&p);
	for (i = 0; i < 3; i++) {
		machine_migrate(&p.m, "");
		assert_works(&p);
		assert_works(&p);
	}
	machine_stop(&p.m);
}

/* As what each machine brings of its own may: properties that no guest sees */
static void threads_and_patience_may_differ(void)
{
	struct pair p;

	pair_start(&p, "threads=1,stop-wait=5");
	machine_migrate(&p.m, "threads=3");
	assert_works(&p);
	machine_stop(&p.m);
}

static void sram_and_what_crossed_to_it_are_carried_over(void)
{
	uint8_t expected[8192], data[8192];
	uint64_t links[4 * TESSERA_NUM_LINKS];
	struct job job = job_bytes(8192);
	struct pair p;
	unsigned i;

	pair_start(&p, "");
	fill_pattern(expected, sizeof(expected));
	buffer_set(&p.m, 2, 3 << 20, 8192, TESSERA_BUFFER_VALID | TESSERA_BUFFER_WRITABLE |
		   TESSERA_BUFFER_SRAM, 0);
	/* Through the processor and through a job */
	qpci_memwrite(p.m.pci, p.m.sram, 1 << 20, expected, sizeof(expected));
	job.operands[DESTINATION].buffer = 2;
	assert_success(job_run(&p.m, &job));
	for (i = 0; i < ARRAY_SIZE(links); i++)
		links[i] = get64(&p.m, TESSERA_REG_LINK(0, i));
	machine_migrate(&p.m, "");
	qpci_memread(p.m.pci, p.m.sram, 1 << 20, data, sizeof(data));
	g_assert_cmpmem(data, sizeof(data), expected, sizeof(expected));
	qpci_memread(p.m.pci, p.m.sram, 3 << 20, data, sizeof(data));
	g_assert_cmpmem(data, sizeof(data), p.pattern, sizeof(p.pattern));
	/* From element 0 to element 3 */
	g_assert_cmpuint(links[TESSERA_LINK_EAST], ==, 8192);
	for (i = 0; i < ARRAY_SIZE(links); i++)
		g_assert_cmpuint(get64(&p.m, TESSERA_REG_LINK(0, i)), ==, links[i]);
	machine_stop(&p.m);
}

static void an_error_of_a_queue_is_carried_over(void)
{
	uint32_t status = TESSERA_QUEUE_STATUS_ENABLED | TESSERA_QUEUE_STATUS_ERROR |
			  TESSERA_QUEUE_ERROR_TAIL;
	struct pair p;

	pair_start(&p, "");
	set(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_TAIL, RING_SIZE + 1);
	g_assert_cmphex(get(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS), ==, status);
	machine_migrate(&p.m, "");
	g_assert_cmphex(get(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS), ==, status);
	queue_disable(&p.m, 0);
	queue_create(&p.m, 0);
	assert_works(&p);
	machine_stop(&p.m);
}

static void a_queue_that_could_not_be_enabled_is_carried_over(void)
{
	uint32_t status = TESSERA_QUEUE_STATUS_ENABLED | TESSERA_QUEUE_STATUS_ERROR |
			  TESSERA_QUEUE_ERROR_CONFIG;
	struct pair p;

	pair_start(&p, "");
	queue_configure(&p.m, 1);
	set(&p.m, TESSERA_QUEUE(1) + TESSERA_QUEUE_RING, 1);
	set(&p.m, TESSERA_QUEUE(1) + TESSERA_QUEUE_CONTROL, TESSERA_QUEUE_ENABLE);
	machine_migrate(&p.m, "");
	g_assert_cmphex(get(&p.m, TESSERA_QUEUE(1) + TESSERA_QUEUE_STATUS), ==, status);
	machine_stop(&p.m);
}

/* Interrupts: a message is a store to memory, here to RAM, where it can be seen. */
static void a_masked_vector_that_is_pending_is_carried_over(void)
{
	int64_t deadline = g_get_monotonic_time() + PATIENCE;
	uint32_t control = PCI_MSIX_ENTRY_VECTOR_CTRL, pending;
	struct job job = job_bytes(1);
	uint8_t capability;
	uint64_t message;
	struct pair p;

	pair_start(&p, "");
	capability = qpci_find_capability(p.m.pci, PCI_CAP_ID_MSIX, 0);
	pending = qpci_config_readl(p.m.pci, capability + PCI_MSIX_PBA) & ~PCI_MSIX_FLAGS_BIRMASK;
	p.m.msix = qpci_iomap(p.m.pci, TESSERA_BAR_MSIX, NULL);
	message = allocate(&p.m, 4096);
	qtest_writel(p.m.qts, message, 0);
	qpci_io_writel(p.m.pci, p.m.msix, PCI_MSIX_ENTRY_LOWER_ADDR, message);
	qpci_io_writel(p.m.pci, p.m.msix, PCI_MSIX_ENTRY_UPPER_ADDR, 0);
	qpci_io_writel(p.m.pci, p.m.msix, PCI_MSIX_ENTRY_DATA, 0xabcd);
	qpci_io_writel(p.m.pci, p.m.msix, control, PCI_MSIX_ENTRY_CTRL_MASKBIT);
	qpci_config_writew(p.m.pci, capability + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE);
	job_push(&p.m, 0, &job, TESSERA_RING_INTERRUPT);
	doorbell(&p.m, 0);
	while (!(qpci_io_readl(p.m.pci, p.m.msix, pending) & 1))
		g_assert_cmpint(g_get_monotonic_time(), <, deadline);

	machine_migrate(&p.m, "");
	g_assert_cmphex(qpci_io_readl(p.m.pci, p.m.msix, pending), ==, 1);
	g_assert_cmphex(qtest_readl(p.m.qts, message), ==, 0);
	qpci_io_writel(p.m.pci, p.m.msix, control, 0);
	while (qtest_readl(p.m.qts, message) != 0xabcd)
		g_assert_cmpint(g_get_monotonic_time(), <, deadline);
	machine_stop(&p.m);
}

/* Jobs that are queued, run or hang */

static void no_job_begins_while_the_machine_is_paused(void)
{
	struct job job = job_bytes(64);
	struct pair p;

	pair_start(&p, "");
	machine_pause(&p.m);
	job_push(&p.m, 0, &job, 0);
	doorbell(&p.m, 0);
	g_assert_cmphex(get(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS), ==,
			TESSERA_QUEUE_STATUS_ENABLED);
	g_assert_cmpuint(get(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_HEAD), ==, 0);
	machine_go_on(&p.m);
	assert_success(result_next(&p.m, 0));
	assert_moved(&p, 64);
	machine_stop(&p.m);
}

static void a_job_that_runs_is_held_while_the_machine_is_paused(void)
{
	struct job job = job_endless();
	struct pair p;
	uint64_t then;

	pair_start(&p, "");
	job_start(&p.m, &job);
	machine_pause(&p.m);
	g_assert_cmphex(get(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS), ==,
			TESSERA_QUEUE_STATUS_ENABLED);
	then = progress(&p.m);
	g_assert_cmpuint(progress(&p.m), ==, then);
	machine_go_on(&p.m);
	progress_wait(&p.m, then);
	g_assert_cmpuint(get(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_HEAD), ==, 0);
	queue_disable(&p.m, 0);
	machine_stop(&p.m);
}

static void jobs_that_wait_are_run_elsewhere(void)
{
	struct job job = job_bytes(64);
	struct pair p;
	unsigned i;

	pair_start(&p, "");
	machine_pause(&p.m);
	for (i = 0; i < RING_SIZE; i++)
		job_push(&p.m, 0, &job, 0);
	doorbell(&p.m, 0);
	machine_migrate(&p.m, "");
	g_assert_cmpuint(get(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_HEAD), ==, 0);
	assert_untouched(&p);
	machine_go_on(&p.m);
	for (i = 0; i < RING_SIZE; i++)
		assert_success(result_next(&p.m, 0));
	assert_moved(&p, 64);
	machine_stop(&p.m);
}

/* On buffers of scattered pages */
static void a_job_that_runs_is_run_again(const char *memory)
{
	uint8_t expected[8192], data[8192];
	struct job job = job_long();
	uint64_t source, destination;
	struct machine m;

	machine_start(&m, memory, "");
	directory_create(&m);
	queue_create(&m, 0);
	source = scattered_create(&m, SOURCE, 2, 0);
	destination = scattered_create(&m, DESTINATION, 2, TESSERA_BUFFER_WRITABLE);
	fill_pattern(expected, sizeof(expected));
	scattered_copy(&m, source, 2, expected, true);
	job.head.extents[1] = sizeof(expected);
	job_start(&m, &job);
	machine_migrate_with(&m, memory, "");
	assert_success(result_next(&m, 0));
	scattered_copy(&m, destination, 2, data, false);
	g_assert_cmpmem(data, sizeof(data), expected, sizeof(expected));
	machine_stop(&m);
}

static void a_job_that_runs_is_run_again_elsewhere(void)
{
	a_job_that_runs_is_run_again(MEMFD);
}

static void a_job_on_copies_is_run_again_elsewhere(void)
{
	a_job_that_runs_is_run_again(ANONYMOUS);
}

static void a_job_that_never_ends_does_not_keep_a_machine(void)
{
	struct job job = job_endless();
	struct pair p;
	uint64_t then;

	pair_start(&p, "");
	job_start(&p.m, &job);
	then = progress(&p.m);
	machine_migrate(&p.m, "");
	busy_wait(&p.m);
	progress_wait(&p.m, then);
	queue_disable(&p.m, 0);
	queue_create(&p.m, 0);
	assert_works(&p);
	machine_stop(&p.m);
}

/* All queues of a device with one thread: one job runs, the others wait */
static void queues_that_wait_for_a_thread_are_run_elsewhere(void)
{
	struct job job = job_long();
	struct pair p;
	unsigned q;

	pair_start(&p, "threads=1");
	for (q = 1; q < 4; q++)
		queue_create(&p.m, q);
	for (q = 0; q < 4; q++) {
		job_push(&p.m, q, &job, 0);
		doorbell(&p.m, q);
	}
	progress_wait(&p.m, 0);
	machine_migrate(&p.m, "threads=1");
	for (q = 0; q < 4; q++)
		assert_success(result_next(&p.m, q));
	assert_moved(&p, 4096);
	machine_stop(&p.m);
}

static void a_job_that_hangs_hangs_elsewhere(void)
{
	struct job job = job_bytes(64);
	struct pair p;

	pair_start(&p, "x-test=on");
	set(&p.m, TESSERA_REG_TEST_HANG, 1);
	job_push(&p.m, 0, &job, 0);
	doorbell(&p.m, 0);
	busy_wait(&p.m);
	machine_migrate(&p.m, "x-test=on");
	busy_wait(&p.m);
	g_assert_cmpuint(get(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_HEAD), ==, 0);
	assert_untouched(&p);
	queue_disable(&p.m, 0);
	queue_create(&p.m, 0);
	assert_works(&p);
	machine_stop(&p.m);
}

static void a_job_that_is_run_again_has_begun_once(void)
{
	struct job job = job_endless();
	struct pair p;

	pair_start(&p, "x-test=on");
	set(&p.m, TESSERA_REG_TEST_HANG, 3);
	job_start(&p.m, &job);
	g_assert_cmpuint(get(&p.m, TESSERA_REG_TEST_HANG), ==, 2);
	machine_migrate(&p.m, "x-test=on");
	busy_wait(&p.m);
	g_assert_cmpuint(get(&p.m, TESSERA_REG_TEST_HANG), ==, 2);
	queue_disable(&p.m, 0);
	machine_stop(&p.m);
}

static void a_skew_is_that_of_the_job_it_was_given_to(void)
{
	uint8_t data[4096 + 1], expected[4096 + 1];
	struct job job = job_long();
	struct pair p;

	pair_start(&p, "x-test=on");
	set(&p.m, TESSERA_REG_TEST_SKEW, 1);
	job_start(&p.m, &job);
	machine_migrate(&p.m, "x-test=on");
	assert_success(result_next(&p.m, 0));
	qtest_memread(p.m.qts, p.destination, data, sizeof(data));
	expected[0] = 0xee;
	memcpy(expected + 1, p.pattern, 4096);
	g_assert_cmpmem(data, sizeof(data), expected, sizeof(expected));
	assert_works(&p);
	machine_stop(&p.m);
}

static void a_reset_that_was_asked_for_is_done_elsewhere(void)
{
	struct job job = job_endless();
	struct pair p;

	pair_start(&p, "");
	job_start(&p.m, &job);
	set(&p.m, TESSERA_REG_CONTROL, TESSERA_CONTROL_RESET);
	machine_migrate(&p.m, "");
	g_assert_cmphex(get(&p.m, TESSERA_REG_CONTROL), ==, 0);
	g_assert_cmphex(get(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS), ==, 0);
	set64(&p.m, TESSERA_REG_BUFFERS, p.m.directory);
	set(&p.m, TESSERA_REG_NUM_BUFFERS, NUM_BUFFERS);
	queue_create(&p.m, 0);
	assert_works(&p);
	machine_stop(&p.m);
}

/* Jobs that cannot be run again */

#define NUM_FLOATS	(7u << 20)
#define FLOATS_ADDRESS	(32u << 20)	/* behind all else in RAM */
#define FLOATS_AT_A_TIME	(16u << 10)

/* Its result is that of one run: after two, all would be as it was */
static void a_job_in_place_is_run_once(void)
{
	g_autofree uint32_t *data = g_new(uint32_t, FLOATS_AT_A_TIME);
	struct job job = {
		.head = { .rank = 1, .num_operands = 2, .num_instructions = 1,
			  .extents = { NUM_FLOATS } },
		.operands = {
			[DESTINATION] = { .buffer = 2, .dtype = DRM_TESSERA_DTYPE_F32,
					  .address.strides = { 4 } },
			[SOURCE] = { .buffer = 2, .dtype = DRM_TESSERA_DTYPE_F32,
				     .address.strides = { 4 } },
		},
		.program = { { .opcode = DRM_TESSERA_OP_NEG, .dtype = DRM_TESSERA_DTYPE_F32 } },
	};
	uint64_t pages[] = { FLOATS_ADDRESS, FLOATS_ADDRESS + (16u << 20) };
	struct pair p;
	unsigned i;

	pair_start(&p, "stop-wait=60000");
	buffer_set(&p.m, 2, table_create(&p.m, pages, 2), NUM_FLOATS * 4,
		   TESSERA_BUFFER_VALID | TESSERA_BUFFER_WRITABLE, 24);
	qtest_memset(p.m.qts, FLOATS_ADDRESS, 0x12, NUM_FLOATS * 4);
	job_start(&p.m, &job);
	/* At once, and not when memory has been sent */
	machine_pause(&p.m);
	machine_migrate(&p.m, "");
	machine_go_on(&p.m);
	assert_success(result_next(&p.m, 0));
	for (i = 0; i < NUM_FLOATS; i++) {
		if (i % FLOATS_AT_A_TIME == 0)
			qtest_memread(p.m.qts, FLOATS_ADDRESS + i * 4, data,
				      FLOATS_AT_A_TIME * 4);
		g_assert_cmphex(data[i % FLOATS_AT_A_TIME], ==, 0x92121212);
	}
	machine_stop(&p.m);
}

/* Ways for a job to read what it stores. Each never ends. */

static void same_buffer(struct pair *p, struct job *job)
{
	job->operands[SOURCE].buffer = DESTINATION;
}

static void other_buffer_of_the_same_page(struct pair *p, struct job *job)
{
	uint64_t page = p->destination;

	buffer_set(&p->m, 3, table_create(&p->m, &page, 1), 4096, TESSERA_BUFFER_VALID,
		   TESSERA_PAGE_MIN_SHIFT);
	job->operands[SOURCE].buffer = 3;
}

static void scattered_buffers_that_share_a_page(struct pair *p, struct job *job)
{
	uint64_t free = allocate(&p->m, 8 * 4096);
	uint64_t to[] = { free + 6 * 4096, free + 4096, free + 3 * 4096 };
	uint64_t from[] = { free, free + 3 * 4096, free + 2 * 4096 };

	buffer_set(&p->m, 3, table_create(&p->m, to, 3), sizeof(to) / 8 * 4096,
		   TESSERA_BUFFER_VALID | TESSERA_BUFFER_WRITABLE, TESSERA_PAGE_MIN_SHIFT);
	buffer_set(&p->m, 4, table_create(&p->m, from, 3), sizeof(from) / 8 * 4096,
		   TESSERA_BUFFER_VALID, TESSERA_PAGE_MIN_SHIFT);
	job->head.rank = 2;
	job->head.extents[0] >>= 16;
	job->head.extents[1] = 3 * 4096;
	job->operands[DESTINATION].buffer = 3;
	job->operands[DESTINATION].address.strides[1] = 1;
	job->operands[SOURCE].buffer = 4;
	job->operands[SOURCE].address.strides[1] = 1;
}

static void index_buffer_is_stored_to(struct pair *p, struct job *job)
{
	struct job gather = job_gather(FOREVER >> 16, 64);

	gather.operands[DESTINATION].address.strides[0] = 0;
	gather.operands[SOURCE].index_buffer = DESTINATION;
	gather.operands[SOURCE].index_address.strides[0] = 0;
	gather.operands[SOURCE].index_address.offset = 60;
	/* All zeros: row 0 is what is stored, over and over */
	memset(p->pattern, 0, 64);
	qtest_memset(p->m.qts, p->source, 0, 64);
	qtest_memset(p->m.qts, p->destination, 0, 64);
	*job = gather;
}

struct in_place_case {
	const char *name;
	void (*change)(struct pair *p, struct job *job);
};

static const struct in_place_case in_place_cases[] = {
	{ "a_job_on_one_buffer_has_stop_wait_to_end", same_buffer },
	{ "a_job_on_two_buffers_of_a_page_has_stop_wait_to_end", other_buffer_of_the_same_page },
	{ "a_job_on_scattered_buffers_that_share_a_page_has_stop_wait_to_end",
	  scattered_buffers_that_share_a_page },
	{ "a_job_that_stores_to_its_indices_has_stop_wait_to_end", index_buffer_is_stored_to },
};

static void job_is_cut_short(gconstpointer opaque)
{
	const struct in_place_case *in_place = opaque;
	struct job job = job_endless();
	struct pair p;

	pair_start(&p, "stop-wait=1");
	in_place->change(&p, &job);
	job_start(&p.m, &job);
	machine_migrate(&p.m, "");
	assert_fault(result_next(&p.m, 0), DRM_TESSERA_CAUSE_CANCELED, 0, 0);
	assert_works(&p);
	machine_stop(&p.m);
}

/* Neighbours are none that share memory, however near they are. */
static void a_job_beside_its_source_is_run_again(void)
{
	struct job job = job_endless();
	uint64_t free, to[2], from[2];
	struct pair p;

	pair_start(&p, "stop-wait=0");
	free = allocate(&p.m, 4 * 4096);
	to[0] = free + 2 * 4096;
	to[1] = from[1] = free;
	from[0] = free + 4096;
	buffer_set(&p.m, 3, table_create(&p.m, to, 2), 8192,
		   TESSERA_BUFFER_VALID | TESSERA_BUFFER_WRITABLE, TESSERA_PAGE_MIN_SHIFT);
	buffer_set(&p.m, 4, table_create(&p.m, from, 2), 8192, TESSERA_BUFFER_VALID,
		   TESSERA_PAGE_MIN_SHIFT);
	/* Up to the byte before those of the destination in the page that they share */
	job.head.rank = 2;
	job.head.extents[0] >>= 16;
	job.head.extents[1] = 4096 + 16;
	job.operands[DESTINATION].buffer = 3;
	job.operands[DESTINATION].address.offset = 4096 + 16;
	job.operands[DESTINATION].address.strides[1] = 0;
	job.operands[SOURCE].buffer = 4;
	job.operands[SOURCE].address.strides[1] = 1;
	job_start(&p.m, &job);
	machine_migrate(&p.m, "");
	busy_wait(&p.m);
	g_assert_cmpuint(get(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_HEAD), ==, 0);
	queue_disable(&p.m, 0);
	machine_stop(&p.m);
}

/* What is refused */

struct refusal {
	const char *name;
	const char *properties;
	const char *expected;
};

static const struct refusal refusals[] = {
	{ "more_queues_are_refused", "queues=4,sram-size=0,x-test=on", "property 'queues'" },
	{ "another_clock_is_refused", "queues=3,sram-size=0,x-test=on,clock=1000",
	  "property 'clock'" },
	{ "another_grid_is_refused", "queues=3,sram-size=0,x-test=on,grid-columns=1",
	  "property 'grid-columns'" },
	{ "other_test_registers_are_refused", "queues=3,sram-size=0", "property 'x-test'" },
	{ "sram_that_was_not_there_is_refused", "queues=3,sram-size=4K,x-test=on",
	  "property 'sram-size'" },
};

static char *stderr_of(const char *path)
{
	char *text;

	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	return text;
}

static void assert_refused(const char *path, const char *properties, const char *expected)
{
	char *log = file_create();
	g_autofree char *memory = g_strdup_printf(MEMFD "2>%s ", log);
	g_autofree char *status = NULL, *text = NULL;
	struct machine m;

	status = machine_load(&m, path, memory, properties);
	text = stderr_of(log);
	g_assert_cmpstr(status, ==, "failed");
	if (!strstr(text, expected))
		g_error("'%s' was expected, QEMU said: %s", expected, text);
	machine_stop(&m);
	file_remove(log);
}

static void machine_is_refused(gconstpointer opaque)
{
	const struct refusal *refusal = opaque;
	char *path = file_create();
	struct pair p;

	pair_start(&p, "queues=3,sram-size=0,x-test=on");
	machine_save(&p.m, path);
	assert_refused(path, refusal->properties, refusal->expected);
	machine_stop(&p.m);
	file_remove(path);
}

static void more_sram_is_refused(void)
{
	char *path = file_create();
	struct pair p;

	pair_start(&p, "queues=3,sram-size=1M");
	machine_save(&p.m, path);
	/* Rounded up to a power of two, as the BAR is, it is as large; then where it is not */
	assert_refused(path, "queues=3,sram-size=1028K", "property 'sram-size'");
	assert_refused(path, "queues=3,sram-size=2M", "tessera-sram");
	machine_stop(&p.m);
	file_remove(path);
}

static void migration_with(const char *capability)
{
	g_autofree char *status = NULL, *error = NULL, *expected = NULL;
	struct pair p;
	QDict *answer;

	pair_start(&p, "");
	answer = qtest_qmp(p.m.qts, "{ 'execute': 'migrate-set-capabilities', 'arguments': "
			   "{ 'capabilities': [ { 'capability': %s, 'state': true } ] } }",
			   capability);
	if (qdict_haskey(answer, "error")) {
		g_test_skip("this host cannot do that anyway");
		goto out;
	}
	qtest_qmp_assert_success(p.m.qts, "{ 'execute': 'migrate', 'arguments': "
				 "{ 'uri': 'exec:cat >/dev/null' } }");
	status = migration_wait(p.m.qts, &error);
	expected = g_strdup_printf("tessera cannot be migrated with the capability '%s'",
				   capability);
	g_assert_cmpstr(status, ==, "failed");
	g_assert_cmpstr(error, ==, expected);
	assert_works(&p);
out:
	qobject_unref(answer);
	machine_stop(&p.m);
}

static void postcopy_is_refused(void)
{
	migration_with("postcopy-ram");
}

static void a_background_snapshot_is_refused(void)
{
	migration_with("background-snapshot");
}

/* States that no device can be in: the stream's words, big endian, from RING of queue 0 on */
enum {
	TEST_HANG = -32,
	NUM_BUFFERS_SAVED = -36,
	PENDING_VECTORS = -52,		/* of 0 to 63, its upper half, and so on */
	FEATURES = -80,
	RING_LOW = 4,
	RING_SHIFT_SAVED = 48,
	TAIL = 52,
	HEAD = 56,
	ERROR = 60,
	SKEW = 76,
	FLAGS = 104 + 8 * TESSERA_NUM_COUNTERS + 8 + 16 * TESSERA_NUM_LINKS,
};

#define ENABLED	1u
#define RAISED	2u
#define BEGUN	4u
#define HUNG	8u

struct corruption {
	const char *name;
	const char *properties;
	int offset;
	uint32_t value;
	int offset2;			/* 0: none */
	uint32_t value2;
	const char *expected;		/* NULL: taken */
};

static const struct corruption corruptions[] = {
	{ "what_is_not_changed_is_taken", "", FLAGS, ENABLED, .expected = NULL },
	{ "features_that_there_are_not", "", FEATURES, 0x80000000u, .expected = "FEATURES" },
	{ "too_many_buffers", "", NUM_BUFFERS_SAVED, TESSERA_MAX_BUFFERS + 1,
	  .expected = "NUM_BUFFERS is over 2^20" },
	{ "a_test_register_that_there_is_not", "", TEST_HANG, 1, .expected = "a test register" },
	{ "a_vector_that_there_is_not", "", PENDING_VECTORS + 4, 1 << 5,
	  .expected = "a vector is pending that there is not" },
	{ "a_misaligned_ring", "", RING_LOW, 1, .expected = "an address or a size not allowed" },
	{ "a_ring_that_is_too_small", "", RING_SHIFT_SAVED, 3,
	  .expected = "an address or a size not allowed" },
	{ "a_ring_that_is_too_large", "", RING_SHIFT_SAVED, 17,
	  .expected = "an address or a size not allowed" },
	{ "a_ring_whose_size_has_no_number", "", RING_SHIFT_SAVED, 0xffffffff,
	  .expected = "an address or a size not allowed" },
	{ "more_entries_than_the_ring_has", "", TAIL, RING_SIZE + 1,
	  .expected = "more entries pending than its ring has" },
	{ "a_head_ahead_of_the_tail", "", HEAD, 2,
	  .expected = "more entries pending than its ring has" },
	{ "an_error_that_there_is_not", "", ERROR, 0x500, .expected = "an unknown error" },
	{ "an_error_in_other_bits", "", ERROR, 1, .expected = "an unknown error" },
	{ "an_error_of_a_queue_that_is_not_enabled", "", ERROR, TESSERA_QUEUE_ERROR_RING,
	  FLAGS, 0, .expected = "not enabled, and has an error" },
	{ "an_error_after_which_nothing_can_have_run", "", ERROR, TESSERA_QUEUE_ERROR_RING,
	  RING_SHIFT_SAVED, 99, .expected = "has run with an address or a size not allowed" },
	{ "flags_that_there_are_not", "", FLAGS, ENABLED | 0x10, .expected = "unknown flags" },
	{ "a_job_of_a_queue_that_is_not_enabled", "", FLAGS, BEGUN,
	  .expected = "its job has begun, and it is not enabled" },
	{ "a_job_that_there_is_not", "", FLAGS, ENABLED | BEGUN,
	  .expected = "its job has begun, and it has none" },
	{ "a_job_of_a_queue_that_could_not_be_enabled", "", FLAGS, ENABLED | BEGUN,
	  ERROR, TESSERA_QUEUE_ERROR_CONFIG, "its job has begun, and it could not be enabled" },
	{ "a_job_that_hangs_and_has_not_begun", "x-test=on", FLAGS, ENABLED | HUNG,
	  .expected = "its job has begun, and it is not enabled" },
	{ "a_job_that_hangs_without_a_test", "", FLAGS, ENABLED | BEGUN | HUNG, TAIL, 1,
	  "there are no test registers" },
	{ "a_skew_without_a_test", "", SKEW, 1, .expected = "there are no test registers" },
};

static size_t stream_find(const char *stream, size_t size, const struct queue *q)
{
	uint64_t mark[] = { cpu_to_be64(q->ring), cpu_to_be64(q->completion),
			    cpu_to_be64(q->results), 0 };
	const char *found = memmem(stream, size, mark, sizeof(mark));

	g_assert_nonnull(found);
	return found - stream;
}

static void state_is_refused(gconstpointer opaque)
{
	const struct corruption *corruption = opaque;
	char *path = file_create();
	g_autoptr(GError) error = NULL;
	g_autofree char *stream = NULL, *status = NULL;
	struct machine m;
	struct pair p;
	size_t size, start;

	pair_start(&p, corruption->properties);
	machine_save(&p.m, path);
	g_file_get_contents(path, &stream, &size, &error);
	g_assert_no_error(error);
	start = stream_find(stream, size, &p.m.queues[0]);
	machine_stop(&p.m);
	stl_be_p(stream + start + corruption->offset, corruption->value);
	if (corruption->offset2)
		stl_be_p(stream + start + corruption->offset2, corruption->value2);
	g_file_set_contents(path, stream, size, &error);
	g_assert_no_error(error);
	if (corruption->expected) {
		assert_refused(path, corruption->properties, corruption->expected);
	} else {
		status = machine_load(&m, path, MEMFD, corruption->properties);
		g_assert_cmpstr(status, ==, "completed");
		machine_stop(&m);
	}
	file_remove(path);
}

/* Snapshots */

static void job_of_qmp_wait(QTestState *qts, const char *id)
{
	int64_t deadline = g_get_monotonic_time() + PATIENCE;
	bool is_concluded = false;

	while (!is_concluded) {
		g_autoptr(QDict) answer = qtest_qmp(qts, "{ 'execute': 'query-jobs' }");
		QList *jobs = qdict_get_qlist(answer, "return");
		QDict *job = qobject_to(QDict, qlist_peek(jobs));

		g_assert_null(qdict_get_try_str(job, "error"));
		is_concluded = g_str_equal(qdict_get_str(job, "status"), "concluded");
		g_assert_cmpint(g_get_monotonic_time(), <, deadline);
	}
	qtest_qmp_assert_success(qts, "{ 'execute': 'job-dismiss', 'arguments': { 'id': %s } }",
				 id);
}

/* A disk of nobody's, for snapshots */
static void disk_create(QTestState *qts, const char *path)
{
	qtest_qmp_assert_success(qts, "{ 'execute': 'blockdev-add', 'arguments': { "
				 "'driver': 'file', 'node-name': 'file', 'filename': %s } }",
				 path);
	qtest_qmp_assert_success(qts, "{ 'execute': 'blockdev-create', 'arguments': { "
				 "'job-id': 'create', 'options': { 'driver': 'qcow2', "
				 "'file': 'file', 'size': 1048576 } } }");
	job_of_qmp_wait(qts, "create");
	qtest_qmp_assert_success(qts, "{ 'execute': 'blockdev-add', 'arguments': { "
				 "'driver': 'qcow2', 'node-name': 'disk', 'file': 'file' } }");
}

static void snapshot(QTestState *qts, const char *command)
{
	g_autofree char *said = qtest_hmp(qts, "%s moment", command);

	g_assert_cmpstr(said, ==, "");
}

static void a_snapshot_is_gone_back_to(void)
{
	struct job job = job_long();
	char *path = file_create();
	struct pair p;

	pair_start(&p, "");
	disk_create(p.m.qts, path);
	job_start(&p.m, &job);
	snapshot(p.m.qts, "savevm");
	/* On from there, to the end and further */
	assert_success(result_next(&p.m, 0));
	assert_moved(&p, 4096);
	assert_works(&p);
	queue_disable(&p.m, 0);
	/* And once more from there, twice */
	snapshot(p.m.qts, "loadvm");
	snapshot(p.m.qts, "loadvm");
	p.m.queues[0].tail = 1;
	p.m.queues[0].read = 0;
	assert_success(result_next(&p.m, 0));
	assert_moved(&p, 4096);
	assert_works(&p);
	machine_stop(&p.m);
	file_remove(path);
}

static void a_snapshot_is_gone_back_to_from_a_running_job(void)
{
	struct job job = job_endless();
	char *path = file_create();
	struct pair p;

	pair_start(&p, "");
	disk_create(p.m.qts, path);
	snapshot(p.m.qts, "savevm");
	job_start(&p.m, &job);
	snapshot(p.m.qts, "loadvm");
	g_assert_cmphex(get(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS), ==,
			TESSERA_QUEUE_STATUS_ENABLED);
	g_assert_cmpuint(get(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_TAIL), ==, 0);
	p.m.queues[0].tail = 0;
	assert_works(&p);
	machine_stop(&p.m);
	file_remove(path);
}

static const struct test tests[] = {
	TEST(registers_are_carried_over),
	TEST(a_queue_goes_on_where_it_was),
	TEST(threads_and_patience_may_differ),
	TEST(sram_and_what_crossed_to_it_are_carried_over),
	TEST(an_error_of_a_queue_is_carried_over),
	TEST(a_queue_that_could_not_be_enabled_is_carried_over),
	TEST(a_masked_vector_that_is_pending_is_carried_over),
	TEST(no_job_begins_while_the_machine_is_paused),
	TEST(a_job_that_runs_is_held_while_the_machine_is_paused),
	TEST(jobs_that_wait_are_run_elsewhere),
	TEST(a_job_that_runs_is_run_again_elsewhere),
	TEST(a_job_on_copies_is_run_again_elsewhere),
	TEST(a_job_that_never_ends_does_not_keep_a_machine),
	TEST(queues_that_wait_for_a_thread_are_run_elsewhere),
	TEST(a_job_that_hangs_hangs_elsewhere),
	TEST(a_job_that_is_run_again_has_begun_once),
	TEST(a_skew_is_that_of_the_job_it_was_given_to),
	TEST(a_reset_that_was_asked_for_is_done_elsewhere),
	TEST(a_job_in_place_is_run_once),
	TEST(a_job_beside_its_source_is_run_again),
	TEST(more_sram_is_refused),
	TEST(postcopy_is_refused),
	TEST(a_background_snapshot_is_refused),
	TEST(a_snapshot_is_gone_back_to),
	TEST(a_snapshot_is_gone_back_to_from_a_running_job),
};

int main(int argc, char **argv)
{
	tests_init(&argc, &argv);
	tests_add("/tessera/migration", tests, ARRAY_SIZE(tests));
	ADD_CASES("/tessera/migration", in_place_cases, job_is_cut_short);
	ADD_CASES("/tessera/migration", refusals, machine_is_refused);
	ADD_CASES("/tessera/migration", corruptions, state_is_refused);
	return tests_run();
}
