// SPDX-License-Identifier: MIT
/*
 * Making a valid job invalid in exactly one thing: a table of what can be broken and of the errno
 * that says so.
 */
#include <errno.h>
#include <inttypes.h>

#include "random.h"
#include "reference.h"

/* Breaks the job, or returns false where it has nothing of the kind. */
typedef bool break_job(struct random *random, struct random_job *job);

static struct drm_tessera_operand *any_operand(struct random *random, struct random_job *job)
{
	return &job->operands[random_below(random, job->num_operands)];
}

static struct drm_tessera_instruction *any_instruction(struct random *random,
						       struct random_job *job)
{
	return job->num_instructions ? &job->program[random_below(random, job->num_instructions)] :
				       NULL;
}

static bool break_rank(struct random *random, struct random_job *job)
{
	(void)random;
	job->rank = DRM_TESSERA_MAX_RANK + 1;
	return true;
}

static bool break_extent_beyond_rank(struct random *random, struct random_job *job)
{
	(void)random;
	if (job->rank == DRM_TESSERA_MAX_RANK)
		return false;
	job->extents[job->rank] = 1;
	return true;
}

static bool break_flags(struct random *random, struct random_job *job)
{
	any_operand(random, job)->flags |= 2u << random_below(random, 31);
	return true;
}

static bool break_dtype(struct random *random, struct random_job *job)
{
	any_operand(random, job)->dtype = 0x34;
	return true;
}

static bool break_window_mask(struct random *random, struct random_job *job)
{
	if (job->num_windows == DRM_TESSERA_MAX_WINDOWS)
		return false;
	any_operand(random, job)->window_mask |= 1u << job->num_windows;
	return true;
}

static bool break_stride_beyond_rank(struct random *random, struct random_job *job)
{
	if (job->rank == DRM_TESSERA_MAX_RANK)
		return false;
	any_operand(random, job)->address.strides[job->rank] = -1;
	return true;
}

static bool break_fill(struct random *random, struct random_job *job)
{
	(void)random;
	job->operands[0].fill[1] = 1;
	return true;
}

static bool break_index_field(struct random *random, struct random_job *job)
{
	struct drm_tessera_operand *operand = any_operand(random, job);

	if (operand->flags)
		operand->index_dtype = DRM_TESSERA_DTYPE_F32;
	else
		operand->index_stride = 1;
	return true;
}

static bool break_window_limit(struct random *random, struct random_job *job)
{
	if (!job->num_windows)
		return false;
	job->windows[random_below(random, job->num_windows)].limit = 1ull << 63;
	return true;
}

static bool break_opcode(struct random *random, struct random_job *job)
{
	struct drm_tessera_instruction *instruction = any_instruction(random, job);

	if (!instruction)
		return false;
	instruction->opcode = random_chance(random, 50) ? 0 : DRM_TESSERA_OP_COMPARE + 1;
	return true;
}

static bool break_register(struct random *random, struct random_job *job)
{
	struct drm_tessera_instruction *instruction = any_instruction(random, job);

	if (!instruction)
		return false;
	instruction->dst = DRM_TESSERA_NUM_REGISTERS;
	return true;
}

static bool break_instruction_flags(struct random *random, struct random_job *job)
{
	struct drm_tessera_instruction *instruction = any_instruction(random, job);

	if (!instruction)
		return false;
	instruction->flags |= 4;
	return true;
}

static bool break_predicate(struct random *random, struct random_job *job)
{
	struct drm_tessera_instruction *instruction = any_instruction(random, job);

	if (!instruction)
		return false;
	instruction->predicate = instruction->opcode == DRM_TESSERA_OP_COMPARE ? 0 : 1;
	return true;
}

/* What follows needs a job with points. */
static bool has_points(const struct random_job *job)
{
	for (uint32_t d = 0; d < job->rank; d++)
		if (!job->extents[d])
			return false;
	return true;
}

static bool break_offset_sum(struct random *random, struct random_job *job)
{
	if (!has_points(job))
		return false;
	any_operand(random, job)->address.offset = INT64_MIN;
	return true;
}

static bool break_stride_sum(struct random *random, struct random_job *job)
{
	uint32_t d = job->rank ? (uint32_t)random_below(random, job->rank) : 0;

	if (!has_points(job) || job->rank == 0 || job->extents[d] < 3)
		return false;
	any_operand(random, job)->address.strides[d] = INT64_MAX;
	return true;
}

static bool break_window_sum(struct random *random, struct random_job *job)
{
	if (!has_points(job) || !job->num_windows)
		return false;
	job->windows[random_below(random, job->num_windows)].value.offset = INT64_MIN;
	return true;
}

/* The bytes of an affine address, moved just out of the buffer. */
static bool break_bounds(struct random *random, struct random_job *job)
{
	uint32_t k = (uint32_t)random_below(random, job->num_operands);
	struct drm_tessera_operand *operand = &job->operands[k];
	bool of_index = operand->flags & DRM_TESSERA_OPERAND_INDIRECT;
	struct drm_tessera_affine *address = of_index ? &operand->index_address : &operand->address;
	uint32_t handle = of_index ? operand->index_handle : operand->handle;
	void *const none[RANDOM_JOB_MAX_BUFFERS] = { NULL };
	struct reference_bounds bounds;
	struct engine_job engine_job;

	random_job_bind(job, none, &engine_job);
	bounds = reference_bounds_by_rule(&engine_job, k, of_index);
	if (bounds.lowest > bounds.highest)
		return false;
	if (random_chance(random, 50))
		address->offset -= (int64_t)bounds.lowest + 1;
	else
		address->offset += (int64_t)(job->buffers[handle - 1].size - bounds.highest);
	return true;
}

struct way {
	const char *name;
	break_job *break_it;
	int error;
};

static const struct way ways[] = {
	{ "rank", break_rank, EINVAL },
	{ "extent beyond the rank", break_extent_beyond_rank, EINVAL },
	{ "flags of an operand", break_flags, EINVAL },
	{ "dtype", break_dtype, EINVAL },
	{ "window_mask", break_window_mask, EINVAL },
	{ "stride beyond the rank", break_stride_beyond_rank, EINVAL },
	{ "fill of the destination", break_fill, EINVAL },
	{ "index field", break_index_field, EINVAL },
	{ "limit of a window", break_window_limit, EINVAL },
	{ "opcode", break_opcode, EINVAL },
	{ "register", break_register, EINVAL },
	{ "flags of an instruction", break_instruction_flags, EINVAL },
	{ "predicate", break_predicate, EINVAL },
	{ "sum with an offset", break_offset_sum, EOVERFLOW },
	{ "sum with a stride", break_stride_sum, EOVERFLOW },
	{ "sum of a window", break_window_sum, EOVERFLOW },
	{ "bounds", break_bounds, ERANGE },
	{ "bounds", break_bounds, ERANGE },
	{ "bounds", break_bounds, ERANGE },
};

bool random_break(struct random *random, struct random_job *job)
{
	const struct way *way = &ways[random_below(random, sizeof(ways) / sizeof(ways[0]))];

	if (!way->break_it(random, job))
		return false;
	job->outcome = RANDOM_JOB_REFUSED;
	job->error = way->error;
	snprintf(job->description, sizeof(job->description), "broken: %s", way->name);
	return true;
}
