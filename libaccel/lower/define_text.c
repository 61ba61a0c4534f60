// SPDX-License-Identifier: MIT
/*
 * Definitions from text. The grammar is in accel.h; indices and conditions over axes are read by
 * the parser of expressions, on whose lexer this one stands.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "layout/expression.h"
#include "lower/function.h"
#include "lower/number.h"

/*
 * parser reads a copy of the text, in which the loads in indices are blanked out: VALUE_INDEX
 * stands for them.
 */
struct definition_parser {
	struct parser parser;
	char *text;
	const struct accel_function *function;
	struct function_tensor *definition;
	bool is_written[LOWER_MAX_AXES];	/* the extent of the axis */
};

/* What an operation is applied to. A number has no type before it meets what has one. */
struct operand {
	struct accel_value *value;	/* NULL: a number */
	struct number number;
	const char *at;
};

static bool parse_comparison(struct definition_parser *definition, struct operand *operand);

static void operand_release(struct operand *operand)
{
	accel_value_unref(operand->value);
	operand->value = NULL;
}

/* Explains an error that a builder has filled in, at a place in the text. */
static bool fail_at(struct definition_parser *definition, const char *at, int code,
		    const struct accel_error *error)
{
	parser_fail(&definition->parser, at, code, "%s", error->message);
	return false;
}

static enum accel_dtype dtype_of(const struct definition_parser *definition,
				 const struct operand *operand)
{
	return function_value_dtype(definition->function, operand->value);
}

/* Numbers ---------------------------------------------------------------------------------- */

/* Gives a number the type, or does nothing to what is none. */
static bool give_type(struct definition_parser *definition, struct operand *operand,
		      enum accel_dtype dtype)
{
	struct accel_error error;
	uint64_t bits[2] = { 0 };
	int ret;

	if (operand->value)
		return true;
	if (number_bits(&operand->number, dtype, bits)) {
		parser_fail(&definition->parser, operand->at, -ERANGE, "the number is no %s",
			    accel_dtype_name(dtype));
		return false;
	}
	ret = value_constant(dtype, bits, &operand->value, &error);
	return ret ? fail_at(definition, operand->at, ret, &error) : true;
}

/* A number, with the fraction that the lexer of expressions does not know. */
static bool parse_number(struct definition_parser *definition, struct operand *operand)
{
	struct parser *parser = &definition->parser;
	bool fits;

	operand->value = NULL;
	operand->at = parser->token.start;
	parser->next = operand->at + number_parse(operand->at, &operand->number, &fits);
	if (!fits) {
		parser_fail(parser, operand->at, -EOVERFLOW, "the number does not fit 64 bits");
		return false;
	}
	parser_advance(parser);
	return !parser->code;
}

/* a op b of numbers. Integers that do not fit go on as reals. */
static void fold_numbers(enum accel_opcode opcode, struct number *a, const struct number *b)
{
	static const enum accel_expression_kind kinds[] = {
		[ACCEL_OP_ADD] = ACCEL_EXPRESSION_ADD,
		[ACCEL_OP_SUB] = ACCEL_EXPRESSION_SUBTRACT,
		[ACCEL_OP_MUL] = ACCEL_EXPRESSION_MULTIPLY,
	};

	a->is_integer = a->is_integer && b->is_integer &&
			!expression_fold(kinds[opcode], a->integer, b->integer, &a->integer);
	if (opcode == ACCEL_OP_MUL)
		a->real *= b->real;
	else
		a->real += opcode == ACCEL_OP_ADD ? b->real : -b->real;
}

/* Operations ------------------------------------------------------------------------------- */

/* Makes the operation of the operands, which have types, in place of the first. */
static bool make_operation(struct definition_parser *definition, const char *at,
			   enum accel_opcode opcode, enum accel_dtype dtype, uint8_t flags,
			   enum accel_predicate predicate, unsigned int count,
			   struct operand *operands)
{
	struct accel_value *values[3] = { NULL }, *value;
	struct accel_error error;
	int ret;

	for (unsigned int k = 0; k < count; k++)
		values[k] = operands[k].value;
	ret = accel_value_operate(opcode, dtype, flags, predicate, values, &value, &error);
	if (ret)
		return fail_at(definition, at, ret, &error);
	for (unsigned int k = 0; k < count; k++)
		operand_release(&operands[k]);
	operands[0].value = value;
	operands[0].at = at;
	return true;
}

