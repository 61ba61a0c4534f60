// SPDX-License-Identifier: MIT
/*
 * `accel top`, which shows what the driver tells in fdinfo of this process's file.
 */
#include "tessera_test.h"

#define SIZE	(1 << 20)

FIXTURE(top) {
	int fd;
	struct test_buffer buffer;
};

FIXTURE_SETUP(top)
{
	self->fd = test_open(_metadata);
	self->buffer = test_buffer_create(_metadata, self->fd, SIZE);
}

FIXTURE_TEARDOWN(top)
{
	munmap(self->buffer.map, SIZE);
	close(self->fd);
}

/* The line of this process, or an empty one */
static void read_line(struct __test_metadata *_metadata, char *line, size_t size)
{
	FILE *shown = popen("build/tools/accel top --once --interval 0.05", "r");
	bool found = false;

	ASSERT_NE(NULL, shown);
	while (!found && fgets(line, size, shown))
		found = strtol(line, NULL, 10) == getpid();
	if (!found)
		line[0] = '\0';
	ASSERT_EQ(0, pclose(shown));
}

#define TOOL_OR_SKIP								\
	do {									\
		if (access("build/tools/accel", X_OK))				\
			SKIP(return, "build/tools/accel is not built");		\
	} while (0)

TEST_F(top, process_is_shown_with_its_memory)
{
	char line[256], name[64] = "", device[64] = "", bus[NAME_MAX];
	unsigned long milliseconds = 0, kib = 0;
	double use = -1;

	TOOL_OR_SKIP;
	read_line(_metadata, line, sizeof(line));
	ASSERT_EQ(5, sscanf(line, "%*d %63s %63s %lf %lu %lu", name, device, &use,
			    &milliseconds, &kib))
		TH_LOG("'%s'", line);
	test_bus_name(_metadata, self->fd, bus);
	EXPECT_STREQ("top", name);
	EXPECT_STREQ(bus, device);
	EXPECT_EQ(SIZE / 1024, kib);
}

TEST_F(top, file_that_is_closed_is_not_shown)
{
	char line[256];

	TOOL_OR_SKIP;
	munmap(self->buffer.map, SIZE);
	close(self->fd);
	read_line(_metadata, line, sizeof(line));
	EXPECT_STREQ("", line);
	self->fd = test_open(_metadata);
	self->buffer = test_buffer_create(_metadata, self->fd, SIZE);
}

TEST_HARNESS_MAIN
