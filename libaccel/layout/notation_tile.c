// SPDX-License-Identifier: MIT
/*
 * Outer, tile, inner: tile:outer=NCHW;tile=1,8,8,8;inner=CHWN. The shape is cut into tiles, which
 * stand in memory in the order of outer, and the elements of a tile in that of inner; tile gives
 * the extents of a tile for the axes as outer lists them.
 */
#include <inttypes.h>
#include <string.h>

#include "layout/blocked.h"
#include "layout/notation.h"

struct tile_layout {
	struct accel_layout layout;	/* letters: outer */
	char inner[ACCEL_MAX_DIMS + 1];
	uint32_t num_extents;
	int64_t extents[ACCEL_MAX_DIMS];
};

enum tile_option {
	OPTION_OUTER,
	OPTION_TILE,
	OPTION_INNER,
	NUM_OPTIONS,
};

static int parse_letters(struct cursor *cursor, char letters[ACCEL_MAX_DIMS + 1])
{
	for (uint32_t k = 0; *cursor->next >= 'A' && *cursor->next <= 'Z'; k++) {
		if (strchr(letters, *cursor->next))
			return cursor_unexpected(cursor, "each axis once");
		if (k == ACCEL_MAX_DIMS)
			return cursor_unexpected(cursor, "at most 16 axes");
		letters[k] = *cursor->next++;
	}
	return letters[0] ? 0 : cursor_unexpected(cursor, "axes, upper-case letters");
}

static int parse_outer(struct cursor *cursor, void *layout)
{
	return parse_letters(cursor, ((struct tile_layout *)layout)->layout.letters);
}

static int parse_tile(struct cursor *cursor, void *layout)
{
	struct tile_layout *tile = layout;

	return cursor_numbers(cursor, 1, "the extent of a tile", ACCEL_MAX_DIMS, tile->extents,
			      &tile->num_extents);
}

static int parse_inner(struct cursor *cursor, void *layout)
{
	return parse_letters(cursor, ((struct tile_layout *)layout)->inner);
}

static const struct cursor_option options[NUM_OPTIONS] = {
	[OPTION_OUTER] = { "outer", false, parse_outer },
	[OPTION_TILE] = { "tile", false, parse_tile },
	[OPTION_INNER] = { "inner", false, parse_inner },
};

static int parse(struct accel_layout *layout, struct cursor *cursor)
{
	struct tile_layout *tile = layout_as(struct tile_layout, layout);
	const char *places[NUM_OPTIONS];
	uint32_t given;
	int ret;

	ret = cursor_options(cursor, NUM_OPTIONS, options, tile, &given, places);
	if (ret)
		return ret;
	for (uint32_t k = 0; k < NUM_OPTIONS; k++) {
		if (!(given & 1U << k))
			return cursor_fail(cursor, cursor->next, "%s= is missing",
					   options[k].name);
	}
	layout->rank = (uint32_t)strlen(layout->letters);
	if (tile->num_extents != layout->rank)
		return cursor_fail(cursor, places[OPTION_TILE],
				   "the tile has %u extents, expected %u as outer has axes",
				   tile->num_extents, layout->rank);
	if (strlen(tile->inner) != layout->rank ||
	    strspn(tile->inner, layout->letters) != layout->rank)
		return cursor_fail(cursor, places[OPTION_INNER],
				   "inner is \"%s\", expected the axes of outer, \"%s\"",
				   tile->inner, layout->letters);
	return 0;
}

static void print(const struct accel_layout *layout, struct printer *printer)
{
	const struct tile_layout *tile = layout_as_const(struct tile_layout, layout);

	printer_add(printer, "outer=%s;tile=", layout->letters);
	for (uint32_t k = 0; k < layout->rank; k++)
		printer_add(printer, "%s%" PRId64, k ? "," : "", tile->extents[k]);
	printer_add(printer, ";inner=%s", tile->inner);
}

static int place(const struct accel_layout *layout, struct placement *placement,
		 struct accel_error *error)
{
	const struct tile_layout *tile = layout_as_const(struct tile_layout, layout);
	struct block blocks[2 * ACCEL_MAX_DIMS] = { 0 };

	for (uint32_t k = 0; k < layout->rank; k++) {
		char letter = tile->inner[k];
		ptrdiff_t position = strchr(layout->letters, letter) - layout->letters;

		blocks[k].dim = (uint8_t)layout_dim(layout, layout->letters[k]);
		blocks[layout->rank + k].dim = (uint8_t)layout_dim(layout, letter);
		blocks[layout->rank + k].factor = tile->extents[position];
	}
	return blocked_place(placement, 2 * layout->rank, blocks, error);
}

/*
 * Where an axis without blocks stands in inner makes no difference. In attempt 0 inner is the same
 * as outer; in attempt 1 such axes stand in front of those that have a block.
 */
static bool propose(const struct placement *placement, uint32_t attempt, struct printer *printer)
{
	struct block blocks[PLACEMENT_MAX_DIGITS];
	int64_t extents[ACCEL_MAX_DIMS] = { 0 };
	uint32_t count;

	if (attempt > 1 || !placement->rank || !blocked_recognize(placement, &count, blocks) ||
	    !blocked_has_outer_first(count, blocks))
		return false;
	for (uint32_t k = placement->rank; k < count; k++) {
		if (extents[blocks[k].dim])
			return false;
		extents[blocks[k].dim] = blocks[k].factor;
	}
	printer_add(printer, "outer=");
	for (uint32_t k = 0; k < placement->rank; k++)
		printer_add(printer, "%c", placement->axes[blocks[k].dim]);
	printer_add(printer, ";tile=");
	for (uint32_t k = 0; k < placement->rank; k++) {
		int64_t extent = extents[blocks[k].dim];

		printer_add(printer, "%s%" PRId64, k ? "," : "", extent ? extent : 1);
	}
	printer_add(printer, ";inner=");
	for (uint32_t k = 0; k < placement->rank; k++) {
		if (!attempt || !extents[blocks[k].dim])
			printer_add(printer, "%c", placement->axes[blocks[k].dim]);
	}
	for (uint32_t k = placement->rank; attempt && k < count; k++)
		printer_add(printer, "%c", placement->axes[blocks[k].dim]);
	return true;
}

const struct notation notation_tile = {
	.name = "tile",
	.size = sizeof(struct tile_layout),
	.needs_prefix = true,
	.parse = parse,
	.print = print,
	.place = place,
	.propose = propose,
};
