/* SPDX-License-Identifier: MIT */
/*
 * What the Tessera driver and the device agree on: PCI identity, registers, rings, the directory
 * of buffers and the descriptor of a job. All of it is little endian. Element types,
 * instructions, limits and causes of faults are those of uapi/drm/tessera_accel.h.
 * Documentation/device.rst explains how the pieces work together.
 */
#ifndef _TESSERA_HW_H_
#define _TESSERA_HW_H_

#include <drm/tessera_accel.h>

/* The identity that QEMU gives to devices of no vendor's (docs/specs/pci-ids.rst there) */
#define TESSERA_PCI_VENDOR_ID		0x1234
#define TESSERA_PCI_DEVICE_ID		0x7e55
#define TESSERA_PCI_CLASS		0x1200	/* processing accelerator */

#define TESSERA_BAR_REGISTERS		0
#define TESSERA_BAR_SRAM		2	/* 64 bits, prefetchable */
#define TESSERA_BAR_MSIX		4

#define TESSERA_MAX_QUEUES		64

/*
 * Global registers, 32 bits each; 64-bit values stand in two, the lower half first. Reserved bits
 * read as zero and ignore writes.
 */
#define TESSERA_REG_ID			0x000	/* ro */
#define   TESSERA_ID			0x41524554	/* "TERA" */
#define TESSERA_REG_VERSION		0x004	/* ro: major << 16 | minor */
#define   TESSERA_VERSION		0x00000001
#define TESSERA_REG_NUM_QUEUES		0x008	/* ro */
#define TESSERA_REG_FEATURES		0x00c	/* ro */
#define   TESSERA_FEATURE_TEST		(1 << 0)	/* TESSERA_REG_TEST_* exist */
#define   TESSERA_FEATURE_HINTS		(1 << 1)	/* TESSERA_QUEUE_HINTS exists */
#define   TESSERA_FEATURE_COUNTERS	(1 << 2)	/* the registers of the model exist */
#define TESSERA_REG_SRAM_SIZE		0x010	/* ro, 64 bits: bytes for each queue's engine */
#define TESSERA_REG_CONTROL		0x018	/* rw */
#define   TESSERA_CONTROL_RESET		(1 << 0)	/* write 1; done when it reads 0 */
#define TESSERA_REG_STATUS		0x01c	/* ro */
#define   TESSERA_STATUS_BUSY		(1 << 0)	/* a job is running on some queue */
#define TESSERA_REG_BUFFERS		0x020	/* rw, 64 bits: DMA address of the directory */
#define TESSERA_REG_NUM_BUFFERS		0x028	/* rw: entries in it */
#define   TESSERA_MAX_BUFFERS		(1 << 20)
#define TESSERA_REG_INVALIDATE		0x02c	/* rw */
#define   TESSERA_INVALIDATE_ALL	0xffffffff
#define TESSERA_REG_TEST_HANG		0x030	/* rw: see below; only with FEATURE_TEST */
#define TESSERA_REG_TEST_SKEW		0x034	/* rw: see below; only with FEATURE_TEST */
#define TESSERA_REG_TEST_INTERRUPT	0x038	/* wo: see below; only with FEATURE_TEST */
#define TESSERA_REG_TEST_FAULT		0x050	/* rw: see below; only with FEATURE_TEST */
#define TESSERA_REG_TEST_SLOW		0x054	/* rw: see below; only with FEATURE_TEST */
#define TESSERA_REG_TEST_CORRUPT	0x058	/* rw: see below; only with FEATURE_TEST */
#define TESSERA_REG_TEST_DROP		0x05c	/* rw: see below; only with FEATURE_TEST */
#define TESSERA_REG_TEST_READ		0x060	/* rw: see below; only with FEATURE_TEST */
#define   TESSERA_TEST_READ_VALUE	(1 << 0)	/* reads give TEST_VALUE */
#define   TESSERA_TEST_READ_KEPT	(1 << 1)	/* after CONTROL.RESET as well */
#define TESSERA_REG_TEST_VALUE		0x064	/* rw: see below; only with FEATURE_TEST */
#define TESSERA_REG_GRID_COLUMNS	0x040	/* ro: of the model: engines in a row of the grid */
#define TESSERA_REG_CLOCK		0x044	/* ro: of the model: cycles in a millisecond */

