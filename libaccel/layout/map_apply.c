// SPDX-License-Identifier: MIT
/*
 * Where a map takes an index, a shape and ranges, and what comes of them when the axes between
 * separators are flattened.
 */
#include <errno.h>
#include <string.h>

#include "layout/map.h"

/* The interval that an input declares, over all values of the symbols in it. */
static struct interval declared_interval(const struct map_input *input)
{
	const struct bounds none = { 0, NULL };
	struct interval interval = { 0, INT64_MAX }, limit;

	if (input->minimum)
		interval.min = expression_interval(input->minimum, &none).min;
	if (input->limit) {
		limit = expression_interval(input->limit, &none);
		interval.max = limit.max == INT64_MAX || limit.max == INT64_MIN ? limit.max :
			       limit.max - 1;
	}
	return interval;
}

int map_bounds_init(struct map_bounds *map_bounds, const struct accel_map *map, uint32_t rank,
		    const int64_t *shape, struct accel_error *error)
{
	struct variable_bounds *variable;
	uint32_t k;

	if (shape && rank != map->num_inputs)
		return accel_error_set(error, -EINVAL, "map takes %u axes, but the shape has %u",
				       map->num_inputs, rank);
	map_bounds->bounds = (struct bounds){ map->num_inputs, map_bounds->variables };
	for (k = 0; k < map->num_inputs; k++) {
		variable = &map_bounds->variables[k];
		*variable = (struct variable_bounds){ .name = map->inputs[k].name };
		if (shape && shape[k] < 0)
			return accel_error_set(error, -EINVAL,
					       "extent of axis %u is %lld, expected 0 or more", k,
					       (long long)shape[k]);
		if (shape) {
			variable->interval = (struct interval){ 0, shape[k] - 1 };
		} else {
			variable->interval = declared_interval(&map->inputs[k]);
			if (map->inputs[k].limit && !expression_is_constant(map->inputs[k].limit))
				variable->limit = map->inputs[k].limit;
		}
		/* An empty range would prove everything: it is given one point. */
		map_bounds->is_empty[k] = variable->interval.max < variable->interval.min;
		if (map_bounds->is_empty[k])
			variable->interval.max = variable->interval.min;
	}
	return 0;
}

bool map_output_is_empty(const struct accel_map *map, const struct map_bounds *bounds,
			 uint32_t output)
{
	uint32_t k;

	for (k = 0; k < map->num_inputs; k++)
		if (bounds->is_empty[k] &&
		    expression_mentions(map->outputs[output], map->inputs[k].name))
			return true;
	return false;
}

static int check_symbols(const struct accel_map *map, struct accel_error *error)
{
	const char *symbol = map_find_symbol(map);

	if (!symbol)
		return 0;
	return accel_error_set(error, -EINVAL, "symbol %s of the map has no value", symbol);
}

static int check_index(const struct map_bounds *bounds, const struct accel_map *map,
		       const int64_t *index, struct accel_error *error)
{
	const struct interval *interval;
	uint32_t k;

	for (k = 0; k < map->num_inputs; k++) {
		interval = &bounds->variables[k].interval;
		if (index[k] >= interval->min && index[k] <= interval->max &&
		    !bounds->is_empty[k])
			continue;
		if (interval->max == INT64_MAX)
			return accel_error_set(error, -ERANGE,
					       "index %lld of axis %u (%s), expected %lld or more",
					       (long long)index[k], k, map->inputs[k].name,
					       (long long)interval->min);
		return accel_error_set(
			error, -ERANGE,
			"index %lld of axis %u (%s), expected at least %lld and less "
			"than %lld",
			(long long)index[k], k, map->inputs[k].name, (long long)interval->min,
			(long long)interval->max + !bounds->is_empty[k]);
	}
	return 0;
}

static int evaluate_outputs(const struct accel_map *map, const int64_t *index, int64_t *output,
			    struct accel_error *error)
{
	const char *names[ACCEL_MAP_MAX_AXES], *missing = NULL;
	uint32_t k;
	int code;

