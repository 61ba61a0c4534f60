// SPDX-License-Identifier: MIT
/*
 * The parts of accel bench: cases and what they count, jobs made of them, the check of what came
 * out, and whose turn it is. The command is in test_tool_bench.c.
 */
#include <math.h>
#include <sched.h>

#include "accel_test.h"
#include "bench.h"

static struct accel_error error;
static struct accel_device *device;

static int open_device(void **state)
{
	(void)state;
	return accel_open("cpu", &device, NULL);
}

static int close_device(void **state)
{
	(void)state;
	accel_device_unref(device);
	return 0;
}

/* A small case of each kind -------------------------------------------------------------------- */

static const struct bench_case transposition = {
	.letter = "t", .source_dtype = ACCEL_DTYPE_U16, .destination_dtype = ACCEL_DTYPE_U16,
	.source_elements = 15,
	.loops = { { 5, 1 }, { 3, 5 } },
};

/* More of either axis than is compared at a time. */
static const struct bench_case tiles = {
	.letter = "T", .source_dtype = ACCEL_DTYPE_U8, .destination_dtype = ACCEL_DTYPE_U8,
	.source_elements = 70 * 19,
	.loops = { { 70, 1 }, { 19, 70 } },
};

/* Each row of 4, with a border of 1 on either side. */
static const struct bench_case border = {
	.letter = "w", .source_dtype = ACCEL_DTYPE_U8, .destination_dtype = ACCEL_DTYPE_U8,
	.source_elements = 12, .source_offset = -1,
	.loops = { { 3, 4 }, { 6, 1 } },
	.windows = { { .bias = -1, .coefficients = { 0, 1 }, .limit = 4 } },
};

/* Each row of 4, with a border of 2 behind it, where the source has the next row. */
static const struct bench_case border_behind = {
	.letter = "b", .source_dtype = ACCEL_DTYPE_U8, .destination_dtype = ACCEL_DTYPE_U8,
	.source_elements = 12,
	.loops = { { 3, 4 }, { 6, 1 } },
	.windows = { { .coefficients = { 0, 1 }, .limit = 4 } },
};

static const struct bench_case rows = {
	.letter = "r", .source_dtype = ACCEL_DTYPE_F64, .destination_dtype = ACCEL_DTYPE_F64,
	.source_elements = 80, .num_rows = 40,
	.loops = { { 40, 2 }, { 2, 1 } },
};

/* x + the parameter of its row */
static const float increments[BENCH_NUM_CHANNELS] = { 1, 2, 3 };

static const struct accel_instruction addition_instructions[] = {
	{ .opcode = ACCEL_OP_ADD, .dtype = ACCEL_DTYPE_F32, .dst = 0, .src = { 0, 1 } },
};

static void expect_increased(const void *source, uint32_t channel, void *destination)
{
	float value;

	memcpy(&value, source, sizeof(value));
	value += increments[channel];
	memcpy(destination, &value, sizeof(value));
}

static const struct bench_program addition = {
	.num_instructions = 1,
	.instructions = addition_instructions,
	.num_parameters = 1,
	.parameter_loop = 0,
	.parameters = { increments },
	.expect = expect_increased,
	.tolerance = 0.5,
};

static const struct bench_case increased = {
	.letter = "p", .source_dtype = ACCEL_DTYPE_F32, .destination_dtype = ACCEL_DTYPE_F32,
	.source_elements = 12,
	.loops = { { 3, 4 }, { 4, 1 } },
	.program = &addition,
};

static const struct bench_case *const small_cases[] = {
	&transposition, &tiles, &border, &border_behind, &rows, &increased,
};

static void set_up(const struct bench_case *bench, struct bench_setup *setup)
{
	expect_ok(bench_setup_create(device, bench, setup, &error));
	expect_ok(bench_setup_run(setup, &error));
	expect_ok(bench_verify(setup, "cpu", false, &error));
}

static void results_of_jobs_are_right(void **state)
{
	struct bench_setup setup;

	(void)state;
	for (size_t k = 0; k < COUNT(small_cases); k++) {
		set_up(small_cases[k], &setup);
		bench_setup_release(&setup);
	}
}

static void each_spoilt_element_is_found(void **state)
{
	struct bench_setup setup;

	(void)state;
	for (size_t k = 0; k < COUNT(small_cases); k++) {
		const struct bench_case *bench = small_cases[k];
		size_t size = accel_dtype_size(bench->destination_dtype);
		unsigned char *data;

		set_up(bench, &setup);
		data = setup.destination.data;
		for (size_t i = 0; i < bench_case_points(bench); i++) {
			data[i * size + size - 1] ^= 1;
			assert_int_equal(bench_verify(&setup, "cpu", false, &error), -EIO);
			data[i * size + size - 1] ^= 1;
		}
		bench_setup_release(&setup);
	}
}

