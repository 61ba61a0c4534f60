/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Tessera device: its state and what its files give each other. The PCI function and its
 * registers are in tessera.c, the queues and the threads that run them in tessera-queue.c, one
 * job's way from descriptor to engine in tessera-job.c, buffers as the engine sees them in
 * tessera-view.c, access to guest memory in tessera-dma.c, what an IOMMU says in tessera-iommu.c.
 *
 * Threads. Worker threads run jobs outside the BQL and NEVER take it: whoever resets or removes
 * the device holds the BQL and waits for them. What needs the BQL (interrupts, giving up
 * references to memory regions, asking an IOMMU) they leave to a bottom half of the main loop. It
 * follows that they may touch nothing but RAM: access to MMIO takes the BQL. tessera-dma.c sees to
 * that.
 * A small job may run in the thread of a processor that writes a doorbell, under the BQL: the same
 * functions, which do not care. What then may take long is left to the workers.
 *
 * TesseraState.lock is taken inside the BQL and inside RCU read sections, never around them. It
 * is held for moments only, not while guest memory is read or a job runs.
 */
#ifndef HW_MISC_TESSERA_H
#define HW_MISC_TESSERA_H

#include "qemu/thread.h"
#include "hw/pci/pci_device.h"
#include "tessera_hw.h"
#include "engine/engine.h"

#define TYPE_TESSERA "tessera"
OBJECT_DECLARE_SIMPLE_TYPE(TesseraState, TESSERA)

typedef struct TesseraQueue TesseraQueue;
typedef struct TesseraView TesseraView;
typedef struct TesseraRegions TesseraRegions;

/* Places for pages of guest memory, for reading and as many for writing */
#define TESSERA_NUM_PAGES	512

/* Guest memory in one piece of RAM */
struct tessera_span {
	MemoryRegion *mr;
	uint8_t *host;
	uint64_t address;		/* DMA address of the first byte */
	uint64_t size;
};

/* The bits of TesseraQueue.cancel */
#define TESSERA_CANCEL_STOP	(1u << 0)	/* the running job is to stop */
#define TESSERA_CANCEL_PAUSE	(1u << 1)	/* it is to leave its views and enter them again */

/*
 * A queue and its processing element. All members belong to the lock, except: while is_running,
 * the worker that runs the queue reads the configuration (ring to results, head) freely, because
 * the registers cannot be written then; cancel and progress are atomics.
 */
struct TesseraQueue {
	TesseraState *device;
	unsigned index;
	uint64_t ring;
	uint64_t completion;
	uint64_t results;
	uint64_t hints;
	uint32_t ring_shift;
	uint32_t tail;
	uint32_t head;
	uint32_t error;			/* TESSERA_QUEUE_ERROR_x or 0 */
	uint64_t raised;		/* the completion word when the vector was raised last */
	bool is_raised;			/* it was, since the queue was enabled */
	uint32_t num_doorbells;
	uint32_t num_interrupts;
	bool is_enabled;
	bool is_listed;			/* on the list of queues that wait for a worker */
	bool is_running;		/* a job has begun and not ended */
	bool is_running_here;		/* in the thread of the doorbell; BQL */
	bool is_hung;			/* it hangs by TEST_HANG and has no worker */
	uint32_t cancel;		/* TESSERA_CANCEL_x */
	bool is_inside;			/* the running job has entered its views */
	uint64_t progress;
	QTAILQ_ENTRY(TesseraQueue) next;
};

struct TesseraState {
	PCIDevice parent;
	MemoryRegion registers;
	MemoryRegion sram;

	/* Properties */
	uint32_t num_queues;
	uint32_t num_threads;
	uint64_t sram_size;		/* bytes for each queue */
	bool has_test_registers;

	QemuThread *threads;
	QEMUBH *bottom_half;
	MemoryListener listener;
	bool is_layout_changed;		/* within one change of the memory layout; BQL */
	QLIST_HEAD(, tessera_iommu) iommus;	/* BQL */
	bool has_iommu;			/* fixed before the first job */
	bool is_cut_off;		/* the IOMMU would not tell of changes; BQL */

	/*
	 * Protects pages, what was translated of memory that is not in views, and is held while
	 * that is touched. Nothing is waited for under it.
	 */
	QemuMutex pages_lock;
	struct tessera_span pages[2][TESSERA_NUM_PAGES];	/* by is_write; empty with size 0 */

