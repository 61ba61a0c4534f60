/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Tessera device alone, driven register by register: no guest kernel, no driver. What the
 * engine computes is tested elsewhere (tests/unit); here it is that jobs get to it and no further
 * than they may.
 */
#include "qemu/osdep.h"
#include "harness.h"

/* Registers */

static void the_pci_function_is_a_processing_accelerator(void)
{
	struct machine m;

	machine_start(&m, MEMFD, "");
	g_assert_cmphex(qpci_config_readw(m.pci, PCI_VENDOR_ID), ==, TESSERA_PCI_VENDOR_ID);
	g_assert_cmphex(qpci_config_readw(m.pci, PCI_DEVICE_ID), ==, TESSERA_PCI_DEVICE_ID);
	g_assert_cmphex(qpci_config_readw(m.pci, PCI_CLASS_DEVICE), ==, TESSERA_PCI_CLASS);
	g_assert_cmphex(qpci_find_capability(m.pci, PCI_CAP_ID_EXP, 0), !=, 0);
	g_assert_cmpuint(qpci_msix_table_size(m.pci), ==, 5);
	machine_stop(&m);
}

static void registers_have_their_reset_values(void)
{
	static const struct {
		uint32_t offset;
		uint32_t value;
	} expected[] = {
		{ TESSERA_REG_ID, TESSERA_ID },
		{ TESSERA_REG_VERSION, TESSERA_VERSION },
		{ TESSERA_REG_NUM_QUEUES, 4 },
		{ TESSERA_REG_FEATURES, TESSERA_FEATURE_HINTS | TESSERA_FEATURE_TEST |
					TESSERA_FEATURE_COUNTERS },
		{ TESSERA_REG_SRAM_SIZE, 1 << 20 },
		{ TESSERA_REG_SRAM_SIZE + 4, 0 },
	};
	struct machine m;
	uint32_t offset;
	unsigned i;

	machine_start(&m, MEMFD, "x-test=on");
	for (i = 0; i < ARRAY_SIZE(expected); i++)
		g_assert_cmphex(get(&m, expected[i].offset), ==, expected[i].value);
	for (offset = TESSERA_REG_CONTROL; offset < 0x100; offset += 4)
		if (offset != TESSERA_REG_GRID_COLUMNS && offset != TESSERA_REG_CLOCK)
			g_assert_cmphex(get(&m, offset), ==, 0);
	for (i = 0; i < 4; i++)
		for (offset = 0; offset < 0x100; offset += 4)
			g_assert_cmphex(get(&m, TESSERA_QUEUE(i) + offset), ==, 0);
	machine_stop(&m);
}

static void read_only_registers_ignore_writes(void)
{
	static const uint32_t offsets[] = {
		TESSERA_REG_ID, TESSERA_REG_VERSION, TESSERA_REG_NUM_QUEUES, TESSERA_REG_FEATURES,
		TESSERA_REG_SRAM_SIZE, TESSERA_REG_SRAM_SIZE + 4, TESSERA_REG_STATUS,
		TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS, TESSERA_QUEUE(0) + TESSERA_QUEUE_HEAD,
		TESSERA_QUEUE(0) + TESSERA_QUEUE_PROGRESS,
		TESSERA_QUEUE(0) + TESSERA_QUEUE_PROGRESS + 4,
		TESSERA_QUEUE(0) + TESSERA_QUEUE_NUM_DOORBELLS,
		TESSERA_QUEUE(0) + TESSERA_QUEUE_NUM_INTERRUPTS,
	};
	struct machine m;
	uint32_t before;
	unsigned i;

	machine_start(&m, MEMFD, "");
	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		before = get(&m, offsets[i]);
		set(&m, offsets[i], ~before);
		g_assert_cmphex(get(&m, offsets[i]), ==, before);
	}
	machine_stop(&m);
}

static void reserved_bits_of_control_registers_read_as_zero(void)
{
	struct machine m;

	machine_start(&m, MEMFD, "");
	set(&m, TESSERA_REG_CONTROL, ~TESSERA_CONTROL_RESET);
	g_assert_cmphex(get(&m, TESSERA_REG_CONTROL), ==, 0);
	set(&m, TESSERA_QUEUE(0) + TESSERA_QUEUE_CONTROL, ~TESSERA_QUEUE_ENABLE);
	g_assert_cmphex(get(&m, TESSERA_QUEUE(0) + TESSERA_QUEUE_CONTROL), ==, 0);
	machine_stop(&m);
}

static void registers_beyond_the_last_queue_read_as_zero(void)
{
	struct machine m;

	machine_start(&m, MEMFD, "queues=2");
	set(&m, TESSERA_QUEUE(2) + TESSERA_QUEUE_RING, 0x1000);
	g_assert_cmphex(get(&m, TESSERA_QUEUE(2) + TESSERA_QUEUE_RING), ==, 0);
	machine_stop(&m);
}

static void an_access_of_eight_bytes_is_two_registers(void)
{
	uint64_t offset = TESSERA_QUEUE(1) + TESSERA_QUEUE_RING;
	struct machine m;

	machine_start(&m, MEMFD, "");
	qpci_io_writeq(m.pci, m.registers, offset, 0x123456789abcdec0ull);
	g_assert_cmphex(get(&m, offset), ==, 0x9abcdec0);
	g_assert_cmphex(get(&m, offset + 4), ==, 0x12345678);
	g_assert_cmphex(qpci_io_readq(m.pci, m.registers, offset), ==, 0x123456789abcdec0ull);
	machine_stop(&m);
}

static void addresses_keep_both_their_halves(void)
{
	static const uint32_t offsets[] = {
		TESSERA_REG_BUFFERS, TESSERA_QUEUE(0) + TESSERA_QUEUE_RING,
		TESSERA_QUEUE(0) + TESSERA_QUEUE_COMPLETION,
		TESSERA_QUEUE(0) + TESSERA_QUEUE_RESULTS,
		TESSERA_QUEUE(0) + TESSERA_QUEUE_HINTS,
	};
	struct machine m;
	unsigned i;

	machine_start(&m, MEMFD, "");
	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		set64(&m, offsets[i], 0xfedcba9876543200ull + i);
		g_assert_cmphex(get64(&m, offsets[i]), ==, 0xfedcba9876543200ull + i);
	}
	machine_stop(&m);
}

static void queue_registers_are_fixed_while_it_is_enabled(void)
{
	static const uint32_t offsets[] = {
		TESSERA_QUEUE_RING, TESSERA_QUEUE_RING + 4, TESSERA_QUEUE_COMPLETION,
		TESSERA_QUEUE_COMPLETION + 4, TESSERA_QUEUE_RESULTS, TESSERA_QUEUE_RESULTS + 4,
		TESSERA_QUEUE_HINTS, TESSERA_QUEUE_HINTS + 4, TESSERA_QUEUE_RING_SHIFT,
	};
	struct machine m;
	uint32_t before;
	unsigned i;

	machine_start(&m, MEMFD, "");
	queue_create(&m, 0);
	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		before = get(&m, TESSERA_QUEUE(0) + offsets[i]);
		set(&m, TESSERA_QUEUE(0) + offsets[i], ~before);
		g_assert_cmphex(get(&m, TESSERA_QUEUE(0) + offsets[i]), ==, before);
	}
	machine_stop(&m);
}

static void the_number_of_buffers_is_capped(void)
{
	struct machine m;

	machine_start(&m, MEMFD, "");
	set(&m, TESSERA_REG_NUM_BUFFERS, TESSERA_MAX_BUFFERS + 1);
	g_assert_cmpuint(get(&m, TESSERA_REG_NUM_BUFFERS), ==, TESSERA_MAX_BUFFERS);
	machine_stop(&m);
}

static void properties_set_queues_and_sram(void)
{
	struct machine m;

	machine_start(&m, MEMFD, "queues=3,sram-size=64K");
	g_assert_cmpuint(get(&m, TESSERA_REG_NUM_QUEUES), ==, 3);
	g_assert_cmpuint(get64(&m, TESSERA_REG_SRAM_SIZE), ==, 64 << 10);
	g_assert_cmpuint(qpci_msix_table_size(m.pci), ==, 4);
	machine_stop(&m);
}

/* A machine that does not start, and what it says */
struct refusal {
	const char *name;
	const char *arguments;
	const char *message;
};

static const struct refusal refusals[] = {
	{ "no_queue_is_refused", "-device tessera,queues=0",
	  "property 'queues' is 0, it must be from 1 to 64" },
	{ "too_many_queues_are_refused", "-device tessera,queues=65",
	  "property 'queues' is 65, it must be from 1 to 64" },
	{ "no_thread_is_refused", "-device tessera,threads=0",
	  "property 'threads' is 0, it must be from 1 to 64" },
	{ "too_many_threads_are_refused", "-device tessera,threads=65",
	  "property 'threads' is 65, it must be from 1 to 64" },
	{ "odd_sram_is_refused", "-device tessera,sram-size=4097",
	  "property 'sram-size' is 4097, it must be a multiple of 4096 from 0 to 268435456" },
	{ "too_much_sram_is_refused", "-device tessera,sram-size=1G",
	  "property 'sram-size' is 1073741824, it must be a multiple of 4096 from 0 to 268435456" },
	{ "x_hang_without_x_test_is_refused", "-device tessera,x-hang=7",
	  "property 'x-hang' is 7, it must be 0 without 'x-test=on'" },
	{ "x_skew_without_x_test_is_refused", "-device tessera,x-skew=7",
	  "property 'x-skew' is 7, it must be 0 without 'x-test=on'" },
	{ "x_fault_without_x_test_is_refused", "-device tessera,x-fault=7",
	  "property 'x-fault' is 7, it must be 0 without 'x-test=on'" },
	{ "x_slow_without_x_test_is_refused", "-device tessera,x-slow=7",
	  "property 'x-slow' is 7, it must be 0 without 'x-test=on'" },
	{ "x_corrupt_without_x_test_is_refused", "-device tessera,x-corrupt=7",
	  "property 'x-corrupt' is 7, it must be 0 without 'x-test=on'" },
	{ "x_drop_without_x_test_is_refused", "-device tessera,x-drop=7",
	  "property 'x-drop' is 7, it must be 0 without 'x-test=on'" },
	{ "x_read_without_x_test_is_refused", "-device tessera,x-read=7",
	  "property 'x-read' is 7, it must be 0 without 'x-test=on'" },
	{ "x_value_without_x_test_is_refused", "-device tessera,x-value=7",
	  "property 'x-value' is 7, it must be 0 without 'x-test=on'" },
	{ "a_grid_with_gaps_is_refused", "-device tessera,queues=6,grid-columns=4",
	  "property 'grid-columns' is 4, it must divide the number of queues, 6" },
	{ "a_clock_that_stands_is_refused", "-device tessera,clock=0",
	  "property 'clock' is 0, it must be from 1000 to 10000000" },
	{ "an_efficiency_over_all_is_refused", "-device tessera,efficiency=101",
	  "property 'efficiency' is 101, it must be from 1 to 100" },
	{ "no_bandwidth_is_refused", "-device tessera,dram-bandwidth=0",
	  "property 'dram-bandwidth' is 0, it must be from 1 to 100000000" },
	{ "no_bandwidth_of_links_is_refused", "-device tessera,link-bandwidth=0",
	  "property 'link-bandwidth' is 0, it must be from 1 to 100000000" },
	{ "too_much_latency_is_refused", "-device tessera,sram-latency=1000001",
	  "property 'sram-latency' is 1000001, it must be from 0 to 1000000" },
	{ "a_burst_of_an_element_is_refused", "-device tessera,sram-burst=8",
	  "property 'sram-burst' is 8, it must be from 16 to 256" },
	{ "an_odd_burst_is_refused", "-device tessera,dram-burst=48",
	  "property 'dram-burst' is 48, it must be a power of two" },
	{ "too_much_energy_is_refused", "-device tessera,link-energy=1000001",
	  "property 'link-energy' is 1000001, it must be from 0 to 1000000" },
};

