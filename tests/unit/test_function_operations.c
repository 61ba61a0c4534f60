// SPDX-License-Identifier: MIT
/*
 * Operations of functions: what each makes of its source, worked numbers among it, and what each
 * refuses. What they compute is compared with their definitions; chains of them are in
 * test_function_random.c.
 */
#include "function_test.h"

#define SHAPE(...)	((const int64_t[]){ __VA_ARGS__ })

static const uint64_t five[2] = { 5, 0 }, wide[2] = { 0x100, 0 };

/* x, of bytes 0, 1, .. where it is small, and what else operations take. */
static void start(struct fixture *fixture)
{
	int64_t index[2] = { 0 };

	fixture_start(fixture, 1);
	fixture_input(fixture, "x", ACCEL_DTYPE_U8, 2, SHAPE(3, 4), NULL, 0);
	do {
		*fixture_address(fixture->inputs[0], index) = (uint8_t)(4 * index[0] + index[1]);
	} while (fixture_next(2, SHAPE(3, 4), index));
	fixture_input(fixture, "image", ACCEL_DTYPE_U8, 4, SHAPE(2, 4, 4, 6), NULL, 0);
	fixture_input(fixture, "rows", ACCEL_DTYPE_I32, 1, SHAPE(3), NULL, 3);
	fixture_input(fixture, "grid", ACCEL_DTYPE_I32, 2, SHAPE(3, 1), NULL, 4);
	fixture_input(fixture, "f", ACCEL_DTYPE_F32, 1, SHAPE(7), NULL, 0);
}

/* Runs, compares with the oracle, and gives back the row-major elements of y. */
static const uint8_t *run(struct fixture *fixture)
{
	void *address;

	fixture_output(fixture, "y", NULL, NULL);
	fixture_check_both(fixture);
	assert_int_equal(fixture->info.num_jobs, 1);
	expect_ok(accel_buffer_map(accel_tensor_buffer(fixture->outputs[0]), &address, &error));
	return address;
}

static void expect_shape(const struct fixture *fixture, const char *name, uint32_t rank,
			 const int64_t *shape)
{
	int64_t found[ACCEL_MAX_DIMS];
	uint32_t found_rank;
	enum accel_dtype dtype;

	expect_ok(accel_function_tensor(fixture->function, name, &dtype, &found_rank, found,
					&error));
	assert_int_equal(found_rank, rank);
	if (rank)
		assert_memory_equal(found, shape, rank * sizeof(shape[0]));
}

/* Shapes ----------------------------------------------------------------------------------- */

static void permute_transposes(void **state)
{
	static const uint8_t expected[] = { 0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11 };
	static const uint32_t axes[] = { 1, 0 };
	struct fixture fixture;

	(void)state;
	start(&fixture);
	expect_ok(accel_function_permute(fixture.function, "y", "x", axes, &error));
	assert_memory_equal(run(&fixture), expected, sizeof(expected));
	fixture_finish(&fixture);
}

static void reshape_finds_the_open_extent(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	expect_ok(accel_function_reshape(fixture.function, "y", "x", 3, SHAPE(2, -1, 3), &error));
	expect_shape(&fixture, "y", 3, SHAPE(2, 2, 3));
	run(&fixture);
	fixture_finish(&fixture);
}

static void slice_is_that_of_python(void **state)
{
	static const uint8_t expected[] = { 11, 9, 3, 1 };
	struct fixture fixture;

	(void)state;
	start(&fixture);
	expect_ok(accel_function_slice(fixture.function, "y", "x", "::-2, None, ::-2", &error));
	expect_shape(&fixture, "y", 3, SHAPE(2, 1, 2));
	assert_memory_equal(run(&fixture), expected, sizeof(expected));
	fixture_finish(&fixture);
}

