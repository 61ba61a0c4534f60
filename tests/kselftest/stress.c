// SPDX-License-Identifier: MIT
/*
 * Many processes at work, each verifying every byte of every job, while the device is reset under
 * them, module parameters change and memory is short. A job that a reset has stopped says so; one
 * that says it succeeded is right.
 *
 *	stress [--seed N] [--seconds N] [--processes N]
 *
 * Jobs are those of the seed, each thread with its own; when what else happens is up to the clock.
 */
#include "random_test.h"

#include <pthread.h>
#include <stdarg.h>

#define THREADS		2
#define IN_FLIGHT	4	/* jobs of a thread at a time */
#define PATIENCE_MS	120000	/* for a job to end: it hangs if not */

/* A large job, which is running when a reset comes: one byte after the other, by an index each */
#define LARGE_SIZE	(1ULL << 20)
#define TABLE_SIZE	TEST_PAGE_SIZE

static __u64 first_seed;
static __u64 num_seconds = 60;
static __u64 num_processes = 8;

/* What all processes add to */
struct tally {
	__u64 succeeded;
	__u64 canceled;
	__u64 faulted;
	__u64 refused;
	__u64 large;
	__u32 is_ending;
	__u32 num_wrong;
	char wrong[256];	/* the first */
};

static struct tally *tally;

static void add(__u64 *count)
{
	__atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
}

static bool is_ending(void)
{
	return __atomic_load_n(&tally->is_ending, __ATOMIC_RELAXED);
}

static void __attribute__((format(printf, 1, 2))) complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (!__atomic_fetch_add(&tally->num_wrong, 1, __ATOMIC_RELAXED))
		vsnprintf(tally->wrong, sizeof(tally->wrong), format, arguments);
	va_end(arguments);
}

/*
 * A thread's jobs. It has no _metadata: the harness's checks are for the process of the test.
 */

struct flight {
	struct random_job *random;
	struct test_buffer buffers[RANDOM_JOB_MAX_BUFFERS];
	struct test_job job;
	__u64 id;
	int submitted;		/* what SUBMIT said */
	int fence;		/* a sync_file */
};

static bool create_buffer(int fd, __u64 size, struct test_buffer *buffer)
{
	struct drm_tessera_bo_create create = { .size = size };
	struct drm_tessera_bo_mmap_offset where = {};

	if (test_ioctl(fd, DRM_IOCTL_TESSERA_BO_CREATE, &create))
		return false;
	buffer->handle = where.handle = create.handle;
	buffer->size = create.size;
	if (test_ioctl(fd, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &where))
		return false;
	buffer->map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, where.offset);
	return buffer->map != MAP_FAILED;
}

static void destroy_buffer(int fd, struct test_buffer *buffer)
{
	munmap(buffer->map, buffer->size);
	test_handle_close(fd, buffer->handle);
}

/* Submits the job: 0 or -errno. Its fence is a sync_file then. */
static int submit(int fd, const struct test_job *job, __u64 *id, int *fence)
{
	struct drm_syncobj_create create = {};
	struct drm_syncobj_destroy destroy = {};
	struct drm_syncobj_handle export = {
		.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
		.fd = -1,
	};
	struct drm_tessera_sync sync = {};
	struct drm_tessera_submit submit = test_submission(&job->job, 1);
	int ret = test_ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &create);

	if (ret)
		return ret;
	sync.handle = export.handle = destroy.handle = create.handle;
	submit.out_syncs = TEST_ARRAY(&sync, 1);
	ret = test_submit(fd, &submit);
	if (!ret)
		ret = test_ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &export);
	test_ioctl(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy);
	*id = submit.id;
	*fence = export.fd;
	return ret;
}

/* 1, the error that the fence signalled with, or 0: it hangs */
static int wait_for(int fence)
{
	struct pollfd poll_fence = { .fd = fence, .events = POLLIN };
	struct sync_file_info info = {};
	int ret;

	do {
		ret = poll(&poll_fence, 1, PATIENCE_MS);
	} while (ret < 0 && errno == EINTR);
	if (ret == 1)
		ret = test_ioctl(fence, SYNC_IOC_FILE_INFO, &info) ?: info.status;
	close(fence);
	return ret;
}

