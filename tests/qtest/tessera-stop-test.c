/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs of every kind that take long, each stopped by a reset by register and by one of the
 * function, at one moment after another. Each test tells how long the longest took, which
 * Documentation/device.rst has; a machine with more RAM is asked for by TESSERA_TEST_RAM=MIB.
 */
#include "qemu/osdep.h"
#include "qemu/host-utils.h"
#include "harness.h"

#define MOMENTS		12
#define READS_PER_MOMENT	40
#define PIECES		40000		/* as many as are mapped side by side, with room for two */

enum { INDEX = 2, WINDOWS = DRM_TESSERA_MAX_WINDOWS, INSTRUCTIONS = DRM_TESSERA_MAX_INSTRUCTIONS };

/* The largest descriptor */
struct descriptor {
	struct tessera_hw_job head;
	struct tessera_hw_operand operands[DRM_TESSERA_MAX_OPERANDS];
	struct tessera_hw_window windows[WINDOWS];
	struct tessera_hw_instruction program[INSTRUCTIONS];
};

QEMU_BUILD_BUG_ON(sizeof(struct descriptor) != TESSERA_MAX_DESCRIPTOR_SIZE);

static uint64_t ram_size(void)
{
	const char *text = g_getenv("TESSERA_TEST_RAM");

	return (text ? g_ascii_strtoull(text, NULL, 0) : 256) << 20;
}

/* Buffers of all RAM below what the harness has given away, which is what lies above RAM_SIZE */

static uint64_t area(void)
{
	return RAM_SIZE;
}

static uint64_t area_size(void)
{
	return ram_size() - RAM_SIZE;
}

static void buffer_of_pages(struct machine *m, uint32_t index, uint64_t count, uint32_t shift,
			    uint32_t flags, uint64_t (*page)(uint64_t i, uint64_t count))
{
	g_autofree uint64_t *table = g_new(uint64_t, count);
	uint64_t address = allocate(m, count * sizeof(*table)), i;

	for (i = 0; i < count; i++)
		table[i] = cpu_to_le64(area() + (page(i, count) << shift));
	qtest_memwrite(m->qts, address, table, count * sizeof(*table));
	buffer_set(m, index, address, count << shift, TESSERA_BUFFER_VALID | flags, shift);
}

static uint64_t in_order(uint64_t i, uint64_t count)
{
	return i;
}

static uint64_t in_reverse(uint64_t i, uint64_t count)
{
	return count - 1 - i;
}

/* No two neighbours in the table are neighbours in memory, and all memory is named */
static uint64_t scattered(uint64_t i, uint64_t count)
{
	return i % 2 ? i / 2 : count / 2 + i / 2;
}

static void both_of_pages(struct machine *m, uint64_t count, uint32_t shift,
			  uint64_t (*page)(uint64_t i, uint64_t count))
{
	buffer_of_pages(m, DESTINATION, count, shift, TESSERA_BUFFER_WRITABLE, page);
	buffer_of_pages(m, SOURCE, count, shift, 0, page);
}

/* Kinds of jobs. Each sets the buffers up, and a job of two operands that moves bytes. */

static void make_endless(struct descriptor *d, uint64_t inner)
{
	d->head.rank = 2;
	d->head.extents[0] = FOREVER / pow2ceil(inner);
	d->head.extents[1] = inner;
	d->operands[DESTINATION].address.strides[0] = 0;
	d->operands[SOURCE].address.strides[0] = 0;
}

static void moves_bytes(struct machine *m, struct descriptor *d)
{
	both_of_pages(m, area_size() >> 20, 20, in_order);
	make_endless(d, area_size());
}

static void moves_one_byte(struct machine *m, struct descriptor *d)
{
	both_of_pages(m, 2, 12, in_order);
	make_endless(d, 1);
}

static void moves_bytes_of_many_pages(struct machine *m, struct descriptor *d)
{
	both_of_pages(m, area_size() >> 20, 20, in_order);
	make_endless(d, area_size() / 4096);
	d->operands[DESTINATION].address.strides[1] = 4096;
	d->operands[SOURCE].address.strides[1] = 4096;
}

