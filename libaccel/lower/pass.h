/* SPDX-License-Identifier: MIT */
/*
 * Passes: what goes to one tensor in memory, before it is a nest. pass.c makes jobs of them,
 * store.c says which ones a tensor takes.
 */
#ifndef LOWER_PASS_H
#define LOWER_PASS_H

#include "lower/build.h"

/*
 * Values that go to one tensor in memory: over axes, at indices of the tensor whose value it is. Of
 * malloc().
 */
struct pass {
	uint32_t tensor;
	const struct function_part *part;	/* of the definition; NULL: the tensor */
	bool is_value;				/* from its definition, though it is in memory */
	bool is_fill;				/* padding everywhere */
	uint32_t slot;				/* where it goes */
	const struct accel_tensor *layout;
	uint32_t num_axes;
	struct lower_axis axes[LOWER_MAX_AXES];
	struct accel_expression *indices[LOWER_MAX_AXES];

	/* Outputs with padding are walked in the order of memory. */
	bool is_physical;
	int64_t strides[LOWER_MAX_AXES];	/* bytes */
	struct accel_expression *condition;	/* where indices are those of an element */
	uint64_t padding[2];
};

/* All jobs of a pass. BUILD_AGAIN. */
int pass_run(struct build *build, const struct pass *pass);
void pass_release(struct pass *pass);

int schedule_no_memory(struct schedule *schedule);

/* store.c: a tensor to where it is in memory, and to the outputs that it is. BUILD_AGAIN. */
int store_tensor(struct build *build, uint32_t number);

#endif /* LOWER_PASS_H */
