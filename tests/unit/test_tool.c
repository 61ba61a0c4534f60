// SPDX-License-Identifier: MIT
/*
 * The tool: arguments, exit status, messages, output files, JSON, and its own check of results. Its
 * commands are called in this process, with standard output and error caught.
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "command_test.h"
#include "file_test.h"
#include "json.h"
#include "output.h"
#include "verify.h"

/* The program's own main(), under another name. */
int accel_main(int argc, char **argv);
#define main accel_main
#include "../../tools/accel.c"
#undef main

static struct accel_error error;
static char in_path[MAX_PATH], out_path[MAX_PATH], link_path[MAX_PATH];

static int set_up(void **state)
{
	if (make_folder(state))
		return -1;
	set_path(in_path, "in.npy");
	set_path(out_path, "out.npy");
	set_path(link_path, "link.npy");
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
	unlink(in_path);
	unlink(out_path);
	unlink(link_path);
	return 0;
}

static size_t read_file(const char *path, char *bytes, size_t size)
{
	FILE *stream = fopen(path, "r");

	assert_non_null(stream);
	return read_back(stream, bytes, size);
}

/* Runs accel with these arguments, NULL at the end. */
#define run_accel(...)	run_with(accel_main, "accel", (const char *const[]){ __VA_ARGS__ })

/* A (2,3) array of u1: 1 2 3 / 4 5 6 */
static void write_input(void)
{
	static const int64_t shape[] = { 2, 3 };

	write_array(in_path, "|u1", 2, shape, "\1\2\3\4\5\6", 6);
}

static int run_transposition(void)
{
	return run_accel("run", "--in", in_path, "--out", out_path, "--from", "HW", "--to", "WH",
			 "--device", "cpu", "--verify", NULL);
}

static void expect_transposed(const char *path)
{
	struct npy_header header;
	char bytes[1024];
	size_t size = read_file(path, bytes, sizeof(bytes));

	expect_ok(npy_parse(bytes, size, &header, &error));
	assert_int_equal(header.rank, 2);
	assert_int_equal(header.shape[0], 3);
	assert_int_equal(header.shape[1], 2);
	assert_int_equal(size, header.data_offset + 6);
	assert_memory_equal(bytes + header.data_offset, "\1\4\2\5\3\6", 6);
}

/* The folder must hold nothing but in.npy and what is named here. */
static void expect_no_litter(void)
{
	char command[128];

	snprintf(command, sizeof(command),
		 "test -z \"$(find %s -type f ! -name in.npy ! -name out.npy)\"", folder);
	assert_int_equal(system(command), 0);
}

/* The whole program ---------------------------------------------------------------------------- */

static void no_command_is_misuse(void **state)
{
	(void)state;
	assert_int_equal(run_accel(NULL), 2);
	assert_memory_equal(complained, "accel: expected a command\n", 26);
	assert_string_equal(printed, "");
}

static void unknown_command_is_misuse(void **state)
{
	(void)state;
	assert_int_equal(run_accel("frobnicate", NULL), 2);
	assert_memory_equal(complained, "accel: no such command: frobnicate\n", 35);
	assert_int_equal(run_accel("help", "frobnicate", NULL), 2);
	assert_memory_equal(complained, "accel: no such command: frobnicate\n", 35);
}

static void help_lists_the_commands(void **state)
{
	(void)state;
	assert_int_equal(run_accel("--help", NULL), 0);
	for (size_t i = 0; i < NUM_COMMANDS; i++)
		assert_non_null(strstr(printed, commands[i]->summary));
	assert_int_equal(run_accel("help", NULL), 0);
	assert_string_equal(complained, "");
}

static void help_of_a_command_is_its_usage(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_COMMANDS; i++) {
		assert_int_equal(run_accel("help", commands[i]->name, NULL), 0);
		assert_string_equal(printed, commands[i]->usage);
		assert_int_equal(run_accel(commands[i]->name, "--help", NULL), 0);
		assert_string_equal(printed, commands[i]->usage);
	}
}

