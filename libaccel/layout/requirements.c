// SPDX-License-Identifier: MIT
/*
 * What operators require of the layouts of their inputs and results, the canonical set of that,
 * and a verifier that walks a graph. Knows nothing of what operators compute.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout/glow.h"

/* Operators --------------------------------------------------------------------------------- */

/* How an operator's layouts follow from each other. */
enum op_kind {
	OP_FIXED,		/* each operand has the default layout of its rank */
	OP_ELEMENTWISE,		/* any layout, the same for all operands of that rank */
	OP_ANY,			/* any layout for each; what results is not told */
	OP_TRANSPOSE,		/* the layout of the input, permuted */
};

struct op {
	const char *name;
	enum op_kind kind;
};

/* Operators that are not listed are OP_FIXED, such as those of a backend. */
static const struct op ops[] = {
	{ "Abs", OP_ELEMENTWISE },
	{ "Add", OP_ELEMENTWISE },
	{ "Clip", OP_ELEMENTWISE },
	{ "ConvertTo", OP_ELEMENTWISE },
	{ "Dequantize", OP_ELEMENTWISE },
	{ "Div", OP_ELEMENTWISE },
	{ "Exp", OP_ELEMENTWISE },
	{ "Gelu", OP_ELEMENTWISE },
	{ "Log", OP_ELEMENTWISE },
	{ "Max", OP_ELEMENTWISE },
	{ "Min", OP_ELEMENTWISE },
	{ "Mul", OP_ELEMENTWISE },
	{ "Neg", OP_ELEMENTWISE },
	{ "Pow", OP_ELEMENTWISE },
	{ "Quantize", OP_ELEMENTWISE },
	{ "Relu", OP_ELEMENTWISE },
	{ "Rescale", OP_ELEMENTWISE },
	{ "Select", OP_ELEMENTWISE },
	{ "Sigmoid", OP_ELEMENTWISE },
	{ "Sqrt", OP_ELEMENTWISE },
	{ "Sub", OP_ELEMENTWISE },
	{ "Tanh", OP_ELEMENTWISE },
	{ "BatchNormalization", OP_ANY },
	{ "BatchedAdd", OP_ANY },
	{ "BatchedReduce", OP_ANY },
	{ "Broadcast", OP_ANY },
	{ "Concat", OP_ANY },
	{ "Flatten", OP_ANY },
	{ "Flip", OP_ANY },
	{ "Gather", OP_ANY },
	{ "MatMul", OP_ANY },
	{ "Pad", OP_ANY },
	{ "Reshape", OP_ANY },
	{ "Save", OP_ANY },
	{ "Slice", OP_ANY },
	{ "Transpose", OP_TRANSPOSE },
};

static enum op_kind find_kind(const char *name)
{
	for (size_t k = 0; k < sizeof(ops) / sizeof(ops[0]); k++) {
		if (!strcmp(ops[k].name, name))
			return ops[k].kind;
	}
	return OP_FIXED;
}

/* The canonical set ------------------------------------------------------------------------- */

static void write_any(uint32_t rank, char *layout)
{
	memset(layout, '*', rank);
	layout[rank] = '\0';
}

static int canonical_default(const struct accel_requirements *requirements, uint32_t rank,
			     char *layout, struct accel_error *error)
{
	(void)requirements;
	(void)error;
	write_any(rank, layout);
	if (rank == 1)
		memcpy(layout, "N", sizeof("N"));
	else if (rank == 4)
		memcpy(layout, "NHWC", sizeof("NHWC"));
	return 0;
}

/* Copies the letters of a layout, without its attributes: those are the tensor's own. */
static void copy_letters(const char *from, char *layout)
{
	size_t length = 0;

	for (bool in_brackets = false; *from; from++) {
		in_brackets |= *from == '[';
		if (!in_brackets && *from != ' ' && *from != '\t')
			layout[length++] = *from;
		in_brackets &= *from != ']';
	}
	layout[length] = '\0';
}

