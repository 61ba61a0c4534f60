/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rules for jobs, each as a case: a job that is good, a change that breaks this rule and no
 * other, and how the changed job is judged. KUnit runs them in the kernel (tessera_layout_test.c),
 * tests/unit/test_driver_layout.c in userspace, under sanitizers; how is theirs to say.
 */
#ifndef _TESSERA_LAYOUT_CASES_H_
#define _TESSERA_LAYOUT_CASES_H_

#include "../tessera_layout.h"

/**
 * struct layout_case - a rule
 */
struct layout_case {
	/** @name: what the case shows, as a sentence */
	const char *name;
	/** @build: makes a good job of zeroes */
	void (*build)(struct tessera_layout_job *job);
	/** @change: what is done to it */
	void (*change)(struct tessera_layout_job *job);
	/** @check: what tessera_layout_check() says of the changed job */
	int check;
};

/* A transposition of 4 x 8 floats from one buffer to another */
static void transposition(struct tessera_layout_job *job)
{
	u32 k;

	job->rank = 2;
	job->num_operands = 2;
	job->extents[0] = 4;
	job->extents[1] = 8;
	for (k = 0; k < 2; k++) {
		job->operands[k].dtype = DRM_TESSERA_DTYPE_F32;
		job->buffers[k].size = 128;
		job->buffers[k].id = k;
	}
	job->buffers[0].is_writable = true;
	job->operands[0].address.strides[0] = 4;
	job->operands[0].address.strides[1] = 16;
	job->operands[1].address.strides[0] = 32;
	job->operands[1].address.strides[1] = 4;
}

/* The same with a window over the first dimension of the source that always holds */
static void windowed(struct tessera_layout_job *job)
{
	transposition(job);
	job->num_windows = 1;
	job->operands[1].window_mask = 1;
	job->windows[0].value.strides[0] = 1;
	job->windows[0].limit = 4;
}

/* The same where rows of the source are chosen by an index of type i32 */
static void gather(struct tessera_layout_job *job)
{
	struct drm_tessera_operand *source = &job->operands[1];

	transposition(job);
	source->flags = DRM_TESSERA_OPERAND_INDIRECT;
	source->address.strides[0] = 0;
	source->index_dtype = DRM_TESSERA_DTYPE_I32;
	source->index_address.strides[0] = 4;
	source->index_stride = 32;
	job->index_buffers[1].size = 16;
	job->index_buffers[1].id = 7;
}

/* The same with a second source that is added */
static void addition(struct tessera_layout_job *job)
{
	transposition(job);
	job->num_operands = 3;
	job->operands[2] = job->operands[1];
	job->buffers[2].size = 128;
	job->buffers[2].id = 2;
	job->num_instructions = 1;
	job->program[0].opcode = DRM_TESSERA_OP_ADD;
	job->program[0].dtype = DRM_TESSERA_DTYPE_F32;
	job->program[0].src[1] = 1;
}

/* The same with integers */
static void integer_addition(struct tessera_layout_job *job)
{
	u32 k;

	addition(job);
	for (k = 0; k < 3; k++)
		job->operands[k].dtype = DRM_TESSERA_DTYPE_I32;
	job->program[0].dtype = DRM_TESSERA_DTYPE_I32;
}

/* Which source is less, as a u8 */
static void comparison(struct tessera_layout_job *job)
{
	addition(job);
	job->operands[0].dtype = DRM_TESSERA_DTYPE_U8;
	job->program[0].opcode = DRM_TESSERA_OP_COMPARE;
	job->program[0].predicate = DRM_TESSERA_PREDICATE_LT;
}

/* The greater of the sources, by way of a comparison */
static void selection(struct tessera_layout_job *job)
{
	struct drm_tessera_instruction *select = &job->program[1];

	comparison(job);
	job->operands[0].dtype = DRM_TESSERA_DTYPE_F32;
	job->program[0].predicate = DRM_TESSERA_PREDICATE_GT;
	job->program[0].dst = 7;
	job->num_instructions = 2;
	select->opcode = DRM_TESSERA_OP_SELECT;
	select->dtype = DRM_TESSERA_DTYPE_F32;
	select->src[0] = 7;
	select->src[2] = 1;
}

