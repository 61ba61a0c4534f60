// SPDX-License-Identifier: MIT
/*
 * Graphs and the programs made of them. Operations are emitted so that few registers are taken
 * at a time, constants where they are used, and what does not fit one job is cut.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout/expression.h"
#include "lower/address.h"
#include "lower/graph.h"
#include "lower/value.h"

#define NUM_REGISTERS	8
#define NO_REGISTER	UINT8_MAX

/* Operands --------------------------------------------------------------------------------- */

void operand_release(struct lower_operand *operand)
{
	address_release(&operand->address);
	address_release(&operand->index_address);
	for (uint32_t k = 0; k < operand->num_conditions; k++)
		expression_unref(operand->conditions[k].value);
	operand->num_conditions = 0;
}

static bool operand_equal(const struct lower_operand *a, const struct lower_operand *b)
{
	if (a->slot != b->slot || a->dtype != b->dtype || a->fill[0] != b->fill[0] ||
	    a->fill[1] != b->fill[1] || a->num_conditions != b->num_conditions ||
	    a->is_indirect != b->is_indirect || !address_equal(&a->address, &b->address))
		return false;
	for (uint32_t k = 0; k < a->num_conditions; k++)
		if (a->conditions[k].limit != b->conditions[k].limit ||
		    expression_compare(a->conditions[k].value, b->conditions[k].value))
			return false;
	return !a->is_indirect ||
	       (a->index_slot == b->index_slot && a->index_dtype == b->index_dtype &&
		a->index_stride == b->index_stride && a->index_limit == b->index_limit &&
		address_equal(&a->index_address, &b->index_address));
}

bool operand_mentions(const struct lower_operand *operand, const char *name)
{
	for (uint32_t k = 0; k < operand->num_conditions; k++)
		if (expression_mentions(operand->conditions[k].value, name))
			return true;
	return address_mentions(&operand->address, name) ||
	       (operand->is_indirect && address_mentions(&operand->index_address, name));
}

static void operand_copy(struct lower_operand *to, const struct lower_operand *from)
{
	*to = *from;
	address_copy(&to->address, &from->address);
	address_copy(&to->index_address, &from->index_address);
	for (uint32_t k = 0; k < from->num_conditions; k++)
		expression_ref(from->conditions[k].value);
}

/* Nodes ------------------------------------------------------------------------------------ */

void graph_release(struct graph *graph)
{
	for (uint32_t k = 0; k < graph->num_sources; k++)
		operand_release(&graph->sources[k]);
	free(graph->sources);
	free(graph->nodes);
	*graph = (struct graph){ 0 };
}

/* Room for one more in an array that doubles. */
static bool grow(void **array, uint32_t count, size_t size)
{
	void *grown;

	if (count & (count - 1))
		return true;
	grown = realloc(*array, (count ? 2 * count : 1) * size);
	if (grown)
		*array = grown;
	return grown;
}

static bool node_equal(const struct graph_node *a, const struct graph_node *b)
{
	return a->kind == b->kind && a->dtype == b->dtype && a->computes == b->computes &&
	       a->opcode == b->opcode && a->flags == b->flags && a->predicate == b->predicate &&
	       a->bits == b->bits && a->source == b->source &&
	       !memcmp(a->operands, b->operands, sizeof(a->operands));
}

int graph_add(struct graph *graph, const struct graph_node *node, uint32_t *number)
{
	for (*number = 0; *number < graph->num_nodes; ++*number)
		if (node_equal(&graph->nodes[*number], node))
			return 0;
	if (!grow((void **)&graph->nodes, graph->num_nodes, sizeof(*node)))
		return -ENOMEM;
	graph->nodes[graph->num_nodes++] = *node;
	return 0;
}

/* The number of the source, which is consumed. */
static int add_source(struct graph *graph, struct lower_operand *source, uint32_t *number)
{
	for (*number = 0; *number < graph->num_sources; ++*number) {
		if (operand_equal(&graph->sources[*number], source)) {
			operand_release(source);
			return 0;
		}
	}
	if (!grow((void **)&graph->sources, graph->num_sources, sizeof(*source))) {
		operand_release(source);
		return -ENOMEM;
	}
	graph->sources[graph->num_sources++] = *source;
	return 0;
}

int graph_add_source(struct graph *graph, struct lower_operand *source, uint32_t *number)
{
	struct graph_node node = { .kind = NODE_SOURCE, .dtype = source->dtype };
	int ret = add_source(graph, source, &node.source);

	return ret ? ret : graph_add(graph, &node, number);
}

