// SPDX-License-Identifier: MIT
/*
 * Worker threads, and running a plan in several of them. The parts of a plan are taken in order by
 * the caller and by the workers, so that every part before one that fails is run: the fault that is
 * told is that of the first part that has one, whatever the threads. Each takes several at a time,
 * as what parts that follow each other read lies side by side: guided self-scheduling, as of
 * Polychronopoulos and Kuck, 1987. Workers sleep between plans.
 *
 * A pool serves one caller at a time: another one, and a child of fork(), in which there are no
 * workers, runs its plan alone.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "arithmetic.h"
#include "plan.h"

/* Parts that a thread takes at a time, at most: while it is kept from them, others wait for it. */
#define MOST_TAKEN		16

/* A plan that is being run by the threads of a pool. */
struct task {
	const struct engine_plan *plan;
	const struct engine_control *control;
	/* Relaxed, both: parts do not depend on each other, and who reads failed only ends early */
	uint64_t next;			/* part to take */
	uint64_t failed;		/* the first part that has failed */
	/* Under the pool's lock: of the failed part. */
	int error;
	struct engine_fault fault;
};

struct engine_pool {
	pid_t process;			/* whose threads the workers are */
	uint32_t num_workers;		/* the caller is one more */
	pthread_t *workers;
	struct engine_scratch *scratch;	/* of each worker */
	pthread_mutex_t in_use;		/* held by the caller that the pool serves */
	/* Protects what follows, and the result of the task. */
	pthread_mutex_t lock;
	pthread_cond_t wake;		/* there is a task to join, or the end */
	pthread_cond_t idle;		/* num_busy is 0 */
	struct task *task;		/* NULL: none to join */
	uint64_t num_tasks;		/* so far: a worker joins each one at most once */
	uint32_t num_started;		/* workers, in the order of their scratch */
	uint32_t num_busy;		/* workers in the task */
	bool is_ending;
};

static void fail_part(struct engine_pool *pool, struct task *task, uint64_t part, int error,
		      const struct engine_fault *fault)
{
	pthread_mutex_lock(&pool->lock);
	if (part < task->failed) {
		__atomic_store_n(&task->failed, part, __ATOMIC_RELAXED);
		task->error = error;
		task->fault = *fault;
	}
	pthread_mutex_unlock(&pool->lock);
}

/*
 * Takes half of a thread's share of the parts that are left: fewer and fewer, so that all threads
 * end at about the same time. Returns how many, from the first of them on.
 */
