// SPDX-License-Identifier: MIT
/*
 * Ioctls of the DRM core that follow a NULL pointer on nodes without a master, which the driver has
 * to refuse before they are reached, however they are spelt. Each test asks the device for its
 * properties afterwards: a kernel that has lost a lock in an oops does not answer.
 */
#include "tessera_test.h"

FIXTURE(traps) {
	int fd;
	__u8 argument[256];
};

FIXTURE_SETUP(traps)
{
	self->fd = test_open(_metadata);
}

FIXTURE_TEARDOWN(traps)
{
	test_info(_metadata, self->fd);
	close(self->fd);
}

TEST_F(traps, get_unique_is_refused)
{
	EXPECT_EQ(-1, ioctl(self->fd, DRM_IOCTL_GET_UNIQUE, self->argument));
}

TEST_F(traps, get_magic_is_refused)
{
	EXPECT_EQ(-1, ioctl(self->fd, DRM_IOCTL_GET_MAGIC, self->argument));
}

/* The core looks at the number of a command and not at the size or the direction that it carries */
TEST_F(traps, get_unique_of_another_size_is_refused)
{
	EXPECT_EQ(-1, ioctl(self->fd, DRM_IOWR(0x01, __u8[128]), self->argument));
	EXPECT_EQ(-1, ioctl(self->fd, DRM_IOWR(0x01, __u8[1]), self->argument));
}

TEST_F(traps, get_unique_without_an_argument_is_refused)
{
	EXPECT_EQ(-1, ioctl(self->fd, DRM_IO(0x01), self->argument));
}

TEST_F(traps, get_magic_of_another_direction_is_refused)
{
	EXPECT_EQ(-1, ioctl(self->fd, DRM_IOWR(0x02, __u32), self->argument));
	EXPECT_EQ(-1, ioctl(self->fd, DRM_IOW(0x02, __u32), self->argument));
	EXPECT_EQ(-1, ioctl(self->fd, DRM_IO(0x02), self->argument));
}

TEST_F(traps, command_of_another_type_is_refused)
{
	EXPECT_EQ(-1, ioctl(self->fd, _IOWR('e', 0x01, __u8[16]), self->argument));
}

#ifdef __x86_64__
/*
 * The way of a 32-bit process: its own entry into the kernel, with pointers of 32 bits. Returns
 * what the kernel returns, or -ENOSYS where it has no such entry.
 */
static int ioctl_32(int fd, unsigned int request, const void *argument, unsigned int size)
{
	void *low = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	int ret;

	memcpy(low, argument, size);
	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(54), "b"(fd), "c"(request), "d"((unsigned int)(uintptr_t)low)
			 : "memory", "r8", "r9", "r10", "r11");
	munmap(low, size);
	return ret;
}

static void no_entry(int signal)
{
	_exit(KSFT_SKIP);
}

TEST_F(traps, get_unique_of_a_32_bit_process_is_refused)
{
	signal(SIGSEGV, no_entry);
	EXPECT_GT(0, ioctl_32(self->fd, DRM_IOWR(0x01, __u8[8]), self->argument, 256));
}

TEST_F(traps, get_magic_of_a_32_bit_process_is_refused)
{
	signal(SIGSEGV, no_entry);
	EXPECT_GT(0, ioctl_32(self->fd, DRM_IOCTL_GET_MAGIC, self->argument, 256));
}

TEST_F(traps, query_of_a_32_bit_process_is_answered)
{
	struct drm_tessera_dev_query query = { .type = DRM_TESSERA_DEV_QUERY_INFO };

	signal(SIGSEGV, no_entry);
	EXPECT_EQ(0, ioctl_32(self->fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query, sizeof(query)));
}
#endif

/*
 * Every command of the core, with an argument of zeros and with none: nothing hurts the kernel.
 * Other arguments would be the core's tests: it warns of its own large allocations.
 */
TEST_F(traps, no_command_of_the_core_hurts)
{
	unsigned int nr;

	for (nr = 0; nr < 0x100; nr++) {
		unsigned int command = _IOC(_IOC_READ | _IOC_WRITE, DRM_IOCTL_BASE, nr, 64);

		if (nr >= DRM_COMMAND_BASE && nr < DRM_COMMAND_END)
			continue;
		memset(self->argument, 0, sizeof(self->argument));
		ioctl(self->fd, command, self->argument);
		ioctl(self->fd, command, NULL);
	}
	test_info(_metadata, self->fd);
}

TEST_HARNESS_MAIN
