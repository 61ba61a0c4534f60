// SPDX-License-Identifier: MIT
/*
 * Programs: every instruction on every type, bit for bit as the reference says, at the extremes of
 * the types and where rounding twice would show; by every instruction set that the CPU has.
 */
#include "engine/isa.h"
#include "engine_test.h"

static const uint32_t dtypes[] = {
	DRM_TESSERA_DTYPE_U8, DRM_TESSERA_DTYPE_U16, DRM_TESSERA_DTYPE_U32, DRM_TESSERA_DTYPE_U64,
	DRM_TESSERA_DTYPE_I8, DRM_TESSERA_DTYPE_I16, DRM_TESSERA_DTYPE_I32, DRM_TESSERA_DTYPE_I64,
	DRM_TESSERA_DTYPE_F16, DRM_TESSERA_DTYPE_BF16, DRM_TESSERA_DTYPE_F32,
	DRM_TESSERA_DTYPE_F64,
};

static bool is_integer(uint32_t dtype)
{
	return (dtype & DRM_TESSERA_DTYPE_CLASS_MASK) <= DRM_TESSERA_DTYPE_CLASS_SIGNED;
}

/* Values of a type, as bits. */
struct values {
	uint64_t bits[64];
	size_t count;
};

static void add_value(struct values *values, uint32_t dtype, uint64_t bits)
{
	uint32_t width = 8 * engine_dtype_size(dtype);

	values->bits[values->count++] = width == 64 ? bits : bits & ((1ull << width) - 1);
}

static struct values integer_extremes(uint32_t dtype)
{
	uint32_t width = 8 * engine_dtype_size(dtype);
	struct values values = { .count = 0 };

	for (int64_t i = -3; i <= 3; i++) {
		add_value(&values, dtype, (uint64_t)i);
		add_value(&values, dtype, (1ull << (width - 1)) + (uint64_t)i);
		add_value(&values, dtype, (1ull << (width / 2)) + (uint64_t)i);
		add_value(&values, dtype, -(1ull << (width / 2)) + (uint64_t)i);
	}
	return values;
}

static struct values float_extremes(uint32_t dtype)
{
	uint32_t width = 8 * engine_dtype_size(dtype);
	uint32_t digits = dtype == DRM_TESSERA_DTYPE_BF16 ? 7 : width == 16 ? 10 :
			  width == 32 ? 23 : 52;
	uint64_t infinity = ((1ull << (width - 1)) - 1) >> digits << digits;
	uint64_t one = infinity / 2 >> digits << digits;
	uint64_t half_digit = 1ull << (digits - 1), last = 1ull << digits;
	const uint64_t positive[] = {
		0, 1, 2, 3, last - 1, last, last + 1, one - last, one - 1, one, one + 1,
		one + half_digit, one + last, one + last + half_digit, one + last - 1,
		one + digits * last, one + digits * last + 1, one + (digits + 1) * last,
		one + (digits + 1) * last + 1, one - digits * last, one - (digits + 2) * last,
		infinity - last, infinity - 1, infinity, infinity + 1, infinity + half_digit,
		infinity + half_digit + 5,
	};
	struct values values = { .count = 0 };

	for (size_t i = 0; i < COUNT(positive); i++) {
		add_value(&values, dtype, positive[i]);
		add_value(&values, dtype, positive[i] | 1ull << (width - 1));
	}
	return values;
}

static struct values extremes(uint32_t dtype)
{
	return is_integer(dtype) ? integer_extremes(dtype) : float_extremes(dtype);
}

/* The operands of one instruction at many points, packed in the type of each. */
struct table {
	uint8_t *operands[3];
	uint8_t *results;
	size_t count;
};

static struct table new_table(size_t count)
{
	struct table table = { .count = count };

	for (int s = 0; s < 3; s++)
		table.operands[s] = calloc(count, 8);
	table.results = calloc(count, 8);
	return table;
}

static void free_table(struct table *table)
{
	for (int s = 0; s < 3; s++)
		free(table->operands[s]);
	free(table->results);
}

static void put(struct table *table, int s, size_t i, uint32_t dtype, uint64_t bits)
{
	memcpy(table->operands[s] + i * engine_dtype_size(dtype), &bits, engine_dtype_size(dtype));
}

static uint64_t get(const uint8_t *array, size_t i, uint32_t dtype)
{
	uint64_t bits = 0;

	memcpy(&bits, array + i * engine_dtype_size(dtype), engine_dtype_size(dtype));
	return bits;
}

/* An instruction, the types of what it reads and of what it leaves, and how many it reads. */
struct trial {
	struct drm_tessera_instruction instruction;
	uint32_t types[3];
	uint32_t result;
	uint32_t num_sources;
};

