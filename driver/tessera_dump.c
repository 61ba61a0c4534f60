// SPDX-License-Identifier: GPL-2.0-only
/*
 * Device coredumps. One is taken under the queue's lock, before the job is stopped, and handed to
 * the kernel by a work of its own: that allocates memory, which may wait for fences.
 */
#include <linux/devcoredump.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "tessera_device.h"
#include "tessera_drv.h"
#include "tessera_file.h"
#include "tessera_gem.h"
#include "tessera_queue.h"
#include "tessera_submit.h"

/* Those that hold no address */
static const u32 device_registers[] = {
	TESSERA_REG_ID, TESSERA_REG_VERSION, TESSERA_REG_NUM_QUEUES, TESSERA_REG_FEATURES,
	TESSERA_REG_CONTROL, TESSERA_REG_STATUS, TESSERA_REG_NUM_BUFFERS,
};

static const u32 queue_registers[] = {
	TESSERA_QUEUE_CONTROL, TESSERA_QUEUE_STATUS, TESSERA_QUEUE_RING_SHIFT, TESSERA_QUEUE_TAIL,
	TESSERA_QUEUE_HEAD, TESSERA_QUEUE_PROGRESS, TESSERA_QUEUE_PROGRESS + 4,
	TESSERA_QUEUE_NUM_DOORBELLS, TESSERA_QUEUE_NUM_INTERRUPTS,
};

#define MAX_REGISTERS	(ARRAY_SIZE(device_registers) + ARRAY_SIZE(queue_registers))
#define MAX_BUFFERS	(2 * DRM_TESSERA_MAX_OPERANDS)
#define MAX_SIZE	(sizeof(struct drm_tessera_dump_header) +				\
			 MAX_REGISTERS * sizeof(struct drm_tessera_dump_register) +		\
			 DRM_TESSERA_DUMP_MAX_ENTRIES * sizeof(struct drm_tessera_dump_entry) +	\
			 MAX_BUFFERS * sizeof(struct drm_tessera_dump_buffer) +		\
			 TESSERA_MAX_DESCRIPTOR_SIZE)

static void *put_registers(struct drm_tessera_dump_register *to, struct tessera_device *tdev,
			   u32 base, const u32 *offsets, u32 count)
{
	u32 n;

	for (n = 0; n < count; n++, to++) {
		to->offset = cpu_to_le32(base + offsets[n]);
		to->value = cpu_to_le32(readl(tdev->regs + base + offsets[n]));
	}
	return to;
}

static void *put_entries(struct drm_tessera_dump_entry *to, struct tessera_queue *queue, u32 first,
			 u32 count)
{
	u32 n;

	for (n = 0; n < count; n++, to++) {
		const struct tessera_hw_ring_entry *entry =
			&queue->memory->ring[(first + n) % TESSERA_RING_SIZE];

		to->sequence = entry->sequence;
		to->descriptor_size = entry->descriptor_size;
		to->flags = entry->flags;
	}
	return to;
}

static void *put_buffer(struct drm_tessera_dump_buffer *to, struct tessera_submission *submission,
			u32 id)
{
	const struct tessera_bo *bo = xa_load(&submission->buffers, id);

	to->size = cpu_to_le64(bo->base.base.size);
	to->id = cpu_to_le32(id);
	to->page_shift = cpu_to_le32(bo->page_shift);
	to->flags = submission->tdev->directory[id].flags;
	to->is_imported = cpu_to_le32(!!bo->attach);
	return to + 1;
}

static void *put_buffers(struct drm_tessera_dump_buffer *to, struct tessera_submission *submission,
			 const struct tessera_hw_job *job)
{
	const struct tessera_hw_operand *operand = (const void *)(job + 1);
	u32 k;

	for (k = 0; k < le32_to_cpu(job->num_operands); k++, operand++) {
		to = put_buffer(to, submission, le32_to_cpu(operand->buffer));
		if (operand->flags & cpu_to_le32(DRM_TESSERA_OPERAND_INDIRECT))
			to = put_buffer(to, submission, le32_to_cpu(operand->index_buffer));
	}
	return to;
}

