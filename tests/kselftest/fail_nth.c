// SPDX-License-Identifier: MIT
/*
 * Each call with its first allocation failing, then with its second, and so on until it has no
 * more: it fails with ENOMEM, or does without, and leaves nothing behind. The kernel fails them
 * (fault-injection: /proc/thread-self/fail-nth); what copies from and to the process fails as well,
 * which is EFAULT. Skipped on a kernel that does not.
 */
#include "tessera_test.h"

#define SMALL_SIZE	(8 * TEST_PAGE_SIZE)
#define LARGE_SIZE	((2 << 20) + TEST_PAGE_SIZE)
#define MAX_FAILURES	5000
#define MANY_JOBS	100	/* more than one piece of memory for descriptors */

FIXTURE(fail_nth) {
	int fd;
	int fail_nth;
	char buffers[PATH_MAX];
	unsigned int buffers_before;
	struct test_buffer counter;
	struct test_job increment;
	struct drm_tessera_job jobs[MANY_JOBS];
	__u32 signalled;
	__u32 binary;
	__u32 timeline;
	__u64 point;
	int vgem;
	int dma_buf;
	/* What the call has made */
	int made_fd;
	__u32 made_handle;
	void *made_map;
};

/* A call, and what takes back what it has done; 0 or -errno */
FIXTURE_VARIANT(fail_nth) {
	int (*call)(FIXTURE_DATA(fail_nth) *self);
	void (*undo)(FIXTURE_DATA(fail_nth) *self);
	/* It adds so much to the counter */
	__u32 increments;
};

static int open_device(FIXTURE_DATA(fail_nth) *self)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", self->fd);
	self->made_fd = open(path, O_RDWR | O_CLOEXEC);
	return self->made_fd < 0 ? -errno : 0;
}

static void close_fd(FIXTURE_DATA(fail_nth) *self)
{
	close(self->made_fd);
}

static int query_info(FIXTURE_DATA(fail_nth) *self)
{
	struct drm_tessera_dev_info info = {};
	struct drm_tessera_dev_query query = {
		.type = DRM_TESSERA_DEV_QUERY_INFO,
		.size = sizeof(info),
		.pointer = (uintptr_t)&info,
	};

	return test_ioctl(self->fd, DRM_IOCTL_TESSERA_DEV_QUERY, &query);
}

static int query_result(FIXTURE_DATA(fail_nth) *self)
{
	struct drm_tessera_submit_result result;
	struct drm_tessera_job_result jobs[1];

	return test_query_result(self->fd, 1, &result, jobs, 1);
}

static int create_buffer(FIXTURE_DATA(fail_nth) *self, __u64 size)
{
	struct drm_tessera_bo_create create = { .size = size };
	int ret = test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_CREATE, &create);

	self->made_handle = create.handle;
	return ret;
}

static int create_small_buffer(FIXTURE_DATA(fail_nth) *self)
{
	return create_buffer(self, SMALL_SIZE);
}

static int create_large_buffer(FIXTURE_DATA(fail_nth) *self)
{
	return create_buffer(self, LARGE_SIZE);
}

static int create_sram_buffer(FIXTURE_DATA(fail_nth) *self)
{
	struct drm_tessera_bo_create create = {
		.size = SMALL_SIZE, .flags = DRM_TESSERA_BO_SRAM,
	};
	int ret = test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_CREATE, &create);

	self->made_handle = create.handle;
	return ret;
}

static void close_handle(FIXTURE_DATA(fail_nth) *self)
{
	test_handle_close(self->fd, self->made_handle);
}

static int ask_for_offset(FIXTURE_DATA(fail_nth) *self)
{
	struct drm_tessera_bo_mmap_offset where = { .handle = self->counter.handle };

	return test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &where);
}

static int map_buffer(FIXTURE_DATA(fail_nth) *self)
{
	struct drm_tessera_bo_mmap_offset where = { .handle = self->counter.handle };
	int ret = test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_MMAP_OFFSET, &where);

	if (ret)
		return ret;
	self->made_map = mmap(NULL, SMALL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd,
			      where.offset);
	return self->made_map == MAP_FAILED ? -errno : 0;
}

static void unmap_buffer(FIXTURE_DATA(fail_nth) *self)
{
	munmap(self->made_map, SMALL_SIZE);
}

static int wait_for_buffer(FIXTURE_DATA(fail_nth) *self)
{
	return test_buffer_wait(self->fd, self->counter.handle, 0, INT64_MAX);
}

