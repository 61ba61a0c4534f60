// SPDX-License-Identifier: MIT
/*
 * Strides, as NumPy and PyTorch have them: strides:12,1,3@5. An element stride for each logical
 * axis, of any sign, and the element at index 0.
 */
#include <inttypes.h>

#include "layout/notation.h"

struct strides_layout {
	struct accel_layout layout;
	int64_t strides[ACCEL_MAX_DIMS];
	int64_t offset;
};

static int parse(struct accel_layout *layout, struct cursor *cursor)
{
	struct strides_layout *strides = layout_as(struct strides_layout, layout);
	int ret;

	ret = cursor_numbers(cursor, INT64_MIN, "a number", ACCEL_MAX_DIMS, strides->strides,
			     &layout->rank);
	if (ret)
		return ret;
	if (cursor_take(cursor, "@")) {
		ret = cursor_number(cursor, INT64_MIN, "a number", &strides->offset);
		if (ret)
			return ret;
		return cursor_end(cursor, "the end");
	}
	return cursor_end(cursor, layout->rank ? "',', '@' or the end" : "a number");
}

static void print_strides(struct printer *printer, uint32_t rank, const int64_t *strides,
			  int64_t offset)
{
	for (uint32_t k = 0; k < rank; k++)
		printer_add(printer, "%s%" PRId64, k ? "," : "", strides[k]);
	if (offset)
		printer_add(printer, "@%" PRId64, offset);
}

static void print(const struct accel_layout *layout, struct printer *printer)
{
	const struct strides_layout *strides = layout_as_const(struct strides_layout, layout);

	print_strides(printer, layout->rank, strides->strides, strides->offset);
}

static int place(const struct accel_layout *layout, struct placement *placement,
		 struct accel_error *error)
{
	const struct strides_layout *strides = layout_as_const(struct strides_layout, layout);

	for (uint32_t d = 0; d < layout->rank; d++) {
		int ret = placement_add(placement, (int)d, 1, 0, placement->shape[d], error);

		if (ret)
			return ret;
		placement->digits[d].stride = strides->strides[d];
	}
	placement->offset = strides->offset;
	return placement_measure(placement, error);
}

static bool propose(const struct placement *placement, uint32_t attempt, struct printer *printer)
{
	int64_t strides[ACCEL_MAX_DIMS];

	if (attempt || placement_strides(placement, strides))
		return false;
	print_strides(printer, placement->rank, strides, placement->offset);
	return true;
}

const struct notation notation_strides = {
	.name = "strides",
	.size = sizeof(struct strides_layout),
	.needs_prefix = true,
	.parse = parse,
	.print = print,
	.place = place,
	.propose = propose,
};
