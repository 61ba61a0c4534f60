/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What can be made to go wrong with the device for tests of its drivers: registers that exist with
 * x-test=on alone, and the properties that they are after a reset.
 */
#include "qemu/osdep.h"
#include "harness.h"

static const struct {
	const char *property;
	uint32_t offset;
} registers[] = {
	{ "x-hang", TESSERA_REG_TEST_HANG }, { "x-skew", TESSERA_REG_TEST_SKEW },
	{ "x-fault", TESSERA_REG_TEST_FAULT }, { "x-slow", TESSERA_REG_TEST_SLOW },
	{ "x-corrupt", TESSERA_REG_TEST_CORRUPT }, { "x-drop", TESSERA_REG_TEST_DROP },
	{ "x-read", TESSERA_REG_TEST_READ }, { "x-value", TESSERA_REG_TEST_VALUE },
};

static void test_registers_are_absent_without_x_test(void)
{
	struct machine m;
	unsigned i;

	machine_start(&m, MEMFD, "");
	g_assert_cmphex(get(&m, TESSERA_REG_FEATURES) & TESSERA_FEATURE_TEST, ==, 0);
	for (i = 0; i < ARRAY_SIZE(registers); i++) {
		set(&m, registers[i].offset, 1);
		g_assert_cmphex(get(&m, registers[i].offset), ==, 0);
	}
	set(&m, TESSERA_REG_TEST_INTERRUPT, 0);
	g_assert_cmpuint(get(&m, TESSERA_QUEUE(0) + TESSERA_QUEUE_NUM_INTERRUPTS), ==, 0);
	machine_stop(&m);
}

static void a_reset_makes_test_registers_what_the_properties_say(void)
{
	g_autoptr(GString) properties = g_string_new("x-test=on");
	struct machine m;
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(registers); i++)
		g_string_append_printf(properties, ",%s=%u", registers[i].property, 3 + i);
	machine_start(&m, MEMFD, properties->str);
	for (i = 0; i < ARRAY_SIZE(registers); i++) {
		g_assert_cmpuint(get(&m, registers[i].offset), ==, 3 + i);
		set(&m, registers[i].offset, 0);
	}
	reset_by_register(&m);
	for (i = 0; i < ARRAY_SIZE(registers); i++)
		g_assert_cmpuint(get(&m, registers[i].offset), ==, 3 + i);
	machine_stop(&m);
}

/* Two loops of 8 and 16 bytes, so that values of the outermost are no points */
static struct job job_rows(void)
{
	struct job job = job_bytes(8);
	unsigned i;

	job.head.rank = 2;
	job.head.extents[1] = 16;
	for (i = DESTINATION; i <= SOURCE; i++) {
		job.operands[i].address.strides[0] = 16;
		job.operands[i].address.strides[1] = 1;
	}
	return job;
}

static void a_job_faults_at_a_value_of_its_outermost_loop(void)
{
	struct job job = job_rows();
	struct pair p;

	pair_start(&p, "x-test=on");
	set(&p.m, TESSERA_REG_TEST_FAULT, 5);
	assert_fault(job_run(&p.m, &job), DRM_TESSERA_CAUSE_TRANSLATION, 0, 5 * 16);
	assert_moved(&p, 5 * 16);
	g_assert_cmpuint(get(&p.m, TESSERA_REG_TEST_FAULT), ==, 0);
	assert_works(&p);
	machine_stop(&p.m);
}

static void a_job_of_no_more_values_does_not_fault(void)
{
	struct job job = job_rows();
	struct pair p;

	pair_start(&p, "x-test=on");
	set(&p.m, TESSERA_REG_TEST_FAULT, 8);
	assert_success(job_run(&p.m, &job));
	assert_moved(&p, 8 * 16);
	g_assert_cmpuint(get(&p.m, TESSERA_REG_TEST_FAULT), ==, 0);
	machine_stop(&p.m);
}

static void a_job_that_faults_for_another_reason_tells_that(void)
{
	struct job job = job_rows();
	struct pair p;

	pair_start(&p, "x-test=on");
	job.operands[SOURCE].address.offset = 8192 - 1;
	set(&p.m, TESSERA_REG_TEST_FAULT, 1);
	assert_fault(job_run(&p.m, &job), DRM_TESSERA_CAUSE_BOUNDS, SOURCE, 8192 + 14);
	assert_untouched(&p);
	machine_stop(&p.m);
}

