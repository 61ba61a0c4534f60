// SPDX-License-Identifier: MIT
/*
 * Files of the device in sysfs: the timeout of each queue. What becomes of a job that takes longer
 * is in fault.c.
 */
#include "tessera_test.h"

FIXTURE(sysfs) {
	int fd;
	char path[PATH_MAX];
};

static void timeout_path(struct __test_metadata *_metadata, int fd, __u32 queue,
			 char path[PATH_MAX])
{
	char bus[NAME_MAX];

	test_bus_name(_metadata, fd, bus);
	snprintf(path, PATH_MAX, "/sys/bus/pci/devices/%s/job_timeout_ms/pe%u", bus, queue);
}

static unsigned long read_number(struct __test_metadata *_metadata, const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	char text[32] = "";

	ASSERT_GE(file, 0);
	ASSERT_GT(read(file, text, sizeof(text) - 1), 0);
	close(file);
	return strtoul(text, NULL, 10);
}

#define PARAMETER	"/sys/module/tessera/parameters/job_timeout_ms"

FIXTURE_SETUP(sysfs)
{
	self->fd = test_open(_metadata);
	timeout_path(_metadata, self->fd, 0, self->path);
}

FIXTURE_TEARDOWN(sysfs)
{
	test_write_file(self->path, "0");
	test_write_file(PARAMETER, "10000");
	close(self->fd);
}

TEST_F(sysfs, every_queue_has_a_timeout)
{
	struct drm_tessera_dev_info info = test_info(_metadata, self->fd);
	char path[PATH_MAX];
	__u32 queue;

	for (queue = 0; queue < info.num_queues; queue++) {
		timeout_path(_metadata, self->fd, queue, path);
		EXPECT_EQ(10000, read_number(_metadata, path));
	}
	timeout_path(_metadata, self->fd, info.num_queues, path);
	EXPECT_NE(0, access(path, F_OK));
}

TEST_F(sysfs, timeout_that_is_written_is_read)
{
	ASSERT_EQ(0, test_write_file(self->path, "2500"));
	EXPECT_EQ(2500, read_number(_metadata, self->path));
}

TEST_F(sysfs, timeout_of_one_queue_is_no_other_queues)
{
	char other[PATH_MAX];

	timeout_path(_metadata, self->fd, 1, other);
	if (access(other, F_OK))
		SKIP(return, "the device has one queue");
	ASSERT_EQ(0, test_write_file(self->path, "2500"));
	EXPECT_EQ(10000, read_number(_metadata, other));
}

TEST_F(sysfs, timeout_of_zero_is_that_of_the_module)
{
	ASSERT_EQ(0, test_write_file(PARAMETER, "7000"));
	EXPECT_EQ(7000, read_number(_metadata, self->path));
	ASSERT_EQ(0, test_write_file(self->path, "2500"));
	ASSERT_EQ(0, test_write_file(self->path, "0"));
	EXPECT_EQ(7000, read_number(_metadata, self->path));
}

TEST_F(sysfs, timeout_below_the_least_is_the_least)
{
	ASSERT_EQ(0, test_write_file(self->path, "1"));
	EXPECT_EQ(100, read_number(_metadata, self->path));
}

TEST_F(sysfs, timeout_that_is_no_number_is_refused)
{
	EXPECT_EQ(-EINVAL, test_write_file(self->path, "soon"));
}

TEST_F(sysfs, timeout_that_does_not_fit_is_refused)
{
	EXPECT_EQ(-ERANGE, test_write_file(self->path, "4294967296"));
}

TEST_F(sysfs, timeout_is_not_for_everybody_to_write)
{
	struct stat status;

	ASSERT_EQ(0, stat(self->path, &status));
	EXPECT_EQ(0644, status.st_mode & 0777);
}

TEST_HARNESS_MAIN
