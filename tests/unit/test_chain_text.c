// SPDX-License-Identifier: MIT
/*
 * What the options of accel run and plan say: names in computations, windows, indices, shapes and
 * values of elements.
 */
#include <math.h>

#include "accel_test.h"
#include "chain_shape.h"
#include "chain_text.h"
#include "element.h"

static struct accel_error error;

/* Names of a computation ----------------------------------------------------------------------- */

static void names_come_in_the_order_of_the_text(void **state)
{
	struct compute_names names;

	(void)state;
	compute_names("x[m,n,k] = a[m,n] * b [n,k] + a[m,n]", &names);
	assert_string_equal(names.result, "x");
	assert_int_equal(names.num_targets, 0);
	assert_int_equal(names.num_sources, 2);
	assert_string_equal(names.sources[0], "a");
	assert_string_equal(names.sources[1], "b");
}

static void functions_and_axes_are_no_tensors(void **state)
{
	struct compute_names names;

	(void)state;
	compute_names("y[n,c] = relu(x[n,c] * s[c])", &names);
	assert_int_equal(names.num_sources, 2);
	assert_string_equal(names.sources[0], "x");
	assert_string_equal(names.sources[1], "s");
}

static void indices_inside_of_brackets_are_tensors(void **state)
{
	struct compute_names names;

	(void)state;
	compute_names("s[rows[i],j] = table[cols[i], j]", &names);
	assert_string_equal(names.result, "s");
	assert_int_equal(names.num_targets, 1);
	assert_string_equal(names.targets[0], "rows");
	assert_int_equal(names.num_sources, 2);
	assert_string_equal(names.sources[1], "cols");
}

static void comparisons_do_not_define(void **state)
{
	struct compute_names names;

	(void)state;
	compute_names("y[i <= 3, j == 2] = select(i != j and i >= 1, x[i], 0)", &names);
	assert_string_equal(names.result, "y");
	assert_int_equal(names.num_targets, 0);
	assert_int_equal(names.num_sources, 1);
}

static void text_that_defines_nothing_has_no_names(void **state)
{
	struct compute_names names;

	(void)state;
	compute_names("x[i] + 7", &names);
	assert_string_equal(names.result, "");
	assert_int_equal(names.num_sources, 0);
}

static void too_many_names_are_left_to_the_library(void **state)
{
	struct compute_names names;

	(void)state;
	compute_names("y[i] = a[i]+b[i]+c[i]+d[i]+e[i]+f[i]+g[i]+h[i]+j[i]+k[i]"
		      "+a_name_of_more_than_thirty_one_characters[i]", &names);
	assert_int_equal(names.num_sources, COMPUTE_MAX_NAMES);
}

/* Windows and indices -------------------------------------------------------------------------- */

static void windows_have_stride_and_dilation_1(void **state)
{
	struct accel_im2col im2col;

	(void)state;
	expect_ok(im2col_parse("kernel=3", false, &im2col, &error));
	assert_int_equal(im2col.kernel[0], 3);
	assert_int_equal(im2col.kernel[1], 3);
	assert_int_equal(im2col.stride[1], 1);
	assert_int_equal(im2col.pad[0], 0);
	assert_int_equal(im2col.dilation[0], 1);
	assert_false(im2col.is_nhwc);
}

static void windows_take_all_their_keys(void **state)
{
	struct accel_im2col im2col;

	(void)state;
	expect_ok(im2col_parse("pad=1,2;kernel=3,4;layout=NHWC;stride=5,6;dilation=7,8", false,
			       &im2col, &error));
	assert_int_equal(im2col.pad[1], 2);
	assert_int_equal(im2col.kernel[1], 4);
	assert_int_equal(im2col.stride[0], 5);
	assert_int_equal(im2col.dilation[1], 8);
	assert_true(im2col.is_nhwc);
}

static const struct {
	const char *text;
	int column;
	const char *message;
} bad_windows[] = {
	{ "", 1, "--im2col: expected kernel=, stride=, pad=, dilation= or layout= at column 1" },
	{ "size=3", 1, "--im2col: expected kernel=, stride=, pad=, dilation= or layout= at column "
	  "1" },
	{ "kernel=3,3;", 12, "--im2col: expected kernel=, stride=, pad=, dilation= or layout= at "
	  "column 12" },
	{ "kernel=", 8, "--im2col: expected one or two numbers in range, then ; at column 8" },
	{ "kernel=0", 8, "--im2col: expected one or two numbers in range, then ; at column 8" },
	{ "kernel=3,3,3", 12, "--im2col: expected one or two numbers in range, then ; at column "
	  "12" },
	{ "kernel=3x", 9, "--im2col: expected one or two numbers in range, then ; at column 9" },
	{ "stride=2", 9, "--im2col: expected kernel= as well at column 9" },
	{ "layout=CHWN", 8, "--im2col: expected NCHW or NHWC at column 8" },
	{ "layout=NHWC4", 12, "--im2col: expected ; or the end at column 12" },
};

