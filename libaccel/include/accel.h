/* SPDX-License-Identifier: MIT */
/*
 * libaccel: copies tensors from one memory layout to another, on a Tessera device or on the CPU.
 * This is the only public header; Documentation/libaccel.rst is the guide to it.
 *
 * What holds for every function here:
 *
 * - It returns 0, or a negative errno value. A function that takes a struct accel_error
 *   fills it in when it fails and leaves it alone when it succeeds; NULL may be given.
 * - Objects are opaque and counted: the function that makes one gives the caller a
 *   reference, accel_x_ref() adds one, accel_x_unref() drops one and accepts NULL. An object keeps
 *   those that it refers to alive. When a function fails, the pointer for its result is NULL.
 * - It may be called from several threads at once. Only accel_job_add_x() and
 *   accel_job_set_x() need the job to themselves. Memory of buffers is the caller's to guard.
 * - Axes, loops, jobs, operands, sources and windows are counted from 0; columns from 1.
 */
#ifndef ACCEL_H
#define ACCEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

#if defined(__GNUC__)
#define ACCEL_API __attribute__((visibility("default")))
#else
#define ACCEL_API
#endif

#define ACCEL_VERSION_MAJOR	0
#define ACCEL_VERSION_MINOR	1
#define ACCEL_VERSION_PATCH	0

#define ACCEL_MAX_DIMS		16	/* dimensions of a tensor or a layout */
#define ACCEL_MAX_RANK		8	/* loops of a job */
#define ACCEL_MAX_SOURCES	4	/* sources of a job */
#define ACCEL_MAX_WINDOWS	32	/* windows of a job */
#define ACCEL_MAX_INSTRUCTIONS	16	/* instructions of a job's program */
#define ACCEL_MAX_JOBS		1024	/* jobs of a submission */
#define ACCEL_MAX_PES		64	/* processing elements of a device */

struct accel_device;
struct accel_buffer;
struct accel_layout;
struct accel_tensor;
struct accel_job;
struct accel_fence;
struct accel_function;
struct accel_plan;
struct accel_task;

/*
 * What went wrong, for a person: the thing, what was given and what was expected. One line,
 * without a full stop or a newline.
 */
struct accel_error {
	int code;		/* what the function returned */
	int column;		/* of a parsed text: where in it, from 1; otherwise 0 */
	char message[256];
};

/* The version of the library that is running, such as "0.1.0". */
ACCEL_API const char *accel_version(void);

/* Element types ---------------------------------------------------------------------------- */

/* Elements are little endian. Raw ones are moved and never computed with. */
enum accel_dtype {
	ACCEL_DTYPE_U8		= 0x10,
	ACCEL_DTYPE_U16		= 0x11,
	ACCEL_DTYPE_U32		= 0x12,
	ACCEL_DTYPE_U64		= 0x13,
	ACCEL_DTYPE_I8		= 0x20,
	ACCEL_DTYPE_I16		= 0x21,
	ACCEL_DTYPE_I32		= 0x22,
	ACCEL_DTYPE_I64		= 0x23,
	ACCEL_DTYPE_F16		= 0x31,
	ACCEL_DTYPE_F32		= 0x32,
	ACCEL_DTYPE_F64		= 0x33,
	ACCEL_DTYPE_BF16	= 0x41,
	ACCEL_DTYPE_RAW8	= 0x50,
	ACCEL_DTYPE_RAW16	= 0x51,
	ACCEL_DTYPE_RAW32	= 0x52,
	ACCEL_DTYPE_RAW64	= 0x53,
	ACCEL_DTYPE_RAW128	= 0x54,
};

/* Bytes of an element, or 0 if there is no such type. */
ACCEL_API size_t accel_dtype_size(enum accel_dtype dtype);

/* "f32", "raw128" and so on, or NULL if there is no such type. */
ACCEL_API const char *accel_dtype_name(enum accel_dtype dtype);

/* The type with this name. -EINVAL if there is none. */
ACCEL_API int accel_dtype_parse(const char *name, enum accel_dtype *dtype,
				struct accel_error *error);

/* Devices ---------------------------------------------------------------------------------- */

enum accel_device_kind {
	ACCEL_DEVICE_CPU = 0,
	ACCEL_DEVICE_TESSERA = 1,
};

/* What a device is. It does not change while the device is open. */
struct accel_device_info {
	enum accel_device_kind kind;
	char name[64];			/* "cpu", or the path of the node */
	char driver[32];		/* "tessera", or "libaccel" for the CPU */
	uint32_t driver_version[3];	/* major, minor, patch */
	uint32_t hw_version[2];		/* major, minor; the CPU: 0, 0 */
	uint32_t num_queues;		/* one for each processing element (PE) */
	uint32_t max_rank;
	uint32_t max_sources;
	uint32_t max_windows;
	uint32_t max_instructions;
	uint32_t max_jobs;
	uint64_t sram_size;		/* bytes of on-chip memory of each PE */
	uint64_t max_buffer_size;	/* bytes */
	uint32_t grid_columns;		/* PE n is in column n % grid_columns; 0: not told */
	uint32_t clock_khz;		/* cycles of counters in a millisecond; 0: it has none */
};

/*
 * Opens a device: "cpu", the path of a node such as "/dev/accel/accel0", or with NULL the first
 * Tessera node below /dev/accel and, where there is none, the CPU. A Tessera node that exists and
 * cannot be opened is an error, not a reason to take the CPU.
 *
 * The CPU stands for a grid of PEs, so that what is written for one runs everywhere: 4 with 1 MiB
 * of on-chip memory each, in a grid as near to a square as can be, or as "cpu:pes=N,columns=N,
 * sram=BYTES" says, in any order, any left out. It has from 1 to ACCEL_MAX_PES PEs, columns divides
 * that, and sram is whole pages, at most 256 MiB; K and M stand for KiB and MiB.
 * Errors: -ENOENT, -EACCES and others of open(); -ENODEV if the node is not a Tessera; -ENOTSUP if
 * its driver is too old or too new for this library; -EINVAL for what follows "cpu:".
 */
ACCEL_API int accel_open(const char *name, struct accel_device **device,
			 struct accel_error *error);

/*
 * Calls visit with each name that accel_open() takes: the Tessera nodes in the order of their
 * numbers, then "cpu". Stops when visit returns something other than 0, and returns that.
 */
ACCEL_API int accel_device_enumerate(int (*visit)(const char *name, void *context), void *context,
				     struct accel_error *error);

/*
 * How many threads, from 1 to 1024, a large job runs in, the one that submits it included. At first
 * they are as many as CPUs that the process may run on; they are made when a job first needs them,
 * and sleep between jobs. What a job does never depends on it. While one job runs in them, others
 * that are submitted meanwhile run in the thread that submits them alone, as do those of a child of
 * fork(), and as all do where no threads are to be had. Waits for jobs under way. Errors: -ENOTSUP
 * (not the CPU), -EINVAL.
 */
ACCEL_API int accel_device_set_threads(struct accel_device *device, uint32_t num_threads,
				       struct accel_error *error);

/* Which submissions a device takes first, of those that wait for nothing any more. */
enum accel_priority {
	ACCEL_PRIORITY_NORMAL = 0,	/* what somebody waits for */
	ACCEL_PRIORITY_LOW = 1,		/* what may wait for all others */
};

/*
 * The priority of what is submitted from now on to this device as it was opened here: to that of
 * another accel_open() it is nothing. At first it is normal. What was submitted before keeps its
 * own. The CPU takes it and has no use for it: there each submission is complete before the next
 * begins. Errors: -EINVAL.
 */
ACCEL_API int accel_device_set_priority(struct accel_device *device, enum accel_priority priority,
					struct accel_error *error);

/*
 * Whether the device counts what jobs do to memory: of what is submitted from now on, and of tasks
 * that are made from now on; at first it does not. -ENOTSUP where it cannot.
 */
ACCEL_API int accel_device_set_counting(struct accel_device *device, bool is_counting,
					struct accel_error *error);

ACCEL_API struct accel_device *accel_device_ref(struct accel_device *device);
ACCEL_API void accel_device_unref(struct accel_device *device);
ACCEL_API void accel_device_info(const struct accel_device *device,
				 struct accel_device_info *info);

/* Buffers ---------------------------------------------------------------------------------- */

/*
 * Makes a buffer of at least size bytes, from 1 to max_buffer_size, that reads as zero. Buffers
 * come in whole pages: accel_buffer_size() is what there is, and what jobs are checked against.
 * Errors: -EINVAL for the size; -ENOMEM, -ENOSPC.
 */
ACCEL_API int accel_buffer_create(struct accel_device *device, uint64_t size,
				  struct accel_buffer **buffer, struct accel_error *error);

/* Of a buffer in the memory of the machine. */
#define ACCEL_PE_NONE		UINT32_MAX

/*
 * The same, of 1 to sram_size bytes, in the on-chip memory of a PE. Jobs of every queue reach it.
 * It is not exported (-ENOTSUP). On the CPU it is memory of the machine, of which each PE of an
 * open device has sram_size bytes.
 * Errors: -EINVAL for the PE or the size; -ENOSPC when what is left of that memory is less;
 * -ENOTSUP if the device has none; -ENOMEM.
 */
ACCEL_API int accel_buffer_create_sram(struct accel_device *device, uint32_t pe, uint64_t size,
				       struct accel_buffer **buffer, struct accel_error *error);

/* The PE whose memory the buffer is in, or ACCEL_PE_NONE. */
ACCEL_API uint32_t accel_buffer_pe(const struct accel_buffer *buffer);

ACCEL_API struct accel_buffer *accel_buffer_ref(struct accel_buffer *buffer);
ACCEL_API void accel_buffer_unref(struct accel_buffer *buffer);
ACCEL_API struct accel_device *accel_buffer_device(const struct accel_buffer *buffer);
ACCEL_API uint64_t accel_buffer_size(const struct accel_buffer *buffer);

/*
 * The buffer's memory in this process. It stays mapped, at the same address, as long as the
 * buffer lives. Before the memory is touched, jobs that use it must have completed: see
 * accel_buffer_wait() and accel_fence_wait().
 */
ACCEL_API int accel_buffer_map(struct accel_buffer *buffer, void **address,
			       struct accel_error *error);

/*
 * A new file descriptor for the buffer's memory, close-on-exec, the caller's to close: a dma-buf
 * for a Tessera device, a sealed memfd for the CPU.
 */
ACCEL_API int accel_buffer_export(struct accel_buffer *buffer, int *fd, struct accel_error *error);

/*
 * A buffer from a file descriptor, which stays the caller's: for a Tessera device a dma-buf of
 * any exporter, for the CPU a memfd sealed against shrinking. Importing the same dma-buf
 * into the same device again gives the same buffer, with a reference more.
 * Errors: -EBADF; -EINVAL if the descriptor is of the wrong kind; -ENOMEM.
 */
ACCEL_API int accel_buffer_import(struct accel_device *device, int fd,
				  struct accel_buffer **buffer, struct accel_error *error);

/*
 * A buffer of size bytes of the caller's memory, on the CPU device. It must stay there until
 * release is called with context, once, when the last reference is dropped, by the thread that
 * does; release may be NULL. When this fails, release is not called. Such a buffer is not exported
 * (-ENOTSUP). Errors: -EINVAL for no memory or a size of 0; -EOVERFLOW if it wraps; -ENOTSUP on
 * other devices than the CPU; -ENOMEM.
 */
ACCEL_API int accel_buffer_from_memory(struct accel_device *device, void *address, uint64_t size,
				       void (*release)(void *context), void *context,
				       struct accel_buffer **buffer, struct accel_error *error);

enum accel_access {
	ACCEL_ACCESS_READ = 0,	/* wait for the jobs that write to the buffer */
	ACCEL_ACCESS_WRITE = 1,	/* wait for all jobs that use it */
};

/*
 * Waits until the buffer may be accessed by the CPU. Whether jobs succeeded is not told:
 * accel_fence_wait() does. timeout_ns is relative; 0 does not wait, a negative one waits without
 * end. Errors: -ETIME when the time has passed; -ENODEV when the device is gone.
 */
ACCEL_API int accel_buffer_wait(struct accel_buffer *buffer, enum accel_access access,
				int64_t timeout_ns, struct accel_error *error);

/* Jobs ------------------------------------------------------------------------------------- */

/*
 * A job is a nest of loops over a box of points i. For each point:
 *
 *	v_k = all windows of source k hold at i ? load(source_k, address_k(i)) : fill_k
 *	v   = program(v_0, v_1, ..)		(no program: v = v_0, moved bit for bit)
 *	if all windows of the destination hold at i: store(destination, address_d(i), v)
 *
 * Points are visited in any order. The rules are those of uapi/drm/tessera_accel.h.
 */

