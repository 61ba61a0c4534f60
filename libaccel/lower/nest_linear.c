// SPDX-License-Identifier: MIT
/*
 * Expressions become affine forms. A floor division is a variable of its own, the quotient; what
 * depends on a comparison is decided by ranges, or else by a choice, which makes a piece of the
 * nest. What is left, products of axes above all, is for a table, or for slices of one value.
 */
#include <errno.h>
#include <string.h>

#include "lower/nest_attempt.h"

/* Slices of one value each: as many are better than a table, and as many are tried without one. */
#define FEW_SLICES	4
#define MANY_SLICES	64

/* A form, and what is known of its values where the operand's conditions hold. */
struct value {
	struct nest_form form;
	struct interval range;
};

struct linearizer {
	struct nest_attempt *attempt;
	struct nest_space *space;
	uint32_t operand;
	bool may_use_table;		/* this is an address that a table can take */
	bool quotients_to_table;	/* and it has one already */
	bool is_comparing;		/* what is compared may become a window, and no table */
};

static int linearize(struct linearizer *linearizer, const struct accel_expression *expression,
		     struct value *value);

static int fail(struct linearizer *linearizer, int code, const char *what)
{
	return accel_error_set(&linearizer->attempt->error, code, "%s: %s",
			       nest_operand_name(linearizer->operand), what);
}

static int too_large(struct linearizer *linearizer)
{
	return fail(linearizer, -EOVERFLOW, "a value in an address or a condition does not fit "
		    "64 bits");
}

static int checked(struct linearizer *linearizer, int code)
{
	return code < 0 ? nest_failed(linearizer->attempt, code,
				      nest_operand_name(linearizer->operand)) : code;
}

static bool is_single(const struct value *value)
{
	return value->range.min == value->range.max;
}

static void set_constant(struct value *value, int64_t constant)
{
	nest_form_init(&value->form, constant);
	value->range = (struct interval){ constant, constant };
}

/* Narrows the range to what the form and the constraints say. */
static int bound(struct linearizer *linearizer, struct value *value)
{
	struct interval range = nest_form_range_within(linearizer->space, &value->form,
						       1u << linearizer->operand);

	if (range.min > value->range.min)
		value->range.min = range.min;
	if (range.max < value->range.max)
		value->range.max = range.max;
	/* Nowhere do the conditions hold: any range will do. */
	if (value->range.min > value->range.max)
		value->range = nest_form_range(linearizer->space, &value->form);
	if (end_is_infinite(value->range.min) || end_is_infinite(value->range.max))
		return too_large(linearizer);
	return 0;
}

static int linearize_axis(struct linearizer *linearizer, const char *name, struct value *value)
{
	const struct lower_nest *nest = linearizer->attempt->nest;
	uint32_t a = 0;

	while (a < nest->num_axes && !names_equal(nest->axes[a].name, name))
		a++;
	if (a == nest->num_axes)
		return accel_error_set(&linearizer->attempt->error, -ENOENT,
				       "%s: %s is no axis of the nest",
				       nest_operand_name(linearizer->operand), name);
	value->range = linearizer->space->variables[a].range;
	if (is_single(value)) {
		set_constant(value, value->range.min);
		return 0;
	}
	nest_form_init(&value->form, 0);
	value->form.coefficients[a] = 1;
	return bound(linearizer, value);
}

/* value = left + factor * right */
static int linearize_sum(struct linearizer *linearizer, const struct accel_expression *left,
			 const struct accel_expression *right, int64_t factor, struct value *value)
{
	struct value other;
	int code = linearize(linearizer, left, value);

	if (!code)
		code = linearize(linearizer, right, &other);
	if (code)
		return code;
	if (nest_form_add(&value->form, &other.form, factor))
		return too_large(linearizer);
	value->range = interval_binary(factor < 0 ? ACCEL_EXPRESSION_SUBTRACT :
						    ACCEL_EXPRESSION_ADD,
				       value->range, other.range);
	return bound(linearizer, value);
}

/* Slices: what is not affine may be, where axes have single values ---------------------------- */

