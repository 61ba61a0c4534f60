// SPDX-License-Identifier: MIT
/*
 * How long a map takes to parse, analyse and invert, beside a memcpy of 64 KiB on the same
 * machine. The least of several rounds is printed: what else the machine does only adds to it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <accel.h>

#include "measure.h"

#define NUM_ROUNDS	20
#define NUM_CALLS	2000

struct example {
	const char *text;
	uint32_t rank;
	int64_t shape[ACCEL_MAP_MAX_AXES];
};

static const struct example examples[] = {
	{ "(n, h, w, c) -> (n, c//4, h | w, c%4)", 4, { 16, 64, 64, 128 } },
	{ "(n, c, d, h, w) -> (n, c//16, d, h, w//4, c%16, w%4)", 5, { 2, 64, 8, 56, 56 } },
	{ "(n, c, d, h, w) -> (n, c//16, d, h, (w + 2)//4, c%16, (w + 2)%4)", 5,
	  { 2, 60, 8, 55, 55 } },
	{ "(a, b, c, d, e) -> (e, d, c, b, a)", 5, { 3, 5, 7, 11, 13 } },
};

static void analyse(const void *context)
{
	const struct example *example = context;
	struct accel_map_analysis analysis;
	struct accel_map *map;

	if (accel_map_parse(example->text, &map, NULL) ||
	    accel_map_analyze(map, example->rank, example->shape, &analysis, NULL) ||
	    !analysis.inverse)
		abort();
	accel_map_analysis_release(&analysis);
	accel_map_unref(map);
}

int main(void)
{
	double reference = measure_memcpy_us(NUM_ROUNDS, NUM_CALLS), taken;
	size_t k;

	printf("%10.2f us  memcpy of 64 KiB\n", reference);
	for (k = 0; k < sizeof(examples) / sizeof(examples[0]); k++) {
		taken = measure_us(analyse, &examples[k], NUM_ROUNDS, NUM_CALLS);
		printf("%10.2f us  %6.2f memcpy  parse, analyse, invert %s\n", taken,
		       taken / reference, examples[k].text);
	}
	return 0;
}
