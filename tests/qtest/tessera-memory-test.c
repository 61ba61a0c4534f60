/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kinds of memory and the machines that the device can find itself in: guest RAM of every
 * backend, RAM that is plugged in and out while it works, a microvm, and other devices of its kind.
 */
#include "qemu/osdep.h"
#include "qobject/qlist.h"
#include "harness.h"

#define NUM_PAGES	48u
#define DIMM_SIZE	(64u << 20)
#define SLOTS		"-m 64M,slots=2,maxmem=256M "

#define BACKEND(arguments)	"-object memory-backend-" arguments ",id=ram,size=64M "		\
				"-machine memory-backend=ram "

static const struct {
	const char *name;
	const char *memory;
} backends[] = {
	{ "anonymous", ANONYMOUS },
	{ "ram_shared", BACKEND("ram,share=on") },
	{ "ram_private", BACKEND("ram,share=off") },
	{ "memfd_shared", BACKEND("memfd,share=on") },
	{ "memfd_private", BACKEND("memfd,share=off") },
	{ "file_shared", BACKEND("file,mem-path=/tmp,share=on") },
	{ "file_private", BACKEND("file,mem-path=/tmp,share=off") },
};

/* All pages of one buffer to another, both scattered, twice: the second time they are known. */
static void scattered_pages_are_moved(struct machine *m)
{
	const size_t size = NUM_PAGES * 4096;
	g_autofree uint8_t *source = g_malloc(size), *data = g_malloc(size);
	struct job job = job_bytes(size);
	uint64_t from, to;
	unsigned i;

	to = scattered_create(m, DESTINATION, NUM_PAGES, TESSERA_BUFFER_WRITABLE);
	from = scattered_create(m, SOURCE, NUM_PAGES, 0);
	for (i = 0; i < 2; i++) {
		fill_pattern(source, size);
		source[0] = i;
		scattered_copy(m, from, NUM_PAGES, source, true);
		assert_success(job_run(m, &job));
		scattered_copy(m, to, NUM_PAGES, data, false);
		g_assert_cmpmem(data, size, source, size);
	}
}

static void backend_works(gconstpointer opaque)
{
	struct machine m;

	machine_start(&m, opaque, "");
	directory_create(&m);
	queue_create(&m, 0);
	scattered_pages_are_moved(&m);
	machine_stop(&m);
}

/* Plugging in */

/* QEMU keeps the file of memory that has gone for memory of the same name: no two have one. */
static unsigned num_plugged;

/* Returns where the guest has it. */
static uint64_t dimm_plug(struct machine *m)
{
	g_autofree char *id = g_strdup_printf("plugged%u", ++num_plugged);
	QDict *response, *dimm;
	uint64_t address;

	qtest_qmp_assert_success(m->qts, "{ 'execute': 'object-add', 'arguments': "
				 "{ 'qom-type': 'memory-backend-memfd', 'id': %s,"
				 "  'size': %u, 'share': true } }", id, DIMM_SIZE);
	qtest_qmp_device_add(m->qts, "pc-dimm", "dimm", "{ 'memdev': %s }", id);
	response = qtest_qmp(m->qts, "{ 'execute': 'query-memory-devices' }");
	dimm = qobject_to(QDict, qlist_peek(qdict_get_qlist(response, "return")));
	address = qdict_get_int(qdict_get_qdict(dimm, "data"), "addr");
	qobject_unref(response);
	return address;
}

/* While a job runs, which goes on; then a job from RAM that was there to RAM that is new */
static void memory_is_plugged_in_while_a_job_runs(void)
{
	struct job job = job_bytes(8192);
	uint64_t address, pages[2];
	uint8_t data[8192];
	struct pair p;

	machine_start(&p.m, MEMFD SLOTS, "");
	pair_create(&p);
	queue_create(&p.m, 1);
	endless_start(&p, 1);
	address = dimm_plug(&p.m);
	g_assert_cmphex(address, >=, RAM_SIZE);
	/* From back to front, and across the two kinds of RAM */
	pages[0] = address + DIMM_SIZE - 4096;
	pages[1] = p.destination + 4096;
	buffer_set(&p.m, 2, table_create(&p.m, pages, 2), 8192,
		   TESSERA_BUFFER_VALID | TESSERA_BUFFER_WRITABLE, TESSERA_PAGE_MIN_SHIFT);
	job.operands[DESTINATION].buffer = 2;
	assert_success(job_run(&p.m, &job));
	qtest_memread(p.m.qts, pages[0], data, 4096);
	qtest_memread(p.m.qts, pages[1], data + 4096, 4096);
	g_assert_cmpmem(data, 8192, p.pattern, 8192);
	g_assert_cmphex(get(&p.m, TESSERA_QUEUE(1) + TESSERA_QUEUE_STATUS), ==,
			TESSERA_QUEUE_STATUS_ENABLED | TESSERA_QUEUE_STATUS_BUSY);
	queue_disable(&p.m, 1);
	machine_stop(&p.m);
}