static void wrong_element_is_named(void **state)
{
	struct bench_setup setup;
	uint8_t *data;

	(void)state;
	set_up(&border, &setup);
	data = setup.destination.data;
	data[6] = 0x2a;
	expect_failure(bench_verify(&setup, "Eigen", false, &error), -EIO,
		       "case w: Eigen has stored 0x2a at (1,0), expected 0x00");
	bench_setup_release(&setup);
}

static void border_that_was_read_from_the_source_is_found(void **state)
{
	struct bench_setup setup;
	uint8_t *source, *data;

	(void)state;
	set_up(&border_behind, &setup);
	source = setup.source.data;
	data = setup.destination.data;
	/* the first element of the second row, where it is to be and behind the first one */
	source[4] = 0x2a;
	data[6] = 0x2a;
	expect_ok(bench_verify(&setup, "cpu", false, &error));
	data[4] = 0x2a;
	assert_int_equal(bench_verify(&setup, "cpu", false, &error), -EIO);
	bench_setup_release(&setup);
}

static void memory_that_was_not_written_is_found(void **state)
{
	struct bench_setup setup;

	(void)state;
	set_up(&border, &setup);
	bench_setup_spoil(&setup);
	assert_int_equal(bench_verify(&setup, "cpu", false, &error), -EIO);
	bench_setup_release(&setup);
}

static void peers_are_granted_the_tolerance_of_a_program(void **state)
{
	struct bench_setup setup;
	float *data;

	(void)state;
	set_up(&increased, &setup);
	data = setup.destination.data;
	data[3] += 0.25f;
	expect_ok(bench_verify(&setup, "NumPy", true, &error));
	assert_int_equal(bench_verify(&setup, "cpu", false, &error), -EIO);
	data[3] += 1;
	assert_int_equal(bench_verify(&setup, "NumPy", true, &error), -EIO);
	data[3] = NAN;
	assert_int_equal(bench_verify(&setup, "NumPy", true, &error), -EIO);
	bench_setup_release(&setup);
}

static void moves_have_no_tolerance(void **state)
{
	struct bench_setup setup;
	unsigned char *data;

	(void)state;
	set_up(&transposition, &setup);
	data = setup.destination.data;
	data[0] ^= 1;
	assert_int_equal(bench_verify(&setup, "NumPy", true, &error), -EIO);
	bench_setup_release(&setup);
}

/* Cases ---------------------------------------------------------------------------------------- */

static void letters_and_names_are_unique(void **state)
{
	const struct bench_case *one, *other;

	(void)state;
	for (size_t i = 0; (one = bench_case(i)); i++) {
		for (size_t k = 0; k < i; k++) {
			other = bench_case(k);
			assert_string_not_equal(one->letter, other->letter);
			assert_string_not_equal(one->name, other->name);
		}
	}
}

static void case_is_known_by_letter_name_and_group(void **state)
{
	(void)state;
	assert_true(bench_is_named("g1", "transpose-u8", "g1"));
	assert_true(bench_is_named("g1", "transpose-u8", "transpose-u8"));
	assert_true(bench_is_named("g1", "transpose-u8", "g"));
	assert_false(bench_is_named("g1", "transpose-u8", "g2"));
	assert_false(bench_is_named("g1", "transpose-u8", "transpose"));
	assert_false(bench_is_named("g1", "transpose-u8", ""));
}

static void bytes_are_those_read_and_written(void **state)
{
	(void)state;
	assert_int_equal(bench_case_bytes(&transposition), 2 * 15 + 2 * 15);
	/* 12 elements are read, 18 are written */
	assert_int_equal(bench_case_bytes(&border), 12 + 18);
	/* and indices of 8 bytes */
	assert_int_equal(bench_case_bytes(&rows), 8 * 80 + 8 * 80 + 8 * 40);
}

static void bytes_of_a_case_by_writes_are_those_written(void **state)
{
	struct bench_case bench = border;

	(void)state;
	bench.is_by_writes = true;
	assert_int_equal(bench_case_bytes(&bench), 18);
}

static void rows_are_inside_of_the_source_and_out_of_order(void **state)
{
	uint64_t neighbours = 0;

	(void)state;
	for (uint64_t k = 0; k < 40; k++) {
		int64_t row = bench_case_row(&rows, k);

		assert_in_range(row, 0, 39);
		neighbours += row + 1 == bench_case_row(&rows, k + 1);
	}
	assert_in_range(neighbours, 0, 10);
}

