// SPDX-License-Identifier: MIT
/*
 * Transposes and interleaves by AVX-512 with byte permutes (F, BW, DQ, VL, VBMI). Contract in
 * kernels.h. Squares are transposed in registers: rounds of unpacking within lanes of 16 bytes,
 * then lanes are transposed among each other. At the edges, masks keep to the elements of the tile.
 */
#ifdef __x86_64__
#include <immintrin.h>
#include <stddef.h>

#include "kernels.h"

#define TARGET	__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi2")))
#define INLINE	TARGET static inline __attribute__((always_inline))
#define UNROLL	_Pragma("GCC unroll 64")

INLINE int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

INLINE __mmask64 mask_of(int64_t bytes)
{
	return _bzhi_u64(~0ull, (uint32_t)least(bytes, 64));
}

/* A square: elements of so many rows of the source, which become columns of the destination. */
struct square {
	uint8_t *dst;
	int64_t dst_stride;
	const uint8_t *src;
	int64_t src_stride;
	const int64_t *places;	/* of rows that are not a stride apart, else NULL */
	int64_t num_rows;
	int64_t num_columns;
};

/* What is known of a square when it is compiled. */
enum extent {
	WHOLE,		/* it has all of its rows and columns */
	HIGH,		/* it has all of its rows */
	PARTIAL,	/* some of both at least */
};

/* A place so many bytes further on, which need not be one of a row: wide strides have no next. */
#define BEYOND(place, bytes)	((void *)((uintptr_t)(place) + (uintptr_t)(bytes)))

/* A place that goes from row to row. Kept from compilers, which would hold an address for each. */
#define ADVANCE(place, stride) do {								\
	(place) = BEYOND(place, stride);							\
	__asm__("" : "+r" (place));								\
} while (0)

/* Rows from first on, the first of which is at row if they have no places of their own. */
INLINE void load_rows(__m512i *rows, int first, int count, const struct square *square,
		      const uint8_t *row, enum extent extent, __mmask64 mask)
{
	UNROLL
	for (int k = 0; k < count; k++) {
		bool is_there = extent != PARTIAL || square->num_rows > first + k;

		if (square->places && is_there)
			row = BEYOND(square->src, square->places[first + k]);
		if (extent == WHOLE)
			rows[k] = _mm512_loadu_si512(row);
		else if (is_there)
			rows[k] = _mm512_maskz_loadu_epi8(mask, row);
		else
			rows[k] = _mm512_setzero_si512();
		ADVANCE(row, square->src_stride);
	}
}

INLINE void store_column(uint8_t *to, __m512i column, enum extent extent, bool streams,
			 __mmask64 mask)
{
	if (extent == PARTIAL)
		_mm512_mask_storeu_epi8(to, mask, column);
	else if (streams)
		_mm512_stream_si512((__m512i *)to, column);
	else
		_mm512_storeu_si512(to, column);
}

/*
 * Interleaves the first half of count registers with the second, within lanes. log2(count) rounds
 * transpose lanes of count elements.
 */
#define DEFINE_ROUND(size, bits)								\
INLINE void round_##size(__m512i *registers, int count)					\
{												\
	__m512i mixed[16];									\
												\
	UNROLL											\
	for (int k = 0; k < count / 2; k++) {							\
		mixed[2 * k] = _mm512_unpacklo_epi##bits(registers[k],				\
							 registers[k + count / 2]);		\
		mixed[2 * k + 1] = _mm512_unpackhi_epi##bits(registers[k],			\
							     registers[k + count / 2]);		\
	}											\
	UNROLL											\
	for (int k = 0; k < count; k++)								\
		registers[k] = mixed[k];							\
}

DEFINE_ROUND(1, 8)
DEFINE_ROUND(2, 16)
DEFINE_ROUND(4, 32)
DEFINE_ROUND(8, 64)

/* Elements as large as a lane are in their places. */
INLINE void round_16(__m512i *registers, int count)
{
	(void)registers;
	(void)count;
}

