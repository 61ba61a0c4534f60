// SPDX-License-Identifier: MIT
/*
 * Tensors in layouts that split axes, tensors without a buffer, and which are laid out alike.
 */
#include "accel_test.h"
#include "tensor/tensor.h"

static struct accel_error error;

#define SHAPE(...)	COUNT(((int64_t[]){ __VA_ARGS__ })), (const int64_t[]){ __VA_ARGS__ }

static struct accel_layout *parse(const char *notation)
{
	struct accel_layout *layout;

	expect_ok(accel_layout_parse(notation, NULL, &layout, &error));
	return layout;
}

static struct accel_tensor *create(void *device, const char *notation, uint32_t rank,
				   const int64_t *shape)
{
	struct accel_layout *layout = notation ? parse(notation) : NULL;
	struct accel_tensor *tensor;

	expect_ok(accel_tensor_create(device, ACCEL_DTYPE_F32, rank, shape, layout, &tensor,
				      &error));
	accel_layout_unref(layout);
	return tensor;
}

static struct accel_tensor *describe(const char *notation, uint32_t rank, const int64_t *shape)
{
	struct accel_layout *layout = notation ? parse(notation) : NULL;
	struct accel_tensor *tensor;

	expect_ok(tensor_describe(ACCEL_DTYPE_F32, rank, shape, layout, &tensor, &error));
	accel_layout_unref(layout);
	return tensor;
}

static void blocked_tensor_has_room_for_its_padding(void **state)
{
	struct accel_tensor *tensor = create(*state, "NCHW16c", SHAPE(1, 30, 7, 11));
	static const int64_t last[] = { 0, 29, 6, 10 };
	int64_t element;

	assert_null(accel_tensor_strides(tensor));
	assert_non_null(accel_tensor_layout(tensor));
	assert_false(accel_tensor_is_contiguous(tensor));
	assert_true(accel_buffer_size(accel_tensor_buffer(tensor)) >= 2 * 7 * 11 * 16 * 4);
	expect_ok(accel_tensor_element(tensor, last, &element, &error));
	assert_int_equal(element, 77 * 16 + 76 * 16 + 13);
	accel_tensor_unref(tensor);
}

static void padding_is_zero(void **state)
{
	struct accel_tensor *tensor = create(*state, "NCHW16c", SHAPE(1, 3, 2, 2));
	static const char zeros[256];
	void *data;

	expect_ok(accel_buffer_map(accel_tensor_buffer(tensor), &data, &error));
	assert_memory_equal(data, zeros, sizeof(zeros));
	accel_tensor_unref(tensor);
}

static void block_of_one_value_has_strides(void **state)
{
	struct accel_tensor *tensor = create(*state, "NCHW1c", SHAPE(2, 3, 4, 5));

	assert_non_null(accel_tensor_strides(tensor));
	assert_true(accel_tensor_is_contiguous(tensor));
	accel_tensor_unref(tensor);
}

static void axis_that_is_there_twice_has_the_sum_of_strides(void **state)
{
	struct accel_tensor *tensor = create(*state, "(i) -> (i, i)", SHAPE(5));

	assert_non_null(accel_tensor_strides(tensor));
	assert_int_equal(accel_tensor_strides(tensor)[0], 6);
	accel_tensor_unref(tensor);
}

static void layout_begins_where_it_is_told(void **state)
{
	struct accel_layout *layout = parse("NCHW4c");
	static const int64_t index[] = { 0, 5, 1, 1 };
	struct accel_buffer *buffer;
	struct accel_tensor *tensor;
	int64_t element, lowest, end;

	expect_ok(accel_buffer_create(*state, 4096, &buffer, &error));
	expect_ok(accel_tensor_from_layout(buffer, ACCEL_DTYPE_F32, SHAPE(1, 8, 2, 2), layout,
					   3968, &tensor, &error));
	assert_int_equal(accel_tensor_offset(tensor), 992);
	expect_ok(accel_tensor_element(tensor, index, &element, &error));
	assert_int_equal(element, 992 + 16 + 12 + 1);
	accel_tensor_bounds(tensor, &lowest, &end);
	assert_int_equal(lowest, 3968);
	assert_int_equal(end, 4096);
	accel_tensor_unref(tensor);
	accel_buffer_unref(buffer);
	accel_layout_unref(layout);
}

static void row_major_begins_where_it_is_told(void **state)
{
	struct accel_buffer *buffer;
	struct accel_tensor *tensor;

	expect_ok(accel_buffer_create(*state, 4096, &buffer, &error));
	expect_ok(accel_tensor_from_layout(buffer, ACCEL_DTYPE_F32, SHAPE(2, 3), NULL, 16,
					   &tensor, &error));
	assert_int_equal(accel_tensor_offset(tensor), 4);
	assert_int_equal(accel_tensor_strides(tensor)[0], 3);
	assert_null(accel_tensor_layout(tensor));
	accel_tensor_unref(tensor);
	accel_buffer_unref(buffer);
}