/* Gives all operands from the first on one type: that of those that have one. */
static bool unify(struct definition_parser *definition, const char *at, const char *what,
		  struct operand *operands, unsigned int count)
{
	enum accel_dtype dtype = 0, other;

	for (unsigned int k = 0; k < count; k++) {
		if (!operands[k].value)
			continue;
		other = dtype_of(definition, &operands[k]);
		if (dtype && other != dtype) {
			parser_fail(&definition->parser, at, -EINVAL,
				    "the operands of %s are %s and %s, expected one type", what,
				    accel_dtype_name(dtype), accel_dtype_name(other));
			return false;
		}
		dtype = other;
	}
	if (!dtype) {
		parser_fail(&definition->parser, at, -EINVAL,
			    "%s of numbers alone has no type, expected one such as f32(7)", what);
		return false;
	}
	for (unsigned int k = 0; k < count; k++)
		if (!give_type(definition, &operands[k], dtype))
			return false;
	return true;
}

struct binary {
	const char *text;
	enum accel_opcode opcode;
	enum accel_predicate predicate;
};

static const struct binary sums[] = {
	{ "+", ACCEL_OP_ADD, 0 },
	{ "-", ACCEL_OP_SUB, 0 },
	{ NULL, 0, 0 },
};

static const struct binary products[] = {
	{ "*", ACCEL_OP_MUL, 0 },
	{ NULL, 0, 0 },
};

static const struct binary comparisons[] = {
	{ "==", ACCEL_OP_COMPARE, ACCEL_PREDICATE_EQ },
	{ "!=", ACCEL_OP_COMPARE, ACCEL_PREDICATE_NE },
	{ "<", ACCEL_OP_COMPARE, ACCEL_PREDICATE_LT },
	{ "<=", ACCEL_OP_COMPARE, ACCEL_PREDICATE_LE },
	{ ">", ACCEL_OP_COMPARE, ACCEL_PREDICATE_GT },
	{ ">=", ACCEL_OP_COMPARE, ACCEL_PREDICATE_GE },
	{ NULL, 0, 0 },
};

static const struct binary *binary_ahead(const struct parser *parser, const struct binary *table)
{
	for (; table->text; table++)
		if (parser_sees(parser, table->text))
			return table;
	return NULL;
}

static bool make_binary(struct definition_parser *definition, const char *at,
			const struct binary *binary, struct operand operands[2])
{
	if (!operands[0].value && !operands[1].value && binary->opcode != ACCEL_OP_COMPARE) {
		fold_numbers(binary->opcode, &operands[0].number, &operands[1].number);
		return true;
	}
	return unify(definition, at, binary->text, operands, 2) &&
	       make_operation(definition, at, binary->opcode, dtype_of(definition, &operands[0]),
			      0, binary->predicate, 2, operands);
}

/* Operators of one table, grouped from the left. */
static bool parse_binary(struct definition_parser *definition, const struct binary *table,
			 bool (*parse_operand)(struct definition_parser *, struct operand *),
			 struct operand *operand)
{
	struct operand operands[2] = { { .value = NULL } };
	const struct binary *binary;
	bool is_good;
	const char *at;

	if (!parse_operand(definition, operand))
		return false;
	while ((binary = binary_ahead(&definition->parser, table))) {
		at = definition->parser.token.start;
		parser_advance(&definition->parser);
		operands[0] = *operand;
		operands[1] = (struct operand){ .value = NULL };
		is_good = parse_operand(definition, &operands[1]) &&
			  make_binary(definition, at, binary, operands);
		*operand = operands[0];
		operand_release(&operands[1]);
		if (!is_good) {
			operand_release(operand);
			return false;
		}
	}
	return true;
}

/* Loads ------------------------------------------------------------------------------------ */

static bool is_name_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* The bracket that closes the one at start, or the end. */
static char *closing_bracket(char *start)
{
	unsigned int depth = 0;

	for (; *start; start++) {
		depth += *start == '[';
		depth -= *start == ']';
		if (!depth)
			break;
	}
	return start;
}

static bool parse_load(struct definition_parser *definition, bool is_index,
		       struct accel_value **value);

/*
 * Reads the load in the indices from start to end, if there is one, and blanks it out. What the
 * parser was at stays.
 */
