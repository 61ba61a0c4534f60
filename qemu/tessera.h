/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model of the Tessera device: its state and what its files give each other. The registers,
 * interrupts and resets are in tessera.c, the queues and the threads that run them in
 * tessera-queue.c, one job's way from descriptor to engine in tessera-job.c, what it counts in
 * tessera-counters.c, buffers as the engine sees them in tessera-view.c, what is saved and loaded
 * in tessera-state.c. What it is part of, and how it gets to guest memory, is behind
 * tessera-host.h; the host's lock is said there to be what worker threads never take.
 *
 * A small job may run in the thread of a processor that writes a doorbell, under the host's lock:
 * the same functions, which do not care. What then may take long is left to the workers.
 *
 * TesseraState.lock is taken inside the host's lock and inside RCU read sections, never around
 * them. It is held for moments only, not while guest memory is read or a job runs.
 */
#ifndef HW_MISC_TESSERA_H
#define HW_MISC_TESSERA_H

#include "qemu/queue.h"
#include "qemu/thread.h"
#include "engine/engine.h"
#include "engine/model.h"
#include "tessera-host.h"

typedef struct TesseraQueue TesseraQueue;
typedef struct TesseraView TesseraView;

/* The bits of TesseraQueue.cancel */
#define TESSERA_CANCEL_STOP	(1u << 0)	/* the running job is to stop */
#define TESSERA_CANCEL_PAUSE	(1u << 1)	/* it is to leave its views and enter them again */
#define TESSERA_CANCEL_REPEAT	(1u << 2)	/* it is to stop, to be run again from its start */

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
	bool is_running_here;		/* in the thread of the doorbell; host's lock */
	bool is_hung;			/* it hangs by TEST_HANG and has no worker */
	bool has_begun;			/* the job at head has, whether it is running or not */
	struct tessera_tests tests;	/* about it */
	bool must_finish;		/* the running job cannot be run again */
	bool is_cut_short;		/* and has no time left to */
	uint32_t cancel;		/* TESSERA_CANCEL_x */
	bool is_inside;			/* the running job has entered its views */
	uint64_t progress;
	uint64_t totals[TESSERA_NUM_COUNTERS];	/* since it was enabled */
	uint64_t time;			/* modelled: the last job's end */
	QTAILQ_ENTRY(TesseraQueue) next;
};

/* The network between the processing elements, as modelled */
struct tessera_grid {
	uint32_t columns;
	uint32_t bandwidth;		/* of a link, in 10^6 bytes a second */
	uint32_t latency;		/* of a link, in ns */
	uint32_t energy;		/* of a byte on a link, in pJ */
};

struct tessera_link {
	uint64_t bytes;			/* since the reset */
	uint64_t free;			/* modelled: when the last job has left it */
};

struct TesseraState {
	/* The host's, fixed: properties */
	uint32_t num_queues;
	uint32_t num_threads;
	uint32_t stop_wait;		/* milliseconds that tessera_pause() gives a job */
	uint64_t sram_size;		/* bytes for each queue */
	bool has_test_registers;
	struct tessera_tests tests_at_reset;
	struct engine_model timing;
	struct tessera_grid grid;

	/* The host's, fixed before the first job */
	TesseraMemory *sram_memory;	/* of BAR 2, NULL with sram_size 0 */
	uint8_t *sram;
	uint64_t ram_size;		/* of the guest: the measure for what it may spend */
	bool has_iommu;			/* memory may be taken back: tessera_views_revoke() */

	QemuThread *threads;

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
	bool is_waited_for;		/* who has the host's lock waits for all jobs to end */
	bool is_paused;			/* no job begins */
	uint64_t pending_vectors[2];	/* bit v: interrupt v is to be raised */

	uint64_t buffers;		/* registers */
	uint32_t num_buffers;
	struct tessera_tests tests;

	/* Views of buffers, by index into the directory; the least recently used first */
	GHashTable *views;
	QTAILQ_HEAD(, TesseraView) recent;
	QTAILQ_HEAD(, TesseraView) alive;	/* all, in the table or not */
	/* To be unmapped by the workers, before all else that they do */
	QTAILQ_HEAD(, tessera_mapping) discarded;
	TesseraRegions *regions;		/* what new views refer to */
	QTAILQ_HEAD(, TesseraRegions) dead_regions;	/* for tessera_serve() */
	uint32_t num_dropped_views;	/* dropped, and still used by running jobs */
	uint64_t num_pieces;		/* of all views: host memory that they cost */
	uint64_t mapped_bytes;		/* of all views: address space that they take */
	uint64_t staging_bytes;		/* in use by jobs that cannot work in place */

