// SPDX-License-Identifier: MIT
/*
 * Fuzzes maps: the first line is the map, the bytes behind it are extents of the shape. What
 * parses must print and parse back, and what the analysis claims must hold at the points tried.
 */
#include <stdlib.h>
#include <string.h>

#include <accel.h>

#include "fuzz.h"

#define NUM_POINTS	16
#define MAX_TEXT	65536

const char *const fuzz_seeds[] = {
	"(n, h, w, c) -> (n, c//4, h, w, c%4)\n\x02\x03\x05\x11",
	"lambda n,h,w,c: [n, c//4, h, te.AXIS_SEPARATOR, w, c%4]\n\x02\x03\x05\x11",
	"(m, n, p, q) -> (m, q//4, n | p, q%4)\n\x02\x03\x05\x07",
	"(*b, c) -> (*b, c//8, c%8)\n\x02\x03\x11",
	"(i < 14, -2 <= j < N) -> ((i + 2)//4, (j + i*3) % 8)",
	"(i, j, k) -> (i//4, 128*j + k, i%4)\n\x10\x04\x7f",
	"(i) -> ((i + 6)//8, (i + 6)//4%2, (i + 6)%4)\n\x13",
	"(i, j) -> ((i*14 + j)//8, (i*14 + j)%8, select(i < j and j >= 2 or i == 1, min(i, j), "
	"max(i, -j)))\n\x05\x0e",
	"(i, j) -> (13 - i, i*j - 4*(i//4), (i%5*9223372036854775807 + j)//-3)\n\x0e\x03",
	"(i < N, j < M, k < N*M) -> (i*M + j, k//M, k%M, N - 1 - i)",
	"((((((((((", "te.AXIS_SEPARATOR, ", "9223372036854775808", "0 <= i < n", "//4%2",
	NULL,
};

static void require(int condition)
{
	if (!condition)
		abort();
}

static void check_text(struct accel_map *map)
{
	char *first = malloc(MAX_TEXT), *second = malloc(MAX_TEXT);
	struct accel_map *again = NULL;
	int length;

	require(first && second);
	length = accel_map_print(map, first, MAX_TEXT);
	require(length > 0);
	if (length < MAX_TEXT) {
		require(!accel_map_parse(first, &again, NULL));
		require(accel_map_print(again, second, MAX_TEXT) == length);
		require(!strcmp(first, second));
	}
	accel_map_unref(again);
	free(first);
	free(second);
}

/* Some point of the shape, from a number. */
static void make_point(const int64_t *shape, uint32_t rank, uint64_t number, int64_t *index)
{
	uint32_t k;

	for (k = 0; k < rank; k++) {
		number = number * 6364136223846793005u + 1442695040888963407u;
		index[k] = (number >> 33) % shape[k];
	}
}

static void check_inverse(const struct accel_map *map, const struct accel_map_analysis *analysis,
			  const int64_t *shape)
{
	int64_t index[ACCEL_MAP_MAX_AXES], output[ACCEL_MAP_MAX_AXES], back[ACCEL_MAP_MAX_AXES];
	uint32_t rank = analysis->input_rank, output_rank, k;

	for (k = 0; k < rank; k++)
		if (!shape[k])
			return;
	for (k = 0; k < NUM_POINTS; k++) {
		make_point(shape, rank, k, index);
		/* Where the map overflows, the simplified one may have a value. */
		if (accel_map_apply_index(map, rank, index, &output_rank, output, NULL) ||
		    accel_map_apply_index(analysis->inverse, output_rank, output, NULL, back, NULL))
			continue;
		require(!memcmp(index, back, rank * sizeof(*index)));
	}
}

static void check_analysis(struct accel_map *map, uint32_t rank, const int64_t *shape)
{
	struct accel_map_analysis analysis;
	struct accel_loop_nest *nest = NULL;
	int64_t bounds[ACCEL_MAP_MAX_AXES];

	if (!accel_map_analyze(map, rank, shape, &analysis, NULL)) {
		if (analysis.has_collision)
			require(analysis.injective == ACCEL_ANSWER_NO);
		if (analysis.inverse && shape)
			check_inverse(map, &analysis, shape);
		if (analysis.padding)
			require(analysis.inverse && analysis.padding_count);
	}
	accel_map_analysis_release(&analysis);
	if (!accel_map_transform_layout(map, rank, shape, &nest, NULL))
		accel_loop_nest_unref(nest);
	if (shape)
		accel_map_flat_shape(map, rank, shape, NULL, bounds, NULL);
}

static void check_map(struct accel_map *map, uint32_t rank, const int64_t *shape)
{
	struct accel_map *simplified = NULL, *composed = NULL;
	enum accel_answer answer;

	check_text(map);
	check_analysis(map, rank, NULL);
	check_analysis(map, rank, shape);
	if (!accel_map_simplify(map, rank, shape, &simplified, NULL)) {
		check_text(simplified);
		if (!accel_map_equal(map, simplified, rank, shape, &answer, NULL))
			require(answer != ACCEL_ANSWER_NO);
	}
	if (!accel_map_compose(map, map, &composed, NULL))
		check_text(composed);
	accel_map_unref(simplified);
	accel_map_unref(composed);
}

/* Extents from 0 to 127 are themselves; larger ones are powers of two. */
static int64_t make_extent(uint8_t byte)
{
	return byte < 128 ? byte : (int64_t)1 << (byte - 128) / 2 % 63;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\n', size);
	size_t length = end ? (size_t)(end - data) : size, rest = end ? size - length - 1 : 0, k;
	char *text = malloc(length + 1);
	int64_t shape[ACCEL_MAP_MAX_AXES];
	struct accel_error error;
	struct accel_map *map;

	require(!!text);
	memcpy(text, data, length);
	text[length] = '\0';
	if (rest > ACCEL_MAP_MAX_AXES)
		rest = ACCEL_MAP_MAX_AXES;
	for (k = 0; k < rest; k++)
		shape[k] = make_extent(end[1 + k]);
	if (accel_map_parse(text, &map, &error)) {
		require(!map && error.code < 0 && error.message[0]);
		require(error.column >= 0 && (size_t)error.column <= length + 1);
	} else {
		check_map(map, rest, shape);
		accel_map_unref(map);
	}
	free(text);
	return 0;
}
