// SPDX-License-Identifier: MIT
/*
 * Checking a job: its form (-EINVAL), its sums (-EOVERFLOW), its permissions (-EACCES) and its
 * bounds (-ERANGE), in this order. Nothing after this checks them again; the indices alone are left
 * for the run. Whether loads and stores overlap is for overlap.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "bounds.h"
#include "check.h"
#include "dtype.h"
#include "fault.h"

/* What a check needs to say where it is. */
struct check {
	const struct engine_job *job;
	struct engine_fault *fault;
};

#define malformed(check, operand, ...) \
	engine_fail((check)->fault, EINVAL, DRM_TESSERA_CAUSE_DESCRIPTOR, operand, 0, __VA_ARGS__)

bool engine_job_is_empty(const struct engine_job *job)
{
	for (uint32_t d = 0; d < job->rank; d++)
		if (!job->extents[d])
			return true;
	return false;
}

static int check_counts(const struct check *check)
{
	const struct engine_job *job = check->job;

	if (job->rank > DRM_TESSERA_MAX_RANK)
		return malformed(check, 0, "rank is %u, the most is %d", job->rank,
				 DRM_TESSERA_MAX_RANK);
	if (job->num_windows > DRM_TESSERA_MAX_WINDOWS)
		return malformed(check, 0, "%u windows, the most is %d", job->num_windows,
				 DRM_TESSERA_MAX_WINDOWS);
	if (job->num_instructions > DRM_TESSERA_MAX_INSTRUCTIONS)
		return malformed(check, 0, "%u instructions, the most is %d",
				 job->num_instructions, DRM_TESSERA_MAX_INSTRUCTIONS);
	if (job->num_operands < 1 || job->num_operands > DRM_TESSERA_MAX_OPERANDS)
		return malformed(check, 0,
				 "%u operands, expected a destination and at most %d sources",
				 job->num_operands, DRM_TESSERA_MAX_SOURCES);
	if (!job->num_instructions && job->num_operands != 2)
		return malformed(check, 0, "%u sources without a program, expected one",
				 job->num_operands - 1);
	for (uint32_t d = job->rank; d < DRM_TESSERA_MAX_RANK; d++)
		if (job->extents[d])
			return malformed(check, 0,
					 "extents[%u] is %" PRIu64
					 ", beyond the rank of %u expected 0",
					 d, job->extents[d], job->rank);
	return 0;
}

/* The strides at and beyond the rank; owner and field name the affine in the message. */
static int check_affine(const struct check *check, uint32_t operand, const char *owner,
			const char *field, const struct drm_tessera_affine *affine)
{
	for (uint32_t d = check->job->rank; d < DRM_TESSERA_MAX_RANK; d++)
		if (affine->strides[d])
			return malformed(check, operand,
					 "%s: %s.strides[%u] is %lld"
					 ", beyond the rank of %u expected 0",
					 owner, field, d, (long long)affine->strides[d],
					 check->job->rank);
	return 0;
}

static int check_windows(const struct check *check)
{
	const struct engine_job *job = check->job;
	char owner[sizeof("window 31")];
	int error;

	for (uint32_t w = 0; w < job->num_windows; w++) {
		const struct drm_tessera_window *window = &job->windows[w];

		if (window->limit > INT64_MAX)
			return malformed(check, 0,
					 "window %u: limit is %" PRIu64 ", the most is %" PRId64,
					 w, (uint64_t)window->limit, INT64_MAX);
		/* Two digits by the check of num_windows; the remainder tells compilers so. */
		snprintf(owner, sizeof(owner), "window %u", (unsigned int)w % 100);
		error = check_affine(check, 0, owner, "value", &window->value);
		if (error)
			return error;
	}
	return 0;
}

static int check_fill(const struct check *check, uint32_t k)
{
	const struct drm_tessera_operand *spec = &check->job->operands[k].spec;
	uint32_t size = engine_dtype_size(spec->dtype);
	uint8_t bytes[sizeof(spec->fill)];

	if (k == 0) {
		if (spec->fill[0] || spec->fill[1])
			return malformed(check, k, "destination: fill is not 0");
		return 0;
	}
	memcpy(bytes, spec->fill, sizeof(bytes));
	for (uint32_t i = size; i < sizeof(bytes); i++)
		if (bytes[i])
			return malformed(check, k,
					 "%s: byte %u of fill is 0x%02x, beyond %s expected 0",
					 engine_operand_name(k), i, bytes[i],
					 engine_dtype_name(spec->dtype));
	return 0;
}

