// SPDX-License-Identifier: MIT
/*
 * The driver's trace points: what somebody sees who looks on. An instance of tracefs of the test's
 * own keeps it from what else is traced.
 */
#include "tessera_test.h"

#define TRACEFS	"/sys/kernel/tracing"
#define SIZE	TEST_PAGE_SIZE

FIXTURE(trace) {
	int fd;
	bool is_there;
	struct test_buffer destination;
	struct test_buffer source;
	struct test_job job;
	struct drm_tessera_submit submit;
	char folder[64];
	char text[65536];
};

FIXTURE_SETUP(trace)
{
	char path[PATH_MAX];

	self->fd = test_open(_metadata);
	self->destination = test_buffer_create(_metadata, self->fd, SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	test_job_copy(&self->job, self->destination.handle, self->source.handle, SIZE / 4);
	self->submit = test_submission(&self->job.job, 1);
	mount("tracefs", TRACEFS, "tracefs", 0, NULL);
	snprintf(self->folder, sizeof(self->folder), TRACEFS "/instances/tessera-%d", getpid());
	self->is_there = !mkdir(self->folder, 0700);
	snprintf(path, sizeof(path), "%s/events/tessera/enable", self->folder);
	if (self->is_there)
		ASSERT_EQ(0, test_write_file(path, "1"));
}

FIXTURE_TEARDOWN(trace)
{
	rmdir(self->folder);
	close(self->fd);
}

#define TRACEFS_OR_SKIP								\
	do {									\
		if (!self->is_there)						\
			SKIP(return, "the kernel has no " TRACEFS);		\
	} while (0)

static void read_trace(struct __test_metadata *_metadata, FIXTURE_DATA(trace) *self)
{
	char path[PATH_MAX];
	ssize_t length;
	size_t size = 0;
	int file;

	snprintf(path, sizeof(path), "%s/trace", self->folder);
	file = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_GE(file, 0);
	while ((length = read(file, self->text + size, sizeof(self->text) - 1 - size)) > 0)
		size += length;
	ASSERT_EQ(0, length);
	self->text[size] = '\0';
	close(file);
}

/* Where this event of the submission stands behind from, or NULL */
static const char *find_event(FIXTURE_DATA(trace) *self, const char *from, const char *event)
{
	const char *line, *end;
	char who[64];

	snprintf(who, sizeof(who), "pid=%d id=%llu ", getpid(), self->submit.id);
	for (line = from; line && (line = strstr(line, event)); line = end) {
		const char *found = strstr(line, who);

		end = strchr(line, '\n');
		if (found && (!end || found < end))
			return line;
	}
	return NULL;
}

TEST_F(trace, submission_is_seen_from_submit_to_done)
{
	const char *at;

	TRACEFS_OR_SKIP;
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	read_trace(_metadata, self);
	at = find_event(self, self->text, "tessera_submit: ");
	ASSERT_NE(NULL, at);
	at = find_event(self, at, "tessera_run: ");
	ASSERT_NE(NULL, at);
	at = find_event(self, at, "tessera_done: ");
	ASSERT_NE(NULL, at);
	EXPECT_NE(NULL, strstr(at, "jobs=1 failed=0 error=0"));
}

TEST_F(trace, interrupt_is_seen)
{
	TRACEFS_OR_SKIP;
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	read_trace(_metadata, self);
	EXPECT_NE(NULL, strstr(self->text, "tessera_interrupt: tessera-pe"));
}

TEST_F(trace, fault_is_seen)
{
	const char *at;
	char expected[64];

	TRACEFS_OR_SKIP;
	test_job_gather(&self->job, self->source.handle);
	memset(self->source.map, 5, SIZE);
	ASSERT_EQ(-EIO, test_run(_metadata, self->fd, &self->submit));
	read_trace(_metadata, self);
	at = find_event(self, self->text, "tessera_fault: ");
	ASSERT_NE(NULL, at);
	snprintf(expected, sizeof(expected), "job=0 cause=%u operand=1 offset=5\n",
		 DRM_TESSERA_CAUSE_INDEX_LIMIT);
	EXPECT_NE(NULL, strstr(at, expected));
}

TEST_F(trace, reset_is_seen)
{
	char path[PATH_MAX];

	TRACEFS_OR_SKIP;
	test_sysfs_path(_metadata, self->fd, "reset", path);
	ASSERT_EQ(0, test_write_file(path, "1"));
	read_trace(_metadata, self);
	EXPECT_NE(NULL, strstr(self->text, "tessera_reset: device "));
}

TEST_HARNESS_MAIN
