// SPDX-License-Identifier: MIT
/*
 * Text of expressions: the lexer that maps share, the parser and the printer. What is printed
 * parses back to the same nodes.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "layout/expression.h"

/* Operators by how tightly they bind; all group from the left. */
enum precedence {
	PRECEDENCE_OR = 1,
	PRECEDENCE_AND,
	PRECEDENCE_COMPARISON,
	PRECEDENCE_SUM,
	PRECEDENCE_PRODUCT,
	PRECEDENCE_UNARY,
};

struct operator {
	const char *text;
	enum accel_expression_kind kind;
	enum precedence precedence;
};

static const struct operator operators[] = {
	{ "or", ACCEL_EXPRESSION_OR, PRECEDENCE_OR },
	{ "and", ACCEL_EXPRESSION_AND, PRECEDENCE_AND },
	{ "==", ACCEL_EXPRESSION_EQUAL, PRECEDENCE_COMPARISON },
	{ "!=", ACCEL_EXPRESSION_NOT_EQUAL, PRECEDENCE_COMPARISON },
	{ "<", ACCEL_EXPRESSION_LESS, PRECEDENCE_COMPARISON },
	{ "<=", ACCEL_EXPRESSION_LESS_EQUAL, PRECEDENCE_COMPARISON },
	{ ">", ACCEL_EXPRESSION_GREATER, PRECEDENCE_COMPARISON },
	{ ">=", ACCEL_EXPRESSION_GREATER_EQUAL, PRECEDENCE_COMPARISON },
	{ "+", ACCEL_EXPRESSION_ADD, PRECEDENCE_SUM },
	{ "-", ACCEL_EXPRESSION_SUBTRACT, PRECEDENCE_SUM },
	{ "*", ACCEL_EXPRESSION_MULTIPLY, PRECEDENCE_PRODUCT },
	{ "//", ACCEL_EXPRESSION_FLOOR_DIVIDE, PRECEDENCE_PRODUCT },
	{ "%", ACCEL_EXPRESSION_FLOOR_MODULO, PRECEDENCE_PRODUCT },
};

/* What is written as a call: its name, and how many operands it takes. */
struct function {
	const char *name;
	enum accel_expression_kind kind;
};

static const struct function functions[] = {
	{ "min", ACCEL_EXPRESSION_MIN },
	{ "max", ACCEL_EXPRESSION_MAX },
	{ "select", ACCEL_EXPRESSION_SELECT },
};

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* Lexer ------------------------------------------------------------------------------------ */

void *parser_fail(struct parser *parser, const char *at, int code, const char *format, ...)
{
	va_list arguments;
	char message[sizeof(parser->error->message)];

	if (parser->code)
		return NULL;
	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	parser->code =
		accel_error_set_at(parser->error, code, at - parser->text + 1, "%s", message);
	parser->token.kind = TOKEN_END;
	parser->token.length = 0;
	parser->token.operator = NULL;
	return NULL;
}

void *parser_unexpected(struct parser *parser, const char *what)
{
	const struct token *token = &parser->token;

	if (token->kind == TOKEN_END)
		return parser_fail(parser, token->start, -EINVAL, "expected %s, not the end", what);
	return parser_fail(parser, token->start, -EINVAL, "expected %s, not \"%.*s\"", what,
			   token->length < 40 ? (int)token->length : 40, token->start);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

static void lex_number(struct parser *parser)
{
	struct token *token = &parser->token;
	const char *end = token->start;
	uint64_t value = 0;

	/* 2^63 is let through: with a minus before it, it is a number. */
	for (; is_digit(*end); end++) {
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *end - '0', &value) ||
		    value > (uint64_t)INT64_MAX + 1) {
			parser_fail(parser, token->start, -EOVERFLOW,
				    "number is larger than 9223372036854775807");
			return;
		}
	}
	token->kind = TOKEN_NUMBER;
	token->number = (int64_t)value;
	token->length = end - token->start;
}

static void lex_name(struct parser *parser)
{
	static const char separator[] = "te.AXIS_SEPARATOR";
	struct token *token = &parser->token;
	const char *end = token->start;

	token->kind = TOKEN_NAME;
	if (!strncmp(end, separator, sizeof(separator) - 1) &&
	    !is_name_character(end[sizeof(separator) - 1])) {
		token->length = sizeof(separator) - 1;
		return;
	}
	while (is_name_character(*end))
		end++;
	token->length = end - token->start;
}

