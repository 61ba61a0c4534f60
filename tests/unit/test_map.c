// SPDX-License-Identifier: MIT
/*
 * Maps: text, building, application to indices, shapes and ranges, flattening, composition,
 * equality, and transforms that are applied once.
 */
#include "accel_test.h"
#include "layout/map.h"

static struct accel_error error;

static struct accel_map *parse(const char *text)
{
	struct accel_map *map;

	expect_ok(accel_map_parse(text, &map, &error));
	return map;
}

static void expect_print(const struct accel_map *map, const char *expected)
{
	char text[512];

	assert_int_equal(accel_map_print(map, text, sizeof(text)), strlen(expected));
	assert_string_equal(text, expected);
}

static void expect_bad(const char *text, int code, int column, const char *message)
{
	struct accel_map *map;

	expect_failure(accel_map_parse(text, &map, &error), code, message);
	assert_int_equal(error.column, column);
	assert_null(map);
}

static void expect_numbers(const int64_t *numbers, uint32_t count, const int64_t *expected,
			   uint32_t num_expected)
{
	assert_int_equal(count, num_expected);
	assert_memory_equal(numbers, expected, count * sizeof(*numbers));
}

#define LIST(...) ((const int64_t[]){ __VA_ARGS__ }), sizeof((int64_t[]){ __VA_ARGS__ }) / 8

static void expect_index(const char *text, const int64_t *index, uint32_t rank,
			 const int64_t *expected, uint32_t num_expected)
{
	struct accel_map *map = parse(text);
	int64_t output[ACCEL_MAP_MAX_AXES];
	uint32_t count;

	expect_ok(accel_map_apply_index(map, rank, index, &count, output, &error));
	expect_numbers(output, count, expected, num_expected);
	accel_map_unref(map);
}

static void expect_shape(const char *text, const int64_t *shape, uint32_t rank,
			 const int64_t *expected, uint32_t num_expected)
{
	struct accel_map *map = parse(text);
	int64_t output[ACCEL_MAP_MAX_AXES];
	uint32_t count;

	expect_ok(accel_map_apply_shape(map, rank, shape, &count, output, &error));
	expect_numbers(output, count, expected, num_expected);
	accel_map_unref(map);
}

static void expect_flat_shape(const char *text, const int64_t *shape, uint32_t rank,
			      const int64_t *expected, uint32_t num_expected)
{
	struct accel_map *map = parse(text);
	int64_t output[ACCEL_MAP_MAX_AXES];
	uint32_t count;

	expect_ok(accel_map_flat_shape(map, rank, shape, &count, output, &error));
	expect_numbers(output, count, expected, num_expected);
	accel_map_unref(map);
}

static void expect_flat_index(const char *text, const int64_t *shape, const int64_t *index,
			      uint32_t rank, const int64_t *expected, uint32_t num_expected)
{
	struct accel_map *map = parse(text);
	int64_t output[ACCEL_MAP_MAX_AXES];
	uint32_t count;

	expect_ok(accel_map_flat_index(map, rank, shape, index, &count, output, &error));
	expect_numbers(output, count, expected, num_expected);
	accel_map_unref(map);
}

static void expect_equal(const char *a, const char *b, const int64_t *shape, uint32_t rank,
			 enum accel_answer expected)
{
	struct accel_map *left = parse(a), *right = parse(b);
	enum accel_answer answer;

	expect_ok(accel_map_equal(left, right, rank, shape, &answer, &error));
	assert_int_equal(answer, expected);
	accel_map_unref(left);
	accel_map_unref(right);
}

static void expect_composed(const char *first, const char *second, const char *expected)
{
	struct accel_map *a = parse(first), *b = parse(second), *map;

	expect_ok(accel_map_compose(a, b, &map, &error));
	expect_print(map, expected);
	accel_map_unref(a);
	accel_map_unref(b);
	accel_map_unref(map);
}

/* Text ------------------------------------------------------------------------------------- */

static void expect_reprint(const char *text, const char *expected)
{
	struct accel_map *map = parse(text);

	expect_print(map, expected);
	accel_map_unref(map);
}

static void both_ways_of_writing_are_read(void **state)
{
	(void)state;
	expect_reprint("(n, h, w, c) -> (n, c//4, h, w, c%4)",
		       "(n, h, w, c) -> (n, c//4, h, w, c%4)");
	expect_reprint("lambda n,h,w,c: [n, c//4, h, w, c%4]",
		       "(n, h, w, c) -> (n, c//4, h, w, c%4)");
	expect_reprint("() -> ()", "() -> ()");
	expect_reprint("(i,) -> [i]", "(i) -> (i)");
}