/* One operand, one instruction: everything becomes 1.0 */
static void constant(struct tessera_layout_job *job)
{
	transposition(job);
	job->num_operands = 1;
	memset(&job->operands[1], 0, sizeof(job->operands[1]));
	job->num_instructions = 1;
	job->program[0].opcode = DRM_TESSERA_OP_CONST;
	job->program[0].dtype = DRM_TESSERA_DTYPE_F32;
	job->program[0].immediate = 0x3f800000;
}

static void cast(struct tessera_layout_job *job, u32 from, u32 to)
{
	transposition(job);
	job->operands[0].dtype = to;
	job->operands[1].dtype = from;
	job->num_instructions = 1;
	job->program[0].opcode = DRM_TESSERA_OP_CAST;
	job->program[0].dtype = to;
}

static void cast_f32_to_i32(struct tessera_layout_job *job)
{
	cast(job, DRM_TESSERA_DTYPE_F32, DRM_TESSERA_DTYPE_I32);
}

static void cast_u32_to_i32(struct tessera_layout_job *job)
{
	cast(job, DRM_TESSERA_DTYPE_U32, DRM_TESSERA_DTYPE_I32);
}

static void cast_i32_to_f32(struct tessera_layout_job *job)
{
	cast(job, DRM_TESSERA_DTYPE_I32, DRM_TESSERA_DTYPE_F32);
}

#define LAYOUT_CASE(build_, name_, check_)				\
	static void change_##name_(struct tessera_layout_job *job);	\
	static const struct layout_case name_ = {			\
		.name = #name_,						\
		.build = build_,					\
		.change = change_##name_,				\
		.check = check_,					\
	};								\
	static void change_##name_(struct tessera_layout_job *job)

/* Such a job is refused once the body has changed it */
#define REFUSES(build, name, errno_)	LAYOUT_CASE(build, name, -(errno_))
/* It is still good */
#define TAKES(build, name)		LAYOUT_CASE(build, name, 0)

/* Shape */

REFUSES(transposition, rank_9_is_refused, EINVAL)
{
	job->rank = 9;
}

REFUSES(transposition, job_flag_is_refused, EINVAL)
{
	job->flags = 1;
}

REFUSES(transposition, extent_beyond_the_rank_is_refused, EINVAL)
{
	job->extents[2] = 1;
}

REFUSES(transposition, two_to_the_63_points_are_refused, EOVERFLOW)
{
	job->extents[0] = 1ULL << 60;
	job->operands[0].address.strides[0] = 0;
	job->operands[1].address.strides[0] = 0;
}

TAKES(transposition, rank_0_is_one_point)
{
	job->rank = 0;
	memset(job->extents, 0, sizeof(job->extents));
	memset(job->operands[0].address.strides, 0, sizeof(job->operands[0].address.strides));
	memset(job->operands[1].address.strides, 0, sizeof(job->operands[1].address.strides));
}

TAKES(transposition, rank_8_is_taken)
{
	u32 d;

	job->rank = 8;
	for (d = 2; d < 8; d++)
		job->extents[d] = 1;
}

TAKES(transposition, extent_0_needs_no_room)
{
	job->extents[0] = 0;
	job->buffers[0].size = 0;
	job->operands[0].address.strides[1] = S64_MAX;
}

REFUSES(transposition, extent_0_is_checked_for_its_form, EINVAL)
{
	job->extents[0] = 0;
	job->operands[0].dtype = 0;
}

/* Operands */

REFUSES(transposition, unknown_operand_flag_is_refused, EINVAL)
{
	job->operands[1].flags = 1 << 1;
}

REFUSES(transposition, dtype_0_is_refused, EINVAL)
{
	job->operands[0].dtype = 0;
}

REFUSES(transposition, float_of_one_byte_is_refused, EINVAL)
{
	job->operands[1].dtype = DRM_TESSERA_DTYPE_CLASS_FLOAT;
}

REFUSES(transposition, dtype_of_an_unknown_class_is_refused, EINVAL)
{
	job->operands[1].dtype = 0x62;
}

REFUSES(transposition, dtype_beyond_8_bits_is_refused, EINVAL)
{
	job->operands[1].dtype = DRM_TESSERA_DTYPE_F32 | 0x100;
}

REFUSES(transposition, window_that_does_not_exist_is_refused, EINVAL)
{
	job->operands[1].window_mask = 1;
}

