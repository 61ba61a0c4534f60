// SPDX-License-Identifier: MIT
/*
 * Conditions: from truth values to windows, and boxes taken apart where that is not possible.
 */
#include <errno.h>
#include <stdlib.h>

#include "layout/interval.h"
#include "lower/condition.h"

void conditions_release(struct conditions *conditions)
{
	for (uint32_t k = 0; k < conditions->count; k++)
		expression_unref(conditions->list[k].value);
	conditions->count = 0;
}

void conditions_copy(struct conditions *to, const struct conditions *from)
{
	to->count = from->count;
	for (uint32_t k = 0; k < from->count; k++) {
		to->list[k].value = expression_ref(from->list[k].value);
		to->list[k].limit = from->list[k].limit;
	}
}

/* Two conditions that can be one begin with the same variable, as they are canonical. */
static const char *first_variable(const struct accel_expression *expression)
{
	const char *name = NULL;

	if (expression_is_variable(expression))
		return expression->name;
	for (unsigned int k = 0; !name && k < expression_num_operands(expression->kind); k++)
		name = first_variable(expression->operands[k]);
	return name;
}

/* True, and the value, if a + b, or a - b, is a constant. -errno in *ret. */
static bool is_constant_apart(enum accel_expression_kind kind, struct accel_expression *a,
			      struct accel_expression *b, const struct bounds *bounds,
			      int64_t *value, int *ret)
{
	struct accel_expression *sum;
	bool is_constant;

	sum = expression_simplify_take(expression_binary(kind, expression_ref(a),
							 expression_ref(b)), bounds);
	if (!sum) {
		/* A sum that does not fit is no constant. */
		*ret = errno == ENOMEM ? -ENOMEM : 0;
		return false;
	}
	is_constant = expression_is_constant(sum);
	if (is_constant)
		*value = sum->constant;
	expression_unref(sum);
	return is_constant;
}

/* min <= value <= max in place of a condition. */
static int tighten(struct lower_condition *condition, int64_t min, int64_t max,
		   const struct bounds *bounds)
{
	if (min < 0)
		min = 0;
	if (max > condition->limit - 1)
		max = condition->limit - 1;
	if (min > max)
		return CONDITION_NEVER;
	condition->limit = max == INT64_MAX ? max : max - min + 1;
	if (!min)
		return 0;
	condition->value = expression_simplify_take(
		expression_subtract(condition->value, expression_constant(min)), bounds);
	return condition->value ? 0 : -errno;
}

/* True if it is one with a condition that is there; *ret is what came of it. */
static bool merge(struct lower_condition *condition, struct accel_expression *value,
		  int64_t limit, const struct bounds *bounds, int *ret)
{
	const char *mine = first_variable(value), *other = first_variable(condition->value);
	int64_t sum, min, max;

	*ret = 0;
	if (!mine || !other || !names_equal(mine, other))
		return false;
	if (is_constant_apart(ACCEL_EXPRESSION_SUBTRACT, value, condition->value, bounds, &sum,
			      ret)) {
		if (__builtin_sub_overflow(0, sum, &min) ||
		    __builtin_sub_overflow(limit - 1, sum, &max))
			return false;
	} else if (!*ret && is_constant_apart(ACCEL_EXPRESSION_ADD, value, condition->value, bounds,
					      &sum, ret)) {
		if (__builtin_sub_overflow(sum, limit - 1, &min))
			return false;
		max = sum;
	} else {
		return *ret != 0;
	}
	*ret = tighten(condition, min, max, bounds);
	return true;
}

int conditions_add(struct conditions *conditions, struct accel_expression *value, int64_t limit,
		   const struct bounds *bounds)
{
	struct interval interval;
	int ret = 0;

	value = expression_simplify_take(value, bounds);
	if (!value)
		return -errno;
	interval = expression_interval(value, bounds);
	if (interval.min >= 0 && interval.max < limit)
		goto out;
	if (interval.max < 0 || interval.min >= limit) {
		ret = CONDITION_NEVER;
		goto out;
	}
	if (interval.max < limit)
		limit = interval.max + 1;
	for (uint32_t k = 0; k < conditions->count; k++)
		if (merge(&conditions->list[k], value, limit, bounds, &ret))
			goto out;
	if (conditions->count == LOWER_MAX_CONDITIONS) {
		ret = -E2BIG;
		goto out;
	}
	conditions->list[conditions->count].value = value;
	conditions->list[conditions->count++].limit = limit;
	return 0;
out:
	expression_unref(value);
	return ret;
}

