// SPDX-License-Identifier: MIT
/*
 * Counting accesses and bursts, against going through all points, on random jobs and on loops and
 * windows made for it.
 *
 * test_engine_count [--seed N] [--count N]: the job of seed N is the first of a run from N on.
 */
#include "engine/count.h"
#include "random_test.h"

static struct random_run run;

static const uint32_t burst_sizes[] = { 16, 32, 64, 128, 256 };

static int64_t value_at(const struct drm_tessera_affine *affine, uint32_t rank,
			const uint64_t *point)
{
	int64_t value = affine->offset;

	for (uint32_t d = 0; d < rank; d++)
		value += affine->strides[d] * (int64_t)point[d];
	return value;
}

static bool is_accessed(const struct engine_count_stream *stream, const uint64_t *point)
{
	const struct engine_job *job = stream->job;
	uint32_t mask = job->operands[0].spec.window_mask |
			job->operands[stream->operand].spec.window_mask;
	int64_t address = value_at(stream->address, job->rank, point);

	for (uint32_t w = 0; w < job->num_windows; w++) {
		int64_t value = value_at(&job->windows[w].value, job->rank, point);

		if ((mask >> w & 1) && (value < 0 || (uint64_t)value >= job->windows[w].limit))
			return false;
	}
	return !stream->within ||
	       (address >= stream->within->lowest && address <= stream->within->highest);
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

/* The definition, point by point. */
static struct engine_count enumerate(const struct engine_count_stream *stream, int64_t burst)
{
	const struct engine_job *job = stream->job;
	uint64_t point[DRM_TESSERA_MAX_RANK] = { 0 };
	struct engine_count expected = { 0 };
	int64_t last = INT64_MIN;

	for (uint32_t d = 0; d < job->rank; d++)
		if (!job->extents[d])
			return expected;
	do {
		int64_t address = value_at(stream->address, job->rank, point);

		if (!is_accessed(stream, point))
			continue;
		expected.accesses++;
		for (int64_t byte = address; byte < address + stream->element_bytes; byte++) {
			int64_t touched = byte / burst - (byte % burst < 0);

			expected.bursts += touched != last;
			last = touched;
		}
	} while (next_point(job, point));
	return expected;
}

static void print_job(const struct engine_count_stream *stream)
{
	const struct engine_job *job = stream->job;

	print_message("operand %u, %u bytes, at %lld", stream->operand, stream->element_bytes,
		      (long long)stream->address->offset);
	for (uint32_t d = 0; d < job->rank; d++)
		print_message(" + %llu * %lld", (unsigned long long)job->extents[d],
			      (long long)stream->address->strides[d]);
	for (uint32_t w = 0; w < job->num_windows; w++) {
		print_message("; window below %llu: %lld",
			      (unsigned long long)job->windows[w].limit,
			      (long long)job->windows[w].value.offset);
		for (uint32_t d = 0; d < job->rank; d++)
			print_message(" + %lld",
				      (long long)job->windows[w].value.strides[d]);
	}
	print_message("\n");
}

static void check_stream(const struct engine_count_stream *stream, uint32_t burst, uint64_t of_seed)
{
	struct engine_count expected = enumerate(stream, burst);
	struct engine_count counted;
	uint32_t steps = 1u << 20;

	if (engine_count(stream, burst, &steps, &counted) &&
	    counted.accesses == expected.accesses && counted.bursts == expected.bursts)
		return;
	print_job(stream);
	fail_msg("seed %" PRIu64 ": %" PRIu64 " accesses in %" PRIu64 " bursts of %u bytes, "
		 "expected %" PRIu64 " in %" PRIu64, of_seed, counted.accesses, counted.bursts,
		 burst, expected.accesses, expected.bursts);
}

static struct engine_count_stream data_of(const struct engine_job *job, uint32_t k)
{
	const struct drm_tessera_operand *spec = &job->operands[k].spec;

	return (struct engine_count_stream){ .job = job, .operand = k, .address = &spec->address,
					     .element_bytes = engine_dtype_size(spec->dtype) };
}

static void check_operand(const struct engine_job *job, uint32_t k, struct random *random,
			  uint64_t of_seed)
{
	const struct drm_tessera_operand *spec = &job->operands[k].spec;
	struct engine_count_stream data = data_of(job, k), index = data;
	uint32_t burst = burst_sizes[random_below(random, COUNT(burst_sizes))];
	int64_t lowest = random_between(random, -100, 5000);
	struct engine_interval within = { lowest, lowest + random_between(random, 0, 5000) };

	check_stream(&data, burst, of_seed);
	data.within = &within;
	check_stream(&data, burst, of_seed);
	if (!(spec->flags & DRM_TESSERA_OPERAND_INDIRECT))
		return;
	index.address = &spec->index_address;
	index.element_bytes = engine_dtype_size(spec->index_dtype);
	check_stream(&index, burst, of_seed);
}

static void random_jobs_count_as_enumerated(void **state)
{
	(void)state;
	for (uint64_t n = 0; n < run.count; n++) {
		struct random_job *job = random_job_create(run.seed + n, NULL);
		void *bases[RANDOM_JOB_MAX_BUFFERS];
		struct engine_job *bound = calloc(1, sizeof(*bound));
		struct random random = { .state = run.seed + n };

		assert_non_null(bound);
		for (uint32_t b = 0; b < job->num_buffers; b++)
			bases[b] = job->buffers[b].initial;
		random_job_bind(job, bases, bound);
		for (uint32_t k = 0; k < bound->num_operands; k++)
			check_operand(bound, k, &random, run.seed + n);
		free(bound);
		random_job_destroy(job);
	}
}

/* Strides that meet bursts in many ways. */
static int64_t random_stride(struct random *random)
{
	static const int64_t strides[] = { 0, 1, 2, 4, 8, 12, 16, 48, 63, 64, 65, 128, 192, 4096 };
	int64_t stride = strides[random_below(random, COUNT(strides))];

	if (random_chance(random, 30))
		stride = random_between(random, 0, 300);
	return random_chance(random, 25) ? -stride : stride;
}

static void add_random_window(struct engine_job *job, struct random *random)
{
	static const int64_t coefficients[] = { 0, 0, 1, 1, -1, 2, -3, 4, 7, 16, -40 };
	struct drm_tessera_window *window;

	window = add_window(job, (uint32_t)random_below(random, 2), random_between(random, -20, 20),
			    random_below(random, 60));
	for (uint32_t d = 0; d < job->rank; d++)
		window->value.strides[d] = coefficients[random_below(random, COUNT(coefficients))];
}

static void random_loops_count_as_enumerated(void **state)
{
	static const uint32_t dtypes[] = { DRM_TESSERA_DTYPE_U8, DRM_TESSERA_DTYPE_F16,
					   DRM_TESSERA_DTYPE_F32, DRM_TESSERA_DTYPE_F64,
					   DRM_TESSERA_DTYPE_RAW128 };

	(void)state;
	for (uint64_t n = 0; n < run.count; n++) {
		struct random random = { .state = run.seed + n };
		struct engine_job *job = new_job(1, dtypes[random_below(&random, COUNT(dtypes))]);
		uint32_t rank = (uint32_t)random_below(&random, 6);

		for (uint32_t d = 0; d < rank; d++)
			add_loop(job, random_chance(&random, 3) ? random_below(&random, 2) :
				 1 + random_below(&random, d ? 6 : 40), random_stride(&random),
				 random_stride(&random));
		for (uint32_t k = 0; k < 2; k++)
			job->operands[k].spec.address.offset = random_between(&random, -300, 300);
		for (uint64_t w = random_below(&random, 4); w > 0; w--)
			add_random_window(job, &random);
		for (uint32_t k = 0; k < 2; k++)
			check_operand(job, k, &random, run.seed + n);
		free(job);
	}
}

static void expect(const struct engine_job *job, uint32_t k, uint32_t burst, uint64_t accesses,
		   uint64_t bursts)
{
	const struct engine_count_stream stream = data_of(job, k);
	struct engine_count counted;
	uint32_t steps = ENGINE_COUNT_STEPS;

	assert_true(engine_count(&stream, burst, &steps, &counted));
	assert_int_equal(counted.accesses, accesses);
	assert_int_equal(counted.bursts, bursts);
}

static void a_row_takes_its_bytes_in_bursts(void **state)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_F32);

	(void)state;
	add_loop(job, 1024, 4, 64);
	expect(job, 0, 64, 1024, 64);
	expect(job, 1, 64, 1024, 1024);
	job->operands[0].spec.address.offset = 60;
	expect(job, 0, 64, 1024, 65);
	job->operands[0].spec.address.offset = 62;
	expect(job, 0, 64, 1024, 65);
	free(job);
}