static void outputs_alone_are_a_map_of_their_one_name(void **state)
{
	(void)state;
	expect_reprint("[i//4, i%4]", "(i) -> (i//4, i%4)");
	expect_reprint("[0, max(c//8, c) | 3]", "(c) -> (0, max(c//8, c) | 3)");
	expect_reprint("[*b]", "(*b) -> (*b)");
	expect_reprint("[7]", "() -> (7)");
	expect_bad("[i, j]", -EINVAL, 5,
		   "outputs of more than one name, expected \"(inputs) -> (outputs)\"");
	expect_bad("[i//N]", -EINVAL, 2,
		   "outputs of more than one name, expected \"(inputs) -> (outputs)\"");
	expect_bad("[i", -EINVAL, 3, "expected \"]\", not the end");
}

static void a_million_of_anything_is_refused(void **state)
{
	static const struct {
		const char *head;
		const char *piece;
		int code;
	} texts[] = {
		{ "(i) -> (", "(", -E2BIG },	    { "(i < ", "(", -E2BIG },
		{ "(", "i,", -E2BIG },		    { "(i) -> (", "i,", -E2BIG },
		{ "(i) -> (", "i|", -E2BIG },	    { "lambda ", "*", -EINVAL },
		{ "(i) -> (", "9", -EOVERFLOW },    { "(i) -> (", "a", -EINVAL },
		{ "(i) -> (i < ", "i < ", -E2BIG }, { "[", "-", -EINVAL },
		{ "(i) -> (", " ", -EINVAL },	    { "(i) -> (i//", "min(", -E2BIG },
	};
	char *text = malloc(4000100);
	struct accel_map *map;
	size_t k, j, length, at;

	(void)state;
	assert_non_null(text);
	for (k = 0; k < COUNT(texts); k++) {
		length = strlen(texts[k].piece);
		at = strlen(strcpy(text, texts[k].head));
		for (j = 0; j < 1000000; j++)
			memcpy(text + at + j * length, texts[k].piece, length);
		text[at + j * length] = '\0';
		assert_int_equal(accel_map_parse(text, &map, &error), texts[k].code);
	}
	free(text);
}

static void both_axis_separators_are_read(void **state)
{
	(void)state;
	expect_reprint("(m, n, p, q) -> (m, q//4, n | p, q%4)",
		       "(m, n, p, q) -> (m, q//4, n | p, q%4)");
	expect_reprint("lambda m,n,p,q: [m, te.AXIS_SEPARATOR, n, p, te.AXIS_SEPARATOR, q]",
		       "(m, n, p, q) -> (m | n, p | q)");
}

static void ranges_are_read_and_printed(void **state)
{
	(void)state;
	expect_reprint("(i<14, -2 <= j < N*4, 0<=k<M) -> (i)",
		       "(i < 14, -2 <= j < N*4, 0 <= k < M) -> (i)");
}

static void stars_are_read_and_printed(void **state)
{
	(void)state;
	expect_reprint("(*b,c) -> (*b, c//8 | c%8)", "(*b, c) -> (*b, c//8 | c%8)");
	expect_reprint("lambda *b: [*b]", "(*b) -> (*b)");
}

static void malformed_text_is_told_with_its_column(void **state)
{
	(void)state;
	expect_bad("n -> n", -EINVAL, 1,
		   "expected a map: \"(inputs) -> (outputs)\" or \"lambda inputs: [outputs]\", "
		   "not \"n\"");
	expect_bad("(n) (n)", -EINVAL, 5, "expected \"->\", not \"(\"");
	expect_bad("(n) -> (n", -EINVAL, 10, "expected \")\", not the end");
	expect_bad("(n) -> (n]", -EINVAL, 10, "expected \")\", not \"]\"");
	expect_bad("(n) -> (n) x", -EINVAL, 12, "expected the end, not \"x\"");
	expect_bad("(n, 3) -> (n)", -EINVAL, 5,
		   "expected an input: a name, name < limit or minimum <= name < limit");
	expect_bad("lambda n < 3: [n]", -EINVAL, 10, "expected \":\", not \"<\"");
	expect_bad("", -EINVAL, 1,
		   "expected a map: \"(inputs) -> (outputs)\" or \"lambda inputs: [outputs]\", "
		   "not the end");
}

