// SPDX-License-Identifier: MIT
/*
 * Portable kernels of copies: vectors of 16 bytes, as every 64-bit CPU has them and the compiler
 * knows. Their contract is in kernels.h, their rows in copy_rows.h.
 */
#include "kernels.h"

#define VECTOR_BYTES	16
#define TARGET
/* Streaming stores are no part of the language: they are ordinary ones, and nothing is to end. */
#define stream_vector(to, v)	(*(vector *)(to) = (v))

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
}

const struct engine_copy_kernels engine_copy_portable = {
	.run = FOR_EACH_SIZE(copy_run),
	.stream_run = FOR_EACH_SIZE(stream_run),
	.broadcast = FOR_EACH_SIZE(copy_broadcast),
	.stream_broadcast = FOR_EACH_SIZE(stream_broadcast),
	.strided = FOR_EACH_SIZE(copy_strided),
	.pairs = FOR_EACH_SIZE(copy_pairs),
	.runs = copy_runs,
	.end_streams = end_streams,
};
