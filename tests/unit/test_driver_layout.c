// SPDX-License-Identifier: MIT
/*
 * The driver's validation of jobs (driver/tessera_layout.c), compiled for userspace: each rule by a
 * job that breaks that rule alone and passes without the change; then random jobs, on which it
 * must agree with the point-by-point reference.
 *
 * test_driver_layout [--seed N] [--count N]: the random jobs are those of seeds N and on.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "../../driver/tessera_layout.h"
#include "reference/random_job.h"
#include "reference/reference.h"

static uint64_t first_seed;
static uint64_t num_jobs = 2000;

static int check(const struct tessera_layout_job *job)
{
	struct tessera_layout_error error = { "" };
	int ret = tessera_layout_check(job, &error);

	/* What is refused is refused with a reason */
	assert_true(!ret == !error.text[0]);
	return ret;
}

static int check_overlap(const struct tessera_layout_job *job)
{
	static struct tessera_solver solver;
	struct tessera_layout_error error = { "" };
	int ret;

	assert_int_equal(check(job), 0);
	memset(&solver, 0xa5, sizeof(solver));
	ret = tessera_layout_check_overlap(job, &solver, &error);
	assert_true(!ret == !error.text[0]);
	return ret;
}

/* A transposition of 4 x 8 floats from one buffer to another */
static struct tessera_layout_job transposition(void)
{
	struct tessera_layout_job job = { .rank = 2, .num_operands = 2, .extents = { 4, 8 } };
	uint32_t k;

	for (k = 0; k < 2; k++) {
		job.operands[k].dtype = DRM_TESSERA_DTYPE_F32;
		job.buffers[k] = (struct tessera_layout_buffer){
			.size = 128, .id = k, .is_writable = k == 0,
		};
	}
	job.operands[0].address.strides[0] = 4;
	job.operands[0].address.strides[1] = 16;
	job.operands[1].address.strides[0] = 32;
	job.operands[1].address.strides[1] = 4;
	return job;
}

static void use_windows(struct tessera_layout_job *job, uint32_t k, uint32_t count)
{
	uint32_t w;

	job->num_windows = count;
	job->operands[k].window_mask = (uint32_t)((1ULL << count) - 1);
	for (w = 0; w < count; w++)
		job->windows[w].limit = 1;
}

/* The same with a window over the first dimension of the source that always holds */
static struct tessera_layout_job windowed(void)
{
	struct tessera_layout_job job = transposition();

	use_windows(&job, 1, 1);
	job.windows[0].value.strides[0] = 1;
	job.windows[0].limit = 4;
	return job;
}

/* The same where rows of the source are chosen by an index of type i32 */
static struct tessera_layout_job gather(void)
{
	struct tessera_layout_job job = transposition();
	struct drm_tessera_operand *source = &job.operands[1];

	source->flags = DRM_TESSERA_OPERAND_INDIRECT;
	source->address.strides[0] = 0;
	source->index_dtype = DRM_TESSERA_DTYPE_I32;
	source->index_address.strides[0] = 4;
	source->index_stride = 32;
	job.index_buffers[1] = (struct tessera_layout_buffer){ .size = 16, .id = 7 };
	return job;
}

static void add_instruction(struct tessera_layout_job *job,
			    struct drm_tessera_instruction instruction)
{
	job->program[job->num_instructions++] = instruction;
}

/* The same with a second source that is added */
static struct tessera_layout_job addition(void)
{
	struct tessera_layout_job job = transposition();

	job.num_operands = 3;
	job.operands[2] = job.operands[1];
	job.buffers[2] = (struct tessera_layout_buffer){ .size = 128, .id = 2 };
	add_instruction(&job, (struct drm_tessera_instruction){
		.opcode = DRM_TESSERA_OP_ADD, .dtype = DRM_TESSERA_DTYPE_F32, .src = { 0, 1 },
	});
	return job;
}

/* The same with integers */
static struct tessera_layout_job integer_addition(void)
{
	struct tessera_layout_job job = addition();
	uint32_t k;

	for (k = 0; k < 3; k++)
		job.operands[k].dtype = DRM_TESSERA_DTYPE_I32;
	job.program[0].dtype = DRM_TESSERA_DTYPE_I32;
	return job;
}

/* One operand, one instruction: everything becomes 1.0 */
static struct tessera_layout_job constant(void)
{
	struct tessera_layout_job job = transposition();

	job.num_operands = 1;
	memset(&job.operands[1], 0, sizeof(job.operands[1]));
	add_instruction(&job, (struct drm_tessera_instruction){
		.opcode = DRM_TESSERA_OP_CONST, .dtype = DRM_TESSERA_DTYPE_F32,
		.immediate = 0x3f800000,
	});
	return job;
}

static struct tessera_layout_job cast(uint32_t from, uint32_t to)
{
	struct tessera_layout_job job = transposition();

	job.operands[0].dtype = to;
	job.operands[1].dtype = from;
	add_instruction(&job, (struct drm_tessera_instruction){
		.opcode = DRM_TESSERA_OP_CAST, .dtype = (uint8_t)to,
	});
	return job;
}

