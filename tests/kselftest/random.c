// SPDX-License-Identifier: MIT
/*
 * Random jobs of all kinds through the driver and the device, each against what the point-by-point
 * reference says: a good job byte by byte, a bad one by its errno, one that faults by cause and
 * operand. "random --seed N --count N" runs jobs N, N + 1, ..; without, the seed is drawn and
 * printed.
 */
#include "random_test.h"

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

	test_job_random(&test, random, buffers);
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
	__u64 outcomes[3] = {}, seed;
	char text[256];

	for (seed = first_seed; seed - first_seed < num_jobs; seed++) {
		struct random_job *random = random_job_create(seed, &test_random_options);

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

int main(int argc, char **argv)
{
	const struct test_option options[] = {
		{ "--seed", &first_seed },
		{ "--count", &num_jobs },
		{}
	};

	return test_run_random(argc, argv, options);
}
