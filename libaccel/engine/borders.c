// SPDX-License-Identifier: MIT
/*
 * The nest of a box with its borders, and where along a loop a source is.
 */
#include "arithmetic.h"
#include "borders.h"

enum { DST = ENGINE_BORDERS_DST, SRC = ENGINE_BORDERS_SRC, NUM_OPERANDS = ENGINE_BORDERS_OPERANDS };

/* A stream over all loops of a box. */
static void place_stream(struct engine_stream *stream, int64_t offset, const int64_t *strides,
			 const struct engine_box *box)
{
	stream->offset = offset;
	for (uint32_t d = 0; d < box->rank; d++) {
		stream->offset += strides[d] * box->dims[d].lowest;
		stream->strides[d] = strides[d];
	}
}

/* Adds the windows of the source that do not hold everywhere; false where they are too many. */
static bool add_conditions(struct engine_borders *borders, const struct engine_plan *plan,
			   const struct engine_box *box)
{
	struct engine_nest *nest = &borders->nest;

	borders->num_conditions = 0;
	for (uint32_t w = 0; w < plan->num_windows; w++) {
		const struct drm_tessera_window *window = &plan->windows[w];
		struct engine_interval value = engine_affine_range(&window->value, box);

		if (!(plan->operands[SRC].window_mask >> w & 1) ||
		    (value.lowest >= 0 && value.highest < (int64_t)window->limit))
			continue;
		if (borders->num_conditions == ENGINE_MAX_CONDITIONS)
			return false;
		borders->limits[borders->num_conditions++] = (int64_t)window->limit;
		place_stream(&nest->streams[nest->num_streams++], window->value.offset,
			     (const int64_t *)window->value.strides, box);
	}
	return true;
}

static bool is_plain_move(const struct engine_plan *plan)
{
	return !plan->has_program && plan->num_operands == NUM_OPERANDS &&
	       !plan->operands[DST].is_indirect && !plan->operands[SRC].is_indirect &&
	       !plan->operands[DST].window_mask;
}

bool engine_borders_init(struct engine_borders *borders, const struct engine_plan *plan,
			 const struct engine_box *box)
{
	struct engine_nest *nest = &borders->nest;

	if (!is_plain_move(plan))
		return false;
	nest->rank = box->rank;
	nest->index_mask = 0;
	nest->num_streams = NUM_OPERANDS;
	for (uint32_t d = 0; d < box->rank; d++)
		nest->extents[d] = box->dims[d].highest - box->dims[d].lowest + 1;
	for (uint32_t k = 0; k < NUM_OPERANDS; k++) {
		const struct engine_stream *address = &plan->operands[k].address;

		place_stream(&nest->streams[k], address->offset, address->strides, box);
	}
	if (!add_conditions(borders, plan, box))
		return false;
	engine_nest_canonicalize(nest);
	return true;
}

struct engine_span engine_span_of(int64_t value, int64_t step, int64_t limit, int64_t count)
{
	uint64_t below = value < 0 ? magnitude(value) : 0;
	uint64_t room = (uint64_t)limit - (uint64_t)value;	/* where value is less */
	uint64_t first, end;

	if (value >= limit || (!step && below))
		return (struct engine_span){ 0, 0 };
	if (!step)
		return (struct engine_span){ 0, count };
	/* most steps are 1, and a division costs as much as all the rest */
	first = step == 1 ? below : (below + (uint64_t)step - 1) / (uint64_t)step;
	end = step == 1 ? room : (room - 1) / (uint64_t)step + 1;
	if (end > (uint64_t)count)
		end = (uint64_t)count;
	return first < end ? (struct engine_span){ (int64_t)first, (int64_t)end } :
			     (struct engine_span){ 0, 0 };
}

struct engine_span engine_span_intersect(struct engine_span a, struct engine_span b)
{
	struct engine_span both = { max(a.first, b.first), min(a.end, b.end) };

	return both.first < both.end ? both : (struct engine_span){ 0, 0 };
}
