// SPDX-License-Identifier: MIT
/*
 * Transposes by AVX2. Contract in kernels.h. A square has 16 bytes of each of its rows, in lanes of
 * as many registers as there are elements in these: rounds of unpacking transpose both lanes. At
 * the edges, elements are moved one by one.
 */
#ifdef __x86_64__
#include <immintrin.h>
#include <string.h>

#include "kernels.h"

#define TARGET	__attribute__((target("avx2")))
#define INLINE	TARGET static inline __attribute__((always_inline))
#define UNROLL	_Pragma("GCC unroll 16")

/* A place so many bytes further on, which need not be one of a row: wide strides have no next. */
#define BEYOND(place, bytes)	((void *)((uintptr_t)(place) + (uintptr_t)(bytes)))

/* A place that goes from row to row. Kept from compilers, which would hold an address for each. */
#define ADVANCE(place, stride) do {								\
	(place) = BEYOND(place, stride);							\
	__asm__("" : "+r" (place));								\
} while (0)

/*
 * Interleaves the first half of count registers with the second, within lanes. log2(count) rounds
 * transpose lanes of count elements.
 */
#define DEFINE_ROUND(bits)									\
INLINE void round_##bits(__m256i *registers, int count)						\
{												\
	__m256i mixed[16];									\
												\
	UNROLL											\
	for (int k = 0; k < count / 2; k++) {							\
		mixed[2 * k] = _mm256_unpacklo_epi##bits(registers[k],				\
							 registers[k + count / 2]);		\
		mixed[2 * k + 1] = _mm256_unpackhi_epi##bits(registers[k],			\
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

/* 2 * count rows of 16 bytes, which are count elements, become count rows of 32 bytes. */
#define DEFINE_SQUARE(bits, count, rounds)							\
INLINE void square_##bits(uint8_t *dst, int64_t dst_stride, const uint8_t *src,			\
			  int64_t src_stride)							\
{												\
	const uint8_t *lower = src + (count) * src_stride;					\
	__m256i r[count];									\
												\
	UNROLL											\
	for (int k = 0; k < (count); k++) {							\
		r[k] = _mm256_inserti128_si256(							\
			_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)src)),		\
			_mm_loadu_si128((const __m128i *)lower), 1);				\
		ADVANCE(src, src_stride);							\
		ADVANCE(lower, src_stride);							\
	}											\
	UNROLL											\
	for (int round = 0; round < (rounds); round++)						\
		round_##bits(r, count);								\
	UNROLL											\
	for (int k = 0; k < (count); k++) {							\
		_mm256_storeu_si256((__m256i *)dst, r[k]);					\
		ADVANCE(dst, dst_stride);							\
	}											\
}

DEFINE_SQUARE(8, 16, 4)
DEFINE_SQUARE(16, 8, 3)
DEFINE_SQUARE(32, 4, 2)
DEFINE_SQUARE(64, 2, 1)

INLINE int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Two elements of 16 bytes, one below the other. */
INLINE void square_128(uint8_t *dst, int64_t dst_stride, const uint8_t *src, int64_t src_stride)
{
	__m128i upper = _mm_loadu_si128((const __m128i *)src);
	__m128i lower = _mm_loadu_si128((const __m128i *)(src + src_stride));

	(void)dst_stride;
	_mm256_storeu_si256((__m256i *)dst,
			    _mm256_inserti128_si256(_mm256_castsi128_si256(upper), lower, 1));
}

/*
 * Down the rows of a strip of the source that is as wide as a line, which is read once, so that the
 * destination is written along its lines.
 */
