/* SPDX-License-Identifier: MIT */
/*
 * Instruction sets: which kernels a plan runs with is decided when it is made, by what the CPU has.
 * An instruction set is a struct engine_isa, a line in the table of isa.c, and its kernels.
 */
#ifndef TESSERA_ENGINE_ISA_H
#define TESSERA_ENGINE_ISA_H

#include <stdbool.h>
#include <stdint.h>

struct engine_copy_kernels;		/* kernels.h: runs, strided elements, fills, pairs */
struct engine_transpose_kernels;	/* kernels.h: transposes, interleaves */
struct engine_compute_kernels;		/* program.h: loads, casts, instructions, stores */

/* Each table is complete: what an instruction set does not better is a simpler one's kernel. */
struct engine_isa {
	const char *name;		/* "portable", "avx2", "avx512" */
	bool (*is_available)(void);	/* on this CPU */
	const struct engine_copy_kernels *copy;
	const struct engine_transpose_kernels *transpose;
	const struct engine_compute_kernels *compute;
};

extern const struct engine_isa engine_isa_portable, engine_isa_avx2, engine_isa_avx512;

/* The environment variable that asks for an instruction set by name. */
#define ENGINE_ISA_VARIABLE	"ACCEL_ISA"

/*
 * The best one that the CPU has, or the one that ACCEL_ISA names. NULL if that is unknown or the
 * CPU does not have it.
 */
const struct engine_isa *engine_isa_choose(void);

/* Number k, the simplest first, whether or not the CPU has it; NULL beyond the last. */
const struct engine_isa *engine_isa_at(uint32_t k);

#endif /* TESSERA_ENGINE_ISA_H */
