// SPDX-License-Identifier: MIT
/*
 * Fuzzes strides.
 */
#include "fuzz_notation.h"

const char *const fuzz_seeds[] = {
	"12,1,3@5\n\x02\x02\x03\x04",
	"-1,20@19\n\x01\x14\x1e",
	"0,1\n\x04\x04\x03",
	"9223372036854775807,-9223372036854775808@9223372036854775807\n\x04\x01\x01",
	"[4,1]\n\x02\x05\x04",
	"@7",
	",-",
	NULL,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_notation("strides:", data, size);
}