	struct tessera_link links[TESSERA_MAX_QUEUES][TESSERA_NUM_LINKS];
	uint64_t time;			/* modelled: the end of all jobs that are complete */
};

/*
 * tessera.c: with the lock held. Several of one vector before tessera_serve() become one.
 * What is pending without being raised, the caller sees to that it is delivered.
 */
void tessera_raise(TesseraState *s, unsigned vector);
void tessera_pend(TesseraState *s, unsigned vector);
void tessera_reset_finish(TesseraState *s);
uint32_t tessera_features(const TesseraState *s);	/* the register */

/* tessera-queue.c: with the lock held, except for start and stop of the workers */
void tessera_workers_start(TesseraState *s);
void tessera_workers_stop(TesseraState *s);
void tessera_queue_enable(TesseraQueue *q);
void tessera_queue_disable(TesseraQueue *q);
void tessera_queue_cut_off(TesseraQueue *q);
void tessera_queue_doorbell(TesseraQueue *q, uint32_t tail);
uint32_t tessera_queue_status(const TesseraQueue *q);
/* Whether the queue can run with what its registers hold */
bool tessera_queue_is_configured(const TesseraQueue *q);
/* The running job is to stop, for good or to be run again; or for good. Without the lock, too */
bool tessera_queue_is_canceled(const TesseraQueue *q);
bool tessera_queue_is_stopped(const TesseraQueue *q);
/* The running job, which is to be run again, cannot be. Without the lock */
void tessera_queue_refuse_repeat(TesseraQueue *q);
/* Puts it on the list if it has something to run. */
void tessera_queue_list(TesseraQueue *q);
/* After a doorbell that has set is_running_here: with the host's lock, without the other. */
void tessera_queue_run_here(TesseraQueue *q);

/* What a job has counted, and where */
struct tessera_tally {
	struct drm_tessera_job_counters counters;
	struct engine_traffic traffic[ENGINE_MAX_TRAFFICS];
};

/*
 * tessera-job.c: without the lock. The fault has cause NONE when the job succeeded; then there is a
 * tally. False: the job was to run only if it is small, and it is not; nothing was done.
 */
bool tessera_job_run(TesseraQueue *q, const struct tessera_hw_ring_entry *entry,
		     const struct tessera_tests *tests, bool is_small_only,
		     struct tessera_tally *tally, struct engine_fault *fault);
void tessera_fault_set(struct engine_fault *fault, enum drm_tessera_cause cause, uint32_t operand,
		       int64_t offset, const char *format, ...) G_GNUC_PRINTF(5, 6);

/*
 * tessera-counters.c: count of a job that has succeeded, on buffers at these places (NULL: not
 * flat, or none), without the lock; the rest with it, but for write. add fills in what the network
 * counts. begin: a job comes to an empty queue. write puts the tally into guest memory, where that
 * is not 0; find is for registers of 64 bits: those of a queue, or with q NULL global ones. Both
 * say whether they could.
 */
void tessera_count_job(const TesseraState *s, const struct engine_job *job,
		       const void *const *operands, const void *const *indices,
		       struct tessera_tally *tally);
void tessera_tally_add(TesseraQueue *q, struct tessera_tally *tally);
void tessera_time_begin(TesseraQueue *q);
void tessera_counters_reset(TesseraState *s);
bool tessera_tally_write(TesseraState *s, uint64_t address, const struct tessera_tally *tally);
bool tessera_counter_find(const TesseraState *s, const TesseraQueue *q, uint64_t offset,
			  uint64_t *value);

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
/* With the host's lock and without the other. */
void tessera_regions_collect(TesseraState *s);
/*
 * Address space of this process that nobody uses any more. To unmap much of it takes long, which
 * nobody is to wait for. bytes: given back to the copies then. discard is called with the lock,
 * unmap_one too and gives it up meanwhile; false: there is none.
 */
void tessera_mapping_discard(TesseraState *s, void *base, size_t size, uint64_t copied_bytes);
bool tessera_mapping_unmap_one(TesseraState *s);

uint64_t tessera_view_size(const TesseraView *view);
bool tessera_view_is_writable(const TesseraView *view);
/* NULL when the view is empty or not flat; then copies go in and out */
void *tessera_view_flat(const TesseraView *view);
bool tessera_view_is_flat(const TesseraView *view);
void tessera_view_mark_dirty(TesseraState *s, const TesseraView *view, uint64_t low,
			     uint64_t high);

/* Bytes of a buffer */
struct tessera_bytes {
	const TesseraView *view;
	uint64_t low;
	uint64_t high;
};

/* Whether a byte of one is a byte of the other; true as well when that cannot be found out */
bool tessera_bytes_overlap(const struct tessera_bytes *a, const struct tessera_bytes *b);
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

#endif /* HW_MISC_TESSERA_H */
