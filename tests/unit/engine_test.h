/* SPDX-License-Identifier: MIT */
/*
 * What the engine's tests share: building jobs on arrays in a few words.
 */
#ifndef TESSERA_ENGINE_TEST_H
#define TESSERA_ENGINE_TEST_H

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "reference/reference.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

/* A move of num_sources sources of one type; the rest is for the test to set. */
static inline struct engine_job *new_job(uint32_t num_sources, uint32_t dtype)
{
	struct engine_job *job = calloc(1, sizeof(*job));

	assert_non_null(job);
	job->num_operands = 1 + num_sources;
	for (uint32_t k = 0; k <= num_sources; k++)
		job->operands[k].spec.dtype = dtype;
	return job;
}

static inline void set_buffer(struct engine_job *job, uint32_t k, const void *base, uint64_t size)
{
	job->operands[k].buffer = (struct engine_buffer){ (void *)base, size, k == 0 };
}

#define SET_BUFFER(job, k, array)	set_buffer(job, k, array, sizeof(array))

static inline void add_loop(struct engine_job *job, uint64_t extent, int64_t dst_stride,
			    int64_t src_stride)
{
	uint32_t d = job->rank++;

	job->extents[d] = extent;
	job->operands[0].spec.address.strides[d] = dst_stride;
	for (uint32_t k = 1; k < job->num_operands; k++)
		job->operands[k].spec.address.strides[d] = src_stride;
}

/* Adds a window to operand k and returns it, for its coefficients. */
static inline struct drm_tessera_window *add_window(struct engine_job *job, uint32_t k,
						    int64_t bias, uint64_t limit)
{
	uint32_t w = job->num_windows++;

	job->windows[w].value.offset = bias;
	job->windows[w].limit = limit;
	job->operands[k].spec.window_mask |= 1u << w;
	return &job->windows[w];
}

/* Makes operand k indirect, with an index for each value of the loop. */
static inline void add_indices(struct engine_job *job, uint32_t k, const void *indices,
			       uint64_t size, uint32_t dtype, uint32_t loop, int64_t index_stride)
{
	struct engine_operand *operand = &job->operands[k];

	operand->spec.flags = DRM_TESSERA_OPERAND_INDIRECT;
	operand->spec.index_dtype = dtype;
	operand->spec.index_address.strides[loop] = engine_dtype_size(dtype);
	operand->spec.index_stride = index_stride;
	operand->index_buffer = (struct engine_buffer){ (void *)indices, size, false };
}

static inline struct drm_tessera_instruction *add_instruction(struct engine_job *job,
							      uint8_t opcode, uint32_t dtype)
{
	struct drm_tessera_instruction *instruction = &job->program[job->num_instructions++];

	instruction->opcode = opcode;
	instruction->dtype = (uint8_t)dtype;
	return instruction;
}

static inline int try_job(const struct engine_job *job, const struct engine_control *control,
			  struct engine_fault *fault)
{
	struct engine_plan *plan;
	int error = engine_plan_create(job, &plan, fault);

	if (error)
		return error;
	error = engine_plan_run(plan, control, fault);
	engine_plan_destroy(plan);
	return error;
}

/* Runs a job that must succeed, and frees it. */
static inline void run_job(struct engine_job *job)
{
	struct engine_fault fault = { 0 };

	if (try_job(job, NULL, &fault))
		fail_msg("%s", fault.text);
	free(job);
}

#endif /* TESSERA_ENGINE_TEST_H */
