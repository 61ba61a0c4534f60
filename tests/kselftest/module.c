// SPDX-License-Identifier: MIT
/*
 * The driver coming and going: unbound and bound while files are open, unloaded and loaded anew.
 * What becomes of a hang when the driver goes is in fault.c.
 */
#include "tessera_test.h"

#include <linux/udmabuf.h>

#define SIZE	TEST_PAGE_SIZE

FIXTURE(module) {
	int fd;
	char bus[NAME_MAX];
	struct test_buffer destination;
	struct test_buffer source;
	struct test_job job;
};

FIXTURE_SETUP(module)
{
	self->fd = test_open(_metadata);
	test_bus_name(_metadata, self->fd, self->bus);
	self->destination = test_buffer_create(_metadata, self->fd, SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	test_fill(self->source.map, SIZE, 1);
	test_job_copy(&self->job, self->destination.handle, self->source.handle, SIZE / 4);
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
}

/* Whatever the test did, the device is driven when it ends */
FIXTURE_TEARDOWN(module)
{
	if (self->fd >= 0)
		close(self->fd);
	test_module_load("");
	test_driver_write("bind", self->bus);
}

/* A device as new does a job */
static void check_device(struct __test_metadata *_metadata)
{
	int fd = test_open(_metadata);
	struct test_buffer buffer = test_buffer_create(_metadata, fd, 2 * SIZE);
	struct test_job job;

	test_fill(buffer.map, SIZE, 2);
	test_job_copy(&job, buffer.handle, buffer.handle, SIZE / 4);
	job.operands[0].address.offset = SIZE;
	ASSERT_EQ(1, test_run_job(_metadata, fd, &job));
	ASSERT_EQ(SIZE, test_filled(buffer.map + SIZE, SIZE, 2));
	test_buffer_destroy(_metadata, fd, &buffer);
	close(fd);
}

/* Gives up all that keeps the module in use */
static void let_go(struct __test_metadata *_metadata, FIXTURE_DATA(module) *self)
{
	ASSERT_EQ(0, munmap(self->destination.map, SIZE));
	ASSERT_EQ(0, munmap(self->source.map, SIZE));
	ASSERT_EQ(0, close(self->fd));
	self->fd = -1;
}

TEST_F(module, open_file_keeps_the_module_loaded)
{
	EXPECT_EQ(-EWOULDBLOCK, test_module_unload());
	EXPECT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
}

TEST_F(module, mapping_keeps_the_module_loaded)
{
	close(self->fd);
	self->fd = -1;
	EXPECT_EQ(-EWOULDBLOCK, test_module_unload());
	EXPECT_EQ(SIZE, test_filled(self->source.map, SIZE, 1));
}

TEST_F(module, exported_buffer_keeps_the_module_loaded)
{
	int dma_buf;

	ASSERT_EQ(0, drmPrimeHandleToFD(self->fd, self->source.handle, DRM_CLOEXEC, &dma_buf));
	let_go(_metadata, self);
	EXPECT_EQ(-EWOULDBLOCK, test_module_unload());
	close(dma_buf);
}

TEST_F(module, unloaded_and_loaded_module_does_a_job)
{
	let_go(_metadata, self);
	ASSERT_EQ(0, test_module_unload());
	EXPECT_EQ(-ENODEV, test_open_driver("/dev/accel", "accel", "tessera"));
	ASSERT_EQ(0, test_module_load(""));
	check_device(_metadata);
}

TEST_F(module, module_is_unloaded_and_loaded_again_and_again)
{
	int round;

	let_go(_metadata, self);
	for (round = 0; round < 10; round++) {
		ASSERT_EQ(0, test_module_unload());
		ASSERT_EQ(0, test_module_load(""));
		check_device(_metadata);
	}
}

/* Nothing but interrupts runs on this CPU while we do */
static void keep_cpu(struct __test_metadata *_metadata, int cpu)
{
	struct sched_param param = { .sched_priority = 1 };
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(cpus), &cpus));
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &param));
}

/*
 * Jobs complete all at once, behind a slow one, and the file is closed at once: what frees them is
 * a workqueue's, which has to be waited for.
 */
