// SPDX-License-Identifier: MIT
/*
 * Passes become jobs: their values are built, taken apart where they do not fit one job, and
 * lowered.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "lower/address.h"
#include "lower/pass.h"
#include "tensor/tensor.h"

void pass_release(struct pass *pass)
{
	for (uint32_t k = 0; k < LOWER_MAX_AXES; k++)
		expression_unref(pass->indices[k]);
	expression_unref(pass->condition);
	free(pass);
}

int schedule_no_memory(struct schedule *schedule)
{
	return accel_error_set(schedule->error, -ENOMEM, "plan: out of memory");
}

/* Nests ------------------------------------------------------------------------------------ */

/* A tensor that a value loads and that is not in memory; FUNCTION_NO_TENSOR: none is left. */
static uint32_t find_fused(const struct schedule *schedule, const struct accel_value *value)
{
	uint32_t tensor = FUNCTION_NO_TENSOR;

	for (unsigned int k = 0; k < value_num_operands(value); k++) {
		tensor = find_fused(schedule, value_operand(value, k));
		if (tensor != FUNCTION_NO_TENSOR)
			return tensor;
	}
	if (value->kind != VALUE_LOAD)
		return FUNCTION_NO_TENSOR;
	tensor = function_find(schedule->function, value->load.tensor);
	if (!schedule->states[tensor].is_stored)
		return tensor;
	return value->load.index ? find_fused(schedule, value->load.index) : FUNCTION_NO_TENSOR;
}

/* The tensor in rows, from which it is copied to where it is asked for: unless it is in rows. */
static int store_apart(struct build *build, int ret)
{
	struct tensor_state *state = &build->schedule->states[build->tensor];

	if (state->is_apart ||
	    build->schedule->function->tensors[build->tensor].kind == FUNCTION_INPUT)
		return ret;
	state->is_apart = true;
	state->reason = "in the layout that is asked for, it is beyond the limits of a job";
	return BUILD_AGAIN;
}

/* The same of all that the tensor is defined from. */
static uint32_t find_fused_below(const struct build *build)
{
	const struct schedule *schedule = build->schedule;
	const struct function_tensor *tensor = &schedule->function->tensors[build->tensor];
	uint32_t fused = FUNCTION_NO_TENSOR;

	for (uint32_t k = 0; fused == FUNCTION_NO_TENSOR && k < tensor->num_parts; k++)
		fused = find_fused(schedule, tensor->parts[k].value);
	return fused;
}

/* What no jobs can do in one pass may be done in two. */
static int unfuse(struct build *build, int ret)
{
	struct schedule *schedule = build->schedule;
	uint32_t fused = find_fused_below(build);

	if (fused == FUNCTION_NO_TENSOR)
		return store_apart(build, ret);
	schedule->states[fused].reason = "with what uses it, it is beyond the limits of a job";
	return BUILD_AGAIN;
}

static int lower(struct build *build)
{
	struct schedule *schedule = build->schedule;
	int ret;

	build->nest.keeps_order = schedule->options.keeps_order;
	build->nest.is_divisible = find_fused_below(build) != FUNCTION_NO_TENSOR;
	ret = lower_nest(&build->nest, schedule->plan, schedule->error);
	lower_nest_release(&build->nest);
	return ret == -ENOTSUP || ret == -E2BIG ? unfuse(build, ret) : ret;
}

/* The axes that the program's sources vary along, with the strides of a temporary over them. */
static int set_cut_axes(struct build *build, const struct graph_program *program,
			enum accel_dtype dtype, struct lower_operand *temporary)
{
	struct lower_nest *nest = &build->nest;
	int64_t stride = (int64_t)accel_dtype_size(dtype);
	bool overflows = false;
	int ret = 0;