static void inputs_have_different_names(void **state)
{
	(void)state;
	expect_bad("(n, h, n) -> (n)", -EINVAL, 8, "there are two inputs with the name n");
	expect_bad("(n, *n) -> (n)", -EINVAL, 5, "there are two inputs with the name n");
}

static void one_input_has_a_star(void **state)
{
	(void)state;
	expect_bad("(*a, *b) -> (*a)", -EINVAL, 6,
		   "*b is the second input with a star, expected one");
}

static void star_is_an_output_of_its_own(void **state)
{
	(void)state;
	expect_bad("(*b, c) -> (c, b)", -EINVAL, 16,
		   "b is the input *b, which can only be an output of its own");
	expect_bad("(*b) -> (*b, *b)", -EINVAL, 14, "*b is an output twice, expected once");
	expect_bad("(c) -> (*c)", -EINVAL, 9, "*c is no input");
	expect_bad("(*b) -> (*b + 1)", -EINVAL, 13, "expected \")\", not \"+\"");
}

static void separator_has_an_axis_on_each_side(void **state)
{
	(void)state;
	expect_bad("(i) -> (| i)", -EINVAL, 9, "axis separator without an output on each side");
	expect_bad("(i) -> (i |)", -EINVAL, 11, "axis separator without an output on each side");
	expect_bad("(i) -> (i | | i)", -EINVAL, 13,
		   "axis separator without an output on each side");
}

static void range_is_over_symbols(void **state)
{
	(void)state;
	expect_bad("(i, j < i) -> (i)", -EINVAL, 5,
		   "range of j depends on the input i, expected constants and symbols");
	expect_bad("(4 <= j < 2) -> (j)", -EINVAL, 2,
		   "range of j ends at 2, before it begins at 4");
}

static void too_many_axes_are_refused(void **state)
{
	char *text = malloc(40000);
	struct accel_map *map;
	int k, length;

	(void)state;
	assert_non_null(text);
	length = sprintf(text, "(");
	for (k = 0; k < 5000; k++)
		length += sprintf(text + length, "x%d,", k);
	strcpy(text + length, ") -> ()");
	expect_failure(accel_map_parse(text, &map, &error), -E2BIG, "more than 32 inputs");
	length = sprintf(text, "(i) -> (");
	for (k = 0; k < 10000; k++)
		length += sprintf(text + length, "i,");
	expect_failure(accel_map_parse(text, &map, &error), -E2BIG, "more than 32 outputs");
	free(text);
}

/* Building --------------------------------------------------------------------------------- */

static void built_map_is_the_one_that_is_parsed(void **state)
{
	const struct accel_axis inputs[] = { { .name = "*b" }, { .name = "c" } };
	const uint32_t separator = 1;
	struct accel_expression *outputs[3];
	struct accel_map *map;
	uint32_t positions[ACCEL_MAP_MAX_AXES];

	(void)state;
	outputs[0] = expression_variable("*b", 2);
	expect_ok(accel_expression_parse("c//8", &outputs[1], &error));
	expect_ok(accel_expression_parse("c%8", &outputs[2], &error));
	expect_ok(accel_map_create(2, inputs, 3, outputs, 1, &separator, &map, &error));
	expect_print(map, "(*b, c) -> (*b, c//8 | c%8)");
	assert_true(accel_map_is_variadic(map));
	assert_int_equal(accel_map_separators(map, positions), 1);
	assert_int_equal(positions[0], 1);
	assert_int_equal(accel_map_num_inputs(map), 2);
	assert_int_equal(accel_map_num_outputs(map), 3);
	assert_string_equal(accel_map_input_name(map, 1), "c");
	assert_ptr_equal(accel_map_output(map, 1), outputs[1]);
	accel_map_unref(map);
	accel_expression_unref(outputs[0]);
	accel_expression_unref(outputs[1]);
	accel_expression_unref(outputs[2]);
}

static void built_separator_stands_between_outputs(void **state)
{
	const struct accel_axis input = { .name = "i" };
	const uint32_t separator = 0;
	struct accel_expression *output;
	struct accel_map *map;

	(void)state;
	expect_ok(accel_expression_variable("i", &output, &error));
	expect_failure(accel_map_create(1, &input, 1, &output, 1, &separator, &map, &error),
		       -EINVAL, "axis separator 0 after output 0 of 1, expected them ascending and "
		       "an output on each side");
	accel_expression_unref(output);
}

