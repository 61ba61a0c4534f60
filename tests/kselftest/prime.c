// SPDX-License-Identifier: MIT
/*
 * Buffers shared as dma-bufs: within a file, between processes, and with memory of others' making
 * (udmabuf, vgem, the system's heap).
 */
#include "tessera_test.h"

#include <linux/dma-heap.h>
#include <linux/udmabuf.h>

#define SIZE	(8 * TEST_PAGE_SIZE)

FIXTURE(prime) {
	int fd;
	struct test_buffer buffer;
	struct test_buffer other;
	int dma_buf;
};

FIXTURE_SETUP(prime)
{
	self->fd = test_open(_metadata);
	self->buffer = test_buffer_create(_metadata, self->fd, SIZE);
	self->other = test_buffer_create(_metadata, self->fd, SIZE);
	ASSERT_EQ(0, drmPrimeHandleToFD(self->fd, self->buffer.handle, DRM_CLOEXEC | DRM_RDWR,
					&self->dma_buf));
}

FIXTURE_TEARDOWN(prime)
{
	close(self->dma_buf);
	close(self->fd);
}

/* Moves the whole of one buffer to another of the same size */
static void move(struct __test_metadata *_metadata, int fd, __u32 destination, __u32 source)
{
	struct test_job job;

	test_job_copy(&job, destination, source, SIZE / 4);
	ASSERT_EQ(1, test_run_job(_metadata, fd, &job));
}

TEST_F(prime, exported_buffer_has_its_size)
{
	EXPECT_EQ(SIZE, lseek(self->dma_buf, 0, SEEK_END));
}

TEST_F(prime, unknown_handle_is_not_exported)
{
	int dma_buf;

	EXPECT_EQ(-1, drmPrimeHandleToFD(self->fd, TEST_NO_HANDLE, DRM_CLOEXEC, &dma_buf));
	EXPECT_EQ(ENOENT, errno);
}

TEST_F(prime, file_that_is_no_dma_buf_is_not_imported)
{
	uint32_t handle;

	EXPECT_EQ(-1, drmPrimeFDToHandle(self->fd, self->fd, &handle));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(prime, closed_descriptor_is_not_imported)
{
	uint32_t handle;

	EXPECT_EQ(-1, drmPrimeFDToHandle(self->fd, 1000, &handle));
	EXPECT_EQ(EBADF, errno);
}

TEST_F(prime, own_buffer_comes_back_as_itself)
{
	uint32_t handle;

	ASSERT_EQ(0, drmPrimeFDToHandle(self->fd, self->dma_buf, &handle));
	EXPECT_EQ(self->buffer.handle, handle);
}

TEST_F(prime, exported_buffer_can_be_mapped)
{
	void *map = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, self->dma_buf, 0);

	ASSERT_NE(MAP_FAILED, map);
	test_fill(self->buffer.map, SIZE, 1);
	EXPECT_EQ(SIZE, test_filled(map, SIZE, 1));
}

TEST_F(prime, buffer_exported_read_only_cannot_be_mapped_for_writing)
{
	int dma_buf;

	test_fill(self->other.map, SIZE, 1);
	ASSERT_EQ(0, drmPrimeHandleToFD(self->fd, self->other.handle, DRM_CLOEXEC, &dma_buf));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, SIZE, PROT_WRITE, MAP_SHARED, dma_buf, 0));
	EXPECT_NE(MAP_FAILED, mmap(NULL, SIZE, PROT_READ, MAP_SHARED, dma_buf, 0));
	close(dma_buf);
}

TEST_F(prime, another_file_sees_the_same_memory)
{
	int stranger = test_open(_metadata);
	uint32_t handle;
	__u8 *map;

	test_fill(self->buffer.map, SIZE, 2);
	ASSERT_EQ(0, drmPrimeFDToHandle(stranger, self->dma_buf, &handle));
	map = test_map(_metadata, stranger, handle, SIZE);
	EXPECT_EQ(SIZE, test_filled(map, SIZE, 2));
	close(stranger);
}

