/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu/osdep.h"
#include "harness.h"

/* Of a microvm: where the configuration of PCI functions is, and where their BARs can be */
#define MICROVM_ECAM		0xe0000000u
#define MICROVM_MMIO		0xc0000000u
#define MICROVM_MMIO_END	0xe0000000u

char *firmware;

/* The machine */

static void device_find(struct machine *m, unsigned slot)
{
	m->pci = qpci_device_find(m->bus, QPCI_DEVFN(slot, 0));
	g_assert_nonnull(m->pci);
	qpci_device_enable(m->pci);
	m->registers = qpci_iomap(m->pci, TESSERA_BAR_REGISTERS, NULL);
	if (qpci_config_readl(m->pci, PCI_BASE_ADDRESS_0 + 4 * TESSERA_BAR_SRAM))
		m->sram = qpci_iomap(m->pci, TESSERA_BAR_SRAM, NULL);
}

static void qemu_start(struct machine *m, const char *machine, const char *memory,
		       const char *properties)
{
	memset(m, 0, sizeof(*m));
	m->free = RAM_START;
	m->qts = qtest_initf("%s-bios %s %s-device tessera,addr=4.0%s%s", machine, firmware,
			     memory, *properties ? "," : "", properties);
}

void machine_start(struct machine *m, const char *memory, const char *properties)
{
	qemu_start(m, MACHINE, memory, properties);
	m->bus = qpci_new_pc(m->qts, NULL);
	device_find(m, FIRST_SLOT);
}

void microvm_start(struct machine *m, const char *memory, const char *properties)
{
	qemu_start(m, MICROVM, memory, properties);
	m->generic = g_new0(QGenericPCIBus, 1);
	qpci_init_generic(m->generic, m->qts, NULL, false);
	m->generic->ecam_alloc_ptr = MICROVM_ECAM;
	m->bus = &m->generic->bus;
	m->bus->mmio_alloc_ptr = MICROVM_MMIO;
	m->bus->mmio_limit = MICROVM_MMIO_END;
	device_find(m, FIRST_SLOT);
}

void machine_stop(struct machine *m)
{
	g_free(m->pci);
	if (m->generic)
		g_free(m->generic);
	else
		qpci_free_pc(m->bus);
	qtest_quit(m->qts);
}

uint32_t get(struct machine *m, uint64_t offset)
{
	return qpci_io_readl(m->pci, m->registers, offset);
}

void set(struct machine *m, uint64_t offset, uint32_t value)
{
	qpci_io_writel(m->pci, m->registers, offset, value);
}

uint64_t get64(struct machine *m, uint64_t offset)
{
	return get(m, offset) | (uint64_t)get(m, offset + 4) << 32;
}

void set64(struct machine *m, uint64_t offset, uint64_t value)
{
	set(m, offset, value);
	set(m, offset + 4, value >> 32);
}

void wait_for(struct machine *m, uint64_t offset, uint32_t mask, uint32_t value)
{
	int64_t deadline = g_get_monotonic_time() + PATIENCE;
	uint32_t now;

	while (((now = get(m, offset)) & mask) != value) {
		if (g_get_monotonic_time() < deadline)
			continue;
		g_error("register 0x%" PRIx64 " is 0x%x and does not become 0x%x", offset, now,
			value);
	}
}

uint64_t allocate(struct machine *m, uint64_t size)
{
	uint64_t address = m->free;

	m->free += ROUND_UP(size, 4096);
	g_assert_cmphex(m->free, <=, RAM_SIZE);
	return address;
}

/* Buffers */

void buffer_set(struct machine *m, uint32_t index, uint64_t table, uint64_t size,
		uint32_t flags, uint32_t page_shift)
{
	struct tessera_hw_buffer entry = {
		.table = cpu_to_le64(table),
		.size = cpu_to_le64(size),
		.flags = cpu_to_le32(flags),
		.page_shift = cpu_to_le32(page_shift),
	};

	qtest_memwrite(m->qts, m->directory + index * sizeof(entry), &entry, sizeof(entry));
}

uint64_t table_create(struct machine *m, const uint64_t *pages, unsigned count)
{
	uint64_t table = allocate(m, count * sizeof(uint64_t));
	unsigned i;

	for (i = 0; i < count; i++)
		qtest_writeq(m->qts, table + i * sizeof(uint64_t), pages[i]);
	return table;
}

