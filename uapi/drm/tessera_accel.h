/* SPDX-License-Identifier: MIT */
/*
 * What userspace and the Tessera driver agree on: the ioctls, and the layout job with its
 * element types, instructions and limits. The device uses the same encodings, in little
 * endian, inside the descriptors of driver/tessera_hw.h.
 *
 * Not frozen before version 1.0 of the driver.
 */
#ifndef _UAPI_TESSERA_ACCEL_H_
#define _UAPI_TESSERA_ACCEL_H_

#include "drm.h"

#if defined(__cplusplus)
extern "C" {
#endif

/**
 * DOC: tessera errors
 *
 * Every ioctl returns 0, or -1 with one of these in errno:
 *
 * ============== ===========================================================================
 * EFAULT         a pointer names memory that the process cannot read or write
 * EINVAL         a reserved field or an unknown flag is not zero, a count is over its limit,
 *                a value is not one of those documented, or a job is malformed
 * ENOENT         a handle names no buffer or no syncobj of this file, a submission is
 *                unknown or no longer kept, or a wait names a syncobj or a timeline point
 *                without a fence
 * EOVERFLOW      a sum of products of a job does not fit 64 bits
 * ERANGE         an operand of a job reaches outside its buffer
 * EACCES         a job would write to a buffer that was imported read-only
 * ENOMEM, ENOSPC memory, on-chip memory, or the table of buffers, is exhausted
 * ETIME          BO_WAIT: the timeout has passed
 * EINTR          a signal arrived; call again (libdrm's drmIoctl() does)
 * ENODEV         the device is gone
 * ECANCELED      SUBMIT: DRM_TESSERA_MAX_HANGS jobs of this file had to be stopped: it gets no more
 * EOPNOTSUPP     SUBMIT: counters are asked for, and the device has none.
 *                DRM_IOCTL_PRIME_HANDLE_TO_FD: the buffer is in on-chip memory.
 *                DRM_IOCTL_GET_UNIQUE and DRM_IOCTL_GET_MAGIC, which are not for this node
 * ============== ===========================================================================
 *
 * The fence of a submission signals with an error when it did not succeed: -EIO when a job
 * faulted (what went wrong is in &struct drm_tessera_submit_result), -ECANCELED when it was
 * stopped, because it hung (then a job of it has the cause TIMEOUT) or because of another, -ESRCH
 * when its file was closed before it began, -ENODEV when the device went away.
 */

/**
 * DOC: tessera layout jobs
 *
 * A job is a nest of &struct drm_tessera_job.rank loops. For every point i of the box of its
 * extents:
 *
 * .. code-block:: none
 *
 *    v_k = all windows of source k hold at i ? load(source_k, address_k(i)) : fill_k
 *    v   = program(v_0, v_1, ..)                 (without a program: v = v_0, bit for bit)
 *    if all windows of the destination hold at i: store(destination, address_d(i), v)
 *
 *    affine(i)  = offset + sum_d i_d * strides[d]
 *    address(i) = address(i) as an affine, in bytes from the start of the buffer
 *                 [ + index(i) * index_stride ]                       where INDIRECT is set
 *    index(i)   = the integer of type index_dtype at index_address(i) of the index buffer
 *    window     : 0 <= value(i) < limit
 *
 * Points are visited in any order, and a job reads and writes in any order. A job whose
 * destination overlaps a source other than exactly in place (the same element at every point), or
 * whose stores collide, has no defined result: whoever makes jobs sees to it, for it is not looked
 * for here. What it stores to holds anything then, and nothing else is changed. Where a destination
 * is INDIRECT and two indices are equal, one of the values is stored, and it is not defined which.
 * Nothing outside of the named buffers is ever reached.
 * Where a window of the destination does not hold, no source and no index is read.
 *
 * A job with an extent of 0 is valid and does nothing; it is checked for its form alone, not for
 * EOVERFLOW and ERANGE. No address needs to be aligned.
 */

/**
 * DOC: tessera address bounds
 *
 * Every affine operand is proved to stay inside its buffer before the job runs, and a job that
 * cannot be proved is refused with ERANGE. The proof uses this rule and no other, for the driver
 * and for the device alike:
 *
 * 1. The box starts as 0 <= i_d <= extent_d - 1. Each window of the operand, in order,
 *    tightens the bounds of each dimension in which it has a coefficient, outermost first, to what
 *    the bounds of the others allow as they then are; this is done twice over all windows. A window
 *    without coefficients holds or empties the box. If the box gets empty, nothing is accessed.
 * 2. The interval of the address is taken over that box. Then for each window, in order: let d
 *    be the dimension with the largest abs(stride) left, among those in which the window has a
 *    coefficient and the box more than one value, the first of equals. When the coefficient
 *    divides that stride, with quotient q, the address equals (address - q * value) + q * value,
 *    and value lies between 0 and limit - 1 and between its extremes over the box. If the sum of
 *    the two intervals is narrower than the interval so far, address - q * value goes on to the
 *    next window in place of address, and the interval of q * value is added at the end. A window
 *    for which any of these numbers does not fit signed 64 bits is passed over.
 * 3. The lowest byte must be at least 0 and the highest byte less than the size of the buffer.
 *
 * Without windows this is exact. With windows it is exact where the address is a sum of
 * the windows' values, which is what padding, im2col and partial tiles are.
 */

/** define DRM_TESSERA_MAX_RANK - loops in a job */
#define DRM_TESSERA_MAX_RANK		8
/** define DRM_TESSERA_MAX_SOURCES - sources of a job */
#define DRM_TESSERA_MAX_SOURCES		4
/** define DRM_TESSERA_MAX_OPERANDS - the destination and the sources of a job */
#define DRM_TESSERA_MAX_OPERANDS	(1 + DRM_TESSERA_MAX_SOURCES)
/** define DRM_TESSERA_MAX_WINDOWS - windows of a job, shared by its operands */
#define DRM_TESSERA_MAX_WINDOWS		32
/** define DRM_TESSERA_MAX_INSTRUCTIONS - instructions in the program of a job */
#define DRM_TESSERA_MAX_INSTRUCTIONS	16
/** define DRM_TESSERA_NUM_REGISTERS - registers of a program */
#define DRM_TESSERA_NUM_REGISTERS	8
/** define DRM_TESSERA_MAX_JOBS - jobs in a submission */
#define DRM_TESSERA_MAX_JOBS		1024
/** define DRM_TESSERA_MAX_SYNCS - in syncobjs, and out syncobjs, of a submission */
#define DRM_TESSERA_MAX_SYNCS		256
/** define DRM_TESSERA_MAX_RESULTS - submissions whose result is kept for a file */
#define DRM_TESSERA_MAX_RESULTS		64
/** define DRM_TESSERA_MAX_HANGS - jobs of a file that may hang until it gets ECANCELED */
#define DRM_TESSERA_MAX_HANGS		8
/** define DRM_TESSERA_MAX_STRIDE - bytes from one element of an array to the next */
#define DRM_TESSERA_MAX_STRIDE		4096

#define DRM_TESSERA_DTYPE_CLASS_UNSIGNED	0x10
#define DRM_TESSERA_DTYPE_CLASS_SIGNED		0x20
#define DRM_TESSERA_DTYPE_CLASS_FLOAT		0x30
#define DRM_TESSERA_DTYPE_CLASS_BFLOAT		0x40
#define DRM_TESSERA_DTYPE_CLASS_RAW		0x50
#define DRM_TESSERA_DTYPE_CLASS_MASK		0xf0
#define DRM_TESSERA_DTYPE_SHIFT_MASK		0x0f

/**
 * enum drm_tessera_dtype - element types
 *
 * The low four bits are log2 of the size in bytes, the next four the class. Elements are little
 * endian. Raw elements are moved and never computed with: they stand in no program.
 */
enum drm_tessera_dtype {
	/** @DRM_TESSERA_DTYPE_U8: unsigned, 8 bits */
	DRM_TESSERA_DTYPE_U8	= DRM_TESSERA_DTYPE_CLASS_UNSIGNED | 0,
	/** @DRM_TESSERA_DTYPE_U16: unsigned, 16 bits */
	DRM_TESSERA_DTYPE_U16	= DRM_TESSERA_DTYPE_CLASS_UNSIGNED | 1,
	/** @DRM_TESSERA_DTYPE_U32: unsigned, 32 bits */
	DRM_TESSERA_DTYPE_U32	= DRM_TESSERA_DTYPE_CLASS_UNSIGNED | 2,
	/** @DRM_TESSERA_DTYPE_U64: unsigned, 64 bits */
	DRM_TESSERA_DTYPE_U64	= DRM_TESSERA_DTYPE_CLASS_UNSIGNED | 3,
	/** @DRM_TESSERA_DTYPE_I8: two's complement, 8 bits */
	DRM_TESSERA_DTYPE_I8	= DRM_TESSERA_DTYPE_CLASS_SIGNED | 0,
	/** @DRM_TESSERA_DTYPE_I16: two's complement, 16 bits */
	DRM_TESSERA_DTYPE_I16	= DRM_TESSERA_DTYPE_CLASS_SIGNED | 1,
	/** @DRM_TESSERA_DTYPE_I32: two's complement, 32 bits */
	DRM_TESSERA_DTYPE_I32	= DRM_TESSERA_DTYPE_CLASS_SIGNED | 2,
	/** @DRM_TESSERA_DTYPE_I64: two's complement, 64 bits */
	DRM_TESSERA_DTYPE_I64	= DRM_TESSERA_DTYPE_CLASS_SIGNED | 3,
	/** @DRM_TESSERA_DTYPE_F16: IEEE 754 binary16 */
	DRM_TESSERA_DTYPE_F16	= DRM_TESSERA_DTYPE_CLASS_FLOAT | 1,
	/** @DRM_TESSERA_DTYPE_F32: IEEE 754 binary32 */
	DRM_TESSERA_DTYPE_F32	= DRM_TESSERA_DTYPE_CLASS_FLOAT | 2,
	/** @DRM_TESSERA_DTYPE_F64: IEEE 754 binary64 */
	DRM_TESSERA_DTYPE_F64	= DRM_TESSERA_DTYPE_CLASS_FLOAT | 3,
	/** @DRM_TESSERA_DTYPE_BF16: the upper half of a binary32 */
	DRM_TESSERA_DTYPE_BF16	= DRM_TESSERA_DTYPE_CLASS_BFLOAT | 1,
	/** @DRM_TESSERA_DTYPE_RAW8: 1 byte */
	DRM_TESSERA_DTYPE_RAW8	= DRM_TESSERA_DTYPE_CLASS_RAW | 0,
	/** @DRM_TESSERA_DTYPE_RAW16: 2 bytes */
	DRM_TESSERA_DTYPE_RAW16	= DRM_TESSERA_DTYPE_CLASS_RAW | 1,
	/** @DRM_TESSERA_DTYPE_RAW32: 4 bytes */
	DRM_TESSERA_DTYPE_RAW32	= DRM_TESSERA_DTYPE_CLASS_RAW | 2,
	/** @DRM_TESSERA_DTYPE_RAW64: 8 bytes */
	DRM_TESSERA_DTYPE_RAW64	= DRM_TESSERA_DTYPE_CLASS_RAW | 3,
	/** @DRM_TESSERA_DTYPE_RAW128: 16 bytes */
	DRM_TESSERA_DTYPE_RAW128 = DRM_TESSERA_DTYPE_CLASS_RAW | 4,
};

/**
 * struct drm_tessera_affine - offset + sum_d i_d * strides[d]
 *
 * Every partial sum, in any order, over all points of the box must fit a signed 64-bit number
 * (EOVERFLOW): the sum of the magnitudes of all terms at their extremes is less than 2^63.
 */
struct drm_tessera_affine {
	/** @offset: the value at the point 0 */
	__s64 offset;
	/** @strides: the step for each loop, outermost first; zero at and beyond the rank */
	__s64 strides[DRM_TESSERA_MAX_RANK];
};

/**
 * struct drm_tessera_window - a condition on the point: 0 <= value(i) < limit
 */
struct drm_tessera_window {
	/** @value: what is compared: bias and coefficients, without unit */
	struct drm_tessera_affine value;
	/** @limit: the first value that is outside; at most 2^63 - 1. 0: no point is inside. */
	__u64 limit;
};

/** define DRM_TESSERA_OPERAND_INDIRECT - an index is read and added to the address */
#define DRM_TESSERA_OPERAND_INDIRECT	(1 << 0)

/**
 * struct drm_tessera_operand - the destination or a source of a job
 */
struct drm_tessera_operand {
	/** @handle: the buffer that @address is relative to */
	__u32 handle;
	/** @flags: DRM_TESSERA_OPERAND_INDIRECT or 0 */
	__u32 flags;
	/** @dtype: element type, &enum drm_tessera_dtype */
	__u32 dtype;
	/** @window_mask: bit w set: window w of the job applies to this operand */
	__u32 window_mask;
	/** @index_handle: INDIRECT: the buffer with the indices; otherwise zero */
	__u32 index_handle;
	/** @index_dtype: INDIRECT: an integer type of any width; otherwise zero */
	__u32 index_dtype;
	/** @address: where the element of a point is, in bytes from the start of the buffer */
	struct drm_tessera_affine address;
	/**
	 * @fill: sources: the value where a window does not hold: the bits of an element in its
	 * lowest bytes, the others zero. Zero for the destination.
	 */
	__u64 fill[2];
	/** @index_address: INDIRECT: where the index of a point is, in bytes; otherwise zero */
	struct drm_tessera_affine index_address;
	/** @index_stride: INDIRECT: bytes that an index of 1 adds to the address; otherwise zero */
	__s64 index_stride;
	/**
	 * @index_limit: INDIRECT: the job faults at an index outside of 0 <= index < index_limit;
	 * 0: any index that leads into the buffer is good. Otherwise zero.
	 */
	__u64 index_limit;
};

/**
 * enum drm_tessera_opcode - what an instruction computes
 *
 * a, b and c are the registers named by src[0], src[1] and src[2]. Sources that an opcode does not
 * use must be zero. Floating-point results are rounded once, to nearest, ties to even; a result
 * that is not a number is the positive quiet NaN with an empty payload (NEG, ABS, SELECT and CONST
 * copy bits and do not touch it). Integer results wrap, or saturate with
 * DRM_TESSERA_INSTRUCTION_SATURATE.
 */
enum drm_tessera_opcode {
	/** @DRM_TESSERA_OP_CONST: the lowest bits of @immediate, the others zero */
	DRM_TESSERA_OP_CONST = 1,
	/**
	 * @DRM_TESSERA_OP_CAST: a, of whatever type, as dtype. Float to integer: rounded to nearest
	 * even, or toward zero with DRM_TESSERA_INSTRUCTION_TRUNCATE, then wrapped or saturated;
	 * a NaN gives 0, an infinity 0 when wrapped.
	 */
	DRM_TESSERA_OP_CAST,
	/** @DRM_TESSERA_OP_ADD: a + b */
	DRM_TESSERA_OP_ADD,
	/** @DRM_TESSERA_OP_SUB: a - b */
	DRM_TESSERA_OP_SUB,
	/** @DRM_TESSERA_OP_MUL: a * b */
	DRM_TESSERA_OP_MUL,
	/** @DRM_TESSERA_OP_FMA: a * b + c, exact before it is rounded, wrapped or saturated */
	DRM_TESSERA_OP_FMA,
	/** @DRM_TESSERA_OP_MIN: the lesser of a and b; NaN if either is, and -0 < +0 */
	DRM_TESSERA_OP_MIN,
	/** @DRM_TESSERA_OP_MAX: the greater of a and b; NaN if either is, and -0 < +0 */
	DRM_TESSERA_OP_MAX,
	/** @DRM_TESSERA_OP_NEG: -a; of a float, the sign bit flipped */
	DRM_TESSERA_OP_NEG,
	/** @DRM_TESSERA_OP_ABS: abs(a); of a float, the sign bit cleared */
	DRM_TESSERA_OP_ABS,
	/** @DRM_TESSERA_OP_SELECT: a ? b : c, with a of type u8 */
	DRM_TESSERA_OP_SELECT,
	/** @DRM_TESSERA_OP_COMPARE: a u8, 1 where a and b are as @predicate says, else 0 */
	DRM_TESSERA_OP_COMPARE,
};

/**
 * enum drm_tessera_predicate - what COMPARE asks; with a NaN only NE is true
 */
enum drm_tessera_predicate {
	/** @DRM_TESSERA_PREDICATE_EQ: a == b */
	DRM_TESSERA_PREDICATE_EQ = 1,
	/** @DRM_TESSERA_PREDICATE_NE: a != b */
	DRM_TESSERA_PREDICATE_NE,
	/** @DRM_TESSERA_PREDICATE_LT: a < b */
	DRM_TESSERA_PREDICATE_LT,
	/** @DRM_TESSERA_PREDICATE_LE: a <= b */
	DRM_TESSERA_PREDICATE_LE,
	/** @DRM_TESSERA_PREDICATE_GT: a > b */
	DRM_TESSERA_PREDICATE_GT,
	/** @DRM_TESSERA_PREDICATE_GE: a >= b */
	DRM_TESSERA_PREDICATE_GE,
};

/**
 * define DRM_TESSERA_INSTRUCTION_SATURATE - an integer result that does not fit becomes the
 * nearest that does. For ADD, SUB, MUL, FMA, NEG, ABS and CAST with an integer dtype.
 */
#define DRM_TESSERA_INSTRUCTION_SATURATE	(1 << 0)
/**
 * define DRM_TESSERA_INSTRUCTION_TRUNCATE - round toward zero. For CAST of a float to an integer.
 */
#define DRM_TESSERA_INSTRUCTION_TRUNCATE	(1 << 1)

/**
 * struct drm_tessera_instruction - one step of a program
 *
 * Before the first instruction, register k holds the element of source k and has its type. Every
 * register that is read must have been written or be a source's, and must have the type
 * that the instruction asks for: @dtype, but for the a of CAST (any type) and of SELECT (u8).
 * After the last, register 0 must have the type of the destination; it is what is stored.
 */
struct drm_tessera_instruction {
	/** @opcode: &enum drm_tessera_opcode */
	__u8 opcode;
	/** @dtype: the type computed in; not raw. For CAST the type of the result. */
	__u8 dtype;
	/** @flags: DRM_TESSERA_INSTRUCTION_x */
	__u8 flags;
	/** @predicate: COMPARE: &enum drm_tessera_predicate; otherwise zero */
	__u8 predicate;
	/** @dst: the register that is written */
	__u8 dst;
	/** @src: the registers that are read */
	__u8 src[3];
	/** @immediate: CONST: the value; otherwise zero */
	__u64 immediate;
};

/**
 * struct drm_tessera_array - an array in the memory of the process
 */
struct drm_tessera_array {
	/**
	 * @stride: bytes from an element to the next, a multiple of 8 from 8 to
	 * DRM_TESSERA_MAX_STRIDE. More than the driver knows of an element must be zero, and is
	 * zeroed where the driver writes; less reads as zero.
	 */
	__u32 stride;
	/** @count: elements; with 0, @stride and @pointer are not looked at */
	__u32 count;
	/** @pointer: address of the first element */
	__u64 pointer;
};

/**
 * struct drm_tessera_job - a fused copy from one memory layout to another
 */
struct drm_tessera_job {
	/** @rank: loops, at most DRM_TESSERA_MAX_RANK; with 0 there is one point */
	__u32 rank;
	/** @flags: zero */
	__u32 flags;
	/**
	 * @extents: values of each loop, outermost first; zero at and beyond @rank. Unless one is
	 * 0, their product is less than 2^63 (EOVERFLOW).
	 */
	__u64 extents[DRM_TESSERA_MAX_RANK];
	/**
	 * @operands: &struct drm_tessera_operand: the destination, then the sources. Without a
	 * program there is one source, and its element has the size of the destination's.
	 */
	struct drm_tessera_array operands;
	/** @windows: &struct drm_tessera_window; each is named by the mask of an operand */
	struct drm_tessera_array windows;
	/** @program: &struct drm_tessera_instruction; none: the element is moved bit for bit */
	struct drm_tessera_array program;
};

#define DRM_TESSERA_DEV_QUERY		0x00
#define DRM_TESSERA_BO_CREATE		0x01
#define DRM_TESSERA_BO_MMAP_OFFSET	0x02
#define DRM_TESSERA_BO_WAIT		0x03
#define DRM_TESSERA_SUBMIT		0x04

/**
 * enum drm_tessera_dev_query_type - what DEV_QUERY answers
 */
enum drm_tessera_dev_query_type {
	/** @DRM_TESSERA_DEV_QUERY_INFO: &struct drm_tessera_dev_info */
	DRM_TESSERA_DEV_QUERY_INFO = 0,
	/** @DRM_TESSERA_DEV_QUERY_SUBMIT_RESULT: &struct drm_tessera_submit_result */
	DRM_TESSERA_DEV_QUERY_SUBMIT_RESULT,
};

/**
 * struct drm_tessera_dev_query - argument of DRM_IOCTL_TESSERA_DEV_QUERY
 */
struct drm_tessera_dev_query {
	/** @type: in, &enum drm_tessera_dev_query_type */
	__u32 type;
	/**
	 * @size: in, bytes at @pointer, at most DRM_TESSERA_MAX_STRIDE; out, bytes that the driver
	 * has for this type. What fits is copied; what the driver does not know is zeroed. An input
	 * member that lies beyond @size reads as zero.
	 */
	__u32 size;
	/** @pointer: in, where the answer goes, or 0 to ask for @size alone */
	__u64 pointer;
};

/**
 * struct drm_tessera_dev_info - properties of the device; they never change
 */
struct drm_tessera_dev_info {
	/** @hw_version: of the device, major in the upper and minor in the lower 16 bits */
	__u32 hw_version;
	/** @num_queues: hardware queues, one for each processing element */
	__u32 num_queues;
	/** @max_rank: DRM_TESSERA_MAX_RANK of this driver */
	__u32 max_rank;
	/** @max_sources: DRM_TESSERA_MAX_SOURCES of this driver */
	__u32 max_sources;
	/** @max_windows: DRM_TESSERA_MAX_WINDOWS of this driver */
	__u32 max_windows;
	/** @max_instructions: DRM_TESSERA_MAX_INSTRUCTIONS of this driver */
	__u32 max_instructions;
	/** @max_jobs: DRM_TESSERA_MAX_JOBS of this driver */
	__u32 max_jobs;
	/** @max_syncs: DRM_TESSERA_MAX_SYNCS of this driver */
	__u32 max_syncs;
	/** @sram_size: bytes of on-chip memory of each processing element */
	__u64 sram_size;
	/** @max_bo_size: bytes of the largest buffer in system memory */
	__u64 max_bo_size;
	/**
	 * @grid_columns: processing elements stand in rows of so many: element n in column
	 * n % grid_columns; 0: the device does not say
	 */
	__u32 grid_columns;
	/** @clock_khz: cycles of a job's counters in a millisecond; 0: there are no counters */
	__u32 clock_khz;
};

/**
 * enum drm_tessera_cause - why a job failed; the device reports the same numbers
 */
enum drm_tessera_cause {
	/** @DRM_TESSERA_CAUSE_NONE: it did not fail */
	DRM_TESSERA_CAUSE_NONE = 0,
	/** @DRM_TESSERA_CAUSE_DESCRIPTOR: malformed, or the device could not read it */
	DRM_TESSERA_CAUSE_DESCRIPTOR,
	/** @DRM_TESSERA_CAUSE_BUFFER: the operand names no valid buffer */
	DRM_TESSERA_CAUSE_BUFFER,
	/** @DRM_TESSERA_CAUSE_PERMISSION: a store to a buffer that is read-only */
	DRM_TESSERA_CAUSE_PERMISSION,
	/** @DRM_TESSERA_CAUSE_BOUNDS: the address reaches outside the buffer */
	DRM_TESSERA_CAUSE_BOUNDS,
	/** @DRM_TESSERA_CAUSE_INDEX_BOUNDS: the index address reaches outside the index buffer */
	DRM_TESSERA_CAUSE_INDEX_BOUNDS,
	/** @DRM_TESSERA_CAUSE_INDEX_LIMIT: an index is not in 0 <= index < index_limit */
	DRM_TESSERA_CAUSE_INDEX_LIMIT,
	/** @DRM_TESSERA_CAUSE_TRANSLATION: a page of the buffer is not in memory */
	DRM_TESSERA_CAUSE_TRANSLATION,
	/** @DRM_TESSERA_CAUSE_CANCELED: a reset, removal or migration stopped it before its end */
	DRM_TESSERA_CAUSE_CANCELED,
	/** @DRM_TESSERA_CAUSE_TIMEOUT: it made no progress, or ran for too long, and was stopped */
	DRM_TESSERA_CAUSE_TIMEOUT,
	/** @DRM_TESSERA_CAUSE_MEMORY: the device had no memory of its own left to run it with */
	DRM_TESSERA_CAUSE_MEMORY,
};

/**
 * enum drm_tessera_memory - where operands are
 */
enum drm_tessera_memory {
	/** @DRM_TESSERA_MEMORY_SYSTEM: the memory of the machine */
	DRM_TESSERA_MEMORY_SYSTEM = 0,
	/** @DRM_TESSERA_MEMORY_SRAM: the on-chip memory of processing elements */
	DRM_TESSERA_MEMORY_SRAM,
};

/** define DRM_TESSERA_NUM_MEMORIES - memories of &enum drm_tessera_memory */
#define DRM_TESSERA_NUM_MEMORIES	2

/**
 * struct drm_tessera_memory_counters - what a job did to a memory, indices included
 *
 * Bytes are those of the elements that were loaded and stored. A burst is the piece that the memory
 * is accessed in, counted from the start of the buffer: an access in the burst that the same
 * operand has accessed last, in the order of the loops, does not count, and one that lies in two
 * accesses the lower one first. The elements of an INDIRECT operand have each a burst of its own.
 */
struct drm_tessera_memory_counters {
	/** @bytes_read: bytes used */
	__u64 bytes_read;
	/** @bytes_written: bytes stored */
	__u64 bytes_written;
	/** @bursts_read: bursts touched for them */
	__u64 bursts_read;
	/** @bursts_written: bursts touched for them */
	__u64 bursts_written;
	/** @cycles_read: that the device's model gives to reading them */
	__u64 cycles_read;
	/** @cycles_written: that it gives to writing them */
	__u64 cycles_written;
};

/**
 * struct drm_tessera_job_counters - what a job did, by the device's model
 *
 * Exact, and mod 2^64. Of a job that did not succeed all is zero.
 */
struct drm_tessera_job_counters {
	/** @points: of its loops */
	__u64 points;
	/** @windows_failed: loads and stores that a window kept from happening */
	__u64 windows_failed;
	/** @memory: by &enum drm_tessera_memory */
	struct drm_tessera_memory_counters memory[DRM_TESSERA_NUM_MEMORIES];
	/** @noc_bytes: bytes in bursts that crossed the network between processing elements */
	__u64 noc_bytes;
	/** @noc_hops: links that these bursts crossed, of all together */
	__u64 noc_hops;
	/** @noc_cycles: that the network took for them, had it been idle */
	__u64 noc_cycles;
	/** @noc_wait_cycles: more, for others were on its links */
	__u64 noc_wait_cycles;
	/** @cycles: from its start to its end: what can be at once is counted once */
	__u64 cycles;
	/** @energy_pj: picojoules */
	__u64 energy_pj;
	/** @uncounted: 1: its windows are too involved; all but @points and this is zero */
	__u64 uncounted;
	/** @reserved: zero */
	__u64 reserved;
};

/**
 * struct drm_tessera_job_result - how one job of a submission ended
 */
struct drm_tessera_job_result {
	/** @cause: out, &enum drm_tessera_cause */
	__u32 cause;
	/** @operand: out, which operand failed: 0 the destination, 1 and up the sources */
	__u32 operand;
	/**
	 * @offset: out, where it failed. BOUNDS: the highest byte that is outside, or the lowest
	 * where that is below zero. INDEX_BOUNDS: the same, of the index buffer. INDEX_LIMIT: the
	 * index. TRANSLATION: the first byte of the page. Otherwise zero.
	 */
	__s64 offset;
	/** @device_ns: out, nanoseconds from its start to its end on the device */
	__u64 device_ns;
};

/**
 * enum drm_tessera_submit_state - how far a submission has come
 */
enum drm_tessera_submit_state {
	/** @DRM_TESSERA_SUBMIT_PENDING: its fence has not signalled; only @num_jobs is valid */
	DRM_TESSERA_SUBMIT_PENDING = 0,
	/** @DRM_TESSERA_SUBMIT_DONE: every job succeeded */
	DRM_TESSERA_SUBMIT_DONE,
	/** @DRM_TESSERA_SUBMIT_FAILED: at least one did not */
	DRM_TESSERA_SUBMIT_FAILED,
};

/**
 * struct drm_tessera_submit_result - how a submission ended
 *
 * The driver keeps the results of the last DRM_TESSERA_MAX_RESULTS submissions of a file.
 */
struct drm_tessera_submit_result {
	/** @id: in, the submission: &struct drm_tessera_submit.id */
	__u64 id;
	/** @results: in, where &struct drm_tessera_job_result go, at most so many; may be empty */
	struct drm_tessera_array results;
	/** @state: out, &enum drm_tessera_submit_state */
	__u32 state;
	/** @num_jobs: out, jobs in the submission */
	__u32 num_jobs;
	/** @num_failed: out, jobs that failed; a job that fails does not stop those after it */
	__u32 num_failed;
	/** @first_failed: out, the index of the first that failed, or @num_jobs */
	__u32 first_failed;
	/** @submit_ns: out, CLOCK_MONOTONIC when the ioctl began */
	__u64 submit_ns;
	/** @start_ns: out, CLOCK_MONOTONIC when the jobs were handed to the device, or 0 */
	__u64 start_ns;
	/** @end_ns: out, CLOCK_MONOTONIC when the driver saw them completed */
	__u64 end_ns;
	/**
	 * @counters: in, where &struct drm_tessera_job_counters go, at most so many, once it has
	 * completed; may be empty. Zeros without DRM_TESSERA_SUBMIT_COUNTERS.
	 */
	struct drm_tessera_array counters;
};

/** define DRM_TESSERA_BO_SRAM - the buffer is in the on-chip memory of a processing element */
#define DRM_TESSERA_BO_SRAM		(1 << 0)

/**
 * struct drm_tessera_bo_create - argument of DRM_IOCTL_TESSERA_BO_CREATE
 *
 * The buffer reads as zero until it is written. Jobs of all queues reach on-chip memory, each
 * processing element that of all. It cannot be shared with other devices or processes (EOPNOTSUPP).
 * What is in it survives that the system sleeps and that the device is reset; the system memory for
 * that is set aside here, as much as the buffer has.
 */
struct drm_tessera_bo_create {
	/**
	 * @size: in, bytes wanted, from 1 to max_bo_size, or with DRM_TESSERA_BO_SRAM to sram_size;
	 * out, rounded up to whole pages
	 */
	__u64 size;
	/** @flags: in, DRM_TESSERA_BO_SRAM or 0 */
	__u32 flags;
	/** @handle: out, names the buffer in this file; never 0 */
	__u32 handle;
	/** @pe: in, DRM_TESSERA_BO_SRAM: the processing element, less than num_queues; or zero */
	__u32 pe;
	/** @reserved: in, zero */
	__u32 reserved;
};

/**
 * struct drm_tessera_bo_mmap_offset - argument of DRM_IOCTL_TESSERA_BO_MMAP_OFFSET
 *
 * Mappings of system memory are cached, those of on-chip memory write-combined: reading them is
 * slow. The device is coherent with both: what the thread that calls SUBMIT wrote before is what
 * jobs see, and what they have stored is there once their fence has signalled. Nothing is flushed.
 */
struct drm_tessera_bo_mmap_offset {
	/** @handle: in, the buffer */
	__u32 handle;
	/** @flags: in, zero */
	__u32 flags;
	/** @offset: out, what to give mmap() of this file as its offset */
	__u64 offset;
};

/** define DRM_TESSERA_BO_WAIT_WRITE - wait for readers as well, as one does before writing */
#define DRM_TESSERA_BO_WAIT_WRITE	(1 << 0)

/**
 * struct drm_tessera_bo_wait - argument of DRM_IOCTL_TESSERA_BO_WAIT
 *
 * Waits for the submissions that write to the buffer, or with DRM_TESSERA_BO_WAIT_WRITE for all
 * that use it, those of other devices included. Whether they succeeded is not told.
 */
struct drm_tessera_bo_wait {
	/** @handle: in, the buffer */
	__u32 handle;
	/** @flags: in, DRM_TESSERA_BO_WAIT_WRITE or 0 */
	__u32 flags;
	/** @timeout_ns: in, absolute CLOCK_MONOTONIC time; one in the past, or 0, does not wait */
	__s64 timeout_ns;
};

/** define DRM_TESSERA_SYNC_TIMELINE - the syncobj is used as a timeline */
#define DRM_TESSERA_SYNC_TIMELINE	(1 << 0)

/**
 * struct drm_tessera_sync - a syncobj to wait for or to signal
 */
struct drm_tessera_sync {
	/** @handle: of a syncobj of this file */
	__u32 handle;
	/** @flags: DRM_TESSERA_SYNC_TIMELINE or 0 */
	__u32 flags;
	/** @timeline_value: TIMELINE: the point, for a signal not 0; otherwise zero */
	__u64 timeline_value;
};

/** define DRM_TESSERA_QUEUE_ANY - the driver chooses the queue */
#define DRM_TESSERA_QUEUE_ANY		(~0U)

/**
 * enum drm_tessera_priority - which submissions a queue takes first
 *
 * Of those of all files whose dependencies have signalled: nothing of a lower priority is handed to
 * the device while something of a higher one waits for that. What the device has is not overtaken.
 */
enum drm_tessera_priority {
	/** @DRM_TESSERA_PRIORITY_NORMAL: what a process waits for */
	DRM_TESSERA_PRIORITY_NORMAL = 0,
	/** @DRM_TESSERA_PRIORITY_LOW: what may wait for all others */
	DRM_TESSERA_PRIORITY_LOW,
};

/**
 * define DRM_TESSERA_SUBMIT_COUNTERS - keep the counters of each job with its result. EOPNOTSUPP on
 * a device without a model: &drm_tessera_dev_info.clock_khz is 0.
 */
#define DRM_TESSERA_SUBMIT_COUNTERS	(1 << 0)

/**
 * struct drm_tessera_submit - argument of DRM_IOCTL_TESSERA_SUBMIT
 *
 * The jobs run after all of @in_syncs and complete in order, each seeing what those before it
 * stored. One fence stands for all of them: it is put into each of @out_syncs. All jobs are checked
 * before the first of them runs; if one is refused, none runs and no syncobj is touched.
 */
struct drm_tessera_submit {
	/** @flags: in, DRM_TESSERA_SUBMIT_COUNTERS or 0 */
	__u32 flags;
	/** @queue: in, less than num_queues, or DRM_TESSERA_QUEUE_ANY */
	__u32 queue;
	/** @jobs: in, &struct drm_tessera_job, at least one, at most DRM_TESSERA_MAX_JOBS */
	struct drm_tessera_array jobs;
	/** @in_syncs: in, &struct drm_tessera_sync, at most DRM_TESSERA_MAX_SYNCS */
	struct drm_tessera_array in_syncs;
	/** @out_syncs: in, &struct drm_tessera_sync, at most DRM_TESSERA_MAX_SYNCS */
	struct drm_tessera_array out_syncs;
	/** @id: out, names the submission to DEV_QUERY_SUBMIT_RESULT; from 1 up in each file */
	__u64 id;
	/** @priority: in, &enum drm_tessera_priority */
	__u32 priority;
	/** @reserved: in, zero */
	__u32 reserved;
};

/**
 * DOC: tessera device coredump
 *
 * What the driver keeps of a job that had to be stopped, where the kernel has CONFIG_DEV_COREDUMP:
 * root finds it in /sys/class/devcoredump. It holds no address, of the kernel or of the device,
 * and nothing of what buffers contain. All of it is little endian, without gaps:
 *
 * - &struct drm_tessera_dump_header
 * - num_registers of &struct drm_tessera_dump_register
 * - num_entries of &struct drm_tessera_dump_entry
 * - num_buffers of &struct drm_tessera_dump_buffer
 * - the descriptor of the job as the device reads it: &struct tessera_hw_job
 */

/** define DRM_TESSERA_DUMP_MAGIC - "TESSDUMP" */
#define DRM_TESSERA_DUMP_MAGIC		0x504d554453534554ULL
/** define DRM_TESSERA_DUMP_VERSION - of the layout; another one has another */
#define DRM_TESSERA_DUMP_VERSION	1
/** define DRM_TESSERA_DUMP_MAX_ENTRIES - of the ring, from the job that was stopped on */
#define DRM_TESSERA_DUMP_MAX_ENTRIES	256

/**
 * struct drm_tessera_dump_header - where a dump begins
 */
struct drm_tessera_dump_header {
	/** @magic: DRM_TESSERA_DUMP_MAGIC */
	__le64 magic;
	/** @version: DRM_TESSERA_DUMP_VERSION */
	__le32 version;
	/** @size: bytes, this header and all that follows */
	__le32 size;
	/** @num_registers: registers */
	__le32 num_registers;
	/** @num_entries: entries of the ring */
	__le32 num_entries;
	/** @num_buffers: buffers */
	__le32 num_buffers;
	/** @descriptor_size: bytes of the descriptor */
	__le32 descriptor_size;
	/** @queue: the queue that the job was on */
	__le32 queue;
	/** @cause: why it was stopped, &enum drm_tessera_cause */
	__le32 cause;
	/** @job: which job of its submission */
	__le32 job;
	/** @num_jobs: jobs of the submission */
	__le32 num_jobs;
	/** @id: &drm_tessera_submit.id */
	__le64 id;
	/** @sequence: of the job handed over last */
	__le64 sequence;
	/** @completed: of the job that the driver has seen completed last */
	__le64 completed;
	/** @completion: of the job that the device says it has completed last */
	__le64 completion;
	/** @pid: the process that submitted it */
	__le32 pid;
	/** @comm: its name, ended by a zero */
	__u8 comm[20];
};

/**
 * struct drm_tessera_dump_register - a register
 */
struct drm_tessera_dump_register {
	/** @offset: in the BAR */
	__le32 offset;
	/** @value: its value */
	__le32 value;
};

/**
 * struct drm_tessera_dump_entry - an entry of the ring
 */
struct drm_tessera_dump_entry {
	/** @sequence: the sequence */
	__le64 sequence;
	/** @descriptor_size: bytes of the descriptor */
	__le32 descriptor_size;
	/** @flags: 1: an interrupt is asked for */
	__le32 flags;
};

/**
 * struct drm_tessera_dump_buffer - a buffer that the job names
 */
struct drm_tessera_dump_buffer {
	/** @size: bytes */
	__le64 size;
	/** @id: its entry in the directory */
	__le32 id;
	/** @page_shift: log2 of the size of its pages; 0 in on-chip memory */
	__le32 page_shift;
	/** @flags: 1: valid, 2: writable, 4: in on-chip memory */
	__le32 flags;
	/** @is_imported: 1 for the memory of another driver, else 0 */
	__le32 is_imported;
};

#define DRM_IOCTL_TESSERA_DEV_QUERY \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TESSERA_DEV_QUERY, struct drm_tessera_dev_query)
#define DRM_IOCTL_TESSERA_BO_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TESSERA_BO_CREATE, struct drm_tessera_bo_create)
#define DRM_IOCTL_TESSERA_BO_MMAP_OFFSET \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TESSERA_BO_MMAP_OFFSET, struct drm_tessera_bo_mmap_offset)
#define DRM_IOCTL_TESSERA_BO_WAIT \
	DRM_IOW(DRM_COMMAND_BASE + DRM_TESSERA_BO_WAIT, struct drm_tessera_bo_wait)
#define DRM_IOCTL_TESSERA_SUBMIT \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_TESSERA_SUBMIT, struct drm_tessera_submit)

#if defined(__cplusplus)
}
#endif

#endif /* _UAPI_TESSERA_ACCEL_H_ */
