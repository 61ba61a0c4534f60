// SPDX-License-Identifier: MIT
/*
 * Parts put together in scratch; why is in assemble.h. While a chunk is filled in one half of the
 * scratch, the one before it is streamed from the other half, as many bytes at a time as a block
 * of the moves has: memory takes streaming stores no faster than it can, and a CPU has more to do
 * meanwhile only if that is among its next few hundred instructions. What fills a chunk is not
 * known here.
 */
#include <string.h>

#include "arithmetic.h"
#include "assemble.h"

/* A chunk begins as far from a line's beginning as where it goes. */
#define HALF_BYTES	(ENGINE_SCRATCH_BYTES / 2)
#define CHUNK_BYTES	(HALF_BYTES - LINE_BYTES)

/* Blocks whose streaming stores the CPU has room for. */
#define BLOCK_BYTES	8192

bool engine_assemble_init(struct engine_parts *chunks, const struct engine_plan *plan)
{
	/* the source is in the cache: no loop of it need be kept whole */
	static const int64_t no_strides[DRM_TESSERA_MAX_RANK];
	const struct engine_plan_operand *destination = &plan->operands[0];
	const int64_t size = 1 << destination->size_shift;

	engine_parts_init(chunks, &plan->box, destination->address.strides, no_strides, size,
			  CHUNK_BYTES, true);
	return engine_parts_are_runs(chunks, &plan->box, destination->address.strides, size);
}

void engine_run_stream(struct engine_run *run, uint64_t bytes)
{
	struct engine_outflow *outflow = run->outflow;
	int64_t lines = outflow->left;

	/* before the first chunk there is no place either */
	if (!lines)
		return;
	if (bytes < (uint64_t)lines)
		lines = round_up((int64_t)bytes, LINE_BYTES);
	outflow->stream_lines(outflow->to, outflow->from,
			      &(struct engine_tile){ .extents = { 1, lines } }, NULL);
	outflow->to += lines;
	outflow->from += lines;
	outflow->left -= lines;
}

static int64_t count_points(const struct engine_box *box)
{
	int64_t count = 1;

	for (uint32_t d = 0; d < box->rank; d++)
		count *= box->dims[d].highest - box->dims[d].lowest + 1;
	return count;
}

static int64_t lowest_address(const struct engine_stream *address, const struct engine_box *box)
{
	int64_t lowest = address->offset;

	for (uint32_t d = 0; d < box->rank; d++)
		lowest += address->strides[d] * box->dims[d].lowest;
	return lowest;
}

/* Lets a chunk go: all but its whole lines at once. */
static void begin_outflow(struct engine_outflow *outflow, uint8_t *to, const uint8_t *from,
			  int64_t bytes)
{
	int64_t head = (int64_t)(-(uintptr_t)to % LINE_BYTES);
	int64_t tail;

	if (head > bytes)
		head = bytes;
	tail = (bytes - head) % LINE_BYTES;
	memcpy(to, from, (size_t)head);
	memcpy(to + bytes - tail, from + bytes - tail, (size_t)tail);
	outflow->to = to + head;
	outflow->from = from + head;
	outflow->left = bytes - head - tail;
}

/* What a part is put together with: the plan as if its destination were in scratch. */
struct assembly {
	struct engine_plan plan;
	struct engine_run run;
	struct engine_outflow outflow;
	uint8_t *destination;
};

/* Fills a chunk in half of the scratch while the one before it leaves, and lets it go then. */
static int run_chunk(struct assembly *assembly, uint64_t chunk, uint8_t *half)
{
	struct engine_plan_operand *destination = &assembly->plan.operands[0];
	struct engine_box box;
	uint8_t *to, *rows;
	int64_t offset;
	int error;

	engine_parts_box(&assembly->plan.chunks, &assembly->plan.box, chunk, &box);
	offset = lowest_address(&destination->address, &box);
	to = assembly->destination + offset;
	rows = half + (uintptr_t)to % LINE_BYTES;
	destination->base = (uint8_t *)((uintptr_t)rows - (uintptr_t)offset);
	error = engine_run_box(&assembly->run, &box);
	engine_run_stream(&assembly->run, UINT64_MAX);
	if (!error)
		begin_outflow(&assembly->outflow, to, rows,
			      count_points(&box) << destination->size_shift);
	return error;
}

int engine_assemble(struct engine_run *run, uint64_t first, uint64_t end)
{
	struct assembly assembly = {
		.plan = *run->plan,
		.run = *run,
		.outflow.stream_lines = run->plan->isa->transpose->stream_lines,
		.destination = run->plan->operands[0].base,
	};
	int error = 0;

	assembly.plan.streams = false;
	assembly.plan.block_bytes = BLOCK_BYTES;
	assembly.run.plan = &assembly.plan;
	assembly.run.scratch = NULL;
	assembly.run.outflow = &assembly.outflow;
	for (uint64_t chunk = first; chunk < end && !error; chunk++)
		error = run_chunk(&assembly, chunk, run->scratch + chunk % 2 * HALF_BYTES);
	engine_run_stream(&assembly.run, UINT64_MAX);
	run->unreported = assembly.run.unreported;
	return error;
}
