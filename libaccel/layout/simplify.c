// SPDX-License-Identifier: MIT
/*
 * Canonical forms. An expression becomes a sum of products of atoms: variables, and quotients,
 * remainders, minima and the like of expressions that are canonical themselves. Divisions are
 * taken apart as far as the ranges of the variables prove it.
 *
 * Arithmetic here is that of the integers: a rule may remove an overflow, never add one in
 * silence. Recursion is as deep as the expression.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout/interval.h"
#include "layout/sum.h"

/* Products of sums that would have more terms than this are not multiplied out. */
#define MAX_PRODUCT_TERMS	64

struct simplifier {
	const struct bounds *bounds;
	/* x % c is written as x - c*(x//c): a form in which equal expressions cancel. */
	bool divisions_only;
};

/* Division --------------------------------------------------------------------------------- */

static int divide(const struct simplifier *simplifier, struct sum *dividend, int64_t divisor,
		  int64_t factor, struct sum *result);
static int modulo(const struct simplifier *simplifier, struct sum *dividend, int64_t divisor,
		  int64_t factor, struct sum *result);

/* True, and the quotient, if the sum divided by divisor > 0 is the same everywhere. */
static bool quotient_is_single(const struct simplifier *simplifier, const struct sum *sum,
			       int64_t divisor, int64_t *quotient)
{
	struct interval interval = sum_interval(sum, simplifier->bounds);

	if (end_is_infinite(interval.min) || end_is_infinite(interval.max))
		return false;
	*quotient = floor_divide(interval.min, divisor);
	return *quotient == floor_divide(interval.max, divisor);
}

/*
 * Splits a sum: the terms that are multiples of divisor > 0, divided by it, to quotient, the
 * others to rest; both are empty before. The constant is divided with remainder.
 */
static int split_multiples(const struct sum *sum, int64_t divisor, struct sum *quotient,
			   struct sum *rest)
{
	const struct term *term;
	uint32_t k;
	int code;

	for (k = 0; k < sum->count; k++) {
		term = &sum->terms[k];
		if (term->coefficient % divisor == 0) {
			code = sum_append_term(quotient, term->coefficient / divisor,
					       term->monomial);
		} else if (!term->monomial) {
			code = sum_append_term(quotient, floor_divide(term->coefficient, divisor),
					       NULL);
			if (!code)
				code = sum_append_term(rest,
						       floor_modulo(term->coefficient, divisor),
						       NULL);
		} else {
			code = sum_append_term(rest, term->coefficient, term->monomial);
		}
		if (code)
			return code;
	}
	return 0;
}

/*
 * Looks for g, a divisor of divisor > 0, such that sum = g*a + s with s // g the same everywhere:
 * then (g*a + s) // (g*d) = (a + s//g) // d, and s plays no part in it. On success *g is not 1,
 * multiples is a + s//g and rest is s - g*(s//g), in 0 <= rest < g.
 */
static int find_common_factor(const struct simplifier *simplifier, const struct sum *sum,
			      int64_t divisor, int64_t *g, struct sum *multiples, struct sum *rest)
{
	int64_t quotient, offset;
	uint32_t k;
	int code;

	for (k = 0; k < sum->count; k++) {
		*g = greatest_common_divisor(sum->terms[k].coefficient, divisor);
		if (*g == 1 || !sum->terms[k].monomial)
			continue;
		code = split_multiples(sum, *g, multiples, rest);
		if (code)
			return code;
		if (quotient_is_single(simplifier, rest, *g, &quotient)) {
			if (__builtin_mul_overflow(quotient, -*g, &offset))
				return -EOVERFLOW;
			code = sum_add_constant(multiples, quotient);
			return code ? code : sum_add_constant(rest, offset);
		}
		sum_release(multiples);
		sum_release(rest);
	}
	*g = 1;
	return 0;
}

/* The single term that is no constant, with coefficient 1 and of this kind, or NULL. */
static struct accel_expression *single_atom(const struct sum *sum, enum accel_expression_kind kind)
{
	struct accel_expression *atom = NULL;
	uint32_t k;

	for (k = 0; k < sum->count; k++) {
		if (!sum->terms[k].monomial)
			continue;
		if (atom || sum->terms[k].coefficient != 1 ||
		    sum->terms[k].monomial->kind != kind ||
		    !expression_is_constant(sum->terms[k].monomial->operands[1]) ||
		    sum->terms[k].monomial->operands[1]->constant <= 0)
			return NULL;
		atom = sum->terms[k].monomial;
	}
	return atom;
}

/* (x // b + k) // c = (x + k*b) // (b*c) */
static int divide_quotient(const struct simplifier *simplifier, const struct sum *sum,
			   struct accel_expression *atom, int64_t divisor, int64_t factor,
			   struct sum *result)
{
	int64_t inner = atom->operands[1]->constant, product, offset;
	struct sum dividend;
	int code;

	if (__builtin_mul_overflow(inner, divisor, &product) ||
	    __builtin_mul_overflow(sum_constant(sum), inner, &offset))
		return -EOVERFLOW;
	sum_init(&dividend);
	code = sum_add_canonical(&dividend, atom->operands[0], 1);
	if (!code)
		code = sum_add_constant(&dividend, offset);
	if (!code)
		code = divide(simplifier, &dividend, product, factor, result);
	sum_release(&dividend);
	return code;
}

/* (x % m) // c = (x // c) % (m/c) where c divides m */
static int divide_remainder(const struct simplifier *simplifier, struct accel_expression *atom,
			    int64_t divisor, int64_t factor, struct sum *result)
{
	struct sum dividend, quotient;
	int code;

	sum_init(&dividend);
	sum_init(&quotient);
	code = sum_add_canonical(&dividend, atom->operands[0], 1);
	if (!code)
		code = divide(simplifier, &dividend, divisor, 1, &quotient);
	if (!code)
		code = modulo(simplifier, &quotient, atom->operands[1]->constant / divisor, factor,
			      result);
	sum_release(&dividend);
	sum_release(&quotient);
	return code;
}

