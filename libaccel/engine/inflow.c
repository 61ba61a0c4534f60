// SPDX-License-Identifier: MIT
/*
 * Going through the source of a large transpose ahead of transposing it.
 */
#include "inflow.h"
#include "place.h"

/* The row that comes next, and those that follow it in the innermost loop that has several. */
static struct even_rows find_even_rows(const struct inflow *inflow)
{
	const struct steps *rows = &inflow->rows;
	struct even_rows even = {
		.count = 1,
		.bytes = step_bytes(rows, inflow->move->staging.src_size),
	};

	for (uint32_t place = rows->rank; place-- > 0; ) {
		const uint32_t d = rows->order[place];

		if (rows->end[d] - rows->first[d] == step_extent(rows, d))
			continue;
		even.loop = d;
		even.count = rows->end[d] - rows->at[d];
		even.stride = inflow->move->nest.streams[ENGINE_MOVE_SRC].strides[d];
		break;
	}
	return even;
}

static void begin_row(struct inflow *inflow)
{
	const struct engine_move *move = inflow->move;

	inflow->from = inflow->src + offset_of(move->nest.streams[ENGINE_MOVE_SRC].strides,
					       inflow->rows.at, NULL, inflow->rows.rank);
	inflow->even = find_even_rows(inflow);
	inflow->left = inflow->even.bytes;
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

void engine_inflow_skip_rows(struct inflow *inflow, int64_t count)
{
	struct even_rows *even = &inflow->even;

	even->count -= count - 1;
	inflow->rows.at[even->loop] += count - 1;
	inflow->from = BEYOND(inflow->from, (count - 1) * even->stride);
}

bool engine_inflow_next_row(struct inflow *inflow)
{
	bool is_there;

	if (inflow->even.count > 1) {
		inflow->from -= inflow->even.bytes - inflow->left;
		inflow->left = inflow->even.bytes;
		engine_inflow_skip_rows(inflow, 2);
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
static void go_on(struct inflow *inflow)
{
	if (!engine_inflow_next_row(inflow))
		engine_inflow_next_block(inflow);
}

const uint8_t *engine_inflow_take(struct inflow *inflow, int64_t bytes)
{
	const uint8_t *from = inflow->from;

	if (inflow->is_done || inflow->left < bytes)
		return NULL;
	engine_fetch(from + bytes - 1);
	inflow->from += bytes;
	inflow->left -= bytes;
	if (!inflow->left)
		go_on(inflow);
	return from;
}

int64_t engine_inflow_count_rows(const struct inflow *inflow, int64_t bytes)
{
	const struct even_rows *even = &inflow->even;

	if (inflow->is_done || inflow->left < even->bytes || bytes % even->bytes ||
	    bytes / even->bytes > even->count)
		return 0;
	return bytes / even->bytes;
}

void engine_inflow_pass_rows(struct inflow *inflow, int64_t count)
{
	engine_inflow_skip_rows(inflow, count);
	go_on(inflow);
}

void engine_inflow_fetch(struct inflow *inflow, int64_t bytes)
{
	while (bytes > 0 && !inflow->is_done) {
		const int64_t piece = min(bytes, inflow->left);
		const uint8_t *from = engine_inflow_take(inflow, piece);

		for (int64_t byte = 0; byte < piece; byte += LINE_BYTES)
			engine_fetch(from + byte);
		bytes -= piece;
	}
}
