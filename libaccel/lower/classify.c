// SPDX-License-Identifier: MIT
/*
 * Classes of functions. Definitions are followed from an output to the elements of inputs that it
 * loads, which gives maps; a map is counted, in parts that have no axis in common, or
 * analysed as a whole where that is too much. What neither tells is not said.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "layout/map.h"
#include "lower/classify.h"
#include "lower/function.h"
#include "lower/plan.h"
#include "tensor/tensor.h"

/*
 * Points that are looked at, in all, to count a map; and definitions that are followed, inside of
 * one another and in all: there are twice as many with each that uses the one before it twice.
 */
#define MAX_POINTS	8192
#define MAX_DEPTH	64
#define MAX_FOLLOWED	4096
#define MAX_CONDITIONS	64

/* An output, and what is found on the way to inputs. Indices are over the output's axes. */
struct trace {
	const struct accel_function *function;
	uint32_t num_axes;
	struct lower_axis axes[ACCEL_MAX_DIMS];
	struct variable_bounds variables[ACCEL_MAX_DIMS];
	struct bounds bounds;
	uint32_t depth;
	uint32_t num_followed;
	uint32_t map_class;
	bool is_unsure;				/* a map was too large to count */
	uint32_t num_loads;			/* of inputs */
	char *map;				/* of the first */
	uint32_t num_conditions;
	struct accel_expression *conditions[MAX_CONDITIONS];	/* all must hold; borrowed */
};

static int trace_tensor(struct trace *trace, uint32_t tensor,
			struct accel_expression *const *indices);

/* Counting --------------------------------------------------------------------------------- */

/* Input axes and conditions that have output axes in common, directly or not: a part of a map. */
struct part {
	uint32_t axes;			/* bits: of the output */
	uint32_t indices;		/* bits: axes of the input */
	uint64_t conditions;		/* bits */
};

/* What is known of a map so far. */
struct count {
	bool is_known;
	bool collides;			/* an element goes to several places */
	bool misses;			/* some go nowhere */
	int64_t points;			/* looked at */
};

static uint32_t axes_of(const struct trace *trace, const struct accel_expression *expression)
{
	uint32_t axes = 0;

	for (uint32_t k = 0; k < trace->num_axes; k++)
		if (expression_mentions(expression, trace->axes[k].name))
			axes |= 1u << k;
	return axes;
}

/* Adds a part, and makes one of it and those that it has an axis in common with. */
static void add_part(struct part *parts, uint32_t *count, struct part part)
{
	uint32_t kept = 0;

	for (uint32_t k = 0; k < *count; k++) {
		if (parts[k].axes & part.axes) {
			part.axes |= parts[k].axes;
			part.indices |= parts[k].indices;
			part.conditions |= parts[k].conditions;
		} else {
			parts[kept++] = parts[k];
		}
	}
	parts[kept++] = part;
	*count = kept;
}

/* One part, while its points are walked. */
struct walk {
	const struct trace *trace;
	const struct part *part;
	const struct function_tensor *input;
	struct accel_expression *const *indices;
	uint32_t count;
	const char *names[ACCEL_MAX_DIMS];
	int64_t extents[ACCEL_MAX_DIMS];
	int64_t values[ACCEL_MAX_DIMS];
};

static bool walk_next(struct walk *walk)
{
	for (uint32_t k = walk->count; k--;) {
		if (++walk->values[k] < walk->extents[k])
			return true;
		walk->values[k] = 0;
	}
	return false;
}

static bool evaluate(const struct walk *walk, const struct accel_expression *expression,
		     int64_t *value)
{
	const char *missing;

	return !expression_evaluate(expression, walk->count, walk->names, walk->values, value,
				    &missing);
}

/* The element of the input, as far as it is of this part; -1: none, or it cannot be told. */
static int64_t element(const struct walk *walk)
{
	int64_t at = 0, value;

	for (uint32_t k = 0; k < walk->trace->num_conditions; k++)
		if (walk->part->conditions >> k & 1 &&
		    (!evaluate(walk, walk->trace->conditions[k], &value) || !value))
			return -1;
	for (uint32_t k = 0; k < walk->input->rank; k++) {
		if (!(walk->part->indices >> k & 1))
			continue;
		if (!evaluate(walk, walk->indices[k], &value) || value < 0 ||
		    value >= walk->input->shape[k])
			return -1;
		at = at * walk->input->shape[k] + value;
	}
	return at;
}

