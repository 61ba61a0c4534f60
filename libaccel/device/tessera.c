// SPDX-License-Identifier: MIT
/*
 * The Tessera backend: the kernel driver, by the ioctls of uapi/drm/tessera_accel.h and the
 * syncobjs and dma-bufs of the DRM core. Judges no job: the driver does, and when it refuses one,
 * the library's own checks find the words for it.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <xf86drm.h>

#include "device/device.h"
#include "device/fence.h"

#define DRIVER_NAME	"tessera"
#define DRIVER_MAJOR	0	/* of the driver's interface that this library speaks */

/* Opening --------------------------------------------------------------------------------- */

bool tessera_is_node(const char *path)
{
	char link[96], target[256];
	struct stat status;
	const char *name;
	ssize_t length;

	if (stat(path, &status) || !S_ISCHR(status.st_mode))
		return false;
	snprintf(link, sizeof(link), "/sys/dev/char/%u:%u/device/driver",
		 major(status.st_rdev), minor(status.st_rdev));
	length = readlink(link, target, sizeof(target) - 1);
	if (length < 0)
		return false;
	target[length] = '\0';
	name = strrchr(target, '/');
	return !strcmp(name ? name + 1 : target, DRIVER_NAME);
}

static int check_driver(struct accel_device *device, const char *path, struct accel_error *error)
{
	drmVersionPtr version = drmGetVersion(device->fd);
	struct accel_device_info *info = &device->info;
	int ret = 0;

	if (!version)
		return accel_error_set(error, -ENODEV, "device %s: not a DRM node, expected a "
				       "Tessera", path);
	if (strcmp(version->name, DRIVER_NAME)) {
		ret = accel_error_set(error, -ENODEV,
				      "device %s: its driver is %.30s, expected " DRIVER_NAME,
				      path, version->name);
		goto out_free;
	}
	if (version->version_major != DRIVER_MAJOR) {
		ret = accel_error_set(error, -ENOTSUP,
				      "device %s: driver version %d.%d.%d, expected %d.x", path,
				      version->version_major, version->version_minor,
				      version->version_patchlevel, DRIVER_MAJOR);
		goto out_free;
	}
	strcpy(info->driver, DRIVER_NAME);
	info->driver_version[0] = (uint32_t)version->version_major;
	info->driver_version[1] = (uint32_t)version->version_minor;
	info->driver_version[2] = (uint32_t)version->version_patchlevel;

out_free:
	drmFreeVersion(version);
	return ret;
}

static int query_info(struct accel_device *device, const char *path, struct accel_error *error)
{
	struct accel_device_info *info = &device->info;
	struct drm_tessera_dev_info answer = { 0 };
	struct drm_tessera_dev_query query = {
		.type = DRM_TESSERA_DEV_QUERY_INFO,
		.size = sizeof(answer),
		.pointer = (uintptr_t)&answer,
	};

	if (drmIoctl(device->fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query))
		return accel_error_set(error, -errno, "device %s: query: %s", path,
				       strerror(errno));
	info->kind = ACCEL_DEVICE_TESSERA;
	info->hw_version[0] = answer.hw_version >> 16;
	info->hw_version[1] = answer.hw_version & 0xffff;
	info->num_queues = answer.num_queues;
	info->max_rank = answer.max_rank;
	info->max_sources = answer.max_sources;
	info->max_windows = answer.max_windows;
	info->max_instructions = answer.max_instructions;
	info->max_jobs = answer.max_jobs;
	info->sram_size = answer.sram_size;
	info->max_buffer_size = answer.max_bo_size;
	info->grid_columns = answer.grid_columns;
	info->clock_khz = answer.clock_khz;
	return 0;
}

