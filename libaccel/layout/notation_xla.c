// SPDX-License-Identifier: MIT
/*
 * XLA's layouts: {1,0:T(8,128)(2,1)}. First the dimensions from the minor-most to the major-most,
 * then tiles, applied one after another. A tile concerns as many of the minor-most dimensions as it
 * has numbers: each is split into tiles and what is within a tile, and the latter become the
 * minor-most dimensions, in the same order. * joins a dimension to the next more minor one first.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "layout/notation.h"

#define MAX_TILES	8
#define COMBINED	(-1)	/* * in a tile */

struct xla_tile {
	uint32_t count;
	int64_t extents[PLACEMENT_MAX_DIGITS];
};

struct xla_layout {
	struct accel_layout layout;
	uint32_t minor_to_major[ACCEL_MAX_DIMS];
	uint32_t num_tiles;
	struct xla_tile tiles[MAX_TILES];
};

static bool recognizes(const char *text)
{
	return *text == '{';
}

static int parse_tile(struct xla_tile *tile, struct cursor *cursor)
{
	do {
		int ret;

		if (tile->count == PLACEMENT_MAX_DIGITS)
			return cursor_unexpected(cursor, "at most 32 extents in a tile");
		if (cursor_take(cursor, "*")) {
			tile->extents[tile->count++] = COMBINED;
			continue;
		}
		ret = cursor_number(cursor, 1, "the extent of a tile or *",
				    &tile->extents[tile->count]);
		if (ret)
			return ret;
		tile->count++;
	} while (cursor_take(cursor, ","));
	if (*cursor->next != ')')
		return cursor_unexpected(cursor, "',' or ')'");
	if (tile->extents[tile->count - 1] == COMBINED)
		return cursor_unexpected(cursor,
					 "a number: the last of a tile is joined to nothing");
	cursor->next++;
	return 0;
}

static int parse_tiles(struct xla_layout *xla, struct cursor *cursor)
{
	if (!cursor_take(cursor, "T"))
		return cursor_unexpected(cursor, "T and tiles");
	if (*cursor->next != '(')
		return cursor_unexpected(cursor, "'('");
	while (cursor_take(cursor, "(")) {
		int ret;

		if (xla->num_tiles == MAX_TILES) {
			cursor->next--;
			return cursor_unexpected(cursor, "at most 8 tiles");
		}
		ret = parse_tile(&xla->tiles[xla->num_tiles], cursor);
		if (ret)
			return ret;
		xla->num_tiles++;
	}
	return 0;
}

static int parse(struct accel_layout *layout, struct cursor *cursor)
{
	struct xla_layout *xla = layout_as(struct xla_layout, layout);
	int ret;

	if (!cursor_take(cursor, "{"))
		return cursor_unexpected(cursor, "'{'");
	ret = cursor_permutation(cursor, "a dimension", ACCEL_MAX_DIMS, xla->minor_to_major,
				 &layout->rank);
	if (!ret && cursor_take(cursor, ":"))
		ret = parse_tiles(xla, cursor);
	if (ret)
		return ret;
	if (!cursor_take(cursor, "}"))
		return cursor_unexpected(cursor, xla->num_tiles ? "'(' or '}'" : "',', ':' or '}'");
	return cursor_end(cursor, "the end");
}

static void print(const struct accel_layout *layout, struct printer *printer)
{
	const struct xla_layout *xla = layout_as_const(struct xla_layout, layout);

	printer_add(printer, "{");
	for (uint32_t k = 0; k < layout->rank; k++)
		printer_add(printer, "%s%u", k ? "," : "", xla->minor_to_major[k]);
	for (uint32_t t = 0; t < xla->num_tiles; t++) {
		const struct xla_tile *tile = &xla->tiles[t];

		printer_add(printer, "%s", t ? "(" : ":T(");
		for (uint32_t k = 0; k < tile->count; k++) {
			printer_add(printer, "%s", k ? "," : "");
			if (tile->extents[k] == COMBINED)
				printer_add(printer, "*");
			else
				printer_add(printer, "%" PRId64, tile->extents[k]);
		}
		printer_add(printer, ")");
	}
	printer_add(printer, "}");
}

