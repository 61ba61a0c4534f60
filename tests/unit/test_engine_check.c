// SPDX-License-Identifier: MIT
/*
 * What the engine refuses: each test breaks one thing in a job that is good, and reads the message.
 */
#include "engine_test.h"

static uint8_t memory[2][64];

/*
 * A good job with something of everything: two loops, two windows, an indirect source, a program.
 * static memory, so that nothing has to be freed but the job.
 */
static struct engine_job *good_job(void)
{
	static const uint8_t indices[4];
	struct engine_job *job = new_job(2, DRM_TESSERA_DTYPE_U8);

	SET_BUFFER(job, 0, memory[0]);
	SET_BUFFER(job, 1, memory[1]);
	SET_BUFFER(job, 2, memory[1]);
	add_loop(job, 4, 8, 8);
	add_loop(job, 8, 1, 1);
	add_window(job, 1, 0, 4)->value.strides[0] = 1;
	add_window(job, 2, 0, 8)->value.strides[1] = 1;
	job->operands[2].spec.address.strides[0] = 0;
	add_indices(job, 2, indices, sizeof(indices), DRM_TESSERA_DTYPE_U8, 0, 8);
	add_instruction(job, DRM_TESSERA_OP_ADD, DRM_TESSERA_DTYPE_U8)->src[1] = 1;
	add_instruction(job, DRM_TESSERA_OP_CONST, DRM_TESSERA_DTYPE_F32)->dst = 7;
	add_instruction(job, DRM_TESSERA_OP_CAST, DRM_TESSERA_DTYPE_U8)->dst = 6;
	return job;
}

static struct engine_job *good_move(void)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

	SET_BUFFER(job, 0, memory[0]);
	SET_BUFFER(job, 1, memory[1]);
	add_loop(job, 4, 8, 8);
	add_loop(job, 8, 1, 1);
	return job;
}

static void check_refused(struct engine_job *job, int error, uint32_t operand, const char *text)
{
	struct engine_fault fault = { .operand = UINT32_MAX };
	struct engine_plan *plan;
	int returned = engine_plan_create(job, &plan, &fault);

	if (!returned)
		engine_plan_destroy(plan);
	assert_int_equal(returned, -error);
	assert_string_equal(fault.text, text);
	assert_int_equal(fault.operand, operand);
	switch (error) {
	case EACCES:
		assert_int_equal(fault.cause, DRM_TESSERA_CAUSE_PERMISSION);
		break;
	case ERANGE:
		assert_true(fault.cause == DRM_TESSERA_CAUSE_BOUNDS ||
			    fault.cause == DRM_TESSERA_CAUSE_INDEX_BOUNDS);
		break;
	default:
		assert_int_equal(fault.cause, DRM_TESSERA_CAUSE_DESCRIPTOR);
	}
	/* a caller may not care why */
	assert_int_equal(engine_plan_create(job, &plan, NULL), -error);
	free(job);
}

/* A test: a good job, what is done to it, and what the engine says then. */
#define REFUSES(name, make, breaking, error, operand, text)	\
static void name(void **state)					\
{								\
	struct engine_job *job = make();			\
								\
	(void)state;						\
	breaking;						\
	check_refused(job, error, operand, text);		\
}

#define SPEC(k)	job->operands[k].spec

static void good_jobs_are_accepted(void **state)
{
	struct engine_fault fault = { .text = "" };
	struct engine_plan *plan;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct engine_job *job = i ? good_job() : good_move();

		if (engine_plan_create(job, &plan, &fault))
			fail_msg("%s", fault.text);
		engine_plan_destroy(plan);
		free(job);
	}
}

REFUSES(rank_over_the_most, good_job, job->rank = 9, EINVAL, 0, "rank is 9, the most is 8")
REFUSES(windows_over_the_most, good_job, job->num_windows = 33, EINVAL, 0,
	"33 windows, the most is 32")
REFUSES(instructions_over_the_most, good_job, job->num_instructions = 17, EINVAL, 0,
	"17 instructions, the most is 16")
REFUSES(operands_over_the_most, good_job, job->num_operands = 6, EINVAL, 0,
	"6 operands, expected a destination and at most 4 sources")
