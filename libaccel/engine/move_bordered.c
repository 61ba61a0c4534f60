// SPDX-License-Identifier: MIT
/*
 * Moves of rows with borders. Where a row has a source depends on the loops outside and on the row:
 * rows that are next to each other mostly agree, and are moved together.
 */
#include <string.h>

#include "arithmetic.h"
#include "move_bordered.h"
#include "place.h"

enum { DST = ENGINE_BORDERS_DST, SRC = ENGINE_BORDERS_SRC, NUM_OPERANDS = ENGINE_BORDERS_OPERANDS };

/* Rows without borders that are as long as this are streamed by themselves no slower. */
#define LONG_ROW_BYTES	1024

/* So far ahead that memory has answered when a row's turn comes. */
#define AHEAD_BYTES	2048

/* --- matching --------------------------------------------------------------------------------- */

/* Bits of all that the place of a row in the destination is made of. */
static uint64_t place_bits(const struct engine_bordered *bordered)
{
	const struct engine_nest *nest = &bordered->borders.nest;
	const struct engine_stream *dst = &nest->streams[DST];
	uint64_t bits = (uintptr_t)bordered->plan->operands[DST].base + (uint64_t)dst->offset;

	for (uint32_t d = 0; d + 1 < nest->rank; d++)
		bits |= (uint64_t)dst->strides[d];
	return bits;
}

bool engine_bordered_match(struct engine_bordered *bordered, const struct engine_plan *plan,
			   const struct engine_box *box)
{
	const struct engine_borders *borders = &bordered->borders;
	const struct engine_nest *nest = &borders->nest;
	bool are_close;
	uint32_t last;

	bordered->plan = plan;
	bordered->kernel = plan->isa->copy->stream_bordered;
	bordered->size = 1 << plan->operands[DST].size_shift;
	if (!plan->streams || !bordered->kernel ||
	    !engine_borders_init(&bordered->borders, plan, box) || nest->rank < 2)
		return false;
	last = nest->rank - 1;
	bordered->row_bytes = nest->extents[last] * bordered->size;
	if (nest->streams[DST].strides[last] != bordered->size ||
	    nest->streams[SRC].strides[last] != bordered->size ||
	    nest->streams[DST].strides[last - 1] != bordered->row_bytes ||
	    bordered->row_bytes < LINE_BYTES || bordered->row_bytes > ENGINE_REPORT_BYTES ||
	    place_bits(bordered) % (uint64_t)bordered->size)
		return false;
	if (!borders->num_conditions && bordered->row_bytes >= LONG_ROW_BYTES)
		return false;
	are_close = engine_rows_are_close(nest->streams[SRC].strides[last - 1],
					  bordered->row_bytes);
	/* whole lines that lie apart are better moved in the order of the source */
	if (!(place_bits(bordered) % LINE_BYTES) &&
	    (!borders->num_conditions || !are_close))
		return false;
	if (bordered->row_bytes < plan->isa->copy->bordered_far_bytes && !are_close)
		return false;
	for (uint32_t k = 0; k < borders->num_conditions; k++)
		if (nest->streams[NUM_OPERANDS + k].strides[last] < 0)
			return false;
	bordered->ahead = engine_rows_on(nest->streams[SRC].strides[last - 1],
					 max(1, AHEAD_BYTES / bordered->row_bytes));
	bordered->block = ENGINE_REPORT_BYTES / bordered->row_bytes;
	return true;
}

/* --- moving ----------------------------------------------------------------------------------- */

/* The elements of a row that it has a source for. */
static struct engine_span span_at(const struct engine_bordered *bordered, const int64_t *values)
{
	const struct engine_nest *nest = &bordered->borders.nest;
	const uint32_t last = nest->rank - 1;
	struct engine_span span = { 0, nest->extents[last] };

	for (uint32_t k = 0; k < bordered->borders.num_conditions; k++) {
		const int64_t *strides = nest->streams[NUM_OPERANDS + k].strides;

		span = engine_span_intersect(span,
			engine_span_of(values[k], strides[last], bordered->borders.limits[k],
				       nest->extents[last]));
	}
	return span;
}

/*
 * How many of the next rows, at most so many, a condition is the same for, whose values in the
 * first one are from lowest to highest and change by step from row to row.
 */
