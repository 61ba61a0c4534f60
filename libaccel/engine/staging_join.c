// SPDX-License-Identifier: MIT
/*
 * Strips whose columns go on in lines that wait, or are runs that go on into each other: a kernel
 * puts the lines together as it transposes.
 */
#include "place.h"
#include "staging_pipeline.h"

/*
 * Where columns of small elements go on in lines that wait, their rows are packed piece by piece,
 * and stay in the first cache until they are stored; the next block is fetched beside so much of
 * them.
 */
#define PIECE_BYTES	16384
#define FETCH_BYTES	1024
#define LANE_BYTES	16

/* Short rows are joined so many bytes at a time. */
#define SHORT_BYTES	12288

/* With an odd number of lines in each row, a piece has half as much again at most. */
_Static_assert(PIECE_BYTES / 2 * 3 <= STAGED_BYTES && MAX_ROWS * LINE_BYTES <= STAGED_BYTES,
	       "the staging buffer has room for a piece");

void engine_staging_list_rows(struct pipeline *pipeline, const int64_t *src_strides)
{
	const struct steps *strips = &pipeline->strips;
	const uint32_t columns = pipeline->move->staging.src_loop, rank = strips->rank;
	struct row_list *rows = &pipeline->rows;
	int64_t at[DRM_TESSERA_MAX_RANK] = { 0 }, place = 0;
	bool is_same = true;
	uint32_t d;

	for (d = 0; d < rank; d++) {
		int64_t extent = d == columns ? 1 : step_extent(strips, d);

		is_same = is_same && rows->extents[d] == extent;
		rows->extents[d] = extent;
	}
	if (is_same)
		return;
	rows->count = 0;
	rows->are_lines_apart = true;
	do {
		if (place % LINE_BYTES)
			rows->are_lines_apart = false;
		rows->places[rows->count++] = place;
		for (d = rank; d-- > 0; at[d] = 0) {
			place += src_strides[d];
			if (++at[d] < rows->extents[d])
				break;
			place -= at[d] * src_strides[d];
		}
	} while (d < rank);
}

void engine_staging_note_joined(struct pipeline *pipeline)
{
	struct joined *joined = &pipeline->joined;

	for (int64_t k = 0; k < joined->count; k++)
		pipeline->slots->next[joined->n + k] = joined->next + k * joined->stride;
	joined->count = 0;
}

/*
 * Whether a column goes on where a slot waits, or begins with a line, before which what waits is
 * stored.
 */
static bool goes_on(struct slots *slots, int64_t n, const uint8_t *to)
{
	if (slots->next[n] == to)
		return true;
	if ((uintptr_t)to % LINE_BYTES)
		return false;
	engine_staging_flush_slot(slots, n);
	return true;
}

/* Whether each of these columns goes on. Mostly those do that were joined last. */
static bool are_awaited(struct pipeline *pipeline, int64_t n, const uint8_t *to, int64_t stride,
			int64_t count)
{
	const struct joined *joined = &pipeline->joined;
	bool are_there = n + count <= NUM_SLOTS;

	if (joined->next == to && joined->n == n && joined->count == count)
		return true;
	engine_staging_note_joined(pipeline);
	for (int64_t k = 0; k < count && are_there; k++)
		are_there = goes_on(pipeline->slots, n + k, to + k * stride);
	return are_there;
}

/* Whether all rows of a strip begin with lines. */
static bool begin_with_lines(const struct pipeline *pipeline, const uint8_t *src)
{
	return (uintptr_t)src % LINE_BYTES == 0 && pipeline->rows.are_lines_apart;
}

/*
 * Whether strips share lines with those to the right of them: they are as wide as a line, and not
 * all of their rows begin where one does. It takes longer than loads that may go across lines.
 */