/* Runs the instruction at all points of the table and compares each with the reference. */
static void check_table(const struct trial *trial, struct table *table)
{
	struct engine_job *job = new_job(trial->num_sources, trial->result);

	job->num_instructions = 1;
	job->program[0] = trial->instruction;
	for (uint8_t s = 0; s < trial->num_sources; s++)
		job->program[0].src[s] = s;
	set_buffer(job, 0, table->results, table->count * 8);
	add_loop(job, table->count, engine_dtype_size(trial->result), 0);
	for (uint32_t s = 0; s < trial->num_sources; s++) {
		set_buffer(job, s + 1, table->operands[s], table->count * 8);
		job->operands[s + 1].spec.dtype = trial->types[s];
		job->operands[s + 1].spec.address.strides[0] = engine_dtype_size(trial->types[s]);
	}
	run_job(job);
	for (size_t i = 0; i < table->count; i++) {
		uint64_t a = get(table->operands[0], i, trial->types[0]);
		uint64_t b = get(table->operands[1], i, trial->types[1]);
		uint64_t c = get(table->operands[2], i, trial->types[2]);
		uint64_t expected = reference_instruction(&trial->instruction, trial->types[0],
							  a, b, c);
		uint64_t result = get(table->results, i, trial->result);

		if (result != expected)
			fail_msg("opcode %u, dtype %s, flags %u, predicate %u: of %s 0x%" PRIx64
				 ", 0x%" PRIx64 ", 0x%" PRIx64 " came 0x%" PRIx64
				 ", expected 0x%" PRIx64, trial->instruction.opcode,
				 engine_dtype_name(trial->instruction.dtype),
				 trial->instruction.flags, trial->instruction.predicate,
				 engine_dtype_name(trial->types[0]), a, b, c, result, expected);
	}
}

static struct trial arithmetic(uint8_t opcode, uint32_t dtype, uint8_t flags, uint32_t num_sources)
{
	return (struct trial){
		.instruction = { .opcode = opcode, .dtype = (uint8_t)dtype, .flags = flags },
		.types = { dtype, dtype, dtype }, .result = dtype, .num_sources = num_sources,
	};
}

static void check_unary(const struct trial *trial)
{
	struct values a = extremes(trial->types[0]);
	struct table table = new_table(a.count);

	for (size_t i = 0; i < a.count; i++)
		put(&table, 0, i, trial->types[0], a.bits[i]);
	check_table(trial, &table);
	free_table(&table);
}

static void check_binary(const struct trial *trial)
{
	struct values values = extremes(trial->types[0]);
	struct table table = new_table(values.count * values.count);

	for (size_t i = 0; i < table.count; i++) {
		put(&table, 0, i, trial->types[0], values.bits[i / values.count]);
		put(&table, 1, i, trial->types[1], values.bits[i % values.count]);
	}
	check_table(trial, &table);
	free_table(&table);
}

static void check_ternary(const struct trial *trial)
{
	struct values a = extremes(trial->types[0]), b = extremes(trial->types[1]);
	struct values c = extremes(trial->types[2]);
	struct table table = new_table(a.count * b.count * c.count / 5);

	/* a fifth of all triples: 5 divides none of the counts, so that all values occur */
	for (size_t i = 0; i < table.count; i++) {
		put(&table, 0, i, trial->types[0], a.bits[5 * i % a.count]);
		put(&table, 1, i, trial->types[1], b.bits[5 * i / a.count % b.count]);
		put(&table, 2, i, trial->types[2], c.bits[5 * i / a.count / b.count % c.count]);
	}
	check_table(trial, &table);
	free_table(&table);
}

typedef void check_trial(const struct trial *trial);

/* On every type, integers wrapped and saturated. */
static void check_opcode(uint8_t opcode, uint32_t num_sources, bool saturates, check_trial *check)
{
	for (size_t t = 0; t < COUNT(dtypes); t++) {
		struct trial trial = arithmetic(opcode, dtypes[t], 0, num_sources);

		check(&trial);
		if (!saturates || !is_integer(dtypes[t]))
			continue;
		trial.instruction.flags = DRM_TESSERA_INSTRUCTION_SATURATE;
		check(&trial);
	}
}

static void add_is_right_at_the_extremes_of_every_type(void **state)
{
	(void)state;
	check_opcode(DRM_TESSERA_OP_ADD, 2, true, check_binary);
}

static void sub_is_right_at_the_extremes_of_every_type(void **state)
{
	(void)state;
	check_opcode(DRM_TESSERA_OP_SUB, 2, true, check_binary);
}

static void mul_is_right_at_the_extremes_of_every_type(void **state)
{
	(void)state;
	check_opcode(DRM_TESSERA_OP_MUL, 2, true, check_binary);
}

static void fma_is_right_at_the_extremes_of_every_type(void **state)
{
	(void)state;
	check_opcode(DRM_TESSERA_OP_FMA, 3, true, check_ternary);
}

static void min_is_right_at_the_extremes_of_every_type(void **state)
{
	(void)state;
	check_opcode(DRM_TESSERA_OP_MIN, 2, false, check_binary);
}

static void max_is_right_at_the_extremes_of_every_type(void **state)
{
	(void)state;
	check_opcode(DRM_TESSERA_OP_MAX, 2, false, check_binary);
}

static void neg_is_right_at_the_extremes_of_every_type(void **state)
{
	(void)state;
	check_opcode(DRM_TESSERA_OP_NEG, 1, true, check_unary);
}

static void abs_is_right_at_the_extremes_of_every_type(void **state)
{
	(void)state;
	check_opcode(DRM_TESSERA_OP_ABS, 1, true, check_unary);
}

static void select_takes_b_for_any_a_but_zero(void **state)
{
	(void)state;
	for (size_t t = 0; t < COUNT(dtypes); t++) {
		struct trial trial = arithmetic(DRM_TESSERA_OP_SELECT, dtypes[t], 0, 3);

		trial.types[0] = DRM_TESSERA_DTYPE_U8;
		check_ternary(&trial);
	}
}