REFUSES(job_without_operands, good_job, job->num_operands = 0, EINVAL, 0,
	"0 operands, expected a destination and at most 4 sources")
REFUSES(move_of_two_sources, good_job, job->num_instructions = 0, EINVAL, 0,
	"2 sources without a program, expected one")
REFUSES(move_of_no_source, good_move, job->num_operands = 1, EINVAL, 0,
	"0 sources without a program, expected one")
REFUSES(extent_beyond_the_rank, good_job, job->extents[5] = 3, EINVAL, 0,
	"extents[5] is 3, beyond the rank of 2 expected 0")
REFUSES(window_limit_of_2_to_the_63, good_job, job->windows[1].limit = 1ull << 63, EINVAL, 0,
	"window 1: limit is 9223372036854775808, the most is 9223372036854775807")
REFUSES(window_stride_beyond_the_rank, good_job, job->windows[1].value.strides[2] = -1, EINVAL, 0,
	"window 1: value.strides[2] is -1, beyond the rank of 2 expected 0")
REFUSES(unknown_operand_flag, good_job, SPEC(1).flags = 6, EINVAL, 1,
	"source 0: flags is 0x6, known is 0x1")
REFUSES(unknown_dtype, good_job, SPEC(0).dtype = 0x34, EINVAL, 0,
	"destination: dtype is 0x34, which is no element type")
REFUSES(dtype_of_more_than_a_byte, good_job, SPEC(0).dtype = 0x110, EINVAL, 0,
	"destination: dtype is 0x110, which is no element type")
REFUSES(raw_dtype_with_a_program, good_job, SPEC(2).dtype = DRM_TESSERA_DTYPE_RAW8, EINVAL, 2,
	"source 1: dtype is raw8, which a program cannot compute with")
REFUSES(window_that_is_not_there, good_job, SPEC(1).window_mask = 4, EINVAL, 1,
	"source 0: window_mask is 0x4, but there are 2 windows")
REFUSES(address_stride_beyond_the_rank, good_job, SPEC(1).address.strides[7] = 1, EINVAL, 1,
	"source 0: address.strides[7] is 1, beyond the rank of 2 expected 0")
REFUSES(fill_beyond_the_element, good_job, SPEC(1).fill[0] = 0x1200, EINVAL, 1,
	"source 0: byte 1 of fill is 0x12, beyond u8 expected 0")
REFUSES(fill_beyond_the_first_8_bytes, good_job, SPEC(1).fill[1] = 1ull << 56, EINVAL, 1,
	"source 0: byte 15 of fill is 0x01, beyond u8 expected 0")
REFUSES(fill_of_the_destination, good_job, SPEC(0).fill[0] = 1, EINVAL, 0,
	"destination: fill is not 0")
REFUSES(index_dtype_without_indirect, good_job, SPEC(1).index_dtype = DRM_TESSERA_DTYPE_U8, EINVAL,
	1, "source 0: index_dtype is not 0, but the operand is not indirect")
REFUSES(index_address_without_indirect, good_job, SPEC(1).index_address.strides[1] = 1, EINVAL, 1,
	"source 0: index_address is not 0, but the operand is not indirect")
REFUSES(index_stride_without_indirect, good_job, SPEC(1).index_stride = 1, EINVAL, 1,
	"source 0: index_stride is not 0, but the operand is not indirect")
REFUSES(index_limit_without_indirect, good_job, SPEC(1).index_limit = 1, EINVAL, 1,
	"source 0: index_limit is not 0, but the operand is not indirect")
REFUSES(index_of_a_float_type, good_job, SPEC(2).index_dtype = DRM_TESSERA_DTYPE_F32, EINVAL, 2,
	"source 1: index_dtype is 0x32, expected an integer type")
REFUSES(index_of_no_type, good_job, SPEC(2).index_dtype = 0, EINVAL, 2,
	"source 1: index_dtype is 0x0, expected an integer type")
REFUSES(index_stride_beyond_the_rank, good_job, SPEC(2).index_address.strides[2] = 1, EINVAL, 2,
	"source 1: index_address.strides[2] is 1, beyond the rank of 2 expected 0")
