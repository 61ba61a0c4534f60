// SPDX-License-Identifier: MIT
/*
 * Functions: what is fused with what, and that plans compute what the definitions say. Operations
 * are in test_function_operations.c, text is in test_define_text.c.
 */
#include "function_test.h"

#define SHAPE(...)	((const int64_t[]){ __VA_ARGS__ })

static void start(struct fixture *fixture)
{
	fixture_start(fixture, 1);
}

static void add_map(struct fixture *fixture, const char *result, const char *source,
		    const char *text, const uint64_t *padding)
{
	struct accel_map *map;

	expect_ok(accel_map_parse(text, &map, &error));
	expect_ok(accel_function_map(fixture->function, result, source, map, padding, &error));
	accel_map_unref(map);
}

/* Fusion ----------------------------------------------------------------------------------- */

static void chain_of_maps_is_one_job(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	fixture_input(&fixture, "x", ACCEL_DTYPE_F32, 4, SHAPE(2, 30, 5, 6), NULL, 0);
	add_map(&fixture, "a", "x", "(n, c, h, w) -> (n, h, w, c)", NULL);
	add_map(&fixture, "b", "a", "(n, h, w, c) -> (n, h, c//16, w, c%16)", NULL);
	add_map(&fixture, "c", "b", "(n, h, o, w, i) -> (o, n, i, h, w)", NULL);
	fixture_output(&fixture, "c", NULL, NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.num_jobs, 1);
	assert_int_equal(fixture.info.passes, 1);
	assert_int_equal(fixture.info.passes_unfused, 3);
	assert_int_equal(fixture.info.temporary_bytes, 0);
	fixture_finish(&fixture);
}

static void there_and_back_moves_nothing(void **state)
{
	const struct accel_plan_options options = { .may_alias = true };
	struct accel_plan *plan;
	struct fixture fixture;
	uint32_t input = 7;

	(void)state;
	start(&fixture);
	fixture_input(&fixture, "x", ACCEL_DTYPE_F32, 4, SHAPE(2, 3, 4, 5), NULL, 0);
	add_map(&fixture, "y", "x", "(n, c, h, w) -> (n, h, w, c)", NULL);
	add_map(&fixture, "z", "y", "(n, h, w, c) -> (n, c, h, w)", NULL);
	fixture_output(&fixture, "z", NULL, NULL);
	fixture_check_both(&fixture);
	expect_ok(accel_plan_create(fixture.function, &options, &plan, &error));
	accel_plan_info(plan, &fixture.info);
	assert_int_equal(fixture.info.num_jobs, 0);
	assert_int_equal(fixture.info.passes, 0);
	assert_int_equal(fixture.info.passes_unfused, 2);
	assert_int_equal(fixture.info.map_class, ACCEL_CLASS_IDENTITY);
	assert_int_equal(accel_plan_alias(plan, 0, &input), 0);
	assert_int_equal(input, 0);
	assert_string_equal(accel_plan_map(plan), "(n, c, h, w) -> (n, c, h, w)");
	accel_plan_unref(plan);
	fixture_finish(&fixture);
}

static void arithmetic_is_fused_into_the_move(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	fixture_input(&fixture, "x", ACCEL_DTYPE_F32, 4, SHAPE(2, 3, 4, 5), NULL, 0);
	fixture_input(&fixture, "s", ACCEL_DTYPE_F32, 1, SHAPE(3), NULL, 0);
	fixture_input(&fixture, "t", ACCEL_DTYPE_F32, 1, SHAPE(3), NULL, 0);
	fixture_define(&fixture, "y[n,h,w,c] = relu(x[n,c,h,w] * s[c] + t[c])");
	fixture_define(&fixture, "z[n,h,w,c] = u8(y[n,h,w,c] * 0.5 + 3)");
	fixture_output(&fixture, "z", NULL, NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.num_jobs, 1);
	assert_int_equal(fixture.info.map_class,
			 ACCEL_CLASS_COMPUTING | ACCEL_CLASS_EXPANDING);
	assert_null(accel_plan_map(fixture.plan));
	fixture_finish(&fixture);
}

static void value_used_twice_is_computed_once(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	fixture_input(&fixture, "x", ACCEL_DTYPE_I32, 1, SHAPE(9), NULL, 0);
	fixture_define(&fixture, "a[i] = x[i] * 3");
	fixture_define(&fixture, "b[i<8] = a[i] + a[i+1]");
	fixture_output(&fixture, "b", NULL, NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.passes, 2);
	fixture_finish(&fixture);
}

