// SPDX-License-Identifier: MIT
/*
 * What makes a job valid: each rule of uapi/drm/tessera_accel.h by a job that breaks this rule
 * alone. Every such test first submits the job that it starts from, unbroken, which has to be
 * taken; so the error is due to the one thing that was changed. The envelope of a job is in
 * submit.c.
 */
#include "tessera_test.h"

#define SIZE	TEST_PAGE_SIZE

FIXTURE(job) {
	int fd;
	struct test_buffer destination;
	struct test_buffer source;
	struct test_buffer index;
	struct test_job job;
};

FIXTURE_SETUP(job)
{
	self->fd = test_open(_metadata);
	self->destination = test_buffer_create(_metadata, self->fd, SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	self->index = test_buffer_create(_metadata, self->fd, SIZE);
}

FIXTURE_TEARDOWN(job)
{
	close(self->fd);
}

typedef FIXTURE_DATA(job) fixture;

/*
 * The jobs to start from
 */

/* 4 x 8 elements of u32, transposed */
static void copy(const fixture *self, struct test_job *test)
{
	test_job_init(test, 2, 2);
	test->job.extents[0] = 4;
	test->job.extents[1] = 8;
	test->operands[0].handle = self->destination.handle;
	test->operands[0].dtype = DRM_TESSERA_DTYPE_U32;
	test->operands[0].address.strides[0] = 32;
	test->operands[0].address.strides[1] = 4;
	test->operands[1].handle = self->source.handle;
	test->operands[1].dtype = DRM_TESSERA_DTYPE_U32;
	test->operands[1].address.strides[0] = 4;
	test->operands[1].address.strides[1] = 16;
}

/* The same with a border of one element on each side, cut from the source by two windows */
static void padded(const fixture *self, struct test_job *test)
{
	copy(self, test);
	test->job.extents[0] = 6;
	test->job.extents[1] = 10;
	test->operands[0].address.strides[0] = 40;
	test->operands[1].address.offset = -4 - 16;
	test->operands[1].window_mask = 3;
	test->operands[1].fill[0] = 0xffffffff;
	test->job.windows.count = 2;
	test->windows[0].value.offset = -1;
	test->windows[0].value.strides[0] = 1;
	test->windows[0].limit = 4;
	test->windows[1].value.offset = -1;
	test->windows[1].value.strides[1] = 1;
	test->windows[1].limit = 8;
}

/* 4 rows of 8 elements, chosen by 4 indices */
static void gather(const fixture *self, struct test_job *test)
{
	copy(self, test);
	test->operands[1].flags = DRM_TESSERA_OPERAND_INDIRECT;
	test->operands[1].address.strides[0] = 0;
	test->operands[1].address.strides[1] = 4;
	test->operands[1].index_handle = self->index.handle;
	test->operands[1].index_dtype = DRM_TESSERA_DTYPE_U32;
	test->operands[1].index_address.strides[0] = 4;
	test->operands[1].index_stride = 32;
	test->operands[1].index_limit = 16;
}

/* Adds one: r1 = 1; r0 = r0 + r1 */
static void program(const fixture *self, struct test_job *test)
{
	copy(self, test);
	test->job.program.count = 2;
	test->program[0].opcode = DRM_TESSERA_OP_CONST;
	test->program[0].dtype = DRM_TESSERA_DTYPE_U32;
	test->program[0].dst = 1;
	test->program[0].immediate = 1;
	test->program[1].opcode = DRM_TESSERA_OP_ADD;
	test->program[1].dtype = DRM_TESSERA_DTYPE_U32;
	test->program[1].src[1] = 1;
}

/* The same on floats: r1 = 1.0; r0 = r0 + r1 */
static void program_f32(const fixture *self, struct test_job *test)
{
	program(self, test);
	test->operands[0].dtype = DRM_TESSERA_DTYPE_F32;
	test->operands[1].dtype = DRM_TESSERA_DTYPE_F32;
	test->program[0].dtype = DRM_TESSERA_DTYPE_F32;
	test->program[0].immediate = 0x3f800000;
	test->program[1].dtype = DRM_TESSERA_DTYPE_F32;
}

/* f32 to i32: r0 = (i32)r0 */
static void cast(const fixture *self, struct test_job *test)
{
	copy(self, test);
	test->operands[0].dtype = DRM_TESSERA_DTYPE_I32;
	test->operands[1].dtype = DRM_TESSERA_DTYPE_F32;
	test->job.program.count = 1;
	test->program[0].opcode = DRM_TESSERA_OP_CAST;
	test->program[0].dtype = DRM_TESSERA_DTYPE_I32;
	test->program[0].flags = DRM_TESSERA_INSTRUCTION_SATURATE;
}

/* The greater of itself and one: r1 = 1; r2 = r0 > r1; r0 = r2 ? r0 : r1 */
static void choose(const fixture *self, struct test_job *test)
{
	program(self, test);
	test->job.program.count = 3;
	test->program[1].opcode = DRM_TESSERA_OP_COMPARE;
	test->program[1].predicate = DRM_TESSERA_PREDICATE_GT;
	test->program[1].dst = 2;
	test->program[2].opcode = DRM_TESSERA_OP_SELECT;
	test->program[2].dtype = DRM_TESSERA_DTYPE_U32;
	test->program[2].src[0] = 2;
	test->program[2].src[1] = 0;
	test->program[2].src[2] = 1;
}

/*
 * A test that submits the job as it is, changes one thing, and expects the error then. The body
 * does the change: it finds the job in test and the buffers in self.
 */
#define REFUSES(base, name, error)						\
	static void change_##name(const fixture *self, struct test_job *test);	\
	TEST_F(job, name)							\
	{									\
		base(self, &self->job);						\
		ASSERT_EQ(0, test_submit_job(self->fd, &self->job));		\
		change_##name(self, &self->job);				\
		EXPECT_EQ(-(error), test_submit_job(self->fd, &self->job));	\
	}									\
	static void change_##name(const fixture *self, struct test_job *test)

/* The same where the changed job has to be taken as well, and to end well */
#define TAKES(base, name)							\
	static void change_##name(const fixture *self, struct test_job *test);	\
	TEST_F(job, name)							\
	{									\
		base(self, &self->job);						\
		change_##name(self, &self->job);				\
		EXPECT_EQ(1, test_run_job(_metadata, self->fd, &self->job));	\
	}									\
	static void change_##name(const fixture *self, struct test_job *test)

/*
 * The box
 */

TAKES(copy, rank_0_is_one_point)
{
	test->job.rank = 0;
	memset(test->job.extents, 0, sizeof(test->job.extents));
	memset(test->operands[0].address.strides, 0, sizeof(test->operands[0].address.strides));
	memset(test->operands[1].address.strides, 0, sizeof(test->operands[1].address.strides));
}

TAKES(copy, rank_8_is_taken)
{
	__u32 d;

	test->job.rank = 8;
	for (d = 2; d < 8; d++)
		test->job.extents[d] = 1;
}

REFUSES(copy, rank_9_is_refused, EINVAL)
{
	__u32 d;

	test->job.rank = 9;
	for (d = 2; d < 8; d++)
		test->job.extents[d] = 1;
}

REFUSES(copy, largest_rank_is_refused, EINVAL)
{
	test->job.rank = ~0U;
}

REFUSES(copy, unknown_job_flag_is_refused, EINVAL)
{
	test->job.flags = 1;
}

REFUSES(copy, extent_beyond_the_rank_is_refused, EINVAL)
{
	test->job.extents[2] = 1;
}

TAKES(copy, extent_0_does_nothing)
{
	test->job.extents[1] = 0;
}

TAKES(copy, extent_0_forgives_an_address_outside)
{
	test->job.extents[1] = 0;
	test->operands[0].address.offset = SIZE;
	test->operands[1].address.offset = -1;
}

TAKES(copy, extent_0_forgives_a_huge_product)
{
	test->job.rank = 3;
	test->job.extents[0] = 0;
	test->job.extents[1] = 1ULL << 40;
	test->job.extents[2] = 1ULL << 40;
	memset(test->operands[0].address.strides, 0, sizeof(test->operands[0].address.strides));
	memset(test->operands[1].address.strides, 0, sizeof(test->operands[1].address.strides));
}

/* The extents reach 2^63 points, of which the window leaves none to store */
REFUSES(padded, product_of_the_extents_from_2_to_the_63_is_refused, EOVERFLOW)
{
	test->job.rank = 4;
	test->job.extents[0] = 1ULL << 21;
	test->job.extents[1] = 1ULL << 21;
	test->job.extents[2] = 1ULL << 21;
	test->job.extents[3] = 1;
	memset(test->operands[0].address.strides, 0, sizeof(test->operands[0].address.strides));
	memset(test->operands[1].address.strides, 0, sizeof(test->operands[1].address.strides));
	test->operands[1].address.offset = 0;
	test->windows[0].limit = 0;
	test->operands[0].window_mask = 1;
}

TAKES(padded, product_of_the_extents_under_2_to_the_63_is_taken)
{
	test->job.rank = 4;
	test->job.extents[0] = 1ULL << 21;
	test->job.extents[1] = 1ULL << 21;
	test->job.extents[2] = 1ULL << 20;
	test->job.extents[3] = 1;
	memset(test->operands[0].address.strides, 0, sizeof(test->operands[0].address.strides));
	memset(test->operands[1].address.strides, 0, sizeof(test->operands[1].address.strides));
	test->operands[1].address.offset = 0;
	test->windows[0].limit = 0;
	test->operands[0].window_mask = 1;
}

/*
 * Operands
 */

REFUSES(copy, job_without_operands_is_refused, EINVAL)
{
	test->job.operands.count = 0;
}

REFUSES(copy, move_without_a_source_is_refused, EINVAL)
{
	test->job.operands.count = 1;
}

REFUSES(copy, move_of_two_sources_is_refused, EINVAL)
{
	test->operands[2] = test->operands[1];
	test->job.operands.count = 3;
}

TAKES(program, four_sources_are_taken)
{
	test->operands[2] = test->operands[3] = test->operands[4] = test->operands[1];
	test->job.operands.count = 5;
}

REFUSES(program, five_sources_are_refused, EINVAL)
{
	test->operands[2] = test->operands[3] = test->operands[1];
	test->operands[4] = test->operands[5] = test->operands[1];
	test->job.operands.count = 6;
}

REFUSES(copy, largest_count_of_operands_is_refused, EINVAL)
{
	test->job.operands.count = ~0U;
}

TAKES(program, program_without_a_source_stores_a_constant)
{
	test->job.operands.count = 1;
	test->job.program.count = 1;
	test->program[0].dst = 0;
}

REFUSES(copy, operands_from_nowhere_fault, EFAULT)
{
	test->job.operands.pointer = TEST_BAD_POINTER;
}

REFUSES(copy, operands_in_kernel_memory_fault, EFAULT)
{
	test->job.operands.pointer = 0xffff888000000000ULL;
}

REFUSES(copy, operands_that_wrap_around_fault, EFAULT)
{
	test->job.operands.pointer = ~0ULL - sizeof(test->operands[0]);
}

REFUSES(copy, unknown_operand_flag_is_refused, EINVAL)
{
	test->operands[1].flags = 1 << 1;
}

REFUSES(copy, unknown_handle_of_the_destination_is_refused, ENOENT)
{
	test->operands[0].handle = TEST_NO_HANDLE;
}

REFUSES(copy, unknown_handle_of_a_source_is_refused, ENOENT)
{
	test->operands[1].handle = TEST_NO_HANDLE;
}

REFUSES(copy, handle_0_is_refused, ENOENT)
{
	test->operands[1].handle = 0;
}

REFUSES(copy, handle_that_was_closed_is_refused, ENOENT)
{
	test_handle_close(self->fd, test->operands[1].handle);
}

REFUSES(copy, element_type_0_is_refused, EINVAL)
{
	test->operands[0].dtype = test->operands[1].dtype = 0;
}

REFUSES(copy, unknown_class_of_element_is_refused, EINVAL)
{
	test->operands[0].dtype = test->operands[1].dtype = 0x60 | 2;
}

REFUSES(copy, float_of_8_bits_is_refused, EINVAL)
{
	test->operands[0].dtype = test->operands[1].dtype = DRM_TESSERA_DTYPE_CLASS_FLOAT | 0;
}

REFUSES(copy, integer_of_128_bits_is_refused, EINVAL)
{
	test->job.extents[0] = 1;
	test->job.extents[1] = 1;
	test->operands[0].dtype = test->operands[1].dtype = DRM_TESSERA_DTYPE_CLASS_UNSIGNED | 4;
}

REFUSES(copy, element_type_with_a_bit_too_high_is_refused, EINVAL)
{
	test->operands[0].dtype |= 0x100;
}

REFUSES(copy, move_between_sizes_is_refused, EINVAL)
{
	test->operands[1].dtype = DRM_TESSERA_DTYPE_U16;
}

TAKES(copy, move_between_types_of_one_size_is_taken)
{
	test->operands[0].dtype = DRM_TESSERA_DTYPE_F32;
	test->operands[1].dtype = DRM_TESSERA_DTYPE_RAW32;
}

REFUSES(copy, stride_beyond_the_rank_is_refused, EINVAL)
{
	test->operands[0].address.strides[2] = 4;
}

REFUSES(copy, stride_beyond_the_rank_of_a_source_is_refused, EINVAL)
{
	test->operands[1].address.strides[7] = 4;
}

REFUSES(copy, fill_of_the_destination_is_refused, EINVAL)
{
	test->operands[0].fill[0] = 1;
}

REFUSES(padded, fill_wider_than_the_element_is_refused, EINVAL)
{
	test->operands[1].fill[0] = 1ULL << 32;
}

REFUSES(padded, upper_fill_of_a_narrow_element_is_refused, EINVAL)
{
	test->operands[1].fill[1] = 1;
}

/*
 * Fields that only an indirect operand has
 */

REFUSES(copy, index_handle_of_a_direct_operand_is_refused, EINVAL)
{
	test->operands[1].index_handle = self->index.handle;
}

REFUSES(copy, index_type_of_a_direct_operand_is_refused, EINVAL)
{
	test->operands[1].index_dtype = DRM_TESSERA_DTYPE_U32;
}

REFUSES(copy, index_offset_of_a_direct_operand_is_refused, EINVAL)
{
	test->operands[1].index_address.offset = 4;
}

REFUSES(copy, index_address_stride_of_a_direct_operand_is_refused, EINVAL)
{
	test->operands[1].index_address.strides[0] = 4;
}

REFUSES(copy, index_stride_of_a_direct_operand_is_refused, EINVAL)
{
	test->operands[1].index_stride = 4;
}

REFUSES(copy, index_limit_of_a_direct_operand_is_refused, EINVAL)
{
	test->operands[1].index_limit = 4;
}

REFUSES(gather, unknown_index_handle_is_refused, ENOENT)
{
	test->operands[1].index_handle = TEST_NO_HANDLE;
}

REFUSES(gather, index_type_0_is_refused, EINVAL)
{
	test->operands[1].index_dtype = 0;
}

REFUSES(gather, index_of_floats_is_refused, EINVAL)
{
	test->operands[1].index_dtype = DRM_TESSERA_DTYPE_F32;
}

REFUSES(gather, index_of_raw_elements_is_refused, EINVAL)
{
	test->operands[1].index_dtype = DRM_TESSERA_DTYPE_RAW32;
}

REFUSES(gather, index_address_stride_beyond_the_rank_is_refused, EINVAL)
{
	test->operands[1].index_address.strides[2] = 4;
}

TAKES(gather, index_of_8_bits_is_taken)
{
	test->operands[1].index_dtype = DRM_TESSERA_DTYPE_I8;
}

TAKES(gather, index_of_64_bits_is_taken)
{
	test->operands[1].index_dtype = DRM_TESSERA_DTYPE_U64;
	test->operands[1].index_address.strides[0] = 8;
}

TAKES(gather, index_without_a_limit_is_taken)
{
	test->operands[1].index_limit = 0;
}

TAKES(gather, index_stride_may_be_negative)
{
	test->operands[1].index_stride = -32;
}

REFUSES(gather, index_past_the_end_of_its_buffer_is_refused, ERANGE)
{
	test->operands[1].index_address.offset = SIZE - 3 * 4 - 3;
}

TAKES(gather, index_at_the_end_of_its_buffer_is_taken)
{
	test->operands[1].index_address.offset = SIZE - 4 * 4;
}

REFUSES(gather, index_before_its_buffer_is_refused, ERANGE)
{
	test->operands[1].index_address.offset = -1;
}

/*
 * Addresses
 */

TAKES(copy, last_byte_of_the_destination_is_reached)
{
	test->operands[0].address.offset = SIZE - 4 * 8 * 4;
}

REFUSES(copy, one_byte_past_the_destination_is_refused, ERANGE)
{
	test->operands[0].address.offset = SIZE - 4 * 8 * 4 + 1;
}

REFUSES(copy, one_byte_past_a_source_is_refused, ERANGE)
{
	test->operands[1].address.offset = SIZE - 4 * 8 * 4 + 1;
}

REFUSES(copy, one_byte_before_the_destination_is_refused, ERANGE)
{
	test->operands[0].address.offset = -1;
}

REFUSES(copy, one_byte_before_a_source_is_refused, ERANGE)
{
	test->operands[1].address.offset = -1;
}

TAKES(copy, negative_stride_from_the_end_is_taken)
{
	test->operands[1].address.offset = SIZE - 4;
	test->operands[1].address.strides[0] = -4;
	test->operands[1].address.strides[1] = -16;
}

REFUSES(copy, negative_stride_below_the_buffer_is_refused, ERANGE)
{
	test->operands[1].address.offset = 3 * 4 + 7 * 16 - 1;
	test->operands[1].address.strides[0] = -4;
	test->operands[1].address.strides[1] = -16;
}

REFUSES(copy, far_beyond_the_buffer_is_refused, ERANGE)
{
	test->operands[0].address.offset = 1LL << 62;
}

TAKES(copy, odd_addresses_are_taken)
{
	test->operands[0].address.offset = 1;
	test->operands[1].address.offset = 3;
}

REFUSES(copy, address_that_overflows_by_a_product_is_refused, EOVERFLOW)
{
	test->operands[1].address.strides[0] = INT64_MAX / 2;
}

REFUSES(copy, address_that_overflows_by_a_sum_is_refused, EOVERFLOW)
{
	test->operands[1].address.offset = INT64_MAX;
}

REFUSES(copy, address_that_overflows_though_its_terms_cancel_is_refused, EOVERFLOW)
{
	test->operands[1].address.strides[0] = 1LL << 61;
	test->operands[1].address.offset = -(1LL << 62);
	test->operands[1].address.strides[1] = -(1LL << 59);
}

REFUSES(copy, most_negative_offset_overflows, EOVERFLOW)
{
	test->operands[1].address.offset = INT64_MIN;
}

REFUSES(copy, most_negative_stride_overflows, EOVERFLOW)
{
	test->operands[1].address.strides[1] = INT64_MIN;
}

REFUSES(gather, index_address_that_overflows_is_refused, EOVERFLOW)
{
	test->operands[1].index_address.strides[0] = INT64_MAX / 2;
}

REFUSES(padded, window_that_overflows_is_refused, EOVERFLOW)
{
	test->windows[0].value.strides[0] = INT64_MAX / 2;
}

/*
 * Windows
 */

REFUSES(padded, address_outside_without_its_window_is_refused, ERANGE)
{
	test->operands[1].window_mask = 1;
}

REFUSES(padded, address_outside_by_a_wider_window_is_refused, ERANGE)
{
	test->windows[0].value.offset = 0;
	test->windows[0].limit = 5;
}

REFUSES(padded, window_that_is_not_there_is_refused, EINVAL)
{
	test->operands[1].window_mask |= 1 << 2;
}

REFUSES(padded, last_window_that_is_not_there_is_refused, EINVAL)
{
	test->operands[1].window_mask |= 1U << 31;
}

REFUSES(padded, window_stride_beyond_the_rank_is_refused, EINVAL)
{
	test->windows[0].value.strides[2] = 1;
}

REFUSES(padded, window_limit_from_2_to_the_63_is_refused, EINVAL)
{
	test->windows[1].limit = 1ULL << 63;
}

TAKES(padded, window_of_limit_0_never_holds)
{
	test->windows[0].limit = 0;
}

TAKES(padded, address_outside_of_a_window_that_never_holds_is_taken)
{
	test->windows[0].limit = 0;
	test->operands[1].address.offset = 1LL << 40;
}

TAKES(copy, window_of_the_destination_is_taken)
{
	test->operands[0].window_mask = 1;
	test->job.windows.count = 1;
	test->windows[0].value.strides[0] = 1;
	test->windows[0].limit = 3;
}

TAKES(padded, thirty_two_windows_are_taken)
{
	__u32 w;

	for (w = 2; w < DRM_TESSERA_MAX_WINDOWS; w++)
		test->windows[w] = test->windows[0];
	test->job.windows.count = DRM_TESSERA_MAX_WINDOWS;
	test->operands[1].window_mask = ~0U;
}

REFUSES(padded, thirty_three_windows_are_refused, EINVAL)
{
	__u32 w;

	for (w = 2; w <= DRM_TESSERA_MAX_WINDOWS; w++)
		test->windows[w] = test->windows[0];
	test->job.windows.count = DRM_TESSERA_MAX_WINDOWS + 1;
	test->operands[1].window_mask = ~0U;
}

REFUSES(padded, windows_from_nowhere_fault, EFAULT)
{
	test->job.windows.pointer = TEST_BAD_POINTER;
}

/*
 * Programs
 */

TAKES(program, sixteen_instructions_are_taken)
{
	__u32 k;

	for (k = 2; k < DRM_TESSERA_MAX_INSTRUCTIONS; k++)
		test->program[k] = test->program[1];
	test->job.program.count = DRM_TESSERA_MAX_INSTRUCTIONS;
}

REFUSES(program, seventeen_instructions_are_refused, EINVAL)
{
	__u32 k;

	for (k = 2; k <= DRM_TESSERA_MAX_INSTRUCTIONS; k++)
		test->program[k] = test->program[1];
	test->job.program.count = DRM_TESSERA_MAX_INSTRUCTIONS + 1;
}

REFUSES(program, program_from_nowhere_faults, EFAULT)
{
	test->job.program.pointer = TEST_BAD_POINTER;
}

REFUSES(program, raw_source_of_a_program_is_refused, EINVAL)
{
	test->operands[2] = test->operands[1];
	test->operands[2].dtype = DRM_TESSERA_DTYPE_RAW32;
	test->job.operands.count = 3;
}

REFUSES(program, opcode_0_is_refused, EINVAL)
{
	test->program[1].opcode = 0;
}

REFUSES(program, opcode_beyond_the_last_is_refused, EINVAL)
{
	test->program[1].opcode = DRM_TESSERA_OP_COMPARE + 1;
}

REFUSES(program, unknown_type_of_an_instruction_is_refused, EINVAL)
{
	test->program[1].dtype = 0x62;
}

REFUSES(program, raw_type_of_an_instruction_is_refused, EINVAL)
{
	test->program[0].dtype = DRM_TESSERA_DTYPE_RAW32;
	test->program[1].src[1] = 0;
}

REFUSES(program, type_of_an_instruction_other_than_its_registers_is_refused, EINVAL)
{
	test->program[1].dtype = DRM_TESSERA_DTYPE_I32;
}

REFUSES(program, unknown_instruction_flag_is_refused, EINVAL)
{
	test->program[1].flags = 1 << 2;
}

TAKES(program, saturating_sum_is_taken)
{
	test->program[1].flags = DRM_TESSERA_INSTRUCTION_SATURATE;
}

REFUSES(program_f32, saturating_sum_of_floats_is_refused, EINVAL)
{
	test->program[1].flags = DRM_TESSERA_INSTRUCTION_SATURATE;
}

TAKES(program, minimum_is_taken)
{
	test->program[1].opcode = DRM_TESSERA_OP_MIN;
}

REFUSES(program, saturating_minimum_is_refused, EINVAL)
{
	test->program[1].opcode = DRM_TESSERA_OP_MIN;
	test->program[1].flags = DRM_TESSERA_INSTRUCTION_SATURATE;
}

REFUSES(program, saturating_constant_is_refused, EINVAL)
{
	test->program[0].flags = DRM_TESSERA_INSTRUCTION_SATURATE;
}

REFUSES(program, truncating_sum_is_refused, EINVAL)
{
	test->program[1].flags = DRM_TESSERA_INSTRUCTION_TRUNCATE;
}

TAKES(cast, truncating_cast_to_an_integer_is_taken)
{
	test->program[0].flags |= DRM_TESSERA_INSTRUCTION_TRUNCATE;
}

REFUSES(cast, saturating_cast_to_a_float_is_refused, EINVAL)
{
	test->operands[0].dtype = DRM_TESSERA_DTYPE_F32;
	test->program[0].dtype = DRM_TESSERA_DTYPE_F32;
}

REFUSES(cast, truncating_cast_of_an_integer_is_refused, EINVAL)
{
	test->operands[1].dtype = DRM_TESSERA_DTYPE_U32;
	test->program[0].flags |= DRM_TESSERA_INSTRUCTION_TRUNCATE;
}

REFUSES(cast, truncating_cast_to_a_float_is_refused, EINVAL)
{
	test->operands[0].dtype = DRM_TESSERA_DTYPE_F32;
	test->program[0].dtype = DRM_TESSERA_DTYPE_F32;
	test->program[0].flags = DRM_TESSERA_INSTRUCTION_TRUNCATE;
}

REFUSES(program, predicate_of_a_sum_is_refused, EINVAL)
{
	test->program[1].predicate = DRM_TESSERA_PREDICATE_EQ;
}

REFUSES(choose, comparison_without_a_predicate_is_refused, EINVAL)
{
	test->program[1].predicate = 0;
}

REFUSES(choose, predicate_beyond_the_last_is_refused, EINVAL)
{
	test->program[1].predicate = DRM_TESSERA_PREDICATE_GE + 1;
}

REFUSES(choose, selection_by_other_than_u8_is_refused, EINVAL)
{
	test->program[2].src[0] = 1;
}

REFUSES(choose, selection_between_types_is_refused, EINVAL)
{
	test->program[2].src[2] = 2;
}

REFUSES(program, destination_register_8_is_refused, EINVAL)
{
	test->program[0].dst = DRM_TESSERA_NUM_REGISTERS;
	test->program[1].src[1] = 0;
}

TAKES(program, destination_register_7_is_taken)
{
	test->program[0].dst = DRM_TESSERA_NUM_REGISTERS - 1;
	test->program[1].src[1] = DRM_TESSERA_NUM_REGISTERS - 1;
}

REFUSES(program, source_register_8_is_refused, EINVAL)
{
	test->program[1].src[1] = DRM_TESSERA_NUM_REGISTERS;
}

REFUSES(program, source_register_255_is_refused, EINVAL)
{
	test->program[1].src[0] = 255;
}

REFUSES(program, register_that_was_never_written_is_refused, EINVAL)
{
	test->program[1].src[1] = 2;
}

REFUSES(program, third_register_of_a_sum_is_refused, EINVAL)
{
	test->program[1].src[2] = 1;
}

REFUSES(program, register_of_a_constant_is_refused, EINVAL)
{
	test->operands[2] = test->operands[1];
	test->job.operands.count = 3;
	test->program[0].src[0] = 1;
}

REFUSES(program, immediate_of_a_sum_is_refused, EINVAL)
{
	test->program[1].immediate = 1;
}

REFUSES(program, immediate_wider_than_its_type_is_refused, EINVAL)
{
	test->program[0].immediate = 1ULL << 32;
}

REFUSES(program, result_of_another_type_is_refused, EINVAL)
{
	test->operands[0].dtype = DRM_TESSERA_DTYPE_I32;
}

/*
 * Results that are not defined are nobody's business but the submitter's: nothing changes but what
 * the job stores to
 */

#define STAYS_INSIDE(base, name)							\
	static void change_##name(const fixture *self, struct test_job *test);	\
	TEST_F(job, name)							\
	{									\
		const size_t end = 4 * 8 * 4 + 4;				\
										\
		base(self, &self->job);						\
		change_##name(self, &self->job);				\
		memset(self->source.map, 0x11, SIZE);				\
		memset(self->destination.map, 0x11, SIZE);			\
		ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->job));	\
		EXPECT_EQ(SIZE - end,						\
			  test_constant(self->source.map + end, SIZE - end, 0x11));	\
		EXPECT_EQ(SIZE - end,						\
			  test_constant(self->destination.map + end, SIZE - end, 0x11)); \
	}									\
	static void change_##name(const fixture *self, struct test_job *test)