TEST_F(prime, another_process_moves_into_it)
{
	pid_t child = fork();

	ASSERT_GE(child, 0);
	if (!child) {
		int fd = test_open(_metadata);
		struct test_buffer source = test_buffer_create(_metadata, fd, SIZE);
		uint32_t handle;

		test_fill(source.map, SIZE, 3);
		ASSERT_EQ(0, drmPrimeFDToHandle(fd, self->dma_buf, &handle));
		move(_metadata, fd, handle, source.handle);
		_exit(0);
	}
	test_join(_metadata, child);
	EXPECT_EQ(SIZE, test_filled(self->buffer.map, SIZE, 3));
	move(_metadata, self->fd, self->other.handle, self->buffer.handle);
	EXPECT_EQ(SIZE, test_filled(self->other.map, SIZE, 3));
}

TEST_F(prime, buffer_lives_on_when_its_maker_is_gone)
{
	int stranger = test_open(_metadata);
	struct test_buffer theirs = test_buffer_create(_metadata, stranger, SIZE);
	uint32_t handle;
	int dma_buf;

	test_fill(theirs.map, SIZE, 4);
	ASSERT_EQ(0, drmPrimeHandleToFD(stranger, theirs.handle, DRM_CLOEXEC | DRM_RDWR, &dma_buf));
	ASSERT_EQ(0, munmap(theirs.map, SIZE));
	close(stranger);
	ASSERT_EQ(0, drmPrimeFDToHandle(self->fd, dma_buf, &handle));
	close(dma_buf);
	move(_metadata, self->fd, self->other.handle, handle);
	EXPECT_EQ(SIZE, test_filled(self->other.map, SIZE, 4));
}

TEST_F(prime, submissions_of_two_files_are_ordered_by_a_shared_buffer)
{
	int stranger = test_open(_metadata);
	struct test_buffer theirs = test_buffer_create(_metadata, stranger, SIZE);
	struct test_gate gate;
	struct test_job job;
	uint32_t handle;
	int fence;

	TEST_GATE_OR_SKIP(self->fd, &gate);
	ASSERT_EQ(0, drmPrimeFDToHandle(stranger, self->dma_buf, &handle));
	test_fill(self->other.map, SIZE, 5);
	test_job_copy(&job, self->buffer.handle, self->other.handle, SIZE / 4);
	fence = test_submit_gated(_metadata, self->fd, &job, &gate, NULL);
	test_job_copy(&job, theirs.handle, handle, SIZE / 4);
	ASSERT_EQ(0, test_submit_job(stranger, &job));
	test_overtake(_metadata);
	EXPECT_EQ(-ETIME, test_buffer_wait(stranger, theirs.handle, 0, 0));
	ASSERT_EQ(0, test_gate_signal(&gate));
	ASSERT_EQ(0, test_buffer_wait(stranger, theirs.handle, 0, INT64_MAX));
	EXPECT_EQ(1, test_sync_file_status(_metadata, fence));
	EXPECT_EQ(SIZE, test_filled(theirs.map, SIZE, 5));
	close(stranger);
}

TEST_F(prime, exported_buffer_carries_the_fence_of_its_writer)
{
	struct dma_buf_export_sync_file export = { .flags = DMA_BUF_SYNC_READ };
	struct test_gate gate;
	struct test_job job;

	TEST_GATE_OR_SKIP(self->fd, &gate);
	test_job_copy(&job, self->buffer.handle, self->other.handle, SIZE / 4);
	test_submit_gated(_metadata, self->fd, &job, &gate, NULL);
	ASSERT_EQ(0, test_ioctl(self->dma_buf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &export));
	EXPECT_EQ(0, test_sync_file_status(_metadata, export.fd));
	ASSERT_EQ(0, test_gate_signal(&gate));
	EXPECT_EQ(1, test_sync_file_wait(_metadata, export.fd));
}

TEST_F(prime, reader_leaves_an_exported_buffer_readable)
{
	struct dma_buf_export_sync_file readers = { .flags = DMA_BUF_SYNC_READ };
	struct dma_buf_export_sync_file writers = { .flags = DMA_BUF_SYNC_WRITE };
	struct test_gate gate;
	struct test_job job;

	TEST_GATE_OR_SKIP(self->fd, &gate);
	test_job_copy(&job, self->other.handle, self->buffer.handle, SIZE / 4);
	test_submit_gated(_metadata, self->fd, &job, &gate, NULL);
	ASSERT_EQ(0, test_ioctl(self->dma_buf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &readers));
	ASSERT_EQ(0, test_ioctl(self->dma_buf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &writers));
	EXPECT_EQ(1, test_sync_file_status(_metadata, readers.fd));
	EXPECT_EQ(0, test_sync_file_status(_metadata, writers.fd));
	ASSERT_EQ(0, test_gate_signal(&gate));
	EXPECT_EQ(1, test_sync_file_wait(_metadata, writers.fd));
}

