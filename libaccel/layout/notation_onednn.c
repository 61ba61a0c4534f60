// SPDX-License-Identifier: MIT
/*
 * oneDNN's format tags: aBcd16b, ABcd4b16a4b, nChw16c, OIhw16i16o. First the dimensions from the
 * outermost to the innermost, upper-case where they are blocked, then the blocks. Dimensions are a,
 * b, c, .. in logical order, or have the names of oneDNN's own tensors, whose order is fixed.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "layout/blocked.h"
#include "layout/notation.h"

#define MAX_DIMS	12	/* a to l, as oneDNN has them */

struct onednn_layout {
	struct accel_layout layout;
	uint32_t num_blocks;
	struct block blocks[ACCEL_MAX_PHYSICAL_DIMS];
};

/* The dimensions of oneDNN's tensors in logical order: a tag names all of one of these. */
static const char *const tensors[] = {
	"x", "nc", "ncw", "nchw", "ncdhw",				/* data */
	"oi", "oiw", "oihw", "oidhw",					/* weights */
	"goi", "goiw", "goihw", "goidhw",				/* of groups */
	"tnc", "ldnc", "ldigo", "ldio", "ldgo",				/* recurrent layers */
};

/* The position of a letter in order, whatever its case, or -1. */
static int position_of(const char *order, char letter)
{
	const char *at = strchr(order, tolower((unsigned char)letter));

	return at ? (int)(at - order) : -1;
}

/* The letters of the tag, lower-case, as they stand. */
static int parse_letters(struct cursor *cursor, char letters[MAX_DIMS + 1])
{
	size_t count = 0;

	for (; isalpha((unsigned char)*cursor->next); cursor->next++) {
		char letter = (char)tolower((unsigned char)*cursor->next);

		letters[count] = '\0';
		if (strchr(letters, letter))
			return cursor_unexpected(cursor, "each dimension once before the blocks");
		if (count == MAX_DIMS)
			return cursor_unexpected(cursor, "at most 12 dimensions");
		letters[count++] = letter;
	}
	letters[count] = '\0';
	if (!count)
		return cursor_unexpected(cursor, "a dimension such as a or B");
	return 0;
}

/* The logical order of a tag's letters, or NULL. */
static const char *find_order(const char *letters)
{
	static const char abstract[] = "abcdefghijkl";
	size_t count = strlen(letters);

	for (size_t k = 0; k < sizeof(tensors) / sizeof(tensors[0]); k++) {
		if (strlen(tensors[k]) == count && strspn(letters, tensors[k]) == count)
			return tensors[k];
	}
	for (size_t k = 0; k < count; k++) {
		if (position_of(abstract, letters[k]) < 0 ||
		    position_of(abstract, letters[k]) >= (int)count)
			return NULL;
	}
	return abstract;
}

static int parse_blocks(struct onednn_layout *onednn, struct cursor *cursor, const char *order,
			uint32_t *blocked)
{
	while (*cursor->next) {
		struct block *block = &onednn->blocks[onednn->num_blocks];
		int dim, ret;

		if (onednn->num_blocks == ACCEL_MAX_PHYSICAL_DIMS)
			return cursor_unexpected(cursor, "at most 32 dimensions and blocks");
		ret = cursor_number(cursor, 1, "a block such as 16b", &block->factor);
		if (ret)
			return ret;
		dim = islower((unsigned char)*cursor->next) ?
		      position_of(order, *cursor->next) : -1;
		if (dim < 0 || dim >= (int)onednn->layout.rank)
			return cursor_unexpected(cursor, "a lower-case dimension of the tag");
		block->dim = (uint8_t)dim;
		*blocked |= 1U << dim;
		onednn->num_blocks++;
		cursor->next++;
	}
	return 0;
}

