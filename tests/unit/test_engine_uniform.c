// SPDX-License-Identifier: MIT
/*
 * Programs with sources that stand still over a row or a whole job, and results that are computed
 * or streamed where they are to lie: large and small, whole strips and not, at lines and beside
 * them.
 */
#include "large_test.h"

#define U8	DRM_TESSERA_DTYPE_U8

static void check(struct engine_job *job)
{
	check_large(job, "program", "nothing");
}

/* (x - register 1) * register 2, from the first source's type and to the destination's. */
static void normalize(struct engine_job *job)
{
	if (job->operands[1].spec.dtype != F32)
		add_instruction(job, DRM_TESSERA_OP_CAST, F32);
	subtract(job, 1);
	add_instruction(job, DRM_TESSERA_OP_MUL, F32)->src[1] = 2;
	if (job->operands[0].spec.dtype != F32)
		add_instruction(job, DRM_TESSERA_OP_CAST, job->operands[0].spec.dtype)->flags =
			DRM_TESSERA_INSTRUCTION_SATURATE;
}

/* Gives an operand one element for each channel. */
static void set_by_channel(struct engine_job *job, uint32_t k)
{
	__s64 *strides = job->operands[k].spec.address.strides;

	strides[0] = strides[2] = 0;
	strides[1] = sizeof(float);
	set_size(job, k, job->extents[1] * sizeof(float));
}

/* Gives an operand one element for all. */
static void set_still(struct engine_job *job, uint32_t k)
{
	set_by_channel(job, k);
	job->operands[k].spec.address.strides[1] = 0;
	set_size(job, k, sizeof(float));
}

/* Rows of fewer points than are computed at a time, of as many, of more; of whole strips or not. */
static const uint64_t row_points[] = { 60, 64, 128, 190, 192, 256, 320, 777, 1536 };

static struct engine_job *normalized_pixels(uint64_t points, uint32_t to)
{
	struct engine_job *job = planes_job(3, &(struct planes){ 2, 3, points, 0 });

	job->operands[0].spec.dtype = to;
	job->operands[1].spec.dtype = U8;
	set_in_order(job, 0);
	set_crossed(job, 1, 0);
	set_by_channel(job, 2);
	set_by_channel(job, 3);
	normalize(job);
	return job;
}

static void pixels_are_normalized_channel_by_channel(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(row_points); i++) {
		check(normalized_pixels(row_points[i], F32));
		check(normalized_pixels(row_points[i], U8));
	}
}

static struct engine_job *scaled_rows(uint64_t points, uint32_t to)
{
	struct engine_job *job = planes_job(3, &(struct planes){ 1, 5, points, 0 });

	job->operands[0].spec.dtype = to;
	set_in_order(job, 0);
	set_in_order(job, 1);
	set_still(job, 2);
	set_still(job, 3);
	normalize(job);
	return job;
}

static void rows_are_scaled_by_one_element(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(row_points); i++) {
		check(scaled_rows(row_points[i], F32));
		check(scaled_rows(row_points[i], U8));
	}
}

/* Rows with a gap between them are computed one by one. */
static void rows_of_a_slice_are_scaled(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(row_points); i++) {
		struct engine_job *job = scaled_rows(row_points[i], F32);
		const int64_t row = (int64_t)(row_points[i] + 16) * 4;

		for (uint32_t k = 0; k < 2; k++) {
			job->operands[k].spec.address.strides[1] = row;
			set_size(job, k, 5 * (uint64_t)row);
		}
		check(job);
	}
}

static void results_may_lie_beside_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(row_points); i++) {
		struct engine_job *job = scaled_rows(row_points[i], F32);

		job->operands[0].spec.address.offset = sizeof(float);
		set_size(job, 0, job->operands[0].buffer.size + sizeof(float));
		check(job);
	}
}

static void results_may_be_in_the_place_of_a_source(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(row_points); i++) {
		struct engine_job *job = scaled_rows(row_points[i], F32);

		set_size(job, 1, 0);
		check(job);
	}
}

/* One source of a chain stands still, the other does not. */
static void a_chain_may_be_uniform_in_part(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(row_points); i++) {
		for (uint32_t k = 2; k < 4; k++) {
			struct engine_job *job = scaled_rows(row_points[i], F32);

			set_in_order(job, k);
			check(job);
		}
	}
}

/* Gives an operand one element for each point, the same for all channels. */
static void set_by_point(struct engine_job *job, uint32_t k)
{
	__s64 *strides = job->operands[k].spec.address.strides;

	strides[0] = strides[1] = 0;
	strides[2] = sizeof(float);
	set_size(job, k, job->extents[2] * sizeof(float));
}

/* Computed in the order of the sources, in rows of channels. */
static void sources_of_rows_that_are_crossed_stand_still_or_do_not(void **state)
{
	void (*const set[])(struct engine_job *job, uint32_t k) = {
		set_by_channel, set_by_point, set_still,
	};

	(void)state;
	for (size_t i = 0; i < COUNT(set) * COUNT(set); i++) {
		struct engine_job *job = planes_job(3, &(struct planes){ 2, 100, 333, 1 });

		set[i % COUNT(set)](job, 2);
		set[i / COUNT(set)](job, 3);
		normalize(job);
		check_large(job, "program, then transpose", "nothing");
	}
}

/* The last step is no chain, and has no kernel that streams. */
static void single_instructions_are_stored_at_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(row_points); i++) {
		struct engine_job *job = planes_job(2, &(struct planes){ 1, 5, row_points[i], 0 });

		set_in_order(job, 1);
		set_still(job, 2);
		subtract(job, 1);
		check(job);
	}
}

/* The result is what a source had, or what an instruction before the last left. */
static void results_need_not_come_from_the_last_step(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(row_points); i++) {
		struct engine_job *job = scaled_rows(row_points[i], F32);

		add_instruction(job, DRM_TESSERA_OP_ABS, F32)->dst = 3;
		check(job);
	}
}

/* Constants of the program, and a wider type between that needs strips of twice the size. */
static void what_is_between_does_not_reach_the_memory(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(row_points); i++) {
		struct engine_job *job = planes_job(1, &(struct planes){ 1, 5, row_points[i], 0 });
		struct drm_tessera_instruction *instruction;

		set_in_order(job, 1);
		add_instruction(job, DRM_TESSERA_OP_CAST, DRM_TESSERA_DTYPE_F64);
		instruction = add_instruction(job, DRM_TESSERA_OP_CONST, DRM_TESSERA_DTYPE_F64);
		instruction->dst = 1;
		instruction->immediate = 0x3fd0000000000000;
		add_instruction(job, DRM_TESSERA_OP_MUL, DRM_TESSERA_DTYPE_F64)->src[1] = 1;
		add_instruction(job, DRM_TESSERA_OP_CAST, F32);
		check(job);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pixels_are_normalized_channel_by_channel),
		cmocka_unit_test(rows_are_scaled_by_one_element),
		cmocka_unit_test(rows_of_a_slice_are_scaled),
		cmocka_unit_test(results_may_lie_beside_lines),
		cmocka_unit_test(results_may_be_in_the_place_of_a_source),
		cmocka_unit_test(a_chain_may_be_uniform_in_part),
		cmocka_unit_test(sources_of_rows_that_are_crossed_stand_still_or_do_not),
		cmocka_unit_test(single_instructions_are_stored_at_once),
		cmocka_unit_test(results_need_not_come_from_the_last_step),
		cmocka_unit_test(what_is_between_does_not_reach_the_memory),
	};

	return cmocka_run_group_tests_name("engine uniform", tests, NULL, NULL);
}
