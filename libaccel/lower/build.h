/* SPDX-License-Identifier: MIT */
/*
 * Building one nest: values are put in place of loads of tensors that are not in memory, with
 * their indices substituted, until only loads of memory are left. schedule.c decides what is in
 * memory, and asks again when something cannot be put in place.
 */
#ifndef LOWER_BUILD_H
#define LOWER_BUILD_H

#include "lower/function.h"
#include "lower/graph.h"
#include "lower/plan.h"

/* Beside 0 and -errno. */
#define BUILD_EMPTY	1	/* no point of the box is left: there is no nest */
#define BUILD_AGAIN	2	/* a tensor was marked to be in memory: start over */

#define BUILD_MAX_DEPTH		64	/* definitions put in place, inside of one another */
#define BUILD_MAX_CHOICES	16	/* that one nest is the result of */

/* What becomes of a tensor of the function. */
struct tensor_state {
	bool is_reached;
	const char *reason;		/* why it is in memory, whatever it is used for */
	bool is_stored;			/* in memory */
	bool needs_rows;		/* and once more, row-major */
	bool is_apart;			/* not where an output is: its layout does not allow it */
	uint32_t num_uses;
	uint32_t slot;			/* where it is stored */
	struct accel_tensor *layout;	/* how; referenced */
	uint32_t rows_slot;
	struct accel_tensor *rows;
};

struct schedule {
	const struct accel_function *function;
	struct accel_plan_options options;
	struct accel_plan *plan;
	struct tensor_state *states;	/* one for each tensor */
	uint32_t passes;
	struct accel_error *error;
};

/*
 * A nest is one of several where a box is taken apart: which piece it is, is chosen as it is
 * built. taken are the choices in the order in which they are made.
 */
struct choices {
	uint32_t count;
	uint32_t next;
	uint8_t taken[BUILD_MAX_CHOICES];
	uint8_t options[BUILD_MAX_CHOICES];
};

struct build {
	struct schedule *schedule;
	struct lower_nest nest;		/* that is made of it */
	uint32_t tensor;		/* whose value is built */
	struct graph graph;
	uint32_t num_axes;
	struct lower_axis axes[LOWER_MAX_AXES];
	struct variable_bounds variables[LOWER_MAX_AXES + 1];	/* the last is VALUE_INDEX */
	struct bounds bounds;
	struct conditions target;	/* the points that this nest stores */
	struct choices choices;
	uint32_t depth;
};

/*
 * Under what a value is asked for: it counts where conditions hold. Elsewhere it is padding if
 * is_exact, and otherwise anything. index is what VALUE_INDEX stands for in the substitutions.
 */
struct context {
	struct conditions conditions;
	bool is_exact;
	uint64_t padding[2];
	bool is_indirect;
	uint32_t index_target;		/* the tensor that is gathered from */
	uint32_t index_slot;
	enum accel_dtype index_dtype;
	struct lower_address index_address;
	int64_t index_lowest;
	int64_t index_end;
	uint64_t index_limit;
};

/* Takes the axes over, and clears what is of one nest. */
void build_start(struct build *build, const struct lower_axis *axes, uint32_t num_axes);
void build_release(struct build *build);

/* The next of the nests; false: there are no more. */
bool build_next(struct build *build);

/* One of so many; -E2BIG. */
int build_choose(struct build *build, uint32_t options, uint32_t *taken);

void context_release(struct context *context);

/*
 * The node of a tensor's element at indices, which are over the nest's axes. is_value: from its
 * definition, though it may be in memory.
 */
int build_tensor(struct build *build, uint32_t tensor, struct accel_expression *const *indices,
		 struct context *context, bool is_value, uint32_t *node);

/* The same of a value over the axes of a tensor's definition, at indices. */
int build_value(struct build *build, uint32_t tensor, const struct accel_value *value,
		struct accel_expression *const *indices, struct context *context,
		uint32_t *node);

/* What VALUE_INDEX stands for, over the same axes, into the context. */
int build_index(struct build *build, uint32_t tensor, const struct accel_value *index,
		struct accel_expression *const *indices, struct context *context);

/* Where a nest stores: the element of a tensor in memory, with the context's index. */
int build_target(struct build *build, uint32_t slot, const struct accel_tensor *layout,
		 struct accel_expression *const *indices, const struct context *context,
		 struct lower_operand *operand);

/* An element of these bits wherever it is loaded. */
int build_constant(struct build *build, enum accel_dtype dtype, const uint64_t bits[2],
		   uint32_t *node);

#endif /* LOWER_BUILD_H */