/* Whether a layout names any axis. */
static bool is_known(const char *layout)
{
	char letters[ACCEL_LAYOUT_TEXT_MAX];

	copy_letters(layout, letters);
	return letters[strspn(letters, "*")] != '\0';
}

/* The layout that is known of an input of this rank, from the first on; NULL if of none. */
static const char *known_input(const struct accel_graph *graph,
			       const struct accel_graph_node *node, uint32_t rank,
			       const char *const *found)
{
	for (uint32_t k = 0; k < node->num_inputs; k++) {
		const char *layout = found[node->inputs[k]];

		if (graph->tensors[node->inputs[k]].rank == rank && is_known(layout))
			return layout;
	}
	return NULL;
}

static int canonical_input(const struct accel_requirements *requirements,
			   const struct accel_graph *graph, uint32_t index, uint32_t input,
			   const char *const *found, char *layout, struct accel_error *error)
{
	const struct accel_graph_node *node = &graph->nodes[index];
	uint32_t rank = graph->tensors[node->inputs[input]].rank;
	enum op_kind kind = find_kind(node->op);
	const char *known;

	if (kind == OP_FIXED)
		return requirements->default_layout(requirements, rank, layout, error);
	write_any(rank, layout);
	known = kind == OP_ELEMENTWISE ? known_input(graph, node, rank, found) : NULL;
	if (known)
		copy_letters(known, layout);
	return 0;
}

static int canonical_result(const struct accel_requirements *requirements,
			    const struct accel_graph *graph, uint32_t index, uint32_t result,
			    const char *const *found, char *layout, struct accel_error *error)
{
	const struct accel_graph_node *node = &graph->nodes[index];
	uint32_t rank = graph->tensors[node->results[result]].rank;
	enum op_kind kind = find_kind(node->op);
	char input[ACCEL_LAYOUT_TEXT_MAX];
	const char *known;

	if (kind == OP_FIXED)
		return requirements->default_layout(requirements, rank, layout, error);
	write_any(rank, layout);
	known = kind == OP_ANY ? NULL : known_input(graph, node, rank, found);
	if (!known)
		return 0;
	copy_letters(known, kind == OP_TRANSPOSE ? input : layout);
	for (uint32_t d = 0; kind == OP_TRANSPOSE && d < rank; d++)
		layout[d] = input[node->permutation[d]];
	return 0;
}

static int canonical_satisfies(const struct accel_requirements *requirements,
			       const struct accel_layout *required,
			       const struct accel_layout *found, enum accel_dtype dtype,
			       uint32_t rank, const int64_t *strides, struct accel_error *error)
{
	(void)requirements;
	return accel_layout_satisfies(required, found, dtype, rank, strides, error);
}

ACCEL_API const struct accel_requirements accel_requirements_canonical = {
	.is_enabled = true,
	.default_layout = canonical_default,
	.input_layout = canonical_input,
	.result_layout = canonical_result,
	.satisfies = canonical_satisfies,
};

/* The graph --------------------------------------------------------------------------------- */

/* Parses a Glow string for a tensor of this rank. what names it in errors. */
static int parse_layout(const char *text, uint32_t rank, const char *what,
			struct accel_layout **layout, struct accel_error *error)
{
	char prefixed[sizeof("glow:") + ACCEL_LAYOUT_TEXT_MAX];
	struct accel_error cause = { 0 };
	struct printer printer;
	int ret;

	*layout = NULL;
	printer_init(&printer, prefixed, sizeof(prefixed));
	printer_add_string(&printer, "glow:");
	printer_add_string(&printer, text);
	if (printer.length >= sizeof(prefixed))
		return accel_error_set(error, -EINVAL, "%s: its layout has more than %d characters",
				       what, ACCEL_LAYOUT_TEXT_MAX - 1);
	ret = accel_layout_parse(prefixed, NULL, layout, &cause);
	if (ret)
		return accel_error_set(error, ret, "%s: %s", what, cause.message);
	if ((*layout)->rank == rank)
		return 0;
	ret = accel_error_set(error, -EINVAL, "%s: its layout %s has %u axes, expected %u", what,
			      text, (*layout)->rank, rank);
	accel_layout_unref(*layout);
	*layout = NULL;
	return ret;
}