static void built_input_has_a_name(void **state)
{
	const struct accel_axis input = { .name = "3" };
	struct accel_map *map;

	(void)state;
	expect_failure(accel_map_create(1, &input, 0, NULL, 0, NULL, &map, &error), -EINVAL,
		       "\"3\" is no name");
}

static void permutation_names_each_axis_once(void **state)
{
	struct accel_map *map;

	(void)state;
	expect_ok(accel_map_create_permutation(3, (const uint32_t[]){ 2, 0, 1 }, &map, &error));
	expect_print(map, "(i0, i1, i2) -> (i2, i0, i1)");
	accel_map_unref(map);
	expect_failure(accel_map_create_permutation(2, (const uint32_t[]){ 1, 1 }, &map, &error),
		       -EINVAL, "axis 1 at place 1, expected a permutation of 2");
	expect_failure(accel_map_create_identity(33, &map, &error), -E2BIG,
		       "map with 33 inputs, expected 32 at most");
}

static void names_can_be_changed(void **state)
{
	struct accel_map *map = parse("(i < N, j) -> (j, i*N)"), *renamed;

	(void)state;
	expect_ok(accel_map_rename(map, 2, (const char *const[]){ "j", "i" }, &renamed, &error));
	expect_print(renamed, "(j < N, i) -> (i, j*N)");
	accel_map_unref(renamed);
	expect_failure(accel_map_rename(map, 2, (const char *const[]){ "a", "N" }, &renamed,
					&error), -EINVAL, "N is the name of a symbol");
	expect_failure(accel_map_rename(map, 2, (const char *const[]){ "a", "a" }, &renamed,
					&error), -EINVAL, "there are two inputs with the name a");
	accel_map_unref(map);
}

static void symbols_can_be_given_values(void **state)
{
	struct accel_map *map = parse("(i < N, j) -> (j, i*M)"), *bound;
	const struct accel_binding bindings[] = { { "N", 5 }, { "M", 7 } };
	const struct accel_binding zero = { "N", 0 }, input = { "j", 1 };

	(void)state;
	expect_ok(accel_map_bind(map, 2, bindings, &bound, &error));
	expect_print(bound, "(i < 5, j) -> (j, i*7)");
	accel_map_unref(bound);
	expect_failure(accel_map_bind(map, 1, &zero, &bound, &error), -EINVAL,
		       "symbol N is given the value 0, expected at least 1");
	expect_failure(accel_map_bind(map, 1, &input, &bound, &error), -ENOENT,
		       "map has no symbol j");
	accel_map_unref(map);
}

static void extents_become_ranges(void **state)
{
	struct accel_map *map = parse("(*b, c) -> (*b, c//8)"), *bounded;
	struct accel_expression *extents[2];

	(void)state;
	expect_ok(accel_expression_variable("N", &extents[0], &error));
	expect_ok(accel_expression_constant(20, &extents[1], &error));
	expect_ok(accel_map_with_extents(map, 2, extents, &bounded, &error));
	expect_print(bounded, "(b0 < N, c < 20) -> (b0, c//8)");
	accel_map_unref(bounded);
	accel_map_unref(map);
	accel_expression_unref(extents[0]);
	accel_expression_unref(extents[1]);
}

/* Expansion -------------------------------------------------------------------------------- */

static void expect_expanded(const char *text, uint32_t rank, const char *expected)
{
	struct accel_map *map = parse(text), *expanded;

	expect_ok(accel_map_expand(map, rank, &expanded, &error));
	expect_print(expanded, expected);
	accel_map_unref(expanded);
	accel_map_unref(map);
}

static void star_becomes_any_number_of_axes(void **state)
{
	(void)state;
	expect_expanded("(*b, c) -> (*b, c//8, c%8)", 1, "(c) -> (c//8, c%8)");
	expect_expanded("(*b, c) -> (*b, c//8, c%8)", 3, "(b0, b1, c) -> (b0, b1, c//8, c%8)");
	expect_expanded("(*b, b0) -> (*b | b0)", 2, "(b0_0, b0) -> (b0_0 | b0)");
	expect_expanded("(a, *b) -> (*b)", 1, "(a) -> ()");
}

static void star_needs_as_many_axes_as_have_names(void **state)
{
	struct accel_map *map = parse("(*b, c, d) -> (*b, d, c)"), *expanded;

	(void)state;
	expect_failure(accel_map_expand(map, 1, &expanded, &error), -EINVAL,
		       "map takes 2 axes or more, but there are 1");
	accel_map_unref(map);
}

