// SPDX-License-Identifier: MIT
/*
 * Copies in tiles: every element by its index in both layouts; the order of blocks and of loops;
 * and what is refused.
 */
#include "accel_test.h"
#include "grid/walk.h"
#include "lower/copy.h"
#include "seed.h"

static struct accel_error error;
static uint64_t seed;

/* Orders --------------------------------------------------------------------------------------- */

static void blocks_follow_in_the_order_of_the_walk(void **state)
{
	static const int64_t expected[][2] = {
		{ 0, 0 }, { 3, 0 }, { 6, 0 }, { 0, 2 }, { 3, 2 }, { 6, 2 },
	};
	static const int64_t extents[][2] = {
		{ 3, 2 }, { 3, 2 }, { 1, 2 }, { 3, 1 }, { 3, 1 }, { 1, 1 },
	};
	struct walk walk = {
		.rank = 2, .shape = { 7, 3 }, .block = { 3, 2 }, .order = { 1, 0 },
	};
	int64_t found[2];

	(void)state;
	for (uint32_t k = 0; k < COUNT(expected); k++) {
		assert_int_equal(walk.first[0], expected[k][0]);
		assert_int_equal(walk.first[1], expected[k][1]);
		walk_extents(&walk, found);
		assert_int_equal(found[0], extents[k][0]);
		assert_int_equal(found[1], extents[k][1]);
		assert_int_equal(walk_next(&walk), k + 1 < COUNT(expected));
	}
	assert_int_equal(walk.first[0], 0);
	assert_int_equal(walk.first[1], 0);
}

static struct accel_tensor *create(struct accel_device *device, enum accel_dtype dtype,
				   uint32_t rank, const int64_t *shape, const char *notation)
{
	struct accel_layout *layout = NULL;
	struct accel_tensor *tensor;

	if (notation)
		expect_ok(accel_layout_parse(notation, "NCHW", &layout, &error));
	expect_ok(accel_tensor_create(device, dtype, rank, shape, layout, &tensor, &error));
	accel_layout_unref(layout);
	return tensor;
}

/* What is walked along W first has its loop over W inside, though C is dense in memory. */
static void loops_are_in_the_order_of_the_walk(void **state)
{
	static const int64_t shape[] = { 1, 8, 6, 10 };
	struct accel_tensor *src = create(*state, ACCEL_DTYPE_F32, 4, shape, "NHWC");
	struct accel_tensor *dst = create(*state, ACCEL_DTYPE_F32, 4, shape, "NHWC");
	struct walk walk = {
		.rank = 4, .shape = { 1, 8, 6, 10 }, .block = { 1, 4, 3, 5 },
		.order = { 0, 1, 2, 3 }, .first = { 0, 4, 3, 0 },
	};
	struct accel_tensor *from, *to;
	struct plan_binding binding;
	uint64_t extents[ACCEL_MAX_RANK];
	struct accel_operand operand;

	expect_ok(walk_view(&walk, src, &from, &error));
	expect_ok(walk_view(&walk, dst, &to, &error));
	expect_ok(copy_bind(to, from, true, &binding, &error));
	assert_int_equal(binding.num_jobs, 1);
	assert_int_equal(accel_job_extents(binding.jobs[0], extents), 3);
	assert_int_equal(extents[0], 4);
	assert_int_equal(extents[1], 3);
	assert_int_equal(extents[2], 5);
	assert_int_equal(accel_job_operand(binding.jobs[0], 1, &operand), 0);
	assert_int_equal(operand.address.offset, 4 * (3 * 80 + 4));
	assert_int_equal(operand.address.strides[2], 32);
	plan_binding_release(&binding);
	accel_tensor_unref(from);
	accel_tensor_unref(to);
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
}

/* Values --------------------------------------------------------------------------------------- */

static uint8_t *map_tensor(struct accel_tensor *tensor)
{
	void *data;

	expect_ok(accel_buffer_map(accel_tensor_buffer(tensor), &data, &error));
	return data;
}

static void fill(struct accel_tensor *tensor)
{
	uint64_t size = accel_buffer_size(accel_tensor_buffer(tensor));
	uint8_t *data = map_tensor(tensor);

	for (uint64_t k = 0; k < size; k++)
		data[k] = (uint8_t)((k * 2654435761u) >> 13);
}

static bool next_index(uint32_t rank, const int64_t *shape, int64_t *index)
{
	for (uint32_t d = rank; d--;) {
		if (++index[d] < shape[d])
			return true;
		index[d] = 0;
	}
	return false;
}

