/* SPDX-License-Identifier: MIT */
/*
 * What the files of this folder share: devices, buffers and fences, and the table of functions
 * that a backend is. A backend never checks arguments of the public functions and never counts
 * references: device.c, buffer.c and fence.c do.
 */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "device/job.h"
#include "device/threads.h"
#include "error.h"

struct accel_device {
	atomic_uint refs;
	const struct backend *backend;
	struct accel_device_info info;
	int fd;				/* Tessera: the open node; CPU: -1 */
	struct threads threads;		/* CPU */
	atomic_uint priority;		/* enum accel_priority of the next submit */
	atomic_bool is_counting;	/* fences made from now on have counters */
	/*
	 * Protects buffers, and each buffer's count going to 0, against imports; and sram_used.
	 */
	pthread_mutex_t buffers_lock;
	struct accel_buffer *buffers;
	uint64_t sram_used[ACCEL_MAX_PES];	/* CPU: bytes of buffers in each PE's memory */
};

/* What a buffer is to its device: two imports with equal keys are one buffer. */
struct buffer_key {
	uint64_t space;		/* Tessera: 0; CPU: the memfd's file system */
	uint64_t number;	/* Tessera: the GEM handle; CPU: the memfd's inode */
};

struct accel_buffer {
	atomic_uint refs;
	struct accel_device *device;
	struct buffer_key key;
	uint64_t size;				/* bytes */
	uint32_t pe;				/* whose memory it is in, or ACCEL_PE_NONE */
	int fd;					/* CPU: the memfd, closed with it; Tessera: -1 */
	_Atomic(void *) address;		/* NULL: not mapped yet */
	struct accel_buffer *next, *previous;	/* in device->buffers */
	bool is_foreign;			/* the memory is not of the backend's making */
	bool is_read_only;			/* no destination of jobs */
	void (*release)(void *context);		/* foreign: who is told at the end, or NULL */
	void *context;
};

/* What a failure's description needs of each job after the job itself may have changed. */
struct fence_job {
	uint64_t sizes[DRM_TESSERA_MAX_OPERANDS];		/* of the operands' buffers */
	uint64_t index_sizes[DRM_TESSERA_MAX_OPERANDS];
	uint64_t index_limits[DRM_TESSERA_MAX_OPERANDS];
};

struct accel_fence {
	atomic_uint refs;
	const struct fence_ops *ops;
	struct accel_device *device;	/* NULL: imported */
	uint32_t syncobj;		/* Tessera */
	uint64_t id;			/* Tessera: of the submission */
	int fd;				/* imported: the sync_file; otherwise -1 */
	uint32_t num_jobs;
	struct fence_job *jobs;		/* NULL: imported */
	/* Protects what follows. All are written once, when has_result becomes true. */
	pthread_mutex_t lock;
	bool has_result;
	struct accel_fence_result result;
	struct accel_job_result *job_results;
	struct accel_job_counters *counters;	/* of each job; NULL: not counted */
};

struct fence_ops {
	/* Waits until deadline_ns of CLOCK_MONOTONIC. 0: complete, -ETIME, or a failure to wait. */
	int (*wait)(struct accel_fence *fence, int64_t deadline_ns, struct accel_error *error);
	/*
	 * The fence is complete: fills in result and job_results. -ENODATA: not known (any more).
	 */
	int (*fetch_result)(struct accel_fence *fence, struct accel_error *error);
	/* The fence is complete, the result unknown: 0 or the fence's own error. */
	int (*status)(struct accel_fence *fence);
	int (*export)(struct accel_fence *fence, int *fd, struct accel_error *error);
	void (*release)(struct accel_fence *fence);
};

/* Jobs that are ready to run, again and again: see submission.h. */
struct accel_submission {
	struct accel_device *device;
	struct accel_job **jobs;
	size_t num_jobs;
	uint32_t queue;			/* or ACCEL_QUEUE_ANY */
	struct accel_fence *fence;	/* of the last submit, or of the next if there is none */
	struct accel_fence *next_fence;	/* not NULL: somebody else has the last submit's, too */
	bool is_submitted;		/* there was a submit, and the last one did not fail */
	bool is_pending;		/* and it may still be under way */
	struct engine_plan **plans;			/* CPU: of each job */
	struct drm_tessera_job *arguments;		/* Tessera: of the ioctl, the same */
};

struct backend {
	/* These two fill in key, size and fd of a buffer, the first where pe says. */
	int (*create_buffer)(struct accel_buffer *buffer, uint64_t size, struct accel_error *error);
	/*
	 * Called under buffers_lock: when device->buffers has one of the same key, what was filled
	 * in is thrown away without release_buffer().
	 */
	int (*import_buffer)(struct accel_buffer *buffer, int fd, struct accel_error *error);
	/* Fills in key of a buffer of the caller's memory. NULL: there are none on this device. */
	void (*adopt_memory)(struct accel_buffer *buffer);
	int (*map_buffer)(struct accel_buffer *buffer, void **address, struct accel_error *error);
	int (*export_buffer)(struct accel_buffer *buffer, int *fd, struct accel_error *error);
	int (*wait_buffer)(struct accel_buffer *buffer, enum accel_access access,
			   int64_t deadline_ns, struct accel_error *error);
	/* Called under buffers_lock, after the memory was unmapped. May be NULL. */
	void (*release_buffer)(struct accel_buffer *buffer);
	/* Fills in ops, and what the backend has of a fence. */
	int (*init_fence)(struct accel_fence *fence, struct accel_error *error);
	/* Checks the jobs; makes and frees what the backend has of a submission. */
	int (*prepare)(struct accel_submission *submission, struct accel_error *error);
	void (*unprepare)(struct accel_submission *submission);
	/* Nothing of it is under way. Neither it nor the wait for its fence allocates. */
	int (*submit)(struct accel_submission *submission, struct accel_fence *const *in_fences,
		      size_t num_in_fences, struct accel_error *error);
	void (*close)(struct accel_device *device);
};

/* buffer.c: accel_buffer_from_memory() of memory that jobs may only read, if is_read_only. */
int buffer_from_memory(struct accel_device *device, void *address, uint64_t size,
		       bool is_read_only, void (*release)(void *context), void *context,
		       struct accel_buffer **buffer, struct accel_error *error);

/* cpu.c */
extern const struct backend cpu_backend;
int cpu_open(struct accel_device *device, const char *name, struct accel_error *error);

/* tessera.c */
extern const struct backend tessera_backend;
int tessera_open(struct accel_device *device, const char *path, struct accel_error *error);

/* Whether path is a node of the tessera driver; needs no permission to open it. */
bool tessera_is_node(const char *path);

/* device.c: CLOCK_MONOTONIC, and when a relative timeout passes (negative: never). */
int64_t device_now_ns(void);
int64_t device_deadline_ns(int64_t timeout_ns);

#endif /* DEVICE_DEVICE_H */
