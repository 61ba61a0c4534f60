// SPDX-License-Identifier: MIT
/*
 * The CPU backend: buffers are sealed memfds, wherever they are said to be, jobs run in the thread
 * that submits them with the help of threads.c's, fences are complete when they are made.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/cpu_grid.h"
#include "device/device.h"
#include "device/counters.h"
#include "device/fence.h"

static int cpu_identify(struct accel_buffer *buffer, int fd, struct accel_error *error)
{
	struct stat status;

	if (fstat(fd, &status))
		return accel_error_set(error, -errno, "buffer: file descriptor %d: %s", fd,
				       strerror(errno));
	buffer->key.space = status.st_dev;
	buffer->key.number = status.st_ino;
	buffer->size = (uint64_t)status.st_size;
	return 0;
}

/* Takes size bytes of the memory of the buffer's PE. */
static int take_sram(struct accel_buffer *buffer, uint64_t size, struct accel_error *error)
{
	struct accel_device *device = buffer->device;
	uint64_t free_size;

	pthread_mutex_lock(&device->buffers_lock);
	free_size = device->info.sram_size - device->sram_used[buffer->pe];
	if (size <= free_size)
		device->sram_used[buffer->pe] += size;
	pthread_mutex_unlock(&device->buffers_lock);
	if (size <= free_size)
		return 0;
	return accel_error_set(error, -ENOSPC,
			       "buffer: %" PRIu64 " bytes of the memory of PE %u on %s: %" PRIu64
			       " of %" PRIu64 " are free", size, buffer->pe, device->info.name,
			       free_size, device->info.sram_size);
}

/* Called under buffers_lock. */
static void cpu_release_buffer(struct accel_buffer *buffer)
{
	if (buffer->pe != ACCEL_PE_NONE)
		buffer->device->sram_used[buffer->pe] -= buffer->size;
}