static bool take_index(struct definition_parser *definition, char *start, const char *end,
		       bool is_index, struct accel_value **index)
{
	struct parser *parser = &definition->parser;
	struct parser saved = *parser;
	char *bracket, *name, *last;

	*index = NULL;
	bracket = memchr(start, '[', (size_t)(end - start));
	if (!bracket)
		return true;
	if (is_index) {
		parser_fail(parser, bracket, -EINVAL,
			    "an index is loaded as it is, expected no load in its own indices");
		return false;
	}
	for (name = bracket; name > start && is_name_character(name[-1]);)
		name--;
	last = closing_bracket(bracket);
	parser->next = name;
	parser_advance(parser);
	if (!parse_load(definition, true, index))
		return false;
	*parser = saved;
	memset(name, ' ', (size_t)(last + 1 - name));
	*name = VALUE_INDEX[0];
	bracket = memchr(start, '[', (size_t)(end - start));
	if (!bracket)
		return true;
	parser_fail(parser, bracket, -EINVAL, "expected one loaded index for a tensor, not two");
	accel_value_unref(*index);
	return false;
}

static void release_indices(struct accel_expression **indices, uint32_t count)
{
	while (count--)
		expression_unref(indices[count]);
}

/* What stands between brackets; the token ahead is the one that opens. */
static bool parse_indices(struct parser *parser, struct accel_expression **indices,
			  uint32_t *count)
{
	*count = 0;
	parser_advance(parser);
	if (parser_accept(parser, "]"))
		return true;
	do {
		if (*count == ACCEL_MAX_DIMS) {
			parser_fail(parser, parser->token.start, -EINVAL,
				    "more than %d indices", ACCEL_MAX_DIMS);
			break;
		}
		indices[*count] = parser_expression(parser);
		if (!indices[*count])
			break;
		++*count;
	} while (parser_accept(parser, ","));
	if (parser_expect(parser, "]"))
		return true;
	release_indices(indices, *count);
	return false;
}

/* Checks what the place of which is known only here. */
static bool check_load(struct definition_parser *definition, const struct token *name,
		       uint32_t count, char tensor[ACCEL_NAME_MAX + 1])
{
	const struct function_tensor *found;
	uint32_t number = FUNCTION_NO_TENSOR;

	if (name->length <= ACCEL_NAME_MAX) {
		memcpy(tensor, name->start, name->length);
		tensor[name->length] = '\0';
		number = function_find(definition->function, tensor);
	}
	if (number == FUNCTION_NO_TENSOR) {
		parser_fail(&definition->parser, name->start, -ENOENT,
			    "tensor \"%.*s\" is neither an input nor defined before",
			    name->length < 40 ? (int)name->length : 40, name->start);
		return false;
	}
	found = &definition->function->tensors[number];
	if (found->rank == count)
		return true;
	parser_fail(&definition->parser, name->start, -EINVAL,
		    "%s has %u axes, there are %u indices", tensor, found->rank, count);
	return false;
}

/* x[i//2, j]; the token ahead is the name. */
static bool parse_load(struct definition_parser *definition, bool is_index,
		       struct accel_value **value)
{
	struct parser *parser = &definition->parser;
	struct accel_expression *indices[ACCEL_MAX_DIMS];
	char tensor[ACCEL_NAME_MAX + 1];
	struct token name = parser->token;
	struct accel_value *index = NULL;
	struct accel_error error;
	uint32_t count;
	char *start;
	int ret;

	*value = NULL;
	if (!parser_sees_name(parser)) {
		parser_unexpected(parser, "a value");
		return false;
	}
	parser_advance(parser);
	if (!parser_sees(parser, "[")) {
		parser_unexpected(parser, "\"[\" and the indices of a tensor");
		return false;
	}
	start = definition->text + (parser->token.start - parser->text);
	if (!take_index(definition, start + 1, closing_bracket(start), is_index, &index))
		return false;
	if (!parse_indices(parser, indices, &count))
		goto out_index;
	if (check_load(definition, &name, count, tensor)) {
		ret = value_load(tensor, count, indices, NULL, NULL, index, value, &error);
		if (ret)
			fail_at(definition, name.start, ret, &error);
	}
	release_indices(indices, count);
out_index:
	accel_value_unref(index);
	return *value;
}

/* Calls ------------------------------------------------------------------------------------ */