ACCEL_API int accel_graph_bind(struct accel_graph *graph, uint32_t tensor, const char *layout,
			       struct accel_error *error)
{
	struct accel_layout *parsed;
	int ret;

	if (tensor >= graph->num_tensors)
		return accel_error_set(error, -EINVAL, "graph: there is no tensor %u, it has %u",
				       tensor, graph->num_tensors);
	ret = parse_layout(layout, graph->tensors[tensor].rank, graph->tensors[tensor].name,
			   &parsed, error);
	if (ret)
		return ret;
	accel_layout_unref(parsed);
	graph->tensors[tensor].layout = layout;
	return 0;
}

struct verifier {
	const struct accel_graph *graph;
	const struct accel_requirements *requirements;
	char **found;			/* the layout of each tensor; NULL: not known yet */
	bool *is_made;			/* whether a node before this one makes the tensor */
	struct accel_error *error;
};

/* One operand of a node: an input or a result. */
struct operand {
	const struct accel_graph_node *node;
	const char *kind;		/* "input" or "result" */
	uint32_t number;
	const struct accel_graph_tensor *tensor;
};

static int get_strides(const struct accel_graph_tensor *tensor, int64_t *strides)
{
	int64_t stride = 1;

	for (uint32_t d = tensor->rank; d--;) {
		strides[d] = tensor->strides ? tensor->strides[d] : stride;
		if (tensor->shape[d] && __builtin_mul_overflow(stride, tensor->shape[d], &stride))
			return -EOVERFLOW;
	}
	return 0;
}

/* found satisfies required, or an error that names all of it. */
static int check_operand(const struct verifier *verifier, const struct operand *operand,
			 const char *required_text, const char *found_text)
{
	const struct accel_graph_tensor *tensor = operand->tensor;
	struct accel_layout *required = NULL, *found = NULL;
	int64_t strides[ACCEL_MAX_DIMS];
	struct accel_error cause = { 0 };
	int ret;

	ret = parse_layout(required_text, tensor->rank, operand->node->name, &required,
			   verifier->error);
	if (!ret)
		ret = parse_layout(found_text, tensor->rank, tensor->name, &found, verifier->error);
	if (!ret && get_strides(tensor, strides))
		ret = accel_error_set(verifier->error, -EOVERFLOW,
				      "%s: its strides do not fit 63 bits", tensor->name);
	if (ret)
		goto out;
	ret = verifier->requirements->satisfies(verifier->requirements, required, found,
						tensor->dtype, tensor->rank, strides, &cause);
	if (ret < 0)
		ret = accel_error_set(verifier->error, ret, "%s: %s", tensor->name, cause.message);
	else if (!ret)
		ret = accel_error_set(
			verifier->error, -EINVAL,
			"node %.40s, %s %u (%.40s): found layout %.40s, required %.40s",
			operand->node->name, operand->kind, operand->number, tensor->name,
			found_text, required_text);
	else
		ret = 0;
out:
	accel_layout_unref(found);
	accel_layout_unref(required);
	return ret;
}

static int set_found(const struct verifier *verifier, uint32_t tensor, const char *layout)
{
	char *copy = strdup(layout);

	if (!copy)
		return accel_error_set(verifier->error, -ENOMEM, "graph: out of memory");
	free(verifier->found[tensor]);
	verifier->found[tensor] = copy;
	return 0;
}

