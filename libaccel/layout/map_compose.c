// SPDX-License-Identifier: MIT
/*
 * Maps made from maps, and maps compared: composition, simplification, equality.
 */
#include <errno.h>
#include <string.h>

#include "layout/map.h"
#include "layout/points.h"

/* Points that are compared where there are too many to look at all. */
#define NUM_SAMPLES	4096

static bool is_star(const struct accel_expression *expression)
{
	return expression_is_variable(expression) && expression->name[0] == '*';
}

/* Composition ------------------------------------------------------------------------------ */

/* first with its inputs renamed where second has a symbol of that name. */
static int avoid_capture(struct accel_map *first, const struct accel_map *second,
			 struct accel_map **result, struct accel_error *error)
{
	char fresh[ACCEL_MAP_MAX_AXES][ACCEL_NAME_MAX + 1];
	const char *names[ACCEL_MAP_MAX_AXES];
	bool is_captured = false;
	uint32_t j, k;

	for (k = 0; k < first->num_inputs; k++) {
		names[k] = first->inputs[k].name;
		if (names[k][0] == '*' || map_find_input(second, names[k]) >= 0)
			continue;
		for (j = 0; j < second->num_outputs; j++)
			if (expression_mentions(second->outputs[j], names[k]))
				break;
		if (j == second->num_outputs)
			continue;
		map_fresh_name(first, second, names[k], fresh[k]);
		names[k] = fresh[k];
		is_captured = true;
	}
	if (is_captured)
		return accel_map_rename(first, first->num_inputs, names, result, error);
	*result = accel_map_ref(first);
	return 0;
}

/* A variadic first map, brought to the number of outputs that second takes. */
static int fit_outputs(struct accel_map *first, const struct accel_map *second,
		       struct accel_map **result, struct accel_error *error)
{
	uint32_t k, num_stars = 0, rank;

	for (k = 0; k < first->num_outputs; k++)
		num_stars += is_star(first->outputs[k]);
	if (!first->is_variadic || second->is_variadic || !num_stars ||
	    second->num_inputs + 1 < first->num_outputs) {
		*result = accel_map_ref(first);
		return 0;
	}
	rank = first->num_inputs - 1 + second->num_inputs - (first->num_outputs - 1);
	return map_expand(first, rank, result, error);
}

/* Where the inputs of second find what first puts out. */
struct connection {
	uint32_t star;		/* the input of second with a star, or num_inputs */
	uint32_t num_starred;	/* outputs of first that it takes */
	uint32_t count;
	const char *names[ACCEL_MAP_MAX_AXES];
	struct accel_expression *values[ACCEL_MAP_MAX_AXES];
};

static int connect(const struct accel_map *first, const struct accel_map *second,
		   struct connection *connection, struct accel_error *error)
{
	uint32_t fixed = second->num_inputs - second->is_variadic, source = 0, k;

	*connection = (struct connection){ .star = second->num_inputs };
	if (first->num_outputs < fixed ||
	    (first->num_outputs > fixed && !second->is_variadic))
		return accel_error_set(error, -EINVAL,
				       "first map has %u outputs, but the second takes %u inputs%s",
				       first->num_outputs, fixed,
				       second->is_variadic ? " or more" : "");
	for (k = 0; k < second->num_inputs; k++) {
		if (second->inputs[k].name[0] == '*') {
			connection->star = k;
			connection->num_starred = first->num_outputs - fixed;
			source += connection->num_starred;
			continue;
		}
		if (is_star(first->outputs[source]))
			return accel_error_set(
				error, -EINVAL,
				"output %s of the first map stands for several axes, "
				"and is input %s of the second",
				first->outputs[source]->name, second->inputs[k].name);
		connection->names[connection->count] = second->inputs[k].name;
		connection->values[connection->count++] = first->outputs[source++];
	}
	return 0;
}

static int append_output(struct map_parts *parts, struct accel_expression *output,
			 struct accel_error *error)
{
	if (!output)
		return expression_error(error, -errno, "composed map");
	if (parts->num_outputs == ACCEL_MAP_MAX_AXES) {
		expression_unref(output);
		return accel_error_set(error, -E2BIG, "composed map has more than %d outputs",
				       ACCEL_MAP_MAX_AXES);
	}
	parts->outputs[parts->num_outputs++] = output;
	return 0;
}

static int compose_outputs(const struct accel_map *first, const struct accel_map *second,
			   const struct connection *connection, struct map_parts *parts,
			   struct accel_error *error)
{
	struct accel_expression *output;
	uint32_t j, k;
	int code = 0;

	for (k = 0; k < second->num_outputs && !code; k++) {
		if (is_star(second->outputs[k])) {
			for (j = 0; j < connection->num_starred && !code; j++)
				code = append_output(parts,
						     expression_ref(first->outputs[connection->star
										   + j]), error);
		} else {
			output = expression_substitute(second->outputs[k], connection->count,
						       connection->names, connection->values);
			code = append_output(parts, output, error);
		}
		if (code || !(second->separators & 1u << k))
			continue;
		if (!parts->num_outputs || parts->separators >> (parts->num_outputs - 1))
			code = accel_error_set(error, -EINVAL,
					       "no axis is left before an axis separator");
		else
			parts->separators |= 1u << (parts->num_outputs - 1);
	}
	return code;
}

