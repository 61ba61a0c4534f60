// SPDX-License-Identifier: MIT
/*
 * MLIR's pack and unpack.
 */
#include "notation_test.h"

static void pack_prints_canonically(void **state)
{
	(void)state;
	prints("pack:inner_dims_pos=1;inner_tiles=16", "pack:inner_dims_pos=1;inner_tiles=16");
	prints("pack:outer_dims_perm=[1,0];inner_dims_pos=[0, 1];inner_tiles=[8,2]",
	       "pack:inner_dims_pos=0,1;inner_tiles=8,2;outer_dims_perm=1,0");
	prints("pack:inner_dims_pos = [0, 1] inner_tiles = [8, 2]",
	       "pack:inner_dims_pos=0,1;inner_tiles=8,2");
	prints("unpack:inner_dims_pos=1;inner_tiles=16", "unpack:inner_dims_pos=1;inner_tiles=16");
	prints("pack:inner_dims_pos=;inner_tiles=", "pack:inner_dims_pos=;inner_tiles=");
}

static void tiles_stand_behind_the_outer_dimensions(void **state)
{
	(void)state;
	makes("pack:inner_dims_pos=0,1;inner_tiles=8,32", SHAPE(128, 256), SHAPE(16, 8, 8, 32));
	makes("pack:inner_dims_pos=1,0;inner_tiles=32,8", SHAPE(128, 256), SHAPE(16, 8, 32, 8));
}

static void outer_dimensions_are_permuted(void **state)
{
	(void)state;
	makes("pack:inner_dims_pos=0,1;inner_tiles=8,32;outer_dims_perm=1,0", SHAPE(128, 256),
	      SHAPE(8, 16, 8, 32));
	maps_to("pack:inner_dims_pos=1;inner_tiles=16;outer_dims_perm=0,2,3,1", SHAPE(1, 64, 5, 6),
		"(i0, i1, i2, i3) -> (i0, i2, i3, i1//16, i1%16)");
}

static void edge_tiles_are_padded(void **state)
{
	(void)state;
	makes("pack:inner_dims_pos=0;inner_tiles=8", SHAPE(13, 15), SHAPE(2, 15, 8));
}

static void unpack_undoes_pack(void **state)
{
	(void)state;
	maps_to("unpack:inner_dims_pos=1,0;inner_tiles=4,8;outer_dims_perm=1,0", SHAPE(8, 3, 4, 8),
		"(i0, i1, i2, i3) -> (i1*8 + i3, i0*4 + i2)");
	makes("unpack:inner_dims_pos=1,0;inner_tiles=4,8;outer_dims_perm=1,0", SHAPE(8, 3, 4, 8),
	      SHAPE(24, 32));
	makes("unpack:inner_dims_pos=1;inner_tiles=16", SHAPE(2, 3, 5, 16), SHAPE(2, 48, 5));
}

static void unpacked_element_is_where_it_was(void **state)
{
	int64_t rows = 20, columns = 30;

	(void)state;
	for (int64_t i = 0; i < rows; i++) {
		for (int64_t j = 0; j < columns; j++) {
			int64_t element = element_at(
				"unpack:inner_dims_pos=1,0;inner_tiles=4,8;outer_dims_perm=1,0",
				NULL, SHAPE(8, 3, 4, 8), SHAPE(j / 4, i / 8, j % 4, i % 8));

			/* the unpacked shape is (24,32): whole tiles */
			assert_int_equal(element, i * 32 + j);
		}
	}
}

static void tile_extent_of_the_packed_shape_is_checked(void **state)
{
	(void)state;
	cannot_place("unpack:inner_dims_pos=0;inner_tiles=8", ACCEL_DTYPE_F32, SHAPE(2, 7), -EINVAL,
		     "extent 1 is 7, expected a tile's 8");
}

static void packed_shape_of_too_few_axes_is_refused(void **state)
{
	(void)state;
	cannot_place("unpack:inner_dims_pos=0,1;inner_tiles=8,8", ACCEL_DTYPE_F32, SHAPE(8),
		     -EINVAL, "has 1 axes, expected at least 2");
}