static void view_used_twice_is_no_pass(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	fixture_input(&fixture, "x", ACCEL_DTYPE_I32, 2, SHAPE(9, 4), NULL, 0);
	fixture_define(&fixture, "a[i,j] = x[j,i]");
	fixture_define(&fixture, "b[i,j<8] = a[i,j] + a[i,j+1]");
	fixture_output(&fixture, "b", NULL, NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.passes, 1);
	fixture_finish(&fixture);
}

static void output_that_others_use_is_read_where_it_is(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	fixture_input(&fixture, "x", ACCEL_DTYPE_I32, 2, SHAPE(5, 20), NULL, 0);
	fixture_define(&fixture, "a[i,j] = x[i,j] * 3");
	fixture_define(&fixture, "b[j,i] = a[i,j] + 1");
	fixture_output(&fixture, "a", "(i, j) -> (j//16, i, j%16)", NULL);
	fixture_output(&fixture, "b", NULL, NULL);
	fixture_output(&fixture, "a", NULL, NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.passes, 3);
	assert_int_equal(fixture.info.temporary_bytes, 0);
	fixture_finish(&fixture);
}

/* Padding ---------------------------------------------------------------------------------- */

static void equal_paddings_are_one_job(void **state)
{
	static const uint64_t padding[2] = { 9, 0 };
	struct fixture fixture;

	(void)state;
	start(&fixture);
	fixture_input(&fixture, "x", ACCEL_DTYPE_U16, 2, SHAPE(5, 6), NULL, 0);
	expect_ok(accel_function_pad(fixture.function, "a", "x", SHAPE(1, 2), SHAPE(0, 3), padding,
				     &error));
	add_map(&fixture, "b", "a", "(i, j) -> (j//4, i, j%4)", padding);
	fixture_output(&fixture, "b", NULL, NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.num_jobs, 1);
	assert_int_equal(fixture.info.map_class, ACCEL_CLASS_FILLING);
	fixture_finish(&fixture);
}

static void different_paddings_are_one_pass(void **state)
{
	static const uint64_t nine[2] = { 9, 0 }, seven[2] = { 7, 0 };
	struct fixture fixture;

	(void)state;
	start(&fixture);
	fixture_input(&fixture, "x", ACCEL_DTYPE_RAW16, 2, SHAPE(5, 6), NULL, 0);
	expect_ok(accel_function_pad(fixture.function, "a", "x", SHAPE(1, 2), SHAPE(0, 3), nine,
				     &error));
	expect_ok(accel_function_pad(fixture.function, "b", "a", SHAPE(2, 0), SHAPE(0, 1), seven,
				     &error));
	fixture_output(&fixture, "b", NULL, NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.passes, 1);
	assert_int_equal(fixture.info.num_jobs, 1);
	fixture_finish(&fixture);
}

static void different_paddings_of_wide_elements_take_the_box_apart(void **state)
{
	static const uint64_t nine[2] = { 9, 1 }, seven[2] = { 7, 2 };
	struct fixture fixture;

	(void)state;
	start(&fixture);
	fixture_input(&fixture, "x", ACCEL_DTYPE_RAW128, 2, SHAPE(5, 6), NULL, 0);
	expect_ok(accel_function_pad(fixture.function, "a", "x", SHAPE(1, 2), SHAPE(0, 3), nine,
				     &error));
	expect_ok(accel_function_pad(fixture.function, "b", "a", SHAPE(2, 0), SHAPE(0, 1), seven,
				     &error));
	fixture_output(&fixture, "b", NULL, NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.passes, 1);
	fixture_finish(&fixture);
}

static void computed_values_are_padded(void **state)
{
	static const uint64_t padding[2] = { 0x3f800000, 0 };
	struct fixture fixture;

	(void)state;
	start(&fixture);
	fixture_input(&fixture, "x", ACCEL_DTYPE_F32, 2, SHAPE(5, 6), NULL, 0);
	fixture_define(&fixture, "a[i,j] = relu(x[i,j]) + 4");
	expect_ok(accel_function_pad(fixture.function, "b", "a", SHAPE(1, 2), SHAPE(0, 3), padding,
				     &error));
	fixture_output(&fixture, "b", NULL, NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.num_jobs, 1);
	fixture_finish(&fixture);
}

