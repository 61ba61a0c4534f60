/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Submissions: from the ioctl's argument to descriptors that no process can reach, and to the
 * fence that stands for all of their jobs. When and where they run is tessera_queue.h's.
 */
#ifndef _TESSERA_SUBMIT_H_
#define _TESSERA_SUBMIT_H_

#include <linux/dma-fence.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/xarray.h>

#include <drm/gpu_scheduler.h>

struct drm_file;
struct tessera_device;
struct tessera_file;
struct tessera_queue;
struct tessera_result;

/**
 * struct tessera_fence - completion of a submission on the hardware
 */
struct tessera_fence {
	/** @base: the fence; its lock is that of the queue */
	struct dma_fence base;
	/** @file: keeps alive what the fence points to */
	struct tessera_file *file;
	/** @queue: where it runs */
	struct tessera_queue *queue;
};

/**
 * struct tessera_descriptor - where the descriptor of a job is
 */
struct tessera_descriptor {
	/** @memory: what the driver has written */
	void *memory;
	/** @dma: address for the device; until its memory is mapped, the offset there */
	dma_addr_t dma;
	/** @size: bytes */
	u32 size;
};

/**
 * struct tessera_submission - the jobs of one SUBMIT
 */
struct tessera_submission {
	/** @base: the scheduler's job */
	struct drm_sched_job base;
	/** @has_base: @base is initialized */
	bool has_base;
	/** @tdev: the device */
	struct tessera_device *tdev;
	/** @file: of which a reference is held */
	struct tessera_file *file;
	/** @queue: where it runs */
	struct tessera_queue *queue;
	/** @comm: name of the process, for messages */
	char comm[TASK_COMM_LEN];
	/** @pid: its id */
	pid_t pid;

	/** @buffers: &struct tessera_bo by id; marked: some job stores to it */
	struct xarray buffers;
	/** @num_buffers: entries of @buffers */
	u32 num_buffers;
	/** @last_buffer: the greatest id in @buffers: the slots behind it need not be looked at */
	u32 last_buffer;
	/** @chunks: memory of the descriptors */
	struct list_head chunks;
	/** @mapped_node: in &tessera_device.mapped_submissions, from the first mapped chunk on */
	struct list_head mapped_node;
	/** @descriptors: of the jobs, in order */
	struct tessera_descriptor *descriptors;
	/** @num_descriptors: those that are there */
	u32 num_descriptors;
	/** @num_addressed: those whose memory is mapped */
	u32 num_addressed;
	/** @num_jobs: jobs */
	u32 num_jobs;
	/** @result: how they ended */
	struct tessera_result *result;

	/** @fence: the hardware fence */
	struct tessera_fence *fence;
	/** @is_fence_live: it is initialized, and from then on reference-counted */
	bool is_fence_live;

	/** @running_node: in &tessera_queue.running */
	struct list_head running_node;
	/** @last_sequence: sequence of the last job */
	u64 last_sequence;
	/** @first_entry: of the ring, of the first job; modulo 2^32 */
	u32 first_entry;
};

#define TESSERA_BUFFER_WRITTEN	XA_MARK_0

int tessera_array_check(struct drm_device *drm, const struct drm_tessera_array *array, u32 limit,
			const char *name);
int tessera_ioctl_submit(struct drm_device *drm, void *data, struct drm_file *drm_file);

void tessera_submission_init_fence(struct tessera_submission *submission);
void tessera_submission_end(struct tessera_submission *submission, u32 num_done,
			    enum drm_tessera_cause cause, int error);
void tessera_submission_free(struct tessera_submission *submission);
void tessera_submission_unmap_all(struct tessera_device *tdev);

#endif /* _TESSERA_SUBMIT_H_ */