static void machine_is_refused(gconstpointer opaque)
{
	const struct refusal *refusal = opaque;
	g_autofree char *command = NULL, *standard_error = NULL;
	int status;

	command = g_strdup_printf("%s " MACHINE "-accel qtest -display none -bios %s %s",
				  g_getenv("QTEST_QEMU_BINARY"), firmware, refusal->arguments);
	g_assert_true(g_spawn_command_line_sync(command, NULL, &standard_error, &status, NULL));
	g_assert_cmpint(status, !=, 0);
	g_assert_nonnull(strstr(standard_error, refusal->message));
}

/* Jobs */

static void a_job_moves_nchw_to_nhwc(void)
{
	enum { C = 5, H = 6, W = 7 };
	struct job job = {
		.head = { .rank = 3, .num_operands = 2, .extents = { C, H, W } },
		.operands = {
			{ .buffer = DESTINATION, .dtype = DRM_TESSERA_DTYPE_F32,
			  .address.strides = { 4, W * C * 4, C * 4 } },
			{ .buffer = SOURCE, .dtype = DRM_TESSERA_DTYPE_F32,
			  .address.strides = { H * W * 4, W * 4, 4 } },
		},
	};
	uint32_t moved[H][W][C];
	struct pair p;
	unsigned c, h, w;

	pair_start(&p, "");
	assert_success(job_run(&p.m, &job));
	qtest_memread(p.m.qts, p.destination, moved, sizeof(moved));
	for (c = 0; c < C; c++)
		for (h = 0; h < H; h++)
			for (w = 0; w < W; w++)
				g_assert_cmphex(moved[h][w][c], ==,
						word(p.pattern + 4 * ((c * H + h) * W + w)));
	machine_stop(&p.m);
}

static void a_job_of_no_extent_does_nothing(void)
{
	struct job job = job_bytes(0);
	struct pair p;

	pair_start(&p, "");
	assert_success(job_run(&p.m, &job));
	assert_untouched(&p);
	machine_stop(&p.m);
}

static void a_window_that_does_not_hold_reads_fill(void)
{
	struct job job = job_bytes(64);
	uint8_t data[64];
	struct pair p;

	job.head.num_windows = 1;
	job.windows[0].value.strides[0] = 1;
	job.windows[0].limit = 63;
	job.operands[SOURCE].window_mask = 1;
	job.operands[SOURCE].fill[0] = 0x5a;
	pair_start(&p, "");
	assert_success(job_run(&p.m, &job));
	qtest_memread(p.m.qts, p.destination, data, sizeof(data));
	g_assert_cmphex(data[62], ==, p.pattern[62]);
	g_assert_cmphex(data[63], ==, 0x5a);
	machine_stop(&p.m);
}

/* Every other byte of so many scattered pages to as many others */
static void scattered_pages_are_moved(const char *memory, unsigned num_pages)
{
	size_t size = num_pages * 4096, i;
	g_autofree uint8_t *source = g_malloc(size), *expected = g_malloc(size);
	g_autofree uint8_t *data = g_malloc(size);
	struct job job = job_bytes(size / 2);
	uint64_t from, to;
	struct machine m;

	machine_start(&m, memory, "");
	directory_create(&m);
	queue_create(&m, 0);
	to = scattered_create(&m, DESTINATION, num_pages, TESSERA_BUFFER_WRITABLE);
	from = scattered_create(&m, SOURCE, num_pages, 0);
	fill_pattern(source, size);
	for (i = 0; i < size; i++)
		expected[i] = i % 2 ? i * 5 : source[i / 2];
	for (i = 0; i < size; i++)
		data[i] = i * 5;
	scattered_copy(&m, from, num_pages, source, true);
	scattered_copy(&m, to, num_pages, data, true);
	job.operands[DESTINATION].address.strides[0] = 2;
	assert_success(job_run(&m, &job));
	scattered_copy(&m, to, num_pages, data, false);
	g_assert_cmpmem(data, size, expected, size);
	machine_stop(&m);
}

static void scattered_pages_of_a_shared_file_are_moved(void)
{
	scattered_pages_are_moved(MEMFD, 5);
}

static void many_scattered_pages_of_a_shared_file_are_moved(void)
{
	scattered_pages_are_moved(MEMFD, 300);
}

static void scattered_pages_of_private_memory_are_moved(void)
{
	scattered_pages_are_moved(ANONYMOUS, 5);
}

/* Entries of the emulator's memory map */
static unsigned num_mappings(QTestState *qts)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/maps", (int)qtest_pid(qts));
	g_autofree char *text = NULL;
	const char *line;
	unsigned count = 0;

	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	for (line = text; (line = strchr(line, '\n')); line++)
		count++;
	return count;
}

/* Four devices, each with a buffer of so many pieces that all together are too many to be mapped */
static void mappings_are_limited_over_all_devices(void)
{
	const unsigned num_pages = 16000;
	g_autofree uint64_t *pages = g_new(uint64_t, num_pages);
	struct job job = job_bytes(64);
	uint64_t table;
	struct machine m;
	unsigned i;

	machine_start(&m, MEMFD "-device tessera,addr=5.0 -device tessera,addr=6.0 "
		      "-device tessera,addr=7.0 ", "");
	pages[0] = allocate(&m, 3 * 4096);
	for (i = 1; i < num_pages; i++)
		pages[i] = pages[0] + i % 2 * 2 * 4096;
	table = allocate(&m, num_pages * sizeof(pages[0]));
	for (i = 0; i < num_pages; i++)
		pages[i] = cpu_to_le64(pages[i]);
	qtest_memwrite(m.qts, table, pages, num_pages * sizeof(pages[0]));
	for (i = 4; i < 8; i++) {
		struct machine one = m;

		one.pci = qpci_device_find(m.bus, QPCI_DEVFN(i, 0));
		if (i != 4) {
			qpci_device_enable(one.pci);
			one.registers = qpci_iomap(one.pci, TESSERA_BAR_REGISTERS, NULL);
		}
		directory_create(&one);
		queue_create(&one, 0);
		buffer_create(&one, DESTINATION, 64, TESSERA_BUFFER_WRITABLE);
		buffer_set(&one, SOURCE, table, num_pages * 4096ull, TESSERA_BUFFER_VALID,
			   TESSERA_PAGE_MIN_SHIFT);
		assert_success(job_run(&one, &job));
		m.free = one.free;
		g_free(one.pci);
	}
	g_assert_cmpuint(num_mappings(m.qts), >, 3 * num_pages);
	g_assert_cmpuint(num_mappings(m.qts), <, 4 * num_pages);
	machine_stop(&m);
}

/* Jobs where their doorbell is written */

static void a_small_job_of_known_buffers_needs_no_worker(void)
{
	struct job job = job_bytes(64), endless = job_endless();
	struct pair p;

	pair_start(&p, "threads=1");
	assert_success(job_run(&p.m, &job));
	queue_create(&p.m, 1);
	job_push(&p.m, 1, &endless, 0);
	doorbell(&p.m, 1);
	wait_for(&p.m, TESSERA_QUEUE(1) + TESSERA_QUEUE_STATUS, TESSERA_QUEUE_STATUS_BUSY,
		 TESSERA_QUEUE_STATUS_BUSY);
	assert_success(job_run(&p.m, &job));
	queue_disable(&p.m, 1);
	machine_stop(&p.m);
}

/* As many elements as a small job may have, and a window: the only worker has no time for it */
static void a_job_that_is_small_but_for_its_windows_needs_a_worker(void)
{
	struct job job = job_bytes(8192), endless = job_endless();
	struct pair p;

	pair_start(&p, "threads=1");
	assert_success(job_run(&p.m, &job));
	queue_create(&p.m, 1);
	job_push(&p.m, 1, &endless, 0);
	doorbell(&p.m, 1);
	wait_for(&p.m, TESSERA_QUEUE(1) + TESSERA_QUEUE_STATUS, TESSERA_QUEUE_STATUS_BUSY,
		 TESSERA_QUEUE_STATUS_BUSY);
	assert_success(job_run(&p.m, &job));
	job.head.num_windows = 1;
	job.windows[0].limit = 1;
	job.operands[SOURCE].window_mask = 1;
	job_push(&p.m, 0, &job, 0);
	doorbell(&p.m, 0);
	g_assert_cmphex(get(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_HEAD), ==, 2);
	queue_disable(&p.m, 1);
	assert_success(result_next(&p.m, 0));
	machine_stop(&p.m);
}

static void a_small_job_that_fails_tells_why(void)
{
	struct job job = job_bytes(64);
	struct pair p;

	pair_start(&p, "");
	assert_success(job_run(&p.m, &job));
	job.operands[SOURCE].address.offset = 8192;
	assert_fault(job_run(&p.m, &job), DRM_TESSERA_CAUSE_BOUNDS, 1, 8255);
	assert_works(&p);
	machine_stop(&p.m);
}

static void an_endless_job_of_known_buffers_leaves_its_doorbell(void)
{
	struct job job = job_endless();
	struct pair p;

	pair_start(&p, "");
	assert_works(&p);
	job_push(&p.m, 0, &job, 0);
	doorbell(&p.m, 0);
	wait_for(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS, TESSERA_QUEUE_STATUS_BUSY,
		 TESSERA_QUEUE_STATUS_BUSY);
	queue_disable(&p.m, 0);
	queue_create(&p.m, 0);
	assert_works(&p);
	machine_stop(&p.m);
}

/* Few elements, and half a megabyte from the first to the last of them */
static void a_small_job_of_a_wide_destination_is_run(void)
{
	struct job job = job_bytes(2);
	uint64_t to;
	struct pair p;

	pair_start(&p, "");
	to = buffer_create(&p.m, 2, 512 << 10, TESSERA_BUFFER_WRITABLE);
	job.operands[DESTINATION].buffer = 2;
	job.operands[DESTINATION].address.strides[0] = (512 << 10) - 1;
	assert_success(job_run(&p.m, &job));
	qtest_writeb(p.m.qts, to + (512 << 10) - 1, 0);
	assert_success(job_run(&p.m, &job));
	g_assert_cmphex(qtest_readb(p.m.qts, to + (512 << 10) - 1), ==, p.pattern[1]);
	machine_stop(&p.m);
}

/* Bytes of all values are stored, and no others are: 0x00 and 0xff are what the copies begin as. */
static void a_job_on_copies_stores_zeros_and_ones(void)
{
	uint8_t source[8192], expected[8192], data[8192];
	struct job job = job_bytes(2048);
	uint64_t to, from;
	struct machine m;
	unsigned i;

	machine_start(&m, ANONYMOUS, "");
	directory_create(&m);
	queue_create(&m, 0);
	to = scattered_create(&m, DESTINATION, 2, TESSERA_BUFFER_WRITABLE);
	from = scattered_create(&m, SOURCE, 2, 0);
	for (i = 0; i < sizeof(source); i++)
		source[i] = i % 2 ? 0xff : 0;
	for (i = 0; i < sizeof(data); i++)
		data[i] = 0x10 + i % 3;
	memcpy(expected, data, sizeof(expected));
	for (i = 0; i < 2048; i++)
		expected[3000 + i] = source[i];
	scattered_copy(&m, from, 2, source, true);
	scattered_copy(&m, to, 2, data, true);
	job.operands[DESTINATION].address.offset = 3000;
	assert_success(job_run(&m, &job));
	scattered_copy(&m, to, 2, data, false);
	g_assert_cmpmem(data, sizeof(data), expected, sizeof(expected));
	machine_stop(&m);
}

