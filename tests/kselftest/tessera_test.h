/* SPDX-License-Identifier: MIT */
/*
 * What the kernel driver's tests share: finding and opening the device, buffers, building a job,
 * submitting it and learning how it ended, a fence that the test itself signals, and loading and
 * unloading the module. It speaks to the kernel alone, not through libaccel, and checks nothing
 * that is the subject of a test.
 *
 * Helpers that return an int return 0 or a negative errno. Helpers that take _metadata are for
 * what has to work for the test to make sense: they end it where it does not.
 */
#ifndef TESSERA_TEST_H
#define TESSERA_TEST_H

/*
 * The harness compares values of either sign as they are, prints them by their own sign, and hands
 * each test a fixture and a variant whether it looks at them or not. Older ones leave a failed test
 * by longjmp(), after which they look at nothing that may have changed.
 */
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wclobbered"
#endif

#include "kselftest_harness.h"

/* Seconds, for what hangs: an emulated CPU takes its time, and more of it where it has to wait. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	120

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>

#include <linux/dma-buf.h>
#include <linux/sync_file.h>
#include <xf86drm.h>

#include <drm/tessera_accel.h>

#define TEST_PAGE_SIZE		4096ULL
#define TEST_BAD_POINTER	8ULL	/* in the first page, which is never mapped */
#define TEST_NO_HANDLE		0x7ffffff0U

/* ioctl that is repeated when a signal came: 0 or -errno */
static inline int test_ioctl(int fd, unsigned long request, void *argument)
{
	return drmIoctl(fd, request, argument) ? -errno : 0;
}

static inline __s64 test_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/*
 * Finding and opening
 */

/* Opens the first node of a driver of this name in the folder: a descriptor or -ENODEV. */
static inline int test_open_driver(const char *folder, const char *prefix, const char *name)
{
	struct dirent *entry;
	DIR *dir = opendir(folder);
	int found = -ENODEV;

	while (dir && found < 0 && (entry = readdir(dir))) {
		char driver[32] = "", path[PATH_MAX];
		struct drm_version version = { .name = driver, .name_len = sizeof(driver) - 1 };
		int fd;

		if (strncmp(entry->d_name, prefix, strlen(prefix)))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!test_ioctl(fd, DRM_IOCTL_VERSION, &version) && !strcmp(driver, name))
			found = fd;
		else
			close(fd);
	}
	if (dir)
		closedir(dir);
	return found;
}

static inline int test_open(struct __test_metadata *_metadata)
{
	int fd = test_open_driver("/dev/accel", "accel", "tessera");

	ASSERT_GE(fd, 0)
		TH_LOG("no node in /dev/accel is driven by tessera");
	return fd;
}

static inline struct drm_tessera_dev_info test_info(struct __test_metadata *_metadata, int fd)
{
	struct drm_tessera_dev_info info = {};
	struct drm_tessera_dev_query query = {
		.type = DRM_TESSERA_DEV_QUERY_INFO,
		.size = sizeof(info),
		.pointer = (uintptr_t)&info,
	};

	ASSERT_EQ(0, test_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query));
	return info;
}

/* Name of the device on its bus, such as 0000:00:03.0 */
static inline void test_bus_name(struct __test_metadata *_metadata, int fd, char name[NAME_MAX])
{
	char link[64], target[PATH_MAX];
	struct stat status;
	ssize_t length;

	ASSERT_EQ(0, fstat(fd, &status));
	snprintf(link, sizeof(link), "/sys/dev/char/%u:%u/device", major(status.st_rdev),
		 minor(status.st_rdev));
	length = readlink(link, target, sizeof(target) - 1);
	ASSERT_GT(length, 0);
	target[length] = '\0';
	snprintf(name, NAME_MAX, "%s", strrchr(target, '/') + 1);
}

/* Writes the text to the file: 0 or -errno */
static inline int test_write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/* Has the driver "bind" or "unbind" a device: 0 or -errno, that of its probe */
static inline int test_driver_write(const char *file, const char *bus)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/bus/pci/drivers/tessera/%s", file);
	return test_write_file(path, bus);
}

#define TEST_REGISTERS_SIZE	0x2000	/* the global ones, and those of queue 0 */

/*
 * The registers, or NULL where the kernel keeps them for the driver: of a device that is bound,
 * without iomem=relaxed.
 */
