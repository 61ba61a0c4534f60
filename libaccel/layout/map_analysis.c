// SPDX-License-Identifier: MIT
/*
 * What a map does to a box of points: injective, bijective, inverse, padding. In closed form for
 * maps made of splits and fusions (the class of TVM's iter_affine_map), by looking otherwise.
 *
 * A source is something that counts from 0 to an extent: an input, or several digits fused into
 * one number. A digit is a part of a source: ((source + offset) // lower) % modulus. Each output
 * is taken apart into a base plus digits times scales, where each scale is larger than all that is
 * below it can add up to: then the output tells each digit. When the digits that are told
 * make up a source again, the source is told; a fused one tells its own digits; and when
 * every input is told, the map is injective and what told them is its inverse.
 *
 * Padding is where something is told that no index has: a digit beyond its span, a source
 * beyond its extent, two copies of a digit that differ.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout/map.h"
#include "layout/points.h"

#define MAX_SOURCES	64
#define MAX_TERMS	192	/* of all sources and outputs */
#define MAX_DIGITS	32	/* of one number */

/* A number over symbols; symbolic is NULL if it is a constant, and else borrowed. */
struct quantity {
	int64_t value;
	struct accel_expression *symbolic;
};

/* ((source + offset) // lower) % modulus; a modulus of 0: none, it is the highest digit. */
struct digit {
	uint32_t source;
	int64_t offset;
	struct quantity lower;
	struct quantity modulus;
};

/*
 * A digit in a number. It goes from min to min + span - 1, and what is scaled is how far it is
 * from min, or if is_flipped from the other end.
 */
struct term {
	struct digit digit;
	bool is_flipped;
	struct quantity scale;
	struct quantity min;
	struct quantity span;
};

/* base + sum of scale * digit, the largest scale first once it is ordered. */
struct number {
	struct quantity base;
	uint32_t count;
	struct term terms[MAX_DIGITS];
};

/* Terms first .. first + count of the pool, with a base that is not counted. */
struct stored_number {
	struct quantity base;
	uint32_t first;
	uint32_t count;
};

struct source {
	int input;			/* or -1: fused */
	struct stored_number number;	/* of a fused one */
	struct quantity extent;
	struct quantity min;		/* of an input: source = input - min */
	struct accel_expression *value;	/* over the outputs, when it has been told */
};

/* A digit that an output or a fused source has told. */
struct told_digit {
	struct digit digit;
	struct accel_expression *value;
	bool is_used;
};

struct analyzer {
	const struct accel_map *map;
	const struct bounds *bounds;		/* of the inputs */
	struct accel_error *error;
	int code;				/* the first failure; nothing counts after it */
	const char *reason;			/* why there is no closed form */

	struct accel_expression **pool;		/* what lives as long as the analysis */
	size_t pool_count;
	size_t pool_capacity;

	uint32_t num_sources;
	uint32_t num_terms;
	uint32_t num_told;
	uint32_t num_conditions;		/* of padding: any of them */
	struct stored_number outputs[ACCEL_MAP_MAX_AXES];
	int source_of_input[ACCEL_MAP_MAX_AXES];	/* or -1: not yet */
	struct source sources[MAX_SOURCES];
	struct term terms[MAX_TERMS];
	struct told_digit told[MAX_TERMS];

	/* The outputs, as inputs of the inverse. */
	char names[ACCEL_MAP_MAX_AXES][ACCEL_NAME_MAX + 1];
	struct quantity shape[ACCEL_MAP_MAX_AXES];
	/* How each is known: as a number, over symbols, or not. */
	enum { BOUND_IS_UNKNOWN, BOUND_IS_SYMBOLIC, BOUND_IS_CONSTANT } bound[ACCEL_MAP_MAX_AXES];
	struct variable_bounds output_variables[ACCEL_MAP_MAX_AXES];
	struct bounds output_bounds;
	struct accel_expression *conditions[MAX_TERMS];
};

static const struct bounds symbols_only = { 0, NULL };

/* Records why there is no closed form, once. Always false. */
static bool give_up(struct analyzer *analyzer, const char *reason)
{
	if (!analyzer->reason)
		analyzer->reason = reason;
	return false;
}

/* Expressions in the pool -------------------------------------------------------------------- */

/* Keeps an expression for as long as the analysis; NULL is a failure, with errno. */
static struct accel_expression *keep(struct analyzer *analyzer,
				     struct accel_expression *expression)
{
	size_t capacity = analyzer->pool_capacity ? 2 * analyzer->pool_capacity : 64;
	struct accel_expression **pool;

	if (!expression) {
		if (!analyzer->code)
			analyzer->code = -errno;
		return NULL;
	}
	if (analyzer->pool_count == analyzer->pool_capacity) {
		pool = realloc(analyzer->pool, capacity * sizeof(*pool));
		if (!pool) {
			expression_unref(expression);
			analyzer->code = -ENOMEM;
			return NULL;
		}
		analyzer->pool = pool;
		analyzer->pool_capacity = capacity;
	}
	analyzer->pool[analyzer->pool_count++] = expression;
	return expression;
}

/* Simplified over the outputs, and kept. Consumes. */
static struct accel_expression *keep_simplified(struct analyzer *analyzer,
						struct accel_expression *expression)
{
	return keep(analyzer, expression_simplify_take(expression, &analyzer->output_bounds));
}

/* Quantities --------------------------------------------------------------------------------- */

static struct quantity constant(int64_t value)
{
	return (struct quantity){ .value = value };
}

static struct accel_expression *quantity_expression(struct quantity quantity)
{
	return quantity.symbolic ? expression_ref(quantity.symbolic) :
				   expression_constant(quantity.value);
}

/* Consumes the expression, which is over symbols. */
static struct quantity quantity_of(struct analyzer *analyzer, struct accel_expression *expression)
{
	expression = keep(analyzer, expression_simplify_take(expression, &symbols_only));
	if (!expression)
		return constant(0);
	if (expression_is_constant(expression))
		return constant(expression->constant);
	return (struct quantity){ .symbolic = expression };
}

static struct quantity combine(struct analyzer *analyzer, enum accel_expression_kind kind,
			       struct quantity a, struct quantity b)
{
	int64_t value = 0;
	int code;

