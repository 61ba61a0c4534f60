/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the library and the tool share: cmocka, how a failure is expected, and the
 * device that most run on.
 */
#ifndef TESTS_ACCEL_TEST_H
#define TESTS_ACCEL_TEST_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <accel.h>

/* A call that must succeed; its message is shown when it does not. Uses a variable error. */
#define expect_ok(call) do {								\
	memset(&error, 0, sizeof(error));						\
	if ((call) != 0)								\
		fail_msg("%s: %s", #call, error.message);				\
} while (0)

/* A call that must fail with this code and this message. Uses a variable error. */
#define expect_failure(call, expected_code, expected_message) do {			\
	memset(&error, 0, sizeof(error));						\
	assert_int_equal((call), (expected_code));					\
	assert_string_equal(error.message, (expected_message));				\
	assert_int_equal(error.code, (expected_code));					\
} while (0)

#define COUNT(array)	((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* Set-up and tear-down of a group whose state is the CPU's device. */
static inline int open_cpu(void **state)
{
	return accel_open("cpu", (struct accel_device **)state, NULL);
}

static inline int close_cpu(void **state)
{
	accel_device_unref(*state);
	return 0;
}

#endif /* TESTS_ACCEL_TEST_H */
