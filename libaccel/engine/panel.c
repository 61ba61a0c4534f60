// SPDX-License-Identifier: MIT
/*
 * Cutting, walking and filling panels. Rows of a source that are wide enough are copied side by
 * side first, a few at a time, as rows that are a power of two apart meet in the same cache sets; a
 * kernel transposes them from there. Short ones it takes from where they are. The source's next
 * rows are fetched meanwhile.
 */
#include <string.h>

#include "arithmetic.h"
#include "kernels.h"
#include "panel.h"

/* What runs of the destination, and pieces of a source's rows, should have at least and at most. */
#define DST_RUN_BYTES	256
#define SRC_RUN_BYTES	512
#define MOST_RUN_BYTES	1024

/* What a panel has of its sources at most. */
#define PANEL_BYTES	65536

/* Rows side by side: a few of the widest, each with a line more. */
#define PACKED_ROWS	32
#define PACKED_BYTES	(PACKED_ROWS * (SRC_RUN_BYTES + LINE_BYTES))

/* Rows less wide are taken from where they are, so many bytes at a time. */
#define PACKED_ROW_BYTES	256
#define UNIT_BYTES		2048

/* The source is fetched so far ahead. */
#define AHEAD_BYTES	4096

/* Kernels of programs read whole strips of so many points, of no more than 8 bytes each. */
#define SLACK_BYTES	(8 * ENGINE_STRIP_ALIGNMENT)

static int64_t size_of(const struct engine_panels *panels, uint32_t k)
{
	return (int64_t)1 << panels->plan->operands[k].size_shift;
}

static int64_t extent_of(const struct engine_panels *panels, int loop)
{
	const struct engine_nest *nest = &panels->access->nest;

	return nest->extents[nest->rank - ENGINE_PANEL_LOOPS + (uint32_t)loop];
}

static int64_t stride_of(const struct engine_panels *panels, uint32_t k, int loop)
{
	const struct engine_nest *nest = &panels->access->nest;

	return nest->streams[k].strides[nest->rank - ENGINE_PANEL_LOOPS + (uint32_t)loop];
}

/* --- cutting ---------------------------------------------------------------------------------- */

static uint32_t find_crossed(const struct engine_panels *panels)
{
	uint32_t crossed = 0;

	if (extent_of(panels, ENGINE_MIDDLE) <= ENGINE_FEW_POINTS)
		return 0;
	for (uint32_t k = 1; k < panels->plan->num_operands; k++)
		if (panels->access->index_streams[k] == ENGINE_NO_STREAM &&
		    stride_of(panels, k, ENGINE_MIDDLE) == size_of(panels, k) &&
		    stride_of(panels, k, ENGINE_INNER) != size_of(panels, k) &&
		    stride_of(panels, k, ENGINE_INNER))
			crossed |= 1u << k;
	return crossed;
}

/* As long a side as that, a multiple of strips if it is a part of the loop. */
static int64_t side(int64_t extent, int64_t wanted)
{
	if (wanted >= extent)
		return extent;
	return wanted > ENGINE_STRIP_ALIGNMENT ? wanted - wanted % ENGINE_STRIP_ALIGNMENT :
						 max(wanted, 1);
}

/* With crossed sources of these sizes, and room for so many points. */
static void choose_sides(struct engine_panels *panels, int64_t smallest, int64_t points)
{
	const int64_t middle = extent_of(panels, ENGINE_MIDDLE);
	const int64_t inner = extent_of(panels, ENGINE_INNER);
	int64_t *sides = panels->sides;

	sides[ENGINE_OUTER] = 1;
	sides[ENGINE_MIDDLE] = side(middle, SRC_RUN_BYTES / smallest);
	sides[ENGINE_INNER] = side(inner, max(points / sides[ENGINE_MIDDLE],
					      DST_RUN_BYTES / size_of(panels, 0)));
	sides[ENGINE_MIDDLE] = side(middle, min(points / sides[ENGINE_INNER],
						MOST_RUN_BYTES / smallest));
}

/*
 * Wide rows are packed one by one, with an odd number of lines for each; of others so many are
 * taken at a time as have the bytes of a unit.
 */
