// SPDX-License-Identifier: MIT
/*
 * Views: what each one is, and what is refused. That chains of them are right, too, is
 * test_view_random.c's.
 */
#include "accel_test.h"

static struct accel_error error;

#define SHAPE(...)	COUNT(((int64_t[]){ __VA_ARGS__ })), (const int64_t[]){ __VA_ARGS__ }

static struct accel_tensor *create(void *device, uint32_t rank, const int64_t *shape)
{
	struct accel_tensor *tensor;

	expect_ok(accel_tensor_create(device, ACCEL_DTYPE_F32, rank, shape, NULL, &tensor, &error));
	return tensor;
}

static struct accel_tensor *create_in(void *device, const char *notation, uint32_t rank,
				      const int64_t *shape)
{
	struct accel_tensor *tensor;
	struct accel_layout *layout;

	expect_ok(accel_layout_parse(notation, NULL, &layout, &error));
	expect_ok(accel_tensor_create(device, ACCEL_DTYPE_F32, rank, shape, layout, &tensor,
				      &error));
	accel_layout_unref(layout);
	return tensor;
}

/* Checks shape, strides and offset, and drops both. */
static void expect_strides(struct accel_tensor *tensor, struct accel_tensor *view, uint32_t rank,
			   const int64_t *shape, const int64_t *strides, int64_t offset)
{
	assert_int_equal(accel_tensor_rank(view), rank);
	assert_memory_equal(accel_tensor_shape(view), shape, rank * sizeof(shape[0]));
	assert_non_null(accel_tensor_strides(view));
	assert_memory_equal(accel_tensor_strides(view), strides, rank * sizeof(strides[0]));
	assert_int_equal(accel_tensor_offset(view), offset);
	assert_ptr_equal(accel_tensor_buffer(view), accel_tensor_buffer(tensor));
	accel_tensor_unref(tensor);
	accel_tensor_unref(view);
}

#define STRIDES(...)	(const int64_t[]){ __VA_ARGS__ }

static int64_t element_at(const struct accel_tensor *tensor, const int64_t *index)
{
	int64_t element;

	expect_ok(accel_tensor_element(tensor, index, &element, &error));
	return element;
}

static void slices_of_10_by_20_begin_at_45(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(10, 20)), *view;

	expect_ok(accel_tensor_slice_text(tensor, "2:8,5:15", &view, &error));
	expect_strides(tensor, view, SHAPE(6, 10), STRIDES(20, 1), 45);
}

static void offsets_of_views_of_views_add_up(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(10, 20)), *rows, *columns;

	expect_ok(accel_tensor_slice(tensor, 0, 2, 8, 1, &rows, &error));
	expect_ok(accel_tensor_slice(rows, 1, 5, 15, 1, &columns, &error));
	accel_tensor_unref(rows);
	expect_strides(tensor, columns, SHAPE(6, 10), STRIDES(20, 1), 45);
}

static void expanded_vector_has_strides_0_and_1(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(3)), *view;

	expect_ok(accel_tensor_expand(tensor, SHAPE(4, 3), &view, &error));
	expect_strides(tensor, view, SHAPE(4, 3), STRIDES(0, 1), 0);
}

static void permuted_axes_take_their_strides_along(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(2, 3, 4)), *view;

	expect_ok(accel_tensor_permute(tensor, (const uint32_t[]){ 2, 0, 1 }, &view, &error));
	expect_strides(tensor, view, SHAPE(4, 2, 3), STRIDES(1, 12, 4), 0);
}

static void transposed_axes_change_places(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(2, 3, 4)), *view;

	expect_ok(accel_tensor_transpose(tensor, 0, 2, &view, &error));
	expect_strides(tensor, view, SHAPE(4, 3, 2), STRIDES(1, 4, 12), 0);
}

static void negative_step_begins_at_the_last(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(10)), *view;

	expect_ok(accel_tensor_slice(tensor, 0, ACCEL_SLICE_END, ACCEL_SLICE_END, -3, &view,
				     &error));
	expect_strides(tensor, view, SHAPE(4), STRIDES(-3), 9);
}