static void version_is_printed(void **state)
{
	(void)state;
	assert_int_equal(run_accel("--version", NULL), 0);
	assert_string_equal(printed, "accel 0.1.0\n");
}

static void full_standard_output_is_a_failure(void **state)
{
	char *arguments[] = { "accel", "--version", NULL };
	int full = open("/dev/full", O_WRONLY), err = open("/dev/null", O_WRONLY);
	int old_out = dup(1), old_err = dup(2), status;

	(void)state;
	fflush(NULL);
	dup2(full, 1);
	dup2(err, 2);
	status = accel_main(2, arguments);
	clearerr(stdout);
	dup2(old_out, 1);
	dup2(old_err, 2);
	close(old_out);
	close(old_err);
	close(full);
	close(err);
	assert_int_equal(status, 1);
}

/* info ----------------------------------------------------------------------------------------- */

static void info_shows_the_cpu(void **state)
{
	(void)state;
	assert_int_equal(run_accel("info", NULL), 0);
	assert_non_null(strstr(printed, "cpu\n  driver          libaccel 0.1.0\n"));
}

static void info_as_json_has_the_documented_keys(void **state)
{
	static const char *const keys[] = {
		"\"version\": \"0.1.0\"", "\"devices\": [", "\"name\": \"cpu\"",
		"\"kind\": \"cpu\"",
		"\"driver\": \"libaccel\"", "\"driver_version\": \"0.1.0\"",
		"\"device_version\": null", "\"queues\": 4", "\"max_rank\": 8",
		"\"max_sources\": 4", "\"max_windows\": 32", "\"max_instructions\": 16",
		"\"max_jobs\": 1024", "\"sram_bytes\": 1048576", "\"grid_columns\": 2",
		"\"max_buffer_bytes\": ",
	};

	(void)state;
	assert_int_equal(run_accel("info", "--json", NULL), 0);
	for (size_t i = 0; i < COUNT(keys); i++)
		assert_non_null(strstr(printed, keys[i]));
}

static void info_takes_no_arguments(void **state)
{
	(void)state;
	assert_int_equal(run_accel("info", "cpu", NULL), 2);
	assert_string_equal(complained, "accel info: argument 'cpu', expected none\n"
			    "Try 'accel help info'.\n");
	assert_int_equal(run_accel("info", "--yaml", NULL), 2);
	assert_memory_equal(complained, "accel info: unrecognized option '--yaml'\n", 41);
}

/* run ------------------------------------------------------------------------------------------ */

static void run_changes_the_layout_of_a_file(void **state)
{
	(void)state;
	write_input();
	assert_int_equal(run_transposition(), 0);
	expect_transposed(out_path);
	assert_string_equal(complained, "");
	assert_non_null(strstr(printed, "in.npy: HW (2,3) u8\n"));
	assert_non_null(strstr(printed, "out.npy: WH (3,2) u8\n"));
	assert_non_null(strstr(printed, "cpu: 6 bytes read, 6 written, 1 job, "));
	assert_non_null(strstr(printed, "; verified\n"));
	expect_no_litter();
}

static void run_may_replace_its_input(void **state)
{
	(void)state;
	write_input();
	assert_int_equal(run_accel("run", "--in", in_path, "--out", in_path, "--from", "HW",
				   "--to", "WH", "--device", "cpu", NULL), 0);
	expect_transposed(in_path);
}

static void run_reports_as_json(void **state)
{
	static const char *const keys[] = {
		"\"from\": \"HW\"", "\"to\": \"WH\"", "\"dtype\": \"u8\"", "\"in_shape\": [2, 3]",
		"\"out_shape\": [3, 2]", "\"device\": \"cpu\"", "\"bytes_read\": 6",
		"\"bytes_written\": 6", "\"total_ns\": ", "\"device_ns\": ", "\"verified\": false",
	};

	(void)state;
	write_input();
	assert_int_equal(run_accel("run", "--in", in_path, "--out", out_path, "--from", "HW",
				   "--to", "WH", "--device", "cpu", "--json", NULL), 0);
	for (size_t i = 0; i < COUNT(keys); i++)
		assert_non_null(strstr(printed, keys[i]));
}

