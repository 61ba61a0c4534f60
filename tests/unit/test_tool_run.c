// SPDX-License-Identifier: MIT
/*
 * accel run and accel plan: what each step does to a file, and what is refused.
 */
#include <sys/stat.h>

#include "command_test.h"
#include "file_test.h"

static struct accel_error error;
static char in_path[MAX_PATH], in2_path[MAX_PATH], out_path[MAX_PATH], gather[96];

static int set_up(void **state)
{
	if (make_folder(state))
		return -1;
	set_path(in_path, "in.npy");
	set_path(in2_path, "in2.npy");
	set_path(out_path, "out.npy");
	snprintf(gather, sizeof(gather), "axis=1;index=%s", in2_path);
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
	unlink(in_path);
	unlink(in2_path);
	unlink(out_path);
	return 0;
}

/* A (2,3) array of u1: abc / def */
static void write_input(void)
{
	static const int64_t shape[] = { 2, 3 };

	write_array(in_path, "|u1", 2, shape, "abcdef", 6);
}

static void expect_output(const char *descr, uint32_t rank, const int64_t *shape, const void *data,
			  size_t size)
{
	char bytes[1024];
	struct npy_header header;
	int fd = open(out_path, O_RDONLY);
	ssize_t length = read(fd, bytes, sizeof(bytes));

	close(fd);
	assert_true(length > 0);
	expect_ok(npy_parse(bytes, (size_t)length, &header, &error));
	assert_string_equal(header.descr, descr);
	assert_int_equal(header.rank, rank);
	for (uint32_t i = 0; i < rank; i++)
		assert_int_equal(header.shape[i], shape[i]);
	assert_int_equal(header.data_size, size);
	assert_memory_equal(bytes + header.data_offset, data, size);
}

#define SHAPE(...)	(const int64_t[]){ __VA_ARGS__ }

#define run(...)								\
	run_command_with(&run_command, (const char *[]){			\
		"--in", in_path, "--out", out_path, "--device", "cpu", "--verify",	\
		__VA_ARGS__, NULL })
#define plan(...)	run_command_with(&plan_command, (const char *[]){ __VA_ARGS__, NULL })

/* Steps ---------------------------------------------------------------------------------------- */

static void blocked_layout_is_padded_with_the_value(void **state)
{
	(void)state;
	write_input();
	assert_int_equal(run("--to", "NC2c", "--from", "NC", "--pad-value", "46"), 0);
	expect_output("|u1", 3, SHAPE(2, 2, 2), "abc.def.", 8);
}

static void unpacked_layout_has_no_padding(void **state)
{
	(void)state;
	write_array(in_path, "|u1", 3, SHAPE(2, 2, 2), "abc.def.", 8);
	assert_int_equal(run("--from", "NC2c", "--unpack=2,3"), 0);
	expect_output("|u1", 2, SHAPE(2, 3), "abcdef", 6);
}

static void without_a_shape_nothing_is_padding(void **state)
{
	(void)state;
	write_array(in_path, "|u1", 3, SHAPE(2, 2, 2), "abc.def.", 8);
	assert_int_equal(run("--from", "NC2c", "--unpack"), 0);
	expect_output("|u1", 2, SHAPE(2, 4), "abc.def.", 8);
}

static void map_moves_each_element(void **state)
{
	(void)state;
	write_input();
	assert_int_equal(run("--map", "(i,j) -> (j,i)"), 0);
	expect_output("|u1", 2, SHAPE(3, 2), "adbecf", 6);
}

static void unpack_undoes_maps(void **state)
{
	(void)state;
	write_array(in_path, "|u1", 3, SHAPE(2, 2, 2), "abdec.f.", 8);
	assert_int_equal(run("--map", "(i,j) -> (j,i)", "--map", "(j,i) -> (j//2,i,j%2)",
			     "--unpack=2,3"), 0);
	expect_output("|u1", 2, SHAPE(2, 3), "abcdef", 6);
}

