// SPDX-License-Identifier: MIT
/*
 * Transposes by lanes of 16 bytes, with AVX-512 (F, BW, DQ, VL, VBMI). Contract in kernels.h. What
 * a column has of a line comes from as many rows, 16 bytes of each of which are loaded into a lane:
 * rounds of unpacking make them lines of as many columns as there are elements in a lane.
 */
#ifdef __x86_64__
#include <stddef.h>

#include "ahead.h"
#include "kernels.h"
#include "line_avx512.h"
#include "square_avx512.h"

/* 16 bytes of so many rows four times, the first ones in the first lanes. */
INLINE void load_rows(__m512i *rows, int count, const uint8_t *src, int64_t stride)
{
	UNROLL
	for (int k = 0; k < count; k++) {
		const __m128i *first = (const __m128i *)src;
		const __m128i *second = BEYOND(src, count * stride);
		const __m128i *third = BEYOND(src, 2 * count * stride);
		const __m128i *fourth = BEYOND(src, 3 * count * stride);

		rows[k] = _mm512_zextsi128_si512(_mm_loadu_si128(first));
		rows[k] = _mm512_mask_broadcast_i32x4(rows[k], 0x00f0, _mm_loadu_si128(second));
		rows[k] = _mm512_mask_broadcast_i32x4(rows[k], 0x0f00, _mm_loadu_si128(third));
		rows[k] = _mm512_mask_broadcast_i32x4(rows[k], 0xf000, _mm_loadu_si128(fourth));
		ADVANCE(src, stride);
	}
}

INLINE void fetch_line(struct engine_ahead *ahead)
{
	const uint8_t *line = engine_ahead_take(ahead, 64);

	if (line)
		engine_fetch(line);
}

/*
 * So many columns of packed rows, no more than a lane has elements, down all rows. What waits is in
 * registers meanwhile, unless rows need most of them. Each column's lines are stored two at a time,
 * for there are CPUs that store lines by pairs. Beside each another one is fetched, if any are to
 * be.
 */
#define DEFINE_JOIN_PACKED(size, rounds)							\
INLINE void join_lines_##size(uint8_t *to, int64_t dst_stride, const uint8_t *from,		\
			      int64_t src_stride, __m512i *lines, int columns, int count,	\
			      int64_t bytes, struct engine_ahead *ahead)			\
{												\
	enum { N = 16 / (size), SIDE = 64 / (size) };						\
	__m512i r[2][N];									\
												\
	UNROLL											\
	for (int l = 0; l < count; l++) {							\
		load_rows(r[l], N, BEYOND(from, l * SIDE * src_stride), src_stride);		\
		UNROLL										\
		for (int round = 0; round < (rounds); round++)					\
			round_##size(r[l], N);							\
	}											\
	UNROLL											\
	for (int k = 0; k < N && k < columns; k++) {						\
		UNROLL										\
		for (int l = 0; l < count; l++) {						\
			if (ahead)								\
				fetch_line(ahead);						\
			join_column(to + l * 64, r[l][k], &lines[k], bytes);			\
		}										\
		ADVANCE(to, dst_stride);							\
	}											\
}												\
												\
INLINE void join_columns_##size(uint8_t *to, const uint8_t *from, __m512i *waiting,		\
				const struct engine_tile *tile, int columns,			\
				struct engine_ahead *ahead)					\
{												\
	enum { N = 16 / (size), SIDE = 64 / (size), HOLDS = N <= 8 };				\
	const int64_t dst_stride = tile->dst_strides[0], src_stride = tile->src_strides[1];	\
	int64_t rows = tile->extents[1];							\
	__m512i held[N], *lines = HOLDS ? held : waiting;					\
												\
	UNROLL											\
	for (int k = 0; HOLDS && k < N; k++)							\
		held[k] = waiting[k < columns ? k : 0];						\
	for (; rows >= 2 * SIDE; rows -= 2 * SIDE) {						\
		join_lines_##size(to, dst_stride, from, src_stride, lines, columns, 2, 64,	\
				  ahead);							\
		ADVANCE(from, 2 * SIDE * src_stride);						\
		to += 2 * 64;									\
	}											\
	for (; rows > 0; rows -= SIDE) {							\
		join_lines_##size(to, dst_stride, from, src_stride, lines, columns, 1,		\
				  min(rows * (size), 64), ahead);				\
		ADVANCE(from, SIDE * src_stride);						\
		to += 64;									\
	}											\
	UNROLL											\
	for (int k = 0; HOLDS && k < N && k < columns; k++)					\
		waiting[k] = held[k];								\
}												\
												\
