/* SPDX-License-Identifier: MIT */
/*
 * What tests of notations have in common: a layout from text, and what is expected of it.
 */
#ifndef NOTATION_TEST_H
#define NOTATION_TEST_H

#include "accel_test.h"

/* int64_t values as an array and how many they are */
#define SHAPE(...)	COUNT(((const int64_t[]){ __VA_ARGS__ })), (const int64_t[]){ __VA_ARGS__ }

static inline struct accel_layout *parse_as(const char *notation, const char *axes)
{
	struct accel_error error = { 0 };
	struct accel_layout *layout;

	if (accel_layout_parse(notation, axes, &layout, &error))
		fail_msg("%s: %s", notation, error.message);
	return layout;
}

static inline struct accel_layout *parse(const char *notation)
{
	return parse_as(notation, NULL);
}

/* The text is refused, at this column, with these words in the message. */
static inline void refuses_as(const char *notation, const char *axes, int column,
			      const char *words)
{
	struct accel_error error = { 0 };
	struct accel_layout *layout = (void *)1;
	int ret = accel_layout_parse(notation, axes, &layout, &error);

	if (ret != -EINVAL || error.code != -EINVAL)
		fail_msg("%s: returned %d, expected -EINVAL", notation, ret);
	assert_null(layout);
	if (!strstr(error.message, words))
		fail_msg("%s: the message is \"%s\", expected \"%s\" in it", notation,
			 error.message, words);
	if (error.column != column)
		fail_msg("%s: the column is %d, expected %d: %s", notation, error.column, column,
			 error.message);
}

static inline void refuses(const char *notation, int column, const char *words)
{
	refuses_as(notation, NULL, column, words);
}

/* The canonical text, and that it parses back to itself. */
static inline void prints(const char *notation, const char *expected)
{
	struct accel_layout *layout = parse(notation), *again;
	char text[1024];

	assert_int_equal(accel_layout_print(layout, text, sizeof(text)), strlen(expected));
	assert_string_equal(text, expected);
	again = parse_as(text, accel_layout_axes(layout)[0] ? accel_layout_axes(layout) : NULL);
	accel_layout_print(again, text, sizeof(text));
	assert_string_equal(text, expected);
	accel_layout_unref(again);
	accel_layout_unref(layout);
}

static inline struct accel_layout_description describe_as(const char *notation, const char *axes,
							  enum accel_dtype dtype, uint32_t rank,
							  const int64_t *shape)
{
	struct accel_layout *layout = parse_as(notation, axes);
	struct accel_layout_description description;
	struct accel_error error = { 0 };

	if (accel_layout_describe(layout, dtype, rank, shape, &description, &error))
		fail_msg("%s: %s", notation, error.message);
	accel_layout_unref(layout);
	return description;
}

static inline void expect_numbers(const char *what, uint32_t count, const int64_t *numbers,
				  uint32_t expected_count, const int64_t *expected)
{
	if (count != expected_count)
		fail_msg("%s: %u numbers, expected %u", what, count, expected_count);
	for (uint32_t k = 0; k < count; k++) {
		if (numbers[k] != expected[k])
			fail_msg("%s: number %u is %lld, expected %lld", what, k,
				 (long long)numbers[k], (long long)expected[k]);
	}
}

/* The physical shape of a shape of f32 elements, given twice: as SHAPE(..) both. */
static inline void makes_as(const char *notation, const char *axes, uint32_t rank,
			    const int64_t *shape, uint32_t physical_rank,
			    const int64_t *physical_shape)
{
	struct accel_layout_description description =
		describe_as(notation, axes, ACCEL_DTYPE_F32, rank, shape);

	expect_numbers(notation, description.physical_rank, description.physical_shape,
		       physical_rank, physical_shape);
}

static inline void makes(const char *notation, uint32_t rank, const int64_t *shape,
			 uint32_t physical_rank, const int64_t *physical_shape)
{
	makes_as(notation, NULL, rank, shape, physical_rank, physical_shape);
}

/* The shape is refused with this code and these words. */
static inline void cannot_place(const char *notation, enum accel_dtype dtype, uint32_t rank,
				const int64_t *shape, int code, const char *words)
{
	struct accel_layout *layout = parse(notation);
	struct accel_layout_description description;
	struct accel_error error = { 0 };

	assert_int_equal(accel_layout_describe(layout, dtype, rank, shape, &description, &error),
			 code);
	if (!strstr(error.message, words))
		fail_msg("%s: the message is \"%s\", expected \"%s\" in it", notation,
			 error.message, words);
	accel_layout_unref(layout);
}

/* The map over a shape of f32 elements. */
static inline void maps_to(const char *notation, uint32_t rank, const int64_t *shape,
			   const char *expected)
{
	struct accel_layout *layout = parse(notation);
	struct accel_error error = { 0 };
	struct accel_map *map;
	char text[1024];

	if (accel_layout_map(layout, ACCEL_DTYPE_F32, rank, shape, &map, &error))
		fail_msg("%s: %s", notation, error.message);
	accel_map_print(map, text, sizeof(text));
	assert_string_equal(text, expected);
	accel_map_unref(map);
	accel_layout_unref(layout);
}

/* The element at an index of a shape of f32 elements. */
static inline int64_t element_at(const char *notation, const char *axes, uint32_t rank,
				 const int64_t *shape, uint32_t index_rank, const int64_t *index)
{
	struct accel_layout *layout = parse_as(notation, axes);
	struct accel_error error = { 0 };
	int64_t element;

	assert_int_equal(rank, index_rank);
	if (accel_layout_element(layout, ACCEL_DTYPE_F32, rank, shape, index, &element, &error))
		fail_msg("%s: %s", notation, error.message);
	accel_layout_unref(layout);
	return element;
}

/* The layout of a shape of f32 elements in another notation; NULL: it cannot be written so. */
static inline void expresses(const char *notation, const char *axes, uint32_t rank,
			     const int64_t *shape, const char *as, const char *expected)
{
	struct accel_layout *layout = parse_as(notation, axes), *result;
	struct accel_error error = { 0 };
	char text[1024];
	int ret;

	ret = accel_layout_express(layout, ACCEL_DTYPE_F32, rank, shape, as, &result, &error);
	if (expected) {
		if (ret)
			fail_msg("%s as %s: %s", notation, as, error.message);
		accel_layout_print(result, text, sizeof(text));
		assert_string_equal(text, expected);
	} else {
		assert_int_equal(ret, -ENOTSUP);
		assert_null(result);
	}
	accel_layout_unref(result);
	accel_layout_unref(layout);
}

#endif /* NOTATION_TEST_H */
