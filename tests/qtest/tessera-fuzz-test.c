/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes the device's registers, rings, descriptors, directory and tables. What a round does is
 * made from a seed before anything is done, and never depends on what the device answers, so that a
 * round is the same each time, up to the order in which the device's threads run. A round begins
 * with a reset and ends with one, after which a job must do what it should. That nothing else is
 * wrong is for a QEMU with sanitizers (qemu/build --sanitize) to say.
 *
 *	tessera-fuzz-test [--seed SEED] [--count OPERATIONS] [--first ROUND] [--log FILE] [FILE]...
 *
 * A line of a file is an operation. Of each round, --log keeps what it did, so that when QEMU dies
 * the file is what killed it; files are run as they are, instead of rounds. Without arguments the
 * files in tests/qtest/corpus are run first.
 *
 * Guest RAM is a file that is mapped here as well, and is written without asking QEMU.
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "harness.h"

#define ROUND_OPERATIONS	1000
#define DEFAULT_COUNT		400000
#define CORPUS			"tests/qtest/corpus"

/* Where in guest RAM is what; each thing has a place of its own for each index */
#define PLACE_DIRECTORY		0x100000u
#define PLACE_QUEUE(q)		(0x200000u + 0x10000u * (q))	/* ring, then the rest */
#define PLACE_RESULTS(q)	(PLACE_QUEUE(q) + 0x4000u)
#define PLACE_COMPLETION(q)	(PLACE_QUEUE(q) + 0x8000u)
#define PLACE_HINTS(q)		(PLACE_QUEUE(q) + 0x9000u)
#define PLACE_TABLE(buffer)	(0x300000u + 0x1000u * (buffer))
#define PLACE_DESCRIPTOR(n)	(0x400000u + 0x1000u * (n))
#define PLACE_PAGES		0x800000u
#define PLACES_END		0x1000000u
#define NUM_QUEUES		4
#define NUM_DESCRIPTORS		8
#define NUM_TABLES		8
#define TABLE_PAGES		8
#define PAGE			4096u

enum kind { SET, GET, MEMORY, CONFIG, MSIX, SRAM, NUM_KINDS };

static const char *const kind_names[NUM_KINDS] = {
	"set", "get", "memory", "config", "msix", "sram",
};

/* A value of 32 bits, of 64 in memory, of 16 in the configuration */
struct operation {
	enum kind kind;
	uint32_t address;
	uint64_t value;
};

struct fuzzer {
	struct machine m;
	uint8_t *ram;
	uint32_t bars[6];
	GRand *random;
	GArray *operations;
	uint8_t express;		/* where in the configuration its capabilities are */
	uint8_t msix;
};

static uint64_t count = DEFAULT_COUNT;
static uint64_t first_round;
static const char *log_path;
static char **files;

/* Where a round began, for who wants to see it again */
static uint64_t current_round;

