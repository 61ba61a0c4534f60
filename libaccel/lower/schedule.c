// SPDX-License-Identifier: MIT
/*
 * Plans of functions: which tensors are in memory, and in which order they are computed. What is
 * not in memory is put in place of what loads it, in build.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "lower/classify.h"
#include "lower/pass.h"
#include "tensor/tensor.h"

/* Which tensors are in memory ---------------------------------------------------------------- */

static void count_uses(struct schedule *schedule, const struct accel_value *value)
{
	struct tensor_state *state;

	for (unsigned int k = 0; k < value_num_operands(value); k++)
		count_uses(schedule, value_operand(value, k));
	if (value->kind != VALUE_LOAD)
		return;
	state = &schedule->states[function_find(schedule->function, value->load.tensor)];
	state->is_reached = true;
	state->num_uses++;
	if (value->load.index)
		count_uses(schedule, value->load.index);
}

/* A load costs nothing more for being made twice. */
static bool is_view(const struct function_tensor *tensor)
{
	return tensor->kind == FUNCTION_VALUE && tensor->parts[0].value->kind <= VALUE_CONSTANT;
}

static bool is_stored(const struct schedule *schedule, uint32_t tensor)
{
	const struct function_tensor *definition = &schedule->function->tensors[tensor];
	const struct tensor_state *state = &schedule->states[tensor];

	return definition->kind == FUNCTION_INPUT || definition->kind == FUNCTION_PUSH ||
	       state->reason || schedule->options.is_unfused ||
	       (state->num_uses > 1 && !is_view(definition));
}

/* From the outputs back: what is needed, how often, and what of it is in memory. */
static void decide(struct schedule *schedule)
{
	const struct accel_function *function = schedule->function;

	for (uint32_t k = 0; k < function->num_outputs; k++) {
		schedule->states[function->outputs[k].tensor].is_reached = true;
		schedule->states[function->outputs[k].tensor].num_uses++;
	}
	for (uint32_t k = function->num_tensors; k--;) {
		const struct function_tensor *tensor = &function->tensors[k];

		if (!schedule->states[k].is_reached)
			continue;
		schedule->states[k].is_stored = is_stored(schedule, k);
		for (uint32_t j = 0; j < tensor->num_parts; j++)
			count_uses(schedule, tensor->parts[j].value);
		if (tensor->index)
			count_uses(schedule, tensor->index);
		schedule->plan->info.passes_unfused += tensor->kind != FUNCTION_INPUT;
	}
}

/* A temporary for a tensor, row-major. */
static int add_temporary(struct schedule *schedule, const struct function_tensor *tensor,
			 uint32_t *slot, struct accel_tensor **layout)
{
	uint64_t size;
	int ret;

	ret = tensor_describe(tensor->dtype, tensor->rank, tensor->shape, NULL, layout,
			      schedule->error);
	if (ret)
		return ret;
	size = (uint64_t)accel_tensor_num_elements(*layout) * accel_dtype_size(tensor->dtype);
	return plan_add_temporary(schedule->plan, size ? size : 1, slot, schedule->error);
}

/* Inputs and outputs have slots, in this order; what else is in memory has temporaries. */
static int add_slots(struct schedule *schedule)
{
	const struct accel_function *function = schedule->function;
	uint32_t slot;
	int ret = 0;

	for (uint32_t k = 0; !ret && k < function->num_tensors; k++) {
		const struct function_tensor *tensor = &function->tensors[k];
		struct tensor_state *state = &schedule->states[k];

		if (tensor->kind != FUNCTION_INPUT)
			continue;
		state->layout = accel_tensor_ref(tensor->layout);
		ret = plan_add_tensor(schedule->plan, ACCEL_SLOT_INPUT, tensor->name,
				      tensor->layout, &state->slot, schedule->error);
	}
	for (uint32_t k = 0; !ret && k < function->num_outputs; k++) {
		const struct function_output *output = &function->outputs[k];
		struct tensor_state *state = &schedule->states[output->tensor];

		ret = plan_add_tensor(schedule->plan, ACCEL_SLOT_OUTPUT,
				      function->tensors[output->tensor].name, output->layout, &slot,
				      schedule->error);
		if (ret || !state->is_stored || state->layout || state->is_apart)
			continue;
		state->layout = accel_tensor_ref(output->layout);
		state->slot = slot;
	}
	for (uint32_t k = 0; !ret && k < function->num_tensors; k++) {
		struct tensor_state *state = &schedule->states[k];

		if (state->is_stored && !state->layout)
			ret = add_temporary(schedule, &function->tensors[k], &state->slot,
					    &state->layout);
		if (!ret && state->needs_rows)
			ret = add_temporary(schedule, &function->tensors[k], &state->rows_slot,
					    &state->rows);
	}
	return ret;
}

