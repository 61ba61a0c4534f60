// SPDX-License-Identifier: MIT
/*
 * Whether indices stay in their tensors: by intervals, tightened by the conditions that hold, and
 * where these do not tell, point by point if there are few.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "error.h"
#include "layout/interval.h"
#include "lower/function.h"

/* Points that are looked at one by one where intervals do not tell. */
#define MAX_POINTS	65536

/* Pieces that the conditions of one definition may make of its box, inside of one another. */
#define MAX_PIECES	1024

/* Points ------------------------------------------------------------------------------------- */

/* An index, the conditions under which it is used, and the variables in them. */
struct search {
	struct accel_expression *index;
	const struct conditions *conditions;
	uint32_t count;
	const char *names[LOWER_MAX_AXES + 1];
	struct interval intervals[LOWER_MAX_AXES + 1];
	int64_t values[LOWER_MAX_AXES + 1];
};

static bool is_used(const struct search *search, const char *name)
{
	if (expression_mentions(search->index, name))
		return true;
	for (uint32_t k = 0; k < search->conditions->count; k++)
		if (expression_mentions(search->conditions->list[k].value, name))
			return true;
	return false;
}

/* Starts at the first point; false if there are too many. */
static bool search_start(struct search *search, const struct bounds *bounds)
{
	int64_t points = 1;

	for (size_t k = 0; k < bounds->count; k++) {
		const struct variable_bounds *variable = &bounds->variables[k];
		int64_t length = variable->interval.max - variable->interval.min;

		if (!is_used(search, variable->name))
			continue;
		if (length >= MAX_POINTS || points * (length + 1) > MAX_POINTS)
			return false;
		points *= length + 1;
		search->names[search->count] = variable->name;
		search->intervals[search->count] = variable->interval;
		search->values[search->count++] = variable->interval.min;
	}
	return true;
}

static bool search_next(struct search *search)
{
	for (uint32_t k = search->count; k--;) {
		if (search->values[k] < search->intervals[k].max) {
			search->values[k]++;
			return true;
		}
		search->values[k] = search->intervals[k].min;
	}
	return false;
}

static int evaluate(const struct search *search, const struct accel_expression *expression,
		    int64_t *value)
{
	const char *missing;

	return expression_evaluate(expression, search->count, search->names, search->values, value,
				   &missing);
}

/* The index at one point, where the conditions hold. */
static int widen(const struct search *search, struct interval *interval)
{
	int64_t value;
	int ret;

	for (uint32_t k = 0; k < search->conditions->count; k++) {
		ret = evaluate(search, search->conditions->list[k].value, &value);
		if (ret)
			return ret;
		if (value < 0 || value >= search->conditions->list[k].limit)
			return 0;
	}
	ret = evaluate(search, search->index, &value);
	if (ret)
		return ret;
	if (value < interval->min)
		interval->min = value;
	if (value > interval->max)
		interval->max = value;
	return 0;
}

/* The values that the index takes, if there are few points; min > max: none. */
static int enumerate(struct accel_expression *index, const struct conditions *conditions,
		     const struct bounds *bounds, struct interval *interval)
{
	struct search search = { .index = index, .conditions = conditions };
	struct interval found = { .min = INT64_MAX, .max = INT64_MIN };
	int ret;

	if (!search_start(&search, bounds))
		return 0;
	do {
		ret = widen(&search, &found);
	} while (!ret && search_next(&search));
	if (!ret)
		*interval = found;
	return ret;
}

/* Indices ---------------------------------------------------------------------------------- */

static int out_of_range(const char *name, uint32_t axis, int64_t extent,
			const struct accel_expression *index, const struct interval *interval,
			struct accel_error *error)
{
	char text[80];

	accel_expression_print(index, text, sizeof(text));
	return accel_error_set(error, -ERANGE,
			       "axis %u of %s: the index %s goes from %" PRId64 " to %" PRId64
			       ", expected from 0 to %" PRId64 " or a condition", axis, name, text,
			       interval->min, interval->max, extent - 1);
}

