// SPDX-License-Identifier: MIT
/*
 * Loops become jobs. Loops that run on are merged; what is beyond the rank or the windows of a job
 * is sliced; what is left is checked as the device will check it: every sum fits, and every address
 * is proved to stay where the nest's own expressions are known to stay.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/bounds.h"
#include "layout/sum.h"
#include "lower/nest_attempt.h"

/* Sets of windows that are tried for a proof. */
#define MAX_WINDOW_SETS	64

/* Merging and ordering ------------------------------------------------------------------------ */

/* Loops go upwards where the destination, or else the first stream that moves, goes down. */
static int turn_upwards(struct nest_space *space)
{
	int code = 0;

	for (uint32_t l = 0; l < space->num_loops && !code; l++) {
		uint32_t v = space->loops[l], s = 0;
		struct nest_form turned;

		while (s + 1 < NEST_MAX_STREAMS && !space->streams[s].coefficients[v])
			s++;
		if (space->streams[s].coefficients[v] >= 0)
			continue;
		nest_form_init(&turned, space->variables[v].range.max);
		turned.coefficients[v] = -1;
		code = nest_substitute(space, v, &turned);
	}
	return code;
}

static bool runs_on_in(const struct nest_form *form, uint32_t outer, uint32_t inner, int64_t extent)
{
	int64_t run;

	return !__builtin_mul_overflow(form->coefficients[inner], extent, &run) &&
	       run == form->coefficients[outer];
}

static bool runs_on(const struct nest_space *space, uint32_t outer, uint32_t inner)
{
	int64_t extent = nest_extent(&space->variables[inner]);

	for (uint32_t s = 0; s < NEST_MAX_STREAMS; s++)
		if (!runs_on_in(&space->streams[s], outer, inner, extent))
			return false;
	for (uint32_t c = 0; c < space->num_constraints; c++)
		if (!runs_on_in(&space->constraints[c].value, outer, inner, extent))
			return false;
	return true;
}

/* outer and inner become one loop, in the place of inner. */
static bool merge_loops(struct nest_space *space, uint32_t outer, uint32_t inner)
{
	int64_t extent;

	if (!runs_on(space, outer, inner) ||
	    __builtin_mul_overflow(nest_extent(&space->variables[outer]),
				   nest_extent(&space->variables[inner]), &extent))
		return false;
	space->variables[inner].range.max = extent - 1;
	/* The inner loop says all: nothing is left of the outer one. */
	return !nest_fix(space, outer, 0);
}

static bool merge_any(struct nest_space *space, bool keeps_order)
{
	for (uint32_t outer = 0; outer < space->num_loops; outer++) {
		for (uint32_t inner = 0; inner < space->num_loops; inner++) {
			if (outer == inner || (keeps_order && inner != outer + 1))
				continue;
			if (merge_loops(space, space->loops[outer], space->loops[inner]))
				return true;
		}
	}
	return false;
}

/* Whether loop a goes outside of b: larger steps in the destination, or in the next stream. */
static bool is_outer(const struct nest_space *space, uint32_t a, uint32_t b)
{
	for (uint32_t s = 0; s < NEST_MAX_STREAMS; s++) {
		uint64_t of_a = magnitude(space->streams[s].coefficients[a]);
		uint64_t of_b = magnitude(space->streams[s].coefficients[b]);

		if (of_a != of_b)
			return of_a > of_b;
	}
	return false;
}

static void sort_loops(struct nest_space *space)
{
	for (uint32_t sorted = 1; sorted < space->num_loops; sorted++) {
		uint32_t v = space->loops[sorted], l = sorted;

		for (; l > 0 && is_outer(space, v, space->loops[l - 1]); l--)
			space->loops[l] = space->loops[l - 1];
		space->loops[l] = v;
	}
}

/* Nothing is loaded from these: they have no address. */
static void clear_never_loaded(struct nest_space *space)
{
	for (uint32_t k = 0; k < space->num_operands; k++) {
		if (!(space->never_loaded >> k & 1))
			continue;
		nest_form_init(&space->streams[k], 0);
		nest_form_init(&space->streams[NEST_MAX_OPERANDS + k], 0);
		space->tables[k] = 0;
	}
}

