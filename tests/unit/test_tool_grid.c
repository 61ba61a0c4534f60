// SPDX-License-Identifier: MIT
/*
 * accel repartition and accel tile: what they do to a file, report and refuse.
 */
#include "command_test.h"
#include "file_test.h"

static struct accel_error error;
static char in_path[MAX_PATH], out_path[MAX_PATH];

static int set_up(void **state)
{
	if (make_folder(state))
		return -1;
	set_path(in_path, "in.npy");
	set_path(out_path, "out.npy");
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
	unlink(in_path);
	unlink(out_path);
	return 0;
}

#define RUN(command, ...)								\
	run_command_with(&(command), (const char *const[]){ __VA_ARGS__, NULL })

/* A (4,6) array of u1: a .. x */
static void write_input(void)
{
	static const int64_t shape[] = { 4, 6 };

	write_array(in_path, "|u1", 2, shape, "abcdefghijklmnopqrstuvwx", 24);
}

static void expect_output(uint32_t rank, const int64_t *shape, const char *letters)
{
	struct accel_device *device;
	struct accel_tensor *tensor;
	void *data;

	expect_ok(accel_open("cpu", &device, &error));
	expect_ok(accel_tensor_load(device, out_path, &tensor, &error));
	assert_int_equal(accel_tensor_rank(tensor), rank);
	assert_memory_equal(accel_tensor_shape(tensor), shape, rank * sizeof(shape[0]));
	expect_ok(accel_buffer_map(accel_tensor_buffer(tensor), &data, &error));
	assert_memory_equal(data, letters, strlen(letters));
	accel_tensor_unref(tensor);
	accel_device_unref(device);
}

static void expect_printed(const char *text)
{
	if (!strstr(printed, text))
		fail_msg("expected \"%s\" in:\n%s%s", text, printed, complained);
}

#define ROWS	"(i, j) -> (i//2, i%2, j)"
#define COLUMNS	"(i, j) -> (j//2, j%2, i)"

static void repartition_moves_and_counts(void **state)
{
	(void)state;
	write_input();
	assert_int_equal(RUN(repartition_command, "--in", in_path, "--from", ROWS, "--to", COLUMNS,
			     "--out", out_path, "--device", "cpu:pes=3,columns=3", "--verify"), 0);
	expect_output(2, (int64_t[]){ 4, 6 }, "abcdefghijklmnopqrstuvwx");
	expect_printed("in.npy: (4,6) u8\ncpu:pes=3,columns=3: 24 bytes, 16 of them from PE to PE, "
		       "6 jobs in 3 submissions, ");
	expect_printed("; verified\n"
		       "  PE 0 to PE 0: 4 bytes\n"
		       "  PE 0 to PE 1: 4 bytes\n"
		       "  PE 0 to PE 2: 4 bytes\n"
		       "  PE 1 to PE 0: 4 bytes\n"
		       "  PE 1 to PE 1: 4 bytes\n"
		       "  PE 1 to PE 2: 4 bytes\n"
		       "links: 20 bytes, at most 8 over one\n"
		       "  PE 0 east: 8 bytes\n"
		       "  PE 1 east: 8 bytes\n"
		       "  PE 1 west: 4 bytes\n");
	assert_string_equal(complained, "");
}

static void repartition_reports_as_json(void **state)
{
	static const char *const keys[] = {
		"\"from\": \"" ROWS "\"", "\"to\": \"" COLUMNS "\"", "\"out\": null",
		"\"dtype\": \"u8\"", "\"shape\": [4, 6]", "\"jobs\": 6", "\"submissions\": 3",
		"\"bytes\": 24", "\"network_bytes\": 16", "\"link_bytes\": 20",
		"\"max_link_bytes\": 8", "\"pairs\": [", "\"links\": [", "\"direction\": \"east\"",
		"\"total_ns\": ", "\"verified\": false",
	};

	(void)state;
	write_input();
	assert_int_equal(RUN(repartition_command, "--in", in_path, "--from", ROWS, "--to", COLUMNS,
			     "--device", "cpu:pes=3,columns=3", "--json"), 0);
	for (size_t k = 0; k < COUNT(keys); k++)
		expect_printed(keys[k]);
}

static void what_repartition_cannot_do_is_refused(void **state)
{
	(void)state;
	write_input();
	assert_int_equal(RUN(repartition_command, "--in", in_path, "--from", ROWS), 2);
	assert_string_equal(complained, "accel repartition: expected --in, --from and --to\n"
			    "Try 'accel help repartition'.\n");
	assert_int_equal(RUN(repartition_command, "--in", in_path, "--from", ROWS, "--to", COLUMNS,
			     "--device", "cpu:pes=2"), 2);
	assert_string_equal(complained, "accel repartition: --to: partition: there are elements on "
			    "PE 2, expected 0 or more and less than 2\n");
	assert_int_equal(RUN(repartition_command, "--in", in_path, "--from", COLUMNS, "--to", ROWS,
			     "--device", "cpu:pes=2"), 2);
	assert_string_equal(complained, "accel repartition: --from: partition: there are elements "
			    "on PE 2, expected 0 or more and less than 2\n");
	assert_int_equal(RUN(repartition_command, "--in", in_path, "--from", "(i, j) -> (i//",
			     "--to", COLUMNS, "--device", "cpu"), 2);
	assert_non_null(strstr(complained, "  (i, j) -> (i//\n"));
	assert_int_equal(RUN(repartition_command, "--in", in_path, "--from", ROWS, "--to", COLUMNS,
			     "x"), 2);
	assert_string_equal(complained, "accel repartition: argument 'x', expected none\n"
			    "Try 'accel help repartition'.\n");
}

