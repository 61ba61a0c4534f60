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
#include <linux/gcd.h>
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
	/** @id: two operands share memory where their buffers have the same */
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

/**
 * define TESSERA_SOLVER_NODES - boxes that the search for overlaps looks at, at most, for a job
 *
 * With at most 65 constraints of 16 variables each a box costs some ten microseconds at worst;
 * searches that find something find it within the first few dozen.
 */
#define TESSERA_SOLVER_NODES		512
/** define TESSERA_SOLVER_QUESTION_NODES - of these, at most, for one question of several */
#define TESSERA_SOLVER_QUESTION_NODES	128
/** define TESSERA_SOLVER_DEPTH - boxes that wait to be looked at; more than that are let go */
#define TESSERA_SOLVER_DEPTH		96
#define TESSERA_SOLVER_VARIABLES	(2 * DRM_TESSERA_MAX_RANK)
#define TESSERA_SOLVER_CONSTRAINTS	(2 * DRM_TESSERA_MAX_WINDOWS + 2)

/**
 * struct tessera_constraint - range.lowest <= offset + sum_v x_v * coefficients[v] <= range.highest
 */
struct tessera_constraint {
	/** @offset: the sum where all variables are 0 */
	s64 offset;
	/** @coefficients: what a step of each variable adds */
	s64 coefficients[TESSERA_SOLVER_VARIABLES];
	/** @range: where the sum has to be */
	struct tessera_interval range;
};

/**
 * struct tessera_solver_box - a part of the space that is searched
 */
struct tessera_solver_box {
	/** @variables: the values that each may still have */
	struct tessera_interval variables[TESSERA_SOLVER_VARIABLES];
};

/**
 * struct tessera_solver - working memory of tessera_layout_check_overlap(), too big for a stack
 */
struct tessera_solver {
	/** @num_variables: of the question at hand */
	u32 num_variables;
	/** @num_constraints: of the question at hand */
	u32 num_constraints;
	/** @num_boxes: that wait to be looked at */
	u32 num_boxes;
	/** @nodes_left: boxes that may still be looked at for this job */
	u32 nodes_left;
	/** @constraints: which all have to hold */
	struct tessera_constraint constraints[TESSERA_SOLVER_CONSTRAINTS];
	/** @boxes: a stack */
	struct tessera_solver_box boxes[TESSERA_SOLVER_DEPTH];
};

u32 tessera_dtype_size(u32 dtype);
bool tessera_dtype_is_integer(u32 dtype);

int tessera_layout_check(const struct tessera_layout_job *job,
			 struct tessera_layout_error *error);
int tessera_layout_check_overlap(const struct tessera_layout_job *job,
				 struct tessera_solver *solver,
				 struct tessera_layout_error *error);
bool tessera_layout_bounds(const struct tessera_layout_job *job, u32 window_mask,
			   const struct drm_tessera_affine *address,
			   struct tessera_interval *bounds);

#endif /* _TESSERA_LAYOUT_H_ */
