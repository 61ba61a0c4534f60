// SPDX-License-Identifier: MIT
/*
 * Moves with indirect operands: what the loops that no index depends on move is matched to a kernel
 * once, and run at each point of the others. Indices are resolved a row ahead of what is moved.
 */
#include <string.h>

#include "arithmetic.h"
#include "gather.h"
#include "move.h"

enum { DST = ENGINE_MOVE_DST, SRC = ENGINE_MOVE_SRC, NUM_STREAMS = ENGINE_MOVE_STREAMS };

/* The bytes that a stream reaches around its address in the loops of a nest. */
static struct engine_interval reach(const struct engine_nest *nest, uint32_t stream, int64_t size)
{
	struct engine_interval around = { 0, size - 1 };

	for (uint32_t d = 0; d < nest->rank; d++) {
		int64_t farthest = nest->streams[stream].strides[d] * (nest->extents[d] - 1);

		around.lowest += min(farthest, 0);
		around.highest += max(farthest, 0);
	}
	return around;
}

/* The loops that no index depends on, from the address that the others lead to. */
static void inner_nest(struct engine_nest *inner, const struct engine_nest *nest, uint32_t first)
{
	inner->rank = nest->rank - first;
	inner->num_streams = NUM_STREAMS;
	inner->index_mask = 0;
	for (uint32_t d = 0; d < inner->rank; d++)
		inner->extents[d] = nest->extents[first + d];
	for (uint32_t s = 0; s < NUM_STREAMS; s++) {
		inner->streams[s].offset = 0;
		for (uint32_t d = 0; d < inner->rank; d++)
			inner->streams[s].strides[d] = nest->streams[s].strides[first + d];
	}
}

/* What is done at each point that has indices of its own: a run of bytes, or else a move. */
struct gather {
	const struct engine_access *access;
	struct engine_interval around[NUM_STREAMS];
	int64_t run_bytes;		/* 0: a move */
	struct engine_move move;
};

/* Points along the last indexed loop, a row at a time, at all points of those outside of it. */
struct rows {
	struct engine_walk walk;
	struct engine_row next;		/* count 0: there is none */
	int64_t extent;			/* of the loop */
	int64_t most;			/* points in a row */
};

static void begin_rows(struct rows *rows, const struct engine_nest *nest, uint32_t num_indexed,
		       int64_t most)
{
	uint32_t last = num_indexed ? num_indexed - 1 : nest->rank;

	rows->extent = num_indexed ? nest->extents[last] : 1;
	rows->most = most;
	engine_walk_begin(&rows->walk, nest, num_indexed ? last : 0);
	rows->next = (struct engine_row){ &rows->walk, last, 0, min(most, rows->extent) };
}

static void next_row(struct rows *rows)
{
	struct engine_row *row = &rows->next;

	row->first += row->count;
	if (row->first == rows->extent) {
		row->first = 0;
		if (!engine_walk_next(&rows->walk)) {
			row->count = 0;
			return;
		}
	}
	row->count = min(rows->most, rows->extent - row->first);
}

/* Addresses of a row that is about to be moved, and behind them those of the row after it. */
struct queue {
	uint8_t *addresses[NUM_STREAMS][2 * ENGINE_STRIP_POINTS];
	int64_t count;
	int64_t num_known;
};

/* Resolves the next row, if there is one, behind what the queue has. */
static int look_ahead(struct engine_run *run, const struct gather *gather, struct rows *rows,
		      struct queue *queue)
{
	if (!rows->next.count)
		return 0;
	for (uint32_t k = 0; k < NUM_STREAMS; k++) {
		int error = engine_resolve(run, gather->access, k, &rows->next, &gather->around[k],
					   &queue->addresses[k][queue->num_known]);

		if (error)
			return error;
	}
	queue->num_known += rows->next.count;
	next_row(rows);
	return 0;
}

static void drop_moved(struct queue *queue)
{
	queue->num_known -= queue->count;
	for (uint32_t k = 0; k < NUM_STREAMS; k++)
		memmove(queue->addresses[k], &queue->addresses[k][queue->count],
			(size_t)queue->num_known * sizeof(queue->addresses[k][0]));
	queue->count = queue->num_known;
}

static int move_row(struct engine_run *run, const struct gather *gather, const struct queue *queue)
{
	const struct engine_plan *plan = run->plan;

	if (gather->run_bytes) {
		plan->isa->copy->runs(queue->addresses[DST], queue->addresses[SRC], queue->count,
				      queue->num_known, gather->run_bytes, plan->streams);
		return engine_run_advance(run, (uint64_t)(queue->count * gather->run_bytes));
	}
	for (int64_t i = 0; i < queue->count; i++) {
		int error = engine_move_run(run, &gather->move, queue->addresses[DST][i],
					    queue->addresses[SRC][i]);

		if (error)
			return error;
	}
	return 0;
}

/* While a row is moved, the addresses of the next one are known, so that it can be fetched. */
static int run_rows(struct engine_run *run, const struct gather *gather, struct rows *rows)
{
	struct queue queue = { .num_known = 0 };
	int error = look_ahead(run, gather, rows, &queue);

	queue.count = queue.num_known;
	while (!error && queue.count) {
		error = look_ahead(run, gather, rows, &queue);
		if (!error)
			error = move_row(run, gather, &queue);
		drop_moved(&queue);
	}
	return error;
}

/* The bytes of a nest that is one run, or 0 where it is something else or too long a run. */
static int64_t bytes_of_run(const struct engine_nest *nest, int64_t size)
{
	if (!nest->rank)
		return size;
	if (nest->rank > 1 || nest->streams[DST].strides[0] != size ||
	    nest->streams[SRC].strides[0] != size ||
	    nest->extents[0] > ENGINE_REPORT_BYTES / size)
		return 0;
	return nest->extents[0] * size;
}

int engine_run_gather(struct engine_run *run, const struct engine_access *access,
		      uint32_t size_shift)
{
	const struct engine_nest *nest = &access->nest;
	uint32_t num_indexed = engine_nest_num_indexed(nest);
	const int64_t size = 1 << size_shift;
	struct gather gather = { .access = access };
	struct engine_nest inner;
	struct rows rows;

	inner_nest(&inner, nest, num_indexed);
	for (uint32_t k = 0; k < NUM_STREAMS; k++)
		gather.around[k] = reach(&inner, k, size);
	gather.run_bytes = bytes_of_run(&inner, size);
	if (!gather.run_bytes)
		engine_move_prepare(&gather.move, run, &inner, size_shift);
	begin_rows(&rows, nest, num_indexed,
		   min(ENGINE_STRIP_POINTS, ENGINE_REPORT_BYTES / max(gather.run_bytes, 1)));
	return run_rows(run, &gather, &rows);
}
