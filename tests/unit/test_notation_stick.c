// SPDX-License-Identifier: MIT
/*
 * Sticks, with the numbers of Spyre's own examples.
 */
#include "notation_test.h"

/* Device size, map of dimensions and bytes over a shape of f16 elements. */
static void makes_sticks(const char *notation, uint32_t rank, const int64_t *shape,
			 uint32_t device_rank, const int64_t *device_size,
			 const int32_t *dim_map, int64_t bytes)
{
	struct accel_layout_description description =
		describe_as(notation, NULL, ACCEL_DTYPE_F16, rank, shape);

	assert_true(description.has_sticks);
	assert_int_equal(description.num_stick_dims, 1);
	expect_numbers(notation, description.physical_rank, description.physical_shape,
		       device_rank, device_size);
	for (uint32_t k = 0; k < device_rank; k++)
		assert_int_equal(description.dim_map[k], dim_map[k]);
	assert_int_equal(description.bytes, bytes);
}

#define DIM_MAP(...)	((const int32_t[]){ __VA_ARGS__ })

static void sticks_print_canonically(void **state)
{
	(void)state;
	prints("stick", "stick");
	prints("stick:", "stick");
	prints("stick:pad=all", "stick");
	prints("stick:pad=stick", "stick:pad=stick");
	prints("stick:order=1,0,2", "stick:order=1,0,2");
	prints("stick:order=1,0,2;pad=stick", "stick:order=1,0,2");
	prints("stick:pad=all;order=[1,0,2]", "stick:pad=all;order=1,0,2");
	prints("stick:padded=5,128,192;order=0,1,2", "stick:padded=5,128,192;order=0,1,2");
	prints("stick:padded=5,128,192", "stick:padded=5,128,192");
	prints("stick:sparse", "stick:sparse");
	prints("stick:order=0,1,-1", "stick:sparse;order=0,1");
	prints("stick:device_size=128,3,64,64;stride_map=150,64,15000,1",
	       "stick:device_size=128,3,64,64;stride_map=150,64,15000,1");
}

static void all_dimensions_are_padded_by_default(void **state)
{
	(void)state;
	makes_sticks("stick", SHAPE(5, 100, 150), SHAPE(128, 3, 64, 64), DIM_MAP(1, 2, 0, 2),
		     INT64_C(24576) * 128);
}

static void only_the_stick_dimension_is_padded_when_asked(void **state)
{
	(void)state;
	makes_sticks("stick:pad=stick", SHAPE(5, 100, 150), SHAPE(100, 3, 5, 64),
		     DIM_MAP(1, 2, 0, 2), 1500 * 128);
}

static void padded_extents_are_given(void **state)
{
	(void)state;
	makes_sticks("stick:padded=5,128,192;order=0,1,2", SHAPE(5, 100, 150),
		     SHAPE(128, 3, 5, 64), DIM_MAP(1, 2, 0, 2), 128 * 3 * 5 * 128);
	makes_sticks("stick:padded=5,100,192;order=1,0,2", SHAPE(5, 100, 150),
		     SHAPE(5, 3, 100, 64), DIM_MAP(0, 2, 1, 2), 1500 * 128);
}

static void order_alone_pads_the_stick_dimension(void **state)
{
	(void)state;
	makes_sticks("stick:order=1,0,2", SHAPE(5, 100, 192), SHAPE(5, 3, 100, 64),
		     DIM_MAP(0, 2, 1, 2), 1500 * 128);
	makes_sticks("stick:order=2,1,0", SHAPE(512, 8, 256), SHAPE(8, 8, 256, 64),
		     DIM_MAP(1, 0, 2, 0), 8 * 8 * 256 * 128);
}

static void one_and_two_dimensions_have_no_middle(void **state)
{
	(void)state;
	makes_sticks("stick", SHAPE(128), SHAPE(2, 64), DIM_MAP(0, 0), 2 * 128);
	makes_sticks("stick", SHAPE(512, 256), SHAPE(4, 512, 64), DIM_MAP(1, 0, 1),
		     4 * 512 * 128);
}

