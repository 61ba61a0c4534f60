// SPDX-License-Identifier: MIT
/*
 * Fuzzes oneDNN's format tags.
 */
#include "fuzz_notation.h"

const char *const fuzz_seeds[] = {
	"aBcd16b\n\x02\x01\x32\x07\x07",
	"ABcd4b16a4b\n\x02\x14\x1e\x03\x03",
	"gOIhw16i16o\n\x01\x02\x20\x20\x03\x03",
	"nhwc\n\x04\x02\x03\x04\x05",
	"ldigo\n\x01\x02\x01\x05\x04\x05",
	"abcdefghijkl",
	"8a",
	"4611686018427387904b",
	NULL,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_notation("onednn:", data, size);
}