static void priority_changes_nothing_on_the_cpu(void **state)
{
	static const char *const priorities[] = { "normal", "low" };

	(void)state;
	for (size_t i = 0; i < COUNT(priorities); i++) {
		write_input();
		assert_int_equal(run("--priority", priorities[i], "--map", "(i,j) -> (j,i)"), 0);
		expect_output("|u1", 2, SHAPE(3, 2), "adbecf", 6);
	}
}

static void counters_are_of_all_jobs(void **state)
{
	static const char *const json[] = {
		"\"counters\": {", "\"clock_khz\": 1000000", "\"points\": 6",
		"\"windows_failed\": 0", "\"bytes_read\": 6", "\"bytes_written\": 6",
		"\"bursts_read\": 1", "\"bursts_written\": 1", "\"noc_bytes\": 0",
		"\"energy_pj\": 20480", "\"uncounted\": 0",
	};

	(void)state;
	write_input();
	assert_int_equal(run("--counters", "--map", "(i,j) -> (j,i)"), 0);
	expect_output("|u1", 2, SHAPE(3, 2), "adbecf", 6);
	assert_non_null(strstr(printed, "counters: 6 points, 0 loads and stores left out by "
			       "windows\nsystem memory: 6 bytes read in 1 bursts, 0.0 us; 6 "
			       "written in 1, 0.0 us\nmodel: 0.0 us, 0.020 uJ\n"));
	assert_int_equal(run("--counters", "--json", "--map", "(i,j) -> (j,i)"), 0);
	for (size_t i = 0; i < COUNT(json); i++)
		if (!strstr(printed, json[i]))
			fail_msg("%s is not in %s", json[i], printed);
	assert_int_equal(run("--json", "--map", "(i,j) -> (j,i)"), 0);
	assert_null(strstr(printed, "counters"));
}

/* What was printed, from the counters on. */
static const char *counters_of(const char *text)
{
	const char *found = strstr(text, "counters: ");

	if (!found)
		fail_msg("expected counters in:\n%s%s", text, complained);
	return found;
}

static void plan_counts_what_run_does(void **state)
{
	static const char *const chains[][5] = {
		{ "--map", "(i,j) -> (j,i)" },
		{ "--from", "NC", "--to", "NC2c" },
		{ "--map", "(i,j) -> (j,i)", "--no-fuse", "--cast", "f32" },
		{ "--slice", "1, ::2" },
	};
	char counted[sizeof(printed)];

	(void)state;
	write_input();
	for (size_t k = 0; k < COUNT(chains); k++) {
		const char *const *chain = chains[k];

		assert_int_equal(run("--counters", chain[0], chain[1], chain[2], chain[3],
				     chain[4]), 0);
		strcpy(counted, counters_of(printed));
		assert_int_equal(plan("--counters", "--in", in_path, chain[0], chain[1], chain[2],
				      chain[3], chain[4]), 0);
		assert_string_equal(counters_of(printed), counted);
		assert_int_equal(plan("--in", in_path, chain[0], chain[1], chain[2], chain[3],
				      chain[4]), 0);
		assert_null(strstr(printed, "counters"));
	}
	assert_int_equal(plan("--counters", "--json", "--in", in_path, "--map", "(i,j) -> (j,i)"),
			 0);
	assert_non_null(strstr(printed, "\"counters\": {\n    \"clock_khz\": 1000000,\n"
			       "    \"points\": 6,"));
}

/* More than any machine has: planned all the same, but not counted. */
static void what_no_buffer_holds_is_not_counted(void **state)
{
	(void)state;
	assert_int_equal(plan("--shape", "1000000,1000000,1000000", "--map", "(i,j,k) -> (j,i,k)"),
			 0);
	assert_int_equal(plan("--shape", "1000000,1000000,1000000", "--map", "(i,j,k) -> (j,i,k)",
			      "--counters"), 1);
	assert_string_equal(printed, "");
	assert_non_null(strstr(complained, "accel plan: buffer: 4000000000000000000 bytes, "
			       "expected 1 to "));
}

