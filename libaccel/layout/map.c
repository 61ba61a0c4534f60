// SPDX-License-Identifier: MIT
/*
 * The map object: putting one together from checked parts, expanding *b, renaming, binding
 * symbols. Text is in map_text.c, use in map_apply.c and map_compose.c, analysis in
 * map_analysis.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/map.h"

void map_parts_release(struct map_parts *parts)
{
	uint32_t k;

	for (k = 0; k < parts->num_inputs; k++) {
		expression_unref(parts->inputs[k].minimum);
		expression_unref(parts->inputs[k].limit);
	}
	for (k = 0; k < parts->num_outputs; k++)
		expression_unref(parts->outputs[k]);
	parts->num_inputs = 0;
	parts->num_outputs = 0;
}

static bool is_variadic_name(const char *name)
{
	return name[0] == '*';
}

/* The name without the star. */
static const char *bare_name(const char *name)
{
	return name + is_variadic_name(name);
}

static int check_range(const struct map_parts *parts, uint32_t axis, struct accel_error *error)
{
	const struct map_input *input = &parts->inputs[axis];
	struct accel_expression *const ends[] = { input->minimum, input->limit };
	int column = parts->input_columns[axis];
	int64_t minimum = 0;
	uint32_t end, k;

	for (end = 0; end < 2; end++)
		for (k = 0; k < parts->num_inputs && ends[end]; k++)
			if (expression_mentions(ends[end], bare_name(parts->inputs[k].name)))
				return accel_error_set_at(
					error, -EINVAL, column,
					"range of %s depends on the input %s, expected "
					"constants and symbols",
					input->name, parts->inputs[k].name);
	if (input->minimum && expression_is_constant(input->minimum))
		minimum = input->minimum->constant;
	else if (input->minimum)
		return 0;
	if (input->limit && expression_is_constant(input->limit) &&
	    input->limit->constant < minimum)
		return accel_error_set_at(error, -EINVAL, column,
					  "range of %s ends at %lld, before it begins at %lld",
					  input->name, (long long)input->limit->constant,
					  (long long)minimum);
	return 0;
}

static int check_inputs(const struct map_parts *parts, struct accel_error *error)
{
	uint32_t num_variadic = 0, j, k;
	const char *name;
	int code;

	for (k = 0; k < parts->num_inputs; k++) {
		name = parts->inputs[k].name;
		num_variadic += is_variadic_name(name);
		if (num_variadic > 1)
			return accel_error_set_at(
				error, -EINVAL, parts->input_columns[k],
				"%s is the second input with a star, expected one", name);
		for (j = 0; j < k; j++)
			if (names_equal(bare_name(name), bare_name(parts->inputs[j].name)))
				return accel_error_set_at(error, -EINVAL, parts->input_columns[k],
							  "there are two inputs with the name %s",
							  bare_name(name));
		code = check_range(parts, k, error);
		if (code)
			return code;
	}
	return 0;
}

/* The first variable with a star that is not all of an output. */
static const char *find_inner_star(const struct accel_expression *expression, bool is_inner)
{
	unsigned int count = expression_num_operands(expression->kind), k;
	const char *name = NULL;

	if (expression_is_variable(expression))
		return is_inner && is_variadic_name(expression->name) ? expression->name : NULL;
	for (k = 0; k < count && !name; k++)
		name = find_inner_star(expression->operands[k], true);
	return name;
}

static int check_output(const struct map_parts *parts, uint32_t output, const char *variadic,
			struct accel_error *error)
{
	const struct accel_expression *expression = parts->outputs[output];
	int column = parts->output_columns[output];
	const char *star = find_inner_star(expression, false);
	uint32_t k;

	if (expression_is_variable(expression) && is_variadic_name(expression->name)) {
		if (!variadic || strcmp(variadic, expression->name))
			return accel_error_set_at(error, -EINVAL, column, "%s is no input",
						  expression->name);
		for (k = 0; k < output; k++)
			if (!expression_compare(parts->outputs[k], expression))
				return accel_error_set_at(error, -EINVAL, column,
							  "%s is an output twice, expected once",
							  expression->name);
		return 0;
	}
	if (star)
		return accel_error_set_at(
			error, -EINVAL, column,
			"%s is several axes, which can only be an output of its own", star);
	if (variadic && expression_mentions(expression, bare_name(variadic)))
		return accel_error_set_at(
			error, -EINVAL, column,
			"%s is the input %s, which can only be an output of its own",
			bare_name(variadic), variadic);
	return 0;
}

