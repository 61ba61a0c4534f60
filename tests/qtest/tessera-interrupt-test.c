/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts: what raises a vector, what keeps its message back, and what becomes of a message that
 * leads anywhere.
 */
#include "qemu/osdep.h"
#include "harness.h"

#define NUM_VECTORS	5u		/* of four queues, and one for errors */
#define NUM_RAISED	3u

/* What can keep the message of vector 0 back */
#define VECTOR		(1u << 0)	/* its mask bit */
#define FUNCTION	(1u << 1)	/* that of all vectors */
#define OFF		(1u << 2)	/* MSI-X is not enabled */

static void a_job_that_asks_for_an_interrupt_raises_its_vector(void)
{
	struct job job = job_bytes(1);
	struct pair p;

	pair_start(&p, "");
	queue_create(&p.m, 2);
	msix_enable(&p.m, 5);
	job_push(&p.m, 2, &job, TESSERA_RING_INTERRUPT);
	doorbell(&p.m, 2);
	message_wait(&p.m, TESSERA_VECTOR_QUEUE(2));
	/* The message came after all else of the job */
	g_assert_cmphex(qtest_readq(p.m.qts, p.m.queues[2].completion), ==, sequence_of(0));
	g_assert_cmpuint(get(&p.m, TESSERA_QUEUE(2) + TESSERA_QUEUE_HEAD), ==, 1);
	machine_stop(&p.m);
}

static void a_job_that_asks_for_no_interrupt_raises_none(void)
{
	struct job job = job_bytes(1);
	struct pair p;

	pair_start(&p, "");
	queue_create(&p.m, 1);
	msix_enable(&p.m, 5);
	assert_success(job_run(&p.m, &job));
	/* Another queue's interrupt is behind the one that must not come */
	job_push(&p.m, 1, &job, TESSERA_RING_INTERRUPT);
	doorbell(&p.m, 1);
	message_wait(&p.m, TESSERA_VECTOR_QUEUE(1));
	g_assert_cmphex(message_get(&p.m, 0), ==, 0);
	machine_stop(&p.m);
}

static void a_test_register_raises_a_vector(void)
{
	struct pair p;

	pair_start(&p, "x-test=on");
	msix_enable(&p.m, 5);
	set(&p.m, TESSERA_REG_TEST_INTERRUPT, 5);	/* there is none */
	set(&p.m, TESSERA_REG_TEST_INTERRUPT, TESSERA_VECTOR_QUEUE(3));
	message_wait(&p.m, TESSERA_VECTOR_QUEUE(3));
	g_assert_cmphex(get(&p.m, TESSERA_REG_TEST_INTERRUPT), ==, 0);
	machine_stop(&p.m);
}

static void a_queue_that_fails_raises_the_error_vector(void)
{
	struct pair p;

	pair_start(&p, "");
	msix_enable(&p.m, 5);
	set(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_TAIL, RING_SIZE + 1);
	message_wait(&p.m, TESSERA_VECTOR_ERROR(4));
	machine_stop(&p.m);
}


/* MSI-X */

static uint8_t capability_of(struct machine *m)
{
	return qpci_find_capability(m->pci, PCI_CAP_ID_MSIX, 0);
}

static void hold(struct machine *m, uint32_t holds)
{
	uint16_t flags = (holds & FUNCTION ? PCI_MSIX_FLAGS_MASKALL : 0) |
			 (holds & OFF ? 0 : PCI_MSIX_FLAGS_ENABLE);

	qpci_io_writel(m->pci, m->msix, PCI_MSIX_ENTRY_VECTOR_CTRL,
		       holds & VECTOR ? PCI_MSIX_ENTRY_CTRL_MASKBIT : 0);
	qpci_config_writew(m->pci, capability_of(m) + PCI_MSIX_FLAGS, flags);
}

