// SPDX-License-Identifier: MIT
/*
 * MLIR's linalg.pack and linalg.unpack:
 * pack:inner_dims_pos=1;inner_tiles=16;outer_dims_perm=0,2,3,1. Packing splits the dimensions of
 * inner_dims_pos by inner_tiles, permutes the outer parts and puts the tiles behind them, in the
 * order in which they are listed. Unpacking is the layout of the packed shape that undoes this:
 * what it makes is the unpacked shape, rounded up to tiles.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "layout/blocked.h"
#include "layout/notation.h"

struct pack_layout {
	struct accel_layout layout;
	uint32_t num_tiles;
	uint32_t num_sizes;
	uint32_t num_outer;
	int64_t positions[ACCEL_MAX_DIMS];
	int64_t sizes[ACCEL_MAX_DIMS];
	uint32_t outer[ACCEL_MAX_DIMS];
};

enum pack_option {
	OPTION_POSITIONS,
	OPTION_TILES,
	OPTION_OUTER,
	NUM_OPTIONS,
};

static int parse_positions(struct cursor *cursor, void *layout)
{
	struct pack_layout *pack = layout;
	const char *start = cursor->next;
	uint32_t seen = 0;
	int ret;

	ret = cursor_numbers(cursor, 0, "a dimension", ACCEL_MAX_DIMS, pack->positions,
			     &pack->num_tiles);
	for (uint32_t k = 0; !ret && k < pack->num_tiles; k++) {
		int64_t position = pack->positions[k];

		if (position >= ACCEL_MAX_DIMS || seen & 1U << position)
			return cursor_fail(cursor, start,
				"dimension %" PRId64 " of inner_dims_pos is %s", position,
				position < ACCEL_MAX_DIMS ? "there twice" : "more than 15");
		seen |= 1U << position;
	}
	return ret;
}

static int parse_sizes(struct cursor *cursor, void *layout)
{
	struct pack_layout *pack = layout;

	return cursor_numbers(cursor, 1, "the size of a tile", ACCEL_MAX_DIMS, pack->sizes,
			      &pack->num_sizes);
}

static int parse_outer(struct cursor *cursor, void *layout)
{
	struct pack_layout *pack = layout;

	return cursor_permutation(cursor, "a dimension", ACCEL_MAX_DIMS, pack->outer,
				  &pack->num_outer);
}

static const struct cursor_option options[NUM_OPTIONS] = {
	[OPTION_POSITIONS] = { "inner_dims_pos", false, parse_positions },
	[OPTION_TILES] = { "inner_tiles", false, parse_sizes },
	[OPTION_OUTER] = { "outer_dims_perm", false, parse_outer },
};

static int parse_options(struct pack_layout *pack, struct cursor *cursor)
{
	const char *places[NUM_OPTIONS];
	uint32_t given;
	int ret;

	ret = cursor_options(cursor, NUM_OPTIONS, options, pack, &given, places);
	if (ret)
		return ret;
	for (uint32_t k = OPTION_POSITIONS; k <= OPTION_TILES; k++) {
		if (!(given & 1U << k))
			return cursor_fail(cursor, cursor->next, "%s= is missing",
					   options[k].name);
	}
	if (pack->num_sizes != pack->num_tiles)
		return cursor_fail(cursor, places[OPTION_TILES],
				   "inner_tiles has %u sizes, expected %u as inner_dims_pos",
				   pack->num_sizes, pack->num_tiles);
	for (uint32_t k = 0; pack->num_outer && k < pack->num_tiles; k++) {
		if (pack->positions[k] >= pack->num_outer)
			return cursor_fail(cursor, places[OPTION_POSITIONS],
					   "dimension %" PRId64 " of inner_dims_pos is not one of "
					   "the %u of outer_dims_perm", pack->positions[k],
					   pack->num_outer);
	}
	return 0;
}

static int parse_pack(struct accel_layout *layout, struct cursor *cursor)
{
	struct pack_layout *pack = layout_as(struct pack_layout, layout);
	int ret = parse_options(pack, cursor);

	if (!ret && pack->num_outer)
		layout->rank = pack->num_outer;
	return ret;
}

static int parse_unpack(struct accel_layout *layout, struct cursor *cursor)
{
	struct pack_layout *pack = layout_as(struct pack_layout, layout);
	const char *start = cursor->next;
	int ret = parse_options(pack, cursor);

	if (ret)
		return ret;
	if (pack->num_outer + pack->num_tiles > ACCEL_MAX_DIMS)
		return cursor_fail(cursor, start,
				   "the packed shape has %u axes, expected at most %d",
				   pack->num_outer + pack->num_tiles, ACCEL_MAX_DIMS);
	if (pack->num_outer)
		layout->rank = pack->num_outer + pack->num_tiles;
	return 0;
}

static void print(const struct accel_layout *layout, struct printer *printer)
{
	const struct pack_layout *pack = layout_as_const(struct pack_layout, layout);

	printer_add(printer, "inner_dims_pos=");
	for (uint32_t k = 0; k < pack->num_tiles; k++)
		printer_add(printer, "%s%" PRId64, k ? "," : "", pack->positions[k]);
	printer_add(printer, ";inner_tiles=");
	for (uint32_t k = 0; k < pack->num_tiles; k++)
		printer_add(printer, "%s%" PRId64, k ? "," : "", pack->sizes[k]);
	if (pack->num_outer)
		printer_add(printer, ";outer_dims_perm=");
	for (uint32_t k = 0; k < pack->num_outer; k++)
		printer_add(printer, "%s%u", k ? "," : "", pack->outer[k]);
}

/* The dimension whose outer part is at position k. */
static uint32_t outer_at(const struct pack_layout *pack, uint32_t k)
{
	return pack->num_outer ? pack->outer[k] : k;
}

