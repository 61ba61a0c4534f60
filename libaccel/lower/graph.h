/* SPDX-License-Identifier: MIT */
/*
 * What one nest computes at a point: a graph of sources, constants and operations, equal ones
 * being one; and the program that computes it with the registers and instructions of a job.
 */
#ifndef LOWER_GRAPH_H
#define LOWER_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "lower/nest.h"

enum node_kind {
	NODE_SOURCE,
	NODE_CONSTANT,
	NODE_OPERATE,
};

/* Operands are nodes before it. */
struct graph_node {
	enum node_kind kind;
	enum accel_dtype dtype;		/* of the result */
	enum accel_dtype computes;	/* operations: the type computed in */
	uint8_t opcode;
	uint8_t flags;
	uint8_t predicate;
	uint32_t operands[3];
	uint64_t bits;
	uint32_t source;
};

struct graph {
	uint32_t num_nodes;
	struct graph_node *nodes;
	uint32_t num_sources;
	struct lower_operand *sources;
};

/* What a job can do of a graph: the program and its sources, in the order of registers. */
struct graph_program {
	uint32_t num_sources;
	uint32_t sources[ACCEL_MAX_SOURCES];
	uint32_t num_instructions;
	struct accel_instruction instructions[ACCEL_MAX_INSTRUCTIONS];
	const char *limit;		/* what does not fit, or NULL */
};

void graph_release(struct graph *graph);

/* The node like this one, new or there already. -ENOMEM. */
int graph_add(struct graph *graph, const struct graph_node *node, uint32_t *number);

/* The node of this source, which is consumed. */
int graph_add_source(struct graph *graph, struct lower_operand *source, uint32_t *number);

/* Writes the program of a node; where it does not fit, limit says why. -ENOMEM. */
int graph_program(const struct graph *graph, uint32_t root, struct graph_program *program);

/*
 * The operation to compute in a pass of its own, so that something more fits after it: it
 * does by itself. For a root that does not fit there is one.
 */
int graph_find_cut(const struct graph *graph, uint32_t root, uint32_t *cut, const char **limit);

/* Makes a source of a node; the source is consumed. */
int graph_replace(struct graph *graph, uint32_t node, struct lower_operand *source);

/* Fills in sources, types and program of a nest whose destination and axes are there. */
void graph_fill_nest(const struct graph *graph, const struct graph_program *program,
		     struct lower_nest *nest);

void operand_release(struct lower_operand *operand);
bool operand_mentions(const struct lower_operand *operand, const char *name);

/* The type that a raw one is computed in, of the same size. */
enum accel_dtype graph_computed_dtype(enum accel_dtype dtype);

#endif /* LOWER_GRAPH_H */