static inline volatile __u32 *test_registers_map(struct __test_metadata *_metadata,
						 const char *bus)
{
	char path[PATH_MAX];
	void *registers;
	int resource;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/resource0", bus);
	resource = open(path, O_RDWR | O_CLOEXEC);
	ASSERT_GE(resource, 0);
	registers = mmap(NULL, TEST_REGISTERS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, resource,
			 0);
	close(resource);
	return registers == MAP_FAILED ? NULL : registers;
}

/* Path of a file of the device, below its folder in sysfs */
static inline void test_sysfs_path(struct __test_metadata *_metadata, int fd, const char *file,
				   char path[PATH_MAX])
{
	char bus[NAME_MAX];

	test_bus_name(_metadata, fd, bus);
	snprintf(path, PATH_MAX, "/sys/bus/pci/devices/%s/%s", bus, file);
}

static inline void test_debugfs_path(struct __test_metadata *_metadata, int fd, const char *file,
				     char path[PATH_MAX])
{
	char bus[NAME_MAX];

	test_bus_name(_metadata, fd, bus);
	snprintf(path, PATH_MAX, "/sys/kernel/debug/accel/%s/%s", bus, file);
}

/*
 * Writes a number to a file of the device in debugfs: -ENOENT where the device has no such test.
 * From then on the device stays awake, for one that sleeps forgets such a number.
 */
static inline int test_write_debugfs(struct __test_metadata *_metadata, int fd, const char *file,
				     __u32 value)
{
	char path[PATH_MAX], text[16];

	test_sysfs_path(_metadata, fd, "power/control", path);
	ASSERT_EQ(0, test_write_file(path, "on"));
	test_debugfs_path(_metadata, fd, file, path);
	snprintf(text, sizeof(text), "%u", value);
	return test_write_file(path, text);
}

/* Reads a number from a file of the device in debugfs */
static inline unsigned long test_read_debugfs(struct __test_metadata *_metadata, int fd,
					      const char *file)
{
	char path[PATH_MAX], text[32] = "";
	int debugfs;

	test_debugfs_path(_metadata, fd, file, path);
	debugfs = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_GE(debugfs, 0);
	ASSERT_GT(read(debugfs, text, sizeof(text) - 1), 0);
	close(debugfs);
	return strtoul(text, NULL, 0);
}

/* Whether the device sleeps by itself */
static inline bool test_is_suspended(struct __test_metadata *_metadata, const char *bus)
{
	char path[PATH_MAX], text[32] = "";
	int file;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/power/runtime_status", bus);
	file = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_GE(file, 0);
	ASSERT_GT(read(file, text, sizeof(text) - 1), 0);
	close(file);
	return !strcmp(text, "suspended\n");
}

/* What the kernel says from now on: a descriptor */
static inline int test_log_open(struct __test_metadata *_metadata)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	ASSERT_GE(log, 0);
	lseek(log, 0, SEEK_END);
	return log;
}

/* Lines of it, since the last look, that hold the text */
static inline unsigned int test_log_count(int log, const char *text)
{
	unsigned int count = 0;
	char line[1024];
	ssize_t length;

	for (;;) {
		length = read(log, line, sizeof(line) - 1);
		if (length < 0 && errno != EPIPE)
			return count;
		line[length > 0 ? length : 0] = '\0';
		count += strstr(line, text) != NULL;
	}
}

/*
 * Buffers
 */

struct test_buffer {
	__u32 handle;
	__u64 size;
	__u8 *map;
};

static inline void *test_map(struct __test_metadata *_metadata, int fd, __u32 handle, __u64 size)
{
	struct drm_tessera_bo_mmap_offset where = { .handle = handle };
	void *map;

	ASSERT_EQ(0, test_ioctl(fd, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &where));
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, where.offset);
	ASSERT_NE(MAP_FAILED, map);
	return map;
}

static inline struct test_buffer test_buffer_create(struct __test_metadata *_metadata, int fd,
						    __u64 size)
{
	struct drm_tessera_bo_create create = { .size = size };
	struct test_buffer buffer;

	ASSERT_EQ(0, test_ioctl(fd, DRM_IOCTL_TESSERA_BO_CREATE, &create));
	buffer.handle = create.handle;
	buffer.size = create.size;
	buffer.map = test_map(_metadata, fd, buffer.handle, buffer.size);
	return buffer;
}

