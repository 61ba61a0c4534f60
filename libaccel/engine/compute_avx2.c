// SPDX-License-Identifier: MIT
/*
 * Kernels of instructions with AVX2, FMA and F16C. What the operations here are for, and all else,
 * is in compute_vector.h.
 */
#ifdef __x86_64__

#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#include "float.h"
#include "program.h"

#define TARGET	__attribute__((target("avx2,fma,f16c")))
#define TABLE	engine_compute_avx2
#define LANES	8

typedef __m256i integers;
typedef __m256 floats;
typedef __m256i mask;		/* all bits of a lane, or none */

/* Each operation is one instruction or a few, on vectors a and b. */
#define OPERATION(result, name, parameters, ...) \
static inline TARGET result name parameters { return __VA_ARGS__; }

OPERATION(integers, set, (int32_t value), _mm256_set1_epi32(value))
OPERATION(integers, add, (integers a, integers b), _mm256_add_epi32(a, b))
OPERATION(integers, sub, (integers a, integers b), _mm256_sub_epi32(a, b))
OPERATION(integers, mul, (integers a, integers b), _mm256_mullo_epi32(a, b))
OPERATION(integers, and_, (integers a, integers b), _mm256_and_si256(a, b))
OPERATION(integers, or_, (integers a, integers b), _mm256_or_si256(a, b))
OPERATION(integers, xor_, (integers a, integers b), _mm256_xor_si256(a, b))
OPERATION(integers, absolute, (integers a), _mm256_abs_epi32(a))
OPERATION(integers, sign_of, (integers a), _mm256_srai_epi32(a, 31))
OPERATION(integers, min_signed, (integers a, integers b), _mm256_min_epi32(a, b))
OPERATION(integers, max_signed, (integers a, integers b), _mm256_max_epi32(a, b))
OPERATION(integers, min_unsigned, (integers a, integers b), _mm256_min_epu32(a, b))
OPERATION(integers, max_unsigned, (integers a, integers b), _mm256_max_epu32(a, b))
OPERATION(mask, equal, (integers a, integers b), _mm256_cmpeq_epi32(a, b))
OPERATION(mask, less_signed, (integers a, integers b), _mm256_cmpgt_epi32(b, a))
OPERATION(mask, less_unsigned, (integers a, integers b),
	  less_signed(xor_(a, set(INT32_MIN)), xor_(b, set(INT32_MIN))))
OPERATION(mask, not_, (mask m), xor_(m, set(-1)))
OPERATION(integers, ones, (mask m), _mm256_srli_epi32(m, 31))
OPERATION(integers, choose, (mask m, integers a, integers b), _mm256_blendv_epi8(b, a, m))

OPERATION(floats, set_float, (float value), _mm256_set1_ps(value))
OPERATION(floats, floats_of_bits, (integers a), _mm256_castsi256_ps(a))
OPERATION(integers, bits_of_floats, (floats a), _mm256_castps_si256(a))
OPERATION(floats, add_float, (floats a, floats b), _mm256_add_ps(a, b))
OPERATION(floats, sub_float, (floats a, floats b), _mm256_sub_ps(a, b))
OPERATION(floats, mul_float, (floats a, floats b), _mm256_mul_ps(a, b))
OPERATION(floats, fma_float, (floats a, floats b, floats c), _mm256_fmadd_ps(a, b, c))
OPERATION(floats, min_float, (floats a, floats b), _mm256_min_ps(a, b))
OPERATION(floats, max_float, (floats a, floats b), _mm256_max_ps(a, b))
OPERATION(mask, equal_float, (floats a, floats b), bits_of_floats(_mm256_cmp_ps(a, b, _CMP_EQ_OQ)))
OPERATION(mask, less_float, (floats a, floats b), bits_of_floats(_mm256_cmp_ps(a, b, _CMP_LT_OQ)))
OPERATION(mask, less_equal_float, (floats a, floats b),
	  bits_of_floats(_mm256_cmp_ps(a, b, _CMP_LE_OQ)))
OPERATION(mask, unordered, (floats a, floats b),
	  bits_of_floats(_mm256_cmp_ps(a, b, _CMP_UNORD_Q)))