REFUSES(transposition, stride_beyond_the_rank_is_refused, EINVAL)
{
	job->operands[0].address.strides[2] = 1;
}

REFUSES(transposition, fill_of_the_destination_is_refused, EINVAL)
{
	job->operands[0].fill[0] = 1;
}

REFUSES(transposition, fill_that_is_wider_than_an_element_is_refused, EINVAL)
{
	job->operands[1].fill[0] = 1ULL << 32;
}

REFUSES(transposition, upper_half_of_fill_is_refused, EINVAL)
{
	job->operands[1].fill[1] = 1;
}

TAKES(transposition, fill_of_all_bits_of_an_element_is_taken)
{
	job->operands[1].fill[0] = 0xffffffff;
}

TAKES(transposition, fill_of_16_bytes_is_taken)
{
	job->rank = 0;
	memset(job->extents, 0, sizeof(job->extents));
	memset(job->operands[0].address.strides, 0, sizeof(job->operands[0].address.strides));
	job->operands[1].address = job->operands[0].address;
	job->operands[0].dtype = DRM_TESSERA_DTYPE_RAW128;
	job->operands[1].dtype = DRM_TESSERA_DTYPE_RAW128;
	job->operands[1].fill[0] = U64_MAX;
	job->operands[1].fill[1] = U64_MAX;
}

REFUSES(transposition, move_between_sizes_is_refused, EINVAL)
{
	job->operands[1].dtype = DRM_TESSERA_DTYPE_F16;
}

TAKES(transposition, move_between_types_of_one_size_is_taken)
{
	job->operands[1].dtype = DRM_TESSERA_DTYPE_RAW32;
}

REFUSES(transposition, move_without_a_source_is_refused, EINVAL)
{
	job->num_operands = 1;
}

REFUSES(addition, move_of_two_sources_is_refused, EINVAL)
{
	job->num_instructions = 0;
}

REFUSES(constant, job_without_a_destination_is_refused, EINVAL)
{
	job->num_operands = 0;
}

REFUSES(transposition, destination_that_is_read_only_is_refused, EACCES)
{
	job->buffers[0].is_writable = false;
}

/* Indices */

REFUSES(transposition, index_handle_of_an_affine_operand_is_refused, EINVAL)
{
	job->operands[1].index_handle = 1;
}

REFUSES(transposition, index_dtype_of_an_affine_operand_is_refused, EINVAL)
{
	job->operands[1].index_dtype = DRM_TESSERA_DTYPE_I32;
}

REFUSES(transposition, index_address_of_an_affine_operand_is_refused, EINVAL)
{
	job->operands[1].index_address.offset = 4;
}

REFUSES(transposition, index_stride_of_an_affine_operand_is_refused, EINVAL)
{
	job->operands[1].index_stride = 1;
}

REFUSES(transposition, index_limit_of_an_affine_operand_is_refused, EINVAL)
{
	job->operands[1].index_limit = 1;
}

REFUSES(gather, index_that_is_a_float_is_refused, EINVAL)
{
	job->operands[1].index_dtype = DRM_TESSERA_DTYPE_F32;
}

REFUSES(gather, index_that_is_raw_is_refused, EINVAL)
{
	job->operands[1].index_dtype = DRM_TESSERA_DTYPE_RAW32;
}

REFUSES(gather, index_stride_beyond_the_rank_is_refused, EINVAL)
{
	job->operands[1].index_address.strides[2] = 1;
}

REFUSES(gather, index_behind_its_buffer_is_refused, ERANGE)
{
	job->index_buffers[1].size = 15;
}

REFUSES(gather, index_address_that_overflows_is_refused, EOVERFLOW)
{
	job->operands[1].index_address.offset = S64_MAX;
}

TAKES(gather, address_of_an_indirect_operand_is_left_to_the_device)
{
	job->operands[1].address.offset = 1 << 20;
	job->buffers[1].size = 1;
}

/* Windows */

REFUSES(windowed, limit_of_2_to_the_63_is_refused, EINVAL)
{
	job->windows[0].limit = 1ULL << 63;
}

TAKES(windowed, limit_of_2_to_the_63_less_1_is_taken)
{
	job->windows[0].limit = S64_MAX;
}