/* Negates f32 where they lie. */
static void scattered_pages_are_changed_in_place(const char *memory)
{
	struct job job = {
		.head = { .rank = 1, .num_operands = 2, .num_instructions = 1,
			  .extents = { 3 * 1024 } },
		.operands = {
			{ .buffer = DESTINATION, .dtype = DRM_TESSERA_DTYPE_F32,
			  .address.strides = { 4 } },
			{ .buffer = DESTINATION, .dtype = DRM_TESSERA_DTYPE_F32,
			  .address.strides = { 4 } },
		},
		.program = { { .opcode = DRM_TESSERA_OP_NEG, .dtype = DRM_TESSERA_DTYPE_F32 } },
	};
	uint8_t before[3 * 4096], after[3 * 4096];
	struct machine m;
	uint64_t at;
	unsigned i;

	machine_start(&m, memory, "");
	directory_create(&m);
	queue_create(&m, 0);
	at = scattered_create(&m, DESTINATION, 3, TESSERA_BUFFER_WRITABLE);
	fill_pattern(before, sizeof(before));
	scattered_copy(&m, at, 3, before, true);
	assert_success(job_run(&m, &job));
	scattered_copy(&m, at, 3, after, false);
	for (i = 0; i < sizeof(before); i += 4)
		g_assert_cmphex(word(after + i), ==, word(before + i) ^ 0x80000000);
	machine_stop(&m);
}

static void scattered_pages_of_a_shared_file_are_changed_in_place(void)
{
	scattered_pages_are_changed_in_place(MEMFD);
}

static void scattered_pages_of_private_memory_are_changed_in_place(void)
{
	scattered_pages_are_changed_in_place(ANONYMOUS);
}

static void a_page_may_stand_in_a_buffer_twice(void)
{
	struct job job = job_bytes(8192);
	uint64_t pages[2];
	uint8_t data[8192];
	struct pair p;

	pair_start(&p, "");
	pages[0] = p.source;
	pages[1] = p.source;
	buffer_set(&p.m, SOURCE, table_create(&p.m, pages, 2), 8192, TESSERA_BUFFER_VALID,
		   TESSERA_PAGE_MIN_SHIFT);
	assert_success(job_run(&p.m, &job));
	qtest_memread(p.m.qts, p.destination, data, sizeof(data));
	g_assert_cmpmem(data, 4096, p.pattern, 4096);
	g_assert_cmpmem(data + 4096, 4096, p.pattern, 4096);
	machine_stop(&p.m);
}

static void pages_may_be_larger_than_the_smallest(void)
{
	enum { SHIFT = 16, SIZE = 2 << SHIFT };
	struct job job = job_bytes(100);
	uint64_t pages[2], area;
	uint8_t data[100];
	struct pair p;

	pair_start(&p, "");
	area = ROUND_UP(allocate(&p.m, 4 << SHIFT), 1 << SHIFT);
	pages[0] = area + (1 << SHIFT);
	pages[1] = area;
	buffer_set(&p.m, SOURCE, table_create(&p.m, pages, 2), SIZE, TESSERA_BUFFER_VALID, SHIFT);
	qtest_memwrite(p.m.qts, pages[0] + (1 << SHIFT) - 50, p.pattern, 50);
	qtest_memwrite(p.m.qts, pages[1], p.pattern + 50, 50);
	job.operands[SOURCE].address.offset = (1 << SHIFT) - 50;
	assert_success(job_run(&p.m, &job));
	qtest_memread(p.m.qts, p.destination, data, sizeof(data));
	g_assert_cmpmem(data, 100, p.pattern, 100);
	machine_stop(&p.m);
}

static void a_last_page_need_not_be_whole(void)
{
	struct job job = job_bytes(100);
	uint64_t page = RAM_SIZE - 4096;
	struct pair p;

	pair_start(&p, "");
	/* The page is 64 KiB, of which the last 4 KiB of RAM would be the first */
	qtest_memwrite(p.m.qts, RAM_SIZE - (1 << 16), p.pattern, 100);
	page = RAM_SIZE - (1 << 16);
	buffer_set(&p.m, SOURCE, table_create(&p.m, &page, 1), 100, TESSERA_BUFFER_VALID, 16);
	assert_success(job_run(&p.m, &job));
	assert_moved(&p, 100);
	machine_stop(&p.m);
}

static void jobs_read_and_write_sram(void)
{
	struct job job = job_bytes(256);
	uint8_t data[256];
	struct pair p;

	pair_start(&p, "");
	buffer_set(&p.m, 2, 0x3000, 256,
		   TESSERA_BUFFER_VALID | TESSERA_BUFFER_WRITABLE | TESSERA_BUFFER_SRAM, 0);
	job.operands[DESTINATION].buffer = 2;
	assert_success(job_run(&p.m, &job));
	qpci_memread(p.m.pci, p.m.sram, 0x3000, data, sizeof(data));
	g_assert_cmpmem(data, 256, p.pattern, 256);
	job.operands[DESTINATION].buffer = DESTINATION;
	job.operands[SOURCE].buffer = 2;
	assert_success(job_run(&p.m, &job));
	assert_moved(&p, 256);
	machine_stop(&p.m);
}

static void rom_can_be_read(void)
{
	struct job job = job_bytes(4096);
	uint64_t page = ROM_ADDRESS;
	struct pair p;
	uint8_t data[4096], rom[4096];

	pair_start(&p, "");
	buffer_set(&p.m, SOURCE, table_create(&p.m, &page, 1), 4096, TESSERA_BUFFER_VALID, 12);
	qtest_memread(p.m.qts, ROM_ADDRESS, rom, sizeof(rom));
	assert_success(job_run(&p.m, &job));
	qtest_memread(p.m.qts, p.destination, data, sizeof(data));
	g_assert_cmpmem(data, 4096, rom, 4096);
	machine_stop(&p.m);
}

static void an_indirect_job_gathers_rows(void)
{
	static const int32_t rows[] = { 5, 0, 100, 5 };
	struct job job = job_gather(ARRAY_SIZE(rows), 128);
	uint8_t data[64];
	uint64_t indices;
	struct pair p;
	unsigned i;

	pair_start(&p, "");
	indices = buffer_create(&p.m, 2, 4096, 0);
	qtest_memwrite(p.m.qts, indices, rows, sizeof(rows));
	assert_success(job_run(&p.m, &job));
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		qtest_memread(p.m.qts, p.destination + 64 * i, data, 64);
		g_assert_cmpmem(data, 64, p.pattern + 64 * rows[i], 64);
	}
	machine_stop(&p.m);
}

static void an_indirect_job_gathers_from_copies(void)
{
	static const int32_t rows[] = { 65, 1, 127, 64 };
	struct job job = job_gather(ARRAY_SIZE(rows), 0);
	uint8_t source[8192], moved[8192];
	uint64_t to, from, indices;
	struct machine m;
	unsigned i;

	machine_start(&m, ANONYMOUS, "");
	directory_create(&m);
	queue_create(&m, 0);
	to = scattered_create(&m, DESTINATION, 2, TESSERA_BUFFER_WRITABLE);
	from = scattered_create(&m, SOURCE, 2, 0);
	indices = scattered_create(&m, 2, 2, 0);
	fill_pattern(source, sizeof(source));
	scattered_copy(&m, from, 2, source, true);
	qtest_memwrite(m.qts, indices + 4096, rows, sizeof(rows));
	assert_success(job_run(&m, &job));
	scattered_copy(&m, to, 2, moved, false);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		g_assert_cmpmem(moved + 64 * i, 64, source + 64 * rows[i], 64);
	machine_stop(&m);
}

static uint64_t pages_of_pattern(struct pair *p)
{
	uint64_t pages = allocate(&p->m, TWO_PAGES);

	qtest_memwrite(p->m.qts, pages, p->pattern, 4096);
	qtest_memwrite(p->m.qts, pages + 8192, p->pattern + 4096, 4096);
	return pages;
}

static void a_buffer_in_very_many_pieces_is_moved(void)
{
	struct job job = job_bytes(8192);
	struct pair p;

	pair_start(&p, "");
	buffer_of_two_pages(&p.m, 2, MANY_PAGES, pages_of_pattern(&p), 0);
	job.operands[SOURCE].buffer = 2;
	job.operands[SOURCE].address.offset = 4096 * (MANY_PAGES - 2ull);
	assert_success(job_run(&p.m, &job));
	assert_moved(&p, 8192);
	machine_stop(&p.m);
}

/* More views than are kept at a time: those not in use go, and come again. */
static void views_of_buffers_give_way_to_others(void)
{
	struct job job = job_bytes(8192);
	uint64_t pages;
	struct pair p;
	unsigned i;

	pair_start(&p, "");
	pages = pages_of_pattern(&p);
	for (i = 0; i < 6; i++)
		buffer_of_two_pages(&p.m, 2 + i, MANY_PAGES / 4, pages, 0);
	for (i = 0; i < 18; i++) {
		qtest_memset(p.m.qts, p.destination, 0xee, 8192);
		job.operands[SOURCE].buffer = 2 + i % 6;
		job.operands[SOURCE].address.offset = 8192 * i;
		assert_success(job_run(&p.m, &job));
		assert_moved(&p, 8192);
	}
	machine_stop(&p.m);
}

/* Buffers of all RAM in four pages from back to front: four of them take all room for mappings. */
static void views_of_large_buffers_give_way_to_others(void)
{
	enum { SHIFT = 24, PAGES = RAM_SIZE >> SHIFT };
	struct job job = job_bytes(8192);
	uint64_t pages[PAGES], at;
	struct pair p;
	unsigned i;

	pair_start(&p, "");
	at = p.source;
	for (i = 0; i < PAGES; i++)
		pages[i] = (uint64_t)(PAGES - 1 - i) << SHIFT;
	for (i = 0; i < 6; i++)
		buffer_set(&p.m, 2 + i, table_create(&p.m, pages, PAGES), RAM_SIZE,
			   TESSERA_BUFFER_VALID, SHIFT);
	job.operands[SOURCE].address.offset = ((uint64_t)(PAGES - 1) << SHIFT) + at;
	for (i = 0; i < 18; i++) {
		qtest_memset(p.m.qts, p.destination, 0xee, 8192);
		job.operands[SOURCE].buffer = 2 + i % 6;
		assert_success(job_run(&p.m, &job));
		assert_moved(&p, 8192);
	}
	machine_stop(&p.m);
}

/*
 * Jobs on copies of private memory. Of these, two have no room beside each other: each asks for
 * 64 MiB of source and twice 64 MiB of destination, and there are 256 MiB.
 */
static struct job copies_start(struct machine *m, const char *properties)
{
	machine_start(m, ANONYMOUS, properties);
	directory_create(m);
	queue_create(m, 0);
	queue_create(m, 1);
	buffer_of_two_pages(m, SOURCE, MANY_PAGES, allocate(m, TWO_PAGES), 0);
	buffer_of_two_pages(m, DESTINATION, MANY_PAGES, allocate(m, TWO_PAGES),
			    TESSERA_BUFFER_WRITABLE);
	return job_bytes(RAM_SIZE);
}

static void jobs_on_copies_wait_for_memory(void)
{
	struct machine m;
	struct job job = copies_start(&m, "threads=2");
	unsigned i;

	for (i = 0; i < 2; i++) {
		job_push(&m, i, &job, 0);
		doorbell(&m, i);
	}
	for (i = 0; i < 2; i++)
		assert_success(result_next(&m, i));
	machine_stop(&m);
}

