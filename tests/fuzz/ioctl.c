// SPDX-License-Identifier: MIT
/*
 * Fuzzes the driver from the guest: processes of several threads each make random calls, mostly
 * valid ones with a few words changed, on files, buffers, mappings, syncobjs and dma-bufs that they
 * share, pass on, fork with and close under each other. Nothing of what they do may end in an error
 * that is not documented, in a process that cannot be ended, in memory that is not given back, in a
 * byte of a buffer that is not theirs, or in a complaint of the kernel (tests/kselftest/run sees to
 * that).
 *
 *	ioctl [--seed N] [--count N] [--processes N] [--threads N] [--log]
 *
 * N calls are made in all, those of forked processes included, by whoever comes first. A seed gives
 * each thread its calls: which, in what order, on which slot of what the process has. What is in a
 * slot depends on the other threads; with one process and one thread all is the same each time.
 * --log tells of each call before it is made, so that the last before a crash is known.
 */
#include "kselftest/tessera_test.h"

#include <getopt.h>
#include <linux/udmabuf.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "reference/random.h"

#define NUM_FILES	6
#define NUM_HANDLES	12	/* of buffers, and of syncobjs, of each file */
#define NUM_FDS		8	/* of dma-bufs, of sync_files, and of memfds */
#define NUM_MAPS	16
#define NUM_JOBS	64	/* valid jobs to start from */
#define MAX_THREADS	16
#define MAX_CHILDREN	2	/* of a thread, at a time */
#define CHILD_CALLS	64
#define BUFFER_SIZE	(64ULL << 10)
#define SMALL_POINTS	(1ULL << 14)	/* of a job at most: it has to end soon */

static __u64 first_seed;
static __u64 num_calls = 200000;
static __u64 num_processes = 4;
static __u64 num_threads = 2;
static bool is_logging;

struct arena {
	struct drm_tessera_job jobs[DRM_TESSERA_MAX_JOBS + 1];
	struct drm_tessera_operand operands[2][DRM_TESSERA_MAX_OPERANDS + 1];
	struct drm_tessera_window windows[2][DRM_TESSERA_MAX_WINDOWS + 1];
	struct drm_tessera_instruction program[2][DRM_TESSERA_MAX_INSTRUCTIONS + 1];
	struct drm_tessera_sync in_syncs[8];
	struct drm_tessera_sync out_syncs[8];
	__u32 handles[8];
	__u64 points[8];
	__u8 answer[TEST_PAGE_SIZE] __attribute__((aligned(TEST_PAGE_SIZE)));
};

/* What lies behind the arrays cannot be read */
struct guarded_arena {
	struct arena arena __attribute__((aligned(TEST_PAGE_SIZE)));
	__u8 guard[TEST_PAGE_SIZE] __attribute__((aligned(TEST_PAGE_SIZE)));
};

/*
 * Where the kernel is asked to write may be anything near to what it should be. So arenas and
 * mappings are far from all else that the process has, at addresses of their own.
 */
#define ARENAS_ADDRESS	0x100000000000
#define MAPS_ADDRESS	0x200000000000
#define MAP_STRIDE	(1ULL << 20)

/* What the threads of a process share, each slot read and exchanged as an atomic */
struct slots {
	struct guarded_arena *arenas;	/* of the threads */
	int files[NUM_FILES];
	int dma_bufs[NUM_FDS];
	int sync_files[NUM_FDS];
	int threads[MAX_THREADS];
	int socket[2];		/* of all processes */
	int udmabuf;		/* -1: the kernel has none */
	int zero;
	int sink;		/* a memfd: what is written there is read first */
};

struct fuzzer {
	struct random random;
	struct slots *slots;
	struct arena *arena;
	__u32 process;
	__u32 thread;
	__u64 num_left;		/* of its calls, if the tally has as many */
	bool is_child;
	pid_t children[MAX_CHILDREN];
};

/* What all processes share, and the test looks at when they have ended */
struct tally {
	__s64 num_left;			/* calls */
	__u64 done[64];
	__u64 succeeded[64];
	__u32 strange_operation;	/* 1 + its number */
	int strange_error;
};

static struct tally *tally;
static __u32 num_jobs;
static struct random_job jobs[NUM_JOBS];
static struct drm_tessera_dev_info info;

/*
 * Choosing
 */

static __u64 below(struct fuzzer *f, __u64 count)
{
	return random_below(&f->random, count);
}

static bool chance(struct fuzzer *f, unsigned int percent)
{
	return random_chance(&f->random, percent);
}

static __u64 interesting(struct fuzzer *f)
{
	static const __u64 values[] = {
		0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 127, 128, 255, 256, 1023,
		1024, 1025, 4095, 4096, 4097, 65535, 65536, INT32_MAX, 1ULL << 31, UINT32_MAX,
		1ULL << 32, INT64_MAX, 1ULL << 63, UINT64_MAX - 1, UINT64_MAX,
		0xffff888000000000, 0xffffffff81000000, 0x00007ffffffff000,
	};

	return values[below(f, sizeof(values) / sizeof(values[0]))];
}

/* One word of the memory, of 4 or of 8 bytes, becomes another */
static void mutate_word(struct fuzzer *f, void *memory, size_t size)
{
	size_t width = size >= 8 && chance(f, 50) ? 8 : 4;
	__u8 *at = (__u8 *)memory + below(f, size / width) * width;
	__u64 word = 0;

	memcpy(&word, at, width);
	switch (below(f, 5)) {
	case 0:
		word ^= 1ULL << below(f, width * 8);
		break;
	case 1:
		word += random_between(&f->random, -2, 2);
		break;
	case 2:
		word = random_bits(&f->random);
		break;
	case 3:
		word = below(f, 32);
		break;
	default:
		word = interesting(f);
	}
	memcpy(at, &word, width);
}

