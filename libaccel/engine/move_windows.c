// SPDX-License-Identifier: MIT
/*
 * Moves of windows that slide over the source. A row of the destination is a window, some short
 * runs from here and there, and the next row is the same window a step further on. So what is
 * one run for all rows together is a row of the source: they are the columns of the destination,
 * and this is a transpose of rows that are not the same distance apart. Where an element of a
 * window is beyond the border, its row has no source, or only from some column on.
 */
#include "arithmetic.h"
#include "move_windows.h"
#include "place.h"

enum {
	DST = ENGINE_BORDERS_DST,
	SRC = ENGINE_BORDERS_SRC,
	NUM_OPERANDS = ENGINE_BORDERS_OPERANDS,
};

/* Fewer windows in a row are not worth transposing. */
#define LEAST_WINDOWS	8

/* Runs of so many bytes that are several steps apart are faster as such. */
#define LONG_RUN_BYTES	16

/* Elements of a window whose places are known at a time. */
#define MAX_TAPS	1024

/* --- matching --------------------------------------------------------------------------------- */

/* The longest loop in which windows slide; the last one if there is none. */
static uint32_t sliding_loop(const struct engine_nest *nest, int64_t size, int64_t most_steps)
{
	const uint32_t last = nest->rank - 1;
	const int64_t most = nest->extents[last] * size < LONG_RUN_BYTES ? most_steps * size : size;
	uint32_t best = last;

	for (uint32_t d = 0; d < last; d++) {
		int64_t stride = nest->streams[SRC].strides[d];

		if (stride >= size && stride <= most && stride % size == 0 &&
		    (best == last || nest->extents[d] > nest->extents[best]))
			best = d;
	}
	return best;
}

/*
 * The first of the loops of a window: those that go on where the ones inside of them end, and
 * inside of the first no more elements than have room.
 */
static uint32_t first_tap_loop(const struct engine_nest *nest, uint32_t sliding, int64_t size)
{
	uint32_t d = nest->rank - 1;
	int64_t taps = nest->extents[d];

	while (d > sliding + 1 && taps <= MAX_TAPS &&
	       nest->streams[DST].strides[d - 1] == taps * size)
		taps *= nest->extents[--d];
	return d;
}

static int64_t num_taps(const struct engine_nest *nest, uint32_t first)
{
	int64_t taps = 1;

	for (uint32_t d = first; d < nest->rank; d++)
		taps *= nest->extents[d];
	return taps;
}

/* Steps of the first tap loop that there is room for, which are whole lines if they can be. */
static int64_t choose_step(const struct engine_nest *nest, uint32_t first, int64_t size)
{
	const int64_t inner = num_taps(nest, first + 1);
	int64_t step = max(1, MAX_TAPS / inner), lines = 1;

	if (step >= nest->extents[first])
		return nest->extents[first];
	while (lines * inner * size % LINE_BYTES)
		lines *= 2;
	return step < lines ? step : step / lines * lines;
}

/* Finds what conditions depend on. Returns false where one falls along the sliding loop. */
static bool bound_conditions(struct engine_windows *windows)
{
	const struct engine_nest *nest = &windows->borders.nest;

	windows->first_bounded = nest->rank;
	for (uint32_t k = 0; k < windows->borders.num_conditions; k++) {
		struct engine_condition *condition = &windows->conditions[k];
		const int64_t *strides = nest->streams[NUM_OPERANDS + k].strides;

		if (strides[windows->rank] < 0)
			return false;
		condition->lowest = condition->highest = 0;
		for (uint32_t d = windows->rank; d < nest->rank; d++) {
			int64_t reach = strides[d] * (nest->extents[d] - 1);

			condition->lowest += min(reach, 0);
			condition->highest += max(reach, 0);
			if (d >= windows->first && strides[d] && d < windows->first_bounded)
				windows->first_bounded = d;
		}
	}
	return true;
}

/* Whether all lines of the destination are whole, and are to go around the caches. */
static bool can_stream(const struct engine_windows *windows)
{
	const struct engine_stream *dst = &windows->borders.nest.streams[DST];
	uint64_t bits = (uintptr_t)windows->plan->operands[DST].base + (uint64_t)dst->offset;

	for (uint32_t d = 0; d < windows->first; d++)
		bits |= (uint64_t)dst->strides[d];
	if (windows->step < windows->borders.nest.extents[windows->first])
		bits |= (uint64_t)(windows->step * dst->strides[windows->first]);
	return windows->plan->streams && bits % LINE_BYTES == 0;
}

/* Columns of half a line, which is what kernels read of a row at a time. */
static void choose_tile(struct engine_windows *windows, int64_t size)
{
	const struct engine_nest *nest = &windows->borders.nest;
	const int64_t stride = nest->streams[SRC].strides[windows->rank];
	const int64_t columns = nest->extents[windows->rank];

	windows->tile = (struct engine_tile){
		.extents = { columns },
		.dst_strides = { nest->streams[DST].strides[windows->rank], size },
		.src_strides = { stride },
		/* what follows in the source, as the next row of an image does, comes next */
		.ahead = engine_rows_on(stride, columns),
	};
	windows->block[0] = LINE_BYTES / 2 / size;
	windows->block[1] = windows->streams ? MAX_TAPS :
					       max(1, windows->plan->block_bytes / LINE_BYTES);
}