static void a_job_that_waits_for_memory_is_stopped_by_disabling_its_queue(void)
{
	int64_t deadline = g_get_monotonic_time() + PATIENCE;
	struct machine m;
	struct job job = copies_start(&m, "threads=2");
	uint64_t progress = 0;

	job.head.rank = 2;
	job.head.extents[0] = 1ull << 32;
	job.head.extents[1] = RAM_SIZE;
	job.operands[DESTINATION].address.strides[0] = 0;
	job.operands[DESTINATION].address.strides[1] = 1;
	job.operands[SOURCE].address.strides[0] = 0;
	job.operands[SOURCE].address.strides[1] = 1;
	job_push(&m, 0, &job, 0);
	doorbell(&m, 0);
	/* The first has its memory once it copied half of it */
	while (get64(&m, TESSERA_QUEUE(0) + TESSERA_QUEUE_PROGRESS) < RAM_SIZE / 2)
		g_assert_cmpint(g_get_monotonic_time(), <, deadline);
	job_push(&m, 1, &job, 0);
	doorbell(&m, 1);
	/* The second has looked up what it waits for, and goes no further */
	wait_for(&m, TESSERA_QUEUE(1) + TESSERA_QUEUE_STATUS, ~0u,
		 TESSERA_QUEUE_STATUS_ENABLED | TESSERA_QUEUE_STATUS_BUSY);
	progress = get64(&m, TESSERA_QUEUE(1) + TESSERA_QUEUE_PROGRESS);
	queue_disable(&m, 1);
	g_assert_cmpuint(progress, <, 4096);
	queue_disable(&m, 0);
	machine_stop(&m);
}

/* Indirect on both sides, so that each of four buffers of 64 MiB is needed whole, one twice */
static void a_job_on_copies_that_needs_too_much_memory_faults(void)
{
	struct machine m;
	struct job job = copies_start(&m, "");
	unsigned i;

	job.head.extents[0] = RAM_SIZE / 4;
	for (i = DESTINATION; i <= SOURCE; i++) {
		job.operands[i].flags = DRM_TESSERA_OPERAND_INDIRECT;
		job.operands[i].index_buffer = SOURCE;
		job.operands[i].index_dtype = DRM_TESSERA_DTYPE_I32;
		job.operands[i].index_address.strides[0] = 4;
		job.operands[i].index_stride = 1;
		job.operands[i].address.strides[0] = 0;
	}
	assert_fault(job_run(&m, &job), DRM_TESSERA_CAUSE_MEMORY, 0, 0);
	machine_stop(&m);
}

static void a_job_tells_how_long_it_took(void)
{
	struct job job = job_bytes(8192);
	struct tessera_hw_result result;
	struct pair p;

	pair_start(&p, "");
	result = job_run(&p.m, &job);
	assert_success(result);
	g_assert_cmpuint(result.nanoseconds, >, 0);
	machine_stop(&p.m);
}

/* Faults: one thing wrong with a job that is good otherwise */
struct fault_case {
	const char *name;
	void (*spoil)(struct pair *p, struct job *job);
	uint32_t cause;
	uint32_t operand;
	int64_t offset;
};

static void spoil_source_end(struct pair *p, struct job *job)
{
	job->operands[SOURCE].address.offset = 8192 - 63;
}

static void spoil_source_start(struct pair *p, struct job *job)
{
	job->operands[SOURCE].address.offset = -2;
}

static void spoil_destination_end(struct pair *p, struct job *job)
{
	job->operands[DESTINATION].address.strides[0] = 8192;
}

static void spoil_skew(struct pair *p, struct job *job)
{
	job->operands[DESTINATION].address.offset = 8192 - 64;
	set(&p->m, TESSERA_REG_TEST_SKEW, 5);
}

static void spoil_index(struct pair *p, struct job *job, int32_t row, uint64_t limit)
{
	uint64_t indices = buffer_create(&p->m, 2, 4096, 0);

	qtest_writel(p->m.qts, indices, row);
	*job = job_gather(1, limit);
}

static void spoil_index_limit(struct pair *p, struct job *job)
{
	spoil_index(p, job, 77, 77);
}

static void spoil_index_negative(struct pair *p, struct job *job)
{
	spoil_index(p, job, -3, 77);
}

static void spoil_index_bounds(struct pair *p, struct job *job)
{
	spoil_index(p, job, 128, 0);
}

static void spoil_index_address(struct pair *p, struct job *job)
{
	spoil_index(p, job, 0, 0);
	job->operands[SOURCE].index_address.offset = 4093;
}

static void spoil_read_only(struct pair *p, struct job *job)
{
	job->operands[DESTINATION].buffer = SOURCE;
}

static void spoil_buffer_number(struct pair *p, struct job *job)
{
	job->operands[SOURCE].buffer = NUM_BUFFERS;
}

static void spoil_buffer_invalid(struct pair *p, struct job *job)
{
	job->operands[SOURCE].buffer = 3;
}

static void spoil_directory(struct pair *p, struct job *job)
{
	set64(&p->m, TESSERA_REG_BUFFERS, NOWHERE);
}

static void spoil_directory_wrap(struct pair *p, struct job *job)
{
	set64(&p->m, TESSERA_REG_BUFFERS, -32);
}

/* Gives SOURCE an entry with a table of one page. */
static void spoil_entry(struct pair *p, uint64_t size, uint32_t flags, uint32_t page_shift,
			uint64_t misalignment)
{
	buffer_set(&p->m, SOURCE, table_create(&p->m, &p->source, 1) + misalignment, size, flags,
		   page_shift);
}

static void spoil_entry_flags(struct pair *p, struct job *job)
{
	spoil_entry(p, 4096, TESSERA_BUFFER_VALID | 8, 12, 0);
}

static void spoil_entry_reserved(struct pair *p, struct job *job)
{
	qtest_writeq(p->m.qts, p->m.directory + SOURCE * sizeof(struct tessera_hw_buffer) +
		     offsetof(struct tessera_hw_buffer, reserved), 1);
}

static void spoil_entry_small_page(struct pair *p, struct job *job)
{
	spoil_entry(p, 64, TESSERA_BUFFER_VALID, 11, 0);
}

static void spoil_entry_large_page(struct pair *p, struct job *job)
{
	spoil_entry(p, 64, TESSERA_BUFFER_VALID, 31, 0);
}

static void spoil_entry_huge_page_shift(struct pair *p, struct job *job)
{
	spoil_entry(p, 64, TESSERA_BUFFER_VALID, 0xffffffff, 0);
}

static void spoil_entry_table(struct pair *p, struct job *job)
{
	spoil_entry(p, 4096, TESSERA_BUFFER_VALID, 12, 4);
}

static void spoil_entry_size(struct pair *p, struct job *job)
{
	spoil_entry(p, 1ull << 63, TESSERA_BUFFER_VALID, 12, 0);
}

static void spoil_entry_beyond_ram(struct pair *p, struct job *job)
{
	spoil_entry(p, RAM_SIZE + 1ull, TESSERA_BUFFER_VALID, 12, 0);
}

static void spoil_entry_sram_end(struct pair *p, struct job *job)
{
	buffer_set(&p->m, SOURCE, (4 << 20) - 63, 64, TESSERA_BUFFER_VALID | TESSERA_BUFFER_SRAM,
		   0);
}

static void spoil_entry_sram_size(struct pair *p, struct job *job)
{
	buffer_set(&p->m, SOURCE, 0, (4 << 20) + 1, TESSERA_BUFFER_VALID | TESSERA_BUFFER_SRAM, 0);
}

static void spoil_entry_sram_page(struct pair *p, struct job *job)
{
	buffer_set(&p->m, SOURCE, 0, 64, TESSERA_BUFFER_VALID | TESSERA_BUFFER_SRAM, 12);
}

/* Gives SOURCE a second page. */
static void spoil_page(struct pair *p, uint64_t page, uint32_t flags, uint32_t shift)
{
	uint64_t pages[2] = { p->source, page };

	buffer_set(&p->m, SOURCE, table_create(&p->m, pages, 2), 2ull << shift,
		   TESSERA_BUFFER_VALID | flags, shift);
}

static void spoil_page_nowhere(struct pair *p, struct job *job)
{
	spoil_page(p, NOWHERE, 0, 12);
}

static void spoil_page_registers(struct pair *p, struct job *job)
{
	spoil_page(p, p->m.registers.addr, 0, 12);
}

static void spoil_page_sram(struct pair *p, struct job *job)
{
	spoil_page(p, p->m.sram.addr, 0, 12);
}

static void spoil_page_apic(struct pair *p, struct job *job)
{
	spoil_page(p, 0xfee00000, 0, 12);
}

static void spoil_page_misaligned(struct pair *p, struct job *job)
{
	spoil_page(p, p->source + 2048, 0, 12);
}

static void spoil_page_top(struct pair *p, struct job *job)
{
	spoil_page(p, -4096, 0, 12);
}

static void spoil_page_rom(struct pair *p, struct job *job)
{
	uint64_t page = ROM_ADDRESS;

	buffer_set(&p->m, SOURCE, table_create(&p->m, &page, 1), 4096,
		   TESSERA_BUFFER_VALID | TESSERA_BUFFER_WRITABLE, 12);
}

static void spoil_page_partly_rom(struct pair *p, struct job *job)
{
	uint64_t page = 0;

	/* 1 GiB from 0, of which 32 MiB are used: RAM, from 0xc0000 ROM, from 1 MiB RAM */
	buffer_set(&p->m, SOURCE, table_create(&p->m, &page, 1), 32 << 20,
		   TESSERA_BUFFER_VALID | TESSERA_BUFFER_WRITABLE, 30);
}

static void spoil_table_nowhere(struct pair *p, struct job *job)
{
	buffer_set(&p->m, SOURCE, NOWHERE, 8192, TESSERA_BUFFER_VALID, 12);
}

static void spoil_table_registers(struct pair *p, struct job *job)
{
	buffer_set(&p->m, SOURCE, p->m.registers.addr, 8192, TESSERA_BUFFER_VALID, 12);
}

static void spoil_table_end(struct pair *p, struct job *job)
{
	qtest_writeq(p->m.qts, RAM_SIZE - 8, p->source);
	buffer_set(&p->m, SOURCE, RAM_SIZE - 8, 8192, TESSERA_BUFFER_VALID, 12);
}

static void spoil_table_wrap(struct pair *p, struct job *job)
{
	buffer_set(&p->m, SOURCE, -8, 8192, TESSERA_BUFFER_VALID, 12);
}

static void spoil_index_buffer(struct pair *p, struct job *job)
{
	*job = job_gather(1, 0);
}

static void spoil_rank(struct pair *p, struct job *job)
{
	job->head.rank = DRM_TESSERA_MAX_RANK + 1;
}

static void spoil_no_operands(struct pair *p, struct job *job)
{
	job->head.num_operands = 0;
}

static void spoil_operands(struct pair *p, struct job *job)
{
	job->head.num_operands = DRM_TESSERA_MAX_OPERANDS + 1;
}

static void spoil_windows(struct pair *p, struct job *job)
{
	job->head.num_windows = DRM_TESSERA_MAX_WINDOWS + 1;
}

static void spoil_instructions(struct pair *p, struct job *job)
{
	job->head.num_instructions = DRM_TESSERA_MAX_INSTRUCTIONS + 1;
}

static void spoil_counts(struct pair *p, struct job *job)
{
	job->head.num_instructions = 0xffffffff;
}

static void spoil_dtype(struct pair *p, struct job *job)
{
	job->operands[SOURCE].dtype = 0x99;
}

static void spoil_operand_flags(struct pair *p, struct job *job)
{
	job->operands[SOURCE].flags = 2;
}

static void spoil_extent(struct pair *p, struct job *job)
{
	job->head.extents[1] = 1;
}

static void spoil_overflow(struct pair *p, struct job *job)
{
	job->operands[SOURCE].address.strides[0] = INT64_MAX;
}

#define DESCRIPTOR	DRM_TESSERA_CAUSE_DESCRIPTOR
#define BUFFER		DRM_TESSERA_CAUSE_BUFFER
#define TRANSLATION	DRM_TESSERA_CAUSE_TRANSLATION
#define BOUNDS		DRM_TESSERA_CAUSE_BOUNDS

