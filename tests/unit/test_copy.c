// SPDX-License-Identifier: MIT
/*
 * Copies between tensors: the jobs that they become, what is refused, and random ones against
 * a walk over every index. `--seed N` replays one run of the random copies.
 */
#include "accel_test.h"
#include "seed.h"

static struct accel_error error;
static uint64_t seed;

/* Copies -------------------------------------------------------------------------------------- */

static struct accel_tensor *create(struct accel_device *device, enum accel_dtype dtype,
				   uint32_t rank, const int64_t *shape, const char *order,
				   const char *axes)
{
	struct accel_layout *layout = NULL;
	struct accel_tensor *tensor;

	if (order)
		expect_ok(accel_layout_parse(order, axes, &layout, &error));
	expect_ok(accel_tensor_create(device, dtype, rank, shape, layout, &tensor, &error));
	accel_layout_unref(layout);
	return tensor;
}

static void *map(struct accel_tensor *tensor)
{
	void *data;

	expect_ok(accel_buffer_map(accel_tensor_buffer(tensor), &data, &error));
	return data;
}

/* The only job of the plan that copies src to dst. */
static struct accel_plan *plan_one_job(struct accel_tensor *dst, struct accel_tensor *src)
{
	struct accel_plan_info info;
	struct accel_plan *plan;

	expect_ok(accel_plan_create_copy(dst, src, &plan, &error));
	accel_plan_info(plan, &info);
	assert_int_equal(info.num_jobs, 1);
	assert_int_equal(info.passes, 1);
	assert_int_equal(info.map_class, ACCEL_CLASS_BIJECTIVE);
	return plan;
}

static void nchw_to_nhwc_is_one_job_of_two_loops(void **state)
{
	static const int64_t shape[] = { 1, 64, 56, 56 };
	struct accel_tensor *src = create(*state, ACCEL_DTYPE_F32, 4, shape, NULL, NULL);
	struct accel_tensor *dst = create(*state, ACCEL_DTYPE_F32, 4, shape, "NHWC", "NCHW");
	struct accel_plan *plan = plan_one_job(dst, src);
	const struct accel_plan_job *job = accel_plan_job(plan, 0);

	assert_int_equal(job->rank, 2);
	assert_int_equal(job->extents[0], 3136);
	assert_int_equal(job->extents[1], 64);
	assert_int_equal(job->operands[0].address.strides[0], 256);
	assert_int_equal(job->operands[0].address.strides[1], 4);
	assert_int_equal(job->operands[1].address.strides[0], 4);
	assert_int_equal(job->operands[1].address.strides[1], 12544);
	accel_plan_unref(plan);
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
}

static void what_runs_on_is_one_loop(void **state)
{
	static const int64_t shape[] = { 4, 1, 6 }, strides[] = { 12, 7, 2 };
	struct accel_buffer *buffer;
	struct accel_tensor *src, *dst;
	struct accel_plan *plan;

	expect_ok(accel_buffer_create(*state, 4096, &buffer, &error));
	expect_ok(accel_tensor_from_buffer(buffer, ACCEL_DTYPE_U8, 3, shape, strides, 5, &src,
					   &error));
	dst = create(*state, ACCEL_DTYPE_U8, 3, shape, NULL, NULL);
	plan = plan_one_job(dst, src);
	assert_int_equal(accel_plan_job(plan, 0)->rank, 1);
	assert_int_equal(accel_plan_job(plan, 0)->extents[0], 24);
	assert_int_equal(accel_plan_job(plan, 0)->operands[1].address.offset, 5);
	assert_int_equal(accel_plan_job(plan, 0)->operands[1].address.strides[0], 2);
	accel_plan_unref(plan);
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
	accel_buffer_unref(buffer);
}