/* One field of an operand that is not indirect, and must be zero. */
struct indirect_field {
	const char *name;
	size_t offset;
	size_t size;
};

#define INDIRECT_FIELD(member) \
	{ #member, offsetof(struct drm_tessera_operand, member), \
	  sizeof(((struct drm_tessera_operand *)NULL)->member) }

static int check_direct(const struct check *check, uint32_t k)
{
	static const struct indirect_field fields[] = {
		INDIRECT_FIELD(index_dtype),
		INDIRECT_FIELD(index_address),
		INDIRECT_FIELD(index_stride),
		INDIRECT_FIELD(index_limit),
	};
	const uint8_t *spec = (const uint8_t *)&check->job->operands[k].spec;

	for (size_t f = 0; f < sizeof(fields) / sizeof(fields[0]); f++)
		for (size_t i = 0; i < fields[f].size; i++)
			if (spec[fields[f].offset + i])
				return malformed(check, k,
						 "%s: %s is not 0, but the operand is not indirect",
						 engine_operand_name(k), fields[f].name);
	return 0;
}

static int check_indirect(const struct check *check, uint32_t k)
{
	const struct drm_tessera_operand *spec = &check->job->operands[k].spec;

	if (!engine_dtype_size(spec->index_dtype) || !engine_dtype_is_integer(spec->index_dtype))
		return malformed(check, k,
				 "%s: index_dtype is 0x%x, expected an integer type",
				 engine_operand_name(k), (uint32_t)spec->index_dtype);
	return check_affine(check, k, engine_operand_name(k), "index_address",
			    &spec->index_address);
}

static int check_operand(const struct check *check, uint32_t k)
{
	const struct engine_job *job = check->job;
	const struct drm_tessera_operand *spec = &job->operands[k].spec;
	const char *name = engine_operand_name(k);
	int error;

	if (spec->flags & ~DRM_TESSERA_OPERAND_INDIRECT)
		return malformed(check, k, "%s: flags is 0x%x, known is 0x%x", name,
				 (uint32_t)spec->flags, DRM_TESSERA_OPERAND_INDIRECT);
	if (!engine_dtype_size(spec->dtype))
		return malformed(check, k, "%s: dtype is 0x%x, which is no element type",
				 name, (uint32_t)spec->dtype);
	if (job->num_instructions && engine_dtype_is_raw(spec->dtype))
		return malformed(check, k, "%s: dtype is %s, which a program cannot compute with",
				 name, engine_dtype_name(spec->dtype));
	if ((uint64_t)spec->window_mask >> job->num_windows)
		return malformed(check, k,
				 "%s: window_mask is 0x%x, but there are %u windows",
				 name, (uint32_t)spec->window_mask, job->num_windows);
	error = check_affine(check, k, name, "address", &spec->address);
	if (!error)
		error = check_fill(check, k);
	if (error)
		return error;
	if (spec->flags & DRM_TESSERA_OPERAND_INDIRECT)
		return check_indirect(check, k);
	return check_direct(check, k);
}

static int check_operands(const struct check *check)
{
	const struct engine_operand *operands = check->job->operands;
	int error;

	for (uint32_t k = 0; k < check->job->num_operands; k++) {
		error = check_operand(check, k);
		if (error)
			return error;
	}
	if (!check->job->num_instructions &&
	    engine_dtype_size(operands[0].spec.dtype) != engine_dtype_size(operands[1].spec.dtype))
		return malformed(check, 1,
				 "source 0: dtype is %s, a move to %s needs elements of one size",
				 engine_dtype_name(operands[1].spec.dtype),
				 engine_dtype_name(operands[0].spec.dtype));
	return 0;
}

/* What an opcode takes, in a table. */
struct opcode {
	const char *name;
	uint32_t num_sources;
	uint32_t integer_flags;	/* flags that it may have where dtype is an integer type */
};