static void output_with_padding_is_written_once(void **state)
{
	static const uint64_t padding[2] = { 0x55, 0 };
	struct fixture fixture;

	(void)state;
	start(&fixture);
	fixture_input(&fixture, "x", ACCEL_DTYPE_U8, 4, SHAPE(2, 30, 3, 4), NULL, 0);
	fixture_output(&fixture, "x", "NCHW16c", padding);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.num_jobs, 1);
	assert_int_equal(fixture.info.bytes_written, 2 * 32 * 3 * 4);
	assert_int_equal(fixture.info.map_class, ACCEL_CLASS_FILLING);
	fixture_finish(&fixture);
}

static void layout_is_unpacked_and_packed_in_one_job(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	fixture_input(&fixture, "x", ACCEL_DTYPE_F16, 4, SHAPE(2, 30, 3, 4), "NCHW16c", 0);
	fixture_output(&fixture, "x", "NCHW8c", NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.num_jobs, 1);
	fixture_finish(&fixture);
}

static void joined_output_with_padding_is_filled(void **state)
{
	static const uint64_t padding[2] = { 0x55, 0 };
	static const char *const sources[] = { "x", "y" };
	struct fixture fixture;

	(void)state;
	start(&fixture);
	fixture_input(&fixture, "x", ACCEL_DTYPE_U8, 4, SHAPE(2, 10, 3, 4), NULL, 0);
	fixture_input(&fixture, "y", ACCEL_DTYPE_U8, 4, SHAPE(2, 17, 3, 4), NULL, 0);
	expect_ok(accel_function_concat(fixture.function, "z", 2, sources, 1, &error));
	fixture_output(&fixture, "z", "NCHW16c", padding);
	fixture_check_both(&fixture);
	fixture_finish(&fixture);
}

/* Conditions ------------------------------------------------------------------------------- */

static void condition_that_is_no_box_takes_it_apart(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	fixture_input(&fixture, "x", ACCEL_DTYPE_I16, 2, SHAPE(7, 8), NULL, 0);
	fixture_define(&fixture, "y[i,j] = select(i < 2 or i >= 5 and j != 3, x[i,j], 11)");
	fixture_output(&fixture, "y", NULL, NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.passes, 1);
	fixture_finish(&fixture);
}

static void choice_between_values_is_fused(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	fixture_input(&fixture, "x", ACCEL_DTYPE_I16, 2, SHAPE(7, 8), NULL, 0);
	fixture_input(&fixture, "y", ACCEL_DTYPE_I16, 2, SHAPE(7, 8), NULL, 0);
	fixture_define(&fixture, "z[i,j] = select(i < 3 and j >= 2, x[i,j] + 1, y[i,j] * 2)");
	fixture_output(&fixture, "z", NULL, NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.num_jobs, 1);
	fixture_finish(&fixture);
}

static void choice_that_guards_both_values_takes_the_box_apart(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	fixture_input(&fixture, "x", ACCEL_DTYPE_I16, 1, SHAPE(7), NULL, 0);
	fixture_input(&fixture, "y", ACCEL_DTYPE_I16, 1, SHAPE(4), NULL, 0);
	fixture_define(&fixture, "z[i<11] = select(i < 7, x[i] + 1, y[i - 7] * 2)");
	fixture_output(&fixture, "z", NULL, NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.num_jobs, 2);
	assert_int_equal(fixture.info.passes, 1);
	fixture_finish(&fixture);
}

/* Limits ----------------------------------------------------------------------------------- */

static void more_than_four_sources_are_cut(void **state)
{
	struct fixture fixture;
	char name[] = "a";

	(void)state;
	start(&fixture);
	for (; name[0] <= 'g'; name[0]++)
		fixture_input(&fixture, name, ACCEL_DTYPE_I32, 2, SHAPE(5, 6), NULL, 0);
	fixture_define(&fixture, "y[i,j] = a[i,j] * b[i,j] - (c[i,j] + d[i,0]*e[i,j]) * "
				 "(f[i,j] + g[i,j])");
	fixture_output(&fixture, "y", NULL, NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.passes, 3);
	assert_string_equal(accel_plan_note(fixture.plan, 0),
			    "a part of y is computed in a pass of its own: a job has no more "
			    "sources");
	fixture_finish(&fixture);
}

static void more_than_sixteen_instructions_are_cut(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	fixture_input(&fixture, "x", ACCEL_DTYPE_I32, 2, SHAPE(5, 6), NULL, 0);
	fixture_define(&fixture, "y[i,j] = ((((((((x[i,j] + 1) * 3 + 5) * 7 - 2) * 5 + 1) * 3 + 5) "
				 "* 9 - 4) * 5 + 1) * 3 + 5) * 7");
	fixture_output(&fixture, "y", NULL, NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.passes, 2);
	assert_string_equal(accel_plan_note(fixture.plan, 0),
			    "a part of y is computed in a pass of its own: a job has no more "
			    "instructions");
	fixture_finish(&fixture);
}

