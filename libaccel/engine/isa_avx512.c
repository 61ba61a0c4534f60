// SPDX-License-Identifier: MIT
/*
 * AVX-512: whether the CPU has what the kernels take of it, and these, which are in the files of
 * that name.
 */
#include "isa.h"
#include "kernels.h"
#include "program.h"

#ifdef __x86_64__

static bool has_avx512(void)
{
	return engine_isa_avx2.is_available() && __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi");
}

const struct engine_isa engine_isa_avx512 = {
	.name = "avx512",
	.is_available = has_avx512,
	.copy = &engine_copy_avx512,
	.transpose = &engine_transpose_avx512,
	.compute = &engine_compute_avx512,
};

#endif /* __x86_64__ */
