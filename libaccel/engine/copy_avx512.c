// SPDX-License-Identifier: MIT
/*
 * Kernels of copies for AVX-512: vectors of 64 bytes, and streaming stores. Their contract is in
 * kernels.h, their rows in copy_rows.h.
 */
#include "kernels.h"

#ifdef __x86_64__

#include <immintrin.h>

#define VECTOR_BYTES	64
#define TARGET		__attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi")))
#define TABLE		engine_copy_avx512
#define end_stores()	_mm_sfence()
#define STREAM_BORDERED	engine_stream_bordered_avx512
#define BORDERED_FAR_BYTES	0
#define stream_vector(to, v)	_mm512_stream_si512((__m512i *)(to), (__m512i)(v))

#include "copy_rows.h"

/* Steps of the source, in elements, that are picked from vectors rather than one by one. */
#define MOST_STEPS	4

/* How 64 bytes of the destination are picked from as many vectors of the source as it has steps. */
struct picks {
	__m512i bytes[2];	/* from vectors 0 and 1, and from 2 and 3 */
	__mmask64 from_second;	/* which are from the latter */
};

static TARGET void init_picks(struct picks *picks, int64_t size, int64_t steps)
{
	uint8_t bytes[VECTOR_BYTES];
	uint64_t from_second = 0;

	for (int i = 0; i < VECTOR_BYTES; i++) {
		int64_t from = i / size * steps * size + i % size;

		bytes[i] = (uint8_t)from;
		if (from >= 2 * VECTOR_BYTES)
			from_second |= 1ull << i;
	}
	/* the instruction takes the lowest seven bits */
	picks->bytes[0] = picks->bytes[1] = _mm512_loadu_si512(bytes);
	picks->from_second = from_second;
}

/* Picks whole vectors of the destination; returns how many elements of the row that were. */
INLINE int64_t pick_row(uint8_t *dst, const uint8_t *src, int64_t count, int64_t size,
			int64_t steps, const struct picks *picks)
{
	const int64_t per_vector = VECTOR_BYTES / size;
	int64_t i = 0;

	/* the vectors of the last element end with some that are skipped: not here */
	for (; i + per_vector < count; i += per_vector) {
		const uint8_t *from = src + i * steps * size;
		__m512i picked = _mm512_permutex2var_epi8(_mm512_loadu_si512(from), picks->bytes[0],
							  _mm512_loadu_si512(from + VECTOR_BYTES));

		if (steps == 3)
			picked = _mm512_mask_permutexvar_epi8(picked, picks->from_second,
				picks->bytes[1], _mm512_loadu_si512(from + 2 * VECTOR_BYTES));
		if (steps == 4)
			picked = _mm512_mask_blend_epi8(picks->from_second, picked,
				_mm512_permutex2var_epi8(
					_mm512_loadu_si512(from + 2 * VECTOR_BYTES),
					picks->bytes[1],
					_mm512_loadu_si512(from + 3 * VECTOR_BYTES)));
		_mm512_storeu_si512(dst + i * size, picked);
	}
	return i;
}

static TARGET int64_t pick(uint8_t *dst, const uint8_t *src, int64_t count, int64_t size,
			   int64_t steps, const struct picks *picks)
{
	if (steps == 2)
		return pick_row(dst, src, count, size, 2, picks);
	if (steps == 3)
		return pick_row(dst, src, count, size, 3, picks);
	return pick_row(dst, src, count, size, 4, picks);
}

/* How many elements the source steps over, if that is what pick() is for; otherwise 0. */
static int64_t steps_to_pick(const struct engine_tile *tile, int64_t size)
{
	int64_t steps = tile->src_strides[1] / size;

	if (tile->dst_strides[1] != size || steps * size != tile->src_strides[1] || steps < 2 ||
	    steps > MOST_STEPS || tile->extents[1] * size <= VECTOR_BYTES)
		return 0;
	return steps;
}

#define DEFINE_STRIDED(size)									\
static TARGET void copy_strided_##size(uint8_t *dst, const uint8_t *src,			\
				       const struct engine_tile *tile)				\
{												\
	const int64_t steps = size < 32 ? steps_to_pick(tile, size) : 0;			\
	struct engine_tile rest = *tile;							\
	struct picks picks;									\
												\
	if (!steps) {										\
		copy_elements_##size(dst, src, tile);						\
		return;										\
	}											\
	init_picks(&picks, size, steps);							\
	rest.extents[0] = 1;									\
	for (int64_t j = 0; j < tile->extents[0]; j++) {					\
		uint8_t *to = dst + j * tile->dst_strides[0];					\
		const uint8_t *from = src + j * tile->src_strides[0];				\
		int64_t done = pick(to, from, tile->extents[1], size, steps, &picks);		\
												\
		rest.extents[1] = tile->extents[1] - done;					\
		copy_elements_##size(to + done * size, from + done * steps * size, &rest);	\
	}											\
}

#include "copy_table.h"

#endif /* __x86_64__ */
