// SPDX-License-Identifier: MIT
/*
 * TVM's layouts, those of TOPI: NCHW16c, OIHW4o4i, OIHW[4o4i]. An upper-case letter is an axis, the
 * lower-case one with a factor before it a split of that axis; axes in brackets are one
 * physical axis. A letter may be split repeatedly: OIHW4i16o4i.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "layout/blocked.h"
#include "layout/notation.h"

struct topi_axis {
	char letter;
	bool is_joined;		/* in brackets with the one before it */
	bool is_bracketed;
	int64_t factor;		/* 0: an upper-case letter */
};

struct topi_layout {
	struct accel_layout layout;
	uint32_t num_axes;
	struct topi_axis axes[ACCEL_MAX_PHYSICAL_DIMS];
};

static int parse_split(struct cursor *cursor, struct topi_axis *axis)
{
	int ret = cursor_number(cursor, 1, "a factor", &axis->factor);

	if (ret)
		return ret;
	if (isupper((unsigned char)*cursor->next))
		return cursor_unexpected(cursor,
			"a lower-case axis after a factor: upper-case ones have none");
	if (!islower((unsigned char)*cursor->next))
		return cursor_unexpected(cursor, "a lower-case axis after a factor");
	return 0;
}

static int parse_axis(struct topi_layout *topi, struct cursor *cursor, bool in_brackets)
{
	struct topi_axis *axis = &topi->axes[topi->num_axes];
	struct accel_layout *layout = &topi->layout;
	const char *start = cursor->next;

	if (topi->num_axes == ACCEL_MAX_PHYSICAL_DIMS)
		return cursor_unexpected(cursor, "at most 32 axes and splits");
	if (isdigit((unsigned char)*cursor->next)) {
		int ret = parse_split(cursor, axis);

		if (ret)
			return ret;
	} else if (islower((unsigned char)*cursor->next)) {
		return cursor_fail(cursor, start,
				   "axis %c at column %d has no factor, expected one as in 16%c",
				   *start, (int)(start - cursor->text) + 1, *start);
	} else if (!isupper((unsigned char)*cursor->next)) {
		return cursor_unexpected(cursor, in_brackets ? "a factor or ']'" :
					 "an axis, a factor or the end");
	} else if (in_brackets) {
		return cursor_unexpected(cursor, "a factor: in brackets are only splits");
	}
	axis->letter = *cursor->next;
	if (!axis->factor) {
		size_t rank = strlen(layout->letters);

		if (strchr(layout->letters, axis->letter))
			return cursor_unexpected(cursor, "each axis once");
		if (rank == ACCEL_MAX_DIMS)
			return cursor_unexpected(cursor, "at most 16 axes");
		layout->letters[rank] = axis->letter;
	}
	cursor->next++;
	topi->num_axes++;
	return 0;
}

static int parse_brackets(struct topi_layout *topi, struct cursor *cursor)
{
	uint32_t first = topi->num_axes;

	do {
		int ret = parse_axis(topi, cursor, true);

		if (ret)
			return ret;
		topi->axes[topi->num_axes - 1].is_bracketed = true;
		topi->axes[topi->num_axes - 1].is_joined = topi->num_axes - 1 != first;
	} while (!cursor_take(cursor, "]"));
	return 0;
}

/* Each split has its axis, and no axis has more values in its blocks than can be counted. */
static int check_splits(const struct topi_layout *topi, struct cursor *cursor, const char *start)
{
	int64_t products[26];

	for (uint32_t k = 0; k < 26; k++)
		products[k] = 1;
	for (uint32_t k = 0; k < topi->num_axes; k++) {
		const struct topi_axis *axis = &topi->axes[k];
		char primal = (char)toupper((unsigned char)axis->letter);
		const char *at = strchr(start, axis->letter);

		if (!axis->factor)
			continue;
		if (!strchr(topi->layout.letters, primal))
			return cursor_fail(cursor, at, "axis %c at column %d is a split of %c, "
					   "which the layout does not have", axis->letter,
					   (int)(at - cursor->text) + 1, primal);
		if (__builtin_mul_overflow(products[primal - 'A'], axis->factor,
					   &products[primal - 'A']))
			return cursor_fail(cursor, at, "the splits of axis %c do not fit 63 bits",
					   primal);
	}
	return 0;
}

static int parse(struct accel_layout *layout, struct cursor *cursor)
{
	struct topi_layout *topi = layout_as(struct topi_layout, layout);
	const char *start = cursor->next;
	int ret;

	while (*cursor->next) {
		if (cursor_take(cursor, "["))
			ret = parse_brackets(topi, cursor);
		else
			ret = parse_axis(topi, cursor, false);
		if (ret)
			return ret;
	}
	layout->rank = (uint32_t)strlen(layout->letters);
	return check_splits(topi, cursor, start);
}

static void print(const struct accel_layout *layout, struct printer *printer)
{
	const struct topi_layout *topi = layout_as_const(struct topi_layout, layout);

	for (uint32_t k = 0; k < topi->num_axes; k++) {
		const struct topi_axis *axis = &topi->axes[k];
		bool ends = axis->is_bracketed && (k + 1 == topi->num_axes ||
						   !topi->axes[k + 1].is_joined);

		if (axis->is_bracketed && !axis->is_joined)
			printer_add(printer, "[");
		if (axis->factor)
			printer_add(printer, "%" PRId64, axis->factor);
		printer_add(printer, "%c%s", axis->letter, ends ? "]" : "");
	}
}

static int place(const struct accel_layout *layout, struct placement *placement,
		 struct accel_error *error)
{
	const struct topi_layout *topi = layout_as_const(struct topi_layout, layout);
	struct block blocks[ACCEL_MAX_PHYSICAL_DIMS];

	for (uint32_t k = 0; k < topi->num_axes; k++) {
		const struct topi_axis *axis = &topi->axes[k];
		char primal = (char)toupper((unsigned char)axis->letter);

		blocks[k] = (struct block){
			.dim = (uint8_t)layout_dim(layout, primal),
			.is_joined = axis->is_joined,
			.factor = axis->factor,
		};
	}
	return blocked_place(placement, topi->num_axes, blocks, error);
}

static bool propose(const struct placement *placement, uint32_t attempt, struct printer *printer)
{
	struct block blocks[PLACEMENT_MAX_DIGITS];
	uint32_t count;

	if (attempt || !blocked_recognize(placement, &count, blocks))
		return false;
	for (uint32_t k = 0; k < count; k++) {
		char letter = placement->axes[blocks[k].dim];

		if (blocks[k].factor)
			printer_add(printer, "%" PRId64 "%c", blocks[k].factor,
				    tolower((unsigned char)letter));
		else
			printer_add(printer, "%c", letter);
	}
	return true;
}

const struct notation notation_topi = {
	.name = "topi",
	.size = sizeof(struct topi_layout),
	.parse = parse,
	.print = print,
	.place = place,
	.propose = propose,
};