static void scalar_is_in_a_stick_of_its_own(void **state)
{
	struct accel_layout_description description =
		describe_as("stick", NULL, ACCEL_DTYPE_F16, 0, NULL);

	(void)state;
	expect_numbers("size", description.physical_rank, description.physical_shape,
		       SHAPE(1, 64));
	assert_int_equal(description.dim_map[0], -1);
	assert_int_equal(description.stride_map[1], -1);
	assert_int_equal(description.bytes, 128);
}

static void sparse_sticks_hold_one_element(void **state)
{
	struct accel_layout_description description;

	(void)state;
	makes_sticks("stick:sparse", SHAPE(512, 256), SHAPE(256, 512, 64), DIM_MAP(1, 0, -1),
		     512 * 256 * 128);
	description = describe_as("stick:order=1,0,-1", NULL, ACCEL_DTYPE_F16, SHAPE(512, 256));
	expect_numbers("size", description.physical_rank, description.physical_shape,
		       SHAPE(512, 256, 64));
	assert_true(description.is_sparse);
	expect_numbers("stride_map", 3, description.stride_map, SHAPE(256, 1, -1));
}

static void element_size_decides_the_length_of_a_stick(void **state)
{
	static const struct {
		enum accel_dtype dtype;
		int64_t elements;
	} cases[] = {
		{ ACCEL_DTYPE_I8, 128 }, { ACCEL_DTYPE_BF16, 64 }, { ACCEL_DTYPE_F32, 32 },
		{ ACCEL_DTYPE_I64, 16 }, { ACCEL_DTYPE_RAW128, 8 },
	};

	(void)state;
	for (uint32_t k = 0; k < COUNT(cases); k++) {
		struct accel_layout_description description =
			describe_as("stick:pad=stick", NULL, cases[k].dtype, SHAPE(3, 130));
		int64_t elements = cases[k].elements;

		expect_numbers("size", 3, description.physical_shape,
			       SHAPE((130 + elements - 1) / elements, 3, elements));
		assert_int_equal(description.bytes, description.physical_shape[0] * 3 * 128);
	}
}

static void stride_map_has_host_elements_a_step(void **state)
{
	struct accel_layout_description description =
		describe_as("stick", NULL, ACCEL_DTYPE_F16, SHAPE(5, 100, 150));

	(void)state;
	expect_numbers("stride_map", 4, description.stride_map, SHAPE(150, 64, 15000, 1));
	/* neither a dimension of one value nor sticks behind the first are ever stepped to */
	description = describe_as("stick:pad=stick", NULL, ACCEL_DTYPE_F16, SHAPE(1, 7, 30));
	expect_numbers("stride_map", 4, description.stride_map, SHAPE(30, -1, -1, 1));
}

static void explicit_device_size_and_stride_map_say_the_same(void **state)
{
	struct accel_layout *a = parse("stick"), *b;
	enum accel_answer answer;

	(void)state;
	makes_sticks("stick:device_size=128,3,64,64;stride_map=150,64,15000,1",
		     SHAPE(5, 100, 150), SHAPE(128, 3, 64, 64), DIM_MAP(1, 2, 0, 2),
		     INT64_C(24576) * 128);
	b = parse("stick:device_size=128,3,64,64;stride_map=150,64,15000,1");
	assert_int_equal(accel_layout_equal(a, b, ACCEL_DTYPE_F16, SHAPE(5, 100, 150), &answer,
					    NULL), 0);
	assert_int_equal(answer, ACCEL_ANSWER_YES);
	accel_layout_unref(a);
	accel_layout_unref(b);
}

static void explicit_layout_may_skip_a_device_dimension(void **state)
{
	(void)state;
	makes_sticks("stick:device_size=256,1,512,64;stride_map=1,-1,256,-1", SHAPE(512, 256),
		     SHAPE(256, 1, 512, 64), DIM_MAP(1, -1, 0, -1), 256 * 512 * 128);
}