/* In the on-chip memory of a processing element */
static inline struct test_buffer test_sram_create(struct __test_metadata *_metadata, int fd,
						  __u64 size, __u32 pe)
{
	struct drm_tessera_bo_create create = {
		.size = size, .flags = DRM_TESSERA_BO_SRAM, .pe = pe,
	};
	struct test_buffer buffer;

	ASSERT_EQ(0, test_ioctl(fd, DRM_IOCTL_TESSERA_BO_CREATE, &create));
	buffer.handle = create.handle;
	buffer.size = create.size;
	buffer.map = test_map(_metadata, fd, buffer.handle, buffer.size);
	return buffer;
}

static inline int test_handle_close(int fd, __u32 handle)
{
	struct drm_gem_close close = { .handle = handle };

	return test_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &close);
}

static inline void test_buffer_destroy(struct __test_metadata *_metadata, int fd,
				       struct test_buffer *buffer)
{
	ASSERT_EQ(0, munmap(buffer->map, buffer->size));
	ASSERT_EQ(0, test_handle_close(fd, buffer->handle));
}

static inline int test_buffer_wait(int fd, __u32 handle, __u32 flags, __s64 timeout_ns)
{
	struct drm_tessera_bo_wait wait = {
		.handle = handle,
		.flags = flags,
		.timeout_ns = timeout_ns,
	};

	return test_ioctl(fd, DRM_IOCTL_TESSERA_BO_WAIT, &wait);
}

/* A byte that depends on the seed and on where it stands */
static inline __u8 test_pattern(__u32 seed, __u64 position)
{
	__u64 x = (position + 1) * 0x9e3779b97f4a7c15ULL ^ seed * 0xbf58476d1ce4e5b9ULL;

	return (x ^ x >> 29) >> 16;
}

static inline void test_fill(void *memory, __u64 size, __u32 seed)
{
	__u8 *byte = memory;
	__u64 i;

	for (i = 0; i < size; i++)
		byte[i] = test_pattern(seed, i);
}

/* The position of the first byte that is not as test_fill() left it, or the size */
static inline __u64 test_filled(const void *memory, __u64 size, __u32 seed)
{
	const __u8 *byte = memory;
	__u64 i;

	for (i = 0; i < size && byte[i] == test_pattern(seed, i); i++)
		;
	return i;
}

/* The position of the first byte that does not have the value, or the size */
static inline __u64 test_constant(const void *memory, __u64 size, __u8 value)
{
	const __u8 *byte = memory;
	__u64 i;

	for (i = 0; i < size && byte[i] == value; i++)
		;
	return i;
}

/*
 * Jobs
 */

/* A job and its arrays, each with room for one more than is allowed. It must not be moved. */
struct test_job {
	struct drm_tessera_job job;
	struct drm_tessera_operand operands[DRM_TESSERA_MAX_OPERANDS + 1];
	struct drm_tessera_window windows[DRM_TESSERA_MAX_WINDOWS + 1];
	struct drm_tessera_instruction program[DRM_TESSERA_MAX_INSTRUCTIONS + 1];
};

/* An array of the test's own, for an ioctl */
static inline struct drm_tessera_array test_array(const void *elements, __u32 stride, __u32 count)
{
	return (struct drm_tessera_array){
		.stride = stride,
		.count = count,
		.pointer = (uintptr_t)elements,
	};
}

#define TEST_ARRAY(elements, count)	test_array(elements, sizeof(*(elements)), count)

/* A job of so many operands that does nothing yet */
static inline void test_job_init(struct test_job *test, __u32 rank, __u32 num_operands)
{
	memset(test, 0, sizeof(*test));
	test->job.rank = rank;
	test->job.operands = TEST_ARRAY(test->operands, num_operands);
	test->job.windows = TEST_ARRAY(test->windows, 0);
	test->job.program = TEST_ARRAY(test->program, 0);
}

/* Moves count elements of 4 bytes, from the start of one buffer to the start of another */
static inline void test_job_copy(struct test_job *test, __u32 destination, __u32 source,
				 __u64 count)
{
	__u32 i;

	test_job_init(test, 1, 2);
	test->job.extents[0] = count;
	test->operands[0].handle = destination;
	test->operands[1].handle = source;
	for (i = 0; i < 2; i++) {
		test->operands[i].dtype = DRM_TESSERA_DTYPE_U32;
		test->operands[i].address.strides[0] = 4;
	}
}

