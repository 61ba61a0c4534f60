// SPDX-License-Identifier: MIT
/*
 * Transposes of whole lines to whole lines around the caches by AVX-512 (F, BW, DQ, VL, VBMI).
 * Contract in kernels.h, at engine_stream_lines_avx512. Memory has the more under way the fewer
 * instructions there are between loads and stores, so nothing else is done here.
 */
#ifdef __x86_64__
#include "kernels.h"
#include "square_avx512.h"

/* What is packed and fetched beside squares, row by row. */
struct cursor {
	struct engine_packing rows;
	int64_t left;		/* bytes of the first one */
};

INLINE void next_row(struct cursor *cursor)
{
	struct engine_packing *rows = &cursor->rows;
	const int64_t gap = rows->stride - rows->row_bytes;

	rows->from = BEYOND(rows->from, gap);
	rows->to += rows->pitch - rows->row_bytes;
	rows->ahead = BEYOND(rows->ahead, gap);
	cursor->left = rows->row_bytes;
}

/* Packs four lines, and fetches as many. */
INLINE void pack_lines(struct cursor *cursor)
{
	enum { BYTES = 4 * 64 };
	struct engine_packing *rows = &cursor->rows;

	UNROLL
	for (int place = 0; place < BYTES; place += 64) {
		engine_fetch(BEYOND(rows->ahead, place));
		_mm512_store_si512(rows->to + place, _mm512_load_si512(rows->from + place));
	}
	rows->from = BEYOND(rows->from, BYTES);
	rows->to += BYTES;
	rows->ahead = BEYOND(rows->ahead, BYTES);
	cursor->left -= BYTES;
	if (!cursor->left)
		next_row(cursor);
}

INLINE void put_line(uint8_t *to, __m512i line, const uint8_t *next)
{
	if (next)
		engine_fetch(next);
	_mm512_stream_si512((__m512i *)to, line);
}

/*
 * Rows of 64 bytes in groups, as in transpose_avx512.c. Beside them other lines are packed, if
 * there is a cursor, or fetched. Each group is transposed where it is loaded: compilers would find
 * all rows' places first, and keep them.
 */
#define DEFINE_SQUARE(size, rounds)								\
INLINE void transpose_group_##size(__m512i *r)							\
{												\
	UNROLL											\
	for (int round = 0; round < (rounds); round++)						\
		round_##size(r, 16 / (size));							\
}												\
												\
INLINE void square_##size(uint8_t *to, int64_t dst_stride, const uint8_t *from,			\
			  int64_t src_stride, const uint8_t *next, struct cursor *cursor)	\
{												\
	enum { N = 16 / (size) };								\
	const uint64_t step = (uint64_t)N * (uint64_t)dst_stride;				\
	__m512i r[4 * N];									\
												\
	UNROLL											\
	for (int group = 0; group < 4 * N; group += N) {					\
		UNROLL										\
		for (int k = 0; k < N; k++) {							\
			r[group + k] = _mm512_load_si512(from);					\
			ADVANCE(from, src_stride);						\
		}										\
		transpose_group_##size(r + group);						\
	}											\
	UNROLL											\
	for (int k = 0; k < N; k++) {								\
		transpose_lanes(&r[k], &r[N + k], &r[2 * N + k], &r[3 * N + k]);		\
		if (cursor)									\
			pack_lines(cursor);							\
		UNROLL										\
		for (int lane = 0; lane < 4; lane++)						\
			put_line(BEYOND(to, (uint64_t)lane * step), r[lane * N + k],		\
				 next ? next + (4 * k + lane) * 64 : NULL);			\
		ADVANCE(to, dst_stride);							\
	}											\
}

DEFINE_SQUARE(1, 4)
DEFINE_SQUARE(2, 3)
DEFINE_SQUARE(4, 2)
DEFINE_SQUARE(8, 1)
DEFINE_SQUARE(16, 0)

/*
 * Half of two squares, one below the other, of which a register has a row from either. Each
 * column's two lines are stored one after the other, for there are CPUs that store lines by pairs.
 */
#define DEFINE_TALL_SQUARE(size)								\
INLINE void tall_square_##size(uint8_t *to, int64_t dst_stride, const uint8_t *from,		\
			       int64_t src_stride, struct cursor *cursor)			\
{												\
	enum { N = 16 / (size) };								\
	const uint8_t *lower = from + 4 * N * src_stride;					\
	uint8_t *other = to + N * dst_stride;							\
	__m512i r[4 * N];									\
												\
	UNROLL											\
	for (int group = 0; group < 4 * N; group += N) {					\
		UNROLL										\
		for (int k = group; k < group + N; k++) {					\
			const __m256i first = _mm256_load_si256((const __m256i *)from);		\
			const __m256i second = _mm256_load_si256((const __m256i *)lower);	\
												\
			r[k] = _mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1);	\
			ADVANCE(from, src_stride);						\
			ADVANCE(lower, src_stride);						\
		}										\
		transpose_group_##size(r + group);						\
	}											\
	UNROLL											\
	for (int k = 0; k < N; k++) {								\
		transpose_lanes(&r[k], &r[N + k], &r[2 * N + k], &r[3 * N + k]);		\
		if (cursor)									\
			pack_lines(cursor);							\
		put_line(to, r[k], NULL);							\
		put_line(to + 64, r[2 * N + k], NULL);						\
		put_line(other, r[N + k], NULL);						\
		put_line(other + 64, r[3 * N + k], NULL);					\
		ADVANCE(to, dst_stride);							\
		ADVANCE(other, dst_stride);							\
	}											\
}

DEFINE_TALL_SQUARE(1)
DEFINE_TALL_SQUARE(2)

