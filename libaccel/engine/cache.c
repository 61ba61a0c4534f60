// SPDX-License-Identifier: MIT
/*
 * How large the caches are. What follows from that for a job is plan.c's to say.
 */
#include <stdbool.h>
#include <stdio.h>

#include "cache.h"

/* What most machines have at least, where the system does not know. */
#define LIKELY_FIRST_BYTES	(32ull << 10)
#define LIKELY_LAST_BYTES	(8ull << 20)

struct cache {
	uint64_t bytes;
	unsigned int level;
	char type;			/* Data, Instruction or Unified */
};

/* Reads what a file of a cache of the first CPU says; false if there is none. */
static bool read_file(int cache, const char *name, const char *format, void *value)
{
	char path[80];
	bool is_read;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/%s", cache, name);
	file = fopen(path, "re");
	if (!file)
		return false;
	is_read = fscanf(file, format, value) == 1;
	fclose(file);
	return is_read;
}

static bool read_cache(int k, struct cache *cache)
{
	unsigned long long kilobytes = 0;

	if (!read_file(k, "level", "%u", &cache->level) ||
	    !read_file(k, "type", "%c", &cache->type) ||
	    !read_file(k, "size", "%lluK", &kilobytes))
		return false;
	cache->bytes = kilobytes << 10;
	return true;
}

static uint64_t ask_for_first_cache(void)
{
	struct cache cache;

	for (int k = 0; read_cache(k, &cache); k++)
		if (cache.level == 1 && cache.type != 'I' && cache.bytes)
			return cache.bytes;
	return LIKELY_FIRST_BYTES;
}

/*
 * The largest cache that the first CPU has a part in. sysconf() adds up those of all sockets on
 * some machines.
 */
static uint64_t ask_for_largest_cache(void)
{
	uint64_t largest = 0;
	struct cache cache;

	for (int k = 0; read_cache(k, &cache); k++)
		if (cache.bytes > largest)
			largest = cache.bytes;
	return largest ? largest : LIKELY_LAST_BYTES;
}

/* Asks once; threads that do so at a time get the same answer. */
static uint64_t know(uint64_t *known, uint64_t (*ask)(void))
{
	uint64_t bytes = __atomic_load_n(known, __ATOMIC_RELAXED);

	if (bytes)
		return bytes;
	bytes = ask();
	__atomic_store_n(known, bytes, __ATOMIC_RELAXED);
	return bytes;
}

uint64_t engine_first_level_cache(void)
{
	static uint64_t known;

	return know(&known, ask_for_first_cache);
}

uint64_t engine_last_level_cache(void)
{
	static uint64_t known;

	return know(&known, ask_for_largest_cache);
}