/* A test that job() passes, and is refused with this errno once the body has changed it */
#define REFUSES(job_, name, errno_)					\
	static void change_##name(struct tessera_layout_job *job);	\
	static void name(void **state)					\
	{								\
		struct tessera_layout_job job = job_;			\
									\
		(void)state;						\
		assert_int_equal(check(&job), 0);			\
		change_##name(&job);					\
		assert_int_equal(check(&job), -(errno_));		\
	}								\
	static void change_##name(struct tessera_layout_job *job)

/* A test that job() with the body's change passes, its search for overlaps included */
#define TAKES(job_, name)						\
	static void change_##name(struct tessera_layout_job *job);	\
	static void name(void **state)					\
	{								\
		struct tessera_layout_job job = job_;			\
									\
		(void)state;						\
		change_##name(&job);					\
		assert_int_equal(check_overlap(&job), 0);		\
	}								\
	static void change_##name(struct tessera_layout_job *job)

/* A test that job() with the body's change is found to have no defined result */
#define CLASHES(job_, name)						\
	static void change_##name(struct tessera_layout_job *job);	\
	static void name(void **state)					\
	{								\
		struct tessera_layout_job job = job_;			\
									\
		(void)state;						\
		assert_int_equal(check_overlap(&job), 0);		\
		change_##name(&job);					\
		assert_int_equal(check_overlap(&job), -EINVAL);		\
	}								\
	static void change_##name(struct tessera_layout_job *job)

/* Shape */

REFUSES(transposition(), rank_9_is_refused, EINVAL)
{
	job->rank = 9;
}

REFUSES(transposition(), job_flag_is_refused, EINVAL)
{
	job->flags = 1;
}

REFUSES(transposition(), extent_beyond_the_rank_is_refused, EINVAL)
{
	job->extents[2] = 1;
}

REFUSES(transposition(), two_to_the_63_points_are_refused, EOVERFLOW)
{
	job->extents[0] = 1ULL << 60;
	job->operands[0].address.strides[0] = 0;
	job->operands[1].address.strides[0] = 0;
}

TAKES(transposition(), rank_0_is_one_point)
{
	job->rank = 0;
	memset(job->extents, 0, sizeof(job->extents));
	memset(job->operands[0].address.strides, 0, sizeof(job->operands[0].address.strides));
	memset(job->operands[1].address.strides, 0, sizeof(job->operands[1].address.strides));
}

TAKES(transposition(), rank_8_is_taken)
{
	uint32_t d;

	job->rank = 8;
	for (d = 2; d < 8; d++)
		job->extents[d] = 1;
}

TAKES(transposition(), extent_0_needs_no_room)
{
	job->extents[0] = 0;
	job->buffers[0].size = 0;
	job->operands[0].address.strides[1] = INT64_MAX;
}

REFUSES(transposition(), extent_0_is_checked_for_its_form, EINVAL)
{
	job->extents[0] = 0;
	job->operands[0].dtype = 0;
}

/* Operands */

REFUSES(transposition(), unknown_operand_flag_is_refused, EINVAL)
{
	job->operands[1].flags = 1 << 1;
}

REFUSES(transposition(), dtype_0_is_refused, EINVAL)
{
	job->operands[0].dtype = 0;
}

REFUSES(transposition(), float_of_one_byte_is_refused, EINVAL)
{
	job->operands[1].dtype = DRM_TESSERA_DTYPE_CLASS_FLOAT;
}

REFUSES(transposition(), dtype_of_an_unknown_class_is_refused, EINVAL)
{
	job->operands[1].dtype = 0x62;
}

REFUSES(transposition(), dtype_beyond_8_bits_is_refused, EINVAL)
{
	job->operands[1].dtype = DRM_TESSERA_DTYPE_F32 | 0x100;
}

REFUSES(transposition(), window_that_does_not_exist_is_refused, EINVAL)
{
	job->operands[1].window_mask = 1;
}

REFUSES(transposition(), stride_beyond_the_rank_is_refused, EINVAL)
{
	job->operands[0].address.strides[2] = 1;
}

REFUSES(transposition(), fill_of_the_destination_is_refused, EINVAL)
{
	job->operands[0].fill[0] = 1;
}

REFUSES(transposition(), fill_that_is_wider_than_an_element_is_refused, EINVAL)
{
	job->operands[1].fill[0] = 1ULL << 32;
}

REFUSES(transposition(), upper_half_of_fill_is_refused, EINVAL)
{
	job->operands[1].fill[1] = 1;
}

TAKES(transposition(), fill_of_all_bits_of_an_element_is_taken)
{
	job->operands[1].fill[0] = UINT32_MAX;
}

