// SPDX-License-Identifier: MIT
/*
 * Layouts compared with each other, converted to each other, and taken back to the logical index.
 */
#include "notation_test.h"

static char text[1024];

/* The conversion between layouts of a logical shape of f32 elements. */
static const char *conversion(const char *from, const char *from_axes, const char *to,
			      const char *to_axes, uint32_t rank, const int64_t *shape)
{
	struct accel_layout *from_layout = parse_as(from, from_axes);
	struct accel_layout *to_layout = parse_as(to, to_axes);
	struct accel_error error = { 0 };
	struct accel_map *map;

	if (accel_layout_conversion(from_layout, to_layout, ACCEL_DTYPE_F32, rank, shape, &map,
				    &error)) {
		assert_null(map);
		snprintf(text, sizeof(text), "%d: %s", error.code, error.message);
	} else {
		accel_map_print(map, text, sizeof(text));
		accel_map_unref(map);
	}
	accel_layout_unref(to_layout);
	accel_layout_unref(from_layout);
	return text;
}

static void axes_of_the_same_name_are_the_same(void **state)
{
	(void)state;
	assert_string_equal(conversion("NHWC", NULL, "NCHW", NULL, SHAPE(2, 5, 6, 8)),
			    "(n, h, w, c) -> (n, c, h, w)");
	assert_string_equal(conversion("NHWC", NULL, "NCHW4c", NULL, SHAPE(2, 5, 6, 8)),
			    "(n, h, w, c) -> (n, c//4, h, w, c%4)");
	assert_string_equal(conversion("NHWC", NULL, "onednn:nChw4c", NULL, SHAPE(2, 5, 6, 8)),
			    "(n, h, w, c) -> (n, c//4, h, w, c%4)");
}

static void split_axes_are_put_together_again(void **state)
{
	const char *map = conversion("NCHW4c", NULL, "NCHW", NULL, SHAPE(2, 8, 5, 6));
	int64_t output[4];
	struct accel_map *parsed;

	(void)state;
	assert_int_equal(accel_map_parse(map, &parsed, NULL), 0);
	assert_int_equal(accel_map_apply_index(parsed, SHAPE(1, 1, 3, 2, 3), NULL, output, NULL),
			 0);
	expect_numbers(map, 4, output, SHAPE(1, 7, 3, 2));
	accel_map_unref(parsed);
}

static void one_split_is_converted_to_another(void **state)
{
	const char *map = conversion("NC4c", NULL, "NC16c", NULL, SHAPE(2, 64));
	int64_t output[3];
	struct accel_map *parsed;

	(void)state;
	assert_int_equal(accel_map_parse(map, &parsed, NULL), 0);
	/* c is 4*9 + 3 = 39 */
	assert_int_equal(accel_map_apply_index(parsed, SHAPE(1, 9, 3), NULL, output, NULL), 0);
	expect_numbers(map, 3, output, SHAPE(1, 2, 7));
	accel_map_unref(parsed);
}

static void axes_without_names_are_the_same_by_position(void **state)
{
	(void)state;
	assert_string_equal(conversion("xla:{0,1}", NULL, "NC", NULL, SHAPE(3, 5)),
			    "(i1, i0) -> (i0, i1)");
}

static void layouts_of_other_axes_are_not_convertible(void **state)
{
	(void)state;
	assert_string_equal(conversion("NCHW16c", NULL, "OIHW", NULL, SHAPE(1, 16, 5, 5)),
			    "-95: layout: NCHW16c and OIHW are not convertible: "
			    "their axes are not the same");
	assert_string_equal(conversion("NCHW", NULL, "NCW", NULL, SHAPE(1, 16, 5, 5)),
			    "-95: layout: NCHW and NCW are not convertible: "
			    "their axes are not as many");
}

static void layout_that_repeats_elements_is_not_convertible(void **state)
{
	(void)state;
	assert_string_equal(conversion("(i, j) -> (j)", NULL, "AB", NULL, SHAPE(3, 5)),
			    "-33: layout: its map has no inverse: "
			    "two elements are at the same place");
}

static void errors_of_the_target_are_reported(void **state)
{
	(void)state;
	assert_non_null(strstr(conversion("AB", NULL, "strides:-1,1", NULL, SHAPE(3, 5)),
			       "lowest element"));
}

