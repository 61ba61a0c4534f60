// SPDX-License-Identifier: MIT
/*
 * Interleaving rows and taking them apart with AVX-512: F, BW, VL and VBMI. Contract in kernels.h.
 * n vectors make n vectors: a result is put together from pairs of vectors, of any byte of which
 * one permutation makes a vector.
 */
#ifdef __x86_64__

#include <immintrin.h>

#include "kernels.h"
#include "place.h"

#define TARGET										\
	__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,prfchw")))
#define INLINE	static inline __attribute__((always_inline)) TARGET

#define VECTOR_BYTES	64
#define MAX_ROWS	8
#define MAX_PAIRS	(MAX_ROWS / 2)

/* So far ahead lines of the destination are asked for. */
#define OWN_AHEAD	1024

/* What a result is made of: a byte's place in its pair of vectors, and the bytes from each pair. */
struct result {
	__m512i places;
	__mmask64 masks[MAX_PAIRS];
};

/* The places of 32 bytes of a result, from byte first on: 64 times the vector, plus the byte. */
typedef __m512i place_function(__m512i first, int k, int n, int size_shift);

static TARGET __m512i place_to_interleave(__m512i bytes, int k, int n, int size_shift)
{
	const __m128i shift = _mm_cvtsi32_si128(size_shift);
	__m512i in_element = _mm512_and_si512(bytes,
		_mm512_set1_epi16((short)~(~0u << size_shift)));
	__m512i elements = _mm512_srl_epi16(_mm512_add_epi16(bytes,
					    _mm512_set1_epi16((short)(k * VECTOR_BYTES))), shift);
	/* divided by n, exactly: there are less than 512 elements */
	__m512i points = _mm512_mulhi_epu16(elements, _mm512_set1_epi16((short)(65536 / n + 1)));
	__m512i rows = _mm512_sub_epi16(elements, _mm512_mullo_epi16(points,
					_mm512_set1_epi16((short)n)));

	return _mm512_add_epi16(_mm512_add_epi16(_mm512_slli_epi16(rows, 6),
						 _mm512_sll_epi16(points, shift)), in_element);
}

static TARGET __m512i place_to_deinterleave(__m512i bytes, int k, int n, int size_shift)
{
	const __m128i shift = _mm_cvtsi32_si128(size_shift);
	__m512i in_element = _mm512_and_si512(bytes,
		_mm512_set1_epi16((short)~(~0u << size_shift)));
	__m512i points = _mm512_srl_epi16(bytes, shift);
	__m512i elements = _mm512_add_epi16(_mm512_mullo_epi16(points,
					    _mm512_set1_epi16((short)n)),
					    _mm512_set1_epi16((short)k));

	return _mm512_add_epi16(_mm512_sll_epi16(elements, shift), in_element);
}

INLINE void prepare(struct result *results, place_function *place, int n, int size_shift)
{
	const __m512i low = _mm512_cvtepu8_epi16(_mm256_setr_epi8(
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
		23, 24, 25, 26, 27, 28, 29, 30, 31));
	const __m512i high = _mm512_add_epi16(low, _mm512_set1_epi16(32));

	for (int k = 0; k < n; k++) {
		__m512i of_low = place(low, k, n, size_shift);
		__m512i of_high = place(high, k, n, size_shift);
		__m512i pairs_low = _mm512_srli_epi16(of_low, 7);
		__m512i pairs_high = _mm512_srli_epi16(of_high, 7);

		results[k].places = _mm512_inserti64x4(
			_mm512_castsi256_si512(_mm512_cvtepi16_epi8(of_low)),
			_mm512_cvtepi16_epi8(of_high), 1);
		for (short p = 0; p < (n + 1) / 2; p++) {
			__m512i pair = _mm512_set1_epi16(p);

			results[k].masks[p] = _mm512_kunpackd(
				_mm512_cmpeq_epi16_mask(pairs_high, pair),
				_mm512_cmpeq_epi16_mask(pairs_low, pair));
		}
	}
}

INLINE __m512i permute(const struct result *result, const __m512i *vectors, int n)
{
	__m512i bytes = _mm512_permutex2var_epi8(vectors[0], result->places, vectors[1]);

	for (int v = 2; v < n; v += 2) {
		__m512i others = v + 1 < n ?
			_mm512_permutex2var_epi8(vectors[v], result->places, vectors[v + 1]) :
			_mm512_permutexvar_epi8(result->places, vectors[v]);

		bytes = _mm512_mask_blend_epi8(result->masks[v / 2], bytes, others);
	}
	return bytes;
}

/* The first so many bytes of a vector: all of them for more, none for less than one. */
INLINE __mmask64 first_bytes(int64_t count)
{
	return count >= VECTOR_BYTES ? ~0ull : count > 0 ? ~(~0ull << count) : 0;
}

/* A side of the permutation: n vectors that follow each other, or begin at n rows. */
struct side {
	int64_t step;		/* bytes from one vector to the next */
	bool is_rows;
};

