// SPDX-License-Identifier: GPL-2.0-only
/*
 * SUBMIT. The order is what makes it safe: everything is copied, once; everything is judged; all
 * that can fail is done; and only then is the scheduler's job armed and the world told of it.
 */
#include <linux/cleanup.h>
#include <linux/dma-fence-chain.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_drv.h>
#include <drm/drm_exec.h>
#include <drm/drm_file.h>
#include <drm/drm_print.h>
#include <drm/drm_syncobj.h>

#include "tessera_compat.h"
#include "tessera_device.h"
#include "tessera_drv.h"
#include "tessera_file.h"
#include "tessera_gem.h"
#include "tessera_layout.h"
#include "tessera_queue.h"
#include "tessera_submit.h"
#include "tessera_trace.h"
#include "tests/tessera_unchecked.h"

/* Descriptors are packed into pieces of memory of at most this size, each larger than any one */
#define CHUNK_SIZE	SZ_32K
static_assert(TESSERA_MAX_DESCRIPTOR_SIZE <= CHUNK_SIZE);

/**
 * struct tessera_chunk - memory for descriptors, which the device reads
 */
struct tessera_chunk {
	/** @node: in &tessera_submission.chunks */
	struct list_head node;
	/** @memory: what the driver writes */
	void *memory;
	/** @dma: its address for the device, once mapped */
	dma_addr_t dma;
	/** @size: bytes there are */
	u32 size;
	/** @used: bytes taken; only those are mapped */
	u32 used;
	/** @is_mapped: and since then no more descriptors go into it */
	bool is_mapped;
};

/**
 * struct out_sync - a syncobj to be signalled
 */
struct out_sync {
	/** @syncobj: the object, of which a reference is held */
	struct drm_syncobj *syncobj;
	/** @chain: TIMELINE: the link, allocated beforehand; used up when the fence goes in */
	struct dma_fence_chain *chain;
	/** @point: TIMELINE: the point */
	u64 point;
};

/* Arrays in the memory of the process */

/**
 * tessera_array_check() - judge the form of an array
 * @drm: the device
 * @array: the array, which is not looked into
 * @limit: elements that it may have
 * @name: what they are
 *
 * Return: 0 or -EINVAL.
 */
int tessera_array_check(struct drm_device *drm, const struct drm_tessera_array *array, u32 limit,
			const char *name)
{
	if (array->count > limit) {
		drm_dbg(drm, "%u %s, expected at most %u\n", array->count, name, limit);
		return -EINVAL;
	}
	if (array->count && (!array->stride || array->stride % 8 ||
			     array->stride > DRM_TESSERA_MAX_STRIDE)) {
		drm_dbg(drm, "stride %u of %s, expected a multiple of 8 up to %u\n", array->stride,
			name, DRM_TESSERA_MAX_STRIDE);
		return -EINVAL;
	}
	return 0;
}

static int copy_element(const struct drm_tessera_array *array, u32 index, void *element,
			size_t size)
{
	u64 address;
	int ret;

	if (check_add_overflow(array->pointer, (u64)index * array->stride, &address))
		return -EFAULT;
	ret = copy_struct_from_user(element, size, u64_to_user_ptr(address), array->stride);
	/* More than we know, and not zero: to userspace that is a reserved field */
	return ret == -E2BIG ? -EINVAL : ret;
}

/* Each element is copied once: what is judged is what is used */
static int copy_array(struct drm_device *drm, const struct drm_tessera_array *array, u32 limit,
		      const char *name, void *elements, size_t size)
{
	u32 n;
	int ret;

	ret = tessera_array_check(drm, array, limit, name);
	for (n = 0; !ret && n < array->count; n++) {
		ret = copy_element(array, n, elements + n * size, size);
		if (ret)
			drm_dbg(drm, "element %u of %s: %d\n", n, name, ret);
	}
	return ret;
}

/* Descriptors */

static struct tessera_chunk *add_chunk(struct tessera_submission *submission, u32 descriptor_size)
{
	u32 num_left = submission->num_jobs - submission->num_descriptors;
	struct tessera_chunk *chunk;

