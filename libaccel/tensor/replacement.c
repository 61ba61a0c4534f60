// SPDX-License-Identifier: MIT
/*
 * Files that take the place of others whole: a temporary file in the folder of the target, synced,
 * renamed over it. Leaves the process alone: what removes the temporary one when a signal ends it
 * is the caller's.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "tensor/replacement.h"

struct replacement {
	int fd;
	char target[PATH_MAX];
	char temporary[PATH_MAX];
};

/* Where the file is to be, links followed, and with which permissions, 0 for those of new files. */
static int find_target(const char *path, struct replacement *replacement, mode_t *mode,
		       struct accel_error *error)
{
	struct stat status;

	*mode = 0;
	if (stat(path, &status)) {
		if (errno != ENOENT)
			return accel_error_set(error, -errno, "%s: %s", path, strerror(errno));
		if (!lstat(path, &status))
			return accel_error_set(error, -ENOENT,
					       "%s: a symbolic link to nothing, expected a file or "
					       "none", path);
		if (strlen(path) >= sizeof(replacement->target))
			return accel_error_set(error, -ENAMETOOLONG, "%.100s...: %s", path,
					       strerror(ENAMETOOLONG));
		strcpy(replacement->target, path);
		return 0;
	}
	if (!S_ISREG(status.st_mode))
		return accel_error_set(error, -EINVAL, "%s: expected a regular file or none", path);
	*mode = status.st_mode & 0777;
	if (!realpath(path, replacement->target))
		return accel_error_set(error, -errno, "%s: %s", path, strerror(errno));
	return 0;
}

static int name_temporary(struct replacement *replacement, struct accel_error *error)
{
	const char *slash = strrchr(replacement->target, '/');
	int folder_length = slash ? (int)(slash - replacement->target + 1) : 0;
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return accel_error_set(error, -errno, "%s: no random name beside it: %s",
				       replacement->target, strerror(errno));
	if (snprintf(replacement->temporary, sizeof(replacement->temporary),
		     "%.*s.accel-%016" PRIx64, folder_length, replacement->target, number) >=
	    (int)sizeof(replacement->temporary))
		return accel_error_set(error, -ENAMETOOLONG, "%.100s...: %s", replacement->target,
				       strerror(ENAMETOOLONG));
	return 0;
}

/* The umask applies by itself: to ask for it is to change it, for all threads. */
static int create_temporary(struct replacement *replacement, mode_t mode,
			    struct accel_error *error)
{
	do {
		int ret = name_temporary(replacement, error);

		if (ret)
			return ret;
		replacement->fd = open(replacement->temporary,
				       O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	} while (replacement->fd < 0 && errno == EEXIST);
	if (replacement->fd < 0)
		return accel_error_set(error, -errno, "%s: cannot write beside it: %s",
				       replacement->target, strerror(errno));
	if (mode)
		fchmod(replacement->fd, mode);
	return 0;
}

int replacement_create(const char *path, struct replacement **result, struct accel_error *error)
{
	struct replacement *replacement = calloc(1, sizeof(*replacement));
	mode_t mode;
	int ret;

	*result = NULL;
	if (!replacement)
		return accel_error_set(error, -ENOMEM, "%s: out of memory", path);
	ret = find_target(path, replacement, &mode, error);
	if (!ret)
		ret = create_temporary(replacement, mode, error);
	if (ret)
		free(replacement);
	else
		*result = replacement;
	return ret;
}

const char *replacement_temporary(const struct replacement *replacement)
{
	return replacement->temporary;
}

int replacement_write(struct replacement *replacement, const void *data, size_t size,
		      struct accel_error *error)
{
	const char *next = data;

	while (size) {
		ssize_t count = write(replacement->fd, next, size);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return accel_error_set(error, -errno, "%s: %s", replacement->target,
					       strerror(errno));
		next += count;
		size -= (size_t)count;
	}
	return 0;
}

/* The rename itself is safe on disk when the folder is. */
static void sync_folder(const struct replacement *replacement)
{
	const char *slash = strrchr(replacement->target, '/');
	char folder[PATH_MAX] = ".";
	int fd;

	if (slash)
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - replacement->target + 1),
			 replacement->target);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

int replacement_commit(struct replacement *replacement, struct accel_error *error)
{
	int ret = 0;

	if (fsync(replacement->fd) || rename(replacement->temporary, replacement->target)) {
		ret = accel_error_set(error, -errno, "%s: %s", replacement->target,
				      strerror(errno));
		unlink(replacement->temporary);
	} else {
		sync_folder(replacement);
	}
	close(replacement->fd);
	free(replacement);
	return ret;
}

void replacement_discard(struct replacement *replacement)
{
	if (!replacement)
		return;
	unlink(replacement->temporary);
	close(replacement->fd);
	free(replacement);
}