uint64_t buffer_create(struct machine *m, uint32_t index, uint64_t size, uint32_t flags)
{
	unsigned count = DIV_ROUND_UP(size, 4096), i;
	uint64_t address = allocate(m, size);
	g_autofree uint64_t *pages = g_new(uint64_t, count);

	for (i = 0; i < count; i++)
		pages[i] = address + i * 4096ull;
	buffer_set(m, index, table_create(m, pages, count), size, TESSERA_BUFFER_VALID | flags,
		   TESSERA_PAGE_MIN_SHIFT);
	return address;
}

uint64_t scattered_create(struct machine *m, uint32_t index, unsigned count, uint32_t flags)
{
	uint64_t address = allocate(m, count * 4096ull);
	g_autofree uint64_t *pages = g_new(uint64_t, count);
	unsigned i;

	for (i = 0; i < count; i++)
		pages[i] = address + (count - 1 - i) * 4096ull;
	buffer_set(m, index, table_create(m, pages, count), count * 4096ull,
		   TESSERA_BUFFER_VALID | flags, TESSERA_PAGE_MIN_SHIFT);
	return address;
}

void scattered_copy(struct machine *m, uint64_t address, unsigned count, uint8_t *data,
		    bool is_write)
{
	unsigned i;

	for (i = 0; i < count; i++, data += 4096) {
		uint64_t page = address + (count - 1 - i) * 4096ull;

		if (is_write)
			qtest_memwrite(m->qts, page, data, 4096);
		else
			qtest_memread(m->qts, page, data, 4096);
	}
}

void buffer_of_two_pages(struct machine *m, uint32_t index, unsigned count, uint64_t pages,
			 uint32_t flags)
{
	g_autofree uint64_t *table = g_new(uint64_t, count);
	uint64_t address = allocate(m, count * sizeof(*table));
	unsigned i;

	for (i = 0; i < count; i++)
		table[i] = cpu_to_le64(pages + i % 2 * 8192);
	qtest_memwrite(m->qts, address, table, count * sizeof(*table));
	buffer_set(m, index, address, count * 4096ull, TESSERA_BUFFER_VALID | flags, 12);
}

void directory_create(struct machine *m)
{
	m->directory = allocate(m, NUM_BUFFERS * sizeof(struct tessera_hw_buffer));
	qtest_memset(m->qts, m->directory, 0, NUM_BUFFERS * sizeof(struct tessera_hw_buffer));
	directory_set(m);
}

void directory_set(struct machine *m)
{
	set64(m, TESSERA_REG_BUFFERS, m->directory);
	set(m, TESSERA_REG_NUM_BUFFERS, NUM_BUFFERS);
}

/* Queues */

void queue_configure(struct machine *m, unsigned index)
{
	struct queue *q = &m->queues[index];
	uint64_t base = TESSERA_QUEUE(index);

	if (!q->ring) {
		q->ring = allocate(m, RING_SIZE * sizeof(struct tessera_hw_ring_entry));
		q->results = allocate(m, RING_SIZE * sizeof(struct tessera_hw_result));
		q->completion = allocate(m, sizeof(uint64_t));
	}
	q->tail = 0;
	q->read = 0;
	set64(m, base + TESSERA_QUEUE_RING, q->ring);
	set64(m, base + TESSERA_QUEUE_RESULTS, q->results);
	set64(m, base + TESSERA_QUEUE_COMPLETION, q->completion);
	set64(m, base + TESSERA_QUEUE_HINTS, q->hints);
	set(m, base + TESSERA_QUEUE_RING_SHIFT, RING_SHIFT);
}

void queue_create(struct machine *m, unsigned index)
{
	queue_configure(m, index);
	set(m, TESSERA_QUEUE(index) + TESSERA_QUEUE_CONTROL, TESSERA_QUEUE_ENABLE);
	g_assert_cmphex(get(m, TESSERA_QUEUE(index) + TESSERA_QUEUE_STATUS), ==,
			TESSERA_QUEUE_STATUS_ENABLED);
}

void queue_disable(struct machine *m, unsigned index)
{
	set(m, TESSERA_QUEUE(index) + TESSERA_QUEUE_CONTROL, 0);
	wait_for(m, TESSERA_QUEUE(index) + TESSERA_QUEUE_STATUS, ~0u, 0);
}

uint64_t sequence_of(uint32_t entry)
{
	return 0x1122334400000001ull + entry;
}