#define DEFINE_STREAM_SQUARES(size)								\
INLINE void stream_squares_##size(uint8_t *dst, const uint8_t *src,				\
				  const struct engine_tile *tile, struct cursor *cursor)	\
{												\
	enum { SIDE = 64 / (size) };								\
	const int64_t dst_stride = tile->dst_strides[0], src_stride = tile->src_strides[1];	\
												\
	for (int64_t r = 0; r < tile->extents[1]; r += SIDE)					\
		for (int64_t c = 0; c < tile->extents[0]; c += SIDE) {				\
			const uint8_t *from = src + r * src_stride + c * (size);		\
												\
			if (tile->ahead)							\
				engine_fetch_after(from, src_stride, SIDE, tile->ahead);	\
			square_##size(dst + c * dst_stride + r * (size), dst_stride, from,	\
				      src_stride, NULL, cursor);				\
		}										\
}

DEFINE_STREAM_SQUARES(1)
DEFINE_STREAM_SQUARES(2)
DEFINE_STREAM_SQUARES(4)
DEFINE_STREAM_SQUARES(8)
DEFINE_STREAM_SQUARES(16)

/*
 * By halves of two squares, and what is left by squares. Lines of different columns may be in the
 * same part of the last cache, which takes 32 of them one after the other: what follows are other
 * lines of these columns.
 */
#define DEFINE_STREAM_TALL(size)								\
INLINE void stream_tall_squares_##size(uint8_t *dst, const uint8_t *src,			\
				       const struct engine_tile *tile, struct cursor *cursor)	\
{												\
	enum { SIDE = 64 / (size), WIDTH = SIDE / 2, HEIGHT = 2 * SIDE };			\
	const int64_t dst_stride = tile->dst_strides[0], src_stride = tile->src_strides[1];	\
	const int64_t rows = tile->extents[1];							\
												\
	for (int64_t first = 0, end; first < rows; first = end) {				\
		end = min(first + 2 * HEIGHT, rows);						\
		for (int64_t c = 0; c < tile->extents[0]; c += WIDTH)				\
			for (int64_t r = first; r < end; r += HEIGHT) {				\
				const uint8_t *from = src + r * src_stride + c * (size);	\
												\
				if (tile->ahead && c % SIDE == 0)				\
					engine_fetch_after(from, src_stride, HEIGHT,		\
							   tile->ahead);			\
				tall_square_##size(dst + c * dst_stride + r * (size),		\
						   dst_stride, from, src_stride, cursor);	\
			}									\
	}											\
}												\
												\
INLINE void stream_tall_##size(uint8_t *dst, const uint8_t *src,				\
			       const struct engine_tile *tile, struct cursor *cursor)		\
{												\
	enum { HEIGHT = 128 / (size) };								\
	const int64_t rows = tile->extents[1] / HEIGHT * HEIGHT;				\
	struct engine_tile some = *tile;							\
												\
	some.extents[1] = rows;									\
	stream_tall_squares_##size(dst, src, &some, cursor);					\
	some.extents[1] = tile->extents[1] - rows;						\
	stream_squares_##size(dst + rows * (size), src + rows * tile->src_strides[1], &some,	\
			      cursor);								\
}

DEFINE_STREAM_TALL(1)
DEFINE_STREAM_TALL(2)

TARGET static void stream_1(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile)
{
	stream_tall_1(dst, src, tile, NULL);
}

#define DEFINE_STREAM(size)									\
TARGET static void stream_##size(uint8_t *dst, const uint8_t *src,				\
				 const struct engine_tile *tile)				\
{												\
	stream_squares_##size(dst, src, tile, NULL);						\
}

DEFINE_STREAM(2)
DEFINE_STREAM(4)
DEFINE_STREAM(8)
DEFINE_STREAM(16)

engine_tile_kernel *const engine_stream_lines_avx512[] = {
	stream_1, stream_2, stream_4, stream_8, stream_16,
};

/*
 * Where rows have been packed, those of the next block are: both are loaded and stored between
 * streaming stores, which hold up what comes in bursts.
 */
#define DEFINE_STREAM_PACKING(size)								\
TARGET __attribute__((nonnull))									\
void engine_stream_packing_##size##_avx512(uint8_t *dst, const uint8_t *src,			\
					   const struct engine_tile *tile,			\
					   const struct engine_packing *packing)		\
{												\
	struct cursor cursor = { *packing, packing->row_bytes };				\
												\
	stream_tall_##size(dst, src, tile, &cursor);						\
}

DEFINE_STREAM_PACKING(1)
DEFINE_STREAM_PACKING(2)

/* The same, and for each line stored one is fetched: bursts of requests are forgotten in part. */
#define DEFINE_STREAM_BESIDE(size)								\
TARGET __attribute__((nonnull))									\
void engine_stream_beside_##size##_avx512(uint8_t *dst, const uint8_t *src,			\
					  const struct engine_tile *tile, const uint8_t *next)	\
{												\
	enum { SIDE = 64 / (size) };								\
	const int64_t dst_stride = tile->dst_strides[0], src_stride = tile->src_strides[1];	\
												\
	for (int64_t r = 0; r < tile->extents[1]; r += SIDE) {					\
		for (int64_t c = 0; c < tile->extents[0]; c += SIDE) {				\
			square_##size(dst + c * dst_stride + r * (size), dst_stride,		\
				      src + r * src_stride + c * (size), src_stride,		\
				      next, NULL);						\
			next += SIDE * 64;							\
		}										\
	}											\
}

DEFINE_STREAM_BESIDE(4)
DEFINE_STREAM_BESIDE(8)
DEFINE_STREAM_BESIDE(16)

#endif /* __x86_64__ */
