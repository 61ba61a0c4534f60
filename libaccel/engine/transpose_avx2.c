// SPDX-License-Identifier: MIT
/*
 * Transposes by AVX2. Contract in kernels.h. A square has 16 bytes of each of its rows, in lanes of
 * as many registers as there are elements in these: rounds of unpacking transpose both lanes. The
 * squares at the edges overlap those before them; where a tile is narrower than a square it is done
 * lane by lane.
 */
#ifdef __x86_64__
#include <string.h>

#include "kernels.h"
#include "square_avx2.h"

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

/* Two elements of 16 bytes, one below the other. */
INLINE void square_128(uint8_t *dst, int64_t dst_stride, const uint8_t *src, int64_t src_stride)
{
	__m128i upper = _mm_loadu_si128((const __m128i *)src);
	__m128i lower = _mm_loadu_si128((const __m128i *)(src + src_stride));

	(void)dst_stride;
	_mm256_storeu_si256((__m256i *)dst,
			    _mm256_inserti128_si256(_mm256_castsi128_si256(upper), lower, 1));
}

/* The first bytes of a lane, by both ends of what is there: beyond it may be nothing. */
INLINE __m128i load_lane(const uint8_t *from, int64_t bytes)
{
	uint64_t low, high = 0;
	uint32_t first, last;

	if (bytes >= 16)
		return _mm_loadu_si128((const __m128i *)from);
	if (bytes > 8) {
		memcpy(&low, from, 8);
		memcpy(&high, from + bytes - 8, 8);
		high >>= 8 * (16 - bytes);
	} else if (bytes >= 4) {
		memcpy(&first, from, 4);
		memcpy(&last, from + bytes - 4, 4);
		low = first | (uint64_t)last << 8 * (bytes - 4);
	} else {
		low = from[0] | (uint64_t)from[bytes / 2] << 8 * (bytes / 2) |
		      (uint64_t)from[bytes - 1] << 8 * (bytes - 1);
	}
	return _mm_set_epi64x((int64_t)high, (int64_t)low);
}

INLINE void store_lane(uint8_t *to, __m128i lane, int64_t bytes)
{
	const uint64_t low = (uint64_t)_mm_cvtsi128_si64(lane);
	const uint64_t high = (uint64_t)_mm_extract_epi64(lane, 1);
	uint64_t last;

	if (bytes >= 16) {
		_mm_storeu_si128((__m128i *)to, lane);
	} else if (bytes > 8) {
		last = low >> 8 * (bytes - 8) | high << 8 * (16 - bytes);
		memcpy(to, &low, 8);
		memcpy(to + bytes - 8, &last, 8);
	} else if (bytes >= 4) {
		last = low >> 8 * (bytes - 4);
		memcpy(to, &low, 4);
		memcpy(to + bytes - 4, &last, 4);
	} else {
		to[0] = (uint8_t)low;
		to[bytes / 2] = (uint8_t)(low >> 8 * (bytes / 2));
		to[bytes - 1] = (uint8_t)(low >> 8 * (bytes - 1));
	}
}

/* Where a square begins that would go beyond the end: some of it has been done before, then. */
INLINE int64_t fit(int64_t at, int64_t count, int64_t extent)
{
	return max(0, min(at, extent - count));
}

/*
 * A tile that is less wide than a square, or less high: what it has of one lane's columns, or rows,
 * and beside it the same of the next. No more than that is stored of either.
 */
