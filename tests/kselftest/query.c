// SPDX-License-Identifier: MIT
/*
 * DEV_QUERY: who the device is, and how an extensible answer of any size is given. How results of
 * submissions come out of it is in results.c.
 */
#include "tessera_test.h"

FIXTURE(query) {
	int fd;
	struct drm_tessera_dev_info info;
	struct drm_tessera_dev_query query;
};

/* The base case, which each test then changes in one thing */
FIXTURE_SETUP(query)
{
	self->fd = test_open(_metadata);
	self->query = (struct drm_tessera_dev_query){
		.type = DRM_TESSERA_DEV_QUERY_INFO,
		.size = sizeof(self->info),
		.pointer = (uintptr_t)&self->info,
	};
	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_TESSERA_DEV_QUERY, &self->query));
}

FIXTURE_TEARDOWN(query)
{
	close(self->fd);
}

static int ask(int fd, struct drm_tessera_dev_query *query)
{
	return test_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, query);
}

TEST_F(query, driver_names_itself_tessera_0_1_0)
{
	char name[16] = "";
	struct drm_version version = { .name = name, .name_len = sizeof(name) - 1 };

	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_VERSION, &version));
	EXPECT_STREQ("tessera", name);
	EXPECT_EQ(0, version.version_major);
	EXPECT_EQ(1, version.version_minor);
	EXPECT_EQ(0, version.version_patchlevel);
}

TEST_F(query, limits_are_those_of_the_header)
{
	EXPECT_EQ(DRM_TESSERA_MAX_RANK, self->info.max_rank);
	EXPECT_EQ(DRM_TESSERA_MAX_SOURCES, self->info.max_sources);
	EXPECT_EQ(DRM_TESSERA_MAX_WINDOWS, self->info.max_windows);
	EXPECT_EQ(DRM_TESSERA_MAX_INSTRUCTIONS, self->info.max_instructions);
	EXPECT_EQ(DRM_TESSERA_MAX_JOBS, self->info.max_jobs);
	EXPECT_EQ(DRM_TESSERA_MAX_SYNCS, self->info.max_syncs);
}

TEST_F(query, device_has_a_version_a_queue_and_room)
{
	EXPECT_NE(0, self->info.hw_version);
	EXPECT_GE(self->info.num_queues, 1);
	EXPECT_GE(self->info.max_bo_size, TEST_PAGE_SIZE);
}

TEST_F(query, answer_never_changes)
{
	struct drm_tessera_dev_info again = test_info(_metadata, self->fd);

	EXPECT_EQ(0, memcmp(&self->info, &again, sizeof(again)));
}

TEST_F(query, another_file_gets_the_same_answer)
{
	int other = test_open(_metadata);
	struct drm_tessera_dev_info theirs = test_info(_metadata, other);

	EXPECT_EQ(0, memcmp(&self->info, &theirs, sizeof(theirs)));
	close(other);
}

TEST_F(query, without_a_pointer_the_size_is_told)
{
	self->query.pointer = 0;
	self->query.size = 0;
	ASSERT_EQ(0, ask(self->fd, &self->query));
	EXPECT_EQ(sizeof(struct drm_tessera_dev_info), self->query.size);
}

TEST_F(query, without_a_pointer_the_size_of_a_result_is_told)
{
	self->query.type = DRM_TESSERA_DEV_QUERY_SUBMIT_RESULT;
	self->query.pointer = 0;
	self->query.size = 0;
	ASSERT_EQ(0, ask(self->fd, &self->query));
	EXPECT_EQ(sizeof(struct drm_tessera_submit_result), self->query.size);
}

TEST_F(query, smaller_answer_is_a_prefix)
{
	__u8 answer[sizeof(self->info)];
	__u32 size = offsetof(struct drm_tessera_dev_info, max_rank);

	memset(answer, 0xaa, sizeof(answer));
	self->query.size = size;
	self->query.pointer = (uintptr_t)answer;
	ASSERT_EQ(0, ask(self->fd, &self->query));
	EXPECT_EQ(0, memcmp(answer, &self->info, size));
	EXPECT_EQ(sizeof(answer) - size, test_constant(answer + size, sizeof(answer) - size, 0xaa));
}

TEST_F(query, smaller_answer_tells_the_whole_size)
{
	self->query.size = 4;
	ASSERT_EQ(0, ask(self->fd, &self->query));
	EXPECT_EQ(sizeof(self->info), self->query.size);
}