static void bad_windows_are_refused(void **state)
{
	struct accel_im2col im2col;

	(void)state;
	for (uint32_t i = 0; i < COUNT(bad_windows); i++) {
		expect_failure(im2col_parse(bad_windows[i].text, false, &im2col, &error), -EINVAL,
			       bad_windows[i].message);
		assert_int_equal(error.column, bad_windows[i].column);
	}
}

static void path_of_indices_is_the_rest_of_the_text(void **state)
{
	const char *path;
	uint32_t axis;

	(void)state;
	expect_ok(gather_parse("axis=2;index=a;b=c.npy", &axis, &path, &error));
	assert_int_equal(axis, 2);
	assert_string_equal(path, "a;b=c.npy");
}

static const struct {
	const char *text;
	const char *message;
} bad_gathers[] = {
	{ "index=i.npy", "--gather: expected axis= at column 1" },
	{ "axis=;index=i", "--gather: expected the number of an axis at column 6" },
	{ "axis=16;index=i", "--gather: expected the number of an axis at column 6" },
	{ "axis=-1;index=i", "--gather: expected the number of an axis at column 6" },
	{ "axis=1", "--gather: expected ;index= and a path at column 7" },
	{ "axis=1;index=", "--gather: expected ;index= and a path at column 7" },
	{ "axis=1;indices=i", "--gather: expected ;index= and a path at column 7" },
};

static void bad_gathers_are_refused(void **state)
{
	const char *path;
	uint32_t axis;

	(void)state;
	for (uint32_t i = 0; i < COUNT(bad_gathers); i++)
		expect_failure(gather_parse(bad_gathers[i].text, &axis, &path, &error), -EINVAL,
			       bad_gathers[i].message);
}

static void numbers_may_stand_in_parentheses(void **state)
{
	int64_t numbers[4];
	uint32_t count;

	(void)state;
	assert_string_equal(chain_numbers("(1, 64,56)", 0, 4, &count, numbers), "");
	assert_int_equal(count, 3);
	assert_int_equal(numbers[1], 64);
	assert_string_equal(chain_numbers("1,2,", 0, 4, &count, numbers), "");
	assert_string_equal(chain_numbers("(1,2", 0, 4, &count, numbers), "(1,2");
	assert_string_equal(chain_numbers("1,x", 0, 4, &count, numbers), "x");
	assert_string_equal(chain_numbers("1,2", 2, 4, &count, numbers), "1,2");
	assert_string_equal(chain_numbers("1,2,3", 0, 2, &count, numbers), "3");
	assert_string_equal(chain_numbers("9223372036854775808", 0, 2, &count, numbers),
			    "9223372036854775808");
}

/* Shapes --------------------------------------------------------------------------------------- */

static int measure(void *context, uint32_t rank, const int64_t *shape, uint32_t *physical_rank,
		   int64_t *physical_shape, struct accel_error *e)
{
	return accel_map_apply_shape(context, rank, shape, physical_rank, physical_shape, e);
}

/* The shape before a map, of what it makes; the result of the search. */
static int search(const char *text, uint32_t physical_rank, const int64_t *physical_shape,
		  int64_t *shape)
{
	struct accel_map *map;
	int ret;

	expect_ok(accel_map_parse(text, &map, &error));
	ret = chain_logical_shape(measure, map, "--map", accel_map_num_inputs(map), physical_rank,
				  physical_shape, shape, &error);
	accel_map_unref(map);
	return ret;
}

static void shape_before_a_split_has_no_padding(void **state)
{
	static const int64_t physical_shape[] = { 2, 3, 5, 7, 4 };
	int64_t shape[4];

	(void)state;
	assert_int_equal(search("(n,c,h,w) -> (n,c//4,h,w,c%4)", 5, physical_shape, shape), 0);
	assert_int_equal(shape[0], 2);
	assert_int_equal(shape[1], 12);
	assert_int_equal(shape[2], 5);
	assert_int_equal(shape[3], 7);
}

static void shape_that_a_map_does_not_make_is_refused(void **state)
{
	static const int64_t physical_shape[] = { 3, 5 };
	int64_t shape[4];

	(void)state;
	assert_int_equal(search("(i) -> (i//4, i%4)", 2, physical_shape, shape), -EINVAL);
	assert_string_equal(error.message, "--map: the input is (3,5), expected (3,4) for a tensor "
			    "of (12)");
}

static void empty_shape_says_nothing_of_the_one_before(void **state)
{
	static const int64_t physical_shape[] = { 0, 4 };
	int64_t shape[4];

	(void)state;
	assert_int_equal(search("(i) -> (i//4, i%4)", 2, physical_shape, shape), -EINVAL);
	assert_string_equal(error.message, "--map: the input is empty, which says nothing of the "
			    "shape before");
}