/* Leaves most as they are */
static void mutate(struct fuzzer *f, void *memory, size_t size)
{
	while (chance(f, 4))
		mutate_word(f, memory, size);
}

/*
 * Slots
 */

static int *any_slot(struct fuzzer *f, int *slots, __u32 count)
{
	return &slots[below(f, count)];
}

static int peek(const int *slot)
{
	return __atomic_load_n(slot, __ATOMIC_RELAXED);
}

static void put_fd(int *slot, int fd)
{
	int old = __atomic_exchange_n(slot, fd, __ATOMIC_RELAXED);

	if (old >= 0)
		close(old);
}

static int *file_slot(struct fuzzer *f)
{
	return any_slot(f, f->slots->files, NUM_FILES);
}

static int any_file(struct fuzzer *f)
{
	return peek(file_slot(f));
}

/* A file's handles of buffers, and of syncobjs, count from 1 up: most files have most of these */
static __u32 any_handle(struct fuzzer *f)
{
	return chance(f, 2) ? interesting(f) : 1 + below(f, NUM_HANDLES);
}

/* A place for a mapping, where one may be or not, and a size that is seldom its own */
static void *any_map(struct fuzzer *f, size_t *size)
{
	*size = TEST_PAGE_SIZE * (1 + below(f, BUFFER_SIZE / TEST_PAGE_SIZE));
	return (void *)(MAPS_ADDRESS + below(f, NUM_MAPS) * MAP_STRIDE);
}

/*
 * Calls. Each operation returns 0 or more, or -errno.
 */

static long result_of(long ret)
{
	return ret < 0 ? -errno : ret;
}

static long call(int fd, unsigned long request, void *argument)
{
	return result_of(ioctl(fd, request, argument));
}

/* As long as somebody may have to wait for nothing: the others wait for him */
static __s64 soon(struct fuzzer *f)
{
	return chance(f, 50) ? 0 : test_now_ns() + (__s64)below(f, 2000000);
}

/* Where an ioctl's arrays are: rarely somewhere else */
static __u64 any_pointer(struct fuzzer *f, void *pointer)
{
	size_t size;

	if (!chance(f, 3))
		return (uintptr_t)pointer;
	switch (below(f, 4)) {
	case 0:
		return interesting(f);
	case 1:		/* where a device may write meanwhile */
		return (uintptr_t)any_map(f, &size);
	case 2:		/* up to a page that is not there */
		return (uintptr_t)f->arena->answer + sizeof(f->arena->answer) - below(f, 512) * 8;
	default:
		return (uintptr_t)pointer + below(f, 16);
	}
}

static struct drm_tessera_array any_array(struct fuzzer *f, void *elements, __u32 stride,
					  __u32 count)
{
	struct drm_tessera_array array = {
		.stride = stride,
		.count = count,
		.pointer = any_pointer(f, elements),
	};

	mutate(f, &array, sizeof(array.stride) + sizeof(array.count));
	return array;
}

/* A file that has some buffers and syncobjs, so that calls find what they name */
static int open_full_file(void)
{
	int fd = test_open_driver("/dev/accel", "accel", "tessera");
	__u32 n;

	for (n = 0; fd >= 0 && n < NUM_HANDLES - 4; n++) {
		/* One of them in on-chip memory, if there is room: there is not much of it */
		struct drm_tessera_bo_create buffer = {
			.size = BUFFER_SIZE, .flags = n ? 0 : DRM_TESSERA_BO_SRAM,
		};
		struct drm_syncobj_create syncobj = { .flags = n % 2 };

		call(fd, DRM_IOCTL_TESSERA_BO_CREATE, &buffer);
		call(fd, DRM_IOCTL_SYNCOBJ_CREATE, &syncobj);
	}
	return fd;
}

static long open_file(struct fuzzer *f)
{
	int fd = open_full_file();

	if (fd < 0)
		return fd;
	put_fd(file_slot(f), fd);
	return 0;
}

static long close_file(struct fuzzer *f)
{
	int fd = __atomic_exchange_n(file_slot(f), -1, __ATOMIC_RELAXED);

	return fd < 0 ? -EBADF : result_of(close(fd));
}

static long dup_file(struct fuzzer *f)
{
	int fd = dup(any_file(f));

	if (fd < 0)
		return -errno;
	put_fd(file_slot(f), fd);
	return 0;
}

static long look_at_file(struct fuzzer *f)
{
	int fd = any_file(f);
	struct pollfd poll_file = { .fd = fd, .events = POLLIN | POLLOUT };
	char path[64];
	int fdinfo;
	long ret;

	if (chance(f, 50))
		return result_of(poll(&poll_file, 1, 0));
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	fdinfo = open(path, O_RDONLY | O_CLOEXEC);
	if (fdinfo < 0)
		return -errno;
	ret = result_of(read(fdinfo, f->arena->answer, sizeof(f->arena->answer)));
	close(fdinfo);
	return ret;
}