static void choose_units(struct engine_panels *panels, int64_t largest)
{
	const int64_t side_bytes = panels->sides[ENGINE_MIDDLE] * largest;
	const int64_t lines = divide_up(side_bytes, LINE_BYTES);

	panels->pitch = (lines | 1) * LINE_BYTES;
	panels->packed_rows = PACKED_ROWS;
	while (panels->packed_rows * panels->pitch > PACKED_BYTES)
		panels->packed_rows /= 2;
	for (uint32_t k = 1; k < panels->plan->num_operands; k++) {
		int64_t row_bytes = panels->sides[ENGINE_MIDDLE] * size_of(panels, k);

		panels->unit_rows[k] = row_bytes >= PACKED_ROW_BYTES ? 1 :
				       (UNIT_BYTES / row_bytes + 31) / 32 * 32;
	}
}

static void cut(struct engine_panels *panels, int64_t bytes)
{
	const int64_t count = __builtin_popcount(panels->crossed);
	int64_t smallest = 8, largest = 1;

	for (int loop = 0; loop < ENGINE_PANEL_LOOPS; loop++)
		panels->sides[loop] = extent_of(panels, loop);
	if (!panels->crossed)
		return;
	for (uint32_t k = 1; k < panels->plan->num_operands; k++) {
		if (!(panels->crossed >> k & 1))
			continue;
		smallest = min(smallest, size_of(panels, k));
		largest = max(largest, size_of(panels, k));
	}
	panels->source_bytes = bytes / count / LINE_BYTES * LINE_BYTES;
	choose_sides(panels, smallest,
		     min(panels->source_bytes - SLACK_BYTES, PANEL_BYTES / count) / largest);
	choose_units(panels, largest);
}

/* --- walking ---------------------------------------------------------------------------------- */

static void limit_extents(const struct engine_panels *panels, struct engine_panel_place *place)
{
	for (int loop = 0; loop < ENGINE_PANEL_LOOPS; loop++)
		place->extents[loop] = min(panels->sides[loop],
					   extent_of(panels, loop) - place->first[loop]);
}

static void go_to_first(const struct engine_panels *panels, struct engine_panel_place *place)
{
	const struct engine_nest *nest = &panels->access->nest;

	*place = (struct engine_panel_place){ .is_beyond = false };
	engine_walk_begin(&place->walk, nest, nest->rank - ENGINE_PANEL_LOOPS);
	limit_extents(panels, place);
}

static void go_to_next(const struct engine_panels *panels, struct engine_panel_place *place)
{
	int loop = ENGINE_PANEL_LOOPS;

	while (loop-- > 0) {
		place->first[loop] += panels->sides[loop];
		if (place->first[loop] < extent_of(panels, loop))
			break;
		place->first[loop] = 0;
	}
	if (loop < 0)
		place->is_beyond = !engine_walk_next(&place->walk);
	limit_extents(panels, place);
}

/* In numbers, for without its index an indirect operand's may lie anywhere; it is not used. */
static uint8_t *address_of(const struct engine_panels *panels, uint32_t k,
			   const struct engine_panel_place *place)
{
	uint64_t offset = (uint64_t)place->walk.offsets[k];

	for (int loop = 0; loop < ENGINE_PANEL_LOOPS; loop++)
		offset += (uint64_t)place->first[loop] * (uint64_t)stride_of(panels, k, loop);
	return (uint8_t *)((uintptr_t)panels->access->bases[k] + offset);
}

/* The crossed source after k; as many as there are operands if there is none. */
static uint32_t crossed_after(const struct engine_panels *panels, uint32_t k)
{
	do {
		k++;
	} while (k < panels->plan->num_operands && !(panels->crossed >> k & 1));
	return k;
}

/* --- filling ---------------------------------------------------------------------------------- */

/* Fetches what is to come; returns the bytes of it. */
static int64_t fetch_unit(struct engine_panels *panels)
{
	struct engine_panel_place *place = &panels->ahead;
	const uint32_t k = panels->ahead_source;
	int64_t rows, bytes, stride;
	const uint8_t *memory;

	if (place->is_beyond)
		return AHEAD_BYTES;
	stride = stride_of(panels, k, ENGINE_INNER);
	memory = address_of(panels, k, place) + panels->ahead_row * stride;
	rows = min(panels->unit_rows[k], place->extents[ENGINE_INNER] - panels->ahead_row);
	bytes = place->extents[ENGINE_MIDDLE] * size_of(panels, k);
	if (stride == bytes)
		engine_fetch_rows(memory, 1, 0, rows * bytes);
	else
		engine_fetch_rows(memory, rows, stride, bytes);
	panels->ahead_row += rows;
	if (panels->ahead_row < place->extents[ENGINE_INNER])
		return rows * bytes;
	panels->ahead_row = 0;
	panels->ahead_source = crossed_after(panels, k);
	if (panels->ahead_source == panels->plan->num_operands) {
		panels->ahead_source = crossed_after(panels, 0);
		go_to_next(panels, place);
	}
	return rows * bytes;
}