static void copy_from_one_blocked_layout_to_another_is_one_job(void **state)
{
	static const int64_t shape[] = { 2, 32, 5, 7 };
	struct accel_tensor *src = create(*state, ACCEL_DTYPE_U8, 4, shape, "NCHW4c", "NCHW");
	struct accel_tensor *dst = create(*state, ACCEL_DTYPE_U8, 4, shape, "NCHW16c", "NCHW");

	accel_plan_unref(plan_one_job(dst, src));
	for (int i = 0; i < 2240; i++)
		((uint8_t *)map(src))[i] = (uint8_t)(i % 251);
	expect_ok(accel_copy(dst, src, &error));
	/* (n, c, h, w) is at (n, c//b, h, w, c%b): here (1, 21, 3, 2) */
	assert_int_equal(((uint8_t *)map(dst))[(((1 * 2 + 1) * 5 + 3) * 7 + 2) * 16 + 5],
			 ((uint8_t *)map(src))[(((1 * 8 + 5) * 5 + 3) * 7 + 2) * 4 + 1]);
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
}

static void padding_of_the_destination_is_left_alone(void **state)
{
	static const int64_t shape[] = { 1, 5 };
	struct accel_tensor *src = create(*state, ACCEL_DTYPE_U8, 2, shape, NULL, NULL);
	struct accel_tensor *dst = create(*state, ACCEL_DTYPE_U8, 2, shape, "NC4c", "NC");

	memcpy(map(src), "abcde", 5);
	memset(map(dst), '.', 8);
	expect_ok(accel_copy(dst, src, &error));
	assert_memory_equal(map(dst), "abcde...", 8);
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
}

static void part_of_a_blocked_tensor_is_copied(void **state)
{
	static const int64_t shape[] = { 1, 8 };
	struct accel_tensor *src = create(*state, ACCEL_DTYPE_U8, 2, shape, "NC4c", "NC");
	struct accel_tensor *part, *dst;

	memcpy(map(src), "abcdefgh", 8);
	/* channels 6, 4, 2 */
	expect_ok(accel_tensor_slice_text(src, ":, 6:1:-2", &part, &error));
	dst = create(*state, ACCEL_DTYPE_U8, 2, accel_tensor_shape(part), NULL, NULL);
	expect_ok(accel_copy(dst, part, &error));
	assert_memory_equal(map(dst), "gec", 3);
	accel_tensor_unref(part);
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
}

static void transposed_copy_moves_each_element(void **state)
{
	static const int64_t shape[] = { 2, 3 };
	static const uint32_t input[] = { 1, 2, 3, 4, 5, 6 };
	static const uint32_t expected[] = { 1, 4, 2, 5, 3, 6 };
	struct accel_tensor *src = create(*state, ACCEL_DTYPE_U32, 2, shape, NULL, NULL);
	struct accel_tensor *dst = create(*state, ACCEL_DTYPE_U32, 2, shape, "WH", "HW");

	memcpy(map(src), input, sizeof(input));
	expect_ok(accel_copy(dst, src, &error));
	assert_memory_equal(map(dst), expected, sizeof(expected));
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
}

static void empty_copy_does_nothing(void **state)
{
	static const int64_t shape[] = { 2, 0, 3 };
	struct accel_tensor *src = create(*state, ACCEL_DTYPE_U32, 3, shape, NULL, NULL);
	struct accel_tensor *dst = create(*state, ACCEL_DTYPE_U32, 3, shape, "CBA", "ABC");

	expect_ok(accel_copy(dst, src, &error));
	assert_int_equal(*(uint32_t *)map(dst), 0);
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
}

static void scalar_is_copied(void **state)
{
	struct accel_tensor *src = create(*state, ACCEL_DTYPE_U16, 0, NULL, NULL, NULL);
	struct accel_tensor *dst = create(*state, ACCEL_DTYPE_U16, 0, NULL, NULL, NULL);

	*(uint16_t *)map(src) = 0x1234;
	expect_ok(accel_copy(dst, src, &error));
	assert_int_equal(*(uint16_t *)map(dst), 0x1234);
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
}

static void raw_elements_take_any_of_their_size(void **state)
{
	static const int64_t shape[] = { 2 };
	static const float input[] = { 1.5f, -2 };
	struct accel_tensor *src = create(*state, ACCEL_DTYPE_F32, 1, shape, NULL, NULL);
	struct accel_tensor *dst = create(*state, ACCEL_DTYPE_RAW32, 1, shape, NULL, NULL);

	memcpy(map(src), input, sizeof(input));
	expect_ok(accel_copy(dst, src, &error));
	assert_memory_equal(map(dst), input, sizeof(input));
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
}

