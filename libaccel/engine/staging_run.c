// SPDX-License-Identifier: MIT
/*
 * Running large transposes, block by block and strip by strip; why is in staging.h. The
 * destination's runs need not begin at cache lines: what a run has beyond its last whole line waits
 * in a slot for the run that goes on there, if it comes while the slot is not needed. Where it
 * comes for each column of a strip, or columns are runs that go on into each other, a kernel may
 * put the lines together as it transposes, or find that they are lines of columns shifted.
 */
#include <string.h>

#include "arithmetic.h"
#include "move.h"
#include "place.h"
#include "shifted.h"
#include "staging_room.h"
#include "steps.h"

enum { DST = ENGINE_MOVE_DST, SRC = ENGINE_MOVE_SRC };

/*
 * Where columns of small elements go on in lines that wait, their rows are packed piece by piece,
 * and stay in the first cache until they are stored; the next block is fetched beside so much of
 * them.
 */
#define PIECE_BYTES	16384
#define FETCH_BYTES	1024
#define LANE_BYTES	16

/* Elements of which a kernel stores the lines of rows whole, one after the other. */
#define LEAST_SHIFTED	4
#define MOST_SHIFTED	8

/* In scratch: a block, two lines after each row; the staging buffer; slots. */
#define PACKED_BYTES										\
	(BLOCK_BYTES / PACKED_ROW_BYTES * (PACKED_ROW_BYTES + 2 * LINE_BYTES))
#define NUM_SLOTS	1024

/* Half a page further on: strips that lie in one page took half as long again, we know not why. */
#define STAGED_PLACE	(PACKED_BYTES + 2048)
#define SLOTS_PLACE	(STAGED_PLACE + STAGED_BYTES)
#define SHARED_PLACE	(SLOTS_PLACE + (int64_t)sizeof(struct slots))

/*
 * Where the next block is packed while one is streamed, the other half of scratch is its place:
 * nothing is staged then, and nothing waits. Its rows are fetched so many bytes before.
 */
#define NEXT_PLACE	(ENGINE_SCRATCH_BYTES / 2 + 2048)
#define AHEAD_BYTES	16384

/* What waits is what is before next in its line: the last bytes here. */
struct slots {
	uint8_t lines[NUM_SLOTS][LINE_BYTES];
	uint8_t *next[NUM_SLOTS];	/* where a run has to go on, or NULL */
};

_Static_assert(SHARED_PLACE + MAX_ROWS * LINE_BYTES <= ENGINE_SCRATCH_BYTES,
	       "scratch has room for all");

_Static_assert(PACKED_BYTES <= ENGINE_SCRATCH_BYTES / 2 - 2048, "half of scratch has room for it");

/* With an odd number of lines in each row, a piece has half as much again at most. */
_Static_assert(PIECE_BYTES / 2 * 3 <= STAGED_BYTES && MAX_ROWS * LINE_BYTES <= STAGED_BYTES,
	       "the staging buffer has room for a piece");

/* --- fetching --------------------------------------------------------------------------------- */

/* The source on its way to the caches, row by row. */
struct inflow {
	const struct engine_move *move;
	const uint8_t *src;
	struct steps blocks;
	struct steps rows;
	const uint8_t *from;		/* what comes next of a row */
	int64_t left;			/* bytes of it */
	bool is_done;
};

static void begin_row(struct inflow *inflow)
{
	const struct engine_move *move = inflow->move;

	inflow->from = inflow->src + offset_of(move->nest.streams[SRC].strides, inflow->rows.at,
					       NULL, inflow->rows.rank);
	inflow->left = step_bytes(&inflow->rows, move->staging.src_size);
}

static void begin_block(struct inflow *inflow)
{
	enter_step(&inflow->rows, &inflow->blocks);
	begin_row(inflow);
}

static void begin_inflow(struct inflow *inflow, const struct engine_move *move, const uint8_t *src,
			 const struct steps *blocks)
{
	*inflow = (struct inflow){
		.move = move,
		.src = src,
		.blocks = *blocks,
		.rows = {
			.rank = blocks->rank,
			.step = move->staging.row,
			.order = move->staging.order,
		},
	};
	begin_block(inflow);
}

/* Goes on to the next row of all blocks. */
static void next_row(struct inflow *inflow)
{
	if (next_step(&inflow->rows)) {
		begin_row(inflow);
		return;
	}
	inflow->is_done = !next_step(&inflow->blocks);
	begin_block(inflow);
}

/*
 * Takes so many bytes that come next, if they are side by side, to fetch them: their last line has
 * been asked for. Returns where they begin, or NULL.
 */
static const uint8_t *take_piece(struct inflow *inflow, int64_t bytes)
{
	const uint8_t *from = inflow->from;

	if (inflow->is_done || inflow->left < bytes)
		return NULL;
	engine_fetch(from + bytes - 1);
	inflow->from += bytes;
	inflow->left -= bytes;
	if (!inflow->left)
		next_row(inflow);
	return from;
}

