// SPDX-License-Identifier: MIT
/*
 * accel bench: arguments, exit status, text, JSON, and peers. How long anything takes is not looked
 * at. Peers are scripts that the tests write.
 */
#include <sched.h>
#include <sys/stat.h>

#define COMMAND bench_command
#include "command_test.h"
#include "file_test.h"

/* The smallest case, once. */
#define RUN_SMALL(...)	RUN("--case", "a", "--repeat", "1", ##__VA_ARGS__)

static int set_up(void **state)
{
	return make_folder(state) ? -1 : setenv("ACCEL_BENCH_PEERS", folder, 1);
}

static int remove_peers(void **state)
{
	static const char *const names[] = { "peer_onednn", "peer_eigen", "peer_numpy" };
	char path[MAX_PATH];

	(void)state;
	for (size_t k = 0; k < COUNT(names); k++) {
		set_path(path, names[k]);
		unlink(path);
	}
	return 0;
}

/* Writes what stands in for oneDNN. */
static void write_peer(const char *text)
{
	char path[MAX_PATH];

	set_path(path, "peer_onednn");
	write_file(path, text, strlen(text));
	assert_int_equal(chmod(path, 0700), 0);
}

/* Has Python read what was printed, and look at it as d. */
static void expect_json(const char *condition)
{
	FILE *python;
	char command[512];

	snprintf(command, sizeof(command), "/usr/bin/python3 -c 'import json, sys\n"
		 "d = json.load(sys.stdin)\nc = (d[\"cases\"] or [{}])[0]\n"
		 "s = d[\"small_jobs\"]\np = (c.get(\"peers\") or [{}])[0]\n"
		 "sys.exit(not (%s))'", condition);
	python = popen(command, "w");
	assert_non_null(python);
	fputs(printed, python);
	if (pclose(python))
		fail_msg("expected %s in:\n%s", condition, printed);
}

static void expect_complaint(const char *text)
{
	if (!strstr(complained, text))
		fail_msg("expected %s in:\n%s", text, complained);
}

/* Arguments ------------------------------------------------------------------------------------ */

static void unknown_case_is_misuse(void **state)
{
	(void)state;
	assert_int_equal(RUN("--case", "z"), 2);
	assert_string_equal(complained, "accel bench: --case z, expected a letter or a name out of "
			    "the list of cases\nTry 'accel help bench'.\n");
	assert_string_equal(printed, "");
}

static void too_many_cases_are_misuse(void **state)
{
	const char *arguments[2 * 64 + 3];
	char *argv[2 * 64 + 4] = { "bench" };
	int count = 0;

	(void)state;
	for (int k = 0; k < 65; k++) {
		arguments[count++] = "--case";
		arguments[count++] = "a";
	}
	for (int k = 0; k < count; k++)
		argv[k + 1] = (char *)arguments[k];
	assert_int_equal(bench_command.run(count + 1, argv), 2);
}

static void counts_out_of_range_are_misuse(void **state)
{
	static const char *const options[] = { "--threads", "--repeat" };
	static const char *const values[] = { "0", "-1", "x", "", "1,2", "1002", "1e3" };

	(void)state;
	for (size_t o = 0; o < COUNT(options); o++) {
		for (size_t v = 0; v < COUNT(values); v++) {
			assert_int_equal(RUN("--case", "a", options[o], values[v]), 2);
			expect_complaint(options[o]);
			assert_string_equal(printed, "");
		}
	}
}

static void arguments_that_are_no_options_are_misuse(void **state)
{
	(void)state;
	assert_int_equal(RUN("a"), 2);
	expect_complaint("argument 'a', expected options alone");
	assert_int_equal(RUN("--frobnicate"), 2);
	expect_complaint("bad option");
	assert_int_equal(RUN("--case"), 2);
	expect_complaint("bad option");
}