static void copy_async_gives_a_fence(void **state)
{
	static const int64_t shape[] = { 2 };
	struct accel_tensor *src = create(*state, ACCEL_DTYPE_U8, 1, shape, NULL, NULL);
	struct accel_tensor *dst = create(*state, ACCEL_DTYPE_U8, 1, shape, NULL, NULL);
	struct accel_fence *fence;

	memcpy(map(src), "ab", 2);
	expect_ok(accel_copy_async(dst, src, &fence, &error));
	expect_ok(accel_fence_wait(fence, -1, &error));
	assert_memory_equal(map(dst), "ab", 2);
	accel_fence_unref(fence);
	expect_ok(accel_copy_async(dst, src, NULL, &error));
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
}

static void other_dtype_is_refused(void **state)
{
	static const int64_t shape[] = { 2 };
	struct accel_tensor *src = create(*state, ACCEL_DTYPE_F32, 1, shape, NULL, NULL);
	struct accel_tensor *same_size = create(*state, ACCEL_DTYPE_I32, 1, shape, NULL, NULL);
	struct accel_tensor *raw = create(*state, ACCEL_DTYPE_RAW16, 1, shape, NULL, NULL);

	expect_failure(accel_copy(same_size, src, &error), -EINVAL,
		       "copy: the destination has elements of i32, the source of f32; expected the "
		       "same, or a raw type of the same size");
	expect_failure(accel_copy(raw, src, &error), -EINVAL,
		       "copy: the destination has elements of raw16, the source of f32; expected "
		       "the same, or a raw type of the same size");
	accel_tensor_unref(src);
	accel_tensor_unref(same_size);
	accel_tensor_unref(raw);
}

static void other_rank_is_refused(void **state)
{
	static const int64_t shape[] = { 2, 1 };
	struct accel_tensor *src = create(*state, ACCEL_DTYPE_U8, 1, shape, NULL, NULL);
	struct accel_tensor *dst = create(*state, ACCEL_DTYPE_U8, 2, shape, NULL, NULL);

	expect_failure(accel_copy(dst, src, &error), -EINVAL,
		       "copy: the destination has 2 axes, the source 1; expected the same shape");
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
}

static void other_shape_is_refused(void **state)
{
	static const int64_t src_shape[] = { 2, 3 }, dst_shape[] = { 2, 4 };
	struct accel_tensor *src = create(*state, ACCEL_DTYPE_U8, 2, src_shape, NULL, NULL);
	struct accel_tensor *dst = create(*state, ACCEL_DTYPE_U8, 2, dst_shape, NULL, NULL);

	expect_failure(accel_copy(dst, src, &error), -EINVAL,
		       "copy: axis 1 has 4 elements in the destination and 3 in the source; "
		       "expected the same shape");
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
}

static void tensors_of_two_devices_are_refused(void **state)
{
	static const int64_t shape[] = { 2 };
	struct accel_device *other;
	struct accel_tensor *src, *dst;

	expect_ok(accel_open("cpu", &other, &error));
	src = create(*state, ACCEL_DTYPE_U8, 1, shape, NULL, NULL);
	dst = create(other, ACCEL_DTYPE_U8, 1, shape, NULL, NULL);
	expect_failure(accel_copy(dst, src, &error), -EXDEV,
		       "bind: output \"destination\" is on another device than those before it");
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
	accel_device_unref(other);
}

