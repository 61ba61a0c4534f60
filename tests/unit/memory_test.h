/* SPDX-License-Identifier: MIT */
/*
 * What the tests without memory share: allocations that fail from a given one on. Included once in
 * a program, as it stands in for malloc() and the others.
 */
#ifndef TESTS_UNIT_MEMORY_TEST_H
#define TESTS_UNIT_MEMORY_TEST_H

#include "accel_test.h"

/* They run before the sanitizer is ready. */
#define EARLY		__attribute__((no_sanitize("address", "undefined")))

/* Allocations that still succeed; negative: all. */
static long num_left = -1;
static long num_allocations;

EARLY static bool may_allocate(void)
{
	num_allocations++;
	if (num_left < 0)
		return true;
	if (num_left)
		return num_left--;
	errno = ENOMEM;
	return false;
}

/* What the sanitizer puts in place of malloc() and the others, which these stand before. */
void *__interceptor_malloc(size_t size);
void *__interceptor_calloc(size_t count, size_t size);
void *__interceptor_realloc(void *memory, size_t size);

EARLY void *malloc(size_t size)
{
	return may_allocate() ? __interceptor_malloc(size) : NULL;
}

EARLY void *calloc(size_t count, size_t size)
{
	return may_allocate() ? __interceptor_calloc(count, size) : NULL;
}

EARLY void *realloc(void *memory, size_t size)
{
	return may_allocate() ? __interceptor_realloc(memory, size) : NULL;
}

EARLY char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

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