#define DEFINE_NARROW_TRANSPOSE(size, bits, rounds)						\
INLINE void lanes_##size(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,	\
			 int64_t next_dst, int64_t next_src)					\
{												\
	enum { N = 16 / (size) };								\
	const int64_t num_rows = min(tile->extents[1], N);					\
	const int64_t num_columns = min(tile->extents[0], N);					\
	__m256i r[N];										\
												\
	UNROLL											\
	for (int k = 0; k < N; k++) {								\
		r[k] = _mm256_setzero_si256();							\
		if (k < num_rows)								\
			r[k] = _mm256_inserti128_si256(						\
				_mm256_castsi128_si256(load_lane(src, num_columns * (size))),	\
				load_lane(BEYOND(src, next_src), num_columns * (size)), 1);	\
		ADVANCE(src, tile->src_strides[1]);						\
	}											\
	UNROLL											\
	for (int round = 0; round < (rounds); round++)						\
		round_##bits(r, N);								\
	UNROLL											\
	for (int k = 0; k < N; k++) {								\
		if (k < num_columns) {								\
			store_lane(dst, _mm256_castsi256_si128(r[k]), num_rows * (size));	\
			store_lane(BEYOND(dst, next_dst), _mm256_extracti128_si256(r[k], 1),	\
				   num_rows * (size));						\
		}										\
		ADVANCE(dst, tile->dst_strides[0]);						\
	}											\
}												\
												\
TARGET static void transpose_narrow_##size(uint8_t *dst, const uint8_t *src,			\
					   const struct engine_tile *tile)			\
{												\
	enum { N = 16 / (size) };								\
	const int64_t rows = tile->extents[1], columns = tile->extents[0];			\
	const int64_t across = columns < N ? 0 : N, down = N - across;				\
												\
	for (int64_t k = 0; k < columns; k += N + across) {					\
		const int64_t c = fit(k, N, columns), next_c = fit(k + across, N, columns);	\
												\
		for (int64_t row = 0; row < rows; row += N + down) {				\
			const int64_t r = fit(row, N, rows), next_r = fit(row + down, N, rows);	\
												\
			lanes_##size(dst + c * tile->dst_strides[0] + r * (size),		\
				     src + c * (size) + r * tile->src_strides[1], tile,		\
				     (next_c - c) * tile->dst_strides[0] +			\
				     (next_r - r) * (size),					\
				     (next_c - c) * (size) +					\
				     (next_r - r) * tile->src_strides[1]);			\
		}										\
	}											\
}

DEFINE_NARROW_TRANSPOSE(1, 8, 4)
DEFINE_NARROW_TRANSPOSE(2, 16, 3)
DEFINE_NARROW_TRANSPOSE(4, 32, 2)
DEFINE_NARROW_TRANSPOSE(8, 64, 1)
DEFINE_NARROW_TRANSPOSE(16, 64, 0)

/*
 * Down the rows of a strip of the source that is as wide as a line, which is read once, so that the
 * destination is written along its lines.
 */
#define DEFINE_TRANSPOSE(size, bits)								\
TARGET static void transpose_##size(uint8_t *dst, const uint8_t *src,				\
				    const struct engine_tile *tile)				\
{												\
	enum { ROWS = 32 / (size), COLUMNS = 16 / (size), LINE = 64 / (size) };			\
	const int64_t rows = tile->extents[1], columns = tile->extents[0];			\
	int64_t end;										\
												\
	if (rows < ROWS || columns < COLUMNS) {							\
		transpose_narrow_##size(dst, src, tile);					\
		return;										\
	}											\
	for (int64_t first = 0; first < columns; first = end) {					\
		end = min(first + LINE, columns);						\
		for (int64_t row = 0; row < rows; row += ROWS) {				\
			const int64_t r = fit(row, ROWS, rows);					\
												\
			for (int64_t k = first; k < end; k += COLUMNS) {			\
				const int64_t c = fit(k, COLUMNS, columns);			\
												\
				square_##bits(dst + c * tile->dst_strides[0] + r * (size),	\
					      tile->dst_strides[0],				\
					      src + c * (size) + r * tile->src_strides[1],	\
					      tile->src_strides[1]);				\
			}									\
		}										\
	}											\
}

DEFINE_TRANSPOSE(1, 8)
DEFINE_TRANSPOSE(2, 16)
DEFINE_TRANSPOSE(4, 32)
DEFINE_TRANSPOSE(8, 64)
DEFINE_TRANSPOSE(16, 128)

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
	.transpose_rows = engine_rows_avx2,
	.most_steps = 1,
	.stream_lines = stream_lines,
	.stream_piece = stream_piece,
};

#endif /* __x86_64__ */
