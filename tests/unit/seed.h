/* SPDX-License-Identifier: MIT */
/*
 * Random numbers for tests that can be replayed: the seed is printed, and --seed N on the command
 * line sets it.
 */
#ifndef TESTS_UNIT_SEED_H
#define TESTS_UNIT_SEED_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct random {
	uint64_t state;
};

/* The seed from the arguments, or else from the clock; prints it. */
static inline uint64_t seed_from_arguments(int argc, char **argv)
{
	struct timespec now;
	uint64_t seed;
	int k;

	clock_gettime(CLOCK_REALTIME, &now);
	seed = (uint64_t)now.tv_sec * 1000000007u ^ (uint64_t)now.tv_nsec;
	for (k = 1; k + 1 < argc; k++)
		if (!strcmp(argv[k], "--seed"))
			seed = strtoull(argv[k + 1], NULL, 0);
	printf("seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
	return seed;
}

/* splitmix64 (Steele, Lea, Flood) */
static inline uint64_t random_next(struct random *random)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* first <= number <= last */
static inline int64_t random_between(struct random *random, int64_t first, int64_t last)
{
	return first + (int64_t)(random_next(random) % (uint64_t)(last - first + 1));
}

#endif /* TESTS_UNIT_SEED_H */