static void step_that_is_left_out_is_1(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(10)), *view;

	expect_ok(accel_tensor_slice(tensor, 0, 3, ACCEL_SLICE_END, ACCEL_SLICE_END, &view,
				     &error));
	expect_strides(tensor, view, SHAPE(7), STRIDES(1), 3);
}

static void step_beyond_the_axis_keeps_one(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(10)), *view;

	expect_ok(accel_tensor_slice(tensor, 0, -1, ACCEL_SLICE_END, INT64_MIN + 1, &view, &error));
	assert_int_equal(accel_tensor_shape(view)[0], 1);
	assert_int_equal(accel_tensor_offset(view), 9);
	accel_tensor_unref(view);
	accel_tensor_unref(tensor);
}

static void bounds_past_the_ends_are_brought_to_them(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(10)), *view;

	expect_ok(accel_tensor_slice(tensor, 0, -100, INT64_MAX, 1, &view, &error));
	expect_strides(tensor, view, SHAPE(10), STRIDES(1), 0);
}

static void slice_that_ends_before_it_begins_is_empty(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(10)), *view;

	expect_ok(accel_tensor_slice(tensor, 0, 7, 3, 1, &view, &error));
	assert_int_equal(accel_tensor_num_elements(view), 0);
	accel_tensor_unref(view);
	accel_tensor_unref(tensor);
}

static void ellipsis_and_none_keep_their_places(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(2, 3, 4, 5)), *view;

	expect_ok(accel_tensor_slice_text(tensor, "-1, None, ..., ::-2", &view, &error));
	expect_strides(tensor, view, SHAPE(1, 3, 4, 3), STRIDES(0, 20, 5, -2), 64);
}

static void axes_that_are_left_out_are_whole(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(2, 3, 4)), *view;

	expect_ok(accel_tensor_slice_text(tensor, "1,", &view, &error));
	expect_strides(tensor, view, SHAPE(3, 4), STRIDES(4, 1), 12);
}

static void squeezed_and_unsqueezed_axis_comes_back(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(2, 3)), *wide, *view;

	expect_ok(accel_tensor_unsqueeze(tensor, 1, &wide, &error));
	assert_int_equal(accel_tensor_rank(wide), 3);
	assert_int_equal(accel_tensor_shape(wide)[1], 1);
	expect_ok(accel_tensor_squeeze(wide, 1, &view, &error));
	accel_tensor_unref(wide);
	expect_strides(tensor, view, SHAPE(2, 3), STRIDES(3, 1), 0);
}

static void flipped_axis_goes_down(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(2, 3)), *view;

	expect_ok(accel_tensor_flip(tensor, 0, &view, &error));
	expect_strides(tensor, view, SHAPE(2, 3), STRIDES(-3, 1), 3);
}

static void reshape_splits_and_merges(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(1, 64, 56, 56)), *view;

	expect_ok(accel_tensor_reshape(tensor, SHAPE(8, 8, -1), &view, &error));
	expect_strides(tensor, view, SHAPE(8, 8, 3136), STRIDES(25088, 3136, 1), 0);
}

static void reshape_of_a_transpose_splits_its_axes(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(4, 6)), *transposed, *view;

	expect_ok(accel_tensor_transpose(tensor, 0, 1, &transposed, &error));
	expect_ok(accel_tensor_reshape(transposed, SHAPE(2, 3, 4), &view, &error));
	accel_tensor_unref(transposed);
	expect_strides(tensor, view, SHAPE(2, 3, 4), STRIDES(3, 1, 6), 0);
}

static void reshape_that_needs_a_copy_names_the_axes(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(4, 6)), *transposed, *view = (void *)1;

	expect_ok(accel_tensor_transpose(tensor, 0, 1, &transposed, &error));
	expect_failure(accel_tensor_reshape(transposed, SHAPE(24), &view, &error), -ENOTSUP,
		       "reshape: axes 0 and 1 do not run on in memory: they need a copy");
	assert_null(view);
	accel_tensor_unref(transposed);
	accel_tensor_unref(tensor);
}