	chunk = kzalloc_obj(*chunk, GFP_KERNEL_ACCOUNT);
	if (!chunk)
		return NULL;
	/* Jobs of a submission tend to be alike; rounding down leaves room for one at least */
	chunk->size = min_t(u64, (u64)num_left * descriptor_size, CHUNK_SIZE);
	chunk->memory = kmalloc(chunk->size, GFP_KERNEL_ACCOUNT);
	if (!chunk->memory) {
		kfree(chunk);
		return NULL;
	}
	list_add_tail(&chunk->node, &submission->chunks);
	return chunk;
}

static struct tessera_chunk *last_chunk(struct tessera_submission *submission)
{
	if (list_empty(&submission->chunks))
		return NULL;
	return list_last_entry(&submission->chunks, struct tessera_chunk, node);
}

static int map_chunk(struct tessera_submission *submission, struct tessera_chunk *chunk)
{
	struct tessera_device *tdev = submission->tdev;
	struct device *dev = tdev->drm.dev;

	chunk->dma = dma_map_single(dev, chunk->memory, chunk->used, DMA_TO_DEVICE);
	if (dma_mapping_error(dev, chunk->dma))
		return -ENOMEM;
	scoped_guard(mutex, &tdev->mapped_lock) {
		chunk->is_mapped = true;
		if (list_empty(&submission->mapped_node))
			list_add_tail(&submission->mapped_node, &tdev->mapped_submissions);
	}
	return 0;
}

/*
 * Maps the last chunk, and gives the descriptors in it their addresses. Of all that SUBMIT does,
 * only this has to keep the device from going away: the rest may wait for a process's memory.
 */
static int map_last_chunk(struct tessera_submission *submission)
{
	struct tessera_chunk *chunk = last_chunk(submission);
	int cookie, ret;
	u32 n;

	if (!drm_dev_enter(&submission->tdev->drm, &cookie))
		return -ENODEV;
	ret = map_chunk(submission, chunk);
	drm_dev_exit(cookie);
	if (ret)
		return ret;
	for (n = submission->num_addressed; n < submission->num_descriptors; n++)
		submission->descriptors[n].dma += chunk->dma;
	submission->num_addressed = submission->num_descriptors;
	return 0;
}

static void unmap_chunks(struct tessera_submission *submission)
{
	struct tessera_device *tdev = submission->tdev;
	struct tessera_chunk *chunk;

	lockdep_assert_held(&tdev->mapped_lock);
	list_for_each_entry(chunk, &submission->chunks, node) {
		if (chunk->is_mapped)
			dma_unmap_single(tdev->drm.dev, chunk->dma, chunk->used, DMA_TO_DEVICE);
		chunk->is_mapped = false;
	}
	list_del_init(&submission->mapped_node);
}

/**
 * tessera_submission_unmap_all() - take all descriptors from a device that goes away
 * @tdev: the device, which no longer touches memory
 */
void tessera_submission_unmap_all(struct tessera_device *tdev)
{
	struct tessera_submission *submission, *next;

	guard(mutex)(&tdev->mapped_lock);
	list_for_each_entry_safe(submission, next, &tdev->mapped_submissions, mapped_node)
		unmap_chunks(submission);
}

static void free_chunks(struct tessera_submission *submission)
{
	struct tessera_chunk *chunk, *next;

	scoped_guard(mutex, &submission->tdev->mapped_lock)
		unmap_chunks(submission);
	list_for_each_entry_safe(chunk, next, &submission->chunks, node) {
		kfree(chunk->memory);
		kfree(chunk);
	}
}

/* Space for the next descriptor, or an error. */
static void *add_descriptor(struct tessera_submission *submission, u32 size)
{
	struct tessera_chunk *chunk = last_chunk(submission);
	struct tessera_descriptor *descriptor;
	int ret;

	if (chunk && chunk->size - chunk->used < size) {
		ret = map_last_chunk(submission);
		if (ret)
			return ERR_PTR(ret);
		chunk = NULL;
	}
	if (!chunk)
		chunk = add_chunk(submission, size);
	if (!chunk)
		return ERR_PTR(-ENOMEM);
	descriptor = &submission->descriptors[submission->num_descriptors++];
	descriptor->memory = chunk->memory + chunk->used;
	descriptor->dma = chunk->used;
	descriptor->size = size;
	chunk->used += size;
	return descriptor->memory;
}

/* What is the same in the descriptor but for the order of bytes; size in bytes */
static void encode_words(void *hw, const void *words, size_t size)
{
	const u64 *from = words;
	__le64 *to = hw;
	size_t n;

	for (n = 0; n < size / sizeof(*to); n++)
		to[n] = cpu_to_le64(from[n]);
}