/* Adds factor * (rest // divisor); no term of rest but the constant is a multiple of divisor. */
static int divide_rest(const struct simplifier *simplifier, struct sum *rest, int64_t divisor,
		       int64_t factor, struct sum *result)
{
	struct accel_expression *atom;
	struct sum multiples, small;
	int64_t quotient, g;
	int code;

	if (quotient_is_single(simplifier, rest, divisor, &quotient)) {
		if (__builtin_mul_overflow(quotient, factor, &quotient))
			return -EOVERFLOW;
		return sum_add_constant(result, quotient);
	}
	sum_init(&multiples);
	sum_init(&small);
	code = find_common_factor(simplifier, rest, divisor, &g, &multiples, &small);
	if (!code && g != 1)
		code = divide(simplifier, &multiples, divisor / g, factor, result);
	sum_release(&multiples);
	sum_release(&small);
	if (code || g != 1)
		return code;

	atom = single_atom(rest, ACCEL_EXPRESSION_FLOOR_DIVIDE);
	if (atom) {
		code = divide_quotient(simplifier, rest, atom, divisor, factor, result);
		if (code != -EOVERFLOW)
			return code;
	}
	atom = single_atom(rest, ACCEL_EXPRESSION_FLOOR_MODULO);
	if (atom && rest->count == 1 && atom->operands[1]->constant % divisor == 0)
		return divide_remainder(simplifier, atom, divisor, factor, result);
	return sum_take_atom(result, expression_divide(sum_expression(rest),
						       expression_constant(divisor)), factor);
}

/* Adds factor * (dividend // divisor). */
static int divide(const struct simplifier *simplifier, struct sum *dividend, int64_t divisor,
		  int64_t factor, struct sum *result)
{
	struct sum quotient, rest;
	int code;

	if (!divisor)
		return -EDOM;
	sum_init(&quotient);
	sum_init(&rest);
	if (divisor < 0) {
		/* a // -b = -a // b */
		code = divisor == INT64_MIN ? -EOVERFLOW : sum_add(&rest, dividend, -1);
		if (!code)
			code = divide(simplifier, &rest, -divisor, factor, result);
		goto out;
	}
	code = split_multiples(dividend, divisor, &quotient, &rest);
	if (!code)
		code = sum_add(result, &quotient, factor);
	if (!code)
		code = divide_rest(simplifier, &rest, divisor, factor, result);
out:
	sum_release(&quotient);
	sum_release(&rest);
	return code;
}

/* t*(y % m) is t*y modulo divisor, where divisor divides t*m. True if something changed. */
static int drop_inner_modulo(struct sum *sum, int64_t divisor, bool *changed)
{
	struct accel_expression *atom;
	int64_t coefficient, product;
	uint32_t k = 0;
	int code = 0;

	while (k < sum->count && !code) {
		atom = sum->terms[k].monomial;
		coefficient = sum->terms[k].coefficient;
		if (!atom || atom->kind != ACCEL_EXPRESSION_FLOOR_MODULO ||
		    !expression_is_constant(atom->operands[1]) ||
		    __builtin_mul_overflow(atom->operands[1]->constant, coefficient, &product) ||
		    product % divisor) {
			k++;
			continue;
		}
		/* The last term moves to place k, and is looked at next. */
		expression_ref(atom);
		sum_remove(sum, k);
		code = sum_add_canonical(sum, atom->operands[0], coefficient);
		expression_unref(atom);
		*changed = true;
	}
	return code;
}

/* factor * (rest - divisor * (rest // divisor)) */
static int modulo_by_division(const struct simplifier *simplifier, struct sum *rest,
			      int64_t divisor, int64_t factor, struct sum *result)
{
	int64_t scaled;
	int code;

	if (__builtin_mul_overflow(divisor, factor, &scaled) ||
	    __builtin_sub_overflow(0, scaled, &scaled))
		return -EOVERFLOW;
	code = sum_add(result, rest, factor);
	return code ? code : divide(simplifier, rest, divisor, scaled, result);
}

/* Adds factor * (rest % divisor), where rest has no multiples of divisor. */
static int modulo_rest(const struct simplifier *simplifier, struct sum *rest, int64_t divisor,
		       int64_t factor, struct sum *result)
{
	struct sum multiples, small;
	int64_t quotient, g, scaled;
	bool changed = false;
	int code;

	if (quotient_is_single(simplifier, rest, divisor, &quotient)) {
		if (__builtin_mul_overflow(quotient, -divisor, &quotient))
			return -EOVERFLOW;
		code = sum_add_constant(rest, quotient);
		return code ? code : sum_add(result, rest, factor);
	}
	if (simplifier->divisions_only)
		return modulo_by_division(simplifier, rest, divisor, factor, result);
	code = drop_inner_modulo(rest, divisor, &changed);
	if (code || changed)
		return code ? code : modulo(simplifier, rest, divisor, factor, result);

	sum_init(&multiples);
	sum_init(&small);
	code = find_common_factor(simplifier, rest, divisor, &g, &multiples, &small);
	if (!code && g != 1) {
		/* (g*a + s) % (g*d) = g*(a % d) + s */
		code = __builtin_mul_overflow(factor, g, &scaled) ? -EOVERFLOW :
		       sum_add(result, &small, factor);
		if (!code)
			code = modulo(simplifier, &multiples, divisor / g, scaled, result);
	}
	sum_release(&multiples);
	sum_release(&small);
	if (code || g != 1)
		return code;
	return sum_take_atom(result, expression_modulo(sum_expression(rest),
						       expression_constant(divisor)), factor);
}

