// SPDX-License-Identifier: MIT
/*
 * Quotients become loops. Three ways, the first that does it:
 *
 * - x // d, of a loop x alone that is a multiple of d long: x = d*outer + inner, and the quotient
 *   is outer. The same splits narrow quotients of several loops to few values.
 * - x = d*quotient + remainder - rest, for a loop x of the numerator x + rest: two loops in place
 *   of one, and a window where x leaves its range. A partial tile is the case without rest.
 * - a loop over the quotient, with the window 0 <= numerator - d*quotient < d.
 *
 * Each window is for all operands: where it fails, the point is none of the nest's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout/sum.h"
#include "lower/nest_attempt.h"

/* Up to so many values, a quotient is sliced if it may be. */
#define MAX_QUOTIENT_SLICES	4

/* More values of a quotient than this are worth a split that leaves a partial tile. */
#define MANY_QUOTIENTS		8

/* Reduction ----------------------------------------------------------------------------------- */

static int64_t num_values(struct interval range)
{
	if (end_is_infinite(range.min) || end_is_infinite(range.max))
		return INT64_MAX;
	return range.max - range.min < INT64_MAX ? range.max - range.min + 1 : INT64_MAX;
}

static int64_t num_quotients(const struct nest_space *space, const struct nest_form *numerator,
			     int64_t divisor)
{
	return num_values(nest_quotient_range(nest_form_range(space, numerator), divisor));
}

/* Takes the terms that are multiples of divisor, divided by it, to whole. */
static int extract_multiples(const struct nest_space *space, struct nest_form *numerator,
			     int64_t divisor, struct nest_form *whole)
{
	int code = nest_form_add_constant(whole, floor_divide(numerator->constant, divisor));

	numerator->constant = floor_modulo(numerator->constant, divisor);
	for (uint32_t v = 0; v < space->num_variables && !code; v++) {
		int64_t *coefficient = &numerator->coefficients[v];

		if (*coefficient % divisor)
			continue;
		code = __builtin_add_overflow(whole->coefficients[v], *coefficient / divisor,
					      &whole->coefficients[v]) ? -EOVERFLOW : 0;
		*coefficient = 0;
	}
	return code;
}

/*
 * (factor*a + s) // (factor*d) = (a + m) // d where s // factor is m everywhere. True if that is
 * so; then numerator is a + m.
 */
static bool take_factor(const struct nest_space *space, struct nest_form *numerator,
			int64_t factor)
{
	struct nest_form rest = *numerator;
	struct interval range;

	for (uint32_t v = 0; v < space->num_variables; v++)
		if (rest.coefficients[v] % factor == 0)
			rest.coefficients[v] = 0;
	range = nest_quotient_range(nest_form_range(space, &rest), factor);
	if (range.min != range.max)
		return false;
	for (uint32_t v = 0; v < space->num_variables; v++)
		numerator->coefficients[v] = rest.coefficients[v] ? 0 :
					     numerator->coefficients[v] / factor;
	numerator->constant = range.min;
	return true;
}

static bool take_any_factor(const struct nest_space *space, struct nest_form *numerator,
			    int64_t *divisor)
{
	for (uint32_t v = 0; v < space->num_variables; v++) {
		int64_t factor = nest_greatest_divisor(magnitude(numerator->coefficients[v]),
						       (uint64_t)*divisor);

		if (!numerator->coefficients[v] || factor == 1 ||
		    !take_factor(space, numerator, factor))
			continue;
		*divisor /= factor;
		return true;
	}
	return false;
}

/*
 * Takes the nearest multiple of divisor from each coefficient if fewer quotients are left.
 * NEST_CHANGED if so.
 */
static int lower_coefficients(const struct nest_space *space, struct nest_form *numerator,
			      int64_t divisor, struct nest_form *whole)
{
	int code = 0;

	for (uint32_t v = 0; v < space->num_variables; v++) {
		int64_t *coefficient = &numerator->coefficients[v];
		struct nest_form lowered = *numerator;
		int64_t multiple;

		if (magnitude(*coefficient) <= (uint64_t)divisor / 2)
			continue;
		multiple = floor_divide(*coefficient, divisor);
		lowered.coefficients[v] = floor_modulo(*coefficient, divisor);
		if (lowered.coefficients[v] > divisor / 2) {
			lowered.coefficients[v] -= divisor;
			multiple++;
		}
		if (num_quotients(space, &lowered, divisor) >=
		    num_quotients(space, numerator, divisor))
			continue;
		*numerator = lowered;
		if (__builtin_add_overflow(whole->coefficients[v], multiple,
					   &whole->coefficients[v]))
			return -EOVERFLOW;
		code = NEST_CHANGED;
	}
	return code;
}