static void padding_past_the_buffer_is_refused(void **state)
{
	struct accel_layout *layout = parse("NCHW4c");
	struct accel_buffer *buffer;
	struct accel_tensor *tensor;

	expect_ok(accel_buffer_create(*state, 4096, &buffer, &error));
	/* the elements end at byte 4088 */
	expect_failure(accel_tensor_from_layout(buffer, ACCEL_DTYPE_F32, SHAPE(1, 6, 2, 2), layout,
						3972, &tensor, &error), -ERANGE,
		       "tensor: it reaches byte 4099 of a buffer of 4096 bytes");
	assert_null(tensor);
	accel_buffer_unref(buffer);
	accel_layout_unref(layout);
}

static void layout_begins_at_an_element(void **state)
{
	struct accel_buffer *buffer;
	struct accel_tensor *tensor;

	expect_ok(accel_buffer_create(*state, 4096, &buffer, &error));
	expect_failure(accel_tensor_from_layout(buffer, ACCEL_DTYPE_F32, SHAPE(2), NULL, 6,
						&tensor, &error), -EINVAL,
		       "tensor: it begins at byte 6, expected a multiple of 4 for f32");
	expect_failure(accel_tensor_from_layout(buffer, ACCEL_DTYPE_F32, SHAPE(2), NULL, 4100,
						&tensor, &error), -ERANGE,
		       "tensor: it begins at byte 4100 of a buffer of 4096 bytes");
	accel_buffer_unref(buffer);
}

static void layout_that_does_not_fit_the_shape_is_refused(void **state)
{
	struct accel_layout *layout = parse("NCHW4c");
	struct accel_tensor *tensor;

	expect_failure(accel_tensor_create(*state, ACCEL_DTYPE_F32, SHAPE(2, 3), layout, &tensor,
					   &error), -EINVAL,
		       "layout of 4 axes: the shape has 2, expected 4");
	assert_null(tensor);
	accel_layout_unref(layout);
}

static void layout_beyond_63_bits_is_refused(void **state)
{
	struct accel_layout *layout = parse("strides:0@9223372036854775806");
	struct accel_tensor *tensor;
	struct accel_buffer *buffer;

	expect_ok(accel_buffer_create(*state, 4096, &buffer, &error));
	expect_failure(accel_tensor_from_layout(buffer, ACCEL_DTYPE_U8, SHAPE(2), layout, 1,
						&tensor, &error), -EOVERFLOW,
		       "tensor: 9223372036854775807 elements of 1 bytes behind 1 others: the "
		       "address does not fit 63 bits");
	accel_buffer_unref(buffer);
	accel_layout_unref(layout);
}

static void sixteen_split_axes_fit(void **state)
{
	struct accel_tensor *tensor, *view;
	char notation[512] = "(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) -> (";
	int64_t shape[16], index[16], element;

	(void)state;
	for (int d = 0; d < 16; d++) {
		sprintf(notation + strlen(notation), "%c//2, ", 'a' + d);
		shape[d] = 3;
		index[d] = 2;
	}
	for (int d = 0; d < 16; d++)
		sprintf(notation + strlen(notation), "%c%%2%s", 'a' + d, d < 15 ? ", " : ")");
	tensor = describe(notation, 16, shape);
	assert_int_equal(tensor->base->linear, TENSOR_NO_AXIS);
	expect_ok(accel_tensor_element(tensor, index, &element, &error));
	/* every outer digit is 1, every inner one 0 */
	assert_int_equal(element, INT64_C(0xffff0000));
	expect_ok(accel_tensor_flip(tensor, 0, &view, &error));
	expect_ok(accel_tensor_element(view, index, &element, &error));
	assert_int_equal(element, INT64_C(0x7fff0000));
	accel_tensor_unref(view);
	/* nothing is stepped along: there are strides, of 0 */
	expect_ok(accel_tensor_slice_text(tensor, "2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2", &view,
					  &error));
	assert_non_null(accel_tensor_strides(view));
	assert_int_equal(accel_tensor_offset(view), INT64_C(0xffff0000));
	accel_tensor_unref(view);
	accel_tensor_unref(tensor);
}

static void description_has_no_buffer(void **state)
{
	struct accel_tensor *tensor = describe("NCHW4c", SHAPE(1, 8, 2, 2));

	(void)state;
	assert_null(accel_tensor_buffer(tensor));
	assert_int_equal(accel_tensor_num_elements(tensor), 32);
	accel_tensor_unref(tensor);
}