/* Before it is there it is nowhere, and a job that was told so finds it afterwards. */
static void memory_that_is_plugged_in_is_found(void)
{
	struct job job = job_bytes(4096);
	uint64_t address = 1ull << 32;
	struct pair p;

	machine_start(&p.m, MEMFD SLOTS, "");
	pair_create(&p);
	buffer_set(&p.m, SOURCE, table_create(&p.m, &address, 1), 4096, TESSERA_BUFFER_VALID,
		   TESSERA_PAGE_MIN_SHIFT);
	assert_fault(job_run(&p.m, &job), DRM_TESSERA_CAUSE_TRANSLATION, SOURCE, 0);
	g_assert_cmphex(dimm_plug(&p.m), ==, address);
	qtest_memwrite(p.m.qts, address, p.pattern, 4096);
	assert_success(job_run(&p.m, &job));
	assert_moved(&p, 4096);
	machine_stop(&p.m);
}

/* Unplugging */

/* Of q35's slots for memory: ports by which a guest learns of what is asked for, and agrees */
#define SLOT			0xa00
#define SLOT_STATE		0xa14
#define SLOT_IS_REMOVING	(1u << 2)
#define SLOT_EJECT		(1u << 3)

static void dimm_unplug(struct machine *m)
{
	g_autofree char *id = g_strdup_printf("plugged%u", num_plugged);

	qtest_qmp_device_del_send(m->qts, "dimm");
	qtest_outl(m->qts, SLOT, 0);
	g_assert_cmphex(qtest_inl(m->qts, SLOT_STATE) & SLOT_IS_REMOVING, !=, 0);
	qtest_outl(m->qts, SLOT_STATE, SLOT_EJECT);
	qtest_qmp_eventwait(m->qts, "DEVICE_DELETED");
	qtest_qmp_assert_success(m->qts, "{ 'execute': 'object-del', 'arguments': "
				 "{ 'id': %s } }", id);
}

/* How often files of guest RAM are mapped in QEMU */
static unsigned num_mappings(struct machine *m)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/maps", (int)qtest_pid(m->qts));
	g_autofree char *text = NULL;
	const char *place;
	unsigned count = 0;

	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	for (place = text; (place = strstr(place, "memory-backend-memfd")); place++)
		count++;
	return count;
}

static uint64_t plugged_start(struct pair *p)
{
	machine_start(&p->m, MEMFD SLOTS, "");
	pair_create(p);
	return dimm_plug(&p->m);
}

/* Two pages of a DIMM, which do not follow each other: they are mapped side by side. */
static void plugged_buffer_set(struct pair *p, uint32_t index, uint64_t address)
{
	const uint64_t pages[2] = { address + 8192, address };

	buffer_set(&p->m, index, table_create(&p->m, pages, 2), 8192,
		   TESSERA_BUFFER_VALID | TESSERA_BUFFER_WRITABLE, TESSERA_PAGE_MIN_SHIFT);
}

static void memory_that_is_unplugged_is_not_found(void)
{
	struct job job = job_bytes(8192);
	uint64_t address;
	struct pair p;
	unsigned i;

	address = plugged_start(&p);
	plugged_buffer_set(&p, 2, address);
	for (i = DESTINATION; i <= SOURCE; i++) {
		job = job_bytes(8192);
		job.operands[i].buffer = 2;
		assert_success(job_run(&p.m, &job));
		qtest_memset(p.m.qts, p.destination, 0xee, 8192);
		dimm_unplug(&p.m);
		assert_fault(job_run(&p.m, &job), DRM_TESSERA_CAUSE_TRANSLATION, i, 0);
		assert_untouched(&p);
		g_assert_cmphex(dimm_plug(&p.m), ==, address);
	}
	qtest_memwrite(p.m.qts, address + 8192, p.pattern, 4096);
	qtest_memwrite(p.m.qts, address, p.pattern + 4096, 4096);
	assert_success(job_run(&p.m, &job));
	assert_moved(&p, 8192);
	machine_stop(&p.m);
}

