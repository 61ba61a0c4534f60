/* SPDX-License-Identifier: MIT */
/*
 * The source of a large transpose as it comes in: row by row of the blocks that it is cut into,
 * each in the order in which it lies in memory. What comes next is fetched, or packed.
 */
#ifndef TESSERA_ENGINE_INFLOW_H
#define TESSERA_ENGINE_INFLOW_H

#include "ahead.h"
#include "move.h"
#include "steps.h"

struct inflow {
	const struct engine_move *move;
	const uint8_t *src;
	struct steps blocks;
	struct steps rows;
	struct engine_ahead ahead;	/* the row that comes next, and those like it */
	uint32_t loop;			/* in which they follow each other, */
	int64_t end;			/* and where they end in it */
	bool is_done;
};

/* Begins with the block that these steps are at. */
void engine_inflow_begin(struct inflow *inflow, const struct engine_move *move, const uint8_t *src,
			 const struct steps *blocks);

/* Goes on to the next row of the block. After the last one returns false and is at the first. */
bool engine_inflow_next_row(struct inflow *inflow);

/* Goes on to the next block. After the last one returns false: it is done. */
bool engine_inflow_next_block(struct inflow *inflow);

/* Goes on where somebody stopped who has taken some of the rows that come next. */
void engine_inflow_go_on(struct inflow *inflow);

/* Takes so many bytes that come next, if they are side by side, to fetch them: or NULL. */
const uint8_t *engine_inflow_take(struct inflow *inflow, int64_t bytes);

/* How many even rows so many bytes are that come next; 0 if they are something else. */
int64_t engine_inflow_count_rows(const struct inflow *inflow, int64_t bytes);

/* Goes on to the last one of so many even rows, which are there. */
void engine_inflow_skip_rows(struct inflow *inflow, int64_t count);

/* Goes on behind so many even rows, if need be in the next block. */
void engine_inflow_pass_rows(struct inflow *inflow, int64_t count);

/* Fetches so many bytes that come next, and goes on behind them. */
void engine_inflow_fetch(struct inflow *inflow, int64_t bytes);

#endif /* TESSERA_ENGINE_INFLOW_H */
