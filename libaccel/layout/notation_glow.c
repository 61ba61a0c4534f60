// SPDX-License-Identifier: MIT
/*
 * Glow's layout strings: N[a=32][ns:data]H*[a=64]. A letter or * for each axis, from the outermost
 * to the innermost, each with attributes in brackets: a=, which aligns the axis' stride to so
 * many bytes, and opaque ones, which have a namespace and are kept as they are written.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "layout/expression.h"
#include "layout/glow.h"

static bool recognizes(const char *text)
{
	size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	return text[length] == '*' ||
	       (text[length] == '[' && !isdigit((unsigned char)text[length + 1]));
}

static void release(struct accel_layout *layout)
{
	struct glow_layout *glow = layout_as(struct glow_layout, layout);

	for (uint32_t k = 0; k < glow->num_attributes; k++)
		free(glow->attributes[k].text);
	free(glow->attributes);
}

/* Appends an attribute of an axis. text is copied; NULL for an alignment. */
static int add_attribute(struct glow_layout *glow, uint32_t axis, const char *text, size_t length,
			 int64_t alignment, struct accel_error *error)
{
	struct glow_attribute *attributes;
	char *copy = NULL;

	attributes = realloc(glow->attributes,
			     (glow->num_attributes + 1) * sizeof(*attributes));
	if (!attributes)
		return accel_error_set(error, -ENOMEM, "layout: out of memory");
	glow->attributes = attributes;
	if (text) {
		copy = strndup(text, length);
		if (!copy)
			return accel_error_set(error, -ENOMEM, "layout: out of memory");
	}
	attributes[glow->num_attributes++] = (struct glow_attribute){
		.axis = axis,
		.text = copy,
		.alignment = alignment,
	};
	return 0;
}

size_t glow_name_length(const char *text)
{
	return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.");
}

const struct glow_attribute *glow_find(const struct glow_layout *glow, uint32_t axis,
				       const char *name, size_t length)
{
	for (uint32_t k = 0; k < glow->num_attributes; k++) {
		const struct glow_attribute *attribute = &glow->attributes[k];
		bool is_alignment = length == 1 && *name == 'a';

		if (attribute->axis != axis)
			continue;
		if (is_alignment && !attribute->text)
			return attribute;
		if (!is_alignment && attribute->text && !strncmp(attribute->text, name, length) &&
		    attribute->text[length] == ':')
			return attribute;
	}
	return NULL;
}

static int parse_alignment(struct glow_layout *glow, struct cursor *cursor, uint32_t axis)
{
	const char *start = cursor->next - strlen("a=");
	int64_t alignment;
	int ret = cursor_number(cursor, 1, "an alignment in bytes", &alignment);

	if (ret)
		return ret;
	if (*cursor->next != ']')
		return cursor_unexpected(cursor, "']'");
	if (glow_find(glow, axis, "a", 1))
		return cursor_fail(cursor, start, "the axis at column %d has two alignments",
				   (int)(start - cursor->text) + 1);
	return add_attribute(glow, axis, NULL, 0, alignment, cursor->error);
}

static int parse_opaque(struct glow_layout *glow, struct cursor *cursor, uint32_t axis)
{
	const char *start = cursor->next;
	size_t length = glow_name_length(start);

	cursor->next += length;
	if (!length || *cursor->next != ':' || (length == 1 && *start == 'a'))
		return cursor_unexpected(cursor,
			"a= and an alignment, or a namespace and ':', as in [ns:data]");
	if (glow_find(glow, axis, start, length))
		return cursor_fail(cursor, start, "the attribute at column %d is there twice",
				   (int)(start - cursor->text) + 1);
	cursor->next += strcspn(cursor->next, "]");
	if (!*cursor->next)
		return cursor_unexpected(cursor, "']'");
	return add_attribute(glow, axis, start, (size_t)(cursor->next - start), 0, cursor->error);
}

static int parse_attribute(struct glow_layout *glow, struct cursor *cursor, uint32_t axis)
{
	int ret;

	if (glow->num_attributes == GLOW_MAX_ATTRIBUTES)
		return cursor_unexpected(cursor, "at most 64 attributes");
	if (cursor_take(cursor, "a="))
		ret = parse_alignment(glow, cursor, axis);
	else
		ret = parse_opaque(glow, cursor, axis);
	cursor->next += !ret;
	return ret;
}

/* The letters name the logical axes if they are upper-case and all different. */
static void name_axes(struct glow_layout *glow)
{
	for (uint32_t k = 0; k < glow->layout.rank; k++) {
		if (!isupper((unsigned char)glow->names[k]) ||
		    strchr(glow->names, glow->names[k]) != &glow->names[k])
			return;
	}
	memcpy(glow->layout.letters, glow->names, sizeof(glow->names));
}