	map_names(map, names);
	for (k = 0; k < map->num_outputs; k++) {
		code = expression_evaluate(map->outputs[k], map->num_inputs, names, index,
					   &output[k], &missing);
		if (code == -ENOENT)
			return accel_error_set(error, -EINVAL,
					       "symbol %s of the map has no value", missing);
		if (code == -EDOM)
			return accel_error_set(error, code, "output %u: division by 0", k);
		if (code)
			return accel_error_set(error, code,
					       "output %u: a value does not fit 64 bits", k);
	}
	return 0;
}

/* apply_index for a map that is expanded, against the ranges in the map or the shape. */
static int apply_index(const struct accel_map *map, const int64_t *shape, const int64_t *index,
		       int64_t *output, struct accel_error *error)
{
	struct map_bounds bounds;
	int code;

	code = map_bounds_init(&bounds, map, map->num_inputs, shape, error);
	if (!code)
		code = check_index(&bounds, map, index, error);
	return code ? code : evaluate_outputs(map, index, output, error);
}

int accel_map_apply_index(const struct accel_map *map, uint32_t rank, const int64_t *index,
			  uint32_t *output_rank, int64_t *output, struct accel_error *error)
{
	struct accel_map *expanded;
	int code;

	code = map_expand(map, rank, &expanded, error);
	if (code)
		return code;
	if (output_rank)
		*output_rank = expanded->num_outputs;
	code = apply_index(expanded, NULL, index, output, error);
	accel_map_unref(expanded);
	return code;
}

/* The interval of an output; the map has no symbols. */
static int output_interval(const struct accel_map *map, const struct map_bounds *bounds,
			   uint32_t output, struct interval *interval, struct accel_error *error)
{
	struct accel_expression *simplified;

	simplified = expression_simplify(map->outputs[output], &bounds->bounds);
	if (!simplified)
		return expression_error(error, -errno, "output of the map");
	*interval = expression_interval(simplified, &bounds->bounds);
	expression_unref(simplified);
	if (interval->min == INT64_MIN || interval->max == INT64_MAX)
		return accel_error_set(
			error, -EOVERFLOW,
			"output %u: the largest or smallest value does not fit 64 bits", output);
	return 0;
}

static int apply_shape(const struct accel_map *map, const int64_t *shape, int64_t *output_shape,
		       struct accel_error *error)
{
	struct map_bounds bounds;
	struct interval interval;
	uint32_t k;
	int code;

	code = map_bounds_init(&bounds, map, map->num_inputs, shape, error);
	if (!code)
		code = check_symbols(map, error);
	for (k = 0; k < map->num_outputs && !code; k++) {
		output_shape[k] = 0;
		if (map_output_is_empty(map, &bounds, k))
			continue;
		code = output_interval(map, &bounds, k, &interval, error);
		if (!code && interval.min < 0)
			code = accel_error_set(error, -ERANGE,
					       "output %u can be %lld, expected 0 or more", k,
					       (long long)interval.min);
		if (!code)
			output_shape[k] = interval.max + 1;
	}
	return code;
}

int accel_map_apply_shape(const struct accel_map *map, uint32_t rank, const int64_t *shape,
			  uint32_t *output_rank, int64_t *output_shape, struct accel_error *error)
{
	struct accel_map *expanded;
	int code;

	code = map_expand(map, rank, &expanded, error);
	if (code)
		return code;
	if (output_rank)
		*output_rank = expanded->num_outputs;
	code = apply_shape(expanded, shape, output_shape, error);
	accel_map_unref(expanded);
	return code;
}

static int apply_ranges(const struct accel_map *map, const struct accel_range *ranges,
			struct accel_range *output_ranges, struct accel_error *error)
{
	struct map_bounds bounds;
	struct interval interval;
	uint32_t k;
	int code;

