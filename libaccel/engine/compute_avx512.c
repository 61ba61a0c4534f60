// SPDX-License-Identifier: MIT
/*
 * Kernels of instructions with AVX-512: F, BW, DQ and VL. What the operations here are for, and all
 * else, is in compute_vector.h.
 */
#ifdef __x86_64__

#include <immintrin.h>
#include <string.h>

#include "float.h"
#include "program.h"

#define TARGET	__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define TABLE	engine_compute_avx512
#define LANES	16

typedef __m512i integers;
typedef __m512 floats;
typedef __mmask16 mask;

/* Each operation is one instruction or a few, on vectors a and b. */
#define OPERATION(result, name, parameters, ...) \
static inline TARGET result name parameters { return __VA_ARGS__; }

OPERATION(integers, set, (int32_t value), _mm512_set1_epi32(value))
OPERATION(integers, add, (integers a, integers b), _mm512_add_epi32(a, b))
OPERATION(integers, sub, (integers a, integers b), _mm512_sub_epi32(a, b))
OPERATION(integers, mul, (integers a, integers b), _mm512_mullo_epi32(a, b))
OPERATION(integers, and_, (integers a, integers b), _mm512_and_si512(a, b))
OPERATION(integers, or_, (integers a, integers b), _mm512_or_si512(a, b))
OPERATION(integers, xor_, (integers a, integers b), _mm512_xor_si512(a, b))
OPERATION(integers, absolute, (integers a), _mm512_abs_epi32(a))
OPERATION(integers, sign_of, (integers a), _mm512_srai_epi32(a, 31))
OPERATION(integers, min_signed, (integers a, integers b), _mm512_min_epi32(a, b))
OPERATION(integers, max_signed, (integers a, integers b), _mm512_max_epi32(a, b))
OPERATION(integers, min_unsigned, (integers a, integers b), _mm512_min_epu32(a, b))
OPERATION(integers, max_unsigned, (integers a, integers b), _mm512_max_epu32(a, b))
OPERATION(mask, equal, (integers a, integers b), _mm512_cmpeq_epi32_mask(a, b))
OPERATION(mask, less_signed, (integers a, integers b), _mm512_cmplt_epi32_mask(a, b))
OPERATION(mask, less_unsigned, (integers a, integers b), _mm512_cmplt_epu32_mask(a, b))
OPERATION(mask, not_, (mask m), _knot_mask16(m))
OPERATION(integers, ones, (mask m), _mm512_maskz_set1_epi32(m, 1))
OPERATION(integers, choose, (mask m, integers a, integers b), _mm512_mask_blend_epi32(m, b, a))

OPERATION(floats, set_float, (float value), _mm512_set1_ps(value))
OPERATION(floats, floats_of_bits, (integers a), _mm512_castsi512_ps(a))
OPERATION(integers, bits_of_floats, (floats a), _mm512_castps_si512(a))
OPERATION(floats, add_float, (floats a, floats b), _mm512_add_ps(a, b))
OPERATION(floats, sub_float, (floats a, floats b), _mm512_sub_ps(a, b))
OPERATION(floats, mul_float, (floats a, floats b), _mm512_mul_ps(a, b))
OPERATION(floats, fma_float, (floats a, floats b, floats c), _mm512_fmadd_ps(a, b, c))
OPERATION(floats, min_float, (floats a, floats b), _mm512_min_ps(a, b))
OPERATION(floats, max_float, (floats a, floats b), _mm512_max_ps(a, b))
OPERATION(mask, equal_float, (floats a, floats b), _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ))
OPERATION(mask, less_float, (floats a, floats b), _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ))
OPERATION(mask, less_equal_float, (floats a, floats b), _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ))
OPERATION(mask, unordered, (floats a, floats b), _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q))
OPERATION(floats, choose_float, (mask m, floats a, floats b), _mm512_mask_blend_ps(m, b, a))

/* Keeps compilers from making one operation, rounded once, of this one and the next. */
static inline TARGET floats rounded(floats value)
{
	__asm__("" : "+v"(value));
	return value;
}

OPERATION(floats, float_of, (integers a), _mm512_cvtepi32_ps(a))
OPERATION(integers, nearest, (floats a), _mm512_cvtps_epi32(a))
OPERATION(integers, truncated, (floats a), _mm512_cvttps_epi32(a))

