/* SPDX-License-Identifier: MIT */
/*
 * The source of a large transpose as it comes in: row by row of the blocks that it is cut into,
 * each in the order in which it lies in memory. What comes next is fetched, or packed.
 */
#ifndef TESSERA_ENGINE_INFLOW_H
#define TESSERA_ENGINE_INFLOW_H

#include "move.h"
#include "steps.h"

/* Rows of a block that come next and are the same distance apart. */
struct even_rows {
	int64_t count;
	int64_t bytes;			/* of each */
	int64_t stride;
	uint32_t loop;			/* in which they follow each other */
};

struct inflow {
	const struct engine_move *move;
	const uint8_t *src;
	struct steps blocks;
	struct steps rows;
	struct even_rows even;		/* the row that comes next, and those like it */
	const uint8_t *from;		/* what comes next of the row */
	int64_t left;			/* bytes of it */
	bool is_done;
};

/* Begins with the block that these steps are at. */
void engine_inflow_begin(struct inflow *inflow, const struct engine_move *move, const uint8_t *src,
			 const struct steps *blocks);

/* Goes on to the next row of the block. After the last one returns false and is at the first. */
bool engine_inflow_next_row(struct inflow *inflow);

/* Goes on to the next block. After the last one returns false: it is done. */
bool engine_inflow_next_block(struct inflow *inflow);

/*
 * Takes so many bytes that come next, if they are side by side, to fetch them: their last line has
 * been asked for. Returns where they begin, or NULL.
 */
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