/* Tiling ------------------------------------------------------------------------------------ */

/* The coordinates while tiles are applied, the major-most first. They own their expressions. */
struct tiling {
	const struct placement *placement;
	uint32_t count;
	struct digit digits[PLACEMENT_MAX_DIGITS];
};

static void tiling_release(struct tiling *tiling)
{
	for (uint32_t k = 0; k < tiling->count; k++)
		expression_unref(tiling->digits[k].expression);
	tiling->count = 0;
}

/* The digit with an expression for its coordinate, which is consumed. 0 or -errno. */
static int set_expression(struct digit *digit, struct accel_expression *expression)
{
	if (!expression)
		return -errno;
	*digit = (struct digit){ .expression = expression, .extent = digit->extent };
	return 0;
}

/* Whether the digits of one index run on, so that together they are one digit of it. */
static bool runs_on(const struct digit *major, const struct digit *minor)
{
	return !major->expression && !minor->expression && minor->modulus &&
	       minor->extent == minor->modulus && major->num_dims == minor->num_dims &&
	       !memcmp(major->dims, minor->dims, minor->num_dims) &&
	       major->divisor / minor->divisor == minor->modulus &&
	       major->divisor % minor->divisor == 0;
}

/* The coordinate major * (extent of minor) + minor, in place of major. */
static int combine(const struct placement *placement, struct digit *major,
		   const struct digit *minor)
{
	/* one that tiles have split and joined again may be padded, and then does not fuse */
	bool is_fusable = digit_is_whole(major) && digit_is_whole(minor) &&
			  minor->extent == placement_fused_extent(placement, minor) &&
			  major->num_dims + minor->num_dims <= ACCEL_MAX_DIMS;
	int64_t extent;
	int ret = 0;

	if (__builtin_mul_overflow(major->extent, minor->extent, &extent))
		return -EOVERFLOW;
	if (is_fusable) {
		memcpy(&major->dims[major->num_dims], minor->dims, minor->num_dims);
		major->num_dims += minor->num_dims;
	} else if (runs_on(major, minor)) {
		major->divisor = minor->divisor;
		major->modulus *= minor->modulus;
	} else {
		struct accel_expression *sum;

		sum = expression_add(expression_multiply(placement_coordinate(placement, major),
							 expression_constant(minor->extent)),
				     placement_coordinate(placement, minor));
		expression_unref(major->expression);
		major->expression = NULL;
		ret = set_expression(major, sum);
	}
	major->extent = extent;
	return ret;
}

/*
 * The quotient and the remainder of a coordinate by the extent of a tile. For c = F // d:
 *
 *	c // t = F // (d * t)			c % t = F // d % t
 *
 * and for c = F // d % m the same with the quotient modulo m / t, if t divides m; if t is not less
 * than m, the quotient is 0 and the remainder is c.
 */
static int split(const struct placement *placement, const struct digit *digit, int64_t tile,
		 struct digit *quotient, struct digit *remainder)
{
	struct accel_expression *expression;
	int ret;

	*quotient = *digit;
	*remainder = *digit;
	quotient->expression = NULL;
	remainder->expression = NULL;
	quotient->extent = ceil_divide(digit->extent, tile);
	remainder->extent = tile;
	if (!digit->expression && digit->modulus && tile >= digit->modulus) {
		quotient->num_dims = 0;
		quotient->divisor = 1;
		quotient->modulus = 0;
		return 0;
	}
	if (!digit->expression && digit->modulus % tile == 0) {
		remainder->modulus = tile;
		quotient->modulus = digit->modulus / tile;
		return __builtin_mul_overflow(digit->divisor, tile, &quotient->divisor) ?
		       -EOVERFLOW : 0;
	}
	expression = placement_coordinate(placement, digit);
	ret = set_expression(remainder, expression_modulo(expression ? expression_ref(expression) :
							  NULL, expression_constant(tile)));
	if (ret) {
		expression_unref(expression);
		return ret;
	}
	ret = set_expression(quotient, expression_divide(expression, expression_constant(tile)));
	if (ret) {
		expression_unref(remainder->expression);
		remainder->expression = NULL;
	}
	return ret;
}

