/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device behind an IOMMU: what it does with what is mapped for it, and with what no longer is.
 * The registers, tables and faults of the IOMMU are those of VT-d, in its legacy mode. RAM is
 * mapped where it lies; behind that is as much again that tests map.
 */
#include "qemu/osdep.h"
#include "harness.h"

#define VTD			"-device intel-iommu "
#define VTD_BASE		0xfed90000u
#define VTD_GCMD		(VTD_BASE + 0x18)
#define VTD_RTADDR		(VTD_BASE + 0x20)
#define VTD_FSTS		(VTD_BASE + 0x34)
#define VTD_IVA			(VTD_BASE + 0xf0)
#define VTD_IOTLB		(VTD_BASE + 0xf8)
#define VTD_FAULT		(VTD_BASE + 0x220)
#define VTD_GCMD_ENABLE		(1u << 31)
#define VTD_GCMD_SET_ROOT	(1u << 30)
#define VTD_IOTLB_INVALIDATE	(1ull << 63)
#define VTD_IOTLB_DOMAIN	(2ull << 60)
#define VTD_IOTLB_PAGE		(3ull << 60)
#define VTD_IOTLB_IN(domain)	((uint64_t)(domain) << 32)
#define VTD_FAULT_IS_THERE	(1ull << 63)
#define VTD_READ		1u
#define VTD_WRITE		2u
#define VTD_LARGE		(1u << 7)

#define IOVA			RAM_SIZE		/* the first that is not mapped */
#define IOVA_LARGE		(2ull * RAM_SIZE)	/* a page of 2 MiB */

#define OUR_DOMAIN		1u

/* A pair behind an IOMMU, and the last level of its tables */
struct mapped {
	struct pair pair;
	unsigned domain;
	uint64_t entries;
	uint64_t large;			/* the entry of IOVA_LARGE */
};

static void map(struct mapped *p, uint64_t iova, uint64_t address, uint32_t access)
{
	qtest_writeq(p->pair.m.qts, p->entries + iova / 4096 * 8, address | access);
}

static void invalidate(struct mapped *p, uint64_t iova)
{
	qtest_writeq(p->pair.m.qts, VTD_IVA, iova);
	qtest_writeq(p->pair.m.qts, VTD_IOTLB,
		     VTD_IOTLB_INVALIDATE | VTD_IOTLB_PAGE | VTD_IOTLB_IN(p->domain));
}

static void invalidate_all(struct mapped *p)
{
	qtest_writeq(p->pair.m.qts, VTD_IOTLB,
		     VTD_IOTLB_INVALIDATE | VTD_IOTLB_DOMAIN | VTD_IOTLB_IN(p->domain));
}

static void unmap(struct mapped *p, uint64_t iova)
{
	map(p, iova, 0, 0);
	invalidate(p, iova);
}

/* Of 39 bits, in three levels. Returns where they begin. */
static uint64_t tables_create(struct mapped *p)
{
	struct machine *m = &p->pair.m;
	uint64_t num_pages = 2 * RAM_SIZE / 4096, i;
	uint64_t top = allocate(m, 4096), middle = allocate(m, 4096);
	g_autofree uint64_t *entries = g_new0(uint64_t, num_pages);

	p->entries = allocate(m, num_pages * 8);
	for (i = 0; i < num_pages / 2; i++)
		entries[i] = cpu_to_le64(i * 4096 | VTD_READ | VTD_WRITE);
	qtest_memwrite(m->qts, p->entries, entries, num_pages * 8);
	for (i = 0; i < num_pages / 512; i++)
		qtest_writeq(m->qts, middle + i * 8,
			     (p->entries + i * 4096) | VTD_READ | VTD_WRITE);
	p->large = middle + i * 8;
	qtest_writeq(m->qts, top, middle | VTD_READ | VTD_WRITE);
	return top;
}

static void iommu_enable(struct machine *m, uint64_t context)
{
	uint64_t root = allocate(m, 4096);

	qtest_writeq(m->qts, root, context | 1);
	qtest_writeq(m->qts, VTD_RTADDR, root);
	qtest_writel(m->qts, VTD_GCMD, VTD_GCMD_SET_ROOT);
	qtest_writel(m->qts, VTD_GCMD, VTD_GCMD_ENABLE);
}