static int verify_inputs(const struct verifier *verifier, uint32_t index)
{
	const struct accel_graph *graph = verifier->graph;
	const struct accel_graph_node *node = &graph->nodes[index];
	char required[ACCEL_LAYOUT_TEXT_MAX];

	for (uint32_t k = 0; k < node->num_inputs; k++) {
		struct operand operand = { node, "input", k, &graph->tensors[node->inputs[k]] };
		int ret;

		ret = verifier->requirements->input_layout(verifier->requirements, graph, index, k,
							   (const char *const *)verifier->found,
							   required, verifier->error);
		if (!ret)
			ret = check_operand(verifier, &operand, required,
					    verifier->found[node->inputs[k]]);
		if (ret)
			return ret;
	}
	return 0;
}

/* A result has the layout that its node gives it, and the one that the graph says, if it does. */
static int verify_results(const struct verifier *verifier, uint32_t index)
{
	const struct accel_graph *graph = verifier->graph;
	const struct accel_graph_node *node = &graph->nodes[index];
	char made[ACCEL_LAYOUT_TEXT_MAX];

	for (uint32_t k = 0; k < node->num_results; k++) {
		uint32_t tensor = node->results[k];
		struct operand operand = { node, "result", k, &graph->tensors[tensor] };
		int ret;

		ret = verifier->requirements->result_layout(verifier->requirements, graph, index, k,
							    (const char *const *)verifier->found,
							    made, verifier->error);
		if (!ret)
			ret = check_operand(verifier, &operand, made, operand.tensor->layout ?
					    operand.tensor->layout : made);
		if (!ret)
			ret = set_found(verifier, tensor,
					operand.tensor->layout ? operand.tensor->layout : made);
		if (ret)
			return ret;
		verifier->is_made[tensor] = true;
	}
	return 0;
}

static int check_tensor(const struct accel_graph_tensor *tensor, struct accel_error *error)
{
	if (tensor->rank > ACCEL_MAX_DIMS)
		return accel_error_set(error, -EINVAL, "%s: it has %u axes, expected at most %d",
				       tensor->name, tensor->rank, ACCEL_MAX_DIMS);
	if (!accel_dtype_size(tensor->dtype))
		return accel_error_set(error, -EINVAL, "%s: there is no element type 0x%x",
				       tensor->name, (unsigned int)tensor->dtype);
	for (uint32_t d = 0; d < tensor->rank; d++) {
		if (tensor->shape[d] < 0)
			return accel_error_set(error, -EINVAL,
					       "%s: extent %u is negative", tensor->name, d);
	}
	return 0;
}

/* Which tensors are results of any node, before the walk. */
static int mark_results(const struct verifier *verifier, bool *is_result)
{
	const struct accel_graph *graph = verifier->graph;

	for (uint32_t n = 0; n < graph->num_nodes; n++) {
		const struct accel_graph_node *node = &graph->nodes[n];

		for (uint32_t k = 0; k < node->num_results; k++) {
			uint32_t tensor = node->results[k];

			if (tensor >= graph->num_tensors)
				return accel_error_set(verifier->error, -EINVAL,
						       "node %s, result %u: there is no tensor %u",
						       node->name, k, tensor);
			if (is_result[tensor])
				return accel_error_set(verifier->error, -EINVAL,
						       "node %s, result %u: another node makes %s",
						       node->name, k, graph->tensors[tensor].name);
			is_result[tensor] = true;
		}
	}
	return 0;
}

/* Transpose has one input, one result of the same rank, and a permutation. */
static int check_transpose(const struct verifier *verifier, const struct accel_graph_node *node)
{
	const struct accel_graph *graph = verifier->graph;
	uint32_t rank, seen = 0;

	if (node->num_inputs != 1 || node->num_results != 1 || !node->permutation ||
	    graph->tensors[node->inputs[0]].rank != graph->tensors[node->results[0]].rank)
		return accel_error_set(
			verifier->error, -EINVAL,
			"node %s: expected an input, a result of the same rank and a "
			"permutation",
			node->name);
	rank = graph->tensors[node->inputs[0]].rank;
	for (uint32_t d = 0; d < rank; d++) {
		if (node->permutation[d] >= rank || seen & 1U << node->permutation[d])
			return accel_error_set(verifier->error, -EINVAL,
					       "node %s: its permutation does not have each of "
					       "%u axes once", node->name, rank);
		seen |= 1U << node->permutation[d];
	}
	return 0;
}

