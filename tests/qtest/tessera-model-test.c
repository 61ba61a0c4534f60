/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the device counts of jobs, and what its model makes of that: memories, the network and
 * modelled time. That loops are counted right is tested elsewhere (tests/unit/test_engine_count.c).
 */
#include "qemu/osdep.h"
#include "harness.h"

#define SYSTEM		DRM_TESSERA_MEMORY_SYSTEM
#define SRAM		DRM_TESSERA_MEMORY_SRAM

static void counting_start(struct machine *m, const char *properties, unsigned num_queues)
{
	unsigned i;

	machine_start(m, MEMFD, properties);
	directory_create(m);
	for (i = 0; i < num_queues; i++)
		queue_create(m, i);
}

static void push(struct machine *m, unsigned queue, const struct job *job, uint64_t counters)
{
	struct tessera_hw_ring_entry entry = { .counters = cpu_to_le64(counters) };
	uint32_t size;

	entry.descriptor = cpu_to_le64(job_write(m, job, &size));
	entry.descriptor_size = cpu_to_le32(size);
	entry_push(m, queue, entry);
}

static struct drm_tessera_job_counters counters_at(struct machine *m, uint64_t address)
{
	struct drm_tessera_job_counters counters;
	uint64_t *words = (uint64_t *)&counters;
	unsigned i;

	qtest_memread(m->qts, address, &counters, sizeof(counters));
	for (i = 0; i < TESSERA_NUM_COUNTERS; i++)
		words[i] = le64_to_cpu(words[i]);
	return counters;
}

/* Runs a job that succeeds on a queue; its counters. */
static struct drm_tessera_job_counters counted(struct machine *m, unsigned queue,
					       const struct job *job)
{
	uint64_t address = allocate(m, sizeof(struct drm_tessera_job_counters));

	push(m, queue, job, address);
	doorbell(m, queue);
	assert_success(result_next(m, queue));
	return counters_at(m, address);
}

static void sram_create(struct machine *m, uint32_t index, uint64_t offset, uint64_t size)
{
	buffer_set(m, index, offset, size,
		   TESSERA_BUFFER_VALID | TESSERA_BUFFER_WRITABLE | TESSERA_BUFFER_SRAM, 0);
}

static uint64_t total(struct machine *m, unsigned queue, size_t offset)
{
	return get64(m, TESSERA_QUEUE(queue) + TESSERA_QUEUE_TOTAL(offset / 8));
}

#define TOTAL(m, queue, member) \
	total(m, queue, offsetof(struct drm_tessera_job_counters, member))

static void system_pair(struct machine *m, uint64_t size)
{
	buffer_create(m, DESTINATION, size, TESSERA_BUFFER_WRITABLE);
	buffer_create(m, SOURCE, size, 0);
}

/* Memories */

static void a_copy_counts_its_bytes_and_bursts(void)
{
	struct machine m;
	struct job job = job_bytes(6400);
	struct drm_tessera_job_counters counters;

	counting_start(&m, "", 1);
	system_pair(&m, 8192);
	counters = counted(&m, 0, &job);
	g_assert_cmpuint(counters.points, ==, 6400);
	g_assert_cmpuint(counters.windows_failed, ==, 0);
	g_assert_cmpuint(counters.memory[SYSTEM].bytes_read, ==, 6400);
	g_assert_cmpuint(counters.memory[SYSTEM].bytes_written, ==, 6400);
	g_assert_cmpuint(counters.memory[SYSTEM].bursts_read, ==, 100);
	g_assert_cmpuint(counters.memory[SYSTEM].bursts_written, ==, 100);
	/* 6400 bytes at 90 bytes a cycle */
	g_assert_cmpuint(counters.memory[SYSTEM].cycles_read, ==, 72);
	g_assert_cmpuint(counters.memory[SYSTEM].cycles_written, ==, 72);
	g_assert_cmpuint(counters.memory[SRAM].bytes_read, ==, 0);
	g_assert_cmpuint(counters.noc_bytes, ==, 0);
	/* one memory, and so one after the other */
	g_assert_cmpuint(counters.cycles, ==, 144);
	g_assert_cmpuint(counters.energy_pj, ==, 12800 * 160);
	g_assert_cmpuint(counters.uncounted, ==, 0);
	g_assert_cmpuint(counters.reserved, ==, 0);
	machine_stop(&m);
}