static bool is_within(const struct interval *interval, int64_t extent)
{
	return interval->min > interval->max || (interval->min >= 0 && interval->max < extent);
}

static int check_index(const char *name, uint32_t axis, int64_t extent,
		       struct accel_expression *index, const struct conditions *conditions,
		       const struct bounds *bounds, struct accel_error *error)
{
	struct interval interval = { 0 };
	struct accel_expression *simple;
	int ret = 0;

	if (expression_is_variable(index)) {
		interval = bounds_interval(index->name, bounds);
		if (is_within(&interval, extent))
			return 0;
	}
	simple = expression_simplify(index, bounds);
	if (!simple)
		return expression_error(error, -errno, name);
	interval = expression_interval(simple, bounds);
	if (!is_within(&interval, extent))
		ret = conditions_interval(conditions, simple, bounds, &interval);
	if (!ret && !is_within(&interval, extent))
		ret = enumerate(simple, conditions, bounds, &interval);
	if (ret)
		expression_error(error, ret, name);
	else if (!is_within(&interval, extent))
		ret = out_of_range(name, axis, extent, simple, &interval, error);
	expression_unref(simple);
	return ret;
}

/* index with a number in place of what is loaded */
static struct accel_expression *at_index(struct accel_expression *index, int64_t value,
					 const struct bounds *bounds)
{
	struct accel_expression *constant = expression_constant(value), *result = NULL;
	const char *name = VALUE_INDEX;

	if (constant)
		result = expression_simplify_take(
			expression_substitute(index, 1, &name, &constant), bounds);
	expression_unref(constant);
	return result;
}

/* index = factor * VALUE_INDEX + base, or -ENOTSUP. */
static int index_factor(const char *name, struct accel_expression *index,
			const struct bounds *bounds, int64_t *factor, struct interval *base,
			struct accel_error *error)
{
	struct accel_expression *zero = at_index(index, 0, bounds);
	struct accel_expression *one = at_index(index, 1, bounds);
	struct accel_expression *two = at_index(index, 2, bounds);
	struct accel_expression *step = NULL, *next = NULL;
	int ret = 0;

	if (zero && one && two) {
		*base = expression_interval(zero, bounds);
		next = expression_simplify_take(expression_subtract(two, expression_ref(one)),
						bounds);
		step = expression_simplify_take(expression_subtract(one, zero), bounds);
		zero = one = two = NULL;
	}
	if (!step || !next)
		ret = expression_error(error, -errno, name);
	else if (!expression_is_constant(step) || expression_compare(step, next))
		ret = accel_error_set(error, -ENOTSUP,
				      "gather from %s: expected an index that is a multiple of the "
				      "loaded one, plus an expression", name);
	else
		*factor = step->constant;
	expression_unref(zero);
	expression_unref(one);
	expression_unref(two);
	expression_unref(step);
	expression_unref(next);
	return ret;
}

/* The limit that one axis sets. */
static int64_t axis_limit(int64_t extent, int64_t factor, const struct interval *base)
{
	if (base->min < 0 || base->max >= extent)
		return 0;
	if (factor > 0)
		return (extent - 1 - base->max) / factor + 1;
	return factor == INT64_MIN ? 1 : base->min / -factor + 1;
}

int function_index_limit(const char *name, uint32_t rank, const int64_t *shape,
			 struct accel_expression *const *indices, const struct bounds *bounds,
			 int64_t *limit, struct accel_error *error)
{
	struct interval base;
	int64_t factor = 0, here;
	int ret;

	*limit = INT64_MAX;
	for (uint32_t k = 0; k < rank; k++) {
		if (!expression_mentions(indices[k], VALUE_INDEX))
			continue;
		here = shape[k];
		if (!expression_is_variable(indices[k])) {
			ret = index_factor(name, indices[k], bounds, &factor, &base, error);
			if (ret)
				return ret;
			here = factor ? axis_limit(shape[k], factor, &base) : INT64_MAX;
		}
		if (!here)
			return accel_error_set(error, -ERANGE,
					       "axis %u of %s: a loaded index of 0 leads out of "
					       "its %" PRId64 " elements", k, name, shape[k]);
		if (here < *limit)
			*limit = here;
	}
	return 0;
}

