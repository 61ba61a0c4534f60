/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One job: its descriptor is read once, decoded, its buffers are looked up, and the engine checks
 * and runs it. What a well-formed job is, and what of its addresses, the engine decides
 * (engine_plan_create()); here is decided only what the engine cannot see.
 *
 * A buffer that cannot be had as flat memory (tessera-view.c) is worked on in a copy: staging.
 * Only bytes that the job stores may be written back, because those beside them may belong to the
 * guest's processors. Which these are is found by running the job twice, into memory that is all
 * zeros and into memory that is all ones: a byte that was not stored differs.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/host-utils.h"
#include "tessera.h"
#include "trace.h"

/* Bytes copied between two looks at cancel */
#define TESSERA_COPY_CHUNK	(1u << 20)

/* Sum of the staging of all jobs at a time: at least this, and as much as the guest has RAM */
#define TESSERA_MIN_STAGING	(256u << 20)

/*
 * What a small job is: elements that it loads, computes and stores, windows that it looks at, which
 * weigh for what they may cost to count, and bytes from the first to the last of its destination,
 * which are marked dirty. It takes microseconds, in which nothing else of the machine waits long.
 */
#define TESSERA_SMALL_STEPS	16384
#define TESSERA_WINDOW_STEPS	16
#define TESSERA_SMALL_RANGE	(128u << 10)

/* A view that a job uses, for what, and which bytes of it the job can reach at most */
struct tessera_access {
	TesseraView *view;
	uint64_t low;
	uint64_t high;
	uint8_t *staging;		/* as large as the view, or NULL */
};

struct tessera_run {
	TesseraQueue *queue;
	struct engine_job job;
	struct tessera_access operands[DRM_TESSERA_MAX_OPERANDS];
	struct tessera_access indices[DRM_TESSERA_MAX_OPERANDS];
	uint8_t *second;		/* the destination's other staging */
	uint64_t staging_bytes;		/* taken from the device's */
	TesseraView *views[2 * DRM_TESSERA_MAX_OPERANDS];	/* of operands, then of indices */
	bool is_inside;			/* of the views: they may be touched */
	bool is_cut;			/* it has been told not to go on */
	struct engine_fault revoked;	/* why it cannot be any more */
};

void tessera_fault_set(struct engine_fault *fault, enum drm_tessera_cause cause, uint32_t operand,
		       int64_t offset, const char *format, ...)
{
	va_list arguments;

	fault->cause = cause;
	fault->operand = operand;
	fault->offset = offset;
	va_start(arguments, format);
	vsnprintf(fault->text, sizeof(fault->text), format, arguments);
	va_end(arguments);
}

/* Descriptor */

static void tessera_decode_affine(const struct tessera_hw_affine *from,
				  struct drm_tessera_affine *to)
{
	unsigned i;

	to->offset = le64_to_cpu(from->offset);
	for (i = 0; i < DRM_TESSERA_MAX_RANK; i++)
		to->strides[i] = le64_to_cpu(from->strides[i]);
}

static void tessera_decode_operand(const struct tessera_hw_operand *from,
				   struct drm_tessera_operand *to)
{
	to->handle = le32_to_cpu(from->buffer);
	to->flags = le32_to_cpu(from->flags);
	to->dtype = le32_to_cpu(from->dtype);
	to->window_mask = le32_to_cpu(from->window_mask);
	to->index_handle = le32_to_cpu(from->index_buffer);
	to->index_dtype = le32_to_cpu(from->index_dtype);
	tessera_decode_affine(&from->address, &to->address);
	to->fill[0] = le64_to_cpu(from->fill[0]);
	to->fill[1] = le64_to_cpu(from->fill[1]);
	tessera_decode_affine(&from->index_address, &to->index_address);
	to->index_stride = le64_to_cpu(from->index_stride);
	to->index_limit = le64_to_cpu(from->index_limit);
}

static void tessera_decode_instruction(const struct tessera_hw_instruction *from,
				       struct drm_tessera_instruction *to)
{
	to->opcode = from->opcode;
	to->dtype = from->dtype;
	to->flags = from->flags;
	to->predicate = from->predicate;
	to->dst = from->dst;
	memcpy(to->src, from->src, sizeof(to->src));
	to->immediate = le64_to_cpu(from->immediate);
}

