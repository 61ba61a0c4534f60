// SPDX-License-Identifier: MIT
/*
 * Index maps as layouts, and what is read back out of them.
 */
#include "notation_test.h"

static void maps_print_as_maps_do(void **state)
{
	(void)state;
	prints("(n, h, w, c) -> (n, c//4, h, w, c%4)", "(n, h, w, c) -> (n, c//4, h, w, c%4)");
	prints("map:lambda i,j: [j, i]", "(i, j) -> (j, i)");
	prints("(*b, c) -> (*b, c//8, c%8)", "(*b, c) -> (*b, c//8, c%8)");
}

static void outputs_are_the_physical_axes(void **state)
{
	(void)state;
	makes("(n, h, w, c) -> (n, c//4, h, w, c%4)", SHAPE(16, 64, 64, 128),
	      SHAPE(16, 32, 64, 64, 4));
	makes("(i) -> (i//4, i%4)", SHAPE(14), SHAPE(4, 4));
	makes("(*b, c) -> (*b, c//8, c%8)", SHAPE(2, 3, 20), SHAPE(2, 3, 3, 8));
}

static void elements_are_row_major_in_the_physical_index(void **state)
{
	(void)state;
	assert_int_equal(element_at("(n, h, w, c) -> (n, c//4, h, w, c%4)", NULL,
				    SHAPE(16, 64, 64, 128), SHAPE(11, 37, 23, 101)),
			 (INT64_C(128) / 4) * 64 * 64 * 4 * 11 + 64 * 64 * 4 * 25 + 64 * 4 * 37 +
			 4 * 23 + 1);
}

static void outputs_that_are_no_splits_are_expressions(void **state)
{
	(void)state;
	assert_int_equal(element_at("(i, j) -> ((i + j)%8, j)", NULL, SHAPE(8, 8), SHAPE(5, 7)),
			 4 * 8 + 7);
	/* 14 % 8 // 3 is 2, 14 // 3 % 2 would be 0 */
	assert_int_equal(element_at("(i) -> (i%8//3, i)", NULL, SHAPE(16), SHAPE(14)),
			 2 * 16 + 14);
	/* the parts overlap */
	assert_int_equal(element_at("(i, j) -> (2*i + j%4)", NULL, SHAPE(8, 8), SHAPE(3, 5)),
			 6 + 1);
}

static void single_letters_name_the_axes(void **state)
{
	struct accel_layout *layout = parse("(n, c) -> (c, n)");

	(void)state;
	assert_string_equal(accel_layout_axes(layout), "NC");
	accel_layout_unref(layout);
	layout = parse("(row, c) -> (c, row)");
	assert_string_equal(accel_layout_axes(layout), "");
	accel_layout_unref(layout);
	layout = parse_as("(row, c) -> (c, row)", "RC");
	assert_string_equal(accel_layout_axes(layout), "RC");
	accel_layout_unref(layout);
}

static void layout_is_made_of_a_map(void **state)
{
	struct accel_layout *layout;
	struct accel_map *map;
	int64_t element;

	(void)state;
	assert_int_equal(accel_map_parse("(i, j) -> (j, i)", &map, NULL), 0);
	assert_int_equal(accel_layout_create_map(map, NULL, &layout, NULL), 0);
	assert_int_equal(accel_layout_element(layout, ACCEL_DTYPE_U8, SHAPE(3, 5),
					      (const int64_t[]){ 2, 1 }, &element, NULL), 0);
	assert_int_equal(element, 5);
	accel_layout_unref(layout);
	assert_int_equal(accel_layout_create_map(map, "ABC", &layout, NULL), -EINVAL);
	assert_null(layout);
	accel_map_unref(map);
}

static void column_of_an_error_counts_the_prefix(void **state)
{
	struct accel_error error = { 0 };
	struct accel_layout *layout;

	(void)state;
	assert_int_equal(accel_layout_parse("(i) -> (i $ 2)", NULL, &layout, &error), -EINVAL);
	assert_int_equal(error.column, 11);
	assert_int_equal(accel_layout_parse("map:(i) -> (i $ 2)", NULL, &layout, &error), -EINVAL);
	assert_int_equal(error.column, 15);
}

