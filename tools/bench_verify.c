// SPDX-License-Identifier: MIT
/*
 * The check of what a case has written: one point after the other, from the description of the
 * case, and nothing of the library in it.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "error.h"

#define MAX_ELEMENT	16

/* Of a transposition: so many lines of the source, which may all be in one set of a cache. */
#define TILE_ROWS	64
#define TILE_COLUMNS	8

/* The points along the innermost loop, the first of which this is. */
struct row {
	uint32_t rank;
	size_t size;				/* bytes of an element of the source */
	uint64_t index[ACCEL_MAX_RANK];
	int64_t source;				/* the element */
	int64_t windows[BENCH_MAX_WINDOWS];	/* their values */
};

/* The row at an index; the loops are few, and rows are long. */
static void locate(const struct bench_case *bench, struct row *row)
{
	row->source = bench->source_offset;
	for (uint32_t w = 0; bench->windows[w].limit; w++)
		row->windows[w] = bench->windows[w].bias;
	for (uint32_t d = 0; d < row->rank; d++) {
		int64_t i = (int64_t)row->index[d];

		for (uint32_t w = 0; bench->windows[w].limit; w++)
			row->windows[w] += i * bench->windows[w].coefficients[d];
		if (!d && bench->num_rows)
			i = bench_case_row(bench, (uint64_t)i);
		row->source += i * bench->loops[d].source_stride;
	}
}

static void step(const struct bench_case *bench, struct row *row)
{
	for (uint32_t d = row->rank - 1; d--;) {
		if (++row->index[d] < bench->loops[d].extent)
			break;
		row->index[d] = 0;
	}
	locate(bench, row);
}

static bool is_inside(const struct bench_case *bench, const struct row *row, uint64_t x)
{
	for (uint32_t w = 0; bench->windows[w].limit; w++) {
		const struct bench_window *window = &bench->windows[w];
		int64_t value = row->windows[w] +
				(int64_t)x * window->coefficients[row->rank - 1];

		if (value < 0 || (uint64_t)value >= window->limit)
			return false;
	}
	return true;
}

/* What must be stored at point x of the row: in the source itself, or made in buffer. */
static const void *expect(const struct bench_setup *setup, const struct row *row, uint64_t x,
			  void *buffer)
{
	const struct bench_case *bench = setup->bench;
	uint32_t inner = row->rank - 1, loop;
	const unsigned char *source = setup->source.data;

	if (!is_inside(bench, row, x))
		return memset(buffer, 0, row->size);
	source += (size_t)(row->source + (int64_t)x * bench->loops[inner].source_stride) *
		  row->size;
	if (!bench->program)
		return source;
	loop = bench->program->parameter_loop;
	bench->program->expect(source, (uint32_t)(loop == inner ? x : row->index[loop]), buffer);
	return buffer;
}

/* With the size written out, each is an instruction or two: there are a billion of them. */
static inline uint64_t match(const unsigned char *found, const unsigned char *source,
			     int64_t distance, uint64_t count, const size_t size)
{
	uint64_t k;

	for (k = 0; k < count && !memcmp(found, source, size); k++) {
		found += size;
		source += distance;
	}
	return k;
}

/*
 * How many points from x on are copies of the source, if all of them are to be: what is inside at
 * either end is inside between them, too. The others are looked at one by one.
 */
static uint64_t count_copies(const struct bench_setup *setup, const struct row *row, uint64_t x,
			     uint64_t count, const unsigned char *found)
{
	const struct bench_case *bench = setup->bench;
	const unsigned char *source = setup->source.data;
	uint32_t inner = row->rank - 1;
	int64_t stride = bench->loops[inner].source_stride;
	int64_t distance = stride * (int64_t)row->size;

	if (bench->program || !is_inside(bench, row, x) || !is_inside(bench, row, x + count - 1))
		return 0;
	source += (size_t)(row->source + (int64_t)x * stride) * row->size;
	switch (row->size) {
	case 1:
		return match(found, source, distance, count, 1);
	case 2:
		return match(found, source, distance, count, 2);
	case 4:
		return match(found, source, distance, count, 4);
	case 8:
		return match(found, source, distance, count, 8);
	}
	return match(found, source, distance, count, row->size);
}

