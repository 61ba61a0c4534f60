// SPDX-License-Identifier: MIT
/*
 * Partitions: each element is in one piece, that of its PE, by enumeration; few pieces where few
 * are enough.
 */
#include "accel_test.h"
#include "grid/partition.h"
#include "seed.h"

static struct accel_error error;
static uint64_t seed;

static struct accel_map *parse(const char *text)
{
	struct accel_map *map;

	expect_ok(accel_map_parse(text, &map, &error));
	return map;
}

static bool has(const struct piece *piece, uint32_t rank, const int64_t *index)
{
	for (uint32_t d = 0; d < rank; d++) {
		int64_t distance = index[d] - piece->axes[d].first;

		if (distance < 0 || distance % piece->axes[d].step ||
		    distance / piece->axes[d].step >= piece->axes[d].count)
			return false;
	}
	return true;
}

/* Goes to the next index of the shape; false after the last. */
static bool next_index(uint32_t rank, const int64_t *shape, int64_t *index)
{
	for (uint32_t d = rank; d--;) {
		if (++index[d] < shape[d])
			return true;
		index[d] = 0;
	}
	return false;
}

/* Every element of a shape that has some is in one piece, and that is the one of its PE. */
static void expect_covered(const struct accel_map *map, const struct partition *partition,
			   const int64_t *shape)
{
	int64_t index[ACCEL_MAX_DIMS] = { 0 }, output[ACCEL_MAP_MAX_AXES];

	do {
		int found = 0;

		expect_ok(accel_map_apply_index(map, partition->rank, index, NULL, output, &error));
		for (size_t k = 0; k < partition->num_pieces; k++) {
			if (!has(&partition->pieces[k], partition->rank, index))
				continue;
			assert_int_equal(partition->pieces[k].pe, output[0]);
			found++;
		}
		assert_int_equal(found, 1);
	} while (next_index(partition->rank, shape, index));
	for (uint32_t pe = 0; pe < partition->num_pes; pe++) {
		for (size_t k = partition->starts[pe]; k < partition->starts[pe + 1]; k++)
			assert_int_equal(partition->pieces[k].pe, pe);
	}
	assert_int_equal(partition->starts[partition->num_pes], partition->num_pieces);
}

static void expect_pieces(const char *text, const int64_t *shape, size_t num_pieces)
{
	struct accel_map *map = parse(text);
	struct partition partition;

	expect_ok(partition_create(map, shape, 64, &partition, &error));
	assert_int_equal(partition.num_pieces, num_pieces);
	expect_covered(map, &partition, shape);
	partition_release(&partition);
	accel_map_unref(map);
}

static void blocks_and_cycles_are_a_piece_a_pe(void **state)
{
	(void)state;
	expect_pieces("(i, j) -> (i//4, i%4, j)", (int64_t[]){ 10, 6 }, 3);
	expect_pieces("(i, j) -> (j//3, i, j%3)", (int64_t[]){ 10, 7 }, 3);
	expect_pieces("(i, j) -> (i%4, i//4, j)", (int64_t[]){ 11, 3 }, 4);
	expect_pieces("(i, j) -> (3*(i//4) + j//5, i%4, j%5)", (int64_t[]){ 9, 13 }, 9);
	expect_pieces("(i, j) -> (4*(i%3) + j%4, i//3, j//4)", (int64_t[]){ 9, 13 }, 12);
	expect_pieces("(i) -> (7, i)", (int64_t[]){ 5 }, 1);
	expect_pieces("(i) -> (i//1000000000, i%1000)", (int64_t[]){ 3 }, 1);
}

static void cycles_of_blocks_are_one_piece_for_each_index_of_a_block(void **state)
{
	(void)state;
	/* PE 0: 0,1 8,9 16,17 24; PE 3: 6,7 14,15 22,23 */
	expect_pieces("(i) -> (i//2%4, i//8, i%2)", (int64_t[]){ 25 }, 3 + 2 + 2 + 2);
	/* fewer blocks than indices in a block: a piece for each block */
	expect_pieces("(i) -> (i//16%2, i//32, i%16)", (int64_t[]){ 64 }, 4);
}

static void flat_and_diagonal_partitions_are_found(void **state)
{
	(void)state;
	expect_pieces("(i, j) -> ((7*i + j)//20, (7*i + j)%20)", (int64_t[]){ 9, 7 }, 9);
	expect_pieces("(i, j) -> ((i + j)%3, i, j//3)", (int64_t[]){ 6, 9 }, 9);
	expect_pieces("(i, j, k) -> ((i + k)%2, i, j, k)", (int64_t[]){ 4, 5, 6 }, 4);
}

static void large_blocks_are_found_at_once(void **state)
{
	static const int64_t shape[] = { (int64_t)1 << 40, 3 };
	struct accel_map *map = parse("(i, j) -> (i//17179869185, i%17179869185, j)");
	struct partition partition;

	(void)state;
	expect_ok(partition_create(map, shape, 64, &partition, &error));
	assert_int_equal(partition.num_pieces, 64);
	assert_int_equal(partition.pieces[63].axes[0].first, 63 * 17179869185);
	assert_int_equal(partition.pieces[63].axes[0].count, shape[0] - 63 * 17179869185);
	partition_release(&partition);
	accel_map_unref(map);
}

