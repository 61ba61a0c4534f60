// SPDX-License-Identifier: MIT
/*
 * Who pays for the memory of buffers: the control group of the process that creates them.
 */
#include "tessera_test.h"

#define MEMORY	(64ULL << 20)
#define ROOT	"/tmp/tessera-cgroup"
#define GROUP	ROOT "/tessera"

FIXTURE(memcg) {
	int fd;
	bool has_group;
};

FIXTURE_SETUP(memcg)
{
	self->fd = test_open(_metadata);
	mkdir(ROOT, 0755);
	if (mount("none", ROOT, "cgroup2", 0, NULL))
		return;
	test_write_file(ROOT "/cgroup.subtree_control", "+memory");
	mkdir(GROUP, 0755);
	self->has_group = !access(GROUP "/memory.current", R_OK);
}

FIXTURE_TEARDOWN(memcg)
{
	close(self->fd);
	rmdir(GROUP);
	umount(ROOT);
	rmdir(ROOT);
}

static unsigned long long read_current(void)
{
	char text[32] = "";
	int file = open(GROUP "/memory.current", O_RDONLY | O_CLOEXEC);

	if (file < 0 || read(file, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(file);
	return strtoull(text, NULL, 10);
}

/* In a process of the group: what a buffer adds to it, and what is left when it is gone */
TEST_F(memcg, buffer_is_charged_to_the_group_of_its_creator)
{
	pid_t child;

	if (!self->has_group)
		SKIP(return, "the kernel has no memory controller");
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		struct drm_tessera_bo_create create = { .size = MEMORY };
		unsigned long long before, with_buffer;

		ASSERT_EQ(0, test_write_file(GROUP "/cgroup.procs", "0"));
		before = read_current();
		ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_CREATE, &create));
		with_buffer = read_current();
		ASSERT_GE(with_buffer, before + MEMORY)
			TH_LOG("%llu, then %llu", before, with_buffer);
		ASSERT_EQ(0, test_handle_close(self->fd, create.handle));
		ASSERT_LT(read_current(), before + MEMORY / 2);
		_exit(0);
	}
	test_join(_metadata, child);
}

/* What is in on-chip memory has to have a place in system memory as well */
TEST_F(memcg, buffer_in_on_chip_memory_is_charged_as_well)
{
	__u64 size = test_info(_metadata, self->fd).sram_size;
	pid_t child;

	if (!self->has_group || !size)
		SKIP(return, "the kernel has no memory controller, or the device no such memory");
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		struct drm_tessera_bo_create create = {
			.size = size, .flags = DRM_TESSERA_BO_SRAM,
		};
		unsigned long long before, with_buffer;

		ASSERT_EQ(0, test_write_file(GROUP "/cgroup.procs", "0"));
		before = read_current();
		ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_CREATE, &create));
		with_buffer = read_current();
		ASSERT_GE(with_buffer, before + size)
			TH_LOG("%llu, then %llu", before, with_buffer);
		_exit(0);
	}
	test_join(_metadata, child);
}

TEST_HARNESS_MAIN