static const struct fault_case fault_cases[] = {
	{ "a_source_past_its_buffer_faults", spoil_source_end, BOUNDS, 1, 8192 },
	{ "a_source_before_its_buffer_faults", spoil_source_start, BOUNDS, 1, -2 },
	{ "a_destination_past_its_buffer_faults", spoil_destination_end, BOUNDS, 0, 63 * 8192 },
	{ "a_skewed_job_faults", spoil_skew, BOUNDS, 0, 8192 + 4 },
	{ "an_index_at_its_limit_faults", spoil_index_limit, DRM_TESSERA_CAUSE_INDEX_LIMIT, 1, 77 },
	{ "a_negative_index_faults", spoil_index_negative, DRM_TESSERA_CAUSE_INDEX_LIMIT, 1, -3 },
	{ "an_index_out_of_the_buffer_faults", spoil_index_bounds, BOUNDS, 1, 8192 + 63 },
	{ "an_index_address_past_its_buffer_faults", spoil_index_address,
	  DRM_TESSERA_CAUSE_INDEX_BOUNDS, 1, 4096 },
	{ "a_store_to_a_read_only_buffer_faults", spoil_read_only,
	  DRM_TESSERA_CAUSE_PERMISSION, 0, 0 },

	{ "a_buffer_past_the_directory_faults", spoil_buffer_number, BUFFER, 1, 0 },
	{ "a_buffer_that_is_not_valid_faults", spoil_buffer_invalid, BUFFER, 1, 0 },
	{ "an_index_buffer_that_is_not_valid_faults", spoil_index_buffer, BUFFER, 1, 0 },
	{ "a_directory_in_nowhere_faults", spoil_directory, BUFFER, 0, 0 },
	{ "a_directory_that_wraps_around_faults", spoil_directory_wrap, BUFFER, 0, 0 },
	{ "unknown_flags_of_a_buffer_fault", spoil_entry_flags, BUFFER, 1, 0 },
	{ "a_reserved_member_of_a_buffer_faults", spoil_entry_reserved, BUFFER, 1, 0 },
	{ "a_page_below_4_kib_faults", spoil_entry_small_page, BUFFER, 1, 0 },
	{ "a_page_above_1_gib_faults", spoil_entry_large_page, BUFFER, 1, 0 },
	{ "a_page_shift_of_all_ones_faults", spoil_entry_huge_page_shift, BUFFER, 1, 0 },
	{ "a_misaligned_table_faults", spoil_entry_table, BUFFER, 1, 0 },
	{ "a_buffer_of_2_to_the_63_bytes_faults", spoil_entry_size, BUFFER, 1, 0 },
	{ "a_buffer_past_the_end_of_sram_faults", spoil_entry_sram_end, BUFFER, 1, 0 },
	{ "a_buffer_larger_than_sram_faults", spoil_entry_sram_size, BUFFER, 1, 0 },
	{ "sram_with_a_page_size_faults", spoil_entry_sram_page, BUFFER, 1, 0 },
	{ "a_buffer_larger_than_ram_faults", spoil_entry_beyond_ram,
	  DRM_TESSERA_CAUSE_MEMORY, 1, 0 },

	{ "a_page_in_nowhere_faults", spoil_page_nowhere, TRANSLATION, 1, 4096 },
	{ "a_page_in_the_registers_faults", spoil_page_registers, TRANSLATION, 1, 4096 },
	{ "a_page_in_the_sram_bar_faults", spoil_page_sram, TRANSLATION, 1, 4096 },
	{ "a_page_in_the_apic_faults", spoil_page_apic, TRANSLATION, 1, 4096 },
	{ "a_misaligned_page_faults", spoil_page_misaligned, TRANSLATION, 1, 4096 },
	{ "a_page_at_the_top_of_the_address_space_faults", spoil_page_top, TRANSLATION, 1, 4096 },
	{ "a_page_of_rom_in_a_writable_buffer_faults", spoil_page_rom, TRANSLATION, 1, 0 },
	{ "a_page_partly_of_rom_faults", spoil_page_partly_rom, TRANSLATION, 1, 0 },
	{ "a_table_in_nowhere_faults", spoil_table_nowhere, TRANSLATION, 1, 0 },
	{ "a_table_in_the_registers_faults", spoil_table_registers, TRANSLATION, 1, 0 },
	{ "a_table_past_the_end_of_ram_faults", spoil_table_end, TRANSLATION, 1, 0 },
	{ "a_table_that_wraps_around_faults", spoil_table_wrap, TRANSLATION, 1, 0 },

	{ "a_rank_over_the_limit_faults", spoil_rank, DESCRIPTOR, 0, 0 },
	{ "a_job_without_operands_faults", spoil_no_operands, DESCRIPTOR, 0, 0 },
	{ "operands_over_the_limit_fault", spoil_operands, DESCRIPTOR, 0, 0 },
	{ "windows_over_the_limit_fault", spoil_windows, DESCRIPTOR, 0, 0 },
	{ "instructions_over_the_limit_fault", spoil_instructions, DESCRIPTOR, 0, 0 },
	{ "a_count_of_all_ones_faults", spoil_counts, DESCRIPTOR, 0, 0 },
	{ "an_unknown_dtype_faults", spoil_dtype, DESCRIPTOR, 1, 0 },
	{ "unknown_flags_of_an_operand_fault", spoil_operand_flags, DESCRIPTOR, 1, 0 },
	{ "an_extent_beyond_the_rank_faults", spoil_extent, DESCRIPTOR, 0, 0 },
	{ "an_address_that_overflows_faults", spoil_overflow, DESCRIPTOR, 1, 0 },
};

static void job_faults(gconstpointer opaque)
{
	const struct fault_case *fault = opaque;
	struct job job = job_bytes(64);
	struct pair p;

	pair_start(&p, "x-test=on");
	fault->spoil(&p, &job);
	assert_fault(job_run(&p.m, &job), fault->cause, fault->operand, fault->offset);
	assert_untouched(&p);
	machine_stop(&p.m);
}

/* The same for what stands in the ring */
struct entry_case {
	const char *name;
	void (*spoil)(struct pair *p, struct tessera_hw_ring_entry *entry);
};

static void spoil_ring_flags(struct pair *p, struct tessera_hw_ring_entry *entry)
{
	entry->flags = 2;
}

static void spoil_ring_reserved(struct pair *p, struct tessera_hw_ring_entry *entry)
{
	entry->reserved[3] = 1;
}

static void spoil_ring_alignment(struct pair *p, struct tessera_hw_ring_entry *entry)
{
	entry->descriptor += 4;
}

static void spoil_ring_short(struct pair *p, struct tessera_hw_ring_entry *entry)
{
	entry->descriptor_size -= 8;
}

static void spoil_ring_long(struct pair *p, struct tessera_hw_ring_entry *entry)
{
	entry->descriptor_size += 8;
}

static void spoil_ring_tiny(struct pair *p, struct tessera_hw_ring_entry *entry)
{
	entry->descriptor_size = sizeof(struct tessera_hw_job) - 1;
}

static void spoil_ring_huge(struct pair *p, struct tessera_hw_ring_entry *entry)
{
	entry->descriptor_size = 0xfffffff8;
}

static void spoil_ring_nowhere(struct pair *p, struct tessera_hw_ring_entry *entry)
{
	entry->descriptor = NOWHERE;
}

static void spoil_ring_registers(struct pair *p, struct tessera_hw_ring_entry *entry)
{
	entry->descriptor = p->m.registers.addr;
}

static void spoil_ring_self(struct pair *p, struct tessera_hw_ring_entry *entry)
{
	entry->descriptor = p->m.queues[0].ring;
}

static void spoil_ring_wrap(struct pair *p, struct tessera_hw_ring_entry *entry)
{
	entry->descriptor = -8;
}

static const struct entry_case entry_cases[] = {
	{ "unknown_flags_of_an_entry_fault", spoil_ring_flags },
	{ "a_reserved_member_of_an_entry_faults", spoil_ring_reserved },
	{ "a_misaligned_descriptor_faults", spoil_ring_alignment },
	{ "a_descriptor_size_too_small_for_its_counts_faults", spoil_ring_short },
	{ "a_descriptor_size_too_large_for_its_counts_faults", spoil_ring_long },
	{ "a_descriptor_size_below_a_head_faults", spoil_ring_tiny },
	{ "a_descriptor_size_near_4_gib_faults", spoil_ring_huge },
	{ "a_descriptor_in_nowhere_faults", spoil_ring_nowhere },
	{ "a_descriptor_in_the_registers_faults", spoil_ring_registers },
	{ "a_descriptor_that_is_the_ring_faults", spoil_ring_self },
	{ "a_descriptor_that_wraps_around_faults", spoil_ring_wrap },
};

static void entry_faults(gconstpointer opaque)
{
	const struct entry_case *fault = opaque;
	struct tessera_hw_ring_entry entry = { .flags = 0 };
	struct job job = job_bytes(64);
	struct pair p;

	pair_start(&p, "");
	entry.descriptor = job_write(&p.m, &job, &entry.descriptor_size);
	fault->spoil(&p, &entry);
	entry_push(&p.m, 0, entry);
	doorbell(&p.m, 0);
	assert_fault(result_next(&p.m, 0), DRM_TESSERA_CAUSE_DESCRIPTOR, 0, 0);
	assert_untouched(&p);
	machine_stop(&p.m);
}

static void a_fault_does_not_stop_the_queue(void)
{
	struct job good = job_bytes(64), bad = job_bytes(64);
	struct pair p;

	pair_start(&p, "");
	bad.operands[SOURCE].address.offset = 8192;
	job_push(&p.m, 0, &bad, 0);
	job_push(&p.m, 0, &good, 0);
	doorbell(&p.m, 0);
	assert_fault(result_next(&p.m, 0), DRM_TESSERA_CAUSE_BOUNDS, 1, 8192 + 63);
	assert_success(result_next(&p.m, 0));
	assert_moved(&p, 64);
	machine_stop(&p.m);
}

static void a_fault_on_copies_leaves_memory_alone(void)
{
	struct job job = job_gather(2, 0);
	uint8_t before[8192], after[8192];
	uint64_t to, indices;
	struct machine m;

	machine_start(&m, ANONYMOUS, "");
	directory_create(&m);
	queue_create(&m, 0);
	to = scattered_create(&m, DESTINATION, 2, TESSERA_BUFFER_WRITABLE);
	scattered_create(&m, SOURCE, 2, 0);
	indices = buffer_create(&m, 2, 4096, 0);
	qtest_writel(m.qts, indices, 0);
	qtest_writel(m.qts, indices + 4, 1000);
	fill_pattern(before, sizeof(before));
	scattered_copy(&m, to, 2, before, true);
	assert_fault(job_run(&m, &job), DRM_TESSERA_CAUSE_BOUNDS, 1, 64063);
	scattered_copy(&m, to, 2, after, false);
	g_assert_cmpmem(after, sizeof(after), before, sizeof(before));
	machine_stop(&m);
}

/* Queues */

static void a_ring_wraps(void)
{
	struct job job = job_bytes(1);
	struct pair p;
	unsigned i;

	pair_start(&p, "");
	for (i = 0; i < 2 * RING_SIZE + 3; i++) {
		job.operands[DESTINATION].address.offset = i;
		job.operands[SOURCE].address.offset = i;
		assert_success(job_run(&p.m, &job));
	}
	assert_moved(&p, 2 * RING_SIZE + 3);
	machine_stop(&p.m);
}

static void one_doorbell_starts_a_whole_ring(void)
{
	struct job job = job_bytes(1);
	struct pair p;
	unsigned i;

	pair_start(&p, "");
	for (i = 0; i < RING_SIZE; i++) {
		job.operands[DESTINATION].address.offset = i;
		job.operands[SOURCE].address.offset = i;
		job_push(&p.m, 0, &job, 0);
	}
	doorbell(&p.m, 0);
	for (i = 0; i < RING_SIZE; i++)
		assert_success(result_next(&p.m, 0));
	assert_moved(&p, RING_SIZE);
	machine_stop(&p.m);
}