	nest->num_axes = 0;
	for (uint32_t k = 0; k < build->num_axes; k++) {
		bool is_used = false;

		for (uint32_t s = 0; s < program->num_sources; s++)
			is_used |= operand_mentions(&build->graph.sources[program->sources[s]],
						    build->axes[k].name);
		if (is_used)
			nest->axes[nest->num_axes++] = build->axes[k];
	}
	temporary->dtype = dtype;
	for (uint32_t k = nest->num_axes; !ret && k--;) {
		const char *name = nest->axes[k].name;

		ret = address_add(&temporary->address, expression_variable(name, strlen(name)),
				  stride);
		overflows |= __builtin_mul_overflow(stride, nest->axes[k].extent, &stride);
	}
	if (overflows)
		ret = -EOVERFLOW;
	if (ret)
		return expression_error(build->schedule->error, ret, "temporary");
	return plan_add_temporary(build->schedule->plan, (uint64_t)stride, &temporary->slot,
				  build->schedule->error);
}

/* Computes a node in a pass of its own, to a temporary, which takes its place. */
static int cut(struct build *build, uint32_t node)
{
	struct schedule *schedule = build->schedule;
	struct lower_operand temporary = { 0 };
	struct graph_program program;
	int ret;

	ret = graph_program(&build->graph, node, &program);
	if (ret)
		return schedule_no_memory(schedule);
	memset(&build->nest, 0, sizeof(build->nest));
	ret = set_cut_axes(build, &program, build->graph.nodes[node].dtype, &temporary);
	if (ret)
		goto err_release;
	build->nest.operands[0] = temporary;
	address_copy(&build->nest.operands[0].address, &temporary.address);
	graph_fill_nest(&build->graph, &program, &build->nest);
	ret = lower(build);
	if (ret)
		goto err_release;
	schedule->passes++;
	return graph_replace(&build->graph, node, &temporary) ? schedule_no_memory(schedule) : 0;
err_release:
	operand_release(&temporary);
	return ret;
}

/* The program of a node, after cutting what does not fit. */
static int fit(struct build *build, uint32_t root, struct graph_program *program)
{
	struct schedule *schedule = build->schedule;
	const char *limit;
	uint32_t node;
	int ret;

	for (;;) {
		if (graph_program(&build->graph, root, program))
			return schedule_no_memory(schedule);
		if (!program->limit)
			return 0;
		if (graph_find_cut(&build->graph, root, &node, &limit))
			return schedule_no_memory(schedule);
		ret = plan_add_note(schedule->plan, schedule->error,
				    "a part of %s is computed in a pass of its own: a job has no "
				    "more %s",
				    schedule->function->tensors[build->tensor].name, limit);
		if (!ret)
			ret = cut(build, node);
		if (ret)
			return ret;
	}
}

/* Whether the output is an input, element by element at the same place. */
static bool is_identity(const struct build *build, const struct pass *pass, uint32_t root,
		     const struct lower_operand *destination, uint32_t *input)
{
	const struct graph_node *node = &build->graph.nodes[root];
	const struct accel_plan *plan = build->schedule->plan;
	const struct lower_operand *source;
	struct lower_address address;

	if (node->kind != NODE_SOURCE || pass->is_physical ||
	    pass->slot >= plan->info.num_inputs + plan->info.num_outputs)
		return false;
	source = &build->graph.sources[node->source];
	if (source->slot >= plan->info.num_inputs || source->num_conditions ||
	    source->is_indirect || build->choices.count)
		return false;
	address = source->address;
	address.offset = destination->address.offset;
	*input = source->slot;
	return accel_tensor_num_elements(plan->slots[source->slot].tensor) ==
		       accel_tensor_num_elements(plan->slots[pass->slot].tensor) &&
	       address_equal(&address, &destination->address);
}

/* Where the nest stores. */
static int set_destination(struct build *build, const struct pass *pass,
			   struct lower_operand *destination)
{
	const struct function_tensor *tensor =
		&build->schedule->function->tensors[pass->tensor];
	struct context context = { 0 };
	int ret = 0;

