// SPDX-License-Identifier: MIT
/*
 * Making, running and freeing plans. The checks are check.c's, the splitting for threads parts.c's,
 * the cutting by windows region.c's, the work in each box move.c's and run_program.c's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "arithmetic.h"
#include "assemble.h"
#include "cache.h"
#include "check.h"
#include "fault.h"
#include "kernels.h"
#include "move_bordered.h"
#include "move_windows.h"
#include "place.h"
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
	if (!plan->has_program)
		return;
	for (uint32_t k = 1; k < job->num_operands; k++)
		dtypes[k - 1] = job->operands[k].spec.dtype;
	engine_program_init(&plan->program, plan->isa->compute, job->program,
			    job->num_instructions, dtypes, job->num_operands - 1);
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

/* The bytes that the job stores, or more; never more than the destination has. */
static uint64_t stored_bytes(const struct engine_plan *plan)
{
	const struct engine_plan_operand *destination = &plan->operands[0];
	uint64_t bytes = 1ull << destination->size_shift;

	for (uint32_t d = 0; d < plan->box.rank; d++) {
		const struct engine_interval *dim = &plan->box.dims[d];

		if (destination->address.strides[d] &&
		    __builtin_mul_overflow(bytes, (uint64_t)(dim->highest - dim->lowest) + 1,
					   &bytes))
			return destination->size;
	}
	return bytes < destination->size ? bytes : destination->size;
}

struct collector {
	struct engine_region regions[ENGINE_MAX_REGIONS];
	uint32_t count;
};

static int collect_region(void *context, const struct engine_box *box, uint32_t loads)
{
	struct collector *collector = context;

	if (collector->count == ENGINE_MAX_REGIONS)
		return -E2BIG;
	collector->regions[collector->count++] = (struct engine_region){ *box, loads };
	return 0;
}

static void extend(struct engine_box *box, const struct engine_box *other)
{
	for (uint32_t d = 0; d < box->rank; d++) {
		struct engine_interval *dim = &box->dims[d];

		if (dim->lowest > other->dims[d].lowest)
			dim->lowest = other->dims[d].lowest;
		if (dim->highest < other->dims[d].highest)
			dim->highest = other->dims[d].highest;
	}
}

/*
 * Leaves out the regions in which nothing is stored, and what of the box they alone are in: it may
 * have more points than anybody can wait for.
 */
static void keep_stored(struct engine_plan *plan, struct collector *collector)
{
	const uint32_t count = collector->count;

	collector->count = 0;
	for (uint32_t r = 0; r < count; r++) {
		const struct engine_region *region = &collector->regions[r];

		if (!(region->loads & 1))
			continue;
		if (collector->count)
			extend(&plan->box, &region->box);
		else
			plan->box = region->box;
		collector->regions[collector->count++] = *region;
	}
	plan->is_empty = !collector->count;
}

/* Keeps the regions if they are few. Returns whether there was memory. */
static bool init_regions(struct engine_plan *plan)
{
	struct collector collector;

	/* its regions are kilobytes, which small plans need not wait for to be zeroed */
	collector.count = 0;
	if (engine_visit_regions(plan, &plan->box, collect_region, &collector))
		return true;
	keep_stored(plan, &collector);
	if (plan->is_empty)
		return true;
	plan->regions = calloc(collector.count, sizeof(plan->regions[0]));
	if (!plan->regions)
		return false;
	memcpy(plan->regions, collector.regions, collector.count * sizeof(plan->regions[0]));
	plan->num_regions = collector.count;
	return true;
}

/* Parts that are worth a thread, and enough of them that all threads end at about the same time. */
#define LEAST_PART_BYTES	(256 << 10)
#define MOST_PART_BYTES		(4 << 20)
#define MOST_PARTS		16
/* With several regions, what one has read or written is in the cache for the others. */
#define CACHED_PART_BYTES	(256 << 10)

/* The bytes of the source between the first and the last that the job may load. */
static uint64_t loaded_bytes(const struct engine_plan *plan)
{
	const struct engine_plan_operand *source = &plan->operands[1];
	uint64_t bytes = 1ull << source->size_shift;

	/* a sum of which the checks know that it is less than 2^63 */
	for (uint32_t d = 0; d < plan->box.rank; d++) {
		const struct engine_interval *dim = &plan->box.dims[d];
		int64_t stride = source->address.strides[d];

		bytes += (stride < 0 ? -(uint64_t)stride : (uint64_t)stride) *
			 (uint64_t)(dim->highest - dim->lowest);
	}
	return source->is_indirect || bytes > source->size ? source->size : bytes;
}