/* The counts were checked. */
static void tessera_decode_body(const uint8_t *body, struct engine_job *job)
{
	const struct tessera_hw_operand *operands = (const void *)body;
	const struct tessera_hw_window *windows = (const void *)(operands + job->num_operands);
	const struct tessera_hw_instruction *program = (const void *)(windows + job->num_windows);
	unsigned i;

	for (i = 0; i < job->num_operands; i++)
		tessera_decode_operand(&operands[i], &job->operands[i].spec);
	for (i = 0; i < job->num_windows; i++) {
		tessera_decode_affine(&windows[i].value, &job->windows[i].value);
		job->windows[i].limit = le64_to_cpu(windows[i].limit);
	}
	for (i = 0; i < job->num_instructions; i++)
		tessera_decode_instruction(&program[i], &job->program[i]);
}

/* Counts in the head, and whether the size is what they ask for. */
static bool tessera_decode_head(const struct tessera_hw_job *head, uint32_t size,
				struct engine_job *job, struct engine_fault *fault)
{
	const struct {
		const char *name;
		uint32_t value;
		uint32_t max;
	} counts[] = {
		{ "rank", job->rank = le32_to_cpu(head->rank), DRM_TESSERA_MAX_RANK },
		{ "num_operands", job->num_operands = le32_to_cpu(head->num_operands),
		  DRM_TESSERA_MAX_OPERANDS },
		{ "num_windows", job->num_windows = le32_to_cpu(head->num_windows),
		  DRM_TESSERA_MAX_WINDOWS },
		{ "num_instructions", job->num_instructions = le32_to_cpu(head->num_instructions),
		  DRM_TESSERA_MAX_INSTRUCTIONS },
	};
	uint32_t expected;
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		if (counts[i].value <= counts[i].max)
			continue;
		tessera_fault_set(fault, DRM_TESSERA_CAUSE_DESCRIPTOR, 0, 0, "%s is %" PRIu32
				  ", at most %" PRIu32 " is possible", counts[i].name,
				  counts[i].value, counts[i].max);
		return false;
	}
	if (!job->num_operands) {
		tessera_fault_set(fault, DRM_TESSERA_CAUSE_DESCRIPTOR, 0, 0,
				  "num_operands is 0, there must be a destination");
		return false;
	}
	for (i = 0; i < DRM_TESSERA_MAX_RANK; i++)
		job->extents[i] = le64_to_cpu(head->extents[i]);
	expected = sizeof(*head) + job->num_operands * sizeof(struct tessera_hw_operand) +
		   job->num_windows * sizeof(struct tessera_hw_window) +
		   job->num_instructions * sizeof(struct tessera_hw_instruction);
	if (size != expected) {
		tessera_fault_set(fault, DRM_TESSERA_CAUSE_DESCRIPTOR, 0, 0, "descriptor_size is %"
				  PRIu32 ", its counts ask for %" PRIu32, size, expected);
		return false;
	}
	return true;
}

/* NULL when the entry may be followed. */
static const char *tessera_ring_entry_error(const struct tessera_hw_ring_entry *entry)
{
	uint32_t size = le32_to_cpu(entry->descriptor_size);
	unsigned i;

	if (le32_to_cpu(entry->flags) & ~TESSERA_RING_INTERRUPT)
		return "unknown flags in the ring entry";
	for (i = 0; i < ARRAY_SIZE(entry->reserved); i++)
		if (entry->reserved[i])
			return "a reserved member of the ring entry is not zero";
	if (le64_to_cpu(entry->descriptor) & 7)
		return "the descriptor is not aligned to 8 bytes";
	if (le64_to_cpu(entry->counters) & 7)
		return "the place for counters is not aligned to 8 bytes";
	if (size < sizeof(struct tessera_hw_job) || size > TESSERA_MAX_DESCRIPTOR_SIZE)
		return "descriptor_size is not that of a descriptor";
	return NULL;
}