static void check_unload_from(struct __test_metadata *_metadata, const struct test_job *job, int fd,
			      int cpu)
{
	struct drm_tessera_submit submit = test_submission(&job->job, 1);
	struct drm_tessera_submit_result result;
	int k;

	ASSERT_EQ(0, test_write_debugfs(_metadata, fd, "test_slow", 300));
	for (k = 0; k < 100; k++)
		ASSERT_EQ(0, test_submit(fd, &submit));
	ASSERT_EQ(0, test_write_debugfs(_metadata, fd, "test_slow", 0));
	keep_cpu(_metadata, cpu);
	do {
		ASSERT_EQ(0, test_query_result(fd, submit.id, &result, NULL, 0));
	} while (result.state == DRM_TESSERA_SUBMIT_PENDING);
	ASSERT_EQ(0, close(fd));
	ASSERT_EQ(0, test_module_unload());
}

TEST_F(module, module_unloads_when_jobs_have_just_completed)
{
	const int num_cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	int cpu;

	if (test_write_debugfs(_metadata, self->fd, "test_slow", 0) == -ENOENT)
		SKIP(return, "the device is not one of x-test=on");
	let_go(_metadata, self);
	for (cpu = 0; cpu < num_cpus; cpu++) {
		int fd = test_open(_metadata);
		struct test_buffer buffer = test_buffer_create(_metadata, fd, SIZE);
		struct test_job job;

		ASSERT_EQ(0, munmap(buffer.map, SIZE));
		test_job_increment(&job, buffer.handle);
		check_unload_from(_metadata, &job, fd, cpu);
		ASSERT_EQ(0, test_module_load(""));
	}
	check_device(_metadata);
}

TEST_F(module, module_unloads_with_jobs_just_submitted)
{
	int k;

	for (k = 0; k < 100; k++)
		ASSERT_EQ(0, test_submit_job(self->fd, &self->job));
	let_go(_metadata, self);
	ASSERT_EQ(0, test_module_unload_soon());
	ASSERT_EQ(0, test_module_load(""));
	check_device(_metadata);
}

TEST_F(module, unknown_parameter_value_is_refused)
{
	let_go(_metadata, self);
	ASSERT_EQ(0, test_module_unload());
	EXPECT_EQ(-EINVAL, test_module_load("job_timeout_ms=soon"));
	ASSERT_EQ(0, test_module_load("job_timeout_ms=5000"));
	check_device(_metadata);
	test_module_reload(_metadata, "");
}

TEST_F(module, table_of_buffers_has_an_end)
{
	struct drm_tessera_bo_create create = { .size = SIZE };
	__u32 first = 0;
	int k;

	let_go(_metadata, self);
	test_module_reload(_metadata, "max_buffers=8");
	self->fd = test_open(_metadata);
	for (k = 0; k < 8; k++) {
		ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_CREATE, &create));
		first = first ? first : create.handle;
	}
	EXPECT_EQ(-ENOSPC, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_CREATE, &create));
	ASSERT_EQ(0, test_handle_close(self->fd, first));
	EXPECT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_CREATE, &create));
	close(self->fd);
	self->fd = -1;
	test_module_reload(_metadata, "");
}

TEST_F(module, buffer_that_the_table_has_no_room_for_takes_no_on_chip_memory)
{
	struct drm_tessera_bo_create whole = {
		.size = test_info(_metadata, self->fd).sram_size, .flags = DRM_TESSERA_BO_SRAM,
	};
	struct drm_tessera_bo_create create = { .size = SIZE };

	if (!whole.size)
		SKIP(return, "the device has no on-chip memory");
	let_go(_metadata, self);
	test_module_reload(_metadata, "max_buffers=1");
	self->fd = test_open(_metadata);
	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_CREATE, &create));
	EXPECT_EQ(-ENOSPC, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_CREATE, &whole));
	ASSERT_EQ(0, test_handle_close(self->fd, create.handle));
	EXPECT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_CREATE, &whole));
	close(self->fd);
	self->fd = -1;
	test_module_reload(_metadata, "");
}

