// SPDX-License-Identifier: MIT
/*
 * Requirements of operators: the canonical set, the verifier, backends that override it.
 */
#include "notation_test.h"

static const int64_t image[] = { 1, 56, 56, 64 };
static const int64_t vector[] = { 64 };
static const int64_t matrix[] = { 56, 64 };

#define TENSOR(its_name, its_shape)	{					\
	.name = (its_name), .dtype = ACCEL_DTYPE_F32, .rank = COUNT(its_shape),	\
	.shape = (its_shape),							\
}

#define INPUTS(...)	.num_inputs = COUNT(((const uint32_t[]){ __VA_ARGS__ })),	\
			.inputs = (const uint32_t[]){ __VA_ARGS__ }
#define RESULTS(...)	.num_results = COUNT(((const uint32_t[]){ __VA_ARGS__ })),	\
			.results = (const uint32_t[]){ __VA_ARGS__ }

static void passes(const struct accel_graph *graph, const struct accel_requirements *requirements)
{
	struct accel_error error = { 0 };

	if (accel_graph_verify(graph, requirements, &error))
		fail_msg("%s", error.message);
}

static void fails(const struct accel_graph *graph, const struct accel_requirements *requirements,
		  const char *message)
{
	struct accel_error error = { 0 };

	assert_int_equal(accel_graph_verify(graph, requirements, &error), -EINVAL);
	assert_string_equal(error.message, message);
}

/* input, filter, bias -> conv1 -> relu -> conv2 */
struct network {
	struct accel_graph_tensor tensors[7];
	struct accel_graph_node nodes[3];
	struct accel_graph graph;
};

static void make_network(struct network *network)
{
	static const uint32_t c1_inputs[] = { 0, 1, 2 }, c2_inputs[] = { 4, 1, 2 };
	static const uint32_t results[] = { 3, 4, 5 };

	*network = (struct network){
		.tensors = {
			TENSOR("input", image), TENSOR("filter", image), TENSOR("bias", vector),
			TENSOR("conv1", image), TENSOR("relu", image), TENSOR("conv2", image),
		},
		.nodes = {
			{ "c1", "Convolution", 3, c1_inputs, 1, &results[0], NULL },
			{ "r", "Relu", 1, &results[0], 1, &results[1], NULL },
			{ "c2", "Convolution", 3, c2_inputs, 1, &results[2], NULL },
		},
	};
	network->graph = (struct accel_graph){
		.num_tensors = 6, .tensors = network->tensors,
		.num_nodes = 3, .nodes = network->nodes,
	};
}

static void placeholders_start_as_any(void **state)
{
	struct network network;

	(void)state;
	make_network(&network);
	passes(&network.graph, NULL);
}

static void placeholder_that_is_bound_to_what_is_required_passes(void **state)
{
	struct network network;

	(void)state;
	make_network(&network);
	assert_int_equal(accel_graph_bind(&network.graph, 0, "NHWC", NULL), 0);
	passes(&network.graph, NULL);
}

static void placeholder_that_is_bound_to_another_layout_is_found(void **state)
{
	struct network network;

	(void)state;
	make_network(&network);
	assert_int_equal(accel_graph_bind(&network.graph, 0, "NCHW", NULL), 0);
	fails(&network.graph, NULL,
	      "node c1, input 0 (input): found layout NCHW, required NHWC");
}

static void result_that_is_given_another_layout_is_found(void **state)
{
	struct network network;

	(void)state;
	make_network(&network);
	network.tensors[3].layout = "NCHW";
	fails(&network.graph, NULL,
	      "node c1, result 0 (conv1): found layout NCHW, required NHWC");
}

static void element_wise_operators_give_their_layout_on(void **state)
{
	struct accel_graph_tensor tensors[] = {
		TENSOR("x", image), TENSOR("y", image), TENSOR("z", image),
		TENSOR("filter", image), TENSOR("bias", vector),
	};
	const struct accel_graph_node nodes[] = {
		{ .name = "relu", .op = "Relu", INPUTS(0), RESULTS(1) },
		{ .name = "conv", .op = "Convolution", INPUTS(1, 3, 4), RESULTS(2) },
	};
	struct accel_graph graph = { COUNT(tensors), tensors, COUNT(nodes), nodes };

	(void)state;
	tensors[0].layout = "NCHW";
	fails(&graph, NULL, "node conv, input 0 (y): found layout NCHW, required NHWC");
}