static long query(struct fuzzer *f)
{
	struct drm_tessera_submit_result *result = (void *)f->arena->answer;
	struct drm_tessera_dev_query query = {
		.type = below(f, 2),
		.size = chance(f, 80) ? sizeof(*result) : below(f, sizeof(f->arena->answer)),
	};

	memset(result, 0, sizeof(*result));
	if (query.type == DRM_TESSERA_DEV_QUERY_SUBMIT_RESULT) {
		result->id = 1 + below(f, 200);
		result->results = any_array(f, result + 1, sizeof(struct drm_tessera_job_result),
					    below(f, 16));
		result->counters = any_array(f, result + 1, sizeof(struct drm_tessera_job_counters),
					     below(f, 16));
	}
	query.pointer = any_pointer(f, result);
	mutate(f, &query, sizeof(query));
	return call(any_file(f), DRM_IOCTL_TESSERA_DEV_QUERY, &query);
}

static long create_buffer(struct fuzzer *f)
{
	struct drm_tessera_bo_create create = {
		.size = chance(f, 80) ? BUFFER_SIZE : 1 + below(f, 4 * BUFFER_SIZE),
	};
	int fd = any_file(f);
	long ret;

	if (chance(f, 20)) {
		create.flags = DRM_TESSERA_BO_SRAM;
		create.pe = below(f, info.num_queues);
	}
	mutate(f, &create, sizeof(create));
	/* All that is granted is allocated, and the guest is small */
	if (create.size > 4 * BUFFER_SIZE && create.size <= info.max_bo_size)
		create.size += info.max_bo_size;
	ret = call(fd, DRM_IOCTL_TESSERA_BO_CREATE, &create);
	if (!ret && create.handle > NUM_HANDLES)
		test_handle_close(fd, create.handle);
	return ret;
}

static long close_buffer(struct fuzzer *f)
{
	struct drm_gem_close close = { .handle = any_handle(f) };

	mutate(f, &close, sizeof(close));
	return call(any_file(f), DRM_IOCTL_GEM_CLOSE, &close);
}

/* Whatever was mapped there before is not any more */
static long map_fd(struct fuzzer *f, int fd, __u64 offset)
{
	int protection = chance(f, 80) ? PROT_READ | PROT_WRITE : PROT_READ;
	int flags = chance(f, 90) ? MAP_SHARED : MAP_PRIVATE;
	size_t size;
	void *map = any_map(f, &size);

	return mmap(map, size, protection, flags | MAP_FIXED, fd, offset) == MAP_FAILED ?
	       -errno : 0;
}

static long map_buffer(struct fuzzer *f)
{
	struct drm_tessera_bo_mmap_offset where = { .handle = any_handle(f) };
	int fd = any_file(f);
	long ret;

	mutate(f, &where, sizeof(where));
	ret = call(fd, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &where);
	if (ret)
		return ret;
	mutate(f, &where.offset, sizeof(where.offset));
	return map_fd(f, fd, where.offset);
}

static long unmap(struct fuzzer *f)
{
	size_t size;
	void *map = any_map(f, &size);

	return result_of(munmap(map, size));
}

/* By the kernel, which does not mind what is not there */
static long touch_map(struct fuzzer *f)
{
	size_t size;
	void *map = any_map(f, &size);

	if (chance(f, 50))
		return result_of(read(f->slots->zero, map, size));
	return result_of(pwrite(f->slots->sink, map, size, 0));
}

static long advise_map(struct fuzzer *f)
{
	static const int advices[] = {
		MADV_DONTNEED, MADV_WILLNEED, MADV_DONTFORK, MADV_DOFORK, MADV_REMOVE, MADV_FREE,
		MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_POPULATE_READ, MADV_POPULATE_WRITE,
	};
	size_t size;
	void *map = any_map(f, &size);

	if (chance(f, 20))
		return result_of(mprotect(map, size, below(f, 4)));
	return result_of(madvise(map, size, advices[below(f, 10)]));
}

static long wait_for_buffer(struct fuzzer *f)
{
	struct drm_tessera_bo_wait wait = {
		.handle = any_handle(f),
		.flags = below(f, 2),
		.timeout_ns = soon(f),
	};

	mutate(f, &wait, sizeof(wait));
	return call(any_file(f), DRM_IOCTL_TESSERA_BO_WAIT, &wait);
}

/*
 * Submissions
 */

/*
 * A job may be changed into one that would run for days, and nothing is wrong with that. Then its
 * number of points is made too large for 63 bits, which is refused.
 */
static void bound_points(struct drm_tessera_job *job)
{
	__u32 rank = job->rank < DRM_TESSERA_MAX_RANK ? job->rank : DRM_TESSERA_MAX_RANK, d;
	__u64 points = 1;

	for (d = 0; d < rank; d++)
		if (__builtin_mul_overflow(points, job->extents[d], &points))
			points = SMALL_POINTS + 1;
	if (points > SMALL_POINTS)
		for (d = 0; d < rank; d++)
			job->extents[d] = d ? 1 : 1ULL << 63;
}

/* One of the valid jobs, on some buffers of a file, with its arrays in that half of the arena */
static void write_job(struct fuzzer *f, struct drm_tessera_job *job, __u32 half)
{
	const struct random_job *valid = &jobs[below(f, num_jobs)];
	struct drm_tessera_operand *operands = f->arena->operands[half];
	struct drm_tessera_window *windows = f->arena->windows[half];
	struct drm_tessera_instruction *program = f->arena->program[half];
	__u32 k;

	memset(job, 0, sizeof(*job));
	job->rank = valid->rank;
	memcpy(job->extents, valid->extents, sizeof(job->extents));
	memcpy(operands, valid->operands, sizeof(valid->operands));
	memcpy(windows, valid->windows, sizeof(valid->windows));
	memcpy(program, valid->program, sizeof(valid->program));
	for (k = 0; k < valid->num_operands; k++) {
		if (operands[k].handle)
			operands[k].handle = any_handle(f);
		if (operands[k].index_handle)
			operands[k].index_handle = any_handle(f);
	}
	mutate(f, operands, valid->num_operands * sizeof(*operands));
	if (valid->num_windows)
		mutate(f, windows, valid->num_windows * sizeof(*windows));
	if (valid->num_instructions)
		mutate(f, program, valid->num_instructions * sizeof(*program));
	mutate(f, job, offsetof(struct drm_tessera_job, operands));
	job->operands = any_array(f, operands, sizeof(*operands), valid->num_operands);
	job->windows = any_array(f, windows, sizeof(*windows), valid->num_windows);
	job->program = any_array(f, program, sizeof(*program), valid->num_instructions);
	bound_points(job);
}

