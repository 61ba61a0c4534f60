// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open files, and the results that they keep of their submissions.
 */
#include <linux/cleanup.h>
#include <linux/dma-resv.h>
#include <linux/module.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_print.h>

#include "tessera_compat.h"
#include "tessera_device.h"
#include "tessera_drv.h"
#include "tessera_file.h"
#include "tessera_gem.h"
#include "tessera_queue.h"

/* Results */

/**
 * tessera_result_create() - a result that is pending
 * @num_jobs: jobs of the submission
 * @has_counters: whether their counters are kept, too
 *
 * Return: the result, with one reference, or NULL.
 */
struct tessera_result *tessera_result_create(u32 num_jobs, bool has_counters)
{
	struct tessera_result *result;
	size_t size = struct_size(result, jobs, num_jobs);
	size_t counters_size = has_counters ? num_jobs * sizeof(*result->counters) : 0;

	result = kvzalloc(size + counters_size, GFP_KERNEL_ACCOUNT);
	if (!result)
		return NULL;
	kref_init(&result->refcount);
	result->num_jobs = num_jobs;
	if (has_counters)
		result->counters = (void *)result + size;
	return result;
}

static void result_release(struct kref *kref)
{
	kvfree(container_of(kref, struct tessera_result, refcount));
}

/**
 * tessera_result_put() - let go of a result
 * @result: the result, or NULL
 */
void tessera_result_put(struct tessera_result *result)
{
	if (result)
		kref_put(&result->refcount, result_release);
}

/**
 * tessera_file_add_result() - number a submission and keep its result
 * @file: the file; &tessera_file.lock is held
 * @result: the result, of which a reference is taken
 *
 * Return: the number.
 */
u64 tessera_file_add_result(struct tessera_file *file, struct tessera_result *result)
{
	struct tessera_result **slot;

	lockdep_assert_held(&file->lock);
	result->id = ++file->last_id;
	slot = &file->results[result->id % DRM_TESSERA_MAX_RESULTS];
	tessera_result_put(*slot);
	kref_get(&result->refcount);
	*slot = result;
	return result->id;
}

/**
 * tessera_file_find_result() - the result of a submission
 * @file: the file
 * @id: the submission
 *
 * Return: the result, for tessera_result_put(), or NULL when it is unknown or no longer kept.
 */
struct tessera_result *tessera_file_find_result(struct tessera_file *file, u64 id)
{
	struct tessera_result *result;

	guard(mutex)(&file->lock);
	result = file->results[id % DRM_TESSERA_MAX_RESULTS];
	if (!result || result->id != id)
		return NULL;
	kref_get(&result->refcount);
	return result;
}

/* Files */

static void file_free_work(struct work_struct *work)
{
	struct tessera_file *file = container_of(work, struct tessera_file, free_work);
	struct tessera_device *tdev = file->tdev;

	mutex_destroy(&file->lock);
	kvfree(file);
	drm_dev_put(&tdev->drm);
	/* The module waits for this workqueue before it goes: we return to code that is there */
	module_put(THIS_MODULE);
}

/* In whatever context the last fence is put; the rest has to sleep */
static void file_release(struct kref *kref)
{
	struct tessera_file *file = container_of(kref, struct tessera_file, refcount);

	queue_work(tessera_free_wq, &file->free_work);
}

/**
 * tessera_file_put() - drop a reference; in any context
 * @file: the file
 */
void tessera_file_put(struct tessera_file *file)
{
	kref_put(&file->refcount, file_release);
}

/* By &enum drm_tessera_priority */
static const enum drm_sched_priority priorities[TESSERA_NUM_PRIORITIES] = {
	DRM_SCHED_PRIORITY_NORMAL, DRM_SCHED_PRIORITY_LOW,
};

static int init_entities(struct tessera_file *file)
{
	u32 num_queues = file->tdev->num_queues;
	u32 n;
	int ret;

	for (n = 0; n < num_queues * TESSERA_NUM_PRIORITIES; n++) {
		struct drm_gpu_scheduler *sched = &file->tdev->queues[n % num_queues].sched;

		ret = drm_sched_entity_init(&file->entities[n], priorities[n / num_queues], &sched,
					    1, NULL);
		if (ret)
			return ret;
		file->num_entities++;
	}
	return 0;
}