static const char *find_variadic(const struct map_parts *parts)
{
	uint32_t k;

	for (k = 0; k < parts->num_inputs; k++)
		if (is_variadic_name(parts->inputs[k].name))
			return parts->inputs[k].name;
	return NULL;
}

static int check_parts(const struct map_parts *parts, struct accel_error *error)
{
	const char *variadic = find_variadic(parts);
	uint32_t k;
	int code;

	code = check_inputs(parts, error);
	for (k = 0; k < parts->num_outputs && !code; k++)
		code = check_output(parts, k, variadic, error);
	if (!code && parts->separators &&
	    (!parts->num_outputs || parts->separators >> (parts->num_outputs - 1)))
		return accel_error_set(error, -EINVAL,
				       "axis separator behind the last of %u outputs, expected an "
				       "output on each side", parts->num_outputs);
	return code;
}

int map_assemble(struct map_parts *parts, struct accel_map **map, struct accel_error *error)
{
	struct accel_map *made = NULL;
	int code;

	*map = NULL;
	code = check_parts(parts, error);
	if (code)
		goto out;
	made = malloc(sizeof(*made) + parts->num_inputs * sizeof(*made->inputs) +
		      parts->num_outputs * sizeof(*made->outputs));
	if (!made) {
		code = accel_error_set(error, -ENOMEM, "map: out of memory");
		goto out;
	}
	atomic_init(&made->references, 1);
	made->num_inputs = parts->num_inputs;
	made->num_outputs = parts->num_outputs;
	made->separators = parts->separators;
	made->is_variadic = find_variadic(parts);
	made->inputs = (struct map_input *)(made + 1);
	made->outputs = (struct accel_expression **)(made->inputs + parts->num_inputs);
	memcpy(made->inputs, parts->inputs, parts->num_inputs * sizeof(*made->inputs));
	memcpy(made->outputs, parts->outputs, parts->num_outputs * sizeof(*made->outputs));
	parts->num_inputs = 0;
	parts->num_outputs = 0;
	*map = made;
out:
	map_parts_release(parts);
	return code;
}

int map_create(uint32_t rank, const char *const *names, uint32_t num_outputs,
	       struct accel_expression **outputs, uint32_t separators, struct accel_map **map,
	       struct accel_error *error)
{
	struct map_parts parts = { .num_outputs = num_outputs, .separators = separators };
	int code = 0, reason = errno;
	uint32_t k;

	*map = NULL;
	memcpy(parts.outputs, outputs, num_outputs * sizeof(*outputs));
	for (k = 0; k < num_outputs; k++)
		if (!outputs[k])
			code = -reason;
	if (code) {
		map_parts_release(&parts);
		return expression_error(error, code, "map");
	}
	parts.num_inputs = rank;
	for (k = 0; k < rank; k++) {
		if (names)
			snprintf(parts.inputs[k].name, sizeof(parts.inputs[k].name), "%s",
				 names[k]);
		else
			snprintf(parts.inputs[k].name, sizeof(parts.inputs[k].name), "i%u", k);
	}
	return map_assemble(&parts, map, error);
}

struct accel_map *accel_map_ref(struct accel_map *map)
{
	atomic_fetch_add_explicit(&map->references, 1, memory_order_relaxed);
	return map;
}

void accel_map_unref(struct accel_map *map)
{
	uint32_t k;

	/* Pairs with itself: who frees the map sees what the others did before they let go. */
	if (!map ||
	    atomic_fetch_sub_explicit(&map->references, 1, memory_order_acq_rel) != 1)
		return;
	for (k = 0; k < map->num_inputs; k++) {
		expression_unref(map->inputs[k].minimum);
		expression_unref(map->inputs[k].limit);
	}
	for (k = 0; k < map->num_outputs; k++)
		expression_unref(map->outputs[k]);
	free(map);
}