static int check_positions(const struct pack_layout *pack, uint32_t rank,
			   struct accel_error *error)
{
	for (uint32_t k = 0; k < pack->num_tiles; k++) {
		if (pack->positions[k] >= rank)
			return accel_error_set(error, -EINVAL,
					       "layout: inner_dims_pos has dimension %" PRId64
					       ", the unpacked shape has %u", pack->positions[k],
					       rank);
	}
	return 0;
}

static int place_pack(const struct accel_layout *layout, struct placement *placement,
		      struct accel_error *error)
{
	const struct pack_layout *pack = layout_as_const(struct pack_layout, layout);
	struct block blocks[2 * ACCEL_MAX_DIMS] = { 0 };
	uint32_t rank = placement->rank;
	int ret;

	ret = check_positions(pack, rank, error);
	if (ret)
		return ret;
	for (uint32_t k = 0; k < rank; k++)
		blocks[k].dim = (uint8_t)outer_at(pack, k);
	for (uint32_t k = 0; k < pack->num_tiles; k++) {
		blocks[rank + k].dim = (uint8_t)pack->positions[k];
		blocks[rank + k].factor = pack->sizes[k];
	}
	return blocked_place(placement, rank + pack->num_tiles, blocks, error);
}

/* The unpacked dimension is the axis of its outer part, and that of its tile, if it has one. */
static int place_unpacked(const struct pack_layout *pack, struct placement *placement,
			  uint32_t outer, uint32_t dim, uint32_t rank, struct accel_error *error)
{
	int ret = placement_add(placement, (int)outer, 1, 0, placement->shape[outer], error);

	for (uint32_t k = 0; !ret && k < pack->num_tiles; k++) {
		if (pack->positions[k] != dim)
			continue;
		if (placement->shape[rank + k] != pack->sizes[k])
			return accel_error_set(
				error, -EINVAL,
				"layout: extent %u is %" PRId64 ", expected a tile's %" PRId64,
				rank + k, placement->shape[rank + k], pack->sizes[k]);
		ret = placement_add(placement, (int)(rank + k), 1, 0, pack->sizes[k], error);
		placement->digits[placement->num_digits - 1].is_joined = !ret;
	}
	return ret;
}

static int place_unpack(const struct accel_layout *layout, struct placement *placement,
			struct accel_error *error)
{
	const struct pack_layout *pack = layout_as_const(struct pack_layout, layout);
	uint32_t rank = placement->rank - pack->num_tiles;
	int ret;

	if (placement->rank < pack->num_tiles)
		return accel_error_set(error, -EINVAL,
				       "layout: the packed shape has %u axes, expected at least %u",
				       placement->rank, pack->num_tiles);
	ret = check_positions(pack, rank, error);
	for (uint32_t dim = 0; !ret && dim < rank; dim++) {
		for (uint32_t k = 0; !ret && k < rank; k++) {
			if (outer_at(pack, k) == dim)
				ret = place_unpacked(pack, placement, k, dim, rank, error);
		}
	}
	return ret ? ret : placement_pack(placement, error);
}

static bool propose_pack(const struct placement *placement, uint32_t attempt,
			 struct printer *printer)
{
	struct block blocks[PLACEMENT_MAX_DIGITS];
	uint32_t rank = placement->rank;
	bool is_identity = true;
	uint32_t count;

	if (attempt || !blocked_recognize(placement, &count, blocks) ||
	    !blocked_has_outer_first(count, blocks))
		return false;
	printer_add(printer, "inner_dims_pos=");
	for (uint32_t k = rank; k < count; k++)
		printer_add(printer, "%s%u", k > rank ? "," : "", blocks[k].dim);
	printer_add(printer, ";inner_tiles=");
	for (uint32_t k = rank; k < count; k++)
		printer_add(printer, "%s%" PRId64, k > rank ? "," : "", blocks[k].factor);
	for (uint32_t k = 0; k < rank; k++)
		is_identity &= blocks[k].dim == k;
	for (uint32_t k = 0; !is_identity && k < rank; k++)
		printer_add(printer, "%s%u", k ? "," : ";outer_dims_perm=", blocks[k].dim);
	return true;
}

/* Which axes of a shape were tiles cannot be seen from where its elements are. */
static bool propose_unpack(const struct placement *placement, uint32_t attempt,
			   struct printer *printer)
{
	(void)placement;
	(void)attempt;
	(void)printer;
	return false;
}

const struct notation notation_pack = {
	.name = "pack",
	.size = sizeof(struct pack_layout),
	.needs_prefix = true,
	.parse = parse_pack,
	.print = print,
	.place = place_pack,
	.propose = propose_pack,
};

const struct notation notation_unpack = {
	.name = "unpack",
	.size = sizeof(struct pack_layout),
	.needs_prefix = true,
	.parse = parse_unpack,
	.print = print,
	.place = place_unpack,
	.propose = propose_unpack,
};