/* Joins the dimensions that a tile combines. Leaves in extents the tile's own numbers. */
static int combine_dims(struct tiling *tiling, const struct xla_tile *tile, int64_t *extents,
			uint32_t *count)
{
	uint32_t first = tiling->count - tile->count, kept = first;
	int ret = 0;

	*count = 0;
	for (uint32_t k = 0; k < tile->count; k++) {
		struct digit *digit = &tiling->digits[first + k];
		bool joins = k && tile->extents[k - 1] == COMBINED;

		if (joins && !ret) {
			ret = combine(tiling->placement, &tiling->digits[kept - 1], digit);
			expression_unref(digit->expression);
		} else {
			tiling->digits[kept++] = *digit;
		}
		if (tile->extents[k] != COMBINED)
			extents[(*count)++] = tile->extents[k];
	}
	tiling->count = kept;
	return ret;
}

static int apply_tile(struct tiling *tiling, const struct xla_tile *tile,
		      struct accel_error *error)
{
	int64_t extents[PLACEMENT_MAX_DIGITS];
	struct digit quotient, remainder;
	uint32_t count, first;
	int ret;

	if (tile->count > tiling->count)
		return accel_error_set(error, -EINVAL,
				       "layout: a tile of %u dimensions is applied to %u",
				       tile->count, tiling->count);
	ret = combine_dims(tiling, tile, extents, &count);
	if (ret)
		return expression_error(error, ret, "layout");
	if (tiling->count + count > PLACEMENT_MAX_DIGITS)
		return accel_error_set(error, -E2BIG,
				       "layout: its tiles make more than %d physical axes",
				       PLACEMENT_MAX_DIGITS);
	first = tiling->count - count;
	for (uint32_t k = 0; k < count; k++) {
		struct digit *digit = &tiling->digits[first + k];

		ret = split(tiling->placement, digit, extents[k], &quotient, &remainder);
		if (ret)
			return expression_error(error, ret, "layout");
		expression_unref(digit->expression);
		*digit = quotient;
		tiling->digits[tiling->count++] = remainder;
	}
	return 0;
}

static int place(const struct accel_layout *layout, struct placement *placement,
		 struct accel_error *error)
{
	const struct xla_layout *xla = layout_as_const(struct xla_layout, layout);
	struct tiling tiling = { .placement = placement, .count = layout->rank };
	int ret = 0;

	for (uint32_t k = 0; k < layout->rank; k++) {
		uint32_t dim = xla->minor_to_major[layout->rank - 1 - k];

		tiling.digits[k] = (struct digit){
			.num_dims = 1,
			.dims = { (uint8_t)dim },
			.divisor = 1,
			.extent = placement->shape[dim],
		};
	}
	for (uint32_t t = 0; !ret && t < xla->num_tiles; t++)
		ret = apply_tile(&tiling, &xla->tiles[t], error);
	for (uint32_t k = 0; !ret && k < tiling.count; k++) {
		struct digit digit = tiling.digits[k];

		expression_ref(digit.expression);
		ret = placement_add_digit(placement, &digit, error);
	}
	tiling_release(&tiling);
	return ret ? ret : placement_pack(placement, error);
}

/* Proposals --------------------------------------------------------------------------------- */

/* Dimensions that are fused before they are tiled, and the digits that the tiles made of them. */
struct fused {
	uint32_t num_dims;
	uint8_t dims[ACCEL_MAX_DIMS];
	int64_t remaining;	/* the product of the factors of the digits not yet in a tile */
};

struct proposal {
	uint32_t num_groups;
	struct fused groups[ACCEL_MAX_DIMS];
	uint32_t num_digits;			/* within tiles, in the order of memory */
	uint32_t group_of[PLACEMENT_MAX_DIGITS];
	int64_t factors[PLACEMENT_MAX_DIGITS];
	uint32_t first;				/* the major-most group that is tiled */
};

