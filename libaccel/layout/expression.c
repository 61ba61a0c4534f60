// SPDX-License-Identifier: MIT
/*
 * Expression nodes: building, comparing, substituting, evaluating. Text is in expression_text.c,
 * ranges and canonical forms in simplify.c.
 *
 * Every recursion here is as deep as the expression at most, which the builders limit, and visits
 * no more nodes than its size, which they limit too.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/expression.h"

int expression_error(struct accel_error *error, int code, const char *what)
{
	switch (code) {
	case -EOVERFLOW:
		return accel_error_set(error, code, "%s: a value does not fit 64 bits", what);
	case -EDOM:
		return accel_error_set(error, code, "%s: division by 0", what);
	case -E2BIG:
		return accel_error_set(error, code,
				       "%s: more than %d operations inside of one another, or %d",
				       what, ACCEL_EXPRESSION_MAX_DEPTH, ACCEL_EXPRESSION_MAX_SIZE);
	case -ENOMEM:
		return accel_error_set(error, code, "%s: out of memory", what);
	default:
		return accel_error_set(error, code, "%s: %s", what, strerror(-code));
	}
}

unsigned int expression_num_operands(enum accel_expression_kind kind)
{
	if (kind <= ACCEL_EXPRESSION_VARIABLE)
		return 0;
	return kind == ACCEL_EXPRESSION_SELECT ? 3 : 2;
}

struct accel_expression *expression_ref(struct accel_expression *expression)
{
	if (expression)
		atomic_fetch_add_explicit(&expression->references, 1, memory_order_relaxed);
	return expression;
}

void expression_unref(struct accel_expression *expression)
{
	unsigned int count, k;

	if (!expression)
		return;
	/*
	 * Pairs with itself: who frees the node sees what the others did before they let go. With
	 * one reference there is nobody else, and no need for the dearer operation.
	 */
	if (atomic_load_explicit(&expression->references, memory_order_acquire) != 1 &&
	    atomic_fetch_sub_explicit(&expression->references, 1, memory_order_acq_rel) != 1)
		return;
	count = expression_num_operands(expression->kind);
	for (k = 0; k < count; k++)
		expression_unref(expression->operands[k]);
	free(expression);
}

static struct accel_expression *expression_new(enum accel_expression_kind kind)
{
	struct accel_expression *expression = malloc(sizeof(*expression));

	if (!expression)
		return NULL;
	atomic_init(&expression->references, 1);
	expression->kind = kind;
	expression->depth = 1;
	expression->size = 1;
	return expression;
}

struct accel_expression *expression_constant(int64_t value)
{
	struct accel_expression *expression = expression_new(ACCEL_EXPRESSION_CONSTANT);

	if (expression)
		expression->constant = value;
	return expression;
}

