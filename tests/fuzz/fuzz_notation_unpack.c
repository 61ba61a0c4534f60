// SPDX-License-Identifier: MIT
/*
 * Fuzzes MLIR's unpack.
 */
#include "fuzz_notation.h"

const char *const fuzz_seeds[] = {
	"inner_dims_pos=1,0;inner_tiles=4,8;outer_dims_perm=1,0\n\x02\x08\x03\x04\x08",
	"inner_dims_pos=1;inner_tiles=16\n\x02\x02\x03\x05\x10",
	"inner_dims_pos=0;inner_tiles=4\n\x01\x07\x04",
	";outer_dims_perm=0,1",
	NULL,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_notation("unpack:", data, size);
}
