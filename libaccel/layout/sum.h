/* SPDX-License-Identifier: MIT */
/*
 * Sums of products of atoms. An atom is whatever is no sum, product or constant itself. Functions
 * that return int return 0 or -errno.
 */
#ifndef ACCEL_LAYOUT_SUM_H
#define ACCEL_LAYOUT_SUM_H

#include "layout/simplify.h"

/* coefficient * monomial; monomial is a product of sorted atoms, or NULL for 1. */
struct term {
	int64_t coefficient;
	struct accel_expression *monomial;
};

/* Terms with different monomials, none 0. Not to be copied: terms may point to few. */
struct sum {
	uint32_t count;
	uint32_t capacity;
	struct term *terms;
	struct term few[6];
};

void sum_init(struct sum *sum);
void sum_release(struct sum *sum);

/* Takes term k away; the last one moves to its place. */
void sum_remove(struct sum *sum, uint32_t k);

/* Adds coefficient * monomial. The monomial stays the caller's. */
int sum_add_term(struct sum *sum, int64_t coefficient, struct accel_expression *monomial);
/* The same, where no term of the sum has this monomial. */
int sum_append_term(struct sum *sum, int64_t coefficient, struct accel_expression *monomial);
int sum_add_constant(struct sum *sum, int64_t value);

/* Adds factor * other, and factor * a * b. */
int sum_add(struct sum *sum, const struct sum *other, int64_t factor);
int sum_add_product(struct sum *sum, const struct sum *a, const struct sum *b, int64_t factor);

/* Adds factor * expression, which is canonical, without looking into its atoms. */
int sum_add_canonical(struct sum *sum, struct accel_expression *expression, int64_t factor);

/* Adds factor * atom and drops the atom, which may be NULL with errno. */
int sum_take_atom(struct sum *sum, struct accel_expression *atom, int64_t factor);

/* True, and the value, if there is nothing but a constant. */
bool sum_is_constant(const struct sum *sum, int64_t *value);

/* The constant in it. */
int64_t sum_constant(const struct sum *sum);

struct interval sum_interval(const struct sum *sum, const struct bounds *bounds);

/* Higher degrees first, then larger coefficients; the constant last. */
void sum_sort(struct sum *sum);

/* Sorted and as an expression, a positive term first if there is one. NULL with errno. */
struct accel_expression *sum_expression(struct sum *sum);

bool monomial_equal(const struct accel_expression *a, const struct accel_expression *b);

/* The atoms of a monomial, at most as many as it is deep. */
unsigned int monomial_factors(struct accel_expression *monomial,
			      struct accel_expression **factors);

/* True, and the quotient (NULL for 1), if each atom of b is one of a. */
bool monomial_divide(struct accel_expression *a, struct accel_expression *b,
		     struct accel_expression **quotient);

#endif /* ACCEL_LAYOUT_SUM_H */