/* Adds factor * (dividend % divisor). */
static int modulo(const struct simplifier *simplifier, struct sum *dividend, int64_t divisor,
		  int64_t factor, struct sum *result)
{
	struct sum quotient, rest;
	int code;

	if (!divisor)
		return -EDOM;
	sum_init(&quotient);
	sum_init(&rest);
	if (divisor < 0) {
		/* a % -b = -(-a % b) */
		code = divisor == INT64_MIN || factor == INT64_MIN ? -EOVERFLOW :
		       sum_add(&rest, dividend, -1);
		if (!code)
			code = modulo(simplifier, &rest, -divisor, -factor, result);
		goto out;
	}
	code = split_multiples(dividend, divisor, &quotient, &rest);
	if (!code)
		code = modulo_rest(simplifier, &rest, divisor, factor, result);
out:
	sum_release(&quotient);
	sum_release(&rest);
	return code;
}

/* Symbolic proof --------------------------------------------------------------------------- */

static struct accel_expression *extreme_of_sum(struct sum *sum, const struct bounds *bounds,
					       bool is_upper);

static bool is_known_nonnegative(const struct accel_expression *expression,
				 const struct bounds *bounds)
{
	return expression_interval(expression, bounds).min >= 0;
}

/* A bound of an atom over symbols, or NULL with errno 0 if there is none. */
static struct accel_expression *extreme_of_atom(struct accel_expression *atom,
						const struct bounds *bounds, bool is_upper)
{
	struct interval interval = expression_interval(atom, bounds);
	struct accel_expression *const *operands = atom->operands;
	const struct variable_bounds *variable;
	struct accel_expression *inner;
	struct sum sum;
	int64_t end = is_upper ? interval.max : interval.min;

	errno = 0;
	if (expression_is_variable(atom)) {
		variable = bounds_find(bounds, atom->name);
		if (!variable)
			return expression_ref(atom);
		if (is_upper && variable->limit)
			return expression_subtract(expression_ref(variable->limit),
						   expression_constant(1));
	}
	if (!end_is_infinite(end))
		return expression_constant(end);
	if (atom->kind == ACCEL_EXPRESSION_FLOOR_MODULO && is_upper &&
	    expression_interval(operands[1], bounds).min > 0)
		return expression_subtract(expression_ref(operands[1]), expression_constant(1));
	if (atom->kind == ACCEL_EXPRESSION_FLOOR_DIVIDE && expression_is_constant(operands[1]) &&
	    operands[1]->constant > 0) {
		sum_init(&sum);
		inner = sum_add_canonical(&sum, operands[0], 1) ? NULL :
			extreme_of_sum(&sum, bounds, is_upper);
		sum_release(&sum);
		return inner ? expression_divide(inner, expression_ref(operands[1])) : NULL;
	}
	return NULL;
}

/* The same for a product of atoms that are not negative. */
static struct accel_expression *extreme_of_monomial(struct accel_expression *monomial,
						    const struct bounds *bounds, bool is_upper)
{
	struct accel_expression *factors[ACCEL_EXPRESSION_MAX_DEPTH], *product;
	unsigned int count = monomial_factors(monomial, factors), k;

	if (count == 1)
		return extreme_of_atom(monomial, bounds, is_upper);
	product = expression_constant(1);
	for (k = 0; k < count && product; k++) {
		if (!is_known_nonnegative(factors[k], bounds)) {
			expression_unref(product);
			return NULL;
		}
		product = expression_multiply(product,
					      extreme_of_atom(factors[k], bounds, is_upper));
	}
	return product;
}

static struct accel_expression *extreme_of_sum(struct sum *sum, const struct bounds *bounds,
					       bool is_upper)
{
	struct accel_expression *total = expression_constant(0), *bound;
	uint32_t k;

	for (k = 0; k < sum->count && total; k++) {
		if (sum->terms[k].monomial)
			bound = extreme_of_monomial(sum->terms[k].monomial, bounds,
						    is_upper == (sum->terms[k].coefficient > 0));
		else
			bound = expression_constant(1);
		bound = expression_multiply(expression_constant(sum->terms[k].coefficient), bound);
		total = expression_add(total, bound);
	}
	return total;
}

static int accumulate(const struct simplifier *simplifier, struct accel_expression *expression,
		      int64_t factor, struct sum *result);

/* True if sum >= 0 is proved, by its interval or by its lower bound over symbols. */
static bool sum_is_nonnegative(const struct simplifier *simplifier, struct sum *sum)
{
	struct accel_expression *bound;
	struct sum simplified;
	bool is_proved;
	int64_t least;

	/* Symbols tell more only where they leave an end open. */
	least = sum_interval(sum, simplifier->bounds).min;
	if (!end_is_infinite(least))
		return least >= 0;
	bound = extreme_of_sum(sum, simplifier->bounds, false);
	if (!bound)
		return false;
	sum_init(&simplified);
	is_proved = !accumulate(simplifier, bound, 1, &simplified) &&
		    sum_interval(&simplified, simplifier->bounds).min >= 0;
	sum_release(&simplified);
	expression_unref(bound);
	return is_proved;
}

/*
 * Division by an expression. Takes multiples of divisor out of dividend, one term at a time, as
 * long as that leaves fewer terms.
 */
static int extract_multiples(struct sum *dividend, struct sum *divisor, struct sum *quotient)
{
	struct accel_expression *monomial;
	struct sum reduced, multiple;
	struct term lead;
	int64_t coefficient;
	int code = 0;
	uint32_t k;

	sum_sort(divisor);
	lead = divisor->terms[0];
	for (k = 0; k < dividend->count && !code;) {
		coefficient = dividend->terms[k].coefficient / lead.coefficient;
		if (dividend->terms[k].coefficient % lead.coefficient ||
		    !monomial_divide(dividend->terms[k].monomial, lead.monomial, &monomial)) {
			k++;
			continue;
		}
		sum_init(&multiple);
		sum_init(&reduced);
		code = sum_add_term(&multiple, coefficient, monomial);
		if (!code)
			code = sum_add(&reduced, dividend, 1);
		if (!code)
			code = sum_add_product(&reduced, &multiple, divisor, -1);
		if (!code && reduced.count < dividend->count) {
			code = sum_add(quotient, &multiple, 1);
			sum_release(dividend);
			if (!code)
				code = sum_add(dividend, &reduced, 1);
			k = 0;
		} else {
			k++;
		}
		sum_release(&multiple);
		sum_release(&reduced);
		expression_unref(monomial);
	}
	return code;
}