/* Domains are numbered from OUR_DOMAIN on, with the slots. */
static void tables_set(struct mapped *p, uint64_t context, unsigned slot)
{
	QTestState *qts = p->pair.m.qts;
	uint64_t entry = context + QPCI_DEVFN(slot, 0) * 16;

	p->domain = OUR_DOMAIN + slot - FIRST_SLOT;
	qtest_writeq(qts, entry, tables_create(p) | 1);
	qtest_writeq(qts, entry + 8, p->domain << 8 | 1);
}

/* False: this QEMU has no such IOMMU, and the test is skipped. */
static bool mapped_start(struct mapped *p, const char *memory)
{
	uint64_t context;

	if (!qtest_has_device("intel-iommu")) {
		g_test_skip("this QEMU has no intel-iommu");
		return false;
	}
	machine_start(&p->pair.m, memory, "");
	context = allocate(&p->pair.m, 4096);
	tables_set(p, context, FIRST_SLOT);
	iommu_enable(&p->pair.m, context);
	pair_create(&p->pair);
	return true;
}

static void assert_no_iommu_fault(struct mapped *p)
{
	g_assert_cmphex(qtest_readl(p->pair.m.qts, VTD_FSTS), ==, 0);
}

/* One fault, at a page */
static void assert_iommu_fault(struct mapped *p, uint64_t iova)
{
	QTestState *qts = p->pair.m.qts;

	g_assert_cmphex(qtest_readq(qts, VTD_FAULT + 8) & VTD_FAULT_IS_THERE, !=, 0);
	g_assert_cmphex(qtest_readq(qts, VTD_FAULT), ==, iova & ~4095ull);
	qtest_writel(qts, VTD_FAULT + 12, VTD_FAULT_IS_THERE >> 32);
	assert_no_iommu_fault(p);
}

static void mapped_stop(struct mapped *p)
{
	assert_no_iommu_fault(p);
	machine_stop(&p->pair.m);
}

/* Two pages at IOVA become a buffer; they are mapped where the test wants them. */
static void buffer_at_iova(struct mapped *p, uint32_t index, uint32_t flags)
{
	const uint64_t pages[] = { IOVA, IOVA + 4096 };

	buffer_set(&p->pair.m, index, table_create(&p->pair.m, pages, 2), 8192,
		   TESSERA_BUFFER_VALID | flags, TESSERA_PAGE_MIN_SHIFT);
}

static void jobs_move_through_an_iommu(void)
{
	struct job job = job_bytes(8192);
	uint8_t data[8192], expected[8192];
	struct mapped p;

	if (!mapped_start(&p, MEMFD VTD))
		return;
	assert_works(&p.pair);
	/* The destination's pages the other way round */
	buffer_at_iova(&p, DESTINATION, TESSERA_BUFFER_WRITABLE);
	map(&p, IOVA, p.pair.destination + 4096, VTD_READ | VTD_WRITE);
	map(&p, IOVA + 4096, p.pair.destination, VTD_READ | VTD_WRITE);
	set(&p.pair.m, TESSERA_REG_INVALIDATE, DESTINATION);
	assert_success(job_run(&p.pair.m, &job));
	memcpy(expected + 4096, p.pair.pattern, 4096);
	memcpy(expected, p.pair.pattern + 4096, 4096);
	qtest_memread(p.pair.m.qts, p.pair.destination, data, sizeof(data));
	g_assert_cmpmem(data, sizeof(data), expected, sizeof(expected));
	mapped_stop(&p);
}

static void jobs_on_copies_move_through_an_iommu(void)
{
	struct mapped p;

	if (!mapped_start(&p, ANONYMOUS VTD))
		return;
	buffer_at_iova(&p, SOURCE, 0);
	map(&p, IOVA, p.pair.source + 4096, VTD_READ);
	map(&p, IOVA + 4096, p.pair.source, VTD_READ);
	qtest_memwrite(p.pair.m.qts, p.pair.source, p.pair.pattern + 4096, 4096);
	qtest_memwrite(p.pair.m.qts, p.pair.source + 4096, p.pair.pattern, 4096);
	assert_works(&p.pair);
	mapped_stop(&p);
}

static void large_pages_of_an_iommu_and_of_a_buffer_are_used(void)
{
	const uint64_t page = IOVA_LARGE;
	struct mapped p;

	if (!mapped_start(&p, MEMFD VTD))
		return;
	qtest_writeq(p.pair.m.qts, p.large, RAM_SIZE / 2 | VTD_READ | VTD_LARGE);
	qtest_memwrite(p.pair.m.qts, RAM_SIZE / 2, p.pair.pattern, 8192);
	buffer_set(&p.pair.m, SOURCE, table_create(&p.pair.m, &page, 1), 2 << 20,
		   TESSERA_BUFFER_VALID, 21);
	assert_works(&p.pair);
	mapped_stop(&p);
}

