// SPDX-License-Identifier: MIT
/*
 * Affine forms over variables, substitution, and what constraints say of ranges.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/bounds.h"
#include "layout/sum.h"
#include "lower/nest_space.h"

/* Nothing that fits 64 bits is beyond, and two of it fit 128 bits. */
#define FAR	(((__int128)1 << 126) - 1)

/* Rounds over all constraints: each may narrow what the others say. */
#define MAX_ROUNDS	4

uint32_t nest_all_operands(const struct nest_space *space)
{
	return (1u << space->num_operands) - 1;
}

/* Forms ------------------------------------------------------------------------------------- */

void nest_form_init(struct nest_form *form, int64_t constant)
{
	memset(form, 0, sizeof(*form));
	form->constant = constant;
}

int nest_form_add_constant(struct nest_form *form, int64_t value)
{
	return __builtin_add_overflow(form->constant, value, &form->constant) ? -EOVERFLOW : 0;
}

static int add_product(int64_t *sum, int64_t a, int64_t b)
{
	int64_t product;

	return __builtin_mul_overflow(a, b, &product) ||
	       __builtin_add_overflow(*sum, product, sum) ? -EOVERFLOW : 0;
}

int nest_form_add(struct nest_form *form, const struct nest_form *other, int64_t factor)
{
	int code = add_product(&form->constant, other->constant, factor);

	for (uint32_t v = 0; v < NEST_MAX_VARIABLES && !code; v++)
		if (other->coefficients[v])
			code = add_product(&form->coefficients[v], other->coefficients[v], factor);
	return code;
}