TAKES(transposition(), fill_of_16_bytes_is_taken)
{
	job->rank = 0;
	memset(job->extents, 0, sizeof(job->extents));
	memset(job->operands[0].address.strides, 0, sizeof(job->operands[0].address.strides));
	job->operands[1].address = job->operands[0].address;
	job->operands[0].dtype = DRM_TESSERA_DTYPE_RAW128;
	job->operands[1].dtype = DRM_TESSERA_DTYPE_RAW128;
	job->operands[1].fill[0] = UINT64_MAX;
	job->operands[1].fill[1] = UINT64_MAX;
}

REFUSES(transposition(), move_between_sizes_is_refused, EINVAL)
{
	job->operands[1].dtype = DRM_TESSERA_DTYPE_F16;
}

TAKES(transposition(), move_between_types_of_one_size_is_taken)
{
	job->operands[1].dtype = DRM_TESSERA_DTYPE_RAW32;
}

REFUSES(transposition(), move_without_a_source_is_refused, EINVAL)
{
	job->num_operands = 1;
}

REFUSES(addition(), move_of_two_sources_is_refused, EINVAL)
{
	job->num_instructions = 0;
}

REFUSES(constant(), job_without_a_destination_is_refused, EINVAL)
{
	job->num_operands = 0;
}

REFUSES(transposition(), destination_that_is_read_only_is_refused, EACCES)
{
	job->buffers[0].is_writable = false;
}

/* Indices */

REFUSES(transposition(), index_handle_of_an_affine_operand_is_refused, EINVAL)
{
	job->operands[1].index_handle = 1;
}

REFUSES(transposition(), index_dtype_of_an_affine_operand_is_refused, EINVAL)
{
	job->operands[1].index_dtype = DRM_TESSERA_DTYPE_I32;
}

REFUSES(transposition(), index_address_of_an_affine_operand_is_refused, EINVAL)
{
	job->operands[1].index_address.offset = 4;
}

REFUSES(transposition(), index_stride_of_an_affine_operand_is_refused, EINVAL)
{
	job->operands[1].index_stride = 1;
}

REFUSES(transposition(), index_limit_of_an_affine_operand_is_refused, EINVAL)
{
	job->operands[1].index_limit = 1;
}

REFUSES(gather(), index_that_is_a_float_is_refused, EINVAL)
{
	job->operands[1].index_dtype = DRM_TESSERA_DTYPE_F32;
}

REFUSES(gather(), index_that_is_raw_is_refused, EINVAL)
{
	job->operands[1].index_dtype = DRM_TESSERA_DTYPE_RAW32;
}

REFUSES(gather(), index_stride_beyond_the_rank_is_refused, EINVAL)
{
	job->operands[1].index_address.strides[2] = 1;
}

REFUSES(gather(), index_behind_its_buffer_is_refused, ERANGE)
{
	job->index_buffers[1].size = 15;
}

REFUSES(gather(), index_address_that_overflows_is_refused, EOVERFLOW)
{
	job->operands[1].index_address.offset = INT64_MAX;
}

TAKES(gather(), address_of_an_indirect_operand_is_left_to_the_device)
{
	job->operands[1].address.offset = 1 << 20;
	job->buffers[1].size = 1;
}

/* Windows */

REFUSES(windowed(), limit_of_2_to_the_63_is_refused, EINVAL)
{
	job->windows[0].limit = 1ULL << 63;
}

TAKES(windowed(), limit_of_2_to_the_63_less_1_is_taken)
{
	job->windows[0].limit = INT64_MAX;
}

REFUSES(windowed(), coefficient_beyond_the_rank_is_refused, EINVAL)
{
	job->windows[0].value.strides[7] = 1;
}

REFUSES(windowed(), window_value_that_overflows_is_refused, EOVERFLOW)
{
	job->windows[0].value.strides[0] = INT64_MAX / 2;
}

/* Programs */

REFUSES(constant(), opcode_0_is_refused, EINVAL)
{
	job->program[0].opcode = 0;
}

REFUSES(constant(), opcode_behind_the_last_is_refused, EINVAL)
{
	job->program[0].opcode = DRM_TESSERA_OP_COMPARE + 1;
}

REFUSES(constant(), raw_dtype_of_an_instruction_is_refused, EINVAL)
{
	job->program[0].dtype = DRM_TESSERA_DTYPE_RAW32;
}

REFUSES(constant(), unknown_dtype_of_an_instruction_is_refused, EINVAL)
{
	job->program[0].dtype = 0x33 + 1;
}

REFUSES(addition(), raw_source_of_a_program_is_refused, EINVAL)
{
	/* It stands in no instruction, and is no less refused */
	job->num_operands = 4;
	job->operands[3] = job->operands[2];
	job->operands[3].dtype = DRM_TESSERA_DTYPE_RAW32;
	job->buffers[3] = job->buffers[2];
}

REFUSES(addition(), unknown_instruction_flag_is_refused, EINVAL)
{
	job->program[0].flags = 1 << 2;
}

REFUSES(addition(), saturating_a_float_is_refused, EINVAL)
{
	job->program[0].flags = DRM_TESSERA_INSTRUCTION_SATURATE;
}

