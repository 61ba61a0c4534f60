// SPDX-License-Identifier: MIT
/*
 * What it takes to have a tensor in memory: passes over its own index, or that of memory where a
 * layout has padding; one for each part; and what is filled before.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "layout/map.h"
#include "lower/pass.h"
#include "tensor/tensor.h"

/* A pass over the axes of a definition, or with NULL over those of the tensor. */
static int new_pass(struct schedule *schedule, uint32_t number, uint32_t slot,
		    const struct accel_tensor *layout, const struct lower_axis *axes,
		    struct pass **result)
{
	const struct function_tensor *tensor = &schedule->function->tensors[number];
	struct pass *pass = calloc(1, sizeof(*pass));

	*result = pass;
	if (!pass)
		return schedule_no_memory(schedule);
	pass->tensor = number;
	pass->slot = slot;
	pass->layout = layout;
	pass->num_axes = axes ? tensor->num_axes : tensor->rank;
	for (uint32_t k = 0; k < pass->num_axes; k++) {
		struct lower_axis *axis = &pass->axes[k];

		if (axes) {
			*axis = axes[k];
		} else {
			snprintf(axis->name, sizeof(axis->name), "i%u", k);
			axis->extent = tensor->shape[k];
		}
		pass->indices[k] = expression_variable(axis->name, strlen(axis->name));
		if (!pass->indices[k]) {
			pass_release(pass);
			return schedule_no_memory(schedule);
		}
	}
	return 0;
}

/* Each part over its own range. */
static int run_parts(struct build *build, struct pass *pass)
{
	const struct function_tensor *tensor =
		&build->schedule->function->tensors[pass->tensor];
	struct accel_expression *axis = pass->indices[tensor->axis];
	int ret = 0;

	for (uint32_t k = 0; !ret && k < tensor->num_parts; k++) {
		pass->part = &tensor->parts[k];
		pass->axes[tensor->axis].extent = pass->part->size;
		pass->indices[tensor->axis] = expression_add(
			expression_ref(axis), expression_constant(pass->part->start));
		if (!pass->indices[tensor->axis])
			ret = schedule_no_memory(build->schedule);
		else
			ret = pass_run(build, pass);
		expression_unref(pass->indices[tensor->axis]);
	}
	pass->indices[tensor->axis] = axis;
	return ret;
}

/* Fills a tensor with an element: all of it, or with is_memory all that it is laid out in. */
static int run_fill(struct build *build, uint32_t number, uint32_t slot,
		    const struct accel_tensor *layout, bool is_memory, const uint64_t padding[2])
{
	struct pass *pass;
	int ret;

	ret = new_pass(build->schedule, number, slot, layout, NULL, &pass);
	if (ret)
		return ret;
	pass->is_fill = true;
	memcpy(pass->padding, padding, sizeof(pass->padding));
	if (is_memory) {
		pass->is_physical = true;
		pass->num_axes = 1;
		strcpy(pass->axes[0].name, "element");
		pass->axes[0].extent = layout->base->placement.num_elements;
		pass->strides[0] = (int64_t)accel_dtype_size(layout->dtype);
	}
	ret = pass_run(build, pass);
	pass_release(pass);
	return ret;
}

/* Memory of an output that no element is in is filled, for it is asked for. */
static bool has_gaps(const struct function_output *output)
{
	const struct accel_tensor *layout = output->layout;

	return output->fills_padding && layout->num_elements &&
	       layout->base->placement.num_elements > layout->num_elements;
}

/* Whether the physical axes are all of the memory, in its order. */
static bool is_dense(const struct accel_layout_description *description, int64_t size)
{
	int64_t stride = 1;

	for (uint32_t k = description->physical_rank; k--;) {
		if (description->strides[k] != stride && description->physical_shape[k] != 1)
			return false;
		stride *= description->physical_shape[k];
	}
	return !description->offset && stride * size == description->bytes;
}

/* The points that elements go to: those of the map's own extents that are no padding. */
static struct accel_expression *reached(const struct accel_layout_description *description,
					const struct accel_map_analysis *analysis)
{
	struct accel_expression *all = analysis->padding ?
		condition_negate(expression_ref(analysis->padding)) : expression_constant(1);

	for (uint32_t k = 0; all && k < description->physical_rank; k++) {
		const struct accel_expression *extent = analysis->output_shape[k];
		const char *name = analysis->inverse->inputs[k].name;
		struct accel_expression *limit;

		if (!extent || !expression_is_constant(extent) ||
		    extent->constant >= description->physical_shape[k])
			continue;
		limit = expression_binary(ACCEL_EXPRESSION_LESS,
					  expression_variable(name, strlen(name)),
					  expression_constant(extent->constant));
		all = expression_binary(ACCEL_EXPRESSION_AND, all, limit);
	}
	return all;
}

