// SPDX-License-Identifier: MIT
/*
 * Processes that share the device at once: each gets its own results, whatever the others do, and
 * none reaches what is another's. Values of one process never show up in another's buffers.
 */
#include "tessera_test.h"

#define SIZE		(16 * TEST_PAGE_SIZE)
#define PROCESSES	4
#define ROUNDS		40

/* Two pipes: what the one process tells the other of its handles */
FIXTURE(two_processes) {
	int to_child[2];
	int to_parent[2];
};

FIXTURE_SETUP(two_processes)
{
	ASSERT_EQ(0, pipe(self->to_child));
	ASSERT_EQ(0, pipe(self->to_parent));
}

FIXTURE_TEARDOWN(two_processes)
{
	close(self->to_child[0]);
	close(self->to_child[1]);
	close(self->to_parent[0]);
	close(self->to_parent[1]);
}

static void tell(struct __test_metadata *_metadata, const int pipe[2], __u64 value)
{
	ASSERT_EQ(sizeof(value), write(pipe[1], &value, sizeof(value)));
}

static __u64 hear(struct __test_metadata *_metadata, const int pipe[2])
{
	__u64 value = 0;

	ASSERT_EQ(sizeof(value), read(pipe[0], &value, sizeof(value)));
	return value;
}

/* Transposes a matrix of its own pattern back and forth, on all queues, and looks at every byte */
static void work(struct __test_metadata *_metadata, __u32 seed)
{
	int fd = test_open(_metadata);
	struct test_buffer a = test_buffer_create(_metadata, fd, SIZE);
	struct test_buffer b = test_buffer_create(_metadata, fd, SIZE);
	const __u64 rows = 128, columns = SIZE / 4 / rows;
	struct drm_tessera_submit submit;
	struct test_job job;
	__u64 i, j;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		const __u32 *in = (const __u32 *)a.map, *out = (const __u32 *)b.map;

		test_fill(a.map, SIZE, seed * 1000 + round);
		test_job_init(&job, 2, 2);
		job.job.extents[0] = rows;
		job.job.extents[1] = columns;
		job.operands[0].handle = b.handle;
		job.operands[0].dtype = DRM_TESSERA_DTYPE_U32;
		job.operands[0].address.strides[0] = 4;
		job.operands[0].address.strides[1] = rows * 4;
		job.operands[1].handle = a.handle;
		job.operands[1].dtype = DRM_TESSERA_DTYPE_U32;
		job.operands[1].address.strides[0] = columns * 4;
		job.operands[1].address.strides[1] = 4;
		submit = test_submission(&job.job, 1);
		ASSERT_EQ(1, test_run(_metadata, fd, &submit));
		for (i = 0; i < rows; i++)
			for (j = 0; j < columns; j++)
				ASSERT_EQ(in[i * columns + j], out[j * rows + i]);
	}
	close(fd);
}

TEST_F(two_processes, each_gets_its_own_results)
{
	pid_t children[PROCESSES];
	int k;

	for (k = 0; k < PROCESSES; k++) {
		children[k] = fork();
		ASSERT_GE(children[k], 0);
		if (!children[k]) {
			work(_metadata, k + 1);
			_exit(0);
		}
	}
	for (k = 0; k < PROCESSES; k++)
		test_join(_metadata, children[k]);
}

TEST_F(two_processes, faults_of_one_do_not_reach_the_other)
{
	pid_t child = fork();
	int k;

	ASSERT_GE(child, 0);
	if (!child) {
		int fd = test_open(_metadata);
		struct test_buffer data = test_buffer_create(_metadata, fd, SIZE);
		struct test_buffer index = test_buffer_create(_metadata, fd, SIZE);
		struct test_job job;

		/* Index 7, of at most 1 */
		memset(index.map, 7, SIZE);
		test_job_copy(&job, data.handle, data.handle, 1);
		job.operands[0].address.offset = 64;
		job.operands[1].flags = DRM_TESSERA_OPERAND_INDIRECT;
		job.operands[1].index_handle = index.handle;
		job.operands[1].index_dtype = DRM_TESSERA_DTYPE_U8;
		job.operands[1].index_limit = 1;
		for (k = 0; k < 4 * ROUNDS; k++)
			ASSERT_EQ(-EIO, test_run_job(_metadata, fd, &job));
		_exit(0);
	}
	work(_metadata, 9);
	test_join(_metadata, child);
}

