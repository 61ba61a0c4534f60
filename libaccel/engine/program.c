// SPDX-License-Identifier: MIT
/*
 * From instructions to steps: which kernel computes each, and which strip holds what. The kernels
 * themselves are in compute_portable.c and its neighbours.
 */
#include <stddef.h>
#include <string.h>

#include "arithmetic.h"
#include "program.h"

/* What a step does, for one that may become part of a chain; of another the opcode is 0. */
struct note {
	uint8_t opcode;
	uint8_t flags;
	enum engine_type from;		/* of a */
	enum engine_type to;		/* of the result */
};

/* What the strips hold while steps are made. */
struct assignment {
	const struct engine_compute_kernels *kernels;
	uint8_t strips[DRM_TESSERA_NUM_REGISTERS];	/* of each register */
	enum engine_type types[DRM_TESSERA_NUM_REGISTERS];
	uint32_t written;		/* registers that hold something */
	uint32_t kept;			/* strips of sources and constants */
	uint32_t taken;			/* strips with something in them, or kept */
	uint32_t num_strips;
	uint32_t widest;		/* bytes of the largest element */
	struct note notes[2 * DRM_TESSERA_MAX_INSTRUCTIONS];	/* of each step */
};

/* A kernel of the instruction set, or of the first simpler one that has it. */
#define FIND(set, member)									\
({												\
	const struct engine_compute_kernels *having_ = (set);					\
												\
	while (!having_->member && having_->simpler)						\
		having_ = having_->simpler;							\
	having_->member;									\
})

static uint32_t size_of(enum engine_type type)
{
	static const uint8_t sizes[ENGINE_NUM_TYPES] = {
		[ENGINE_U8] = 1, [ENGINE_U16] = 2, [ENGINE_U32] = 4, [ENGINE_U64] = 8,
		[ENGINE_I8] = 1, [ENGINE_I16] = 2, [ENGINE_I32] = 4, [ENGINE_I64] = 8,
		[ENGINE_F16] = 2, [ENGINE_BF16] = 2, [ENGINE_F32] = 4, [ENGINE_F64] = 8,
	};

	return sizes[type];
}

/* The first strip that holds nothing, for elements of a type. */
static uint8_t take_strip(struct assignment *assignment, enum engine_type type)
{
	uint32_t strip = (uint32_t)__builtin_ctz(~assignment->taken);

	assignment->taken |= 1u << strip;
	if (strip >= assignment->num_strips)
		assignment->num_strips = strip + 1;
	if (size_of(type) > assignment->widest)
		assignment->widest = size_of(type);
	return (uint8_t)strip;
}

static void release_strip(struct assignment *assignment, uint8_t strip)
{
	assignment->taken &= ~(1u << strip) | assignment->kept;
}

/* Gives the register a strip in place of the one that it had. */
static void set_register(struct assignment *assignment, uint8_t r, uint8_t strip,
			 enum engine_type type)
{
	if (assignment->written >> r & 1)
		release_strip(assignment, assignment->strips[r]);
	assignment->written |= 1u << r;
	assignment->strips[r] = strip;
	assignment->types[r] = type;
}

static enum engine_wide wide_of(enum engine_type type)
{
	return type <= ENGINE_U64 ? ENGINE_WIDE_U64 : type <= ENGINE_I64 ? ENGINE_WIDE_I64 :
								     ENGINE_WIDE_F64;
}

static engine_strip_kernel *find_kernel(const struct engine_compute_kernels *kernels,
					const struct drm_tessera_instruction *instruction)
{
	enum engine_type type = engine_dtype_type(instruction->dtype);

	switch (instruction->opcode) {
	case DRM_TESSERA_OP_COMPARE:
		return FIND(kernels, comparing[instruction->predicate][type]);
	case DRM_TESSERA_OP_SELECT:
		return FIND(kernels, selecting[__builtin_ctz(size_of(type))]);
	default:
		return instruction->flags & DRM_TESSERA_INSTRUCTION_SATURATE ?
		       FIND(kernels, saturating[instruction->opcode][type]) :
		       FIND(kernels, arithmetic[instruction->opcode][type]);
	}
}

static void add_step(struct engine_program *program, const struct engine_step *step)
{
	program->steps[program->num_steps++] = *step;
}

/* Adds the step that does all of an instruction. */
static void add_whole(struct engine_program *program, struct assignment *assignment,
		      const struct drm_tessera_instruction *instruction,
		      const struct engine_step *step)
{
	assignment->notes[program->num_steps] = (struct note){
		.opcode = instruction->opcode,
		.flags = instruction->flags,
		.from = assignment->types[instruction->src[0]],
		.to = engine_dtype_type(instruction->dtype),
	};
	add_step(program, step);
}