static void separator_is_not_left_alone(void **state)
{
	struct accel_map *map = parse("(*b, c) -> (*b | c)"), *expanded;

	(void)state;
	expect_failure(accel_map_expand(map, 1, &expanded, &error), -EINVAL,
		       "no axis is left before an axis separator when *b is empty");
	accel_map_unref(map);
	map = parse("(*b, c) -> (c | *b)");
	assert_int_equal(accel_map_expand(map, 1, &expanded, &error), -EINVAL);
	accel_map_unref(map);
}

/* Application ------------------------------------------------------------------------------ */

static void indices_go_where_the_formula_says(void **state)
{
	(void)state;
	expect_index("(n,h,w,c) -> (n, c//4, h, w, c%4)", LIST(11, 37, 23, 101),
		     LIST(11, 25, 37, 23, 1));
	expect_index("(*b, c) -> (*b, c//8, c%8)", LIST(3, 4, 21), LIST(3, 4, 2, 5));
	expect_index("(-3 <= i < 3) -> (i//2, i%2)", LIST(-3), LIST(-2, 1));
}

static void expect_no_index(const char *text, const int64_t *index, uint32_t rank, int code,
			    const char *message)
{
	struct accel_map *map = parse(text);
	int64_t output[ACCEL_MAP_MAX_AXES];

	expect_failure(accel_map_apply_index(map, rank, index, NULL, output, &error), code,
		       message);
	accel_map_unref(map);
}

static void index_is_checked(void **state)
{
	(void)state;
	expect_no_index("(i, j < 4) -> (i)", LIST(3, 4), -ERANGE,
			"index 4 of axis 1 (j), expected at least 0 and less than 4");
	expect_no_index("(i) -> (i)", LIST(-1), -ERANGE,
			"index -1 of axis 0 (i), expected 0 or more");
	expect_no_index("(i) -> (i)", LIST(1, 2), -EINVAL, "map takes 1 axes, but there are 2");
	expect_no_index("(i) -> (i + N)", LIST(1), -EINVAL, "symbol N of the map has no value");
	expect_no_index("(i) -> (0, i*i)", LIST(INT64_MAX), -EOVERFLOW,
			"output 1: a value does not fit 64 bits");
	expect_no_index("(i) -> (3//i)", LIST(0), -EDOM, "output 0: division by 0");
}

static void shapes_are_the_bounds_of_the_outputs(void **state)
{
	(void)state;
	expect_shape("(i) -> (i//4, i%4)", LIST(14), LIST(4, 4));
	expect_shape("(i,j,k) -> (i//4, 128*j + k, i%4)", LIST(16, 64, 128), LIST(4, 8192, 4));
	expect_shape("(n,h,w,c) -> (n, c//4, h, w, c%4)", LIST(16, 64, 64, 128),
		     LIST(16, 32, 64, 64, 4));
	expect_shape("(i) -> (13 - i, (i + 2)//4)", LIST(14), LIST(14, 4));
	expect_shape("(n, c) -> (n, c//4, c%4)", LIST(0, 14), LIST(0, 4, 4));
	expect_shape("(i) -> (i - 4*(i//4))", LIST(14), LIST(4));
}

static void expect_no_shape(const char *text, const int64_t *shape, uint32_t rank, int code,
			    const char *message)
{
	struct accel_map *map = parse(text);
	int64_t output[ACCEL_MAP_MAX_AXES];

	expect_failure(accel_map_flat_shape(map, rank, shape, NULL, output, &error), code, message);
	accel_map_unref(map);
}

static void shape_that_cannot_be_is_refused(void **state)
{
	(void)state;
	expect_no_shape("(i) -> (i - 1)", LIST(3), -ERANGE,
			"output 0 can be -1, expected 0 or more");
	expect_no_shape("(i) -> (i)", LIST(-3), -EINVAL,
			"extent of axis 0 is -3, expected 0 or more");
	expect_no_shape("(i) -> (i*9223372036854775807)", LIST(3), -EOVERFLOW,
			"output 0: the largest or smallest value does not fit 64 bits");
	expect_no_shape("(i, j) -> (i, j)", LIST(INT64_MAX, 2), -EOVERFLOW,
			"flat axis 0: the extent does not fit 64 bits");
	expect_no_shape("(i) -> (i*N)", LIST(3), -EINVAL, "symbol N of the map has no value");
}

