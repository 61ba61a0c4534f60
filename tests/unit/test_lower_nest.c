// SPDX-License-Identifier: MIT
/*
 * Lowering of nests, rule by rule. Every case is checked point by point against the nest's own
 * expressions, and by the engine's own checks; what is asked here besides is how few jobs, loops
 * and windows it takes.
 */
#include <errno.h>

#include "lower_test.h"

static void expect_error(const struct lower_nest *nest, int code, const char *text)
{
	struct accel_plan *plan = plan_new();
	uint32_t slot;

	assert_non_null(plan);
	for (uint32_t k = 0; k < nest->num_operands + 1; k++)
		assert_int_equal(plan_add_temporary(plan, SLOT_SIZE, &slot, &error), 0);
	assert_int_equal(lower_nest(nest, plan, &error), code);
	assert_int_equal(error.code, code);
	assert_string_equal(error.message, text);
	assert_int_equal(plan->num_jobs, 0);
	accel_plan_unref(plan);
}

/* Makes the source of a copy indirect, by the tensor of indices in slot 2 at axis i. */
static void gather(struct lower_nest *nest, int64_t stride)
{
	struct lower_operand *src = &nest->operands[1];

	src->is_indirect = true;
	src->index_slot = 2;
	src->index_dtype = ACCEL_DTYPE_I32;
	src->index_stride = stride;
	src->index_limit = 11;
	add_to_address(nest, &src->index_address, "i", 4);
}

/* How many elements of the image are under the windows of the im2col with padding below. */
static int im2col_bytes(void)
{
	int rows = 0, columns = 0;

	for (int y = 0; y < 4; y++)
		for (int k = 0; k < 3; k++)
			rows += 2 * y + 2 * k - 1 >= 0 && 2 * y + 2 * k - 1 < 9;
	for (int x = 0; x < 3; x++)
		for (int l = 0; l < 3; l++)
			columns += 2 * x + 2 * l - 1 >= 0 && 2 * x + 2 * l - 1 < 7;
	return 2 * 3 * rows * columns;
}