/* Whether 0 <= sum < divisor is proved. */
static bool is_remainder(const struct simplifier *simplifier, struct sum *sum,
			 const struct sum *divisor)
{
	struct sum gap;
	bool is_proved;

	if (!sum_is_nonnegative(simplifier, sum))
		return false;
	sum_init(&gap);
	is_proved = !sum_add(&gap, divisor, 1) && !sum_add(&gap, sum, -1) &&
		    !sum_add_constant(&gap, -1) && sum_is_nonnegative(simplifier, &gap);
	sum_release(&gap);
	return is_proved;
}

/*
 * Looks for a proof that the quotient is 0, or -1: negative, and not below -divisor. *rest is
 * then left as the remainder.
 */
static int find_symbolic_quotient(const struct simplifier *simplifier, struct sum *rest,
				  const struct sum *divisor, bool *is_found, int64_t *quotient)
{
	int code;

	*quotient = 0;
	*is_found = is_remainder(simplifier, rest, divisor);
	if (*is_found || sum_interval(rest, simplifier->bounds).max >= 0)
		return 0;
	code = sum_add(rest, divisor, 1);
	if (code)
		return code;
	*quotient = -1;
	*is_found = is_remainder(simplifier, rest, divisor);
	return *is_found ? 0 : sum_add(rest, divisor, -1);
}

static int divide_symbolic(const struct simplifier *simplifier, struct sum *dividend,
			   struct sum *divisor, int64_t factor, struct sum *result,
			   bool is_modulo)
{
	enum accel_expression_kind kind = ACCEL_EXPRESSION_FLOOR_DIVIDE;
	struct accel_expression *atom;
	struct sum quotient;
	int64_t value;
	bool is_found;
	int code;

	sum_init(&quotient);
	code = extract_multiples(dividend, divisor, &quotient);
	if (!code && !is_modulo)
		code = sum_add(result, &quotient, factor);
	sum_release(&quotient);
	if (code)
		return code;
	code = find_symbolic_quotient(simplifier, dividend, divisor, &is_found, &value);
	if (code)
		return code;
	if (is_found && is_modulo)
		return sum_add(result, dividend, factor);
	if (is_found)
		return __builtin_mul_overflow(value, factor, &value) ? -EOVERFLOW :
		       sum_add_constant(result, value);
	if (is_modulo && simplifier->divisions_only) {
		/* x - d*(x//d) */
		code = sum_add(result, dividend, factor);
		if (code)
			return code;
		atom = expression_divide(sum_expression(dividend), sum_expression(divisor));
		atom = expression_multiply(atom, sum_expression(divisor));
		if (!atom)
			return -errno;
		/* The quotient is canonical already: only the product is multiplied out. */
		sum_init(&quotient);
		code = sum_add_term(&quotient, 1, atom->operands[0]);
		if (!code)
			code = sum_add_product(result, &quotient, divisor, -factor);
		sum_release(&quotient);
		expression_unref(atom);
		return code;
	}
	if (is_modulo)
		kind = ACCEL_EXPRESSION_FLOOR_MODULO;
	return sum_take_atom(result, expression_binary(kind, sum_expression(dividend),
						       sum_expression(divisor)), factor);
}

/* Quotients and remainders that belong together ------------------------------------------------ */

static bool is_division(const struct accel_expression *expression)
{
	return expression && (expression->kind == ACCEL_EXPRESSION_FLOOR_DIVIDE ||
			      expression->kind == ACCEL_EXPRESSION_FLOOR_MODULO);
}

/* Whether adding this takes a term of sum away with each of its own but the constant. */
static bool cancels(const struct sum *sum, const struct sum *added)
{
	uint32_t num_terms = 0, j, k;

	for (j = 0; j < added->count; j++) {
		if (!added->terms[j].monomial)
			continue;
		for (k = 0; k < sum->count; k++)
			if (monomial_equal(sum->terms[k].monomial, added->terms[j].monomial))
				break;
		if (k == sum->count || sum->terms[k].coefficient != -added->terms[j].coefficient)
			return false;
		num_terms++;
	}
	return num_terms;
}

/*
 * Writes a term c*(y % d) of sum as c*y - c*d*(y // d), or c*d*(y // d) as c*y - c*(y % d), if
 * the second part, or in the other case the first, cancels against the rest of the sum.
 */
static int rewrite_division(const struct simplifier *simplifier, struct sum *sum,
			    const struct term *term, bool *is_rewritten)
{
	struct accel_expression *atom = expression_ref(term->monomial);
	bool is_modulo = atom->kind == ACCEL_EXPRESSION_FLOOR_MODULO;
	int64_t divisor = atom->operands[1]->constant, factor = term->coefficient, scaled;
	struct sum dividend, multiple, other;
	int code;

	sum_init(&dividend);
	sum_init(&multiple);
	sum_init(&other);
	if (!is_modulo)
		factor /= divisor;
	code = __builtin_mul_overflow(-factor, divisor, &scaled) ? -EOVERFLOW : 0;
	if (!code)
		code = sum_add_canonical(&dividend, atom->operands[0], 1);
	if (!code)
		code = sum_add(&multiple, &dividend, factor);
	if (!code && is_modulo)
		code = divide(simplifier, &dividend, divisor, scaled, &other);
	if (code || !cancels(sum, is_modulo ? &other : &multiple))
		goto out;
	*is_rewritten = true;
	if (!is_modulo)
		code = modulo(simplifier, &dividend, divisor, -factor, &other);
	if (!code)
		code = sum_add_term(sum, -term->coefficient, atom);
	if (!code)
		code = sum_add(sum, &multiple, 1);
	if (!code)
		code = sum_add(sum, &other, 1);
out:
	sum_release(&dividend);
	sum_release(&multiple);
	sum_release(&other);
	expression_unref(atom);
	return code;
}

