// SPDX-License-Identifier: MIT
/*
 * Buffers in on-chip memory: where they are, that they are as good for jobs as others, that none
 * holds what another has left, and what is not to be had of them. That they survive sleep, removal
 * and unbinding is in suspend.c, unplug.c and module.c.
 */
#include "tessera_test.h"

#define SIZE	(4 * TEST_PAGE_SIZE)

FIXTURE(sram) {
	int fd;
	struct drm_tessera_dev_info info;
	struct test_buffer buffer;
	struct test_job job;
};

FIXTURE_SETUP(sram)
{
	self->fd = test_open(_metadata);
	self->info = test_info(_metadata, self->fd);
	self->buffer = test_buffer_create(_metadata, self->fd, SIZE);
	if (!self->info.sram_size)
		SKIP(return, "the device has no on-chip memory");
}

FIXTURE_TEARDOWN(sram)
{
	close(self->fd);
}

static int create(int fd, __u64 size, __u32 pe, struct drm_tessera_bo_create *result)
{
	*result = (struct drm_tessera_bo_create){
		.size = size, .flags = DRM_TESSERA_BO_SRAM, .pe = pe,
	};
	return test_ioctl(fd, DRM_IOCTL_TESSERA_BO_CREATE, result);
}

/* Creating */

TEST_F(sram, size_is_rounded_up_to_whole_pages)
{
	struct drm_tessera_bo_create bo;

	ASSERT_EQ(0, create(self->fd, TEST_PAGE_SIZE + 1, 0, &bo));
	EXPECT_EQ(2 * TEST_PAGE_SIZE, bo.size);
}

TEST_F(sram, size_0_is_refused)
{
	struct drm_tessera_bo_create bo;

	EXPECT_EQ(-EINVAL, create(self->fd, 0, 0, &bo));
}

TEST_F(sram, each_pe_has_as_much_as_it_says)
{
	struct drm_tessera_bo_create bo;
	__u32 pe;

	for (pe = 0; pe < self->info.num_queues; pe++) {
		ASSERT_EQ(0, create(self->fd, self->info.sram_size, pe, &bo));
		EXPECT_EQ(self->info.sram_size, bo.size);
	}
}

TEST_F(sram, size_over_that_of_a_pe_is_refused)
{
	struct drm_tessera_bo_create bo;

	EXPECT_EQ(-EINVAL, create(self->fd, self->info.sram_size + 1, 0, &bo));
}

TEST_F(sram, largest_size_is_refused)
{
	struct drm_tessera_bo_create bo;

	EXPECT_EQ(-EINVAL, create(self->fd, ~0ULL, 0, &bo));
}

TEST_F(sram, pe_that_does_not_exist_is_refused)
{
	struct drm_tessera_bo_create bo;

	EXPECT_EQ(0, create(self->fd, SIZE, self->info.num_queues - 1, &bo));
	EXPECT_EQ(-EINVAL, create(self->fd, SIZE, self->info.num_queues, &bo));
}

TEST_F(sram, largest_pe_is_refused)
{
	struct drm_tessera_bo_create bo;

	EXPECT_EQ(-EINVAL, create(self->fd, SIZE, ~0U, &bo));
}

TEST_F(sram, pe_of_a_buffer_in_system_memory_is_refused)
{
	struct drm_tessera_bo_create bo = { .size = SIZE, .pe = 1 };

	EXPECT_EQ(-EINVAL, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_CREATE, &bo));
}

TEST_F(sram, reserved_field_is_refused)
{
	struct drm_tessera_bo_create bo = {
		.size = SIZE, .flags = DRM_TESSERA_BO_SRAM, .reserved = 1,
	};

	EXPECT_EQ(-EINVAL, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_CREATE, &bo));
}

TEST_F(sram, unknown_flag_beside_is_refused)
{
	struct drm_tessera_bo_create bo = {
		.size = SIZE, .flags = DRM_TESSERA_BO_SRAM | DRM_TESSERA_BO_SRAM << 1,
	};

	EXPECT_EQ(-EINVAL, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_CREATE, &bo));
}

/* Room */

TEST_F(sram, full_pe_has_no_room_and_others_have)
{
	struct drm_tessera_bo_create bo;

	if (self->info.num_queues < 2)
		SKIP(return, "the device has one pe");
	ASSERT_EQ(0, create(self->fd, self->info.sram_size - TEST_PAGE_SIZE, 0, &bo));
	ASSERT_EQ(0, create(self->fd, TEST_PAGE_SIZE, 0, &bo));
	EXPECT_EQ(-ENOSPC, create(self->fd, 1, 0, &bo));
	EXPECT_EQ(0, create(self->fd, 1, 1, &bo));
}

