/* SPDX-License-Identifier: MIT */
/*
 * The values of a chain's options as text. What the library has a notation for, it parses itself.
 */
#ifndef TOOLS_CHAIN_TEXT_H
#define TOOLS_CHAIN_TEXT_H

#include <accel.h>

#define COMPUTE_MAX_NAMES	8

/* Tensors in the text of a computation, each once, in the order in which they appear. */
struct compute_names {
	char result[ACCEL_NAME_MAX + 1];
	uint32_t num_targets;			/* in the result's indices */
	char targets[COMPUTE_MAX_NAMES][ACCEL_NAME_MAX + 1];
	uint32_t num_sources;			/* behind the = */
	char sources[COMPUTE_MAX_NAMES][ACCEL_NAME_MAX + 1];
};

/* Finds the names; whether the text makes sense is not asked here. */
void compute_names(const char *text, struct compute_names *names);

/*
 * Numbers of at least minimum with commas in between, with or without parentheses around them.
 * Returns where the text ends, or where it makes no sense.
 */
const char *chain_numbers(const char *text, int64_t minimum, uint32_t capacity, uint32_t *count,
			  int64_t *numbers);

/* "kernel=3,3;stride=1,1;pad=1,1;dilation=1,1;layout=NHWC". -EINVAL with the column. */
int im2col_parse(const char *text, bool is_nhwc, struct accel_im2col *im2col,
		 struct accel_error *error);

/* "axis=0;index=PATH": the path is the rest of the text. -EINVAL with the column. */
int gather_parse(const char *text, uint32_t *axis, const char **path, struct accel_error *error);

#endif /* TOOLS_CHAIN_TEXT_H */