/* Upper-case are the blocked dimensions, and no others. */
static int check_case(struct cursor *cursor, const char *start, const char *order,
		      uint32_t blocked)
{
	for (const char *at = start; isalpha((unsigned char)*at); at++) {
		bool is_blocked = blocked & 1U << position_of(order, *at);

		if (!isupper((unsigned char)*at) == !is_blocked)
			continue;
		return cursor_fail(cursor, at, is_blocked ?
				   "dimension %c at column %d has a block, expected it upper-case" :
				   "dimension %c at column %d has no block, expected it lower-case",
				   *at, (int)(at - cursor->text) + 1);
	}
	return 0;
}

static int parse(struct accel_layout *layout, struct cursor *cursor)
{
	struct onednn_layout *onednn = layout_as(struct onednn_layout, layout);
	const char *start = cursor->next;
	char letters[MAX_DIMS + 1];
	uint32_t blocked = 0;
	const char *order;
	int ret;

	ret = parse_letters(cursor, letters);
	if (ret)
		return ret;
	order = find_order(letters);
	if (!order)
		return cursor_fail(cursor, start, "dimensions \"%s\" at column %d are neither "
				   "a, b, c and on nor those of a tensor such as nchw or goihw",
				   letters, (int)(start - cursor->text) + 1);
	layout->rank = (uint32_t)strlen(letters);
	layout->has_fixed_axes = true;
	for (uint32_t k = 0; k < layout->rank; k++) {
		onednn->blocks[k].dim = (uint8_t)position_of(order, letters[k]);
		layout->letters[k] = (char)toupper((unsigned char)order[k]);
	}
	onednn->num_blocks = layout->rank;
	ret = parse_blocks(onednn, cursor, order, &blocked);
	return ret ? ret : check_case(cursor, start, order, blocked);
}

static void print_blocks(struct printer *printer, uint32_t num_blocks, const struct block *blocks,
			 const char *letters)
{
	uint32_t blocked = 0;

	for (uint32_t k = 0; k < num_blocks; k++)
		blocked |= blocks[k].factor ? 1U << blocks[k].dim : 0;
	for (uint32_t k = 0; k < num_blocks; k++) {
		int letter = tolower((unsigned char)letters[blocks[k].dim]);

		if (blocks[k].factor)
			printer_add(printer, "%" PRId64 "%c", blocks[k].factor, letter);
		else
			printer_add(printer, "%c",
				    blocked & 1U << blocks[k].dim ? toupper(letter) : letter);
	}
}

static void print(const struct accel_layout *layout, struct printer *printer)
{
	const struct onednn_layout *onednn = layout_as_const(struct onednn_layout, layout);

	print_blocks(printer, onednn->num_blocks, onednn->blocks, layout->letters);
}

static int place(const struct accel_layout *layout, struct placement *placement,
		 struct accel_error *error)
{
	const struct onednn_layout *onednn = layout_as_const(struct onednn_layout, layout);

	return blocked_place(placement, onednn->num_blocks, onednn->blocks, error);
}

/* First with the names of a tensor of oneDNN, if the axes are one, then with a, b, c. */
static bool propose(const struct placement *placement, uint32_t attempt, struct printer *printer)
{
	struct block blocks[PLACEMENT_MAX_DIGITS];
	char letters[ACCEL_MAX_DIMS + 1] = "";
	uint32_t count;

	if (attempt > 1 || placement->rank > MAX_DIMS || !placement->rank ||
	    !blocked_recognize(placement, &count, blocks) ||
	    !blocked_has_outer_first(count, blocks))
		return false;
	for (uint32_t d = 0; d < placement->rank; d++)
		letters[d] = attempt ? (char)('a' + d) :
			     (char)tolower((unsigned char)placement->axes[d]);
	print_blocks(printer, count, blocks, letters);
	return true;
}

const struct notation notation_onednn = {
	.name = "onednn",
	.size = sizeof(struct onednn_layout),
	.needs_prefix = true,
	.parse = parse,
	.print = print,
	.place = place,
	.propose = propose,
};