/* Lane l of register k becomes lane k of register l. */
INLINE void transpose_lanes(__m512i *a, __m512i *b, __m512i *c, __m512i *d)
{
	__m512i ab01 = _mm512_shuffle_i64x2(*a, *b, 0x44);
	__m512i ab23 = _mm512_shuffle_i64x2(*a, *b, 0xee);
	__m512i cd01 = _mm512_shuffle_i64x2(*c, *d, 0x44);
	__m512i cd23 = _mm512_shuffle_i64x2(*c, *d, 0xee);

	*a = _mm512_shuffle_i64x2(ab01, cd01, 0x88);
	*b = _mm512_shuffle_i64x2(ab01, cd01, 0xdd);
	*c = _mm512_shuffle_i64x2(ab23, cd23, 0x88);
	*d = _mm512_shuffle_i64x2(ab23, cd23, 0xdd);
}

/* Columns k, n + k, 2 * n + k and 3 * n + k, of which registers k of four groups have 16 bytes. */
INLINE void store_columns(__m512i *registers, int k, int n, const struct square *square,
			  uint8_t *to, enum extent extent, bool streams, __mmask64 mask)
{
	const uint64_t step = (uint64_t)n * (uint64_t)square->dst_stride;
	__m512i *a = &registers[k], *b = a + n, *c = b + n, *d = c + n;

	transpose_lanes(a, b, c, d);
	store_column(to, *a, extent, streams, mask);
	if (extent == WHOLE || square->num_columns > n + k)
		store_column(BEYOND(to, step), *b, extent, streams, mask);
	if (extent == WHOLE || square->num_columns > 2 * n + k)
		store_column(BEYOND(to, 2 * step), *c, extent, streams, mask);
	if (extent == WHOLE || square->num_columns > 3 * n + k)
		store_column(BEYOND(to, 3 * step), *d, extent, streams, mask);
}

/*
 * A square has rows of 64 bytes, in four groups of n rows, so many as there are elements in a lane.
 * In each group lanes are transposed, so that lane l of register k is column l * n + k; what the
 * groups have of a column is brought together when it is stored.
 */
#define DEFINE_SQUARE(size, rounds)								\
INLINE void square_##size(const struct square *square, enum extent extent, bool streams)	\
{												\
	enum { N = 16 / (size) };								\
	const __mmask64 columns = mask_of(square->num_columns * (size));			\
	const __mmask64 rows = mask_of(square->num_rows * (size));				\
	const uint8_t *from = square->src;							\
	uint8_t *to = square->dst;								\
	__m512i r[4 * N];									\
												\
	UNROLL											\
	for (int group = 0; group < 4 * N; group += N) {					\
		load_rows(r + group, group, N, square, from, extent, columns);			\
		from = BEYOND(from, N * square->src_stride);					\
		if (extent == PARTIAL && square->num_rows <= group)				\
			continue;								\
		UNROLL										\
		for (int round = 0; round < (rounds); round++)					\
			round_##size(r + group, N);						\
	}											\
	UNROLL											\
	for (int k = 0; k < N; k++) {								\
		if (extent != WHOLE && square->num_columns <= k)				\
			return;									\
		store_columns(r, k, N, square, to, extent, streams, rows);			\
		ADVANCE(to, square->dst_stride);						\
	}											\
}

DEFINE_SQUARE(1, 4)
DEFINE_SQUARE(2, 3)
DEFINE_SQUARE(4, 2)
DEFINE_SQUARE(8, 1)
DEFINE_SQUARE(16, 0)

INLINE void fetch_rows(const uint8_t *row, int64_t stride, int count)
{
	UNROLL
	for (int k = 0; k < count; k++) {
		_mm_prefetch(row, _MM_HINT_T0);
		ADVANCE(row, stride);
	}
}

INLINE struct square square_at(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,
			       int64_t column, int64_t row, int64_t size)
{
	return (struct square){
		.dst = dst + column * tile->dst_strides[0] + row * size,
		.dst_stride = tile->dst_strides[0],
		.src = src + column * size + row * tile->src_strides[1],
		.src_stride = tile->src_strides[1],
		.num_rows = tile->extents[1] - row,
		.num_columns = tile->extents[0] - column,
	};
}

