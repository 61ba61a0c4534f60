// SPDX-License-Identifier: MIT
/*
 * Transposes of elements of 8 and 16 bytes by AVX2 to columns each of which begins at another place
 * of a vector, or of a line, as those of matrices with an odd number of rows do. Of 8 bytes, what a
 * square has of a column is joined in registers to what the square above it has, so that whole
 * vectors are stored, and each line by two stores, one after the other. Of 16 bytes a line is four
 * elements one below the other. Contract in kernels.h.
 */
#ifdef __x86_64__
#include "kernels.h"
#include "square_avx2.h"

/* --- 8-byte elements -------------------------------------------------------------------------- */

/* A square has so many rows and as many columns, a vector each. */
#define SIDE	4

INLINE void load_square(__m256i *columns, const uint8_t *src, int64_t stride)
{
	const uint8_t *low = BEYOND(src, 2 * stride);

	load_transposed_64(columns, src, low, stride);
	load_transposed_64(columns + 2, src + 16, low + 16, stride);
}

INLINE void store_square(uint8_t *dst, const __m256i *columns, int64_t stride)
{
	UNROLL
	for (int c = 0; c < SIDE; c++)
		_mm256_storeu_si256(BEYOND(dst, c * stride), columns[c]);
}

/* The vector that begins so many elements before the end of the one above. */
INLINE __m256i join(__m256i above, __m256i here, int before)
{
	const __m256i middle = _mm256_permute2x128_si256(above, here, 0x21);

	switch (before) {
	case 0:
		return here;
	case 1:
		return _mm256_alignr_epi8(here, middle, 8);
	case 2:
		return middle;
	default:
		return _mm256_alignr_epi8(middle, above, 8);
	}
}

INLINE void store_whole(__m256i *to, __m256i vector, bool streams)
{
	if (streams)
		_mm256_stream_si256(to, vector);
	else
		_mm256_store_si256(to, vector);
}

/*
 * Four columns, down their rows. Each begins by step elements later in a vector than the one to the
 * left. What is before the first whole vector, and behind the last one, is stored by squares that
 * overlap others.
 */
INLINE void transpose_strip(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,
			    int step, bool streams)
{
	const int64_t dst_stride = tile->dst_strides[0], src_stride = tile->src_strides[1];
	const int64_t ahead = tile->ahead;
	const int64_t first = (int64_t)(-(uintptr_t)dst % sizeof(__m256i)) / 8;
	int64_t left = tile->extents[1] - first - SIDE;
	__m256i above[SIDE], here[SIDE];

	load_square(above, src, src_stride);
	store_square(dst, above, dst_stride);
	src = BEYOND(src, first * src_stride);
	dst += first * 8;
	load_square(above, src, src_stride);
	store_square(dst, above, dst_stride);
	for (; left >= SIDE; left -= SIDE) {
		src = BEYOND(src, SIDE * src_stride);
		dst += sizeof(__m256i);
		if (ahead)
			engine_fetch_after(src, src_stride, SIDE, ahead);
		load_square(here, src, src_stride);
		UNROLL
		for (int c = 0; c < SIDE; c++) {
			const int before = c * step % SIDE;

			store_whole(BEYOND(dst, c * dst_stride - before * 8),
				    join(above[c], here[c], before), streams);
			above[c] = here[c];
		}
	}
	store_square(dst, above, dst_stride);
	load_square(here, BEYOND(src, left * src_stride), src_stride);
	store_square(dst + left * 8, here, dst_stride);
}

INLINE void transpose_strips(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,
			     int step, bool streams)
{
	for (int64_t first = 0; first < tile->extents[0]; first += SIDE) {
		const int64_t c = min(first, tile->extents[0] - SIDE);

		transpose_strip(BEYOND(dst, c * tile->dst_strides[0]), src + c * 8, tile, step,
				streams);
	}
}

#define DEFINE_SKEWED(name, streams)								\
TARGET void name(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile)		\
{												\
	switch (tile->dst_strides[0] / 8 & (SIDE - 1)) {					\
	case 0:											\
		transpose_strips(dst, src, tile, 0, streams);					\
		return;										\
	case 1:											\
		transpose_strips(dst, src, tile, 1, streams);					\
		return;										\
	case 2:											\
		transpose_strips(dst, src, tile, 2, streams);					\
		return;										\
	default:										\
		transpose_strips(dst, src, tile, 3, streams);					\
	}											\
}

DEFINE_SKEWED(engine_skewed_8_avx2, false)
DEFINE_SKEWED(engine_stream_skewed_8_avx2, true)

/* --- 16-byte elements ------------------------------------------------------------------------- */

#define SIZE	16
#define IN_LINE	(LINE_BYTES / SIZE)

struct column {
	uint8_t *to;
	const uint8_t *from;
};

INLINE void copy_elements(struct column *column, int64_t count, int64_t stride)
{
	for (int64_t r = 0; r < count; r++) {
		_mm_storeu_si128((__m128i *)column->to,
				 _mm_loadu_si128((const __m128i *)column->from));
		column->to += SIZE;
		column->from = BEYOND(column->from, stride);
	}
}

INLINE void stream_line(struct column *column, int64_t stride)
{
	const uint8_t *lower = BEYOND(column->from, 2 * stride);

	_mm256_stream_si256((__m256i *)column->to,
			    load_lanes(column->from, BEYOND(column->from, stride)));
	_mm256_stream_si256((__m256i *)column->to + 1, load_lanes(lower, BEYOND(lower, stride)));
	column->to += LINE_BYTES;
	column->from = BEYOND(lower, 2 * stride);
}

/* So many columns, down their rows. Each has whole lines from another row on. */
INLINE void stream_columns(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,
			   int num_columns)
{
	const int64_t stride = tile->src_strides[1], rows = tile->extents[1];
	const int64_t num_lines = (rows - (IN_LINE - 1)) / IN_LINE;
	struct column columns[IN_LINE];
	int64_t first[IN_LINE];

	UNROLL
	for (int c = 0; c < num_columns; c++) {
		columns[c] = (struct column){ BEYOND(dst, c * tile->dst_strides[0]),
					      src + c * SIZE };
		first[c] = min(rows, (int64_t)(-(uintptr_t)columns[c].to % LINE_BYTES) / SIZE);
		copy_elements(&columns[c], first[c], stride);
	}
	for (int64_t n = 0; n < num_lines; n++) {
		if (tile->ahead)
			engine_fetch_after(columns[0].from, stride, IN_LINE, tile->ahead);
		UNROLL
		for (int c = 0; c < num_columns; c++)
			stream_line(&columns[c], stride);
	}
	UNROLL
	for (int c = 0; c < num_columns; c++)
		copy_elements(&columns[c], rows - first[c] - num_lines * IN_LINE, stride);
}

TARGET void engine_stream_skewed_16_avx2(uint8_t *dst, const uint8_t *src,
					 const struct engine_tile *tile)
{
	int64_t c;

	for (c = 0; c + IN_LINE <= tile->extents[0]; c += IN_LINE)
		stream_columns(BEYOND(dst, c * tile->dst_strides[0]), src + c * SIZE, tile,
			       IN_LINE);
	for (; c < tile->extents[0]; c++)
		stream_columns(BEYOND(dst, c * tile->dst_strides[0]), src + c * SIZE, tile, 1);
}

#endif /* __x86_64__ */