/* A buffer of vgem's, whose fence vgem holds */
TEST_F(prime, fence_of_another_driver_is_waited_for)
{
	struct test_gate gate;
	struct test_job job;
	uint32_t handle;

	TEST_GATE_OR_SKIP(self->fd, &gate);
	ASSERT_EQ(0, drmPrimeFDToHandle(self->fd, gate.dma_buf, &handle));
	test_job_copy(&job, self->buffer.handle, handle, TEST_PAGE_SIZE / 4);
	ASSERT_EQ(0, test_submit_job(self->fd, &job));
	test_overtake(_metadata);
	EXPECT_EQ(-ETIME, test_buffer_wait(self->fd, self->buffer.handle, 0, 0));
	ASSERT_EQ(0, test_gate_signal(&gate));
	EXPECT_EQ(0, test_buffer_wait(self->fd, self->buffer.handle, 0, INT64_MAX));
}

TEST_F(prime, buffer_of_another_driver_waits_for_that_driver)
{
	struct test_gate gate;
	uint32_t handle;

	TEST_GATE_OR_SKIP(self->fd, &gate);
	ASSERT_EQ(0, drmPrimeFDToHandle(self->fd, gate.dma_buf, &handle));
	EXPECT_EQ(-ETIME, test_buffer_wait(self->fd, handle, 0, 0));
	ASSERT_EQ(0, test_gate_signal(&gate));
	EXPECT_EQ(0, test_buffer_wait(self->fd, handle, 0, INT64_MAX));
}

/* Memory of a process, as a dma-buf; its pages in reverse, so that no two are neighbours */
FIXTURE(udmabuf) {
	int fd;
	bool is_there;
	__u8 *memory;
	struct test_buffer buffer;
	uint32_t handle;
};

FIXTURE_SETUP(udmabuf)
{
	const __u32 pages = SIZE / TEST_PAGE_SIZE;
	struct udmabuf_create_list *list = calloc(1, sizeof(*list) +
						  pages * sizeof(list->list[0]));
	int control = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	int memfd = memfd_create("tessera", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int dma_buf;
	__u32 k;

	self->fd = test_open(_metadata);
	self->buffer = test_buffer_create(_metadata, self->fd, SIZE);
	self->is_there = control >= 0;
	if (!self->is_there)
		return;
	ASSERT_NE(NULL, list);
	ASSERT_GE(memfd, 0);
	ASSERT_EQ(0, ftruncate(memfd, SIZE));
	ASSERT_EQ(0, fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK));
	self->memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	ASSERT_NE(MAP_FAILED, self->memory);
	list->flags = UDMABUF_FLAGS_CLOEXEC;
	list->count = pages;
	for (k = 0; k < pages; k++) {
		list->list[k].memfd = memfd;
		list->list[k].offset = (pages - 1 - k) * TEST_PAGE_SIZE;
		list->list[k].size = TEST_PAGE_SIZE;
	}
	dma_buf = ioctl(control, UDMABUF_CREATE_LIST, list);
	ASSERT_GE(dma_buf, 0);
	ASSERT_EQ(0, drmPrimeFDToHandle(self->fd, dma_buf, &self->handle));
	close(dma_buf);
	close(memfd);
	close(control);
	free(list);
}

FIXTURE_TEARDOWN(udmabuf)
{
	close(self->fd);
}

#define UDMABUF_OR_SKIP								\
	do {									\
		if (!self->is_there)						\
			SKIP(return, "the kernel has no /dev/udmabuf");	\
	} while (0)

/* Where byte i of the dma-buf is in the memory */
static __u64 reversed(__u64 i)
{
	return SIZE - TEST_PAGE_SIZE - i / TEST_PAGE_SIZE * TEST_PAGE_SIZE + i % TEST_PAGE_SIZE;
}