static void quantization_rounds_to_even_and_saturates(void **state)
{
	/* units of 1/32 from a zero point of 128 */
	static const struct {
		float value;
		uint8_t expected;
	} examples[] = {
		{ 0, 128 }, { 1.5f / 32, 130 }, { 2.5f / 32, 130 }, { 4, 255 }, { 1000, 255 },
		{ -4, 0 }, { -1000, 0 },
	};
	const struct bench_case *bench = bench_case(0);
	uint8_t result;

	(void)state;
	for (size_t k = 0; strcmp(bench->name, "quantize-u8"); k++)
		bench = bench_case(k);
	for (size_t i = 0; i < COUNT(examples); i++) {
		bench->program->expect(&examples[i].value, 0, &result);
		assert_int_equal(result, examples[i].expected);
	}
}

/* Memory --------------------------------------------------------------------------------------- */

static void memory_in_any_order_is_there(void **state)
{
	static const enum bench_pages orders[] = {
		BENCH_PAGES_ANY, BENCH_PAGES_IN_ORDER, BENCH_PAGES_SCATTERED,
	};

	(void)state;
	for (size_t k = 0; k < COUNT(orders); k++) {
		struct bench_memory memory = { 0 };

		/* not in whole pages */
		expect_ok(bench_memory_create(device, 100001, orders[k], &memory, &error));
		assert_in_range(accel_buffer_size(memory.buffer), 100001, 100001 + 65536);
		memset(memory.data, 0xff, 100001);
		accel_buffer_unref(memory.buffer);
	}
}

static void memory_that_is_not_to_be_had_is_an_error(void **state)
{
	struct bench_memory memory = { 0 };

	(void)state;
	assert_int_equal(bench_memory_create(device, (uint64_t)1 << 62, BENCH_PAGES_SCATTERED,
					     &memory, &error), -ENOMEM);
	assert_non_null(strstr(error.message, "memfd of 4611686018427387904 bytes: "));
	accel_buffer_unref(memory.buffer);
}

/* Measurement ---------------------------------------------------------------------------------- */

static void median_is_in_the_middle(void **state)
{
	static const double odd[] = { 5, 1, 9 }, even[] = { 4, 8, 1, 2 };
	struct bench_statistics statistics = bench_statistics(odd, 3);

	(void)state;
	assert_true(statistics.median == 5 && statistics.minimum == 1 && statistics.maximum == 9);
	statistics = bench_statistics(even, 4);
	assert_true(statistics.median == 3 && statistics.minimum == 1 && statistics.maximum == 8);
}

/* Contestants that write down when and how often they run, and claim to have taken some time. */
struct scribe {
	char letter;
	uint64_t nanoseconds;
	int ret;
	bool touches_memory;
	uint32_t least_repetitions;
};

static char record[64];

static int write_down(void *context, uint32_t repetitions, uint64_t *nanoseconds,
		      struct accel_error *failure)
{
	const struct scribe *scribe = context;
	char word[16];

	/* once is written without a number */
	snprintf(word, sizeof(word), "%c%.0u", scribe->letter, repetitions > 1 ? repetitions : 0);
	strncat(record, word, sizeof(record) - strlen(record) - 1);
	*nanoseconds = repetitions * scribe->nanoseconds;
	if (scribe->ret)
		failure->code = scribe->ret;
	return scribe->ret;
}

static struct bench_contestant contestant_of(const struct scribe *scribe)
{
	return (struct bench_contestant){
		.run = write_down,
		.context = (void *)scribe,
		.least_repetitions = scribe->least_repetitions,
		.touches_memory = scribe->touches_memory,
	};
}

static int measure_two(const struct scribe *first, const struct scribe *second,
		       struct bench_contestant *slots)
{
	struct bench_contestant *contestants[] = { &slots[0], &slots[1] };

	slots[0] = contestant_of(first);
	slots[1] = contestant_of(second);
	record[0] = '\0';
	return bench_measure(contestants, 2, 3, &error);
}

static void contestants_take_turns(void **state)
{
	static const struct scribe copy = { 'c', 5000000, 0, true, 0 };
	static const struct scribe job = { 'j', 7000000, 0, true, 0 };
	static struct bench_contestant slots[2];

	(void)state;
	expect_ok(measure_two(&copy, &job, slots));
	/* each twice to find out how long it takes, then three rounds */
	assert_string_equal(record, "ccjjcjcjcj");
	assert_true(slots[0].samples[2] == 5000000 && slots[1].samples[2] == 7000000);
}

/* By a run that does not count, but of those that see to it themselves. */
static void memory_is_touched_before_a_turn(void **state)
{
	static const struct scribe copy = { 'c', 5000000, 0, false, 0 };
	static const struct scribe job = { 'j', 7000000, 0, true, 0 };
	static struct bench_contestant slots[2];

	(void)state;
	expect_ok(measure_two(&copy, &job, slots));
	assert_string_equal(record, "ccjjccjccjccj");
}

