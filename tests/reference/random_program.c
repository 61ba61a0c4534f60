// SPDX-License-Identifier: MIT
/*
 * Random element types, elements and programs. Programs are well formed: what is read has been
 * written and has the right type.
 */
#include "random.h"

static const uint32_t computing[] = {
	DRM_TESSERA_DTYPE_U8, DRM_TESSERA_DTYPE_U16, DRM_TESSERA_DTYPE_U32, DRM_TESSERA_DTYPE_U64,
	DRM_TESSERA_DTYPE_I8, DRM_TESSERA_DTYPE_I16, DRM_TESSERA_DTYPE_I32, DRM_TESSERA_DTYPE_I64,
	DRM_TESSERA_DTYPE_F16, DRM_TESSERA_DTYPE_BF16, DRM_TESSERA_DTYPE_F32,
	DRM_TESSERA_DTYPE_F64,
};

static const uint32_t raw[] = {
	DRM_TESSERA_DTYPE_RAW8, DRM_TESSERA_DTYPE_RAW16, DRM_TESSERA_DTYPE_RAW32,
	DRM_TESSERA_DTYPE_RAW64, DRM_TESSERA_DTYPE_RAW128,
};

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

uint32_t random_computing_dtype(struct random *random)
{
	return computing[random_below(random, COUNT(computing))];
}

uint32_t random_any_dtype(struct random *random)
{
	return random_chance(random, 60) ? random_computing_dtype(random) :
					   raw[random_below(random, COUNT(raw))];
}

uint32_t random_integer_dtype(struct random *random)
{
	return computing[random_below(random, 8)];
}

struct float_patterns {
	uint32_t dtype;
	uint64_t one, infinity, greatest, least_normal;
	int bits;
};

static const struct float_patterns floats[] = {
	{ DRM_TESSERA_DTYPE_F16, 0x3c00, 0x7c00, 0x7bff, 0x0400, 16 },
	{ DRM_TESSERA_DTYPE_BF16, 0x3f80, 0x7f80, 0x7f7f, 0x0080, 16 },
	{ DRM_TESSERA_DTYPE_F32, 0x3f800000, 0x7f800000, 0x7f7fffff, 0x00800000, 32 },
	{ DRM_TESSERA_DTYPE_F64, 0x3ff0000000000000, 0x7ff0000000000000, 0x7fefffffffffffff,
	  0x0010000000000000, 64 },
};

static uint64_t cut(uint64_t bits, uint32_t dtype)
{
	uint32_t width = 8 * random_dtype_size(dtype);

	return width >= 64 ? bits : bits & ((1ull << width) - 1);
}

static uint64_t float_element(struct random *random, const struct float_patterns *patterns)
{
	uint64_t sign = random_below(random, 2) << (patterns->bits - 1);

	switch (random_below(random, 7)) {
	case 0:
		return sign;
	case 1:
		return sign | (patterns->one + random_below(random, 3) - 1);
	case 2:
		return sign | patterns->infinity;
	case 3:
		return sign | (patterns->greatest - random_below(random, 2));
	case 4:
		return sign | (patterns->least_normal + random_below(random, 3) - 1);
	case 5:
		return sign | (1 + random_below(random, 3));
	default:
		return sign | (patterns->infinity + 1 + random_below(random, 40));
	}
}

uint64_t random_element(struct random *random, uint32_t dtype)
{
	uint32_t width = 8 * random_dtype_size(dtype);

	if (random_chance(random, 40))
		return cut(random_bits(random), dtype);
	for (size_t f = 0; f < COUNT(floats); f++)
		if (floats[f].dtype == dtype)
			return float_element(random, &floats[f]);
	switch (random_below(random, 3)) {
	case 0:
		return cut((uint64_t)random_between(random, -3, 3), dtype);
	case 1:
		/* around the signed extremes */
		return cut((1ull << (width > 64 ? 63 : width - 1)) +
			   (uint64_t)random_between(random, -2, 2), dtype);
	default:
		return cut((uint64_t)random_between(random, -100, 100), dtype);
	}
}

/* The types that registers hold, 0 for those not written. */
struct registers {
	uint32_t dtypes[DRM_TESSERA_NUM_REGISTERS];
};

/* A register of this type, or DRM_TESSERA_NUM_REGISTERS. 0: of whatever type. */
static uint8_t pick(struct random *random, const struct registers *registers, uint32_t dtype)
{
	uint8_t found = DRM_TESSERA_NUM_REGISTERS;
	uint64_t seen = 0;

	for (uint8_t r = 0; r < DRM_TESSERA_NUM_REGISTERS; r++) {
		if (!registers->dtypes[r] || (dtype && registers->dtypes[r] != dtype))
			continue;
		if (!random_below(random, ++seen))
			found = r;
	}
	return found;
}