/* Transposes rows of a panel's source, from memory or packed, into their place. */
static void transpose(const struct engine_panels *panels, const struct engine_panel *panel,
		      int64_t row, int64_t count, const uint8_t *memory, int64_t stride)
{
	const uint32_t k = panels->source;
	const struct engine_view *view = &panel->views[k];
	const int64_t size = size_of(panels, k);
	const struct engine_tile tile = {
		.extents = { panel->place.extents[ENGINE_MIDDLE], count },
		.dst_strides = { view->strides[ENGINE_MIDDLE], size },
		.src_strides = { size, stride },
	};

	panels->plan->isa->transpose->transpose[panels->plan->operands[k].size_shift](
		view->address + row * size, memory, &tile);
}

/* Copies a row beside those before it, which are transposed when they are many. */
static void pack_row(const struct engine_panels *panels, const struct engine_panel *panel,
		     const uint8_t *memory)
{
	const int64_t row = panels->row;
	const int64_t bytes = panel->place.extents[ENGINE_MIDDLE] * size_of(panels, panels->source);
	const int64_t pitch = panels->pitch;
	const int64_t packed = row & (panels->packed_rows - 1);

	memcpy(panels->packed + packed * pitch, memory, (size_t)bytes);
	if (packed + 1 == panels->packed_rows || row + 1 == panel->place.extents[ENGINE_INNER])
		transpose(panels, panel, row - packed, packed + 1, panels->packed, pitch);
}

int64_t engine_panels_fill(struct engine_panels *panels, const struct engine_panel *panel)
{
	const struct engine_panel_place *place = &panel->place;
	const uint32_t k = panels->source;
	const uint8_t *memory;
	int64_t rows, stride;

	if (k >= panels->plan->num_operands)
		return 0;
	stride = stride_of(panels, k, ENGINE_INNER);
	rows = min(panels->unit_rows[k], place->extents[ENGINE_INNER] - panels->row);
	memory = address_of(panels, k, place) + panels->row * stride;
	fetch_unit(panels);
	if (panels->unit_rows[k] == 1)
		pack_row(panels, panel, memory);
	else
		transpose(panels, panel, panels->row, rows, memory, stride);
	panels->row += rows;
	if (panels->row == place->extents[ENGINE_INNER]) {
		panels->row = 0;
		panels->source = crossed_after(panels, k);
	}
	return rows * place->extents[ENGINE_MIDDLE];
}

/* --- panels ----------------------------------------------------------------------------------- */

void engine_panels_init(struct engine_panels *panels, const struct engine_plan *plan,
			const struct engine_access *access, uint8_t *room, int64_t bytes)
{
	const int64_t half = (bytes - PACKED_BYTES) / 2 / LINE_BYTES * LINE_BYTES;

	*panels = (struct engine_panels){
		.plan = plan,
		.access = access,
		.packed = room,
		.halves = { room + PACKED_BYTES, room + PACKED_BYTES + half },
	};
	panels->crossed = find_crossed(panels);
	cut(panels, half);
	go_to_first(panels, &panels->next);
	if (!panels->crossed)
		return;
	panels->ahead = panels->next;
	panels->ahead_source = crossed_after(panels, 0);
	for (int64_t fetched = 0; fetched < AHEAD_BYTES; )
		fetched += fetch_unit(panels);
}

bool engine_panels_next(struct engine_panels *panels, struct engine_panel *panel)
{
	uint8_t *half = panels->halves[0];

	if (panels->next.is_beyond)
		return false;
	panel->place = panels->next;
	for (uint32_t k = 0; k < panels->plan->num_operands; k++) {
		struct engine_view *view = &panel->views[k];

		view->address = address_of(panels, k, &panel->place);
		for (int loop = 0; loop < ENGINE_PANEL_LOOPS; loop++)
			view->strides[loop] = stride_of(panels, k, loop);
		if (!(panels->crossed >> k & 1))
			continue;
		view->address = half;
		view->strides[ENGINE_OUTER] = 0;
		view->strides[ENGINE_INNER] = size_of(panels, k);
		view->strides[ENGINE_MIDDLE] = panel->place.extents[ENGINE_INNER] *
					       size_of(panels, k);
		half += panels->source_bytes;
	}
	half = panels->halves[0];
	panels->halves[0] = panels->halves[1];
	panels->halves[1] = half;
	panels->source = crossed_after(panels, 0);
	panels->row = 0;
	go_to_next(panels, &panels->next);
	return true;
}
