/* SPDX-License-Identifier: MIT */
/*
 * What tests of the engine's ways for large jobs share: a job is run as if it were large, on every
 * instruction set that the CPU has, in memory that begins and that ends at a guard page, in parts
 * and whole, with scratch and where another run has that, and as if it were too small to be
 * streamed, against the reference.
 */
#ifndef TESSERA_LARGE_TEST_H
#define TESSERA_LARGE_TEST_H

#include "engine/isa.h"
#include "engine/plan.h"
#include "random_test.h"

/* A plan as of a large job. */
static inline struct engine_plan *create_large_plan(const struct engine_job *job)
{
	struct engine_fault fault = { 0 };
	struct engine_plan *plan;

	if (engine_plan_create(job, &plan, &fault))
		fail_msg("%s", fault.text);
	plan->streams = true;
	plan->overflows = true;
	if (plan->scratch)
		return plan;
	plan->scratch = aligned_alloc(64, sizeof(*plan->scratch));
	assert_non_null(plan->scratch);
	plan->scratch->is_taken = 0;
	return plan;
}

/* What operand k's memory has at first: of floats, such as are bytes too; else any bytes. */
static inline uint8_t *initial_bytes(const struct engine_job *job, uint32_t k)
{
	const uint64_t size = job->operands[k].buffer.size;
	struct random random = { k };
	uint8_t *bytes = malloc(size);

	assert_non_null(bytes);
	for (uint64_t i = 0; i + 4 <= size; i += 4) {
		float value = (float)random_between(&random, -40, 1100) / 4;
		uint32_t bits = (uint32_t)random_bits(&random);

		if (job->operands[k].spec.dtype == DRM_TESSERA_DTYPE_F32)
			memcpy(bytes + i, &value, 4);
		else
			memcpy(bytes + i, &bits, 4);
	}
	for (uint64_t i = size & ~3ull; i < size; i++)
		bytes[i] = (uint8_t)i;
	return bytes;
}

/* A large job and, for each operand, what its memory has at first; NULL: it is in place. */
struct large {
	struct engine_job *job;
	uint8_t *initial[DRM_TESSERA_MAX_OPERANDS];
	uint8_t *expected;
	char text[160];		/* what the plan says of itself */
};

/* Gives each operand memory of its own, or the destination's. */
static inline void set_memory(struct large *large, uint8_t *const *memory)
{
	struct engine_operand *operands = large->job->operands;

	for (uint32_t k = 0; k < large->job->num_operands; k++) {
		operands[k].buffer.base = memory[large->initial[k] ? k : 0];
		if (!large->initial[k])
			operands[k].buffer.size = operands[0].buffer.size;
	}
}

/* How it is run: at either end of the memory's pages. */
struct large_run {
	bool at_end;
	bool has_scratch;
	bool streams;
	bool is_whole;		/* not in parts, which are longer where jobs are large */
};

/* Runs it on the instruction set chosen. */
static inline void run_large(struct large *large, const struct large_run *run)
{
	struct guarded memory[DRM_TESSERA_MAX_OPERANDS];
	uint8_t *bytes[DRM_TESSERA_MAX_OPERANDS];
	struct engine_job *job = large->job;
	struct engine_fault fault = { 0 };
	struct engine_plan *plan;
	uint64_t i = 0;

	for (uint32_t k = 0; k < job->num_operands; k++) {
		if (!large->initial[k])
			continue;
		memory[k] = guarded_copy(large->initial[k], job->operands[k].buffer.size,
					 run->at_end);
		bytes[k] = memory[k].bytes;
	}
	set_memory(large, bytes);
	plan = create_large_plan(job);
	plan->streams = run->streams;
	if (run->is_whole && !plan->is_staged)
		plan->parts = (struct engine_parts){ .count = 1 };
	engine_plan_describe(plan, large->text, sizeof(large->text));
	plan->scratch->is_taken = !run->has_scratch;
	if (engine_plan_run(plan, NULL, &fault))
		fail_msg("%s: %s", large->text, fault.text);
	engine_plan_destroy(plan);
	while (i < job->operands[0].buffer.size && bytes[0][i] == large->expected[i])
		i++;
	if (i < job->operands[0].buffer.size)
		fail_msg("%s: byte %" PRIu64 " is 0x%02x, expected 0x%02x", large->text, i,
			 bytes[0][i], large->expected[i]);
	for (uint32_t k = 0; k < job->num_operands; k++)
		if (large->initial[k])
			munmap(memory[k].mapping, memory[k].mapped);
}

