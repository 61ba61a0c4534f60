// SPDX-License-Identifier: MIT
/*
 * Interleaving rows and taking them apart with AVX2. Contract in kernels.h. n vectors make n
 * vectors, half by half: a result is put together from bytes of each vector, which a shuffle
 * brings to their places.
 */
#ifdef __x86_64__

#include <immintrin.h>

#include "kernels.h"

#define TARGET	__attribute__((target("avx2")))
#define INLINE	static inline __attribute__((always_inline)) TARGET

#define VECTOR_BYTES	32
#define HALF_BYTES	16
#define MAX_ROWS	8

/* Where the bytes of half a result come from: 16 times the vector, plus the byte. */
typedef __m256i place_function(__m256i bytes, int k, int n, int size_shift);

static TARGET __m256i place_to_interleave(__m256i bytes, int k, int n, int size_shift)
{
	const __m128i shift = _mm_cvtsi32_si128(size_shift);
	__m256i in_element = _mm256_and_si256(bytes,
		_mm256_set1_epi16((short)~(~0u << size_shift)));
	__m256i elements = _mm256_srl_epi16(_mm256_add_epi16(bytes,
					    _mm256_set1_epi16((short)(k * HALF_BYTES))), shift);
	/* divided by n, exactly: there are no more than 128 elements */
	__m256i points = _mm256_mulhi_epu16(elements, _mm256_set1_epi16((short)(65536 / n + 1)));
	__m256i rows = _mm256_sub_epi16(elements, _mm256_mullo_epi16(points,
					_mm256_set1_epi16((short)n)));

	return _mm256_add_epi16(_mm256_add_epi16(_mm256_slli_epi16(rows, 4),
						 _mm256_sll_epi16(points, shift)), in_element);
}

static TARGET __m256i place_to_deinterleave(__m256i bytes, int k, int n, int size_shift)
{
	const __m128i shift = _mm_cvtsi32_si128(size_shift);
	__m256i in_element = _mm256_and_si256(bytes,
		_mm256_set1_epi16((short)~(~0u << size_shift)));
	__m256i points = _mm256_srl_epi16(bytes, shift);
	__m256i elements = _mm256_add_epi16(_mm256_mullo_epi16(points,
					    _mm256_set1_epi16((short)n)),
					    _mm256_set1_epi16((short)k));

	return _mm256_add_epi16(_mm256_sll_epi16(elements, shift), in_element);
}

/* For each result and vector, the shuffle that brings its bytes; others become 0. */
INLINE void prepare(__m256i *shuffles, place_function *place, int n, int size_shift)
{
	const __m256i bytes = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
						15);

	for (int k = 0; k < n; k++) {
		__m256i places = place(bytes, k, n, size_shift);
		__m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi16(places, places),
							  0x88);

		for (int v = 0; v < n; v++) {
			__m256i in_vector = _mm256_sub_epi8(packed,
				_mm256_set1_epi8((char)(v * HALF_BYTES)));

			/* from 0 to 15: of this vector; else the highest bit is set */
			shuffles[k * n + v] = _mm256_or_si256(in_vector,
				_mm256_cmpgt_epi8(in_vector, _mm256_set1_epi8(HALF_BYTES - 1)));
		}
	}
}

INLINE __m256i permute(const __m256i *shuffles, const __m256i *vectors, int n)
{
	__m256i bytes = _mm256_shuffle_epi8(vectors[0], shuffles[0]);

	for (int v = 1; v < n; v++)
		bytes = _mm256_or_si256(bytes, _mm256_shuffle_epi8(vectors[v], shuffles[v]));
	return bytes;
}

/* Of the elements side by side: both halves of a vector, so many bytes apart. */
INLINE __m256i load_halves(const uint8_t *src, int64_t apart)
{
	return _mm256_inserti128_si256(
		_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)src)),
		_mm_loadu_si128((const __m128i *)(src + apart)), 1);
}