/* Rows of a block that come next and are the same distance apart. */
struct even_rows {
	int64_t count;
	int64_t bytes;			/* of each */
	int64_t stride;
	uint32_t loop;			/* in which they follow each other */
};

/* Finds so many bytes that come next, without going on. Returns whether they are such rows. */
static bool find_even_rows(const struct inflow *inflow, int64_t bytes, struct even_rows *even)
{
	const struct steps *rows = &inflow->rows;

	even->bytes = step_bytes(rows, inflow->move->staging.src_size);
	if (inflow->is_done || inflow->left < even->bytes || bytes % even->bytes)
		return false;
	even->count = bytes / even->bytes;
	for (uint32_t place = rows->rank; place-- > 0; ) {
		const uint32_t d = rows->order[place];

		if (rows->end[d] - rows->first[d] == step_extent(rows, d))
			continue;
		even->loop = d;
		even->stride = inflow->move->nest.streams[SRC].strides[d];
		return even->count <= rows->end[d] - rows->at[d];
	}
	return false;
}

/* Goes on behind such rows. */
static void pass_rows(struct inflow *inflow, const struct even_rows *even)
{
	inflow->rows.at[even->loop] += even->count - 1;
	next_row(inflow);
}

/* Fetches so many bytes that come later. */
static void fetch(struct inflow *inflow, int64_t bytes)
{
	while (bytes > 0 && !inflow->is_done) {
		const int64_t piece = min(bytes, inflow->left);
		const uint8_t *from = take_piece(inflow, piece);

		for (int64_t byte = 0; byte < piece; byte += LINE_BYTES)
			engine_fetch(from + byte);
		bytes -= piece;
	}
}

/* --- strips ----------------------------------------------------------------------------------- */

/*
 * A strip's runs in the staging buffer. Each is as far from a line's beginning as where it goes,
 * and has room for a line before it.
 */
struct runs {
	uint8_t *dst;
	uint8_t *staged;
	struct engine_tile rows;	/* one for each run */
	int64_t n;			/* of the first one's slot; the others' are beside it */
};

/* Where the rows of a strip begin in the source, as they follow each other in the destination. */
struct row_list {
	int64_t extents[DRM_TESSERA_MAX_RANK];	/* of the strip that they are of */
	int64_t count;
	int64_t places[MAX_ROWS];
	bool are_lines_apart;		/* all places are multiples of a line's size */
};

/* Columns that are awaited where they end, of which the slots have not been told. */
struct joined {
	uint8_t *next;			/* of the first one */
	int64_t stride;
	int64_t n;			/* of its slot */
	int64_t count;
};

struct pipeline {
	struct engine_run *run;
	const struct engine_move *move;
	uint8_t *dst;
	const uint8_t *src;
	uint8_t *packed;
	uint8_t *staged;		/* the staging buffer */
	struct slots *slots;
	bool is_direct;
	engine_rows_kernel *shifted_kernel;	/* NULL: columns are not whole lines and one run */
	struct row_list rows;
	uint8_t (*shared)[LINE_BYTES];	/* of rows, with the strip to the right */
	struct inflow inflow;
	bool packs_ahead;		/* the next block while one is streamed: */
	bool is_packing;		/* not all of it is packed yet */
	struct inflow intake;		/* what comes next of it */
	uint8_t *packing;		/* its place, as packed is of the one that is streamed */
	struct joined joined;
	struct steps strips;
	struct steps tiles;
};

/* A row of a block, which has been fetched, but perhaps not to the first cache. */
static void copy_row(const struct pipeline *pipeline, uint8_t *packed, const uint8_t *src,
		     int64_t bytes)
{
	engine_pack_kernel *pack = pipeline->run->plan->isa->transpose->pack_rows;

	if (pack && (uintptr_t)src % LINE_BYTES)
		pack(packed, 0, src, &(int64_t){ 0 }, 1, bytes);
	else
		memcpy(packed, src, (size_t)bytes);
}

/*
 * Copies or computes the rows of a block side by side. What is computed takes its time, in which
 * the next block is fetched; otherwise it is while strips are transposed.
 */
static void pack_rows(struct pipeline *pipeline, const struct steps *blocks)
{
	const struct engine_move *move = pipeline->move;
	const struct engine_staging *staging = &move->staging;
	const int64_t *src_strides = move->nest.streams[SRC].strides;
	struct steps rows = {
		.rank = blocks->rank, .step = staging->row, .order = staging->order
	};

	enter_step(&rows, blocks);
	do {
		const int64_t count = step_bytes(&rows, 1);
		uint8_t *packed = pipeline->packed +
				  offset_of(staging->packed, rows.at, rows.first, rows.rank);

		if (staging->pack_row) {
			fetch(&pipeline->inflow, count * staging->src_size);
			staging->pack_row(staging->context, packed, rows.at, count);
			continue;
		}
		copy_row(pipeline, packed,
			 pipeline->src + offset_of(src_strides, rows.at, NULL, rows.rank),
			 count * move->size);
	} while (next_step(&rows));
}