int nest_reduce_division(const struct nest_space *space, struct nest_form *numerator,
			 int64_t *divisor, struct nest_form *whole)
{
	struct interval range;
	int code;

	nest_form_init(whole, 0);
	do {
		code = extract_multiples(space, numerator, *divisor, whole);
		if (code)
			return code;
		range = nest_quotient_range(nest_form_range(space, numerator), *divisor);
		if (range.min == range.max) {
			nest_form_init(numerator, 0);
			*divisor = 1;
			return nest_form_add_constant(whole, range.min);
		}
		code = take_any_factor(space, numerator, divisor) ? NEST_CHANGED :
		       lower_coefficients(space, numerator, *divisor, whole);
	} while (code == NEST_CHANGED);
	return code;
}

/* All quotients at once ----------------------------------------------------------------------- */

static bool is_used(const struct nest_space *space, uint32_t v)
{
	for (uint32_t s = 0; s < NEST_MAX_STREAMS; s++)
		if (space->streams[s].coefficients[v])
			return true;
	for (uint32_t c = 0; c < space->num_constraints; c++)
		if (space->constraints[c].value.coefficients[v])
			return true;
	for (uint32_t q = 0; q < space->num_variables; q++)
		if (space->variables[q].kind == NEST_QUOTIENT &&
		    space->variables[q].numerator.coefficients[v])
			return true;
	return false;
}

/* Drops quotients that no form mentions any more, those in the numerators of others last. */
static void drop_unused(struct nest_space *space)
{
	bool is_dropped;

	do {
		is_dropped = false;
		for (uint32_t v = 0; v < space->num_variables; v++) {
			if (space->variables[v].kind != NEST_QUOTIENT || is_used(space, v))
				continue;
			space->variables[v].kind = NEST_UNUSED;
			is_dropped = true;
		}
	} while (is_dropped);
}

/* Another quotient that is the same, or NEST_MAX_VARIABLES. */
static uint32_t find_equal(const struct nest_space *space, uint32_t v)
{
	const struct nest_variable *variable = &space->variables[v];

	for (uint32_t q = 0; q < space->num_variables; q++) {
		const struct nest_variable *other = &space->variables[q];

		if (q != v && other->kind == NEST_QUOTIENT && other->divisor == variable->divisor &&
		    other->owner == variable->owner &&
		    nest_form_equal(&other->numerator, &variable->numerator))
			return q;
	}
	return NEST_MAX_VARIABLES;
}

static int reduce_quotient(struct nest_space *space, uint32_t v)
{
	struct nest_variable *variable = &space->variables[v];
	struct interval range;
	struct nest_form whole;
	uint32_t equal;
	int code = nest_reduce_division(space, &variable->numerator, &variable->divisor, &whole);

	if (code)
		return code;
	if (variable->divisor == 1)
		return nest_eliminate(space, v, &whole);
	equal = find_equal(space, v);
	if (equal < NEST_MAX_VARIABLES) {
		whole.coefficients[equal]++;
		return nest_eliminate(space, v, &whole);
	}
	range = nest_quotient_range(nest_form_range(space, &variable->numerator),
				    variable->divisor);
	if (end_is_infinite(range.min) || end_is_infinite(range.max))
		return -EOVERFLOW;
	variable->range = range;
	whole.coefficients[v]++;
	return nest_substitute(space, v, &whole);
}

static int reduce_quotients(struct nest_space *space)
{
	int code = 0;

	drop_unused(space);
	for (uint32_t v = 0; v < space->num_variables && !code; v++)
		if (space->variables[v].kind == NEST_QUOTIENT)
			code = reduce_quotient(space, v);
	return code;
}

/* Splits -------------------------------------------------------------------------------------- */