static void reshape_to_a_scalar_and_back(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(1, 1)), *scalar, *view;

	expect_ok(accel_tensor_reshape(tensor, 0, NULL, &scalar, &error));
	assert_int_equal(accel_tensor_rank(scalar), 0);
	assert_int_equal(accel_tensor_num_elements(scalar), 1);
	expect_ok(accel_tensor_reshape(scalar, SHAPE(-1), &view, &error));
	assert_int_equal(accel_tensor_shape(view)[0], 1);
	accel_tensor_unref(view);
	accel_tensor_unref(scalar);
	accel_tensor_unref(tensor);
}

static void reshape_of_nothing_is_any_empty_shape(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(0, 3)), *view;

	expect_ok(accel_tensor_reshape(tensor, SHAPE(5, INT64_MAX, 0, INT64_MAX), &view, &error));
	assert_int_equal(accel_tensor_num_elements(view), 0);
	accel_tensor_unref(view);
	accel_tensor_unref(tensor);
}

static void as_strided_counts_from_the_buffer(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(10, 20)), *part, *view;

	expect_ok(accel_tensor_slice_text(tensor, "2:8,5:15", &part, &error));
	expect_ok(accel_tensor_as_strided(part, SHAPE(2, 2), STRIDES(-20, 3), 27, &view, &error));
	accel_tensor_unref(part);
	expect_strides(tensor, view, SHAPE(2, 2), STRIDES(-20, 3), 27);
}

static void as_strided_past_the_buffer_is_refused(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(1024)), *view;

	expect_failure(accel_tensor_as_strided(tensor, SHAPE(1024), STRIDES(1), 1, &view, &error),
		       -ERANGE, "tensor: it reaches byte 4099 of a buffer of 4096 bytes");
	accel_tensor_unref(tensor);
}

static void as_strided_of_a_split_axis_is_refused(void **state)
{
	struct accel_tensor *tensor = create_in(*state, "NCHW4c", SHAPE(1, 8, 2, 2)), *view;

	expect_failure(accel_tensor_as_strided(tensor, SHAPE(4), STRIDES(1), 0, &view, &error),
		       -ENOTSUP,
		       "as_strided: the tensor has no strides, its layout splits axes");
	accel_tensor_unref(tensor);
}

static void diagonal_steps_along_both_axes(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(3, 2, 5)), *view;

	expect_ok(accel_tensor_diagonal(tensor, 1, 0, 2, &view, &error));
	expect_strides(tensor, view, SHAPE(2, 3), STRIDES(5, 11), 1);
}

static void diagonal_below_begins_on_the_first_axis(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(3, 5)), *view;

	expect_ok(accel_tensor_diagonal(tensor, -2, 0, 1, &view, &error));
	expect_strides(tensor, view, SHAPE(1), STRIDES(6), 10);
}

static void diagonal_outside_is_empty(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(3, 5)), *view;

	expect_ok(accel_tensor_diagonal(tensor, INT64_MIN, 0, 1, &view, &error));
	assert_int_equal(accel_tensor_num_elements(view), 0);
	accel_tensor_unref(view);
	accel_tensor_unref(tensor);
}

static void unfolded_windows_overlap(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(2, 7)), *view;

	expect_ok(accel_tensor_unfold(tensor, 1, 3, 2, &view, &error));
	expect_strides(tensor, view, SHAPE(2, 3, 3), STRIDES(7, 2, 1), 0);
}

static void wider_elements_are_fewer(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(3, 8)), *view;

	expect_ok(accel_tensor_reinterpret(tensor, ACCEL_DTYPE_RAW128, &view, &error));
	assert_int_equal(accel_tensor_dtype(view), ACCEL_DTYPE_RAW128);
	expect_strides(tensor, view, SHAPE(3, 2), STRIDES(2, 1), 0);
}

static void narrower_elements_are_more(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(3, 8)), *part, *view;

	expect_ok(accel_tensor_slice_text(tensor, "1:, 2:5", &part, &error));
	expect_ok(accel_tensor_reinterpret(part, ACCEL_DTYPE_U8, &view, &error));
	accel_tensor_unref(part);
	expect_strides(tensor, view, SHAPE(2, 12), STRIDES(32, 1), 40);
}

