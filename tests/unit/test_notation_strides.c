// SPDX-License-Identifier: MIT
/*
 * Strides and offset, as NumPy and PyTorch have them.
 */
#include "notation_test.h"

static void strides_print_as_they_are_written(void **state)
{
	(void)state;
	prints("strides:12,1,3", "strides:12,1,3");
	prints("strides:12,-1,0@5", "strides:12,-1,0@5");
	prints("strides:12@0", "strides:12");
	prints("strides:[12,1]", "strides:12,1");
	prints("strides:", "strides:");
	prints("strides:@7", "strides:@7");
	prints("strides:-9223372036854775808", "strides:-9223372036854775808");
}

static void element_is_the_sum_of_products(void **state)
{
	(void)state;
	assert_int_equal(element_at("strides:200,1,3@7", NULL, SHAPE(2, 3, 4), SHAPE(1, 2, 3)),
			 7 + 200 + 2 + 9);
	/* x of (10,20), sliced [2:8,5:15] */
	assert_int_equal(element_at("strides:20,1@45", NULL, SHAPE(6, 10), SHAPE(0, 0)), 45);
}

static void bytes_reach_to_the_last_element(void **state)
{
	struct accel_layout_description description =
		describe_as("strides:200,1@7", NULL, ACCEL_DTYPE_F32, SHAPE(2, 3));

	(void)state;
	assert_int_equal(description.offset, 7);
	assert_int_equal(description.bytes, 4 * (7 + 200 + 2 + 1));
	expect_numbers("strides", 2, description.strides, SHAPE(200, 1));
	expect_numbers("shape", 2, description.physical_shape, SHAPE(2, 3));
}

static void negative_stride_walks_backwards(void **state)
{
	struct accel_layout_description description =
		describe_as("strides:-1@9", NULL, ACCEL_DTYPE_U8, SHAPE(10));

	(void)state;
	assert_int_equal(description.bytes, 10);
	assert_int_equal(element_at("strides:-1@9", NULL, SHAPE(10), SHAPE(9)), 0);
}

static void stride_of_zero_repeats_an_element(void **state)
{
	struct accel_layout_description description =
		describe_as("strides:0,1", NULL, ACCEL_DTYPE_U8, SHAPE(4, 3));

	(void)state;
	assert_int_equal(description.bytes, 3);
}

static void empty_shape_reaches_nothing(void **state)
{
	struct accel_layout_description description =
		describe_as("strides:-5,1", NULL, ACCEL_DTYPE_U8, SHAPE(4, 0));

	(void)state;
	assert_int_equal(description.bytes, 0);
}

static void element_below_the_start_is_refused(void **state)
{
	(void)state;
	cannot_place("strides:-1@8", ACCEL_DTYPE_U8, SHAPE(10), -ERANGE, "lowest element is at -1");
}

static void reach_beyond_63_bits_is_refused(void **state)
{
	(void)state;
	cannot_place("strides:9223372036854775807,1", ACCEL_DTYPE_U8, SHAPE(3, 2), -EOVERFLOW,
		     "63 bits");
	cannot_place("strides:1@9223372036854775807", ACCEL_DTYPE_U8, SHAPE(1), -EOVERFLOW,
		     "63 bits");
}

static void malformed_strides_are_refused(void **state)
{
	(void)state;
	refuses("strides:a", 9, "found 'a'");
	refuses("strides:1,", 11, "found the end");
	refuses("strides:1,,2", 11, "found ','");
	refuses("strides:1 2", 10, "found ' '");
	refuses("strides:+1", 9, "found '+'");
	refuses("strides:--1", 10, "found '-'");
	refuses("strides:[1,2", 13, "',' or ']'");
	refuses("strides:1@", 11, "found the end");
	refuses("strides:1@2,3", 12, "found ','");
}

static void number_beyond_64_bits_is_refused(void **state)
{
	(void)state;
	refuses("strides:9223372036854775808", 9, "does not fit 64 bits");
	refuses("strides:-9223372036854775809", 9, "does not fit 64 bits");
	/* 2^64 + 1 */
	refuses("strides:18446744073709551617", 9, "does not fit 64 bits");
}

static void seventeen_strides_are_refused(void **state)
{
	(void)state;
	refuses("strides:1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", 41, "at most 16");
}

static void strides_are_expressed_from_other_notations(void **state)
{
	(void)state;
	expresses("NHWC", "NCHW", SHAPE(1, 64, 56, 56), "strides", "strides:200704,1,3584,64");
	expresses("NC4c", NULL, SHAPE(3, 8), "strides", "strides:8,1");
	expresses("CN4c", NULL, SHAPE(8, 3), "strides", NULL);
	/* the elements of a row of six end where its padding does not */
	expresses("NC4c", NULL, SHAPE(3, 6), "strides", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strides_print_as_they_are_written),
		cmocka_unit_test(element_is_the_sum_of_products),
		cmocka_unit_test(bytes_reach_to_the_last_element),
		cmocka_unit_test(negative_stride_walks_backwards),
		cmocka_unit_test(stride_of_zero_repeats_an_element),
		cmocka_unit_test(empty_shape_reaches_nothing),
		cmocka_unit_test(element_below_the_start_is_refused),
		cmocka_unit_test(reach_beyond_63_bits_is_refused),
		cmocka_unit_test(malformed_strides_are_refused),
		cmocka_unit_test(number_beyond_64_bits_is_refused),
		cmocka_unit_test(seventeen_strides_are_refused),
		cmocka_unit_test(strides_are_expressed_from_other_notations),
	};

	return cmocka_run_group_tests_name("notation_strides", tests, NULL, NULL);
}