REFUSES(windowed, coefficient_beyond_the_rank_is_refused, EINVAL)
{
	job->windows[0].value.strides[7] = 1;
}

REFUSES(windowed, window_value_that_overflows_is_refused, EOVERFLOW)
{
	job->windows[0].value.strides[0] = S64_MAX / 2;
}

/* Programs */

REFUSES(constant, opcode_0_is_refused, EINVAL)
{
	job->program[0].opcode = 0;
}

REFUSES(constant, opcode_behind_the_last_is_refused, EINVAL)
{
	job->program[0].opcode = DRM_TESSERA_OP_COMPARE + 1;
}

REFUSES(constant, raw_dtype_of_an_instruction_is_refused, EINVAL)
{
	job->program[0].dtype = DRM_TESSERA_DTYPE_RAW32;
}

REFUSES(constant, unknown_dtype_of_an_instruction_is_refused, EINVAL)
{
	job->program[0].dtype = 0x33 + 1;
}

REFUSES(addition, raw_source_of_a_program_is_refused, EINVAL)
{
	/* It stands in no instruction, and is no less refused */
	job->num_operands = 4;
	job->operands[3] = job->operands[2];
	job->operands[3].dtype = DRM_TESSERA_DTYPE_RAW32;
	job->buffers[3] = job->buffers[2];
}

REFUSES(addition, unknown_instruction_flag_is_refused, EINVAL)
{
	job->program[0].flags = 1 << 2;
}

REFUSES(addition, saturating_a_float_is_refused, EINVAL)
{
	job->program[0].flags = DRM_TESSERA_INSTRUCTION_SATURATE;
}

TAKES(integer_addition, saturating_an_integer_is_taken)
{
	job->program[0].flags = DRM_TESSERA_INSTRUCTION_SATURATE;
}

REFUSES(integer_addition, truncating_an_addition_is_refused, EINVAL)
{
	job->program[0].flags = DRM_TESSERA_INSTRUCTION_TRUNCATE;
}

REFUSES(integer_addition, saturating_a_minimum_is_refused, EINVAL)
{
	job->program[0].opcode = DRM_TESSERA_OP_MIN;
	job->program[0].flags = DRM_TESSERA_INSTRUCTION_SATURATE;
}

TAKES(cast_f32_to_i32, truncating_a_float_is_taken)
{
	job->program[0].flags = DRM_TESSERA_INSTRUCTION_TRUNCATE |
				DRM_TESSERA_INSTRUCTION_SATURATE;
}

REFUSES(cast_u32_to_i32, truncating_an_integer_is_refused, EINVAL)
{
	job->program[0].flags = DRM_TESSERA_INSTRUCTION_TRUNCATE;
}

REFUSES(cast_i32_to_f32, truncating_to_a_float_is_refused, EINVAL)
{
	job->program[0].flags = DRM_TESSERA_INSTRUCTION_TRUNCATE;
}

REFUSES(addition, predicate_of_an_addition_is_refused, EINVAL)
{
	job->program[0].predicate = DRM_TESSERA_PREDICATE_LT;
}

REFUSES(comparison, comparison_without_a_predicate_is_refused, EINVAL)
{
	job->program[0].predicate = 0;
}

REFUSES(comparison, predicate_behind_the_last_is_refused, EINVAL)
{
	job->program[0].predicate = DRM_TESSERA_PREDICATE_GE + 1;
}

REFUSES(comparison, comparison_that_is_no_u8_is_refused, EINVAL)
{
	job->operands[0].dtype = DRM_TESSERA_DTYPE_F32;
}

REFUSES(addition, immediate_of_an_addition_is_refused, EINVAL)
{
	job->program[0].immediate = 1;
}

REFUSES(constant, immediate_that_is_wider_than_its_type_is_refused, EINVAL)
{
	job->program[0].immediate = 1ULL << 32;
}

REFUSES(constant, register_8_is_not_written, EINVAL)
{
	job->num_instructions = 2;
	job->program[1] = job->program[0];
	job->program[1].dst = 8;
}

REFUSES(addition, register_8_is_not_read, EINVAL)
{
	job->program[0].src[1] = 8;
}

REFUSES(addition, register_that_holds_nothing_is_not_read, EINVAL)
{
	job->program[0].src[1] = 2;
}