/* More pages than are asked for at a time, in one large page of the buffer */
static void many_pages_of_an_iommu_are_used(void)
{
	const uint64_t page = IOVA;
	uint64_t i;
	struct mapped p;

	if (!mapped_start(&p, MEMFD VTD))
		return;
	/* Each page of RAM is every other of the buffer: no two are neighbours */
	for (i = 0; i < 1024; i++)
		map(&p, IOVA + i * 4096, i % 2 ? p.pair.source + 4096 : p.pair.source, VTD_READ);
	buffer_set(&p.pair.m, SOURCE, table_create(&p.pair.m, &page, 1), 4 << 20,
		   TESSERA_BUFFER_VALID, 22);
	assert_works(&p.pair);
	mapped_stop(&p);
}

/*
 * What a page can be that must not be used, and whether the IOMMU records it: QEMU's is silent
 * where it has looked at the page before, for the other kind of access.
 */
struct mapping_case {
	const char *name;
	uint32_t operand;
	uint32_t access;
	bool is_recorded;
};

static const struct mapping_case mapping_cases[] = {
	{ "a_page_that_is_not_mapped_faults", SOURCE, 0, true },
	{ "a_page_that_cannot_be_read_faults", SOURCE, VTD_WRITE, true },
	{ "a_writable_page_that_cannot_be_written_faults", DESTINATION, VTD_READ, true },
	{ "a_writable_page_that_cannot_be_read_faults", DESTINATION, VTD_WRITE, false },
};

static void mapping_faults(gconstpointer opaque)
{
	const struct mapping_case *c = opaque;
	struct job job = job_bytes(8192);
	struct mapped p;

	if (!mapped_start(&p, MEMFD VTD))
		return;
	buffer_at_iova(&p, c->operand, c->operand ? 0 : TESSERA_BUFFER_WRITABLE);
	map(&p, IOVA, c->operand ? p.pair.source : p.pair.destination, VTD_READ | VTD_WRITE);
	map(&p, IOVA + 4096, RAM_SIZE / 2, c->access);
	assert_fault(job_run(&p.pair.m, &job), DRM_TESSERA_CAUSE_TRANSLATION, c->operand, 4096);
	if (c->is_recorded)
		assert_iommu_fault(&p, IOVA + 4096);
	assert_untouched(&p.pair);
	map(&p, IOVA + 4096, (c->operand ? p.pair.source : p.pair.destination) + 4096,
	    VTD_READ | VTD_WRITE);
	invalidate(&p, IOVA + 4096);
	assert_works(&p.pair);
	mapped_stop(&p);
}

static void a_page_that_leads_to_mmio_faults(void)
{
	struct job job = job_bytes(8192);
	struct mapped p;

	if (!mapped_start(&p, MEMFD VTD))
		return;
	buffer_at_iova(&p, SOURCE, 0);
	map(&p, IOVA, VTD_BASE, VTD_READ);
	assert_fault(job_run(&p.pair.m, &job), DRM_TESSERA_CAUSE_TRANSLATION, SOURCE, 0);
	assert_untouched(&p.pair);
	mapped_stop(&p);
}

static void a_table_that_is_not_mapped_faults(void)
{
	struct job job = job_bytes(8192);
	struct mapped p;

	if (!mapped_start(&p, MEMFD VTD))
		return;
	buffer_set(&p.pair.m, SOURCE, IOVA, 8192, TESSERA_BUFFER_VALID, TESSERA_PAGE_MIN_SHIFT);
	assert_fault(job_run(&p.pair.m, &job), DRM_TESSERA_CAUSE_TRANSLATION, SOURCE, 0);
	assert_iommu_fault(&p, IOVA);
	assert_untouched(&p.pair);
	mapped_stop(&p);
}

static void a_directory_that_is_not_mapped_faults(void)
{
	struct job job = job_bytes(8192);
	struct mapped p;

	if (!mapped_start(&p, MEMFD VTD))
		return;
	set64(&p.pair.m, TESSERA_REG_BUFFERS, IOVA);
	assert_fault(job_run(&p.pair.m, &job), DRM_TESSERA_CAUSE_BUFFER, 0, 0);
	assert_iommu_fault(&p, IOVA);
	mapped_stop(&p);
}

