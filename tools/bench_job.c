// SPDX-License-Identifier: MIT
/*
 * What is in the memory of a case, and its job on a device. What the case is comes from its
 * description; how long the job takes is measured elsewhere.
 */
#include <errno.h>
#include <string.h>

#include "bench.h"
#include "error.h"

#define SPOILT	0xa5

/* Sources ---------------------------------------------------------------------------------- */

/* xorshift64 (Marsaglia): quick, and any two elements are told apart */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Numbers that a quantization in part saturates. */
static void fill_with_numbers(float *data, uint64_t count)
{
	uint64_t state = 1;

	for (uint64_t i = 0; i < count; i++)
		data[i] = (float)(int32_t)next_random(&state) * 0x1.4p-29f;
}

/*
 * Floats that are moved have their highest exponent bit clear: no NaN is among them, whose
 * payload other libraries would not be wrong to change.
 */
static uint64_t random_mask(enum accel_dtype dtype)
{
	if (dtype == ACCEL_DTYPE_F16)
		return ~0x4000400040004000;
	if (dtype == ACCEL_DTYPE_F32)
		return ~0x4000000040000000;
	if (dtype == ACCEL_DTYPE_F64)
		return ~0x4000000000000000;
	return UINT64_MAX;
}

static void fill_source(const struct bench_case *bench, struct bench_memory *source)
{
	uint64_t words = accel_buffer_size(source->buffer) / sizeof(uint64_t);
	uint64_t mask = random_mask(bench->source_dtype), state = 1;
	uint64_t *data = source->data;

	if (bench->program && bench->source_dtype == ACCEL_DTYPE_F32) {
		fill_with_numbers(source->data, accel_buffer_size(source->buffer) / sizeof(float));
		return;
	}
	for (uint64_t i = 0; i < words; i++)
		data[i] = next_random(&state) & mask;
}

/* Everything is touched, so that no page is missing when the clock runs. */
static int create_operands(struct bench_setup *setup, struct accel_error *error)
{
	const struct bench_case *bench = setup->bench;
	uint64_t source_bytes = bench->source_elements * accel_dtype_size(bench->source_dtype);
	uint64_t destination_bytes =
		bench_case_points(bench) * accel_dtype_size(bench->destination_dtype);
	int ret;

	setup->copy_bytes = bench_case_bytes(bench) / 2;
	if (source_bytes < setup->copy_bytes)
		source_bytes = setup->copy_bytes;
	if (destination_bytes < setup->copy_bytes)
		destination_bytes = setup->copy_bytes;
	ret = bench_memory_create(setup->device, source_bytes, bench->pages, &setup->source,
				  error);
	if (!ret)
		ret = bench_memory_create(setup->device, destination_bytes, bench->pages,
					  &setup->destination, error);
	if (ret)
		return ret;
	fill_source(bench, &setup->source);
	bench_setup_spoil(setup);
	return 0;
}

static int create_indices(struct bench_setup *setup, struct accel_error *error)
{
	const struct bench_case *bench = setup->bench;
	int64_t *indices;
	int ret = bench_memory_create(setup->device, bench->num_rows * sizeof(int64_t),
				      BENCH_PAGES_ANY, &setup->indices, error);

	if (ret)
		return ret;
	indices = setup->indices.data;
	for (uint64_t k = 0; k < bench->num_rows; k++)
		indices[k] = bench_case_row(bench, k);
	return 0;
}

static int create_parameters(struct bench_setup *setup, struct accel_error *error)
{
	const struct bench_program *program = setup->bench->program;
	float (*values)[BENCH_NUM_CHANNELS];
	int ret = bench_memory_create(setup->device, program->num_parameters * sizeof(*values),
				      BENCH_PAGES_ANY, &setup->parameters, error);

	if (ret)
		return ret;
	values = setup->parameters.data;
	for (uint32_t k = 0; k < program->num_parameters; k++)
		memcpy(values[k], program->parameters[k], sizeof(values[k]));
	return 0;
}

/* The job ---------------------------------------------------------------------------------- */

static int set_destination(struct bench_setup *setup, struct accel_error *error)
{
	const struct bench_case *bench = setup->bench;
	struct accel_operand operand = {
		.buffer = setup->destination.buffer,
		.dtype = bench->destination_dtype,
	};
	int64_t stride = (int64_t)accel_dtype_size(operand.dtype);

	for (uint32_t d = bench_case_rank(bench); d--;) {
		operand.address.strides[d] = stride;
		stride *= (int64_t)bench->loops[d].extent;
	}
	return accel_job_set_destination(setup->job, &operand, error);
}