/* The loops that a form depends on, by number. */
static uint64_t loops_in(const struct nest_space *space, const struct nest_form *form)
{
	uint64_t loops = 0;

	for (uint32_t v = 0; v < space->num_variables; v++) {
		const struct nest_variable *variable = &space->variables[v];

		if (!form->coefficients[v])
			continue;
		if (variable->kind == NEST_LOOP)
			loops |= (uint64_t)1 << v;
		else
			loops |= loops_in(space, &variable->numerator);
	}
	return loops;
}

/* The loop with the fewest values, of those with more than one. */
static uint32_t shortest_loop(const struct nest_space *space, uint64_t loops)
{
	uint32_t best = NEST_MAX_VARIABLES;

	for (uint32_t v = 0; v < space->num_variables; v++) {
		if (!(loops >> v & 1) || nest_extent(&space->variables[v]) == 1)
			continue;
		if (best == NEST_MAX_VARIABLES ||
		    nest_extent(&space->variables[v]) < nest_extent(&space->variables[best]))
			best = v;
	}
	return best;
}

/* Gives one of these loops a value, another in each piece of the nest. */
static int slice(struct linearizer *linearizer, uint64_t loops, const char *what)
{
	const struct lower_nest *nest = linearizer->attempt->nest;
	struct nest_space *space = linearizer->space;
	uint32_t v = shortest_loop(space, loops);
	struct interval *range = &space->variables[v].range;
	int64_t extent = nest_extent(&space->variables[v]), index;
	int code;

	if (linearizer->may_use_table &&
	    (linearizer->attempt->policy.prefers_tables || extent > FEW_SLICES))
		return NEST_NOT_AFFINE;
	if (extent > MANY_SLICES)
		return accel_error_set(&linearizer->attempt->error, -ENOTSUP,
			"%s: %s is not affine: axis %s has %lld values, at most %d are sliced",
			nest_operand_name(linearizer->operand), what,
			nest->axes[space->variables[v].axis].name, (long long)extent, MANY_SLICES);
	code = nest_choose(linearizer->attempt, extent, &index);
	if (code)
		return code;
	nest_note(linearizer->attempt, "axis %s is sliced by value: %s is not affine",
		  nest->axes[space->variables[v].axis].name, what);
	range->min += index;
	range->max = range->min;
	nest_refresh_quotients(space);
	return 0;
}

/* Slices until one of a and b has a single value. */
static int slice_to_single(struct linearizer *linearizer, struct value *a, struct value *b,
			   const char *what)
{
	int code = 0;

	while (!code && !is_single(a) && !is_single(b)) {
		uint64_t loops = loops_in(linearizer->space, &a->form) |
				 loops_in(linearizer->space, &b->form);

		code = slice(linearizer, loops, what);
		if (!code)
			code = bound(linearizer, a);
		if (!code)
			code = bound(linearizer, b);
	}
	return code;
}

static int linearize_product(struct linearizer *linearizer,
			     struct accel_expression *const *operands, struct value *value)
{
	struct value other, product;
	int code = linearize(linearizer, operands[0], value);

	if (!code)
		code = linearize(linearizer, operands[1], &other);
	if (!code)
		code = slice_to_single(linearizer, value, &other, "a product of indices");
	if (code)
		return code;
	if (is_single(value)) {
		product = *value;
		*value = other;
		other = product;
	}
	nest_form_init(&product.form, 0);
	if (nest_form_add(&product.form, &value->form, other.range.min))
		return too_large(linearizer);
	product.range = interval_multiply(value->range, other.range);
	*value = product;
	return bound(linearizer, value);
}

/* Division ------------------------------------------------------------------------------------ */

static bool find_quotient(const struct nest_space *space, const struct nest_form *numerator,
			  int64_t divisor, uint32_t owner, uint32_t *v)
{
	for (*v = 0; *v < space->num_variables; ++*v) {
		const struct nest_variable *variable = &space->variables[*v];

		if (variable->kind == NEST_QUOTIENT && variable->divisor == divisor &&
		    variable->owner == owner &&
		    nest_form_equal(&variable->numerator, numerator))
			return true;
	}
	return false;
}

