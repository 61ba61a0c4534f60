// SPDX-License-Identifier: MIT
/*
 * Copies in tiles that are prepared: they leave behind what copies at once do, however often they
 * run, and from several threads; without an allocation.
 */
#include <pthread.h>

#include "accel_test.h"
#include "allocation_test.h"

#define ROWS	13
#define COLUMNS	22

static const int64_t shape[] = { ROWS, COLUMNS };
static const struct accel_tiling tiling = {
	.tile = (int64_t[]){ 4, 5 }, .order = (uint32_t[]){ 1, 0 },
	.subtile = (int64_t[]){ 3, 5 }, .suborder = (uint32_t[]){ 1, 0 },
	.pe = 1, .load_queue = 2,
};

static struct accel_error error;

/* A tensor, and its transpose to copy it to. */
struct pair {
	struct accel_tensor *src, *dst;
	uint16_t *from, *to;
	struct accel_tiled_copy *copy;
};

static uint16_t *create(struct accel_device *device, const char *notation,
			struct accel_tensor **tensor)
{
	struct accel_layout *layout;
	void *data;

	expect_ok(accel_layout_parse(notation, NULL, &layout, &error));
	expect_ok(accel_tensor_create(device, ACCEL_DTYPE_U16, 2, shape, layout, tensor, &error));
	expect_ok(accel_buffer_map(accel_tensor_buffer(*tensor), &data, &error));
	accel_layout_unref(layout);
	return data;
}

static struct pair create_pair(struct accel_device *device, const struct accel_tiling *how)
{
	struct pair pair;

	pair.from = create(device, "(i, j) -> (i, j)", &pair.src);
	pair.to = create(device, "(i, j) -> (j, i)", &pair.dst);
	expect_ok(accel_tiled_copy_create(pair.dst, pair.src, how, &pair.copy, &error));
	return pair;
}

static void release_pair(struct pair *pair)
{
	accel_tiled_copy_unref(pair->copy);
	accel_tensor_unref(pair->src);
	accel_tensor_unref(pair->dst);
}

static void fill(struct pair *pair, int round)
{
	for (int k = 0; k < ROWS * COLUMNS; k++)
		pair->from[k] = (uint16_t)(k * 7 + round);
}

/* How many elements are not where they belong. */
static int count_wrong(const struct pair *pair, int round)
{
	int wrong = 0;

	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLUMNS; j++)
			wrong += pair->to[j * ROWS + i] !=
				 (uint16_t)((i * COLUMNS + j) * 7 + round);
	return wrong;
}

static void it_copies_what_is_there_each_time(void **state)
{
	struct pair pair = create_pair(*state, &tiling);

	for (int round = 0; round < 3; round++) {
		fill(&pair, round);
		assert_int_not_equal(count_wrong(&pair, round), 0);
		expect_ok(accel_tiled_copy_submit(pair.copy, NULL, 0, &error));
		expect_ok(accel_tiled_copy_wait(pair.copy, -1, &error));
		assert_int_equal(count_wrong(&pair, round), 0);
	}
	release_pair(&pair);
}

static void it_tells_what_a_copy_at_once_does(void **state)
{
	struct accel_tiling_info info, expected;
	struct pair pair;

	expect_ok(accel_device_set_counting(*state, true, &error));
	pair = create_pair(*state, &tiling);
	expect_ok(accel_copy_tiled(pair.dst, pair.src, &tiling, NULL, 0, &expected, &error));
	accel_tiled_copy_info(pair.copy, &info);
	assert_int_equal(info.num_tiles, 4 * 5);
	assert_int_equal(info.loads.points, 0);
	for (int round = 0; round < 2; round++) {
		expect_ok(accel_tiled_copy_submit(pair.copy, NULL, 0, &error));
		expect_ok(accel_tiled_copy_wait(pair.copy, -1, &error));
		accel_tiled_copy_info(pair.copy, &info);
		info.load_ns = expected.load_ns;
		info.store_ns = expected.store_ns;
		assert_memory_equal(&info, &expected, sizeof(info));
	}
	expect_ok(accel_device_set_counting(*state, false, &error));
	release_pair(&pair);
}