/* Of the two types that programs here give. */
static double value_of(enum accel_dtype dtype, const void *element)
{
	float value;

	if (dtype == ACCEL_DTYPE_U8)
		return *(const unsigned char *)element;
	memcpy(&value, element, sizeof(value));
	return value;
}

static bool are_close(const struct bench_case *bench, const void *a, const void *b)
{
	enum accel_dtype dtype = bench->destination_dtype;

	return bench->program &&
	       fabs(value_of(dtype, a) - value_of(dtype, b)) <= bench->program->tolerance;
}

static int report_difference(const struct bench_setup *setup, const char *who,
			     const struct row *row, uint64_t x, const unsigned char *found,
			     const unsigned char *expected, struct accel_error *error)
{
	size_t size = accel_dtype_size(setup->bench->destination_dtype);
	char index[ACCEL_MAX_RANK * 21 + 1] = "";
	char texts[2][2 * MAX_ELEMENT + 1];
	int length = 0;

	for (uint32_t d = 0; d + 1 < row->rank; d++)
		length += sprintf(index + length, "%" PRIu64 ",", row->index[d]);
	/* as a number is written: the highest byte first */
	for (size_t i = 0; i < size; i++) {
		sprintf(texts[0] + 2 * i, "%02x", found[size - 1 - i]);
		sprintf(texts[1] + 2 * i, "%02x", expected[size - 1 - i]);
	}
	return accel_error_set(error, -EIO,
			       "case %s: %s has stored 0x%s at (%s%" PRIu64 "), expected 0x%s",
			       setup->bench->letter, who, texts[0], index, x, texts[1]);
}

/* Points x to end of a row, the first of which is at found. */
static int verify_points(const struct bench_setup *setup, const char *who, bool is_peer,
			 const struct row *row, uint64_t x, uint64_t end,
			 const unsigned char *found, struct accel_error *error)
{
	size_t size = accel_dtype_size(setup->bench->destination_dtype);
	uint64_t copies = count_copies(setup, row, x, end - x, found);
	unsigned char buffer[MAX_ELEMENT];

	found += copies * size;
	for (x += copies; x < end; x++, found += size) {
		const void *expected = expect(setup, row, x, buffer);

		if (memcmp(found, expected, size) &&
		    !(is_peer && are_close(setup->bench, found, expected)))
			return report_difference(setup, who, row, x, found, expected, error);
	}
	return 0;
}

/* Rows one behind the other, in tiles: along a row each point may be in a page of its own. */
static int verify_rows(const struct bench_setup *setup, const char *who, bool is_peer,
		       const struct row *rows, uint64_t num_rows, uint64_t extent,
		       const unsigned char *found, struct accel_error *error)
{
	size_t size = accel_dtype_size(setup->bench->destination_dtype);
	int ret = 0;

	for (uint64_t x = 0; x < extent && !ret; x += TILE_COLUMNS) {
		uint64_t end = extent - x < TILE_COLUMNS ? extent : x + TILE_COLUMNS;

		for (uint64_t r = 0; r < num_rows && !ret; r++)
			ret = verify_points(setup, who, is_peer, &rows[r], x, end,
					    found + (r * extent + x) * size, error);
	}
	return ret;
}

int bench_verify(const struct bench_setup *setup, const char *who, bool is_peer,
		 struct accel_error *error)
{
	const struct bench_case *bench = setup->bench;
	struct row rows[TILE_ROWS], row = {
		.rank = bench_case_rank(bench),
		.size = accel_dtype_size(bench->source_dtype),
	};
	uint64_t extent = bench->loops[row.rank - 1].extent;
	size_t row_bytes = extent * accel_dtype_size(bench->destination_dtype);
	const unsigned char *found = setup->destination.data;
	uint64_t left = bench_case_points(bench) / extent, count;
	int ret = 0;

	locate(bench, &row);
	for (; left && !ret; left -= count, found += count * row_bytes) {
		count = left < TILE_ROWS ? left : TILE_ROWS;
		for (uint64_t r = 0; r < count; r++) {
			rows[r] = row;
			step(bench, &row);
		}
		ret = verify_rows(setup, who, is_peer, rows, count, extent, found, error);
	}
	return ret;
}
