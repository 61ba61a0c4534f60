// SPDX-License-Identifier: MIT
/*
 * Jobs: built piece by piece, checked as a whole by the engine's rules. Runs nothing.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "device/job.h"

/* The public numbers are the uapi's: a job is passed on without being translated. */
#define SAME(ours, theirs) \
	_Static_assert((int)(ours) == (int)(theirs), #ours " is not " #theirs)
#define SAME_DTYPE(x)	SAME(ACCEL_DTYPE_##x, DRM_TESSERA_DTYPE_##x)
#define SAME_OP(x)	SAME(ACCEL_OP_##x, DRM_TESSERA_OP_##x)
#define SAME_PREDICATE(x) SAME(ACCEL_PREDICATE_##x, DRM_TESSERA_PREDICATE_##x)
#define SAME_CAUSE(x)	SAME(ACCEL_CAUSE_##x, DRM_TESSERA_CAUSE_##x)

SAME(ACCEL_MAX_RANK, DRM_TESSERA_MAX_RANK);
SAME(ACCEL_MAX_SOURCES, DRM_TESSERA_MAX_SOURCES);
SAME(ACCEL_MAX_WINDOWS, DRM_TESSERA_MAX_WINDOWS);
SAME(ACCEL_MAX_INSTRUCTIONS, DRM_TESSERA_MAX_INSTRUCTIONS);
SAME(ACCEL_MAX_JOBS, DRM_TESSERA_MAX_JOBS);
SAME(ACCEL_INSTRUCTION_SATURATE, DRM_TESSERA_INSTRUCTION_SATURATE);
SAME(ACCEL_INSTRUCTION_TRUNCATE, DRM_TESSERA_INSTRUCTION_TRUNCATE);
SAME_DTYPE(U8);
SAME_DTYPE(U16);
SAME_DTYPE(U32);
SAME_DTYPE(U64);
SAME_DTYPE(I8);
SAME_DTYPE(I16);
SAME_DTYPE(I32);
SAME_DTYPE(I64);
SAME_DTYPE(F16);
SAME_DTYPE(F32);
SAME_DTYPE(F64);
SAME_DTYPE(BF16);
SAME_DTYPE(RAW8);
SAME_DTYPE(RAW16);
SAME_DTYPE(RAW32);
SAME_DTYPE(RAW64);
SAME_DTYPE(RAW128);
SAME_OP(CONST);
SAME_OP(CAST);
SAME_OP(ADD);
SAME_OP(SUB);
SAME_OP(MUL);
SAME_OP(FMA);
SAME_OP(MIN);
SAME_OP(MAX);
SAME_OP(NEG);
SAME_OP(ABS);
SAME_OP(SELECT);
SAME_OP(COMPARE);
SAME_PREDICATE(EQ);
SAME_PREDICATE(NE);
SAME_PREDICATE(LT);
SAME_PREDICATE(LE);
SAME_PREDICATE(GT);
SAME_PREDICATE(GE);
SAME_CAUSE(NONE);
SAME_CAUSE(DESCRIPTOR);
SAME_CAUSE(BUFFER);
SAME_CAUSE(PERMISSION);
SAME_CAUSE(BOUNDS);
SAME_CAUSE(INDEX_BOUNDS);
SAME_CAUSE(INDEX_LIMIT);
SAME_CAUSE(TRANSLATION);
SAME_CAUSE(CANCELED);
SAME_CAUSE(TIMEOUT);
SAME_CAUSE(MEMORY);

ACCEL_API int accel_job_create(uint32_t rank, const uint64_t *extents, struct accel_job **result,
			       struct accel_error *error)
{
	struct accel_job *job;

	*result = NULL;
	if (rank > ACCEL_MAX_RANK)
		return accel_error_set(error, -EINVAL, "job: %u loops, expected at most %u", rank,
				       ACCEL_MAX_RANK);
	job = calloc(1, sizeof(*job));
	if (!job)
		return accel_error_set(error, -ENOMEM, "job: out of memory");
	atomic_init(&job->refs, 1);
	job->rank = rank;
	job->num_operands = 1;
	if (rank)
		memcpy(job->extents, extents, rank * sizeof(extents[0]));
	*result = job;
	return 0;
}

ACCEL_API struct accel_job *accel_job_ref(struct accel_job *job)
{
	atomic_fetch_add_explicit(&job->refs, 1, memory_order_relaxed);
	return job;
}

ACCEL_API void accel_job_unref(struct accel_job *job)
{
	/* acq_rel: whoever frees sees what all others did to the object before they let go */
	if (!job || atomic_fetch_sub_explicit(&job->refs, 1, memory_order_acq_rel) != 1)
		return;
	for (uint32_t i = 0; i < job->num_operands; i++) {
		accel_buffer_unref(job->buffers[i]);
		accel_buffer_unref(job->index_buffers[i]);
	}
	free(job);
}

/* "the destination", "source 2": what operand i is called in every message */
static const char *operand_name(uint32_t i, char name[24])
{
	if (!i)
		return "the destination";
	snprintf(name, 24, "source %u", i - 1);
	return name;
}

static int check_device(const struct accel_job *job, uint32_t i,
			const struct accel_operand *operand, struct accel_error *error)
{
	const struct accel_device *device = job->device;
	char name[24];

	if (!device)
		device = operand->buffer->device;
	if (operand->buffer->device != device ||
	    (operand->index_buffer && operand->index_buffer->device != device))
		return accel_error_set(error, -EXDEV,
				       "job: %s has a buffer of another device than the others",
				       operand_name(i, name));
	return 0;
}

static void copy_affine(struct drm_tessera_affine *to, const struct accel_affine *from)
{
	to->offset = from->offset;
	for (int d = 0; d < ACCEL_MAX_RANK; d++)
		to->strides[d] = from->strides[d];
}

static void set_operand(struct accel_job *job, uint32_t i, const struct accel_operand *operand)
{
	struct drm_tessera_operand *out = &job->operands[i];
	struct accel_buffer *old_buffer = job->buffers[i];
	struct accel_buffer *old_index_buffer = job->index_buffers[i];

	memset(out, 0, sizeof(*out));
	out->handle = (uint32_t)operand->buffer->key.number;
	out->dtype = operand->dtype;
	out->window_mask = operand->window_mask;
	copy_affine(&out->address, &operand->address);
	memcpy(out->fill, operand->fill, sizeof(out->fill));
	out->index_dtype = operand->index_dtype;
	copy_affine(&out->index_address, &operand->index_address);
	out->index_stride = operand->index_stride;
	out->index_limit = operand->index_limit;
	if (operand->index_buffer) {
		out->flags = DRM_TESSERA_OPERAND_INDIRECT;
		out->index_handle = (uint32_t)operand->index_buffer->key.number;
	}
	job->device = operand->buffer->device;
	job->buffers[i] = accel_buffer_ref(operand->buffer);
	job->index_buffers[i] =
		operand->index_buffer ? accel_buffer_ref(operand->index_buffer) : NULL;
	accel_buffer_unref(old_buffer);
	accel_buffer_unref(old_index_buffer);
}

static int put_operand(struct accel_job *job, uint32_t i, const struct accel_operand *operand,
		       struct accel_error *error)
{
	char name[24];
	int ret;

	if (!operand->buffer)
		return accel_error_set(error, -EINVAL, "job: %s has no buffer",
				       operand_name(i, name));
	ret = check_device(job, i, operand, error);
	if (ret)
		return ret;
	set_operand(job, i, operand);
	return 0;
}

ACCEL_API int accel_job_set_destination(struct accel_job *job,
					const struct accel_operand *destination,
					struct accel_error *error)
{
	return put_operand(job, 0, destination, error);
}

ACCEL_API int accel_job_add_source(struct accel_job *job, const struct accel_operand *source,
				   struct accel_error *error)
{
	int ret;

	if (job->num_operands == DRM_TESSERA_MAX_OPERANDS)
		return accel_error_set(error, -E2BIG, "job: it has %u sources, no more fit",
				       ACCEL_MAX_SOURCES);
	ret = put_operand(job, job->num_operands, source, error);
	if (!ret)
		job->num_operands++;
	return ret;
}

ACCEL_API int accel_job_add_window(struct accel_job *job, const struct accel_window *window,
				   struct accel_error *error)
{
	struct drm_tessera_window *out;

	if (job->num_windows == DRM_TESSERA_MAX_WINDOWS)
		return accel_error_set(error, -E2BIG, "job: it has %u windows, no more fit",
				       ACCEL_MAX_WINDOWS);
	out = &job->windows[job->num_windows++];
	copy_affine(&out->value, &window->value);
	out->limit = window->limit;
	return 0;
}

ACCEL_API int accel_job_add_instruction(struct accel_job *job,
					const struct accel_instruction *instruction,
					struct accel_error *error)
{
	struct drm_tessera_instruction *out;

	if (job->num_instructions == DRM_TESSERA_MAX_INSTRUCTIONS)
		return accel_error_set(error, -E2BIG, "job: it has %u instructions, no more fit",
				       ACCEL_MAX_INSTRUCTIONS);
	out = &job->program[job->num_instructions++];
	out->opcode = instruction->opcode;
	out->dtype = instruction->dtype;
	out->flags = instruction->flags;
	out->predicate = instruction->predicate;
	out->dst = instruction->dst;
	memcpy(out->src, instruction->src, sizeof(out->src));
	out->immediate = instruction->immediate;
	return 0;
}

ACCEL_API uint32_t accel_job_extents(const struct accel_job *job,
				     uint64_t extents[ACCEL_MAX_RANK])
{
	if (extents)
		memcpy(extents, job->extents, sizeof(job->extents));
	return job->rank;
}

static void read_affine(struct accel_affine *to, const struct drm_tessera_affine *from)
{
	to->offset = from->offset;
	for (int d = 0; d < ACCEL_MAX_RANK; d++)
		to->strides[d] = from->strides[d];
}

ACCEL_API int accel_job_operand(const struct accel_job *job, uint32_t index,
				struct accel_operand *operand)
{
	const struct drm_tessera_operand *in;

	if (index >= job->num_operands || !job->buffers[index])
		return -ENOENT;
	in = &job->operands[index];
	memset(operand, 0, sizeof(*operand));
	operand->buffer = job->buffers[index];
	operand->dtype = (enum accel_dtype)in->dtype;
	operand->window_mask = in->window_mask;
	read_affine(&operand->address, &in->address);
	memcpy(operand->fill, in->fill, sizeof(operand->fill));
	operand->index_buffer = job->index_buffers[index];
	operand->index_dtype = in->index_dtype;
	read_affine(&operand->index_address, &in->index_address);
	operand->index_stride = in->index_stride;
	operand->index_limit = in->index_limit;
	return 0;
}

/* The first buffer of the job, in the order of the operands, that is this one. */
static struct engine_buffer *find_placed(struct engine_job *engine_job,
					 const struct accel_job *job, uint32_t count,
					 const struct accel_buffer *buffer)
{
	for (uint32_t i = 0; i < count; i++) {
		if (job->buffers[i] == buffer)
			return &engine_job->operands[i].buffer;
		if (job->index_buffers[i] == buffer)
			return &engine_job->operands[i].index_buffer;
	}
	return NULL;
}

/* A place of its own for each buffer, whatever its size. Nothing there is ever touched. */
static uintptr_t imaginary_place(uint32_t i, bool is_index)
{
	return (uintptr_t)(2 * i + is_index + 1) << (sizeof(uintptr_t) * 8 - 5);
}

static int place_buffer(struct engine_job *engine_job, const struct accel_job *job, uint32_t i,
			bool is_index, bool place_apart, struct accel_error *error)
{
	struct accel_buffer *buffer = is_index ? job->index_buffers[i] : job->buffers[i];
	struct engine_buffer *out = is_index ? &engine_job->operands[i].index_buffer :
					       &engine_job->operands[i].buffer;
	struct engine_buffer *placed;

	out->size = buffer->size;
	out->is_writable = !buffer->is_read_only;
	if (!place_apart)
		return accel_buffer_map(buffer, &out->base, error);
	placed = find_placed(engine_job, job, i, buffer);
	if (!placed && is_index && job->buffers[i] == buffer)
		placed = &engine_job->operands[i].buffer;
	out->base = placed ? placed->base : (void *)imaginary_place(i, is_index);
	return 0;
}

int job_to_engine(const struct accel_job *job, bool place_apart, struct engine_job *engine_job,
		  struct accel_error *error)
{
	int ret;

	if (!job->buffers[0])
		return accel_error_set(error, -EINVAL, "job: it has no destination");
	memset(engine_job, 0, sizeof(*engine_job));
	engine_job->rank = job->rank;
	engine_job->num_operands = job->num_operands;
	engine_job->num_windows = job->num_windows;
	engine_job->num_instructions = job->num_instructions;
	memcpy(engine_job->extents, job->extents, sizeof(engine_job->extents));
	memcpy(engine_job->windows, job->windows, sizeof(engine_job->windows));
	memcpy(engine_job->program, job->program, sizeof(engine_job->program));
	for (uint32_t i = 0; i < job->num_operands; i++) {
		engine_job->operands[i].spec = job->operands[i];
		ret = place_buffer(engine_job, job, i, false, place_apart, error);
		if (!ret && job->index_buffers[i])
			ret = place_buffer(engine_job, job, i, true, place_apart, error);
		if (ret)
			return ret;
	}
	return 0;
}

int job_plan(const struct engine_job *engine_job, size_t number, size_t count,
	     struct engine_plan **result, struct accel_error *error)
{
	struct engine_plan *plan = NULL;
	struct engine_fault fault = { 0 };
	int ret = engine_plan_create(engine_job, &plan, &fault);

	if (!ret)
		ret = engine_job_check_overlap(engine_job, &fault);
	if (ret) {
		engine_plan_destroy(plan);
		if (!count)
			return accel_error_set(error, ret, "job: %s", fault.text);
		return accel_error_set(error, ret, "job %zu of %zu: %s", number, count,
				       fault.text);
	}
	if (result)
		*result = plan;
	else
		engine_plan_destroy(plan);
	return 0;
}

ACCEL_API int accel_job_check(const struct accel_job *job, struct accel_error *error)
{
	struct engine_job engine_job;
	int ret = job_to_engine(job, true, &engine_job, error);

	return ret ? ret : job_plan(&engine_job, 0, 0, NULL, error);
}

ACCEL_API int accel_job_describe(const struct accel_job *job, char *text, size_t size,
				 struct accel_error *error)
{
	struct engine_job engine_job;
	struct engine_plan *plan;
	int ret = job_to_engine(job, true, &engine_job, error);

	if (!ret)
		ret = job_plan(&engine_job, 0, 0, &plan, error);
	if (ret)
		return ret;
	engine_plan_describe(plan, text, size);
	engine_plan_destroy(plan);
	return 0;
}
