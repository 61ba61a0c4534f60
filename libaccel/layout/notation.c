// SPDX-License-Identifier: MIT
/*
 * The table of notations, and parsing, printing and expressing a layout in one of them. What a
 * layout makes of a shape is in layout.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout/notation.h"

/* Those that recognize more come after those that recognize less. */
static const struct notation *const notations[] = {
	&notation_order,
	&notation_topi,
	&notation_glow,
	&notation_stick,
	&notation_strides,
	&notation_tile,
	&notation_xla,
	&notation_onednn,
	&notation_pack,
	&notation_unpack,
	&notation_map,
};

#define NUM_NOTATIONS	(sizeof(notations) / sizeof(notations[0]))
#define NUM_LETTERS	26

ACCEL_API const char *accel_notation_name(uint32_t k)
{
	return k < NUM_NOTATIONS ? notations[k]->name : NULL;
}

const struct notation *notation_find(const char *name, size_t length)
{
	for (size_t k = 0; k < NUM_NOTATIONS; k++) {
		if (strlen(notations[k]->name) == length &&
		    !memcmp(notations[k]->name, name, length))
			return notations[k];
	}
	return NULL;
}

/* The notation of a text; next is moved behind its prefix, if there is one. */
static const struct notation *identify(const char **next)
{
	size_t length = strspn(*next, "abcdefghijklmnopqrstuvwxyz");
	const struct notation *notation = notation_find(*next, length);

	if (notation && (*next)[length] == ':') {
		*next += length + 1;
		return notation;
	}
	if (notation && !(*next)[length] && notation->has_bare_form) {
		*next += length;
		return notation;
	}
	for (size_t k = 0; k < NUM_NOTATIONS; k++) {
		if (notations[k]->recognizes && notations[k]->recognizes(*next))
			return notations[k];
	}
	/* it is none: this one tells best what is wrong with it */
	return &notation_topi;
}

struct accel_layout *layout_alloc(const struct notation *notation)
{
	struct accel_layout *layout = calloc(1, notation->size);

	if (!layout)
		return NULL;
	atomic_init(&layout->references, 1);
	layout->notation = notation;
	layout->rank = ACCEL_RANK_ANY;
	return layout;
}

ACCEL_API struct accel_layout *accel_layout_ref(struct accel_layout *layout)
{
	atomic_fetch_add_explicit(&layout->references, 1, memory_order_relaxed);
	return layout;
}

ACCEL_API void accel_layout_unref(struct accel_layout *layout)
{
	/* acq_rel: whoever frees sees what all others did to the object before they let go */
	if (!layout ||
	    atomic_fetch_sub_explicit(&layout->references, 1, memory_order_acq_rel) != 1)
		return;
	if (layout->notation->release)
		layout->notation->release(layout);
	free(layout);
}

uint32_t layout_dim(const struct accel_layout *layout, char letter)
{
	return (uint32_t)(strchr(layout->axes, letter) - layout->axes);
}

/* Reads distinct upper-case letters to the end of the text. */
static int parse_axes(const char *axes, struct accel_error *error)
{
	struct cursor cursor = { axes, axes, error };
	uint32_t seen = 0;

	for (; *cursor.next; cursor.next++) {
		int letter = *cursor.next - 'A';

		if (letter < 0 || letter >= NUM_LETTERS)
			return cursor_unexpected(&cursor,
						 "an axis, an upper-case letter from A to Z");
		if (seen & 1U << letter)
			return cursor_unexpected(&cursor, "each axis once");
		if (cursor.next - axes == ACCEL_MAX_DIMS)
			return cursor_unexpected(&cursor, "at most 16 axes");
		seen |= 1U << letter;
	}
	return 0;
}

/* The letters of the notation, which the cursor is at, and the axes are the same in any order. */
static int match_axes(const struct accel_layout *layout, const char *axes, struct cursor *cursor)
{
	for (size_t k = 0; layout->letters[k]; k++) {
		if (!strchr(axes, layout->letters[k]))
			return cursor_fail(cursor, strchr(cursor->next, layout->letters[k]),
					   "axis %c is none of \"%s\"", layout->letters[k], axes);
	}
	for (size_t k = 0; axes[k]; k++) {
		if (!strchr(layout->letters, axes[k]))
			return cursor_fail(cursor, cursor->next + strlen(cursor->next),
					   "axis %c of \"%s\" is missing", axes[k], axes);
	}
	return 0;
}

int layout_set_axes(struct accel_layout *layout, const char *axes, struct cursor *cursor)
{
	struct accel_error *error = cursor->error, cause = { 0 };
	int ret;

	if (!axes)
		axes = layout->letters;
	/* without the column, which is none of the notation's text */
	ret = parse_axes(axes, &cause);
	if (ret)
		return accel_error_set(error, ret, "axes: %s", cause.message);
	if (layout->letters[0] && !layout->has_fixed_axes)
		ret = match_axes(layout, axes, cursor);
	if (ret)
		return ret;
	if (layout->rank == ACCEL_RANK_ANY && axes[0])
		layout->rank = (uint32_t)strlen(axes);
	if (axes[0] && layout->rank != strlen(axes))
		return accel_error_set(error, -EINVAL, "layout: it has %u axes, \"%s\" names %zu",
				       layout->rank, axes, strlen(axes));
	memcpy(layout->axes, axes, strlen(axes) + 1);
	return 0;
}

ACCEL_API int accel_layout_parse(const char *notation, const char *axes,
				 struct accel_layout **result, struct accel_error *error)
{
	struct cursor cursor = { notation, notation, error }, start;
	const struct notation *found;
	struct accel_layout *layout;
	int ret;