static bool share_lines(const struct pipeline *pipeline, const uint8_t *src)
{
	const struct engine_move *move = pipeline->move;
	const int64_t width = move->staging.strip[move->staging.src_loop];

	return !engine_loads_across() && !move->staging.packs && width * move->size == LINE_BYTES &&
	       !begin_with_lines(pipeline, src);
}

/*
 * Joins a piece of a strip, and fetches as much of the next block: beside each other, or before. If
 * rows below are fetched nothing else is: they are the next block's, or a few in vain.
 */
static void join_piece(struct pipeline *pipeline, engine_join_kernel *kernel, uint8_t *dst,
		       const uint8_t *src, struct engine_join *join,
		       const struct engine_tile *tile)
{
	const int64_t bytes = tile->extents[0] * tile->extents[1] * pipeline->move->size;
	const bool is_beside = !join->below && engine_fetches_beside_squares() &&
			       is_fetching(pipeline);
	struct inflow *inflow = &pipeline->inflow;
	const int64_t beside = is_beside ? min(bytes, engine_ahead_bytes(&inflow->ahead)) : 0;

	join->ahead = is_beside ? &inflow->ahead : NULL;
	if (!is_beside && !join->below)
		engine_staging_fetch_beside(pipeline, bytes);
	kernel(dst, src, join, tile);
	if (!is_beside)
		return;
	engine_inflow_go_on(inflow);
	engine_inflow_fetch(inflow, bytes - beside);
}

/*
 * The rows of a strip that a kernel is to have at a time: as many as are fetched beside each other,
 * or asked for below. One that goes down many has two lines' along rows, or all.
 */
static int64_t choose_step(const struct pipeline *pipeline, int64_t width, bool is_tall)
{
	const struct engine_move *move = pipeline->move;
	const int64_t line = LINE_BYTES / move->size;

	if (is_tall)
		return move->staging.joins_along ? 2 * line : pipeline->rows.count;
	return max(move->staging.rows_below,
		   round_up(max(1, DIRECT_BYTES / (width * move->size)), line));
}

/* Transposes a strip, piece by piece, to where its columns go on in the lines that wait. */
static void join_strip(struct pipeline *pipeline, uint8_t *dst, const uint8_t *src,
		       struct engine_join *join, int64_t width)
{
	const struct engine_move *move = pipeline->move;
	const struct row_list *rows = &pipeline->rows;
	const bool is_tall = move->staging.tall_join_kernel && !join->begins &&
			     !begin_with_lines(pipeline, src);
	const int64_t step = choose_step(pipeline, width, is_tall);
	engine_join_kernel *kernel = is_tall ? move->staging.tall_join_kernel :
					       move->staging.join_kernel;
	struct engine_tile tile = {
		.extents = { width, step },
		.dst_strides = {
			move->nest.streams[DST].strides[move->staging.src_loop], move->size
		},
	};

	for (int64_t row = 0; row < rows->count; row += step) {
		tile.extents[1] = min(step, rows->count - row);
		join->places = rows->places + row;
		join->shared = pipeline->shared + row;
		join_piece(pipeline, kernel, dst + row * move->size, src, join, &tile);
		join->begins = false;
	}
}

/* Does so with so many columns, one strip after the other. */
static void join_strips(struct pipeline *pipeline, uint8_t *dst, const uint8_t *src,
			uint8_t (*lines)[LINE_BYTES], int64_t count)
{
	const struct engine_move *move = pipeline->move;
	const int64_t stride = move->nest.streams[DST].strides[move->staging.src_loop];
	const int64_t step = move->staging.strip[move->staging.src_loop];
	const bool share = share_lines(pipeline, src);
	struct engine_join join = { .leaves_shared = false };

	for (int64_t c = 0; c < count; c += step) {
		join.lines = lines + c;
		join.has_shared = join.leaves_shared;
		join.leaves_shared = share && count - c >= 2 * step;
		join_strip(pipeline, dst + c * stride, src + c * move->size, &join,
			   min(step, count - c));
	}
}