TAKES(integer_addition(), saturating_an_integer_is_taken)
{
	job->program[0].flags = DRM_TESSERA_INSTRUCTION_SATURATE;
}

REFUSES(integer_addition(), truncating_an_addition_is_refused, EINVAL)
{
	job->program[0].flags = DRM_TESSERA_INSTRUCTION_TRUNCATE;
}

REFUSES(integer_addition(), saturating_a_minimum_is_refused, EINVAL)
{
	job->program[0].opcode = DRM_TESSERA_OP_MIN;
	job->program[0].flags = DRM_TESSERA_INSTRUCTION_SATURATE;
}

TAKES(cast(DRM_TESSERA_DTYPE_F32, DRM_TESSERA_DTYPE_I32), truncating_a_float_is_taken)
{
	job->program[0].flags = DRM_TESSERA_INSTRUCTION_TRUNCATE |
				DRM_TESSERA_INSTRUCTION_SATURATE;
}

REFUSES(cast(DRM_TESSERA_DTYPE_U32, DRM_TESSERA_DTYPE_I32), truncating_an_integer_is_refused,
	EINVAL)
{
	job->program[0].flags = DRM_TESSERA_INSTRUCTION_TRUNCATE;
}

REFUSES(cast(DRM_TESSERA_DTYPE_I32, DRM_TESSERA_DTYPE_F32), truncating_to_a_float_is_refused,
	EINVAL)
{
	job->program[0].flags = DRM_TESSERA_INSTRUCTION_TRUNCATE;
}

REFUSES(addition(), predicate_of_an_addition_is_refused, EINVAL)
{
	job->program[0].predicate = DRM_TESSERA_PREDICATE_LT;
}

static struct tessera_layout_job comparison(void)
{
	struct tessera_layout_job job = addition();

	job.operands[0].dtype = DRM_TESSERA_DTYPE_U8;
	job.program[0].opcode = DRM_TESSERA_OP_COMPARE;
	job.program[0].predicate = DRM_TESSERA_PREDICATE_LT;
	return job;
}

REFUSES(comparison(), comparison_without_a_predicate_is_refused, EINVAL)
{
	job->program[0].predicate = 0;
}

REFUSES(comparison(), predicate_behind_the_last_is_refused, EINVAL)
{
	job->program[0].predicate = DRM_TESSERA_PREDICATE_GE + 1;
}

REFUSES(comparison(), comparison_that_is_no_u8_is_refused, EINVAL)
{
	job->operands[0].dtype = DRM_TESSERA_DTYPE_F32;
}

REFUSES(addition(), immediate_of_an_addition_is_refused, EINVAL)
{
	job->program[0].immediate = 1;
}

REFUSES(constant(), immediate_that_is_wider_than_its_type_is_refused, EINVAL)
{
	job->program[0].immediate = 1ULL << 32;
}

REFUSES(constant(), register_8_is_not_written, EINVAL)
{
	add_instruction(job, job->program[0]);
	job->program[1].dst = 8;
}

REFUSES(addition(), register_8_is_not_read, EINVAL)
{
	job->program[0].src[1] = 8;
}

REFUSES(addition(), register_that_holds_nothing_is_not_read, EINVAL)
{
	job->program[0].src[1] = 2;
}

REFUSES(addition(), register_of_another_type_is_not_read, EINVAL)
{
	job->operands[2].dtype = DRM_TESSERA_DTYPE_I32;
}

REFUSES(cast(DRM_TESSERA_DTYPE_U32, DRM_TESSERA_DTYPE_I32),
	register_that_holds_nothing_is_not_cast, EINVAL)
{
	job->program[0].src[0] = 5;
}

REFUSES(addition(), third_source_of_an_addition_is_refused, EINVAL)
{
	job->program[0].src[2] = 1;
}

REFUSES(addition(), register_0_of_another_type_than_the_destination_is_refused, EINVAL)
{
	job->operands[0].dtype = DRM_TESSERA_DTYPE_I32;
}

REFUSES(constant(), program_that_leaves_register_0_empty_is_refused, EINVAL)
{
	job->program[0].dst = 1;
}

static struct tessera_layout_job selection(void)
{
	struct tessera_layout_job job = addition();

	job.num_instructions = 0;
	add_instruction(&job, (struct drm_tessera_instruction){
		.opcode = DRM_TESSERA_OP_COMPARE, .dtype = DRM_TESSERA_DTYPE_F32,
		.predicate = DRM_TESSERA_PREDICATE_GT, .dst = 7, .src = { 0, 1 },
	});
	add_instruction(&job, (struct drm_tessera_instruction){
		.opcode = DRM_TESSERA_OP_SELECT, .dtype = DRM_TESSERA_DTYPE_F32,
		.src = { 7, 0, 1 },
	});
	return job;
}

REFUSES(selection(), selection_by_a_float_is_refused, EINVAL)
{
	job->program[1].src[0] = 0;
}

TAKES(selection(), sixteen_instructions_are_taken)
{
	while (job->num_instructions < DRM_TESSERA_MAX_INSTRUCTIONS)
		add_instruction(job, job->program[job->num_instructions - 2]);
}