static void what_windows_leave_out_is_counted(void)
{
	struct machine m;
	struct job job = job_bytes(6400);
	struct drm_tessera_job_counters counters;

	counting_start(&m, "", 1);
	system_pair(&m, 8192);
	job.head.num_windows = 1;
	job.windows[0].value.offset = -640;
	job.windows[0].value.strides[0] = 1;
	job.windows[0].limit = 3200;
	job.operands[SOURCE].window_mask = 1;
	counters = counted(&m, 0, &job);
	g_assert_cmpuint(counters.points, ==, 6400);
	g_assert_cmpuint(counters.windows_failed, ==, 3200);
	g_assert_cmpuint(counters.memory[SYSTEM].bytes_read, ==, 3200);
	g_assert_cmpuint(counters.memory[SYSTEM].bytes_written, ==, 6400);
	g_assert_cmpuint(counters.memory[SYSTEM].bursts_read, ==, 50);
	machine_stop(&m);
}

static void indices_are_counted_and_what_they_lead_to_by_element(void)
{
	struct machine m;
	struct job job = job_gather(4, 16);
	struct drm_tessera_job_counters counters;

	counting_start(&m, "", 1);
	system_pair(&m, 8192);
	buffer_create(&m, 2, 4096, 0);
	counters = counted(&m, 0, &job);
	g_assert_cmpuint(counters.points, ==, 256);
	/* an index and a byte for each point; all indices in one burst */
	g_assert_cmpuint(counters.memory[SYSTEM].bytes_read, ==, 256 * (4 + 1));
	g_assert_cmpuint(counters.memory[SYSTEM].bursts_read, ==, 256 + 1);
	g_assert_cmpuint(counters.memory[SYSTEM].bursts_written, ==, 4);
	machine_stop(&m);
}

static void the_model_follows_its_properties(void)
{
	struct machine m;
	struct job job = job_bytes(6400);
	struct drm_tessera_job_counters counters;

	counting_start(&m, "clock=2000000,efficiency=50,dram-bandwidth=64000,dram-latency=10,"
		       "dram-burst=128,dram-energy=3,sram-bandwidth=1000,sram-burst=32,"
		       "sram-energy=2,sram-latency=1", 1);
	g_assert_cmpuint(get(&m, TESSERA_REG_CLOCK), ==, 2000000);
	system_pair(&m, 8192);
	sram_create(&m, DESTINATION, 0, 8192);
	counters = counted(&m, 0, &job);
	g_assert_cmpuint(counters.memory[SYSTEM].bursts_read, ==, 50);
	/* 200 ns at half of the bandwidth, 10 ns until then, each 2 cycles */
	g_assert_cmpuint(counters.memory[SYSTEM].cycles_read, ==, 420);
	g_assert_cmpuint(counters.memory[SRAM].bursts_written, ==, 200);
	g_assert_cmpuint(counters.memory[SRAM].cycles_written, ==, 2 * (12800 + 1));
	/* two memories, at once */
	g_assert_cmpuint(counters.cycles, ==, 2 * (12800 + 1));
	g_assert_cmpuint(counters.energy_pj, ==, 6400 * (3 + 2));
	machine_stop(&m);
}

/* A tensor of (1,64,56,56) f32 */
#define TENSOR_BYTES	(64 * 56 * 56 * 4)

enum layout { NCHW, NHWC };