TEST_F(sram, room_is_given_back)
{
	struct drm_tessera_bo_create bo, other;
	int round;

	for (round = 0; round < 20; round++) {
		ASSERT_EQ(0, create(self->fd, self->info.sram_size, 0, &bo));
		ASSERT_EQ(-ENOSPC, create(self->fd, 1, 0, &other));
		ASSERT_EQ(0, test_handle_close(self->fd, bo.handle));
	}
}

TEST_F(sram, room_of_a_file_that_is_closed_is_given_back)
{
	int other = test_open(_metadata);
	struct drm_tessera_bo_create bo;

	ASSERT_EQ(0, create(other, self->info.sram_size, 0, &bo));
	EXPECT_EQ(-ENOSPC, create(self->fd, 1, 0, &bo));
	close(other);
	EXPECT_EQ(0, create(self->fd, self->info.sram_size, 0, &bo));
}

TEST_F(sram, mapped_buffer_keeps_its_room)
{
	struct test_buffer sram = test_sram_create(_metadata, self->fd, self->info.sram_size, 0);
	struct drm_tessera_bo_create bo;

	ASSERT_EQ(0, test_handle_close(self->fd, sram.handle));
	EXPECT_EQ(-ENOSPC, create(self->fd, 1, 0, &bo));
	ASSERT_EQ(0, munmap(sram.map, sram.size));
	EXPECT_EQ(0, create(self->fd, 1, 0, &bo));
}

TEST_F(sram, buffer_that_a_job_waits_for_keeps_its_room)
{
	struct test_buffer sram = test_sram_create(_metadata, self->fd, self->info.sram_size, 0);
	struct drm_tessera_bo_create bo;
	struct test_gate gate;
	int fence, ret;

	TEST_GATE_OR_SKIP(self->fd, &gate);
	test_job_copy(&self->job, sram.handle, self->buffer.handle, SIZE / 4);
	fence = test_submit_gated(_metadata, self->fd, &self->job, &gate, NULL);
	test_buffer_destroy(_metadata, self->fd, &sram);
	EXPECT_EQ(-ENOSPC, create(self->fd, 1, 0, &bo));
	test_fill(self->buffer.map, SIZE, 1);
	ASSERT_EQ(0, test_gate_signal(&gate));
	ASSERT_EQ(1, test_sync_file_wait(_metadata, fence));
	/* It is given back when the submission is freed, a moment after its fence */
	while ((ret = create(self->fd, SIZE, 0, &bo)) == -ENOSPC)
		sched_yield();
	ASSERT_EQ(0, ret);
	sram.map = test_map(_metadata, self->fd, bo.handle, SIZE);
	EXPECT_EQ(SIZE, test_constant(sram.map, SIZE, 0));
}

/* Contents */

TEST_F(sram, new_buffer_reads_as_zero_to_processes_and_jobs)
{
	__u64 size = self->info.sram_size;
	int other = test_open(_metadata);
	struct test_buffer old, new, seen;
	__u32 pe;

	seen = test_buffer_create(_metadata, self->fd, size);
	for (pe = 0; pe < self->info.num_queues; pe++) {
		old = test_sram_create(_metadata, other, size, pe);
		memset(old.map, 0xa5, size);
		test_buffer_destroy(_metadata, other, &old);
		new = test_sram_create(_metadata, self->fd, size, pe);
		memset(seen.map, 0x5a, size);
		test_job_copy(&self->job, seen.handle, new.handle, size / 4);
		ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
		EXPECT_EQ(size, test_constant(seen.map, size, 0));
		EXPECT_EQ(size, test_constant(new.map, size, 0));
	}
	close(other);
}

TEST_F(sram, what_a_job_has_left_is_not_seen_by_the_next_owner)
{
	__u64 size = self->info.sram_size;
	struct test_buffer source = test_buffer_create(_metadata, self->fd, size);
	struct test_buffer sram = test_sram_create(_metadata, self->fd, size, 0);

	memset(source.map, 0xa5, size);
	test_job_copy(&self->job, sram.handle, source.handle, size / 4);
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
	ASSERT_EQ(size, test_constant(sram.map, size, 0xa5));
	test_buffer_destroy(_metadata, self->fd, &sram);
	do {
		struct drm_tessera_bo_create bo;
		int ret = create(self->fd, size, 0, &bo);

		/* The submission is freed a moment after its fence */
		if (ret == -ENOSPC)
			continue;
		ASSERT_EQ(0, ret);
		sram.map = test_map(_metadata, self->fd, bo.handle, size);
		break;
	} while (true);
	EXPECT_EQ(size, test_constant(sram.map, size, 0));
}

