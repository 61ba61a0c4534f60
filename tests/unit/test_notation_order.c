// SPDX-License-Identifier: MIT
/*
 * Dimension order, and what all notations do alike with axes.
 */
#include "notation_test.h"

static void order_prints_as_it_is_written(void **state)
{
	(void)state;
	prints("NHWC", "NHWC");
	prints("order:NHWC", "NHWC");
	prints("A", "A");
	prints("", "");
}

static void order_stores_axes_as_listed(void **state)
{
	(void)state;
	makes_as("NHWC", "NCHW", SHAPE(1, 64, 56, 56), SHAPE(1, 56, 56, 64));
	makes("NHWC", SHAPE(1, 56, 56, 64), SHAPE(1, 56, 56, 64));
}

static void elements_are_where_the_reference_says(void **state)
{
	(void)state;
	assert_int_equal(element_at("NCHW", "NCHW", SHAPE(1, 64, 56, 56), SHAPE(0, 32, 28, 28)),
			 101948);
	assert_int_equal(element_at("NHWC", "NCHW", SHAPE(1, 64, 56, 56), SHAPE(0, 32, 28, 28)),
			 102176);
	assert_int_equal(element_at("IJ", "IJ", SHAPE(64, 128), SHAPE(10, 15)), 10 * 128 + 15);
	assert_int_equal(element_at("JI", "IJ", SHAPE(64, 128), SHAPE(10, 15)), 15 * 64 + 10);
}

static void strides_are_those_of_each_logical_axis(void **state)
{
	struct accel_layout *layout = parse_as("NHWC", "NCHW");
	int64_t strides[4], offset;

	(void)state;
	assert_int_equal(accel_layout_strides(layout, SHAPE(1, 64, 56, 56), strides, &offset,
					      NULL), 0);
	expect_numbers("strides", 4, strides, SHAPE(200704, 1, 3584, 64));
	assert_int_equal(offset, 0);
	accel_layout_unref(layout);
}

static void physical_shape_is_told_without_an_element_type(void **state)
{
	struct accel_layout *layout = parse_as("NHWC", "NCHW");
	int64_t shape[4];

	(void)state;
	assert_int_equal(accel_layout_physical_shape(layout, SHAPE(1, 64, 56, 56), shape, NULL), 0);
	expect_numbers("shape", 4, shape, SHAPE(1, 56, 56, 64));
	accel_layout_unref(layout);
}

static void split_axis_that_runs_on_has_a_stride(void **state)
{
	struct accel_layout *layout = parse("NC4c");
	int64_t strides[2], offset;

	(void)state;
	assert_int_equal(accel_layout_strides(layout, SHAPE(3, 6), strides, &offset, NULL), 0);
	expect_numbers("strides", 2, strides, SHAPE(8, 1));
	accel_layout_unref(layout);
}

static void strides_of_a_split_axis_are_refused(void **state)
{
	struct accel_layout *layout = parse("CN4c");
	struct accel_error error = { 0 };
	int64_t strides[2], offset;

	(void)state;
	assert_int_equal(accel_layout_strides(layout, SHAPE(8, 3), strides, &offset, &error),
			 -ENOTSUP);
	assert_non_null(strstr(error.message, "CN4c"));
	accel_layout_unref(layout);
}

static void physical_shape_of_a_split_axis_is_refused(void **state)
{
	struct accel_layout *layout = parse("NC4c");
	int64_t shape[2];

	(void)state;
	assert_int_equal(accel_layout_physical_shape(layout, SHAPE(3, 8), shape, NULL), -ENOTSUP);
	accel_layout_unref(layout);
}

static void empty_shape_has_strides_and_no_bytes(void **state)
{
	struct accel_layout_description description =
		describe_as("NHWC", NULL, ACCEL_DTYPE_U8, SHAPE(0, 3, 4, 5));

	(void)state;
	expect_numbers("strides", 4, description.strides, SHAPE(60, 20, 5, 1));
	assert_int_equal(description.bytes, 0);
}

static void lower_case_letter_is_refused(void **state)
{
	(void)state;
	refuses("order:NhWC", 8, "found 'h'");
}

static void repeated_axis_is_refused(void **state)
{
	(void)state;
	refuses("NHNC", 3, "each axis once");
}

static void seventeen_axes_are_refused(void **state)
{
	(void)state;
	refuses("ABCDEFGHIJKLMNOPQ", 17, "at most 16");
}

static void axis_that_is_not_logical_is_refused(void **state)
{
	(void)state;
	refuses_as("NXWC", "NHWC", 2, "axis X is none of \"NHWC\"");
}

static void missing_axis_is_refused(void **state)
{
	(void)state;
	refuses_as("NHW", "NHWC", 4, "axis C of \"NHWC\" is missing");
}

