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

struct accel_device;
struct accel_buffer;
struct accel_layout;
struct accel_tensor;
struct accel_job;
struct accel_fence;

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
	uint32_t num_queues;		/* what runs side by side */
	uint32_t max_rank;
	uint32_t max_sources;
	uint32_t max_windows;
	uint32_t max_instructions;
	uint32_t max_jobs;
	uint64_t sram_size;		/* bytes of each queue; the CPU: 0 */
	uint64_t max_buffer_size;	/* bytes */
};

/*
 * Opens a device: "cpu", the path of a node such as "/dev/accel/accel0", or with NULL the first
 * Tessera node below /dev/accel and, where there is none, the CPU. A Tessera node that exists and
 * cannot be opened is an error, not a reason to take the CPU.
 * Errors: -ENOENT, -EACCES and others of open(); -ENODEV if the node is not a Tessera; -ENOTSUP if
 * its driver is too old or too new for this library.
 */
ACCEL_API int accel_open(const char *name, struct accel_device **device,
			 struct accel_error *error);

/*
 * Calls visit with each name that accel_open() takes: the Tessera nodes in the order of their
 * numbers, then "cpu". Stops when visit returns something other than 0, and returns that.
 */
ACCEL_API int accel_device_enumerate(int (*visit)(const char *name, void *context), void *context,
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

/* Layouts ---------------------------------------------------------------------------------- */

/*
 * A layout says where the elements of a logical shape are. Two notations are understood:
 *
 *	NHWC			dimension order: axes from the outermost to the innermost, dense
 *	strides:12,1,3@5	an element stride for each logical axis, and an offset if not 0
 */

/*
 * Parses notation. axes names the logical axes in their order, an upper-case letter each, such as
 * "NCHW"; with NULL they are in the order of the notation. A dimension order must name
 * exactly these axes. For strides, axes may be NULL. -EINVAL with the column if malformed.
 */
ACCEL_API int accel_layout_parse(const char *notation, const char *axes,
				 struct accel_layout **layout, struct accel_error *error);

ACCEL_API struct accel_layout *accel_layout_ref(struct accel_layout *layout);
ACCEL_API void accel_layout_unref(struct accel_layout *layout);

/* The number of logical axes. */
ACCEL_API uint32_t accel_layout_rank(const struct accel_layout *layout);

/*
 * Prints the layout in canonical notation, as snprintf() does: returns the length that it needs
 * without the terminating zero, and writes what fits.
 */
ACCEL_API int accel_layout_print(const struct accel_layout *layout, char *text, size_t size);

/*
 * The stride of each logical axis and the offset of element 0, in elements, for a logical shape of
 * the layout's rank. Errors: -EINVAL for another rank or a negative extent; -EOVERFLOW.
 */
ACCEL_API int accel_layout_strides(const struct accel_layout *layout, uint32_t rank,
				   const int64_t *shape, int64_t *strides, int64_t *offset,
				   struct accel_error *error);

/*
 * The extents in memory order, outermost first: for "NHWC" of axes "NCHW" and (1,64,56,56) it
 * is (1,56,56,64). Errors as above, and -ENOTSUP if the layout is not a dimension order.
 */
ACCEL_API int accel_layout_physical_shape(const struct accel_layout *layout, uint32_t rank,
					  const int64_t *shape, int64_t *physical_shape,
					  struct accel_error *error);

/* Tensors ---------------------------------------------------------------------------------- */

/*
 * Makes a tensor of zeros with a buffer of its own. shape has rank extents, each 0 or more,
 * rank at most ACCEL_MAX_DIMS. layout is of the same rank, or NULL for row-major order.
 * Errors: -EINVAL; -EOVERFLOW if the bytes do not fit 63 bits; those of accel_buffer_create();
 * -ERANGE if the layout reaches below its buffer.
 */
ACCEL_API int accel_tensor_create(struct accel_device *device, enum accel_dtype dtype,
				  uint32_t rank, const int64_t *shape, struct accel_layout *layout,
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

ACCEL_API struct accel_tensor *accel_tensor_ref(struct accel_tensor *tensor);
ACCEL_API void accel_tensor_unref(struct accel_tensor *tensor);

/* Pointers and objects that these return live as long as the tensor. */
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

#if defined(__cplusplus)
}
#endif

#endif /* ACCEL_H */