/* Gathers ---------------------------------------------------------------------------------- */

static void gather_is_fused_with_views(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	fixture_input(&fixture, "table", ACCEL_DTYPE_F32, 2, SHAPE(10, 6), NULL, 0);
	fixture_input(&fixture, "rows", ACCEL_DTYPE_I64, 1, SHAPE(7), NULL, 3);
	fixture_define(&fixture, "t[i,j] = table[j, i]");
	fixture_define(&fixture, "r[i<7] = rows[6 - i]");
	fixture_define(&fixture, "g[i,j] = t[2*r[i]+1, j]");
	fixture_define(&fixture, "h[j,i] = g[i,j] * 2");
	fixture_output(&fixture, "h", NULL, NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.num_jobs, 1);
	assert_int_equal(fixture.info.map_class,
			 ACCEL_CLASS_INDEXED | ACCEL_CLASS_COMPUTING);
	fixture_finish(&fixture);
}

static void gather_from_a_split_axis_is_copied_first(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	fixture_input(&fixture, "x", ACCEL_DTYPE_F32, 4, SHAPE(2, 30, 3, 4), "NCHW16c", 0);
	fixture_input(&fixture, "c", ACCEL_DTYPE_U8, 1, SHAPE(7), NULL, 30);
	fixture_define(&fixture, "y[n,i,h,w] = x[n,c[i],h,w]");
	fixture_output(&fixture, "y", NULL, NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.passes, 2);
	assert_string_equal(accel_plan_note(fixture.plan, 0),
			    "x is copied to row-major order first: loaded indices do not go "
			    "through its layout");
	fixture_finish(&fixture);
}

static void gather_from_a_padded_tensor_is_two_passes(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	fixture_input(&fixture, "x", ACCEL_DTYPE_F32, 1, SHAPE(5), NULL, 0);
	fixture_input(&fixture, "r", ACCEL_DTYPE_U8, 1, SHAPE(7), NULL, 8);
	expect_ok(accel_function_pad(fixture.function, "p", "x", SHAPE(1), SHAPE(2), NULL,
				     &error));
	fixture_define(&fixture, "y[i] = p[r[i]]");
	fixture_output(&fixture, "y", NULL, NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.passes, 2);
	fixture_finish(&fixture);
}

static void gather_of_a_gather_is_two_passes(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	fixture_input(&fixture, "x", ACCEL_DTYPE_F32, 2, SHAPE(5, 6), NULL, 0);
	fixture_input(&fixture, "r", ACCEL_DTYPE_U8, 1, SHAPE(7), NULL, 5);
	fixture_input(&fixture, "s", ACCEL_DTYPE_U8, 1, SHAPE(3), NULL, 6);
	fixture_define(&fixture, "a[i,j] = x[r[i], j]");
	fixture_define(&fixture, "b[i,j] = a[i, s[j]]");
	fixture_output(&fixture, "b", NULL, NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.passes, 2);
	fixture_finish(&fixture);
}

static void scatter_fills_and_stores(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	fixture_input(&fixture, "x", ACCEL_DTYPE_F32, 2, SHAPE(1, 6), NULL, 0);
	fixture_input(&fixture, "r", ACCEL_DTYPE_I8, 1, SHAPE(1), NULL, 5);
	fixture_define(&fixture, "s[r[i]<5, j] = x[i,j] + 1");
	fixture_define(&fixture, "t[j, i] = s[i, j]");
	fixture_output(&fixture, "t", NULL, NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.map_class, ACCEL_CLASS_INDEXED | ACCEL_CLASS_FILLING);
	fixture_finish(&fixture);
}

/* Classes ---------------------------------------------------------------------------------- */

static void expect_class(const char *text, uint32_t expected_class, const char *expected_map)
{
	struct fixture fixture;

	start(&fixture);
	fixture_input(&fixture, "x", ACCEL_DTYPE_I32, 2, SHAPE(4, 6), NULL, 0);
	fixture_define(&fixture, text);
	fixture_output(&fixture, "y", NULL, NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.map_class, expected_class);
	assert_string_equal(accel_plan_map(fixture.plan), expected_map);
	assert_string_equal(accel_plan_chain(fixture.plan), text);
	fixture_finish(&fixture);
}