static int parse(struct accel_layout *layout, struct cursor *cursor)
{
	struct glow_layout *glow = layout_as(struct glow_layout, layout);
	uint32_t rank = 0;

	for (cursor_skip_blanks(cursor); *cursor->next; cursor_skip_blanks(cursor)) {
		int ret = 0;

		if (rank && cursor_take(cursor, "[")) {
			ret = parse_attribute(glow, cursor, rank - 1);
		} else if (!isalpha((unsigned char)*cursor->next) && *cursor->next != '*') {
			ret = cursor_unexpected(cursor, rank ? "an axis, a letter or *, or '['" :
						"an axis, a letter or *");
		} else if (rank == ACCEL_MAX_DIMS) {
			ret = cursor_unexpected(cursor, "at most 16 axes");
		} else {
			glow->names[rank++] = *cursor->next++;
		}
		if (ret)
			return ret;
	}
	layout->rank = rank;
	name_axes(glow);
	return 0;
}

static void print(const struct accel_layout *layout, struct printer *printer)
{
	const struct glow_layout *glow = layout_as_const(struct glow_layout, layout);

	for (uint32_t axis = 0; axis < glow->layout.rank; axis++) {
		printer_add(printer, "%c", glow->names[axis]);
		for (uint32_t k = 0; k < glow->num_attributes; k++) {
			const struct glow_attribute *attribute = &glow->attributes[k];

			if (attribute->axis != axis)
				continue;
			if (attribute->text) {
				printer_add_string(printer, "[");
				printer_add_string(printer, attribute->text);
				printer_add_string(printer, "]");
			} else {
				printer_add(printer, "[a=%" PRId64 "]", attribute->alignment);
			}
		}
	}
}

int64_t glow_alignment(const struct glow_layout *glow, uint32_t axis)
{
	const struct glow_attribute *attribute = glow_find(glow, axis, "a", 1);

	return attribute ? attribute->alignment : 1;
}

/* The least stride of at least stride elements that is a multiple of alignment bytes. */
static int align(int64_t *stride, int64_t alignment, int64_t element_size)
{
	int64_t step = alignment / greatest_common_divisor(alignment, element_size);

	return __builtin_mul_overflow(ceil_divide(*stride, step), step, stride) ? -EOVERFLOW : 0;
}

static int place(const struct accel_layout *layout, struct placement *placement,
		 struct accel_error *error)
{
	const struct glow_layout *glow = layout_as_const(struct glow_layout, layout);
	int64_t stride = 1;
	int ret;

	for (uint32_t k = 0; k < layout->rank; k++) {
		uint32_t dim = layout->letters[0] ? layout_dim(layout, layout->letters[k]) : k;

		placement->alignment[dim] = glow_alignment(glow, k);
		if (placement->alignment[dim] > 1 && !placement->element_size)
			return accel_error_set(error, -EINVAL,
					       "layout: its alignments need an element type");
		ret = placement_add(placement, (int)dim, 1, 0, placement->shape[dim], error);
		if (ret)
			return ret;
	}
	for (uint32_t k = layout->rank; k--;) {
		struct digit *digit = &placement->digits[k];
		int64_t alignment = placement->alignment[digit->dims[0]];

		ret = alignment > 1 ? align(&stride, alignment, placement->element_size) : 0;
		digit->stride = stride;
		if (ret || (digit->extent &&
			    __builtin_mul_overflow(stride, digit->extent, &stride)))
			return accel_error_set(
				error, -EOVERFLOW,
				"layout: the strides of this shape do not fit 63 bits");
	}
	ret = placement_measure(placement, error);
	/* the outermost axis is as long in memory as its stride says, to the end */
	if (ret || !placement->num_elements)
		return ret;
	placement->num_elements = stride;
	return placement_check_bytes(placement, error);
}

/*
 * Row-major in the logical order, with the alignment that explains a stride that is longer than
 * it would have to be: in attempt 0 the largest power of two in it, in attempt 1 all of it.
 */
static bool propose(const struct placement *placement, uint32_t attempt, struct printer *printer)
{
	int64_t strides[ACCEL_MAX_DIMS], alignments[ACCEL_MAX_DIMS];
	int64_t stride = 1;

	if (attempt > 1 || !placement->rank || placement_strides(placement, strides))
		return false;
	for (uint32_t d = placement->rank; d--;) {
		int64_t bytes;

		alignments[d] = 1;
		if (strides[d] != stride && placement->shape[d] > 1) {
			if (strides[d] < stride ||
			    __builtin_mul_overflow(strides[d], placement->element_size, &bytes))
				return false;
			alignments[d] = attempt ? bytes : bytes & -bytes;
			stride = strides[d];
		}
		if (placement->shape[d] && __builtin_mul_overflow(stride, placement->shape[d],
								  &stride))
			return false;
	}
	for (uint32_t d = 0; d < placement->rank; d++) {
		printer_add(printer, "%c", placement->axes[d]);
		if (alignments[d] > 1)
			printer_add(printer, "[a=%" PRId64 "]", alignments[d]);
	}
	return true;
}

const struct notation notation_glow = {
	.name = "glow",
	.size = sizeof(struct glow_layout),
	.needs_prefix = true,
	.recognizes = recognizes,
	.parse = parse,
	.release = release,
	.print = print,
	.place = place,
	.propose = propose,
};
