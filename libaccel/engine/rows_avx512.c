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

/* What a square has: everything, all rows and columns but not all of their elements, or less. */
enum kind { WHOLE, BORDERED, PARTIAL };

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
/* By bit: columns of the first row, and of the second one: no more than half a vector. */	\
INLINE __m512i load_columns_##size(const struct loading *loading, const uint8_t *first,		\
				   const uint8_t *second, uint64_t columns,			\
				   uint64_t others)						\
{												\
	const uint64_t evens = 0x5555555555555555, both = columns | others << 32 / (size);	\
	const __m256i fill = _mm512_castsi512_si256(loading->fill);				\
	__m512i loaded;										\
												\
	if (loading->steps == 1) {								\
		loaded = _mm512_castsi256_si512(						\
			_mm256_mask_loadu_epi##bits(fill, columns, first));			\
		return _mm512_inserti64x4(							\
			loaded, _mm256_mask_loadu_epi##bits(fill, others, second), 1);		\
	}											\
	loaded = _mm512_permutex2var_epi8(							\
		_mm512_maskz_loadu_epi##bits(_pdep_u64(columns, evens), first), loading->picks,	\
		_mm512_maskz_loadu_epi##bits(_pdep_u64(others, evens), second));		\
	return _mm512_mask_blend_epi##bits(both, loading->fill, loaded);			\
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

/* Which columns there are of a row, of the next ones: so many, if the square has as many. */
INLINE uint64_t columns_of(const struct square *square, int k, int count)
{
	const uint64_t columns = square->columns ? square->columns[k] >> square->column : ~0ull;

	return _bzhi_u64(columns, (uint32_t)count);
}

INLINE void store_column(const struct square *square, uint8_t *to, __m512i column, enum kind kind,
			 uint64_t bytes)
{
	if (kind == PARTIAL && ~bytes)
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
 * of groups have of a column is brought together when it is stored. Two squares, one below the
 * other, store each column's two lines at a time.
 */
#define DEFINE_SQUARE(size, rounds)								\
INLINE __m512i load_pair_##size(const struct square *square, const struct loading *loading,	\
				int k, enum kind kind)						\
{												\
	enum { N = 16 / (size) };								\
	const int count = kind == PARTIAL ? (int)min(square->num_columns, 2 * N) : 2 * N;	\
	const uint8_t *first = square->src, *second = square->src;				\
	uint64_t columns = 0, others = 0;							\
												\
	if (kind == WHOLE)									\
		return load_whole_##size(loading, row_at(square, k), row_at(square, N + k));	\
	if (kind == BORDERED || k < square->num_rows) {						\
		first = row_at(square, k);							\
		columns = columns_of(square, k, count);						\
	}											\
	if (kind == BORDERED || N + k < square->num_rows) {					\
		second = row_at(square, N + k);							\
		others = columns_of(square, N + k, count);					\
	}											\
	return load_columns_##size(loading, first, second, columns, others);			\
}												\
												\
INLINE void load_square_##size(const struct square *square, const struct loading *loading,	\
			       int row, enum kind kind, __m512i *a, __m512i *b)			\
{												\
	enum { N = 16 / (size) };								\
												\
	UNROLL											\
	for (int k = 0; k < N; k++)								\
		a[k] = load_pair_##size(square, loading, row + k, kind);			\
	UNROLL											\
	for (int k = 0; k < N; k++)								\
		b[k] = load_pair_##size(square, loading, row + 2 * N + k, kind);		\
	UNROLL											\
	for (int round = 0; round < (rounds); round++) {					\
		round_##size(a, N);								\
		round_##size(b, N);								\
	}											\
}												\
												\
INLINE void squares_##size(const struct square *square, const struct loading *loading,		\
			   int count, enum kind kind)						\
{												\
	enum { N = 16 / (size) };								\
	const uint32_t row_bytes = (uint32_t)min(square->num_rows * (size), 64);		\
	const uint64_t bytes = _bzhi_u64(~0ull, row_bytes);					\
	uint8_t *low = square->dst, *high = low + N * square->dst_stride;			\
	__m512i a[2][N], b[2][N];								\
												\
	UNROLL											\
	for (int s = 0; s < count; s++)								\
		load_square_##size(square, loading, s * 4 * N, kind, a[s], b[s]);		\
	UNROLL											\
	for (int k = 0; k < N; k++) {								\
		if (kind == PARTIAL && square->num_columns <= k)				\
			return;									\
		UNROLL										\
		for (int s = 0; s < count; s++)							\
			store_column(square, low + s * 64,					\
				     _mm512_shuffle_i64x2(a[s][k], b[s][k], 0x88), kind, bytes); \
		UNROLL										\
		for (int s = 0; s < count; s++)							\
			if (kind != PARTIAL || square->num_columns > N + k)			\
				store_column(square, high + s * 64,				\
					     _mm512_shuffle_i64x2(a[s][k], b[s][k], 0xdd),	\
					     kind, bytes);					\
		ADVANCE(low, square->dst_stride);						\
		ADVANCE(high, square->dst_stride);						\
	}											\
}												\

DEFINE_SQUARE(1, 4)
DEFINE_SQUARE(2, 3)
DEFINE_SQUARE(4, 2)
DEFINE_SQUARE(8, 1)

INLINE void fetch_rows(const struct square *square, int64_t ahead, int64_t count)
{
	for (int64_t k = 0; k < count; k++)
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

/*
 * Squares that are not whole need many registers, and have functions of their own. most is how many
 * there are registers for at a time.
 */
#define DEFINE_TRANSPOSE_ROWS(size, bits, type, most)						\
INLINE void complete_##size(const struct square *square, const struct loading *loading,		\
			    int count, enum kind kind)						\
{												\
	if (count == (most))									\
		squares_##size(square, loading, most, kind);					\
	else											\
		squares_##size(square, loading, 1, kind);					\
}												\
												\
TARGET static void bordered_##size(const struct square *square, const struct loading *loading,	\
				   int count)							\
{												\
	complete_##size(square, loading, count, BORDERED);					\
}												\
												\
TARGET static void partial_##size(const struct square *square, const struct loading *loading)	\
{												\
	squares_##size(square, loading, 1, PARTIAL);						\
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
	for (int64_t c = 0; c < tile->extents[0]; c += COLUMNS)					\
		for (int64_t r = 0, count; r < tile->extents[1]; r += count * ROWS) {		\
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
			const bool is_partial = square.num_rows < ROWS ||			\
						square.num_columns < COLUMNS;			\
												\
			count = is_partial || square.num_rows < (most) * ROWS ? 1 : (most);	\
			if (tile->ahead && square.num_rows >= ROWS)				\
				fetch_rows(&square, tile->ahead, count * ROWS);			\
			if (is_partial)								\
				partial_##size(&square, &loading);				\
			else if (square.columns)						\
				bordered_##size(&square, &loading, (int)count);			\
			else									\
				complete_##size(&square, &loading, (int)count, WHOLE);		\
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

DEFINE_TRANSPOSE_ROWS(1, 8, char, 1)
DEFINE_TRANSPOSE_ROWS(2, 16, short, 1)
DEFINE_TRANSPOSE_ROWS(4, 32, int, 2)
DEFINE_TRANSPOSE_ROWS(8, 64, long long, 2)

engine_rows_kernel *const engine_rows_avx512[ENGINE_NUM_INTERLEAVED] = {
	transpose_rows_1, transpose_rows_2, transpose_rows_4, transpose_rows_8,
};

#endif /* __x86_64__ */