static bool can_be_rewritten(const struct term *term)
{
	const struct accel_expression *divisor;

	if (!is_division(term->monomial) || term->coefficient == INT64_MIN)
		return false;
	divisor = term->monomial->operands[1];
	if (!expression_is_constant(divisor) || divisor->constant <= 0)
		return false;
	return term->monomial->kind == ACCEL_EXPRESSION_FLOOR_MODULO ||
	       term->coefficient % divisor->constant == 0;
}

/* 4*(x // 4) + x % 4 is x; x - 4*(x // 4) is x % 4. Each step leaves a smaller sum. */
static int combine_divisions(const struct simplifier *simplifier, struct sum *sum)
{
	bool is_rewritten;
	uint32_t k = 0;
	int code;

	if (simplifier->divisions_only || sum->count < 2)
		return 0;
	while (k < sum->count) {
		is_rewritten = false;
		code = 0;
		if (can_be_rewritten(&sum->terms[k]))
			code = rewrite_division(simplifier, sum, &sum->terms[k], &is_rewritten);
		/* A sum that was not touched is as good as before. */
		if (code && (is_rewritten || code == -ENOMEM))
			return code;
		k = is_rewritten ? 0 : k + 1;
	}
	return 0;
}

/* Everything else -------------------------------------------------------------------------- */

static int accumulate_product(const struct simplifier *simplifier,
			      struct accel_expression *const *operands, int64_t factor,
			      struct sum *result)
{
	struct sum left, right;
	int64_t value;
	int code;

	sum_init(&left);
	sum_init(&right);
	code = accumulate(simplifier, operands[0], 1, &left);
	if (!code)
		code = accumulate(simplifier, operands[1], 1, &right);
	if (code)
		goto out;
	if (sum_is_constant(&left, &value))
		code = __builtin_mul_overflow(value, factor, &factor) ? -EOVERFLOW :
		       sum_add(result, &right, factor);
	else if (sum_is_constant(&right, &value))
		code = __builtin_mul_overflow(value, factor, &factor) ? -EOVERFLOW :
		       sum_add(result, &left, factor);
	else if (left.count * right.count <= MAX_PRODUCT_TERMS)
		code = sum_add_product(result, &left, &right, factor);
	else
		code = sum_take_atom(result, expression_multiply(sum_expression(&left),
								 sum_expression(&right)), factor);
out:
	sum_release(&left);
	sum_release(&right);
	return code;
}

static int accumulate_division(const struct simplifier *simplifier,
			       struct accel_expression *expression, int64_t factor,
			       struct sum *result)
{
	bool is_modulo = expression->kind == ACCEL_EXPRESSION_FLOOR_MODULO;
	struct sum dividend, divisor;
	int64_t value;
	int code;

	sum_init(&dividend);
	sum_init(&divisor);
	code = accumulate(simplifier, expression->operands[0], 1, &dividend);
	if (!code)
		code = combine_divisions(simplifier, &dividend);
	if (!code)
		code = accumulate(simplifier, expression->operands[1], 1, &divisor);
	if (code)
		goto out;
	if (!sum_is_constant(&divisor, &value))
		code = divide_symbolic(simplifier, &dividend, &divisor, factor, result, is_modulo);
	else if (is_modulo)
		code = modulo(simplifier, &dividend, value, factor, result);
	else
		code = divide(simplifier, &dividend, value, factor, result);
out:
	sum_release(&dividend);
	sum_release(&divisor);
	return code;
}

static int accumulate_extreme(const struct simplifier *simplifier,
			      struct accel_expression *expression, int64_t factor,
			      struct sum *result)
{
	bool is_min = expression->kind == ACCEL_EXPRESSION_MIN;
	struct sum left, right, gap;
	struct accel_expression *a, *b;
	struct interval interval;
	int code;

	sum_init(&left);
	sum_init(&right);
	sum_init(&gap);
	code = accumulate(simplifier, expression->operands[0], 1, &left);
	if (!code)
		code = accumulate(simplifier, expression->operands[1], 1, &right);
	if (!code)
		code = sum_add(&gap, &right, 1);
	if (!code)
		code = sum_add(&gap, &left, -1);
	if (code)
		goto out;
	interval = sum_interval(&gap, simplifier->bounds);
	if (interval.min >= 0) {
		code = sum_add(result, is_min ? &left : &right, factor);
	} else if (interval.max <= 0) {
		code = sum_add(result, is_min ? &right : &left, factor);
	} else {
		a = sum_expression(&left);
		b = sum_expression(&right);
		if (a && b && expression_compare(a, b) > 0)
			code = sum_take_atom(result, expression_binary(expression->kind, b, a),
					     factor);
		else
			code = sum_take_atom(result, expression_binary(expression->kind, a, b),
					     factor);
	}
out:
	sum_release(&left);
	sum_release(&right);
	sum_release(&gap);
	return code;
}

static struct accel_expression *build_comparison(enum accel_expression_kind kind, struct sum *sum);

/* left OP right; x // c < k is x < c*k, and likewise for >=. */
static struct accel_expression *compare_sums(enum accel_expression_kind kind, struct sum *left,
					     struct sum *right)
{
	struct accel_expression *atom = single_atom(left, ACCEL_EXPRESSION_FLOOR_DIVIDE), *result;
	struct sum difference;
	int64_t bound;
	int code;

