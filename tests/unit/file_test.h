/* SPDX-License-Identifier: MIT */
/*
 * What the tests of files share: a folder of the program's own, and files written into it. A test
 * removes its files: a folder that is not empty in the end is a failure.
 */
#ifndef TESTS_UNIT_FILE_TEST_H
#define TESTS_UNIT_FILE_TEST_H

#include <fcntl.h>

#include "accel_test.h"
#include "tensor/npy.h"

#define MAX_PATH	64

static char folder[] = "/tmp/accel-test-XXXXXX";

static inline int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

static inline void set_path(char path[MAX_PATH], const char *name)
{
	snprintf(path, MAX_PATH, "%s/%s", folder, name);
}

static inline int create_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	return fd;
}

static inline void write_file(const char *path, const void *bytes, size_t size)
{
	int fd = create_file(path);

	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
}

static inline void write_array(const char *path, const char *descr, uint32_t rank,
			       const int64_t *shape, const void *data, size_t size)
{
	char header[NPY_MAX_FORMATTED];
	size_t header_size = npy_format(descr, rank, shape, header);
	int fd = create_file(path);

	assert_int_equal(write(fd, header, header_size), header_size);
	assert_int_equal(write(fd, data, size), size);
	close(fd);
}

/* With a header of the test's own, version 1 of the format. */
static inline void write_array_as(const char *path, const char *header, const void *data,
				  size_t size)
{
	const char start[10] = { '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)strlen(header), 0 };
	int fd = create_file(path);

	assert_in_range(strlen(header), 0, 255);
	assert_int_equal(write(fd, start, sizeof(start)), sizeof(start));
	assert_int_equal(write(fd, header, strlen(header)), strlen(header));
	assert_int_equal(write(fd, data, size), size);
	close(fd);
}

#endif /* TESTS_UNIT_FILE_TEST_H */