static void nine_loops_are_several_jobs(void **state)
{
	static const int64_t shape[] = { 2, 2, 2, 2, 2, 2, 2, 2, 2 };
	struct accel_tensor *src = create(*state, ACCEL_DTYPE_U16, 9, shape, NULL, NULL);
	struct accel_tensor *dst =
		create(*state, ACCEL_DTYPE_U16, 9, shape, "IHGFEDCBA", "ABCDEFGHI");
	struct accel_job *job;

	for (int i = 0; i < 512; i++)
		((uint16_t *)map(src))[i] = (uint16_t)i;
	expect_failure(accel_job_create_copy(dst, src, &job, &error), -E2BIG,
		       "copy: it needs 2 jobs, expected one");
	expect_ok(accel_copy(dst, src, &error));
	/* the bits of the index turned round */
	assert_int_equal(((uint16_t *)map(dst))[0x0c5], 0x146);
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
}

static void sixteen_axes_that_run_on_are_copied(void **state)
{
	static const int64_t shape[16] = { 2, 2, 1, 2, 2, 1, 1, 2, 2, 2, 1, 1, 2, 2, 1, 2 };
	struct accel_tensor *src = create(*state, ACCEL_DTYPE_U8, 16, shape, NULL, NULL);
	struct accel_tensor *dst = create(*state, ACCEL_DTYPE_U8, 16, shape, NULL, NULL);

	for (int i = 0; i < 1024; i++)
		((uint8_t *)map(src))[i] = (uint8_t)(i * 7);
	expect_ok(accel_copy(dst, src, &error));
	assert_memory_equal(map(dst), map(src), 1024);
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
}

static void destination_that_overlaps_its_source_is_refused(void **state)
{
	static const int64_t shape[] = { 100 };
	struct accel_buffer *buffer;
	struct accel_tensor *src, *dst;

	expect_ok(accel_buffer_create(*state, 4096, &buffer, &error));
	expect_ok(accel_tensor_from_buffer(buffer, ACCEL_DTYPE_U8, 1, shape, NULL, 0, &src,
					   &error));
	expect_ok(accel_tensor_from_buffer(buffer, ACCEL_DTYPE_U8, 1, shape, NULL, 1, &dst,
					   &error));
	assert_int_equal(accel_copy(dst, src, &error), -EINVAL);
	assert_non_null(strstr(error.message, "overlap"));
	expect_ok(accel_copy(src, src, &error));
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
	accel_buffer_unref(buffer);
}

static void stores_that_collide_are_refused(void **state)
{
	static const int64_t shape[] = { 100 }, strides[] = { 0 };
	struct accel_buffer *buffer;
	struct accel_tensor *src, *dst;

	expect_ok(accel_buffer_create(*state, 4096, &buffer, &error));
	src = create(*state, ACCEL_DTYPE_U8, 1, shape, NULL, NULL);
	expect_ok(accel_tensor_from_buffer(buffer, ACCEL_DTYPE_U8, 1, shape, strides, 0, &dst,
					   &error));
	assert_int_equal(accel_copy(dst, src, &error), -EINVAL);
	/* the other way round it is a broadcast */
	expect_ok(accel_copy(src, dst, &error));
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
	accel_buffer_unref(buffer);
}

/* Random copies ------------------------------------------------------------------------------- */

static struct random random_state;

static uint64_t draw(uint64_t limit)
{
	return random_next(&random_state) % limit;
}

/* Strides of a shape in a random order of axes, with gaps, some of them downwards. */
static struct accel_tensor *draw_tensor(struct accel_device *device, enum accel_dtype dtype,
					uint32_t rank, const int64_t *shape)
{
	int64_t strides[ACCEL_MAX_DIMS], offset = (int64_t)draw(3), stride = 1;
	uint32_t axes[ACCEL_MAX_DIMS];
	struct accel_buffer *buffer;
	struct accel_tensor *tensor;

	for (uint32_t i = 0; i < rank; i++) {
		uint32_t j = (uint32_t)draw(i + 1);

		axes[i] = axes[j];
		axes[j] = i;
	}
	for (uint32_t i = 0; i < rank; i++) {
		bool is_down = !draw(4);

		strides[axes[i]] = is_down ? -stride : stride;
		offset += is_down && shape[axes[i]] ? (shape[axes[i]] - 1) * stride : 0;
		stride = stride * (shape[axes[i]] ? shape[axes[i]] : 1) + (int64_t)draw(2);
	}
	expect_ok(accel_buffer_create(device, ((uint64_t)stride + 3) * accel_dtype_size(dtype),
				      &buffer, &error));
	expect_ok(accel_tensor_from_buffer(buffer, dtype, rank, shape, strides, offset, &tensor,
					   &error));
	accel_buffer_unref(buffer);
	return tensor;
}

