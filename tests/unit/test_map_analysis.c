// SPDX-License-Identifier: MIT
/*
 * What the analysis of maps claims: injective, bijective, inverse, padding, collisions, with
 * extents that are numbers and symbols; and the loop nests that are made of it.
 */
#include "accel_test.h"
#include <accel.h>

static struct accel_error error;

static struct accel_map *parse(const char *text)
{
	struct accel_map *map;

	expect_ok(accel_map_parse(text, &map, &error));
	return map;
}

#define SHAPE(...) ((const int64_t[]){ __VA_ARGS__ }), sizeof((int64_t[]){ __VA_ARGS__ }) / 8
#define NO_SHAPE NULL, 0

/* What is expected of an analysis; NULL where there is to be nothing. */
struct expected {
	enum accel_answer injective;
	enum accel_answer bijective;
	const char *shape;
	const char *inverse;
	const char *padding;
	const char *padding_count;
};

static void expect_text(const struct accel_expression *expression, const char *expected)
{
	char text[512];

	if (!expected) {
		assert_null(expression);
		return;
	}
	assert_non_null(expression);
	accel_expression_print(expression, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void expect_map(const struct accel_map *map, const char *expected)
{
	char text[512];

	if (!expected) {
		assert_null(map);
		return;
	}
	assert_non_null(map);
	accel_map_print(map, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void expect_shape(const struct accel_map_analysis *analysis, const char *expected)
{
	char text[512] = "";
	uint32_t k;

	for (k = 0; k < analysis->output_rank; k++) {
		if (k)
			strcat(text, ", ");
		accel_expression_print(analysis->output_shape[k], text + strlen(text), 100);
	}
	assert_string_equal(text, expected);
}

static void expect_analysis(const char *text, const int64_t *shape, uint32_t rank,
			    const struct expected *expected)
{
	struct accel_map_analysis analysis;
	struct accel_map *map = parse(text);

	expect_ok(accel_map_analyze(map, rank, shape, &analysis, &error));
	assert_int_equal(analysis.injective, expected->injective);
	assert_int_equal(analysis.bijective, expected->bijective);
	expect_shape(&analysis, expected->shape);
	expect_map(analysis.inverse, expected->inverse);
	expect_text(analysis.padding, expected->padding);
	expect_text(analysis.padding_count, expected->padding_count);
	accel_map_analysis_release(&analysis);
	accel_map_unref(map);
}

#define YES	ACCEL_ANSWER_YES
#define NO	ACCEL_ANSWER_NO
#define UNKNOWN	ACCEL_ANSWER_UNKNOWN

/* Bijective maps --------------------------------------------------------------------------- */

static void split_that_divides_is_bijective(void **state)
{
	(void)state;
	expect_analysis("(n,h,w,c) -> (n, c//4, h, w, c%4)", SHAPE(16, 64, 64, 128),
			&(struct expected){ YES, YES, "16, 32, 64, 64, 4",
				"(n, c_outer, h, w, c_inner) -> (n, h, w, 4*c_outer + c_inner)",
				NULL, "0" });
}

static void fused_axes_are_split_by_the_inverse(void **state)
{
	(void)state;
	expect_analysis("(i,j,k) -> (i//4, 128*j + k, i%4)", SHAPE(16, 64, 128),
			&(struct expected){ YES, YES, "4, 8192, 4",
				"(i_outer, jk_merged, i_inner) -> "
				"(4*i_outer + i_inner, jk_merged//128, jk_merged%128)", NULL,
				"0" });
}

static void reshape_through_a_fused_axis_is_bijective(void **state)
{
	(void)state;
	expect_analysis("(i,j) -> ((6*i + j)//8, (6*i + j)%8)", SHAPE(4, 6),
			&(struct expected){ YES, YES, "3, 8",
				"(ij_outer, ij_inner) -> ((8*ij_outer + ij_inner)//6, "
				"(8*ij_outer + ij_inner)%6)", NULL, "0" });
}

static void splits_of_several_axes_can_be_interleaved(void **state)
{
	(void)state;
	expect_analysis("(m,k) -> (m//16, k//8, k%8//2, m%16, k%2)", SHAPE(64, 32),
			&(struct expected){ YES, YES, "4, 4, 4, 16, 2",
				"(m_outer, k_outer, k_middle, m_inner, k_inner) -> "
				"(16*m_outer + m_inner, 8*k_outer + 2*k_middle + k_inner)", NULL,
				"0" });
}

static void reversed_axis_is_bijective(void **state)
{
	(void)state;
	expect_analysis("(i) -> (13 - i)", SHAPE(14),
			&(struct expected){ YES, YES, "14", "(i_moved) -> (13 - i_moved)", NULL,
				"0" });
}

static void rotated_axis_is_bijective(void **state)
{
	(void)state;
	expect_analysis("(i) -> ((i + 2)%4)", SHAPE(4),
			&(struct expected){ YES, YES, "4", "(i_inner) -> ((i_inner + 2)%4)", NULL,
				"0" });
}

static void unit_extents_vanish_and_appear(void **state)
{
	(void)state;
	expect_analysis("(n, i, m) -> (i, 0, i*m)", SHAPE(1, 3, 1),
			&(struct expected){ YES, YES, "3, 1, 1",
				"(i, axis1, im_merged) -> (0, i, 0)", NULL, "0" });
}

static void no_axes_are_one_point(void **state)
{
	(void)state;
	expect_analysis("() -> ()", (const int64_t[]){ 0 }, 0,
			&(struct expected){ YES, YES, "", "() -> ()", NULL, "0" });
}

static void star_takes_the_leading_axes(void **state)
{
	(void)state;
	expect_analysis("(*b, c) -> (*b, c//8, c%8)", SHAPE(2, 3, 16),
			&(struct expected){ YES, YES, "2, 3, 2, 8",
				"(b0, b1, c_outer, c_inner) -> (b0, b1, 8*c_outer + c_inner)", NULL,
				"0" });
}

/* Padding ---------------------------------------------------------------------------------- */

static void split_that_does_not_divide_pads_at_the_right(void **state)
{
	(void)state;
	expect_analysis("(i) -> (i//4, i%4)", SHAPE(14),
			&(struct expected){ YES, NO, "4, 4",
				"(i_outer, i_inner) -> (4*i_outer + i_inner)",
				"4*i_outer + i_inner >= 14", "2" });
}

static void shifted_split_pads_at_the_left(void **state)
{
	(void)state;
	expect_analysis("(i) -> ((i + 2)//4, (i + 2)%4)", SHAPE(14),
			&(struct expected){ YES, NO, "4, 4",
				"(i_outer, i_inner) -> (4*i_outer + i_inner - 2)",
				"4*i_outer + i_inner < 2", "2" });
}

static void shifted_split_can_pad_at_both_sides(void **state)
{
	(void)state;
	expect_analysis("(i) -> ((i + 6)//8, (i + 6)//4%2, (i + 6)%4)", SHAPE(14),
			&(struct expected){ YES, NO, "3, 2, 4",
				"(i_outer, i_middle, i_inner) -> "
				"(8*i_outer + 4*i_middle + i_inner - 6)",
				"8*i_outer + 4*i_middle + i_inner < 6 or "
				"8*i_outer + 4*i_middle + i_inner >= 20", "10" });
}

static void several_axes_pad_at_once(void **state)
{
	(void)state;
	expect_analysis("(i,j) -> (i//4, j//4, i%4, j%4)", SHAPE(10, 9),
			&(struct expected){ YES, NO, "3, 3, 4, 4",
				"(i_outer, j_outer, i_inner, j_inner) -> "
				"(4*i_outer + i_inner, 4*j_outer + j_inner)",
				"4*j_outer + j_inner >= 9 or 4*i_outer + i_inner >= 10", "54" });
}

static void fused_axes_can_pad_at_the_left(void **state)
{
	(void)state;
	expect_analysis("(i,j) -> ((8*i + j + 5)//4, (8*i + j + 5)%4)", SHAPE(5, 8),
			&(struct expected){ YES, NO, "12, 4",
				"(ij_outer, ij_inner) -> ((4*ij_outer + ij_inner + 3)//8 - 1, "
				"(4*ij_outer + ij_inner + 3)%8)",
				"4*ij_outer + ij_inner < 5 or 4*ij_outer + ij_inner >= 45", "8" });
}

static void scale_larger_than_the_axis_leaves_gaps(void **state)
{
	(void)state;
	expect_analysis("(i,j) -> (4*i + j)", SHAPE(3, 3),
			&(struct expected){ YES, NO, "11",
				"(ij_merged) -> (ij_merged//4, ij_merged%4)", "ij_merged%4 >= 3",
				"2" });
}

static void offset_pads_before_it(void **state)
{
	(void)state;
	expect_analysis("(i) -> (i + 2)", SHAPE(3),
			&(struct expected){ YES, NO, "5", "(i_moved) -> (i_moved - 2)",
				"i_moved < 2", "2" });
}

static void diagonal_is_mostly_padding(void **state)
{
	(void)state;
	expect_analysis("(i) -> (i, i)", SHAPE(5),
			&(struct expected){ YES, NO, "5, 5", "(i, i_moved) -> (i)", "i_moved != i",
				"20" });
}

static void empty_shape_is_all_padding(void **state)
{
	(void)state;
	expect_analysis("(n, c) -> (c)", SHAPE(0, 14),
			&(struct expected){ YES, NO, "14", "(c) -> (0, c)", "1", "14" });
	expect_analysis("(n, c) -> (n, c)", SHAPE(0, 14),
			&(struct expected){ YES, YES, "0, 14", "(n, c) -> (0, c)", NULL, "0" });
}

/* Symbols ---------------------------------------------------------------------------------- */

static void symbolic_extent_may_pad(void **state)
{
	(void)state;
	expect_analysis("(i < N) -> (i//4, i%4)", NO_SHAPE,
			&(struct expected){ YES, UNKNOWN, "(N + 3)//4, 4",
				"(i_outer, i_inner) -> (4*i_outer + i_inner)",
				"4*i_outer + i_inner >= N", "3 - (N + 3)%4" });
}

static void symbolic_multiple_does_not_pad(void **state)
{
	(void)state;
	expect_analysis("(i < 4*N) -> (i//4, i%4)", NO_SHAPE,
			&(struct expected){ YES, YES, "N, 4",
				"(i_outer, i_inner) -> (4*i_outer + i_inner)", NULL, "0" });
}

static void symbolic_axes_fuse_and_split(void **state)
{
	(void)state;
	expect_analysis("(i < N, j < M) -> (i*M + j)", NO_SHAPE,
			&(struct expected){ YES, YES, "M*N",
				"(ij_merged) -> (ij_merged//M, ij_merged%M)", NULL, "0" });
	expect_analysis("(k < N*M) -> (k//M, k%M)", NO_SHAPE,
			&(struct expected){ YES, YES, "N, M",
				"(k_outer, k_inner) -> (M*k_outer + k_inner)", NULL, "0" });
}

static void symbolic_axis_can_be_reversed(void **state)
{
	(void)state;
	expect_analysis("(i < N) -> (N - 1 - i)", NO_SHAPE,
			&(struct expected){ YES, YES, "N", "(i_moved) -> (N - i_moved - 1)", NULL,
				"0" });
}

static void symbolic_left_padding_always_pads(void **state)
{
	(void)state;
	expect_analysis("(i < N) -> ((i + 3)//8, (i + 3)%8)", NO_SHAPE,
			&(struct expected){ YES, NO, "(N + 2)//8 + 1, 8",
				"(i_outer, i_inner) -> (8*i_outer + i_inner - 3)",
				"8*i_outer + i_inner < 3 or 8*i_outer + i_inner >= N + 3",
				"10 - (N + 2)%8" });
}

static void collision_that_depends_on_a_symbol_is_unknown(void **state)
{
	(void)state;
	expect_analysis("(i < N) -> (i//4)", NO_SHAPE,
			&(struct expected){ UNKNOWN, UNKNOWN, "(N + 3)//4", NULL, NULL, NULL });
}

static void bounds_are_over_symbols_or_not_there(void **state)
{
	struct accel_map_analysis analysis;
	struct accel_map *map;

	(void)state;
	expect_analysis("(i < 4) -> ((i + M)//4, (i + M)%4)", NO_SHAPE,
			&(struct expected){ UNKNOWN, UNKNOWN, "(M + 3)//4 + 1, 4", NULL, NULL,
				NULL });
	expect_analysis("(i < N, j < 4) -> (i + j)", NO_SHAPE,
			&(struct expected){ UNKNOWN, UNKNOWN, "N + 3", NULL, NULL, NULL });
	map = parse("(i < N) -> (max(i, 3))");
	expect_ok(accel_map_analyze(map, 0, NULL, &analysis, &error));
	assert_null(analysis.output_shape[0]);
	accel_map_analysis_release(&analysis);
	accel_map_unref(map);
}

static void bounds_beside_symbols_are_as_close_as_without(void **state)
{
	(void)state;
	expect_analysis("(i < 3, j < N + 1, k < 2*N) -> (i//4, k*(N + 1) + j, i%4)", NO_SHAPE,
			&(struct expected){ YES, YES, "1, 2*(N*N) + 2*N, 3",
				"(i_outer, kj_merged, i_inner) -> "
				"(i_inner, kj_merged%(N + 1), kj_merged//(N + 1))", NULL, "0" });
}

/* Collisions ------------------------------------------------------------------------------- */

static void expect_collision(const char *text, const int64_t *shape, uint32_t rank)
{
	struct accel_map_analysis analysis;
	struct accel_map *map = parse(text);
	int64_t outputs[2][ACCEL_MAP_MAX_AXES];
	int k;

	expect_ok(accel_map_analyze(map, rank, shape, &analysis, &error));
	assert_int_equal(analysis.injective, NO);
	assert_int_equal(analysis.bijective, NO);
	assert_true(analysis.has_collision);
	assert_memory_not_equal(analysis.collision[0], analysis.collision[1],
				rank * sizeof(int64_t));
	for (k = 0; k < 2; k++) {
		expect_ok(accel_map_apply_index(map, rank, analysis.collision[k], NULL, outputs[k],
						&error));
		assert_memory_equal(outputs[k], analysis.collision_at,
				    analysis.output_rank * sizeof(int64_t));
	}
	assert_string_not_equal(analysis.reason, "");
	accel_map_analysis_release(&analysis);
	accel_map_unref(map);
}

static void map_that_is_not_injective_names_two_inputs(void **state)
{
	(void)state;
	expect_collision("(i,j) -> (i + j)", SHAPE(4, 4));
	expect_collision("(i) -> (i//2)", SHAPE(4));
	expect_collision("(n,h,w,c) -> (n, c//4, h, w)", SHAPE(1000, 1000, 1000, 128));
	expect_collision("(i,j,k) -> (i, j, k%64)", SHAPE(1000000, 1000000, 100));
	expect_collision("(i,j) -> (j)", SHAPE(1000000, 1000000));
	expect_collision("(i) -> (i//4, i%2)", SHAPE(1000000));
	expect_collision("(i) -> (min(i, 5))", SHAPE(1000000));
	expect_collision("(i,j) -> (3*i + 2*j)", SHAPE(1000000, 1000000));
}

/* What has no closed form ------------------------------------------------------------------ */

static void small_maps_are_decided_by_looking(void **state)
{
	(void)state;
	expect_analysis("(i) -> (i%3, i%4)", SHAPE(12),
			&(struct expected){ YES, YES, "3, 4", NULL, NULL, "0" });
	expect_analysis("(i,j) -> (i, i + j)", SHAPE(5, 7),
			&(struct expected){ YES, NO, "5, 11", NULL, NULL, "20" });
	expect_analysis("(i) -> (i*i)", SHAPE(5),
			&(struct expected){ YES, NO, "17", NULL, NULL, "12" });
}

static void large_maps_may_stay_unknown(void **state)
{
	struct accel_map_analysis analysis;
	struct accel_map *map = parse("(i,j) -> (i, i*i + j)");

	(void)state;
	expect_ok(accel_map_analyze(map, 2, (const int64_t[]){ 1000, 1000 }, &analysis, &error));
	assert_int_equal(analysis.injective, UNKNOWN);
	assert_int_equal(analysis.bijective, UNKNOWN);
	assert_string_equal(analysis.reason, "an index is multiplied by an index");
	accel_map_analysis_release(&analysis);
	accel_map_unref(map);
}

/* 65,536 points are looked at, but not of a map of 20,000 operations. */
static void long_maps_may_stay_unknown(void **state)
{
	static char text[1 << 16];
	struct accel_map_analysis analysis;
	struct accel_map *map;
	size_t length;
	int j, k;

	(void)state;
	length = sprintf(text, "(i) -> (i*i");
	for (k = 0; k < 10; k++) {
		length += sprintf(text + length, ", min(1, 0");
		for (j = 0; j < 200; j++)
			length += sprintf(text + length, " + max(i//%d, i%%%d)%%2", j + 2,
					  j + k + 3);
		length += sprintf(text + length, ")");
	}
	strcpy(text + length, ")");
	map = parse(text);
	expect_ok(accel_map_analyze(map, 1, (const int64_t[]){ 16 }, &analysis, &error));
	assert_int_equal(analysis.injective, YES);
	accel_map_analysis_release(&analysis);
	expect_ok(accel_map_analyze(map, 1, (const int64_t[]){ 65536 }, &analysis, &error));
	assert_int_equal(analysis.injective, UNKNOWN);
	accel_map_analysis_release(&analysis);
	accel_map_unref(map);
}

/* Errors ----------------------------------------------------------------------------------- */

static void expect_no_analysis(const char *text, const int64_t *shape, uint32_t rank, int code,
			       const char *message)
{
	struct accel_map_analysis analysis;
	struct accel_map *map = parse(text);

	expect_failure(accel_map_analyze(map, rank, shape, &analysis, &error), code, message);
	assert_null(analysis.inverse);
	accel_map_analysis_release(&analysis);
	accel_map_unref(map);
}

static void analysis_needs_ranges(void **state)
{
	(void)state;
	expect_no_analysis("(i) -> (i)", NO_SHAPE, -EINVAL,
			   "range of i is not known: expected a shape, or a range in the map");
}

static void analysis_refuses_outputs_that_can_be_negative(void **state)
{
	(void)state;
	expect_no_analysis("(i) -> (i - 1)", SHAPE(3), -ERANGE,
			   "output 0 can be -1, expected 0 or more");
	expect_no_analysis("(i < N) -> (4 - i)", NO_SHAPE, -ERANGE, "output 0 can be negative");
}

static void analysis_refuses_a_volume_beyond_64_bits(void **state)
{
	(void)state;
	expect_no_analysis("(i,j) -> (i,j)", SHAPE((int64_t)1 << 40, (int64_t)1 << 40), -EOVERFLOW,
			   "analysis of the map: a value does not fit 64 bits");
}

static void analysis_checks_the_rank(void **state)
{
	(void)state;
	expect_no_analysis("(i,j) -> (i,j)", SHAPE(3), -EINVAL,
			   "map takes 2 axes, but there are 1");
}

/* Loop nests ------------------------------------------------------------------------------- */

static void transform_layout_returns_the_new_loops(void **state)
{
	struct accel_map *map = parse("lambda i,j,k: [i//4, 128*j + k, i%4]");
	struct accel_loop_nest *nest, *reordered;
	struct accel_loop loop;

	(void)state;
	expect_ok(accel_map_transform_layout(map, 3, (const int64_t[]){ 16, 64, 128 }, &nest,
					     &error));
	assert_int_equal(accel_loop_nest_rank(nest), 3);
	loop = accel_loop_nest_loop(nest, 0);
	assert_string_equal(loop.name, "i_outer");
	expect_text(loop.extent, "4");
	loop = accel_loop_nest_loop(nest, 1);
	assert_string_equal(loop.name, "jk_merged");
	expect_text(loop.extent, "8192");
	loop = accel_loop_nest_loop(nest, 2);
	assert_string_equal(loop.name, "i_inner");
	expect_text(loop.extent, "4");
	assert_null(accel_loop_nest_padding(nest));
	expect_ok(accel_loop_nest_reorder(nest, 3, (const uint32_t[]){ 0, 2, 1 }, &reordered,
					  &error));
	loop = accel_loop_nest_loop(reordered, 1);
	assert_string_equal(loop.name, "i_inner");
	assert_int_equal(loop.output, 2);
	expect_map(accel_loop_nest_index(reordered), "(i_outer, i_inner, jk_merged) -> "
		   "(4*i_outer + i_inner, jk_merged//128, jk_merged%128)");
	accel_loop_nest_unref(reordered);
	accel_loop_nest_unref(nest);
	accel_map_unref(map);
}

static void loops_over_padding_have_a_guard(void **state)
{
	struct accel_map *map = parse("(i) -> (i//4, i%4)");
	struct accel_loop_nest *nest;

	(void)state;
	expect_ok(accel_map_transform_layout(map, 1, (const int64_t[]){ 14 }, &nest, &error));
	expect_text(accel_loop_nest_padding(nest), "4*i_outer + i_inner >= 14");
	accel_loop_nest_unref(nest);
	accel_map_unref(map);
}

static void loops_are_reordered_by_a_permutation(void **state)
{
	struct accel_map *map = parse("(i, j) -> (j, i)");
	struct accel_loop_nest *nest, *reordered;

	(void)state;
	expect_ok(accel_map_transform_layout(map, 2, (const int64_t[]){ 3, 5 }, &nest, &error));
	expect_failure(accel_loop_nest_reorder(nest, 2, (const uint32_t[]){ 0, 0 }, &reordered,
					       &error), -EINVAL,
		       "loop 0 at place 1, expected a permutation of 2");
	expect_failure(accel_loop_nest_reorder(nest, 1, (const uint32_t[]){ 0 }, &reordered,
					       &error), -EINVAL,
		       "order of 1 loops, but there are 2");
	accel_loop_nest_unref(nest);
	accel_map_unref(map);
}

static void loops_need_an_inverse(void **state)
{
	struct accel_map *map = parse("(i, j) -> (i + j)");
	struct accel_loop_nest *nest;

	(void)state;
	expect_failure(accel_map_transform_layout(map, 2, (const int64_t[]){ 3, 5 }, &nest, &error),
		       -EDOM, "map has no inverse in closed form: parts of an output overlap");
	accel_map_unref(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(split_that_divides_is_bijective),
		cmocka_unit_test(fused_axes_are_split_by_the_inverse),
		cmocka_unit_test(reshape_through_a_fused_axis_is_bijective),
		cmocka_unit_test(splits_of_several_axes_can_be_interleaved),
		cmocka_unit_test(reversed_axis_is_bijective),
		cmocka_unit_test(rotated_axis_is_bijective),
		cmocka_unit_test(unit_extents_vanish_and_appear),
		cmocka_unit_test(no_axes_are_one_point),
		cmocka_unit_test(star_takes_the_leading_axes),
		cmocka_unit_test(split_that_does_not_divide_pads_at_the_right),
		cmocka_unit_test(shifted_split_pads_at_the_left),
		cmocka_unit_test(shifted_split_can_pad_at_both_sides),
		cmocka_unit_test(several_axes_pad_at_once),
		cmocka_unit_test(fused_axes_can_pad_at_the_left),
		cmocka_unit_test(scale_larger_than_the_axis_leaves_gaps),
		cmocka_unit_test(offset_pads_before_it),
		cmocka_unit_test(diagonal_is_mostly_padding),
		cmocka_unit_test(empty_shape_is_all_padding),
		cmocka_unit_test(symbolic_extent_may_pad),
		cmocka_unit_test(symbolic_multiple_does_not_pad),
		cmocka_unit_test(symbolic_axes_fuse_and_split),
		cmocka_unit_test(symbolic_axis_can_be_reversed),
		cmocka_unit_test(symbolic_left_padding_always_pads),
		cmocka_unit_test(collision_that_depends_on_a_symbol_is_unknown),
		cmocka_unit_test(bounds_are_over_symbols_or_not_there),
		cmocka_unit_test(bounds_beside_symbols_are_as_close_as_without),
		cmocka_unit_test(map_that_is_not_injective_names_two_inputs),
		cmocka_unit_test(small_maps_are_decided_by_looking),
		cmocka_unit_test(large_maps_may_stay_unknown),
		cmocka_unit_test(long_maps_may_stay_unknown),
		cmocka_unit_test(analysis_needs_ranges),
		cmocka_unit_test(analysis_refuses_outputs_that_can_be_negative),
		cmocka_unit_test(analysis_refuses_a_volume_beyond_64_bits),
		cmocka_unit_test(analysis_checks_the_rank),
		cmocka_unit_test(transform_layout_returns_the_new_loops),
		cmocka_unit_test(loops_over_padding_have_a_guard),
		cmocka_unit_test(loops_are_reordered_by_a_permutation),
		cmocka_unit_test(loops_need_an_inverse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
