// SPDX-License-Identifier: MIT
/*
 * Layouts: the notations, and the strides that a layout gives to a logical shape. Pure
 * mathematics: knows nothing of element types, memory or devices.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

#define NUM_LETTERS 26

static const char strides_prefix[] = "strides:";

struct accel_layout {
	atomic_uint refs;
	uint32_t rank;
	bool is_order;				/* a dimension order; otherwise strides */
	char letters[ACCEL_MAX_DIMS + 1];	/* order: the axes, outermost first */
	uint32_t order[ACCEL_MAX_DIMS];		/* order: the logical axis at each position */
	int64_t strides[ACCEL_MAX_DIMS];	/* strides: of each logical axis, in elements */
	int64_t offset;				/* strides: in elements */
};

/* A text that is being parsed, and what is read next. */
struct cursor {
	const char *text;
	const char *next;
	struct accel_error *error;
};

static int cursor_column(const struct cursor *cursor)
{
	ptrdiff_t column = cursor->next - cursor->text + 1;

	return column > INT_MAX ? INT_MAX : (int)column;
}

/* What stands at p, for a message: hostile bytes are not passed on to a terminal. */
static const char *describe_character(const char *p, char buffer[16])
{
	if (!*p)
		return "the end";
	if (isprint((unsigned char)*p))
		snprintf(buffer, 16, "'%c'", *p);
	else
		snprintf(buffer, 16, "byte 0x%02x", (unsigned char)*p);
	return buffer;
}

static int unexpected(const struct cursor *cursor, const char *expected)
{
	char buffer[16];

	return accel_error_set_at(cursor->error, -EINVAL, cursor_column(cursor),
				  "layout: found %s at column %d, expected %s",
				  describe_character(cursor->next, buffer), cursor_column(cursor),
				  expected);
}

/*
 * Reads distinct upper-case letters to the end of the text; positions[letter - 'A'] is where each
 * stands, or -1. Returns their number.
 */
static int parse_letters(struct cursor *cursor, int positions[NUM_LETTERS])
{
	int count = 0;

	memset(positions, -1, NUM_LETTERS * sizeof(positions[0]));
	for (; *cursor->next; cursor->next++, count++) {
		int letter = *cursor->next - 'A';

		if (letter < 0 || letter >= NUM_LETTERS)
			return unexpected(cursor, "an axis, an upper-case letter from A to Z");
		if (positions[letter] >= 0)
			return unexpected(cursor, "each axis once");
		if (count == ACCEL_MAX_DIMS)
			return unexpected(cursor, "at most 16 axes");
		positions[letter] = count;
	}
	return count;
}

static int parse_order(struct accel_layout *layout, const char *notation, const char *axes,
		       struct accel_error *error)
{
	struct cursor cursor = { notation, notation, error };
	struct cursor axes_cursor = { axes, axes, error };
	int positions[NUM_LETTERS], axis_positions[NUM_LETTERS];
	int rank = parse_letters(&cursor, positions);
	int num_axes = axes ? parse_letters(&axes_cursor, axis_positions) : rank;

	if (rank < 0 || num_axes < 0)
		return -EINVAL;
	if (!axes)
		memcpy(axis_positions, positions, sizeof(axis_positions));
	for (int i = 0; i < rank; i++) {
		int axis = axis_positions[notation[i] - 'A'];

		if (axis < 0)
			return accel_error_set_at(error, -EINVAL, i + 1,
				"layout \"%s\": axis %c at column %d is none of \"%s\"",
				notation, notation[i], i + 1, axes);
		layout->order[i] = (uint32_t)axis;
	}
	for (int i = 0; i < num_axes && axes; i++) {
		if (positions[axes[i] - 'A'] < 0)
			return accel_error_set_at(error, -EINVAL, rank + 1,
				"layout \"%s\": axis %c of \"%s\" is missing",
				notation, axes[i], axes);
	}
	layout->is_order = true;
	layout->rank = (uint32_t)rank;
	memcpy(layout->letters, notation, (size_t)rank);
	return 0;
}

static int parse_integer(struct cursor *cursor, int64_t *value)
{
	const char *digits = cursor->next + (*cursor->next == '-');
	char *end;

	/* strtoll() alone would take blanks and a plus sign */
	if (!isdigit((unsigned char)*digits)) {
		cursor->next = digits;
		return unexpected(cursor, "a number");
	}
	errno = 0;
	*value = strtoll(cursor->next, &end, 10);
	if (errno == ERANGE)
		return accel_error_set_at(cursor->error, -EINVAL, cursor_column(cursor),
					  "layout: the number at column %d does not fit 64 bits",
					  cursor_column(cursor));
	cursor->next = end;
	return 0;
}

static int parse_strides(struct accel_layout *layout, const char *notation,
			 struct accel_error *error)
{
	struct cursor cursor = { notation, notation + strlen(strides_prefix), error };
	bool is_first = true;

