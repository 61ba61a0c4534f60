// SPDX-License-Identifier: MIT
/*
 * Interval arithmetic with ends that may be infinite, and truth values that may be undecided.
 */
#include <string.h>

#include "layout/interval.h"

/* One end of a sum; an infinite operand wins, and overflow is infinite. */
static int64_t end_add(int64_t a, int64_t b, int64_t infinity)
{
	int64_t result;

	if (end_is_infinite(a) || end_is_infinite(b))
		return infinity;
	if (__builtin_add_overflow(a, b, &result))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return result;
}

static int64_t end_multiply(int64_t a, int64_t b)
{
	int64_t result;

	if (!a || !b)
		return 0;
	if (end_is_infinite(a) || end_is_infinite(b) || __builtin_mul_overflow(a, b, &result))
		return (a < 0) != (b < 0) ? INT64_MIN : INT64_MAX;
	return result;
}

/* b is not 0. */
static int64_t end_divide(int64_t a, int64_t b)
{
	if (end_is_infinite(a))
		return (a < 0) != (b < 0) ? INT64_MIN : INT64_MAX;
	if (end_is_infinite(b))
		return a == 0 || (a < 0) == (b < 0) ? 0 : -1;
	return b == -1 ? -a : floor_divide(a, b);
}

static struct interval everything(void)
{
	return (struct interval){ INT64_MIN, INT64_MAX };
}

static struct interval hull(int64_t a, int64_t b, int64_t c, int64_t d)
{
	struct interval first = { a < b ? a : b, a < b ? b : a };
	struct interval second = { c < d ? c : d, c < d ? d : c };

	return (struct interval){ first.min < second.min ? first.min : second.min,
				  first.max > second.max ? first.max : second.max };
}

struct interval interval_multiply(struct interval a, struct interval b)
{
	return hull(end_multiply(a.min, b.min), end_multiply(a.min, b.max),
		    end_multiply(a.max, b.min), end_multiply(a.max, b.max));
}

static struct interval interval_divide(struct interval a, struct interval b)
{
	if (b.min <= 0 && b.max >= 0)
		return everything();
	return hull(end_divide(a.min, b.min), end_divide(a.min, b.max),
		    end_divide(a.max, b.min), end_divide(a.max, b.max));
}

static struct interval interval_modulo(struct interval a, struct interval b)
{
	int64_t c = b.min;

	if (b.min <= 0)
		return b.max < 0 ? (struct interval){ end_add(b.min, 1, INT64_MIN), 0 } :
				   everything();
	if (b.min == b.max && !end_is_infinite(a.min) && !end_is_infinite(a.max) &&
	    floor_divide(a.min, c) == floor_divide(a.max, c))
		return (struct interval){ floor_modulo(a.min, c), floor_modulo(a.max, c) };
	if (a.min >= 0 && a.max < b.min)
		return a;
	return (struct interval){ 0, end_add(b.max, -1, INT64_MAX) };
}

/* What is known of a truth value: -1 for nothing. */
static struct interval interval_truth(int truth)
{
	if (truth < 0)
		return (struct interval){ 0, 1 };
	return (struct interval){ truth, truth };
}

int truth_less(struct interval a, struct interval b)
{
	if (a.max < b.min)
		return 1;
	return a.min >= b.max && !(end_is_infinite(a.min) && end_is_infinite(b.max)) ? 0 : -1;
}

int truth_not(int truth)
{
	return truth < 0 ? truth : !truth;
}

int truth_equal(struct interval a, struct interval b)
{
	if (a.max < b.min || b.max < a.min)
		return 0;
	return a.min == a.max && b.min == b.max && !end_is_infinite(a.min) ? 1 : -1;
}

int truth_of(struct interval a)
{
	if (a.min > 0 || a.max < 0)
		return 1;
	return a.min == 0 && a.max == 0 ? 0 : -1;
}

static int truth_and(int a, int b)
{
	if (!a || !b)
		return 0;
	return a < 0 || b < 0 ? -1 : 1;
}

const struct variable_bounds *bounds_find(const struct bounds *bounds, const char *name)
{
	size_t k;

	for (k = 0; k < bounds->count; k++)
		if (names_equal(bounds->variables[k].name, name))
			return &bounds->variables[k];
	return NULL;
}

struct interval bounds_interval(const char *name, const struct bounds *bounds)
{
	const struct variable_bounds *variable = bounds_find(bounds, name);

	return variable ? variable->interval : (struct interval){ 1, INT64_MAX };
}

struct interval interval_binary(enum accel_expression_kind kind, struct interval a,
				       struct interval b)
{
	switch (kind) {
	case ACCEL_EXPRESSION_ADD:
		return (struct interval){ end_add(a.min, b.min, INT64_MIN),
					  end_add(a.max, b.max, INT64_MAX) };
	case ACCEL_EXPRESSION_SUBTRACT:
		return (struct interval){ end_add(a.min, end_multiply(b.max, -1), INT64_MIN),
					  end_add(a.max, end_multiply(b.min, -1), INT64_MAX) };
	case ACCEL_EXPRESSION_MULTIPLY:
		return interval_multiply(a, b);
	case ACCEL_EXPRESSION_FLOOR_DIVIDE:
		return interval_divide(a, b);
	case ACCEL_EXPRESSION_FLOOR_MODULO:
		return interval_modulo(a, b);
	case ACCEL_EXPRESSION_MIN:
		return (struct interval){ a.min < b.min ? a.min : b.min,
					  a.max < b.max ? a.max : b.max };
	case ACCEL_EXPRESSION_MAX:
		return (struct interval){ a.min > b.min ? a.min : b.min,
					  a.max > b.max ? a.max : b.max };
	case ACCEL_EXPRESSION_EQUAL:
		return interval_truth(truth_equal(a, b));
	case ACCEL_EXPRESSION_NOT_EQUAL:
		return interval_truth(truth_not(truth_equal(a, b)));
	case ACCEL_EXPRESSION_LESS:
		return interval_truth(truth_less(a, b));
	case ACCEL_EXPRESSION_LESS_EQUAL:
		return interval_truth(truth_not(truth_less(b, a)));
	case ACCEL_EXPRESSION_GREATER:
		return interval_truth(truth_less(b, a));
	case ACCEL_EXPRESSION_GREATER_EQUAL:
		return interval_truth(truth_not(truth_less(a, b)));
	case ACCEL_EXPRESSION_AND:
		return interval_truth(truth_and(truth_of(a), truth_of(b)));
	case ACCEL_EXPRESSION_OR:
		return interval_truth(truth_not(truth_and(truth_not(truth_of(a)),
							  truth_not(truth_of(b)))));
	default:
		return everything();
	}
}

struct interval expression_interval(const struct accel_expression *expression,
				    const struct bounds *bounds)
{
	struct accel_expression *const *operands = expression->operands;
	struct interval a, b;

	if (expression_is_constant(expression))
		return (struct interval){ expression->constant, expression->constant };
	if (expression_is_variable(expression))
		return bounds_interval(expression->name, bounds);
	if (expression->kind == ACCEL_EXPRESSION_SELECT) {
		a = expression_interval(operands[1], bounds);
		b = expression_interval(operands[2], bounds);
		return hull(a.min, a.max, b.min, b.max);
	}
	a = expression_interval(operands[0], bounds);
	b = expression_interval(operands[1], bounds);
	return interval_binary(expression->kind, a, b);
}
