// SPDX-License-Identifier: MIT
/*
 * Values put in place of loads. Where a load has a condition, what is beyond it is a padding: as
 * long as there is one padding it is the fill of a source; of several, and where computed values
 * are padded, a select takes one by a source that is 1 where the condition holds; what
 * is no conjunction takes the box apart.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "error.h"
#include "layout/interval.h"
#include "lower/address.h"
#include "lower/build.h"
#include "tensor/tensor.h"

/* What the names of a definition's axes stand for. */
struct scope {
	uint32_t tensor;
	uint32_t count;
	const char *names[LOWER_MAX_AXES];
	struct accel_expression *const *replacements;
};

static int build_in_scope(struct build *build, const struct scope *scope,
			  const struct accel_value *value, struct context *context,
			  uint32_t *node);

/* Errors and choices ----------------------------------------------------------------------- */

static const struct function_tensor *tensor_of(const struct build *build, uint32_t tensor)
{
	return &build->schedule->function->tensors[tensor];
}

static int fail(struct build *build, int code)
{
	return expression_error(build->schedule->error, code,
				tensor_of(build, build->tensor)->name);
}

/* What cannot be put in place is to be in memory: start over with that. */
static int store(struct build *build, uint32_t tensor, const char *reason)
{
	struct tensor_state *state = &build->schedule->states[tensor];

	if (state->is_stored || tensor == build->tensor)
		return accel_error_set(build->schedule->error, -ENOTSUP, "%s: %s",
				       tensor_of(build, build->tensor)->name, reason);
	state->reason = reason;
	return BUILD_AGAIN;
}

static int store_rows(struct build *build, uint32_t tensor)
{
	build->schedule->states[tensor].needs_rows = true;
	return BUILD_AGAIN;
}

int build_choose(struct build *build, uint32_t options, uint32_t *taken)
{
	struct choices *choices = &build->choices;

	if (!options)
		return BUILD_EMPTY;
	if (choices->next == choices->count) {
		if (choices->count == BUILD_MAX_CHOICES)
			return -E2BIG;
		choices->options[choices->count] = (uint8_t)options;
		choices->taken[choices->count++] = 0;
	}
	*taken = choices->taken[choices->next++];
	return 0;
}

bool build_next(struct build *build)
{
	struct choices *choices = &build->choices;

	choices->next = 0;
	while (choices->count) {
		if (++choices->taken[choices->count - 1] < choices->options[choices->count - 1])
			return true;
		choices->count--;
	}
	return false;
}

void build_start(struct build *build, const struct lower_axis *axes, uint32_t num_axes)
{
	build_release(build);
	build->num_axes = num_axes;
	if (build->axes != axes)
		memcpy(build->axes, axes, num_axes * sizeof(axes[0]));
	function_bounds(build->axes, num_axes, build->variables, &build->bounds);
	build->variables[num_axes] = (struct variable_bounds){ .name = VALUE_INDEX };
	build->bounds.count = num_axes + 1;
	build->depth = 0;
}

void build_release(struct build *build)
{
	graph_release(&build->graph);
	conditions_release(&build->target);
}

/* Contexts --------------------------------------------------------------------------------- */

void context_release(struct context *context)
{
	conditions_release(&context->conditions);
	address_release(&context->index_address);
}

static void context_copy(struct context *to, const struct context *from)
{
	conditions_copy(&to->conditions, &from->conditions);
	to->is_exact = from->is_exact;
	memcpy(to->padding, from->padding, sizeof(to->padding));
	to->is_indirect = from->is_indirect;
	to->index_target = from->index_target;
	to->index_slot = from->index_slot;
	to->index_dtype = from->index_dtype;
	to->index_lowest = from->index_lowest;
	to->index_end = from->index_end;
	address_copy(&to->index_address, &from->index_address);
	to->index_limit = from->index_limit;
}

/* What is asked for elsewhere than where the conditions hold. */
static bool has_padding(const struct context *context)
{
	return context->is_exact && context->conditions.count;
}

/* The bounds of axes and, in a gather, of the index. */
static const struct bounds *bounds_of(struct build *build, const struct context *context)
{
	int64_t max = 0;

	if (context->is_indirect)
		max = context->index_limit ? (int64_t)context->index_limit - 1 : INT64_MAX;
	build->variables[build->num_axes].interval = (struct interval){ .min = 0, .max = max };
	return &build->bounds;
}

