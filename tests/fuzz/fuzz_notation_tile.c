// SPDX-License-Identifier: MIT
/*
 * Fuzzes outer, tile, inner.
 */
#include "fuzz_notation.h"

const char *const fuzz_seeds[] = {
	"outer=NCHW;tile=1,8,8,8;inner=CHWN\n\x02\x01\x40\x38\x38",
	"outer=AB;tile=4,4;inner=BA\n\x01\x05\x09",
	"inner=A;outer=A;tile=[3]\n\x04\x07",
	"tile=4611686018427387904,4",
	";outer=",
	"inner=CBA",
	NULL,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_notation("tile:", data, size);
}