/* Sums */

REFUSES(transposition(), address_that_overflows_is_refused, EOVERFLOW)
{
	job->operands[1].address.offset = INT64_MAX;
}

REFUSES(transposition(), stride_that_overflows_is_refused, EOVERFLOW)
{
	job->operands[1].address.strides[0] = INT64_MIN;
}

REFUSES(transposition(), address_that_overflows_on_the_way_is_refused, EOVERFLOW)
{
	/* The two terms cancel, but not in every order */
	job->extents[0] = 2;
	job->operands[1].address.strides[0] = INT64_MAX / 2;
	job->operands[1].address.offset = -INT64_MAX / 2 - 2;
}

/* Bounds */

REFUSES(transposition(), destination_one_byte_past_its_buffer_is_refused, ERANGE)
{
	job->buffers[0].size--;
}

REFUSES(transposition(), source_one_byte_past_its_buffer_is_refused, ERANGE)
{
	job->buffers[1].size--;
}

REFUSES(transposition(), source_before_its_buffer_is_refused, ERANGE)
{
	job->operands[1].address.offset = -1;
}

REFUSES(transposition(), buffer_smaller_than_an_element_is_refused, ERANGE)
{
	job->buffers[1].size = 3;
}

TAKES(transposition(), negative_stride_is_taken)
{
	job->operands[1].address.offset = 96;
	job->operands[1].address.strides[0] = -32;
}

TAKES(transposition(), broadcast_source_is_taken)
{
	job->operands[1].address.strides[0] = 0;
	job->buffers[1].size = 32;
}

TAKES(windowed(), padding_around_a_source_is_taken)
{
	/* The first row and the last are padding: the source has two rows */
	job->windows[0].value.offset = -1;
	job->windows[0].limit = 2;
	job->operands[1].address.offset = -32;
	job->buffers[1].size = 64;
}

REFUSES(windowed(), padding_on_one_side_only_is_refused, ERANGE)
{
	job->windows[0].limit = 3;
	job->buffers[1].size = 64;
}

TAKES(windowed(), partial_tile_is_taken)
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

TAKES(windowed(), window_that_never_holds_needs_no_room)
{
	job->windows[0].limit = 0;
	job->buffers[1].size = 0;
}

TAKES(windowed(), constant_window_that_does_not_hold_needs_no_room)
{
	job->windows[0].value.strides[0] = 0;
	job->windows[0].value.offset = 4;
	job->buffers[1].size = 0;
}

static void bounds_of_a_windowed_address_are_exact(void **state)
{
	struct tessera_layout_job job = windowed();
	struct tessera_interval bounds;

	(void)state;
	job.windows[0].value.offset = -1;
	job.windows[0].limit = 2;
	assert_true(tessera_layout_bounds(&job, 1, &job.operands[1].address, &bounds));
	assert_int_equal(bounds.lowest, 32);
	assert_int_equal(bounds.highest, 64 + 28);
}

/* Overlaps */

CLASHES(transposition(), stride_of_0_in_the_destination_is_found)
{
	job->operands[0].address.strides[0] = 0;
}

CLASHES(transposition(), stores_that_share_bytes_are_found)
{
	job->operands[0].address.strides[0] = 2;
}

CLASHES(transposition(), rows_that_run_into_each_other_are_found)
{
	job->operands[0].address.strides[1] = 12;
}

CLASHES(transposition(), strides_that_meet_far_away_are_found)
{
	/* 96 i and 160 j meet first at i = 5, j = 3 */
	job->extents[0] = 100;
	job->extents[1] = 100;
	job->operands[0].address.strides[0] = 96;
	job->operands[0].address.strides[1] = 160;
	job->operands[1].address.strides[0] = 400;
	job->buffers[0].size = 1 << 20;
	job->buffers[1].size = 1 << 20;
}

TAKES(transposition(), window_that_keeps_stores_apart_is_taken)
{
	job->operands[0].address.strides[1] = 12;
	job->operands[0].window_mask = 1;
	job->num_windows = 1;
	job->windows[0].value.strides[0] = 1;
	job->windows[0].limit = 3;
}

CLASHES(transposition(), overlap_with_the_source_is_found)
{
	job->buffers[0].size = 256;
	job->buffers[1] = job->buffers[0];
	job->operands[0].address.offset = 124;
}

TAKES(transposition(), neighbours_in_one_buffer_are_taken)
{
	job->buffers[0].size = 256;
	job->buffers[1] = job->buffers[0];
	job->operands[0].address.offset = 128;
}

TAKES(transposition(), job_in_place_is_taken)
{
	job->buffers[1] = job->buffers[0];
	job->operands[1].address = job->operands[0].address;
}

TAKES(transposition(), stride_that_is_never_taken_does_not_matter_in_place)
{
	job->extents[0] = 1;
	job->buffers[1] = job->buffers[0];
	job->operands[1].address = job->operands[0].address;
	job->operands[1].address.strides[0] = 1000;
}

