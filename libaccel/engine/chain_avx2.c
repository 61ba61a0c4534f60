// SPDX-License-Identifier: MIT
/*
 * Columns of 16-byte elements that go on into each other in the destination, around the caches, by
 * AVX2. Contract in kernels.h, at engine_chain_kernel. Nothing is to be transposed: a line is four
 * elements one below the other, or the last ones of a column and the first ones of the next.
 */
#ifdef __x86_64__
#include "kernels.h"
#include "square_avx2.h"

#define SIZE	16
#define IN_LINE	(LINE_BYTES / SIZE)

/* The element that comes next. */
struct cursor {
	const uint8_t *column;	/* its first element */
	const uint8_t *from;
	int64_t row;
};

INLINE __m128i next_element(struct cursor *cursor, const struct engine_tile *tile)
{
	const __m128i element = _mm_loadu_si128((const __m128i *)cursor->from);

	cursor->from = BEYOND(cursor->from, tile->src_strides[1]);
	if (++cursor->row == tile->extents[1]) {
		cursor->column += SIZE;
		cursor->from = cursor->column;
		cursor->row = 0;
	}
	return element;
}

INLINE void stream_pair(uint8_t *to, __m128i low, __m128i high)
{
	_mm256_stream_si256((__m256i *)to, _mm256_set_m128i(high, low));
}

/* Four elements of one column. */
INLINE void stream_column(uint8_t *to, struct cursor *cursor, int64_t stride)
{
	const uint8_t *from = cursor->from, *lower = BEYOND(from, 2 * stride);

	_mm256_stream_si256((__m256i *)to, load_lanes(from, BEYOND(from, stride)));
	_mm256_stream_si256((__m256i *)to + 1, load_lanes(lower, BEYOND(lower, stride)));
	cursor->from = BEYOND(lower, 2 * stride);
	cursor->row += IN_LINE;
}

INLINE void stream_line(uint8_t *to, struct cursor *cursor, const struct engine_tile *tile)
{
	__m128i elements[IN_LINE];

	/* the last one goes on to the next column */
	if (cursor->row + IN_LINE < tile->extents[1]) {
		stream_column(to, cursor, tile->src_strides[1]);
		return;
	}
	UNROLL
	for (int k = 0; k < IN_LINE; k++)
		elements[k] = next_element(cursor, tile);
	stream_pair(to, elements[0], elements[1]);
	stream_pair(to + 2 * SIZE, elements[2], elements[3]);
}

TARGET __attribute__((nonnull))
void engine_chain_16_avx2(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,
			  uint8_t *line, int64_t filled)
{
	const int64_t count = tile->extents[0] * tile->extents[1];
	const int64_t first = (LINE_BYTES - filled) / SIZE % IN_LINE;
	struct cursor cursor = { src, src, 0 };
	__m128i elements[IN_LINE];
	int64_t done;

	for (int64_t k = 0; k < IN_LINE - first && filled; k++)
		elements[k] = _mm_loadu_si128((__m128i *)(line + LINE_BYTES - filled) + k);
	for (int64_t k = 0; k < first; k++)
		elements[IN_LINE - first + k] = next_element(&cursor, tile);
	if (filled) {
		stream_pair(dst, elements[0], elements[1]);
		stream_pair(dst + 2 * SIZE, elements[2], elements[3]);
		dst += LINE_BYTES;
	}
	for (done = first; done + IN_LINE <= count; done += IN_LINE) {
		stream_line(dst, &cursor, tile);
		dst += LINE_BYTES;
	}
	for (int64_t left = count - done; left > 0; left--)
		_mm_storeu_si128((__m128i *)(line + LINE_BYTES) - left,
				 next_element(&cursor, tile));
}

#endif /* __x86_64__ */