static void same_size_keeps_every_layout(void **state)
{
	struct accel_tensor *tensor = create_in(*state, "NCHW4c", SHAPE(1, 8, 2, 2)), *view;

	expect_ok(accel_tensor_reinterpret(tensor, ACCEL_DTYPE_RAW32, &view, &error));
	assert_int_equal(accel_tensor_dtype(view), ACCEL_DTYPE_RAW32);
	assert_int_equal(element_at(view, STRIDES(0, 5, 1, 0)), 16 + 2 * 4 + 1);
	accel_tensor_unref(view);
	accel_tensor_unref(tensor);
}

static void channels_of_a_block_are_one_wide_element(void **state)
{
	struct accel_tensor *tensor = create_in(*state, "NCHW8c", SHAPE(1, 16, 2, 2));
	struct accel_tensor *last, *view;

	expect_ok(accel_tensor_transpose(tensor, 1, 3, &last, &error));
	expect_ok(accel_tensor_reinterpret(last, ACCEL_DTYPE_RAW128, &view, &error));
	assert_int_equal(accel_tensor_shape(view)[3], 4);
	/* n, w, h, c/4: block c/8, then h, w and the half of the block */
	assert_int_equal(element_at(view, STRIDES(0, 1, 0, 3)), 8 + 0 * 4 + 1 * 2 + 1);
	accel_tensor_unref(view);
	accel_tensor_unref(last);
	accel_tensor_unref(tensor);
}

static void wider_elements_need_an_extent_that_divides(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(2, 6)), *view;

	expect_failure(accel_tensor_reinterpret(tensor, ACCEL_DTYPE_RAW128, &view, &error), -EINVAL,
		       "reinterpret: axis 1 has 6 elements of f32, expected a multiple of 4 for "
		       "raw128");
	accel_tensor_unref(tensor);
}

static void wider_elements_need_alignment(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(9)), *part, *view;

	expect_ok(accel_tensor_slice(tensor, 0, 1, 9, 1, &part, &error));
	expect_failure(accel_tensor_reinterpret(part, ACCEL_DTYPE_RAW128, &view, &error), -EINVAL,
		       "reinterpret: the first element is at byte 4, expected a multiple of 16 for "
		       "raw128");
	accel_tensor_unref(part);
	accel_tensor_unref(tensor);
}

static void wider_elements_need_strides_that_divide(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(2, 6)), *part, *view;

	expect_ok(accel_tensor_slice(tensor, 1, 0, 4, 1, &part, &error));
	expect_failure(accel_tensor_reinterpret(part, ACCEL_DTYPE_RAW128, &view, &error), -ENOTSUP,
		       "reinterpret: f32 as raw128: the elements on axis 1 are not side by side, "
		       "or the other axes' steps are no multiple of raw128");
	accel_tensor_unref(part);
	accel_tensor_unref(tensor);
}

static void scalar_keeps_its_size(void **state)
{
	struct accel_tensor *tensor = create(*state, 0, NULL), *view;

	expect_failure(accel_tensor_reinterpret(tensor, ACCEL_DTYPE_U8, &view, &error), -EINVAL,
		       "reinterpret: a scalar of f32 as u8, expected a type of the same size");
	accel_tensor_unref(tensor);
}

static void nothing_is_nothing_in_any_type(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(0, 3)), *view;

	expect_ok(accel_tensor_reinterpret(tensor, ACCEL_DTYPE_U8, &view, &error));
	assert_int_equal(accel_tensor_shape(view)[1], 12);
	accel_tensor_unref(view);
	accel_tensor_unref(tensor);
}

static void nothing_too_long_in_bytes_is_refused(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(0, INT64_MAX / 2)), *view;

	expect_failure(accel_tensor_reinterpret(tensor, ACCEL_DTYPE_U8, &view, &error), -EOVERFLOW,
		       "reinterpret: axis 1 of u8: its elements do not fit 63 bits");
	accel_tensor_unref(tensor);
}

