// SPDX-License-Identifier: MIT
/*
 * Random jobs: putting one together from its types, its layout and its program, asking the
 * reference for the answer, and comparing with that.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "reference.h"

static void free_buffers(struct random_job *job)
{
	for (uint32_t b = 0; b < job->num_buffers; b++) {
		free(job->buffers[b].initial);
		free(job->buffers[b].expected);
		free(job->buffers[b].may_change);
	}
}

void random_job_destroy(struct random_job *job)
{
	if (!job)
		return;
	free_buffers(job);
	free(job);
}

static uint8_t *copy_of(const uint8_t *bytes, uint64_t size)
{
	uint8_t *copy = malloc(size);

	if (!copy)
		abort();
	return memcpy(copy, bytes, size);
}

static void make_types(struct random *random, struct random_job *job,
		       const struct random_job_options *options)
{
	bool has_program = random_chance(random, 40);

	job->num_operands = has_program ? 1 + (uint32_t)random_below(random, 5) : 2;
	for (uint32_t k = 0; k < job->num_operands; k++) {
		struct drm_tessera_operand *operand = &job->operands[k];

		do {
			operand->dtype = has_program ? random_computing_dtype(random) :
						       random_any_dtype(random);
		} while (!has_program && k && random_dtype_size(operand->dtype) !=
					      random_dtype_size(job->operands[0].dtype));
		if (!k)
			continue;
		operand->fill[0] = random_element(random, operand->dtype);
		if (operand->dtype == DRM_TESSERA_DTYPE_RAW128)
			operand->fill[1] = random_bits(random);
	}
	if (has_program)
		random_program(random, job, options->max_instructions);
}

static void describe(struct random_job *job)
{
	const char *kind = job->num_instructions ? "program" : "move";
	char extents[80] = "";
	size_t used = 0;

	for (uint32_t d = 0; d < job->rank; d++)
		used += (size_t)snprintf(extents + used, sizeof(extents) - used, "%s%" PRIu64,
					 d ? "x" : "", (uint64_t)job->extents[d]);
	snprintf(job->description, sizeof(job->description),
		 "%s of [%s], %u sources, %u windows", kind, extents,
		 job->num_operands - 1, job->num_windows);
}

/* A job without answers, or NULL when it came out too large. */
static struct random_job *make_job(struct random *random, const struct random_job_options *options)
{
	struct random_job *job = calloc(1, sizeof(*job));

	if (!job)
		abort();
	make_types(random, job, options);
	if (!random_layout(random, job, options)) {
		random_job_destroy(job);
		return NULL;
	}
	describe(job);
	return job;
}

static void expected_bases(const struct random_job *job, void **bases)
{
	for (uint32_t b = 0; b < job->num_buffers; b++)
		bases[b] = job->buffers[b].expected;
}

/* Runs the reference on the buffers' expected contents. */
static int answer(struct random_job *job, struct reference_fault *fault)
{
	void *bases[RANDOM_JOB_MAX_BUFFERS];
	struct engine_job engine_job;

	for (uint32_t b = 0; b < job->num_buffers; b++)
		memcpy(job->buffers[b].expected, job->buffers[b].initial, job->buffers[b].size);
	expected_bases(job, bases);
	random_job_bind(job, bases, &engine_job);
	return reference_run(&engine_job, fault);
}

/* Puts a bad index where one is read. Returns true if the job faults at it now. */
static bool plant_bad_index(struct random *random, struct random_job *job)
{
	uint32_t k = (uint32_t)random_below(random, job->num_operands);
	struct drm_tessera_operand *operand = &job->operands[k];
	struct random_job_buffer *indices;
	uint64_t bad = random_chance(random, 50) ? UINT64_MAX : UINT64_MAX >> 1, before = 0, place;
	struct reference_fault fault;
	uint32_t size;

	if (!operand->flags)
		return false;
	indices = &job->buffers[operand->index_handle - 1];
	size = random_dtype_size(operand->index_dtype);
	if (indices->size < size)
		return false;
	if (random_chance(random, 30))
		bad = random_bits(random);
	place = random_below(random, indices->size - size + 1);
	memcpy(&before, indices->initial + place, size);
	memcpy(indices->initial + place, &bad, size);
	if (answer(job, &fault) && fault.operand == k) {
		job->outcome = RANDOM_JOB_FAULTS;
		job->cause = fault.cause;
		job->operand = k;
		return true;
	}
	memcpy(indices->initial + place, &before, size);
	return false;
}