	if (a.symbolic || b.symbolic)
		return quantity_of(analyzer, expression_binary(kind, quantity_expression(a),
							       quantity_expression(b)));
	code = expression_fold(kind, a.value, b.value, &value);
	if (code && !analyzer->code)
		analyzer->code = code;
	return constant(code ? 0 : value);
}

static struct quantity add(struct analyzer *analyzer, struct quantity a, struct quantity b)
{
	return combine(analyzer, ACCEL_EXPRESSION_ADD, a, b);
}

static struct quantity subtract(struct analyzer *analyzer, struct quantity a, struct quantity b)
{
	return combine(analyzer, ACCEL_EXPRESSION_SUBTRACT, a, b);
}

static struct quantity multiply(struct analyzer *analyzer, struct quantity a, struct quantity b)
{
	return combine(analyzer, ACCEL_EXPRESSION_MULTIPLY, a, b);
}

static bool equals(const struct quantity a, const struct quantity b)
{
	if (a.symbolic && b.symbolic)
		return !expression_compare(a.symbolic, b.symbolic);
	return !a.symbolic && !b.symbolic && a.value == b.value;
}

static bool is_value(struct quantity a, int64_t value)
{
	return !a.symbolic && a.value == value;
}

/* Whether a >= b is proved. */
static bool at_least(struct analyzer *analyzer, struct quantity a, struct quantity b)
{
	struct quantity gap;

	if (!a.symbolic && !b.symbolic)
		return a.value >= b.value;
	gap = subtract(analyzer, a, b);
	if (analyzer->code)
		return false;
	return gap.symbolic ? expression_is_nonnegative(gap.symbolic, &symbols_only) :
			      gap.value >= 0;
}

/* True, and the quotient, if divisor is proved to divide a. */
static bool divides(struct analyzer *analyzer, struct quantity divisor, struct quantity a,
		    struct quantity *quotient)
{
	struct quantity rest = combine(analyzer, ACCEL_EXPRESSION_FLOOR_MODULO, a, divisor);

	if (analyzer->code || !is_value(rest, 0))
		return false;
	*quotient = combine(analyzer, ACCEL_EXPRESSION_FLOOR_DIVIDE, a, divisor);
	return !analyzer->code;
}

/* Sources ------------------------------------------------------------------------------------ */

static bool same_digit(const struct digit *a, const struct digit *b)
{
	return a->source == b->source && a->offset == b->offset && equals(a->lower, b->lower) &&
	       equals(a->modulus, b->modulus);
}

static bool same_terms(const struct term *a, const struct term *b, uint32_t count)
{
	uint32_t k;

	for (k = 0; k < count; k++)
		if (!same_digit(&a[k].digit, &b[k].digit) || !equals(a[k].scale, b[k].scale) ||
		    a[k].is_flipped != b[k].is_flipped)
			return false;
	return true;
}

static bool store(struct analyzer *analyzer, const struct number *number,
		  struct stored_number *stored)
{
	if (analyzer->num_terms + number->count > MAX_TERMS)
		return give_up(analyzer, "the map has too many parts");
	*stored = (struct stored_number){ number->base, analyzer->num_terms, number->count };
	memcpy(&analyzer->terms[stored->first], number->terms,
	       number->count * sizeof(number->terms[0]));
	analyzer->num_terms += number->count;
	return true;
}

/* The source that an input is, in sources. */
static bool find_input(struct analyzer *analyzer, uint32_t input, uint32_t *number)
{
	const struct map_input *declared = &analyzer->map->inputs[input];
	const struct variable_bounds *variable = &analyzer->bounds->variables[input];
	struct source *source;

	if (analyzer->source_of_input[input] >= 0) {
		*number = analyzer->source_of_input[input];
		return true;
	}
	if (analyzer->num_sources == MAX_SOURCES)
		return give_up(analyzer, "the map has too many parts");
	*number = analyzer->num_sources++;
	source = &analyzer->sources[*number];
	*source = (struct source){ .input = input };
	source->min = constant(variable->interval.min);
	if (variable->limit && declared->minimum)
		source->min = quantity_of(analyzer, expression_ref(declared->minimum));
	if (variable->limit)
		source->extent = subtract(analyzer,
					  quantity_of(analyzer, expression_ref(variable->limit)),
					  source->min);
	else
		source->extent = constant(variable->interval.max - variable->interval.min + 1);
	analyzer->source_of_input[input] = *number;
	return !analyzer->code;
}

/* The least and the number of values of a digit. */
static void measure(struct analyzer *analyzer, const struct digit *digit, struct quantity *min,
		    struct quantity *span)
{
	struct quantity offset = constant(digit->offset), last;

	if (!is_value(digit->modulus, 0)) {
		*min = constant(0);
		*span = digit->modulus;
		return;
	}
	last = add(analyzer, analyzer->sources[digit->source].extent, constant(digit->offset - 1));
	*min = combine(analyzer, ACCEL_EXPRESSION_FLOOR_DIVIDE, offset, digit->lower);
	last = combine(analyzer, ACCEL_EXPRESSION_FLOOR_DIVIDE, last, digit->lower);
	*span = add(analyzer, subtract(analyzer, last, *min), constant(1));
}

/* Adds scale * digit to a number, counting from the end that makes the scale positive. */
static bool add_digit(struct analyzer *analyzer, struct number *number, const struct digit *digit,
		      struct quantity scale)
{
	struct term *term;
	struct quantity end;

	if (number->count == MAX_DIGITS)
		return give_up(analyzer, "an output has too many parts");
	term = &number->terms[number->count++];
	*term = (struct term){ .digit = *digit, .scale = scale };
	measure(analyzer, digit, &term->min, &term->span);
	end = term->min;
	if (!at_least(analyzer, scale, constant(0))) {
		if (!at_least(analyzer, constant(0), scale))
			return give_up(analyzer, "the sign of a symbolic factor is not known");
		term->is_flipped = true;
		term->scale = subtract(analyzer, constant(0), scale);
		end = add(analyzer, end, subtract(analyzer, term->span, constant(1)));
	}
	number->base = add(analyzer, number->base, multiply(analyzer, scale, end));
	return !analyzer->code;
}

/*
 * Orders the terms, the largest scale first, drops those of a single value, and checks that each
 * scale exceeds what those below it add up to.
 */
