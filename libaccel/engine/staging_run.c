// SPDX-License-Identifier: MIT
/*
 * Running large transposes, block by block; why is in staging.h. The destination's runs need not
 * begin at cache lines: then strips are put together with what waits of the lines in which they
 * begin, in the staging buffer or in registers.
 */
#include <string.h>

#include "arithmetic.h"
#include "staging_pipeline.h"

/* Of rows that are short or gone along, so much is fetched before the first are transposed. */
#define PIECE_AHEAD	32768

/* Elements of which a kernel stores the lines of rows whole, one after the other. */
#define LEAST_SHIFTED	4
#define MOST_SHIFTED	8

/* In scratch: a block, two lines after each row; the staging buffer; slots. */
#define PACKED_BYTES										\
	(BLOCK_BYTES / PACKED_ROW_BYTES * (PACKED_ROW_BYTES + 2 * LINE_BYTES))

/* Half a page further on: strips that lie in one page took half as long again, we know not why. */
#define STAGED_PLACE	(PACKED_BYTES + 2048)
#define SLOTS_PLACE	(STAGED_PLACE + STAGED_BYTES)
#define SHARED_PLACE	(SLOTS_PLACE + (int64_t)sizeof(struct slots))

/*
 * Where the next block is packed while one is streamed, the other half of scratch is its place:
 * nothing is staged then, and nothing waits.
 */
#define NEXT_PLACE	(ENGINE_SCRATCH_BYTES / 2 + 2048)

_Static_assert(SHARED_PLACE + MAX_ROWS * LINE_BYTES <= ENGINE_SCRATCH_BYTES,
	       "scratch has room for all");

_Static_assert(PACKED_BYTES <= ENGINE_SCRATCH_BYTES / 2 - 2048, "half of scratch has room for it");

/* A panel, or strip, whose lines all go to where they are at home. */
static int run_strip_directly(struct pipeline *pipeline)
{
	if (pipeline->shifted_kernel)
		return engine_staging_shift_panel(pipeline);
	return pipeline->move->staging.are_tiles ? engine_staging_stream_panel(pipeline) :
						   engine_staging_stream_strip(pipeline);
}

static int run_strips_directly(struct pipeline *pipeline)
{
	int error;

	do {
		error = run_strip_directly(pipeline);
	} while (!error && next_step(&pipeline->strips));
	return error;
}

/* A strip, or all that have the same rows or columns and go on where others wait: to the last. */
static int64_t run_strips_beside(struct pipeline *pipeline)
{
	int64_t bytes = engine_staging_join_strips(pipeline);

	if (!bytes)
		bytes = engine_staging_join_short_rows(pipeline);
	if (bytes)
		return bytes;
	bytes = step_bytes(&pipeline->strips, pipeline->move->size);
	if (engine_staging_chain_strip(pipeline, bytes))
		return bytes;
	return engine_staging_stage_strips(pipeline, bytes);
}

static int run_strips(struct pipeline *pipeline)
{
	int error;

	do {
		int64_t bytes = run_strips_beside(pipeline);

		error = engine_run_advance(pipeline->run, (uint64_t)bytes);
	} while (!error && next_step(&pipeline->strips));
	return error;
}

static int run_block(struct pipeline *pipeline, const struct steps *blocks)
{
	if (pipeline->packs_ahead)
		engine_staging_take_packed(pipeline);
	else if (pipeline->move->staging.packs)
		engine_staging_pack_block(pipeline, blocks);
	enter_step(&pipeline->strips, blocks);
	return pipeline->is_direct || pipeline->shifted_kernel ? run_strips_directly(pipeline) :
								 run_strips(pipeline);
}

static int run_blocks(struct pipeline *pipeline, struct steps *blocks)
{
	int error;

	do {
		error = run_block(pipeline, blocks);
	} while (!error && next_step(blocks));
	return error;
}

/* Does so where each block is packed while the one before it is streamed. */
static int run_packing(struct pipeline *pipeline, struct steps *blocks)
{
	engine_staging_begin_packing(pipeline, pipeline->run->scratch + NEXT_PLACE);
	return run_blocks(pipeline, blocks);
}

/*
 * What a stream has before its first cache line, in elements of a loop that blocks cut and in which
 * it is contiguous; 0 if not all of its rows begin at the same place of a line.
 */
static int64_t head_of(const struct engine_move *move, uint32_t stream, uint32_t loop,
		       const uint8_t *from, int64_t size)
{
	const struct engine_nest *nest = &move->nest;
	const int64_t block = move->staging.block[loop];
	const int64_t bytes = (int64_t)(-(uintptr_t)from % LINE_BYTES);

	if (block == nest->extents[loop] || bytes % size || bytes / size >= block)
		return 0;
	for (uint32_t d = 0; d < nest->rank; d++)
		if (d != loop && nest->streams[stream].strides[d] % LINE_BYTES)
			return 0;
	return bytes / size;
}