/* Takes rows, to fetch them line by line: a piece of one, or some. Returns whether they are so. */
static bool take_ahead(struct inflow *inflow, int64_t bytes, struct engine_ahead *ahead)
{
	const uint8_t *from = engine_inflow_take(inflow, bytes);
	int64_t count;

	if (from) {
		*ahead = (struct engine_ahead){
			.from = from, .left = bytes, .count = 1, .row_bytes = bytes,
		};
		return true;
	}
	count = engine_inflow_count_rows(inflow, bytes);
	if (!count || inflow->ahead.row_bytes % LINE_BYTES)
		return false;
	*ahead = inflow->ahead;
	ahead->count = count;
	engine_inflow_pass_rows(inflow, count);
	return true;
}

/* Leaves as much of the next block to a kernel, if it can be, or fetches it and returns NULL. */
static const struct engine_ahead *fetch_later(struct pipeline *pipeline, int64_t bytes,
					      struct engine_ahead *ahead)
{
	if (engine_fetches_beside_joins() && is_fetching(pipeline) && bytes % LINE_BYTES == 0 &&
	    take_ahead(&pipeline->inflow, bytes, ahead))
		return ahead;
	engine_staging_fetch_beside(pipeline, bytes);
	return NULL;
}

/* Does so with columns that have been packed, which the staging buffer has. */
static void join_packed(struct pipeline *pipeline, uint8_t *dst, uint8_t (*lines)[LINE_BYTES],
			int64_t count, int64_t pitch)
{
	const struct engine_move *move = pipeline->move;
	const int64_t rows = pipeline->rows.count, lane = LANE_BYTES / move->size;
	const int64_t step = round_up(max(1, FETCH_BYTES / (rows * move->size)), lane);
	struct engine_tile tile = {
		.extents = { step, rows },
		.dst_strides = {
			move->nest.streams[DST].strides[move->staging.src_loop], move->size
		},
		.src_strides = { move->size, pitch },
	};

	for (int64_t c = 0; c < count; c += step) {
		struct engine_ahead ahead;
		const struct engine_ahead *later;

		tile.extents[0] = min(step, count - c);
		later = fetch_later(pipeline, tile.extents[0] * rows * move->size, &ahead);
		move->staging.packed_join_kernel(dst + c * tile.dst_strides[0],
						 pipeline->staged + c * move->size, lines + c,
						 &tile, later);
	}
}

/*
 * Does so with so many columns, packed piece by piece. The kernel reads as many rows as make lines
 * of the destination, which counts for what a piece may have.
 */
static void pack_and_join(struct pipeline *pipeline, uint8_t *dst, const uint8_t *src,
			  uint8_t (*lines)[LINE_BYTES], int64_t count)
{
	const struct engine_move *move = pipeline->move;
	engine_pack_kernel *pack = pipeline->run->plan->isa->transpose->pack_rows;
	const struct row_list *rows = &pipeline->rows;
	const int64_t stride = move->nest.streams[DST].strides[move->staging.src_loop];
	const int64_t line = LINE_BYTES / move->size;
	const int64_t num_lines = max(1, PIECE_BYTES / LINE_BYTES / round_up(rows->count, line));
	const int64_t pitch = (num_lines | 1) * LINE_BYTES, step = num_lines * line;

	for (int64_t c = 0; c < count; c += step) {
		const int64_t width = min(step, count - c);

		pack(pipeline->staged, pitch, src + c * move->size, rows->places, rows->count,
		     width * move->size);
		join_packed(pipeline, dst + c * stride, lines + c, width, pitch);
	}
}

/* Does so with so many columns along rows, a few of these at a time. */
static void join_along(struct pipeline *pipeline, uint8_t *dst, const uint8_t *src,
		       uint8_t (*lines)[LINE_BYTES], int64_t count, bool begins)
{
	const struct engine_move *move = pipeline->move;
	const int64_t stride = move->nest.streams[SRC].strides[move->nest.rank - 1];
	struct engine_join join = {
		.below = engine_rows_on(stride, move->staging.rows_below),
		.lines = lines,
		.begins = begins,
	};

	join_strip(pipeline, dst, src, &join, count);
}

