/* SPDX-License-Identifier: MIT */
/*
 * Panels: boxes of the three inner loops of a program's nest, small enough that what sources have
 * there stays in the second cache. A source that takes smaller steps in the middle loop than in the
 * inner one is put in the destination's order first, in long pieces of its rows; the others are
 * left where they lie. Nothing is known here of what is computed.
 */
#ifndef TESSERA_ENGINE_PANEL_H
#define TESSERA_ENGINE_PANEL_H

#include "access.h"
#include "arithmetic.h"
#include "place.h"

/* The loops of a panel, and of a block in it. */
enum { ENGINE_OUTER, ENGINE_MIDDLE, ENGINE_INNER, ENGINE_PANEL_LOOPS };

/* The room for two panels of a small job; a large one has the run's scratch. */
#define ENGINE_SMALL_PANELS_BYTES	51200

/* So few rows are interleaved as they are loaded and stored, and need no panel. */
#define ENGINE_FEW_POINTS	8

/* Where a panel lies in its nest. */
struct engine_panel_place {
	struct engine_walk walk;	/* over the loops outside */
	int64_t first[ENGINE_PANEL_LOOPS];
	int64_t extents[ENGINE_PANEL_LOOPS];
	bool is_beyond;			/* there is no such panel */
};

/* Where an affine operand is at the first point of a panel, and its strides from there on. */
struct engine_view {
	uint8_t *address;
	int64_t strides[ENGINE_PANEL_LOOPS];
};

struct engine_panel {
	struct engine_panel_place place;
	struct engine_view views[DRM_TESSERA_MAX_OPERANDS];
};

/* The panels of a nest, one after the other. */
struct engine_panels {
	const struct engine_plan *plan;
	const struct engine_access *access;
	uint32_t crossed;			/* sources to be put in order, by bit */
	int64_t sides[ENGINE_PANEL_LOOPS];	/* of a whole panel */
	int64_t unit_rows[DRM_TESSERA_MAX_OPERANDS];	/* filled at a time */
	uint8_t *packed;			/* rows side by side, where that is one */
	int64_t packed_rows;			/* a power of two */
	int64_t pitch;
	uint8_t *halves[2];			/* of every other panel; [0] of the next one */
	int64_t source_bytes;			/* of a half, for each crossed source */

	struct engine_panel_place next;
	uint32_t source;			/* of the panel begun last: what is filled next */
	int64_t row;

	struct engine_panel_place ahead;	/* what is fetched next */
	uint32_t ahead_source;
	int64_t ahead_row;
};

/* Cuts a nest of three loops or more; room has so many bytes and begins at a line. */
void engine_panels_init(struct engine_panels *panels, const struct engine_plan *plan,
			const struct engine_access *access, uint8_t *room, int64_t bytes);

/* Begins the next panel. What the one before the last had in room is gone. False after the last. */
bool engine_panels_next(struct engine_panels *panels, struct engine_panel *panel);

/*
 * Puts some more of the panel begun last in order; returns how many points of a source that was,
 * and 0 when the panel is whole.
 */
int64_t engine_panels_fill(struct engine_panels *panels, const struct engine_panel *panel);

#endif /* TESSERA_ENGINE_PANEL_H */