static bool order(struct analyzer *analyzer, struct number *number)
{
	struct quantity below = constant(1), reach;
	struct term swap;
	uint32_t j, k, least;

	for (k = number->count; k--;)
		if (is_value(number->terms[k].span, 1))
			number->terms[k] = number->terms[--number->count];
	for (k = number->count; k--;) {
		least = k;
		for (j = 0; j < k; j++)
			if (at_least(analyzer, number->terms[least].scale, number->terms[j].scale))
				least = j;
		swap = number->terms[k];
		number->terms[k] = number->terms[least];
		number->terms[least] = swap;
		if (!at_least(analyzer, number->terms[k].scale, below))
			return give_up(analyzer, "parts of an output overlap");
		reach = multiply(analyzer, number->terms[k].scale,
				 subtract(analyzer, number->terms[k].span, constant(1)));
		below = add(analyzer, below, reach);
	}
	return !analyzer->code;
}

/* The source that counts as number - base does, which is ordered. */
static bool fuse(struct analyzer *analyzer, const struct number *number, uint32_t *found)
{
	struct quantity extent = constant(1);
	struct source *source;
	uint32_t k;

	for (k = 0; k < analyzer->num_sources; k++) {
		source = &analyzer->sources[k];
		if (source->input < 0 && source->number.count == number->count &&
		    same_terms(&analyzer->terms[source->number.first], number->terms,
			       number->count)) {
			*found = k;
			return true;
		}
	}
	if (analyzer->num_sources == MAX_SOURCES)
		return give_up(analyzer, "the map has too many parts");
	for (k = 0; k < number->count; k++)
		extent = add(analyzer, extent,
			     multiply(analyzer, number->terms[k].scale,
				      subtract(analyzer, number->terms[k].span, constant(1))));
	*found = analyzer->num_sources++;
	source = &analyzer->sources[*found];
	*source = (struct source){ .input = -1, .extent = extent };
	return store(analyzer, number, &source->number) && !analyzer->code;
}

/* Numbers from expressions ------------------------------------------------------------------- */

static bool take_apart(struct analyzer *analyzer, struct accel_expression *expression,
		       struct quantity factor, struct number *number);

static bool has_inputs(const struct analyzer *analyzer, const struct accel_expression *expression)
{
	unsigned int count = expression_num_operands(expression->kind), k;

	if (expression_is_variable(expression))
		return map_find_input(analyzer->map, expression->name) >= 0;
	for (k = 0; k < count; k++)
		if (has_inputs(analyzer, expression->operands[k]))
			return true;
	return false;
}

/*
 * A number as (source + offset) // lower % modulus: the digit that it is, or else a source of its
 * own, fused from its digits.
 */
static bool number_as_digit(struct analyzer *analyzer, struct number *number, struct digit *digit)
{
	const struct term *term = &number->terms[0];
	struct quantity offset;
	int64_t shift;

	if (!order(analyzer, number))
		return false;
	if (number->count == 1 && is_value(term->scale, 1) && !term->is_flipped) {
		*digit = term->digit;
		offset = subtract(analyzer, number->base, term->min);
		if (is_value(offset, 0))
			return true;
		/* (source + o) // l + k is (source + o + k*l) // l */
		if (is_value(digit->modulus, 0) && !offset.symbolic && !digit->lower.symbolic &&
		    !__builtin_mul_overflow(offset.value, digit->lower.value, &shift) &&
		    !__builtin_add_overflow(digit->offset, shift, &digit->offset))
			return true;
	}
	if (number->base.symbolic)
		return give_up(analyzer, "a symbolic offset is divided");
	*digit = (struct digit){ .offset = number->base.value, .lower = constant(1) };
	return fuse(analyzer, number, &digit->source);
}

/* A digit as a source of its own, of one term. */
static bool digit_as_source(struct analyzer *analyzer, struct digit *digit)
{
	struct number number = { .count = 0 };
	struct digit whole = { .lower = constant(1) };

	if (!add_digit(analyzer, &number, digit, constant(1)) ||
	    !fuse(analyzer, &number, &whole.source))
		return false;
	*digit = whole;
	return true;
}

/* digit // divisor, or digit % divisor */
static bool split(struct analyzer *analyzer, struct digit *digit, struct quantity divisor,
		  bool is_modulo)
{
	struct quantity quotient = constant(0);

	if (!is_value(digit->modulus, 0) &&
	    !divides(analyzer, divisor, digit->modulus, &quotient) &&
	    (analyzer->code || !digit_as_source(analyzer, digit)))
		return false;
	if (is_modulo) {
		digit->modulus = divisor;
		return !analyzer->code;
	}
	digit->lower = multiply(analyzer, digit->lower, divisor);
	digit->modulus = quotient;
	return !analyzer->code;
}

static bool take_division_apart(struct analyzer *analyzer, struct accel_expression *expression,
				struct quantity factor, struct number *number)
{
	struct number *dividend;
	struct quantity divisor;
	struct digit digit;
	bool is_good;

	if (has_inputs(analyzer, expression->operands[1]))
		return give_up(analyzer, "an index is divided by an index");
	divisor = quantity_of(analyzer, expression_ref(expression->operands[1]));
	if (analyzer->code)
		return false;
	if (!at_least(analyzer, divisor, constant(1)))
		return give_up(analyzer, "the sign of a divisor is not known");
	dividend = malloc(sizeof(*dividend));
	if (!dividend) {
		analyzer->code = -ENOMEM;
		return false;
	}
	dividend->count = 0;
	dividend->base = constant(0);
	is_good = take_apart(analyzer, expression->operands[0], constant(1), dividend) &&
		  number_as_digit(analyzer, dividend, &digit) &&
		  split(analyzer, &digit, divisor,
			expression->kind == ACCEL_EXPRESSION_FLOOR_MODULO) &&
		  add_digit(analyzer, number, &digit, factor);
	free(dividend);
	return is_good;
}

/* Adds factor * expression, which is canonical, to a number. */
static bool take_apart(struct analyzer *analyzer, struct accel_expression *expression,
		       struct quantity factor, struct number *number)
{
	struct accel_expression *const *operands = expression->operands;
	struct digit digit = { .lower = constant(1) };
	struct quantity other;
	int input;