static void it_prints_as_spyre_does(void **state)
{
	static const struct {
		const char *notation;
		const char *expected;
	} cases[] = {
		{ "stick", "SpyreTensorLayout(device_size=[128, 3, 64, 64], dim_map =[1, 2, 0, 2], "
		  "num_stick_dims=1, format=StickFormat.Dense, "
		  "device_dtype=DataFormats.SEN169_FP16)" },
		{ "stick:pad=stick", "SpyreTensorLayout(device_size=[100, 3, 5, 64], "
		  "dim_map =[1, 2, 0, 2], num_stick_dims=1, format=StickFormat.Dense, "
		  "device_dtype=DataFormats.SEN169_FP16)" },
		{ "stick:sparse", "SpyreTensorLayout(device_size=[100, 150, 5, 64], "
		  "dim_map =[1, 2, 0, -1], num_stick_dims=1, format=StickFormat.Sparse, "
		  "device_dtype=DataFormats.SEN169_FP16)" },
	};
	char text[256];

	(void)state;
	for (uint32_t k = 0; k < COUNT(cases); k++) {
		struct accel_layout *layout = parse(cases[k].notation);

		assert_int_equal(accel_layout_print_sticks(layout, ACCEL_DTYPE_F16,
							   SHAPE(5, 100, 150), text, sizeof(text),
							   NULL), strlen(cases[k].expected));
		assert_string_equal(text, cases[k].expected);
		accel_layout_unref(layout);
	}
}

static void other_layouts_do_not_print_as_sticks(void **state)
{
	struct accel_layout *layout = parse("NC");
	char text[256];

	(void)state;
	assert_int_equal(accel_layout_print_sticks(layout, ACCEL_DTYPE_F16, SHAPE(5, 100), text,
						   sizeof(text), NULL), -ENOTSUP);
	accel_layout_unref(layout);
}

static void map_splits_the_stick_dimension(void **state)
{
	(void)state;
	maps_to("stick", SHAPE(5, 100, 150), "(i0, i1, i2) -> (i1, i2//32, i0, i2%32)");
	maps_to("stick:sparse", SHAPE(5, 100), "(i0, i1) -> (i1, i0, 0)");
}

static void padded_stick_dimension_that_is_no_multiple_is_refused(void **state)
{
	(void)state;
	cannot_place("stick:padded=5,3,7;order=0,1,2", ACCEL_DTYPE_F16, SHAPE(5, 100, 150), -EINVAL,
		     "expected a multiple of the 64 elements in a stick");
	cannot_place("stick:padded=5,3,7;order=0,1,2", ACCEL_DTYPE_F16, SHAPE(5, 3, 7), -EINVAL,
		     "the stick dimension 2 is padded to 7");
}

static void padding_less_than_the_shape_is_refused(void **state)
{
	(void)state;
	cannot_place("stick:padded=5,99,192", ACCEL_DTYPE_F16, SHAPE(5, 100, 150), -EINVAL,
		     "dimension 1 of extent 100 is padded to 99");
}

static void unknown_element_type_is_refused(void **state)
{
	(void)state;
	cannot_place("stick", 0, SHAPE(5, 100), -EINVAL, "needs an element type");
}

static void stick_that_is_not_full_is_refused(void **state)
{
	(void)state;
	cannot_place("stick:device_size=3,32;stride_map=32,1", ACCEL_DTYPE_F16, SHAPE(96), -EINVAL,
		     "the last device extent is 32, expected the 64");
}

static void step_that_is_no_multiple_is_refused(void **state)
{
	(void)state;
	cannot_place("stick:device_size=3,64;stride_map=151,1", ACCEL_DTYPE_F16, SHAPE(100, 150),
		     -EINVAL, "number 0 of the stride map is 151");
}

static void steps_that_do_not_divide_are_refused(void **state)
{
	(void)state;
	cannot_place("stick:device_size=3,64,3,64;stride_map=96,64,150,1", ACCEL_DTYPE_F16,
		     SHAPE(3, 150), -EINVAL, "do not divide each other");
}