static void fortran_order_is_understood(void **state)
{
	(void)state;
	/* the array that write_input() makes, the first axis fastest */
	write_array_as(in_path, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}\n",
		       "\1\4\2\5\3\6", 6);
	assert_int_equal(run_transposition(), 0);
	expect_transposed(out_path);
}

/* Bad arguments: what stands in place of a good one, and the message. */
static const struct bad_arguments {
	const char *in, *out, *from, *to, *device;
	const char *message;
} bad_arguments[] = {
	{ .in = "/no/such", .message = "accel run: /no/such: No such file or directory\n" },
	{ .in = "/dev/null", .message = "accel run: /dev/null: expected a regular file\n" },
	{ .in = "/etc/passwd", .message = "accel run: /etc/passwd: not a .npy file: it does not "
	  "begin with the six bytes 93 'NUMPY' and a version\n" },
	{ .from = "Hx", .message = "accel run: layout: axis x at column 2 has no factor, expected "
	  "one as in 16x\n  Hx\n   ^\n" },
	{ .to = "WW", .message = "accel run: layout: found 'W' at column 2, expected each axis "
	  "once\n  WW\n   ^\n" },
	{ .to = "WC", .message = "accel run: layout: axis C is none of \"HW\"\n  WC\n   ^\n" },
	{ .to = "W", .message = "accel run: layout: axis H of \"HW\" is missing\n  W\n   ^\n" },
	{ .to = "strides:1,2", .message = "accel run: --to strides:1,2: a .npy file has an order "
	  "of axes, no strides\n" },
	{ .from = "strides:1,2", .message = "accel run: --from strides:1,2: a .npy file has an "
	  "order of axes, no strides\n" },
	{ .device = "gpu", .message = "accel run: device gpu: No such file or directory (expected "
	  "\"cpu\" or the path of a Tessera node)\n" },
	{ .device = "/dev/null", .message = "accel run: device /dev/null: not a DRM node, expected "
	  "a Tessera\n" },
	{ .out = "/dev/null", .message = "accel run: /dev/null: expected a regular file or "
	  "none\n" },
	{ .out = "/no/such/out.npy", .message = "accel run: /no/such/out.npy: cannot write beside "
	  "it: No such file or directory\n" },
	{ .out = "/etc/passwd/x", .message = "accel run: /etc/passwd/x: Not a directory\n" },
};

static void bad_argument_is_misuse(void **state)
{
	(void)state;
	write_input();
	for (size_t i = 0; i < COUNT(bad_arguments); i++) {
		const struct bad_arguments *bad = &bad_arguments[i];

		assert_int_equal(run_accel("run", "--in", bad->in ? bad->in : in_path,
					   "--out", bad->out ? bad->out : out_path,
					   "--from", bad->from ? bad->from : "HW",
					   "--to", bad->to ? bad->to : "WH",
					   "--device", bad->device ? bad->device : "cpu", NULL), 2);
		assert_string_equal(complained, bad->message);
		assert_string_equal(printed, "");
		assert_int_equal(access(out_path, F_OK), -1);
	}
	expect_no_litter();
}

static void rank_of_the_file_must_be_that_of_the_layout(void **state)
{
	char message[200];

	(void)state;
	write_input();
	snprintf(message, sizeof(message), "accel run: --from HWC names 3 axes, %s has 2\n",
		 in_path);
	assert_int_equal(run_accel("run", "--in", in_path, "--out", out_path, "--from", "HWC",
				   "--to", "CHW", "--device", "cpu", NULL), 2);
	assert_string_equal(complained, message);
}

static void missing_option_is_misuse(void **state)
{
	(void)state;
	assert_int_equal(run_accel("run", "--in", in_path, NULL), 2);
	assert_string_equal(complained, "accel run: --out is missing\nTry 'accel help run'.\n");
	assert_int_equal(run_accel("run", "--out", out_path, NULL), 2);
	assert_string_equal(complained, "accel run: --in is missing\nTry 'accel help run'.\n");
}

