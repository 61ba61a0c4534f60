// SPDX-License-Identifier: MIT
/*
 * Other libraries beside accel bench: each is a program of its own, which is given the memory of a
 * case and told when to do it. What they say to each other is in tests/bench/peer.h.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "error.h"

extern char **environ;

/* Above those that a peer knows its files by, so that none is closed by being put in place. */
#define LEAST_FD	10

enum peer_file { PEER_INPUT, PEER_OUTPUT, PEER_SOURCE = 3, PEER_DESTINATION, PEER_INDICES };

static const struct {
	const char *name;
	const char *program;
} kinds[BENCH_NUM_PEERS] = {
	{ "oneDNN", "peer_onednn" },
	{ "Eigen", "peer_eigen" },
	{ "NumPy", "peer_numpy" },
};

struct bench_peer {
	const char *name;
	pid_t pid;
	int socket;
};

const char *bench_peer_name(size_t kind)
{
	return kinds[kind].name;
}

/* $ACCEL_BENCH_PEERS, or where the build puts them: beside the folder of this program. */
static int find_folder(char *folder, size_t size, struct accel_error *error)
{
	const char *given = getenv("ACCEL_BENCH_PEERS");
	ssize_t length;
	char *slash;

	if (given) {
		if (strlen(given) >= size)
			return accel_error_set(error, -ENAMETOOLONG, "ACCEL_BENCH_PEERS: %s",
					       strerror(ENAMETOOLONG));
		strcpy(folder, given);
		return 0;
	}
	length = readlink("/proc/self/exe", folder, size - sizeof("/../bench"));
	if (length < 0)
		return accel_error_set(error, -errno, "/proc/self/exe: %s", strerror(errno));
	folder[length] = '\0';
	slash = strrchr(folder, '/');
	strcpy(slash, "/../bench");
	return 0;
}

int bench_peer_find(size_t kind, char path[PATH_MAX], struct accel_error *error)
{
	char folder[PATH_MAX];
	int ret = find_folder(folder, sizeof(folder), error);

	if (ret)
		return ret;
	if (snprintf(path, PATH_MAX, "%s/%s", folder, kinds[kind].program) >= PATH_MAX)
		return accel_error_set(error, -ENAMETOOLONG, "%.100s...: %s", folder,
				       strerror(ENAMETOOLONG));
	if (access(path, X_OK))
		return accel_error_set(error, -errno, "%.200s: %s", path, strerror(errno));
	return 0;
}

/* Conversation ----------------------------------------------------------------------------- */

static int lost(const struct bench_peer *peer, struct accel_error *error)
{
	return accel_error_set(error, -EPIPE, "peer %s has ended before it was told to",
			       peer->name);
}

static int read_line(const struct bench_peer *peer, char *line, size_t size,
		     struct accel_error *error)
{
	size_t length = 0;

	for (;;) {
		ssize_t count = read(peer->socket, line + length, 1);

		if (count < 0 && errno == EINTR)
			continue;
		if (count != 1)
			return lost(peer, error);
		if (line[length] == '\n')
			break;
		if (++length == size)
			return accel_error_set(error, -EPROTO, "peer %s says more than a line of "
					       "%zu characters", peer->name, size);
	}
	line[length] = '\0';
	return 0;
}

int bench_run_peer(void *context, uint32_t repetitions, uint64_t *nanoseconds,
		   struct accel_error *error)
{
	const struct bench_peer *peer = context;
	char line[128];
	int ret, end = 0, length = snprintf(line, sizeof(line), "%" PRIu32 "\n", repetitions);

	/* a signal would end this program, too */
	if (send(peer->socket, line, (size_t)length, MSG_NOSIGNAL) != length)
		return lost(peer, error);
	ret = read_line(peer, line, sizeof(line), error);
	if (ret)
		return ret;
	if (sscanf(line, "%" SCNu64 "%n", nanoseconds, &end) != 1 || line[end])
		return accel_error_set(error, -EPROTO, "peer %s says '%s', expected nanoseconds",
				       peer->name, line);
	return 0;
}

/* Processes -------------------------------------------------------------------------------- */

