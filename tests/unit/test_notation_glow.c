// SPDX-License-Identifier: MIT
/*
 * Glow's layout strings: text, alignment, attributes, and what satisfies them.
 */
#include "notation_test.h"

static void glow_prints_as_it_is_written(void **state)
{
	(void)state;
	prints("glow:N[a=32][namespace_for_unsupported:<bla>]HWC",
	       "glow:N[a=32][namespace_for_unsupported:<bla>]HWC");
	prints("N[a=32]*H*[a=64]", "glow:N[a=32]*H*[a=64]");
	prints("glow:N [a=32] H\tW C", "glow:N[a=32]HWC");
	prints("****", "glow:****");
	prints("glow:nchw", "glow:nchw");
	prints("glow:N[ns:a=b:[c d]", "glow:N[ns:a=b:[c d]");
}

static void alignment_rounds_the_stride_up(void **state)
{
	struct accel_layout_description description =
		describe_as("glow:N[a=32]HWC", NULL, ACCEL_DTYPE_F16, SHAPE(2, 3, 5, 3));

	(void)state;
	expect_numbers("strides", 4, description.strides, SHAPE(48, 15, 3, 1));
	expect_numbers("alignment", 4, description.alignment, SHAPE(32, 1, 1, 1));
	assert_int_equal(description.bytes, 2 * 48 * 2);
}

static void alignment_of_an_inner_axis_carries_outwards(void **state)
{
	struct accel_layout_description description =
		describe_as("glow:NH[a=64]W", NULL, ACCEL_DTYPE_F32, SHAPE(2, 3, 5));

	(void)state;
	expect_numbers("strides", 3, description.strides, SHAPE(48, 16, 1));
}

static void alignment_that_is_no_multiple_of_an_element_is_met_by_both(void **state)
{
	struct accel_layout_description description =
		describe_as("glow:N[a=6]H", NULL, ACCEL_DTYPE_F32, SHAPE(2, 4));

	(void)state;
	/* 12 bytes are the least multiple of 6 and of 4; 24 hold four elements */
	expect_numbers("strides", 2, description.strides, SHAPE(6, 1));
}

static void alignment_needs_an_element_type(void **state)
{
	(void)state;
	cannot_place("glow:N[a=32]H", 0, SHAPE(2, 3), -EINVAL, "need an element type");
}

static void alignment_beyond_63_bits_is_refused(void **state)
{
	(void)state;
	cannot_place("glow:N[a=9223372036854775807]H", ACCEL_DTYPE_F32, SHAPE(3, 5), -EOVERFLOW,
		     "63 bits");
	/* the last row ends where the next would begin */
	cannot_place("glow:N[a=4611686018427387904]H", ACCEL_DTYPE_F16, SHAPE(2, 1), -EOVERFLOW,
		     "63 bits");
}

static void axis_is_a_letter_or_a_star(void **state)
{
	(void)state;
	refuses("glow:N1", 7, "found '1'");
	refuses("glow:[a=32]N", 6, "found '['");
}

static void alignment_of_zero_is_refused(void **state)
{
	(void)state;
	refuses("glow:N[a=0]", 10, "at least 1");
}

static void malformed_alignment_is_refused(void **state)
{
	(void)state;
	refuses("glow:N[a=]", 10, "found ']'");
	refuses("glow:N[a=-4]", 10, "found '-'");
	refuses("glow:N[a=4x]", 11, "found 'x'");
	refuses("glow:N[a=4", 11, "found the end");
	refuses("glow:N[a=9223372036854775808]", 10, "does not fit 64 bits");
}

static void second_alignment_of_an_axis_is_refused(void **state)
{
	(void)state;
	refuses("glow:N[a=4][a=8]", 13, "two alignments");
}

static void attribute_without_namespace_is_refused(void **state)
{
	(void)state;
	refuses("glow:N[foo]", 11, "a namespace and ':'");
	refuses("glow:N[:foo]", 8, "a namespace");
	refuses("glow:N[a:foo]", 9, "a= and an alignment");
	refuses("glow:N[]", 8, "found ']'");
}

static void repeated_namespace_is_refused(void **state)
{
	(void)state;
	refuses("glow:N[ns:1][ns:2]", 14, "there twice");
}

static void open_attribute_is_refused(void **state)
{
	(void)state;
	refuses("glow:N[ns:data", 15, "found the end");
}

static void too_many_attributes_are_refused(void **state)
{
	char text[2048] = "glow:N";

	(void)state;
	for (int k = 0; k < 65; k++)
		sprintf(text + strlen(text), "[n%d:]", k);
	refuses(text, 382, "at most 64");
}

static void seventeen_axes_are_refused(void **state)
{
	(void)state;
	refuses("glow:*****************", 22, "at most 16");
}

/* Attributes -------------------------------------------------------------------------------- */