/*
 * The scheduler puts an entity that it has taken a job from back among those that have some, even
 * one that was killed meanwhile, and then both take jobs from it: so it must not be at work here
 * (Documentation/upstream.rst).
 */
static void fini_entities(struct tessera_file *file)
{
	u32 num_queues = file->tdev->num_queues, q, n;

	guard(mutex)(&file->tdev->closing_lock);
	for (q = 0; q < num_queues; q++) {
		drm_sched_wqueue_stop(&file->tdev->queues[q].sched);
		for (n = q; n < file->num_entities; n += num_queues)
			drm_sched_entity_fini(&file->entities[n]);
		drm_sched_wqueue_start(&file->tdev->queues[q].sched);
	}
}

/**
 * tessera_file_open() - &drm_driver.open
 * @drm: the device
 * @drm_file: the file
 *
 * Return: 0 or -ENOMEM.
 */
int tessera_file_open(struct drm_device *drm, struct drm_file *drm_file)
{
	struct tessera_device *tdev = to_tessera_device(drm);
	struct tessera_file *file;
	int ret;

	file = kvzalloc(struct_size(file, entities,
				    tdev->num_queues * TESSERA_NUM_PRIORITIES), GFP_KERNEL);
	if (!file)
		return -ENOMEM;
	kref_init(&file->refcount);
	mutex_init(&file->lock);
	INIT_WORK(&file->free_work, file_free_work);
	file->tdev = tdev;
	/* Both are held by the open file now, but not as long as we are */
	__module_get(THIS_MODULE);
	drm_dev_get(drm);
	ret = init_entities(file);
	if (ret) {
		fini_entities(file);
		tessera_file_put(file);
		return ret;
	}
	drm_file->driver_priv = file;
	return 0;
}

/**
 * tessera_file_close() - &drm_driver.postclose
 * @drm: the device
 * @drm_file: the file
 *
 * Submissions that the device does not have yet are dropped, those that it has run to their end.
 */
void tessera_file_close(struct drm_device *drm, struct drm_file *drm_file)
{
	struct tessera_file *file = drm_file->driver_priv;
	u32 i;

	fini_entities(file);
	for (i = 0; i < DRM_TESSERA_MAX_RESULTS; i++)
		tessera_result_put(file->results[i]);
	/*
	 * What has completed is freed by the schedulers, one work after the other: the module can
	 * go once we are back. The last work lets go of the file after it has told us.
	 */
	wait_var_event(&file->num_completed, !atomic_read(&file->num_completed));
	flush_workqueue(file->tdev->submit_wq);
	tessera_file_put(file);
	flush_workqueue(tessera_free_wq);
}

/**
 * tessera_file_show_fdinfo() - &drm_driver.show_fdinfo
 * @printer: where it goes
 * @drm_file: the file
 */
void tessera_file_show_fdinfo(struct drm_printer *printer, struct drm_file *drm_file)
{
	struct drm_memory_stats memory = { }, sram = { }, *region;
	struct tessera_file *file = drm_file->driver_priv;
	struct drm_gem_object *obj;
	int handle;

	drm_printf(printer, "drm-engine-pe:\t%llu ns\n", atomic64_read(&file->device_ns));
	drm_printf(printer, "drm-engine-capacity-pe:\t%u\n", file->tdev->num_queues);
	/* As drm_show_memory_stats(), which has one region for all. All of it is always there */
	spin_lock(&drm_file->table_lock);
	idr_for_each_entry(&drm_file->object_idr, obj, handle) {
		region = tessera_bo_is_sram(to_tessera_bo(obj)) ? &sram : &memory;
		region->resident += obj->size;
		if (drm_gem_object_is_shared_for_memory_stats(obj))
			region->shared += obj->size;
		else
			region->private += obj->size;
		if (!dma_resv_test_signaled(obj->resv, dma_resv_usage_rw(true)))
			region->active += obj->size;
	}
	spin_unlock(&drm_file->table_lock);
	drm_print_memory_stats(printer, &memory, TESSERA_MEMORY_STATUS, "memory");
	drm_print_memory_stats(printer, &sram, TESSERA_MEMORY_STATUS, "sram");
}
