/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Validation of layout jobs: the rules of uapi/drm/tessera_accel.h, decided from a private copy of
 * a job and from nothing else. Pure functions without locks, allocations or globals, which also
 * compile in userspace for tests and fuzzing. Handles, memory and hardware belong to others.
 */
#ifndef _TESSERA_LAYOUT_H_
#define _TESSERA_LAYOUT_H_

#ifdef __KERNEL__
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include "tests/tessera_userspace.h"
#endif

#include <drm/tessera_accel.h>

/**
 * struct tessera_layout_buffer - what validation has to know of a buffer
 */
struct tessera_layout_buffer {
	/** @size: bytes */
	u64 size;
	/** @id: its entry in the directory of buffers */
	u32 id;
	/** @is_writable: whether a job may store to it */
	bool is_writable;
};

/**
 * struct tessera_layout_job - a job, copied from the process, with its buffers looked up
 *
 * The counts are at most those of the arrays, which whoever fills them in sees to; all else is
 * for tessera_layout_check() to find out.
 */
struct tessera_layout_job {
	/** @rank: &struct drm_tessera_job.rank */
	u32 rank;
	/** @flags: &struct drm_tessera_job.flags */
	u32 flags;
	/** @num_operands: the destination and the sources */
	u32 num_operands;
	/** @num_windows: windows */
	u32 num_windows;
	/** @num_instructions: instructions of the program */
	u32 num_instructions;
	/** @extents: &struct drm_tessera_job.extents */
	u64 extents[DRM_TESSERA_MAX_RANK];
	/** @operands: the destination, then the sources */
	struct drm_tessera_operand operands[DRM_TESSERA_MAX_OPERANDS];
	/** @windows: shared by the operands */
	struct drm_tessera_window windows[DRM_TESSERA_MAX_WINDOWS];
	/** @program: in order */
	struct drm_tessera_instruction program[DRM_TESSERA_MAX_INSTRUCTIONS];
	/** @buffers: that the operands are in */
	struct tessera_layout_buffer buffers[DRM_TESSERA_MAX_OPERANDS];
	/** @index_buffers: of those operands that are INDIRECT */
	struct tessera_layout_buffer index_buffers[DRM_TESSERA_MAX_OPERANDS];
};

/**
 * struct tessera_layout_error - what is wrong with a job, for a person
 */
struct tessera_layout_error {
	/** @text: names the field, what it held and what was expected */
	char text[120];
};

/**
 * struct tessera_interval - the values from lowest to highest, both included
 */
struct tessera_interval {
	/** @lowest: the least value */
	s64 lowest;
	/** @highest: the greatest value; below @lowest: there is none */
	s64 highest;
};

u32 tessera_dtype_size(u32 dtype);
bool tessera_dtype_is_integer(u32 dtype);

int tessera_layout_check(const struct tessera_layout_job *job, struct tessera_layout_error *error);
bool tessera_layout_bounds(const struct tessera_layout_job *job, u32 window_mask,
			   const struct drm_tessera_affine *address,
			   struct tessera_interval *bounds);

#endif /* _TESSERA_LAYOUT_H_ */
