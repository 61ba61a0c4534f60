// SPDX-License-Identifier: MIT
/*
 * Moves of windows that slide over the source. A row of the destination is a window, some short
 * runs from here and there, and the next row is the same window an element further on. So what is
 * one run for all rows together is a row of the source: they are the columns of the destination,
 * and this is a transpose of rows that are not the same distance apart.
 */
#include "arithmetic.h"
#include "move_windows.h"

enum { DST = ENGINE_MOVE_DST, SRC = ENGINE_MOVE_SRC };

/* Fewer windows in a row are not worth transposing. */
#define LEAST_WINDOWS	8

/* Elements of a window whose places are known at a time. */
#define MAX_TAPS	1024

/* The longest loop in which windows slide, one element at a time; the last one if there is none. */
static uint32_t sliding_loop(const struct engine_nest *nest, int64_t size)
{
	const uint32_t last = nest->rank - 1;
	uint32_t best = last;

	for (uint32_t d = 0; d < last; d++)
		if (nest->streams[SRC].strides[d] == size &&
		    (best == last || nest->extents[d] > nest->extents[best]))
			best = d;
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

static int64_t num_taps(const struct engine_nest *nest, uint32_t first, uint32_t rank)
{
	int64_t taps = 1;

	for (uint32_t d = first; d < rank; d++)
		taps *= nest->extents[d];
	return taps;
}

/* The places of a window's elements, so many values of its first loop. */
static void place_taps(const struct engine_move *move, int64_t step, int64_t *places)
{
	const struct engine_nest *nest = &move->nest;
	int64_t count = 1;

	places[0] = 0;
	for (uint32_t d = move->windows.rank; d-- > move->windows.first; ) {
		int64_t extent = d == move->windows.first ? step : nest->extents[d];
		int64_t stride = nest->streams[SRC].strides[d];

		for (int64_t i = 1; i < extent; i++)
			for (int64_t k = 0; k < count; k++)
				places[i * count + k] = places[k] + i * stride;
		count *= extent;
	}
}

/* So many elements of all windows along the sliding loop, in blocks. */
static int run_taps(struct engine_run *run, const struct engine_move *move, uint8_t *dst,
		    const uint8_t *src, const int64_t *places, int64_t count)
{
	const struct engine_tile *tile = &move->tile;
	struct engine_tile block = *tile;

	for (int64_t w = 0; w < tile->extents[0]; w += move->block[0]) {
		block.extents[0] = min(move->block[0], tile->extents[0] - w);
		for (int64_t k = 0; k < count; k += move->block[1]) {
			int error;

			block.extents[1] = min(move->block[1], count - k);
			move->windows.kernel(dst + w * tile->dst_strides[0] + k * move->size,
					     src + w * tile->src_strides[0], places + k, &block);
			error = engine_run_advance(run, (uint64_t)(block.extents[0] *
								   block.extents[1] * move->size));
			if (error)
				return error;
		}
	}
	return 0;
}

static int run_windows(struct engine_run *run, const struct engine_move *move, uint8_t *dst,
		       const uint8_t *src)
{
	const struct engine_nest *nest = &move->nest;
	const uint32_t first = move->windows.first;
	const int64_t inner = num_taps(nest, first + 1, move->windows.rank);
	const int64_t step = min(nest->extents[first], max(1, MAX_TAPS / inner));
	int64_t places[MAX_TAPS];
	int error = 0;

	place_taps(move, step, places);
	for (int64_t i = 0; i < nest->extents[first] && !error; i += step) {
		int64_t count = min(step, nest->extents[first] - i) * inner;
		struct engine_walk walk;

		engine_walk_begin(&walk, nest, nest->rank);
		do {
			error = run_taps(run, move,
					 dst + walk.offsets[DST] + i * inner * move->size,
					 src + walk.offsets[SRC] +
						i * nest->streams[SRC].strides[first],
					 places, count);
		} while (!error && engine_walk_next(&walk));
	}
	return error;
}

/* What follows in the source, as the next row of an image does, is what comes next. */
static int64_t choose_ahead(const struct engine_tile *tile, int64_t size)
{
	return tile->extents[0] * size;
}

/* Blocks as wide as a vector, so that what they read stays in the first cache. */
static void choose_blocks(struct engine_move *move, int64_t block_bytes)
{
	move->block[0] = LINE_BYTES / move->size;
	move->block[1] = max(1, block_bytes / LINE_BYTES);
}

bool engine_move_match_windows(struct engine_move *move, const struct engine_plan *plan,
			       uint32_t size_shift)
{
	struct engine_nest *nest = &move->nest;
	const struct engine_stream *dst = &nest->streams[DST], *src = &nest->streams[SRC];
	const int64_t size = 1 << size_shift;
	const uint32_t rank = nest->rank;
	uint32_t sliding, first;

	if (rank < 2 || dst->strides[rank - 1] != size || src->strides[rank - 1] != size ||
	    nest->extents[rank - 1] * size >= LINE_BYTES ||
	    !plan->isa->transpose->transpose_rows[size_shift])
		return false;
	sliding = sliding_loop(nest, size);
	first = first_tap_loop(nest, sliding, size);
	if (sliding == rank - 1 || nest->extents[sliding] < LEAST_WINDOWS ||
	    num_taps(nest, first, rank) * size < LINE_BYTES)
		return false;
	engine_nest_sink(nest, sliding, first - 1);
	nest->rank = first - 1;
	move->windows.first = first;
	move->windows.rank = rank;
	move->windows.kernel = plan->isa->transpose->transpose_rows[size_shift];
	move->tile = (struct engine_tile){
		.extents = { nest->extents[first - 1], num_taps(nest, first, rank) },
		.dst_strides = { dst->strides[first - 1], size },
		.src_strides = { size },
	};
	move->tile.ahead = choose_ahead(&move->tile, size);
	move->size = size;
	move->name = "windows";
	move->run = run_windows;
	move->kernel = NULL;
	choose_blocks(move, plan->block_bytes);
	return true;
}