static const char *find_symbol_in(const struct accel_map *map,
				  const struct accel_expression *expression)
{
	unsigned int count = expression_num_operands(expression->kind), k;
	const char *name = NULL;

	if (expression_is_variable(expression))
		return map_find_input(map, expression->name) < 0 ? expression->name : NULL;
	for (k = 0; k < count && !name; k++)
		name = find_symbol_in(map, expression->operands[k]);
	return name;
}

const char *map_find_symbol(const struct accel_map *map)
{
	const char *name = NULL;
	uint32_t k;

	for (k = 0; k < map->num_outputs && !name; k++)
		name = find_symbol_in(map, map->outputs[k]);
	return name;
}

int map_find_input(const struct accel_map *map, const char *name)
{
	uint32_t k;

	for (k = 0; k < map->num_inputs; k++)
		if (names_equal(map->inputs[k].name, name))
			return k;
	return -1;
}

static bool map_mentions(const struct accel_map *map, const char *name)
{
	uint32_t k;

	for (k = 0; k < map->num_inputs; k++) {
		if (names_equal(bare_name(map->inputs[k].name), name))
			return true;
		if (map->inputs[k].minimum && expression_mentions(map->inputs[k].minimum, name))
			return true;
		if (map->inputs[k].limit && expression_mentions(map->inputs[k].limit, name))
			return true;
	}
	for (k = 0; k < map->num_outputs; k++)
		if (expression_mentions(map->outputs[k], name))
			return true;
	return false;
}

void map_fresh_name(const struct accel_map *map, const struct accel_map *also, const char *hint,
		    char name[ACCEL_NAME_MAX + 1])
{
	unsigned int number;

	snprintf(name, ACCEL_NAME_MAX + 1, "%s", hint);
	for (number = 0; map_mentions(map, name) || (also && map_mentions(also, name)); number++)
		snprintf(name, ACCEL_NAME_MAX + 1, "%.20s_%u", hint, number);
}

void map_names(const struct accel_map *map, const char *names[ACCEL_MAP_MAX_AXES])
{
	uint32_t k;

	for (k = 0; k < map->num_inputs; k++)
		names[k] = map->inputs[k].name;
}

static int check_axes(uint32_t count, const char *what, struct accel_error *error)
{
	if (count <= ACCEL_MAP_MAX_AXES)
		return 0;
	return accel_error_set(error, -E2BIG, "map with %u %s, expected %d at most", count, what,
			       ACCEL_MAP_MAX_AXES);
}

static int part_input(struct map_input *input, const struct accel_axis *axis,
		      struct accel_error *error)
{
	struct accel_expression *name;

	if (is_variadic_name(axis->name) && (axis->minimum || axis->limit))
		return accel_error_set(error, -EINVAL, "%.40s has a range, expected none",
				       axis->name);
	name = expression_variable(axis->name, strlen(axis->name));
	if (!name && errno == EINVAL)
		return accel_error_set(error, -EINVAL, "\"%.40s\" is no name", axis->name);
	if (!name)
		return expression_error(error, -errno, "map");
	memcpy(input->name, name->name, sizeof(input->name));
	expression_unref(name);
	input->minimum = expression_ref(axis->minimum);
	input->limit = expression_ref(axis->limit);
	return 0;
}

int accel_map_create(uint32_t num_inputs, const struct accel_axis *inputs, uint32_t num_outputs,
		     struct accel_expression *const *outputs, uint32_t num_separators,
		     const uint32_t *separators, struct accel_map **map, struct accel_error *error)
{
	struct map_parts parts = { 0 };
	uint32_t k;
	int code;

	*map = NULL;
	code = check_axes(num_inputs, "inputs", error);
	if (!code)
		code = check_axes(num_outputs, "outputs", error);
	for (k = 0; k < num_inputs && !code; k++) {
		code = part_input(&parts.inputs[k], &inputs[k], error);
		parts.num_inputs += !code;
	}
	for (k = 0; k < num_separators && !code; k++) {
		if (separators[k] + 1 >= num_outputs || (k && separators[k] <= separators[k - 1]))
			code = accel_error_set(error, -EINVAL,
					       "axis separator %u after output %u of %u, expected "
					       "them ascending and an output on each side", k,
					       separators[k], num_outputs);
		else
			parts.separators |= 1u << separators[k];
	}
	if (code) {
		map_parts_release(&parts);
		return code;
	}
	for (k = 0; k < num_outputs; k++)
		parts.outputs[parts.num_outputs++] = expression_ref(outputs[k]);
	return map_assemble(&parts, map, error);
}