static void ranges_may_be_negative(void **state)
{
	struct accel_map *map = parse("(i, j) -> (i//4, j - i)");
	const struct accel_range ranges[] = { { -5, 6 }, { 0, 3 } };
	struct accel_range output[ACCEL_MAP_MAX_AXES];
	const struct accel_range empty[] = { { 2, 2 }, { 0, 3 } };
	uint32_t count;

	(void)state;
	expect_ok(accel_map_apply_ranges(map, 2, ranges, &count, output, &error));
	assert_int_equal(count, 2);
	assert_int_equal(output[0].minimum, -2);
	assert_int_equal(output[0].limit, 2);
	assert_int_equal(output[1].minimum, -5);
	assert_int_equal(output[1].limit, 8);
	expect_failure(accel_map_apply_ranges(map, 2, empty, &count, output, &error), -EINVAL,
		       "range of axis 0 is empty: minimum 2, limit 2");
	accel_map_unref(map);
}

static void row_major_is_the_default(void **state)
{
	(void)state;
	expect_flat_index("(i,j) -> (i,j)", (const int64_t[]){ 64, 128 }, LIST(10, 15),
			  LIST(10 * 128 + 15));
	expect_flat_index("(i,j) -> (j,i)", (const int64_t[]){ 64, 128 }, LIST(10, 15),
			  LIST(15 * 64 + 10));
	expect_flat_index("(n,h,w,c) -> (n, c//4, h, w, c%4)",
			  (const int64_t[]){ 16, 64, 64, 128 }, LIST(11, 37, 23, 101),
			  LIST((128 / 4) * 64 * 64 * 4 * 11 + 64 * 64 * 4 * 25 + 64 * 4 * 37 +
			       4 * 23 + 1));
}

static void separators_keep_axes_apart(void **state)
{
	(void)state;
	expect_flat_shape("(n,h,w,c) -> (n, c//4, h | w, c%4)", LIST(16, 64, 64, 128),
			  LIST(16 * 32 * 64, 256));
	expect_flat_index("(n,h,w,c) -> (n, c//4, h | w, c%4)",
			  (const int64_t[]){ 16, 64, 64, 128 }, LIST(11, 37, 23, 101),
			  LIST((32 * 64) * 11 + 64 * 25 + 37, 4 * 23 + 1));
	expect_flat_shape("(m,n,p,q) -> (m,n,p,q)", LIST(3, 5, 7, 11), LIST(3 * 5 * 7 * 11));
	expect_flat_shape("(m,n,p,q) -> (m,n|p,q)", LIST(3, 5, 7, 11), LIST(3 * 5, 7 * 11));
	expect_flat_shape("(m,n,p,q) -> (m|n,p|q)", LIST(3, 5, 7, 11), LIST(3, 5 * 7, 11));
}

/* Composition and equality ----------------------------------------------------------------- */

static void maps_apply_one_after_another(void **state)
{
	(void)state;
	expect_composed("(n,c,h,w) -> (n,h,w,c)", "(n,h,w,c) -> (n,c,h,w)",
			"(n, c, h, w) -> (n, c, h, w)");
	expect_composed("(i) -> (i//4, i%4)", "(a, b) -> (4*a + b)", "(i) -> (i)");
	expect_composed("(i) -> (i//4, i%4)", "(a, b < 4) -> (b | a)", "(i) -> (i%4 | i//4)");
}

static void symbols_are_not_taken_for_inputs(void **state)
{
	(void)state;
	expect_composed("(n) -> (2*n)", "(x) -> (x + n)", "(n_0) -> (2*n_0 + n)");
}

static void stars_compose(void **state)
{
	(void)state;
	expect_composed("(i, j, k) -> (k, i, j)", "(*b, c) -> (*b, c//8, c%8)",
			"(i, j, k) -> (k, i, j//8, j%8)");
	expect_composed("(*b, c) -> (*b, c//8, c%8)", "(*x, p, q) -> (p, *x, q)",
			"(*b, c) -> (c//8, *b, c%8)");
	expect_composed("(*b, c) -> (*b, c//8, c%8)", "(p, q, r) -> (r, q, p)",
			"(b0, c) -> (c%8, c//8, b0)");
}

