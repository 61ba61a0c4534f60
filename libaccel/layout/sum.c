// SPDX-License-Identifier: MIT
/*
 * Sums of products of atoms: the form in which expressions are simplified.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout/interval.h"
#include "layout/sum.h"

void sum_init(struct sum *sum)
{
	sum->count = 0;
	sum->capacity = sizeof(sum->few) / sizeof(sum->few[0]);
	sum->terms = sum->few;
}

void sum_release(struct sum *sum)
{
	uint32_t k;

	for (k = 0; k < sum->count; k++)
		expression_unref(sum->terms[k].monomial);
	if (sum->terms != sum->few)
		free(sum->terms);
	sum_init(sum);
}

void sum_remove(struct sum *sum, uint32_t k)
{
	expression_unref(sum->terms[k].monomial);
	sum->terms[k] = sum->terms[--sum->count];
}

/* A sum of more terms is no expression: it would be too deep. */
static int sum_reserve(struct sum *sum)
{
	uint32_t capacity = sum->capacity * 2;
	struct term *terms;

	if (sum->count == ACCEL_EXPRESSION_MAX_DEPTH)
		return -E2BIG;
	if (sum->count < sum->capacity)
		return 0;
	terms = malloc(capacity * sizeof(*terms));
	if (!terms)
		return -ENOMEM;
	memcpy(terms, sum->terms, sum->count * sizeof(*terms));
	if (sum->terms != sum->few)
		free(sum->terms);
	sum->terms = terms;
	sum->capacity = capacity;
	return 0;
}

bool monomial_equal(const struct accel_expression *a, const struct accel_expression *b)
{
	if (!a || !b)
		return a == b;
	return !expression_compare(a, b);
}

int sum_append_term(struct sum *sum, int64_t coefficient, struct accel_expression *monomial)
{
	int code;

	if (!coefficient)
		return 0;
	code = sum_reserve(sum);
	if (code)
		return code;
	sum->terms[sum->count++] = (struct term){ coefficient, expression_ref(monomial) };
	return 0;
}

int sum_add_term(struct sum *sum, int64_t coefficient, struct accel_expression *monomial)
{
	uint32_t k;

	if (!coefficient)
		return 0;
	for (k = 0; k < sum->count; k++) {
		if (!monomial_equal(sum->terms[k].monomial, monomial))
			continue;
		if (__builtin_add_overflow(sum->terms[k].coefficient, coefficient,
					   &sum->terms[k].coefficient))
			return -EOVERFLOW;
		if (!sum->terms[k].coefficient)
			sum_remove(sum, k);
		return 0;
	}
	return sum_append_term(sum, coefficient, monomial);
}

int sum_add_constant(struct sum *sum, int64_t value)
{
	return sum_add_term(sum, value, NULL);
}

int sum_add(struct sum *sum, const struct sum *other, int64_t factor)
{
	/* A copy has no equal terms to look for. */
	int (*const add)(struct sum *sum, int64_t coefficient, struct accel_expression *monomial) =
		sum->count ? sum_add_term : sum_append_term;
	int64_t coefficient;
	uint32_t k;
	int code;

	for (k = 0; k < other->count; k++) {
		if (__builtin_mul_overflow(other->terms[k].coefficient, factor, &coefficient))
			return -EOVERFLOW;
		code = add(sum, coefficient, other->terms[k].monomial);
		if (code)
			return code;
	}
	return 0;
}

bool sum_is_constant(const struct sum *sum, int64_t *value)
{
	if (sum->count > 1 || (sum->count == 1 && sum->terms[0].monomial))
		return false;
	*value = sum->count ? sum->terms[0].coefficient : 0;
	return true;
}

int64_t sum_constant(const struct sum *sum)
{
	uint32_t k;

	for (k = 0; k < sum->count; k++)
		if (!sum->terms[k].monomial)
			return sum->terms[k].coefficient;
	return 0;
}