static const struct opcode opcodes[] = {
	[DRM_TESSERA_OP_CONST] = { "CONST", 0, 0 },
	[DRM_TESSERA_OP_CAST] = { "CAST", 1, DRM_TESSERA_INSTRUCTION_SATURATE |
					     DRM_TESSERA_INSTRUCTION_TRUNCATE },
	[DRM_TESSERA_OP_ADD] = { "ADD", 2, DRM_TESSERA_INSTRUCTION_SATURATE },
	[DRM_TESSERA_OP_SUB] = { "SUB", 2, DRM_TESSERA_INSTRUCTION_SATURATE },
	[DRM_TESSERA_OP_MUL] = { "MUL", 2, DRM_TESSERA_INSTRUCTION_SATURATE },
	[DRM_TESSERA_OP_FMA] = { "FMA", 3, DRM_TESSERA_INSTRUCTION_SATURATE },
	[DRM_TESSERA_OP_MIN] = { "MIN", 2, 0 },
	[DRM_TESSERA_OP_MAX] = { "MAX", 2, 0 },
	[DRM_TESSERA_OP_NEG] = { "NEG", 1, DRM_TESSERA_INSTRUCTION_SATURATE },
	[DRM_TESSERA_OP_ABS] = { "ABS", 1, DRM_TESSERA_INSTRUCTION_SATURATE },
	[DRM_TESSERA_OP_SELECT] = { "SELECT", 3, 0 },
	[DRM_TESSERA_OP_COMPARE] = { "COMPARE", 2, 0 },
};

/* The types that the registers hold, 0 for those not written yet. */
struct registers {
	uint32_t dtypes[DRM_TESSERA_NUM_REGISTERS];
};

/* Source s of an instruction that uses it. */
static int check_source(const struct check *check, uint32_t n, uint32_t s,
			const struct registers *registers)
{
	const struct drm_tessera_instruction *instruction = &check->job->program[n];
	const char *name = opcodes[instruction->opcode].name;
	uint32_t r = instruction->src[s], expected = instruction->dtype;

	if (r >= DRM_TESSERA_NUM_REGISTERS)
		return malformed(check, 0,
				 "instruction %u (%s): src[%u] is %u, the last register is %d",
				 n, name, s, r, DRM_TESSERA_NUM_REGISTERS - 1);
	if (!registers->dtypes[r])
		return malformed(check, 0,
				 "instruction %u (%s): register %u is read before it is written",
				 n, name, r);
	if (instruction->opcode == DRM_TESSERA_OP_SELECT && s == 0)
		expected = DRM_TESSERA_DTYPE_U8;
	if (instruction->opcode != DRM_TESSERA_OP_CAST && registers->dtypes[r] != expected)
		return malformed(check, 0,
				 "instruction %u (%s): register %u holds %s, expected %s",
				 n, name, r, engine_dtype_name(registers->dtypes[r]),
				 engine_dtype_name(expected));
	return 0;
}

static int check_registers(const struct check *check, uint32_t n, const struct registers *registers)
{
	const struct drm_tessera_instruction *instruction = &check->job->program[n];
	const struct opcode *opcode = &opcodes[instruction->opcode];
	int error;

	if (instruction->dst >= DRM_TESSERA_NUM_REGISTERS)
		return malformed(check, 0, "instruction %u (%s): dst is %u, the last is %d", n,
				 opcode->name, instruction->dst, DRM_TESSERA_NUM_REGISTERS - 1);
	for (uint32_t s = 0; s < opcode->num_sources; s++) {
		error = check_source(check, n, s, registers);
		if (error)
			return error;
	}
	for (uint32_t s = opcode->num_sources; s < 3; s++)
		if (instruction->src[s])
			return malformed(check, 0,
					 "instruction %u (%s): src[%u] is %u, unused, expected 0",
					 n, opcode->name, s, instruction->src[s]);
	return 0;
}

static int check_flags(const struct check *check, uint32_t n, const struct registers *registers)
{
	const struct drm_tessera_instruction *instruction = &check->job->program[n];
	const struct opcode *opcode = &opcodes[instruction->opcode];
	uint32_t allowed = 0;

	if (engine_dtype_is_integer(instruction->dtype))
		allowed = opcode->integer_flags;
	if (instruction->opcode == DRM_TESSERA_OP_CAST &&
	    !engine_dtype_is_float(registers->dtypes[instruction->src[0]]))
		allowed &= ~DRM_TESSERA_INSTRUCTION_TRUNCATE;
	if (instruction->flags & ~allowed)
		return malformed(check, 0,
				 "instruction %u (%s): flags is 0x%x, allowed here is 0x%x", n,
				 opcode->name, instruction->flags, allowed);
	return 0;
}

