// SPDX-License-Identifier: MIT
/*
 * Programs whose sources lie in another order than the destination, as if they were large: what is
 * computed by rows of the source and transposed afterwards, what is not, and that either is right.
 */
#include "large_test.h"

static struct random_run run;

#define NUM_BYTES	(6 << 20)

/* What jobs work on; sources lie one after the other, and nothing after the last one. */
static uint8_t *dst, *expected, *src;
static struct guarded guarded;

static int set_up(void **state)
{
	(void)state;
	dst = aligned_alloc(64, NUM_BYTES);
	expected = aligned_alloc(64, NUM_BYTES);
	if (!dst || !expected)
		return 1;
	memset(dst, 0, NUM_BYTES);
	guarded = guarded_copy(dst, NUM_BYTES, true);
	src = guarded.bytes;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(dst);
	free(expected);
	munmap(guarded.mapping, guarded.mapped);
	return 0;
}

/*
 * A transpose of planes of columns x rows, which the source has in rows; each source has the same
 * strides, in elements of its own type. The program is for the test to add.
 */
static struct engine_job *transpose_job(uint32_t num_sources, uint32_t from, uint32_t to,
					uint64_t planes, uint64_t rows, uint64_t columns)
{
	const int64_t size = engine_dtype_size(from), to_size = engine_dtype_size(to);
	const int64_t row = (int64_t)columns * size, run_bytes = (int64_t)rows * to_size;
	const uint64_t part = NUM_BYTES / 4;
	struct engine_job *job = new_job(num_sources, from);

	job->operands[0].spec.dtype = to;
	add_loop(job, planes, (int64_t)columns * run_bytes, (int64_t)rows * row);
	add_loop(job, columns, run_bytes, size);
	add_loop(job, rows, to_size, row);
	set_buffer(job, 0, dst, NUM_BYTES);
	for (uint32_t k = 1; k <= num_sources; k++)
		set_buffer(job, k, src + (k - 1) * part, k == num_sources ?
			   NUM_BYTES - (k - 1) * part : part);
	return job;
}

/* Adds an instruction on three registers. */
static struct drm_tessera_instruction *compute(struct engine_job *job, uint8_t opcode,
					       uint32_t dtype, uint8_t to, uint8_t a, uint8_t b)
{
	struct drm_tessera_instruction *instruction = add_instruction(job, opcode, dtype);

	instruction->dst = to;
	instruction->src[0] = a;
	instruction->src[1] = b;
	return instruction;
}

/* relu(x), cast to the type of the destination */
static void add_relu_and_cast(struct engine_job *job)
{
	compute(job, DRM_TESSERA_OP_CONST, DRM_TESSERA_DTYPE_F32, 1, 0, 0);
	compute(job, DRM_TESSERA_OP_MAX, DRM_TESSERA_DTYPE_F32, 0, 0, 1);
	if (job->operands[0].spec.dtype != DRM_TESSERA_DTYPE_F32)
		compute(job, DRM_TESSERA_OP_CAST, job->operands[0].spec.dtype, 0, 0, 0);
}

/*
 * Runs the job, against the reference; other bytes must stay. Returns whether results are
 * transposed.
 */
static bool check(struct engine_job *job)
{
	struct engine_plan *plan = create_large_plan(job);
	struct engine_fault fault = { 0 };
	struct random random = { run.seed };
	char text[160];

	for (size_t i = 0; i < NUM_BYTES; i += 4) {
		float value = (float)random_between(&random, -40000, 40000) / 64;

		memcpy(src + i, &value, 4);
		memset(dst + i, (uint8_t)i, 4);
		memset(expected + i, (uint8_t)i, 4);
	}
	engine_plan_describe(plan, text, sizeof(text));
	assert_int_equal(engine_plan_run(plan, NULL, &fault), 0);
	engine_plan_destroy(plan);
	job->operands[0].buffer.base = expected + ((uint8_t *)job->operands[0].buffer.base - dst);
	assert_int_equal(reference_run(job, NULL), 0);
	free(job);
	if (memcmp(dst, expected, NUM_BYTES))
		fail_msg("wrong; replay with --seed %" PRIu64 " --count 1", run.seed);
	return strstr(text, "program, then transpose of ");
}