static int canonicalize(struct nest_attempt *attempt, struct nest_space *space)
{
	bool keeps_order = attempt->nest->keeps_order;
	int code = nest_tighten(space);

	if (!code)
		code = nest_normalize_loops(space);
	if (code)
		return nest_failed(attempt, code, "loops");
	clear_never_loaded(space);
	if (!keeps_order)
		code = turn_upwards(space);
	if (code)
		return nest_failed(attempt, code, "loops");
	while (merge_any(space, keeps_order))
		;
	if (!keeps_order)
		sort_loops(space);
	return 0;
}

/* A job ---------------------------------------------------------------------------------------- */

static void set_affine(const struct nest_space *space, const struct nest_form *form,
		       struct accel_affine *affine)
{
	affine->offset = form->constant;
	for (uint32_t l = 0; l < space->num_loops; l++)
		affine->strides[l] = form->coefficients[space->loops[l]];
}

static void set_operand(const struct nest_attempt *attempt, const struct nest_space *space,
			uint32_t k, struct nest_job *job)
{
	const struct lower_operand *from = &attempt->nest->operands[k];
	struct accel_plan_operand *operand = &job->job.operands[k];

	operand->slot = from->slot;
	operand->dtype = from->dtype;
	memcpy(operand->fill, from->fill, sizeof(operand->fill));
	set_affine(space, &space->streams[k], &operand->address);
	job->tables[k] = space->tables[k];
	operand->is_indirect = space->tables[k] ||
			       (from->is_indirect && !(space->never_loaded >> k & 1));
	if (!operand->is_indirect)
		return;
	set_affine(space, &space->streams[NEST_MAX_OPERANDS + k], &operand->index_address);
	if (space->tables[k])
		return;
	operand->index_slot = from->index_slot;
	operand->index_dtype = from->index_dtype;
	operand->index_stride = from->index_stride;
	operand->index_limit = from->index_limit;
}

static void set_windows(const struct nest_space *space, struct accel_plan_job *job)
{
	for (uint32_t c = 0; c < space->num_constraints; c++) {
		const struct nest_constraint *constraint = &space->constraints[c];
		struct accel_window *window = &job->windows[job->num_windows];

		set_affine(space, &constraint->value, &window->value);
		window->limit = (uint64_t)constraint->limit;
		for (uint32_t k = 0; k < job->num_operands; k++)
			if (constraint->operands >> k & 1)
				job->operands[k].window_mask |= 1u << job->num_windows;
		job->num_windows++;
	}
	if (!space->never_loaded)
		return;
	/* A window with a limit of 0 holds nowhere. */
	for (uint32_t k = 0; k < job->num_operands; k++)
		if (space->never_loaded >> k & 1)
			job->operands[k].window_mask = 1u << job->num_windows;
	job->num_windows++;
}

static int add_job(struct nest_attempt *attempt, struct nest_job **job)
{
	if (attempt->num_jobs == ACCEL_MAX_JOBS)
		return accel_error_set(&attempt->error, -E2BIG,
				       "more than %d jobs, the most of a submission",
				       ACCEL_MAX_JOBS);
	if (attempt->num_jobs == attempt->max_jobs) {
		uint32_t max = attempt->max_jobs ? 4 * attempt->max_jobs : 1;
		struct nest_job *jobs = realloc(attempt->jobs, max * sizeof(*jobs));

		if (!jobs)
			return accel_error_set(&attempt->error, -ENOMEM, "jobs: out of memory");
		attempt->jobs = jobs;
		attempt->max_jobs = max;
	}
	*job = &attempt->jobs[attempt->num_jobs++];
	memset(*job, 0, sizeof(**job));
	return 0;
}

/* Checks --------------------------------------------------------------------------------------- */

static struct drm_tessera_affine to_engine(const struct accel_affine *affine)
{
	struct drm_tessera_affine result = { .offset = affine->offset };