static void pad_adds_and_drops(void **state)
{
	static const uint8_t expected[] = { 5, 1, 2, 3, 5, 5, 5, 5, 6, 7, 5, 5 };
	struct fixture fixture;

	(void)state;
	start(&fixture);
	expect_ok(accel_function_slice(fixture.function, "a", "x", ":2, 1:", &error));
	expect_ok(accel_function_pad(fixture.function, "y", "a", SHAPE(0, 1), SHAPE(0, 2), five,
				     &error));
	assert_memory_equal(run(&fixture), expected, sizeof(expected));
	fixture_finish(&fixture);
}

static void broadcast_repeat_and_tile_expand(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	expect_ok(accel_function_broadcast(fixture.function, "a", "grid", 3, SHAPE(2, 3, 5),
					   &error));
	expect_ok(accel_function_repeat(fixture.function, "b", "a", 2, 2, &error));
	expect_ok(accel_function_tile(fixture.function, "y", "b", SHAPE(1, 2, 3), &error));
	expect_shape(&fixture, "y", 3, SHAPE(2, 6, 30));
	run(&fixture);
	fixture_finish(&fixture);
}

static void repeat_of_nothing_is_empty(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	expect_ok(accel_function_repeat(fixture.function, "y", "x", 1, 0, &error));
	expect_shape(&fixture, "y", 2, SHAPE(3, 0));
	fixture_output(&fixture, "y", NULL, NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.num_jobs, 0);
	fixture_finish(&fixture);
}

/* num_jobs 0: however many. */
static void expect_map(const char *text, const uint64_t *padding, uint32_t num_jobs)
{
	struct fixture fixture;
	struct accel_map *map;

	start(&fixture);
	expect_ok(accel_map_parse(text, &map, &error));
	expect_ok(accel_function_map(fixture.function, "y", "x", map, padding, &error));
	fixture_output(&fixture, "y", NULL, NULL);
	fixture_check_both(&fixture);
	if (num_jobs)
		assert_int_equal(fixture.info.num_jobs, num_jobs);
	accel_map_unref(map);
	fixture_finish(&fixture);
}

static void map_is_pulled_through_its_inverse(void **state)
{
	(void)state;
	expect_map("(i, j) -> (j, i)", NULL, 1);
	expect_map("(i, j) -> (i, j//3, j%3)", five, 1);
	expect_map("(i, j) -> (2*i + 1, j)", five, 1);
}

static void map_without_an_inverse_is_pushed(void **state)
{
	(void)state;
	/* Stairs: the gaps between rows get wider. Their jobs are as many as it takes. */
	expect_map("(i, j) -> (i*(i + 1)//2 + 4*i + j)", five, 0);
}

static void unmap_drops_padding(void **state)
{
	struct fixture fixture;
	struct accel_map *map;

	(void)state;
	start(&fixture);
	expect_ok(accel_map_parse("(i, j) -> (i//2, j, i%2)", &map, &error));
	expect_ok(accel_function_map(fixture.function, "a", "x", map, five, &error));
	expect_ok(accel_function_unmap(fixture.function, "y", "a", map, 2, SHAPE(3, 4), &error));
	run(&fixture);
	assert_int_equal(fixture.info.map_class, ACCEL_CLASS_IDENTITY);
	accel_map_unref(map);
	fixture_finish(&fixture);
}

/* Images ----------------------------------------------------------------------------------- */

static void im2col_of_three_by_three(void **state)
{
	static const uint8_t image[] = "abcdefghi";
	static const struct accel_im2col im2col = { .kernel = { 2, 2 } };
	int64_t index[4] = { 0 };
	struct fixture fixture;

	(void)state;
	fixture_start(&fixture, 1);
	fixture_input(&fixture, "x", ACCEL_DTYPE_U8, 4, SHAPE(1, 1, 3, 3), NULL, 0);
	do {
		*fixture_address(fixture.inputs[0], index) = image[3 * index[2] + index[3]];
	} while (fixture_next(4, SHAPE(1, 1, 3, 3), index));
	expect_ok(accel_function_im2col(fixture.function, "y", "x", &im2col, &error));
	expect_shape(&fixture, "y", 2, SHAPE(4, 4));
	assert_memory_equal(run(&fixture), "abdebcefdeghefhi", 16);
	fixture_finish(&fixture);
}

