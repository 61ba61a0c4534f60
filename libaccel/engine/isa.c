// SPDX-License-Identifier: MIT
/*
 * The instruction sets, and which of them this CPU has. What they do is in the files of their
 * kernels.
 */
#include <stdlib.h>
#include <string.h>

#include "isa.h"
#include "kernels.h"
#include "program.h"

static bool is_always_available(void)
{
	return true;
}

const struct engine_isa engine_isa_portable = {
	.name = "portable",
	.is_available = is_always_available,
	.copy = &engine_copy_portable,
	.transpose = &engine_transpose_portable,
	.compute = &engine_compute_portable,
};

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

static bool has_avx512(void)
{
	return has_avx2() && __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi");
}

const struct engine_isa engine_isa_avx2 = {
	.name = "avx2",
	.is_available = has_avx2,
	.copy = &engine_copy_avx2,
	.transpose = &engine_transpose_avx2,
	.compute = &engine_compute_avx2,
};

const struct engine_isa engine_isa_avx512 = {
	.name = "avx512",
	.is_available = has_avx512,
	.copy = &engine_copy_avx512,
	.transpose = &engine_transpose_avx512,
	.compute = &engine_compute_avx512,
};

#endif

/* The simplest first. */
static const struct engine_isa *const sets[] = {
	&engine_isa_portable,
#ifdef __x86_64__
	&engine_isa_avx2,
	&engine_isa_avx512,
#endif
};

#define NUM_SETS	(sizeof(sets) / sizeof(sets[0]))

const struct engine_isa *engine_isa_at(uint32_t k)
{
	return k < NUM_SETS ? sets[k] : NULL;
}

const struct engine_isa *engine_isa_choose(void)
{
	/* a program that runs with rights of its own does not listen to who has started it */
	const char *name = secure_getenv(ENGINE_ISA_VARIABLE);

	for (uint32_t k = NUM_SETS; k-- > 0; )
		if ((!name || !strcmp(name, sets[k]->name)) && sets[k]->is_available())
			return sets[k];
	return NULL;
}