static void lex_punctuation(struct parser *parser)
{
	static const char *const pairs[] = { "//", "->", "<=", ">=", "==", "!=" };
	struct token *token = &parser->token;
	size_t k;

	token->kind = TOKEN_PUNCTUATION;
	token->length = 1;
	for (k = 0; k < ARRAY_SIZE(pairs); k++) {
		if (!strncmp(token->start, pairs[k], 2)) {
			token->length = 2;
			return;
		}
	}
	if (strchr("()[],:|+-*%<>", *token->start))
		return;
	if (*token->start > ' ' && *token->start < 127)
		parser_fail(parser, token->start, -EINVAL, "\"%c\" has no meaning here",
			    *token->start);
	else
		parser_fail(parser, token->start, -EINVAL, "byte 0x%02x has no meaning here",
			    (unsigned char)*token->start);
}

static const struct operator *find_operator(const struct parser *parser)
{
	size_t k;

	for (k = 0; k < ARRAY_SIZE(operators); k++)
		if (parser_sees(parser, operators[k].text))
			return &operators[k];
	return NULL;
}

void parser_advance(struct parser *parser)
{
	struct token *token = &parser->token;

	if (parser->code)
		return;
	while (*parser->next == ' ' || *parser->next == '\t' || *parser->next == '\n' ||
	       *parser->next == '\r')
		parser->next++;
	token->start = parser->next;
	token->kind = TOKEN_END;
	token->length = 0;
	token->operator = NULL;
	if (is_digit(*token->start))
		lex_number(parser);
	else if (is_name_character(*token->start))
		lex_name(parser);
	else if (*token->start)
		lex_punctuation(parser);
	parser->next = token->start + token->length;
	if (token->length == 1 ? token->kind == TOKEN_PUNCTUATION : token->length <= 3)
		token->operator = find_operator(parser);
}

void parser_init(struct parser *parser, const char *text, struct accel_error *error)
{
	*parser = (struct parser){ .text = text, .next = text, .error = error };
	parser_advance(parser);
}

bool parser_sees(const struct parser *parser, const char *what)
{
	const struct token *token = &parser->token;

	return (token->kind == TOKEN_PUNCTUATION || token->kind == TOKEN_NAME) &&
	       token->start[0] == what[0] && !strncmp(token->start, what, token->length) &&
	       !what[token->length];
}

bool parser_accept(struct parser *parser, const char *what)
{
	if (!parser_sees(parser, what))
		return false;
	parser_advance(parser);
	return true;
}

bool parser_expect(struct parser *parser, const char *what)
{
	char quoted[32];

	if (parser_accept(parser, what))
		return true;
	snprintf(quoted, sizeof(quoted), "\"%s\"", what);
	parser_unexpected(parser, quoted);
	return false;
}

bool parser_sees_name(const struct parser *parser)
{
	static const char *const taken[] = {
		"and", "or", "min", "max", "select", "lambda", "te.AXIS_SEPARATOR",
	};
	size_t k;

	if (parser->token.kind != TOKEN_NAME)
		return false;
	for (k = 0; k < ARRAY_SIZE(taken); k++)
		if (parser_sees(parser, taken[k]))
			return false;
	return true;
}

/* Parser ----------------------------------------------------------------------------------- */

/* Passes an expression on, or explains at a place in the text why it could not be built. */
static struct accel_expression *check_built(struct parser *parser, const char *at,
					    struct accel_expression *expression)
{
	if (expression || parser->code)
		return expression;
	switch (errno) {
	case EOVERFLOW:
		return parser_fail(parser, at, -EOVERFLOW, "the value does not fit 64 bits");
	case EDOM:
		return parser_fail(parser, at, -EDOM, "division by 0");
	case E2BIG:
		return parser_fail(parser, at, -E2BIG,
				   "more than %d operations inside of one another, or %d",
				   ACCEL_EXPRESSION_MAX_DEPTH, ACCEL_EXPRESSION_MAX_SIZE);
	default:
		return parser_fail(parser, at, -ENOMEM, "out of memory");
	}
}

static struct accel_expression *parse_level(struct parser *parser, enum precedence precedence);

static bool enter(struct parser *parser)
{
	if (parser->depth < ACCEL_EXPRESSION_MAX_DEPTH) {
		parser->depth++;
		return true;
	}
	parser_fail(parser, parser->token.start, -E2BIG, "more than %d parentheses open",
		    ACCEL_EXPRESSION_MAX_DEPTH);
	return false;
}

static struct accel_expression *parse_call(struct parser *parser, const struct function *function)
{
	struct accel_expression *operands[EXPRESSION_MAX_OPERANDS] = { NULL };
	unsigned int count = expression_num_operands(function->kind), k;
	const char *at = parser->token.start;

