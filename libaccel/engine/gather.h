/* SPDX-License-Identifier: MIT */
/*
 * Moves in which the destination or the source is indirect.
 */
#ifndef TESSERA_ENGINE_GATHER_H
#define TESSERA_ENGINE_GATHER_H

#include "access.h"

/* Runs a move whose nest has index streams; elements have 1 << size_shift bytes. */
int engine_run_gather(struct engine_run *run, const struct engine_access *access,
		      uint32_t size_shift);

#endif /* TESSERA_ENGINE_GATHER_H */
