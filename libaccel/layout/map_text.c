// SPDX-License-Identifier: MIT
/*
 * Text of maps, in both ways of writing them:
 *
 *	(n, h, w, c) -> (n, c//4, h | w, c%4)
 *	lambda n, h, w, c: [n, c//4, h, te.AXIS_SEPARATOR, w, c%4]
 *
 * and of those with one input by the outputs alone: [i//4, i%4].
 */
#include <errno.h>
#include <string.h>

#include "layout/map.h"

static int column_of(const struct parser *parser)
{
	return parser->token.start - parser->text + 1;
}

/* A name, with a star if there was one before it. */
static bool parse_input_name(struct parser *parser, struct map_input *input, bool has_star)
{
	const struct token token = parser->token;

	if (!parser_sees_name(parser)) {
		parser_unexpected(parser, "the name of an input");
		return false;
	}
	if (token.length + has_star > ACCEL_NAME_MAX) {
		parser_fail(parser, token.start, -EINVAL,
			    "name is %zu characters long, expected %d at most", token.length,
			    ACCEL_NAME_MAX - has_star);
		return false;
	}
	if (has_star)
		input->name[0] = '*';
	memcpy(input->name + has_star, token.start, token.length);
	input->name[has_star + token.length] = '\0';
	parser_advance(parser);
	return true;
}

/* name, name < limit or minimum <= name < limit */
static bool parse_input_range(struct parser *parser, struct map_input *input)
{
	struct accel_expression *first;
	struct token token = parser->token;

	first = parser_operand(parser);
	if (!first)
		return false;
	if (parser_accept(parser, "<=")) {
		input->minimum = first;
		if (!parse_input_name(parser, input, false) || !parser_expect(parser, "<"))
			return false;
		input->limit = parser_operand(parser);
		return input->limit;
	}
	if (!expression_is_variable(first)) {
		parser_fail(parser, token.start, -EINVAL,
			    "expected an input: a name, name < limit or minimum <= name < limit");
		expression_unref(first);
		return false;
	}
	memcpy(input->name, first->name, sizeof(input->name));
	expression_unref(first);
	if (!parser_accept(parser, "<"))
		return true;
	input->limit = parser_operand(parser);
	return input->limit;
}

/* Inputs up to the token end, which is left ahead. */
static void parse_inputs(struct parser *parser, struct map_parts *parts, const char *end,
			 bool has_ranges)
{
	struct map_input *input;
	bool is_good;

	while (!parser->code && !parser_sees(parser, end)) {
		if (parts->num_inputs == ACCEL_MAP_MAX_AXES) {
			parser_fail(parser, parser->token.start, -E2BIG,
				    "more than %d inputs", ACCEL_MAP_MAX_AXES);
			return;
		}
		parts->input_columns[parts->num_inputs] = column_of(parser);
		input = &parts->inputs[parts->num_inputs++];
		if (parser_accept(parser, "*"))
			is_good = parse_input_name(parser, input, true);
		else if (has_ranges)
			is_good = parse_input_range(parser, input);
		else
			is_good = parse_input_name(parser, input, false);
		if (!is_good || !parser_accept(parser, ","))
			return;
	}
}

static bool sees_separator(const struct parser *parser)
{
	return parser_sees(parser, "|") || parser_sees(parser, "te.AXIS_SEPARATOR");
}

static void parse_separator(struct parser *parser, struct map_parts *parts, const char *end)
{
	const char *at = parser->token.start;

	parser_advance(parser);
	parser_accept(parser, ",");
	if (!parts->num_outputs || parts->separators >> (parts->num_outputs - 1) ||
	    parser_sees(parser, end))
		parser_fail(parser, at, -EINVAL, "axis separator without an output on each side");
	else
		parts->separators |= 1u << (parts->num_outputs - 1);
}

static struct accel_expression *parse_output(struct parser *parser)
{
	struct map_input name = { 0 };
	struct accel_expression *output;

	if (!parser_accept(parser, "*"))
		return parser_expression(parser);
	if (!parse_input_name(parser, &name, true) || parser->code)
		return NULL;
	output = expression_variable(name.name, strlen(name.name));
	if (!output)
		parser_fail(parser, parser->token.start, -errno, "out of memory");
	return output;
}