static bool begin(int fd, __u64 seed, struct flight *flight)
{
	struct random_job *random = random_job_create(seed, &test_random_options);
	__u32 k;

	flight->random = random;
	for (k = 0; k < random->num_buffers; k++) {
		if (!create_buffer(fd, random->buffers[k].size, &flight->buffers[k]))
			return false;
		memcpy(flight->buffers[k].map, random->buffers[k].initial, random->buffers[k].size);
	}
	test_job_random(&flight->job, random, flight->buffers);
	flight->submitted = submit(fd, &flight->job, &flight->id, &flight->fence);
	return true;
}

static void check_buffers(const struct flight *flight)
{
	char text[200];
	__u32 k;

	for (k = 0; k < flight->random->num_buffers; k++)
		if (!random_job_check(flight->random, k, flight->buffers[k].map, text,
				      sizeof(text)))
			complain("%s", text);
}

/* Stopped by a reset, and not for being slow */
static bool is_canceled(int fd, __u64 id, int status)
{
	struct drm_tessera_submit_result result;
	struct drm_tessera_job_result job;

	return status == -ECANCELED && !test_query_result(fd, id, &result, &job, 1) &&
	       job.cause == DRM_TESSERA_CAUSE_CANCELED;
}

/* A job that was stopped may have stored anything that it would have stored, and nothing else */
static void check_canceled(const struct flight *flight)
{
	const struct random_job *random = flight->random;
	__u32 k;
	__u64 i;

	if (random->outcome != RANDOM_JOB_SUCCEEDS) {
		check_buffers(flight);
		return;
	}
	for (k = 0; k < random->num_buffers; k++) {
		const struct random_job_buffer *buffer = &random->buffers[k];
		const __u8 *map = flight->buffers[k].map;

		for (i = 0; i < buffer->size; i++)
			if (map[i] != buffer->initial[i] && map[i] != buffer->expected[i]) {
				complain("seed %lu, canceled: byte %llu of buffer %u is 0x%02x",
					 random->seed, i, k, map[i]);
				break;
			}
	}
}

static void check_fault(int fd, const struct flight *flight)
{
	const struct random_job *random = flight->random;
	struct drm_tessera_submit_result result;
	struct drm_tessera_job_result job;
	int ret = test_query_result(fd, flight->id, &result, &job, 1);

	if (ret || job.cause != random->cause || job.operand != random->operand)
		complain("seed %lu: result %d, cause %u at operand %u should be %u at %u",
			 random->seed, ret, job.cause, job.operand, random->cause,
			 random->operand);
	check_buffers(flight);
	add(&tally->faulted);
}

static void judge(int fd, const struct flight *flight, int status)
{
	const struct random_job *random = flight->random;

	if (is_canceled(fd, flight->id, status)) {
		check_canceled(flight);
		add(&tally->canceled);
	} else if (status == -EIO && random->outcome == RANDOM_JOB_FAULTS) {
		check_fault(fd, flight);
	} else if (status == 1 && random->outcome == RANDOM_JOB_SUCCEEDS) {
		check_buffers(flight);
		add(&tally->succeeded);
	} else {
		complain("seed %lu: the fence says %d", random->seed, status);
	}
}

static void end(int fd, struct flight *flight)
{
	const struct random_job *random = flight->random;
	int expected = random->outcome == RANDOM_JOB_REFUSED ? -random->error : 0;
	__u32 k;

	if (flight->submitted != expected)
		complain("seed %lu: submit says %d, should say %d", random->seed,
			 flight->submitted, expected);
	else if (flight->submitted)
		check_buffers(flight);
	if (!flight->submitted)
		judge(fd, flight, wait_for(flight->fence));
	else
		add(&tally->refused);
	for (k = 0; k < random->num_buffers; k++)
		destroy_buffer(fd, &flight->buffers[k]);
	random_job_destroy(flight->random);
}