static void a_descriptor_that_is_not_mapped_faults(void)
{
	struct tessera_hw_ring_entry entry = {
		.descriptor = cpu_to_le64(IOVA),
		.descriptor_size = cpu_to_le32(sizeof(struct tessera_hw_job)),
	};
	struct mapped p;

	if (!mapped_start(&p, MEMFD VTD))
		return;
	entry_push(&p.pair.m, 0, entry);
	doorbell(&p.pair.m, 0);
	assert_fault(result_next(&p.pair.m, 0), DRM_TESSERA_CAUSE_DESCRIPTOR, 0, 0);
	assert_iommu_fault(&p, IOVA);
	assert_works(&p.pair);
	mapped_stop(&p);
}

static void assert_queue_error(struct mapped *p, uint32_t error)
{
	wait_for(&p->pair.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS,
		 TESSERA_QUEUE_STATUS_ERROR | TESSERA_QUEUE_STATUS_ERROR_MASK,
		 TESSERA_QUEUE_STATUS_ERROR | error);
}

static void a_ring_that_is_taken_back_stops_the_queue(void)
{
	struct job job = job_bytes(8192);
	struct mapped p;

	if (!mapped_start(&p, MEMFD VTD))
		return;
	assert_works(&p.pair);
	unmap(&p, p.pair.m.queues[0].ring);
	job_push(&p.pair.m, 0, &job, 0);
	doorbell(&p.pair.m, 0);
	assert_queue_error(&p, TESSERA_QUEUE_ERROR_RING);
	assert_iommu_fault(&p, p.pair.m.queues[0].ring);
	mapped_stop(&p);
}

static void results_that_cannot_be_written_stop_the_queue(void)
{
	struct job job = job_bytes(8192);
	uint64_t results;
	struct mapped p;

	if (!mapped_start(&p, MEMFD VTD))
		return;
	results = p.pair.m.queues[0].results;
	assert_works(&p.pair);
	map(&p, results, results, VTD_READ);
	invalidate(&p, results);
	job_push(&p.pair.m, 0, &job, 0);
	doorbell(&p.pair.m, 0);
	assert_queue_error(&p, TESSERA_QUEUE_ERROR_RESULT);
	assert_iommu_fault(&p, results);
	mapped_stop(&p);
}

static void memory_that_is_taken_back_is_looked_up_anew(void)
{
	struct job job = job_bytes(8192);
	struct mapped p;

	if (!mapped_start(&p, MEMFD VTD))
		return;
	assert_works(&p.pair);
	qtest_memset(p.pair.m.qts, p.pair.destination, 0xee, 8192);
	unmap(&p, p.pair.source + 4096);
	assert_fault(job_run(&p.pair.m, &job), DRM_TESSERA_CAUSE_TRANSLATION, SOURCE, 4096);
	assert_iommu_fault(&p, p.pair.source + 4096);
	assert_untouched(&p.pair);
	/* Elsewhere now; what is not mapped need not be invalidated */
	map(&p, p.pair.source + 4096, RAM_SIZE / 2, VTD_READ);
	qtest_memset(p.pair.m.qts, p.pair.source + 4096, 0x33, 4096);
	qtest_memwrite(p.pair.m.qts, RAM_SIZE / 2, p.pair.pattern + 4096, 4096);
	assert_works(&p.pair);
	mapped_stop(&p);
}

static void a_page_that_moves_faults_once_and_is_used_then(void)
{
	struct job job = job_bytes(8192);
	struct mapped p;

	if (!mapped_start(&p, MEMFD VTD))
		return;
	assert_works(&p.pair);
	map(&p, p.pair.source, RAM_SIZE / 2, VTD_READ);
	invalidate(&p, p.pair.source);
	qtest_memwrite(p.pair.m.qts, RAM_SIZE / 2, p.pair.pattern, 4096);
	assert_fault(job_run(&p.pair.m, &job), DRM_TESSERA_CAUSE_TRANSLATION, SOURCE, 0);
	assert_works(&p.pair);
	mapped_stop(&p);
}