STAYS_INSIDE(program, destination_shifted_on_its_source_stays_inside)
{
	test->operands[0] = test->operands[1];
	test->operands[0].address.offset = 4;
}

STAYS_INSIDE(program, destination_transposed_on_its_source_stays_inside)
{
	test->operands[1].handle = test->operands[0].handle;
}

STAYS_INSIDE(program, stores_to_one_place_stay_inside)
{
	test->operands[0].address.strides[0] = 0;
}

STAYS_INSIDE(program, stores_that_meet_in_part_stay_inside)
{
	test->operands[0].address.strides[1] = 3;
}

/*
 * Results that are
 */

TAKES(program, program_in_place_is_taken)
{
	test->operands[0] = test->operands[1];
}

TAKES(copy, source_may_be_read_again_and_again)
{
	test->operands[1].address.strides[0] = 0;
	test->operands[1].address.strides[1] = 0;
}

/*
 * Elements of arrays: what they have more than the driver knows must be zero, what they have less
 * reads as zero
 */

struct wide_operand {
	struct drm_tessera_operand operand;
	__u64 more;
};

struct wide_window {
	struct drm_tessera_window window;
	__u64 more;
};

struct wide_instruction {
	struct drm_tessera_instruction instruction;
	__u64 more;
};

static struct wide_operand wide_operands[2];
static struct wide_window wide_windows[2];
static struct wide_instruction wide_instructions[2];

