// SPDX-License-Identifier: MIT
/*
 * Tensors and element types: what is made, what is refused, and where elements are.
 */
#include "accel_test.h"

static struct accel_error error;

static struct accel_buffer *create_page(struct accel_device *device)
{
	struct accel_buffer *buffer;

	expect_ok(accel_buffer_create(device, 4096, &buffer, &error));
	assert_int_equal(accel_buffer_size(buffer), 4096);
	return buffer;
}

static void dtype_names_are_parsed_back(void **state)
{
	static const struct {
		enum accel_dtype dtype;
		const char *name;
		size_t size;
	} dtypes[] = {
		{ ACCEL_DTYPE_U8, "u8", 1 }, { ACCEL_DTYPE_I8, "i8", 1 },
		{ ACCEL_DTYPE_U16, "u16", 2 }, { ACCEL_DTYPE_I16, "i16", 2 },
		{ ACCEL_DTYPE_U32, "u32", 4 }, { ACCEL_DTYPE_I32, "i32", 4 },
		{ ACCEL_DTYPE_U64, "u64", 8 }, { ACCEL_DTYPE_I64, "i64", 8 },
		{ ACCEL_DTYPE_F16, "f16", 2 }, { ACCEL_DTYPE_BF16, "bf16", 2 },
		{ ACCEL_DTYPE_F32, "f32", 4 }, { ACCEL_DTYPE_F64, "f64", 8 },
		{ ACCEL_DTYPE_RAW8, "raw8", 1 }, { ACCEL_DTYPE_RAW16, "raw16", 2 },
		{ ACCEL_DTYPE_RAW32, "raw32", 4 }, { ACCEL_DTYPE_RAW64, "raw64", 8 },
		{ ACCEL_DTYPE_RAW128, "raw128", 16 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(dtypes); i++) {
		enum accel_dtype parsed;

		assert_string_equal(accel_dtype_name(dtypes[i].dtype), dtypes[i].name);
		assert_int_equal(accel_dtype_size(dtypes[i].dtype), dtypes[i].size);
		expect_ok(accel_dtype_parse(dtypes[i].name, &parsed, &error));
		assert_int_equal(parsed, dtypes[i].dtype);
	}
}

static void unknown_dtype_has_no_size_and_no_name(void **state)
{
	(void)state;
	assert_int_equal(accel_dtype_size((enum accel_dtype)0x30), 0);
	assert_null(accel_dtype_name((enum accel_dtype)0x30));
}

static void unknown_dtype_name_is_refused(void **state)
{
	enum accel_dtype dtype;

	(void)state;
	expect_failure(accel_dtype_parse("float", &dtype, &error), -EINVAL,
		       "element type \"float\": expected u8, i8, u16, i16, f16, bf16, u32, i32, "
		       "f32, u64, i64, f64 or raw8 to raw128");
}

static void tensor_of_a_layout_has_its_strides(void **state)
{
	static const int64_t shape[] = { 1, 64, 56, 56 };
	static const int64_t strides[] = { 200704, 1, 3584, 64 };
	struct accel_tensor *tensor;
	struct accel_layout *layout;

	expect_ok(accel_layout_parse("NHWC", "NCHW", &layout, &error));
	expect_ok(accel_tensor_create(*state, ACCEL_DTYPE_F32, 4, shape, layout, &tensor, &error));
	assert_ptr_equal(accel_tensor_layout(tensor), layout);
	accel_layout_unref(layout);
	assert_int_equal(accel_tensor_rank(tensor), 4);
	assert_int_equal(accel_tensor_dtype(tensor), ACCEL_DTYPE_F32);
	assert_memory_equal(accel_tensor_shape(tensor), shape, sizeof(shape));
	assert_memory_equal(accel_tensor_strides(tensor), strides, sizeof(strides));
	assert_int_equal(accel_tensor_offset(tensor), 0);
	assert_int_equal(accel_tensor_num_elements(tensor), 200704);
	assert_true(accel_buffer_size(accel_tensor_buffer(tensor)) >= 802816);
	accel_tensor_unref(tensor);
}

static void element_is_where_the_strides_say(void **state)
{
	static const int64_t shape[] = { 1, 64, 56, 56 };
	static const int64_t index[] = { 0, 32, 28, 28 };
	struct accel_tensor *nchw, *nhwc;
	struct accel_layout *layout;
	int64_t element;

	expect_ok(accel_layout_parse("NHWC", "NCHW", &layout, &error));
	expect_ok(accel_tensor_create(*state, ACCEL_DTYPE_F32, 4, shape, NULL, &nchw, &error));
	expect_ok(accel_tensor_create(*state, ACCEL_DTYPE_F32, 4, shape, layout, &nhwc, &error));
	expect_ok(accel_tensor_element(nchw, index, &element, &error));
	assert_int_equal(element, 101948);
	expect_ok(accel_tensor_element(nhwc, index, &element, &error));
	assert_int_equal(element, 102176);
	accel_layout_unref(layout);
	accel_tensor_unref(nchw);
	accel_tensor_unref(nhwc);
}

static void element_counts_offset_and_negative_strides(void **state)
{
	static const int64_t shape[] = { 3, 4 }, strides[] = { 10, -2 }, index[] = { 2, 3 };
	struct accel_buffer *buffer = create_page(*state);
	struct accel_tensor *tensor;
	int64_t element;

	expect_ok(accel_tensor_from_buffer(buffer, ACCEL_DTYPE_U8, 2, shape, strides, 7, &tensor,
					   &error));
	expect_ok(accel_tensor_element(tensor, index, &element, &error));
	assert_int_equal(element, 7 + 20 - 6);
	accel_tensor_unref(tensor);
	accel_buffer_unref(buffer);
}

static void index_past_its_axis_is_refused(void **state)
{
	static const int64_t shape[] = { 3, 4 };
	static const int64_t past[] = { 2, 4 }, below[] = { -1, 0 };
	struct accel_tensor *tensor;
	int64_t element;

	expect_ok(accel_tensor_create(*state, ACCEL_DTYPE_U8, 2, shape, NULL, &tensor, &error));
	expect_failure(accel_tensor_element(tensor, past, &element, &error), -ERANGE,
		       "tensor: index 4 on axis 1, expected 0 or more and less than 4");
	expect_failure(accel_tensor_element(tensor, below, &element, &error), -ERANGE,
		       "tensor: index -1 on axis 0, expected 0 or more and less than 3");
	accel_tensor_unref(tensor);
}

static void tensor_may_fill_its_buffer(void **state)
{
	static const int64_t shape[] = { 1024 };
	struct accel_buffer *buffer = create_page(*state);
	struct accel_tensor *tensor;

	expect_ok(accel_tensor_from_buffer(buffer, ACCEL_DTYPE_F32, 1, shape, NULL, 0, &tensor,
					   &error));
	accel_tensor_unref(tensor);
	accel_buffer_unref(buffer);
}

static void tensor_past_its_buffer_is_refused(void **state)
{
	static const int64_t shape[] = { 1024 };
	struct accel_buffer *buffer = create_page(*state);
	struct accel_tensor *tensor = (void *)1;

	expect_failure(accel_tensor_from_buffer(buffer, ACCEL_DTYPE_F32, 1, shape, NULL, 1,
						&tensor, &error), -ERANGE,
		       "tensor: it reaches byte 4099 of a buffer of 4096 bytes");
	assert_null(tensor);
	accel_buffer_unref(buffer);
}

static void tensor_below_its_buffer_is_refused(void **state)
{
	static const int64_t shape[] = { 3 }, strides[] = { -1 };
	struct accel_buffer *buffer = create_page(*state);
	struct accel_tensor *tensor;

	expect_failure(accel_tensor_from_buffer(buffer, ACCEL_DTYPE_F32, 1, shape, strides, 1,
						&tensor, &error), -ERANGE,
		       "tensor: its lowest element is -1, below its buffer, expected 0 or more");
	accel_buffer_unref(buffer);
}

static void layout_below_its_buffer_is_refused(void **state)
{
	static const int64_t shape[] = { 3 };
	struct accel_tensor *tensor;
	struct accel_layout *layout;

	expect_ok(accel_layout_parse("strides:-1@1", NULL, &layout, &error));
	expect_failure(accel_tensor_create(*state, ACCEL_DTYPE_F32, 1, shape, layout, &tensor,
					   &error), -ERANGE,
		       "layout: its lowest element is at -1, expected 0 or more");
	accel_layout_unref(layout);
}

static void empty_tensor_may_be_anywhere(void **state)
{
	static const int64_t shape[] = { 5, 0 }, strides[] = { INT64_MIN, INT64_MAX };
	struct accel_buffer *buffer = create_page(*state);
	struct accel_tensor *tensor;

	expect_ok(accel_tensor_from_buffer(buffer, ACCEL_DTYPE_F32, 2, shape, strides, -9, &tensor,
					   &error));
	assert_int_equal(accel_tensor_num_elements(tensor), 0);
	accel_tensor_unref(tensor);
	accel_buffer_unref(buffer);
}

static void scalar_has_one_element(void **state)
{
	struct accel_tensor *tensor;
	int64_t element = -1;

	expect_ok(accel_tensor_create(*state, ACCEL_DTYPE_F64, 0, NULL, NULL, &tensor, &error));
	assert_int_equal(accel_tensor_num_elements(tensor), 1);
	expect_ok(accel_tensor_element(tensor, NULL, &element, &error));
	assert_int_equal(element, 0);
	accel_tensor_unref(tensor);
}

static void unknown_dtype_is_refused(void **state)
{
	struct accel_tensor *tensor;

	expect_failure(accel_tensor_create(*state, (enum accel_dtype)3, 0, NULL, NULL, &tensor,
					   &error), -EINVAL,
		       "tensor: no element type has the number 3");
}

static void too_many_axes_are_refused(void **state)
{
	int64_t shape[17] = { 0 };
	struct accel_tensor *tensor;

	expect_failure(accel_tensor_create(*state, ACCEL_DTYPE_U8, 17, shape, NULL, &tensor,
					   &error), -EINVAL,
		       "tensor: 17 axes, expected at most 16");
}

static void negative_extent_is_refused(void **state)
{
	static const int64_t shape[] = { 0, -1 };
	struct accel_tensor *tensor;

	expect_failure(accel_tensor_create(*state, ACCEL_DTYPE_U8, 2, shape, NULL, &tensor,
					   &error), -EINVAL,
		       "tensor: extent 1 is -1, expected 0 or more");
}

static void number_of_elements_beyond_63_bits_is_refused(void **state)
{
	static const int64_t shape[] = { INT64_MAX, 2 }, strides[] = { 0, 0 };
	struct accel_buffer *buffer = create_page(*state);
	struct accel_tensor *tensor;

	expect_failure(accel_tensor_from_buffer(buffer, ACCEL_DTYPE_U8, 2, shape, strides, 0,
						&tensor, &error), -EOVERFLOW,
		       "tensor: the number of elements does not fit 63 bits");
	accel_buffer_unref(buffer);
}

static void strides_of_an_empty_shape_beyond_63_bits_are_refused(void **state)
{
	static const int64_t shape[] = { 0, INT64_MAX, 2 };
	struct accel_tensor *tensor;

	expect_failure(accel_tensor_create(*state, ACCEL_DTYPE_U8, 3, shape, NULL, &tensor,
					   &error), -EOVERFLOW,
		       "tensor: the strides of this shape do not fit 63 bits");
}

static void reach_beyond_64_bits_is_refused(void **state)
{
	static const int64_t shape[] = { 3 }, strides[] = { INT64_MAX };
	struct accel_buffer *buffer = create_page(*state);
	struct accel_tensor *tensor;

	expect_failure(accel_tensor_from_buffer(buffer, ACCEL_DTYPE_U8, 1, shape, strides, 0,
						&tensor, &error), -EOVERFLOW,
		       "tensor: extent 3 with stride 9223372036854775807 on axis 0 does not fit "
		       "64 bits");
	accel_buffer_unref(buffer);
}

static void bytes_beyond_63_bits_are_refused(void **state)
{
	static const int64_t shape[] = { INT64_MAX };
	struct accel_tensor *tensor;

	expect_failure(accel_tensor_create(*state, ACCEL_DTYPE_U16, 1, shape, NULL, &tensor,
					   &error), -EOVERFLOW,
		       "tensor: element 9223372036854775806 of 2 bytes: the address does not fit "
		       "63 bits");
}

static void layout_of_another_rank_is_refused(void **state)
{
	static const int64_t shape[] = { 3 };
	struct accel_tensor *tensor;
	struct accel_layout *layout;

	expect_ok(accel_layout_parse("HW", NULL, &layout, &error));
	expect_failure(accel_tensor_create(*state, ACCEL_DTYPE_U8, 1, shape, layout, &tensor,
					   &error), -EINVAL,
		       "layout of 2 axes: the shape has 1, expected 2");
	accel_layout_unref(layout);
}

static void tensor_keeps_its_buffer_and_device(void **state)
{
	static const int64_t shape[] = { 4 };
	struct accel_device *device;
	struct accel_tensor *tensor;
	struct accel_buffer *buffer;
	void *data;

	(void)state;
	expect_ok(accel_open("cpu", &device, &error));
	buffer = create_page(device);
	accel_device_unref(device);
	expect_ok(accel_tensor_from_buffer(buffer, ACCEL_DTYPE_U8, 1, shape, NULL, 0, &tensor,
					   &error));
	accel_buffer_unref(buffer);
	assert_ptr_equal(accel_tensor_ref(tensor), tensor);
	accel_tensor_unref(tensor);
	expect_ok(accel_buffer_map(accel_tensor_buffer(tensor), &data, &error));
	memset(data, 1, 4096);
	accel_tensor_unref(tensor);
	accel_tensor_unref(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dtype_names_are_parsed_back),
		cmocka_unit_test(unknown_dtype_has_no_size_and_no_name),
		cmocka_unit_test(unknown_dtype_name_is_refused),
		cmocka_unit_test(tensor_of_a_layout_has_its_strides),
		cmocka_unit_test(element_is_where_the_strides_say),
		cmocka_unit_test(element_counts_offset_and_negative_strides),
		cmocka_unit_test(index_past_its_axis_is_refused),
		cmocka_unit_test(tensor_may_fill_its_buffer),
		cmocka_unit_test(tensor_past_its_buffer_is_refused),
		cmocka_unit_test(tensor_below_its_buffer_is_refused),
		cmocka_unit_test(layout_below_its_buffer_is_refused),
		cmocka_unit_test(empty_tensor_may_be_anywhere),
		cmocka_unit_test(scalar_has_one_element),
		cmocka_unit_test(unknown_dtype_is_refused),
		cmocka_unit_test(too_many_axes_are_refused),
		cmocka_unit_test(negative_extent_is_refused),
		cmocka_unit_test(number_of_elements_beyond_63_bits_is_refused),
		cmocka_unit_test(strides_of_an_empty_shape_beyond_63_bits_are_refused),
		cmocka_unit_test(reach_beyond_64_bits_is_refused),
		cmocka_unit_test(bytes_beyond_63_bits_are_refused),
		cmocka_unit_test(layout_of_another_rank_is_refused),
		cmocka_unit_test(tensor_keeps_its_buffer_and_device),
	};

	return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
