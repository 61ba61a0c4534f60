// SPDX-License-Identifier: MIT
/*
 * The reference itself, against numbers worked out by hand: all other tests trust it.
 */
#include "engine_test.h"

static uint64_t compute(uint8_t opcode, uint32_t dtype, uint8_t flags, uint64_t a, uint64_t b,
			uint64_t c)
{
	const struct drm_tessera_instruction instruction = {
		.opcode = opcode, .dtype = (uint8_t)dtype, .flags = flags,
	};

	return reference_instruction(&instruction, dtype, a, b, c);
}

static uint64_t cast(uint32_t from, uint32_t to, uint8_t flags, uint64_t a)
{
	const struct drm_tessera_instruction instruction = {
		.opcode = DRM_TESSERA_OP_CAST, .dtype = (uint8_t)to, .flags = flags,
	};

	return reference_instruction(&instruction, from, a, 0, 0);
}

enum {
	U8 = DRM_TESSERA_DTYPE_U8, I8 = DRM_TESSERA_DTYPE_I8, U64 = DRM_TESSERA_DTYPE_U64,
	I64 = DRM_TESSERA_DTYPE_I64, F16 = DRM_TESSERA_DTYPE_F16, BF16 = DRM_TESSERA_DTYPE_BF16,
	F32 = DRM_TESSERA_DTYPE_F32, F64 = DRM_TESSERA_DTYPE_F64,
	SATURATE = DRM_TESSERA_INSTRUCTION_SATURATE, TRUNCATE = DRM_TESSERA_INSTRUCTION_TRUNCATE,
};

static void the_element_of_the_demo_is_where_it_should_be(void **state)
{
	enum { C = 64, H = 56, W = 56, ELEMENTS = C * H * W };
	float *nchw = malloc(ELEMENTS * sizeof(float)), *nhwc = calloc(ELEMENTS, sizeof(float));
	struct engine_job *job = new_job(1, F32);

	(void)state;
	for (int i = 0; i < ELEMENTS; i++)
		nchw[i] = (float)i;
	set_buffer(job, 0, nhwc, ELEMENTS * sizeof(float));
	set_buffer(job, 1, nchw, ELEMENTS * sizeof(float));
	/* strides of (1, 64, 56, 56): (200704, 3136, 56, 1) and (200704, 1, 3584, 64) elements */
	add_loop(job, 1, 4 * 200704, 4 * 200704);
	add_loop(job, C, 4, 4 * 3136);
	add_loop(job, H, 4 * 3584, 4 * 56);
	add_loop(job, W, 4 * 64, 4);
	assert_int_equal(reference_run(job, NULL), 0);
	/* (0, 32, 28, 28): 32 * 3136 + 28 * 56 + 28 and 32 + 28 * 3584 + 28 * 64 */
	assert_true(nhwc[102176] == 101948);
	free(job);
	free(nchw);
	free(nhwc);
}

static void im2col_of_nine_letters(void **state)
{
	char columns[] = "................";
	struct engine_job *job = new_job(1, U8);

	(void)state;
	set_buffer(job, 0, columns, 16);
	set_buffer(job, 1, "abcdefghi", 9);
	add_loop(job, 2, 8, 3);
	add_loop(job, 2, 4, 1);
	add_loop(job, 2, 2, 3);
	add_loop(job, 2, 1, 1);
	assert_int_equal(reference_run(job, NULL), 0);
	assert_string_equal(columns, "abdebcefdeghefhi");
	free(job);
}

static void windows_fill_and_leave_out(void **state)
{
	char to[] = ".....";
	struct engine_job *job = new_job(1, U8);

	(void)state;
	set_buffer(job, 0, to, 5);
	set_buffer(job, 1, "abcde", 5);
	add_loop(job, 5, 1, 1);
	job->operands[1].spec.fill[0] = '-';
	add_window(job, 0, 0, 4)->value.strides[0] = 1;
	add_window(job, 1, -2, 3)->value.strides[0] = 1;
	assert_int_equal(reference_run(job, NULL), 0);
	assert_string_equal(to, "--cd.");
	free(job);
}

