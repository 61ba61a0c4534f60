// SPDX-License-Identifier: MIT
/*
 * Columns of short rows of 4-byte elements that begin anywhere, around the caches, by AVX2.
 * Contract in kernels.h, at engine_short_join_kernel. Lines are put together in registers, of four
 * columns at a time: of more there is no room for what each has come to.
 */
#ifdef __x86_64__
#include <string.h>

#include "kernels.h"
#include "square_avx2.h"

#define SIZE		4
#define WIDTH		4
#define HALF_BYTES	(LINE_BYTES / 2)
#define IN_HALF		(HALF_BYTES / SIZE)
#define IN_LINE		(LINE_BYTES / SIZE)

/*
 * How far a column has come. It begins so many lanes after a half of a line, and its elements are
 * turned as far: each half is the end of what came last and the beginning of the next eight.
 */
struct column {
	__m256i *to;		/* the half that is stored next */
	bool is_second;		/* of its line, whose first one is stored with it: */
	__m256i first;
	int lane;
	__m256i turn;		/* the element that each lane has then */
	__m256i keep;		/* the lanes of the next eight */
	__m256i before;		/* the last eight, turned */
};

INLINE __m256i *waiting_half(uint8_t *line, const struct column *column)
{
	return (__m256i *)(line + HALF_BYTES - SIZE * column->lane);
}

INLINE void begin_column(struct column *column, uint8_t *dst, uint8_t *line)
{
	const uint64_t filled = (uintptr_t)dst % LINE_BYTES;

	column->lane = (int)(filled / SIZE % IN_HALF);
	column->to = (__m256i *)(dst - SIZE * column->lane);
	column->is_second = filled >= HALF_BYTES;
	column->first = _mm256_loadu_si256(waiting_half(line, column));
	column->turn = elements_from(-column->lane);
	column->keep = lanes_from(column->lane);
	column->before = _mm256_permutevar8x32_epi32(_mm256_loadu_si256((__m256i *)line + 1),
						     column->turn);
}

INLINE void end_column(const struct column *column, uint8_t *line)
{
	_mm256_storeu_si256((__m256i *)line + 1,
			    _mm256_permutevar8x32_epi32(column->before,
							elements_from(column->lane)));
	if (column->is_second)
		_mm256_storeu_si256(waiting_half(line, column), column->first);
}

/*
 * The halves of a line one after the other: where columns begin at the same places of their pages,
 * CPUs part with lines of which they have a half when they come to the same line of another page.
 */
INLINE void stream_line(struct column *column, __m256i eight, __m256i next_eight)
{
	const __m256i turned = _mm256_permutevar8x32_epi32(eight, column->turn);
	const __m256i next_turned = _mm256_permutevar8x32_epi32(next_eight, column->turn);
	const __m256i half = _mm256_blendv_epi8(column->before, turned, column->keep);
	const __m256i next_half = _mm256_blendv_epi8(turned, next_turned, column->keep);

	if (column->is_second) {
		_mm256_stream_si256(column->to - 1, column->first);
		_mm256_stream_si256(column->to, half);
	} else {
		_mm256_stream_si256(column->to, half);
		_mm256_stream_si256(column->to + 1, next_half);
	}
	column->first = next_half;
	column->before = next_turned;
	column->to += 2;
}

/* As many rows as a line has elements; for each line stored one is fetched. */
INLINE void stream_lines(struct column *columns, const uint8_t *src, int64_t stride, int skipped,
			 const uint8_t *next)
{
	__m256i eight[WIDTH], next_eight[WIDTH];

	load_transposed_32(eight, src, BEYOND(src, 4 * stride), stride);
	src = BEYOND(src, 8 * stride);
	load_transposed_32(next_eight, src, BEYOND(src, 4 * stride), stride);
	UNROLL
	for (int c = 0; c < WIDTH; c++) {
		if (c < skipped)
			continue;
		if (next)
			engine_fetch(next + (c - skipped) * LINE_BYTES);
		stream_line(&columns[c], eight[c], next_eight[c]);
	}
}