static bool is_keyword(const char *name, size_t length)
{
	static const char *const keywords[] = { "and", "or", "min", "max", "select", "lambda" };
	size_t k;

	for (k = 0; k < sizeof(keywords) / sizeof(keywords[0]); k++)
		if (strlen(keywords[k]) == length && !memcmp(keywords[k], name, length))
			return true;
	return false;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(const char *name, size_t length)
{
	size_t k;

	if (!length || !is_letter(name[0]) || is_keyword(name, length))
		return false;
	for (k = 1; k < length; k++)
		if (!is_letter(name[k]) && (name[k] < '0' || name[k] > '9'))
			return false;
	return true;
}

struct accel_expression *expression_variable(const char *name, size_t length)
{
	size_t star = length && name[0] == '*';
	struct accel_expression *expression;

	if (length > ACCEL_NAME_MAX || !is_name(name + star, length - star)) {
		errno = EINVAL;
		return NULL;
	}
	expression = expression_new(ACCEL_EXPRESSION_VARIABLE);
	if (!expression)
		return NULL;
	memcpy(expression->name, name, length);
	expression->name[length] = '\0';
	return expression;
}

static int fold_divide(int64_t a, int64_t b, int64_t *result)
{
	if (!b)
		return -EDOM;
	if (b == -1)
		return __builtin_sub_overflow(0, a, result) ? -EOVERFLOW : 0;
	*result = floor_divide(a, b);
	return 0;
}

static int fold_modulo(int64_t a, int64_t b, int64_t *result)
{
	if (!b)
		return -EDOM;
	*result = b == -1 ? 0 : floor_modulo(a, b);
	return 0;
}

int expression_fold(enum accel_expression_kind kind, int64_t a, int64_t b, int64_t *result)
{
	switch (kind) {
	case ACCEL_EXPRESSION_ADD:
		return __builtin_add_overflow(a, b, result) ? -EOVERFLOW : 0;
	case ACCEL_EXPRESSION_SUBTRACT:
		return __builtin_sub_overflow(a, b, result) ? -EOVERFLOW : 0;
	case ACCEL_EXPRESSION_MULTIPLY:
		return __builtin_mul_overflow(a, b, result) ? -EOVERFLOW : 0;
	case ACCEL_EXPRESSION_FLOOR_DIVIDE:
		return fold_divide(a, b, result);
	case ACCEL_EXPRESSION_FLOOR_MODULO:
		return fold_modulo(a, b, result);
	case ACCEL_EXPRESSION_MIN:
		*result = a < b ? a : b;
		return 0;
	case ACCEL_EXPRESSION_MAX:
		*result = a > b ? a : b;
		return 0;
	case ACCEL_EXPRESSION_EQUAL:
		*result = a == b;
		return 0;
	case ACCEL_EXPRESSION_NOT_EQUAL:
		*result = a != b;
		return 0;
	case ACCEL_EXPRESSION_LESS:
		*result = a < b;
		return 0;
	case ACCEL_EXPRESSION_LESS_EQUAL:
		*result = a <= b;
		return 0;
	case ACCEL_EXPRESSION_GREATER:
		*result = a > b;
		return 0;
	case ACCEL_EXPRESSION_GREATER_EQUAL:
		*result = a >= b;
		return 0;
	case ACCEL_EXPRESSION_AND:
		*result = a && b;
		return 0;
	case ACCEL_EXPRESSION_OR:
		*result = a || b;
		return 0;
	default:
		return -EINVAL;
	}
}

static struct accel_expression *fold_constants(enum accel_expression_kind kind, int64_t a,
					       int64_t b)
{
	int64_t value;
	int code = expression_fold(kind, a, b, &value);

	if (code) {
		errno = -code;
		return NULL;
	}
	return expression_constant(value);
}

/* A node over operands, which it consumes. */
static struct accel_expression *expression_node(enum accel_expression_kind kind,
						unsigned int count,
						struct accel_expression *const *operands)
{
	struct accel_expression *expression;
	uint32_t depth = 0, size = 1;
	unsigned int k;

	for (k = 0; k < count; k++) {
		if (operands[k]->depth > depth)
			depth = operands[k]->depth;
		size += operands[k]->size;
	}
	if (depth >= ACCEL_EXPRESSION_MAX_DEPTH || size > ACCEL_EXPRESSION_MAX_SIZE) {
		errno = E2BIG;
		return NULL;
	}
	expression = expression_new(kind);
	if (!expression)
		return NULL;
	expression->depth = depth + 1;
	expression->size = size;
	for (k = 0; k < count; k++)
		expression->operands[k] = operands[k];
	return expression;
}

struct accel_expression *expression_binary(enum accel_expression_kind kind,
					   struct accel_expression *left,
					   struct accel_expression *right)
{
	struct accel_expression *const operands[] = { left, right };
	struct accel_expression *result = NULL;

	if (!left || !right)
		goto out;
	if (expression_is_constant(left) && expression_is_constant(right)) {
		result = fold_constants(kind, left->constant, right->constant);
		goto out;
	}
	if ((kind == ACCEL_EXPRESSION_FLOOR_DIVIDE || kind == ACCEL_EXPRESSION_FLOOR_MODULO) &&
	    expression_is_value(right, 0)) {
		errno = EDOM;
		goto out;
	}
	result = expression_node(kind, 2, operands);
	if (result)
		return result;
out:
	expression_unref(left);
	expression_unref(right);
	return result;
}

struct accel_expression *expression_select(struct accel_expression *condition,
					   struct accel_expression *if_true,
					   struct accel_expression *if_false)
{
	struct accel_expression *const operands[] = { condition, if_true, if_false };
	struct accel_expression *result = NULL;

	if (!condition || !if_true || !if_false)
		goto out;
	if (expression_is_constant(condition)) {
		result = expression_ref(condition->constant ? if_true : if_false);
		goto out;
	}
	result = expression_node(ACCEL_EXPRESSION_SELECT, 3, operands);
	if (result)
		return result;
out:
	expression_unref(condition);
	expression_unref(if_true);
	expression_unref(if_false);
	return result;
}

int expression_compare(const struct accel_expression *a, const struct accel_expression *b)
{
	unsigned int count, k;
	int order;

	if (a == b)
		return 0;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (expression_is_constant(a))
		return (a->constant > b->constant) - (a->constant < b->constant);
	if (expression_is_variable(a))
		return strcmp(a->name, b->name);
	count = expression_num_operands(a->kind);
	for (k = 0; k < count; k++) {
		order = expression_compare(a->operands[k], b->operands[k]);
		if (order)
			return order;
	}
	return 0;
}

bool expression_mentions(const struct accel_expression *expression, const char *name)
{
	unsigned int count = expression_num_operands(expression->kind), k;

	if (expression_is_variable(expression))
		return names_equal(expression->name, name);
	for (k = 0; k < count; k++)
		if (expression_mentions(expression->operands[k], name))
			return true;
	return false;
}

static struct accel_expression *substitute_variable(struct accel_expression *variable,
						    size_t count, const char *const *names,
						    struct accel_expression *const *replacements)
{
	size_t k;

	for (k = 0; k < count; k++)
		if (names_equal(variable->name, names[k]))
			return expression_ref(replacements[k]);
	return expression_ref(variable);
}

struct accel_expression *expression_substitute(struct accel_expression *expression, size_t count,
					       const char *const *names,
					       struct accel_expression *const *replacements)
{
	struct accel_expression *operands[EXPRESSION_MAX_OPERANDS] = { NULL };
	unsigned int num_operands = expression_num_operands(expression->kind), k;
	bool is_same = true;

	if (expression_is_variable(expression))
		return substitute_variable(expression, count, names, replacements);
	for (k = 0; k < num_operands; k++) {
		operands[k] = expression_substitute(expression->operands[k], count, names,
						    replacements);
		if (!operands[k])
			break;
		is_same &= operands[k] == expression->operands[k];
	}
	if (k == num_operands && is_same) {
		while (k--)
			expression_unref(operands[k]);
		return expression_ref(expression);
	}
	if (expression->kind == ACCEL_EXPRESSION_SELECT)
		return expression_select(operands[0], operands[1], operands[2]);
	return expression_binary(expression->kind, operands[0], operands[1]);
}

static int evaluate_variable(const char *name, size_t count, const char *const *names,
			     const int64_t *values, int64_t *value, const char **missing)
{
	size_t k;

	for (k = 0; k < count; k++) {
		if (names_equal(name, names[k])) {
			*value = values[k];
			return 0;
		}
	}
	*missing = name;
	return -ENOENT;
}

int expression_evaluate(const struct accel_expression *expression, size_t count,
			const char *const *names, const int64_t *values, int64_t *value,
			const char **missing)
{
	int64_t left, right;
	int code;

	if (expression_is_constant(expression)) {
		*value = expression->constant;
		return 0;
	}
	if (expression_is_variable(expression))
		return evaluate_variable(expression->name, count, names, values, value, missing);
	code = expression_evaluate(expression->operands[0], count, names, values, &left, missing);
	if (code)
		return code;
	if (expression->kind == ACCEL_EXPRESSION_SELECT)
		return expression_evaluate(expression->operands[left ? 1 : 2], count, names, values,
					   value, missing);
	if ((expression->kind == ACCEL_EXPRESSION_AND && !left) ||
	    (expression->kind == ACCEL_EXPRESSION_OR && left)) {
		*value = !!left;
		return 0;
	}
	code = expression_evaluate(expression->operands[1], count, names, values, &right, missing);
	if (code)
		return code;
	return expression_fold(expression->kind, left, right, value);
}

/* The public face ---------------------------------------------------------------------------- */

struct accel_expression *accel_expression_ref(struct accel_expression *expression)
{
	return expression_ref(expression);
}

void accel_expression_unref(struct accel_expression *expression)
{
	expression_unref(expression);
}

enum accel_expression_kind accel_expression_kind(const struct accel_expression *expression)
{
	return expression->kind;
}

struct accel_expression *accel_expression_operand(const struct accel_expression *expression,
						  uint32_t k)
{
	return k < expression_num_operands(expression->kind) ? expression->operands[k] : NULL;
}

bool accel_expression_is_constant(const struct accel_expression *expression, int64_t *value)
{
	if (!expression_is_constant(expression))
		return false;
	*value = expression->constant;
	return true;
}

const char *accel_expression_name(const struct accel_expression *expression)
{
	return expression_is_variable(expression) ? expression->name : NULL;
}

static int built(struct accel_expression *expression, struct accel_expression **result,
		 const char *what, struct accel_error *error)
{
	*result = expression;
	return expression ? 0 : expression_error(error, -errno, what);
}

int accel_expression_constant(int64_t value, struct accel_expression **expression,
			      struct accel_error *error)
{
	return built(expression_constant(value), expression, "constant", error);
}

int accel_expression_variable(const char *name, struct accel_expression **expression,
			      struct accel_error *error)
{
	*expression = expression_variable(name, strlen(name));
	if (*expression)
		return 0;
	if (errno == EINVAL)
		return accel_error_set(
			error, -EINVAL,
			"\"%.40s\" is no name: expected a letter or _, then letters, "
			"digits and _, %d characters at most, and no keyword",
			name, ACCEL_NAME_MAX);
	return expression_error(error, -errno, "variable");
}

int accel_expression_binary(enum accel_expression_kind kind, struct accel_expression *left,
			    struct accel_expression *right, struct accel_expression **expression,
			    struct accel_error *error)
{
	if (kind <= ACCEL_EXPRESSION_VARIABLE || kind >= ACCEL_EXPRESSION_SELECT) {
		*expression = NULL;
		return accel_error_set(error, -EINVAL,
				       "kind %d of expression does not take two operands",
				       (int)kind);
	}
	return built(expression_binary(kind, expression_ref(left), expression_ref(right)),
		     expression, "expression", error);
}

int accel_expression_select(struct accel_expression *condition, struct accel_expression *if_true,
			    struct accel_expression *if_false,
			    struct accel_expression **expression, struct accel_error *error)
{
	return built(expression_select(expression_ref(condition), expression_ref(if_true),
				       expression_ref(if_false)),
		     expression, "select", error);
}

int accel_expression_evaluate(const struct accel_expression *expression, size_t num_bindings,
			      const struct accel_binding *bindings, int64_t *value,
			      struct accel_error *error)
{
	const char **names = NULL, *missing = NULL;
	int64_t *values = NULL;
	int code = -ENOMEM;
	size_t k;

	if (num_bindings) {
		names = calloc(num_bindings, sizeof(*names));
		values = calloc(num_bindings, sizeof(*values));
		if (!names || !values)
			goto out;
	}
	for (k = 0; k < num_bindings; k++) {
		names[k] = bindings[k].name;
		values[k] = bindings[k].value;
	}
	code = expression_evaluate(expression, num_bindings, names, values, value, &missing);
out:
	if (code == -ENOENT)
		accel_error_set(error, code, "variable %s has no value", missing);
	else if (code)
		expression_error(error, code, "expression");
	free(names);
	free(values);
	return code;
}