int graph_replace(struct graph *graph, uint32_t node, struct lower_operand *source)
{
	struct graph_node replacement = { .kind = NODE_SOURCE, .dtype = source->dtype };
	int ret = add_source(graph, source, &replacement.source);

	if (!ret)
		graph->nodes[node] = replacement;
	return ret;
}

static unsigned int num_operands(const struct graph_node *node)
{
	return node->kind == NODE_OPERATE ? value_arity(node->opcode) : 0;
}

enum accel_dtype graph_computed_dtype(enum accel_dtype dtype)
{
	return dtype_is_raw(dtype) && dtype != ACCEL_DTYPE_RAW128 ?
	       ACCEL_DTYPE_U8 + (dtype - ACCEL_DTYPE_RAW8) : dtype;
}

/* Programs --------------------------------------------------------------------------------- */

/* What is known of a node while its program is written. */
struct node_state {
	uint32_t uses;		/* by nodes not emitted yet */
	uint8_t registers;	/* that it takes to compute, or so */
	uint8_t reg;		/* that it is in, or NO_REGISTER */
	bool is_reached;
};

struct emission {
	const struct graph *graph;
	struct node_state *states;
	struct graph_program *program;
	bool is_taken[NUM_REGISTERS];
};

/* Marks what the root needs, counts uses, and finds the sources. */
static void reach(struct emission *emission, uint32_t number)
{
	const struct graph_node *node = &emission->graph->nodes[number];
	struct node_state *state = &emission->states[number];
	struct graph_program *program = emission->program;
	uint8_t most = 0, same = 0;

	state->uses++;
	if (state->is_reached)
		return;
	state->is_reached = true;
	state->reg = NO_REGISTER;
	if (node->kind == NODE_SOURCE) {
		if (program->num_sources < ACCEL_MAX_SOURCES) {
			state->reg = (uint8_t)program->num_sources;
			emission->is_taken[state->reg] = true;
			program->sources[program->num_sources++] = node->source;
		} else {
			program->limit = "sources";
		}
	}
	for (unsigned int k = 0; k < num_operands(node); k++) {
		const struct node_state *operand = &emission->states[node->operands[k]];

		reach(emission, node->operands[k]);
		same = operand->registers == most ? same + 1 : 0;
		if (operand->registers > most)
			most = operand->registers;
	}
	if (node->kind != NODE_SOURCE)
		state->registers = most ? most + same : 1;
}

static uint8_t take_register(struct emission *emission)
{
	for (uint8_t k = 0; k < NUM_REGISTERS; k++) {
		if (!emission->is_taken[k]) {
			emission->is_taken[k] = true;
			return k;
		}
	}
	emission->program->limit = "registers";
	return 0;
}

static struct accel_instruction *append(struct emission *emission)
{
	struct graph_program *program = emission->program;

	if (program->num_instructions == ACCEL_MAX_INSTRUCTIONS) {
		program->limit = "instructions";
		program->num_instructions--;
	}
	return &program->instructions[program->num_instructions++];
}

static void emit_constant(struct emission *emission, const struct graph_node *node, uint8_t reg)
{
	*append(emission) = (struct accel_instruction){
		.opcode = ACCEL_OP_CONST,
		.dtype = node->dtype,
		.dst = reg,
		.immediate = node->bits,
	};
}

/* The operands by the registers that they take, most first: the others' results are not there. */
static void order_operands(const struct emission *emission, const struct graph_node *node,
			   unsigned int order[3])
{
	for (unsigned int k = 0; k < num_operands(node); k++) {
		unsigned int at = k;

		while (at && emission->states[node->operands[order[at - 1]]].registers <
			     emission->states[node->operands[k]].registers) {
			order[at] = order[at - 1];
			at--;
		}
		order[at] = k;
	}
}

static void emit(struct emission *emission, uint32_t number, bool is_root);

/* Puts the operands into registers; constants last, for they are made for this use. */
static void emit_operands(struct emission *emission, const struct graph_node *node,
			  uint8_t registers[3])
{
	unsigned int order[3] = { 0 }, count = num_operands(node);

	order_operands(emission, node, order);
	for (unsigned int k = 0; k < count && !emission->program->limit; k++)
		emit(emission, node->operands[order[k]], false);
	for (unsigned int k = 0; k < count && !emission->program->limit; k++) {
		uint32_t operand = node->operands[k];

		registers[k] = emission->states[operand].reg;
		if (registers[k] != NO_REGISTER)
			continue;
		registers[k] = take_register(emission);
		emission->states[operand].reg = registers[k];
		emit_constant(emission, &emission->graph->nodes[operand], registers[k]);
	}
}