static bool tessera_read_descriptor(TesseraState *s, const struct tessera_hw_ring_entry *entry,
				    struct engine_job *job, struct engine_fault *fault)
{
	uint32_t size = le32_to_cpu(entry->descriptor_size);
	union {
		struct tessera_hw_job head;
		uint8_t bytes[TESSERA_MAX_DESCRIPTOR_SIZE];
	} descriptor;
	const char *error = tessera_ring_entry_error(entry);

	if (!error && !tessera_dma_read(s, le64_to_cpu(entry->descriptor), &descriptor, size))
		error = "the descriptor is not in RAM";
	if (error) {
		tessera_fault_set(fault, DRM_TESSERA_CAUSE_DESCRIPTOR, 0, 0, "%s", error);
		return false;
	}
	if (!tessera_decode_head(&descriptor.head, size, job, fault))
		return false;
	tessera_decode_body(descriptor.bytes + sizeof(descriptor.head), job);
	return true;
}

/* Buffers */

/*
 * The bytes from the lowest to the highest that an address can name, within size. Windows are not
 * looked at: it may be more than the job reaches. Sums that overflow are the engine's to refuse.
 */
static void tessera_access_set_range(struct tessera_access *access, const struct engine_job *job,
				     const struct drm_tessera_affine *address,
				     uint32_t element_size)
{
	int64_t low = address->offset, high = address->offset, size, term;
	unsigned i;

	size = tessera_view_size(access->view);
	for (i = 0; i < job->rank; i++) {
		if (!job->extents[i])
			return;
		if (job->extents[i] - 1 > INT64_MAX ||
		    smul64_overflow(address->strides[i], job->extents[i] - 1, &term) ||
		    sadd64_overflow(term < 0 ? low : high, term, term < 0 ? &low : &high))
			goto all;
	}
	if (sadd64_overflow(high, element_size, &high))
		goto all;
	access->low = MIN(MAX(low, 0), size);
	access->high = MAX(MIN(high, size), (int64_t)access->low);
	return;
all:
	access->low = 0;
	access->high = size;
}

static struct tessera_bytes tessera_access_bytes(const struct tessera_access *access)
{
	return (struct tessera_bytes) { access->view, access->low, access->high };
}

/* Views that are there, and flat. False: not all of them are. */
static bool tessera_find_views(struct tessera_run *run)
{
	TesseraState *s = run->queue->device;
	unsigned i;

	for (i = 0; i < run->job.num_operands; i++) {
		const struct drm_tessera_operand *spec = &run->job.operands[i].spec;

		run->operands[i].view = tessera_view_get_ready(s, spec->handle);
		if (!run->operands[i].view)
			return false;
		if (!(spec->flags & DRM_TESSERA_OPERAND_INDIRECT))
			continue;
		run->indices[i].view = tessera_view_get_ready(s, spec->index_handle);
		if (!run->indices[i].view)
			return false;
	}
	return true;
}

static bool tessera_job_has_few_steps(const struct engine_job *job)
{
	uint64_t steps = job->num_operands + TESSERA_WINDOW_STEPS * job->num_windows +
			 job->num_instructions;
	unsigned i;

	for (i = 0; i < MIN(job->rank, DRM_TESSERA_MAX_RANK); i++) {
		if (job->extents[i] > TESSERA_SMALL_STEPS)
			return false;
		steps *= job->extents[i];
		if (steps > TESSERA_SMALL_STEPS)
			return false;
	}
	return true;
}

static bool tessera_look_up(struct tessera_run *run, uint32_t operand, struct engine_fault *fault)
{
	struct engine_operand *to = &run->job.operands[operand];
	const struct drm_tessera_operand *spec = &to->spec;
	struct tessera_access *access = &run->operands[operand];
	struct tessera_access *index = &run->indices[operand];
	bool is_indirect = spec->flags & DRM_TESSERA_OPERAND_INDIRECT;

	if ((!access->view &&
	     tessera_view_get(run->queue, spec->handle, &access->view, fault)) ||
	    (is_indirect && !index->view &&
	     tessera_view_get(run->queue, spec->index_handle, &index->view, fault))) {
		fault->operand = operand;
		return false;
	}
	to->buffer.base = tessera_view_flat(access->view);
	to->buffer.size = tessera_view_size(access->view);
	to->buffer.is_writable = tessera_view_is_writable(access->view);
	run->views[operand] = access->view;
	if (!is_indirect) {
		tessera_access_set_range(access, &run->job, &spec->address,
					 engine_dtype_size(spec->dtype));
		return true;
	}
	run->views[DRM_TESSERA_MAX_OPERANDS + operand] = index->view;
	access->high = to->buffer.size;
	to->index_buffer.base = tessera_view_flat(index->view);
	to->index_buffer.size = tessera_view_size(index->view);
	tessera_access_set_range(index, &run->job, &spec->index_address,
				 engine_dtype_size(spec->index_dtype));
	return true;
}