static void inverse_leads_back_from_padded_sticks(void **state)
{
	struct accel_layout *layout = parse("stick");
	struct accel_map *forward, *inverse;
	int64_t physical[ACCEL_MAP_MAX_AXES], logical[ACCEL_MAP_MAX_AXES];
	uint32_t rank;

	(void)state;
	assert_int_equal(accel_layout_map(layout, ACCEL_DTYPE_F16, SHAPE(5, 100, 150), &forward,
					  NULL), 0);
	assert_int_equal(accel_layout_inverse(layout, ACCEL_DTYPE_F16, SHAPE(5, 100, 150), &inverse,
					      NULL), 0);
	for (int64_t k = 0; k < 5 * 100 * 150; k += 7) {
		const int64_t index[] = { k / 15000, k / 150 % 100, k % 150 };

		accel_map_apply_index(forward, 3, index, &rank, physical, NULL);
		assert_int_equal(accel_map_apply_index(inverse, rank, physical, &rank, logical,
						       NULL), 0);
		expect_numbers("inverse", rank, logical, 3, index);
	}
	accel_map_unref(inverse);
	accel_map_unref(forward);
	accel_layout_unref(layout);
}

static enum accel_answer compare(const char *a, const char *b, uint32_t rank, const int64_t *shape)
{
	struct accel_layout *layout_a = parse(a), *layout_b = parse(b);
	enum accel_answer answer;

	assert_int_equal(accel_layout_equal(layout_a, layout_b, ACCEL_DTYPE_F32, rank, shape,
					    &answer, NULL), 0);
	accel_layout_unref(layout_b);
	accel_layout_unref(layout_a);
	return answer;
}

static void layouts_are_equal_where_their_elements_are(void **state)
{
	(void)state;
	assert_int_equal(compare("AB", "BA", SHAPE(3, 5)), ACCEL_ANSWER_YES);
	assert_int_equal(compare("AB", "strides:5,1", SHAPE(3, 5)), ACCEL_ANSWER_YES);
	assert_int_equal(compare("AB", "strides:1,3", SHAPE(3, 5)), ACCEL_ANSWER_NO);
	assert_int_equal(compare("AB", "strides:7,1", SHAPE(1, 5)), ACCEL_ANSWER_YES);
	assert_int_equal(compare("AB4b", "AB", SHAPE(3, 8)), ACCEL_ANSWER_YES);
	assert_int_equal(compare("AB4b", "AB", SHAPE(3, 7)), ACCEL_ANSWER_NO);
	assert_int_equal(compare("xla:{1,0:T(*,8)}", "AB", SHAPE(3, 8)), ACCEL_ANSWER_YES);
	assert_int_equal(compare("xla:{1,0:T(*,6)}", "AB", SHAPE(3, 8)), ACCEL_ANSWER_YES);
	assert_int_equal(compare("xla:{1,0:T(*,7)}", "AB", SHAPE(3, 8)), ACCEL_ANSWER_NO);
}

static void padding_behind_the_last_element_makes_a_difference(void **state)
{
	(void)state;
	assert_int_equal(compare("AB4b", "strides:8,1", SHAPE(3, 7)), ACCEL_ANSWER_NO);
}

static void fused_digits_are_compared_by_what_they_are(void **state)
{
	(void)state;
	/* 20*i + j in tiles of 5, of 40 and of 8: with j alone, with i alone, and with neither */
	assert_int_equal(compare("xla:{1,0:T(*,5)}", "(i, j) -> (4*i + j//5, j%5)", SHAPE(6, 20)),
			 ACCEL_ANSWER_YES);
	assert_int_equal(compare("xla:{1,0:T(*,40)}", "(i, j) -> (i//2, 20*(i%2) + j)",
				 SHAPE(6, 20)), ACCEL_ANSWER_YES);
	assert_int_equal(compare("xla:{1,0:T(*,8)(2)}", "(i, j) -> ((20*i + j)//8, "
				 "(20*i + j)%8//2, (20*i + j)%2)", SHAPE(6, 20)),
			 ACCEL_ANSWER_YES);
	/* the same with another axis in between, so that the digits do not run on */
	assert_int_equal(compare("xla:{2,1,0:T(*,5,1)}", "(i, j, k) -> (4*i + j//5, k, j%5)",
				 SHAPE(6, 20, 3)), ACCEL_ANSWER_YES);
	assert_int_equal(compare("xla:{2,1,0:T(*,40,1)}", "(i, j, k) -> (i//2, k, 20*(i%2) + j)",
				 SHAPE(6, 20, 3)), ACCEL_ANSWER_YES);
	assert_int_equal(compare("xla:{2,1,0:T(*,8,1)}", "(i, j, k) -> (4*i + j//5, k, j%5)",
				 SHAPE(6, 20, 3)), ACCEL_ANSWER_NO);
}