REFUSES(addition, register_of_another_type_is_not_read, EINVAL)
{
	job->operands[2].dtype = DRM_TESSERA_DTYPE_I32;
}

REFUSES(cast_u32_to_i32, register_that_holds_nothing_is_not_cast, EINVAL)
{
	job->program[0].src[0] = 5;
}

REFUSES(addition, third_source_of_an_addition_is_refused, EINVAL)
{
	job->program[0].src[2] = 1;
}

REFUSES(addition, register_0_of_another_type_than_the_destination_is_refused, EINVAL)
{
	job->operands[0].dtype = DRM_TESSERA_DTYPE_I32;
}

REFUSES(constant, program_that_leaves_register_0_empty_is_refused, EINVAL)
{
	job->program[0].dst = 1;
}

REFUSES(selection, selection_by_a_float_is_refused, EINVAL)
{
	job->program[1].src[0] = 0;
}

TAKES(selection, sixteen_instructions_are_taken)
{
	u32 n;

	for (n = job->num_instructions; n < DRM_TESSERA_MAX_INSTRUCTIONS; n++)
		job->program[n] = job->program[n - 2];
	job->num_instructions = n;
}

/* Sums */

REFUSES(transposition, address_that_overflows_is_refused, EOVERFLOW)
{
	job->operands[1].address.offset = S64_MAX;
}

REFUSES(transposition, stride_that_overflows_is_refused, EOVERFLOW)
{
	job->operands[1].address.strides[0] = S64_MIN;
}

REFUSES(transposition, address_that_overflows_on_the_way_is_refused, EOVERFLOW)
{
	/* The two terms cancel, but not in every order */
	job->extents[0] = 2;
	job->operands[1].address.strides[0] = S64_MAX / 2;
	job->operands[1].address.offset = -S64_MAX / 2 - 2;
}

/* Bounds */

REFUSES(transposition, destination_one_byte_past_its_buffer_is_refused, ERANGE)
{
	job->buffers[0].size--;
}

REFUSES(transposition, source_one_byte_past_its_buffer_is_refused, ERANGE)
{
	job->buffers[1].size--;
}

REFUSES(transposition, source_before_its_buffer_is_refused, ERANGE)
{
	job->operands[1].address.offset = -1;
}

REFUSES(transposition, buffer_smaller_than_an_element_is_refused, ERANGE)
{
	job->buffers[1].size = 3;
}

TAKES(transposition, negative_stride_is_taken)
{
	job->operands[1].address.offset = 96;
	job->operands[1].address.strides[0] = -32;
}

TAKES(transposition, broadcast_source_is_taken)
{
	job->operands[1].address.strides[0] = 0;
	job->buffers[1].size = 32;
}

TAKES(windowed, padding_around_a_source_is_taken)
{
	/* The first row and the last are padding: the source has two rows */
	job->windows[0].value.offset = -1;
	job->windows[0].limit = 2;
	job->operands[1].address.offset = -32;
	job->buffers[1].size = 64;
}

REFUSES(windowed, padding_on_one_side_only_is_refused, ERANGE)
{
	job->windows[0].limit = 3;
	job->buffers[1].size = 64;
}

TAKES(windowed, partial_tile_is_taken)
{
	/* 5 = 2 tiles of 4, less 3: value = 4 i + j, address = 4 value */
	job->extents[0] = 2;
	job->extents[1] = 4;
	job->operands[0].address.strides[0] = 16;
	job->operands[0].address.strides[1] = 4;
	job->operands[1].address.strides[0] = 16;
	job->windows[0].value.strides[0] = 4;
	job->windows[0].value.strides[1] = 1;
	job->windows[0].limit = 5;
	job->buffers[1].size = 20;
}

TAKES(windowed, window_that_never_holds_needs_no_room)
{
	job->windows[0].limit = 0;
	job->buffers[1].size = 0;
}

TAKES(windowed, constant_window_that_does_not_hold_needs_no_room)
{
	job->windows[0].value.strides[0] = 0;
	job->windows[0].value.offset = 4;
	job->buffers[1].size = 0;
}

/* What has no defined result is not looked for */

TAKES(transposition, stores_that_collide_are_taken)
{
	job->operands[0].address.strides[0] = 0;
}

TAKES(transposition, destination_that_overlaps_its_source_is_taken)
{
	job->buffers[1] = job->buffers[0];
}