	code = map_bounds_init(&bounds, map, map->num_inputs, NULL, error);
	if (!code)
		code = check_symbols(map, error);
	for (k = 0; k < map->num_inputs && !code; k++) {
		if (ranges[k].limit <= ranges[k].minimum)
			return accel_error_set(
				error, -EINVAL,
				"range of axis %u is empty: minimum %lld, limit %lld", k,
				(long long)ranges[k].minimum, (long long)ranges[k].limit);
		bounds.variables[k].limit = NULL;
		bounds.variables[k].interval.min = ranges[k].minimum;
		bounds.variables[k].interval.max = ranges[k].limit == INT64_MAX ?
						   INT64_MAX : ranges[k].limit - 1;
	}
	for (k = 0; k < map->num_outputs && !code; k++) {
		code = output_interval(map, &bounds, k, &interval, error);
		if (!code)
			output_ranges[k] = (struct accel_range){ interval.min, interval.max + 1 };
	}
	return code;
}

int accel_map_apply_ranges(const struct accel_map *map, uint32_t rank,
			   const struct accel_range *ranges, uint32_t *output_rank,
			   struct accel_range *output_ranges, struct accel_error *error)
{
	struct accel_map *expanded;
	int code;

	code = map_expand(map, rank, &expanded, error);
	if (code)
		return code;
	if (output_rank)
		*output_rank = expanded->num_outputs;
	code = apply_ranges(expanded, ranges, output_ranges, error);
	accel_map_unref(expanded);
	return code;
}

/* Flattening ------------------------------------------------------------------------------- */

/* The extent of each group of axes. Returns how many groups there are, or -errno. */
static int flatten_shape(const struct accel_map *map, const int64_t *output_shape,
			 int64_t *flat_shape, struct accel_error *error)
{
	uint32_t group = 0, k;

	flat_shape[0] = 1;
	for (k = 0; k < map->num_outputs; k++) {
		if (__builtin_mul_overflow(flat_shape[group], output_shape[k], &flat_shape[group]))
			return accel_error_set(error, -EOVERFLOW,
					       "flat axis %u: the extent does not fit 64 bits",
					       group);
		if (map->separators & 1u << k)
			flat_shape[++group] = 1;
	}
	return group + 1;
}

/* Of numbers below the extents of a shape that flatten_shape() has multiplied: no overflow. */
static void flatten_index(const struct accel_map *map, const int64_t *output_shape,
			  const int64_t *output, int64_t *flat_index)
{
	uint32_t group = 0, k;

	flat_index[0] = 0;
	for (k = 0; k < map->num_outputs; k++) {
		flat_index[group] = flat_index[group] * output_shape[k] + output[k];
		if (map->separators & 1u << k)
			flat_index[++group] = 0;
	}
}

int accel_map_flat_shape(const struct accel_map *map, uint32_t rank, const int64_t *shape,
			 uint32_t *flat_rank, int64_t *flat_shape, struct accel_error *error)
{
	int64_t output_shape[ACCEL_MAP_MAX_AXES];
	struct accel_map *expanded;
	int code;

	code = map_expand(map, rank, &expanded, error);
	if (code)
		return code;
	code = apply_shape(expanded, shape, output_shape, error);
	if (!code)
		code = flatten_shape(expanded, output_shape, flat_shape, error);
	if (code > 0 && flat_rank)
		*flat_rank = code;
	accel_map_unref(expanded);
	return code < 0 ? code : 0;
}

int accel_map_flat_index(const struct accel_map *map, uint32_t rank, const int64_t *shape,
			 const int64_t *index, uint32_t *flat_rank, int64_t *flat_index,
			 struct accel_error *error)
{
	int64_t output_shape[ACCEL_MAP_MAX_AXES], flat_shape[ACCEL_MAP_MAX_AXES];
	int64_t output[ACCEL_MAP_MAX_AXES];
	struct accel_map *expanded;
	int code;

	code = map_expand(map, rank, &expanded, error);
	if (code)
		return code;
	code = apply_index(expanded, shape, index, output, error);
	if (!code)
		code = apply_shape(expanded, shape, output_shape, error);
	if (!code)
		code = flatten_shape(expanded, output_shape, flat_shape, error);
	if (code > 0) {
		if (flat_rank)
			*flat_rank = code;
		flatten_index(expanded, output_shape, output, flat_index);
	}
	accel_map_unref(expanded);
	return code < 0 ? code : 0;
}