static void option_given_twice_is_misuse(void **state)
{
	(void)state;
	assert_int_equal(run_accel("run", "--in", in_path, "--in", out_path, NULL), 2);
	assert_string_equal(complained, "accel run: --in is given twice\nTry 'accel help run'.\n");
}

static void argument_beside_options_is_misuse(void **state)
{
	(void)state;
	assert_int_equal(run_accel("run", in_path, NULL), 2);
	assert_non_null(strstr(complained, ", expected options alone\n"));
}

static void option_without_its_value_is_misuse(void **state)
{
	(void)state;
	assert_int_equal(run_accel("run", "--in", NULL), 2);
	assert_memory_equal(complained, "accel run: option '--in' requires an argument\n", 46);
}

/* demo ----------------------------------------------------------------------------------------- */

static void demo_on_the_cpu_shows_its_numbers(void **state)
{
	static const char *const lines[] = {
		"conv1 gives NCHW, conv2 takes NHWC", "strides (200704,3136,56,1)",
		"strides (200704,1,3584,64)",
		"Index (0,32,28,28) is element 101948 of the source and element 102176 of ",
		"rank 2, extents (3136,64)",
		"802816 bytes read, 802816 bytes written",
		"all 200704 elements equal max(x, 0)", "equal bit for bit",
		"HWC (1080,1920,3), u8", "CHW (3,1080,1920), u8", "all 6220800 elements equal",
		"All results are right.",
	};

	(void)state;
	assert_int_equal(run_accel("demo", "--device", "cpu", NULL), 0);
	assert_string_equal(complained, "");
	for (size_t i = 0; i < COUNT(lines); i++)
		assert_non_null(strstr(printed, lines[i]));
}

static void demo_on_a_missing_device_is_misuse(void **state)
{
	(void)state;
	assert_int_equal(run_accel("demo", "--device", "gpu", NULL), 2);
	assert_string_equal(complained, "accel demo: device gpu: No such file or directory "
			    "(expected \"cpu\" or the path of a Tessera node)\n");
	assert_int_equal(run_accel("demo", "gpu", NULL), 2);
	assert_int_equal(run_accel("demo", "--fast", NULL), 2);
}

static void demo_without_a_place_for_files_fails(void **state)
{
	(void)state;
	setenv("TMPDIR", "/no/such", 1);
	assert_int_equal(run_accel("demo", "--device", "cpu", NULL), 1);
	unsetenv("TMPDIR");
	assert_non_null(strstr(complained, "/no/such/accel-demo-"));
	assert_null(strstr(printed, "All results are right."));
}

/* Output files --------------------------------------------------------------------------------- */

static void write_text(const char *path, const char *text, mode_t mode)
{
	write_file(path, text, strlen(text));
	assert_int_equal(chmod(path, mode), 0);
}

static void expect_text(const char *path, const char *text)
{
	char bytes[100];

	read_file(path, bytes, sizeof(bytes));
	assert_string_equal(bytes, text);
}

static mode_t mode_of(const char *path)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return status.st_mode & 07777;
}

static void new_file_has_the_permissions_of_the_umask(void **state)
{
	struct output *output;
	mode_t mask = umask(027);

	(void)state;
	expect_ok(output_create(out_path, &output, &error));
	expect_ok(output_write(output, "new", 3, &error));
	assert_int_equal(access(out_path, F_OK), -1);
	expect_ok(output_commit(output, &error));
	umask(mask);
	expect_text(out_path, "new");
	assert_int_equal(mode_of(out_path), 0640);
	expect_no_litter();
}

static void replaced_file_keeps_its_permissions(void **state)
{
	struct output *output;

	(void)state;
	write_text(out_path, "old", 0604);
	expect_ok(output_create(out_path, &output, &error));
	expect_ok(output_write(output, "new", 3, &error));
	expect_text(out_path, "old");
	expect_ok(output_commit(output, &error));
	expect_text(out_path, "new");
	assert_int_equal(mode_of(out_path), 0604);
}