/* Values --------------------------------------------------------------------------------------- */

static const struct {
	enum accel_dtype dtype;
	const char *text;
	uint64_t bits;
} good_values[] = {
	{ ACCEL_DTYPE_U8, "255", 0xff },
	{ ACCEL_DTYPE_I8, "-128", 0x80 },
	{ ACCEL_DTYPE_I8, "-1", 0xff },
	{ ACCEL_DTYPE_I16, "0x7f", 0x7f },
	{ ACCEL_DTYPE_U16, "010", 10 },
	{ ACCEL_DTYPE_I32, "-2147483648", 0x80000000 },
	{ ACCEL_DTYPE_U64, "18446744073709551615", UINT64_MAX },
	{ ACCEL_DTYPE_I64, "-9223372036854775808", 0x8000000000000000 },
	{ ACCEL_DTYPE_RAW32, "0xdeadbeef", 0xdeadbeef },
	{ ACCEL_DTYPE_RAW128, "0xffffffffffffffff", UINT64_MAX },
	{ ACCEL_DTYPE_F16, "1.5", 0x3e00 },
	{ ACCEL_DTYPE_F16, "-inf", 0xfc00 },
	{ ACCEL_DTYPE_BF16, "1", 0x3f80 },
	{ ACCEL_DTYPE_F32, "-0.5", 0xbf000000 },
	{ ACCEL_DTYPE_F32, "1e-3", 0x3a83126f },
	{ ACCEL_DTYPE_F64, "2", 0x4000000000000000 },
};

static void values_become_the_bits_of_an_element(void **state)
{
	uint64_t bits[2];

	(void)state;
	for (uint32_t i = 0; i < COUNT(good_values); i++) {
		expect_ok(element_parse(good_values[i].text, good_values[i].dtype, bits, &error));
		assert_int_equal(bits[0], good_values[i].bits);
		assert_int_equal(bits[1], 0);
	}
}

static const struct {
	enum accel_dtype dtype;
	const char *text;
	const char *message;
} bad_values[] = {
	{ ACCEL_DTYPE_U8, "256", "value '256' for u8: expected an integer that fits" },
	{ ACCEL_DTYPE_U8, "-1", "value '-1' for u8: expected an integer that fits" },
	{ ACCEL_DTYPE_I8, "128", "value '128' for i8: expected an integer that fits" },
	{ ACCEL_DTYPE_I8, "-129", "value '-129' for i8: expected an integer that fits" },
	{ ACCEL_DTYPE_U64, "18446744073709551616", "value '18446744073709551616' for u64: expected "
	  "an integer that fits" },
	{ ACCEL_DTYPE_I32, "1.5", "value '1.5' for i32: expected an integer" },
	{ ACCEL_DTYPE_I32, "", "value '' for i32: expected an integer" },
	{ ACCEL_DTYPE_I32, " 1", "value ' 1' for i32: expected an integer" },
	{ ACCEL_DTYPE_F32, "x", "value 'x' for f32: expected a number, inf or nan" },
	{ ACCEL_DTYPE_F32, "1x", "value '1x' for f32: expected a number, inf or nan" },
	{ ACCEL_DTYPE_F64, "", "value '' for f64: expected a number, inf or nan" },
};

static void bad_values_are_refused(void **state)
{
	uint64_t bits[2];

	(void)state;
	for (uint32_t i = 0; i < COUNT(bad_values); i++)
		expect_failure(element_parse(bad_values[i].text, bad_values[i].dtype, bits, &error),
			       -EINVAL, bad_values[i].message);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_come_in_the_order_of_the_text),
		cmocka_unit_test(functions_and_axes_are_no_tensors),
		cmocka_unit_test(indices_inside_of_brackets_are_tensors),
		cmocka_unit_test(comparisons_do_not_define),
		cmocka_unit_test(text_that_defines_nothing_has_no_names),
		cmocka_unit_test(too_many_names_are_left_to_the_library),
		cmocka_unit_test(windows_have_stride_and_dilation_1),
		cmocka_unit_test(windows_take_all_their_keys),
		cmocka_unit_test(bad_windows_are_refused),
		cmocka_unit_test(path_of_indices_is_the_rest_of_the_text),
		cmocka_unit_test(bad_gathers_are_refused),
		cmocka_unit_test(numbers_may_stand_in_parentheses),
		cmocka_unit_test(shape_before_a_split_has_no_padding),
		cmocka_unit_test(shape_that_a_map_does_not_make_is_refused),
		cmocka_unit_test(empty_shape_says_nothing_of_the_one_before),
		cmocka_unit_test(values_become_the_bits_of_an_element),
		cmocka_unit_test(bad_values_are_refused),
	};

	return cmocka_run_group_tests_name("chain text", tests, NULL, NULL);
}
