// SPDX-License-Identifier: MIT
/*
 * libaccel on the driver: what its Tessera backend adds to what tests/unit shows of it on the CPU.
 * Buffers that are dma-bufs, jobs that the driver refuses, fences that are pending, fail, travel as
 * sync_files and outlive their results, and copies that equal those of the CPU.
 */
#include "tessera_test.h"

#include <pthread.h>

#include <accel.h>

#define SIZE	TEST_PAGE_SIZE

FIXTURE(library) {
	struct accel_device *device;
	struct accel_buffer *source;
	struct accel_buffer *destination;
	__u32 *source_map;
	__u32 *destination_map;
	struct accel_error error;
};

/* A call that has to work for the test to make sense */
#define ASSERT_DONE(call)								\
	ASSERT_EQ(0, (call)) TH_LOG("%s: %s", #call, self->error.message)

/* A call that fails with this code and this message */
#define EXPECT_REFUSED(code_, message_, call)						\
	do {										\
		EXPECT_EQ(code_, (call));						\
		EXPECT_STREQ(message_, self->error.message);				\
	} while (0)

FIXTURE_SETUP(library)
{
	__u32 i;

	ASSERT_DONE(accel_open(NULL, &self->device, &self->error));
	ASSERT_DONE(accel_buffer_create(self->device, SIZE, &self->source, &self->error));
	ASSERT_DONE(accel_buffer_create(self->device, SIZE, &self->destination, &self->error));
	ASSERT_DONE(accel_buffer_map(self->source, (void **)&self->source_map, &self->error));
	ASSERT_DONE(accel_buffer_map(self->destination, (void **)&self->destination_map,
				     &self->error));
	for (i = 0; i < SIZE / 4; i++)
		self->source_map[i] = i;
}

FIXTURE_TEARDOWN(library)
{
	accel_buffer_unref(self->destination);
	accel_buffer_unref(self->source);
	accel_device_unref(self->device);
}

/* The path of the first Tessera node */
static int keep_name(const char *name, void *context)
{
	snprintf(context, 64, "%s", name);
	return 1;
}

/* Moves count elements of 4 bytes to the byte at offset of the destination */
static struct accel_job *create_copy(struct __test_metadata *_metadata,
				     FIXTURE_DATA(library) *self, __u64 count, __s64 offset)
{
	struct accel_operand destination = {
		.buffer = self->destination,
		.dtype = ACCEL_DTYPE_U32,
		.address = { .offset = offset, .strides = { 4 } },
	};
	struct accel_operand source = {
		.buffer = self->source,
		.dtype = ACCEL_DTYPE_U32,
		.address = { .strides = { 4 } },
	};
	uint64_t extent = count;
	struct accel_job *job;

	ASSERT_DONE(accel_job_create(1, &extent, &job, &self->error));
	ASSERT_DONE(accel_job_set_destination(job, &destination, &self->error));
	ASSERT_DONE(accel_job_add_source(job, &source, &self->error));
	return job;
}

/* Gathers one element by an index that is not less than its limit of 10 */
static struct accel_job *create_failing(struct __test_metadata *_metadata,
					FIXTURE_DATA(library) *self)
{
	struct accel_operand destination = {
		.buffer = self->destination,
		.dtype = ACCEL_DTYPE_U32,
	};
	struct accel_operand source = {
		.buffer = self->source,
		.dtype = ACCEL_DTYPE_U32,
		.index_buffer = self->source,
		.index_dtype = ACCEL_DTYPE_U32,
		.index_address = { .offset = 12 * 4 },
		.index_stride = 4,
		.index_limit = 10,
	};
	struct accel_job *job;

	ASSERT_DONE(accel_job_create(0, NULL, &job, &self->error));
	ASSERT_DONE(accel_job_set_destination(job, &destination, &self->error));
	ASSERT_DONE(accel_job_add_source(job, &source, &self->error));
	return job;
}

static struct accel_fence *submit(struct __test_metadata *_metadata, FIXTURE_DATA(library) *self,
				  struct accel_job *job, struct accel_fence *in_fence)
{
	struct accel_fence *fence;

	ASSERT_DONE(accel_submit(self->device, &job, 1, &in_fence, in_fence ? 1 : 0, &fence,
				 &self->error));
	return fence;
}

/* The fence of a gate, as the library takes it */
static struct accel_fence *import_gate(struct __test_metadata *_metadata,
				       FIXTURE_DATA(library) *self, struct test_gate *gate)
{
	struct dma_buf_export_sync_file export = { .flags = DMA_BUF_SYNC_RW };
	struct accel_fence *fence;

	ASSERT_EQ(0, test_ioctl(gate->dma_buf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &export));
	ASSERT_DONE(accel_fence_import(export.fd, &fence, &self->error));
	close(export.fd);
	return fence;
}

/*
 * Devices
 */

TEST_F(library, first_node_is_opened_and_described)
{
	struct drm_tessera_dev_info expected;
	struct accel_device_info info;
	char path[64];
	int fd = test_open(_metadata);

	expected = test_info(_metadata, fd);
	close(fd);
	ASSERT_EQ(1, accel_device_enumerate(keep_name, path, &self->error));
	accel_device_info(self->device, &info);
	EXPECT_EQ(ACCEL_DEVICE_TESSERA, info.kind);
	EXPECT_STREQ(path, info.name);
	EXPECT_STREQ("tessera", info.driver);
	EXPECT_EQ(expected.hw_version, info.hw_version[0] << 16 | info.hw_version[1]);
	EXPECT_EQ(expected.num_queues, info.num_queues);
	EXPECT_EQ(expected.max_rank, info.max_rank);
	EXPECT_EQ(expected.max_sources, info.max_sources);
	EXPECT_EQ(expected.max_windows, info.max_windows);
	EXPECT_EQ(expected.max_instructions, info.max_instructions);
	EXPECT_EQ(expected.max_jobs, info.max_jobs);
	EXPECT_EQ(expected.sram_size, info.sram_size);
	EXPECT_EQ(expected.max_bo_size, info.max_buffer_size);
}

TEST_F(library, node_is_opened_by_its_path)
{
	struct accel_device_info info;
	struct accel_device *device;
	char path[64];

	ASSERT_EQ(1, accel_device_enumerate(keep_name, path, &self->error));
	ASSERT_DONE(accel_open(path, &device, &self->error));
	accel_device_info(device, &info);
	EXPECT_EQ(ACCEL_DEVICE_TESSERA, info.kind);
	accel_device_unref(device);
}

TEST_F(library, node_of_another_driver_is_refused)
{
	struct accel_device *device;
	int fd = test_open_driver("/dev/dri", "card", "vgem");
	char link[64], path[64], message[200];
	ssize_t length;

	if (fd < 0)
		SKIP(return, "the kernel has no vgem");
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	ASSERT_GT(length, 0);
	path[length] = '\0';
	close(fd);
	snprintf(message, sizeof(message), "device %s: its driver is vgem, expected tessera", path);
	EXPECT_REFUSED(-ENODEV, message, accel_open(path, &device, &self->error));
}

/*
 * Buffers
 */

TEST_F(library, buffer_over_the_limit_is_refused)
{
	struct accel_device_info info;
	struct accel_buffer *buffer;
	char message[200];

	accel_device_info(self->device, &info);
	snprintf(message, sizeof(message), "buffer: %llu bytes, expected 1 to %llu on %s",
		 (unsigned long long)info.max_buffer_size + 1,
		 (unsigned long long)info.max_buffer_size, info.name);
	EXPECT_REFUSED(-EINVAL, message, accel_buffer_create(self->device,
							     info.max_buffer_size + 1, &buffer,
							     &self->error));
}

TEST_F(library, buffer_is_whole_pages_of_zeros)
{
	struct accel_buffer *buffer;
	void *map;

	ASSERT_DONE(accel_buffer_create(self->device, SIZE + 1, &buffer, &self->error));
	EXPECT_EQ(2 * SIZE, accel_buffer_size(buffer));
	ASSERT_DONE(accel_buffer_map(buffer, &map, &self->error));
	EXPECT_EQ(2 * SIZE, test_constant(map, 2 * SIZE, 0));
	accel_buffer_unref(buffer);
}

TEST_F(library, import_of_an_export_is_the_same_buffer)
{
	struct accel_buffer *imported;
	int fd;

	ASSERT_DONE(accel_buffer_export(self->source, &fd, &self->error));
	EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
	ASSERT_DONE(accel_buffer_import(self->device, fd, &imported, &self->error));
	close(fd);
	EXPECT_EQ(self->source, imported);
	accel_buffer_unref(imported);
	EXPECT_EQ(SIZE, accel_buffer_size(self->source));
}

TEST_F(library, import_into_another_open_device_shares_the_memory)
{
	struct accel_device *other;
	struct accel_buffer *imported;
	__u32 *map;
	int fd;

	ASSERT_DONE(accel_open(NULL, &other, &self->error));
	ASSERT_DONE(accel_buffer_export(self->source, &fd, &self->error));
	ASSERT_DONE(accel_buffer_import(other, fd, &imported, &self->error));
	close(fd);
	EXPECT_EQ(SIZE, accel_buffer_size(imported));
	ASSERT_DONE(accel_buffer_map(imported, (void **)&map, &self->error));
	self->source_map[7] = 1234;
	EXPECT_EQ(1234, map[7]);
	accel_buffer_unref(imported);
	accel_device_unref(other);
}

TEST_F(library, import_of_no_dma_buf_is_refused)
{
	struct accel_buffer *buffer;
	char message[200];
	int pipes[2];

	ASSERT_EQ(0, pipe(pipes));
	snprintf(message, sizeof(message), "buffer: file descriptor %d, expected a dma-buf",
		 pipes[0]);
	EXPECT_REFUSED(-EINVAL, message, accel_buffer_import(self->device, pipes[0], &buffer,
							     &self->error));
	close(pipes[0]);
	close(pipes[1]);
	EXPECT_REFUSED(-EBADF, "buffer: file descriptor -1, expected a dma-buf",
		       accel_buffer_import(self->device, -1, &buffer, &self->error));
}

TEST_F(library, import_of_a_file_is_refused)
{
	struct accel_buffer *buffer;
	char message[200];
	int fd = memfd_create("library", MFD_CLOEXEC);

	snprintf(message, sizeof(message), "buffer: file descriptor %d cannot be imported as a "
		 "dma-buf: Invalid argument", fd);
	EXPECT_REFUSED(-EINVAL, message, accel_buffer_import(self->device, fd, &buffer,
							     &self->error));
	close(fd);
}

TEST_F(library, cpu_refuses_a_dma_buf)
{
	struct accel_device *cpu;
	struct accel_buffer *buffer;
	int fd;

	ASSERT_DONE(accel_open("cpu", &cpu, &self->error));
	ASSERT_DONE(accel_buffer_export(self->source, &fd, &self->error));
	EXPECT_EQ(-EINVAL, accel_buffer_import(cpu, fd, &buffer, &self->error));
	close(fd);
	accel_device_unref(cpu);
}

/*
 * Jobs
 */

TEST_F(library, jobs_run_in_order_and_tell_their_times)
{
	struct accel_job *jobs[] = {
		create_copy(_metadata, self, 3, 0),
		create_copy(_metadata, self, 2, 4),
	};
	struct accel_fence_result result;
	struct accel_job_result job_result;
	struct accel_fence *fence;

	ASSERT_DONE(accel_submit(self->device, jobs, 2, NULL, 0, &fence, &self->error));
	ASSERT_DONE(accel_fence_wait(fence, -1, &self->error));
	EXPECT_EQ(0, self->destination_map[0]);
	EXPECT_EQ(0, self->destination_map[1]);
	EXPECT_EQ(1, self->destination_map[2]);
	ASSERT_DONE(accel_fence_result(fence, &result, &self->error));
	EXPECT_EQ(2, result.num_jobs);
	EXPECT_EQ(0, result.num_failed);
	EXPECT_EQ(2, result.first_failed);
	EXPECT_NE(0, result.submit_ns);
	EXPECT_LE(result.submit_ns, result.start_ns);
	EXPECT_LE(result.start_ns, result.end_ns);
	ASSERT_DONE(accel_fence_job_result(fence, 1, &job_result, &self->error));
	EXPECT_EQ(ACCEL_CAUSE_NONE, job_result.cause);
	accel_fence_unref(fence);
	accel_job_unref(jobs[0]);
	accel_job_unref(jobs[1]);
}

/* On the first queue, where order is a matter of priority */
static struct accel_fence *submit_with(struct __test_metadata *_metadata,
				       FIXTURE_DATA(library) *self, enum accel_priority priority,
				       struct accel_job *job, struct accel_fence *in_fence)
{
	struct accel_fence *fence;

	ASSERT_DONE(accel_device_set_priority(self->device, priority, &self->error));
	ASSERT_DONE(accel_submit_to(self->device, 0, &job, 1, &in_fence, 1, &fence, &self->error));
	return fence;
}

TEST_F(library, submission_of_low_priority_lets_a_later_one_go_first)
{
	struct accel_operand other = { .dtype = ACCEL_DTYPE_U32, .address = { .strides = { 4 } } };
	struct accel_job *low_job = create_copy(_metadata, self, 3, 0);
	struct accel_job *normal_job = create_copy(_metadata, self, 3, 0);
	struct accel_fence *gate_fence, *low_fence, *normal_fence;
	struct accel_fence_result low, normal;
	int fd = test_open(_metadata);
	struct test_gate gate;

	TEST_GATE_OR_SKIP(fd, &gate);
	/* Neither waits for the other: they have the source alone in common */
	ASSERT_DONE(accel_buffer_create(self->device, SIZE, &other.buffer, &self->error));
	ASSERT_DONE(accel_job_set_destination(normal_job, &other, &self->error));
	gate_fence = import_gate(_metadata, self, &gate);
	low_fence = submit_with(_metadata, self, ACCEL_PRIORITY_LOW, low_job, gate_fence);
	normal_fence = submit_with(_metadata, self, ACCEL_PRIORITY_NORMAL, normal_job, gate_fence);
	test_overtake(_metadata);
	ASSERT_EQ(0, test_gate_signal(&gate));
	ASSERT_DONE(accel_fence_wait(low_fence, -1, &self->error));
	ASSERT_DONE(accel_fence_wait(normal_fence, -1, &self->error));
	ASSERT_DONE(accel_fence_result(low_fence, &low, &self->error));
	ASSERT_DONE(accel_fence_result(normal_fence, &normal, &self->error));
	EXPECT_LT(normal.start_ns, low.start_ns);
	accel_fence_unref(normal_fence);
	accel_fence_unref(low_fence);
	accel_fence_unref(gate_fence);
	accel_buffer_unref(other.buffer);
	accel_job_unref(normal_job);
	accel_job_unref(low_job);
	close(gate.dma_buf);
	close(gate.fd);
	close(fd);
}

TEST_F(library, job_past_its_buffer_is_refused_in_words)
{
	struct accel_job *jobs[] = {
		create_copy(_metadata, self, 3, 4),
		create_copy(_metadata, self, SIZE / 4, 4),
	};

	EXPECT_EQ(-ERANGE, accel_submit(self->device, jobs, 2, NULL, 0, NULL, &self->error));
	EXPECT_EQ(0, strncmp(self->error.message, "job 1 of 2: ", 12));
	EXPECT_NE(NULL, strstr(self->error.message, "4099"))
		TH_LOG("%s", self->error.message);
	/* not even the first has run */
	ASSERT_DONE(accel_buffer_wait(self->destination, ACCEL_ACCESS_WRITE, -1, &self->error));
	EXPECT_EQ(0, self->destination_map[2]);
	EXPECT_EQ(-ERANGE, accel_submit(self->device, jobs, 2, NULL, 0, NULL, NULL));
	accel_job_unref(jobs[0]);
	accel_job_unref(jobs[1]);
}

TEST_F(library, job_that_overlaps_itself_is_refused_in_words)
{
	struct accel_operand destination = {
		.buffer = self->source,
		.dtype = ACCEL_DTYPE_U32,
		.address = { .offset = 4, .strides = { 4 } },
	};
	struct accel_job *job = create_copy(_metadata, self, 3, 0);

	ASSERT_DONE(accel_job_set_destination(job, &destination, &self->error));
	EXPECT_EQ(-EINVAL, accel_submit(self->device, &job, 1, NULL, 0, NULL, &self->error));
	EXPECT_EQ(0, strncmp(self->error.message, "job 0 of 1: ", 12));
	EXPECT_NE(NULL, strstr(self->error.message, "overlap"))
		TH_LOG("%s", self->error.message);
	accel_job_unref(job);
}

TEST_F(library, buffers_of_another_open_device_are_refused)
{
	struct accel_job *job = create_copy(_metadata, self, 3, 0);
	struct accel_device *other;

	ASSERT_DONE(accel_open(NULL, &other, &self->error));
	EXPECT_EQ(-EXDEV, accel_submit(other, &job, 1, NULL, 0, NULL, &self->error));
	accel_device_unref(other);
	accel_job_unref(job);
}

TEST_F(library, failed_job_is_told_by_its_fence)
{
	struct accel_job *jobs[] = {
		create_failing(_metadata, self),
		create_copy(_metadata, self, 3, 0),
	};
	struct accel_job_result job_result;
	struct accel_fence_result result;
	struct accel_fence *fence;

	ASSERT_DONE(accel_submit(self->device, jobs, 2, NULL, 0, &fence, &self->error));
	EXPECT_REFUSED(-EIO, "job 0 of 2: an index of source 0 is 12, expected 0 or more and less "
		       "than 10", accel_fence_wait(fence, -1, &self->error));
	EXPECT_EQ(1, accel_fence_poll(fence, &self->error));
	ASSERT_DONE(accel_fence_result(fence, &result, &self->error));
	EXPECT_EQ(1, result.num_failed);
	EXPECT_EQ(0, result.first_failed);
	ASSERT_DONE(accel_fence_job_result(fence, 0, &job_result, &self->error));
	EXPECT_EQ(ACCEL_CAUSE_INDEX_LIMIT, job_result.cause);
	EXPECT_EQ(1, job_result.operand);
	EXPECT_EQ(12, job_result.offset);
	/* the other one has run */
	EXPECT_EQ(2, self->destination_map[2]);
	accel_fence_unref(fence);
	accel_job_unref(jobs[0]);
	accel_job_unref(jobs[1]);
}

/*
 * Fences
 */

TEST_F(library, failed_fence_may_be_waited_for)
{
	struct accel_job *job = create_copy(_metadata, self, 3, 0);
	struct accel_job *failing = create_failing(_metadata, self);
	struct accel_fence *failed = submit(_metadata, self, failing, NULL);
	struct accel_fence *fence = submit(_metadata, self, job, failed);

	ASSERT_DONE(accel_fence_wait(fence, -1, &self->error));
	EXPECT_EQ(-EIO, accel_fence_wait(failed, 0, &self->error));
	EXPECT_EQ(2, self->destination_map[2]);
	accel_fence_unref(failed);
	accel_fence_unref(fence);
	accel_job_unref(failing);
	accel_job_unref(job);
}

TEST_F(library, pending_submission_is_waited_for)
{
	struct accel_job *job = create_copy(_metadata, self, 3, 0);
	struct accel_fence *gate_fence, *fence;
	struct accel_fence_result result;
	struct test_gate gate;
	int fd = test_open(_metadata);

	TEST_GATE_OR_SKIP(fd, &gate);
	gate_fence = import_gate(_metadata, self, &gate);
	EXPECT_EQ(0, accel_fence_poll(gate_fence, &self->error));
	EXPECT_REFUSED(-ETIME, "fence: it is not complete",
		       accel_fence_wait(gate_fence, 1000, &self->error));
	fence = submit(_metadata, self, job, gate_fence);
	EXPECT_EQ(0, accel_fence_poll(fence, &self->error));
	EXPECT_REFUSED(-ETIME, "fence: the submission is not complete",
		       accel_fence_wait(fence, 0, &self->error));
	EXPECT_REFUSED(-ETIME, "fence: the submission is not complete",
		       accel_fence_wait(fence, 1000, &self->error));
	EXPECT_REFUSED(-EBUSY, "fence: the submission is not complete",
		       accel_fence_result(fence, &result, &self->error));
	EXPECT_REFUSED(-ETIME, "buffer: jobs still use it",
		       accel_buffer_wait(self->destination, ACCEL_ACCESS_READ, 0, &self->error));
	EXPECT_REFUSED(-ETIME, "buffer: jobs still use it",
		       accel_buffer_wait(self->source, ACCEL_ACCESS_WRITE, 0, &self->error));
	ASSERT_DONE(accel_buffer_wait(self->source, ACCEL_ACCESS_READ, 0, &self->error));
	ASSERT_EQ(0, test_gate_signal(&gate));
	ASSERT_DONE(accel_fence_wait(fence, -1, &self->error));
	ASSERT_DONE(accel_fence_wait(gate_fence, -1, &self->error));
	ASSERT_DONE(accel_buffer_wait(self->source, ACCEL_ACCESS_WRITE, -1, &self->error));
	EXPECT_EQ(2, self->destination_map[2]);
	accel_fence_unref(fence);
	accel_fence_unref(gate_fence);
	accel_job_unref(job);
	close(gate.dma_buf);
	close(gate.fd);
	close(fd);
}

static void *signal_gate(void *gate)
{
	test_gate_signal(gate);
	return NULL;
}

TEST_F(library, cpu_waits_for_a_fence_of_the_kernel)
{
	static const int64_t shape[] = { 1 };
	struct accel_tensor *source, *destination;
	struct accel_fence *gate_fence;
	struct accel_device *cpu;
	struct test_gate gate;
	struct accel_job *job;
	pthread_t thread;
	int fd = test_open(_metadata);

	TEST_GATE_OR_SKIP(fd, &gate);
	gate_fence = import_gate(_metadata, self, &gate);
	ASSERT_DONE(accel_open("cpu", &cpu, &self->error));
	ASSERT_DONE(accel_tensor_create(cpu, ACCEL_DTYPE_U8, 1, shape, NULL, &source,
					&self->error));
	ASSERT_DONE(accel_tensor_create(cpu, ACCEL_DTYPE_U8, 1, shape, NULL, &destination,
					&self->error));
	ASSERT_DONE(accel_job_create_copy(destination, source, &job, &self->error));
	ASSERT_EQ(0, pthread_create(&thread, NULL, signal_gate, &gate));
	ASSERT_DONE(accel_submit(cpu, &job, 1, &gate_fence, 1, NULL, &self->error));
	EXPECT_EQ(1, accel_fence_poll(gate_fence, &self->error));
	pthread_join(thread, NULL);
	accel_job_unref(job);
	accel_tensor_unref(source);
	accel_tensor_unref(destination);
	accel_device_unref(cpu);
	accel_fence_unref(gate_fence);
	close(gate.dma_buf);
	close(gate.fd);
	close(fd);
}

TEST_F(library, fences_of_any_device_are_waited_for)
{
	struct accel_job *job = create_copy(_metadata, self, 3, 0);
	static const int64_t shape[] = { 1 };
	struct accel_tensor *tensor, *other_tensor;
	struct accel_fence *fences[3], *fence;
	struct accel_device *cpu, *other;

	ASSERT_DONE(accel_open("cpu", &cpu, &self->error));
	ASSERT_DONE(accel_tensor_create(cpu, ACCEL_DTYPE_U8, 1, shape, NULL, &tensor,
					&self->error));
	ASSERT_DONE(accel_copy_async(tensor, tensor, &fences[0], &self->error));
	ASSERT_DONE(accel_open(NULL, &other, &self->error));
	ASSERT_DONE(accel_tensor_create(other, ACCEL_DTYPE_U8, 1, shape, NULL, &other_tensor,
					&self->error));
	ASSERT_DONE(accel_copy_async(other_tensor, other_tensor, &fences[1], &self->error));
	fences[2] = submit(_metadata, self, job, NULL);
	ASSERT_DONE(accel_submit(self->device, &job, 1, fences, 3, &fence, &self->error));
	ASSERT_DONE(accel_fence_wait(fence, -1, &self->error));
	EXPECT_EQ(1, accel_fence_poll(fences[1], &self->error));
	EXPECT_EQ(1, accel_fence_poll(fences[2], &self->error));
	accel_fence_unref(fence);
	accel_fence_unref(fences[0]);
	accel_fence_unref(fences[1]);
	accel_fence_unref(fences[2]);
	accel_tensor_unref(tensor);
	accel_tensor_unref(other_tensor);
	accel_device_unref(other);
	accel_device_unref(cpu);
	accel_job_unref(job);
}

TEST_F(library, fence_travels_as_a_sync_file)
{
	struct accel_job *good = create_copy(_metadata, self, 3, 0);
	struct accel_job *failing = create_failing(_metadata, self);
	struct accel_fence *fences[] = {
		submit(_metadata, self, good, NULL),
		submit(_metadata, self, failing, NULL),
	};
	struct accel_fence *imported[2];
	struct accel_fence_result result;
	int fd, again;

	for (int i = 0; i < 2; i++) {
		ASSERT_DONE(accel_fence_export(fences[i], &fd, &self->error));
		EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
		ASSERT_DONE(accel_fence_import(fd, &imported[i], &self->error));
		close(fd);
		accel_fence_unref(fences[i]);
	}
	ASSERT_DONE(accel_fence_wait(imported[0], -1, &self->error));
	EXPECT_REFUSED(-ENODATA, "fence: it was imported and has no result",
		       accel_fence_result(imported[0], &result, &self->error));
	EXPECT_REFUSED(-EIO, "fence: the submission failed: Input/output error",
		       accel_fence_wait(imported[1], -1, &self->error));
	ASSERT_DONE(accel_fence_export(imported[0], &again, &self->error));
	EXPECT_EQ(1, test_sync_file_status(_metadata, again));
	close(again);
	accel_fence_unref(imported[0]);
	accel_fence_unref(imported[1]);
	accel_job_unref(good);
	accel_job_unref(failing);
}

TEST_F(library, fence_outlives_its_result)
{
	struct accel_job *good = create_copy(_metadata, self, 3, 0);
	struct accel_job *failing = create_failing(_metadata, self);
	struct accel_fence *good_fence = submit(_metadata, self, good, NULL);
	struct accel_fence *failing_fence = submit(_metadata, self, failing, NULL);
	struct accel_fence *kept_fence = submit(_metadata, self, failing, NULL);
	struct accel_fence_result result;

	EXPECT_EQ(-EIO, accel_fence_wait(kept_fence, -1, &self->error));
	for (int i = 0; i < DRM_TESSERA_MAX_RESULTS; i++) {
		struct accel_fence *fence = submit(_metadata, self, good, NULL);

		ASSERT_DONE(accel_fence_wait(fence, -1, &self->error));
		accel_fence_unref(fence);
	}
	ASSERT_DONE(accel_fence_wait(good_fence, -1, &self->error));
	EXPECT_EQ(-ENODATA, accel_fence_result(good_fence, &result, &self->error));
	EXPECT_REFUSED(-EIO, "fence: the submission failed: Input/output error",
		       accel_fence_wait(failing_fence, -1, &self->error));
	/* one that was waited for knows more */
	ASSERT_DONE(accel_fence_result(kept_fence, &result, &self->error));
	EXPECT_EQ(1, result.num_failed);
	accel_fence_unref(good_fence);
	accel_fence_unref(failing_fence);
	accel_fence_unref(kept_fence);
	accel_job_unref(good);
	accel_job_unref(failing);
}

/*
 * Copies
 */

static const int64_t shape[] = { 2, 5, 9, 7 };

#define NUM_ELEMENTS	(2 * 5 * 9 * 7)

/* A tensor of NCHW in this order of axes, with the bytes of a seed in it */
static struct accel_tensor *create_tensor(struct accel_device *device, const char *order,
					  __u32 seed)
{
	struct accel_layout *layout;
	struct accel_tensor *tensor = NULL;
	void *map;

	if (accel_layout_parse(order, "NCHW", &layout, NULL))
		return NULL;
	if (!accel_tensor_create(device, ACCEL_DTYPE_F32, 4, shape, layout, &tensor, NULL) &&
	    !accel_buffer_map(accel_tensor_buffer(tensor), &map, NULL))
		test_fill(map, 4 * NUM_ELEMENTS, seed);
	accel_layout_unref(layout);
	return tensor;
}

/* Copies between two orders and compares each element: how many are wrong, or -1 */
static int count_wrong(struct accel_device *device, const char *from, const char *to, __u32 seed)
{
	struct accel_tensor *source = create_tensor(device, from, seed);
	struct accel_tensor *destination = create_tensor(device, to, seed + 1);
	__u32 *source_map, *destination_map;
	int64_t index[4], source_element, destination_element;
	int wrong = -1;
	int i;

	if (!source || !destination || accel_copy(destination, source, NULL) ||
	    accel_buffer_map(accel_tensor_buffer(source), (void **)&source_map, NULL) ||
	    accel_buffer_map(accel_tensor_buffer(destination), (void **)&destination_map, NULL))
		goto out_unref;
	wrong = 0;
	for (i = 0; i < NUM_ELEMENTS; i++) {
		index[3] = i % 7;
		index[2] = i / 7 % 9;
		index[1] = i / 63 % 5;
		index[0] = i / 315;
		if (accel_tensor_element(source, index, &source_element, NULL) ||
		    accel_tensor_element(destination, index, &destination_element, NULL) ||
		    source_map[source_element] != destination_map[destination_element])
			wrong++;
	}
out_unref:
	accel_tensor_unref(source);
	accel_tensor_unref(destination);
	return wrong;
}

TEST_F(library, copies_between_all_orders_are_right)
{
	static const char *const orders[] = {
		"NCHW", "NHWC", "CHWN", "WHCN", "HWNC", "CNWH",
	};

	for (__u32 i = 0; i < ARRAY_SIZE(orders); i++) {
		for (__u32 j = 0; j < ARRAY_SIZE(orders); j++) {
			EXPECT_EQ(0, count_wrong(self->device, orders[i], orders[j], i * 10 + j))
				TH_LOG("%s to %s", orders[i], orders[j]);
		}
	}
}

static void *copy_many(void *device)
{
	long wrong = 0;

	for (__u32 i = 0; i < 50; i++)
		wrong += count_wrong(device, "NCHW", "NHWC", i) != 0;
	return (void *)wrong;
}

TEST_F(library, threads_share_a_device)
{
	pthread_t threads[4];
	void *wrong;

	for (int i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, copy_many, self->device));
	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(0, pthread_join(threads[i], &wrong));
		EXPECT_EQ(NULL, wrong);
	}
}