static int add_file(posix_spawn_file_actions_t *actions, int *fd, enum peer_file number,
		    struct accel_error *error)
{
	int copy = fcntl(*fd, F_DUPFD_CLOEXEC, LEAST_FD);
	int ret;

	if (copy < 0)
		return accel_error_set(error, -errno, "peer: file descriptor: %s", strerror(errno));
	close(*fd);
	*fd = copy;
	ret = posix_spawn_file_actions_adddup2(actions, copy, number);
	return ret ? accel_error_set(error, -ret, "peer: %s", strerror(ret)) : 0;
}

static int add_memory(posix_spawn_file_actions_t *actions, const struct bench_memory *memory,
		      int *fd, enum peer_file number, struct accel_error *error)
{
	int ret;

	if (!memory->buffer)
		return 0;
	ret = accel_buffer_export(memory->buffer, fd, error);
	return ret ? ret : add_file(actions, fd, number, error);
}

static int spawn(struct bench_peer *peer, const char *path, const struct bench_setup *setup,
		 uint32_t num_threads, int peer_socket, struct accel_error *error)
{
	char threads[16];
	char *argv[] = { (char *)path, (char *)setup->bench->letter, threads, NULL };
	int fds[] = { peer_socket, -1, -1, -1 };
	posix_spawn_file_actions_t actions;
	int ret;

	snprintf(threads, sizeof(threads), "%u", num_threads);
	posix_spawn_file_actions_init(&actions);
	ret = add_file(&actions, &fds[0], PEER_INPUT, error);
	if (!ret && posix_spawn_file_actions_adddup2(&actions, fds[0], PEER_OUTPUT))
		ret = accel_error_set(error, -ENOMEM, "peer: out of memory");
	if (!ret)
		ret = add_memory(&actions, &setup->source, &fds[1], PEER_SOURCE, error);
	if (!ret)
		ret = add_memory(&actions, &setup->destination, &fds[2], PEER_DESTINATION, error);
	if (!ret)
		ret = add_memory(&actions, &setup->indices, &fds[3], PEER_INDICES, error);
	if (!ret) {
		ret = -posix_spawn(&peer->pid, path, &actions, NULL, argv, environ);
		if (ret)
			accel_error_set(error, ret, "%.200s: %s", path, strerror(-ret));
	}
	posix_spawn_file_actions_destroy(&actions);
	for (size_t k = 0; k < sizeof(fds) / sizeof(fds[0]); k++) {
		if (fds[k] >= 0)
			close(fds[k]);
	}
	return ret;
}

/* What a peer says first; one that cannot do the case ends then. */
static int greet(struct bench_peer *peer, uint32_t *num_threads, bool *is_able,
		 struct accel_error *error)
{
	char line[128];
	int ret = read_line(peer, line, sizeof(line), error);

	if (ret)
		return ret;
	*is_able = sscanf(line, "ready %" SCNu32, num_threads) == 1;
	if (!*is_able && strncmp(line, "cannot ", 7))
		return accel_error_set(error, -EPROTO, "peer %s says '%s', expected 'ready' or "
				       "'cannot'", peer->name, line);
	return 0;
}

int bench_peer_start(size_t kind, const char *path, const struct bench_setup *setup,
		     uint32_t *num_threads, struct bench_peer **result, struct accel_error *error)
{
	struct bench_peer *peer = calloc(1, sizeof(*peer));
	bool is_able = false;
	int pair[2], ret;

	*result = NULL;
	if (!peer)
		return accel_error_set(error, -ENOMEM, "peer: out of memory");
	peer->name = kinds[kind].name;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		ret = accel_error_set(error, -errno, "peer: socket: %s", strerror(errno));
		free(peer);
		return ret;
	}
	peer->socket = pair[0];
	ret = spawn(peer, path, setup, *num_threads, pair[1], error);
	if (!ret)
		ret = greet(peer, num_threads, &is_able, error);
	if (ret || !is_able)
		bench_peer_stop(peer);
	else
		*result = peer;
	return ret;
}

void bench_peer_stop(struct bench_peer *peer)
{
	if (!peer)
		return;
	/* the end of its input is the end of it */
	close(peer->socket);
	while (peer->pid > 0 && waitpid(peer->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(peer);
}