/* Raises vector 0 so many times, one after the other. */
static void vector_raise(struct pair *p, unsigned count)
{
	uint64_t num_interrupts = TESSERA_QUEUE(0) + TESSERA_QUEUE_NUM_INTERRUPTS;
	uint32_t before = get(&p->m, num_interrupts);
	struct job job = job_bytes(1);
	unsigned i;

	for (i = 1; i <= count; i++) {
		job_push(&p->m, 0, &job, TESSERA_RING_INTERRUPT);
		doorbell(&p->m, 0);
		assert_success(result_next(&p->m, 0));
		wait_for(&p->m, num_interrupts, ~0u, before + i);
	}
}

/* When its message is there, those raised before are. */
static void messages_settle(struct pair *p, unsigned vector)
{
	set(&p->m, TESSERA_REG_TEST_INTERRUPT, vector);
	message_wait(&p->m, vector);
}

static void assert_no_message(struct pair *p)
{
	g_assert_cmphex(message_get(&p->m, 0), ==, 0);
}

/* In which order what keeps a message back goes; 0 ends it. */
struct hold_case {
	const char *name;
	uint32_t order[4];
};

static const struct hold_case hold_cases[] = {
	{ "a_vector_is_pending_until_it_is_unmasked", { VECTOR } },
	{ "a_vector_is_pending_until_all_are_unmasked", { FUNCTION } },
	{ "a_vector_is_pending_until_msix_is_enabled", { OFF } },
	{ "a_vector_is_pending_until_it_and_all_are_unmasked", { VECTOR, FUNCTION } },
	{ "a_vector_is_pending_until_all_and_it_are_unmasked", { FUNCTION, VECTOR } },
	{ "a_vector_is_pending_until_it_is_unmasked_and_msix_enabled", { VECTOR, OFF } },
	{ "a_vector_is_pending_until_msix_is_enabled_and_it_is_unmasked", { OFF, VECTOR } },
	{ "a_vector_is_pending_until_all_are_unmasked_and_msix_enabled", { FUNCTION, OFF } },
	{ "a_vector_is_pending_until_msix_is_enabled_and_all_are_unmasked", { OFF, FUNCTION } },
	{ "a_vector_is_pending_until_three_holds_are_gone", { OFF, FUNCTION, VECTOR } },
	{ "a_vector_is_pending_until_they_are_gone_in_reverse", { VECTOR, FUNCTION, OFF } },
};

/* However often it was raised, the message is sent once: when nothing keeps it back any more. */
static void message_is_held(gconstpointer opaque)
{
	const struct hold_case *c = opaque;
	uint32_t holds = c->order[0] | c->order[1] | c->order[2];
	struct pair p;
	unsigned i;

	pair_start(&p, "");
	msix_enable(&p.m, NUM_VECTORS);
	hold(&p.m, holds);
	g_assert_cmphex(msix_pending(&p.m), ==, 0);
	vector_raise(&p, NUM_RAISED);
	for (i = 0; c->order[i]; i++) {
		g_assert_cmphex(msix_pending(&p.m), ==, 1);
		assert_no_message(&p);
		holds &= ~c->order[i];
		hold(&p.m, holds);
	}
	g_assert_cmphex(message_get(&p.m, 0), ==, MESSAGE(0));
	g_assert_cmphex(msix_pending(&p.m), ==, 0);
	message_clear(&p.m, 0);
	for (i = 0; c->order[i]; i++) {
		hold(&p.m, c->order[i]);
		hold(&p.m, 0);
	}
	assert_no_message(&p);
	vector_raise(&p, 1);
	message_wait(&p.m, 0);
	machine_stop(&p.m);
}

static void a_mask_is_of_its_vector_alone(void)
{
	struct pair p;

	pair_start(&p, "x-test=on");
	msix_enable(&p.m, NUM_VECTORS);
	hold(&p.m, VECTOR);
	vector_raise(&p, 1);
	messages_settle(&p, TESSERA_VECTOR_QUEUE(1));
	messages_settle(&p, TESSERA_VECTOR_ERROR(4));
	g_assert_cmphex(msix_pending(&p.m), ==, 1);
	assert_no_message(&p);
	machine_stop(&p.m);
}