static __u32 write_jobs(struct fuzzer *f)
{
	struct drm_tessera_job *to = f->arena->jobs;
	__u32 count = 1 + below(f, 3), n;

	if (!below(f, 1000))
		count = below(f, DRM_TESSERA_MAX_JOBS + 2);
	for (n = 0; n < count; n++) {
		if (n < 2)
			write_job(f, &to[n], n);
		else
			to[n] = to[below(f, 2)];
	}
	return count;
}

static __u32 write_syncs(struct fuzzer *f, struct drm_tessera_sync *syncs)
{
	__u32 count = chance(f, 70) ? 0 : below(f, 4), n;

	for (n = 0; n < count; n++) {
		syncs[n] = (struct drm_tessera_sync){ .handle = any_handle(f) };
		if (chance(f, 30)) {
			syncs[n].flags = DRM_TESSERA_SYNC_TIMELINE;
			syncs[n].timeline_value = below(f, 100);
		}
		mutate(f, &syncs[n], sizeof(syncs[n]));
	}
	return count;
}

static long submit(struct fuzzer *f)
{
	__u32 count = write_jobs(f);
	struct drm_tessera_submit submit = {
		.queue = chance(f, 50) ? DRM_TESSERA_QUEUE_ANY : below(f, info.num_queues),
		.flags = chance(f, 20) ? DRM_TESSERA_SUBMIT_COUNTERS : 0,
		.priority = below(f, DRM_TESSERA_PRIORITY_LOW + 1),
		.jobs = any_array(f, f->arena->jobs, sizeof(f->arena->jobs[0]), count),
	};

	count = write_syncs(f, f->arena->in_syncs);
	submit.in_syncs = any_array(f, f->arena->in_syncs, sizeof(f->arena->in_syncs[0]), count);
	count = write_syncs(f, f->arena->out_syncs);
	submit.out_syncs = any_array(f, f->arena->out_syncs, sizeof(f->arena->out_syncs[0]), count);
	mutate(f, &submit, sizeof(submit));
	return call(any_file(f), DRM_IOCTL_TESSERA_SUBMIT, &submit);
}

/*
 * Syncobjs and sync_files
 */

static long create_syncobj(struct fuzzer *f)
{
	struct drm_syncobj_create create = { .flags = below(f, 2) };
	struct drm_syncobj_destroy destroy = {};
	int fd = any_file(f);
	long ret;

	mutate(f, &create, sizeof(create));
	ret = call(fd, DRM_IOCTL_SYNCOBJ_CREATE, &create);
	destroy.handle = create.handle;
	if (!ret && create.handle > NUM_HANDLES)
		call(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy);
	return ret;
}

static long destroy_syncobj(struct fuzzer *f)
{
	struct drm_syncobj_destroy destroy = { .handle = any_handle(f) };

	mutate(f, &destroy, sizeof(destroy));
	return call(any_file(f), DRM_IOCTL_SYNCOBJ_DESTROY, &destroy);
}

static __u32 write_syncobjs(struct fuzzer *f)
{
	__u32 count = 1 + below(f, 4), n;

	for (n = 0; n < count; n++) {
		f->arena->handles[n] = any_handle(f);
		f->arena->points[n] = chance(f, 50) ? 0 : below(f, 100);
	}
	return count;
}

static long wait_for_syncobjs(struct fuzzer *f)
{
	struct drm_syncobj_timeline_wait wait = {
		.count_handles = write_syncobjs(f),
		.flags = below(f, 8),
	};

	wait.handles = any_pointer(f, f->arena->handles);
	wait.points = any_pointer(f, f->arena->points);
	mutate(f, &wait.flags, sizeof(wait.flags));
	/* Nobody need ever submit what it waits for */
	wait.timeout_nsec = soon(f);
	return call(any_file(f), DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait);
}

static long change_syncobjs(struct fuzzer *f)
{
	static const unsigned long requests[] = {
		DRM_IOCTL_SYNCOBJ_RESET, DRM_IOCTL_SYNCOBJ_SIGNAL,
		DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, DRM_IOCTL_SYNCOBJ_QUERY,
	};
	__u32 request = below(f, 4);
	struct drm_syncobj_timeline_array timeline = {
		.count_handles = write_syncobjs(f),
	};
	struct drm_syncobj_array binary = { .count_handles = timeline.count_handles };
	int fd = any_file(f);

	binary.handles = timeline.handles = any_pointer(f, f->arena->handles);
	timeline.points = any_pointer(f, f->arena->points);
	mutate(f, &timeline.flags, sizeof(timeline.flags));
	return call(fd, requests[request], request < 2 ? (void *)&binary : (void *)&timeline);
}

