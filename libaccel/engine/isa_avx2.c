// SPDX-License-Identifier: MIT
/*
 * AVX2: whether the CPU has it, and its kernels, which are in the files of that name.
 */
#include "isa.h"
#include "kernels.h"
#include "program.h"

#ifdef __x86_64__

#include <cpuid.h>

/*
 * Not every compiler's __builtin_cpu_supports() has heard of it. CPUID takes microseconds in a
 * virtual machine, and is asked once.
 */
static bool has_f16c(void)
{
	enum { UNKNOWN, ABSENT, PRESENT };
	static uint32_t known;
	uint32_t answer = __atomic_load_n(&known, __ATOMIC_RELAXED);
	unsigned int eax, ebx, ecx, edx;

	if (answer != UNKNOWN)
		return answer == PRESENT;
	answer = __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C) ? PRESENT : ABSENT;
	__atomic_store_n(&known, answer, __ATOMIC_RELAXED);
	return answer == PRESENT;
}

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	       __builtin_cpu_supports("bmi2") && has_f16c();
}

const struct engine_isa engine_isa_avx2 = {
	.name = "avx2",
	.is_available = has_avx2,
	.copy = &engine_copy_avx2,
	.transpose = &engine_transpose_avx2,
	.compute = &engine_compute_avx2,
};

#endif /* __x86_64__ */