static void widen_operands(struct test_job *test)
{
	wide_operands[0].operand = test->operands[0];
	wide_operands[1].operand = test->operands[1];
	test->job.operands = TEST_ARRAY(wide_operands, 2);
}

static void widen_windows(struct test_job *test)
{
	wide_windows[0].window = test->windows[0];
	wide_windows[1].window = test->windows[1];
	test->job.windows = TEST_ARRAY(wide_windows, 2);
}

static void widen_instructions(struct test_job *test)
{
	wide_instructions[0].instruction = test->program[0];
	wide_instructions[1].instruction = test->program[1];
	test->job.program = TEST_ARRAY(wide_instructions, 2);
}

TAKES(copy, wider_operands_are_taken_when_zero)
{
	widen_operands(test);
}

REFUSES(copy, wider_operands_are_refused_when_not_zero, EINVAL)
{
	widen_operands(test);
	wide_operands[1].more = 1ULL << 63;
}

TAKES(padded, wider_windows_are_taken_when_zero)
{
	widen_windows(test);
}

REFUSES(padded, wider_windows_are_refused_when_not_zero, EINVAL)
{
	widen_windows(test);
	wide_windows[1].more = 1;
}

TAKES(program, wider_instructions_are_taken_when_zero)
{
	widen_instructions(test);
}