/* offset + sum over d of i_d * strides[d]; strides at and beyond the job's rank must be 0 */
struct accel_affine {
	int64_t offset;
	int64_t strides[ACCEL_MAX_RANK];
};

/* A condition on the point: 0 <= value(i) < limit */
struct accel_window {
	struct accel_affine value;
	uint64_t limit;
};

/* The destination or a source of a job. Zero what is not used. */
struct accel_operand {
	struct accel_buffer *buffer;
	enum accel_dtype dtype;
	uint32_t window_mask;		/* bit w: window w of the job applies to this operand */
	struct accel_affine address;	/* bytes from the start of the buffer */
	uint64_t fill[2];		/* sources: bits of the value outside of the windows */

	/* Gather and scatter: index(i) * index_stride is added to the address. */
	struct accel_buffer *index_buffer;	/* NULL: there is none, and the rest is 0 */
	uint32_t index_dtype;			/* an integer enum accel_dtype */
	struct accel_affine index_address;	/* bytes, in the index buffer */
	int64_t index_stride;			/* bytes */
	uint64_t index_limit;			/* the job fails at an index not below; 0: none */
};

/* What an instruction computes: see enum drm_tessera_opcode for each. */
enum accel_opcode {
	ACCEL_OP_CONST = 1,
	ACCEL_OP_CAST,
	ACCEL_OP_ADD,
	ACCEL_OP_SUB,
	ACCEL_OP_MUL,
	ACCEL_OP_FMA,
	ACCEL_OP_MIN,
	ACCEL_OP_MAX,
	ACCEL_OP_NEG,
	ACCEL_OP_ABS,
	ACCEL_OP_SELECT,
	ACCEL_OP_COMPARE,
};

/* What ACCEL_OP_COMPARE asks. */
enum accel_predicate {
	ACCEL_PREDICATE_EQ = 1,
	ACCEL_PREDICATE_NE,
	ACCEL_PREDICATE_LT,
	ACCEL_PREDICATE_LE,
	ACCEL_PREDICATE_GT,
	ACCEL_PREDICATE_GE,
};

#define ACCEL_INSTRUCTION_SATURATE	(1 << 0)	/* integers: to the nearest that fits */
#define ACCEL_INSTRUCTION_TRUNCATE	(1 << 1)	/* CAST float to integer: toward zero */

/*
 * A step of a program. Register k holds v_k before the first; register 0 is stored after the
 * last and must then have the type of the destination.
 */
struct accel_instruction {
	uint8_t opcode;		/* enum accel_opcode */
	uint8_t dtype;		/* enum accel_dtype that is computed in; CAST: of the result */
	uint8_t flags;		/* ACCEL_INSTRUCTION_x */
	uint8_t predicate;	/* COMPARE: enum accel_predicate; otherwise 0 */
	uint8_t dst;		/* register, 0 to 7 */
	uint8_t src[3];		/* registers; 0 where the opcode takes fewer */
	uint64_t immediate;	/* CONST: the bits of the value; otherwise 0 */
};

/*
 * Makes a job of rank loops, at most ACCEL_MAX_RANK, with extents from the outermost to the
 * innermost; it has no operands yet. An extent of 0 makes a job that does nothing. With
 * rank 0 there is one point and extents may be NULL.
 */
ACCEL_API int accel_job_create(uint32_t rank, const uint64_t *extents, struct accel_job **job,
			       struct accel_error *error);

/*
 * Makes the job that copies src to dst: see accel_copy(). It has the tensors' element types, so
 * that a program may be added.
 */
ACCEL_API int accel_job_create_copy(struct accel_tensor *dst, struct accel_tensor *src,
				    struct accel_job **job, struct accel_error *error);

ACCEL_API struct accel_job *accel_job_ref(struct accel_job *job);
ACCEL_API void accel_job_unref(struct accel_job *job);

/*
 * Sets the destination, in place of the one before; adds a source, a window, an instruction. What
 * is given is copied; buffers are referenced. Errors: -EINVAL without a buffer, -E2BIG when the
 * job is full, -EXDEV when buffers are of different devices; all else is found by accel_submit()
 * and accel_job_check(). Windows count up from 0 in the order in which they are added.
 */
ACCEL_API int accel_job_set_destination(struct accel_job *job,
					const struct accel_operand *destination,
					struct accel_error *error);
ACCEL_API int accel_job_add_source(struct accel_job *job, const struct accel_operand *source,
				   struct accel_error *error);
ACCEL_API int accel_job_add_window(struct accel_job *job, const struct accel_window *window,
				   struct accel_error *error);
ACCEL_API int accel_job_add_instruction(struct accel_job *job,
					const struct accel_instruction *instruction,
					struct accel_error *error);

/* The job's rank; its extents go to extents, if that is not NULL. */
ACCEL_API uint32_t accel_job_extents(const struct accel_job *job,
				     uint64_t extents[ACCEL_MAX_RANK]);

/*
 * Operand 0 is the destination, 1 and up the sources. The buffers in it are the job's: no
 * reference is added. -ENOENT if the job has no such operand.
 */
ACCEL_API int accel_job_operand(const struct accel_job *job, uint32_t index,
				struct accel_operand *operand);

/*
 * Checks the job as a submission would, without running it, by the rules of the uapi header.
 * Errors: -EINVAL if it is malformed, overlaps itself or its stores collide; -EOVERFLOW if a sum
 * of products does not fit 64 bits; -ERANGE if an operand reaches outside its buffer.
 */
ACCEL_API int accel_job_check(const struct accel_job *job, struct accel_error *error);

/*
 * Says in a line for a person what the engine runs the job with on this CPU: kernel, instruction
 * set, blocks. What does not fit text, of size bytes, is cut off. Errors: those of
 * accel_job_check().
 */
ACCEL_API int accel_job_describe(const struct accel_job *job, char *text, size_t size,
				 struct accel_error *error);

/* Submissions and fences ------------------------------------------------------------------- */

/*
 * Runs jobs, from 1 to ACCEL_MAX_JOBS, in order, each seeing what those before it stored, after
 * all of in_fences have completed, however they ended. Fences of any device may be waited for. If a
 * job is refused, none runs. A job that fails while running does not stop those after it.
 *
 * One fence stands for all of the jobs; fence may be NULL. The jobs may be changed, submitted
 * again or dropped as soon as this returns. Submissions that use the same buffers are ordered by
 * the driver. The CPU waits and runs the jobs in the calling thread: when this returns, they are
 * done; there, the order among several threads is the callers' to see to.
 *
 * Errors: those of accel_job_check(), and the number of the job in the message; -EXDEV if a
 * buffer is of another device; -E2BIG for too many jobs or fences; -EINVAL for none; -EACCES if a
 * destination was imported read-only; -ENOMEM; -ENODEV when the device is gone.
 */
ACCEL_API int accel_submit(struct accel_device *device, struct accel_job *const *jobs,
			   size_t num_jobs, struct accel_fence *const *in_fences,
			   size_t num_in_fences, struct accel_fence **fence,
			   struct accel_error *error);

/* The driver chooses. */
#define ACCEL_QUEUE_ANY		UINT32_MAX

/*
 * accel_submit() to the queue of a PE, less than num_queues: its submissions begin in the order in
 * which they come, if their fences allow, and PEs work side by side. The CPU does what is submitted
 * to any queue in the calling thread. -EINVAL for a queue that is not there.
 */
ACCEL_API int accel_submit_to(struct accel_device *device, uint32_t queue,
			      struct accel_job *const *jobs, size_t num_jobs,
			      struct accel_fence *const *in_fences, size_t num_in_fences,
			      struct accel_fence **fence, struct accel_error *error);

/* Why a job failed. */
enum accel_cause {
	ACCEL_CAUSE_NONE = 0,		/* it did not */
	ACCEL_CAUSE_DESCRIPTOR,		/* malformed, or the device could not read it */
	ACCEL_CAUSE_BUFFER,		/* the operand names no valid buffer */
	ACCEL_CAUSE_PERMISSION,		/* a store to a buffer that is read-only */
	ACCEL_CAUSE_BOUNDS,		/* the address reaches outside the buffer */
	ACCEL_CAUSE_INDEX_BOUNDS,	/* the index address reaches outside the index buffer */
	ACCEL_CAUSE_INDEX_LIMIT,	/* an index is not in 0 <= index < index_limit */
	ACCEL_CAUSE_TRANSLATION,	/* a page of the buffer is not in memory */
	ACCEL_CAUSE_CANCELED,		/* a reset or a removal stopped it */
	ACCEL_CAUSE_TIMEOUT,		/* it made no progress and was stopped */
	ACCEL_CAUSE_MEMORY,		/* the device had no memory of its own left */
};

/* How one job of a submission ended. */
struct accel_job_result {
	enum accel_cause cause;
	uint32_t operand;	/* which failed: 0 the destination, 1 and up the sources */
	int64_t offset;		/* the byte, or the index, at which it failed */
	uint64_t device_ns;	/* nanoseconds from start to end on the device */
};

/* What a job did to a memory, in bytes of elements and indices, and in bursts of the memory. */
struct accel_memory_counters {
	uint64_t bytes_read;
	uint64_t bytes_written;
	uint64_t bursts_read;
	uint64_t bursts_written;
	uint64_t cycles_read;		/* by the model of the device */
	uint64_t cycles_written;
};

/*
 * What a job did: exact, and by a model of an accelerator, which Documentation/device.rst
 * describes, in cycles and energy. The CPU has the model with its default parameters, and no
 * network. Of a job that failed all is zero.
 */
struct accel_job_counters {
	uint64_t points;		/* of its loops */
	uint64_t windows_failed;	/* loads and stores that a window kept from happening */
	struct accel_memory_counters memory[2];	/* the system's, and that of PEs */
	uint64_t noc_bytes;		/* that crossed the network between PEs, in bursts */
	uint64_t noc_hops;		/* links that these bursts crossed, of all together */
	uint64_t noc_cycles;		/* that the network took for them, had it been idle */
	uint64_t noc_wait_cycles;	/* more, for others were on its links */
	uint64_t cycles;		/* from its start to its end */
	uint64_t energy_pj;		/* picojoules */
	uint64_t uncounted;		/* 1: too involved; all but points and this is zero */
	uint64_t reserved;
};

/* How a submission ended. Times are of CLOCK_MONOTONIC. */
struct accel_fence_result {
	uint32_t num_jobs;
	uint32_t num_failed;
	uint32_t first_failed;	/* num_jobs if none failed */
	uint64_t submit_ns;	/* when it was submitted */
	uint64_t start_ns;	/* when its jobs were handed to the device, or 0 */
	uint64_t end_ns;	/* when they were seen to be complete */
};

ACCEL_API struct accel_fence *accel_fence_ref(struct accel_fence *fence);
ACCEL_API void accel_fence_unref(struct accel_fence *fence);

/*
 * Waits for completion. timeout_ns is relative; 0 does not wait, a negative one waits without end.
 * Returns 0 when the submission is complete and every job succeeded. Errors: -ETIME when it is
 * not complete; -EIO when a job failed, with the first that did in the message; -ETIMEDOUT when
 * a job was stopped for making no progress; -ECANCELED when it was stopped because of another;
 * -ENODEV when the device is gone.
 */
ACCEL_API int accel_fence_wait(struct accel_fence *fence, int64_t timeout_ns,
			       struct accel_error *error);

/* 1 when complete, succeeded or not; 0 when not yet; or a negative errno value. Never waits. */
ACCEL_API int accel_fence_poll(struct accel_fence *fence, struct accel_error *error);

/*
 * How the submission ended. A Tessera device keeps the results of the last 64 submissions of
 * an open device; a fence that was waited for has kept its own. Errors: -EBUSY before it is
 * complete; -ENODATA when the result is no longer kept, or the fence was imported.
 */
ACCEL_API int accel_fence_result(struct accel_fence *fence, struct accel_fence_result *result,
				 struct accel_error *error);

/* How one job of it ended. Errors as above, and -EINVAL if there is no such job. */
ACCEL_API int accel_fence_job_result(struct accel_fence *fence, uint32_t job,
				     struct accel_job_result *result, struct accel_error *error);

/* The same of its counters; -ENODATA also if accel_device_set_counting() was not asked before. */
ACCEL_API int accel_fence_job_counters(struct accel_fence *fence, uint32_t job,
				       struct accel_job_counters *counters,
				       struct accel_error *error);