static void composition_checks_ranks(void **state)
{
	struct accel_map *a = parse("(i) -> (i, i)"), *b = parse("(i, j, k) -> (i)"), *map;

	(void)state;
	expect_failure(accel_map_compose(a, b, &map, &error), -EINVAL,
		       "first map has 2 outputs, but the second takes 3 inputs");
	accel_map_unref(a);
	a = parse("(*x) -> (*x, 0)");
	accel_map_unref(b);
	b = parse("(i, *j) -> (i, *j)");
	expect_failure(accel_map_compose(a, b, &map, &error), -EINVAL,
		       "output *x of the first map stands for several axes, and is input i of the "
		       "second");
	accel_map_unref(a);
	accel_map_unref(b);
}

static void equality_is_of_what_maps_do(void **state)
{
	(void)state;
	expect_equal("(i) -> (i)", "(x) -> (x//4*4 + x%4)", NULL, 0, ACCEL_ANSWER_YES);
	expect_equal("(i) -> (i)", "(i) -> (i%16)", LIST(16), ACCEL_ANSWER_YES);
	expect_equal("(i) -> (i)", "(i) -> (i%16)", LIST(17), ACCEL_ANSWER_NO);
	expect_equal("(i, j) -> (i, j)", "(j, i) -> (i, j)", LIST(3, 3), ACCEL_ANSWER_NO);
	expect_equal("(i, j) -> (i, j)", "(i, j) -> (i | j)", LIST(3, 3), ACCEL_ANSWER_NO);
	expect_equal("(i) -> (i)", "(i) -> (i, 0)", LIST(3), ACCEL_ANSWER_NO);
	expect_equal("(i) -> (i)", "(i) -> (i%16)", NULL, 0, ACCEL_ANSWER_NO);
	expect_equal("(i < N) -> (i)", "(j < N) -> (j)", NULL, 0, ACCEL_ANSWER_YES);
	expect_equal("(i < N) -> (i)", "(j < M) -> (j)", NULL, 0, ACCEL_ANSWER_NO);
	expect_equal("(i, j) -> (i*j)", "(i, j) -> (j*i)", NULL, 0, ACCEL_ANSWER_YES);
	expect_equal("(i) -> (i*i//3)", "(i) -> (i*(i//3) + i%3*i//3)", LIST(1000),
		     ACCEL_ANSWER_YES);
	expect_equal("(N) -> (N)", "(i) -> (i + N - N)", NULL, 0, ACCEL_ANSWER_YES);
}

static void variadic_maps_are_equal_at_every_rank(void **state)
{
	(void)state;
	expect_equal("(*b, c) -> (*b, c)", "(*x, y) -> (*x, y//2*2 + y%2)", NULL, 0,
		     ACCEL_ANSWER_YES);
	expect_equal("(*b, c) -> (*b, c)", "(b, c) -> (b, c)", NULL, 0, ACCEL_ANSWER_YES);
	expect_equal("(*b, c) -> (*b, c)", "(*b, c) -> (*b, c + 1)", NULL, 0, ACCEL_ANSWER_NO);
	expect_equal("(*b, c) -> (*b, c)", "(c, *b) -> (c, *b)", LIST(2, 3, 4), ACCEL_ANSWER_YES);
}

static void simplification_knows_the_shape(void **state)
{
	struct accel_map *map = parse("(*b, c) -> (*b, (c + 8)//8, c//32)"), *simplified;

	(void)state;
	expect_ok(accel_map_simplify(map, 2, (const int64_t[]){ 4, 32 }, &simplified, &error));
	expect_print(simplified, "(b0, c) -> (b0, c//8 + 1, 0)");
	accel_map_unref(simplified);
	expect_ok(accel_map_simplify(map, 0, NULL, &simplified, &error));
	expect_print(simplified, "(*b, c) -> (*b, c//8 + 1, c//32)");
	accel_map_unref(simplified);
	accel_map_unref(map);
}

/* Transforms ------------------------------------------------------------------------------- */