/* Elements of the input, as far as they are of a part; more than that: too many. */
static int64_t count_elements(const struct walk *walk)
{
	int64_t elements = 1;

	for (uint32_t k = 0; k < walk->input->rank; k++) {
		if (!(walk->part->indices >> k & 1))
			continue;
		if (walk->input->shape[k] > MAX_POINTS)
			return MAX_POINTS + 1;
		elements *= walk->input->shape[k];
		if (elements > MAX_POINTS)
			return elements;
	}
	return elements;
}

static int count_part(const struct trace *trace, const struct function_tensor *input,
		      struct accel_expression *const *indices, const struct part *part,
		      struct count *count)
{
	struct walk walk = { trace, part, input, indices, .count = 0 };
	int64_t points = 1, elements = count_elements(&walk), reached = 0, at;
	uint8_t *seen;

	for (uint32_t k = 0; k < trace->num_axes; k++) {
		if (!(part->axes >> k & 1))
			continue;
		walk.names[walk.count] = trace->axes[k].name;
		walk.extents[walk.count++] = trace->axes[k].extent;
		points = trace->axes[k].extent > MAX_POINTS ? MAX_POINTS + 1 :
			 points * trace->axes[k].extent;
		if (points > MAX_POINTS)
			break;
	}
	count->points += points;
	if (count->points > MAX_POINTS || elements > MAX_POINTS) {
		count->is_known = false;
		return 0;
	}
	seen = calloc((size_t)elements + 1, 1);
	if (!seen)
		return -ENOMEM;
	do {
		at = element(&walk);
		if (at < 0)
			continue;
		reached += !seen[at];
		count->collides |= seen[at];
		seen[at] = 1;
	} while (walk_next(&walk));
	count->misses |= reached < elements;
	free(seen);
	return 0;
}

/* One digit of a number: coefficient * axis. */
struct position {
	int64_t coefficient;
	int64_t extent;
};

/* The digits of a sum of multiples of axes; false if it is something else. */
static bool add_digits(const struct trace *trace, const struct accel_expression *sum,
		       int64_t factor, struct position *digits, uint32_t *count)
{
	switch (sum->kind) {
	case ACCEL_EXPRESSION_ADD:
		return add_digits(trace, sum->operands[0], factor, digits, count) &&
		       add_digits(trace, sum->operands[1], factor, digits, count);
	case ACCEL_EXPRESSION_SUBTRACT:
		return expression_is_constant(sum->operands[1]) &&
		       add_digits(trace, sum->operands[0], factor, digits, count);
	case ACCEL_EXPRESSION_MULTIPLY:
		return factor == 1 && expression_is_constant(sum->operands[0]) &&
		       add_digits(trace, sum->operands[1], sum->operands[0]->constant, digits,
				  count);
	case ACCEL_EXPRESSION_CONSTANT:
		return factor == 1;
	case ACCEL_EXPRESSION_VARIABLE:
		break;
	default:
		return false;
	}
	for (uint32_t k = 0; *count < ACCEL_MAX_DIMS && k < trace->num_axes; k++) {
		if (!names_equal(trace->axes[k].name, sum->name))
			continue;
		digits[*count].coefficient = factor;
		digits[(*count)++].extent = trace->axes[k].extent;
		return true;
	}
	return false;
}

/* Whether the index takes each value of an interval once: a number of mixed radix. */
static bool is_positional(const struct trace *trace, const struct accel_expression *index)
{
	struct position digits[ACCEL_MAX_DIMS];
	int64_t next = 1;
	uint32_t count = 0, left;

	if (!add_digits(trace, index, 1, digits, &count))
		return false;
	for (left = count; left; left--) {
		uint32_t k = 0;

		while (k < left && digits[k].coefficient != next)
			k++;
		if (k == left || __builtin_mul_overflow(next, digits[k].extent, &next))
			return false;
		digits[k] = digits[left - 1];
	}
	return true;
}

/*
 * A part of one input axis whose index is such a number, under one condition on it or none: its
 * values are an interval. True if that tells.
 */
static bool measure_part(const struct trace *trace, const struct function_tensor *input,
			 struct accel_expression *const *indices, const struct part *part,
			 struct count *count)
{
	struct conditions conditions = { 0 };
	struct accel_expression *index;
	struct interval all, some;
	uint32_t axis = 0;
	int ret = 0;

