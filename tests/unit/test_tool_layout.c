// SPDX-License-Identifier: MIT
/*
 * accel layout: arguments, exit status, messages with their caret, text and JSON.
 */
#include <stdbool.h>
#include <stdlib.h>

#define COMMAND layout_command
#include "command_test.h"
#include "notation_test.h"

static void has(const char *text)
{
	if (!strstr(printed, text))
		fail_msg("expected %s in:\n%s", text, printed);
}

static void sticks_are_reported_in_full(void **state)
{
	(void)state;
	assert_int_equal(RUN("stick", "--shape", "5,100,150", "--dtype", "f16", "--json"), 0);
	assert_string_equal(printed,
		"{\n"
		"  \"notation\": \"stick\",\n"
		"  \"canonical\": \"stick\",\n"
		"  \"map\": \"(i0, i1, i2) -> (i1, i2//64, i0, i2%64)\",\n"
		"  \"shape\": [5, 100, 150],\n"
		"  \"physical_shape\": [128, 3, 64, 64],\n"
		"  \"strides\": [12288, 4096, 64, 1],\n"
		"  \"bytes\": 3145728,\n"
		"  \"device_size\": [128, 3, 64, 64],\n"
		"  \"dim_map\": [1, 2, 0, 2],\n"
		"  \"stride_map\": [150, 64, 15000, 1],\n"
		"  \"num_stick_dims\": 1,\n"
		"  \"format\": \"Dense\"\n"
		"}\n");
}

static void keys_are_only_those_that_apply(void **state)
{
	(void)state;
	assert_int_equal(RUN("NHWC", "--shape", "1,4,4,8", "--dtype", "u8", "--json"), 0);
	assert_string_equal(printed,
		"{\n"
		"  \"notation\": \"NHWC\",\n"
		"  \"canonical\": \"NHWC\",\n"
		"  \"map\": \"(n, h, w, c) -> (n, h, w, c)\",\n"
		"  \"shape\": [1, 4, 4, 8],\n"
		"  \"physical_shape\": [1, 4, 4, 8],\n"
		"  \"strides\": [128, 32, 8, 1],\n"
		"  \"bytes\": 128\n"
		"}\n");
}

static void alignment_is_reported(void **state)
{
	(void)state;
	assert_int_equal(RUN("glow:N[a=32]HWC", "--shape", "2,3,5,3", "--dtype", "f16",
			     "--json"), 0);
	has("\"alignment\": [32, 1, 1, 1]");
	has("\"strides\": [48, 15, 3, 1]");
}

static void offset_is_reported(void **state)
{
	(void)state;
	assert_int_equal(RUN("strides:20,1@45", "--shape", "6,10", "--dtype", "u8", "--json"), 0);
	has("\"offset\": 45");
}

static void text_has_what_spyre_prints(void **state)
{
	(void)state;
	assert_int_equal(RUN("stick:pad=stick", "--shape", "5,100,150", "--dtype", "f16"), 0);
	has("SpyreTensorLayout(device_size=[100, 3, 5, 64], dim_map =[1, 2, 0, 2], "
	    "num_stick_dims=1, format=StickFormat.Dense, "
	    "device_dtype=DataFormats.SEN169_FP16)\n");
	has("bytes           192000\n");
}

static void axes_are_named_by_an_option(void **state)
{
	(void)state;
	assert_int_equal(RUN("NHWC", "--axes", "NCHW", "--shape", "1,64,56,56", "--dtype", "f32",
			     "--json"), 0);
	has("\"physical_shape\": [1, 56, 56, 64]");
}

static void another_layout_comes_with_the_conversion(void **state)
{
	(void)state;
	assert_int_equal(RUN("NHWC", "--shape", "2,5,6,8", "--dtype", "f32", "--to", "NCHW4c",
			     "--json"), 0);
	has("\"to\": {\n    \"notation\": \"NCHW4c\"");
	has("\"shape\": [2, 8, 5, 6]");
	has("\"physical_shape\": [2, 2, 5, 6, 4]");
	has("\"conversion\": \"(n, h, w, c) -> (n, c//4, h, w, c%4)\"");
}

static void name_of_a_notation_writes_the_same_layout_in_it(void **state)
{
	(void)state;
	assert_int_equal(RUN("AB4a128b2a", "--shape", "30,300", "--dtype", "bf16", "--to",
			     "xla:"), 0);
	has("canonical       xla:{1,0:T(8,128)(2,1)}\n");
	assert_int_equal(RUN("AB", "--shape", "3,32", "--dtype", "f32", "--to", "stick"), 0);
	has("conversion ");
}

static void fault_in_the_layout_has_a_caret_below(void **state)
{
	(void)state;
	assert_int_equal(RUN("NCHWc", "--shape", "1,2,3,4", "--dtype", "f32"), 2);
	assert_string_equal(complained,
		"accel layout: layout: axis c at column 5 has no factor, expected one as in 16c\n"
		"  NCHWc\n"
		"      ^\n");
	assert_string_equal(printed, "");
}

static void fault_in_the_axes_has_no_caret_below_the_layout(void **state)
{
	(void)state;
	assert_int_equal(RUN("NHWC", "--axes", "NhWC", "--shape", "1,2,3,4", "--dtype", "f32"), 2);
	assert_string_equal(complained,
		"accel layout: axes: layout: found 'h' at column 2, expected an axis, an "
		"upper-case letter from A to Z\n");
	assert_string_equal(printed, "");
}