bool engine_windows_match(struct engine_windows *windows, const struct engine_plan *plan,
			  const struct engine_box *box)
{
	const uint32_t size_shift = plan->operands[DST].size_shift;
	const int64_t size = 1 << size_shift;
	struct engine_nest *nest = &windows->borders.nest;
	uint32_t sliding, last;

	windows->plan = plan;
	if (!plan->isa->transpose->transpose_rows || size_shift >= ENGINE_NUM_INTERLEAVED ||
	    !engine_borders_init(&windows->borders, plan, box) || nest->rank < 2)
		return false;
	windows->kernel = plan->isa->transpose->transpose_rows[size_shift];
	last = nest->rank - 1;
	if (nest->streams[DST].strides[last] != size || nest->streams[SRC].strides[last] != size ||
	    nest->extents[last] * size >= LINE_BYTES)
		return false;
	sliding = sliding_loop(nest, size, plan->isa->transpose->most_steps);
	windows->first = first_tap_loop(nest, sliding, size);
	windows->rank = windows->first - 1;
	if (sliding == last || nest->extents[sliding] < LEAST_WINDOWS ||
	    num_taps(nest, windows->first) * size < LINE_BYTES)
		return false;
	engine_nest_sink(nest, sliding, windows->rank);
	windows->step = choose_step(nest, windows->first, size);
	windows->streams = can_stream(windows);
	choose_tile(windows, size);
	return bound_conditions(windows);
}

/* --- moving ----------------------------------------------------------------------------------- */

/*
 * The same for a block of columns, from one on, by bit. Borders are in the first block and the last
 * one, whose masks serve until spans change.
 */
struct mask {
	int64_t column;			/* -1: none */
	uint64_t columns[MAX_TAPS];
};

enum { FIRST_MASK, LAST_MASK, OTHER_MASK, NUM_MASKS };

/* Some elements of all windows along the sliding loop. */
struct taps {
	int64_t count;
	int64_t places[MAX_TAPS];
	int64_t num_spans;		/* after which they repeat themselves */
	struct engine_span spans[MAX_TAPS];
	struct engine_span common;		/* columns that all elements have */
	int64_t bases[ENGINE_MAX_CONDITIONS];	/* of the values that spans were made of */
	struct mask masks[NUM_MASKS];
};

/* What a condition that holds at all elements and columns has for a base. */
#define HOLDS	INT64_MIN

/* The values of a stream at the elements, from a loop on, of the first loop so many steps. */
static int64_t place_taps(const struct engine_windows *windows, uint32_t stream, uint32_t first,
			  int64_t step, int64_t *places)
{
	const struct engine_nest *nest = &windows->borders.nest;
	int64_t count = 1;

	places[0] = 0;
	for (uint32_t d = nest->rank; d-- > first; ) {
		int64_t extent = d == windows->first ? step : nest->extents[d];
		int64_t stride = nest->streams[stream].strides[d];

		for (int64_t i = 1; i < extent; i++)
			for (int64_t k = 0; k < count; k++)
				places[i * count + k] = places[k] + i * stride;
		count *= extent;
	}
	return count;
}

/* Makes the spans of those elements that differ; the others repeat them. */
static void find_spans(const struct engine_windows *windows, int64_t step, struct taps *taps)
{
	const struct engine_nest *nest = &windows->borders.nest;
	const int64_t columns = windows->tile.extents[0];
	const struct engine_span whole = { 0, columns };
	int64_t values[MAX_TAPS];
	int64_t count = 1;

	taps->spans[0] = whole;
	for (uint32_t k = 0; k < windows->borders.num_conditions; k++) {
		const uint32_t stream = NUM_OPERANDS + k;
		const int64_t column_step = nest->streams[stream].strides[windows->rank];

		count = place_taps(windows, stream, windows->first_bounded, step, values);
		for (int64_t i = 0; i < count; i++) {
			struct engine_span span = whole;

			if (taps->bases[k] != HOLDS)
				span = engine_span_of(taps->bases[k] + values[i], column_step,
						      windows->borders.limits[k], columns);
			taps->spans[i] = k ? engine_span_intersect(taps->spans[i], span) : span;
		}
	}
	taps->num_spans = count;
	taps->common = whole;
	for (int64_t i = 0; i < count; i++)
		taps->common = engine_span_intersect(taps->common, taps->spans[i]);
	for (int m = 0; m < NUM_MASKS; m++)
		taps->masks[m].column = -1;
}

/* The lowest bits, of which there are 64. */
static uint64_t lowest_bits(int64_t count)
{
	return count <= 0 ? 0 : count < 64 ? (1ull << count) - 1 : ~0ull;
}

