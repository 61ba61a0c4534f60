// SPDX-License-Identifier: MIT
/*
 * Columns that go on into each other in the destination, around the caches, by AVX2. Contract in
 * kernels.h, at engine_chain_kernel. Of 4-byte elements lines are put together in registers, a half
 * at a time. Of elements of 16 bytes nothing is to be transposed: a line is four elements one below
 * the other, or the last ones of a column and the first ones of the next.
 */
#ifdef __x86_64__
#include "kernels.h"
#include "square_avx2.h"

/* --- 4-byte elements -------------------------------------------------------------------------- */

#define IN_HALF	8

/*
 * How far columns have come. Where what waited for them is no halves, each half is the end of what
 * came last and the beginning of the next eight elements.
 */
struct chain {
	__m256i *to;		/* the half that is stored next */
	__m256i gathered;	/* the next eight elements, as far as they are known */
	__m256i turned;		/* the last eight, each as far on as what waits has it */
	__m256i stored;		/* the last half */
	int waiting;		/* elements */
};

/* Moves each element so many lanes on, the last ones to the beginning. */
INLINE __m256i turn(__m256i elements, int by)
{
	return _mm256_permutevar8x32_epi32(elements, elements_from(-by));
}

INLINE __m256i join(__m256i before, __m256i behind, int place)
{
	return _mm256_blendv_epi8(before, behind, lanes_from(place));
}

INLINE void stream_eight(struct chain *chain, __m256i eight, bool shifts)
{
	__m256i half = eight;

	if (shifts) {
		eight = turn(eight, chain->waiting);
		half = join(chain->turned, eight, chain->waiting);
		chain->turned = eight;
	}
	_mm256_stream_si256(chain->to++, half);
	chain->stored = half;
}

/* The first count lanes go to what columns have from so many elements after a multiple of 8 on. */
INLINE void append(struct chain *chain, __m256i elements, int place, int count, bool shifts)
{
	const __m256i turned = place ? turn(elements, place) : elements;

	chain->gathered = place ? join(chain->gathered, turned, place) : turned;
	if (place + count < IN_HALF)
		return;
	stream_eight(chain, chain->gathered, shifts);
	chain->gathered = turned;
}

/* Four columns, of which so many elements came before. */
INLINE void append_columns(struct chain *chain, const uint8_t *src, int64_t stride, int before,
			   int num_rows, bool shifts)
{
	__m256i columns[2][4];

	UNROLL
	for (int k = 0; k < 8; k++) {
		const int low = k / 4 * 8 + k % 4, high = min(low + 4, num_rows - 1);

		columns[k / 4][k % 4] = load_lanes(BEYOND(src, min(low, num_rows - 1) * stride),
						   BEYOND(src, high * stride));
	}
	UNROLL
	for (int part = 0; part < 2; part++) {
		round_32(columns[part], 4);
		round_32(columns[part], 4);
	}
	UNROLL
	for (int c = 0; c < 4; c++) {
		const int place = (before + c * num_rows) % IN_HALF;

		append(chain, columns[0][c], place, IN_HALF, shifts);
		append(chain, columns[1][c], place, num_rows - IN_HALF, shifts);
	}
}

INLINE void chain_rows(struct chain *state, const uint8_t *src, const struct engine_tile *tile,
		       int num_rows, bool shifts)
{
	const int64_t stride = tile->src_strides[1];
	struct chain chain = *state;

	for (int64_t c = 0; c < tile->extents[0]; c += 8) {
		append_columns(&chain, src, stride, 0, num_rows, shifts);
		append_columns(&chain, src + 16, stride, 4 * num_rows, num_rows, shifts);
		src += 32;
	}
	*state = chain;
}

/* Columns have more than half a line: what they are made of is known by number only so. */
#define CHAIN_CASE(num_rows, shifts)								\
	case num_rows:										\
		chain_rows(chain, src, tile, num_rows, shifts);					\
		break

#define DEFINE_CHAIN(name, shifts)								\
TARGET __attribute__((noinline))								\
static void name(struct chain *chain, const uint8_t *src, const struct engine_tile *tile)	\
{												\
	switch (tile->extents[1]) {								\
	CHAIN_CASE(9, shifts);									\
	CHAIN_CASE(10, shifts);									\
	CHAIN_CASE(11, shifts);									\
	CHAIN_CASE(12, shifts);									\
	CHAIN_CASE(13, shifts);									\
	CHAIN_CASE(14, shifts);									\
	CHAIN_CASE(15, shifts);									\
	}											\
}

DEFINE_CHAIN(chain_in_place, false)
DEFINE_CHAIN(chain_shifted, true)

/*
 * A half that waits is stored at once, and one that waits in the end as well: who goes on there
 * stores it again, with the rest of its line.
 */
TARGET __attribute__((nonnull))
void engine_chain_4_avx2(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,
			 uint8_t *line, int64_t filled)
{
	__m256i *const half = (__m256i *)(line + LINE_BYTES - filled);
	__m256i *const last = (__m256i *)line + 1;
	const int waiting = (int)((uint64_t)filled / 4 % IN_HALF);
	const __m256i turned = turn(_mm256_loadu_si256(last), waiting);
	struct chain chain = { (__m256i *)dst, turned, turned, turned, waiting };

	if (filled >= LINE_BYTES / 2)
		_mm256_stream_si256(chain.to++, _mm256_loadu_si256(half));
	if (!tile->extents[0])
		return;
	if (waiting)
		chain_shifted(&chain, src, tile);
	else
		chain_in_place(&chain, src, tile);
	_mm256_storeu_si256(last, turn(chain.turned, -waiting));
	if (filled >= LINE_BYTES / 2)
		_mm256_storeu_si256(half, chain.stored);
}

/* --- 16-byte elements ------------------------------------------------------------------------- */

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