/* Where the row is packed that comes next. */
static uint8_t *place_of_intake(const struct pipeline *pipeline)
{
	const struct engine_move *move = pipeline->move;
	const struct steps *rows = &pipeline->intake.rows;

	return pipeline->packing +
	       offset_of(move->staging.packed, rows->at, rows->first, rows->rank);
}

/* Goes on behind so many rows of the next block, which have been packed. */
static void pass_packed(struct pipeline *pipeline, uint32_t loop, int64_t count)
{
	struct inflow *intake = &pipeline->intake;

	intake->rows.at[loop] += count - 1;
	pipeline->is_packing = next_step(&intake->rows);
	if (pipeline->is_packing)
		begin_row(intake);
}

/* Packs rows of the next block, of so many bytes or a few more, and fetches as many. */
static void pack_ahead(struct pipeline *pipeline, int64_t bytes)
{
	while (bytes > 0 && pipeline->is_packing) {
		const int64_t row_bytes = pipeline->intake.left;

		fetch(&pipeline->inflow, row_bytes);
		copy_row(pipeline, place_of_intake(pipeline), pipeline->intake.from, row_bytes);
		pass_packed(pipeline, 0, 1);
		bytes -= row_bytes;
	}
}

static void begin_packing(struct pipeline *pipeline, uint8_t *packing)
{
	pipeline->packing = packing;
	pipeline->intake = pipeline->inflow;
	pipeline->is_packing = true;
	fetch(&pipeline->inflow, AHEAD_BYTES);
}

/* Goes on to the next block, all of which is packed now, and begins with the one after it. */
static void take_packed(struct pipeline *pipeline)
{
	struct inflow *intake = &pipeline->intake;
	uint8_t *packed = pipeline->packing;

	pack_ahead(pipeline, INT64_MAX);
	pipeline->packing = pipeline->packed;
	pipeline->packed = packed;
	pipeline->is_packing = next_step(&intake->blocks);
	if (pipeline->is_packing)
		begin_block(intake);
}

/* Fetches, or packs, as much of the next block as is transposed of this one. */
static void fetch_beside(struct pipeline *pipeline, int64_t bytes)
{
	if (pipeline->packs_ahead)
		pack_ahead(pipeline, bytes);
	else if (!pipeline->move->staging.pack_row)
		fetch(&pipeline->inflow, bytes);
}

/* Whether the next block is fetched while strips are streamed, and is not there yet. */
static bool is_fetching(const struct pipeline *pipeline)
{
	return !pipeline->move->staging.pack_row && !pipeline->inflow.is_done;
}

/* Takes rows, to fetch them line by line: a piece of one, or some. Returns whether they are so. */
static bool take_ahead(struct inflow *inflow, int64_t bytes, struct engine_ahead *ahead)
{
	const uint8_t *from = take_piece(inflow, bytes);
	struct even_rows rows;

	if (from) {
		*ahead = (struct engine_ahead){ .rows = from, .row_bytes = bytes };
		return true;
	}
	if (!find_even_rows(inflow, bytes, &rows) || rows.bytes % LINE_BYTES)
		return false;
	*ahead = (struct engine_ahead){ inflow->from, rows.bytes, rows.stride };
	pass_rows(inflow, &rows);
	return true;
}

/* Leaves as much of the next block to a kernel, if it can be, or fetches it and returns NULL. */
static const struct engine_ahead *fetch_later(struct pipeline *pipeline, int64_t bytes,
					      struct engine_ahead *ahead)
{
	if (engine_fetches_beside_joins() && is_fetching(pipeline) && bytes % LINE_BYTES == 0 &&
	    take_ahead(&pipeline->inflow, bytes, ahead))
		return ahead;
	fetch_beside(pipeline, bytes);
	return NULL;
}

/* Transposes a strip to where it is at home, or to the staging buffer, with these strides. */
static void transpose_strip(struct pipeline *pipeline, engine_tile_kernel *kernel, uint8_t *to,
			    const int64_t *origin, const int64_t *strides)
{
	const struct engine_move *move = pipeline->move;
	const uint32_t rank = move->nest.rank, columns = move->staging.src_loop;
	const bool packs = move->staging.packs;
	const int64_t *src_strides = packs ? move->staging.packed : move->nest.streams[SRC].strides;
	const int64_t *src_origin = packs ? pipeline->strips.first : NULL;
	const uint8_t *src = packs ? pipeline->packed : pipeline->src;
	struct steps *tiles = &pipeline->tiles;
	struct engine_tile tile = {
		.dst_strides = { strides[columns], move->size },
		.src_strides = { move->size, src_strides[rank - 1] },
	};

	enter_step(tiles, &pipeline->strips);
	do {
		tile.extents[0] = step_extent(tiles, columns);
		tile.extents[1] = step_extent(tiles, rank - 1);
		kernel(to + offset_of(strides, tiles->at, origin, rank),
		       src + offset_of(src_strides, tiles->at, src_origin, rank), &tile);
	} while (next_step(tiles));
}

