// SPDX-License-Identifier: MIT
/*
 * BO_CREATE, BO_MMAP_OFFSET and BO_WAIT: what a buffer is, who may see it, and that it holds
 * nothing of those who had its memory before. Buffers shared with other drivers are in prime.c.
 */
#include "tessera_test.h"

#define SIZE	(4 * TEST_PAGE_SIZE)

FIXTURE(bo) {
	int fd;
	struct drm_tessera_dev_info info;
	struct test_buffer buffer;
	struct test_buffer other;
};

FIXTURE_SETUP(bo)
{
	self->fd = test_open(_metadata);
	self->info = test_info(_metadata, self->fd);
	self->buffer = test_buffer_create(_metadata, self->fd, SIZE);
	self->other = test_buffer_create(_metadata, self->fd, SIZE);
}

FIXTURE_TEARDOWN(bo)
{
	close(self->fd);
}

static int create(int fd, __u64 size, __u32 flags, struct drm_tessera_bo_create *result)
{
	*result = (struct drm_tessera_bo_create){ .size = size, .flags = flags };
	return test_ioctl(fd, DRM_IOCTL_TESSERA_BO_CREATE, result);
}

static int mmap_offset(int fd, __u32 handle, __u32 flags, __u64 *offset)
{
	struct drm_tessera_bo_mmap_offset argument = { .handle = handle, .flags = flags };
	int ret = test_ioctl(fd, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &argument);

	*offset = argument.offset;
	return ret;
}

/* Creating */

TEST_F(bo, size_is_rounded_up_to_whole_pages)
{
	struct drm_tessera_bo_create bo;

	ASSERT_EQ(0, create(self->fd, TEST_PAGE_SIZE + 1, 0, &bo));
	EXPECT_EQ(2 * TEST_PAGE_SIZE, bo.size);
	EXPECT_NE(0, bo.handle);
}

TEST_F(bo, size_of_one_byte_is_a_page)
{
	struct drm_tessera_bo_create bo;

	ASSERT_EQ(0, create(self->fd, 1, 0, &bo));
	EXPECT_EQ(TEST_PAGE_SIZE, bo.size);
}

TEST_F(bo, size_of_whole_pages_stays)
{
	struct drm_tessera_bo_create bo;

	ASSERT_EQ(0, create(self->fd, SIZE, 0, &bo));
	EXPECT_EQ(SIZE, bo.size);
}

TEST_F(bo, size_0_is_refused)
{
	struct drm_tessera_bo_create bo;

	EXPECT_EQ(-EINVAL, create(self->fd, 0, 0, &bo));
}

TEST_F(bo, size_over_the_maximum_is_refused)
{
	struct drm_tessera_bo_create bo;

	EXPECT_EQ(-EINVAL, create(self->fd, self->info.max_bo_size + 1, 0, &bo));
}

TEST_F(bo, size_that_overflows_when_rounded_is_refused)
{
	struct drm_tessera_bo_create bo;

	EXPECT_EQ(-EINVAL, create(self->fd, ~0ULL, 0, &bo));
}

TEST_F(bo, size_with_the_sign_bit_is_refused)
{
	struct drm_tessera_bo_create bo;

	EXPECT_EQ(-EINVAL, create(self->fd, 1ULL << 63, 0, &bo));
}

/* As large as memory itself, of which some is in use: all that is left is zeroed before it fails */
TEST_F(bo, size_beyond_what_memory_is_left_fails)
{
	struct drm_tessera_bo_create bo;

	EXPECT_EQ(-ENOMEM, create(self->fd, self->info.max_bo_size, 0, &bo));
	EXPECT_EQ(0, create(self->fd, SIZE, 0, &bo));
}

TEST_F(bo, unknown_create_flag_is_refused)
{
	struct drm_tessera_bo_create bo;

	EXPECT_EQ(-EINVAL, create(self->fd, SIZE, 1U << 31, &bo));
}

TEST_F(bo, handle_given_to_create_is_not_looked_at)
{
	struct drm_tessera_bo_create bo = { .size = SIZE, .handle = self->buffer.handle };

	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_CREATE, &bo));
	EXPECT_NE(self->buffer.handle, bo.handle);
}

TEST_F(bo, create_argument_from_nowhere_faults)
{
	EXPECT_EQ(-EFAULT, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_CREATE,
				      (void *)TEST_BAD_POINTER));
}