static int submit_one_job(FIXTURE_DATA(fail_nth) *self)
{
	return test_submit_job(self->fd, &self->increment);
}

static int submit_many_jobs(FIXTURE_DATA(fail_nth) *self)
{
	struct drm_tessera_submit submit = test_submission(self->jobs, MANY_JOBS);

	return test_submit(self->fd, &submit);
}

static int submit_with_syncobjs(FIXTURE_DATA(fail_nth) *self)
{
	struct drm_tessera_submit submit = test_submission(self->jobs, 1);
	struct drm_tessera_sync in = { .handle = self->signalled };
	struct drm_tessera_sync out[] = {
		{ .handle = self->binary },
		{
			.handle = self->timeline,
			.flags = DRM_TESSERA_SYNC_TIMELINE,
			.timeline_value = ++self->point,
		},
	};

	submit.in_syncs = TEST_ARRAY(&in, 1);
	submit.out_syncs = TEST_ARRAY(out, 2);
	return test_submit(self->fd, &submit);
}

static int export_buffer(FIXTURE_DATA(fail_nth) *self)
{
	return drmPrimeHandleToFD(self->fd, self->counter.handle, DRM_CLOEXEC | DRM_RDWR,
				  &self->made_fd) ? -errno : 0;
}

static int import_buffer(FIXTURE_DATA(fail_nth) *self)
{
	return drmPrimeFDToHandle(self->fd, self->dma_buf, &self->made_handle) ? -errno : 0;
}

static void undo_nothing(FIXTURE_DATA(fail_nth) *self)
{
}

/* The job is done before the next begins: what that allocates is its own */
static void wait_for_job(FIXTURE_DATA(fail_nth) *self)
{
	wait_for_buffer(self);
}

FIXTURE_VARIANT_ADD(fail_nth, open) { open_device, close_fd };
FIXTURE_VARIANT_ADD(fail_nth, query_info) { query_info, undo_nothing };
FIXTURE_VARIANT_ADD(fail_nth, query_result) { query_result, undo_nothing };
FIXTURE_VARIANT_ADD(fail_nth, bo_create) { create_small_buffer, close_handle };
FIXTURE_VARIANT_ADD(fail_nth, bo_create_large) { create_large_buffer, close_handle };
FIXTURE_VARIANT_ADD(fail_nth, bo_create_sram) { create_sram_buffer, close_handle };
FIXTURE_VARIANT_ADD(fail_nth, bo_mmap_offset) { ask_for_offset, undo_nothing };
FIXTURE_VARIANT_ADD(fail_nth, mmap) { map_buffer, unmap_buffer };
FIXTURE_VARIANT_ADD(fail_nth, bo_wait) { wait_for_buffer, undo_nothing };
FIXTURE_VARIANT_ADD(fail_nth, submit) { submit_one_job, wait_for_job, 1 };
FIXTURE_VARIANT_ADD(fail_nth, submit_many_jobs) { submit_many_jobs, wait_for_job, MANY_JOBS };
FIXTURE_VARIANT_ADD(fail_nth, submit_syncobjs) { submit_with_syncobjs, wait_for_job, 1 };
FIXTURE_VARIANT_ADD(fail_nth, prime_export) { export_buffer, close_fd };
FIXTURE_VARIANT_ADD(fail_nth, prime_import) { import_buffer, close_handle };

static unsigned int count_lines(const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned int count = 0;
	int c;

	while (file && (c = getc(file)) != EOF)
		count += c == '\n';
	if (file)
		fclose(file);
	return count;
}

/* Has every kind of allocation fail, and nothing said of it; false where the kernel cannot */
static bool prepare_kernel(void)
{
	static const char * const settings[][2] = {
		{ "failslab/ignore-gfp-wait", "N" },
		{ "failslab/verbose", "0" },
		{ "fail_page_alloc/ignore-gfp-wait", "N" },
		{ "fail_page_alloc/ignore-gfp-highmem", "N" },
		{ "fail_page_alloc/min-order", "0" },
		{ "fail_page_alloc/verbose", "0" },
	};
	char path[PATH_MAX];
	size_t n;

	for (n = 0; n < sizeof(settings) / sizeof(*settings); n++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s", settings[n][0]);
		if (test_write_file(path, settings[n][1]))
			return false;
	}
	/* Not every kernel fails copies */
	test_write_file("/sys/kernel/debug/fail_usercopy/verbose", "0");
	return true;
}