INLINE void join_packed_##size(uint8_t *dst, const uint8_t *src, __m512i *waiting,		\
			       const struct engine_tile *tile, struct engine_ahead *ahead)	\
{												\
	enum { N = 16 / (size) };								\
	const int64_t stride = tile->dst_strides[0];						\
	int64_t c = 0;										\
												\
	for (; c + N <= tile->extents[0]; c += N)						\
		join_columns_##size(dst + c * stride, src + c * (size), waiting + c, tile, N,	\
				    ahead);							\
	if (c < tile->extents[0])								\
		join_columns_##size(dst + c * stride, src + c * (size), waiting + c, tile,	\
				    (int)(tile->extents[0] - c), ahead);			\
}												\
												\
TARGET void engine_join_packed_##size##_avx512(uint8_t *dst, const uint8_t *src,		\
					       uint8_t (*lines)[64],				\
					       const struct engine_tile *tile,			\
					       const struct engine_ahead *ahead)		\
{												\
	__m512i *waiting = (__m512i *)lines;							\
	struct engine_ahead rows;								\
												\
	if (!ahead) {										\
		join_packed_##size(dst, src, waiting, tile, NULL);				\
		return;										\
	}											\
	rows = *ahead;										\
	join_packed_##size(dst, src, waiting, tile, &rows);					\
}

DEFINE_JOIN_PACKED(1, 4)
DEFINE_JOIN_PACKED(2, 3)

/* Line by line, as rows are loaded that are not packed. */
INLINE void pack_row(uint8_t *dst, const uint8_t *src, int64_t bytes)
{
	const int64_t before = (int64_t)((uintptr_t)src % 64);
	const int64_t end = before + bytes;
	const __m512i places = places_from(before);
	__m512i line, next;
	int64_t at = 64;

	src -= before;
	line = _mm512_maskz_loadu_epi8(~0ull << before, src);
	_Pragma("GCC unroll 4")
	for (; at + 64 <= end; at += 64) {
		next = _mm512_load_si512(src + at);
		_mm512_store_si512(dst + at - 64, _mm512_permutex2var_epi8(line, places, next));
		line = next;
	}
	next = _mm512_maskz_loadu_epi8(mask_of(max(end - at, 0)), BEYOND(src, at));
	_mm512_store_si512(dst + at - 64, _mm512_permutex2var_epi8(line, places, next));
	if (end - at > before)
		_mm512_store_si512(dst + at, _mm512_permutexvar_epi8(places, next));
}

TARGET void engine_pack_rows_avx512(uint8_t *dst, int64_t pitch, const uint8_t *src,
				    const int64_t *places, int64_t count, int64_t bytes)
{
	for (int64_t row = 0; row < count; row++)
		pack_row(dst + row * pitch, src + places[row], bytes);
}

/*
 * So many lines of as many columns as a lane has elements. All of them are loaded before one is
 * stored: a load from the place in its page that a line was just stored to waits for that.
 */
#define DEFINE_LANES(size, rounds)								\
INLINE void lines_of_columns_##size(uint8_t *to, int64_t dst_stride, const uint8_t *from,	\
				    int64_t src_stride, int64_t ahead, int num_lines)		\
{												\
	enum { N = 16 / (size), SIDE = 64 / (size) };						\
	__m512i r[16];										\
												\
	UNROLL											\
	for (int line = 0; line < num_lines; line++)						\
		engine_own_columns(to + line * 64, dst_stride, N, 64);				\
	UNROLL											\
	for (int line = 0; line < num_lines; line++) {						\
		load_rows(r + line * N, N, from, src_stride);					\
		if (ahead)									\
			engine_fetch_after(from, src_stride, SIDE, ahead);			\
		UNROLL										\
		for (int round = 0; round < (rounds); round++)					\
			round_##size(r + line * N, N);						\
		ADVANCE(from, SIDE * src_stride);						\
	}											\
	UNROLL											\
	for (int k = 0; k < N; k++) {								\
		UNROLL										\
		for (int line = 0; line < num_lines; line++)					\
			_mm512_storeu_si512(to + line * 64, r[line * N + k]);			\
		ADVANCE(to, dst_stride);							\
	}											\
}												\
												\