static void compare_answers_every_predicate_on_every_type(void **state)
{
	(void)state;
	for (size_t t = 0; t < COUNT(dtypes); t++) {
		for (uint8_t predicate = DRM_TESSERA_PREDICATE_EQ;
		     predicate <= DRM_TESSERA_PREDICATE_GE; predicate++) {
			struct trial trial = arithmetic(DRM_TESSERA_OP_COMPARE, dtypes[t], 0, 2);

			trial.instruction.predicate = predicate;
			trial.result = DRM_TESSERA_DTYPE_U8;
			check_binary(&trial);
		}
	}
}

/* From one type to another, in each way there is; check makes the values. */
static void check_cast(uint32_t from, uint32_t to, check_trial *check)
{
	for (uint8_t flags = 0; flags < 4; flags++) {
		struct trial trial = arithmetic(DRM_TESSERA_OP_CAST, to, flags, 1);

		trial.types[0] = from;
		if (flags && !is_integer(to))
			continue;
		if ((flags & DRM_TESSERA_INSTRUCTION_TRUNCATE) && is_integer(from))
			continue;
		check(&trial);
	}
}

static void cast_is_right_at_the_extremes_of_every_pair_of_types(void **state)
{
	(void)state;
	for (size_t from = 0; from < COUNT(dtypes); from++)
		for (size_t to = 0; to < COUNT(dtypes); to++)
			check_cast(dtypes[from], dtypes[to], check_unary);
}

static void check_all_16_bits(const struct trial *trial)
{
	struct table table = new_table(1 << 16);

	for (size_t i = 0; i < table.count; i++)
		put(&table, 0, i, trial->types[0], i);
	check_table(trial, &table);
	free_table(&table);
}

static void every_f16_casts_to_every_type(void **state)
{
	(void)state;
	for (size_t to = 0; to < COUNT(dtypes); to++)
		check_cast(DRM_TESSERA_DTYPE_F16, dtypes[to], check_all_16_bits);
}

static void every_bf16_casts_to_every_type(void **state)
{
	(void)state;
	for (size_t to = 0; to < COUNT(dtypes); to++)
		check_cast(DRM_TESSERA_DTYPE_BF16, dtypes[to], check_all_16_bits);
}

static double double_of(uint32_t dtype, uint16_t bits)
{
	const struct drm_tessera_instruction cast = {
		.opcode = DRM_TESSERA_OP_CAST, .dtype = DRM_TESSERA_DTYPE_F64,
	};
	uint64_t wide = reference_instruction(&cast, dtype, bits, 0, 0);
	double value;

	memcpy(&value, &wide, sizeof(value));
	return value;
}

/* The doubles halfway between neighbours of a 16-bit type, and the next on either side. */
static void check_ties(uint32_t to, uint32_t infinity)
{
	struct trial trial = arithmetic(DRM_TESSERA_OP_CAST, to, 0, 1);
	struct table table = new_table((size_t)infinity * 3);

	trial.types[0] = DRM_TESSERA_DTYPE_F64;
	for (uint32_t bits = 0; bits < infinity; bits++) {
		double low = double_of(to, (uint16_t)bits), tie;
		double high = bits + 1 < infinity ? double_of(to, (uint16_t)(bits + 1)) :
						    2 * low - double_of(to, (uint16_t)(bits - 1));
		uint64_t digits;

		tie = low + (high - low) / 2;
		memcpy(&digits, &tie, sizeof(digits));
		for (uint32_t side = 0; side < 3; side++)
			put(&table, 0, 3 * (size_t)bits + side, DRM_TESSERA_DTYPE_F64,
			    digits + side - 1);
	}
	check_table(&trial, &table);
	free_table(&table);
}

static void ties_between_all_neighbours_of_f16_go_to_the_even_one(void **state)
{
	(void)state;
	check_ties(DRM_TESSERA_DTYPE_F16, 0x7c00);
}

static void ties_between_all_neighbours_of_bf16_go_to_the_even_one(void **state)
{
	(void)state;
	check_ties(DRM_TESSERA_DTYPE_BF16, 0x7f80);
}

static void all_pairs_of_u8_saturate_and_wrap(void **state)
{
	static const uint8_t opcodes[] = {
		DRM_TESSERA_OP_ADD, DRM_TESSERA_OP_SUB, DRM_TESSERA_OP_MUL,
	};
	struct table table = new_table(1 << 16);

	(void)state;
	for (size_t i = 0; i < table.count; i++) {
		put(&table, 0, i, DRM_TESSERA_DTYPE_U8, i & 0xff);
		put(&table, 1, i, DRM_TESSERA_DTYPE_U8, i >> 8);
	}
	for (size_t n = 0; n < COUNT(opcodes); n++) {
		for (uint8_t flags = 0; flags < 2; flags++) {
			struct trial is_unsigned = arithmetic(opcodes[n], DRM_TESSERA_DTYPE_U8,
							      flags, 2);
			struct trial is_signed = arithmetic(opcodes[n], DRM_TESSERA_DTYPE_I8,
							    flags, 2);

			check_table(&is_unsigned, &table);
			check_table(&is_signed, &table);
		}
	}
	free_table(&table);
}

/* Numbers worked out by hand, so that engine and reference do not agree on a mistake. */
static uint64_t compute(const struct trial *trial, uint64_t a, uint64_t b, uint64_t c)
{
	struct table table = new_table(1);
	uint64_t result;

	put(&table, 0, 0, trial->types[0], a);
	put(&table, 1, 0, trial->types[1], b);
	put(&table, 2, 0, trial->types[2], c);
	check_table(trial, &table);
	result = get(table.results, 0, trial->result);
	free_table(&table);
	return result;
}