TEST_F(bo, thousand_buffers_live_side_by_side)
{
	static __u32 handles[1000];
	struct drm_tessera_bo_create bo;
	int round, i;

	for (round = 0; round < 2; round++) {
		for (i = 0; i < 1000; i++) {
			ASSERT_EQ(0, create(self->fd, TEST_PAGE_SIZE, 0, &bo));
			handles[i] = bo.handle;
		}
		for (i = 0; i < 1000; i++)
			ASSERT_EQ(0, test_handle_close(self->fd, handles[i]));
	}
}

TEST_F(bo, large_buffer_is_reached_at_both_ends)
{
	struct test_buffer large = test_buffer_create(_metadata, self->fd, 32 << 20);
	struct test_job job;

	test_fill(self->buffer.map, SIZE, 1);
	test_job_copy(&job, large.handle, self->buffer.handle, SIZE / 4);
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &job));
	job.operands[0].address.offset = large.size - SIZE;
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &job));
	EXPECT_EQ(SIZE, test_filled(large.map, SIZE, 1));
	EXPECT_EQ(0, large.map[SIZE]);
	EXPECT_EQ(0, large.map[large.size - SIZE - 1]);
	EXPECT_EQ(SIZE, test_filled(large.map + large.size - SIZE, SIZE, 1));
}

/* Contents */

TEST_F(bo, buffer_reads_as_zero)
{
	EXPECT_EQ(SIZE, test_constant(self->buffer.map, SIZE, 0));
}

TEST_F(bo, buffer_that_was_never_mapped_reads_as_zero_on_the_device)
{
	struct drm_tessera_bo_create bo;
	struct test_job job;

	ASSERT_EQ(0, create(self->fd, SIZE, 0, &bo));
	test_fill(self->buffer.map, SIZE, 1);
	test_job_copy(&job, self->buffer.handle, bo.handle, SIZE / 4);
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &job));
	EXPECT_EQ(SIZE, test_constant(self->buffer.map, SIZE, 0));
}

TEST_F(bo, memory_of_a_freed_buffer_does_not_come_back_with_its_contents)
{
	const __u64 size = 4 << 20;
	int round;

	for (round = 0; round < 8; round++) {
		struct test_buffer buffer = test_buffer_create(_metadata, self->fd, size);
		struct test_job job;

		ASSERT_EQ(size, test_constant(buffer.map, size, 0));
		memset(buffer.map, 0x5a, size / 2);
		test_job_copy(&job, buffer.handle, buffer.handle, size / 2 / 4);
		job.operands[0].address.offset = size / 2;
		ASSERT_EQ(1, test_run_job(_metadata, self->fd, &job));
		ASSERT_EQ(0x5a, buffer.map[size - 1]);
		test_buffer_destroy(_metadata, self->fd, &buffer);
	}
}

TEST_F(bo, memory_of_a_closed_file_does_not_come_back_with_its_contents)
{
	const __u64 size = 4 << 20;
	int round;

	for (round = 0; round < 8; round++) {
		int fd = test_open(_metadata);
		struct test_buffer buffer = test_buffer_create(_metadata, fd, size);

		ASSERT_EQ(size, test_constant(buffer.map, size, 0));
		memset(buffer.map, 0x5a, size);
		ASSERT_EQ(0, munmap(buffer.map, size));
		close(fd);
	}
}

TEST_F(bo, device_sees_what_the_process_wrote_and_the_other_way_round)
{
	struct test_job job;

	test_fill(self->buffer.map, SIZE, 2);
	test_job_copy(&job, self->other.handle, self->buffer.handle, SIZE / 4);
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &job));
	EXPECT_EQ(SIZE, test_filled(self->other.map, SIZE, 2));
}

/* Mapping */

TEST_F(bo, mapping_an_unknown_handle_is_refused)
{
	__u64 offset;

	ASSERT_EQ(0, mmap_offset(self->fd, self->buffer.handle, 0, &offset));
	EXPECT_EQ(-ENOENT, mmap_offset(self->fd, TEST_NO_HANDLE, 0, &offset));
}

TEST_F(bo, mapping_handle_0_is_refused)
{
	__u64 offset;

	EXPECT_EQ(-ENOENT, mmap_offset(self->fd, 0, 0, &offset));
}

TEST_F(bo, mapping_a_closed_handle_is_refused)
{
	__u64 offset;

	ASSERT_EQ(0, test_handle_close(self->fd, self->buffer.handle));
	EXPECT_EQ(-ENOENT, mmap_offset(self->fd, self->buffer.handle, 0, &offset));
}

TEST_F(bo, unknown_mmap_flag_is_refused)
{
	__u64 offset;

	ASSERT_EQ(0, mmap_offset(self->fd, self->buffer.handle, 0, &offset));
	EXPECT_EQ(-EINVAL, mmap_offset(self->fd, self->buffer.handle, 1, &offset));
}