	while (*cursor.next && *cursor.next != '@') {
		if (!is_first && *cursor.next++ != ',') {
			cursor.next--;
			return unexpected(&cursor, "',', '@' or the end");
		}
		if (layout->rank == ACCEL_MAX_DIMS)
			return unexpected(&cursor, "at most 16 strides");
		if (parse_integer(&cursor, &layout->strides[layout->rank]))
			return -EINVAL;
		layout->rank++;
		is_first = false;
	}
	if (!*cursor.next)
		return 0;
	cursor.next++;
	if (parse_integer(&cursor, &layout->offset))
		return -EINVAL;
	return *cursor.next ? unexpected(&cursor, "the end") : 0;
}

ACCEL_API int accel_layout_parse(const char *notation, const char *axes,
				 struct accel_layout **result, struct accel_error *error)
{
	struct accel_layout *layout;
	int ret;

	*result = NULL;
	if (!notation)
		return accel_error_set(error, -EINVAL, "layout: no notation was given");
	layout = calloc(1, sizeof(*layout));
	if (!layout)
		return accel_error_set(error, -ENOMEM, "layout: out of memory");
	atomic_init(&layout->refs, 1);
	if (!strncmp(notation, strides_prefix, strlen(strides_prefix)))
		ret = parse_strides(layout, notation, error);
	else
		ret = parse_order(layout, notation, axes, error);
	if (ret) {
		free(layout);
		return ret;
	}
	*result = layout;
	return 0;
}

ACCEL_API struct accel_layout *accel_layout_ref(struct accel_layout *layout)
{
	atomic_fetch_add_explicit(&layout->refs, 1, memory_order_relaxed);
	return layout;
}

ACCEL_API void accel_layout_unref(struct accel_layout *layout)
{
	/* acq_rel: whoever frees sees what all others did to the object before they let go */
	if (layout && atomic_fetch_sub_explicit(&layout->refs, 1, memory_order_acq_rel) == 1)
		free(layout);
}

ACCEL_API uint32_t accel_layout_rank(const struct accel_layout *layout)
{
	return layout->rank;
}

ACCEL_API int accel_layout_print(const struct accel_layout *layout, char *text, size_t size)
{
	/* the prefix, 16 numbers of at most 20 characters with their commas, and the offset */
	char buffer[sizeof(strides_prefix) + (ACCEL_MAX_DIMS + 1) * 22];
	int length;

	if (layout->is_order)
		return snprintf(text, size, "%s", layout->letters);
	length = snprintf(buffer, sizeof(buffer), "%s", strides_prefix);
	for (uint32_t i = 0; i < layout->rank; i++)
		length += snprintf(buffer + length, sizeof(buffer) - (size_t)length,
				   "%s%" PRId64, i ? "," : "", layout->strides[i]);
	if (layout->offset)
		snprintf(buffer + length, sizeof(buffer) - (size_t)length, "@%" PRId64,
			 layout->offset);
	return snprintf(text, size, "%s", buffer);
}

static int check_shape(const struct accel_layout *layout, uint32_t rank, const int64_t *shape,
		       struct accel_error *error)
{
	if (rank != layout->rank)
		return accel_error_set(error, -EINVAL,
				       "layout of %u axes: the shape has %u, expected %u",
				       layout->rank, rank, layout->rank);
	for (uint32_t i = 0; i < rank; i++) {
		if (shape[i] < 0)
			return accel_error_set(error, -EINVAL,
				"shape: extent %u is %" PRId64 ", expected 0 or more", i, shape[i]);
	}
	return 0;
}

ACCEL_API int accel_layout_strides(const struct accel_layout *layout, uint32_t rank,
				   const int64_t *shape, int64_t *strides, int64_t *offset,
				   struct accel_error *error)
{
	int64_t stride = 1;
	int ret = check_shape(layout, rank, shape, error);

	if (ret)
		return ret;
	*offset = layout->offset;
	if (!layout->is_order) {
		memcpy(strides, layout->strides, rank * sizeof(strides[0]));
		return 0;
	}
	for (uint32_t position = rank; position--;) {
		uint32_t axis = layout->order[position];
		/* as NumPy does: an empty shape has the strides of one with extents of 1 instead */
		int64_t extent = shape[axis] ? shape[axis] : 1;

		strides[axis] = stride;
		if (__builtin_mul_overflow(stride, extent, &stride))
			return accel_error_set(error, -EOVERFLOW,
				"layout %s: the strides of this shape do not fit 63 bits",
				layout->letters);
	}
	return 0;
}

ACCEL_API int accel_layout_physical_shape(const struct accel_layout *layout, uint32_t rank,
					  const int64_t *shape, int64_t *physical_shape,
					  struct accel_error *error)
{
	int ret = check_shape(layout, rank, shape, error);

	if (ret)
		return ret;
	if (!layout->is_order)
		return accel_error_set(error, -ENOTSUP, "layout: strides have no physical shape, "
				       "a dimension order has");
	for (uint32_t position = 0; position < rank; position++)
		physical_shape[position] = shape[layout->order[position]];
	return 0;
}
