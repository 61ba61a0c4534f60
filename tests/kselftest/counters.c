// SPDX-License-Identifier: MIT
/*
 * Counters of jobs: asked for with a submission, and told with its result. What is counted is
 * tested elsewhere (tests/unit/test_engine_count.c, tests/qtest/tessera-model-test.c).
 */
#include "tessera_test.h"

#define SIZE	TEST_PAGE_SIZE
#define JOBS	3

FIXTURE(counters) {
	int fd;
	struct test_buffer destination;
	struct test_buffer source;
	struct test_job job;
	struct drm_tessera_job jobs[JOBS];
	struct drm_tessera_submit submit;
	struct drm_tessera_job_counters counters[JOBS + 1];
	struct drm_tessera_submit_result result;
};

/* Jobs that copy are ready to be submitted, with their counters */
FIXTURE_SETUP(counters)
{
	struct drm_tessera_dev_info info;
	int k;

	self->fd = test_open(_metadata);
	info = test_info(_metadata, self->fd);
	if (!info.clock_khz)
		SKIP(return, "the device has no counters");
	self->destination = test_buffer_create(_metadata, self->fd, SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	test_job_copy(&self->job, self->destination.handle, self->source.handle, SIZE / 4);
	for (k = 0; k < JOBS; k++)
		self->jobs[k] = self->job.job;
	self->submit = test_submission(self->jobs, JOBS);
	self->submit.flags = DRM_TESSERA_SUBMIT_COUNTERS;
	self->submit.queue = 0;
	memset(self->counters, 0xaa, sizeof(self->counters));
}

FIXTURE_TEARDOWN(counters)
{
	close(self->fd);
}

/* Asks for the counters of the submission: 0 or -errno */
static int ask(FIXTURE_DATA(counters) *self, struct drm_tessera_array array)
{
	struct drm_tessera_dev_query query = {
		.type = DRM_TESSERA_DEV_QUERY_SUBMIT_RESULT,
		.size = sizeof(self->result),
		.pointer = (uintptr_t)&self->result,
	};

	self->result = (struct drm_tessera_submit_result){
		.id = self->submit.id,
		.counters = array,
	};
	return test_ioctl(self->fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query);
}

static const struct drm_tessera_memory_counters *
system_of(const struct drm_tessera_job_counters *counters)
{
	return &counters->memory[DRM_TESSERA_MEMORY_SYSTEM];
}

TEST_F(counters, each_job_of_a_submission_has_its_own)
{
	struct test_job small;

	test_job_copy(&small, self->destination.handle, self->source.handle, 1);
	self->jobs[1] = small.job;
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	ASSERT_EQ(0, ask(self, TEST_ARRAY(self->counters, JOBS)));
	EXPECT_EQ(DRM_TESSERA_SUBMIT_DONE, self->result.state);
	EXPECT_EQ(SIZE / 4, self->counters[0].points);
	EXPECT_EQ(1, self->counters[1].points);
	EXPECT_EQ(4, system_of(&self->counters[1])->bytes_read);
	EXPECT_EQ(1, system_of(&self->counters[1])->bursts_read);
	EXPECT_EQ(SIZE / 4, self->counters[2].points);
}

TEST_F(counters, copy_counts_its_bytes)
{
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	ASSERT_EQ(0, ask(self, TEST_ARRAY(self->counters, 1)));
	EXPECT_EQ(SIZE, system_of(self->counters)->bytes_read);
	EXPECT_EQ(SIZE, system_of(self->counters)->bytes_written);
	EXPECT_EQ(SIZE / 64, system_of(self->counters)->bursts_read);
	EXPECT_NE(0, self->counters->cycles);
	EXPECT_NE(0, self->counters->energy_pj);
	EXPECT_EQ(0, self->counters->uncounted);
	EXPECT_EQ(0, self->counters->reserved);
}

TEST_F(counters, no_more_are_written_than_asked_for)
{
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	ASSERT_EQ(0, ask(self, TEST_ARRAY(self->counters, 2)));
	EXPECT_EQ(SIZE, system_of(&self->counters[1])->bytes_read);
	EXPECT_EQ(sizeof(self->counters[2]),
		  test_constant(&self->counters[2], sizeof(self->counters[2]), 0xaa));
	ASSERT_EQ(0, ask(self, TEST_ARRAY(self->counters, JOBS + 1)));
	EXPECT_EQ(sizeof(self->counters[JOBS]),
		  test_constant(&self->counters[JOBS], sizeof(self->counters[JOBS]), 0xaa));
}

TEST_F(counters, array_of_another_stride_is_filled)
{
	__u64 points[JOBS];
	int k;

	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	ASSERT_EQ(0, ask(self, TEST_ARRAY(points, JOBS)));
	for (k = 0; k < JOBS; k++)
		EXPECT_EQ(SIZE / 4, points[k]);
}

TEST_F(counters, those_nobody_asked_for_are_zero)
{
	self->submit.flags = 0;
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	ASSERT_EQ(0, ask(self, TEST_ARRAY(self->counters, JOBS)));
	EXPECT_EQ(JOBS * sizeof(self->counters[0]),
		  test_constant(self->counters, JOBS * sizeof(self->counters[0]), 0));
}

/* A gather of indices of which only 0 is allowed */
TEST_F(counters, job_that_fails_has_zeros)
{
	struct test_job gather;

	test_fill(self->source.map, SIZE, 1);
	test_job_copy(&gather, self->destination.handle, self->source.handle, SIZE / 4);
	test_job_gather(&gather, self->source.handle);
	self->jobs[1] = gather.job;
	ASSERT_EQ(-EIO, test_run(_metadata, self->fd, &self->submit));
	ASSERT_EQ(0, ask(self, TEST_ARRAY(self->counters, JOBS)));
	EXPECT_EQ(1, self->result.num_failed);
	EXPECT_EQ(SIZE / 4, self->counters[0].points);
	EXPECT_EQ(sizeof(self->counters[1]),
		  test_constant(&self->counters[1], sizeof(self->counters[1]), 0));
	EXPECT_EQ(SIZE / 4, self->counters[2].points);
}

TEST_F(counters, memory_that_cannot_be_written_is_refused)
{
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(-EFAULT, ask(self, test_array((void *)8, sizeof(self->counters[0]), 1)));
}

TEST_F(counters, array_of_an_odd_stride_is_refused)
{
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(-EINVAL, ask(self, test_array(self->counters, 4, 1)));
}

/* What stands behind a name in the line of a queue */
static unsigned long long total(struct __test_metadata *_metadata, int fd, const char *queue,
				const char *name)
{
	char path[PATH_MAX], text[65536];
	const char *line, *found;
	ssize_t length;
	int file;

	test_debugfs_path(_metadata, fd, "counters", path);
	file = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_GE(file, 0);
	length = read(file, text, sizeof(text) - 1);
	ASSERT_GT(length, 0);
	text[length] = '\0';
	close(file);
	line = strstr(text, queue);
	ASSERT_NE(NULL, line);
	found = strstr(line, name);
	ASSERT_NE(NULL, found);
	return strtoull(found + strlen(name), NULL, 10);
}

TEST_F(counters, debugfs_has_the_sums_of_each_queue)
{
	unsigned long long points = total(_metadata, self->fd, "pe0:", " points ");
	unsigned long long bytes = total(_metadata, self->fd, "pe0:", " system_bytes_written ");
	unsigned long long others = total(_metadata, self->fd, "pe1:", " points ");

	self->submit.flags = 0;
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(points + JOBS * SIZE / 4, total(_metadata, self->fd, "pe0:", " points "));
	EXPECT_EQ(bytes + JOBS * SIZE,
		  total(_metadata, self->fd, "pe0:", " system_bytes_written "));
	EXPECT_EQ(others, total(_metadata, self->fd, "pe1:", " points "));
}

TEST_F(counters, device_tells_its_grid)
{
	struct drm_tessera_dev_info info = test_info(_metadata, self->fd);

	ASSERT_NE(0, info.grid_columns);
	EXPECT_EQ(0, info.num_queues % info.grid_columns);
}

TEST_HARNESS_MAIN