	if (!atom || !sum_is_constant(right, &bound) || kind == ACCEL_EXPRESSION_EQUAL ||
	    kind == ACCEL_EXPRESSION_NOT_EQUAL ||
	    __builtin_mul_overflow(bound, -atom->operands[1]->constant, &bound))
		return expression_binary(kind, sum_expression(left), sum_expression(right));
	sum_init(&difference);
	code = sum_add_canonical(&difference, atom->operands[0], 1);
	if (!code)
		code = sum_add_constant(&difference, bound);
	result = code ? NULL : build_comparison(kind, &difference);
	sum_release(&difference);
	if (code)
		errno = -code;
	return result;
}

/*
 * Divides sum OP 0 by the common factor of its coefficients and takes it apart: terms with a plus
 * go to left, those with a minus to right, and the constant to *constant: left OP right + constant.
 * *is_whole tells that the constant was a multiple of the factor.
 */
static int split_comparison(const struct sum *sum, struct sum *left, struct sum *right,
			    int64_t *constant, bool *is_whole)
{
	int64_t g = 0, coefficient;
	int code = 0;
	uint32_t k;

	for (k = 0; k < sum->count; k++)
		if (sum->terms[k].monomial)
			g = greatest_common_divisor(g, sum->terms[k].coefficient);
	if (__builtin_sub_overflow(0, sum_constant(sum), constant))
		return -EOVERFLOW;
	/* g*s < c is s < ceil(c/g), and g*s >= c is s >= ceil(c/g) */
	*is_whole = *constant % g == 0;
	*constant = floor_divide(*constant, g) + !*is_whole;
	for (k = 0; k < sum->count && !code; k++) {
		if (!sum->terms[k].monomial)
			continue;
		coefficient = sum->terms[k].coefficient / g;
		if (coefficient > 0)
			code = sum_add_term(left, coefficient, sum->terms[k].monomial);
		else if (__builtin_sub_overflow(0, coefficient, &coefficient))
			code = -EOVERFLOW;
		else
			code = sum_add_term(right, coefficient, sum->terms[k].monomial);
	}
	return code;
}

/* 0 OP right + constant, written with right on the left: -s < c is s >= 1 - c. */
static struct accel_expression *turn_comparison(enum accel_expression_kind kind,
						struct sum *right, int64_t constant)
{
	static const enum accel_expression_kind turned[] = {
		[ACCEL_EXPRESSION_EQUAL] = ACCEL_EXPRESSION_EQUAL,
		[ACCEL_EXPRESSION_NOT_EQUAL] = ACCEL_EXPRESSION_NOT_EQUAL,
		[ACCEL_EXPRESSION_LESS] = ACCEL_EXPRESSION_GREATER_EQUAL,
		[ACCEL_EXPRESSION_GREATER_EQUAL] = ACCEL_EXPRESSION_LESS,
	};
	bool is_order = turned[kind] != kind;

	if (__builtin_sub_overflow((int64_t)is_order, constant, &constant)) {
		errno = EOVERFLOW;
		return NULL;
	}
	return expression_binary(turned[kind], sum_expression(right),
				 expression_constant(constant));
}

/* sum OP 0 with OP one of ==, !=, <, >= as an expression: constants and minus signs go right. */
static struct accel_expression *build_comparison(enum accel_expression_kind kind, struct sum *sum)
{
	bool is_order = kind == ACCEL_EXPRESSION_LESS || kind == ACCEL_EXPRESSION_GREATER_EQUAL;
	struct accel_expression *result = NULL;
	struct sum left, right;
	int64_t constant;
	bool is_whole;
	int code;

	sum_init(&left);
	sum_init(&right);
	code = split_comparison(sum, &left, &right, &constant, &is_whole);
	if (code) {
		errno = -code;
	} else if (!is_order && !is_whole) {
		result = expression_constant(kind == ACCEL_EXPRESSION_NOT_EQUAL);
	} else if (!left.count) {
		result = turn_comparison(kind, &right, constant);
	} else {
		code = sum_add_constant(&right, constant);
		if (code)
			errno = -code;
		else
			result = compare_sums(kind, &left, &right);
	}
	sum_release(&left);
	sum_release(&right);
	return result;
}

/* How each comparison is written as difference + offset OP 0, the difference maybe negated. */
static const struct comparison_form {
	enum accel_expression_kind kind;	/* LESS, GREATER_EQUAL, EQUAL or NOT_EQUAL */
	int64_t offset;
} comparison_forms[] = {
	[ACCEL_EXPRESSION_EQUAL] = { ACCEL_EXPRESSION_EQUAL, 0 },
	[ACCEL_EXPRESSION_NOT_EQUAL] = { ACCEL_EXPRESSION_NOT_EQUAL, 0 },
	[ACCEL_EXPRESSION_LESS] = { ACCEL_EXPRESSION_LESS, 0 },
	[ACCEL_EXPRESSION_LESS_EQUAL] = { ACCEL_EXPRESSION_LESS, -1 },
	[ACCEL_EXPRESSION_GREATER] = { ACCEL_EXPRESSION_GREATER_EQUAL, -1 },
	[ACCEL_EXPRESSION_GREATER_EQUAL] = { ACCEL_EXPRESSION_GREATER_EQUAL, 0 },
};

/* The truth of sum OP 0 where it is decided, or -1. */
static int decide_comparison(const struct simplifier *simplifier, enum accel_expression_kind kind,
			     struct sum *sum)
{
	struct interval interval = sum_interval(sum, simplifier->bounds);
	struct interval zero = { 0, 0 };
	struct sum negated;
	int truth;

	if (kind == ACCEL_EXPRESSION_EQUAL || kind == ACCEL_EXPRESSION_NOT_EQUAL) {
		truth = truth_equal(interval, zero);
		return kind == ACCEL_EXPRESSION_EQUAL ? truth : truth_not(truth);
	}
	truth = truth_less(interval, zero);
	if (truth < 0 && sum_is_nonnegative(simplifier, sum))
		truth = 0;
	if (truth < 0) {
		sum_init(&negated);
		if (!sum_add(&negated, sum, -1) && !sum_add_constant(&negated, -1) &&
		    sum_is_nonnegative(simplifier, &negated))
			truth = 1;
		sum_release(&negated);
	}
	return kind == ACCEL_EXPRESSION_LESS ? truth : truth_not(truth);
}