REFUSES(program, wider_instructions_are_refused_when_not_zero, EINVAL)
{
	widen_instructions(test);
	wide_instructions[0].more = 1;
}

REFUSES(copy, operand_stride_that_is_no_multiple_of_8_is_refused, EINVAL)
{
	test->job.operands.stride = sizeof(test->operands[0]) + 4;
}

REFUSES(padded, window_stride_that_is_no_multiple_of_8_is_refused, EINVAL)
{
	test->job.windows.stride = sizeof(test->windows[0]) + 1;
}

REFUSES(program, instruction_stride_that_is_no_multiple_of_8_is_refused, EINVAL)
{
	test->job.program.stride = sizeof(test->program[0]) - 2;
}

/* Not by reading 4 GiB of the process to see whether they are zero */
REFUSES(copy, largest_operand_stride_is_refused, EINVAL)
{
	test->job.operands.stride = ~7U;
}

TAKES(copy, arrays_without_elements_may_lead_nowhere)
{
	test->job.windows = (struct drm_tessera_array){ .stride = 3, .pointer = TEST_BAD_POINTER };
	test->job.program = (struct drm_tessera_array){ .stride = 5, .pointer = TEST_BAD_POINTER };
}

/* The bias and a coefficient alone: the limit reads as zero, so that no window holds */
TEST_F(job, narrower_windows_read_as_zero)
{
	struct {
		__s64 offset;
		__s64 stride;
	} windows[2] = { { 0, 1 }, { 0, 1 } };

	copy(self, &self->job);
	memset(self->destination.map, 0x11, SIZE);
	self->job.operands[0].window_mask = 3;
	self->job.job.windows = TEST_ARRAY(windows, 2);
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
	EXPECT_EQ(SIZE, test_constant(self->destination.map, SIZE, 0x11));
}

