/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every register of the device by a table, and every place where there is none: reads, writes,
 * reserved bits, and accesses of all sizes at all places.
 */
#include "qemu/osdep.h"
#include "harness.h"

#define BAR_SIZE	0x8000u		/* of four queues */

/* Bits that are kept when written, and the value after a reset */
struct register_info {
	uint32_t offset;
	uint32_t writable;
	uint32_t reset;
	bool is_model;			/* there only with FEATURE_COUNTERS, of any value */
};

#define READ_ONLY(offset, value)	{ offset, 0, value }
#define WRITABLE(offset)		{ offset, ~0u, 0 }
#define WRITABLE_64(offset)		WRITABLE(offset), WRITABLE((offset) + 4)
#define MODEL(offset)			{ offset, 0, 0, true }

static const struct register_info globals[] = {
	READ_ONLY(TESSERA_REG_ID, TESSERA_ID),
	READ_ONLY(TESSERA_REG_VERSION, TESSERA_VERSION),
	READ_ONLY(TESSERA_REG_NUM_QUEUES, 4),
	/* FEATURES: below */
	READ_ONLY(TESSERA_REG_SRAM_SIZE, 1 << 20),
	READ_ONLY(TESSERA_REG_SRAM_SIZE + 4, 0),
	READ_ONLY(TESSERA_REG_STATUS, 0),
	WRITABLE_64(TESSERA_REG_BUFFERS),
	{ TESSERA_REG_NUM_BUFFERS, TESSERA_MAX_BUFFERS - 1, 0 },
	/* INVALIDATE reads 0 when nothing was dropped */
	WRITABLE(TESSERA_REG_TEST_HANG),
	WRITABLE(TESSERA_REG_TEST_SKEW),
	WRITABLE(TESSERA_REG_TEST_FAULT),
	WRITABLE(TESSERA_REG_TEST_SLOW),
	WRITABLE(TESSERA_REG_TEST_CORRUPT),
	WRITABLE(TESSERA_REG_TEST_DROP),
	WRITABLE(TESSERA_REG_TEST_READ),
	WRITABLE(TESSERA_REG_TEST_VALUE),
	MODEL(TESSERA_REG_GRID_COLUMNS),
	MODEL(TESSERA_REG_CLOCK),
};

static const struct register_info of_queue[] = {
	READ_ONLY(TESSERA_QUEUE_STATUS, 0),
	WRITABLE_64(TESSERA_QUEUE_RING),
	WRITABLE(TESSERA_QUEUE_RING_SHIFT),
	WRITABLE_64(TESSERA_QUEUE_COMPLETION),
	WRITABLE_64(TESSERA_QUEUE_RESULTS),
	WRITABLE_64(TESSERA_QUEUE_HINTS),
};

/* NULL: there is none, or one that reads as zero whatever is written in this state. */
static const struct register_info *find(uint32_t offset)
{
	const struct register_info *table = globals;
	unsigned count = ARRAY_SIZE(globals), i;

	if (offset >= TESSERA_QUEUE(0)) {
		if (offset >= TESSERA_QUEUE(4))
			return NULL;
		offset %= TESSERA_QUEUE(1) - TESSERA_QUEUE(0);
		table = of_queue;
		count = ARRAY_SIZE(of_queue);
	}
	for (i = 0; i < count; i++)
		if (table[i].offset == offset)
			return &table[i];
	return NULL;
}

/* What tells of the model and what does something when it is written is looked at elsewhere. */
static bool is_left_out(struct machine *m, uint32_t offset)
{
	const struct register_info *info = find(offset);

	return offset == TESSERA_REG_FEATURES || offset == TESSERA_REG_CONTROL ||
	       offset == TESSERA_REG_TEST_INTERRUPT ||
	       (info && info->is_model &&
		(get(m, TESSERA_REG_FEATURES) & TESSERA_FEATURE_COUNTERS)) ||
	       (offset >= TESSERA_QUEUE(0) && offset < TESSERA_QUEUE(4) &&
		offset % (TESSERA_QUEUE(1) - TESSERA_QUEUE(0)) == TESSERA_QUEUE_CONTROL);
}

static uint32_t reset_value(uint32_t offset)
{
	const struct register_info *info = find(offset);

	return info ? info->reset : 0;
}

static void every_register_has_its_reset_value(void)
{
	struct machine m;
	uint32_t offset;

	machine_start(&m, MEMFD, "x-test=on");
	g_assert_cmphex(get(&m, TESSERA_REG_FEATURES) & ~TESSERA_FEATURE_COUNTERS, ==,
			TESSERA_FEATURE_TEST | TESSERA_FEATURE_HINTS);
	for (offset = 0; offset < BAR_SIZE; offset += 4)
		if (!is_left_out(&m, offset))
			g_assert_cmphex(get(&m, offset), ==, reset_value(offset));
	machine_stop(&m);
}

/* Each by itself, so that no other is seen to change */
static void every_register_keeps_what_can_be_written(void)
{
	static const uint32_t patterns[] = { ~0u, 0x5a5a5a5a, 0xa5a5a5a5, 0 };
	const struct register_info *info;
	struct machine m;
	uint32_t offset, expected;
	unsigned i;

	machine_start(&m, MEMFD, "x-test=on");
	for (offset = 0; offset < BAR_SIZE; offset += 4) {
		if (is_left_out(&m, offset))
			continue;
		info = find(offset);
		for (i = 0; i < ARRAY_SIZE(patterns); i++) {
			set(&m, offset, patterns[i]);
			expected = info && info->writable ? patterns[i] & info->writable :
				   reset_value(offset);
			if (offset == TESSERA_REG_NUM_BUFFERS)
				expected = MIN(patterns[i], TESSERA_MAX_BUFFERS);
			g_assert_cmphex(get(&m, offset), ==, expected);
		}
	}
	machine_stop(&m);
}

