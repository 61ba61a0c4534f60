// SPDX-License-Identifier: MIT
/*
 * Fuzzes layouts of which the notation is not known: what tells them apart.
 */
#include "fuzz_notation.h"

const char *const fuzz_seeds[] = {
	"NHWC\n\x02\x01\x02\x03\x04",
	"NCHW16c\n\x02\x01\x32\x07\x07",
	"N[a=32]H*\n\x02\x03\x04\x05",
	"stick\n\x01\x05\x64\x96",
	"stick:sparse\n\x01\x05\x64",
	"{1,0:T(8,128)}\n\x02\x1e\x90",
	"(i, j) -> (j, i)\n\x01\x03\x05",
	"lambda i, j: [j, i]\n\x01\x03\x05",
	"strides:1,2",
	"onednn:ba",
	"tile:outer=",
	"pack:",
	"unpack:",
	"xla:",
	"glow:",
	"map:",
	"order:",
	"topi:",
	"sticky",
	"*",
	NULL,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_notation("", data, size);
}