#define DEFINE_TRANSPOSE(size, shift, bits)							\
TARGET static void transpose_##size(uint8_t *dst, const uint8_t *src,				\
				    const struct engine_tile *tile)				\
{												\
	enum { ROWS = 32 / (size), COLUMNS = 16 / (size), LINE = 64 / (size) };			\
	const int64_t whole_rows = tile->extents[1] / ROWS * ROWS;				\
	const int64_t whole_columns = tile->extents[0] / COLUMNS * COLUMNS;			\
	struct engine_tile rest = *tile;							\
												\
	for (int64_t first = 0; first < whole_columns; first += LINE)				\
		for (int64_t r = 0; r < whole_rows; r += ROWS)					\
			for (int64_t c = first; c < least(first + LINE, whole_columns);		\
			     c += COLUMNS)							\
				square_##bits(dst + c * tile->dst_strides[0] + r * (size),	\
					      tile->dst_strides[0],				\
					      src + c * (size) + r * tile->src_strides[1],	\
					      tile->src_strides[1]);				\
	rest.extents[0] = whole_columns;							\
	rest.extents[1] = tile->extents[1] - whole_rows;					\
	engine_copy_portable.strided[shift](dst + whole_rows * (size),				\
					    src + whole_rows * tile->src_strides[1], &rest);	\
	rest.extents[0] = tile->extents[0] - whole_columns;					\
	rest.extents[1] = tile->extents[1];							\
	engine_copy_portable.strided[shift](dst + whole_columns * tile->dst_strides[0],		\
					    src + whole_columns * (size), &rest);		\
}

DEFINE_TRANSPOSE(1, 0, 8)
DEFINE_TRANSPOSE(2, 1, 16)
DEFINE_TRANSPOSE(4, 2, 32)
DEFINE_TRANSPOSE(8, 3, 64)
DEFINE_TRANSPOSE(16, 4, 128)

/* The same, but for the shapes that have kernels of their own. */
#define DEFINE_MATCH(size, shift)								\
static void match_##size(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile)	\
{												\
	engine_tile_kernel *kernel = transpose_##size;						\
												\
	if (engine_is_deinterleave(tile, size))							\
		kernel = engine_deinterleave_avx2[shift];					\
	else if (engine_is_interleave(tile, size))						\
		kernel = engine_interleave_avx2[shift];						\
	kernel(dst, src, tile);									\
}

DEFINE_MATCH(1, 0)
DEFINE_MATCH(2, 1)
DEFINE_MATCH(4, 2)
DEFINE_MATCH(8, 3)

/* Elements of a register or two. */
#define DEFINE_STRIDED(size)									\
TARGET static void transpose_##size(uint8_t *dst, const uint8_t *src,				\
				    const struct engine_tile *tile)				\
{												\
	for (int64_t c = 0; c < tile->extents[0]; c++) {					\
		uint8_t *to = dst + c * tile->dst_strides[0];					\
		const uint8_t *from = src + c * (size);						\
												\
		for (int64_t r = 0; r < tile->extents[1]; r++) {				\
			memcpy(to, from, size);							\
			to += (size);								\
			from += tile->src_strides[1];						\
		}										\
	}											\
}

DEFINE_STRIDED(32)
DEFINE_STRIDED(64)

TARGET static void stream_lines(uint8_t *dst, const uint8_t *src, int64_t bytes)
{
	for (int64_t k = 0; k < bytes; k += 32)
		_mm256_stream_si256((__m256i *)(dst + k),
				    _mm256_loadu_si256((const __m256i *)(src + k)));
}

TARGET static void stream_piece(uint8_t *dst, const uint8_t *src, int64_t bytes, uint8_t *line,
				int64_t filled)
{
	if (filled && filled + bytes >= 64) {
		memcpy(line + filled, src, (size_t)(64 - filled));
		stream_lines(dst, line, 64);
		dst += 64;
		src += 64 - filled;
		bytes -= 64 - filled;
		filled = 0;
	}
	if (!filled) {
		int64_t whole = bytes / 64 * 64;

		stream_lines(dst, src, whole);
		src += whole;
		bytes -= whole;
	}
	memcpy(line + filled, src, (size_t)bytes);
}

const struct engine_transpose_kernels engine_transpose_avx2 = {
	.transpose = {
		match_1, match_2, match_4, match_8, transpose_16, transpose_32, transpose_64,
	},
	.stream_lines = stream_lines,
	.stream_piece = stream_piece,
};

#endif /* __x86_64__ */