static void im2col_of_every_kind(void **state)
{
	struct accel_im2col im2col = {
		.kernel = { 3, 2 }, .stride = { 1, 2 }, .pad = { 1, 0 }, .dilation = { 1, 3 },
	};

	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		struct fixture fixture;

		im2col.is_nhwc = kind & 1;
		im2col.is_view = kind & 2;
		start(&fixture);
		expect_ok(accel_function_im2col(fixture.function, "y", "image", &im2col, &error));
		run(&fixture);
		fixture_finish(&fixture);
	}
}

static void pixel_shuffle_and_space_to_depth_undo_each_other(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	expect_ok(accel_function_pixel_shuffle(fixture.function, "a", "image", 2, &error));
	expect_shape(&fixture, "a", 4, SHAPE(2, 1, 8, 12));
	expect_ok(accel_function_space_to_depth(fixture.function, "y", "a", 2, &error));
	run(&fixture);
	assert_int_equal(fixture.info.map_class, ACCEL_CLASS_IDENTITY);
	fixture_finish(&fixture);
}

static void pixel_shuffle_is_one_job(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	expect_ok(accel_function_pixel_shuffle(fixture.function, "y", "image", 2, &error));
	run(&fixture);
	assert_int_equal(fixture.info.map_class, ACCEL_CLASS_BIJECTIVE);
	fixture_finish(&fixture);
}

/* Indices and parts ------------------------------------------------------------------------ */

static void gather_puts_indices_in_place_of_an_axis(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	expect_ok(accel_function_gather(fixture.function, "y", "image", 1, "grid", &error));
	expect_shape(&fixture, "y", 5, SHAPE(2, 3, 1, 4, 6));
	run(&fixture);
	fixture_finish(&fixture);
}

static void take_along_broadcasts(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	expect_ok(accel_function_take_along(fixture.function, "y", "x", 1, "grid", &error));
	expect_shape(&fixture, "y", 2, SHAPE(3, 1));
	run(&fixture);
	fixture_finish(&fixture);
}

static void index_that_is_too_large_fails(void **state)
{
	struct accel_tensor *tensors[3];
	struct accel_task *task;
	struct fixture fixture;

	(void)state;
	fixture_start(&fixture, 1);
	fixture_input(&fixture, "x", ACCEL_DTYPE_U8, 1, SHAPE(9), NULL, 0);
	fixture_input(&fixture, "r", ACCEL_DTYPE_U8, 1, SHAPE(1), NULL, 1);
	*fixture_address(fixture.inputs[1], SHAPE(0)) = 5;
	expect_ok(accel_function_slice(fixture.function, "a", "x", "2:7", &error));
	fixture_define(&fixture, "y[i] = a[r[i]]");
	fixture_output(&fixture, "y", NULL, NULL);
	expect_ok(accel_plan_create(fixture.function, NULL, &fixture.plan, &error));
	tensors[0] = fixture.inputs[0];
	tensors[1] = fixture.inputs[1];
	tensors[2] = fixture.outputs[0];
	expect_ok(accel_task_create(fixture.plan, 3, tensors, &task, &error));
	expect_ok(accel_task_submit(task, NULL, 0, &error));
	assert_int_equal(accel_task_wait(task, -1, &error), -EIO);
	accel_task_unref(task);
	fixture_finish(&fixture);
}

