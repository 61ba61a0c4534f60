/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guests that mean harm, or that do what no driver would: what the device works with changes while
 * it works, leads to itself, or is as much as can be asked for. The device goes on, keeps to the
 * memory it was given, and QEMU answers its monitor.
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "harness.h"

#define NUM_CHANGES	300

/* Guest RAM that is mapped here as well */
struct shared {
	struct pair pair;
	uint8_t *ram;
	bool is_stopping;
	uint64_t address;		/* of what changes */
	uint64_t values[2];
};

static void shared_start(struct shared *s, const char *properties)
{
	int fd = memfd_create("tessera-hostile", MFD_CLOEXEC);
	g_autofree char *memory = NULL;

	memset(s, 0, sizeof(*s));
	g_assert_cmpint(ftruncate(fd, RAM_SIZE), ==, 0);
	s->ram = mmap(NULL, RAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	g_assert_true(s->ram != MAP_FAILED);
	memory = g_strdup_printf("-object memory-backend-file,id=ram,size=64M,share=on,"
				 "mem-path=/proc/%d/fd/%d -machine memory-backend=ram ",
				 getpid(), fd);
	machine_start(&s->pair.m, memory, properties);
	close(fd);
	pair_create(&s->pair);
}

static void shared_stop(struct shared *s)
{
	machine_stop(&s->pair.m);
	munmap(s->ram, RAM_SIZE);
}

/* A processor of the guest that does nothing but write one word, now this value, now that */
static gpointer change(gpointer opaque)
{
	struct shared *s = opaque;
	uint64_t *word = (uint64_t *)(s->ram + s->address);
	unsigned i;

	for (i = 0; !qatomic_read(&s->is_stopping); i++)
		qatomic_set(word, s->values[i % 2]);
	qatomic_set(word, s->values[0]);
	return NULL;
}

/*
 * Jobs of 64 bytes while a word changes from one value to another, which is bad. Each ends well, or
 * with the fault that the bad value leads to; nothing but their destination is stored to.
 */
static void jobs_run_while_it_changes(struct shared *s, const struct job *job, uint64_t address,
				      uint64_t bad, uint32_t cause)
{
	struct machine *m = &s->pair.m;
	struct tessera_hw_ring_entry entry = { .flags = 0 };
	struct tessera_hw_result result;
	GThread *thread;
	unsigned i;

	entry.descriptor = job_write(m, job, &entry.descriptor_size);
	s->address = address;
	s->values[0] = *(uint64_t *)(s->ram + s->address);
	s->values[1] = bad;
	thread = g_thread_new("change", change, s);
	for (i = 0; i < NUM_CHANGES; i++) {
		set(m, TESSERA_REG_INVALIDATE, TESSERA_INVALIDATE_ALL);
		entry_push(m, 0, entry);
		doorbell(m, 0);
		result = result_next(m, 0);
		g_assert_true(result.cause == DRM_TESSERA_CAUSE_NONE || result.cause == cause);
	}
	qatomic_set(&s->is_stopping, true);
	g_thread_join(thread);
	set(m, TESSERA_REG_INVALIDATE, TESSERA_INVALIDATE_ALL);
	assert_works(&s->pair);
	qtest_memset(m->qts, s->pair.destination, 0xee, 8192);
}

/* The extent, which would reach beyond the buffers */
static void a_descriptor_changes_while_its_job_runs(void)
{
	struct job job = job_bytes(64);
	struct shared s;

	shared_start(&s, "");
	/* The descriptor is the next page to be given away */
	jobs_run_while_it_changes(&s, &job,
				  s.pair.m.free + offsetof(struct tessera_hw_job, extents), 8193,
				  DRM_TESSERA_CAUSE_BOUNDS);
	shared_stop(&s);
}

static void an_entry_of_the_directory_changes_while_jobs_run(void)
{
	struct job job = job_bytes(64);
	struct shared s;

	shared_start(&s, "");
	jobs_run_while_it_changes(&s, &job, s.pair.m.directory + SOURCE * 32 +
				  offsetof(struct tessera_hw_buffer, size), 63,
				  DRM_TESSERA_CAUSE_BOUNDS);
	shared_stop(&s);
}

static void a_table_changes_while_jobs_run(void)
{
	struct job job = job_bytes(64);
	uint64_t table;
	struct shared s;

	shared_start(&s, "");
	table = qtest_readq(s.pair.m.qts, s.pair.m.directory + SOURCE * 32);
	jobs_run_while_it_changes(&s, &job, table, s.pair.m.registers.addr,
				  DRM_TESSERA_CAUSE_TRANSLATION);
	shared_stop(&s);
}

/* Indices are checked as they are read: what they point at is never outside */
static void an_index_changes_while_jobs_run(void)
{
	struct job job = job_gather(16, 0);
	uint64_t indices;
	struct shared s;

	shared_start(&s, "");
	indices = buffer_create(&s.pair.m, 2, 4096, 0);
	jobs_run_while_it_changes(&s, &job, indices, 0x7fffffff80000000ull,
				  DRM_TESSERA_CAUSE_BOUNDS);
	shared_stop(&s);
}

/* Where a job's destination is what the device works with. Each is read before the job stores. */
struct self_case {
	const char *name;
	uint64_t (*address)(struct pair *p);
};

static uint64_t its_table(struct pair *p)
{
	return qtest_readq(p->m.qts, p->m.directory);
}

static uint64_t its_directory(struct pair *p)
{
	return p->m.directory;
}

static uint64_t its_ring(struct pair *p)
{
	return p->m.queues[0].ring;
}

/* The page that job_write() is about to give away */
static uint64_t its_descriptor(struct pair *p)
{
	return p->m.free;
}

static const struct self_case self_cases[] = {
	{ "a_job_that_stores_to_its_table_goes_on", its_table },
	{ "a_job_that_stores_to_the_directory_goes_on", its_directory },
	{ "a_job_that_stores_to_its_ring_goes_on", its_ring },
	{ "a_job_that_stores_to_its_descriptor_goes_on", its_descriptor },
};

static void job_stores_to_itself(gconstpointer opaque)
{
	const struct self_case *c = opaque;
	struct job job = job_bytes(64);
	uint64_t page, table;
	uint8_t data[64];
	struct pair p;

	pair_start(&p, "");
	table = its_table(&p);
	page = c->address(&p);
	qtest_writeq(p.m.qts, table, page);
	assert_success(job_run(&p.m, &job));
	qtest_memread(p.m.qts, page, data, sizeof(data));
	g_assert_cmpmem(data, 64, p.pattern, 64);
	machine_stop(&p.m);
}

/* A table whose first entry is its own page: what is stored there is no table of the running job */
static void a_table_may_lead_to_itself(void)
{
	struct job job = job_bytes(4096 + 64);
	uint64_t table;
	uint8_t data[64];
	struct pair p;

	pair_start(&p, "");
	table = its_table(&p);
	qtest_writeq(p.m.qts, table, table);
	assert_success(job_run(&p.m, &job));
	qtest_memread(p.m.qts, p.destination + 4096, data, sizeof(data));
	g_assert_cmpmem(data, 64, p.pattern + 4096, 64);
	/* Now it is the pattern, which is no address of a page */
	set(&p.m, TESSERA_REG_INVALIDATE, DESTINATION);
	assert_fault(job_run(&p.m, &job), DRM_TESSERA_CAUSE_TRANSLATION, 0, 0);
	machine_stop(&p.m);
}

/* Messages of interrupts are stores, which a guest can send anywhere: here to the device itself */
static void interrupts_that_are_sent_to_the_device_do_nothing(void)
{
	struct job job = job_bytes(64);
	uint8_t capability;
	struct pair p;
	unsigned i;

	pair_start(&p, "x-test=on");
	p.m.msix = qpci_iomap(p.m.pci, TESSERA_BAR_MSIX, NULL);
	capability = qpci_find_capability(p.m.pci, PCI_CAP_ID_MSIX, 0);
	for (i = 0; i < 5; i++) {
		uint64_t entry = i * PCI_MSIX_ENTRY_SIZE;

		qpci_io_writel(p.m.pci, p.m.msix, entry + PCI_MSIX_ENTRY_LOWER_ADDR,
			       p.m.registers.addr + TESSERA_REG_CONTROL);
		qpci_io_writel(p.m.pci, p.m.msix, entry + PCI_MSIX_ENTRY_UPPER_ADDR, 0);
		qpci_io_writel(p.m.pci, p.m.msix, entry + PCI_MSIX_ENTRY_DATA, 1);
		qpci_io_writel(p.m.pci, p.m.msix, entry + PCI_MSIX_ENTRY_VECTOR_CTRL, 0);
	}
	qpci_config_writew(p.m.pci, capability + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE);
	for (i = 0; i < 20; i++) {
		job_push(&p.m, 0, &job, TESSERA_RING_INTERRUPT);
		doorbell(&p.m, 0);
		assert_success(result_next(&p.m, 0));
		set(&p.m, TESSERA_REG_TEST_INTERRUPT, i % 5);
	}
	qpci_config_writew(p.m.pci, capability + PCI_MSIX_FLAGS, 0);
	assert_works(&p);
	machine_stop(&p.m);
}

static void memory_of_a_device_that_is_off_is_left_alone(void)
{
	struct job job = job_endless();
	int64_t deadline = g_get_monotonic_time() + PATIENCE;
	struct shared s;

	shared_start(&s, "");
	job.operands[DESTINATION].address.strides[0] = 0;
	job_push(&s.pair.m, 0, &job, 0);
	doorbell(&s.pair.m, 0);
	while (qatomic_read(s.ram + s.pair.destination) != s.pair.pattern[0])
		g_assert_cmpint(g_get_monotonic_time(), <, deadline);
	qpci_config_writew(s.pair.m.pci, PCI_COMMAND, PCI_COMMAND_MEMORY);
	s.ram[s.pair.destination] = 0x5c;
	wait_for(&s.pair.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS, ~0u,
		 TESSERA_QUEUE_STATUS_ENABLED | TESSERA_QUEUE_STATUS_ERROR |
		 TESSERA_QUEUE_ERROR_RING);
	g_assert_cmphex(s.ram[s.pair.destination], ==, 0x5c);
	qpci_config_writew(s.pair.m.pci, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	queue_disable(&s.pair.m, 0);
	queue_create(&s.pair.m, 0);
	assert_works(&s.pair);
	shared_stop(&s);
}

/* Doorbells */

/* The only worker is busy elsewhere: what has not begun can be taken back, and put in again */
static void entries_that_have_not_begun_are_taken_back(void)
{
	struct job job = job_bytes(1), endless = job_endless();
	struct pair p;
	unsigned i;

	pair_start(&p, "threads=1");
	assert_works(&p);
	qtest_memset(p.m.qts, p.destination, 0xee, 8192);
	queue_create(&p.m, 1);
	endless.operands[DESTINATION].address.offset = 8191;
	job_push(&p.m, 1, &endless, 0);
	doorbell(&p.m, 1);
	wait_for(&p.m, TESSERA_QUEUE(1) + TESSERA_QUEUE_STATUS, TESSERA_QUEUE_STATUS_BUSY,
		 TESSERA_QUEUE_STATUS_BUSY);
	for (i = 0; i < 3; i++) {
		job.operands[DESTINATION].address.offset = i;
		job.operands[SOURCE].address.offset = i;
		job_push(&p.m, 0, &job, 0);
	}
	doorbell(&p.m, 0);
	set(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_TAIL, 2);
	set(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_TAIL, 4);
	set(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_TAIL, 1);
	set(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_TAIL, 3);
	p.m.queues[0].tail = 3;
	queue_disable(&p.m, 1);
	qtest_writeb(p.m.qts, p.destination + 8191, 0xee);
	assert_success(result_next(&p.m, 0));
	assert_success(result_next(&p.m, 0));
	assert_moved(&p, 2);
	machine_stop(&p.m);
}

/* What the host spends */

static void monitor_answers(struct machine *m)
{
	QDict *response = qtest_qmp(m->qts, "{ 'execute': 'query-status' }");

	g_assert_true(qdict_haskey(response, "return"));
	qobject_unref(response);
}

/* As many jobs that never end as there can be, with a thread each, some on copies */
static void the_monitor_answers_while(const char *memory)
{
	struct job job = job_endless();
	struct pair p;
	unsigned i;

	machine_start(&p.m, memory, "queues=64,threads=64,sram-size=0");
	pair_create(&p);
	scattered_create(&p.m, DESTINATION, 2, TESSERA_BUFFER_WRITABLE);
	for (i = 1; i < TESSERA_MAX_QUEUES; i++)
		queue_create(&p.m, i);
	for (i = 0; i < TESSERA_MAX_QUEUES; i++) {
		job.operands[DESTINATION].address.offset = i;
		job_push(&p.m, i, &job, TESSERA_RING_INTERRUPT);
		doorbell(&p.m, i);
	}
	for (i = 0; i < TESSERA_MAX_QUEUES; i++)
		wait_for(&p.m, TESSERA_QUEUE(i) + TESSERA_QUEUE_STATUS, ~0u,
			 TESSERA_QUEUE_STATUS_ENABLED | TESSERA_QUEUE_STATUS_BUSY);
	for (i = 0; i < 100; i++) {
		monitor_answers(&p.m);
		set(&p.m, TESSERA_REG_INVALIDATE, TESSERA_INVALIDATE_ALL);
	}
	reset_by_register(&p.m);
	machine_stop(&p.m);
}

static void the_monitor_answers_while_sixty_four_jobs_run(void)
{
	the_monitor_answers_while(MEMFD);
}

static void the_monitor_answers_while_sixty_four_jobs_run_on_copies(void)
{
	the_monitor_answers_while(ANONYMOUS);
}

/* Of QEMU: memory of its own, which is neither guest RAM nor files, and address space */
#define PRIVATE	"RssAnon:"
#define MAPPED	"VmSize:"

static uint64_t used_kib(QTestState *qts, const char *what)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/status", (int)qtest_pid(qts));
	g_autofree char *text = NULL;
	const char *line;

	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	line = strstr(text, what);
	g_assert_nonnull(line);
	return g_ascii_strtoull(line + strlen(what), NULL, 10);
}

/* A ring of jobs, each with a buffer of its own as the source */
static void jobs_of_buffers_run(struct pair *p, struct job *job, uint32_t first)
{
	unsigned i;

	for (i = 0; i < RING_SIZE; i++) {
		job->operands[SOURCE].buffer = first + i;
		job_push(&p->m, 0, job, 0);
	}
	doorbell(&p->m, 0);
	for (i = 0; i < RING_SIZE; i++)
		assert_success(result_next(&p->m, 0));
}

/* A directory of as many buffers as there can be, all the same: few of them are kept at a time */
static void a_million_buffers_cost_no_more_than_some(void)
{
	const uint64_t size = TESSERA_MAX_BUFFERS * sizeof(struct tessera_hw_buffer);
	struct job job = job_bytes(64);
	struct tessera_hw_buffer *entries;
	uint64_t used = 0, mark;
	struct shared s;
	uint32_t i;

	shared_start(&s, "");
	entries = (void *)(s.ram + RAM_SIZE - size);
	memcpy(entries, s.ram + s.pair.m.directory, 2 * sizeof(*entries));
	for (i = 2; i < TESSERA_MAX_BUFFERS; i++)
		entries[i] = entries[SOURCE];
	set64(&s.pair.m, TESSERA_REG_BUFFERS, RAM_SIZE - size);
	set(&s.pair.m, TESSERA_REG_NUM_BUFFERS, ~0u);
	mark = s.pair.m.free;
	for (i = 0; i < 60000; i += RING_SIZE) {
		s.pair.m.free = mark;
		jobs_of_buffers_run(&s.pair, &job, i ? i : SOURCE);
		/* More than are kept have been seen by then */
		if (i == 30000 / RING_SIZE * RING_SIZE)
			used = used_kib(s.pair.m.qts, PRIVATE);
	}
	g_assert_cmpuint(used, !=, 0);
	g_assert_cmpuint(used_kib(s.pair.m.qts, PRIVATE), <, used + 4096);
	job.operands[SOURCE].buffer = TESSERA_MAX_BUFFERS - 1;
	assert_success(job_run(&s.pair.m, &job));
	job.operands[SOURCE].buffer = TESSERA_MAX_BUFFERS;
	assert_fault(job_run(&s.pair.m, &job), DRM_TESSERA_CAUSE_BUFFER, 1, 0);
	shared_stop(&s);
}

/* Buffers of 2 MiB that are mapped and dropped again and again: nothing of them stays */
static void what_is_dropped_is_given_back(void)
{
	struct job job = job_bytes(64);
	uint64_t mark, used = 0, mapped = 0;
	struct shared s;
	unsigned i;

	shared_start(&s, "");
	scattered_create(&s.pair.m, SOURCE, 512, 0);
	mark = s.pair.m.free;
	for (i = 0; i < 600; i++) {
		s.pair.m.free = mark;
		assert_success(job_run(&s.pair.m, &job));
		set(&s.pair.m, TESSERA_REG_INVALIDATE, TESSERA_INVALIDATE_ALL);
		if (i != 300)
			continue;
		used = used_kib(s.pair.m.qts, PRIVATE);
		mapped = used_kib(s.pair.m.qts, MAPPED);
	}
	g_assert_cmpuint(used_kib(s.pair.m.qts, PRIVATE), <, used + 1024);
	g_assert_cmpuint(used_kib(s.pair.m.qts, MAPPED), <, mapped + 128 * 1024);
	shared_stop(&s);
}

static const struct test tests[] = {
	TEST(a_descriptor_changes_while_its_job_runs),
	TEST(an_entry_of_the_directory_changes_while_jobs_run),
	TEST(a_table_changes_while_jobs_run),
	TEST(an_index_changes_while_jobs_run),
	TEST(a_table_may_lead_to_itself),
	TEST(interrupts_that_are_sent_to_the_device_do_nothing),
	TEST(memory_of_a_device_that_is_off_is_left_alone),
	TEST(entries_that_have_not_begun_are_taken_back),
};

static const struct test limits[] = {
	TEST(the_monitor_answers_while_sixty_four_jobs_run),
	TEST(the_monitor_answers_while_sixty_four_jobs_run_on_copies),
	TEST(a_million_buffers_cost_no_more_than_some),
	TEST(what_is_dropped_is_given_back),
};

int main(int argc, char **argv)
{
	unsigned i;

	tests_init(&argc, &argv);
	tests_add("/hostile", tests, ARRAY_SIZE(tests));
	tests_add("/limit", limits, ARRAY_SIZE(limits));
	for (i = 0; i < ARRAY_SIZE(self_cases); i++) {
		g_autofree char *path = g_strdup_printf("/hostile/%s", self_cases[i].name);

		g_test_add_data_func(path, &self_cases[i], job_stores_to_itself);
	}
	return tests_run();
}
