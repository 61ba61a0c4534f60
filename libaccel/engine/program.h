/* SPDX-License-Identifier: MIT */
/*
 * Programs: an instruction at a time, each over a strip of elements. Where the elements come from
 * and go to is not known here.
 */
#ifndef TESSERA_ENGINE_PROGRAM_H
#define TESSERA_ENGINE_PROGRAM_H

#include <stdint.h>

#include <drm/tessera_accel.h>

/* Elements in a strip. */
#define ENGINE_STRIP_POINTS	256

/* The values of a register at the points of a strip, side by side. */
union engine_strip {
	uint8_t bytes[ENGINE_STRIP_POINTS * sizeof(uint64_t)];
	uint8_t u8[ENGINE_STRIP_POINTS];
	uint16_t u16[ENGINE_STRIP_POINTS];
	uint32_t u32[ENGINE_STRIP_POINTS];
	uint64_t u64[ENGINE_STRIP_POINTS];
	int8_t i8[ENGINE_STRIP_POINTS];
	int16_t i16[ENGINE_STRIP_POINTS];
	int32_t i32[ENGINE_STRIP_POINTS];
	int64_t i64[ENGINE_STRIP_POINTS];
	float f32[ENGINE_STRIP_POINTS];
	double f64[ENGINE_STRIP_POINTS];
};

/*
 * A strip for each register and one to spare: an instruction writes to the strip that no register
 * owns, so that its result never lies on its sources. One more is for CAST's intermediate.
 */
#define ENGINE_NUM_STRIPS	(DRM_TESSERA_NUM_REGISTERS + 2)

/* The kernel of an instruction: dst[i] = a[i] op b[i] op c[i] for count elements. */
typedef void engine_strip_kernel(union engine_strip *restrict dst,
				 const union engine_strip *restrict a,
				 const union engine_strip *restrict b,
				 const union engine_strip *restrict c, uint32_t count);

struct engine_step {
	engine_strip_kernel *kernel;
	uint8_t dst;
	uint8_t src[3];
	uint64_t immediate;		/* CONST: fills the strip in place of a kernel */
	uint8_t immediate_shift;	/* log2 of the bytes of an element of it */
};

struct engine_program {
	uint32_t num_steps;
	uint32_t result;		/* the strip that register 0 owns at the end */
	struct engine_step steps[2 * DRM_TESSERA_MAX_INSTRUCTIONS];
};

/* Prepares a program that has been checked; dtypes are those of the sources. */
void engine_program_init(struct engine_program *program,
			 const struct drm_tessera_instruction *instructions, uint32_t count,
			 const uint32_t *dtypes, uint32_t num_sources);

/* Runs it on the first count elements of each strip. Source k is in strip k. */
void engine_program_run(const struct engine_program *program, union engine_strip *strips,
			uint32_t count);

#endif /* TESSERA_ENGINE_PROGRAM_H */