static void encode_operand(struct tessera_hw_operand *hw, const struct tessera_layout_job *job,
			   u32 k)
{
	const struct drm_tessera_operand *operand = &job->operands[k];
	const size_t words = offsetof(struct tessera_hw_operand, address);

	hw->buffer = cpu_to_le32(job->buffers[k].id);
	hw->flags = cpu_to_le32(operand->flags);
	hw->dtype = cpu_to_le32(operand->dtype);
	hw->window_mask = cpu_to_le32(operand->window_mask);
	hw->index_buffer = cpu_to_le32(job->index_buffers[k].id);
	hw->index_dtype = cpu_to_le32(operand->index_dtype);
	static_assert(sizeof(*hw) == sizeof(*operand));
	encode_words((void *)hw + words, (void *)operand + words, sizeof(*hw) - words);
}

/* All but the order of bytes is the same */
static void encode_instruction(struct tessera_hw_instruction *hw,
			       const struct drm_tessera_instruction *instruction)
{
	static_assert(sizeof(*hw) == sizeof(*instruction));
	memcpy(hw, instruction, sizeof(*hw));
	hw->immediate = cpu_to_le64(instruction->immediate);
}

static int encode_job(struct tessera_submission *submission, const struct tessera_layout_job *job)
{
	struct tessera_hw_instruction *instruction;
	struct tessera_hw_operand *operand;
	struct tessera_hw_window *window;
	struct tessera_hw_job *hw;
	u32 n;

	hw = add_descriptor(submission, sizeof(*hw) + job->num_operands * sizeof(*operand) +
			    job->num_windows * sizeof(*window) +
			    job->num_instructions * sizeof(*instruction));
	if (IS_ERR(hw))
		return PTR_ERR(hw);
	hw->rank = cpu_to_le32(job->rank);
	hw->num_operands = cpu_to_le32(job->num_operands);
	hw->num_windows = cpu_to_le32(job->num_windows);
	hw->num_instructions = cpu_to_le32(job->num_instructions);
	encode_words(hw->extents, job->extents, sizeof(hw->extents));
	operand = (void *)(hw + 1);
	for (n = 0; n < job->num_operands; n++)
		encode_operand(operand++, job, n);
	window = (void *)operand;
	static_assert(sizeof(*window) == sizeof(*job->windows));
	encode_words(window, job->windows, job->num_windows * sizeof(*window));
	instruction = (void *)(window + job->num_windows);
	for (n = 0; n < job->num_instructions; n++)
		encode_instruction(instruction++, &job->program[n]);
	return 0;
}

/* Jobs */

static int copy_job(struct drm_device *drm, const struct drm_tessera_array *jobs, u32 index,
		    struct tessera_layout_job *job)
{
	struct drm_tessera_job user;
	int ret;

	ret = copy_element(jobs, index, &user, sizeof(user));
	if (ret)
		return ret;
	memset(job, 0, sizeof(*job));
	job->rank = user.rank;
	job->flags = user.flags;
	memcpy(job->extents, user.extents, sizeof(job->extents));
	ret = copy_array(drm, &user.operands, DRM_TESSERA_MAX_OPERANDS, "operands", job->operands,
			 sizeof(*job->operands)) ?:
	      copy_array(drm, &user.windows, DRM_TESSERA_MAX_WINDOWS, "windows", job->windows,
			 sizeof(*job->windows)) ?:
	      copy_array(drm, &user.program, DRM_TESSERA_MAX_INSTRUCTIONS, "instructions",
			 job->program, sizeof(*job->program));
	if (ret)
		return ret;
	job->num_operands = user.operands.count;
	job->num_windows = user.windows.count;
	job->num_instructions = user.program.count;
	return 0;
}

