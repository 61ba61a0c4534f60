// SPDX-License-Identifier: MIT
/*
 * Portable kernels: runs, broadcasts, strided elements, and pairs of addresses. Their contract is
 * in kernels.h. Elements are loaded and stored by memcpy(), which compilers turn into single moves.
 */
#include <string.h>

#include "kernels.h"

struct element16 {
	uint64_t halves[2];
};

#define DEFINE_COPY_KERNELS(size, type)								\
void engine_copy_run_##size(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile)	\
{												\
	/* memmove(), as the sides may overlap when a job is not as it ought to be */		\
	for (int64_t j = 0; j < tile->extents[0]; j++)						\
		memmove(dst + j * tile->dst_strides[0], src + j * tile->src_strides[0],		\
			(size_t)tile->extents[1] * sizeof(type));				\
}												\
												\
void engine_copy_broadcast_##size(uint8_t *dst, const uint8_t *src,				\
				  const struct engine_tile *tile)				\
{												\
	for (int64_t j = 0; j < tile->extents[0]; j++) {					\
		uint8_t *to = dst + j * tile->dst_strides[0];					\
		type element;									\
												\
		memcpy(&element, src + j * tile->src_strides[0], sizeof(element));		\
		for (int64_t i = 0; i < tile->extents[1]; i++)					\
			memcpy(to + i * (int64_t)sizeof(element), &element, sizeof(element));	\
	}											\
}												\
												\
void engine_copy_strided_##size(uint8_t *dst, const uint8_t *src,				\
				const struct engine_tile *tile)					\
{												\
	const int64_t dst_stride = tile->dst_strides[1];					\
	const int64_t src_stride = tile->src_strides[1];					\
												\
	for (int64_t j = 0; j < tile->extents[0]; j++) {					\
		uint8_t *to = dst + j * tile->dst_strides[0];					\
		const uint8_t *from = src + j * tile->src_strides[0];				\
												\
		for (int64_t i = 0; i < tile->extents[1]; i++) {				\
			type element;								\
												\
			memcpy(&element, from + i * src_stride, sizeof(element));		\
			memcpy(to + i * dst_stride, &element, sizeof(element));			\
		}										\
	}											\
}												\
												\
void engine_copy_pairs_##size(uint8_t *const *dst, uint8_t *const *src, int64_t count)		\
{												\
	for (int64_t i = 0; i < count; i++) {							\
		type element;									\
												\
		memcpy(&element, src[i], sizeof(element));					\
		memcpy(dst[i], &element, sizeof(element));					\
	}											\
}

DEFINE_COPY_KERNELS(1, uint8_t)
DEFINE_COPY_KERNELS(2, uint16_t)
DEFINE_COPY_KERNELS(4, uint32_t)
DEFINE_COPY_KERNELS(8, uint64_t)
DEFINE_COPY_KERNELS(16, struct element16)
