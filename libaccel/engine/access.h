/* SPDX-License-Identifier: MIT */
/*
 * From a plan's operands to addresses: the nest of a box, and where the elements of indirect
 * operands are.
 */
#ifndef TESSERA_ENGINE_ACCESS_H
#define TESSERA_ENGINE_ACCESS_H

#include "plan.h"

/* Stands for the index stream of an operand that has none. */
#define ENGINE_NO_STREAM	UINT32_MAX

/* A box as a nest: stream k is operand k's address, and stands still for one that is not loaded. */
struct engine_access {
	struct engine_nest nest;
	uint32_t index_streams[DRM_TESSERA_MAX_OPERANDS];
	uint8_t *bases[DRM_TESSERA_MAX_OPERANDS];	/* the fill of one that is not loaded */
};

/* Fills in *access, its nest in canonical form. */
void engine_access_init(struct engine_access *access, const struct engine_plan *plan,
			const struct engine_box *box, uint32_t loads);

/* Points along one loop of a walk, and the bytes that are accessed around each address. */
struct engine_row {
	const struct engine_walk *walk;
	uint32_t loop;
	int64_t first;
	int64_t count;
};

/*
 * Where operand k's elements are at the points of a row. For an indirect one each index is read
 * once and checked, together with the bytes from lowest to highest around the address that it leads
 * to. Returns 0 or -ERANGE.
 */
int engine_resolve(struct engine_run *run, const struct engine_access *access, uint32_t k,
		   const struct engine_row *row, const struct engine_interval *around,
		   uint8_t **addresses);

#endif /* TESSERA_ENGINE_ACCESS_H */
