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

#endif /* TESSERA_ENGINE_SQUARE_AVX2_H */
