// SPDX-License-Identifier: MIT
/*
 * Buffers of accel bench. Those whose pages are to lie in order, or far apart, are memfds whose
 * pages are touched in such an order; a Tessera device has them by way of udmabuf.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"
#include "error.h"

/* Pages that are neighbours are touched at very different times. A prime, so that all are. */
#define SCATTERING_STEP	7919

/* Documentation/admin-guide/mm/pagemap.rst of the kernel */
#define PAGEMAP_FRAME(entry)	((entry) & 0x7fffffffffffff)
#define PAGEMAP_PRESENT		(1ULL << 63)

static void touch(char *data, uint64_t num_pages, uint64_t page_size, enum bench_pages pages)
{
	uint64_t page = 0, step = pages == BENCH_PAGES_SCATTERED ? SCATTERING_STEP : 1;

	for (uint64_t k = 0; k < num_pages; k++) {
		data[page * page_size] = 1;
		page = (page + step) % num_pages;
	}
}

/* How many runs of neighbouring frames the pages are; 0 for who may not know. */
static uint64_t count_runs(const char *data, uint64_t num_pages, uint64_t page_size)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry, frame, last = 0, runs = 0;
	off_t place = (off_t)((uintptr_t)data / page_size * sizeof(entry));

	if (fd < 0)
		return 0;
	for (uint64_t k = 0; k < num_pages; k++, place += sizeof(entry)) {
		if (pread(fd, &entry, sizeof(entry), place) != sizeof(entry) ||
		    !(entry & PAGEMAP_PRESENT) || !PAGEMAP_FRAME(entry)) {
			runs = 0;
			break;
		}
		frame = PAGEMAP_FRAME(entry);
		runs += !k || frame != last + 1;
		last = frame;
	}
	close(fd);
	return runs;
}

/* A memfd that holds the size, all of it in memory. */
static int create_file(uint64_t size, enum bench_pages pages, uint64_t *runs, int *fd,
		       struct accel_error *error)
{
	uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE), num_pages = size / page_size;
	char *data = MAP_FAILED;

	*fd = memfd_create("accel bench", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd >= 0 && !ftruncate(*fd, (off_t)size))
		data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (data == MAP_FAILED)
		return accel_error_set(error, -errno, "memfd of %llu bytes: %s",
				       (unsigned long long)size, strerror(errno));
	/* where it is not to be had, this changes nothing */
	madvise(data, size, pages == BENCH_PAGES_SCATTERED ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
	touch(data, num_pages, page_size, pages);
	*runs = count_runs(data, num_pages, page_size);
	munmap(data, size);
	if (fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		return accel_error_set(error, -errno, "memfd: seals: %s", strerror(errno));
	return 0;
}

/* A dma-buf of the memfd, in place of it. */
static int convert(uint64_t size, int *fd, struct accel_error *error)
{
	struct udmabuf_create create = {
		.memfd = (uint32_t)*fd,
		.flags = UDMABUF_FLAGS_CLOEXEC,
		.size = size,
	};
	int node = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), dmabuf = -1, code;

	if (node >= 0)
		dmabuf = ioctl(node, UDMABUF_CREATE, &create);
	code = errno;
	if (node >= 0)
		close(node);
	if (dmabuf < 0)
		return accel_error_set(error, -code, "/dev/udmabuf: a buffer of %llu bytes: %s",
				       (unsigned long long)size, strerror(code));
	close(*fd);
	*fd = dmabuf;
	return 0;
}

static int create_with_pages(struct accel_device *device, uint64_t size, enum bench_pages pages,
			     struct bench_memory *memory, struct accel_error *error)
{
	uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	struct accel_device_info info;
	int ret, fd = -1;

	accel_device_info(device, &info);
	size = (size + page_size - 1) / page_size * page_size;
	ret = create_file(size, pages, &memory->page_runs, &fd, error);
	if (!ret && info.kind != ACCEL_DEVICE_CPU)
		ret = convert(size, &fd, error);
	if (!ret)
		ret = accel_buffer_import(device, fd, &memory->buffer, error);
	if (fd >= 0)
		close(fd);
	return ret;
}

int bench_memory_create(struct accel_device *device, uint64_t size, enum bench_pages pages,
			struct bench_memory *memory, struct accel_error *error)
{
	int ret;

	if (pages == BENCH_PAGES_ANY)
		ret = accel_buffer_create(device, size, &memory->buffer, error);
	else
		ret = create_with_pages(device, size, pages, memory, error);
	return ret ? ret : accel_buffer_map(memory->buffer, &memory->data, error);
}