/* Of tensors that have elements. */
static void expect_equal(struct accel_tensor *a, struct accel_tensor *b)
{
	size_t size = accel_dtype_size(accel_tensor_dtype(a));
	int64_t index[ACCEL_MAX_DIMS] = { 0 }, at_a, at_b;
	uint8_t *data_a = map_tensor(a), *data_b = map_tensor(b);

	do {
		expect_ok(accel_tensor_element(a, index, &at_a, &error));
		expect_ok(accel_tensor_element(b, index, &at_b, &error));
		assert_memory_equal(data_a + (size_t)at_a * size, data_b + (size_t)at_b * size,
				    size);
	} while (next_index(accel_tensor_rank(a), accel_tensor_shape(a), index));
}

static struct accel_tiling_info copy(struct accel_tensor *dst, struct accel_tensor *src,
				     const struct accel_tiling *tiling)
{
	struct accel_tiling_info info;

	expect_ok(accel_copy_tiled(dst, src, tiling, NULL, 0, &info, &error));
	return info;
}

/* The tensor of a convolution, of which tiles of 16 x 14 x 14 and 4 x 7 x 7 leave nothing. */
static void tiles_that_divide_are_all_alike(void **state)
{
	static const int64_t shape[] = { 1, 64, 56, 56 };
	static const char *const layouts[] = { "NCHW", "NHWC", "NCHW16c", "WHCN" };
	const struct accel_tiling tiling = {
		.tile = (int64_t[]){ 1, 16, 14, 14 },
		.order = (uint32_t[]){ 0, 3, 2, 1 },
		.subtile = (int64_t[]){ 1, 4, 7, 7 },
		.suborder = (uint32_t[]){ 0, 1, 3, 2 },
		.pe = 1,
		.load_queue = 2,
	};

	for (uint32_t s = 0; s < COUNT(layouts); s++) {
		struct accel_tensor *src = create(*state, ACCEL_DTYPE_F32, 4, shape, layouts[s]);
		struct accel_tensor *dst = create(*state, ACCEL_DTYPE_F32, 4, shape,
						  layouts[(s + 1) % COUNT(layouts)]);
		struct accel_tiling_info info;

		fill(src);
		info = copy(dst, src, &tiling);
		expect_equal(dst, src);
		assert_int_equal(info.num_tiles, 4 * 4 * 4);
		assert_int_equal(info.num_subtiles, 64 * 4 * 2 * 2);
		assert_int_equal(info.num_jobs, 64 + 1024);
		assert_int_equal(info.tile_bytes, 16 * 14 * 14 * 4);
		accel_tensor_unref(src);
		accel_tensor_unref(dst);
	}
}

static void tiles_at_the_ends_are_smaller(void **state)
{
	static const int64_t shape[] = { 1, 6, 57, 57 };
	const struct accel_tiling tiling = {
		.tile = (int64_t[]){ 1, 4, 14, 100 },
		.subtile = (int64_t[]){ 7, 3, 4, 25 },
		.load_queue = ACCEL_QUEUE_ANY,
	};
	struct accel_tensor *src = create(*state, ACCEL_DTYPE_U16, 4, shape, NULL);
	struct accel_tensor *dst = create(*state, ACCEL_DTYPE_U16, 4, shape, "NHWC");
	struct accel_tiling_info info;

	fill(src);
	info = copy(dst, src, &tiling);
	expect_equal(dst, src);
	assert_int_equal(info.num_tiles, 2 * 5);
	/* channels 4 and 2: by 3 2 and 1 pieces; rows 14 four times, 1: 4 and 1; columns 57: 3 */
	assert_int_equal(info.num_subtiles, (2 + 1) * (4 * 4 + 1) * 3);
	assert_int_equal(info.tile_bytes, 4 * 14 * 57 * 2);
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
}

static const enum accel_dtype dtypes[] = {
	ACCEL_DTYPE_U8, ACCEL_DTYPE_BF16, ACCEL_DTYPE_I32, ACCEL_DTYPE_F64, ACCEL_DTYPE_RAW128,
};

static void shuffle(struct random *random, uint32_t *axes)
{
	for (uint32_t k = 0; k < 4; k++)
		axes[k] = k;
	for (uint32_t k = 4; k > 1; k--) {
		uint32_t other = (uint32_t)random_between(random, 0, k - 1), axis = axes[k - 1];

		axes[k - 1] = axes[other];
		axes[other] = axis;
	}
}