/* Behind an IOMMU: memory that a job uses may be taken back while it runs. */

static bool tessera_run_enter(struct tessera_run *run)
{
	int place;

	if (!run->queue->device->has_iommu || run->is_inside)
		return true;
	run->revoked.cause = DRM_TESSERA_CAUSE_NONE;
	place = tessera_views_enter(run->queue, run->views, ARRAY_SIZE(run->views), &run->revoked);
	run->revoked.operand = MAX(place, 0) % DRM_TESSERA_MAX_OPERANDS;
	run->is_inside = place < 0;
	return run->is_inside;
}

/* The IOMMU has taken back what the job uses. */
static bool tessera_run_is_revoked(const struct tessera_run *run)
{
	return run->revoked.cause && run->revoked.cause != DRM_TESSERA_CAUSE_CANCELED;
}

static void tessera_run_leave(struct tessera_run *run)
{
	if (run->is_inside)
		tessera_views_leave(run->queue, run->views, ARRAY_SIZE(run->views));
	run->is_inside = false;
}

/*
 * A job is a function of its sources: run again, it stores the same. Unless it has stored to them.
 */
static bool tessera_run_is_repeatable(const struct tessera_run *run)
{
	struct tessera_bytes destination = tessera_access_bytes(&run->operands[0]);
	struct tessera_bytes range;
	unsigned i;

	for (i = 0; i < run->job.num_operands; i++) {
		range = tessera_access_bytes(&run->operands[i]);
		if (i && tessera_bytes_overlap(&destination, &range))
			return false;
		range = tessera_access_bytes(&run->indices[i]);
		if (range.view && tessera_bytes_overlap(&destination, &range))
			return false;
	}
	return true;
}

/* What may_go_on() says, but for remembering it */
static bool tessera_run_goes_on(struct tessera_run *run)
{
	TesseraQueue *q = run->queue;

	while (!tessera_queue_is_stopped(q) && !tessera_run_is_revoked(run)) {
		if (tessera_queue_is_canceled(q)) {
			if (tessera_run_is_repeatable(run))
				return false;
			tessera_queue_refuse_repeat(q);
		}
		/* A job that is to pause has left its views when others see it, and looks anew */
		if (qatomic_read(&q->cancel) & TESSERA_CANCEL_PAUSE)
			tessera_run_leave(run);
		if (tessera_run_enter(run))
			return true;
	}
	return false;
}

/* Asked often, and no more once it is false */
static bool tessera_run_may_go_on(void *opaque)
{
	struct tessera_run *run = opaque;

	run->is_cut = run->is_cut || !tessera_run_goes_on(run);
	return !run->is_cut;
}

/* Staging */

static bool tessera_access_is_staged(const struct tessera_access *access)
{
	return access->view && !tessera_view_is_flat(access->view);
}

/* False: the job works in place. bytes: the memory that it takes */
static bool tessera_staging_needed(const struct tessera_run *run, uint64_t *bytes)
{
	bool is_needed = false;
	unsigned i;

	*bytes = 0;
	for (i = 0; i < run->job.num_operands; i++) {
		if (tessera_access_is_staged(&run->operands[i])) {
			*bytes += (i ? 1 : 2) * (run->operands[i].high - run->operands[i].low);
			is_needed = true;
		}
		if (tessera_access_is_staged(&run->indices[i])) {
			*bytes += run->indices[i].high - run->indices[i].low;
			is_needed = true;
		}
	}
	return is_needed;
}