	if (!part->indices || part->indices & (part->indices - 1))
		return false;
	while (!(part->indices >> axis & 1))
		axis++;
	index = indices[axis];
	if (!is_positional(trace, index))
		return false;
	for (uint32_t k = 0; !ret && k < trace->num_conditions; k++)
		if (part->conditions >> k & 1)
			ret = conditions_add_truth(&conditions, trace->conditions[k], true,
						   &trace->bounds);
	all = expression_interval(index, &trace->bounds);
	some = all;
	if (!ret && conditions.count)
		ret = conditions_interval(&conditions, index, &trace->bounds, &some);
	/* One that leaves the interval as it is says something else than an interval. */
	if (ret || conditions.count > 1 ||
	    (conditions.count && some.min == all.min && some.max == all.max))
		ret = -ENOTSUP;
	conditions_release(&conditions);
	if (!ret)
		count->misses |= some.min > 0 || some.max < input->shape[axis] - 1;
	return !ret;
}

/* An index that is an axis as it is, over the whole extent, and nobody else's. */
static bool is_plain(const struct trace *trace, const struct function_tensor *input,
		     struct accel_expression *const *indices, const struct part *part)
{
	for (uint32_t k = 0; k < trace->num_axes; k++)
		for (uint32_t j = 0; j < input->rank; j++)
			if (part->axes == 1u << k && part->indices == 1u << j &&
			    !part->conditions && expression_is_variable(indices[j]))
				return trace->axes[k].extent == input->shape[j];
	return false;
}

static int count_map(const struct trace *trace, const struct function_tensor *input,
		     struct accel_expression *const *indices, struct count *count)
{
	struct part parts[ACCEL_MAX_DIMS + MAX_CONDITIONS];
	uint32_t num_parts = 0, axes = 0;
	int ret = 0;

	*count = (struct count){ .is_known = true };
	for (uint32_t k = 0; k < input->rank; k++)
		add_part(parts, &num_parts, (struct part){
			.axes = axes_of(trace, indices[k]), .indices = 1u << k });
	for (uint32_t k = 0; k < trace->num_conditions; k++)
		add_part(parts, &num_parts, (struct part){
			.axes = axes_of(trace, trace->conditions[k]),
			.conditions = UINT64_C(1) << k });
	for (uint32_t k = 0; !ret && count->is_known && k < num_parts; k++) {
		axes |= parts[k].indices ? parts[k].axes : 0;
		if (!is_plain(trace, input, indices, &parts[k]) &&
		    !measure_part(trace, input, indices, &parts[k], count))
			ret = count_part(trace, input, indices, &parts[k], count);
	}
	for (uint32_t k = 0; k < trace->num_axes; k++)
		count->collides |= !(axes >> k & 1) && trace->axes[k].extent > 1;
	return ret;
}

/* Maps ------------------------------------------------------------------------------------- */

static int64_t num_points(const struct trace *trace)
{
	int64_t points = 1;

	for (uint32_t k = 0; k < trace->num_axes; k++)
		points *= trace->axes[k].extent;
	return points;
}

static int64_t num_elements(const struct function_tensor *tensor)
{
	int64_t elements = 1;

	for (uint32_t k = 0; k < tensor->rank; k++)
		elements *= tensor->shape[k];
	return elements;
}

/* The first axis of one value that no index mentions, from *axis on; NULL: there is none. */
static const char *unused_axis(const struct trace *trace, const struct function_tensor *input,
			       struct accel_expression *const *indices, uint32_t *axis)
{
	for (; *axis < trace->num_axes; ++*axis) {
		const char *name = trace->axes[*axis].name;
		bool is_used = trace->axes[*axis].extent != 1;

		for (uint32_t k = 0; k < input->rank && !is_used; k++)
			is_used = expression_mentions(indices[k], name);
		if (!is_used) {
			++*axis;
			return name;
		}
	}
	return NULL;
}

/*
 * The map of indices; the names are those of the axes. Where an axis has one value its index is 0
 * by now: a reader finds it easier when the axis that it came from is named.
 */
static int make_map(const struct trace *trace, const struct function_tensor *input,
		    struct accel_expression *const *indices, struct accel_map **map,
		    struct accel_error *error)
{
	struct accel_expression *outputs[ACCEL_MAX_DIMS];
	const char *names[ACCEL_MAX_DIMS];
	uint32_t axis = 0;

	for (uint32_t k = 0; k < trace->num_axes; k++)
		names[k] = trace->axes[k].name;
	for (uint32_t k = 0; k < input->rank; k++) {
		const char *name = input->shape[k] == 1 && expression_is_value(indices[k], 0) ?
				   unused_axis(trace, input, indices, &axis) : NULL;

		outputs[k] = name ? expression_variable(name, strlen(name)) :
				    expression_ref(indices[k]);
	}
	return map_create(trace->num_axes, names, input->rank, outputs, 0, map, error);
}