TEST_F(sram, buffers_do_not_overlap)
{
	struct test_buffer srams[32];
	__u32 k;

	for (k = 0; k < 32; k++) {
		srams[k] = test_sram_create(_metadata, self->fd, (1 + k % 3) * TEST_PAGE_SIZE,
					    k % self->info.num_queues);
		test_fill(srams[k].map, srams[k].size, k);
	}
	for (k = 0; k < 32; k++)
		EXPECT_EQ(srams[k].size, test_filled(srams[k].map, srams[k].size, k))
			TH_LOG("buffer %u", k);
}

/* Jobs */

/* The job moves all of one buffer to another, on each queue in turn, and nothing beside it */
static void expect_moved(struct __test_metadata *_metadata, FIXTURE_DATA(sram) *self,
			 const struct test_buffer *to, const struct test_buffer *from)
{
	struct drm_tessera_submit submit;

	test_job_copy(&self->job, to->handle, from->handle, SIZE / 4);
	submit = test_submission(&self->job.job, 1);
	for (submit.queue = 0; submit.queue < self->info.num_queues; submit.queue++) {
		test_fill(from->map, SIZE, submit.queue);
		memset(to->map, 0, SIZE);
		ASSERT_EQ(1, test_run(_metadata, self->fd, &submit));
		EXPECT_EQ(SIZE, test_filled(to->map, SIZE, submit.queue));
		EXPECT_EQ(SIZE, test_filled(from->map, SIZE, submit.queue));
	}
}

TEST_F(sram, every_queue_reads_and_writes_the_memory_of_every_pe)
{
	__u32 pe;

	for (pe = 0; pe < self->info.num_queues; pe++) {
		struct test_buffer sram = test_sram_create(_metadata, self->fd, SIZE, pe);

		expect_moved(_metadata, self, &sram, &self->buffer);
		expect_moved(_metadata, self, &self->buffer, &sram);
		test_buffer_destroy(_metadata, self->fd, &sram);
	}
}

TEST_F(sram, every_queue_moves_from_every_pe_to_every_other)
{
	__u32 i, j;

	for (i = 0; i < self->info.num_queues; i++) {
		for (j = 0; j < self->info.num_queues; j++) {
			struct test_buffer to = test_sram_create(_metadata, self->fd, SIZE, i);
			struct test_buffer from = test_sram_create(_metadata, self->fd, SIZE, j);

			expect_moved(_metadata, self, &to, &from);
			test_buffer_destroy(_metadata, self->fd, &to);
			test_buffer_destroy(_metadata, self->fd, &from);
		}
	}
}

TEST_F(sram, job_stores_nothing_to_the_neighbours)
{
	struct test_buffer srams[3];
	int k;

	for (k = 0; k < 3; k++) {
		srams[k] = test_sram_create(_metadata, self->fd, SIZE, 0);
		memset(srams[k].map, 0x11, SIZE);
	}
	test_fill(self->buffer.map, SIZE, 1);
	test_job_copy(&self->job, srams[1].handle, self->buffer.handle, SIZE / 4);
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
	EXPECT_EQ(SIZE, test_constant(srams[0].map, SIZE, 0x11));
	EXPECT_EQ(SIZE, test_filled(srams[1].map, SIZE, 1));
	EXPECT_EQ(SIZE, test_constant(srams[2].map, SIZE, 0x11));
}

TEST_F(sram, job_beyond_the_buffer_is_refused)
{
	struct test_buffer sram = test_sram_create(_metadata, self->fd, SIZE, 0);

	test_job_copy(&self->job, sram.handle, self->buffer.handle, SIZE / 4);
	self->job.operands[0].address.offset = 1;
	EXPECT_EQ(-ERANGE, test_submit_job(self->fd, &self->job));
}

TEST_F(sram, job_works_in_place)
{
	struct test_buffer sram = test_sram_create(_metadata, self->fd, SIZE, 0);
	int k;

	test_job_increment(&self->job, sram.handle);
	for (k = 0; k < 10; k++)
		ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
	EXPECT_EQ(10, *(__u32 *)sram.map);
}