/* Looks up a buffer and keeps it for as long as the submission lives. */
static int add_buffer(struct tessera_submission *submission, struct drm_file *drm_file, u32 handle,
		      bool is_written, struct tessera_layout_buffer *buffer)
{
	struct drm_gem_object *obj = drm_gem_object_lookup(drm_file, handle);
	struct tessera_bo *bo;
	int ret;

	if (!obj) {
		drm_dbg(&submission->tdev->drm, "handle %u names no buffer\n", handle);
		return -ENOENT;
	}
	bo = to_tessera_bo(obj);
	buffer->size = obj->size;
	buffer->id = bo->id;
	buffer->is_writable = !bo->is_read_only;
	ret = xa_insert(&submission->buffers, bo->id, bo, GFP_KERNEL_ACCOUNT);
	if (ret)
		drm_gem_object_put(obj);
	if (ret && ret != -EBUSY)
		return ret;
	submission->num_buffers += !ret;
	submission->last_buffer = max(submission->last_buffer, buffer->id);
	if (is_written)
		xa_set_mark(&submission->buffers, buffer->id, TESSERA_BUFFER_WRITTEN);
	return 0;
}

static int add_buffers(struct tessera_submission *submission, struct drm_file *drm_file,
		       struct tessera_layout_job *job)
{
	u32 k;
	int ret;

	for (k = 0; k < job->num_operands; k++) {
		const struct drm_tessera_operand *operand = &job->operands[k];

		ret = add_buffer(submission, drm_file, operand->handle, k == 0, &job->buffers[k]);
		if (!ret && (operand->flags & DRM_TESSERA_OPERAND_INDIRECT))
			ret = add_buffer(submission, drm_file, operand->index_handle, false,
					 &job->index_buffers[k]);
		if (ret)
			return ret;
	}
	return 0;
}

static int add_job(struct tessera_submission *submission, struct drm_file *drm_file,
		   const struct drm_tessera_array *jobs, u32 index, struct tessera_layout_job *job)
{
	struct drm_device *drm = &submission->tdev->drm;
	struct tessera_layout_error error;
	int ret;

	ret = copy_job(drm, jobs, index, job);
	if (ret) {
		drm_dbg(drm, "job %u cannot be copied: %d\n", index, ret);
		return ret;
	}
	ret = add_buffers(submission, drm_file, job);
	if (ret)
		return ret;
	if (!tessera_unchecked)
		ret = tessera_layout_check(job, &error);
	if (ret) {
		drm_dbg(drm, "job %u: %s\n", index, error.text);
		return ret;
	}
	return encode_job(submission, job);
}

static int add_jobs(struct tessera_submission *submission, struct drm_file *drm_file,
		    const struct drm_tessera_array *jobs)
{
	/* Too large for a stack */
	struct tessera_layout_job *job = kmalloc_obj(*job, GFP_KERNEL_ACCOUNT);
	int ret = 0;
	u32 n;

	if (!job)
		return -ENOMEM;
	for (n = 0; !ret && n < jobs->count; n++) {
		ret = add_job(submission, drm_file, jobs, n, job);
		cond_resched();
		if (fatal_signal_pending(current))
			ret = -EINTR;
	}
	kfree(job);
	return ret ?: map_last_chunk(submission);
}

/* Syncobjs */

static int check_sync(struct drm_device *drm, const struct drm_tessera_sync *sync, bool is_out)
{
	bool is_timeline = sync->flags & DRM_TESSERA_SYNC_TIMELINE;

	if (sync->flags & ~DRM_TESSERA_SYNC_TIMELINE) {
		drm_dbg(drm, "syncobj %u: unknown flags 0x%x\n", sync->handle, sync->flags);
		return -EINVAL;
	}
	if (is_timeline ? is_out && !sync->timeline_value : sync->timeline_value) {
		drm_dbg(drm, "syncobj %u: timeline_value %llu\n", sync->handle,
			sync->timeline_value);
		return -EINVAL;
	}
	return 0;
}

static int add_in_sync(struct tessera_submission *submission, struct drm_file *drm_file,
		       const struct drm_tessera_sync *sync)
{
	struct drm_device *drm = &submission->tdev->drm;
	struct dma_fence *fence;
	int ret;

	ret = check_sync(drm, sync, false);
	if (ret)
		return ret;
	/* The scheduler's own helper takes points of 32 bits */
	ret = drm_syncobj_find_fence(drm_file, sync->handle, sync->timeline_value, 0, &fence);
	if (ret) {
		drm_dbg(drm, "syncobj %u: no fence at %llu: %d\n", sync->handle,
			sync->timeline_value, ret);
		/* It says -EINVAL where the object is there and the fence is not */
		return ret == -EINVAL ? -ENOENT : ret;
	}
	return drm_sched_job_add_dependency(&submission->base, fence);
}

