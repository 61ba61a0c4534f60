// SPDX-License-Identifier: MIT
/*
 * Computing the rows that staging_pack.c packs, to be transposed. In a row a source either is
 * contiguous and is read where it lies, or stands still and fills a strip.
 */
#include <string.h>

#include "arithmetic.h"
#include "panel.h"
#include "run_crossed.h"

enum { DST = ENGINE_MOVE_DST, SRC = ENGINE_MOVE_SRC };

static int64_t size_of(const struct engine_crossed *crossed, uint32_t k)
{
	return (int64_t)1 << crossed->plan->operands[k].size_shift;
}

/* --- choosing --------------------------------------------------------------------------------- */

/* The loop in which an operand is contiguous; rank if there is none. */
static uint32_t run_loop(const struct engine_crossed *crossed, uint32_t k)
{
	const struct engine_nest *nest = &crossed->access->nest;
	uint32_t d = 0;

	while (d < nest->rank && nest->streams[k].strides[d] != size_of(crossed, k))
		d++;
	return d;
}

/* The first source that is walked across; 0 if there is none. */
static uint32_t find_source(const struct engine_crossed *crossed)
{
	const struct engine_nest *nest = &crossed->access->nest;
	const uint32_t last = nest->rank - 1;

	for (uint32_t k = 1; k < crossed->plan->num_operands; k++)
		if (nest->streams[k].strides[last] && run_loop(crossed, k) < last)
			return k;
	return 0;
}

/* Whether a source does in rows what the first one does, in steps of its own size. */
static bool is_run(const struct engine_crossed *crossed, uint32_t k)
{
	const struct engine_staging *staging = &crossed->move.staging;
	const struct engine_nest *nest = &crossed->move.nest;
	const int64_t *strides = crossed->access->nest.streams[k].strides;

	for (uint32_t d = 0; d < nest->rank; d++)
		if (staging->row[d] > 1 && strides[d] != nest->streams[SRC].strides[d] /
							 staging->src_size * size_of(crossed, k))
			return false;
	return true;
}

static bool is_still(const struct engine_crossed *crossed, uint32_t k)
{
	for (uint32_t d = 0; d < crossed->move.nest.rank; d++)
		if (crossed->move.staging.row[d] > 1 &&
		    crossed->access->nest.streams[k].strides[d])
			return false;
	return true;
}

/* Returns false where a source is neither. */
static bool sort_sources(struct engine_crossed *crossed)
{
	crossed->runs = 0;
	for (uint32_t k = 1; k < crossed->plan->num_operands; k++) {
		if (is_run(crossed, k))
			crossed->runs |= 1u << k;
		else if (!is_still(crossed, k))
			return false;
	}
	return true;
}

/* --- computing -------------------------------------------------------------------------------- */

/* Fills a strip with an element, unless it has been. */
static void fill_strip(struct engine_crossed *crossed, uint32_t k, const uint8_t *memory)
{
	const struct engine_plan *plan = crossed->plan;
	const uint32_t size_shift = plan->operands[k].size_shift;
	const struct engine_tile tile = {
		.extents = { 1, crossed->strip_points },
		.dst_strides = { 0, size_of(crossed, k) },
	};

	if (crossed->loaded[k] == memory)
		return;
	crossed->loaded[k] = memory;
	plan->isa->copy->broadcast[size_shift](engine_strip(&plan->program, crossed->strips, k - 1),
					       memory, &tile);
}

/* Computes some points, no more than a strip has. Kernels go beyond what is no whole strip. */
static void compute(const struct engine_crossed *crossed, uint8_t *packed,
		    const uint8_t *const *memory, int64_t count)
{
	const struct engine_program *program = &crossed->plan->program;
	const uint32_t sources = (1u << (crossed->plan->num_operands - 1)) - 1;
	const bool is_whole = count % ENGINE_STRIP_ALIGNMENT == 0;
	uint8_t *strips[ENGINE_MAX_STRIPS];
	uint8_t *result;

	for (uint32_t s = 0; s < program->num_strips; s++)
		strips[s] = engine_strip(program, crossed->strips, s);
	for (uint32_t k = 1; k < crossed->plan->num_operands; k++) {
		if (!(crossed->runs >> k & 1))
			continue;
		if (is_whole)
			strips[k - 1] = (uint8_t *)memory[k];
		else
			memcpy(strips[k - 1], memory[k], (size_t)(count * size_of(crossed, k)));
	}
	result = is_whole ? packed : strips[program->result];
	/* source k is in strip k - 1; those that are no runs stand still */
	engine_program_run_to(program, strips, sources & ~(crossed->runs >> 1), result,
			      (uint32_t)count);
	if (!is_whole)
		memcpy(packed, result, (size_t)(count * size_of(crossed, DST)));
}

