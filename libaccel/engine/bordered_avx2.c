// SPDX-License-Identifier: MIT
/*
 * Rows with borders, put together to vectors in registers, by AVX2. Contract in kernels.h. What a
 * vector has of a row is loaded by a mask of 4-byte lanes, which is why elements have 4 bytes or
 * more; around it is the fill. A vector in which two rows meet is two such loads: put together in
 * memory it would wait for the streaming stores before it. Both halves of a line are streamed one
 * after the other.
 */
#include "kernels.h"

#ifdef __x86_64__

#include "square_avx2.h"

#define VECTOR_BYTES	((int64_t)sizeof(__m256i))

/* All bits of the lanes of a vector that begin at one byte or later, and before another. */
INLINE __m256i lanes_from(int64_t first, int64_t end)
{
	const __m256i places = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
	const __m256i before = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)first), places);

	return _mm256_andnot_si256(before, _mm256_cmpgt_epi32(_mm256_set1_epi32((int)end), places));
}

/* The vector of a row, with its borders, that begins at one of its bytes; others are any. */
INLINE __m256i load_vector(const struct engine_bordered_rows *rows, __m256i fill,
			   const uint8_t *src, int64_t at)
{
	__m256i lanes;

	if (at >= rows->first && at + VECTOR_BYTES <= rows->end)
		return _mm256_loadu_si256(BEYOND(src, at));
	/* what is beyond a border may lie anywhere, where a load without bytes takes long */
	if (at >= rows->end || at + VECTOR_BYTES <= rows->first)
		return fill;
	lanes = lanes_from(rows->first - at, rows->end - at);
	return _mm256_blendv_epi8(fill, _mm256_maskload_epi32(BEYOND(src, at), lanes), lanes);
}

/* The vector in which a row begins, but for what others have stored of it. */
INLINE void store_first(uint8_t *to, __m256i bytes, int64_t others)
{
	if (others <= 0)
		_mm256_stream_si256((__m256i *)to, bytes);
	else
		_mm256_maskstore_epi32((int *)to, lanes_from(others, VECTOR_BYTES), bytes);
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
			     const uint8_t *src, int64_t at, int64_t end)
{
	for (; at < end && at + VECTOR_BYTES <= rows->bytes; at += VECTOR_BYTES)
		_mm256_stream_si256((__m256i *)(row + at), load_vector(rows, fill, src, at));
	return at;
}

TARGET void engine_stream_bordered_avx2(struct engine_line *line, const uint8_t *src,
					const struct engine_bordered_rows *given)
{
	/* a copy: of what is pointed to, compilers think that stores may change it */
	const struct engine_bordered_rows rows = *given;
	const __m256i fill = _mm256_loadu_si256((const __m256i *)rows.fill);
	const int64_t begun = line->filled / VECTOR_BYTES * VECTOR_BYTES;
	__m256i waiting = _mm256_loadu_si256((const __m256i *)(line->bytes + begun));
	int64_t filled = line->filled - begun, others = line->others - begun;
	uint8_t *to = line->to + begun;

	for (int64_t r = 0; r < rows.count; r++) {
		const __m256i first = load_vector(&rows, fill, src, -filled);
		uint8_t *row = to + filled;
		int64_t at = VECTOR_BYTES - filled;

		/* close rows, too: of loads of some lanes the CPU does not see what comes next */
		engine_fetch(BEYOND(src, rows.ahead));
		store_first(to, _mm256_blendv_epi8(first, waiting, lanes_from(0, filled)), others);
		others = 0;
		at = stream_border(&rows, fill, row, src, at, rows.first);
		at = stream_inner(&rows, row, src, at);
		at = stream_border(&rows, fill, row, src, at, rows.bytes);
		engine_fetch(BEYOND(BEYOND(src, rows.ahead), rows.bytes - 1));
		filled = rows.bytes - at;
		waiting = load_vector(&rows, fill, src, at);
		src = BEYOND(src, rows.stride);
		to = row + at;
	}
	_mm256_storeu_si256((__m256i *)line->bytes, waiting);
	line->filled = filled;
	line->others = 0;
	line->to = to;
}

#endif /* __x86_64__ */
