/* SPDX-License-Identifier: MIT */
/*
 * What definitions of common operations are put together from.
 */
#ifndef LOWER_OPERATION_H
#define LOWER_OPERATION_H

#include "lower/function.h"

/*
 * A definition that is being made: result from source. Builders of expressions pass NULL on, so
 * that errors are looked at once, at the end.
 */
struct operation {
	struct accel_function *function;
	struct function_tensor source;			/* a copy that owns nothing */
	struct function_tensor definition;
	struct accel_expression *indices[ACCEL_MAX_DIMS];	/* of source */
	struct accel_expression *condition;		/* NULL: none */
	struct accel_value *index;
	const uint64_t *padding;			/* NULL: 0 */
	struct accel_error *error;
};

/* Starts an operation on a tensor of the function: -ENOENT, -EINVAL for the result's name. */
int operation_start(struct operation *operation, struct accel_function *function,
		    const char *result, const char *source, struct accel_error *error);

/* Gives the result its shape and axes, of these names or with NULL i0, i1, .. -E2BIG, -ENOMEM. */
int operation_set_shape(struct operation *operation, uint32_t rank, const int64_t *shape,
			const char *const *names);

/* What a person reads of it; formatted. -ENOMEM. */
__attribute__((format(printf, 2, 3)))
int operation_set_text(struct operation *operation, const char *format, ...);

/* Defines a load of source at indices, and drops the operation; ret is how it went until here. */
int operation_define_load(struct operation *operation, int ret);

/* Defines what is in the definition, and drops the operation. */
int operation_define(struct operation *operation, int ret);

/* The variable of axis k of the result, or with errno NULL. */
struct accel_expression *operation_axis(const struct operation *operation, uint32_t k);

/* Adds 0 <= index < extent to the condition. */
void operation_confine(struct operation *operation, const struct accel_expression *index,
		       int64_t extent);

/* value * factor + addend, value // divisor and value % modulus. Consume; NULL with errno. */
struct accel_expression *operation_affine(struct accel_expression *value, int64_t factor,
					  int64_t addend);
struct accel_expression *operation_quotient(struct accel_expression *value, int64_t divisor);
struct accel_expression *operation_remainder(struct accel_expression *value, int64_t modulus);

/* -EINVAL if the source has no such axis. */
int operation_check_axis(const struct operation *operation, const char *name, uint32_t axis);

/* "(2, 3)", in a buffer. */
void operation_print_shape(uint32_t rank, const int64_t *shape, char *text, size_t size);

/* A load of a tensor at variables i<first>, .., one for each of its axes. */
int operation_load_at(const struct function_tensor *tensor, uint32_t first,
		      struct accel_value **value, struct accel_error *error);

#endif /* LOWER_OPERATION_H */