static const uint64_t *find_mask(struct taps *taps, int64_t column, int64_t count, bool is_last)
{
	struct mask *mask = &taps->masks[!column ? FIRST_MASK : is_last ? LAST_MASK : OTHER_MASK];

	if (mask->column == column)
		return mask->columns;
	mask->column = column;
	for (int64_t i = 0; i < taps->num_spans; i++)
		mask->columns[i] = lowest_bits(min(taps->spans[i].end - column, count)) &
				   ~lowest_bits(taps->spans[i].first - column);
	for (int64_t i = taps->num_spans; i < taps->count; i++)
		mask->columns[i] = mask->columns[i - taps->num_spans];
	return mask->columns;
}

/* Finds spans anew where the values of conditions make it necessary. */
static void update_spans(const struct engine_windows *windows, const int64_t *values, int64_t step,
			 struct taps *taps, bool is_first)
{
	bool is_same = !is_first;

	for (uint32_t k = 0; k < windows->borders.num_conditions; k++) {
		const struct engine_condition *condition = &windows->conditions[k];
		int64_t base = values[k];

		if (base + condition->lowest >= 0 &&
		    base + condition->highest < windows->borders.limits[k])
			base = HOLDS;
		is_same = is_same && base == taps->bases[k];
		taps->bases[k] = base;
	}
	if (!is_same)
		find_spans(windows, step, taps);
}

/* A block of columns of all elements, from one on. */
static int run_columns(struct engine_run *run, const struct engine_windows *windows, uint8_t *dst,
		       uintptr_t src, struct taps *taps, int64_t column)
{
	const int64_t size = windows->tile.dst_strides[1];
	const int64_t count = min(windows->block[0], windows->tile.extents[0] - column);
	const bool is_last = column + count == windows->tile.extents[0];
	const uint64_t *columns = NULL;
	struct engine_tile tile = windows->tile;
	int error = 0;

	dst += column * tile.dst_strides[0];
	src += (uintptr_t)(column * tile.src_strides[0]);
	if (column < taps->common.first || column + count > taps->common.end)
		columns = find_mask(taps, column, count, is_last);
	tile.extents[0] = count;
	/* once for each line of the source */
	if (column * tile.src_strides[0] % LINE_BYTES)
		tile.ahead = 0;
	for (int64_t k = 0; k < taps->count && !error; k += windows->block[1]) {
		const struct engine_rows rows = {
			.places = taps->places + k,
			.columns = columns ? columns + k : NULL,
			.fill = windows->plan->operands[SRC].fill,
			.streams = windows->streams,
		};

		tile.extents[1] = min(windows->block[1], taps->count - k);
		windows->kernel(dst + k * size, (const uint8_t *)src, &rows, &tile);
		error = engine_run_advance(run, (uint64_t)(count * tile.extents[1] * size));
	}
	return error;
}

/*
 * Where the last block begins: kernels are no faster with less than 16 bytes of a row, so it goes
 * back over columns of the block before.
 */
static int64_t last_column(const struct engine_windows *windows)
{
	const int64_t columns = windows->tile.extents[0], size = windows->tile.dst_strides[1];
	const int64_t left = (columns - 1) % windows->block[0] + 1;

	return max(0, columns - round_up(left, 16 / size));
}

/* All columns, at a point of the loops outside. */
static int run_point(struct engine_run *run, const struct engine_windows *windows,
		     const int64_t *offsets, struct taps *taps)
{
	const struct engine_plan_operand *operands = windows->plan->operands;
	const int64_t last = last_column(windows);
	int error = 0;

	for (int64_t c = 0; c < windows->tile.extents[0] && !error; c += windows->block[0])
		/* in numbers, for where windows do not hold the source may lie anywhere */
		error = run_columns(run, windows, operands[DST].base + offsets[DST],
				    (uintptr_t)operands[SRC].base + (uintptr_t)offsets[SRC], taps,
				    min(c, last));
	return error;
}

/* So many steps of the elements' first loop, from this one on, everywhere. */
static int run_taps(struct engine_run *run, const struct engine_windows *windows, int64_t at,
		    int64_t step, struct taps *taps)
{
	const struct engine_nest *nest = &windows->borders.nest;
	struct engine_walk walk;
	bool is_first = true;
	int error;

	taps->count = place_taps(windows, SRC, windows->first, step, taps->places);
	engine_walk_begin(&walk, nest, windows->rank);
	for (uint32_t s = 0; s < nest->num_streams; s++)
		walk.offsets[s] += at * nest->streams[s].strides[windows->first];
	do {
		update_spans(windows, &walk.offsets[NUM_OPERANDS], step, taps, is_first);
		is_first = false;
		error = run_point(run, windows, walk.offsets, taps);
	} while (!error && engine_walk_next(&walk));
	return error;
}

int engine_windows_run(struct engine_run *run, const struct engine_windows *windows)
{
	const int64_t extent = windows->borders.nest.extents[windows->first];
	struct taps taps;
	int error = 0;

	for (int64_t at = 0; at < extent && !error; at += windows->step)
		error = run_taps(run, windows, at, min(windows->step, extent - at), &taps);
	return error;
}