static int keep_map(struct trace *trace, const struct accel_map *map)
{
	int length = accel_map_print(map, NULL, 0);

	trace->map = length < 0 ? NULL : malloc((size_t)length + 1);
	if (!trace->map)
		return -ENOMEM;
	accel_map_print(map, trace->map, (size_t)length + 1);
	return 0;
}

/* What counting was too much for: without conditions, the analysis of maps may tell. */
static int analyze(const struct trace *trace, const struct function_tensor *input,
		   struct accel_map *map, struct count *count)
{
	struct accel_map_analysis analysis;
	int64_t shape[ACCEL_MAX_DIMS];
	int ret;

	for (uint32_t k = 0; k < trace->num_axes; k++)
		shape[k] = trace->axes[k].extent;
	ret = accel_map_analyze(map, trace->num_axes, shape, &analysis, NULL);
	if (ret)
		return ret == -ENOMEM ? ret : 0;
	if (analysis.injective == ACCEL_ANSWER_YES) {
		count->is_known = !trace->num_conditions;
		count->collides = false;
		count->misses = num_points(trace) < num_elements(input);
	}
	accel_map_analysis_release(&analysis);
	return 0;
}

/* A load of an input at indices. */
static int classify_load(struct trace *trace, uint32_t tensor,
			 struct accel_expression *const *indices)
{
	const struct function_tensor *input = &trace->function->tensors[tensor];
	struct count count = { 0 };
	struct accel_map *map;
	int ret;

	trace->num_loads++;
	for (uint32_t k = 0; k < input->rank; k++)
		if (expression_mentions(indices[k], VALUE_INDEX))
			return 0;
	ret = make_map(trace, input, indices, &map, NULL);
	if (ret)
		return ret;
	if (trace->num_loads == 1)
		ret = keep_map(trace, map);
	if (!ret && num_points(trace) && num_elements(input)) {
		ret = count_map(trace, input, indices, &count);
		if (!ret && !count.is_known)
			ret = analyze(trace, input, map, &count);
	} else {
		count.is_known = true;
	}
	accel_map_unref(map);
	trace->is_unsure |= !count.is_known;
	if (!count.is_known)
		return ret;
	if (count.collides)
		trace->map_class |= ACCEL_CLASS_EXPANDING;
	if (count.misses)
		trace->map_class |= ACCEL_CLASS_SELECTING;
	return ret;
}

/* Following -------------------------------------------------------------------------------- */

/* An expression of a definition, over the output's axes. NULL with errno. */
static struct accel_expression *substitute(const struct trace *trace,
					   const struct function_tensor *definition,
					   struct accel_expression *const *indices,
					   struct accel_expression *expression)
{
	const char *names[LOWER_MAX_AXES];

	for (uint32_t k = 0; k < definition->num_axes; k++)
		names[k] = definition->axes[k].name;
	return expression_simplify_take(
		expression_substitute(expression, definition->num_axes, names, indices),
		&trace->bounds);
}

static int trace_load(struct trace *trace, const struct function_tensor *definition,
		      struct accel_expression *const *indices, const struct value_load *load)
{
	uint32_t tensor = function_find(trace->function, load->tensor), k;
	struct accel_expression *inner[ACCEL_MAX_DIMS];
	int ret = 0;

	if (load->index)
		trace->map_class |= ACCEL_CLASS_INDEXED;
	for (k = 0; !ret && k < load->num_indices; k++) {
		inner[k] = substitute(trace, definition, indices, load->indices[k]);
		if (!inner[k]) {
			ret = -errno;
			break;
		}
	}
	if (!ret)
		ret = trace_tensor(trace, tensor, inner);
	while (k--)
		expression_unref(inner[k]);
	return ret;
}

static int trace_value(struct trace *trace, const struct function_tensor *definition,
		       struct accel_expression *const *indices, const struct accel_value *value);

/* A load, or a choice, where its condition holds. */
static int trace_conditional(struct trace *trace, const struct function_tensor *definition,
			     struct accel_expression *const *indices,
			     const struct accel_value *value)
{
	bool is_load = value->kind == VALUE_LOAD;
	uint32_t before = trace->num_conditions;
	struct accel_expression *condition;
	int ret;

	condition = substitute(trace, definition, indices,
			       is_load ? value->load.condition : value->choose.condition);
	if (!condition)
		return -errno;
	if (!expression_is_constant(condition) || !condition->constant)
		trace->map_class |= ACCEL_CLASS_FILLING;
	if (!expression_is_constant(condition) && before < MAX_CONDITIONS &&
	    !expression_mentions(condition, VALUE_INDEX))
		trace->conditions[trace->num_conditions++] = condition;
	ret = is_load ? trace_load(trace, definition, indices, &value->load) :
	      trace_value(trace, definition, indices, value->choose.operands[0]);
	trace->num_conditions = before;
	expression_unref(condition);
	return ret;
}

