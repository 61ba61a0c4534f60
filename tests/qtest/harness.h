/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tests of the Tessera device share: a machine with the device in it, driven register by
 * register over QEMU's qtest protocol, with queues, buffers and jobs.
 *
 * Every test starts a machine of its own. Waiting is polling a register until a deadline.
 */
#ifndef TESSERA_HARNESS_H
#define TESSERA_HARNESS_H

#include "qemu/bswap.h"
#include "qobject/qdict.h"
#include "libqtest.h"
#include "libqos/generic-pcihost.h"
#include "libqos/pci.h"
#include "libqos/pci-pc.h"
#include "hw/pci/pci_regs.h"
#include "hw/misc/tessera/tessera_hw.h"

#define RAM_SIZE	(64u << 20)
#define RAM_START	(1u << 20)
#define ROM_ADDRESS	0xffff0000u		/* of the firmware, 64 KiB */
#define NOWHERE		0x7000000000ull
#define NUM_BUFFERS	64
#define RING_SHIFT	TESSERA_RING_MIN_SHIFT
#define RING_SIZE	(1u << RING_SHIFT)
#define MANY_PAGES	(RAM_SIZE / 4096)
#define TWO_PAGES	(3 * 4096)
#define NUM_DEVICES	4u
#define FIRST_SLOT	4u
#define PATIENCE	(60 * G_USEC_PER_SEC)
#define FOREVER		(1ull << 60)

#define OPTIONS	"-m 64M -nodefaults -vga none -global apic.vapic=off "
#define MACHINE	"-machine q35 " OPTIONS
#define MICROVM	"-machine microvm,pcie=on " OPTIONS

/* Guest RAM that the device can map again, and such that it cannot */
#define MEMFD	"-object memory-backend-memfd,id=ram,size=64M,share=on -machine memory-backend=ram "
#define ANONYMOUS	""

struct queue {
	uint64_t ring;
	uint64_t completion;
	uint64_t results;
	uint64_t hints;				/* 0: none */
	uint32_t tail;
	uint32_t read;				/* results that were looked at */
};

struct machine {
	QTestState *qts;
	QPCIBus *bus;
	QGenericPCIBus *generic;		/* what bus is part of, or NULL: that of a PC */
	QPCIDevice *pci;
	QPCIBar registers;
	QPCIBar sram;
	QPCIBar msix;
	uint64_t messages;			/* where those of interrupts are stored, or 0 */
	uint64_t free;				/* where unused guest memory begins */
	uint64_t directory;
	struct queue queues[TESSERA_MAX_QUEUES];
};

/* A descriptor with room for all, written out without gaps */
struct job {
	struct tessera_hw_job head;
	struct tessera_hw_operand operands[DRM_TESSERA_MAX_OPERANDS];
	struct tessera_hw_window windows[1];
	struct tessera_hw_instruction program[1];
};

/* A file: the machine's firmware, a pattern of 64 KiB */
extern char *firmware;

/* The machine */

void machine_start(struct machine *m, const char *memory, const char *properties);
/* With PCI Express, at fixed addresses, and little else */
void microvm_start(struct machine *m, const char *memory, const char *properties);
void machine_stop(struct machine *m);
uint32_t get(struct machine *m, uint64_t offset);
void set(struct machine *m, uint64_t offset, uint32_t value);
uint64_t get64(struct machine *m, uint64_t offset);
void set64(struct machine *m, uint64_t offset, uint64_t value);
/* Until the bits of a register in mask are value. */
void wait_for(struct machine *m, uint64_t offset, uint32_t mask, uint32_t value);
uint64_t allocate(struct machine *m, uint64_t size);

/* Buffers */

void buffer_set(struct machine *m, uint32_t index, uint64_t table, uint64_t size,
		uint32_t flags, uint32_t page_shift);
uint64_t table_create(struct machine *m, const uint64_t *pages, unsigned count);
/* A buffer of 4 KiB pages that follow each other. Returns the address of the first. */
uint64_t buffer_create(struct machine *m, uint32_t index, uint64_t size, uint32_t flags);
/*
 * A buffer of 4 KiB pages in reverse order. Returns the address of the last page, which is the
 * lowest. A second copy of the list is not kept: page i of count is at address + (count - 1 - i)
 * * 4096.
 */
uint64_t scattered_create(struct machine *m, uint32_t index, unsigned count, uint32_t flags);
/* The pages of such a buffer, between its order and that of guest memory */
void scattered_copy(struct machine *m, uint64_t address, unsigned count, uint8_t *data,
		    bool is_write);