static void slice_is_that_of_python(void **state)
{
	(void)state;
	write_input();
	assert_int_equal(run("--slice", "1, ::-2"), 0);
	expect_output("|u1", 1, SHAPE(2), "fd", 2);
}

static void steps_are_done_in_the_order_in_which_they_are_written(void **state)
{
	(void)state;
	write_input();
	assert_int_equal(run("--slice", ":, 1:", "--map", "(i,j) -> (j,i)"), 0);
	expect_output("|u1", 2, SHAPE(2, 2), "becf", 4);
	assert_int_equal(run("--map", "(i,j) -> (j,i)", "--slice", ":, 1:"), 0);
	expect_output("|u1", 2, SHAPE(3, 1), "def", 3);
}

static void windows_become_the_rows_of_a_matrix(void **state)
{
	(void)state;
	write_array(in_path, "|u1", 4, SHAPE(1, 1, 3, 3), "abcdefghi", 9);
	assert_int_equal(run("--im2col", "kernel=2,2"), 0);
	expect_output("|u1", 2, SHAPE(4, 4), "abdebcefdeghefhi", 16);
}

static void from_nhwc_windows_are_of_nhwc(void **state)
{
	(void)state;
	write_array(in_path, "|u1", 4, SHAPE(1, 3, 3, 1), "abcdefghi", 9);
	assert_int_equal(run("--from", "NHWC", "--im2col", "kernel=2"), 0);
	expect_output("|u1", 2, SHAPE(4, 4), "abdebcefdeghefhi", 16);
}

static void gather_picks_slices(void **state)
{
	static const int32_t indices[] = { 2, 0 };

	(void)state;
	write_input();
	write_array(in2_path, "<i4", 1, SHAPE(2), indices, sizeof(indices));
	assert_int_equal(run("--gather", gather), 0);
	expect_output("|u1", 2, SHAPE(2, 2), "cafd", 4);
}

static void gather_outside_of_the_axis_fails(void **state)
{
	static const int32_t indices[] = { 3 };

	(void)state;
	write_input();
	write_array(in2_path, "<i4", 1, SHAPE(1), indices, sizeof(indices));
	assert_int_equal(run("--gather", gather), 1);
	assert_non_null(strstr(complained, "is 3, expected 0 or more and less than 3"));
	assert_int_equal(access(out_path, F_OK), -1);
}

static void cast_saturates(void **state)
{
	static const float values[] = { -1, 2.5f, 300 };

	(void)state;
	write_array(in_path, "<f4", 1, SHAPE(3), values, sizeof(values));
	assert_int_equal(run("--cast", "u8"), 0);
	expect_output("|u1", 1, SHAPE(3), "\0\2\377", 3);
}

static void computation_takes_its_inputs_in_order(void **state)
{
	(void)state;
	write_input();
	write_array(in2_path, "|u1", 1, SHAPE(3), "\1\2\3", 3);
	assert_int_equal(run("--in2", in2_path, "--compute", "y[j,i] = a[i,j] + b[j]"), 0);
	expect_output("|u1", 2, SHAPE(3, 2), "bedgfi", 6);
}

static void computation_goes_on_with_what_was_computed(void **state)
{
	(void)state;
	write_input();
	assert_int_equal(run("--map", "(i,j) -> (j,i)", "--compute", "y[i,j] = q[i,j] + 1",
			     "--compute", "z[i] = y[i,0] + 1"), 0);
	expect_output("|u1", 1, SHAPE(3), "cde", 3);
}

static void truth_values_stay_truth_values(void **state)
{
	(void)state;
	write_array(in_path, "|b1", 1, SHAPE(3), "\1\0\1", 3);
	assert_int_equal(run("--slice", "1:"), 0);
	expect_output("|b1", 1, SHAPE(2), "\0\1", 2);
	assert_int_equal(run("--compute", "y[i] = x[i] + 1"), 0);
	expect_output("|u1", 1, SHAPE(3), "\2\1\2", 3);
}

