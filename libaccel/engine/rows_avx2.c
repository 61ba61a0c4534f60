// SPDX-License-Identifier: MIT
/*
 * Transposes of rows that begin anywhere, and need not have all columns, by AVX2. Contract in
 * kernels.h. A square has 16 bytes of each of its rows. Elements of 4 and 8 bytes that a row does
 * not have are masked; rows of smaller ones, and those at edges, are put together first.
 */
#ifdef __x86_64__
#include <string.h>

#include "bytes_avx2.h"
#include "kernels.h"
#include "square_avx2.h"

/* Some rows: of each 16 bytes, as the destination has them. */
struct square {
	uint8_t *dst;
	int64_t dst_stride;
	const uint8_t *src;
	const int64_t *places;
	const uint64_t *columns;	/* or NULL */
	const uint8_t *fill;
	int64_t column;			/* the bit of the first one */
	int64_t num_rows;
	int64_t num_columns;
	bool streams;
};

/* Whether rows have all of so many columns. */
INLINE bool are_whole(const struct square *square, int64_t num_rows, int64_t num_columns)
{
	const uint64_t all = (1ull << num_columns) - 1;
	uint64_t columns = ~0ull;

	UNROLL
	for (int64_t k = 0; k < num_rows; k++)
		columns &= square->columns[k];
	return (columns >> square->column & all) == all;
}

/* The element that is in the place of what rows do not have, over and over. */
INLINE __m128i load_fill(const struct square *square, int size)
{
	int64_t element = 0;

	memcpy(&element, square->fill, (size_t)size);
	switch (size) {
	case 1:
		return _mm_set1_epi8((char)element);
	case 2:
		return _mm_set1_epi16((short)element);
	case 4:
		return _mm_set1_epi32((int)element);
	default:
		return _mm_set1_epi64x(element);
	}
}

/*
 * The columns, of 4 or 8 bytes each, that a row has, and in the place of others the fill. In
 * registers: what has just been stored waits for the streaming stores before it. A row without
 * columns may lie anywhere, where even a load of nothing takes long.
 */
INLINE __m128i load_masked(const struct square *square, int64_t k, int size, __m128i fill)
{
	const __m128i bits = size == 4 ? _mm_setr_epi32(1, 2, 4, 8) : _mm_setr_epi32(1, 1, 2, 2);
	const uint64_t columns = square->columns[k] >> square->column & ((1ull << 16 / size) - 1);
	const uint8_t *row = columns ? BEYOND(square->src, square->places[k]) : square->fill;
	const __m128i all = _mm_set1_epi32((int)columns);
	const __m128i mask = _mm_cmpeq_epi32(_mm_and_si128(all, bits), bits);

	return _mm_blendv_epi8(fill, _mm_maskload_epi32((const int *)row, mask), mask);
}

/* The columns that a row has, of any size. */
INLINE __m128i load_columns(const struct square *square, int64_t k, int size, __m128i fill)
{
	const int64_t count = min(square->num_columns, 16 / size);
	const uint64_t all = (1ull << count) - 1;
	const uint64_t columns = all & (square->columns ? square->columns[k] >> square->column :
							  all);
	const uint8_t *row = BEYOND(square->src, square->places[k]);
	int first;

	if (!columns)
		return fill;
	if (columns == (1ull << 16 / size) - 1)
		return _mm_loadu_si128((const __m128i *)row);
	first = __builtin_ctzll(columns) * size;
	return load_bytes(row + first, first, __builtin_popcountll(columns) * size, fill);
}

/*
 * What a square has: all; all but some columns of its rows; rows put together, one after the other
 * in the place of its source; or such rows of which only a part is stored.
 */
enum square_kind { WHOLE, MASKED, PACKED, EDGE };

INLINE __m128i load_row(const struct square *square, int64_t k, int size, enum square_kind kind,
			__m128i fill)
{
	if (kind == WHOLE)
		return _mm_loadu_si128((const __m128i *)BEYOND(square->src, square->places[k]));
	if (kind == MASKED)
		return load_masked(square, k, size, fill);
	return _mm_load_si128((const __m128i *)square->src + k);
}

INLINE void store_column(const struct square *square, uint8_t *to, __m256i column, int size,
			 enum square_kind kind)
{
	uint8_t bytes[32];

	if (kind == EDGE && square->num_rows < 32 / size) {
		_mm256_storeu_si256((__m256i *)bytes, column);
		memcpy(to, bytes, (size_t)(square->num_rows * size));
	} else if (square->streams) {
		_mm256_stream_si256((__m256i *)to, column);
	} else {
		_mm256_storeu_si256((__m256i *)to, column);
	}
}

/*
 * A square has 2 * N rows of N columns, and of each column half a line. Two of them, one below the
 * other, store both halves one after the other, so that the line is streamed as a whole.
 */
#define DEFINE_SQUARES(size, bits, rounds)							\
INLINE void load_square_##bits(const struct square *square, int row, enum square_kind kind,	\
			       __m128i fill, __m256i *r)					\
{												\
	enum { N = 16 / (size) };								\
												\
	UNROLL											\
	for (int k = 0; k < N; k++)								\
		r[k] = _mm256_inserti128_si256(							\
			_mm256_castsi128_si256(load_row(square, row + k, size, kind, fill)),	\
			load_row(square, row + k + N, size, kind, fill), 1);			\
	UNROLL											\
	for (int round = 0; round < (rounds); round++)						\
		round_##bits(r, N);								\
}												\
												\
