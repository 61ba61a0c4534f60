// SPDX-License-Identifier: MIT
/*
 * Which instructions become one step: all short programs of those that may, by every instruction
 * set that the CPU has, against the reference, an instruction at a time. As in
 * test_engine_sizes.c the engine is what the library has, without sanitizers. Every point has the
 * same values: what kernels do with others is test_engine_program.c's.
 */
#include "engine/isa.h"
#include "engine/program.h"
#include "engine_test.h"

#define F32	DRM_TESSERA_DTYPE_F32
#define I8	DRM_TESSERA_DTYPE_I8

/* Two sources that programs compute with, one that they have to cast, a register without a value */
enum { FIRST, SECOND, SMALL, FREE, NUM_REGISTERS };
#define NUM_SOURCES	FREE

#define MOST_INSTRUCTIONS	4
#define NUM_POINTS		ENGINE_STRIP_ALIGNMENT
#define LETTERS			256

/* What registers hold: bits, and their type, 0 where there is nothing. */
struct registers {
	uint64_t values[NUM_REGISTERS];
	uint32_t dtypes[NUM_REGISTERS];
};

/* Instructions of which programs are put together. */
struct alphabet {
	struct drm_tessera_instruction letters[LETTERS];
	uint32_t num_letters;
};

struct walk {
	struct alphabet alphabet;
	uint32_t most;
	struct drm_tessera_instruction program[MOST_INSTRUCTIONS];
	uint32_t num_instructions;
	uint64_t num_programs;
};

static uint8_t strips_bytes[ENGINE_STRIPS_BYTES] __attribute__((aligned(64)));
static uint8_t streamed[NUM_POINTS * sizeof(float)] __attribute__((aligned(64)));

static void add_letter(struct alphabet *alphabet, uint8_t opcode, uint32_t dtype, uint8_t dst,
		       uint8_t a, uint8_t b, uint8_t c)
{
	assert_true(alphabet->num_letters < LETTERS);
	alphabet->letters[alphabet->num_letters++] = (struct drm_tessera_instruction){
		.opcode = opcode,
		.dtype = (uint8_t)dtype,
		.flags = dtype == I8 ? DRM_TESSERA_INSTRUCTION_SATURATE : 0,
		.dst = dst,
		.src = { a, b, c },
	};
}

static void add_operations(struct alphabet *alphabet, uint8_t dst)
{
	static const uint8_t opcodes[] = {
		DRM_TESSERA_OP_ADD, DRM_TESSERA_OP_SUB, DRM_TESSERA_OP_MUL,
	};
	static const uint8_t operands[] = { FIRST, SECOND, FREE };

	for (size_t i = 0; i < 27; i++) {
		const uint8_t a = operands[i / 3 % 3], b = operands[i % 3];

		add_letter(alphabet, opcodes[i / 9], F32, dst, a, b, 0);
		add_letter(alphabet, DRM_TESSERA_OP_FMA, F32, dst, a, b, operands[i / 9]);
	}
}

static void add_casts(struct alphabet *alphabet, uint8_t dst)
{
	add_letter(alphabet, DRM_TESSERA_OP_CAST, F32, dst, SMALL, 0, 0);
	add_letter(alphabet, DRM_TESSERA_OP_CAST, F32, dst, FREE, 0, 0);
	add_letter(alphabet, DRM_TESSERA_OP_CAST, I8, dst, FIRST, 0, 0);
	add_letter(alphabet, DRM_TESSERA_OP_CAST, I8, dst, FREE, 0, 0);
}

static struct walk new_walk(uint32_t most)
{
	struct walk walk = { .most = most };

	add_operations(&walk.alphabet, FIRST);
	add_operations(&walk.alphabet, FREE);
	add_casts(&walk.alphabet, FIRST);
	add_casts(&walk.alphabet, FREE);
	return walk;
}

static struct registers sources(void)
{
	const float first = 13.7f, second = -2.3f;
	struct registers registers = {
		.values = { [SMALL] = (uint8_t)-5 },
		.dtypes = { F32, F32, I8 },
	};

	memcpy(&registers.values[FIRST], &first, sizeof(first));
	memcpy(&registers.values[SECOND], &second, sizeof(second));
	return registers;
}

/* Whether all that an instruction reads is there and of its type. */
static bool can_follow(const struct registers *registers,
		       const struct drm_tessera_instruction *instruction)
{
	const uint32_t num_read = instruction->opcode == DRM_TESSERA_OP_FMA ? 3 : 2;

	if (instruction->opcode == DRM_TESSERA_OP_CAST)
		return registers->dtypes[instruction->src[0]];
	for (uint32_t s = 0; s < num_read; s++)
		if (registers->dtypes[instruction->src[s]] != F32)
			return false;
	return true;
}