static int add_in_syncs(struct tessera_submission *submission, struct drm_file *drm_file,
			const struct drm_tessera_array *array)
{
	struct drm_tessera_sync sync;
	u32 n;
	int ret;

	for (n = 0; n < array->count; n++) {
		ret = copy_element(array, n, &sync, sizeof(sync)) ?:
		      add_in_sync(submission, drm_file, &sync);
		if (ret)
			return ret;
	}
	return 0;
}

static int prepare_out_sync(struct drm_device *drm, struct drm_file *drm_file,
			    const struct drm_tessera_sync *sync, struct out_sync *out)
{
	int ret;

	ret = check_sync(drm, sync, true);
	if (ret)
		return ret;
	out->syncobj = drm_syncobj_find(drm_file, sync->handle);
	if (!out->syncobj) {
		drm_dbg(drm, "handle %u names no syncobj\n", sync->handle);
		return -ENOENT;
	}
	if (!(sync->flags & DRM_TESSERA_SYNC_TIMELINE))
		return 0;
	out->point = sync->timeline_value;
	out->chain = dma_fence_chain_alloc();
	return out->chain ? 0 : -ENOMEM;
}

static void free_out_syncs(struct out_sync *outs, u32 count)
{
	u32 n;

	for (n = 0; outs && n < count; n++) {
		dma_fence_chain_free(outs[n].chain);
		if (outs[n].syncobj)
			drm_syncobj_put(outs[n].syncobj);
	}
	kvfree(outs);
}

static struct out_sync *prepare_out_syncs(struct drm_device *drm, struct drm_file *drm_file,
					  const struct drm_tessera_array *array)
{
	struct drm_tessera_sync sync;
	struct out_sync *outs;
	u32 n;
	int ret;

	if (!array->count)
		return NULL;
	outs = kvcalloc(array->count, sizeof(*outs), GFP_KERNEL_ACCOUNT);
	if (!outs)
		return ERR_PTR(-ENOMEM);
	for (n = 0; n < array->count; n++) {
		ret = copy_element(array, n, &sync, sizeof(sync)) ?:
		      prepare_out_sync(drm, drm_file, &sync, &outs[n]);
		if (ret) {
			free_out_syncs(outs, array->count);
			return ERR_PTR(ret);
		}
	}
	return outs;
}

static void signal_out_syncs(struct out_sync *outs, u32 count, struct dma_fence *fence)
{
	u32 n;

	for (n = 0; n < count; n++) {
		if (outs[n].chain)
			drm_syncobj_add_point(outs[n].syncobj, outs[n].chain, fence, outs[n].point);
		else
			drm_syncobj_replace_fence(outs[n].syncobj, fence);
		outs[n].chain = NULL;
	}
}

/* The life of a submission */

static const char *fence_driver_name(struct dma_fence *fence)
{
	return TESSERA_NAME;
}

static const char *fence_timeline_name(struct dma_fence *fence)
{
	return container_of(fence, struct tessera_fence, base)->queue->name;
}

static void fence_release(struct dma_fence *fence)
{
	struct tessera_file *file = container_of(fence, struct tessera_fence, base)->file;

	/* Freed after a grace period; the file, and with it the lock, goes when its work runs */
	dma_fence_free(fence);
	tessera_file_put(file);
}

static const struct dma_fence_ops tessera_fence_ops = {
	TESSERA_FENCE_OPS_64BIT
	.get_driver_name = fence_driver_name,
	.get_timeline_name = fence_timeline_name,
	.release = fence_release,
};

/**
 * tessera_submission_init_fence() - make the hardware fence
 * @submission: the submission, whose last_sequence is set; the queue's lock is held
 */
void tessera_submission_init_fence(struct tessera_submission *submission)
{
	struct tessera_fence *fence = submission->fence;

	fence->queue = submission->queue;
	fence->file = submission->file;
	kref_get(&fence->file->refcount);
	tessera_fence_init(&fence->base, &tessera_fence_ops, &submission->queue->lock,
			   submission->queue->fence_context, submission->last_sequence);
	submission->is_fence_live = true;
}