/* destination[i] = table[index[i]], negated sixteen times to take its time */
static void make_large_job(struct test_job *job, const struct test_buffer buffers[3])
{
	struct drm_tessera_operand *source = &job->operands[1];
	__u32 k;

	test_job_init(job, 1, 2);
	job->job.extents[0] = LARGE_SIZE;
	job->operands[0].handle = buffers[0].handle;
	job->operands[0].dtype = DRM_TESSERA_DTYPE_U8;
	job->operands[0].address.strides[0] = 1;
	source->handle = buffers[1].handle;
	source->dtype = DRM_TESSERA_DTYPE_U8;
	source->flags = DRM_TESSERA_OPERAND_INDIRECT;
	source->index_handle = buffers[2].handle;
	source->index_dtype = DRM_TESSERA_DTYPE_U8;
	source->index_address.strides[0] = 1;
	source->index_stride = 1;
	job->job.program.count = DRM_TESSERA_MAX_INSTRUCTIONS;
	for (k = 0; k < DRM_TESSERA_MAX_INSTRUCTIONS; k++) {
		job->program[k].opcode = DRM_TESSERA_OP_NEG;
		job->program[k].dtype = DRM_TESSERA_DTYPE_U8;
	}
}

static void check_large_job(int status, bool was_canceled, __u64 seed,
			    const struct test_buffer buffers[3])
{
	const __u8 *destination = buffers[0].map, *table = buffers[1].map, *index = buffers[2].map;
	__u64 i;

	if (status != 1 && !was_canceled) {
		complain("large job, seed %llu: the fence says %d", seed, status);
		return;
	}
	for (i = 0; i < LARGE_SIZE; i++) {
		if (destination[i] == table[index[i]] || (was_canceled && !destination[i]))
			continue;
		complain("large job, seed %llu: byte %llu is 0x%02x, should be 0x%02x", seed, i,
			 destination[i], table[index[i]]);
		return;
	}
	add(was_canceled ? &tally->canceled : &tally->large);
}

static void run_large_job(int fd, __u64 seed)
{
	static const __u64 sizes[3] = { LARGE_SIZE, TABLE_SIZE, LARGE_SIZE };
	struct test_buffer buffers[3];
	struct test_job job;
	__u64 id;
	int fence, status, k;

	for (k = 0; k < 3; k++) {
		if (!create_buffer(fd, sizes[k], &buffers[k])) {
			complain("no buffer for a large job: %s", strerror(errno));
			return;
		}
	}
	test_fill(buffers[1].map, TABLE_SIZE, seed);
	test_fill(buffers[2].map, LARGE_SIZE, seed + 1);
	make_large_job(&job, buffers);
	if (submit(fd, &job, &id, &fence)) {
		complain("large job, seed %llu: it is refused", seed);
	} else {
		status = wait_for(fence);
		check_large_job(status, is_canceled(fd, id, status), seed, buffers);
	}
	for (k = 0; k < 3; k++)
		destroy_buffer(fd, &buffers[k]);
}

struct worker {
	int fd;
	__u64 seed;
	bool has_large_jobs;
};

static void *work(void *argument)
{
	const struct worker *worker = argument;
	struct flight flights[IN_FLIGHT];
	__u64 seed = worker->seed;
	__u32 n;

	for (; !is_ending(); seed += IN_FLIGHT) {
		for (n = 0; n < IN_FLIGHT; n++) {
			if (!begin(worker->fd, seed + n, &flights[n])) {
				complain("no buffer for a job: %s", strerror(errno));
				return NULL;
			}
		}
		if (worker->has_large_jobs)
			run_large_job(worker->fd, seed);
		for (n = 0; n < IN_FLIGHT; n++)
			end(worker->fd, &flights[n]);
	}
	return NULL;
}

/*
 * Each thread has a file of its own: a file keeps the results of its last submissions, and of two
 * threads one may submit any number of them while the other one has yet to look at its own.
 */
