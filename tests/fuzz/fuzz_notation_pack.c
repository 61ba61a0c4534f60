// SPDX-License-Identifier: MIT
/*
 * Fuzzes MLIR's pack.
 */
#include "fuzz_notation.h"

const char *const fuzz_seeds[] = {
	"inner_dims_pos=0,1;inner_tiles=8,32;outer_dims_perm=1,0\n\x02\x60\x7f",
	"inner_dims_pos = [1] inner_tiles = [16] outer_dims_perm = [0, 2, 3, 1]"
	"\n\x01\x01\x40\x05\x06",
	"inner_dims_pos=;inner_tiles=\n\x02\x05\x06",
	"inner_tiles=4611686018427387904,3",
	";outer_dims_perm=",
	NULL,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_notation("pack:", data, size);
}