/* Adds one to the u32 at the start of the buffer: r1 = 1; r0 = r0 + r1, in place */
static inline void test_job_increment(struct test_job *test, __u32 handle)
{
	test_job_copy(test, handle, handle, 1);
	test->job.program.count = 2;
	test->program[0].opcode = DRM_TESSERA_OP_CONST;
	test->program[0].dtype = DRM_TESSERA_DTYPE_U32;
	test->program[0].dst = 1;
	test->program[0].immediate = 1;
	test->program[1].opcode = DRM_TESSERA_OP_ADD;
	test->program[1].dtype = DRM_TESSERA_DTYPE_U32;
	test->program[1].src[1] = 1;
}

/* Gathers the source of a copy by indices of which only 0 is allowed: those of type u8 in handle */
static inline void test_job_gather(struct test_job *test, __u32 handle)
{
	struct drm_tessera_operand *source = &test->operands[1];

	source->flags = DRM_TESSERA_OPERAND_INDIRECT;
	source->address.strides[0] = 0;
	source->index_handle = handle;
	source->index_dtype = DRM_TESSERA_DTYPE_U8;
	source->index_stride = 4;
	source->index_limit = 1;
}

/*
 * Submitting
 */

static inline __u32 test_syncobj_create(struct __test_metadata *_metadata, int fd)
{
	struct drm_syncobj_create create = {};

	ASSERT_EQ(0, test_ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &create));
	return create.handle;
}

static inline void test_syncobj_destroy(struct __test_metadata *_metadata, int fd, __u32 handle)
{
	struct drm_syncobj_destroy destroy = { .handle = handle };

	ASSERT_EQ(0, test_ioctl(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy));
}

/* Waits until the point of the syncobj has a fence and it has signalled; point 0: a binary one */
static inline int test_syncobj_wait(int fd, __u32 handle, __u64 point, __s64 timeout_ns)
{
	struct drm_syncobj_timeline_wait wait = {
		.handles = (uintptr_t)&handle,
		.points = (uintptr_t)&point,
		.count_handles = 1,
		.timeout_nsec = timeout_ns,
		.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
	};

	return test_ioctl(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait);
}

/* The fence of a binary syncobj as a sync_file: a descriptor */
static inline int test_syncobj_export(struct __test_metadata *_metadata, int fd, __u32 handle)
{
	struct drm_syncobj_handle export = {
		.handle = handle,
		.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
		.fd = -1,
	};

	ASSERT_EQ(0, test_ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &export));
	return export.fd;
}

/* A binary syncobj with the fence of a sync_file */
static inline __u32 test_syncobj_import(struct __test_metadata *_metadata, int fd, int sync_file)
{
	struct drm_syncobj_handle import = {
		.handle = test_syncobj_create(_metadata, fd),
		.flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE,
		.fd = sync_file,
	};

	ASSERT_EQ(0, test_ioctl(fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &import));
	return import.handle;
}

/* How a sync_file stands: 1 signalled, 0 not yet, or the error that it signalled with */
static inline int test_sync_file_status(struct __test_metadata *_metadata, int sync_file)
{
	struct sync_file_info info = {};

	ASSERT_EQ(0, test_ioctl(sync_file, SYNC_IOC_FILE_INFO, &info));
	return info.status;
}

/* The same, once it has signalled */
static inline int test_sync_file_wait(struct __test_metadata *_metadata, int sync_file)
{
	struct pollfd poll_fence = { .fd = sync_file, .events = POLLIN };
	int ret;

	do {
		ret = poll(&poll_fence, 1, -1);
	} while (ret < 0 && errno == EINTR);
	ASSERT_EQ(1, ret);
	return test_sync_file_status(_metadata, sync_file);
}

static inline struct drm_tessera_submit test_submission(const struct drm_tessera_job *jobs,
							__u32 count)
{
	return (struct drm_tessera_submit){
		.queue = DRM_TESSERA_QUEUE_ANY,
		.jobs = TEST_ARRAY(jobs, count),
	};
}

/* Submits: 0 or -errno */
static inline int test_submit(int fd, struct drm_tessera_submit *submit)
{
	return test_ioctl(fd, DRM_IOCTL_TESSERA_SUBMIT, submit);
}

/* Submits one job and does not wait for it: 0 or -errno */
static inline int test_submit_job(int fd, const struct test_job *test)
{
	struct drm_tessera_submit submit = test_submission(&test->job, 1);

	return test_submit(fd, &submit);
}

