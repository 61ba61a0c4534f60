/* SPDX-License-Identifier: MIT */
/*
 * Random jobs with their right answers: a seed gives a job, the buffers it works on, what they hold
 * before, and what the reference says must become of them. The job can be given to any executor:
 * the engine, the library, the driver. Each is mostly small, and strange in one or two ways.
 */
#ifndef TESSERA_RANDOM_JOB_H
#define TESSERA_RANDOM_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/engine.h"

/* The operands' buffers and those of their indices. */
#define RANDOM_JOB_MAX_BUFFERS	(2 * DRM_TESSERA_MAX_OPERANDS)

struct random_job_options {
	/* At most so many points (0: 4096), and bytes in a buffer (0: 256 KiB; at least 64 KiB). */
	uint64_t max_points;
	uint64_t max_buffer_bytes;
	/* At least so many points, in a few loops of any length; 0: any number, in any loops. */
	uint64_t min_points;
	/* At most so many instructions (0: as many as there may be). */
	uint32_t max_instructions;
	/* Every buffer's size is a multiple of this: 4096 for the driver; 0 and 1: any size. */
	uint32_t size_multiple;
	/* Also jobs that have to be refused, and jobs that fault at an index while they run. */
	bool with_refused;
	bool with_faults;
};

enum random_job_outcome {
	/* The job is accepted and succeeds. */
	RANDOM_JOB_SUCCEEDS,
	/* It is refused before it runs, with errno .error (positive). No buffer changes. */
	RANDOM_JOB_REFUSED,
	/* It is accepted and fails as it runs, with .cause at .operand. */
	RANDOM_JOB_FAULTS,
};

struct random_job_buffer {
	uint64_t size;		/* bytes, at least 1 */
	uint8_t *initial;	/* what it holds before the job */
	uint8_t *expected;	/* what it holds after one that succeeds */
	uint8_t *may_change;	/* of each byte: 1 where a job that faults may have stored */
};

struct random_job {
	uint64_t seed;
	char description[160];	/* what is special about it */

	/* As in struct drm_tessera_job; .handle and .index_handle are index into buffers + 1. */
	uint32_t rank;
	uint32_t num_operands;
	uint32_t num_windows;
	uint32_t num_instructions;
	uint64_t extents[DRM_TESSERA_MAX_RANK];
	struct drm_tessera_operand operands[DRM_TESSERA_MAX_OPERANDS];
	struct drm_tessera_window windows[DRM_TESSERA_MAX_WINDOWS];
	struct drm_tessera_instruction program[DRM_TESSERA_MAX_INSTRUCTIONS];

	uint32_t num_buffers;
	struct random_job_buffer buffers[RANDOM_JOB_MAX_BUFFERS];

	enum random_job_outcome outcome;
	int error;			/* RANDOM_JOB_REFUSED: EINVAL, EOVERFLOW, ERANGE */
	enum drm_tessera_cause cause;	/* RANDOM_JOB_FAULTS: INDEX_LIMIT or BOUNDS */
	uint32_t operand;		/* RANDOM_JOB_FAULTS: where; a job has one such operand */
};

/* The same seed and options give the same job. options may be NULL. Aborts without memory. */
struct random_job *random_job_create(uint64_t seed, const struct random_job_options *options);
void random_job_destroy(struct random_job *job);

/* Makes the engine's form of it, on buffers at bases[0 .. num_buffers - 1]; all are writable. */
void random_job_bind(const struct random_job *job, void *const *bases,
		     struct engine_job *engine_job);

/*
 * Whether buffer holds at contents (of its size) what it must after a job with this outcome.
 * Otherwise text says which byte, what it is and what it should be.
 */
bool random_job_check(const struct random_job *job, uint32_t buffer, const void *contents,
		      char *text, size_t text_size);

/* Prints the job for a person, in full. */
void random_job_print(const struct random_job *job, FILE *file);

#endif /* TESSERA_RANDOM_JOB_H */
