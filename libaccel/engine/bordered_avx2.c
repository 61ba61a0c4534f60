// SPDX-License-Identifier: MIT
/*
 * Rows with borders, put together to vectors in registers, by AVX2. Contract in kernels.h. Of a row
 * that ends within a vector its own last vector is loaded, and moved to its place, or where places
 * are multiples of 4 bytes, lanes of that size are by a mask; around them is the fill. A vector in
 * which two rows meet is two such loads: put together in memory it would wait for the streaming
 * stores before it. Both halves of a line are streamed one after the other.
 */
#include "kernels.h"

#ifdef __x86_64__

#include "bytes_avx2.h"

#define VECTOR_BYTES	((int64_t)sizeof(__m256i))

/* The lanes of 4 bytes, from a byte on to another, of the vector at a place; else the fill. */
INLINE __m256i load_some_lanes(const uint8_t *from, int64_t first, int64_t end, __m256i fill)
{
	const __m256i places = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
	const __m256i before = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)first), places);
	const __m256i lanes = _mm256_andnot_si256(before,
		_mm256_cmpgt_epi32(_mm256_set1_epi32((int)end), places));

	return _mm256_blendv_epi8(fill, _mm256_maskload_epi32((const int *)from, lanes), lanes);
}

INLINE __m256i places(void)
{
	return _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
				19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
}

/* All bits of the bytes before one. */
INLINE __m256i bytes_before(int64_t byte)
{
	return _mm256_cmpgt_epi8(_mm256_set1_epi8((char)byte), places());
}

/* Moves bytes up by so many places, or down; where none come to there are any. */
INLINE __m256i shift_bytes(__m256i vector, int64_t by)
{
	const __m256i from = _mm256_sub_epi8(places(), _mm256_set1_epi8((char)by));
	const __m256i low = _mm256_permute2x128_si256(vector, vector, 0x00);
	const __m256i high = _mm256_permute2x128_si256(vector, vector, 0x11);

	return _mm256_blendv_epi8(_mm256_shuffle_epi8(low, from), _mm256_shuffle_epi8(high, from),
				  _mm256_cmpgt_epi8(from, _mm256_set1_epi8(15)));
}

/* Bytes first to end of the 16 at a place; in the place of the others the fill. */
INLINE __m128i load_half(const uint8_t *from, int64_t first, int64_t end, __m128i fill)
{
	first = max(first, 0);
	end = min(end, 16);
	if (first >= end)
		return fill;
	return load_bytes(BEYOND(from, first), (int)first, (int)(end - first), fill);
}

/* Bytes first to end of the vector at a place, where a row has so few. */
TARGET static __attribute__((noinline)) __m256i load_short(const uint8_t *from, int64_t first,
							   int64_t end, __m256i fill)
{
	return _mm256_set_m128i(load_half(BEYOND(from, 16), first - 16, end - 16,
					  _mm256_extracti128_si256(fill, 1)),
				load_half(from, first, end, _mm256_castsi256_si128(fill)));
}

/* The vector of a row, with its borders, that begins at one of its bytes; others are any. */
INLINE __m256i load_vector(const struct engine_bordered_rows *rows, __m256i fill,
			   const uint8_t *src, int64_t at, bool has_lanes)
{
	const int64_t first = rows->first - at, end = rows->end - at;
	const uint8_t *from = BEYOND(src, at);
	__m256i bytes;
	int64_t by;

	if (first <= 0 && end >= VECTOR_BYTES)
		return _mm256_loadu_si256((const __m256i *)from);
	/* what is beyond a border may lie anywhere, where a load without bytes takes long */
	if (end <= 0 || first >= VECTOR_BYTES)
		return fill;
	if (has_lanes)
		return load_some_lanes(from, first, end, fill);
	if (end - first < VECTOR_BYTES)
		return load_short(from, first, end, fill);
	/* of all that the row has, the vector next to this one */
	by = first > 0 ? first : min(end - VECTOR_BYTES, 0);
	bytes = shift_bytes(_mm256_loadu_si256(BEYOND(from, by)), by);
	if (rows->end < rows->bytes)
		bytes = _mm256_blendv_epi8(fill, bytes, bytes_before(min(end, VECTOR_BYTES)));
	if (rows->first)
		bytes = _mm256_blendv_epi8(bytes, fill, bytes_before(max(first, 0)));
	return bytes;
}