static void joined_tensors_fuse_with_what_uses_them(void **state)
{
	static const char *const sources[] = { "x", "a" };
	struct fixture fixture;

	(void)state;
	start(&fixture);
	fixture_define(&fixture, "a[i,j] = x[i,j] + 100");
	expect_ok(accel_function_concat(fixture.function, "b", 2, sources, 1, &error));
	expect_ok(accel_function_stack(fixture.function, "c", 2, sources, 0, &error));
	fixture_define(&fixture, "y[j,i] = b[i,j] * 2");
	fixture_define(&fixture, "z[k,j,i] = c[k,i,j] - 1");
	fixture_output(&fixture, "y", NULL, NULL);
	fixture_output(&fixture, "z", NULL, NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.passes, 3);
	fixture_finish(&fixture);
}

static void split_undoes_concat(void **state)
{
	static const char *const sources[] = { "x", "x" }, *const results[] = { "p", "q" };
	struct fixture fixture;

	(void)state;
	start(&fixture);
	expect_ok(accel_function_concat(fixture.function, "a", 2, sources, 0, &error));
	expect_ok(accel_function_split(fixture.function, 2, results, "a", 0, SHAPE(1, 5), &error));
	expect_shape(&fixture, "q", 2, SHAPE(5, 4));
	fixture_output(&fixture, "p", NULL, NULL);
	fixture_output(&fixture, "q", NULL, NULL);
	fixture_check_both(&fixture);
	fixture_finish(&fixture);
}

/* Types ------------------------------------------------------------------------------------ */

static void quantization_goes_there_and_back(void **state)
{
	struct fixture fixture;

	(void)state;
	start(&fixture);
	expect_ok(accel_function_quantize(fixture.function, "q", "f", ACCEL_DTYPE_I8, 0.5f, 3,
					  &error));
	expect_ok(accel_function_dequantize(fixture.function, "d", "q", 0.5f, 3, &error));
	expect_ok(accel_function_cast(fixture.function, "h", "d", ACCEL_DTYPE_F16, &error));
	fixture_output(&fixture, "h", NULL, NULL);
	fixture_check_both(&fixture);
	assert_int_equal(fixture.info.num_jobs, 1);
	fixture_finish(&fixture);
}

static void write_floats(struct fixture *fixture, const float from[7])
{
	for (int64_t index = 0; index < 7; index++)
		memcpy(fixture_address(fixture->inputs[4], &index), &from[index], sizeof(from[0]));
}

static void quantized_numbers_saturate(void **state)
{
	static const float from[] = { 0, 1, -1, 0.25, 0.75, 1000, -1000 };
	static const int8_t expected[] = { 3, 5, 1, 3, 5, 127, -128 };
	struct fixture fixture;

	(void)state;
	start(&fixture);
	write_floats(&fixture, from);
	expect_ok(accel_function_quantize(fixture.function, "y", "f", ACCEL_DTYPE_I8, 0.5f, 3,
					  &error));
	assert_memory_equal(run(&fixture), expected, sizeof(expected));
	fixture_finish(&fixture);
}

static void zero_point_is_added_before_quantized_numbers_saturate(void **state)
{
	static const float from[] = { 0, 100, 2147483648.0f, 3e9f, -100, -2147483648.0f, -3e9f };
	static const int32_t expected[] = {
		512, 612, INT32_MAX, INT32_MAX, 412, INT32_MIN + 512, INT32_MIN
	};
	struct fixture fixture;

	(void)state;
	start(&fixture);
	write_floats(&fixture, from);
	expect_ok(accel_function_quantize(fixture.function, "y", "f", ACCEL_DTYPE_I32, 1, 512,
					  &error));
	assert_memory_equal(run(&fixture), expected, sizeof(expected));
	fixture_finish(&fixture);
}

static void zero_point_may_be_outside_of_the_quantized_type(void **state)
{
	static const float from[] = { 0, -3e9f, 3e9f, -2147483648.0f, -2147483648.0f - 256, 1, -1 };
	static const int8_t expected[] = { 127, -128, 127, -1, -128, 127, 127 };
	struct fixture fixture;

	(void)state;
	start(&fixture);
	write_floats(&fixture, from);
	expect_ok(accel_function_quantize(fixture.function, "y", "f", ACCEL_DTYPE_I8, 1, INT32_MAX,
					  &error));
	assert_memory_equal(run(&fixture), expected, sizeof(expected));
	fixture_finish(&fixture);
}

