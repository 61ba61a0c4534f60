// SPDX-License-Identifier: GPL-2.0-only
/*
 * DEV_QUERY. Every answer is a struct that may grow: what fits is copied, what userspace expects
 * beyond what the driver has is zeroed.
 */
#include <linux/uaccess.h>

#include <drm/drm_file.h>
#include <drm/drm_print.h>
#include <drm/tessera_accel.h>

#include "tessera_device.h"
#include "tessera_file.h"
#include "tessera_submit.h"

/* Like copy_struct_to_user(), which Linux 6.12 does not have yet */
static int copy_out(u64 pointer, size_t user_size, const void *data, size_t size)
{
	void __user *user = u64_to_user_ptr(pointer);
	size_t copied = min(user_size, size);

	return copy_to_user(user, data, copied) ||
	       clear_user(user + copied, user_size - copied) ? -EFAULT : 0;
}

static int query_info(struct tessera_device *tdev, struct drm_file *drm_file,
		      const struct drm_tessera_dev_query *args)
{
	const struct drm_tessera_dev_info info = {
		.hw_version = tdev->hw_version,
		.num_queues = tdev->num_queues,
		.max_rank = DRM_TESSERA_MAX_RANK,
		.max_sources = DRM_TESSERA_MAX_SOURCES,
		.max_windows = DRM_TESSERA_MAX_WINDOWS,
		.max_instructions = DRM_TESSERA_MAX_INSTRUCTIONS,
		.max_jobs = DRM_TESSERA_MAX_JOBS,
		.max_syncs = DRM_TESSERA_MAX_SYNCS,
		.sram_size = tdev->sram_size,
		.max_bo_size = tdev->max_bo_size,
		.grid_columns = tdev->grid_columns,
		.clock_khz = tdev->clock_khz,
	};

	return copy_out(args->pointer, args->size, &info, sizeof(info));
}

/* As many of count elements of a size as the array takes; data NULL: zeros */
static int copy_elements(const struct drm_tessera_array *array, u32 count, const void *data,
			 size_t size)
{
	u32 n;
	int ret;

	for (n = 0; n < min(array->count, count); n++) {
		ret = copy_out(array->pointer + (u64)n * array->stride, array->stride,
			       data + n * size, data ? size : 0);
		if (ret)
			return ret;
	}
	return 0;
}

static int answer_submit_result(struct drm_device *drm, const struct tessera_result *result,
				const struct drm_tessera_dev_query *args,
				struct drm_tessera_submit_result *answer)
{
	int ret = tessera_array_check(drm, &answer->results, U32_MAX, "results") ?:
		  tessera_array_check(drm, &answer->counters, U32_MAX, "counters");

	if (ret)
		return ret;
	/* Pairs with tessera_submission_end() */
	answer->state = smp_load_acquire(&result->state);
	answer->num_jobs = result->num_jobs;
	if (answer->state != DRM_TESSERA_SUBMIT_PENDING) {
		answer->num_failed = result->num_failed;
		answer->first_failed = result->first_failed;
		answer->submit_ns = ktime_to_ns(result->submit_time);
		answer->start_ns = ktime_to_ns(result->start_time);
		answer->end_ns = ktime_to_ns(result->end_time);
		ret = copy_elements(&answer->results, result->num_jobs, result->jobs,
				    sizeof(*result->jobs)) ?:
		      copy_elements(&answer->counters, result->num_jobs, result->counters,
				    sizeof(*result->counters));
	}
	return ret ?: copy_out(args->pointer, args->size, answer, sizeof(*answer));
}

static int query_submit_result(struct tessera_device *tdev, struct drm_file *drm_file,
			       const struct drm_tessera_dev_query *args)
{
	struct drm_tessera_submit_result in = { }, answer = { };
	size_t size = min_t(size_t, args->size, sizeof(in));
	struct tessera_result *result;
	int ret;

	if (copy_from_user(&in, u64_to_user_ptr(args->pointer), size))
		return -EFAULT;
	/* The other members are not looked at */
	answer.id = in.id;
	answer.results = in.results;
	answer.counters = in.counters;
	result = tessera_file_find_result(drm_file->driver_priv, answer.id);
	if (!result) {
		drm_dbg(&tdev->drm, "submission %llu is unknown or no longer kept\n", answer.id);
		return -ENOENT;
	}
	ret = answer_submit_result(&tdev->drm, result, args, &answer);
	tessera_result_put(result);
	return ret;
}

static const struct query {
	u32 size;
	int (*answer)(struct tessera_device *tdev, struct drm_file *drm_file,
		      const struct drm_tessera_dev_query *args);
} queries[] = {
	[DRM_TESSERA_DEV_QUERY_INFO] = { sizeof(struct drm_tessera_dev_info), query_info },
	[DRM_TESSERA_DEV_QUERY_SUBMIT_RESULT] = {
		sizeof(struct drm_tessera_submit_result), query_submit_result,
	},
};

/**
 * tessera_ioctl_dev_query() - DRM_IOCTL_TESSERA_DEV_QUERY
 * @drm: the device
 * @data: &struct drm_tessera_dev_query
 * @drm_file: the file
 *
 * Tells what is known without the hardware.
 *
 * Return: 0 or an error.
 */
int tessera_ioctl_dev_query(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_tessera_dev_query *args = data;
	int ret = 0;

	if (args->type >= ARRAY_SIZE(queries)) {
		drm_dbg(drm, "query of type %u, expected less than %zu\n", args->type,
			ARRAY_SIZE(queries));
		return -EINVAL;
	}
	if (args->pointer) {
		if (args->size > DRM_TESSERA_MAX_STRIDE) {
			drm_dbg(drm, "%u bytes for an answer, expected at most %u\n", args->size,
				DRM_TESSERA_MAX_STRIDE);
			return -EINVAL;
		}
		ret = queries[args->type].answer(to_tessera_device(drm), drm_file, args);
	}
	args->size = queries[args->type].size;
	return ret;
}