int tessera_open(struct accel_device *device, const char *path, struct accel_error *error)
{
	int ret;

	if (strlen(path) >= sizeof(device->info.name))
		return accel_error_set(error, -ENAMETOOLONG,
				       "device %.40s...: a path of %zu bytes, expected less than "
				       "%zu", path, strlen(path), sizeof(device->info.name));
	strcpy(device->info.name, path);
	device->fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (device->fd < 0)
		return accel_error_set(error, -errno,
				       "device %s: %s (expected \"cpu\" or the path of a Tessera "
				       "node)", path, strerror(errno));
	ret = check_driver(device, path, error);
	if (!ret)
		ret = query_info(device, path, error);
	if (ret)
		close(device->fd);
	device->backend = &tessera_backend;
	return ret;
}

static void tessera_close(struct accel_device *device)
{
	close(device->fd);
}

/* Buffers --------------------------------------------------------------------------------- */

static int explain_no_buffer(const struct accel_buffer *buffer, uint64_t size, int refusal,
			     struct accel_error *error)
{
	const struct accel_device_info *info = &buffer->device->info;

	if (buffer->pe == ACCEL_PE_NONE)
		return accel_error_set(error, refusal, "buffer: %" PRIu64 " bytes on %s: %s", size,
				       info->name, strerror(-refusal));
	return accel_error_set(error, refusal,
			       "buffer: %" PRIu64 " bytes of the memory of PE %u on %s, which has %"
			       PRIu64 " in all: %s", size, buffer->pe, info->name, info->sram_size,
			       strerror(-refusal));
}

static int tessera_create_buffer(struct accel_buffer *buffer, uint64_t size,
				 struct accel_error *error)
{
	bool is_sram = buffer->pe != ACCEL_PE_NONE;
	struct drm_tessera_bo_create create = {
		.size = size,
		.flags = is_sram ? DRM_TESSERA_BO_SRAM : 0,
		.pe = is_sram ? buffer->pe : 0,
	};

	if (drmIoctl(buffer->device->fd, DRM_IOCTL_TESSERA_BO_CREATE, &create))
		return explain_no_buffer(buffer, size, -errno, error);
	buffer->key.number = create.handle;
	buffer->size = create.size;
	return 0;
}

static int tessera_import_buffer(struct accel_buffer *buffer, int fd, struct accel_error *error)
{
	/* a dma-buf tells its size this way */
	off_t size = lseek(fd, 0, SEEK_END);
	uint32_t handle;

	if (size < 0)
		return accel_error_set(error, errno == EBADF ? -EBADF : -EINVAL,
				       "buffer: file descriptor %d, expected a dma-buf", fd);
	if (drmPrimeFDToHandle(buffer->device->fd, fd, &handle))
		return accel_error_set(error, -errno,
				       "buffer: file descriptor %d cannot be imported as a "
				       "dma-buf: %s", fd, strerror(errno));
	buffer->key.number = handle;
	buffer->size = (uint64_t)size;
	return 0;
}

static int tessera_map_buffer(struct accel_buffer *buffer, void **address,
			      struct accel_error *error)
{
	struct drm_tessera_bo_mmap_offset map = { .handle = (uint32_t)buffer->key.number };

	if (drmIoctl(buffer->device->fd, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &map))
		return accel_error_set(error, -errno, "buffer: offset for mmap: %s",
				       strerror(errno));
	*address = mmap(NULL, buffer->size, PROT_READ | PROT_WRITE, MAP_SHARED,
			buffer->device->fd, (off_t)map.offset);
	if (*address == MAP_FAILED)
		return accel_error_set(error, -errno, "buffer: mmap of %" PRIu64 " bytes: %s",
				       buffer->size, strerror(errno));
	return 0;
}

static int tessera_export_buffer(struct accel_buffer *buffer, int *fd, struct accel_error *error)
{
	if (buffer->pe != ACCEL_PE_NONE)
		return accel_error_set(error, -ENOTSUP,
				       "buffer: export: it is on-chip memory, of PE %u",
				       buffer->pe);
	if (drmPrimeHandleToFD(buffer->device->fd, (uint32_t)buffer->key.number,
			       DRM_CLOEXEC | DRM_RDWR, fd))
		return accel_error_set(error, -errno, "buffer: export as a dma-buf: %s",
				       strerror(errno));
	return 0;
}

