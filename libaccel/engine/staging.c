// SPDX-License-Identifier: MIT
/*
 * Large transposes by way of a staging buffer; why is in staging.h. A block is kept in two forms:
 * rows of the staging buffer, each a run of the destination, and the steps that fill it, each a
 * tile for a kernel. The destination's runs need not begin at cache lines: what a row has beyond
 * its last whole line waits in front of the same row of the next block, where that block goes on.
 */
#include <string.h>

#include "move.h"

enum { DST = ENGINE_MOVE_DST, SRC = ENGINE_MOVE_SRC };

#define LINE_BYTES	64

/* What a block's runs should have at least, where the loops are long enough. */
#define DST_RUN_BYTES	256
#define SRC_RUN_BYTES	512

/* Less is not worth the way. */
#define LEAST_BYTES	131072

/* Rows of a step, and their room: each has a run of the source and at most a line more. */
#define PACKED_ROWS	32
#define PACKED_BYTES	(PACKED_ROWS * (SRC_RUN_BYTES + LINE_BYTES))

/* A block has at most so much, and so much room in the staging buffer. */
#define BLOCK_BYTES	65536
#define HALF_BYTES	((ENGINE_SCRATCH_BYTES - PACKED_BYTES) / 2 / LINE_BYTES * LINE_BYTES)

/* Shorter rows of the source are taken from where they are, so many bytes at a time. */
#define PACKED_ROW_BYTES	256
#define STEP_BYTES		2048

/* The source is fetched so far ahead. */
#define AHEAD_BYTES	4096