static void fma_of_bf16_is_rounded_once(void **state)
{
	struct trial trial = arithmetic(DRM_TESSERA_OP_FMA, DRM_TESSERA_DTYPE_BF16, 0, 3);

	(void)state;
	/* (1 + 2^-7) * 1.5 lies halfway; 2^-100, too small for the sum in double, decides */
	assert_int_equal(compute(&trial, 0x3f81, 0x3fc0, 0), 0x3fc2);
	assert_int_equal(compute(&trial, 0x3f81, 0x3fc0, 0x0d80 | 0x8000), 0x3fc1);
	assert_int_equal(compute(&trial, 0x3f81, 0x3fc0, 0x0d80), 0x3fc2);
	/* (1 + 2^-6) * (1 + 2^-1 + 2^-2) has the even one below */
	assert_int_equal(compute(&trial, 0x3f83, 0x3fc0, 0), 0x3fc4);
	assert_int_equal(compute(&trial, 0x3f83, 0x3fc0, 0x0d80), 0x3fc5);
}

static void fma_of_f32_is_rounded_once(void **state)
{
	struct trial trial = arithmetic(DRM_TESSERA_OP_FMA, DRM_TESSERA_DTYPE_F32, 0, 3);

	(void)state;
	/* (1 + 2^-23) * 1.5 lies halfway between 1.5 + 2^-23 and 1.5 + 2^-22 */
	assert_int_equal(compute(&trial, 0x3f800001, 0x3fc00000, 0), 0x3fc00002);
	assert_int_equal(compute(&trial, 0x3f800001, 0x3fc00000, 0x80000001), 0x3fc00001);
}

static void integers_are_rounded_once_on_their_way_to_floats(void **state)
{
	struct trial to_bf16 = arithmetic(DRM_TESSERA_OP_CAST, DRM_TESSERA_DTYPE_BF16, 0, 1);
	struct trial to_f32 = arithmetic(DRM_TESSERA_OP_CAST, DRM_TESSERA_DTYPE_F32, 0, 1);

	(void)state;
	/* 2^62 + 2^54 lies halfway between two bf16; the 1 is lost in a double */
	to_bf16.types[0] = DRM_TESSERA_DTYPE_I64;
	assert_int_equal(compute(&to_bf16, (1ull << 62) + (1ull << 54), 0, 0), 0x5e80);
	assert_int_equal(compute(&to_bf16, (1ull << 62) + (1ull << 54) + 1, 0, 0), 0x5e81);
	assert_int_equal(compute(&to_bf16, -((1ull << 62) + (1ull << 54) + 1), 0, 0), 0xde81);
	to_f32.types[0] = DRM_TESSERA_DTYPE_U64;
	assert_int_equal(compute(&to_f32, (1ull << 63) + (1ull << 39), 0, 0), 0x5f000000);
	assert_int_equal(compute(&to_f32, (1ull << 63) + (1ull << 39) + 1, 0, 0), 0x5f000001);
}

static void integers_too_large_for_f16_become_infinities(void **state)
{
	struct trial trial = arithmetic(DRM_TESSERA_OP_CAST, DRM_TESSERA_DTYPE_F16, 0, 1);

	(void)state;
	trial.types[0] = DRM_TESSERA_DTYPE_I64;
	assert_int_equal(compute(&trial, 65519, 0, 0), 0x7bff);
	assert_int_equal(compute(&trial, 65520, 0, 0), 0x7c00);
	assert_int_equal(compute(&trial, (uint64_t)-65520, 0, 0), 0xfc00);
}

static void f64_is_rounded_once_on_its_way_to_f16(void **state)
{
	struct trial trial = arithmetic(DRM_TESSERA_OP_CAST, DRM_TESSERA_DTYPE_F16, 0, 1);

	(void)state;
	trial.types[0] = DRM_TESSERA_DTYPE_F64;
	/* 1 + 2^-11 + 2^-40: a float on the way would make it a tie, and 1 */
	assert_int_equal(compute(&trial, 0x3ff0020000001000, 0, 0), 0x3c01);
}

static void floats_become_integers_as_asked(void **state)
{
	struct trial trial = arithmetic(DRM_TESSERA_OP_CAST, DRM_TESSERA_DTYPE_U8, 0, 1);

	(void)state;
	trial.types[0] = DRM_TESSERA_DTYPE_F32;
	assert_int_equal(compute(&trial, 0x40200000, 0, 0), 2);		/* 2.5 */
	assert_int_equal(compute(&trial, 0x40600000, 0, 0), 4);		/* 3.5 */
	assert_int_equal(compute(&trial, 0x43960000, 0, 0), 300 - 256);	/* 300 */
	assert_int_equal(compute(&trial, 0xbf800000, 0, 0), 255);		/* -1 */
	assert_int_equal(compute(&trial, 0x7f800000, 0, 0), 0);		/* infinity */
	assert_int_equal(compute(&trial, 0x7fc00000, 0, 0), 0);		/* NaN */
	trial.instruction.flags = DRM_TESSERA_INSTRUCTION_SATURATE;
	assert_int_equal(compute(&trial, 0x43960000, 0, 0), 255);
	assert_int_equal(compute(&trial, 0xbf800000, 0, 0), 0);
	assert_int_equal(compute(&trial, 0x7f800000, 0, 0), 255);
	assert_int_equal(compute(&trial, 0x7fc00000, 0, 0), 0);
	trial.instruction.flags = DRM_TESSERA_INSTRUCTION_TRUNCATE;
	assert_int_equal(compute(&trial, 0x407fffff, 0, 0), 3);		/* almost 4 */
}

