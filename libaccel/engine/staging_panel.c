// SPDX-License-Identifier: MIT
/*
 * Panels of a block whose destination's rows begin with lines, tile by tile.
 */
#include <string.h>

#include "staging_pipeline.h"

/* Transposes a tile by way of the staging buffer. */
static void stage_tile(struct pipeline *pipeline, uint8_t *dst, const uint8_t *src,
		       const struct engine_tile *tile)
{
	const struct engine_staging *staging = &pipeline->move->staging;
	const int64_t pitch = staging->strides[staging->src_loop];
	const int64_t dst_stride = tile->dst_strides[0];
	const int64_t bytes = tile->extents[1] * pipeline->move->size;
	const int64_t whole = (uintptr_t)dst % LINE_BYTES ? 0 : bytes / LINE_BYTES * LINE_BYTES;
	const struct engine_tile rows = {
		.extents = { tile->extents[0], whole },
		.dst_strides = { dst_stride, 1 },
		.src_strides = { pitch, 1 },
	};
	struct engine_tile staged = *tile;
	uint8_t *buffer = pipeline->staged;

	staged.dst_strides[0] = pitch;
	staging->stage_kernel(buffer, src, &staged);
	engine_staging_stream_rows(pipeline, dst, buffer, &rows);
	if (whole == bytes)
		return;
	engine_staging_fetch_beside(pipeline, tile->extents[0] * (bytes - whole));
	for (int64_t c = 0; c < tile->extents[0]; c++)
		memcpy(dst + c * dst_stride + whole, buffer + c * pitch + whole,
		       (size_t)(bytes - whole));
}

/* Streams a tile, and fetches as much of the next block: line by line, if that is side by side. */
static void stream_tile(struct pipeline *pipeline, uint8_t *dst, const uint8_t *src,
			const struct engine_tile *tile)
{
	const struct engine_staging *staging = &pipeline->move->staging;
	const int64_t bytes = tile->extents[0] * tile->extents[1] * pipeline->move->size;
	const uint8_t *next;

	if (!staging->stream_kernel) {
		stage_tile(pipeline, dst, src, tile);
		return;
	}
	if (pipeline->packs_ahead && engine_staging_pack_beside(pipeline, dst, src, tile, bytes))
		return;
	next = staging->beside_kernel ? engine_inflow_take(&pipeline->inflow, bytes) : NULL;
	if (next) {
		staging->beside_kernel(dst, src, tile, next);
	} else {
		engine_staging_fetch_beside(pipeline, bytes);
		staging->stream_kernel(dst, src, tile);
	}
}

/* Down the rows, so that the destination is written along its lines. */
int engine_staging_stream_panel(struct pipeline *pipeline)
{
	const struct engine_move *move = pipeline->move;
	const uint32_t columns = move->staging.src_loop, last = move->nest.rank - 1;
	const int64_t step = move->staging.tile[columns], bite = move->staging.bite;
	const int64_t width = step_extent(&pipeline->strips, columns);
	const int64_t height = step_extent(&pipeline->strips, last);
	const int64_t *src_strides;
	const uint8_t *src = source_of_strip(pipeline, &src_strides);
	uint8_t *dst = destination_of_strip(pipeline);
	struct engine_tile tile = {
		.dst_strides = { move->nest.streams[DST].strides[columns], move->size },
		.src_strides = { move->size, src_strides[last] },
	};
	int error = 0;

	for (int64_t c = 0; c < width && !error; c += step) {
		tile.extents[0] = min(step, width - c);
		for (int64_t r = 0; r < height; r += bite) {
			tile.extents[1] = min(bite, height - r);
			stream_tile(pipeline, dst + c * tile.dst_strides[0] + r * move->size,
				    src + c * move->size + r * src_strides[last], &tile);
		}
		error = engine_run_advance(pipeline->run,
					   (uint64_t)(tile.extents[0] * height * move->size));
	}
	return error;
}