static int check_predicate(const struct check *check, uint32_t n)
{
	const struct drm_tessera_instruction *instruction = &check->job->program[n];
	const char *name = opcodes[instruction->opcode].name;

	if (instruction->opcode != DRM_TESSERA_OP_COMPARE) {
		if (instruction->predicate)
			return malformed(check, 0,
					 "instruction %u (%s): predicate is %u, expected 0",
					 n, name, instruction->predicate);
		return 0;
	}
	if (instruction->predicate < DRM_TESSERA_PREDICATE_EQ ||
	    instruction->predicate > DRM_TESSERA_PREDICATE_GE)
		return malformed(check, 0,
				 "instruction %u (%s): predicate is %u, expected %d to %d", n,
				 name, instruction->predicate, DRM_TESSERA_PREDICATE_EQ,
				 DRM_TESSERA_PREDICATE_GE);
	return 0;
}

static int check_immediate(const struct check *check, uint32_t n)
{
	const struct drm_tessera_instruction *instruction = &check->job->program[n];
	uint32_t bits = 8 * engine_dtype_size(instruction->dtype);

	if (instruction->opcode != DRM_TESSERA_OP_CONST)
		bits = 0;
	if (bits < 64 && instruction->immediate >> bits)
		return malformed(check, 0,
				 "instruction %u (%s): immediate is 0x%" PRIx64
				 ", all but its lowest %u bits expected to be 0",
				 n, opcodes[instruction->opcode].name,
				 (uint64_t)instruction->immediate, bits);
	return 0;
}

static int check_instruction(const struct check *check, uint32_t n, struct registers *registers)
{
	const struct drm_tessera_instruction *instruction = &check->job->program[n];
	int error;

	if (instruction->opcode < DRM_TESSERA_OP_CONST ||
	    instruction->opcode > DRM_TESSERA_OP_COMPARE)
		return malformed(check, 0,
				 "instruction %u: opcode is %u, expected %d to %d", n,
				 instruction->opcode, DRM_TESSERA_OP_CONST, DRM_TESSERA_OP_COMPARE);
	if (!engine_dtype_size(instruction->dtype) || engine_dtype_is_raw(instruction->dtype))
		return malformed(check, 0,
				 "instruction %u (%s): dtype is 0x%x, which nothing is computed in",
				 n, opcodes[instruction->opcode].name, instruction->dtype);
	error = check_registers(check, n, registers);
	if (!error)
		error = check_flags(check, n, registers);
	if (!error)
		error = check_predicate(check, n);
	if (!error)
		error = check_immediate(check, n);
	if (error)
		return error;
	registers->dtypes[instruction->dst] = instruction->opcode == DRM_TESSERA_OP_COMPARE ?
					      DRM_TESSERA_DTYPE_U8 : instruction->dtype;
	return 0;
}

static int check_program(const struct check *check)
{
	const struct engine_job *job = check->job;
	uint32_t dtype = job->operands[0].spec.dtype;
	struct registers registers = { { 0 } };
	int error;

	if (!job->num_instructions)
		return 0;
	for (uint32_t k = 1; k < job->num_operands; k++)
		registers.dtypes[k - 1] = job->operands[k].spec.dtype;
	for (uint32_t n = 0; n < job->num_instructions; n++) {
		error = check_instruction(check, n, &registers);
		if (error)
			return error;
	}
	if (registers.dtypes[0] != dtype)
		return malformed(check, 0,
				 "the program leaves %s in register 0, the destination is %s",
				 registers.dtypes[0] ? engine_dtype_name(registers.dtypes[0]) :
						       "nothing",
				 engine_dtype_name(dtype));
	return 0;
}

#define overflows(check, operand, ...) \
	engine_fail((check)->fault, EOVERFLOW, DRM_TESSERA_CAUSE_DESCRIPTOR, operand, 0, \
		    __VA_ARGS__)