REFUSES(move_between_sizes, good_move, SPEC(1).dtype = DRM_TESSERA_DTYPE_F16, EINVAL, 1,
	"source 0: dtype is f16, a move to u8 needs elements of one size")

REFUSES(opcode_0, good_job, job->program[1].opcode = 0, EINVAL, 0,
	"instruction 1: opcode is 0, expected 1 to 12")
REFUSES(opcode_past_the_last, good_job, job->program[1].opcode = 13, EINVAL, 0,
	"instruction 1: opcode is 13, expected 1 to 12")
REFUSES(raw_instruction, good_job, job->program[0].dtype = DRM_TESSERA_DTYPE_RAW8, EINVAL, 0,
	"instruction 0 (ADD): dtype is 0x50, which nothing is computed in")
REFUSES(register_past_the_last_written, good_job, job->program[1].dst = 8, EINVAL, 0,
	"instruction 1 (CONST): dst is 8, the last is 7")
REFUSES(register_past_the_last_read, good_job, job->program[0].src[1] = 8, EINVAL, 0,
	"instruction 0 (ADD): src[1] is 8, the last register is 7")
REFUSES(unused_source, good_job, job->program[0].src[2] = 1, EINVAL, 0,
	"instruction 0 (ADD): src[2] is 1, unused, expected 0")
REFUSES(register_not_written_yet, good_job, job->program[0].src[1] = 7, EINVAL, 0,
	"instruction 0 (ADD): register 7 is read before it is written")
REFUSES(register_of_another_type, good_job,
	add_instruction(job, DRM_TESSERA_OP_ADD, DRM_TESSERA_DTYPE_U8)->src[0] = 7, EINVAL, 0,
	"instruction 3 (ADD): register 7 holds f32, expected u8")
REFUSES(select_by_another_type_than_u8, good_job,
	add_instruction(job, DRM_TESSERA_OP_SELECT, DRM_TESSERA_DTYPE_U8)->src[0] = 7, EINVAL, 0,
	"instruction 3 (SELECT): register 7 holds f32, expected u8")
REFUSES(unknown_instruction_flag, good_job, job->program[0].flags = 4, EINVAL, 0,
	"instruction 0 (ADD): flags is 0x4, allowed here is 0x1")
REFUSES(saturating_float, good_job,
	add_instruction(job, DRM_TESSERA_OP_NEG, DRM_TESSERA_DTYPE_F32)->flags = 1;
	job->program[3].src[0] = 7, EINVAL, 0,
	"instruction 3 (NEG): flags is 0x1, allowed here is 0x0")
REFUSES(saturating_minimum, good_job,
	add_instruction(job, DRM_TESSERA_OP_MIN, DRM_TESSERA_DTYPE_U8)->flags = 1, EINVAL, 0,
	"instruction 3 (MIN): flags is 0x1, allowed here is 0x0")
REFUSES(truncating_integer, good_job, job->program[2].flags = 2, EINVAL, 0,
	"instruction 2 (CAST): flags is 0x2, allowed here is 0x1")
REFUSES(truncating_cast_to_float, good_job,
	add_instruction(job, DRM_TESSERA_OP_CAST, DRM_TESSERA_DTYPE_F16)->flags = 2;
	job->program[3].src[0] = 7; job->program[3].dst = 7, EINVAL, 0,
	"instruction 3 (CAST): flags is 0x2, allowed here is 0x0")
REFUSES(predicate_without_compare, good_job, job->program[0].predicate = 1, EINVAL, 0,
	"instruction 0 (ADD): predicate is 1, expected 0")
REFUSES(compare_without_predicate, good_job,
	add_instruction(job, DRM_TESSERA_OP_COMPARE, DRM_TESSERA_DTYPE_U8)->dst = 0, EINVAL, 0,
	"instruction 3 (COMPARE): predicate is 0, expected 1 to 6")
REFUSES(predicate_past_the_last, good_job,
	add_instruction(job, DRM_TESSERA_OP_COMPARE, DRM_TESSERA_DTYPE_U8)->predicate = 7, EINVAL,
	0, "instruction 3 (COMPARE): predicate is 7, expected 1 to 6")
