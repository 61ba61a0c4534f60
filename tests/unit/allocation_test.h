/* SPDX-License-Identifier: MIT */
/*
 * Allocations that are counted, and that fail from a given one on. Included once in a program, as
 * it stands in for malloc() and the others.
 */
#ifndef TESTS_UNIT_ALLOCATION_TEST_H
#define TESTS_UNIT_ALLOCATION_TEST_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

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

EARLY void *reallocarray(void *memory, size_t count, size_t size)
{
	size_t total;

	if (!__builtin_mul_overflow(count, size, &total))
		return realloc(memory, total);
	errno = ENOMEM;
	return NULL;
}

EARLY char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

#endif /* TESTS_UNIT_ALLOCATION_TEST_H */