TEST_F(bo, mmap_argument_from_nowhere_faults)
{
	EXPECT_EQ(-EFAULT, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET,
				      (void *)TEST_BAD_POINTER));
}

TEST_F(bo, mapping_beyond_the_end_is_refused)
{
	__u64 offset;

	ASSERT_EQ(0, mmap_offset(self->fd, self->buffer.handle, 0, &offset));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, SIZE + TEST_PAGE_SIZE, PROT_READ, MAP_SHARED, self->fd,
				   offset));
}

TEST_F(bo, mapping_at_an_offset_of_nothing_is_refused)
{
	EXPECT_EQ(MAP_FAILED, mmap(NULL, SIZE, PROT_READ, MAP_SHARED, self->fd, 0));
}

TEST_F(bo, mapping_privately_is_refused)
{
	__u64 offset;

	ASSERT_EQ(0, mmap_offset(self->fd, self->buffer.handle, 0, &offset));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, self->fd,
				   offset));
}

TEST_F(bo, two_mappings_show_the_same_memory)
{
	__u8 *second = test_map(_metadata, self->fd, self->buffer.handle, SIZE);

	test_fill(self->buffer.map, SIZE, 3);
	EXPECT_NE(self->buffer.map, second);
	EXPECT_EQ(SIZE, test_filled(second, SIZE, 3));
}

TEST_F(bo, mapping_outlives_its_handle)
{
	struct drm_tessera_bo_create bo;

	test_fill(self->buffer.map, SIZE, 4);
	ASSERT_EQ(0, test_handle_close(self->fd, self->buffer.handle));
	ASSERT_EQ(0, create(self->fd, SIZE, 0, &bo));
	EXPECT_EQ(SIZE, test_filled(self->buffer.map, SIZE, 4));
}

TEST_F(bo, mapping_outlives_its_file)
{
	int fd = test_open(_metadata);
	struct test_buffer buffer = test_buffer_create(_metadata, fd, SIZE);

	test_fill(buffer.map, SIZE, 5);
	close(fd);
	EXPECT_EQ(SIZE, test_filled(buffer.map, SIZE, 5));
}

/* Handles belong to a file */

TEST_F(bo, handle_of_another_file_is_unknown)
{
	int stranger = test_open(_metadata);
	__u64 offset;

	ASSERT_EQ(0, mmap_offset(self->fd, self->buffer.handle, 0, &offset));
	EXPECT_EQ(-ENOENT, mmap_offset(stranger, self->buffer.handle, 0, &offset));
	EXPECT_EQ(-ENOENT, test_buffer_wait(stranger, self->buffer.handle, 0, 0));
	close(stranger);
}

TEST_F(bo, offset_of_another_file_maps_nothing)
{
	int stranger = test_open(_metadata);
	__u64 offset;

	ASSERT_EQ(0, mmap_offset(self->fd, self->buffer.handle, 0, &offset));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, SIZE, PROT_READ, MAP_SHARED, stranger, offset));
	close(stranger);
}

TEST_F(bo, closing_a_handle_twice_is_refused)
{
	ASSERT_EQ(0, test_handle_close(self->fd, self->buffer.handle));
	EXPECT_EQ(-EINVAL, test_handle_close(self->fd, self->buffer.handle));
}

/* Waiting */

TEST_F(bo, idle_buffer_is_not_waited_for)
{
	EXPECT_EQ(0, test_buffer_wait(self->fd, self->buffer.handle, 0, 0));
	EXPECT_EQ(0, test_buffer_wait(self->fd, self->buffer.handle, DRM_TESSERA_BO_WAIT_WRITE, 0));
}

TEST_F(bo, waiting_for_an_unknown_handle_is_refused)
{
	ASSERT_EQ(0, test_buffer_wait(self->fd, self->buffer.handle, 0, 0));
	EXPECT_EQ(-ENOENT, test_buffer_wait(self->fd, TEST_NO_HANDLE, 0, 0));
}

TEST_F(bo, unknown_wait_flag_is_refused)
{
	ASSERT_EQ(0, test_buffer_wait(self->fd, self->buffer.handle, 0, 0));
	EXPECT_EQ(-EINVAL, test_buffer_wait(self->fd, self->buffer.handle, 1 << 1, 0));
}

TEST_F(bo, wait_argument_from_nowhere_faults)
{
	EXPECT_EQ(-EFAULT, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_WAIT,
				      (void *)TEST_BAD_POINTER));
}