static void memory_that_was_not_taken_back_is_used_on(void)
{
	struct mapped p;

	if (!mapped_start(&p, MEMFD VTD))
		return;
	assert_works(&p.pair);
	invalidate_all(&p);
	/* Its table is not read again, for its pages are where they were */
	buffer_set(&p.pair.m, SOURCE, NOWHERE, 8192, TESSERA_BUFFER_VALID, TESSERA_PAGE_MIN_SHIFT);
	assert_works(&p.pair);
	mapped_stop(&p);
}

static void a_running_job_lets_go_of_memory_that_is_taken_back(void)
{
	struct mapped p;

	if (!mapped_start(&p, MEMFD VTD))
		return;
	endless_start(&p.pair, 0);
	unmap(&p, p.pair.destination);
	qtest_writeb(p.pair.m.qts, p.pair.destination, 0x55);
	assert_fault(result_next(&p.pair.m, 0), DRM_TESSERA_CAUSE_TRANSLATION, 0, 0);
	g_assert_cmphex(qtest_readb(p.pair.m.qts, p.pair.destination), ==, 0x55);
	assert_iommu_fault(&p, p.pair.destination);
	map(&p, p.pair.destination, p.pair.destination, VTD_READ | VTD_WRITE);
	assert_works(&p.pair);
	mapped_stop(&p);
}

static void a_running_job_on_copies_lets_go_of_memory_that_is_taken_back(void)
{
	struct mapped p;

	if (!mapped_start(&p, ANONYMOUS VTD))
		return;
	buffer_at_iova(&p, DESTINATION, TESSERA_BUFFER_WRITABLE);
	map(&p, IOVA, p.pair.destination + 4096, VTD_READ | VTD_WRITE);
	map(&p, IOVA + 4096, p.pair.destination, VTD_READ | VTD_WRITE);
	endless_start(&p.pair, 0);
	unmap(&p, IOVA + 4096);
	assert_fault(result_next(&p.pair.m, 0), DRM_TESSERA_CAUSE_TRANSLATION, 0, 4096);
	assert_iommu_fault(&p, IOVA + 4096);
	assert_untouched(&p.pair);
	mapped_stop(&p);
}

static void a_running_job_goes_on_when_nothing_was_taken_back(void)
{
	struct mapped p;
	unsigned i;

	if (!mapped_start(&p, MEMFD VTD))
		return;
	endless_start(&p.pair, 0);
	for (i = 0; i < 100; i++) {
		invalidate_all(&p);
		invalidate(&p, p.pair.destination);
	}
	g_assert_cmphex(get(&p.pair.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS), ==,
			TESSERA_QUEUE_STATUS_ENABLED | TESSERA_QUEUE_STATUS_BUSY);
	queue_disable(&p.pair.m, 0);
	queue_create(&p.pair.m, 0);
	assert_works(&p.pair);
	mapped_stop(&p);
}

/* Jobs that have much to ask when they are reset, with the BQL held and without */
static void a_reset_sends_away_jobs_that_ask_the_iommu(void)
{
	struct job job = job_bytes(8192);
	const uint64_t page = IOVA;
	struct mapped p;
	unsigned i;

	if (!mapped_start(&p, MEMFD VTD))
		return;
	for (i = 0; i < RAM_SIZE / 4096; i++)
		map(&p, IOVA + i * 4096ull, (i * 7919ull % 8192) * 4096, VTD_READ);
	buffer_set(&p.pair.m, SOURCE, table_create(&p.pair.m, &page, 1), 32 << 20,
		   TESSERA_BUFFER_VALID, 25);
	for (i = 0; i < 30; i++) {
		job_push(&p.pair.m, 0, &job, 0);
		doorbell(&p.pair.m, 0);
		if (i % 3)
			invalidate_all(&p);
		if (i % 2)
			reset_function(&p.pair.m);
		else
			reset_by_register(&p.pair.m);
		directory_set(&p.pair.m);
		queue_create(&p.pair.m, 0);
	}
	p.pair.source = buffer_create(&p.pair.m, SOURCE, 8192, 0);
	qtest_memwrite(p.pair.m.qts, p.pair.source, p.pair.pattern, 8192);
	assert_works(&p.pair);
	mapped_stop(&p);
}

static void an_iommu_that_tells_of_no_changes_cuts_the_device_off(void)
{
	struct job job = job_bytes(8192);
	struct mapped p;

	if (!mapped_start(&p, MEMFD "-device intel-iommu,snoop-control=on "))
		return;
	job_push(&p.pair.m, 0, &job, 0);
	doorbell(&p.pair.m, 0);
	assert_queue_error(&p, TESSERA_QUEUE_ERROR_RING);
	mapped_stop(&p);
}