/* Takes all that the job needs at once, so that no two jobs wait for each other. */
static bool tessera_staging_reserve(struct tessera_run *run, uint64_t bytes,
				    struct engine_fault *fault)
{
	TesseraState *s = run->queue->device;
	uint64_t limit = MAX(s->ram_size, TESSERA_MIN_STAGING);
	bool is_canceled;

	if (bytes > limit) {
		tessera_fault_set(fault, DRM_TESSERA_CAUSE_MEMORY, 0, 0, "%" PRIu64
				  " bytes of scattered memory are too much for one job", bytes);
		return false;
	}
	qemu_mutex_lock(&s->lock);
	while (!(is_canceled = tessera_queue_is_canceled(run->queue)) &&
	       bytes > limit - s->staging_bytes)
		qemu_cond_wait(&s->change, &s->lock);
	if (!is_canceled) {
		run->staging_bytes = bytes;
		s->staging_bytes += bytes;
	}
	qemu_mutex_unlock(&s->lock);
	if (is_canceled)
		tessera_fault_set(fault, DRM_TESSERA_CAUSE_CANCELED, 0, 0,
				  "stopped while others used the memory for copies");
	return !is_canceled;
}

/*
 * Address space as large as the view, so that offsets stay what they are; memory is taken only
 * where it is touched, which is low to high.
 */