static void note_split(struct nest_attempt *attempt, uint32_t axis, int64_t size, int64_t extent)
{
	const char *name = attempt->nest->axes[axis].name;

	if (extent % size)
		nest_note(attempt,
			  "axis %s is split by %lld (extent %lld: a window on %u operands)",
			  name, (long long)size, (long long)extent, attempt->nest->num_operands);
	else
		nest_note(attempt, "axis %s is split by %lld", name, (long long)size);
}

/* x = size*outer + inner; where size does not divide its extent, with a window. */
static int split_loop(struct nest_attempt *attempt, uint32_t x, int64_t size)
{
	struct nest_space *space = &attempt->space;
	uint32_t axis = space->variables[x].axis, place = nest_loop_place(space, x), outer, inner;
	int64_t extent = nest_extent(&space->variables[x]);
	struct interval outer_range = { 0, (extent - 1) / size }, inner_range = { 0, size - 1 };
	struct nest_form sum;
	int code;

	note_split(attempt, axis, size, extent);
	code = nest_add_loop(space, outer_range, axis, place, &outer);
	if (!code)
		code = nest_add_loop(space, inner_range, axis, place + 1, &inner);
	if (code)
		return code;
	nest_form_init(&sum, 0);
	sum.coefficients[outer] = size;
	sum.coefficients[inner] = 1;
	code = nest_eliminate(space, x, &sum);
	if (!code && extent % size)
		code = nest_constrain(space, &sum, extent, nest_all_operands(space));
	return code;
}

/* x = extent - 1 - x */
static int flip_loop(struct nest_space *space, uint32_t x)
{
	struct nest_form flipped;

	nest_form_init(&flipped, space->variables[x].range.max);
	flipped.coefficients[x] = -1;
	return nest_substitute(space, x, &flipped);
}

/* The loops in a form whose variables are loops. */
static uint32_t count_loops(const struct nest_space *space, const struct nest_form *form,
			    uint32_t *last)
{
	uint32_t count = 0;

	for (uint32_t v = 0; v < space->num_variables; v++) {
		if (!form->coefficients[v])
			continue;
		*last = v;
		count++;
	}
	return count;
}

/* How far a loop goes until its part of the numerator is a multiple of the divisor. */
static int64_t period(const struct nest_variable *quotient, uint32_t x)
{
	int64_t coefficient = quotient->numerator.coefficients[x];

	return quotient->divisor / nest_greatest_divisor(magnitude(coefficient),
							 (uint64_t)quotient->divisor);
}

/* Splits a loop of several so that the quotient has fewer values. NEST_CHANGED or 0. */
static int narrow_quotient(struct nest_attempt *attempt, const struct nest_variable *quotient)
{
	struct nest_space *space = &attempt->space;
	bool is_exact = num_values(quotient->range) <= MANY_QUOTIENTS;

	for (uint32_t x = 0; x < space->num_variables; x++) {
		int64_t size, extent;
		int code;

		if (!quotient->numerator.coefficients[x])
			continue;
		size = period(quotient, x);
		extent = nest_extent(&space->variables[x]);
		if (extent <= size || (is_exact && extent % size))
			continue;
		code = split_loop(attempt, x, size);
		return code ? code : NEST_CHANGED;
	}
	return 0;
}

/*
 * (7*a + b) // 49 with b < 56 is (a + b // 7) // 7: splits b by the factor that the other loops
 * have in common with the divisor. NEST_CHANGED or 0.
 */
static int split_for_factor(struct nest_attempt *attempt, const struct nest_variable *quotient)
{
	struct nest_space *space = &attempt->space;
	const struct nest_form *numerator = &quotient->numerator;

	for (uint32_t v = 0; v < space->num_variables; v++) {
		int64_t factor = nest_greatest_divisor(magnitude(numerator->coefficients[v]),
						       (uint64_t)quotient->divisor);
		uint32_t num_others = 0, other = 0;
		int code;

		if (!numerator->coefficients[v] || factor == 1 || numerator->constant % factor)
			continue;
		for (uint32_t x = 0; x < space->num_variables; x++) {
			if (numerator->coefficients[x] % factor == 0)
				continue;
			num_others++;
			other = x;
		}
		if (num_others != 1 || numerator->coefficients[other] != 1 ||
		    nest_extent(&space->variables[other]) % factor ||
		    nest_extent(&space->variables[other]) == factor)
			continue;
		code = split_loop(attempt, other, factor);
		return code ? code : NEST_CHANGED;
	}
	return 0;
}

