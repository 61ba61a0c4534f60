/* SPDX-License-Identifier: MIT */
/*
 * The point-by-point reference: what a layout job (uapi/drm/tessera_accel.h) means, in the most
 * obvious way. It visits every point, computes exactly, and rounds once. It is the oracle of the
 * tests, slow on purpose, and shares no code with the engine: of engine/engine.h it takes the
 * structures alone. Malformed jobs are not its business: jobs given to it have valid fields.
 */
#ifndef TESSERA_REFERENCE_H
#define TESSERA_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

/* Where a run has stopped, when it did. */
struct reference_fault {
	enum drm_tessera_cause cause;
	uint32_t operand;
	int64_t offset;		/* as in struct drm_tessera_job_result */
};

/*
 * Runs the job point by point, the last loop fastest. Returns 0, or -ERANGE at the first load or
 * store that would leave its buffer and at the first index that is refused, with *fault
 * saying which (fault may be NULL).
 */
int reference_run(const struct engine_job *job, struct reference_fault *fault);

/*
 * Sets marks[b], for each byte b of the destination's buffer to which a point stores. Points whose
 * index is refused, or whose store would leave the buffer, store nothing.
 */
void reference_mark_stores(const struct engine_job *job, uint8_t *marks);

/* An interval of bytes; empty when lowest > highest. */
struct reference_bounds {
	__int128 lowest;
	__int128 highest;
};

/*
 * The bytes that operand k touches, or (of_index) the bytes of its indices: exactly, by enumeration
 * of all points. For an indirect operand's own bytes, the index counts as 0.
 */
struct reference_bounds reference_bounds_exact(const struct engine_job *job, uint32_t operand,
					       bool of_index);

/* The same by the rule documented in uapi/drm/tessera_accel.h, which is what a job is held to. */
struct reference_bounds reference_bounds_by_rule(const struct engine_job *job, uint32_t operand,
						 bool of_index);

/*
 * Whether two points store to the same byte; whether a point stores to a byte that a point loads
 * through a source's operand, unless each load is of exactly what its own point stores. By
 * enumeration, indices included; buffers share memory where their addresses say so. Returns 0, 1 or
 * -ENOMEM.
 */
int reference_stores_collide(const struct engine_job *job);
int reference_overlaps(const struct engine_job *job, uint32_t operand);

/* Runs the program on one element of each source (the lowest bits of v[k]), as bits. */
uint64_t reference_program(const struct engine_job *job, const uint64_t v[DRM_TESSERA_MAX_SOURCES]);

/* The value of one instruction; dtype_a is the type of a, which counts for CAST alone. */
uint64_t reference_instruction(const struct drm_tessera_instruction *instruction, uint32_t dtype_a,
			       uint64_t a, uint64_t b, uint64_t c);

#endif /* TESSERA_REFERENCE_H */