/*
 * A job that runs keeps what it began with, which is no memory of the guest any more. What is
 * plugged in in its place is another memory, that the job does not store to.
 */
static void a_running_job_keeps_memory_that_is_unplugged(void)
{
	const uint64_t progress = TESSERA_QUEUE(1) + TESSERA_QUEUE_PROGRESS;
	int64_t deadline = g_get_monotonic_time() + PATIENCE;
	struct job job = job_endless();
	uint64_t address, before;
	unsigned mappings;
	struct pair p;

	machine_start(&p.m, MEMFD SLOTS, "");
	pair_create(&p);
	queue_create(&p.m, 1);
	mappings = num_mappings(&p.m);
	address = dimm_plug(&p.m);
	plugged_buffer_set(&p, 2, address);
	job.operands[DESTINATION].buffer = 2;
	job_push(&p.m, 1, &job, 0);
	doorbell(&p.m, 1);
	while (qtest_readb(p.m.qts, address + 8192) != p.pattern[0])
		g_assert_cmpint(g_get_monotonic_time(), <, deadline);
	dimm_unplug(&p.m);
	g_assert_cmpuint(get(&p.m, TESSERA_REG_INVALIDATE), ==, 2);
	g_assert_cmphex(dimm_plug(&p.m), ==, address);
	qtest_writeb(p.m.qts, address + 8192, 0x33);
	before = get64(&p.m, progress);
	while (get64(&p.m, progress) < before + 1000)
		g_assert_cmpint(g_get_monotonic_time(), <, deadline);
	g_assert_cmphex(get(&p.m, TESSERA_QUEUE(1) + TESSERA_QUEUE_STATUS), ==,
			TESSERA_QUEUE_STATUS_ENABLED | TESSERA_QUEUE_STATUS_BUSY);
	g_assert_cmphex(qtest_readb(p.m.qts, address + 8192), ==, 0x33);
	dimm_unplug(&p.m);
	queue_disable(&p.m, 1);
	g_assert_cmpuint(get(&p.m, TESSERA_REG_INVALIDATE), ==, 0);
	/* The host has it back */
	while (num_mappings(&p.m) > mappings)
		g_assert_cmpint(g_get_monotonic_time(), <, deadline);
	assert_works(&p);
	machine_stop(&p.m);
}

/* Each job finds it or does not, and none is in the way of those that follow. */
static void memory_is_unplugged_while_jobs_run(void)
{
	struct job job = job_bytes(8192);
	struct tessera_hw_result result;
	uint64_t address, mark;
	unsigned round, i;
	struct pair p;

	address = plugged_start(&p);
	plugged_buffer_set(&p, 2, address);
	job.operands[DESTINATION].buffer = 2;
	mark = p.m.free;
	for (round = 0; round < 20; round++) {
		p.m.free = mark;
		for (i = 0; i < RING_SIZE; i++)
			job_push(&p.m, 0, &job, 0);
		doorbell(&p.m, 0);
		dimm_unplug(&p.m);
		for (i = 0; i < RING_SIZE; i++) {
			result = result_next(&p.m, 0);
			if (result.cause != DRM_TESSERA_CAUSE_NONE)
				assert_fault(result, DRM_TESSERA_CAUSE_TRANSLATION, DESTINATION, 0);
		}
		g_assert_cmphex(dimm_plug(&p.m), ==, address);
	}
	assert_works(&p);
	machine_stop(&p.m);
}

/* What a queue works with, and what it says when that is gone */
struct queue_case {
	const char *name;
	size_t member;
	uint32_t error;
};

static const struct queue_case queue_cases[] = {
	{ "a_ring_that_is_unplugged_stops_its_queue", offsetof(struct queue, ring),
	  TESSERA_QUEUE_ERROR_RING },
	{ "results_that_are_unplugged_stop_their_queue", offsetof(struct queue, results),
	  TESSERA_QUEUE_ERROR_RESULT },
	{ "a_completion_that_is_unplugged_stops_its_queue", offsetof(struct queue, completion),
	  TESSERA_QUEUE_ERROR_RESULT },
};