static void a_slow_job_runs_before_it_begins(void)
{
	struct job job = job_rows();
	int64_t start;
	struct pair p;

	pair_start(&p, "x-test=on");
	set(&p.m, TESSERA_REG_TEST_SLOW, 50);
	start = g_get_monotonic_time();
	assert_success(job_run(&p.m, &job));
	g_assert_cmpint(g_get_monotonic_time() - start, >=, 50 * 1000);
	g_assert_cmpuint(get(&p.m, TESSERA_REG_TEST_SLOW), ==, 50);
	set(&p.m, TESSERA_REG_TEST_SLOW, ~0u);
	qtest_memset(p.m.qts, p.destination, 0xee, 8192);
	job_push(&p.m, 0, &job, 0);
	doorbell(&p.m, 0);
	wait_for(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS, ~0u,
		 TESSERA_QUEUE_STATUS_ENABLED | TESSERA_QUEUE_STATUS_BUSY);
	queue_disable(&p.m, 0);
	assert_untouched(&p);
	set(&p.m, TESSERA_REG_TEST_SLOW, 0);
	queue_create(&p.m, 0);
	assert_works(&p);
	machine_stop(&p.m);
}

/* Runs a job whose completion is off by so much. */
static void completion_is_corrupt(int32_t by)
{
	struct job job = job_rows();
	struct tessera_hw_result result;
	struct pair p;

	pair_start(&p, "x-test=on");
	set(&p.m, TESSERA_REG_TEST_CORRUPT, by);
	job_push(&p.m, 0, &job, 0);
	doorbell(&p.m, 0);
	wait_for(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_HEAD, ~0u, 1);
	g_assert_cmphex(qtest_readq(p.m.qts, p.m.queues[0].completion), ==, sequence_of(0) + by);
	qtest_memread(p.m.qts, p.m.queues[0].results, &result, sizeof(result));
	g_assert_cmphex(result.sequence, ==, sequence_of(0));
	g_assert_cmpuint(get(&p.m, TESSERA_REG_TEST_CORRUPT), ==, 0);
	p.m.queues[0].read++;
	assert_works(&p);
	machine_stop(&p.m);
}

static void a_completion_may_be_ahead(void)
{
	completion_is_corrupt(1);
}

static void a_completion_may_be_behind(void)
{
	completion_is_corrupt(-1);
}

static void interrupts_may_get_lost(void)
{
	struct job job = job_rows();
	struct pair p;
	unsigned i;

	pair_start(&p, "x-test=on");
	set(&p.m, TESSERA_REG_TEST_DROP, 2);
	for (i = 0; i < 3; i++) {
		job_push(&p.m, 0, &job, TESSERA_RING_INTERRUPT);
		doorbell(&p.m, 0);
		assert_success(result_next(&p.m, 0));
	}
	g_assert_cmpuint(get(&p.m, TESSERA_REG_TEST_DROP), ==, 0);
	wait_for(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_NUM_INTERRUPTS, ~0u, 1);
	machine_stop(&p.m);
}

/* The driver does not look, for it hears of nothing: what is raised later would be no news */
static void after_a_lost_interrupt_none_is_raised_until_the_driver_looks(void)
{
	struct job job = job_rows();
	uint64_t hints;
	struct pair p;
	unsigned i;

	pair_start(&p, "x-test=on");
	queue_disable(&p.m, 0);
	hints = p.m.queues[0].hints = allocate(&p.m, sizeof(struct tessera_hw_hints));
	qtest_memset(p.m.qts, hints, 0, sizeof(struct tessera_hw_hints));
	queue_create(&p.m, 0);
	set(&p.m, TESSERA_REG_TEST_DROP, 1);
	for (i = 0; i < 3; i++) {
		if (i == 2)
			qtest_writeq(p.m.qts, hints + offsetof(struct tessera_hw_hints, seen),
				     sequence_of(1));
		job_push(&p.m, 0, &job, TESSERA_RING_INTERRUPT);
		doorbell(&p.m, 0);
		assert_success(result_next(&p.m, 0));
		wait_for(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_NUM_INTERRUPTS, ~0u, i == 2);
	}
	machine_stop(&p.m);
}

