// SPDX-License-Identifier: MIT
/*
 * Panels whose columns are whole lines long and go on into each other in the destination, but begin
 * within lines. From line to line each column is the end of one and the beginning of the next: as
 * if rows began later, and the first ones of them came last, from the next column. So they are
 * transposed to whole lines, as columns are that begin with lines.
 */
#include <string.h>

#include "place.h"
#include "staging_pipeline.h"

/* What is streamed, and fetched, at a time. */
#define BITE_BYTES	8192

/* Copies some rows of one column. */
static void copy_rows(uint8_t *dst, const uint8_t *src, const int64_t *places, int64_t count,
		      int64_t size)
{
	for (int64_t row = 0; row < count; row++)
		memcpy(dst + row * size, BEYOND(src, places[row]), (size_t)size);
}

/* The rows as lines have them: so many of the first ones come last, a column further on. */
static void shift_rows(int64_t *places, const struct row_list *rows, int64_t first, int64_t size)
{
	const int64_t others = rows->count - first;

	for (int64_t row = 0; row < others; row++)
		places[row] = rows->places[first + row];
	for (int64_t row = 0; row < first; row++)
		places[others + row] = rows->places[row] + size;
}

/*
 * How many rows are gone through at a time. Squares side by side load the same lines: those of more
 * rows than their sets have room for would be gone from the first cache by then. Kernels that load
 * no more than parts of lines took longer so.
 */
static int64_t choose_height(const struct pipeline *pipeline, int64_t src_stride)
{
	const int64_t most = ENGINE_SET_LINES * engine_rows_until_back(src_stride, 16, 8);
	const int64_t line = LINE_BYTES / pipeline->move->size, count = pipeline->rows.count;

	if (!pipeline->run->plan->isa->transpose->loads_lines || count <= most)
		return count;
	return max(line, most);
}

/*
 * Streams so many columns of whole lines, and fetches as much of the next block, bite by bite.
 * Returns as streaming a panel does.
 */
static int stream_columns(struct pipeline *pipeline, uint8_t *dst, const uint8_t *src,
			  const int64_t *places, int64_t count, int64_t height)
{
	static const uint8_t fill[LINE_BYTES];
	const int64_t num_rows = pipeline->rows.count, size = pipeline->move->size;
	const int64_t line = LINE_BYTES / size;
	const int64_t width = max(1, BITE_BYTES / LINE_BYTES / height) * line;
	struct engine_tile tile = {
		.dst_strides = { num_rows * size, size },
		.src_strides = { size },
	};
	int error = 0;

	for (int64_t r = 0; r < num_rows && !error; r += height) {
		const struct engine_rows rows = {
			.places = places + r,
			.fill = fill,
			.streams = true,
		};

		tile.extents[1] = min(height, num_rows - r);
		for (int64_t c = 0; c < count && !error; c += width) {
			int64_t bytes;

			tile.extents[0] = min(width, count - c);
			bytes = tile.extents[0] * tile.extents[1] * size;
			engine_staging_fetch_beside(pipeline, bytes);
			pipeline->shifted_kernel(dst + c * tile.dst_strides[0] + r * size,
						 src + c * size, &rows, &tile);
			error = engine_run_advance(pipeline->run, (uint64_t)bytes);
		}
	}
	return error;
}

int engine_staging_shift_panel(struct pipeline *pipeline)
{
	const struct engine_move *move = pipeline->move;
	const struct steps *strips = &pipeline->strips;
	const uint32_t columns = move->staging.src_loop;
	const int64_t first = strips->at[columns], count = step_extent(strips, columns);
	const bool goes_on = first + count < move->nest.extents[columns];
	const int64_t size = move->size;
	const int64_t *strides;
	const uint8_t *src = source_of_strip(pipeline, &strides);
	uint8_t *dst = destination_of_strip(pipeline);
	const int64_t head = (int64_t)(-(uintptr_t)dst % LINE_BYTES);
	int64_t places[MAX_ROWS], column_bytes;
	int error;

	engine_staging_list_rows(pipeline, strides);
	shift_rows(places, &pipeline->rows, head / size, size);
	if (!first)
		copy_rows(dst, src, pipeline->rows.places, head / size, size);
	error = stream_columns(pipeline, dst + head, src, places, goes_on ? count : count - 1,
			       choose_height(pipeline, strides[strips->rank - 1]));
	if (error || goes_on)
		return error;
	column_bytes = pipeline->rows.count * size;
	copy_rows(dst + head + (count - 1) * column_bytes, src + (count - 1) * size, places,
		  pipeline->rows.count - head / size, size);
	engine_staging_fetch_beside(pipeline, column_bytes);
	return engine_run_advance(pipeline->run, (uint64_t)column_bytes);
}