	for (uint32_t d = 0; d < ACCEL_MAX_RANK; d++)
		result.strides[d] = affine->strides[d];
	return result;
}

static int check_fits(struct nest_attempt *attempt, const struct accel_plan_job *job,
		      const struct accel_affine *affine, const char *owner, const char *field)
{
	struct drm_tessera_affine of_engine = to_engine(affine);

	if (engine_affine_fits(&of_engine, job->rank, job->extents))
		return 0;
	return accel_error_set(&attempt->error, -EOVERFLOW, "%s: %s does not fit 64 bits", owner,
			       field);
}

static int check_sums(struct nest_attempt *attempt, const struct accel_plan_job *job)
{
	int64_t points = 1;
	int code = 0;

	for (uint32_t d = 0; d < job->rank; d++)
		if (__builtin_mul_overflow(points, job->extents[d], &points))
			return accel_error_set(&attempt->error, -EOVERFLOW,
					       "the product of extents does not fit 63 bits");
	for (uint32_t w = 0; w < job->num_windows && !code; w++)
		code = check_fits(attempt, job, &job->windows[w].value, "a window", "value");
	for (uint32_t k = 0; k < job->num_operands && !code; k++) {
		code = check_fits(attempt, job, &job->operands[k].address, nest_operand_name(k),
				  "address");
		if (!code)
			code = check_fits(attempt, job, &job->operands[k].index_address,
					  nest_operand_name(k), "index_address");
	}
	return code;
}

/* Where the device proves operand k's address, or its index's, to stay. */
static struct engine_interval reach(const struct accel_plan_job *job, uint32_t k,
				    const struct drm_tessera_window *windows, uint32_t mask)
{
	const struct accel_plan_operand *operand = &job->operands[k];
	struct drm_tessera_affine address = to_engine(operand->is_indirect ?
						      &operand->index_address : &operand->address);
	struct engine_box box;

	engine_box_init(&box, job->rank, job->extents);
	if (!engine_box_tighten(&box, windows, mask))
		return (struct engine_interval){ 0, -1 };
	return engine_bounds(&address, &box, windows, mask);
}

static bool is_inside(struct engine_interval reach, struct interval target)
{
	return reach.lowest > reach.highest ||
	       (reach.lowest >= target.min && reach.highest <= target.max);
}

/* A table is ours: it gets the entries that the proof wants. */
static void widen_table(struct nest_table *table, struct engine_interval reach)
{
	if (reach.lowest < 0 && (uint64_t)-reach.lowest > table->before)
		table->before = (uint64_t)-reach.lowest;
	if (reach.highest >= (int64_t)(table->count + table->behind))
		table->behind = (uint64_t)reach.highest + 1 - table->count;
}

/* What is known of a job while it is proved. */
struct proof {
	struct nest_job *job;
	struct drm_tessera_window windows[ACCEL_MAX_WINDOWS];
	uint32_t of_all;	/* windows of the destination */
	uint32_t implied;	/* windows that hold where the others do */
};

/* The next subset of a set after this one: downward, from the set itself to none. */
static uint32_t next_subset(uint32_t subset, uint32_t set)
{
	return (subset - 1) & set;
}

/*
 * Finds windows for an operand with which its bounds are proved. The rule can be worse with a
 * window than without, and some need not be there: those that others imply, and of a source those
 * of the destination, as nothing is read where they fail.
 */
static bool find_windows(const struct proof *proof, uint32_t k, struct interval target)
{
	struct accel_plan_operand *operand = &proof->job->job.operands[k];
	uint32_t needless = operand->window_mask & (proof->implied | (k ? proof->of_all : 0));
	uint32_t needed = operand->window_mask & ~needless;
	uint32_t wanted = operand->window_mask & ~proof->implied, subset = needless, tries;

	if (is_inside(reach(&proof->job->job, k, proof->windows, wanted), target)) {
		operand->window_mask = wanted;
		return true;
	}
	for (tries = 0; tries < MAX_WINDOW_SETS; tries++) {
		if (is_inside(reach(&proof->job->job, k, proof->windows, needed | subset),
			      target)) {
			operand->window_mask = needed | subset;
			return true;
		}
		if (!subset)
			break;
		subset = next_subset(subset, needless);
	}
	return false;
}