static void unfused_steps_give_the_same(void **state)
{
	(void)state;
	write_input();
	assert_int_equal(run("--no-fuse", "--slice", ":, 1:", "--map", "(i,j) -> (j,i)"), 0);
	expect_output("|u1", 2, SHAPE(2, 2), "becf", 4);
}

static void scalar_and_empty_array_are_written(void **state)
{
	(void)state;
	write_input();
	assert_int_equal(run("--slice", "0, 1"), 0);
	expect_output("|u1", 0, NULL, "b", 1);
	assert_int_equal(run("--slice", "2:"), 0);
	expect_output("|u1", 2, SHAPE(0, 3), "", 0);
}

static void big_endian_input_is_turned(void **state)
{
	(void)state;
	write_array_as(in_path, "{'descr': '>u2', 'fortran_order': False, 'shape': (2,)}\n",
		       "\1\2\3\4", 4);
	assert_int_equal(run("--slice", "::-1"), 0);
	expect_output("<u2", 1, SHAPE(2), "\4\3\2\1", 4);
}

/* 3 x 40 MiB: more than a slice holds, the last one smaller than the others. */
static void large_result_is_made_in_slices(void **state)
{
	static const int64_t rows = 3, columns = 40 << 20;
	struct npy_header header;
	uint8_t *row = malloc((size_t)columns);
	int fd;

	(void)state;
	write_array(in_path, "|u1", 2, SHAPE(columns, rows), "", 0);
	assert_int_equal(truncate(in_path, 128 + rows * columns), 0);
	fd = open(in_path, O_WRONLY);
	/* element (j, i) of what is a hole otherwise */
	for (int64_t i = 0; i < rows; i++)
		assert_int_equal(pwrite(fd, &"abc"[i], 1, 128 + (i * 1000 + 7) * rows + i), 1);
	close(fd);
	assert_int_equal(run_command_with(&run_command, (const char *[]){
		"--in", in_path, "--out", out_path, "--device", "cpu", "--map", "(j,i) -> (i,j)",
		NULL }), 0);
	expect_ok(npy_open(out_path, &header, &fd, &error));
	for (int64_t i = 0; i < rows; i++) {
		assert_int_equal(pread(fd, row, (size_t)columns,
				       (off_t)header.data_offset + i * columns), columns);
		for (int64_t j = 0; j < columns; j++)
			if (row[j] != (j == i * 1000 + 7 ? "abc"[i] : 0))
				fail_msg("row %d, column %d", (int)i, (int)j);
	}
	close(fd);
	free(row);
}

/* (1,3) x 40 MiB: the first axis has nothing to slice. */
static void large_result_of_one_row_is_made_in_slices(void **state)
{
	static const int64_t columns = 40 << 20;
	struct npy_header header;
	char last;
	int fd;

	(void)state;
	write_array(in_path, "|u1", 3, SHAPE(1, 3, columns), "", 0);
	assert_int_equal(truncate(in_path, 128 + 3 * columns), 0);
	fd = open(in_path, O_WRONLY);
	for (int64_t i = 0; i < 3; i++)
		assert_int_equal(pwrite(fd, &"abc"[i], 1, 128 + i * columns), 1);
	close(fd);
	assert_int_equal(run("--from", "NHW", "--to", "NHW", "--json"), 0);
	assert_non_null(strstr(printed, "\"jobs\": 3,"));
	assert_int_equal(run("--slice", ":,:,::-1", "--json"), 0);
	assert_non_null(strstr(printed, "\"jobs\": 3,"));
	expect_ok(npy_open(out_path, &header, &fd, &error));
	for (int64_t i = 0; i < 3; i++) {
		assert_int_equal(pread(fd, &last, 1, (off_t)header.data_offset +
				       (i + 1) * columns - 1), 1);
		assert_int_equal(last, "abc"[i]);
	}
	close(fd);
}

/* Plans ---------------------------------------------------------------------------------------- */