/* There is no memory in one piece for the most that a device can have: it gets fewer, and works */
TEST_F(module, largest_table_of_buffers_is_as_large_as_there_is_memory)
{
	let_go(_metadata, self);
	test_module_reload(_metadata, "max_buffers=4294967295");
	check_device(_metadata);
	test_module_reload(_metadata, "");
}

/* Reset while it is driven */

TEST_F(module, device_is_reset_while_files_are_open)
{
	char path[PATH_MAX];
	int round;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/reset", self->bus);
	for (round = 0; round < 3; round++) {
		ASSERT_EQ(0, test_write_file(path, "1"));
		memset(self->destination.map, 0, SIZE);
		ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
		ASSERT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
	}
}

/* Unbound while a file is open */

TEST_F(module, unbound_device_has_no_node)
{
	ASSERT_EQ(0, test_driver_write("unbind", self->bus));
	EXPECT_EQ(-ENODEV, test_open_driver("/dev/accel", "accel", "tessera"));
}

TEST_F(module, every_ioctl_of_an_unbound_device_says_enodev)
{
	struct drm_tessera_dev_query query = { .type = DRM_TESSERA_DEV_QUERY_INFO };
	struct drm_tessera_bo_create create = { .size = SIZE };
	struct drm_tessera_bo_mmap_offset offset = { .handle = self->source.handle };
	struct drm_tessera_bo_wait wait = { .handle = self->source.handle };
	struct drm_tessera_submit submit = test_submission(&self->job.job, 1);
	struct drm_unique unique = {};
	struct drm_auth auth = {};

	ASSERT_EQ(0, test_driver_write("unbind", self->bus));
	EXPECT_EQ(-ENODEV, test_ioctl(self->fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query));
	EXPECT_EQ(-ENODEV, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_CREATE, &create));
	EXPECT_EQ(-ENODEV, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &offset));
	EXPECT_EQ(-ENODEV, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_WAIT, &wait));
	EXPECT_EQ(-ENODEV, test_ioctl(self->fd, DRM_IOCTL_TESSERA_SUBMIT, &submit));
	EXPECT_EQ(-ENODEV, test_handle_close(self->fd, self->source.handle));
	EXPECT_NE(0, test_ioctl(self->fd, DRM_IOCTL_GET_UNIQUE, &unique));
	EXPECT_NE(0, test_ioctl(self->fd, DRM_IOCTL_GET_MAGIC, &auth));
}

TEST_F(module, mapping_of_an_unbound_device_can_still_be_read)
{
	ASSERT_EQ(0, test_driver_write("unbind", self->bus));
	EXPECT_EQ(SIZE, test_filled(self->source.map, SIZE, 1));
}

TEST_F(module, on_chip_memory_of_an_unbound_device_is_kept)
{
	struct test_buffer sram, touched_late;

	if (!test_info(_metadata, self->fd).sram_size)
		SKIP(return, "the device has no on-chip memory");
	sram = test_sram_create(_metadata, self->fd, 3 * SIZE, 0);
	touched_late = test_sram_create(_metadata, self->fd, SIZE, 0);
	test_fill(sram.map, 3 * SIZE, 3);
	self->job.operands[0].handle = touched_late.handle;
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
	ASSERT_EQ(0, test_driver_write("unbind", self->bus));
	EXPECT_EQ(3 * SIZE, test_filled(sram.map, 3 * SIZE, 3));
	EXPECT_EQ(SIZE, test_filled(touched_late.map, SIZE, 1));
	test_fill(sram.map, 3 * SIZE, 4);
	/* What is in the device belongs to whoever drives it now */
	ASSERT_EQ(0, test_driver_write("bind", self->bus));
	check_device(_metadata);
	EXPECT_EQ(3 * SIZE, test_filled(sram.map, 3 * SIZE, 4));
}