static void plan_says_the_class(void **state)
{
	(void)state;
	expect_class("y[i,j] = x[i,j]", ACCEL_CLASS_IDENTITY, "(i, j) -> (i, j)");
	expect_class("y[j,i] = x[i,j]", ACCEL_CLASS_BIJECTIVE, "(j, i) -> (i, j)");
	expect_class("y[i<8,j] = x[i//2,j]", ACCEL_CLASS_EXPANDING, "(i, j) -> (i//2, j)");
	expect_class("y[i<2,j] = x[2*i,j]", ACCEL_CLASS_SELECTING, "(i, j) -> (2*i, j)");
	expect_class("y[i<8,j] = x[i//4,j]", ACCEL_CLASS_EXPANDING | ACCEL_CLASS_SELECTING,
		     "(i, j) -> (i//4, j)");
	expect_class("y[i<6,j] = select(0 < i and i < 5, x[i-1,j], 3)", ACCEL_CLASS_FILLING,
		     "(i, j) -> (i - 1, j)");
	expect_class("y[i,j] = x[i,j] + 1", ACCEL_CLASS_COMPUTING, "(i, j) -> (i, j)");
}

static void large_map_is_analysed(void **state)
{
	struct accel_plan *plan;
	struct fixture fixture;

	(void)state;
	start(&fixture);
	expect_ok(accel_function_add_input(fixture.function, "x", ACCEL_DTYPE_F32, 4,
					   SHAPE(1, 64, 56, 56), NULL, &error));
	expect_ok(accel_function_permute(fixture.function, "p", "x",
					 (const uint32_t[]){ 0, 2, 3, 1 }, &error));
	expect_ok(accel_function_reshape(fixture.function, "y", "p", 3, SHAPE(1, 3136, -1),
					 &error));
	expect_ok(accel_function_add_output(fixture.function, "y", NULL, NULL, &error));
	expect_ok(accel_plan_create(fixture.function, NULL, &plan, &error));
	accel_plan_info(plan, &fixture.info);
	assert_int_equal(fixture.info.num_jobs, 1);
	assert_int_equal(fixture.info.temporary_bytes, 0);
	assert_int_equal(fixture.info.map_class, ACCEL_CLASS_BIJECTIVE);
	accel_plan_unref(plan);
	fixture_finish(&fixture);
}

/* Refusals --------------------------------------------------------------------------------- */

static void nothing_asked_for_is_refused(void **state)
{
	struct accel_plan *plan;
	struct fixture fixture;

	(void)state;
	start(&fixture);
	expect_failure(accel_plan_create(fixture.function, NULL, &plan, &error), -EINVAL,
		       "plan: nothing is asked for of the function");
	assert_null(plan);
	fixture_finish(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chain_of_maps_is_one_job),
		cmocka_unit_test(there_and_back_moves_nothing),
		cmocka_unit_test(arithmetic_is_fused_into_the_move),
		cmocka_unit_test(value_used_twice_is_computed_once),
		cmocka_unit_test(view_used_twice_is_no_pass),
		cmocka_unit_test(output_that_others_use_is_read_where_it_is),
		cmocka_unit_test(equal_paddings_are_one_job),
		cmocka_unit_test(different_paddings_are_one_pass),
		cmocka_unit_test(different_paddings_of_wide_elements_take_the_box_apart),
		cmocka_unit_test(computed_values_are_padded),
		cmocka_unit_test(output_with_padding_is_written_once),
		cmocka_unit_test(layout_is_unpacked_and_packed_in_one_job),
		cmocka_unit_test(joined_output_with_padding_is_filled),
		cmocka_unit_test(condition_that_is_no_box_takes_it_apart),
		cmocka_unit_test(choice_between_values_is_fused),
		cmocka_unit_test(choice_that_guards_both_values_takes_the_box_apart),
		cmocka_unit_test(more_than_four_sources_are_cut),
		cmocka_unit_test(more_than_sixteen_instructions_are_cut),
		cmocka_unit_test(gather_is_fused_with_views),
		cmocka_unit_test(gather_from_a_split_axis_is_copied_first),
		cmocka_unit_test(gather_from_a_padded_tensor_is_two_passes),
		cmocka_unit_test(gather_of_a_gather_is_two_passes),
		cmocka_unit_test(scatter_fills_and_stores),
		cmocka_unit_test(plan_says_the_class),
		cmocka_unit_test(large_map_is_analysed),
		cmocka_unit_test(nothing_asked_for_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
