/* SPDX-License-Identifier: MIT */
/*
 * What the tests of plans that run share: a job with several parts, and whether it is done.
 */
#ifndef TESTS_UNIT_TRANSPOSITION_TEST_H
#define TESTS_UNIT_TRANSPOSITION_TEST_H

#include <stdbool.h>

#include "engine_test.h"

enum { SIDE = 1024 };

/* A transposition of 4 MiB, which has several parts. */
struct transposition {
	uint32_t *from;
	uint32_t *to;
	struct engine_plan *plan;
};

static inline struct transposition new_transposition(void)
{
	struct transposition t = {
		.from = malloc(SIDE * SIDE * sizeof(uint32_t)),
		.to = calloc(SIDE * SIDE, sizeof(uint32_t)),
	};
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U32);
	struct engine_fault fault;

	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		t.from[i] = i;
	set_buffer(job, 0, t.to, SIDE * SIDE * sizeof(uint32_t));
	set_buffer(job, 1, t.from, SIDE * SIDE * sizeof(uint32_t));
	add_loop(job, SIDE, 4 * SIDE, 4);
	add_loop(job, SIDE, 4, 4 * SIDE);
	assert_int_equal(engine_plan_create(job, &t.plan, &fault), 0);
	/* what a plan needs it has copied */
	memset(job, 0xff, sizeof(*job));
	free(job);
	return t;
}

static inline bool is_transposed(const struct transposition *t)
{
	for (uint32_t i = 0; i < SIDE; i++)
		for (uint32_t j = 0; j < SIDE; j++)
			if (t->to[i * SIDE + j] != j * SIDE + i)
				return false;
	return true;
}

static inline void free_transposition(struct transposition *t)
{
	engine_plan_destroy(t->plan);
	free(t->from);
	free(t->to);
}

#endif /* TESTS_UNIT_TRANSPOSITION_TEST_H */