static void a_register_reads_as_it_is_told(void)
{
	struct machine m;

	machine_start(&m, MEMFD, "x-test=on");
	set(&m, TESSERA_REG_TEST_VALUE, 64);
	g_assert_cmpuint(get(&m, TESSERA_REG_NUM_QUEUES), ==, 4);
	set(&m, TESSERA_REG_TEST_READ, TESSERA_REG_NUM_QUEUES | TESSERA_TEST_READ_VALUE);
	g_assert_cmpuint(get(&m, TESSERA_REG_NUM_QUEUES), ==, 64);
	g_assert_cmphex(get(&m, TESSERA_REG_VERSION), ==, TESSERA_VERSION);
	/* There are no more queues than there were */
	set64(&m, TESSERA_QUEUE(4) + TESSERA_QUEUE_RING, 64);
	g_assert_cmphex(get64(&m, TESSERA_QUEUE(4) + TESSERA_QUEUE_RING), ==, 0);
	set(&m, TESSERA_REG_TEST_READ, 0);
	g_assert_cmpuint(get(&m, TESSERA_REG_NUM_QUEUES), ==, 4);
	machine_stop(&m);
}

static void what_a_register_is_told_to_read_as_ends_with_a_reset(void)
{
	struct machine m;

	machine_start(&m, MEMFD, "x-test=on");
	set(&m, TESSERA_REG_TEST_VALUE, 1);
	set(&m, TESSERA_REG_TEST_READ, TESSERA_REG_INVALIDATE | TESSERA_TEST_READ_VALUE);
	set(&m, TESSERA_REG_CONTROL, TESSERA_CONTROL_RESET);
	wait_for(&m, TESSERA_REG_CONTROL, ~0u, 0);
	g_assert_cmpuint(get(&m, TESSERA_REG_INVALIDATE), ==, 0);
	g_assert_cmphex(get(&m, TESSERA_REG_TEST_READ), ==, 0);
	machine_stop(&m);
}

static void what_is_kept_ends_with_a_reset_of_the_function(void)
{
	const uint32_t read = TESSERA_REG_CONTROL | TESSERA_TEST_READ_VALUE |
			      TESSERA_TEST_READ_KEPT;
	struct machine m;
	uint32_t bar;
	uint8_t express;

	machine_start(&m, MEMFD, "x-test=on");
	set(&m, TESSERA_REG_TEST_VALUE, TESSERA_CONTROL_RESET);
	set(&m, TESSERA_REG_TEST_READ, read);
	set64(&m, TESSERA_REG_BUFFERS, 4096);
	set(&m, TESSERA_REG_CONTROL, TESSERA_CONTROL_RESET);
	wait_for(&m, TESSERA_REG_BUFFERS, ~0u, 0);
	g_assert_cmphex(get(&m, TESSERA_REG_CONTROL), ==, TESSERA_CONTROL_RESET);
	g_assert_cmphex(get(&m, TESSERA_REG_TEST_READ), ==, read);

	bar = qpci_config_readl(m.pci, PCI_BASE_ADDRESS_0);
	express = qpci_find_capability(m.pci, PCI_CAP_ID_EXP, 0);
	qpci_config_writew(m.pci, express + PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_BCR_FLR);
	qpci_config_writel(m.pci, PCI_BASE_ADDRESS_0, bar);
	qpci_config_writew(m.pci, PCI_COMMAND, PCI_COMMAND_MEMORY);
	g_assert_cmphex(get(&m, TESSERA_REG_CONTROL), ==, 0);
	g_assert_cmphex(get(&m, TESSERA_REG_TEST_READ), ==, 0);
	machine_stop(&m);
}

static const struct test tests[] = {
	TEST(test_registers_are_absent_without_x_test),
	TEST(a_reset_makes_test_registers_what_the_properties_say),
	TEST(a_job_faults_at_a_value_of_its_outermost_loop),
	TEST(a_job_of_no_more_values_does_not_fault),
	TEST(a_job_that_faults_for_another_reason_tells_that),
	TEST(a_slow_job_runs_before_it_begins),
	TEST(a_completion_may_be_ahead),
	TEST(a_completion_may_be_behind),
	TEST(interrupts_may_get_lost),
	TEST(after_a_lost_interrupt_none_is_raised_until_the_driver_looks),
	TEST(a_register_reads_as_it_is_told),
	TEST(what_a_register_is_told_to_read_as_ends_with_a_reset),
	TEST(what_is_kept_ends_with_a_reset_of_the_function),
};

int main(int argc, char **argv)
{
	tests_init(&argc, &argv);
	tests_add("/inject", tests, ARRAY_SIZE(tests));
	return tests_run();
}
