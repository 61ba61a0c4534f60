// SPDX-License-Identifier: MIT
/*
 * Fuzzes the text of slices: the first line is the text, the bytes behind it are the extents. What
 * parses has items that lie in the shape and take each axis once; what does not has a column.
 */
#include <stdlib.h>
#include <string.h>

#include <accel.h>

#include "fuzz.h"
#include "tensor/slice.h"

const char *const fuzz_seeds[] = {
	"0:5, ::2, ..., -1, None\n\x05\x07\x02\x03\x04",
	"2:8,5:15\n\x0a\x14",
	"-1, newaxis, ..., ::-2\n\x02\x03\x04\x05",
	":9223372036854775807:-9223372036854775808\n\x07",
	"::3, 1:, :-1\n\x06\x01\x00",
	"...", "None, ", "-9223372036854775808", "::", " : ", "99999999999999999999",
	NULL,
};

static void require(int condition)
{
	if (!condition)
		abort();
}

static void check_range(const struct slice_item *item, int64_t extent)
{
	int64_t last;

	require(item->count >= 0 && item->step);
	if (!item->count)
		return;
	require(item->start >= 0 && item->start < extent);
	require(!__builtin_mul_overflow(item->count - 1, item->step, &last));
	require(!__builtin_add_overflow(item->start, last, &last));
	require(last >= 0 && last < extent);
}

static void check_items(uint32_t num_items, const struct slice_item *items, uint32_t rank,
			const int64_t *shape)
{
	uint32_t axis = 0;

	require(num_items <= SLICE_MAX_ITEMS);
	for (uint32_t k = 0; k < num_items; k++) {
		if (items[k].kind == SLICE_NEW)
			continue;
		require(axis < rank);
		check_range(&items[k], shape[axis++]);
	}
	require(axis == rank);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
	size_t length = newline ? (size_t)(newline - data) : size;
	struct slice_item items[SLICE_MAX_ITEMS];
	struct accel_error error = { 0 };
	int64_t shape[ACCEL_MAX_DIMS];
	uint32_t rank = 0, num_items;
	char *text = malloc(length + 1);

	require(text != NULL);
	if (length)
		memcpy(text, data, length);
	text[length] = '\0';
	while (newline && rank < ACCEL_MAX_DIMS && length + 1 + rank < size) {
		/* some extents are as large as can be */
		shape[rank] = newline[1 + rank];
		if (shape[rank] == 0xff)
			shape[rank] = INT64_MAX;
		rank++;
	}
	if (!slice_parse(text, rank, shape, &num_items, items, &error))
		check_items(num_items, items, rank, shape);
	else
		require(error.column >= 1 && (size_t)error.column <= strlen(text) + 1);
	free(text);
	return 0;
}
