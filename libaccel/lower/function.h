/* SPDX-License-Identifier: MIT */
/*
 * Functions: tensors by name, inputs and definitions, and which of them are asked for. What is in
 * a function has been checked: names are there, types fit, indices stay in their tensors.
 */
#ifndef LOWER_FUNCTION_H
#define LOWER_FUNCTION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <accel.h>

#include "lower/condition.h"
#include "lower/nest.h"
#include "lower/value.h"

#define FUNCTION_NO_TENSOR	UINT32_MAX

enum function_kind {
	FUNCTION_INPUT,
	FUNCTION_VALUE,		/* the element at each index of the result is a value */
	FUNCTION_PARTS,		/* one value for each range of one axis; the ranges fill it */
	FUNCTION_PUSH,		/* at each point of the axes, a value goes to an index */
};

/* The value of start <= axis < start + size. */
struct function_part {
	int64_t start;
	int64_t size;
	struct accel_value *value;
};

struct function_tensor {
	enum function_kind kind;
	char name[ACCEL_NAME_MAX + 1];
	enum accel_dtype dtype;
	uint32_t rank;
	int64_t shape[ACCEL_MAX_DIMS];
	char *text;				/* a line for a person; NULL for inputs */

	struct accel_tensor *layout;		/* inputs: how it is laid out */
	uint32_t input;				/* inputs: which */

	/* What the values go over. But for a push, one for each axis of the result. */
	uint32_t num_axes;
	struct lower_axis *axes;
	uint32_t axis;				/* parts: the one that is cut */
	uint32_t num_parts;			/* without parts: 1 */
	struct function_part *parts;
	bool is_in_range;			/* the way it was made proves its indices */

	/* Pushes: where the value goes, and what is where none does. */
	struct accel_expression *indices[ACCEL_MAX_DIMS];
	struct accel_value *index;		/* loaded, VALUE_INDEX in indices; or NULL */
	bool leaves_gaps;
	uint64_t padding[2];
};

struct function_output {
	uint32_t tensor;
	struct accel_tensor *layout;		/* how it is laid out */
	bool fills_padding;			/* the layout's, where it leaves any */
	uint64_t padding[2];
};

struct accel_function {
	atomic_uint refs;
	uint32_t num_tensors;
	uint32_t num_inputs;
	struct function_tensor *tensors;	/* in order: values load from those before them */
	uint32_t num_outputs;
	struct function_output *outputs;
};

/* The tensor's number, or FUNCTION_NO_TENSOR. */
uint32_t function_find(const struct accel_function *function, const char *name);

/* The same with an error: -ENOENT, naming what asks for it. */
int function_require(const struct accel_function *function, const char *name, uint32_t *number,
		     struct accel_error *error);

/* Whether it is a name of a tensor or an axis: -EINVAL. */
int function_check_name(const char *what, const char *name, struct accel_error *error);

/* define.c */

/*
 * Checks a definition and adds it. It is consumed, also when this fails; axes, parts and text are
 * of malloc(). The type is set here, from the values. Where text is NULL, it is printed.
 */
int function_define(struct accel_function *function, struct function_tensor *definition,
		    struct accel_error *error);

/* Gives a definition its own axes, of those names or with NULL i0, i1, .. -ENOMEM. */
int function_set_axes(struct function_tensor *definition, uint32_t num_axes,
		      const char *const *names, const int64_t *extents,
		      struct accel_error *error);

/* Gives a definition num_parts parts, all zero. -ENOMEM. */
int function_set_parts(struct function_tensor *definition, uint32_t num_parts,
		       struct accel_error *error);

void function_tensor_release(struct function_tensor *tensor);

/* What is known of the axes. variables has room for one more. */
void function_bounds(const struct lower_axis *axes, uint32_t num_axes,
		     struct variable_bounds *variables, struct bounds *bounds);

/* The type of a value whose tensors are there. */
enum accel_dtype function_value_dtype(const struct accel_function *function,
				      const struct accel_value *value);

/* define_range.c */

/* Whether every load stays in its tensor where these conditions hold, and no others: -ERANGE. */
int function_check_ranges(const struct accel_function *function, const struct accel_value *value,
			  const struct conditions *conditions, const struct bounds *bounds,
			  struct accel_error *error);

/* The same of indices of one tensor; with has_index, VALUE_INDEX in them is a loaded one. */
int function_check_indices(const char *name, uint32_t rank, const int64_t *shape,
			   struct accel_expression *const *indices, bool has_index,
			   const struct conditions *conditions, const struct bounds *bounds,
			   struct accel_error *error);

/* How large an index may be that is loaded for the indices of a gather, exclusive: -ERANGE. */
int function_index_limit(const char *name, uint32_t rank, const int64_t *shape,
			 struct accel_expression *const *indices, const struct bounds *bounds,
			 int64_t *limit, struct accel_error *error);

/* define_print.c */

/* The text of a definition, of malloc(), as accel_function_define() takes it where it can. */
char *function_print(const struct accel_function *function,
		     const struct function_tensor *definition);

#endif /* LOWER_FUNCTION_H */