static void plan_of_a_chain_that_cancels_has_no_job(void **state)
{
	(void)state;
	assert_int_equal(plan("--shape", "1,64,56,56", "--map", "(n,c,h,w) -> (n,h,w,c)", "--map",
			      "(n,h,w,c) -> (n,c,h,w)", "--json"), 0);
	assert_non_null(strstr(printed, "\"map\": \"(n, c, h, w) -> (n, c, h, w)\""));
	assert_non_null(strstr(printed, "\"class\": \"identity\""));
	assert_non_null(strstr(printed, "\"jobs\": []"));
	assert_non_null(strstr(printed, "\"bytes_read\": 0"));
	assert_non_null(strstr(printed, "\"bytes_written\": 0"));
	assert_non_null(strstr(printed, "\"passes_unfused\": 2"));
	assert_non_null(strstr(printed, "\"passes\": 0"));
}

static void plan_of_a_reshape_is_one_job_without_a_temporary(void **state)
{
	(void)state;
	assert_int_equal(plan("--shape", "1,64,56,56", "--map", "(n,c,h,w) -> (n,56*h+w,c)"), 0);
	assert_non_null(strstr(printed, "class      bijective\n"));
	assert_non_null(strstr(printed, "job 0      rank 2, extents 3136,64\n"));
	assert_non_null(strstr(printed, "    kernel     "));
	assert_non_null(strstr(printed, "802816 bytes read, 802816 written\n"));
	assert_null(strstr(printed, "job 1"));
	assert_null(strstr(printed, "temporar"));
}

static void plan_shows_windows_programs_and_indices(void **state)
{
	static const int32_t indices[] = { 2, 0 };

	(void)state;
	write_input();
	write_array(in2_path, "<i4", 1, SHAPE(2), indices, sizeof(indices));
	assert_int_equal(plan("--in", in_path, "--gather", gather, "--cast", "f32"), 0);
	assert_non_null(strstr(printed, "class      "));
	assert_non_null(strstr(printed, "indexed"));
	assert_non_null(strstr(printed, " times indices0 at offset 0, strides "));
	assert_non_null(strstr(printed, "    r0 = cast.f32 r0\n"));
	assert_int_equal(plan("--shape", "1,1,3,3", "--dtype", "u8", "--im2col", "kernel=3;pad=1"),
			 0);
	assert_non_null(strstr(printed, "    window 0   0 <= "));
	assert_non_null(strstr(printed, "filling"));
}

static void plan_as_json_has_the_documented_keys(void **state)
{
	static const char *const keys[] = {
		"\"chain\": [", "\"map\": ", "\"class\": ", "\"jobs\": [", "\"rank\": ",
		"\"extents\": [", "\"operands\": [", "\"tensor\": ", "\"role\": \"destination\"",
		"\"role\": \"source\"", "\"dtype\": ", "\"offset\": ", "\"strides\": [",
		"\"windows\": [", "\"fill\": ", "\"coefficients\": [", "\"limit\": ",
		"\"program\": [", "\"kernel\": ", "\"notes\": [", "\"out_shape\": [9, 9]",
		"\"out_dtype\": \"u8\"", "\"bytes_read\": ", "\"bytes_written\": 81",
		"\"temporary_bytes\": 0", "\"passes_unfused\": 1", "\"passes\": 1",
	};

	(void)state;
	assert_int_equal(plan("--shape", "1,1,3,3", "--dtype", "u8", "--im2col", "kernel=3;pad=1",
			      "--json"), 0);
	for (size_t i = 0; i < COUNT(keys); i++)
		if (!strstr(printed, keys[i]))
			fail_msg("%s is not in %s", keys[i], printed);
}

static void plan_of_more_than_there_is_memory_is_made(void **state)
{
	(void)state;
	assert_int_equal(plan("--shape", "1048576,1048576,1024", "--map", "(i,j,k) -> (j,i,k)"), 0);
	assert_non_null(strstr(printed, "class      bijective\n"));
}

/* What is refused ------------------------------------------------------------------------------ */