static void unknown_device_is_misuse(void **state)
{
	(void)state;
	assert_int_equal(RUN_SMALL("--device", "/nonexistent/accel0"), 2);
	expect_complaint("/nonexistent/accel0");
	assert_string_equal(printed, "");
}

static void more_threads_than_cpus_are_misuse(void **state)
{
	cpu_set_t before, one;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	for (int cpu = 0; !CPU_COUNT(&one); cpu++) {
		if (CPU_ISSET(cpu, &before))
			CPU_SET(cpu, &one);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(RUN_SMALL("--threads", "2"), 2);
	expect_complaint("--threads 2, expected at most 1");
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

/* Results -------------------------------------------------------------------------------------- */

static void text_has_a_line_for_the_case(void **state)
{
	(void)state;
	assert_int_equal(RUN_SMALL(), 0);
	assert_memory_equal(printed, "cpu, 1 thread, 1 round;", 23);
	assert_non_null(strstr(printed, "\na    NCHW -> NHWC f32 (1,64,56,56), in cache  "));
	assert_non_null(strstr(printed, "  0.60 "));
	assert_non_null(strstr(printed, " additions a cycle  transpose"));
	assert_string_equal(complained, "");
}

static void json_has_the_documented_keys(void **state)
{
	(void)state;
	assert_int_equal(RUN_SMALL("--json"), 0);
	expect_json("set(d) == set(\"version device threads rounds cases small_jobs\".split())");
	expect_json("set(c) == set((\"case name what bytes threads memcpy_gbps memcpy_gbps_min \""
		    "\"memcpy_gbps_max gbps gbps_min gbps_max ratio floor is_floor_met \""
		    "\"additions_per_cycle kernel peers\").split())");
	expect_json("d[\"device\"] == \"cpu\" and d[\"threads\"] == 1 and d[\"rounds\"] == 1");
	expect_json("c[\"name\"] == \"nchw-nhwc-f32-small\" and c[\"bytes\"] == 2 * 802816");
	expect_json("c[\"kernel\"].startswith(\"transpose\")");
	expect_json("c[\"gbps\"] > 0 and c[\"memcpy_gbps\"] > 0 and c[\"peers\"] == []");
	expect_json("0 < c[\"additions_per_cycle\"]");
}

/* Each element that is read is in another burst of 64 bytes; 0.9 of 100 GB/s, in cycles of 1 ns */
static void model_is_told(void **state)
{
	(void)state;
	assert_int_equal(RUN_SMALL("--model", "--json"), 0);
	expect_json("c[\"counters\"][\"points\"] == 200704 and "
		    "c[\"counters\"][\"system\"] == {\"bytes_read\": 802816, "
		    "\"bytes_written\": 802816, \"bursts_read\": 200704, "
		    "\"bursts_written\": 12544, \"cycles_read\": 128451, "
		    "\"cycles_written\": 8921}");
	assert_int_equal(RUN_SMALL("--model"), 0);
	assert_non_null(strstr(printed, "802816 bytes read in 200704 bursts, 128.5 us"));
	assert_int_equal(RUN_SMALL("--json"), 0);
	expect_json("\"counters\" not in c");
}

static void small_jobs_have_rows_of_their_own(void **state)
{
	(void)state;
	assert_int_equal(RUN("--case", "p", "--case", "rate-16", "--repeat", "1", "--json"), 0);
	expect_json("d[\"cases\"] == [] and len(d[\"small_jobs\"]) == 2");
	expect_json("set(s[0]) == set(\"case name what median_ns p99_ns\".split())");
	expect_json("0 < s[0][\"median_ns\"] <= s[0][\"p99_ns\"]");
	expect_json("set(s[1]) == set((\"case name what jobs_per_submission \""
		    "\"jobs_per_s jobs_per_s_min jobs_per_s_max\").split())");
	assert_int_equal(RUN("--case", "p", "--case", "q1", "--repeat", "1"), 0);
	assert_non_null(strstr(printed, "\np    copy of 4 KiB, from submission to completion  "));
	assert_non_null(strstr(printed, "\nq1   copies of 4 KiB, 1 a submission  "));
}

static void names_add_up(void **state)
{
	(void)state;
	assert_int_equal(RUN_SMALL("--json", "--case", "hwc-chw-u8", "--case", "a"), 0);
	expect_json("[one[\"case\"] for one in d[\"cases\"]] == [\"a\", \"e\"]");
}

static void floors_are_for_one_thread(void **state)
{
	cpu_set_t cpus;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	if (CPU_COUNT(&cpus) < 2)
		skip();
	assert_int_equal(RUN_SMALL("--json", "--threads", "2"), 0);
	expect_json("c[\"threads\"] == 2 and \"floor\" not in c");
}

static void affinity_is_as_it_was(void **state)
{
	cpu_set_t before, after;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	assert_int_equal(RUN_SMALL(), 0);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
}

/* Peers ---------------------------------------------------------------------------------------- */

/* Python that does case a, from channels to pixels, and claims to have taken a millisecond. */
#define DO_CASE_A						\
	"#!/usr/bin/python3\n"					\
	"import mmap, sys\n"					\
	"source = memoryview(mmap.mmap(3, 0)).cast('I')\n"	\
	"destination = memoryview(mmap.mmap(4, 0)).cast('I')\n"	\
	"print('ready', sys.argv[2], '1.0', flush=True)\n"	\
	"for line in sys.stdin:\n"				\
	"    for c in range(64):\n"				\
	"        destination[c:64 * 3136:64] = source[c * 3136:(c + 1) * 3136]\n"

static void peers_that_are_not_built_are_left_out(void **state)
{
	(void)state;
	assert_int_equal(RUN_SMALL("--json", "--peers"), 0);
	expect_complaint("accel bench: without oneDNN: ");
	expect_complaint("accel bench: without Eigen: ");
	expect_complaint("accel bench: without NumPy: ");
	expect_complaint("/peer_numpy: No such file or directory\n");
	expect_json("c[\"peers\"] == []");
}

static void peer_is_measured(void **state)
{
	(void)state;
	write_peer(DO_CASE_A "    print(1000000 * int(line), flush=True)\n");
	assert_int_equal(RUN_SMALL("--json", "--peers"), 0);
	expect_json("len(c[\"peers\"]) == 1");
	expect_json("set(p) == set(\"name threads gbps gbps_min gbps_max ratio\".split())");
	expect_json("p[\"name\"] == \"oneDNN\" and p[\"threads\"] == 1");
	expect_json("abs(p[\"gbps\"] - 1.605632) < 1e-6");
	assert_int_equal(RUN_SMALL("--peers"), 0);
	assert_non_null(strstr(printed, "oneDNN 0."));
}

static void peer_that_cannot_is_left_out_in_silence(void **state)
{
	(void)state;
	write_peer("#!/bin/sh\necho cannot do this case\n");
	assert_int_equal(RUN_SMALL("--json", "--peers"), 0);
	assert_null(strstr(complained, "oneDNN"));
	expect_json("c[\"peers\"] == []");
}

static void peer_that_is_wrong_is_left_out(void **state)
{
	(void)state;
	write_peer(DO_CASE_A
		   "    destination[0] ^= 1\n"
		   "    print(1000000, flush=True)\n");
	assert_int_equal(RUN_SMALL("--json", "--peers"), 0);
	expect_complaint("accel bench: case a without oneDNN: case a: oneDNN has stored 0x");
	expect_json("c[\"peers\"] == []");
}

static void peer_that_ends_at_once_is_left_out(void **state)
{
	(void)state;
	write_peer("#!/bin/sh\nexit 1\n");
	assert_int_equal(RUN_SMALL("--json", "--peers"), 0);
	expect_complaint("peer oneDNN has ended before it was told to\n");
}

static void peer_that_ends_when_it_is_to_work_is_left_out(void **state)
{
	(void)state;
	write_peer("#!/bin/sh\necho ready 1 1.0\nread line\n");
	assert_int_equal(RUN_SMALL("--json", "--peers"), 0);
	expect_complaint("peer oneDNN has ended before it was told to\n");
}

static void peer_that_ends_in_the_middle_is_a_failure(void **state)
{
	(void)state;
	write_peer(DO_CASE_A
		   "    print(1000000, flush=True)\n"
		   "    sys.exit()\n");
	assert_int_equal(RUN_SMALL("--json", "--peers"), 1);
	expect_complaint("accel bench: peer oneDNN has ended before it was told to\n");
	expect_json("d[\"cases\"] == []");
}

static void peer_that_talks_nonsense_is_left_out(void **state)
{
	(void)state;
	write_peer("#!/bin/sh\necho hello\n");
	assert_int_equal(RUN_SMALL("--json", "--peers"), 0);
	expect_complaint("peer oneDNN says 'hello', expected 'ready' or 'cannot'\n");
	write_peer("#!/bin/sh\necho ready 1 1.0\nread line\necho 12 o clock\n");
	assert_int_equal(RUN_SMALL("--json", "--peers"), 0);
	expect_complaint("peer oneDNN says '12 o clock', expected nanoseconds\n");
}

static void peer_that_does_not_stop_talking_is_left_out(void **state)
{
	(void)state;
	write_peer("#!/bin/sh\nprintf '%300d\\n' 1\n");
	assert_int_equal(RUN_SMALL("--json", "--peers"), 0);
	expect_complaint("peer oneDNN says more than a line of 128 characters\n");
}

static void peer_that_is_no_program_is_left_out(void **state)
{
	(void)state;
	write_peer("neither fish nor fowl");
	assert_int_equal(RUN_SMALL("--json", "--peers"), 0);
	expect_complaint("/peer_onednn: Exec format error\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_case_is_misuse),
		cmocka_unit_test(too_many_cases_are_misuse),
		cmocka_unit_test(counts_out_of_range_are_misuse),
		cmocka_unit_test(arguments_that_are_no_options_are_misuse),
		cmocka_unit_test(unknown_device_is_misuse),
		cmocka_unit_test(more_threads_than_cpus_are_misuse),
		cmocka_unit_test(text_has_a_line_for_the_case),
		cmocka_unit_test(json_has_the_documented_keys),
		cmocka_unit_test(model_is_told),
		cmocka_unit_test(small_jobs_have_rows_of_their_own),
		cmocka_unit_test(names_add_up),
		cmocka_unit_test(floors_are_for_one_thread),
		cmocka_unit_test(affinity_is_as_it_was),
		cmocka_unit_test(peers_that_are_not_built_are_left_out),
		cmocka_unit_test_teardown(peer_is_measured, remove_peers),
		cmocka_unit_test_teardown(peer_that_cannot_is_left_out_in_silence, remove_peers),
		cmocka_unit_test_teardown(peer_that_is_wrong_is_left_out, remove_peers),
		cmocka_unit_test_teardown(peer_that_ends_at_once_is_left_out, remove_peers),
		cmocka_unit_test_teardown(peer_that_ends_when_it_is_to_work_is_left_out,
					  remove_peers),
		cmocka_unit_test_teardown(peer_that_ends_in_the_middle_is_a_failure, remove_peers),
		cmocka_unit_test_teardown(peer_that_talks_nonsense_is_left_out, remove_peers),
		cmocka_unit_test_teardown(peer_that_does_not_stop_talking_is_left_out,
					  remove_peers),
		cmocka_unit_test_teardown(peer_that_is_no_program_is_left_out, remove_peers),
	};

	return cmocka_run_group_tests_name("tool_bench", tests, set_up, remove_folder);
}