static void discarded_file_leaves_the_old_one(void **state)
{
	struct output *output;

	(void)state;
	write_text(out_path, "old", 0600);
	expect_ok(output_create(out_path, &output, &error));
	expect_ok(output_write(output, "new", 3, &error));
	output_discard(output);
	output_discard(NULL);
	expect_text(out_path, "old");
	expect_no_litter();
}

static void symbolic_link_stays_and_its_target_is_replaced(void **state)
{
	struct output *output;
	struct stat status;

	(void)state;
	write_text(out_path, "old", 0600);
	assert_int_equal(symlink("out.npy", link_path), 0);
	expect_ok(output_create(link_path, &output, &error));
	expect_ok(output_write(output, "new", 3, &error));
	expect_ok(output_commit(output, &error));
	assert_int_equal(lstat(link_path, &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	expect_text(out_path, "new");
}

static void symbolic_link_to_nothing_is_refused(void **state)
{
	struct output *output;
	char message[200];

	(void)state;
	assert_int_equal(symlink("nothing", link_path), 0);
	snprintf(message, sizeof(message),
		 "%s: a symbolic link to nothing, expected a file or none", link_path);
	expect_failure(output_create(link_path, &output, &error), -ENOENT, message);
	assert_null(output);
}

/* In a child: with a limit on the size of its files, which stands for a full disk. */
static int run_on_a_full_disk(void)
{
	static const struct rlimit no_bytes = { 0, 0 };
	struct output *output;

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &no_bytes) || output_create(out_path, &output, NULL))
		return 9;
	if (output_write(output, "new", 3, NULL) != -EFBIG)
		return 9;
	output_discard(output);
	return 0;
}

static void full_disk_leaves_the_old_file(void **state)
{
	int status;
	pid_t child;

	(void)state;
	write_text(out_path, "old", 0600);
	child = fork();
	if (!child)
		_exit(run_on_a_full_disk());
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	expect_text(out_path, "old");
	expect_no_litter();
}

static void signal_removes_what_was_written(void **state)
{
	int status;
	pid_t child;

	(void)state;
	write_text(out_path, "old", 0600);
	child = fork();
	if (!child) {
		struct output *output;

		if (output_create(out_path, &output, NULL) || output_write(output, "new", 3, NULL))
			_exit(9);
		raise(SIGTERM);
		_exit(9);
	}
	waitpid(child, &status, 0);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
	expect_text(out_path, "old");
	expect_no_litter();
}

/* JSON ----------------------------------------------------------------------------------------- */

static void json_is_written_with_commas_and_escapes(void **state)
{
	static const int64_t numbers[] = { -1, INT64_MAX };
	struct json json = { .stream = tmpfile() };
	char text[500];

	(void)state;
	json_begin_object(&json, NULL);
	json_string(&json, "text", "a\"b\\c\n\x01 \xc3\xa9 \xff \xe2\x82\xac \xed\xa0\x80 \xc3");
	json_string(&json, "none", NULL);
	json_unsigned(&json, "number", UINT64_MAX);
	json_bool(&json, "yes", true);
	json_integers(&json, "numbers", numbers, 2);
	json_integers(&json, "no_numbers", NULL, 0);
	json_begin_array(&json, "list");
	json_begin_object(&json, NULL);
	json_end_object(&json);
	json_bool(&json, NULL, false);
	json_end_array(&json);
	json_end_object(&json);
	read_back(json.stream, text, sizeof(text));
	assert_string_equal(text,
		"{\n"
		"  \"text\": \"a\\\"b\\\\c\\u000a\\u0001 \xc3\xa9 \\ufffd \xe2\x82\xac "
		"\\ufffd\\ufffd\\ufffd \\ufffd\",\n"
		"  \"none\": null,\n"
		"  \"number\": 18446744073709551615,\n"
		"  \"yes\": true,\n"
		"  \"numbers\": [-1, 9223372036854775807],\n"
		"  \"no_numbers\": [],\n"
		"  \"list\": [\n"
		"    {},\n"
		"    false\n"
		"  ]\n"
		"}\n");
}

/* The tool's own check ------------------------------------------------------------------------- */

