// SPDX-License-Identifier: MIT
/*
 * The model of memories against its specification in Documentation/device.rst: random jobs with
 * random parameters, buffers in system memory and over several units on chip, simulated point by
 * point; and numbers at their limits, by hand.
 *
 * test_engine_model [--seed N] [--count N]: the job of seed N is the first of a run from N on.
 */
#include "engine/model.h"
#include "random_test.h"

#define SYSTEM		DRM_TESSERA_MEMORY_SYSTEM
#define SRAM		DRM_TESSERA_MEMORY_SRAM

static struct random_run run;

/* A job with its model and places, and what is made of it. */
struct setting {
	struct engine_model model;
	struct engine_job *job;
	struct engine_placed_job placed;
	uint32_t num_traffics;
};

struct outcome {
	struct drm_tessera_job_counters counters;
	struct engine_traffic traffic[ENGINE_MAX_TRAFFICS];
};

/* The simulation --------------------------------------------------------------------------- */

static int64_t value_at(const struct drm_tessera_affine *affine, uint32_t rank,
			const uint64_t *point)
{
	int64_t value = affine->offset;

	for (uint32_t d = 0; d < rank; d++)
		value += affine->strides[d] * (int64_t)point[d];
	return value;
}

/* Whether the windows of the destination hold, and those of the operand. */
static bool is_accessed(const struct engine_job *job, uint32_t k, const uint64_t *point)
{
	uint32_t mask = job->operands[0].spec.window_mask | job->operands[k].spec.window_mask;

	for (uint32_t w = 0; w < job->num_windows; w++) {
		int64_t value = value_at(&job->windows[w].value, job->rank, point);

		if ((mask >> w & 1) && (value < 0 || (uint64_t)value >= job->windows[w].limit))
			return false;
	}
	return true;
}

/* Returns false after the last point. */
static bool next_point(const struct engine_job *job, uint64_t *point)
{
	for (uint32_t d = job->rank; d-- > 0; ) {
		if (++point[d] < job->extents[d])
			return true;
		point[d] = 0;
	}
	return false;
}

/* What a stream of accesses does to the system's memory, or to a unit. */
struct stream {
	uint64_t accesses;
	uint64_t bursts;
	int64_t last;		/* burst that was touched; INT64_MIN: none */
};

static void touch(struct stream *stream, int64_t address, uint32_t element_bytes, uint32_t burst)
{
	stream->accesses++;
	for (int64_t byte = address; byte < address + element_bytes; byte++) {
		if (byte / burst == stream->last)
			continue;
		stream->bursts++;
		stream->last = byte / burst;
	}
}

/* Which memory of all an address of a buffer is in. */
static uint32_t traffic_at(const struct setting *setting, const struct engine_place *place,
			   int64_t address)
{
	if (place->memory == SYSTEM)
		return 0;
	return (uint32_t)(1 + (place->start + (uint64_t)address) / setting->placed.unit_bytes);
}

/* Rounded up. */
static uint64_t quotient(unsigned __int128 dividend, unsigned __int128 divisor)
{
	return (uint64_t)(dividend / divisor + (dividend % divisor != 0));
}

/* What a stream costs. Bandwidth is in bytes a microsecond, the clock in cycles a millisecond. */
static void charge(const struct setting *setting, uint32_t traffic, bool is_write,
		   const struct stream *stream, uint32_t element_bytes, struct outcome *outcome)
{
	enum drm_tessera_memory number = traffic ? SRAM : SYSTEM;
	const struct engine_memory_model *memory = &setting->model.memories[number];
	struct drm_tessera_memory_counters *counters = &outcome->counters.memory[number];
	const unsigned __int128 clock = setting->model.clock_khz;
	uint64_t bytes = stream->accesses * element_bytes;
	uint64_t touched_bytes = stream->bursts * memory->burst;
	uint64_t used = quotient(bytes * clock * 100,
				 (unsigned __int128)memory->bandwidth * 1000 *
				 setting->model.efficiency);
	uint64_t touched = quotient(touched_bytes * clock,
				    (unsigned __int128)memory->bandwidth * 1000);
	uint64_t cycles = used > touched ? used : touched;

	if (!stream->accesses)
		return;
	cycles += quotient(memory->latency * clock, 1000000);
	outcome->traffic[traffic].cycles += cycles;
	outcome->counters.energy_pj += touched_bytes * memory->energy;
	if (is_write) {
		counters->bytes_written += bytes;
		counters->bursts_written += stream->bursts;
		counters->cycles_written += cycles;
		outcome->traffic[traffic].bursts_written += stream->bursts;
	} else {
		counters->bytes_read += bytes;
		counters->bursts_read += stream->bursts;
		counters->cycles_read += cycles;
		outcome->traffic[traffic].bursts_read += stream->bursts;
	}
}

