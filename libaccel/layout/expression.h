/* SPDX-License-Identifier: MIT */
/*
 * Integer expressions inside the library: nodes, builders, text. Ranges and simplification are
 * in simplify.h.
 *
 * Builders here consume their operands, also when they fail, and take NULL for an operand that
 * failed to be built, so that calls nest. On failure they return NULL with errno set to ENOMEM,
 * EOVERFLOW, EDOM (division by zero), E2BIG (too deep or too large) or EINVAL.
 */
#ifndef ACCEL_LAYOUT_EXPRESSION_H
#define ACCEL_LAYOUT_EXPRESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <accel.h>

#include "error.h"

#define EXPRESSION_MAX_OPERANDS	3

struct accel_expression {
	atomic_uint references;
	uint8_t kind;			/* enum accel_expression_kind */
	uint16_t depth;			/* 1 for a leaf */
	uint32_t size;			/* nodes, shared ones counted each time */
	union {
		int64_t constant;
		char name[ACCEL_NAME_MAX + 1];
		struct accel_expression *operands[EXPRESSION_MAX_OPERANDS];
	};
};

static inline bool expression_is_constant(const struct accel_expression *expression)
{
	return expression->kind == ACCEL_EXPRESSION_CONSTANT;
}

static inline bool expression_is_value(const struct accel_expression *expression, int64_t value)
{
	return expression_is_constant(expression) && expression->constant == value;
}

static inline bool expression_is_variable(const struct accel_expression *expression)
{
	return expression->kind == ACCEL_EXPRESSION_VARIABLE;
}

/* Names mostly differ in the first character. */
static inline bool names_equal(const char *a, const char *b)
{
	return a[0] == b[0] && !strcmp(a, b);
}

/* How many operands a kind takes: 0, 2 or 3. */
unsigned int expression_num_operands(enum accel_expression_kind kind);

struct accel_expression *expression_ref(struct accel_expression *expression);
void expression_unref(struct accel_expression *expression);

struct accel_expression *expression_constant(int64_t value);

/* length characters of name; a leading * is allowed here, for the axes of a map. */
struct accel_expression *expression_variable(const char *name, size_t length);

/* Folds constants. */
struct accel_expression *expression_binary(enum accel_expression_kind kind,
					   struct accel_expression *left,
					   struct accel_expression *right);
struct accel_expression *expression_select(struct accel_expression *condition,
					   struct accel_expression *if_true,
					   struct accel_expression *if_false);

static inline struct accel_expression *expression_add(struct accel_expression *left,
						      struct accel_expression *right)
{
	return expression_binary(ACCEL_EXPRESSION_ADD, left, right);
}

static inline struct accel_expression *expression_subtract(struct accel_expression *left,
							   struct accel_expression *right)
{
	return expression_binary(ACCEL_EXPRESSION_SUBTRACT, left, right);
}

static inline struct accel_expression *expression_multiply(struct accel_expression *left,
							   struct accel_expression *right)
{
	return expression_binary(ACCEL_EXPRESSION_MULTIPLY, left, right);
}

static inline struct accel_expression *expression_divide(struct accel_expression *left,
							 struct accel_expression *right)
{
	return expression_binary(ACCEL_EXPRESSION_FLOOR_DIVIDE, left, right);
}

static inline struct accel_expression *expression_modulo(struct accel_expression *left,
							 struct accel_expression *right)
{
	return expression_binary(ACCEL_EXPRESSION_FLOOR_MODULO, left, right);
}

/* A total order of expressions by their structure: less than, equal to, greater than 0. */
int expression_compare(const struct accel_expression *a, const struct accel_expression *b);

/* Whether the name occurs in the expression. */
bool expression_mentions(const struct accel_expression *expression, const char *name);

/* The expression with replacements[k] for the variable names[k], all at once. Consumes nothing. */
struct accel_expression *expression_substitute(struct accel_expression *expression, size_t count,
					       const char *const *names,
					       struct accel_expression *const *replacements);