/* Whether the condition ahead, up to the comma, is over axes alone: it loads nothing. */
static bool sees_condition_of_axes(const struct parser *parser)
{
	unsigned int depth = 0;

	for (const char *at = parser->token.start; *at; at++) {
		if (*at == '[')
			return false;
		if (*at == '(')
			depth++;
		if (*at == ')' && !depth--)
			break;
		if (*at == ',' && !depth)
			break;
	}
	return true;
}

/* A load with a padding, where select is just that; else NULL without an error. */
static bool make_padded(struct definition_parser *definition, const char *at,
			struct accel_expression *condition, struct operand operands[2],
			struct accel_value **value)
{
	const struct accel_value *load = operands[0].value, *other = operands[1].value;
	struct accel_error error;
	int ret;

	*value = NULL;
	if (load->kind != VALUE_LOAD || load->load.condition || other->kind != VALUE_CONSTANT)
		return true;
	ret = value_load(load->load.tensor, load->load.num_indices, load->load.indices, condition,
			 other->bits, load->load.index, value, &error);
	return ret ? fail_at(definition, at, ret, &error) : true;
}

static bool make_choice(struct definition_parser *definition, const char *at,
			struct accel_expression **condition, struct operand operands[2])
{
	struct accel_value *value;
	struct accel_error error;
	int ret;

	if (!unify(definition, at, "select", operands, 2))
		return false;
	if (operands[0].value->kind == VALUE_CONSTANT) {
		struct operand first = operands[0];

		operands[0] = operands[1];
		operands[1] = first;
		*condition = condition_negate(*condition);
		if (!*condition) {
			parser_fail(&definition->parser, at, -errno, "out of memory");
			return false;
		}
	}
	if (!make_padded(definition, at, *condition, operands, &value))
		return false;
	if (!value) {
		ret = value_choose(*condition, operands[0].value, operands[1].value, &value,
				   &error);
		if (ret)
			return fail_at(definition, at, ret, &error);
	}
	operand_release(&operands[0]);
	operand_release(&operands[1]);
	operands[0].value = value;
	operands[0].at = at;
	return true;
}

/* select(condition over axes, a, b) */
static bool parse_choice(struct definition_parser *definition, const char *at,
			 struct operand operands[3])
{
	struct parser *parser = &definition->parser;
	struct accel_expression *condition = parser_expression(parser);
	bool is_good;

	is_good = condition && parser_expect(parser, ",") &&
		  parse_comparison(definition, &operands[0]) && parser_expect(parser, ",") &&
		  parse_comparison(definition, &operands[1]) && parser_expect(parser, ")") &&
		  make_choice(definition, at, &condition, operands);
	expression_unref(condition);
	return is_good;
}

static bool parse_arguments(struct definition_parser *definition, unsigned int count,
			    struct operand *operands)
{
	for (unsigned int k = 0; k < count; k++) {
		if (k && !parser_expect(&definition->parser, ","))
			return false;
		if (!parse_comparison(definition, &operands[k]))
			return false;
	}
	return parser_expect(&definition->parser, ")");
}

/* Calls that are one instruction, of operands of one type. */
static const struct call {
	const char *name;
	enum accel_opcode opcode;
} calls[] = {
	{ "fma", ACCEL_OP_FMA },
	{ "min", ACCEL_OP_MIN },
	{ "max", ACCEL_OP_MAX },
	{ "abs", ACCEL_OP_ABS },
};

static bool make_relu(struct definition_parser *definition, const char *at,
		      struct operand *operands)
{
	operands[1] = (struct operand){ .number = { .is_integer = true }, .at = at };
	return unify(definition, at, "relu", operands, 2) &&
	       make_operation(definition, at, ACCEL_OP_MAX, dtype_of(definition, &operands[0]), 0,
			      0, 2, operands);
}

/* min(max(x, lo), hi) */
static bool make_clamp(struct definition_parser *definition, const char *at,
		       struct operand *operands)
{
	enum accel_dtype dtype;

	if (!unify(definition, at, "clamp", operands, 3))
		return false;
	dtype = dtype_of(definition, &operands[0]);
	if (!make_operation(definition, at, ACCEL_OP_MAX, dtype, 0, 0, 2, operands))
		return false;
	operands[1] = operands[2];
	operands[2].value = NULL;
	return make_operation(definition, at, ACCEL_OP_MIN, dtype, 0, 0, 2, operands);
}