/*
 * Goes through all points of an operand: its data, or its indices. Data that only indices lead to
 * is a burst for each point, where its buffer begins.
 */
static uint64_t simulate_stream(const struct setting *setting, uint32_t k, bool of_indices,
				struct outcome *outcome)
{
	const struct engine_job *job = setting->job;
	const struct drm_tessera_operand *spec = &job->operands[k].spec;
	const struct engine_place *place = of_indices ? &setting->placed.indices[k] :
							&setting->placed.operands[k];
	const struct drm_tessera_affine *affine = of_indices ? &spec->index_address :
							       &spec->address;
	bool is_led_to = !of_indices && spec->flags & DRM_TESSERA_OPERAND_INDIRECT;
	uint32_t element_bytes = engine_dtype_size(of_indices ? spec->index_dtype : spec->dtype);
	uint32_t burst = setting->model.memories[place->memory].burst;
	uint64_t point[DRM_TESSERA_MAX_RANK] = { 0 }, accesses = 0;
	struct stream streams[ENGINE_MAX_TRAFFICS];

	for (uint32_t n = 0; n < ENGINE_MAX_TRAFFICS; n++)
		streams[n] = (struct stream){ .last = INT64_MIN };
	do {
		int64_t address = is_led_to ? 0 : value_at(affine, job->rank, point);

		if (!is_accessed(job, k, point))
			continue;
		accesses++;
		touch(&streams[traffic_at(setting, place, address)], address,
		      is_led_to ? 1 : element_bytes, burst);
	} while (next_point(job, point));
	for (uint32_t n = 0; n < setting->num_traffics; n++) {
		if (is_led_to)
			streams[n].bursts = streams[n].accesses;
		charge(setting, n, !k && !of_indices, &streams[n], element_bytes, outcome);
	}
	return accesses;
}

static void simulate(const struct setting *setting, struct outcome *outcome)
{
	const struct engine_job *job = setting->job;
	uint64_t points = 1;

	memset(outcome, 0, sizeof(*outcome));
	for (uint32_t d = 0; d < job->rank; d++)
		points *= job->extents[d];
	outcome->counters.points = points;
	for (uint32_t k = 0; points && k < job->num_operands; k++) {
		if (job->operands[k].spec.flags & DRM_TESSERA_OPERAND_INDIRECT)
			simulate_stream(setting, k, true, outcome);
		outcome->counters.windows_failed +=
			points - simulate_stream(setting, k, false, outcome);
	}
	for (uint32_t n = 0; n < setting->num_traffics; n++) {
		if (outcome->traffic[n].cycles > outcome->counters.cycles)
			outcome->counters.cycles = outcome->traffic[n].cycles;
	}
}

/* The model -------------------------------------------------------------------------------- */

static void model(const struct setting *setting, uint32_t *steps, struct outcome *outcome)
{
	memset(outcome, 0, sizeof(*outcome));
	/* whatever is there is not kept */
	memset(&outcome->counters, 0xaa, sizeof(outcome->counters));
	engine_model_job(&setting->model, &setting->placed, steps, &outcome->counters,
			 outcome->traffic, setting->num_traffics);
}

#define EXPECT_SAME(found, expected, member, of_seed) do {				\
	if ((found)->member != (expected)->member)					\
		fail_msg("seed %" PRIu64 ": " #member " is %" PRIu64 ", expected %" PRIu64,	\
			 (uint64_t)(of_seed), (uint64_t)(found)->member,		\
			 (uint64_t)(expected)->member);					\
} while (0)

static void expect_same_memory(const struct drm_tessera_memory_counters *found,
			       const struct drm_tessera_memory_counters *expected, uint64_t of_seed)
{
	EXPECT_SAME(found, expected, bytes_read, of_seed);
	EXPECT_SAME(found, expected, bytes_written, of_seed);
	EXPECT_SAME(found, expected, bursts_read, of_seed);
	EXPECT_SAME(found, expected, bursts_written, of_seed);
	EXPECT_SAME(found, expected, cycles_read, of_seed);
	EXPECT_SAME(found, expected, cycles_written, of_seed);
}

