// SPDX-License-Identifier: MIT
/*
 * Whether stores collide, and whether the destination overlaps a source other than in place. Both
 * ask whether a point of a box satisfies linear inequalities over integers: that is searched for by
 * narrowing the box to what each inequality allows, then trying the values of one variable after
 * the other, that with the largest coefficient first. The search gives up after so many tries, and
 * then nothing is said: what can be decided quickly is what people get wrong.
 */
#include <errno.h>
#include <stddef.h>

#include "bounds.h"
#include "dtype.h"
#include "check.h"
#include "fault.h"

/* Two points: a variable for each loop and point, or for the difference and one point. */
#define MAX_VARIABLES		(2 * DRM_TESSERA_MAX_RANK)
/* The bytes, the loops of the second point, and the windows of up to three operands. */
#define MAX_CONSTRAINTS		(1 + DRM_TESSERA_MAX_RANK + 3 * DRM_TESSERA_MAX_WINDOWS)
/*
 * How often a constraint is applied for one question, and for all questions of a job. A constraint
 * of 16 variables takes some microseconds.
 */
#define MAX_EFFORT		16384
#define MAX_JOB_EFFORT		65536

/* lowest <= sum_v coefficients[v] * x_v <= highest */
struct constraint {
	int64_t coefficients[MAX_VARIABLES];
	__int128 lowest;
	__int128 highest;
};

/* Constraint 0 is that bytes meet. */
struct system {
	uint32_t num_variables;
	uint32_t num_constraints;
	uint32_t effort;	/* left for this question */
	uint32_t job_effort;	/* left for this one and those to come */
	struct engine_interval variables[MAX_VARIABLES];
	struct constraint constraints[MAX_CONSTRAINTS];
};

/* The values that the variables have left. */
struct domains {
	struct engine_interval variables[MAX_VARIABLES];
};

static __int128 magnitude(__int128 value)
{
	return value < 0 ? -value : value;
}

static bool is_fixed(const struct engine_interval *variable)
{
	return variable->lowest == variable->highest;
}

/* The extremes of coefficient * x. */
static __int128 least(int64_t coefficient, const struct engine_interval *x)
{
	return (__int128)coefficient * (coefficient < 0 ? x->highest : x->lowest);
}

static __int128 most(int64_t coefficient, const struct engine_interval *x)
{
	return (__int128)coefficient * (coefficient < 0 ? x->lowest : x->highest);
}

/* Narrows x to lowest <= coefficient * x <= highest. Returns false when nothing is left. */
static bool narrow(struct engine_interval *x, int64_t coefficient, __int128 lowest,
		   __int128 highest)
{
	__int128 first = engine_ceiling_divide(coefficient < 0 ? highest : lowest, coefficient);
	__int128 last = engine_floor_divide(coefficient < 0 ? lowest : highest, coefficient);

	if (first > x->highest || last < x->lowest)
		return false;
	if (first > x->lowest)
		x->lowest = (int64_t)first;
	if (last < x->highest)
		x->highest = (int64_t)last;
	return x->lowest <= x->highest;
}

static bool narrow_by(const struct system *system, const struct constraint *constraint,
		      struct domains *domains)
{
	__int128 lowest = 0, highest = 0;

	for (uint32_t v = 0; v < system->num_variables; v++) {
		lowest += least(constraint->coefficients[v], &domains->variables[v]);
		highest += most(constraint->coefficients[v], &domains->variables[v]);
	}
	if (lowest > constraint->highest || highest < constraint->lowest)
		return false;
	for (uint32_t v = 0; v < system->num_variables; v++) {
		int64_t coefficient = constraint->coefficients[v];
		struct engine_interval *x = &domains->variables[v];
		__int128 rest_lowest = lowest - least(coefficient, x);
		__int128 rest_highest = highest - most(coefficient, x);

		if (!coefficient)
			continue;
		if (!narrow(x, coefficient, constraint->lowest - rest_highest,
			    constraint->highest - rest_lowest))
			return false;
		lowest = rest_lowest + least(coefficient, x);
		highest = rest_highest + most(coefficient, x);
	}
	return true;
}

