/* SPDX-License-Identifier: MIT */
/*
 * Conditions over axes: truth of an expression taken apart into 0 <= value < limit, all of which
 * hold, as operands of a nest have them; or, where it is no conjunction, into several pieces of
 * the box that have no point in common.
 */
#ifndef LOWER_CONDITION_H
#define LOWER_CONDITION_H

#include "layout/simplify.h"
#include "lower/nest.h"

/* All of them hold. The expressions are referenced. */
struct conditions {
	uint32_t count;
	struct lower_condition list[LOWER_MAX_CONDITIONS];
};

/* What the functions below return beside 0 and -errno. */
enum condition_result {
	CONDITION_NEVER = 1,	/* no point of the box is left */
	CONDITION_SPLIT = 2,	/* it is no conjunction */
};

void conditions_release(struct conditions *conditions);
void conditions_copy(struct conditions *to, const struct conditions *from);

/*
 * Adds 0 <= value < limit, unless it holds everywhere. Consumes value, which may be NULL with
 * errno. -E2BIG beyond LOWER_MAX_CONDITIONS.
 */
int conditions_add(struct conditions *conditions, struct accel_expression *value, int64_t limit,
		   const struct bounds *bounds);

/* Adds that expression is not 0, or with truth false that it is. Consumes nothing. */
int conditions_add_truth(struct conditions *conditions, struct accel_expression *expression,
			 bool truth, const struct bounds *bounds);

/* A part of the box in which an expression is everywhere true, or everywhere false. */
struct condition_piece {
	bool holds;
	struct conditions conditions;
};

#define CONDITION_MAX_PIECES	64

struct condition_pieces {
	uint32_t count;
	uint32_t capacity;
	struct condition_piece *pieces;
};

void condition_pieces_release(struct condition_pieces *pieces);

/* Appends the pieces of the box that prefix leaves: disjoint, and none left out. -E2BIG. */
int condition_pieces_add(struct condition_pieces *pieces, struct accel_expression *expression,
			 const struct conditions *prefix, const struct bounds *bounds);

/* The same, of all of the conditions being true. */
int condition_pieces_add_all(struct condition_pieces *pieces, const struct conditions *all,
			     const struct conditions *prefix, const struct bounds *bounds);

/* An expression that is true where the given one, which is consumed, is not. NULL with errno. */
struct accel_expression *condition_negate(struct accel_expression *expression);

/* The bounds of a value where the conditions hold: those of the box, tightened. */
int conditions_interval(const struct conditions *conditions, struct accel_expression *value,
			const struct bounds *bounds, struct interval *interval);

#endif /* LOWER_CONDITION_H */
