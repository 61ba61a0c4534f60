// SPDX-License-Identifier: MIT
/*
 * Transposes around the caches by AVX2. Contract in kernels.h, at stream_transpose. A square has 16
 * bytes of as many rows as make a line of the destination, which is stored at once: what goes by
 * way of a buffer waits there for the streaming stores before it. A line of the source is loaded in
 * four squares.
 */
#ifdef __x86_64__
#include "kernels.h"
#include "square_avx2.h"

/*
 * 4 * N rows of N elements, of each column half a line in a register. For each line stored one is
 * fetched, from next on if there are any to be.
 */
#define DEFINE_SQUARE(size, bits)								\
INLINE void square_##size(uint8_t *to, int64_t dst_stride, const uint8_t *from,			\
			  int64_t src_stride, const uint8_t *next)				\
{												\
	enum { N = 16 / (size) };								\
	const int64_t step = N * src_stride;							\
	__m256i first[N], second[N];								\
												\
	load_transposed_##bits(first, from, BEYOND(from, step), src_stride);			\
	load_transposed_##bits(second, BEYOND(from, 2 * step), BEYOND(from, 3 * step),		\
			       src_stride);							\
	UNROLL											\
	for (int k = 0; k < N; k++) {								\
		if (next)									\
			engine_fetch(next + k * 64);						\
		_mm256_stream_si256((__m256i *)to, first[k]);					\
		_mm256_stream_si256((__m256i *)(to + 32), second[k]);				\
		ADVANCE(to, dst_stride);							\
	}											\
}

DEFINE_SQUARE(2, 16)
DEFINE_SQUARE(4, 32)
DEFINE_SQUARE(8, 64)
DEFINE_SQUARE(16, 128)

/* What is no whole squares, at the edges, is stored as all else is. */
INLINE void copy_edges(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,
		       int64_t columns, int64_t rows, int shift)
{
	engine_tile_kernel *kernel = engine_transpose_avx2.transpose[shift];
	struct engine_tile edge = *tile;

	if (columns < tile->extents[0]) {
		edge.extents[0] = tile->extents[0] - columns;
		kernel(BEYOND(dst, columns * tile->dst_strides[0]), src + (columns << shift),
		       &edge);
	}
	if (rows < tile->extents[1]) {
		edge.extents[0] = columns;
		edge.extents[1] = tile->extents[1] - rows;
		kernel(dst + (rows << shift), BEYOND(src, rows * tile->src_strides[1]), &edge);
	}
}

/* Down the rows of strips that are as wide as a line. */
#define DEFINE_STREAM(size, shift)								\
INLINE void stream_strip_##size(uint8_t *dst, const uint8_t *src,				\
				const struct engine_tile *tile, int64_t width,			\
				const uint8_t *next)						\
{												\
	enum { N = 16 / (size), LINE = 64 / (size) };						\
	const int64_t dst_stride = tile->dst_strides[0], src_stride = tile->src_strides[1];	\
												\
	for (int64_t r = 0; r + LINE <= tile->extents[1]; r += LINE) {				\
		if (tile->ahead)								\
			engine_fetch_after(src, src_stride, LINE, tile->ahead);			\
		for (int64_t c = 0; c < width; c += N) {					\
			square_##size(BEYOND(dst, c * dst_stride), dst_stride,			\
				      src + c * (size), src_stride, next);			\
			if (next)								\
				next += N * 64;							\
		}										\
		src = BEYOND(src, LINE * src_stride);						\
		dst += 64;									\
	}											\
}												\
												\
INLINE void stream_strips_##size(uint8_t *dst, const uint8_t *src,				\
				 const struct engine_tile *tile, const uint8_t *next)		\
{												\
	enum { N = 16 / (size), LINE = 64 / (size) };						\
	const int64_t columns = tile->extents[0] / N * N, rows = tile->extents[1] / LINE * LINE; \
	int64_t width;										\
												\
	for (int64_t c = 0; c < columns; c += width) {						\
		width = min(columns - c, LINE);							\
		stream_strip_##size(BEYOND(dst, c * tile->dst_strides[0]), src + c * (size),	\
				    tile, width, next);						\
		if (next)									\
			next += width * rows * (size);						\
	}											\
	copy_edges(dst, src, tile, columns, rows, shift);					\
}												\
												\
TARGET void engine_stream_##size##_avx2(uint8_t *dst, const uint8_t *src,			\
					const struct engine_tile *tile)				\
{												\
	stream_strips_##size(dst, src, tile, NULL);						\
}												\
												\
TARGET __attribute__((nonnull))									\
void engine_stream_beside_##size##_avx2(uint8_t *dst, const uint8_t *src,			\
					const struct engine_tile *tile, const uint8_t *next)	\
{												\
	stream_strips_##size(dst, src, tile, next);						\
}

DEFINE_STREAM(2, 1)
DEFINE_STREAM(4, 2)
DEFINE_STREAM(8, 3)
DEFINE_STREAM(16, 4)

#endif /* __x86_64__ */