static int accumulate_comparison(const struct simplifier *simplifier,
				 struct accel_expression *expression, int64_t factor,
				 struct sum *result)
{
	const struct comparison_form *form = &comparison_forms[expression->kind];
	struct sum difference;
	int code, truth;

	sum_init(&difference);
	code = accumulate(simplifier, expression->operands[0], 1, &difference);
	if (!code)
		code = accumulate(simplifier, expression->operands[1], -1, &difference);
	if (!code)
		code = combine_divisions(simplifier, &difference);
	if (!code)
		code = sum_add_constant(&difference, form->offset);
	if (code)
		goto out;
	truth = decide_comparison(simplifier, form->kind, &difference);
	if (truth >= 0)
		code = sum_add_constant(result, truth ? factor : 0);
	else
		code = sum_take_atom(result, build_comparison(form->kind, &difference),
				     factor);
out:
	sum_release(&difference);
	return code;
}

static struct accel_expression *canonical(const struct simplifier *simplifier,
					  struct accel_expression *expression)
{
	struct accel_expression *result = NULL;
	struct sum sum;
	int code;

	sum_init(&sum);
	code = accumulate(simplifier, expression, 1, &sum);
	if (!code)
		code = combine_divisions(simplifier, &sum);
	if (code)
		errno = -code;
	else
		result = sum_expression(&sum);
	sum_release(&sum);
	return result;
}

/* expression as a truth value: itself if it is one, else expression != 0. Consumes. */
static struct accel_expression *truth_value(const struct simplifier *simplifier,
					    struct accel_expression *expression)
{
	struct interval interval = expression_interval(expression, simplifier->bounds);

	if (interval.min >= 0 && interval.max <= 1)
		return expression;
	return expression_binary(ACCEL_EXPRESSION_NOT_EQUAL, expression, expression_constant(0));
}

static int accumulate_logic(const struct simplifier *simplifier,
			    struct accel_expression *expression, int64_t factor,
			    struct sum *result)
{
	int absorbing = expression->kind == ACCEL_EXPRESSION_OR;
	struct accel_expression *left, *right = NULL;
	int truth;

	left = canonical(simplifier, expression->operands[0]);
	if (!left)
		return -errno;
	truth = truth_of(expression_interval(left, simplifier->bounds));
	if (truth == absorbing) {
		expression_unref(left);
		return sum_add_constant(result, absorbing ? factor : 0);
	}
	right = canonical(simplifier, expression->operands[1]);
	if (!right) {
		expression_unref(left);
		return -errno;
	}
	if (truth >= 0 || !expression_compare(left, right)) {
		expression_unref(left);
		return sum_take_atom(result, truth_value(simplifier, right), factor);
	}
	truth = truth_of(expression_interval(right, simplifier->bounds));
	if (truth >= 0) {
		expression_unref(right);
		if (truth != absorbing)
			return sum_take_atom(result, truth_value(simplifier, left), factor);
		expression_unref(left);
		return sum_add_constant(result, absorbing ? factor : 0);
	}
	return sum_take_atom(result, expression_binary(expression->kind, left, right), factor);
}

static int accumulate_select(const struct simplifier *simplifier,
			     struct accel_expression *expression, int64_t factor,
			     struct sum *result)
{
	struct accel_expression *condition, *if_true, *if_false;
	int truth, code;

	condition = canonical(simplifier, expression->operands[0]);
	if (!condition)
		return -errno;
	truth = truth_of(expression_interval(condition, simplifier->bounds));
	if (truth >= 0) {
		expression_unref(condition);
		return accumulate(simplifier, expression->operands[truth ? 1 : 2], factor, result);
	}
	if_true = canonical(simplifier, expression->operands[1]);
	if (!if_true) {
		code = -errno;
		expression_unref(condition);
		return code;
	}
	if_false = canonical(simplifier, expression->operands[2]);
	if (if_false && !expression_compare(if_true, if_false)) {
		expression_unref(condition);
		expression_unref(if_false);
		return sum_take_atom(result, if_true, factor);
	}
	return sum_take_atom(result, expression_select(condition, if_true, if_false), factor);
}

static int accumulate_variable(const struct simplifier *simplifier,
			       struct accel_expression *variable, int64_t factor,
			       struct sum *result)
{
	struct interval interval = bounds_interval(variable->name, simplifier->bounds);
	int64_t value;

	if (interval.min != interval.max || end_is_infinite(interval.min))
		return sum_add_term(result, factor, variable);
	if (__builtin_mul_overflow(interval.min, factor, &value))
		return -EOVERFLOW;
	return sum_add_constant(result, value);
}