int accel_map_create_permutation(uint32_t rank, const uint32_t *axes, struct accel_map **map,
				 struct accel_error *error)
{
	struct accel_expression *outputs[ACCEL_MAP_MAX_AXES];
	char name[ACCEL_NAME_MAX + 1];
	uint32_t seen = 0, k;
	int code;

	*map = NULL;
	code = check_axes(rank, "inputs", error);
	if (code)
		return code;
	for (k = 0; k < rank; k++) {
		if (axes[k] >= rank || seen & 1u << axes[k])
			return accel_error_set(error, -EINVAL,
					       "axis %u at place %u, expected a permutation of %u",
					       axes[k], k, rank);
		seen |= 1u << axes[k];
	}
	for (k = 0; k < rank; k++) {
		snprintf(name, sizeof(name), "i%u", axes[k]);
		outputs[k] = expression_variable(name, strlen(name));
	}
	return map_create(rank, NULL, rank, outputs, 0, map, error);
}

int accel_map_create_identity(uint32_t rank, struct accel_map **map, struct accel_error *error)
{
	uint32_t axes[ACCEL_MAP_MAX_AXES], k;

	for (k = 0; k < ACCEL_MAP_MAX_AXES; k++)
		axes[k] = k;
	return accel_map_create_permutation(rank, axes, map, error);
}

uint32_t accel_map_num_inputs(const struct accel_map *map)
{
	return map->num_inputs;
}

uint32_t accel_map_num_outputs(const struct accel_map *map)
{
	return map->num_outputs;
}

bool accel_map_is_variadic(const struct accel_map *map)
{
	return map->is_variadic;
}

const char *accel_map_input_name(const struct accel_map *map, uint32_t k)
{
	return map->inputs[k].name;
}

struct accel_expression *accel_map_output(const struct accel_map *map, uint32_t k)
{
	return map->outputs[k];
}

uint32_t accel_map_separators(const struct accel_map *map,
			      uint32_t separators[ACCEL_MAP_MAX_AXES])
{
	uint32_t count = 0, k;

	for (k = 0; k < map->num_outputs; k++) {
		if (!(map->separators & 1u << k))
			continue;
		if (separators)
			separators[count] = k;
		count++;
	}
	return count;
}

/* Expansion -------------------------------------------------------------------------------- */

static void copy_input(struct map_input *to, const struct map_input *from)
{
	memcpy(to->name, from->name, sizeof(to->name));
	to->minimum = expression_ref(from->minimum);
	to->limit = expression_ref(from->limit);
}

/* Names of the axes in place of *b go to parts, which has the inputs before and after it. */
static void expand_inputs(const struct accel_map *map, uint32_t num_axes, struct map_parts *parts)
{
	char hint[ACCEL_NAME_MAX + 1];
	uint32_t axis, k;

	for (k = 0; k < map->num_inputs; k++) {
		if (!is_variadic_name(map->inputs[k].name)) {
			copy_input(&parts->inputs[parts->num_inputs++], &map->inputs[k]);
			continue;
		}
		for (axis = 0; axis < num_axes; axis++) {
			snprintf(hint, sizeof(hint), "%.20s%u", map->inputs[k].name + 1, axis);
			map_fresh_name(map, NULL, hint, parts->inputs[parts->num_inputs++].name);
		}
	}
}

static int expand_output(const struct map_parts *parts, uint32_t first, uint32_t num_axes,
			 struct map_parts *result, struct accel_error *error)
{
	const char *name;
	uint32_t axis;

	for (axis = 0; axis < num_axes; axis++) {
		name = parts->inputs[first + axis].name;
		result->outputs[result->num_outputs] = expression_variable(name, strlen(name));
		if (!result->outputs[result->num_outputs])
			return expression_error(error, -errno, "map");
		result->num_outputs++;
	}
	return 0;
}

