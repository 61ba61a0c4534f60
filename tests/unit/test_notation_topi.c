// SPDX-License-Identifier: MIT
/*
 * TVM's layout strings.
 */
#include "notation_test.h"

static void topi_prints_as_it_is_written(void **state)
{
	(void)state;
	prints("NCHW16c", "NCHW16c");
	prints("OIHW4o4i", "OIHW4o4i");
	prints("OIHW[4o4i]", "OIHW[4o4i]");
	prints("OIHW4i16o4i", "OIHW4i16o4i");
	prints("OI[4o4i][2o2i]", "OI[4o4i][2o2i]");
	prints("topi:NC016c", "NC16c");
}

static void split_axis_has_an_outer_and_an_inner_part(void **state)
{
	(void)state;
	makes("NCHW16c", SHAPE(1, 64, 56, 56), SHAPE(1, 4, 56, 56, 16));
	makes("OIHW4o4i", SHAPE(32, 64, 3, 3), SHAPE(8, 16, 3, 3, 4, 4));
	maps_to("NCHW16c", SHAPE(1, 64, 56, 56), "(n, c, h, w) -> (n, c//16, h, w, c%16)");
}

static void extent_that_is_no_multiple_is_rounded_up(void **state)
{
	(void)state;
	makes("NCHW16c", SHAPE(1, 50, 7, 7), SHAPE(1, 4, 7, 7, 16));
}

static void axes_in_brackets_are_one_physical_axis(void **state)
{
	(void)state;
	makes("OIHW[4o4i]", SHAPE(32, 64, 3, 3), SHAPE(8, 16, 3, 3, 16));
	maps_to("OI[4o4i]", SHAPE(32, 64), "(o, i) -> (o//4, i//4, o%4*4 + i%4)");
	assert_int_equal(element_at("OI[4o2i]", NULL, SHAPE(8, 8), SHAPE(5, 7)),
			 element_at("OI4o2i", NULL, SHAPE(8, 8), SHAPE(5, 7)));
}

static void axis_is_split_repeatedly(void **state)
{
	(void)state;
	makes("OI4i16o4i", SHAPE(32, 32), SHAPE(2, 2, 4, 16, 4));
	maps_to("OI4i16o4i", SHAPE(32, 32), "(o, i) -> (o//16, i//16, i//4%4, o%16, i%4)");
}

static void element_of_the_reference_is_where_it_says(void **state)
{
	(void)state;
	/* logical NHWC, stored as NCHW4c */
	assert_int_equal(element_at("NCHW4c", "NHWC", SHAPE(16, 64, 64, 128),
				    SHAPE(11, 37, 23, 101)),
			 (INT64_C(128) / 4) * 64 * 64 * 4 * 11 + 64 * 64 * 4 * 25 + 64 * 4 * 37 +
			 4 * 23 + 1);
}

static void lower_case_axis_without_factor_is_refused(void **state)
{
	(void)state;
	refuses("NCHWc", 5, "has no factor");
	refuses("NChw", 3, "axis h at column 3 has no factor");
}

static void lower_case_axis_without_primal_axis_is_refused(void **state)
{
	(void)state;
	refuses("NHW16c", 6, "a split of C");
}

static void upper_case_axis_with_factor_is_refused(void **state)
{
	(void)state;
	refuses("N16C", 4, "upper-case ones have none");
}

static void factor_without_axis_is_refused(void **state)
{
	(void)state;
	refuses("NC16", 5, "found the end");
}

static void factor_of_zero_is_refused(void **state)
{
	(void)state;
	refuses("NC0c", 3, "at least 1");
}

static void repeated_upper_case_axis_is_refused(void **state)
{
	(void)state;
	refuses("NCC4c", 3, "each axis once");
}

static void factor_beyond_64_bits_is_refused(void **state)
{
	(void)state;
	refuses("NC9223372036854775808c", 3, "does not fit 64 bits");
}

static void factors_beyond_63_bits_together_are_refused(void **state)
{
	(void)state;
	refuses("NC4294967296c4294967296c", 13, "do not fit 63 bits");
}

static void upper_case_axis_in_brackets_is_refused(void **state)
{
	(void)state;
	refuses("NC[4cH]", 6, "only splits");
}

static void empty_brackets_are_refused(void **state)
{
	(void)state;
	refuses("NC[]", 4, "found ']'");
}

static void open_bracket_is_refused(void **state)
{
	(void)state;
	refuses("NC[4c", 6, "found the end");
}

static void closing_bracket_alone_is_refused(void **state)
{
	(void)state;
	refuses("NC4c]", 5, "found ']'");
}

static void other_characters_are_refused(void **state)
{
	(void)state;
	refuses("NC-HW", 3, "found '-'");
}

static void too_many_splits_are_refused_at_once(void **state)
{
	char text[40001];

	(void)state;
	text[0] = 'A';
	for (size_t k = 0; k < 20000; k++)
		memcpy(&text[1 + 2 * k], "1a", 2);
	text[39999] = '\0';
	refuses(text, 64, "at most 32");
}

static void blocks_that_no_shape_can_hold_are_refused(void **state)
{
	(void)state;
	cannot_place("NC4611686018427387904c", ACCEL_DTYPE_F32, SHAPE(3, 5), -EOVERFLOW, "63 bits");
}

static void topi_is_expressed_from_other_notations(void **state)
{
	(void)state;
	expresses("onednn:nChw16c", NULL, SHAPE(1, 60, 5, 5), "topi", "NCHW16c");
	expresses("(n, h, w, c) -> (n, c//4, h, w, c%4)", NULL, SHAPE(2, 3, 4, 8), "topi",
		  "NCHW4c");
	expresses("xla:{1,0:T(8,128)(2,1)}", NULL, SHAPE(30, 300), "topi", "AB4a128b2a");
	expresses("strides:16,1", NULL, SHAPE(3, 5), "topi", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(topi_prints_as_it_is_written),
		cmocka_unit_test(split_axis_has_an_outer_and_an_inner_part),
		cmocka_unit_test(extent_that_is_no_multiple_is_rounded_up),
		cmocka_unit_test(axes_in_brackets_are_one_physical_axis),
		cmocka_unit_test(axis_is_split_repeatedly),
		cmocka_unit_test(element_of_the_reference_is_where_it_says),
		cmocka_unit_test(lower_case_axis_without_factor_is_refused),
		cmocka_unit_test(lower_case_axis_without_primal_axis_is_refused),
		cmocka_unit_test(upper_case_axis_with_factor_is_refused),
		cmocka_unit_test(factor_without_axis_is_refused),
		cmocka_unit_test(factor_of_zero_is_refused),
		cmocka_unit_test(repeated_upper_case_axis_is_refused),
		cmocka_unit_test(factor_beyond_64_bits_is_refused),
		cmocka_unit_test(factors_beyond_63_bits_together_are_refused),
		cmocka_unit_test(upper_case_axis_in_brackets_is_refused),
		cmocka_unit_test(empty_brackets_are_refused),
		cmocka_unit_test(open_bracket_is_refused),
		cmocka_unit_test(closing_bracket_alone_is_refused),
		cmocka_unit_test(other_characters_are_refused),
		cmocka_unit_test(too_many_splits_are_refused_at_once),
		cmocka_unit_test(blocks_that_no_shape_can_hold_are_refused),
		cmocka_unit_test(topi_is_expressed_from_other_notations),
	};

	return cmocka_run_group_tests_name("notation_topi", tests, NULL, NULL);
}