uint64_t job_write(struct machine *m, const struct job *job, uint32_t *size)
{
	uint32_t operands = MIN(job->head.num_operands, DRM_TESSERA_MAX_OPERANDS);
	uint64_t address = allocate(m, 4096);

	*size = sizeof(job->head);
	qtest_memwrite(m->qts, address, &job->head, sizeof(job->head));
	qtest_memwrite(m->qts, address + *size, job->operands, operands * sizeof(job->operands[0]));
	*size += operands * sizeof(job->operands[0]);
	if (job->head.num_windows == 1) {
		qtest_memwrite(m->qts, address + *size, job->windows, sizeof(job->windows[0]));
		*size += sizeof(job->windows[0]);
	}
	if (job->head.num_instructions == 1) {
		qtest_memwrite(m->qts, address + *size, job->program, sizeof(job->program[0]));
		*size += sizeof(job->program[0]);
	}
	return address;
}

void entry_push(struct machine *m, unsigned queue, struct tessera_hw_ring_entry entry)
{
	struct queue *q = &m->queues[queue];

	entry.sequence = cpu_to_le64(sequence_of(q->tail));
	qtest_memwrite(m->qts, q->ring + q->tail % RING_SIZE * sizeof(entry), &entry,
		       sizeof(entry));
	q->tail++;
}

void job_push(struct machine *m, unsigned queue, const struct job *job, uint32_t flags)
{
	struct tessera_hw_ring_entry entry = { .flags = cpu_to_le32(flags) };
	uint32_t size;

	entry.descriptor = cpu_to_le64(job_write(m, job, &size));
	entry.descriptor_size = cpu_to_le32(size);
	entry_push(m, queue, entry);
}

void doorbell(struct machine *m, unsigned queue)
{
	set(m, TESSERA_QUEUE(queue) + TESSERA_QUEUE_TAIL, m->queues[queue].tail);
}

struct tessera_hw_result result_next(struct machine *m, unsigned queue)
{
	struct queue *q = &m->queues[queue];
	struct tessera_hw_result result;

	wait_for(m, TESSERA_QUEUE(queue) + TESSERA_QUEUE_HEAD, ~0u, q->tail);
	g_assert_cmphex(qtest_readq(m->qts, q->completion), ==, sequence_of(q->tail - 1));
	qtest_memread(m->qts, q->results + q->read % RING_SIZE * sizeof(result), &result,
		      sizeof(result));
	g_assert_cmphex(result.sequence, ==, sequence_of(q->read));
	q->read++;
	return result;
}

struct tessera_hw_result job_run(struct machine *m, const struct job *job)
{
	job_push(m, 0, job, 0);
	doorbell(m, 0);
	return result_next(m, 0);
}

void assert_success(struct tessera_hw_result result)
{
	g_assert_cmpuint(result.cause, ==, DRM_TESSERA_CAUSE_NONE);
	g_assert_cmpuint(result.operand, ==, 0);
	g_assert_cmpint(result.offset, ==, 0);
}

void assert_fault(struct tessera_hw_result result, uint32_t cause, uint32_t operand,
		  int64_t offset)
{
	g_assert_cmpuint(result.cause, ==, cause);
	g_assert_cmpuint(result.operand, ==, operand);
	g_assert_cmpint((int64_t)result.offset, ==, offset);
}

/* Interrupts */

static uint8_t msix_capability(struct machine *m)
{
	return qpci_find_capability(m->pci, PCI_CAP_ID_MSIX, 0);
}

void msix_enable(struct machine *m, unsigned count)
{
	unsigned i;

	if (!m->msix.addr)
		m->msix = qpci_iomap(m->pci, TESSERA_BAR_MSIX, NULL);
	if (!m->messages)
		m->messages = allocate(m, 4096);
	qtest_memset(m->qts, m->messages, 0, 4096);
	for (i = 0; i < count; i++) {
		uint64_t entry = i * PCI_MSIX_ENTRY_SIZE;

		qpci_io_writel(m->pci, m->msix, entry + PCI_MSIX_ENTRY_LOWER_ADDR,
			       m->messages + 4 * i);
		qpci_io_writel(m->pci, m->msix, entry + PCI_MSIX_ENTRY_UPPER_ADDR, 0);
		qpci_io_writel(m->pci, m->msix, entry + PCI_MSIX_ENTRY_DATA, MESSAGE(i));
		qpci_io_writel(m->pci, m->msix, entry + PCI_MSIX_ENTRY_VECTOR_CTRL, 0);
	}
	qpci_config_writew(m->pci, msix_capability(m) + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE);
}