static void fault_in_the_other_layout_has_a_caret_below(void **state)
{
	(void)state;
	assert_int_equal(RUN("AB", "--shape", "1,2", "--dtype", "f32", "--to", "xla:{1,1}"), 2);
	assert_non_null(strstr(complained, "\n  xla:{1,1}\n       ^\n"));
}

static void fault_in_the_shape_has_a_caret_below(void **state)
{
	(void)state;
	assert_int_equal(RUN("AB", "--shape", "1,x", "--dtype", "f32"), 2);
	assert_string_equal(complained, "accel layout: --shape: expected a number at column 3\n"
		"  1,x\n"
		"    ^\n");
	assert_int_equal(RUN("AB", "--shape", "1;2", "--dtype", "f32"), 2);
	assert_non_null(strstr(complained, "expected ',' or the end at column 2"));
	assert_int_equal(RUN("AB", "--shape", "1,-2", "--dtype", "f32"), 2);
	assert_int_equal(RUN("AB", "--shape", "1,9223372036854775808", "--dtype", "f32"), 2);
	assert_non_null(strstr(complained, "in range at column 3"));
	assert_int_equal(RUN("AB", "--shape", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "--dtype",
			     "f32"), 2);
	assert_non_null(strstr(complained, "no more numbers at column 33"));
}

static void long_text_is_shown_around_the_fault(void **state)
{
	char text[1024];

	(void)state;
	memset(text, 'x', sizeof(text));
	memcpy(text, "glow:N[ns:", 10);
	text[500] = ']';
	text[501] = '\x1b';
	text[1023] = '\0';
	assert_int_equal(RUN(text, "--shape", "1", "--dtype", "u8"), 2);
	assert_true(strlen(complained) < 400);
	assert_null(strchr(complained, '\x1b'));
	assert_non_null(strstr(complained, "]?xxx"));
}

static void shape_that_does_not_fit_is_refused(void **state)
{
	(void)state;
	assert_int_equal(RUN("NCHW", "--shape", "1,2,3", "--dtype", "f32"), 2);
	assert_string_equal(complained,
			    "accel layout: layout of 4 axes: the shape has 3, expected 4\n");
}

static void padding_that_is_no_multiple_is_refused(void **state)
{
	(void)state;
	assert_int_equal(RUN("stick:padded=5,3,7;order=0,1,2", "--shape", "5,100,150", "--dtype",
			     "f16"), 2);
	assert_non_null(strstr(complained, "expected a multiple of the 64 elements in a stick"));
}

static void layouts_that_are_not_convertible_are_refused(void **state)
{
	(void)state;
	assert_int_equal(RUN("NCHW", "--shape", "1,2,3,4", "--dtype", "f32", "--to", "OIHW"), 2);
	assert_non_null(strstr(complained, "not convertible"));
	assert_int_equal(RUN("CN4c", "--shape", "8,3", "--dtype", "f32", "--to", "strides:"), 2);
	assert_non_null(strstr(complained, "cannot be written as strides"));
}

static void missing_and_wrong_arguments_are_refused(void **state)
{
	(void)state;
	assert_int_equal(RUN("AB", "--dtype", "f32"), 2);
	assert_non_null(strstr(complained, "expected --shape"));
	assert_int_equal(RUN("AB", "--shape", "1,2"), 2);
	assert_non_null(strstr(complained, "expected --dtype"));
	assert_int_equal(RUN("--shape", "1,2", "--dtype", "f32"), 2);
	assert_non_null(strstr(complained, "expected a layout"));
	assert_int_equal(RUN("AB", "BA", "--shape", "1,2", "--dtype", "f32"), 2);
	assert_non_null(strstr(complained, "argument 'BA', expected one layout"));
	assert_int_equal(RUN("AB", "--shape", "1,2", "--dtype", "f31"), 2);
	assert_non_null(strstr(complained, "f31"));
	assert_int_equal(RUN("AB", "--shape", "1,2", "--dtype", "f32", "--nonsense"), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sticks_are_reported_in_full),
		cmocka_unit_test(keys_are_only_those_that_apply),
		cmocka_unit_test(alignment_is_reported),
		cmocka_unit_test(offset_is_reported),
		cmocka_unit_test(text_has_what_spyre_prints),
		cmocka_unit_test(axes_are_named_by_an_option),
		cmocka_unit_test(another_layout_comes_with_the_conversion),
		cmocka_unit_test(name_of_a_notation_writes_the_same_layout_in_it),
		cmocka_unit_test(fault_in_the_layout_has_a_caret_below),
		cmocka_unit_test(fault_in_the_axes_has_no_caret_below_the_layout),
		cmocka_unit_test(fault_in_the_other_layout_has_a_caret_below),
		cmocka_unit_test(fault_in_the_shape_has_a_caret_below),
		cmocka_unit_test(long_text_is_shown_around_the_fault),
		cmocka_unit_test(shape_that_does_not_fit_is_refused),
		cmocka_unit_test(padding_that_is_no_multiple_is_refused),
		cmocka_unit_test(layouts_that_are_not_convertible_are_refused),
		cmocka_unit_test(missing_and_wrong_arguments_are_refused),
	};

	return cmocka_run_group_tests_name("tool_layout", tests, NULL, NULL);
}