TEST_F(sram, indices_are_read_there)
{
	struct test_buffer sram = test_sram_create(_metadata, self->fd, SIZE, 0);
	struct test_buffer to = test_buffer_create(_metadata, self->fd, SIZE);

	test_fill(self->buffer.map, SIZE, 1);
	test_job_copy(&self->job, to.handle, self->buffer.handle, 16);
	test_job_gather(&self->job, sram.handle);
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
	EXPECT_EQ(0, memcmp(to.map, self->buffer.map, 4));
	/* An index of 1 is over the limit */
	sram.map[0] = 1;
	EXPECT_EQ(-EIO, test_run_job(_metadata, self->fd, &self->job));
}

TEST_F(sram, buffer_can_be_waited_for)
{
	struct test_buffer sram = test_sram_create(_metadata, self->fd, SIZE, 0);
	struct test_gate gate;
	int fence;

	TEST_GATE_OR_SKIP(self->fd, &gate);
	test_job_copy(&self->job, sram.handle, self->buffer.handle, SIZE / 4);
	fence = test_submit_gated(_metadata, self->fd, &self->job, &gate, NULL);
	EXPECT_EQ(-ETIME, test_buffer_wait(self->fd, sram.handle, 0, 0));
	ASSERT_EQ(0, test_gate_signal(&gate));
	EXPECT_EQ(0, test_buffer_wait(self->fd, sram.handle, 0, INT64_MAX));
	close(fence);
}

/* Jobs on different queues that name the buffer run in the order in which they were submitted */
TEST_F(sram, jobs_of_different_queues_wait_for_each_other)
{
	struct test_buffer sram = test_sram_create(_metadata, self->fd, SIZE, 0);
	struct drm_tessera_submit submit;
	__u32 k;

	test_job_increment(&self->job, sram.handle);
	submit = test_submission(&self->job.job, 1);
	for (k = 0; k < 40; k++) {
		submit.queue = k % self->info.num_queues;
		ASSERT_EQ(0, test_submit(self->fd, &submit));
	}
	ASSERT_EQ(0, test_buffer_wait(self->fd, sram.handle, DRM_TESSERA_BO_WAIT_WRITE, INT64_MAX));
	EXPECT_EQ(40, *(__u32 *)sram.map);
}

/* Mapping and sharing */

TEST_F(sram, buffer_cannot_be_exported)
{
	struct test_buffer sram = test_sram_create(_metadata, self->fd, SIZE, 0);
	int dma_buf = -1;

	EXPECT_NE(0, drmPrimeHandleToFD(self->fd, sram.handle, DRM_CLOEXEC, &dma_buf));
	EXPECT_EQ(EOPNOTSUPP, errno);
	EXPECT_EQ(0, drmPrimeHandleToFD(self->fd, self->buffer.handle, DRM_CLOEXEC, &dma_buf));
	close(dma_buf);
}

TEST_F(sram, private_mapping_is_refused)
{
	struct test_buffer sram = test_sram_create(_metadata, self->fd, SIZE, 0);
	struct drm_tessera_bo_mmap_offset where = { .handle = sram.handle };

	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &where));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, self->fd,
				   where.offset));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(sram, mapping_larger_than_the_buffer_is_refused)
{
	struct test_buffer sram = test_sram_create(_metadata, self->fd, SIZE, 0);
	struct drm_tessera_bo_mmap_offset where = { .handle = sram.handle };

	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &where));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, SIZE + TEST_PAGE_SIZE, PROT_READ, MAP_SHARED, self->fd,
				   where.offset));
	EXPECT_EQ(MAP_FAILED, mremap(sram.map, SIZE, 2 * SIZE, MREMAP_MAYMOVE));
}

TEST_F(sram, rest_of_a_mapping_is_what_it_was)
{
	struct test_buffer sram = test_sram_create(_metadata, self->fd, SIZE, 0);
	__u64 page;

	test_fill(self->buffer.map, SIZE, 1);
	test_job_copy(&self->job, sram.handle, self->buffer.handle, SIZE / 4);
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
	/* None of it was touched yet */
	ASSERT_EQ(0, munmap(sram.map, TEST_PAGE_SIZE));
	for (page = TEST_PAGE_SIZE; page < SIZE; page += TEST_PAGE_SIZE)
		EXPECT_EQ(0, memcmp(sram.map + page, self->buffer.map + page, TEST_PAGE_SIZE));
}