/* Adds the variable that is numerator // divisor to a form, which may have it already. */
static int add_quotient(struct linearizer *linearizer, struct nest_form *form,
			const struct nest_form *numerator, int64_t divisor,
			const struct accel_expression *origin)
{
	struct nest_space *space = linearizer->space;
	uint32_t owner = NEST_SHARED, v;
	int code;

	if (linearizer->may_use_table && !linearizer->is_comparing &&
	    (linearizer->attempt->policy.tables >> linearizer->operand & 1))
		owner = linearizer->operand;
	if (linearizer->quotients_to_table)
		return NEST_NOT_AFFINE;
	if (!find_quotient(space, numerator, divisor, owner, &v)) {
		code = nest_add_quotient(space, numerator, divisor, &v);
		if (code)
			return checked(linearizer, code);
		space->variables[v].owner = owner;
		space->variables[v].origin = origin;
	}
	form->coefficients[v]++;
	return 0;
}

/* quotient = value // divisor, which is at least 1 */
static int divide(struct linearizer *linearizer, const struct value *value, int64_t divisor,
		  const struct accel_expression *origin, struct value *quotient)
{
	struct nest_form numerator = value->form;
	int code;

	quotient->range = nest_quotient_range(value->range, divisor);
	if (is_single(quotient)) {
		set_constant(quotient, quotient->range.min);
		return 0;
	}
	if (nest_reduce_division(linearizer->space, &numerator, &divisor, &quotient->form))
		return too_large(linearizer);
	if (divisor > 1) {
		code = add_quotient(linearizer, &quotient->form, &numerator, divisor, origin);
		if (code)
			return code;
	}
	return bound(linearizer, quotient);
}

/* value = value - divisor * (value // divisor) */
static int to_remainder(struct linearizer *linearizer, struct value *value, int64_t divisor,
			const struct accel_expression *origin)
{
	struct value quotient;
	int code = divide(linearizer, value, divisor, origin, &quotient);

	if (code)
		return code;
	if (__builtin_sub_overflow(0, divisor, &divisor) ||
	    nest_form_add(&value->form, &quotient.form, divisor))
		return too_large(linearizer);
	if (is_single(&quotient))
		value->range = interval_binary(ACCEL_EXPRESSION_ADD, value->range,
			interval_multiply(quotient.range, (struct interval){ divisor, divisor }));
	else
		value->range = (struct interval){ 0, -divisor - 1 };
	return bound(linearizer, value);
}

static int negate(struct linearizer *linearizer, struct value *value)
{
	struct value negated;

	set_constant(&negated, 0);
	if (nest_form_add(&negated.form, &value->form, -1))
		return too_large(linearizer);
	negated.range = interval_binary(ACCEL_EXPRESSION_SUBTRACT, negated.range, value->range);
	*value = negated;
	return bound(linearizer, value);
}

/* a // -b = -a // b, a % -b = -(-a % b) */
static int linearize_division(struct linearizer *linearizer,
			      const struct accel_expression *expression, struct value *value)
{
	bool is_modulo = expression->kind == ACCEL_EXPRESSION_FLOOR_MODULO, is_negative;
	struct value divisor, quotient;
	int64_t by;
	int code = linearize(linearizer, expression->operands[0], value);

	if (!code)
		code = linearize(linearizer, expression->operands[1], &divisor);
	while (!code && !is_single(&divisor)) {
		code = slice(linearizer, loops_in(linearizer->space, &divisor.form),
			     "a division by an index");
		if (!code)
			code = bound(linearizer, &divisor);
	}
	if (!code)
		code = bound(linearizer, value);
	if (code)
		return code;
	by = divisor.range.min;
	if (!by)
		return fail(linearizer, -EDOM, "an address or a condition divides by 0");
	if (by == INT64_MIN)
		return too_large(linearizer);
	is_negative = by < 0;
	if (is_negative) {
		by = -by;
		code = negate(linearizer, value);
		if (code)
			return code;
	}
	if (is_modulo) {
		code = to_remainder(linearizer, value, by, expression);
		return code || !is_negative ? code : negate(linearizer, value);
	}
	code = divide(linearizer, value, by, expression, &quotient);
	if (!code)
		*value = quotient;
	return code;
}

/* Comparisons ---------------------------------------------------------------------------------- */