static void follow(struct registers *registers, const struct drm_tessera_instruction *instruction)
{
	const uint8_t *src = instruction->src;

	registers->values[instruction->dst] =
		reference_instruction(instruction, registers->dtypes[src[0]],
				      registers->values[src[0]], registers->values[src[1]],
				      registers->values[src[2]]);
	registers->dtypes[instruction->dst] = instruction->dtype;
}

static void fill_sources(const struct engine_program *program, uint8_t **strips)
{
	const struct registers registers = sources();

	for (uint32_t s = 0; s < program->num_strips; s++)
		strips[s] = engine_strip(program, strips_bytes, s);
	for (uint32_t k = 0; k < NUM_SOURCES; k++) {
		const size_t size = registers.dtypes[k] == F32 ? 4 : 1;

		for (size_t i = 0; i < NUM_POINTS; i++)
			memcpy(strips[k] + i * size, &registers.values[k], size);
	}
}

static void check_results(const struct walk *walk, const uint8_t *results,
			  const struct registers *expected, const char *manner)
{
	const size_t size = expected->dtypes[0] == F32 ? 4 : 1;

	for (size_t i = 0; i < NUM_POINTS; i++)
		if (memcmp(results + i * size, expected->values, size))
			break;
		else if (i == NUM_POINTS - 1)
			return;
	for (uint32_t n = 0; n < walk->num_instructions; n++) {
		const struct drm_tessera_instruction *instruction = &walk->program[n];

		print_message("opcode %u, dtype 0x%x, r%u = r%u r%u r%u\n", instruction->opcode,
			      instruction->dtype, instruction->dst, instruction->src[0],
			      instruction->src[1], instruction->src[2]);
	}
	fail_msg("%s: expected 0x%" PRIx64, manner, expected->values[0]);
}

static void check_program(const struct walk *walk, const struct engine_isa *isa,
			  const struct registers *expected)
{
	static const uint32_t uniform[] = { 0, 1 << SECOND, (1 << NUM_SOURCES) - 1 };
	const struct registers first = sources();
	uint8_t *strips[ENGINE_MAX_STRIPS];
	struct engine_program program;

	engine_program_init(&program, isa->compute, walk->program, walk->num_instructions,
			    first.dtypes, NUM_SOURCES);
	fill_sources(&program, strips);
	for (size_t u = 0; u < COUNT(uniform); u++) {
		engine_program_run(&program, strips, uniform[u], NUM_POINTS);
		check_results(walk, strips[program.result], expected, isa->name);
		if (!program.ends_with_result ||
		    !engine_program_can_stream(&program, uniform[u]))
			continue;
		engine_program_stream_to(&program, strips, uniform[u], streamed, NUM_POINTS);
		check_results(walk, streamed, expected, "streamed");
	}
}

/* All programs that go on from here, and this one. */
static void check_programs(struct walk *walk, const struct registers *registers)
{
	const struct engine_isa *isa;

	for (uint32_t k = 0; walk->num_instructions && (isa = engine_isa_at(k)); k++)
		if (isa->is_available())
			check_program(walk, isa, registers);
	walk->num_programs++;
	if (walk->num_instructions == walk->most)
		return;
	for (uint32_t n = 0; n < walk->alphabet.num_letters; n++) {
		const struct drm_tessera_instruction *letter = &walk->alphabet.letters[n];
		struct registers after = *registers;

		if (!can_follow(registers, letter))
			continue;
		follow(&after, letter);
		walk->program[walk->num_instructions++] = *letter;
		check_programs(walk, &after);
		walk->num_instructions--;
	}
}

static void programs_of_three_instructions_compute_what_they_say(void **state)
{
	const struct registers registers = sources();
	struct walk walk = new_walk(3);

	(void)state;
	check_programs(&walk, &registers);
	print_message("%" PRIu64 " programs\n", walk.num_programs);
}

/* A chain may begin with one. */
static void programs_of_four_that_begin_with_a_cast_compute_what_they_say(void **state)
{
	struct registers registers = sources();
	struct walk walk = new_walk(4);

	(void)state;
	walk.program[walk.num_instructions++] = (struct drm_tessera_instruction){
		.opcode = DRM_TESSERA_OP_CAST, .dtype = F32, .dst = FREE, .src = { SMALL },
	};
	follow(&registers, &walk.program[0]);
	check_programs(&walk, &registers);
	print_message("%" PRIu64 " programs\n", walk.num_programs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_of_three_instructions_compute_what_they_say),
		cmocka_unit_test(programs_of_four_that_begin_with_a_cast_compute_what_they_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