static long transfer_syncobj(struct fuzzer *f)
{
	struct drm_syncobj_transfer transfer = {
		.src_handle = any_handle(f),
		.dst_handle = any_handle(f),
		.src_point = chance(f, 50) ? 0 : below(f, 100),
		.dst_point = chance(f, 50) ? 0 : below(f, 100),
	};

	/* Its flag asks to wait for a fence that need never come, without a limit */
	mutate(f, &transfer, offsetof(struct drm_syncobj_transfer, flags));
	return call(any_file(f), DRM_IOCTL_SYNCOBJ_TRANSFER, &transfer);
}

static long export_syncobj(struct fuzzer *f)
{
	struct drm_syncobj_handle export = {
		.handle = any_handle(f),
		.flags = below(f, 2),
		.fd = -1,
	};
	long ret;

	mutate(f, &export, sizeof(export));
	ret = call(any_file(f), DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &export);
	if (!ret)
		put_fd(any_slot(f, f->slots->sync_files, NUM_FDS), export.fd);
	return ret;
}

/* Any descriptor: not all are what is asked for */
static int any_fd(struct fuzzer *f, int *slots)
{
	if (chance(f, 5))
		return any_file(f);
	if (chance(f, 5))
		slots = chance(f, 50) ? f->slots->dma_bufs : f->slots->sync_files;
	return peek(any_slot(f, slots, NUM_FDS));
}

static long import_syncobj(struct fuzzer *f)
{
	struct drm_syncobj_handle import = {
		.handle = any_handle(f),
		.flags = below(f, 2),
		.fd = any_fd(f, f->slots->sync_files),
	};
	int fd = any_file(f);
	long ret;

	ret = call(fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &import);
	return ret;
}

static long use_sync_file(struct fuzzer *f)
{
	int fd = any_fd(f, f->slots->sync_files);
	struct sync_merge_data merge = {
		.name = "merged",
		.fd2 = any_fd(f, f->slots->sync_files),
	};
	struct sync_file_info file_info = {
		.num_fences = below(f, 4),
		.sync_fence_info = any_pointer(f, f->arena->answer),
	};
	struct pollfd poll_fence = { .fd = fd, .events = POLLIN };
	long ret;

	if (chance(f, 30))
		return result_of(poll(&poll_fence, 1, 0));
	if (chance(f, 50))
		return call(fd, SYNC_IOC_FILE_INFO, &file_info);
	ret = call(fd, SYNC_IOC_MERGE, &merge);
	if (!ret)
		put_fd(any_slot(f, f->slots->sync_files, NUM_FDS), merge.fence);
	return ret;
}

/*
 * dma-bufs
 */

static long export_buffer(struct fuzzer *f)
{
	struct drm_prime_handle prime = {
		.handle = any_handle(f),
		.flags = chance(f, 70) ? DRM_CLOEXEC | DRM_RDWR : DRM_CLOEXEC,
		.fd = -1,
	};
	long ret;

	mutate(f, &prime, sizeof(prime));
	ret = call(any_file(f), DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);
	if (!ret)
		put_fd(any_slot(f, f->slots->dma_bufs, NUM_FDS), prime.fd);
	return ret;
}

static long import_buffer(struct fuzzer *f)
{
	struct drm_prime_handle prime = { .fd = any_fd(f, f->slots->dma_bufs) };
	int fd = any_file(f);
	long ret;

	ret = call(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);
	return ret;
}