REFUSES(immediate_without_const, good_job, job->program[0].immediate = 1, EINVAL, 0,
	"instruction 0 (ADD): immediate is 0x1, all but its lowest 0 bits expected to be 0")
REFUSES(immediate_wider_than_its_type, good_job, job->program[1].immediate = 1ull << 32, EINVAL, 0,
	"instruction 1 (CONST): immediate is 0x100000000, all but its lowest 32 bits expected "
	"to be 0")
REFUSES(result_of_another_type, good_job, job->program[1].dst = 0, EINVAL, 0,
	"the program leaves f32 in register 0, the destination is u8")
REFUSES(no_result, good_job, job->num_operands = 1; job->num_instructions = 1;
	job->program[0] = job->program[1], EINVAL, 0,
	"the program leaves nothing in register 0, the destination is u8")

REFUSES(points_over_2_to_the_63, good_move, job->extents[0] = job->extents[1] = 1ull << 32,
	EOVERFLOW, 0, "the product of extents does not fit 63 bits")
REFUSES(window_over_64_bits, good_job, job->windows[0].value.strides[0] = INT64_MAX / 2, EOVERFLOW,
	0, "window 0: value does not fit 64 bits")
REFUSES(address_over_64_bits, good_job, SPEC(1).address.strides[1] = INT64_MAX / 6, EOVERFLOW, 1,
	"source 0: address does not fit 64 bits")
REFUSES(least_offset, good_job, SPEC(0).address.offset = INT64_MIN, EOVERFLOW, 0,
	"destination: address does not fit 64 bits")
REFUSES(index_address_over_64_bits, good_job, SPEC(2).index_address.strides[0] = INT64_MAX / 2,
	EOVERFLOW, 2, "source 1: index_address does not fit 64 bits")
REFUSES(read_only_destination, good_job, job->operands[0].buffer.is_writable = false, EACCES, 0,
	"destination: the buffer is read-only")
REFUSES(byte_past_the_end, good_move, SPEC(1).address.offset = 33, ERANGE, 1,
	"source 0: address reaches up to byte 64 of a buffer of 64 bytes")
REFUSES(byte_before_the_start, good_move, SPEC(0).address.offset = -1, ERANGE, 0,
	"destination: address reaches down to byte -1, expected at least 0 of a buffer of 64 bytes")
REFUSES(index_past_the_end, good_job, SPEC(2).index_address.offset = 1, ERANGE, 2,
	"source 1: index_address reaches up to byte 4 of a buffer of 4 bytes")
REFUSES(index_before_the_start, good_job, SPEC(2).index_address.offset = -2, ERANGE, 2,
	"source 1: index_address reaches down to byte -2, expected at least 0 of a buffer of 4 "
	"bytes")

static void fault_of_the_index_says_so(void **state)
{
	struct engine_job *job = good_job();
	struct engine_fault fault;
	struct engine_plan *plan;

	(void)state;
	SPEC(2).index_address.offset = 1;
	assert_int_equal(engine_plan_create(job, &plan, &fault), -ERANGE);
	assert_int_equal(fault.cause, DRM_TESSERA_CAUSE_INDEX_BOUNDS);
	assert_int_equal(fault.offset, 4);
	free(job);
}

static void form_is_checked_even_where_there_are_no_points(void **state)
{
	struct engine_job *job = good_job();

	(void)state;
	job->extents[0] = 0;
	job->program[0].opcode = 0;
	check_refused(job, EINVAL, 0, "instruction 0: opcode is 0, expected 1 to 12");
}

static void sums_and_bounds_are_not_checked_where_there_are_no_points(void **state)
{
	struct engine_job *job = good_move();
	struct engine_plan *plan;
	struct engine_fault fault;

	(void)state;
	job->extents[0] = 0;
	job->extents[1] = UINT64_MAX;
	SPEC(0).address.offset = INT64_MIN;
	SPEC(1).address.strides[1] = INT64_MAX;
	assert_int_equal(engine_plan_create(job, &plan, &fault), 0);
	engine_plan_destroy(plan);
	free(job);
}