static void unknown_type_is_refused(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(4)), *view;

	expect_failure(accel_tensor_reinterpret(tensor, (enum accel_dtype)3, &view, &error),
		       -EINVAL, "reinterpret: no element type has the number 3");
	accel_tensor_unref(tensor);
}

static void one_index_of_a_split_axis_has_strides(void **state)
{
	struct accel_tensor *tensor = create_in(*state, "NCHW4c", SHAPE(1, 8, 3, 5)), *view;

	assert_null(accel_tensor_strides(tensor));
	expect_ok(accel_tensor_select(tensor, 1, 6, &view, &error));
	expect_strides(tensor, view, SHAPE(1, 3, 5), STRIDES(120, 20, 4), 62);
}

static void axes_beside_a_split_one_merge(void **state)
{
	struct accel_tensor *tensor = create_in(*state, "NCHW4c", SHAPE(2, 8, 3, 5)), *view;

	expect_ok(accel_tensor_reshape(tensor, SHAPE(2, 8, 15), &view, &error));
	assert_int_equal(element_at(view, STRIDES(1, 6, 14)), 120 + 60 + 14 * 4 + 2);
	accel_tensor_unref(view);
	accel_tensor_unref(tensor);
}

static void view_keeps_the_memory(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(2, 3)), *view;
	void *data;

	expect_ok(accel_tensor_transpose(tensor, 0, 1, &view, &error));
	accel_tensor_unref(tensor);
	expect_ok(accel_buffer_map(accel_tensor_buffer(view), &data, &error));
	memset(data, 1, 24);
	accel_tensor_unref(view);
}

static void view_has_no_layout(void **state)
{
	struct accel_tensor *tensor = create_in(*state, "NHWC", SHAPE(1, 2, 3, 4)), *view;

	expect_ok(accel_tensor_flip(tensor, 0, &view, &error));
	assert_non_null(accel_tensor_layout(tensor));
	assert_null(accel_tensor_layout(view));
	accel_tensor_unref(view);
	accel_tensor_unref(tensor);
}

static void contiguous_tensor_is_itself(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(4, 6)), *part, *dense;

	expect_ok(accel_tensor_slice(tensor, 0, 1, 3, 1, &part, &error));
	assert_true(accel_tensor_is_contiguous(part));
	expect_ok(accel_tensor_contiguous(part, &dense, &error));
	assert_ptr_equal(dense, part);
	accel_tensor_unref(dense);
	accel_tensor_unref(part);
	accel_tensor_unref(tensor);
}

static void contiguous_copy_has_the_elements_in_order(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(2, 3)), *view, *dense;
	static const float expected[] = { 0, 3, 1, 4, 2, 5 };
	void *data;

	expect_ok(accel_buffer_map(accel_tensor_buffer(tensor), &data, &error));
	for (int i = 0; i < 6; i++)
		((float *)data)[i] = (float)i;
	expect_ok(accel_tensor_transpose(tensor, 0, 1, &view, &error));
	assert_false(accel_tensor_is_contiguous(view));
	expect_ok(accel_tensor_contiguous(view, &dense, &error));
	assert_true(accel_tensor_is_contiguous(dense));
	expect_ok(accel_buffer_map(accel_tensor_buffer(dense), &data, &error));
	assert_memory_equal(data, expected, sizeof(expected));
	accel_tensor_unref(dense);
	accel_tensor_unref(view);
	accel_tensor_unref(tensor);
}

/* What is refused --------------------------------------------------------------------------- */

