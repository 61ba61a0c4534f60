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
	STREAMED,	/* the same, and the destination's rows are whole lines: past the caches */
	PARTIAL,	/* some at least */
};

/* A place so many bytes further on, which need not be one of a row: wide strides have no next. */
#define BEYOND(place, bytes)	((void *)((uintptr_t)(place) + (uintptr_t)(bytes)))

/* A place that goes from row to row. Kept from compilers, which would hold an address for each. */
#define ADVANCE(place, stride) do {								\
	(place) = BEYOND(place, stride);							\
	__asm__("" : "+r" (place));								\
} while (0)

/* Row k, of which row is the place if rows are a stride apart. */
INLINE const uint8_t *row_at(const struct square *square, enum extent extent, int k,
			     const uint8_t *row)
{
	if (!square->places || (extent == PARTIAL && square->num_rows <= k))
		return row;
	return BEYOND(square->src, square->places[k]);
}

INLINE __m512i load_row(const uint8_t *row, enum extent extent, bool is_there, __mmask64 mask)
{
	if (extent != PARTIAL)
		return _mm512_loadu_si512(row);
	return is_there ? _mm512_maskz_loadu_epi8(mask, row) : _mm512_setzero_si512();
}

INLINE void load_rows(__m512i *rows, int count, const struct square *square, enum extent extent,
		      __mmask64 mask)
{
	const uint8_t *row = square->src;

	UNROLL
	for (int k = 0; k < count; k++) {
		rows[k] = load_row(row_at(square, extent, k, row), extent, square->num_rows > k,
				   mask);
		ADVANCE(row, square->src_stride);
	}
}

INLINE __m256i load_half_row(const uint8_t *row, enum extent extent, bool is_there,
			     __mmask64 mask)
{
	if (extent != PARTIAL)
		return _mm256_loadu_si256((const __m256i *)row);
	return is_there ? _mm256_maskz_loadu_epi8((__mmask32)mask, row) : _mm256_setzero_si256();
}

/* Rows of 32 bytes: k and k + 16 in a register. */
INLINE void load_half_rows(__m512i rows[16], const struct square *square, enum extent extent,
			   __mmask64 mask)
{
	const uint8_t *upper = square->src;
	const uint8_t *lower = BEYOND(square->src, 16 * (uint64_t)square->src_stride);

	UNROLL
	for (int k = 0; k < 16; k++) {
		rows[k] = _mm512_inserti64x4(
			_mm512_castsi256_si512(load_half_row(row_at(square, extent, k, upper),
							     extent, square->num_rows > k, mask)),
			load_half_row(row_at(square, extent, k + 16, lower), extent,
				      square->num_rows > k + 16, mask), 1);
		ADVANCE(upper, square->src_stride);
		ADVANCE(lower, square->src_stride);
	}
}

INLINE void store_columns(const __m512i *columns, int count, const struct square *square,
			  enum extent extent, __mmask64 mask)
{
	uint8_t *to = square->dst;

	UNROLL
	for (int k = 0; k < count; k++) {
		if (extent == WHOLE)
			_mm512_storeu_si512(to, columns[k]);
		else if (extent == STREAMED)
			_mm512_stream_si512((__m512i *)to, columns[k]);
		else if (square->num_columns > k)
			_mm512_mask_storeu_epi8(to, mask, columns[k]);
		ADVANCE(to, square->dst_stride);
	}
}

INLINE void store_half_columns(const __m512i *columns, const struct square *square,
			       enum extent extent, __mmask64 mask)
{
	uint8_t *to = square->dst;
	uint8_t *beyond = BEYOND(square->dst, 16 * (uint64_t)square->dst_stride);

	UNROLL
	for (int k = 0; k < 16; k++) {
		__m256i low = _mm512_castsi512_si256(columns[k]);
		__m256i high = _mm512_extracti64x4_epi64(columns[k], 1);

		if (extent != PARTIAL || square->num_columns > k)
			_mm256_mask_storeu_epi8(to, extent == PARTIAL ? (__mmask32)mask : ~0u, low);
		if (extent != PARTIAL || square->num_columns > k + 16)
			_mm256_mask_storeu_epi8(beyond, extent == PARTIAL ? (__mmask32)mask : ~0u,
						high);
		ADVANCE(to, square->dst_stride);
		ADVANCE(beyond, square->dst_stride);
	}
}