static void types_have_names_and_sizes(void **state)
{
	(void)state;
	assert_string_equal(engine_dtype_name(DRM_TESSERA_DTYPE_BF16), "bf16");
	assert_string_equal(engine_dtype_name(DRM_TESSERA_DTYPE_RAW128), "raw128");
	assert_null(engine_dtype_name(0));
	assert_null(engine_dtype_name(UINT32_MAX));
	assert_int_equal(engine_dtype_size(DRM_TESSERA_DTYPE_RAW128), 16);
	assert_int_equal(engine_dtype_size(DRM_TESSERA_DTYPE_I8), 1);
	assert_int_equal(engine_dtype_size(DRM_TESSERA_DTYPE_CLASS_FLOAT), 0);
	assert_int_equal(engine_dtype_size(0x155), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_jobs_are_accepted),
		cmocka_unit_test(rank_over_the_most),
		cmocka_unit_test(windows_over_the_most),
		cmocka_unit_test(instructions_over_the_most),
		cmocka_unit_test(operands_over_the_most),
		cmocka_unit_test(job_without_operands),
		cmocka_unit_test(move_of_two_sources),
		cmocka_unit_test(move_of_no_source),
		cmocka_unit_test(extent_beyond_the_rank),
		cmocka_unit_test(window_limit_of_2_to_the_63),
		cmocka_unit_test(window_stride_beyond_the_rank),
		cmocka_unit_test(unknown_operand_flag),
		cmocka_unit_test(unknown_dtype),
		cmocka_unit_test(dtype_of_more_than_a_byte),
		cmocka_unit_test(raw_dtype_with_a_program),
		cmocka_unit_test(window_that_is_not_there),
		cmocka_unit_test(address_stride_beyond_the_rank),
		cmocka_unit_test(fill_beyond_the_element),
		cmocka_unit_test(fill_beyond_the_first_8_bytes),
		cmocka_unit_test(fill_of_the_destination),
		cmocka_unit_test(index_dtype_without_indirect),
		cmocka_unit_test(index_address_without_indirect),
		cmocka_unit_test(index_stride_without_indirect),
		cmocka_unit_test(index_limit_without_indirect),
		cmocka_unit_test(index_of_a_float_type),
		cmocka_unit_test(index_of_no_type),
		cmocka_unit_test(index_stride_beyond_the_rank),
		cmocka_unit_test(move_between_sizes),
		cmocka_unit_test(opcode_0),
		cmocka_unit_test(opcode_past_the_last),
		cmocka_unit_test(raw_instruction),
		cmocka_unit_test(register_past_the_last_written),
		cmocka_unit_test(register_past_the_last_read),
		cmocka_unit_test(unused_source),
		cmocka_unit_test(register_not_written_yet),
		cmocka_unit_test(register_of_another_type),
		cmocka_unit_test(select_by_another_type_than_u8),
		cmocka_unit_test(unknown_instruction_flag),
		cmocka_unit_test(saturating_float),
		cmocka_unit_test(saturating_minimum),
		cmocka_unit_test(truncating_integer),
		cmocka_unit_test(truncating_cast_to_float),
		cmocka_unit_test(predicate_without_compare),
		cmocka_unit_test(compare_without_predicate),
		cmocka_unit_test(predicate_past_the_last),
		cmocka_unit_test(immediate_without_const),
		cmocka_unit_test(immediate_wider_than_its_type),
		cmocka_unit_test(result_of_another_type),
		cmocka_unit_test(no_result),
		cmocka_unit_test(points_over_2_to_the_63),
		cmocka_unit_test(window_over_64_bits),
		cmocka_unit_test(address_over_64_bits),
		cmocka_unit_test(least_offset),
		cmocka_unit_test(index_address_over_64_bits),
		cmocka_unit_test(read_only_destination),
		cmocka_unit_test(byte_past_the_end),
		cmocka_unit_test(byte_before_the_start),
		cmocka_unit_test(index_past_the_end),
		cmocka_unit_test(index_before_the_start),
		cmocka_unit_test(fault_of_the_index_says_so),
		cmocka_unit_test(form_is_checked_even_where_there_are_no_points),
		cmocka_unit_test(sums_and_bounds_are_not_checked_where_there_are_no_points),
		cmocka_unit_test(types_have_names_and_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