TEST_F(module, device_is_unbound_under_a_process_that_uses_on_chip_memory)
{
	struct test_buffer sram;
	volatile __u32 *beside;
	int ready[2];
	pid_t child;
	char byte;

	if (!test_info(_metadata, self->fd).sram_size)
		SKIP(return, "the device has no on-chip memory");
	sram = test_sram_create(_metadata, self->fd, 2 * SIZE, 0);
	/* Jobs store to the first half, and go on for a while after a submission says ENODEV */
	beside = (volatile __u32 *)(sram.map + SIZE);
	self->job.operands[0].handle = sram.handle;
	ASSERT_EQ(0, pipe(ready));
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		__u32 k = 0;
		int ret;

		while (!(ret = test_submit_job(self->fd, &self->job))) {
			*beside = k++;
			if (k == 20)
				ASSERT_EQ(1, write(ready[1], "", 1));
		}
		*beside = 7;
		_exit(ret != -ENODEV || k < 20 || *beside != 7);
	}
	ASSERT_EQ(1, read(ready[0], &byte, 1));
	ASSERT_EQ(0, test_driver_write("unbind", self->bus));
	test_join(_metadata, child);
	ASSERT_EQ(0, test_driver_write("bind", self->bus));
	check_device(_metadata);
}

/* From one access to the next its memory is no longer the device's, and no process notices */
TEST_F(module, what_is_written_to_on_chip_memory_while_it_is_unbound_is_kept)
{
	struct drm_tessera_dev_info info = test_info(_metadata, self->fd);
	struct test_buffer sram[64];
	int start[2], round, status;
	pid_t child;
	__u32 pe;
	char byte;

	if (!info.sram_size)
		SKIP(return, "the device has no on-chip memory");
	for (pe = 0; pe < info.num_queues; pe++)
		sram[pe] = test_sram_create(_metadata, self->fd, info.sram_size, pe);
	ASSERT_EQ(0, pipe(start));
	child = fork();
	ASSERT_GE(child, 0);
	if (!child)
		_exit(read(start[0], &byte, 1) != 1 || test_driver_write("unbind", self->bus));
	for (round = 0; !waitpid(child, &status, WNOHANG); round++) {
		for (pe = 0; pe < info.num_queues; pe++) {
			volatile int *word = (int *)sram[pe].map;

			ASSERT_EQ(round ? round - 1 : 0, *word);
			*word = round;
		}
		if (round == 20)
			ASSERT_EQ(1, write(start[1], "", 1));
	}
	EXPECT_EQ(0, status);
	EXPECT_GT(round, 20);
}

TEST_F(module, file_of_an_unbound_device_can_be_closed)
{
	ASSERT_EQ(0, test_driver_write("unbind", self->bus));
	let_go(_metadata, self);
	ASSERT_EQ(0, test_driver_write("bind", self->bus));
	check_device(_metadata);
}

TEST_F(module, exported_buffer_outlives_the_binding)
{
	int dma_buf;
	void *map;

	ASSERT_EQ(0, drmPrimeHandleToFD(self->fd, self->source.handle, DRM_CLOEXEC, &dma_buf));
	ASSERT_EQ(0, test_driver_write("unbind", self->bus));
	map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, dma_buf, 0);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(SIZE, test_filled(map, SIZE, 1));
	ASSERT_EQ(0, munmap(map, SIZE));
	close(dma_buf);
	let_go(_metadata, self);
}

TEST_F(module, imported_buffer_outlives_the_binding)
{
	struct udmabuf_create create = { .flags = UDMABUF_FLAGS_CLOEXEC, .size = SIZE };
	int control = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	uint32_t handle;
	int dma_buf;
	void *memory;

	if (control < 0)
		SKIP(return, "the kernel has no /dev/udmabuf");
	create.memfd = memfd_create("tessera", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ASSERT_EQ(0, ftruncate(create.memfd, SIZE));
	ASSERT_EQ(0, fcntl(create.memfd, F_ADD_SEALS, F_SEAL_SHRINK));
	memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, create.memfd, 0);
	ASSERT_NE(MAP_FAILED, memory);
	dma_buf = ioctl(control, UDMABUF_CREATE, &create);
	ASSERT_GE(dma_buf, 0);
	ASSERT_EQ(0, drmPrimeFDToHandle(self->fd, dma_buf, &handle));
	self->job.operands[0].handle = handle;
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->job));
	ASSERT_EQ(0, test_driver_write("unbind", self->bus));
	EXPECT_EQ(SIZE, test_filled(memory, SIZE, 1));
	close(dma_buf);
	let_go(_metadata, self);
	EXPECT_EQ(SIZE, test_filled(memory, SIZE, 1));
}