/*
 * What a job would do, without running it: the counters that it has when the CPU has run it, in
 * cycles of the CPU's clock_khz. Errors: those of accel_job_check().
 */
ACCEL_API int accel_job_counters(const struct accel_job *job, struct accel_job_counters *counters,
				 struct accel_error *error);

/*
 * A new sync_file for the fence, close-on-exec, the caller's to close. -ENOTSUP for fences of
 * the CPU, which are complete when they are made.
 */
ACCEL_API int accel_fence_export(struct accel_fence *fence, int *fd, struct accel_error *error);

/*
 * A fence from a sync_file, which stays the caller's. Errors: -EBADF; -EINVAL if the descriptor
 * is no sync_file.
 */
ACCEL_API int accel_fence_import(int fd, struct accel_fence **fence, struct accel_error *error);

/* Expressions ------------------------------------------------------------------------------ */

/*
 * Integer expressions over named variables. Immutable and shared; values are 64-bit integers
 * of mathematics: what does not fit is -EOVERFLOW, never a wrapped value. // and % are floor
 * division and floor modulo, as in Python: -7 // 4 is -2 and -7 % 4 is 1. A comparison is 1 or 0,
 * and whatever is not 0 counts as true.
 */

#define ACCEL_EXPRESSION_MAX_DEPTH	256	/* operations inside of one another */
#define ACCEL_EXPRESSION_MAX_SIZE	16384	/* operations, constants and variables in all */
#define ACCEL_NAME_MAX			31	/* characters of a variable's name */

enum accel_expression_kind {
	ACCEL_EXPRESSION_CONSTANT = 0,
	ACCEL_EXPRESSION_VARIABLE,
	ACCEL_EXPRESSION_ADD,			/* a + b */
	ACCEL_EXPRESSION_SUBTRACT,		/* a - b */
	ACCEL_EXPRESSION_MULTIPLY,		/* a * b */
	ACCEL_EXPRESSION_FLOOR_DIVIDE,		/* a // b */
	ACCEL_EXPRESSION_FLOOR_MODULO,		/* a % b */
	ACCEL_EXPRESSION_MIN,			/* min(a, b) */
	ACCEL_EXPRESSION_MAX,			/* max(a, b) */
	ACCEL_EXPRESSION_EQUAL,			/* a == b */
	ACCEL_EXPRESSION_NOT_EQUAL,		/* a != b */
	ACCEL_EXPRESSION_LESS,			/* a < b */
	ACCEL_EXPRESSION_LESS_EQUAL,		/* a <= b */
	ACCEL_EXPRESSION_GREATER,		/* a > b */
	ACCEL_EXPRESSION_GREATER_EQUAL,		/* a >= b */
	ACCEL_EXPRESSION_AND,			/* a and b */
	ACCEL_EXPRESSION_OR,			/* a or b */
	ACCEL_EXPRESSION_SELECT,		/* select(condition, a, b) */
};

struct accel_expression;

/* The answer to a question that can be too hard, or depend on the value of a symbol. */
enum accel_answer {
	ACCEL_ANSWER_NO = 0,
	ACCEL_ANSWER_YES = 1,
	ACCEL_ANSWER_UNKNOWN = 2,
};

/* A value for a variable. */
struct accel_binding {
	const char *name;
	int64_t value;
};

/* minimum <= variable < limit. A limit of INT64_MAX: not known. */
struct accel_range {
	int64_t minimum;
	int64_t limit;
};

struct accel_named_range {
	const char *name;
	struct accel_range range;
};

/*
 * Builders. The operands stay the caller's; the result refers to them. Constants are folded,
 * nothing else is. Errors: -EOVERFLOW; -EDOM for a division by the constant 0; -E2BIG beyond
 * ACCEL_EXPRESSION_MAX_x; -EINVAL for a name that is no name (a letter or _, then letters,
 * digits and _, at most ACCEL_NAME_MAX in all; and, or, min, max, select and lambda are taken) or a
 * kind that takes another number of operands; -ENOMEM.
 */
ACCEL_API int accel_expression_constant(int64_t value, struct accel_expression **expression,
					struct accel_error *error);
ACCEL_API int accel_expression_variable(const char *name, struct accel_expression **expression,
					struct accel_error *error);
ACCEL_API int accel_expression_binary(enum accel_expression_kind kind,
				      struct accel_expression *left,
				      struct accel_expression *right,
				      struct accel_expression **expression,
				      struct accel_error *error);
ACCEL_API int accel_expression_select(struct accel_expression *condition,
				      struct accel_expression *if_true,
				      struct accel_expression *if_false,
				      struct accel_expression **expression,
				      struct accel_error *error);

/*
 * Parses text such as "4*c_outer + c % 4" or "select(i < n and j >= 2, i//4, min(i, j))". * // %
 * bind tighter than + -, those tighter than comparisons, then and, then or. Time is linear in
 * the length. Errors: those of the builders, and -EINVAL if malformed, with the column.
 */
ACCEL_API int accel_expression_parse(const char *text, struct accel_expression **expression,
				     struct accel_error *error);

/* Prints, as snprintf() does, what parses back to the same expression. */
ACCEL_API int accel_expression_print(const struct accel_expression *expression, char *text,
				     size_t size);

ACCEL_API struct accel_expression *accel_expression_ref(struct accel_expression *expression);
ACCEL_API void accel_expression_unref(struct accel_expression *expression);

ACCEL_API enum accel_expression_kind accel_expression_kind(
		const struct accel_expression *expression);

/* Operand number k, borrowed, or NULL if there is none. */
ACCEL_API struct accel_expression *accel_expression_operand(
		const struct accel_expression *expression, uint32_t k);

/* True, and the value, if the expression is a constant. */
ACCEL_API bool accel_expression_is_constant(const struct accel_expression *expression,
					    int64_t *value);

/* The name, or NULL if the expression is no variable. Lives as long as the expression. */
ACCEL_API const char *accel_expression_name(const struct accel_expression *expression);

/*
 * The value. Only the branch that select takes, and of and and or only what decides, is looked at.
 * Errors: -ENOENT for a variable without a value; -EDOM for a division by 0; -EOVERFLOW.
 */
ACCEL_API int accel_expression_evaluate(const struct accel_expression *expression,
					size_t num_bindings, const struct accel_binding *bindings,
					int64_t *value, struct accel_error *error);

/*
 * An expression of the same value for all values in the ranges, in a canonical form: constants
 * folded, sums and products sorted, divisions resolved where the ranges prove it. A variable
 * without a range is a symbolic size, and at least 1. Equal are they as integers of any size:
 * one may have a value where evaluating the other overflows. Errors: -EOVERFLOW, -ENOMEM, -E2BIG,
 * and -EDOM where a part is divided by what is always 0.
 */
ACCEL_API int accel_expression_simplify(struct accel_expression *expression, size_t num_ranges,
					const struct accel_named_range *ranges,
					struct accel_expression **result,
					struct accel_error *error);

/* Whether both have the same value everywhere in the ranges: proved, not compared as text. */
ACCEL_API int accel_expression_equal(struct accel_expression *a, struct accel_expression *b,
				     size_t num_ranges, const struct accel_named_range *ranges,
				     enum accel_answer *answer, struct accel_error *error);

/* Index maps ------------------------------------------------------------------------------- */

/*
 * A map takes an index, a tuple of integers, to another: a logical index to a physical one.
 *
 *	(n, h, w, c) -> (n, c//4, h, w, c%4)	or	lambda n,h,w,c: [n, c//4, h, w, c%4]
 *	(m, n, p, q) -> (m, q//4, n | p, q%4)	| or te.AXIS_SEPARATOR separates flattened axes
 *	(*b, c) -> (*b, c//8, c%8)		any number of axes in place of *b, even none
 *	(i < 14, -2 <= j < N) -> (j, i)		ranges of inputs; N is a symbolic size, at least 1
 *
 * A variable that is no input is a symbolic size. Inputs are 0 or more where no range says
 * otherwise. Outputs alone, as in [i//4, i%4], are a map of the one name in them. A map is
 * immutable. Functions that take a rank and a shape put that many axes in place of *b first.
 *
 * A shape of a map's inputs means 0 <= index < extent and takes the place of the ranges in the
 * map; with NULL for the shape those of the map hold, rank is the map's own.
 */

#define ACCEL_MAP_MAX_AXES	32	/* inputs, or outputs, of a map */

struct accel_map;

/* An input of a map. */
struct accel_axis {
	const char *name;			/* "*b" stands for any number of axes */
	struct accel_expression *minimum;	/* NULL: 0 */
	struct accel_expression *limit;		/* exclusive; NULL: not known */
};

/* Parses a map. Linear time. Errors: as accel_expression_parse(). */
ACCEL_API int accel_map_parse(const char *text, struct accel_map **map,
			      struct accel_error *error);

/*
 * Builds a map. Inputs have different names; a variable "*b" may only be an output of its own.
 * separators are the outputs after which the flattened axis ends, ascending: {2} for (n, c//4, h |
 * w, c%4). What is given is referred to, names are copied.
 * Errors: -EINVAL, -E2BIG for too many axes, -ENOMEM.
 */
ACCEL_API int accel_map_create(uint32_t num_inputs, const struct accel_axis *inputs,
			       uint32_t num_outputs, struct accel_expression *const *outputs,
			       uint32_t num_separators, const uint32_t *separators,
			       struct accel_map **map, struct accel_error *error);

/* The map that leaves every index of this rank as it is. */
ACCEL_API int accel_map_create_identity(uint32_t rank, struct accel_map **map,
					struct accel_error *error);

/* The map to output d = input axes[d]; axes is a permutation of 0 .. rank - 1. */
ACCEL_API int accel_map_create_permutation(uint32_t rank, const uint32_t *axes,
					   struct accel_map **map, struct accel_error *error);

ACCEL_API struct accel_map *accel_map_ref(struct accel_map *map);
ACCEL_API void accel_map_unref(struct accel_map *map);

/* Prints, as snprintf() does, what parses back to the same map. */
ACCEL_API int accel_map_print(const struct accel_map *map, char *text, size_t size);

/* Inputs and outputs as written: *b counts as one. */
ACCEL_API uint32_t accel_map_num_inputs(const struct accel_map *map);
ACCEL_API uint32_t accel_map_num_outputs(const struct accel_map *map);

/* Whether the map has *b among its inputs. */
ACCEL_API bool accel_map_is_variadic(const struct accel_map *map);

/* Borrowed; k is below accel_map_num_x(). */
ACCEL_API const char *accel_map_input_name(const struct accel_map *map, uint32_t k);
ACCEL_API struct accel_expression *accel_map_output(const struct accel_map *map, uint32_t k);

/* The outputs after which a flattened axis ends; returns how many. separators may be NULL. */
ACCEL_API uint32_t accel_map_separators(const struct accel_map *map,
					uint32_t separators[ACCEL_MAP_MAX_AXES]);

/*
 * The map with rank inputs: *b becomes b0, b1, ... -EINVAL if the map cannot have that rank; a map
 * that is not variadic is returned as it is.
 */
ACCEL_API int accel_map_expand(struct accel_map *map, uint32_t rank, struct accel_map **result,
			       struct accel_error *error);

/* The same map with other names for its inputs. -EINVAL if a symbol or an input has that name. */
ACCEL_API int accel_map_rename(struct accel_map *map, uint32_t num_names,
			       const char *const *names, struct accel_map **result,
			       struct accel_error *error);

/* The map with values, at least 1, in place of symbolic sizes. -ENOENT for an unknown name. */
ACCEL_API int accel_map_bind(struct accel_map *map, size_t num_bindings,
			     const struct accel_binding *bindings, struct accel_map **result,
			     struct accel_error *error);

/* The map with 0 <= input < extent written into it. An extent of NULL: not known. */
ACCEL_API int accel_map_with_extents(struct accel_map *map, uint32_t rank,
				     struct accel_expression *const *extents,
				     struct accel_map **result, struct accel_error *error);

/*
 * Where an index goes. output has room for ACCEL_MAP_MAX_AXES; output_rank may be NULL. -ERANGE
 * if the index is outside of the ranges in the map, or negative where there are none.
 */
ACCEL_API int accel_map_apply_index(const struct accel_map *map, uint32_t rank,
				    const int64_t *index, uint32_t *output_rank, int64_t *output,
				    struct accel_error *error);

/*
 * The physical shape: for each output the largest value that it takes over the shape, plus one,
 * by interval arithmetic: exact where no two terms of the output vary with the same digit of
 * an input, and a bound otherwise. An output of an empty axis has extent 0. -ERANGE if an output
 * can be negative; -EINVAL if symbols are left.
 */
