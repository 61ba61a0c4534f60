// SPDX-License-Identifier: MIT
/*
 * What fusion gains: chains over 64 MiB on the CPU, as one pass and with a pass for each step. Both
 * run in turns, and what is printed are medians of the rounds. The gain is the time that is saved,
 * in fused passes; it is set beside the number of passes that are saved.
 */
#include <stdio.h>
#include <stdlib.h>

#include <accel.h>

#include "measure.h"

#define NUM_ROUNDS	11
#define RANK		4
#define MAX_STEPS	4	/* and a NULL after them */

/* 64 MiB of f32 */
static const int64_t shape[RANK] = { 4, 64, 256, 256 };

struct chain {
	const char *name;
	const char *steps[MAX_STEPS];	/* definitions: x is the input, y the last of them */
};

static const struct chain chains[] = {
	{ "NCHW -> NHWC, scale and relu, cast to f16",
	  { "a[n,h,w,c] = x[n,c,h,w]", "b[n,h,w,c] = relu(a[n,h,w,c] * 0.5)",
	    "y[n,h,w,c] = f16(b[n,h,w,c])" } },
	{ "scale and relu, cast to f16, no permutation",
	  { "a[n,c,h,w] = relu(x[n,c,h,w] * 0.5)", "y[n,c,h,w] = f16(a[n,c,h,w])" } },
	{ "NCHW -> NHWC -> NCHW16c, moves alone",
	  { "a[n,h,w,c] = x[n,c,h,w]", "y[n,o<4,h,w,i<16] = a[n,h,w,o*16+i]" } },
};

/* A chain made ready, one way. */
struct way {
	struct accel_plan_info info;
	struct accel_task *task;
	double times[NUM_ROUNDS];
};

static void require(int failed, const struct accel_error *error)
{
	if (!failed)
		return;
	fprintf(stderr, "bench_fusion: %s\n", error->message);
	exit(1);
}

static struct accel_function *build(const struct chain *chain)
{
	struct accel_function *function;
	struct accel_error error;

	require(accel_function_create(&function, &error), &error);
	require(accel_function_add_input(function, "x", ACCEL_DTYPE_F32, RANK, shape, NULL,
					 &error), &error);
	for (int k = 0; chain->steps[k]; k++)
		require(accel_function_define(function, chain->steps[k], &error), &error);
	require(accel_function_add_output(function, "y", NULL, NULL, &error), &error);
	return function;
}

static struct accel_tensor *create_output(struct accel_device *device,
					  const struct accel_function *function)
{
	int64_t output_shape[ACCEL_MAX_DIMS];
	struct accel_tensor *output;
	struct accel_error error;
	enum accel_dtype dtype;
	uint32_t rank;

	require(accel_function_tensor(function, "y", &dtype, &rank, output_shape, &error), &error);
	require(accel_tensor_create(device, dtype, rank, output_shape, NULL, &output, &error),
		&error);
	return output;
}

static void prepare(struct way *way, const struct accel_function *function, bool is_unfused,
		    struct accel_tensor *const tensors[2])
{
	const struct accel_plan_options options = { .is_unfused = is_unfused };
	struct accel_error error;
	struct accel_plan *plan;

	require(accel_plan_create(function, &options, &plan, &error), &error);
	accel_plan_info(plan, &way->info);
	require(accel_task_create(plan, 2, tensors, &way->task, &error), &error);
	accel_plan_unref(plan);
}

static double run(struct way *way)
{
	struct accel_error error;
	double start = now_ns();

	require(accel_task_submit(way->task, NULL, 0, &error), &error);
	require(accel_task_wait(way->task, -1, &error), &error);
	return (now_ns() - start) / 1e6;
}

static void report(const struct chain *chain, struct way *fused, struct way *unfused)
{
	uint32_t saved = unfused->info.passes - fused->info.passes;
	double fused_ms = median(fused->times, NUM_ROUNDS);
	double unfused_ms = median(unfused->times, NUM_ROUNDS);
	double gain = (unfused_ms - fused_ms) / fused_ms;

	printf("%10.2f ms fused, %.2f ms unfused: gain %.2f, %.2f times the %u passes saved: %s\n",
	       fused_ms, unfused_ms, gain, gain / saved, saved, chain->name);
}

static void measure(struct accel_device *device, const struct chain *chain,
		    struct accel_tensor *input)
{
	struct accel_function *function = build(chain);
	struct accel_tensor *tensors[2] = { input, create_output(device, function) };
	struct way fused, unfused;

	prepare(&fused, function, false, tensors);
	prepare(&unfused, function, true, tensors);
	/* memory that was never touched is slow once */
	run(&fused);
	run(&unfused);
	for (int round = 0; round < NUM_ROUNDS; round++) {
		fused.times[round] = run(&fused);
		unfused.times[round] = run(&unfused);
	}
	report(chain, &fused, &unfused);
	accel_task_unref(fused.task);
	accel_task_unref(unfused.task);
	accel_tensor_unref(tensors[1]);
	accel_function_unref(function);
}

/* Numbers, and none of them 0: lines of zeros may be stored faster. */
static void fill(struct accel_tensor *tensor)
{
	struct accel_buffer *buffer = accel_tensor_buffer(tensor);
	struct accel_error error;
	void *address;
	float *numbers;

	require(accel_buffer_map(buffer, &address, &error), &error);
	numbers = address;
	for (uint64_t i = 0; i < accel_buffer_size(buffer) / sizeof(float); i++)
		numbers[i] = (float)(i % 1000 + 1);
}

int main(void)
{
	struct accel_device *device;
	struct accel_tensor *input;
	struct accel_error error;

	require(accel_open("cpu", &device, &error), &error);
	require(accel_tensor_create(device, ACCEL_DTYPE_F32, RANK, shape, NULL, &input, &error),
		&error);
	fill(input);
	for (size_t k = 0; k < sizeof(chains) / sizeof(chains[0]); k++)
		measure(device, &chains[k], input);
	accel_tensor_unref(input);
	accel_device_unref(device);
	return 0;
}