static void indices_are_followed_and_checked(void **state)
{
	static const int8_t indices[] = { 2, 0, -1 };
	char to[] = "...";
	struct engine_job *job = new_job(1, U8);
	struct reference_fault fault;

	(void)state;
	set_buffer(job, 0, to, 3);
	set_buffer(job, 1, "abc", 3);
	add_loop(job, 3, 1, 0);
	add_indices(job, 1, indices, 3, I8, 0, 1);
	assert_int_equal(reference_run(job, &fault), -ERANGE);
	assert_int_equal(fault.cause, DRM_TESSERA_CAUSE_BOUNDS);
	assert_int_equal(fault.operand, 1);
	assert_int_equal(fault.offset, -1);
	assert_string_equal(to, "ca.");
	job->operands[1].spec.index_limit = 2;
	assert_int_equal(reference_run(job, &fault), -ERANGE);
	assert_int_equal(fault.cause, DRM_TESSERA_CAUSE_INDEX_LIMIT);
	assert_int_equal(fault.offset, 2);
	free(job);
}

static void integers_wrap_and_saturate(void **state)
{
	(void)state;
	assert_int_equal(compute(DRM_TESSERA_OP_ADD, U8, 0, 200, 100, 0), 44);
	assert_int_equal(compute(DRM_TESSERA_OP_ADD, U8, SATURATE, 200, 100, 0), 255);
	assert_int_equal(compute(DRM_TESSERA_OP_SUB, U8, SATURATE, 1, 2, 0), 0);
	assert_int_equal(compute(DRM_TESSERA_OP_MUL, I8, 0, 100, 2, 0), 200);
	assert_int_equal(compute(DRM_TESSERA_OP_MUL, I8, SATURATE, 0x9c, 2, 0), 0x80);
	assert_int_equal(compute(DRM_TESSERA_OP_NEG, I8, 0, 0x80, 0, 0), 0x80);
	assert_int_equal(compute(DRM_TESSERA_OP_NEG, I8, SATURATE, 0x80, 0, 0), 0x7f);
	assert_int_equal(compute(DRM_TESSERA_OP_ABS, I8, SATURATE, 0x80, 0, 0), 0x7f);
	assert_int_equal(compute(DRM_TESSERA_OP_NEG, U8, SATURATE, 5, 0, 0), 0);
	/* (2^64 - 1)^2 + (2^64 - 1) = 2^64 (2^64 - 1) */
	assert_true(compute(DRM_TESSERA_OP_FMA, U64, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX) == 0);
	assert_true(compute(DRM_TESSERA_OP_FMA, U64, SATURATE, UINT64_MAX, UINT64_MAX,
			    UINT64_MAX) == UINT64_MAX);
	/* 2^63 - 1: the product alone does not fit */
	assert_true(compute(DRM_TESSERA_OP_FMA, I64, SATURATE, 1ull << 62, 2, UINT64_MAX) ==
		    INT64_MAX);
}