static void malformed_axes_are_refused(void **state)
{
	(void)state;
	/* a column would be taken for one of the notation */
	refuses_as("NHWC", "NHwC", 0, "axes: layout: found 'w' at column 3");
}

static void axes_of_another_rank_are_refused(void **state)
{
	(void)state;
	refuses_as("strides:1,2", "ABC", 0, "it has 2 axes");
}

static void nothing_is_refused(void **state)
{
	struct accel_layout *layout;

	(void)state;
	assert_int_equal(accel_layout_parse(NULL, NULL, &layout, NULL), -EINVAL);
}

static void hostile_byte_is_not_repeated(void **state)
{
	(void)state;
	refuses("order:N\x1b[2J", 8, "byte 0x1b");
}

static void shape_of_another_rank_is_refused(void **state)
{
	(void)state;
	cannot_place("NHWC", ACCEL_DTYPE_F32, SHAPE(1, 2, 3), -EINVAL,
		     "the shape has 3, expected 4");
}

static void negative_extent_is_refused(void **state)
{
	(void)state;
	cannot_place("NC", ACCEL_DTYPE_F32, SHAPE(1, -2), -EINVAL, "extent 1 is -2");
}

static void too_many_bytes_are_refused(void **state)
{
	(void)state;
	cannot_place("NC", ACCEL_DTYPE_F32, SHAPE(INT64_C(1) << 31, INT64_C(1) << 31), -EOVERFLOW,
		     "63 bits");
}

static void unknown_element_type_is_refused(void **state)
{
	(void)state;
	cannot_place("NC", (enum accel_dtype)0x7f, SHAPE(1, 2), -EINVAL, "no element type 0x7f");
}

static void element_outside_of_the_shape_is_refused(void **state)
{
	struct accel_layout *layout = parse("NC");
	struct accel_error error = { 0 };
	int64_t element;

	(void)state;
	assert_int_equal(accel_layout_element(layout, ACCEL_DTYPE_U8, SHAPE(2, 3),
					      (const int64_t[]){ 1, 3 }, &element, &error),
			 -ERANGE);
	assert_non_null(strstr(error.message, "number 1 is 3"));
	accel_layout_unref(layout);
}

static void order_is_expressed_from_other_notations(void **state)
{
	(void)state;
	expresses("xla:{0,1}", NULL, SHAPE(3, 5), "order", "BA");
	expresses("strides:1,3", "NC", SHAPE(3, 5), "order", "CN");
	expresses("stick", NULL, SHAPE(3, 5), "order", NULL);
	expresses("CN4c", NULL, SHAPE(8, 3), "order", NULL);
	expresses("NC4c", NULL, SHAPE(3, 8), "order", NULL);
}

static void unknown_notation_is_refused(void **state)
{
	struct accel_layout *layout = parse("NC"), *result;
	struct accel_error error = { 0 };

	(void)state;
	assert_int_equal(accel_layout_express(layout, ACCEL_DTYPE_U8, SHAPE(2, 3), "cuda",
					      &result, &error), -EINVAL);
	assert_non_null(strstr(error.message, "cuda"));
	accel_layout_unref(layout);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_prints_as_it_is_written),
		cmocka_unit_test(order_stores_axes_as_listed),
		cmocka_unit_test(elements_are_where_the_reference_says),
		cmocka_unit_test(strides_are_those_of_each_logical_axis),
		cmocka_unit_test(physical_shape_is_told_without_an_element_type),
		cmocka_unit_test(split_axis_that_runs_on_has_a_stride),
		cmocka_unit_test(strides_of_a_split_axis_are_refused),
		cmocka_unit_test(physical_shape_of_a_split_axis_is_refused),
		cmocka_unit_test(empty_shape_has_strides_and_no_bytes),
		cmocka_unit_test(lower_case_letter_is_refused),
		cmocka_unit_test(repeated_axis_is_refused),
		cmocka_unit_test(seventeen_axes_are_refused),
		cmocka_unit_test(axis_that_is_not_logical_is_refused),
		cmocka_unit_test(missing_axis_is_refused),
		cmocka_unit_test(malformed_axes_are_refused),
		cmocka_unit_test(axes_of_another_rank_are_refused),
		cmocka_unit_test(nothing_is_refused),
		cmocka_unit_test(hostile_byte_is_not_repeated),
		cmocka_unit_test(shape_of_another_rank_is_refused),
		cmocka_unit_test(negative_extent_is_refused),
		cmocka_unit_test(too_many_bytes_are_refused),
		cmocka_unit_test(unknown_element_type_is_refused),
		cmocka_unit_test(element_outside_of_the_shape_is_refused),
		cmocka_unit_test(order_is_expressed_from_other_notations),
		cmocka_unit_test(unknown_notation_is_refused),
	};

	return cmocka_run_group_tests_name("notation_order", tests, NULL, NULL);
}