struct interval sum_interval(const struct sum *sum, const struct bounds *bounds)
{
	struct interval total = { 0, 0 }, term, factor;
	uint32_t k;

	for (k = 0; k < sum->count; k++) {
		factor = (struct interval){ sum->terms[k].coefficient, sum->terms[k].coefficient };
		term = factor;
		if (sum->terms[k].monomial)
			term = interval_multiply(factor,
						 expression_interval(sum->terms[k].monomial,
								     bounds));
		total = interval_binary(ACCEL_EXPRESSION_ADD, total, term);
	}
	return total;
}

unsigned int monomial_factors(struct accel_expression *monomial,
				     struct accel_expression **factors)
{
	unsigned int count = 0;

	if (!monomial)
		return 0;
	while (monomial->kind == ACCEL_EXPRESSION_MULTIPLY) {
		factors[count++] = monomial->operands[1];
		monomial = monomial->operands[0];
	}
	factors[count++] = monomial;
	return count;
}

static int compare_factors(const void *a, const void *b)
{
	return expression_compare(*(struct accel_expression *const *)a,
				  *(struct accel_expression *const *)b);
}

/* The product of atoms in sorted order. NULL with errno; count is not 0. */
static struct accel_expression *monomial_build(struct accel_expression **factors,
					       unsigned int count)
{
	struct accel_expression *monomial;
	unsigned int k;

	qsort(factors, count, sizeof(*factors), compare_factors);
	monomial = expression_ref(factors[0]);
	for (k = 1; k < count; k++)
		monomial = expression_multiply(monomial, expression_ref(factors[k]));
	return monomial;
}

/* *product = a * b, NULL for 1. */
static int monomial_multiply(struct accel_expression *a, struct accel_expression *b,
			     struct accel_expression **product)
{
	struct accel_expression *factors[2 * ACCEL_EXPRESSION_MAX_DEPTH];
	unsigned int count;

	if (!a || !b) {
		*product = expression_ref(a ? a : b);
		return 0;
	}
	count = monomial_factors(a, factors);
	count += monomial_factors(b, factors + count);
	*product = monomial_build(factors, count);
	return *product ? 0 : -errno;
}

bool monomial_divide(struct accel_expression *a, struct accel_expression *b,
			    struct accel_expression **quotient)
{
	struct accel_expression *factors[ACCEL_EXPRESSION_MAX_DEPTH];
	struct accel_expression *divisors[ACCEL_EXPRESSION_MAX_DEPTH];
	unsigned int count = monomial_factors(a, factors);
	unsigned int num_divisors = monomial_factors(b, divisors), j, k;

	for (j = 0; j < num_divisors; j++) {
		for (k = 0; k < count; k++)
			if (!expression_compare(factors[k], divisors[j]))
				break;
		if (k == count)
			return false;
		factors[k] = factors[--count];
	}
	*quotient = count ? monomial_build(factors, count) : NULL;
	return !count || *quotient;
}

int sum_add_product(struct sum *sum, const struct sum *a, const struct sum *b,
			   int64_t factor)
{
	struct accel_expression *monomial;
	int64_t coefficient;
	uint32_t j, k;
	int code;

	for (j = 0; j < a->count; j++) {
		for (k = 0; k < b->count; k++) {
			if (__builtin_mul_overflow(a->terms[j].coefficient,
						   b->terms[k].coefficient, &coefficient) ||
			    __builtin_mul_overflow(coefficient, factor, &coefficient))
				return -EOVERFLOW;
			code = monomial_multiply(a->terms[j].monomial, b->terms[k].monomial,
						 &monomial);
			if (code)
				return code;
			code = sum_add_term(sum, coefficient, monomial);
			expression_unref(monomial);
			if (code)
				return code;
		}
	}
	return 0;
}