static void report_fault(struct tessera_submission *submission, u32 n)
{
	const struct drm_tessera_job_result *job = &submission->result->jobs[n];

	/* That is nobody's fault */
	if (job->cause == DRM_TESSERA_CAUSE_CANCELED)
		return;
	trace_tessera_fault(submission, n);
	/* And that was told when it was found */
	if (job->cause == DRM_TESSERA_CAUSE_TIMEOUT)
		return;
	dev_warn_ratelimited(submission->tdev->drm.dev,
			     "%s[%d] %s: job %u of %llu: cause %u, operand %u, offset %lld\n",
			     submission->comm, submission->pid, submission->queue->name, n,
			     submission->result->id, job->cause, job->operand, job->offset);
}

/* Gives those jobs a cause that have none, and counts. */
static void count_jobs(struct tessera_submission *submission, u32 num_done,
		       enum drm_tessera_cause cause)
{
	struct tessera_result *result = submission->result;
	u32 n;

	result->first_failed = result->num_jobs;
	for (n = 0; n < result->num_jobs; n++) {
		struct drm_tessera_job_result *job = &result->jobs[n];

		if (n == num_done)
			job->cause = cause;
		else if (n > num_done)
			job->cause = DRM_TESSERA_CAUSE_CANCELED;
		atomic64_add(job->device_ns, &submission->file->device_ns);
		if (!job->cause)
			continue;
		if (!result->num_failed++)
			result->first_failed = n;
	}
}

/**
 * tessera_submission_end() - publish how a submission ended, and signal its fence
 * @submission: the submission; the scheduler may have freed it on return if it had a fence
 * @num_done: jobs whose result is there
 * @cause: of the first of the others; the rest is canceled
 * @error: of the fence; 0 for that which the results say
 *
 * If it has a fence, the queue's lock is held.
 */
void tessera_submission_end(struct tessera_submission *submission, u32 num_done,
			    enum drm_tessera_cause cause, int error)
{
	struct tessera_result *result = submission->result;

	count_jobs(submission, num_done, cause);
	if (!error && result->num_failed)
		error = -EIO;
	result->end_time = ktime_get();
	/* Once for each submission: what follows the first failure is seldom news */
	if (result->num_failed)
		report_fault(submission, result->first_failed);
	trace_tessera_done(submission, error);
	if (submission->is_fence_live)
		atomic_inc(&submission->file->num_completed);
	/* Pairs with the query, which reads the rest after this */
	smp_store_release(&result->state, result->num_failed ? DRM_TESSERA_SUBMIT_FAILED :
							       DRM_TESSERA_SUBMIT_DONE);
	if (!submission->is_fence_live)
		return;
	if (error)
		dma_fence_set_error(&submission->fence->base, error);
	dma_fence_signal_locked(&submission->fence->base);
}

/**
 * tessera_submission_free() - free a submission that has ended, or never began
 * @submission: the submission
 */
void tessera_submission_free(struct tessera_submission *submission)
{
	struct tessera_file *file = submission->file;
	struct tessera_bo *bo;
	unsigned long id;

	if (submission->has_base) {
		atomic_sub(submission->num_jobs, &submission->queue->num_pending);
		drm_sched_job_cleanup(&submission->base);
		tessera_device_put(submission->tdev);
	}
	if (submission->is_fence_live) {
		dma_fence_put(&submission->fence->base);
		if (!atomic_dec_return(&file->num_completed))
			wake_up_var(&file->num_completed);
	} else {
		kfree(submission->fence);
	}
	free_chunks(submission);
	xa_for_each_range(&submission->buffers, id, bo, 0, submission->last_buffer)
		drm_gem_object_put(&bo->base.base);
	xa_destroy(&submission->buffers);
	tessera_result_put(submission->result);
	kvfree(submission->descriptors);
	kfree(submission);
	tessera_file_put(file);
}

static struct tessera_submission *create_submission(struct tessera_device *tdev,
						    struct drm_file *drm_file,
						    const struct drm_tessera_submit *args)
{
	struct tessera_submission *submission;

	submission = kzalloc_obj(*submission, GFP_KERNEL_ACCOUNT);
	if (!submission)
		return ERR_PTR(-ENOMEM);
	submission->tdev = tdev;
	submission->num_jobs = args->jobs.count;
	submission->file = drm_file->driver_priv;
	kref_get(&submission->file->refcount);
	submission->pid = task_tgid_nr(current);
	get_task_comm(submission->comm, current);
	xa_init(&submission->buffers);
	INIT_LIST_HEAD(&submission->chunks);
	INIT_LIST_HEAD(&submission->mapped_node);
	INIT_LIST_HEAD(&submission->running_node);
	submission->fence = kzalloc_obj(*submission->fence, GFP_KERNEL_ACCOUNT);
	submission->result = tessera_result_create(submission->num_jobs,
						   args->flags & DRM_TESSERA_SUBMIT_COUNTERS);
	submission->descriptors = kvcalloc(submission->num_jobs, sizeof(*submission->descriptors),
					   GFP_KERNEL_ACCOUNT);
	if (!submission->fence || !submission->result || !submission->descriptors) {
		tessera_submission_free(submission);
		return ERR_PTR(-ENOMEM);
	}
	return submission;
}

