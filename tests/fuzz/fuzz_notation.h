/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes one notation: the first line is the layout without its prefix, the byte behind it chooses
 * an element type, and the bytes behind that are extents of the shape. What parses must print and
 * parse back, its map must lead to its elements, and whatever other notation it is written in
 * must put them at the same places.
 */
#ifndef TESTS_FUZZ_FUZZ_NOTATION_H
#define TESTS_FUZZ_FUZZ_NOTATION_H

#include <stdlib.h>
#include <string.h>

#include <accel.h>

#include "fuzz.h"

#define NUM_POINTS	8
#define MAX_TEXT	65536

/* What a layout is tried on. */
struct trial {
	struct accel_layout *layout;
	enum accel_dtype dtype;
	uint32_t rank;
	int64_t shape[ACCEL_MAX_DIMS];
};

static inline void require(int condition)
{
	if (!condition)
		abort();
}

static inline void check_text(const struct accel_layout *layout)
{
	const char *axes = accel_layout_axes(layout);
	char *first = malloc(MAX_TEXT), *second = malloc(MAX_TEXT);
	struct accel_layout *again;
	int length;

	require(first && second);
	length = accel_layout_print(layout, first, MAX_TEXT);
	require(length >= 0);
	if (length < MAX_TEXT) {
		require(!accel_layout_parse(first, axes[0] ? axes : NULL, &again, NULL));
		require(accel_layout_print(again, second, MAX_TEXT) == length);
		require(!strcmp(first, second));
		require(!strcmp(accel_layout_axes(again), axes));
		require(accel_layout_rank(again) == accel_layout_rank(layout));
		accel_layout_unref(again);
	}
	free(first);
	free(second);
}

/* Some point of the shape, from a number; false if there is none. */
static inline int make_point(const struct trial *trial, uint64_t number, int64_t *index)
{
	for (uint32_t d = 0; d < trial->rank; d++) {
		if (!trial->shape[d])
			return 0;
		number = number * 6364136223846793005u + 1442695040888963407u;
		index[d] = (int64_t)((number >> 1) % (uint64_t)trial->shape[d]);
	}
	return 1;
}

/* The map leads to the element, and the element is in the memory that the layout asks for. */
static inline void check_points(const struct trial *trial,
				const struct accel_layout_description *description,
				struct accel_map *map)
{
	int64_t index[ACCEL_MAX_DIMS], physical[ACCEL_MAP_MAX_AXES], element, sum;
	int64_t size = (int64_t)accel_dtype_size(trial->dtype);
	uint32_t rank;

	for (uint32_t k = 0; k < NUM_POINTS && make_point(trial, k, index); k++) {
		/* an expression may overflow on the way where its digits do not */
		if (accel_layout_element(trial->layout, trial->dtype, trial->rank, trial->shape,
					 index, &element, NULL) ||
		    accel_map_apply_index(map, trial->rank, index, &rank, physical, NULL))
			continue;
		require(rank == description->physical_rank);
		sum = description->offset;
		for (uint32_t p = 0; p < rank; p++) {
			require(physical[p] >= 0 && physical[p] < description->physical_shape[p]);
			sum += physical[p] * description->strides[p];
		}
		require(sum == element && element >= 0 && element < description->bytes / size);
	}
}

static inline void check_expressed(const struct trial *trial)
{
	int64_t index[ACCEL_MAX_DIMS], element, other_element;

	for (uint32_t n = 0; accel_notation_name(n); n++) {
		struct accel_layout *other;

		if (accel_layout_express(trial->layout, trial->dtype, trial->rank, trial->shape,
					 accel_notation_name(n), &other, NULL))
			continue;
		for (uint32_t k = 0; k < NUM_POINTS && make_point(trial, k, index); k++) {
			if (accel_layout_element(trial->layout, trial->dtype, trial->rank,
						 trial->shape, index, &element, NULL) ||
			    accel_layout_element(other, trial->dtype, trial->rank, trial->shape,
						 index, &other_element, NULL))
				continue;
			require(element == other_element);
		}
		check_text(other);
		accel_layout_unref(other);
	}
}

/* Where a layout has an inverse, it leads back. */
static inline void check_inverse(const struct trial *trial, struct accel_map *map)
{
	int64_t index[ACCEL_MAX_DIMS], physical[ACCEL_MAP_MAX_AXES], back[ACCEL_MAP_MAX_AXES];
	struct accel_map *inverse;
	uint32_t rank;

	if (accel_layout_inverse(trial->layout, trial->dtype, trial->rank, trial->shape, &inverse,
				 NULL))
		return;
	for (uint32_t k = 0; k < NUM_POINTS && make_point(trial, k, index); k++) {
		if (accel_map_apply_index(map, trial->rank, index, &rank, physical, NULL) ||
		    accel_map_apply_index(inverse, rank, physical, NULL, back, NULL))
			continue;
		require(!memcmp(index, back, trial->rank * sizeof(index[0])));
	}
	accel_map_unref(inverse);
}

static inline void check_layout(const struct trial *trial)
{
	struct accel_layout_description description;
	struct accel_error error = { 0 };
	struct accel_map *map;

	check_text(trial->layout);
	if (accel_layout_describe(trial->layout, trial->dtype, trial->rank, trial->shape,
				  &description, &error)) {
		require(error.code < 0 && error.message[0]);
		return;
	}
	require(description.bytes >= 0);
	if (!accel_layout_map(trial->layout, trial->dtype, trial->rank, trial->shape, &map, NULL)) {
		check_points(trial, &description, map);
		check_inverse(trial, map);
		accel_map_unref(map);
	}
	check_expressed(trial);
}

/* The extents: small ones from small bytes, powers of two and their neighbours from large ones. */
static inline int64_t make_extent(uint8_t byte)
{
	return byte < 160 ? byte : (INT64_C(1) << (byte - 160) * 2 % 63) - (byte & 1);
}

static inline int fuzz_notation(const char *prefix, const uint8_t *data, size_t size)
{
	static const enum accel_dtype dtypes[] = {
		ACCEL_DTYPE_U8, ACCEL_DTYPE_F16, ACCEL_DTYPE_F32, ACCEL_DTYPE_RAW128,
	};
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	size_t length = end ? (size_t)(end - data) : size, rest = end ? size - length - 1 : 0;
	size_t prefix_length = strlen(prefix);
	char *text = malloc(prefix_length + length + 1);
	struct trial trial = { .dtype = ACCEL_DTYPE_F16 };
	struct accel_error error = { 0 };

	require(!!text);
	memcpy(text, prefix, prefix_length);
	if (length)
		memcpy(text + prefix_length, data, length);
	text[prefix_length + length] = '\0';
	if (rest)
		trial.dtype = dtypes[end[1] % 4];
	for (; trial.rank < ACCEL_MAX_DIMS && trial.rank + 1 < rest; trial.rank++)
		trial.shape[trial.rank] = make_extent(end[2 + trial.rank]);
	if (accel_layout_parse(text, NULL, &trial.layout, &error)) {
		require(!trial.layout && error.code < 0 && error.message[0]);
		require(error.column >= 0 && (size_t)error.column <= strlen(text) + 1);
	} else {
		/* so that most shapes fit */
		if (accel_layout_rank(trial.layout) < trial.rank)
			trial.rank = accel_layout_rank(trial.layout);
		check_layout(&trial);
		accel_layout_unref(trial.layout);
	}
	free(text);
	return 0;
}

#endif /* TESTS_FUZZ_FUZZ_NOTATION_H */