static void moves_pieces(struct machine *m, struct descriptor *d)
{
	both_of_pages(m, MIN(area_size() / 4096, PIECES / 2), 12, scattered);
	make_endless(d, MIN(area_size() / 4096, PIECES / 2) * 4096);
}

static void moves_large_pieces(struct machine *m, struct descriptor *d)
{
	both_of_pages(m, area_size() >> 26, 26, in_reverse);
	make_endless(d, area_size());
}

/* Of a source in more pieces than are mapped, which is copied */
static void moves_very_many_pieces(struct machine *m, struct descriptor *d)
{
	buffer_of_pages(m, DESTINATION, area_size() >> 20, 20, TESSERA_BUFFER_WRITABLE, in_order);
	buffer_of_pages(m, SOURCE, area_size() / 4096, 12, 0, scattered);
	make_endless(d, area_size());
}

/* Little enough for its copies to fit in what there is for copies */
static void moves_two_pieces(struct machine *m, struct descriptor *d)
{
	both_of_pages(m, 2, 25, in_reverse);
	make_endless(d, 2ull << 25);
}

/* The window 0 <= 2 i - 2 j + 1 < 1 holds nowhere. */
static void moves_nothing(struct machine *m, struct descriptor *d)
{
	moves_one_byte(m, d);
	d->head.extents[0] = 1ull << 31;
	d->head.extents[1] = 1ull << 31;
	d->head.num_windows = 1;
	d->windows[0].value.offset = 1;
	d->windows[0].value.strides[0] = 2;
	d->windows[0].value.strides[1] = -2;
	d->windows[0].limit = 1;
	d->operands[DESTINATION].window_mask = 1;
	d->operands[DESTINATION].address.strides[1] = 0;
	d->operands[SOURCE].address.strides[1] = 0;
}

static void gathers(struct machine *m, struct descriptor *d)
{
	moves_bytes(m, d);
	buffer_of_pages(m, INDEX, area_size() >> 20, 20, 0, in_order);
	d->head.extents[1] = area_size() / 4;
	d->operands[SOURCE].flags = DRM_TESSERA_OPERAND_INDIRECT;
	d->operands[SOURCE].address.strides[1] = 0;
	d->operands[SOURCE].index_buffer = INDEX;
	d->operands[SOURCE].index_dtype = DRM_TESSERA_DTYPE_I32;
	d->operands[SOURCE].index_address.strides[1] = 4;
	d->operands[SOURCE].index_stride = 1;
}

/* All that a descriptor has room for: sources, windows that hold, and multiplications of f64 */
static void computes(struct machine *m, struct descriptor *d)
{
	unsigned i;

	moves_bytes(m, d);
	d->head.extents[1] = area_size() / 8;
	d->head.num_operands = DRM_TESSERA_MAX_OPERANDS;
	d->head.num_windows = WINDOWS;
	d->head.num_instructions = INSTRUCTIONS;
	for (i = 0; i < WINDOWS; i++) {
		d->windows[i].value.strides[0] = i + 1;
		d->windows[i].value.strides[1] = i + 1;
		d->windows[i].limit = 1ull << 62;
	}
	for (i = 0; i < DRM_TESSERA_MAX_OPERANDS; i++) {
		d->operands[i].buffer = i ? SOURCE : DESTINATION;
		d->operands[i].dtype = DRM_TESSERA_DTYPE_F64;
		d->operands[i].address.strides[1] = 8;
		d->operands[i].window_mask = UINT32_MAX;
	}
	for (i = 0; i < INSTRUCTIONS; i++) {
		d->program[i].opcode = DRM_TESSERA_OP_MUL;
		d->program[i].dtype = DRM_TESSERA_DTYPE_F64;
		d->program[i].src[1] = i % 4;
	}
}

/* Starting and stopping */

