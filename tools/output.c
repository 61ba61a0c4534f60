// SPDX-License-Identifier: MIT
/*
 * Output files: a temporary file in the folder of the target, synced, renamed over it.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "output.h"

struct output {
	int fd;
	char target[PATH_MAX];
	char temporary[PATH_MAX];
	struct sigaction old_actions[3];
};

static const int ending_signals[3] = { SIGINT, SIGTERM, SIGHUP };

/* What a signal's handler removes: only ever set while no such signal can arrive. */
static char path_to_remove[PATH_MAX];

static void remove_and_end(int number)
{
	unlink(path_to_remove);
	/* SA_RESETHAND: the default action is back, and ends the process when this returns */
	raise(number);
}

static void block_signals(sigset_t *old_mask)
{
	sigset_t mask;

	sigemptyset(&mask);
	for (int i = 0; i < 3; i++)
		sigaddset(&mask, ending_signals[i]);
	sigprocmask(SIG_BLOCK, &mask, old_mask);
}

static void watch_signals(struct output *output)
{
	struct sigaction action = { .sa_handler = remove_and_end, .sa_flags = SA_RESETHAND };

	memcpy(path_to_remove, output->temporary, sizeof(path_to_remove));
	for (int i = 0; i < 3; i++) {
		sigaction(ending_signals[i], NULL, &output->old_actions[i]);
		/* nohup: what is ignored stays ignored */
		if (output->old_actions[i].sa_handler != SIG_IGN)
			sigaction(ending_signals[i], &action, NULL);
	}
}

static void unwatch_signals(const struct output *output)
{
	for (int i = 0; i < 3; i++)
		sigaction(ending_signals[i], &output->old_actions[i], NULL);
}

/* Where the file is to be, links followed, and with which permissions. */
static int find_target(const char *path, struct output *output, mode_t *mode,
		       struct accel_error *error)
{
	mode_t mask = umask(0);
	struct stat status;

	umask(mask);
	*mode = 0666 & ~mask;
	if (stat(path, &status)) {
		if (errno != ENOENT)
			return accel_error_set(error, -errno, "%s: %s", path, strerror(errno));
		if (!lstat(path, &status))
			return accel_error_set(error, -ENOENT,
					       "%s: a symbolic link to nothing, expected a file or "
					       "none", path);
		if (strlen(path) >= sizeof(output->target))
			return accel_error_set(error, -ENAMETOOLONG, "%.100s...: %s", path,
					       strerror(ENAMETOOLONG));
		strcpy(output->target, path);
		return 0;
	}
	if (!S_ISREG(status.st_mode))
		return accel_error_set(error, -EINVAL, "%s: expected a regular file or none", path);
	*mode = status.st_mode & 0777;
	if (!realpath(path, output->target))
		return accel_error_set(error, -errno, "%s: %s", path, strerror(errno));
	return 0;
}

static int create_temporary(struct output *output, mode_t mode, struct accel_error *error)
{
	const char *slash = strrchr(output->target, '/');
	int folder_length = slash ? (int)(slash - output->target + 1) : 0;

	if (snprintf(output->temporary, sizeof(output->temporary), "%.*s.accel-XXXXXX",
		     folder_length, output->target) >= (int)sizeof(output->temporary))
		return accel_error_set(error, -ENAMETOOLONG, "%.100s...: %s", output->target,
				       strerror(ENAMETOOLONG));
	output->fd = mkostemp(output->temporary, O_CLOEXEC);
	if (output->fd < 0)
		return accel_error_set(error, -errno, "%s: cannot write beside it: %s",
				       output->target, strerror(errno));
	fchmod(output->fd, mode);
	return 0;
}

int output_create(const char *path, struct output **result, struct accel_error *error)
{
	struct output *output = calloc(1, sizeof(*output));
	sigset_t old_mask;
	mode_t mode;
	int ret;

	*result = NULL;
	if (!output)
		return accel_error_set(error, -ENOMEM, "%s: out of memory", path);
	ret = find_target(path, output, &mode, error);
	if (ret)
		goto err_free;
	block_signals(&old_mask);
	ret = create_temporary(output, mode, error);
	if (!ret)
		watch_signals(output);
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
	if (ret)
		goto err_free;
	*result = output;
	return 0;

err_free:
	free(output);
	return ret;
}

int output_write(struct output *output, const void *data, size_t size, struct accel_error *error)
{
	const char *next = data;

	while (size) {
		ssize_t count = write(output->fd, next, size);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return accel_error_set(error, -errno, "%s: %s", output->target,
					       strerror(errno));
		next += count;
		size -= (size_t)count;
	}
	return 0;
}

/* The rename itself is safe on disk when the folder is. */
static void sync_folder(const struct output *output)
{
	const char *slash = strrchr(output->target, '/');
	char folder[PATH_MAX] = ".";
	int fd;

	if (slash)
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - output->target + 1),
			 output->target);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

int output_commit(struct output *output, struct accel_error *error)
{
	sigset_t old_mask;
	int ret = 0;

	if (fsync(output->fd)) {
		ret = accel_error_set(error, -errno, "%s: %s", output->target, strerror(errno));
		output_discard(output);
		return ret;
	}
	block_signals(&old_mask);
	if (rename(output->temporary, output->target)) {
		ret = accel_error_set(error, -errno, "%s: %s", output->target, strerror(errno));
		unlink(output->temporary);
	}
	unwatch_signals(output);
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
	if (!ret)
		sync_folder(output);
	close(output->fd);
	free(output);
	return ret;
}

void output_discard(struct output *output)
{
	sigset_t old_mask;

	if (!output)
		return;
	block_signals(&old_mask);
	unlink(output->temporary);
	unwatch_signals(output);
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
	close(output->fd);
	free(output);
}
