// SPDX-License-Identifier: MIT
/*
 * Functions: chains of several definitions in which one that cannot be fused meets others that
 * take the box apart. They are small forms of what random chains came out wrong.
 */
#include "function_test.h"

#define SHAPE(...)	((const int64_t[]){ __VA_ARGS__ })

static void stack_twice(struct fixture *fixture, const char *result, const char *source)
{
	const char *sources[] = { source, source };

	expect_ok(accel_function_stack(fixture->function, result, 2, sources, 0, &error));
}

/*
 * A loaded index does not go through the quotient, which is found in the midst of a piece: the next
 * attempt begins with the first piece.
 */
static void stack_below_a_gather_has_all_its_parts(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_start(&fixture, 1);
	fixture_input(&fixture, "x", ACCEL_DTYPE_U8, 1, SHAPE(6), NULL, 0);
	fixture_input(&fixture, "rows", ACCEL_DTYPE_U8, 1, SHAPE(3), NULL, 12);
	fixture_define(&fixture, "twice[i<12] = x[i//2]");
	stack_twice(&fixture, "pair", "twice");
	fixture_define(&fixture, "sum[i,j] = pair[i,j] + 1");
	expect_ok(accel_function_gather(fixture.function, "y", "sum", 1, "rows", &error));
	fixture_output(&fixture, "y", NULL, NULL);
	fixture_check_both(&fixture);
	fixture_finish(&fixture);
}

/* Beyond its parts a stack is padding, of the type that the cast makes. */
static void stack_below_a_cast_is_padded(void **state)
{
	static const uint64_t padding[2] = { 0x1588b91b };
	struct fixture fixture;

	(void)state;
	fixture_start(&fixture, 1);
	fixture_input(&fixture, "x", ACCEL_DTYPE_I16, 1, SHAPE(5), NULL, 0);
	stack_twice(&fixture, "pair", "x");
	expect_ok(accel_function_cast(fixture.function, "wide", "pair", ACCEL_DTYPE_I32, &error));
	expect_ok(accel_function_pad(fixture.function, "y", "wide", SHAPE(3, 2), SHAPE(5, 2),
				     padding, &error));
	fixture_output(&fixture, "y", NULL, NULL);
	fixture_check_both(&fixture);
	fixture_finish(&fixture);
}

/* Neither loops over the layout of the indices nor those over the result's fit the other. */
static void gather_between_layouts_is_copied_to_the_result(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_start(&fixture, 1);
	fixture_input(&fixture, "x", ACCEL_DTYPE_F32, 1, SHAPE(7), NULL, 0);
	fixture_input(&fixture, "rows", ACCEL_DTYPE_U8, 1, SHAPE(6), "(i) -> (i%3, i//3)", 7);
	expect_ok(accel_function_gather(fixture.function, "y", "x", 0, "rows", &error));
	fixture_output(&fixture, "y", "A4a", NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.passes, 2);
	assert_string_equal(accel_plan_note(fixture.plan, 0),
			    "y is computed in a pass of its own: in the layout that is asked "
			    "for, it is beyond the limits of a job");
	fixture_finish(&fixture);
}

/* Followed to the input each time that it is used, the first would be met 2^40 times. */
static void definitions_that_use_the_one_before_twice_are_planned(void **state)
{
	struct fixture fixture;
	char text[64];

	(void)state;
	fixture_start(&fixture, 1);
	fixture_input(&fixture, "t0", ACCEL_DTYPE_I32, 1, SHAPE(5), NULL, 0);
	for (int k = 1; k <= 40; k++) {
		snprintf(text, sizeof(text), "t%d[i] = t%d[i] * 3 - t%d[4-i]", k, k - 1, k - 1);
		fixture_define(&fixture, text);
	}
	fixture_output(&fixture, "t40", NULL, NULL);
	fixture_check_both(&fixture);
	fixture_finish(&fixture);
}

/* The points of all boxes, those at which windows fail too. */
static uint64_t count_visited(const struct accel_plan *plan)
{
	const struct accel_plan_job *job;
	uint64_t visited = 0;

	for (uint32_t k = 0; (job = accel_plan_job(plan, k)); k++) {
		uint64_t points = 1;

		for (uint32_t d = 0; d < job->rank; d++)
			points *= job->extents[d];
		visited += points;
	}
	return visited;
}

/* A loop for each quotient of one nest would visit 10^13 points for these 1526 elements. */
static void quotients_of_many_kinds_waste_no_points(void **state)
{
	const struct accel_im2col im2col = {
		.is_nhwc = true, .kernel = { 3, 1 }, .stride = { 2, 2 }, .pad = { 1, 1 },
	};
	struct accel_plan *plan;
	struct fixture fixture;

	(void)state;
	fixture_start(&fixture, 1);
	fixture_input(&fixture, "x", ACCEL_DTYPE_I16, 4, SHAPE(5, 1, 9, 17), NULL, 0);
	expect_ok(accel_function_im2col(fixture.function, "a", "x", &im2col, &error));
	fixture_define(&fixture, "b[i<1526] = a[i%30, i//30]");
	fixture_define(&fixture, "y[i] = select(i%2 == 0, b[i], b[1525 - i])");
	fixture_output(&fixture, "y", NULL, NULL);
	expect_ok(accel_plan_create(fixture.function, NULL, &plan, &error));
	assert_in_range(count_visited(plan), 1526, 10000);
	accel_plan_unref(plan);
	fixture_check_both(&fixture);
	fixture_finish(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stack_below_a_gather_has_all_its_parts),
		cmocka_unit_test(stack_below_a_cast_is_padded),
		cmocka_unit_test(gather_between_layouts_is_copied_to_the_result),
		cmocka_unit_test(quotients_of_many_kinds_waste_no_points),
		cmocka_unit_test(definitions_that_use_the_one_before_twice_are_planned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