/* Reads the tensor in a layout, channels innermost or outermost, and writes it as it goes. */
static struct job job_tensor(enum layout layout, bool channels_last)
{
	const uint64_t strides[2][3] = {		/* of channels, rows, columns */
		[NCHW] = { 56 * 56 * 4, 56 * 4, 4 },
		[NHWC] = { 4, 56 * 64 * 4, 64 * 4 },
	};
	const uint64_t extents[3] = { 64, 56, 56 };
	struct job job = job_bytes(0);
	uint64_t step = 4;
	int d, dim;

	job.head.rank = 3;
	job.operands[DESTINATION].dtype = DRM_TESSERA_DTYPE_F32;
	job.operands[SOURCE].dtype = DRM_TESSERA_DTYPE_F32;
	for (d = 2; d >= 0; d--) {
		dim = channels_last ? (d + 1) % 3 : d;
		job.head.extents[d] = extents[dim];
		job.operands[SOURCE].address.strides[d] = strides[layout][dim];
		job.operands[DESTINATION].address.strides[d] = step;
		step *= extents[dim];
	}
	return job;
}

enum { IN_SRAM = 2, OUT = 3 };

/* Cycles to read it from DRAM into the SRAM, in which it lies the same, and to read that. */
static uint64_t tensor_cycles(struct machine *m, enum layout layout, bool is_matched)
{
	struct job load = job_tensor(layout, (layout == NHWC) == is_matched);
	struct job use = load;
	struct drm_tessera_job_counters loaded, used;
	unsigned d;

	load.operands[DESTINATION].buffer = IN_SRAM;
	for (d = 0; d < 3; d++)
		load.operands[DESTINATION].address.strides[d] =
			load.operands[SOURCE].address.strides[d];
	use.operands[SOURCE].buffer = IN_SRAM;
	use.operands[DESTINATION].buffer = OUT;
	loaded = counted(m, 0, &load);
	used = counted(m, 0, &use);
	g_assert_cmpuint(loaded.memory[SYSTEM].bytes_read, ==, TENSOR_BYTES);
	g_assert_cmpuint(used.memory[SRAM].bytes_read, ==, TENSOR_BYTES);
	g_assert_cmpuint(loaded.memory[SYSTEM].bursts_read, ==,
			 is_matched ? TENSOR_BYTES / 64 : TENSOR_BYTES / 4);
	g_assert_cmpuint(used.memory[SRAM].bursts_read, ==,
			 is_matched ? TENSOR_BYTES / 16 : TENSOR_BYTES / 4);
	return loaded.memory[SYSTEM].cycles_read + used.memory[SRAM].cycles_read;
}

/* In tenths of a microsecond, rounded */
static uint64_t tenths(struct machine *m, uint64_t cycles)
{
	return (cycles * 100000 / get(m, TESSERA_REG_CLOCK) + 5) / 10;
}

static void orders_that_do_not_match_the_layout_cost_what_they_should(void)
{
	static const enum layout layouts[] = { NCHW, NHWC };
	struct machine m;
	unsigned i;

	counting_start(&m, "", 1);
	buffer_create(&m, SOURCE, TENSOR_BYTES, 0);
	sram_create(&m, IN_SRAM, 0, TENSOR_BYTES);
	buffer_create(&m, OUT, TENSOR_BYTES, TESSERA_BUFFER_WRITABLE);
	for (i = 0; i < ARRAY_SIZE(layouts); i++) {
		uint64_t matched = tensor_cycles(&m, layouts[i], true);
		uint64_t mismatched = tensor_cycles(&m, layouts[i], false);

		g_assert_cmpuint(tenths(&m, matched), ==, 161);
		g_assert_cmpuint(tenths(&m, mismatched), ==, 1541);
		g_assert_cmpuint((mismatched * 10 + matched / 2) / matched, ==, 96);
	}
	machine_stop(&m);
}

/* What is not counted */