static int expand_outputs(const struct accel_map *map, uint32_t num_axes, struct map_parts *parts,
			  struct accel_error *error)
{
	uint32_t first = 0, k;
	int code = 0;

	while (!is_variadic_name(map->inputs[first].name))
		first++;
	for (k = 0; k < map->num_outputs && !code; k++) {
		if (expression_is_variable(map->outputs[k]) &&
		    is_variadic_name(map->outputs[k]->name))
			code = expand_output(parts, first, num_axes, parts, error);
		else
			parts->outputs[parts->num_outputs++] = expression_ref(map->outputs[k]);
		if (code || !(map->separators & 1u << k))
			continue;
		if (!parts->num_outputs || parts->separators >> (parts->num_outputs - 1))
			return accel_error_set(error, -EINVAL,
					       "no axis is left before an axis separator when %s "
					       "is empty", map->inputs[first].name);
		parts->separators |= 1u << (parts->num_outputs - 1);
	}
	return code;
}

int map_expand(const struct accel_map *map, uint32_t rank, struct accel_map **result,
	       struct accel_error *error)
{
	struct map_parts parts = { 0 };
	uint32_t num_axes, num_outputs = map->num_outputs, k;
	int code;

	*result = NULL;
	if (!map->is_variadic) {
		if (rank != map->num_inputs)
			return accel_error_set(error, -EINVAL,
					       "map takes %u axes, but there are %u",
					       map->num_inputs, rank);
		*result = accel_map_ref((struct accel_map *)map);
		return 0;
	}
	if (rank + 1 < map->num_inputs)
		return accel_error_set(error, -EINVAL,
				       "map takes %u axes or more, but there are %u",
				       map->num_inputs - 1, rank);
	num_axes = rank + 1 - map->num_inputs;
	for (k = 0; k < map->num_outputs; k++)
		if (expression_is_variable(map->outputs[k]) &&
		    is_variadic_name(map->outputs[k]->name))
			num_outputs += num_axes - 1;
	code = check_axes(rank, "inputs", error);
	if (!code)
		code = check_axes(num_outputs, "outputs", error);
	if (code)
		return code;
	expand_inputs(map, num_axes, &parts);
	code = expand_outputs(map, num_axes, &parts, error);
	if (code) {
		map_parts_release(&parts);
		return code;
	}
	return map_assemble(&parts, result, error);
}

int accel_map_expand(struct accel_map *map, uint32_t rank, struct accel_map **result,
		     struct accel_error *error)
{
	return map_expand(map, rank, result, error);
}

/* Variants --------------------------------------------------------------------------------- */

/* The parts of a copy of the map in which names[k] is replaced, everywhere, by replacements[k]. */
static int substitute_parts(const struct accel_map *map, size_t count, const char *const *names,
			    struct accel_expression *const *replacements, struct map_parts *parts,
			    struct accel_error *error)
{
	const struct map_input *from;
	struct map_input *to;
	uint32_t k;

	*parts = (struct map_parts){ .separators = map->separators };
	for (k = 0; k < map->num_inputs; k++) {
		from = &map->inputs[k];
		to = &parts->inputs[parts->num_inputs++];
		memcpy(to->name, from->name, sizeof(to->name));
		if (from->minimum)
			to->minimum = expression_substitute(from->minimum, count, names,
							    replacements);
		if (from->limit)
			to->limit = expression_substitute(from->limit, count, names, replacements);
		if ((from->minimum && !to->minimum) || (from->limit && !to->limit))
			goto fail;
	}
	for (k = 0; k < map->num_outputs; k++) {
		parts->outputs[k] = expression_substitute(map->outputs[k], count, names,
							  replacements);
		if (!parts->outputs[k])
			goto fail;
		parts->num_outputs++;
	}
	return 0;
fail:
	k = errno;
	map_parts_release(parts);
	return expression_error(error, -(int)k, "map");
}

static void unref_all(struct accel_expression **expressions, size_t count)
{
	while (count--)
		expression_unref(expressions[count]);
}

