/* SPDX-License-Identifier: MIT */
/*
 * Instruction sets: which kernels a plan runs with is decided when it is made, by what the CPU has.
 * A new one takes a file that defines its struct engine_isa, as isa_avx512.c does, its name below,
 * and its line in the table of isa.c. Of the three tables of kernels it has those that it betters,
 * in files of their own; the others are a simpler set's.
 */
#ifndef TESSERA_ENGINE_ISA_H
#define TESSERA_ENGINE_ISA_H

#include <stdbool.h>
#include <stdint.h>

struct engine_copy_kernels;		/* kernels.h: runs, strided elements, fills, pairs */
struct engine_transpose_kernels;	/* kernels.h: transposes, interleaves */
struct engine_compute_kernels;		/* program.h: loads, casts, instructions, stores */

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