static const struct {
	uint8_t sources;
	bool saturates;
} opcodes[] = {
	[DRM_TESSERA_OP_CONST] = { 0, false },
	[DRM_TESSERA_OP_CAST] = { 1, true },
	[DRM_TESSERA_OP_ADD] = { 2, true },
	[DRM_TESSERA_OP_SUB] = { 2, true },
	[DRM_TESSERA_OP_MUL] = { 2, true },
	[DRM_TESSERA_OP_FMA] = { 3, true },
	[DRM_TESSERA_OP_MIN] = { 2, false },
	[DRM_TESSERA_OP_MAX] = { 2, false },
	[DRM_TESSERA_OP_NEG] = { 1, true },
	[DRM_TESSERA_OP_ABS] = { 1, true },
	[DRM_TESSERA_OP_SELECT] = { 3, false },
	[DRM_TESSERA_OP_COMPARE] = { 2, false },
};

static void make_const(struct random *random, struct drm_tessera_instruction *instruction)
{
	instruction->opcode = DRM_TESSERA_OP_CONST;
	instruction->immediate = random_element(random, instruction->dtype);
}

static void make_cast(struct random *random, struct drm_tessera_instruction *instruction, uint8_t a,
		      const struct registers *registers)
{
	instruction->opcode = DRM_TESSERA_OP_CAST;
	instruction->src[0] = a;
	if (!random_dtype_is_integer(instruction->dtype))
		return;
	if (random_chance(random, 50))
		instruction->flags |= DRM_TESSERA_INSTRUCTION_SATURATE;
	if (!random_dtype_is_integer(registers->dtypes[a]) && random_chance(random, 50))
		instruction->flags |= DRM_TESSERA_INSTRUCTION_TRUNCATE;
}

/* Fills in the sources of any other opcode; false when there is no register of a type needed. */
static bool make_other(struct random *random, struct drm_tessera_instruction *instruction,
		       const struct registers *registers)
{
	uint8_t opcode = instruction->opcode;

	for (uint8_t s = 0; s < opcodes[opcode].sources; s++) {
		uint32_t dtype = opcode == DRM_TESSERA_OP_SELECT && s == 0 ?
				 DRM_TESSERA_DTYPE_U8 : instruction->dtype;

		instruction->src[s] = pick(random, registers, dtype);
		if (instruction->src[s] == DRM_TESSERA_NUM_REGISTERS)
			return false;
	}
	if (opcode == DRM_TESSERA_OP_COMPARE)
		instruction->predicate = (uint8_t)random_between(random, DRM_TESSERA_PREDICATE_EQ,
								 DRM_TESSERA_PREDICATE_GE);
	if (opcodes[opcode].saturates && random_dtype_is_integer(instruction->dtype) &&
	    random_chance(random, 50))
		instruction->flags |= DRM_TESSERA_INSTRUCTION_SATURATE;
	return true;
}

static void add_instruction(struct random *random, struct random_job *job,
			    struct registers *registers, uint8_t dst, uint32_t dtype)
{
	struct drm_tessera_instruction instruction = { .dtype = (uint8_t)dtype, .dst = dst };
	uint8_t any = pick(random, registers, 0);

	instruction.opcode = (uint8_t)random_between(random, DRM_TESSERA_OP_CAST,
						     DRM_TESSERA_OP_COMPARE);
	if (random_chance(random, 10) || any == DRM_TESSERA_NUM_REGISTERS) {
		make_const(random, &instruction);
	} else if (instruction.opcode == DRM_TESSERA_OP_CAST ||
		   !make_other(random, &instruction, registers)) {
		instruction.src[0] = instruction.src[1] = instruction.src[2] = 0;
		make_cast(random, &instruction, any, registers);
	}
	registers->dtypes[dst] = instruction.opcode == DRM_TESSERA_OP_COMPARE ?
				 DRM_TESSERA_DTYPE_U8 : dtype;
	job->program[job->num_instructions++] = instruction;
}

void random_program(struct random *random, struct random_job *job, uint32_t most)
{
	struct registers registers = { { 0 } }, last;
	uint64_t count = random_below(random, most);
	uint32_t wanted = job->operands[0].dtype;

	for (uint32_t k = 1; k < job->num_operands; k++)
		registers.dtypes[k - 1] = job->operands[k].dtype;
	while (job->num_instructions < count) {
		uint8_t any = pick(random, &registers, 0);
		uint32_t dtype = any < DRM_TESSERA_NUM_REGISTERS && random_chance(random, 70) ?
				 registers.dtypes[any] : random_computing_dtype(random);

		add_instruction(random, job, &registers,
				(uint8_t)random_below(random, DRM_TESSERA_NUM_REGISTERS), dtype);
	}
	/* COMPARE leaves a u8 whatever it computes in: try until the type is what is stored */
	do {
		last = registers;
		job->num_instructions = (uint32_t)count;
		add_instruction(random, job, &last, 0, wanted);
	} while (last.dtypes[0] != wanted);
}
