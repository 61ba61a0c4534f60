// SPDX-License-Identifier: MIT
/*
 * Kernels of copies for AVX2: vectors of 32 bytes, and streaming stores. Their contract is in
 * kernels.h, their rows in copy_rows.h.
 */
#include "kernels.h"

#ifdef __x86_64__

#include <immintrin.h>

#define VECTOR_BYTES	32
#define TARGET		__attribute__((target("avx2")))
#define TABLE		engine_copy_avx2
#define end_stores()	_mm_sfence()
#define STREAM_BORDERED	engine_stream_bordered_avx2
#define BORDERED_FAR_BYTES	192
#define stream_vector(to, v)	_mm256_stream_si256((__m256i *)(to), (__m256i)(v))

#include "copy_rows.h"
#include "copy_table.h"

#endif /* __x86_64__ */