static void tile_changes_the_layout(void **state)
{
	(void)state;
	write_input();
	assert_int_equal(RUN(tile_command, "--in", in_path, "--tile", "3,4", "--order", "1,0",
			     "--subtile", "2,3", "--suborder", "1,0", "--axes", "AB", "--to", "BA",
			     "--out", out_path, "--device", "cpu", "--pe", "1", "--load-queue",
			     "2", "--verify"), 0);
	expect_output(2, (int64_t[]){ 6, 4 }, "agmsbhntciou" "djpvekqwflrx");
	expect_printed("in.npy: (4,6) u8\ncpu: 4 tiles through PE 1, 2 x 12 bytes of its memory, "
		       "9 sub-tiles, 13 jobs; loads ");
	expect_printed("; verified\n");
	assert_string_equal(complained, "");
}

static void tile_writes_padding_too(void **state)
{
	(void)state;
	write_input();
	assert_int_equal(RUN(tile_command, "--in", in_path, "--tile", "4,6", "--axes", "AB",
			     "--to", "AB4b", "--out", out_path, "--device", "cpu"), 0);
	expect_output(3, (int64_t[]){ 4, 2, 4 }, "abcdef");
}

static void tile_reports_as_json(void **state)
{
	static const char *const keys[] = {
		"\"to\": null", "\"out\": null", "\"dtype\": \"u8\"", "\"shape\": [4, 6]",
		"\"device\": \"cpu\"", "\"pe\": 0", "\"tiles\": 4", "\"subtiles\": 4",
		"\"jobs\": 8", "\"tile_bytes\": 12", "\"load_ns\": ", "\"store_ns\": ",
		"\"verified\": true",
	};

	(void)state;
	write_input();
	assert_int_equal(RUN(tile_command, "--in", in_path, "--tile", "3,4", "--device", "cpu",
			     "--verify", "--json"), 0);
	for (size_t k = 0; k < COUNT(keys); k++)
		expect_printed(keys[k]);
}

/*
 * A tensor of 802,816 bytes in tiles that are in one piece in memory. In its order a burst of 64
 * bytes is read once and comes at 0.9 of 100 GB/s, one of 16 on chip at 0.9 of 125 GB/s. In the
 * other every element is in another burst, 16 and 4 times as many, each at the full rate.
 */
static void tile_counts_what_orders_cost(void **state)
{
	static const struct {
		const char *layout, *tile, *order, *suborder, *reads;
	} cases[] = {
		{ "NCHW", "1,16,56,56", "0,1,2,3", "0,1,2,3", "8.9 us of tiles and 7.1 us of "
		  "sub-tiles, 16.1 us together" },
		{ "NCHW", "1,16,56,56", "0,2,3,1", "0,2,3,1", "128.5 us of tiles and 25.7 us of "
		  "sub-tiles, 154.1 us together" },
		{ "NCHW", "1,16,56,56", "0,1,2,3", "0,2,3,1", "8.9 us of tiles and 25.7 us of "
		  "sub-tiles, 34.6 us together" },
		{ "NCHW", "1,16,56,56", "0,2,3,1", "0,1,2,3", "128.5 us of tiles and 7.1 us of "
		  "sub-tiles, 135.6 us together" },
		{ "NHWC", "1,14,56,64", "0,1,2,3", "0,1,2,3", "8.9 us of tiles and 7.1 us of "
		  "sub-tiles, 16.1 us together" },
		{ "NHWC", "1,14,56,64", "0,3,1,2", "0,3,1,2", "128.5 us of tiles and 25.7 us of "
		  "sub-tiles, 154.1 us together" },
	};
	static const int64_t nchw[] = { 1, 64, 56, 56 }, nhwc[] = { 1, 56, 56, 64 };
	static uint8_t data[802816];
	char expected[128];

	(void)state;
	for (size_t k = 0; k < COUNT(cases); k++) {
		bool is_nchw = !strcmp(cases[k].layout, "NCHW");

		write_array(in_path, "<f4", 4, is_nchw ? nchw : nhwc, data, sizeof(data));
		assert_int_equal(RUN(tile_command, "--in", in_path, "--device", "cpu", "--counters",
				     "--tile", cases[k].tile, "--order", cases[k].order,
				     "--suborder", cases[k].suborder), 0);
		snprintf(expected, sizeof(expected), "\nreads: %s\n", cases[k].reads);
		expect_printed(expected);
	}
	expect_printed("\nloads\ncounters: 200704 points, ");
	expect_printed("\nsystem memory: 802816 bytes read in 200704 bursts, 128.5 us; ");
	expect_printed("\nstores\ncounters: 200704 points, ");
	expect_printed("\nsram memory: 802816 bytes read in 200704 bursts, 25.7 us; ");
}