static void random_tiles_move_every_element(void **state)
{
	static const char *const layouts[] = {
		NULL, "NHWC", "NCHW4c", "CHWN", "glow:N[a=32]HWC", "HWNC3n",
	};
	struct random random = { seed };

	for (int round = 0; round < 60; round++) {
		int64_t shape[4], tile[4], subtile[4];
		uint32_t order[4], suborder[4];
		struct accel_tiling tiling = {
			.tile = tile, .order = order, .subtile = subtile, .suborder = suborder,
			.pe = (uint32_t)random_between(&random, 0, 3),
			.load_queue = (uint32_t)random_between(&random, 0, 3),
		};
		enum accel_dtype dtype = dtypes[random_between(&random, 0, COUNT(dtypes) - 1)];
		struct accel_tensor *src, *dst;
		const char *notation;

		for (int d = 0; d < 4; d++) {
			shape[d] = random_between(&random, 1, 9);
			tile[d] = random_between(&random, 1, 6);
			subtile[d] = random_between(&random, 1, 4);
		}
		shuffle(&random, order);
		shuffle(&random, suborder);
		notation = layouts[random_between(&random, 0, COUNT(layouts) - 1)];
		if (notation)
			expect_ok(accel_layout_parse(notation, "NCHW", &tiling.layout, &error));
		src = create(*state, dtype, 4, shape,
			     layouts[random_between(&random, 0, COUNT(layouts) - 1)]);
		dst = create(*state, dtype, 4, shape,
			     layouts[random_between(&random, 0, COUNT(layouts) - 1)]);
		fill(src);
		copy(dst, src, &tiling);
		expect_equal(dst, src);
		accel_layout_unref(tiling.layout);
		accel_tensor_unref(src);
		accel_tensor_unref(dst);
	}
}

static void views_and_memory_on_chip_are_copied(void **state)
{
	static const int64_t shape[] = { 20, 30 };
	const struct accel_tiling tiling = {
		.tile = (int64_t[]){ 3, 8 }, .subtile = (int64_t[]){ 2, 8 }, .load_queue = 3,
	};
	struct accel_tensor *src, *dst, *from, *to;

	src = create(*state, ACCEL_DTYPE_I16, 2, shape, NULL);
	expect_ok(accel_tensor_create_sram(*state, 2, ACCEL_DTYPE_I16, 2, shape, NULL, &dst,
					   &error));
	fill(src);
	expect_ok(accel_tensor_slice_text(src, "1:18:3, ::-2", &from, &error));
	expect_ok(accel_tensor_slice_text(dst, "2:8, 4:19", &to, &error));
	copy(to, from, &tiling);
	expect_equal(to, from);
	assert_int_equal(map_tensor(dst)[2 * (2 * 30 + 3)], 0);
	assert_int_equal(map_tensor(dst)[2 * (2 * 30 + 19)], 0);
	accel_tensor_unref(from);
	accel_tensor_unref(to);
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
}

/* What goes through on-chip memory is written to it as often as it is read from there. */
static void counters_are_of_each_level(void **state)
{
	static const int64_t shape[] = { 5, 64 };
	const struct accel_job_counters zero = { 0 };
	const struct accel_tiling tiling = { .tile = (int64_t[]){ 2, 32 } };
	struct accel_tensor *src = create(*state, ACCEL_DTYPE_F32, 2, shape, NULL);
	struct accel_tensor *dst = create(*state, ACCEL_DTYPE_F32, 2, shape, NULL);
	struct accel_tiling_info info;

	info = copy(dst, src, &tiling);
	assert_memory_equal(&info.loads, &zero, sizeof(zero));
	assert_memory_equal(&info.stores, &zero, sizeof(zero));
	expect_ok(accel_device_set_counting(*state, true, &error));
	info = copy(dst, src, &tiling);
	expect_ok(accel_device_set_counting(*state, false, &error));
	assert_int_equal(info.loads.points, 320);
	assert_int_equal(info.loads.memory[0].bytes_read, 1280);
	assert_int_equal(info.loads.memory[0].bursts_read, 20);
	assert_int_equal(info.loads.memory[1].bytes_written, 1280);
	assert_int_equal(info.loads.memory[1].bytes_read, 0);
	assert_int_equal(info.stores.points, 320);
	assert_int_equal(info.stores.memory[0].bytes_written, 1280);
	assert_int_equal(info.stores.memory[1].bytes_read, 1280);
	assert_int_equal(info.stores.memory[1].bursts_read, 80);
	assert_int_equal(info.stores.memory[0].bytes_read, 0);
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
}