static void attributes_are_read(void **state)
{
	struct accel_layout *layout = parse("glow:N[a=32][ns:data]H");
	int64_t alignment;
	char value[16];

	(void)state;
	assert_int_equal(accel_layout_alignment(layout, 0, &alignment, NULL), 0);
	assert_int_equal(alignment, 32);
	assert_int_equal(accel_layout_alignment(layout, 1, &alignment, NULL), 0);
	assert_int_equal(alignment, 1);
	assert_int_equal(accel_layout_attribute(layout, 0, "ns", value, sizeof(value), NULL), 4);
	assert_string_equal(value, "data");
	assert_int_equal(accel_layout_attribute(layout, 0, "a", value, sizeof(value), NULL), 2);
	assert_string_equal(value, "32");
	assert_int_equal(accel_layout_attribute(layout, 0, "n", value, sizeof(value), NULL),
			 -ENOENT);
	assert_int_equal(accel_layout_attribute(layout, 1, "ns", value, sizeof(value), NULL),
			 -ENOENT);
	accel_layout_unref(layout);
}

static void edits(const char *notation, uint32_t axis, const char *name, const char *value,
		  const char *expected)
{
	struct accel_layout *layout = parse(notation), *result;
	char text[256];

	assert_int_equal(accel_layout_set_attribute(layout, axis, name, value, &result, NULL), 0);
	accel_layout_print(result, text, sizeof(text));
	assert_string_equal(text, expected);
	accel_layout_unref(result);
	accel_layout_unref(layout);
}

static void attributes_are_edited(void **state)
{
	(void)state;
	edits("glow:NHWC", 0, "a", "32", "glow:N[a=32]HWC");
	edits("glow:N[a=32][ns:x]H", 0, "a", "64", "glow:N[ns:x][a=64]H");
	edits("glow:N[a=32][ns:x]H", 0, "a", NULL, "glow:N[ns:x]H");
	edits("glow:N[a=32][ns:x]H", 0, "ns", NULL, "glow:N[a=32]H");
	edits("glow:N[a=32]H[ns:x]", 1, "ocl", "tile=4", "glow:N[a=32]H[ns:x][ocl:tile=4]");
	edits("glow:N*", 1, "ns", "", "glow:N*[ns:]");
}

static void wrong_edits_are_refused(void **state)
{
	struct accel_layout *layout = parse("glow:NHWC"), *result;

	(void)state;
	assert_int_equal(accel_layout_set_attribute(layout, 0, "a", "0", &result, NULL), -EINVAL);
	assert_int_equal(accel_layout_set_attribute(layout, 0, "a", "x", &result, NULL), -EINVAL);
	assert_int_equal(accel_layout_set_attribute(layout, 0, "ns", "a]C", &result, NULL),
			 -EINVAL);
	assert_int_equal(accel_layout_set_attribute(layout, 0, "n:s", "a", &result, NULL), -EINVAL);
	assert_int_equal(accel_layout_set_attribute(layout, 0, "", "a", &result, NULL), -EINVAL);
	assert_int_equal(accel_layout_set_attribute(layout, 4, "a", "8", &result, NULL), -EINVAL);
	assert_null(result);
	accel_layout_unref(layout);
}

static void other_notations_have_no_attributes(void **state)
{
	struct accel_layout *layout = parse("NHWC"), *result;
	int64_t alignment;
	char value[8];

	(void)state;
	assert_int_equal(accel_layout_alignment(layout, 0, &alignment, NULL), -ENOTSUP);
	assert_int_equal(accel_layout_attribute(layout, 0, "a", value, 8, NULL), -ENOTSUP);
	assert_int_equal(accel_layout_set_attribute(layout, 0, "a", "8", &result, NULL), -ENOTSUP);
	accel_layout_unref(layout);
}

/* Satisfaction ------------------------------------------------------------------------------ */

static int satisfies(const char *required, const char *found, uint32_t rank,
		     const int64_t *strides, const char *words)
{
	struct accel_layout *required_layout = parse(required);
	struct accel_layout *found_layout = found ? parse(found) : NULL;
	struct accel_error error = { 0 };
	int ret = accel_layout_satisfies(required_layout, found_layout, ACCEL_DTYPE_F32, rank,
					 strides, &error);

	if (!strstr(error.message, words))
		fail_msg("the message is \"%s\", expected \"%s\" in it", error.message, words);
	accel_layout_unref(required_layout);
	accel_layout_unref(found_layout);
	return ret;
}

static void alignment_is_checked_against_strides(void **state)
{
	(void)state;
	assert_int_equal(satisfies("glow:N[a=32]H", NULL, SHAPE(8, 1), ""), 1);
	assert_int_equal(satisfies("glow:N[a=32]H", NULL, SHAPE(9, 1),
				   "the stride of axis 0 is 36 bytes"), 0);
	assert_int_equal(satisfies("glow:NH[a=64]", NULL, SHAPE(8, 1), "axis 1"), 0);
}