ACCEL_API int accel_map_apply_shape(const struct accel_map *map, uint32_t rank,
				    const int64_t *shape, uint32_t *output_rank,
				    int64_t *output_shape, struct accel_error *error);

/* The range of each output when the inputs have these ranges. Outputs may be negative. */
ACCEL_API int accel_map_apply_ranges(const struct accel_map *map, uint32_t rank,
				     const struct accel_range *ranges, uint32_t *output_rank,
				     struct accel_range *output_ranges,
				     struct accel_error *error);

/*
 * The shape, and the index, after the physical axes between two separators are flattened in
 * row-major order: N separators give N + 1 axes. -EOVERFLOW.
 */
ACCEL_API int accel_map_flat_shape(const struct accel_map *map, uint32_t rank,
				   const int64_t *shape, uint32_t *flat_rank, int64_t *flat_shape,
				   struct accel_error *error);
ACCEL_API int accel_map_flat_index(const struct accel_map *map, uint32_t rank,
				   const int64_t *shape, const int64_t *index,
				   uint32_t *flat_rank, int64_t *flat_index,
				   struct accel_error *error);

/*
 * The map that does first, then second, simplified. The ranges are those of first, the separators
 * those of second. A first input that has the name of a symbol of second gets another one.
 * -EINVAL if second does not take as many inputs as first has outputs.
 */
ACCEL_API int accel_map_compose(struct accel_map *first, struct accel_map *second,
				struct accel_map **result, struct accel_error *error);

/* The same map over this shape, each output simplified. The result is variadic if shape is NULL. */
ACCEL_API int accel_map_simplify(struct accel_map *map, uint32_t rank, const int64_t *shape,
				 struct accel_map **result, struct accel_error *error);

/* Whether both take each index of the shape to the same place, and separate the same axes. */
ACCEL_API int accel_map_equal(struct accel_map *a, struct accel_map *b, uint32_t rank,
			      const int64_t *shape, enum accel_answer *answer,
			      struct accel_error *error);

/* What a map does to the points of a shape. Initialised by accel_map_analyze(). */
struct accel_map_analysis {
	uint32_t input_rank;
	uint32_t output_rank;
	/* The bounds of the outputs, each a constant or over symbolic sizes; NULL: none found. */
	struct accel_expression *output_shape[ACCEL_MAP_MAX_AXES];

	/* No two points go to the same place. */
	enum accel_answer injective;
	/* If injective is NO and this is true: two points that do, and where they go. */
	bool has_collision;
	int64_t collision[2][ACCEL_MAP_MAX_AXES];
	int64_t collision_at[ACCEL_MAP_MAX_AXES];

	/* It is injective and each point of the output shape is reached: there is no padding. */
	enum accel_answer bijective;

	/*
	 * Takes each point that is reached back to where it comes from. NULL if the map is not
	 * injective or no closed form is found. The names of its inputs tell what they are: c_outer
	 * for c//4.
	 */
	struct accel_map *inverse;
	/*
	 * Over the inputs of inverse: true for the points of the output shape that are not
	 * reached. NULL if there are none, or inverse is NULL.
	 */
	struct accel_expression *padding;
	/* How many; NULL if injective is not YES. */
	struct accel_expression *padding_count;

	/* Why an answer is UNKNOWN, or why there is no inverse; empty otherwise. */
	char reason[160];
};

/*
 * Analyses the map over a shape, or with NULL over the ranges in the map, which may be symbolic.
 * Splits and fusions of axes are resolved in closed form at any size, padded on either side.
 * Other maps are enumerated when they have at most 65,536 points, and fewer if the map has more
 * than 1,000 operations; they are otherwise UNKNOWN, unless a collision is found. Errors: -EINVAL
 * for a range that is not known; -ERANGE if an output can be negative; -EOVERFLOW, also for the
 * number of points; -E2BIG and -EDOM as accel_expression_simplify(); -ENOMEM. When this fails,
 * there is nothing in analysis, which may be released all the same.
 */
ACCEL_API int accel_map_analyze(struct accel_map *map, uint32_t rank, const int64_t *shape,
				struct accel_map_analysis *analysis, struct accel_error *error);
ACCEL_API void accel_map_analysis_release(struct accel_map_analysis *analysis);

/* Loop nests ------------------------------------------------------------------------------- */

/* The loops that walk a tensor in the order of a map's outputs, outermost first. */
struct accel_loop_nest;

/* A loop: 0 <= name < extent. What it points to lives as long as the nest. */
struct accel_loop {
	const char *name;			/* such as i_outer, i_inner, jk_merged */
	struct accel_expression *extent;
	uint32_t output;			/* of the map, that this loop counts */
};

/*
 * Rewrites the loop nest over a shape so that it runs along the physical layout: for
 * (i,j,k) -> (i//4, 128*j + k, i%4) the loops i_outer, jk_merged, i_inner. -EDOM if the map has no
 * inverse in closed form, with the reason; errors of accel_map_analyze().
 */
ACCEL_API int accel_map_transform_layout(struct accel_map *map, uint32_t rank,
					 const int64_t *shape, struct accel_loop_nest **nest,
					 struct accel_error *error);

ACCEL_API struct accel_loop_nest *accel_loop_nest_ref(struct accel_loop_nest *nest);
ACCEL_API void accel_loop_nest_unref(struct accel_loop_nest *nest);

ACCEL_API uint32_t accel_loop_nest_rank(const struct accel_loop_nest *nest);
ACCEL_API struct accel_loop accel_loop_nest_loop(const struct accel_loop_nest *nest, uint32_t k);

/* The logical index, axis by axis, as expressions over the loops: a map from loops to it. */
ACCEL_API struct accel_map *accel_loop_nest_index(const struct accel_loop_nest *nest);

/* The condition under which a point of the loops is padding, to be skipped; NULL: never. */
ACCEL_API struct accel_expression *accel_loop_nest_padding(const struct accel_loop_nest *nest);

/* The nest with loop order[k] at place k. order is a permutation, else -EINVAL. */
ACCEL_API int accel_loop_nest_reorder(struct accel_loop_nest *nest, uint32_t rank,
				      const uint32_t *order, struct accel_loop_nest **result,
				      struct accel_error *error);

/* Transforms ------------------------------------------------------------------------------- */

/*
 * What is to be done to the layout of one tensor: maps, applied one after another, once. Maps are
 * pushed while the transform is pending; accel_transform_apply() ends that, and neither a
 * second application nor another map is possible afterwards (-EALREADY). Needs itself to
 * the calling thread.
 */
struct accel_transform;

ACCEL_API int accel_transform_create(uint32_t rank, const int64_t *shape,
				     struct accel_transform **transform,
				     struct accel_error *error);
ACCEL_API struct accel_transform *accel_transform_ref(struct accel_transform *transform);
ACCEL_API void accel_transform_unref(struct accel_transform *transform);

/*
 * Adds a map, over the shape that the maps before it made. Only the last may have separators:
 * -EINVAL. -EDOM if the map is not proved injective over that shape: two elements, or none, would
 * be at one place.
 */
ACCEL_API int accel_transform_push(struct accel_transform *transform, struct accel_map *map,
				   struct accel_error *error);

/* The shape after the maps pushed so far. physical_shape has ACCEL_MAP_MAX_AXES elements. */
ACCEL_API void accel_transform_shape(const struct accel_transform *transform,
				     uint32_t *physical_rank, int64_t *physical_shape);

/* Takes the maps as one, from the logical index to the physical one. Once: then -EALREADY. */
ACCEL_API int accel_transform_apply(struct accel_transform *transform, struct accel_map **map,
				    struct accel_error *error);

/* Layouts ---------------------------------------------------------------------------------- */

/*
 * A layout says where the elements of a logical shape are. It is written in one of these, which are
 * named as accel_layout_notation() names them:
 *
 *	order	NHWC				axes from the outermost to the innermost
 *	topi	NCHW16c OIHW4o4i OIHW[4o4i]	TVM, TOPI: a lower-case axis is a split
 *	glow	glow:N[a=32][ns:data]H*[a=64]	Glow: alignment in bytes, attributes, *
 *	stick	stick stick:pad=stick stick:order=1,0,2 stick:pad=all;order=1,0,2
 *		stick:padded=5,128,192;order=0,1,2 stick:sparse
 *		stick:device_size=128,3,64,64;stride_map=150,64,15000,1
 *						Spyre: sticks of 128 bytes
 *	strides	strides:12,1,3@5		NumPy, PyTorch: elements, and an offset
 *	tile	tile:outer=NCHW;tile=1,8,8,8;inner=NCHW
 *	xla	xla:{1,0:T(8,128)(2,1)}		XLA: minor to major, tiles; * combines
 *	onednn	onednn:aBcd16b onednn:nChw16c	oneDNN: format tags
 *	pack	pack:inner_dims_pos=1;inner_tiles=16;outer_dims_perm=0,2,3,1
 *	unpack	unpack:(the same)		MLIR: linalg.pack, linalg.unpack
 *	map	(n, h, w, c) -> (n, c//4, h, w, c%4)
 *
 * The name and a colon may stand before any of them; it must where it is shown, but before *, N[
 * and { it need not.
 */

/* A layout that fits shapes of every rank: see accel_layout_rank(). */
#define ACCEL_RANK_ANY			UINT32_MAX

/* Axes of a physical shape. */
#define ACCEL_MAX_PHYSICAL_DIMS		ACCEL_MAP_MAX_AXES

/*
 * Parses notation. axes names the logical axes in their order, an upper-case letter each, such as
 * "NCHW"; with NULL they are in the order in which the notation mentions them, or have no names. A
 * notation made of axes must name exactly these. -EINVAL with the column if malformed; -EOVERFLOW.
 */
ACCEL_API int accel_layout_parse(const char *notation, const char *axes,
				 struct accel_layout **layout, struct accel_error *error);

/* The layout that an index map makes, row-major; axes as above. -EINVAL if ranks differ. */
ACCEL_API int accel_layout_create_map(struct accel_map *map, const char *axes,
				      struct accel_layout **layout, struct accel_error *error);

ACCEL_API struct accel_layout *accel_layout_ref(struct accel_layout *layout);
ACCEL_API void accel_layout_unref(struct accel_layout *layout);

/* The number of logical axes, or ACCEL_RANK_ANY. */
ACCEL_API uint32_t accel_layout_rank(const struct accel_layout *layout);

/* The letters of the logical axes, or "" if they have no names. */
ACCEL_API const char *accel_layout_axes(const struct accel_layout *layout);

/* The name of the notation: "topi" and so on. */
ACCEL_API const char *accel_layout_notation(const struct accel_layout *layout);

/* The name of notation number k, or NULL beyond the last. */
ACCEL_API const char *accel_notation_name(uint32_t k);

/*
 * Prints the layout in canonical notation, as snprintf() does: returns the length that it needs
 * without the terminating zero, and writes what fits. With the same axes it parses back to
 * the same layout.
 */
ACCEL_API int accel_layout_print(const struct accel_layout *layout, char *text, size_t size);

/*
 * The stride of each logical axis and the offset of element 0, in elements, for a logical shape of
 * the layout's rank. Errors: -EINVAL for another rank or a negative extent; -ENOTSUP if an axis
 * has no single stride, as a split one; -EOVERFLOW.
 */
ACCEL_API int accel_layout_strides(const struct accel_layout *layout, uint32_t rank,
				   const int64_t *shape, int64_t *strides, int64_t *offset,
				   struct accel_error *error);

/*
 * The extents in memory order, outermost first, where there are as many as logical axes: for
 * "NHWC" of axes "NCHW" and (1,64,56,56) it is (1,56,56,64). Errors as above, and -ENOTSUP if the
 * layout splits axes, needs the element type, or consists of strides: see accel_layout_describe().
 */
ACCEL_API int accel_layout_physical_shape(const struct accel_layout *layout, uint32_t rank,
					  const int64_t *shape, int64_t *physical_shape,
					  struct accel_error *error);

/* What a layout makes of a shape. Shapes and strides are in elements. */
struct accel_layout_description {
	uint32_t physical_rank;
	int64_t physical_shape[ACCEL_MAX_PHYSICAL_DIMS];	/* outermost first */
	int64_t strides[ACCEL_MAX_PHYSICAL_DIMS];	/* of the physical axes */
	int64_t offset;					/* of the element at index 0 */
	int64_t bytes;					/* to the end, padding and offset too */

	/* glow: of the stride of each logical axis, in bytes, 1 if none is asked for; else 0 */
	int64_t alignment[ACCEL_MAX_DIMS];