bool nest_form_equal(const struct nest_form *a, const struct nest_form *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static __int128 clamp(__int128 value)
{
	if (value > FAR)
		return FAR;
	return value < -FAR ? -FAR : value;
}

static int64_t to_end(__int128 value)
{
	if (value >= INT64_MAX)
		return INT64_MAX;
	return value <= INT64_MIN ? INT64_MIN : (int64_t)value;
}

struct interval nest_form_range(const struct nest_space *space, const struct nest_form *form)
{
	__int128 lowest = form->constant, highest = form->constant;

	for (uint32_t v = 0; v < space->num_variables; v++) {
		int64_t coefficient = form->coefficients[v];
		struct interval range = space->variables[v].range;

		if (!coefficient)
			continue;
		lowest += clamp((__int128)coefficient * (coefficient > 0 ? range.min : range.max));
		highest += clamp((__int128)coefficient * (coefficient > 0 ? range.max : range.min));
		lowest = clamp(lowest);
		highest = clamp(highest);
	}
	return (struct interval){ to_end(lowest), to_end(highest) };
}

/* Whether a = sign * b but for the constants. */
static bool is_parallel(const struct nest_space *space, const struct nest_form *a,
			const struct nest_form *b, int64_t sign)
{
	for (uint32_t v = 0; v < space->num_variables; v++)
		if ((__int128)a->coefficients[v] != (__int128)sign * b->coefficients[v])
			return false;
	return true;
}

static struct interval intersect(struct interval range, __int128 lowest, __int128 highest)
{
	if (lowest > range.min)
		range.min = to_end(lowest);
	if (highest < range.max)
		range.max = to_end(highest);
	return range;
}

struct interval nest_form_range_within(const struct nest_space *space,
				       const struct nest_form *form, uint32_t operands)
{
	struct interval range = nest_form_range(space, form);

	for (uint32_t c = 0; c < space->num_constraints; c++) {
		const struct nest_constraint *constraint = &space->constraints[c];
		__int128 offset = constraint->value.constant;

		if (operands & ~constraint->operands)
			continue;
		if (is_parallel(space, form, &constraint->value, 1))
			range = intersect(range, form->constant - offset,
					  form->constant - offset + constraint->limit - 1);
		else if (is_parallel(space, form, &constraint->value, -1))
			range = intersect(range,
					  form->constant + offset - (constraint->limit - 1),
					  form->constant + offset);
	}
	return range;
}

/* Variables --------------------------------------------------------------------------------- */

void nest_space_init(struct nest_space *space, uint32_t num_operands)
{
	space->num_operands = num_operands;
	space->num_variables = 0;
	space->num_loops = 0;
	space->num_constraints = 0;
	space->never_loaded = 0;
	memset(space->targets, 0, sizeof(space->targets));
	memset(space->tables, 0, sizeof(space->tables));
	memset(space->streams, 0, sizeof(space->streams));
}

struct nest_space *nest_space_copy(const struct nest_space *space)
{
	struct nest_space *copy = malloc(sizeof(*copy));
	size_t size = space->num_constraints * sizeof(space->constraints[0]);

	if (!copy)
		return NULL;
	memcpy(copy, space, offsetof(struct nest_space, variables));
	memcpy(copy->variables, space->variables,
	       space->num_variables * sizeof(space->variables[0]));
	copy->max_constraints = space->num_constraints;
	copy->constraints = NULL;
	if (!size)
		return copy;
	copy->constraints = malloc(size);
	if (!copy->constraints) {
		free(copy);
		return NULL;
	}
	memcpy(copy->constraints, space->constraints, size);
	return copy;
}

void nest_space_release(struct nest_space *space)
{
	free(space->constraints);
}

static int add_variable(struct nest_space *space, enum nest_variable_kind kind,
			struct interval range, uint32_t *v)
{
	for (*v = 0; *v < space->num_variables; ++*v)
		if (space->variables[*v].kind == NEST_UNUSED)
			break;
	if (*v == NEST_MAX_VARIABLES)
		return -E2BIG;
	if (*v == space->num_variables)
		space->num_variables++;
	space->variables[*v].kind = kind;
	space->variables[*v].range = range;
	space->variables[*v].axis = 0;
	return 0;
}

static void insert_loop(struct nest_space *space, uint32_t v, uint32_t place)
{
	memmove(&space->loops[place + 1], &space->loops[place],
		(space->num_loops - place) * sizeof(space->loops[0]));
	space->loops[place] = v;
	space->num_loops++;
}

int nest_add_loop(struct nest_space *space, struct interval range, uint32_t axis, uint32_t place,
		  uint32_t *v)
{
	int code = add_variable(space, NEST_LOOP, range, v);

	if (code)
		return code;
	space->variables[*v].axis = axis;
	insert_loop(space, *v, place);
	return 0;
}

struct interval nest_quotient_range(struct interval range, int64_t divisor)
{
	if (!end_is_infinite(range.min))
		range.min = floor_divide(range.min, divisor);
	if (!end_is_infinite(range.max))
		range.max = floor_divide(range.max, divisor);
	return range;
}

int nest_add_quotient(struct nest_space *space, const struct nest_form *numerator,
		      int64_t divisor, uint32_t *v)
{
	struct interval range = nest_quotient_range(nest_form_range(space, numerator), divisor);
	int code = add_variable(space, NEST_QUOTIENT, range, v);

	if (code)
		return code;
	space->variables[*v].numerator = *numerator;
	space->variables[*v].divisor = divisor;
	space->variables[*v].owner = NEST_SHARED;
	space->variables[*v].origin = NULL;
	return 0;
}

uint32_t nest_loop_place(const struct nest_space *space, uint32_t v)
{
	uint32_t place = 0;

	while (space->loops[place] != v)
		place++;
	return place;
}

void nest_refresh_quotients(struct nest_space *space)
{
	for (uint32_t v = 0; v < space->num_variables; v++) {
		struct nest_variable *variable = &space->variables[v];
		struct interval range;

		if (variable->kind != NEST_QUOTIENT)
			continue;
		range = nest_quotient_range(nest_form_range(space, &variable->numerator),
					    variable->divisor);
		variable->range = intersect(variable->range, range.min, range.max);
	}
}

void nest_quotient_to_loop(struct nest_space *space, uint32_t v, uint32_t place)
{
	space->variables[v].kind = NEST_LOOP;
	insert_loop(space, v, place);
}

static int substitute_in(struct nest_form *form, uint32_t v, const struct nest_form *replacement)
{
	int64_t coefficient = form->coefficients[v];

	if (!coefficient)
		return 0;
	form->coefficients[v] = 0;
	return nest_form_add(form, replacement, coefficient);
}

int nest_substitute(struct nest_space *space, uint32_t v, const struct nest_form *replacement)
{
	int code = 0;

	for (uint32_t s = 0; s < NEST_MAX_STREAMS && !code; s++)
		code = substitute_in(&space->streams[s], v, replacement);
	for (uint32_t c = 0; c < space->num_constraints && !code; c++)
		code = substitute_in(&space->constraints[c].value, v, replacement);
	for (uint32_t q = 0; q < space->num_variables && !code; q++)
		if (space->variables[q].kind == NEST_QUOTIENT)
			code = substitute_in(&space->variables[q].numerator, v, replacement);
	return code;
}

int nest_eliminate(struct nest_space *space, uint32_t v, const struct nest_form *replacement)
{
	if (space->variables[v].kind == NEST_LOOP) {
		uint32_t place = nest_loop_place(space, v);

		space->num_loops--;
		memmove(&space->loops[place], &space->loops[place + 1],
			(space->num_loops - place) * sizeof(space->loops[0]));
	}
	space->variables[v].kind = NEST_UNUSED;
	return nest_substitute(space, v, replacement);
}

int nest_fix(struct nest_space *space, uint32_t v, int64_t value)
{
	struct nest_form form;

	nest_form_init(&form, value);
	return nest_eliminate(space, v, &form);
}

/* Constraints ------------------------------------------------------------------------------- */

int64_t nest_greatest_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a > INT64_MAX ? 1 : (int64_t)a;
}