static void nothing_has_no_pieces(void **state)
{
	static const int64_t shape[] = { 4, 0 };
	struct accel_map *map = parse("(i, j) -> (i//2, i%2, j)");
	struct partition partition;

	(void)state;
	expect_ok(partition_create(map, shape, 2, &partition, &error));
	assert_int_equal(partition.num_pieces, 0);
	partition_release(&partition);
	expect_ok(partition_create_whole(2, shape, &partition, &error));
	assert_int_equal(partition.num_pieces, 0);
	partition_release(&partition);
	accel_map_unref(map);
}

static void expect_refused(const char *text, const int64_t *shape, int code, const char *message)
{
	struct accel_map *map = parse(text);
	struct partition partition;

	expect_failure(partition_create(map, shape, 4, &partition, &error), code, message);
	assert_null(partition.pieces);
	accel_map_unref(map);
}

static void what_no_pes_can_have_is_refused(void **state)
{
	(void)state;
	expect_refused("(i) -> (i//4, i%4)", (int64_t[]){ 17 }, -ERANGE,
		       "partition: there are elements on PE 4, expected 0 or more and less than 4");
	expect_refused("(i) -> (i//4 - 1, i%4)", (int64_t[]){ 8 }, -ERANGE,
		       "partition: there are elements on PE -1, expected 0 or more and less than "
		       "4");
	expect_refused("(i) -> (i*i//7%4, i)", (int64_t[]){ 100000 }, -E2BIG,
		       "partition: more than 8192 pieces of evenly spaced indices");
	expect_refused("(i, j) -> (i*j//1048576, i, j)", (int64_t[]){ 1 << 21, 2 }, -E2BIG,
		       "partition: the PE changes too often along the axes, expected to be done "
		       "after 1048576 evaluations");
	expect_refused("(i) -> (i//(i - 1), i)", (int64_t[]){ 4 }, -EDOM,
		       "partition: the PE: a division by 0");
	expect_refused("(i) -> (i*M, i)", (int64_t[]){ 4 }, -ENOENT,
		       "partition: the PE: a name without a value");
	expect_refused("(i) -> (i*4611686018427387904, i)", (int64_t[]){ 4 }, -EOVERFLOW,
		       "partition: the PE: it does not fit 64 bits");
	/* each value fits, and how far it is from that of index 0 does not */
	expect_refused("(i) -> (select(i < 1, 3, -9223372036854775807 - 1), i)", (int64_t[]){ 2 },
		       -EOVERFLOW, "partition: the PE does not fit 64 bits");
	expect_refused("(i) -> (i*4611686018427387904*4, i)", (int64_t[]){ 4 }, -EOVERFLOW,
		       "map: a value does not fit 64 bits");
}

/* Terms of a PE: what a partition is made of, and what it is not. */
static const char *const terms[] = {
	"i//%d", "j//%d", "i%%%d", "j%%%d", "(i + j)//%d", "(i + 2*j)%%%d", "(%d*i + j)//11",
	"k%%%d", "(i//%d)%%2", "(j//%d)%%3", "min(i, %d)", "select(j < %d, 1, 0)",
};

static void random_partitions_cover_the_shape(void **state)
{
	struct random random = { seed };

	(void)state;
	for (int round = 0; round < 300; round++) {
		int64_t shape[3];
		struct partition partition;
		struct accel_map *map;
		char text[200] = "(i, j, k) -> ((";
		int ret;

		for (int d = 0; d < 3; d++)
			shape[d] = random_between(&random, 1, 8);
		for (int t = 0; t < 3; t++) {
			size_t length = strlen(text);

			length += (size_t)sprintf(text + length, "%s", t ? " + " : "");
			sprintf(text + length, terms[random_between(&random, 0, COUNT(terms) - 1)],
				(int)random_between(&random, 1, 6));
		}
		strcat(text, random_between(&random, 0, 1) ? ")%8, i, j, k)" : "), i, j, k)");
		map = parse(text);
		memset(&error, 0, sizeof(error));
		ret = partition_create(map, shape, 64, &partition, &error);
		if (ret)
			fail_msg("%s: %s", text, error.message);
		expect_covered(map, &partition, shape);
		partition_release(&partition);
		accel_map_unref(map);
	}
}

static void random_progressions_intersect(void **state)
{
	struct random random = { seed };

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct piece a = { 0 }, b = { 0 }, common;
		struct piece *const pieces[] = { &a, &b };
		bool is_found;

		for (int p = 0; p < 2; p++) {
			pieces[p]->axes[0] = (struct progression){
				.first = random_between(&random, 0, 19),
				.step = random_between(&random, 1, 9),
				.count = random_between(&random, 1, 8),
			};
			if (pieces[p]->axes[0].count == 1)
				pieces[p]->axes[0].step = 1;
		}
		is_found = piece_intersect(&a, &b, 1, &common);
		for (int64_t index = 0; index < 100; index++)
			assert_int_equal(is_found && has(&common, 1, &index),
					 has(&a, 1, &index) && has(&b, 1, &index));
		if (is_found && common.axes[0].count == 1)
			assert_int_equal(common.axes[0].step, 1);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_and_cycles_are_a_piece_a_pe),
		cmocka_unit_test(cycles_of_blocks_are_one_piece_for_each_index_of_a_block),
		cmocka_unit_test(flat_and_diagonal_partitions_are_found),
		cmocka_unit_test(large_blocks_are_found_at_once),
		cmocka_unit_test(nothing_has_no_pieces),
		cmocka_unit_test(what_no_pes_can_have_is_refused),
		cmocka_unit_test(random_partitions_cover_the_shape),
		cmocka_unit_test(random_progressions_intersect),
	};

	seed = seed_from_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