FIXTURE_SETUP(fail_nth)
{
	struct drm_syncobj_create signalled = { .flags = DRM_SYNCOBJ_CREATE_SIGNALED };
	struct drm_mode_create_dumb dumb = { .width = 1024, .height = 8, .bpp = 32 };
	__u32 n;

	self->fail_nth = prepare_kernel() ?
			 open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC) : -1;
	if (self->fail_nth < 0)
		SKIP(return, "the kernel fails no allocations");
	self->vgem = test_open_driver("/dev/dri", "card", "vgem");
	if (self->vgem < 0)
		SKIP(return, "the kernel has no vgem to import from");
	ASSERT_EQ(0, test_ioctl(self->vgem, DRM_IOCTL_MODE_CREATE_DUMB, &dumb));
	ASSERT_EQ(0, drmPrimeHandleToFD(self->vgem, dumb.handle, DRM_CLOEXEC | DRM_RDWR,
					&self->dma_buf));
	self->fd = test_open(_metadata);
	test_debugfs_path(_metadata, self->fd, "buffers", self->buffers);
	self->buffers_before = count_lines(self->buffers);
	self->counter = test_buffer_create(_metadata, self->fd, SMALL_SIZE);
	self->counter.map[0] = 0;
	test_job_increment(&self->increment, self->counter.handle);
	for (n = 0; n < MANY_JOBS; n++)
		self->jobs[n] = self->increment.job;
	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_SYNCOBJ_CREATE, &signalled));
	self->signalled = signalled.handle;
	self->binary = test_syncobj_create(_metadata, self->fd);
	self->timeline = test_syncobj_create(_metadata, self->fd);
	/* A result that can be asked for */
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &self->increment));
	*(__u32 *)self->counter.map = 0;
}

FIXTURE_TEARDOWN(fail_nth)
{
	if (self->fail_nth >= 0)
		close(self->fail_nth);
}

/*
 * The call with its allocation n failing; in has_failed, whether it had so many. What is left of
 * the count may fail the copies of the calls that ask for it and that end it.
 */
static int call_with_failure(struct __test_metadata *_metadata, FIXTURE_DATA(fail_nth) *self,
			     int (*call)(FIXTURE_DATA(fail_nth) *self), __u32 n, bool *has_failed)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", n);
	ssize_t num_read;
	int ret;

	ASSERT_EQ(length, pwrite(self->fail_nth, text, length, 0));
	ret = call(self);
	num_read = pread(self->fail_nth, text, 1, 0);
	*has_failed = num_read == 1 && text[0] == '0';
	if (pwrite(self->fail_nth, "0", 1, 0) != 1)
		ASSERT_EQ(1, pwrite(self->fail_nth, "0", 1, 0));
	return ret;
}

TEST_F(fail_nth, every_failure_is_told_and_leaves_nothing)
{
	__u32 n, num_done = 0, num_unsure = 0;
	bool has_failed = true;
	int ret = 0;

	for (n = 1; n <= MAX_FAILURES && has_failed; n++) {
		ret = call_with_failure(_metadata, self, variant->call, n, &has_failed);
		if (!ret) {
			variant->undo(self);
			num_done++;
		} else {
			/* ENOSPC: what shmem says where it gets no inode */
			ASSERT_TRUE(ret == -ENOMEM || ret == -ENOSPC || ret == -EFAULT)
				TH_LOG("allocation %u: %s", n, strerror(-ret));
		}
		/* Where the answer cannot be copied, the call has been made all the same */
		num_unsure += ret == -EFAULT;
	}
	TH_LOG("%u failures, %u of them passed over", n - 2, num_done - 1);
	ASSERT_FALSE(has_failed);
	ASSERT_EQ(0, ret);
	ASSERT_GT(n, 2);

	/* Without a failure it does what it always does */
	ASSERT_EQ(0, variant->call(self));
	variant->undo(self);
	num_done++;
	ASSERT_EQ(0, wait_for_buffer(self));
	EXPECT_GE(*(__u32 *)self->counter.map, num_done * variant->increments);
	EXPECT_LE(*(__u32 *)self->counter.map, (num_done + num_unsure) * variant->increments);
	ASSERT_EQ(0, munmap(self->counter.map, self->counter.size));
	close(self->fd);
	EXPECT_EQ(self->buffers_before, count_lines(self->buffers));
}

TEST_HARNESS_MAIN