static void what_is_pending_outlasts_that_msix_is_off(void)
{
	struct pair p;
	unsigned i;

	pair_start(&p, "");
	msix_enable(&p.m, NUM_VECTORS);
	hold(&p.m, VECTOR);
	vector_raise(&p, 1);
	for (i = 0; i < 3; i++) {
		hold(&p.m, VECTOR | OFF);
		g_assert_cmphex(msix_pending(&p.m), ==, 1);
		hold(&p.m, VECTOR | FUNCTION);
		hold(&p.m, VECTOR);
	}
	assert_no_message(&p);
	hold(&p.m, 0);
	message_wait(&p.m, 0);
	machine_stop(&p.m);
}

/* Bits 33 to 64 of 65 vectors, and no more */
static void sixty_five_vectors_are_pending(void)
{
	struct pair p;
	uint32_t place;
	unsigned i;

	pair_start(&p, "x-test=on,queues=64,sram-size=4K");
	msix_enable(&p.m, 65);
	hold(&p.m, FUNCTION);
	for (i = 0; i <= 64; i++)
		set(&p.m, TESSERA_REG_TEST_INTERRUPT, i);
	wait_for(&p.m, TESSERA_QUEUE(63) + TESSERA_QUEUE_NUM_INTERRUPTS, ~0u, 1);
	place = qpci_config_readl(p.m.pci, capability_of(&p.m) + PCI_MSIX_PBA) &
		~PCI_MSIX_FLAGS_BIRMASK;
	g_assert_cmphex(qpci_io_readl(p.m.pci, p.m.msix, place), ==, ~0u);
	g_assert_cmphex(qpci_io_readl(p.m.pci, p.m.msix, place + 4), ==, ~0u);
	g_assert_cmphex(qpci_io_readl(p.m.pci, p.m.msix, place + 8), ==, 1);
	machine_stop(&p.m);
}

static void pending_bits_cannot_be_written(void)
{
	uint32_t place;
	struct pair p;

	pair_start(&p, "");
	msix_enable(&p.m, NUM_VECTORS);
	place = qpci_config_readl(p.m.pci, capability_of(&p.m) + PCI_MSIX_PBA) &
		~PCI_MSIX_FLAGS_BIRMASK;
	hold(&p.m, VECTOR);
	qpci_io_writel(p.m.pci, p.m.msix, place, ~0u);
	g_assert_cmphex(msix_pending(&p.m), ==, 0);
	vector_raise(&p, 1);
	qpci_io_writel(p.m.pci, p.m.msix, place, 0);
	g_assert_cmphex(msix_pending(&p.m), ==, 1);
	hold(&p.m, 0);
	message_wait(&p.m, 0);
	machine_stop(&p.m);
}

/* Of the control word of a vector one bit means something, the others nothing. */
static void reserved_bits_of_a_vector_do_nothing(void)
{
	struct pair p;

	pair_start(&p, "");
	msix_enable(&p.m, NUM_VECTORS);
	qpci_io_writel(p.m.pci, p.m.msix, PCI_MSIX_ENTRY_VECTOR_CTRL, ~0u);
	vector_raise(&p, 1);
	g_assert_cmphex(msix_pending(&p.m), ==, 1);
	assert_no_message(&p);
	qpci_io_writel(p.m.pci, p.m.msix, PCI_MSIX_ENTRY_VECTOR_CTRL,
		       ~PCI_MSIX_ENTRY_CTRL_MASKBIT);
	message_wait(&p.m, 0);
	g_assert_cmphex(msix_pending(&p.m), ==, 0);
	machine_stop(&p.m);
}

