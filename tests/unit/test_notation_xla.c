// SPDX-License-Identifier: MIT
/*
 * XLA's layouts, with the numbers of XLA's own page on tiled layouts.
 */
#include "notation_test.h"

static void xla_prints_as_it_is_written(void **state)
{
	(void)state;
	prints("xla:{1,0:T(8,128)}", "xla:{1,0:T(8,128)}");
	prints("{1,0:T(8,128)(2,1)}", "xla:{1,0:T(8,128)(2,1)}");
	prints("xla:{4,3,2,1,0:T(*,*,2,*,3)}", "xla:{4,3,2,1,0:T(*,*,2,*,3)}");
	prints("xla:{0,1}", "xla:{0,1}");
	prints("xla:{}", "xla:{}");
}

static void minor_to_major_lists_the_innermost_first(void **state)
{
	(void)state;
	makes("xla:{0,2,1}", SHAPE(2, 3, 5), SHAPE(3, 5, 2));
	assert_int_equal(element_at("xla:{0,1}", NULL, SHAPE(3, 5), SHAPE(2, 1)), 5);
}

static void tile_splits_the_minor_dimensions(void **state)
{
	(void)state;
	makes("xla:{1,0:T(2,2)}", SHAPE(3, 5), SHAPE(2, 3, 2, 2));
	assert_int_equal(element_at("xla:{1,0:T(2,2)}", NULL, SHAPE(3, 5), SHAPE(2, 3)), 17);
	makes("xla:{2,1,0:T(8,128)}", SHAPE(4, 20, 300), SHAPE(4, 3, 3, 8, 128));
}

static void second_tile_is_within_the_first(void **state)
{
	(void)state;
	makes("xla:{1,0:T(8,128)(2,1)}", SHAPE(30, 300), SHAPE(4, 3, 4, 128, 2, 1));
	maps_to("xla:{1,0:T(8,128)(2,1)}", SHAPE(30, 300),
		"(i0, i1) -> (i0//8, i1//128, i0//2%4, i1%128, i0%2, 0)");
}

static void second_tile_may_concern_tiles_of_the_first(void **state)
{
	(void)state;
	makes("xla:{1,0:T(2,4)(2,1,1,1)}", SHAPE(8, 8), SHAPE(2, 2, 2, 4, 2, 1, 1, 1));
	assert_int_equal(element_at("xla:{1,0:T(2,4)(2,1,1,1)}", NULL, SHAPE(8, 8), SHAPE(6, 5)),
			 51);
}

static void second_tile_that_does_not_divide_pads_again(void **state)
{
	(void)state;
	makes("xla:{0:T(8)(3)}", SHAPE(20), SHAPE(3, 3, 3));
	/* 13 is in tile 1, at 5 of it: 5 // 3 = 1 and 5 % 3 = 2 */
	assert_int_equal(element_at("xla:{0:T(8)(3)}", NULL, SHAPE(20), SHAPE(13)),
			 1 * 9 + 1 * 3 + 2);
}

static void second_tile_wider_than_the_first_only_pads(void **state)
{
	(void)state;
	makes("xla:{0:T(4)(6)}", SHAPE(20), SHAPE(5, 1, 6));
	assert_int_equal(element_at("xla:{0:T(4)(6)}", NULL, SHAPE(20), SHAPE(11)), 2 * 6 + 3);
}

static void star_joins_dimensions(void **state)
{
	(void)state;
	makes("xla:{4,3,2,1,0:T(*,*,2,*,3)}", SHAPE(2, 7, 8, 11, 10), SHAPE(56, 37, 2, 3));
	/* the fused index is (1*7+6)*8+7 = 111 and 10*10+9 = 109 */
	assert_int_equal(element_at("xla:{4,3,2,1,0:T(*,*,2,*,3)}", NULL, SHAPE(2, 7, 8, 11, 10),
				    SHAPE(1, 6, 7, 10, 9)), (55 * 37 + 36) * 6 + 1 * 3 + 1);
}

static void star_joins_tiles_and_what_is_within(void **state)
{
	(void)state;
	/* what the first tile split, the second puts together again */
	makes("xla:{0:T(4)(*,8)}", SHAPE(24), SHAPE(3, 8));
	maps_to("xla:{0:T(4)(*,8)}", SHAPE(24), "(i0) -> (i0//8, i0%8)");
	/* as long as the tiles were, and so wider than the dimension when it is joined again */
	makes("xla:{1,0:T(3)(*,1)(*,30,1)}", SHAPE(15, 29), SHAPE(15, 1, 30, 1));
	assert_int_equal(element_at("xla:{1,0:T(3)(*,1)(*,30,1)}", NULL, SHAPE(15, 29),
				    SHAPE(7, 13)), 7 * 30 + 13);
	/* dimensions that are padded, and then joined, have no simpler form */
	makes("xla:{1,0:T(2,4)(*,*,8)}", SHAPE(3, 5), SHAPE(2, 2, 8));
	assert_int_equal(element_at("xla:{1,0:T(2,4)(*,*,8)}", NULL, SHAPE(3, 5), SHAPE(2, 4)),
			 (1 * 2 + 1) * 8);
}