/* Truth ------------------------------------------------------------------------------------ */

/* The comparison that is true where one is false. */
static const enum accel_expression_kind opposites[] = {
	[ACCEL_EXPRESSION_EQUAL] = ACCEL_EXPRESSION_NOT_EQUAL,
	[ACCEL_EXPRESSION_NOT_EQUAL] = ACCEL_EXPRESSION_EQUAL,
	[ACCEL_EXPRESSION_LESS] = ACCEL_EXPRESSION_GREATER_EQUAL,
	[ACCEL_EXPRESSION_LESS_EQUAL] = ACCEL_EXPRESSION_GREATER,
	[ACCEL_EXPRESSION_GREATER] = ACCEL_EXPRESSION_LESS_EQUAL,
	[ACCEL_EXPRESSION_GREATER_EQUAL] = ACCEL_EXPRESSION_LESS,
	[ACCEL_EXPRESSION_AND] = ACCEL_EXPRESSION_OR,
	[ACCEL_EXPRESSION_OR] = ACCEL_EXPRESSION_AND,
};

static bool is_comparison(enum accel_expression_kind kind)
{
	return kind >= ACCEL_EXPRESSION_EQUAL && kind <= ACCEL_EXPRESSION_GREATER_EQUAL;
}

static bool is_connective(enum accel_expression_kind kind)
{
	return kind == ACCEL_EXPRESSION_AND || kind == ACCEL_EXPRESSION_OR;
}

/* a comparison of left with right, simplified: left - right, minus 1 where it is strict */
static struct accel_expression *distance(struct accel_expression *left,
					 struct accel_expression *right, bool is_strict)
{
	struct accel_expression *sum;

	sum = expression_subtract(expression_ref(left), expression_ref(right));
	return is_strict ? expression_subtract(sum, expression_constant(1)) : sum;
}

/* left != right: one is known to be the greater, or there are two pieces. */
static int add_not_equal(struct conditions *conditions, struct accel_expression *left,
			 struct accel_expression *right, const struct bounds *bounds)
{
	struct accel_expression *sum;
	struct interval interval;

	sum = expression_simplify_take(distance(left, right, false), bounds);
	if (!sum)
		return -errno;
	interval = expression_interval(sum, bounds);
	if (interval.min > 0 || interval.max < 0) {
		expression_unref(sum);
		return 0;
	}
	if (interval.min < 0 && interval.max > 0) {
		expression_unref(sum);
		return CONDITION_SPLIT;
	}
	if (interval.max <= 0)
		sum = expression_multiply(expression_constant(-1), sum);
	return conditions_add(conditions, expression_subtract(sum, expression_constant(1)),
			      INT64_MAX, bounds);
}

static int add_comparison(struct conditions *conditions, enum accel_expression_kind kind,
			  struct accel_expression *left, struct accel_expression *right,
			  const struct bounds *bounds)
{
	switch (kind) {
	case ACCEL_EXPRESSION_EQUAL:
		return conditions_add(conditions, distance(left, right, false), 1, bounds);
	case ACCEL_EXPRESSION_NOT_EQUAL:
		return add_not_equal(conditions, left, right, bounds);
	case ACCEL_EXPRESSION_LESS:
	case ACCEL_EXPRESSION_LESS_EQUAL:
		return conditions_add(conditions,
				      distance(right, left, kind == ACCEL_EXPRESSION_LESS),
				      INT64_MAX, bounds);
	default:
		return conditions_add(conditions,
				      distance(left, right, kind == ACCEL_EXPRESSION_GREATER),
				      INT64_MAX, bounds);
	}
}

/* a and b, or not a and not b, is a conjunction. */
static bool is_conjunction(enum accel_expression_kind kind, bool truth)
{
	return kind == (truth ? ACCEL_EXPRESSION_AND : ACCEL_EXPRESSION_OR);
}

int conditions_add_truth(struct conditions *conditions, struct accel_expression *expression,
			 bool truth, const struct bounds *bounds)
{
	enum accel_expression_kind kind = expression->kind;
	struct accel_expression *zero;
	int ret;

	if (expression_is_constant(expression))
		return !!expression->constant == truth ? 0 : CONDITION_NEVER;
	if (is_comparison(kind))
		return add_comparison(conditions, truth ? kind : opposites[kind],
				      expression->operands[0], expression->operands[1], bounds);
	if (is_connective(kind)) {
		if (!is_conjunction(kind, truth))
			return CONDITION_SPLIT;
		ret = conditions_add_truth(conditions, expression->operands[0], truth, bounds);
		return ret ? ret : conditions_add_truth(conditions, expression->operands[1], truth,
							bounds);
	}
	zero = expression_constant(0);
	if (!zero)
		return -ENOMEM;
	ret = add_comparison(conditions,
			     truth ? ACCEL_EXPRESSION_NOT_EQUAL : ACCEL_EXPRESSION_EQUAL,
			     expression, zero, bounds);
	expression_unref(zero);
	return ret;
}