static uint8_t *destination_of_strip(const struct pipeline *pipeline)
{
	return pipeline->dst + offset_of(pipeline->move->nest.streams[DST].strides,
					 pipeline->strips.at, NULL, pipeline->strips.rank);
}

/* The slot of a strip's first column. */
static int64_t slot_of_strip(const struct pipeline *pipeline)
{
	return offset_of(pipeline->move->staging.slots, pipeline->strips.at, pipeline->strips.first,
			 pipeline->strips.rank) % NUM_SLOTS;
}

/*
 * Streams a row from the staging buffer, and fetches as much of the next block line by line: pieces
 * that are as long as what is side by side there.
 */
static void stream_row(struct pipeline *pipeline, uint8_t *dst, const uint8_t *staged,
		       int64_t bytes)
{
	engine_lines_kernel *stream_lines = pipeline->run->plan->isa->transpose->stream_lines;
	struct inflow *inflow = &pipeline->inflow;
	struct engine_tile piece = { .extents = { 1 } };

	for (int64_t byte = 0; byte < bytes; byte += piece.extents[1]) {
		const uint8_t *next = NULL;

		piece.extents[1] = bytes - byte;
		if (is_fetching(pipeline)) {
			piece.extents[1] = min(max(inflow->left / LINE_BYTES, 1) * LINE_BYTES,
					       piece.extents[1]);
			next = take_piece(inflow, piece.extents[1]);
			if (!next)
				fetch(inflow, piece.extents[1]);
		}
		stream_lines(dst + byte, staged + byte, &piece, next);
	}
}

/* Does so with rows, as many at a time as there is as much of side by side. */
static void stream_rows(struct pipeline *pipeline, uint8_t *dst, const uint8_t *staged,
			const struct engine_tile *rows)
{
	engine_lines_kernel *stream_lines = pipeline->run->plan->isa->transpose->stream_lines;
	const int64_t count = rows->extents[0], bytes = rows->extents[1];
	/* member by member: what was stored just now is slow to be loaded in larger parts */
	struct engine_tile some = {
		.extents = { 0, bytes },
		.dst_strides = { rows->dst_strides[0] },
		.src_strides = { rows->src_strides[0] },
	};

	for (int64_t r = 0; r < count && bytes; r += some.extents[0]) {
		uint8_t *to = dst + r * some.dst_strides[0];
		const uint8_t *from = staged + r * some.src_strides[0];
		const uint8_t *next = NULL;

		some.extents[0] = count - r;
		if (is_fetching(pipeline)) {
			some.extents[0] = min(pipeline->inflow.left / bytes, some.extents[0]);
			if (!some.extents[0]) {
				stream_row(pipeline, to, from, bytes);
				some.extents[0] = 1;
				continue;
			}
			next = take_piece(&pipeline->inflow, some.extents[0] * bytes);
		}
		stream_lines(to, from, &some, next);
	}
}

/* A strip's columns, or the one run that they are. */
static struct runs runs_of_strip(const struct pipeline *pipeline, int64_t bytes)
{
	const struct engine_staging *staging = &pipeline->move->staging;
	const uint32_t columns = staging->src_loop;
	const int64_t *strides = pipeline->move->nest.streams[DST].strides;
	const int64_t count = staging->is_one_run ? 1 : step_extent(&pipeline->strips, columns);
	uint8_t *dst = destination_of_strip(pipeline);

	return (struct runs){
		.dst = dst,
		.staged = pipeline->staged + LINE_BYTES + (uintptr_t)dst % LINE_BYTES,
		.rows = {
			.extents = { count, bytes / count },
			.dst_strides = { staging->is_one_run ? 0 : strides[columns], 1 },
			.src_strides = { staging->strides[columns], 1 },
		},
		.n = slot_of_strip(pipeline),
	};
}

/* Whether these are whole lines of the destination, as all other runs beside them are. */
static bool are_lines(const struct runs *runs)
{
	return ((uintptr_t)runs->dst | (uint64_t)runs->rows.dst_strides[0] |
		(uint64_t)runs->rows.extents[1]) % LINE_BYTES == 0;
}

static uint8_t *destination_of_run(const struct runs *runs, int64_t k)
{
	return runs->dst + k * runs->rows.dst_strides[0];
}

/* Stores what waits for a run that does not come. */
static void flush_slot(struct slots *slots, int64_t n)
{
	size_t bytes = (uintptr_t)slots->next[n] % LINE_BYTES;

	if (bytes)
		memcpy(slots->next[n] - bytes, slots->lines[n] + LINE_BYTES - bytes, bytes);
	slots->next[n] = NULL;
}