/* The last rows of these columns: as many as a lane has elements. */				\
INLINE void last_rows_##size(uint8_t *to, int64_t dst_stride, const uint8_t *from,		\
			     int64_t src_stride)						\
{												\
	enum { N = 16 / (size) };								\
	__m512i r[N];										\
												\
	UNROLL											\
	for (int k = 0; k < N; k++) {								\
		r[k] = _mm512_zextsi128_si512(_mm_loadu_si128((const __m128i *)from));		\
		ADVANCE(from, src_stride);							\
	}											\
	UNROLL											\
	for (int round = 0; round < (rounds); round++)						\
		round_##size(r, N);								\
	UNROLL											\
	for (int k = 0; k < N; k++) {								\
		_mm_storeu_si128((__m128i *)to, _mm512_castsi512_si128(r[k]));			\
		ADVANCE(to, dst_stride);							\
	}											\
}												\
												\
INLINE void columns_##size(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,	\
			   int64_t ahead)							\
{												\
	enum { N = 16 / (size), SIDE = 64 / (size), LINES = N < 8 ? 8 / N : 1 };		\
	const int64_t dst_stride = tile->dst_strides[0], src_stride = tile->src_strides[1];	\
	const int64_t rows = tile->extents[1], rest = rows % SIDE;				\
	const uint8_t *from = src;								\
	uint8_t *to = dst;									\
	int64_t row = 0;									\
												\
	for (; row + LINES * SIDE <= rows; row += LINES * SIDE) {				\
		lines_of_columns_##size(to, dst_stride, from, src_stride, ahead, LINES);	\
		ADVANCE(from, LINES * SIDE * src_stride);					\
		to += LINES * 64;								\
	}											\
	for (; row + SIDE <= rows; row += SIDE) {						\
		lines_of_columns_##size(to, dst_stride, from, src_stride, ahead, 1);		\
		ADVANCE(from, SIDE * src_stride);						\
		to += 64;									\
	}											\
	if (engine_is_last_one(rows - rest, rows, size))					\
		engine_copy_one(dst + (rows - 1) * (size), dst_stride,				\
				src + (rows - 1) * src_stride, size, N, size);			\
	else if (rest > N)									\
		lines_of_columns_##size(dst + (rows - SIDE) * (size), dst_stride,		\
					src + (rows - SIDE) * src_stride, src_stride, ahead,	\
					1);							\
	else if (rest)										\
		last_rows_##size(dst + (rows - N) * (size), dst_stride,				\
				 src + (rows - N) * src_stride, src_stride);			\
}												\
												\
TARGET static void lanes_##size(uint8_t *dst, const uint8_t *src,				\
				const struct engine_tile *tile)					\
{												\
	enum { N = 16 / (size), SIDE = 64 / (size) };						\
												\
	for (int64_t k = 0; k < tile->extents[0]; k += N) {					\
		const int64_t c = min(k, tile->extents[0] - N);					\
												\
		if (engine_is_last_one(k, tile->extents[0], size)) {				\
			engine_copy_one(dst + k * tile->dst_strides[0], size, src + k * (size),	\
					tile->src_strides[1], tile->extents[1], size);		\
			return;									\
		}										\
		columns_##size(dst + c * tile->dst_strides[0], src + c * (size), tile,		\
			       k % SIDE ? 0 : tile->ahead);					\
	}											\
}

DEFINE_LANES(1, 4)
DEFINE_LANES(2, 3)
DEFINE_LANES(4, 2)
DEFINE_LANES(8, 1)
DEFINE_LANES(16, 0)

engine_tile_kernel *const engine_lanes_avx512[] = { lanes_1, lanes_2, lanes_4, lanes_8, lanes_16 };

#endif /* __x86_64__ */