static void floats_are_rounded_to_nearest_even(void **state)
{
	(void)state;
	/* 1 + 2^-24 and 1 + 3 * 2^-24 */
	assert_int_equal(compute(DRM_TESSERA_OP_ADD, F32, 0, 0x3f800000, 0x33800000, 0),
			 0x3f800000);
	assert_int_equal(compute(DRM_TESSERA_OP_ADD, F32, 0, 0x3f800001, 0x33800000, 0),
			 0x3f800002);
	/* 2048 + 1 in f16 */
	assert_int_equal(compute(DRM_TESSERA_OP_ADD, F16, 0, 0x6800, 0x3c00, 0), 0x6800);
	/* 65504 + 16 is halfway to 2^16, and infinity */
	assert_int_equal(compute(DRM_TESSERA_OP_ADD, F16, 0, 0x7bff, 0x4c00, 0), 0x7c00);
	/* half of the least f16 goes to zero, with its sign; three quarters do not */
	assert_int_equal(cast(F32, F16, 0, 0xb3000000), 0x8000);
	assert_int_equal(cast(F32, F16, 0, 0xb3400000), 0x8001);
	/* 0.1 + 0.2 */
	assert_true(compute(DRM_TESSERA_OP_ADD, F64, 0, 0x3fb999999999999a, 0x3fc999999999999a,
			    0) == 0x3fd3333333333334);
	/* pi in bf16 */
	assert_int_equal(cast(F32, BF16, 0, 0x40490fdb), 0x4049);
}

static void fma_is_rounded_once(void **state)
{
	(void)state;
	/* (1 + 2^-12)^2 - (1 + 2^-11) = 2^-24 */
	assert_int_equal(compute(DRM_TESSERA_OP_FMA, F32, 0, 0x3f800800, 0x3f800800, 0xbf801000),
			 0x33800000);
}

static void zeros_infinities_and_nans_follow_the_rules(void **state)
{
	(void)state;
	assert_int_equal(compute(DRM_TESSERA_OP_ADD, F32, 0, 0x80000000, 0x80000000, 0),
			 0x80000000);
	assert_int_equal(compute(DRM_TESSERA_OP_ADD, F32, 0, 0x3f800000, 0xbf800000, 0), 0);
	assert_int_equal(compute(DRM_TESSERA_OP_MUL, F32, 0, 0x80000000, 0x3f800000, 0),
			 0x80000000);
	assert_int_equal(compute(DRM_TESSERA_OP_MUL, F32, 0, 0x7f800000, 0, 0), 0x7fc00000);
	assert_int_equal(compute(DRM_TESSERA_OP_SUB, F32, 0, 0x7f800000, 0x7f800000, 0),
			 0x7fc00000);
	assert_int_equal(compute(DRM_TESSERA_OP_ADD, F32, 0, 0xff800001, 0, 0), 0x7fc00000);
	assert_int_equal(compute(DRM_TESSERA_OP_MIN, F32, 0, 0x80000000, 0, 0), 0x80000000);
	assert_int_equal(compute(DRM_TESSERA_OP_MAX, F32, 0, 0x80000000, 0, 0), 0);
	assert_int_equal(compute(DRM_TESSERA_OP_MAX, F32, 0, 0xff800000, 0x7fc00001, 0),
			 0x7fc00000);
}

static void casts_round_wrap_and_saturate(void **state)
{
	(void)state;
	assert_int_equal(cast(F32, U8, 0, 0x40200000), 2);		/* 2.5 */
	assert_int_equal(cast(F32, U8, 0, 0x40600000), 4);		/* 3.5 */
	assert_int_equal(cast(F32, U8, TRUNCATE, 0x40600000), 3);
	assert_int_equal(cast(F32, I8, 0, 0xc0200000), 0xfe);		/* -2.5 */
	assert_int_equal(cast(F32, U8, 0, 0x43960000), 44);		/* 300 */
	assert_int_equal(cast(F32, U8, SATURATE, 0x43960000), 255);
	assert_int_equal(cast(F32, U8, SATURATE, 0xc3960000), 0);
	assert_int_equal(cast(F32, U8, SATURATE, 0x7fc00000), 0);
	assert_int_equal(cast(F32, I8, SATURATE, 0xff800000), 0x80);
	assert_int_equal(cast(F32, I8, 0, 0xff800000), 0);
	assert_int_equal(cast(I8, U8, SATURATE, 0xff), 0);
	assert_int_equal(cast(I8, U8, 0, 0xff), 255);
	/* 2^64 * 3 has nothing in its lowest 64 bits, 2^63 * 3 has one */
	assert_true(cast(F64, U64, 0, 0x4408000000000000) == 0);
	assert_true(cast(F64, U64, 0, 0x43f8000000000000) == 1ull << 63);
	assert_true(cast(F64, I64, SATURATE, 0x43e0000000000000) == INT64_MAX);
	assert_int_equal(cast(I64, F16, 0, 65519), 0x7bff);
	assert_int_equal(cast(I64, F16, 0, 65520), 0x7c00);
}

