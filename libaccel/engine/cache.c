// SPDX-License-Identifier: MIT
/*
 * How much of the last cache there is for a core. What follows from that for a job is plan.c's to
 * say.
 */
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "arithmetic.h"
#include "cache.h"

/* What most machines have at least, where nobody knows. */
#define LEAST_LIKELY_BYTES	(8ll << 20)
/*
 * What a core can count on at the most: larger ones are shared by dozens of cores, of which a
 * virtual machine sees its own alone, or are all caches of the CPU in one sum.
 */
#define MOST_LIKELY_BYTES	(32ll << 20)

/* Reads how large a cache of the first CPU is; false if there is none. */
static bool read_size(int cache, int64_t *bytes)
{
	unsigned int kilobytes = 0;
	char path[80];
	bool is_read;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/size", cache);
	file = fopen(path, "re");
	if (!file)
		return false;
	is_read = fscanf(file, "%uK", &kilobytes) == 1;
	fclose(file);
	*bytes = (int64_t)kilobytes << 10;
	return is_read;
}

/*
 * The largest cache that the first CPU has a part in. In some virtual machines the system knows of
 * none, but sysconf() does, by the CPU itself.
 */
static int64_t ask_for_largest_cache(void)
{
	int64_t largest = 0, bytes;

	for (int k = 0; read_size(k, &bytes); k++)
		if (bytes > largest)
			largest = bytes;
	return largest ? largest : sysconf(_SC_LEVEL3_CACHE_SIZE);
}

/* Threads that ask at a time get the same answer. */
uint64_t engine_last_level_cache(void)
{
	static uint64_t known;
	uint64_t bytes = __atomic_load_n(&known, __ATOMIC_RELAXED);
	int64_t largest;

	if (bytes)
		return bytes;
	largest = ask_for_largest_cache();
	bytes = (uint64_t)(largest > 0 ? min(largest, MOST_LIKELY_BYTES) : LEAST_LIKELY_BYTES);
	__atomic_store_n(&known, bytes, __ATOMIC_RELAXED);
	return bytes;
}
