// SPDX-License-Identifier: MIT
/*
 * Random jobs of all kinds through the driver and the device, each against what the point-by-point
 * reference says: a good job byte by byte, a bad one by its errno, one that faults by cause and
 * operand. "random --seed N --count N" runs jobs N, N + 1, ..; without, the seed is drawn and
 * printed.
 */
#include "tessera_test.h"

#include <getopt.h>
#include <sys/random.h>

#include "reference/random_job.h"

static __u64 first_seed;
static __u64 num_jobs = 1000;

FIXTURE(random) {
	int fd;
	struct drm_tessera_dev_info info;
};

FIXTURE_SETUP(random)
{
	self->fd = test_open(_metadata);
	self->info = test_info(_metadata, self->fd);
}

FIXTURE_TEARDOWN(random)
{
	close(self->fd);
}

/* The job on buffers of its own: operands of random count from 1, as indices into the buffers */
static void bind_job(const struct random_job *random, const struct test_buffer *buffers,
		     struct test_job *test)
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

/* Submits the job and compares all that can be seen of it with what is expected: a text if wrong */
static bool run_job(struct __test_metadata *_metadata, const FIXTURE_DATA(random) *self,
		    const struct random_job *random, const struct test_buffer *buffers,
		    char *text, size_t size)
{
	const int statuses[] = {
		[RANDOM_JOB_SUCCEEDS] = 1,
		[RANDOM_JOB_FAULTS] = -EIO,
	};
	struct drm_tessera_sync sync = { .handle = test_syncobj_create(_metadata, self->fd) };
	struct drm_tessera_submit_result result;
	struct drm_tessera_job_result job_result;
	struct drm_tessera_submit submit;
	struct test_job test;
	int ret, fence, status;

	bind_job(random, buffers, &test);
	submit = test_submission(&test.job, 1);
	submit.queue = random->seed % self->info.num_queues;
	submit.out_syncs = TEST_ARRAY(&sync, 1);
	ret = test_submit(self->fd, &submit);
	if (ret || random->outcome == RANDOM_JOB_REFUSED) {
		test_syncobj_destroy(_metadata, self->fd, sync.handle);
		snprintf(text, size, "submit says %d and should say %d", ret,
			 random->outcome == RANDOM_JOB_REFUSED ? -random->error : 0);
		return random->outcome == RANDOM_JOB_REFUSED && ret == -random->error;
	}

	fence = test_syncobj_export(_metadata, self->fd, sync.handle);
	test_syncobj_destroy(_metadata, self->fd, sync.handle);
	status = test_sync_file_wait(_metadata, fence);
	close(fence);
	ASSERT_EQ(0, test_query_result(self->fd, submit.id, &result, &job_result, 1));
	if (status != statuses[random->outcome]) {
		snprintf(text, size,
			 "fence says %d, should say %d: cause %u, operand %u, offset %lld", status,
			 statuses[random->outcome], job_result.cause, job_result.operand,
			 job_result.offset);
		return false;
	}
	if (random->outcome == RANDOM_JOB_FAULTS &&
	    (job_result.cause != random->cause || job_result.operand != random->operand)) {
		snprintf(text, size, "cause %u at operand %u should be cause %u at operand %u",
			 job_result.cause, job_result.operand, random->cause, random->operand);
		return false;
	}
	return true;
}

static bool check_job(struct __test_metadata *_metadata, const FIXTURE_DATA(random) *self,
		      const struct random_job *random, char *text, size_t size)
{
	struct test_buffer buffers[RANDOM_JOB_MAX_BUFFERS];
	bool is_right;
	__u32 k;

	for (k = 0; k < random->num_buffers; k++) {
		buffers[k] = test_buffer_create(_metadata, self->fd, random->buffers[k].size);
		memcpy(buffers[k].map, random->buffers[k].initial, random->buffers[k].size);
	}
	is_right = run_job(_metadata, self, random, buffers, text, size);
	for (k = 0; k < random->num_buffers; k++) {
		if (is_right)
			is_right = random_job_check(random, k, buffers[k].map, text, size);
		test_buffer_destroy(_metadata, self->fd, &buffers[k]);
	}
	return is_right;
}

TEST_F_TIMEOUT(random, jobs_do_what_the_reference_says, 600)
{
	const struct random_job_options options = {
		.max_points = 2048,
		.max_buffer_bytes = 64 << 10,
		.size_multiple = TEST_PAGE_SIZE,
		.with_refused = true,
		.with_faults = true,
	};
	__u64 outcomes[3] = {}, seed;
	char text[256];

	for (seed = first_seed; seed - first_seed < num_jobs; seed++) {
		struct random_job *random = random_job_create(seed, &options);

		ASSERT_TRUE(check_job(_metadata, self, random, text, sizeof(text))) {
			TH_LOG("--seed %llu --count 1: %s", seed, text);
			random_job_print(random, stderr);
		}
		outcomes[random->outcome]++;
		random_job_destroy(random);
	}
	ksft_print_msg("%llu jobs done, %llu refused, %llu faulted\n",
		       outcomes[RANDOM_JOB_SUCCEEDS], outcomes[RANDOM_JOB_REFUSED],
		       outcomes[RANDOM_JOB_FAULTS]);
}

static bool parse_number(const char *text, __u64 *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 0);
	return *text && !*end && !errno;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "count", required_argument, NULL, 'c' },
		{}
	};
	char *harness_argv[] = { argv[0], NULL };
	int option;

	if (getrandom(&first_seed, sizeof(first_seed), 0) != sizeof(first_seed))
		return KSFT_FAIL;
	/* Short enough to be typed */
	first_seed &= 0xffffffff;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		__u64 *number = option == 's' ? &first_seed : &num_jobs;

		if (option == '?' || !parse_number(optarg, number)) {
			fprintf(stderr, "usage: %s [--seed NUMBER] [--count NUMBER]\n", argv[0]);
			return KSFT_FAIL;
		}
	}
	/* The harness reads options of its own, from the start */
	optind = 1;
	printf("# --seed %llu --count %llu\n", first_seed, num_jobs);
	return test_harness_run(1, harness_argv);
}
