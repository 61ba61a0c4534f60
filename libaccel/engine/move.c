// SPDX-License-Identifier: MIT
/*
 * Moves: boxes of jobs without a program. A nest of two streams is matched to a kernel and cut into
 * blocks. A source that is not loaded is a move from its fill, which stands still. Runs are
 * move_rows.c's, large transposes staging.c's, indirect operands gather.c's.
 */
#include "access.h"
#include "arithmetic.h"
#include "gather.h"
#include "move.h"
#include "move_packed.h"
#include "move_rows.h"
#include "place.h"

enum { DST = ENGINE_MOVE_DST, SRC = ENGINE_MOVE_SRC, NUM_STREAMS = ENGINE_MOVE_STREAMS };

/* Rows of the source that are walked side by side. */
#define TRANSPOSE_ROWS	256

/* Columns that begin at several places of vectors are stored so many at a time. */
#define SKEWED_COLUMNS	4

/* If they are streamed, of rows that have as much. */
#define LEAST_SKEWED_BYTES	256

/* The width of the source's rows in a block that is streamed to the destination at once. */
#define STREAMED_ROW_BYTES	1024

/* Rows of the destination that are worth the streaming of their whole lines by themselves. */
#define LEAST_STREAMED_BYTES	(4 * LINE_BYTES)

/* The last loop, where it is contiguous on both sides and short, makes one larger element. */
static void widen_element(struct engine_move *move, uint32_t *size_shift)
{
	struct engine_nest *nest = &move->nest;
	uint32_t last = nest->rank - 1;
	int64_t size = 1 << *size_shift;

	if (!nest->rank || nest->streams[DST].strides[last] != size ||
	    nest->streams[SRC].strides[last] != size)
		return;
	for (uint32_t shift = *size_shift + 1; shift < ENGINE_NUM_SIZES; shift++) {
		if (size * nest->extents[last] != 1 << shift)
			continue;
		nest->rank--;
		*size_shift = shift;
		return;
	}
}

/* Makes the last two loops of the nest the tile. */
static void take_tile(struct engine_move *move)
{
	struct engine_nest *nest = &move->nest;

	move->tile = (struct engine_tile){ .extents = { 1, 1 } };
	for (int t = 1; t >= 0 && nest->rank; t--) {
		uint32_t d = --nest->rank;

		move->tile.extents[t] = nest->extents[d];
		move->tile.dst_strides[t] = nest->streams[DST].strides[d];
		move->tile.src_strides[t] = nest->streams[SRC].strides[d];
	}
}

static bool is_contiguous(const struct engine_move *move, uint32_t stream, uint32_t loop)
{
	return move->nest.streams[stream].strides[loop] == move->size;
}

static void choose_blocks(struct engine_move *move)
{
	int64_t elements = ENGINE_REPORT_BYTES / move->size;

	move->block[1] = min(move->tile.extents[1], elements);
	move->block[0] = max(1, elements / max(move->block[1], 1));
}

/* Blocks of a crossed tile: what they touch on either side stays in the first cache. */
static void choose_crossed_blocks(struct engine_move *move)
{
	const int64_t elements = ENGINE_REPORT_BYTES / move->size;

	move->block[1] = max(TRANSPOSE_ROWS, elements / move->tile.extents[0]);
	move->block[1] = min(move->block[1], move->tile.extents[1]);
	move->block[0] = max(1, elements / move->block[1]);
	/* the last byte of what comes next: rows that begin within lines have it in another one */
	move->tile.ahead = 2 * LINE_BYTES - 1;
}

/* A block's, or all that is left where the last block would be much smaller than the others. */
static int64_t next_extent(int64_t left, int64_t block)
{
	return left < block + block / 4 ? left : block;
}

