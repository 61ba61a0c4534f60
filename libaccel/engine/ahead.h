/* SPDX-License-Identifier: MIT */
/*
 * Rows that are fetched while others are stored.
 */
#ifndef TESSERA_ENGINE_AHEAD_H
#define TESSERA_ENGINE_AHEAD_H

#include "arithmetic.h"
#include "place.h"

/*
 * Rows a stride apart, the first one from a place in it on. The line in which that one ends has
 * been asked for. After the last one nothing is left.
 */
struct engine_ahead {
	const uint8_t *from;
	int64_t left;		/* bytes of the first row */
	int64_t count;		/* rows, with that one */
	int64_t row_bytes;	/* of each */
	int64_t stride;		/* from row to row */
};

static inline int64_t engine_ahead_bytes(const struct engine_ahead *ahead)
{
	return ahead->left + (ahead->count - 1) * ahead->row_bytes;
}

/* Goes on to the next row. Returns whether there is one. */
static inline bool engine_ahead_next_row(struct engine_ahead *ahead)
{
	if (ahead->count <= 1)
		return false;
	ahead->from = BEYOND(ahead->from, ahead->stride + ahead->left - ahead->row_bytes);
	ahead->left = ahead->row_bytes;
	ahead->count--;
	engine_fetch(BEYOND(ahead->from, ahead->left - 1));
	return true;
}

/* Takes so many bytes, to fetch them, and returns where they begin: NULL if a row has less left. */
static inline const uint8_t *engine_ahead_take(struct engine_ahead *ahead, int64_t bytes)
{
	const uint8_t *from = ahead->from;

	if (ahead->left < bytes)
		return NULL;
	ahead->from += bytes;
	ahead->left -= bytes;
	if (!ahead->left)
		engine_ahead_next_row(ahead);
	return from;
}

/* Fetches so many bytes, or all that there are. Returns how many these were. */
static inline int64_t engine_ahead_fetch(struct engine_ahead *ahead, int64_t bytes)
{
	int64_t fetched = 0;

	while (fetched < bytes && ahead->left) {
		const int64_t piece = min(bytes - fetched, ahead->left);

		engine_fetch_rows(engine_ahead_take(ahead, piece), 1, 0, piece);
		fetched += piece;
	}
	return fetched;
}

/* Takes so many bytes, or fetches those that are not side by side and returns NULL. */
static inline const uint8_t *engine_ahead_take_or_fetch(struct engine_ahead *ahead, int64_t bytes)
{
	const uint8_t *from = engine_ahead_take(ahead, bytes);

	if (!from)
		engine_ahead_fetch(ahead, bytes);
	return from;
}

#endif /* TESSERA_ENGINE_AHEAD_H */
