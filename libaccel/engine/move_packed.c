// SPDX-License-Identifier: MIT
/*
 * Transposes in the caches, of rows that crowd each other. Rows whose distance is almost a large
 * power of two have their lines in a few sets of the first cache. If they begin within lines, each
 * line is asked for by two squares, and is gone before the second one comes. So a block of them is
 * copied to where they have sets of their own, if the instruction set's squares are better off so.
 * Where they come from far they are asked for a block before.
 */
#include <string.h>

#include "arithmetic.h"
#include "move_packed.h"
#include "place.h"
#include "steps.h"

enum { SRC = ENGINE_MOVE_SRC };

/* A block, most of which is still in the first cache when it is transposed. */
#define MOST_ROWS	128
#define ROW_BYTES	256

/* So many bytes of a row there are in a square that does not have a line. */
#define SQUARE_BYTES	16

#define LEAST_ROWS	64
#define LEAST_ROW_BYTES	128

/* With what is left over. Rows have an odd number of lines, lest they meet in the same sets. */
#define PITCH_BYTES	(ROW_BYTES + LINE_BYTES)
#define PACKED_ROWS	(MOST_ROWS + LINE_BYTES)

/* Where memory takes most of the time there is little to gain but for elements as small as this. */
#define SMALL_SIZE	2

static bool is_worth_it(const struct engine_move *move, const struct engine_plan *plan)
{
	const uint8_t *src = BEYOND(plan->operands[SRC].base, move->nest.streams[SRC].offset);
	engine_packed_test *is_better_packed = plan->isa->transpose->is_better_packed;

	return is_better_packed && (move->size <= SMALL_SIZE || !plan->streams) &&
	       is_better_packed(&move->tile, src, move->size, plan->is_far);
}

static void pack(const struct engine_plan *plan, uint8_t *packed, const uint8_t *src,
		 const int64_t *places, int64_t count, int64_t bytes)
{
	engine_pack_kernel *kernel = plan->isa->transpose->pack_rows;

	if (kernel) {
		kernel(packed, PITCH_BYTES, src, places, count, bytes);
		return;
	}
	for (int64_t r = 0; r < count; r++)
		memcpy(packed + r * PITCH_BYTES, src + places[r], (size_t)bytes);
}

/* Rows of the next block that are still to be asked for, if any. */
struct ahead {
	const uint8_t *rows;
	int64_t stride;
	int64_t bytes;		/* of each */
	int64_t left;
};

static void fetch_ahead(struct ahead *ahead, int64_t count)
{
	engine_fetch_rows(ahead->rows, count, ahead->stride, ahead->bytes);
	ahead->rows = BEYOND(ahead->rows, count * ahead->stride);
	ahead->left -= count;
}

/*
 * How many columns there are in a piece of a block. Where pieces are as wide as squares some rows
 * are asked for before each: all at once would wait for each other. Where squares have lines it has
 * not been tried.
 */
static int64_t piece_columns(const struct engine_move *move, const struct engine_plan *plan,
			     const struct ahead *ahead)
{
	if (ahead->left && !plan->isa->transpose->loads_lines)
		return SQUARE_BYTES / move->size;
	return max(1, ENGINE_REPORT_BYTES / MOST_ROWS / move->size);
}

/* Transposes so many packed rows, in pieces after which progress is told. */
static int run_block(struct engine_run *run, const struct engine_move *move, uint8_t *dst,
		     const uint8_t *packed, int64_t columns, int64_t rows, struct ahead *ahead)
{
	const int64_t step = piece_columns(move, run->plan, ahead);
	struct engine_tile piece = {
		.extents = { 0, rows },
		.dst_strides = { move->tile.dst_strides[0], move->size },
		.src_strides = { move->size, PITCH_BYTES },
	};

	for (int64_t c = 0; c < columns; c += piece.extents[0]) {
		/* what is less than a square makes the last piece wider */
		const int64_t left = max(1, (columns - c) / step);
		int error;

		fetch_ahead(ahead, round_up(ahead->left, left) / left);
		piece.extents[0] = left == 1 ? columns - c : step;
		move->kernel(dst + c * piece.dst_strides[0], packed + c * move->size, &piece);
		error = engine_run_advance(run, (uint64_t)(piece.extents[0] * rows * move->size));
		if (error)
			return error;
	}
	return 0;
}

/* What is less than a square's side makes the first block larger: one of its own is slow. */
static int64_t first_step(const struct engine_move *move, int loop)
{
	const int64_t rest = move->tile.extents[loop] % move->block[loop];

	return rest * move->size < LINE_BYTES ? move->block[loop] + rest : move->block[loop];
}

int engine_move_run_packed(struct engine_run *run, const struct engine_move *move, uint8_t *dst,
			   const uint8_t *src)
{
	const struct engine_tile *tile = &move->tile;
	uint8_t packed[PACKED_ROWS * PITCH_BYTES] __attribute__((aligned(LINE_BYTES)));
	int64_t places[PACKED_ROWS];
	struct steps blocks = {
		.rank = 2,
		.step = move->block,
		.head = { first_step(move, 0), first_step(move, 1) },
		.end = { tile->extents[0], tile->extents[1] },
	};
	struct steps next = blocks;
	int error;

	for (int64_t r = 0; r < step_extent(&blocks, 1); r++)
		places[r] = r * tile->src_strides[1];
	do {
		const int64_t columns = step_extent(&blocks, 0), rows = step_extent(&blocks, 1);
		struct ahead ahead = { .stride = tile->src_strides[1] };

		pack(run->plan, packed, src + offset_of(tile->src_strides, blocks.at, NULL, 2),
		     places, rows, columns * move->size);
		if (next_step(&next) && run->plan->is_far) {
			ahead.rows = src + offset_of(tile->src_strides, next.at, NULL, 2);
			ahead.left = step_extent(&next, 1);
			/* rows begin within lines: they have a part of one more */
			ahead.bytes = step_extent(&next, 0) * move->size + LINE_BYTES - 1;
		}
		error = run_block(run, move, dst + offset_of(tile->dst_strides, blocks.at, NULL, 2),
				  packed, columns, rows, &ahead);
	} while (!error && next_step(&blocks));
	return error;
}

bool engine_move_match_packed(struct engine_move *move, const struct engine_plan *plan)
{
	const struct engine_tile *tile = &move->tile;

	if (tile->extents[1] < LEAST_ROWS || tile->extents[0] * move->size < LEAST_ROW_BYTES ||
	    !is_worth_it(move, plan))
		return false;
	move->block[0] = ROW_BYTES / move->size;
	move->block[1] = MOST_ROWS;
	return true;
}