static void device_extent_without_room_is_refused(void **state)
{
	(void)state;
	cannot_place("stick:device_size=2,64;stride_map=64,1", ACCEL_DTYPE_F16, SHAPE(150), -EINVAL,
		     "device dimension 0 has extent 2, expected at least 3");
}

static void skipped_device_dimension_without_room_is_refused(void **state)
{
	(void)state;
	cannot_place("stick:device_size=0,5,64;stride_map=-1,1,-1", ACCEL_DTYPE_F16, SHAPE(5),
		     -EINVAL, "device dimension 0 has extent 0, expected at least 1");
}

static void dimension_that_is_not_stepped_is_refused(void **state)
{
	(void)state;
	cannot_place("stick:device_size=3,64;stride_map=64,1", ACCEL_DTYPE_F16, SHAPE(4, 150),
		     -EINVAL, "no device dimension steps along dimension 0");
}

static void same_step_twice_is_refused(void **state)
{
	(void)state;
	cannot_place("stick:device_size=64,64;stride_map=1,1", ACCEL_DTYPE_F16, SHAPE(64), -EINVAL,
		     "numbers 0 and 1 of the stride map are the same");
}

static void padding_beyond_63_bits_is_refused(void **state)
{
	(void)state;
	cannot_place("stick", ACCEL_DTYPE_U8, SHAPE(INT64_MAX), -EOVERFLOW, "63 bits");
}

static void unknown_option_is_refused(void **state)
{
	(void)state;
	refuses("stick:foo=1", 7, "expected pad=");
}

static void repeated_option_is_refused(void **state)
{
	(void)state;
	refuses("stick:pad=all;pad=all", 15, "pad is given twice");
}

static void unknown_padding_is_refused(void **state)
{
	(void)state;
	refuses("stick:pad=none", 11, "all or stick");
}

static void order_that_is_no_permutation_is_refused(void **state)
{
	(void)state;
	refuses("stick:order=0,0,2", 13, "has 0 as number 1");
	refuses("stick:order=0,3,2", 13, "has 3 as number 1");
	refuses("stick:order=0,-1,1", 13, "has -1 as number 1");
	refuses("stick:order=", 13, "expected 1 to 16");
	refuses("stick:order=-1", 13, "has 0 dimensions");
}

static void extents_of_another_rank_than_the_order_are_refused(void **state)
{
	(void)state;
	refuses("stick:padded=5,128;order=0,1,2", 7, "padded has 2 extents, expected 3");
}

static void options_that_contradict_are_refused(void **state)
{
	(void)state;
	refuses("stick:padded=5,128;pad=all", 20, "pad cannot stand beside padded");
	refuses("stick:padded=5,128;sparse", 20, "sparse cannot stand beside padded");
	refuses("stick:padded=5,128;order=0,1,-1", 7, "of no use where sticks are sparse");
	refuses("stick:device_size=2,64;stride_map=64,1;order=0", 40, "order cannot stand");
	refuses("stick:device_size=2,64;stride_map=64,1;padded=128", 40, "padded cannot stand");
}

static void device_size_without_stride_map_is_refused(void **state)
{
	(void)state;
	refuses("stick:device_size=2,64", 23, "stride_map= is missing");
	refuses("stick:stride_map=64,1", 22, "device_size= is missing");
}

static void stride_map_of_another_length_is_refused(void **state)
{
	(void)state;
	refuses("stick:device_size=2,64;stride_map=1", 24, "has 1 numbers, expected 2");
}

static void step_of_zero_is_refused(void **state)
{
	(void)state;
	refuses("stick:device_size=2,64;stride_map=0,1", 35, "number 0 of the stride map is 0");
}

