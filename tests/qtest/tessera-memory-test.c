/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kinds of memory and the machines that the device can find itself in: guest RAM of every
 * backend, RAM that is plugged in while it works, and other devices of its kind.
 */
#include "qemu/osdep.h"
#include "qobject/qlist.h"
#include "harness.h"

#define NUM_PAGES	48u
#define DIMM_SIZE	(64u << 20)
#define NUM_DEVICES	4u
#define FIRST_SLOT	4u

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

/* Returns where the guest has it. */
static uint64_t dimm_plug(struct machine *m)
{
	QDict *response, *dimm;
	uint64_t address;

	qtest_qmp_assert_success(m->qts, "{ 'execute': 'object-add', 'arguments': "
				 "{ 'qom-type': 'memory-backend-memfd', 'id': 'plugged',"
				 "  'size': %u, 'share': true } }", DIMM_SIZE);
	qtest_qmp_device_add(m->qts, "pc-dimm", "dimm", "{ 'memdev': 'plugged' }");
	response = qtest_qmp(m->qts, "{ 'execute': 'query-memory-devices' }");
	dimm = qobject_to(QDict, qlist_peek(qdict_get_qlist(response, "return")));
	address = qdict_get_int(qdict_get_qdict(dimm, "data"), "addr");
	qobject_unref(response);
	return address;
}

/* While a job runs, which goes on; then a job from RAM that was there to RAM that is new */
static void memory_is_plugged_in_while_a_job_runs(void)
{
	struct job endless = job_endless(), job = job_bytes(8192);
	uint64_t address, pages[2];
	uint8_t data[8192];
	struct pair p;

	machine_start(&p.m, MEMFD "-m 64M,slots=2,maxmem=256M ", "");
	pair_create(&p);
	queue_create(&p.m, 1);
	job_push(&p.m, 1, &endless, 0);
	doorbell(&p.m, 1);
	wait_for(&p.m, TESSERA_QUEUE(1) + TESSERA_QUEUE_STATUS, TESSERA_QUEUE_STATUS_BUSY,
		 TESSERA_QUEUE_STATUS_BUSY);
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

	machine_start(&p.m, MEMFD "-m 64M,slots=2,maxmem=256M ", "");
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

/* Several devices */

/* A machine for each, of which the first starts and stops the one that they share */
static void devices_start(struct pair *pairs)
{
	unsigned i;

	machine_start(&pairs[0].m, MEMFD "-device tessera,addr=5.0 -device tessera,addr=6.0 "
		      "-device tessera,addr=7.0 ", "");
	for (i = 0; i < NUM_DEVICES; i++) {
		if (i) {
			pairs[i].m = pairs[0].m;
			memset(pairs[i].m.queues, 0, sizeof(pairs[i].m.queues));
			pairs[i].m.pci = qpci_device_find(pairs[0].m.bus,
							  QPCI_DEVFN(FIRST_SLOT + i, 0));
			qpci_device_enable(pairs[i].m.pci);
			pairs[i].m.registers = qpci_iomap(pairs[i].m.pci, TESSERA_BAR_REGISTERS,
							  NULL);
			pairs[i].m.sram = qpci_iomap(pairs[i].m.pci, TESSERA_BAR_SRAM, NULL);
			pairs[i].m.free = pairs[i - 1].m.free;
		}
		pair_create(&pairs[i]);
	}
	/* What they allocate from here on is apart */
	for (i = 0; i < NUM_DEVICES; i++)
		pairs[i].m.free = (16 + 8 * i) << 20;
}

static void devices_stop(struct pair *pairs)
{
	unsigned i;

	for (i = 1; i < NUM_DEVICES; i++)
		g_free(pairs[i].m.pci);
	machine_stop(&pairs[0].m);
}

static void endless_start(struct pair *p, unsigned queue)
{
	struct job job = job_endless();

	queue_create(&p->m, queue);
	job_push(&p->m, queue, &job, 0);
	doorbell(&p->m, queue);
	wait_for(&p->m, TESSERA_QUEUE(queue) + TESSERA_QUEUE_STATUS, TESSERA_QUEUE_STATUS_BUSY,
		 TESSERA_QUEUE_STATUS_BUSY);
}

static void four_devices_work_at_once(void)
{
	struct pair pairs[NUM_DEVICES];
	struct job job = job_bytes(8192);
	unsigned i;

	devices_start(pairs);
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

	devices_start(pairs);
	for (i = 0; i < NUM_DEVICES; i++)
		endless_start(&pairs[i], 1);
	set(&pairs[2].m, TESSERA_REG_CONTROL, TESSERA_CONTROL_RESET);
	wait_for(&pairs[2].m, TESSERA_REG_CONTROL, ~0u, 0);
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

	devices_start(pairs);
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

	devices_start(pairs);
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
	set(&p.m, TESSERA_REG_CONTROL, TESSERA_CONTROL_RESET);
	wait_for(&p.m, TESSERA_REG_CONTROL, ~0u, 0);
	set64(&p.m, TESSERA_REG_BUFFERS, p.m.directory);
	set(&p.m, TESSERA_REG_NUM_BUFFERS, NUM_BUFFERS);
	queue_create(&p.m, 0);
	sram_buffer_set(&p.m, SOURCE, (4 << 20) - 4096, 4096);
	assert_success(job_run(&p.m, &job));
	assert_moved(&p, 4096);
	machine_stop(&p.m);
}

static const struct test tests[] = {
	TEST(memory_is_plugged_in_while_a_job_runs),
	TEST(memory_that_is_plugged_in_is_found),
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
	return tests_run();
}
