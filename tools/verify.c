// SPDX-License-Identifier: MIT
/*
 * The point-by-point check: counts through the output and finds each element's place in the input.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "error.h"
#include "verify.h"

#define MAX_ELEMENT 16

/* Axes of the output, outermost first. */
struct walk {
	size_t rank;
	int64_t extents[ACCEL_MAX_DIMS];
	int64_t strides[ACCEL_MAX_DIMS];	/* in the input, in elements */
	int64_t index[ACCEL_MAX_DIMS];
	int64_t place;				/* of index in the input, in elements */
};

/* Elements between neighbours on an axis of the input. */
static int64_t input_stride(const struct verify_copy *copy, size_t axis)
{
	size_t first = copy->is_fortran ? 0 : axis + 1;
	size_t end = copy->is_fortran ? axis : strlen(copy->from);
	int64_t stride = 1;

	for (size_t i = first; i < end; i++)
		stride *= copy->shape[i];
	return stride;
}

static void start_at(struct walk *walk, int64_t element)
{
	for (size_t i = walk->rank; i--; element /= walk->extents[i]) {
		walk->index[i] = element % walk->extents[i];
		walk->place += walk->index[i] * walk->strides[i];
	}
}

/* Returns the number of elements. */
static int64_t begin_walk(const struct verify_copy *copy, struct walk *walk)
{
	int64_t num_elements = 1;

	memset(walk, 0, sizeof(*walk));
	walk->rank = strlen(copy->to);
	for (size_t i = 0; i < walk->rank; i++) {
		size_t axis = (size_t)(strchr(copy->from, copy->to[i]) - copy->from);

		walk->extents[i] = copy->shape[axis];
		if (!copy->shape[axis])
			return 0;
		num_elements *= copy->shape[axis];
	}
	for (size_t i = 0; i < walk->rank; i++)
		walk->strides[i] =
			input_stride(copy, (size_t)(strchr(copy->from, copy->to[i]) - copy->from));
	if (!copy->num_elements)
		return num_elements;
	start_at(walk, copy->first_element);
	return copy->num_elements;
}

static void step(struct walk *walk)
{
	for (size_t i = walk->rank; i--;) {
		walk->place += walk->strides[i];
		if (++walk->index[i] < walk->extents[i])
			return;
		walk->place -= walk->extents[i] * walk->strides[i];
		walk->index[i] = 0;
	}
}

static void print_bytes(char *text, const unsigned char *bytes, size_t size)
{
	/* as a number is written: the highest byte first */
	for (size_t i = 0; i < size; i++)
		sprintf(text + 2 * i, "%02x", bytes[size - 1 - i]);
}

static int report_difference(const struct verify_copy *copy, const struct walk *walk,
			     const unsigned char *found, const unsigned char *expected,
			     struct accel_error *error)
{
	char index[ACCEL_MAX_DIMS * 21 + 1] = "";
	char found_text[2 * MAX_ELEMENT + 1], expected_text[2 * MAX_ELEMENT + 1];
	int length = 0;

	for (size_t i = 0; i < walk->rank; i++)
		length += sprintf(index + length, "%s%" PRId64, i ? "," : "", walk->index[i]);
	print_bytes(found_text, found, copy->element_size);
	print_bytes(expected_text, expected, copy->element_size);
	return accel_error_set(error, -EIO,
			       "verify: the element at %s = (%s) is 0x%s, expected 0x%s",
			       copy->to, index, found_text, expected_text);
}

int verify_copy(const struct verify_copy *copy, const void *input, const void *output,
		struct accel_error *error)
{
	size_t size = copy->element_size;
	const unsigned char *found = output;
	unsigned char expected[MAX_ELEMENT];
	struct walk walk;
	int64_t left = begin_walk(copy, &walk);

	for (; left; left--, found += size, step(&walk)) {
		memcpy(expected, (const unsigned char *)input + (size_t)walk.place * size, size);
		if (copy->expect)
			copy->expect(expected);
		if (memcmp(found, expected, size))
			return report_difference(copy, &walk, found, expected, error);
	}
	return 0;
}

int verify_equal(const void *found, const void *expected, uint64_t size, size_t element_size,
		 struct accel_error *error)
{
	const unsigned char *found_bytes = found, *expected_bytes = expected;
	char found_text[2 * MAX_ELEMENT + 1], expected_text[2 * MAX_ELEMENT + 1];
	uint64_t i = 0;

	if (!memcmp(found, expected, size))
		return 0;
	while (!memcmp(found_bytes + i, expected_bytes + i, element_size))
		i += element_size;
	print_bytes(found_text, found_bytes + i, element_size);
	print_bytes(expected_text, expected_bytes + i, element_size);
	return accel_error_set(error, -EIO, "verify: element %" PRIu64 " is 0x%s, expected 0x%s",
			       i / element_size, found_text, expected_text);
}

bool verify_next(uint32_t rank, const int64_t *shape, int64_t *index)
{
	for (uint32_t d = rank; d--;) {
		if (++index[d] < shape[d])
			return true;
		index[d] = 0;
	}
	return false;
}
