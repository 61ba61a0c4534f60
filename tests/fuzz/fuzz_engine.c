// SPDX-License-Identifier: MIT
/*
 * Fuzzes the engine: the bytes are hashed to the seed of a random job, which is run by every
 * instruction set that the CPU has, and compared with the reference.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/isa.h"
#include "fuzz.h"
#include "reference/random_job.h"

const char *const fuzz_seeds[] = { "job", "0", "move", "program", "\x80\x01\xfe", NULL };

/* FNV-1a (G. Fowler, L. C. Noll, P. Vo) */
static uint64_t hash(const uint8_t *data, size_t size)
{
	uint64_t value = 0xcbf29ce484222325;

	for (size_t i = 0; i < size; i++)
		value = (value ^ data[i]) * 0x100000001b3;
	return value;
}

/* Copies of their own size, so that a byte too far is seen. */
static void fill_buffers(const struct random_job *job, void **bases)
{
	for (uint32_t b = 0; b < job->num_buffers; b++) {
		bases[b] = malloc(job->buffers[b].size);
		if (!bases[b])
			abort();
		memcpy(bases[b], job->buffers[b].initial, job->buffers[b].size);
	}
}

static int run(const struct engine_job *job, struct engine_fault *fault)
{
	struct engine_plan *plan;
	int error = engine_plan_create(job, &plan, fault);

	if (error)
		return error;
	error = engine_plan_run(plan, NULL, fault);
	engine_plan_destroy(plan);
	return error;
}

static void fail(const struct random_job *job, const char *isa, const char *text)
{
	fprintf(stderr, "%s: %s\n", isa, text);
	random_job_print(job, stderr);
	abort();
}

static void check(const struct random_job *job, const char *isa)
{
	int expected = job->outcome == RANDOM_JOB_REFUSED ? -job->error :
		       job->outcome == RANDOM_JOB_FAULTS ? -ERANGE : 0;
	struct engine_fault fault = { .text = "" };
	void *bases[RANDOM_JOB_MAX_BUFFERS];
	struct engine_job engine_job;
	char text[200];

	fill_buffers(job, bases);
	random_job_bind(job, bases, &engine_job);
	if (run(&engine_job, &fault) != expected)
		fail(job, isa, fault.text);
	if (job->outcome == RANDOM_JOB_FAULTS &&
	    (fault.cause != job->cause || fault.operand != job->operand))
		fail(job, isa, fault.text);
	for (uint32_t b = 0; b < job->num_buffers; b++) {
		if (!random_job_check(job, b, bases[b], text, sizeof(text)))
			fail(job, isa, text);
		free(bases[b]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct random_job_options options = {
		.max_points = 512, .max_buffer_bytes = 64 << 10,
		.with_refused = true, .with_faults = true,
	};
	struct random_job *job = random_job_create(hash(data, size), &options);
	const struct engine_isa *isa;

	for (uint32_t k = 0; (isa = engine_isa_at(k)); k++) {
		if (!isa->is_available())
			continue;
		setenv(ENGINE_ISA_VARIABLE, isa->name, 1);
		check(job, isa->name);
	}
	random_job_destroy(job);
	return 0;
}