/* Joins all strips of a block from this one on that have the same rows. */
static void join_block(struct pipeline *pipeline, int64_t n, uint8_t *dst, int64_t count,
		       bool begins)
{
	const struct engine_move *move = pipeline->move;
	uint8_t (*lines)[LINE_BYTES] = pipeline->slots->lines + n;
	const int64_t *strides;
	const uint8_t *src = source_of_strip(pipeline, &strides);

	engine_staging_list_rows(pipeline, strides);
	if (begins || move->staging.joins_along)
		join_along(pipeline, dst, src, lines, count, begins);
	else if (move->staging.packed_join_kernel)
		pack_and_join(pipeline, dst, src, lines, count);
	else
		join_strips(pipeline, dst, src, lines, count);
	pipeline->joined = (struct joined){
		.next = dst + pipeline->rows.count * move->size,
		.stride = move->nest.streams[DST].strides[move->staging.src_loop],
		.n = n,
		.count = count,
	};
}

/* Has so many columns begin where slots wait for others, if the kernel does that for a strip. */
static bool begin_columns(struct pipeline *pipeline, int64_t n, int64_t count)
{
	const struct engine_move *move = pipeline->move;
	const struct steps *strips = &pipeline->strips;
	const int64_t width = step_extent(strips, move->staging.src_loop);

	if (!move->staging.begins_joined || n + count > NUM_SLOTS ||
	    step_bytes(strips, move->size) < width * LINE_BYTES)
		return false;
	for (int64_t k = 0; k < count; k++)
		engine_staging_flush_slot(pipeline->slots, n + k);
	return true;
}

int64_t engine_staging_join_strips(struct pipeline *pipeline)
{
	const struct engine_move *move = pipeline->move;
	const struct engine_staging *staging = &move->staging;
	const uint32_t columns = staging->src_loop;
	struct steps *strips = &pipeline->strips;
	const int64_t count = strips->end[columns] - strips->at[columns];
	const int64_t stride = move->nest.streams[DST].strides[columns];
	const int64_t step = staging->strip[columns];
	bool are_there;
	uint8_t *dst;
	int64_t n;

	if (!staging->join_kernel)
		return 0;
	n = slot_of_strip(pipeline);
	dst = destination_of_strip(pipeline);
	are_there = are_awaited(pipeline, n, dst, stride, count);
	if (!are_there && !begin_columns(pipeline, n, count))
		return 0;
	join_block(pipeline, n, dst, count, !are_there);
	strips->at[columns] += (count - 1) / step * step;
	return count * pipeline->rows.count * move->size;
}

/* Joins all rows of a block from this strip on, a piece at a time. */
static void join_short_rows(struct pipeline *pipeline, uint8_t *dst, int64_t n,
			    struct engine_tile *tile, int64_t rows)
{
	const struct engine_move *move = pipeline->move;
	const int64_t row_bytes = tile->extents[0] * move->size, line = LINE_BYTES / move->size;
	const int64_t piece = max(1, SHORT_BYTES / row_bytes / line) * line;
	const int64_t *strides;
	const uint8_t *src = source_of_strip(pipeline, &strides);

	tile->src_strides[1] = strides[pipeline->strips.rank - 1];
	for (int64_t row = 0; row < rows; row += piece) {
		const uint8_t *next = NULL;

		tile->extents[1] = min(piece, rows - row);
		if (is_fetching(pipeline))
			next = engine_inflow_take(&pipeline->inflow, tile->extents[1] * row_bytes);
		if (!next)
			engine_staging_fetch_beside(pipeline, tile->extents[1] * row_bytes);
		move->staging.short_kernel(dst + row * move->size,
					   BEYOND(src, row * tile->src_strides[1]),
					   pipeline->slots->lines + n, tile, next);
	}
}

