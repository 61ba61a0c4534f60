// SPDX-License-Identifier: MIT
/*
 * Transposes of 8-byte elements by AVX2 to columns each of which begins at another place of a
 * vector, as those of matrices with an odd number of rows do. What a square has of a column is
 * joined in registers to what the square above it has, so that whole vectors are stored, and each
 * line by two stores, one after the other. Contract in kernels.h.
 */
#ifdef __x86_64__
#include "kernels.h"
#include "square_avx2.h"

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

/*
 * Four columns, down their rows. Each begins by step elements later in a vector than the one to the
 * left. What is before the first whole vector, and behind the last one, is stored by squares that
 * overlap others.
 */
INLINE void transpose_strip(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,
			    int step)
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

			_mm256_store_si256(BEYOND(dst, c * dst_stride - before * 8),
					   join(above[c], here[c], before));
			above[c] = here[c];
		}
	}
	store_square(dst, above, dst_stride);
	load_square(here, BEYOND(src, left * src_stride), src_stride);
	store_square(dst + left * 8, here, dst_stride);
}

INLINE void transpose_strips(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,
			     int step)
{
	for (int64_t first = 0; first < tile->extents[0]; first += SIDE) {
		const int64_t c = min(first, tile->extents[0] - SIDE);

		transpose_strip(BEYOND(dst, c * tile->dst_strides[0]), src + c * 8, tile, step);
	}
}

TARGET void engine_skewed_8_avx2(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile)
{
	switch (tile->dst_strides[0] / 8 & (SIDE - 1)) {
	case 1:
		transpose_strips(dst, src, tile, 1);
		return;
	case 2:
		transpose_strips(dst, src, tile, 2);
		return;
	default:
		transpose_strips(dst, src, tile, 3);
	}
}

#endif /* __x86_64__ */
