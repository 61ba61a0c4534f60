// SPDX-License-Identifier: MIT
/* Columns that go on into each other within lines; how is in shifted.h. */
#include <string.h>

#include "arithmetic.h"
#include "place.h"
#include "shifted.h"

/* Copies some rows of one column. */
static void copy_rows(uint8_t *dst, const uint8_t *src, const int64_t *places, int64_t count,
		      int64_t size)
{
	for (int64_t row = 0; row < count; row++)
		memcpy(dst + row * size, BEYOND(src, places[row]), (size_t)size);
}

/* The rows as lines have them: so many of the first ones come last, a column further on. */
static void shift_rows(int64_t *places, const struct engine_shifted *shifted, int64_t first)
{
	const int64_t others = shifted->num_rows - first;

	for (int64_t row = 0; row < others; row++)
		places[row] = shifted->places[first + row];
	for (int64_t row = 0; row < first; row++)
		places[others + row] = shifted->places[row] + shifted->size;
}

void engine_transpose_shifted(uint8_t *dst, const uint8_t *src,
			      const struct engine_shifted *shifted)
{
	static const uint8_t fill[LINE_BYTES];
	const int64_t size = shifted->size, column_bytes = shifted->num_rows * size;
	const int64_t head = (int64_t)(-(uintptr_t)dst % LINE_BYTES), first = head / size;
	const int64_t whole = shifted->num_columns - !shifted->goes_on;
	const struct engine_tile tile = {
		.extents = { whole, shifted->num_rows },
		.dst_strides = { column_bytes, size },
		.src_strides = { size },
	};
	int64_t places[MAX_ROWS];

	shift_rows(places, shifted, first);
	if (!shifted->is_begun)
		copy_rows(dst, src, shifted->places, first, size);
	dst += head;
	shifted->kernel(dst, src,
			&(struct engine_rows){ .places = places, .fill = fill, .streams = true },
			&tile);
	if (!shifted->goes_on)
		copy_rows(dst + whole * column_bytes, BEYOND(src, whole * size), places,
			  shifted->num_rows - first, size);
}