struct accel_expression *condition_negate(struct accel_expression *expression)
{
	struct accel_expression *left, *right, *result;

	if (!expression)
		return NULL;
	if (is_comparison(expression->kind)) {
		result = expression_binary(opposites[expression->kind],
					   expression_ref(expression->operands[0]),
					   expression_ref(expression->operands[1]));
		expression_unref(expression);
		return result;
	}
	if (!is_connective(expression->kind))
		return expression_binary(ACCEL_EXPRESSION_EQUAL, expression,
					 expression_constant(0));
	left = condition_negate(expression_ref(expression->operands[0]));
	right = left ? condition_negate(expression_ref(expression->operands[1])) : NULL;
	result = expression_binary(opposites[expression->kind], left, right);
	expression_unref(expression);
	return result;
}

/* Pieces ----------------------------------------------------------------------------------- */

void condition_pieces_release(struct condition_pieces *pieces)
{
	for (uint32_t k = 0; k < pieces->count; k++)
		conditions_release(&pieces->pieces[k].conditions);
	free(pieces->pieces);
	*pieces = (struct condition_pieces){ 0 };
}

/* Appends a piece and consumes its conditions; ret is how they were made. */
static int append_piece(struct condition_pieces *pieces, bool holds,
			struct conditions *conditions, int ret)
{
	uint32_t capacity = pieces->capacity ? 2 * pieces->capacity : 4;
	struct condition_piece *grown;

	if (!ret && pieces->count == CONDITION_MAX_PIECES)
		ret = -E2BIG;
	if (!ret && pieces->count == pieces->capacity) {
		grown = realloc(pieces->pieces, capacity * sizeof(*grown));
		if (grown) {
			pieces->pieces = grown;
			pieces->capacity = capacity;
		} else {
			ret = -ENOMEM;
		}
	}
	if (ret) {
		conditions_release(conditions);
		return ret == CONDITION_NEVER ? 0 : ret;
	}
	pieces->pieces[pieces->count].holds = holds;
	pieces->pieces[pieces->count++].conditions = *conditions;
	return 0;
}

/* The piece of the prefix where a comparison is true; what it says of the expression is holds. */
static int add_piece(struct condition_pieces *pieces, bool holds, enum accel_expression_kind kind,
		     const struct accel_expression *comparison, const struct conditions *prefix,
		     const struct bounds *bounds)
{
	struct conditions conditions;
	int ret;

	conditions_copy(&conditions, prefix);
	ret = add_comparison(&conditions, kind, comparison->operands[0], comparison->operands[1],
			     bounds);
	return append_piece(pieces, holds, &conditions, ret);
}

static int add_comparison_pieces(struct condition_pieces *pieces,
				 const struct accel_expression *comparison,
				 const struct conditions *prefix, const struct bounds *bounds)
{
	enum accel_expression_kind kind = comparison->kind;
	bool is_equal = kind == ACCEL_EXPRESSION_EQUAL;
	int ret;

	if (!is_equal && kind != ACCEL_EXPRESSION_NOT_EQUAL) {
		ret = add_piece(pieces, true, kind, comparison, prefix, bounds);
		return ret ? ret : add_piece(pieces, false, opposites[kind], comparison, prefix,
					     bounds);
	}
	ret = add_piece(pieces, is_equal, ACCEL_EXPRESSION_EQUAL, comparison, prefix, bounds);
	if (!ret)
		ret = add_piece(pieces, !is_equal, ACCEL_EXPRESSION_LESS, comparison, prefix,
				bounds);
	if (!ret)
		ret = add_piece(pieces, !is_equal, ACCEL_EXPRESSION_GREATER, comparison, prefix,
				bounds);
	return ret;
}