static int create_memfd(struct accel_buffer *buffer, uint64_t size, struct accel_error *error)
{
	int fd = memfd_create("accel", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int ret;

	/* sealed: whoever it is exported to cannot take the memory away under a running job */
	if (fd < 0 || ftruncate(fd, (off_t)size) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
		ret = accel_error_set(error, -errno, "buffer: memfd of %llu bytes: %s",
				      (unsigned long long)size, strerror(errno));
		goto err_close;
	}
	ret = cpu_identify(buffer, fd, error);
	if (ret)
		goto err_close;
	buffer->fd = fd;
	return 0;

err_close:
	if (fd >= 0)
		close(fd);
	return ret;
}

static int cpu_create_buffer(struct accel_buffer *buffer, uint64_t size, struct accel_error *error)
{
	uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	/* does not overflow: size is at most what this machine has of memory */
	uint64_t rounded_size = (size + page_size - 1) & ~(page_size - 1);
	int ret;

	if (buffer->pe == ACCEL_PE_NONE)
		return create_memfd(buffer, rounded_size, error);
	ret = take_sram(buffer, rounded_size, error);
	if (ret)
		return ret;
	ret = create_memfd(buffer, rounded_size, error);
	if (ret) {
		pthread_mutex_lock(&buffer->device->buffers_lock);
		buffer->device->sram_used[buffer->pe] -= rounded_size;
		pthread_mutex_unlock(&buffer->device->buffers_lock);
	}
	return ret;
}

static int cpu_import_buffer(struct accel_buffer *buffer, int fd, struct accel_error *error)
{
	int flags = fcntl(fd, F_GETFL);
	int seals = fcntl(fd, F_GET_SEALS);
	int ret;

	if (flags < 0)
		return accel_error_set(error, -errno, "buffer: file descriptor %d: %s", fd,
				       strerror(errno));
	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		return accel_error_set(error, -EINVAL,
				       "buffer: file descriptor %d, expected a memfd sealed "
				       "against shrinking (the CPU takes no dma-buf)", fd);
	if ((flags & O_ACCMODE) != O_RDWR || (seals & F_SEAL_WRITE))
		return accel_error_set(error, -EACCES,
				       "buffer: file descriptor %d is read-only, expected one to "
				       "read and write", fd);
	ret = cpu_identify(buffer, fd, error);
	if (ret)
		return ret;
	if (!buffer->size)
		return accel_error_set(error, -EINVAL,
				       "buffer: the memfd of file descriptor %d is empty, expected "
				       "1 byte or more", fd);
	buffer->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (buffer->fd < 0)
		return accel_error_set(error, -errno, "buffer: file descriptor %d: %s", fd,
				       strerror(errno));
	return 0;
}

/* No memfd has this key: two buffers of the same memory are two. */
static void cpu_adopt_memory(struct accel_buffer *buffer)
{
	buffer->key.space = UINT64_MAX;
	buffer->key.number = (uint64_t)(uintptr_t)buffer;
}

static int cpu_map_buffer(struct accel_buffer *buffer, void **address, struct accel_error *error)
{
	*address = mmap(NULL, buffer->size, PROT_READ | PROT_WRITE, MAP_SHARED, buffer->fd, 0);
	if (*address == MAP_FAILED)
		return accel_error_set(error, -errno, "buffer: mmap of %llu bytes: %s",
				       (unsigned long long)buffer->size, strerror(errno));
	return 0;
}

static int cpu_export_buffer(struct accel_buffer *buffer, int *fd, struct accel_error *error)
{
	if (buffer->is_foreign)
		return accel_error_set(error, -ENOTSUP,
				       "buffer: export: it is memory of the caller's, which no "
				       "file descriptor stands for");
	if (buffer->pe != ACCEL_PE_NONE)
		return accel_error_set(error, -ENOTSUP,
				       "buffer: export: it is on-chip memory, of PE %u",
				       buffer->pe);
	*fd = fcntl(buffer->fd, F_DUPFD_CLOEXEC, 0);
	if (*fd < 0)
		return accel_error_set(error, -errno, "buffer: export: %s", strerror(errno));
	return 0;
}

/* Nothing is ever under way: jobs run inside accel_submit(). */
static int cpu_wait_buffer(struct accel_buffer *buffer, enum accel_access access,
			   int64_t deadline_ns, struct accel_error *error)
{
	(void)buffer;
	(void)access;
	(void)deadline_ns;
	(void)error;
	return 0;
}

static int cpu_fence_wait(struct accel_fence *fence, int64_t deadline_ns,
			  struct accel_error *error)
{
	(void)fence;
	(void)deadline_ns;
	(void)error;
	return 0;
}

static int cpu_fence_export(struct accel_fence *fence, int *fd, struct accel_error *error)
{
	(void)fence;
	(void)fd;
	return accel_error_set(error, -ENOTSUP,
			       "fence: one of the CPU is complete already and has no sync_file");
}

static void cpu_fence_release(struct accel_fence *fence)
{
	(void)fence;
}

/* The result is there from the start: it is neither fetched nor asked of a sync_file. */
static const struct fence_ops cpu_fence_ops = {
	.wait = cpu_fence_wait,
	.export = cpu_fence_export,
	.release = cpu_fence_release,
};

static int cpu_init_fence(struct accel_fence *fence, struct accel_error *error)
{
	(void)error;
	fence->ops = &cpu_fence_ops;
	return 0;
}

static void cpu_unprepare(struct accel_submission *submission)
{
	for (size_t i = 0; i < submission->num_jobs; i++)
		engine_plan_destroy(submission->plans[i]);
	free(submission->plans);
}

/* Plans for all of the jobs, or none. */
static int cpu_prepare(struct accel_submission *submission, struct accel_error *error)
{
	size_t num_jobs = submission->num_jobs;
	struct engine_job engine_job;

	submission->plans = calloc(num_jobs, sizeof(submission->plans[0]));
	if (!submission->plans)
		return accel_error_set(error, -ENOMEM, "submit: out of memory");
	for (size_t i = 0; i < num_jobs; i++) {
		int ret = job_to_engine(submission->jobs[i], false, &engine_job, error);

		if (!ret)
			ret = job_plan(&engine_job, i, num_jobs, &submission->plans[i], error);
		if (ret) {
			cpu_unprepare(submission);
			return ret;
		}
	}
	return 0;
}

static void run_plan(struct threads *threads, const struct engine_plan *plan,
		     struct accel_job_result *result)
{
	struct engine_fault fault = { 0 };
	int64_t start_ns = device_now_ns();

	memset(result, 0, sizeof(*result));
	if (threads_run(threads, plan, &fault)) {
		result->cause = (enum accel_cause)fault.cause;
		result->operand = fault.operand;
		result->offset = fault.offset;
	}
	result->device_ns = (uint64_t)(device_now_ns() - start_ns);
}

static void run_plans(struct threads *threads, struct engine_plan *const *plans,
		      struct accel_fence *fence)
{
	struct accel_fence_result *result = &fence->result;

	result->num_jobs = fence->num_jobs;
	result->num_failed = 0;
	result->first_failed = fence->num_jobs;
	result->start_ns = (uint64_t)device_now_ns();
	for (uint32_t i = 0; i < fence->num_jobs; i++) {
		run_plan(threads, plans[i], &fence->job_results[i]);
		if (fence->job_results[i].cause == ACCEL_CAUSE_NONE)
			continue;
		if (!result->num_failed++)
			result->first_failed = i;
	}
	result->end_ns = (uint64_t)device_now_ns();
}

/* Of those that succeeded; what cannot be counted for lack of memory says so. */
static void count_jobs(const struct accel_submission *submission, struct accel_fence *fence)
{
	for (uint32_t i = 0; i < fence->num_jobs; i++) {
		if (fence->job_results[i].cause == ACCEL_CAUSE_NONE &&
		    counters_of_job(submission->jobs[i], &fence->counters[i]))
			fence->counters[i].uncounted = 1;
	}
}

static int cpu_submit(struct accel_submission *submission, struct accel_fence *const *in_fences,
		      size_t num_in_fences, struct accel_error *error)
{
	struct accel_fence *fence = submission->fence;

	fence->result.submit_ns = (uint64_t)device_now_ns();
	for (size_t i = 0; i < num_in_fences; i++) {
		int ret = in_fences[i]->ops->wait(in_fences[i], INT64_MAX, error);

		if (ret)
			return ret;
	}
	run_plans(&submission->device->threads, submission->plans, fence);
	if (fence->counters)
		count_jobs(submission, fence);
	fence->has_result = true;
	return 0;
}

static void cpu_close(struct accel_device *device)
{
	threads_destroy(&device->threads);
}

const struct backend cpu_backend = {
	.create_buffer = cpu_create_buffer,
	.import_buffer = cpu_import_buffer,
	.adopt_memory = cpu_adopt_memory,
	.map_buffer = cpu_map_buffer,
	.export_buffer = cpu_export_buffer,
	.wait_buffer = cpu_wait_buffer,
	.release_buffer = cpu_release_buffer,
	.init_fence = cpu_init_fence,
	.prepare = cpu_prepare,
	.unprepare = cpu_unprepare,
	.submit = cpu_submit,
	.close = cpu_close,
};

int cpu_open(struct accel_device *device, const char *name, struct accel_error *error)
{
	struct accel_device_info *info = &device->info;
	const char *colon = strchr(name, ':');
	struct cpu_grid grid;
	int ret;

	if (strlen(name) >= sizeof(info->name))
		return accel_error_set(error, -ENAMETOOLONG,
				       "device %.40s...: a name of %zu bytes, expected less than "
				       "%zu", name, strlen(name), sizeof(info->name));
	ret = cpu_grid_parse(colon ? colon + 1 : "", &grid, error);
	if (ret)
		return ret;
	device->backend = &cpu_backend;
	threads_init(&device->threads);
	info->kind = ACCEL_DEVICE_CPU;
	strcpy(info->name, name);
	strcpy(info->driver, "libaccel");
	info->driver_version[0] = ACCEL_VERSION_MAJOR;
	info->driver_version[1] = ACCEL_VERSION_MINOR;
	info->driver_version[2] = ACCEL_VERSION_PATCH;
	info->num_queues = grid.num_pes;
	info->grid_columns = grid.columns;
	info->clock_khz = counters_clock_khz();
	info->sram_size = grid.sram_size;
	info->max_rank = ACCEL_MAX_RANK;
	info->max_sources = ACCEL_MAX_SOURCES;
	info->max_windows = ACCEL_MAX_WINDOWS;
	info->max_instructions = ACCEL_MAX_INSTRUCTIONS;
	info->max_jobs = ACCEL_MAX_JOBS;
	info->max_buffer_size =
		(uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	return 0;
}
