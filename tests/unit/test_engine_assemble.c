// SPDX-License-Identifier: MIT
/*
 * Large destinations that are put together in scratch, chunk by chunk: windows over images, as rows
 * of a matrix and as planes. The engine takes the caches to be small here.
 */
#include "engine/cache.h"
#include "large_test.h"

/* In the place of the engine's own. */
uint64_t engine_last_level_cache(void)
{
	return 256 << 10;
}

/* Windows of taps x taps over an image, the elements of one after the other. */
struct windows {
	uint32_t size_shift;
	int64_t channels;
	int64_t height;		/* of what windows are on, an image with its padding */
	int64_t width;
	int64_t taps;
	int64_t padding;
	int64_t offset;		/* of the destination, in bytes */
};

enum { Y, X, CHANNEL, TAP_Y, TAP_X, NUM_LOOPS };

/* Loops from the outermost one on, as the destination has them. */
static struct engine_job *windows_job(const struct windows *windows, const int loops[NUM_LOOPS])
{
	const int64_t size = 1ll << windows->size_shift, padding = windows->padding;
	const int64_t height = windows->height - 2 * padding, width = windows->width - 2 * padding;
	const int64_t rows = windows->height - windows->taps + 1;
	const int64_t columns = windows->width - windows->taps + 1;
	const int64_t extents[NUM_LOOPS] = {
		rows, columns, windows->channels, windows->taps, windows->taps
	};
	const int64_t steps[NUM_LOOPS] = { width, 1, height * width, width, 1 };
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_CLASS_RAW | windows->size_shift);
	struct drm_tessera_window *in_height, *in_width;
	int64_t bytes = size;

	in_height = add_window(job, 1, -padding, (uint64_t)height);
	in_width = add_window(job, 1, -padding, (uint64_t)width);
	for (int d = NUM_LOOPS; d-- > 0; bytes *= extents[loops[d]]) {
		const int loop = loops[d];

		job->extents[d] = (uint64_t)extents[loop];
		job->operands[0].spec.address.strides[d] = bytes;
		job->operands[1].spec.address.strides[d] = steps[loop] * size;
		in_height->value.strides[d] = loop == Y || loop == TAP_Y;
		in_width->value.strides[d] = loop == X || loop == TAP_X;
	}
	job->rank = NUM_LOOPS;
	job->operands[0].spec.address.offset = windows->offset;
	job->operands[1].spec.address.offset = -padding * (width + 1) * size;
	memset(job->operands[1].spec.fill, 0x3c, (size_t)size);
	set_size(job, 0, (uint64_t)(bytes + windows->offset + size));
	set_size(job, 1, (uint64_t)(windows->channels * height * width * size));
	return job;
}

/*
 * A plan looks at no memory: there need be none. Where an instruction set puts lines together in
 * registers, planes go that way.
 */
static bool is_put_together(struct engine_job *job)
{
	static uint8_t nothing;
	struct engine_fault fault = { 0 };
	struct engine_plan *plan;
	bool is_staged;

	for (uint32_t k = 0; k < job->num_operands; k++)
		job->operands[k].buffer.base = &nothing + k;
	setenv(ENGINE_ISA_VARIABLE, "portable", 1);
	if (engine_plan_create(job, &plan, &fault))
		fail_msg("%s", fault.text);
	unsetenv(ENGINE_ISA_VARIABLE);
	is_staged = plan->is_staged && plan->scratch && plan->chunks.count > 2;
	engine_plan_destroy(plan);
	return is_staged;
}

static void check_windows(const struct windows *windows, const int loops[NUM_LOOPS])
{
	struct engine_job *job = windows_job(windows, loops);

	assert_true(is_put_together(job));
	check_large(job, "of ", "nothing");
}

static const int rows[NUM_LOOPS] = { Y, X, CHANNEL, TAP_Y, TAP_X };
static const int planes[NUM_LOOPS] = { CHANNEL, TAP_Y, TAP_X, Y, X };

static void windows_are_rows(void **state)
{
	(void)state;
	check_windows(&(struct windows){ 2, 8, 48, 48, 3, 1, 0 }, rows);
	check_windows(&(struct windows){ 2, 7, 53, 47, 3, 1, 4 }, rows);
	check_windows(&(struct windows){ 2, 5, 39, 43, 5, 0, 12 }, rows);
}

static void windows_are_planes(void **state)
{
	(void)state;
	check_windows(&(struct windows){ 2, 3, 82, 63, 3, 1, 0 }, planes);
	check_windows(&(struct windows){ 2, 3, 83, 71, 3, 1, 20 }, planes);
	check_windows(&(struct windows){ 4, 3, 41, 47, 3, 1, 16 }, planes);
}

static void chunks_of_small_elements_begin_and_end_within_lines(void **state)
{
	(void)state;
	check_windows(&(struct windows){ 1, 7, 69, 71, 3, 1, 1 }, rows);
	check_windows(&(struct windows){ 0, 3, 103, 89, 5, 2, 7 }, planes);
}

/* More elements than are placed at a time: the first loop of a window is cut. */
static void windows_that_are_cut_are_put_together(void **state)
{
	(void)state;
	check_windows(&(struct windows){ 2, 130, 7, 28, 3, 1, 0 }, rows);
	check_windows(&(struct windows){ 2, 230, 5, 31, 3, 0, 8 }, rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_are_rows),
		cmocka_unit_test(windows_are_planes),
		cmocka_unit_test(chunks_of_small_elements_begin_and_end_within_lines),
		cmocka_unit_test(windows_that_are_cut_are_put_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
