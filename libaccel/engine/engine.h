/* SPDX-License-Identifier: MIT */
/*
 * The engine: executes one layout job (uapi/drm/tessera_accel.h) on memory of this process. The
 * CPU backend of libaccel and the QEMU device both run it. It knows nothing of layouts,
 * handles, page tables or devices: each operand is a base address and a size.
 */
#ifndef TESSERA_ENGINE_H
#define TESSERA_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <drm/tessera_accel.h>

/* Memory that an operand's address is relative to. base may be NULL when size is 0. */
struct engine_buffer {
	void *base;
	uint64_t size;		/* bytes */
	bool is_writable;
};

/*
 * An operand with its buffers in place of handles: spec.handle and spec.index_handle are not
 * looked at. index_buffer is looked at for indirect operands only.
 */
struct engine_operand {
	struct drm_tessera_operand spec;
	struct engine_buffer buffer;
	struct engine_buffer index_buffer;
};

/* A job; operands[0] is the destination. The counts are checked, not trusted. */
struct engine_job {
	uint32_t rank;
	uint32_t num_operands;
	uint32_t num_windows;
	uint32_t num_instructions;
	uint64_t extents[DRM_TESSERA_MAX_RANK];
	struct engine_operand operands[DRM_TESSERA_MAX_OPERANDS];
	struct drm_tessera_window windows[DRM_TESSERA_MAX_WINDOWS];
	struct drm_tessera_instruction program[DRM_TESSERA_MAX_INSTRUCTIONS];
};

/* Why a job was refused or stopped. text names the field, what it held and what was expected. */
struct engine_fault {
	enum drm_tessera_cause cause;
	uint32_t operand;
	int64_t offset;		/* as in struct drm_tessera_job_result */
	char text[160];
};

/*
 * How a run is watched, held and stopped from another thread. The words are read and written with
 * relaxed atomics, at least every 64 KiB of data moved. Each pointer may be NULL.
 */
struct engine_control {
	const uint32_t *cancel;	/* not 0: stop soon, with DRM_TESSERA_CAUSE_CANCELED */
	uint64_t *progress;	/* grows while the job advances */
	/*
	 * Asked when cancel is not 0. It may take its time, in which the run touches no memory of
	 * the job's; true: the run goes on.
	 */
	bool (*may_go_on)(void *context);
	void *context;
};

/* A job that has been checked and brought into canonical form. Opaque, owns no user memory. */
struct engine_plan;

/*
 * Checks all of the job, by the rules of uapi/drm/tessera_accel.h, and prepares it.
 * Returns 0 and a plan for engine_plan_destroy(), or -EINVAL (malformed, cause DESCRIPTOR),
 * -EOVERFLOW (cause DESCRIPTOR), -ERANGE (cause BOUNDS, INDEX_BOUNDS), -EACCES (cause PERMISSION)
 * or -ENOMEM (cause MEMORY), with *fault filled in. The job is not referred to afterwards; the
 * buffers are. Does not read or write the buffers. Thread-safe.
 */
int engine_plan_create(const struct engine_job *job, struct engine_plan **plan,
		       struct engine_fault *fault);

/*
 * Runs the plan. Returns 0, -ERANGE (an index: causes BOUNDS and INDEX_LIMIT), -ECANCELED or
 * -ENOMEM; then part of the destination may have been written. Indices are read once each and
 * checked as read: memory that changes meanwhile leads nowhere outside of the buffers.
 * Thread-safe: a plan may run in several threads at once.
 */
int engine_plan_run(const struct engine_plan *plan, const struct engine_control *control,
		    struct engine_fault *fault);

void engine_plan_destroy(struct engine_plan *plan);

/*
 * Says in a line for a person what the plan will run with: kernel, instruction set, blocks. What
 * does not fit text, of size bytes, is cut off.
 */
void engine_plan_describe(const struct engine_plan *plan, char *text, size_t size);

/* Threads that run plans together with whoever calls, made once and asleep while there is none. */
struct engine_pool;

/* num_threads counts the caller. Returns 0 or a negative errno. */
int engine_pool_create(uint32_t num_threads, struct engine_pool **pool);

/* No plan may be running in the pool. In a child of fork() only its memory is given back. */
void engine_pool_destroy(struct engine_pool *pool);

/*
 * engine_plan_run() in several threads: with the same result bit for bit, and the same fault where
 * there is one. The caller runs a small plan alone, and one for which the pool has no thread to
 * spare: because another caller has them, or this is a child of fork(). pool may be NULL.
 */
int engine_plan_run_parallel(const struct engine_plan *plan, struct engine_pool *pool,
			     const struct engine_control *control, struct engine_fault *fault);

/* Whether the plan is large enough for more than one thread. */
bool engine_plan_has_parts(const struct engine_plan *plan);

/*
 * Whether the job, as checked by engine_plan_create(), has a defined result as far as can be
 * decided: its destination overlaps no source other than in place, and its stores do not collide.
 * Operands are taken to share memory where their buffers' addresses say so. Returns 0, or -EINVAL
 * with *fault naming the operand (0: stores collide) when a counterexample is found. Affine
 * operands only; a search of bounded length, so that 0 may also mean that it was not decided.
 */
int engine_job_check_overlap(const struct engine_job *job, struct engine_fault *fault);

/* Bytes of an element of this type, or 0 if there is no such type. */
uint32_t engine_dtype_size(uint32_t dtype);

/* "f32", "raw128", .. or NULL if there is no such type. */
const char *engine_dtype_name(uint32_t dtype);

#endif /* TESSERA_ENGINE_H */
