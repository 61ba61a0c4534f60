/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seam between the model of the device and the program that it is part of, its host: guest
 * memory, interrupts and time. The model, tessera.c and tessera-queue.c, -job.c, -counters.c,
 * -view.c and -state.c, knows its host by this page alone. In QEMU the host is tessera-pci.c with
 * tessera-dma.c and tessera-iommu.c; Documentation/device.rst says what another one has to do.
 *
 * The host has one lock that is held while it calls the model: in QEMU the BQL. Worker threads of
 * the model NEVER take it: whoever resets or removes the device holds it and waits for them. So
 * what they call here may not take it either, nor wait for who does. What needs it they leave to
 * tessera_serve(), by tessera_host_kick().
 */
#ifndef HW_MISC_TESSERA_HOST_H
#define HW_MISC_TESSERA_HOST_H

#include "tessera_hw.h"

typedef struct TesseraState TesseraState;
typedef struct TesseraRegions TesseraRegions;

/* A region of memory as the host has it, which lives as long as somebody keeps it */
typedef struct TesseraMemory TesseraMemory;

/* Guest memory in one piece of RAM */
struct tessera_span {
	TesseraMemory *memory;
	uint8_t *host;
	uint64_t address;		/* DMA address of the first byte */
	uint64_t size;
};

#define TESSERA_MAX_SPANS	512

/* What tessera_dma_find() has found, in the order of addresses */
struct tessera_spans {
	struct tessera_span spans[TESSERA_MAX_SPANS];
	unsigned count;
	unsigned next;			/* the first that may have what is looked for next */
	bool has_ended;			/* behind the last is nothing that can be accessed */
};

#define TESSERA_ACCESS_READ	(1u << 0)
#define TESSERA_ACCESS_WRITE	(1u << 1)

/*
 * What the host does for the model. Guest memory is RAM and nothing else, and not the device's
 * SRAM: what an address that leads elsewhere leads to is not touched.
 *
 * find: RAM from address on, some of size bytes or more, kept with regions by
 * tessera_regions_add(). It can be used until tessera_layout_changed(), tessera_views_revoke(), or
 * as long as it is kept. False: there is none at address.
 */
bool tessera_dma_find(TesseraState *s, uint64_t address, uint64_t size, unsigned access,
		      TesseraRegions *regions, struct tessera_spans *spans);
bool tessera_dma_read(TesseraState *s, uint64_t address, void *data, uint64_t size);
bool tessera_dma_write(TesseraState *s, uint64_t address, const void *data, uint64_t size);
/* Loads of 8 bytes each, from an aligned address on; all in one piece of RAM, or false */
bool tessera_dma_read_words(TesseraState *s, uint64_t address, uint64_t *words, unsigned count);
/* One store of 8 bytes at an aligned address, after everything written before */
bool tessera_dma_write_word(TesseraState *s, uint64_t address, uint64_t value);
/* The caller keeps memory, which contains host. */
void tessera_dma_mark_dirty(TesseraState *s, TesseraMemory *memory, uint8_t *host, uint64_t size);

/* release: with the host's lock, for it may be the last */
void tessera_memory_keep(TesseraMemory *memory);
void tessera_memory_release(TesseraMemory *memory);
/*
 * The file that holds the byte at host and what follows it in memory, and where. False: it cannot
 * be mapped a second time, page by page, with the first mapping seeing what is stored to the other.
 */
bool tessera_memory_file(TesseraMemory *memory, const uint8_t *host, int *fd, off_t *offset);

/* Has tessera_serve() called soon. */
void tessera_host_kick(TesseraState *s);
/* With the host's lock */
void tessera_host_interrupt(TesseraState *s, unsigned vector);
/*
 * With the host's lock, and the model's, which is given up meanwhile: answers a worker that waits
 * for the host's lock to be had in one of the functions above. False: none does. One that begins to
 * wait wakes who waits for TesseraState.change.
 */