	/* stick, otherwise unused; the device size is physical_shape */
	bool has_sticks;
	bool is_sparse;
	uint32_t num_stick_dims;
	int32_t dim_map[ACCEL_MAX_PHYSICAL_DIMS];	/* logical axis of each; -1: none */
	int64_t stride_map[ACCEL_MAX_PHYSICAL_DIMS];	/* row-major elements a step; -1: none */
};

/*
 * Describes what the layout makes of a shape. dtype 0 stands for a type that is not known, and is
 * an error (-EINVAL) where the layout depends on it; bytes then is 0. Errors: -EINVAL for a rank
 * or shape that the layout does not fit; -ERANGE if it reaches below element 0; -EOVERFLOW.
 */
ACCEL_API int accel_layout_describe(const struct accel_layout *layout, enum accel_dtype dtype,
				    uint32_t rank, const int64_t *shape,
				    struct accel_layout_description *description,
				    struct accel_error *error);

/* The index map from the logical index to the index of the physical shape. Errors as above. */
ACCEL_API int accel_layout_map(const struct accel_layout *layout, enum accel_dtype dtype,
			       uint32_t rank, const int64_t *shape, struct accel_map **map,
			       struct accel_error *error);

/* Where the element at index is, in elements. -ERANGE for an index outside of the shape. */
ACCEL_API int accel_layout_element(const struct accel_layout *layout, enum accel_dtype dtype,
				   uint32_t rank, const int64_t *shape, const int64_t *index,
				   int64_t *element, struct accel_error *error);

/* Whether two layouts put all elements of a shape at the same places of equally large memory. */
ACCEL_API int accel_layout_equal(const struct accel_layout *a, const struct accel_layout *b,
				 enum accel_dtype dtype, uint32_t rank, const int64_t *shape,
				 enum accel_answer *answer, struct accel_error *error);

/*
 * Writes the layout of a shape in another notation, such as "xla": the result puts every
 * element at the same place, which is proved. Axes without names become A, B, C and on where names
 * are needed; a layout that is in that notation already is returned. Errors: -ENOTSUP if that
 * notation cannot say it; -EINVAL for an unknown name; those of accel_layout_describe().
 */
ACCEL_API int accel_layout_express(struct accel_layout *layout, enum accel_dtype dtype,
				   uint32_t rank, const int64_t *shape, const char *notation,
				   struct accel_layout **result, struct accel_error *error);

/*
 * The map from the physical index in one layout to that in another, of the same logical shape;
 * rank and shape are of from's logical axes. Where both name their axes, axes of the same name are
 * the same. It holds for indices of elements; indices of padding have no image. Errors: -ENOTSUP
 * if they are not convertible, for their axes differ; -EDOM if from has no inverse in closed form.
 */
ACCEL_API int accel_layout_conversion(const struct accel_layout *from,
				      const struct accel_layout *to, enum accel_dtype dtype,
				      uint32_t rank, const int64_t *shape,
				      struct accel_map **map, struct accel_error *error);

/*
 * The map from the physical index back to the logical one, for the points that are not padding:
 * what unpacks the layout. -EDOM if there is none in closed form.
 */
ACCEL_API int accel_layout_inverse(const struct accel_layout *layout, enum accel_dtype dtype,
				   uint32_t rank, const int64_t *shape, struct accel_map **map,
				   struct accel_error *error);

/*
 * Prints what Spyre's tensor layouts print: SpyreTensorLayout(device_size=[..], dim_map =[..], ..).
 * The length as snprintf() returns it. -ENOTSUP if the layout is not one of sticks.
 */
ACCEL_API int accel_layout_print_sticks(const struct accel_layout *layout, enum accel_dtype dtype,
					uint32_t rank, const int64_t *shape, char *text,
					size_t size, struct accel_error *error);

/* Attributes of Glow layouts --------------------------------------------------------------- */

/*
 * The axes of a Glow layout have attributes: "a", an alignment in bytes, and opaque ones, which
 * have a namespace for a name. Functions here give -ENOTSUP for a layout in another notation and
 * -EINVAL for an axis that is not there.
 */

/* The alignment that an axis asks for its stride, in bytes; 1 if it asks for none. */
ACCEL_API int accel_layout_alignment(const struct accel_layout *layout, uint32_t axis,
				     int64_t *alignment, struct accel_error *error);

/*
 * The value of an attribute, as snprintf() prints it. -ENOENT, and no message, if the axis does not
 * have it. Opaque values come as they were written.
 */
ACCEL_API int accel_layout_attribute(const struct accel_layout *layout, uint32_t axis,
				     const char *name, char *value, size_t size,
				     struct accel_error *error);

/*
 * The layout with another value for an attribute, which then is the axis' last; with NULL without
 * that attribute. -EINVAL if the value or the name could not be parsed back.
 */
ACCEL_API int accel_layout_set_attribute(struct accel_layout *layout, uint32_t axis,
					 const char *name, const char *value,
					 struct accel_layout **result,
					 struct accel_error *error);

/*
 * Whether a tensor satisfies a required Glow layout. Its strides, in elements, are multiples of
 * the alignments, and there is one for each axis. If found is not NULL, it is the Glow layout that
 * the tensor is known to have: its axes have the same letters, or * on either side, and carry the
 * opaque attributes that are required. 1 or 0, and why not in error; -ENOTSUP.
 */
ACCEL_API int accel_layout_satisfies(const struct accel_layout *required,
				     const struct accel_layout *found, enum accel_dtype dtype,
				     uint32_t rank, const int64_t *strides,
				     struct accel_error *error);

/* Requirements of operators ----------------------------------------------------------------- */

/*
 * A graph, for verification: nodes in an order in which each comes after those that make its
 * inputs. Layouts are Glow strings without a prefix.
 */
struct accel_graph_tensor {
	const char *name;
	enum accel_dtype dtype;
	uint32_t rank;
	const int64_t *shape;
	const int64_t *strides;		/* elements; NULL: row-major */
	const char *layout;		/* NULL: any, until accel_graph_bind() */
};

struct accel_graph_node {
	const char *name;
	const char *op;			/* such as "Convolution" */
	uint32_t num_inputs;
	const uint32_t *inputs;		/* tensors */
	uint32_t num_results;
	const uint32_t *results;	/* tensors, each the result of one node at most */
	const uint32_t *permutation;	/* Transpose: result axis d is input axis [d]; else NULL */
};

struct accel_graph {
	uint32_t num_tensors;
	struct accel_graph_tensor *tensors;
	uint32_t num_nodes;
	const struct accel_graph_node *nodes;
};

#define ACCEL_LAYOUT_TEXT_MAX	256	/* bytes of a layout that a function below gives */

/*
 * What the operators of a backend ask for. A backend copies accel_requirements_canonical and puts
 * its own functions in place of those where it differs; the others it may call.
 *
 * A function writes a Glow string, for the rank of the tensor, into layout, which has
 * ACCEL_LAYOUT_TEXT_MAX bytes. It returns 0 or -errno, with error filled in. found has the
 * layout of every tensor of the graph, as far as it is known by then, NULL elsewhere.
 */
struct accel_requirements {
	bool is_enabled;		/* false: accel_graph_verify() finds nothing */
	void *context;			/* the backend's */

	/* The layout of tensors of this rank about which nothing else is said. */
	int (*default_layout)(const struct accel_requirements *requirements, uint32_t rank,
			      char *layout, struct accel_error *error);

	/* What the node asks of an input, and what layout a result of it has. */
	int (*input_layout)(const struct accel_requirements *requirements,
			    const struct accel_graph *graph, uint32_t node, uint32_t input,
			    const char *const *found, char *layout, struct accel_error *error);
	int (*result_layout)(const struct accel_requirements *requirements,
			     const struct accel_graph *graph, uint32_t node, uint32_t result,
			     const char *const *found, char *layout,
			     struct accel_error *error);

	/* As accel_layout_satisfies(), which it is unless a backend overrides it. */
	int (*satisfies)(const struct accel_requirements *requirements,
			 const struct accel_layout *required, const struct accel_layout *found,
			 enum accel_dtype dtype, uint32_t rank, const int64_t *strides,
			 struct accel_error *error);
};

/*
 * The canonical set: four dimensions are NHWC by default and in convolutions and pooling, one is
 * N, others are any. Element-wise operators take any layout and give theirs on; their inputs agree.
 * Others that do not care (Reshape, MatMul, Concat, ...) accept any.
 */
ACCEL_API extern const struct accel_requirements accel_requirements_canonical;

/* The layout of a placeholder, once it is loaded. -EINVAL for a malformed or unfitting one. */
ACCEL_API int accel_graph_bind(struct accel_graph *graph, uint32_t tensor, const char *layout,
			       struct accel_error *error);

/*
 * Walks the graph and checks each input and each tensor whose layout is given against what is
 * required of it. requirements NULL: the canonical ones. -EINVAL for the first that does
 * not satisfy it: the node, the operand, the found and the required layout are in the message;
 * also for a graph that is malformed.
 */
ACCEL_API int accel_graph_verify(const struct accel_graph *graph,
				 const struct accel_requirements *requirements,
				 struct accel_error *error);

/* Tensors ---------------------------------------------------------------------------------- */

/*
 * A tensor is a shape over memory of a buffer: by strides, or in any layout that
 * accel_layout_parse() reads. shape has rank extents, each 0 or more, rank at most ACCEL_MAX_DIMS.
 * Tensors never change; their elements do.
 *
 * Makes a tensor of zeros, padding too, with a buffer of its own. layout is of the same rank, or
 * NULL for row-major order. Errors: -EINVAL; -EOVERFLOW if the bytes do not fit 63 bits; those of
 * accel_buffer_create() and accel_layout_describe().
 */
ACCEL_API int accel_tensor_create(struct accel_device *device, enum accel_dtype dtype,
				  uint32_t rank, const int64_t *shape, struct accel_layout *layout,
				  struct accel_tensor **tensor, struct accel_error *error);

/* The same in the on-chip memory of a PE. Errors also those of accel_buffer_create_sram(). */
ACCEL_API int accel_tensor_create_sram(struct accel_device *device, uint32_t pe,
				       enum accel_dtype dtype, uint32_t rank,
				       const int64_t *shape, struct accel_layout *layout,
				       struct accel_tensor **tensor, struct accel_error *error);

/*
 * Makes a tensor of memory that is there: strides and offset, in elements, say where in
 * the buffer its elements are. Strides may be negative or 0; NULL means row-major.
 * Errors: -EINVAL; -EOVERFLOW; -ERANGE if an element lies outside of the buffer.
 */
ACCEL_API int accel_tensor_from_buffer(struct accel_buffer *buffer, enum accel_dtype dtype,
				       uint32_t rank, const int64_t *shape,
				       const int64_t *strides, int64_t offset,
				       struct accel_tensor **tensor, struct accel_error *error);

/*
 * The same in a layout, or row-major with NULL, that begins at a byte of the buffer: a multiple of
 * the element's size. Padding is part of the layout, and must be in the buffer too.
 */
ACCEL_API int accel_tensor_from_layout(struct accel_buffer *buffer, enum accel_dtype dtype,
				       uint32_t rank, const int64_t *shape,
				       struct accel_layout *layout, uint64_t offset_bytes,
				       struct accel_tensor **tensor, struct accel_error *error);

ACCEL_API struct accel_tensor *accel_tensor_ref(struct accel_tensor *tensor);
ACCEL_API void accel_tensor_unref(struct accel_tensor *tensor);

/*
 * Pointers and objects that these return live as long as the tensor. The layout is the one that the
 * tensor was made with: NULL if there was none, and of a view. Strides, in elements, are NULL where
 * an axis has no single one, as the split axis of NCHW16c. The offset is where the element at
 * index 0 is, in elements from the start of the buffer.
 */
ACCEL_API struct accel_buffer *accel_tensor_buffer(const struct accel_tensor *tensor);
ACCEL_API struct accel_layout *accel_tensor_layout(const struct accel_tensor *tensor);
ACCEL_API enum accel_dtype accel_tensor_dtype(const struct accel_tensor *tensor);
ACCEL_API uint32_t accel_tensor_rank(const struct accel_tensor *tensor);
ACCEL_API const int64_t *accel_tensor_shape(const struct accel_tensor *tensor);
ACCEL_API const int64_t *accel_tensor_strides(const struct accel_tensor *tensor);
ACCEL_API int64_t accel_tensor_offset(const struct accel_tensor *tensor);
ACCEL_API int64_t accel_tensor_num_elements(const struct accel_tensor *tensor);