static void sticks_are_expressed_from_other_notations(void **state)
{
	(void)state;
	expresses("(i, j, k) -> (j, k//32, i, k%32)", NULL, SHAPE(5, 100, 64), "stick",
		  "stick:pad=stick");
	expresses("(i, j, k) -> (i, k//32, j, k%32)", NULL, SHAPE(5, 100, 64), "stick",
		  "stick:order=1,0,2");
	expresses("topi:BCA32c", NULL, SHAPE(100, 70, 5), "stick", "stick:order=2,0,1");
	expresses("topi:BCA32c", "ABC", SHAPE(5, 100, 70), "stick", "stick:pad=stick");
	expresses("topi:AB32b", NULL, SHAPE(32, 64), "stick",
		  "stick:device_size=32,2,32;stride_map=64,32,1");
	expresses("topi:BA32b", "AB", SHAPE(32, 64), "stick", "stick");
	expresses("topi:AB32b", NULL, SHAPE(5, 70), "stick",
		  "stick:device_size=5,3,32;stride_map=70,32,1");
}

static void padding_that_others_do_not_have_is_not_expressed(void **state)
{
	(void)state;
	expresses("stick", NULL, SHAPE(5, 100, 150), "topi", NULL);
	expresses("stick", NULL, SHAPE(5, 100, 150), "xla", NULL);
	expresses("stick:sparse", NULL, SHAPE(5, 100), "map", NULL);
	expresses("stick", NULL, SHAPE(32, 64), "topi", "BA32b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sticks_print_canonically),
		cmocka_unit_test(all_dimensions_are_padded_by_default),
		cmocka_unit_test(only_the_stick_dimension_is_padded_when_asked),
		cmocka_unit_test(padded_extents_are_given),
		cmocka_unit_test(order_alone_pads_the_stick_dimension),
		cmocka_unit_test(one_and_two_dimensions_have_no_middle),
		cmocka_unit_test(scalar_is_in_a_stick_of_its_own),
		cmocka_unit_test(sparse_sticks_hold_one_element),
		cmocka_unit_test(element_size_decides_the_length_of_a_stick),
		cmocka_unit_test(stride_map_has_host_elements_a_step),
		cmocka_unit_test(explicit_device_size_and_stride_map_say_the_same),
		cmocka_unit_test(explicit_layout_may_skip_a_device_dimension),
		cmocka_unit_test(it_prints_as_spyre_does),
		cmocka_unit_test(other_layouts_do_not_print_as_sticks),
		cmocka_unit_test(map_splits_the_stick_dimension),
		cmocka_unit_test(padded_stick_dimension_that_is_no_multiple_is_refused),
		cmocka_unit_test(padding_less_than_the_shape_is_refused),
		cmocka_unit_test(unknown_element_type_is_refused),
		cmocka_unit_test(stick_that_is_not_full_is_refused),
		cmocka_unit_test(step_that_is_no_multiple_is_refused),
		cmocka_unit_test(steps_that_do_not_divide_are_refused),
		cmocka_unit_test(device_extent_without_room_is_refused),
		cmocka_unit_test(skipped_device_dimension_without_room_is_refused),
		cmocka_unit_test(dimension_that_is_not_stepped_is_refused),
		cmocka_unit_test(same_step_twice_is_refused),
		cmocka_unit_test(padding_beyond_63_bits_is_refused),
		cmocka_unit_test(unknown_option_is_refused),
		cmocka_unit_test(repeated_option_is_refused),
		cmocka_unit_test(unknown_padding_is_refused),
		cmocka_unit_test(order_that_is_no_permutation_is_refused),
		cmocka_unit_test(extents_of_another_rank_than_the_order_are_refused),
		cmocka_unit_test(options_that_contradict_are_refused),
		cmocka_unit_test(device_size_without_stride_map_is_refused),
		cmocka_unit_test(stride_map_of_another_length_is_refused),
		cmocka_unit_test(step_of_zero_is_refused),
		cmocka_unit_test(sticks_are_expressed_from_other_notations),
		cmocka_unit_test(padding_that_others_do_not_have_is_not_expressed),
	};

	return cmocka_run_group_tests_name("notation_stick", tests, NULL, NULL);
}