static void refused_axes_are_named(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(2, 3)), *view;

	expect_failure(accel_tensor_permute(tensor, (const uint32_t[]){ 0, 2 }, &view, &error),
		       -EINVAL, "permute: axis 2, the tensor has 2");
	expect_failure(accel_tensor_permute(tensor, (const uint32_t[]){ 1, 1 }, &view, &error),
		       -EINVAL, "permute: axis 1 is there twice");
	expect_failure(accel_tensor_transpose(tensor, 0, 2, &view, &error), -EINVAL,
		       "transpose: axis 2, the tensor has 2");
	expect_failure(accel_tensor_slice(tensor, 2, 0, 1, 1, &view, &error), -EINVAL,
		       "slice: axis 2, the tensor has 2");
	expect_failure(accel_tensor_select(tensor, 2, 0, &view, &error), -EINVAL,
		       "select: axis 2, the tensor has 2");
	expect_failure(accel_tensor_squeeze(tensor, 2, &view, &error), -EINVAL,
		       "squeeze: axis 2, the tensor has 2");
	expect_failure(accel_tensor_unsqueeze(tensor, 3, &view, &error), -EINVAL,
		       "unsqueeze: axis 3, expected 0 to 2");
	expect_failure(accel_tensor_flip(tensor, 2, &view, &error), -EINVAL,
		       "flip: axis 2, the tensor has 2");
	expect_failure(accel_tensor_diagonal(tensor, 0, 0, 2, &view, &error), -EINVAL,
		       "diagonal: axis 2, the tensor has 2");
	expect_failure(accel_tensor_diagonal(tensor, 0, 1, 1, &view, &error), -EINVAL,
		       "diagonal: of axis 1 with itself, expected two axes");
	expect_failure(accel_tensor_unfold(tensor, 2, 1, 1, &view, &error), -EINVAL,
		       "unfold: axis 2, the tensor has 2");
	accel_tensor_unref(tensor);
}

static void step_of_0_is_refused(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(2, 3)), *view;

	expect_failure(accel_tensor_slice(tensor, 0, 0, 1, 0, &view, &error), -EINVAL,
		       "slice: step 0, expected another number");
	accel_tensor_unref(tensor);
}

static void index_outside_is_refused(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(2, 3)), *view;

	expect_failure(accel_tensor_select(tensor, 1, 3, &view, &error), -ERANGE,
		       "select: index 3 on axis 1, expected -3 or more and less than 3");
	expect_failure(accel_tensor_select(tensor, 1, -4, &view, &error), -ERANGE,
		       "select: index -4 on axis 1, expected -3 or more and less than 3");
	accel_tensor_unref(tensor);
}

static void only_an_axis_of_1_is_squeezed(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(2, 3)), *view;

	expect_failure(accel_tensor_squeeze(tensor, 1, &view, &error), -EINVAL,
		       "squeeze: axis 1 has 3 elements, expected 1");
	accel_tensor_unref(tensor);
}

static void only_an_axis_of_1_expands(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(2, 3)), *view;

	expect_failure(accel_tensor_expand(tensor, SHAPE(4, 2, 6), &view, &error), -EINVAL,
		       "expand: axis 1 has 3 elements, expected 6 or 1");
	expect_failure(accel_tensor_expand(tensor, SHAPE(3), &view, &error), -EINVAL,
		       "expand: to 1 axes, expected at least the tensor's 2");
	expect_failure(accel_tensor_expand(tensor, SHAPE(-1, 2, 3), &view, &error), -EINVAL,
		       "tensor: extent 0 is -1, expected 0 or more");
	accel_tensor_unref(tensor);
}

static void expansion_beyond_63_bits_is_refused(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(2)), *view = (void *)1;

	expect_failure(accel_tensor_expand(tensor, SHAPE(INT64_MAX, 2), &view, &error), -EOVERFLOW,
		       "tensor: the number of elements does not fit 63 bits");
	assert_null(view);
	accel_tensor_unref(tensor);
}

static void more_axes_than_16_are_refused(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
							   1, 1)), *view;
	static const int64_t shape[17];

	expect_failure(accel_tensor_unsqueeze(tensor, 0, &view, &error), -EINVAL,
		       "unsqueeze: 17 axes, expected at most 16");
	expect_failure(accel_tensor_slice_text(tensor, "None", &view, &error), -EINVAL,
		       "slice: 17 axes, expected at most 16");
	expect_failure(accel_tensor_expand(tensor, 17, shape, &view, &error), -EINVAL,
		       "expand: 17 axes, expected at most 16");
	expect_failure(accel_tensor_unfold(tensor, 0, 1, 1, &view, &error), -EINVAL,
		       "unfold: 17 axes, expected at most 16");
	expect_failure(accel_tensor_reshape(tensor, 17, shape, &view, &error), -EINVAL,
		       "reshape: 17 axes, expected at most 16");
	accel_tensor_unref(tensor);
}