static bool prove_operand(struct nest_attempt *attempt, const struct nest_space *space,
			  const struct proof *proof, uint32_t k)
{
	struct accel_plan_operand *operand = &proof->job->job.operands[k];
	struct interval target = space->targets[operand->is_indirect ? NEST_MAX_OPERANDS + k : k];
	uint32_t table = proof->job->tables[k];

	if (find_windows(proof, k, target))
		return true;
	if (!table)
		return false;
	widen_table(&attempt->tables[table - 1],
		    reach(&proof->job->job, k, proof->windows, operand->window_mask));
	return true;
}

/* The range of b's value where a holds, if a is a multiple of b plus something else. */
static bool range_within(const struct nest_space *space, const struct nest_constraint *a,
			 const struct nest_constraint *b, struct interval *range)
{
	struct nest_form rest = a->value;
	int64_t factor = 0;

	for (uint32_t v = 0; v < space->num_variables && !factor; v++)
		if (b->value.coefficients[v])
			factor = a->value.coefficients[v] / b->value.coefficients[v];
	if (!factor || factor == INT64_MIN || nest_form_add(&rest, &b->value, -factor))
		return false;
	*range = nest_form_range(space, &rest);
	if (end_is_infinite(range->min) || end_is_infinite(range->max))
		return false;
	/* 0 <= factor * b + rest < limit */
	*range = factor > 0 ?
		(struct interval){ (int64_t)engine_ceiling_divide(-(__int128)range->max, factor),
				   (int64_t)engine_floor_divide((__int128)a->limit - 1 - range->min,
								factor) } :
		(struct interval){ (int64_t)engine_ceiling_divide((__int128)a->limit - 1 -
								  range->min, factor),
				   (int64_t)engine_floor_divide(-(__int128)range->max, factor) };
	return true;
}

/* Windows are the constraints in their order. Two that imply each other do not both count. */
static uint32_t implied_windows(const struct nest_space *space)
{
	uint32_t implied = 0;

	for (uint32_t b = 0; b < space->num_constraints; b++) {
		for (uint32_t a = 0; a < space->num_constraints; a++) {
			struct interval range;

			if (a == b || (implied >> a & 1) ||
			    (space->constraints[b].operands & ~space->constraints[a].operands) ||
			    !range_within(space, &space->constraints[a], &space->constraints[b],
					  &range) ||
			    range.min < 0 || range.max >= space->constraints[b].limit)
				continue;
			implied |= 1u << b;
			break;
		}
	}
	return implied;
}

/* Takes out the windows that no operand has. */
static void drop_windows(struct accel_plan_job *job)
{
	uint32_t used = 0, kept = 0;

	for (uint32_t k = 0; k < job->num_operands; k++)
		used |= job->operands[k].window_mask;
	for (uint32_t w = 0; w < job->num_windows; w++) {
		if (!(used >> w & 1))
			continue;
		for (uint32_t k = 0; k < job->num_operands && kept != w; k++) {
			uint32_t *mask = &job->operands[k].window_mask;

			*mask = (*mask & ~(1u << w)) | (*mask >> w & 1) << kept;
		}
		job->windows[kept++] = job->windows[w];
	}
	memset(&job->windows[kept], 0, (job->num_windows - kept) * sizeof(job->windows[0]));
	job->num_windows = kept;
}

static int prove(struct nest_attempt *attempt, const struct nest_space *space,
		 struct nest_job *job)
{
	struct proof proof = {
		.job = job,
		.of_all = job->job.operands[0].window_mask,
		.implied = implied_windows(space),
	};
	bool is_unproved = false;