static void dimension_beyond_the_shape_is_refused(void **state)
{
	(void)state;
	cannot_place("pack:inner_dims_pos=2;inner_tiles=8", ACCEL_DTYPE_F32, SHAPE(8, 8), -EINVAL,
		     "inner_dims_pos has dimension 2");
	refuses("pack:inner_dims_pos=2;inner_tiles=8;outer_dims_perm=0,1", 6,
		"dimension 2 of inner_dims_pos");
}

static void repeated_dimension_is_refused(void **state)
{
	(void)state;
	refuses("pack:inner_dims_pos=0,0;inner_tiles=8,8", 21, "there twice");
}

static void sixteenth_dimension_is_refused(void **state)
{
	(void)state;
	refuses("pack:inner_dims_pos=16;inner_tiles=8", 21, "more than 15");
}

static void sizes_of_another_count_are_refused(void **state)
{
	(void)state;
	refuses("pack:inner_dims_pos=0,1;inner_tiles=8", 25, "1 sizes, expected 2");
}

static void size_of_zero_is_refused(void **state)
{
	(void)state;
	refuses("pack:inner_dims_pos=0;inner_tiles=0", 35, "at least 1");
}

static void permutation_that_is_none_is_refused(void **state)
{
	(void)state;
	refuses("pack:inner_dims_pos=0;inner_tiles=4;outer_dims_perm=0,2", 53, "has 2 as number 1");
}

static void missing_options_are_refused(void **state)
{
	(void)state;
	refuses("pack:inner_dims_pos=0", 22, "inner_tiles= is missing");
	refuses("pack:inner_tiles=4", 19, "inner_dims_pos= is missing");
	refuses("pack:inner_dims_pos", 20, "'='");
}

static void packed_shape_beyond_16_axes_is_refused(void **state)
{
	(void)state;
	refuses("unpack:inner_dims_pos=0;inner_tiles=4;"
		"outer_dims_perm=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15", 8, "17 axes");
}

static void pack_is_expressed_from_other_notations(void **state)
{
	(void)state;
	expresses("onednn:aBcd16b", NULL, SHAPE(1, 64, 5, 5), "pack",
		  "pack:inner_dims_pos=1;inner_tiles=16");
	expresses("NHWC16c", "NCHW", SHAPE(1, 64, 5, 5), "pack",
		  "pack:inner_dims_pos=1;inner_tiles=16;outer_dims_perm=0,2,3,1");
	expresses("NC4c2c", NULL, SHAPE(3, 16), "pack", NULL);
}

static void unpack_is_not_expressed(void **state)
{
	(void)state;
	expresses("NC", NULL, SHAPE(3, 16), "unpack", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pack_prints_canonically),
		cmocka_unit_test(tiles_stand_behind_the_outer_dimensions),
		cmocka_unit_test(outer_dimensions_are_permuted),
		cmocka_unit_test(edge_tiles_are_padded),
		cmocka_unit_test(unpack_undoes_pack),
		cmocka_unit_test(unpacked_element_is_where_it_was),
		cmocka_unit_test(tile_extent_of_the_packed_shape_is_checked),
		cmocka_unit_test(packed_shape_of_too_few_axes_is_refused),
		cmocka_unit_test(dimension_beyond_the_shape_is_refused),
		cmocka_unit_test(repeated_dimension_is_refused),
		cmocka_unit_test(sixteenth_dimension_is_refused),
		cmocka_unit_test(sizes_of_another_count_are_refused),
		cmocka_unit_test(size_of_zero_is_refused),
		cmocka_unit_test(permutation_that_is_none_is_refused),
		cmocka_unit_test(missing_options_are_refused),
		cmocka_unit_test(packed_shape_beyond_16_axes_is_refused),
		cmocka_unit_test(pack_is_expressed_from_other_notations),
		cmocka_unit_test(unpack_is_not_expressed),
	};

	return cmocka_run_group_tests_name("notation_pack", tests, NULL, NULL);
}