	parser_advance(parser);
	if (!enter(parser))
		return NULL;
	for (k = 0; k < count; k++) {
		if (!parser_expect(parser, k ? "," : "("))
			goto fail;
		operands[k] = parse_level(parser, PRECEDENCE_OR);
		if (!operands[k])
			goto fail;
	}
	if (!parser_expect(parser, ")"))
		goto fail;
	parser->depth--;
	if (function->kind == ACCEL_EXPRESSION_SELECT)
		return check_built(parser, at, expression_select(operands[0], operands[1],
								 operands[2]));
	return check_built(parser, at, expression_binary(function->kind, operands[0],
							 operands[1]));
fail:
	for (k = 0; k < count; k++)
		expression_unref(operands[k]);
	return NULL;
}

static struct accel_expression *parse_parentheses(struct parser *parser)
{
	struct accel_expression *expression;

	if (!enter(parser))
		return NULL;
	parser_advance(parser);
	expression = parse_level(parser, PRECEDENCE_OR);
	if (expression && !parser_expect(parser, ")")) {
		expression_unref(expression);
		return NULL;
	}
	parser->depth--;
	return expression;
}

static struct accel_expression *parse_name(struct parser *parser)
{
	struct token token = parser->token;
	size_t k;

	for (k = 0; k < ARRAY_SIZE(functions); k++)
		if (parser_sees(parser, functions[k].name))
			return parse_call(parser, &functions[k]);
	if (!parser_sees_name(parser))
		return parser_unexpected(parser, "a number, a name or \"(\"");
	if (token.length > ACCEL_NAME_MAX)
		return parser_fail(parser, token.start, -EINVAL,
				   "name is %zu characters long, expected %d at most", token.length,
				   ACCEL_NAME_MAX);
	parser_advance(parser);
	if (parser->code)
		return NULL;
	return check_built(parser, token.start, expression_variable(token.start, token.length));
}

/* A number; is_negative tells that a minus stands before it. */
static struct accel_expression *parse_number(struct parser *parser, bool is_negative)
{
	struct token token = parser->token;

	if (token.number == INT64_MIN && !is_negative)
		return parser_fail(parser, token.start, -EOVERFLOW,
				   "number is larger than 9223372036854775807");
	parser_advance(parser);
	if (parser->code)
		return NULL;
	if (is_negative && token.number != INT64_MIN)
		token.number = -token.number;
	return check_built(parser, token.start, expression_constant(token.number));
}

static struct accel_expression *parse_unary(struct parser *parser)
{
	const char *at = parser->token.start;
	struct accel_expression *operand;
	bool is_negative = false;

	/* A loop, since signs may be many. */
	while (parser_sees(parser, "-") || parser_sees(parser, "+")) {
		is_negative ^= parser_sees(parser, "-");
		parser_advance(parser);
	}
	switch (parser->token.kind) {
	case TOKEN_NUMBER:
		return parse_number(parser, is_negative);
	case TOKEN_NAME:
		operand = parse_name(parser);
		break;
	default:
		if (!parser_sees(parser, "("))
			return parser_unexpected(parser, "a number, a name or \"(\"");
		operand = parse_parentheses(parser);
	}
	if (!operand || !is_negative)
		return operand;
	return check_built(parser, at, expression_multiply(expression_constant(-1), operand));
}

static const struct operator *operator_ahead(const struct parser *parser,
					     enum precedence precedence)
{
	const struct operator *operator = parser->token.operator;

	return operator && operator->precedence == precedence ? operator : NULL;
}

/* a < b <= c, as Python reads it: a < b and b <= c. */
static struct accel_expression *parse_comparisons(struct parser *parser)
{
	struct accel_expression *left, *right, *one, *all = NULL;
	const struct operator *operator;
	const char *at;

	left = parse_level(parser, PRECEDENCE_SUM);
	while (left && (operator = operator_ahead(parser, PRECEDENCE_COMPARISON))) {
		at = parser->token.start;
		parser_advance(parser);
		right = parse_level(parser, PRECEDENCE_SUM);
		one = expression_binary(operator->kind, left, expression_ref(right));
		all = all ? expression_binary(ACCEL_EXPRESSION_AND, all, one) : one;
		left = right;
		if (!check_built(parser, at, all))
			break;
	}
	if (!all && !parser->code)
		return left;
	expression_unref(left);
	return all;
}

static struct accel_expression *parse_level(struct parser *parser, enum precedence precedence)
{
	struct accel_expression *left, *right;
	const struct operator *operator;
	const char *at;

	if (precedence == PRECEDENCE_UNARY)
		return parse_unary(parser);
	if (precedence == PRECEDENCE_COMPARISON)
		return parse_comparisons(parser);
	left = parse_level(parser, precedence + 1);
	while (left) {
		operator = operator_ahead(parser, precedence);
		if (!operator)
			break;
		at = parser->token.start;
		parser_advance(parser);
		right = parse_level(parser, precedence + 1);
		if (!right) {
			expression_unref(left);
			return NULL;
		}
		left = check_built(parser, at, expression_binary(operator->kind, left, right));
	}
	return left;
}