static void small_writes_to_the_table_do_nothing(void)
{
	uint64_t address;
	struct pair p;

	pair_start(&p, "");
	msix_enable(&p.m, NUM_VECTORS);
	address = p.m.msix.addr + PCI_MSIX_ENTRY_VECTOR_CTRL;
	qtest_writeb(p.m.qts, address, PCI_MSIX_ENTRY_CTRL_MASKBIT);
	qtest_writew(p.m.qts, address, PCI_MSIX_ENTRY_CTRL_MASKBIT);
	qtest_writew(p.m.qts, p.m.msix.addr + PCI_MSIX_ENTRY_DATA, 0x1234);
	vector_raise(&p, 1);
	message_wait(&p.m, 0);
	machine_stop(&p.m);
}

/* Where a guest may have a message sent: nothing comes of it, and the next is sent as it should */

static uint64_t to_nowhere(struct machine *m)
{
	return NOWHERE;
}

static uint64_t to_the_end_of_the_address_space(struct machine *m)
{
	return ~3ull;
}

static uint64_t to_rom(struct machine *m)
{
	return ROM_ADDRESS;
}

static uint64_t to_its_own_entry(struct machine *m)
{
	return m->msix.addr;
}

static uint64_t to_the_reset_register(struct machine *m)
{
	return m->registers.addr + TESSERA_REG_CONTROL;
}

static uint64_t to_a_doorbell(struct machine *m)
{
	return m->registers.addr + TESSERA_QUEUE(0) + TESSERA_QUEUE_TAIL;
}

struct message_case {
	const char *name;
	uint64_t (*address)(struct machine *m);
};

static const struct message_case message_cases[] = {
	{ "a_message_to_nowhere_is_lost", to_nowhere },
	{ "a_message_to_the_end_of_the_address_space_is_lost", to_the_end_of_the_address_space },
	{ "a_message_to_rom_is_lost", to_rom },
	{ "a_message_to_its_own_entry_is_lost", to_its_own_entry },
	{ "a_message_to_the_reset_register_is_lost", to_the_reset_register },
	{ "a_message_to_a_doorbell_is_lost", to_a_doorbell },
};

static void message_is_lost(gconstpointer opaque)
{
	const struct message_case *c = opaque;
	uint64_t address, low;
	struct pair p;

	pair_start(&p, "");
	msix_enable(&p.m, NUM_VECTORS);
	address = c->address(&p.m);
	low = qpci_io_readl(p.m.pci, p.m.msix, PCI_MSIX_ENTRY_LOWER_ADDR);
	qpci_io_writel(p.m.pci, p.m.msix, PCI_MSIX_ENTRY_LOWER_ADDR, address);
	qpci_io_writel(p.m.pci, p.m.msix, PCI_MSIX_ENTRY_UPPER_ADDR, address >> 32);
	vector_raise(&p, 2);
	/* Also of one that was pending: it is sent by the write that unmasks it */
	hold(&p.m, VECTOR);
	vector_raise(&p, 1);
	hold(&p.m, 0);
	g_assert_cmphex(msix_pending(&p.m), ==, 0);
	g_assert_cmphex(qpci_io_readl(p.m.pci, p.m.msix, PCI_MSIX_ENTRY_LOWER_ADDR), ==,
			(uint32_t)address);
	qpci_io_writel(p.m.pci, p.m.msix, PCI_MSIX_ENTRY_LOWER_ADDR, low);
	qpci_io_writel(p.m.pci, p.m.msix, PCI_MSIX_ENTRY_UPPER_ADDR, 0);
	assert_works(&p);
	assert_no_message(&p);
	vector_raise(&p, 1);
	message_wait(&p.m, 0);
	machine_stop(&p.m);
}