/*
 * Down the rows of a strip of the source, so that the destination is written along its lines; what
 * is streamed, along a few rows of the source: the CPU follows no more of them. A function of its
 * own for each extent that is rare: they need many registers.
 */
#define DEFINE_TRANSPOSE(size)									\
TARGET static void high_##size(const struct square *square)					\
{												\
	square_##size(square, HIGH, false);							\
}												\
												\
TARGET static void streamed_high_##size(const struct square *square)				\
{												\
	square_##size(square, HIGH, true);							\
}												\
												\
TARGET static void partial_##size(const struct square *square)					\
{												\
	square_##size(square, PARTIAL, false);							\
}												\
												\
INLINE void transpose_by_##size(uint8_t *dst, const uint8_t *src,				\
				const struct engine_tile *tile, int64_t c, int64_t r,		\
				bool streams)							\
{												\
	enum { SIDE = 64 / (size) };								\
	struct square square = square_at(dst, src, tile, c, r, size);				\
												\
	if (square.num_rows < SIDE) {								\
		partial_##size(&square);							\
		return;										\
	}											\
	if (square.num_columns < SIDE) {							\
		(streams ? streamed_high_##size : high_##size)(&square);			\
		return;										\
	}											\
	if (tile->ahead)									\
		fetch_rows(BEYOND(square.src, tile->ahead), square.src_stride, SIDE);		\
	square_##size(&square, WHOLE, streams);							\
}												\
												\
TARGET static void transpose_##size(uint8_t *dst, const uint8_t *src,				\
				    const struct engine_tile *tile)				\
{												\
	for (int64_t c = 0; c < tile->extents[0]; c += 64 / (size))				\
		for (int64_t r = 0; r < tile->extents[1]; r += 64 / (size))			\
			transpose_by_##size(dst, src, tile, c, r, false);			\
}												\
												\
TARGET static void stream_transpose_##size(uint8_t *dst, const uint8_t *src,			\
					   const struct engine_tile *tile)			\
{												\
	for (int64_t r = 0; r < tile->extents[1]; r += 64 / (size))				\
		for (int64_t c = 0; c < tile->extents[0]; c += 64 / (size))			\
			transpose_by_##size(dst, src, tile, c, r, true);			\
}

DEFINE_TRANSPOSE(1)
DEFINE_TRANSPOSE(2)
DEFINE_TRANSPOSE(4)
DEFINE_TRANSPOSE(8)
DEFINE_TRANSPOSE(16)

INLINE void fetch_places(const struct square *square, int64_t ahead, int count)
{
	UNROLL
	for (int k = 0; k < count; k++)
		_mm_prefetch(BEYOND(square->src, square->places[k] + ahead), _MM_HINT_T0);
}

/* Rows that begin anywhere. */
#define DEFINE_TRANSPOSE_ROWS(size)								\
TARGET static void transpose_rows_##size(uint8_t *dst, const uint8_t *src,			\
					 const int64_t *places, const struct engine_tile *tile)	\
{												\
	enum { SIDE = 64 / (size) };								\
												\
	for (int64_t c = 0; c < tile->extents[0]; c += SIDE) {					\
		for (int64_t r = 0; r < tile->extents[1]; r += SIDE) {				\
			struct square square = square_at(dst, src, tile, c, 0, size);		\
												\
			square.dst += r * (size);						\
			square.num_rows -= r;							\
			square.places = places + r;						\
			if (square.num_rows < SIDE) {						\
				partial_##size(&square);					\
				continue;							\
			}									\
			if (square.num_columns < SIDE) {					\
				high_##size(&square);						\
				continue;							\
			}									\
			if (tile->ahead)							\
				fetch_places(&square, tile->ahead, SIDE);			\
			square_##size(&square, WHOLE, false);					\
		}										\
	}											\
}

DEFINE_TRANSPOSE_ROWS(1)
DEFINE_TRANSPOSE_ROWS(2)
DEFINE_TRANSPOSE_ROWS(4)
DEFINE_TRANSPOSE_ROWS(8)