/* Submits a submission that has no out syncobjs; returns its fence as a sync_file */
static inline int test_submit_fence(struct __test_metadata *_metadata, int fd,
				    struct drm_tessera_submit *submit)
{
	struct drm_tessera_sync sync = { .handle = test_syncobj_create(_metadata, fd) };
	int fence;

	submit->out_syncs = TEST_ARRAY(&sync, 1);
	ASSERT_EQ(0, test_submit(fd, submit));
	submit->out_syncs = (struct drm_tessera_array){};
	fence = test_syncobj_export(_metadata, fd, sync.handle);
	test_syncobj_destroy(_metadata, fd, sync.handle);
	return fence;
}

/* Submits, and waits for the end. Returns the status of its fence: 1, or a negative errno. */
static inline int test_run(struct __test_metadata *_metadata, int fd,
			   struct drm_tessera_submit *submit)
{
	int fence = test_submit_fence(_metadata, fd, submit);
	int status = test_sync_file_wait(_metadata, fence);

	close(fence);
	return status;
}

static inline int test_run_job(struct __test_metadata *_metadata, int fd,
			       const struct test_job *test)
{
	struct drm_tessera_submit submit = test_submission(&test->job, 1);

	return test_run(_metadata, fd, &submit);
}

/* What the driver tells of a submission: 0 or -errno. count results may go to jobs. */
static inline int test_query_result(int fd, __u64 id, struct drm_tessera_submit_result *result,
				    struct drm_tessera_job_result *jobs, __u32 count)
{
	struct drm_tessera_dev_query query = {
		.type = DRM_TESSERA_DEV_QUERY_SUBMIT_RESULT,
		.size = sizeof(*result),
		.pointer = (uintptr_t)result,
	};

	memset(result, 0, sizeof(*result));
	result->id = id;
	result->results = TEST_ARRAY(jobs, count);
	return test_ioctl(fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query);
}

/*
 * A job of another file runs through each queue. What was submitted before and does not wait for
 * anything has run after it: what has not run then does wait, and is not just about to run.
 */
static inline void test_overtake(struct __test_metadata *_metadata)
{
	int fd = test_open(_metadata);
	struct drm_tessera_dev_info info = test_info(_metadata, fd);
	struct test_buffer buffer = test_buffer_create(_metadata, fd, TEST_PAGE_SIZE);
	struct drm_tessera_submit submit;
	struct test_job job;

	test_job_increment(&job, buffer.handle);
	submit = test_submission(&job.job, 1);
	for (submit.queue = 0; submit.queue < info.num_queues; submit.queue++)
		ASSERT_EQ(1, test_run(_metadata, fd, &submit));
	test_buffer_destroy(_metadata, fd, &buffer);
	close(fd);
}

/*
 * A gate: a fence that the test signals, of the kernel's virtual driver vgem. What waits for it
 * is pending for as long as the test wants, up to the ten seconds that vgem allows.
 */

struct test_gate {
	int fd;
	__u32 fence;
	__u32 syncobj;		/* of the Tessera file: in syncobj of a submission */
	int dma_buf;		/* of the buffer that carries the fence as an implicit one */
	__u32 handle;		/* of that buffer, in vgem's file */
	__u64 size;
};

struct test_vgem_attach {
	__u32 handle;
	__u32 flags;
	__u32 fence;
	__u32 pad;
};

struct test_vgem_signal {
	__u32 fence;
	__u32 flags;
};

#define TEST_VGEM_FENCE_WRITE	(1 << 0)
#define TEST_IOCTL_VGEM_ATTACH	DRM_IOWR(DRM_COMMAND_BASE + 1, struct test_vgem_attach)
#define TEST_IOCTL_VGEM_SIGNAL	DRM_IOW(DRM_COMMAND_BASE + 2, struct test_vgem_signal)

/* Opens the gate, closed: what waits for it waits. Returns false where the kernel has no vgem. */
static inline bool test_gate_create(struct __test_metadata *_metadata, int fd,
				    struct test_gate *gate)
{
	struct drm_mode_create_dumb dumb = { .width = 1024, .height = 4, .bpp = 32 };
	struct dma_buf_export_sync_file export = { .flags = DMA_BUF_SYNC_RW };
	struct test_vgem_attach attach = { .flags = TEST_VGEM_FENCE_WRITE };