	*result = NULL;
	if (!notation)
		return accel_error_set(error, -EINVAL, "layout: no notation was given");
	found = identify(&cursor.next);
	layout = layout_alloc(found);
	if (!layout)
		return accel_error_set(error, -ENOMEM, "layout: out of memory");
	start = cursor;
	ret = found->parse(layout, &cursor);
	if (!ret)
		ret = layout_set_axes(layout, axes, &start);
	if (ret) {
		accel_layout_unref(layout);
		return ret;
	}
	*result = layout;
	return 0;
}

ACCEL_API uint32_t accel_layout_rank(const struct accel_layout *layout)
{
	return layout->rank;
}

ACCEL_API const char *accel_layout_axes(const struct accel_layout *layout)
{
	return layout->axes;
}

ACCEL_API const char *accel_layout_notation(const struct accel_layout *layout)
{
	return layout->notation->name;
}

static void print_layout(const struct accel_layout *layout, struct printer *printer)
{
	if (layout->notation->needs_prefix)
		printer_add(printer, "%s:", layout->notation->name);
	layout->notation->print(layout, printer);
}

ACCEL_API int accel_layout_print(const struct accel_layout *layout, char *text, size_t size)
{
	struct printer printer;

	printer_init(&printer, text, size);
	print_layout(layout, &printer);
	return printer_finish(&printer);
}

/* Expressing -------------------------------------------------------------------------------- */

#define PROPOSAL_MAX	4096	/* bytes; 32 axes of 20 digits, twice, and words */

/*
 * Parses a proposal and checks it against the placement. 1: it says the same; 0: it does not;
 * -errno: that could not be found out.
 */
static int check_proposal(const char *text, const struct placement *placement,
			  struct accel_layout **result, struct accel_error *error)
{
	struct placement other;
	struct accel_layout *layout;
	enum accel_answer answer = ACCEL_ANSWER_NO;
	int ret;

	/* what does not parse or fit is no error, but a wrong guess */
	ret = accel_layout_parse(text, placement->axes, &layout, NULL);
	if (ret == -ENOMEM)
		return accel_error_set(error, ret, "layout: out of memory");
	if (ret)
		return 0;
	ret = layout_place(layout, placement->axes, placement->dtype, placement->rank,
			   placement->shape, &other, NULL);
	if (!ret)
		ret = placement_equal(placement, &other, &answer, error);
	else if (ret == -ENOMEM)
		accel_error_set(error, ret, "layout: out of memory");
	else
		ret = 0;
	placement_release(&other);
	if (!ret && answer == ACCEL_ANSWER_YES) {
		*result = layout;
		return 1;
	}
	accel_layout_unref(layout);
	return ret;
}

/* The first proposal that says the same: 1; 0 if none does; or -errno. */
static int express(const struct placement *placement, const struct notation *notation,
		   struct accel_layout **result, struct accel_error *error)
{
	char *text = malloc(PROPOSAL_MAX);
	int ret = 0;

	if (!text)
		return accel_error_set(error, -ENOMEM, "layout: out of memory");
	for (uint32_t attempt = 0; !ret; attempt++) {
		struct printer printer;

		printer_init(&printer, text, PROPOSAL_MAX);
		printer_add(&printer, "%s:", notation->name);
		if (!notation->propose(placement, attempt, &printer))
			break;
		if (printer.length < PROPOSAL_MAX)
			ret = check_proposal(text, placement, result, error);
	}
	free(text);
	return ret;
}

/* Names for axes that have none. */
static void name_axes(uint32_t rank, char axes[ACCEL_MAX_DIMS + 1])
{
	uint32_t d;

	for (d = 0; d < rank && d < ACCEL_MAX_DIMS; d++)
		axes[d] = (char)('A' + d);
	axes[d] = '\0';
}

/* Takes the names off again in a notation that does without. */
static int forget_names(struct accel_layout **layout, struct accel_error *error)
{
	struct accel_layout *named = *layout;
	char text[PROPOSAL_MAX];
	int ret;

	if (named->letters[0])
		return 0;
	accel_layout_print(named, text, sizeof(text));
	ret = accel_layout_parse(text, NULL, layout, error);
	accel_layout_unref(named);
	return ret;
}

ACCEL_API int accel_layout_express(struct accel_layout *layout, enum accel_dtype dtype,
				   uint32_t rank, const int64_t *shape, const char *name,
				   struct accel_layout **result, struct accel_error *error)
{
	const struct notation *notation = notation_find(name, strlen(name));
	struct placement placement;
	char axes[ACCEL_MAX_DIMS + 1];
	char text[64];
	int ret;

	*result = NULL;
	if (!notation)
		return accel_error_set(error, -EINVAL, "layout: there is no notation \"%.40s\"",
				       name);
	memcpy(axes, layout->axes, sizeof(axes));
	if (!axes[0])
		name_axes(rank, axes);
	ret = layout_place(layout, axes, dtype, rank, shape, &placement, error);
	if (ret)
		goto out;
	if (layout->notation == notation) {
		*result = accel_layout_ref(layout);
		goto out;
	}
	ret = express(&placement, notation, result, error);
	if (ret == 1) {
		ret = layout->axes[0] ? 0 : forget_names(result, error);
	} else if (!ret) {
		accel_layout_print(layout, text, sizeof(text));
		ret = accel_error_set(error, -ENOTSUP,
				      "layout: %s of this shape cannot be written as %s", text,
				      name);
	}
out:
	placement_release(&placement);
	return ret;
}
