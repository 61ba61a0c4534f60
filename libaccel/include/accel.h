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