/* Runs that end within lines and are shorter than this are not streamed by themselves. */
#define LEAST_STREAM_BYTES	1024
/* Whether the only region is made of such runs. */
static bool has_short_runs(const struct engine_plan *plan)
{
	const int64_t size = 1 << plan->operands[0].size_shift;
	struct engine_access access;
	const struct engine_nest *nest = &access.nest;
	int64_t bytes;

	engine_access_init(&access, plan, &plan->box, plan->regions[0].loads);
	if (plan->has_program || nest->index_mask || !nest->rank ||
	    nest->streams[0].strides[nest->rank - 1] != size ||
	    nest->streams[1].strides[nest->rank - 1] != size)
		return false;
	bytes = nest->extents[nest->rank - 1] * size;
	return bytes < LEAST_STREAM_BYTES && bytes % LINE_BYTES;
}

/*
 * Whether parts are to be put together in scratch: where lines of the destination are stored in
 * pieces, by several regions or as short runs, which cannot be streamed, and the source is so small
 * that it is read from the cache.
 */
static bool wants_staging(const struct engine_plan *plan, uint64_t stored)
{
	const struct engine_plan_operand *destination = &plan->operands[0];

	return plan->streams && !destination->is_indirect && !destination->window_mask &&
	       loaded_bytes(plan) < stored / 2 &&
	       (plan->num_regions != 1 || has_short_runs(plan));
}

/* Parts of so many bytes, each of some chunks, if the plan has chunks. */
static bool init_chunks(struct engine_plan *plan, int64_t bytes)
{
	if (!engine_assemble_init(&plan->chunks, plan))
		return false;
	plan->chunks_per_part = (uint64_t)(bytes / (ENGINE_SCRATCH_BYTES / 2));
	plan->parts.count = (plan->chunks.count - 1) / plan->chunks_per_part + 1;
	return true;
}

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
	return value < least ? least : value > most ? most : value;
}

/* Has parts begin where lines of an operand do, so that each line is of one part. */
static void align_parts(struct engine_plan *plan, const struct engine_plan_operand *operand)
{
	uint64_t place = (uint64_t)operand->address.offset;

	if (operand->is_indirect)
		return;
	for (uint32_t d = 0; d < plan->box.rank; d++)
		place += (uint64_t)operand->address.strides[d] * (uint64_t)plan->box.dims[d].lowest;
	engine_parts_align(&plan->parts, &plan->box, plan->operands[0].address.strides,
			   operand->address.strides, 1 << plan->operands[0].size_shift,
			   BEYOND(operand->base, place));
}

/* Whether a plan that is cut along rows of its destination has some that begin within lines. */
static bool cuts_lines(const struct engine_plan *plan)
{
	const struct engine_plan_operand *destination = &plan->operands[0];
	const int64_t *strides = destination->address.strides;
	const struct engine_parts *parts = &plan->parts;

	if (!parts->num_dims ||
	    strides[parts->dims[parts->num_dims - 1]] != 1 << destination->size_shift)
		return false;
	for (uint32_t k = 0; k < parts->num_dims - 1; k++)
		if (strides[parts->dims[k]] % LINE_BYTES)
			return true;
	return false;
}

/*
 * Whether parts that follow each other along rows of the destination are better run as one: where
 * these begin within lines each part begins anew otherwise, with a piece of a line. Such parts can
 * only fail by being canceled, so that it makes no difference which of them does.
 */
static bool wants_merging(const struct engine_plan *plan)
{
	if (!plan->streams || plan->num_regions != 1 || plan->slides || plan->is_bordered ||
	    plan->has_program)
		return false;
	for (uint32_t k = 0; k < plan->num_operands; k++)
		if (plan->operands[k].is_indirect)
			return false;
	return cuts_lines(plan);
}