static void translation_that_is_turned_off_leaves_ram_where_it_lies(void)
{
	struct mapped p;

	if (!mapped_start(&p, MEMFD VTD))
		return;
	assert_works(&p.pair);
	qtest_writel(p.pair.m.qts, VTD_GCMD, 0);
	assert_works(&p.pair);
	qtest_writel(p.pair.m.qts, VTD_GCMD, VTD_GCMD_ENABLE);
	assert_works(&p.pair);
	mapped_stop(&p);
}

/* Several devices, each with tables of its own */

static bool all_start(struct mapped *all)
{
	struct pair pairs[NUM_DEVICES];
	uint64_t context;
	unsigned i;

	if (!qtest_has_device("intel-iommu")) {
		g_test_skip("this QEMU has no intel-iommu");
		return false;
	}
	devices_start(pairs, MEMFD VTD);
	context = allocate(&pairs[0].m, 4096);
	for (i = 0; i < NUM_DEVICES; i++) {
		all[i].pair = pairs[i];
		tables_set(&all[i], context, FIRST_SLOT + i);
	}
	iommu_enable(&all[0].pair.m, context);
	return true;
}

static void all_stop(struct mapped *all)
{
	struct pair pairs[NUM_DEVICES];
	unsigned i;

	assert_no_iommu_fault(&all[0]);
	for (i = 0; i < NUM_DEVICES; i++)
		pairs[i] = all[i].pair;
	devices_stop(pairs);
}

/* The same for all, which leads each to its own destination */
static void four_devices_have_addresses_of_their_own(void)
{
	struct mapped all[NUM_DEVICES];
	struct job job = job_bytes(8192);
	unsigned i;

	if (!all_start(all))
		return;
	for (i = 0; i < NUM_DEVICES; i++) {
		struct pair *p = &all[i].pair;

		buffer_at_iova(&all[i], DESTINATION, TESSERA_BUFFER_WRITABLE);
		map(&all[i], IOVA, p->destination, VTD_READ | VTD_WRITE);
		map(&all[i], IOVA + 4096, p->destination + 4096, VTD_READ | VTD_WRITE);
		p->pattern[0] = i;
		qtest_writeb(p->m.qts, p->source, i);
		job_push(&p->m, 0, &job, 0);
		doorbell(&p->m, 0);
	}
	for (i = 0; i < NUM_DEVICES; i++) {
		assert_success(result_next(&all[i].pair.m, 0));
		assert_moved(&all[i].pair, 8192);
	}
	all_stop(all);
}

static void what_is_mapped_for_another_device_is_not_reached(void)
{
	struct mapped all[NUM_DEVICES];
	struct job job = job_bytes(8192);
	unsigned i;

	if (!all_start(all))
		return;
	for (i = 0; i < NUM_DEVICES; i++) {
		buffer_at_iova(&all[i], SOURCE, 0);
		if (i == 1)
			continue;
		map(&all[i], IOVA, all[i].pair.source, VTD_READ);
		map(&all[i], IOVA + 4096, all[i].pair.source + 4096, VTD_READ);
		assert_works(&all[i].pair);
	}
	assert_fault(job_run(&all[1].pair.m, &job), DRM_TESSERA_CAUSE_TRANSLATION, SOURCE, 0);
	assert_untouched(&all[1].pair);
	g_assert_cmphex(qtest_readl(all[1].pair.m.qts, VTD_FAULT + 8) & 0xffff, ==,
			QPCI_DEVFN(FIRST_SLOT + 1, 0));
	assert_iommu_fault(&all[1], IOVA);
	all_stop(all);
}

static void memory_is_taken_back_from_one_device_of_four(void)
{
	struct mapped all[NUM_DEVICES];
	unsigned i;

	if (!all_start(all))
		return;
	for (i = 0; i < NUM_DEVICES; i++)
		endless_start(&all[i].pair, 0);
	unmap(&all[2], all[2].pair.destination);
	qtest_writeb(all[2].pair.m.qts, all[2].pair.destination, 0x55);
	assert_fault(result_next(&all[2].pair.m, 0), DRM_TESSERA_CAUSE_TRANSLATION, 0, 0);
	g_assert_cmphex(qtest_readb(all[2].pair.m.qts, all[2].pair.destination), ==, 0x55);
	assert_iommu_fault(&all[2], all[2].pair.destination);
	for (i = 0; i < NUM_DEVICES; i++) {
		g_assert_cmphex(get(&all[i].pair.m, TESSERA_REG_STATUS), ==,
				i == 2 ? 0 : TESSERA_STATUS_BUSY);
		queue_disable(&all[i].pair.m, 0);
		queue_create(&all[i].pair.m, 0);
	}
	map(&all[2], all[2].pair.destination, all[2].pair.destination, VTD_READ | VTD_WRITE);
	for (i = 0; i < NUM_DEVICES; i++)
		assert_works(&all[i].pair);
	all_stop(all);
}