static const int64_t check_shape[] = { 2, 3 };

static void add_one(void *element)
{
	++*(unsigned char *)element;
}

static void check_accepts_what_is_right(void **state)
{
	struct verify_copy copy = { "HW", "WH", check_shape, false, 1, 0, 0, NULL };

	(void)state;
	expect_ok(verify_copy(&copy, "abcdef", "adbecf", &error));
	copy.is_fortran = true;
	expect_ok(verify_copy(&copy, "adbecf", "adbecf", &error));
	copy.is_fortran = false;
	copy.expect = add_one;
	expect_ok(verify_copy(&copy, "abcdef", "becfdg", &error));
}

static void check_names_the_first_element_that_differs(void **state)
{
	struct verify_copy copy = { "HW", "WH", check_shape, false, 2, 0, 0, NULL };

	(void)state;
	expect_failure(verify_copy(&copy, "aabbccddeeff", "aaddbbexccfx", &error), -EIO,
		       "verify: the element at WH = (1,1) is 0x7865, expected 0x6565");
}

static void check_of_a_part_looks_at_no_other(void **state)
{
	struct verify_copy copy = { "HW", "WH", check_shape, false, 1, 3, 3, NULL };

	(void)state;
	expect_ok(verify_copy(&copy, "abcdef", "ecf", &error));
	expect_failure(verify_copy(&copy, "abcdef", "ecx", &error), -EIO,
		       "verify: the element at WH = (2,1) is 0x78, expected 0x66");
}

static void bytes_that_differ_are_named(void **state)
{
	(void)state;
	expect_ok(verify_equal("abcd", "abcd", 4, 2, &error));
	expect_failure(verify_equal("abcd", "abcx", 4, 2, &error), -EIO,
		       "verify: element 1 is 0x6463, expected 0x7863");
}

static void check_of_nothing_succeeds(void **state)
{
	static const int64_t empty[] = { 0, 3 };
	struct verify_copy copy = { "HW", "WH", empty, false, 1, 0, 0, NULL };

	(void)state;
	expect_ok(verify_copy(&copy, NULL, NULL, &error));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, remove_files)
	const struct CMUnitTest tests[] = {
		TEST(no_command_is_misuse),
		TEST(unknown_command_is_misuse),
		TEST(help_lists_the_commands),
		TEST(help_of_a_command_is_its_usage),
		TEST(version_is_printed),
		TEST(full_standard_output_is_a_failure),
		TEST(info_shows_the_cpu),
		TEST(info_as_json_has_the_documented_keys),
		TEST(info_takes_no_arguments),
		TEST(run_changes_the_layout_of_a_file),
		TEST(run_may_replace_its_input),
		TEST(run_reports_as_json),
		TEST(fortran_order_is_understood),
		TEST(bad_argument_is_misuse),
		TEST(rank_of_the_file_must_be_that_of_the_layout),
		TEST(missing_option_is_misuse),
		TEST(option_given_twice_is_misuse),
		TEST(argument_beside_options_is_misuse),
		TEST(option_without_its_value_is_misuse),
		TEST(demo_on_the_cpu_shows_its_numbers),
		TEST(demo_on_a_missing_device_is_misuse),
		TEST(demo_without_a_place_for_files_fails),
		TEST(new_file_has_the_permissions_of_the_umask),
		TEST(replaced_file_keeps_its_permissions),
		TEST(discarded_file_leaves_the_old_one),
		TEST(symbolic_link_stays_and_its_target_is_replaced),
		TEST(symbolic_link_to_nothing_is_refused),
		TEST(full_disk_leaves_the_old_file),
		TEST(signal_removes_what_was_written),
		TEST(json_is_written_with_commas_and_escapes),
		TEST(check_accepts_what_is_right),
		TEST(check_names_the_first_element_that_differs),
		TEST(check_of_a_part_looks_at_no_other),
		TEST(bytes_that_differ_are_named),
		TEST(check_of_nothing_succeeds),
	};

	return cmocka_run_group_tests(tests, set_up, remove_folder);
}