/* Constants and masks ------------------------------------------------------------------------ */

/* A source that loads an element of a table, and beyond the conditions, which it takes, a fill. */
static int add_table_source(struct build *build, const void *table, size_t size,
			    enum accel_dtype dtype, struct conditions *conditions,
			    const uint64_t fill[2], uint32_t *node)
{
	struct lower_operand operand = { .dtype = dtype };
	int ret;

	operand.num_conditions = conditions->count;
	memcpy(operand.conditions, conditions->list,
	       conditions->count * sizeof(operand.conditions[0]));
	memcpy(operand.fill, fill, sizeof(operand.fill));
	ret = plan_add_table(build->schedule->plan, table, size, &operand.slot,
			     build->schedule->error);
	if (ret) {
		operand_release(&operand);
		return ret;
	}
	return graph_add_source(&build->graph, &operand, node);
}

/* A raw element is no constant of a program: it is loaded. */
int build_constant(struct build *build, enum accel_dtype dtype, const uint64_t bits[2],
		   uint32_t *node)
{
	struct graph_node constant = { .kind = NODE_CONSTANT, .dtype = dtype, .bits = bits[0] };
	struct conditions never = { .count = 1 };

	if (dtype != ACCEL_DTYPE_RAW128) {
		constant.dtype = graph_computed_dtype(dtype);
		return graph_add(&build->graph, &constant, node);
	}
	never.list[0].value = expression_constant(-1);
	never.list[0].limit = 1;
	if (!never.list[0].value)
		return -ENOMEM;
	return add_table_source(build, bits, 2 * sizeof(bits[0]), dtype, &never, bits, node);
}

/* 1 where the conditions hold, else 0. */
static int add_mask(struct build *build, const struct conditions *conditions, uint32_t *node)
{
	static const uint8_t one = 1;
	static const uint64_t zero[2];
	struct conditions copy;

	conditions_copy(&copy, conditions);
	return add_table_source(build, &one, sizeof(one), ACCEL_DTYPE_U8, &copy, zero, node);
}

/* a where the conditions hold, else b, in place of a. Not of raw128. */
static int add_select(struct build *build, const struct conditions *conditions, uint32_t *a,
		      uint32_t b)
{
	struct graph_node select = { .kind = NODE_OPERATE, .opcode = ACCEL_OP_SELECT };
	int ret = add_mask(build, conditions, &select.operands[0]);

	if (ret)
		return ret;
	select.dtype = graph_computed_dtype(build->graph.nodes[*a].dtype);
	select.computes = select.dtype;
	select.operands[1] = *a;
	select.operands[2] = b;
	return graph_add(&build->graph, &select, a);
}

/* The node where the context's conditions hold, its padding elsewhere. */
static int pad(struct build *build, const struct context *context, enum accel_dtype dtype,
	       uint32_t *node)
{
	uint32_t padding;
	int ret;

	if (!has_padding(context))
		return 0;
	ret = build_constant(build, dtype, context->padding, &padding);
	if (ret || padding == *node)
		return ret;
	return add_select(build, &context->conditions, node, padding);
}

/* Boxes taken apart ------------------------------------------------------------------------ */

/* Chooses a piece, to which the nest is confined; *holds is what is true there. */
static int choose_piece(struct build *build, const struct scope *scope,
			struct condition_pieces *pieces, int ret, bool *holds)
{
	uint32_t taken;

	if (!ret)
		ret = build_choose(build, pieces->count, &taken);
	if (!ret) {
		conditions_release(&build->target);
		conditions_copy(&build->target, &pieces->pieces[taken].conditions);
		*holds = pieces->pieces[taken].holds;
	}
	condition_pieces_release(pieces);
	return ret == -E2BIG ? store(build, scope->tensor,
				     "its conditions take the box apart into too many pieces") :
	       ret;
}

/* Confines the nest to where the context's conditions hold, or to where they do not. */
static int settle(struct build *build, const struct scope *scope, struct context *context,
		  bool *holds)
{
	struct condition_pieces pieces = { 0 };
	int ret;

	*holds = true;
	if (!context->conditions.count)
		return 0;
	ret = condition_pieces_add_all(&pieces, &context->conditions, &build->target,
				       &build->bounds);
	ret = choose_piece(build, scope, &pieces, ret, holds);
	if (ret || !*holds)
		return ret;
	conditions_release(&context->conditions);
	conditions_copy(&context->conditions, &build->target);
	context->is_exact = false;
	return 0;
}

