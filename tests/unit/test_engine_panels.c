// SPDX-License-Identifier: MIT
/*
 * Programs whose sources are put in order panel by panel, as if they were large: rows that are
 * packed and rows that are not, several sources, sources that repeat, that windows cut and that
 * indices lead to.
 */
#include "large_test.h"

static void check_panels(struct engine_job *job)
{
	check_large(job, "program, ", "then transpose");
}

/* As many points as leave some rows of the last panel. */
static void results_of_every_size_have_all_rows(void **state)
{
	static const uint64_t channels[] = { 24, 64, 65, 100 };
	static const uint32_t types[] = {
		DRM_TESSERA_DTYPE_U8, DRM_TESSERA_DTYPE_F16, F32,
	};

	(void)state;
	for (size_t i = 0; i < COUNT(channels) * COUNT(types); i++) {
		const struct planes planes = { 1, channels[i / COUNT(types)], 229, 0 };
		struct engine_job *job = planes_job(1, &planes);

		job->operands[0].spec.dtype = types[i % COUNT(types)];
		set_in_order(job, 0);
		add_instruction(job, DRM_TESSERA_OP_ABS, F32);
		add_instruction(job, DRM_TESSERA_OP_CAST, job->operands[0].spec.dtype);
		check_panels(job);
	}
}

/* Rows that are packed, of one panel and of several. */
static const uint64_t channels[] = { 65, 100, 300 };

static void two_sources_are_put_in_order_side_by_side(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(channels); i++) {
		struct engine_job *job = planes_job(3, &(struct planes){ 1, channels[i], 277, 1 });

		set_crossed(job, 2, 0);
		set_in_order(job, 3);
		subtract(job, 1);
		subtract(job, 2);
		check_panels(job);
	}
}

static void sources_of_two_sizes_are_put_in_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(channels); i++) {
		struct engine_job *job = planes_job(3, &(struct planes){ 1, channels[i], 421, 0 });

		job->operands[1].spec.dtype = DRM_TESSERA_DTYPE_U8;
		set_crossed(job, 1, 5);
		set_in_order(job, 3);
		add_instruction(job, DRM_TESSERA_OP_CAST, F32);
		subtract(job, 1);
		subtract(job, 2);
		check_panels(job);
	}
}

/* One panel a plane, and several. */
static void a_source_that_repeats_along_an_outer_loop_is_put_in_order_again(void **state)
{
	static const uint64_t points[] = { 90, 300 };

	(void)state;
	for (size_t i = 0; i < COUNT(points); i++) {
		struct engine_job *job = planes_job(3, &(struct planes){ 3, 100, points[i], 0 });

		job->operands[1].spec.address.strides[0] = 0;
		set_in_order(job, 3);
		subtract(job, 1);
		subtract(job, 2);
		check_panels(job);
	}
}

static void a_source_that_is_the_result_may_repeat(void **state)
{
	static const uint64_t points[] = { 5, 90, 300 };

	(void)state;
	for (size_t i = 0; i < COUNT(points); i++) {
		struct engine_job *job = planes_job(2, &(struct planes){ 3, 100, points[i], 0 });

		job->operands[1].spec.address.strides[0] = 0;
		add_instruction(job, DRM_TESSERA_OP_NEG, F32)->dst = 1;
		check_panels(job);
	}
}

static void a_value_for_each_channel_is_as_wide_as_the_panel(void **state)
{
	static const uint64_t counts[] = { 9, 16, 100 };

	(void)state;
	for (size_t i = 0; i < COUNT(counts); i++) {
		struct engine_job *job = planes_job(2, &(struct planes){ 2, counts[i], 451, 0 });

		job->operands[2].spec.address.strides[0] = 0;
		job->operands[2].spec.address.strides[2] = 0;
		subtract(job, 1);
		check_panels(job);
	}
}

static void a_job_in_place_has_its_other_source_put_in_order(void **state)
{
	struct engine_job *job = planes_job(2, &(struct planes){ 1, 100, 333, 0 });

	(void)state;
	set_in_order(job, 1);
	set_size(job, 1, 0);
	subtract(job, 1);
	check_panels(job);
}

/* One window cuts channels off, the other points: four regions, and a fill that stands still. */
static void windows_cut_a_source_that_is_put_in_order(void **state)
{
	struct engine_job *job = planes_job(2, &(struct planes){ 1, 100, 333, 0 });
	const float fill = 0.5f;

	(void)state;
	set_in_order(job, 2);
	memcpy(job->operands[1].spec.fill, &fill, sizeof(fill));
	add_window(job, 1, 0, 71)->value.strides[1] = 1;
	add_window(job, 1, -19, 400)->value.strides[2] = 1;
	subtract(job, 1);
	check_panels(job);
}

static void windows_cut_a_source_beside_one_that_is_put_in_order(void **state)
{
	struct engine_job *job = planes_job(2, &(struct planes){ 1, 100, 333, 0 });

	(void)state;
	set_in_order(job, 2);
	add_window(job, 2, 0, 71)->value.strides[1] = 1;
	add_window(job, 2, -19, 400)->value.strides[2] = 1;
	subtract(job, 1);
	check_panels(job);
}

/*
 * Leads the operand's places along a loop by indices, from the last to the first. Without them it
 * would begin before its memory.
 */
static void lead_by_indices(struct engine_job *job, uint32_t k, uint32_t loop)
{
	static uint32_t indices[1024];
	__s64 *strides = job->operands[k].spec.address.strides;

	for (uint32_t i = 0; i < job->extents[loop]; i++)
		indices[i] = (uint32_t)job->extents[loop] - i;
	add_indices(job, k, indices, sizeof(indices), DRM_TESSERA_DTYPE_U32, loop, strides[loop]);
	job->operands[k].spec.address.offset = -strides[loop];
	strides[loop] = 0;
}

static void gathers_beside_a_source_that_is_put_in_order(void **state)
{
	(void)state;
	for (uint32_t loop = 0; loop < 3; loop++)
		for (int is_in_order = 0; is_in_order < 2; is_in_order++) {
			struct engine_job *job = planes_job(2, &(struct planes){ 2, 300, 60, 1 });

			if (is_in_order)
				set_in_order(job, 2);
			lead_by_indices(job, 2, loop);
			subtract(job, 1);
			check_panels(job);
		}
}

static void scatters_what_has_been_put_in_order(void **state)
{
	(void)state;
	for (uint32_t loop = 0; loop < 3; loop++) {
		struct engine_job *job = planes_job(2, &(struct planes){ 2, 100, 170, 1 });

		lead_by_indices(job, 0, loop);
		subtract(job, 1);
		check_panels(job);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_of_every_size_have_all_rows),
		cmocka_unit_test(two_sources_are_put_in_order_side_by_side),
		cmocka_unit_test(sources_of_two_sizes_are_put_in_order),
		cmocka_unit_test(a_source_that_repeats_along_an_outer_loop_is_put_in_order_again),
		cmocka_unit_test(a_source_that_is_the_result_may_repeat),
		cmocka_unit_test(a_value_for_each_channel_is_as_wide_as_the_panel),
		cmocka_unit_test(a_job_in_place_has_its_other_source_put_in_order),
		cmocka_unit_test(windows_cut_a_source_that_is_put_in_order),
		cmocka_unit_test(windows_cut_a_source_beside_one_that_is_put_in_order),
		cmocka_unit_test(gathers_beside_a_source_that_is_put_in_order),
		cmocka_unit_test(scatters_what_has_been_put_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