struct accel_expression *parser_expression(struct parser *parser)
{
	return parse_level(parser, PRECEDENCE_OR);
}

struct accel_expression *parser_operand(struct parser *parser)
{
	return parse_level(parser, PRECEDENCE_SUM);
}

int accel_expression_parse(const char *text, struct accel_expression **expression,
			   struct accel_error *error)
{
	struct parser parser;

	parser_init(&parser, text, error);
	*expression = parser_expression(&parser);
	if (*expression && parser.token.kind != TOKEN_END)
		parser_unexpected(&parser, "an operator or the end");
	if (parser.code) {
		expression_unref(*expression);
		*expression = NULL;
	}
	return parser.code;
}

/* Printer ---------------------------------------------------------------------------------- */

void printer_init(struct printer *printer, char *text, size_t size)
{
	*printer = (struct printer){ .text = text, .size = size };
	if (size)
		text[0] = '\0';
}

void printer_add_string(struct printer *printer, const char *text)
{
	size_t length = strlen(text), room;

	if (printer->length + 1 < printer->size) {
		room = printer->size - printer->length - 1;
		if (room > length)
			room = length;
		memcpy(printer->text + printer->length, text, room);
		printer->text[printer->length + room] = '\0';
	}
	printer->length += length;
}

void printer_add(struct printer *printer, const char *format, ...)
{
	va_list arguments;
	char text[256];

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	printer_add_string(printer, text);
}

int printer_finish(struct printer *printer)
{
	return printer->length > INT_MAX ? -EOVERFLOW : (int)printer->length;
}

static void print_level(struct printer *printer, const struct accel_expression *expression,
			enum precedence precedence);

static void print_call(struct printer *printer, const struct accel_expression *expression)
{
	unsigned int count = expression_num_operands(expression->kind), k;

	for (k = 0; k < ARRAY_SIZE(functions); k++)
		if (functions[k].kind == expression->kind)
			printer_add_string(printer, functions[k].name);
	for (k = 0; k < count; k++) {
		printer_add_string(printer, k ? ", " : "(");
		print_level(printer, expression->operands[k], PRECEDENCE_OR);
	}
	printer_add_string(printer, ")");
}

/* -x is -1*x: that is how it is parsed. */
static bool is_negation(const struct accel_expression *expression)
{
	return expression->kind == ACCEL_EXPRESSION_MULTIPLY &&
	       expression_is_value(expression->operands[0], -1);
}

static void print_operator(struct printer *printer, const struct accel_expression *expression,
			   const struct operator *operator)
{
	/* a < b < c means something else: a comparison in a comparison needs parentheses. */
	enum precedence left = operator->precedence +
			       (operator->precedence == PRECEDENCE_COMPARISON);

	print_level(printer, expression->operands[0], left);
	printer_add(printer, operator->precedence == PRECEDENCE_PRODUCT ? "%s" : " %s ",
		    operator->text);
	print_level(printer, expression->operands[1], operator->precedence + 1);
}

static void print_level(struct printer *printer, const struct accel_expression *expression,
			enum precedence precedence)
{
	const struct operator *operator = NULL;
	bool has_parentheses;
	size_t k;

	if (expression_is_constant(expression)) {
		printer_add(printer, "%lld", (long long)expression->constant);
		return;
	}
	if (expression_is_variable(expression)) {
		printer_add_string(printer, expression->name);
		return;
	}
	for (k = 0; k < ARRAY_SIZE(operators); k++)
		if (operators[k].kind == expression->kind)
			operator = &operators[k];
	if (!operator) {
		print_call(printer, expression);
		return;
	}
	if (is_negation(expression)) {
		printer_add_string(printer, "-");
		expression = expression->operands[1];
		has_parentheses = !expression_is_variable(expression) &&
				  !(expression->kind == ACCEL_EXPRESSION_MIN) &&
				  !(expression->kind == ACCEL_EXPRESSION_MAX) &&
				  !(expression->kind == ACCEL_EXPRESSION_SELECT);
		if (has_parentheses)
			printer_add_string(printer, "(");
		print_level(printer, expression, PRECEDENCE_OR);
		if (has_parentheses)
			printer_add_string(printer, ")");
		return;
	}
	has_parentheses = operator->precedence < precedence;
	if (has_parentheses)
		printer_add_string(printer, "(");
	print_operator(printer, expression, operator);
	if (has_parentheses)
		printer_add_string(printer, ")");
}

void printer_add_expression(struct printer *printer, const struct accel_expression *expression)
{
	print_level(printer, expression, PRECEDENCE_OR);
}

int accel_expression_print(const struct accel_expression *expression, char *text, size_t size)
{
	struct printer printer;

	printer_init(&printer, text, size);
	printer_add_expression(&printer, expression);
	return printer_finish(&printer);
}