/* Whether value >= 0, in this piece. */
static int is_nonnegative(struct linearizer *linearizer, struct value *value, bool *truth)
{
	struct interval range = nest_form_range(linearizer->space, &value->form);
	int64_t choice;
	int code;

	*truth = value->range.min >= 0;
	if (value->range.min >= 0 || value->range.max < 0)
		return 0;
	if (linearizer->may_use_table && linearizer->attempt->policy.prefers_tables)
		return NEST_NOT_AFFINE;
	code = nest_choose(linearizer->attempt, 2, &choice);
	if (code)
		return code;
	nest_note(linearizer->attempt, "%s: sliced where a comparison in an index changes",
		  nest_operand_name(linearizer->operand));
	*truth = !choice;
	if (choice) {
		struct value negated = *value;

		code = negate(linearizer, &negated);
		if (!code && nest_form_add_constant(&negated.form, -1))
			code = too_large(linearizer);
		if (code)
			return code;
		code = nest_constrain(linearizer->space, &negated.form,
				      range.min == INT64_MIN ? INT64_MAX : -range.min,
				      nest_all_operands(linearizer->space));
	} else {
		code = nest_constrain(linearizer->space, &value->form,
				      range.max == INT64_MAX ? INT64_MAX : range.max + 1,
				      nest_all_operands(linearizer->space));
	}
	nest_refresh_quotients(linearizer->space);
	return checked(linearizer, code);
}

/* Whether larger - smaller + offset >= 0 */
static int is_ordered(struct linearizer *linearizer, const struct accel_expression *larger,
		      const struct accel_expression *smaller, int64_t offset, bool *truth)
{
	bool was_comparing = linearizer->is_comparing;
	struct value difference;
	int code;

	linearizer->is_comparing = true;
	code = linearize_sum(linearizer, larger, smaller, -1, &difference);
	linearizer->is_comparing = was_comparing;
	if (code)
		return code;
	if (nest_form_add_constant(&difference.form, offset))
		return too_large(linearizer);
	difference.range = interval_binary(ACCEL_EXPRESSION_ADD, difference.range,
					   (struct interval){ offset, offset });
	code = bound(linearizer, &difference);
	return code ? code : is_nonnegative(linearizer, &difference, truth);
}

static int is_equal(struct linearizer *linearizer, const struct accel_expression *a,
		    const struct accel_expression *b, bool *truth)
{
	int code = is_ordered(linearizer, a, b, 0, truth);

	return code || !*truth ? code : is_ordered(linearizer, b, a, 0, truth);
}

static int is_true(struct linearizer *linearizer, const struct accel_expression *expression,
		   bool *truth);

/* and, or: the second is looked at only where the first does not decide */
static int is_both_or_either(struct linearizer *linearizer,
			     const struct accel_expression *expression, bool *truth)
{
	bool deciding = expression->kind == ACCEL_EXPRESSION_OR;
	int code = is_true(linearizer, expression->operands[0], truth);

	if (code || *truth == deciding)
		return code;
	return is_true(linearizer, expression->operands[1], truth);
}

static int is_not_zero(struct linearizer *linearizer, const struct accel_expression *expression,
		       bool *truth)
{
	bool was_comparing = linearizer->is_comparing;
	struct value value;
	int code;

	linearizer->is_comparing = true;
	code = linearize(linearizer, expression, &value);
	linearizer->is_comparing = was_comparing;
	if (!code)
		code = is_nonnegative(linearizer, &value, truth);
	if (code)
		return code;
	if (!*truth) {
		*truth = true;
		return 0;
	}
	code = negate(linearizer, &value);
	if (!code)
		code = is_nonnegative(linearizer, &value, truth);
	*truth = !*truth;
	return code;
}

static int is_true(struct linearizer *linearizer, const struct accel_expression *expression,
		   bool *truth)
{
	struct accel_expression *const *operands = expression->operands;
	int code;

	switch ((enum accel_expression_kind)expression->kind) {
	case ACCEL_EXPRESSION_LESS:
		return is_ordered(linearizer, operands[1], operands[0], -1, truth);
	case ACCEL_EXPRESSION_LESS_EQUAL:
		return is_ordered(linearizer, operands[1], operands[0], 0, truth);
	case ACCEL_EXPRESSION_GREATER:
		return is_ordered(linearizer, operands[0], operands[1], -1, truth);
	case ACCEL_EXPRESSION_GREATER_EQUAL:
		return is_ordered(linearizer, operands[0], operands[1], 0, truth);
	case ACCEL_EXPRESSION_EQUAL:
		return is_equal(linearizer, operands[0], operands[1], truth);
	case ACCEL_EXPRESSION_NOT_EQUAL:
		code = is_equal(linearizer, operands[0], operands[1], truth);
		*truth = !*truth;
		return code;
	case ACCEL_EXPRESSION_AND:
	case ACCEL_EXPRESSION_OR:
		return is_both_or_either(linearizer, expression, truth);
	default:
		break;
	}
	return is_not_zero(linearizer, expression, truth);
}

