// SPDX-License-Identifier: MIT
/*
 * How long it takes to lower a nest to jobs, beside a memcpy of 64 KiB on the same machine. The
 * least of several rounds is printed: what else the machine does only adds to it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lower/nest.h"
#include "measure.h"

#define NUM_ROUNDS	20
#define NUM_CALLS	500
#define MAX_TERMS	8

/* Axes n, c, d, h, w; the indices of both operands, outermost first, with their extents. */
struct example {
	const char *name;
	int64_t extents[5];
	const char *dst[MAX_TERMS];
	int64_t dst_shape[MAX_TERMS];
	const char *src[MAX_TERMS];
	int64_t src_shape[MAX_TERMS];
};

static const struct example examples[] = {
	{ "a permutation", { 2, 64, 8, 56, 56 },
	  { "n", "d", "h", "w", "c" }, { 2, 8, 56, 56, 64 },
	  { "n", "c", "d", "h", "w" }, { 2, 64, 8, 56, 56 } },
	{ "blocks of 16 of 64", { 2, 64, 8, 56, 56 },
	  { "n", "c//16", "d", "h", "w", "c%16" }, { 2, 4, 8, 56, 56, 16 },
	  { "n", "c", "d", "h", "w" }, { 2, 64, 8, 56, 56 } },
	{ "blocks of 16 and 4 of 60 and 55", { 2, 60, 8, 55, 56 },
	  { "n", "c//16", "d", "h//4", "w", "c%16", "h%4" }, { 2, 4, 8, 14, 56, 16, 4 },
	  { "n", "c", "d", "h", "w" }, { 2, 60, 8, 55, 56 } },
	{ "(56*h + w) // 49, transposed", { 2, 64, 8, 56, 56 },
	  { "n", "c", "d", "(56*h + w) % 49", "(56*h + w) // 49" }, { 2, 64, 8, 49, 64 },
	  { "n", "c", "d", "w", "h" }, { 2, 64, 8, 56, 56 } },
};

static void add_operand(struct lower_nest *nest, const char *const *texts, const int64_t *shape)
{
	struct lower_operand *operand = &nest->operands[nest->num_operands];
	int64_t stride = 4;
	uint32_t count = 0;

	operand->slot = nest->num_operands++;
	operand->dtype = ACCEL_DTYPE_F32;
	while (count < MAX_TERMS && texts[count])
		count++;
	for (uint32_t t = count; t-- > 0; ) {
		struct lower_term *term = &operand->address.terms[operand->address.num_terms++];

		if (accel_expression_parse(texts[t], &term->value, NULL))
			abort();
		term->stride = stride;
		stride *= shape[t];
	}
}

static void make_nest(const struct example *example, struct lower_nest *nest)
{
	memset(nest, 0, sizeof(*nest));
	for (uint32_t a = 0; a < 5; a++) {
		nest->axes[a].name[0] = "ncdhw"[a];
		nest->axes[a].extent = example->extents[a];
	}
	nest->num_axes = 5;
	add_operand(nest, example->dst, example->dst_shape);
	add_operand(nest, example->src, example->src_shape);
}

static void lower(const void *context)
{
	struct accel_plan *plan = plan_new();

	if (!plan || lower_nest(context, plan, NULL) || plan->num_jobs != 1)
		abort();
	accel_plan_unref(plan);
}

int main(void)
{
	static struct lower_nest nest;
	double reference = measure_memcpy_us(NUM_ROUNDS, NUM_CALLS), taken;

	printf("%10.2f us  memcpy of 64 KiB\n", reference);
	for (size_t k = 0; k < sizeof(examples) / sizeof(examples[0]); k++) {
		make_nest(&examples[k], &nest);
		taken = measure_us(lower, &nest, NUM_ROUNDS, NUM_CALLS);
		printf("%10.2f us  %6.2f memcpy  lower %s\n", taken, taken / reference,
		       examples[k].name);
		lower_nest_release(&nest);
	}
	return 0;
}