/* A message that is sent by a write to the configuration is let through to the device itself. */
static void a_message_may_reset_the_device_that_sends_it(void)
{
	uint64_t low;
	struct pair p;

	pair_start(&p, "");
	msix_enable(&p.m, NUM_VECTORS);
	low = qpci_io_readl(p.m.pci, p.m.msix, PCI_MSIX_ENTRY_LOWER_ADDR);
	qpci_io_writel(p.m.pci, p.m.msix, PCI_MSIX_ENTRY_LOWER_ADDR,
		       p.m.registers.addr + TESSERA_REG_CONTROL);
	qpci_io_writel(p.m.pci, p.m.msix, PCI_MSIX_ENTRY_DATA, TESSERA_CONTROL_RESET);
	hold(&p.m, FUNCTION);
	vector_raise(&p, 1);
	endless_start(&p, 0);
	hold(&p.m, 0);
	wait_for(&p.m, TESSERA_REG_CONTROL, ~0u, 0);
	g_assert_cmphex(get64(&p.m, TESSERA_REG_BUFFERS), ==, 0);
	qpci_io_writel(p.m.pci, p.m.msix, PCI_MSIX_ENTRY_LOWER_ADDR, low);
	qpci_io_writel(p.m.pci, p.m.msix, PCI_MSIX_ENTRY_DATA, MESSAGE(0));
	directory_set(&p.m);
	queue_create(&p.m, 0);
	vector_raise(&p, 1);
	message_wait(&p.m, 0);
	machine_stop(&p.m);
}

static void without_bus_mastering_no_message_is_sent(void)
{
	struct pair p;

	pair_start(&p, "x-test=on");
	msix_enable(&p.m, NUM_VECTORS);
	qpci_config_writew(p.m.pci, PCI_COMMAND, PCI_COMMAND_MEMORY);
	set(&p.m, TESSERA_REG_TEST_INTERRUPT, TESSERA_VECTOR_QUEUE(0));
	wait_for(&p.m, TESSERA_QUEUE(0) + TESSERA_QUEUE_NUM_INTERRUPTS, ~0u, 1);
	assert_no_message(&p);
	qpci_config_writew(p.m.pci, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	messages_settle(&p, TESSERA_VECTOR_QUEUE(1));
	machine_stop(&p.m);
}

static void there_is_no_other_kind_of_interrupt(void)
{
	struct pair p;

	pair_start(&p, "");
	g_assert_cmphex(qpci_config_readb(p.m.pci, PCI_INTERRUPT_PIN), ==, 0);
	g_assert_cmphex(qpci_find_capability(p.m.pci, PCI_CAP_ID_MSI, 0), ==, 0);
	/* With MSI-X off, which is when a device would use its pin */
	p.m.msix = qpci_iomap(p.m.pci, TESSERA_BAR_MSIX, NULL);
	vector_raise(&p, 1);
	g_assert_cmphex(msix_pending(&p.m), ==, 1);
	g_assert_cmphex(qpci_config_readw(p.m.pci, PCI_STATUS) & PCI_STATUS_INTERRUPT, ==, 0);
	machine_stop(&p.m);
}

static const struct test tests[] = {
	TEST(a_job_that_asks_for_an_interrupt_raises_its_vector),
	TEST(a_job_that_asks_for_no_interrupt_raises_none),
	TEST(a_test_register_raises_a_vector),
	TEST(a_queue_that_fails_raises_the_error_vector),
	TEST(a_mask_is_of_its_vector_alone),
	TEST(what_is_pending_outlasts_that_msix_is_off),
	TEST(sixty_five_vectors_are_pending),
	TEST(pending_bits_cannot_be_written),
	TEST(reserved_bits_of_a_vector_do_nothing),
	TEST(small_writes_to_the_table_do_nothing),
	TEST(a_message_may_reset_the_device_that_sends_it),
	TEST(without_bus_mastering_no_message_is_sent),
	TEST(there_is_no_other_kind_of_interrupt),
};

int main(int argc, char **argv)
{
	tests_init(&argc, &argv);
	tests_add("/interrupt", tests, ARRAY_SIZE(tests));
	ADD_CASES("/interrupt", hold_cases, message_is_held);
	ADD_CASES("/interrupt", message_cases, message_is_lost);
	return tests_run();
}