static void nan_results_are_the_one_nan(void **state)
{
	struct trial add = arithmetic(DRM_TESSERA_OP_ADD, DRM_TESSERA_DTYPE_F32, 0, 2);
	struct trial min = arithmetic(DRM_TESSERA_OP_MIN, DRM_TESSERA_DTYPE_F16, 0, 2);
	struct trial neg = arithmetic(DRM_TESSERA_OP_NEG, DRM_TESSERA_DTYPE_F32, 0, 1);

	(void)state;
	assert_int_equal(compute(&add, 0xffc12345, 0x3f800000, 0), 0x7fc00000);
	assert_int_equal(compute(&add, 0x7f800000, 0xff800000, 0), 0x7fc00000);
	assert_int_equal(compute(&min, 0x0000, 0xfe01, 0), 0x7e00);
	assert_int_equal(compute(&neg, 0x7fc12345, 0, 0), 0xffc12345);
}

static void min_puts_negative_zero_first(void **state)
{
	struct trial min = arithmetic(DRM_TESSERA_OP_MIN, DRM_TESSERA_DTYPE_F32, 0, 2);
	struct trial max = arithmetic(DRM_TESSERA_OP_MAX, DRM_TESSERA_DTYPE_F32, 0, 2);

	(void)state;
	assert_int_equal(compute(&min, 0, 0x80000000, 0), 0x80000000);
	assert_int_equal(compute(&min, 0x80000000, 0, 0), 0x80000000);
	assert_int_equal(compute(&max, 0, 0x80000000, 0), 0);
	assert_int_equal(compute(&max, 0x80000000, 0, 0), 0);
}

static void program_without_sources_stores_a_constant(void **state)
{
	uint16_t line[300];
	struct engine_job *job = new_job(0, DRM_TESSERA_DTYPE_U16);

	(void)state;
	SET_BUFFER(job, 0, line);
	add_loop(job, 300, 2, 0);
	add_instruction(job, DRM_TESSERA_OP_CONST, DRM_TESSERA_DTYPE_U16)->immediate = 0xbeef;
	run_job(job);
	for (int i = 0; i < 300; i++)
		assert_int_equal(line[i], 0xbeef);
}

static void result_may_go_to_a_register_that_is_read(void **state)
{
	/* cast to a wider type and back, in the same register, over more than a strip */
	uint8_t line[1000], doubled[1000];
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

	(void)state;
	for (int i = 0; i < 1000; i++)
		line[i] = (uint8_t)i;
	SET_BUFFER(job, 0, doubled);
	SET_BUFFER(job, 1, line);
	add_loop(job, 1000, 1, 1);
	add_instruction(job, DRM_TESSERA_OP_CAST, DRM_TESSERA_DTYPE_F64);
	add_instruction(job, DRM_TESSERA_OP_ADD, DRM_TESSERA_DTYPE_F64);
	add_instruction(job, DRM_TESSERA_OP_CAST, DRM_TESSERA_DTYPE_U8)->flags =
		DRM_TESSERA_INSTRUCTION_SATURATE;
	run_job(job);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(doubled[i], line[i] < 128 ? 2 * line[i] : 255);
}

static void source_outside_of_its_windows_enters_as_fill(void **state)
{
	static const int32_t line[] = { 10, 20, 30 };
	int32_t sums[5];
	struct engine_job *job = new_job(2, DRM_TESSERA_DTYPE_I32);

	(void)state;
	SET_BUFFER(job, 0, sums);
	SET_BUFFER(job, 1, line);
	SET_BUFFER(job, 2, line);
	add_loop(job, 5, 4, 4);
	job->operands[1].spec.fill[0] = 1;
	job->operands[2].spec.fill[0] = 2;
	job->operands[2].spec.address.offset = -8;
	add_window(job, 1, 0, 3)->value.strides[0] = 1;
	add_window(job, 2, -2, 3)->value.strides[0] = 1;
	add_instruction(job, DRM_TESSERA_OP_ADD, DRM_TESSERA_DTYPE_I32)->src[1] = 1;
	run_job(job);
	assert_memory_equal(sums, ((const int32_t[]){ 12, 22, 40, 21, 31 }), sizeof(sums));
}

static void nchw_floats_become_quantized_nhwc(void **state)
{
	enum { C = 40, HW = 70 };
	static float from[C][HW];
	static uint8_t to[HW][C];
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_F32);
	struct drm_tessera_instruction *instruction;

	(void)state;
	for (int c = 0; c < C; c++)
		for (int i = 0; i < HW; i++)
			from[c][i] = (float)(c * HW + i) / 8 - 40;
	SET_BUFFER(job, 0, to);
	SET_BUFFER(job, 1, from);
	job->operands[0].spec.dtype = DRM_TESSERA_DTYPE_U8;
	add_loop(job, C, 1, sizeof(from[0]));
	add_loop(job, HW, sizeof(to[0]), sizeof(float));
	/* x * 0.5 + 128, rounded and saturated */
	instruction = add_instruction(job, DRM_TESSERA_OP_CONST, DRM_TESSERA_DTYPE_F32);
	instruction->dst = 1;
	instruction->immediate = 0x3f000000;
	instruction = add_instruction(job, DRM_TESSERA_OP_CONST, DRM_TESSERA_DTYPE_F32);
	instruction->dst = 2;
	instruction->immediate = 0x43000000;
	instruction = add_instruction(job, DRM_TESSERA_OP_FMA, DRM_TESSERA_DTYPE_F32);
	instruction->src[1] = 1;
	instruction->src[2] = 2;
	add_instruction(job, DRM_TESSERA_OP_CAST, DRM_TESSERA_DTYPE_U8)->flags =
		DRM_TESSERA_INSTRUCTION_SATURATE;
	run_job(job);
	for (int c = 0; c < C; c++) {
		for (int i = 0; i < HW; i++) {
			/* in sixteenths, exactly */
			int value = c * HW + i - 320 + 128 * 16;
			int rounded = value / 16 + (value % 16 > 8 || (value % 16 == 8 &&
								       value / 16 % 2));

			assert_int_equal(to[i][c], rounded > 255 ? 255 : rounded);
		}
	}
}