static int64_t count_alike(int64_t lowest, int64_t highest, int64_t step, int64_t limit,
			   int64_t most)
{
	if (!step || (highest < 0 && step < 0) || (lowest >= limit && step > 0))
		return most;
	if (highest < 0)
		return min(most, divide_up(-highest, step));
	if (lowest >= limit)
		return min(most, (lowest - limit) / -step + 1);
	if (lowest < 0 || highest >= limit)
		return 1;
	return min(most, step > 0 ? (limit - 1 - highest) / step + 1 : lowest / -step + 1);
}

static int64_t count_rows(const struct engine_bordered *bordered, const int64_t *values,
			  int64_t most)
{
	const struct engine_nest *nest = &bordered->borders.nest;
	const uint32_t last = nest->rank - 1;

	for (uint32_t k = 0; k < bordered->borders.num_conditions; k++) {
		const int64_t *strides = nest->streams[NUM_OPERANDS + k].strides;

		most = count_alike(values[k], values[k] + strides[last] * (nest->extents[last] - 1),
				   strides[last - 1], bordered->borders.limits[k], most);
	}
	return most;
}

/* What is on its way to the destination. */
struct outflow {
	struct engine_line line;
	uint8_t *next;		/* where line goes on */
};

static void begin_line(struct outflow *outflow, uint8_t *to)
{
	outflow->next = to;
	outflow->line.filled = outflow->line.others = (int64_t)((uintptr_t)to % LINE_BYTES);
	outflow->line.to = to - outflow->line.filled;
}

static void end_line(const struct outflow *outflow)
{
	const struct engine_line *line = &outflow->line;

	memcpy(line->to + line->others, line->bytes + line->others,
	       (size_t)(line->filled - line->others));
}

/* The rows at a point of the loops outside. */
static int run_point(struct engine_run *run, const struct engine_bordered *bordered,
		     const int64_t *offsets, const uint8_t *fill, struct outflow *outflow)
{
	const struct engine_nest *nest = &bordered->borders.nest;
	const uint32_t loop = nest->rank - 2;
	int64_t at[ENGINE_MAX_STREAMS];
	int64_t count;
	int error = 0;

	for (int64_t r = 0; r < nest->extents[loop] && !error; r += count) {
		struct engine_bordered_rows rows = {
			.stride = nest->streams[SRC].strides[loop],
			.bytes = bordered->row_bytes,
			.ahead = bordered->ahead,
			.fill = fill,
		};
		struct engine_span span;

		for (uint32_t s = 0; s < nest->num_streams; s++)
			at[s] = offsets[s] + r * nest->streams[s].strides[loop];
		span = span_at(bordered, &at[NUM_OPERANDS]);
		rows.first = span.first * bordered->size;
		rows.end = span.end * bordered->size;
		count = min(nest->extents[loop] - r, bordered->block);
		count = rows.count = count_rows(bordered, &at[NUM_OPERANDS], count);
		/* in numbers, for where windows do not hold the source may lie anywhere */
		bordered->kernel(&outflow->line,
				 (const uint8_t *)((uintptr_t)bordered->plan->operands[SRC].base +
						   (uintptr_t)at[SRC]), &rows);
		outflow->next += count * bordered->row_bytes;
		error = engine_run_advance(run, (uint64_t)(count * bordered->row_bytes));
	}
	return error;
}

/* A line of the fill: places of elements are multiples of their size. */
static void init_fill(const struct engine_bordered *bordered, uint8_t fill[LINE_BYTES])
{
	for (int64_t b = 0; b < LINE_BYTES; b++)
		fill[b] = bordered->plan->operands[SRC].fill[b % bordered->size];
}

int engine_bordered_run(struct engine_run *run, const struct engine_bordered *bordered)
{
	const struct engine_nest *nest = &bordered->borders.nest;
	uint8_t fill[LINE_BYTES];
	struct outflow outflow = { 0 };
	struct engine_walk walk;
	int error;

	init_fill(bordered, fill);
	engine_walk_begin(&walk, nest, nest->rank - 2);
	begin_line(&outflow, bordered->plan->operands[DST].base + walk.offsets[DST]);
	do {
		uint8_t *to = bordered->plan->operands[DST].base + walk.offsets[DST];

		if (to != outflow.next) {
			end_line(&outflow);
			begin_line(&outflow, to);
		}
		error = run_point(run, bordered, walk.offsets, fill, &outflow);
	} while (!error && engine_walk_next(&walk));
	end_line(&outflow);
	return error;
}