static void parse_outputs(struct parser *parser, struct map_parts *parts, const char *end)
{
	struct accel_expression *output;
	int column;

	while (!parser->code && !parser_sees(parser, end)) {
		if (sees_separator(parser)) {
			parse_separator(parser, parts, end);
			continue;
		}
		column = column_of(parser);
		if (parts->num_outputs == ACCEL_MAP_MAX_AXES) {
			parser_fail(parser, parser->token.start, -E2BIG,
				    "more than %d outputs", ACCEL_MAP_MAX_AXES);
			return;
		}
		output = parse_output(parser);
		if (!output)
			return;
		parts->output_columns[parts->num_outputs] = column;
		parts->outputs[parts->num_outputs++] = output;
		if (!parser_accept(parser, ",") && !sees_separator(parser))
			return;
	}
}

/* A name in the expression that is not this one, or NULL. */
static const char *find_other_name(const struct accel_expression *expression, const char *name)
{
	unsigned int count = expression_num_operands(expression->kind), k;
	const char *other = NULL;

	if (expression_is_variable(expression))
		return strcmp(expression->name, name) ? expression->name : NULL;
	for (k = 0; k < count && !other; k++)
		other = find_other_name(expression->operands[k], name);
	return other;
}

/* The one name that is in the outputs becomes the input: of several, nothing tells the order. */
static void infer_input(struct parser *parser, struct map_parts *parts)
{
	char *name = parts->inputs[0].name;
	const char *other;
	uint32_t k;

	for (k = 0; k < parts->num_outputs; k++) {
		other = find_other_name(parts->outputs[k], name);
		if (!other)
			continue;
		if (parts->num_inputs || find_other_name(parts->outputs[k], other)) {
			parser_fail(parser, parser->text + parts->output_columns[k] - 1, -EINVAL,
				    "outputs of more than one name, expected \"(inputs) -> "
				    "(outputs)\"");
			return;
		}
		parts->input_columns[0] = parts->output_columns[k];
		parts->num_inputs = 1;
		strcpy(name, other);
	}
}

static void parse_map(struct parser *parser, struct map_parts *parts)
{
	bool is_alone = parser_sees(parser, "[");
	const char *close;

	if (parser_accept(parser, "lambda")) {
		parse_inputs(parser, parts, ":", false);
		parser_expect(parser, ":");
	} else if (parser_accept(parser, "(")) {
		parse_inputs(parser, parts, ")", true);
		if (parser_expect(parser, ")"))
			parser_expect(parser, "->");
	} else if (!is_alone) {
		parser_unexpected(parser, "a map: \"(inputs) -> (outputs)\" or "
				  "\"lambda inputs: [outputs]\"");
	}
	if (parser->code)
		return;
	close = parser_sees(parser, "[") ? "]" : ")";
	if (!parser_accept(parser, "[") && !parser_expect(parser, "("))
		return;
	parse_outputs(parser, parts, close);
	if (parser_expect(parser, close) && parser->token.kind != TOKEN_END)
		parser_unexpected(parser, "the end");
	if (is_alone && !parser->code)
		infer_input(parser, parts);
}

int accel_map_parse(const char *text, struct accel_map **map, struct accel_error *error)
{
	struct map_parts parts = { 0 };
	struct parser parser;

	*map = NULL;
	parser_init(&parser, text, error);
	parse_map(&parser, &parts);
	if (parser.code) {
		map_parts_release(&parts);
		return parser.code;
	}
	return map_assemble(&parts, map, error);
}

static void print_input(struct printer *printer, const struct map_input *input)
{
	if (input->minimum) {
		printer_add_expression(printer, input->minimum);
		printer_add_string(printer, " <= ");
	}
	printer_add_string(printer, input->name);
	if (input->limit) {
		printer_add_string(printer, " < ");
		printer_add_expression(printer, input->limit);
	}
}

int accel_map_print(const struct accel_map *map, char *text, size_t size)
{
	struct printer printer;
	uint32_t k;

	printer_init(&printer, text, size);
	printer_add_string(&printer, "(");
	for (k = 0; k < map->num_inputs; k++) {
		print_input(&printer, &map->inputs[k]);
		if (k + 1 < map->num_inputs)
			printer_add_string(&printer, ", ");
	}
	printer_add_string(&printer, ") -> (");
	for (k = 0; k < map->num_outputs; k++) {
		printer_add_expression(&printer, map->outputs[k]);
		if (map->separators & 1u << k)
			printer_add_string(&printer, " | ");
		else if (k + 1 < map->num_outputs)
			printer_add_string(&printer, ", ");
	}
	printer_add_string(&printer, ")");
	return printer_finish(&printer);
}