/*
 * Where the element at index is, in elements from the start of the buffer. index has rank
 * numbers. -ERANGE, with the axis in the message, if one is not in 0 <= index < extent.
 */
ACCEL_API int accel_tensor_element(const struct accel_tensor *tensor, const int64_t *index,
				   int64_t *element, struct accel_error *error);

/*
 * The bytes of the buffer, from the lowest to one before the end, outside of which no element of
 * the tensor is; both 0 if it has none. They are exact where the tensor has strides, and may be
 * wider where an axis is split.
 */
ACCEL_API void accel_tensor_bounds(const struct accel_tensor *tensor, int64_t *lowest_byte,
				   int64_t *end_byte);

/* Whether the elements lie without gaps in row-major order, wherever the first is. */
ACCEL_API bool accel_tensor_is_contiguous(const struct accel_tensor *tensor);

/*
 * The tensor itself, with a reference more, if it is contiguous; otherwise a row-major copy on the
 * same device. Errors: those of accel_tensor_create() and accel_copy().
 */
ACCEL_API int accel_tensor_contiguous(struct accel_tensor *tensor, struct accel_tensor **result,
				      struct accel_error *error);

/* Views ------------------------------------------------------------------------------------ */

/*
 * A view is a tensor that shares another's memory, which it keeps alive; no element moves. All work
 * in every layout. Common errors: -EINVAL for an axis or a shape that does not fit, -EOVERFLOW for
 * elements that 63 bits do not count, -ENOMEM.
 */

/* Axis k of the view is axes[k] of the tensor; each is there once. */
ACCEL_API int accel_tensor_permute(const struct accel_tensor *tensor, const uint32_t *axes,
				   struct accel_tensor **view, struct accel_error *error);
ACCEL_API int accel_tensor_transpose(const struct accel_tensor *tensor, uint32_t a, uint32_t b,
				     struct accel_tensor **view, struct accel_error *error);

/* A bound of a slice that is left out, as in Python's x[::2]; as a step it is 1. */
#define ACCEL_SLICE_END		INT64_MIN

/*
 * start:stop:step of an axis, by Python's rules: bounds below 0 count from the end, those beyond an
 * end are brought to it, and step, which is not 0, may be negative.
 */
ACCEL_API int accel_tensor_slice(const struct accel_tensor *tensor, uint32_t axis, int64_t start,
				 int64_t stop, int64_t step, struct accel_tensor **view,
				 struct accel_error *error);

/*
 * What Python has between brackets: "0:5, ::2, ..., -1, None". An integer drops its axis, None (or
 * newaxis) adds one of extent 1, the ellipsis stands for axes that are taken whole, as are those
 * left out at the end. -EINVAL with the column; -ERANGE for an index outside of its axis.
 */
ACCEL_API int accel_tensor_slice_text(const struct accel_tensor *tensor, const char *text,
				      struct accel_tensor **view, struct accel_error *error);

/* The elements at index of the axis, which goes. Below 0 it counts from the end. -ERANGE. */
ACCEL_API int accel_tensor_select(const struct accel_tensor *tensor, uint32_t axis, int64_t index,
				  struct accel_tensor **view, struct accel_error *error);

/* Without an axis, which must have an extent of 1; with one of that extent before axis. */
ACCEL_API int accel_tensor_squeeze(const struct accel_tensor *tensor, uint32_t axis,
				   struct accel_tensor **view, struct accel_error *error);
ACCEL_API int accel_tensor_unsqueeze(const struct accel_tensor *tensor, uint32_t axis,
				     struct accel_tensor **view, struct accel_error *error);

/*
 * The same elements again and again (stride 0) along axes that have an extent of 1 or that come
 * before the first: shape's last extents are the tensor's, where these are not 1.
 */
ACCEL_API int accel_tensor_expand(const struct accel_tensor *tensor, uint32_t rank,
				  const int64_t *shape, struct accel_tensor **view,
				  struct accel_error *error);

/* Along the axis from the end to the start. */
ACCEL_API int accel_tensor_flip(const struct accel_tensor *tensor, uint32_t axis,
				struct accel_tensor **view, struct accel_error *error);

/*
 * The elements in row-major order in another shape of as many; one extent may be -1, for what is
 * left. -ENOTSUP, which names the axes, where only a copy can have that shape: see
 * accel_tensor_contiguous().
 */
ACCEL_API int accel_tensor_reshape(const struct accel_tensor *tensor, uint32_t rank,
				   const int64_t *shape, struct accel_tensor **view,
				   struct accel_error *error);

/*
 * Any strides and offset, in elements from the start of the buffer, as accel_tensor_from_buffer()
 * with its errors. -ENOTSUP if the tensor itself has no strides.
 */
ACCEL_API int accel_tensor_as_strided(const struct accel_tensor *tensor, uint32_t rank,
				      const int64_t *shape, const int64_t *strides,
				      int64_t offset, struct accel_tensor **view,
				      struct accel_error *error);

/*
 * The elements whose index on axis b is offset more than that on axis a; both go, and the diagonal
 * is the last axis. It is empty where the offset leaves the tensor.
 */
ACCEL_API int accel_tensor_diagonal(const struct accel_tensor *tensor, int64_t offset, uint32_t a,
				    uint32_t b, struct accel_tensor **view,
				    struct accel_error *error);

/*
 * Windows of size elements along an axis, one every step elements: the axis counts windows, and a
 * new last axis goes through each. size is 0 to the axis's extent, step at least 1.
 */
ACCEL_API int accel_tensor_unfold(const struct accel_tensor *tensor, uint32_t axis, int64_t size,
				  int64_t step, struct accel_tensor **view,
				  struct accel_error *error);

/*
 * The same bytes as elements of another type. With a size of its own the last axis becomes shorter
 * or longer: as raw128, four f32 that are side by side are one element. Errors: -EINVAL if
 * the last axis or the first element is no multiple of the wider size; -ENOTSUP if elements are not
 * side by side, or other strides are no multiple of it.
 */
ACCEL_API int accel_tensor_reinterpret(const struct accel_tensor *tensor, enum accel_dtype dtype,
				       struct accel_tensor **view, struct accel_error *error);

/* Exchange --------------------------------------------------------------------------------- */

/* As <dlpack/dlpack.h> has them: DLPack 0.x, and 1.x with a version and flags. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;

/*
 * A tensor of another library's memory, without a copy, on the CPU device. When this succeeds, the
 * managed tensor is the library's, and its deleter is called once, from whichever thread drops the
 * last reference to the memory; when it fails, it stays the caller's. What is read-only is no
 * destination of jobs. Errors: -EINVAL for what is malformed; -ENOTSUP, which names it, for a major
 * version, device type, element type or lanes that are not known here, and on other devices than
 * the CPU; -EOVERFLOW.
 */
ACCEL_API int accel_tensor_from_dlpack(struct accel_device *device,
				       struct DLManagedTensor *managed,
				       struct accel_tensor **tensor, struct accel_error *error);
ACCEL_API int accel_tensor_from_dlpack_versioned(struct accel_device *device,
						 struct DLManagedTensorVersioned *managed,
						 struct accel_tensor **tensor,
						 struct accel_error *error);

/*
 * The tensor for another library, as memory of the CPU, whichever device it is of; waits for jobs
 * that use it. It keeps the memory alive until its deleter is called. Raw elements become unsigned
 * integers. -ENOTSUP for a tensor without strides, for raw128, and for read-only memory where there
 * are no flags; those of accel_buffer_map() and accel_buffer_wait().
 */
ACCEL_API int accel_tensor_to_dlpack(struct accel_tensor *tensor, struct DLManagedTensor **managed,
				     struct accel_error *error);
ACCEL_API int accel_tensor_to_dlpack_versioned(struct accel_tensor *tensor,
					       struct DLManagedTensorVersioned **managed,
					       struct accel_error *error);

/*
 * Reads a .npy file of NumPy, versions 1.0 to 3.0, to a tensor with a buffer of its own; in
 * Fortran's order it has the strides of that. Booleans become u8, complex numbers raw64 and raw128.
 * Errors: -EINVAL if it is none, with the column in its header; others of open() and read();
 * those of accel_tensor_create().
 */
ACCEL_API int accel_tensor_load(struct accel_device *device, const char *path,
				struct accel_tensor **tensor, struct accel_error *error);

/*
 * Writes the tensor to a .npy file, in row-major order of its shape whatever its layout. The file
 * is written beside its name and renamed when it is whole: a failure leaves what was there. Errors:
 * those of open(), write() and rename(); those of accel_tensor_contiguous().
 */
ACCEL_API int accel_tensor_save(struct accel_tensor *tensor, const char *path,
				struct accel_error *error);

/* Copies ----------------------------------------------------------------------------------- */

/*
 * Copies src to dst and waits until that is done. Both have the same logical shape, whatever their
 * layouts, and are on the same device. Elements are moved bit for bit: the types are the same, or
 * one of them is raw and of the same size. dst and src share no memory, or are the same elements.
 *
 * Errors: -EINVAL, which names the axis or the types that differ; -EXDEV; -E2BIG when the copy
 * needs more than ACCEL_MAX_RANK loops; -EOVERFLOW; those of accel_submit() and accel_fence_wait().
 */
ACCEL_API int accel_copy(struct accel_tensor *dst, struct accel_tensor *src,
			 struct accel_error *error);

/* The same without waiting; fence as in accel_submit(). */
ACCEL_API int accel_copy_async(struct accel_tensor *dst, struct accel_tensor *src,
			       struct accel_fence **fence, struct accel_error *error);

/* Functions -------------------------------------------------------------------------------- */

/*
 * A function says what is wanted: tensors by name, each either an input or defined from others,
 * and which of them are asked for. accel_plan_create() finds the fewest jobs that compute it. A
 * definition gives the element at each index of its result:
 *
 *	y[i,j] = x[i,j] + 7				axes by name; each goes over the extent of
 *	z[m,n,k] = a[m,n] * b[n,k]			the axes that it indexes
 *	y[n,h,w,c] = relu(x[n,c,h,w] * s[c] + t[c])
 *	y[i<8, j] = x[i//2, j]				i has the extent that is written
 *	q[i] = u8(x[i] * 0.5 + 3)			u8(), f32() and so on cast; to integers they
 *							round to nearest even and saturate
 *	p[i<6] = select(0 <= i-1 and i-1 < 4, x[i-1], 0)	padding: a load outside of its
 *							condition is not made
 *	g[i,j] = table[rows[i], j]			gather: an index from a tensor of integers
 *	s[rows[i], j] = x[i,j]				scatter, see accel_function_scatter()
 *
 * An index is an expression over the axes as in accel_expression_parse(), or such an expression
 * times and plus an element of a tensor of integers. Values: + - *, unary -, fma(a,b,c), min, max,
 * abs, relu, clamp(x,lo,hi), comparisons, select(condition, a, b), numbers, casts. The operands of
 * an operation have one type; numbers take that of the other operand. A definition's type is that
 * of its value. Operations are those of struct accel_instruction, with its rules of rounding.
 *
 * Functions are built by one thread; a finished one may be shared.
 */
struct accel_value;

ACCEL_API int accel_function_create(struct accel_function **function, struct accel_error *error);
ACCEL_API struct accel_function *accel_function_ref(struct accel_function *function);
ACCEL_API void accel_function_unref(struct accel_function *function);

/*
 * Adds an input. layout NULL: row-major. Errors: -EINVAL for a name that is no name or is taken,
 * for the type, the shape or the layout; -EOVERFLOW.
 */
ACCEL_API int accel_function_add_input(struct accel_function *function, const char *name,
				       enum accel_dtype dtype, uint32_t rank,
				       const int64_t *shape, struct accel_layout *layout,
				       struct accel_error *error);

/* Adds an input that is laid out as this tensor is; its buffer is not looked at. */
ACCEL_API int accel_function_add_input_like(struct accel_function *function, const char *name,
					    const struct accel_tensor *tensor,
					    struct accel_error *error);

/* Adds a definition as text. -EINVAL with the column; -ENOENT for a tensor that is not there. */
ACCEL_API int accel_function_define(struct accel_function *function, const char *text,
				    struct accel_error *error);

/* Asks for a tensor: row-major (layout NULL), in a layout with its padding filled, or as like. */
ACCEL_API int accel_function_add_output(struct accel_function *function, const char *name,
					struct accel_layout *layout, const uint64_t padding[2],
					struct accel_error *error);
ACCEL_API int accel_function_add_output_like(struct accel_function *function, const char *name,
					     const struct accel_tensor *tensor,
					     struct accel_error *error);