static void mark_changes(struct random_job *job)
{
	struct random_job_buffer *buffer = &job->buffers[job->operands[0].handle - 1];
	void *bases[RANDOM_JOB_MAX_BUFFERS];
	struct engine_job engine_job;

	for (uint32_t b = 0; b < job->num_buffers; b++)
		memcpy(job->buffers[b].expected, job->buffers[b].initial, job->buffers[b].size);
	expected_bases(job, bases);
	random_job_bind(job, bases, &engine_job);
	reference_mark_stores(&engine_job, buffer->may_change);
}

struct random_job *random_job_create(uint64_t seed, const struct random_job_options *options)
{
	struct random_job_options chosen = options ? *options : (struct random_job_options){ 0 };
	struct random random = { seed * 0x2545f4914f6cdd1d + 1 };
	struct random_job *job;

	if (!chosen.max_points)
		chosen.max_points = 4096;
	if (!chosen.max_buffer_bytes)
		chosen.max_buffer_bytes = 256 << 10;
	if (!chosen.max_instructions)
		chosen.max_instructions = DRM_TESSERA_MAX_INSTRUCTIONS;
	if (!chosen.size_multiple)
		chosen.size_multiple = 1;
	do {
		job = make_job(&random, &chosen);
	} while (!job);
	job->seed = seed;
	for (uint32_t b = 0; b < job->num_buffers; b++) {
		struct random_job_buffer *buffer = &job->buffers[b];

		buffer->expected = copy_of(buffer->initial, buffer->size);
		buffer->may_change = calloc(1, buffer->size);
		if (!buffer->may_change)
			abort();
	}
	if (chosen.with_refused && random_chance(&random, 20) && random_break(&random, job))
		return job;
	for (int attempt = 0; chosen.with_faults && attempt < 3; attempt++) {
		if (plant_bad_index(&random, job)) {
			mark_changes(job);
			return job;
		}
	}
	/* what is not refused and has good indices has an answer, or this program is wrong */
	if (answer(job, NULL))
		abort();
	return job;
}

void random_job_bind(const struct random_job *job, void *const *bases,
		     struct engine_job *engine_job)
{
	memset(engine_job, 0, sizeof(*engine_job));
	engine_job->rank = job->rank;
	engine_job->num_operands = job->num_operands;
	engine_job->num_windows = job->num_windows;
	engine_job->num_instructions = job->num_instructions;
	memcpy(engine_job->extents, job->extents, sizeof(job->extents));
	memcpy(engine_job->windows, job->windows, sizeof(job->windows));
	memcpy(engine_job->program, job->program, sizeof(job->program));
	for (uint32_t k = 0; k < job->num_operands && k < DRM_TESSERA_MAX_OPERANDS; k++) {
		struct engine_operand *operand = &engine_job->operands[k];
		uint32_t buffer = job->operands[k].handle;
		uint32_t index_buffer = job->operands[k].index_handle;

		operand->spec = job->operands[k];
		if (buffer)
			operand->buffer = (struct engine_buffer){
				bases[buffer - 1], job->buffers[buffer - 1].size, true
			};
		if (index_buffer)
			operand->index_buffer = (struct engine_buffer){
				bases[index_buffer - 1], job->buffers[index_buffer - 1].size, true
			};
	}
}

