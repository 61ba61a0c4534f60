// SPDX-License-Identifier: MIT
/*
 * oneDNN's format tags.
 */
#include "notation_test.h"

static void tags_print_as_they_are_written(void **state)
{
	(void)state;
	prints("onednn:aBcd16b", "onednn:aBcd16b");
	prints("onednn:nChw16c", "onednn:nChw16c");
	prints("onednn:ABcd4b16a4b", "onednn:ABcd4b16a4b");
	prints("onednn:gOIhw16i16o", "onednn:gOIhw16i16o");
	prints("onednn:acdb", "onednn:acdb");
}

static void dimensions_are_in_logical_order_whatever_the_tag(void **state)
{
	(void)state;
	makes("onednn:nhwc", SHAPE(2, 3, 4, 5), SHAPE(2, 4, 5, 3));
	makes("onednn:acdb", SHAPE(2, 3, 4, 5), SHAPE(2, 4, 5, 3));
	makes("onednn:hwio", SHAPE(8, 4, 3, 2), SHAPE(3, 2, 4, 8));
	makes("onednn:ntc", SHAPE(7, 2, 5), SHAPE(2, 7, 5));
}

static void blocks_round_up(void **state)
{
	(void)state;
	makes("onednn:nChw16c", SHAPE(1, 50, 7, 7), SHAPE(1, 4, 7, 7, 16));
	makes("onednn:aBcd16b", SHAPE(1, 50, 7, 7), SHAPE(1, 4, 7, 7, 16));
}

static void repeated_blocks_split_from_the_outermost(void **state)
{
	(void)state;
	makes("onednn:ABcd4b16a4b", SHAPE(20, 30, 3, 3), SHAPE(2, 2, 3, 3, 4, 16, 4));
	maps_to("onednn:AB4b16a4b", SHAPE(32, 32),
		"(a, b) -> (a//16, b//16, b//4%4, a%16, b%4)");
}

static void axes_are_those_of_the_tensor(void **state)
{
	struct accel_layout *layout = parse("onednn:nhwc");

	(void)state;
	assert_string_equal(accel_layout_axes(layout), "NCHW");
	assert_int_equal(accel_layout_rank(layout), 4);
	assert_string_equal(accel_layout_notation(layout), "onednn");
	accel_layout_unref(layout);
	layout = parse("onednn:ba");
	assert_string_equal(accel_layout_axes(layout), "AB");
	accel_layout_unref(layout);
}

static void other_names_may_be_given_to_the_axes(void **state)
{
	struct accel_layout *layout = parse_as("onednn:bA4a", "MK");

	(void)state;
	assert_string_equal(accel_layout_axes(layout), "MK");
	accel_layout_unref(layout);
}

static void lower_case_dimension_with_a_block_is_refused(void **state)
{
	(void)state;
	refuses("onednn:abcd16b", 9, "expected it upper-case");
}

static void upper_case_dimension_without_a_block_is_refused(void **state)
{
	(void)state;
	refuses("onednn:aBcd", 9, "expected it lower-case");
	refuses("onednn:aBCd16b", 10, "dimension C at column 10");
}

static void dimension_that_leaves_a_gap_is_refused(void **state)
{
	(void)state;
	refuses("onednn:abd", 8, "neither");
}

static void letters_of_no_tensor_are_refused(void **state)
{
	(void)state;
	refuses("onednn:nqw", 8, "\"nqw\"");
}

static void repeated_dimension_is_refused(void **state)
{
	(void)state;
	refuses("onednn:aBbd16b", 10, "each dimension once");
}

static void block_of_another_dimension_is_refused(void **state)
{
	(void)state;
	refuses("onednn:aBcd16e", 14, "found 'e'");
	refuses("onednn:aBcd16B", 14, "found 'B'");
	refuses("onednn:aBcd16", 14, "found the end");
}

static void block_of_zero_is_refused(void **state)
{
	(void)state;
	refuses("onednn:aBcd0b", 12, "at least 1");
}

static void empty_tag_is_refused(void **state)
{
	(void)state;
	refuses("onednn:", 8, "found the end");
	refuses("onednn:16a", 8, "found '1'");
}

static void thirteen_dimensions_are_refused(void **state)
{
	(void)state;
	refuses("onednn:abcdefghijklm", 20, "at most 12");
}

static void too_many_blocks_are_refused(void **state)
{
	(void)state;
	refuses("onednn:A1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a", 71,
		"at most 32");
}

static void tag_is_not_taken_without_its_prefix(void **state)
{
	(void)state;
	refuses("nChw16c", 1, "has no factor");
}

static void tags_are_expressed_from_other_notations(void **state)
{
	(void)state;
	expresses("NHWC", "NCHW", SHAPE(1, 64, 5, 5), "onednn", "onednn:nhwc");
	expresses("NCHW16c", NULL, SHAPE(1, 64, 5, 5), "onednn", "onednn:nChw16c");
	expresses("IJ8i", NULL, SHAPE(30, 4), "onednn", "onednn:Ab8a");
	expresses("pack:inner_dims_pos=1,0;inner_tiles=16,4", NULL, SHAPE(30, 30), "onednn",
		  "onednn:AB16b4a");
	expresses("N4cCHW", NULL, SHAPE(1, 2, 3, 3), "onednn", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tags_print_as_they_are_written),
		cmocka_unit_test(dimensions_are_in_logical_order_whatever_the_tag),
		cmocka_unit_test(blocks_round_up),
		cmocka_unit_test(repeated_blocks_split_from_the_outermost),
		cmocka_unit_test(axes_are_those_of_the_tensor),
		cmocka_unit_test(other_names_may_be_given_to_the_axes),
		cmocka_unit_test(lower_case_dimension_with_a_block_is_refused),
		cmocka_unit_test(upper_case_dimension_without_a_block_is_refused),
		cmocka_unit_test(dimension_that_leaves_a_gap_is_refused),
		cmocka_unit_test(letters_of_no_tensor_are_refused),
		cmocka_unit_test(repeated_dimension_is_refused),
		cmocka_unit_test(block_of_another_dimension_is_refused),
		cmocka_unit_test(block_of_zero_is_refused),
		cmocka_unit_test(empty_tag_is_refused),
		cmocka_unit_test(thirteen_dimensions_are_refused),
		cmocka_unit_test(too_many_blocks_are_refused),
		cmocka_unit_test(tag_is_not_taken_without_its_prefix),
		cmocka_unit_test(tags_are_expressed_from_other_notations),
	};

	return cmocka_run_group_tests_name("notation_onednn", tests, NULL, NULL);
}