static const struct {
	const char *arguments[5];
	const char *message;
} bad[] = {
	{ { "--map", "(i,j) -> (j,k" }, "accel run: expected \")\", not the end\n"
	  "  (i,j) -> (j,k\n               ^\n" },
	{ { "--slice", "0, x" }, "accel run: slice: found 'x' at column 4, expected a number, ':', "
	  "'...' or None\n  0, x\n     ^\n" },
	{ { "--im2col", "kernel=2" }, "accel run: im2col to x1: x has 2 axes, expected 4\n" },
	{ { "--im2col", "size=2" }, "accel run: --im2col: expected kernel=, stride=, pad=, "
	  "dilation= or layout= at column 1\n  size=2\n  ^\n" },
	{ { "--gather", "axis=1" }, "accel run: --gather: expected ;index= and a path at column 7\n"
	  "  axis=1\n        ^\n" },
	{ { "--gather", "axis=1;index=/no/such" }, "accel run: /no/such: No such file or "
	  "directory\n" },
	{ { "--cast", "f31" }, "accel run: element type \"f31\": expected u8, " },
	{ { "--cast", "raw8" }, "accel run: definition of x1: elements of raw8 are moved, never "
	  "computed with\n" },
	{ { "--compute", "y[i,j] = x[i,j] +" }, "accel run: expected a value, not the end\n"
	  "  y[i,j] = x[i,j] +\n                   ^\n" },
	{ { "--compute", "y[i,j] = x[i,j] + b[j]" }, "accel run: --compute: nothing is called "
	  "\"b\", expected --in2 with it\n" },
	{ { "--compute", "y[i,j] = x[i,j] + 1", "--compute", "z[i,j] = x[i,j] * 2" }, "accel run: "
	  "--compute: y is used by no --compute after it\n" },
	{ { "--in2", "/dev/null" }, "accel run: --in2 /dev/null: no --compute has a tensor for "
	  "it\n" },
	{ { "--unpack" }, "accel run: --unpack: expected --from or --map, which say what to "
	  "undo\n" },
	{ { "--map", "(i) -> (i)", "--unpack" }, "accel run: --map: the input is (2,3), expected "
	  "(1) for a tensor of (1)\n" },
	{ { "--from", "NC2c", "--unpack=2,x" }, "accel run: --unpack: expected a shape of at most "
	  "16 extents, as 1,64,56,56\n  2,x\n    ^\n" },
	{ { "--map", "(i,j) -> (i,j)", "--unpack=2,2" }, "accel run: --map: the input is (2,3), "
	  "expected (2,2) for a tensor of (2,2)\n" },
	{ { "--map", "(i,j) -> (i,j)", "--unpack=2" }, "accel run: --unpack: 1 extents, expected "
	  "the 2 of --map\n" },
	{ { "--pad-value", "256", "--from", "NC", "--to=NC2c" }, "accel run: value '256' for u8: "
	  "expected an integer that fits\n" },
	{ { "--from", "NC2c" }, "accel run: --from: the input is (2,3), expected (1,1,2) for a "
	  "tensor of (1,1)\n" },
	{ { "--from", "N" }, "accel run: --from N names 1 axes, " },
	{ { "--to", "glow:N[a=64]C" }, "accel run: --to glow:N[a=64]C: its axes are not dense and "
	  "in order, as those of a .npy file are\n" },
	{ { "--shape", "2,3" }, "accel run: --shape: the input's is known; it is for accel "
	  "plan\n" },
	{ { "--priority", "high" }, "accel run: --priority high, expected normal or low\n" },
	{ { "--nonsense" }, "accel run: bad option" },
	{ { "more" }, "accel run: argument 'more', expected options alone\n" },
};

static void bad_steps_are_misuse(void **state)
{
	(void)state;
	write_input();
	for (size_t i = 0; i < COUNT(bad); i++) {
		const char *arguments[16] = {
			"--in", in_path, "--out", out_path, "--device", "cpu"
		};

		memcpy(&arguments[6], bad[i].arguments, sizeof(bad[i].arguments));
		if (run_command_with(&run_command, arguments) != 2 ||
		    !strstr(complained, bad[i].message))
			fail_msg("%s %s: \"%s\"", bad[i].arguments[0], bad[i].arguments[1],
				 complained);
		assert_string_equal(printed, "");
		assert_int_equal(access(out_path, F_OK), -1);
	}
}