int function_check_indices(const char *name, uint32_t rank, const int64_t *shape,
			   struct accel_expression *const *indices, bool has_index,
			   const struct conditions *conditions, const struct bounds *bounds,
			   struct accel_error *error)
{
	struct variable_bounds variables[LOWER_MAX_AXES + 1];
	struct bounds all = { bounds->count, bounds->variables };
	int64_t limit;
	int ret = 0;

	if (has_index) {
		ret = function_index_limit(name, rank, shape, indices, bounds, &limit, error);
		for (size_t k = 0; k < bounds->count; k++)
			variables[k] = bounds->variables[k];
		variables[all.count++] = (struct variable_bounds){
			.name = VALUE_INDEX,
			.interval = { .min = 0, .max = limit - 1 },
		};
		all.variables = variables;
	}
	for (uint32_t k = 0; !ret && k < rank; k++)
		ret = check_index(name, k, shape[k], indices[k], conditions, &all, error);
	return ret;
}

/* Values ----------------------------------------------------------------------------------- */

struct range_check {
	const struct accel_function *function;
	const struct bounds *bounds;
	uint32_t num_pieces;
	struct accel_error *error;
};

static int check_load(struct range_check *check, const struct value_load *load,
		      const struct conditions *conditions)
{
	const struct function_tensor *tensor;

	tensor = &check->function->tensors[function_find(check->function, load->tensor)];
	return function_check_indices(tensor->name, load->num_indices, tensor->shape,
				      load->indices, load->index, conditions, check->bounds,
				      check->error);
}

static int check_value(struct range_check *check, const struct accel_value *value,
		       const struct conditions *conditions);

/* Calls for each piece that condition makes: with a where it holds, with b where it does not. */
static int check_pieces(struct range_check *check, struct accel_expression *condition,
			const struct accel_value *a, const struct accel_value *b,
			const struct conditions *conditions)
{
	struct condition_pieces pieces = { 0 };
	int ret;

	ret = condition_pieces_add(&pieces, condition, conditions, check->bounds);
	if (ret)
		expression_error(check->error, ret, "condition");
	check->num_pieces += pieces.count;
	if (!ret && check->num_pieces > MAX_PIECES)
		ret = accel_error_set(check->error, -E2BIG,
				      "conditions take the box apart into more than %d pieces",
				      MAX_PIECES);
	for (uint32_t k = 0; !ret && k < pieces.count; k++) {
		const struct accel_value *value = pieces.pieces[k].holds ? a : b;

		if (!value)
			continue;
		ret = value == a && value->kind == VALUE_LOAD && !b ?
		      check_load(check, &value->load, &pieces.pieces[k].conditions) :
		      check_value(check, value, &pieces.pieces[k].conditions);
	}
	condition_pieces_release(&pieces);
	return ret;
}

static int check_value(struct range_check *check, const struct accel_value *value,
		       const struct conditions *conditions)
{
	int ret = 0;

	if (value->kind == VALUE_LOAD) {
		if (value->load.index)
			ret = check_value(check, value->load.index, conditions);
		if (ret)
			return ret;
		if (!value->load.condition)
			return check_load(check, &value->load, conditions);
		return check_pieces(check, value->load.condition, value, NULL, conditions);
	}
	if (value->kind == VALUE_CHOOSE)
		return check_pieces(check, value->choose.condition, value->choose.operands[0],
				    value->choose.operands[1], conditions);
	for (unsigned int k = 0; !ret && k < value_num_operands(value); k++)
		ret = check_value(check, value_operand(value, k), conditions);
	return ret;
}

int function_check_ranges(const struct accel_function *function, const struct accel_value *value,
			  const struct conditions *conditions, const struct bounds *bounds,
			  struct accel_error *error)
{
	struct range_check check = { function, bounds, 0, error };

	return check_value(&check, value, conditions);
}