/* An engine_pack_row() whose context is the box. */
static void pack_row(void *context, uint8_t *packed, const int64_t *point, int64_t count)
{
	struct engine_crossed *crossed = context;
	const struct engine_access *access = crossed->access;
	const uint32_t num_operands = crossed->plan->num_operands;
	const uint8_t *memory[DRM_TESSERA_MAX_OPERANDS];

	for (uint32_t k = 1; k < num_operands; k++) {
		const struct engine_stream *stream = &access->nest.streams[k];

		memory[k] = access->bases[k] + stream->offset;
		for (uint32_t d = 0; d < access->nest.rank; d++)
			memory[k] += point[d] * stream->strides[d];
		if (!(crossed->runs >> k & 1))
			fill_strip(crossed, k, memory[k]);
	}
	while (count) {
		int64_t now = min(count, crossed->strip_points);

		compute(crossed, packed, memory, now);
		for (uint32_t k = 1; k < num_operands; k++)
			memory[k] += crossed->runs >> k & 1 ? now * size_of(crossed, k) : 0;
		packed += now * size_of(crossed, DST);
		count -= now;
	}
}

/* --- running ---------------------------------------------------------------------------------- */

/* Matches the nest of destination and source, with results in the place of what is moved. */
static bool prepare_move(struct engine_crossed *crossed)
{
	const struct engine_isa *isa = crossed->plan->isa;
	const struct engine_nest *nest = &crossed->access->nest;
	struct engine_move *move = &crossed->move;
	struct engine_staging *staging = &move->staging;

	move->run = engine_staging_run;
	move->name = "transpose";
	move->size = size_of(crossed, DST);
	engine_nest_copy(&move->nest, nest, ENGINE_MOVE_STREAMS);
	move->nest.streams[SRC] = nest->streams[crossed->source];
	staging->src_loop = run_loop(crossed, crossed->source);
	staging->src_size = size_of(crossed, crossed->source);
	staging->pack_row = pack_row;
	staging->context = crossed;
	return nest->extents[nest->rank - 1] > ENGINE_FEW_POINTS &&
	       nest->extents[staging->src_loop] > ENGINE_FEW_POINTS &&
	       engine_staging_prepare(staging, &move->nest, move->size, isa->transpose,
				      engine_move_has_lines(move, staging->src_loop));
}

/* Rows are computed so many points at a time. */
static void choose_points(struct engine_crossed *crossed)
{
	crossed->strip_points = 1;
	for (uint32_t d = 0; d < crossed->move.nest.rank; d++)
		crossed->strip_points *= crossed->move.staging.row[d];
	crossed->strip_points = min(crossed->strip_points, crossed->plan->program.strip_points);
}

bool engine_crossed_prepare(struct engine_crossed *crossed, const struct engine_run *run,
			    const struct engine_access *access)
{
	const struct engine_plan *plan = run->plan;
	const struct engine_nest *nest = &access->nest;

	crossed->plan = plan;
	crossed->access = access;
	if (!run->scratch || !plan->streams || !plan->program.ends_with_result ||
	    nest->index_mask || !nest->rank ||
	    nest->streams[DST].strides[nest->rank - 1] != size_of(crossed, DST))
		return false;
	crossed->source = find_source(crossed);
	if (!crossed->source || !prepare_move(crossed) || !sort_sources(crossed))
		return false;
	choose_points(crossed);
	return true;
}

int engine_crossed_run(struct engine_crossed *crossed, struct engine_run *run, uint8_t *strips)
{
	crossed->strips = strips;
	memset(crossed->loaded, 0, sizeof(crossed->loaded));
	engine_program_begin(&run->plan->program, strips, (uint32_t)crossed->strip_points);
	return engine_move_run(run, &crossed->move, crossed->access->bases[DST],
			       crossed->access->bases[crossed->source]);
}