TEST_F(module, submission_that_waits_ends_with_enodev_when_the_device_is_unbound)
{
	struct test_gate gate;
	int fence;

	TEST_GATE_OR_SKIP(self->fd, &gate);
	fence = test_submit_gated(_metadata, self->fd, &self->job, &gate, NULL);
	ASSERT_EQ(0, test_driver_write("unbind", self->bus));
	ASSERT_EQ(0, test_gate_signal(&gate));
	EXPECT_EQ(-ENODEV, test_sync_file_wait(_metadata, fence));
}

/* A sync_file names the driver and the timeline of its fence, which are the driver's strings */
TEST_F(module, fence_can_be_looked_at_when_all_else_is_gone)
{
	struct drm_tessera_submit submit = test_submission(&self->job.job, 1);
	int fence = test_submit_fence(_metadata, self->fd, &submit);
	struct sync_fence_info fence_info = {};
	struct sync_file_info info = { .num_fences = 1, .sync_fence_info = (uintptr_t)&fence_info };

	ASSERT_EQ(1, test_sync_file_wait(_metadata, fence));
	let_go(_metadata, self);
	ASSERT_EQ(0, test_driver_write("unbind", self->bus));
	/* Both are good: that the fence keeps the module, or that it no longer needs it */
	test_module_unload();
	ASSERT_EQ(0, test_ioctl(fence, SYNC_IOC_FILE_INFO, &info));
	EXPECT_EQ(1, info.status);
	EXPECT_EQ(1, fence_info.status);
	close(fence);
}

TEST_F(module, new_binding_works_beside_a_file_of_the_old)
{
	struct drm_tessera_dev_query query = { .type = DRM_TESSERA_DEV_QUERY_INFO };

	ASSERT_EQ(0, test_driver_write("unbind", self->bus));
	ASSERT_EQ(0, test_driver_write("bind", self->bus));
	check_device(_metadata);
	EXPECT_EQ(-ENODEV, test_ioctl(self->fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query));
}

TEST_F(module, device_is_bound_again_and_again)
{
	int round;

	for (round = 0; round < 10; round++) {
		ASSERT_EQ(0, test_driver_write("unbind", self->bus));
		ASSERT_EQ(0, test_driver_write("bind", self->bus));
		check_device(_metadata);
	}
}

/* Submits until it cannot any more */
static pid_t start_submitting(struct __test_metadata *_metadata, FIXTURE_DATA(module) *self)
{
	int ready[2], ret, k = 0;
	pid_t child;
	char byte;

	ASSERT_EQ(0, pipe(ready));
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		while (!(ret = test_submit_job(self->fd, &self->job)))
			if (++k == 20)
				ASSERT_EQ(1, write(ready[1], "", 1));
		_exit(ret != -ENODEV || k < 20);
	}
	ASSERT_EQ(1, read(ready[0], &byte, 1));
	return child;
}

TEST_F(module, device_is_unbound_under_a_process_that_submits)
{
	pid_t child = start_submitting(_metadata, self);

	ASSERT_EQ(0, test_driver_write("unbind", self->bus));
	test_join(_metadata, child);
	ASSERT_EQ(0, test_driver_write("bind", self->bus));
	check_device(_metadata);
}

/* As when a slot is emptied by its button, but that the device is found again */
TEST_F(module, device_is_removed_under_a_process_that_submits_and_found_again)
{
	char path[PATH_MAX];
	pid_t child;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/remove", self->bus);
	child = start_submitting(_metadata, self);
	ASSERT_EQ(0, test_write_file(path, "1"));
	test_join(_metadata, child);
	EXPECT_EQ(-ENODEV, test_open_driver("/dev/accel", "accel", "tessera"));
	EXPECT_EQ(SIZE, test_filled(self->source.map, SIZE, 1));
	ASSERT_EQ(0, test_write_file("/sys/bus/pci/rescan", "1"));
	check_device(_metadata);
	EXPECT_EQ(-ENODEV, test_submit_job(self->fd, &self->job));
}

TEST_HARNESS_MAIN