/*
 * Puts what waits for runs before them. Returns whether all that they have of the lines in which
 * they begin is there then.
 */
static bool take_waiting(struct slots *slots, const struct runs *runs)
{
	bool are_there = true;

	for (int64_t k = 0; k < runs->rows.extents[0]; k++) {
		const int64_t n = (runs->n + k) % NUM_SLOTS;
		const uint8_t *dst = destination_of_run(runs, k);

		if (slots->next[n] == dst) {
			memcpy(runs->staged + k * runs->rows.src_strides[0] - LINE_BYTES,
			       slots->lines[n], LINE_BYTES);
			continue;
		}
		flush_slot(slots, n);
		are_there = are_there && (uintptr_t)dst % LINE_BYTES == 0;
	}
	return are_there;
}

/* What a run has beyond its last whole line waits. */
static void leave_waiting(struct slots *slots, const struct runs *runs, int64_t k)
{
	const int64_t n = (runs->n + k) % NUM_SLOTS, bytes = runs->rows.extents[1];

	memcpy(slots->lines[n],
	       runs->staged + k * runs->rows.src_strides[0] + bytes - LINE_BYTES, LINE_BYTES);
	slots->next[n] = destination_of_run(runs, k) + bytes;
}

/* What a run has of the line in which it begins, if that does not wait for it. */
static int64_t head_of_run(const struct slots *slots, const struct runs *runs, int64_t k)
{
	uint8_t *dst = destination_of_run(runs, k);

	if (slots->next[(runs->n + k) % NUM_SLOTS] == dst)
		return 0;
	return min((int64_t)(-(uintptr_t)dst % LINE_BYTES), runs->rows.extents[1]);
}

/*
 * Streams runs that are not all awaited: one by one, but for the heads, which nobody else will
 * bring. These are stored behind, as what was stored just now is slow to be loaded again.
 */
static void stream_runs(struct pipeline *pipeline, const struct runs *runs)
{
	const int64_t count = runs->rows.extents[0], bytes = runs->rows.extents[1];
	const int64_t pitch = runs->rows.src_strides[0];
	int64_t heads = 0;

	for (int64_t k = 0; k < count; k++) {
		const int64_t head = head_of_run(pipeline->slots, runs, k);

		stream_row(pipeline, destination_of_run(runs, k) + head,
			   runs->staged + k * pitch + head, bytes - head);
	}
	for (int64_t k = 0; k < count; k++) {
		const int64_t head = head_of_run(pipeline->slots, runs, k);

		memcpy(destination_of_run(runs, k), runs->staged + k * pitch, (size_t)head);
		if (head < bytes)
			leave_waiting(pipeline->slots, runs, k);
		heads += head;
	}
	fetch_beside(pipeline, heads);
}

/* Transposes a strip to the staging buffer, and streams the lines that it fills from there. */
static void stage_strip(struct pipeline *pipeline, int64_t bytes)
{
	const struct engine_staging *staging = &pipeline->move->staging;
	const struct runs runs = runs_of_strip(pipeline, bytes);
	const int64_t count = runs.rows.extents[0];
	const bool are_whole = are_lines(&runs);
	const bool are_there = are_whole || take_waiting(pipeline->slots, &runs);

	transpose_strip(pipeline, staging->stage_kernel, runs.staged, pipeline->strips.at,
			staging->strides);
	if (!are_there) {
		stream_runs(pipeline, &runs);
		return;
	}
	stream_rows(pipeline, runs.dst, runs.staged, &runs.rows);
	for (int64_t k = 0; k < count && !are_whole; k++)
		leave_waiting(pipeline->slots, &runs, k);
}

/* Lists the rows of a strip, unless the one before it has the same. */
static void list_rows(struct pipeline *pipeline, const int64_t *src_strides)
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

/* Tells slots of the columns that have been joined last. */
static void note_joined(struct pipeline *pipeline)
{
	struct joined *joined = &pipeline->joined;

	for (int64_t k = 0; k < joined->count; k++)
		pipeline->slots->next[joined->n + k] = joined->next + k * joined->stride;
	joined->count = 0;
}

/* Whether each of these columns goes on where its slot waits. Mostly those joined last do. */
static bool are_awaited(struct pipeline *pipeline, int64_t n, const uint8_t *to, int64_t stride,
			int64_t count)
{
	const struct joined *joined = &pipeline->joined;
	bool are_there = n + count <= NUM_SLOTS;

	if (joined->next == to && joined->n == n && joined->count == count)
		return true;
	note_joined(pipeline);
	for (int64_t k = 0; k < count && are_there; k++)
		are_there = pipeline->slots->next[n + k] == to + k * stride;
	return are_there;
}

/*
 * Whether strips share lines with those to the right of them: they are as wide as a line, and not
 * all of their rows begin where one does.
 */