static void add_cast(struct engine_program *program, struct assignment *assignment,
		     const struct drm_tessera_instruction *instruction)
{
	static const enum engine_type wide_types[ENGINE_NUM_WIDE] = {
		ENGINE_U64, ENGINE_I64, ENGINE_F64,
	};
	enum engine_type from = assignment->types[instruction->src[0]];
	enum engine_type to = engine_dtype_type(instruction->dtype);
	enum engine_wide wide = wide_of(from);
	uint8_t src = assignment->strips[instruction->src[0]];
	uint8_t dst = take_strip(assignment, to), middle;
	engine_strip_kernel *at_once = FIND(assignment->kernels,
					    casting[instruction->flags][from][to]);

	if (at_once) {
		add_whole(program, assignment, instruction,
			  &(struct engine_step){ .kernel = at_once, .dst = dst, .src = { src } });
	} else {
		middle = take_strip(assignment, wide_types[wide]);
		add_step(program, &(struct engine_step){
			.kernel = FIND(assignment->kernels, widening[from]),
			.dst = middle, .src = { src },
		});
		add_step(program, &(struct engine_step){
			.kernel = FIND(assignment->kernels,
				       narrowing[wide][instruction->flags][to]),
			.dst = dst, .src = { middle },
		});
		release_strip(assignment, middle);
	}
	set_register(assignment, instruction->dst, dst, to);
}

/* Takes the strips of all constants, before any other result could be written to one of them. */
static void add_constants(struct engine_program *program, struct assignment *assignment,
			  const struct drm_tessera_instruction *instructions, uint32_t count)
{
	const uint32_t sources = assignment->taken;

	for (uint32_t n = 0; n < count; n++) {
		const struct drm_tessera_instruction *instruction = &instructions[n];

		if (instruction->opcode != DRM_TESSERA_OP_CONST)
			continue;
		program->constants[program->num_constants++] = (struct engine_constant){
			.value = instruction->immediate,
			.size_shift = instruction->dtype & DRM_TESSERA_DTYPE_SHIFT_MASK,
			.strip = take_strip(assignment, engine_dtype_type(instruction->dtype)),
		};
	}
	program->uniform = assignment->taken & ~sources;
	assignment->kept = assignment->taken;
}

static void add_instruction(struct engine_program *program, struct assignment *assignment,
			    const struct drm_tessera_instruction *instruction)
{
	enum engine_type type = instruction->opcode == DRM_TESSERA_OP_COMPARE ? ENGINE_U8 :
				engine_dtype_type(instruction->dtype);
	struct engine_step step = { .kernel = find_kernel(assignment->kernels, instruction) };

	step.dst = take_strip(assignment, type);
	for (int s = 0; s < 3; s++)
		step.src[s] = assignment->strips[instruction->src[s]];
	add_whole(program, assignment, instruction, &step);
	set_register(assignment, instruction->dst, step.dst, type);
}

/* Whether nothing but the step after it reads what step n leaves. */
static bool is_for_next(const struct engine_program *program, uint32_t n)
{
	uint8_t strip = program->steps[n].dst;

	for (uint32_t m = n + 1; m < program->num_steps; m++) {
		const struct engine_step *step = &program->steps[m];

		if (m > n + 1 && (step->src[0] == strip || step->src[1] == strip ||
				  step->src[2] == strip))
			return false;
		if (step->dst == strip)
			return true;
	}
	return program->result != strip;
}

/* The chain that begins at a step, as far as it is known. */
struct chain {
	const struct engine_program *program;
	const struct note *notes;
	uint32_t next;			/* step */
	enum engine_type from;
	struct engine_step step;
};

static bool is_next(const struct chain *chain, uint8_t opcode)
{
	const struct note *note = &chain->notes[chain->next];

	return chain->next < chain->program->num_steps && note->opcode == opcode &&
	       note->to == ENGINE_F32;
}

/* Takes one of the first two sources of the next step for link; returns the other, or -1. */
static int take_operation(struct chain *chain, int link, bool is_symmetric)
{
	const struct engine_step *step = &chain->program->steps[chain->next];
	int other;

	if (step->src[0] == link)
		other = step->src[1];
	else if (is_symmetric && step->src[1] == link)
		other = step->src[0];
	else
		return -1;
	chain->next++;
	return other == link ? -1 : other;
}

/* A cast to f32 at the beginning; returns the strip with the value to go on with. */
static int take_first_cast(struct chain *chain)
{
	const struct engine_step *step = &chain->program->steps[chain->next];

	chain->from = ENGINE_F32;
	chain->step.src[0] = step->src[0];
	if (!is_next(chain, DRM_TESSERA_OP_CAST) || !is_for_next(chain->program, chain->next))
		return step->src[0];
	chain->from = chain->notes[chain->next++].from;
	return step->dst;
}