CLASHES(transposition(), transposition_in_place_is_found)
{
	job->buffers[1] = job->buffers[0];
}

CLASHES(transposition(), half_an_element_in_place_is_found)
{
	job->buffers[0].size = 256;
	job->buffers[1] = job->buffers[0];
	job->operands[1].address = job->operands[0].address;
	job->operands[1].address.offset = 2;
}

CLASHES(cast(DRM_TESSERA_DTYPE_F32, DRM_TESSERA_DTYPE_U8), cast_in_place_to_less_is_found)
{
	job->buffers[1] = job->buffers[0];
	job->operands[0].address = job->operands[1].address;
}

TAKES(transposition(), interleaved_elements_are_taken)
{
	/* Even elements become odd ones: nothing meets, though everything is near */
	job->buffers[0].size = 512;
	job->buffers[1] = job->buffers[0];
	job->operands[0].address.offset = 4;
	job->operands[0].address.strides[0] = 64;
	job->operands[0].address.strides[1] = 8;
	job->operands[1].address.strides[0] = 64;
	job->operands[1].address.strides[1] = 8;
}

TAKES(windowed(), windows_that_keep_source_and_destination_apart_are_taken)
{
	job->buffers[0].size = 256;
	job->buffers[1] = job->buffers[0];
	job->operands[0].address.offset = 96;
	job->windows[0].limit = 3;
}

CLASHES(addition(), overlap_with_the_second_source_is_found)
{
	job->buffers[2] = job->buffers[0];
}

TAKES(gather(), overlap_with_an_indirect_source_is_not_decided)
{
	job->buffers[1] = job->buffers[0];
}

/* Random jobs */

static struct tessera_layout_job of_random_job(const struct random_job *random)
{
	struct tessera_layout_job job = {
		.rank = random->rank,
		.num_operands = random->num_operands,
		.num_windows = random->num_windows,
		.num_instructions = random->num_instructions,
	};
	uint32_t k;

	memcpy(job.extents, random->extents, sizeof(job.extents));
	memcpy(job.operands, random->operands, sizeof(job.operands));
	memcpy(job.windows, random->windows, sizeof(job.windows));
	memcpy(job.program, random->program, sizeof(job.program));
	for (k = 0; k < random->num_operands; k++) {
		const struct drm_tessera_operand *operand = &random->operands[k];

		job.buffers[k].id = operand->handle;
		job.buffers[k].is_writable = true;
		if (operand->handle)
			job.buffers[k].size = random->buffers[operand->handle - 1].size;
		job.index_buffers[k].id = operand->index_handle;
		if (operand->index_handle)
			job.index_buffers[k].size =
				random->buffers[operand->index_handle - 1].size;
	}
	return job;
}

static struct random_job *random_job(uint64_t seed, struct tessera_layout_job *job)
{
	const struct random_job_options options = { .with_refused = true, .with_faults = true };
	struct random_job *random = random_job_create(seed, &options);

	*job = of_random_job(random);
	return random;
}

static void assert_same_bounds(const struct random_job *random, uint32_t k, bool is_index,
			       const struct tessera_layout_job *job,
			       const struct engine_job *engine_job)
{
	struct reference_bounds expected = reference_bounds_by_rule(engine_job, k, is_index);
	const struct drm_tessera_operand *operand = &job->operands[k];
	uint32_t size = tessera_dtype_size(is_index ? operand->index_dtype : operand->dtype);
	struct tessera_interval bounds;
	bool is_empty;

	is_empty = !tessera_layout_bounds(job, operand->window_mask, is_index ?
					  &operand->index_address : &operand->address, &bounds);
	if (is_empty != (expected.lowest > expected.highest) ||
	    (!is_empty && (bounds.lowest != expected.lowest ||
			   (__int128)bounds.highest + size - 1 != expected.highest)))
		fail_msg("seed %" PRIu64 ": operand %u%s: %lld to %lld", random->seed, k,
			 is_index ? " (index)" : "", (long long)bounds.lowest,
			 (long long)bounds.highest);
}

static bool is_empty_job(const struct tessera_layout_job *job)
{
	uint32_t d;

	for (d = 0; d < job->rank; d++) {
		if (!job->extents[d])
			return true;
	}
	return false;
}

static void assert_all_bounds(const struct random_job *random, const struct tessera_layout_job *job)
{
	void *bases[RANDOM_JOB_MAX_BUFFERS];
	struct engine_job engine_job;
	uint32_t b, k;

	for (b = 0; b < random->num_buffers; b++)
		bases[b] = random->buffers[b].initial;
	random_job_bind(random, bases, &engine_job);
	for (k = 0; k < job->num_operands; k++) {
		assert_same_bounds(random, k, false, job, &engine_job);
		if (job->operands[k].flags & DRM_TESSERA_OPERAND_INDIRECT)
			assert_same_bounds(random, k, true, job, &engine_job);
	}
}