bool tessera_host_answer(TesseraState *s);
/* Of a clock that never goes back */
int64_t tessera_host_nanoseconds(void);
/* Around what a worker thread does, in that thread */
void tessera_host_thread_begin(void);
void tessera_host_thread_end(void);

/*
 * What goes wrong for tests; 0: nothing. These are registers, which a reset sets to the properties
 * of the same names.
 */
struct tessera_tests {
	uint32_t hang;
	uint32_t skew;
	uint32_t fault;
	uint32_t slow;
	uint32_t corrupt;
	uint32_t drop;
	uint32_t read;
	uint32_t value;
};

/* State as it is saved and loaded, nothing of it trusted */
struct tessera_saved_queue {
	uint64_t ring;
	uint64_t completion;
	uint64_t results;
	uint64_t hints;
	uint64_t raised;
	uint64_t progress;
	uint32_t ring_shift;
	uint32_t tail;
	uint32_t head;
	uint32_t error;
	uint32_t num_doorbells;
	uint32_t num_interrupts;
	struct tessera_tests tests;	/* about the job that has begun */
	uint64_t totals[TESSERA_NUM_COUNTERS];
	uint64_t time;
	uint64_t links[2 * TESSERA_NUM_LINKS];	/* of each, bytes and when it is free */
	uint32_t flags;
#define TESSERA_SAVED_ENABLED	(1u << 0)
#define TESSERA_SAVED_RAISED	(1u << 1)
#define TESSERA_SAVED_BEGUN	(1u << 2)	/* the job at head */
#define TESSERA_SAVED_HUNG	(1u << 3)	/* by TEST_HANG */
#define TESSERA_SAVED_FLAGS	0xfu
};

struct tessera_saved {
	uint32_t features;
	uint32_t clock;
	uint32_t grid_columns;
	uint64_t time;
	uint64_t buffers;
	uint64_t pending_vectors[2];
	uint32_t num_buffers;
	struct tessera_tests tests;
	struct tessera_saved_queue queues[TESSERA_MAX_QUEUES];
};

/*
 * What the model does for the host, with the host's lock unless said otherwise. The host has filled
 * in the members of TesseraState that are its own before init, and calls a reset last of all before
 * cleanup.
 */
void tessera_init(TesseraState *s);
void tessera_cleanup(TesseraState *s);
/* Access to BAR 0, 4 bytes at an aligned address */
uint32_t tessera_register_read(TesseraState *s, uint64_t address);
void tessera_register_write(TesseraState *s, uint64_t address, uint32_t value);
/* When it returns, nothing of the device is in flight. */
void tessera_reset(TesseraState *s);
/* The device reaches no memory from now on: when it returns, no job has any in use. */
void tessera_cut_off(TesseraState *s);
/*
 * The machine stops, and goes on. When pause returns, nothing is in flight, no interrupt is pending
 * and no job runs: those that did have ended, or run again from their start when the machine goes
 * on, here or wherever the state is taken. After init the model is paused.
 */
void tessera_pause(TesseraState *s);
void tessera_resume(TesseraState *s);
void tessera_serve(TesseraState *s);
/*
 * The state, while paused. load comes after a reset; false: the state is none that the device can
 * be in, text says why, and nothing was changed.
 */
void tessera_save(TesseraState *s, struct tessera_saved *saved);
bool tessera_load(TesseraState *s, const struct tessera_saved *saved, char *text, size_t size);
/* What was found before is not what is there any more. */
void tessera_layout_changed(TesseraState *s);
/* When it returns, no job is inside a view of the DMA addresses low to high. */
void tessera_views_revoke(TesseraState *s, uint64_t low, uint64_t high);
/* From within find, at any time: keeps memory that was found with these views. */
void tessera_regions_add(TesseraState *s, TesseraRegions *regions, TesseraMemory *memory);

#endif /* HW_MISC_TESSERA_HOST_H */
