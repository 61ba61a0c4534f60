// SPDX-License-Identifier: MIT
/*
 * How large the caches are. What follows from that for a job is plan.c's to say.
 */
#include <stdio.h>

#include "cache.h"

/* What most machines have at least, where the system does not know. */
#define LIKELY_CACHE_BYTES	(8ull << 20)

/*
 * The largest cache that the first CPU has a part in. sysconf() adds up those of all sockets on
 * some machines.
 */
static uint64_t ask_for_largest_cache(void)
{
	uint64_t largest = 0;

	for (int k = 0; k < 8; k++) {
		unsigned long long kilobytes = 0;
		char path[64];
		FILE *file;

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/size", k);
		file = fopen(path, "re");
		if (!file)
			break;
		if (fscanf(file, "%lluK", &kilobytes) == 1 && kilobytes << 10 > largest)
			largest = kilobytes << 10;
		fclose(file);
	}
	return largest ? largest : LIKELY_CACHE_BYTES;
}

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
