/* SPDX-License-Identifier: MIT */
/*
 * What a fuzz target has: the function that libFuzzer calls as well, and the texts that driver.c,
 * which needs no libFuzzer, begins from.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Valid inputs, and pieces of some; ends with NULL. */
extern const char *const fuzz_seeds[];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif /* TESTS_FUZZ_FUZZ_H */