static void init_parts(struct engine_plan *plan)
{
	const struct engine_plan_operand *destination = &plan->operands[0];
	uint64_t stored = stored_bytes(plan);
	int64_t bytes = (int64_t)(stored / MOST_PARTS);
	uint64_t cache = engine_last_level_cache();
	struct engine_bordered bordered;
	struct engine_windows windows;
	int64_t most;

	plan->block_bytes = ENGINE_REPORT_BYTES;
	plan->is_far = stored > cache / 6;
	plan->overflows = stored > cache / 2;
	plan->streams = plan->overflows ||
			(stored > cache / 3 && stored + loaded_bytes(plan) > cache / 3 * 2);
	plan->slides = engine_windows_match(&windows, plan, &plan->box);
	plan->is_bordered = engine_bordered_match(&bordered, plan, &plan->box);
	most = plan->num_regions == 1 || plan->slides || plan->is_bordered ? MOST_PART_BYTES :
									     CACHED_PART_BYTES;
	plan->is_staged = !(plan->slides && windows.streams) && !plan->is_bordered &&
			  wants_staging(plan, stored) &&
			  init_chunks(plan, clamp(bytes, LEAST_PART_BYTES, MOST_PART_BYTES));
	if (plan->is_staged)
		return;
	/* without a source, a constant is stored, and operand 1 is all zeros */
	engine_parts_init(&plan->parts, &plan->box, destination->address.strides,
			  plan->operands[1].address.strides, 1 << destination->size_shift,
			  clamp(bytes, LEAST_PART_BYTES, most), false);
	align_parts(plan, &plan->operands[0]);
	if (plan->num_operands > 1)
		align_parts(plan, &plan->operands[1]);
	plan->merges_parts = wants_merging(plan);
}

/*
 * Memory to work in, where the job is large enough to gain by it: programs, and what is streamed.
 * Returns whether there was any.
 */
static bool init_scratch(struct engine_plan *plan)
{
	if (stored_bytes(plan) < 2 * LEAST_PART_BYTES || !(plan->streams || plan->has_program))
		return true;
	plan->scratch = aligned_alloc(64, sizeof(*plan->scratch));
	if (!plan->scratch)
		return false;
	plan->scratch->is_taken = 0;
	return true;
}

static struct engine_plan *new_plan(const struct engine_job *job, const struct engine_isa *isa)
{
	struct engine_plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return NULL;
	plan->isa = isa;
	init_plan(plan, job);
	if (plan->is_empty)
		return plan;
	if (!init_regions(plan))
		goto err_destroy;
	if (plan->is_empty)
		return plan;
	init_parts(plan);
	if (!init_scratch(plan))
		goto err_destroy;
	return plan;

err_destroy:
	engine_plan_destroy(plan);
	return NULL;
}

static int refuse_isa(struct engine_fault *fault)
{
	return engine_fail(fault, EINVAL, DRM_TESSERA_CAUSE_DESCRIPTOR, 0, 0,
			   "%s is \"%.32s\", expected portable, avx2 or avx512, as this CPU "
			   "has them",
			   ENGINE_ISA_VARIABLE, getenv(ENGINE_ISA_VARIABLE));
}

int engine_plan_create(const struct engine_job *job, struct engine_plan **plan,
		       struct engine_fault *fault)
{
	const struct engine_isa *isa = engine_isa_choose();
	int error = engine_check(job, fault);

	if (error)
		return error;
	if (!isa)
		return refuse_isa(fault);
	*plan = new_plan(job, isa);
	if (!*plan)
		return engine_fail(fault, ENOMEM, DRM_TESSERA_CAUSE_MEMORY, 0, 0,
				   "out of memory for a plan of %zu bytes", sizeof(**plan));
	return 0;
}

void engine_plan_destroy(struct engine_plan *plan)
{
	if (!plan)
		return;
	free(plan->scratch);
	free(plan->regions);
	free(plan);
}

/*
 * An addition that locks memory waits for all stores around the caches that are under way, which
 * took an eighth from a copy: it is there only where others add as well.
 */
void engine_run_tell(struct engine_run *run)
{
	uint64_t *progress = run->control ? run->control->progress : NULL;

	if (progress && run->is_one_of_many)
		__atomic_fetch_add(progress, run->unreported, __ATOMIC_RELAXED);
	else if (progress)
		__atomic_store_n(progress, *progress + run->unreported, __ATOMIC_RELAXED);
	run->unreported = 0;
}

int engine_run_report(struct engine_run *run)
{
	const struct engine_control *control = run->control;

	engine_run_tell(run);
	if (!control || !control->cancel || !__atomic_load_n(control->cancel, __ATOMIC_RELAXED) ||
	    (control->may_go_on && control->may_go_on(control->context)))
		return 0;
	return engine_fail(run->fault, ECANCELED, DRM_TESSERA_CAUSE_CANCELED, 0, 0,
			   "the job was canceled");
}