	/* Protects all that follows, and the queues */
	QemuMutex lock;
	/* A queue was listed, or the workers are to end */
	QemuCond work;
	/* A job ended or is to be canceled, a view is built, staging memory was given back */
	QemuCond change;

	TesseraQueue queues[TESSERA_MAX_QUEUES];
	QTAILQ_HEAD(, TesseraQueue) listed;
	unsigned num_busy_workers;
	bool is_stopping;		/* the workers are to end */
	bool is_resetting;		/* the registers become zero when no worker is busy */
	uint64_t pending_vectors[2];	/* bit v: interrupt v is to be raised */

	uint64_t buffers;		/* registers */
	uint32_t num_buffers;
	uint32_t test_hang;
	uint32_t test_skew;

	/* Views of buffers, by index into the directory; the least recently used first */
	GHashTable *views;
	QTAILQ_HEAD(, TesseraView) recent;
	QTAILQ_HEAD(, TesseraView) alive;	/* all, in the table or not */
	QTAILQ_HEAD(, TesseraView) garbage;	/* to be freed once the lock is given up */
	TesseraRegions *regions;		/* what new views refer to */
	QTAILQ_HEAD(, TesseraRegions) dead_regions;	/* for the bottom half */
	uint32_t num_dropped_views;	/* dropped, and still used by running jobs */
	uint64_t num_pieces;		/* of all views: host memory that they cost */
	uint64_t mapped_bytes;		/* of all views: address space that they take */
	uint64_t staging_bytes;		/* in use by jobs that cannot work in place */
	uint64_t ram_size;		/* of the guest: the measure for what it may spend */
	QTAILQ_HEAD(, tessera_question) questions;	/* to the IOMMU, for the main loop */
};

/*
 * tessera.c: with the lock held. Several of one vector before the bottom half runs become one.
 * What is pending without being raised, the caller sees to that it is delivered.
 */
void tessera_raise(TesseraState *s, unsigned vector);
void tessera_pend(TesseraState *s, unsigned vector);
void tessera_reset_finish(TesseraState *s);

/* tessera-queue.c: with the lock held, except for start and stop of the workers */
void tessera_workers_start(TesseraState *s);
void tessera_workers_stop(TesseraState *s);
void tessera_queue_enable(TesseraQueue *q);
void tessera_queue_disable(TesseraQueue *q);
void tessera_queue_doorbell(TesseraQueue *q, uint32_t tail);
uint32_t tessera_queue_status(const TesseraQueue *q);
bool tessera_queue_is_canceled(const TesseraQueue *q);
/* After a doorbell that has set is_running_here: with the BQL and without the lock. */
void tessera_queue_run_here(TesseraQueue *q);

/*
 * tessera-job.c: without the lock. The fault has cause NONE when the job succeeded. False: the job
 * was to run only if it is small, and it is not; nothing was done.
 */
bool tessera_job_run(TesseraQueue *q, const struct tessera_hw_ring_entry *entry, uint32_t skew,
		     bool is_small_only, struct engine_fault *fault);
void tessera_fault_set(struct engine_fault *fault, enum drm_tessera_cause cause, uint32_t operand,
		       int64_t offset, const char *format, ...) G_GNUC_PRINTF(5, 6);

/*
 * tessera-view.c: a buffer as flat memory where that can be had, else as pieces of guest memory.
 * get and put are called without the lock, the drops with it, mark_dirty and copy without.
 */
void tessera_views_init(TesseraState *s);
void tessera_views_cleanup(TesseraState *s);
int tessera_view_get(TesseraQueue *q, uint32_t buffer, TesseraView **view,
		     struct engine_fault *fault);
/* A view that is there and flat, or NULL. */
TesseraView *tessera_view_get_ready(TesseraState *s, uint32_t buffer);
void tessera_view_put(TesseraState *s, TesseraView *view);
void tessera_view_drop(TesseraState *s, uint32_t buffer);
void tessera_views_drop_all(TesseraState *s);
/* Ends a layout epoch: memory regions seen so far are given up with the last view of them. */
void tessera_regions_renew(TesseraState *s);
/* With the BQL and without the lock. */
void tessera_regions_collect(TesseraState *s);
/* Gives up the lock, then frees what was dropped under it. */
void tessera_unlock(TesseraState *s);