static void tile_of_more_dimensions_than_there_are_is_refused(void **state)
{
	(void)state;
	cannot_place("xla:{0:T(8,128)}", ACCEL_DTYPE_F32, SHAPE(30), -EINVAL,
		     "a tile of 2 dimensions is applied to 1");
}

static void too_many_physical_axes_are_refused(void **state)
{
	(void)state;
	cannot_place("xla:{3,2,1,0:T(2,2,2,2)(1,1,1,1)(1,1,1,1)(1,1,1,1)(1,1,1,1)(1,1,1,1)"
		     "(1,1,1,1)(1,1,1,1)}", ACCEL_DTYPE_F32, SHAPE(2, 2, 2, 2), -E2BIG,
		     "32");
}

static void tiles_beyond_63_bits_are_refused(void **state)
{
	(void)state;
	cannot_place("xla:{1,0:T(4611686018427387904,4611686018427387904)}", ACCEL_DTYPE_F32,
		     SHAPE(2, 2), -EOVERFLOW, "63 bits");
}

static void malformed_layouts_are_refused(void **state)
{
	(void)state;
	refuses("xla:1,0", 5, "'{'");
	refuses("xla:{1,0", 9, "found the end");
	refuses("xla:{1,0}x", 10, "found 'x'");
	refuses("xla:{1,0:}", 10, "T and tiles");
	refuses("xla:{1,0:T}", 11, "'('");
	refuses("xla:{1,0:T()}", 12, "found ')'");
	refuses("xla:{1,0:T(8,}", 14, "found '}'");
	refuses("xla:{1,0:T(8,128}", 17, "',' or ')'");
	refuses("xla:{1,0:T(8,128)E(4)}", 18, "'(' or '}'");
	refuses("xla:{1,0:T(0,128)}", 12, "at least 1");
}

static void dimensions_that_are_no_permutation_are_refused(void **state)
{
	(void)state;
	refuses("xla:{1,1}", 6, "has 1 as number 1");
	refuses("xla:{2,0}", 6, "has 2 as number 0");
}

static void star_at_the_end_of_a_tile_is_refused(void **state)
{
	(void)state;
	refuses("xla:{1,0:T(8,*)}", 15, "joined to nothing");
}

static void nine_tiles_are_refused(void **state)
{
	(void)state;
	refuses("xla:{0:T(1)(1)(1)(1)(1)(1)(1)(1)(1)}", 33, "at most 8 tiles");
}

static void xla_is_expressed_from_other_notations(void **state)
{
	(void)state;
	expresses("BA", "AB", SHAPE(3, 5), "xla", "xla:{0,1}");
	expresses("NCHW16c", NULL, SHAPE(1, 60, 5, 5), "xla", "xla:{3,2,1,0:T(16,1,1)}");
	expresses("AB4a128b2a", NULL, SHAPE(30, 300), "xla", "xla:{1,0:T(8,128)(2,1)}");
}

static void fused_tiles_are_expressed_with_stars(void **state)
{
	(void)state;
	expresses("(i, j, k) -> ((i*20 + j)//8, k, (i*20 + j)%8)", NULL, SHAPE(5, 20, 3), "xla",
		  "xla:{2,1,0:T(*,8,1)}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(xla_prints_as_it_is_written),
		cmocka_unit_test(minor_to_major_lists_the_innermost_first),
		cmocka_unit_test(tile_splits_the_minor_dimensions),
		cmocka_unit_test(second_tile_is_within_the_first),
		cmocka_unit_test(second_tile_may_concern_tiles_of_the_first),
		cmocka_unit_test(second_tile_that_does_not_divide_pads_again),
		cmocka_unit_test(second_tile_wider_than_the_first_only_pads),
		cmocka_unit_test(star_joins_dimensions),
		cmocka_unit_test(star_joins_tiles_and_what_is_within),
		cmocka_unit_test(tile_of_more_dimensions_than_there_are_is_refused),
		cmocka_unit_test(too_many_physical_axes_are_refused),
		cmocka_unit_test(tiles_beyond_63_bits_are_refused),
		cmocka_unit_test(malformed_layouts_are_refused),
		cmocka_unit_test(dimensions_that_are_no_permutation_are_refused),
		cmocka_unit_test(star_at_the_end_of_a_tile_is_refused),
		cmocka_unit_test(nine_tiles_are_refused),
		cmocka_unit_test(xla_is_expressed_from_other_notations),
		cmocka_unit_test(fused_tiles_are_expressed_with_stars),
	};

	return cmocka_run_group_tests_name("notation_xla", tests, NULL, NULL);
}