uint32_t msix_pending(struct machine *m)
{
	uint32_t place = qpci_config_readl(m->pci, msix_capability(m) + PCI_MSIX_PBA);

	return qpci_io_readl(m->pci, m->msix, place & ~PCI_MSIX_FLAGS_BIRMASK);
}

uint32_t message_get(struct machine *m, unsigned vector)
{
	return qtest_readl(m->qts, m->messages + 4 * vector);
}

void message_clear(struct machine *m, unsigned vector)
{
	qtest_writel(m->qts, m->messages + 4 * vector, 0);
}

void message_wait(struct machine *m, unsigned vector)
{
	int64_t deadline = g_get_monotonic_time() + PATIENCE;

	while (message_get(m, vector) != MESSAGE(vector))
		g_assert_cmpint(g_get_monotonic_time(), <, deadline);
}

/* Resets */

void reset_by_register(struct machine *m)
{
	set(m, TESSERA_REG_CONTROL, TESSERA_CONTROL_RESET);
	wait_for(m, TESSERA_REG_CONTROL, ~0u, 0);
}

void function_level_reset(struct machine *m)
{
	uint8_t capability = qpci_find_capability(m->pci, PCI_CAP_ID_EXP, 0);

	g_assert_cmphex(qpci_config_readl(m->pci, capability + PCI_EXP_DEVCAP) &
			PCI_EXP_DEVCAP_FLR, !=, 0);
	qpci_config_writew(m->pci, capability + PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_BCR_FLR);
}

static void bar_write(struct machine *m, unsigned bar, uint64_t address)
{
	qpci_config_writel(m->pci, PCI_BASE_ADDRESS_0 + 4 * bar, address);
}