/*
 * Chains: instructions that engines like to take together, one by one as the reference does them.
 * A job of 200 points and a rest: more than any vector, and not a multiple of one; or of whole
 * strips.
 */
#define CHAIN_POINTS		211
#define CHAIN_STRIP_POINTS	256

struct chain {
	uint32_t from, to;
	uint8_t opcodes[2];		/* of f32, between two casts; the second may be 0 */
	bool is_swapped;		/* the chain's value is the second source of each */
	uint32_t points;
	const uint64_t *uniform;	/* what the other sources have at all points, if not NULL */
};

static void add_chain(struct engine_job *job, const struct chain *chain)
{
	struct drm_tessera_instruction *instruction;

	if (chain->from != DRM_TESSERA_DTYPE_F32)
		add_instruction(job, DRM_TESSERA_OP_CAST, DRM_TESSERA_DTYPE_F32);
	for (uint8_t n = 0; n < 2 && chain->opcodes[n]; n++) {
		instruction = add_instruction(job, chain->opcodes[n], DRM_TESSERA_DTYPE_F32);
		instruction->src[chain->is_swapped ? 0 : 1] = n + 1;
		if (chain->opcodes[n] == DRM_TESSERA_OP_FMA)
			instruction->src[2] = 2;
	}
	if (chain->to == DRM_TESSERA_DTYPE_F32)
		return;
	instruction = add_instruction(job, DRM_TESSERA_OP_CAST, chain->to);
	instruction->flags = is_integer(chain->to) ? DRM_TESSERA_INSTRUCTION_SATURATE : 0;
}

/* Values of which products and sums are near each other, ties, and all the extremes. */
static void fill_chain_sources(uint8_t *const *sources, const struct chain *chain)
{
	const struct values values = extremes(chain->from);
	const struct values others = extremes(DRM_TESSERA_DTYPE_F32);
	const uint32_t size = engine_dtype_size(chain->from);

	for (size_t i = 0; i < chain->points; i++) {
		float b = (float)(i % 17) / 8 - 1, c = (float)(i % 29) * 4.5f - 60;
		uint64_t other = others.bits[i / 3 % others.count];

		memcpy(sources[0] + i * size, &values.bits[i % values.count], size);
		memcpy(sources[1] + i * 4, i % 3 == 1 ? (void *)&other : (void *)&b, 4);
		memcpy(sources[2] + i * 4, i % 3 == 2 ? (void *)&other : (void *)&c, 4);
	}
	for (uint32_t n = 0; n < 2 && chain->uniform; n++)
		memcpy(sources[n + 1], &chain->uniform[n], 4);
}

static void check_chain(const struct chain *chain)
{
	const uint32_t sizes[3] = { engine_dtype_size(chain->from), 4, 4 };
	const uint32_t size = engine_dtype_size(chain->to);
	const size_t step = chain->uniform ? 0 : 1;	/* of the other sources */
	uint8_t *sources[3], *results = calloc(chain->points, 8);
	struct engine_job *job = new_job(3, DRM_TESSERA_DTYPE_F32), copy;

	job->operands[0].spec.dtype = chain->to;
	job->operands[1].spec.dtype = chain->from;
	set_buffer(job, 0, results, chain->points * size);
	add_loop(job, chain->points, size, 0);
	for (uint32_t k = 0; k < 3; k++) {
		sources[k] = calloc(chain->points, sizes[k]);
		set_buffer(job, k + 1, sources[k], chain->points * sizes[k]);
		job->operands[k + 1].spec.address.strides[0] = sizes[k] * (k ? step : 1);
	}
	fill_chain_sources(sources, chain);
	add_chain(job, chain);
	copy = *job;
	run_job(job);
	for (size_t i = 0; i < chain->points; i++) {
		const uint64_t v[DRM_TESSERA_MAX_SOURCES] = {
			get(sources[0], i, chain->from),
			get(sources[1], i * step, DRM_TESSERA_DTYPE_F32),
			get(sources[2], i * step, DRM_TESSERA_DTYPE_F32),
		};

		if (get(results, i, chain->to) != reference_program(&copy, v))
			fail_msg("%s to %s by opcodes %u and %u, point %zu: 0x%" PRIx64
				 ", expected 0x%" PRIx64, engine_dtype_name(chain->from),
				 engine_dtype_name(chain->to), chain->opcodes[0], chain->opcodes[1],
				 i, get(results, i, chain->to), reference_program(&copy, v));
	}
	for (uint32_t k = 0; k < 3; k++)
		free(sources[k]);
	free(results);
}