static void queue_is_unplugged(gconstpointer opaque)
{
	const struct queue_case *c = opaque;
	struct job job = job_bytes(8192);
	uint64_t address;
	struct pair p;

	address = plugged_start(&p);
	queue_disable(&p.m, 0);
	*(uint64_t *)((char *)&p.m.queues[0] + c->member) = address;
	queue_create(&p.m, 0);
	assert_works(&p);
	dimm_unplug(&p.m);
	job_push(&p.m, 0, &job, 0);
	doorbell(&p.m, 0);
	wait_for(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS, ~0u,
		 TESSERA_QUEUE_STATUS_ENABLED | TESSERA_QUEUE_STATUS_ERROR | c->error);
	*(uint64_t *)((char *)&p.m.queues[0] + c->member) = allocate(&p.m, 4096);
	queue_disable(&p.m, 0);
	queue_create(&p.m, 0);
	assert_works(&p);
	machine_stop(&p.m);
}

/* Machines */

static void a_microvm_has_jobs_and_interrupts(void)
{
	struct job job = job_bytes(8192);
	struct pair p;

	microvm_start(&p.m, MEMFD, "");
	pair_create(&p);
	msix_enable(&p.m, 5);
	assert_works(&p);
	job_push(&p.m, 0, &job, TESSERA_RING_INTERRUPT);
	doorbell(&p.m, 0);
	assert_success(result_next(&p.m, 0));
	message_wait(&p.m, TESSERA_VECTOR_QUEUE(0));
	set(&p.m, TESSERA_REG_INVALIDATE, TESSERA_INVALIDATE_ALL);
	scattered_pages_are_moved(&p.m);
	machine_stop(&p.m);
}

struct reset_case {
	const char *name;
	void (*reset)(struct machine *m);
};

static const struct reset_case reset_cases[] = {
	{ "a_device_of_a_microvm_is_reset", reset_by_register },
	{ "a_function_of_a_microvm_is_reset", reset_function },
	{ "a_microvm_is_reset", reset_system },
};

static void microvm_is_reset(gconstpointer opaque)
{
	const struct reset_case *c = opaque;
	struct pair p;

	microvm_start(&p.m, MEMFD, "");
	pair_create(&p);
	endless_start(&p, 0);
	c->reset(&p.m);
	g_assert_cmphex(get(&p.m, TESSERA_REG_STATUS), ==, 0);
	g_assert_cmphex(get64(&p.m, TESSERA_REG_BUFFERS), ==, 0);
	directory_set(&p.m);
	queue_create(&p.m, 0);
	assert_works(&p);
	machine_stop(&p.m);
}

/* Several devices */

static void four_devices_work_at_once(void)
{
	struct pair pairs[NUM_DEVICES];
	struct job job = job_bytes(8192);
	unsigned i;

	devices_start(pairs, MEMFD);
	for (i = 0; i < NUM_DEVICES; i++) {
		job_push(&pairs[i].m, 0, &job, 0);
		doorbell(&pairs[i].m, 0);
	}
	for (i = 0; i < NUM_DEVICES; i++) {
		assert_success(result_next(&pairs[i].m, 0));
		assert_moved(&pairs[i], 8192);
	}
	devices_stop(pairs);
}

static void a_reset_of_one_device_leaves_the_others_at_work(void)
{
	struct pair pairs[NUM_DEVICES];
	unsigned i;

	devices_start(pairs, MEMFD);
	for (i = 0; i < NUM_DEVICES; i++) {
		queue_create(&pairs[i].m, 1);
		endless_start(&pairs[i], 1);
	}
	reset_by_register(&pairs[2].m);
	for (i = 0; i < NUM_DEVICES; i++) {
		g_assert_cmphex(get(&pairs[i].m, TESSERA_REG_STATUS), ==,
				i == 2 ? 0 : TESSERA_STATUS_BUSY);
		if (i == 2)
			continue;
		queue_disable(&pairs[i].m, 1);
		assert_works(&pairs[i]);
	}
	devices_stop(pairs);
}

static void the_registers_of_another_device_are_not_reached(void)
{
	struct pair pairs[NUM_DEVICES];
	struct job job = job_bytes(64);
	uint64_t page;

	devices_start(pairs, MEMFD);
	page = pairs[1].m.registers.addr;
	buffer_set(&pairs[0].m, DESTINATION, table_create(&pairs[0].m, &page, 1), 4096,
		   TESSERA_BUFFER_VALID | TESSERA_BUFFER_WRITABLE, TESSERA_PAGE_MIN_SHIFT);
	assert_fault(job_run(&pairs[0].m, &job), DRM_TESSERA_CAUSE_TRANSLATION, DESTINATION, 0);
	assert_works(&pairs[1]);
	devices_stop(pairs);
}