/*
 * ro, 64 bits: of the model: bytes that have crossed the link from engine n to its neighbour, mod
 * 2^64, since the device was reset
 */
#define TESSERA_REG_LINK(n, direction)	(0x800 + 32 * (n) + 8 * (direction))
#define   TESSERA_LINK_EAST		0	/* to engine n + 1 */
#define   TESSERA_LINK_WEST		1	/* to engine n - 1 */
#define   TESSERA_LINK_SOUTH		2	/* to engine n + GRID_COLUMNS */
#define   TESSERA_LINK_NORTH		3	/* to engine n - GRID_COLUMNS */
#define   TESSERA_NUM_LINKS		4

/*
 * BUFFERS and NUM_BUFFERS: each write drops all that the device has cached of buffers.
 * INVALIDATE: a write drops what is cached of that buffer (or all): jobs that begin later
 * read its entry and its table again. A read gives the number of dropped translations that running
 * jobs still use; at 0 the device no longer touches the memory behind them.
 * CONTROL.RESET: stops all queues, drops all translations, sets all registers to zero, those for
 * tests to what the device was made with.
 * TEST_HANG: n > 0: the n-th job that starts from now on, on whatever queue, makes no progress
 * until its queue is disabled or the device reset. The register then reads 0.
 * TEST_SKEW: n > 0: the device adds n bytes to the destination's offset of the next job, then the
 * register reads 0: a job as no driver would send it.
 * TEST_INTERRUPT: a write of v raises vector v, if there is one, and does nothing else.
 * TEST_FAULT: n > 0: the next job ends with a fault once its outermost loop has done n values, if
 * it has more, then the register reads 0.
 * TEST_SLOW: n > 0: each job begins n milliseconds late; it is running meanwhile.
 * TEST_CORRUPT: n != 0: the device adds n, which is signed, to the sequence that it writes to
 * COMPLETION for the next job, then the register reads 0.
 * TEST_DROP: n > 0: the next n interrupts of queues are not raised; the register counts down.
 * TEST_READ: the offset of a register, with READ_VALUE added: reads of it give TEST_VALUE. With
 * READ_KEPT as well, CONTROL.RESET leaves both registers as they are.
 */

/* Registers of queue q */
#define TESSERA_QUEUE(q)		(0x1000 + 0x1000 * (q))
#define TESSERA_QUEUE_CONTROL		0x00	/* rw */
#define   TESSERA_QUEUE_ENABLE		(1 << 0)
#define TESSERA_QUEUE_STATUS		0x04	/* ro */
#define   TESSERA_QUEUE_STATUS_ENABLED	(1 << 0)
#define   TESSERA_QUEUE_STATUS_BUSY	(1 << 1)	/* a job is running */
#define   TESSERA_QUEUE_STATUS_ERROR	(1 << 2)	/* stopped until disabled; why: */
#define   TESSERA_QUEUE_STATUS_ERROR_MASK	0xff00
#define   TESSERA_QUEUE_ERROR_RING	0x0100	/* the ring could not be read */
#define   TESSERA_QUEUE_ERROR_TAIL	0x0200	/* more entries pending than the ring has */
#define   TESSERA_QUEUE_ERROR_RESULT	0x0300	/* a result or completion could not be written */
#define   TESSERA_QUEUE_ERROR_CONFIG	0x0400	/* enabled with an address or a size not allowed */
#define TESSERA_QUEUE_RING		0x08	/* rw, 64 bits: DMA address, 64-aligned */
#define TESSERA_QUEUE_RING_SHIFT	0x10	/* rw: log2 of its entries */
#define   TESSERA_RING_MIN_SHIFT	4
#define   TESSERA_RING_MAX_SHIFT	16
#define TESSERA_QUEUE_TAIL		0x14	/* rw: doorbell: entries ever produced, mod 2^32 */
#define TESSERA_QUEUE_HEAD		0x18	/* ro: entries ever completed, mod 2^32 */
#define TESSERA_QUEUE_COMPLETION	0x20	/* rw, 64 bits: DMA address, 8-aligned, of a le64 */
#define TESSERA_QUEUE_RESULTS		0x28	/* rw, 64 bits: DMA address, 32-aligned */
#define TESSERA_QUEUE_PROGRESS		0x30	/* ro, 64 bits: grows while a job advances */
#define TESSERA_QUEUE_NUM_DOORBELLS	0x38	/* ro: writes to TAIL, mod 2^32 */
#define TESSERA_QUEUE_NUM_INTERRUPTS	0x3c	/* ro: times its vector was raised, mod 2^32 */
#define TESSERA_QUEUE_HINTS		0x40	/* rw, 64 bits: DMA address, 16-aligned, or 0 */
/* ro, 64 bits each: the members of struct drm_tessera_job_counters, of all jobs, mod 2^64 */
#define TESSERA_QUEUE_TOTAL(n)		(0x100 + 8 * (n))
#define TESSERA_NUM_COUNTERS	(sizeof(struct drm_tessera_job_counters) / sizeof(__le64))