static void digits_that_run_on_are_one(void **state)
{
	(void)state;
	assert_int_equal(compare("CN4c4c", "CN16c", SHAPE(64, 3)), ACCEL_ANSWER_YES);
	assert_int_equal(compare("CN4c4c", "CN4c", SHAPE(64, 3)), ACCEL_ANSWER_NO);
}

static void layouts_without_digits_are_compared_as_maps(void **state)
{
	(void)state;
	assert_int_equal(compare("xla:{0:T(8)(3)}", "xla:{0:T(8)(3)}", SHAPE(20)),
			 ACCEL_ANSWER_YES);
	assert_int_equal(compare("(i, j) -> ((i + j)%8, j)", "(i, j) -> ((j + i)%8, j)",
				 SHAPE(8, 8)), ACCEL_ANSWER_YES);
}

static void empty_shapes_are_equal(void **state)
{
	(void)state;
	assert_int_equal(compare("AB", "strides:1,3", SHAPE(0, 5)), ACCEL_ANSWER_YES);
}

static void every_notation_has_a_name(void **state)
{
	uint32_t count = 0;

	(void)state;
	for (; accel_notation_name(count); count++) {
		struct accel_error error = { 0 };
		struct accel_layout *layout;
		char prefix[32];

		/* its prefix is known: the complaint is of what comes behind it */
		snprintf(prefix, sizeof(prefix), "%s:\x01", accel_notation_name(count));
		assert_int_equal(accel_layout_parse(prefix, NULL, &layout, &error), -EINVAL);
		assert_true(error.column == (int)strlen(prefix));
	}
	assert_int_equal(count, 11);
}

static void reference_keeps_a_layout(void **state)
{
	struct accel_layout *layout = parse("glow:N[ns:x]");

	(void)state;
	assert_ptr_equal(accel_layout_ref(layout), layout);
	accel_layout_unref(layout);
	assert_int_equal(accel_layout_rank(layout), 1);
	accel_layout_unref(layout);
	accel_layout_unref(NULL);
}

static void some_layouts_fit_every_rank(void **state)
{
	static const char *const notations[] = {
		"stick", "(*b) -> (*b)", "pack:inner_dims_pos=0;inner_tiles=4",
	};

	(void)state;
	for (uint32_t k = 0; k < COUNT(notations); k++) {
		struct accel_layout *layout = parse(notations[k]);

		assert_int_equal(accel_layout_rank(layout), ACCEL_RANK_ANY);
		accel_layout_unref(layout);
	}
}

static void axes_give_a_rank_to_those(void **state)
{
	struct accel_layout *layout = parse_as("stick", "NHC");

	(void)state;
	assert_int_equal(accel_layout_rank(layout), 3);
	accel_layout_unref(layout);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(axes_of_the_same_name_are_the_same),
		cmocka_unit_test(split_axes_are_put_together_again),
		cmocka_unit_test(one_split_is_converted_to_another),
		cmocka_unit_test(axes_without_names_are_the_same_by_position),
		cmocka_unit_test(layouts_of_other_axes_are_not_convertible),
		cmocka_unit_test(layout_that_repeats_elements_is_not_convertible),
		cmocka_unit_test(errors_of_the_target_are_reported),
		cmocka_unit_test(inverse_leads_back_from_padded_sticks),
		cmocka_unit_test(layouts_are_equal_where_their_elements_are),
		cmocka_unit_test(padding_behind_the_last_element_makes_a_difference),
		cmocka_unit_test(fused_digits_are_compared_by_what_they_are),
		cmocka_unit_test(digits_that_run_on_are_one),
		cmocka_unit_test(layouts_without_digits_are_compared_as_maps),
		cmocka_unit_test(empty_shapes_are_equal),
		cmocka_unit_test(every_notation_has_a_name),
		cmocka_unit_test(reference_keeps_a_layout),
		cmocka_unit_test(some_layouts_fit_every_rank),
		cmocka_unit_test(axes_give_a_rank_to_those),
	};

	return cmocka_run_group_tests_name("layout_conversion", tests, NULL, NULL);
}