	gate->fd = test_open_driver("/dev/dri", "card", "vgem");
	if (gate->fd < 0)
		return false;
	ASSERT_EQ(0, test_ioctl(gate->fd, DRM_IOCTL_MODE_CREATE_DUMB, &dumb));
	gate->handle = dumb.handle;
	gate->size = dumb.size;
	ASSERT_EQ(0, drmPrimeHandleToFD(gate->fd, gate->handle, DRM_CLOEXEC | DRM_RDWR,
					&gate->dma_buf));
	attach.handle = gate->handle;
	ASSERT_EQ(0, test_ioctl(gate->fd, TEST_IOCTL_VGEM_ATTACH, &attach));
	gate->fence = attach.fence;
	ASSERT_EQ(0, test_ioctl(gate->dma_buf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &export));
	gate->syncobj = test_syncobj_import(_metadata, fd, export.fd);
	close(export.fd);
	return true;
}

/* Signals the fence: what waits for the gate goes on. Async-signal-safe. */
static inline int test_gate_signal(struct test_gate *gate)
{
	struct test_vgem_signal signal = { .fence = gate->fence };

	return test_ioctl(gate->fd, TEST_IOCTL_VGEM_SIGNAL, &signal);
}

/* For a test that needs something pending */
#define TEST_GATE_OR_SKIP(fd, gate)						\
	do {									\
		if (!test_gate_create(_metadata, fd, gate))			\
			SKIP(return, "the kernel has no vgem to hold a fence");	\
	} while (0)

/*
 * Submits one job that runs once the gate is signalled, and tries to make it run before. Returns a
 * sync_file, and its number where id is set.
 */
static inline int test_submit_gated(struct __test_metadata *_metadata, int fd,
				    const struct test_job *test, const struct test_gate *gate,
				    __u64 *id)
{
	struct drm_tessera_submit submit = test_submission(&test->job, 1);
	struct drm_tessera_sync wait = { .handle = gate->syncobj };
	int fence;

	submit.in_syncs = TEST_ARRAY(&wait, 1);
	fence = test_submit_fence(_metadata, fd, &submit);
	if (id)
		*id = submit.id;
	test_overtake(_metadata);
	return fence;
}

/*
 * Processes: what is forked from a test ends with a status that says whether it was content
 */

static inline void test_join(struct __test_metadata *_metadata, pid_t child)
{
	int status;

	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_TRUE(WIFEXITED(status));
	ASSERT_EQ(0, WEXITSTATUS(status));
}

/*
 * The module
 */

static inline const char *test_module_path(void)
{
	const char *path = getenv("TESSERA_MODULE");

	return path ? path : "driver/tessera.ko";
}

/* 0 or -errno */
static inline int test_module_load(const char *parameters)
{
	int fd = open(test_module_path(), O_RDONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (syscall(SYS_finit_module, fd, parameters, 0))
		ret = -errno;
	close(fd);
	return ret;
}

/* 0 or -errno: -EWOULDBLOCK where somebody uses it */
static inline int test_module_unload(void)
{
	return syscall(SYS_delete_module, "tessera", O_NONBLOCK) ? -errno : 0;
}

/*
 * The same once nobody uses it any more: submissions of a file that was closed run to their end,
 * and use it until then.
 */
static inline int test_module_unload_soon(void)
{
	__s64 end = test_now_ns() + 20000000000LL;
	int ret;

	while ((ret = test_module_unload()) == -EWOULDBLOCK && test_now_ns() < end)
		sched_yield();
	return ret;
}

/* Takes every device from the driver, which ends whatever still runs there */
static inline void test_module_unbind(void)
{
	static const char folder[] = "/sys/bus/pci/drivers/tessera";
	struct dirent *entry;
	DIR *dir = opendir(folder);

	while (dir && (entry = readdir(dir))) {
		char path[PATH_MAX];

		if (!strchr(entry->d_name, ':'))
			continue;
		snprintf(path, sizeof(path), "%s/unbind", folder);
		test_write_file(path, entry->d_name);
	}
	if (dir)
		closedir(dir);
}

/* Loads the module anew, with other parameters, though a test before this may have left a job */
static inline void test_module_reload(struct __test_metadata *_metadata, const char *parameters)
{
	int ret;

	test_module_unbind();
	ret = test_module_unload_soon();
	ASSERT_TRUE(ret == 0 || ret == -ENOENT)
		TH_LOG("the module cannot be unloaded: %s", strerror(-ret));
	ret = test_module_load(parameters);
	ASSERT_EQ(0, ret)
		TH_LOG("%s with \"%s\": %s", test_module_path(), parameters, strerror(-ret));
}

#endif /* TESSERA_TEST_H */
