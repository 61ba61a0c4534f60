// SPDX-License-Identifier: MIT
/*
 * Layouts: notations parsed and printed, strides and physical shapes of logical shapes.
 */
#include "accel_test.h"

static struct accel_error error;

static void dimension_order_gives_strides_of_logical_axes(void **state)
{
	static const int64_t shape[] = { 1, 64, 56, 56 };
	static const int64_t expected[] = { 200704, 1, 3584, 64 };
	struct accel_layout *layout;
	int64_t strides[4], offset = -1;

	(void)state;
	expect_ok(accel_layout_parse("NHWC", "NCHW", &layout, &error));
	assert_int_equal(accel_layout_rank(layout), 4);
	expect_ok(accel_layout_strides(layout, 4, shape, strides, &offset, &error));
	assert_memory_equal(strides, expected, sizeof(expected));
	assert_int_equal(offset, 0);
	accel_layout_unref(layout);
}

static void axes_in_the_order_of_the_notation_are_row_major(void **state)
{
	static const int64_t shape[] = { 1, 64, 56, 56 };
	static const int64_t expected[] = { 200704, 3136, 56, 1 };
	struct accel_layout *layout;
	int64_t strides[4], offset;

	(void)state;
	expect_ok(accel_layout_parse("NCHW", NULL, &layout, &error));
	expect_ok(accel_layout_strides(layout, 4, shape, strides, &offset, &error));
	assert_memory_equal(strides, expected, sizeof(expected));
	accel_layout_unref(layout);
}

static void axis_that_is_there_twice_has_the_sum_of_strides(void **state)
{
	static const int64_t shape[] = { 5 };
	struct accel_layout *layout;
	int64_t stride, offset;

	(void)state;
	expect_ok(accel_layout_parse("(i) -> (i, i)", NULL, &layout, &error));
	expect_ok(accel_layout_strides(layout, 1, shape, &stride, &offset, &error));
	assert_int_equal(stride, 6);
	accel_layout_unref(layout);
}

static void dimension_order_gives_the_physical_shape(void **state)
{
	static const int64_t shape[] = { 1, 64, 56, 57 };
	static const int64_t expected[] = { 1, 56, 57, 64 };
	struct accel_layout *layout;
	int64_t physical_shape[4];

	(void)state;
	expect_ok(accel_layout_parse("NHWC", "NCHW", &layout, &error));
	expect_ok(accel_layout_physical_shape(layout, 4, shape, physical_shape, &error));
	assert_memory_equal(physical_shape, expected, sizeof(expected));
	accel_layout_unref(layout);
}

static void empty_shape_has_the_strides_of_extents_of_one(void **state)
{
	static const int64_t shape[] = { 2, 0, 3 };
	static const int64_t expected[] = { 3, 3, 1 };
	struct accel_layout *layout;
	int64_t strides[3], offset;

	(void)state;
	expect_ok(accel_layout_parse("ABC", NULL, &layout, &error));
	expect_ok(accel_layout_strides(layout, 3, shape, strides, &offset, &error));
	assert_memory_equal(strides, expected, sizeof(expected));
	accel_layout_unref(layout);
}

static void no_axes_is_a_scalar(void **state)
{
	struct accel_layout *layout;
	int64_t offset = -1;

	(void)state;
	expect_ok(accel_layout_parse("", NULL, &layout, &error));
	assert_int_equal(accel_layout_rank(layout), 0);
	expect_ok(accel_layout_strides(layout, 0, NULL, NULL, &offset, &error));
	assert_int_equal(offset, 0);
	accel_layout_unref(layout);
}

static void strides_are_taken_as_they_are(void **state)
{
	static const int64_t shape[] = { 4, 3 };
	static const int64_t expected[] = { 0, -1 };
	struct accel_layout *layout;
	int64_t strides[2], offset;

	(void)state;
	expect_ok(accel_layout_parse("strides:0,-1@2", NULL, &layout, &error));
	expect_ok(accel_layout_strides(layout, 2, shape, strides, &offset, &error));
	assert_memory_equal(strides, expected, sizeof(expected));
	assert_int_equal(offset, 2);
	accel_layout_unref(layout);
}

static void print_is_what_parse_reads(void **state)
{
	static const char *const notations[] = {
		"", "NHWC", "ABCDEFGHIJKLMNOP", "strides:", "strides:1", "strides:@7",
		"strides:12,-1,0@-5",
		"strides:-9223372036854775808,9223372036854775807@-9223372036854775808",
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < COUNT(notations); i++) {
		struct accel_layout *layout;

		expect_ok(accel_layout_parse(notations[i], NULL, &layout, &error));
		assert_int_equal(accel_layout_print(layout, text, sizeof(text)),
				 strlen(notations[i]));
		assert_string_equal(text, notations[i]);
		accel_layout_unref(layout);
	}
}

static void print_writes_what_fits(void **state)
{
	struct accel_layout *layout;
	char text[3];

	(void)state;
	expect_ok(accel_layout_parse("NHWC", NULL, &layout, &error));
	assert_int_equal(accel_layout_print(layout, text, sizeof(text)), 4);
	assert_string_equal(text, "NH");
	assert_int_equal(accel_layout_print(layout, NULL, 0), 4);
	accel_layout_unref(layout);
}

static void reference_keeps_a_layout(void **state)
{
	struct accel_layout *layout;

	(void)state;
	expect_ok(accel_layout_parse("NHWC", NULL, &layout, &error));
	assert_ptr_equal(accel_layout_ref(layout), layout);
	accel_layout_unref(layout);
	assert_int_equal(accel_layout_rank(layout), 4);
	accel_layout_unref(layout);
	accel_layout_unref(NULL);
}