static uint8_t *tessera_staging_map(const TesseraView *view, struct engine_fault *fault)
{
	void *base = mmap(NULL, tessera_view_size(view), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (base != MAP_FAILED)
		return base;
	tessera_fault_set(fault, DRM_TESSERA_CAUSE_MEMORY, 0, 0, "no address space for a copy of %"
			  PRIu64 " bytes", tessera_view_size(view));
	return NULL;
}

/* With the lock held. The room that it takes is free again once it is unmapped. */
static void tessera_staging_discard(struct tessera_run *run, const struct tessera_access *access,
				    uint8_t *staging)
{
	if (!staging)
		return;
	run->staging_bytes -= access->high - access->low;
	tessera_mapping_discard(run->queue->device, staging, tessera_view_size(access->view),
				access->high - access->low);
}

static void tessera_staging_release(struct tessera_run *run)
{
	TesseraState *s = run->queue->device;
	unsigned i;

	if (!run->staging_bytes)
		return;
	qemu_mutex_lock(&s->lock);
	tessera_staging_discard(run, &run->operands[0], run->second);
	for (i = 0; i < run->job.num_operands; i++) {
		tessera_staging_discard(run, &run->operands[i], run->operands[i].staging);
		tessera_staging_discard(run, &run->indices[i], run->indices[i].staging);
	}
	/* What was reserved and never mapped */
	s->staging_bytes -= run->staging_bytes;
	qemu_cond_broadcast(&s->change);
	qemu_mutex_unlock(&s->lock);
}

/* Copies between a view and its staging, each a visitor of the view's pieces */
struct tessera_copy {
	struct tessera_run *run;
	uint8_t *staging;
	uint8_t *second;
};

typedef void tessera_copy_part(const struct tessera_copy *copy, uint8_t *host, uint64_t offset,
			       uint64_t size);

/* In parts, so that a copy is stopped as soon as a job. False: it was. */
static bool tessera_copy_parts(const struct tessera_copy *copy, tessera_copy_part *copy_part,
			       uint8_t *host, uint64_t offset, uint64_t size)
{
	TesseraQueue *q = copy->run->queue;
	uint64_t part;

	for (; size; host += part, offset += part, size -= part) {
		if (!tessera_run_may_go_on(copy->run))
			return false;
		part = MIN(size, TESSERA_COPY_CHUNK);
		copy_part(copy, host, offset, part);
		qatomic_set(&q->progress, q->progress + part);
	}
	return true;
}

static void tessera_copy_part_in(const struct tessera_copy *copy, uint8_t *host, uint64_t offset,
				 uint64_t size)
{
	memcpy(copy->staging + offset, host, size);
}

static bool tessera_copy_in(uint8_t *host, uint64_t offset, uint64_t size, void *opaque)
{
	return tessera_copy_parts(opaque, tessera_copy_part_in, host, offset, size);
}

static void tessera_copy_part_ones(const struct tessera_copy *copy, uint8_t *host, uint64_t offset,
				   uint64_t size)
{
	memset(copy->second + offset, 0xff, size);
}

static bool tessera_copy_ones(uint8_t *host, uint64_t offset, uint64_t size, void *opaque)
{
	return tessera_copy_parts(opaque, tessera_copy_part_ones, host, offset, size);
}

/* Runs of stored bytes, as long as they are: what is not stored is never written, not even back. */
static void tessera_copy_part_out(const struct tessera_copy *copy, uint8_t *host, uint64_t offset,
				  uint64_t size)
{
	const uint8_t *first = copy->staging + offset, *second = copy->second + offset;
	struct tessera_run *run = copy->run;
	uint64_t start, end;

	for (start = 0; start < size; start = end + 1) {
		for (end = start; end < size && first[end] == second[end]; end++)
			;
		memcpy(host + start, first + start, end - start);
	}
	tessera_view_mark_dirty(run->queue->device, run->operands[0].view, offset, offset + size);
}

static bool tessera_copy_out(uint8_t *host, uint64_t offset, uint64_t size, void *opaque)
{
	return tessera_copy_parts(opaque, tessera_copy_part_out, host, offset, size);
}

static bool tessera_stage_source(struct tessera_run *run, struct tessera_access *access,
				 struct engine_buffer *buffer, struct engine_fault *fault)
{
	struct tessera_copy copy = { .run = run };

	if (!tessera_access_is_staged(access))
		return true;
	access->staging = tessera_staging_map(access->view, fault);
	if (!access->staging)
		return false;
	copy.staging = access->staging;
	tessera_view_for_each(access->view, access->low, access->high, tessera_copy_in, &copy);
	buffer->base = access->staging;
	return true;
}

/* Others are waited for here, which must not be done inside the views. */
static bool tessera_stage_prepare(struct tessera_run *run, struct engine_fault *fault)
{
	uint64_t bytes;

	if (!tessera_staging_needed(run, &bytes))
		return true;
	if (!tessera_staging_reserve(run, bytes, fault))
		return false;
	trace_tessera_job_staged(run->queue->index, bytes);
	return true;
}

static bool tessera_stage(struct tessera_run *run, struct engine_fault *fault)
{
	struct tessera_access *destination = &run->operands[0];
	struct engine_operand *operands = run->job.operands;
	unsigned i;

	for (i = 0; i < run->job.num_operands; i++) {
		if (i && !tessera_stage_source(run, &run->operands[i], &operands[i].buffer, fault))
			return false;
		if (!tessera_stage_source(run, &run->indices[i], &operands[i].index_buffer, fault))
			return false;
	}
	if (!tessera_access_is_staged(destination))
		return !run->is_cut;
	destination->staging = tessera_staging_map(destination->view, fault);
	run->second = tessera_staging_map(destination->view, fault);
	return destination->staging && run->second && !run->is_cut;
}

/* Running */

static bool tessera_run_into(struct tessera_run *run, void *destination,
			     struct engine_fault *fault)
{
	struct engine_control control = {
		.cancel = &run->queue->cancel,
		.progress = &run->queue->progress,
		.may_go_on = tessera_run_may_go_on,
		.context = run,
	};
	struct engine_plan *plan;
	int ret;

	run->job.operands[0].buffer.base = destination;
	ret = engine_plan_create(&run->job, &plan, fault);
	if (ret)
		return false;
	ret = engine_plan_run(plan, &control, fault);
	engine_plan_destroy(plan);
	return !ret;
}

static void tessera_run_staged(struct tessera_run *run, struct engine_fault *fault)
{
	struct tessera_access *destination = &run->operands[0];
	struct tessera_copy copy = {
		.run = run,
		.staging = destination->staging,
		.second = run->second,
	};

	tessera_view_for_each(destination->view, destination->low, destination->high,
			      tessera_copy_ones, &copy);
	if (run->is_cut || !tessera_run_into(run, destination->staging, fault) ||
	    !tessera_run_into(run, run->second, fault))
		return;
	tessera_view_for_each(destination->view, destination->low, destination->high,
			      tessera_copy_out, &copy);
}

static void tessera_run_execute(struct tessera_run *run, struct engine_fault *fault)
{
	struct tessera_access *destination = &run->operands[0];

	if (!tessera_stage_prepare(run, fault))
		return;
	if (tessera_run_enter(run) && tessera_stage(run, fault)) {
		if (run->second)
			tessera_run_staged(run, fault);
		else
			tessera_run_into(run, run->job.operands[0].buffer.base, fault);
	}
	tessera_run_leave(run);
	if (run->revoked.cause)
		*fault = run->revoked;
	/* A job that was stopped may have stored something, too; what was copied is marked */
	if (!run->second && tessera_view_is_writable(destination->view))
		tessera_view_mark_dirty(run->queue->device, destination->view, destination->low,
					destination->high);
}

static void tessera_run_count(const struct tessera_run *run, struct tessera_tally *tally)
{
	const void *operands[DRM_TESSERA_MAX_OPERANDS] = { 0 };
	const void *indices[DRM_TESSERA_MAX_OPERANDS] = { 0 };
	unsigned i;

	for (i = 0; i < run->job.num_operands; i++) {
		operands[i] = tessera_view_flat(run->operands[i].view);
		if (run->indices[i].view)
			indices[i] = tessera_view_flat(run->indices[i].view);
	}
	tessera_count_job(run->queue->device, &run->job, operands, indices, tally);
}

static void tessera_run_cleanup(struct tessera_run *run)
{
	TesseraState *s = run->queue->device;
	unsigned i;

	tessera_staging_release(run);
	for (i = 0; i < run->job.num_operands; i++) {
		if (run->operands[i].view)
			tessera_view_put(s, run->operands[i].view);
		if (run->indices[i].view)
			tessera_view_put(s, run->indices[i].view);
	}
}

/* For a test: the outermost loop of the job ends early. Sets how, once it has. */
static bool tessera_shorten(struct engine_job *job, uint32_t extent, struct engine_fault *fault)
{
	const struct drm_tessera_affine *address = &job->operands[0].spec.address;

	if (!extent || !job->rank || job->extents[0] <= extent)
		return false;
	job->extents[0] = extent;
	tessera_fault_set(fault, DRM_TESSERA_CAUSE_TRANSLATION, 0,
			  address->offset + (uint64_t)address->strides[0] * extent,
			  "a test register says so");
	return true;
}

bool tessera_job_run(TesseraQueue *q, const struct tessera_hw_ring_entry *entry,
		     const struct tessera_tests *tests, bool is_small_only,
		     struct tessera_tally *tally, struct engine_fault *fault)
{
	g_autofree struct tessera_run *run = g_new0(struct tessera_run, 1);
	const struct tessera_access *destination = &run->operands[0];
	struct engine_fault cut;
	bool is_left = false, is_shortened;
	uint32_t i;

	run->queue = q;
	if (!tessera_read_descriptor(q->device, entry, &run->job, fault))
		return true;
	if (is_small_only && (!tessera_job_has_few_steps(&run->job) || !tessera_find_views(run))) {
		is_left = true;
		goto out;
	}
	run->job.operands[0].spec.address.offset =
		(uint64_t)run->job.operands[0].spec.address.offset + tests->skew;
	is_shortened = tessera_shorten(&run->job, tests->fault, &cut);
	for (i = 0; i < run->job.num_operands; i++)
		if (!tessera_look_up(run, i, fault))
			goto out;
	is_left = is_small_only && destination->high - destination->low > TESSERA_SMALL_RANGE;
	if (!is_left)
		tessera_run_execute(run, fault);
	if (is_shortened && !fault->cause && !run->is_cut)
		*fault = cut;
	if (!is_left && !fault->cause)
		tessera_run_count(run, tally);
out:
	tessera_run_cleanup(run);
	/* A job that was cut short in between has no other fault to tell of */
	if (tessera_queue_is_stopped(q) || (run->is_cut && !fault->cause))
		tessera_fault_set(fault, DRM_TESSERA_CAUSE_CANCELED, 0, 0,
				  "the queue was disabled, or the machine stopped");
	return !is_left;
}
