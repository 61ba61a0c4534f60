/* SPDX-License-Identifier: MIT */
/*
 * Intervals of 64-bit integers, as simplification reasons with them. The type and what is known of
 * variables are in simplify.h.
 */
#ifndef ACCEL_LAYOUT_INTERVAL_H
#define ACCEL_LAYOUT_INTERVAL_H

#include "layout/simplify.h"

static inline bool end_is_infinite(int64_t value)
{
	return value == INT64_MIN || value == INT64_MAX;
}

struct interval interval_multiply(struct interval a, struct interval b);

/* The values of a kind of expression with two operands, over all values of these. */
struct interval interval_binary(enum accel_expression_kind kind, struct interval a,
				struct interval b);

/* Truth values: 1, 0, or -1 for what is not decided. */
int truth_less(struct interval a, struct interval b);
int truth_equal(struct interval a, struct interval b);
int truth_of(struct interval a);
int truth_not(int truth);

/* What is known of a variable, or NULL; its interval. */
const struct variable_bounds *bounds_find(const struct bounds *bounds, const char *name);
struct interval bounds_interval(const char *name, const struct bounds *bounds);

#endif /* ACCEL_LAYOUT_INTERVAL_H */