/* The same of a condition, in a context that was settled. */
static int settle_condition(struct build *build, const struct scope *scope,
			    struct accel_expression *condition, struct context *context,
			    bool *holds)
{
	struct condition_pieces pieces = { 0 };
	int ret;

	ret = condition_pieces_add(&pieces, condition, &build->target, &build->bounds);
	ret = choose_piece(build, scope, &pieces, ret, holds);
	if (ret)
		return ret;
	conditions_release(&context->conditions);
	conditions_copy(&context->conditions, &build->target);
	return 0;
}

/* Substitution ----------------------------------------------------------------------------- */

static struct accel_expression *substitute(const struct scope *scope,
					   struct accel_expression *expression)
{
	if (!scope->count)
		return expression_ref(expression);
	return expression_substitute(expression, scope->count, scope->names, scope->replacements);
}

static void release_indices(struct accel_expression **indices, uint32_t count)
{
	while (count--)
		expression_unref(indices[count]);
}

/* Indices over the nest's axes. */
static int substitute_indices(struct build *build, const struct scope *scope,
			      const struct value_load *load, const struct context *context,
			      struct accel_expression **indices)
{
	const struct bounds *bounds = bounds_of(build, context);

	for (uint32_t k = 0; k < load->num_indices; k++) {
		indices[k] = substitute(scope, load->indices[k]);
		if (indices[k] && !expression_is_variable(indices[k]))
			indices[k] = expression_simplify_take(indices[k], bounds);
		if (!indices[k]) {
			release_indices(indices, k);
			return fail(build, -errno);
		}
	}
	return 0;
}

/* A condition over the nest's axes. An index that is loaded must not be in it. */
static int substitute_condition(struct build *build, const struct scope *scope,
				struct accel_expression *condition, const struct context *context,
				struct accel_expression **result)
{
	*result = substitute(scope, condition);
	if (context->is_indirect && *result)
		*result = expression_simplify_take(*result, bounds_of(build, context));
	if (!*result)
		return fail(build, -errno);
	if (!context->is_indirect || !expression_mentions(*result, VALUE_INDEX))
		return 0;
	expression_unref(*result);
	return store(build, context->index_target,
		     "a loaded index does not go through its condition");
}

/* Gathers ---------------------------------------------------------------------------------- */

/* Where the load's own index is, too, an index that was loaded before it must not be. */
static bool has_two_indices(const struct scope *scope, const struct value_load *load)
{
	for (uint32_t k = 0; k < scope->count; k++) {
		if (!expression_mentions(scope->replacements[k], VALUE_INDEX))
			continue;
		for (uint32_t j = 0; j < load->num_indices; j++)
			if (expression_mentions(load->indices[j], scope->names[k]))
				return true;
		for (uint32_t j = 0; j < load->index->load.num_indices; j++)
			if (expression_mentions(load->index->load.indices[j], scope->names[k]))
				return true;
	}
	return false;
}

/* Finds the memory from which an index is loaded, through views. */
static int resolve_index(struct build *build, const struct scope *scope,
			 const struct value_load *load, struct context *context)
{
	uint32_t tensor = function_find(build->schedule->function, load->tensor);
	const struct function_tensor *from = tensor_of(build, tensor);
	const struct tensor_state *state = &build->schedule->states[tensor];
	struct accel_expression *indices[ACCEL_MAX_DIMS];
	const struct accel_value *value;
	struct context none = { 0 };
	int64_t nothing;
	int ret;

	value = from->kind == FUNCTION_VALUE ? from->parts[0].value : NULL;
	if (!state->is_stored && (!value || value->kind != VALUE_LOAD || value->load.condition ||
				  value->load.index))
		return store(build, tensor, "indices are loaded from it");
	ret = substitute_indices(build, scope, load, &none, indices);
	if (ret)
		return ret;
	if (state->is_stored) {
		context->index_slot = state->slot;
		context->index_dtype = from->dtype;
		accel_tensor_bounds(state->layout, &context->index_lowest, &context->index_end);
		ret = address_make(state->layout, indices, &build->bounds,
				   &context->index_address, &nothing);
		if (ret)
			fail(build, ret);
	} else {
		struct scope inner = {
			.tensor = tensor, .count = from->rank, .replacements = indices,
		};

		for (uint32_t k = 0; k < from->rank; k++)
			inner.names[k] = from->axes[k].name;
		ret = resolve_index(build, &inner, &value->load, context);
	}
	release_indices(indices, load->num_indices);
	return ret;
}