static void transform_applies_maps_in_order_and_once(void **state)
{
	struct accel_map *nchw = parse("(n,h,w,c) -> (n,c,h,w)");
	struct accel_map *block = parse("(n,c,h,w) -> (n,c//4,h | w,c%4)"), *map;
	struct accel_transform *transform;
	int64_t shape[ACCEL_MAP_MAX_AXES];
	uint32_t rank;

	(void)state;
	expect_ok(accel_transform_create(4, (const int64_t[]){ 16, 64, 64, 128 }, &transform,
					 &error));
	expect_ok(accel_transform_push(transform, nchw, &error));
	expect_ok(accel_transform_push(transform, block, &error));
	accel_transform_shape(transform, &rank, shape);
	expect_numbers(shape, rank, LIST(16, 32, 64, 64, 4));
	expect_failure(accel_transform_push(transform, block, &error), -EINVAL,
		       "map after one with axis separators, expected it to be last");
	expect_ok(accel_transform_apply(transform, &map, &error));
	expect_print(map, "(i0, i1, i2, i3) -> (i0, i3//4, i1 | i2, i3%4)");
	accel_map_unref(map);
	expect_failure(accel_transform_apply(transform, &map, &error), -EALREADY,
		       "transform was applied already, and a layout is transformed once");
	assert_null(map);
	assert_int_equal(accel_transform_push(transform, nchw, &error), -EALREADY);
	accel_transform_shape(transform, &rank, shape);
	assert_int_equal(rank, 5);
	accel_transform_unref(transform);
	accel_map_unref(nchw);
	accel_map_unref(block);
}

static void transform_takes_injective_maps_only(void **state)
{
	struct accel_map *map = parse("(i, j) -> (i + j)");
	struct accel_transform *transform;

	(void)state;
	expect_ok(accel_transform_create(2, (const int64_t[]){ 4, 4 }, &transform, &error));
	expect_failure(accel_transform_push(transform, map, &error), -EDOM,
		       "map takes two elements to the same place");
	accel_transform_unref(transform);
	accel_map_unref(map);
}

static void transform_checks_its_shape(void **state)
{
	struct accel_transform *transform;

	(void)state;
	expect_failure(accel_transform_create(1, (const int64_t[]){ -1 }, &transform, &error),
		       -EINVAL, "extent of axis 0 is -1, expected 0 or more");
	expect_failure(accel_transform_create(40, NULL, &transform, &error), -E2BIG,
		       "shape of 40 axes, expected 32 at most");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ways_of_writing_are_read),
		cmocka_unit_test(outputs_alone_are_a_map_of_their_one_name),
		cmocka_unit_test(a_million_of_anything_is_refused),
		cmocka_unit_test(both_axis_separators_are_read),
		cmocka_unit_test(ranges_are_read_and_printed),
		cmocka_unit_test(stars_are_read_and_printed),
		cmocka_unit_test(malformed_text_is_told_with_its_column),
		cmocka_unit_test(inputs_have_different_names),
		cmocka_unit_test(one_input_has_a_star),
		cmocka_unit_test(star_is_an_output_of_its_own),
		cmocka_unit_test(separator_has_an_axis_on_each_side),
		cmocka_unit_test(range_is_over_symbols),
		cmocka_unit_test(too_many_axes_are_refused),
		cmocka_unit_test(built_map_is_the_one_that_is_parsed),
		cmocka_unit_test(built_separator_stands_between_outputs),
		cmocka_unit_test(built_input_has_a_name),
		cmocka_unit_test(permutation_names_each_axis_once),
		cmocka_unit_test(names_can_be_changed),
		cmocka_unit_test(symbols_can_be_given_values),
		cmocka_unit_test(extents_become_ranges),
		cmocka_unit_test(star_becomes_any_number_of_axes),
		cmocka_unit_test(star_needs_as_many_axes_as_have_names),
		cmocka_unit_test(separator_is_not_left_alone),
		cmocka_unit_test(indices_go_where_the_formula_says),
		cmocka_unit_test(index_is_checked),
		cmocka_unit_test(shapes_are_the_bounds_of_the_outputs),
		cmocka_unit_test(shape_that_cannot_be_is_refused),
		cmocka_unit_test(ranges_may_be_negative),
		cmocka_unit_test(row_major_is_the_default),
		cmocka_unit_test(separators_keep_axes_apart),
		cmocka_unit_test(maps_apply_one_after_another),
		cmocka_unit_test(symbols_are_not_taken_for_inputs),
		cmocka_unit_test(stars_compose),
		cmocka_unit_test(composition_checks_ranks),
		cmocka_unit_test(equality_is_of_what_maps_do),
		cmocka_unit_test(variadic_maps_are_equal_at_every_rank),
		cmocka_unit_test(simplification_knows_the_shape),
		cmocka_unit_test(transform_applies_maps_in_order_and_once),
		cmocka_unit_test(transform_takes_injective_maps_only),
		cmocka_unit_test(transform_checks_its_shape),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