/* Rules, bounds and the search: a job that the reference runs is never refused */
static void random_jobs_are_judged_as_the_reference_says(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = first_seed; seed < first_seed + num_jobs; seed++) {
		struct tessera_layout_job job;
		struct random_job *random = random_job(seed, &job);
		int ret = check(&job);

		if ((!ret || ret == -ERANGE) && !is_empty_job(&job))
			assert_all_bounds(random, &job);
		if (!ret)
			ret = check_overlap(&job);
		if (ret != (random->outcome == RANDOM_JOB_REFUSED ? -random->error : 0)) {
			random_job_print(random, stderr);
			fail_msg("seed %" PRIu64 " (%s): %d", seed, random->description, ret);
		}
		random_job_destroy(random);
	}
}

/* A small number, often 0, sometimes a multiple of the element's size */
static int64_t small(uint64_t *seed, int64_t limit)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (int64_t)((*seed >> 33) % (uint64_t)limit);
}

/* A move within one buffer, most of which overlap somehow */
static struct tessera_layout_job crowded(uint64_t seed)
{
	static const uint32_t dtypes[] = {
		DRM_TESSERA_DTYPE_U8, DRM_TESSERA_DTYPE_F16, DRM_TESSERA_DTYPE_F32,
	};
	struct tessera_layout_job job = { .num_operands = 2 };
	uint32_t dtype, d, k;

	seed = seed * 2 + 1;
	job.rank = (uint32_t)small(&seed, 4);
	dtype = dtypes[small(&seed, 3)];
	for (d = 0; d < job.rank; d++)
		job.extents[d] = 1 + (uint64_t)small(&seed, 4);
	job.num_windows = (uint32_t)small(&seed, 3);
	for (k = 0; k < job.num_windows; k++) {
		job.windows[k].limit = (uint64_t)small(&seed, 6);
		job.windows[k].value.offset = small(&seed, 5) - 2;
		for (d = 0; d < job.rank; d++)
			job.windows[k].value.strides[d] = small(&seed, 5) - 2;
	}
	for (k = 0; k < 2; k++) {
		struct drm_tessera_operand *operand = &job.operands[k];

		operand->dtype = dtype;
		operand->window_mask = (uint32_t)small(&seed, 1 << job.num_windows);
		operand->address.offset = 200 + small(&seed, 24);
		for (d = 0; d < job.rank; d++)
			operand->address.strides[d] = small(&seed, 33) - 16;
		job.buffers[k] = (struct tessera_layout_buffer){
			.size = 1024, .id = 1, .is_writable = true,
		};
	}
	return job;
}

/* In so small a space the search is long enough to decide, and both ways it has to be right */
static void overlaps_are_found_where_the_reference_finds_them(void **state)
{
	static uint8_t memory[1024];
	uint64_t seed, num_clashes = 0;

	(void)state;
	for (seed = first_seed; seed < first_seed + num_jobs; seed++) {
		struct tessera_layout_job job = crowded(seed);
		struct engine_job engine_job = {
			.rank = job.rank, .num_operands = 2, .num_windows = job.num_windows,
		};
		bool expected;
		uint32_t k;

		memcpy(engine_job.extents, job.extents, sizeof(job.extents));
		memcpy(engine_job.windows, job.windows, sizeof(job.windows));
		for (k = 0; k < 2; k++) {
			engine_job.operands[k].spec = job.operands[k];
			engine_job.operands[k].buffer = (struct engine_buffer){
				memory, sizeof(memory), true,
			};
		}
		expected = reference_stores_collide(&engine_job) ||
			   reference_overlaps(&engine_job, 1);
		num_clashes += expected;
		if (expected != (check_overlap(&job) != 0))
			fail_msg("seed %" PRIu64 ": expected %s", seed,
				 expected ? "a clash" : "none");
	}
	print_message("%" PRIu64 " of %" PRIu64 " clash\n", num_clashes, num_jobs);
}

#define TEST(name) cmocka_unit_test(name)