TEST_F(udmabuf, device_reads_memory_of_a_process)
{
	__u64 i;

	UDMABUF_OR_SKIP;
	test_fill(self->memory, SIZE, 6);
	move(_metadata, self->fd, self->buffer.handle, self->handle);
	for (i = 0; i < SIZE; i++)
		ASSERT_EQ(self->memory[reversed(i)], self->buffer.map[i]);
}

TEST_F(udmabuf, device_writes_memory_of_a_process)
{
	__u64 i;

	UDMABUF_OR_SKIP;
	test_fill(self->buffer.map, SIZE, 7);
	move(_metadata, self->fd, self->handle, self->buffer.handle);
	for (i = 0; i < SIZE; i++)
		ASSERT_EQ(self->buffer.map[i], self->memory[reversed(i)]);
}

TEST_F(udmabuf, imported_buffer_has_its_end)
{
	struct test_job job;

	UDMABUF_OR_SKIP;
	test_job_copy(&job, self->buffer.handle, self->handle, 1);
	job.operands[1].address.offset = SIZE - 4;
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &job));
	job.operands[1].address.offset = SIZE - 3;
	EXPECT_EQ(-ERANGE, test_submit_job(self->fd, &job));
}

TEST_F(udmabuf, imported_buffer_can_be_mapped)
{
	__u8 *map;
	__u64 i;

	UDMABUF_OR_SKIP;
	test_fill(self->memory, SIZE, 8);
	map = test_map(_metadata, self->fd, self->handle, SIZE);
	for (i = 0; i < SIZE; i++)
		ASSERT_EQ(self->memory[reversed(i)], map[i]);
}

TEST_F(udmabuf, closing_the_handle_leaves_the_memory_alone)
{
	UDMABUF_OR_SKIP;
	test_fill(self->memory, SIZE, 9);
	ASSERT_EQ(0, test_handle_close(self->fd, self->handle));
	EXPECT_EQ(SIZE, test_filled(self->memory, SIZE, 9));
}

/* A dma-buf that was opened for reading alone */
FIXTURE(read_only) {
	int fd;
	bool is_there;
	struct test_buffer buffer;
	uint32_t handle;
};

FIXTURE_SETUP(read_only)
{
	struct dma_heap_allocation_data allocation = {
		.len = SIZE,
		.fd_flags = O_RDONLY | O_CLOEXEC,
	};
	int heap = open("/dev/dma_heap/system", O_RDONLY | O_CLOEXEC);

	self->fd = test_open(_metadata);
	self->buffer = test_buffer_create(_metadata, self->fd, SIZE);
	self->is_there = heap >= 0;
	if (!self->is_there)
		return;
	ASSERT_EQ(0, test_ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &allocation));
	ASSERT_EQ(0, drmPrimeFDToHandle(self->fd, allocation.fd, &self->handle));
	close(allocation.fd);
	close(heap);
}

FIXTURE_TEARDOWN(read_only)
{
	close(self->fd);
}

#define HEAP_OR_SKIP								\
	do {									\
		if (!self->is_there)						\
			SKIP(return, "the kernel has no /dev/dma_heap/system");	\
	} while (0)

TEST_F(read_only, buffer_can_be_a_source)
{
	HEAP_OR_SKIP;
	test_fill(self->buffer.map, SIZE, 1);
	move(_metadata, self->fd, self->buffer.handle, self->handle);
	EXPECT_EQ(SIZE, test_constant(self->buffer.map, SIZE, 0));
}

TEST_F(read_only, buffer_cannot_be_a_destination)
{
	struct test_job job;

	HEAP_OR_SKIP;
	test_job_copy(&job, self->handle, self->buffer.handle, SIZE / 4);
	EXPECT_EQ(-EACCES, test_submit_job(self->fd, &job));
}

TEST_F(read_only, buffer_cannot_be_mapped_for_writing)
{
	struct drm_tessera_bo_mmap_offset where = { .handle = self->handle };

	HEAP_OR_SKIP;
	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &where));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd,
				   where.offset));
}

TEST_F(read_only, mapping_cannot_be_made_writable)
{
	struct drm_tessera_bo_mmap_offset where = { .handle = self->handle };
	void *map;

	HEAP_OR_SKIP;
	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &where));
	map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, self->fd, where.offset);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(SIZE, test_constant(map, SIZE, 0));
	EXPECT_EQ(-1, mprotect(map, SIZE, PROT_READ | PROT_WRITE));
}

TEST_HARNESS_MAIN