/* With fewer jobs, or as many and an interrupt that wakes no other processor */
static bool is_better_queue(const struct tessera_queue *queue, const struct tessera_queue *best)
{
	int more = atomic_read(&queue->num_pending) - atomic_read(&best->num_pending);
	int cpu = raw_smp_processor_id();

	return more ? more < 0 : READ_ONCE(queue->interrupted_cpu) == cpu &&
				 READ_ONCE(best->interrupted_cpu) != cpu;
}

static struct tessera_queue *choose_queue(struct tessera_submission *submission, u32 index)
{
	struct tessera_device *tdev = submission->tdev;
	struct tessera_queue *best = NULL;
	u32 first, q;

	if (index != DRM_TESSERA_QUEUE_ANY)
		return &tdev->queues[index];
	/* Starts with another one each time: of queues that are alike, all get their turn */
	first = (u32)atomic_inc_return(&tdev->next_queue);
	for (q = 0; q < tdev->num_queues; q++) {
		struct tessera_queue *queue = &tdev->queues[(first + q) % tdev->num_queues];

		/* It has to wait for the last one there: in the ring it follows without delay */
		if (atomic_read(&queue->num_pending) &&
		    xa_load(&submission->buffers, READ_ONCE(queue->written_buffer)))
			return queue;
		if (!best || is_better_queue(queue, best))
			best = queue;
	}
	return best;
}

/* From here to tessera_submission_free() the device is awake */
static int init_sched_job(struct tessera_submission *submission, struct drm_file *drm_file,
			  const struct drm_tessera_submit *args)
{
	struct tessera_queue *queue = choose_queue(submission, args->queue);
	u32 index = args->priority * submission->tdev->num_queues + queue->index;
	int cookie, ret;

	submission->queue = queue;
	if (!tessera_device_enter(submission->tdev, &cookie))
		return -ENODEV;
	ret = tessera_sched_job_init(&submission->base, &submission->file->entities[index],
				     submission->num_jobs, submission->file, drm_file->client_id);
	if (ret) {
		tessera_device_exit(submission->tdev, cookie);
		return ret;
	}
	drm_dev_exit(cookie);
	submission->has_base = true;
	atomic_add(submission->num_jobs, &submission->queue->num_pending);
	return 0;
}

/* Locks the buffers, makes room for the fence, and waits for what others do with them. */
static int lock_buffers(struct tessera_submission *submission, struct drm_exec *exec)
{
	struct tessera_bo *bo;
	unsigned long id;
	int ret = 0;

	drm_exec_until_all_locked(exec) {
		xa_for_each_range(&submission->buffers, id, bo, 0, submission->last_buffer) {
			ret = drm_exec_prepare_obj(exec, &bo->base.base, 1);
			drm_exec_retry_on_contention(exec);
			if (ret)
				return ret;
		}
	}
	xa_for_each_range(&submission->buffers, id, bo, 0, submission->last_buffer) {
		bool is_written = xa_get_mark(&submission->buffers, id, TESSERA_BUFFER_WRITTEN);

		ret = drm_sched_job_add_implicit_dependencies(&submission->base, &bo->base.base,
							      is_written);
		if (ret)
			break;
	}
	return ret;
}

/* Nothing in here can fail. The submission is the scheduler's afterwards. */
static u64 commit(struct tessera_submission *submission, struct drm_exec *exec,
		  struct out_sync *outs, u32 num_outs)
{
	struct dma_fence *fence;
	struct tessera_bo *bo;
	unsigned long index;
	u64 id;