/*
 * Interleaves the first half of count registers with the second, within lanes. log2(count) rounds
 * transpose lanes of count elements.
 */
#define DEFINE_ROUND(bits)									\
INLINE void round_##bits(__m512i *registers, int count)						\
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

DEFINE_ROUND(8)
DEFINE_ROUND(16)
DEFINE_ROUND(32)
DEFINE_ROUND(64)

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

/* 32 rows of 32 bytes. */
INLINE void square_1(const struct square *square, enum extent extent)
{
	__m512i r[16];

	load_half_rows(r, square, extent, mask_of(square->num_columns));
	UNROLL
	for (int round = 0; round < 4; round++)
		round_8(r, 16);
	/* lanes now: columns k and 16 + k of the upper rows, then of the lower ones */
	UNROLL
	for (int k = 0; k < 16; k++)
		r[k] = _mm512_shuffle_i64x2(r[k], r[k], 0xd8);
	store_half_columns(r, square, extent, mask_of(square->num_rows));
}

/* 32 rows of 32 bytes. */
INLINE void square_2(const struct square *square, enum extent extent)
{
	const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
	const __m512i high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
	__m512i r[16], columns[16];

	load_half_rows(r, square, extent, mask_of(square->num_columns * 2));
	UNROLL
	for (int round = 0; round < 3; round++) {
		round_16(r, 8);
		round_16(r + 8, 8);
	}
	/* lanes now: columns k and 8 + k of rows 0 to 7, then of rows 16 to 23; r[8 + k]: others */
	UNROLL
	for (int k = 0; k < 8; k++) {
		columns[k] = _mm512_permutex2var_epi64(r[k], low, r[k + 8]);
		columns[k + 8] = _mm512_permutex2var_epi64(r[k], high, r[k + 8]);
	}
	store_columns(columns, 16, square, extent, mask_of(square->num_rows * 2));
}

/* 16 rows of 64 bytes. */
INLINE void square_4(const struct square *square, enum extent extent)
{
	__m512i r[16];

	load_rows(r, 16, square, extent, mask_of(square->num_columns * 4));
	UNROLL
	for (int group = 0; group < 16; group += 4) {
		round_32(r + group, 4);
		round_32(r + group, 4);
	}
	/* lane l of r[4 * g + k] now: column 4 * l + k of rows 4 * g and following */
	UNROLL
	for (int k = 0; k < 4; k++)
		transpose_lanes(&r[k], &r[k + 4], &r[k + 8], &r[k + 12]);
	store_columns(r, 16, square, extent, mask_of(square->num_rows * 4));
}

/* 8 rows of 64 bytes. */
INLINE void square_8(const struct square *square, enum extent extent)
{
	__m512i r[8];

	load_rows(r, 8, square, extent, mask_of(square->num_columns * 8));
	UNROLL
	for (int group = 0; group < 8; group += 2)
		round_64(r + group, 2);
	UNROLL
	for (int k = 0; k < 2; k++)
		transpose_lanes(&r[k], &r[k + 2], &r[k + 4], &r[k + 6]);
	store_columns(r, 8, square, extent, mask_of(square->num_rows * 8));
}

/* 4 rows of 64 bytes. */
INLINE void square_16(const struct square *square, enum extent extent)
{
	__m512i r[4];

	load_rows(r, 4, square, extent, mask_of(square->num_columns * 16));
	transpose_lanes(&r[0], &r[1], &r[2], &r[3]);
	store_columns(r, 4, square, extent, mask_of(square->num_rows * 16));
}

/* 2 rows of 64 bytes. */
INLINE void square_32(const struct square *square, enum extent extent)
{
	__m512i r[2], columns[2];

	load_rows(r, 2, square, extent, mask_of(square->num_columns * 32));
	columns[0] = _mm512_shuffle_i64x2(r[0], r[1], 0x44);
	columns[1] = _mm512_shuffle_i64x2(r[0], r[1], 0xee);
	store_columns(columns, 2, square, extent, mask_of(square->num_rows * 32));
}

INLINE void square_64(const struct square *square, enum extent extent)
{
	__m512i element = _mm512_loadu_si512(square->src);

	store_columns(&element, 1, square, extent, ~0ull);
}

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

