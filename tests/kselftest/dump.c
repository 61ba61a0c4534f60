// SPDX-License-Identifier: MIT
/*
 * The device coredump of a job that hangs: what the driver tells the kernel, as `accel dump` shows
 * it, and that it holds no address.
 */
#include "tessera_test.h"

#define SIZE	TEST_PAGE_SIZE
#define FOLDER	"/sys/class/devcoredump"

FIXTURE(dump) {
	int fd;
	bool has_test;
	struct test_buffer destination;
	struct test_buffer source;
	struct test_job job;
	struct drm_tessera_submit submit;
	char path[PATH_MAX];
	char dump[65536];
	size_t size;
};

/* The first dump there is: its path, or false. The kernel makes its directory before its file */
static bool find_dump(char path[PATH_MAX])
{
	struct dirent *entry;
	DIR *folder = opendir(FOLDER);
	bool found = false;

	while (folder && !found && (entry = readdir(folder))) {
		if (strncmp(entry->d_name, "devcd", 5))
			continue;
		snprintf(path, PATH_MAX, FOLDER "/%s/data", entry->d_name);
		found = !access(path, F_OK);
	}
	if (folder)
		closedir(folder);
	return found;
}

/* Writing anything frees a dump */
static void free_dumps(void)
{
	char path[PATH_MAX];
	int tries;

	for (tries = 0; tries < 1000 && find_dump(path); tries++) {
		test_write_file(path, "1");
		sched_yield();
	}
}