/*
 * Definitions in C: values, which refer to those they are made from and are counted. Indices are
 * over the names of the definition's axes. -EINVAL, -ENOMEM; names and types are checked by
 * accel_function_define_value().
 */
ACCEL_API int accel_value_load(const char *tensor, uint32_t num_indices,
			       struct accel_expression *const *indices,
			       struct accel_value **value, struct accel_error *error);

/* The load where condition, over the axes, is not 0, and elsewhere the bits of padding. */
ACCEL_API int accel_value_load_padded(const char *tensor, uint32_t num_indices,
				      struct accel_expression *const *indices,
				      struct accel_expression *condition,
				      const uint64_t padding[2], struct accel_value **value,
				      struct accel_error *error);

/* A load whose index number axis is an element of the tensor of integers that index loads. */
ACCEL_API int accel_value_gather(const char *tensor, uint32_t num_indices,
				 struct accel_expression *const *indices, uint32_t axis,
				 struct accel_value *index, struct accel_value **value,
				 struct accel_error *error);

ACCEL_API int accel_value_constant(enum accel_dtype dtype, uint64_t bits,
				   struct accel_value **value, struct accel_error *error);

/* As an instruction of that opcode does; operands of the arity that it has. Not CONST. */
ACCEL_API int accel_value_operate(enum accel_opcode opcode, enum accel_dtype dtype, uint8_t flags,
				  enum accel_predicate predicate,
				  struct accel_value *const operands[3],
				  struct accel_value **value, struct accel_error *error);

ACCEL_API struct accel_value *accel_value_ref(struct accel_value *value);
ACCEL_API void accel_value_unref(struct accel_value *value);

ACCEL_API int accel_function_define_value(struct accel_function *function, const char *name,
					  uint32_t rank, const char *const *axes,
					  const int64_t *shape, struct accel_value *value,
					  struct accel_error *error);

/* The type and shape of a tensor of the function; -ENOENT. */
ACCEL_API int accel_function_tensor(const struct accel_function *function, const char *name,
				    enum accel_dtype *dtype, uint32_t *rank,
				    int64_t shape[ACCEL_MAX_DIMS], struct accel_error *error);

/*
 * Definitions of common operations: result is defined from source. All fuse with what comes before
 * and after. padding has the bits of an element, NULL is 0.
 *
 * map: result[map(i)] = source[i], and padding where no element goes. -EDOM if two elements go to
 * the same place; where that can neither be proved nor be refuted, it is the caller's to see to.
 * unmap: result[i] = source[map(i)], of this shape: what unpacks, drops padding, repeats, selects.
 */
ACCEL_API int accel_function_map(struct accel_function *function, const char *result,
				 const char *source, struct accel_map *map,
				 const uint64_t padding[2], struct accel_error *error);
ACCEL_API int accel_function_unmap(struct accel_function *function, const char *result,
				   const char *source, struct accel_map *map, uint32_t rank,
				   const int64_t *shape, struct accel_error *error);
ACCEL_API int accel_function_permute(struct accel_function *function, const char *result,
				     const char *source, const uint32_t *axes,
				     struct accel_error *error);
ACCEL_API int accel_function_reshape(struct accel_function *function, const char *result,
				     const char *source, uint32_t rank, const int64_t *shape,
				     struct accel_error *error);
/* As accel_tensor_slice_text(): "0:5, ::2, ..., -1". */
ACCEL_API int accel_function_slice(struct accel_function *function, const char *result,
				   const char *source, const char *text,
				   struct accel_error *error);
/* before and after, of each axis, may be negative: then elements are dropped. */
ACCEL_API int accel_function_pad(struct accel_function *function, const char *result,
				 const char *source, const int64_t *before, const int64_t *after,
				 const uint64_t padding[2], struct accel_error *error);
ACCEL_API int accel_function_broadcast(struct accel_function *function, const char *result,
				       const char *source, uint32_t rank, const int64_t *shape,
				       struct accel_error *error);
/* Each element count times in a row, as numpy.repeat(). */
ACCEL_API int accel_function_repeat(struct accel_function *function, const char *result,
				    const char *source, uint32_t axis, int64_t count,
				    struct accel_error *error);
/* The whole counts[d] times along each axis, as numpy.tile(). */
ACCEL_API int accel_function_tile(struct accel_function *function, const char *result,
				  const char *source, const int64_t *counts,
				  struct accel_error *error);

/* Windows of an image of four axes. Zero strides and dilations stand for 1. */
struct accel_im2col {
	bool is_nhwc;			/* otherwise NCHW */
	bool is_view;			/* (N,Ho,Wo,C,Kh,Kw) in place of the matrix */
	int64_t kernel[2];
	int64_t stride[2];
	int64_t pad[2];			/* on either side */
	int64_t dilation[2];
};

/* The matrix (N*Ho*Wo, C*Kh*Kw), with 0 outside of the image. */
ACCEL_API int accel_function_im2col(struct accel_function *function, const char *result,
				    const char *source, const struct accel_im2col *im2col,
				    struct accel_error *error);

/*
 * gather: indices, a tensor of integers of any rank, in place of axis: numpy.take(), index_select,
 * embedding. take_along: indices has source's rank: numpy.take_along_axis(). An index outside of
 * 0 <= index < extent makes the job fail.
 */
ACCEL_API int accel_function_gather(struct accel_function *function, const char *result,
				    const char *source, uint32_t axis, const char *indices,
				    struct accel_error *error);
ACCEL_API int accel_function_take_along(struct accel_function *function, const char *result,
					const char *source, uint32_t axis, const char *indices,
					struct accel_error *error);

/*
 * result, of extent on axis, is padding but where indices, of one axis, puts the slices of source:
 * result[.., indices[i], ..] = source[.., i, ..]. Of slices with equal indices any one, element by
 * element, is there in the end: which is not said.
 */
ACCEL_API int accel_function_scatter(struct accel_function *function, const char *result,
				     const char *source, uint32_t axis, const char *indices,
				     int64_t extent, const uint64_t padding[2],
				     struct accel_error *error);

/* One after another along an axis; along a new one; and source cut into parts of these sizes. */
ACCEL_API int accel_function_concat(struct accel_function *function, const char *result,
				    uint32_t num_sources, const char *const *sources,
				    uint32_t axis, struct accel_error *error);
ACCEL_API int accel_function_stack(struct accel_function *function, const char *result,
				   uint32_t num_sources, const char *const *sources,
				   uint32_t axis, struct accel_error *error);
ACCEL_API int accel_function_split(struct accel_function *function, uint32_t num_results,
				   const char *const *results, const char *source, uint32_t axis,
				   const int64_t *sizes, struct accel_error *error);

/* (N, C*r*r, H, W) to (N, C, H*r, W*r), and (N, C, H*r, W*r) to (N, C*r*r, H, W). */
ACCEL_API int accel_function_pixel_shuffle(struct accel_function *function, const char *result,
					   const char *source, int64_t factor,
					   struct accel_error *error);
ACCEL_API int accel_function_space_to_depth(struct accel_function *function, const char *result,
					    const char *source, int64_t factor,
					    struct accel_error *error);

/* To integers: round to nearest even and saturate. */
ACCEL_API int accel_function_cast(struct accel_function *function, const char *result,
				  const char *source, enum accel_dtype dtype,
				  struct accel_error *error);

/*
 * Of f32, computed in f32: saturate(round(x * (1 / scale)) + zero_point), and (q - zero_point) *
 * scale. Quantized elements are i8, u8, i16, u16 or i32; the scale is positive.
 */
ACCEL_API int accel_function_quantize(struct accel_function *function, const char *result,
				      const char *source, enum accel_dtype dtype, float scale,
				      int32_t zero_point, struct accel_error *error);
ACCEL_API int accel_function_dequantize(struct accel_function *function, const char *result,
					const char *source, float scale, int32_t zero_point,
					struct accel_error *error);

/* Plans and tasks -------------------------------------------------------------------------- */

/* What a map does to elements. More than one may be said of a map that is not bijective. */
#define ACCEL_CLASS_IDENTITY	(1 << 0)	/* every element is where it is wanted: no job */
#define ACCEL_CLASS_BIJECTIVE	(1 << 1)	/* each element goes to one place, all are filled */
#define ACCEL_CLASS_EXPANDING	(1 << 2)	/* an element goes to several places */
#define ACCEL_CLASS_SELECTING	(1 << 3)	/* some elements go nowhere */
#define ACCEL_CLASS_FILLING	(1 << 4)	/* some places get a padding value */
#define ACCEL_CLASS_COMPUTING	(1 << 5)	/* values change, or come from several sources */
#define ACCEL_CLASS_INDEXED	(1 << 6)	/* where elements go is in a tensor of indices */

enum accel_slot_kind {
	ACCEL_SLOT_INPUT = 0,
	ACCEL_SLOT_OUTPUT,
	ACCEL_SLOT_TEMPORARY,	/* made with the task */
	ACCEL_SLOT_TABLE,	/* addresses that no affine expression gives, brought by the plan */
};

/*
 * An operand of a plan's job: as struct accel_operand, with slots in place of buffers. Zero what is
 * not used: jobs are compared byte by byte.
 */
struct accel_plan_operand {
	uint32_t slot;
	enum accel_dtype dtype;
	uint32_t window_mask;
	uint32_t index_slot;
	struct accel_affine address;
	uint64_t fill[2];
	uint32_t is_indirect;		/* 1: gather or scatter; 0: the rest is not used */
	uint32_t index_dtype;
	struct accel_affine index_address;
	int64_t index_stride;
	uint64_t index_limit;
};

struct accel_plan_job {
	uint32_t rank;
	uint32_t num_operands;		/* the destination, then the sources */
	uint32_t num_windows;
	uint32_t num_instructions;
	uint64_t extents[ACCEL_MAX_RANK];
	struct accel_plan_operand operands[1 + ACCEL_MAX_SOURCES];
	struct accel_window windows[ACCEL_MAX_WINDOWS];
	struct accel_instruction program[ACCEL_MAX_INSTRUCTIONS];
};

struct accel_plan_info {
	uint32_t num_inputs;
	uint32_t num_outputs;
	uint32_t num_slots;		/* inputs, outputs, then what the plan needs besides */
	uint32_t num_jobs;
	uint32_t num_notes;
	uint32_t map_class;		/* ACCEL_CLASS_x */
	uint32_t passes;		/* times that data moves through memory */
	uint32_t passes_unfused;	/* the same with a pass for each definition */
	uint64_t bytes_read;		/* by all jobs, as far as that can be told */
	uint64_t bytes_written;
	uint64_t temporary_bytes;
};

/* How a plan is made. Zero is the default of each. */
struct accel_plan_options {
	bool is_unfused;	/* a pass for each definition, as if all were asked for */
	bool keeps_order;	/* loops stay in the order of the definition's axes */
	bool may_alias;		/* an output that is an input bit for bit may be left where it is */
};

/*
 * Finds the jobs that compute what is asked for of a function. A plan holds no buffer of the
 * caller's and never changes: it may be cached, shared by threads and bound many times. options may
 * be NULL. Errors: -EINVAL if nothing is asked for or a tensor is not defined; -E2BIG or -ENOTSUP,
 * which name the limit, for what no jobs can do; -EOVERFLOW; -ENOMEM.
 */
ACCEL_API int accel_plan_create(const struct accel_function *function,
				const struct accel_plan_options *options,
				struct accel_plan **plan, struct accel_error *error);

/* The plan that copies src's elements to a tensor that is laid out as dst is: input 0, output 0. */
ACCEL_API int accel_plan_create_copy(const struct accel_tensor *dst,
				     const struct accel_tensor *src, struct accel_plan **plan,
				     struct accel_error *error);

ACCEL_API struct accel_plan *accel_plan_ref(struct accel_plan *plan);
ACCEL_API void accel_plan_unref(struct accel_plan *plan);

/* Whether two plans do the same to the same slots, and a number that is then the same. */
ACCEL_API bool accel_plan_equal(const struct accel_plan *a, const struct accel_plan *b);
ACCEL_API uint64_t accel_plan_hash(const struct accel_plan *plan);

ACCEL_API void accel_plan_info(const struct accel_plan *plan, struct accel_plan_info *info);

/* Job number k. It lives as long as the plan; NULL beyond the last. */
ACCEL_API const struct accel_plan_job *accel_plan_job(const struct accel_plan *plan, uint32_t k);

/* What is bound to a slot: its kind and its name ("" if it has none). -ENOENT beyond the last. */
ACCEL_API int accel_plan_slot(const struct accel_plan *plan, uint32_t slot,
			      enum accel_slot_kind *kind, const char **name);