static bool make_select(struct definition_parser *definition, const char *at,
			struct operand *operands)
{
	if (!operands[0].value || dtype_of(definition, &operands[0]) != ACCEL_DTYPE_U8) {
		parser_fail(&definition->parser, at, -EINVAL,
			    "the condition of select is %s, expected u8, as a comparison is",
			    operands[0].value ?
			    accel_dtype_name(dtype_of(definition, &operands[0])) : "a number");
		return false;
	}
	return unify(definition, at, "select", &operands[1], 2) &&
	       make_operation(definition, at, ACCEL_OP_SELECT, dtype_of(definition, &operands[1]),
			      0, 0, 3, operands);
}

static bool make_cast(struct definition_parser *definition, const char *at, enum accel_dtype dtype,
		      struct operand *operand)
{
	uint8_t flags = dtype_is_integer(dtype) ? ACCEL_INSTRUCTION_SATURATE : 0;

	if (!operand->value)
		return give_type(definition, operand, dtype);
	return make_operation(definition, at, ACCEL_OP_CAST, dtype, flags, 0, 1, operand);
}

/* name(..), of which "(" is the token ahead. Without such a name: an error. */
static bool parse_named(struct definition_parser *definition, const struct token *name,
			struct operand operands[3])
{
	struct parser *parser = &definition->parser;
	enum accel_dtype dtype;
	char text[16];

	snprintf(text, sizeof(text), "%.*s", name->length < 15 ? (int)name->length : 15,
		 name->start);
	parser_advance(parser);
	for (size_t k = 0; k < sizeof(calls) / sizeof(calls[0]); k++) {
		unsigned int arity = value_arity(calls[k].opcode);

		if (strcmp(text, calls[k].name))
			continue;
		return parse_arguments(definition, arity, operands) &&
		       unify(definition, name->start, calls[k].name, operands, arity) &&
		       make_operation(definition, name->start, calls[k].opcode,
				      dtype_of(definition, &operands[0]), 0, 0, arity, operands);
	}
	if (!strcmp(text, "relu"))
		return parse_arguments(definition, 1, operands) &&
		       make_relu(definition, name->start, operands);
	if (!strcmp(text, "clamp"))
		return parse_arguments(definition, 3, operands) &&
		       make_clamp(definition, name->start, operands);
	if (!strcmp(text, "select"))
		return sees_condition_of_axes(parser) ?
		       parse_choice(definition, name->start, operands) :
		       parse_arguments(definition, 3, operands) &&
		       make_select(definition, name->start, operands);
	if (!accel_dtype_parse(text, &dtype, NULL))
		return parse_arguments(definition, 1, operands) &&
		       make_cast(definition, name->start, dtype, operands);
	parser_fail(parser, name->start, -EINVAL,
		    "\"%.*s\" is no function: expected fma, min, max, abs, relu, clamp, select or "
		    "a type", name->length < 40 ? (int)name->length : 40, name->start);
	return false;
}

static bool parse_call(struct definition_parser *definition, struct operand *operand)
{
	struct token name = definition->parser.token;
	struct operand operands[3] = { { .value = NULL } };
	bool is_good;

	parser_advance(&definition->parser);
	is_good = parse_named(definition, &name, operands);
	*operand = operands[0];
	operand_release(&operands[1]);
	operand_release(&operands[2]);
	if (!is_good)
		operand_release(operand);
	return is_good;
}

/* Values ----------------------------------------------------------------------------------- */

static bool parse_parentheses(struct definition_parser *definition, struct operand *operand)
{
	parser_advance(&definition->parser);
	if (!parse_comparison(definition, operand))
		return false;
	if (parser_expect(&definition->parser, ")"))
		return true;
	operand_release(operand);
	return false;
}

static bool parse_primary(struct definition_parser *definition, struct operand *operand)
{
	struct parser *parser = &definition->parser;
	const char *behind = parser->next;

	*operand = (struct operand){ .at = parser->token.start };
	if (parser->token.kind == TOKEN_NUMBER)
		return parse_number(definition, operand);
	if (parser_sees(parser, "("))
		return parse_parentheses(definition, operand);
	if (parser->token.kind != TOKEN_NAME) {
		parser_unexpected(parser, "a value");
		return false;
	}
	while (*behind == ' ' || *behind == '\t' || *behind == '\n' || *behind == '\r')
		behind++;
	if (*behind == '(')
		return parse_call(definition, operand);
	return parse_load(definition, false, &operand->value);
}