/* Adds factor * expression, simplified. */
static int accumulate(const struct simplifier *simplifier, struct accel_expression *expression,
		      int64_t factor, struct sum *result)
{
	int64_t scaled;
	int code;

	switch ((enum accel_expression_kind)expression->kind) {
	case ACCEL_EXPRESSION_CONSTANT:
		if (__builtin_mul_overflow(expression->constant, factor, &scaled))
			return -EOVERFLOW;
		return sum_add_constant(result, scaled);
	case ACCEL_EXPRESSION_VARIABLE:
		return accumulate_variable(simplifier, expression, factor, result);
	case ACCEL_EXPRESSION_ADD:
		code = accumulate(simplifier, expression->operands[0], factor, result);
		return code ? code : accumulate(simplifier, expression->operands[1], factor,
						result);
	case ACCEL_EXPRESSION_SUBTRACT:
		if (__builtin_mul_overflow(factor, -1, &scaled))
			return -EOVERFLOW;
		code = accumulate(simplifier, expression->operands[0], factor, result);
		return code ? code : accumulate(simplifier, expression->operands[1], scaled,
						result);
	case ACCEL_EXPRESSION_MULTIPLY:
		return accumulate_product(simplifier, expression->operands, factor, result);
	case ACCEL_EXPRESSION_FLOOR_DIVIDE:
	case ACCEL_EXPRESSION_FLOOR_MODULO:
		return accumulate_division(simplifier, expression, factor, result);
	case ACCEL_EXPRESSION_MIN:
	case ACCEL_EXPRESSION_MAX:
		return accumulate_extreme(simplifier, expression, factor, result);
	case ACCEL_EXPRESSION_AND:
	case ACCEL_EXPRESSION_OR:
		return accumulate_logic(simplifier, expression, factor, result);
	case ACCEL_EXPRESSION_SELECT:
		return accumulate_select(simplifier, expression, factor, result);
	default:
		return accumulate_comparison(simplifier, expression, factor, result);
	}
}

struct accel_expression *expression_simplify(struct accel_expression *expression,
					     const struct bounds *bounds)
{
	const struct simplifier simplifier = { .bounds = bounds };

	return canonical(&simplifier, expression);
}

struct accel_expression *expression_simplify_take(struct accel_expression *expression,
						  const struct bounds *bounds)
{
	struct accel_expression *result = expression ? expression_simplify(expression, bounds) :
						       NULL;

	expression_unref(expression);
	return result;
}

struct accel_expression *expression_upper_bound(struct accel_expression *expression,
						const struct bounds *bounds)
{
	const struct simplifier simplifier = { .bounds = bounds };
	struct accel_expression *bound = NULL;
	struct sum sum;
	int code;

	sum_init(&sum);
	code = accumulate(&simplifier, expression, 1, &sum);
	if (code)
		errno = -code;
	else
		bound = extreme_of_sum(&sum, bounds, true);
	sum_release(&sum);
	return bound;
}

bool expression_is_nonnegative(struct accel_expression *expression, const struct bounds *bounds)
{
	const struct simplifier simplifier = { .bounds = bounds };
	struct sum sum;
	bool is_proved;

	sum_init(&sum);
	is_proved = !accumulate(&simplifier, expression, 1, &sum) &&
		    sum_is_nonnegative(&simplifier, &sum);
	sum_release(&sum);
	return is_proved;
}

/* a - b, once as it is and once in divisions only, where what is equal cancels. */
int expression_prove_equal(struct accel_expression *a, struct accel_expression *b,
			   const struct bounds *bounds, enum accel_answer *answer)
{
	struct simplifier simplifier = { .bounds = bounds };
	struct interval interval;
	struct sum difference;
	int64_t value;
	int code, round;

	*answer = ACCEL_ANSWER_UNKNOWN;
	for (round = 0; round < 2 && *answer == ACCEL_ANSWER_UNKNOWN; round++) {
		simplifier.divisions_only = round;
		sum_init(&difference);
		code = accumulate(&simplifier, a, 1, &difference);
		if (!code)
			code = accumulate(&simplifier, b, -1, &difference);
		if (!code)
			code = combine_divisions(&simplifier, &difference);
		if (code) {
			sum_release(&difference);
			return code;
		}
		interval = sum_interval(&difference, bounds);
		if (sum_is_constant(&difference, &value))
			*answer = value ? ACCEL_ANSWER_NO : ACCEL_ANSWER_YES;
		else if (interval.min > 0 || interval.max < 0)
			*answer = ACCEL_ANSWER_NO;
		sum_release(&difference);
	}
	return 0;
}

/* The public face -------------------------------------------------------------------------- */

static int named_bounds(size_t count, const struct accel_named_range *ranges,
			struct variable_bounds **variables, struct accel_error *error)
{
	size_t k;

	*variables = calloc(count ? count : 1, sizeof(**variables));
	if (!*variables)
		return accel_error_set(error, -ENOMEM, "ranges: out of memory");
	for (k = 0; k < count; k++) {
		if (ranges[k].range.limit <= ranges[k].range.minimum)
			return accel_error_set(error, -EINVAL,
					       "range of %.40s is empty: minimum %lld, limit %lld",
					       ranges[k].name, (long long)ranges[k].range.minimum,
					       (long long)ranges[k].range.limit);
		(*variables)[k].name = ranges[k].name;
		(*variables)[k].interval.min = ranges[k].range.minimum;
		(*variables)[k].interval.max = ranges[k].range.limit == INT64_MAX ? INT64_MAX :
					       ranges[k].range.limit - 1;
	}
	return 0;
}

int accel_expression_simplify(struct accel_expression *expression, size_t num_ranges,
			      const struct accel_named_range *ranges,
			      struct accel_expression **result, struct accel_error *error)
{
	struct variable_bounds *variables;
	struct bounds bounds;
	int code;

	*result = NULL;
	code = named_bounds(num_ranges, ranges, &variables, error);
	if (!code) {
		bounds = (struct bounds){ num_ranges, variables };
		*result = expression_simplify(expression, &bounds);
		if (!*result)
			code = expression_error(error, -errno, "expression");
	}
	free(variables);
	return code;
}

int accel_expression_equal(struct accel_expression *a, struct accel_expression *b,
			   size_t num_ranges, const struct accel_named_range *ranges,
			   enum accel_answer *answer, struct accel_error *error)
{
	struct variable_bounds *variables;
	struct bounds bounds;
	int code;

	*answer = ACCEL_ANSWER_UNKNOWN;
	code = named_bounds(num_ranges, ranges, &variables, error);
	if (!code) {
		bounds = (struct bounds){ num_ranges, variables };
		code = expression_prove_equal(a, b, &bounds, answer);
		if (code)
			expression_error(error, code, "expression");
	}
	free(variables);
	return code;
}