static int trace_value(struct trace *trace, const struct function_tensor *definition,
		       struct accel_expression *const *indices, const struct accel_value *value)
{
	int ret = 0;

	switch (value->kind) {
	case VALUE_LOAD:
		return value->load.condition ?
		       trace_conditional(trace, definition, indices, value) :
		       trace_load(trace, definition, indices, &value->load);
	case VALUE_CONSTANT:
		return 0;
	case VALUE_CHOOSE:
		if (value->choose.operands[1]->kind == VALUE_CONSTANT)
			return trace_conditional(trace, definition, indices, value);
		break;
	case VALUE_OPERATE:
		break;
	}
	trace->map_class |= ACCEL_CLASS_COMPUTING;
	for (unsigned int k = 0; !ret && k < value_num_operands(value); k++)
		ret = trace_value(trace, definition, indices, value_operand(value, k));
	return ret;
}

/* What is pushed cannot be followed; what is lost and filled on the way is known. */
static void trace_push(struct trace *trace, const struct function_tensor *definition)
{
	trace->map_class |= definition->index ? ACCEL_CLASS_INDEXED : 0;
	trace->map_class |= definition->leaves_gaps ? ACCEL_CLASS_FILLING : 0;
	/* No map of it is to be seen, whatever comes after. */
	trace->num_loads += 2;
}

static int trace_tensor(struct trace *trace, uint32_t tensor,
			struct accel_expression *const *indices)
{
	const struct function_tensor *definition = &trace->function->tensors[tensor];
	int ret = 0;

	if (definition->kind == FUNCTION_INPUT)
		return classify_load(trace, tensor, indices);
	if (definition->kind == FUNCTION_PUSH || trace->depth == MAX_DEPTH ||
	    trace->num_followed == MAX_FOLLOWED) {
		trace_push(trace, definition);
		return 0;
	}
	if (definition->num_parts > 1)
		trace->map_class |= ACCEL_CLASS_COMPUTING;
	trace->num_followed++;
	trace->depth++;
	for (uint32_t k = 0; !ret && k < definition->num_parts; k++)
		ret = trace_value(trace, definition, indices, definition->parts[k].value);
	trace->depth--;
	return ret;
}

/* One output, from its own index on. */
static int trace_output(struct trace *trace, const struct function_output *output)
{
	const struct function_tensor *tensor = &trace->function->tensors[output->tensor];
	struct accel_expression *indices[ACCEL_MAX_DIMS];
	const char *name;
	uint32_t k;
	int ret = 0;

	trace->num_axes = tensor->rank;
	for (k = 0; k < tensor->rank; k++) {
		bool is_named = tensor->kind == FUNCTION_VALUE || tensor->kind == FUNCTION_PARTS;

		if (is_named)
			strcpy(trace->axes[k].name, tensor->axes[k].name);
		else
			snprintf(trace->axes[k].name, sizeof(trace->axes[k].name), "i%u", k);
		trace->axes[k].extent = tensor->shape[k];
		name = trace->axes[k].name;
		indices[k] = expression_variable(name, strlen(name));
		if (!indices[k]) {
			ret = -ENOMEM;
			break;
		}
	}
	function_bounds(trace->axes, trace->num_axes, trace->variables, &trace->bounds);
	if (output->fills_padding && output->layout->base->placement.num_elements >
					     output->layout->num_elements)
		trace->map_class |= ACCEL_CLASS_FILLING;
	if (!ret)
		ret = trace_tensor(trace, output->tensor, indices);
	while (k--)
		expression_unref(indices[k]);
	return ret;
}

int classify(const struct accel_function *function, struct accel_plan *plan,
	     struct accel_error *error)
{
	struct trace trace = { .function = function };
	uint32_t is_identity = plan->info.map_class & ACCEL_CLASS_IDENTITY;
	int ret = 0;

	for (uint32_t k = 0; !ret && k < function->num_outputs; k++)
		ret = trace_output(&trace, &function->outputs[k]);
	if (trace.num_loads != 1 || function->num_outputs != 1) {
		free(trace.map);
		trace.map = NULL;
	}
	plan->map = trace.map;
	if (ret)
		return expression_error(error, ret, "plan");
	if (!trace.map_class && !is_identity && !trace.is_unsure)
		trace.map_class = ACCEL_CLASS_BIJECTIVE;
	plan->info.map_class = trace.map_class | is_identity;
	return 0;
}