static int run_tile(struct engine_run *run, const struct engine_move *move, uint8_t *dst,
		    const uint8_t *src)
{
	const struct engine_tile *tile = &move->tile;
	const int inner = move->along, outer = 1 - inner;
	struct engine_tile block = *tile;
	int error;

	for (int64_t j = 0; j < tile->extents[outer]; j += block.extents[outer]) {
		block.extents[outer] = next_extent(tile->extents[outer] - j, move->block[outer]);
		for (int64_t i = 0; i < tile->extents[inner]; i += block.extents[inner]) {
			block.extents[inner] = next_extent(tile->extents[inner] - i,
							   move->block[inner]);
			move->kernel(dst + j * tile->dst_strides[outer] +
				     i * tile->dst_strides[inner],
				     src + j * tile->src_strides[outer] +
				     i * tile->src_strides[inner],
				     &block);
			error = engine_run_advance(run, (uint64_t)(block.extents[0] *
								   block.extents[1] * move->size));
			if (error)
				return error;
		}
	}
	return 0;
}

/* Many tiles that are a block each: little is done between the kernel's calls. */
static int run_small_tiles(struct engine_run *run, const struct engine_move *move, uint8_t *dst,
			   const uint8_t *src)
{
	const struct engine_nest *nest = &move->nest;
	const uint32_t last = nest->rank - 1;
	const int64_t dst_stride = nest->streams[DST].strides[last];
	const int64_t src_stride = nest->streams[SRC].strides[last];
	const int64_t bytes = move->tile.extents[0] * move->tile.extents[1] * move->size;
	const int64_t turn = max(1, ENGINE_REPORT_BYTES / bytes);
	struct engine_walk walk;
	int error = 0;

	engine_walk_begin(&walk, nest, last);
	do {
		uint8_t *to = dst + walk.offsets[DST];
		const uint8_t *from = src + walk.offsets[SRC];

		for (int64_t k = 0; k < nest->extents[last] && !error; ) {
			const int64_t count = min(turn, nest->extents[last] - k);

			for (const int64_t end = k + count; k < end; k++)
				move->kernel(to + k * dst_stride, from + k * src_stride,
					     &move->tile);
			error = engine_run_advance(run, (uint64_t)(count * bytes));
		}
	} while (!error && engine_walk_next(&walk));
	return error;
}

static bool is_one_block(const struct engine_move *move)
{
	return next_extent(move->tile.extents[0], move->block[0]) == move->tile.extents[0] &&
	       next_extent(move->tile.extents[1], move->block[1]) == move->tile.extents[1];
}

static int run_tiles(struct engine_run *run, const struct engine_move *move, uint8_t *dst,
		     const uint8_t *src)
{
	struct engine_walk walk;
	int error;

	if (move->nest.rank && !move->packs && is_one_block(move))
		return run_small_tiles(run, move, dst, src);
	engine_walk_begin(&walk, &move->nest, move->nest.rank);
	do {
		error = (move->packs ? engine_move_run_packed : run_tile)(
			run, move, dst + walk.offsets[DST], src + walk.offsets[SRC]);
	} while (!error && engine_walk_next(&walk));
	return error;
}

bool engine_move_has_lines(const struct engine_move *move, uint32_t loop)
{
	const struct engine_nest *nest = &move->nest;
	const uint32_t last = nest->rank - 1;
	const int64_t row_bytes = nest->extents[last] * move->size;
	/* what a row has beyond its last whole line counts where it is short */
	uint64_t bits = row_bytes < LEAST_STREAMED_BYTES ? (uint64_t)row_bytes : 0;

	for (uint32_t d = 0; d < last; d++)
		bits |= (uint64_t)nest->streams[DST].strides[d];
	return bits % LINE_BYTES == 0 && nest->extents[loop] * move->size >= LINE_BYTES;
}

/* Whether rows of the source that are so far apart have lines in the same few sets of a cache. */
static bool are_in_few_sets(int64_t stride)
{
	return stride % 2048 == 0;
}

/*
 * Whether what is fetched stays in the first cache until it is streamed, and is streamed without
 * waiting. Where an index says where rows begin, they may begin anywhere.
 */
static bool can_stream_tiles(const struct engine_move *move, const struct engine_plan *plan,
			     uint32_t loop)
{
	const struct engine_nest *nest = &move->nest;
	const struct engine_stream *dst = &nest->streams[DST], *src = &nest->streams[SRC];
	const uint32_t last = nest->rank - 1;
	const uint64_t place = (uintptr_t)plan->operands[DST].base + (uint64_t)dst->offset;
	const int64_t row_bytes = nest->extents[last] * move->size;

	return !plan->operands[DST].is_indirect && !plan->operands[SRC].is_indirect &&
	       place % LINE_BYTES == 0 && row_bytes % LINE_BYTES == 0 &&
	       row_bytes >= LEAST_STREAMED_BYTES &&
	       nest->extents[loop] * move->size >= STREAMED_ROW_BYTES &&
	       !engine_is_in_few_parts(dst->strides[loop]) && !are_in_few_sets(src->strides[last]);
}