/*
 * All but CONTROL and TAIL can be written only while the queue is disabled (STATUS reads 0).
 * Enabling sets TAIL, HEAD, PROGRESS, the two counters and the totals to 0. Disabling stops the
 * running job and drops those pending; it is done when STATUS reads 0: nothing of the queue is in
 * flight then.
 *
 * Entry TAIL % size is the next to be produced. When a job ends, the device writes the job's
 * result to entry HEAD % size of RESULTS, its counters to where the ring entry says, then the
 * sequence of the ring entry to COMPLETION, then raises the queue's vector if the entry asks for
 * that.
 */

/**
 * struct tessera_hw_hints - what a driver tells while the device is at work, at HINTS
 *
 * Both spare registers and interrupts under load. Each side writes its word, then has a full
 * barrier, then reads the other's: so one of them sees what the other has just done.
 */
struct tessera_hw_hints {
	/**
	 * @seen: of COMPLETION, what the driver has seen. While it is less than what COMPLETION was
	 * when the vector was raised last, it is not raised again.
	 */
	__le64 seen;
	/**
	 * @tail: TAIL to be, if it is ahead of it and the ring has room for so many. Read each time
	 * a job has ended and COMPLETION is written: a driver that finds there less than the
	 * sequence before its new entries needs no doorbell.
	 */
	__le32 tail;
	/** @reserved: zero */
	__le32 reserved;
};

/* MSI-X vectors: one for each queue, and one for queues that stopped with STATUS_ERROR */
#define TESSERA_VECTOR_QUEUE(q)		(q)
#define TESSERA_VECTOR_ERROR(num_queues)	(num_queues)

/**
 * struct tessera_hw_ring_entry - a job to run
 */
struct tessera_hw_ring_entry {
	/** @descriptor: DMA address of the job's descriptor, 8-aligned */
	__le64 descriptor;
	/** @descriptor_size: its bytes, exactly those that its counts ask for */
	__le32 descriptor_size;
	/** @flags: TESSERA_RING_INTERRUPT or 0 */
	__le32 flags;
#define TESSERA_RING_INTERRUPT		(1 << 0)
	/** @sequence: what is written to the completion word when this job has ended */
	__le64 sequence;
	/**
	 * @counters: DMA address, 8-aligned, for TESSERA_NUM_COUNTERS of __le64, the members of
	 * &struct drm_tessera_job_counters, if the job succeeds, or 0
	 */
	__le64 counters;
	/** @reserved: zero */
	__le64 reserved[4];
};

/**
 * struct tessera_hw_result - how a job ended
 */
struct tessera_hw_result {
	/** @cause: &enum drm_tessera_cause */
	__le32 cause;
	/** @operand: which operand failed, 0 the destination */
	__le32 operand;
	/** @offset: where, as in &struct drm_tessera_job_result.offset */
	__le64 offset;
	/** @nanoseconds: from its start to its end */
	__le64 nanoseconds;
	/** @sequence: that of the ring entry */
	__le64 sequence;
};

/**
 * struct tessera_hw_buffer - entry of the directory of buffers
 */
