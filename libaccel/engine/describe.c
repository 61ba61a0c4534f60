// SPDX-License-Identifier: MIT
/*
 * What a plan will run with, in a line for a person. Of several regions, the largest is described.
 */
#include <inttypes.h>
#include <stdio.h>

#include "access.h"
#include "move.h"
#include "move_bordered.h"
#include "move_windows.h"
#include "run_crossed.h"

/* A double: a box may have more points than can be counted. */
static double num_points(const struct engine_box *box)
{
	double points = 1;

	for (uint32_t d = 0; d < box->rank; d++)
		points *= (double)(box->dims[d].highest - box->dims[d].lowest) + 1;
	return points;
}

/* The largest region, or where there are too many to know, all of them as if windows held. */
static struct engine_region largest_region(const struct engine_plan *plan)
{
	struct engine_region largest = { .box = plan->box, .loads = ~0u };

	for (uint32_t r = 0; r < plan->num_regions; r++)
		if (r == 0 || num_points(&plan->regions[r].box) > num_points(&largest.box))
			largest = plan->regions[r];
	return largest;
}

/* Whether there is a way around the caches. */
static bool can_stream(const struct engine_isa *isa)
{
	return isa->transpose->stream_lines != engine_transpose_portable.stream_lines;
}

static bool is_streamed(const struct engine_move *move, const struct engine_plan *plan)
{
	const struct engine_isa *isa = plan->isa;

	if (plan->is_staged || move->run == engine_staging_run)
		return can_stream(isa);
	for (uint32_t shift = 0; shift < ENGINE_NUM_SIZES && move->kernel; shift++) {
		if (move->kernel == isa->transpose->stream_transpose[shift])
			return true;
		if (move->kernel == isa->copy->stream_run[shift] &&
		    move->kernel != isa->copy->run[shift])
			return true;
	}
	return false;
}

/* What is done with strips but storing them where they are at home. */
static const char *way_of(const struct engine_staging *staging)
{
	if (staging->packing_kernel)
		return " packed";
	return staging->stream_kernel ? "" : " staged";
}

static void describe_blocks(const struct engine_move *move, char text[80])
{
	const struct engine_staging *staging = &move->staging;
	const uint32_t columns = staging->src_loop, rows = move->nest.rank - 1;

	if (move->run == engine_staging_run)
		snprintf(text, 80, "blocks %" PRId64 "x%" PRId64 " by %" PRId64 "x%" PRId64 "%s",
			 staging->block[columns], staging->block[rows], staging->strip[columns],
			 staging->strip[rows], way_of(staging));
	else
		snprintf(text, 80, "blocks %" PRId64 "x%" PRId64 "%s", move->block[0],
			 move->block[1], move->packs ? " packed" : "");
}

/* As if scratch were to be had: a run that has none for once takes a simpler way. */
static struct engine_run run_of(const struct engine_plan *plan)
{
	return (struct engine_run){
		.plan = plan,
		.scratch = plan->scratch ? plan->scratch->bytes : NULL,
	};
}

static void describe_move(const struct engine_plan *plan, const struct engine_region *region,
			  char *text, size_t size)
{
	const struct engine_run run = run_of(plan);
	struct engine_access access;
	struct engine_move move;
	char blocks[80];

	engine_access_init(&access, plan, &region->box, region->loads);
	if (access.nest.index_mask) {
		snprintf(text, size, "gather by indices, %s", plan->isa->name);
		return;
	}
	engine_move_prepare(&move, &run, &access.nest, plan->operands[0].size_shift);
	describe_blocks(&move, blocks);
	snprintf(text, size, "%s of %" PRId64 "-byte elements, %s, %s%s", move.name, move.size,
		 plan->isa->name, blocks,
		 is_streamed(&move, plan) ? ", streaming stores" : "");
}

static void describe_windows(const struct engine_plan *plan, char *text, size_t size)
{
	struct engine_windows windows;

	engine_windows_match(&windows, plan, &plan->box);
	snprintf(text, size, "windows of %" PRId64 "-byte elements, %s, blocks %" PRId64 "x%" PRId64
		 "%s", windows.tile.dst_strides[1], plan->isa->name, windows.block[0],
		 windows.block[1],
		 (windows.streams || plan->is_staged) && can_stream(plan->isa) ?
		 ", streaming stores" : "");
}

static void describe_bordered(const struct engine_plan *plan, char *text, size_t size)
{
	struct engine_bordered bordered;

	engine_bordered_match(&bordered, plan, &plan->box);
	snprintf(text, size, "rows of %" PRId64 "-byte elements, %s, blocks %" PRId64 "x%" PRId64
		 ", streaming stores", bordered.size, plan->isa->name, bordered.block,
		 bordered.row_bytes / bordered.size);
}

static void describe_program(const struct engine_plan *plan, const struct engine_region *region,
			     char *text, size_t size)
{
	const struct engine_run run = run_of(plan);
	struct engine_access access;
	struct engine_crossed crossed;
	char blocks[80];

	engine_access_init(&access, plan, &region->box, region->loads);
	if (plan->is_staged || !engine_crossed_prepare(&crossed, &run, &access)) {
		snprintf(text, size, "program, %s", plan->isa->name);
		return;
	}
	describe_blocks(&crossed.move, blocks);
	snprintf(text, size, "program, then transpose of %" PRId64 "-byte elements, %s, %s%s",
		 crossed.move.size, plan->isa->name, blocks,
		 is_streamed(&crossed.move, plan) ? ", streaming stores" : "");
}

void engine_plan_describe(const struct engine_plan *plan, char *text, size_t size)
{
	struct engine_region region;

	if (plan->is_empty) {
		snprintf(text, size, "nothing to do");
		return;
	}
	if (plan->is_bordered) {
		describe_bordered(plan, text, size);
		return;
	}
	if (plan->slides) {
		describe_windows(plan, text, size);
		return;
	}
	region = largest_region(plan);
	(plan->has_program ? describe_program : describe_move)(plan, &region, text, size);
}
