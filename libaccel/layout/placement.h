/* SPDX-License-Identifier: MIT */
/*
 * Where a layout puts the elements of one shape: what every notation makes, and what it is made
 * from when a layout is written in another. A placement is a list of digits, the outermost
 * first. Knows nothing of any notation's text.
 */
#ifndef ACCEL_LAYOUT_PLACEMENT_H
#define ACCEL_LAYOUT_PLACEMENT_H

#include <accel.h>

#include "layout/map.h"

#define PLACEMENT_MAX_DIGITS	ACCEL_MAP_MAX_AXES

/*
 * A coordinate in memory: (fused / divisor) % modulus, where fused is the row-major index over
 * the listed dimensions, as wide as the shape. Without dimensions it is always 0. Where no such
 * formula exists, expression is the coordinate and the rest of the formula is unused.
 */
struct digit {
	uint32_t num_dims;
	uint8_t dims[ACCEL_MAX_DIMS];
	int64_t divisor;
	int64_t modulus;			/* 0: none */
	struct accel_expression *expression;	/* NULL: the formula says it */
	int64_t extent;				/* values that memory has room for */
	int64_t stride;				/* elements */
	bool is_joined;				/* in one physical axis with the digit before it */
};

struct placement {
	enum accel_dtype dtype;			/* 0: not known */
	int64_t element_size;			/* bytes; 0: not known */
	uint32_t rank;
	int64_t shape[ACCEL_MAX_DIMS];
	char axes[ACCEL_MAX_DIMS + 1];		/* a letter for each dimension, or empty */
	uint32_t num_digits;
	struct digit digits[PLACEMENT_MAX_DIGITS];
	int64_t offset;				/* of the element at index 0, in elements */
	int64_t num_elements;			/* that memory has room for, from its start */
	int64_t alignment[ACCEL_MAX_DIMS];	/* bytes, of each dimension's stride; 0: not told */
	bool has_sticks;
	bool is_sparse;				/* sticks: one element in each */
};

/*
 * Checks the shape and starts a placement without digits. dtype 0: not known. -EINVAL, -EOVERFLOW.
 * To be released, also after a failure.
 */
int placement_init(struct placement *placement, enum accel_dtype dtype, uint32_t rank,
		   const int64_t *shape, const char *axes, struct accel_error *error);
void placement_release(struct placement *placement);

/* Appends a digit of one dimension, or of none (dim -1). -E2BIG. */
int placement_add(struct placement *placement, int dim, int64_t divisor, int64_t modulus,
		  int64_t extent, struct accel_error *error);

/* Appends a copy of a digit. Its expression is consumed. -E2BIG. */
int placement_add_digit(struct placement *placement, const struct digit *digit,
			struct accel_error *error);

/* Gives the digits row-major strides and counts the elements. -EOVERFLOW. */
int placement_pack(struct placement *placement, struct accel_error *error);

/*
 * Counts the elements of digits that have their strides and checks that none is below the
 * start of memory: -ERANGE. -EOVERFLOW.
 */
int placement_measure(struct placement *placement, struct accel_error *error);

/* Whether the bytes of all elements fit 63 bits, for one whose elements were counted otherwise. */
int placement_check_bytes(const struct placement *placement, struct accel_error *error);

/* ceil(extent / divisor); divisor is at least 1 */
int64_t ceil_divide(int64_t extent, int64_t divisor);

/* The extent of the digit's fused index. It fits: placement_init() has seen to that. */
int64_t placement_fused_extent(const struct placement *placement, const struct digit *digit);

/* How many values the coordinate takes over the shape: at least 1. */
int64_t digit_range(const struct placement *placement, const struct digit *digit);

/* True if the digit is an index as it stands, of one dimension or of several fused. */
bool digit_is_whole(const struct digit *digit);

/* The name of a dimension's variable in maps: its letter in lower case, or i and a number. */
void placement_variable(const struct placement *placement, uint32_t dim, char name[4]);

/* A digit's coordinate as an expression over those names; NULL with errno. */
struct accel_expression *placement_coordinate(const struct placement *placement,
					      const struct digit *digit);

/* The element that an index of the shape goes to. -EOVERFLOW, -EINVAL. */
int placement_element(const struct placement *placement, const int64_t *index, int64_t *element,
		      struct accel_error *error);

/* The map from the index to the physical index. */
int placement_map(const struct placement *placement, struct accel_map **map,
		  struct accel_error *error);

/* The map from the index to the element, of one output. */
int placement_element_map(const struct placement *placement, struct accel_map **map,
			  struct accel_error *error);

/*
 * Physical axes: digits that are joined make one. Each of the arrays may be NULL and has room for
 * PLACEMENT_MAX_DIGITS. -EOVERFLOW.
 */
int placement_axes(const struct placement *placement, uint32_t *rank, int64_t *shape,
		   int64_t *strides, struct accel_error *error);

/* The row-major strides of the shape, in elements. */
void placement_host_strides(const struct placement *placement, int64_t *strides);

/*
 * How many elements of the shape, in row-major order, a step of a digit of one dimension goes; -1
 * for a digit that is always 0.
 */
int64_t placement_step(const struct placement *placement, const struct digit *digit);

/*
 * The stride of each dimension, if each has a single one: -ENOTSUP otherwise. A dimension of one
 * value has that of its innermost digit, though it is never stepped along.
 */
int placement_strides(const struct placement *placement, int64_t *strides);

/* The digits in the order of memory if they are dense, row-major, from element 0. */
bool placement_is_dense(const struct placement *placement, struct digit *digits);

/*
 * The digits without what has no effect on addresses: those that are always 0 are dropped, those
 * that run on are joined, fused ones are taken apart where they can be, and the rest is sorted. Two
 * placements of a shape put all elements at the same places if these are the same. Returns
 * how many there are. digits has room for PLACEMENT_MAX_DIGITS * 2 and borrows the expressions.
 */
uint32_t placement_canonical(const struct placement *placement, struct digit *digits);

/*
 * Whether both place each index at the same element of memory of the same size. UNKNOWN only where
 * a digit is an expression.
 */
int placement_equal(const struct placement *a, const struct placement *b,
		    enum accel_answer *answer, struct accel_error *error);

#endif /* ACCEL_LAYOUT_PLACEMENT_H */
