// SPDX-License-Identifier: MIT
/*
 * What /proc/PID/fdinfo tells of a file of the device, in the keys that drm-usage-stats of the
 * kernel's documentation defines.
 */
#include "tessera_test.h"

FIXTURE(fdinfo) {
	int fd;
	char text[8192];
};

static void read_fdinfo(struct __test_metadata *_metadata, int fd, char *text, size_t size)
{
	char path[64];
	ssize_t length;
	int file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_GE(file, 0);
	length = read(file, text, size - 1);
	ASSERT_GT(length, 0);
	text[length] = '\0';
	close(file);
}

/* What stands behind the first key that begins so, or NULL */
static const char *value_of(const char *text, const char *key)
{
	const char *line = strstr(text, key);

	if (!line || (line != text && line[-1] != '\n'))
		return NULL;
	line = strchr(line, ':');
	return line ? line + 1 + strspn(line + 1, " \t") : NULL;
}

/* Bytes of a value such as "16 KiB" */
static __u64 bytes_of(const char *value)
{
	char *unit;
	__u64 number = strtoull(value, &unit, 10);

	unit += strspn(unit, " ");
	return number << (*unit == 'K' ? 10 : *unit == 'M' ? 20 : *unit == 'G' ? 30 : 0);
}

FIXTURE_SETUP(fdinfo)
{
	self->fd = test_open(_metadata);
	read_fdinfo(_metadata, self->fd, self->text, sizeof(self->text));
}

FIXTURE_TEARDOWN(fdinfo)
{
	close(self->fd);
}

TEST_F(fdinfo, driver_is_named)
{
	const char *value = value_of(self->text, "drm-driver");

	ASSERT_NE(NULL, value);
	EXPECT_EQ(0, strncmp(value, "tessera\n", 8));
}

TEST_F(fdinfo, device_is_named)
{
	char bus[NAME_MAX];
	const char *value = value_of(self->text, "drm-pdev");

	test_bus_name(_metadata, self->fd, bus);
	ASSERT_NE(NULL, value);
	EXPECT_EQ(0, strncmp(value, bus, strlen(bus)));
}

TEST_F(fdinfo, clients_have_numbers_of_their_own)
{
	int other = test_open(_metadata);
	const char *ours, *theirs;
	char text[8192];

	read_fdinfo(_metadata, other, text, sizeof(text));
	ours = value_of(self->text, "drm-client-id");
	theirs = value_of(text, "drm-client-id");
	ASSERT_NE(NULL, ours);
	ASSERT_NE(NULL, theirs);
	EXPECT_NE(strtoul(ours, NULL, 10), strtoul(theirs, NULL, 10));
	close(other);
}

TEST_F(fdinfo, memory_of_buffers_is_told)
{
	struct test_buffer buffer = test_buffer_create(_metadata, self->fd, 1 << 20);
	const char *value;

	read_fdinfo(_metadata, self->fd, self->text, sizeof(self->text));
	value = value_of(self->text, "drm-total-");
	ASSERT_NE(NULL, value);
	EXPECT_EQ(buffer.size, bytes_of(value));
}

TEST_F(fdinfo, on_chip_memory_is_told_by_itself)
{
	struct test_buffer buffer, sram;

	if (!test_info(_metadata, self->fd).sram_size)
		SKIP(return, "the device has no on-chip memory");
	buffer = test_buffer_create(_metadata, self->fd, 1 << 20);
	sram = test_sram_create(_metadata, self->fd, 3 * 4096, 0);
	read_fdinfo(_metadata, self->fd, self->text, sizeof(self->text));
	ASSERT_NE(NULL, value_of(self->text, "drm-total-memory"));
	EXPECT_EQ(buffer.size, bytes_of(value_of(self->text, "drm-total-memory")));
	EXPECT_EQ(buffer.size, bytes_of(value_of(self->text, "drm-resident-memory")));
	ASSERT_NE(NULL, value_of(self->text, "drm-total-sram"));
	EXPECT_EQ(sram.size, bytes_of(value_of(self->text, "drm-total-sram")));
	EXPECT_EQ(sram.size, bytes_of(value_of(self->text, "drm-resident-sram")));
	EXPECT_EQ(0, bytes_of(value_of(self->text, "drm-shared-sram")));
	EXPECT_EQ(0, bytes_of(value_of(self->text, "drm-active-sram")));
}

TEST_F(fdinfo, memory_in_use_is_active)
{
	struct test_buffer buffer = test_buffer_create(_metadata, self->fd, 1 << 20);
	struct test_gate gate;
	struct test_job job;
	int fence;

	TEST_GATE_OR_SKIP(self->fd, &gate);
	test_job_increment(&job, buffer.handle);
	fence = test_submit_gated(_metadata, self->fd, &job, &gate, NULL);
	read_fdinfo(_metadata, self->fd, self->text, sizeof(self->text));
	EXPECT_EQ(buffer.size, bytes_of(value_of(self->text, "drm-active-memory")));
	ASSERT_EQ(0, test_gate_signal(&gate));
	ASSERT_EQ(1, test_sync_file_wait(_metadata, fence));
	read_fdinfo(_metadata, self->fd, self->text, sizeof(self->text));
	EXPECT_EQ(0, bytes_of(value_of(self->text, "drm-active-memory")));
}

TEST_F(fdinfo, memory_of_closed_buffers_is_gone)
{
	struct test_buffer buffer = test_buffer_create(_metadata, self->fd, 1 << 20);
	const char *value;

	test_buffer_destroy(_metadata, self->fd, &buffer);
	read_fdinfo(_metadata, self->fd, self->text, sizeof(self->text));
	value = value_of(self->text, "drm-total-");
	if (value)
		EXPECT_EQ(0, bytes_of(value));
}

TEST_F(fdinfo, queues_are_counted)
{
	const char *value = value_of(self->text, "drm-engine-capacity-pe");

	ASSERT_NE(NULL, value);
	EXPECT_EQ(test_info(_metadata, self->fd).num_queues, strtoul(value, NULL, 10));
}

TEST_F(fdinfo, file_without_jobs_has_used_no_time)
{
	const char *value = value_of(self->text, "drm-engine-pe");

	ASSERT_NE(NULL, value);
	EXPECT_EQ(0, strncmp(value, "0 ns\n", 5));
}

TEST_F(fdinfo, time_is_that_of_the_jobs)
{
	struct test_buffer buffer = test_buffer_create(_metadata, self->fd, 1 << 20);
	struct drm_tessera_submit_result result;
	struct drm_tessera_job_result job_result;
	struct drm_tessera_submit submit;
	struct test_job job;
	const char *value;
	__u64 sum = 0;
	int k;

	test_job_copy(&job, buffer.handle, buffer.handle, 1 << 18);
	submit = test_submission(&job.job, 1);
	for (k = 0; k < 2; k++) {
		ASSERT_EQ(1, test_run(_metadata, self->fd, &submit));
		ASSERT_EQ(0, test_query_result(self->fd, submit.id, &result, &job_result, 1));
		sum += job_result.device_ns;
	}
	read_fdinfo(_metadata, self->fd, self->text, sizeof(self->text));
	value = value_of(self->text, "drm-engine-pe");
	ASSERT_NE(NULL, value);
	EXPECT_NE(0, sum);
	EXPECT_EQ(sum, strtoull(value, NULL, 10));
}

TEST_HARNESS_MAIN
