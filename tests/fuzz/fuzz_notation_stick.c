// SPDX-License-Identifier: MIT
/*
 * Fuzzes sticks.
 */
#include "fuzz_notation.h"

const char *const fuzz_seeds[] = {
	"pad=stick\n\x01\x05\x64\x96",
	"order=1,0,2\n\x01\x05\x64\xc0",
	"padded=5,128,192;order=0,1,2\n\x01\x05\x64\x96",
	"sparse;pad=all\n\x01\x20\x10",
	"device_size=128,3,64,64;stride_map=150,64,15000,1\n\x01\x05\x64\x96",
	"device_size=3,5,64;stride_map=-1,1,-1\n\x01\x05",
	"order=0,1,-1\n\x03\x09\x08",
	"\n\x01\x05\x64\x96",
	";pad=all",
	"stride_map=",
	"-1",
	NULL,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_notation("stick:", data, size);
}