static int run_process(__u32 process)
{
	struct worker workers[THREADS];
	pthread_t threads[THREADS];
	int n;

	for (n = 0; n < THREADS; n++) {
		workers[n].fd = test_open_driver("/dev/accel", "accel", "tessera");
		workers[n].seed = first_seed + (process * THREADS + n) * 1000000ULL;
		workers[n].has_large_jobs = n == 0;
		if (pthread_create(&threads[n], NULL, work, &workers[n]))
			return 1;
	}
	for (n = 0; n < THREADS; n++) {
		pthread_join(threads[n], NULL);
		close(workers[n].fd);
	}
	return 0;
}

/*
 * What interferes
 */

FIXTURE(stress) {
	int fd;
	char reset[PATH_MAX];
	__u64 num_resets;
};

FIXTURE_SETUP(stress)
{
	char bus[NAME_MAX];

	self->fd = test_open(_metadata);
	test_bus_name(_metadata, self->fd, bus);
	snprintf(self->reset, sizeof(self->reset), "/sys/bus/pci/devices/%s/reset", bus);
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	ASSERT_NE(MAP_FAILED, tally);
}

FIXTURE_TEARDOWN(stress)
{
	test_write_file("/sys/module/tessera/parameters/job_timeout_ms", "10000");
	close(self->fd);
}

static __u64 available_bytes(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	unsigned long long kib = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file) &&
	       sscanf(line, "MemAvailable: %llu kB", &kib) != 1)
		;
	if (file)
		fclose(file);
	return kib << 10;
}

/* Takes most of the memory that is left and gives it back: pages are reclaimed and moved */
static void squeeze_memory(void)
{
	__u64 size = available_bytes() / 4 * 3, i;
	__u8 *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);

	if (memory == MAP_FAILED)
		return;
	for (i = 0; i < size && !is_ending(); i += TEST_PAGE_SIZE)
		memory[i] = 1;
	munmap(memory, size);
	test_write_file("/proc/sys/vm/drop_caches", "3");
	test_write_file("/proc/sys/vm/compact_memory", "1");
}

static int squeeze_until_the_end(void)
{
	while (!is_ending())
		squeeze_memory();
	return 0;
}

/* Until the time is over; how long the reset itself takes is the pause between two */
static void interfere(struct __test_metadata *_metadata, FIXTURE_DATA(stress) *self)
{
	static const char *const timeouts[] = { "20000", "60000", "15000", "3600000" };
	__s64 until = test_now_ns() + (__s64)num_seconds * 1000000000LL;

	while (test_now_ns() < until && !__atomic_load_n(&tally->num_wrong, __ATOMIC_RELAXED)) {
		ASSERT_EQ(0, test_write_file(self->reset, "1"));
		ASSERT_EQ(0, test_write_file("/sys/module/tessera/parameters/job_timeout_ms",
					     timeouts[self->num_resets % 4]));
		self->num_resets++;
		poll(NULL, 0, 200);
	}
}

TEST_F_TIMEOUT(stress, jobs_are_right_whatever_happens, 800)
{
	pid_t children[num_processes + 1];
	__u32 n;

	for (n = 0; n <= num_processes; n++) {
		children[n] = fork();
		ASSERT_GE(children[n], 0);
		if (!children[n])
			_exit(n < num_processes ? run_process(n) : squeeze_until_the_end());
	}
	interfere(_metadata, self);
	__atomic_store_n(&tally->is_ending, 1, __ATOMIC_RELAXED);
	for (n = 0; n <= num_processes; n++)
		test_join(_metadata, children[n]);
	ksft_print_msg("%llu jobs and %llu large ones right, %llu canceled, %llu faulted, "
		       "%llu refused; %llu resets\n", tally->succeeded, tally->large,
		       tally->canceled, tally->faulted, tally->refused, self->num_resets);
	EXPECT_EQ(0, tally->num_wrong)
		TH_LOG("the first: %s", tally->wrong);
	EXPECT_NE(0, tally->succeeded);
	EXPECT_NE(0, tally->large);
}

int main(int argc, char **argv)
{
	const struct test_option options[] = {
		{ "--seed", &first_seed },
		{ "--seconds", &num_seconds },
		{ "--processes", &num_processes },
		{}
	};

	return test_run_random(argc, argv, options);
}
