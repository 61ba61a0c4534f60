// SPDX-License-Identifier: MIT
/*
 * Strips, which are transposed to where they are at home or by way of the staging buffer. What a
 * run has beyond its last whole line waits in a slot for the run that goes on there, if it comes
 * while the slot is not needed.
 */
#include <string.h>

#include "place.h"
#include "staging_pipeline.h"

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
			piece.extents[1] = min(max(inflow->ahead.left / LINE_BYTES, 1) * LINE_BYTES,
					       piece.extents[1]);
			next = engine_inflow_take(inflow, piece.extents[1]);
			if (!next)
				engine_inflow_fetch(inflow, piece.extents[1]);
		}
		stream_lines(dst + byte, staged + byte, &piece, next);
	}
}

/* As many rows at a time as there is as much of side by side. */
void engine_staging_stream_rows(struct pipeline *pipeline, uint8_t *dst, const uint8_t *staged,
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
			some.extents[0] = min(pipeline->inflow.ahead.left / bytes,
					      some.extents[0]);
			if (!some.extents[0]) {
				stream_row(pipeline, to, from, bytes);
				some.extents[0] = 1;
				continue;
			}
			next = engine_inflow_take(&pipeline->inflow, some.extents[0] * bytes);
		}
		stream_lines(to, from, &some, next);
	}
}

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

void engine_staging_flush_slot(struct slots *slots, int64_t n)
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
		engine_staging_flush_slot(slots, n);
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
	engine_staging_fetch_beside(pipeline, heads);
}

/*
 * What runs have beyond their last whole lines need not go by way of the slots if those of the
 * strip below come next, which have the same places in the staging buffer.
 */
static void keep_waiting(const struct runs *runs)
{
	const int64_t count = runs->rows.extents[0], bytes = runs->rows.extents[1];
	const int64_t pitch = runs->rows.src_strides[0];
	uint8_t *before = runs->staged - LINE_BYTES;

	for (int64_t k = 0; k < count; k++) {
		memcpy(before, before + bytes, LINE_BYTES);
		before += pitch;
	}
}

/*
 * How many strips below this one have as many rows. A strip that others follow has whole lines of
 * each column. Kernels that join lines look for what waits in the slots.
 */
static int64_t count_below(const struct pipeline *pipeline)
{
	const struct engine_staging *staging = &pipeline->move->staging;
	const struct steps *strips = &pipeline->strips;
	const uint32_t last = strips->rank - 1;

	if (staging->is_one_run || staging->join_kernel)
		return 0;
	return (strips->end[last] - strips->at[last]) / step_extent(strips, last) - 1;
}

/* Stages so many strips below the one that has these runs, and goes on to the last of them. */
static void stage_below(struct pipeline *pipeline, struct runs *runs, int64_t count)
{
	const struct engine_move *move = pipeline->move;
	struct steps *strips = &pipeline->strips;
	const uint32_t last = strips->rank - 1;
	const int64_t height = step_extent(strips, last);
	const int64_t *src_strides;
	const uint8_t *src = source_of_strip(pipeline, &src_strides);
	const struct engine_tile tile = {
		.extents = { runs->rows.extents[0], height },
		.dst_strides = { runs->rows.src_strides[0], move->size },
		.src_strides = { move->size, src_strides[last] },
	};

	for (int64_t k = 0; k < count; k++) {
		keep_waiting(runs);
		src = BEYOND(src, height * tile.src_strides[1]);
		move->staging.stage_kernel(runs->staged, src, &tile);
		runs->dst += runs->rows.extents[1];
		engine_staging_stream_rows(pipeline, runs->dst, runs->staged, &runs->rows);
	}
	strips->at[last] += count * height;
}

int64_t engine_staging_stage_strips(struct pipeline *pipeline, int64_t bytes)
{
	const struct engine_staging *staging = &pipeline->move->staging;
	struct runs runs = runs_of_strip(pipeline, bytes);
	const bool are_whole = are_lines(&runs);
	const bool are_there = are_whole || take_waiting(pipeline->slots, &runs);
	int64_t below;

	transpose_strip(pipeline, staging->stage_kernel, runs.staged, pipeline->strips.at,
			staging->strides);
	if (!are_there) {
		stream_runs(pipeline, &runs);
		return bytes;
	}
	engine_staging_stream_rows(pipeline, runs.dst, runs.staged, &runs.rows);
	if (are_whole)
		return bytes;
	below = count_below(pipeline);
	stage_below(pipeline, &runs, below);
	for (int64_t k = 0; k < runs.rows.extents[0]; k++)
		leave_waiting(pipeline->slots, &runs, k);
	return bytes * (1 + below);
}

int engine_staging_stream_strip(struct pipeline *pipeline)
{
	const struct engine_move *move = pipeline->move;
	const int64_t bytes = step_bytes(&pipeline->strips, move->size);

	engine_staging_fetch_beside(pipeline, bytes);
	transpose_strip(pipeline, move->staging.stream_kernel, pipeline->dst, NULL,
			move->nest.streams[DST].strides);
	return engine_run_advance(pipeline->run, (uint64_t)bytes);
}
