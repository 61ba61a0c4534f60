/* SPDX-License-Identifier: MIT */
/*
 * What the tests without memory share: each allocation of a step fails once.
 */
#ifndef TESTS_UNIT_MEMORY_TEST_H
#define TESTS_UNIT_MEMORY_TEST_H

#include "accel_test.h"
#include "allocation_test.h"

/* Makes something and drops it. text is the test's own. */
typedef int (*step_function)(const char *text, struct accel_error *error);

/* Calls step with no memory at all, then with memory for one allocation, and so on. */
static inline void expect_failures(step_function step, const char *text)
{
	struct accel_error error;
	long total, k;
	int code;

	num_allocations = 0;
	memset(&error, 0, sizeof(error));
	if (step(text, &error))
		fail_msg("%s: %s", text, error.message);
	total = num_allocations;
	assert_true(total > 0);
	for (k = 0; k < total; k++) {
		memset(&error, 0, sizeof(error));
		num_left = k;
		code = step(text, &error);
		num_left = -1;
		if (code != -ENOMEM || error.code != -ENOMEM ||
		    !strstr(error.message, "out of memory"))
			fail_msg("%s, with memory for %ld allocations: %d, %d \"%s\"", text, k,
				 code, error.code, error.message);
	}
}

#endif /* TESTS_UNIT_MEMORY_TEST_H */