/* Resets, which leave the IOMMU as it is, or take it along */

struct reset_case {
	const char *name;
	void (*reset)(struct machine *m);
	bool is_of_iommu;
};

static const struct reset_case reset_cases[] = {
	{ "a_device_is_reset_after_a_fault_and_in_a_job", reset_by_register },
	{ "a_function_is_reset_after_a_fault_and_in_a_job", reset_function },
	{ "a_machine_is_reset_after_a_fault_and_in_a_job", reset_system, true },
};

static void mapped_is_reset(gconstpointer opaque)
{
	const struct reset_case *c = opaque;
	struct job job = job_bytes(8192);
	struct mapped p;
	unsigned i;

	if (!mapped_start(&p, MEMFD VTD))
		return;
	buffer_at_iova(&p, SOURCE, 0);
	map(&p, IOVA, p.pair.source, VTD_READ);
	for (i = 0; i < 2; i++) {
		if (i)
			endless_start(&p.pair, 0);
		else
			assert_fault(job_run(&p.pair.m, &job), DRM_TESSERA_CAUSE_TRANSLATION,
				     SOURCE, 4096);
		c->reset(&p.pair.m);
		g_assert_cmphex(get(&p.pair.m, TESSERA_REG_STATUS), ==, 0);
		qtest_memset(p.pair.m.qts, p.pair.destination, 0xee, 8192);
		directory_set(&p.pair.m);
		queue_create(&p.pair.m, 0);
		assert_untouched(&p.pair);
		if (c->is_of_iommu) {
			p.pair.source = buffer_create(&p.pair.m, SOURCE, 8192, 0);
			qtest_memwrite(p.pair.m.qts, p.pair.source, p.pair.pattern, 8192);
		} else if (!i) {
			assert_iommu_fault(&p, IOVA + 4096);
			map(&p, IOVA + 4096, p.pair.source + 4096, VTD_READ);
		}
		assert_works(&p.pair);
	}
	mapped_stop(&p);
}

static const struct test tests[] = {
	TEST(jobs_move_through_an_iommu),
	TEST(jobs_on_copies_move_through_an_iommu),
	TEST(large_pages_of_an_iommu_and_of_a_buffer_are_used),
	TEST(many_pages_of_an_iommu_are_used),
	TEST(a_page_that_leads_to_mmio_faults),
	TEST(a_table_that_is_not_mapped_faults),
	TEST(a_directory_that_is_not_mapped_faults),
	TEST(a_descriptor_that_is_not_mapped_faults),
	TEST(a_ring_that_is_taken_back_stops_the_queue),
	TEST(results_that_cannot_be_written_stop_the_queue),
	TEST(memory_that_is_taken_back_is_looked_up_anew),
	TEST(a_page_that_moves_faults_once_and_is_used_then),
	TEST(memory_that_was_not_taken_back_is_used_on),
	TEST(a_running_job_lets_go_of_memory_that_is_taken_back),
	TEST(a_running_job_on_copies_lets_go_of_memory_that_is_taken_back),
	TEST(a_running_job_goes_on_when_nothing_was_taken_back),
	TEST(a_reset_sends_away_jobs_that_ask_the_iommu),
	TEST(an_iommu_that_tells_of_no_changes_cuts_the_device_off),
	TEST(translation_that_is_turned_off_leaves_ram_where_it_lies),
	TEST(four_devices_have_addresses_of_their_own),
	TEST(what_is_mapped_for_another_device_is_not_reached),
	TEST(memory_is_taken_back_from_one_device_of_four),
};

int main(int argc, char **argv)
{
	tests_init(&argc, &argv);
	tests_add("/iommu", tests, ARRAY_SIZE(tests));
	ADD_CASES("/iommu", mapping_cases, mapping_faults);
	ADD_CASES("/iommu", reset_cases, mapped_is_reset);
	return tests_run();
}