static void results_are_transposed_in_their_own_size(void **state)
{
	static const uint32_t types[] = {
		DRM_TESSERA_DTYPE_I8, DRM_TESSERA_DTYPE_F16, DRM_TESSERA_DTYPE_F32,
		DRM_TESSERA_DTYPE_F64,
	};

	(void)state;
	for (size_t i = 0; i < COUNT(types); i++) {
		struct engine_job *job = transpose_job(1, DRM_TESSERA_DTYPE_F32, types[i], 2, 128,
						       1024);

		add_relu_and_cast(job);
		assert_true(check(job));
	}
}

/* Nothing is read beyond the source, which ends where its memory does. */
static void odd_sides_and_bases_are_transposed(void **state)
{
	static const uint64_t sides[][2] = {
		{ 67, 2051 }, { 301, 517 }, { 9, 20011 }, { 65, 3000 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(sides); i++) {
		const uint64_t bytes = sides[i][0] * sides[i][1] * sizeof(float);
		struct engine_job *job = transpose_job(1, DRM_TESSERA_DTYPE_F32,
						       DRM_TESSERA_DTYPE_F16, 1, sides[i][0],
						       sides[i][1]);

		set_buffer(job, 0, dst + 2 * i + 2, NUM_BYTES - 2 * i - 2);
		set_buffer(job, 1, src + NUM_BYTES - bytes, bytes);
		add_relu_and_cast(job);
		assert_true(check(job));
	}
}

static void a_second_source_in_the_same_order_is_read_in_rows(void **state)
{
	struct engine_job *job = transpose_job(2, DRM_TESSERA_DTYPE_F32, DRM_TESSERA_DTYPE_F32, 2,
					       100, 700);

	(void)state;
	compute(job, DRM_TESSERA_OP_SUB, DRM_TESSERA_DTYPE_F32, 0, 0, 1);
	assert_true(check(job));
}

static void a_source_that_stands_still_in_rows_is_filled_in(void **state)
{
	struct engine_job *job = transpose_job(3, DRM_TESSERA_DTYPE_F32, DRM_TESSERA_DTYPE_F16, 2,
					       100, 1000);

	(void)state;
	/* one value a row; one for all */
	for (uint32_t d = 0; d < 3; d++) {
		job->operands[2].spec.address.strides[d] = d == 2 ? 4 : 0;
		job->operands[3].spec.address.strides[d] = 0;
	}
	compute(job, DRM_TESSERA_OP_MUL, DRM_TESSERA_DTYPE_F32, 0, 0, 1);
	compute(job, DRM_TESSERA_OP_SUB, DRM_TESSERA_DTYPE_F32, 0, 0, 2);
	compute(job, DRM_TESSERA_OP_CAST, DRM_TESSERA_DTYPE_F16, 0, 0, 0);
	assert_true(check(job));
}

static void a_source_before_the_one_that_is_crossed_may_stand_still(void **state)
{
	struct engine_job *job = transpose_job(2, DRM_TESSERA_DTYPE_F32, DRM_TESSERA_DTYPE_F32, 1,
					       128, 1500);

	(void)state;
	for (uint32_t d = 0; d < 3; d++)
		job->operands[1].spec.address.strides[d] = 0;
	compute(job, DRM_TESSERA_OP_SUB, DRM_TESSERA_DTYPE_F32, 0, 0, 1);
	assert_true(check(job));
}

static void sources_that_disagree_on_the_order_go_by_panels(void **state)
{
	struct engine_job *job = transpose_job(2, DRM_TESSERA_DTYPE_F32, DRM_TESSERA_DTYPE_F32, 1,
					       300, 700);

	(void)state;
	job->operands[2].spec.address = job->operands[0].spec.address;
	compute(job, DRM_TESSERA_OP_SUB, DRM_TESSERA_DTYPE_F32, 0, 0, 1);
	assert_false(check(job));
}

static void a_program_that_leaves_a_source_as_it_is_goes_by_panels(void **state)
{
	struct engine_job *job = transpose_job(1, DRM_TESSERA_DTYPE_F32, DRM_TESSERA_DTYPE_F32, 1,
					       300, 700);

	(void)state;
	compute(job, DRM_TESSERA_OP_NEG, DRM_TESSERA_DTYPE_F32, 1, 0, 0);
	assert_false(check(job));
}

static void rows_too_short_to_be_computed_go_by_panels(void **state)
{
	struct engine_job *job = transpose_job(1, DRM_TESSERA_DTYPE_F32, DRM_TESSERA_DTYPE_F16, 1,
					       3000, 50);

	(void)state;
	/* what follows a row in the source is no row */
	job->operands[1].spec.address.strides[2] += 64;
	add_relu_and_cast(job);
	assert_false(check(job));
}

static void a_few_rows_are_interleaved(void **state)
{
	struct engine_job *job = transpose_job(1, DRM_TESSERA_DTYPE_F32, DRM_TESSERA_DTYPE_F16, 1,
					       3, 70001);

	(void)state;
	add_relu_and_cast(job);
	assert_false(check(job));
}

static void check_crossed(struct engine_job *job)
{
	check_large(job, "program, then transpose", "nothing");
}

static void a_source_that_is_the_same_for_all_rows_is_read_in_each(void **state)
{
	struct engine_job *job = planes_job(3, &(struct planes){ 2, 100, 333, 1 });

	(void)state;
	for (uint32_t d = 0; d < 3; d += 2)
		job->operands[2].spec.address.strides[d] = 0;
	subtract(job, 1);
	subtract(job, 2);
	check_crossed(job);
}

static void a_source_that_takes_long_steps_in_rows_goes_by_panels(void **state)
{
	struct engine_job *job = planes_job(2, &(struct planes){ 2, 100, 333, 1 });

	(void)state;
	for (uint32_t d = 0; d < 3; d += 2)
		job->operands[2].spec.address.strides[d] = 0;
	job->operands[2].spec.address.strides[1] *= 2;
	subtract(job, 1);
	check_large(job, "program, ", "then transpose");
}

/* Parts of one source are the fill, which stands still in rows, while the other one goes on. */
static void windows_cut_the_first_source_or_the_second(void **state)
{
	const float fill = 0.75f;

	(void)state;
	for (uint32_t k = 1; k <= 2; k++) {
		struct engine_job *job = planes_job(2, &(struct planes){ 1, 270, 400, 1 });

		memcpy(job->operands[k].spec.fill, &fill, sizeof(fill));
		add_window(job, k, 0, 131)->value.strides[1] = 1;
		add_window(job, k, -210, 400)->value.strides[2] = 1;
		subtract(job, 1);
		check_crossed(job);
	}
}

/*
 * The channels before these few are the fill, and so are those after them. These are too few to be
 * computed by rows.
 */
static void a_source_is_the_fill_again_after_a_window(void **state)
{
	struct engine_job *job = planes_job(2, &(struct planes){ 1, 270, 400, 1 });

	(void)state;
	job->operands[2].spec.fill[0] = 0x41000000;
	add_window(job, 2, -131, 5)->value.strides[1] = 1;
	subtract(job, 1);
	check_crossed(job);
}

/* What is side by side in the source is a whole loop and a part of the next. */
static void rows_run_on_into_the_next_loop(void **state)
{
	const uint64_t inner = 65, middle = 15, outer = 145;
	struct engine_job *job = planes_job(1, &(struct planes){ inner, middle, outer, 0 });

	(void)state;
	job->operands[0].spec.dtype = DRM_TESSERA_DTYPE_F16;
	set_in_order(job, 0);
	job->operands[1].spec.address.strides[0] = 4;
	job->operands[1].spec.address.strides[1] = 4 * (int64_t)inner;
	job->operands[1].spec.address.strides[2] = 4 * (int64_t)(inner * middle);
	add_relu_and_cast(job);
	check_crossed(job);
}

/* Results are packed, and the destination's short rows go on into each other. */
static void few_rows_are_packed_and_go_on_into_each_other(void **state)
{
	(void)state;
	for (uint64_t points = 9; points < 16; points++) {
		struct engine_job *job = planes_job(1, &(struct planes){ 3, 1360, points, 2 });

		add_instruction(job, DRM_TESSERA_OP_ABS, F32);
		check_crossed(job);
	}
}

/* Such a value changes with the plane, with the point, and with both. */
static void values_that_stand_still_in_rows_change_between_them(void **state)
{
	struct engine_job *job = planes_job(4, &(struct planes){ 3, 91, 301, 3 });

	(void)state;
	for (uint32_t k = 2; k <= 4; k++)
		job->operands[k].spec.address.strides[1] = 0;
	job->operands[2].spec.address.strides[2] = 0;
	job->operands[3].spec.address.strides[0] = 0;
	subtract(job, 1);
	subtract(job, 2);
	subtract(job, 3);
	check_crossed(job);
}

/* Types, sides, gaps and what other sources do, all by chance. */
static void random_crossed_programs_are_as_the_reference_says(void **state)
{
	static const uint32_t types[] = {
		DRM_TESSERA_DTYPE_U8, DRM_TESSERA_DTYPE_BF16, DRM_TESSERA_DTYPE_F16,
		DRM_TESSERA_DTYPE_F32,
	};
	uint64_t num_transposed = 0;

	(void)state;
	for (uint64_t n = 0; n < run.count; n++, run.seed++) {
		struct random random = { run.seed };
		uint64_t rows = 9 + random_below(&random, 250);
		uint64_t columns = 100 + random_below(&random, 300000 / rows);
		uint32_t num_sources = 1 + (uint32_t)random_below(&random, 2);
		uint32_t to = types[random_below(&random, COUNT(types))];
		struct engine_job *job = transpose_job(num_sources, DRM_TESSERA_DTYPE_F32, to, 1,
						       rows, columns);
		struct drm_tessera_affine *other = &job->operands[num_sources].spec.address;

		job->operands[0].spec.address.strides[1] +=
			(int64_t)(random_below(&random, 3) * engine_dtype_size(to));
		if (num_sources == 2 && random_chance(&random, 60))
			other->strides[1 + random_below(&random, 2)] = 0;
		if (num_sources == 2)
			compute(job, DRM_TESSERA_OP_SUB, DRM_TESSERA_DTYPE_F32, 0, 1, 0);
		add_relu_and_cast(job);
		num_transposed += check(job);
	}
	assert_true(run.count < 10 || num_transposed > run.count / 4);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_are_transposed_in_their_own_size),
		cmocka_unit_test(odd_sides_and_bases_are_transposed),
		cmocka_unit_test(a_second_source_in_the_same_order_is_read_in_rows),
		cmocka_unit_test(a_source_that_stands_still_in_rows_is_filled_in),
		cmocka_unit_test(a_source_before_the_one_that_is_crossed_may_stand_still),
		cmocka_unit_test(sources_that_disagree_on_the_order_go_by_panels),
		cmocka_unit_test(a_program_that_leaves_a_source_as_it_is_goes_by_panels),
		cmocka_unit_test(rows_too_short_to_be_computed_go_by_panels),
		cmocka_unit_test(a_few_rows_are_interleaved),
		cmocka_unit_test(a_source_that_is_the_same_for_all_rows_is_read_in_each),
		cmocka_unit_test(a_source_that_takes_long_steps_in_rows_goes_by_panels),
		cmocka_unit_test(windows_cut_the_first_source_or_the_second),
		cmocka_unit_test(a_source_is_the_fill_again_after_a_window),
		cmocka_unit_test(rows_run_on_into_the_next_loop),
		cmocka_unit_test(few_rows_are_packed_and_go_on_into_each_other),
		cmocka_unit_test(values_that_stand_still_in_rows_change_between_them),
		cmocka_unit_test(random_crossed_programs_are_as_the_reference_says),
	};

	run = parse_options(argc, argv, 12);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