static bool parse_unary(struct definition_parser *definition, struct operand *operand)
{
	struct parser *parser = &definition->parser;
	const char *at = parser->token.start;
	bool is_negative = false;

	/* A loop, since signs may be many. */
	while (parser_sees(parser, "-") || parser_sees(parser, "+")) {
		is_negative ^= parser_sees(parser, "-");
		parser_advance(parser);
	}
	if (!parse_primary(definition, operand))
		return false;
	if (!is_negative)
		return true;
	if (!operand->value) {
		operand->number.integer = -operand->number.integer;
		operand->number.real = -operand->number.real;
		operand->at = at;
		return true;
	}
	if (make_operation(definition, at, ACCEL_OP_NEG, dtype_of(definition, operand), 0, 0, 1,
			   operand))
		return true;
	operand_release(operand);
	return false;
}

static bool parse_product(struct definition_parser *definition, struct operand *operand)
{
	return parse_binary(definition, products, parse_unary, operand);
}

static bool parse_sum(struct definition_parser *definition, struct operand *operand)
{
	return parse_binary(definition, sums, parse_product, operand);
}

static bool parse_comparison(struct definition_parser *definition, struct operand *operand)
{
	struct parser *parser = &definition->parser;
	bool is_good;

	*operand = (struct operand){ .value = NULL };
	if (parser->depth == VALUE_MAX_DEPTH) {
		parser_fail(parser, parser->token.start, -E2BIG, "more than %d parentheses open",
			    VALUE_MAX_DEPTH);
		return false;
	}
	parser->depth++;
	is_good = parse_binary(definition, comparisons, parse_sum, operand);
	parser->depth--;
	return is_good;
}

/* The left-hand side ------------------------------------------------------------------------- */

/* Adds an axis, or fails if it is there. An extent of -1 is to be found. */
static bool add_axis(struct definition_parser *definition, const struct token *name,
		     int64_t extent)
{
	struct function_tensor *tensor = definition->definition;
	struct lower_axis *axis = &tensor->axes[tensor->num_axes];

	if (tensor->num_axes == LOWER_MAX_AXES || name->length > ACCEL_NAME_MAX) {
		parser_fail(&definition->parser, name->start, -EINVAL,
			    "expected at most %d axes, with names of at most %d characters",
			    LOWER_MAX_AXES, ACCEL_NAME_MAX);
		return false;
	}
	memcpy(axis->name, name->start, name->length);
	axis->name[name->length] = '\0';
	axis->extent = extent;
	for (uint32_t k = 0; k < tensor->num_axes; k++) {
		if (!names_equal(tensor->axes[k].name, axis->name))
			continue;
		parser_fail(&definition->parser, name->start, -EINVAL, "axis %s is there twice",
			    axis->name);
		return false;
	}
	definition->is_written[tensor->num_axes++] = extent >= 0;
	return true;
}

/* < 8, if it is there; else -1. */
static bool parse_extent(struct parser *parser, int64_t *extent)
{
	*extent = -1;
	if (!parser_accept(parser, "<"))
		return !parser->code;
	if (parser->token.kind != TOKEN_NUMBER || parser->token.number < 0) {
		parser_unexpected(parser, "an extent");
		return false;
	}
	*extent = parser->token.number;
	parser_advance(parser);
	return !parser->code;
}

/* The axes in the indices of a scatter: those that are not there yet. */
static bool add_axes_of(struct definition_parser *definition, const char *at,
			const struct accel_expression *expression)
{
	const struct function_tensor *tensor = definition->definition;
	struct token name = { .start = at };

	if (!expression_is_variable(expression)) {
		for (unsigned int k = 0; k < expression_num_operands(expression->kind); k++)
			if (!add_axes_of(definition, at, expression->operands[k]))
				return false;
		return true;
	}
	for (uint32_t k = 0; k < tensor->num_axes; k++)
		if (names_equal(tensor->axes[k].name, expression->name))
			return true;
	name.length = strlen(expression->name);
	name.start = expression->name;
	return add_axis(definition, &name, -1);
}