	if (!has_inputs(analyzer, expression)) {
		other = quantity_of(analyzer, expression_ref(expression));
		number->base = add(analyzer, number->base, multiply(analyzer, other, factor));
		return !analyzer->code;
	}
	switch (expression->kind) {
	case ACCEL_EXPRESSION_VARIABLE:
		input = map_find_input(analyzer->map, expression->name);
		if (!find_input(analyzer, input, &digit.source))
			return false;
		other = multiply(analyzer, analyzer->sources[digit.source].min, factor);
		number->base = add(analyzer, number->base, other);
		return add_digit(analyzer, number, &digit, factor);
	case ACCEL_EXPRESSION_ADD:
		return take_apart(analyzer, operands[0], factor, number) &&
		       take_apart(analyzer, operands[1], factor, number);
	case ACCEL_EXPRESSION_SUBTRACT:
		other = subtract(analyzer, constant(0), factor);
		return take_apart(analyzer, operands[0], factor, number) &&
		       take_apart(analyzer, operands[1], other, number);
	case ACCEL_EXPRESSION_MULTIPLY:
		if (has_inputs(analyzer, operands[0]) && has_inputs(analyzer, operands[1]))
			return give_up(analyzer, "an index is multiplied by an index");
		input = has_inputs(analyzer, operands[1]);
		other = quantity_of(analyzer, expression_ref(operands[!input]));
		return take_apart(analyzer, operands[input], multiply(analyzer, factor, other),
				  number);
	case ACCEL_EXPRESSION_FLOOR_DIVIDE:
	case ACCEL_EXPRESSION_FLOOR_MODULO:
		return take_division_apart(analyzer, expression, factor, number);
	default:
		return give_up(analyzer, "the map has more than +, -, *, // and %");
	}
}

/* Takes each output apart, into analyzer->outputs. */
static bool take_outputs_apart(struct analyzer *analyzer,
			       struct accel_expression *const *outputs)
{
	struct number *number = malloc(sizeof(*number));
	bool is_good = true;
	uint32_t k;

	if (!number) {
		analyzer->code = -ENOMEM;
		return false;
	}
	for (k = 0; k < analyzer->map->num_outputs && is_good; k++) {
		number->count = 0;
		number->base = constant(0);
		is_good = take_apart(analyzer, outputs[k], constant(1), number) &&
			  order(analyzer, number) &&
			  store(analyzer, number, &analyzer->outputs[k]);
	}
	free(number);
	return is_good && !analyzer->code;
}

/* Putting together again --------------------------------------------------------------------- */

/* Adds a condition under which a point is padding, once. Consumes it; over the outputs. */
static void add_padding(struct analyzer *analyzer, struct accel_expression *condition)
{
	struct accel_expression *one = keep_simplified(analyzer, condition);
	uint32_t k;

	if (!one || expression_is_value(one, 0))
		return;
	for (k = 0; k < analyzer->num_conditions; k++)
		if (!expression_compare(analyzer->conditions[k], one))
			return;
	if (analyzer->num_conditions == MAX_TERMS)
		give_up(analyzer, "the padding has too many conditions");
	else
		analyzer->conditions[analyzer->num_conditions++] = one;
}

/* Narrows the bounds of the outputs to where a condition on one of them holds. */
static bool narrow(struct analyzer *analyzer, const struct accel_expression *condition,
		   struct variable_bounds **narrowed, struct interval *saved)
{
	struct accel_expression *const *operands = condition->operands;
	struct variable_bounds *variable = NULL;
	uint32_t k;

	if ((condition->kind != ACCEL_EXPRESSION_LESS &&
	     condition->kind != ACCEL_EXPRESSION_GREATER_EQUAL) ||
	    !expression_is_variable(operands[0]) || !expression_is_constant(operands[1]))
		return false;
	for (k = 0; k < analyzer->map->num_outputs; k++)
		if (names_equal(analyzer->names[k], operands[0]->name))
			variable = &analyzer->output_variables[k];
	if (!variable)
		return false;
	*narrowed = variable;
	*saved = variable->interval;
	if (condition->kind == ACCEL_EXPRESSION_LESS)
		variable->interval.max = operands[1]->constant - 1;
	else
		variable->interval.min = operands[1]->constant;
	return true;
}

/* Whether a condition, which is one on a single output, holds only where another does too. */
static bool is_implied(struct analyzer *analyzer, uint32_t condition)
{
	struct variable_bounds *variable;
	struct accel_expression *other;
	struct interval saved;
	bool is_found = false;
	uint32_t k;

	if (!narrow(analyzer, analyzer->conditions[condition], &variable, &saved))
		return false;
	for (k = 0; k < analyzer->num_conditions && !is_found; k++) {
		if (k == condition)
			continue;
		other = keep_simplified(analyzer, expression_ref(analyzer->conditions[k]));
		is_found = other && expression_is_value(other, 1);
	}
	variable->interval = saved;
	return is_found;
}

/* The conditions in one, or NULL if there are none. A new reference. */
static struct accel_expression *join_conditions(struct analyzer *analyzer)
{
	struct accel_expression *all = NULL, *one;
	uint32_t k;

	for (k = analyzer->num_conditions; k--;) {
		if (!is_implied(analyzer, k))
			continue;
		analyzer->num_conditions--;
		memmove(&analyzer->conditions[k], &analyzer->conditions[k + 1],
			(analyzer->num_conditions - k) * sizeof(analyzer->conditions[0]));
	}
	for (k = 0; k < analyzer->num_conditions; k++) {
		one = expression_ref(analyzer->conditions[k]);
		all = k ? expression_binary(ACCEL_EXPRESSION_OR, all, one) : one;
	}
	if (!all && analyzer->num_conditions)
		analyzer->code = -errno;
	return all;
}

/* value kind bound, unless it is plain that this is never so. */
static void add_comparison(struct analyzer *analyzer, enum accel_expression_kind kind,
			   struct accel_expression *value, struct quantity bound)
{
	struct interval interval = expression_interval(value, &analyzer->output_bounds);

	if (!bound.symbolic &&
	    ((kind == ACCEL_EXPRESSION_LESS && interval.min >= bound.value) ||
	     (kind == ACCEL_EXPRESSION_GREATER_EQUAL && interval.max < bound.value)))
		return;
	add_padding(analyzer, expression_binary(kind, expression_ref(value),
						quantity_expression(bound)));
}