OPERATION(floats, choose_float, (mask m, floats a, floats b),
	  _mm256_blendv_ps(b, a, floats_of_bits(m)))

/* Keeps compilers from making one operation, rounded once, of this one and the next. */
static inline TARGET floats rounded(floats value)
{
	__asm__("" : "+x"(value));
	return value;
}

OPERATION(floats, float_of, (integers a), _mm256_cvtepi32_ps(a))
OPERATION(integers, nearest, (floats a), _mm256_cvtps_epi32(a))
OPERATION(integers, truncated, (floats a), _mm256_cvttps_epi32(a))

/* Whether i32 holds every lane. */
static inline TARGET bool fits_i32(floats value)
{
	floats magnitude = floats_of_bits(and_(bits_of_floats(value), set(INT32_MAX)));

	return _mm256_movemask_ps(_mm256_cmp_ps(magnitude, set_float(0x1p31f), _CMP_LT_OQ)) == 0xff;
}

/* There is no conversion to 64 bits: a vector with large numbers in it goes a lane at a time. */
#define DEFINE_WRAP(name, CONVERT, round)							\
static inline TARGET integers name(floats value)						\
{												\
	uint32_t wrapped[LANES];								\
	float lanes[LANES];									\
												\
	if (fits_i32(value))									\
		return CONVERT(value);								\
	_mm256_storeu_ps(lanes, value);								\
	for (int i = 0; i < LANES; i++)								\
		wrapped[i] = (uint32_t)engine_wrap_f64(round(lanes[i]));			\
	return _mm256_loadu_si256((const __m256i *)wrapped);					\
}

DEFINE_WRAP(wrap_nearest, nearest, engine_round_f64)
DEFINE_WRAP(wrap_truncated, truncated, engine_truncate_f64)

/* Four lanes of a * b + c as floats rounded to odd. The product is exact in double. */
static inline TARGET __m128 fma_odd_half(__m256d a, __m256d b, __m256d c)
{
	__m256d product = _mm256_mul_pd(a, b), sum = _mm256_add_pd(product, c);
	/* what the sum lacks, exactly (D. Knuth, TAOCP 4.2.2, theorem B) */
	__m256d of_c = _mm256_sub_pd(sum, product);
	__m256d lacking = _mm256_add_pd(_mm256_sub_pd(product, _mm256_sub_pd(sum, of_c)),
					_mm256_sub_pd(c, of_c));
	__m128 result = _mm256_cvtpd_ps(sum);
	__m256d wide = _mm256_cvtps_pd(result);
	/* what the result lacks: its sign is that of the larger part */
	__m256d rest = _mm256_blendv_pd(_mm256_sub_pd(sum, wide), lacking,
					_mm256_cmp_pd(sum, wide, _CMP_EQ_OQ));
	__m256d inexact = _mm256_cmp_pd(rest, _mm256_setzero_pd(), _CMP_NEQ_OQ);
	__m256d beyond = _mm256_and_pd(inexact, _mm256_xor_pd(rest, wide));
	const __m256i evens = _mm256_setr_epi32(1, 3, 5, 7, 1, 3, 5, 7);
	__m128i bits = _mm_castps_si128(result);
	__m128i less = _mm_srli_epi32(_mm256_castsi256_si128(_mm256_permutevar8x32_epi32(
				      _mm256_castpd_si256(beyond), evens)), 31);
	__m128i odd = _mm_srli_epi32(_mm256_castsi256_si128(_mm256_permutevar8x32_epi32(
				     _mm256_castpd_si256(inexact), evens)), 31);

	/* one that lies beyond the exact value goes back, toward zero */
	return _mm_castsi128_ps(_mm_or_si128(_mm_sub_epi32(bits, less), odd));
}