FIXTURE_SETUP(dump)
{
	char bus[NAME_MAX], path[PATH_MAX];

	test_module_reload(_metadata, "");
	free_dumps();
	self->fd = test_open(_metadata);
	test_bus_name(_metadata, self->fd, bus);
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/job_timeout_ms/pe0", bus);
	ASSERT_EQ(0, test_write_file(path, "100"));
	self->destination = test_buffer_create(_metadata, self->fd, 2 * SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	test_fill(self->source.map, SIZE, 1);
	test_job_copy(&self->job, self->destination.handle, self->source.handle, SIZE / 4);
	self->submit = test_submission(&self->job.job, 1);
	self->submit.queue = 0;
	self->has_test = test_write_debugfs(_metadata, self->fd, "test_hang", 0) != -ENOENT;
}

FIXTURE_TEARDOWN(dump)
{
	munmap(self->destination.map, 2 * SIZE);
	munmap(self->source.map, SIZE);
	close(self->fd);
	free_dumps();
	test_module_reload(_metadata, "");
}

/* The n-th job hangs; its dump is read as soon as it is there: a workqueue brings it */
static void hang_and_read(struct __test_metadata *_metadata, FIXTURE_DATA(dump) *self,
			  __u32 nth)
{
	__s64 end = test_now_ns() + 20000000000LL;
	ssize_t length;
	int file;

	ASSERT_EQ(0, test_write_debugfs(_metadata, self->fd, "test_hang", nth));
	ASSERT_EQ(-ECANCELED, test_run(_metadata, self->fd, &self->submit));
	while (!find_dump(self->path) && test_now_ns() < end)
		sched_yield();
	file = open(self->path, O_RDONLY | O_CLOEXEC);
	ASSERT_GE(file, 0);
	while ((length = read(file, self->dump + self->size, sizeof(self->dump) - self->size)) > 0)
		self->size += length;
	ASSERT_EQ(0, length);
	close(file);
}

#define TEST_DEVICE_OR_SKIP							\
	do {									\
		if (!self->has_test)						\
			SKIP(return, "the device is not one of x-test=on");	\
		if (access(FOLDER, F_OK))					\
			SKIP(return, "the kernel has no CONFIG_DEV_COREDUMP");	\
	} while (0)

TEST_F(dump, job_that_hangs_leaves_a_dump)
{
	const struct drm_tessera_dump_header *header = (void *)self->dump;

	TEST_DEVICE_OR_SKIP;
	hang_and_read(_metadata, self, 1);
	ASSERT_GE(self->size, sizeof(*header));
	EXPECT_EQ(DRM_TESSERA_DUMP_MAGIC, header->magic);
	EXPECT_EQ(DRM_TESSERA_DUMP_VERSION, header->version);
	EXPECT_EQ(self->size, header->size);
	EXPECT_EQ(0, header->queue);
	EXPECT_EQ(DRM_TESSERA_CAUSE_TIMEOUT, header->cause);
	EXPECT_EQ(0, header->job);
	EXPECT_EQ(1, header->num_jobs);
	EXPECT_EQ(self->submit.id, header->id);
	EXPECT_EQ(1, header->sequence);
	EXPECT_EQ(0, header->completed);
	EXPECT_EQ(getpid(), header->pid);
	EXPECT_EQ(1, header->num_entries);
	EXPECT_EQ(2, header->num_buffers);
}

TEST_F(dump, job_that_hung_among_others_is_told)
{
	const struct drm_tessera_dump_header *header = (void *)self->dump;
	struct drm_tessera_job jobs[3];
	struct test_job others[2];

	TEST_DEVICE_OR_SKIP;
	test_job_increment(&others[0], self->source.handle);
	test_job_increment(&others[1], self->source.handle);
	jobs[0] = others[0].job;
	jobs[1] = self->job.job;
	jobs[2] = others[1].job;
	self->submit.jobs = TEST_ARRAY(jobs, 3);
	hang_and_read(_metadata, self, 2);
	EXPECT_EQ(1, header->job);
	EXPECT_EQ(3, header->num_jobs);
	EXPECT_EQ(2, header->num_entries);
	EXPECT_EQ(1, header->completed);
	EXPECT_EQ(3, header->sequence);
}

TEST_F(dump, tool_shows_the_dump)
{
	char line[256], command[PATH_MAX + 64];
	bool has_job = false, has_buffer = false;
	FILE *shown;

	TEST_DEVICE_OR_SKIP;
	if (access("build/tools/accel", X_OK))
		SKIP(return, "build/tools/accel is not built");
	hang_and_read(_metadata, self, 1);
	snprintf(command, sizeof(command), "build/tools/accel dump %s", self->path);
	shown = popen(command, "r");
	ASSERT_NE(NULL, shown);
	while (fgets(line, sizeof(line), shown)) {
		has_job |= !strcmp(line, "job of rank 1: i0 < 1024\n");
		has_buffer |= !!strstr(line, ": 8192 bytes in pages of 2^1");
	}
	EXPECT_EQ(0, pclose(shown));
	EXPECT_TRUE(has_job);
	EXPECT_TRUE(has_buffer);
}

/* The kernel's addresses begin with sixteen ones */
TEST_F(dump, dump_holds_no_address_of_the_kernel)
{
	size_t k;

	TEST_DEVICE_OR_SKIP;
	hang_and_read(_metadata, self, 1);
	for (k = 0; k + 8 <= self->size; k += 8) {
		__u64 word;

		memcpy(&word, self->dump + k, 8);
		EXPECT_NE(0xffff, word >> 48)
			TH_LOG("0x%llx at %zu", word, k);
	}
}

TEST_F(dump, module_unloads_while_there_is_a_dump)
{
	TEST_DEVICE_OR_SKIP;
	hang_and_read(_metadata, self, 1);
	munmap(self->destination.map, 2 * SIZE);
	munmap(self->source.map, SIZE);
	close(self->fd);
	EXPECT_EQ(0, test_module_unload_soon());
	EXPECT_EQ(0, access(self->path, F_OK));
	ASSERT_EQ(0, test_module_load(""));
	self->fd = test_open(_metadata);
	self->destination = test_buffer_create(_metadata, self->fd, 2 * SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
}

TEST_HARNESS_MAIN