/* Records that a digit has this value, borrowed. */
static bool tell_digit(struct analyzer *analyzer, const struct digit *digit,
		       struct accel_expression *value)
{
	if (analyzer->num_told == MAX_TERMS)
		return give_up(analyzer, "the map has too many parts");
	analyzer->told[analyzer->num_told++] = (struct told_digit){ *digit, value, false };
	return true;
}

/* *digit = *rest // scale, *rest = *rest % scale */
static bool divide_rest(struct analyzer *analyzer, struct quantity scale,
			struct accel_expression **digit, struct accel_expression **rest)
{
	struct accel_expression *dividend = *rest;

	if (is_value(scale, 1)) {
		*digit = dividend;
		*rest = keep(analyzer, expression_constant(0));
		return *rest;
	}
	*digit = keep_simplified(analyzer, expression_divide(expression_ref(dividend),
							     quantity_expression(scale)));
	*rest = keep_simplified(analyzer, expression_modulo(expression_ref(dividend),
							    quantity_expression(scale)));
	return *digit && *rest;
}

/* The digits of a number whose value, without its base, is known. */
static bool tell_digits(struct analyzer *analyzer, const struct stored_number *number,
			struct accel_expression *value)
{
	const struct term *terms = &analyzer->terms[number->first];
	struct accel_expression *digit, *rest = value;
	struct quantity last;
	uint32_t k;

	for (k = 0; k < number->count; k++) {
		if (!divide_rest(analyzer, terms[k].scale, &digit, &rest))
			return false;
		/* The highest digit of a source is bounded by the extent of that. */
		if (!is_value(terms[k].digit.modulus, 0))
			add_comparison(analyzer, ACCEL_EXPRESSION_GREATER_EQUAL, digit,
				       terms[k].span);
		if (terms[k].is_flipped) {
			last = add(analyzer, terms[k].min,
				   subtract(analyzer, terms[k].span, constant(1)));
			digit = keep_simplified(analyzer,
						expression_subtract(quantity_expression(last),
								    expression_ref(digit)));
		} else if (!is_value(terms[k].min, 0)) {
			digit = keep_simplified(analyzer,
						expression_add(expression_ref(digit),
							       quantity_expression(terms[k].min)));
		}
		if (!digit || !tell_digit(analyzer, &terms[k].digit, digit))
			return false;
	}
	if (!expression_is_value(rest, 0))
		add_comparison(analyzer, ACCEL_EXPRESSION_NOT_EQUAL, rest, constant(0));
	return !analyzer->code;
}

static bool tell_output(struct analyzer *analyzer, uint32_t output)
{
	const struct stored_number *number = &analyzer->outputs[output];
	struct accel_expression *value;

	value = expression_variable(analyzer->names[output], strlen(analyzer->names[output]));
	if (!is_value(number->base, 0)) {
		value = expression_subtract(value, quantity_expression(number->base));
		value = expression_simplify_take(value, &analyzer->output_bounds);
	}
	value = keep(analyzer, value);
	if (!value)
		return false;
	add_comparison(analyzer, ACCEL_EXPRESSION_LESS, value, constant(0));
	return tell_digits(analyzer, number, value);
}

/*
 * How a told digit counts from the offset of its source: *shift more than it says. False if it
 * does not, being turned against the others.
 */
static bool align(const struct told_digit *told, int64_t offset, int64_t *shift)
{
	int64_t distance = offset - told->digit.offset;

	*shift = 0;
	if (!distance)
		return true;
	if (told->digit.lower.symbolic || told->digit.modulus.symbolic ||
	    distance % told->digit.lower.value)
		return false;
	*shift = distance / told->digit.lower.value;
	if (is_value(told->digit.modulus, 0))
		return true;
	if (*shift % told->digit.modulus.value)
		return false;
	*shift = 0;
	return true;
}

/*
 * The digits that make up the source, the lowest first: each begins where the one before ends.
 * Returns how many, or 0 if they do not; *period is then how many numbers they tell apart, 0 for
 * all. Depth first: of two digits that begin at the same place one may lead nowhere.
 */
static uint32_t find_chain(struct analyzer *analyzer, uint32_t source, int64_t offset,
			   struct quantity period, uint32_t length, uint32_t *chain,
			   struct quantity *told_period)
{
	const struct told_digit *told;
	struct quantity next;
	uint32_t found, k;
	int64_t shift;

	if (length && at_least(analyzer, period, analyzer->sources[source].extent)) {
		*told_period = period;
		return length;
	}
	if (length == MAX_DIGITS)
		return 0;
	for (k = 0; k < analyzer->num_told; k++) {
		told = &analyzer->told[k];
		if (told->digit.source != source || !equals(told->digit.lower, period) ||
		    !align(told, offset, &shift))
			continue;
		chain[length] = k;
		if (is_value(told->digit.modulus, 0)) {
			*told_period = constant(0);
			return length + 1;
		}
		next = multiply(analyzer, period, told->digit.modulus);
		if (analyzer->code)
			return 0;
		found = find_chain(analyzer, source, offset, next, length + 1, chain,
				   told_period);
		if (found)
			return found;
	}
	return 0;
}

/* sum of lower * digit over the chain, which is source + offset or that modulo the period */
static struct accel_expression *sum_chain(struct analyzer *analyzer, const uint32_t *chain,
					  uint32_t length, int64_t offset)
{
	struct accel_expression *sum = NULL, *digit;
	struct told_digit *told;
	int64_t shift;
	uint32_t k;

	for (k = 0; k < length; k++) {
		told = &analyzer->told[chain[k]];
		told->is_used = true;
		align(told, offset, &shift);
		digit = expression_ref(told->value);
		if (shift)
			digit = expression_add(digit, expression_constant(shift));
		if (!is_value(told->digit.lower, 1))
			digit = expression_multiply(quantity_expression(told->digit.lower), digit);
		sum = k ? expression_add(sum, digit) : digit;
	}
	return sum;
}