#define DEFINE_MOVE_SQUARE(size, rows, columns)							\
INLINE void move_square_##size(const struct square *square, enum extent extent, int64_t ahead)	\
{												\
	if (square->num_rows < (rows) || square->num_columns < (columns)) {			\
		square_##size(square, PARTIAL);							\
		return;										\
	}											\
	if (ahead)										\
		fetch_rows(BEYOND(square->src, ahead), square->src_stride, rows);		\
	square_##size(square, extent);								\
}

/* Down the rows of a strip of the source, so that the destination is written along its lines. */
#define DEFINE_TRANSPOSE(size, rows, columns)							\
DEFINE_MOVE_SQUARE(size, rows, columns)								\
												\
TARGET static void transpose_##size(uint8_t *dst, const uint8_t *src,				\
				    const struct engine_tile *tile)				\
{												\
	for (int64_t c = 0; c < tile->extents[0]; c += (columns)) {				\
		for (int64_t r = 0; r < tile->extents[1]; r += (rows)) {			\
			struct square square = square_at(dst, src, tile, c, r, size);		\
												\
			move_square_##size(&square, WHOLE, tile->ahead);			\
		}										\
	}											\
}

/* Along a few rows of the source: the CPU follows no more of them. */
#define DEFINE_STREAM_TRANSPOSE(size, rows, columns)						\
TARGET static void stream_transpose_##size(uint8_t *dst, const uint8_t *src,			\
					   const struct engine_tile *tile)			\
{												\
	for (int64_t r = 0; r < tile->extents[1]; r += (rows)) {				\
		for (int64_t c = 0; c < tile->extents[0]; c += (columns)) {			\
			struct square square = square_at(dst, src, tile, c, r, size);		\
												\
			move_square_##size(&square, STREAMED, tile->ahead);			\
		}										\
	}											\
}

DEFINE_TRANSPOSE(1, 32, 32)
DEFINE_TRANSPOSE(2, 32, 16)
DEFINE_TRANSPOSE(4, 16, 16)
DEFINE_TRANSPOSE(8, 8, 8)
DEFINE_TRANSPOSE(16, 4, 4)
DEFINE_TRANSPOSE(32, 2, 2)
DEFINE_TRANSPOSE(64, 1, 1)

DEFINE_STREAM_TRANSPOSE(2, 32, 16)
DEFINE_STREAM_TRANSPOSE(4, 16, 16)
DEFINE_STREAM_TRANSPOSE(8, 8, 8)
DEFINE_STREAM_TRANSPOSE(16, 4, 4)

/* Rows that begin anywhere. */
#define DEFINE_TRANSPOSE_ROWS(size, rows, columns)						\
TARGET static void transpose_rows_##size(uint8_t *dst, const uint8_t *src,			\
					 const int64_t *places, const struct engine_tile *tile)	\
{												\
	for (int64_t c = 0; c < tile->extents[0]; c += (columns)) {				\
		for (int64_t r = 0; r < tile->extents[1]; r += (rows)) {			\
			struct square square = square_at(dst, src, tile, c, 0, size);		\
												\
			square.dst += r * (size);						\
			square.num_rows -= r;							\
			square.places = places + r;						\
			move_square_##size(&square, WHOLE, 0);					\
		}										\
	}											\
}

DEFINE_TRANSPOSE_ROWS(1, 32, 32)
DEFINE_TRANSPOSE_ROWS(2, 32, 16)
DEFINE_TRANSPOSE_ROWS(4, 16, 16)
DEFINE_TRANSPOSE_ROWS(8, 8, 8)

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

const struct engine_transpose_kernels engine_transpose_avx512 = {
	.transpose = {
		match_1, match_2, match_4, match_8, transpose_16, transpose_32,
		transpose_64,
	},
	.stream_transpose = {
		NULL, stream_transpose_2, stream_transpose_4, stream_transpose_8,
		stream_transpose_16, NULL, NULL,
	},
	.transpose_rows = {
		transpose_rows_1, transpose_rows_2, transpose_rows_4, transpose_rows_8, NULL, NULL,
		NULL,
	},
	.stream_lines = stream_lines,
};

#endif /* __x86_64__ */