/* The second operand is asked only where the first has not decided. */
static int add_connective_pieces(struct condition_pieces *pieces,
				 const struct accel_expression *expression,
				 const struct conditions *prefix, const struct bounds *bounds)
{
	bool deciding = expression->kind == ACCEL_EXPRESSION_OR;
	struct condition_pieces first = { 0 };
	struct conditions conditions;
	int ret;

	ret = condition_pieces_add(&first, expression->operands[0], prefix, bounds);
	for (uint32_t k = 0; !ret && k < first.count; k++) {
		if (first.pieces[k].holds != deciding) {
			ret = condition_pieces_add(pieces, expression->operands[1],
						   &first.pieces[k].conditions, bounds);
			continue;
		}
		conditions_copy(&conditions, &first.pieces[k].conditions);
		ret = append_piece(pieces, deciding, &conditions, 0);
	}
	condition_pieces_release(&first);
	return ret;
}

int condition_pieces_add(struct condition_pieces *pieces, struct accel_expression *expression,
			 const struct conditions *prefix, const struct bounds *bounds)
{
	struct accel_expression *comparison;
	struct conditions conditions;
	int ret;

	if (expression_is_constant(expression)) {
		conditions_copy(&conditions, prefix);
		return append_piece(pieces, expression->constant, &conditions, 0);
	}
	if (is_comparison(expression->kind))
		return add_comparison_pieces(pieces, expression, prefix, bounds);
	if (is_connective(expression->kind))
		return add_connective_pieces(pieces, expression, prefix, bounds);
	comparison = expression_binary(ACCEL_EXPRESSION_NOT_EQUAL, expression_ref(expression),
				       expression_constant(0));
	if (!comparison)
		return -errno;
	ret = add_comparison_pieces(pieces, comparison, prefix, bounds);
	expression_unref(comparison);
	return ret;
}

/* Where the first k conditions hold and this one is passed on one side. */
static int add_side(struct condition_pieces *pieces, const struct conditions *held,
		    const struct lower_condition *condition, bool is_above,
		    const struct bounds *bounds)
{
	struct accel_expression *value = expression_ref(condition->value);
	struct conditions conditions;
	int ret;

	if (is_above)
		value = expression_subtract(value, expression_constant(condition->limit));
	else
		value = expression_subtract(expression_constant(-1), value);
	conditions_copy(&conditions, held);
	ret = conditions_add(&conditions, value, INT64_MAX, bounds);
	return append_piece(pieces, false, &conditions, ret);
}

int condition_pieces_add_all(struct condition_pieces *pieces, const struct conditions *all,
			     const struct conditions *prefix, const struct bounds *bounds)
{
	struct conditions held;
	int ret = 0;

	conditions_copy(&held, prefix);
	for (uint32_t k = 0; !ret && k < all->count; k++) {
		ret = add_side(pieces, &held, &all->list[k], false, bounds);
		if (!ret)
			ret = add_side(pieces, &held, &all->list[k], true, bounds);
		if (!ret)
			ret = conditions_add(&held, expression_ref(all->list[k].value),
					     all->list[k].limit, bounds);
	}
	return append_piece(pieces, true, &held, ret);
}

/* Bounds ----------------------------------------------------------------------------------- */

/* value = other + a difference, or = -other + a sum, with 0 <= other < limit. */
static int tighten_by(struct interval *interval, enum accel_expression_kind kind,
		      struct accel_expression *value, const struct lower_condition *condition,
		      const struct bounds *bounds)
{
	int64_t below = kind == ACCEL_EXPRESSION_ADD ? condition->limit - 1 : 0;
	int64_t above = kind == ACCEL_EXPRESSION_ADD ? 0 : condition->limit - 1;
	struct accel_expression *rest;
	struct interval bound;

	rest = expression_simplify_take(expression_binary(kind, expression_ref(value),
							  expression_ref(condition->value)),
					bounds);
	if (!rest)
		return errno == EOVERFLOW ? 0 : -errno;
	bound = expression_interval(rest, bounds);
	expression_unref(rest);
	if (bound.min != INT64_MIN && !__builtin_sub_overflow(bound.min, below, &bound.min) &&
	    bound.min > interval->min)
		interval->min = bound.min;
	if (bound.max != INT64_MAX && !__builtin_add_overflow(bound.max, above, &bound.max) &&
	    bound.max < interval->max)
		interval->max = bound.max;
	return 0;
}

int conditions_interval(const struct conditions *conditions, struct accel_expression *value,
			const struct bounds *bounds, struct interval *interval)
{
	int ret = 0;

	*interval = expression_interval(value, bounds);
	for (uint32_t k = 0; !ret && k < conditions->count; k++) {
		ret = tighten_by(interval, ACCEL_EXPRESSION_SUBTRACT, value, &conditions->list[k],
				 bounds);
		if (!ret)
			ret = tighten_by(interval, ACCEL_EXPRESSION_ADD, value,
					 &conditions->list[k], bounds);
	}
	return ret;
}