static void copy_inputs(const struct accel_map *map, struct map_parts *parts)
{
	uint32_t k;

	for (k = 0; k < map->num_inputs; k++) {
		parts->inputs[k] = map->inputs[k];
		expression_ref(parts->inputs[k].minimum);
		expression_ref(parts->inputs[k].limit);
	}
	parts->num_inputs = map->num_inputs;
}

/* Replaces each output by its canonical form. */
static int simplify_outputs(struct map_parts *parts, const struct bounds *bounds,
			    struct accel_error *error)
{
	struct accel_expression *simplified;
	uint32_t k;

	for (k = 0; k < parts->num_outputs; k++) {
		if (is_star(parts->outputs[k]))
			continue;
		simplified = expression_simplify(parts->outputs[k], bounds);
		if (!simplified)
			return expression_error(error, -errno, "map");
		expression_unref(parts->outputs[k]);
		parts->outputs[k] = simplified;
	}
	return 0;
}

int accel_map_compose(struct accel_map *first, struct accel_map *second,
		      struct accel_map **result, struct accel_error *error)
{
	struct accel_map *fitted = NULL, *source = NULL;
	struct map_parts parts = { 0 };
	struct connection connection;
	struct map_bounds bounds;
	int code;

	*result = NULL;
	code = fit_outputs(first, second, &fitted, error);
	if (!code)
		code = avoid_capture(fitted, second, &source, error);
	if (!code)
		code = connect(source, second, &connection, error);
	if (code)
		goto out;
	copy_inputs(source, &parts);
	code = compose_outputs(source, second, &connection, &parts, error);
	if (!code)
		code = map_bounds_init(&bounds, source, source->num_inputs, NULL, error);
	if (!code)
		code = simplify_outputs(&parts, &bounds.bounds, error);
	if (!code)
		code = map_assemble(&parts, result, error);
	map_parts_release(&parts);
out:
	accel_map_unref(fitted);
	accel_map_unref(source);
	return code;
}

int accel_map_simplify(struct accel_map *map, uint32_t rank, const int64_t *shape,
		       struct accel_map **result, struct accel_error *error)
{
	struct accel_map *expanded;
	struct map_parts parts = { 0 };
	struct map_bounds bounds;
	uint32_t k;
	int code;

	*result = NULL;
	if (!shape)
		expanded = accel_map_ref(map);
	else if ((code = map_expand(map, rank, &expanded, error)))
		return code;
	code = map_bounds_init(&bounds, expanded, shape ? rank : expanded->num_inputs, shape,
			       error);
	if (code)
		goto out;
	copy_inputs(expanded, &parts);
	parts.separators = expanded->separators;
	for (k = 0; k < expanded->num_outputs; k++)
		parts.outputs[parts.num_outputs++] = expression_ref(expanded->outputs[k]);
	code = simplify_outputs(&parts, &bounds.bounds, error);
	if (!code)
		code = map_assemble(&parts, result, error);
	map_parts_release(&parts);
out:
	accel_map_unref(expanded);
	return code;
}

/* Equality --------------------------------------------------------------------------------- */

/* Both maps under the same names for their inputs, with symbols that mean the same in both. */
static int match_names(struct accel_map *a, struct accel_map *b, struct accel_map **left,
		       struct accel_map **right, struct accel_error *error)
{
	const char *names[ACCEL_MAP_MAX_AXES] = { NULL };
	int code;

	*right = NULL;
	code = avoid_capture(a, b, left, error);
	if (code)
		return code;
	map_names(*left, names);
	return accel_map_rename(b, b->num_inputs, names, right, error);
}

static bool same_expression(const struct accel_expression *a, const struct accel_expression *b)
{
	if (!a || !b)
		return a == b;
	return !expression_compare(a, b);
}

static bool same_ranges(const struct accel_map *a, const struct accel_map *b)
{
	uint32_t k;

	for (k = 0; k < a->num_inputs; k++)
		if (!same_expression(a->inputs[k].minimum, b->inputs[k].minimum) ||
		    !same_expression(a->inputs[k].limit, b->inputs[k].limit))
			return false;
	return true;
}

static bool same_stars(const struct accel_map *a, const struct accel_map *b)
{
	uint32_t k;

	for (k = 0; k < a->num_inputs; k++)
		if ((a->inputs[k].name[0] == '*') != (b->inputs[k].name[0] == '*'))
			return false;
	for (k = 0; k < a->num_outputs; k++)
		if (is_star(a->outputs[k]) != is_star(b->outputs[k]))
			return false;
	return true;
}