static uint64_t take_parts(const struct engine_pool *pool, struct task *task, uint64_t *first)
{
	const uint64_t count = task->plan->parts.count, num_shares = 2 * (pool->num_workers + 1ull);
	uint64_t num_taken;

	*first = __atomic_load_n(&task->next, __ATOMIC_RELAXED);
	do {
		if (*first == count)
			return 0;
		num_taken = (uint64_t)max(1, min((int64_t)((count - *first) / num_shares),
						 MOST_TAKEN));
	} while (!__atomic_compare_exchange_n(&task->next, first, *first + num_taken, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return num_taken;
}

/* Runs parts in order. Whether none of them, and none before them, has failed. */
static bool run_taken(struct engine_pool *pool, struct task *task, struct engine_run *run,
		      uint64_t first, uint64_t num_parts)
{
	uint64_t num_run;

	for (uint64_t part = first; part < first + num_parts; part += num_run) {
		int error;

		if (part > __atomic_load_n(&task->failed, __ATOMIC_RELAXED))
			return false;
		error = engine_run_parts(run, part, first + num_parts - part, &num_run);
		if (error) {
			fail_part(pool, task, part, error, run->fault);
			return false;
		}
	}
	return true;
}

/* Takes parts until there are none or one before them has failed. */
static void run_parts(struct engine_pool *pool, struct task *task, struct engine_run *run)
{
	struct engine_fault fault = { 0 };
	uint64_t first, num_parts;

	run->plan = task->plan;
	run->control = task->control;
	run->fault = &fault;
	run->is_one_of_many = true;
	do {
		num_parts = take_parts(pool, task, &first);
	} while (num_parts && run_taken(pool, task, run, first, num_parts));
	engine_run_tell(run);
}

/* Sleeps until there is a task that this worker has not seen. NULL: the end. */
static struct task *join_task(struct engine_pool *pool, uint64_t *num_seen)
{
	while (!pool->is_ending && (!pool->task || pool->num_tasks == *num_seen))
		pthread_cond_wait(&pool->wake, &pool->lock);
	if (pool->is_ending)
		return NULL;
	*num_seen = pool->num_tasks;
	pool->num_busy++;
	return pool->task;
}

static void *work(void *argument)
{
	struct engine_pool *pool = argument;
	struct engine_scratch *scratch;
	uint64_t num_seen = 0;
	struct task *task;

	pthread_mutex_lock(&pool->lock);
	scratch = &pool->scratch[pool->num_started++];
	while ((task = join_task(pool, &num_seen))) {
		struct engine_run run = { .scratch = scratch->bytes };

		pthread_mutex_unlock(&pool->lock);
		run_parts(pool, task, &run);
		pthread_mutex_lock(&pool->lock);
		if (!--pool->num_busy)
			pthread_cond_signal(&pool->idle);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* Workers that have not joined by the time the caller is done are not waited for. */
static void run_in_pool(struct engine_pool *pool, struct task *task)
{
	struct engine_run run = { .plan = task->plan };

	pthread_mutex_lock(&pool->lock);
	pool->task = task;
	pool->num_tasks++;
	pthread_cond_broadcast(&pool->wake);
	pthread_mutex_unlock(&pool->lock);

	engine_run_take_scratch(&run);
	run_parts(pool, task, &run);
	engine_run_release_scratch(&run);

	pthread_mutex_lock(&pool->lock);
	pool->task = NULL;
	while (pool->num_busy)
		pthread_cond_wait(&pool->idle, &pool->lock);
	pthread_mutex_unlock(&pool->lock);
}

bool engine_plan_has_parts(const struct engine_plan *plan)
{
	return !plan->is_empty && plan->parts.count > 1;
}

int engine_plan_run_parallel(const struct engine_plan *plan, struct engine_pool *pool,
			     const struct engine_control *control, struct engine_fault *fault)
{
	struct task task = { .plan = plan, .control = control, .failed = UINT64_MAX };
	struct engine_run run = { .plan = plan, .control = control, .fault = fault };
	int error;

	if (!pool || !pool->num_workers || !engine_plan_has_parts(plan) ||
	    pool->process != getpid() || pthread_mutex_trylock(&pool->in_use))
		return engine_plan_run(plan, control, fault);
	error = engine_run_report(&run);
	if (!error) {
		run_in_pool(pool, &task);
		error = task.error;
		if (error && fault)
			*fault = task.fault;
	}
	pthread_mutex_unlock(&pool->in_use);
	return error;
}

static void end_workers(struct engine_pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pool->is_ending = true;
	pthread_cond_broadcast(&pool->wake);
	pthread_mutex_unlock(&pool->lock);
	for (uint32_t i = 0; i < pool->num_workers; i++)
		pthread_join(pool->workers[i], NULL);
}

/* Signals are for the threads of the program, not for these. */
static int start_workers(struct engine_pool *pool, uint32_t num_workers)
{
	sigset_t all, before;
	int error = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (!error && pool->num_workers < num_workers) {
		error = pthread_create(&pool->workers[pool->num_workers], NULL, work, pool);
		if (!error)
			pool->num_workers++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		end_workers(pool);
	return -error;
}

/* In a child of fork() the locks are as they happened to be, and are left so. */
static void free_pool(struct engine_pool *pool)
{
	if (pool->process == getpid()) {
		pthread_cond_destroy(&pool->idle);
		pthread_cond_destroy(&pool->wake);
		pthread_mutex_destroy(&pool->lock);
		pthread_mutex_destroy(&pool->in_use);
	}
	free(pool->scratch);
	free(pool->workers);
	free(pool);
}

int engine_pool_create(uint32_t num_threads, struct engine_pool **result)
{
	const uint32_t num_workers = num_threads ? num_threads - 1 : 0;
	struct engine_pool *pool = calloc(1, sizeof(*pool));
	int error = -ENOMEM;
	size_t bytes;

	if (!pool)
		return -ENOMEM;
	pool->process = getpid();
	pthread_mutex_init(&pool->in_use, NULL);
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->wake, NULL);
	pthread_cond_init(&pool->idle, NULL);
	if (!num_workers)
		goto out;
	if (__builtin_mul_overflow(num_workers, sizeof(pool->scratch[0]), &bytes))
		goto err_free;
	pool->workers = calloc(num_workers, sizeof(pool->workers[0]));
	pool->scratch = aligned_alloc(_Alignof(struct engine_scratch), bytes);
	if (!pool->workers || !pool->scratch)
		goto err_free;
	error = start_workers(pool, num_workers);
	if (error)
		goto err_free;
out:
	*result = pool;
	return 0;

err_free:
	free_pool(pool);
	return error;
}

void engine_pool_destroy(struct engine_pool *pool)
{
	if (!pool)
		return;
	if (pool->process == getpid())
		end_workers(pool);
	free_pool(pool);
}