static void elements_across_two_bursts_take_both(void **state)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_RAW128);

	(void)state;
	add_loop(job, 10, 16, 0);
	job->operands[0].spec.address.offset = 8;
	expect(job, 0, 16, 10, 11);
	/* back and forth between the two, at each point */
	job->operands[1].spec.address.offset = 8;
	expect(job, 1, 16, 10, 20);
	free(job);
}

static void loops_of_2_to_the_60_are_counted(void **state)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

	(void)state;
	add_loop(job, 1ull << 30, 0, 1);
	add_loop(job, 1ull << 30, 1, 1);
	expect(job, 0, 64, 1ull << 60, 1ull << 54);
	/* from the end of one pass to the second byte of the next is far, and passes are shifted */
	expect(job, 1, 64, 1ull << 60, (1ull << 54) + (63ull << 24));
	free(job);
}

static void no_point_is_no_access(void **state)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_F32);

	(void)state;
	add_loop(job, 0, 4, 4);
	add_loop(job, 5, 4, 4);
	expect(job, 0, 64, 0, 0);
	job->extents[0] = 1;
	expect(job, 0, 64, 5, 1);
	add_window(job, 0, 0, 0);
	expect(job, 0, 64, 0, 0);
	free(job);
}

/* i + 1000 * j + k, of which no run is long */
static void windows_that_are_too_involved_are_not_counted(void **state)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);
	struct engine_count_stream stream = data_of(job, 0);
	struct drm_tessera_window *window;
	struct engine_count counted;
	uint32_t steps = 100;

	(void)state;
	add_loop(job, 1000, 1, 1);
	add_loop(job, 2, 1000, 1000);
	add_loop(job, 2, 2000, 2000);
	window = add_window(job, 0, 0, 500);
	window->value.strides[0] = 1;
	window->value.strides[1] = 1000;
	window->value.strides[2] = 1;
	assert_false(engine_count(&stream, 64, &steps, &counted));
	assert_int_equal(counted.accesses, 0);
	assert_int_equal(counted.bursts, 0);
	steps = ENGINE_COUNT_STEPS;
	assert_true(engine_count(&stream, 64, &steps, &counted));
	assert_int_equal(counted.accesses, 999);
	free(job);
}