static bool take_fma(struct chain *chain, int link)
{
	int third = chain->program->steps[chain->next].src[2];
	int other = take_operation(chain, link, true);

	/* what a cast leaves is nowhere, once the cast is part of the chain */
	if (other < 0 || (third == link && link != chain->step.src[0]))
		return false;
	chain->step.src[1] = (uint8_t)other;
	chain->step.src[2] = (uint8_t)third;
	return true;
}

static bool take_two(struct chain *chain, int link, uint8_t second, bool is_symmetric)
{
	int b = take_operation(chain, link, is_symmetric), c;

	if (b < 0 || !is_next(chain, second) || !is_for_next(chain->program, chain->next - 1))
		return false;
	c = take_operation(chain, chain->program->steps[chain->next - 1].dst, true);
	if (c < 0)
		return false;
	chain->step.src[1] = (uint8_t)b;
	chain->step.src[2] = (uint8_t)c;
	return true;
}

/*
 * The operations that follow the first cast; returns which, or ENGINE_NUM_CHAINS. The next one
 * alone says which they may be: what has been taken of one chain is no beginning of another.
 */
static enum engine_chain take_operations(struct chain *chain, int link)
{
	if (is_next(chain, DRM_TESSERA_OP_FMA))
		return take_fma(chain, link) ? ENGINE_CHAIN_FMA : ENGINE_NUM_CHAINS;
	if (is_next(chain, DRM_TESSERA_OP_MUL))
		return take_two(chain, link, DRM_TESSERA_OP_ADD, true) ? ENGINE_CHAIN_MUL_ADD :
									 ENGINE_NUM_CHAINS;
	if (is_next(chain, DRM_TESSERA_OP_SUB))
		return take_two(chain, link, DRM_TESSERA_OP_MUL, false) ? ENGINE_CHAIN_SUB_MUL :
									  ENGINE_NUM_CHAINS;
	return ENGINE_NUM_CHAINS;
}

/* Takes a last cast, if there is one and the set has a kernel with it; returns to what type. */
static enum engine_type take_last_cast(struct chain *chain, engine_strip_kernel *const *kernels_to)
{
	const struct engine_program *program = chain->program;
	const struct note *note = &chain->notes[chain->next];
	bool is_integer = note->to <= ENGINE_I64;
	uint32_t flags = is_integer ? DRM_TESSERA_INSTRUCTION_SATURATE : 0;

	if (chain->next == program->num_steps || note->opcode != DRM_TESSERA_OP_CAST ||
	    note->flags != flags || !kernels_to[note->to] ||
	    program->steps[chain->next].src[0] != program->steps[chain->next - 1].dst ||
	    !is_for_next(program, chain->next - 1))
		return ENGINE_F32;
	chain->next++;
	return note->to;
}

static bool match_chain(struct chain *chain, const struct engine_compute_kernels *kernels)
{
	uint32_t first = chain->next;
	int link = take_first_cast(chain);
	enum engine_chain operations = take_operations(chain, link);
	struct engine_step *step = &chain->step;
	enum engine_type to;

	if (operations == ENGINE_NUM_CHAINS)
		return false;
	to = take_last_cast(chain, kernels->chains[operations][chain->from]);
	step->kernel = kernels->chains[operations][chain->from][to];
	step->uniform_kernel = kernels->uniform_chains[operations][chain->from][to];
	if (to == ENGINE_F32)
		step->streaming_kernel = kernels->streaming_chains[operations][chain->from];
	step->dst = chain->program->steps[chain->next - 1].dst;
	return step->kernel && chain->next > first + 1 && step->dst != step->src[0] &&
	       step->dst != step->src[1] && step->dst != step->src[2];
}

/* Makes one step of several that pass on one value. */
static void join_chains(struct engine_program *program, const struct assignment *assignment)
{
	uint32_t kept = 0;

	for (uint32_t n = 0; n < program->num_steps; n++) {
		struct chain chain = { program, assignment->notes, .next = n };

		if (match_chain(&chain, assignment->kernels)) {
			program->steps[kept++] = chain.step;
			n = chain.next - 1;
		} else {
			program->steps[kept++] = program->steps[n];
		}
	}
	program->num_steps = kept;
}

/* Counts anew the strips that are in use, now that what passed along in chains is not. */
static void count_strips(const struct engine_program *program, struct assignment *assignment)
{
	uint32_t used = assignment->kept;

	for (uint32_t n = 0; n < program->num_steps; n++)
		used |= 1u << program->steps[n].dst;
	assignment->num_strips = 32 - (uint32_t)__builtin_clz(used);
}

/* As many points as there is room for, with a strip to spare. */
static void lay_out_strips(struct engine_program *program, const struct assignment *assignment)
{
	uint32_t point_bytes = (assignment->num_strips + 1) * assignment->widest;

	program->num_strips = assignment->num_strips;
	program->strip_points = ENGINE_STRIPS_BYTES / point_bytes / ENGINE_STRIP_ALIGNMENT *
				ENGINE_STRIP_ALIGNMENT;
	program->strip_bytes = program->strip_points * assignment->widest;
}

