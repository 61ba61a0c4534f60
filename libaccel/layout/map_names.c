// SPDX-License-Identifier: MIT
/*
 * Names for the outputs of a map, from what they are: c_outer, c_inner, jk_merged.
 */
#include <stdio.h>
#include <string.h>

#include "layout/map.h"

/* Inputs that occur in an expression, each once, in the order in which they are met. */
struct mentioned {
	uint32_t count;
	uint32_t inputs[ACCEL_MAP_MAX_AXES];
};

static void collect_inputs(const struct accel_map *map, const struct accel_expression *expression,
			   struct mentioned *mentioned)
{
	unsigned int count = expression_num_operands(expression->kind), k;
	int input;

	for (k = 0; k < count; k++)
		collect_inputs(map, expression->operands[k], mentioned);
	if (!expression_is_variable(expression))
		return;
	input = map_find_input(map, expression->name);
	if (input < 0)
		return;
	for (k = 0; k < mentioned->count; k++)
		if (mentioned->inputs[k] == (uint32_t)input)
			return;
	mentioned->inputs[mentioned->count++] = input;
}

/* Which part of its inputs an expression is: the last operation tells. */
static const char *suffix_of(const struct accel_expression *expression)
{
	const struct accel_expression *first;

	if (expression->kind != ACCEL_EXPRESSION_FLOOR_DIVIDE &&
	    expression->kind != ACCEL_EXPRESSION_FLOOR_MODULO)
		return "_merged";
	first = expression->operands[0];
	if (first->kind != expression->kind && (first->kind == ACCEL_EXPRESSION_FLOOR_DIVIDE ||
						first->kind == ACCEL_EXPRESSION_FLOOR_MODULO))
		return "_middle";
	return expression->kind == ACCEL_EXPRESSION_FLOOR_DIVIDE ? "_outer" : "_inner";
}

static void hint_name(const struct accel_map *map, uint32_t output, char name[ACCEL_NAME_MAX + 1])
{
	const struct accel_expression *expression = map->outputs[output];
	struct mentioned mentioned = { 0 };
	size_t length = 0;
	uint32_t k;

	collect_inputs(map, expression, &mentioned);
	if (!mentioned.count) {
		snprintf(name, ACCEL_NAME_MAX + 1, "axis%u", output);
		return;
	}
	for (k = 0; k < mentioned.count && length < 12; k++)
		length += snprintf(name + length, ACCEL_NAME_MAX + 1 - length, "%.10s",
				   map->inputs[mentioned.inputs[k]].name);
	if (mentioned.count == 1 && expression->kind < ACCEL_EXPRESSION_FLOOR_DIVIDE)
		snprintf(name + length, ACCEL_NAME_MAX + 1 - length, "_moved");
	else
		snprintf(name + length, ACCEL_NAME_MAX + 1 - length, "%s",
			 suffix_of(expression));
}

static bool is_taken(char names[ACCEL_MAP_MAX_AXES][ACCEL_NAME_MAX + 1], uint32_t count,
		     const char *name)
{
	uint32_t k;

	for (k = 0; k < count; k++)
		if (!strcmp(names[k], name))
			return true;
	return false;
}

void map_output_names(const struct accel_map *map,
		      char names[ACCEL_MAP_MAX_AXES][ACCEL_NAME_MAX + 1])
{
	char hint[ACCEL_NAME_MAX + 1];
	unsigned int number;
	uint32_t k;

	for (k = 0; k < map->num_outputs; k++) {
		if (expression_is_variable(map->outputs[k]) &&
		    map_find_input(map, map->outputs[k]->name) >= 0 &&
		    !is_taken(names, k, map->outputs[k]->name)) {
			memcpy(names[k], map->outputs[k]->name, sizeof(names[k]));
			continue;
		}
		hint_name(map, k, hint);
		map_fresh_name(map, NULL, hint, names[k]);
		for (number = 0; is_taken(names, k, names[k]); number++) {
			snprintf(hint, sizeof(hint), "%.20s%u", names[k], number);
			map_fresh_name(map, NULL, hint, names[k]);
		}
	}
}