static __int128 greatest_common_divisor(__int128 a, __int128 b)
{
	while (b) {
		__int128 rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Whether the steps that are left can hit the constraint at all. */
static bool divides(const struct system *system, const struct constraint *constraint,
		    const struct domains *domains)
{
	__int128 divisor = 0, fixed = 0;

	for (uint32_t v = 0; v < system->num_variables; v++) {
		int64_t coefficient = constraint->coefficients[v];

		fixed += (__int128)coefficient * domains->variables[v].lowest;
		if (!is_fixed(&domains->variables[v]))
			divisor = greatest_common_divisor(magnitude(coefficient), divisor);
	}
	if (!divisor)
		return fixed >= constraint->lowest && fixed <= constraint->highest;
	return engine_ceiling_divide(constraint->lowest - fixed, divisor) <=
	       engine_floor_divide(constraint->highest - fixed, divisor);
}

static bool narrow_all(const struct system *system, struct domains *domains)
{
	for (int round = 0; round < 2; round++)
		for (uint32_t c = 0; c < system->num_constraints; c++)
			if (!narrow_by(system, &system->constraints[c], domains))
				return false;
	for (uint32_t c = 0; c < system->num_constraints; c++)
		if (!divides(system, &system->constraints[c], domains))
			return false;
	return true;
}

/* The variable to try next, or num_variables when all have a value. */
static uint32_t next_variable(const struct system *system, const struct domains *domains)
{
	const int64_t *coefficients = system->constraints[0].coefficients;
	uint32_t best = system->num_variables;

	for (uint32_t v = 0; v < system->num_variables; v++) {
		if (is_fixed(&domains->variables[v]))
			continue;
		if (best == system->num_variables ||
		    magnitude(coefficients[v]) > magnitude(coefficients[best]))
			best = v;
	}
	return best;
}

/* Accounts for a try. Returns false when that was the last. */
static bool spend(struct system *system)
{
	if (system->effort < system->num_constraints)
		return false;
	system->effort -= system->num_constraints;
	return true;
}

/* Each level gives one variable a value: the depth is at most their number. */
static bool search(struct system *system, const struct domains *from)
{
	struct domains domains = *from;
	uint32_t v;

	if (!spend(system) || !narrow_all(system, &domains))
		return false;
	v = next_variable(system, &domains);
	if (v == system->num_variables)
		return true;
	for (int64_t x = domains.variables[v].lowest; x <= domains.variables[v].highest; x++) {
		struct domains chosen = domains;

		chosen.variables[v] = (struct engine_interval){ x, x };
		if (search(system, &chosen))
			return true;
		if (system->effort < system->num_constraints)
			return false;
	}
	return false;
}

/* Whether the variable stands in constraint 0 alone. */
static bool is_free(const struct system *system, uint32_t v)
{
	for (uint32_t c = 1; c < system->num_constraints; c++)
		if (system->constraints[c].coefficients[v])
			return false;
	return true;
}

static void remove_variable(struct system *system, uint32_t v)
{
	uint32_t last = --system->num_variables;

	system->variables[v] = system->variables[last];
	for (uint32_t c = 0; c < system->num_constraints; c++) {
		int64_t *coefficients = system->constraints[c].coefficients;

		coefficients[v] = coefficients[last];
		coefficients[last] = 0;
	}
}

/*
 * k * x + y takes every value between its extremes when y has at least abs(k) values: then the two
 * are one variable. This is what makes the search short: most loops run on into others.
 */
static bool join(struct system *system, uint32_t x, uint32_t y)
{
	const int64_t *coefficients = system->constraints[0].coefficients;
	struct engine_interval *of_x = &system->variables[x], *of_y = &system->variables[y];
	__int128 factor, lowest, highest;

	if (!coefficients[y] || coefficients[x] % (__int128)coefficients[y])
		return false;
	factor = (__int128)coefficients[x] / coefficients[y];
	if ((__int128)of_y->highest - of_y->lowest + 1 < magnitude(factor))
		return false;
	lowest = factor * (factor < 0 ? of_x->highest : of_x->lowest) + of_y->lowest;
	highest = factor * (factor < 0 ? of_x->lowest : of_x->highest) + of_y->highest;
	/* room for the arithmetic of the search */
	if (lowest < INT64_MIN / 4 || highest > INT64_MAX / 4)
		return false;
	*of_y = (struct engine_interval){ (int64_t)lowest, (int64_t)highest };
	remove_variable(system, x);
	return true;
}

static bool join_any(struct system *system)
{
	for (uint32_t x = 0; x < system->num_variables; x++) {
		if (!is_free(system, x))
			continue;
		for (uint32_t y = 0; y < system->num_variables; y++)
			if (x != y && is_free(system, y) && join(system, x, y))
				return true;
	}
	return false;
}

static bool is_satisfiable(struct system *system)
{
	uint32_t effort = system->job_effort < MAX_EFFORT ? system->job_effort : MAX_EFFORT;
	struct domains domains;
	bool is_found;

	while (join_any(system))
		;
	for (uint32_t v = 0; v < system->num_variables; v++)
		domains.variables[v] = system->variables[v];
	system->effort = effort;
	is_found = search(system, &domains);
	system->job_effort -= effort - system->effort;
	return is_found;
}

/* A coefficient; one of a loop of one point makes no difference, and may be too large to negate. */
static int64_t step(const struct engine_job *job, const struct drm_tessera_affine *affine,
		    uint32_t d)
{
	return job->extents[d] == 1 ? 0 : affine->strides[d];
}

static struct constraint *add_constraint(struct system *system)
{
	struct constraint *constraint = &system->constraints[system->num_constraints++];

	*constraint = (struct constraint){ 0 };
	return constraint;
}

static bool holds_everywhere(const struct drm_tessera_window *window, const struct engine_box *box)
{
	struct engine_interval value = engine_affine_range(&window->value, box);

	return value.lowest >= 0 && value.highest < (int64_t)window->limit;
}

/* The windows in mask that do not hold in all of the box. */
static uint32_t open_windows(const struct engine_job *job, uint32_t mask,
			     const struct engine_box *box)
{
	uint32_t open = 0;

	for (uint32_t w = 0; w < job->num_windows; w++)
		if ((mask >> w & 1) && !holds_everywhere(&job->windows[w], box))
			open |= 1u << w;
	return open;
}

/*
 * The windows at a point whose loop d is variable plus + d, less variable minus + d unless there is
 * none such.
 */
#define NO_VARIABLE	UINT32_MAX

static void add_windows(struct system *system, const struct engine_job *job, uint32_t mask,
			uint32_t plus, uint32_t minus)
{
	for (uint32_t w = 0; w < job->num_windows; w++) {
		const struct drm_tessera_window *window = &job->windows[w];
		struct constraint *constraint;

		if (!(mask >> w & 1))
			continue;
		constraint = add_constraint(system);
		constraint->lowest = -(__int128)window->value.offset;
		constraint->highest = constraint->lowest + window->limit - 1;
		for (uint32_t d = 0; d < job->rank; d++) {
			constraint->coefficients[plus + d] = step(job, &window->value, d);
			if (minus != NO_VARIABLE)
				constraint->coefficients[minus + d] = -step(job, &window->value, d);
		}
	}
}

/*
 * Two points i and i - difference that store to a common byte. The variables are the
 * differences, and where there are windows that cut, the point i.
 */
static void init_collision(struct system *system, const struct engine_job *job,
			   const struct engine_box *box)
{
	const struct drm_tessera_operand *dst = &job->operands[0].spec;
	uint32_t open = open_windows(job, dst->window_mask, box);
	int64_t size = engine_dtype_size(dst->dtype);
	struct constraint *bytes;

	system->num_variables = job->rank;
	system->num_constraints = 0;
	bytes = add_constraint(system);
	bytes->lowest = 1 - size;
	bytes->highest = size - 1;
	for (uint32_t d = 0; d < job->rank; d++) {
		int64_t width = box->dims[d].highest - box->dims[d].lowest;

		bytes->coefficients[d] = step(job, &dst->address, d);
		system->variables[d] = (struct engine_interval){ -width, width };
	}
	if (!open)
		return;
	system->num_variables = 2 * job->rank;
	for (uint32_t d = 0; d < job->rank; d++) {
		struct constraint *second = add_constraint(system);

		system->variables[job->rank + d] = box->dims[d];
		second->coefficients[job->rank + d] = 1;
		second->coefficients[d] = -1;
		second->lowest = box->dims[d].lowest;
		second->highest = box->dims[d].highest;
	}
	add_windows(system, job, open, job->rank, NO_VARIABLE);
	add_windows(system, job, open, job->rank, 0);
}

static bool stores_collide(const struct engine_job *job, struct system *system)
{
	const struct engine_operand *dst = &job->operands[0];
	struct engine_box box;

	engine_box_init(&box, job->rank, job->extents);
	if (!engine_box_tighten(&box, job->windows, dst->spec.window_mask))
		return false;
	/* the first loop in which the points differ, and there by more than 0 */
	for (uint32_t first = 0; first < job->rank; first++) {
		if (is_fixed(&box.dims[first]))
			continue;
		init_collision(system, job, &box);
		for (uint32_t d = 0; d < first; d++)
			system->variables[d] = (struct engine_interval){ 0, 0 };
		system->variables[first].lowest = 1;
		if (is_satisfiable(system))
			return true;
	}
	return false;
}

/* The address of the destination less that of the source at the point 0. */
static __int128 distance_at_0(const struct engine_job *job, uint32_t k)
{
	const struct engine_operand *dst = &job->operands[0], *src = &job->operands[k];

	return (__int128)(uintptr_t)dst->buffer.base + dst->spec.address.offset -
	       (uintptr_t)src->buffer.base - src->spec.address.offset;
}

/* The two operands' windows, and the box that they leave. */
struct loads {
	uint32_t mask;
	struct engine_box box;
};

/* A point that loads from elsewhere than it stores to: so far above, or below if negative. */
static bool loads_from_elsewhere(const struct engine_job *job, uint32_t k,
				 const struct loads *loads, bool is_above, struct system *system)
{
	const struct engine_operand *dst = &job->operands[0], *src = &job->operands[k];
	struct constraint *distance;

	system->num_variables = job->rank;
	system->num_constraints = 0;
	distance = add_constraint(system);
	distance->lowest = is_above ? 1 : INT64_MIN;
	distance->highest = is_above ? INT64_MAX : -1;
	distance->lowest -= distance_at_0(job, k);
	distance->highest -= distance_at_0(job, k);
	for (uint32_t d = 0; d < job->rank; d++) {
		system->variables[d] = loads->box.dims[d];
		if (__builtin_sub_overflow(step(job, &dst->spec.address, d),
					   step(job, &src->spec.address, d),
					   &distance->coefficients[d]))
			return false;
	}
	add_windows(system, job, open_windows(job, loads->mask, &loads->box), 0, NO_VARIABLE);
	return is_satisfiable(system);
}

/* A point i that stores to a byte which a point j loads. */
static bool bytes_meet(const struct engine_job *job, uint32_t k, const struct loads *loads,
		       const struct engine_box *stored, struct system *system)
{
	const struct engine_operand *dst = &job->operands[0], *src = &job->operands[k];
	struct constraint *bytes;

	system->num_variables = 2 * job->rank;
	system->num_constraints = 0;
	bytes = add_constraint(system);
	/* - size of dst < address of dst - address of src < size of src */
	bytes->lowest = 1 - (int64_t)engine_dtype_size(dst->spec.dtype) - distance_at_0(job, k);
	bytes->highest = (int64_t)engine_dtype_size(src->spec.dtype) - 1 - distance_at_0(job, k);
	for (uint32_t d = 0; d < job->rank; d++) {
		system->variables[d] = stored->dims[d];
		system->variables[job->rank + d] = loads->box.dims[d];
		bytes->coefficients[d] = step(job, &dst->spec.address, d);
		bytes->coefficients[job->rank + d] = -step(job, &src->spec.address, d);
	}
	add_windows(system, job, open_windows(job, dst->spec.window_mask, stored), 0, NO_VARIABLE);
	add_windows(system, job, open_windows(job, loads->mask, &loads->box), job->rank,
		    NO_VARIABLE);
	return is_satisfiable(system);
}

static bool overlaps(const struct engine_job *job, uint32_t k, struct system *system)
{
	const struct drm_tessera_operand *dst = &job->operands[0].spec;
	const struct drm_tessera_operand *src = &job->operands[k].spec;
	struct loads loads = { .mask = dst->window_mask | src->window_mask };
	struct engine_box stored;

	engine_box_init(&stored, job->rank, job->extents);
	loads.box = stored;
	if (!engine_box_tighten(&stored, job->windows, dst->window_mask) ||
	    !engine_box_tighten(&loads.box, job->windows, loads.mask) ||
	    !bytes_meet(job, k, &loads, &stored, system))
		return false;
	return engine_dtype_size(dst->dtype) != engine_dtype_size(src->dtype) ||
	       loads_from_elsewhere(job, k, &loads, true, system) ||
	       loads_from_elsewhere(job, k, &loads, false, system);
}

static bool is_indirect(const struct engine_operand *operand)
{
	return operand->spec.flags & DRM_TESSERA_OPERAND_INDIRECT;
}

int engine_job_check_overlap(const struct engine_job *job, struct engine_fault *fault)
{
	struct system system;

	if (engine_job_is_empty(job) || is_indirect(&job->operands[0]))
		return 0;
	system.job_effort = MAX_JOB_EFFORT;
	if (stores_collide(job, &system))
		return engine_fail(fault, EINVAL, DRM_TESSERA_CAUSE_DESCRIPTOR, 0, 0,
				   "destination: two points store to the same byte");
	for (uint32_t k = 1; k < job->num_operands; k++) {
		if (is_indirect(&job->operands[k]) || !overlaps(job, k, &system))
			continue;
		return engine_fail(fault, EINVAL, DRM_TESSERA_CAUSE_DESCRIPTOR, k, 0,
				   "%s: it overlaps the destination, and not exactly in place",
				   engine_operand_name(k));
	}
	return 0;
}