static void star_agrees_with_any_axis_on_either_side(void **state)
{
	(void)state;
	assert_int_equal(satisfies("glow:NHWC", "glow:****", SHAPE(8, 4, 2, 1), ""), 1);
	assert_int_equal(satisfies("glow:****", "glow:NCHW", SHAPE(8, 4, 2, 1), ""), 1);
	assert_int_equal(satisfies("glow:N*WC", "glow:NHW*", SHAPE(8, 4, 2, 1), ""), 1);
}

static void other_letters_do_not_agree(void **state)
{
	(void)state;
	assert_int_equal(satisfies("glow:NHWC", "glow:NCHW", SHAPE(8, 4, 2, 1),
				   "axis 1 is C, required is H"), 0);
	assert_int_equal(satisfies("glow:N", "glow:n", SHAPE(1), "axis 0 is n"), 0);
}

static void other_ranks_do_not_agree(void **state)
{
	(void)state;
	assert_int_equal(satisfies("glow:NHWC", NULL, SHAPE(4, 2, 1), "has 3 axes, required are 4"),
			 0);
	assert_int_equal(satisfies("glow:NH", "glow:NHW", SHAPE(2, 1), "it has 3 axes"), 0);
}

static void alignment_of_what_is_found_is_not_asked(void **state)
{
	(void)state;
	assert_int_equal(satisfies("glow:N[a=32]H", "glow:NH", SHAPE(8, 1), ""), 1);
}

static void opaque_attributes_have_to_be_there(void **state)
{
	(void)state;
	assert_int_equal(satisfies("glow:N[ns:x]", "glow:N", SHAPE(1), "[ns:x]"), 0);
	assert_int_equal(satisfies("glow:N[ns:x]", "glow:N[ns:y]", SHAPE(1), "[ns:x]"), 0);
	assert_int_equal(satisfies("glow:N[ns:x]", "glow:N[o:z][ns:x]", SHAPE(1), ""), 1);
	assert_int_equal(satisfies("glow:N", "glow:N[ns:x]", SHAPE(1), ""), 1);
}

static void other_notations_are_no_requirements(void **state)
{
	struct accel_layout *layout = parse("NHWC");

	(void)state;
	assert_int_equal(accel_layout_satisfies(layout, NULL, ACCEL_DTYPE_F32,
						SHAPE(8, 4, 2, 1), NULL), -ENOTSUP);
	accel_layout_unref(layout);
}

static void glow_is_expressed_from_other_notations(void **state)
{
	(void)state;
	expresses("NHWC", NULL, SHAPE(2, 3, 4, 5), "glow", "glow:NHWC");
	expresses("NHWC", "NCHW", SHAPE(2, 3, 4, 5), "glow", NULL);
	expresses("(n, c) -> (n, c//8, c%8)", NULL, SHAPE(3, 20), "glow", "glow:N[a=32]C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(glow_prints_as_it_is_written),
		cmocka_unit_test(alignment_rounds_the_stride_up),
		cmocka_unit_test(alignment_of_an_inner_axis_carries_outwards),
		cmocka_unit_test(alignment_that_is_no_multiple_of_an_element_is_met_by_both),
		cmocka_unit_test(alignment_needs_an_element_type),
		cmocka_unit_test(alignment_beyond_63_bits_is_refused),
		cmocka_unit_test(axis_is_a_letter_or_a_star),
		cmocka_unit_test(alignment_of_zero_is_refused),
		cmocka_unit_test(malformed_alignment_is_refused),
		cmocka_unit_test(second_alignment_of_an_axis_is_refused),
		cmocka_unit_test(attribute_without_namespace_is_refused),
		cmocka_unit_test(repeated_namespace_is_refused),
		cmocka_unit_test(open_attribute_is_refused),
		cmocka_unit_test(too_many_attributes_are_refused),
		cmocka_unit_test(seventeen_axes_are_refused),
		cmocka_unit_test(attributes_are_read),
		cmocka_unit_test(attributes_are_edited),
		cmocka_unit_test(wrong_edits_are_refused),
		cmocka_unit_test(other_notations_have_no_attributes),
		cmocka_unit_test(alignment_is_checked_against_strides),
		cmocka_unit_test(star_agrees_with_any_axis_on_either_side),
		cmocka_unit_test(other_letters_do_not_agree),
		cmocka_unit_test(other_ranks_do_not_agree),
		cmocka_unit_test(alignment_of_what_is_found_is_not_asked),
		cmocka_unit_test(opaque_attributes_have_to_be_there),
		cmocka_unit_test(other_notations_are_no_requirements),
		cmocka_unit_test(glow_is_expressed_from_other_notations),
	};

	return cmocka_run_group_tests_name("notation_glow", tests, NULL, NULL);
}