/* Lets go of registers whose value nobody uses any more, and of constants. */
static void drop_operands(struct emission *emission, const struct graph_node *node)
{
	for (unsigned int k = 0; k < num_operands(node); k++) {
		struct node_state *state = &emission->states[node->operands[k]];
		bool is_constant =
			emission->graph->nodes[node->operands[k]].kind == NODE_CONSTANT;

		state->uses--;
		if ((state->uses && !is_constant) || state->reg == NO_REGISTER)
			continue;
		emission->is_taken[state->reg] = false;
		state->reg = NO_REGISTER;
	}
}

static void emit(struct emission *emission, uint32_t number, bool is_root)
{
	const struct graph_node *node = &emission->graph->nodes[number];
	struct node_state *state = &emission->states[number];
	struct accel_instruction instruction = {
		.opcode = node->opcode,
		.dtype = node->computes,
		.flags = node->flags,
		.predicate = node->predicate,
	};

	if (node->kind == NODE_CONSTANT && is_root)
		emit_constant(emission, node, 0);
	if (node->kind != NODE_OPERATE || state->reg != NO_REGISTER || emission->program->limit)
		return;
	emit_operands(emission, node, instruction.src);
	if (emission->program->limit)
		return;
	drop_operands(emission, node);
	state->reg = is_root ? 0 : take_register(emission);
	instruction.dst = state->reg;
	*append(emission) = instruction;
}

int graph_program(const struct graph *graph, uint32_t root, struct graph_program *program)
{
	struct emission emission = { .graph = graph, .program = program };
	struct node_state few[32];

	program->num_sources = 0;
	program->num_instructions = 0;
	program->limit = NULL;
	emission.states = few;
	if (root >= sizeof(few) / sizeof(few[0])) {
		emission.states = calloc(root + 1, sizeof(*emission.states));
		if (!emission.states)
			return -ENOMEM;
	} else {
		memset(few, 0, (root + 1) * sizeof(few[0]));
	}
	reach(&emission, root);
	if (!program->limit)
		emit(&emission, root, true);
	if (emission.states != few)
		free(emission.states);
	return 0;
}

/* The operand of an operation that does not fit which takes the most: an operation itself. */
static int dearest_operand(const struct graph *graph, const struct graph_node *node, uint32_t *cut)
{
	uint32_t most = 0, cost;
	int ret;

	for (unsigned int k = 0; k < num_operands(node); k++) {
		struct graph_program program;

		if (graph->nodes[node->operands[k]].kind != NODE_OPERATE)
			continue;
		ret = graph_program(graph, node->operands[k], &program);
		if (ret)
			return ret;
		cost = program.num_sources * ACCEL_MAX_INSTRUCTIONS + program.num_instructions;
		if (cost > most) {
			most = cost;
			*cut = node->operands[k];
		}
	}
	return 0;
}

/* Marks what the root needs. */
static void mark(const struct graph *graph, uint32_t number, bool *is_reached)
{
	const struct graph_node *node = &graph->nodes[number];

	if (is_reached[number])
		return;
	is_reached[number] = true;
	for (unsigned int k = 0; k < num_operands(node); k++)
		mark(graph, node->operands[k], is_reached);
}

int graph_find_cut(const struct graph *graph, uint32_t root, uint32_t *cut, const char **limit)
{
	bool *is_reached = calloc(root + 1, sizeof(*is_reached));
	struct graph_program program = { .limit = NULL };
	int ret = 0;

	if (!is_reached)
		return -ENOMEM;
	mark(graph, root, is_reached);
	/* Operands come first: those of the first that does not fit do. */
	for (uint32_t k = 0; !ret && k <= root && !program.limit; k++) {
		if (!is_reached[k] || graph->nodes[k].kind != NODE_OPERATE)
			continue;
		ret = graph_program(graph, k, &program);
		if (!ret && program.limit)
			ret = dearest_operand(graph, &graph->nodes[k], cut);
	}
	*limit = program.limit;
	free(is_reached);
	return ret;
}

void graph_fill_nest(const struct graph *graph, const struct graph_program *program,
		     struct lower_nest *nest)
{
	nest->num_operands = 1 + program->num_sources;
	for (uint32_t k = 0; k < program->num_sources; k++)
		operand_copy(&nest->operands[1 + k], &graph->sources[program->sources[k]]);
	nest->num_instructions = program->num_instructions;
	memcpy(nest->program, program->instructions,
	       program->num_instructions * sizeof(nest->program[0]));
	for (uint32_t k = 0; program->num_instructions && k < nest->num_operands; k++)
		nest->operands[k].dtype = graph_computed_dtype(nest->operands[k].dtype);
}