static bool share_lines(const struct pipeline *pipeline, const uint8_t *src)
{
	const struct engine_move *move = pipeline->move;
	const int64_t width = move->staging.strip[move->staging.src_loop];

	return !move->staging.packs && width * move->size == LINE_BYTES &&
	       ((uintptr_t)src % LINE_BYTES || !pipeline->rows.are_lines_apart);
}

/* The place of a strip's first element in what it is taken from: packed rows, or the source. */
static const uint8_t *source_of_strip(const struct pipeline *pipeline, const int64_t **strides)
{
	const struct engine_staging *staging = &pipeline->move->staging;
	const struct steps *strips = &pipeline->strips;

	*strides = staging->packs ? staging->packed : pipeline->move->nest.streams[SRC].strides;
	return (staging->packs ? pipeline->packed : pipeline->src) +
	       offset_of(*strides, strips->at, staging->packs ? strips->first : NULL, strips->rank);
}

/* Transposes a strip, piece by piece, to where its columns go on in the lines that wait. */
static void join_strip(struct pipeline *pipeline, uint8_t *dst, const uint8_t *src,
		       struct engine_join *join, int64_t width)
{
	const struct engine_move *move = pipeline->move;
	const struct row_list *rows = &pipeline->rows;
	const int64_t line = LINE_BYTES / move->size;
	const int64_t step = round_up(max(1, DIRECT_BYTES / (width * move->size)), line);
	struct engine_tile tile = {
		.extents = { width, step },
		.dst_strides = {
			move->nest.streams[DST].strides[move->staging.src_loop], move->size
		},
	};

