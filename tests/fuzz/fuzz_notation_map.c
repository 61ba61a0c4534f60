// SPDX-License-Identifier: MIT
/*
 * Fuzzes index maps as layouts; fuzz_map.c has the maps themselves.
 */
#include "fuzz_notation.h"

const char *const fuzz_seeds[] = {
	"(n, h, w, c) -> (n, c//4, h, w, c%4)\n\x02\x02\x03\x05\x11",
	"(i, j, k) -> (i//4, 128*j + k, i%4)\n\x01\x10\x04\x7f",
	"(*b, c) -> (*b, c//8, c%8)\n\x02\x02\x03\x11",
	"(i, j) -> ((i*20 + j)//8, (i*20 + j)%8//2, (i*20 + j)%2)\n\x02\x05\x14",
	"(o, i) -> (o//4, i//4, o%4*4 + i%4)\n\x01\x20\x40",
	"(i, j) -> ((i + j)%8, j)\n\x04\x08\x08",
	"(c) -> ((c//4)//4, (c//4)%4, c%4, 0)\n\x03\x40",
	"//9223372036854775807",
	"9223372036854775807*i",
	NULL,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_notation("map:", data, size);
}
