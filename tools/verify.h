/* SPDX-License-Identifier: MIT */
/*
 * The tool's own check of a copy, element by element. It shares nothing with the library: it
 * takes the meaning of a dimension order from the letters themselves.
 */
#ifndef TOOLS_VERIFY_H
#define TOOLS_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <accel.h>

/* What a copy was to do. */
struct verify_copy {
	const char *from;	/* the axes of the input, outermost first: "NCHW" */
	const char *to;		/* those of the output, the same letters */
	const int64_t *shape;	/* of the input, in the order of from */
	bool is_fortran;	/* the input's first axis is the fastest, not its last */
	size_t element_size;
	int64_t first_element;	/* of the output, where not all of it is compared */
	int64_t num_elements;	/* 0: all of it */
	/* The element that must be stored for one that was loaded; NULL: the same. */
	void (*expect)(void *element);
};

/*
 * Compares each element of the output, dense in the order of to, with the one of the input that it
 * must come from. Returns 0, or -EIO with the first index that differs in the message.
 */
int verify_copy(const struct verify_copy *copy, const void *input, const void *output,
		struct accel_error *error);

/* Compares a result with what it must be, byte by byte: 0, or -EIO with the first element. */
int verify_equal(const void *found, const void *expected, uint64_t size, size_t element_size,
		 struct accel_error *error);

/* Goes to the next index, the last axis first. False: there was none, and it is the first again. */
bool verify_next(uint32_t rank, const int64_t *shape, int64_t *index);

#endif /* TOOLS_VERIFY_H */