struct tessera_hw_buffer {
	/**
	 * @table: DMA address, 8-aligned, of one le64 for each page of the buffer: the DMA address
	 * of the page, aligned to its size. SRAM: the offset of the buffer in the SRAM BAR.
	 */
	__le64 table;
	/** @size: bytes; 0 is allowed */
	__le64 size;
	/** @flags: TESSERA_BUFFER_x */
	__le32 flags;
#define TESSERA_BUFFER_VALID		(1 << 0)
#define TESSERA_BUFFER_WRITABLE		(1 << 1)
#define TESSERA_BUFFER_SRAM		(1 << 2)
	/** @page_shift: log2 of the page size; zero for SRAM */
	__le32 page_shift;
#define TESSERA_PAGE_MIN_SHIFT		12
#define TESSERA_PAGE_MAX_SHIFT		30
	/** @reserved: zero */
	__le64 reserved;
};

/**
 * struct tessera_hw_affine - offset + sum_d i_d * strides[d], &struct drm_tessera_affine
 */
struct tessera_hw_affine {
	/** @offset: signed */
	__le64 offset;
	/** @strides: signed */
	__le64 strides[DRM_TESSERA_MAX_RANK];
};

/**
 * struct tessera_hw_window - &struct drm_tessera_window
 */
struct tessera_hw_window {
	/** @value: bias and coefficients */
	struct tessera_hw_affine value;
	/** @limit: the first value outside */
	__le64 limit;
};

/**
 * struct tessera_hw_operand - &struct drm_tessera_operand
 */
struct tessera_hw_operand {
	/** @buffer: index into the directory */
	__le32 buffer;
	/** @flags: DRM_TESSERA_OPERAND_x */
	__le32 flags;
	/** @dtype: &enum drm_tessera_dtype */
	__le32 dtype;
	/** @window_mask: windows that apply */
	__le32 window_mask;
	/** @index_buffer: INDIRECT: index into the directory */
	__le32 index_buffer;
	/** @index_dtype: INDIRECT: &enum drm_tessera_dtype */
	__le32 index_dtype;
	/** @address: bytes */
	struct tessera_hw_affine address;
	/** @fill: bits of an element */
	__le64 fill[2];
	/** @index_address: bytes */
	struct tessera_hw_affine index_address;
	/** @index_stride: bytes, signed */
	__le64 index_stride;
	/** @index_limit: 0 for none */
	__le64 index_limit;
};

/**
 * struct tessera_hw_instruction - &struct drm_tessera_instruction
 */
struct tessera_hw_instruction {
	/** @opcode: &enum drm_tessera_opcode */
	__u8 opcode;
	/** @dtype: &enum drm_tessera_dtype */
	__u8 dtype;
	/** @flags: DRM_TESSERA_INSTRUCTION_x */
	__u8 flags;
	/** @predicate: &enum drm_tessera_predicate */
	__u8 predicate;
	/** @dst: register */
	__u8 dst;
	/** @src: registers */
	__u8 src[3];
	/** @immediate: bits */
	__le64 immediate;
};

/**
 * struct tessera_hw_job - head of a descriptor
 *
 * Behind it stand, without gaps, @num_operands of &struct tessera_hw_operand, @num_windows of
 * &struct tessera_hw_window and @num_instructions of &struct tessera_hw_instruction.
 */
struct tessera_hw_job {
	/** @rank: loops */
	__le32 rank;
	/** @num_operands: the destination and the sources, 1 to DRM_TESSERA_MAX_OPERANDS */
	__le32 num_operands;
	/** @num_windows: at most DRM_TESSERA_MAX_WINDOWS */
	__le32 num_windows;
	/** @num_instructions: at most DRM_TESSERA_MAX_INSTRUCTIONS */
	__le32 num_instructions;
	/** @extents: values of each loop, outermost first */
	__le64 extents[DRM_TESSERA_MAX_RANK];
};

#define TESSERA_MAX_DESCRIPTOR_SIZE \
	(sizeof(struct tessera_hw_job) + \
	 DRM_TESSERA_MAX_OPERANDS * sizeof(struct tessera_hw_operand) + \
	 DRM_TESSERA_MAX_WINDOWS * sizeof(struct tessera_hw_window) + \
	 DRM_TESSERA_MAX_INSTRUCTIONS * sizeof(struct tessera_hw_instruction))

#endif /* _TESSERA_HW_H_ */