static void without_sizes_there_is_one_tile(void **state)
{
	static const int64_t shape[] = { 5, 7 }, empty[] = { 5, 0 };
	const struct accel_tiling tiling = { .pe = 0 };
	struct accel_tensor *src = create(*state, ACCEL_DTYPE_U8, 2, shape, NULL);
	struct accel_tensor *dst = create(*state, ACCEL_DTYPE_U8, 2, shape, NULL);
	struct accel_tensor *nothing = create(*state, ACCEL_DTYPE_U8, 2, empty, NULL);
	struct accel_tensor *point = create(*state, ACCEL_DTYPE_U8, 0, NULL, NULL);
	struct accel_tiling_info info;

	fill(src);
	info = copy(dst, src, &tiling);
	expect_equal(dst, src);
	assert_int_equal(info.num_tiles, 1);
	assert_int_equal(info.num_subtiles, 1);
	info = copy(nothing, nothing, &tiling);
	assert_int_equal(info.num_tiles, 0);
	info = copy(point, point, &tiling);
	assert_int_equal(info.num_tiles, 1);
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
	accel_tensor_unref(nothing);
	accel_tensor_unref(point);
}

/* Refusals ------------------------------------------------------------------------------------- */

static void expect_refused(struct accel_device *device, const struct accel_tiling *tiling,
			   int code, const char *message)
{
	static const int64_t shape[] = { 600, 1000 };
	struct accel_tensor *src = create(device, ACCEL_DTYPE_U8, 2, shape, NULL);
	struct accel_tensor *dst = create(device, ACCEL_DTYPE_U8, 2, shape, NULL);

	expect_failure(accel_copy_tiled(dst, src, tiling, NULL, 0, NULL, &error), code, message);
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
}

static void what_makes_no_tiles_is_refused(void **state)
{
	expect_refused(*state, &(struct accel_tiling){ .tile = (int64_t[]){ 4, 0 } }, -EINVAL,
		       "tiling: extent 0 of a tile on axis 1, expected 1 or more");
	expect_refused(*state, &(struct accel_tiling){ .subtile = (int64_t[]){ -1, 4 } }, -EINVAL,
		       "tiling: extent -1 of a sub-tile on axis 0, expected 1 or more");
	expect_refused(*state, &(struct accel_tiling){ .order = (uint32_t[]){ 0, 2 } }, -EINVAL,
		       "tiling: axis 2 in the order of tiles, expected each of 0 to 1 once");
	expect_refused(*state, &(struct accel_tiling){ .suborder = (uint32_t[]){ 1, 1 } }, -EINVAL,
		       "tiling: axis 1 in the order of sub-tiles, expected each of 0 to 1 once");
	expect_refused(*state, &(struct accel_tiling){ .pe = 0 }, -ENOSPC,
		       "tiling: two tiles of 600000 bytes, expected at most 1048576 together, the "
		       "memory of a PE of cpu");
	expect_refused(*state, &(struct accel_tiling){
			       .tile = (int64_t[]){ 100, 100 }, .subtile = (int64_t[]){ 3, 3 } },
		       -E2BIG,
		       "tiling: the sub-tiles of a tile need more than 1024 jobs, the most of a "
		       "submission");
	expect_refused(*state, &(struct accel_tiling){ .tile = (int64_t[]){ 9, 9 }, .pe = 4 },
		       -EINVAL, "buffer: in the memory of PE 4, expected less than 4 on cpu");
	expect_refused(*state, &(struct accel_tiling){
			       .tile = (int64_t[]){ 9, 9 }, .load_queue = 4 },
		       -EINVAL, "submit: queue 4, expected less than 4 on cpu");
}

static void memory_that_others_have_is_not_there(void **state)
{
	struct accel_buffer *buffer;

	expect_ok(accel_buffer_create_sram(*state, 3, (1 << 20) - 8192, &buffer, &error));
	expect_refused(*state, &(struct accel_tiling){ .tile = (int64_t[]){ 100, 100 }, .pe = 3 },
		       -ENOSPC,
		       "buffer: 12288 bytes of the memory of PE 3 on cpu: 8192 of 1048576 are "
		       "free");
	expect_refused(*state, &(struct accel_tiling){ .tile = (int64_t[]){ 80, 100 }, .pe = 3 },
		       -ENOSPC,
		       "buffer: 8192 bytes of the memory of PE 3 on cpu: 0 of 1048576 are free");
	accel_buffer_unref(buffer);
	/* nothing was kept */
	expect_ok(accel_buffer_create_sram(*state, 3, 1 << 20, &buffer, &error));
	accel_buffer_unref(buffer);
}

/* A tensor of u16 with the same element everywhere along an axis of stride 0. */
static struct accel_tensor *create_strided(struct accel_device *device, const int64_t *shape,
					   const int64_t *strides)
{
	struct accel_buffer *buffer;
	struct accel_tensor *tensor;

	expect_ok(accel_buffer_create(device, 4096, &buffer, &error));
	expect_ok(accel_tensor_from_buffer(buffer, ACCEL_DTYPE_U16, 2, shape, strides, 0, &tensor,
					   &error));
	accel_buffer_unref(buffer);
	return tensor;
}

