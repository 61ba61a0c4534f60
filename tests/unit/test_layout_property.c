// SPDX-License-Identifier: MIT
/*
 * Random layouts in every notation over random shapes: each element is where a simulation of the
 * notation's definition, index by index, puts it; the map says the same as the strides; what
 * is printed parses back; what is expressed in another notation is at the same places; and
 * conversions lead from any layout to any other.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "notation_test.h"
#include "seed.h"

#define NUM_POINTS	1000000		/* that are compared with the simulation */
#define MAX_ELEMENTS	4096
#define MAX_DIGITS	64

static uint64_t seed;

/* A layout as a text, and a simulation: coordinates and their extents, outermost first. */
struct subject {
	char text[512];
	char axes[17];				/* as the text mentions them, or empty */
	enum accel_dtype dtype;
	uint32_t rank;
	int64_t shape[8];
	/* 0: coordinate k is index[dim] // divisor % modulus */
	uint32_t num_digits;
	struct {
		uint32_t dim;
		int64_t divisor, modulus, extent;
	} digits[MAX_DIGITS];
	/* xla: the tiles are applied to the index itself */
	bool is_xla;
	uint32_t perm[8];
	uint32_t num_tiles;
	uint32_t tile_rank[4];
	int64_t tiles[4][MAX_DIGITS];
	/* strides */
	bool has_strides;
	int64_t strides[8], offset;
};

static const enum accel_dtype dtypes[] = {
	ACCEL_DTYPE_U8, ACCEL_DTYPE_F16, ACCEL_DTYPE_F32, ACCEL_DTYPE_I64, ACCEL_DTYPE_RAW128,
};