INLINE void squares_##bits(const struct square *square, int count, enum square_kind kind)	\
{												\
	enum { N = 16 / (size) };								\
	const __m128i fill = kind == MASKED ? load_fill(square, size) : _mm_setzero_si128();	\
	uint8_t *to = square->dst;								\
	__m256i r[2][N];									\
												\
	UNROLL											\
	for (int s = 0; s < count; s++)								\
		load_square_##bits(square, s * 2 * N, kind, fill, r[s]);			\
	UNROLL											\
	for (int k = 0; k < N; k++) {								\
		if (kind == EDGE && k >= square->num_columns)					\
			return;									\
		UNROLL										\
		for (int s = 0; s < count; s++)							\
			store_column(square, to + s * 32, r[s][k], size, kind);			\
		ADVANCE(to, square->dst_stride);						\
	}											\
}

DEFINE_SQUARES(1, 8, 4)
DEFINE_SQUARES(2, 16, 3)
DEFINE_SQUARES(4, 32, 2)
DEFINE_SQUARES(8, 64, 1)

/* Squares are one, or two, one below the other. */
#define DEFINE_TRANSPOSE_ROWS(size, bits)							\
INLINE void complete_##bits(const struct square *square, int count, enum square_kind kind)	\
{												\
	if (count == 2)										\
		squares_##bits(square, 2, kind);						\
	else											\
		squares_##bits(square, 1, kind);						\
}												\
												\
TARGET static __attribute__((noinline)) void pack_squares_##bits(const struct square *square,	\
								 int count)			\
{												\
	enum { ROWS = 32 / (size), COLUMNS = 16 / (size) };					\
	const bool is_edge = square->num_rows < ROWS || square->num_columns < COLUMNS;		\
	const __m128i fill = load_fill(square, size);						\
	struct square packed = *square;								\
	__m128i rows[2 * ROWS];									\
												\
	for (int64_t k = 0; k < count * ROWS; k++)						\
		rows[k] = k < square->num_rows ? load_columns(square, k, size, fill) : fill;	\
	packed.src = (const uint8_t *)rows;							\
	if (is_edge)										\
		squares_##bits(&packed, 1, EDGE);						\
	else											\
		complete_##bits(&packed, count, PACKED);					\
}												\
												\
/* A copy in memory, so that the square itself is in registers everywhere else. */		\
INLINE void packed_##bits(const struct square *square, int count)				\
{												\
	const struct square copy = *square;							\
												\
	pack_squares_##bits(&copy, count);							\
}												\
												\
INLINE void transpose_square_##bits(const struct square *square, int count)			\
{												\
	enum { ROWS = 32 / (size), COLUMNS = 16 / (size) };					\
												\
	if (square->num_rows >= ROWS && square->num_columns >= COLUMNS) {			\
		if (!square->columns || are_whole(square, count * ROWS, COLUMNS)) {		\
			complete_##bits(square, count, WHOLE);					\
			return;									\
		}										\
		if ((size) >= 4) {								\
			complete_##bits(square, count, MASKED);					\
			return;									\
		}										\
	}											\
	packed_##bits(square, count);								\
}												\
												\
TARGET static void transpose_rows_##size(uint8_t *dst, const uint8_t *src,			\
					 const struct engine_rows *rows,			\
					 const struct engine_tile *tile)			\
{												\
	enum { ROWS = 32 / (size), COLUMNS = 16 / (size) };					\
												\
	for (int64_t c = 0; c < tile->extents[0]; c += COLUMNS)					\
		for (int64_t r = 0, count; r < tile->extents[1]; r += count * ROWS) {		\
			const struct square square = {						\
				.dst = dst + c * tile->dst_strides[0] + r * (size),		\
				.dst_stride = tile->dst_strides[0],				\
				.src = BEYOND(src, c * (size)),					\
				.places = rows->places + r,					\
				.columns = rows->columns ? rows->columns + r : NULL,		\
				.fill = rows->fill,						\
				.column = c,							\
				.num_rows = tile->extents[1] - r,				\
				.num_columns = tile->extents[0] - c,				\
				.streams = rows->streams,					\
			};									\
												\
			count = square.num_columns < COLUMNS ||					\
				square.num_rows < 2 * ROWS ? 1 : 2;				\
			transpose_square_##bits(&square, (int)count);				\
		}										\
}

DEFINE_TRANSPOSE_ROWS(1, 8)
DEFINE_TRANSPOSE_ROWS(2, 16)
DEFINE_TRANSPOSE_ROWS(4, 32)
DEFINE_TRANSPOSE_ROWS(8, 64)

engine_rows_kernel *const engine_rows_avx2[ENGINE_NUM_INTERLEAVED] = {
	transpose_rows_1, transpose_rows_2, transpose_rows_4, transpose_rows_8,
};

#endif /* __x86_64__ */
