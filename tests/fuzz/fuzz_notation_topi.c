// SPDX-License-Identifier: MIT
/*
 * Fuzzes TVM's layout strings.
 */
#include "fuzz_notation.h"

const char *const fuzz_seeds[] = {
	"NCHW16c\n\x02\x01\x32\x07\x07",
	"OIHW4i16o4i\n\x04\x21\x40\x03\x03",
	"OIHW[4o4i]\n\x01\x20\x20\x03\x03",
	"NC[4c4n][2c]\n\x03\x05\x20",
	"4611686018427387904c",
	"16c",
	"[4o",
	"N2n2n2n2n2n2n2n2n\n\x04\x7f",
	NULL,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_notation("topi:", data, size);
}