/* A copy of a digit, or one that others tell already, must be what the source says. */
static void check_unused_digits(struct analyzer *analyzer, uint32_t source)
{
	struct accel_expression *expected;
	const struct told_digit *told;
	uint32_t k;

	for (k = 0; k < analyzer->num_told; k++) {
		told = &analyzer->told[k];
		if (told->digit.source != source || told->is_used)
			continue;
		expected = expression_add(expression_ref(analyzer->sources[source].value),
					  expression_constant(told->digit.offset));
		expected = expression_divide(expected, quantity_expression(told->digit.lower));
		if (!is_value(told->digit.modulus, 0))
			expected = expression_modulo(expected,
						     quantity_expression(told->digit.modulus));
		add_padding(analyzer, expression_binary(ACCEL_EXPRESSION_NOT_EQUAL,
							expression_ref(told->value), expected));
	}
}

/* The largest offset among the told digits of a source. */
static int64_t find_offset(const struct analyzer *analyzer, uint32_t source)
{
	int64_t offset = INT64_MIN;
	uint32_t k;

	for (k = 0; k < analyzer->num_told; k++)
		if (analyzer->told[k].digit.source == source &&
		    analyzer->told[k].digit.offset > offset)
			offset = analyzer->told[k].digit.offset;
	return offset == INT64_MIN ? 0 : offset;
}

/* The value of a source put together from its digits; NULL if they do not tell it. */
static struct accel_expression *join_digits(struct analyzer *analyzer, uint32_t source)
{
	int64_t offset = find_offset(analyzer, source);
	struct accel_expression *value;
	uint32_t chain[MAX_DIGITS], length;
	struct quantity period;

	if (is_value(analyzer->sources[source].extent, 1))
		return keep(analyzer, expression_constant(0));
	length = find_chain(analyzer, source, offset, constant(1), 0, chain, &period);
	if (!length) {
		give_up(analyzer, "the outputs do not tell all of an input");
		return NULL;
	}
	value = sum_chain(analyzer, chain, length, offset);
	if (length == 1 && !offset)
		return keep(analyzer, value);
	if (offset)
		value = expression_subtract(value, expression_constant(offset));
	if (!is_value(period, 0) && offset)
		value = expression_modulo(value, quantity_expression(period));
	return keep_simplified(analyzer, value);
}

static bool tell_source(struct analyzer *analyzer, uint32_t number)
{
	struct source *source = &analyzer->sources[number];

	source->value = join_digits(analyzer, number);
	if (!source->value)
		return false;
	add_comparison(analyzer, ACCEL_EXPRESSION_LESS, source->value, constant(0));
	add_comparison(analyzer, ACCEL_EXPRESSION_GREATER_EQUAL, source->value, source->extent);
	check_unused_digits(analyzer, number);
	if (source->input < 0)
		return tell_digits(analyzer, &source->number, source->value);
	return !analyzer->code;
}

/* Every source, the fused ones before those that they are fused from. */
static bool tell_sources(struct analyzer *analyzer)
{
	uint32_t k;

	for (k = 0; k < analyzer->map->num_outputs; k++)
		if (!tell_output(analyzer, k))
			return false;
	for (k = analyzer->num_sources; k--;)
		if (!tell_source(analyzer, k))
			return false;
	return true;
}

/* The inverse, once every source has been told. */
static bool build_inverse(struct analyzer *analyzer, struct accel_map **inverse)
{
	struct accel_expression *inputs[ACCEL_MAP_MAX_AXES] = { NULL };
	const char *names[ACCEL_MAP_MAX_AXES];
	const struct accel_map *map = analyzer->map;
	const struct variable_bounds *variable;
	const struct source *source;
	uint32_t k;

	for (k = 0; k < map->num_outputs; k++)
		names[k] = analyzer->names[k];
	for (k = 0; k < map->num_inputs; k++) {
		variable = &analyzer->bounds->variables[k];
		if (analyzer->source_of_input[k] < 0) {
			if (variable->limit || variable->interval.min != variable->interval.max)
				break;
			inputs[k] = expression_constant(variable->interval.min);
		} else {
			source = &analyzer->sources[analyzer->source_of_input[k]];
			inputs[k] = expression_ref(source->value);
			if (is_value(source->min, 0))
				continue;
			inputs[k] = expression_add(inputs[k], quantity_expression(source->min));
			inputs[k] = expression_simplify_take(inputs[k],
							     &analyzer->output_bounds);
		}
	}
	if (k < map->num_inputs) {
		while (k--)
			expression_unref(inputs[k]);
		return give_up(analyzer, "the outputs do not tell all of an input");
	}
	analyzer->code = map_create(map->num_outputs, names, map->num_inputs, inputs, 0, inverse,
				    analyzer->error);
	return !analyzer->code;
}

/* Shapes ------------------------------------------------------------------------------------- */

/* The extent of an output that is over symbols: what its digits add up to. */
static struct quantity symbolic_extent(struct analyzer *analyzer,
				       const struct stored_number *number)
{
	const struct term *terms = &analyzer->terms[number->first];
	struct quantity extent = add(analyzer, number->base, constant(1));
	uint32_t k;

	for (k = 0; k < number->count; k++)
		extent = add(analyzer, extent,
			     multiply(analyzer, terms[k].scale,
				      subtract(analyzer, terms[k].span, constant(1))));
	return extent;
}

/* The extent of an output whose interval has no end, over symbols, if there is a bound. */
static void bound_output(struct analyzer *analyzer, struct accel_expression *output, uint32_t k)
{
	struct accel_expression *bound = expression_upper_bound(output, analyzer->bounds);

	analyzer->shape[k] = constant(0);
	analyzer->bound[k] = BOUND_IS_UNKNOWN;
	if (bound) {
		analyzer->shape[k] = quantity_of(analyzer, expression_add(bound,
									  expression_constant(1)));
		analyzer->bound[k] = BOUND_IS_SYMBOLIC;
	} else if (errno && !analyzer->code) {
		analyzer->code = -errno;
	}
}

/* The shape of the outputs by intervals, where these are bounded. */
static int measure_outputs(struct analyzer *analyzer, const struct map_bounds *bounds,
			   struct accel_expression *const *outputs)
{
	struct interval interval;
	uint32_t k;