/* Whether each strip has all rows of its columns: where columns overlap, some would have less. */
static bool are_columns_whole(const struct engine_move *move)
{
	const struct engine_staging *staging = &move->staging;

	for (uint32_t d = 0; d < move->nest.rank; d++)
		if (d != staging->src_loop && staging->strip[d] > 1 &&
		    staging->strip[d] < move->nest.extents[d])
			return false;
	return true;
}

/* The kernel for columns that are whole lines and one run, which begins within a line. */
static engine_rows_kernel *choose_shifted_kernel(const struct pipeline *pipeline)
{
	const struct engine_move *move = pipeline->move;
	const struct engine_staging *staging = &move->staging;
	engine_rows_kernel *const *kernels = pipeline->run->plan->isa->transpose->transpose_rows;

	if (!kernels || move->size < LEAST_SHIFTED || move->size > MOST_SHIFTED ||
	    !staging->has_lines || !staging->is_one_run || staging->packs ||
	    !are_columns_whole(move) || (uintptr_t)pipeline->dst % LINE_BYTES == 0 ||
	    (uintptr_t)pipeline->dst % (uint64_t)move->size)
		return NULL;
	return kernels[__builtin_ctzll((uint64_t)move->size)];
}

/* How strips are run, which is a matter of where they go. */
static void choose_way(struct pipeline *pipeline, bool is_cut_at_lines)
{
	const struct engine_staging *staging = &pipeline->move->staging;

	pipeline->is_direct = staging->has_lines &&
			      (staging->stream_kernel || staging->are_tiles) &&
			      ((uintptr_t)pipeline->dst % LINE_BYTES == 0 || is_cut_at_lines);
	if (!pipeline->is_direct)
		pipeline->shifted_kernel = choose_shifted_kernel(pipeline);
	if (pipeline->is_direct ? staging->are_tiles : !!pipeline->shifted_kernel)
		pipeline->strips.step = staging->panel;
	if (staging->join_kernel && !pipeline->is_direct)
		pipeline->strips.order = staging->across;
}

/* How much is fetched before anything is transposed: a block, or as many rows as need be. */
static int64_t bytes_ahead(const struct pipeline *pipeline, const struct steps *blocks)
{
	const struct engine_staging *staging = &pipeline->move->staging;
	const int64_t bytes = step_bytes(blocks, staging->src_size);
	const bool goes_along = staging->joins_along && staging->join_kernel &&
				!pipeline->is_direct;

	return staging->has_short_rows || goes_along ? min(bytes, PIECE_AHEAD) : bytes;
}

int engine_staging_run(struct engine_run *run, const struct engine_move *move, uint8_t *dst,
		       const uint8_t *src)
{
	const struct engine_staging *staging = &move->staging;
	const uint32_t rank = move->nest.rank, last = rank - 1;
	struct steps blocks = { .rank = rank, .step = staging->block };
	struct pipeline pipeline = {
		.run = run,
		.move = move,
		.dst = dst + move->nest.streams[DST].offset,
		.src = src + move->nest.streams[SRC].offset,
		.packed = run->scratch,
		.staged = run->scratch + STAGED_PLACE,
		.slots = (struct slots *)(run->scratch + SLOTS_PLACE),
		.shared = (uint8_t (*)[LINE_BYTES])(run->scratch + SHARED_PLACE),
		.strips = { .rank = rank, .step = staging->strip },
		.tiles = { .rank = rank, .step = staging->tile },
	};
	int error;

	blocks.head[last] = head_of(move, DST, last, pipeline.dst, move->size);
	blocks.head[staging->src_loop] = head_of(move, SRC, staging->src_loop, pipeline.src,
						 staging->src_size);
	choose_way(&pipeline, blocks.head[last]);
	enter_nest(&blocks, &move->nest);
	engine_inflow_begin(&pipeline.inflow, move, pipeline.src, &blocks);
	if (pipeline.is_direct && staging->packing_kernel)
		return run_packing(&pipeline, &blocks);
	engine_inflow_fetch(&pipeline.inflow, bytes_ahead(&pipeline, &blocks));
	memset(pipeline.slots->next, 0,
	       (size_t)staging->num_slots * sizeof(pipeline.slots->next[0]));
	error = run_blocks(&pipeline, &blocks);
	engine_staging_note_joined(&pipeline);
	for (int64_t n = 0; n < staging->num_slots; n++)
		engine_staging_flush_slot(pipeline.slots, n);
	return error;
}