void function_configure(struct machine *m)
{
	bar_write(m, TESSERA_BAR_REGISTERS, m->registers.addr);
	bar_write(m, TESSERA_BAR_SRAM, m->sram.addr);
	bar_write(m, TESSERA_BAR_SRAM + 1, m->sram.addr >> 32);
	bar_write(m, TESSERA_BAR_MSIX, m->msix.addr);
	qpci_config_writew(m->pci, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
}

void reset_function(struct machine *m)
{
	function_level_reset(m);
	function_configure(m);
}

void reset_system(struct machine *m)
{
	qtest_system_reset(m->qts);
	function_configure(m);
}

/* Jobs: all test machines are little endian, as are the hosts this runs on, by the next line. */
QEMU_BUILD_BUG_ON(HOST_BIG_ENDIAN);

struct job job_bytes(uint64_t count)
{
	return (struct job) {
		.head = { .rank = 1, .num_operands = 2, .extents = { count } },
		.operands = {
			[DESTINATION] = { .buffer = DESTINATION, .dtype = DRM_TESSERA_DTYPE_RAW8,
					  .address.strides = { 1 } },
			[SOURCE] = { .buffer = SOURCE, .dtype = DRM_TESSERA_DTYPE_RAW8,
				     .address.strides = { 1 } },
		},
	};
}

struct job job_endless(void)
{
	struct job job = job_bytes(FOREVER);

	job.operands[DESTINATION].address.strides[0] = 0;
	job.operands[SOURCE].address.strides[0] = 0;
	return job;
}

struct job job_gather(uint64_t rows, uint64_t index_limit)
{
	struct job job = job_bytes(0);

	job.head.rank = 2;
	job.head.extents[0] = rows;
	job.head.extents[1] = 64;
	job.operands[DESTINATION].address.strides[0] = 64;
	job.operands[DESTINATION].address.strides[1] = 1;
	job.operands[SOURCE].flags = DRM_TESSERA_OPERAND_INDIRECT;
	job.operands[SOURCE].address.strides[0] = 0;
	job.operands[SOURCE].address.strides[1] = 1;
	job.operands[SOURCE].index_buffer = 2;
	job.operands[SOURCE].index_dtype = DRM_TESSERA_DTYPE_I32;
	job.operands[SOURCE].index_address.strides[0] = 4;
	job.operands[SOURCE].index_stride = 64;
	job.operands[SOURCE].index_limit = index_limit;
	return job;
}

uint32_t word(const uint8_t *data)
{
	return ldl_le_p(data);
}

void fill_pattern(uint8_t *data, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		data[i] = i * 7 + i / 251 + 1;
}

void pair_create(struct pair *p)
{
	directory_create(&p->m);
	queue_create(&p->m, 0);
	p->destination = buffer_create(&p->m, DESTINATION, 8192, TESSERA_BUFFER_WRITABLE);
	p->source = buffer_create(&p->m, SOURCE, 8192, 0);
	fill_pattern(p->pattern, sizeof(p->pattern));
	qtest_memset(p->m.qts, p->destination, 0xee, 8192);
	qtest_memwrite(p->m.qts, p->source, p->pattern, 8192);
}

void pair_start(struct pair *p, const char *properties)
{
	machine_start(&p->m, MEMFD, properties);
	pair_create(p);
}

void devices_start(struct pair *pairs, const char *memory)
{
	g_autofree char *devices = g_strconcat(memory, "-device tessera,addr=5.0 "
					       "-device tessera,addr=6.0 "
					       "-device tessera,addr=7.0 ", NULL);
	unsigned i;

	machine_start(&pairs[0].m, devices, "");
	for (i = 1; i < NUM_DEVICES; i++) {
		pairs[i].m = pairs[0].m;
		device_find(&pairs[i].m, FIRST_SLOT + i);
	}
	for (i = 0; i < NUM_DEVICES; i++) {
		pairs[i].m.free = (16 + 8 * i) << 20;
		pair_create(&pairs[i]);
	}
}

void devices_stop(struct pair *pairs)
{
	unsigned i;

	for (i = 1; i < NUM_DEVICES; i++)
		g_free(pairs[i].m.pci);
	machine_stop(&pairs[0].m);
}

void assert_untouched(struct pair *p)
{
	uint8_t data[8192], expected[8192];

	memset(expected, 0xee, sizeof(expected));
	qtest_memread(p->m.qts, p->destination, data, sizeof(data));
	g_assert_cmpmem(data, sizeof(data), expected, sizeof(expected));
}

void assert_moved(struct pair *p, size_t size)
{
	uint8_t data[8192], expected[8192];

	memset(expected, 0xee, sizeof(expected));
	memcpy(expected, p->pattern, size);
	qtest_memread(p->m.qts, p->destination, data, sizeof(data));
	g_assert_cmpmem(data, sizeof(data), expected, sizeof(expected));
}

void endless_start(struct pair *p, unsigned queue)
{
	uint64_t q = TESSERA_QUEUE(queue);
	struct job job = job_endless();
	int64_t deadline = g_get_monotonic_time() + PATIENCE;
	uint64_t progress;

	job_push(&p->m, queue, &job, 0);
	doorbell(&p->m, queue);
	/* The look at the two tables is some progress, too */
	progress = get64(&p->m, q + TESSERA_QUEUE_PROGRESS);
	while (get64(&p->m, q + TESSERA_QUEUE_PROGRESS) < progress + 1000)
		g_assert_cmpint(g_get_monotonic_time(), <, deadline);
	g_assert_cmphex(get(&p->m, q + TESSERA_QUEUE_STATUS), ==,
			TESSERA_QUEUE_STATUS_ENABLED | TESSERA_QUEUE_STATUS_BUSY);
	g_assert_cmphex(get(&p->m, TESSERA_REG_STATUS), ==, TESSERA_STATUS_BUSY);
}

void assert_works(struct pair *p)
{
	struct job job = job_bytes(8192);

	qtest_memset(p->m.qts, p->destination, 0xee, 8192);
	assert_success(job_run(&p->m, &job));
	assert_moved(p, 8192);
}

/* Tests */

static void firmware_create(void)
{
	g_autofree char *rom = g_malloc0(1 << 16);
	g_autoptr(GError) error = NULL;
	int fd = g_file_open_tmp("tessera-test-XXXXXX", &firmware, &error);

	g_assert_no_error(error);
	close(fd);
	fill_pattern((uint8_t *)rom, 1 << 16);
	g_file_set_contents(firmware, rom, 1 << 16, &error);
	g_assert_no_error(error);
}

void tests_init(int *argc, char ***argv)
{
	g_test_init(argc, argv, NULL);
	firmware_create();
}

void tests_add(const char *group, const struct test *tests, unsigned count)
{
	unsigned i;

	for (i = 0; i < count; i++) {
		g_autofree char *path = g_strdup_printf("%s/%s", group, tests[i].name);

		g_test_add_func(path, tests[i].function);
	}
}

int tests_run(void)
{
	int ret = g_test_run();

	unlink(firmware);
	g_free(firmware);
	return ret;
}