/* Each job copies the byte that the one before it stored. */
static void jobs_of_a_queue_see_what_those_before_stored(void)
{
	struct job job = job_bytes(1);
	uint8_t data[RING_SIZE + 1], expected[RING_SIZE + 1];
	struct pair p;
	unsigned i;

	pair_start(&p, "threads=8");
	qtest_writeb(p.m.qts, p.destination, 0x77);
	job.operands[SOURCE].buffer = DESTINATION;
	for (i = 0; i < RING_SIZE; i++) {
		job.operands[DESTINATION].address.offset = i + 1;
		job.operands[SOURCE].address.offset = i;
		job_push(&p.m, 0, &job, 0);
	}
	doorbell(&p.m, 0);
	for (i = 0; i < RING_SIZE; i++)
		assert_success(result_next(&p.m, 0));
	memset(expected, 0x77, sizeof(expected));
	qtest_memread(p.m.qts, p.destination, data, sizeof(data));
	g_assert_cmpmem(data, sizeof(data), expected, sizeof(expected));
	machine_stop(&p.m);
}

static void sixty_four_queues_all_run(void)
{
	struct job job = job_bytes(16);
	struct pair p;
	unsigned i;

	pair_start(&p, "queues=64,sram-size=0,threads=5");
	for (i = 1; i < TESSERA_MAX_QUEUES; i++)
		queue_create(&p.m, i);
	for (i = 0; i < TESSERA_MAX_QUEUES; i++) {
		job.operands[DESTINATION].address.offset = 16 * i;
		job.operands[SOURCE].address.offset = 16 * i;
		job_push(&p.m, i, &job, 0);
		doorbell(&p.m, i);
	}
	for (i = 0; i < TESSERA_MAX_QUEUES; i++)
		assert_success(result_next(&p.m, i));
	assert_moved(&p, 16 * TESSERA_MAX_QUEUES);
	machine_stop(&p.m);
}

static void a_doorbell_of_a_disabled_queue_is_ignored(void)
{
	struct pair p;

	pair_start(&p, "");
	set(&p.m, TESSERA_QUEUE(1) + TESSERA_QUEUE_TAIL, 1);
	g_assert_cmphex(get(&p.m, TESSERA_QUEUE(1) + TESSERA_QUEUE_TAIL), ==, 0);
	g_assert_cmphex(get(&p.m, TESSERA_QUEUE(1) + TESSERA_QUEUE_STATUS), ==, 0);
	machine_stop(&p.m);
}

static void assert_queue_fails(struct machine *m, uint32_t error)
{
	wait_for(m, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS,
		 TESSERA_QUEUE_STATUS_ERROR | TESSERA_QUEUE_STATUS_ERROR_MASK,
		 TESSERA_QUEUE_STATUS_ERROR | error);
}

static void a_tail_too_far_stops_the_queue(void)
{
	struct pair p;

	pair_start(&p, "");
	set(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_TAIL, RING_SIZE + 1);
	assert_queue_fails(&p.m, TESSERA_QUEUE_ERROR_TAIL);
	g_assert_cmpuint(get(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_HEAD), ==, 0);
	machine_stop(&p.m);
}

static void a_tail_behind_the_running_job_stops_the_queue(void)
{
	struct job job = job_bytes(1);
	struct pair p;

	pair_start(&p, "x-test=on");
	set(&p.m, TESSERA_REG_TEST_HANG, 1);
	job_push(&p.m, 0, &job, 0);
	doorbell(&p.m, 0);
	wait_for(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS, ~0u,
		 TESSERA_QUEUE_STATUS_ENABLED | TESSERA_QUEUE_STATUS_BUSY);
	set(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_TAIL, 0);
	assert_queue_fails(&p.m, TESSERA_QUEUE_ERROR_TAIL);
	machine_stop(&p.m);
}

static void a_queue_that_failed_works_after_it_was_disabled(void)
{
	struct pair p;

	pair_start(&p, "");
	set(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_TAIL, 0x80000000);
	assert_queue_fails(&p.m, TESSERA_QUEUE_ERROR_TAIL);
	queue_disable(&p.m, 0);
	queue_create(&p.m, 0);
	assert_works(&p);
	machine_stop(&p.m);
}

/* A queue with one address or size that does not serve: found when it is enabled or used */
struct queue_case {
	const char *name;
	uint32_t offset;
	uint64_t value;
	uint32_t error;
};

static const struct queue_case queue_cases[] = {
	{ "a_misaligned_ring_is_an_error", TESSERA_QUEUE_RING, RAM_START + 32,
	  TESSERA_QUEUE_ERROR_CONFIG },
	{ "a_ring_that_wraps_around_is_an_error", TESSERA_QUEUE_RING, -64,
	  TESSERA_QUEUE_ERROR_CONFIG },
	{ "a_ring_too_small_is_an_error", TESSERA_QUEUE_RING_SHIFT, TESSERA_RING_MIN_SHIFT - 1,
	  TESSERA_QUEUE_ERROR_CONFIG },
	{ "a_ring_too_large_is_an_error", TESSERA_QUEUE_RING_SHIFT, TESSERA_RING_MAX_SHIFT + 1,
	  TESSERA_QUEUE_ERROR_CONFIG },
	{ "a_ring_shift_of_all_ones_is_an_error", TESSERA_QUEUE_RING_SHIFT, 0xffffffff,
	  TESSERA_QUEUE_ERROR_CONFIG },
	{ "a_misaligned_completion_is_an_error", TESSERA_QUEUE_COMPLETION, RAM_START + 4,
	  TESSERA_QUEUE_ERROR_CONFIG },
	{ "misaligned_hints_are_an_error", TESSERA_QUEUE_HINTS, RAM_START + 8,
	  TESSERA_QUEUE_ERROR_CONFIG },
	{ "misaligned_results_are_an_error", TESSERA_QUEUE_RESULTS, RAM_START + 16,
	  TESSERA_QUEUE_ERROR_CONFIG },
	{ "a_ring_in_nowhere_is_an_error", TESSERA_QUEUE_RING, NOWHERE, TESSERA_QUEUE_ERROR_RING },
	{ "a_completion_in_nowhere_is_an_error", TESSERA_QUEUE_COMPLETION, NOWHERE,
	  TESSERA_QUEUE_ERROR_RESULT },
	{ "results_in_nowhere_are_an_error", TESSERA_QUEUE_RESULTS, NOWHERE,
	  TESSERA_QUEUE_ERROR_RESULT },
	{ "results_in_rom_are_an_error", TESSERA_QUEUE_RESULTS, ROM_ADDRESS,
	  TESSERA_QUEUE_ERROR_RESULT },
};

static void queue_fails(gconstpointer opaque)
{
	const struct queue_case *fault = opaque;
	struct job job = job_bytes(1);
	struct pair p;

	pair_start(&p, "");
	queue_disable(&p.m, 0);
	queue_configure(&p.m, 0);
	if (fault->offset == TESSERA_QUEUE_RING_SHIFT)
		set(&p.m, TESSERA_QUEUE(0) + fault->offset, fault->value);
	else
		set64(&p.m, TESSERA_QUEUE(0) + fault->offset, fault->value);
	set(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_CONTROL, TESSERA_QUEUE_ENABLE);
	job_push(&p.m, 0, &job, 0);
	doorbell(&p.m, 0);
	assert_queue_fails(&p.m, fault->error);
	g_assert_cmpuint(get(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_HEAD), ==, 0);
	machine_stop(&p.m);
}

static void results_in_the_registers_reach_no_register(void)
{
	struct job job = job_bytes(1);
	struct pair p;

	pair_start(&p, "");
	queue_disable(&p.m, 0);
	queue_configure(&p.m, 0);
	set64(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_RESULTS,
	      p.m.registers.addr + TESSERA_REG_BUFFERS);
	set(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_CONTROL, TESSERA_QUEUE_ENABLE);
	job_push(&p.m, 0, &job, 0);
	doorbell(&p.m, 0);
	assert_queue_fails(&p.m, TESSERA_QUEUE_ERROR_RESULT);
	g_assert_cmphex(get64(&p.m, TESSERA_REG_BUFFERS), ==, p.m.directory);
	machine_stop(&p.m);
}

static void without_bus_mastering_the_ring_cannot_be_read(void)
{
	struct job job = job_bytes(1);
	uint16_t command;
	struct pair p;

	pair_start(&p, "");
	assert_works(&p);
	command = qpci_config_readw(p.m.pci, PCI_COMMAND);
	qpci_config_writew(p.m.pci, PCI_COMMAND, command & ~PCI_COMMAND_MASTER);
	job_push(&p.m, 0, &job, 0);
	doorbell(&p.m, 0);
	assert_queue_fails(&p.m, TESSERA_QUEUE_ERROR_RING);
	qpci_config_writew(p.m.pci, PCI_COMMAND, command);
	queue_disable(&p.m, 0);
	queue_create(&p.m, 0);
	assert_works(&p);
	machine_stop(&p.m);
}

static void doorbells_and_interrupts_are_counted(void)
{
	struct job job = job_bytes(1);
	uint64_t q = TESSERA_QUEUE(0);
	struct pair p;

	pair_start(&p, "");
	job_push(&p.m, 0, &job, 0);
	job_push(&p.m, 0, &job, TESSERA_RING_INTERRUPT);
	doorbell(&p.m, 0);
	wait_for(&p.m, q + TESSERA_QUEUE_NUM_INTERRUPTS, ~0u, 1);
	g_assert_cmpuint(get(&p.m, q + TESSERA_QUEUE_NUM_DOORBELLS), ==, 1);
	queue_disable(&p.m, 0);
	queue_create(&p.m, 0);
	g_assert_cmpuint(get(&p.m, q + TESSERA_QUEUE_NUM_INTERRUPTS), ==, 0);
	g_assert_cmpuint(get(&p.m, q + TESSERA_QUEUE_NUM_DOORBELLS), ==, 0);
	machine_stop(&p.m);
}

/* Hints */

static void hints_start(struct pair *p)
{
	pair_start(p, "");
	queue_disable(&p->m, 0);
	p->m.queues[0].hints = allocate(&p->m, sizeof(struct tessera_hw_hints));
	qtest_memset(p->m.qts, p->m.queues[0].hints, 0, sizeof(struct tessera_hw_hints));
	queue_create(&p->m, 0);
}

static void hints_set_seen(struct pair *p, uint64_t sequence)
{
	qtest_writeq(p->m.qts, p->m.queues[0].hints + offsetof(struct tessera_hw_hints, seen),
		     sequence);
}

static void hints_set_tail(struct pair *p, uint32_t tail)
{
	qtest_writel(p->m.qts, p->m.queues[0].hints + offsetof(struct tessera_hw_hints, tail),
		     tail);
}

static void job_run_with_interrupt(struct pair *p)
{
	struct job job = job_bytes(1);

	job_push(&p->m, 0, &job, TESSERA_RING_INTERRUPT);
	doorbell(&p->m, 0);
	assert_success(result_next(&p->m, 0));
}

static void a_vector_is_raised_again_only_when_the_first_was_seen(void)
{
	uint64_t num_interrupts = TESSERA_QUEUE(0) + TESSERA_QUEUE_NUM_INTERRUPTS;
	struct pair p;

	hints_start(&p);
	job_run_with_interrupt(&p);
	wait_for(&p.m, num_interrupts, ~0u, 1);
	job_run_with_interrupt(&p);
	hints_set_seen(&p, sequence_of(0));
	job_run_with_interrupt(&p);
	/* Not 3: they are raised in order */
	wait_for(&p.m, num_interrupts, ~0u, 2);
	job_run_with_interrupt(&p);
	hints_set_seen(&p, sequence_of(3));
	job_run_with_interrupt(&p);
	wait_for(&p.m, num_interrupts, ~0u, 3);
	machine_stop(&p.m);
}

