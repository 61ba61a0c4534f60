// SPDX-License-Identifier: MIT
/*
 * What accel bench asks a Tessera's debugfs for: bare round trips and the device's counters. It is
 * there for root alone, and round trips only with a device that has them for tests: what is not
 * there is left out of the report.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

/* Text of a file, as much as fits; false if there is none. */
static bool read_file(const char *folder, const char *name, char *text, size_t size)
{
	char path[PATH_MAX];
	size_t length = 0;
	ssize_t count = 0;
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (length < size - 1 && (count = read(fd, text + length, size - 1 - length)) > 0)
		length += (size_t)count;
	close(fd);
	text[length] = '\0';
	return count >= 0 && length;
}

/* Below accel, or in newer kernels below dri, with the name of the PCI function. */
void bench_debugfs_find(const char *node, char folder[BENCH_DEBUGFS_SIZE])
{
	static const char *const roots[] = { "/sys/kernel/debug/accel", "/sys/kernel/debug/dri" };
	const char *slash = strrchr(node, '/');
	char link[PATH_MAX], function[PATH_MAX];

	for (size_t k = 0; slash && k < sizeof(roots) / sizeof(roots[0]); k++) {
		snprintf(link, sizeof(link), "/sys/class/accel%.64s/device", slash);
		if (!realpath(link, function))
			break;
		snprintf(folder, BENCH_DEBUGFS_SIZE, "%s%.64s", roots[k], strrchr(function, '/'));
		if (!access(folder, X_OK))
			return;
	}
	folder[0] = '\0';
}

bool bench_debugfs_round_trip(const char *folder, double *nanoseconds)
{
	char text[32], *end;

	if (!folder[0] || !read_file(folder, "test_round_trip", text, sizeof(text)))
		return false;
	*nanoseconds = strtod(text, &end);
	return end != text;
}

static uint64_t sum_of(const char *text, const char *name)
{
	uint64_t sum = 0;

	while ((text = strstr(text, name))) {
		text += strlen(name);
		sum += strtoull(text, NULL, 10);
	}
	return sum;
}

bool bench_debugfs_counts(const char *folder, struct bench_counts *counts)
{
	char text[16384];

	if (!folder[0] || !read_file(folder, "queues", text, sizeof(text)))
		return false;
	counts->doorbells = sum_of(text, " doorbells ");
	counts->interrupts = sum_of(text, " interrupts ");
	return true;
}
