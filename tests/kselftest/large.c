// SPDX-License-Identifier: MIT
/*
 * A buffer of 8 GiB, and jobs on both sides of what 32 bits can count. All of it is there and
 * pinned: the guest has to have more than that, as with qemu/vm --memory 10G.
 */
#include "tessera_test.h"

#include <sys/sysinfo.h>

#define GIB		(1ULL << 30)
#define LARGE		(8 * GIB)
#define LENGTH		(2ULL << 20)
#define BELOW		(4 * GIB - LENGTH / 2)	/* from here over 4 GiB */

FIXTURE(large) {
	int fd;
	struct test_buffer buffer;	/* has no handle where there is too little memory */
	struct test_job job;
};

FIXTURE_SETUP(large)
{
	struct sysinfo info;

	self->fd = test_open(_metadata);
	ASSERT_EQ(0, sysinfo(&info));
	if ((__u64)info.freeram * info.mem_unit < LARGE + GIB / 4)
		return;
	self->buffer = test_buffer_create(_metadata, self->fd, LARGE);
	test_fill(self->buffer.map + BELOW, LENGTH, 1);
	test_job_copy(&self->job, self->buffer.handle, self->buffer.handle, LENGTH / 4);
	self->job.operands[1].address.offset = BELOW;
}

FIXTURE_TEARDOWN(large)
{
	if (self->buffer.handle)
		test_buffer_destroy(_metadata, self->fd, &self->buffer);
	close(self->fd);
}

#define MEMORY_OR_SKIP								\
	do {									\
		if (!self->buffer.handle)					\
			SKIP(return, "less than 8.25 GiB of memory are free");	\
	} while (0)

TEST_F_TIMEOUT(large, bytes_around_four_gib_are_copied_to_both_ends, 600)
{
	struct drm_tessera_operand *destination = &self->job.operands[0];
	struct drm_tessera_operand *source = &self->job.operands[1];
	__u8 *map = self->buffer.map;

	MEMORY_OR_SKIP;
	destination->address.offset = LARGE - LENGTH;
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
	EXPECT_EQ(LENGTH, test_filled(map + LARGE - LENGTH, LENGTH, 1));
	EXPECT_EQ(LENGTH, test_constant(map + LARGE - 2 * LENGTH, LENGTH, 0));

	source->address.offset = LARGE - LENGTH;
	destination->address.offset = 0;
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
	EXPECT_EQ(LENGTH, test_filled(map, LENGTH, 1));
	EXPECT_EQ(LENGTH, test_constant(map + LENGTH, LENGTH, 0));

	/* One byte further there is no buffer */
	source->address.offset = BELOW;
	destination->address.offset = LARGE - LENGTH + 1;
	EXPECT_EQ(-ERANGE, test_submit_job(self->fd, &self->job));

	/* An element of each GiB, from the last to the first, to one place */
	source->address.offset = LARGE - GIB;
	source->address.strides[0] = -(__s64)GIB;
	destination->address.offset = BELOW - 4096;
	self->job.job.extents[0] = 8;
	for (__u32 k = 0; k < 8; k++)
		*(__u32 *)(map + k * GIB) = 100 + k;
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
	for (__u32 k = 0; k < 8; k++)
		EXPECT_EQ(107 - k, ((__u32 *)(map + BELOW - 4096))[k]);
}

TEST_HARNESS_MAIN