static int linearize_truth(struct linearizer *linearizer,
			   const struct accel_expression *expression, struct value *value)
{
	bool truth = false;
	int code = is_true(linearizer, expression, &truth);

	set_constant(value, truth);
	return code;
}

static int linearize_select(struct linearizer *linearizer,
			    const struct accel_expression *expression, struct value *value)
{
	bool truth = false;
	int code = is_true(linearizer, expression->operands[0], &truth);

	return code ? code : linearize(linearizer, expression->operands[truth ? 1 : 2], value);
}

static int linearize_extreme(struct linearizer *linearizer,
			     const struct accel_expression *expression, struct value *value)
{
	bool is_max = expression->kind == ACCEL_EXPRESSION_MAX, is_first_larger = false;
	int code = is_ordered(linearizer, expression->operands[0], expression->operands[1], 0,
			      &is_first_larger);

	return code ? code : linearize(linearizer,
				       expression->operands[is_first_larger == is_max ? 0 : 1],
				       value);
}

static int linearize(struct linearizer *linearizer, const struct accel_expression *expression,
		     struct value *value)
{
	switch ((enum accel_expression_kind)expression->kind) {
	case ACCEL_EXPRESSION_CONSTANT:
		set_constant(value, expression->constant);
		return 0;
	case ACCEL_EXPRESSION_VARIABLE:
		return linearize_axis(linearizer, expression->name, value);
	case ACCEL_EXPRESSION_ADD:
		return linearize_sum(linearizer, expression->operands[0], expression->operands[1],
				     1, value);
	case ACCEL_EXPRESSION_SUBTRACT:
		return linearize_sum(linearizer, expression->operands[0], expression->operands[1],
				     -1, value);
	case ACCEL_EXPRESSION_MULTIPLY:
		return linearize_product(linearizer, expression->operands, value);
	case ACCEL_EXPRESSION_FLOOR_DIVIDE:
	case ACCEL_EXPRESSION_FLOOR_MODULO:
		return linearize_division(linearizer, expression, value);
	case ACCEL_EXPRESSION_MIN:
	case ACCEL_EXPRESSION_MAX:
		return linearize_extreme(linearizer, expression, value);
	case ACCEL_EXPRESSION_SELECT:
		return linearize_select(linearizer, expression, value);
	default:
		return linearize_truth(linearizer, expression, value);
	}
}

/* The nest ------------------------------------------------------------------------------------ */

static int linearize_conditions(struct linearizer *linearizer, const struct lower_operand *operand)
{
	struct nest_space *space = linearizer->space;
	uint32_t mask = linearizer->operand ? 1u << linearizer->operand : nest_all_operands(space);
	struct value value;
	int code = 0;

	linearizer->may_use_table = false;
	linearizer->quotients_to_table = false;
	for (uint32_t c = 0; c < operand->num_conditions && !code; c++) {
		code = linearize(linearizer, operand->conditions[c].value, &value);
		if (!code)
			code = checked(linearizer,
				       nest_constrain(space, &value.form,
						      operand->conditions[c].limit, mask));
	}
	if (!linearizer->operand)
		nest_refresh_quotients(space);
	return code;
}

static int add_term(struct linearizer *linearizer, const struct lower_term *term, uint32_t stream)
{
	struct nest_space *space = linearizer->space;
	struct interval *target = &space->targets[stream];
	struct interval stride = { term->stride, term->stride };
	struct value value;
	int code = linearize(linearizer, term->value, &value);

	if (code)
		return code;
	if (nest_form_add(&space->streams[stream], &value.form, term->stride))
		return too_large(linearizer);
	*target = interval_binary(ACCEL_EXPRESSION_ADD, *target,
				  interval_multiply(value.range, stride));
	return 0;
}