/* Puts the index that indices of target are loaded with into the context. */
static int enter_index(struct build *build, const struct scope *scope,
		       const struct accel_value *index, uint32_t target,
		       struct accel_expression *const *indices, struct context *context)
{
	const struct function_tensor *definition = tensor_of(build, scope->tensor);
	const struct function_tensor *to = tensor_of(build, target);
	struct variable_bounds variables[LOWER_MAX_AXES];
	struct bounds bounds;
	int64_t limit;
	int ret;

	if (index->kind != VALUE_LOAD)
		return accel_error_set(build->schedule->error, -EINVAL,
				       "%s: an index is loaded as it is from a tensor",
				       definition->name);
	function_bounds(definition->axes, definition->num_axes, variables, &bounds);
	ret = function_index_limit(to->name, to->rank, to->shape, indices, &bounds, &limit,
				   build->schedule->error);
	if (ret)
		return ret;
	address_release(&context->index_address);
	ret = resolve_index(build, scope, &index->load, context);
	context->is_indirect = !ret;
	context->index_target = target;
	context->index_limit = limit == INT64_MAX ? 0 : (uint64_t)limit;
	return ret;
}

/* Loads ------------------------------------------------------------------------------------ */

/* An address with the context's index goes to the operand. */
static int set_address(struct build *build, const struct accel_tensor *layout,
		       struct accel_expression *const *indices, const struct context *context,
		       struct lower_operand *operand)
{
	int64_t index_stride;
	int ret;

	accel_tensor_bounds(layout, &operand->lowest, &operand->end);
	ret = address_make(layout, indices, bounds_of(build, context), &operand->address,
			   &index_stride);
	if (ret < 0)
		return fail(build, ret);
	if (ret || !index_stride)
		return ret;
	operand->is_indirect = true;
	operand->index_lowest = context->index_lowest;
	operand->index_end = context->index_end;
	operand->index_slot = context->index_slot;
	operand->index_dtype = context->index_dtype;
	address_copy(&operand->index_address, &context->index_address);
	operand->index_stride = index_stride;
	operand->index_limit = context->index_limit;
	return 0;
}

/* Whether VALUE_INDEX is only in sums in the indices: then a strided layout can do it. */
static bool is_linear(struct accel_expression *const *indices, uint32_t count)
{
	for (uint32_t k = 0; k < count; k++) {
		const struct accel_expression *index = indices[k];

		while (index->kind == ACCEL_EXPRESSION_ADD ||
		       index->kind == ACCEL_EXPRESSION_SUBTRACT ||
		       index->kind == ACCEL_EXPRESSION_MULTIPLY)
			index = index->operands[!expression_mentions(index->operands[0],
								     VALUE_INDEX)];
		if (!expression_is_variable(index) && expression_mentions(index, VALUE_INDEX))
			return false;
	}
	return true;
}

/* A tensor in memory. */
static int load_stored(struct build *build, uint32_t tensor,
		       struct accel_expression *const *indices, const struct context *context,
		       uint32_t *node)
{
	const struct tensor_state *state = &build->schedule->states[tensor];
	const struct function_tensor *from = tensor_of(build, tensor);
	bool has_rows = context->is_indirect && state->rows;
	struct lower_operand operand;
	int ret;

	memset(&operand, 0, offsetof(struct lower_operand, address));
	operand.address.num_terms = 0;
	operand.num_conditions = 0;
	memset(operand.fill, 0, sizeof(operand.fill));
	operand.is_indirect = false;
	operand.index_address.num_terms = 0;
	operand.slot = has_rows ? state->rows_slot : state->slot;
	operand.dtype = from->dtype;
	ret = set_address(build, has_rows ? state->rows : state->layout, indices, context,
			  &operand);
	if (ret == ADDRESS_IS_NOT_LINEAR)
		return is_linear(indices, from->rank) && !has_rows ?
		       store_rows(build, tensor) :
		       store(build, context->index_target,
			     "a loaded index does not go through what it is defined from");
	if (ret)
		return ret;
	operand.num_conditions = context->conditions.count;
	for (uint32_t k = 0; k < operand.num_conditions; k++) {
		operand.conditions[k].value = expression_ref(context->conditions.list[k].value);
		operand.conditions[k].limit = context->conditions.list[k].limit;
	}
	if (has_padding(context))
		memcpy(operand.fill, context->padding, sizeof(operand.fill));
	return graph_add_source(&build->graph, &operand, node);
}

