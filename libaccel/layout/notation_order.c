// SPDX-License-Identifier: MIT
/*
 * Dimension order: NHWC. The axes from the outermost to the innermost, dense.
 */
#include <string.h>

#include "layout/blocked.h"
#include "layout/notation.h"

static bool recognizes(const char *text)
{
	return !text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")];
}

static int parse(struct accel_layout *layout, struct cursor *cursor)
{
	const char *start = cursor->next;

	for (; *cursor->next; cursor->next++) {
		uint32_t rank = (uint32_t)(cursor->next - start);

		if (*cursor->next < 'A' || *cursor->next > 'Z')
			return cursor_unexpected(cursor,
						 "an axis, an upper-case letter from A to Z");
		if (strchr(layout->letters, *cursor->next))
			return cursor_unexpected(cursor, "each axis once");
		if (rank == ACCEL_MAX_DIMS)
			return cursor_unexpected(cursor, "at most 16 axes");
		layout->letters[rank] = *cursor->next;
	}
	layout->rank = (uint32_t)(cursor->next - start);
	return 0;
}

static void print(const struct accel_layout *layout, struct printer *printer)
{
	printer_add_string(printer, layout->letters);
}

static int place(const struct accel_layout *layout, struct placement *placement,
		 struct accel_error *error)
{
	struct block blocks[ACCEL_MAX_DIMS] = { 0 };

	for (uint32_t k = 0; k < layout->rank; k++)
		blocks[k].dim = (uint8_t)layout_dim(layout, layout->letters[k]);
	return blocked_place(placement, layout->rank, blocks, error);
}

static bool propose(const struct placement *placement, uint32_t attempt, struct printer *printer)
{
	struct block blocks[PLACEMENT_MAX_DIGITS];
	uint32_t count;

	if (attempt || !blocked_recognize(placement, &count, blocks))
		return false;
	for (uint32_t k = 0; k < count; k++)
		printer_add(printer, "%c", placement->axes[blocks[k].dim]);
	return true;
}

const struct notation notation_order = {
	.name = "order",
	.size = sizeof(struct accel_layout),
	.recognizes = recognizes,
	.parse = parse,
	.print = print,
	.place = place,
	.propose = propose,
};