static void inputs_of_an_element_wise_operator_agree(void **state)
{
	struct accel_graph_tensor tensors[] = {
		TENSOR("x", image), TENSOR("y", image), TENSOR("sum", image),
	};
	const struct accel_graph_node nodes[] = {
		{ .name = "add", .op = "Add", INPUTS(0, 1), RESULTS(2) },
	};
	struct accel_graph graph = { COUNT(tensors), tensors, COUNT(nodes), nodes };

	(void)state;
	tensors[0].layout = "NCHW";
	tensors[1].layout = "NHWC";
	fails(&graph, NULL, "node add, input 1 (y): found layout NHWC, required NCHW");
	tensors[1].layout = "N*HW";
	passes(&graph, NULL);
}

static void reshape_accepts_any_layout_and_forgets_it(void **state)
{
	struct accel_graph_tensor tensors[] = {
		TENSOR("x", image), TENSOR("y", image), TENSOR("z", image),
		TENSOR("filter", image), TENSOR("bias", vector),
	};
	const struct accel_graph_node nodes[] = {
		{ .name = "reshape", .op = "Reshape", INPUTS(0), RESULTS(1) },
		{ .name = "conv", .op = "Convolution", INPUTS(1, 3, 4), RESULTS(2) },
	};
	struct accel_graph graph = { COUNT(tensors), tensors, COUNT(nodes), nodes };

	(void)state;
	tensors[0].layout = "NCHW";
	passes(&graph, NULL);
}

static void transpose_permutes_the_layout(void **state)
{
	static const uint32_t to_nhwc[] = { 0, 2, 3, 1 }, to_nwhc[] = { 0, 3, 2, 1 };
	struct accel_graph_tensor tensors[] = {
		TENSOR("x", image), TENSOR("y", image), TENSOR("z", image),
		TENSOR("filter", image), TENSOR("bias", vector),
	};
	struct accel_graph_node nodes[] = {
		{ .name = "t", .op = "Transpose", INPUTS(0), RESULTS(1), .permutation = to_nhwc },
		{ .name = "conv", .op = "Convolution", INPUTS(1, 3, 4), RESULTS(2) },
	};
	struct accel_graph graph = { COUNT(tensors), tensors, COUNT(nodes), nodes };

	(void)state;
	tensors[0].layout = "NCHW";
	passes(&graph, NULL);
	nodes[0].permutation = to_nwhc;
	fails(&graph, NULL, "node conv, input 0 (y): found layout NWHC, required NHWC");
}

static void default_layouts_are_those_of_the_rank(void **state)
{
	struct accel_graph_tensor tensors[] = { TENSOR("m", matrix), TENSOR("v", vector) };
	const struct accel_graph_node nodes[] = {
		{ .name = "custom", .op = "SomeBackendOp", INPUTS(0), RESULTS(1) },
	};
	struct accel_graph graph = { COUNT(tensors), tensors, COUNT(nodes), nodes };

	(void)state;
	tensors[0].layout = "XY";
	passes(&graph, NULL);
	tensors[1].layout = "C";
	fails(&graph, NULL, "node custom, result 0 (v): found layout C, required N");
}

static void scalars_have_an_empty_layout(void **state)
{
	struct accel_graph_tensor tensors[] = {
		{ .name = "s", .dtype = ACCEL_DTYPE_F32 },
		{ .name = "t", .dtype = ACCEL_DTYPE_F32 },
	};
	const struct accel_graph_node nodes[] = {
		{ .name = "exp", .op = "Exp", INPUTS(0), RESULTS(1) },
	};
	struct accel_graph graph = { COUNT(tensors), tensors, COUNT(nodes), nodes };

	(void)state;
	passes(&graph, NULL);
}

/* A backend whose convolutions are NCHW, with channels aligned to 64 bytes. */
static int nchw_input(const struct accel_requirements *requirements,
		      const struct accel_graph *graph, uint32_t node, uint32_t input,
		      const char *const *found, char *layout, struct accel_error *error)
{
	uint32_t tensor = graph->nodes[node].inputs[input];

	if (strcmp(graph->nodes[node].op, "Convolution") || graph->tensors[tensor].rank != 4)
		return accel_requirements_canonical.input_layout(requirements, graph, node, input,
								 found, layout, error);
	strcpy(layout, input == 0 ? "NC[a=64]HW" : "****");
	return 0;
}

static int nchw_result(const struct accel_requirements *requirements,
		       const struct accel_graph *graph, uint32_t node, uint32_t result,
		       const char *const *found, char *layout, struct accel_error *error)
{
	if (strcmp(graph->nodes[node].op, "Convolution"))
		return accel_requirements_canonical.result_layout(requirements, graph, node,
								  result, found, layout, error);
	strcpy(layout, "NCHW");
	return 0;
}

