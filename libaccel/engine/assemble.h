/* SPDX-License-Identifier: MIT */
/*
 * Parts that are put together in scratch, a chunk at a time, and streamed to the destination from
 * there: where several regions share its cache lines, none of them can stream by itself.
 */
#ifndef TESSERA_ENGINE_ASSEMBLE_H
#define TESSERA_ENGINE_ASSEMBLE_H

#include "kernels.h"
#include "plan.h"

/* Whole lines of a chunk that are still on their way from scratch to the destination. */
struct engine_outflow {
	engine_lines_kernel *stream_lines;
	uint8_t *to;
	const uint8_t *from;
	int64_t left;		/* bytes */
};

/* Cuts the box of a plan into chunks. Returns false where they would not be runs of bytes. */
bool engine_assemble_init(struct engine_parts *chunks, const struct engine_plan *plan);

/* Runs the plan's chunks from first on, to the one before end, with the run's scratch. */
int engine_assemble(struct engine_run *run, uint64_t first, uint64_t end);

#endif /* TESSERA_ENGINE_ASSEMBLE_H */