static int64_t min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t max(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t magnitude(int64_t value)
{
	return value < 0 ? -value : value;
}

static int64_t divide_up(int64_t value, int64_t divisor)
{
	return (value + divisor - 1) / divisor;
}

static int64_t round_up(int64_t value, int64_t multiple)
{
	return divide_up(value, multiple) * multiple;
}

/* --- cutting ---------------------------------------------------------------------------------- */

static int64_t block_elements(const struct engine_staging *staging, uint32_t rank)
{
	int64_t elements = 1;

	for (uint32_t d = 0; d < rank; d++)
		elements *= staging->block[d];
	return elements;
}

/* The loop that goes on where whole contiguous loops of a stream end; rank if none does. */
static uint32_t next_in_run(const struct engine_nest *nest, uint32_t stream, int64_t run_bytes)
{
	uint32_t d = 0;

	while (d < nest->rank && nest->streams[stream].strides[d] != run_bytes)
		d++;
	return d;
}

/*
 * Widens the block along the loops in which a stream is contiguous, beginning with this one, until
 * runs have the bytes wanted, as far as the block's size allows.
 */
static void widen_block(struct engine_staging *staging, const struct engine_nest *nest,
			uint32_t stream, uint32_t loop, int64_t size, int64_t wanted)
{
	int64_t run_bytes = size;
	uint32_t mask = 0;

	while (loop < nest->rank && !(mask >> loop & 1) && run_bytes < wanted) {
		int64_t others = block_elements(staging, nest->rank) / staging->block[loop];
		int64_t most = max(1, BLOCK_BYTES / (others * size));
		int64_t extent = min(divide_up(wanted, run_bytes), most);

		staging->block[loop] = max(staging->block[loop], min(extent, nest->extents[loop]));
		if (staging->block[loop] < nest->extents[loop])
			return;
		mask |= 1u << loop;
		run_bytes *= nest->extents[loop];
		loop = next_in_run(nest, stream, run_bytes);
	}
}

/* The loops of a run of the destination: those that the block has whole, and one that it cuts. */
static uint32_t run_loops(const struct engine_staging *staging, const struct engine_nest *nest,
			  int64_t size)
{
	uint32_t loop = nest->rank - 1, mask = 0;
	int64_t run_bytes = size;

	while (loop < nest->rank && !(mask >> loop & 1)) {
		mask |= 1u << loop;
		if (staging->block[loop] < nest->extents[loop])
			return mask;
		run_bytes *= nest->extents[loop];
		loop = next_in_run(nest, DST, run_bytes);
	}
	return mask;
}

/*
 * Rows of the staging buffer have an odd number of lines, one of them in front, lest they meet in
 * the same cache sets.
 */
static void lay_out_rows(struct engine_staging *staging, const struct engine_nest *nest,
			 int64_t size)
{
	uint32_t run_mask = run_loops(staging, nest, size);
	int64_t pitch;

	staging->row_mask = 0;
	staging->run_bytes = size;
	for (uint32_t d = 0; d < nest->rank; d++) {
		if (!(run_mask >> d & 1))
			continue;
		staging->strides[d] = nest->streams[DST].strides[d];
		staging->run_bytes *= staging->block[d];
	}
	pitch = round_up(staging->run_bytes, LINE_BYTES) + LINE_BYTES;
	if (pitch / LINE_BYTES % 2 == 0)
		pitch += LINE_BYTES;
	for (uint32_t d = nest->rank; d-- > 0; ) {
		if (run_mask >> d & 1)
			continue;
		staging->row_mask |= 1u << d;
		staging->strides[d] = pitch;
		pitch *= staging->block[d];
	}
	staging->block_bytes = pitch;
}

static void order_loops(struct engine_staging *staging, const struct engine_nest *nest)
{
	const int64_t *strides = nest->streams[SRC].strides;

	for (uint32_t d = 0; d < nest->rank; d++) {
		uint32_t place = d;

		for (; place > 0; place--) {
			uint32_t before = staging->order[place - 1];

			if (magnitude(strides[before]) >= magnitude(strides[d]))
				break;
			staging->order[place] = before;
		}
		staging->order[place] = d;
	}
}

/*
 * A step has the width of the block in the source. Where that is a long row, so many rows are
 * copied side by side first, as rows that are a power of two apart meet in the same cache sets;
 * where it is a short one, the kernel takes its rows from where they are.
 */
static void choose_steps(struct engine_staging *staging, const struct engine_nest *nest,
			 int64_t size)
{
	const uint32_t rows = nest->rank - 1, columns = staging->src_loop;
	int64_t row_bytes;

	for (uint32_t d = 0; d < nest->rank; d++)
		staging->step[d] = 1;
	staging->step[columns] = min(staging->block[columns], SRC_RUN_BYTES / size);
	row_bytes = staging->step[columns] * size;
	staging->packs = row_bytes >= PACKED_ROW_BYTES;
	staging->step[rows] = staging->packs ? PACKED_ROWS : round_up(STEP_BYTES / row_bytes, 32);
	staging->step[rows] = min(staging->block[rows], staging->step[rows]);
	/* what is walked in small steps, the CPU fetches by itself */
	staging->fetches = magnitude(nest->streams[SRC].strides[rows]) >= 4 * LINE_BYTES;
	staging->pitch = round_up(row_bytes, LINE_BYTES);
	if (staging->pitch / LINE_BYTES % 2 == 0)
		staging->pitch += LINE_BYTES;
}

bool engine_staging_prepare(struct engine_staging *staging, const struct engine_nest *nest,
			    uint32_t src_loop, int64_t size)
{
	int64_t bytes = size;

	for (uint32_t d = 0; d < nest->rank; d++) {
		bytes *= nest->extents[d];
		staging->block[d] = 1;
	}
	if (bytes < LEAST_BYTES)
		return false;
	staging->src_loop = src_loop;
	widen_block(staging, nest, DST, nest->rank - 1, size, DST_RUN_BYTES);
	widen_block(staging, nest, SRC, src_loop, size, SRC_RUN_BYTES);
	widen_block(staging, nest, DST, nest->rank - 1, size, BLOCK_BYTES);
	lay_out_rows(staging, nest, size);
	while (staging->block_bytes > HALF_BYTES && staging->block[src_loop] > 1) {
		staging->block[src_loop] /= 2;
		lay_out_rows(staging, nest, size);
	}
	if (staging->run_bytes < LINE_BYTES || staging->block_bytes > HALF_BYTES)
		return false;
	order_loops(staging, nest);
	choose_steps(staging, nest, size);
	return true;
}

/* --- walking ---------------------------------------------------------------------------------- */

/* A step: which block it is in, and where in the block. */
struct cursor {
	const struct engine_staging *staging;
	const struct engine_nest *nest;
	int64_t first[DRM_TESSERA_MAX_RANK];	/* of the block */
	int64_t end[DRM_TESSERA_MAX_RANK];
	int64_t at[DRM_TESSERA_MAX_RANK];
	int64_t src_offset;
	int64_t staging_offset;
	bool is_done;
};

/* Goes to the first step of the block. */
static void begin_block(struct cursor *cursor)
{
	const struct engine_nest *nest = cursor->nest;

	cursor->src_offset = nest->streams[SRC].offset;
	cursor->staging_offset = 0;
	for (uint32_t d = 0; d < nest->rank; d++) {
		cursor->at[d] = cursor->first[d];
		cursor->end[d] = min(cursor->first[d] + cursor->staging->block[d],
				     nest->extents[d]);
		cursor->src_offset += cursor->first[d] * nest->streams[SRC].strides[d];
	}
}

static void begin_walk(struct cursor *cursor, const struct engine_staging *staging,
		       const struct engine_nest *nest)
{
	*cursor = (struct cursor){ .staging = staging, .nest = nest };
	begin_block(cursor);
}

/* Goes on to the next step; returns false at the end of the block. */
static bool next_step(struct cursor *cursor)
{
	const struct engine_staging *staging = cursor->staging;
	const struct engine_nest *nest = cursor->nest;

	for (uint32_t place = nest->rank; place-- > 0; ) {
		uint32_t d = staging->order[place];
		int64_t step = staging->step[d];
		bool is_last = cursor->at[d] + step >= cursor->end[d];

		if (is_last)
			step = cursor->first[d] - cursor->at[d];
		cursor->at[d] += step;
		cursor->src_offset += step * nest->streams[SRC].strides[d];
		cursor->staging_offset += step * staging->strides[d];
		if (!is_last)
			return true;
	}
	return false;
}

/* Goes on to the next block, the last loop fastest; returns false after the last one. */
static bool next_block(struct cursor *cursor)
{
	const struct engine_nest *nest = cursor->nest;

	for (uint32_t d = nest->rank; d-- > 0; ) {
		cursor->first[d] += cursor->staging->block[d];
		if (cursor->first[d] < nest->extents[d]) {
			begin_block(cursor);
			return true;
		}
		cursor->first[d] = 0;
	}
	cursor->is_done = true;
	return false;
}

/* --- streaming out ---------------------------------------------------------------------------- */

/* A block that is, or will be, in one half of the staging buffer. */
struct block {
	uint8_t *rows;
	uint8_t *dst;				/* where its first run begins */
	int64_t extents[DRM_TESSERA_MAX_RANK];
	int64_t run_bytes;
};

static struct block block_at(const struct cursor *cursor, uint8_t *dst, uint8_t *rows, int64_t size)
{
	const struct engine_stream *stream = &cursor->nest->streams[DST];
	struct block block = { .rows = rows, .dst = dst + stream->offset, .run_bytes = size };

	for (uint32_t d = 0; d < cursor->nest->rank; d++) {
		block.extents[d] = cursor->end[d] - cursor->first[d];
		block.dst += cursor->first[d] * stream->strides[d];
		if (!(cursor->staging->row_mask >> d & 1))
			block.run_bytes *= block.extents[d];
	}
	return block;
}

/* Whether each run of b goes on where one of a ends, and a whole line at least is in each. */
static bool is_next(const struct block *a, const struct block *b, const struct cursor *cursor)
{
	for (uint32_t d = 0; d < cursor->nest->rank; d++)
		if ((cursor->staging->row_mask >> d & 1) && a->extents[d] != b->extents[d])
			return false;
	return a->dst + a->run_bytes == b->dst && a->run_bytes >= LINE_BYTES &&
	       b->run_bytes >= LINE_BYTES;
}

/* A block on its way to the destination, run by run. */
struct outflow {
	const struct engine_staging *staging;
	const struct engine_nest *nest;
	engine_lines_kernel *stream_lines;
	struct block block;
	uint8_t *next_rows;		/* of the block that goes on where this one ends, or NULL */
	bool goes_on;			/* this one goes on where the one before it ended */
	bool is_done;
	int64_t at[DRM_TESSERA_MAX_RANK];
	int64_t row_offset;		/* of the row, in the staging buffer */
	uint8_t *to;			/* what is left of its whole lines */
	const uint8_t *from;
	int64_t left;
	int64_t tail;			/* bytes beyond them */
};

/* Begins a row: bytes in front of its first whole line are there already, or are copied. */
static void open_row(struct outflow *outflow)
{
	const struct block *block = &outflow->block;
	int64_t bytes = block->run_bytes, shift;

	outflow->to = block->dst;
	for (uint32_t d = 0; d < outflow->nest->rank; d++)
		if (outflow->staging->row_mask >> d & 1)
			outflow->to += outflow->at[d] * outflow->nest->streams[DST].strides[d];
	outflow->from = block->rows + outflow->row_offset;
	shift = -(int64_t)((uintptr_t)outflow->to % LINE_BYTES);
	if (shift && !outflow->goes_on) {
		shift = min(LINE_BYTES + shift, bytes);
		memcpy(outflow->to, outflow->from, (size_t)shift);
	}
	outflow->to += shift;
	outflow->from += shift;
	bytes -= shift;
	outflow->tail = bytes % LINE_BYTES;
	outflow->left = bytes - outflow->tail;
}

/* Ends a row: bytes beyond its last whole line go before that of the next block, or are copied. */
static void close_row(struct outflow *outflow)
{
	uint8_t *to = outflow->to;

	if (outflow->next_rows)
		to = outflow->next_rows + outflow->row_offset - outflow->tail;
	memcpy(to, outflow->from, (size_t)outflow->tail);
}

static void next_row(struct outflow *outflow)
{
	const struct engine_staging *staging = outflow->staging;

	for (uint32_t d = outflow->nest->rank; d-- > 0; ) {
		if (!(staging->row_mask >> d & 1))
			continue;
		outflow->row_offset += staging->strides[d];
		if (++outflow->at[d] < outflow->block.extents[d]) {
			open_row(outflow);
			return;
		}
		outflow->row_offset -= outflow->at[d] * staging->strides[d];
		outflow->at[d] = 0;
	}
	outflow->is_done = true;
}

static void begin_outflow(struct outflow *outflow, const struct block *block, bool goes_on,
			  uint8_t *next_rows)
{
	outflow->block = *block;
	outflow->goes_on = goes_on;
	outflow->next_rows = next_rows;
	outflow->is_done = false;
	outflow->row_offset = 0;
	for (uint32_t d = 0; d < outflow->nest->rank; d++)
		outflow->at[d] = 0;
	open_row(outflow);
}

/* Streams so many bytes, a few more, or all that is left. */
static void stream_out(struct outflow *outflow, int64_t bytes)
{
	while (bytes > 0 && !outflow->is_done) {
		int64_t lines = outflow->left;

		if (bytes < lines)
			lines = round_up(bytes, LINE_BYTES);
		outflow->stream_lines(outflow->to, outflow->from, lines);
		outflow->to += lines;
		outflow->from += lines;
		outflow->left -= lines;
		bytes -= lines;
		if (outflow->left)
			return;
		bytes -= outflow->tail;
		close_row(outflow);
		next_row(outflow);
	}
}

/* --- the pipeline ----------------------------------------------------------------------------- */

struct pipeline {
	struct engine_run *run;
	const struct engine_move *move;
	const uint8_t *src;
	uint8_t *packed;		/* the rows of a step */
	struct cursor here;		/* the step that is done next */
	struct cursor ahead;		/* the step whose row is fetched next */
	int64_t ahead_row;
	struct outflow outflow;
};

/* The part of a step that is in its block. */
static int64_t step_extent(const struct cursor *cursor, uint32_t d)
{
	return min(cursor->staging->step[d], cursor->end[d] - cursor->at[d]);
}

/* Fetches a row of the source that comes later. */
static void fetch_row(struct pipeline *pipeline)
{
	struct cursor *ahead = &pipeline->ahead;
	const uint32_t rows = ahead->nest->rank - 1;
	const int64_t stride = ahead->nest->streams[SRC].strides[rows];
	const uint8_t *row = pipeline->src + ahead->src_offset + pipeline->ahead_row * stride;
	int64_t bytes;

	if (ahead->is_done || !ahead->staging->fetches)
		return;
	bytes = step_extent(ahead, ahead->staging->src_loop) * pipeline->move->size;
	for (int64_t byte = 0; byte < bytes; byte += LINE_BYTES)
		__builtin_prefetch(row + byte);
	if (++pipeline->ahead_row < step_extent(ahead, rows))
		return;
	pipeline->ahead_row = 0;
	if (!next_step(ahead))
		next_block(ahead);
}

/* Copies the rows of a step side by side, while others come and go. */
static void pack_rows(struct pipeline *pipeline, const struct engine_tile *tile, int64_t row_bytes)
{
	const uint8_t *row = pipeline->src + pipeline->here.src_offset;
	uint8_t *packed = pipeline->packed;

	for (int64_t r = 0; r < tile->extents[1]; r++) {
		fetch_row(pipeline);
		memcpy(packed, row, (size_t)row_bytes);
		stream_out(&pipeline->outflow, row_bytes);
		packed += pipeline->here.staging->pitch;
		row += tile->src_strides[1];
	}
}

static int run_step(struct pipeline *pipeline, uint8_t *staged)
{
	const struct cursor *here = &pipeline->here;
	const struct engine_staging *staging = here->staging;
	const int64_t size = pipeline->move->size;
	const uint32_t rows = here->nest->rank - 1, columns = staging->src_loop;
	const uint8_t *src = pipeline->src + here->src_offset;
	struct engine_tile tile = {
		.extents = { step_extent(here, columns), step_extent(here, rows) },
		.dst_strides = { staging->strides[columns], size },
		.src_strides = { size, here->nest->streams[SRC].strides[rows] },
	};
	int64_t row_bytes = tile.extents[0] * size;

	if (staging->packs) {
		pack_rows(pipeline, &tile, row_bytes);
		src = pipeline->packed;
		tile.src_strides[1] = staging->pitch;
	} else {
		for (int64_t r = 0; staging->fetches && r < tile.extents[1]; r++)
			fetch_row(pipeline);
		stream_out(&pipeline->outflow, tile.extents[1] * row_bytes);
	}
	pipeline->move->kernel(staged + here->staging_offset, src, &tile);
	return engine_run_advance(pipeline->run, (uint64_t)(tile.extents[1] * row_bytes));
}

static int fill_block(struct pipeline *pipeline, uint8_t *rows)
{
	int error;

	do {
		error = run_step(pipeline, rows);
	} while (!error && next_step(&pipeline->here));
	stream_out(&pipeline->outflow, INT64_MAX);
	return error;
}

static int run_blocks(struct pipeline *pipeline, uint8_t *dst, uint8_t *const halves[2])
{
	const int64_t size = pipeline->move->size;
	struct cursor *here = &pipeline->here;
	struct outflow *outflow = &pipeline->outflow;
	struct block block = block_at(here, dst, halves[0], size);
	bool goes_on = false;
	int error;

	for (int half = 1; ; half ^= 1) {
		struct block filled = block;

		error = fill_block(pipeline, block.rows);
		if (error)
			return error;
		if (!next_block(here))
			break;
		block = block_at(here, dst, halves[half], size);
		begin_outflow(outflow, &filled, goes_on,
			      is_next(&filled, &block, here) ? block.rows : NULL);
		goes_on = outflow->next_rows;
	}
	begin_outflow(outflow, &block, goes_on, NULL);
	stream_out(outflow, INT64_MAX);
	return 0;
}

int engine_staging_run(struct engine_run *run, const struct engine_move *move, uint8_t *dst,
		       const uint8_t *src)
{
	const struct engine_staging *staging = &move->staging;
	const int64_t row_bytes = staging->step[staging->src_loop] * move->size;
	uint8_t *const halves[2] = {
		run->scratch + LINE_BYTES,
		run->scratch + HALF_BYTES + LINE_BYTES,
	};
	struct pipeline pipeline = {
		.run = run,
		.move = move,
		.src = src,
		.packed = run->scratch + 2 * HALF_BYTES,
		.outflow = {
			.staging = staging,
			.nest = &move->nest,
			.stream_lines = run->plan->isa->transpose->stream_lines,
			.is_done = true,
		},
	};

	begin_walk(&pipeline.here, staging, &move->nest);
	pipeline.ahead = pipeline.here;
	for (int64_t bytes = 0; bytes < AHEAD_BYTES; bytes += row_bytes)
		fetch_row(&pipeline);
	return run_blocks(&pipeline, dst, halves);
}