static void tell_round(int signal_number)
{
	char text[96];
	int length = snprintf(text, sizeof(text), "# in round %" PRIu64 ": with the seed above, "
			      "--first %" PRIu64 " --count 1\n", current_round, current_round);

	if (write(STDERR_FILENO, text, length) < 0)
		_exit(1);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

/* Doing */

static void operation_do(struct fuzzer *f, const struct operation *o)
{
	struct machine *m = &f->m;

	switch (o->kind) {
	case SET:
		set(m, o->address, o->value);
		break;
	case GET:
		get(m, o->address);
		break;
	case MEMORY:
		qatomic_set((uint64_t *)(f->ram + o->address), o->value);
		break;
	case CONFIG:
		qpci_config_writew(m->pci, o->address, o->value);
		break;
	case MSIX:
		qpci_io_writel(m->pci, m->msix, o->address, o->value);
		break;
	case SRAM:
		qpci_io_writel(m->pci, m->sram, o->address, o->value);
		break;
	default:
		g_assert_not_reached();
	}
}

/* Only what leaves the function where it is: what it decodes is the machine's to move. */
static bool operation_is_allowed(const struct fuzzer *f, const struct operation *o)
{
	switch (o->kind) {
	case SET:
	case GET:
		return o->address < TESSERA_QUEUE(NUM_QUEUES + 1) && !(o->address % 4);
	case MEMORY:
		return o->address < PLACES_END && !(o->address % 8);
	case CONFIG:
		return o->address == f->msix + PCI_MSIX_FLAGS ||
		       o->address == f->express + PCI_EXP_DEVCTL ||
		       (o->address == PCI_COMMAND && (o->value & PCI_COMMAND_MEMORY));
	case MSIX:
		return o->address < (NUM_QUEUES + 1) * PCI_MSIX_ENTRY_SIZE && !(o->address % 4);
	case SRAM:
		return o->address < 4 << 20 && !(o->address % 4);
	default:
		return false;
	}
}

/* Making: lists of operations */

static uint32_t below(struct fuzzer *f, uint32_t limit)
{
	return g_rand_int_range(f->random, 0, limit);
}

static bool one_in(struct fuzzer *f, uint32_t n)
{
	return !below(f, n);
}

static void add(struct fuzzer *f, enum kind kind, uint32_t address, uint64_t value)
{
	struct operation o = { .kind = kind, .address = address, .value = value };

	g_array_append_val(f->operations, o);
}

static void add_set64(struct fuzzer *f, uint32_t offset, uint64_t value)
{
	add(f, SET, offset, (uint32_t)value);
	add(f, SET, offset + 4, value >> 32);
}

/* Whole words of what is written, as it lies in memory */
static void add_memory(struct fuzzer *f, uint32_t address, const void *data, size_t size)
{
	const uint8_t *bytes = data;
	size_t i;

	for (i = 0; i < size; i += 8)
		add(f, MEMORY, address + i, ldq_le_p(bytes + i));
}

static uint64_t random_value(struct fuzzer *f)
{
	const uint64_t values[] = {
		0, 1, -1, 2, 8, 63, 64, 255, 4095, 4096, 8192, 1ull << 31, 1ull << 32, 1ull << 62,
		INT64_MAX, 1ull << 63, NOWHERE, RAM_SIZE - 8, RAM_SIZE, ROM_ADDRESS, 0xfee00000,
		f->m.registers.addr, f->m.sram.addr, f->m.msix.addr, PLACE_DIRECTORY,
		PLACE_QUEUE(0), PLACE_RESULTS(1), PLACE_TABLE(1), PLACE_DESCRIPTOR(2), PLACE_PAGES,
	};
	uint64_t value = values[below(f, ARRAY_SIZE(values))];

	switch (below(f, 6)) {
	case 0:
		return value + below(f, 17) - 8;
	case 1:
		return (uint64_t)g_rand_int(f->random) << 32 | g_rand_int(f->random);
	case 2:
		return below(f, 33) - 16ll;
	case 3:
		return 1ull << below(f, 64);
	default:
		return value;
	}
}

static void spoil(struct fuzzer *f, void *words, size_t size)
{
	uint8_t *word = (uint8_t *)words + 4 * below(f, size / 4);

	if (one_in(f, 2) && word + 8 <= (uint8_t *)words + size)
		stq_le_p(word, random_value(f));
	else
		stl_le_p(word, random_value(f));
}

static uint32_t random_dtype(struct fuzzer *f)
{
	const uint32_t dtypes[] = {
		DRM_TESSERA_DTYPE_RAW8, DRM_TESSERA_DTYPE_RAW8, DRM_TESSERA_DTYPE_RAW128,
		DRM_TESSERA_DTYPE_U8, DRM_TESSERA_DTYPE_I32, DRM_TESSERA_DTYPE_F32,
		DRM_TESSERA_DTYPE_F64, 16 * (1 + below(f, 6)) + below(f, 6),
	};

	return dtypes[below(f, ARRAY_SIZE(dtypes))];
}

static void add_buffer(struct fuzzer *f, uint32_t index)
{
	uint64_t table[TABLE_PAGES];
	struct tessera_hw_buffer entry = {
		.table = cpu_to_le64(PLACE_TABLE(index)),
		.size = cpu_to_le64(TABLE_PAGES * PAGE - (one_in(f, 4) ? below(f, PAGE) : 0)),
		.flags = cpu_to_le32(TESSERA_BUFFER_VALID | TESSERA_BUFFER_WRITABLE),
		.page_shift = cpu_to_le32(TESSERA_PAGE_MIN_SHIFT),
	};
	unsigned i;

	if (one_in(f, 5)) {
		entry.flags |= cpu_to_le32(TESSERA_BUFFER_SRAM);
		entry.page_shift = 0;
		entry.table = cpu_to_le64(below(f, 3 << 20));
	}
	if (one_in(f, 8))
		spoil(f, &entry, sizeof(entry));
	for (i = 0; i < TABLE_PAGES; i++)
		table[i] = PLACE_PAGES + PAGE * (one_in(f, 4) ? below(f, 64) : index * 8 + i);
	if (one_in(f, 8))
		spoil(f, table, sizeof(table));
	add_memory(f, PLACE_TABLE(index), table, sizeof(table));
	add_memory(f, PLACE_DIRECTORY + index * sizeof(entry), &entry, sizeof(entry));
	if (!one_in(f, 3))
		add(f, SET, TESSERA_REG_INVALIDATE, one_in(f, 8) ? ~0u : index);
}

static void make_affine(struct fuzzer *f, struct tessera_hw_affine *affine, uint32_t rank)
{
	unsigned i;

	affine->offset = below(f, 64);
	for (i = 0; i < rank; i++)
		affine->strides[i] = (int64_t)below(f, 200) - (one_in(f, 10) ? 100 : 0);
}

static void make_operand(struct fuzzer *f, struct tessera_hw_operand *operand, uint32_t dtype,
			 uint32_t rank, uint32_t num_windows)
{
	operand->buffer = one_in(f, 40) ? NUM_TABLES : below(f, NUM_TABLES);
	operand->dtype = one_in(f, 20) ? random_dtype(f) : dtype;
	operand->window_mask = num_windows ? below(f, 1 << MIN(num_windows, 30)) : 0;
	make_affine(f, &operand->address, rank);
	if (!one_in(f, 6))
		return;
	operand->flags = DRM_TESSERA_OPERAND_INDIRECT;
	operand->index_buffer = below(f, NUM_TABLES);
	operand->index_dtype = one_in(f, 20) ? random_dtype(f) : DRM_TESSERA_DTYPE_I32;
	operand->index_stride = below(f, 64);
	operand->index_limit = one_in(f, 2) ? below(f, 128) : 0;
	make_affine(f, &operand->index_address, rank);
}

/* Of registers that hold sources, or anything */
static void make_program(struct fuzzer *f, struct tessera_hw_instruction *program, uint32_t count,
			 uint32_t dtype)
{
	unsigned i;

	for (i = 0; i < count; i++) {
		program[i] = (struct tessera_hw_instruction) {
			.opcode = one_in(f, 4) ? below(f, DRM_TESSERA_OP_CAST + 2) :
				  one_in(f, 2) ? DRM_TESSERA_OP_ADD : DRM_TESSERA_OP_MAX,
			.dtype = dtype,
		};
		if (one_in(f, 6))
			spoil(f, &program[i], sizeof(program[i]));
	}
}

/* Returns the size of the descriptor that its counts ask for. */
static uint32_t add_descriptor(struct fuzzer *f, unsigned n)
{
	uint8_t bytes[ROUND_UP(TESSERA_MAX_DESCRIPTOR_SIZE, 8)] = { 0 }, *at = bytes;
	struct tessera_hw_job *job = (void *)bytes;
	uint32_t num_windows = one_in(f, 3) ? below(f, 4) : 0, rank = 1 + below(f, 4);
	uint32_t num_instructions = one_in(f, 3) ? below(f, 5) : 0, i;
	uint32_t num_operands = num_instructions ? 2 + below(f, 4) : one_in(f, 20) ? 1 : 2;
	uint32_t dtype = num_instructions ? DRM_TESSERA_DTYPE_F32 : random_dtype(f);

	job->rank = rank;
	job->num_operands = num_operands;
	job->num_windows = num_windows;
	job->num_instructions = num_instructions;
	for (i = 0; i < rank; i++)
		job->extents[i] = one_in(f, 40) ? random_value(f) : below(f, 12);
	at += sizeof(*job);
	for (i = 0; i < num_operands; i++, at += sizeof(struct tessera_hw_operand))
		make_operand(f, (void *)at, dtype, rank, num_windows);
	for (i = 0; i < num_windows; i++, at += sizeof(struct tessera_hw_window)) {
		struct tessera_hw_window *window = (void *)at;

		make_affine(f, &window->value, rank);
		window->limit = below(f, 400);
	}
	make_program(f, (void *)at, num_instructions, dtype);
	at += num_instructions * sizeof(struct tessera_hw_instruction);
	for (i = one_in(f, 4) ? below(f, 4) : 0; i; i--)
		spoil(f, bytes, at - bytes);
	add_memory(f, PLACE_DESCRIPTOR(n), bytes, at - bytes);
	return at - bytes;
}

static void add_entry(struct fuzzer *f, unsigned queue, uint32_t slot)
{
	unsigned n = below(f, NUM_DESCRIPTORS);
	struct tessera_hw_ring_entry entry = {
		.descriptor = cpu_to_le64(PLACE_DESCRIPTOR(n)),
		.descriptor_size = cpu_to_le32(add_descriptor(f, n)),
		.flags = cpu_to_le32(below(f, 2)),
		.sequence = cpu_to_le64(1 + slot),
	};

	if (one_in(f, 10))
		spoil(f, &entry, sizeof(entry));
	add_memory(f, PLACE_QUEUE(queue) + slot % RING_SIZE * sizeof(entry), &entry, sizeof(entry));
}

static void add_queue(struct fuzzer *f, unsigned queue)
{
	uint32_t base = TESSERA_QUEUE(queue);

	add(f, SET, base + TESSERA_QUEUE_CONTROL, 0);
	add_set64(f, base + TESSERA_QUEUE_RING, PLACE_QUEUE(queue));
	add_set64(f, base + TESSERA_QUEUE_RESULTS, PLACE_RESULTS(queue));
	add_set64(f, base + TESSERA_QUEUE_COMPLETION, PLACE_COMPLETION(queue));
	add_set64(f, base + TESSERA_QUEUE_HINTS, one_in(f, 2) ? PLACE_HINTS(queue) : 0);
	add(f, SET, base + TESSERA_QUEUE_RING_SHIFT, RING_SHIFT);
	if (one_in(f, 6))
		add(f, SET, base + 4 * below(f, 0x60 / 4), random_value(f));
	add(f, SET, base + TESSERA_QUEUE_CONTROL, TESSERA_QUEUE_ENABLE);
}

/* Some jobs, and a doorbell that is about right */
static void add_jobs(struct fuzzer *f)
{
	unsigned queue = below(f, NUM_QUEUES);
	uint32_t tail = one_in(f, 8) ? below(f, RING_SIZE) : 0, num = 1 + below(f, 4), i;

	for (i = 0; i < num; i++)
		add_entry(f, queue, tail + i);
	if (one_in(f, 3))
		add(f, MEMORY, PLACE_HINTS(queue) + 8, tail + num);
	if (!tail)
		add_queue(f, queue);
	add(f, SET, TESSERA_QUEUE(queue) + TESSERA_QUEUE_TAIL,
	    one_in(f, 8) ? random_value(f) : tail + num);
	if (one_in(f, 2))
		add(f, GET, TESSERA_QUEUE(queue) + TESSERA_QUEUE_HEAD, 0);
}

static void add_directory(struct fuzzer *f)
{
	add_set64(f, TESSERA_REG_BUFFERS, one_in(f, 10) ? random_value(f) : PLACE_DIRECTORY);
	add(f, SET, TESSERA_REG_NUM_BUFFERS, one_in(f, 10) ? random_value(f) : NUM_TABLES);
}

static uint32_t random_register(struct fuzzer *f)
{
	if (one_in(f, 3))
		return 4 * below(f, 0x80 / 4);
	return TESSERA_QUEUE(below(f, NUM_QUEUES + 1)) + 4 * below(f, 0x50 / 4);
}

/* A word of what the device may be reading */
static void add_change(struct fuzzer *f)
{
	const uint32_t places[] = {
		PLACE_DIRECTORY + 8 * below(f, NUM_TABLES * 4),
		PLACE_QUEUE(below(f, NUM_QUEUES)) + 8 * below(f, RING_SIZE * 8),
		PLACE_HINTS(below(f, NUM_QUEUES)) + 8 * below(f, 2),
		PLACE_TABLE(below(f, NUM_TABLES)) + 8 * below(f, TABLE_PAGES),
		PLACE_DESCRIPTOR(below(f, NUM_DESCRIPTORS)) + 8 * below(f, 128),
		PLACE_PAGES + 8 * below(f, PAGE),
	};

	add(f, MEMORY, places[below(f, ARRAY_SIZE(places))], random_value(f));
}

static void add_function(struct fuzzer *f)
{
	uint16_t command = PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;

	switch (below(f, 8)) {
	case 0:
		add(f, CONFIG, f->express + PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_BCR_FLR);
		add(f, CONFIG, PCI_COMMAND, command);
		break;
	case 1:
		add(f, CONFIG, PCI_COMMAND, PCI_COMMAND_MEMORY);
		add_change(f);
		add(f, CONFIG, PCI_COMMAND, command);
		break;
	case 2:
		add(f, SET, TESSERA_REG_CONTROL, TESSERA_CONTROL_RESET);
		break;
	case 3:
		add(f, CONFIG, f->msix + PCI_MSIX_FLAGS, random_value(f));
		break;
	case 4:
		add(f, SRAM, 4 * below(f, 1 << 20), random_value(f));
		break;
	default:
		add(f, MSIX, 4 * below(f, (NUM_QUEUES + 1) * 4),
		    one_in(f, 3) ? random_value(f) : PLACE_PAGES + 4 * below(f, 8));
	}
}

static void make_round(struct fuzzer *f)
{
	unsigned i;

	add_directory(f);
	for (i = 0; i < NUM_TABLES; i++)
		add_buffer(f, i);
	for (i = 0; i < NUM_QUEUES; i++)
		add_queue(f, i);
	while (f->operations->len < ROUND_OPERATIONS) {
		switch (below(f, 16)) {
		case 0:
			add_directory(f);
			break;
		case 1:
			add_buffer(f, below(f, NUM_TABLES));
			break;
		case 2:
			add_queue(f, below(f, NUM_QUEUES));
			break;
		case 3:
			add_function(f);
			break;
		case 4:
		case 5:
			add(f, SET, random_register(f), random_value(f));
			break;
		case 6:
			add(f, GET, random_register(f), 0);
			break;
		case 7:
		case 8:
		case 9:
			add_change(f);
			break;
		default:
			add_jobs(f);
		}
	}
}

/* Rounds */

static void fuzzer_start(struct fuzzer *f)
{
	int fd = memfd_create("tessera-fuzz", MFD_CLOEXEC);
	g_autofree char *memory = NULL;
	unsigned i;

	memset(f, 0, sizeof(*f));
	g_assert_cmpint(ftruncate(fd, RAM_SIZE), ==, 0);
	f->ram = mmap(NULL, RAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	g_assert_true(f->ram != MAP_FAILED);
	memory = g_strdup_printf("-object memory-backend-file,id=ram,size=64M,share=on,"
				 "mem-path=/proc/%d/fd/%d -machine memory-backend=ram ",
				 getpid(), fd);
	machine_start(&f->m, memory, "x-test=on,threads=4");
	close(fd);
	f->m.msix = qpci_iomap(f->m.pci, TESSERA_BAR_MSIX, NULL);
	for (i = 0; i < ARRAY_SIZE(f->bars); i++)
		f->bars[i] = qpci_config_readl(f->m.pci, PCI_BASE_ADDRESS_0 + 4 * i);
	f->express = qpci_find_capability(f->m.pci, PCI_CAP_ID_EXP, 0);
	f->msix = qpci_find_capability(f->m.pci, PCI_CAP_ID_MSIX, 0);
	f->operations = g_array_new(false, false, sizeof(struct operation));
}

static void fuzzer_stop(struct fuzzer *f)
{
	machine_stop(&f->m);
	munmap(f->ram, RAM_SIZE);
	g_array_unref(f->operations);
}

static void fuzzer_reset(struct fuzzer *f)
{
	unsigned i;

	qpci_config_writew(f->m.pci, f->express + PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_BCR_FLR);
	for (i = 0; i < ARRAY_SIZE(f->bars); i++)
		qpci_config_writel(f->m.pci, PCI_BASE_ADDRESS_0 + 4 * i, f->bars[i]);
	qpci_config_writew(f->m.pci, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
}

/* A reset has taken the place of the function: it is put back where it was */
static void operations_do(struct fuzzer *f)
{
	const struct operation *o = (void *)f->operations->data;
	unsigned i, k;

	for (i = 0; i < f->operations->len; i++, o++) {
		operation_do(f, o);
		if (o->kind != CONFIG || o->address != f->express + PCI_EXP_DEVCTL)
			continue;
		for (k = 0; k < ARRAY_SIZE(f->bars); k++)
			qpci_config_writel(f->m.pci, PCI_BASE_ADDRESS_0 + 4 * k, f->bars[k]);
		qpci_config_writew(f->m.pci, PCI_COMMAND,
				   PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	}
}

static void check_works(struct fuzzer *f)
{
	struct pair p = { .m = f->m };

	fuzzer_reset(f);
	memset(p.m.queues, 0, sizeof(p.m.queues));
	p.m.free = PLACES_END;
	pair_create(&p);
	assert_works(&p);
	fuzzer_reset(f);
	memset(f->ram, 0, PLACES_END);
}

static void operations_log(const struct fuzzer *f)
{
	const struct operation *o = (void *)f->operations->data;
	FILE *file = fopen(log_path, "w");
	unsigned i;

	g_assert_nonnull(file);
	for (i = 0; i < f->operations->len; i++, o++)
		fprintf(file, "%s 0x%x 0x%" PRIx64 "\n", kind_names[o->kind], o->address,
			o->value);
	fclose(file);
}

static void operations_run(struct fuzzer *f)
{
	if (log_path)
		operations_log(f);
	operations_do(f);
	check_works(f);
}

static void rounds_are_survived(void)
{
	uint64_t num_rounds = DIV_ROUND_UP(count, ROUND_OPERATIONS), done = 0;
	int64_t start = g_get_monotonic_time();
	struct fuzzer f;

	fuzzer_start(&f);
	for (current_round = 0; current_round < first_round + num_rounds; current_round++) {
		f.random = g_rand_new_with_seed(g_test_rand_int());
		g_array_set_size(f.operations, 0);
		if (current_round >= first_round) {
			make_round(&f);
			operations_run(&f);
			done += f.operations->len;
		}
		g_rand_free(f.random);
	}
	g_test_message("%" PRIu64 " operations in %" PRIu64 " rounds, %.0f a second", done,
		       num_rounds, done * 1e6 / (g_get_monotonic_time() - start));
	fuzzer_stop(&f);
}

/* Files */

static bool operation_parse(const struct fuzzer *f, const char *line, struct operation *o)
{
	char name[8], rest;
	unsigned kind;

	if (sscanf(line, "%7s %" SCNx32 " %" SCNx64 " %c", name, &o->address, &o->value,
		   &rest) != 3)
		return false;
	for (kind = 0; kind < NUM_KINDS; kind++)
		if (!strcmp(name, kind_names[kind]))
			break;
	o->kind = kind;
	return operation_is_allowed(f, o);
}

static void file_is_survived(gconstpointer opaque)
{
	const char *path = opaque;
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	struct operation o;
	struct fuzzer f;
	unsigned i;

	g_file_get_contents(path, &text, NULL, &error);
	g_assert_no_error(error);
	lines = g_strsplit(text, "\n", -1);
	fuzzer_start(&f);
	for (i = 0; lines[i]; i++) {
		if (!*lines[i] || *lines[i] == '#')
			continue;
		if (!operation_parse(&f, lines[i], &o))
			g_error("%s:%u: '%s' is no operation that is possible", path, i + 1,
				lines[i]);
		g_array_append_val(f.operations, o);
	}
	operations_run(&f);
	fuzzer_stop(&f);
}

static void add_corpus(void)
{
	GDir *folder = g_dir_open(CORPUS, 0, NULL);
	const char *name;

	if (!folder)
		return;
	while ((name = g_dir_read_name(folder))) {
		g_autofree char *path = g_strdup_printf("/fuzz/%s", name);

		g_test_add_data_func_full(path, g_strdup_printf("%s/%s", CORPUS, name),
					  file_is_survived, g_free);
	}
	g_dir_close(folder);
}

int main(int argc, char **argv)
{
	int i;

	tests_init(&argc, &argv);
	for (i = 1; i + 1 < argc && g_str_has_prefix(argv[i], "--"); i += 2) {
		if (!strcmp(argv[i], "--count"))
			count = g_ascii_strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--first"))
			first_round = g_ascii_strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--log"))
			log_path = argv[i + 1];
		else
			g_error("unknown argument '%s'", argv[i]);
	}
	files = argv + i;
	signal(SIGABRT, tell_round);
	if (!*files) {
		add_corpus();
		g_test_add_func("/fuzz/rounds_are_survived", rounds_are_survived);
	}
	for (; *files; files++) {
		g_autofree char *path = g_strdup_printf("/fuzz/%s", *files);

		g_test_add_data_func(path, *files, file_is_survived);
	}
	return tests_run();
}