	if (pass->is_physical) {
		destination->slot = pass->slot;
		destination->end = pass->layout->base->placement.num_elements *
				   (int64_t)accel_dtype_size(pass->layout->dtype);
		for (uint32_t k = 0; !ret && k < pass->num_axes; k++) {
			const char *name = pass->axes[k].name;

			ret = address_add(&destination->address,
					  expression_variable(name, strlen(name)),
					  pass->strides[k]);
		}
	} else if (pass->part && tensor->kind == FUNCTION_PUSH) {
		if (tensor->index)
			ret = build_index(build, pass->tensor, tensor->index, pass->indices,
					  &context);
		if (!ret)
			ret = build_target(build, pass->slot, pass->layout, tensor->indices,
					   &context, destination);
		context_release(&context);
	} else {
		ret = build_target(build, pass->slot, pass->layout, pass->indices, &context,
				   destination);
	}
	destination->dtype = tensor->dtype;
	destination->num_conditions = build->target.count;
	memcpy(destination->conditions, build->target.list,
	       build->target.count * sizeof(destination->conditions[0]));
	build->target.count = 0;
	return ret;
}

/* A graph becomes a nest, and that jobs. */
static int emit(struct build *build, const struct pass *pass, uint32_t root)
{
	struct schedule *schedule = build->schedule;
	struct lower_operand destination = { 0 };
	struct graph_program program;
	uint32_t input;
	int ret;

	ret = set_destination(build, pass, &destination);
	if (!ret && is_identity(build, pass, root, &destination, &input)) {
		schedule->plan->info.map_class |= ACCEL_CLASS_IDENTITY;
		if (schedule->options.may_alias) {
			schedule->plan->slots[pass->slot].alias = input;
			operand_release(&destination);
			return 0;
		}
	}
	if (!ret)
		ret = fit(build, root, &program);
	if (ret) {
		operand_release(&destination);
		return ret;
	}
	memset(&build->nest, 0, sizeof(build->nest));
	build->nest.num_axes = build->num_axes;
	memcpy(build->nest.axes, build->axes, build->num_axes * sizeof(build->axes[0]));
	build->nest.operands[0] = destination;
	graph_fill_nest(&build->graph, &program, &build->nest);
	return lower(build);
}

/* The value at a point of a pass. */
static int build_root(struct build *build, const struct pass *pass, uint32_t *root)
{
	const struct function_tensor *tensor =
		&build->schedule->function->tensors[pass->tensor];
	struct context context = { .is_exact = true };
	int ret = 0;

	if (pass->is_fill)
		return build_constant(build, tensor->dtype, pass->padding, root);
	memcpy(context.padding, pass->padding, sizeof(context.padding));
	if (pass->condition)
		ret = conditions_add_truth(&context.conditions, pass->condition, true,
					   &build->bounds);
	if (ret == CONDITION_NEVER) {
		ret = BUILD_EMPTY;
	} else if (ret) {
		ret = expression_error(build->schedule->error, ret < 0 ? ret : -ENOTSUP,
				       "padding");
	} else if (pass->part) {
		ret = build_value(build, pass->tensor, pass->part->value, pass->indices, &context,
				  root);
	} else {
		ret = build_tensor(build, pass->tensor, pass->indices, &context, pass->is_value,
				   root);
	}
	context_release(&context);
	return ret;
}

/* All nests of a pass: one, or one for each piece of the box. */
int pass_run(struct build *build, const struct pass *pass)
{
	uint32_t root;
	int ret = 0;

	for (uint32_t k = 0; k < pass->num_axes; k++)
		if (!pass->axes[k].extent)
			return 0;
	build->tensor = pass->tensor;
	build->choices.count = 0;
	build->choices.next = 0;
	do {
		build_start(build, pass->axes, pass->num_axes);
		ret = build_root(build, pass, &root);
		if (!ret)
			ret = emit(build, pass, root);
	} while ((!ret || ret == BUILD_EMPTY) && build_next(build));
	/* What failed deep down has not said so yet. */
	if (ret < 0 && build->schedule->error->code != ret)
		expression_error(build->schedule->error, ret,
				 build->schedule->function->tensors[pass->tensor].name);
	return ret == BUILD_EMPTY ? 0 : ret;
}