/* rows[i] < 10: where a scatter puts its values, and how many elements that axis has. */
static bool parse_target(struct definition_parser *definition, uint32_t axis)
{
	struct function_tensor *tensor = definition->definition;
	struct parser *parser = &definition->parser;
	const char *at = parser->token.start;

	if (tensor->index) {
		parser_fail(parser, at, -EINVAL, "expected one loaded index, not two");
		return false;
	}
	if (!parse_load(definition, true, &tensor->index) ||
	    !parse_extent(parser, &tensor->shape[axis]))
		return false;
	if (tensor->shape[axis] < 0) {
		parser_unexpected(parser, "\"<\" and the extent of the axis");
		return false;
	}
	for (uint32_t k = 0; k < tensor->index->load.num_indices; k++)
		if (!add_axes_of(definition, at, tensor->index->load.indices[k]))
			return false;
	tensor->indices[axis] = expression_variable(VALUE_INDEX, strlen(VALUE_INDEX));
	if (!tensor->indices[axis])
		parser_fail(parser, at, -ENOMEM, "out of memory");
	return tensor->indices[axis];
}

/* i, or i<8, or rows[i]<10 */
static bool parse_axis(struct definition_parser *definition, uint32_t axis)
{
	struct parser *parser = &definition->parser;
	struct function_tensor *tensor = definition->definition;
	struct token name = parser->token;
	const char *behind = parser->next;
	int64_t extent;

	if (!parser_sees_name(parser)) {
		parser_unexpected(parser, "the name of an axis");
		return false;
	}
	while (*behind == ' ' || *behind == '\t')
		behind++;
	if (*behind == '[')
		return parse_target(definition, axis);
	parser_advance(parser);
	if (!parse_extent(parser, &extent) || !add_axis(definition, &name, extent))
		return false;
	tensor->indices[axis] = expression_variable(name.start, name.length);
	if (!tensor->indices[axis])
		parser_fail(parser, name.start, -ENOMEM, "out of memory");
	return tensor->indices[axis];
}

static bool parse_axes(struct definition_parser *definition)
{
	struct function_tensor *tensor = definition->definition;
	struct parser *parser = &definition->parser;

	if (!parser_accept(parser, "[") || parser_accept(parser, "]"))
		return !parser->code;
	do {
		if (tensor->rank == ACCEL_MAX_DIMS) {
			parser_fail(parser, parser->token.start, -E2BIG,
				    "more than %d axes, a tensor has at most %d", ACCEL_MAX_DIMS,
				    ACCEL_MAX_DIMS);
			return false;
		}
		if (!parse_axis(definition, tensor->rank))
			return false;
		tensor->rank++;
	} while (parser_accept(parser, ","));
	return parser_expect(parser, "]");
}

/* Extents ---------------------------------------------------------------------------------- */

/* An index of a tensor by an axis alone: the axis has that extent. */
static int infer_axis(struct definition_parser *definition, const struct function_tensor *tensor,
		      uint32_t index, const char *name,
		      const struct function_tensor *from[LOWER_MAX_AXES])
{
	struct function_tensor *result = definition->definition;
	int64_t extent = tensor->shape[index];

	for (uint32_t k = 0; k < result->num_axes; k++) {
		struct lower_axis *axis = &result->axes[k];

		if (!names_equal(axis->name, name) || definition->is_written[k])
			continue;
		if (axis->extent >= 0 && axis->extent != extent)
			return accel_error_set(definition->parser.error, -EINVAL,
					       "axis %s has %" PRId64 " elements in %s and %" PRId64
					       " in %s", name, axis->extent, from[k]->name, extent,
					       tensor->name);
		axis->extent = extent;
		from[k] = tensor;
	}
	return 0;
}

static int infer_extents(struct definition_parser *definition, const struct accel_value *value,
			 const struct function_tensor *from[LOWER_MAX_AXES])
{
	const struct accel_function *function = definition->function;
	const struct function_tensor *tensor;
	int ret = 0;

	for (unsigned int k = 0; !ret && k < value_num_operands(value); k++)
		ret = infer_extents(definition, value_operand(value, k), from);
	if (ret || value->kind != VALUE_LOAD)
		return ret;
	tensor = &function->tensors[function_find(function, value->load.tensor)];
	for (uint32_t k = 0; !ret && k < value->load.num_indices; k++)
		if (expression_is_variable(value->load.indices[k]))
			ret = infer_axis(definition, tensor, k, value->load.indices[k]->name, from);
	if (!ret && value->load.index)
		ret = infer_extents(definition, value->load.index, from);
	return ret;
}

