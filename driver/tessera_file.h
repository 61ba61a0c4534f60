/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An open file: its scheduler entities and the results of its last submissions. A file lives on
 * after close while submissions or fences of it do, and keeps the device's structures and the
 * module with it: a fence may be looked at through a sync_file long after all else is gone.
 */
#ifndef _TESSERA_FILE_H_
#define _TESSERA_FILE_H_

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include <drm/gpu_scheduler.h>
#include <drm/tessera_accel.h>

struct drm_device;
struct drm_file;
struct drm_printer;
struct tessera_device;

#define TESSERA_NUM_PRIORITIES	(DRM_TESSERA_PRIORITY_LOW + 1)

/**
 * struct tessera_result - how a submission ended
 *
 * Written by whoever ends the submission, then published by @state, and never changed again.
 */
struct tessera_result {
	/** @refcount: the file's and the submission's */
	struct kref refcount;
	/** @id: &drm_tessera_submit.id */
	u64 id;
	/** @state: &enum drm_tessera_submit_state; stored with release, loaded with acquire */
	u32 state;
	/** @num_jobs: elements of @jobs */
	u32 num_jobs;
	/** @num_failed: jobs that failed */
	u32 num_failed;
	/** @first_failed: the first of them */
	u32 first_failed;
	/** @submit_time: when the ioctl began */
	ktime_t submit_time;
	/** @start_time: when the device was told */
	ktime_t start_time;
	/** @end_time: when completion was seen */
	ktime_t end_time;
	/** @counters: of each job; NULL if nobody asked for them */
	struct drm_tessera_job_counters *counters;
	/** @jobs: of each job, as userspace gets it */
	struct drm_tessera_job_result jobs[] __counted_by(num_jobs);
};

/**
 * struct tessera_file - an open file
 */
struct tessera_file {
	/** @refcount: the open file's, its submissions' and their hardware fences' */
	struct kref refcount;
	/** @tdev: the device, of which a reference is held */
	struct tessera_device *tdev;
	/** @free_work: lets go of device and module; on tessera_free_wq */
	struct work_struct free_work;
	/** @num_entities: those of @entities that are initialized */
	u32 num_entities;
	/** @num_hangs: jobs of this file that had to be stopped */
	atomic_t num_hangs;
	/** @num_completed: submissions that the device has completed, and that are not freed yet */
	atomic_t num_completed;
	/** @device_ns: nanoseconds that the device has spent on jobs of this file */
	atomic64_t device_ns;
	/**
	 * @lock: protects the following, and makes one of arming and pushing a scheduler job, so
	 * that fences are numbered in the order of the queue. Inside of dma_resv.
	 */
	struct mutex lock;
	/** @last_id: of the last submission */
	u64 last_id;
	/** @results: of submission id, at id modulo the size, or NULL */
	struct tessera_result *results[DRM_TESSERA_MAX_RESULTS];
	/** @entities: one for each queue, and that for each priority */
	struct drm_sched_entity entities[];
};

/* A process that hangs the device again and again has to open another file, at least */
static inline bool tessera_file_is_refused(struct tessera_file *file)
{
	return atomic_read(&file->num_hangs) >= DRM_TESSERA_MAX_HANGS;
}

int tessera_file_open(struct drm_device *drm, struct drm_file *drm_file);
void tessera_file_close(struct drm_device *drm, struct drm_file *drm_file);
void tessera_file_show_fdinfo(struct drm_printer *printer, struct drm_file *drm_file);

void tessera_file_put(struct tessera_file *file);

struct tessera_result *tessera_result_create(u32 num_jobs, bool has_counters);
void tessera_result_put(struct tessera_result *result);

u64 tessera_file_add_result(struct tessera_file *file, struct tessera_result *result);
struct tessera_result *tessera_file_find_result(struct tessera_file *file, u64 id);

/* tessera_query.c */
int tessera_ioctl_dev_query(struct drm_device *drm, void *data, struct drm_file *drm_file);

#endif /* _TESSERA_FILE_H_ */