/* The bytes of vector v when each row has so many left. */
INLINE int64_t bytes_left(const struct side *side, int v, int n, int64_t row_bytes)
{
	return side->is_rows ? row_bytes : row_bytes * n - v * VECTOR_BYTES;
}

/* The last points, less than fill a vector of each row. */
INLINE void permute_rest(uint8_t *dst, const uint8_t *src, const struct side *to,
			 const struct side *from, const struct result *results, int n,
			 int64_t row_bytes)
{
	__m512i vectors[MAX_ROWS];

	for (int v = 0; v < n; v++)
		vectors[v] = _mm512_maskz_loadu_epi8(
			first_bytes(bytes_left(from, v, n, row_bytes)), src + v * from->step);
	for (int k = 0; k < n; k++)
		_mm512_mask_storeu_epi8(dst + k * to->step,
					first_bytes(bytes_left(to, k, n, row_bytes)),
					permute(&results[k], vectors, n));
}

INLINE void permute_rows(uint8_t *dst, const uint8_t *src, const struct side *to,
			 const struct side *from, const struct result *results, int n,
			 int64_t row_bytes)
{
	const int64_t dst_step = VECTOR_BYTES * (to->is_rows ? 1 : n);
	const int64_t src_step = VECTOR_BYTES * (from->is_rows ? 1 : n);
	const bool owns = engine_stores_wait();

	for (; row_bytes >= VECTOR_BYTES; row_bytes -= VECTOR_BYTES) {
		__m512i vectors[MAX_ROWS];

		for (int v = 0; v < n; v++)
			vectors[v] = _mm512_loadu_si512(src + v * from->step);
		for (int k = 0; k < n; k++) {
			uint8_t *row = dst + k * to->step;

			if (owns)
				engine_own(BEYOND(row, OWN_AHEAD));
			_mm512_storeu_si512(row, permute(&results[k], vectors, n));
		}
		dst += dst_step;
		src += src_step;
	}
	if (row_bytes)
		permute_rest(dst, src, to, from, results, n, row_bytes);
}

#define DEFINE_NUMBER(n)									\
static TARGET void interleave_##n(uint8_t *dst, const uint8_t *src,				\
				  const struct engine_tile *tile, int size_shift)		\
{												\
	const struct side to = { VECTOR_BYTES, false }, from = { tile->src_strides[1], true };	\
	struct result results[n];								\
												\
	prepare(results, place_to_interleave, n, size_shift);					\
	permute_rows(dst, src, &to, &from, results, n, tile->extents[0] << size_shift);		\
}												\
												\
static TARGET void deinterleave_##n(uint8_t *dst, const uint8_t *src,				\
				    const struct engine_tile *tile, int size_shift)		\
{												\
	const struct side to = { tile->dst_strides[0], true }, from = { VECTOR_BYTES, false };	\
	struct result results[n];								\
												\
	prepare(results, place_to_deinterleave, n, size_shift);					\
	permute_rows(dst, src, &to, &from, results, n, tile->extents[1] << size_shift);		\
}

DEFINE_NUMBER(2)
DEFINE_NUMBER(3)
DEFINE_NUMBER(4)
DEFINE_NUMBER(5)
DEFINE_NUMBER(6)
DEFINE_NUMBER(7)
DEFINE_NUMBER(8)

typedef void number_function(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,
			     int size_shift);

static number_function *const interleave[MAX_ROWS + 1] = {
	[2] = interleave_2, interleave_3, interleave_4, interleave_5, interleave_6, interleave_7,
	interleave_8,
};

static number_function *const deinterleave[MAX_ROWS + 1] = {
	[2] = deinterleave_2, deinterleave_3, deinterleave_4, deinterleave_5, deinterleave_6,
	deinterleave_7, deinterleave_8,
};

#define DEFINE_SIZE(size, size_shift)								\
static void interleave_size_##size(uint8_t *dst, const uint8_t *src,				\
				   const struct engine_tile *tile)				\
{												\
	interleave[tile->extents[1]](dst, src, tile, size_shift);				\
}												\
												\
static void deinterleave_size_##size(uint8_t *dst, const uint8_t *src,				\
				     const struct engine_tile *tile)				\
{												\
	deinterleave[tile->extents[0]](dst, src, tile, size_shift);				\
}

DEFINE_SIZE(1, 0)
DEFINE_SIZE(2, 1)
DEFINE_SIZE(4, 2)
DEFINE_SIZE(8, 3)

engine_tile_kernel *const engine_interleave_avx512[ENGINE_NUM_INTERLEAVED] = {
	interleave_size_1, interleave_size_2, interleave_size_4, interleave_size_8,
};

engine_tile_kernel *const engine_deinterleave_avx512[ENGINE_NUM_INTERLEAVED] = {
	deinterleave_size_1, deinterleave_size_2, deinterleave_size_4, deinterleave_size_8,
};

#endif /* __x86_64__ */
