/* SPDX-License-Identifier: MIT */
/*
 * What kernels that transpose squares by AVX2 share: rounds of unpacking within lanes of 16 bytes.
 * Where rows come from and columns go to is the business of the file that includes this one.
 */
#ifndef TESSERA_ENGINE_SQUARE_AVX2_H
#define TESSERA_ENGINE_SQUARE_AVX2_H

#include <immintrin.h>
#include <stdint.h>

#include "arithmetic.h"
#include "place.h"

#define TARGET	__attribute__((target("avx2,prfchw")))
#define INLINE	TARGET static inline __attribute__((always_inline))
#define UNROLL	_Pragma("GCC unroll 16")

/* A row in each half. */
INLINE __m256i load_lanes(const uint8_t *low, const uint8_t *high)
{
	return _mm256_inserti128_si256(
		_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)low)),
		_mm_loadu_si128((const __m128i *)high), 1);
}

/* Which of eight 4-byte elements lanes have, one after the other from this one on. */
INLINE __m256i elements_from(int first)
{
	return _mm256_and_si256(_mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
						 _mm256_set1_epi32(first)),
				_mm256_set1_epi32(7));
}

/* The lanes of 4-byte elements from this one on. */
INLINE __m256i lanes_from(int lane)
{
	return _mm256_cmpgt_epi32(elements_from(0), _mm256_set1_epi32(lane - 1));
}

/*
 * Interleaves the first half of count registers with the second, within lanes. log2(count) rounds
 * transpose lanes of count elements.
 */
#define DEFINE_ROUND(bits)									\
INLINE void round_##bits(__m256i *registers, int count)						\
{												\
	__m256i mixed[16];									\
												\
	UNROLL											\
	for (int k = 0; k < count / 2; k++) {							\
		mixed[2 * k] = _mm256_unpacklo_epi##bits(registers[k],				\
							 registers[k + count / 2]);		\
		mixed[2 * k + 1] = _mm256_unpackhi_epi##bits(registers[k],			\
							     registers[k + count / 2]);		\
	}											\
	UNROLL											\
	for (int k = 0; k < count; k++)								\
		registers[k] = mixed[k];							\
}

DEFINE_ROUND(8)
DEFINE_ROUND(16)
DEFINE_ROUND(32)
DEFINE_ROUND(64)

/* So few rows that compilers may hold an offset for each, and need not go from one to the next. */
#define ARE_FEW(bits)	((bits) >= 32)

/*
 * Loads two groups of rows, as many in each as a lane has elements, and transposes both: of these
 * columns each half of a register has one of a group.
 */
#define DEFINE_LOAD_TRANSPOSED(bits, rounds)							\
INLINE void load_transposed_##bits(__m256i *columns, const uint8_t *low, const uint8_t *high,	\
			       int64_t stride)							\
{												\
	enum { N = 128 / (bits) };								\
												\
	UNROLL											\
	for (int k = 0; k < N; k++) {								\
		if (ARE_FEW(bits)) {								\
			columns[k] = load_lanes(BEYOND(low, k * stride),			\
						BEYOND(high, k * stride));			\
		} else {									\
			columns[k] = load_lanes(low, high);					\
			ADVANCE(low, stride);							\
			ADVANCE(high, stride);							\
		}										\
	}											\
	UNROLL											\
	for (int round = 0; round < (rounds); round++)						\
		round_##bits(columns, N);							\
}

DEFINE_LOAD_TRANSPOSED(8, 4)
DEFINE_LOAD_TRANSPOSED(16, 3)
DEFINE_LOAD_TRANSPOSED(32, 2)
DEFINE_LOAD_TRANSPOSED(64, 1)

INLINE void load_transposed_128(__m256i *columns, const uint8_t *low, const uint8_t *high,
			    int64_t stride)
{
	(void)stride;
	*columns = load_lanes(low, high);
}

#endif /* TESSERA_ENGINE_SQUARE_AVX2_H */