/* A column of elements of half a line: two of them at a time. */
INLINE void transpose_column_32(uint8_t *to, const uint8_t *from, const struct engine_tile *tile,
				bool streams)
{
	const int64_t stride = tile->src_strides[1];
	int64_t r = 0;

	for (; r + 1 < tile->extents[1]; r += 2) {
		__m256i first = _mm256_loadu_si256((const __m256i *)(from + r * stride));
		__m256i second = _mm256_loadu_si256((const __m256i *)(from + (r + 1) * stride));

		store_column(to + r * 32, _mm512_inserti64x4(_mm512_castsi256_si512(first),
							     second, 1), WHOLE, streams, 0);
	}
	if (r < tile->extents[1])
		_mm256_storeu_si256((__m256i *)(to + r * 32),
				    _mm256_loadu_si256((const __m256i *)(from + r * stride)));
}

/* Of lines. */
INLINE void transpose_column_64(uint8_t *to, const uint8_t *from, const struct engine_tile *tile,
				bool streams)
{
	for (int64_t r = 0; r < tile->extents[1]; r++)
		store_column(to + r * 64, _mm512_loadu_si512(from + r * tile->src_strides[1]),
			     WHOLE, streams, 0);
}

#define DEFINE_WIDE_TRANSPOSE(name, size, streams)						\
TARGET static void name##_##size(uint8_t *dst, const uint8_t *src,				\
				 const struct engine_tile *tile)				\
{												\
	for (int64_t c = 0; c < tile->extents[0]; c++)						\
		transpose_column_##size(dst + c * tile->dst_strides[0], src + c * (size), tile,	\
					streams);						\
}

DEFINE_WIDE_TRANSPOSE(transpose, 32, false)
DEFINE_WIDE_TRANSPOSE(transpose, 64, false)
DEFINE_WIDE_TRANSPOSE(stream_transpose, 32, true)
DEFINE_WIDE_TRANSPOSE(stream_transpose, 64, true)

/* The same, but for the shapes that have kernels of their own. */
#define DEFINE_MATCH(size, shift)								\
static void match_##size(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile)	\
{												\
	engine_tile_kernel *kernel = transpose_##size;						\
												\
	if (engine_is_deinterleave(tile, size))							\
		kernel = engine_deinterleave_avx512[shift];					\
	else if (engine_is_interleave(tile, size))						\
		kernel = engine_interleave_avx512[shift];					\
	kernel(dst, src, tile);									\
}

DEFINE_MATCH(1, 0)
DEFINE_MATCH(2, 1)
DEFINE_MATCH(4, 2)
DEFINE_MATCH(8, 3)

TARGET static void stream_lines(uint8_t *dst, const uint8_t *src, int64_t bytes)
{
	for (int64_t k = 0; k < bytes; k += 64)
		_mm512_stream_si512((__m512i *)(dst + k), _mm512_loadu_si512(src + k));
}

TARGET static void stream_piece(uint8_t *dst, const uint8_t *src, int64_t bytes, uint8_t *line,
				int64_t filled)
{
	__m512i next = _mm512_mask_loadu_epi8(_mm512_loadu_si512(line), ~0ull << filled,
					      src - filled);

	src += 64 - filled;
	for (bytes += filled; bytes >= 64; bytes -= 64) {
		_mm512_stream_si512((__m512i *)dst, next);
		next = _mm512_loadu_si512(src);
		dst += 64;
		src += 64;
	}
	_mm512_storeu_si512(line, next);
}

const struct engine_transpose_kernels engine_transpose_avx512 = {
	.transpose = {
		match_1, match_2, match_4, match_8, transpose_16, transpose_32,
		transpose_64,
	},
	.stream_transpose = {
		stream_transpose_1, stream_transpose_2, stream_transpose_4, stream_transpose_8,
		stream_transpose_16, stream_transpose_32, stream_transpose_64,
	},
	.transpose_rows = {
		transpose_rows_1, transpose_rows_2, transpose_rows_4, transpose_rows_8, NULL, NULL,
		NULL,
	},
	.stream_lines = stream_lines,
	.stream_piece = stream_piece,
};

#endif /* __x86_64__ */