bool random_job_check(const struct random_job *job, uint32_t buffer, const void *contents,
		      char *text, size_t text_size)
{
	const struct random_job_buffer *wanted = &job->buffers[buffer];
	const uint8_t *bytes = contents, *expected = wanted->initial;

	if (job->outcome == RANDOM_JOB_SUCCEEDS)
		expected = wanted->expected;
	for (uint64_t i = 0; i < wanted->size; i++) {
		if (bytes[i] == expected[i] ||
		    (job->outcome == RANDOM_JOB_FAULTS && wanted->may_change[i]))
			continue;
		snprintf(text, text_size,
			 "seed %" PRIu64 ": buffer %u, byte %" PRIu64 " of %" PRIu64
			 " is 0x%02x, expected 0x%02x (before: 0x%02x)", job->seed, buffer, i,
			 wanted->size, bytes[i], expected[i], wanted->initial[i]);
		return false;
	}
	return true;
}

static void print_affine(const struct random_job *job, const char *name,
			 const struct drm_tessera_affine *affine, FILE *file)
{
	fprintf(file, "%s %lld + [", name, (long long)affine->offset);
	for (uint32_t d = 0; d < job->rank && d < DRM_TESSERA_MAX_RANK; d++)
		fprintf(file, "%s%lld", d ? ", " : "", (long long)affine->strides[d]);
	fprintf(file, "]");
}

static void print_operand(const struct random_job *job, uint32_t k, FILE *file)
{
	const struct drm_tessera_operand *operand = &job->operands[k];

	fprintf(file, "  operand %u: buffer %u, dtype 0x%02x, windows 0x%x, ", k,
		operand->handle - 1, operand->dtype, operand->window_mask);
	print_affine(job, "address", &operand->address, file);
	fprintf(file, ", fill 0x%llx 0x%llx\n", (unsigned long long)operand->fill[0],
		(unsigned long long)operand->fill[1]);
	if (!operand->flags)
		return;
	fprintf(file, "    flags 0x%x, index buffer %u, dtype 0x%02x, ",
		operand->flags, operand->index_handle - 1, operand->index_dtype);
	print_affine(job, "index_address", &operand->index_address, file);
	fprintf(file, ", index_stride %lld, index_limit %llu\n", (long long)operand->index_stride,
		(unsigned long long)operand->index_limit);
}

void random_job_print(const struct random_job *job, FILE *file)
{
	fprintf(file, "seed %" PRIu64 ": %s; outcome %d, error %d, cause %d\n  extents [",
		job->seed, job->description, job->outcome, job->error, job->cause);
	for (uint32_t d = 0; d < job->rank && d < DRM_TESSERA_MAX_RANK; d++)
		fprintf(file, "%s%" PRIu64, d ? ", " : "", (uint64_t)job->extents[d]);
	fprintf(file, "]\n");
	for (uint32_t k = 0; k < job->num_operands && k < DRM_TESSERA_MAX_OPERANDS; k++)
		print_operand(job, k, file);
	for (uint32_t w = 0; w < job->num_windows && w < DRM_TESSERA_MAX_WINDOWS; w++) {
		fprintf(file, "  window %u: 0 <= ", w);
		print_affine(job, "value", &job->windows[w].value, file);
		fprintf(file, " < %llu\n", (unsigned long long)job->windows[w].limit);
	}
	for (uint32_t n = 0; n < job->num_instructions && n < DRM_TESSERA_MAX_INSTRUCTIONS; n++) {
		const struct drm_tessera_instruction *instruction = &job->program[n];

		fprintf(file, "  instruction %u: opcode %u, dtype 0x%02x, flags %u, predicate "
			"%u, r%u = r%u r%u r%u, immediate 0x%llx\n", n, instruction->opcode,
			instruction->dtype, instruction->flags, instruction->predicate,
			instruction->dst, instruction->src[0], instruction->src[1],
			instruction->src[2], (unsigned long long)instruction->immediate);
	}
	for (uint32_t b = 0; b < job->num_buffers; b++)
		fprintf(file, "  buffer %u: %" PRIu64 " bytes\n", b, job->buffers[b].size);
}