static void check_chains(uint8_t first, uint8_t second, bool is_swapped)
{
	for (size_t from = 0; from < COUNT(dtypes); from++)
		for (size_t to = 0; to < COUNT(dtypes); to++)
			check_chain(&(struct chain){ dtypes[from], dtypes[to], { first, second },
						     is_swapped, CHAIN_POINTS, NULL });
}

/* With every extreme for one of the other sources, and another for the other. */
static void check_uniform_chains(uint8_t first, uint8_t second)
{
	static const uint32_t types[] = {
		DRM_TESSERA_DTYPE_U8, DRM_TESSERA_DTYPE_I8, DRM_TESSERA_DTYPE_F16,
		DRM_TESSERA_DTYPE_BF16, DRM_TESSERA_DTYPE_F32,
	};
	const struct values values = extremes(DRM_TESSERA_DTYPE_F32);

	for (size_t n = 0; n < COUNT(types) * values.count; n++) {
		const size_t i = n / COUNT(types), to = n % COUNT(types);
		const uint64_t uniform[2] = {
			values.bits[i], values.bits[(7 * i + to) % values.count]
		};

		check_chain(&(struct chain){
			types[(i + to) % COUNT(types)], types[to], { first, second }, false,
			i % 2 ? CHAIN_POINTS : CHAIN_STRIP_POINTS, uniform
		});
	}
}

static void product_and_sum_between_casts_are_rounded_twice(void **state)
{
	(void)state;
	check_chains(DRM_TESSERA_OP_MUL, DRM_TESSERA_OP_ADD, false);
	check_chains(DRM_TESSERA_OP_MUL, DRM_TESSERA_OP_ADD, true);
}

static void difference_and_product_between_casts_are_rounded_twice(void **state)
{
	(void)state;
	check_chains(DRM_TESSERA_OP_SUB, DRM_TESSERA_OP_MUL, false);
	check_chains(DRM_TESSERA_OP_SUB, DRM_TESSERA_OP_MUL, true);
}

static void fma_between_casts_is_rounded_once(void **state)
{
	(void)state;
	check_chains(DRM_TESSERA_OP_FMA, 0, false);
	check_chains(DRM_TESSERA_OP_FMA, 0, true);
}

static void chains_of_uniform_sources_are_right_at_all_their_extremes(void **state)
{
	(void)state;
	check_uniform_chains(DRM_TESSERA_OP_MUL, DRM_TESSERA_OP_ADD);
	check_uniform_chains(DRM_TESSERA_OP_SUB, DRM_TESSERA_OP_MUL);
	check_uniform_chains(DRM_TESSERA_OP_FMA, 0);
}

/* Runs a program on one f32, with 3.0 and 0.5 in registers 1 and 2. */
static float run_on_f32(struct engine_job *job, float value)
{
	float three = 3, half = 0.5f, result;

	set_buffer(job, 0, &result, sizeof(result));
	set_buffer(job, 1, &value, sizeof(value));
	set_buffer(job, 2, &three, sizeof(three));
	set_buffer(job, 3, &half, sizeof(half));
	run_job(job);
	return result;
}

static void value_in_the_middle_of_a_chain_may_be_read_again(void **state)
{
	struct engine_job *job = new_job(3, DRM_TESSERA_DTYPE_F32);
	struct drm_tessera_instruction *instruction;

	(void)state;
	/* r4 = r0 * r1, r0 = r4 + r2, r0 = r0 + r4 */
	instruction = add_instruction(job, DRM_TESSERA_OP_MUL, DRM_TESSERA_DTYPE_F32);
	instruction->dst = 4;
	instruction->src[1] = 1;
	instruction = add_instruction(job, DRM_TESSERA_OP_ADD, DRM_TESSERA_DTYPE_F32);
	instruction->src[0] = 4;
	instruction->src[1] = 2;
	instruction = add_instruction(job, DRM_TESSERA_OP_ADD, DRM_TESSERA_DTYPE_F32);
	instruction->src[1] = 4;
	assert_true(run_on_f32(job, 5) == 30.5f);
}

static void cast_of_a_chain_may_be_added_to_itself(void **state)
{
	struct engine_job *job = new_job(3, DRM_TESSERA_DTYPE_F32);
	struct drm_tessera_instruction *instruction;

	(void)state;
	/* r4 = f32 of r0, r0 = r4 * r1 + r4 */
	instruction = add_instruction(job, DRM_TESSERA_OP_CAST, DRM_TESSERA_DTYPE_F32);
	instruction->dst = 4;
	instruction = add_instruction(job, DRM_TESSERA_OP_FMA, DRM_TESSERA_DTYPE_F32);
	instruction->src[0] = 4;
	instruction->src[1] = 1;
	instruction->src[2] = 4;
	assert_true(run_on_f32(job, 5) == 20);
}

static void register_may_hold_a_constant_after_a_result(void **state)
{
	struct engine_job *job = new_job(3, DRM_TESSERA_DTYPE_F32);
	struct drm_tessera_instruction *instruction;

	(void)state;
	/* r4 = r0 + r1, r4 = 7 over it, r0 = r1 + r4 */
	instruction = add_instruction(job, DRM_TESSERA_OP_ADD, DRM_TESSERA_DTYPE_F32);
	instruction->dst = 4;
	instruction->src[1] = 1;
	instruction = add_instruction(job, DRM_TESSERA_OP_CONST, DRM_TESSERA_DTYPE_F32);
	instruction->dst = 4;
	instruction->immediate = 0x40e00000;
	instruction = add_instruction(job, DRM_TESSERA_OP_ADD, DRM_TESSERA_DTYPE_F32);
	instruction->src[0] = 1;
	instruction->src[1] = 4;
	assert_true(run_on_f32(job, 5) == 10);
}