static void start(struct machine *m, const struct descriptor *d)
{
	struct tessera_hw_ring_entry entry = { .flags = 0 };
	uint64_t at = allocate(m, sizeof(*d)), size = sizeof(d->head);

	qtest_memwrite(m->qts, at, &d->head, size);
	entry.descriptor = cpu_to_le64(at);
#define PART(array, count)								\
	do {										\
		qtest_memwrite(m->qts, at + size, d->array,				\
			       (count) * sizeof(d->array[0]));				\
		size += (count) * sizeof(d->array[0]);					\
	} while (0)
	PART(operands, d->head.num_operands);
	PART(windows, d->head.num_windows);
	PART(program, d->head.num_instructions);
#undef PART
	entry.descriptor_size = cpu_to_le32(size);
	entry_push(m, 0, entry);
	doorbell(m, 0);
	wait_for(m, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS, ~0u,
		 TESSERA_QUEUE_STATUS_ENABLED | TESSERA_QUEUE_STATUS_BUSY);
}

struct kind {
	const char *name;
	void (*make)(struct machine *m, struct descriptor *d);
	bool is_private;		/* RAM that is not mapped again: the job is on copies */
};

static const struct kind kinds[] = {
	{ "moves_bytes", moves_bytes },
	{ "moves_one_byte", moves_one_byte },
	{ "moves_bytes_of_many_pages", moves_bytes_of_many_pages },
	{ "moves_pieces", moves_pieces },
	{ "moves_large_pieces", moves_large_pieces },
	{ "moves_very_many_pieces", moves_very_many_pieces },
	{ "moves_nothing", moves_nothing },
	{ "gathers", gathers },
	{ "computes", computes },
	{ "copies_pieces", moves_pieces, true },
	{ "copies_two_pieces", moves_two_pieces, true },
};

static void job_is_stopped(gconstpointer opaque)
{
	const struct kind *kind = opaque;
	g_autofree char *memory = NULL;
	int64_t longest[2] = { 0 }, begin, took;
	struct machine m;
	uint64_t mark;
	unsigned i, k;

	memory = g_strdup_printf("-m %" PRIu64 "M %s%" PRIu64 "M%s", ram_size() >> 20,
				 kind->is_private ? "-object memory-backend-ram,id=ram,size=" :
				 "-object memory-backend-memfd,id=ram,share=on,size=",
				 ram_size() >> 20, " -machine memory-backend=ram ");
	machine_start(&m, memory, "");
	directory_create(&m);
	queue_configure(&m, 0);
	mark = m.free;
	for (i = 0; i < MOMENTS; i++) {
		struct descriptor d = { .head.num_operands = 2 };

		m.free = mark;
		for (k = DESTINATION; k <= SOURCE; k++) {
			d.operands[k].buffer = k;
			d.operands[k].dtype = DRM_TESSERA_DTYPE_RAW8;
			d.operands[k].address.strides[1] = 1;
		}
		directory_set(&m);
		queue_create(&m, 0);
		kind->make(&m, &d);
		start(&m, &d);
		for (k = 0; k < i / 2 * READS_PER_MOMENT; k++)
			get64(&m, TESSERA_QUEUE(0) + TESSERA_QUEUE_PROGRESS);
		begin = g_get_monotonic_time();
		if (i % 2)
			function_level_reset(&m);
		else
			reset_by_register(&m);
		took = g_get_monotonic_time() - begin;
		longest[i % 2] = MAX(longest[i % 2], took);
		if (i % 2)
			function_configure(&m);
		g_assert_cmphex(get(&m, TESSERA_REG_STATUS), ==, 0);
	}
	g_test_message("%s: at most %" PRId64 " us by register, %" PRId64 " us of the function",
		       kind->name, longest[0], longest[1]);
	machine_stop(&m);
}

int main(int argc, char **argv)
{
	unsigned i;

	tests_init(&argc, &argv);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		g_autofree char *path = g_strdup_printf("/stop/a_job_that_%s", kinds[i].name);

		g_test_add_data_func(path, &kinds[i], job_is_stopped);
	}
	return tests_run();
}
