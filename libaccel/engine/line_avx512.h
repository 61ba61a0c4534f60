/* SPDX-License-Identifier: MIT */
/*
 * Lines put together in registers by AVX-512: bytes of two that follow each other, and columns that
 * go on behind what waits.
 */
#ifndef TESSERA_ENGINE_LINE_AVX512_H
#define TESSERA_ENGINE_LINE_AVX512_H

#include "square_avx512.h"

INLINE __mmask64 mask_of(int64_t bytes)
{
	return _bzhi_u64(~0ull, (uint32_t)min(bytes, 64));
}

/*
 * The places of 64 bytes in two lines that follow each other, from this one on. They are computed:
 * of a table of all bytes' places what is loaded would go across two lines itself.
 */
INLINE __m512i places_from(int64_t place)
{
	static const uint8_t places[64] __attribute__((aligned(64))) = {
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
		32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
		48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
	};

	return _mm512_add_epi8(_mm512_load_si512(places), _mm512_set1_epi8((char)place));
}

/* The bytes of two lines, one after the other, from a place in the first one on. */
INLINE __m512i bytes_from(__m512i first, int64_t place, __m512i second)
{
	return _mm512_permutex2var_epi8(first, places_from(place), second);
}

/*
 * Puts so many bytes of a column behind those that wait, and streams the line that they fill. Its
 * place is found here: compilers would find those of other columns before, and spill some.
 */
INLINE void join_column(uint8_t *to, __m512i column, __m512i *line, int64_t bytes)
{
	const __m512i waiting = *line;
	int64_t filled;

	ADVANCE(to, 0);
	filled = (int64_t)((uintptr_t)to % 64);

	if (filled + bytes >= 64)
		_mm512_stream_si512((__m512i *)(to - filled),
				    bytes_from(waiting, 64 - filled, column));
	*line = bytes < 64 ? bytes_from(waiting, bytes, column) : column;
}

/* Stores what the line in which a column begins has of it. What is beyond waits. */
INLINE void begin_column(uint8_t *to, __m512i column, __m512i *line)
{
	_mm512_mask_storeu_epi8(to, mask_of(64 - (int64_t)((uintptr_t)to % 64)), column);
	*line = column;
}

#endif /* TESSERA_ENGINE_LINE_AVX512_H */