/* The vector in which a row begins, but for what others have stored of it. */
INLINE void store_first(uint8_t *to, __m256i vector, int64_t others)
{
	uint8_t bytes[VECTOR_BYTES];

	if (others <= 0) {
		_mm256_stream_si256((__m256i *)to, vector);
		return;
	}
	_mm256_storeu_si256((__m256i *)bytes, vector);
	memcpy(to + others, bytes + others, (size_t)(VECTOR_BYTES - others));
}

/* The vectors from one on that the source has all of; returns where they end. */
INLINE int64_t stream_inner(const struct engine_bordered_rows *rows, uint8_t *row,
			    const uint8_t *src, int64_t at)
{
	const uint8_t *ahead = BEYOND(src, rows->ahead);
	const int64_t end = rows->end - 2 * VECTOR_BYTES;

	for (; at <= end; at += 2 * VECTOR_BYTES) {
		__m256i first, second;

		engine_fetch(BEYOND(ahead, at));
		first = _mm256_loadu_si256((const __m256i *)(src + at));
		second = _mm256_loadu_si256((const __m256i *)(src + at + VECTOR_BYTES));
		_mm256_stream_si256((__m256i *)(row + at), first);
		_mm256_stream_si256((__m256i *)(row + at + VECTOR_BYTES), second);
	}
	if (at <= end + VECTOR_BYTES) {
		_mm256_stream_si256((__m256i *)(row + at),
				    _mm256_loadu_si256((const __m256i *)(src + at)));
		at += VECTOR_BYTES;
	}
	return at;
}

/* Whole vectors from one on, all but those that the source has all of. */
INLINE int64_t stream_border(const struct engine_bordered_rows *rows, __m256i fill, uint8_t *row,
			     const uint8_t *src, int64_t at, int64_t end, bool has_lanes)
{
	for (; at < end && at + VECTOR_BYTES <= rows->bytes; at += VECTOR_BYTES)
		_mm256_stream_si256((__m256i *)(row + at),
				    load_vector(rows, fill, src, at, has_lanes));
	return at;
}

INLINE void stream_rows(struct engine_line *line, const uint8_t *src,
			const struct engine_bordered_rows *given, bool has_lanes)
{
	/* a copy: of what is pointed to, compilers think that stores may change it */
	const struct engine_bordered_rows rows = *given;
	const __m256i fill = _mm256_loadu_si256((const __m256i *)rows.fill);
	const int64_t begun = line->filled / VECTOR_BYTES * VECTOR_BYTES;
	__m256i waiting = _mm256_loadu_si256((const __m256i *)(line->bytes + begun));
	int64_t filled = line->filled - begun, others = line->others - begun;
	uint8_t *to = line->to + begun;

	for (int64_t r = 0; r < rows.count; r++) {
		const __m256i first = load_vector(&rows, fill, src, -filled, has_lanes);
		uint8_t *row = to + filled;
		int64_t at = VECTOR_BYTES - filled;

		/* of rows close to each other, too, the CPU sees what comes next too late */
		engine_fetch(BEYOND(src, rows.ahead));
		store_first(to, _mm256_blendv_epi8(first, waiting, bytes_before(filled)), others);
		others = 0;
		at = stream_border(&rows, fill, row, src, at, rows.first, has_lanes);
		at = stream_inner(&rows, row, src, at);
		at = stream_border(&rows, fill, row, src, at, rows.bytes, has_lanes);
		engine_fetch(BEYOND(BEYOND(src, rows.ahead), rows.bytes - 1));
		filled = rows.bytes - at;
		waiting = load_vector(&rows, fill, src, at, has_lanes);
		src = BEYOND(src, rows.stride);
		to = row + at;
	}
	_mm256_storeu_si256((__m256i *)line->bytes, waiting);
	line->filled = filled;
	line->others = 0;
	line->to = to;
}

TARGET void engine_stream_bordered_avx2(struct engine_line *line, const uint8_t *src,
					const struct engine_bordered_rows *rows)
{
	if ((line->filled | rows->bytes | rows->first | rows->end) % 4 == 0)
		stream_rows(line, src, rows, true);
	else
		stream_rows(line, src, rows, false);
}

#endif /* __x86_64__ */