/* Divides what is compared by the common factor of its coefficients. */
static void reduce_constraint(const struct nest_space *space, struct nest_constraint *constraint)
{
	struct nest_form *value = &constraint->value;
	int64_t factor = 0, lowest, highest;

	for (uint32_t v = 0; v < space->num_variables; v++)
		if (value->coefficients[v])
			factor = nest_greatest_divisor(magnitude(value->coefficients[v]),
						       (uint64_t)factor);
	if (factor <= 1 || __builtin_sub_overflow(constraint->limit - 1, value->constant, &highest))
		return;
	/* 0 <= factor*f + c < limit: ceil(-c / factor) <= f <= floor((limit - 1 - c) / factor) */
	lowest = -floor_divide(value->constant, factor);
	highest = floor_divide(highest, factor);
	constraint->limit = highest < lowest ? 0 : highest - lowest + 1;
	for (uint32_t v = 0; v < space->num_variables; v++)
		value->coefficients[v] /= factor;
	value->constant = -lowest;
}

/* Narrows a variable's range to where low <= coefficient * variable <= high. */
static void narrow_range(struct interval *range, int64_t coefficient, __int128 low, __int128 high)
{
	if (coefficient > 0)
		*range = intersect(*range, engine_ceiling_divide(low, coefficient),
				   engine_floor_divide(high, coefficient));
	else
		*range = intersect(*range, engine_ceiling_divide(high, coefficient),
				   engine_floor_divide(low, coefficient));
}

/*
 * Narrows the loops to where the constraint can hold. False if that is nowhere. The range of a
 * quotient is its numerator's, whatever constraints say.
 */
static bool narrow_ranges(struct nest_space *space, const struct nest_constraint *constraint)
{
	for (uint32_t v = 0; v < space->num_variables; v++) {
		int64_t coefficient = constraint->value.coefficients[v];
		struct interval *range = &space->variables[v].range;
		struct interval whole;
		__int128 least, most;

		if (!coefficient || space->variables[v].kind != NEST_LOOP)
			continue;
		whole = nest_form_range(space, &constraint->value);
		if (end_is_infinite(whole.min) || end_is_infinite(whole.max))
			continue;
		least = (__int128)coefficient * (coefficient > 0 ? range->min : range->max);
		most = (__int128)coefficient * (coefficient > 0 ? range->max : range->min);
		narrow_range(range, coefficient, -(whole.max - most),
			     (__int128)constraint->limit - 1 - (whole.min - least));
		if (range->min > range->max)
			return false;
	}
	return true;
}

static bool is_same(const struct nest_constraint *a, const struct nest_constraint *b)
{
	return a->limit == b->limit && nest_form_equal(&a->value, &b->value);
}

/* Whether another constraint says the same; then it is for the operands of both. */
static bool merge_constraint(struct nest_space *space, const struct nest_constraint *constraint)
{
	for (uint32_t c = 0; c < space->num_constraints; c++) {
		if (!is_same(&space->constraints[c], constraint))
			continue;
		space->constraints[c].operands |= constraint->operands;
		return true;
	}
	return false;
}

enum verdict {
	OPEN,		/* it holds at some points, not at others */
	SETTLED,	/* it holds everywhere, or is noted elsewhere */
	IMPOSSIBLE,	/* no point is left */
};