static bool add_group(struct proposal *proposal, uint32_t num_dims, const uint8_t *dims)
{
	struct fused *group = &proposal->groups[proposal->num_groups];

	if (proposal->num_groups == ACCEL_MAX_DIMS)
		return false;
	group->num_dims = num_dims;
	memcpy(group->dims, dims, num_dims);
	group->remaining = 1;
	proposal->num_groups++;
	return true;
}

static bool add_digit(struct proposal *proposal, const struct digit *digit)
{
	for (uint32_t g = 0; g < proposal->num_groups; g++) {
		struct fused *group = &proposal->groups[g];

		if (group->num_dims != digit->num_dims ||
		    memcmp(group->dims, digit->dims, digit->num_dims))
			continue;
		if (__builtin_mul_overflow(group->remaining, digit->modulus, &group->remaining))
			return false;
		proposal->factors[proposal->num_digits] = digit->modulus;
		proposal->group_of[proposal->num_digits++] = g;
		if (g < proposal->first)
			proposal->first = g;
		return true;
	}
	return false;
}

/* First the outer parts, which tell the order of dimensions, then what is within tiles. */
static bool read_digits(const struct placement *placement, struct proposal *proposal)
{
	struct digit digits[PLACEMENT_MAX_DIGITS];

	proposal->first = ACCEL_MAX_DIMS;
	if (!placement_is_dense(placement, digits))
		return false;
	for (uint32_t k = 0; k < placement->num_digits; k++) {
		const struct digit *digit = &digits[k];
		bool is_added = true;

		if (digit->expression)
			return false;
		if (digit->extent == 1 && (digit->modulus || !digit->num_dims))
			continue;
		if (digit->modulus) {
			is_added = add_digit(proposal, digit);
		} else if (digit_is_whole(digit)) {
			for (uint32_t d = 0; is_added && d < digit->num_dims; d++)
				is_added = add_group(proposal, 1, &digit->dims[d]);
		} else {
			is_added = add_group(proposal, digit->num_dims, digit->dims);
		}
		if (!is_added || (proposal->num_digits && !digit->modulus))
			return false;
	}
	return true;
}

/*
 * Digits within tiles belong to the same tile as long as their dimensions get more minor. Each tile
 * concerns all dimensions that any does, with what the later tiles leave of them.
 */
static void print_tiles(struct proposal *proposal, struct printer *printer)
{
	uint32_t k = 0;

	for (uint32_t t = 0; k < proposal->num_digits; t++) {
		printer_add(printer, "%s", t ? "(" : ":T(");
		for (uint32_t g = proposal->first; g < proposal->num_groups; g++) {
			const struct fused *group = &proposal->groups[g];

			for (uint32_t d = 1; !t && d < group->num_dims; d++)
				printer_add(printer, "*,");
			printer_add(printer, "%" PRId64 "%s", group->remaining,
				    g + 1 < proposal->num_groups ? "," : ")");
		}
		do {
			proposal->groups[proposal->group_of[k]].remaining /= proposal->factors[k];
			k++;
		} while (k < proposal->num_digits &&
			 proposal->group_of[k] > proposal->group_of[k - 1]);
	}
}

static bool propose(const struct placement *placement, uint32_t attempt, struct printer *printer)
{
	struct proposal proposal = { 0 };
	const char *separator = "";

	if (attempt || !read_digits(placement, &proposal))
		return false;
	printer_add(printer, "{");
	for (uint32_t g = proposal.num_groups; g--;) {
		for (uint32_t d = proposal.groups[g].num_dims; d--;) {
			printer_add(printer, "%s%u", separator, proposal.groups[g].dims[d]);
			separator = ",";
		}
	}
	print_tiles(&proposal, printer);
	printer_add(printer, "}");
	return true;
}

const struct notation notation_xla = {
	.name = "xla",
	.size = sizeof(struct xla_layout),
	.needs_prefix = true,
	.recognizes = recognizes,
	.parse = parse,
	.print = print,
	.place = place,
	.propose = propose,
};
