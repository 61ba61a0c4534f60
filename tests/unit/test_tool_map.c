// SPDX-License-Identifier: MIT
/*
 * accel map: arguments, exit status, messages with their caret, text and JSON.
 */
#define COMMAND map_command
#include "command_test.h"

static void expect_complaint(const char *text)
{
	if (!strstr(complained, text))
		fail_msg("expected %s in:\n%s", text, complained);
	assert_string_equal(printed, "");
}

static void padding_is_reported(void **state)
{
	(void)state;
	assert_int_equal(RUN("(i) -> (i//4, i%4)", "--shape", "14", "--at", "13", "--json"), 0);
	assert_string_equal(printed,
		"{\n"
		"  \"map\": \"(i) -> (i//4, i%4)\",\n"
		"  \"input_shape\": [14],\n"
		"  \"output_shape\": [4, 4],\n"
		"  \"axis_separators\": [],\n"
		"  \"flat_shape\": [16],\n"
		"  \"injective\": true,\n"
		"  \"bijective\": false,\n"
		"  \"inverse\": \"(i_outer, i_inner) -> (4*i_outer + i_inner)\",\n"
		"  \"padding\": \"4*i_outer + i_inner >= 14\",\n"
		"  \"padding_count\": 2,\n"
		"  \"at\": [\n"
		"    {\n"
		"      \"index\": [13],\n"
		"      \"output\": [3, 1],\n"
		"      \"flat\": [13]\n"
		"    }\n"
		"  ]\n"
		"}\n");
}

static void outputs_alone_are_a_map(void **state)
{
	(void)state;
	assert_int_equal(RUN("[i//4, i%4]", "--shape", "14"), 0);
	assert_string_equal(printed,
		"map              (i) -> (i//4, i%4)\n"
		"input shape      (14)\n"
		"output shape     (4,4)\n"
		"axis separators  none\n"
		"flat shape       (16)\n"
		"injective        yes\n"
		"bijective        no\n"
		"inverse          (i_outer, i_inner) -> (4*i_outer + i_inner)\n"
		"padding          2 points, where 4*i_outer + i_inner >= 14\n");
}

static void maps_in_a_row_are_one(void **state)
{
	(void)state;
	assert_int_equal(RUN("(n,h,w,c) -> (n,c,h,w)", "--then",
			     "(n,c,h,w) -> (n, c//4, h | w, c%4)", "--shape", "16,64,64,128",
			     "--at", "11,37,23,101"), 0);
	assert_string_equal(printed,
		"map              (n, h, w, c) -> (n, c//4, h | w, c%4)\n"
		"input shape      (16,64,64,128)\n"
		"output shape     (16,32,64,64,4)\n"
		"axis separators  after output 2\n"
		"flat shape       (32768,256)\n"
		"injective        yes\n"
		"bijective        yes\n"
		"inverse          (n, c_outer, h, w, c_inner) -> (n, h, w, 4*c_outer + c_inner)\n"
		"padding          0 points\n"
		"at               (11,37,23,101) -> (11,25,37,23,1), flat (24165,93)\n");
}

static void collision_is_shown(void **state)
{
	(void)state;
	assert_int_equal(RUN("(i) -> (i//2)", "--shape", "2"), 0);
	assert_string_equal(printed,
		"map              (i) -> (i//2)\n"
		"input shape      (2)\n"
		"output shape     (1)\n"
		"axis separators  none\n"
		"flat shape       (1)\n"
		"injective        no\n"
		"                 (0) and (1) both go to (0)\n"
		"bijective        no\n"
		"inverse          none: the outputs do not tell all of an input\n");
}

static void what_is_not_known_is_null(void **state)
{
	(void)state;
	assert_int_equal(RUN("(i,j) -> (i, i*i + j)", "--shape", "1000,1000", "--json"), 0);
	assert_non_null(strstr(printed, "\"injective\": null"));
	assert_non_null(strstr(printed, "\"bijective\": null"));
	assert_non_null(strstr(printed, "\"inverse\": null"));
	assert_non_null(strstr(printed, "\"padding\": null"));
	assert_non_null(strstr(printed, "\"padding_count\": null"));
}

