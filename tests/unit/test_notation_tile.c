// SPDX-License-Identifier: MIT
/*
 * Outer, tile, inner.
 */
#include "notation_test.h"

static void tile_prints_as_it_is_written(void **state)
{
	(void)state;
	prints("tile:outer=NCHW;tile=1,8,8,8;inner=CHWN",
	       "tile:outer=NCHW;tile=1,8,8,8;inner=CHWN");
	prints("tile:inner=BA;outer=AB;tile=[2,4]", "tile:outer=AB;tile=2,4;inner=BA");
}

static void tiles_stand_in_outer_order_and_elements_in_inner_order(void **state)
{
	(void)state;
	makes("tile:outer=NCHW;tile=1,8,8,8;inner=CHWN", SHAPE(1, 64, 56, 56),
	      SHAPE(1, 8, 7, 7, 8, 8, 8, 1));
	maps_to("tile:outer=BA;tile=4,2;inner=AB", SHAPE(12, 6),
		"(b, a) -> (b//4, a//2, a%2, b%4)");
}

static void edge_tiles_are_whole(void **state)
{
	(void)state;
	makes("tile:outer=AB;tile=4,4;inner=AB", SHAPE(5, 9), SHAPE(2, 3, 4, 4));
	assert_int_equal(element_at("tile:outer=AB;tile=4,4;inner=BA", NULL, SHAPE(5, 9),
				    SHAPE(4, 8)), (3 + 2) * 16);
}

static void logical_order_may_differ(void **state)
{
	(void)state;
	makes_as("tile:outer=NHWC;tile=1,2,2,16;inner=NHWC", "NCHW", SHAPE(2, 32, 6, 8),
		 SHAPE(2, 3, 4, 2, 1, 2, 2, 16));
}

static void missing_option_is_refused(void **state)
{
	(void)state;
	refuses("tile:outer=AB;tile=4,4", 23, "inner= is missing");
	refuses("tile:outer=AB;inner=AB", 23, "tile= is missing");
	refuses("tile:tile=4,4;inner=AB", 23, "outer= is missing");
	refuses("tile:", 6, "expected outer=");
}

static void tile_of_another_rank_is_refused(void **state)
{
	(void)state;
	refuses("tile:outer=AB;tile=4;inner=AB", 15, "1 extents, expected 2");
}

static void tile_of_zero_is_refused(void **state)
{
	(void)state;
	refuses("tile:outer=AB;tile=4,0;inner=AB", 22, "expected at least 1");
}

static void inner_with_other_axes_is_refused(void **state)
{
	(void)state;
	refuses("tile:outer=AB;tile=4,4;inner=AC", 24, "inner is \"AC\"");
	refuses("tile:outer=AB;tile=4,4;inner=A", 24, "inner is \"A\"");
}

static void repeated_axis_is_refused(void **state)
{
	(void)state;
	refuses("tile:outer=AA;tile=4,4;inner=AA", 13, "each axis once");
	refuses("tile:outer=AB;tile=4,4;inner=AA", 31, "each axis once");
}

static void axes_that_are_no_letters_are_refused(void **state)
{
	(void)state;
	refuses("tile:outer=ab;tile=4,4;inner=ab", 12, "found 'a'");
	refuses("tile:outer=A1;tile=4,4;inner=AB", 13, "found '1'");
}

static void tile_is_expressed_from_other_notations(void **state)
{
	(void)state;
	expresses("NCHW16c", NULL, SHAPE(1, 64, 5, 5), "tile",
		  "tile:outer=NCHW;tile=1,16,1,1;inner=NCHW");
	expresses("xla:{0,1:T(8,4)}", NULL, SHAPE(20, 30), "tile",
		  "tile:outer=BA;tile=8,4;inner=BA");
	expresses("AB4b8a", NULL, SHAPE(20, 30), "tile", "tile:outer=AB;tile=8,4;inner=BA");
	expresses("AB4b8a4b", NULL, SHAPE(20, 30), "tile", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tile_prints_as_it_is_written),
		cmocka_unit_test(tiles_stand_in_outer_order_and_elements_in_inner_order),
		cmocka_unit_test(edge_tiles_are_whole),
		cmocka_unit_test(logical_order_may_differ),
		cmocka_unit_test(missing_option_is_refused),
		cmocka_unit_test(tile_of_another_rank_is_refused),
		cmocka_unit_test(tile_of_zero_is_refused),
		cmocka_unit_test(inner_with_other_axes_is_refused),
		cmocka_unit_test(repeated_axis_is_refused),
		cmocka_unit_test(axes_that_are_no_letters_are_refused),
		cmocka_unit_test(tile_is_expressed_from_other_notations),
	};

	return cmocka_run_group_tests_name("notation_tile", tests, NULL, NULL);
}