/*
 * A buffer of two pages in turn, which are not neighbours: each is a piece of its own, and of
 * MANY_PAGES there are more than QEMU maps side by side.
 */
void buffer_of_two_pages(struct machine *m, uint32_t index, unsigned count, uint64_t pages,
			 uint32_t flags);
void directory_create(struct machine *m);
/* Tells the device of it, again */
void directory_set(struct machine *m);

/* Queues */

void queue_configure(struct machine *m, unsigned index);
void queue_create(struct machine *m, unsigned index);
void queue_disable(struct machine *m, unsigned index);
uint64_t sequence_of(uint32_t entry);
uint64_t job_write(struct machine *m, const struct job *job, uint32_t *size);
/* Puts an entry into the ring and rings nothing. */
void entry_push(struct machine *m, unsigned queue, struct tessera_hw_ring_entry entry);
void job_push(struct machine *m, unsigned queue, const struct job *job, uint32_t flags);
void doorbell(struct machine *m, unsigned queue);
/* Waits until all that was pushed has ended; the result of the next job that was not looked at. */
struct tessera_hw_result result_next(struct machine *m, unsigned queue);
struct tessera_hw_result job_run(struct machine *m, const struct job *job);
void assert_success(struct tessera_hw_result result);
void assert_fault(struct tessera_hw_result result, uint32_t cause, uint32_t operand,
		  int64_t offset);

/* Interrupts: a message is a store to memory, here to RAM, where it can be seen. */

#define MESSAGE(vector)	(0xabc00000u + (vector))

void msix_enable(struct machine *m, unsigned count);
uint32_t msix_pending(struct machine *m);		/* of the first 32 vectors */
/* The last message of a vector since it was cleared, or 0 */
uint32_t message_get(struct machine *m, unsigned vector);
void message_clear(struct machine *m, unsigned vector);
void message_wait(struct machine *m, unsigned vector);

/* Resets; function_configure() puts the BARs where they were, as the last two do */

void reset_by_register(struct machine *m);
void function_level_reset(struct machine *m);
void function_configure(struct machine *m);
void reset_function(struct machine *m);
void reset_system(struct machine *m);

/* Jobs */

enum { DESTINATION, SOURCE };	/* of the jobs below: operands, and indices of their buffers */

/* Bytes from buffer SOURCE to buffer DESTINATION */
struct job job_bytes(uint64_t count);
/* One that goes on until it is stopped: bytes of SOURCE into the first of DESTINATION */
struct job job_endless(void);
/* Rows of 64 bytes of SOURCE, by the i32 in buffer 2 */
struct job job_gather(uint64_t rows, uint64_t index_limit);

uint32_t word(const uint8_t *data);
void fill_pattern(uint8_t *data, size_t size);

/*
 * A machine with a directory, queue 0, and buffers of 8192 bytes: SOURCE patterned, DESTINATION
 * 0xee
 */
struct pair {
	struct machine m;
	uint64_t destination;
	uint64_t source;
	uint8_t pattern[8192];
};

void pair_create(struct pair *p);
void pair_start(struct pair *p, const char *properties);
/*
 * NUM_DEVICES in one machine, that of the first, with memory to allocate of their own. Slots are
 * those from 4 on.
 */
void devices_start(struct pair *pairs, const char *memory);
void devices_stop(struct pair *pairs);
void assert_untouched(struct pair *p);
void assert_moved(struct pair *p, size_t size);
/* Starts the job that does not end, on a queue, and waits until it moves data. */
void endless_start(struct pair *p, unsigned queue);
/* The queue still does what it should, after whatever the test did to it */
void assert_works(struct pair *p);

/* Tests */

struct test {
	const char *name;
	void (*function)(void);
};

#define TEST(name)	{ #name, name }

/* Before any is added, and instead of g_test_run() */
void tests_init(int *argc, char ***argv);
int tests_run(void);
void tests_add(const char *group, const struct test *tests, unsigned count);

/* A case of a table, as a test of its name */
#define ADD_CASES(group, table, function)						\
	do {										\
		for (unsigned n = 0; n < ARRAY_SIZE(table); n++) {			\
			g_autofree char *path = g_strdup_printf(group "/%s",		\
								(table)[n].name);	\
											\
			g_test_add_data_func(path, &(table)[n], function);		\
		}									\
	} while (0)

#endif /* TESSERA_HARNESS_H */
