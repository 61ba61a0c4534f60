/* SPDX-License-Identifier: MIT */
/*
 * The threads that run jobs of the CPU device together with who submits them.
 */
#ifndef DEVICE_THREADS_H
#define DEVICE_THREADS_H

#include <pthread.h>
#include <stdint.h>

#include "engine/engine.h"

struct threads {
	/*
	 * Protects what follows: held for reading by who runs a plan, for writing by who makes the
	 * pool or takes it away.
	 */
	pthread_rwlock_t lock;
	uint32_t count;			/* the one that submits included */
	struct engine_pool *pool;	/* NULL: not made yet, or not to be had */
	bool is_made;			/* or has been tried */
};

/* As many as CPUs that the process may run on. None is made yet. */
void threads_init(struct threads *threads);
void threads_destroy(struct threads *threads);

/* engine_plan_run_parallel(), in as many threads as are wanted. */
int threads_run(struct threads *threads, const struct engine_plan *plan,
		struct engine_fault *fault);

#endif /* DEVICE_THREADS_H */
