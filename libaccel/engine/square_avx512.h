/* SPDX-License-Identifier: MIT */
/*
 * What kernels that transpose squares by AVX-512 share: rounds of unpacking within lanes of 16
 * bytes, and the transposition of lanes among each other. Where rows come from and columns go to is
 * the business of the file that includes this one.
 */
#ifndef TESSERA_ENGINE_SQUARE_AVX512_H
#define TESSERA_ENGINE_SQUARE_AVX512_H

#include <immintrin.h>
#include <stdint.h>

#include "arithmetic.h"
#include "place.h"

#define TARGET										\
	__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi2,prfchw")))
#define INLINE	TARGET static inline __attribute__((always_inline))
#define UNROLL	_Pragma("GCC unroll 64")

/*
 * Interleaves the first half of count registers with the second, within lanes. log2(count) rounds
 * transpose lanes of count elements.
 */
#define DEFINE_ROUND(size, bits)								\
INLINE void round_##size(__m512i *registers, int count)					\
{												\
	__m512i mixed[16];									\
												\
	UNROLL											\
	for (int k = 0; k < count / 2; k++) {							\
		mixed[2 * k] = _mm512_unpacklo_epi##bits(registers[k],				\
							 registers[k + count / 2]);		\
		mixed[2 * k + 1] = _mm512_unpackhi_epi##bits(registers[k],			\
							     registers[k + count / 2]);		\
	}											\
	UNROLL											\
	for (int k = 0; k < count; k++)								\
		registers[k] = mixed[k];							\
}

DEFINE_ROUND(1, 8)
DEFINE_ROUND(2, 16)
DEFINE_ROUND(4, 32)
DEFINE_ROUND(8, 64)

/* Elements as large as a lane are in their places. */
INLINE void round_16(__m512i *registers, int count)
{
	(void)registers;
	(void)count;
}

/* Lanes 0 and 2 of two registers. */
INLINE __m512i even_lanes(__m512i first, __m512i second)
{
	return _mm512_shuffle_i64x2(first, second, 0x88);
}

/* Lanes 1 and 3. */
INLINE __m512i odd_lanes(__m512i first, __m512i second)
{
	return _mm512_shuffle_i64x2(first, second, 0xdd);
}

/* Lane l of register k becomes lane k of register l. */
INLINE void transpose_lanes(__m512i *a, __m512i *b, __m512i *c, __m512i *d)
{
	__m512i ab01 = _mm512_shuffle_i64x2(*a, *b, 0x44);
	__m512i ab23 = _mm512_shuffle_i64x2(*a, *b, 0xee);
	__m512i cd01 = _mm512_shuffle_i64x2(*c, *d, 0x44);
	__m512i cd23 = _mm512_shuffle_i64x2(*c, *d, 0xee);

	*a = even_lanes(ab01, cd01);
	*b = odd_lanes(ab01, cd01);
	*c = even_lanes(ab23, cd23);
	*d = odd_lanes(ab23, cd23);
}

#endif /* TESSERA_ENGINE_SQUARE_AVX512_H */