static const struct CMUnitTest tests[] = {
	TEST(rank_9_is_refused),
	TEST(job_flag_is_refused),
	TEST(extent_beyond_the_rank_is_refused),
	TEST(two_to_the_63_points_are_refused),
	TEST(rank_0_is_one_point),
	TEST(rank_8_is_taken),
	TEST(extent_0_needs_no_room),
	TEST(extent_0_is_checked_for_its_form),
	TEST(unknown_operand_flag_is_refused),
	TEST(dtype_0_is_refused),
	TEST(float_of_one_byte_is_refused),
	TEST(dtype_of_an_unknown_class_is_refused),
	TEST(dtype_beyond_8_bits_is_refused),
	TEST(window_that_does_not_exist_is_refused),
	TEST(stride_beyond_the_rank_is_refused),
	TEST(fill_of_the_destination_is_refused),
	TEST(fill_that_is_wider_than_an_element_is_refused),
	TEST(upper_half_of_fill_is_refused),
	TEST(fill_of_all_bits_of_an_element_is_taken),
	TEST(fill_of_16_bytes_is_taken),
	TEST(move_between_sizes_is_refused),
	TEST(move_between_types_of_one_size_is_taken),
	TEST(move_without_a_source_is_refused),
	TEST(move_of_two_sources_is_refused),
	TEST(job_without_a_destination_is_refused),
	TEST(destination_that_is_read_only_is_refused),
	TEST(index_handle_of_an_affine_operand_is_refused),
	TEST(index_dtype_of_an_affine_operand_is_refused),
	TEST(index_address_of_an_affine_operand_is_refused),
	TEST(index_stride_of_an_affine_operand_is_refused),
	TEST(index_limit_of_an_affine_operand_is_refused),
	TEST(index_that_is_a_float_is_refused),
	TEST(index_that_is_raw_is_refused),
	TEST(index_stride_beyond_the_rank_is_refused),
	TEST(index_behind_its_buffer_is_refused),
	TEST(index_address_that_overflows_is_refused),
	TEST(address_of_an_indirect_operand_is_left_to_the_device),
	TEST(limit_of_2_to_the_63_is_refused),
	TEST(limit_of_2_to_the_63_less_1_is_taken),
	TEST(coefficient_beyond_the_rank_is_refused),
	TEST(window_value_that_overflows_is_refused),
	TEST(opcode_0_is_refused),
	TEST(opcode_behind_the_last_is_refused),
	TEST(raw_dtype_of_an_instruction_is_refused),
	TEST(unknown_dtype_of_an_instruction_is_refused),
	TEST(raw_source_of_a_program_is_refused),
	TEST(unknown_instruction_flag_is_refused),
	TEST(saturating_a_float_is_refused),
	TEST(saturating_an_integer_is_taken),
	TEST(truncating_an_addition_is_refused),
	TEST(saturating_a_minimum_is_refused),
	TEST(truncating_a_float_is_taken),
	TEST(truncating_an_integer_is_refused),
	TEST(truncating_to_a_float_is_refused),
	TEST(predicate_of_an_addition_is_refused),
	TEST(comparison_without_a_predicate_is_refused),
	TEST(predicate_behind_the_last_is_refused),
	TEST(comparison_that_is_no_u8_is_refused),
	TEST(immediate_of_an_addition_is_refused),
	TEST(immediate_that_is_wider_than_its_type_is_refused),
	TEST(register_8_is_not_written),
	TEST(register_8_is_not_read),
	TEST(register_that_holds_nothing_is_not_read),
	TEST(register_of_another_type_is_not_read),
	TEST(register_that_holds_nothing_is_not_cast),
	TEST(third_source_of_an_addition_is_refused),
	TEST(register_0_of_another_type_than_the_destination_is_refused),
	TEST(program_that_leaves_register_0_empty_is_refused),
	TEST(selection_by_a_float_is_refused),
	TEST(sixteen_instructions_are_taken),
	TEST(address_that_overflows_is_refused),
	TEST(stride_that_overflows_is_refused),
	TEST(address_that_overflows_on_the_way_is_refused),
	TEST(destination_one_byte_past_its_buffer_is_refused),
	TEST(source_one_byte_past_its_buffer_is_refused),
	TEST(source_before_its_buffer_is_refused),
	TEST(buffer_smaller_than_an_element_is_refused),
	TEST(negative_stride_is_taken),
	TEST(broadcast_source_is_taken),
	TEST(padding_around_a_source_is_taken),
	TEST(padding_on_one_side_only_is_refused),
	TEST(partial_tile_is_taken),
	TEST(window_that_never_holds_needs_no_room),
	TEST(constant_window_that_does_not_hold_needs_no_room),
	TEST(bounds_of_a_windowed_address_are_exact),
	TEST(stride_of_0_in_the_destination_is_found),
	TEST(stores_that_share_bytes_are_found),
	TEST(rows_that_run_into_each_other_are_found),
	TEST(strides_that_meet_far_away_are_found),
	TEST(window_that_keeps_stores_apart_is_taken),
	TEST(overlap_with_the_source_is_found),
	TEST(neighbours_in_one_buffer_are_taken),
	TEST(job_in_place_is_taken),
	TEST(stride_that_is_never_taken_does_not_matter_in_place),
	TEST(transposition_in_place_is_found),
	TEST(half_an_element_in_place_is_found),
	TEST(cast_in_place_to_less_is_found),
	TEST(interleaved_elements_are_taken),
	TEST(windows_that_keep_source_and_destination_apart_are_taken),
	TEST(overlap_with_the_second_source_is_found),
	TEST(overlap_with_an_indirect_source_is_not_decided),
	TEST(random_jobs_are_judged_as_the_reference_says),
	TEST(overlaps_are_found_where_the_reference_finds_them),
};

int main(int argc, char **argv)
{
	int i;

	first_seed = (uint64_t)time(NULL) << 20;
	for (i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--seed"))
			first_seed = strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--count"))
			num_jobs = strtoull(argv[i + 1], NULL, 0);
	}
	print_message("--seed %" PRIu64 "\n", first_seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