TEST_F(sram, child_sees_what_its_parent_writes)
{
	struct test_buffer sram = test_sram_create(_metadata, self->fd, SIZE, 0);
	pid_t child;

	test_fill(sram.map, SIZE, 1);
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		ASSERT_EQ(SIZE, test_filled(sram.map, SIZE, 1));
		test_fill(sram.map, SIZE, 2);
		_exit(0);
	}
	test_join(_metadata, child);
	EXPECT_EQ(SIZE, test_filled(sram.map, SIZE, 2));
}

TEST_F(sram, handle_of_another_file_is_unknown)
{
	struct drm_tessera_bo_mmap_offset where;
	int other = test_open(_metadata);
	struct test_buffer sram = test_sram_create(_metadata, self->fd, SIZE, 0);

	where = (struct drm_tessera_bo_mmap_offset){ .handle = sram.handle };
	EXPECT_EQ(-ENOENT, test_ioctl(other, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &where));
	close(other);
}

/* Resets, and what is told of it */

TEST_F(sram, contents_survive_a_reset_of_the_function)
{
	struct test_buffer sram = test_sram_create(_metadata, self->fd, SIZE, 0);
	char path[PATH_MAX];

	test_fill(sram.map, SIZE, 1);
	test_sysfs_path(_metadata, self->fd, "reset", path);
	ASSERT_EQ(0, test_write_file(path, "1"));
	EXPECT_EQ(SIZE, test_filled(sram.map, SIZE, 1));
	expect_moved(_metadata, self, &self->buffer, &sram);
}

/* Not even for the moment in which a reset takes the memory away does a process notice */
TEST_F(sram, processes_and_new_buffers_wait_for_resets)
{
	struct test_buffer sram = test_sram_create(_metadata, self->fd, SIZE, 0);
	struct test_buffer *new = &self->buffer;
	volatile __u32 *word = (__u32 *)sram.map;
	char path[PATH_MAX];
	int round, status;
	pid_t child;

	test_sysfs_path(_metadata, self->fd, "reset", path);
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		for (round = 0; round < 5; round++)
			ASSERT_EQ(0, test_write_file(path, "1"));
		_exit(0);
	}
	for (round = 0; !waitpid(child, &status, WNOHANG); round++) {
		*word = round;
		ASSERT_EQ(round, *word);
		*new = test_sram_create(_metadata, self->fd, SIZE, 1);
		ASSERT_EQ(SIZE, test_constant(new->map, SIZE, 0));
		memset(new->map, 0xa5, SIZE);
		ASSERT_EQ(SIZE, test_constant(new->map, SIZE, 0xa5));
		test_buffer_destroy(_metadata, self->fd, new);
	}
	EXPECT_EQ(0, status);
	EXPECT_GT(round, 0);
}

TEST_F(sram, contents_survive_that_others_hang)
{
	struct test_buffer sram = test_sram_create(_metadata, self->fd, SIZE, 0);
	char path[PATH_MAX];

	test_fill(sram.map, SIZE, 1);
	test_sysfs_path(_metadata, self->fd, "job_timeout_ms/pe0", path);
	ASSERT_EQ(0, test_write_file(path, "300"));
	if (!test_write_debugfs(_metadata, self->fd, "test_hang", 1)) {
		struct drm_tessera_submit submit;

		test_job_increment(&self->job, self->buffer.handle);
		submit = test_submission(&self->job.job, 1);
		submit.queue = 0;
		EXPECT_EQ(-ECANCELED, test_run(_metadata, self->fd, &submit));
	}
	ASSERT_EQ(0, test_write_file(path, "0"));
	EXPECT_EQ(SIZE, test_filled(sram.map, SIZE, 1));
}

TEST_F(sram, debugfs_tells_where_it_is)
{
	char path[PATH_MAX], line[128], wanted[64];
	struct test_buffer sram;
	unsigned int found = 0;
	FILE *file;

	sram = test_sram_create(_metadata, self->fd, SIZE, self->info.num_queues - 1);
	snprintf(wanted, sizeof(wanted), "size %llu sram pe%u\n", (unsigned long long)sram.size,
		 self->info.num_queues - 1);
	test_debugfs_path(_metadata, self->fd, "buffers", path);
	file = fopen(path, "re");
	ASSERT_NE(NULL, file);
	while (fgets(line, sizeof(line), file))
		found += !!strstr(line, wanted);
	fclose(file);
	EXPECT_EQ(1, found);
}

TEST_HARNESS_MAIN