static inline TARGET floats fma_odd(floats a, floats b, floats c)
{
	__m128 low = fma_odd_half(_mm256_cvtps_pd(_mm256_castps256_ps128(a)),
				  _mm256_cvtps_pd(_mm256_castps256_ps128(b)),
				  _mm256_cvtps_pd(_mm256_castps256_ps128(c)));
	__m128 high = fma_odd_half(_mm256_cvtps_pd(_mm256_extractf128_ps(a, 1)),
				   _mm256_cvtps_pd(_mm256_extractf128_ps(b, 1)),
				   _mm256_cvtps_pd(_mm256_extractf128_ps(c, 1)));

	return _mm256_set_m128(high, low);
}

#define LOAD(result, type, element, ...)							\
static inline TARGET result load_##type(const void *strip, uint32_t i)				\
{												\
	const element *from = (const element *)strip + i;					\
												\
	return __VA_ARGS__;									\
}

LOAD(integers, u8, uint8_t, _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)from)))
LOAD(integers, i8, uint8_t, _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)from)))
LOAD(integers, u16, uint16_t, _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)from)))
LOAD(integers, i16, uint16_t, _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)from)))
LOAD(integers, u32, uint32_t, _mm256_loadu_si256((const __m256i *)from))
LOAD(integers, i32, uint32_t, _mm256_loadu_si256((const __m256i *)from))
LOAD(floats, f16, uint16_t, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from)))
LOAD(floats, bf16, uint16_t, floats_of_bits(_mm256_slli_epi32(load_u16(from, 0), 16)))
LOAD(floats, f32, float, _mm256_loadu_ps(from))

#define STORE(type, element, value_type, ...)							\
static inline TARGET void store_##type(void *strip, uint32_t i, value_type value)		\
{												\
	element *to = (element *)strip + i;							\
												\
	__VA_ARGS__;										\
}

/* The lowest byte, or two, of the four lanes of each half; then the halves side by side. */
static inline TARGET __m128i lowest_bytes(integers value)
{
	const __m256i first = _mm256_set1_epi32(0x0c080400);
	__m256i packed = _mm256_shuffle_epi8(value, first);

	return _mm_unpacklo_epi32(_mm256_castsi256_si128(packed),
				  _mm256_extracti128_si256(packed, 1));
}

static inline TARGET __m128i lowest_pairs(integers value)
{
	const __m256i first = _mm256_set1_epi64x(0x0d0c090805040100);
	__m256i packed = _mm256_shuffle_epi8(value, first);

	return _mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0x08));
}

STORE(8, uint8_t, integers, _mm_storel_epi64((__m128i *)to, lowest_bytes(value)))
STORE(16, uint16_t, integers, _mm_storeu_si128((__m128i *)to, lowest_pairs(value)))
STORE(32, uint32_t, integers, _mm256_storeu_si256((__m256i *)to, value))
STORE(f16, uint16_t, floats, _mm_storeu_si128((__m128i *)to,
      _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)))
STORE(f32, float, floats, _mm256_storeu_ps(to, value))

/* Half of what is dropped is added, less a little where that makes the last digit even. */
static inline TARGET void store_bf16(void *strip, uint32_t i, floats value)
{
	integers bits = bits_of_floats(value);
	integers last = and_(_mm256_srli_epi32(bits, 16), set(1));

	store_16(strip, i, _mm256_srli_epi32(add(bits, add(last, set(0x7fff))), 16));
}

static inline TARGET void stream_f32(void *strip, uint32_t i, floats value)
{
	_mm256_stream_ps((float *)strip + i, value);
}

/* Undoes that both packings go by halves of a vector. */
static inline TARGET integers in_order(integers packed)
{
	return _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* 4 * LANES integers, each as the nearest that the type has. */
#define STORE_SATURATED(type, PACK)								\
static inline TARGET void store_saturated_##type(void *strip, uint32_t i, const integers *values) \
{												\
	integers low = _mm256_packs_epi32(values[0], values[1]);				\
	integers high = _mm256_packs_epi32(values[2], values[3]);				\
												\
	_mm256_storeu_si256((__m256i *)((uint8_t *)strip + i), in_order(PACK(low, high)));	\
}

STORE_SATURATED(u8, _mm256_packus_epi16)
STORE_SATURATED(i8, _mm256_packs_epi16)

#include "compute_vector.h"

#endif /* __x86_64__ */