/* The child makes a buffer, a syncobj and a submission; the parent tries their names */
TEST_F(two_processes, names_of_one_mean_nothing_to_the_other)
{
	struct drm_tessera_submit submit;
	struct drm_tessera_submit_result result;
	struct drm_tessera_sync sync = {};
	struct test_buffer ours;
	struct test_job job;
	pid_t child = fork();
	__u32 handle, syncobj;
	__u64 id;
	int fd, k;

	ASSERT_GE(child, 0);
	if (!child) {
		struct test_buffer theirs = {};

		fd = test_open(_metadata);
		for (k = 0; k < 8; k++)
			theirs = test_buffer_create(_metadata, fd, SIZE);
		for (k = 0; k < 8; k++)
			sync.handle = test_syncobj_create(_metadata, fd);
		test_job_copy(&job, theirs.handle, theirs.handle, SIZE / 4);
		submit = test_submission(&job.job, 1);
		for (k = 0; k < 8; k++)
			ASSERT_EQ(1, test_run(_metadata, fd, &submit));
		test_fill(theirs.map, SIZE, 1);
		tell(_metadata, self->to_parent, theirs.handle);
		tell(_metadata, self->to_parent, sync.handle);
		tell(_metadata, self->to_parent, submit.id);
		hear(_metadata, self->to_child);
		EXPECT_EQ(SIZE, test_filled(theirs.map, SIZE, 1));
		_exit(0);
	}
	fd = test_open(_metadata);
	ours = test_buffer_create(_metadata, fd, SIZE);
	handle = hear(_metadata, self->to_parent);
	syncobj = hear(_metadata, self->to_parent);
	id = hear(_metadata, self->to_parent);

	test_job_copy(&job, ours.handle, ours.handle, SIZE / 4);
	ASSERT_EQ(0, test_submit_job(fd, &job));
	job.operands[1].handle = handle;
	EXPECT_EQ(-ENOENT, test_submit_job(fd, &job));
	job.operands[1].handle = ours.handle;
	job.operands[0].handle = handle;
	EXPECT_EQ(-ENOENT, test_submit_job(fd, &job));
	EXPECT_EQ(-ENOENT, test_buffer_wait(fd, handle, 0, 0));
	EXPECT_EQ(-EINVAL, test_handle_close(fd, handle));

	job.operands[0].handle = ours.handle;
	sync.handle = syncobj;
	submit = test_submission(&job.job, 1);
	submit.out_syncs = TEST_ARRAY(&sync, 1);
	EXPECT_EQ(-ENOENT, test_submit(fd, &submit));
	EXPECT_EQ(-ENOENT, test_query_result(fd, id, &result, NULL, 0));

	tell(_metadata, self->to_child, 0);
	test_join(_metadata, child);
	close(fd);
}

TEST_F(two_processes, process_that_dies_in_the_middle_leaves_the_other_alone)
{
	pid_t child = fork();
	int status;

	ASSERT_GE(child, 0);
	if (!child) {
		int fd = test_open(_metadata), k;
		struct test_buffer buffer = test_buffer_create(_metadata, fd, SIZE);
		struct test_job job;

		test_job_copy(&job, buffer.handle, buffer.handle, SIZE / 4);
		for (k = 0; k < 200; k++)
			test_submit_job(fd, &job);
		raise(SIGKILL);
	}
	work(_metadata, 5);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
}

TEST_HARNESS_MAIN