_Static_assert(ENGINE_MAX_STRIPS < 32, "strips are counted in the bits of a word");
_Static_assert(ENGINE_STRIPS_BYTES / (ENGINE_MAX_STRIPS + 1) / sizeof(uint64_t) >=
	       ENGINE_STRIP_ALIGNMENT,
	       "the longest program must have room for a strip");

void engine_program_init(struct engine_program *program,
			 const struct engine_compute_kernels *kernels,
			 const struct drm_tessera_instruction *instructions, uint32_t count,
			 const uint32_t *dtypes, uint32_t num_sources)
{
	const struct engine_constant *constant = program->constants;
	struct assignment assignment = { .kernels = kernels };

	program->num_constants = 0;
	program->num_steps = 0;
	for (uint8_t k = 0; k < num_sources; k++) {
		enum engine_type type = engine_dtype_type(dtypes[k]);

		set_register(&assignment, k, take_strip(&assignment, type), type);
	}
	add_constants(program, &assignment, instructions, count);
	for (uint32_t n = 0; n < count; n++) {
		const struct drm_tessera_instruction *instruction = &instructions[n];

		if (instruction->opcode == DRM_TESSERA_OP_CONST)
			set_register(&assignment, instruction->dst, constant++->strip,
				     engine_dtype_type(instruction->dtype));
		else if (instruction->opcode == DRM_TESSERA_OP_CAST)
			add_cast(program, &assignment, instruction);
		else
			add_instruction(program, &assignment, instruction);
	}
	program->result = assignment.strips[0];
	join_chains(program, &assignment);
	program->ends_with_result =
		program->num_steps &&
		program->steps[program->num_steps - 1].dst == program->result;
	count_strips(program, &assignment);
	lay_out_strips(program, &assignment);
}

void engine_program_begin(const struct engine_program *program, uint8_t *strips, uint32_t count)
{
	for (uint32_t n = 0; n < program->num_constants; n++) {
		const struct engine_constant *constant = &program->constants[n];
		uint8_t *strip = engine_strip(program, strips, constant->strip);
		size_t filled = (size_t)1 << constant->size_shift;
		const size_t size = filled * count;

		memcpy(strip, &constant->value, filled);
		for (; filled < size; filled *= 2)
			memcpy(strip + filled, strip, min(filled, size - filled));
	}
}

static bool is_uniform(const struct engine_step *step, uint32_t uniform)
{
	return uniform >> step->src[1] & uniform >> step->src[2] & 1;
}

static void run_kernel(engine_strip_kernel *kernel, const struct engine_step *step,
		       uint8_t *const *strips, uint8_t *dst, uint32_t count)
{
	kernel(dst, strips[step->src[0]], strips[step->src[1]], strips[step->src[2]], count);
}

static void run_step(const struct engine_step *step, uint8_t *const *strips, uint32_t uniform,
		     uint8_t *dst, uint32_t count)
{
	if (step->uniform_kernel && is_uniform(step, uniform))
		run_kernel(step->uniform_kernel, step, strips, dst, count);
	else
		run_kernel(step->kernel, step, strips, dst, count);
}

static void run_steps(const struct engine_program *program, uint8_t *const *strips,
		      uint32_t uniform, uint32_t num_steps, uint32_t count)
{
	for (uint32_t n = 0; n < num_steps; n++) {
		const struct engine_step *step = &program->steps[n];

		run_step(step, strips, uniform | program->uniform, strips[step->dst], count);
	}
}

void engine_program_run(const struct engine_program *program, uint8_t *const *strips,
			uint32_t uniform, uint32_t count)
{
	run_steps(program, strips, uniform, program->num_steps, count);
}

void engine_program_run_to(const struct engine_program *program, uint8_t *const *strips,
			   uint32_t uniform, uint8_t *result, uint32_t count)
{
	const uint32_t last = program->num_steps - 1;

	run_steps(program, strips, uniform, last, count);
	run_step(&program->steps[last], strips, uniform | program->uniform, result, count);
}

bool engine_program_can_stream(const struct engine_program *program, uint32_t uniform)
{
	const struct engine_step *step = &program->steps[program->num_steps - 1];

	return step->streaming_kernel && is_uniform(step, uniform | program->uniform);
}

void engine_program_stream_to(const struct engine_program *program, uint8_t *const *strips,
			      uint32_t uniform, uint8_t *result, uint32_t count)
{
	const uint32_t last = program->num_steps - 1;
	const struct engine_step *step = &program->steps[last];

	run_steps(program, strips, uniform, last, count);
	run_kernel(step->streaming_kernel, step, strips, result, count);
}