static const struct layout_case * const layout_cases[] = {
	&rank_9_is_refused,
	&job_flag_is_refused,
	&extent_beyond_the_rank_is_refused,
	&two_to_the_63_points_are_refused,
	&rank_0_is_one_point,
	&rank_8_is_taken,
	&extent_0_needs_no_room,
	&extent_0_is_checked_for_its_form,
	&unknown_operand_flag_is_refused,
	&dtype_0_is_refused,
	&float_of_one_byte_is_refused,
	&dtype_of_an_unknown_class_is_refused,
	&dtype_beyond_8_bits_is_refused,
	&window_that_does_not_exist_is_refused,
	&stride_beyond_the_rank_is_refused,
	&fill_of_the_destination_is_refused,
	&fill_that_is_wider_than_an_element_is_refused,
	&upper_half_of_fill_is_refused,
	&fill_of_all_bits_of_an_element_is_taken,
	&fill_of_16_bytes_is_taken,
	&move_between_sizes_is_refused,
	&move_between_types_of_one_size_is_taken,
	&move_without_a_source_is_refused,
	&move_of_two_sources_is_refused,
	&job_without_a_destination_is_refused,
	&destination_that_is_read_only_is_refused,
	&index_handle_of_an_affine_operand_is_refused,
	&index_dtype_of_an_affine_operand_is_refused,
	&index_address_of_an_affine_operand_is_refused,
	&index_stride_of_an_affine_operand_is_refused,
	&index_limit_of_an_affine_operand_is_refused,
	&index_that_is_a_float_is_refused,
	&index_that_is_raw_is_refused,
	&index_stride_beyond_the_rank_is_refused,
	&index_behind_its_buffer_is_refused,
	&index_address_that_overflows_is_refused,
	&address_of_an_indirect_operand_is_left_to_the_device,
	&limit_of_2_to_the_63_is_refused,
	&limit_of_2_to_the_63_less_1_is_taken,
	&coefficient_beyond_the_rank_is_refused,
	&window_value_that_overflows_is_refused,
	&opcode_0_is_refused,
	&opcode_behind_the_last_is_refused,
	&raw_dtype_of_an_instruction_is_refused,
	&unknown_dtype_of_an_instruction_is_refused,
	&raw_source_of_a_program_is_refused,
	&unknown_instruction_flag_is_refused,
	&saturating_a_float_is_refused,
	&saturating_an_integer_is_taken,
	&truncating_an_addition_is_refused,
	&saturating_a_minimum_is_refused,
	&truncating_a_float_is_taken,
	&truncating_an_integer_is_refused,
	&truncating_to_a_float_is_refused,
	&predicate_of_an_addition_is_refused,
	&comparison_without_a_predicate_is_refused,
	&predicate_behind_the_last_is_refused,
	&comparison_that_is_no_u8_is_refused,
	&immediate_of_an_addition_is_refused,
	&immediate_that_is_wider_than_its_type_is_refused,
	&register_8_is_not_written,
	&register_8_is_not_read,
	&register_that_holds_nothing_is_not_read,
	&register_of_another_type_is_not_read,
	&register_that_holds_nothing_is_not_cast,
	&third_source_of_an_addition_is_refused,
	&register_0_of_another_type_than_the_destination_is_refused,
	&program_that_leaves_register_0_empty_is_refused,
	&selection_by_a_float_is_refused,
	&sixteen_instructions_are_taken,
	&address_that_overflows_is_refused,
	&stride_that_overflows_is_refused,
	&address_that_overflows_on_the_way_is_refused,
	&destination_one_byte_past_its_buffer_is_refused,
	&source_one_byte_past_its_buffer_is_refused,
	&source_before_its_buffer_is_refused,
	&buffer_smaller_than_an_element_is_refused,
	&negative_stride_is_taken,
	&broadcast_source_is_taken,
	&padding_around_a_source_is_taken,
	&padding_on_one_side_only_is_refused,
	&partial_tile_is_taken,
	&window_that_never_holds_needs_no_room,
	&constant_window_that_does_not_hold_needs_no_room,
	&stores_that_collide_are_taken,
	&destination_that_overlaps_its_source_is_taken,
};

#endif /* _TESSERA_LAYOUT_CASES_H_ */
