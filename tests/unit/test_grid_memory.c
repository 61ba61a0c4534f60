// SPDX-License-Identifier: MIT
/*
 * Distributions, repartitions and tilings without memory: whichever allocation is the first to
 * fail, the call says -ENOMEM, fills in the error and leaves nothing behind: neither what the leak
 * sanitizer would see, nor a byte of the memory of a PE.
 */
#include "memory_test.h"

static const int64_t shape[] = { 7, 11 };
static struct accel_device *device;

static int set_up(void **state)
{
	(void)state;
	return accel_open("cpu:pes=4,sram=8K", &device, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	accel_device_unref(device);
	return 0;
}

/* Each PE gives away all that it has. */
static void expect_free_memory(void)
{
	struct accel_device_info info;
	struct accel_buffer *buffer;
	struct accel_error error;
	long left = num_left, made = num_allocations;

	num_left = -1;
	accel_device_info(device, &info);
	for (uint32_t pe = 0; pe < info.num_queues; pe++) {
		expect_ok(accel_buffer_create_sram(device, pe, info.sram_size, &buffer, &error));
		accel_buffer_unref(buffer);
	}
	num_left = left;
	num_allocations = made;
}

static int distribute(const char *text, struct accel_distribution **distribution,
		      struct accel_error *error)
{
	struct accel_layout *layout;
	int ret = accel_layout_parse(text, NULL, &layout, error);

	*distribution = NULL;
	if (ret)
		return ret;
	ret = accel_distribution_create(device, ACCEL_DTYPE_U16, 2, shape, layout, distribution,
					error);
	accel_layout_unref(layout);
	return ret;
}

static int use_distribution(const char *text, struct accel_error *error)
{
	struct accel_distribution *distribution;
	int ret = distribute(text, &distribution, error);

	assert_int_equal(!distribution, ret != 0);
	accel_distribution_unref(distribution);
	expect_free_memory();
	return ret;
}

static int move(struct accel_distribution *dst, struct accel_distribution *src,
		struct accel_error *error)
{
	struct accel_repartition *repartition;
	struct accel_fence *fence = NULL;
	int ret = accel_repartition_create(dst, src, &repartition, error);

	assert_int_equal(!repartition, ret != 0);
	if (!ret)
		ret = accel_repartition_submit(repartition, NULL, 0, error);
	if (!ret)
		ret = accel_repartition_wait(repartition, -1, error);
	if (!ret)
		ret = accel_repartition_fence(repartition, 0, &fence, error);
	/* the fence is with somebody else: the next submission needs another */
	if (!ret)
		ret = accel_repartition_submit(repartition, NULL, 0, error);
	if (!ret)
		ret = accel_repartition_wait(repartition, -1, error);
	accel_fence_unref(fence);
	accel_repartition_unref(repartition);
	return ret;
}

/* From system memory to PEs as text says, and from there to blocks of columns. */
static int use_repartition(const char *text, struct accel_error *error)
{
	struct accel_distribution *whole = NULL, *from = NULL, *to = NULL;
	struct accel_tensor *tensor;
	int ret;

	ret = accel_tensor_create(device, ACCEL_DTYPE_U16, 2, shape, NULL, &tensor, error);
	if (!ret)
		ret = accel_distribution_from_tensor(tensor, &whole, error);
	if (!ret)
		ret = distribute(text, &from, error);
	if (!ret)
		ret = distribute("(i, j) -> (j//3, j%3, i)", &to, error);
	if (!ret)
		ret = move(from, whole, error);
	if (!ret)
		ret = move(to, from, error);
	accel_distribution_unref(to);
	accel_distribution_unref(from);
	accel_distribution_unref(whole);
	accel_tensor_unref(tensor);
	expect_free_memory();
	return ret;
}

/* In six tiles, in two buffers, laid out as text says. */
static int use_tiling(const char *text, struct accel_error *error)
{
	struct accel_tiling tiling = {
		.tile = (int64_t[]){ 4, 4 }, .subtile = (int64_t[]){ 2, 4 },
		.suborder = (uint32_t[]){ 1, 0 }, .pe = 1, .load_queue = ACCEL_QUEUE_ANY,
	};
	struct accel_tensor *src = NULL, *dst = NULL;
	struct accel_tiling_info info;
	int ret = 0;

	if (*text)
		ret = accel_layout_parse(text, NULL, &tiling.layout, error);
	if (!ret)
		ret = accel_tensor_create(device, ACCEL_DTYPE_U16, 2, shape, NULL, &src, error);
	if (!ret)
		ret = accel_tensor_create(device, ACCEL_DTYPE_U16, 2, shape, NULL, &dst, error);
	if (!ret)
		ret = accel_copy_tiled(dst, src, &tiling, NULL, 0, &info, error);
	accel_tensor_unref(dst);
	accel_tensor_unref(src);
	accel_layout_unref(tiling.layout);
	expect_free_memory();
	return ret;
}

static int use_tiled_copy(const char *text, struct accel_error *error)
{
	const struct accel_tiling tiling = {
		.tile = (int64_t[]){ 4, 4 }, .pe = 1, .load_queue = ACCEL_QUEUE_ANY,
	};
	struct accel_tiled_copy *copy = NULL;
	struct accel_fence *fence = NULL;
	struct accel_tensor *src, *dst = NULL;
	int ret;

	(void)text;
	ret = accel_tensor_create(device, ACCEL_DTYPE_U16, 2, shape, NULL, &src, error);
	if (!ret)
		ret = accel_tensor_create(device, ACCEL_DTYPE_U16, 2, shape, NULL, &dst, error);
	if (!ret)
		ret = accel_tiled_copy_create(dst, src, &tiling, &copy, error);
	if (!ret)
		ret = accel_tiled_copy_submit(copy, NULL, 0, error);
	if (!ret)
		ret = accel_tiled_copy_wait(copy, -1, error);
	if (!ret)
		ret = accel_tiled_copy_fence(copy, &fence, error);
	accel_fence_unref(fence);
	accel_tiled_copy_unref(copy);
	accel_tensor_unref(dst);
	accel_tensor_unref(src);
	expect_free_memory();
	return ret;
}

static void distributions_say_that_memory_is_short(void **state)
{
	static const char *const texts[] = {
		"(i, j) -> (i//2, i%2, j)",
		/* more pieces than fit at first, over axes that are in one term */
		"(i, j) -> ((i + j)%4, j//4, i)",
		"(i, j) -> ((i*j)%4, i, j)",
		/* two groups of axes */
		"(i, j) -> (2*(i//4) + j//6, i%4, j%6)",
	};

	(void)state;
	for (size_t k = 0; k < COUNT(texts); k++)
		expect_failures(use_distribution, texts[k]);
}

static void repartitions_say_that_memory_is_short(void **state)
{
	struct accel_error error;

	(void)state;
	/* what a process does once needs its memory only then */
	expect_ok(use_repartition("(i, j) -> (i//2, i%2, j)", &error));
	expect_failures(use_repartition, "(i, j) -> (i//2, i%2, j)");
}

static void tilings_say_that_memory_is_short(void **state)
{
	(void)state;
	expect_failures(use_tiling, "");
	expect_failures(use_tiling, "(i, j) -> (j, i)");
	expect_failures(use_tiled_copy, "prepared");
}

static void counted_tilings_say_that_memory_is_short(void **state)
{
	struct accel_error error;

	(void)state;
	expect_ok(accel_device_set_counting(device, true, &error));
	expect_failures(use_tiling, "");
	expect_ok(accel_device_set_counting(device, false, &error));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distributions_say_that_memory_is_short),
		cmocka_unit_test(repartitions_say_that_memory_is_short),
		cmocka_unit_test(tilings_say_that_memory_is_short),
		cmocka_unit_test(counted_tilings_say_that_memory_is_short),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
