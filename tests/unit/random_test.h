/* SPDX-License-Identifier: MIT */
/*
 * What the engine's random tests share: their options, and random jobs in guarded memory.
 */
#ifndef TESSERA_RANDOM_TEST_H
#define TESSERA_RANDOM_TEST_H

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "engine_test.h"
#include "reference/random.h"
#include "reference/random_job.h"

/* Where random numbers begin, and how many cases there are: --seed N --count N. */
struct random_run {
	uint64_t seed;
	uint64_t count;
};

static inline uint64_t option_number(const char *option, const char *text)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text ? text : "", &end, 0);
	if (!text || !*text || *end || errno) {
		fprintf(stderr, "%s: expected a number, given \"%s\"\n", option, text ? text : "");
		exit(2);
	}
	return value;
}

/* Says which jobs will be run before one of them can end the program. */
static inline struct random_run parse_options(int argc, char **argv, uint64_t count)
{
	struct random_run run = { .seed = (uint64_t)time(NULL) * 1000000, .count = count };

	for (int a = 1; a < argc; a += 2) {
		if (!strcmp(argv[a], "--seed")) {
			run.seed = option_number(argv[a], argv[a + 1]);
		} else if (!strcmp(argv[a], "--count")) {
			run.count = option_number(argv[a], argv[a + 1]);
		} else {
			fprintf(stderr, "usage: %s [--seed N] [--count N]\n", argv[0]);
			exit(2);
		}
	}
	print_message("seeds from %" PRIu64 " on\n", run.seed);
	fflush(stdout);
	return run;
}

/* Memory that ends where a page does that cannot be accessed, or begins behind one. */
struct guarded {
	uint8_t *mapping;
	size_t mapped;
	uint8_t *bytes;
};

static inline struct guarded guarded_copy(const uint8_t *bytes, size_t size, bool at_end)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t inside = (size + page - 1) / page * page;
	struct guarded guarded = { .mapped = inside + 2 * page };

	guarded.mapping = mmap(NULL, guarded.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(guarded.mapping, MAP_FAILED);
	assert_int_equal(mprotect(guarded.mapping + page, inside, PROT_READ | PROT_WRITE), 0);
	guarded.bytes = guarded.mapping + page + (at_end ? inside - size : 0);
	memcpy(guarded.bytes, bytes, size);
	return guarded;
}

/* A random job and its buffers, as the engine takes it. */
struct prepared {
	struct random_job *job;
	struct guarded memory[RANDOM_JOB_MAX_BUFFERS];
	struct engine_job engine_job;
};

static inline void prepare(struct prepared *prepared, uint64_t seed,
			   const struct random_job_options *options)
{
	void *bases[RANDOM_JOB_MAX_BUFFERS];
	struct random_job *job = random_job_create(seed, options);

	prepared->job = job;
	for (uint32_t b = 0; b < job->num_buffers; b++) {
		prepared->memory[b] = guarded_copy(job->buffers[b].initial, job->buffers[b].size,
						   seed % 2);
		bases[b] = prepared->memory[b].bytes;
	}
	random_job_bind(job, bases, &prepared->engine_job);
}

static inline void release(struct prepared *prepared)
{
	for (uint32_t b = 0; b < prepared->job->num_buffers; b++)
		munmap(prepared->memory[b].mapping, prepared->memory[b].mapped);
	random_job_destroy(prepared->job);
}

/* Prints the job and how to see it again, and fails. */
__attribute__((format(printf, 2, 3)))
static inline void fail_job(const struct prepared *prepared, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "\n");
	random_job_print(prepared->job, stderr);
	fail_msg("replay with --seed %" PRIu64 " --count 1", prepared->job->seed);
}

#endif /* TESSERA_RANDOM_TEST_H */