static void submitting_allocates_nothing(void **state)
{
	struct pair pair = create_pair(*state, &tiling);
	long before;

	fill(&pair, 5);
	for (int round = 0; round < 2; round++) {
		before = num_allocations;
		expect_ok(accel_tiled_copy_submit(pair.copy, NULL, 0, &error));
		expect_ok(accel_tiled_copy_wait(pair.copy, -1, &error));
		/* what a process does once it does in the first round */
		assert_true(!round || num_allocations == before);
	}
	assert_int_equal(count_wrong(&pair, 5), 0);
	release_pair(&pair);
}

static void it_has_memory_on_chip_while_it_lives(void **state)
{
	struct pair pair = create_pair(*state, &tiling);
	struct accel_tiled_copy *other = accel_tiled_copy_ref(pair.copy);
	struct accel_buffer *buffer;

	accel_tiled_copy_unref(pair.copy);
	expect_failure(accel_buffer_create_sram(*state, 1, 1 << 20, &buffer, &error), -ENOSPC,
		       "buffer: 1048576 bytes of the memory of PE 1 on cpu: 1040384 of 1048576 are "
		       "free");
	pair.copy = NULL;
	accel_tiled_copy_unref(other);
	expect_ok(accel_buffer_create_sram(*state, 1, 1 << 20, &buffer, &error));
	accel_buffer_unref(buffer);
	release_pair(&pair);
}

static void what_was_not_submitted_is_not_waited_for(void **state)
{
	struct pair pair = create_pair(*state, &tiling);
	struct accel_fence *fence;

	expect_failure(accel_tiled_copy_wait(pair.copy, -1, &error), -EINVAL,
		       "tiling: nothing was submitted");
	expect_failure(accel_tiled_copy_fence(pair.copy, &fence, &error), -ENOENT,
		       "tiling: nothing was submitted");
	assert_null(fence);
	release_pair(&pair);
}

/* It stays that of its submission, whatever is submitted later. */
static void others_wait_for_its_fence(void **state)
{
	struct pair first = create_pair(*state, &tiling), second = create_pair(*state, &tiling);
	struct accel_fence *fence;

	fill(&first, 1);
	fill(&second, 2);
	expect_ok(accel_tiled_copy_submit(first.copy, NULL, 0, &error));
	expect_ok(accel_tiled_copy_fence(first.copy, &fence, &error));
	expect_ok(accel_tiled_copy_submit(second.copy, &fence, 1, &error));
	expect_ok(accel_tiled_copy_submit(first.copy, &fence, 1, &error));
	expect_ok(accel_fence_wait(fence, -1, &error));
	expect_ok(accel_tiled_copy_wait(first.copy, -1, &error));
	expect_ok(accel_tiled_copy_wait(second.copy, 0, &error));
	assert_int_equal(count_wrong(&first, 1), 0);
	assert_int_equal(count_wrong(&second, 2), 0);
	accel_fence_unref(fence);
	release_pair(&first);
	release_pair(&second);
}

static void nothing_is_copied_without_elements(void **state)
{
	static const int64_t empty[] = { 0, COLUMNS };
	struct accel_tiling_info info;
	struct accel_tiled_copy *copy;
	struct accel_tensor *tensor;
	struct accel_fence *fence;

	expect_ok(accel_tensor_create(*state, ACCEL_DTYPE_U16, 2, empty, NULL, &tensor, &error));
	expect_ok(accel_tiled_copy_create(tensor, tensor, &tiling, &copy, &error));
	expect_ok(accel_tiled_copy_submit(copy, NULL, 0, &error));
	expect_ok(accel_tiled_copy_wait(copy, -1, &error));
	expect_failure(accel_tiled_copy_fence(copy, &fence, &error), -ENOENT,
		       "tiling: nothing was submitted");
	accel_tiled_copy_info(copy, &info);
	assert_int_equal(info.num_tiles, 0);
	accel_tiled_copy_unref(copy);
	accel_tiled_copy_unref(NULL);
	accel_tensor_unref(tensor);
}