static void dequantized_differences_do_not_saturate(void **state)
{
	static const float from[] = { 3e9f, -3e9f, 0, 0, 0, 0, 0 };
	static const float expected[] = {
		4294967296.0f, 0, 2147483648.0f, 2147483648.0f, 2147483648.0f, 2147483648.0f,
		2147483648.0f
	};
	struct fixture fixture;

	(void)state;
	start(&fixture);
	write_floats(&fixture, from);
	expect_ok(accel_function_quantize(fixture.function, "q", "f", ACCEL_DTYPE_I32, 1, 0,
					  &error));
	expect_ok(accel_function_dequantize(fixture.function, "y", "q", 1, INT32_MIN, &error));
	assert_memory_equal(run(&fixture), expected, sizeof(expected));
	fixture_finish(&fixture);
}

/* Refusals --------------------------------------------------------------------------------- */

static void operations_refuse_what_does_not_fit(void **state)
{
	static const struct accel_im2col too_large = { .kernel = { 5, 1 } };
	static const char *const unlike[] = { "x", "image" }, *const results[] = { "p", "q" };
	static const uint32_t twice[] = { 0, 0 };
	struct accel_function *function;
	struct fixture fixture;
	struct accel_map *map;

	(void)state;
	start(&fixture);
	function = fixture.function;
	expect_ok(accel_map_parse("(i, j) -> (i//2, j)", &map, &error));
	expect_failure(accel_function_map(function, "y", "x", map, NULL, &error), -EDOM,
		       "map to y: two elements go to the same place");
	accel_map_unref(map);
	expect_ok(accel_map_parse("(i) -> (i)", &map, &error));
	expect_failure(accel_function_unmap(function, "y", "x", map, 1, SHAPE(3), &error), -EINVAL,
		       "unmap to y: the map goes from 1 axes to 1, expected from 1 to the 2 of x");
	accel_map_unref(map);
	expect_failure(accel_function_permute(function, "y", "x", twice, &error), -EINVAL,
		       "permute to y: axis 0 at place 1, expected each of the 2 axes once");
	expect_failure(accel_function_reshape(function, "y", "x", 2, SHAPE(5, -1), &error), -EINVAL,
		       "reshape to y: x has 12 elements, the shape 5");
	expect_failure(accel_function_pad(function, "y", "x", SHAPE(-4, 0), SHAPE(0, 0), NULL,
					  &error), -EINVAL,
		       "pad to y: -4 before and 0 after the 3 elements of axis 0");
	expect_failure(accel_function_pad(function, "y", "x", SHAPE(1, 0), SHAPE(0, 0), wide,
					  &error), -EINVAL,
		       "definition of y: the padding has more bits than an element of u8");
	expect_failure(accel_function_broadcast(function, "y", "x", 2, SHAPE(3, 5), &error),
		       -EINVAL, "broadcast to y: axis 1 of x has 4 elements, expected 1 or 5");
	expect_failure(accel_function_repeat(function, "y", "x", 2, 1, &error), -EINVAL,
		       "repeat: axis 2 of x, which has 2 axes");
	expect_failure(accel_function_im2col(function, "y", "x", &too_large, &error), -EINVAL,
		       "im2col to y: x has 2 axes, expected 4");
	expect_failure(accel_function_im2col(function, "y", "image", &too_large, &error), -EINVAL,
		       "im2col to y: a kernel of 5 with dilation 1 does not fit 4 elements with 0 "
		       "around them");
	expect_failure(accel_function_pixel_shuffle(function, "y", "image", 3, &error), -EINVAL,
		       "pixel_shuffle to y: 4 channels, expected a multiple of 9");
	expect_failure(accel_function_space_to_depth(function, "y", "image", 4, &error), -EINVAL,
		       "space_to_depth to y: an image of 4x6, expected multiples of 4");
	expect_failure(accel_function_gather(function, "y", "x", 0, "f", &error), -EINVAL,
		       "definition of y: indices in f are f32, expected integers");
	expect_failure(accel_function_scatter(function, "y", "x", 1, "rows", 9, NULL, &error),
		       -EINVAL,
		       "scatter to y: expected indices of one axis with 4 elements, as axis 1 of x "
		       "has");
	expect_failure(accel_function_concat(function, "y", 2, unlike, 0, &error), -EINVAL,
		       "concat to y: x is u8 of 2 axes, image is u8 of 4 axes");
	expect_failure(accel_function_split(function, 2, results, "x", 0, SHAPE(1, 1), &error),
		       -EINVAL, "split of x: the sizes are 2 in all, axis 0 has 3 elements");
	expect_failure(accel_function_quantize(function, "y", "x", ACCEL_DTYPE_I8, 1, 0, &error),
		       -EINVAL, "definition of y: an operand is u8, expected f32");
	expect_failure(accel_function_quantize(function, "y", "f", ACCEL_DTYPE_I8, 0, 0, &error),
		       -EINVAL, "quantize: the scale is 0, expected a positive number");
	expect_failure(accel_function_dequantize(function, "y", "f", 1, 0, &error), -EINVAL,
		       "dequantize: quantized elements are f32, expected i8, u8, i16, u16 or i32");
	expect_failure(accel_function_permute(function, "y", "nothing", twice, &error), -ENOENT,
		       "tensor \"nothing\" is neither an input nor defined before");
	expect_failure(accel_function_permute(function, "x", "x", (const uint32_t[]){ 1, 0 },
					      &error), -EINVAL, "there is a tensor x already");
	fixture_finish(&fixture);
}