static void indices_lead_sources_and_destinations_of_programs(void **state)
{
	static const uint16_t table[] = { 100, 200, 300 };
	static const uint8_t rows[] = { 2, 0, 1, 1 }, places[] = { 3, 2, 1, 0 };
	uint16_t sums[4] = { 0 };
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U16);

	(void)state;
	SET_BUFFER(job, 0, sums);
	SET_BUFFER(job, 1, table);
	add_loop(job, 4, 0, 0);
	add_indices(job, 0, places, 4, DRM_TESSERA_DTYPE_U8, 0, 2);
	add_indices(job, 1, rows, 4, DRM_TESSERA_DTYPE_U8, 0, 2);
	add_instruction(job, DRM_TESSERA_OP_ADD, DRM_TESSERA_DTYPE_U16);
	run_job(job);
	assert_memory_equal(sums, ((const uint16_t[]){ 400, 400, 200, 600 }), sizeof(sums));
}

static void bad_index_of_a_program_faults(void **state)
{
	static const uint16_t table[] = { 100, 200, 300 };
	static const uint8_t rows[] = { 2, 0, 3, 1 };
	uint16_t sums[4];
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U16);
	struct engine_fault fault;

	(void)state;
	SET_BUFFER(job, 0, sums);
	SET_BUFFER(job, 1, table);
	add_loop(job, 4, 2, 0);
	add_indices(job, 1, rows, 4, DRM_TESSERA_DTYPE_U8, 0, 2);
	add_instruction(job, DRM_TESSERA_OP_ADD, DRM_TESSERA_DTYPE_U16);
	assert_int_equal(try_job(job, NULL, &fault), -ERANGE);
	assert_int_equal(fault.cause, DRM_TESSERA_CAUSE_BOUNDS);
	assert_int_equal(fault.operand, 1);
	assert_int_equal(fault.offset, 7);
	free(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(add_is_right_at_the_extremes_of_every_type),
		cmocka_unit_test(sub_is_right_at_the_extremes_of_every_type),
		cmocka_unit_test(mul_is_right_at_the_extremes_of_every_type),
		cmocka_unit_test(fma_is_right_at_the_extremes_of_every_type),
		cmocka_unit_test(min_is_right_at_the_extremes_of_every_type),
		cmocka_unit_test(max_is_right_at_the_extremes_of_every_type),
		cmocka_unit_test(neg_is_right_at_the_extremes_of_every_type),
		cmocka_unit_test(abs_is_right_at_the_extremes_of_every_type),
		cmocka_unit_test(select_takes_b_for_any_a_but_zero),
		cmocka_unit_test(compare_answers_every_predicate_on_every_type),
		cmocka_unit_test(cast_is_right_at_the_extremes_of_every_pair_of_types),
		cmocka_unit_test(every_f16_casts_to_every_type),
		cmocka_unit_test(every_bf16_casts_to_every_type),
		cmocka_unit_test(ties_between_all_neighbours_of_f16_go_to_the_even_one),
		cmocka_unit_test(ties_between_all_neighbours_of_bf16_go_to_the_even_one),
		cmocka_unit_test(all_pairs_of_u8_saturate_and_wrap),
		cmocka_unit_test(fma_of_bf16_is_rounded_once),
		cmocka_unit_test(fma_of_f32_is_rounded_once),
		cmocka_unit_test(integers_are_rounded_once_on_their_way_to_floats),
		cmocka_unit_test(integers_too_large_for_f16_become_infinities),
		cmocka_unit_test(f64_is_rounded_once_on_its_way_to_f16),
		cmocka_unit_test(floats_become_integers_as_asked),
		cmocka_unit_test(nan_results_are_the_one_nan),
		cmocka_unit_test(min_puts_negative_zero_first),
		cmocka_unit_test(program_without_sources_stores_a_constant),
		cmocka_unit_test(result_may_go_to_a_register_that_is_read),
		cmocka_unit_test(source_outside_of_its_windows_enters_as_fill),
		cmocka_unit_test(nchw_floats_become_quantized_nhwc),
		cmocka_unit_test(product_and_sum_between_casts_are_rounded_twice),
		cmocka_unit_test(difference_and_product_between_casts_are_rounded_twice),
		cmocka_unit_test(fma_between_casts_is_rounded_once),
		cmocka_unit_test(chains_of_uniform_sources_are_right_at_all_their_extremes),
		cmocka_unit_test(value_in_the_middle_of_a_chain_may_be_read_again),
		cmocka_unit_test(cast_of_a_chain_may_be_added_to_itself),
		cmocka_unit_test(register_may_hold_a_constant_after_a_result),
		cmocka_unit_test(indices_lead_sources_and_destinations_of_programs),
		cmocka_unit_test(bad_index_of_a_program_faults),
	};

	const struct engine_isa *isa;
	int failed = 0;

	for (uint32_t k = 0; (isa = engine_isa_at(k)); k++) {
		if (!isa->is_available())
			continue;
		setenv(ENGINE_ISA_VARIABLE, isa->name, 1);
		failed += cmocka_run_group_tests_name(isa->name, tests, NULL, NULL);
	}
	return failed;
}