static void bad_plans_are_misuse(void **state)
{
	(void)state;
	write_input();
	assert_int_equal(plan("--json"), 2);
	assert_non_null(strstr(complained, "accel plan: expected --in or --shape\n"));
	assert_int_equal(plan("--in", in_path, "--shape", "1"), 2);
	assert_non_null(strstr(complained, "accel plan: expected --in or --shape, not both\n"));
	assert_int_equal(plan("--in", in_path, "--dtype", "u8"), 2);
	assert_non_null(strstr(complained, "accel plan: --dtype goes with --shape\n"));
	assert_int_equal(plan("--shape", "1,x"), 2);
	assert_string_equal(complained, "accel plan: --shape: expected a shape of at most 16 "
			    "extents, as 1,64,56,56\n  1,x\n    ^\n");
	assert_int_equal(plan("--shape", "1", "--dtype", "x8"), 2);
	assert_int_equal(plan("--shape", "4294967296,4294967296"), 2);
	assert_string_equal(complained, "accel plan: --shape: the bytes do not fit 63 bits\n");
}

static void maps_to_undo_are_in_a_row(void **state)
{
	(void)state;
	write_input();
	assert_int_equal(run("--map", "(i,j) -> (j,i)", "--slice", ":", "--map", "(i,j) -> (j,i)",
			     "--unpack"), 2);
	assert_string_equal(complained, "accel run: --unpack: its maps are not in a row\n");
}

static void too_many_steps_are_misuse(void **state)
{
	const char *arguments[2 + 2 * 33 + 1] = { "--shape", "2" };

	(void)state;
	for (int i = 0; i < 33; i++) {
		arguments[2 + 2 * i] = "--slice";
		arguments[3 + 2 * i] = ":";
	}
	assert_int_equal(run_command_with(&plan_command, arguments), 2);
	assert_non_null(strstr(complained,
			       "accel plan: --slice ':' is one step too many, at most 32\n"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, remove_files)
	const struct CMUnitTest tests[] = {
		TEST(blocked_layout_is_padded_with_the_value),
		TEST(unpacked_layout_has_no_padding),
		TEST(without_a_shape_nothing_is_padding),
		TEST(map_moves_each_element),
		TEST(unpack_undoes_maps),
		TEST(priority_changes_nothing_on_the_cpu),
		TEST(counters_are_of_all_jobs),
		TEST(plan_counts_what_run_does),
		TEST(what_no_buffer_holds_is_not_counted),
		TEST(slice_is_that_of_python),
		TEST(steps_are_done_in_the_order_in_which_they_are_written),
		TEST(windows_become_the_rows_of_a_matrix),
		TEST(from_nhwc_windows_are_of_nhwc),
		TEST(gather_picks_slices),
		TEST(gather_outside_of_the_axis_fails),
		TEST(cast_saturates),
		TEST(computation_takes_its_inputs_in_order),
		TEST(computation_goes_on_with_what_was_computed),
		TEST(truth_values_stay_truth_values),
		TEST(unfused_steps_give_the_same),
		TEST(scalar_and_empty_array_are_written),
		TEST(big_endian_input_is_turned),
		TEST(large_result_is_made_in_slices),
		TEST(large_result_of_one_row_is_made_in_slices),
		TEST(plan_of_a_chain_that_cancels_has_no_job),
		TEST(plan_of_a_reshape_is_one_job_without_a_temporary),
		TEST(plan_shows_windows_programs_and_indices),
		TEST(plan_as_json_has_the_documented_keys),
		TEST(plan_of_more_than_there_is_memory_is_made),
		TEST(bad_steps_are_misuse),
		TEST(bad_plans_are_misuse),
		TEST(maps_to_undo_are_in_a_row),
		TEST(too_many_steps_are_misuse),
	};

	return cmocka_run_group_tests_name("accel run and plan", tests, set_up,
					   remove_folder);
}
