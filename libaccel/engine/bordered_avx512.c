// SPDX-License-Identifier: MIT
/*
 * Rows with borders, put together to lines in registers, by AVX-512 (F, BW) and BMI2. Contract in
 * kernels.h. What a line has of a row is loaded by a mask of bytes, around which the fill stays; a
 * line in which two rows meet is two such loads. Lines within a row take few instructions, so that
 * the CPU has loads of many of them under way.
 */
#include <stddef.h>

#include "kernels.h"

#ifdef __x86_64__

#include "square_avx512.h"

INLINE uint64_t lowest_bits(int64_t count)
{
	return count <= 0 ? 0 : _bzhi_u64(~0ull, (uint32_t)min(count, 64));
}

/* The 64 bytes of a row, with its borders, that begin at one; those beyond the row are any. */
INLINE __m512i load_line(const struct engine_bordered_rows *rows, __m512i fill, const uint8_t *src,
			 int64_t at)
{
	uint64_t bytes = lowest_bits(rows->end - at) & ~lowest_bits(rows->first - at);

	/* what is beyond a border may lie anywhere, where a load without bytes takes long */
	if (!bytes)
		return fill;
	return _mm512_mask_loadu_epi8(fill, bytes, BEYOND(src, at));
}

/* The line in which a row begins. */
INLINE void store_first(struct engine_line *line, uint8_t *to, __m512i bytes)
{
	if (!line->others) {
		_mm512_stream_si512((__m512i *)to, bytes);
		return;
	}
	_mm512_mask_storeu_epi8(to, ~lowest_bits(line->others), bytes);
	line->others = 0;
}

/* The lines from one on that the source has all of, two at a time; returns where they end. */
INLINE int64_t stream_inner(const struct engine_bordered_rows *rows, uint8_t *row,
			    const uint8_t *src, int64_t at, bool fetches)
{
	const uint8_t *ahead = BEYOND(src, rows->ahead);
	const int64_t end = rows->end - 128;

	for (; at <= end; at += 128) {
		__m512i first, second;

		if (fetches) {
			engine_fetch(BEYOND(ahead, at));
			engine_fetch(BEYOND(ahead, at + 64));
		}
		first = _mm512_loadu_si512(src + at);
		second = _mm512_loadu_si512(src + at + 64);
		_mm512_stream_si512((__m512i *)(row + at), first);
		_mm512_stream_si512((__m512i *)(row + at + 64), second);
	}
	return at;
}

/* Whole lines from one on, all but those that the source has all of. */
INLINE int64_t stream_border(const struct engine_bordered_rows *rows, __m512i fill, uint8_t *row,
			     const uint8_t *src, int64_t at, int64_t end)
{
	for (; at < end && at + 64 <= rows->bytes; at += 64)
		_mm512_stream_si512((__m512i *)(row + at), load_line(rows, fill, src, at));
	return at;
}

TARGET void engine_stream_bordered_avx512(struct engine_line *line, const uint8_t *src,
					  const struct engine_bordered_rows *rows)
{
	/* rows close to each other the CPU itself sees coming */
	const bool fetches = !engine_rows_are_close(rows->stride, rows->bytes);
	const __m512i fill = _mm512_loadu_si512(rows->fill);
	__m512i waiting = _mm512_loadu_si512(line->bytes);
	int64_t filled = line->filled;
	uint8_t *to = line->to;

	for (int64_t r = 0; r < rows->count; r++) {
		__m512i first = load_line(rows, fill, src, -filled);
		uint8_t *row = to + filled;
		int64_t at = 64 - filled;

		if (fetches)
			engine_fetch(BEYOND(src, rows->ahead));
		store_first(line, to, _mm512_mask_mov_epi8(first, lowest_bits(filled), waiting));
		at = stream_border(rows, fill, row, src, at, rows->first);
		at = stream_inner(rows, row, src, at, fetches);
		at = stream_border(rows, fill, row, src, at, rows->bytes);
		if (fetches)
			engine_fetch(BEYOND(BEYOND(src, rows->ahead), rows->bytes - 1));
		filled = rows->bytes - at;
		waiting = load_line(rows, fill, src, at);
		src = BEYOND(src, rows->stride);
		to = row + at;
	}
	_mm512_storeu_si512(line->bytes, waiting);
	line->filled = filled;
	line->to = to;
}

#endif /* __x86_64__ */