static void comparisons_and_selections(void **state)
{
	const struct drm_tessera_instruction not_equal = {
		.opcode = DRM_TESSERA_OP_COMPARE, .dtype = F32,
		.predicate = DRM_TESSERA_PREDICATE_NE,
	};
	const struct drm_tessera_instruction less = {
		.opcode = DRM_TESSERA_OP_COMPARE, .dtype = F32,
		.predicate = DRM_TESSERA_PREDICATE_LT,
	};

	(void)state;
	assert_int_equal(reference_instruction(&not_equal, F32, 0x7fc00000, 0x7fc00000, 0), 1);
	assert_int_equal(reference_instruction(&not_equal, F32, 0, 0x80000000, 0), 0);
	assert_int_equal(reference_instruction(&less, F32, 0xff800000, 0xff7fffff, 0), 1);
	assert_int_equal(reference_instruction(&less, F32, 0x7fc00000, 0, 0), 0);
	assert_int_equal(compute(DRM_TESSERA_OP_SELECT, F32, 0, 2, 11, 22), 11);
	assert_int_equal(compute(DRM_TESSERA_OP_SELECT, F32, 0, 0, 11, 22), 22);
}

static void bounds_of_padding(void **state)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U16);
	struct reference_bounds exact, rule;

	(void)state;
	/* i - 2 from 0 to 4, at 10 + 2 (i - 2): bytes 10 to 19 */
	add_loop(job, 20, 2, 2);
	job->operands[1].spec.address.offset = 6;
	add_window(job, 1, -2, 5)->value.strides[0] = 1;
	exact = reference_bounds_exact(job, 1, false);
	rule = reference_bounds_by_rule(job, 1, false);
	assert_true(exact.lowest == 10 && exact.highest == 19);
	assert_true(rule.lowest == 10 && rule.highest == 19);
	free(job);
}

static void overlaps_by_enumeration(void **state)
{
	uint8_t bytes[16];
	struct engine_job *job = new_job(1, U8);

	(void)state;
	SET_BUFFER(job, 0, bytes);
	SET_BUFFER(job, 1, bytes);
	add_loop(job, 8, 1, 1);
	assert_int_equal(reference_overlaps(job, 1), 0);
	assert_int_equal(reference_stores_collide(job), 0);
	job->operands[1].spec.address.offset = 7;
	assert_int_equal(reference_overlaps(job, 1), 1);
	job->operands[1].spec.address.offset = 8;
	assert_int_equal(reference_overlaps(job, 1), 0);
	job->operands[0].spec.dtype = DRM_TESSERA_DTYPE_U16;
	assert_int_equal(reference_stores_collide(job), 1);
	free(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_element_of_the_demo_is_where_it_should_be),
		cmocka_unit_test(im2col_of_nine_letters),
		cmocka_unit_test(windows_fill_and_leave_out),
		cmocka_unit_test(indices_are_followed_and_checked),
		cmocka_unit_test(integers_wrap_and_saturate),
		cmocka_unit_test(floats_are_rounded_to_nearest_even),
		cmocka_unit_test(fma_is_rounded_once),
		cmocka_unit_test(zeros_infinities_and_nans_follow_the_rules),
		cmocka_unit_test(casts_round_wrap_and_saturate),
		cmocka_unit_test(comparisons_and_selections),
		cmocka_unit_test(bounds_of_padding),
		cmocka_unit_test(overlaps_by_enumeration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
