// SPDX-License-Identifier: MIT
/*
 * Making, running and freeing plans. The checks are check.c's, the cutting by windows region.c's,
 * the work in each box move.c's and run_program.c's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fault.h"
#include "plan.h"
#include "region.h"

static void init_stream(struct engine_stream *stream, const struct drm_tessera_affine *affine)
{
	stream->offset = affine->offset;
	for (uint32_t d = 0; d < DRM_TESSERA_MAX_RANK; d++)
		stream->strides[d] = affine->strides[d];
}

static void init_operand(struct engine_plan_operand *operand, const struct engine_operand *from)
{
	const struct drm_tessera_operand *spec = &from->spec;

	operand->base = from->buffer.base;
	operand->size = from->buffer.size;
	operand->size_shift = spec->dtype & DRM_TESSERA_DTYPE_SHIFT_MASK;
	operand->window_mask = spec->window_mask;
	memcpy(operand->fill, spec->fill, sizeof(operand->fill));
	init_stream(&operand->address, &spec->address);
	operand->is_indirect = spec->flags & DRM_TESSERA_OPERAND_INDIRECT;
	if (!operand->is_indirect)
		return;
	operand->index_base = from->index_buffer.base;
	init_stream(&operand->index_address, &spec->index_address);
	operand->index_dtype = spec->index_dtype;
	operand->index_stride = spec->index_stride;
	operand->index_limit = spec->index_limit;
}

/* Windows that hold at every point of the job. */
static uint32_t idle_windows(const struct engine_plan *plan)
{
	uint32_t idle = 0;

	for (uint32_t w = 0; w < plan->num_windows; w++) {
		struct engine_interval value = engine_affine_range(&plan->windows[w].value,
								   &plan->box);

		if (value.lowest >= 0 && value.highest < (int64_t)plan->windows[w].limit)
			idle |= 1u << w;
	}
	return idle;
}

static void init_program(struct engine_plan *plan, const struct engine_job *job)
{
	uint32_t dtypes[DRM_TESSERA_MAX_SOURCES];

	plan->has_program = job->num_instructions;
	for (uint32_t k = 1; k < job->num_operands; k++)
		dtypes[k - 1] = job->operands[k].spec.dtype;
	engine_program_init(&plan->program, job->program, job->num_instructions, dtypes,
			    job->num_operands - 1);
}

static void init_plan(struct engine_plan *plan, const struct engine_job *job)
{
	uint32_t idle;

	plan->is_empty = engine_job_is_empty(job);
	if (plan->is_empty)
		return;
	engine_box_init(&plan->box, job->rank, job->extents);
	plan->num_windows = job->num_windows;
	memcpy(plan->windows, job->windows, job->num_windows * sizeof(plan->windows[0]));
	idle = idle_windows(plan);
	plan->num_operands = job->num_operands;
	for (uint32_t k = 0; k < job->num_operands; k++) {
		init_operand(&plan->operands[k], &job->operands[k]);
		plan->operands[k].window_mask &= ~idle;
	}
	init_program(plan, job);
}

int engine_plan_create(const struct engine_job *job, struct engine_plan **plan,
		       struct engine_fault *fault)
{
	int error = engine_check(job, fault);

	if (error)
		return error;
	*plan = calloc(1, sizeof(**plan));
	if (!*plan)
		return engine_fail(fault, ENOMEM, DRM_TESSERA_CAUSE_MEMORY, 0, 0,
				   "no memory for a plan of %zu bytes", sizeof(**plan));
	init_plan(*plan, job);
	return 0;
}

void engine_plan_destroy(struct engine_plan *plan)
{
	free(plan);
}

static void tell_progress(struct engine_run *run)
{
	if (run->control && run->control->progress)
		__atomic_fetch_add(run->control->progress, run->unreported, __ATOMIC_RELAXED);
	run->unreported = 0;
}

int engine_run_report(struct engine_run *run)
{
	const struct engine_control *control = run->control;

	tell_progress(run);
	if (control && control->cancel && __atomic_load_n(control->cancel, __ATOMIC_RELAXED))
		return engine_fail(run->fault, ECANCELED, DRM_TESSERA_CAUSE_CANCELED, 0, 0,
				   "the job was canceled");
	return 0;
}

int engine_plan_run(const struct engine_plan *plan, const struct engine_control *control,
		    struct engine_fault *fault)
{
	struct engine_run run = { .plan = plan, .control = control, .fault = fault };
	int error;

	if (plan->is_empty)
		return 0;
	error = engine_run_report(&run);
	if (!error)
		error = engine_visit_regions(&run, plan->has_program ? engine_run_program :
								       engine_run_move);
	tell_progress(&run);
	return error;
}