/* Rows by the line, of four columns but so many of the first ones. */
INLINE void join_columns(uint8_t *dst, const uint8_t *src, uint8_t (*lines)[LINE_BYTES],
			 const struct engine_tile *tile, int64_t rows, int skipped,
			 const uint8_t *next)
{
	const int64_t dst_stride = tile->dst_strides[0], stride = tile->src_strides[1];
	struct column columns[WIDTH];

	UNROLL
	for (int c = skipped; c < WIDTH; c++)
		begin_column(&columns[c], BEYOND(dst, c * dst_stride), lines[c]);
	for (; rows; rows -= IN_LINE) {
		stream_lines(columns, src, stride, skipped, next);
		src = BEYOND(src, IN_LINE * stride);
		if (next)
			next += (WIDTH - skipped) * LINE_BYTES;
	}
	UNROLL
	for (int c = skipped; c < WIDTH; c++)
		end_column(&columns[c], lines[c]);
}

#define SKIP_CASE(skipped, next)								\
	case skipped:										\
		join_columns(dst, src, lines, tile, rows, skipped, next);			\
		break

/* Each column's registers are known by number only where the number of those skipped is. */
#define DEFINE_JOIN(name, next)									\
TARGET static void name(uint8_t *dst, const uint8_t *src, uint8_t (*lines)[LINE_BYTES],		\
			const struct engine_tile *tile, int64_t rows, int64_t skipped,		\
			const uint8_t *after)							\
{												\
	(void)after;										\
	switch (skipped) {									\
	SKIP_CASE(0, next);									\
	SKIP_CASE(1, next);									\
	SKIP_CASE(2, next);									\
	SKIP_CASE(3, next);									\
	}											\
}

DEFINE_JOIN(join_beside, after)
DEFINE_JOIN(join_alone, NULL)

/* Fewer rows than a line has elements. */
INLINE void join_rest(uint8_t *dst, const uint8_t *src, uint8_t *line, int64_t rows, int64_t stride)
{
	const int64_t filled = (int64_t)((uintptr_t)dst % LINE_BYTES), bytes = rows * SIZE;
	uint8_t both[2 * LINE_BYTES];

	memcpy(both, line, LINE_BYTES);
	for (int64_t r = 0; r < rows; r++)
		memcpy(both + LINE_BYTES + r * SIZE, BEYOND(src, r * stride), SIZE);
	if (filled + bytes >= LINE_BYTES) {
		const __m256i *from = (__m256i *)(both + LINE_BYTES - filled);
		__m256i *to = (__m256i *)(dst - filled);

		_mm256_stream_si256(to, _mm256_loadu_si256(from));
		_mm256_stream_si256(to + 1, _mm256_loadu_si256(from + 1));
	}
	memcpy(line, both + bytes, LINE_BYTES);
}

TARGET __attribute__((nonnull(1, 2, 3, 4)))
void engine_join_short_4_avx2(uint8_t *dst, const uint8_t *src, uint8_t (*lines)[LINE_BYTES],
			      const struct engine_tile *tile, const uint8_t *next)
{
	const int64_t columns = tile->extents[0], dst_stride = tile->dst_strides[0];
	const int64_t stride = tile->src_strides[1], rows = tile->extents[1] / IN_LINE * IN_LINE;

	for (int64_t c = 0; rows && c < columns; c += WIDTH) {
		const int64_t from = min(c, columns - WIDTH);
		uint8_t *to = BEYOND(dst, from * dst_stride);

		if (next) {
			join_beside(to, src + from * SIZE, lines + from, tile, rows, c - from,
				    next);
			next += (from + WIDTH - c) * rows * SIZE;
		} else {
			join_alone(to, src + from * SIZE, lines + from, tile, rows, c - from, NULL);
		}
	}
	dst += rows * SIZE;
	src = BEYOND(src, rows * stride);
	for (int64_t c = 0; rows < tile->extents[1] && c < columns; c++)
		join_rest(BEYOND(dst, c * dst_stride), src + c * SIZE, lines[c],
			  tile->extents[1] - rows, stride);
}

#endif /* __x86_64__ */
