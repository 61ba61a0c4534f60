// SPDX-License-Identifier: MIT
/*
 * Transposes of rows that begin anywhere, and need not have all columns, by AVX-512 with byte
 * permutes (F, BW, DQ, VL, VBMI) and BMI2. Contract in kernels.h. A row is loaded by a mask of its
 * columns, around which the fill stays.
 */
#ifdef __x86_64__
#include <string.h>

#include "kernels.h"
#include "square_avx512.h"

/* Some rows, which become columns of the destination; of both as many as a vector has elements. */
struct square {
	uint8_t *dst;
	int64_t dst_stride;
	const uint8_t *src;
	const int64_t *places;
	const uint64_t *columns;	/* or NULL */
	int64_t column;			/* the bit of the first one */
	int64_t num_rows;
	int64_t num_columns;
	bool streams;
};

/* What is the same for all squares. */
struct loading {
	int steps;			/* from column to column, in elements: 1 or 2 */
	__m512i fill;
	__m512i picks;			/* with steps of 2: bytes of two vectors */
};

/*
 * Steps of 2 take two vectors, of which the second ends with the element of the last column: what
 * is behind it may not be there.
 */
#define DEFINE_LOAD(size, bits)									\
INLINE __m512i load_whole_##size(const struct loading *loading, const uint8_t *row)		\
{												\
	__m512i first = _mm512_loadu_si512(row);						\
												\
	if (loading->steps == 1)								\
		return first;									\
	return _mm512_permutex2var_epi8(first, loading->picks,					\
					_mm512_loadu_si512(row + 64 - (size)));			\
}												\
												\
INLINE __m512i load_columns_##size(const struct loading *loading, const uint8_t *row,		\
				   uint64_t columns)						\
{												\
	const uint64_t evens = 0x5555555555555555, odds = ~evens;				\
	__m512i first, second;									\
												\
	if (loading->steps == 1)								\
		return _mm512_mask_loadu_epi##bits(loading->fill, columns, row);		\
	first = _mm512_maskz_loadu_epi##bits(_pdep_u64(columns, evens), row);			\
	second = _mm512_maskz_loadu_epi##bits(_pdep_u64(columns >> 32 / (size), odds),		\
					      BEYOND(row, 64 - (size)));			\
	return _mm512_mask_blend_epi##bits(columns, loading->fill,				\
		_mm512_permutex2var_epi8(first, loading->picks, second));			\
}

DEFINE_LOAD(1, 8)
DEFINE_LOAD(2, 16)
DEFINE_LOAD(4, 32)
DEFINE_LOAD(8, 64)

INLINE void store_column(const struct square *square, uint8_t *to, __m512i column, bool is_whole,
			 uint64_t bytes)
{
	if (!is_whole && ~bytes)
		_mm512_mask_storeu_epi8(to, bytes, column);
	else if (square->streams)
		_mm512_stream_si512((__m512i *)to, column);
	else
		_mm512_storeu_si512(to, column);
}

/* Columns k, n + k, 2 * n + k and 3 * n + k, of which registers k of four groups have 16 bytes. */
INLINE void store_columns(const struct square *square, __m512i *registers, int k, int n,
			  uint8_t *to, bool is_whole, uint64_t bytes)
{
	const int64_t step = n * square->dst_stride;
	__m512i *a = &registers[k], *b = a + n, *c = b + n, *d = c + n;

	transpose_lanes(a, b, c, d);
	store_column(square, to, *a, is_whole, bytes);
	if (is_whole || square->num_columns > n + k)
		store_column(square, BEYOND(to, step), *b, is_whole, bytes);
	if (is_whole || square->num_columns > 2 * n + k)
		store_column(square, BEYOND(to, 2 * step), *c, is_whole, bytes);
	if (is_whole || square->num_columns > 3 * n + k)
		store_column(square, BEYOND(to, 3 * step), *d, is_whole, bytes);
}

/*
 * Rows are in four groups of n, as many as there are elements in a lane. In each group lanes are
 * transposed, so that lane l of register k is column l * n + k; what the groups have of a column
 * is brought together when it is stored.
 */
#define DEFINE_SQUARE(size, rounds)								\
INLINE __m512i load_row_##size(const struct square *square, const struct loading *loading,	\
			       int k, bool is_whole)						\
{												\
	uint64_t columns = _bzhi_u64(~0ull, (uint32_t)min(square->num_columns, 64));		\
												\
	if (is_whole)										\
		return load_whole_##size(loading, BEYOND(square->src, square->places[k]));	\
	if (square->num_rows <= k)								\
		return _mm512_setzero_si512();							\
	if (square->columns)									\
		columns = square->columns[k] >> square->column;					\
	return load_columns_##size(loading, BEYOND(square->src, square->places[k]), columns);	\
}												\
												\
