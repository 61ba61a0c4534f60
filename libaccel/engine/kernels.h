/* SPDX-License-Identifier: MIT */
/*
 * The micro-kernels of moves, and their contract. All take a tile: two loops, the second of them
 * inner, each with a stride in bytes on either side. A kernel may visit the elements of its tile in
 * any order. Bases need no alignment; extents may be anything, 0 included; strides may be negative
 * or 0. Where the two sides overlap other than in place, the bytes stored are not defined, but
 * nothing else happens.
 *
 * A kernel for a further shape or instruction set is a file of its own, and a line in
 * engine_kernels[].
 */
#ifndef TESSERA_ENGINE_KERNELS_H
#define TESSERA_ENGINE_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

struct engine_tile {
	int64_t extents[2];
	int64_t dst_strides[2];
	int64_t src_strides[2];
};

typedef void engine_tile_kernel(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile);

/* Copies count elements, each from where it is to where it goes. */
typedef void engine_pairs_kernel(uint8_t *const *dst, uint8_t *const *src, int64_t count);

/* log2 of the sizes of elements: 1, 2, 4, 8 and 16 bytes. */
#define ENGINE_NUM_SIZES	5

enum engine_shape {
	ENGINE_SHAPE_RUN,	/* the inner loop is contiguous on both sides */
	ENGINE_SHAPE_BROADCAST,	/* contiguous in the destination, the source stands still */
	ENGINE_SHAPE_STRIDED,	/* the inner loop is the better one for both sides */
	ENGINE_SHAPE_TRANSPOSE,	/* inner for the destination, outer for the source */
	ENGINE_NUM_SHAPES,
};

extern engine_tile_kernel *const engine_kernels[ENGINE_NUM_SHAPES][ENGINE_NUM_SIZES];
extern engine_pairs_kernel *const engine_pairs_kernels[ENGINE_NUM_SIZES];

engine_tile_kernel engine_copy_run_1, engine_copy_run_2, engine_copy_run_4, engine_copy_run_8,
		   engine_copy_run_16;
engine_tile_kernel engine_copy_broadcast_1, engine_copy_broadcast_2, engine_copy_broadcast_4,
		   engine_copy_broadcast_8, engine_copy_broadcast_16;
engine_tile_kernel engine_copy_strided_1, engine_copy_strided_2, engine_copy_strided_4,
		   engine_copy_strided_8, engine_copy_strided_16;
engine_tile_kernel engine_transpose_1, engine_transpose_2, engine_transpose_4, engine_transpose_8,
		   engine_transpose_16;
engine_pairs_kernel engine_copy_pairs_1, engine_copy_pairs_2, engine_copy_pairs_4,
		    engine_copy_pairs_8, engine_copy_pairs_16;

/* The shape of a tile whose loops are in order, and which is not to be transposed. */
static inline enum engine_shape engine_tile_shape(const struct engine_tile *tile, int64_t size)
{
	if (tile->dst_strides[1] == size && tile->src_strides[1] == size)
		return ENGINE_SHAPE_RUN;
	if (tile->dst_strides[1] == size && tile->src_strides[1] == 0)
		return ENGINE_SHAPE_BROADCAST;
	return ENGINE_SHAPE_STRIDED;
}

#endif /* TESSERA_ENGINE_KERNELS_H */