/* Loops for a quotient ------------------------------------------------------------------------ */

static const char *origin_text(const struct nest_variable *quotient, char *text, size_t size)
{
	if (accel_expression_print(quotient->origin, text, size) >= (int)size)
		snprintf(text + size - 4, 4, "...");
	return text;
}

/* The place of the outermost loop in a form. */
static uint32_t first_place(const struct nest_space *space, const struct nest_form *form)
{
	uint32_t place = 0;

	while (!form->coefficients[space->loops[place]])
		place++;
	return place;
}

static int add_quotient_loop(struct nest_attempt *attempt, uint32_t v)
{
	struct nest_space *space = &attempt->space;
	struct nest_variable *quotient = &space->variables[v];
	struct nest_form rest = quotient->numerator;
	int64_t divisor = quotient->divisor;
	char text[80];

	nest_note(attempt, "%s: a loop over the quotient, %lld values, and a window",
		  origin_text(quotient, text, sizeof(text)),
		  (long long)nest_extent(quotient));
	rest.coefficients[v] = -divisor;
	nest_quotient_to_loop(space, v, first_place(space, &quotient->numerator));
	return nest_constrain(space, &rest, divisor, nest_all_operands(space));
}

/* The loop to replace: of coefficient 1 or -1, the longest, and no shorter than the remainder. */
static uint32_t replaceable_loop(const struct nest_space *space,
				 const struct nest_variable *quotient)
{
	uint32_t best = NEST_MAX_VARIABLES;

	for (uint32_t x = 0; x < space->num_variables; x++) {
		int64_t extent = nest_extent(&space->variables[x]);

		if (magnitude(quotient->numerator.coefficients[x]) != 1 ||
		    extent < quotient->divisor)
			continue;
		if (best == NEST_MAX_VARIABLES || extent > nest_extent(&space->variables[best]))
			best = x;
	}
	return best;
}

/* The numerator is sign*x + rest: x = sign * (d*quotient + remainder - rest). */
static int replace_loop(struct nest_attempt *attempt, uint32_t v, uint32_t x)
{
	struct nest_space *space = &attempt->space;
	const struct nest_variable *quotient = &space->variables[v];
	uint32_t axis = space->variables[x].axis, place = nest_loop_place(space, x), outer, inner;
	int64_t extent = nest_extent(&space->variables[x]), divisor = quotient->divisor;
	struct interval range = quotient->range, inner_range = { 0, divisor - 1 };
	struct nest_form value, rest = quotient->numerator;
	int64_t sign = rest.coefficients[x];
	int code;

	rest.coefficients[x] = 0;
	nest_note(attempt, "axis %s is split by %lld (extent %lld: a window on %u operands)",
		  attempt->nest->axes[axis].name, (long long)divisor, (long long)extent,
		  space->num_operands);
	code = nest_add_loop(space, range, axis, place, &outer);
	if (!code)
		code = nest_add_loop(space, inner_range, axis, place + 1, &inner);
	if (code)
		return code;
	nest_form_init(&value, 0);
	value.coefficients[outer] = sign * divisor;
	value.coefficients[inner] = sign;
	code = nest_form_add(&value, &rest, -sign);
	if (!code)
		code = nest_eliminate(space, x, &value);
	if (!code)
		code = nest_constrain(space, &value, extent, nest_all_operands(space));
	return code;
}

/* A quotient gets one value in each piece. NEST_CHANGED or 0. */
static int slice_quotient(struct nest_attempt *attempt, uint32_t v, uint32_t num_loops)
{
	struct nest_space *space = &attempt->space;
	struct nest_variable *quotient = &space->variables[v];
	struct nest_form rest = quotient->numerator;
	char text[80];
	int64_t index;
	int code;

	if (!attempt->policy.slices || nest_extent(quotient) > MAX_QUOTIENT_SLICES ||
	    (num_loops > 1 && !attempt->policy.slices_sums))
		return 0;
	code = nest_choose(attempt, nest_extent(quotient), &index);
	if (code)
		return code;
	nest_note(attempt, "%s: a job for each of its %lld values",
		  origin_text(quotient, text, sizeof(text)), (long long)nest_extent(quotient));
	index += quotient->range.min;
	rest.coefficients[v] = -quotient->divisor;
	code = nest_constrain(space, &rest, quotient->divisor, nest_all_operands(space));
	if (!code)
		code = nest_fix(space, v, index);
	return code ? code : NEST_CHANGED;
}

