/* SPDX-License-Identifier: MIT */
/*
 * A nest: what one pass is to do, in index expressions, before it is a job. The axes are walked in
 * any order; operand 0 is the destination. pass.c makes nests, this makes jobs of
 * them: expressions become affine addresses and windows within the limits of a job.
 */
#ifndef LOWER_NEST_H
#define LOWER_NEST_H

#include <stdbool.h>
#include <stdint.h>

#include <accel.h>

#include "lower/plan.h"

#define LOWER_MAX_AXES		ACCEL_MAP_MAX_AXES
#define LOWER_MAX_TERMS		ACCEL_MAP_MAX_AXES
#define LOWER_MAX_CONDITIONS	32

/* value * stride; value is over the names of the axes, simplified, and referenced. */
struct lower_term {
	struct accel_expression *value;
	int64_t stride;				/* bytes */
};

/* offset + the sum of the terms, in bytes from the start of the slot's tensor */
struct lower_address {
	int64_t offset;
	uint32_t num_terms;
	struct lower_term terms[LOWER_MAX_TERMS];
};

/* 0 <= value < limit */
struct lower_condition {
	struct accel_expression *value;
	int64_t limit;
};

struct lower_operand {
	uint32_t slot;
	enum accel_dtype dtype;
	struct lower_address address;
	/* the slot's bytes, in which every address is to be proved; both 0: not known */
	int64_t lowest;
	int64_t end;
	/* sources: where one does not hold, fill is the value; destination: nothing is stored */
	uint32_t num_conditions;
	struct lower_condition conditions[LOWER_MAX_CONDITIONS];
	uint64_t fill[2];
	/* gather and scatter */
	bool is_indirect;
	uint32_t index_slot;
	enum accel_dtype index_dtype;
	struct lower_address index_address;
	int64_t index_lowest;			/* as lowest and end */
	int64_t index_end;
	int64_t index_stride;			/* bytes */
	uint64_t index_limit;
};

struct lower_axis {
	char name[ACCEL_NAME_MAX + 1];
	int64_t extent;
};

struct lower_nest {
	uint32_t num_axes;
	struct lower_axis axes[LOWER_MAX_AXES];
	uint32_t num_operands;			/* the destination and at most 4 sources */
	struct lower_operand operands[1 + ACCEL_MAX_SOURCES];
	uint32_t num_instructions;
	struct accel_instruction program[ACCEL_MAX_INSTRUCTIONS];
	bool keeps_order;			/* the loops stay in the order of the axes */
	bool is_divisible;			/* wasteful jobs are an error: it can be two */
};

/*
 * Appends to the plan the jobs that do what the nest says, as a rule one, with notes of what was
 * done to fit the limits of a job and why. Adds to the plan's bytes_read and bytes_written, and one
 * to its passes if there is a job. Consumes nothing. Errors: -EOVERFLOW; -E2BIG, -ENOTSUP naming
 * the limit that nothing could be done about; -ENOMEM; -ENOENT for a name that is no axis; -EDOM
 * for a division by 0.
 */
int lower_nest(const struct lower_nest *nest, struct accel_plan *plan, struct accel_error *error);

/* Drops the references to expressions; the nest may be zero. */
void lower_nest_release(struct lower_nest *nest);

#endif /* LOWER_NEST_H */
