// SPDX-License-Identifier: MIT
/*
 * Transposes of whole lines to whole lines around the caches by AVX-512 (F, BW, DQ, VL, VBMI).
 * Contract in kernels.h, at engine_stream_lines_avx512. Memory has the more under way the fewer
 * instructions there are between loads and stores, so nothing else is done here.
 */
#ifdef __x86_64__
#include "kernels.h"
#include "square_avx512.h"

/*
 * So many lines of different columns, which may be in the same part of the last cache, are stored
 * one after the other: half of a square of bytes.
 */
#define MOST_COLUMNS	32

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

/* Column c, or what waits for its turn; beside it a line is fetched, if there is one to be. */
INLINE void put_column(uint8_t *to, int c, __m512i column, __m512i *late, const uint8_t *next)
{
	if (next)
		engine_fetch(next);
	if (c < MOST_COLUMNS)
		_mm512_stream_si512((__m512i *)to, column);
	else
		_mm512_store_si512(&late[c - MOST_COLUMNS], column);
}

/*
 * Rows of 64 bytes in groups, as in transpose_avx512.c. The last columns go to late. Beside them
 * other lines are packed, if there is a cursor.
 */
#define DEFINE_SQUARE(size, rounds)								\
INLINE void square_##size(uint8_t *to, int64_t dst_stride, const uint8_t *from,			\
			  int64_t src_stride, __m512i *late, const uint8_t *next,		\
			  struct cursor *cursor)						\
{												\
	enum { N = 16 / (size) };								\
	const uint64_t step = (uint64_t)N * (uint64_t)dst_stride;				\
	__m512i r[4 * N];									\
												\
	UNROLL											\
	for (int k = 0; k < 4 * N; k++) {							\
		r[k] = _mm512_load_si512(from);							\
		ADVANCE(from, src_stride);							\
	}											\
	UNROLL											\
	for (int group = 0; group < 4 * N; group += N) {					\
		UNROLL										\
		for (int round = 0; round < (rounds); round++)					\
			round_##size(r + group, N);						\
	}											\
	UNROLL											\
	for (int k = 0; k < N; k++) {								\
		transpose_lanes(&r[k], &r[N + k], &r[2 * N + k], &r[3 * N + k]);		\
		if (cursor)									\
			pack_lines(cursor);							\
		UNROLL										\
		for (int lane = 0; lane < 4; lane++)						\
			put_column(BEYOND(to, (uint64_t)lane * step), lane * N + k,		\
				   r[lane * N + k], late,					\
				   next ? next + (4 * k + lane) * 64 : NULL);			\
		ADVANCE(to, dst_stride);							\
	}											\
}

DEFINE_SQUARE(1, 4)
DEFINE_SQUARE(2, 3)
DEFINE_SQUARE(4, 2)
DEFINE_SQUARE(8, 1)
DEFINE_SQUARE(16, 0)

/* What waits of a square. */
INLINE void stream_late(uint8_t *to, int64_t dst_stride, const __m512i *late)
{
	for (int k = 0; k < MOST_COLUMNS; k++) {
		_mm512_stream_si512((__m512i *)to, late[k]);
		ADVANCE(to, dst_stride);
	}
}

/*
 * With squares of bytes, the first columns of several, one below the other, are stored before the
 * last ones: lines of the same column go to parts of the last cache that are different.
 */
#define DEFINE_STREAM(size)									\
INLINE void stream_tile_##size(uint8_t *dst, const uint8_t *src,				\
			       const struct engine_tile *tile, struct cursor *cursor)		\
{												\
	enum { SIDE = 64 / (size), COUNT = SIDE > MOST_COLUMNS ? 4 : 1 };			\
	const int64_t dst_stride = tile->dst_strides[0], src_stride = tile->src_strides[1];	\
	__m512i late[COUNT][MOST_COLUMNS];							\
												\
	for (int64_t r = 0; r < tile->extents[1]; r += COUNT * SIDE) {				\
		const int64_t squares = min(COUNT, (tile->extents[1] - r) / SIDE);		\
												\
		for (int64_t c = 0; c < tile->extents[0]; c += SIDE) {				\
			uint8_t *to = dst + c * dst_stride + r * (size);			\
			const uint8_t *from = src + r * src_stride + c * (size);		\
												\
			for (int64_t k = 0; k < squares; k++) {					\
				if (tile->ahead)						\
					engine_fetch_after(from, src_stride, SIDE,		\
							   tile->ahead);		\
				square_##size(to + k * 64, dst_stride, from, src_stride,	\
					      late[k], NULL, cursor);				\
				from += SIDE * src_stride;					\
			}									\
			for (int64_t k = 0; k < squares && COUNT > 1; k++)			\
				stream_late(to + MOST_COLUMNS * dst_stride + k * 64,		\
					    dst_stride, late[k]);				\
		}										\
	}											\
}												\
												\
TARGET static void stream_##size(uint8_t *dst, const uint8_t *src,				\
				 const struct engine_tile *tile)				\
{												\
	stream_tile_##size(dst, src, tile, NULL);						\
}

DEFINE_STREAM(1)
DEFINE_STREAM(2)
DEFINE_STREAM(4)
DEFINE_STREAM(8)
DEFINE_STREAM(16)

engine_tile_kernel *const engine_stream_lines_avx512[] = {
	stream_1, stream_2, stream_4, stream_8, stream_16,
};

/*
 * Where rows of bytes have been packed, those of the next block are: both are loaded and stored
 * between streaming stores, which hold up what comes in bursts.
 */
TARGET __attribute__((nonnull))
void engine_stream_packing_1_avx512(uint8_t *dst, const uint8_t *src,
				    const struct engine_tile *tile,
				    const struct engine_packing *packing)
{
	struct cursor cursor = { *packing, packing->row_bytes };

	stream_tile_1(dst, src, tile, &cursor);
}

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
				      src + r * src_stride + c * (size), src_stride, NULL,	\
				      next, NULL);						\
			next += SIDE * 64;							\
		}										\
	}											\
}

DEFINE_STREAM_BESIDE(4)
DEFINE_STREAM_BESIDE(8)
DEFINE_STREAM_BESIDE(16)

#endif /* __x86_64__ */