static int tessera_wait_buffer(struct accel_buffer *buffer, enum accel_access access,
			       int64_t deadline_ns, struct accel_error *error)
{
	struct drm_tessera_bo_wait wait = {
		.handle = (uint32_t)buffer->key.number,
		.flags = access == ACCEL_ACCESS_WRITE ? DRM_TESSERA_BO_WAIT_WRITE : 0,
		.timeout_ns = deadline_ns,
	};

	if (!drmIoctl(buffer->device->fd, DRM_IOCTL_TESSERA_BO_WAIT, &wait))
		return 0;
	if (errno == ETIME)
		return accel_error_set(error, -ETIME, "buffer: jobs still use it");
	return accel_error_set(error, -errno, "buffer: wait: %s", strerror(errno));
}

static void tessera_release_buffer(struct accel_buffer *buffer)
{
	drmCloseBufferHandle(buffer->device->fd, (uint32_t)buffer->key.number);
}

/* Fences ---------------------------------------------------------------------------------- */

static int tessera_fence_wait(struct accel_fence *fence, int64_t deadline_ns,
			      struct accel_error *error)
{
	int ret = drmSyncobjWait(fence->device->fd, &fence->syncobj, 1, deadline_ns, 0, NULL);

	if (ret == -ETIME)
		return accel_error_set(error, -ETIME, "fence: the submission is not complete");
	if (ret)
		return accel_error_set(error, ret, "fence: wait: %s", strerror(-ret));
	return 0;
}