static void append(char *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void append(char *text, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsprintf(text + strlen(text), format, arguments);
	va_end(arguments);
}

static void shuffle(struct random *random, uint32_t *values, uint32_t count)
{
	for (uint32_t k = 0; k < count; k++)
		values[k] = k;
	for (uint32_t k = count; k > 1; k--) {
		uint32_t j = (uint32_t)random_between(random, 0, k - 1);
		uint32_t value = values[k - 1];

		values[k - 1] = values[j];
		values[j] = value;
	}
}

static void random_shape(struct random *random, struct subject *subject, uint32_t max_rank)
{
	int64_t elements = 1;

	subject->dtype = dtypes[random_between(random, 0, COUNT(dtypes) - 1)];
	subject->rank = (uint32_t)random_between(random, 1, max_rank);
	for (uint32_t d = 0; d < subject->rank; d++) {
		int64_t extent = random_between(random, 1, random_between(random, 0, 2) ? 6 : 40);

		if (elements * extent > MAX_ELEMENTS)
			extent = 1;
		subject->shape[d] = extent;
		elements *= extent;
	}
}

static void add_digit(struct subject *subject, uint32_t dim, int64_t divisor, int64_t modulus,
		      int64_t extent)
{
	subject->digits[subject->num_digits].dim = dim;
	subject->digits[subject->num_digits].divisor = divisor;
	subject->digits[subject->num_digits].modulus = modulus;
	subject->digits[subject->num_digits++].extent = extent;
}

static int64_t ceiling(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

/*
 * Blocks behind the outer parts, in the order of perm: up to max_blocks of random dimensions, and
 * at most one of each if they are unique.
 */
struct blocks {
	uint32_t perm[8];
	uint32_t count;
	uint32_t dims[8];
	int64_t factors[8];
};

static void random_blocks(struct random *random, struct subject *subject, struct blocks *blocks,
			  uint32_t max_blocks, bool is_unique)
{
	int64_t left[8];
	uint32_t used = 0;

	shuffle(random, blocks->perm, subject->rank);
	blocks->count = 0;
	for (uint32_t k = 0; k < subject->rank; k++)
		left[k] = 1;
	for (uint32_t k = (uint32_t)random_between(random, 0, max_blocks); k--;) {
		uint32_t dim = (uint32_t)random_between(random, 0, subject->rank - 1);

		if (is_unique && used & 1U << dim)
			continue;
		used |= 1U << dim;
		blocks->dims[blocks->count] = dim;
		blocks->factors[blocks->count] = random_between(random, 1, 5);
		left[dim] *= blocks->factors[blocks->count++];
	}
	for (uint32_t k = 0; k < subject->rank; k++) {
		uint32_t dim = blocks->perm[k];

		add_digit(subject, dim, left[dim], 0, ceiling(subject->shape[dim], left[dim]));
	}
	for (uint32_t k = 0; k < blocks->count; k++) {
		uint32_t dim = blocks->dims[k];

		left[dim] /= blocks->factors[k];
		add_digit(subject, dim, left[dim], blocks->factors[k], blocks->factors[k]);
	}
}

static void make_order(struct random *random, struct subject *subject)
{
	struct blocks blocks;

	random_shape(random, subject, 5);
	random_blocks(random, subject, &blocks, 0, true);
	for (uint32_t k = 0; k < subject->rank; k++)
		append(subject->text, "%c", "NCHWD"[blocks.perm[k]]);
	snprintf(subject->axes, sizeof(subject->axes), "%.*s", (int)subject->rank, "NCHWD");
}

static void make_topi(struct random *random, struct subject *subject)
{
	struct blocks blocks;

	random_shape(random, subject, 4);
	random_blocks(random, subject, &blocks, 5, false);
	for (uint32_t k = 0; k < subject->rank; k++)
		append(subject->text, "%c", "NCHW"[blocks.perm[k]]);
	for (uint32_t k = 0; k < blocks.count; k++)
		append(subject->text, "%" PRId64 "%c", blocks.factors[k], "nchw"[blocks.dims[k]]);
	snprintf(subject->axes, sizeof(subject->axes), "%.*s", (int)subject->rank, "NCHW");
}

static void make_onednn(struct random *random, struct subject *subject)
{
	struct blocks blocks;
	uint32_t blocked = 0;

	random_shape(random, subject, 4);
	random_blocks(random, subject, &blocks, 5, false);
	for (uint32_t k = 0; k < blocks.count; k++)
		blocked |= 1U << blocks.dims[k];
	append(subject->text, "onednn:");
	for (uint32_t k = 0; k < subject->rank; k++)
		append(subject->text, "%c", (blocked & 1U << blocks.perm[k] ? "ABCD" : "abcd")
		       [blocks.perm[k]]);
	for (uint32_t k = 0; k < blocks.count; k++)
		append(subject->text, "%" PRId64 "%c", blocks.factors[k], "abcd"[blocks.dims[k]]);
	/* the same names as the others have, so that they are convertible */
	snprintf(subject->axes, sizeof(subject->axes), "%.*s", (int)subject->rank, "NCHW");
}

static void make_pack(struct random *random, struct subject *subject)
{
	struct blocks blocks;

	random_shape(random, subject, 4);
	random_blocks(random, subject, &blocks, 4, true);
	append(subject->text, "pack:inner_dims_pos=[");
	for (uint32_t k = 0; k < blocks.count; k++)
		append(subject->text, "%s%u", k ? "," : "", blocks.dims[k]);
	append(subject->text, "];inner_tiles=[");
	for (uint32_t k = 0; k < blocks.count; k++)
		append(subject->text, "%s%" PRId64, k ? "," : "", blocks.factors[k]);
	append(subject->text, "];outer_dims_perm=[");
	for (uint32_t k = 0; k < subject->rank; k++)
		append(subject->text, "%s%u", k ? "," : "", blocks.perm[k]);
	append(subject->text, "]");
}

static void make_tile(struct random *random, struct subject *subject)
{
	uint32_t outer[8], inner[8];
	int64_t tile[8];

	random_shape(random, subject, 4);
	shuffle(random, outer, subject->rank);
	shuffle(random, inner, subject->rank);
	for (uint32_t d = 0; d < subject->rank; d++)
		tile[d] = random_between(random, 1, 5);
	append(subject->text, "tile:outer=");
	for (uint32_t k = 0; k < subject->rank; k++) {
		append(subject->text, "%c", "NCHW"[outer[k]]);
		add_digit(subject, outer[k], tile[outer[k]], 0,
			  ceiling(subject->shape[outer[k]], tile[outer[k]]));
	}
	append(subject->text, ";tile=");
	for (uint32_t k = 0; k < subject->rank; k++)
		append(subject->text, "%s%" PRId64, k ? "," : "", tile[outer[k]]);
	append(subject->text, ";inner=");
	for (uint32_t k = 0; k < subject->rank; k++) {
		append(subject->text, "%c", "NCHW"[inner[k]]);
		add_digit(subject, inner[k], 1, tile[inner[k]], tile[inner[k]]);
	}
	snprintf(subject->axes, sizeof(subject->axes), "%.*s", (int)subject->rank, "NCHW");
}

static void make_stick(struct random *random, struct subject *subject)
{
	uint32_t order[8], rank;
	int64_t elements, kind = random_between(random, 0, 3);
	bool is_sparse = kind == 3;

	random_shape(random, subject, 4);
	rank = subject->rank;
	elements = 128 / (int64_t)accel_dtype_size(subject->dtype);
	shuffle(random, order, rank);
	append(subject->text, "stick:%s", kind == 0 ? "pad=all;" : kind == 1 ? "pad=stick;" : "");
	if (kind == 2) {
		append(subject->text, "padded=");
		for (uint32_t d = 0; d < rank; d++) {
			int64_t extent = subject->shape[d] + random_between(random, 0, 3);

			if (d == order[rank - 1])
				extent = ceiling(extent, elements) * elements;
			append(subject->text, "%s%" PRId64, d ? "," : "", extent);
			subject->strides[d] = extent;
		}
		append(subject->text, ";");
	} else {
		for (uint32_t d = 0; d < rank; d++)
			subject->strides[d] = kind == 0 ?
				ceiling(subject->shape[d], elements) * elements : subject->shape[d];
	}
	append(subject->text, "order=");
	for (uint32_t k = 0; k < rank; k++)
		append(subject->text, "%s%u", k ? "," : "", order[k]);
	append(subject->text, is_sparse ? ",-1" : "");
	for (uint32_t k = 1; k <= rank; k++) {
		uint32_t dim = order[k % rank];

		if (dim == order[rank - 1] && !is_sparse)
			add_digit(subject, dim, elements, 0,
				  ceiling(subject->strides[dim], elements));
		else
			add_digit(subject, dim, 1, 0, subject->strides[dim]);
	}
	add_digit(subject, order[rank - 1], 1, is_sparse ? 1 : elements, elements);
}

static void make_strides(struct random *random, struct subject *subject)
{
	random_shape(random, subject, 4);
	subject->has_strides = true;
	append(subject->text, "strides:");
	for (uint32_t d = 0; d < subject->rank; d++) {
		subject->strides[d] = random_between(random, -50, 50);
		append(subject->text, "%s%" PRId64, d ? "," : "", subject->strides[d]);
		if (subject->strides[d] < 0)
			subject->offset -= subject->strides[d] * (subject->shape[d] - 1);
	}
	subject->offset += random_between(random, 0, 9);
	append(subject->text, "@%" PRId64, subject->offset);
}

static void make_glow(struct random *random, struct subject *subject)
{
	int64_t size, alignment, stride = 1;

	random_shape(random, subject, 4);
	size = (int64_t)accel_dtype_size(subject->dtype);
	subject->has_strides = true;
	append(subject->text, "glow:");
	for (uint32_t d = subject->rank; d--;) {
		char before[512];

		alignment = random_between(random, 0, 1) ? random_between(random, 1, 70) : 1;
		while (stride * size % alignment)
			stride++;
		subject->strides[d] = stride;
		stride *= subject->shape[d];
		snprintf(before, sizeof(before), "%s", subject->text + strlen("glow:"));
		sprintf(subject->text, "glow:%c", "NCHW*"[d]);
		if (alignment > 1)
			append(subject->text, "[a=%" PRId64 "]", alignment);
		append(subject->text, "%s", before);
	}
}

static void make_xla(struct random *random, struct subject *subject)
{
	uint32_t count;

	random_shape(random, subject, 4);
	subject->is_xla = true;
	shuffle(random, subject->perm, subject->rank);
	append(subject->text, "xla:{");
	for (uint32_t k = subject->rank; k--;)
		append(subject->text, "%u%s", subject->perm[k], k ? "," : "");
	subject->num_tiles = (uint32_t)random_between(random, 0, 3);
	count = subject->rank;
	for (uint32_t t = 0; t < subject->num_tiles; t++) {
		uint32_t rank = (uint32_t)random_between(random, 1, count);

		append(subject->text, "%s", t ? "(" : ":T(");
		subject->tile_rank[t] = rank;
		for (uint32_t k = 0; k < rank; k++) {
			bool combines = k + 1 < rank && !random_between(random, 0, 3);

			subject->tiles[t][k] = combines ? -1 : random_between(random, 1, 6);
			if (combines)
				append(subject->text, "*%s", k + 1 < rank ? "," : "");
			else
				append(subject->text, "%" PRId64 "%s", subject->tiles[t][k],
				       k + 1 < rank ? "," : "");
			count += combines ? -1 : 1;
		}
		append(subject->text, ")");
	}
	append(subject->text, "}");
}

static void (*const makers[])(struct random *, struct subject *) = {
	make_order, make_topi, make_onednn, make_pack, make_tile,
	make_stick, make_strides, make_glow, make_xla,
};

/* The element at an index, and the size of memory, by XLA's definition: one index, tile by tile. */
static int64_t simulate_xla(const struct subject *subject, const int64_t *index, int64_t *size)
{
	int64_t values[MAX_DIGITS], extents[MAX_DIGITS], element = 0;
	uint32_t count = subject->rank;

	for (uint32_t k = 0; k < count; k++) {
		values[k] = index[subject->perm[k]];
		extents[k] = subject->shape[subject->perm[k]];
	}
	for (uint32_t t = 0; t < subject->num_tiles; t++) {
		uint32_t first = count - subject->tile_rank[t], kept = first;
		int64_t tiles[MAX_DIGITS];
		uint32_t num_tiles;

		for (uint32_t k = 0; k < subject->tile_rank[t]; k++) {
			if (k && subject->tiles[t][k - 1] < 0) {
				values[kept - 1] = values[kept - 1] * extents[first + k] +
						   values[first + k];
				extents[kept - 1] *= extents[first + k];
			} else {
				values[kept] = values[first + k];
				extents[kept++] = extents[first + k];
			}
			tiles[kept - 1 - first] = subject->tiles[t][k];
		}
		num_tiles = kept - first;
		for (uint32_t k = 0; k < num_tiles; k++) {
			values[kept + k] = values[first + k] % tiles[k];
			extents[kept + k] = tiles[k];
			values[first + k] /= tiles[k];
			extents[first + k] = ceiling(extents[first + k], tiles[k]);
		}
		count = kept + num_tiles;
	}
	*size = 1;
	for (uint32_t k = 0; k < count; k++) {
		element = element * extents[k] + values[k];
		*size *= extents[k];
	}
	return element;
}

static int64_t simulate(const struct subject *subject, const int64_t *index, int64_t *size)
{
	int64_t element = 0;

	*size = 1;
	if (subject->is_xla)
		return simulate_xla(subject, index, size);
	if (subject->has_strides) {
		element = subject->offset;
		for (uint32_t d = 0; d < subject->rank; d++)
			element += index[d] * subject->strides[d];
		*size = -1;
		return element;
	}
	for (uint32_t k = 0; k < subject->num_digits; k++) {
		int64_t value = index[subject->digits[k].dim] / subject->digits[k].divisor;

		if (subject->digits[k].modulus)
			value %= subject->digits[k].modulus;
		element = element * subject->digits[k].extent + value;
		*size *= subject->digits[k].extent;
	}
	return element;
}

static bool next_index(const struct subject *subject, int64_t *index)
{
	for (uint32_t d = subject->rank; d--;) {
		if (++index[d] < subject->shape[d])
			return true;
		index[d] = 0;
	}
	return false;
}

static void describe(const char *what, const struct subject *subject)
{
	char shape[128] = "";

	for (uint32_t d = 0; d < subject->rank; d++)
		append(shape, "%s%" PRId64, d ? "," : "", subject->shape[d]);
	fail_msg("seed %" PRIu64 ": %s: %s over (%s) of %s", seed, what, subject->text, shape,
		 accel_dtype_name(subject->dtype));
}

static struct accel_layout *layout_of(const struct subject *subject)
{
	return parse_as(subject->text, subject->axes[0] ? subject->axes : NULL);
}

static int64_t dot(uint32_t count, const int64_t *a, const int64_t *b)
{
	int64_t sum = 0;

	for (uint32_t k = 0; k < count; k++)
		sum += a[k] * b[k];
	return sum;
}

/* The physical index that the map gives, at the physical strides, is the element. */
static void check_map(const struct subject *subject, struct accel_map *map,
		      const struct accel_layout_description *description, const int64_t *index,
		      int64_t expected)
{
	int64_t physical[ACCEL_MAP_MAX_AXES];
	uint32_t rank;

	if (accel_map_apply_index(map, subject->rank, index, &rank, physical, NULL) ||
	    rank != description->physical_rank ||
	    dot(rank, physical, description->strides) + description->offset != expected)
		describe("the map", subject);
	for (uint32_t k = 0; k < rank; k++) {
		if (physical[k] < 0 || physical[k] >= description->physical_shape[k])
			describe("the physical shape", subject);
	}
}

static uint64_t check_elements(const struct subject *subject, const struct accel_layout *layout)
{
	struct accel_layout_description description;
	int64_t index[8] = { 0 }, element, expected, size;
	int64_t bytes = (int64_t)accel_dtype_size(subject->dtype);
	struct accel_map *map = NULL;
	uint64_t points = 0;

	if (accel_layout_describe(layout, subject->dtype, subject->rank, subject->shape,
				  &description, NULL) ||
	    accel_layout_map(layout, subject->dtype, subject->rank, subject->shape, &map, NULL))
		describe("describe", subject);
	do {
		expected = simulate(subject, index, &size);
		if (accel_layout_element(layout, subject->dtype, subject->rank, subject->shape,
					 index, &element, NULL) || element != expected)
			describe("an element", subject);
		check_map(subject, map, &description, index, expected);
		if (size >= 0 ? description.bytes != size * bytes :
		    description.bytes < (expected + 1) * bytes)
			describe("the bytes", subject);
		points++;
	} while (next_index(subject, index));
	accel_map_unref(map);
	return points;
}

static void check_print(const struct subject *subject, const struct accel_layout *layout)
{
	char text[1024], again_text[1024];
	struct accel_layout *again;

	accel_layout_print(layout, text, sizeof(text));
	again = parse_as(text, accel_layout_axes(layout)[0] ? accel_layout_axes(layout) : NULL);
	accel_layout_print(again, again_text, sizeof(again_text));
	if (strcmp(text, again_text))
		describe("print and parse", subject);
	accel_layout_unref(again);
}

/* Each notation in which the layout can be written says the same of each element. */
static void check_expressions(const struct subject *subject, struct accel_layout *layout)
{
	for (uint32_t k = 0; accel_notation_name(k); k++) {
		struct accel_layout_description description;
		struct accel_layout *other;
		int64_t index[8] = { 0 }, element, size;
		int ret;

		ret = accel_layout_express(layout, subject->dtype, subject->rank, subject->shape,
					   accel_notation_name(k), &other, NULL);
		/* at least in its own it can be */
		if (ret && (ret != -ENOTSUP ||
			    !strcmp(accel_notation_name(k), accel_layout_notation(layout))))
			describe(accel_notation_name(k), subject);
		if (ret)
			continue;
		accel_layout_describe(other, subject->dtype, subject->rank, subject->shape,
				      &description, NULL);
		do {
			int64_t expected = simulate(subject, index, &size);

			if (accel_layout_element(other, subject->dtype, subject->rank,
						 subject->shape, index, &element, NULL) ||
			    element != expected)
				describe(accel_notation_name(k), subject);
		} while (next_index(subject, index));
		if (size >= 0 &&
		    description.bytes != size * (int64_t)accel_dtype_size(subject->dtype))
			describe(accel_notation_name(k), subject);
		accel_layout_unref(other);
	}
}

static void random_layouts_are_what_they_are_defined_to_be(void **state)
{
	struct random random = { seed };
	uint64_t points = 0;

	(void)state;
	for (uint64_t k = 0; points < NUM_POINTS; k++) {
		struct subject subject = { 0 };
		struct accel_layout *layout;

		makers[k % COUNT(makers)](&random, &subject);
		layout = layout_of(&subject);
		points += check_elements(&subject, layout);
		check_print(&subject, layout);
		if (k % 8 == 0)
			check_expressions(&subject, layout);
		accel_layout_unref(layout);
	}
	printf("%" PRIu64 " points\n", points);
}

/* The conversion takes the physical index of an element in the one to that in the other. */
static void check_conversion(const struct subject *from, const struct subject *to)
{
	struct accel_layout *from_layout = layout_of(from), *to_layout = layout_of(to);
	int64_t index[8] = { 0 }, source[ACCEL_MAP_MAX_AXES], expected[ACCEL_MAP_MAX_AXES];
	int64_t found[ACCEL_MAP_MAX_AXES];
	struct accel_map *from_map, *to_map, *conversion;
	struct accel_error error = { 0 };
	uint32_t source_rank, expected_rank, found_rank;

	if (accel_layout_conversion(from_layout, to_layout, from->dtype, from->rank, from->shape,
				    &conversion, &error))
		describe(error.message, from);
	accel_layout_map(from_layout, from->dtype, from->rank, from->shape, &from_map, NULL);
	accel_layout_map(to_layout, from->dtype, from->rank, from->shape, &to_map, NULL);
	do {
		accel_map_apply_index(from_map, from->rank, index, &source_rank, source, NULL);
		accel_map_apply_index(to_map, from->rank, index, &expected_rank, expected, NULL);
		if (accel_map_apply_index(conversion, source_rank, source, &found_rank, found,
					  NULL) ||
		    found_rank != expected_rank ||
		    memcmp(found, expected, found_rank * sizeof(found[0])))
			describe(to->text, from);
	} while (next_index(from, index));
	accel_map_unref(conversion);
	accel_map_unref(to_map);
	accel_map_unref(from_map);
	accel_layout_unref(to_layout);
	accel_layout_unref(from_layout);
}

static void random_conversions_lead_to_the_same_element(void **state)
{
	struct random random = { seed + 1 };
	uint32_t count = 0;

	(void)state;
	while (count < 3000) {
		struct subject from = { 0 }, to = { 0 };

		makers[random_between(&random, 0, COUNT(makers) - 1)](&random, &from);
		makers[random_between(&random, 0, COUNT(makers) - 1)](&random, &to);
		if (from.rank != to.rank)
			continue;
		/* padded extents and offsets were chosen for another shape */
		if (strstr(to.text, "padded=") || to.has_strides)
			continue;
		check_conversion(&from, &to);
		count++;
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_layouts_are_what_they_are_defined_to_be),
		cmocka_unit_test(random_conversions_lead_to_the_same_element),
	};

	seed = seed_from_arguments(argc, argv);
	return cmocka_run_group_tests_name("layout_property", tests, NULL, NULL);
}
