// SPDX-License-Identifier: MIT
/*
 * The instruction sets, and which of them is taken: the best that this CPU has. What it must have,
 * and with what it runs, is in a file for each; the portable one needs none.
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