static void entries_told_of_in_passing_need_no_doorbell(void)
{
	struct job job = job_bytes(64);
	struct pair p;

	hints_start(&p);
	job_push(&p.m, 0, &job, 0);
	job_push(&p.m, 0, &job, 0);
	hints_set_tail(&p, 2);
	set(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_TAIL, 1);
	assert_success(result_next(&p.m, 0));
	assert_success(result_next(&p.m, 0));
	g_assert_cmpuint(get(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_NUM_DOORBELLS), ==, 1);
	machine_stop(&p.m);
}

static void a_tail_behind_is_not_taken(void)
{
	struct pair p;

	hints_start(&p);
	hints_set_tail(&p, 0);
	assert_works(&p);
	assert_works(&p);
	machine_stop(&p.m);
}

static void a_tail_for_which_the_ring_is_too_small_is_not_taken(void)
{
	struct pair p;

	hints_start(&p);
	hints_set_tail(&p, 3 * RING_SIZE);
	assert_works(&p);
	assert_works(&p);
	machine_stop(&p.m);
}

static void hints_that_are_not_in_ram_are_none(void)
{
	struct pair p;

	pair_start(&p, "");
	queue_disable(&p.m, 0);
	p.m.queues[0].hints = NOWHERE;
	queue_create(&p.m, 0);
	job_run_with_interrupt(&p);
	job_run_with_interrupt(&p);
	wait_for(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_NUM_INTERRUPTS, ~0u, 2);
	machine_stop(&p.m);
}

/* Buffers that change */

/* Puts another page, filled with 0x99, under the first of SOURCE. */
static void source_change(struct pair *p)
{
	uint64_t entry = p->m.directory + SOURCE * sizeof(struct tessera_hw_buffer);
	uint64_t table = qtest_readq(p->m.qts, entry), page = allocate(&p->m, 4096);

	qtest_memset(p->m.qts, page, 0x99, 4096);
	qtest_writeq(p->m.qts, table, page);
	memset(p->pattern, 0x99, 4096);
}

static void a_table_is_read_again_after_its_buffer_is_invalidated(void)
{
	struct pair p;

	pair_start(&p, "");
	assert_works(&p);
	source_change(&p);
	set(&p.m, TESSERA_REG_INVALIDATE, SOURCE);
	wait_for(&p.m, TESSERA_REG_INVALIDATE, ~0u, 0);
	assert_works(&p);
	machine_stop(&p.m);
}

static void a_table_is_read_again_after_all_are_invalidated(void)
{
	struct pair p;

	pair_start(&p, "");
	assert_works(&p);
	source_change(&p);
	set(&p.m, TESSERA_REG_INVALIDATE, TESSERA_INVALIDATE_ALL);
	assert_works(&p);
	machine_stop(&p.m);
}

static void a_table_is_read_again_after_the_directory_is_set(void)
{
	struct pair p;

	pair_start(&p, "");
	assert_works(&p);
	source_change(&p);
	set(&p.m, TESSERA_REG_NUM_BUFFERS, NUM_BUFFERS);
	assert_works(&p);
	machine_stop(&p.m);
}

static void a_table_is_read_again_after_it_faulted(void)
{
	struct job job = job_bytes(64);
	struct pair p;

	pair_start(&p, "");
	qtest_writeq(p.m.qts, qtest_readq(p.m.qts, p.m.directory + 32), NOWHERE);
	assert_fault(job_run(&p.m, &job), DRM_TESSERA_CAUSE_TRANSLATION, 1, 0);
	qtest_writeq(p.m.qts, qtest_readq(p.m.qts, p.m.directory + 32), p.source);
	assert_works(&p);
	machine_stop(&p.m);
}

static void invalidating_what_was_never_used_does_nothing(void)
{
	struct pair p;

	pair_start(&p, "");
	set(&p.m, TESSERA_REG_INVALIDATE, 5);
	set(&p.m, TESSERA_REG_INVALIDATE, 0x7fffffff);
	g_assert_cmpuint(get(&p.m, TESSERA_REG_INVALIDATE), ==, 0);
	machine_stop(&p.m);
}

static void a_running_job_keeps_what_is_invalidated(void)
{
	struct pair p;

	pair_start(&p, "");
	endless_start(&p, 0);
	set(&p.m, TESSERA_REG_INVALIDATE, SOURCE);
	g_assert_cmpuint(get(&p.m, TESSERA_REG_INVALIDATE), ==, 1);
	set(&p.m, TESSERA_REG_INVALIDATE, TESSERA_INVALIDATE_ALL);
	g_assert_cmpuint(get(&p.m, TESSERA_REG_INVALIDATE), ==, 2);
	queue_disable(&p.m, 0);
	g_assert_cmpuint(get(&p.m, TESSERA_REG_INVALIDATE), ==, 0);
	machine_stop(&p.m);
}

/* Stopping */

static void a_running_job_is_stopped_by_disabling_its_queue(void)
{
	struct pair p;

	pair_start(&p, "");
	endless_start(&p, 0);
	queue_disable(&p.m, 0);
	g_assert_cmphex(get(&p.m, TESSERA_REG_STATUS), ==, 0);
	queue_create(&p.m, 0);
	assert_works(&p);
	machine_stop(&p.m);
}

/* The window 0 <= 2 i - 2 j + 1 < 1 holds nowhere, which bounds alone do not show. */
static void a_job_that_moves_nothing_is_stopped_by_disabling_its_queue(void)
{
	struct job job = job_bytes(1ull << 31);
	struct pair p;

	job.head.rank = 2;
	job.head.extents[1] = 1ull << 31;
	job.head.num_windows = 1;
	job.windows[0].value.offset = 1;
	job.windows[0].value.strides[0] = 2;
	job.windows[0].value.strides[1] = -2;
	job.windows[0].limit = 1;
	job.operands[DESTINATION].address.strides[0] = 0;
	job.operands[DESTINATION].window_mask = 1;
	job.operands[SOURCE].address.strides[0] = 0;
	pair_start(&p, "");
	job_push(&p.m, 0, &job, 0);
	doorbell(&p.m, 0);
	wait_for(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS, ~0u,
		 TESSERA_QUEUE_STATUS_ENABLED | TESSERA_QUEUE_STATUS_BUSY);
	queue_disable(&p.m, 0);
	assert_untouched(&p);
	machine_stop(&p.m);
}

static void a_job_that_was_stopped_leaves_no_result(void)
{
	struct pair p;

	pair_start(&p, "");
	qtest_memset(p.m.qts, p.m.queues[0].results, 0xdd, sizeof(struct tessera_hw_result));
	qtest_writeq(p.m.qts, p.m.queues[0].completion, 0x1234);
	endless_start(&p, 0);
	queue_disable(&p.m, 0);
	g_assert_cmphex(qtest_readq(p.m.qts, p.m.queues[0].results), ==, 0xddddddddddddddddull);
	g_assert_cmphex(qtest_readq(p.m.qts, p.m.queues[0].completion), ==, 0x1234);
	machine_stop(&p.m);
}

static void other_queues_go_on_beside_an_endless_job(void)
{
	struct job job = job_bytes(64);
	struct pair p;

	pair_start(&p, "threads=2");
	queue_create(&p.m, 3);
	endless_start(&p, 0);
	job_push(&p.m, 3, &job, 0);
	doorbell(&p.m, 3);
	assert_success(result_next(&p.m, 3));
	machine_stop(&p.m);
}

static void machine_stops_beside_an_endless_job(void)
{
	struct pair p;

	pair_start(&p, "");
	endless_start(&p, 0);
	machine_stop(&p.m);
}

/* Starts a job that hangs on queue 0. */
static void hang_start(struct pair *p)
{
	struct job job = job_bytes(64);

	set(&p->m, TESSERA_REG_TEST_HANG, 1);
	job_push(&p->m, 0, &job, 0);
	doorbell(&p->m, 0);
	wait_for(&p->m, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS, ~0u,
		 TESSERA_QUEUE_STATUS_ENABLED | TESSERA_QUEUE_STATUS_BUSY);
	g_assert_cmpuint(get(&p->m, TESSERA_REG_TEST_HANG), ==, 0);
}

static void a_job_that_hangs_is_stopped_by_disabling_its_queue(void)
{
	struct pair p;

	pair_start(&p, "x-test=on");
	hang_start(&p);
	g_assert_cmpuint(get64(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_PROGRESS), ==, 0);
	queue_disable(&p.m, 0);
	assert_untouched(&p);
	queue_create(&p.m, 0);
	assert_works(&p);
	machine_stop(&p.m);
}

static void the_third_job_hangs(void)
{
	struct job job = job_bytes(64);
	struct pair p;
	unsigned i;

	pair_start(&p, "x-test=on");
	set(&p.m, TESSERA_REG_TEST_HANG, 3);
	for (i = 0; i < 4; i++)
		job_push(&p.m, 0, &job, 0);
	doorbell(&p.m, 0);
	wait_for(&p.m, TESSERA_REG_TEST_HANG, ~0u, 0);
	wait_for(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_HEAD, ~0u, 2);
	g_assert_cmphex(get(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS), ==,
			TESSERA_QUEUE_STATUS_ENABLED | TESSERA_QUEUE_STATUS_BUSY);
	machine_stop(&p.m);
}

static void a_job_that_hangs_takes_no_thread(void)
{
	struct job job = job_bytes(64);
	struct pair p;

	pair_start(&p, "x-test=on,threads=1");
	queue_create(&p.m, 1);
	hang_start(&p);
	job_push(&p.m, 1, &job, 0);
	doorbell(&p.m, 1);
	assert_success(result_next(&p.m, 1));
	machine_stop(&p.m);
}

static void a_skew_lasts_for_one_job(void)
{
	struct job job = job_bytes(64);
	uint8_t data[65], expected[65];
	struct pair p;

	pair_start(&p, "x-test=on");
	set(&p.m, TESSERA_REG_TEST_SKEW, 1);
	assert_success(job_run(&p.m, &job));
	g_assert_cmpuint(get(&p.m, TESSERA_REG_TEST_SKEW), ==, 0);
	qtest_memread(p.m.qts, p.destination, data, sizeof(data));
	expected[0] = 0xee;
	memcpy(expected + 1, p.pattern, 64);
	g_assert_cmpmem(data, sizeof(data), expected, sizeof(expected));
	assert_works(&p);
	machine_stop(&p.m);
}

static void a_device_is_unplugged_and_plugged(void)
{
	QTestState *qts;
	QPCIBus *bus;
	QPCIDevice *port;
	uint8_t capability;

	if (!qtest_has_device("pcie-root-port")) {
		g_test_skip("this QEMU has no slots");
		return;
	}
	qts = qtest_initf(MACHINE "-global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off "
			  "-bios %s -device pcie-root-port,id=root,addr=5.0,chassis=1 "
			  "-device tessera,bus=root,id=removed", firmware);
	bus = qpci_new_pc(qts, NULL);
	port = qpci_device_find(bus, QPCI_DEVFN(5, 0));
	g_assert_nonnull(port);
	capability = qpci_find_capability(port, PCI_CAP_ID_EXP, 0);
	qtest_qmp_device_del_send(qts, "removed");
	/* The guest turns the power of the slot off */
	qpci_config_writew(port, capability + PCI_EXP_SLTCTL,
			   PCI_EXP_SLTCTL_PWR_IND_OFF | PCI_EXP_SLTCTL_PWR_OFF);
	qtest_qmp_eventwait(qts, "DEVICE_DELETED");
	qtest_qmp_device_add(qts, "tessera", "again", "{ 'bus': 'root' }");
	g_free(port);
	qpci_free_pc(bus);
	qtest_quit(qts);
}