static int check_overflow(const struct check *check)
{
	const struct engine_job *job = check->job;
	int64_t points = 1;

	for (uint32_t d = 0; d < job->rank; d++)
		if (__builtin_mul_overflow(points, job->extents[d], &points))
			return overflows(check, 0, "the product of extents does not fit 63 bits");
	for (uint32_t w = 0; w < job->num_windows; w++)
		if (!engine_affine_fits(&job->windows[w].value, job->rank, job->extents))
			return overflows(check, 0, "window %u: value does not fit 64 bits", w);
	for (uint32_t k = 0; k < job->num_operands; k++) {
		const struct drm_tessera_operand *spec = &job->operands[k].spec;

		if (!engine_affine_fits(&spec->address, job->rank, job->extents))
			return overflows(check, k, "%s: address does not fit 64 bits",
					 engine_operand_name(k));
		if (!engine_affine_fits(&spec->index_address, job->rank, job->extents))
			return overflows(check, k, "%s: index_address does not fit 64 bits",
					 engine_operand_name(k));
	}
	return 0;
}

/* What is proved to stay inside of which buffer. */
struct reach {
	const char *what;
	const struct drm_tessera_affine *address;
	const struct engine_buffer *buffer;
	uint32_t element_size;
	enum drm_tessera_cause cause;
};

static int check_reach(const struct check *check, uint32_t k, const struct reach *reach)
{
	const struct engine_job *job = check->job;
	uint32_t mask = job->operands[k].spec.window_mask;
	struct engine_interval interval;
	struct engine_box box;
	uint64_t last;

	engine_box_init(&box, job->rank, job->extents);
	if (!engine_box_tighten(&box, job->windows, mask))
		return 0;
	interval = engine_bounds(reach->address, &box, job->windows, mask);
	if (interval.lowest > interval.highest)
		return 0;
	if (interval.lowest < 0)
		return engine_fail(check->fault, ERANGE, reach->cause, k, interval.lowest,
				   "%s: %s reaches down to byte %" PRId64
				   ", expected at least 0 of a buffer of %" PRIu64 " bytes",
				   engine_operand_name(k), reach->what, interval.lowest,
				   reach->buffer->size);
	last = (uint64_t)interval.highest + reach->element_size - 1;
	if (last >= reach->buffer->size)
		return engine_fail(check->fault, ERANGE, reach->cause, k,
				   last > INT64_MAX ? INT64_MAX : (int64_t)last,
				   "%s: %s reaches up to byte %" PRIu64 " of a buffer of %" PRIu64
				   " bytes",
				   engine_operand_name(k), reach->what, last, reach->buffer->size);
	return 0;
}

static int check_bounds(const struct check *check)
{
	int error;

	for (uint32_t k = 0; k < check->job->num_operands; k++) {
		const struct engine_operand *operand = &check->job->operands[k];
		struct reach element = {
			"address", &operand->spec.address, &operand->buffer,
			engine_dtype_size(operand->spec.dtype), DRM_TESSERA_CAUSE_BOUNDS,
		};
		struct reach index = {
			"index_address", &operand->spec.index_address, &operand->index_buffer,
			engine_dtype_size(operand->spec.index_dtype),
			DRM_TESSERA_CAUSE_INDEX_BOUNDS,
		};
		bool is_indirect = operand->spec.flags & DRM_TESSERA_OPERAND_INDIRECT;

		error = check_reach(check, k, is_indirect ? &index : &element);
		if (error)
			return error;
	}
	return 0;
}

int engine_check(const struct engine_job *job, struct engine_fault *fault)
{
	const struct check check = { job, fault };
	int error;

	error = check_counts(&check);
	if (!error)
		error = check_windows(&check);
	if (!error)
		error = check_operands(&check);
	if (!error)
		error = check_program(&check);
	if (error)
		return error;
	if (!engine_job_is_empty(job)) {
		error = check_overflow(&check);
		if (error)
			return error;
	}
	if (!job->operands[0].buffer.is_writable)
		return engine_fail(fault, EACCES, DRM_TESSERA_CAUSE_PERMISSION, 0, 0,
				   "destination: the buffer is read-only");
	return engine_job_is_empty(job) ? 0 : check_bounds(&check);
}
