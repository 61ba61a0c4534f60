// SPDX-License-Identifier: MIT
/*
 * Fuzzes XLA's layouts.
 */
#include "fuzz_notation.h"

const char *const fuzz_seeds[] = {
	"{1,0:T(8,128)(2,1)}\n\x01\x1e\x90",
	"{4,3,2,1,0:T(*,*,2,*,3)}\n\x02\x02\x07\x08\x0b\x0a",
	"{1,0:T(2,4)(2,1,1,1)}\n\x04\x08\x08",
	"{0:T(8)(3)(*,5)}\n\x03\x14",
	"{1,0:T(2,4)(*,*,8)}\n\x02\x03\x05",
	"{2,0,1}\n\x01\x03\x04\x05",
	"{}",
	"(*,",
	"(4611686018427387904)",
	"(6,*,2)",
	NULL,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_notation("xla:", data, size);
}