	for (uint32_t w = 0; w < job->job.num_windows; w++) {
		proof.windows[w].value = to_engine(&job->job.windows[w].value);
		proof.windows[w].limit = job->job.windows[w].limit;
	}
	for (uint32_t k = 0; k < job->job.num_operands; k++) {
		if (!job->job.operands[k].window_mask || prove_operand(attempt, space, &proof, k))
			continue;
		attempt->unproved |= 1u << k;
		is_unproved = true;
	}
	drop_windows(&job->job);
	return is_unproved ? NEST_UNPROVED : 0;
}

static int make_job(struct nest_attempt *attempt, const struct nest_space *space)
{
	const struct lower_nest *nest = attempt->nest;
	struct nest_job *job = NULL;
	int code = add_job(attempt, &job);

	if (code)
		return code;
	job->job.rank = space->num_loops;
	for (uint32_t l = 0; l < space->num_loops; l++)
		job->job.extents[l] = (uint64_t)nest_extent(&space->variables[space->loops[l]]);
	job->job.num_operands = nest->num_operands;
	for (uint32_t k = 0; k < nest->num_operands; k++)
		set_operand(attempt, space, k, job);
	set_windows(space, &job->job);
	job->job.num_instructions = nest->num_instructions;
	memcpy(job->job.program, nest->program,
	       nest->num_instructions * sizeof(nest->program[0]));
	code = check_sums(attempt, &job->job);
	if (code || !job->job.num_windows)
		return code;
	return prove(attempt, space, job);
}

/* Slices --------------------------------------------------------------------------------------- */

static int emit(struct nest_attempt *attempt, struct nest_space *space);

/* Emits the part of a space where loop v is in the range. */
static int emit_part(struct nest_attempt *attempt, const struct nest_space *space, uint32_t v,
		     struct interval range)
{
	struct nest_space *part = nest_space_copy(space);
	int code;

	if (!part)
		return accel_error_set(&attempt->error, -ENOMEM, "slices: out of memory");
	part->variables[v].range = range;
	code = emit(attempt, part);
	nest_space_release(part);
	free(part);
	return code;
}

static int emit_each_value(struct nest_attempt *attempt, const struct nest_space *space, uint32_t v)
{
	int code = 0;

	for (int64_t i = 0; i <= space->variables[v].range.max && !code; i++)
		code = emit_part(attempt, space, v, (struct interval){ i, i });
	return code;
}

/* The shortest loop that has a coefficient in some form of the mask, the outermost of equals. */
static uint32_t shortest_loop(const struct nest_space *space, uint64_t loops)
{
	uint32_t best = NEST_MAX_VARIABLES;

	for (uint32_t l = 0; l < space->num_loops; l++) {
		uint32_t v = space->loops[l];

		if ((loops >> v & 1) &&
		    (best == NEST_MAX_VARIABLES ||
		     nest_extent(&space->variables[v]) < nest_extent(&space->variables[best])))
			best = v;
	}
	return best;
}

/* How many jobs it takes to slice the shortest loops until a job has room for the others. */
static uint64_t count_slices(const struct nest_space *space)
{
	uint64_t loops = UINT64_MAX, slices = 1;

	for (uint32_t l = ACCEL_MAX_RANK; l < space->num_loops; l++) {
		uint32_t v = shortest_loop(space, loops);
		uint64_t extent = (uint64_t)nest_extent(&space->variables[v]);

		if (extent > ACCEL_MAX_JOBS || slices * extent > ACCEL_MAX_JOBS)
			return ACCEL_MAX_JOBS + 1;
		slices *= extent;
		loops &= ~((uint64_t)1 << v);
	}
	return slices;
}

static int slice_for_rank(struct nest_attempt *attempt, const struct nest_space *space)
{
	uint32_t v = shortest_loop(space, UINT64_MAX);

	if (count_slices(space) > ACCEL_MAX_JOBS)
		return accel_error_set(&attempt->error, -E2BIG,
			"%u loops, a job has at most %d; sliced, they would be more than %d jobs",
			space->num_loops, ACCEL_MAX_RANK, ACCEL_MAX_JOBS);
	nest_note(attempt, "axis %s is sliced, %lld values: %u loops, a job has at most %d",
		  attempt->nest->axes[space->variables[v].axis].name,
		  (long long)nest_extent(&space->variables[v]), space->num_loops, ACCEL_MAX_RANK);
	return emit_each_value(attempt, space, v);
}