static unsigned int monomial_degree(const struct accel_expression *monomial)
{
	unsigned int degree = !!monomial;

	while (monomial && monomial->kind == ACCEL_EXPRESSION_MULTIPLY) {
		monomial = monomial->operands[0];
		degree++;
	}
	return degree;
}

/* Higher degrees first, then larger coefficients; the constant last. */
static int compare_terms(const void *left, const void *right)
{
	const struct term *a = left, *b = right;
	unsigned int degree_a = monomial_degree(a->monomial);
	unsigned int degree_b = monomial_degree(b->monomial);

	if (degree_a != degree_b)
		return degree_a > degree_b ? -1 : 1;
	if (magnitude(a->coefficient) != magnitude(b->coefficient))
		return magnitude(a->coefficient) > magnitude(b->coefficient) ? -1 : 1;
	if (!a->monomial)
		return 0;
	return expression_compare(a->monomial, b->monomial);
}

void sum_sort(struct sum *sum)
{
	if (sum->count > 1)
		qsort(sum->terms, sum->count, sizeof(*sum->terms), compare_terms);
}

static struct accel_expression *term_expression(int64_t coefficient,
						struct accel_expression *monomial)
{
	if (!monomial)
		return expression_constant(coefficient);
	if (coefficient == 1)
		return expression_ref(monomial);
	return expression_multiply(expression_constant(coefficient), expression_ref(monomial));
}

static struct accel_expression *append_term(struct accel_expression *expression,
					    const struct term *term)
{
	if (!expression)
		return term_expression(term->coefficient, term->monomial);
	if (term->coefficient < 0 && term->coefficient != INT64_MIN)
		return expression_subtract(expression,
					   term_expression(-term->coefficient, term->monomial));
	return expression_add(expression, term_expression(term->coefficient, term->monomial));
}

struct accel_expression *sum_expression(struct sum *sum)
{
	struct accel_expression *expression = NULL;
	uint32_t first = 0, k;

	if (!sum->count)
		return expression_constant(0);
	sum_sort(sum);
	while (first + 1 < sum->count && sum->terms[first].coefficient < 0)
		first++;
	if (sum->terms[first].coefficient < 0)
		first = 0;
	expression = append_term(NULL, &sum->terms[first]);
	for (k = 0; k < sum->count && expression; k++)
		if (k != first)
			expression = append_term(expression, &sum->terms[k]);
	return expression;
}

int sum_add_canonical(struct sum *sum, struct accel_expression *expression, int64_t factor)
{
	struct accel_expression *const *operands = expression->operands;
	int64_t coefficient;
	int code;

	switch (expression->kind) {
	case ACCEL_EXPRESSION_CONSTANT:
		if (__builtin_mul_overflow(expression->constant, factor, &coefficient))
			return -EOVERFLOW;
		return sum_add_constant(sum, coefficient);
	case ACCEL_EXPRESSION_ADD:
		code = sum_add_canonical(sum, operands[0], factor);
		return code ? code : sum_add_canonical(sum, operands[1], factor);
	case ACCEL_EXPRESSION_SUBTRACT:
		if (__builtin_mul_overflow(factor, -1, &coefficient))
			return -EOVERFLOW;
		code = sum_add_canonical(sum, operands[0], factor);
		return code ? code : sum_add_canonical(sum, operands[1], coefficient);
	case ACCEL_EXPRESSION_MULTIPLY:
		if (!expression_is_constant(operands[0]))
			return sum_add_term(sum, factor, expression);
		if (__builtin_mul_overflow(operands[0]->constant, factor, &coefficient))
			return -EOVERFLOW;
		return sum_add_term(sum, coefficient, operands[1]);
	default:
		return sum_add_term(sum, factor, expression);
	}
}

int sum_take_atom(struct sum *sum, struct accel_expression *atom, int64_t factor)
{
	int code;

	if (!atom)
		return -errno;
	code = sum_add_canonical(sum, atom, factor);
	expression_unref(atom);
	return code;
}