static void affine_axes_are_one_job(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_F32, "n: 2; c: 3; h: 5",
		  "n: 2; h: 5; c: 3", "n: 2; c: 3; h: 5");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_int_equal(plan->jobs[0].rank, 3);
	assert_int_equal(plan->jobs[0].num_windows, 0);
	assert_int_equal(plan->num_notes, 0);
	assert_int_equal(plan->info.bytes_read, 120);
	assert_int_equal(plan->info.bytes_written, 120);
	assert_int_equal(plan->info.passes, 1);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void loops_that_run_on_are_merged(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "n: 2; c: 3; h: 5; w: 7",
		  "n: 2; c: 3; h: 5; w: 7", "n: 2; c: 3; h: 5; w: 7");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->jobs[0].rank, 1);
	assert_int_equal(plan->jobs[0].extents[0], 210);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void reversed_axes_run_on_too(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "h: 5; w: 7", "4 - h: 5; 6 - w: 7", "4 - h: 5; 6 - w: 7");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->jobs[0].rank, 1);
	assert_int_equal(plan->jobs[0].operands[0].address.offset, 0);
	assert_int_equal(plan->jobs[0].operands[0].address.strides[0], 1);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_source_that_goes_backward_keeps_its_negative_step(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "h: 5", "h: 5", "4 - h: 5");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->jobs[0].operands[1].address.offset, 4);
	assert_int_equal(plan->jobs[0].operands[1].address.strides[0], -1);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void loops_come_in_the_order_of_the_destination(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "c: 3; h: 5", "h: 5; c: 3", "c: 3; h: 5");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->jobs[0].extents[0], 5);
	assert_int_equal(plan->jobs[0].extents[1], 3);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void the_order_of_the_axes_is_kept_when_asked_for(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "c: 3; h: 5", "h: 5; c: 3", "c: 3; h: 5");
	nest.keeps_order = true;
	plan = lower_and_check(&nest);
	assert_int_equal(plan->jobs[0].extents[0], 3);
	assert_int_equal(plan->jobs[0].extents[1], 5);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void an_axis_of_one_value_is_no_loop(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "n: 1; c: 3; h: 1",
		  "n: 1; h: 1; c: 3", "n: 1; c: 3; h: 1");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->jobs[0].rank, 1);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void one_point_is_a_job_without_loops(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "n: 1", "n: 1", "n: 1");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_int_equal(plan->jobs[0].rank, 0);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void an_empty_axis_makes_no_job(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "n: 3; c: 0", "n: 3; c: 1", "n: 3; c: 1");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 0);
	assert_int_equal(plan->info.passes, 0);
	assert_int_equal(plan->info.bytes_read, 0);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void packing_takes_one_window_on_the_source(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "n: 2; co: 2; h: 7; ci: 16",
		  "n: 2; co: 2; h: 7; ci: 16", "n: 2; 16*co + ci: 30; h: 7");
	add_condition(&nest, &nest.operands[1], "16*co + ci", 30);
	nest.operands[1].fill[0] = 9;
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_int_equal(plan->jobs[0].num_windows, 1);
	assert_int_equal(plan->jobs[0].operands[0].window_mask, 0);
	assert_int_equal(plan->jobs[0].operands[1].fill[0], 9);
	assert_int_equal(plan->info.bytes_written, 2 * 32 * 7);
	assert_int_equal(plan->info.bytes_read, 2 * 30 * 7);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_condition_that_always_holds_is_dropped(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 8", "i: 8", "i: 8");
	add_condition(&nest, &nest.operands[1], "i + 2", 10);
	plan = lower_and_check(&nest);
	assert_int_equal(plan->jobs[0].num_windows, 0);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_condition_that_never_holds_leaves_the_fill(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 8", "i: 8", "i: 8");
	add_condition(&nest, &nest.operands[1], "i + 9", 9);
	nest.operands[1].fill[0] = 5;
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_int_equal(plan->jobs[0].operands[1].fill[0], 5);
	assert_int_equal(plan->info.bytes_read, 0);
	assert_int_equal(plan->info.bytes_written, 8);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_limit_of_0_leaves_the_fill(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 8", "i: 8", "i: 8");
	add_condition(&nest, &nest.operands[1], "i", 0);
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_int_equal(plan->info.bytes_read, 0);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_destination_that_is_never_stored_to_makes_no_job(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 8", "i: 8", "i: 8");
	add_condition(&nest, &nest.operands[0], "i + 9", 9);
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 0);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_condition_of_the_destination_shortens_its_loop(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 8; j: 3", "i: 8; j: 3", "j: 3; i: 8");
	add_condition(&nest, &nest.operands[0], "i - 2", 4);
	plan = lower_and_check(&nest);
	assert_int_equal(plan->jobs[0].num_windows, 0);
	assert_int_equal(plan->jobs[0].extents[0], 4);
	assert_int_equal(plan->info.bytes_written, 12);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void equal_conditions_of_two_sources_are_one_window(void **state)
{
	struct lower_nest nest = { .num_instructions = 1 };
	struct accel_plan *plan;

	(void)state;
	nest.program[0] = (struct accel_instruction){
		.opcode = ACCEL_OP_ADD, .dtype = ACCEL_DTYPE_U8, .src = { 0, 1 },
	};
	add_axes(&nest, "i: 8");
	for (uint32_t k = 0; k < 3; k++)
		add_tensor(&nest, ACCEL_DTYPE_U8, "i: 8");
	add_condition(&nest, &nest.operands[1], "i - 2", 4);
	add_condition(&nest, &nest.operands[2], "2*i - 4", 8);
	plan = lower_and_check(&nest);
	assert_int_equal(plan->jobs[0].num_windows, 1);
	assert_int_equal(plan->jobs[0].operands[1].window_mask, 1);
	assert_int_equal(plan->jobs[0].operands[2].window_mask, 1);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void an_axis_is_split_where_the_divisor_divides_it(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "n: 2; c: 64; h: 7",
		  "n: 2; c//16: 4; h: 7; c % 16: 16", "n: 2; c: 64; h: 7");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_int_equal(plan->jobs[0].num_windows, 0);
	assert_true(has_note(plan, "axis c is split by 16"));
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_partial_tile_takes_one_window(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_F16, "n: 2; c: 30; h: 7",
		  "n: 2; c: 30; h: 7", "n: 2; c//16: 2; h: 7; c % 16: 16");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_int_equal(plan->jobs[0].num_windows, 1);
	assert_true(has_note(plan, "axis c is split by 16 (extent 30: a window on 2 operands)"));
	assert_int_equal(plan->info.bytes_written, 2 * 30 * 7 * 2);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void divisors_that_divide_each_other_share_a_window(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "c: 30; h: 3",
		  "c//16: 2; h: 3; c % 16: 16", "c//4: 8; h: 3; c % 4: 4");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_int_equal(plan->jobs[0].num_windows, 1);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_window_that_another_implies_is_dropped(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "c: 7; h: 3",
		  "c//6: 2; h: 3; c//3 % 2: 2; c % 3: 3", "c: 7; h: 3");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_int_equal(plan->jobs[0].num_windows, 1);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void radices_with_a_common_factor_are_one_job(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 24; j: 2",
		  "i//6: 4; j: 2; i % 6: 6", "i//4: 6; i % 4: 4; j: 2");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_false(has_table(plan));
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_shifted_axis_is_split_with_a_window(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 16; j: 2",
		  "i: 16; j: 2", "(i + 1)//4: 5; j: 2; (i + 1) % 4: 4");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_int_equal(plan->jobs[0].num_windows, 1);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_reversed_axis_is_split(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 16; j: 2",
		  "i: 16; j: 2", "(15 - i)//4: 4; j: 2; (15 - i) % 4: 4");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_int_equal(plan->jobs[0].num_windows, 0);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_remainder_of_a_remainder_is_split(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 48; j: 2",
		  "i: 48; j: 2", "i//24: 2; j: 2; i % 4: 4; (i % 24)//4: 6");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_int_equal(plan->jobs[0].num_windows, 0);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void negative_divisors_round_down(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 12; j: 2",
		  "i: 12; j: 2", "i // -4 + 3: 4; j: 2; 3 + i % -4: 4");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void reshape_of_flattened_axes_is_one_job(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_F32, "p: 3136; c: 4",
		  "p: 3136; c: 4", "c: 4; p//56: 56; p % 56: 56");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_int_equal(plan->jobs[0].num_windows, 0);
	assert_int_equal(plan->jobs[0].rank, 2);
	assert_false(has_table(plan));
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void incompatible_radices_are_one_job(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "h: 56; w: 56",
		  "(56*h + w) % 49: 49; (56*h + w) // 49: 64", "w: 56; h: 56");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_int_equal(plan->jobs[0].num_windows, 1);
	assert_int_equal(plan->info.bytes_written, 3136);
	assert_false(has_table(plan));
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void sticks_of_64_elements_are_one_job(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_F16, "m: 3; n: 5; p: 100",
		  "p//64: 2; m: 3; n: 5; p % 64: 64", "m: 3; n: 5; p: 100");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_int_equal(plan->jobs[0].num_windows, 1);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void pixel_shuffle_is_one_job(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "n: 2; c: 3; y: 8; x: 6",
		  "n: 2; c: 3; y: 8; x: 6", "n: 2; 4*c + y % 2*2 + x % 2: 12; y//2: 4; x//2: 3");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_int_equal(plan->jobs[0].num_windows, 0);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void im2col_with_padding_stride_and_dilation_takes_two_windows(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "n: 2; y: 4; x: 3; c: 3; k: 3; l: 3",
		  "n: 2; y: 4; x: 3; c: 3; k: 3; l: 3",
		  "n: 2; c: 3; 2*y + 2*k - 1: 9; 2*x + 2*l - 1: 7");
	add_condition(&nest, &nest.operands[1], "2*y + 2*k - 1", 9);
	add_condition(&nest, &nest.operands[1], "2*x + 2*l - 1", 7);
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_int_equal(plan->jobs[0].num_windows, 2);
	assert_int_equal(plan->info.bytes_written, 2 * 4 * 3 * 27);
	assert_int_equal(plan->info.bytes_read, im2col_bytes());
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void im2col_as_a_matrix_is_one_job(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "m: 24; k: 27",
		  "m: 24; k: 27", "m//12: 2; k//9: 3; m//3 % 4 + k//3 % 3: 6; m % 3 + k % 3: 5");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_int_equal(plan->jobs[0].num_windows, 0);
	assert_false(has_table(plan));
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void im2col_of_a_blocked_image_is_one_job(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "y: 8; k: 3; c: 4",
		  "y: 8; k: 3; c: 4", "(y + k - 1)//4: 2; c: 4; (y + k - 1) % 4: 4");
	add_condition(&nest, &nest.operands[1], "y + k - 1", 8);
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_false(has_table(plan));
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_quotient_that_leaves_half_of_its_box_idle_is_sliced(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 8; j: 3",
		  "i: 8; j: 3", "(i + 12)//16: 2; j: 3; (i + 12) % 16: 16");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 2);
	assert_int_equal(plan->jobs[0].num_windows, 0);
	assert_int_equal(plan->jobs[1].num_windows, 0);
	assert_true(has_note(plan, "a job for each of its 2 values"));
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_quotient_that_leaves_less_idle_takes_a_window(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 17; j: 3",
		  "i: 17; j: 3", "i//16: 2; j: 3; i % 16: 16");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_int_equal(plan->jobs[0].num_windows, 1);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void what_cannot_be_proved_with_windows_is_sliced(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 6", "i % 3: 3; i//3: 2", "i % 4: 4; i//4: 2");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 2);
	assert_false(has_table(plan));
	assert_true(has_note(plan, "a job for each of its 2 values"));
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void what_stays_in_its_slot_is_proved(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 6", "i % 3: 3; i//3: 2", "i % 4: 4; i//4: 2");
	nest.operands[1].lowest = -64;
	nest.operands[1].end = 64;
	plan = lower(&nest);
	expect_same_visits(&nest, plan);
	assert_int_equal(plan->num_jobs, 1);
	assert_false(has_table(plan));
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void reflect_padding_is_three_jobs_without_windows(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 12; j: 2",
		  "i: 12; j: 2", "select(i < 2, 2 - i, select(i < 10, i - 2, 16 - i)): 8; j: 2");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 3);
	assert_int_equal(plan->jobs[0].num_windows, 0);
	assert_int_equal(plan->jobs[1].num_windows, 0);
	assert_int_equal(plan->jobs[2].num_windows, 0);
	assert_true(has_note(plan, "sliced where a comparison in an index changes"));
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void reflect_padding_by_maxima_is_three_jobs(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 12; j: 2",
		  "i: 12; j: 2", "7 - max(7 - max(i - 2, 2 - i), max(i - 2, 2 - i) - 7): 8; j: 2");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 3);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void clamped_indices_of_two_axes_are_nine_jobs(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 6; j: 7",
		  "i: 6; j: 7", "min(max(i - 1, 0), 3): 4; min(max(j - 2, 0), 3): 4");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 9);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_comparison_of_two_axes_is_two_jobs_with_windows(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 6; j: 7", "i: 6; j: 7", "max(i, j): 7");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 2);
	assert_int_equal(plan->jobs[0].num_windows, 1);
	assert_int_equal(plan->jobs[1].num_windows, 1);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void equality_and_logic_in_an_index_are_sliced(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 6; j: 3",
		  "i: 6; j: 3", "select(i == 3 or (i != 1 and j > 1), i, 5 - i): 6; j: 3");
	plan = lower_and_check(&nest);
	assert_true(plan->num_jobs > 1);
	assert_false(has_table(plan));
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_comparison_is_a_number_in_sums(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 6; j: 3", "i: 6; j: 3", "i + (i >= 4)*2: 8; j: 3");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 2);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_number_counts_as_a_truth_value(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 6", "i: 6", "select(i % 3, i, 0): 6");
	plan = lower_and_check(&nest);
	assert_true(plan->num_jobs > 0);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_triangular_index_takes_a_table(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_F32, "i: 9; j: 9", "i: 9; j: 9", "i*(i + 1)//2 + j: 45");
	add_condition(&nest, &nest.operands[1], "i - j", 9);
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_true(has_table(plan));
	assert_int_equal(plan->jobs[0].operands[1].index_dtype, ACCEL_DTYPE_U8);
	assert_int_equal(plan->jobs[0].operands[1].index_stride, 4);
	assert_true(has_note(plan, "source 0: its address is not affine: an index table of"));
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_table_is_over_the_axes_that_need_it(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 9; j: 5", "i: 9; j: 5", "i*i: 65; j: 5");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->slots[plan->num_slots - 1].size, 9);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_table_can_be_the_index_of_the_destination(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 9; j: 5", "i*i: 65; j: 5", "i: 9; j: 5");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_true(plan->jobs[0].operands[0].is_indirect);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_product_with_a_short_axis_is_sliced(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 3; j: 5", "i: 3; j: 5", "i*j: 9");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 3);
	assert_false(has_table(plan));
	assert_true(has_note(plan, "axis i is sliced by value: a product of indices is not "
				   "affine"));
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_division_by_an_axis_is_sliced(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 3; j: 12", "i: 3; j: 12", "j//(i + 2): 6");
	plan = lower_and_check(&nest);
	assert_true(plan->num_jobs >= 3);
	assert_false(has_table(plan));
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_condition_with_a_product_is_sliced(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 9; j: 20", "i: 9; j: 20", "i: 9; j: 20");
	add_condition(&nest, &nest.operands[1], "i*j", 50);
	plan = lower_and_check(&nest);
	assert_true(plan->num_jobs > 1);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_comparison_beside_a_table_is_sliced_all_the_same(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 9; j: 9",
		  "i: 9; j: 9", "i*j + select((i + j) % 5 < 2, i, j): 74");
	plan = lower_and_check(&nest);
	assert_true(has_table(plan));
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void many_pieces_give_way_to_a_table(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 20",
		  "i: 20",
		  "(i > 1)*2 + (i > 2)*3 + (i > 3)*1 + (i > 4)*2 + (i > 5)*3 + (i > 6)*1 + (i > "
		  "7)*2 + (i > 8)*3 + (i > 9)*1 + (i > 10)*2 + (i > 11)*3 + (i > 12)*1 + (i > "
		  "13)*2 + (i > 14)*3 + (i > 15)*1 + (i > 16)*2 + (i > 17)*3: 40");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_true(has_table(plan));
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_table_is_widened_to_what_the_proof_reaches(void **state)
{
	struct lower_nest nest = { 0 };
	struct lower_operand *dst;
	struct accel_plan *plan;

	(void)state;
	add_axes(&nest, "i: 30; j: 5");
	dst = add_operand(&nest, ACCEL_DTYPE_U8);
	add_term(&nest, dst, "i*j", 1);
	add_term(&nest, dst, "i", 100);
	add_condition(&nest, dst, "5*j + i - 19", 2);
	add_tensor(&nest, ACCEL_DTYPE_U8, "i: 30");
	plan = lower_and_check(&nest);
	assert_true(has_table(plan));
	assert_int_equal(plan->jobs[0].operands[0].index_address.offset, 1);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void twelve_axes_that_run_on_are_one_loop(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "a: 2; b: 2; c: 2; d: 2; e: 2; f: 2; g: 2; h: 2; i: 2; "
					 "j: 2; k: 2; l: 2",
		  "a: 2; b: 2; c: 2; d: 2; e: 2; f: 2; g: 2; h: 2; i: 2; j: 2; k: 2; l: 2",
		  "a: 2; b: 2; c: 2; d: 2; e: 2; f: 2; g: 2; h: 2; i: 2; j: 2; k: 2; l: 2");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_int_equal(plan->jobs[0].rank, 1);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void axes_beyond_the_rank_are_sliced(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "a: 2; b: 2; c: 2; d: 2; e: 2; f: 2; g: 2; h: 2; i: 2; "
					 "j: 2; k: 2; l: 2",
		  "a: 2; b: 2; c: 2; d: 2; e: 2; f: 2; g: 2; h: 2; i: 2; j: 2; k: 2; l: 2",
		  "l: 2; k: 2; j: 2; i: 2; h: 2; g: 2; f: 2; e: 2; d: 2; c: 2; b: 2; a: 2");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 16);
	assert_int_equal(plan->jobs[15].rank, 8);
	assert_true(has_note(plan, "12 loops, a job has at most 8"));
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void the_shortest_axes_are_sliced(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "a: 5; b: 2; c: 4; d: 3; e: 3; f: 4; g: 3; h: 3; i: 3",
		  "a: 5; b: 2; c: 4; d: 3; e: 3; f: 4; g: 3; h: 3; i: 3",
		  "i: 3; h: 3; g: 3; f: 4; e: 3; d: 3; c: 4; b: 2; a: 5");
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 2);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void slices_beyond_the_jobs_give_way_to_a_table(void **state)
{
	struct lower_nest nest = { 0 };
	struct lower_operand *dst, *src;
	struct accel_plan *plan;

	(void)state;
	for (uint32_t a = 0; a < 19; a++)
		add_axis(&nest, (char[]){ (char)('a' + a), '\0' }, 2);
	dst = add_operand(&nest, ACCEL_DTYPE_U8);
	src = add_operand(&nest, ACCEL_DTYPE_U8);
	for (uint32_t a = 0; a < 19; a++) {
		add_term(&nest, dst, nest.axes[18 - a].name, 1 << a);
		add_term(&nest, src, nest.axes[a].name, 1 << a);
	}
	plan = lower(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_int_equal(plan->jobs[0].rank, 1);
	assert_true(plan->jobs[0].operands[1].is_indirect);
	expect_accepted(plan, &plan->jobs[0]);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void conditions_beyond_the_windows_are_sliced(void **state)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g" };
	struct lower_nest nest = { .num_instructions = 3 };
	struct accel_plan *plan;
	char text[16];

	(void)state;
	add_axes(&nest, "a: 3; b: 3; c: 3; d: 3; e: 3; f: 3; g: 3");
	for (uint32_t n = 0; n < 3; n++)
		nest.program[n] = (struct accel_instruction){
			.opcode = ACCEL_OP_ADD, .dtype = ACCEL_DTYPE_U8, .src = { 0, n + 1 },
		};
	for (uint32_t k = 0; k < 5; k++) {
		struct lower_operand *operand;

		operand = add_tensor(&nest, ACCEL_DTYPE_U8,
				     "a: 3; b: 3; c: 3; d: 3; e: 3; f: 3; g: 3");
		/* seven of one axis, and seven of two, for each source */
		for (uint32_t a = 0; a < 7 && k; a++) {
			snprintf(text, sizeof(text), "%s - %u", names[a], k % 3);
			add_condition(&nest, operand, text, 1 + k / 3);
			snprintf(text, sizeof(text), "%s + %s", names[a], names[(a + 1) % 7]);
			add_condition(&nest, operand, text, k);
		}
	}
	plan = lower_and_check(&nest);
	assert_true(plan->num_jobs > 1);
	assert_true(has_note(plan, "windows, a job has at most 32"));
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_gathered_source_keeps_its_index(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 6; j: 16", "i: 6; j//4: 4; j % 4: 4", "j: 16");
	gather(&nest, 16);
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_true(plan->jobs[0].operands[1].is_indirect);
	assert_int_equal(plan->jobs[0].operands[1].index_slot, 2);
	assert_int_equal(plan->info.bytes_read, 6 * 16 * 5);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_gathered_source_that_never_loads_is_not_indirect(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 6; j: 16", "i: 6; j: 16", "j: 16");
	gather(&nest, 16);
	add_condition(&nest, &nest.operands[1], "i + 9", 9);
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 1);
	assert_false(plan->jobs[0].operands[1].is_indirect);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void a_gathered_source_is_sliced_where_a_table_is_no_help(void **state)
{
	struct lower_nest nest;
	struct accel_plan *plan;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 9; j: 7", "i: 9; j: 7", "i*j: 49");
	gather(&nest, 49);
	plan = lower_and_check(&nest);
	assert_int_equal(plan->num_jobs, 7);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void an_address_beyond_64_bits_is_refused(void **state)
{
	struct lower_nest nest = { 0 };
	struct lower_operand *dst, *src;

	(void)state;
	add_axes(&nest, "i: 4; j: 4");
	dst = add_operand(&nest, ACCEL_DTYPE_U8);
	add_term(&nest, dst, "i", INT64_MAX / 4);
	add_term(&nest, dst, "j", INT64_MAX / 2);
	src = add_operand(&nest, ACCEL_DTYPE_U8);
	add_term(&nest, src, "i", 1);
	expect_error(&nest, -EOVERFLOW, "destination: address does not fit 64 bits");
	lower_nest_release(&nest);
}

static void a_coefficient_beyond_64_bits_is_refused(void **state)
{
	struct lower_nest nest = { 0 };
	struct lower_operand *dst, *src;

	(void)state;
	add_axes(&nest, "i: 4");
	dst = add_operand(&nest, ACCEL_DTYPE_U8);
	add_term(&nest, dst, "4*i", INT64_MAX / 2);
	src = add_operand(&nest, ACCEL_DTYPE_U8);
	add_term(&nest, src, "i", 1);
	expect_error(&nest, -EOVERFLOW,
		     "destination: a value in an address or a condition does not fit 64 bits");
	lower_nest_release(&nest);
}

static void an_index_address_beyond_64_bits_is_refused(void **state)
{
	struct lower_nest nest = { 0 };
	struct lower_operand *dst, *src;

	(void)state;
	add_axes(&nest, "i: 4; j: 4");
	dst = add_operand(&nest, ACCEL_DTYPE_U8);
	add_term(&nest, dst, "i", 1);
	src = add_operand(&nest, ACCEL_DTYPE_U8);
	add_term(&nest, src, "j", 1);
	gather(&nest, 16);
	nest.operands[1].index_address.terms[0].stride = INT64_MAX / 2;
	expect_error(&nest, -EOVERFLOW, "source 0: index_address does not fit 64 bits");
	lower_nest_release(&nest);
}

static void more_points_than_fit_are_refused(void **state)
{
	struct lower_nest nest = { 0 };
	struct lower_operand *dst, *src;

	(void)state;
	add_axes(&nest, "i: 4611686018427387904; j: 3; k: 3");
	dst = add_operand(&nest, ACCEL_DTYPE_U8);
	add_term(&nest, dst, "i", 1);
	src = add_operand(&nest, ACCEL_DTYPE_U8);
	add_term(&nest, src, "j", 1);
	add_term(&nest, src, "k", 1);
	expect_error(&nest, -EOVERFLOW, "the product of extents does not fit 63 bits");
	lower_nest_release(&nest);
}

static void a_window_beyond_64_bits_is_refused(void **state)
{
	struct lower_nest nest = { 0 };
	struct lower_operand *dst, *src;

	(void)state;
	add_axes(&nest, "i: 2305843009213693952; j: 3");
	dst = add_operand(&nest, ACCEL_DTYPE_U8);
	add_term(&nest, dst, "i", 1);
	src = add_operand(&nest, ACCEL_DTYPE_U8);
	add_term(&nest, src, "j", 1);
	add_condition(&nest, src, "i + j*2305843009213693952 - 6917529027641081851", 9);
	expect_error(&nest, -EOVERFLOW, "a window: value does not fit 64 bits");
	lower_nest_release(&nest);
}

static void a_table_beyond_its_limit_is_refused(void **state)
{
	struct lower_nest nest = { 0 };
	struct lower_operand *dst, *src;

	(void)state;
	add_axes(&nest, "i: 4096; j: 4096");
	dst = add_operand(&nest, ACCEL_DTYPE_U8);
	add_term(&nest, dst, "i*j", 1);
	src = add_operand(&nest, ACCEL_DTYPE_U8);
	add_term(&nest, src, "i", 1);
	expect_error(&nest, -E2BIG,
		     "destination: its address is not affine, and its index table would have more "
		     "than 8388608 entries");
	lower_nest_release(&nest);
}

static void a_gathered_source_with_a_long_product_is_refused(void **state)
{
	struct lower_nest nest = { 0 };
	struct lower_operand *dst, *src;

	(void)state;
	add_axes(&nest, "i: 100; j: 100");
	dst = add_operand(&nest, ACCEL_DTYPE_U8);
	add_term(&nest, dst, "i", 100);
	add_term(&nest, dst, "j", 1);
	src = add_operand(&nest, ACCEL_DTYPE_U8);
	add_term(&nest, src, "i*j", 1);
	gather(&nest, 16);
	expect_error(&nest, -ENOTSUP,
		     "source 0: a product of indices is not affine: axis i has 100 values, at "
		     "most 64 are sliced");
	lower_nest_release(&nest);
}

static void a_condition_with_a_long_product_is_refused(void **state)
{
	struct lower_nest nest = { 0 };
	struct lower_operand *dst, *src;

	(void)state;
	add_axes(&nest, "i: 100; j: 100");
	dst = add_operand(&nest, ACCEL_DTYPE_U8);
	add_term(&nest, dst, "i", 100);
	add_term(&nest, dst, "j", 1);
	src = add_operand(&nest, ACCEL_DTYPE_U8);
	add_term(&nest, src, "i", 1);
	add_condition(&nest, src, "i*j", 50);
	expect_error(&nest, -ENOTSUP,
		     "source 0: a product of indices is not affine: axis i has 100 values, at "
		     "most 64 are sliced");
	lower_nest_release(&nest);
}

static void a_name_that_is_no_axis_is_refused(void **state)
{
	struct lower_nest nest = { 0 };
	struct lower_operand *dst, *src;

	(void)state;
	add_axes(&nest, "i: 4");
	dst = add_operand(&nest, ACCEL_DTYPE_U8);
	add_term(&nest, dst, "i", 1);
	src = add_operand(&nest, ACCEL_DTYPE_U8);
	add_term(&nest, src, "i + z", 1);
	expect_error(&nest, -ENOENT, "source 0: z is no axis of the nest");
	lower_nest_release(&nest);
}

static void a_division_by_0_is_refused(void **state)
{
	struct lower_nest nest = { 0 };
	struct lower_operand *dst, *src;

	(void)state;
	add_axes(&nest, "i: 4; j: 2");
	dst = add_operand(&nest, ACCEL_DTYPE_U8);
	add_term(&nest, dst, "i", 1);
	src = add_operand(&nest, ACCEL_DTYPE_U8);
	add_term(&nest, src, "i//j", 1);
	expect_error(&nest, -EDOM, "source 0: an address or a condition divides by 0");
	lower_nest_release(&nest);
}

static void jobs_beyond_a_submission_are_refused(void **state)
{
	struct lower_nest nest = { 0 };
	struct lower_operand *dst, *src;
	int64_t stride = 1;

	(void)state;
	for (uint32_t a = 0; a < 20; a++)
		add_axis(&nest, (char[]){ (char)('a' + a), '\0' }, 3);
	dst = add_operand(&nest, ACCEL_DTYPE_U8);
	src = add_operand(&nest, ACCEL_DTYPE_U8);
	for (uint32_t a = 0; a < 20; a++, stride *= 3) {
		add_term(&nest, dst, nest.axes[a].name, stride);
		add_term(&nest, src, nest.axes[19 - a].name, stride);
	}
	expect_error(&nest, -E2BIG,
		     "20 loops, a job has at most 8; sliced, they would be more than 1024 jobs");
	lower_nest_release(&nest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(affine_axes_are_one_job),
		cmocka_unit_test(loops_that_run_on_are_merged),
		cmocka_unit_test(reversed_axes_run_on_too),
		cmocka_unit_test(a_source_that_goes_backward_keeps_its_negative_step),
		cmocka_unit_test(loops_come_in_the_order_of_the_destination),
		cmocka_unit_test(the_order_of_the_axes_is_kept_when_asked_for),
		cmocka_unit_test(an_axis_of_one_value_is_no_loop),
		cmocka_unit_test(one_point_is_a_job_without_loops),
		cmocka_unit_test(an_empty_axis_makes_no_job),
		cmocka_unit_test(packing_takes_one_window_on_the_source),
		cmocka_unit_test(a_condition_that_always_holds_is_dropped),
		cmocka_unit_test(a_condition_that_never_holds_leaves_the_fill),
		cmocka_unit_test(a_limit_of_0_leaves_the_fill),
		cmocka_unit_test(a_destination_that_is_never_stored_to_makes_no_job),
		cmocka_unit_test(a_condition_of_the_destination_shortens_its_loop),
		cmocka_unit_test(equal_conditions_of_two_sources_are_one_window),
		cmocka_unit_test(an_axis_is_split_where_the_divisor_divides_it),
		cmocka_unit_test(a_partial_tile_takes_one_window),
		cmocka_unit_test(divisors_that_divide_each_other_share_a_window),
		cmocka_unit_test(a_window_that_another_implies_is_dropped),
		cmocka_unit_test(radices_with_a_common_factor_are_one_job),
		cmocka_unit_test(a_shifted_axis_is_split_with_a_window),
		cmocka_unit_test(a_reversed_axis_is_split),
		cmocka_unit_test(a_remainder_of_a_remainder_is_split),
		cmocka_unit_test(negative_divisors_round_down),
		cmocka_unit_test(reshape_of_flattened_axes_is_one_job),
		cmocka_unit_test(incompatible_radices_are_one_job),
		cmocka_unit_test(sticks_of_64_elements_are_one_job),
		cmocka_unit_test(pixel_shuffle_is_one_job),
		cmocka_unit_test(im2col_with_padding_stride_and_dilation_takes_two_windows),
		cmocka_unit_test(im2col_as_a_matrix_is_one_job),
		cmocka_unit_test(im2col_of_a_blocked_image_is_one_job),
		cmocka_unit_test(a_quotient_that_leaves_half_of_its_box_idle_is_sliced),
		cmocka_unit_test(a_quotient_that_leaves_less_idle_takes_a_window),
		cmocka_unit_test(what_cannot_be_proved_with_windows_is_sliced),
		cmocka_unit_test(what_stays_in_its_slot_is_proved),
		cmocka_unit_test(reflect_padding_is_three_jobs_without_windows),
		cmocka_unit_test(reflect_padding_by_maxima_is_three_jobs),
		cmocka_unit_test(clamped_indices_of_two_axes_are_nine_jobs),
		cmocka_unit_test(a_comparison_of_two_axes_is_two_jobs_with_windows),
		cmocka_unit_test(equality_and_logic_in_an_index_are_sliced),
		cmocka_unit_test(a_comparison_is_a_number_in_sums),
		cmocka_unit_test(a_number_counts_as_a_truth_value),
		cmocka_unit_test(a_triangular_index_takes_a_table),
		cmocka_unit_test(a_table_is_over_the_axes_that_need_it),
		cmocka_unit_test(a_table_can_be_the_index_of_the_destination),
		cmocka_unit_test(a_product_with_a_short_axis_is_sliced),
		cmocka_unit_test(a_division_by_an_axis_is_sliced),
		cmocka_unit_test(a_condition_with_a_product_is_sliced),
		cmocka_unit_test(a_comparison_beside_a_table_is_sliced_all_the_same),
		cmocka_unit_test(many_pieces_give_way_to_a_table),
		cmocka_unit_test(a_table_is_widened_to_what_the_proof_reaches),
		cmocka_unit_test(twelve_axes_that_run_on_are_one_loop),
		cmocka_unit_test(axes_beyond_the_rank_are_sliced),
		cmocka_unit_test(the_shortest_axes_are_sliced),
		cmocka_unit_test(slices_beyond_the_jobs_give_way_to_a_table),
		cmocka_unit_test(conditions_beyond_the_windows_are_sliced),
		cmocka_unit_test(a_gathered_source_keeps_its_index),
		cmocka_unit_test(a_gathered_source_that_never_loads_is_not_indirect),
		cmocka_unit_test(a_gathered_source_is_sliced_where_a_table_is_no_help),
		cmocka_unit_test(an_address_beyond_64_bits_is_refused),
		cmocka_unit_test(a_coefficient_beyond_64_bits_is_refused),
		cmocka_unit_test(an_index_address_beyond_64_bits_is_refused),
		cmocka_unit_test(more_points_than_fit_are_refused),
		cmocka_unit_test(a_window_beyond_64_bits_is_refused),
		cmocka_unit_test(a_table_beyond_its_limit_is_refused),
		cmocka_unit_test(a_gathered_source_with_a_long_product_is_refused),
		cmocka_unit_test(a_condition_with_a_long_product_is_refused),
		cmocka_unit_test(a_name_that_is_no_axis_is_refused),
		cmocka_unit_test(a_division_by_0_is_refused),
		cmocka_unit_test(jobs_beyond_a_submission_are_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