static int divide(struct nest_attempt *attempt, uint32_t v)
{
	struct nest_space *space = &attempt->space;
	struct nest_variable *quotient = &space->variables[v];
	uint32_t x = 0, num_loops = count_loops(space, &quotient->numerator, &x);
	int code;

	if (num_loops == 1 && quotient->numerator.coefficients[x] == -1) {
		code = flip_loop(space, x);
		return code ? code : NEST_CHANGED;
	}
	if (num_loops == 1 && quotient->numerator.coefficients[x] == 1 &&
	    !quotient->numerator.constant &&
	    nest_extent(&space->variables[x]) % quotient->divisor == 0)
		return split_loop(attempt, x, quotient->divisor);
	if (attempt->policy.narrows &&
	    (num_loops > 1 || magnitude(quotient->numerator.coefficients[x]) != 1)) {
		code = split_for_factor(attempt, quotient);
		if (!code)
			code = narrow_quotient(attempt, quotient);
		if (code)
			return code;
	}
	if (quotient->owner != NEST_SHARED)
		return 0;
	code = slice_quotient(attempt, v, num_loops);
	if (code)
		return code;
	x = replaceable_loop(space, quotient);
	if (attempt->policy.replaces && x < NEST_MAX_VARIABLES)
		return replace_loop(attempt, v, x);
	return add_quotient_loop(attempt, v);
}

static bool is_of_loops(const struct nest_space *space, const struct nest_form *form)
{
	for (uint32_t v = 0; v < space->num_variables; v++)
		if (form->coefficients[v] && space->variables[v].kind != NEST_LOOP)
			return false;
	return true;
}

/* Whether quotient a comes before b: those for tables last. */
static bool is_sooner(const struct nest_policy *policy, const struct nest_variable *a,
		      const struct nest_variable *b)
{
	if ((a->owner == NEST_SHARED) != (b->owner == NEST_SHARED))
		return a->owner == NEST_SHARED;
	return policy->largest_first ? a->divisor > b->divisor : a->divisor < b->divisor;
}

/* The next quotient, of those that are of loops alone. */
static uint32_t next_quotient(const struct nest_attempt *attempt, uint64_t done)
{
	const struct nest_space *space = &attempt->space;
	uint32_t best = NEST_MAX_VARIABLES;

	for (uint32_t v = 0; v < space->num_variables; v++) {
		const struct nest_variable *quotient = &space->variables[v];

		if (quotient->kind != NEST_QUOTIENT || (done >> v & 1) ||
		    !is_of_loops(space, &quotient->numerator))
			continue;
		if (best == NEST_MAX_VARIABLES ||
		    is_sooner(&attempt->policy, quotient, &space->variables[best]))
			best = v;
	}
	return best;
}

/* Each step takes a quotient away or makes loops shorter: the number of variables bounds them. */
int nest_divide(struct nest_attempt *attempt)
{
	struct nest_space *space = &attempt->space;
	uint64_t done = 0;
	int code;

	for (;;) {
		uint32_t v;

		code = nest_tighten(space);
		if (!code)
			code = nest_normalize_loops(space);
		if (!code)
			code = reduce_quotients(space);
		if (code)
			return nest_failed(attempt, code, "quotients");
		v = next_quotient(attempt, done);
		if (v == NEST_MAX_VARIABLES)
			break;
		code = divide(attempt, v);
		if (code < 0 || code == NEST_EMPTY)
			return nest_failed(attempt, code, "quotients");
		if (!code && space->variables[v].kind == NEST_QUOTIENT)
			done |= (uint64_t)1 << v;
	}
	for (uint32_t k = 0; k < space->num_operands; k++) {
		code = nest_table_of_quotients(attempt, k);
		if (code)
			return code;
	}
	return 0;
}