/* The terms that are not for a table; the others in *table_terms. */
static int add_terms(struct linearizer *linearizer, const struct lower_address *address,
		     uint32_t stream, uint32_t *table_terms)
{
	struct nest_space *space = linearizer->space;
	int code = 0;

	*table_terms = 0;
	nest_form_init(&space->streams[stream], address->offset);
	space->targets[stream] = (struct interval){ address->offset, address->offset };
	for (uint32_t t = 0; t < address->num_terms && !code; t++) {
		code = add_term(linearizer, &address->terms[t], stream);
		if (code == NEST_NOT_AFFINE) {
			*table_terms |= 1u << t;
			code = 0;
		}
	}
	return code;
}

/* An operand with a table has all in it that is not affine. */
static int linearize_address(struct linearizer *linearizer, const struct lower_address *address,
			     uint32_t stream, uint32_t *table_terms)
{
	int code;

	linearizer->quotients_to_table = false;
	code = add_terms(linearizer, address, stream, table_terms);
	if (code || !*table_terms)
		return code;
	linearizer->quotients_to_table = true;
	return add_terms(linearizer, address, stream, table_terms);
}

/* Where the stream must be proved to stay, if the nest says so. */
static void set_target(struct nest_space *space, uint32_t stream, enum accel_dtype dtype,
		       int64_t lowest, int64_t end)
{
	if (lowest || end)
		space->targets[stream] = (struct interval){
			lowest, end - (int64_t)accel_dtype_size(dtype),
		};
}

static int linearize_operand(struct linearizer *linearizer, uint32_t k, uint32_t *table_terms)
{
	const struct lower_operand *operand = &linearizer->attempt->nest->operands[k];
	struct nest_space *space = linearizer->space;
	uint32_t none;
	int code = 0;

	linearizer->operand = k;
	*table_terms = 0;
	if (k)
		code = linearize_conditions(linearizer, operand);
	if (code || (space->never_loaded >> k & 1))
		return code;
	if (!operand->is_indirect && (linearizer->attempt->policy.whole_tables >> k & 1)) {
		nest_form_init(&space->streams[k], operand->address.offset);
		*table_terms = (uint32_t)(((uint64_t)1 << operand->address.num_terms) - 1);
		return 0;
	}
	linearizer->may_use_table = !operand->is_indirect;
	code = linearize_address(linearizer, &operand->address, k, table_terms);
	set_target(space, k, operand->dtype, operand->lowest, operand->end);
	if (code || !operand->is_indirect)
		return code;
	code = linearize_address(linearizer, &operand->index_address, NEST_MAX_OPERANDS + k,
				 &none);
	set_target(space, NEST_MAX_OPERANDS + k, operand->index_dtype, operand->index_lowest,
		   operand->index_end);
	return code;
}

static int add_axes(struct nest_attempt *attempt)
{
	const struct lower_nest *nest = attempt->nest;
	int code = 0;

	for (uint32_t a = 0; a < nest->num_axes && !code; a++) {
		struct interval range = { 0, nest->axes[a].extent - 1 };
		uint32_t v;

		code = nest_add_loop(&attempt->space, range, a, a, &v);
	}
	return nest_failed(attempt, code, "axes");
}

int nest_linearize(struct nest_attempt *attempt)
{
	const struct lower_nest *nest = attempt->nest;
	struct nest_space *space = &attempt->space;
	struct linearizer linearizer = { .attempt = attempt, .space = space };
	uint32_t table_terms[NEST_MAX_OPERANDS];
	int code;

	nest_space_init(space, nest->num_operands);
	code = add_axes(attempt);
	if (!code)
		code = linearize_conditions(&linearizer, &nest->operands[0]);
	for (uint32_t k = 0; k < nest->num_operands && !code; k++)
		code = linearize_operand(&linearizer, k, &table_terms[k]);
	/* Only now have the axes the ranges of this piece. */
	for (uint32_t k = 0; k < nest->num_operands && !code; k++)
		if (table_terms[k])
			code = nest_table_of_terms(attempt, k, &nest->operands[k].address,
						   table_terms[k]);
	return code;
}