TEST_F(query, answer_of_no_bytes_writes_nothing)
{
	__u8 answer = 0xaa;

	self->query.size = 0;
	self->query.pointer = (uintptr_t)&answer;
	ASSERT_EQ(0, ask(self->fd, &self->query));
	EXPECT_EQ(0xaa, answer);
	EXPECT_EQ(sizeof(self->info), self->query.size);
}

TEST_F(query, larger_answer_is_zeroed_behind_what_the_driver_knows)
{
	__u8 answer[sizeof(self->info) + 64];

	memset(answer, 0xaa, sizeof(answer));
	self->query.size = sizeof(answer);
	self->query.pointer = (uintptr_t)answer;
	ASSERT_EQ(0, ask(self->fd, &self->query));
	EXPECT_EQ(0, memcmp(answer, &self->info, sizeof(self->info)));
	EXPECT_EQ(64, test_constant(answer + sizeof(self->info), 64, 0));
	EXPECT_EQ(sizeof(self->info), self->query.size);
}

TEST_F(query, largest_answer_is_given)
{
	static __u8 answer[DRM_TESSERA_MAX_STRIDE];

	self->query.size = sizeof(answer);
	self->query.pointer = (uintptr_t)answer;
	EXPECT_EQ(0, ask(self->fd, &self->query));
}

TEST_F(query, answer_over_the_largest_is_refused)
{
	static __u8 answer[DRM_TESSERA_MAX_STRIDE + 1];

	self->query.size = sizeof(answer);
	self->query.pointer = (uintptr_t)answer;
	EXPECT_EQ(-EINVAL, ask(self->fd, &self->query));
}

TEST_F(query, unknown_type_is_refused)
{
	self->query.type = DRM_TESSERA_DEV_QUERY_SUBMIT_RESULT + 1;
	EXPECT_EQ(-EINVAL, ask(self->fd, &self->query));
}

TEST_F(query, unknown_type_without_a_pointer_is_refused)
{
	self->query.type = ~0U;
	self->query.pointer = 0;
	EXPECT_EQ(-EINVAL, ask(self->fd, &self->query));
}

TEST_F(query, answer_to_nowhere_faults)
{
	self->query.pointer = TEST_BAD_POINTER;
	EXPECT_EQ(-EFAULT, ask(self->fd, &self->query));
}

TEST_F(query, answer_to_kernel_memory_faults)
{
	self->query.pointer = 0xffff888000000000ULL;
	EXPECT_EQ(-EFAULT, ask(self->fd, &self->query));
}

TEST_F(query, answer_to_read_only_memory_faults)
{
	void *page = mmap(NULL, TEST_PAGE_SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, page);
	self->query.pointer = (uintptr_t)page;
	EXPECT_EQ(-EFAULT, ask(self->fd, &self->query));
}

TEST_F(query, answer_that_runs_into_a_hole_faults)
{
	__u8 *pages = mmap(NULL, 2 * TEST_PAGE_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, pages);
	ASSERT_EQ(0, munmap(pages + TEST_PAGE_SIZE, TEST_PAGE_SIZE));
	self->query.pointer = (uintptr_t)(pages + TEST_PAGE_SIZE - 8);
	EXPECT_EQ(-EFAULT, ask(self->fd, &self->query));
}

TEST_F(query, argument_from_nowhere_faults)
{
	EXPECT_EQ(-EFAULT, test_ioctl(self->fd, DRM_IOCTL_TESSERA_DEV_QUERY,
				      (void *)TEST_BAD_POINTER));
}

TEST_F(query, command_beyond_the_last_is_refused)
{
	__u64 argument = 0;

	EXPECT_EQ(-EINVAL, test_ioctl(self->fd, DRM_IOWR(DRM_COMMAND_BASE + DRM_TESSERA_SUBMIT + 1,
							 __u64), &argument));
}

TEST_F(query, syncobjs_and_timelines_are_offered)
{
	uint64_t value = 0;

	EXPECT_EQ(0, drmGetCap(self->fd, DRM_CAP_SYNCOBJ, &value));
	EXPECT_EQ(1, value);
	EXPECT_EQ(0, drmGetCap(self->fd, DRM_CAP_SYNCOBJ_TIMELINE, &value));
	EXPECT_EQ(1, value);
}

TEST_F(query, prime_import_and_export_are_offered)
{
	uint64_t value = 0;

	EXPECT_EQ(0, drmGetCap(self->fd, DRM_CAP_PRIME, &value));
	EXPECT_EQ(DRM_PRIME_CAP_IMPORT | DRM_PRIME_CAP_EXPORT, value);
}

TEST_HARNESS_MAIN