static void tile_writes_counters_as_json(void **state)
{
	static const char *const keys[] = {
		"\"loads\": {\n    \"clock_khz\": 1000000,\n    \"points\": 24,",
		"\"stores\": {\n    \"clock_khz\": 1000000,\n    \"points\": 24,",
	};

	(void)state;
	write_input();
	assert_int_equal(RUN(tile_command, "--in", in_path, "--tile", "3,4", "--device", "cpu",
			     "--counters", "--json"), 0);
	for (size_t k = 0; k < COUNT(keys); k++)
		expect_printed(keys[k]);
	assert_int_equal(RUN(tile_command, "--in", in_path, "--tile", "3,4", "--device", "cpu",
			     "--json"), 0);
	assert_null(strstr(printed, "loads"));
}

static void what_tile_cannot_do_is_refused(void **state)
{
	(void)state;
	write_input();
	assert_int_equal(RUN(tile_command, "--in", in_path), 2);
	assert_string_equal(complained, "accel tile: expected --in and --tile\n"
			    "Try 'accel help tile'.\n");
	assert_int_equal(RUN(tile_command, "--in", in_path, "--tile", "3", "--device", "cpu"), 2);
	assert_string_equal(complained, "accel tile: --tile: 1 number, expected one for each of 2 "
			    "axes\n");
	assert_int_equal(RUN(tile_command, "--in", in_path, "--tile", "3,3", "--order", "",
			     "--device", "cpu"), 2);
	assert_string_equal(complained, "accel tile: --order: 0 numbers, expected one for each of "
			    "2 axes\n");
	assert_int_equal(RUN(tile_command, "--in", in_path, "--tile", "3,0"), 2);
	assert_string_equal(complained, "accel tile: --tile: expected a number in range at column "
			    "3\n  3,0\n    ^\n");
	assert_int_equal(RUN(tile_command, "--in", in_path, "--tile", "3,3", "--pe", ""), 2);
	assert_string_equal(complained, "accel tile: --pe '', expected a number less than 64\n"
			    "Try 'accel help tile'.\n");
	assert_int_equal(RUN(tile_command, "--in", in_path, "--tile"), 2);
	assert_string_equal(complained, "tile: option '--tile' requires an argument\n"
			    "accel tile: bad option\nTry 'accel help tile'.\n");
	assert_int_equal(RUN(tile_command, "--in", in_path, "--tile", "3,3", "x"), 2);
	assert_string_equal(complained, "accel tile: argument 'x', expected none\n"
			    "Try 'accel help tile'.\n");
	assert_int_equal(RUN(tile_command, "--in", in_path, "--tile", "3,3", "--order", "0,0",
			     "--device", "cpu"), 2);
	assert_string_equal(complained, "accel tile: tiling: axis 0 in the order of tiles, "
			    "expected each of 0 to 1 once\n");
	assert_int_equal(RUN(tile_command, "--in", in_path, "--tile", "3,3", "--pe", "64"), 2);
	assert_string_equal(complained, "accel tile: --pe '64', expected a number less than 64\n"
			    "Try 'accel help tile'.\n");
	assert_int_equal(RUN(tile_command, "--in", in_path, "--tile", "3,3", "--pe", "4",
			     "--device", "cpu"), 2);
	assert_string_equal(complained, "accel tile: buffer: in the memory of PE 4, expected less "
			    "than 4 on cpu\n");
	assert_int_equal(RUN(tile_command, "--in", in_path, "--tile", "4,6", "--device",
			     "cpu:sram=0"), 2);
	assert_string_equal(complained, "accel tile: tiling: two tiles of 24 bytes, expected at "
			    "most 0 together, the memory of a PE of cpu:sram=0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(repartition_moves_and_counts, remove_files),
		cmocka_unit_test_teardown(repartition_reports_as_json, remove_files),
		cmocka_unit_test_teardown(what_repartition_cannot_do_is_refused, remove_files),
		cmocka_unit_test_teardown(tile_changes_the_layout, remove_files),
		cmocka_unit_test_teardown(tile_writes_padding_too, remove_files),
		cmocka_unit_test_teardown(tile_reports_as_json, remove_files),
		cmocka_unit_test_teardown(tile_counts_what_orders_cost, remove_files),
		cmocka_unit_test_teardown(tile_writes_counters_as_json, remove_files),
		cmocka_unit_test_teardown(what_tile_cannot_do_is_refused, remove_files),
	};

	return cmocka_run_group_tests(tests, set_up, remove_folder);
}