static void a_job_that_fails_counts_nothing(void)
{
	struct machine m;
	struct job good = job_bytes(64), bad = job_bytes(8193);
	uint64_t address;

	counting_start(&m, "", 1);
	system_pair(&m, 8192);
	counted(&m, 0, &good);
	address = allocate(&m, sizeof(struct drm_tessera_job_counters));
	qtest_memset(m.qts, address, 0xee, sizeof(struct drm_tessera_job_counters));
	push(&m, 0, &bad, address);
	doorbell(&m, 0);
	assert_fault(result_next(&m, 0), DRM_TESSERA_CAUSE_BOUNDS, DESTINATION, 8192);
	g_assert_cmphex(counters_at(&m, address).points, ==, 0xeeeeeeeeeeeeeeeeull);
	g_assert_cmpuint(TOTAL(&m, 0, points), ==, 64);
	machine_stop(&m);
}

static void a_job_with_too_involved_windows_says_so(void)
{
	struct machine m;
	struct job job = job_bytes(0), next = job_bytes(64);
	struct drm_tessera_job_counters counters;

	counting_start(&m, "", 1);
	system_pair(&m, 160000);
	job.head.rank = 3;
	job.head.extents[0] = 40000;
	job.head.extents[1] = 2;
	job.head.extents[2] = 2;
	job.operands[SOURCE].address.strides[1] = 40000;
	job.operands[SOURCE].address.strides[2] = 80000;
	job.operands[DESTINATION].address = job.operands[SOURCE].address;
	job.head.num_windows = 1;
	job.windows[0].value.strides[0] = 1;
	job.windows[0].value.strides[1] = 40000;
	job.windows[0].value.strides[2] = 1;
	job.windows[0].limit = 20000;
	job.operands[SOURCE].window_mask = 1;
	counters = counted(&m, 0, &job);
	g_assert_cmpuint(counters.uncounted, ==, 1);
	g_assert_cmpuint(counters.points, ==, 160000);
	g_assert_cmpuint(counters.windows_failed, ==, 0);
	g_assert_cmpuint(counters.memory[SYSTEM].bytes_written, ==, 0);
	g_assert_cmpuint(counters.memory[SYSTEM].cycles_written, ==, 0);
	g_assert_cmpuint(counters.cycles, ==, 0);
	counters = counted(&m, 0, &next);
	g_assert_cmpuint(counters.uncounted, ==, 0);
	g_assert_cmpuint(TOTAL(&m, 0, uncounted), ==, 1);
	g_assert_cmpuint(TOTAL(&m, 0, memory[SYSTEM].bytes_read), ==, 64);
	machine_stop(&m);
}

/* Where they are written, and the sums */

static void jobs_that_nobody_asks_about_are_counted_in_registers(void)
{
	struct pair p;
	struct job job = job_bytes(6400);

	pair_start(&p, "");
	assert_success(job_run(&p.m, &job));
	assert_moved(&p, 6400);
	g_assert_cmpuint(get64(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_TOTAL(0)), ==, 6400);
	machine_stop(&p.m);
}

static void totals_are_sums_until_the_queue_is_enabled(void)
{
	struct machine m;
	struct job job = job_bytes(6400);

	counting_start(&m, "", 2);
	system_pair(&m, 8192);
	counted(&m, 0, &job);
	counted(&m, 0, &job);
	g_assert_cmpuint(TOTAL(&m, 0, points), ==, 12800);
	g_assert_cmpuint(TOTAL(&m, 0, memory[SYSTEM].bursts_written), ==, 200);
	g_assert_cmpuint(TOTAL(&m, 0, cycles), ==, 288);
	g_assert_cmpuint(TOTAL(&m, 1, points), ==, 0);
	set64(&m, TESSERA_QUEUE(0) + TESSERA_QUEUE_TOTAL(0), 5);
	g_assert_cmpuint(TOTAL(&m, 0, points), ==, 12800);
	queue_disable(&m, 0);
	g_assert_cmpuint(TOTAL(&m, 0, points), ==, 12800);
	queue_create(&m, 0);
	g_assert_cmpuint(TOTAL(&m, 0, points), ==, 0);
	machine_stop(&m);
}