	for (k = 0; k < analyzer->map->num_outputs; k++) {
		interval = expression_interval(outputs[k], analyzer->bounds);
		if (map_output_is_empty(analyzer->map, bounds, k) && interval.min < 0)
			interval = (struct interval){ 0, 0 };
		if (interval.min < 0 && !expression_is_nonnegative(outputs[k], analyzer->bounds))
			return accel_error_set(analyzer->error, -ERANGE,
					       interval.min == INT64_MIN ?
					       "output %u can be negative" :
					       "output %u can be %lld, expected 0 or more", k,
					       (long long)interval.min);
		if (interval.max == INT64_MAX) {
			bound_output(analyzer, outputs[k], k);
			continue;
		}
		analyzer->shape[k] = constant(interval.max + 1);
		analyzer->bound[k] = BOUND_IS_CONSTANT;
	}
	return analyzer->code;
}

static bool is_symbolic(const struct analyzer *analyzer)
{
	uint32_t k;

	if (map_find_symbol(analyzer->map))
		return true;
	for (k = 0; k < analyzer->map->num_inputs; k++)
		if (analyzer->bounds->variables[k].limit)
			return true;
	return false;
}

static void name_outputs(struct analyzer *analyzer)
{
	struct variable_bounds *variable;
	uint32_t k;

	map_output_names(analyzer->map, analyzer->names);
	for (k = 0; k < analyzer->map->num_outputs; k++) {
		variable = &analyzer->output_variables[k];
		*variable = (struct variable_bounds){ .name = analyzer->names[k] };
		variable->limit = analyzer->shape[k].symbolic;
		variable->interval.max = variable->limit ? INT64_MAX :
					 analyzer->shape[k].value - 1;
	}
	analyzer->output_bounds = (struct bounds){ k, analyzer->output_variables };
}

/* The points of the output shape that no input reaches, of a map that is injective. */
static struct quantity count_padding(struct analyzer *analyzer, const struct map_bounds *bounds)
{
	struct quantity outputs = constant(1), inputs = constant(1), extent;
	uint32_t k, source;

	for (k = 0; k < analyzer->map->num_outputs; k++)
		outputs = multiply(analyzer, outputs, analyzer->shape[k]);
	for (k = 0; k < analyzer->map->num_inputs; k++) {
		extent = constant(0);
		if (!bounds->is_empty[k]) {
			if (!find_input(analyzer, k, &source))
				return constant(0);
			extent = analyzer->sources[source].extent;
		}
		inputs = multiply(analyzer, inputs, extent);
	}
	return subtract(analyzer, outputs, inputs);
}

/* The whole ---------------------------------------------------------------------------------- */

static bool is_empty(const struct map_bounds *bounds)
{
	size_t k;

	for (k = 0; k < bounds->bounds.count; k++)
		if (bounds->is_empty[k])
			return true;
	return false;
}

/* With no point to take, an output of an empty axis has extent 0. */
static void empty_shape(struct analyzer *analyzer, const struct map_bounds *bounds)
{
	uint32_t k;

	for (k = 0; k < analyzer->map->num_outputs; k++)
		if (map_output_is_empty(analyzer->map, bounds, k)) {
			analyzer->shape[k] = constant(0);
			analyzer->bound[k] = BOUND_IS_CONSTANT;
		}
}

static void set_reason(struct accel_map_analysis *analysis, const char *reason)
{
	size_t length = strlen(reason);

	if (length >= sizeof(analysis->reason))
		length = sizeof(analysis->reason) - 1;
	memcpy(analysis->reason, reason, length);
	analysis->reason[length] = '\0';
}

/* Where there is no closed form: by looking at points. */
static void analyze_points(struct analyzer *analyzer, const struct map_bounds *bounds,
			   bool has_symbols, struct accel_map_analysis *analysis)
{
	const char *names[ACCEL_MAP_MAX_AXES], *missing;
	uint32_t k;

	set_reason(analysis, analyzer->reason);
	if (has_symbols)
		return;
	analyzer->code = points_find_collision(analyzer->map, &bounds->bounds,
					       &analysis->injective, analysis->collision);
	if (analyzer->code || analysis->injective != ACCEL_ANSWER_NO)
		return;
	analysis->has_collision = true;
	map_names(analyzer->map, names);
	for (k = 0; k < analyzer->map->num_outputs; k++)
		expression_evaluate(analyzer->map->outputs[k], analyzer->map->num_inputs, names,
				    analysis->collision[0], &analysis->collision_at[k], &missing);
}

/* Sets padding, its count and bijective, of a map that is injective. */
static void conclude(struct analyzer *analyzer, const struct map_bounds *bounds,
		     struct accel_map_analysis *analysis)
{
	struct quantity count = count_padding(analyzer, bounds);

	if (analyzer->code)
		return;
	analysis->padding_count = quantity_expression(count);
	if (!analysis->padding_count)
		analyzer->code = -ENOMEM;
	if (is_value(count, 0))
		analysis->bijective = ACCEL_ANSWER_YES;
	else if (at_least(analyzer, count, constant(1)))
		analysis->bijective = ACCEL_ANSWER_NO;
	else
		set_reason(analysis, "whether there is padding depends on symbols");
	if (analysis->inverse && analysis->bijective != ACCEL_ANSWER_YES)
		analysis->padding = join_conditions(analyzer);
}

/* Forgets what an attempt has found. */
static void start_over(struct analyzer *analyzer)
{
	uint32_t k;

	analyzer->num_sources = 0;
	analyzer->num_terms = 0;
	analyzer->num_told = 0;
	analyzer->num_conditions = 0;
	for (k = 0; k < analyzer->map->num_inputs; k++)
		analyzer->source_of_input[k] = -1;
}

static bool find_closed_form(struct analyzer *analyzer, struct accel_expression *const *outputs,
			     bool has_symbols, struct accel_map **inverse)
{
	uint32_t k;

	start_over(analyzer);
	if (!take_outputs_apart(analyzer, outputs))
		return false;
	for (k = 0; k < analyzer->map->num_outputs && has_symbols; k++) {
		if (analyzer->bound[k] == BOUND_IS_CONSTANT)
			continue;
		analyzer->shape[k] = symbolic_extent(analyzer, &analyzer->outputs[k]);
		analyzer->bound[k] = BOUND_IS_SYMBOLIC;
	}
	if (analyzer->code)
		return false;
	name_outputs(analyzer);
	return tell_sources(analyzer) && build_inverse(analyzer, inverse);
}