static void tiles_of_more_bytes_than_can_be_counted_are_refused(void **state)
{
	static const int64_t shape[] = { 1ll << 31, 1ll << 31 }, strides[] = { 0, 0 };
	const struct accel_tiling tiling = { .pe = 0 };
	struct accel_tensor *tensor = create_strided(*state, shape, strides);

	expect_failure(accel_copy_tiled(tensor, tensor, &tiling, NULL, 0, NULL, &error),
		       -EOVERFLOW, "tiling: the bytes of a tile do not fit 63 bits");
	accel_tensor_unref(tensor);
}

/* The first tile is brought, and cannot be stored. */
static void what_cannot_be_stored_leaves_nothing_behind(void **state)
{
	static const int64_t shape[] = { 4, 6 }, strides[] = { 0, 1 };
	const struct accel_tiling tiling = { .tile = (int64_t[]){ 2, 3 }, .pe = 2 };
	struct accel_tensor *src = create(*state, ACCEL_DTYPE_U16, 2, shape, NULL);
	struct accel_tensor *dst = create_strided(*state, shape, strides);
	struct accel_tiling_info info = { .num_tiles = 77 };
	struct accel_buffer *buffer;

	expect_failure(accel_copy_tiled(dst, src, &tiling, NULL, 0, &info, &error), -EINVAL,
		       "job 0 of 1: destination: two points store to the same byte");
	assert_int_equal(info.num_tiles, 77);
	expect_ok(accel_buffer_create_sram(*state, 2, 1 << 20, &buffer, &error));
	accel_buffer_unref(buffer);
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
}

static void layouts_that_do_not_fit_a_tile_are_refused(void **state)
{
	static const int64_t shape[] = { 4, 6 };
	struct accel_tensor *src = create(*state, ACCEL_DTYPE_U16, 2, shape, NULL);
	struct accel_tiling tiling = { .pe = 0 };

	expect_ok(accel_layout_parse("NHWC", "NCHW", &tiling.layout, &error));
	expect_failure(accel_copy_tiled(src, src, &tiling, NULL, 0, NULL, &error), -EINVAL,
		       "layout of 4 axes: the shape has 2, expected 4");
	accel_layout_unref(tiling.layout);
	accel_tensor_unref(src);
}

static void other_shapes_and_devices_are_refused(void **state)
{
	static const int64_t shape[] = { 4, 6 }, other_shape[] = { 6, 4 };
	const struct accel_tiling tiling = { .pe = 0 };
	struct accel_tensor *src, *dst, *elsewhere;
	struct accel_device *other;

	expect_ok(accel_open("cpu", &other, &error));
	src = create(*state, ACCEL_DTYPE_U8, 2, shape, NULL);
	dst = create(*state, ACCEL_DTYPE_U8, 2, other_shape, NULL);
	elsewhere = create(other, ACCEL_DTYPE_U8, 2, shape, NULL);
	expect_failure(accel_copy_tiled(dst, src, &tiling, NULL, 0, NULL, &error), -EINVAL,
		       "copy: axis 0 has 6 elements in the destination and 4 in the source; "
		       "expected the same shape");
	expect_failure(accel_copy_tiled(elsewhere, src, &tiling, NULL, 0, NULL, &error), -EXDEV,
		       "tiling: the tensors are on different devices");
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
	accel_tensor_unref(elsewhere);
	accel_device_unref(other);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_follow_in_the_order_of_the_walk),
		cmocka_unit_test(loops_are_in_the_order_of_the_walk),
		cmocka_unit_test(tiles_that_divide_are_all_alike),
		cmocka_unit_test(tiles_at_the_ends_are_smaller),
		cmocka_unit_test(random_tiles_move_every_element),
		cmocka_unit_test(views_and_memory_on_chip_are_copied),
		cmocka_unit_test(counters_are_of_each_level),
		cmocka_unit_test(without_sizes_there_is_one_tile),
		cmocka_unit_test(what_makes_no_tiles_is_refused),
		cmocka_unit_test(memory_that_others_have_is_not_there),
		cmocka_unit_test(tiles_of_more_bytes_than_can_be_counted_are_refused),
		cmocka_unit_test(what_cannot_be_stored_leaves_nothing_behind),
		cmocka_unit_test(layouts_that_do_not_fit_a_tile_are_refused),
		cmocka_unit_test(other_shapes_and_devices_are_refused),
	};

	seed = seed_from_arguments(argc, argv);
	return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