/* Points that no window lets happen are many in no time. */
static void totals_wrap(void)
{
	struct machine m;
	struct job job = job_bytes(1ull << 62);
	unsigned i;

	counting_start(&m, "", 1);
	system_pair(&m, 8192);
	job.operands[DESTINATION].address.strides[0] = 0;
	job.operands[SOURCE].address.strides[0] = 0;
	job.head.num_windows = 1;
	job.windows[0].limit = 0;
	job.operands[DESTINATION].window_mask = 1;
	for (i = 0; i < 5; i++)
		g_assert_cmpuint(counted(&m, 0, &job).windows_failed, ==, 1ull << 63);
	g_assert_cmpuint(TOTAL(&m, 0, points), ==, 1ull << 62);
	g_assert_cmpuint(TOTAL(&m, 0, windows_failed), ==, 1ull << 63);
	machine_stop(&m);
}

static void a_misaligned_place_for_counters_faults(void)
{
	struct machine m;
	struct job job = job_bytes(64);

	counting_start(&m, "", 1);
	system_pair(&m, 8192);
	push(&m, 0, &job, RAM_START + 4);
	doorbell(&m, 0);
	assert_fault(result_next(&m, 0), DRM_TESSERA_CAUSE_DESCRIPTOR, 0, 0);
	g_assert_cmpuint(TOTAL(&m, 0, points), ==, 0);
	machine_stop(&m);
}

static void a_place_for_counters_that_is_not_in_ram_stops_the_queue(void)
{
	struct machine m;
	struct job job = job_bytes(64);

	counting_start(&m, "", 1);
	system_pair(&m, 8192);
	push(&m, 0, &job, NOWHERE);
	doorbell(&m, 0);
	wait_for(&m, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS, TESSERA_QUEUE_STATUS_ERROR_MASK,
		 TESSERA_QUEUE_ERROR_RESULT);
	g_assert_cmpuint(get(&m, TESSERA_QUEUE(0) + TESSERA_QUEUE_HEAD), ==, 0);
	machine_stop(&m);
}

/* The network */

#define MIB	(1ull << 20)

static uint64_t link_bytes(struct machine *m, unsigned n, unsigned direction)
{
	return get64(m, TESSERA_REG_LINK(n, direction));
}

/* The links that have carried anything are these and no others. */
static void assert_links(struct machine *m, unsigned num_queues, const unsigned (*links)[2],
			 unsigned num_links, uint64_t bytes)
{
	unsigned n, direction, i;
	uint64_t expected;

	for (n = 0; n < num_queues; n++) {
		for (direction = 0; direction < TESSERA_NUM_LINKS; direction++) {
			expected = 0;
			for (i = 0; i < num_links; i++)
				if (links[i][0] == n && links[i][1] == direction)
					expected = bytes;
			g_assert_cmpuint(link_bytes(m, n, direction), ==, expected);
		}
	}
}

static void the_grid_comes_close_to_a_square(void)
{
	static const struct {
		const char *properties;
		uint32_t columns;
	} grids[] = {
		{ "queues=1", 1 }, { "queues=4", 2 }, { "queues=5", 5 }, { "queues=6", 3 },
		{ "queues=12", 4 }, { "queues=64", 8 }, { "queues=64,grid-columns=16", 16 },
	};
	struct machine m;
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(grids); i++) {
		machine_start(&m, MEMFD, grids[i].properties);
		g_assert_cmpuint(get(&m, TESSERA_REG_GRID_COLUMNS), ==, grids[i].columns);
		machine_stop(&m);
	}
}