/*
 * Simplified, outputs are in fewer parts that match more often. But what is simplified away from
 * one division and not from another hides that both are of the same number: then as written.
 */
static void analyze_box(struct analyzer *analyzer, struct accel_expression *const *outputs,
			const struct map_bounds *bounds, struct accel_map_analysis *analysis)
{
	bool has_symbols = is_symbolic(analyzer), is_closed;

	analyzer->code = measure_outputs(analyzer, bounds, outputs);
	if (analyzer->code)
		return;
	is_closed = find_closed_form(analyzer, outputs, has_symbols, &analysis->inverse);
	if (!is_closed && !analyzer->code)
		is_closed = find_closed_form(analyzer, analyzer->map->outputs, has_symbols,
					     &analysis->inverse);
	if (analyzer->code)
		return;
	if (is_empty(bounds)) {
		empty_shape(analyzer, bounds);
		analysis->injective = ACCEL_ANSWER_YES;
		analyzer->num_conditions = 0;
		add_padding(analyzer, expression_constant(1));
	} else if (is_closed) {
		analysis->injective = ACCEL_ANSWER_YES;
	} else {
		analyze_points(analyzer, bounds, has_symbols, analysis);
	}
	if (analysis->injective == ACCEL_ANSWER_YES && !analyzer->code)
		conclude(analyzer, bounds, analysis);
	else if (analysis->injective == ACCEL_ANSWER_NO)
		analysis->bijective = ACCEL_ANSWER_NO;
}

static int check_ranges(const struct accel_map *map, const struct map_bounds *bounds,
			struct accel_error *error)
{
	const struct variable_bounds *variable;
	uint32_t k;

	for (k = 0; k < map->num_inputs; k++) {
		variable = &bounds->variables[k];
		if ((variable->interval.max == INT64_MAX && !variable->limit) ||
		    (variable->interval.min == INT64_MIN && !variable->limit))
			return accel_error_set(error, -EINVAL,
					       "range of %s is not known: expected a shape, or a "
					       "range in the map", map->inputs[k].name);
		if (!variable->limit &&
		    (uint64_t)variable->interval.max - (uint64_t)variable->interval.min >=
		    INT64_MAX)
			return accel_error_set(
				error, -EOVERFLOW,
				"range of %s has an extent that does not fit 64 bits",
				map->inputs[k].name);
	}
	return 0;
}

static int publish_shape(const struct analyzer *analyzer, struct accel_map_analysis *analysis)
{
	uint32_t k;

	analysis->input_rank = analyzer->map->num_inputs;
	analysis->output_rank = analyzer->map->num_outputs;
	for (k = 0; k < analysis->output_rank; k++) {
		if (analyzer->bound[k] == BOUND_IS_UNKNOWN)
			continue;
		analysis->output_shape[k] = quantity_expression(analyzer->shape[k]);
		if (!analysis->output_shape[k])
			return -ENOMEM;
	}
	return 0;
}

/* The outputs of the map in canonical form go to outputs. */
static int simplify_outputs(const struct accel_map *map, const struct map_bounds *bounds,
			    struct accel_expression **outputs)
{
	uint32_t k;

	for (k = 0; k < map->num_outputs; k++) {
		outputs[k] = expression_simplify(map->outputs[k], &bounds->bounds);
		if (!outputs[k])
			return -errno;
	}
	return 0;
}

static int analyze(const struct accel_map *map, const struct map_bounds *bounds,
		   struct accel_map_analysis *analysis, struct accel_error *error)
{
	struct accel_expression *outputs[ACCEL_MAP_MAX_AXES] = { NULL };
	struct analyzer *analyzer = malloc(sizeof(*analyzer));
	uint32_t k;
	int code;

	if (!analyzer)
		return expression_error(error, -ENOMEM, "analysis of the map");
	/* Large, and filled in only as far as it is used. */
	memset(analyzer, 0, offsetof(struct analyzer, outputs));
	analyzer->map = map;
	analyzer->bounds = &bounds->bounds;
	analyzer->error = error;
	code = simplify_outputs(map, bounds, outputs);
	if (!code) {
		analyze_box(analyzer, outputs, bounds, analysis);
		code = analyzer->code;
	}
	if (!code)
		code = publish_shape(analyzer, analysis);
	/* -ERANGE has been explained already. */
	if (code && code != -ERANGE)
		expression_error(error, code, "analysis of the map");
	for (k = 0; k < map->num_outputs; k++)
		expression_unref(outputs[k]);
	while (analyzer->pool_count)
		expression_unref(analyzer->pool[--analyzer->pool_count]);
	free(analyzer->pool);
	free(analyzer);
	return code;
}

static void start_analysis(struct accel_map_analysis *analysis)
{
	memset(analysis, 0, sizeof(*analysis));
	analysis->injective = ACCEL_ANSWER_UNKNOWN;
	analysis->bijective = ACCEL_ANSWER_UNKNOWN;
}

int accel_map_analyze(struct accel_map *map, uint32_t rank, const int64_t *shape,
		      struct accel_map_analysis *analysis, struct accel_error *error)
{
	struct accel_map *expanded;
	struct map_bounds bounds;
	int code;

	start_analysis(analysis);
	code = map_expand(map, shape ? rank : map->num_inputs - map->is_variadic, &expanded,
			  error);
	if (code)
		return code;
	code = map_bounds_init(&bounds, expanded, expanded->num_inputs, shape, error);
	if (!code)
		code = check_ranges(expanded, &bounds, error);
	if (!code)
		code = analyze(expanded, &bounds, analysis, error);
	accel_map_unref(expanded);
	if (code) {
		accel_map_analysis_release(analysis);
		start_analysis(analysis);
	}
	return code;
}

void accel_map_analysis_release(struct accel_map_analysis *analysis)
{
	uint32_t k;

	for (k = 0; k < ACCEL_MAP_MAX_AXES; k++)
		expression_unref(analysis->output_shape[k]);
	accel_map_unref(analysis->inverse);
	expression_unref(analysis->padding);
	expression_unref(analysis->padding_count);
	memset(analysis, 0, sizeof(*analysis));
}