TEST_F(bo, waiting_for_ever_ends_with_the_job)
{
	struct test_job job;

	test_fill(self->buffer.map, SIZE, 6);
	test_job_copy(&job, self->other.handle, self->buffer.handle, SIZE / 4);
	ASSERT_EQ(0, test_submit_job(self->fd, &job));
	ASSERT_EQ(0, test_buffer_wait(self->fd, self->other.handle, 0, INT64_MAX));
	EXPECT_EQ(SIZE, test_filled(self->other.map, SIZE, 6));
}

/* A job that copies buffer to other and is pending until the gate is signalled */
FIXTURE(pending) {
	int fd;
	bool has_gate;
	struct test_gate gate;
	struct test_buffer buffer;
	struct test_buffer other;
	int fence;
};

FIXTURE_SETUP(pending)
{
	struct test_job job;

	self->fd = test_open(_metadata);
	self->buffer = test_buffer_create(_metadata, self->fd, SIZE);
	self->other = test_buffer_create(_metadata, self->fd, SIZE);
	self->has_gate = test_gate_create(_metadata, self->fd, &self->gate);
	if (!self->has_gate)
		return;
	test_fill(self->buffer.map, SIZE, 7);
	test_job_copy(&job, self->other.handle, self->buffer.handle, SIZE / 4);
	self->fence = test_submit_gated(_metadata, self->fd, &job, &self->gate, NULL);
}

FIXTURE_TEARDOWN(pending)
{
	if (self->has_gate)
		test_gate_signal(&self->gate);
	close(self->fd);
}

#define GATE_OR_SKIP							\
	do {								\
		if (!self->has_gate)					\
			SKIP(return, "the kernel has no vgem to hold a fence"); \
	} while (0)

TEST_F(pending, destination_is_not_ready_at_once)
{
	GATE_OR_SKIP;
	EXPECT_EQ(-ETIME, test_buffer_wait(self->fd, self->other.handle, 0, 0));
}

TEST_F(pending, timeout_in_the_past_does_not_wait)
{
	GATE_OR_SKIP;
	EXPECT_EQ(-ETIME, test_buffer_wait(self->fd, self->other.handle, 0, test_now_ns() - 1));
}

TEST_F(pending, negative_timeout_does_not_wait)
{
	GATE_OR_SKIP;
	EXPECT_EQ(-ETIME, test_buffer_wait(self->fd, self->other.handle, 0, -1));
	EXPECT_EQ(-ETIME, test_buffer_wait(self->fd, self->other.handle, 0, INT64_MIN));
}

TEST_F(pending, timeout_in_the_future_passes)
{
	__s64 end = test_now_ns() + 20000000;

	GATE_OR_SKIP;
	EXPECT_EQ(-ETIME, test_buffer_wait(self->fd, self->other.handle, 0, end));
	EXPECT_GE(test_now_ns(), end);
}

TEST_F(pending, source_can_be_read_meanwhile)
{
	GATE_OR_SKIP;
	EXPECT_EQ(0, test_buffer_wait(self->fd, self->buffer.handle, 0, 0));
}

TEST_F(pending, source_cannot_be_written_meanwhile)
{
	GATE_OR_SKIP;
	EXPECT_EQ(-ETIME, test_buffer_wait(self->fd, self->buffer.handle,
					   DRM_TESSERA_BO_WAIT_WRITE, 0));
}

TEST_F(pending, destination_is_ready_when_the_gate_opens)
{
	GATE_OR_SKIP;
	EXPECT_EQ(SIZE, test_constant(self->other.map, SIZE, 0));
	ASSERT_EQ(0, test_gate_signal(&self->gate));
	ASSERT_EQ(0, test_buffer_wait(self->fd, self->other.handle, 0, INT64_MAX));
	EXPECT_EQ(SIZE, test_filled(self->other.map, SIZE, 7));
	EXPECT_EQ(1, test_sync_file_status(_metadata, self->fence));
}

TEST_F(pending, job_ends_well_though_its_handles_are_closed)
{
	GATE_OR_SKIP;
	ASSERT_EQ(0, test_handle_close(self->fd, self->other.handle));
	ASSERT_EQ(0, test_handle_close(self->fd, self->buffer.handle));
	ASSERT_EQ(0, test_gate_signal(&self->gate));
	EXPECT_EQ(1, test_sync_file_wait(_metadata, self->fence));
	EXPECT_EQ(SIZE, test_filled(self->other.map, SIZE, 7));
}

TEST_F(pending, fence_signals_though_the_file_is_closed)
{
	GATE_OR_SKIP;
	close(self->fd);
	ASSERT_EQ(0, test_gate_signal(&self->gate));
	EXPECT_NE(0, test_sync_file_wait(_metadata, self->fence));
	self->fd = test_open(_metadata);
}

TEST_HARNESS_MAIN