static void expect_as_simulated(const struct setting *setting, uint64_t of_seed)
{
	struct outcome found, expected;
	uint32_t steps = 1u << 20;

	model(setting, &steps, &found);
	simulate(setting, &expected);
	EXPECT_SAME(&found.counters, &expected.counters, points, of_seed);
	EXPECT_SAME(&found.counters, &expected.counters, windows_failed, of_seed);
	EXPECT_SAME(&found.counters, &expected.counters, cycles, of_seed);
	EXPECT_SAME(&found.counters, &expected.counters, energy_pj, of_seed);
	for (uint32_t m = 0; m < DRM_TESSERA_NUM_MEMORIES; m++)
		expect_same_memory(&found.counters.memory[m], &expected.counters.memory[m],
				   of_seed);
	for (uint32_t n = 0; n < ENGINE_MAX_TRAFFICS; n++) {
		EXPECT_SAME(&found.traffic[n], &expected.traffic[n], bursts_read, of_seed);
		EXPECT_SAME(&found.traffic[n], &expected.traffic[n], bursts_written, of_seed);
		EXPECT_SAME(&found.traffic[n], &expected.traffic[n], cycles, of_seed);
	}
	/* and the network, which is not here, and what is reserved are 0 */
	assert_memory_equal(&found, &expected, sizeof(found));
}

/* Random jobs ------------------------------------------------------------------------------ */

static uint32_t random_scale(struct random *random, uint32_t most)
{
	return 1 + (uint32_t)random_below(random, 1 + random_below(random, most));
}

static struct engine_model random_model(struct random *random)
{
	struct engine_model model = {
		.clock_khz = 1000 * random_scale(random, 10000),
		.efficiency = random_scale(random, 100),
	};

	for (uint32_t m = 0; m < DRM_TESSERA_NUM_MEMORIES; m++)
		model.memories[m] = (struct engine_memory_model){
			.bandwidth = random_scale(random, 100000000),
			.latency = random_chance(random, 50) ? random_scale(random, 1000000) : 0,
			.burst = ENGINE_MIN_BURST << random_below(random, 5),
			.energy = (uint32_t)random_below(random, 1000001),
		};
	return model;
}

/* Somewhere in system memory, or over the last units as well as the first. */
static struct engine_place random_place(struct random *random, uint64_t size, uint64_t unit_bytes,
					uint32_t num_units)
{
	uint64_t left = unit_bytes * num_units - size;

	if (random_chance(random, 30))
		return (struct engine_place){ SYSTEM, 0 };
	return (struct engine_place){ SRAM, random_chance(random, 20) ? left :
					    random_below(random, left + 1) };
}

static void place(struct setting *setting, struct random *random)
{
	const struct engine_job *job = setting->job;
	uint32_t num_units = 1 + (uint32_t)random_below(random, ENGINE_MAX_UNITS);
	uint64_t largest = 1;

	for (uint32_t k = 0; k < job->num_operands; k++) {
		if (job->operands[k].buffer.size > largest)
			largest = job->operands[k].buffer.size;
		if (job->operands[k].index_buffer.size > largest)
			largest = job->operands[k].index_buffer.size;
	}
	setting->num_traffics = 1 + num_units;
	setting->placed.job = job;
	setting->placed.unit_bytes = (largest + num_units - 1) / num_units +
				     random_below(random, largest);
	for (uint32_t k = 0; k < job->num_operands; k++) {
		setting->placed.operands[k] = random_place(random, job->operands[k].buffer.size,
							   setting->placed.unit_bytes, num_units);
		setting->placed.indices[k] = random_place(random,
							  job->operands[k].index_buffer.size,
							  setting->placed.unit_bytes, num_units);
	}
}

static void random_jobs_cost_what_is_simulated(void **state)
{
	(void)state;
	for (uint64_t n = 0; n < run.count; n++) {
		struct random_job *job = random_job_create(run.seed + n, NULL);
		struct random random = { .state = run.seed + n };
		void *bases[RANDOM_JOB_MAX_BUFFERS];
		struct engine_job bound;
		struct setting setting = { .job = &bound };

		for (uint32_t b = 0; b < job->num_buffers; b++)
			bases[b] = job->buffers[b].initial;
		random_job_bind(job, bases, &bound);
		setting.model = random_model(&random);
		place(&setting, &random);
		expect_as_simulated(&setting, run.seed + n);
		random_job_destroy(job);
	}
}

/* By hand ---------------------------------------------------------------------------------- */

/* Bytes in a row from one buffer to another, both in system memory. */
static struct setting row_setting(uint64_t bytes)
{
	struct setting setting = {
		.model = engine_model_default,
		.job = new_job(1, DRM_TESSERA_DTYPE_U8),
		.placed.unit_bytes = 1024,
		.num_traffics = ENGINE_MAX_TRAFFICS,
	};