static void fill_dump(struct drm_tessera_dump_header *dump, struct tessera_queue *queue,
		      struct tessera_submission *submission, u32 job)
{
	u32 descriptor_size = submission->descriptors[job].size;
	u32 first = submission->first_entry + job;
	u32 num_entries = min_t(u32, queue->tail - first, DRM_TESSERA_DUMP_MAX_ENTRIES);
	const struct tessera_hw_job *descriptor = submission->descriptors[job].memory;
	struct drm_tessera_dump_buffer *buffers;
	void *next = dump + 1;

	dump->num_registers = cpu_to_le32(MAX_REGISTERS);
	next = put_registers(next, queue->tdev, 0, device_registers, ARRAY_SIZE(device_registers));
	next = put_registers(next, queue->tdev, TESSERA_QUEUE(queue->index), queue_registers,
			     ARRAY_SIZE(queue_registers));
	dump->num_entries = cpu_to_le32(num_entries);
	buffers = put_entries(next, queue, first, num_entries);
	next = put_buffers(buffers, submission, descriptor);
	dump->num_buffers = cpu_to_le32((struct drm_tessera_dump_buffer *)next - buffers);
	dump->descriptor_size = cpu_to_le32(descriptor_size);
	memcpy(next, descriptor, descriptor_size);
	dump->size = cpu_to_le32(next + descriptor_size - (void *)dump);
}

/**
 * tessera_dump_take() - keep what may tell why a job has to be stopped
 * @queue: its queue, which is still running; the lock is held
 * @submission: the oldest there is
 * @cause: why
 *
 * Nothing is kept while there is no memory, or while the last dump is still on its way.
 */
void tessera_dump_take(struct tessera_queue *queue, struct tessera_submission *submission,
		       enum drm_tessera_cause cause)
{
	u64 before_first = submission->last_sequence - submission->num_jobs;
	u32 job = queue->completed > before_first ? queue->completed - before_first : 0;
	struct tessera_device *tdev = queue->tdev;
	struct drm_tessera_dump_header *dump;

	lockdep_assert_held(&queue->lock);
	if (READ_ONCE(tdev->dump))
		return;
	dump = kzalloc(MAX_SIZE, GFP_ATOMIC | __GFP_NOWARN);
	if (!dump)
		return;
	dump->magic = cpu_to_le64(DRM_TESSERA_DUMP_MAGIC);
	dump->version = cpu_to_le32(DRM_TESSERA_DUMP_VERSION);
	dump->queue = cpu_to_le32(queue->index);
	dump->cause = cpu_to_le32(cause);
	dump->job = cpu_to_le32(job);
	dump->num_jobs = cpu_to_le32(submission->num_jobs);
	dump->id = cpu_to_le64(submission->result->id);
	dump->sequence = cpu_to_le64(queue->sequence);
	dump->completed = cpu_to_le64(queue->completed);
	dump->completion = READ_ONCE(queue->memory->completion);
	dump->pid = cpu_to_le32(submission->pid);
	memcpy(dump->comm, submission->comm, sizeof(submission->comm));
	fill_dump(dump, queue, submission, job);
	WRITE_ONCE(tdev->dump, dump);
	queue_work(tessera_free_wq, &tdev->dump_work);
}

/**
 * tessera_dump_work() - hand over what was kept
 * @work: &tessera_device.dump_work
 *
 * The kernel keeps one dump of a device until it is read or some minutes old, and drops others.
 */
void tessera_dump_work(struct work_struct *work)
{
	struct tessera_device *tdev = container_of(work, struct tessera_device, dump_work);
	struct drm_tessera_dump_header *dump = tdev->dump;
	size_t size = le32_to_cpu(dump->size);
	void *data = vmalloc(size);

	if (data) {
		memcpy(data, dump, size);
		dev_coredumpv(tdev->drm.dev, data, size, GFP_KERNEL);
	}
	WRITE_ONCE(tdev->dump, NULL);
	kfree(dump);
}