static void fault_in_the_map_has_a_caret(void **state)
{
	(void)state;
	assert_int_equal(RUN("(i, j) -> (j, i", "--shape", "3,4"), STATUS_USAGE);
	expect_complaint("expected \")\", not the end\n  (i, j) -> (j, i\n                 ^\n");
}

static void fault_in_a_later_map_has_a_caret(void **state)
{
	(void)state;
	assert_int_equal(RUN("(i) -> (i)", "--then", "(i) => (i)", "--shape", "3"), STATUS_USAGE);
	expect_complaint("  (i) => (i)\n      ^\n");
}

static void fault_in_the_shape_has_a_caret(void **state)
{
	(void)state;
	assert_int_equal(RUN("(i) -> (i)", "--shape", "3,x"), STATUS_USAGE);
	expect_complaint("  3,x\n    ^\n");
}

static void shape_must_be_given(void **state)
{
	(void)state;
	assert_int_equal(RUN("(i) -> (i)"), STATUS_USAGE);
	expect_complaint("expected --shape");
}

static void shape_must_have_the_rank_of_the_map(void **state)
{
	(void)state;
	assert_int_equal(RUN("(i, j) -> (i, j)", "--shape", "3"), STATUS_USAGE);
	expect_complaint("map takes 2 axes, but there are 1");
}

static void symbol_must_have_a_value(void **state)
{
	(void)state;
	assert_int_equal(RUN("(i) -> (i + N)", "--shape", "3"), STATUS_USAGE);
	expect_complaint("symbol N of the map has no value");
}

static void index_must_be_in_the_shape(void **state)
{
	(void)state;
	assert_int_equal(RUN("(i) -> (i)", "--shape", "3", "--at", "3"), STATUS_USAGE);
	expect_complaint("index 3 of axis 0 (i), expected at least 0 and less than 3");
}

static void index_must_have_the_rank_of_the_shape(void **state)
{
	(void)state;
	assert_int_equal(RUN("(i) -> (i)", "--shape", "3", "--at", "1,2"), STATUS_USAGE);
	expect_complaint("--at 1,2 has 2 numbers, expected 1 as --shape has");
}

static void maps_in_a_row_must_fit(void **state)
{
	(void)state;
	assert_int_equal(RUN("(i) -> (i, i)", "--then", "(i) -> (i)", "--shape", "3"),
			 STATUS_USAGE);
	expect_complaint("first map has 2 outputs, but the second takes 1 inputs");
}

static void one_map_is_expected(void **state)
{
	(void)state;
	assert_int_equal(RUN("--shape", "3"), STATUS_USAGE);
	expect_complaint("expected a map");
	assert_int_equal(RUN("(i) -> (i)", "(j) -> (j)", "--shape", "3"), STATUS_USAGE);
	expect_complaint("argument '(j) -> (j)', expected none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(padding_is_reported),
		cmocka_unit_test(outputs_alone_are_a_map),
		cmocka_unit_test(maps_in_a_row_are_one),
		cmocka_unit_test(collision_is_shown),
		cmocka_unit_test(what_is_not_known_is_null),
		cmocka_unit_test(fault_in_the_map_has_a_caret),
		cmocka_unit_test(fault_in_a_later_map_has_a_caret),
		cmocka_unit_test(fault_in_the_shape_has_a_caret),
		cmocka_unit_test(shape_must_be_given),
		cmocka_unit_test(shape_must_have_the_rank_of_the_map),
		cmocka_unit_test(symbol_must_have_a_value),
		cmocka_unit_test(index_must_be_in_the_shape),
		cmocka_unit_test(index_must_have_the_rank_of_the_shape),
		cmocka_unit_test(maps_in_a_row_must_fit),
		cmocka_unit_test(one_map_is_expected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