/* What does not fit 64 bits becomes -2^63, and 0 in the lowest 32: as it should. */
#define WRAP(CONVERT, value)									\
	_mm512_inserti64x4(_mm512_castsi256_si512(						\
		_mm512_cvtepi64_epi32(CONVERT(_mm512_castps512_ps256(value)))),			\
		_mm512_cvtepi64_epi32(CONVERT(_mm512_extractf32x8_ps(value, 1))), 1)

OPERATION(integers, wrap_nearest, (floats a), WRAP(_mm512_cvtps_epi64, a))
OPERATION(integers, wrap_truncated, (floats a), WRAP(_mm512_cvttps_epi64, a))

#define FMA_ROUNDED(a, b, c, direction) \
	_mm512_fmadd_round_ps(a, b, c, direction | _MM_FROUND_NO_EXC)

/* a * b + c, rounded to odd: it is exact if the numbers above and below it are the same. */
static inline TARGET floats fma_odd(floats a, floats b, floats c)
{
	floats below = FMA_ROUNDED(a, b, c, _MM_FROUND_TO_NEG_INF);
	floats above = FMA_ROUNDED(a, b, c, _MM_FROUND_TO_POS_INF);
	floats result = FMA_ROUNDED(a, b, c, _MM_FROUND_TO_ZERO);
	mask exact = equal_float(below, above);
	integers bits = bits_of_floats(result);

	return floats_of_bits(choose(exact, bits, or_(bits, set(1))));
}

#define LOAD(result, type, element, ...)							\
static inline TARGET result load_##type(const void *strip, uint32_t i)				\
{												\
	const element *from = (const element *)strip + i;					\
												\
	return __VA_ARGS__;									\
}

LOAD(integers, u8, uint8_t, _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)from)))
LOAD(integers, i8, uint8_t, _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)from)))
LOAD(integers, u16, uint16_t, _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)from)))
LOAD(integers, i16, uint16_t, _mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *)from)))
LOAD(integers, u32, uint32_t, _mm512_loadu_si512(from))
LOAD(integers, i32, uint32_t, _mm512_loadu_si512(from))
LOAD(floats, f16, uint16_t, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)from)))
LOAD(floats, bf16, uint16_t, floats_of_bits(_mm512_slli_epi32(load_u16(from, 0), 16)))
LOAD(floats, f32, float, _mm512_loadu_ps(from))

#define STORE(type, element, value_type, ...)							\
static inline TARGET void store_##type(void *strip, uint32_t i, value_type value)		\
{												\
	element *to = (element *)strip + i;							\
												\
	__VA_ARGS__;										\
}

STORE(8, uint8_t, integers, _mm_storeu_si128((__m128i *)to, _mm512_cvtepi32_epi8(value)))
STORE(16, uint16_t, integers, _mm256_storeu_si256((__m256i *)to, _mm512_cvtepi32_epi16(value)))
STORE(32, uint32_t, integers, _mm512_storeu_si512(to, value))
STORE(f16, uint16_t, floats, _mm256_storeu_si256((__m256i *)to,
      _mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)))
STORE(f32, float, floats, _mm512_storeu_ps(to, value))

/* Half of what is dropped is added, less a little where that makes the last digit even. */
static inline TARGET void store_bf16(void *strip, uint32_t i, floats value)
{
	integers bits = bits_of_floats(value);
	integers last = and_(_mm512_srli_epi32(bits, 16), set(1));

	store_16(strip, i, _mm512_srli_epi32(add(bits, add(last, set(0x7fff))), 16));
}

static inline TARGET void stream_f32(void *strip, uint32_t i, floats value)
{
	_mm512_stream_ps((float *)strip + i, value);
}

/* Undoes that both packings go by quarters of a vector. */
static inline TARGET integers in_order(integers packed)
{
	return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13,
							  2, 6, 10, 14, 3, 7, 11, 15), packed);
}

/* 4 * LANES integers, each as the nearest that the type has. */
#define STORE_SATURATED(type, PACK)								\
static inline TARGET void store_saturated_##type(void *strip, uint32_t i, const integers *values) \
{												\
	integers low = _mm512_packs_epi32(values[0], values[1]);				\
	integers high = _mm512_packs_epi32(values[2], values[3]);				\
												\
	_mm512_storeu_si512((uint8_t *)strip + i, in_order(PACK(low, high)));			\
}

STORE_SATURATED(u8, _mm512_packus_epi16)
STORE_SATURATED(i8, _mm512_packs_epi16)

#include "compute_vector.h"

#endif /* __x86_64__ */