static void short_turns_are_repeated_and_warmed_up(void **state)
{
	static const struct scribe copy = { 'c', 3000000, 0, true, 0 };
	static const struct scribe job = { 'j', 1000000, 0, true, 0 };
	static struct bench_contestant slots[2];

	(void)state;
	expect_ok(measure_two(&copy, &job, slots));
	assert_string_equal(record, "ccjjc2c2j5j5c2c2j5j5c2c2j5j5");
	assert_true(slots[0].samples[0] == 3000000 && slots[1].samples[0] == 1000000);
}

/* In the turn that counts, so that a stream of them has a middle. */
static void turns_have_their_least_repetitions(void **state)
{
	static const struct scribe copy = { 'c', 5000000, 0, true, 0 };
	static const struct scribe job = { 'j', 3000000, 0, false, 8 };
	static struct bench_contestant slots[2];

	(void)state;
	expect_ok(measure_two(&copy, &job, slots));
	assert_string_equal(record, "ccjjcj2j8cj2j8cj2j8");
	assert_true(slots[1].samples[0] == 3000000);
}

/* Neither repeated nor run once more to find out that they are long. */
static void long_turns_are_not_repeated(void **state)
{
	static const struct scribe copy = { 'c', 3000000, 0, true, 0 };
	static const struct scribe peer = { 'p', 50000000, 0, true, 0 };
	static struct bench_contestant slots[2];

	(void)state;
	expect_ok(measure_two(&copy, &peer, slots));
	assert_string_equal(record, "ccpc2c2pc2c2pc2c2p");
}

static void failure_ends_a_measurement(void **state)
{
	static const struct scribe copy = { 'c', 5000000, 0, true, 0 };
	static const struct scribe job = { 'j', 7000000, -EIO, true, 0 };
	static struct bench_contestant slots[2];

	(void)state;
	assert_int_equal(measure_two(&copy, &job, slots), -EIO);
	assert_string_equal(record, "ccj");
	assert_int_equal(measure_two(&job, &copy, slots), -EIO);
	assert_string_equal(record, "j");
}

/* Whatever the number of threads, and sizes that they do not divide. */
static void memcpy_copies_everything(void **state)
{
	struct bench_setup setup;
	struct bench_copiers *copiers;
	uint64_t taken;

	(void)state;
	expect_ok(bench_setup_create(device, bench_case(0), &setup, &error));
	setup.copy_bytes -= 123;
	for (uint32_t num_threads = 1; num_threads <= 5; num_threads++) {
		unsigned char *data = setup.destination.data;

		bench_setup_spoil(&setup);
		expect_ok(bench_copiers_create(num_threads, &copiers, &error));
		bench_copiers_aim(copiers, &setup);
		expect_ok(bench_run_copy(copiers, 3, &taken, &error));
		bench_copiers_destroy(copiers);
		assert_memory_equal(data, setup.source.data, setup.copy_bytes);
		assert_int_equal(data[setup.copy_bytes], 0xa5);
	}
	bench_setup_release(&setup);
}

static void process_is_pinned_to_as_many_cpus(void **state)
{
	cpu_set_t before, now;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	expect_ok(bench_pin(1, &error));
	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	assert_int_equal(CPU_COUNT(&now), 1);
	expect_failure(bench_pin(2, &error), -EINVAL, "--threads 2, expected at most 1: this "
		       "process may run on no more CPUs");
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_of_jobs_are_right),
		cmocka_unit_test(each_spoilt_element_is_found),
		cmocka_unit_test(wrong_element_is_named),
		cmocka_unit_test(border_that_was_read_from_the_source_is_found),
		cmocka_unit_test(memory_that_was_not_written_is_found),
		cmocka_unit_test(peers_are_granted_the_tolerance_of_a_program),
		cmocka_unit_test(moves_have_no_tolerance),
		cmocka_unit_test(letters_and_names_are_unique),
		cmocka_unit_test(case_is_known_by_letter_name_and_group),
		cmocka_unit_test(bytes_are_those_read_and_written),
		cmocka_unit_test(bytes_of_a_case_by_writes_are_those_written),
		cmocka_unit_test(rows_are_inside_of_the_source_and_out_of_order),
		cmocka_unit_test(quantization_rounds_to_even_and_saturates),
		cmocka_unit_test(memory_in_any_order_is_there),
		cmocka_unit_test(memory_that_is_not_to_be_had_is_an_error),
		cmocka_unit_test(median_is_in_the_middle),
		cmocka_unit_test(contestants_take_turns),
		cmocka_unit_test(memory_is_touched_before_a_turn),
		cmocka_unit_test(short_turns_are_repeated_and_warmed_up),
		cmocka_unit_test(turns_have_their_least_repetitions),
		cmocka_unit_test(long_turns_are_not_repeated),
		cmocka_unit_test(failure_ends_a_measurement),
		cmocka_unit_test(memcpy_copies_everything),
		cmocka_unit_test(process_is_pinned_to_as_many_cpus),
	};

	return cmocka_run_group_tests_name("bench", tests, open_device, close_device);
}
