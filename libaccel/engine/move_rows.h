/* SPDX-License-Identifier: MIT */
/*
 * Moves of runs: nests whose last loop is contiguous on both sides.
 */
#ifndef TESSERA_ENGINE_MOVE_ROWS_H
#define TESSERA_ENGINE_MOVE_ROWS_H

#include "move.h"

/*
 * Matches the nest in *move to a kernel for runs, if they are long enough to be moved as such.
 * Returns whether that is done.
 */
bool engine_move_match_rows(struct engine_move *move, const struct engine_plan *plan,
			    uint32_t size_shift);

#endif /* TESSERA_ENGINE_MOVE_ROWS_H */