static void reshape_to_another_count_is_refused(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(2, 3)), *view;

	expect_failure(accel_tensor_reshape(tensor, SHAPE(7), &view, &error), -EINVAL,
		       "reshape: to 7 elements, the tensor has 6");
	expect_failure(accel_tensor_reshape(tensor, SHAPE(-1, 4), &view, &error), -EINVAL,
		       "reshape: 6 elements, extent 0 is left out and the others' product is 4");
	expect_failure(accel_tensor_reshape(tensor, SHAPE(-1, 0), &view, &error), -EINVAL,
		       "reshape: 6 elements, extent 0 is left out and the others' product is 0");
	expect_failure(accel_tensor_reshape(tensor, SHAPE(-1, -1), &view, &error), -EINVAL,
		       "reshape: extent 1 is -1, expected 0 or more, or one -1");
	expect_failure(accel_tensor_reshape(tensor, SHAPE(INT64_MAX, 3), &view, &error), -EINVAL,
		       "reshape: to 9223372036854775807 elements, the tensor has 6");
	accel_tensor_unref(tensor);
}

static void windows_larger_than_the_axis_are_refused(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(2, 3)), *view;

	expect_failure(accel_tensor_unfold(tensor, 1, 4, 1, &view, &error), -EINVAL,
		       "unfold: windows of 4, expected 0 to 3 on axis 1");
	expect_failure(accel_tensor_unfold(tensor, 1, 2, 0, &view, &error), -EINVAL,
		       "unfold: step 0, expected 1 or more");
	accel_tensor_unref(tensor);
}

/* Texts ------------------------------------------------------------------------------------- */

static void malformed_slices_are_refused(void **state)
{
	static const struct {
		const char *text;
		int code;
		int column;
		const char *message;
	} cases[] = {
		{ "", -EINVAL, 1,
		  "slice: found the end at column 1, expected a number, ':', '...' or None" },
		{ "1,,2", -EINVAL, 3,
		  "slice: found ',' at column 3, expected a number, ':', '...' or None" },
		{ "1:2 3", -EINVAL, 5, "slice: found '3' at column 5, expected ',' or the end" },
		{ "0:1:\x01", -EINVAL, 5,
		  "slice: found byte 0x01 at column 5, expected ',' or the end" },
		{ "-", -EINVAL, 2, "slice: found the end at column 2, expected a digit" },
		{ "0, 99999999999999999999", -EINVAL, 4,
		  "slice: the number at column 4 does not fit 64 bits" },
		{ "0, 1, 2", -EINVAL, 7,
		  "slice: the item at column 7 has no axis: the tensor has 2" },
		{ "..., 0, 0, :", -EINVAL, 12,
		  "slice: the item at column 12 has no axis: the tensor has 2" },
		{ "..., ...", -EINVAL, 6,
		  "slice: a second ellipsis at column 6, expected one" },
		{ "::0", -EINVAL, 1, "slice: step 0 at column 1, expected another number" },
		{ "0, -4", -ERANGE, 4,
		  "slice: index -4 at column 4, expected -3 or more and less than 3 on axis 1" },
		{ "None,None,None,None,None,None,None,None,None,None,None,None,None,None,None,None,"
		  "None,None,None,None,None,None,None,None,None,None,None,None,None,None,None,None,"
		  "None", -EINVAL, 161, "slice: more than 32 items at column 161" },
	};
	struct accel_tensor *tensor = create(*state, SHAPE(2, 3)), *view;

	for (uint32_t k = 0; k < COUNT(cases); k++) {
		expect_failure(accel_tensor_slice_text(tensor, cases[k].text, &view, &error),
			       cases[k].code, cases[k].message);
		assert_int_equal(error.column, cases[k].column);
		assert_null(view);
	}
	accel_tensor_unref(tensor);
}

