// SPDX-License-Identifier: MIT
/*
 * How large the last cache is. What follows from that for a job is plan.c's to say.
 */
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "arithmetic.h"
#include "cache.h"

/* What most machines have at least, where nobody knows. */
#define LEAST_LIKELY_BYTES	(8ll << 20)
/* What a core mostly has a part in at the most where the CPU tells of all its caches in one sum. */
#define MOST_LIKELY_BYTES	(32ll << 20)

/* Reads how large a cache of the first CPU is; false if there is none. */
static bool read_size(int cache, uint64_t *bytes)
{
	unsigned long long kilobytes = 0;
	char path[80];
	bool is_read;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/size", cache);
	file = fopen(path, "re");
	if (!file)
		return false;
	is_read = fscanf(file, "%lluK", &kilobytes) == 1;
	fclose(file);
	*bytes = kilobytes << 10;
	return is_read;
}

/* What sysconf() knows by the CPU itself: it may add up what several groups of cores have each. */
static uint64_t guess_size(void)
{
	int64_t bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);

	return (uint64_t)(bytes > 0 ? min(bytes, MOST_LIKELY_BYTES) : LEAST_LIKELY_BYTES);
}

/*
 * The largest cache that the first CPU has a part in. In some virtual machines the system knows of
 * none.
 */
static uint64_t ask_for_largest_cache(void)
{
	uint64_t largest = 0, bytes;

	for (int k = 0; read_size(k, &bytes); k++)
		if (bytes > largest)
			largest = bytes;
	return largest ? largest : guess_size();
}

/* Threads that ask at a time get the same answer. */
uint64_t engine_last_level_cache(void)
{
	static uint64_t known;
	uint64_t bytes = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (bytes)
		return bytes;
	bytes = ask_for_largest_cache();
	__atomic_store_n(&known, bytes, __ATOMIC_RELAXED);
	return bytes;
}