static void a_register_that_is_written_changes_no_other(void)
{
	struct machine m;
	uint32_t offset, other;

	machine_start(&m, MEMFD, "x-test=on");
	for (offset = 0; offset < TESSERA_QUEUE(1) + 0x100; offset += 4) {
		if (is_left_out(&m, offset) || !find(offset) || !find(offset)->writable)
			continue;
		set(&m, offset, ~0u);
		for (other = 0; other < TESSERA_QUEUE(1) + 0x60; other += 4)
			if (other != offset && other % 0x1000 < 0x60 && !is_left_out(&m, other))
				g_assert_cmphex(get(&m, other), ==, reset_value(other));
		set(&m, offset, 0);
	}
	machine_stop(&m);
}

/* Of an enabled queue, all but CONTROL, TAIL and what they change */
static void every_register_of_an_enabled_queue_is_fixed(void)
{
	uint32_t base = TESSERA_QUEUE(0), offset, before;
	struct machine m;

	machine_start(&m, MEMFD, "");
	queue_create(&m, 0);
	for (offset = 0; offset < TESSERA_QUEUE(1) - base; offset += 4) {
		if (offset == TESSERA_QUEUE_CONTROL || offset == TESSERA_QUEUE_TAIL)
			continue;
		before = get(&m, base + offset);
		set(&m, base + offset, ~before);
		g_assert_cmphex(get(&m, base + offset), ==, before);
	}
	machine_stop(&m);
}

/* Stores and loads of so many bytes that are no whole aligned register do nothing, anywhere */
static void access_is_refused(unsigned size)
{
	const uint32_t offset = TESSERA_QUEUE(0) + TESSERA_QUEUE_RING;
	const uint64_t ones = ~0ull, zero = 0;
	uint64_t value, address;
	struct machine m;
	unsigned place;

	machine_start(&m, MEMFD, "");
	address = m.registers.addr + offset;
	set64(&m, offset, 0x1122334455667788ull);
	for (place = 0; place < 8; place++) {
		if (size >= 4 && place % 4 == 0)
			continue;
		qtest_memwrite(m.qts, address + place, &ones, size);
		qtest_memwrite(m.qts, address + place, &zero, size);
		g_assert_cmphex(get64(&m, offset), ==, 0x1122334455667788ull);
		value = 0;
		qtest_memread(m.qts, address + place, &value, size);
		g_assert_cmphex(value, ==, 0);
	}
	machine_stop(&m);
}

static void accesses_of_one_byte_are_refused(void)
{
	access_is_refused(1);
}

static void accesses_of_two_bytes_are_refused(void)
{
	access_is_refused(2);
}

/* QEMU makes smaller ones of them, as a processor's are not aligned: none of these is taken */
static void misaligned_accesses_of_two_bytes_are_refused(void)
{
	const uint32_t offset = TESSERA_QUEUE(0) + TESSERA_QUEUE_RING;
	struct machine m;

	machine_start(&m, MEMFD, "");
	set64(&m, offset, 0x1122334455667788ull);
	qtest_writew(m.qts, m.registers.addr + offset + 3, 0xffff);
	g_assert_cmphex(qtest_readw(m.qts, m.registers.addr + offset + 3), ==, 0);
	g_assert_cmphex(get64(&m, offset), ==, 0x1122334455667788ull);
	machine_stop(&m);
}

static void sixty_four_queues_have_registers_of_their_own(void)
{
	static const uint32_t offsets[] = {
		TESSERA_QUEUE_RING, TESSERA_QUEUE_COMPLETION, TESSERA_QUEUE_RESULTS,
		TESSERA_QUEUE_HINTS,
	};
	struct machine m;
	unsigned q, i;

	machine_start(&m, MEMFD, "queues=64,sram-size=4K");
	g_assert_cmpuint(get(&m, TESSERA_REG_NUM_QUEUES), ==, 64);
	for (q = 0; q < 64; q++)
		for (i = 0; i < ARRAY_SIZE(offsets); i++)
			set64(&m, TESSERA_QUEUE(q) + offsets[i], 0x4000000000ull * q + i);
	for (q = 0; q < 64; q++)
		for (i = 0; i < ARRAY_SIZE(offsets); i++)
			g_assert_cmphex(get64(&m, TESSERA_QUEUE(q) + offsets[i]), ==,
					0x4000000000ull * q + i);
	g_assert_cmphex(get(&m, TESSERA_QUEUE(64) + TESSERA_QUEUE_RING), ==, 0);
	machine_stop(&m);
}

static const struct test tests[] = {
	TEST(every_register_has_its_reset_value),
	TEST(every_register_keeps_what_can_be_written),
	TEST(a_register_that_is_written_changes_no_other),
	TEST(every_register_of_an_enabled_queue_is_fixed),
	TEST(accesses_of_one_byte_are_refused),
	TEST(accesses_of_two_bytes_are_refused),
	TEST(misaligned_accesses_of_two_bytes_are_refused),
	TEST(sixty_four_queues_have_registers_of_their_own),
};

int main(int argc, char **argv)
{
	tests_init(&argc, &argv);
	tests_add("/register", tests, ARRAY_SIZE(tests));
	return tests_run();
}
