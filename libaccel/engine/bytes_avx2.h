/* SPDX-License-Identifier: MIT */
/*
 * Registers of which memory has a part, loaded by AVX2 without touching what is beside it. Through
 * memory, byte by byte, they would wait for the streaming stores before them.
 */
#ifndef TESSERA_ENGINE_BYTES_AVX2_H
#define TESSERA_ENGINE_BYTES_AVX2_H

#include <string.h>

#include "square_avx2.h"

/* Two pieces of so many bytes, one in each half. */
INLINE __m128i load_pieces(const uint8_t *low, const uint8_t *high, size_t bytes)
{
	uint64_t halves[2] = { 0 };

	memcpy(&halves[0], low, bytes);
	memcpy(&halves[1], high, bytes);
	return _mm_set_epi64x((int64_t)halves[1], (int64_t)halves[0]);
}

/* So many bytes, from the first one on of 16, by two pieces that may overlap; else the fill. */
INLINE __m128i load_bytes(const uint8_t *from, int first, int bytes, __m128i fill)
{
	const __m128i places = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	const __m128i at = _mm_sub_epi8(places, _mm_set1_epi8((char)first));
	const __m128i after = _mm_cmpgt_epi8(_mm_set1_epi8((char)bytes), at);
	const __m128i known = _mm_andnot_si128(_mm_cmpgt_epi8(_mm_setzero_si128(), at), after);
	const int piece = bytes >= 8 ? 8 : bytes >= 4 ? 4 : bytes >= 2 ? 2 : 1;
	const __m128i is_high = _mm_cmpgt_epi8(at, _mm_set1_epi8((char)(piece - 1)));
	const __m128i shift = _mm_set1_epi8((char)(8 - bytes + piece));
	const uint8_t *high = from + bytes - piece;
	__m128i pieces;

	if (piece == 8)
		pieces = load_pieces(from, high, 8);
	else if (piece == 4)
		pieces = load_pieces(from, high, 4);
	else if (piece == 2)
		pieces = load_pieces(from, high, 2);
	else
		pieces = load_pieces(from, high, 1);
	pieces = _mm_shuffle_epi8(pieces, _mm_add_epi8(at, _mm_and_si128(is_high, shift)));
	return _mm_blendv_epi8(fill, pieces, known);
}

#endif /* TESSERA_ENGINE_BYTES_AVX2_H */