/* One part is chosen, and the nest confined to it. */
static int build_parts(struct build *build, const struct scope *scope, struct context *context,
		       uint32_t *node)
{
	const struct function_tensor *tensor = tensor_of(build, scope->tensor);
	const struct function_part *part;
	struct accel_expression *value;
	uint32_t taken;
	bool holds;
	int ret;

	if (expression_mentions(scope->replacements[tensor->axis], VALUE_INDEX))
		return store(build, scope->tensor, "a loaded index does not go through its parts");
	ret = settle(build, scope, context, &holds);
	if (!ret && !holds)
		return build_constant(build, tensor->dtype, context->padding, node);
	if (!ret)
		ret = build_choose(build, tensor->num_parts, &taken);
	if (ret == -E2BIG)
		return store(build, scope->tensor, "there are too many parts");
	if (ret)
		return ret;
	part = &tensor->parts[taken];
	value = expression_subtract(expression_ref(scope->replacements[tensor->axis]),
				    expression_constant(part->start));
	ret = part->size ? conditions_add(&build->target, value, part->size, &build->bounds) :
			   CONDITION_NEVER;
	if (ret == -E2BIG)
		return store(build, scope->tensor, "its conditions are too many");
	if (ret)
		return ret < 0 ? fail(build, ret) : BUILD_EMPTY;
	conditions_release(&context->conditions);
	conditions_copy(&context->conditions, &build->target);
	return build_in_scope(build, scope, part->value, context, node);
}

int build_tensor(struct build *build, uint32_t tensor, struct accel_expression *const *indices,
		 struct context *context, bool is_value, uint32_t *node)
{
	const struct function_tensor *definition = tensor_of(build, tensor);
	struct scope scope = { .tensor = tensor, .replacements = indices };
	int ret;

	if (!is_value && build->schedule->states[tensor].is_stored)
		return load_stored(build, tensor, indices, context, node);
	if (build->depth == BUILD_MAX_DEPTH)
		return store(build, tensor, "too many definitions are inside of one another");
	scope.count = definition->rank;
	for (uint32_t k = 0; k < scope.count; k++)
		scope.names[k] = definition->axes[k].name;
	build->depth++;
	ret = definition->kind == FUNCTION_PARTS ?
	      build_parts(build, &scope, context, node) :
	      build_in_scope(build, &scope, definition->parts[0].value, context, node);
	build->depth--;
	return ret;
}

/* The load without its condition, which is in the context. Takes over the context's index. */
static int load_in_context(struct build *build, const struct scope *scope,
			   const struct value_load *load, struct context *context, uint32_t *node)
{
	uint32_t tensor = function_find(build->schedule->function, load->tensor);
	struct accel_expression *indices[ACCEL_MAX_DIMS];
	int ret = 0;

	if (load->index && context->is_indirect && has_two_indices(scope, load))
		return store(build, context->index_target,
			     "a load has one loaded index, not two");
	if (load->index)
		ret = enter_index(build, scope, load->index, tensor, load->indices, context);
	if (!ret)
		ret = substitute_indices(build, scope, load, context, indices);
	if (ret)
		return ret;
	ret = build_tensor(build, tensor, indices, context, false, node);
	release_indices(indices, load->num_indices);
	return ret;
}

/*
 * A value where a condition holds, bits elsewhere, in a context, which is used up. With is_own the
 * value is a load and this its own condition.
 */