/* Extents of axes, and from these the shape. */
static int find_shape(struct definition_parser *definition)
{
	const struct function_tensor *from[LOWER_MAX_AXES] = { NULL };
	struct function_tensor *result = definition->definition;
	int ret;

	ret = infer_extents(definition, result->parts[0].value, from);
	if (!ret && result->index)
		ret = infer_extents(definition, result->index, from);
	for (uint32_t k = 0; !ret && k < result->num_axes; k++)
		if (result->axes[k].extent < 0)
			ret = accel_error_set(definition->parser.error, -EINVAL,
					      "axis %s: no tensor is indexed by it alone, expected "
					      "its extent, such as %s<8", result->axes[k].name,
					      result->axes[k].name);
	for (uint32_t j = 0; !ret && j < result->rank; j++)
		for (uint32_t k = 0; k < result->num_axes; k++)
			if (names_equal(result->indices[j]->name, result->axes[k].name))
				result->shape[j] = result->axes[k].extent;
	return ret;
}

/* Definitions ------------------------------------------------------------------------------ */

/* The = between both sides: the first that is no part of a comparison. */
static char *find_equals(char *text)
{
	for (char *at = text; *at; at++) {
		if (*at != '=')
			continue;
		if (at[1] == '=')
			at++;
		else if (at == text || !strchr("<>!", at[-1]))
			return at;
	}
	return NULL;
}

/* y[i,j] and what comes before = */
static bool parse_left(struct definition_parser *definition)
{
	struct parser *parser = &definition->parser;
	struct function_tensor *tensor = definition->definition;

	if (!parser_sees_name(parser) || parser->token.length > ACCEL_NAME_MAX) {
		parser_unexpected(parser, "the name of a tensor");
		return false;
	}
	memcpy(tensor->name, parser->token.start, parser->token.length);
	parser_advance(parser);
	if (!parse_axes(definition))
		return false;
	if (parser->token.kind == TOKEN_END)
		return true;
	parser_unexpected(parser, "\"=\"");
	return false;
}

static bool parse_right(struct definition_parser *definition)
{
	struct parser *parser = &definition->parser;
	struct operand operand;

	if (!parse_comparison(definition, &operand))
		return false;
	definition->definition->parts[0].value = operand.value;
	if (parser->token.kind != TOKEN_END)
		parser_unexpected(parser, "an operator or the end");
	else if (!operand.value)
		parser_fail(parser, operand.at, -EINVAL,
			    "a number alone has no type, expected one such as f32(7)");
	return !parser->code;
}

/* Both sides; the text is cut in two for that. */
static int parse_definition(struct definition_parser *definition, struct accel_error *error)
{
	char *equals = find_equals(definition->text);

	if (equals)
		*equals = '\0';
	parser_init(&definition->parser, definition->text, error);
	if (!parse_left(definition))
		return definition->parser.code;
	if (!equals) {
		parser_unexpected(&definition->parser, "\"=\"");
		return definition->parser.code;
	}
	definition->parser.next = equals + 1;
	parser_advance(&definition->parser);
	if (!parse_right(definition))
		return definition->parser.code;
	return find_shape(definition);
}

/* A definition without a loaded index on its left is no push. */
static void settle_kind(struct function_tensor *tensor)
{
	tensor->kind = tensor->index ? FUNCTION_PUSH : FUNCTION_VALUE;
	tensor->leaves_gaps = tensor->index;
	for (uint32_t k = 0; !tensor->index && k < tensor->rank; k++) {
		expression_unref(tensor->indices[k]);
		tensor->indices[k] = NULL;
	}
}

ACCEL_API int accel_function_define(struct accel_function *function, const char *text,
				    struct accel_error *error)
{
	static const int64_t no_extents[LOWER_MAX_AXES];
	struct function_tensor tensor = { .kind = FUNCTION_VALUE };
	struct definition_parser definition = { .function = function, .definition = &tensor };
	int ret;

	definition.text = strdup(text);
	tensor.text = strdup(text);
	ret = definition.text && tensor.text ? 0 :
	      accel_error_set(error, -ENOMEM, "definition: out of memory");
	if (!ret)
		ret = function_set_axes(&tensor, LOWER_MAX_AXES, NULL, no_extents, error);
	tensor.num_axes = 0;
	if (!ret)
		ret = function_set_parts(&tensor, 1, error);
	if (!ret)
		ret = parse_definition(&definition, error);
	free(definition.text);
	if (ret) {
		function_tensor_release(&tensor);
		return ret;
	}
	settle_kind(&tensor);
	return function_define(function, &tensor, error);
}