/* Makes the pass one over the physical axes. */
static int set_physical(struct schedule *schedule,
			const struct accel_layout_description *description,
			const struct accel_map_analysis *analysis, struct pass *pass)
{
	int64_t size = (int64_t)accel_dtype_size(pass->layout->dtype);

	pass->condition = reached(description, analysis);
	if (!pass->condition)
		return expression_error(schedule->error, -errno, "padding");
	pass->is_physical = true;
	pass->num_axes = description->physical_rank;
	for (uint32_t k = 0; k < pass->num_axes; k++) {
		strcpy(pass->axes[k].name, analysis->inverse->inputs[k].name);
		pass->axes[k].extent = description->physical_shape[k];
		pass->strides[k] = description->strides[k] * size;
	}
	for (uint32_t k = 0; k < analysis->inverse->num_outputs; k++) {
		expression_unref(pass->indices[k]);
		pass->indices[k] = expression_ref(analysis->inverse->outputs[k]);
	}
	return 0;
}

/* In the order of memory, if the layout has an inverse and is all of the memory. */
static int make_physical(struct schedule *schedule, const struct function_output *output,
			 struct pass *pass)
{
	const struct accel_tensor *layout = output->layout;
	struct accel_layout_description description;
	struct accel_map_analysis analysis;
	struct accel_map *map;
	int64_t size = (int64_t)accel_dtype_size(layout->dtype);
	int ret;

	ret = accel_layout_describe(layout->layout, layout->dtype, layout->rank, layout->shape,
				    &description, schedule->error);
	if (!ret)
		ret = accel_layout_map(layout->layout, layout->dtype, layout->rank, layout->shape,
				       &map, schedule->error);
	if (ret)
		return ret;
	ret = accel_map_analyze(map, layout->rank, layout->shape, &analysis, schedule->error);
	accel_map_unref(map);
	if (ret)
		return ret;
	if (analysis.inverse && is_dense(&description, size))
		ret = set_physical(schedule, &description, &analysis, pass);
	accel_map_analysis_release(&analysis);
	return ret;
}

/* Whether the output is an input, and nothing was done. */
static bool is_left(const struct accel_plan *plan, uint32_t slot)
{
	return plan->slots[slot].kind == ACCEL_SLOT_OUTPUT &&
	       plan->slots[slot].alias != PLAN_NO_ALIAS;
}

/* What is before the elements: padding of the layout, and what a push leaves. */
static int run_paddings(struct build *build, struct pass *pass,
			const struct function_output *output, bool is_push)
{
	const struct function_tensor *tensor =
		&build->schedule->function->tensors[pass->tensor];
	int ret = 0;

	if (output && has_gaps(output)) {
		memcpy(pass->padding, output->padding, sizeof(pass->padding));
		if (!is_push && pass->layout->layout)
			ret = make_physical(build->schedule, output, pass);
		if (!ret && !pass->is_physical)
			ret = run_fill(build, pass->tensor, pass->slot, pass->layout, true,
				       output->padding);
	}
	if (!ret && is_push && tensor->leaves_gaps)
		ret = run_fill(build, pass->tensor, pass->slot, pass->layout, false,
			       tensor->padding);
	return ret;
}

/* A tensor, with is_value from its definition, to memory: that of an output, or with NULL not. */
static int run_tensor(struct build *build, uint32_t number, bool is_value, uint32_t slot,
		      const struct accel_tensor *layout, const struct function_output *output)
{
	struct schedule *schedule = build->schedule;
	const struct function_tensor *tensor = &schedule->function->tensors[number];
	bool is_push = is_value && tensor->kind == FUNCTION_PUSH;
	struct pass *pass;
	int ret;

	ret = new_pass(schedule, number, slot, layout,
		       is_push || tensor->kind == FUNCTION_VALUE ||
		       tensor->kind == FUNCTION_PARTS ? tensor->axes : NULL, &pass);
	if (ret)
		return ret;
	pass->is_value = is_value;
	ret = run_paddings(build, pass, output, is_push);
	if (!ret && is_push)
		pass->part = tensor->parts;
	if (!ret)
		ret = is_value && tensor->kind == FUNCTION_PARTS && !pass->is_physical ?
		      run_parts(build, pass) : pass_run(build, pass);
	schedule->passes += !is_left(schedule->plan, slot);
	pass_release(pass);
	return ret;
}

/* A tensor to where it is in memory, and to the outputs that it is. */
int store_tensor(struct build *build, uint32_t number)
{
	struct schedule *schedule = build->schedule;
	const struct accel_function *function = schedule->function;
	const struct tensor_state *state = &schedule->states[number];
	bool is_input = function->tensors[number].kind == FUNCTION_INPUT;
	const struct function_output *home = NULL;
	int ret = 0;

	if (state->is_stored && !is_input) {
		if (state->slot < schedule->plan->info.num_inputs + function->num_outputs)
			home = &function->outputs[state->slot - schedule->plan->info.num_inputs];
		ret = run_tensor(build, number, true, state->slot, state->layout, home);
	}
	if (!ret && state->rows)
		ret = run_tensor(build, number, false, state->rows_slot, state->rows, NULL);
	for (uint32_t k = 0; !ret && k < function->num_outputs; k++) {
		const struct function_output *output = &function->outputs[k];

		if (output->tensor != number || output == home)
			continue;
		ret = run_tensor(build, number, !state->is_stored,
				 schedule->plan->info.num_inputs + k, output->layout, output);
	}
	return ret;
}
