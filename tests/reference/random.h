/* SPDX-License-Identifier: MIT */
/*
 * What the files that make random jobs share: random numbers, and the job in the making.
 */
#ifndef TESSERA_RANDOM_H
#define TESSERA_RANDOM_H

#include "random_job.h"

/* A stream of random numbers (splitmix64; S. Vigna): the same on every machine. */
struct random {
	uint64_t state;
};

static inline uint64_t random_bits(struct random *random)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* From 0 to count - 1. */
static inline uint64_t random_below(struct random *random, uint64_t count)
{
	return random_bits(random) % count;
}

static inline int64_t random_between(struct random *random, int64_t lowest, int64_t highest)
{
	return lowest + (int64_t)random_below(random, (uint64_t)(highest - lowest) + 1);
}

static inline bool random_chance(struct random *random, unsigned int percent)
{
	return random_below(random, 100) < percent;
}

/* The bytes of an element, by the encoding's rule. */
static inline uint32_t random_dtype_size(uint32_t dtype)
{
	return 1u << (dtype & DRM_TESSERA_DTYPE_SHIFT_MASK);
}

static inline bool random_dtype_is_integer(uint32_t dtype)
{
	return (dtype & DRM_TESSERA_DTYPE_CLASS_MASK) <= DRM_TESSERA_DTYPE_CLASS_SIGNED;
}

uint32_t random_computing_dtype(struct random *random);
uint32_t random_any_dtype(struct random *random);
uint32_t random_integer_dtype(struct random *random);

/* Bits of an element that are more interesting than any others: zeros, ones, extremes, NaNs. */
uint64_t random_element(struct random *random, uint32_t dtype);

/*
 * Gives the job, which has its operands' dtypes, a program that is well formed, of so many
 * instructions at most.
 */
void random_program(struct random *random, struct random_job *job, uint32_t most);

/*
 * Gives the job, which has its operands' dtypes: rank and extents, windows, addresses and
 * the buffers they need, with indices in them. Returns false if that came out too large.
 */
bool random_layout(struct random *random, struct random_job *job,
		   const struct random_job_options *options);

/*
 * Makes a valid job invalid in one thing, sets its outcome and returns true; or leaves it as it is.
 */
bool random_break(struct random *random, struct random_job *job);

#endif /* TESSERA_RANDOM_H */