/* What a copy counts on the device that self has */
static struct accel_job_counters count_copy(struct __test_metadata *_metadata,
					    FIXTURE_DATA(library) *self)
{
	struct accel_job *job = create_copy(_metadata, self, SIZE / 8, 8);
	struct accel_job_counters counters = { 0 };
	struct accel_fence *fence;

	ASSERT_DONE(accel_device_set_counting(self->device, true, &self->error));
	ASSERT_DONE(accel_submit(self->device, &job, 1, NULL, 0, &fence, &self->error));
	ASSERT_DONE(accel_fence_wait(fence, -1, &self->error));
	ASSERT_DONE(accel_fence_job_counters(fence, 0, &counters, &self->error));
	accel_fence_unref(fence);
	accel_job_unref(job);
	return counters;
}

TEST_F(library, job_counts_on_the_device_what_it_does_on_the_cpu)
{
	struct accel_job_counters counters = count_copy(_metadata, self), expected;
	struct accel_buffer *buffers[] = { self->source, self->destination };
	struct accel_device *device = self->device;

	ASSERT_DONE(accel_open("cpu", &self->device, &self->error));
	ASSERT_DONE(accel_buffer_create(self->device, SIZE, &self->source, &self->error));
	ASSERT_DONE(accel_buffer_create(self->device, SIZE, &self->destination, &self->error));
	expected = count_copy(_metadata, self);
	EXPECT_EQ(SIZE / 8, counters.points);
	EXPECT_EQ(0, memcmp(&expected, &counters, sizeof(counters)));
	accel_buffer_unref(buffers[0]);
	accel_buffer_unref(buffers[1]);
	accel_device_unref(device);
}

TEST_F(library, device_that_is_not_asked_counts_nothing)
{
	struct accel_job *job = create_copy(_metadata, self, 1, 0);
	struct accel_job_counters counters;
	struct accel_fence *fence;

	ASSERT_DONE(accel_submit(self->device, &job, 1, NULL, 0, &fence, &self->error));
	ASSERT_DONE(accel_fence_wait(fence, -1, &self->error));
	EXPECT_REFUSED(-ENODATA, "fence: its jobs were not counted",
		       accel_fence_job_counters(fence, 0, &counters, &self->error));
	accel_fence_unref(fence);
	accel_job_unref(job);
}

TEST_HARNESS_MAIN
