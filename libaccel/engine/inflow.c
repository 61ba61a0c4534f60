// SPDX-License-Identifier: MIT
/*
 * Going through the source of a large transpose ahead of transposing it.
 */
#include "inflow.h"
#include "place.h"

/* The loop in which rows follow each other: the innermost one that has several. */
static uint32_t find_loop(const struct steps *rows)
{
	for (uint32_t place = rows->rank; place-- > 0; ) {
		const uint32_t d = rows->order[place];

		if (rows->end[d] - rows->first[d] > step_extent(rows, d))
			return d;
	}
	return rows->rank;
}

/* The row that comes next, and those that follow it in one loop. */
static void begin_row(struct inflow *inflow)
{
	const struct steps *rows = &inflow->rows;
	const int64_t *strides = inflow->move->nest.streams[ENGINE_MOVE_SRC].strides;
	struct engine_ahead *ahead = &inflow->ahead;
	const uint32_t loop = find_loop(rows);
	const bool is_one = loop == rows->rank;

	*ahead = (struct engine_ahead){
		.from = inflow->src + offset_of(strides, rows->at, NULL, rows->rank),
		.left = step_bytes(rows, inflow->move->staging.src_size),
		.count = is_one ? 1 : rows->end[loop] - rows->at[loop],
		.stride = is_one ? 0 : strides[loop],
	};
	ahead->row_bytes = ahead->left;
	inflow->loop = is_one ? 0 : loop;
	inflow->end = rows->at[inflow->loop] + ahead->count;
	engine_fetch(BEYOND(ahead->from, ahead->left - 1));
}

static void begin_block(struct inflow *inflow)
{
	enter_step(&inflow->rows, &inflow->blocks);
	begin_row(inflow);
}

void engine_inflow_begin(struct inflow *inflow, const struct engine_move *move, const uint8_t *src,
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

/* Where rows are that have been gone through in one loop. */
static void note_rows(struct inflow *inflow)
{
	inflow->rows.at[inflow->loop] = inflow->end - inflow->ahead.count;
}

void engine_inflow_skip_rows(struct inflow *inflow, int64_t count)
{
	struct engine_ahead *ahead = &inflow->ahead;

	ahead->count -= count - 1;
	ahead->from = BEYOND(ahead->from, (count - 1) * ahead->stride);
	note_rows(inflow);
}

bool engine_inflow_next_row(struct inflow *inflow)
{
	bool is_there = engine_ahead_next_row(&inflow->ahead);

	if (is_there) {
		note_rows(inflow);
		return true;
	}
	is_there = next_step(&inflow->rows);
	begin_row(inflow);
	return is_there;
}

bool engine_inflow_next_block(struct inflow *inflow)
{
	inflow->is_done = !next_step(&inflow->blocks);
	begin_block(inflow);
	return !inflow->is_done;
}

/* Goes on to the next row of all blocks. */
static void next_row(struct inflow *inflow)
{
	if (!engine_inflow_next_row(inflow))
		engine_inflow_next_block(inflow);
}

void engine_inflow_go_on(struct inflow *inflow)
{
	note_rows(inflow);
	if (!inflow->ahead.left)
		next_row(inflow);
}

const uint8_t *engine_inflow_take(struct inflow *inflow, int64_t bytes)
{
	const uint8_t *from = inflow->is_done ? NULL : engine_ahead_take(&inflow->ahead, bytes);

	if (from)
		engine_inflow_go_on(inflow);
	return from;
}

int64_t engine_inflow_count_rows(const struct inflow *inflow, int64_t bytes)
{
	const struct engine_ahead *ahead = &inflow->ahead;

	if (inflow->is_done || ahead->left < ahead->row_bytes || bytes % ahead->row_bytes ||
	    bytes / ahead->row_bytes > ahead->count)
		return 0;
	return bytes / ahead->row_bytes;
}

void engine_inflow_pass_rows(struct inflow *inflow, int64_t count)
{
	engine_inflow_skip_rows(inflow, count);
	next_row(inflow);
}

void engine_inflow_fetch(struct inflow *inflow, int64_t bytes)
{
	while (bytes > 0 && !inflow->is_done) {
		bytes -= engine_ahead_fetch(&inflow->ahead, bytes);
		engine_inflow_go_on(inflow);
	}
}