/* A step of one loop is as far as the whole of the other: the same values inside, in few runs. */
static void a_window_over_two_loops_takes_few_steps(void **state)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);
	struct engine_count_stream stream = data_of(job, 0);
	struct drm_tessera_window *window;
	struct engine_count counted;
	uint32_t steps = 10;

	(void)state;
	add_loop(job, 1000000, 1, 1);
	add_loop(job, 2, 1000000, 1000000);
	window = add_window(job, 0, 0, 1500000);
	window->value.strides[0] = 1;
	window->value.strides[1] = 1000000;
	assert_true(engine_count(&stream, 64, &steps, &counted));
	assert_int_equal(counted.accesses, 1500000);
	/* two steps apart for half a million values, then a row that begins within a burst */
	assert_int_equal(counted.bursts, 1000000 + 7813);
	free(job);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_takes_its_bytes_in_bursts),
		cmocka_unit_test(elements_across_two_bursts_take_both),
		cmocka_unit_test(loops_of_2_to_the_60_are_counted),
		cmocka_unit_test(no_point_is_no_access),
		cmocka_unit_test(windows_that_are_too_involved_are_not_counted),
		cmocka_unit_test(a_window_over_two_loops_takes_few_steps),
		cmocka_unit_test(random_jobs_count_as_enumerated),
		cmocka_unit_test(random_loops_count_as_enumerated),
	};

	run = parse_options(argc, argv, 5000);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