static int add_source(struct bench_setup *setup, struct accel_error *error)
{
	const struct bench_case *bench = setup->bench;
	int64_t size = (int64_t)accel_dtype_size(bench->source_dtype);
	struct accel_operand operand = {
		.buffer = setup->source.buffer,
		.dtype = bench->source_dtype,
		.address.offset = bench->source_offset * size,
	};
	uint32_t rank = bench_case_rank(bench);

	for (uint32_t d = 0; d < rank; d++)
		operand.address.strides[d] = bench->loops[d].source_stride * size;
	if (bench->num_rows) {
		operand.index_buffer = setup->indices.buffer;
		operand.index_dtype = ACCEL_DTYPE_I64;
		operand.index_address.strides[0] = sizeof(int64_t);
		operand.index_stride = operand.address.strides[0];
		operand.index_limit = bench->num_rows;
		operand.address.strides[0] = 0;
	}
	for (uint32_t w = 0; bench->windows[w].limit; w++)
		operand.window_mask |= 1U << w;
	return accel_job_add_source(setup->job, &operand, error);
}

static int add_windows(struct bench_setup *setup, struct accel_error *error)
{
	int ret = 0;

	for (const struct bench_window *in = setup->bench->windows; in->limit && !ret; in++) {
		struct accel_window window = { .value.offset = in->bias, .limit = in->limit };

		memcpy(window.value.strides, in->coefficients, sizeof(in->coefficients));
		ret = accel_job_add_window(setup->job, &window, error);
	}
	return ret;
}

static int add_program(struct bench_setup *setup, struct accel_error *error)
{
	const struct bench_program *program = setup->bench->program;
	int ret = 0;

	for (uint32_t k = 0; k < program->num_parameters && !ret; k++) {
		struct accel_operand operand = {
			.buffer = setup->parameters.buffer,
			.dtype = ACCEL_DTYPE_F32,
			.address.offset = (int64_t)(k * BENCH_NUM_CHANNELS * sizeof(float)),
		};

		operand.address.strides[program->parameter_loop] = sizeof(float);
		ret = accel_job_add_source(setup->job, &operand, error);
	}
	for (uint32_t k = 0; k < program->num_instructions && !ret; k++)
		ret = accel_job_add_instruction(setup->job, &program->instructions[k], error);
	return ret;
}

static int create_job(struct bench_setup *setup, struct accel_error *error)
{
	uint32_t rank = bench_case_rank(setup->bench);
	uint64_t extents[ACCEL_MAX_RANK];
	int ret;

	for (uint32_t d = 0; d < rank; d++)
		extents[d] = setup->bench->loops[d].extent;
	ret = accel_job_create(rank, extents, &setup->job, error);
	if (!ret)
		ret = add_windows(setup, error);
	if (!ret)
		ret = set_destination(setup, error);
	if (!ret)
		ret = add_source(setup, error);
	if (!ret && setup->bench->program)
		ret = add_program(setup, error);
	return ret ? ret : accel_job_check(setup->job, error);
}

int bench_setup_create(struct accel_device *device, const struct bench_case *bench,
		       struct bench_setup *setup, struct accel_error *error)
{
	int ret;

	memset(setup, 0, sizeof(*setup));
	setup->bench = bench;
	setup->device = device;
	ret = create_operands(setup, error);
	if (!ret && bench->num_rows)
		ret = create_indices(setup, error);
	if (!ret && bench->program && bench->program->num_parameters)
		ret = create_parameters(setup, error);
	return ret ? ret : create_job(setup, error);
}

void bench_setup_release(struct bench_setup *setup)
{
	accel_job_unref(setup->job);
	accel_buffer_unref(setup->parameters.buffer);
	accel_buffer_unref(setup->indices.buffer);
	accel_buffer_unref(setup->destination.buffer);
	accel_buffer_unref(setup->source.buffer);
}

void bench_setup_spoil(struct bench_setup *setup)
{
	memset(setup->destination.data, SPOILT, accel_buffer_size(setup->destination.buffer));
}

/* counters may be NULL. */
static int run_once(struct bench_setup *setup, struct accel_job_counters *counters,
		    struct accel_error *error)
{
	struct accel_fence *fence;
	int ret = accel_submit(setup->device, &setup->job, 1, NULL, 0, &fence, error);

	if (ret)
		return ret;
	ret = accel_fence_wait(fence, -1, error);
	if (!ret && counters)
		ret = accel_fence_job_counters(fence, 0, counters, error);
	accel_fence_unref(fence);
	return ret;
}

int bench_setup_run(struct bench_setup *setup, struct accel_error *error)
{
	return run_once(setup, NULL, error);
}

int bench_setup_count(struct bench_setup *setup, struct accel_job_counters *counters,
		      struct accel_error *error)
{
	int ret = accel_device_set_counting(setup->device, true, error);

	if (ret)
		return ret;
	ret = run_once(setup, counters, error);
	/* what counts takes longer: it is not measured */
	accel_device_set_counting(setup->device, false, NULL);
	return ret;
}
