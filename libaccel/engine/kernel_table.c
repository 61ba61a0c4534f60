// SPDX-License-Identifier: MIT
/*
 * Which kernel is for which shape and element size.
 */
#include "kernels.h"

#define FOR_EACH_SIZE(name) { name##_1, name##_2, name##_4, name##_8, name##_16 }

engine_tile_kernel *const engine_kernels[ENGINE_NUM_SHAPES][ENGINE_NUM_SIZES] = {
	[ENGINE_SHAPE_RUN] = FOR_EACH_SIZE(engine_copy_run),
	[ENGINE_SHAPE_BROADCAST] = FOR_EACH_SIZE(engine_copy_broadcast),
	[ENGINE_SHAPE_STRIDED] = FOR_EACH_SIZE(engine_copy_strided),
	[ENGINE_SHAPE_TRANSPOSE] = FOR_EACH_SIZE(engine_transpose),
};

engine_pairs_kernel *const engine_pairs_kernels[ENGINE_NUM_SIZES] =
	FOR_EACH_SIZE(engine_copy_pairs);