	for (int64_t row = 0; row < rows->count; row += step) {
		tile.extents[1] = min(step, rows->count - row);
		fetch_beside(pipeline, tile.extents[1] * width * move->size);
		join->places = rows->places + row;
		join->shared = pipeline->shared + row;
		move->staging.join_kernel(dst + row * move->size, src, join, &tile);
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

/* Joins all strips of a block from this one on that have the same rows. */
static void join_block(struct pipeline *pipeline, int64_t n, uint8_t *dst, int64_t count)
{
	const struct engine_move *move = pipeline->move;
	uint8_t (*lines)[LINE_BYTES] = pipeline->slots->lines + n;
	const int64_t *strides;
	const uint8_t *src = source_of_strip(pipeline, &strides);

	list_rows(pipeline, strides);
	if (move->staging.packed_join_kernel)
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

/*
 * Does so if all of their columns are awaited, and goes on to the last of these strips. Returns how
 * many bytes that were, or 0.
 */
static int64_t try_to_join_strips(struct pipeline *pipeline)
{
	const struct engine_move *move = pipeline->move;
	const struct engine_staging *staging = &move->staging;
	const uint32_t columns = staging->src_loop;
	struct steps *strips = &pipeline->strips;
	const int64_t count = strips->end[columns] - strips->at[columns];
	const int64_t stride = move->nest.streams[DST].strides[columns];
	const int64_t step = staging->strip[columns];
	uint8_t *dst;
	int64_t n;

	if (!staging->join_kernel)
		return 0;
	n = slot_of_strip(pipeline);
	dst = destination_of_strip(pipeline);
	if (!are_awaited(pipeline, n, dst, stride, count))
		return 0;
	join_block(pipeline, n, dst, count);
	strips->at[columns] += (count - 1) / step * step;
	return count * pipeline->rows.count * move->size;
}

/* Columns that are stored at a time, and beside which as much is fetched: as wide as lines. */
static int64_t width_of_piece(const struct engine_move *move, int64_t column_bytes)
{
	const int64_t line = LINE_BYTES / move->size;

	return max(1, DIRECT_BYTES / column_bytes / line) * line;
}

/*
 * Puts a strip's columns together in registers, if the run goes on where its slot waits, or at the
 * beginning of a line, and the kernel takes so many columns. Returns whether it did.
 */
static bool try_to_chain_strip(struct pipeline *pipeline, int64_t bytes)
{
	const struct engine_move *move = pipeline->move;
	const struct engine_staging *staging = &move->staging;
	const struct steps *strips = &pipeline->strips;
	const uint32_t last = strips->rank - 1;
	const int64_t count = step_extent(strips, staging->src_loop);
	struct slots *slots = pipeline->slots;
	struct engine_tile tile = { .extents = { 0, step_extent(strips, last) } };
	int64_t n, filled, column_bytes, piece;
	const int64_t *strides;
	const uint8_t *src;
	uint8_t *dst;

	if (!staging->chain_kernel || count % (LINE_BYTES / move->size))
		return false;
	n = slot_of_strip(pipeline);
	dst = destination_of_strip(pipeline);
	filled = (int64_t)((uintptr_t)dst % LINE_BYTES);
	if (move->size == LANE_BYTES && filled % LANE_BYTES)
		return false;
	if (slots->next[n] != dst) {
		if (filled)
			return false;
		flush_slot(slots, n);
	}
	src = source_of_strip(pipeline, &strides);
	tile.src_strides[0] = move->size;
	tile.src_strides[1] = strides[last];
	column_bytes = bytes / count;
	piece = width_of_piece(move, column_bytes);
	for (int64_t c = 0; c < count; c += tile.extents[0]) {
		tile.extents[0] = min(piece, count - c);
		fetch_beside(pipeline, tile.extents[0] * column_bytes);
		staging->chain_kernel(dst + c * column_bytes - filled, src + c * move->size, &tile,
				      slots->lines[n], filled);
	}
	slots->next[n] = dst + bytes;
	return true;
}

/* Transposes a strip whose columns go on into each other within lines, by whole lines. */
static void shift_strip(struct pipeline *pipeline, int64_t bytes)
{
	const struct engine_move *move = pipeline->move;
	const struct steps *strips = &pipeline->strips;
	const uint32_t columns = move->staging.src_loop;
	const int64_t first = strips->at[columns], count = step_extent(strips, columns);
	const int64_t *strides;
	const uint8_t *src = source_of_strip(pipeline, &strides);

	list_rows(pipeline, strides);
	fetch_beside(pipeline, bytes);
	engine_transpose_shifted(destination_of_strip(pipeline), src, &(struct engine_shifted){
		.places = pipeline->rows.places,
		.num_rows = pipeline->rows.count,
		.num_columns = count,
		.size = move->size,
		.is_begun = first > 0,
		.goes_on = first + count < move->nest.extents[columns],
		.kernel = pipeline->shifted_kernel,
	});
}

/* Transposes a tile by way of the staging buffer. */
static void stage_tile(struct pipeline *pipeline, uint8_t *dst, const uint8_t *src,
		       const struct engine_tile *tile)
{
	const struct engine_staging *staging = &pipeline->move->staging;
	const int64_t pitch = staging->strides[staging->src_loop];
	const int64_t dst_stride = tile->dst_strides[0];
	const int64_t bytes = tile->extents[1] * pipeline->move->size;
	const int64_t whole = (uintptr_t)dst % LINE_BYTES ? 0 : bytes / LINE_BYTES * LINE_BYTES;
	const struct engine_tile rows = {
		.extents = { tile->extents[0], whole },
		.dst_strides = { dst_stride, 1 },
		.src_strides = { pitch, 1 },
	};
	struct engine_tile staged = *tile;
	uint8_t *buffer = pipeline->staged;

	staged.dst_strides[0] = pitch;
	staging->stage_kernel(buffer, src, &staged);
	stream_rows(pipeline, dst, buffer, &rows);
	if (whole == bytes)
		return;
	fetch_beside(pipeline, tile->extents[0] * (bytes - whole));
	for (int64_t c = 0; c < tile->extents[0]; c++)
		memcpy(dst + c * dst_stride + whole, buffer + c * pitch + whole,
		       (size_t)(bytes - whole));
}

/* Finds so many bytes to be packed, and fetched, by the kernel: they are rows of whole lines. */
static bool find_packing(const struct pipeline *pipeline, int64_t bytes, struct even_rows *rows,
			 struct engine_packing *packing)
{
	const struct inflow *intake = &pipeline->intake, *inflow = &pipeline->inflow;
	struct even_rows ahead;

	if (!pipeline->is_packing || !find_even_rows(intake, bytes, rows) ||
	    !find_even_rows(inflow, bytes, &ahead) || ahead.bytes != rows->bytes ||
	    ahead.loop != rows->loop || rows->bytes % (4 * LINE_BYTES))
		return false;
	*packing = (struct engine_packing){
		.from = intake->from,
		.to = place_of_intake(pipeline),
		.ahead = inflow->from,
		.row_bytes = rows->bytes,
		.stride = rows->stride,
		.pitch = pipeline->move->staging.packed[rows->loop],
	};
	return ((uintptr_t)packing->from | (uint64_t)rows->stride) % LINE_BYTES == 0;
}

/* Streams a tile, and packs as much of the next block line by line. Returns whether it could. */
static bool try_to_pack_beside(struct pipeline *pipeline, uint8_t *dst, const uint8_t *src,
			       const struct engine_tile *tile, int64_t bytes)
{
	const struct engine_move *move = pipeline->move;
	struct inflow *inflow = &pipeline->inflow;
	struct engine_packing packing;
	struct even_rows rows;

	if ((tile->extents[0] | tile->extents[1]) % (LINE_BYTES / move->size) ||
	    !find_packing(pipeline, bytes, &rows, &packing))
		return false;
	move->staging.packing_kernel(dst, src, tile, &packing);
	pass_packed(pipeline, rows.loop, rows.count);
	pass_rows(inflow, &rows);
	return true;
}

/* Streams a tile, and fetches as much of the next block: line by line, if that is side by side. */
static void stream_tile(struct pipeline *pipeline, uint8_t *dst, const uint8_t *src,
			const struct engine_tile *tile)
{
	const struct engine_staging *staging = &pipeline->move->staging;
	const int64_t bytes = tile->extents[0] * tile->extents[1] * pipeline->move->size;
	const uint8_t *next;

	if (!staging->stream_kernel) {
		stage_tile(pipeline, dst, src, tile);
		return;
	}
	if (pipeline->packs_ahead && try_to_pack_beside(pipeline, dst, src, tile, bytes))
		return;
	next = staging->beside_kernel ? take_piece(&pipeline->inflow, bytes) : NULL;
	if (next) {
		staging->beside_kernel(dst, src, tile, next);
	} else {
		fetch_beside(pipeline, bytes);
		staging->stream_kernel(dst, src, tile);
	}
}

/*
 * Transposes a panel, tile by tile, to where it is at home: down the rows, so that the destination
 * is written along its lines.
 */
static int stream_panel(struct pipeline *pipeline)
{
	const struct engine_move *move = pipeline->move;
	const uint32_t columns = move->staging.src_loop, last = move->nest.rank - 1;
	const int64_t step = move->staging.tile[columns], bite = move->staging.bite;
	const int64_t width = step_extent(&pipeline->strips, columns);
	const int64_t height = step_extent(&pipeline->strips, last);
	const int64_t *src_strides;
	const uint8_t *src = source_of_strip(pipeline, &src_strides);
	uint8_t *dst = destination_of_strip(pipeline);
	struct engine_tile tile = {
		.dst_strides = { move->nest.streams[DST].strides[columns], move->size },
		.src_strides = { move->size, src_strides[last] },
	};
	int error = 0;

	for (int64_t c = 0; c < width && !error; c += step) {
		tile.extents[0] = min(step, width - c);
		for (int64_t r = 0; r < height; r += bite) {
			tile.extents[1] = min(bite, height - r);
			stream_tile(pipeline, dst + c * tile.dst_strides[0] + r * move->size,
				    src + c * move->size + r * src_strides[last], &tile);
		}
		error = engine_run_advance(pipeline->run,
					   (uint64_t)(tile.extents[0] * height * move->size));
	}
	return error;
}

/* Does so with a strip of several tiles. */
static int stream_strip(struct pipeline *pipeline)
{
	const struct engine_move *move = pipeline->move;
	const int64_t bytes = step_bytes(&pipeline->strips, move->size);

	fetch_beside(pipeline, bytes);
	transpose_strip(pipeline, move->staging.stream_kernel, pipeline->dst, NULL,
			move->nest.streams[DST].strides);
	return engine_run_advance(pipeline->run, (uint64_t)bytes);
}

/* Panels, or strips, of a block whose destination's rows begin with lines. */
static int run_strips_directly(struct pipeline *pipeline)
{
	int error;

	do {
		error = pipeline->move->staging.are_tiles ? stream_panel(pipeline) :
							    stream_strip(pipeline);
	} while (!error && next_step(&pipeline->strips));
	return error;
}

/* A strip, or all that have the same rows if they can be joined to what waits: to the last one. */
static int64_t run_strips_beside(struct pipeline *pipeline)
{
	int64_t bytes = try_to_join_strips(pipeline);

	if (bytes)
		return bytes;
	bytes = step_bytes(&pipeline->strips, pipeline->move->size);
	if (pipeline->shifted_kernel)
		shift_strip(pipeline, bytes);
	else if (!try_to_chain_strip(pipeline, bytes))
		stage_strip(pipeline, bytes);
	return bytes;
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
		take_packed(pipeline);
	else if (pipeline->move->staging.packs)
		pack_rows(pipeline, blocks);
	enter_step(&pipeline->strips, blocks);
	return pipeline->is_direct ? run_strips_directly(pipeline) : run_strips(pipeline);
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
	pipeline->packs_ahead = true;
	begin_packing(pipeline, pipeline->run->scratch + NEXT_PLACE);
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
	pipeline.is_direct = staging->has_lines &&
			     (staging->stream_kernel || staging->are_tiles) &&
			     ((uintptr_t)pipeline.dst % LINE_BYTES == 0 || blocks.head[last]);
	if (!pipeline.is_direct)
		pipeline.shifted_kernel = choose_shifted_kernel(&pipeline);
	if (staging->are_tiles && pipeline.is_direct)
		pipeline.strips.step = staging->panel;
	if (staging->join_kernel && !pipeline.is_direct)
		pipeline.strips.order = staging->across;
	enter_nest(&blocks, &move->nest);
	begin_inflow(&pipeline.inflow, move, pipeline.src, &blocks);
	if (pipeline.is_direct && staging->packing_kernel)
		return run_packing(&pipeline, &blocks);
	fetch(&pipeline.inflow, step_bytes(&blocks, staging->src_size));
	memset(pipeline.slots->next, 0, sizeof(pipeline.slots->next));
	error = run_blocks(&pipeline, &blocks);
	note_joined(&pipeline);
	for (int64_t n = 0; n < NUM_SLOTS; n++)
		flush_slot(pipeline.slots, n);
	return error;
}