/* The loop of a constraint that is over one loop alone, or NEST_MAX_VARIABLES. */
static uint32_t single_loop(const struct nest_space *space,
			    const struct nest_constraint *constraint)
{
	uint32_t single = NEST_MAX_VARIABLES;

	for (uint32_t v = 0; v < space->num_variables; v++) {
		if (!constraint->value.coefficients[v])
			continue;
		if (single != NEST_MAX_VARIABLES)
			return NEST_MAX_VARIABLES;
		single = v;
	}
	return single;
}

/* The first value of loop v after i at which a constraint over v alone begins or ends to hold. */
static int64_t next_boundary(const struct nest_space *space, uint32_t v, int64_t i)
{
	int64_t next = space->variables[v].range.max + 1;

	for (uint32_t c = 0; c < space->num_constraints; c++) {
		const struct nest_constraint *constraint = &space->constraints[c];
		/* Constraints are reduced: the coefficient is 1 or -1. */
		__int128 bias = constraint->value.constant, ends[2];

		if (single_loop(space, constraint) != v)
			continue;
		ends[0] = constraint->value.coefficients[v] > 0 ? -bias :
								  bias - constraint->limit + 1;
		ends[1] = ends[0] + constraint->limit;
		for (uint32_t e = 0; e < 2; e++)
			if (ends[e] > i && ends[e] < next)
				next = (int64_t)ends[e];
	}
	return next;
}

/* The loop that the most constraints are over alone; 0 constraints: NEST_MAX_VARIABLES. */
static uint32_t most_constrained_loop(const struct nest_space *space)
{
	uint32_t counts[NEST_MAX_VARIABLES + 1] = { 0 }, best = NEST_MAX_VARIABLES;

	for (uint32_t c = 0; c < space->num_constraints; c++)
		counts[single_loop(space, &space->constraints[c])]++;
	counts[NEST_MAX_VARIABLES] = 0;
	for (uint32_t v = 0; v < NEST_MAX_VARIABLES; v++)
		if (counts[v] > counts[best])
			best = v;
	return best;
}

/* Cuts a loop where its constraints begin and end to hold: each part has none of them. */
static int slice_for_windows(struct nest_attempt *attempt, const struct nest_space *space)
{
	uint32_t v = most_constrained_loop(space);
	uint64_t loops = 0;
	int64_t first = 0, next;
	int code = 0;

	for (uint32_t c = 0; c < space->num_constraints; c++)
		for (uint32_t l = 0; l < space->num_loops; l++)
			if (space->constraints[c].value.coefficients[space->loops[l]])
				loops |= (uint64_t)1 << space->loops[l];
	if (v == NEST_MAX_VARIABLES)
		v = shortest_loop(space, loops);
	nest_note(attempt, "axis %s is sliced: %u windows, a job has at most %d",
		  attempt->nest->axes[space->variables[v].axis].name, space->num_constraints,
		  ACCEL_MAX_WINDOWS);
	if (most_constrained_loop(space) == NEST_MAX_VARIABLES)
		return emit_each_value(attempt, space, v);
	for (; first <= space->variables[v].range.max && !code; first = next) {
		next = next_boundary(space, v, first);
		code = emit_part(attempt, space, v, (struct interval){ first, next - 1 });
	}
	return code;
}

static int emit(struct nest_attempt *attempt, struct nest_space *space)
{
	int code = canonicalize(attempt, space);

	if (code)
		return code == NEST_EMPTY ? 0 : code;
	if (space->num_loops > ACCEL_MAX_RANK)
		return slice_for_rank(attempt, space);
	if (space->num_constraints + !!space->never_loaded > ACCEL_MAX_WINDOWS)
		return slice_for_windows(attempt, space);
	return make_job(attempt, space);
}

int nest_emit(struct nest_attempt *attempt)
{
	return emit(attempt, &attempt->space);
}
