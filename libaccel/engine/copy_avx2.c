// SPDX-License-Identifier: MIT
/*
 * Kernels of copies for AVX2: vectors of 32 bytes, and streaming stores. Their contract is in
 * kernels.h, their rows in copy_rows.h.
 */
#include "kernels.h"

#ifdef __x86_64__

#include <immintrin.h>

#define VECTOR_BYTES	32
#define TARGET		__attribute__((target("avx2")))
#define stream_vector(to, v)	_mm256_stream_si256((__m256i *)(to), (__m256i)(v))

#include "copy_rows.h"

#define DEFINE_STRIDED(size)									\
static TARGET void copy_strided_##size(uint8_t *dst, const uint8_t *src,			\
				       const struct engine_tile *tile)				\
{												\
	copy_elements_##size(dst, src, tile);							\
}

DEFINE_STRIDED(1)
DEFINE_STRIDED(2)
DEFINE_STRIDED(4)
DEFINE_STRIDED(8)
DEFINE_STRIDED(16)
DEFINE_STRIDED(32)
DEFINE_STRIDED(64)

static void end_streams(void)
{
	_mm_sfence();
}

const struct engine_copy_kernels engine_copy_avx2 = {
	.run = FOR_EACH_SIZE(copy_run),
	.stream_run = FOR_EACH_SIZE(stream_run),
	.broadcast = FOR_EACH_SIZE(copy_broadcast),
	.stream_broadcast = FOR_EACH_SIZE(stream_broadcast),
	.strided = FOR_EACH_SIZE(copy_strided),
	.pairs = FOR_EACH_SIZE(copy_pairs),
	.runs = copy_runs,
	.end_streams = end_streams,
};

#endif /* __x86_64__ */
