/* SPDX-License-Identifier: MIT */
/*
 * What the tests share that give random jobs (tests/reference) to the driver: a job in the form of
 * the ioctl, and --seed and --count of the command line.
 */
#ifndef TESSERA_RANDOM_TEST_H
#define TESSERA_RANDOM_TEST_H

#include "tessera_test.h"

#include <getopt.h>
#include <sys/random.h>

#include "reference/random_job.h"

/* Jobs of all kinds, small enough that the guest runs many */
static const struct random_job_options test_random_options = {
	.max_points = 2048,
	.max_buffer_bytes = 64 << 10,
	.size_multiple = TEST_PAGE_SIZE,
	.with_refused = true,
	.with_faults = true,
};

/* The job on buffers of its own; their handles in the job are index into them, from 1 */
static inline void test_job_random(struct test_job *test, const struct random_job *random,
				   const struct test_buffer *buffers)
{
	__u32 k;

	test_job_init(test, random->rank, random->num_operands);
	memcpy(test->job.extents, random->extents, sizeof(test->job.extents));
	memcpy(test->operands, random->operands, sizeof(random->operands));
	memcpy(test->windows, random->windows, sizeof(random->windows));
	memcpy(test->program, random->program, sizeof(random->program));
	test->job.windows.count = random->num_windows;
	test->job.program.count = random->num_instructions;
	for (k = 0; k < random->num_operands; k++) {
		struct drm_tessera_operand *operand = &test->operands[k];

		if (operand->handle)
			operand->handle = buffers[operand->handle - 1].handle;
		if (operand->index_handle)
			operand->index_handle = buffers[operand->index_handle - 1].handle;
	}
}

static inline bool test_parse_number(const char *text, __u64 *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 0);
	return *text && !*end && !errno;
}

/* An option of a test's own, which takes a number: "--seed", &seed */
struct test_option {
	const char *name;
	__u64 *number;
};

static inline bool test_parse_options(int argc, char **argv, const struct test_option *options)
{
	int n;

	for (n = 1; n + 1 < argc; n += 2) {
		const struct test_option *option = options;

		while (option->name && strcmp(option->name, argv[n]))
			option++;
		if (!option->name || !test_parse_number(argv[n + 1], option->number))
			return false;
	}
	return n == argc;
}

/*
 * Runs the tests of a program whose options are these, the first of them "--seed", drawn where it
 * is not given, and prints what they are
 */
static inline int test_run_random(int argc, char **argv, const struct test_option *options)
{
	char *harness_argv[] = { argv[0], NULL };
	const struct test_option *option;

	if (getrandom(options->number, sizeof(*options->number), 0) != sizeof(*options->number))
		return KSFT_FAIL;
	/* Short enough to be typed */
	*options->number &= 0xffffffff;
	if (!test_parse_options(argc, argv, options)) {
		fprintf(stderr, "usage: %s", argv[0]);
		for (option = options; option->name; option++)
			fprintf(stderr, " [%s NUMBER]", option->name);
		fprintf(stderr, "\n");
		return KSFT_FAIL;
	}
	printf("#");
	for (option = options; option->name; option++)
		printf(" %s %llu", option->name, *option->number);
	printf("\n");
	/* The harness reads options of its own */
	return test_harness_run(1, harness_argv);
}

#endif /* TESSERA_RANDOM_TEST_H */
