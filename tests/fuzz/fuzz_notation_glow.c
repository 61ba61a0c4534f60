// SPDX-License-Identifier: MIT
/*
 * Fuzzes Glow's layout strings.
 */
#include "fuzz_notation.h"

const char *const fuzz_seeds[] = {
	"N[a=32][ns:data]H*[a=64]\n\x01\x02\x03\x05\x03",
	"****\n\x02\x02\x03\x04\x05",
	"N[a=7]HWC[ocl:<bla>]\n\x03\x02\x03\x05\x03",
	"nchw\n\x04\x01\x02\x03\x04",
	"[a=9223372036854775807]",
	"[a=0]",
	"[x:y:z]",
	NULL,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_notation("glow:", data, size);
}