/* Plans ------------------------------------------------------------------------------------ */

/* Why tensors are in memory that could be put in place. */
static int add_notes(struct schedule *schedule)
{
	int ret = 0;

	for (uint32_t k = 0; !ret && k < schedule->function->num_tensors; k++) {
		const char *name = schedule->function->tensors[k].name;

		if (schedule->states[k].reason)
			ret = plan_add_note(schedule->plan, schedule->error,
					    "%s is computed in a pass of its own: %s", name,
					    schedule->states[k].reason);
		if (!ret && schedule->states[k].needs_rows)
			ret = plan_add_note(schedule->plan, schedule->error,
					    "%s is copied to row-major order first: loaded indices "
					    "do not go through its layout", name);
		if (!ret && schedule->states[k].is_apart && !schedule->states[k].reason)
			ret = plan_add_note(schedule->plan, schedule->error,
					    "%s is computed in row-major order first: loaded "
					    "indices do not go through its layout", name);
	}
	return ret;
}

static void release_layouts(struct schedule *schedule)
{
	for (uint32_t k = 0; k < schedule->function->num_tensors; k++) {
		accel_tensor_unref(schedule->states[k].layout);
		accel_tensor_unref(schedule->states[k].rows);
	}
}

/* Forgets all but what was found out about tensors that cannot be put in place. */
static void forget(struct schedule *schedule)
{
	release_layouts(schedule);
	for (uint32_t k = 0; k < schedule->function->num_tensors; k++) {
		struct tensor_state *state = &schedule->states[k];

		*state = (struct tensor_state){
			.reason = state->reason,
			.needs_rows = state->needs_rows,
			.is_apart = state->is_apart,
		};
	}
}

/* One attempt: BUILD_AGAIN if a tensor turned out to be needed in memory. */
static int attempt(struct schedule *schedule, struct build *build)
{
	int ret;

	forget(schedule);
	*schedule->error = (struct accel_error){ 0 };
	schedule->passes = 0;
	decide(schedule);
	ret = add_slots(schedule);
	if (!ret)
		ret = add_notes(schedule);
	for (uint32_t k = 0; !ret && k < schedule->function->num_tensors; k++)
		if (schedule->states[k].is_reached)
			ret = store_tensor(build, k);
	return ret;
}

/* The definitions that are needed, a line each. */
static int write_chain(struct schedule *schedule)
{
	const struct accel_function *function = schedule->function;
	size_t length = 1;
	char *at;

	for (uint32_t k = 0; k < function->num_tensors; k++)
		if (schedule->states[k].is_reached && function->tensors[k].text)
			length += strlen(function->tensors[k].text) + 1;
	at = malloc(length);
	schedule->plan->chain = at;
	if (!at)
		return schedule_no_memory(schedule);
	*at = '\0';
	for (uint32_t k = 0; k < function->num_tensors; k++) {
		if (!schedule->states[k].is_reached || !function->tensors[k].text)
			continue;
		if (at != schedule->plan->chain)
			*at++ = '\n';
		at = stpcpy(at, function->tensors[k].text);
	}
	return 0;
}

static int make_plan(struct schedule *schedule, struct build *build)
{
	int ret;

	do {
		accel_plan_unref(schedule->plan);
		schedule->plan = plan_new();
		if (!schedule->plan)
			return schedule_no_memory(schedule);
		ret = attempt(schedule, build);
	} while (ret == BUILD_AGAIN);
	schedule->plan->info.passes = schedule->passes;
	if (!ret)
		ret = write_chain(schedule);
	return ret ? ret : classify(schedule->function, schedule->plan, schedule->error);
}

ACCEL_API int accel_plan_create(const struct accel_function *function,
				const struct accel_plan_options *options,
				struct accel_plan **plan, struct accel_error *error)
{
	struct schedule schedule = { .function = function };
	struct accel_error failure = { 0 };
	struct build *build;
	int ret;

	*plan = NULL;
	if (options)
		schedule.options = *options;
	if (!function->num_outputs)
		return accel_error_set(error, -EINVAL,
				       "plan: nothing is asked for of the function");
	/* What an attempt fails with may be got around by the next. */
	schedule.error = &failure;
	build = calloc(1, sizeof(*build));
	schedule.states = calloc(function->num_tensors, sizeof(*schedule.states));
	if (build && schedule.states) {
		build->schedule = &schedule;
		ret = make_plan(&schedule, build);
		build_release(build);
		release_layouts(&schedule);
	} else {
		ret = schedule_no_memory(&schedule);
	}
	free(build);
	free(schedule.states);
	if (!ret) {
		*plan = schedule.plan;
		return 0;
	}
	accel_plan_unref(schedule.plan);
	if (error)
		*error = failure;
	return ret;
}
