// SPDX-License-Identifier: MIT
/*
 * accel top, over a folder that looks like /proc. That the driver tells what is shown is for
 * tests/kselftest/top.c.
 */
#include <ftw.h>
#include <sys/stat.h>

#define COMMAND top_command
#include "command_test.h"

static char proc[] = "/tmp/test-top-XXXXXX";

/* As the driver writes it */
#define TESSERA(id, ns, memory)							\
	"pos:\t0\nflags:\t02000002\ndrm-driver:\ttessera\ndrm-client-id:\t" id "\n"	\
	"drm-pdev:\t0000:00:04.0\ndrm-engine-pe:\t" ns " ns\n"			\
	"drm-engine-capacity-pe:\t4\ndrm-total-memory:\t" memory "\n"

static void write_file(const char *path, const char *text)
{
	char full[256];
	FILE *file;

	snprintf(full, sizeof(full), "%s/%s", proc, path);
	file = fopen(full, "w");
	assert_non_null(file);
	assert_int_equal(fputs(text, file) < 0, 0);
	assert_int_equal(fclose(file), 0);
}

static void add_process(const char *pid, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", proc, pid);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/%s/fdinfo", proc, pid);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/comm", pid);
	write_file(path, name);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void)status;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int make_proc(void **state)
{
	(void)state;
	strcpy(proc + strlen(proc) - 6, "XXXXXX");
	return mkdtemp(proc) ? 0 : -1;
}

static int remove_proc(void **state)
{
	(void)state;
	return nftw(proc, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

#define TOP(...)	RUN("--once", "--interval", "0.01", "--proc", proc, ##__VA_ARGS__)

static void nobody_is_a_table_without_lines(void **state)
{
	(void)state;
	assert_int_equal(TOP(), 0);
	assert_non_null(strstr(printed, "PID NAME"));
	assert_ptr_equal(strchr(printed, '\n'), printed + strlen(printed) - 1);
}

static void open_file_is_shown_with_its_process(void **state)
{
	(void)state;
	add_process("123", "tvm\n");
	write_file("123/fdinfo/5", TESSERA("7", "25000000", "64 KiB"));
	assert_int_equal(TOP(), 0);
	assert_non_null(strstr(printed, "     123 tvm              0000:00:04.0      0.0"
				       "           25           64\n"));
}

static void file_of_another_driver_is_not_shown(void **state)
{
	(void)state;
	add_process("123", "tvm\n");
	write_file("123/fdinfo/5", "drm-driver:\ti915\ndrm-client-id:\t7\n");
	write_file("123/fdinfo/6", "pos:\t0\nflags:\t02\n");
	assert_int_equal(TOP(), 0);
	assert_null(strstr(printed, "123"));
}

static void file_that_two_descriptors_stand_for_is_shown_once(void **state)
{
	(void)state;
	add_process("123", "tvm\n");
	write_file("123/fdinfo/5", TESSERA("7", "25000000", "64 KiB"));
	write_file("123/fdinfo/6", TESSERA("7", "25000000", "64 KiB"));
	assert_int_equal(TOP(), 0);
	assert_non_null(strstr(printed, "tvm"));
	assert_null(strstr(strstr(printed, "tvm") + 1, "tvm"));
}

static void memory_is_read_in_its_unit(void **state)
{
	(void)state;
	add_process("1", "a\n");
	write_file("1/fdinfo/5", TESSERA("1", "0", "3 MiB"));
	add_process("2", "b\n");
	write_file("2/fdinfo/5", TESSERA("2", "0", "8192"));
	assert_int_equal(TOP("--json"), 0);
	assert_non_null(strstr(printed, "\"memory_bytes\": 3145728"));
	assert_non_null(strstr(printed, "\"memory_bytes\": 8192"));
}

static void json_has_what_the_table_has(void **state)
{
	(void)state;
	add_process("123", "tvm\n");
	write_file("123/fdinfo/5", TESSERA("7", "25000000", "64 KiB"));
	assert_int_equal(TOP("--json"), 0);
	assert_non_null(strstr(printed, "\"pid\": 123"));
	assert_non_null(strstr(printed, "\"name\": \"tvm\""));
	assert_non_null(strstr(printed, "\"device\": \"0000:00:04.0\""));
	assert_non_null(strstr(printed, "\"client\": 7"));
	assert_non_null(strstr(printed, "\"utilization_percent\": 0.000000"));
	assert_non_null(strstr(printed, "\"engine_ns\": 25000000"));
	assert_non_null(strstr(printed, "\"engines\": 4"));
}

static void many_files_are_all_shown(void **state)
{
	char path[32], text[512];
	int shown = 0;

	(void)state;
	add_process("9", "many\n");
	for (int n = 0; n < 100; n++) {
		snprintf(path, sizeof(path), "9/fdinfo/%d", n);
		snprintf(text, sizeof(text), "drm-driver:\ttessera\ndrm-client-id:\t%d\n", n);
		write_file(path, text);
	}
	assert_int_equal(TOP(), 0);
	for (const char *at = printed; (at = strstr(at, "many")); at++)
		shown++;
	assert_int_equal(shown, 100);
}

static void name_that_would_move_the_cursor_is_shown_as_text(void **state)
{
	(void)state;
	add_process("123", "\033[2Jx\n");
	write_file("123/fdinfo/5", TESSERA("7", "0", "0"));
	assert_int_equal(TOP(), 0);
	assert_null(strchr(printed, '\033'));
	assert_non_null(strstr(printed, "?[2Jx"));
}

static void folder_that_is_not_there_fails(void **state)
{
	(void)state;
	assert_int_equal(RUN("--once", "--proc", "/no/such"), 1);
	assert_string_equal(complained, "accel top: /no/such: No such file or directory\n");
}

static void interval_out_of_range_is_misuse(void **state)
{
	static const char *const bad[] = { "0", "-1", "soon", "1s", "", "nan", "4000" };

	(void)state;
	for (size_t n = 0; n < sizeof(bad) / sizeof(bad[0]); n++)
		assert_int_equal(RUN("--once", "--interval", bad[n]), 2);
	assert_non_null(strstr(complained, "--interval 4000, expected seconds"));
}

static void arguments_that_are_none_are_misuse(void **state)
{
	(void)state;
	assert_int_equal(RUN("--all"), 2);
	assert_int_equal(RUN("now"), 2);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, make_proc, remove_proc)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nobody_is_a_table_without_lines),
		TEST(open_file_is_shown_with_its_process),
		TEST(file_of_another_driver_is_not_shown),
		TEST(file_that_two_descriptors_stand_for_is_shown_once),
		TEST(memory_is_read_in_its_unit),
		TEST(json_has_what_the_table_has),
		TEST(many_files_are_all_shown),
		TEST(name_that_would_move_the_cursor_is_shown_as_text),
		TEST(folder_that_is_not_there_fails),
		TEST(interval_out_of_range_is_misuse),
		TEST(arguments_that_are_none_are_misuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