/* YES if both have the same values at a point, UNKNOWN if one has none there. */
static enum accel_answer equal_at(const struct accel_map *a, const struct accel_map *b,
				  const char *const *names, const int64_t *index)
{
	enum accel_answer answer = ACCEL_ANSWER_YES;
	int64_t left, right;
	const char *missing;
	uint32_t k;

	for (k = 0; k < a->num_outputs; k++) {
		if (is_star(a->outputs[k]))
			continue;
		if (expression_evaluate(a->outputs[k], a->num_inputs, names, index, &left,
					&missing) ||
		    expression_evaluate(b->outputs[k], b->num_inputs, names, index, &right,
					&missing))
			answer = ACCEL_ANSWER_UNKNOWN;
		else if (left != right)
			return ACCEL_ANSWER_NO;
	}
	return answer;
}

/* Looks at all points, if they are not too many, or at some of them. */
static enum accel_answer compare_points(const struct accel_map *a, const struct accel_map *b,
					const struct bounds *bounds)
{
	const char *names[ACCEL_MAP_MAX_AXES] = { NULL };
	int64_t limit = points_limit(a) < points_limit(b) ? points_limit(a) : points_limit(b);
	bool is_complete = points_count(bounds) <= limit;
	int64_t index[ACCEL_MAP_MAX_AXES];
	enum accel_answer one, all = ACCEL_ANSWER_YES;
	uint32_t num_samples = 0;
	uint64_t state = 1;

	if (map_find_symbol(a) || map_find_symbol(b) || !points_first(bounds, index))
		return ACCEL_ANSWER_UNKNOWN;
	map_names(a, names);
	do {
		one = equal_at(a, b, names, index);
		if (one == ACCEL_ANSWER_NO)
			return one;
		if (one == ACCEL_ANSWER_UNKNOWN)
			all = one;
		if (!is_complete)
			points_sample(bounds, &state, index);
	} while (is_complete ? points_next(bounds, index) : ++num_samples < NUM_SAMPLES);
	return is_complete ? all : ACCEL_ANSWER_UNKNOWN;
}

/* Both maps have the same rank, names and bounds. */
static int compare_outputs(const struct accel_map *a, const struct accel_map *b,
			   const struct map_bounds *bounds, enum accel_answer *answer,
			   struct accel_error *error)
{
	enum accel_answer one;
	uint32_t k;
	int code;

	*answer = ACCEL_ANSWER_YES;
	for (k = 0; k < a->num_inputs; k++)
		if (bounds->is_empty[k])
			return 0;
	for (k = 0; k < a->num_outputs; k++) {
		if (is_star(a->outputs[k]))
			continue;
		code = expression_prove_equal(a->outputs[k], b->outputs[k], &bounds->bounds, &one);
		if (code && code != -EOVERFLOW && code != -E2BIG)
			return expression_error(error, code, "map");
		if (code)
			one = ACCEL_ANSWER_UNKNOWN;
		if (one == ACCEL_ANSWER_NO) {
			*answer = one;
			return 0;
		}
		if (one == ACCEL_ANSWER_UNKNOWN)
			*answer = one;
	}
	if (*answer == ACCEL_ANSWER_UNKNOWN)
		*answer = compare_points(a, b, &bounds->bounds);
	return 0;
}

/* Whether maps of the same form are equal; shape as in accel_map_equal(). */
static int compare_maps(struct accel_map *a, struct accel_map *b, const int64_t *shape,
			enum accel_answer *answer, struct accel_error *error)
{
	struct accel_map *left = NULL, *right = NULL;
	struct map_bounds bounds;
	int code;

	*answer = ACCEL_ANSWER_NO;
	if (a->num_inputs != b->num_inputs || a->num_outputs != b->num_outputs ||
	    a->separators != b->separators)
		return 0;
	if (!same_stars(a, b)) {
		*answer = ACCEL_ANSWER_UNKNOWN;
		return 0;
	}
	code = match_names(a, b, &left, &right, error);
	if (code || (!shape && !same_ranges(left, right)))
		goto out;
	code = map_bounds_init(&bounds, left, left->num_inputs, shape, error);
	if (!code)
		code = compare_outputs(left, right, &bounds, answer, error);
out:
	accel_map_unref(left);
	accel_map_unref(right);
	return code;
}

int accel_map_equal(struct accel_map *a, struct accel_map *b, uint32_t rank, const int64_t *shape,
		    enum accel_answer *answer, struct accel_error *error)
{
	struct accel_map *left = NULL, *right = NULL;
	int code;

	*answer = ACCEL_ANSWER_UNKNOWN;
	if (!shape && a->is_variadic == b->is_variadic)
		return compare_maps(a, b, NULL, answer, error);
	if (!shape)
		rank = a->is_variadic ? b->num_inputs : a->num_inputs;
	code = map_expand(a, rank, &left, error);
	if (!code)
		code = map_expand(b, rank, &right, error);
	if (!code)
		code = compare_maps(left, right, shape, answer, error);
	accel_map_unref(left);
	accel_map_unref(right);
	return code;
}