	add_loop(setting.job, bytes, 1, 1);
	for (uint32_t k = 0; k < 2; k++)
		set_buffer(setting.job, k, NULL, bytes);
	setting.placed.job = setting.job;
	return setting;
}

static struct outcome outcome_of(const struct setting *setting)
{
	uint32_t steps = ENGINE_COUNT_STEPS;
	struct outcome outcome;

	model(setting, &steps, &outcome);
	return outcome;
}

/* Of 64 units each is read for its 1024 bytes; the last of them is written as well. */
static void a_buffer_over_64_units_is_shared_among_them(void **state)
{
	struct setting setting = row_setting(65536);
	struct outcome outcome;

	(void)state;
	setting.placed.operands[1] = (struct engine_place){ SRAM, 0 };
	outcome = outcome_of(&setting);
	assert_int_equal(outcome.counters.memory[SRAM].bytes_read, 65536);
	assert_int_equal(outcome.counters.memory[SRAM].bursts_read, 4096);
	for (uint32_t n = 1; n < ENGINE_MAX_TRAFFICS; n++) {
		assert_int_equal(outcome.traffic[n].bursts_read, 64);
		assert_int_equal(outcome.traffic[n].bursts_written, 0);
		/* 1024 bytes at 112.5 bytes a cycle */
		assert_int_equal(outcome.traffic[n].cycles, 10);
	}
	assert_int_equal(outcome.counters.memory[SRAM].cycles_read, 640);
	/* 65536 bytes at 90 */
	assert_int_equal(outcome.traffic[0].cycles, 729);
	assert_int_equal(outcome.counters.cycles, 729);
	expect_as_simulated(&setting, 0);
	free(setting.job);
}

static void with_one_unit_all_is_in_it(void **state)
{
	struct setting setting = row_setting(65536);
	struct outcome outcome;

	(void)state;
	setting.placed.unit_bytes = 131072;
	setting.placed.operands[0] = (struct engine_place){ SRAM, 65536 };
	setting.placed.operands[1] = (struct engine_place){ SRAM, 0 };
	setting.num_traffics = 2;
	outcome = outcome_of(&setting);
	assert_int_equal(outcome.traffic[0].cycles, 0);
	/* one memory, and so one after the other */
	assert_int_equal(outcome.traffic[1].cycles, 2 * 583);
	assert_int_equal(outcome.counters.cycles, 2 * 583);
	expect_as_simulated(&setting, 0);
	free(setting.job);
}

/* Units beyond those that there are have no traffic, and count nothing. */
static void what_is_in_no_unit_is_not_counted(void **state)
{
	struct setting setting = row_setting(4096);
	struct outcome outcome;

	(void)state;
	setting.placed.operands[1] = (struct engine_place){ SRAM, 0 };
	setting.num_traffics = 3;
	outcome = outcome_of(&setting);
	assert_int_equal(outcome.counters.memory[SRAM].bytes_read, 2048);
	assert_int_equal(outcome.counters.windows_failed, 0);
	assert_int_equal(outcome.traffic[3].bursts_read, 0);
	free(setting.job);
}

static void loops_without_points_cost_nothing(void **state)
{
	struct setting setting = row_setting(0);
	const struct outcome zero = { 0 };
	struct outcome outcome;

	(void)state;
	setting.model.memories[SYSTEM].latency = 1000;
	setting.placed.operands[1] = (struct engine_place){ SRAM, 0 };
	outcome = outcome_of(&setting);
	assert_memory_equal(&outcome, &zero, sizeof(zero));
	free(setting.job);
}

/* No access is no latency either. */
static void windows_that_never_hold_cost_nothing(void **state)
{
	struct setting setting = row_setting(4096);
	struct outcome outcome;

	(void)state;
	setting.model.memories[SYSTEM].latency = 1000;
	add_window(setting.job, 0, 0, 0);
	outcome = outcome_of(&setting);
	assert_int_equal(outcome.counters.points, 4096);
	assert_int_equal(outcome.counters.windows_failed, 2 * 4096);
	assert_int_equal(outcome.counters.cycles, 0);
	assert_int_equal(outcome.counters.energy_pj, 0);
	free(setting.job);
}

/*
 * 2^62 points, of which none happens to three operands: 3 * 2^62, and with a fourth and a fifth
 * 5 * 2^62 mod 2^64.
 */