/* Every input is there, and known: a placeholder's layout is what it was bound to, or any. */
static int check_node(const struct verifier *verifier, const struct accel_graph_node *node,
		      const bool *is_result)
{
	const struct accel_graph *graph = verifier->graph;

	for (uint32_t k = 0; k < node->num_inputs; k++) {
		uint32_t tensor = node->inputs[k];

		if (tensor >= graph->num_tensors)
			return accel_error_set(verifier->error, -EINVAL,
					       "node %s, input %u: there is no tensor %u",
					       node->name, k, tensor);
		if (is_result[tensor] && !verifier->is_made[tensor])
			return accel_error_set(verifier->error, -EINVAL,
					       "node %s, input %u: %s is made by a later node",
					       node->name, k, graph->tensors[tensor].name);
	}
	return find_kind(node->op) == OP_TRANSPOSE ? check_transpose(verifier, node) : 0;
}

static int load_tensors(const struct verifier *verifier, const bool *is_result)
{
	const struct accel_graph *graph = verifier->graph;
	char any[ACCEL_MAX_DIMS + 1];
	struct accel_layout *layout;

	for (uint32_t t = 0; t < graph->num_tensors; t++) {
		const struct accel_graph_tensor *tensor = &graph->tensors[t];
		int ret = check_tensor(tensor, verifier->error);

		if (!ret && tensor->layout) {
			ret = parse_layout(tensor->layout, tensor->rank, tensor->name, &layout,
					   verifier->error);
			accel_layout_unref(layout);
		}
		if (!ret && !is_result[t]) {
			write_any(tensor->rank, any);
			ret = set_found(verifier, t, tensor->layout ? tensor->layout : any);
		}
		if (ret)
			return ret;
	}
	return 0;
}

static int walk(const struct verifier *verifier, bool *is_result)
{
	const struct accel_graph *graph = verifier->graph;
	int ret;

	ret = mark_results(verifier, is_result);
	if (!ret)
		ret = load_tensors(verifier, is_result);
	for (uint32_t n = 0; !ret && n < graph->num_nodes; n++) {
		ret = check_node(verifier, &graph->nodes[n], is_result);
		if (!ret)
			ret = verify_inputs(verifier, n);
		if (!ret)
			ret = verify_results(verifier, n);
	}
	return ret;
}

ACCEL_API int accel_graph_verify(const struct accel_graph *graph,
				 const struct accel_requirements *requirements,
				 struct accel_error *error)
{
	struct verifier verifier = { .graph = graph, .error = error };
	bool *is_result;
	int ret = -ENOMEM;

	verifier.requirements = requirements ? requirements : &accel_requirements_canonical;
	if (!verifier.requirements->is_enabled)
		return 0;
	/* one more, so that a graph without tensors allocates something too */
	verifier.found = calloc((size_t)graph->num_tensors + 1, sizeof(*verifier.found));
	verifier.is_made = calloc((size_t)graph->num_tensors + 1, sizeof(*verifier.is_made));
	is_result = calloc((size_t)graph->num_tensors + 1, sizeof(*is_result));
	if (verifier.found && verifier.is_made && is_result)
		ret = walk(&verifier, is_result);
	else
		accel_error_set(error, ret, "graph: out of memory");
	for (uint32_t t = 0; verifier.found && t < graph->num_tensors; t++)
		free(verifier.found[t]);
	free(is_result);
	free(verifier.is_made);
	free(verifier.found);
	return ret;
}