static void backend_overrides_requirements(void **state)
{
	static const int64_t odd[] = { 1, 64, 3, 5 }, even[] = { 1, 64, 4, 4 };
	struct accel_requirements backend = accel_requirements_canonical;
	struct network network;

	(void)state;
	backend.input_layout = nchw_input;
	backend.result_layout = nchw_result;
	make_network(&network);
	network.tensors[0].layout = "NCHW";
	passes(&network.graph, &backend);
	network.tensors[0].layout = "NHWC";
	fails(&network.graph, &backend,
	      "node c1, input 0 (input): found layout NHWC, required NC[a=64]HW");
	network.tensors[0].layout = "NCHW";
	network.tensors[0].shape = even;
	passes(&network.graph, &backend);
	/* 15 elements of 4 bytes from channel to channel */
	network.tensors[0].shape = odd;
	fails(&network.graph, &backend,
	      "node c1, input 0 (input): found layout NCHW, required NC[a=64]HW");
}

static void strides_of_the_tensor_are_what_is_aligned(void **state)
{
	static const int64_t odd[] = { 1, 64, 3, 5 }, strides[] = { 1024, 16, 5, 1 };
	struct accel_requirements backend = accel_requirements_canonical;
	struct network network;

	(void)state;
	backend.input_layout = nchw_input;
	backend.result_layout = nchw_result;
	make_network(&network);
	network.tensors[0].shape = odd;
	network.tensors[0].strides = strides;
	passes(&network.graph, &backend);
}

static int satisfies_everything(const struct accel_requirements *requirements,
				const struct accel_layout *required,
				const struct accel_layout *found, enum accel_dtype dtype,
				uint32_t rank, const int64_t *strides, struct accel_error *error)
{
	(void)required;
	(void)found;
	(void)dtype;
	(void)rank;
	(void)strides;
	(void)error;
	++*(int *)requirements->context;
	return 1;
}

static void backend_overrides_satisfaction(void **state)
{
	struct accel_requirements backend = accel_requirements_canonical;
	struct network network;
	int calls = 0;

	(void)state;
	backend.satisfies = satisfies_everything;
	backend.context = &calls;
	make_network(&network);
	network.tensors[0].layout = "NCHW";
	passes(&network.graph, &backend);
	/* seven inputs and three results */
	assert_int_equal(calls, 10);
}

static int default_nchw(const struct accel_requirements *requirements, uint32_t rank, char *layout,
			struct accel_error *error)
{
	if (rank != 4)
		return accel_requirements_canonical.default_layout(requirements, rank, layout,
								   error);
	strcpy(layout, "NCHW");
	return 0;
}

static void backend_overrides_default_layouts(void **state)
{
	struct accel_requirements backend = accel_requirements_canonical;
	struct network network;

	(void)state;
	backend.default_layout = default_nchw;
	make_network(&network);
	network.tensors[0].layout = "NHWC";
	fails(&network.graph, &backend,
	      "node c1, input 0 (input): found layout NHWC, required NCHW");
}

static void verification_may_be_switched_off(void **state)
{
	struct accel_requirements off = accel_requirements_canonical;
	struct network network;

	(void)state;
	off.is_enabled = false;
	make_network(&network);
	network.tensors[0].layout = "NCHW";
	passes(&network.graph, &off);
}

static int malformed_layout(const struct accel_requirements *requirements,
			    const struct accel_graph *graph, uint32_t node, uint32_t number,
			    const char *const *found, char *layout, struct accel_error *error)
{
	(void)requirements;
	(void)graph;
	(void)node;
	(void)number;
	(void)found;
	(void)error;
	strcpy(layout, "N[a=0]");
	return 0;
}

static void malformed_requirement_is_refused(void **state)
{
	struct accel_requirements backend = accel_requirements_canonical;
	struct network network;

	(void)state;
	backend.result_layout = malformed_layout;
	make_network(&network);
	fails(&network.graph, &backend,
	      "c1: layout: the number at column 10 is 0, expected at least 1");
}

static void malformed_binding_is_refused(void **state)
{
	struct accel_error error = { 0 };
	struct network network;

	(void)state;
	make_network(&network);
	assert_int_equal(accel_graph_bind(&network.graph, 0, "NHWC[", &error), -EINVAL);
	assert_non_null(strstr(error.message, "input: layout: found the end"));
	assert_int_equal(accel_graph_bind(&network.graph, 0, "NHW", &error), -EINVAL);
	assert_non_null(strstr(error.message, "has 3 axes, expected 4"));
	assert_int_equal(accel_graph_bind(&network.graph, 6, "NHWC", &error), -EINVAL);
	assert_non_null(strstr(error.message, "no tensor 6"));
	assert_null(network.tensors[0].layout);
}

static void malformed_layout_of_a_tensor_is_refused(void **state)
{
	char text[300] = "NHWC[ns:";
	struct network network;

	(void)state;
	make_network(&network);
	network.tensors[3].layout = "NHWC1";
	fails(&network.graph, NULL, "conv1: layout: found '1' at column 10, "
	      "expected an axis, a letter or *, or '['");
	memset(text + 8, 'x', 280);
	text[288] = ']';
	network.tensors[3].layout = text;
	fails(&network.graph, NULL, "conv1: its layout has more than 255 characters");
}