static void lowest_number_is_a_bound_of_a_text(void **state)
{
	struct accel_tensor *tensor = create(*state, SHAPE(3)), *view;

	/* in C it stands for a bound that is left out: that would be all three */
	expect_ok(accel_tensor_slice_text(tensor, ":-9223372036854775808", &view, &error));
	assert_int_equal(accel_tensor_num_elements(view), 0);
	accel_tensor_unref(view);
	accel_tensor_unref(tensor);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_of_10_by_20_begin_at_45),
		cmocka_unit_test(offsets_of_views_of_views_add_up),
		cmocka_unit_test(expanded_vector_has_strides_0_and_1),
		cmocka_unit_test(permuted_axes_take_their_strides_along),
		cmocka_unit_test(transposed_axes_change_places),
		cmocka_unit_test(negative_step_begins_at_the_last),
		cmocka_unit_test(step_that_is_left_out_is_1),
		cmocka_unit_test(step_beyond_the_axis_keeps_one),
		cmocka_unit_test(bounds_past_the_ends_are_brought_to_them),
		cmocka_unit_test(slice_that_ends_before_it_begins_is_empty),
		cmocka_unit_test(ellipsis_and_none_keep_their_places),
		cmocka_unit_test(axes_that_are_left_out_are_whole),
		cmocka_unit_test(squeezed_and_unsqueezed_axis_comes_back),
		cmocka_unit_test(flipped_axis_goes_down),
		cmocka_unit_test(reshape_splits_and_merges),
		cmocka_unit_test(reshape_of_a_transpose_splits_its_axes),
		cmocka_unit_test(reshape_that_needs_a_copy_names_the_axes),
		cmocka_unit_test(reshape_to_a_scalar_and_back),
		cmocka_unit_test(reshape_of_nothing_is_any_empty_shape),
		cmocka_unit_test(as_strided_counts_from_the_buffer),
		cmocka_unit_test(as_strided_past_the_buffer_is_refused),
		cmocka_unit_test(as_strided_of_a_split_axis_is_refused),
		cmocka_unit_test(diagonal_steps_along_both_axes),
		cmocka_unit_test(diagonal_below_begins_on_the_first_axis),
		cmocka_unit_test(diagonal_outside_is_empty),
		cmocka_unit_test(unfolded_windows_overlap),
		cmocka_unit_test(wider_elements_are_fewer),
		cmocka_unit_test(narrower_elements_are_more),
		cmocka_unit_test(same_size_keeps_every_layout),
		cmocka_unit_test(channels_of_a_block_are_one_wide_element),
		cmocka_unit_test(wider_elements_need_an_extent_that_divides),
		cmocka_unit_test(wider_elements_need_alignment),
		cmocka_unit_test(wider_elements_need_strides_that_divide),
		cmocka_unit_test(scalar_keeps_its_size),
		cmocka_unit_test(nothing_is_nothing_in_any_type),
		cmocka_unit_test(nothing_too_long_in_bytes_is_refused),
		cmocka_unit_test(unknown_type_is_refused),
		cmocka_unit_test(one_index_of_a_split_axis_has_strides),
		cmocka_unit_test(axes_beside_a_split_one_merge),
		cmocka_unit_test(view_keeps_the_memory),
		cmocka_unit_test(view_has_no_layout),
		cmocka_unit_test(contiguous_tensor_is_itself),
		cmocka_unit_test(contiguous_copy_has_the_elements_in_order),
		cmocka_unit_test(refused_axes_are_named),
		cmocka_unit_test(step_of_0_is_refused),
		cmocka_unit_test(index_outside_is_refused),
		cmocka_unit_test(only_an_axis_of_1_is_squeezed),
		cmocka_unit_test(only_an_axis_of_1_expands),
		cmocka_unit_test(expansion_beyond_63_bits_is_refused),
		cmocka_unit_test(more_axes_than_16_are_refused),
		cmocka_unit_test(reshape_to_another_count_is_refused),
		cmocka_unit_test(windows_larger_than_the_axis_are_refused),
		cmocka_unit_test(malformed_slices_are_refused),
		cmocka_unit_test(lowest_number_is_a_bound_of_a_text),
	};

	return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
