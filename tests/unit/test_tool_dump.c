// SPDX-License-Identifier: MIT
/*
 * accel dump, on dumps that are made here: a good one, cut and bent ones. That the driver makes
 * such is for tests/kselftest/dump.c.
 */
#include "../../driver/tessera_hw.h"

#define COMMAND dump_command
#include "command_test.h"

static char path[] = "/tmp/test-dump-XXXXXX";

/* A dump of a job that gathers by an index, under a window, and multiplies by itself */
struct image {
	struct drm_tessera_dump_header header;
	struct drm_tessera_dump_register registers[2];
	struct drm_tessera_dump_entry entries[2];
	struct drm_tessera_dump_buffer buffers[2];
	struct tessera_hw_job job;
	struct tessera_hw_operand operands[2];
	struct tessera_hw_window windows[1];
	struct tessera_hw_instruction program[1];
};

static struct image image;

static int make_image(void **state)
{
	int fd;

	(void)state;
	strcpy(path + strlen(path) - 6, "XXXXXX");
	fd = mkstemp(path);
	if (fd < 0 || close(fd))
		return -1;
	image = (struct image){
		.header = {
			.magic = DRM_TESSERA_DUMP_MAGIC, .version = DRM_TESSERA_DUMP_VERSION,
			.size = sizeof(image), .num_registers = 2, .num_entries = 2,
			.num_buffers = 2,
			.descriptor_size = sizeof(image) - offsetof(struct image, job),
			.queue = 1, .cause = DRM_TESSERA_CAUSE_TIMEOUT, .job = 3, .num_jobs = 5,
			.id = 77, .sequence = 9, .completed = 7, .completion = 7, .pid = 123,
			.comm = "tvm",
		},
		.registers = { { TESSERA_REG_STATUS, 1 },
			       { TESSERA_QUEUE(1) + TESSERA_QUEUE_HEAD, 7 } },
		.entries = { { 8, 512, 0 }, { 9, 640, TESSERA_RING_INTERRUPT } },
		.buffers = { { 4096, 3, 12, TESSERA_BUFFER_VALID | TESSERA_BUFFER_WRITABLE, 0 },
			     { 8192, 4, 13, TESSERA_BUFFER_VALID, 1 } },
		.job = { .rank = 2, .num_operands = 2, .num_windows = 1, .num_instructions = 1,
			 .extents = { 16, 32 } },
		.operands = {
			{ .buffer = 3, .dtype = DRM_TESSERA_DTYPE_F32,
			  .address = { 8, { 128, 4 } } },
			{ .buffer = 4, .dtype = DRM_TESSERA_DTYPE_F32, .window_mask = 1,
			  .flags = DRM_TESSERA_OPERAND_INDIRECT, .index_buffer = 4,
			  .index_dtype = DRM_TESSERA_DTYPE_I32, .index_stride = -64,
			  .index_limit = 10, .index_address = { 0, { 4 } } },
		},
		.windows = { { { -1, { 1 } }, 14 } },
		.program = { { .opcode = DRM_TESSERA_OP_MUL, .dtype = DRM_TESSERA_DTYPE_F32 } },
	};
	return 0;
}

static int remove_image(void **state)
{
	(void)state;
	return unlink(path);
}

