/* SPDX-License-Identifier: MIT */
/*
 * Ranges of variables, bounds of expressions, simplification and proof. Reads expression.h's
 * nodes and makes others; knows nothing of maps.
 */
#ifndef ACCEL_LAYOUT_SIMPLIFY_H
#define ACCEL_LAYOUT_SIMPLIFY_H

#include "layout/expression.h"

/* Both ends belong to it. INT64_MIN and INT64_MAX: beyond 64 bits, or not known. */
struct interval {
	int64_t min;
	int64_t max;
};

/*
 * What is known of a variable: an interval, and where limit is not NULL, variable < limit with
 * limit over symbols. A variable that is not listed is a symbolic size: [1, INT64_MAX].
 */
struct variable_bounds {
	const char *name;
	struct interval interval;
	struct accel_expression *limit;		/* borrowed */
};

struct bounds {
	size_t count;
	const struct variable_bounds *variables;
};

/* The bounds of the value; a comparison that is decided has a single value. */
struct interval expression_interval(const struct accel_expression *expression,
				    const struct bounds *bounds);

/* The canonical form of an expression. Consumes nothing. NULL with errno on failure. */
struct accel_expression *expression_simplify(struct accel_expression *expression,
					     const struct bounds *bounds);

/* expression_simplify() that consumes. */
struct accel_expression *expression_simplify_take(struct accel_expression *expression,
						  const struct bounds *bounds);

/*
 * Whether a == b for all values in the bounds, or a != b for all. UNKNOWN also when they are equal
 * somewhere. Returns 0 or -errno.
 */
int expression_prove_equal(struct accel_expression *a, struct accel_expression *b,
			   const struct bounds *bounds, enum accel_answer *answer);

/*
 * What the value is at most, over symbols. NULL with errno 0 if that is not found, and otherwise
 * with errno on failure.
 */
struct accel_expression *expression_upper_bound(struct accel_expression *expression,
						const struct bounds *bounds);

/* True if expression >= 0 is proved. */
bool expression_is_nonnegative(struct accel_expression *expression, const struct bounds *bounds);

#endif /* ACCEL_LAYOUT_SIMPLIFY_H */