static void map_of_too_many_axes_is_refused(void **state)
{
	struct accel_error error = { 0 };
	struct accel_layout *layout;

	(void)state;
	assert_int_equal(accel_layout_parse("(a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q) -> (a)", NULL,
					    &layout, &error), -EINVAL);
	assert_non_null(strstr(error.message, "17 inputs"));
}

static void map_with_symbols_is_refused(void **state)
{
	(void)state;
	cannot_place("(i) -> (i//N, i%N)", ACCEL_DTYPE_U8, SHAPE(16), -EINVAL, "N");
}

static void map_to_negative_indices_is_refused(void **state)
{
	(void)state;
	cannot_place("(i) -> (i - 3)", ACCEL_DTYPE_U8, SHAPE(16), -ERANGE, "");
}

static void shape_of_another_rank_is_refused(void **state)
{
	(void)state;
	cannot_place("(i) -> (i)", ACCEL_DTYPE_U8, SHAPE(16, 2), -EINVAL, "expected 1");
}

static void splits_and_fusions_are_read_back(void **state)
{
	(void)state;
	expresses("(i, j, k) -> (i//4, 128*j + k, i%4)", NULL, SHAPE(16, 64, 128), "topi", "IJK4i");
	expresses("(c) -> (c//16, c//4%4, c%4)", NULL, SHAPE(64), "topi", "C4c4c");
	expresses("(c) -> ((c//4)//4, (c//4)%4, c%4)", NULL, SHAPE(64), "topi", "C4c4c");
	expresses("(c) -> (c//16, c%16//4, c%4)", NULL, SHAPE(64), "topi", "C4c4c");
	expresses("(i, j) -> ((20*i + j)//20, (20*i + j)%20)", NULL, SHAPE(5, 20), "order", "IJ");
	expresses("(c) -> (c//16, c%16)", NULL, SHAPE(10), "order", "C");
	expresses("(o, i) -> (o//4, i//4, o%4*4 + i%4)", NULL, SHAPE(32, 64), "topi", "OI4o4i");
}

static void other_outputs_are_only_maps(void **state)
{
	(void)state;
	expresses("(i, j) -> ((i + j)%8, j)", NULL, SHAPE(8, 8), "topi", NULL);
	expresses("(i, j) -> (3*i + j)", NULL, SHAPE(8, 2), "topi", NULL);
	expresses("(i, j) -> (3*i + j)", NULL, SHAPE(8, 2), "strides", NULL);
}

static void map_is_expressed_from_every_other_notation(void **state)
{
	(void)state;
	expresses("NCHW16c", NULL, SHAPE(1, 64, 5, 5), "map",
		  "(n, c, h, w) -> (n, c//16, h, w, c%16)");
	expresses("xla:{0,1}", NULL, SHAPE(3, 5), "map", "(a, b) -> (b, a)");
	expresses("strides:1,3", NULL, SHAPE(3, 5), "map", "(a, b) -> (b, a)");
	expresses("strides:10,2@4", NULL, SHAPE(3, 5), "map", "(a, b) -> (a*10 + b*2 + 4)");
	expresses("glow:N[a=32]H", NULL, SHAPE(1, 8), "map", "(n, h) -> (n, h)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_print_as_maps_do),
		cmocka_unit_test(outputs_are_the_physical_axes),
		cmocka_unit_test(elements_are_row_major_in_the_physical_index),
		cmocka_unit_test(outputs_that_are_no_splits_are_expressions),
		cmocka_unit_test(single_letters_name_the_axes),
		cmocka_unit_test(layout_is_made_of_a_map),
		cmocka_unit_test(column_of_an_error_counts_the_prefix),
		cmocka_unit_test(map_of_too_many_axes_is_refused),
		cmocka_unit_test(map_with_symbols_is_refused),
		cmocka_unit_test(map_to_negative_indices_is_refused),
		cmocka_unit_test(shape_of_another_rank_is_refused),
		cmocka_unit_test(splits_and_fusions_are_read_back),
		cmocka_unit_test(other_outputs_are_only_maps),
		cmocka_unit_test(map_is_expressed_from_every_other_notation),
	};

	return cmocka_run_group_tests_name("notation_map", tests, NULL, NULL);
}