/* The definitions as written, a line each; the map from output to input, or NULL if not one. */
ACCEL_API const char *accel_plan_chain(const struct accel_plan *plan);
ACCEL_API const char *accel_plan_map(const struct accel_plan *plan);

/* What was done to fit the limits of a job, and why; NULL beyond the last. */
ACCEL_API const char *accel_plan_note(const struct accel_plan *plan, uint32_t k);

/* The input that an output is, bit for bit, so that no job writes it (may_alias); or -ENOENT. */
ACCEL_API int accel_plan_alias(const struct accel_plan *plan, uint32_t output, uint32_t *input);

/*
 * A plan bound to tensors: the inputs, then the outputs, in the order in which the function was
 * told of them. Each is laid out as the plan says; its offset may differ. An output that is an
 * alias may be NULL. Everything that a submission needs is made here: temporaries, checks, memory.
 * Errors: -EINVAL which names the tensor that does not fit; -EXDEV; those of accel_job_check()
 * and accel_buffer_create().
 */
ACCEL_API int accel_task_create(struct accel_plan *plan, uint32_t num_tensors,
				struct accel_tensor *const *tensors, struct accel_task **task,
				struct accel_error *error);
ACCEL_API struct accel_task *accel_task_ref(struct accel_task *task);
ACCEL_API void accel_task_unref(struct accel_task *task);

/*
 * Runs the task, as accel_submit() does, without allocating memory. -EBUSY while an earlier
 * submission of it has not completed.
 */
ACCEL_API int accel_task_submit(struct accel_task *task, struct accel_fence *const *in_fences,
				size_t num_in_fences, struct accel_error *error);

/* Waits for the last submission, as accel_fence_wait(). -EINVAL if there was none. */
ACCEL_API int accel_task_wait(struct accel_task *task, int64_t timeout_ns,
			      struct accel_error *error);

/* A fence of the last submission, for others to wait for. */
ACCEL_API int accel_task_fence(struct accel_task *task, struct accel_fence **fence,
			       struct accel_error *error);

/* Job number k of the task, for accel_job_describe() and the like; borrowed. NULL beyond. */
ACCEL_API struct accel_job *accel_task_job(const struct accel_task *task, uint32_t k);

/* Distributions ---------------------------------------------------------------------------- */

/*
 * A distribution is a tensor whose elements are in the on-chip memories of several PEs. It has a
 * layout, of any notation, as other tensors have, but that the first axis of the physical shape is
 * the PE, and those behind it say where in its memory an element is:
 *
 *	(i, j) -> (i//16, i%16, j)			blocks of 16 rows
 *	(i, j) -> (j//16, j%16, i)			blocks of 16 columns, each transposed
 *	(i, j) -> (i%4, i//4, j)			rows in turn
 *	(i, j) -> (4*(i//8) + j//8, i%8, j%8)		blocks of 8 x 8 on 4 PEs a row
 *
 * Extents need not divide, and PEs may have no elements.
 */
struct accel_distribution;

/*
 * Makes a distribution of zeros, with memory on each PE that has elements. Errors: those of
 * accel_tensor_create_sram(); -EINVAL if the first physical axis is not the outermost in memory, or
 * others are not nested; -EDOM if two elements are found at one place; -ERANGE if there are some on
 * a PE that the device does not have; -E2BIG if a PE has its elements in too many pieces, or it
 * takes too long to find them: no layout that is a block, a cycle or a product of these in each
 * axis does.
 */
ACCEL_API int accel_distribution_create(struct accel_device *device, enum accel_dtype dtype,
					uint32_t rank, const int64_t *shape,
					struct accel_layout *layout,
					struct accel_distribution **distribution,
					struct accel_error *error);

/* The distribution that has all elements in one place: those of a tensor, anywhere. -ENOMEM. */
ACCEL_API int accel_distribution_from_tensor(struct accel_tensor *tensor,
					     struct accel_distribution **distribution,
					     struct accel_error *error);

ACCEL_API struct accel_distribution *accel_distribution_ref(
		struct accel_distribution *distribution);
ACCEL_API void accel_distribution_unref(struct accel_distribution *distribution);

/*
 * What a PE has of it, which lives as long: the physical shape behind the first axis, padding
 * included, in row-major order. NULL if the PE has no element.
 */
ACCEL_API struct accel_buffer *accel_distribution_buffer(
		const struct accel_distribution *distribution, uint32_t pe);

/*
 * A repartition moves all elements of one distribution to another of the same shape, bit for bit,
 * each PE's straight to where they belong. It is made of jobs on the queues of all PEs that get
 * elements: each fetches its own, from one PE after the other, the next PE first, so that they
 * do not all ask the same one at a time. Nobody but a PE's own queue writes to its part, and when
 * its fence signals, the part is whole. What goes to a tensor in system memory, the queues of those
 * PEs send that have it.
 */
struct accel_repartition;

/*
 * Everything that submissions need is made here: it can be submitted many times. The distributions
 * share no memory. Errors: -EINVAL if shapes or types differ, as accel_copy(); -EXDEV; -E2BIG for
 * more than ACCEL_REPARTITION_MAX_JOBS; those of accel_task_create().
 */
#define ACCEL_REPARTITION_MAX_JOBS	65536

ACCEL_API int accel_repartition_create(struct accel_distribution *dst,
				       struct accel_distribution *src,
				       struct accel_repartition **repartition,
				       struct accel_error *error);
ACCEL_API struct accel_repartition *accel_repartition_ref(struct accel_repartition *repartition);
ACCEL_API void accel_repartition_unref(struct accel_repartition *repartition);

/*
 * Submits to every queue what it has to do, after all of in_fences, as accel_submit_to(), without
 * allocating memory. -EBUSY while an earlier submission of it has not completed. When this fails,
 * some queues may have begun: accel_repartition_wait() waits for these.
 */
ACCEL_API int accel_repartition_submit(struct accel_repartition *repartition,
				       struct accel_fence *const *in_fences,
				       size_t num_in_fences, struct accel_error *error);

/* Waits for all queues, as accel_fence_wait(). -EINVAL if nothing was submitted. */
ACCEL_API int accel_repartition_wait(struct accel_repartition *repartition, int64_t timeout_ns,
				     struct accel_error *error);

/*
 * A fence of what the queue of a PE was given last, for others to wait for. -ENOENT if that was
 * nothing.
 */
ACCEL_API int accel_repartition_fence(struct accel_repartition *repartition, uint32_t pe,
				      struct accel_fence **fence, struct accel_error *error);

struct accel_repartition_info {
	uint32_t num_jobs;
	uint32_t num_submissions;
	uint64_t bytes;			/* of all elements */
	uint64_t network_bytes;		/* of those that go from one PE to another */
	uint64_t link_bytes;		/* over all links: once for each that a byte crosses */
	uint64_t max_link_bytes;	/* over the busiest link */
};

ACCEL_API void accel_repartition_info(const struct accel_repartition *repartition,
				      struct accel_repartition_info *info);

/* Bytes that go from one PE to another, or to itself. ACCEL_PE_NONE is system memory. */
ACCEL_API uint64_t accel_repartition_bytes(const struct accel_repartition *repartition,
					   uint32_t from, uint32_t to);

/* Links to the four neighbours in the grid. */
enum accel_direction {
	ACCEL_DIRECTION_EAST = 0,	/* PE n + 1 */
	ACCEL_DIRECTION_WEST,		/* PE n - 1 */
	ACCEL_DIRECTION_SOUTH,		/* PE n + grid_columns */
	ACCEL_DIRECTION_NORTH,		/* PE n - grid_columns */
};

/*
 * Bytes that cross the link from a PE in a direction. They go along the row of the PE that has them
 * to the column of the PE that gets them, then along that column. 0 where there is no such link, or
 * the device does not tell of a grid.
 */
ACCEL_API uint64_t accel_repartition_link_bytes(const struct accel_repartition *repartition,
						uint32_t pe, enum accel_direction direction);

/* Tilings ---------------------------------------------------------------------------------- */

/*
 * A copy in tiles of two levels: each tile goes from the source to the on-chip memory of a PE
 * (level 1), and from there, in sub-tiles, to the destination (level 2). Axes are in the order of
 * an odometer, the last the fastest: {0, 1, 2, 3} of NCHW walks along W first, as does NULL.
 * Extents are 1 or more; without any there is one tile.
 */
struct accel_tiling {
	const int64_t *tile;		/* extents; at the ends of axes tiles are smaller */
	const uint32_t *order;		/* of axes: how tiles follow and are read */
	const int64_t *subtile;		/* extents; NULL: those of the tile */
	const uint32_t *suborder;	/* of axes: how sub-tiles follow and are read */
	struct accel_layout *layout;	/* of a tile on chip; NULL: it nests as the source */
	uint32_t pe;			/* whose memory has two tiles; its queue stores */
	uint32_t load_queue;		/* that brings tiles, or ACCEL_QUEUE_ANY */
};

struct accel_tiling_info {
	uint64_t num_tiles;
	uint64_t num_subtiles;
	uint64_t num_jobs;
	uint64_t tile_bytes;		/* of on-chip memory, twice */
	uint64_t load_ns;		/* of jobs on the device: all of level 1 */
	uint64_t store_ns;		/* and all of level 2 */
	struct accel_job_counters loads;	/* sums over jobs, where the device counts */
	struct accel_job_counters stores;
};

/*
 * accel_copy() in tiles: both tensors are of any layout, in system or on-chip memory. The memory on
 * chip is taken and given back. Of its two buffers one is filled while the other is stored, where
 * load_queue is not the queue of the PE: a fence of the load starts a tile's stores, and a fence of
 * those the load that has the same buffer next. The first loads wait for in_fences. Complete
 * when this returns. info may be NULL.
 * Errors: those of accel_copy(); -EINVAL, which names the axis, for extents and orders; -ENOSPC,
 * with the bytes that are wanted and there, if two tiles do not fit; -E2BIG if a tile has more
 * sub-tiles than a submission has jobs; those of accel_buffer_create_sram() and accel_submit_to().
 */
ACCEL_API int accel_copy_tiled(struct accel_tensor *dst, struct accel_tensor *src,
			       const struct accel_tiling *tiling,
			       struct accel_fence *const *in_fences, size_t num_in_fences,
			       struct accel_tiling_info *info, struct accel_error *error);

/*
 * A copy in tiles that is prepared once, as a task is, and then submitted as often as wanted. It
 * has the memory on chip for its two tiles as long as it lives. What accel_copy_tiled() does with
 * any number of tiles, this does with as many as it can prepare at once.
 */
struct accel_tiled_copy;

#define ACCEL_TILED_COPY_MAX_JOBS	16384

/* Errors: those of accel_copy_tiled(), and -E2BIG for more than ACCEL_TILED_COPY_MAX_JOBS. */
ACCEL_API int accel_tiled_copy_create(struct accel_tensor *dst, struct accel_tensor *src,
				      const struct accel_tiling *tiling,
				      struct accel_tiled_copy **copy, struct accel_error *error);
ACCEL_API struct accel_tiled_copy *accel_tiled_copy_ref(struct accel_tiled_copy *copy);
ACCEL_API void accel_tiled_copy_unref(struct accel_tiled_copy *copy);

/*
 * Submits all tiles, of which the first wait for in_fences, as accel_submit_to(), without
 * allocating memory and without waiting for any. -EBUSY while an earlier submission of it has not
 * completed. When this fails, some may have begun: accel_tiled_copy_wait() waits for these.
 */
ACCEL_API int accel_tiled_copy_submit(struct accel_tiled_copy *copy,
				      struct accel_fence *const *in_fences, size_t num_in_fences,
				      struct accel_error *error);

/* Waits for all tiles, as accel_fence_wait(). -EINVAL if nothing was submitted. */
ACCEL_API int accel_tiled_copy_wait(struct accel_tiled_copy *copy, int64_t timeout_ns,
				    struct accel_error *error);

/*
 * A fence of what is stored last, for others to wait for: when it is complete, all is. Whether an
 * earlier tile has failed accel_tiled_copy_wait() knows. -ENOENT if not all was submitted.
 */
ACCEL_API int accel_tiled_copy_fence(struct accel_tiled_copy *copy, struct accel_fence **fence,
				     struct accel_error *error);

/*
 * Times and counters are of the last submission, as far as it is complete, and of the last 64 of
 * its submissions on a Tessera, which keeps no more before they are waited for: two a tile.
 */
ACCEL_API void accel_tiled_copy_info(const struct accel_tiled_copy *copy,
				     struct accel_tiling_info *info);

#if defined(__cplusplus)
}
#endif

#endif /* ACCEL_H */