static void write_image(size_t size)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(&image, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static int dump(void)
{
	write_image(sizeof(image));
	return RUN(path);
}

static void job_and_its_process_are_named(void **state)
{
	(void)state;
	assert_int_equal(dump(), 0);
	assert_non_null(strstr(printed, "job 3 of 5, in submission 77 of tvm[123]\n"));
	assert_non_null(strstr(printed, "stopped on queue 1, cause 9: no progress, or too long\n"));
	assert_non_null(strstr(printed, "handed over up to 9, seen completed 7, completed 7\n"));
}

static void registers_are_named(void **state)
{
	(void)state;
	assert_int_equal(dump(), 0);
	assert_non_null(strstr(printed, "  0x0001c  0x00000001  STATUS\n"));
	assert_non_null(strstr(printed, "  0x02018  0x00000007  queue HEAD\n"));
}

static void ring_is_shown(void **state)
{
	(void)state;
	assert_int_equal(dump(), 0);
	assert_non_null(strstr(printed, "  sequence 8, descriptor of 512 bytes\n"));
	assert_non_null(strstr(printed, "  sequence 9, descriptor of 640 bytes, interrupt\n"));
}

static void buffers_are_shown(void **state)
{
	(void)state;
	assert_int_equal(dump(), 0);
	assert_non_null(strstr(printed, "  buffer 3: 4096 bytes in pages of 2^12, writable\n"));
	assert_non_null(strstr(printed, "  buffer 4: 8192 bytes in pages of 2^13, imported\n"));
}

static void descriptor_is_shown(void **state)
{
	(void)state;
	assert_int_equal(dump(), 0);
	assert_non_null(strstr(printed, "job of rank 2: i0 < 16 i1 < 32\n"));
	assert_non_null(strstr(printed, "  operand 0 (destination): dtype 0x32 (f32), buffer 3, at "
					"8 + i0 * 128 + i1 * 4\n"));
	assert_non_null(strstr(printed, "    + index * -64: dtype 0x22 (i32), buffer 4, limit 10, "
					"at 0 + i0 * 4\n    windows 0x1, fill 0x0 0x0\n"));
	assert_non_null(strstr(printed, "  window 0: 0 <= -1 + i0 * 1 < 14\n"));
	assert_non_null(strstr(printed, "  instruction 0: r0 = opcode 5 (mul) of r0, r0, r0, "
					"dtype 0x32 (f32), "));
}

/* Such a job does not come from the driver; the person who reads the dump wants to see it */
static void numbers_without_a_name_are_shown(void **state)
{
	(void)state;
	image.operands[0].dtype = 0x99;
	image.program[0].opcode = 200;
	assert_int_equal(dump(), 0);
	assert_non_null(strstr(printed, "dtype 0x99 (no type), buffer 3"));
	assert_non_null(strstr(printed, "r0 = opcode 200 (no opcode) of"));
}

/* Under the sanitizers, a look past the end would be found */
static void dump_that_is_cut_anywhere_is_refused(void **state)
{
	(void)state;
	for (size_t size = 0; size < sizeof(image); size++) {
		write_image(size);
		assert_int_equal(RUN(path), 2);
	}
}

static void dump_that_is_cut_and_says_so_is_refused(void **state)
{
	(void)state;
	for (size_t size = sizeof(image.header); size < sizeof(image); size++) {
		image.header.size = (uint32_t)size;
		write_image(size);
		assert_int_equal(RUN(path), 2);
	}
}

#define EXPECT_REFUSED(member, value, complaint)			\
	do {								\
		make_image(NULL);					\
		(member) = (value);					\
		assert_int_equal(dump(), 2);				\
		assert_non_null(strstr(complained, complaint));		\
		unlink(path);						\
	} while (0)

static void counts_that_lead_astray_are_refused(void **state)
{
	(void)state;
	unlink(path);
	EXPECT_REFUSED(image.header.num_registers, UINT32_MAX, "its counts ask for other");
	EXPECT_REFUSED(image.header.num_entries, 1, "its counts ask for other");
	EXPECT_REFUSED(image.header.num_buffers, UINT32_MAX / 24, "its counts ask for other");
	EXPECT_REFUSED(image.header.descriptor_size, 0, "its counts ask for other");
	EXPECT_REFUSED(image.job.rank, 9, "is malformed");
	EXPECT_REFUSED(image.job.num_operands, UINT32_MAX, "is malformed");
	EXPECT_REFUSED(image.job.num_windows, 0, "is malformed");
	EXPECT_REFUSED(image.job.num_instructions, 2, "is malformed");
	make_image(NULL);
}

static void other_file_is_refused(void **state)
{
	(void)state;
	image.header.magic++;
	assert_int_equal(dump(), 2);
	assert_non_null(strstr(complained, "is no coredump of a Tessera"));
}

static void other_version_is_refused(void **state)
{
	(void)state;
	image.header.version = 2;
	assert_int_equal(dump(), 2);
	assert_non_null(strstr(complained, ": version 2, expected 1"));
}

static void name_that_would_move_the_cursor_is_shown_as_text(void **state)
{
	(void)state;
	memset(image.header.comm, '\033', sizeof(image.header.comm));
	assert_int_equal(dump(), 0);
	assert_null(strchr(printed, '\033'));
}

static void file_that_is_not_there_is_misuse(void **state)
{
	(void)state;
	assert_int_equal(RUN("/no/such"), 2);
	assert_string_equal(complained, "accel dump: /no/such: No such file or directory\n");
}

static void folder_is_misuse(void **state)
{
	(void)state;
	assert_int_equal(RUN("/"), 2);
	assert_string_equal(complained, "accel dump: /: Is a directory\n");
}

static void arguments_that_make_no_sense_are_misuse(void **state)
{
	(void)state;
	assert_int_equal(RUN("a", "b"), 2);
	assert_int_equal(RUN("--hex", "a"), 2);
	assert_int_equal(run((const char *const[]){ NULL }), 2);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, make_image, remove_image)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(job_and_its_process_are_named),
		TEST(registers_are_named),
		TEST(ring_is_shown),
		TEST(buffers_are_shown),
		TEST(descriptor_is_shown),
		TEST(numbers_without_a_name_are_shown),
		TEST(dump_that_is_cut_anywhere_is_refused),
		TEST(dump_that_is_cut_and_says_so_is_refused),
		TEST(counts_that_lead_astray_are_refused),
		TEST(other_file_is_refused),
		TEST(other_version_is_refused),
		TEST(name_that_would_move_the_cursor_is_shown_as_text),
		TEST(file_that_is_not_there_is_misuse),
		TEST(folder_is_misuse),
		TEST(arguments_that_make_no_sense_are_misuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