INLINE void square_##size(const struct square *square, const struct loading *loading,		\
			  bool is_whole)							\
{												\
	enum { N = 16 / (size) };								\
	const uint32_t row_bytes = (uint32_t)min(square->num_rows * (size), 64);		\
	const uint64_t bytes = _bzhi_u64(~0ull, row_bytes);					\
	uint8_t *to = square->dst;								\
	__m512i r[4 * N];									\
												\
	UNROLL											\
	for (int group = 0; group < 4 * N; group += N) {					\
		UNROLL										\
		for (int k = group; k < group + N; k++)						\
			r[k] = load_row_##size(square, loading, k, is_whole);			\
		UNROLL										\
		for (int round = 0; round < (rounds); round++)					\
			round_##size(r + group, N);						\
	}											\
	UNROLL											\
	for (int k = 0; k < N; k++) {								\
		if (!is_whole && square->num_columns <= k)					\
			return;									\
		store_columns(square, r, k, N, to, is_whole, bytes);				\
		ADVANCE(to, square->dst_stride);						\
	}											\
}

DEFINE_SQUARE(1, 4)
DEFINE_SQUARE(2, 3)
DEFINE_SQUARE(4, 2)
DEFINE_SQUARE(8, 1)

INLINE void fetch_rows(const struct square *square, int steps, int64_t ahead, int count)
{
	UNROLL
	for (int k = 0; k < count; k++)
		for (int v = 0; v < steps; v++)
			engine_fetch(BEYOND(square->src, square->places[k] + ahead + v * 64));
}

/* Every other element of two vectors, the second of which begins with the last of the first. */
INLINE __m512i pick_others(int size)
{
	uint8_t bytes[64];

	for (int b = 0; b < 64; b++)
		bytes[b] = (uint8_t)(b / size * 2 * size + b % size + (b < 32 ? 0 : size));
	return _mm512_loadu_si512(bytes);
}

/* Squares at edges need many registers, and have a function of their own. */
#define DEFINE_TRANSPOSE_ROWS(size, bits, type)							\
TARGET static void edge_##size(const struct square *square, const struct loading *loading)	\
{												\
	square_##size(square, loading, false);							\
}												\
												\
INLINE void transpose_by_##size(uint8_t *dst, const uint8_t *src,				\
				const struct engine_rows *rows, const struct engine_tile *tile,	\
				int steps)							\
{												\
	enum { SIDE = 64 / (size) };								\
	struct loading loading = { .steps = steps };						\
	type fill;										\
												\
	memcpy(&fill, rows->fill, size);							\
	loading.fill = _mm512_set1_epi##bits(fill);						\
	if (steps > 1)										\
		loading.picks = pick_others(size);						\
	for (int64_t c = 0; c < tile->extents[0]; c += SIDE)					\
		for (int64_t r = 0; r < tile->extents[1]; r += SIDE) {				\
			const struct square square = {						\
				.dst = dst + c * tile->dst_strides[0] + r * (size),		\
				.dst_stride = tile->dst_strides[0],				\
				.src = BEYOND(src, c * steps * (size)),				\
				.places = rows->places + r,					\
				.columns = rows->columns ? rows->columns + r : NULL,		\
				.column = c,							\
				.num_rows = tile->extents[1] - r,				\
				.num_columns = tile->extents[0] - c,				\
				.streams = rows->streams,					\
			};									\
												\
			if (tile->ahead && square.num_rows >= SIDE)				\
				fetch_rows(&square, steps, tile->ahead, SIDE);			\
			if (square.columns || square.num_rows < SIDE ||				\
			    square.num_columns < SIDE)						\
				edge_##size(&square, &loading);					\
			else									\
				square_##size(&square, &loading, true);				\
		}										\
}												\
												\
TARGET static void transpose_rows_##size(uint8_t *dst, const uint8_t *src,			\
					 const struct engine_rows *rows,			\
					 const struct engine_tile *tile)			\
{												\
	if (tile->src_strides[0] == (size))							\
		transpose_by_##size(dst, src, rows, tile, 1);					\
	else											\
		transpose_by_##size(dst, src, rows, tile, 2);					\
}

DEFINE_TRANSPOSE_ROWS(1, 8, char)
DEFINE_TRANSPOSE_ROWS(2, 16, short)
DEFINE_TRANSPOSE_ROWS(4, 32, int)
DEFINE_TRANSPOSE_ROWS(8, 64, long long)

engine_rows_kernel *const engine_rows_avx512[ENGINE_NUM_INTERLEAVED] = {
	transpose_rows_1, transpose_rows_2, transpose_rows_4, transpose_rows_8,
};

#endif /* __x86_64__ */