INLINE void store_halves(uint8_t *dst, int64_t apart, __m256i value)
{
	_mm_storeu_si128((__m128i *)dst, _mm256_castsi256_si128(value));
	_mm_storeu_si128((__m128i *)(dst + apart), _mm256_extracti128_si256(value, 1));
}

/*
 * Vectors are taken from the beginning of each row, and one more from its end, where it overlaps
 * the one before: begin gives the next place.
 */
INLINE int64_t next_place(int64_t place, int64_t row_bytes)
{
	int64_t last = row_bytes - VECTOR_BYTES;

	return place + VECTOR_BYTES <= last || place == last ? place + VECTOR_BYTES : last;
}

#define DEFINE_NUMBER(n)									\
static TARGET void interleave_##n(uint8_t *dst, const uint8_t *src,				\
				  const struct engine_tile *tile, int size_shift)		\
{												\
	const int64_t row_bytes = tile->extents[0] << size_shift;				\
	__m256i shuffles[n * n], vectors[n];							\
												\
	prepare(shuffles, place_to_interleave, n, size_shift);					\
	for (int64_t at = 0; at < row_bytes; at = next_place(at, row_bytes)) {			\
		for (int v = 0; v < n; v++)							\
			vectors[v] = _mm256_loadu_si256(					\
				(const __m256i *)(src + v * tile->src_strides[1] + at));	\
		for (int k = 0; k < n; k++)							\
			store_halves(dst + at * n + k * HALF_BYTES, HALF_BYTES * n,		\
				     permute(shuffles + k * n, vectors, n));			\
	}											\
}												\
												\
static TARGET void deinterleave_##n(uint8_t *dst, const uint8_t *src,				\
				    const struct engine_tile *tile, int size_shift)		\
{												\
	const int64_t row_bytes = tile->extents[1] << size_shift;				\
	__m256i shuffles[n * n], vectors[n];							\
												\
	prepare(shuffles, place_to_deinterleave, n, size_shift);				\
	for (int64_t at = 0; at < row_bytes; at = next_place(at, row_bytes)) {			\
		for (int v = 0; v < n; v++)							\
			vectors[v] = load_halves(src + at * n + v * HALF_BYTES,			\
						 HALF_BYTES * n);				\
		for (int k = 0; k < n; k++)							\
			_mm256_storeu_si256((__m256i *)(dst + k * tile->dst_strides[0] + at),	\
					    permute(shuffles + k * n, vectors, n));		\
	}											\
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

/* Rows that are shorter than a vector are not worth one. */
#define DEFINE_SIZE(size, size_shift)								\
static void interleave_size_##size(uint8_t *dst, const uint8_t *src,				\
				   const struct engine_tile *tile)				\
{												\
	if (tile->extents[0] < VECTOR_BYTES / (size))						\
		engine_copy_portable.strided[size_shift](dst, src, tile);			\
	else											\
		interleave[tile->extents[1]](dst, src, tile, size_shift);			\
}												\
												\
static void deinterleave_size_##size(uint8_t *dst, const uint8_t *src,				\
				     const struct engine_tile *tile)				\
{												\
	if (tile->extents[1] < VECTOR_BYTES / (size))						\
		engine_copy_portable.strided[size_shift](dst, src, tile);			\
	else											\
		deinterleave[tile->extents[0]](dst, src, tile, size_shift);			\
}

DEFINE_SIZE(1, 0)
DEFINE_SIZE(2, 1)
DEFINE_SIZE(4, 2)
DEFINE_SIZE(8, 3)

engine_tile_kernel *const engine_interleave_avx2[ENGINE_NUM_INTERLEAVED] = {
	interleave_size_1, interleave_size_2, interleave_size_4, interleave_size_8,
};

engine_tile_kernel *const engine_deinterleave_avx2[ENGINE_NUM_INTERLEAVED] = {
	deinterleave_size_1, deinterleave_size_2, deinterleave_size_4, deinterleave_size_8,
};

#endif /* __x86_64__ */