static int build_padded(struct build *build, const struct scope *scope,
			struct accel_expression *condition, const struct accel_value *value,
			bool is_own, const uint64_t bits[2], struct context *context,
			uint32_t *node)
{
	enum accel_dtype dtype = function_value_dtype(build->schedule->function, value);
	bool is_same = !has_padding(context) ||
		       !memcmp(context->padding, bits, sizeof(context->padding));
	bool is_split = !is_same && dtype == ACCEL_DTYPE_RAW128, holds = true;
	struct conditions own = { 0 };
	struct context outer;
	int ret;

	ret = is_split ? CONDITION_SPLIT :
	      conditions_add_truth(&own, condition, true, &build->bounds);
	if (ret == CONDITION_SPLIT) {
		conditions_release(&own);
		ret = settle(build, scope, context, &holds);
		if (!ret && !holds)
			return build_constant(build, dtype, context->padding, node);
		is_same = true;
		if (!ret)
			ret = settle_condition(build, scope, condition, context, &holds);
		if (ret)
			return ret;
		context->is_exact = false;
		ret = holds ? 0 : CONDITION_NEVER;
	}
	context_copy(&outer, context);
	for (uint32_t k = 0; !ret && k < own.count; k++)
		ret = conditions_add(&context->conditions, expression_ref(own.list[k].value),
				     own.list[k].limit, &build->bounds);
	if (own.count) {
		context->is_exact = true;
		memcpy(context->padding, bits, sizeof(context->padding));
	} else if (!ret) {
		is_same = true;
	}
	conditions_release(&own);
	if (ret == CONDITION_NEVER)
		ret = build_constant(build, dtype, bits, node);
	else if (ret == -E2BIG)
		ret = store(build, scope->tensor, "its conditions are too many");
	else if (ret)
		fail(build, ret);
	else if (is_own)
		ret = load_in_context(build, scope, &value->load, context, node);
	else
		ret = build_in_scope(build, scope, value, context, node);
	if (!ret && !is_same)
		ret = pad(build, &outer, dtype, node);
	context_release(&outer);
	return ret;
}

/* Values ----------------------------------------------------------------------------------- */

/* Whether no load of a value needs a condition to stay in its tensor. */
static bool is_safe(const struct build *build, const struct scope *scope,
		    const struct accel_value *value)
{
	const struct function_tensor *definition = tensor_of(build, scope->tensor);
	struct variable_bounds variables[LOWER_MAX_AXES + 1];
	const struct conditions none = { 0 };
	struct bounds bounds;

	function_bounds(definition->axes, definition->num_axes, variables, &bounds);
	return !function_check_ranges(build->schedule->function, value, &none, &bounds, NULL);
}

/* One operand of a choice, where additional conditions hold, with nothing asked for elsewhere. */
static int build_chosen(struct build *build, const struct scope *scope,
			const struct accel_value *value, const struct conditions *own,
			const struct context *context, uint32_t *node)
{
	struct context inner;
	int ret = 0;

	context_copy(&inner, context);
	inner.is_exact = false;
	/* Of another type, it would be no element. */
	memset(inner.padding, 0, sizeof(inner.padding));
	for (uint32_t k = 0; !ret && k < own->count; k++)
		ret = conditions_add(&inner.conditions, expression_ref(own->list[k].value),
				     own->list[k].limit, &build->bounds);
	if (ret == CONDITION_NEVER)
		ret = build_constant(build,
				     function_value_dtype(build->schedule->function, value),
				     inner.padding, node);
	else if (ret == -E2BIG)
		ret = store(build, scope->tensor, "its conditions are too many");
	else if (!ret)
		ret = build_in_scope(build, scope, value, &inner, node);
	context_release(&inner);
	return ret;
}

/* Both values and a mask. */
static int build_both(struct build *build, const struct scope *scope,
		      const struct accel_value *value, const struct conditions *own,
		      struct context *context, enum accel_dtype dtype, uint32_t *node)
{
	const struct conditions none = { 0 };
	uint32_t other;
	int ret;

	ret = build_chosen(build, scope, value->choose.operands[0], own, context, node);
	if (!ret)
		ret = build_chosen(build, scope, value->choose.operands[1], &none, context, &other);
	if (!ret)
		ret = add_select(build, own, node, other);
	return ret ? ret : pad(build, context, dtype, node);
}

static int build_choice(struct build *build, const struct scope *scope,
			const struct accel_value *value, struct accel_expression *condition,
			struct context *context, uint32_t *node)
{
	const struct accel_value *other = value->choose.operands[1];
	enum accel_dtype dtype = function_value_dtype(build->schedule->function, value);
	struct conditions own = { 0 };
	bool holds;
	int ret;

