// SPDX-License-Identifier: MIT
/*
 * How long it takes from a function to its plan, beside a memcpy of 64 KiB on the same machine.
 * Maps are parsed before. The least of several rounds is printed: what else the machine does only
 * adds to it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <accel.h>

#include "measure.h"

#define NUM_ROUNDS	1000
#define NUM_CALLS	10
#define MAX_STEPS	4	/* and a NULL after them */

struct example {
	uint32_t rank;
	int64_t shape[ACCEL_MAX_DIMS];
	const char *maps[MAX_STEPS];		/* of tensors t0, t1, .. */
	const char *text;			/* a definition after them */
};

static const struct example examples[] = {
	{ 5, { 2, 64, 8, 56, 56 },
	  { "(n, c, d, h, w) -> (n, d, h, w, c)",
	    "(n, d, h, w, c) -> (n, d, h, w, c//16, c%16)",
	    "(n, d, h, w, o, i) -> (n, o, d, h, w, i)" }, NULL },
	{ 5, { 2, 60, 8, 55, 55 },
	  { "(n, c, d, h, w) -> (n, d, h, w, c)",
	    "(n, d, h, w, c) -> (n, d, h, w, c//16, c%16)",
	    "(n, d, h, w, o, i) -> (n, o, d, h, w//4, i, w%4)" }, NULL },
	{ 4, { 2, 64, 56, 56 }, { "(n, c, h, w) -> (n, h, w, c)" },
	  "y[i,j,k,l] = relu(t1[i,j,k,l] * 2.5 + 1)" },
};

static struct accel_map *maps[MAX_STEPS + 1];

static void plan(const void *context)
{
	const struct example *example = context;
	struct accel_function *function;
	struct accel_plan *plan;
	char source[8] = "t0", result[8];
	int failed;

	failed = accel_function_create(&function, NULL) ||
		 accel_function_add_input(function, source, ACCEL_DTYPE_F32, example->rank,
					  example->shape, NULL, NULL);
	for (int k = 0; !failed && maps[k]; k++) {
		snprintf(result, sizeof(result), "t%d", k + 1);
		failed = accel_function_map(function, result, source, maps[k], NULL, NULL);
		strcpy(source, result);
	}
	if (example->text && !failed) {
		failed = accel_function_define(function, example->text, NULL);
		strcpy(source, "y");
	}
	if (failed || accel_function_add_output(function, source, NULL, NULL, NULL) ||
	    accel_plan_create(function, NULL, &plan, NULL))
		abort();
	accel_plan_unref(plan);
	accel_function_unref(function);
}

static void run(const struct example *example, double reference)
{
	double taken;
	int count = 0;

	for (; count < MAX_STEPS && example->maps[count]; count++)
		if (accel_map_parse(example->maps[count], &maps[count], NULL))
			abort();
	taken = measure_us(plan, example, NUM_ROUNDS, NUM_CALLS);
	printf("%10.2f us  %6.2f memcpy  from a function to its plan: %u axes, %d maps%s%s\n",
	       taken, taken / reference, example->rank, count, example->text ? ", " : "",
	       example->text ? example->text : "");
	while (count--) {
		accel_map_unref(maps[count]);
		maps[count] = NULL;
	}
}

int main(void)
{
	double reference = measure_memcpy_us(NUM_ROUNDS, NUM_CALLS);

	printf("%10.2f us  memcpy of 64 KiB\n", reference);
	for (size_t k = 0; k < sizeof(examples) / sizeof(examples[0]); k++)
		run(&examples[k], reference);
	return 0;
}
