// SPDX-License-Identifier: MIT
/*
 * Fuzzes dimension orders.
 */
#include "fuzz_notation.h"

const char *const fuzz_seeds[] = {
	"NHWC\n\x01\x02\x07\x07\x10",
	"ABCDEFGHIJKLMNOP",
	"NCHW\n\x02\x01\x40\x38\x38",
	"A\n\x04\xbf",
	"XY",
	NULL,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_notation("order:", data, size);
}
