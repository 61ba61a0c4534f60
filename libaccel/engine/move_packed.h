/* SPDX-License-Identifier: MIT */
/*
 * Transposes in the caches, of rows that crowd each other: they are packed first, some at a time.
 */
#ifndef TESSERA_ENGINE_MOVE_PACKED_H
#define TESSERA_ENGINE_MOVE_PACKED_H

#include "move.h"

/*
 * Whether that is faster for a move whose tile is to be transposed; sets its blocks, then. Reads
 * the members size, tile and nest.
 */
bool engine_move_match_packed(struct engine_move *move, const struct engine_plan *plan);

/* Runs one tile of such a move. Returns 0 or -ECANCELED. Needs 75 KB of stack. */
int engine_move_run_packed(struct engine_run *run, const struct engine_move *move, uint8_t *dst,
			   const uint8_t *src);

#endif /* TESSERA_ENGINE_MOVE_PACKED_H */