/* An engine_visit() whose context is the run. */
static int run_region(void *context, const struct engine_box *box, uint32_t loads)
{
	struct engine_run *run = context;

	if (!(loads & 1))
		return engine_run_advance(run, 1);
	return run->plan->has_program ? engine_run_program(run, box, loads) :
					engine_run_move(run, box, loads);
}

/* Leaves in box what is in both. Returns false where that is nothing. */
static bool intersect(struct engine_box *box, const struct engine_box *other)
{
	for (uint32_t d = 0; d < box->rank; d++) {
		struct engine_interval *dim = &box->dims[d];

		if (dim->lowest < other->dims[d].lowest)
			dim->lowest = other->dims[d].lowest;
		if (dim->highest > other->dims[d].highest)
			dim->highest = other->dims[d].highest;
		if (dim->lowest > dim->highest)
			return false;
	}
	return true;
}

int engine_run_box(struct engine_run *run, const struct engine_box *box)
{
	const struct engine_plan *plan = run->plan;
	struct engine_bordered bordered;
	struct engine_windows windows;

	if (plan->is_bordered && engine_bordered_match(&bordered, plan, box))
		return engine_bordered_run(run, &bordered);
	if (plan->slides && engine_windows_match(&windows, plan, box))
		return engine_windows_run(run, &windows);
	if (!plan->num_regions)
		return engine_visit_regions(plan, box, run_region, run);
	for (uint32_t r = 0; r < plan->num_regions; r++) {
		struct engine_box common = plan->regions[r].box;
		int error;

		if (!intersect(&common, box))
			continue;
		error = run_region(run, &common, plan->regions[r].loads);
		if (error)
			return error;
	}
	return 0;
}

static int run_chunks(struct engine_run *run, uint64_t part)
{
	const struct engine_plan *plan = run->plan;
	const uint64_t first = part * plan->chunks_per_part;
	const uint64_t end = plan->chunks.count - first < plan->chunks_per_part ?
			     plan->chunks.count : first + plan->chunks_per_part;
	int error = 0;

	if (run->scratch)
		return engine_assemble(run, first, end);
	for (uint64_t chunk = first; chunk < end && !error; chunk++) {
		struct engine_box box;

		engine_parts_box(&plan->chunks, &plan->box, chunk, &box);
		error = engine_run_box(run, &box);
	}
	return error;
}

static int run_boxes(struct engine_run *run, uint64_t part, uint64_t most, uint64_t *num_run)
{
	const struct engine_plan *plan = run->plan;
	struct engine_box box;

	*num_run = engine_parts_merge(&plan->parts, &plan->box, part,
				      plan->merges_parts ? most : 1, &box);
	return engine_run_box(run, &box);
}

int engine_run_parts(struct engine_run *run, uint64_t part, uint64_t most, uint64_t *num_run)
{
	const struct engine_plan *plan = run->plan;
	int error;

	*num_run = 1;
	error = plan->is_staged ? run_chunks(run, part) : run_boxes(run, part, most, num_run);
	if (plan->streams)
		plan->isa->copy->end_streams();
	return error;
}

void engine_run_take_scratch(struct engine_run *run)
{
	struct engine_scratch *scratch = run->plan->scratch;
	uint32_t is_taken = 0;

	/* pairs with the release below: what the run before did with it is over */
	if (scratch && __atomic_compare_exchange_n(&scratch->is_taken, &is_taken, 1, false,
						   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		run->scratch = scratch->bytes;
}

void engine_run_release_scratch(struct engine_run *run)
{
	if (run->scratch)
		__atomic_store_n(&run->plan->scratch->is_taken, 0, __ATOMIC_RELEASE);
	run->scratch = NULL;
}

int engine_plan_run(const struct engine_plan *plan, const struct engine_control *control,
		    struct engine_fault *fault)
{
	struct engine_run run = { .plan = plan, .control = control, .fault = fault };
	uint64_t num_run;
	int error;

	if (plan->is_empty)
		return 0;
	engine_run_take_scratch(&run);
	error = engine_run_report(&run);
	for (uint64_t part = 0; part < plan->parts.count && !error; part += num_run)
		error = engine_run_parts(&run, part, plan->parts.count - part, &num_run);
	engine_run_release_scratch(&run);
	engine_run_tell(&run);
	return error;
}
