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

/* Some rows, which become columns of the destination. */
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

/* Two rows, in a half of the register each. Steps of 2 end with the element of the last column. */
#define DEFINE_LOAD(size, bits)									\
INLINE __m512i load_whole_##size(const struct loading *loading, const uint8_t *first,		\
				 const uint8_t *second)						\
{												\
	const uint64_t used = ~0ull >> (65 - 64 / (size));					\
	__m256i low, high;									\
												\
	if (loading->steps == 2)								\
		return _mm512_permutex2var_epi8(_mm512_maskz_loadu_epi##bits(used, first),	\
						loading->picks,					\
						_mm512_maskz_loadu_epi##bits(used, second));	\
	low = _mm256_loadu_si256((const __m256i *)first);					\
	high = _mm256_loadu_si256((const __m256i *)second);					\
	return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);			\
}												\
												\
/* By bit: columns of the first row, and those of the second one. */				\
INLINE __m512i load_columns_##size(const struct loading *loading, const uint8_t *first,		\
				   const uint8_t *second, uint64_t columns,			\
				   uint64_t others)						\
{												\
	const uint64_t evens = 0x5555555555555555, high = others << 32 / (size);		\
	__m512i low;										\
												\
	if (loading->steps == 1) {								\
		low = _mm512_mask_loadu_epi##bits(loading->fill, columns, first);		\
		return _mm512_mask_loadu_epi##bits(low, high, BEYOND(second, -32));		\
	}											\
	low = _mm512_permutex2var_epi8(								\
		_mm512_maskz_loadu_epi##bits(_pdep_u64(columns, evens), first), loading->picks,	\
		_mm512_maskz_loadu_epi##bits(_pdep_u64(others, evens), second));		\
	return _mm512_mask_blend_epi##bits(columns | high, loading->fill, low);			\
}

DEFINE_LOAD(1, 8)
DEFINE_LOAD(2, 16)
DEFINE_LOAD(4, 32)
DEFINE_LOAD(8, 64)

/* Where a row is that the square has. */
INLINE const uint8_t *row_at(const struct square *square, int k)
{
	return BEYOND(square->src, square->places[k]);
}

/* Which columns there are of a row, of so many at the most. */
INLINE uint64_t columns_of(const struct square *square, int k, int most)
{
	const uint64_t columns = square->columns ? square->columns[k] >> square->column : ~0ull;

	return _bzhi_u64(columns, (uint32_t)min(square->num_columns, most));
}

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

/*
 * As many rows as a vector has elements, and half as many columns: fewer rows of the destination
 * have a line under way, which matters where these are some power of two apart. Rows are in four
 * groups of n, as many as there are elements in a lane, two groups to a register. In each group
 * lanes are transposed, so that register k has columns k and n + k of two groups; what both pairs
 * of groups have of a column is brought together when it is stored.
 */
#define DEFINE_SQUARE(size, rounds)								\
INLINE __m512i load_pair_##size(const struct square *square, const struct loading *loading,	\
				int k, bool is_whole)						\
{												\
	enum { N = 16 / (size) };								\
	const uint8_t *first = square->src, *second = square->src;				\
	uint64_t columns = 0, others = 0;							\
												\
	if (is_whole)										\
		return load_whole_##size(loading, row_at(square, k), row_at(square, N + k));	\
	if (k < square->num_rows) {								\
		first = row_at(square, k);							\
		columns = columns_of(square, k, 2 * N);						\
	}											\
	if (N + k < square->num_rows) {								\
		second = row_at(square, N + k);							\
		others = columns_of(square, N + k, 2 * N);					\
	}											\
	return load_columns_##size(loading, first, second, columns, others);			\
}												\
												\
INLINE void square_##size(const struct square *square, const struct loading *loading,		\
			  bool is_whole)							\
{												\
	enum { N = 16 / (size) };								\
	const uint32_t row_bytes = (uint32_t)min(square->num_rows * (size), 64);		\
	const uint64_t bytes = _bzhi_u64(~0ull, row_bytes);					\
	const int64_t step = N * square->dst_stride;						\
	uint8_t *to = square->dst;								\
	__m512i a[N], b[N];									\
												\
	UNROLL											\
	for (int k = 0; k < N; k++)								\
		a[k] = load_pair_##size(square, loading, k, is_whole);				\
	UNROLL											\
	for (int k = 0; k < N; k++)								\
		b[k] = load_pair_##size(square, loading, 2 * N + k, is_whole);			\
	UNROLL											\
	for (int round = 0; round < (rounds); round++) {					\
		round_##size(a, N);								\
		round_##size(b, N);								\
	}											\
	UNROLL											\
	for (int k = 0; k < N; k++) {								\
		if (!is_whole && square->num_columns <= k)					\
			return;									\
		store_column(square, to, _mm512_shuffle_i64x2(a[k], b[k], 0x88), is_whole,	\
			     bytes);								\
		if (is_whole || square->num_columns > N + k)					\
			store_column(square, BEYOND(to, step),					\
				     _mm512_shuffle_i64x2(a[k], b[k], 0xdd), is_whole, bytes);	\
		ADVANCE(to, square->dst_stride);						\
	}											\
}

DEFINE_SQUARE(1, 4)
DEFINE_SQUARE(2, 3)
DEFINE_SQUARE(4, 2)
DEFINE_SQUARE(8, 1)

INLINE void fetch_rows(const struct square *square, int64_t ahead, int count)
{
	UNROLL
	for (int k = 0; k < count; k++)
		engine_fetch(BEYOND(square->src, square->places[k] + ahead));
}

/* Every other element of two vectors. */
INLINE __m512i pick_others(int size)
{
	uint8_t bytes[64];

	for (int b = 0; b < 64; b++)
		bytes[b] = (uint8_t)(b / 32 * 64 + b % 32 / size * 2 * size + b % size);
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
	enum { ROWS = 64 / (size), COLUMNS = 32 / (size) };					\
	struct loading loading = { .steps = steps };						\
	type fill;										\
												\
	memcpy(&fill, rows->fill, size);							\
	loading.fill = _mm512_set1_epi##bits(fill);						\
	if (steps > 1)										\
		loading.picks = pick_others(size);						\
	for (int64_t c = 0; c < tile->extents[0]; c += COLUMNS)				\
		for (int64_t r = 0; r < tile->extents[1]; r += ROWS) {				\
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
			if (tile->ahead && square.num_rows >= ROWS)				\
				fetch_rows(&square, tile->ahead, ROWS);				\
			if (square.columns || square.num_rows < ROWS ||				\
			    square.num_columns < COLUMNS)					\
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