/* A dma-buf that is not the driver's own */
static long create_udmabuf(struct fuzzer *f)
{
	struct udmabuf_create create = {
		.flags = UDMABUF_FLAGS_CLOEXEC,
		.size = TEST_PAGE_SIZE * (1 + below(f, 16)),
	};
	struct dma_buf_sync sync = { .flags = DMA_BUF_SYNC_RW | DMA_BUF_SYNC_START };
	int memfd = syscall(SYS_memfd_create, "udmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING), fd;

	if (memfd < 0)
		return -errno;
	create.memfd = memfd;
	if (ftruncate(memfd, BUFFER_SIZE) || fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		fd = -1;
	else
		fd = ioctl(f->slots->udmabuf, UDMABUF_CREATE, &create);
	close(memfd);
	if (fd < 0)
		return -errno;
	/* The first call makes a table; of those of two threads at once udmabuf would lose one */
	call(fd, DMA_BUF_IOCTL_SYNC, &sync);
	put_fd(any_slot(f, f->slots->dma_bufs, NUM_FDS), fd);
	return 0;
}

static long use_dma_buf(struct fuzzer *f)
{
	int fd = any_fd(f, f->slots->dma_bufs);
	struct dma_buf_export_sync_file export = { .flags = 1 + below(f, 3), .fd = -1 };
	struct dma_buf_import_sync_file import = {
		.flags = 1 + below(f, 3),
		.fd = any_fd(f, f->slots->sync_files),
	};
	/* udmabuf keeps the direction of the first call, and the kernel complains of others */
	struct dma_buf_sync sync = {
		.flags = DMA_BUF_SYNC_RW | (chance(f, 50) ? DMA_BUF_SYNC_END : DMA_BUF_SYNC_START),
	};
	long ret;

	switch (below(f, 4)) {
	case 0:
		ret = call(fd, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &export);
		if (!ret)
			put_fd(any_slot(f, f->slots->sync_files, NUM_FDS), export.fd);
		return ret;
	case 1:
		return call(fd, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &import);
	case 2:
		return call(fd, DMA_BUF_IOCTL_SYNC, &sync);
	default:
		return map_fd(f, fd, 0);
	}
}

/*
 * Between threads and processes
 */

static long send_fd(struct fuzzer *f)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {
		.header = {
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
			.cmsg_len = CMSG_LEN(sizeof(int)),
		},
	};
	__u8 kind = below(f, 3);
	struct iovec data = { .iov_base = &kind, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	int fd = kind == 0 ? any_file(f) :
		 peek(any_slot(f, kind == 1 ? f->slots->dma_bufs : f->slots->sync_files, NUM_FDS));

	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	return result_of(sendmsg(f->slots->socket[0], &message, MSG_DONTWAIT));
}

static long receive_fd(struct fuzzer *f)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	__u8 kind;
	struct iovec data = { .iov_base = &kind, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	int fd;

	if (recvmsg(f->slots->socket[1], &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
		return -errno;
	if (!CMSG_FIRSTHDR(&message))
		return -EBADMSG;
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	put_fd(kind == 0 ? file_slot(f) :
	       any_slot(f, kind == 1 ? f->slots->dma_bufs : f->slots->sync_files, NUM_FDS), fd);
	return 0;
}

/* A wait of another thread is interrupted */
static long interrupt(struct fuzzer *f)
{
	int thread = peek(any_slot(f, f->slots->threads, num_threads));

	return thread ? result_of(syscall(SYS_tgkill, getpid(), thread, SIGUSR1)) : -ESRCH;
}

/*
 * Another thread's arrays change while the kernel looks at them; not its jobs, whose extents see to
 * that they end
 */
static long scribble(struct fuzzer *f)
{
	struct arena *arena = &f->slots->arenas[below(f, num_threads)].arena;

	mutate_word(f, arena->operands, sizeof(*arena) - offsetof(struct arena, operands));
	return 0;
}

static void run_calls(struct fuzzer *f);

static void reap(pid_t *child, int flags)
{
	if (*child && waitpid(*child, NULL, flags))
		*child = 0;
}

/* A process with the same files, which ends sooner or later */
static long fork_process(struct fuzzer *f)
{
	__u64 seed = random_bits(&f->random);
	pid_t *child = NULL;
	__u32 n;

	if (f->is_child)
		return -EPERM;
	for (n = 0; n < MAX_CHILDREN; n++) {
		reap(&f->children[n], WNOHANG);
		if (!f->children[n])
			child = &f->children[n];
	}
	if (!child)
		return -EAGAIN;
	*child = fork();
	if (*child < 0) {
		*child = 0;
		return -errno;
	}
	if (!*child) {
		f->random.state = seed;
		f->is_child = true;
		f->num_left = CHILD_CALLS;
		run_calls(f);
		_exit(0);
	}
	return 0;
}

static long kill_process(struct fuzzer *f)
{
	pid_t *child = &f->children[below(f, MAX_CHILDREN)];
	long ret;

	if (f->is_child || !*child)
		return -ESRCH;
	ret = result_of(kill(*child, SIGKILL));
	reap(child, 0);
	return ret;
}

/*
 * Those of DRM core that wait without a limit for what need never come, or that allocate as much as
 * they are asked for, so that the kernel warns of what is too much: not for this driver to prevent
 */
static bool is_unbounded(__u32 number)
{
	return number >= _IOC_NR(DRM_IOCTL_SYNCOBJ_WAIT) &&
	       number <= _IOC_NR(DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL);
}

/* Any number at all, of any size */
static long any_ioctl(struct fuzzer *f)
{
	__u32 number = below(f, 256);
	unsigned long request = _IOC(below(f, 4), 'd', number, below(f, 256));
	__u8 argument[256];
	size_t n;

	if (is_unbounded(number))
		return -EINVAL;
	for (n = 0; n < sizeof(argument); n += 8) {
		__u64 word = chance(f, 50) ? 0 : chance(f, 50) ? interesting(f) : below(f, 64);

		memcpy(argument + n, &word, sizeof(word));
	}
	return call(any_file(f), request, argument);
}

static const struct operation {
	const char *name;
	long (*run)(struct fuzzer *f);
	__u32 weight;
	bool is_ours;		/* its errors are those that uapi/drm/tessera_accel.h lists */
} operations[] = {
	{ "open", open_file, 2, false },
	{ "close", close_file, 1, false },
	{ "dup", dup_file, 3, false },
	{ "poll, fdinfo", look_at_file, 3, false },
	{ "DEV_QUERY", query, 10, true },
	{ "BO_CREATE", create_buffer, 10, true },
	{ "GEM_CLOSE", close_buffer, 1, false },
	{ "BO_MMAP_OFFSET, mmap", map_buffer, 8, false },
	{ "munmap", unmap, 3, false },
	{ "access", touch_map, 6, false },
	{ "madvise, mprotect", advise_map, 3, false },
	{ "BO_WAIT", wait_for_buffer, 8, true },
	{ "SUBMIT", submit, 40, true },
	{ "SYNCOBJ_CREATE", create_syncobj, 8, false },
	{ "SYNCOBJ_DESTROY", destroy_syncobj, 1, false },
	{ "SYNCOBJ_TIMELINE_WAIT", wait_for_syncobjs, 5, false },
	{ "SYNCOBJ_RESET, SIGNAL, QUERY", change_syncobjs, 5, false },
	{ "SYNCOBJ_TRANSFER", transfer_syncobj, 3, false },
	{ "SYNCOBJ_HANDLE_TO_FD", export_syncobj, 4, false },
	{ "SYNCOBJ_FD_TO_HANDLE", import_syncobj, 4, false },
	{ "sync_file", use_sync_file, 4, false },
	{ "PRIME_HANDLE_TO_FD", export_buffer, 4, false },
	{ "PRIME_FD_TO_HANDLE", import_buffer, 4, false },
	{ "udmabuf", create_udmabuf, 2, false },
	{ "dma-buf", use_dma_buf, 4, false },
	{ "sendmsg", send_fd, 4, false },
	{ "recvmsg", receive_fd, 4, false },
	{ "tgkill", interrupt, 2, false },
	{ "scribble", scribble, 6, false },
	{ "fork", fork_process, 1, false },
	{ "kill", kill_process, 1, false },
	{ "ioctl", any_ioctl, 4, false },
};

#define NUM_OPERATIONS	(sizeof(operations) / sizeof(operations[0]))

static __u32 any_operation(struct fuzzer *f)
{
	__u32 weight = 0, k;

	for (k = 0; k < NUM_OPERATIONS; k++)
		weight += operations[k].weight;
	weight = below(f, weight);
	for (k = 0; weight >= operations[k].weight; k++)
		weight -= operations[k].weight;
	return k;
}

/* A descriptor that another thread has closed, or replaced, is as good as any */
static bool is_documented(long ret)
{
	static const int errors[] = {
		EFAULT, EINVAL, ENOENT, EOVERFLOW, ERANGE, EACCES, ENOMEM, ENOSPC, ETIME, EINTR,
		EBADF, ENOTTY,
	};
	size_t k;

	for (k = 0; ret < 0 && k < sizeof(errors) / sizeof(errors[0]); k++)
		if (ret == -errors[k])
			return true;
	return ret == 0;
}

/* Whether one of its own calls is left to it, and one of all: then it has it. */
static bool take_call(struct fuzzer *f)
{
	if (!f->num_left || __atomic_sub_fetch(&tally->num_left, 1, __ATOMIC_RELAXED) < 0)
		return false;
	f->num_left--;
	return true;
}

static void run_calls(struct fuzzer *f)
{
	while (take_call(f)) {
		__u32 k = any_operation(f);
		__u32 none = 0;
		long ret;

		if (is_logging)
			dprintf(STDERR_FILENO, "# %u.%u%s %llu %s\n", f->process, f->thread,
				f->is_child ? " child" : "", f->num_left, operations[k].name);
		ret = operations[k].run(f);
		__atomic_add_fetch(&tally->done[k], 1, __ATOMIC_RELAXED);
		if (ret >= 0)
			__atomic_add_fetch(&tally->succeeded[k], 1, __ATOMIC_RELAXED);
		if (operations[k].is_ours && !is_documented(ret) &&
		    __atomic_compare_exchange_n(&tally->strange_operation, &none, k + 1, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			tally->strange_error = -ret;
	}
}

static void *run_thread(void *argument)
{
	struct fuzzer *f = argument;
	__u32 n;

	f->slots->threads[f->thread] = syscall(SYS_gettid);
	run_calls(f);
	for (n = 0; n < MAX_CHILDREN; n++)
		reap(&f->children[n], 0);
	return NULL;
}

static void on_signal(int number)
{
}

static struct guarded_arena *map_arenas(void)
{
	struct guarded_arena *arenas = mmap((void *)ARENAS_ADDRESS, MAX_THREADS * sizeof(*arenas),
					    PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
					    -1, 0);
	__u32 n;

	for (n = 0; arenas != MAP_FAILED && n < MAX_THREADS; n++)
		mprotect(arenas[n].guard, sizeof(arenas[n].guard), PROT_NONE);
	return arenas;
}

/* What all processes have from the start: the rest is up to chance */
static void open_slots(struct slots *slots, const int socket[2])
{
	__u32 n;

	memset(slots->dma_bufs, -1, sizeof(slots->dma_bufs));
	memset(slots->sync_files, -1, sizeof(slots->sync_files));
	memcpy(slots->socket, socket, sizeof(slots->socket));
	slots->udmabuf = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	slots->zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	slots->sink = syscall(SYS_memfd_create, "sink", MFD_CLOEXEC);
	for (n = 0; n < NUM_FILES; n++)
		slots->files[n] = open_full_file();
}

/* A process of the fuzzer: returns its exit status */
static int run_process(__u32 process, const int socket[2])
{
	const struct sigaction action = { .sa_handler = on_signal };
	pthread_t threads[MAX_THREADS];
	struct fuzzer fuzzers[MAX_THREADS] = {};
	static struct slots slots;
	__u32 n;

	sigaction(SIGUSR1, &action, NULL);
	slots.arenas = map_arenas();
	if (slots.arenas == MAP_FAILED)
		return 1;
	open_slots(&slots, socket);
	for (n = 0; n < num_threads; n++) {
		fuzzers[n].random.state = (first_seed * 1000 + process) * MAX_THREADS + n;
		fuzzers[n].slots = &slots;
		fuzzers[n].arena = &slots.arenas[n].arena;
		fuzzers[n].process = process;
		fuzzers[n].thread = n;
		fuzzers[n].num_left = num_calls;
		if (pthread_create(&threads[n], NULL, run_thread, &fuzzers[n]))
			return 1;
	}
	for (n = 0; n < num_threads; n++)
		pthread_join(threads[n], NULL);
	return 0;
}

FIXTURE(ioctl) {
	int fd;
	char debugfs[PATH_MAX];
	__u32 num_buffers;
	struct test_buffer guard;
	int socket[2];
};

/* Buffers that the device has, as the driver tells: lines of a file */
static __u32 count_buffers(struct __test_metadata *_metadata, const char *path)
{
	FILE *file = fopen(path, "r");
	__u32 count = 0;
	int c;

	ASSERT_NE(NULL, file);
	while ((c = getc(file)) != EOF)
		count += c == '\n';
	fclose(file);
	return count;
}

/* Jobs to start from; only what they are is kept, not what they do */
static void make_jobs(void)
{
	const struct random_job_options options = {
		.max_points = 512,
		.max_buffer_bytes = BUFFER_SIZE,
		.size_multiple = TEST_PAGE_SIZE,
		.with_faults = true,
	};

	for (num_jobs = 0; num_jobs < NUM_JOBS; num_jobs++) {
		struct random_job *job = random_job_create(first_seed + num_jobs, &options);

		jobs[num_jobs] = *job;
		random_job_destroy(job);
	}
}

FIXTURE_SETUP(ioctl)
{
	self->fd = test_open(_metadata);
	info = test_info(_metadata, self->fd);
	self->guard = test_buffer_create(_metadata, self->fd, 4 * BUFFER_SIZE);
	test_fill(self->guard.map, self->guard.size, 1);
	test_debugfs_path(_metadata, self->fd, "buffers", self->debugfs);
	self->num_buffers = count_buffers(_metadata, self->debugfs);
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, self->socket));
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	ASSERT_NE(MAP_FAILED, tally);
	tally->num_left = num_calls;
	make_jobs();
}

FIXTURE_TEARDOWN(ioctl)
{
	close(self->fd);
}

static void run_processes(struct __test_metadata *_metadata, const int socket[2])
{
	pid_t children[num_processes];
	__u32 n;

	for (n = 0; n < num_processes; n++) {
		children[n] = fork();
		ASSERT_GE(children[n], 0);
		if (!children[n])
			_exit(run_process(n, socket));
	}
	for (n = 0; n < num_processes; n++)
		test_join(_metadata, children[n]);
}

/* What was closed is freed when the jobs that use it have ended, some time later */
static void expect_buffers(struct __test_metadata *_metadata, const FIXTURE_DATA(ioctl) *self)
{
	__s64 end = test_now_ns() + 60000000000LL;
	__u32 count;

	do {
		count = count_buffers(_metadata, self->debugfs);
	} while (count != self->num_buffers && test_now_ns() < end && !sched_yield());
	EXPECT_EQ(self->num_buffers, count)
		TH_LOG("buffers are left after all that had them are gone");
}

static void expect_device_works(struct __test_metadata *_metadata, const FIXTURE_DATA(ioctl) *self)
{
	struct test_buffer copy = test_buffer_create(_metadata, self->fd, self->guard.size);
	struct drm_tessera_submit submit;
	struct test_job job;

	test_job_copy(&job, copy.handle, self->guard.handle, copy.size / 4);
	submit = test_submission(&job.job, 1);
	for (submit.queue = 0; submit.queue < info.num_queues; submit.queue++) {
		memset(copy.map, 0, copy.size);
		ASSERT_EQ(1, test_run(_metadata, self->fd, &submit));
		EXPECT_EQ(copy.size, test_filled(copy.map, copy.size, 1));
	}
	test_buffer_destroy(_metadata, self->fd, &copy);
}

/*
 * On the debug kernel, beside another guest, 200000 calls take 20 minutes and more. The limit is
 * for calls that never end.
 */
TEST_F_TIMEOUT(ioctl, random_calls_do_no_harm, 3000)
{
	__u32 k;

	run_processes(_metadata, self->socket);
	close(self->socket[0]);
	close(self->socket[1]);
	for (k = 0; k < NUM_OPERATIONS; k++)
		ksft_print_msg("%8llu of %8llu  %s\n", tally->succeeded[k], tally->done[k],
			       operations[k].name);
	EXPECT_EQ(0, tally->strange_operation)
		TH_LOG("%s: error %d is not documented",
		       operations[tally->strange_operation - 1].name, tally->strange_error);
	EXPECT_EQ(self->guard.size, test_filled(self->guard.map, self->guard.size, 1));
	expect_device_works(_metadata, self);
	expect_buffers(_metadata, self);
}

static bool parse_number(const char *text, __u64 *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 0);
	return *text && !*end && !errno;
}

static const struct option options[] = {
	{ "seed", required_argument, NULL, 's' },
	{ "count", required_argument, NULL, 'c' },
	{ "processes", required_argument, NULL, 'p' },
	{ "threads", required_argument, NULL, 't' },
	{ "log", no_argument, NULL, 'l' },
	{}
};

static bool parse_option(int option)
{
	switch (option) {
	case 's':
		return parse_number(optarg, &first_seed);
	case 'c':
		return parse_number(optarg, &num_calls);
	case 'p':
		return parse_number(optarg, &num_processes) && num_processes >= 1 &&
		       num_processes <= 64;
	case 't':
		return parse_number(optarg, &num_threads) && num_threads >= 1 &&
		       num_threads <= MAX_THREADS;
	case 'l':
		is_logging = true;
		return true;
	default:
		return false;
	}
}

int main(int argc, char **argv)
{
	char *harness_argv[] = { argv[0], NULL };
	int option;

	if (getrandom(&first_seed, sizeof(first_seed), 0) != sizeof(first_seed))
		return KSFT_FAIL;
	/* Short enough to be typed */
	first_seed &= 0xffffffff;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (!parse_option(option)) {
			fprintf(stderr, "usage: %s [--seed N] [--count N] [--processes 1..64] "
				"[--threads 1..%d] [--log]\n", argv[0], MAX_THREADS);
			return KSFT_FAIL;
		}
	}
	/* The harness reads options of its own, from the start */
	optind = 1;
	printf("# --seed %llu --count %llu --processes %llu --threads %llu\n", first_seed,
	       num_calls, num_processes, num_threads);
	return test_harness_run(1, harness_argv);
}