int64_t engine_staging_join_short_rows(struct pipeline *pipeline)
{
	const struct engine_move *move = pipeline->move;
	struct steps *strips = &pipeline->strips;
	const uint32_t columns = move->staging.src_loop, last = strips->rank - 1;
	const int64_t rows = strips->end[last] - strips->at[last];
	const int64_t stride = move->nest.streams[DST].strides[columns];
	struct engine_tile tile = {
		.extents = { step_extent(strips, columns) }, .dst_strides = { stride, move->size },
		.src_strides = { move->size },
	};
	uint8_t *dst;
	int64_t n;

	if (!move->staging.short_kernel)
		return 0;
	n = slot_of_strip(pipeline);
	dst = destination_of_strip(pipeline);
	if (((uintptr_t)dst | (uint64_t)stride) % (uint64_t)move->size ||
	    !are_awaited(pipeline, n, dst, stride, tile.extents[0]))
		return 0;
	join_short_rows(pipeline, dst, n, &tile, rows);
	for (int64_t k = 0; k < tile.extents[0]; k++)
		pipeline->slots->next[n + k] = dst + k * stride + rows * move->size;
	strips->at[last] += (rows - 1) / strips->step[last] * strips->step[last];
	return rows * tile.extents[0] * move->size;
}

/* Whether a run goes on. Elements are put together where they begin at multiples of their size. */
static bool begins_chain(struct pipeline *pipeline, int64_t n, const uint8_t *dst)
{
	if ((uintptr_t)dst % (uint64_t)pipeline->move->size)
		return false;
	return goes_on(pipeline->slots, n, dst);
}

/* Columns that are stored at a time, and beside which as much is fetched: as wide as lines. */
static int64_t width_of_piece(const struct engine_move *move, int64_t column_bytes)
{
	const int64_t line = LINE_BYTES / move->size;

	return max(1, DIRECT_BYTES / column_bytes / line) * line;
}

/* Puts so many columns together behind what waits, piece by piece. */
static void chain_columns(struct pipeline *pipeline, int64_t n, uint8_t *dst, int64_t count,
			  int64_t column_bytes)
{
	const struct engine_move *move = pipeline->move;
	const struct steps *strips = &pipeline->strips;
	const uint32_t last = strips->rank - 1;
	const int64_t filled = (int64_t)((uintptr_t)dst % LINE_BYTES);
	const int64_t piece = width_of_piece(move, column_bytes);
	const int64_t *strides;
	const uint8_t *src = source_of_strip(pipeline, &strides);
	struct engine_tile tile = {
		.extents = { 0, step_extent(strips, last) },
		.src_strides = { move->size, strides[last] },
	};

	for (int64_t c = 0; c < count; c += tile.extents[0]) {
		tile.extents[0] = min(piece, count - c);
		engine_staging_fetch_beside(pipeline, tile.extents[0] * column_bytes);
		move->staging.chain_kernel(dst + c * column_bytes - filled, src + c * move->size,
					   &tile, pipeline->slots->lines[n], filled);
	}
	pipeline->slots->next[n] = dst + count * column_bytes;
}

bool engine_staging_chain_strip(struct pipeline *pipeline, int64_t bytes)
{
	const struct engine_move *move = pipeline->move;
	const int64_t count = step_extent(&pipeline->strips, move->staging.src_loop);
	uint8_t *dst;
	int64_t n;

	if (!move->staging.chain_kernel || count % (LINE_BYTES / move->size))
		return false;
	n = slot_of_strip(pipeline);
	dst = destination_of_strip(pipeline);
	if (!begins_chain(pipeline, n, dst))
		return false;
	chain_columns(pipeline, n, dst, count, bytes / count);
	return true;
}
