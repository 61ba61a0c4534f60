// SPDX-License-Identifier: MIT
/*
 * Fuzzes functions: the bytes of the first line are the extents of three inputs, each other line is
 * a definition. What is defined is asked for and planned, fused and unfused; a plan made twice is
 * the same, and its jobs are within their limits. Nothing is executed.
 */
#include <stdlib.h>
#include <string.h>

#include <accel.h>

#include "fuzz.h"

#define MAX_DEFINITIONS	16
#define NUM_INPUTS	3
#define EXTENTS		"\x04\x04\x04\x05\n"

const char *const fuzz_seeds[] = {
	EXTENTS "y[i,j] = x[i,j] + 7\nz[j,i] = y[i,j] * x[i,j]",
	EXTENTS "x2[m,n,k] = x[m,n] * x[n,k]",
	EXTENTS "y[i,j] = relu(x[j,i] * s[i] + s[j])\nq[i,j] = u8(y[i,j] * 0.5 + 3)",
	EXTENTS "y[i<8, j] = x[i//2, j%3]\nz[i] = y[i,0]",
	EXTENTS "p[i<6, j] = select(0 <= i-1 and i-1 < 4, x[i-1, j], 0)\n"
	"p2[j,i] = clamp(p[i,j], -1, 1e3)",
	EXTENTS "g[i,j] = x[rows[i], j]\nh[j,i<9] = g[i//3,j]",
	EXTENTS "t[rows[i], j] = x[i,j]",
	EXTENTS "y[i,j] = fma(x[i,j], x[j,i], -s[j])\n"
	"z[i,j] = select(y[i,j] < 2, max(y[i,j], 1), abs(s[i]))",
	EXTENTS "y[i,j] = f16(i8(x[j,i]))\nz[a,b,c<4,d<2] = f64(y[a,b])",
	EXTENTS "y[i<9223372036854775807] = s[i%4]",
	"select(", "((((((((", "clamp(x[i,j], 0, 1)", "rows[i]*2 + 1",
	"0 <= i < 4 and ", "[i//3, i%3]", "u8(", "1e400", "-9223372036854775808", "<2147483648",
	NULL,
};

static void require(int condition)
{
	if (!condition)
		abort();
}

/* Extents from 0 to 31 are themselves; larger ones come near a power of two. */
static int64_t make_extent(uint8_t byte)
{
	return byte < 32 ? byte : ((int64_t)1 << (byte - 32) % 63) - 1 + byte % 3;
}

static void check_error(int code, const struct accel_error *error, const char *text)
{
	require(code < 0 && error->code == code && error->message[0]);
	if (text)
		require(error->column >= 0 && (size_t)error->column <= strlen(text) + 1);
}

/* Matrices x of f32 and s, a vector, and rows, a vector of integers. */
static int add_inputs(struct accel_function *function, const uint8_t *bytes, size_t size)
{
	static const struct {
		const char *name;
		enum accel_dtype dtype;
		uint32_t rank;
	} inputs[NUM_INPUTS] = {
		{ "x", ACCEL_DTYPE_F32, 2 }, { "s", ACCEL_DTYPE_F32, 1 },
		{ "rows", ACCEL_DTYPE_I32, 1 },
	};
	struct accel_error error = { 0 };
	size_t used = 0;

	for (uint32_t k = 0; k < NUM_INPUTS; k++) {
		int64_t shape[2] = { 4, 4 };
		int ret;

		for (uint32_t d = 0; d < inputs[k].rank && used < size; d++)
			shape[d] = make_extent(bytes[used++]);
		ret = accel_function_add_input(function, inputs[k].name, inputs[k].dtype,
					       inputs[k].rank, shape, NULL, &error);
		if (ret) {
			check_error(ret, &error, NULL);
			return ret;
		}
	}
	return 0;
}

/* The name before the bracket of a definition that was taken. */
static void ask_for(struct accel_function *function, const char *text)
{
	struct accel_error error = { 0 };
	const char *start = text + strspn(text, " \t\r\v\f"), *end = start + strcspn(start, " \t[");
	char name[ACCEL_NAME_MAX + 1];
	int ret;

	require(end - start <= ACCEL_NAME_MAX);
	memcpy(name, start, (size_t)(end - start));
	name[end - start] = '\0';
	ret = accel_function_add_output(function, name, NULL, NULL, &error);
	if (ret)
		check_error(ret, &error, NULL);
}

/* A line at a time. Of what is defined every other one is asked for: the rest may fuse. */
static void define(struct accel_function *function, char *text)
{
	uint32_t count = 0;

	for (char *next; text && count < MAX_DEFINITIONS; text = next) {
		struct accel_error error = { 0 };
		int ret;

		next = strchr(text, '\n');
		if (next)
			*next++ = '\0';
		ret = accel_function_define(function, text, &error);
		if (ret)
			check_error(ret, &error, text);
		else if (!next || count++ % 2)
			ask_for(function, text);
	}
}

static void check_operand(const struct accel_plan_operand *operand,
			  const struct accel_plan_info *info, const struct accel_plan_job *job)
{
	require(operand->slot < info->num_slots);
	require(!operand->is_indirect || operand->index_slot < info->num_slots);
	require(!(operand->window_mask & ~(((uint64_t)1 << job->num_windows) - 1)));
}

static void check_jobs(const struct accel_plan *plan, const struct accel_plan_info *info)
{
	for (uint32_t k = 0; k < info->num_jobs; k++) {
		const struct accel_plan_job *job = accel_plan_job(plan, k);

		require(job && job->rank <= ACCEL_MAX_RANK);
		require(job->num_operands && job->num_operands <= 1 + ACCEL_MAX_SOURCES);
		require(job->num_windows <= ACCEL_MAX_WINDOWS);
		require(job->num_instructions <= ACCEL_MAX_INSTRUCTIONS);
		for (uint32_t i = 0; i < job->num_operands; i++)
			check_operand(&job->operands[i], info, job);
	}
	require(!accel_plan_job(plan, info->num_jobs));
}

static void check_plan(const struct accel_function *function,
		       const struct accel_plan_options *options)
{
	struct accel_plan *plan = NULL, *again = NULL;
	struct accel_error error = { 0 };
	struct accel_plan_info info;
	int ret = accel_plan_create(function, options, &plan, &error);

	if (ret) {
		check_error(ret, &error, NULL);
		return;
	}
	accel_plan_info(plan, &info);
	require(info.passes <= info.passes_unfused || options->is_unfused);
	check_jobs(plan, &info);
	require(accel_plan_chain(plan) != NULL);
	require(!accel_plan_create(function, options, &again, NULL));
	require(accel_plan_equal(plan, again));
	require(accel_plan_hash(plan) == accel_plan_hash(again));
	accel_plan_unref(again);
	accel_plan_unref(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct accel_plan_options options[] = {
		{ .may_alias = true }, { .is_unfused = true }, { .keeps_order = true },
	};
	const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
	size_t num_extents = newline ? (size_t)(newline - data) : 0;
	size_t length = size - (newline ? num_extents + 1 : 0);
	struct accel_function *function;
	char *text = malloc(length + 1);

	require(text && !accel_function_create(&function, NULL));
	if (length)
		memcpy(text, data + size - length, length);
	text[length] = '\0';
	if (!add_inputs(function, data, num_extents)) {
		define(function, text);
		for (size_t k = 0; k < sizeof(options) / sizeof(options[0]); k++)
			check_plan(function, &options[k]);
	}
	accel_function_unref(function);
	free(text);
	return 0;
}