/* A block is as wide as to fetch rows with effect, and as high as the destination is wide. */
static void choose_streamed_blocks(struct engine_move *move)
{
	move->block[0] = STREAMED_ROW_BYTES / move->size;
	move->block[1] = 2 * ENGINE_REPORT_BYTES / STREAMED_ROW_BYTES;
	move->tile.ahead = LINE_BYTES / move->size * move->tile.src_strides[1];
}

/* Few columns, and long. */
static void choose_skewed_blocks(struct engine_move *move)
{
	move->block[0] = SKEWED_COLUMNS;
	move->block[1] = min(ENGINE_REPORT_BYTES / SKEWED_COLUMNS / move->size,
			     move->tile.extents[1]);
	move->tile.ahead = 2 * LINE_BYTES - 1;
}

/*
 * Columns that begin at several places of vectors have a kernel of their own, and blocks of few
 * and long ones, which are stored in their order. It reads each line more than once: that has to be
 * there still, which it is not where rows crowd each other and columns do so as well.
 */
static void match_skewed(struct engine_move *move, const struct engine_plan *plan,
			 uint32_t size_shift)
{
	const struct engine_tile *tile = &move->tile;
	engine_tile_kernel *kernel = plan->isa->transpose->skewed_transpose[size_shift];

	if (!kernel || !plan->is_far || tile->extents[1] < TRANSPOSE_ROWS ||
	    tile->dst_strides[0] % ENGINE_SKEWED_BYTES == 0 ||
	    (engine_is_crowded(tile->src_strides[1], move->size) &&
	     engine_is_crowded(tile->dst_strides[0], move->size)))
		return;
	move->kernel = kernel;
	choose_skewed_blocks(move);
}

/* Whether all columns of the destination, as far as a nest tells, begin at multiples of a size. */
static bool are_columns_aligned(const struct engine_move *move, const struct engine_plan *plan)
{
	const struct engine_stream *dst = &move->nest.streams[DST];
	uint64_t bits = (uintptr_t)plan->operands[DST].base + (uint64_t)dst->offset;

	for (uint32_t d = 0; d < move->nest.rank; d++)
		bits |= (uint64_t)dst->strides[d];
	return bits % (uint64_t)move->size == 0;
}

/*
 * Whether columns that begin anywhere in lines are better stored around the caches by a kernel of
 * their own than by way of the staging buffer, unless they would wait for each other. It loads a
 * line of the source for the columns that it has at a time, or more than once if these have less of
 * it: then rows may not crowd each other. What an index leads to may begin anywhere.
 */
static bool can_stream_skewed(const struct engine_move *move, const struct engine_plan *plan,
			      uint32_t loop)
{
	const struct engine_nest *nest = &move->nest;
	const uint32_t last = nest->rank - 1;
	const bool has_whole_lines = SKEWED_COLUMNS * move->size >= LINE_BYTES;

	if (!plan->streams || plan->operands[DST].is_indirect || plan->operands[SRC].is_indirect ||
	    !are_columns_aligned(move, plan) || nest->extents[last] < TRANSPOSE_ROWS ||
	    nest->extents[loop] * move->size < LEAST_SKEWED_BYTES ||
	    engine_is_in_page_step(nest->streams[DST].strides[loop]))
		return false;
	return has_whole_lines ||
	       !engine_is_crowded(nest->streams[SRC].strides[last], move->size);
}

/*
 * Whether a transpose is worth the staging buffer: columns shorter than a line cost so much there
 * that ordinary stores take less as long as the caches have room for most of the job.
 */
static bool is_worth_staging(const struct engine_move *move, const struct engine_plan *plan)
{
	const uint32_t last = move->nest.rank - 1;

	return plan->overflows || move->nest.extents[last] * move->size >= LINE_BYTES;
}

/*
 * The sides are contiguous in different loops, or take their smallest steps there: then a tile is
 * of these two. Few columns have kernels of their own, which do not stream.
 */