/*
 * The value, with values[k] for names[k]. 0, -EDOM, -EOVERFLOW, or -ENOENT with *missing set to
 * the name that has no value.
 */
int expression_evaluate(const struct accel_expression *expression, size_t count,
			const char *const *names, const int64_t *values, int64_t *value,
			const char **missing);

/* a op b, as the builders fold it: 0, -EOVERFLOW or -EDOM. */
int expression_fold(enum accel_expression_kind kind, int64_t a, int64_t b, int64_t *result);

static inline uint64_t magnitude(int64_t value)
{
	return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

/* 1 where it does not fit, as that of INT64_MIN and 0. */
static inline int64_t greatest_common_divisor(int64_t a, int64_t b)
{
	uint64_t x = magnitude(a), y = magnitude(b), rest;

	while (y) {
		rest = x % y;
		x = y;
		y = rest;
	}
	return x > INT64_MAX ? 1 : (int64_t)x;
}

/* Floor division and modulo; the divisor is not 0, and the quotient fits. */
static inline int64_t floor_divide(int64_t a, int64_t b)
{
	return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

static inline int64_t floor_modulo(int64_t a, int64_t b)
{
	int64_t remainder = a % b;

	return remainder && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

/* Text ------------------------------------------------------------------------------------- */

/* What the lexer of expressions and maps finds. Operators are two characters at most. */
enum token_kind {
	TOKEN_END,
	TOKEN_NUMBER,
	TOKEN_NAME,
	TOKEN_PUNCTUATION,
};

struct operator;

struct token {
	enum token_kind kind;
	const char *start;
	size_t length;
	int64_t number;
	const struct operator *operator;	/* that the token is, or NULL */
};

/*
 * A cursor over text that is parsed. token is the one ahead. After an error, code is set, error is
 * filled in and token is TOKEN_END for good.
 */
struct parser {
	const char *text;
	const char *next;		/* behind the token ahead */
	struct token token;
	unsigned int depth;		/* of open parentheses, unary signs */
	int code;			/* 0 or -errno */
	struct accel_error *error;	/* may be NULL */
};

void parser_init(struct parser *parser, const char *text, struct accel_error *error);
void parser_advance(struct parser *parser);

/* Whether the token ahead is this punctuation, or this word. */
bool parser_sees(const struct parser *parser, const char *what);

/* Takes the token ahead if it is what. */
bool parser_accept(struct parser *parser, const char *what);

/* Takes it, or sets an error: expected what. */
bool parser_expect(struct parser *parser, const char *what);

/* Sets the error at a place in the text, once: the first stays. Returns NULL. */
void *parser_fail(struct parser *parser, const char *at, int code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Fails with "expected what" and the token that is there instead. */
void *parser_unexpected(struct parser *parser, const char *what);

/* A variable's name as a token that is not a keyword. */
bool parser_sees_name(const struct parser *parser);

/*
 * An expression; stops at the first token that does not continue it. parser_operand() stops at
 * comparisons, and, or: what stands between the bounds of a range.
 */
struct accel_expression *parser_expression(struct parser *parser);
struct accel_expression *parser_operand(struct parser *parser);

/* Text that grows in a buffer of fixed size and counts what it needs, as snprintf() does. */
struct printer {
	char *text;
	size_t size;
	size_t length;
};

void printer_init(struct printer *printer, char *text, size_t size);
void printer_add(struct printer *printer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void printer_add_string(struct printer *printer, const char *text);
void printer_add_expression(struct printer *printer, const struct accel_expression *expression);

/* The length without the terminating zero, or -EOVERFLOW. */
int printer_finish(struct printer *printer);

/* Errors ----------------------------------------------------------------------------------- */

/* Fills in the error for a failure of the builders, with errno -code; what names what was built. */
int expression_error(struct accel_error *error, int code, const char *what);

#endif /* ACCEL_LAYOUT_EXPRESSION_H */