/*
 * Checks a job whose buffers have sizes alone, and frees it; an operand of size 0 is in place. Its
 * plans must speak of what they are to have, and not of what they are to lack.
 */
static inline void check_large(struct engine_job *job, const char *has, const char *lacks)
{
	struct large large = { .job = job, .expected = initial_bytes(job, 0) };
	uint8_t *memory[DRM_TESSERA_MAX_OPERANDS];

	for (uint32_t k = 0; k < job->num_operands; k++) {
		if (job->operands[k].buffer.size)
			large.initial[k] = initial_bytes(job, k);
		memory[k] = k ? large.initial[k] : large.expected;
	}
	set_memory(&large, memory);
	assert_int_equal(reference_run(job, NULL), 0);
	for (uint32_t n = 0; engine_isa_at(n); n++) {
		if (!engine_isa_at(n)->is_available())
			continue;
		setenv(ENGINE_ISA_VARIABLE, engine_isa_at(n)->name, 1);
		run_large(&large, &(struct large_run){ true, true, false, false });
		run_large(&large, &(struct large_run){ true, true, true, false });
		run_large(&large, &(struct large_run){ true, true, true, true });
		run_large(&large, &(struct large_run){ false, true, true, false });
		run_large(&large, &(struct large_run){ true, false, true, false });
		unsetenv(ENGINE_ISA_VARIABLE);
		if (!strstr(large.text, has) || strstr(large.text, lacks))
			fail_msg("%s: expected to have \"%s\", and not \"%s\"", large.text, has,
				 lacks);
	}
	for (uint32_t k = 0; k < job->num_operands; k++)
		free(large.initial[k]);
	free(large.expected);
	free(job);
}

/* --- jobs of many planes ---------------------------------------------------------------------- */

#define F32	DRM_TESSERA_DTYPE_F32

/* The size of an operand's memory alone: check_large() makes it. */
static inline void set_size(struct engine_job *job, uint32_t k, uint64_t size)
{
	set_buffer(job, k, NULL, size);
}

/*
 * Planes, in which the destination has rows of points, channel by channel, and the sources rows of
 * channels, point by point, some elements apart.
 */
struct planes {
	uint64_t count;
	uint64_t channels;
	uint64_t points;
	uint64_t gap;
};

/* Gives operand k rows of channels. */
static inline void set_crossed(struct engine_job *job, uint32_t k, uint64_t gap)
{
	const uint64_t size = engine_dtype_size(job->operands[k].spec.dtype);
	const uint64_t row = (job->extents[1] + gap) * size, plane = job->extents[2] * row;
	__s64 *strides = job->operands[k].spec.address.strides;

	strides[0] = (int64_t)plane;
	strides[1] = (int64_t)size;
	strides[2] = (int64_t)row;
	set_size(job, k, job->extents[0] * plane - gap * size);
}

/* Gives operand k rows of points. */
static inline void set_in_order(struct engine_job *job, uint32_t k)
{
	const uint64_t size = engine_dtype_size(job->operands[k].spec.dtype);
	const uint64_t row = job->extents[2] * size, plane = job->extents[1] * row;
	__s64 *strides = job->operands[k].spec.address.strides;

	strides[0] = (int64_t)plane;
	strides[1] = (int64_t)row;
	strides[2] = (int64_t)size;
	set_size(job, k, job->extents[0] * plane);
}

static inline struct engine_job *planes_job(uint32_t num_sources, const struct planes *planes)
{
	struct engine_job *job = new_job(num_sources, F32);

	add_loop(job, planes->count, 0, 0);
	add_loop(job, planes->channels, 0, 0);
	add_loop(job, planes->points, 0, 0);
	set_in_order(job, 0);
	for (uint32_t k = 1; k <= num_sources; k++)
		set_crossed(job, k, planes->gap);
	return job;
}

/* Subtracts register k from register 0. */
static inline void subtract(struct engine_job *job, uint8_t k)
{
	add_instruction(job, DRM_TESSERA_OP_SUB, F32)->src[1] = k;
}

#endif /* TESSERA_LARGE_TEST_H */