	if (other->kind == VALUE_CONSTANT)
		return build_padded(build, scope, condition, value->choose.operands[0], false,
				    other->bits, context, node);
	ret = conditions_add_truth(&own, condition, true, &build->bounds);
	if ((!ret && !own.count) || ret == CONDITION_NEVER) {
		conditions_release(&own);
		return build_in_scope(build, scope, value->choose.operands[ret != 0], context,
				      node);
	}
	if (!ret && dtype != ACCEL_DTYPE_RAW128 && is_safe(build, scope, other)) {
		ret = build_both(build, scope, value, &own, context, dtype, node);
		conditions_release(&own);
		return ret;
	}
	conditions_release(&own);
	if (ret < 0 && ret != -E2BIG)
		return fail(build, ret);
	ret = settle(build, scope, context, &holds);
	if (!ret && !holds)
		return build_constant(build, dtype, context->padding, node);
	if (!ret)
		ret = settle_condition(build, scope, condition, context, &holds);
	return ret ? ret : build_in_scope(build, scope, value->choose.operands[!holds], context,
					  node);
}

static int build_operate(struct build *build, const struct scope *scope,
			 const struct accel_value *value, struct context *context,
			 uint32_t *node)
{
	struct graph_node operate = {
		.kind = NODE_OPERATE,
		.dtype = function_value_dtype(build->schedule->function, value),
		.computes = value->dtype,
		.opcode = value->operate.opcode,
		.flags = value->operate.flags,
		.predicate = value->operate.predicate,
	};
	const struct conditions none = { 0 };
	int ret = 0;

	for (unsigned int k = 0; !ret && k < value_num_operands(value); k++)
		ret = build_chosen(build, scope, value_operand(value, k), &none, context,
				   &operate.operands[k]);
	if (!ret)
		ret = graph_add(&build->graph, &operate, node);
	return ret ? ret : pad(build, context, operate.dtype, node);
}

/* A value with a condition over its axes: a load, or a choice. */
static int build_conditional(struct build *build, const struct scope *scope,
			     const struct accel_value *value, struct context *context,
			     uint32_t *node)
{
	bool is_load = value->kind == VALUE_LOAD;
	struct accel_expression *condition;
	int ret;

	ret = substitute_condition(build, scope,
				   is_load ? value->load.condition : value->choose.condition,
				   context, &condition);
	if (ret)
		return ret;
	ret = is_load ? build_padded(build, scope, condition, value, true, value->load.padding,
				     context, node) :
			build_choice(build, scope, value, condition, context, node);
	expression_unref(condition);
	return ret;
}

/* The context is used up. */
static int build_in_scope(struct build *build, const struct scope *scope,
			  const struct accel_value *value, struct context *context,
			  uint32_t *node)
{
	int ret;

	switch (value->kind) {
	case VALUE_LOAD:
		return value->load.condition ?
		       build_conditional(build, scope, value, context, node) :
		       load_in_context(build, scope, &value->load, context, node);
	case VALUE_CHOOSE:
		return build_conditional(build, scope, value, context, node);
	case VALUE_OPERATE:
		return build_operate(build, scope, value, context, node);
	default:
		ret = build_constant(build, value->dtype, value->bits, node);
		return ret ? ret : pad(build, context, value->dtype, node);
	}
}

/* The public face ---------------------------------------------------------------------------- */

static void scope_of(const struct build *build, uint32_t tensor,
		     struct accel_expression *const *indices, struct scope *scope)
{
	const struct function_tensor *definition = tensor_of(build, tensor);

	scope->tensor = tensor;
	scope->count = definition->num_axes;
	scope->replacements = indices;
	for (uint32_t k = 0; k < scope->count; k++)
		scope->names[k] = definition->axes[k].name;
}

int build_value(struct build *build, uint32_t tensor, const struct accel_value *value,
		struct accel_expression *const *indices, struct context *context, uint32_t *node)
{
	struct scope scope;

	scope_of(build, tensor, indices, &scope);
	return build_in_scope(build, &scope, value, context, node);
}

int build_index(struct build *build, uint32_t tensor, const struct accel_value *index,
		struct accel_expression *const *indices, struct context *context)
{
	const struct function_tensor *definition = tensor_of(build, tensor);
	struct scope scope;

	scope_of(build, tensor, indices, &scope);
	return enter_index(build, &scope, index, tensor, definition->indices, context);
}

int build_target(struct build *build, uint32_t slot, const struct accel_tensor *layout,
		 struct accel_expression *const *indices, const struct context *context,
		 struct lower_operand *operand)
{
	int ret;

	operand->slot = slot;
	operand->dtype = accel_tensor_dtype(layout);
	ret = set_address(build, layout, indices, context, operand);
	if (ret != ADDRESS_IS_NOT_LINEAR)
		return ret;
	build->schedule->states[build->tensor].is_apart = true;
	return BUILD_AGAIN;
}