	/* What the process wrote to on-chip memory leaves the processor's write buffers */
	wmb();
	guard(mutex)(&submission->file->lock);
	drm_sched_job_arm(&submission->base);
	fence = dma_fence_get(&submission->base.s_fence->finished);
	id = tessera_file_add_result(submission->file, submission->result);
	xa_for_each_range(&submission->buffers, index, bo, 0, submission->last_buffer) {
		bool is_written = xa_get_mark(&submission->buffers, index, TESSERA_BUFFER_WRITTEN);

		dma_resv_add_fence(bo->base.base.resv, fence,
				   is_written ? DMA_RESV_USAGE_WRITE : DMA_RESV_USAGE_READ);
		if (is_written)
			WRITE_ONCE(submission->queue->written_buffer, index);
	}
	signal_out_syncs(outs, num_outs, fence);
	trace_tessera_submit(submission);
	/* While the submission has the buffers: no last reference may go under their locks */
	drm_exec_fini(exec);
	drm_sched_entity_push_job(&submission->base);
	dma_fence_put(fence);
	return id;
}

static int check_submit(struct tessera_device *tdev, const struct drm_tessera_submit *args)
{
	struct drm_device *drm = &tdev->drm;

	if ((args->flags & ~DRM_TESSERA_SUBMIT_COUNTERS) || args->reserved ||
	    args->priority >= TESSERA_NUM_PRIORITIES || !args->jobs.count ||
	    (args->queue >= tdev->num_queues && args->queue != DRM_TESSERA_QUEUE_ANY)) {
		drm_dbg(drm, "flags 0x%x, 0x%x, %u jobs, queue %u of %u, priority %u of %u\n",
			args->flags, args->reserved, args->jobs.count, args->queue,
			tdev->num_queues, args->priority, TESSERA_NUM_PRIORITIES);
		return -EINVAL;
	}
	if ((args->flags & DRM_TESSERA_SUBMIT_COUNTERS) && !tdev->clock_khz) {
		drm_dbg(drm, "counters of a device that has none\n");
		return -EOPNOTSUPP;
	}
	return tessera_array_check(drm, &args->jobs, DRM_TESSERA_MAX_JOBS, "jobs") ?:
	       tessera_array_check(drm, &args->in_syncs, DRM_TESSERA_MAX_SYNCS, "in syncobjs") ?:
	       tessera_array_check(drm, &args->out_syncs, DRM_TESSERA_MAX_SYNCS, "out syncobjs");
}

/**
 * tessera_ioctl_submit() - DRM_IOCTL_TESSERA_SUBMIT
 * @drm: the device
 * @data: &struct drm_tessera_submit
 * @drm_file: the file
 *
 * Return: 0 or an error; then nothing has happened.
 */
int tessera_ioctl_submit(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct tessera_device *tdev = to_tessera_device(drm);
	struct drm_tessera_submit *args = data;
	struct tessera_submission *submission;
	ktime_t submit_time = ktime_get();
	struct out_sync *outs;
	struct drm_exec exec;
	int ret;

	if (READ_ONCE(tdev->is_lost))
		return -ENODEV;
	if (tessera_file_is_refused(drm_file->driver_priv))
		return -ECANCELED;
	ret = check_submit(tdev, args);
	if (ret)
		return ret;
	submission = create_submission(tdev, drm_file, args);
	if (IS_ERR(submission))
		return PTR_ERR(submission);
	submission->result->submit_time = submit_time;
	ret = add_jobs(submission, drm_file, &args->jobs) ?:
	      init_sched_job(submission, drm_file, args) ?:
	      add_in_syncs(submission, drm_file, &args->in_syncs);
	if (ret)
		goto err_free_submission;
	outs = prepare_out_syncs(&tdev->drm, drm_file, &args->out_syncs);
	if (IS_ERR(outs)) {
		ret = PTR_ERR(outs);
		goto err_free_submission;
	}
	drm_exec_init(&exec, DRM_EXEC_INTERRUPTIBLE_WAIT, submission->num_buffers);
	ret = lock_buffers(submission, &exec);
	if (ret)
		drm_exec_fini(&exec);
	else
		args->id = commit(submission, &exec, outs, args->out_syncs.count);
	free_out_syncs(outs, args->out_syncs.count);
	if (!ret)
		return 0;

err_free_submission:
	tessera_submission_free(submission);
	return ret;
}

#if IS_ENABLED(CONFIG_DRM_ACCEL_TESSERA_KUNIT_TEST)
#include "tests/tessera_submit_test.c"
#endif