static void points_that_fail_are_counted_mod_2_to_the_64(void **state)
{
	struct engine_job *job = new_job(4, DRM_TESSERA_DTYPE_U8);
	struct setting setting = { .model = engine_model_default, .job = job, .placed.job = job,
				   .num_traffics = 1 };
	struct outcome outcome;

	(void)state;
	add_loop(job, 1ull << 62, 0, 0);
	add_window(job, 0, 0, 0);
	outcome = outcome_of(&setting);
	assert_int_equal(outcome.counters.points, 1ull << 62);
	assert_int_equal(outcome.counters.windows_failed, 1ull << 62);
	job->num_operands = 3;
	outcome = outcome_of(&setting);
	assert_int_equal(outcome.counters.windows_failed, 3ull << 62);
	free(job);
}

/* 2^60 bytes, far apart and near: products are wider than 64 bits, sums wrap. */
static void many_bytes_do_not_overflow_on_the_way(void **state)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);
	struct setting setting = {
		.model = engine_model_default, .job = job, .placed.job = job, .num_traffics = 1,
	};
	struct outcome outcome;

	(void)state;
	setting.model.clock_khz = 10000000;
	setting.model.memories[SYSTEM].energy = 1000000;
	add_loop(job, 1ull << 60, 1, 0);
	outcome = outcome_of(&setting);
	assert_int_equal(outcome.counters.memory[SYSTEM].bytes_written, 1ull << 60);
	assert_int_equal(outcome.counters.memory[SYSTEM].bursts_written, 1ull << 54);
	/* at 9 bytes in a cycle of 0.1 ns; a byte that is read again and again is one burst */
	assert_int_equal(outcome.counters.memory[SYSTEM].cycles_written, (1ull << 60) / 9 + 1);
	assert_int_equal(outcome.counters.memory[SYSTEM].bursts_read, 1);
	assert_int_equal(outcome.counters.cycles, 2 * ((1ull << 60) / 9 + 1));
	/* 2^54 bursts and one of 64 bytes, 10^6 each, of which the lower 64 bits are kept */
	assert_int_equal(outcome.counters.energy_pj,
			 (uint64_t)(((unsigned __int128)(1ull << 54) + 1) * 64 * 1000000));
	free(job);
}

/* i + 1000 * j + k, of which no run is long */
static void what_takes_too_many_steps_has_points_alone(void **state)
{
	struct setting setting = row_setting(1000);
	struct drm_tessera_window *window;
	struct outcome outcome, expected = { .counters = { .points = 4000, .uncounted = 1 } };
	uint32_t steps = 100;

	(void)state;
	add_loop(setting.job, 2, 0, 1000);
	add_loop(setting.job, 2, 0, 2000);
	window = add_window(setting.job, 1, 0, 500);
	window->value.strides[0] = 1;
	window->value.strides[1] = 1000;
	window->value.strides[2] = 1;
	model(&setting, &steps, &outcome);
	assert_memory_equal(&outcome, &expected, sizeof(expected));
	steps = 2 * ENGINE_COUNT_STEPS;
	model(&setting, &steps, &outcome);
	assert_int_equal(outcome.counters.uncounted, 0);
	assert_in_range(steps, 1, 2 * ENGINE_COUNT_STEPS - 1);
	free(setting.job);
}

static void times_are_rounded_up(void **state)
{
	struct engine_model model = { .clock_khz = 1500000 };

	(void)state;
	assert_int_equal(engine_model_cycles(&model, 0, 1000), 0);
	assert_int_equal(engine_model_cycles(&model, 1, 1000), 2);
	assert_int_equal(engine_model_cycles(&model, 2, 1000), 3);
	assert_int_equal(engine_model_cycles(&model, UINT64_MAX, 1500000), UINT64_MAX / 1000 + 1);
	assert_int_equal(engine_model_latency(&model, 0), 0);
	assert_int_equal(engine_model_latency(&model, 1), 2);
	assert_int_equal(engine_model_latency(&model, 2), 3);
	assert_int_equal(engine_model_latency(&model, UINT32_MAX), 6442450943);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_buffer_over_64_units_is_shared_among_them),
		cmocka_unit_test(with_one_unit_all_is_in_it),
		cmocka_unit_test(what_is_in_no_unit_is_not_counted),
		cmocka_unit_test(loops_without_points_cost_nothing),
		cmocka_unit_test(windows_that_never_hold_cost_nothing),
		cmocka_unit_test(points_that_fail_are_counted_mod_2_to_the_64),
		cmocka_unit_test(many_bytes_do_not_overflow_on_the_way),
		cmocka_unit_test(what_takes_too_many_steps_has_points_alone),
		cmocka_unit_test(times_are_rounded_up),
		cmocka_unit_test(random_jobs_cost_what_is_simulated),
	};

	run = parse_options(argc, argv, 2000);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