static void graph_out_of_order_is_refused(void **state)
{
	struct network network;
	struct accel_graph_node node;

	(void)state;
	make_network(&network);
	node = network.nodes[0];
	network.nodes[0] = network.nodes[1];
	network.nodes[1] = node;
	fails(&network.graph, NULL, "node r, input 0: conv1 is made by a later node");
}

static void tensor_made_twice_is_refused(void **state)
{
	struct network network;

	(void)state;
	make_network(&network);
	network.nodes[2].results = network.nodes[1].results;
	fails(&network.graph, NULL, "node c2, result 0: another node makes relu");
}

static void tensors_that_are_not_there_are_refused(void **state)
{
	static const uint32_t six[] = { 6 };
	struct network network;

	(void)state;
	make_network(&network);
	network.nodes[1].inputs = six;
	fails(&network.graph, NULL, "node r, input 0: there is no tensor 6");
	make_network(&network);
	network.nodes[1].results = six;
	fails(&network.graph, NULL, "node r, result 0: there is no tensor 6");
}

static void malformed_tensors_are_refused(void **state)
{
	static const int64_t negative[] = { 1, -1, 1, 1 };
	struct network network;

	(void)state;
	make_network(&network);
	network.tensors[2].rank = 17;
	fails(&network.graph, NULL, "bias: it has 17 axes, expected at most 16");
	make_network(&network);
	network.tensors[2].dtype = 0;
	fails(&network.graph, NULL, "bias: there is no element type 0x0");
	make_network(&network);
	network.tensors[1].shape = negative;
	fails(&network.graph, NULL, "filter: extent 1 is negative");
}

static void transpose_without_a_permutation_is_refused(void **state)
{
	static const uint32_t twice[] = { 0, 1, 1, 2 };
	struct accel_graph_tensor tensors[] = { TENSOR("x", image), TENSOR("y", image) };
	struct accel_graph_node nodes[] = {
		{ .name = "t", .op = "Transpose", INPUTS(0), RESULTS(1) },
	};
	struct accel_graph graph = { COUNT(tensors), tensors, COUNT(nodes), nodes };

	(void)state;
	fails(&graph, NULL,
	      "node t: expected an input, a result of the same rank and a permutation");
	nodes[0].permutation = twice;
	fails(&graph, NULL, "node t: its permutation does not have each of 4 axes once");
}

static void strides_beyond_63_bits_are_refused(void **state)
{
	static const int64_t huge[] = { 2, INT64_C(1) << 40, INT64_C(1) << 40, 2 };
	struct accel_error error = { 0 };
	struct network network;

	(void)state;
	make_network(&network);
	network.tensors[0].shape = huge;
	assert_int_equal(accel_graph_verify(&network.graph, NULL, &error), -EOVERFLOW);
	assert_string_equal(error.message, "input: its strides do not fit 63 bits");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(placeholders_start_as_any),
		cmocka_unit_test(placeholder_that_is_bound_to_what_is_required_passes),
		cmocka_unit_test(placeholder_that_is_bound_to_another_layout_is_found),
		cmocka_unit_test(result_that_is_given_another_layout_is_found),
		cmocka_unit_test(element_wise_operators_give_their_layout_on),
		cmocka_unit_test(inputs_of_an_element_wise_operator_agree),
		cmocka_unit_test(reshape_accepts_any_layout_and_forgets_it),
		cmocka_unit_test(transpose_permutes_the_layout),
		cmocka_unit_test(default_layouts_are_those_of_the_rank),
		cmocka_unit_test(scalars_have_an_empty_layout),
		cmocka_unit_test(backend_overrides_requirements),
		cmocka_unit_test(strides_of_the_tensor_are_what_is_aligned),
		cmocka_unit_test(backend_overrides_satisfaction),
		cmocka_unit_test(backend_overrides_default_layouts),
		cmocka_unit_test(verification_may_be_switched_off),
		cmocka_unit_test(malformed_requirement_is_refused),
		cmocka_unit_test(malformed_binding_is_refused),
		cmocka_unit_test(malformed_layout_of_a_tensor_is_refused),
		cmocka_unit_test(graph_out_of_order_is_refused),
		cmocka_unit_test(tensor_made_twice_is_refused),
		cmocka_unit_test(tensors_that_are_not_there_are_refused),
		cmocka_unit_test(malformed_tensors_are_refused),
		cmocka_unit_test(transpose_without_a_permutation_is_refused),
		cmocka_unit_test(strides_beyond_63_bits_are_refused),
	};

	return cmocka_run_group_tests_name("layout_verify", tests, NULL, NULL);
}
