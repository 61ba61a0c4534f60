// SPDX-License-Identifier: MIT
/*
 * Columns that are put together in lines, many rows at a time, by AVX-512 (F, BW, DQ, VL, VBMI).
 * Contract in kernels.h, at join_tall. A square's columns and what waits for them are more than
 * there are registers, so half of them are gone down: of rows that begin within lines, half a line
 * goes across two of them half as often.
 */
#ifdef __x86_64__
#include <stddef.h>

#include "ahead.h"
#include "kernels.h"
#include "line_avx512.h"
#include "square_avx512.h"

/* Elements of 4 bytes: of a lane, of half a line, and of a line. */
enum { LANE = 4, WIDTH = 8, LINE = 16 };

/* 32 bytes of rows at these places, of two groups of four one in each register. */
INLINE void load_rows(__m512i *rows, const uint8_t *src, const int64_t *places, __mmask32 columns)
{
	UNROLL
	for (int k = 0; k < LANE; k++) {
		const uint8_t *first = BEYOND(src, places[k]);
		const uint8_t *second = BEYOND(src, places[LANE + k]);

		rows[k] = _mm512_zextsi256_si512(_mm256_maskz_loadu_epi8(columns, first));
		rows[k] = _mm512_inserti64x4(rows[k], _mm256_maskz_loadu_epi8(columns, second), 1);
	}
}

/* What a line has of each column: lanes of its first rows in r[0..3], of the others in r[4..7]. */
INLINE void transpose_rows(__m512i *r, const uint8_t *src, const int64_t *places,
			   __mmask32 columns)
{
	UNROLL
	for (int k = 0; k < WIDTH; k += LANE) {
		load_rows(r + k, src, places + 2 * k, columns);
		round_4(r + k, LANE);
		round_4(r + k, LANE);
	}
}

/* Two lines of a column, one after the other; as much is fetched beside them. */
INLINE void join_lines(uint8_t *to, __m512i first, __m512i second, __m512i *line,
		       const uint8_t *next)
{
	if (next) {
		engine_fetch(next);
		engine_fetch(next + 64);
	}
	join_column(to, first, line, 64);
	join_column(to + 64, second, line, 64);
}

/* Two lines of each column. */
INLINE void join_rows(uint8_t *dst, int64_t stride, const uint8_t *src, const int64_t *places,
		      int columns, __m512i *lines, const uint8_t *next)
{
	const __mmask32 bytes = (__mmask32)mask_of(columns * 4);
	__m512i r[2][WIDTH];

	transpose_rows(r[0], src, places, bytes);
	transpose_rows(r[1], src, places + LINE, bytes);
	UNROLL
	for (int c = 0; c < WIDTH && c < columns; c++) {
		__m512i *a = &r[0][c % LANE], *b = &r[1][c % LANE];

		if (c < LANE)
			join_lines(dst, even_lanes(a[0], a[LANE]), even_lanes(b[0], b[LANE]),
				   &lines[c], next);
		else
			join_lines(dst, odd_lanes(a[0], a[LANE]), odd_lanes(b[0], b[LANE]),
				   &lines[c], next);
		ADVANCE(dst, stride);
		if (next)
			next += 128;
	}
}

/* So many columns down all rows but the last ones. What waits is in registers meanwhile. */
INLINE void join_columns(uint8_t *dst, const uint8_t *src, const struct engine_join *join,
			 const struct engine_tile *tile, int64_t c, int columns)
{
	const int64_t stride = tile->dst_strides[0];
	__m512i held[WIDTH], *lines = (__m512i *)join->lines[c];

	UNROLL
	for (int k = 0; k < WIDTH; k++)
		held[k] = lines[k < columns ? k : 0];
	for (int64_t r = 0; r + 2 * LINE <= tile->extents[1]; r += 2 * LINE) {
		const uint8_t *next = NULL;

		if (join->ahead)
			next = engine_ahead_take_or_fetch(join->ahead, columns * 128);
		join_rows(dst + c * stride + r * 4, stride, src + c * 4, join->places + r, columns,
			  held, next);
	}
	UNROLL
	for (int k = 0; k < WIDTH && k < columns; k++)
		lines[k] = held[k];
}

/* The rows that are left, by squares. */
TARGET static void join_last_rows(uint8_t *dst, const uint8_t *src, const struct engine_join *join,
				  const struct engine_tile *tile)
{
	const int64_t first = tile->extents[1] / (2 * LINE) * (2 * LINE);
	struct engine_join rest = *join;
	struct engine_tile rows = *tile;

	rest.places += first;
	rows.extents[1] -= first;
	engine_transpose_avx512.join_transpose[2](dst + first * 4, src, &rest, &rows);
}

TARGET void engine_join_tall_4_avx512(uint8_t *dst, const uint8_t *src,
				      const struct engine_join *join,
				      const struct engine_tile *tile)
{
	int64_t c = 0;

	for (; c + WIDTH <= tile->extents[0]; c += WIDTH)
		join_columns(dst, src, join, tile, c, WIDTH);
	if (c < tile->extents[0])
		join_columns(dst, src, join, tile, c, (int)(tile->extents[0] - c));
	if (tile->extents[1] % (2 * LINE))
		join_last_rows(dst, src, join, tile);
}

#endif /* __x86_64__ */
