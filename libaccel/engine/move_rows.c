// SPDX-License-Identifier: MIT
/*
 * Moves of runs: in which order rows are visited, what is fetched ahead of them, and whether they
 * are stored around the caches. Runs that are as short as an element can be are move.c's.
 */
#include "move_rows.h"
#include "place.h"

enum { DST = ENGINE_MOVE_DST, SRC = ENGINE_MOVE_SRC };

/* Fewer short runs than this in a row are no row. */
#define LEAST_ROWS	16

/* So far ahead that memory has answered when a row's turn comes. */
#define AHEAD_BYTES	4096

/* Whether every run of the destination is whole lines. */
static bool has_whole_lines(const struct engine_nest *nest, const uint8_t *base, int64_t bytes)
{
	const struct engine_stream *dst = &nest->streams[DST];
	uint64_t bits = (uintptr_t)base + (uint64_t)dst->offset;

	for (uint32_t d = 0; d + 1 < nest->rank; d++)
		bits |= (uint64_t)dst->strides[d];
	return (bits | (uint64_t)bytes) % LINE_BYTES == 0;
}

/* The loop for runs so short that starting a row costs more than they do. */
static uint32_t longest_loop(const struct engine_nest *nest)
{
	const int64_t most_step = 4096;
	uint32_t best = nest->rank - 2;

	for (uint32_t d = nest->rank - 2; d-- > 0; )
		if (magnitude(nest->streams[SRC].strides[d]) <= most_step &&
		    nest->extents[d] > nest->extents[best])
			best = d;
	return best;
}

/* What to fetch while rows are copied: those of the next turn, or else some rows further on. */
static int64_t choose_ahead(const struct engine_nest *nest, int64_t bytes, bool follows_source)
{
	const int64_t *strides = &nest->streams[SRC].strides[nest->rank - 2];

	if (follows_source)
		return nest->rank > 2 ? strides[-1] : 0;
	/* the CPU itself sees small steps coming */
	if (magnitude(strides[0]) < 2 * LINE_BYTES)
		return 0;
	return engine_rows_on(strides[0], max(1, AHEAD_BYTES / bytes));
}

/* Makes runs and the loop around them the tile. */
static void take_tile(struct engine_move *move, int64_t block_bytes, int64_t ahead)
{
	const struct engine_nest *nest = &move->nest;
	int64_t elements = block_bytes / move->size;

	move->tile = (struct engine_tile){ .extents = { 1, 1 }, .ahead = ahead };
	for (uint32_t t = 2; t-- > 0 && move->nest.rank; ) {
		uint32_t d = --move->nest.rank;

		move->tile.extents[t] = nest->extents[d];
		move->tile.dst_strides[t] = nest->streams[DST].strides[d];
		move->tile.src_strides[t] = nest->streams[SRC].strides[d];
	}
	move->block[1] = move->tile.extents[1] < elements ? move->tile.extents[1] : elements;
	move->block[0] = max(1, elements / move->block[1]);
}

bool engine_move_match_rows(struct engine_move *move, const struct engine_plan *plan,
			    uint32_t size_shift)
{
	struct engine_nest *nest = &move->nest;
	const struct engine_stream *dst = &nest->streams[DST], *src = &nest->streams[SRC];
	const struct engine_copy_kernels *kernels = plan->isa->copy;
	const int64_t size = 1 << size_shift;
	bool follows_source = false;
	int64_t bytes;

	if (!nest->rank || dst->strides[nest->rank - 1] != size ||
	    src->strides[nest->rank - 1] != size)
		return false;
	bytes = nest->extents[nest->rank - 1] * size;
	if (bytes < LINE_BYTES && (bytes & (bytes - 1)) == 0)
		return false;
	if (nest->rank > 1 && plan->streams &&
	    has_whole_lines(nest, plan->operands[0].base, bytes)) {
		uint32_t loop = engine_nest_closest(nest, SRC, nest->rank - 2);

		follows_source = loop < nest->rank - 2;
		engine_nest_sink(nest, loop, nest->rank - 2);
	}
	if (nest->rank > 1 && bytes < LINE_BYTES && nest->extents[nest->rank - 2] < LEAST_ROWS)
		engine_nest_sink(nest, longest_loop(nest), nest->rank - 2);
	move->size = size;
	take_tile(move, plan->block_bytes,
		  nest->rank > 1 ? choose_ahead(nest, bytes, follows_source) : 0);
	move->kernel = (plan->streams ? kernels->stream_run : kernels->run)[size_shift];
	return true;
}