static void detached_tensor_lets_the_buffer_go(void **state)
{
	struct accel_tensor *tensor = create(*state, "NCHW4c", SHAPE(1, 8, 2, 2)), *detached;
	struct accel_layout *layout = accel_tensor_layout(tensor);

	expect_ok(tensor_detach(tensor, &detached, &error));
	assert_true(tensor_is_laid_out_as(detached, tensor));
	assert_ptr_equal(accel_tensor_layout(detached), layout);
	accel_tensor_unref(tensor);
	assert_null(accel_tensor_buffer(detached));
	accel_tensor_unref(detached);
}

/* Whether two descriptions are alike, which are dropped. */
static bool alike(struct accel_tensor *a, struct accel_tensor *b)
{
	bool is_alike = tensor_is_laid_out_as(a, b);

	assert_int_equal(tensor_is_laid_out_as(b, a), is_alike);
	accel_tensor_unref(a);
	accel_tensor_unref(b);
	return is_alike;
}

static void same_layouts_are_alike_however_they_are_written(void **state)
{
	(void)state;
	assert_true(alike(describe("NCHW4c", SHAPE(1, 8, 2, 2)),
			  describe("(n, c, h, w) -> (n, c//4, h, w, c%4)", SHAPE(1, 8, 2, 2))));
	assert_true(alike(describe(NULL, SHAPE(2, 3)), describe("strides:3,1@9", SHAPE(2, 3))));
}

static void other_layouts_are_not_alike(void **state)
{
	(void)state;
	assert_false(alike(describe("NCHW4c", SHAPE(1, 8, 2, 2)),
			   describe("NCHW2c", SHAPE(1, 8, 2, 2))));
	assert_false(alike(describe("NCHW4c", SHAPE(1, 8, 2, 2)),
			   describe("NCHW4c", SHAPE(1, 8, 2, 3))));
	assert_false(alike(describe(NULL, SHAPE(2, 3)), describe("strides:1,2", SHAPE(2, 3))));
	assert_false(alike(describe(NULL, SHAPE(6)), describe(NULL, SHAPE(6, 1))));
	assert_false(alike(describe("(i, j) -> ((i + j)//3, (i + j)%3, j)", SHAPE(4, 4)),
			   describe("(i, j) -> ((i + j)//3, (j + 2*i)%3, j)", SHAPE(4, 4))));
}

static void empty_tensors_of_a_shape_are_alike(void **state)
{
	(void)state;
	assert_true(alike(describe("strides:1,2", SHAPE(0, 3)), describe(NULL, SHAPE(0, 3))));
}

static void views_at_other_offsets_are_alike_unless_a_block_is_cut(void **state)
{
	struct accel_tensor *tensor = create(*state, "NCHW4c", SHAPE(4, 8, 2, 2));
	struct accel_tensor *views[4];

	expect_ok(accel_tensor_slice_text(tensor, "0:2, 0:6", &views[0], &error));
	expect_ok(accel_tensor_slice_text(tensor, "2:4, 0:6", &views[1], &error));
	expect_ok(accel_tensor_slice_text(tensor, "0:2, 2:8", &views[2], &error));
	expect_ok(accel_tensor_slice_text(tensor, "0:4:2, 0:6", &views[3], &error));
	assert_true(tensor_is_laid_out_as(views[0], views[1]));
	assert_false(tensor_is_laid_out_as(views[0], views[2]));
	assert_false(tensor_is_laid_out_as(views[0], views[3]));
	for (int k = 0; k < 4; k++)
		accel_tensor_unref(views[k]);
	accel_tensor_unref(tensor);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocked_tensor_has_room_for_its_padding),
		cmocka_unit_test(padding_is_zero),
		cmocka_unit_test(block_of_one_value_has_strides),
		cmocka_unit_test(axis_that_is_there_twice_has_the_sum_of_strides),
		cmocka_unit_test(layout_begins_where_it_is_told),
		cmocka_unit_test(row_major_begins_where_it_is_told),
		cmocka_unit_test(padding_past_the_buffer_is_refused),
		cmocka_unit_test(layout_begins_at_an_element),
		cmocka_unit_test(layout_that_does_not_fit_the_shape_is_refused),
		cmocka_unit_test(layout_beyond_63_bits_is_refused),
		cmocka_unit_test(sixteen_split_axes_fit),
		cmocka_unit_test(description_has_no_buffer),
		cmocka_unit_test(detached_tensor_lets_the_buffer_go),
		cmocka_unit_test(same_layouts_are_alike_however_they_are_written),
		cmocka_unit_test(other_layouts_are_not_alike),
		cmocka_unit_test(empty_tensors_of_a_shape_are_alike),
		cmocka_unit_test(views_at_other_offsets_are_alike_unless_a_block_is_cut),
	};

	return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