static void what_is_read_elsewhere_goes_along_rows_first(void)
{
	static const unsigned links[][2] = {
		{ 5, TESSERA_LINK_WEST }, { 4, TESSERA_LINK_WEST }, { 3, TESSERA_LINK_NORTH },
	};
	struct machine m;
	struct job job = job_bytes(4096);
	struct drm_tessera_job_counters counters;

	counting_start(&m, "queues=6", 1);
	system_pair(&m, 8192);
	sram_create(&m, SOURCE, 5 * MIB, 4096);
	counters = counted(&m, 0, &job);
	g_assert_cmpuint(counters.memory[SRAM].bursts_read, ==, 256);
	g_assert_cmpuint(counters.noc_bytes, ==, 4096);
	g_assert_cmpuint(counters.noc_hops, ==, 3 * 256);
	/* 32 bytes a cycle, and 2 cycles for each link */
	g_assert_cmpuint(counters.noc_cycles, ==, 128 + 3 * 2);
	g_assert_cmpuint(counters.noc_wait_cycles, ==, 0);
	g_assert_cmpuint(counters.cycles, ==, 128 + 3 * 2);
	g_assert_cmpuint(counters.energy_pj, ==, 4096 * (12 + 160 + 3 * 1));
	assert_links(&m, 6, links, ARRAY_SIZE(links), 4096);
	machine_stop(&m);
}

static void what_is_written_elsewhere_goes_the_other_way(void)
{
	static const unsigned links[][2] = {
		{ 0, TESSERA_LINK_EAST }, { 1, TESSERA_LINK_EAST }, { 2, TESSERA_LINK_SOUTH },
	};
	struct machine m;
	struct job job = job_bytes(4096);
	struct drm_tessera_job_counters counters;

	counting_start(&m, "queues=6,link-bandwidth=1000,link-latency=5,link-energy=7", 1);
	system_pair(&m, 8192);
	sram_create(&m, DESTINATION, 5 * MIB, 4096);
	counters = counted(&m, 0, &job);
	g_assert_cmpuint(counters.noc_hops, ==, 3 * 256);
	g_assert_cmpuint(counters.noc_cycles, ==, 4096 + 3 * 5);
	g_assert_cmpuint(counters.energy_pj, ==, 4096 * (12 + 160 + 3 * 7));
	assert_links(&m, 6, links, ARRAY_SIZE(links), 4096);
	machine_stop(&m);
}

static void the_own_memory_is_not_across_the_network(void)
{
	struct machine m;
	struct job job = job_bytes(4096);

	counting_start(&m, "", 4);
	system_pair(&m, 8192);
	sram_create(&m, SOURCE, 3 * MIB, 4096);
	g_assert_cmpuint(counted(&m, 3, &job).noc_bytes, ==, 0);
	assert_links(&m, 4, NULL, 0, 0);
	machine_stop(&m);
}

/* 1024 bytes in element 0 and 3072 in element 1 */
static void a_buffer_in_two_elements_is_counted_in_each(void)
{
	static const unsigned links[][2] = { { 1, TESSERA_LINK_WEST } };
	struct machine m;
	struct job job = job_bytes(4096);
	struct drm_tessera_job_counters counters;

	counting_start(&m, "", 1);
	system_pair(&m, 8192);
	sram_create(&m, SOURCE, MIB - 1024, 4096);
	counters = counted(&m, 0, &job);
	g_assert_cmpuint(counters.memory[SRAM].bytes_read, ==, 4096);
	g_assert_cmpuint(counters.memory[SRAM].bursts_read, ==, 256);
	g_assert_cmpuint(counters.windows_failed, ==, 0);
	g_assert_cmpuint(counters.noc_bytes, ==, 3072);
	g_assert_cmpuint(counters.noc_hops, ==, 192);
	assert_links(&m, 4, links, ARRAY_SIZE(links), 3072);
	machine_stop(&m);
}

static void a_reset_clears_links_and_totals(void)
{
	struct machine m;
	struct job job = job_bytes(4096);

	counting_start(&m, "", 1);
	system_pair(&m, 8192);
	sram_create(&m, SOURCE, MIB, 4096);
	counted(&m, 0, &job);
	g_assert_cmpuint(link_bytes(&m, 1, TESSERA_LINK_WEST), ==, 4096);
	set64(&m, TESSERA_REG_LINK(1, TESSERA_LINK_WEST), 7);
	g_assert_cmpuint(link_bytes(&m, 1, TESSERA_LINK_WEST), ==, 4096);
	set(&m, TESSERA_REG_CONTROL, TESSERA_CONTROL_RESET);
	wait_for(&m, TESSERA_REG_CONTROL, TESSERA_CONTROL_RESET, 0);
	assert_links(&m, 4, NULL, 0, 0);
	g_assert_cmpuint(TOTAL(&m, 0, points), ==, 0);
	machine_stop(&m);
}