/* A doorbell storm: tails good and bad, in any order, while jobs run */
static void a_storm_of_doorbells_is_survived(void)
{
	struct job job = job_bytes(8192);
	struct pair p;
	unsigned i;

	pair_start(&p, "threads=4");
	for (i = 0; i < RING_SIZE; i++)
		job_push(&p.m, 0, &job, TESSERA_RING_INTERRUPT);
	for (i = 0; i < 3000; i++) {
		if (i % 64 == 63) {
			queue_disable(&p.m, 0);
			set(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_CONTROL, TESSERA_QUEUE_ENABLE);
		}
		if (i % 50 == 49)
			set(&p.m, TESSERA_REG_INVALIDATE, TESSERA_INVALIDATE_ALL);
		set(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_TAIL, i * 2654435761u >> (i % 29));
	}
	queue_disable(&p.m, 0);
	queue_create(&p.m, 0);
	p.m.queues[0].tail = 0;
	assert_works(&p);
	machine_stop(&p.m);
}

/* Random input: g_test_rand_int() begins at the seed that is printed, and --seed replays */

static uint64_t random_value(void)
{
	static const uint64_t values[] = {
		0, 1, -1, 2, 64, 255, 4095, 4096, 8191, 8192, 1ull << 31, 1ull << 32, 1ull << 62,
		INT64_MAX, 1ull << 63, NOWHERE, RAM_SIZE / 2, RAM_SIZE, ROM_ADDRESS,
		DRM_TESSERA_DTYPE_U16, DRM_TESSERA_DTYPE_F64, DRM_TESSERA_DTYPE_RAW128,
	};
	uint64_t value = values[g_test_rand_int_range(0, ARRAY_SIZE(values))];

	switch (g_test_rand_int_range(0, 4)) {
	case 0:
		return value + g_test_rand_int_range(-8, 9);
	case 1:
		return (uint64_t)(uint32_t)g_test_rand_int() << 32 | (uint32_t)g_test_rand_int();
	case 2:
		return g_test_rand_int_range(-16, 17);
	default:
		return value;
	}
}

/* Changes one of count words, as a whole or one of its halves. */
static void random_change(void *words, size_t count)
{
	uint64_t value = random_value();
	uint8_t *word = (uint8_t *)words + 8 * g_test_rand_int_range(0, count);

	if (g_test_rand_int_range(0, 2))
		stq_le_p(word, value);
	else
		stl_le_p(word + 4 * g_test_rand_int_range(0, 2), value);
}

static void random_job(struct pair *p, uint64_t table)
{
	struct job jobs[] = { job_bytes(64), job_gather(4, 0) };
	struct job job = jobs[g_test_rand_int_range(0, ARRAY_SIZE(jobs))];
	struct tessera_hw_buffer entry = {
		.table = cpu_to_le64(table),
		.size = cpu_to_le64(8192),
		.flags = cpu_to_le32(TESSERA_BUFFER_VALID),
		.page_shift = cpu_to_le32(TESSERA_PAGE_MIN_SHIFT),
	};
	uint64_t pages[2] = { p->source + 4096, p->source };
	uint64_t head = TESSERA_QUEUE(0) + TESSERA_QUEUE_HEAD;
	unsigned polls = 200, i;

	for (i = g_test_rand_int_range(0, 4); i; i--)
		random_change(&job, offsetof(struct job, operands[2]) / 8);
	if (!g_test_rand_int_range(0, 4))
		random_change(&entry, sizeof(entry) / 8);
	if (!g_test_rand_int_range(0, 4))
		random_change(pages, 2);
	qtest_memwrite(p->m.qts, table, pages, sizeof(pages));
	qtest_memwrite(p->m.qts, p->m.directory + SOURCE * sizeof(entry), &entry, sizeof(entry));
	set(&p->m, TESSERA_REG_INVALIDATE, SOURCE);
	job_push(&p->m, 0, &job, TESSERA_RING_INTERRUPT);
	doorbell(&p->m, 0);
	while (get(&p->m, head) != p->m.queues[0].tail && --polls)
		;
	g_assert_cmphex(get(&p->m, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS) &
			TESSERA_QUEUE_STATUS_ERROR, ==, 0);
	/* Some go on and on */
	if (!polls) {
		queue_disable(&p->m, 0);
		queue_create(&p->m, 0);
	}
}

static void random_jobs_store_in_their_destination_only(void)
{
	uint8_t guard[4096], data[4096];
	uint64_t before, after, table, mark;
	struct pair p;
	unsigned i;

	pair_start(&p, "");
	memset(guard, 0x5c, sizeof(guard));
	before = allocate(&p.m, 4096);
	p.destination = buffer_create(&p.m, DESTINATION, 4096, TESSERA_BUFFER_WRITABLE);
	g_assert_cmphex(p.destination, ==, before + 4096);
	/* The table stands behind the page; what is behind the table is the second guard */
	after = allocate(&p.m, 4096);
	buffer_create(&p.m, 2, 4096, 0);
	table = allocate(&p.m, 4096);
	qtest_memwrite(p.m.qts, before, guard, sizeof(guard));
	qtest_memwrite(p.m.qts, after, guard, sizeof(guard));
	mark = p.m.free;
	for (i = 0; i < 1500; i++) {
		p.m.free = mark;
		random_job(&p, table);
		qtest_memread(p.m.qts, before, data, sizeof(data));
		g_assert_cmpmem(data, sizeof(data), guard, sizeof(guard));
		qtest_memread(p.m.qts, after, data, sizeof(data));
		g_assert_cmpmem(data, sizeof(data), guard, sizeof(guard));
		qtest_memread(p.m.qts, p.source, data, sizeof(data));
		g_assert_cmpmem(data, sizeof(data), p.pattern, sizeof(data));
	}
	machine_stop(&p.m);
}

static void random_writes_to_registers_are_survived(void)
{
	struct job job = job_bytes(8192);
	uint32_t offset, size;
	uint64_t address;
	struct pair p;
	unsigned i;

	pair_start(&p, "x-test=on,queues=2,threads=3");
	address = job_write(&p.m, &job, &size);
	for (i = 0; i < RING_SIZE; i++) {
		struct tessera_hw_ring_entry entry = {
			.descriptor = cpu_to_le64(address),
			.descriptor_size = cpu_to_le32(size),
			.flags = cpu_to_le32(TESSERA_RING_INTERRUPT),
		};

		entry_push(&p.m, 0, entry);
	}
	for (i = 0; i < 6000; i++) {
		offset = 4 * g_test_rand_int_range(0, 0x4c / 4);
		if (g_test_rand_int_range(0, 4))
			offset += TESSERA_QUEUE(g_test_rand_int_range(0, 3));
		if (g_test_rand_int_range(0, 2))
			get(&p.m, offset);
		else
			set(&p.m, offset, random_value());
		if (i % 100 == 0) {
			directory_set(&p.m);
			queue_disable(&p.m, 0);
			queue_create(&p.m, 0);
		}
	}
	reset_by_register(&p.m);
	directory_set(&p.m);
	queue_create(&p.m, 0);
	assert_works(&p);
	machine_stop(&p.m);
}

static const struct test tests[] = {
	TEST(the_pci_function_is_a_processing_accelerator),
	TEST(registers_have_their_reset_values),
	TEST(read_only_registers_ignore_writes),
	TEST(reserved_bits_of_control_registers_read_as_zero),
	TEST(registers_beyond_the_last_queue_read_as_zero),
	TEST(an_access_of_eight_bytes_is_two_registers),
	TEST(addresses_keep_both_their_halves),
	TEST(queue_registers_are_fixed_while_it_is_enabled),
	TEST(the_number_of_buffers_is_capped),
	TEST(properties_set_queues_and_sram),
	TEST(a_device_is_unplugged_and_plugged),
	TEST(a_job_moves_nchw_to_nhwc),
	TEST(a_job_of_no_extent_does_nothing),
	TEST(a_window_that_does_not_hold_reads_fill),
	TEST(scattered_pages_of_a_shared_file_are_moved),
	TEST(many_scattered_pages_of_a_shared_file_are_moved),
	TEST(scattered_pages_of_private_memory_are_moved),
	TEST(mappings_are_limited_over_all_devices),
	TEST(a_job_on_copies_stores_zeros_and_ones),
	TEST(scattered_pages_of_a_shared_file_are_changed_in_place),
	TEST(scattered_pages_of_private_memory_are_changed_in_place),
	TEST(a_page_may_stand_in_a_buffer_twice),
	TEST(pages_may_be_larger_than_the_smallest),
	TEST(a_last_page_need_not_be_whole),
	TEST(jobs_read_and_write_sram),
	TEST(rom_can_be_read),
	TEST(an_indirect_job_gathers_rows),
	TEST(an_indirect_job_gathers_from_copies),
	TEST(a_buffer_in_very_many_pieces_is_moved),
	TEST(views_of_buffers_give_way_to_others),
	TEST(views_of_large_buffers_give_way_to_others),
	TEST(jobs_on_copies_wait_for_memory),
	TEST(a_job_that_waits_for_memory_is_stopped_by_disabling_its_queue),
	TEST(a_job_on_copies_that_needs_too_much_memory_faults),
	TEST(a_job_tells_how_long_it_took),
	TEST(a_fault_does_not_stop_the_queue),
	TEST(a_fault_on_copies_leaves_memory_alone),
	TEST(a_ring_wraps),
	TEST(one_doorbell_starts_a_whole_ring),
	TEST(jobs_of_a_queue_see_what_those_before_stored),
	TEST(sixty_four_queues_all_run),
	TEST(a_doorbell_of_a_disabled_queue_is_ignored),
	TEST(a_tail_too_far_stops_the_queue),
	TEST(a_tail_behind_the_running_job_stops_the_queue),
	TEST(a_queue_that_failed_works_after_it_was_disabled),
	TEST(results_in_the_registers_reach_no_register),
	TEST(without_bus_mastering_the_ring_cannot_be_read),
	TEST(a_storm_of_doorbells_is_survived),
	TEST(doorbells_and_interrupts_are_counted),
	TEST(a_vector_is_raised_again_only_when_the_first_was_seen),
	TEST(entries_told_of_in_passing_need_no_doorbell),
	TEST(a_tail_behind_is_not_taken),
	TEST(a_tail_for_which_the_ring_is_too_small_is_not_taken),
	TEST(hints_that_are_not_in_ram_are_none),
	TEST(a_small_job_of_known_buffers_needs_no_worker),
	TEST(a_job_that_is_small_but_for_its_windows_needs_a_worker),
	TEST(a_small_job_that_fails_tells_why),
	TEST(an_endless_job_of_known_buffers_leaves_its_doorbell),
	TEST(a_small_job_of_a_wide_destination_is_run),
	TEST(a_table_is_read_again_after_its_buffer_is_invalidated),
	TEST(a_table_is_read_again_after_all_are_invalidated),
	TEST(a_table_is_read_again_after_the_directory_is_set),
	TEST(a_table_is_read_again_after_it_faulted),
	TEST(invalidating_what_was_never_used_does_nothing),
	TEST(a_running_job_keeps_what_is_invalidated),
	TEST(a_running_job_is_stopped_by_disabling_its_queue),
	TEST(a_job_that_moves_nothing_is_stopped_by_disabling_its_queue),
	TEST(a_job_that_was_stopped_leaves_no_result),
	TEST(other_queues_go_on_beside_an_endless_job),
	TEST(machine_stops_beside_an_endless_job),
	TEST(a_job_that_hangs_is_stopped_by_disabling_its_queue),
	TEST(the_third_job_hangs),
	TEST(a_job_that_hangs_takes_no_thread),
	TEST(a_skew_lasts_for_one_job),
	TEST(random_jobs_store_in_their_destination_only),
	TEST(random_writes_to_registers_are_survived),
};

int main(int argc, char **argv)
{
	tests_init(&argc, &argv);
	tests_add("/tessera", tests, ARRAY_SIZE(tests));
	ADD_CASES("/tessera", refusals, machine_is_refused);
	ADD_CASES("/tessera", fault_cases, job_faults);
	ADD_CASES("/tessera", entry_cases, entry_faults);
	ADD_CASES("/tessera", queue_cases, queue_fails);
	return tests_run();
}