static void what_cannot_be_prepared_is_refused(void **state)
{
	static const int64_t large[] = { 65, 128 }, strides[] = { 0, 1 };
	const struct accel_tiling fine = { .tile = (int64_t[]){ 1, 1 } };
	const struct accel_tiling nowhere = { .pe = 4 };
	struct accel_tiled_copy *copy;
	struct accel_tensor *tensor, *flat;
	struct accel_buffer *buffer;

	expect_ok(accel_tensor_create(*state, ACCEL_DTYPE_U16, 2, large, NULL, &tensor, &error));
	expect_failure(accel_tiled_copy_create(tensor, tensor, &fine, &copy, &error), -E2BIG,
		       "tiling: it needs more than 16384 jobs");
	assert_null(copy);
	expect_failure(accel_tiled_copy_create(tensor, tensor, &nowhere, &copy, &error), -EINVAL,
		       "buffer: in the memory of PE 4, expected less than 4 on cpu");
	expect_ok(accel_buffer_create(*state, 4096, &buffer, &error));
	expect_ok(accel_tensor_from_buffer(buffer, ACCEL_DTYPE_U16, 2, large, strides, 0, &flat,
					   &error));
	expect_failure(accel_tiled_copy_create(flat, tensor, &tiling, &copy, &error), -EINVAL,
		       "job 0 of 2: destination: two points store to the same byte");
	/* nothing was kept */
	accel_buffer_unref(buffer);
	expect_ok(accel_buffer_create_sram(*state, 1, 1 << 20, &buffer, &error));
	accel_buffer_unref(buffer);
	accel_tensor_unref(flat);
	accel_tensor_unref(tensor);
}

struct thread {
	struct pair pair;
	int first_round;
	int wrong;
	pthread_t thread;
};

/* Failures are counted: cmocka's checks are for the main thread alone. */
static void *copy_again_and_again(void *context)
{
	struct thread *thread = context;
	struct pair *pair = &thread->pair;

	for (int round = thread->first_round; round < thread->first_round + 50; round++) {
		fill(pair, round);
		thread->wrong += accel_tiled_copy_submit(pair->copy, NULL, 0, NULL) != 0;
		thread->wrong += accel_tiled_copy_wait(pair->copy, -1, NULL) != 0;
		thread->wrong += count_wrong(pair, round);
	}
	return NULL;
}

static void threads_have_copies_of_their_own(void **state)
{
	struct thread threads[2] = { 0 };

	for (int k = 0; k < 2; k++) {
		threads[k].pair = create_pair(*state, &tiling);
		threads[k].first_round = 1000 * k;
	}
	for (int k = 0; k < 2; k++)
		assert_int_equal(pthread_create(&threads[k].thread, NULL, copy_again_and_again,
						&threads[k]), 0);
	for (int k = 0; k < 2; k++) {
		assert_int_equal(pthread_join(threads[k].thread, NULL), 0);
		assert_int_equal(threads[k].wrong, 0);
		release_pair(&threads[k].pair);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_copies_what_is_there_each_time),
		cmocka_unit_test(it_tells_what_a_copy_at_once_does),
		cmocka_unit_test(submitting_allocates_nothing),
		cmocka_unit_test(it_has_memory_on_chip_while_it_lives),
		cmocka_unit_test(what_was_not_submitted_is_not_waited_for),
		cmocka_unit_test(others_wait_for_its_fence),
		cmocka_unit_test(nothing_is_copied_without_elements),
		cmocka_unit_test(what_cannot_be_prepared_is_refused),
		cmocka_unit_test(threads_have_copies_of_their_own),
	};

	return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