static void jobs_one_after_the_other_do_not_wait(void)
{
	struct machine m;
	struct job job = job_bytes(4096);
	unsigned queue;

	counting_start(&m, "grid-columns=4", 3);
	system_pair(&m, 8192);
	sram_create(&m, SOURCE, 3 * MIB, 4096);
	for (queue = 0; queue < 3; queue++)
		g_assert_cmpuint(counted(&m, queue, &job).noc_wait_cycles, ==, 0);
	g_assert_cmpuint(link_bytes(&m, 3, TESSERA_LINK_WEST), ==, 3 * 4096);
	machine_stop(&m);
}

/* While the only thread has an endless job, two come that take the same link. */
static void jobs_at_the_same_time_wait_for_links(void)
{
	struct machine m;
	struct job endless = job_endless(), job = job_bytes(4096);
	struct drm_tessera_job_counters first, second;
	uint64_t places[3];
	unsigned queue;

	counting_start(&m, "grid-columns=4,threads=1", 3);
	system_pair(&m, 8192);
	sram_create(&m, 2, 3 * MIB, 4096);
	job_push(&m, 0, &endless, 0);
	doorbell(&m, 0);
	wait_for(&m, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS, TESSERA_QUEUE_STATUS_BUSY,
		 TESSERA_QUEUE_STATUS_BUSY);
	job.operands[SOURCE].buffer = 2;
	for (queue = 1; queue < 3; queue++) {
		places[queue] = allocate(&m, sizeof(first));
		push(&m, queue, &job, places[queue]);
		doorbell(&m, queue);
	}
	queue_disable(&m, 0);
	assert_success(result_next(&m, 1));
	assert_success(result_next(&m, 2));
	first = counters_at(&m, places[1]);
	second = counters_at(&m, places[2]);
	g_assert_cmpuint(first.noc_cycles, ==, 128 + 2 * 2);
	g_assert_cmpuint(first.noc_wait_cycles, ==, 0);
	g_assert_cmpuint(second.noc_cycles, ==, 128 + 2);
	g_assert_cmpuint(second.noc_wait_cycles, ==, 128);
	g_assert_cmpuint(second.cycles, ==, 128 + 128 + 2);
	machine_stop(&m);
}

static const struct test tests[] = {
	TEST(a_copy_counts_its_bytes_and_bursts),
	TEST(what_windows_leave_out_is_counted),
	TEST(indices_are_counted_and_what_they_lead_to_by_element),
	TEST(the_model_follows_its_properties),
	TEST(orders_that_do_not_match_the_layout_cost_what_they_should),
	TEST(a_job_that_fails_counts_nothing),
	TEST(a_job_with_too_involved_windows_says_so),
	TEST(jobs_that_nobody_asks_about_are_counted_in_registers),
	TEST(totals_are_sums_until_the_queue_is_enabled),
	TEST(totals_wrap),
	TEST(a_misaligned_place_for_counters_faults),
	TEST(a_place_for_counters_that_is_not_in_ram_stops_the_queue),
	TEST(the_grid_comes_close_to_a_square),
	TEST(what_is_read_elsewhere_goes_along_rows_first),
	TEST(what_is_written_elsewhere_goes_the_other_way),
	TEST(the_own_memory_is_not_across_the_network),
	TEST(a_buffer_in_two_elements_is_counted_in_each),
	TEST(a_reset_clears_links_and_totals),
	TEST(jobs_one_after_the_other_do_not_wait),
	TEST(jobs_at_the_same_time_wait_for_links),
};

int main(int argc, char **argv)
{
	tests_init(&argc, &argv);
	tests_add("/tessera-model", tests, ARRAY_SIZE(tests));
	return tests_run();
}
