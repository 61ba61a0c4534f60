/* SPDX-License-Identifier: MIT */
/*
 * A large transpose that runs, as the files have it between them that run its parts.
 */
#ifndef TESSERA_ENGINE_STAGING_PIPELINE_H
#define TESSERA_ENGINE_STAGING_PIPELINE_H

#include "inflow.h"
#include "staging_room.h"

enum { DST = ENGINE_MOVE_DST, SRC = ENGINE_MOVE_SRC };

/* What waits is what is before next in its line: the last bytes here. */
struct slots {
	uint8_t lines[NUM_SLOTS][LINE_BYTES];
	uint8_t *next[NUM_SLOTS];	/* where a run has to go on, or NULL */
};

/* Columns that are awaited where they end, of which the slots have not been told. */
struct joined {
	uint8_t *next;			/* of the first one */
	int64_t stride;
	int64_t n;			/* of its slot */
	int64_t count;
};

/* Where the rows of a strip begin in the source, as they follow each other in the destination. */
struct row_list {
	int64_t extents[DRM_TESSERA_MAX_RANK];	/* of the strip that they are of */
	int64_t count;
	int64_t places[MAX_ROWS];
	bool are_lines_apart;		/* all places are multiples of a line's size */
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
	bool packs_ahead;		/* the next block while one is streamed */
	bool is_packing;		/* not all of a block is packed yet */
	struct inflow intake;		/* what comes next of it */
	uint8_t *packing;		/* its place, as packed is of the one that is streamed */
	struct joined joined;
	struct steps strips;
	struct steps tiles;
};

static inline uint8_t *destination_of_strip(const struct pipeline *pipeline)
{
	return pipeline->dst + offset_of(pipeline->move->nest.streams[DST].strides,
					 pipeline->strips.at, NULL, pipeline->strips.rank);
}

/* The place of a strip's first element in what it is taken from: packed rows, or the source. */
static inline const uint8_t *source_of_strip(const struct pipeline *pipeline,
					     const int64_t **strides)
{
	const struct engine_move *move = pipeline->move;
	const struct steps *strips = &pipeline->strips;

	if (move->staging.packs) {
		*strides = move->staging.packed;
		return pipeline->packed + offset_of(*strides, strips->at, strips->first,
						    strips->rank);
	}
	*strides = move->nest.streams[SRC].strides;
	return pipeline->src + offset_of(*strides, strips->at, NULL, strips->rank);
}

/* The slot of a strip's first column. */
static inline int64_t slot_of_strip(const struct pipeline *pipeline)
{
	return offset_of(pipeline->move->staging.slots, pipeline->strips.at, pipeline->strips.first,
			 pipeline->strips.rank) % NUM_SLOTS;
}

/* Whether the next block is fetched while strips are streamed, and is not there yet. */
static inline bool is_fetching(const struct pipeline *pipeline)
{
	return !pipeline->move->staging.pack_row && !pipeline->inflow.is_done;
}

/* --- staging_pack.c: rows of blocks, side by side --------------------------------------------- */

void engine_staging_pack_block(struct pipeline *pipeline, const struct steps *blocks);

/* Begins with the first block, whose place this is, where each is packed beside the one before. */
void engine_staging_begin_packing(struct pipeline *pipeline, uint8_t *packing);

/* Goes on to the next block, all of which is packed then, and begins with the one after it. */
void engine_staging_take_packed(struct pipeline *pipeline);

/* Fetches, or packs, as much of the next block as is transposed of this one. */
void engine_staging_fetch_beside(struct pipeline *pipeline, int64_t bytes);

/* Streams a tile, and packs as much of the next block line by line. Returns whether it could. */
bool engine_staging_pack_beside(struct pipeline *pipeline, uint8_t *dst, const uint8_t *src,
				const struct engine_tile *tile, int64_t bytes);

/* --- staging_panel.c: panels of tiles whose destination's rows begin with lines --------------- */

/*
 * Transposes a panel to where it is at home, and fetches or packs the next block. Returns 0 or
 * -ECANCELED.
 */
int engine_staging_stream_panel(struct pipeline *pipeline);

/* --- staging_strip.c: strips, by way of the staging buffer or not ----------------------------- */

/*
 * Transposes a strip to where it is at home, whose destination's rows begin with lines. Returns as
 * streaming a panel does.
 */
int engine_staging_stream_strip(struct pipeline *pipeline);

/*
 * Transposes a strip of so many bytes to the staging buffer, and streams the lines that it fills
 * from there; and so those that go on below it, to the last. Returns how many bytes all have.
 */
int64_t engine_staging_stage_strips(struct pipeline *pipeline, int64_t bytes);

/* Streams rows of whole lines from the staging buffer, and fetches as much of the next block. */
void engine_staging_stream_rows(struct pipeline *pipeline, uint8_t *dst, const uint8_t *staged,
				const struct engine_tile *rows);

/* Stores what waits for a run that does not come. */
void engine_staging_flush_slot(struct slots *slots, int64_t n);

/* --- staging_join.c: strips whose lines are put together in registers ------------------------- */

/*
 * Joins all strips from this one on that have the same rows to what waits, if all of their columns
 * are awaited, and goes on to the last of them. Returns how many bytes that were, or 0.
 */
int64_t engine_staging_join_strips(struct pipeline *pipeline);

/* Does so with strips of short rows, where a kernel puts those together, to the block's last. */
int64_t engine_staging_join_short_rows(struct pipeline *pipeline);

/* Tells slots of the columns that have been joined last. */
void engine_staging_note_joined(struct pipeline *pipeline);

/*
 * Puts a strip's columns together, if the run goes on where its slot waits, or at the beginning of
 * a line, and the kernel takes so many columns. Returns whether it did.
 */
bool engine_staging_chain_strip(struct pipeline *pipeline, int64_t bytes);

/* Lists the rows of a strip, unless the one before it has the same. */
void engine_staging_list_rows(struct pipeline *pipeline, const int64_t *src_strides);

/* --- staging_shift.c: panels whose columns go on into each other within lines ----------------- */

/* Transposes a panel of whole columns by whole lines. Returns as streaming one does. */
int engine_staging_shift_panel(struct pipeline *pipeline);

#endif /* TESSERA_ENGINE_STAGING_PIPELINE_H */
