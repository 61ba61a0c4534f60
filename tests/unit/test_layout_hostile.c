// SPDX-License-Identifier: MIT
/*
 * Hostile texts of every notation: endless, and with numbers that nothing can hold. Each is refused
 * where it stops to make sense, so that what follows is not even read.
 */
#include "accel_test.h"

static const struct {
	const char *head;
	const char *piece;		/* a million times */
	int code;
	int column;
} texts[] = {
	{ "", "A", -EINVAL, 2 },
	{ "", "a", -EINVAL, 1 },
	{ "", "4", -EINVAL, 1 },
	{ "", "[", -EINVAL, 1 },
	{ "OI", "4o4i", -EINVAL, 63 },
	{ "OI[", "4o", -EINVAL, 64 },
	{ "NC", "9223372036854775807c", -EINVAL, 603 },
	{ "NC", "9223372036854775808c", -EINVAL, 3 },
	{ "glow:", "*", -EINVAL, 22 },
	{ "glow:N", "[a=2]", -EINVAL, 13 },
	{ "glow:N", "[x:y]", -EINVAL, 13 },
	{ "glow:N[x:", "y", -EINVAL, 1000010 },
	{ "stick:order=", "0,", -EINVAL, 47 },
	{ "stick:", "pad=all;", -EINVAL, 15 },
	{ "stick:device_size=", "1,", -EINVAL, 83 },
	{ "strides:", "1,", -EINVAL, 41 },
	{ "strides:", "9", -EINVAL, 9 },
	{ "tile:outer=", "N", -EINVAL, 13 },
	{ "tile:outer=NC;tile=", "1,", -EINVAL, 52 },
	{ "xla:{", "0,", -EINVAL, 38 },
	{ "xla:{1,0:T(", "*,", -EINVAL, 76 },
	{ "xla:{1,0:T", "(2)", -EINVAL, 35 },
	{ "onednn:", "a", -EINVAL, 9 },
	{ "onednn:AB", "4a4b", -EINVAL, 70 },
	{ "pack:inner_dims_pos=", "0,", -EINVAL, 53 },
	{ "unpack:inner_dims_pos=0;inner_tiles=", "2,", -EINVAL, 69 },
	{ "map:(i) -> (", "(", -E2BIG, 269 },
	{ "(i) -> (", "i,", -E2BIG, 73 },
	{ "(", "i,", -E2BIG, 66 },
};

static void a_million_pieces_are_refused_where_they_are_too_many(void **state)
{
	const size_t count = 1000000;
	char *text = malloc(64 + count * 20 + 1);
	struct accel_error error;
	struct accel_layout *layout;

	(void)state;
	assert_non_null(text);
	for (size_t k = 0; k < COUNT(texts); k++) {
		size_t at = strlen(strcpy(text, texts[k].head)), length = strlen(texts[k].piece);

		for (size_t j = 0; j < count; j++, at += length)
			memcpy(text + at, texts[k].piece, length);
		text[at] = '\0';
		memset(&error, 0, sizeof(error));
		if (accel_layout_parse(text, NULL, &layout, &error) != texts[k].code ||
		    error.column != texts[k].column)
			fail_msg("%s%s..: %d at column %d, expected %d at %d: %s", texts[k].head,
				 texts[k].piece, error.code, error.column, texts[k].code,
				 texts[k].column, error.message);
		assert_null(layout);
	}
	free(text);
}

/* Each number is one that fits; what they make together is not. */
static void factors_that_no_shape_can_hold_are_refused(void **state)
{
	static const char *const layouts[] = {
		"NC9223372036854775807c",
		"stick:padded=9223372036854775744,9223372036854775744;order=0,1",
		"strides:9223372036854775807,9223372036854775807",
		"tile:outer=NC;tile=9223372036854775807,9223372036854775807;inner=NC",
		"xla:{1,0:T(9223372036854775807,2)}",
		"onednn:AB9223372036854775807a2b",
		"pack:inner_dims_pos=0;inner_tiles=9223372036854775807",
		"(n, c) -> (n*9223372036854775807, c)",
	};
	struct accel_layout_description description;
	struct accel_error error;
	struct accel_layout *layout;
	int code;

	(void)state;
	for (size_t k = 0; k < COUNT(layouts); k++) {
		memset(&error, 0, sizeof(error));
		code = accel_layout_parse(layouts[k], NULL, &layout, &error);
		if (!code)
			code = accel_layout_describe(layout, ACCEL_DTYPE_F16, 2,
						     (const int64_t[]){ 3, 4 }, &description,
						     &error);
		if (code != -EOVERFLOW && code != -EINVAL)
			fail_msg("%s: %d %s", layouts[k], code, error.message);
		assert_int_equal(error.code, code);
		accel_layout_unref(layout);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_million_pieces_are_refused_where_they_are_too_many),
		cmocka_unit_test(factors_that_no_shape_can_hold_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