/* The first operand is the destination: what it needs, all need. */
static bool is_for_all(const struct nest_constraint *constraint)
{
	return constraint->operands & 1;
}

static enum verdict settle(const struct nest_space *space,
			   const struct nest_constraint *constraint)
{
	struct interval range = nest_form_range(space, &constraint->value);

	if (constraint->limit <= 0 || range.max < 0 || range.min >= constraint->limit)
		return IMPOSSIBLE;
	return range.min >= 0 && range.max < constraint->limit ? SETTLED : OPEN;
}

static enum verdict decide(struct nest_space *space, struct nest_constraint *constraint)
{
	enum verdict verdict;

	if (constraint->limit > 0)
		reduce_constraint(space, constraint);
	verdict = settle(space, constraint);
	if (is_for_all(constraint)) {
		if (verdict == OPEN && !narrow_ranges(space, constraint))
			return IMPOSSIBLE;
		return verdict == OPEN ? settle(space, constraint) : verdict;
	}
	if (verdict != IMPOSSIBLE)
		return verdict;
	space->never_loaded |= constraint->operands;
	return SETTLED;
}

static int append_constraint(struct nest_space *space, const struct nest_constraint *constraint)
{
	if (space->num_constraints == NEST_MAX_CONSTRAINTS)
		return -E2BIG;
	if (space->num_constraints == space->max_constraints) {
		uint32_t max = space->max_constraints ? 2 * space->max_constraints : 16;
		struct nest_constraint *constraints = realloc(space->constraints,
							      max * sizeof(*constraints));

		if (!constraints)
			return -ENOMEM;
		space->constraints = constraints;
		space->max_constraints = max;
	}
	space->constraints[space->num_constraints++] = *constraint;
	return 0;
}

int nest_constrain(struct nest_space *space, const struct nest_form *value, int64_t limit,
		   uint32_t operands)
{
	struct nest_constraint constraint = {
		.value = *value, .limit = limit, .operands = operands,
	};
	enum verdict verdict = decide(space, &constraint);

	if (verdict == IMPOSSIBLE)
		return NEST_EMPTY;
	if (verdict == SETTLED || merge_constraint(space, &constraint))
		return 0;
	return append_constraint(space, &constraint);
}

static bool ranges_changed(const struct nest_space *space, struct interval *before)
{
	bool is_changed = false;

	for (uint32_t v = 0; v < space->num_variables; v++) {
		struct interval range = space->variables[v].range;

		is_changed |= range.min != before[v].min || range.max != before[v].max;
		before[v] = range;
	}
	return is_changed;
}

/* Decides each constraint again, and keeps those that are open. */
static int tighten_once(struct nest_space *space)
{
	uint32_t num_constraints = space->num_constraints;

	space->num_constraints = 0;
	for (uint32_t c = 0; c < num_constraints; c++) {
		struct nest_constraint *constraint = &space->constraints[c];
		enum verdict verdict;

		if (!is_for_all(constraint))
			constraint->operands &= ~space->never_loaded;
		if (!constraint->operands)
			continue;
		verdict = decide(space, constraint);
		if (verdict == IMPOSSIBLE)
			return NEST_EMPTY;
		if (verdict == SETTLED || merge_constraint(space, constraint))
			continue;
		if (space->num_constraints != c)
			space->constraints[space->num_constraints] = *constraint;
		space->num_constraints++;
	}
	return 0;
}

int nest_tighten(struct nest_space *space)
{
	struct interval before[NEST_MAX_VARIABLES] = { { 0, 0 } };
	int code = 0;

	for (uint32_t round = 0; round < MAX_ROUNDS && !code; round++) {
		if (!ranges_changed(space, before) && round)
			break;
		code = tighten_once(space);
	}
	return code;
}

int nest_normalize_loops(struct nest_space *space)
{
	int code = 0;

	for (uint32_t l = 0; l < space->num_loops && !code; ) {
		uint32_t v = space->loops[l];
		struct nest_variable *loop = &space->variables[v];
		struct nest_form shifted;

		if (loop->range.min == loop->range.max) {
			code = nest_fix(space, v, loop->range.min);
			continue;
		}
		if (loop->range.min) {
			nest_form_init(&shifted, loop->range.min);
			shifted.coefficients[v] = 1;
			code = nest_substitute(space, v, &shifted);
			loop->range.max -= loop->range.min;
			loop->range.min = 0;
		}
		l++;
	}
	return code;
}
