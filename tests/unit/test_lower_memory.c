// SPDX-License-Identifier: MIT
/*
 * Lowering without memory: whichever allocation is the first to fail, the call says -ENOMEM, fills
 * in the error and leaves nothing behind, which is for the leak sanitizer to see.
 */
#include "allocation_test.h"
#include "lower_test.h"

/* Lowers with no memory at all, then with memory for one allocation, and so on. */
static void expect_failures(const struct lower_nest *nest)
{
	struct accel_plan *plan = lower(nest);
	long total, k;
	int code;

	accel_plan_unref(plan);
	plan = plan_new();
	num_allocations = 0;
	assert_int_equal(lower_nest(nest, plan, &error), 0);
	total = num_allocations;
	accel_plan_unref(plan);
	assert_true(total > 0);
	for (k = 0; k < total; k++) {
		plan = plan_new();
		memset(&error, 0, sizeof(error));
		num_left = k;
		code = lower_nest(nest, plan, &error);
		num_left = -1;
		accel_plan_unref(plan);
		/* vasprintf() does without the memory to give back what it has too much. */
		if (!code && k > 0)
			continue;
		if (code != -ENOMEM || error.code != -ENOMEM ||
		    !strstr(error.message, "out of memory"))
			fail_msg("with memory for %ld allocations: %d, %d \"%s\"", k, code,
				 error.code, error.message);
	}
}

static void a_job_with_a_window_needs_memory(void **state)
{
	struct lower_nest nest;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "c: 30; h: 3", "c: 30; h: 3",
		  "c//16: 2; h: 3; c % 16: 16");
	expect_failures(&nest);
	lower_nest_release(&nest);
}

static void tables_need_memory(void **state)
{
	struct lower_nest nest;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8, "i: 9; j: 9", "i: 9; j: 9", "i*(i + 1)//2 + j: 54");
	expect_failures(&nest);
	lower_nest_release(&nest);
}

static void slices_need_memory(void **state)
{
	struct lower_nest nest;

	(void)state;
	make_copy(&nest, ACCEL_DTYPE_U8,
		  "a: 2; b: 2; c: 2; d: 2; e: 2; f: 2; g: 2; h: 2; i: 3",
		  "a: 2; b: 2; c: 2; d: 2; e: 2; f: 2; g: 2; h: 2; i: 3",
		  "i: 3; h: 2; g: 2; f: 2; e: 2; d: 2; c: 2; b: 2; a: 2");
	add_condition(&nest, &nest.operands[1], "a + b + c", 2);
	expect_failures(&nest);
	lower_nest_release(&nest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_with_a_window_needs_memory),
		cmocka_unit_test(tables_need_memory),
		cmocka_unit_test(slices_need_memory),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