static int check_new_name(const struct accel_map *map, const char *old_name, const char *name,
			  struct accel_error *error)
{
	if (is_variadic_name(name) != is_variadic_name(old_name))
		return accel_error_set(error, -EINVAL,
				       "%.40s as a name for %s: expected a star in both or in none",
				       name, old_name);
	if (map_find_input(map, name) < 0 && strcmp(bare_name(name), bare_name(old_name)) &&
	    map_mentions(map, bare_name(name)))
		return accel_error_set(error, -EINVAL, "%.40s is the name of a symbol", name);
	return 0;
}

int accel_map_rename(struct accel_map *map, uint32_t num_names, const char *const *names,
		     struct accel_map **result, struct accel_error *error)
{
	struct accel_expression *variables[ACCEL_MAP_MAX_AXES] = { NULL };
	const char *old_names[ACCEL_MAP_MAX_AXES] = { NULL };
	struct map_parts parts;
	uint32_t k;
	int code = 0;

	*result = NULL;
	if (num_names != map->num_inputs)
		return accel_error_set(error, -EINVAL, "%u names for %u inputs", num_names,
				       map->num_inputs);
	map_names(map, old_names);
	for (k = 0; k < num_names && !code; k++) {
		code = check_new_name(map, old_names[k], names[k], error);
		if (code)
			break;
		variables[k] = expression_variable(names[k], strlen(names[k]));
		if (!variables[k])
			code = accel_error_set(error, -errno, errno == ENOMEM ?
					       "%.40s: out of memory" : "\"%.40s\" is no name",
					       names[k]);
	}
	if (!code)
		code = substitute_parts(map, num_names, old_names, variables, &parts, error);
	for (k = 0; k < num_names && !code; k++)
		memcpy(parts.inputs[k].name, variables[k]->name, sizeof(parts.inputs[k].name));
	unref_all(variables, num_names);
	return code ? code : map_assemble(&parts, result, error);
}

static int bind_symbols(struct accel_map *map, size_t count, const char **names,
			struct accel_expression **values, const struct accel_binding *bindings,
			struct accel_map **result, struct accel_error *error)
{
	struct map_parts parts;
	size_t k;
	int code;

	for (k = 0; k < count; k++) {
		names[k] = bindings[k].name;
		if (map_find_input(map, names[k]) >= 0 || !map_mentions(map, names[k]))
			return accel_error_set(error, -ENOENT, "map has no symbol %.40s", names[k]);
		if (bindings[k].value < 1)
			return accel_error_set(error, -EINVAL,
					       "symbol %.40s is given the value %lld, expected at "
					       "least 1", names[k], (long long)bindings[k].value);
		values[k] = expression_constant(bindings[k].value);
		if (!values[k])
			return expression_error(error, -errno, "map");
	}
	code = substitute_parts(map, count, names, values, &parts, error);
	return code ? code : map_assemble(&parts, result, error);
}

int accel_map_bind(struct accel_map *map, size_t num_bindings,
		   const struct accel_binding *bindings, struct accel_map **result,
		   struct accel_error *error)
{
	struct accel_expression **values = calloc(num_bindings + 1, sizeof(*values));
	const char **names = calloc(num_bindings + 1, sizeof(*names));
	int code;

	*result = NULL;
	if (!values || !names)
		code = accel_error_set(error, -ENOMEM, "map: out of memory");
	else
		code = bind_symbols(map, num_bindings, names, values, bindings, result, error);
	if (values)
		unref_all(values, num_bindings);
	free(values);
	free(names);
	return code;
}

int accel_map_with_extents(struct accel_map *map, uint32_t rank,
			   struct accel_expression *const *extents, struct accel_map **result,
			   struct accel_error *error)
{
	struct accel_map *expanded;
	struct map_parts parts;
	uint32_t k;
	int code;

	*result = NULL;
	code = map_expand(map, rank, &expanded, error);
	if (code)
		return code;
	code = substitute_parts(expanded, 0, NULL, NULL, &parts, error);
	accel_map_unref(expanded);
	if (code)
		return code;
	for (k = 0; k < rank; k++) {
		expression_unref(parts.inputs[k].minimum);
		expression_unref(parts.inputs[k].limit);
		parts.inputs[k].minimum = NULL;
		parts.inputs[k].limit = expression_ref(extents[k]);
	}
	return map_assemble(&parts, result, error);
}