static void match_crossed(struct engine_move *move, const struct engine_run *run, uint32_t loop,
			  uint32_t size_shift)
{
	const struct engine_isa *isa = run->plan->isa;
	const uint32_t last = move->nest.rank - 1;
	const bool is_transpose = is_contiguous(move, DST, last) && is_contiguous(move, SRC, loop);
	const bool has_lines = engine_move_has_lines(move, loop);
	engine_tile_kernel *stream_kernel = isa->transpose->stream_transpose[size_shift];

	move->name = is_transpose ? "transpose" : "copy by strides";
	move->kernel = is_transpose ? isa->transpose->transpose[size_shift] :
				      isa->copy->strided[size_shift];
	if (is_transpose && run->plan->streams && has_lines && stream_kernel &&
	    can_stream_tiles(move, run->plan, loop)) {
		move->kernel = stream_kernel;
		engine_nest_sink(&move->nest, loop, last - 1);
		take_tile(move);
		choose_streamed_blocks(move);
		return;
	}
	if (is_transpose && !has_lines && isa->transpose->stream_skewed[size_shift] &&
	    can_stream_skewed(move, run->plan, loop)) {
		move->kernel = isa->transpose->stream_skewed[size_shift];
		engine_nest_sink(&move->nest, loop, last - 1);
		take_tile(move);
		choose_skewed_blocks(move);
		move->along = 0;
		return;
	}
	move->staging.src_loop = loop;
	move->staging.src_size = move->size;
	move->staging.pack_row = NULL;
	if (is_transpose && run->plan->streams && run->scratch &&
	    is_worth_staging(move, run->plan) &&
	    engine_staging_prepare(&move->staging, &move->nest, move->size, isa->transpose,
				   has_lines)) {
		move->run = engine_staging_run;
		return;
	}
	engine_nest_sink(&move->nest, loop, last - 1);
	take_tile(move);
	move->packs = is_transpose && engine_move_match_packed(move, run->plan);
	if (move->packs)
		return;
	choose_crossed_blocks(move);
	if (is_transpose)
		match_skewed(move, run->plan, size_shift);
}

void engine_move_prepare(struct engine_move *move, const struct engine_run *run,
			 const struct engine_nest *nest, uint32_t size_shift)
{
	const struct engine_plan *plan = run->plan;
	uint32_t loop;

	engine_nest_copy(&move->nest, nest, NUM_STREAMS);
	move->run = run_tiles;
	move->packs = false;
	move->along = 1;
	move->name = "run";
	if (engine_move_match_rows(move, plan, size_shift))
		return;
	widen_element(move, &size_shift);
	move->size = 1 << size_shift;
	loop = move->nest.rank ? engine_nest_closest(&move->nest, SRC, move->nest.rank - 1) : 0;
	if (loop + 1 < move->nest.rank) {
		match_crossed(move, run, loop, size_shift);
		return;
	}
	take_tile(move);
	choose_blocks(move);
	move->name = "copy";
	move->kernel = (plan->streams ? engine_stream_kernel : engine_copy_kernel)(
		plan->isa->copy, &move->tile, size_shift);
}

/* Whether every element is where it is to go. */
static bool is_in_place(const struct engine_access *access)
{
	const struct engine_nest *nest = &access->nest;
	const struct engine_stream *dst = &nest->streams[DST], *src = &nest->streams[SRC];

	for (uint32_t d = 0; d < nest->rank; d++)
		if (dst->strides[d] != src->strides[d])
			return false;
	return access->bases[DST] + dst->offset == access->bases[SRC] + src->offset;
}

int engine_run_move(struct engine_run *run, const struct engine_box *box, uint32_t loads)
{
	uint32_t size_shift = run->plan->operands[DST].size_shift;
	struct engine_access access;
	struct engine_move move;

	engine_access_init(&access, run->plan, box, loads);
	if (access.nest.index_mask)
		return engine_run_gather(run, &access, size_shift);
	if (is_in_place(&access))
		return engine_run_advance(run, 1);
	engine_move_prepare(&move, run, &access.nest, size_shift);
	return engine_move_run(run, &move, access.bases[DST], access.bases[SRC]);
}
