// SPDX-License-Identifier: MIT
/*
 * Packing: the rows of a block side by side, before it is transposed or beside the one before it.
 */
#include <string.h>

#include "place.h"
#include "staging_pipeline.h"

/* The next block's rows are fetched so many bytes before they are packed beside streaming. */
#define AHEAD_BYTES	16384

/* A row of a block, which has been fetched, but perhaps not to the first cache. */
static void copy_row(const struct pipeline *pipeline, uint8_t *packed, const uint8_t *src,
		     int64_t bytes)
{
	engine_pack_kernel *pack = pipeline->run->plan->isa->transpose->pack_rows;

	if (pack && (uintptr_t)src % LINE_BYTES)
		pack(packed, 0, src, &(int64_t){ 0 }, 1, bytes);
	else
		memcpy(packed, src, (size_t)bytes);
}

/* Where the row is packed that comes next. */
static uint8_t *place_of_intake(const struct pipeline *pipeline)
{
	const struct engine_move *move = pipeline->move;
	const struct steps *rows = &pipeline->intake.rows;

	return pipeline->packing +
	       offset_of(move->staging.packed, rows->at, rows->first, rows->rank);
}

/* Copies so many even rows that come next, or computes the one. */
static void pack_rows(struct pipeline *pipeline, int64_t count)
{
	const struct engine_staging *staging = &pipeline->move->staging;
	struct inflow *intake = &pipeline->intake;
	const int64_t pitch = staging->packed[intake->loop];
	uint8_t *packed = place_of_intake(pipeline);

	if (staging->pack_row)
		staging->pack_row(staging->context, packed, intake->rows.at,
				  intake->ahead.left / staging->src_size);
	else
		for (int64_t k = 0; k < count; k++)
			copy_row(pipeline, packed + k * pitch,
				 BEYOND(intake->ahead.from, k * intake->ahead.stride),
				 intake->ahead.left);
	engine_inflow_skip_rows(intake, count);
	pipeline->is_packing = engine_inflow_next_row(intake);
}

/* Packs rows of a block, of so many bytes or a few more, and fetches as many of the next one. */
static void pack_and_fetch(struct pipeline *pipeline, int64_t bytes)
{
	while (bytes > 0 && pipeline->is_packing) {
		const int64_t row_bytes = pipeline->intake.ahead.left;

		engine_inflow_fetch(&pipeline->inflow, row_bytes);
		pack_rows(pipeline, 1);
		bytes -= row_bytes;
	}
}

/*
 * What is computed takes its time, in which the next block is fetched; otherwise it is while strips
 * are transposed.
 */
void engine_staging_pack_block(struct pipeline *pipeline, const struct steps *blocks)
{
	engine_inflow_begin(&pipeline->intake, pipeline->move, pipeline->src, blocks);
	pipeline->packing = pipeline->packed;
	pipeline->is_packing = true;
	if (pipeline->move->staging.pack_row)
		pack_and_fetch(pipeline, INT64_MAX);
	while (pipeline->is_packing)
		pack_rows(pipeline, pipeline->intake.ahead.count);
}

void engine_staging_begin_packing(struct pipeline *pipeline, uint8_t *packing)
{
	pipeline->packs_ahead = true;
	pipeline->packing = packing;
	pipeline->intake = pipeline->inflow;
	pipeline->is_packing = true;
	engine_inflow_fetch(&pipeline->inflow, AHEAD_BYTES);
}

void engine_staging_take_packed(struct pipeline *pipeline)
{
	uint8_t *packed = pipeline->packing;

	pack_and_fetch(pipeline, INT64_MAX);
	pipeline->packing = pipeline->packed;
	pipeline->packed = packed;
	pipeline->is_packing = engine_inflow_next_block(&pipeline->intake);
}

void engine_staging_fetch_beside(struct pipeline *pipeline, int64_t bytes)
{
	if (pipeline->packs_ahead)
		pack_and_fetch(pipeline, bytes);
	else if (!pipeline->move->staging.pack_row)
		engine_inflow_fetch(&pipeline->inflow, bytes);
}

/*
 * Finds so many bytes to be packed, and fetched, by the kernel: they are rows of whole lines.
 * Returns how many rows, or 0.
 */
static int64_t find_packing(const struct pipeline *pipeline, int64_t bytes,
			    struct engine_packing *packing)
{
	const struct inflow *intake = &pipeline->intake, *inflow = &pipeline->inflow;
	const struct engine_ahead *rows = &intake->ahead;
	const int64_t count = pipeline->is_packing ? engine_inflow_count_rows(intake, bytes) : 0;

	if (!count || engine_inflow_count_rows(inflow, bytes) != count ||
	    inflow->loop != intake->loop || rows->row_bytes % (4 * LINE_BYTES))
		return 0;
	*packing = (struct engine_packing){
		.from = rows->from,
		.to = place_of_intake(pipeline),
		.ahead = inflow->ahead.from,
		.row_bytes = rows->row_bytes,
		.stride = rows->stride,
		.pitch = pipeline->move->staging.packed[intake->loop],
	};
	return ((uintptr_t)packing->from | (uint64_t)rows->stride) % LINE_BYTES == 0 ? count : 0;
}

bool engine_staging_pack_beside(struct pipeline *pipeline, uint8_t *dst, const uint8_t *src,
				const struct engine_tile *tile, int64_t bytes)
{
	const struct engine_move *move = pipeline->move;
	struct engine_packing packing;
	int64_t count;

	if ((tile->extents[0] | tile->extents[1]) % (LINE_BYTES / move->size))
		return false;
	count = find_packing(pipeline, bytes, &packing);
	if (!count)
		return false;
	move->staging.packing_kernel(dst, src, tile, &packing);
	engine_inflow_skip_rows(&pipeline->intake, count);
	pipeline->is_packing = engine_inflow_next_row(&pipeline->intake);
	engine_inflow_pass_rows(&pipeline->inflow, count);
	return true;
}