/* Without their indirect half, and without the fill */
TEST_F(job, narrower_operands_read_as_zero)
{
	struct {
		__u32 handle, flags, dtype, window_mask, index_handle, index_dtype;
		struct drm_tessera_affine address;
	} operands[2];
	__u32 k;

	copy(self, &self->job);
	for (k = 0; k < 2; k++)
		memcpy(&operands[k], &self->job.operands[k], sizeof(operands[k]));
	self->job.job.operands = TEST_ARRAY(operands, 2);
	test_fill(self->source.map, SIZE, 1);
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
	EXPECT_EQ(0, memcmp(self->destination.map + 4, self->source.map + 16, 4));
}

/* Without the immediate: the constant is zero */
TEST_F(job, narrower_instructions_read_as_zero)
{
	__u8 instruction[8] = { DRM_TESSERA_OP_CONST, DRM_TESSERA_DTYPE_U32 };

	copy(self, &self->job);
	self->job.job.program = TEST_ARRAY(&instruction, 1);
	memset(self->destination.map, 0x11, SIZE);
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
	EXPECT_EQ(4 * 8 * 4, test_constant(self->destination.map, 4 * 8 * 4, 0));
	EXPECT_EQ(0x11, self->destination.map[4 * 8 * 4]);
}

TEST_HARNESS_MAIN
