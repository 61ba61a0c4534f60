// SPDX-License-Identifier: MIT
/*
 * Portable transposition of a tile: small squares are gathered in a local array, read along the
 * source's better loop and written along the destination's. Contract in kernels.h.
 */
#include <string.h>

#include "arithmetic.h"
#include "kernels.h"

struct element16 {
	uint64_t parts[2];
};

struct element32 {
	uint64_t parts[4];
};

struct element64 {
	uint64_t parts[8];
};

/* The side of a square: at least a cache line's worth of small elements on both sides. */
#define SIDE	16

#define DEFINE_TRANSPOSE(size, shift, type)							\
static void transpose_square_##size(uint8_t *dst, const uint8_t *src,				\
				    const struct engine_tile *tile)				\
{												\
	type square[SIDE][SIDE];								\
												\
	for (int i = 0; i < SIDE; i++)								\
		for (int j = 0; j < SIDE; j++)							\
			memcpy(&square[i][j], src + i * tile->src_strides[1] +			\
						      j * tile->src_strides[0], sizeof(type));	\
	for (int j = 0; j < SIDE; j++)								\
		for (int i = 0; i < SIDE; i++)							\
			memcpy(dst + j * tile->dst_strides[0] + i * tile->dst_strides[1],	\
			       &square[i][j], sizeof(type));					\
}												\
												\
static void transpose_##size(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile)	\
{												\
	const int64_t whole_rows = tile->extents[0] / SIDE * SIDE;				\
	const int64_t whole_columns = tile->extents[1] / SIDE * SIDE;				\
	struct engine_tile rest = *tile;							\
												\
	for (int64_t j = 0; j < whole_rows; j += SIDE)						\
		for (int64_t i = 0; i < whole_columns; i += SIDE)				\
			transpose_square_##size(dst + j * tile->dst_strides[0] +		\
						i * tile->dst_strides[1],			\
						src + j * tile->src_strides[0] +		\
						i * tile->src_strides[1], tile);		\
	rest.extents[0] = whole_rows;								\
	rest.extents[1] = tile->extents[1] - whole_columns;					\
	engine_copy_portable.strided[shift](dst + whole_columns * tile->dst_strides[1],		\
					    src + whole_columns * tile->src_strides[1],		\
					    &rest);						\
	rest.extents[0] = tile->extents[0] - whole_rows;					\
	rest.extents[1] = tile->extents[1];							\
	engine_copy_portable.strided[shift](dst + whole_rows * tile->dst_strides[0],		\
					    src + whole_rows * tile->src_strides[0], &rest);	\
}

DEFINE_TRANSPOSE(1, 0, uint8_t)
DEFINE_TRANSPOSE(2, 1, uint16_t)
DEFINE_TRANSPOSE(4, 2, uint32_t)
DEFINE_TRANSPOSE(8, 3, uint64_t)
DEFINE_TRANSPOSE(16, 4, struct element16)
DEFINE_TRANSPOSE(32, 5, struct element32)
DEFINE_TRANSPOSE(64, 6, struct element64)

/* Through the caches: there is no way around them. */
static void copy_lines(uint8_t *dst, const uint8_t *src, const struct engine_tile *rows,
		       const uint8_t *next)
{
	(void)next;
	for (int64_t r = 0; r < rows->extents[0]; r++) {
		uint8_t *to = dst + r * rows->dst_strides[0];
		const int64_t before = (int64_t)((uintptr_t)to % 64);

		memcpy(to - before, src + r * rows->src_strides[0] - before,
		       (size_t)((before + rows->extents[1]) / 64 * 64));
	}
}

const struct engine_transpose_kernels engine_transpose_portable = {
	.transpose = {
		transpose_1, transpose_2, transpose_4, transpose_8, transpose_16, transpose_32,
		transpose_64,
	},
	.stream_lines = copy_lines,
};
