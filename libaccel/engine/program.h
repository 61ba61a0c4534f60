/* SPDX-License-Identifier: MIT */
/*
 * Programs: an instruction at a time, each over a strip of points, by kernels that an instruction
 * set has in a file of its own. Where the elements come from and go to is not known here.
 */
#ifndef TESSERA_ENGINE_PROGRAM_H
#define TESSERA_ENGINE_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include <drm/tessera_accel.h>

#include "dtype.h"

/* Indices are resolved for at most so many points at a time. */
#define ENGINE_STRIP_POINTS	256

/*
 * A strip holds the values of a register at some points, side by side. All strips of a run lie in
 * so many bytes, which a first cache holds beside what is loaded and stored; each begins at a
 * multiple of ENGINE_STRIP_ALIGNMENT bytes and has room for a multiple of as many points.
 */
#define ENGINE_STRIPS_BYTES	24576
#define ENGINE_STRIP_ALIGNMENT	64

/* No program has more strips: sources, constants, registers, a result and CAST's middle. */
#define ENGINE_MAX_STRIPS									\
	(DRM_TESSERA_MAX_SOURCES + DRM_TESSERA_MAX_INSTRUCTIONS + DRM_TESSERA_NUM_REGISTERS + 2)

/*
 * The kernel of an instruction: dst[i] = a[i] op b[i] op c[i] for count elements. dst is none of
 * the others. What lies behind count may be read and overwritten up to a multiple of
 * ENGINE_STRIP_ALIGNMENT points. A source that is read where it lies in memory begins at any byte.
 */
typedef void engine_strip_kernel(void *dst, const void *a, const void *b, const void *c,
				 uint32_t count);

/* The widest type of a class: all types of the class are exact in it. */
enum engine_wide {
	ENGINE_WIDE_U64,
	ENGINE_WIDE_I64,
	ENGINE_WIDE_F64,
	ENGINE_NUM_WIDE,
};

/* Two operations on f32, the second on the result of the first and c. */
enum engine_chain {
	ENGINE_CHAIN_MUL_ADD,		/* a * b, rounded, + c */
	ENGINE_CHAIN_SUB_MUL,		/* a - b, rounded, * c */
	ENGINE_CHAIN_FMA,		/* a * b + c: one operation, between casts */
	ENGINE_NUM_CHAINS,
};

#define ENGINE_NUM_OPCODES	(DRM_TESSERA_OP_COMPARE + 1)
#define ENGINE_NUM_PREDICATES	(DRM_TESSERA_PREDICATE_GE + 1)
/* Flags of instructions, as an index: none, either, both. */
#define ENGINE_NUM_FLAGS	4

/* Where an instruction set has no kernel, the simpler one's is taken; the simplest has them all. */
struct engine_compute_kernels {
	const struct engine_compute_kernels *simpler;
	engine_strip_kernel *arithmetic[ENGINE_NUM_OPCODES][ENGINE_NUM_TYPES];
	engine_strip_kernel *saturating[ENGINE_NUM_OPCODES][ENGINE_NUM_TYPES];
	engine_strip_kernel *comparing[ENGINE_NUM_PREDICATES][ENGINE_NUM_TYPES];
	engine_strip_kernel *selecting[4];	/* by log2 of the size */
	/* CAST at once, by flags, source and result; and in two steps, where no set has that */
	engine_strip_kernel *casting[ENGINE_NUM_FLAGS][ENGINE_NUM_TYPES][ENGINE_NUM_TYPES];
	/* by types of a and of the result; integer results saturate. NULL: the steps one by one */
	engine_strip_kernel *chains[ENGINE_NUM_CHAINS][ENGINE_NUM_TYPES][ENGINE_NUM_TYPES];
	/* the same where b and c are uniform: all points have the value of the first */
	engine_strip_kernel *uniform_chains[ENGINE_NUM_CHAINS][ENGINE_NUM_TYPES][ENGINE_NUM_TYPES];
	/* uniform as well, to f32 around the caches: by the type of a */
	engine_strip_kernel *streaming_chains[ENGINE_NUM_CHAINS][ENGINE_NUM_TYPES];
	engine_strip_kernel *widening[ENGINE_NUM_TYPES];
	engine_strip_kernel *narrowing[ENGINE_NUM_WIDE][ENGINE_NUM_FLAGS][ENGINE_NUM_TYPES];
};

extern const struct engine_compute_kernels engine_compute_portable, engine_compute_avx2,
					   engine_compute_avx512;

struct engine_step {
	engine_strip_kernel *kernel;
	engine_strip_kernel *uniform_kernel;	/* where b and c are; may be NULL */
	engine_strip_kernel *streaming_kernel;	/* there, and dst is at a line; may be NULL */
	uint8_t dst;
	uint8_t src[3];
};

/* A strip that holds the same value at all points. */
struct engine_constant {
	uint64_t value;
	uint8_t size_shift;
	uint8_t strip;
};

struct engine_program {
	uint32_t num_strips;		/* and one more, which no instruction uses */
	uint32_t strip_points;		/* room in a strip */
	uint32_t strip_bytes;
	uint32_t result;		/* the strip that register 0 has at the end */
	bool ends_with_result;		/* the last step leaves it there */
	uint32_t uniform;		/* strips of constants, by bit */
	uint32_t num_constants;
	uint32_t num_steps;
	struct engine_constant constants[DRM_TESSERA_MAX_INSTRUCTIONS];
	struct engine_step steps[2 * DRM_TESSERA_MAX_INSTRUCTIONS];
};

/* Prepares a program that has been checked; dtypes are those of the sources. */
void engine_program_init(struct engine_program *program,
			 const struct engine_compute_kernels *kernels,
			 const struct drm_tessera_instruction *instructions, uint32_t count,
			 const uint32_t *dtypes, uint32_t num_sources);

/* Where strip k lies in the bytes of all. */
static inline uint8_t *engine_strip(const struct engine_program *program, uint8_t *strips,
				    uint32_t k)
{
	return strips + (uint64_t)k * program->strip_bytes;
}

/* Fills the strips of constants, of which at most count points will be used. */
void engine_program_begin(const struct engine_program *program, uint8_t *strips, uint32_t count);

/*
 * Runs it on the first count points of the strips that begin at the addresses given. Source k is in
 * strip k; those in uniform, by bit, hold one value at all points. What sources and constants hold
 * stays as it is.
 */
void engine_program_run(const struct engine_program *program, uint8_t *const *strips,
			uint32_t uniform, uint32_t count);

/*
 * The same for one that ends with its result, which is put where it is told, and not where a source
 * is.
 */
void engine_program_run_to(const struct engine_program *program, uint8_t *const *strips,
			   uint32_t uniform, uint8_t *result, uint32_t count);

/* Whether such a program can put its result there around the caches. */
bool engine_program_can_stream(const struct engine_program *program, uint32_t uniform);

/*
 * The same around the caches. The result begins at a line, and there are a multiple of
 * ENGINE_STRIP_ALIGNMENT points.
 */
void engine_program_stream_to(const struct engine_program *program, uint8_t *const *strips,
			      uint32_t uniform, uint8_t *result, uint32_t count);

#endif /* TESSERA_ENGINE_PROGRAM_H */