/* Bad notations, with the column of the fault and the message. */
static const struct bad_notation {
	const char *notation;
	const char *axes;
	int column;
	const char *message;
} bad_notations[] = {
	{ "order:NHwC", NULL, 9,
	  "layout: found 'w' at column 9, expected an axis, an upper-case letter from A to Z" },
	{ "NHwC", NULL, 3,
	  "layout: axis w at column 3 has no factor, expected one as in 16w" },
	{ "N\033HW", NULL, 2,
	  "layout: found byte 0x1b at column 2, expected an axis, a factor or the end" },
	{ "NHN", NULL, 3, "layout: found 'N' at column 3, expected each axis once" },
	{ "ABCDEFGHIJKLMNOPQ", NULL, 17,
	  "layout: found 'Q' at column 17, expected at most 16 axes" },
	{ "NHWX", "NCHW", 4, "layout: axis X is none of \"NCHW\"" },
	{ "NHW", "NCHW", 4, "layout: axis C of \"NCHW\" is missing" },
	{ "NHWC", "NHxC", 0,
	  "axes: layout: found 'x' at column 3, expected an axis, an upper-case letter "
	  "from A to Z" },
	{ "strides:1,", NULL, 11, "layout: found the end at column 11, expected a number" },
	{ "strides:,1", NULL, 9, "layout: found ',' at column 9, expected a number" },
	{ "strides: 1", NULL, 9, "layout: found ' ' at column 9, expected a number" },
	{ "strides:+1", NULL, 9, "layout: found '+' at column 9, expected a number" },
	{ "strides:1-", NULL, 10, "layout: found '-' at column 10, expected ',', '@' or the end" },
	{ "strides:-", NULL, 10, "layout: found the end at column 10, expected a number" },
	{ "strides:1@2@3", NULL, 12, "layout: found '@' at column 12, expected the end" },
	{ "strides:1@", NULL, 11, "layout: found the end at column 11, expected a number" },
	{ "strides:1,9223372036854775808", NULL, 11,
	  "layout: the number at column 11 does not fit 64 bits" },
	{ "strides:1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", NULL, 48,
	  "layout: found '1' at column 48, expected at most 16 numbers" },
};

static void bad_notation_is_refused_with_its_column(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad_notations); i++) {
		const struct bad_notation *bad = &bad_notations[i];
		struct accel_layout *layout = (void *)1;

		expect_failure(accel_layout_parse(bad->notation, bad->axes, &layout, &error),
			       -EINVAL, bad->message);
		assert_int_equal(error.column, bad->column);
		assert_null(layout);
	}
}

static void missing_notation_is_refused(void **state)
{
	struct accel_layout *layout;

	(void)state;
	expect_failure(accel_layout_parse(NULL, NULL, &layout, &error), -EINVAL,
		       "layout: no notation was given");
}

static void shape_of_another_rank_is_refused(void **state)
{
	static const int64_t shape[] = { 1, 2, 3 };
	struct accel_layout *layout;
	int64_t strides[3], offset;

	(void)state;
	expect_ok(accel_layout_parse("NHWC", NULL, &layout, &error));
	expect_failure(accel_layout_strides(layout, 3, shape, strides, &offset, &error), -EINVAL,
		       "layout of 4 axes: the shape has 3, expected 4");
	accel_layout_unref(layout);
}

static void negative_extent_is_refused(void **state)
{
	static const int64_t shape[] = { 1, -2 };
	struct accel_layout *layout;
	int64_t physical_shape[2];

	(void)state;
	expect_ok(accel_layout_parse("HW", NULL, &layout, &error));
	expect_failure(accel_layout_physical_shape(layout, 2, shape, physical_shape, &error),
		       -EINVAL, "shape: extent 1 is -2, expected 0 or more");
	accel_layout_unref(layout);
}

static void strides_beyond_63_bits_are_refused(void **state)
{
	static const int64_t shape[] = { 2, INT64_MAX };
	struct accel_layout *layout;
	int64_t strides[2], offset;

	(void)state;
	expect_ok(accel_layout_parse("HW", NULL, &layout, &error));
	expect_failure(accel_layout_strides(layout, 2, shape, strides, &offset, &error),
		       -EOVERFLOW, "layout: the elements of this shape are not counted by 63 bits");
	accel_layout_unref(layout);
}

static void strides_have_no_physical_shape(void **state)
{
	static const int64_t shape[] = { 2 };
	struct accel_layout *layout;
	int64_t physical_shape[1];

	(void)state;
	expect_ok(accel_layout_parse("strides:1", NULL, &layout, &error));
	expect_failure(accel_layout_physical_shape(layout, 1, shape, physical_shape, &error),
		       -ENOTSUP,
		       "layout: strides have no physical shape, a dimension order has");
	accel_layout_unref(layout);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dimension_order_gives_strides_of_logical_axes),
		cmocka_unit_test(axes_in_the_order_of_the_notation_are_row_major),
		cmocka_unit_test(axis_that_is_there_twice_has_the_sum_of_strides),
		cmocka_unit_test(dimension_order_gives_the_physical_shape),
		cmocka_unit_test(empty_shape_has_the_strides_of_extents_of_one),
		cmocka_unit_test(no_axes_is_a_scalar),
		cmocka_unit_test(strides_are_taken_as_they_are),
		cmocka_unit_test(print_is_what_parse_reads),
		cmocka_unit_test(print_writes_what_fits),
		cmocka_unit_test(reference_keeps_a_layout),
		cmocka_unit_test(bad_notation_is_refused_with_its_column),
		cmocka_unit_test(missing_notation_is_refused),
		cmocka_unit_test(shape_of_another_rank_is_refused),
		cmocka_unit_test(negative_extent_is_refused),
		cmocka_unit_test(strides_beyond_63_bits_are_refused),
		cmocka_unit_test(strides_have_no_physical_shape),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