/* What dst's buffer must hold: element by element on top of what was there. */
static void copy_by_index(struct accel_tensor *dst, struct accel_tensor *src, uint8_t *expected)
{
	size_t size = accel_dtype_size(accel_tensor_dtype(dst));
	int64_t index[ACCEL_MAX_DIMS] = { 0 };
	const uint8_t *input = map(src);

	for (int64_t n = accel_tensor_num_elements(dst); n; n--) {
		int64_t to, from;

		expect_ok(accel_tensor_element(dst, index, &to, &error));
		expect_ok(accel_tensor_element(src, index, &from, &error));
		memcpy(expected + (size_t)to * size, input + (size_t)from * size, size);
		for (uint32_t axis = accel_tensor_rank(dst); axis--;) {
			if (++index[axis] < accel_tensor_shape(dst)[axis])
				break;
			index[axis] = 0;
		}
	}
}

static void random_copies_equal_a_walk_over_every_index(void **state)
{
	static const enum accel_dtype dtypes[] = {
		ACCEL_DTYPE_U8, ACCEL_DTYPE_F16, ACCEL_DTYPE_F32, ACCEL_DTYPE_F64,
		ACCEL_DTYPE_RAW128,
	};

	random_state.state = seed;
	for (int run = 0; run < 2000; run++) {
		uint32_t rank = (uint32_t)draw(7);
		enum accel_dtype dtype = dtypes[draw(COUNT(dtypes))];
		int64_t shape[ACCEL_MAX_DIMS];
		struct accel_tensor *src, *dst;
		uint8_t *expected;
		uint64_t size;

		for (uint32_t i = 0; i < rank; i++)
			shape[i] = (int64_t)draw(rank > 4 ? 4 : 8) + (draw(8) ? 1 : 0);
		src = draw_tensor(*state, dtype, rank, shape);
		dst = draw_tensor(*state, dtype, rank, shape);
		for (uint64_t i = 0; i < accel_buffer_size(accel_tensor_buffer(src)); i++)
			((uint8_t *)map(src))[i] = (uint8_t)draw(256);
		size = accel_buffer_size(accel_tensor_buffer(dst));
		expected = calloc(1, size);
		copy_by_index(dst, src, expected);
		expect_ok(accel_copy(dst, src, &error));
		assert_memory_equal(map(dst), expected, size);
		free(expected);
		accel_tensor_unref(src);
		accel_tensor_unref(dst);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nchw_to_nhwc_is_one_job_of_two_loops),
		cmocka_unit_test(what_runs_on_is_one_loop),
		cmocka_unit_test(copy_from_one_blocked_layout_to_another_is_one_job),
		cmocka_unit_test(padding_of_the_destination_is_left_alone),
		cmocka_unit_test(part_of_a_blocked_tensor_is_copied),
		cmocka_unit_test(transposed_copy_moves_each_element),
		cmocka_unit_test(empty_copy_does_nothing),
		cmocka_unit_test(scalar_is_copied),
		cmocka_unit_test(raw_elements_take_any_of_their_size),
		cmocka_unit_test(copy_async_gives_a_fence),
		cmocka_unit_test(other_dtype_is_refused),
		cmocka_unit_test(other_rank_is_refused),
		cmocka_unit_test(other_shape_is_refused),
		cmocka_unit_test(tensors_of_two_devices_are_refused),
		cmocka_unit_test(nine_loops_are_several_jobs),
		cmocka_unit_test(sixteen_axes_that_run_on_are_copied),
		cmocka_unit_test(destination_that_overlaps_its_source_is_refused),
		cmocka_unit_test(stores_that_collide_are_refused),
		cmocka_unit_test(random_copies_equal_a_walk_over_every_index),
	};

	seed = seed_from_arguments(argc, argv);
	return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