uint64_t tessera_view_size(const TesseraView *view);
bool tessera_view_is_writable(const TesseraView *view);
/* NULL when the view is empty or not flat; then copies go in and out */
void *tessera_view_flat(const TesseraView *view);
bool tessera_view_is_flat(const TesseraView *view);
void tessera_view_mark_dirty(TesseraState *s, const TesseraView *view, uint64_t low,
			     uint64_t high);
/* Calls visit for each piece of low..high in order, until it returns false. */
void tessera_view_for_each(const TesseraView *view, uint64_t low, uint64_t high,
			   bool (*visit)(uint8_t *host, uint64_t offset, uint64_t size,
					 void *opaque),
			   void *opaque);

/*
 * What an IOMMU has taken back is read and written no longer, and views of it are stale. A job
 * enters its views while it touches what is in them; it waits until none is stale, that is, has
 * been found to be what it was. views may have gaps. Returns -1, or the place of a view that is not
 * what it was any more, with the fault.
 */
int tessera_views_enter(TesseraQueue *q, TesseraView *const *views, unsigned count,
			struct engine_fault *fault);
void tessera_views_leave(TesseraQueue *q, TesseraView *const *views, unsigned count);
/* With the BQL: when it returns, no job is inside a view of the DMA addresses low to high. */
void tessera_views_revoke(TesseraState *s, uint64_t low, uint64_t high);
/* In the RCU read section in which mr was found, without the lock: keeps it with these views. */
void tessera_regions_add(TesseraState *s, TesseraRegions *regions, MemoryRegion *mr);

/* tessera-dma.c: guest memory, RAM only */
#define TESSERA_ACCESS_READ	(1u << 0)
#define TESSERA_ACCESS_WRITE	(1u << 1)

#define TESSERA_MAX_SPANS	512

/* What tessera_dma_find() has found, in the order of addresses */
struct tessera_spans {
	struct tessera_span spans[TESSERA_MAX_SPANS];
	unsigned count;
	unsigned next;			/* the first that may have what is looked for next */
	bool has_ended;			/* behind the last is nothing that can be accessed */
};

/*
 * Finds RAM at address, as much as lies in one piece there. To be called in an RCU read section,
 * after which the span is good as long as a reference to mr is held; behind an IOMMU with the BQL.
 * False: no RAM, or not writable where that is asked for.
 */
bool tessera_dma_translate(TesseraState *s, uint64_t address, bool is_write,
			   struct tessera_span *span);
/*
 * Finds RAM from address on, some of size bytes or more. The regions are kept with regions. False:
 * there is none at address.
 */
bool tessera_dma_find(TesseraState *s, uint64_t address, uint64_t size, unsigned access,
		      TesseraRegions *regions, struct tessera_spans *spans);
bool tessera_dma_read(TesseraState *s, uint64_t address, void *data, uint64_t size);
bool tessera_dma_write(TesseraState *s, uint64_t address, const void *data, uint64_t size);
/* Loads of 8 bytes each, from an aligned address on; all in one piece of RAM, or false */
bool tessera_dma_read_words(TesseraState *s, uint64_t address, uint64_t *words, unsigned count);
/* One store of 8 bytes at an aligned address, after everything written before */
bool tessera_dma_write_word(TesseraState *s, uint64_t address, uint64_t value);
/* The caller holds a reference to mr, which contains host. */
void tessera_dma_mark_dirty(TesseraState *s, MemoryRegion *mr, uint8_t *host, uint64_t size);

/*
 * tessera-iommu.c: behind an IOMMU. find is tessera_dma_find(). enter finds a page to be touched,
 * until leave. serve answers workers, in the main loop.
 */
bool tessera_iommu_find(TesseraState *s, uint64_t address, uint64_t size, unsigned access,
			TesseraRegions *regions, struct tessera_spans *spans);
bool tessera_page_enter(TesseraState *s, uint64_t address, bool is_write,
			struct tessera_span *span);
void tessera_page_leave(TesseraState *s);
void tessera_pages_drop_all(TesseraState *s);
void tessera_iommu_serve(TesseraState *s);
/* With the BQL: the layout of memory changes. */
void tessera_iommu_region_add(TesseraState *s, MemoryRegionSection *section);
void tessera_iommu_region_del(TesseraState *s, MemoryRegionSection *section);

#endif /* HW_MISC_TESSERA_H */