/* Which is RAM for all but the device that it belongs to */
static void the_sram_of_another_device_is_memory(void)
{
	struct pair pairs[NUM_DEVICES];
	struct job job = job_bytes(4096);
	uint8_t data[4096];
	uint64_t page;

	devices_start(pairs, MEMFD);
	page = pairs[1].m.sram.addr + 0x2000;
	buffer_set(&pairs[0].m, DESTINATION, table_create(&pairs[0].m, &page, 1), 4096,
		   TESSERA_BUFFER_VALID | TESSERA_BUFFER_WRITABLE, TESSERA_PAGE_MIN_SHIFT);
	assert_success(job_run(&pairs[0].m, &job));
	qpci_memread(pairs[1].m.pci, pairs[1].m.sram, 0x2000, data, sizeof(data));
	g_assert_cmpmem(data, sizeof(data), pairs[0].pattern, sizeof(data));
	devices_stop(pairs);
}

/* SRAM */

static void sram_buffer_set(struct machine *m, uint32_t index, uint64_t offset, uint64_t size)
{
	buffer_set(m, index, offset, size,
		   TESSERA_BUFFER_VALID | TESSERA_BUFFER_WRITABLE | TESSERA_BUFFER_SRAM, 0);
}

/* Across the border of two engines' parts, by the last queue */
static void sram_of_sixty_four_engines_is_one_memory(void)
{
	const uint64_t border = 63 * 4096;
	struct job job = job_bytes(4096);
	uint8_t data[4096];
	struct pair p;

	pair_start(&p, "queues=64,sram-size=4K");
	queue_create(&p.m, 63);
	sram_buffer_set(&p.m, 2, border - 2048, 4096);
	job.operands[DESTINATION].buffer = 2;
	job_push(&p.m, 63, &job, 0);
	doorbell(&p.m, 63);
	assert_success(result_next(&p.m, 63));
	qpci_memread(p.m.pci, p.m.sram, border - 2048, data, sizeof(data));
	g_assert_cmpmem(data, sizeof(data), p.pattern, sizeof(data));
	machine_stop(&p.m);
}

static void a_device_without_sram_has_none_for_jobs(void)
{
	struct job job = job_bytes(1);
	struct pair p;

	pair_start(&p, "sram-size=0");
	sram_buffer_set(&p.m, SOURCE, 0, 1);
	assert_fault(job_run(&p.m, &job), DRM_TESSERA_CAUSE_BUFFER, SOURCE, 0);
	sram_buffer_set(&p.m, SOURCE, 0, 0);
	job.head.extents[0] = 0;
	assert_success(job_run(&p.m, &job));
	machine_stop(&p.m);
}

static void sram_keeps_what_is_in_it_over_a_reset(void)
{
	struct job job = job_bytes(4096);
	struct pair p;

	pair_start(&p, "");
	qpci_memwrite(p.m.pci, p.m.sram, (4 << 20) - 4096, p.pattern, 4096);
	reset_by_register(&p.m);
	directory_set(&p.m);
	queue_create(&p.m, 0);
	sram_buffer_set(&p.m, SOURCE, (4 << 20) - 4096, 4096);
	assert_success(job_run(&p.m, &job));
	assert_moved(&p, 4096);
	machine_stop(&p.m);
}

static const struct test tests[] = {
	TEST(memory_is_plugged_in_while_a_job_runs),
	TEST(memory_that_is_plugged_in_is_found),
	TEST(memory_that_is_unplugged_is_not_found),
	TEST(a_running_job_keeps_memory_that_is_unplugged),
	TEST(memory_is_unplugged_while_jobs_run),
	TEST(a_microvm_has_jobs_and_interrupts),
	TEST(four_devices_work_at_once),
	TEST(a_reset_of_one_device_leaves_the_others_at_work),
	TEST(the_registers_of_another_device_are_not_reached),
	TEST(the_sram_of_another_device_is_memory),
	TEST(sram_of_sixty_four_engines_is_one_memory),
	TEST(a_device_without_sram_has_none_for_jobs),
	TEST(sram_keeps_what_is_in_it_over_a_reset),
};

int main(int argc, char **argv)
{
	unsigned i;

	tests_init(&argc, &argv);
	for (i = 0; i < ARRAY_SIZE(backends); i++) {
		g_autofree char *path = g_strdup_printf("/memory/pages_of_%s_memory_are_moved",
							backends[i].name);

		g_test_add_data_func(path, backends[i].memory, backend_works);
	}
	tests_add("/memory", tests, ARRAY_SIZE(tests));
	ADD_CASES("/memory", queue_cases, queue_is_unplugged);
	ADD_CASES("/memory", reset_cases, microvm_is_reset);
	return tests_run();
}
