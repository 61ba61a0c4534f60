/* SPDX-License-Identifier: MIT */
/*
 * Moves of windows that slide over the source, as im2col has them.
 */
#ifndef TESSERA_ENGINE_MOVE_WINDOWS_H
#define TESSERA_ENGINE_MOVE_WINDOWS_H

#include "move.h"

/* Matches the nest in *move if that is what it does. Returns whether that is done. */
bool engine_move_match_windows(struct engine_move *move, const struct engine_plan *plan,
			       uint32_t size_shift);

#endif /* TESSERA_ENGINE_MOVE_WINDOWS_H */