static void split_that_fails_defines_nothing(void **state)
{
	static const char *const results[] = { "p", "x" };
	struct fixture fixture;
	uint32_t before;

	(void)state;
	start(&fixture);
	before = fixture.function->num_tensors;
	expect_failure(accel_function_split(fixture.function, 2, results, "x", 0, SHAPE(1, 2),
					    &error), -EINVAL, "there is a tensor x already");
	assert_int_equal(fixture.function->num_tensors, before);
	fixture_finish(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(permute_transposes),
		cmocka_unit_test(reshape_finds_the_open_extent),
		cmocka_unit_test(slice_is_that_of_python),
		cmocka_unit_test(pad_adds_and_drops),
		cmocka_unit_test(broadcast_repeat_and_tile_expand),
		cmocka_unit_test(repeat_of_nothing_is_empty),
		cmocka_unit_test(map_is_pulled_through_its_inverse),
		cmocka_unit_test(map_without_an_inverse_is_pushed),
		cmocka_unit_test(unmap_drops_padding),
		cmocka_unit_test(im2col_of_three_by_three),
		cmocka_unit_test(im2col_of_every_kind),
		cmocka_unit_test(pixel_shuffle_and_space_to_depth_undo_each_other),
		cmocka_unit_test(pixel_shuffle_is_one_job),
		cmocka_unit_test(gather_puts_indices_in_place_of_an_axis),
		cmocka_unit_test(take_along_broadcasts),
		cmocka_unit_test(index_that_is_too_large_fails),
		cmocka_unit_test(joined_tensors_fuse_with_what_uses_them),
		cmocka_unit_test(split_undoes_concat),
		cmocka_unit_test(quantization_goes_there_and_back),
		cmocka_unit_test(quantized_numbers_saturate),
		cmocka_unit_test(zero_point_is_added_before_quantized_numbers_saturate),
		cmocka_unit_test(zero_point_may_be_outside_of_the_quantized_type),
		cmocka_unit_test(dequantized_differences_do_not_saturate),
		cmocka_unit_test(operations_refuse_what_does_not_fit),
		cmocka_unit_test(split_that_fails_defines_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
