// SPDX-License-Identifier: MIT
/*
 * Definitions as text, for those who read a plan: in the words of accel_function_define(), and
 * where it has none, as an instruction does not saturate, in words like them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "layout/expression.h"
#include "lower/function.h"
#include "lower/number.h"

/* How tightly a text binds. */
enum binding {
	BINDING_COMPARISON,
	BINDING_SUM,
	BINDING_PRODUCT,
	BINDING_UNARY,
	BINDING_CALL,
};

struct spelling {
	const char *text;
	enum binding binding;
};

static const struct spelling spellings[] = {
	[ACCEL_OP_ADD] = { " + ", BINDING_SUM },
	[ACCEL_OP_SUB] = { " - ", BINDING_SUM },
	[ACCEL_OP_MUL] = { " * ", BINDING_PRODUCT },
	[ACCEL_OP_NEG] = { "-", BINDING_UNARY },
	[ACCEL_OP_FMA] = { "fma", BINDING_CALL },
	[ACCEL_OP_MIN] = { "min", BINDING_CALL },
	[ACCEL_OP_MAX] = { "max", BINDING_CALL },
	[ACCEL_OP_ABS] = { "abs", BINDING_CALL },
	[ACCEL_OP_SELECT] = { "select", BINDING_CALL },
	[ACCEL_OP_COMPARE] = { NULL, BINDING_COMPARISON },
	[ACCEL_OP_CAST] = { NULL, BINDING_CALL },
};

static const char *const predicates[] = {
	[ACCEL_PREDICATE_EQ] = " == ", [ACCEL_PREDICATE_NE] = " != ",
	[ACCEL_PREDICATE_LT] = " < ",  [ACCEL_PREDICATE_LE] = " <= ",
	[ACCEL_PREDICATE_GT] = " > ",  [ACCEL_PREDICATE_GE] = " >= ",
};

static void print_value(struct printer *printer, const struct accel_function *function,
			const struct accel_value *value, enum binding around);

static void print_bits(struct printer *printer, enum accel_dtype dtype, const uint64_t bits[2])
{
	char text[48];

	number_print(dtype, bits, text, sizeof(text));
	printer_add_string(printer, text);
}

static bool is_name_character(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z');
}

/* The index, with the loaded one where VALUE_INDEX, a name of one character, stands for it. */
static void print_index(struct printer *printer, const struct accel_function *function,
			const struct accel_expression *index, const struct accel_value *loaded)
{
	char text[160];

	accel_expression_print(index, text, sizeof(text));
	for (const char *at = text; *at; at++) {
		bool is_inside = is_name_character(at[1]) ||
				 (at > text && is_name_character(at[-1]));

		if (loaded && *at == VALUE_INDEX[0] && !is_inside)
			print_value(printer, function, loaded, BINDING_COMPARISON);
		else
			printer_add(printer, "%c", *at);
	}
}

static void print_load(struct printer *printer, const struct accel_function *function,
		       const struct value_load *load)
{
	enum accel_dtype dtype = function->tensors[function_find(function, load->tensor)].dtype;

	if (load->condition) {
		printer_add_string(printer, "select(");
		printer_add_expression(printer, load->condition);
		printer_add_string(printer, ", ");
	}
	printer_add(printer, "%s[", load->tensor);
	for (uint32_t k = 0; k < load->num_indices; k++) {
		printer_add_string(printer, k ? ", " : "");
		print_index(printer, function, load->indices[k], load->index);
	}
	printer_add_string(printer, "]");
	if (load->condition) {
		printer_add_string(printer, ", ");
		print_bits(printer, dtype, load->padding);
		printer_add_string(printer, ")");
	}
}

static void print_call(struct printer *printer, const struct accel_function *function,
		       const struct accel_value *value)
{
	uint8_t flags = value->operate.flags;

	if (value->operate.opcode == ACCEL_OP_CAST) {
		printer_add(printer, "%s%s%s(", accel_dtype_name(value->dtype),
			    flags & ACCEL_INSTRUCTION_TRUNCATE ? "_truncate" : "",
			    dtype_is_integer(value->dtype) &&
			    !(flags & ACCEL_INSTRUCTION_SATURATE) ? "_wrap" : "");
	} else {
		printer_add(printer, "%s(", spellings[value->operate.opcode].text);
	}
	for (unsigned int k = 0; k < value_num_operands(value); k++) {
		printer_add_string(printer, k ? ", " : "");
		print_value(printer, function, value_operand(value, k), BINDING_COMPARISON);
	}
	printer_add_string(printer, ")");
}

static void print_operate(struct printer *printer, const struct accel_function *function,
			  const struct accel_value *value, enum binding around)
{
	const struct spelling *spelling = &spellings[value->operate.opcode];
	bool saturates = value->operate.flags & ACCEL_INSTRUCTION_SATURATE &&
			 value->operate.opcode != ACCEL_OP_CAST;
	bool is_open = saturates || spelling->binding < around;

	if (is_open)
		printer_add_string(printer, saturates ? "saturate(" : "(");
	if (spelling->binding == BINDING_CALL) {
		print_call(printer, function, value);
	} else if (spelling->binding == BINDING_UNARY) {
		printer_add_string(printer, spelling->text);
		print_value(printer, function, value_operand(value, 0), BINDING_CALL);
	} else {
		print_value(printer, function, value_operand(value, 0), spelling->binding);
		printer_add_string(printer, spelling->text ?: predicates[value->operate.predicate]);
		print_value(printer, function, value_operand(value, 1), spelling->binding + 1);
	}
	if (is_open)
		printer_add_string(printer, ")");
}

static void print_value(struct printer *printer, const struct accel_function *function,
			const struct accel_value *value, enum binding around)
{
	switch (value->kind) {
	case VALUE_LOAD:
		print_load(printer, function, &value->load);
		break;
	case VALUE_CONSTANT:
		print_bits(printer, value->dtype, value->bits);
		break;
	case VALUE_CHOOSE:
		printer_add_string(printer, "select(");
		printer_add_expression(printer, value->choose.condition);
		for (unsigned int k = 0; k < 2; k++) {
			printer_add_string(printer, ", ");
			print_value(printer, function, value_operand(value, k), BINDING_COMPARISON);
		}
		printer_add_string(printer, ")");
		break;
	case VALUE_OPERATE:
		print_operate(printer, function, value, around);
	}
}

static void print_definition(struct printer *printer, const struct accel_function *function,
			     const struct function_tensor *definition)
{
	printer_add(printer, "%s[", definition->name);
	for (uint32_t k = 0; k < definition->num_axes; k++)
		printer_add(printer, "%s%s", k ? ", " : "", definition->axes[k].name);
	printer_add_string(printer, "] = ");
	if (definition->parts[0].value->kind == VALUE_CONSTANT)
		printer_add(printer, "%s(", accel_dtype_name(definition->dtype));
	print_value(printer, function, definition->parts[0].value, BINDING_COMPARISON);
	if (definition->parts[0].value->kind == VALUE_CONSTANT)
		printer_add_string(printer, ")");
}

char *function_print(const struct accel_function *function,
		     const struct function_tensor *definition)
{
	struct printer printer;
	char few[256], *text;

	printer_init(&printer, few, sizeof(few));
	print_definition(&printer, function, definition);
	text = malloc(printer.length + 1);
	if (!text)
		return NULL;
	printer_init(&printer, text, printer.length + 1);
	print_definition(&printer, function, definition);
	return text;
}