/* The driver writes the results of jobs where the library has them. */
#define SAME_PLACE(member)								\
	_Static_assert(offsetof(struct accel_job_result, member) ==			\
		       offsetof(struct drm_tessera_job_result, member) &&		\
		       sizeof(((struct accel_job_result *)0)->member) ==		\
		       sizeof(((struct drm_tessera_job_result *)0)->member),		\
		       #member " is elsewhere in the driver's result")
SAME_PLACE(cause);
SAME_PLACE(operand);
SAME_PLACE(offset);
SAME_PLACE(device_ns);
_Static_assert(sizeof(struct accel_job_result) == sizeof(struct drm_tessera_job_result),
	       "the driver's result has another size");

static int tessera_fetch_result(struct accel_fence *fence, struct accel_error *error)
{
	struct drm_tessera_submit_result answer = {
		.id = fence->id,
		.results.stride = sizeof(fence->job_results[0]),
		.results.count = fence->num_jobs,
		.results.pointer = (uintptr_t)fence->job_results,
		.counters.stride = sizeof(fence->counters[0]),
		.counters.count = fence->counters ? fence->num_jobs : 0,
		.counters.pointer = (uintptr_t)fence->counters,
	};
	struct drm_tessera_dev_query query = {
		.type = DRM_TESSERA_DEV_QUERY_SUBMIT_RESULT,
		.size = sizeof(answer),
		.pointer = (uintptr_t)&answer,
	};

	/* ENOENT: many submissions later. What is left is the fence's own error. */
	if (drmIoctl(fence->device->fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query))
		return accel_error_set(error, errno == ENOENT ? -ENODATA : -errno,
				       "fence: the result of the submission: %s", strerror(errno));
	fence->result.num_jobs = fence->num_jobs;
	fence->result.num_failed = answer.num_failed;
	fence->result.first_failed = answer.first_failed;
	fence->result.submit_ns = answer.submit_ns;
	fence->result.start_ns = answer.start_ns;
	fence->result.end_ns = answer.end_ns;
	return 0;
}

static int tessera_fence_export(struct accel_fence *fence, int *fd, struct accel_error *error)
{
	if (drmSyncobjExportSyncFile(fence->device->fd, fence->syncobj, fd))
		return accel_error_set(error, -errno, "fence: export as a sync_file: %s",
				       strerror(errno));
	return 0;
}

static int tessera_fence_status(struct accel_fence *fence)
{
	int fd;
	int ret = tessera_fence_export(fence, &fd, NULL);

	if (ret)
		return ret;
	ret = fence_sync_file_status(fd);
	close(fd);
	return ret;
}

static void tessera_fence_release(struct accel_fence *fence)
{
	drmSyncobjDestroy(fence->device->fd, fence->syncobj);
}

static const struct fence_ops tessera_fence_ops = {
	.wait = tessera_fence_wait,
	.fetch_result = tessera_fetch_result,
	.status = tessera_fence_status,
	.export = tessera_fence_export,
	.release = tessera_fence_release,
};

static int tessera_init_fence(struct accel_fence *fence, struct accel_error *error)
{
	if (drmSyncobjCreate(fence->device->fd, 0, &fence->syncobj))
		return accel_error_set(error, -errno, "submit: syncobj: %s", strerror(errno));
	fence->ops = &tessera_fence_ops;
	return 0;
}

/* Submission ------------------------------------------------------------------------------ */

/* The driver's form of a job refers to the arrays inside of the library's. */
static void write_job(struct drm_tessera_job *out, const struct accel_job *job)
{
	memset(out, 0, sizeof(*out));
	out->rank = job->rank;
	memcpy(out->extents, job->extents, sizeof(out->extents));
	out->operands.stride = sizeof(job->operands[0]);
	out->operands.count = job->num_operands;
	out->operands.pointer = (uintptr_t)job->operands;
	out->windows.stride = sizeof(job->windows[0]);
	out->windows.count = job->num_windows;
	out->windows.pointer = (uintptr_t)job->windows;
	out->program.stride = sizeof(job->program[0]);
	out->program.count = job->num_instructions;
	out->program.pointer = (uintptr_t)job->program;
}

/* What the driver would refuse, in words, and overlaps, which it does not look for. */
static int check_jobs(const struct accel_submission *submission, struct accel_error *error)
{
	struct engine_job engine_job;
	int ret = 0;

	for (size_t i = 0; i < submission->num_jobs && !ret; i++) {
		ret = job_to_engine(submission->jobs[i], true, &engine_job, error);
		if (!ret)
			ret = job_plan(&engine_job, i, submission->num_jobs, NULL, error);
	}
	return ret;
}

static int tessera_prepare(struct accel_submission *submission, struct accel_error *error)
{
	size_t num_jobs = submission->num_jobs;
	int ret = check_jobs(submission, error);

	if (ret)
		return ret;
	submission->arguments = calloc(num_jobs, sizeof(submission->arguments[0]));
	if (!submission->arguments)
		return accel_error_set(error, -ENOMEM, "submit: out of memory");
	for (size_t i = 0; i < num_jobs; i++)
		write_job(&submission->arguments[i], submission->jobs[i]);
	return 0;
}

static void tessera_unprepare(struct accel_submission *submission)
{
	free(submission->arguments);
}

/* A syncobj of this device for a fence of another, or none (0) for one that is complete. */
static int import_in_fence(struct accel_device *device, struct accel_fence *fence,
			   uint32_t *handle, struct accel_error *error)
{
	int fd;
	int ret = fence->ops->export(fence, &fd, error);

	*handle = 0;
	if (ret == -ENOTSUP)
		return 0;
	if (ret)
		return ret;
	if (drmSyncobjCreate(device->fd, 0, handle)) {
		ret = accel_error_set(error, -errno, "submit: syncobj: %s", strerror(errno));
	} else if (drmSyncobjImportSyncFile(device->fd, *handle, fd)) {
		ret = accel_error_set(error, -errno, "submit: fence to wait for: %s",
				      strerror(errno));
		drmSyncobjDestroy(device->fd, *handle);
	}
	close(fd);
	return ret;
}

/* The syncobjs that a submission waits for, and which of them were made for it. */
struct in_syncs {
	uint32_t count;
	struct drm_tessera_sync syncs[DRM_TESSERA_MAX_SYNCS];
	bool is_temporary[DRM_TESSERA_MAX_SYNCS];
};

static void release_in_syncs(struct accel_device *device, struct in_syncs *in)
{
	for (uint32_t i = 0; i < in->count; i++) {
		if (in->is_temporary[i])
			drmSyncobjDestroy(device->fd, in->syncs[i].handle);
	}
}

static int collect_in_syncs(struct accel_device *device, struct accel_fence *const *in_fences,
			    size_t num_in_fences, struct in_syncs *in, struct accel_error *error)
{
	in->count = 0;
	for (size_t i = 0; i < num_in_fences; i++) {
		bool is_own = in_fences[i]->device == device;
		uint32_t handle = in_fences[i]->syncobj;
		int ret = is_own ? 0 : import_in_fence(device, in_fences[i], &handle, error);

		if (ret) {
			release_in_syncs(device, in);
			return ret;
		}
		if (!handle)
			continue;
		in->syncs[in->count] = (struct drm_tessera_sync){ .handle = handle };
		in->is_temporary[in->count] = !is_own;
		in->count++;
	}
	return 0;
}

_Static_assert(ACCEL_QUEUE_ANY == DRM_TESSERA_QUEUE_ANY, "queues go to the driver as they are");
_Static_assert((int)ACCEL_PRIORITY_NORMAL == (int)DRM_TESSERA_PRIORITY_NORMAL &&
	       (int)ACCEL_PRIORITY_LOW == (int)DRM_TESSERA_PRIORITY_LOW,
	       "priorities go to the driver as they are");

static int submit_jobs(struct accel_submission *submission, const struct in_syncs *in,
		       struct accel_error *error)
{
	struct accel_device *device = submission->device;
	struct accel_fence *fence = submission->fence;
	struct drm_tessera_sync out = { .handle = fence->syncobj };
	struct drm_tessera_submit submit = {
		.queue = submission->queue,
		.priority = atomic_load_explicit(&device->priority, memory_order_relaxed),
		.flags = fence->counters ? DRM_TESSERA_SUBMIT_COUNTERS : 0,
		.jobs.stride = sizeof(submission->arguments[0]),
		.jobs.count = (uint32_t)submission->num_jobs,
		.jobs.pointer = (uintptr_t)submission->arguments,
		.in_syncs.stride = sizeof(in->syncs[0]),
		.in_syncs.count = in->count,
		.in_syncs.pointer = (uintptr_t)in->syncs,
		.out_syncs.stride = sizeof(out),
		.out_syncs.count = 1,
		.out_syncs.pointer = (uintptr_t)&out,
	};

	if (drmIoctl(device->fd, DRM_IOCTL_TESSERA_SUBMIT, &submit))
		return accel_error_set(error, -errno, "submit: the driver of %s refused it: %s",
				       submission->device->info.name, strerror(errno));
	fence->id = submit.id;
	return 0;
}

static int tessera_submit(struct accel_submission *submission,
			  struct accel_fence *const *in_fences, size_t num_in_fences,
			  struct accel_error *error)
{
	struct in_syncs in;
	int ret = collect_in_syncs(submission->device, in_fences, num_in_fences, &in, error);

	if (ret)
		return ret;
	ret = submit_jobs(submission, &in, error);
	release_in_syncs(submission->device, &in);
	return ret;
}

const struct backend tessera_backend = {
	.create_buffer = tessera_create_buffer,
	.import_buffer = tessera_import_buffer,
	.map_buffer = tessera_map_buffer,
	.export_buffer = tessera_export_buffer,
	.wait_buffer = tessera_wait_buffer,
	.release_buffer = tessera_release_buffer,
	.init_fence = tessera_init_fence,
	.prepare = tessera_prepare,
	.unprepare = tessera_unprepare,
	.submit = tessera_submit,
	.close = tessera_close,
};
