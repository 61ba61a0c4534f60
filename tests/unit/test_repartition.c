// SPDX-License-Identifier: MIT
/*
 * Distributions and repartitions: every element where its layout says, by formulas written here;
 * bytes by counting elements; and what is refused.
 */
#include "accel_test.h"

static struct accel_error error;

static struct accel_device *open_grid(const char *name)
{
	struct accel_device *device;

	expect_ok(accel_open(name, &device, &error));
	return device;
}

static struct accel_layout *parse(const char *text)
{
	struct accel_layout *layout;

	expect_ok(accel_layout_parse(text, NULL, &layout, &error));
	return layout;
}

static struct accel_distribution *distribute(struct accel_device *device, const int64_t *shape,
					     const char *text)
{
	struct accel_distribution *distribution;
	struct accel_layout *layout = parse(text);

	expect_ok(accel_distribution_create(device, ACCEL_DTYPE_U16, 2, shape, layout,
					    &distribution, &error));
	accel_layout_unref(layout);
	return distribution;
}

static uint16_t *map_buffer(struct accel_buffer *buffer)
{
	void *data;

	expect_ok(accel_buffer_map(buffer, &data, &error));
	return data;
}

/* A row-major tensor of 1, 2, 3, .. */
static struct accel_tensor *count_up(struct accel_device *device, const int64_t *shape)
{
	struct accel_tensor *tensor;
	uint16_t *data;

	expect_ok(accel_tensor_create(device, ACCEL_DTYPE_U16, 2, shape, NULL, &tensor, &error));
	data = map_buffer(accel_tensor_buffer(tensor));
	for (int64_t k = 0; k < shape[0] * shape[1]; k++)
		data[k] = (uint16_t)(k + 1);
	return tensor;
}

static void move(struct accel_distribution *dst, struct accel_distribution *src)
{
	struct accel_repartition *repartition;

	expect_ok(accel_repartition_create(dst, src, &repartition, &error));
	expect_ok(accel_repartition_submit(repartition, NULL, 0, &error));
	expect_ok(accel_repartition_wait(repartition, -1, &error));
	accel_repartition_unref(repartition);
}

/* Fills a distribution with 1, 2, 3, .. in row-major order. */
static void fill(struct accel_distribution *distribution, struct accel_device *device,
		 const int64_t *shape)
{
	struct accel_tensor *tensor = count_up(device, shape);
	struct accel_distribution *whole;

	expect_ok(accel_distribution_from_tensor(tensor, &whole, &error));
	move(distribution, whole);
	accel_distribution_unref(whole);
	accel_tensor_unref(tensor);
}

/* An element of a distribution: on which PE, and which of its buffer. */
struct place {
	uint32_t pe;
	int64_t element;
};

static void expect_elements(const struct accel_distribution *distribution, const int64_t *shape,
			    struct place (*place)(int64_t i, int64_t j))
{
	for (int64_t i = 0; i < shape[0]; i++) {
		for (int64_t j = 0; j < shape[1]; j++) {
			struct place at = place(i, j);
			struct accel_buffer *buffer = accel_distribution_buffer(distribution,
										at.pe);

			assert_non_null(buffer);
			assert_int_equal(accel_buffer_pe(buffer), at.pe);
			assert_int_equal(map_buffer(buffer)[at.element], i * shape[1] + j + 1);
		}
	}
}

static struct place in_rows(int64_t i, int64_t j)
{
	return (struct place){ (uint32_t)(i / 3), i % 3 * 13 + j };
}

static struct place in_columns(int64_t i, int64_t j)
{
	return (struct place){ (uint32_t)(j / 4), j % 4 * 10 + i };
}

/* Rows of 13 by threes on 4 PEs, to columns of 10 by fours: neither divides. */
static void rows_become_columns(void **state)
{
	static const int64_t shape[] = { 10, 13 };
	struct accel_distribution *rows, *columns;

	rows = distribute(*state, shape, "(i, j) -> (i//3, i%3, j)");
	columns = distribute(*state, shape, "(i, j) -> (j//4, j%4, i)");
	fill(rows, *state, shape);
	expect_elements(rows, shape, in_rows);
	move(columns, rows);
	expect_elements(columns, shape, in_columns);
	expect_elements(rows, shape, in_rows);
	accel_distribution_unref(rows);
	accel_distribution_unref(columns);
}

static struct place in_turn(int64_t i, int64_t j)
{
	return (struct place){ (uint32_t)((i + j) % 5), j / 5 * 7 + i };
}

static struct place in_tiles(int64_t i, int64_t j)
{
	return (struct place){ (uint32_t)(3 * (i / 4) + j / 5), (i % 4 * 5 + j % 5) };
}

static void diagonals_become_tiles(void **state)
{
	static const int64_t shape[] = { 7, 11 };
	struct accel_device *device = open_grid("cpu:pes=6,sram=8K");
	struct accel_distribution *turns, *tiles;

	(void)state;
	turns = distribute(device, shape, "(i, j) -> ((i + j)%5, j//5, i)");
	tiles = distribute(device, shape, "(i, j) -> (3*(i//4) + j//5, i%4, j%5)");
	fill(turns, device, shape);
	expect_elements(turns, shape, in_turn);
	move(tiles, turns);
	expect_elements(tiles, shape, in_tiles);
	assert_null(accel_distribution_buffer(turns, 5));
	assert_null(accel_distribution_buffer(turns, 64));
	assert_null(accel_distribution_buffer(turns, ACCEL_PE_NONE));
	accel_distribution_unref(turns);
	accel_distribution_unref(tiles);
	accel_device_unref(device);
}

static void tensors_are_distributions_of_one_part(void **state)
{
	static const int64_t shape[] = { 10, 13 };
	struct accel_distribution *rows, *whole, *near;
	struct accel_tensor *tensor, *flipped, *sram;
	uint16_t *data;

	rows = distribute(*state, shape, "(i, j) -> (i//3, i%3, j)");
	fill(rows, *state, shape);
	expect_ok(accel_tensor_create(*state, ACCEL_DTYPE_U16, 2, shape, NULL, &tensor, &error));
	expect_ok(accel_tensor_flip(tensor, 1, &flipped, &error));
	expect_ok(accel_distribution_from_tensor(flipped, &whole, &error));
	assert_ptr_equal(accel_distribution_buffer(whole, ACCEL_PE_NONE),
			 accel_tensor_buffer(tensor));
	assert_null(accel_distribution_buffer(whole, 0));
	move(whole, rows);
	data = map_buffer(accel_tensor_buffer(tensor));
	for (int64_t k = 0; k < 130; k++)
		assert_int_equal(data[k], k / 13 * 13 + 12 - k % 13 + 1);
	expect_ok(accel_tensor_create_sram(*state, 2, ACCEL_DTYPE_U16, 2, shape, NULL, &sram,
					   &error));
	expect_ok(accel_distribution_from_tensor(sram, &near, &error));
	assert_ptr_equal(accel_distribution_buffer(near, 2), accel_tensor_buffer(sram));
	move(near, whole);
	data = map_buffer(accel_tensor_buffer(sram));
	for (int64_t k = 0; k < 130; k++)
		assert_int_equal(data[k], k + 1);
	accel_distribution_unref(near);
	accel_distribution_unref(whole);
	accel_distribution_unref(rows);
	accel_tensor_unref(sram);
	accel_tensor_unref(flipped);
	accel_tensor_unref(tensor);
}

/* Along the row, then along the column, step by step. */
static void count_route(uint64_t links[64][4], uint32_t columns, uint32_t from, uint32_t to)
{
	for (; from % columns < to % columns; from++)
		links[from][ACCEL_DIRECTION_EAST] += 2;
	for (; from % columns > to % columns; from--)
		links[from][ACCEL_DIRECTION_WEST] += 2;
	for (; from < to; from += columns)
		links[from][ACCEL_DIRECTION_SOUTH] += 2;
	for (; from > to; from -= columns)
		links[from][ACCEL_DIRECTION_NORTH] += 2;
}

static struct place on_64_columns(int64_t i, int64_t j)
{
	return (struct place){ (uint32_t)(j / 3), i * 3 + j % 3 };
}

/* 64 PEs, of which rows are on 34 and columns on 63; what is told of it, by counting elements. */
static void bytes_and_links_are_those_of_each_element(void **state)
{
	static const int64_t shape[] = { 67, 187 };
	struct accel_device *device = open_grid("cpu:pes=64,columns=8,sram=8K");
	uint64_t pairs[64][64] = { 0 }, links[64][4] = { 0 }, sum = 0, most = 0, network = 0;
	struct accel_distribution *rows, *columns;
	struct accel_repartition *repartition;
	struct accel_repartition_info info;

	(void)state;
	rows = distribute(device, shape, "(i, j) -> (i//2, i%2, j)");
	columns = distribute(device, shape, "(i, j) -> (j//3, i, j%3)");
	fill(rows, device, shape);
	expect_ok(accel_repartition_create(columns, rows, &repartition, &error));
	for (int64_t k = 0; k < shape[0] * shape[1]; k++) {
		uint32_t from = (uint32_t)(k / shape[1] / 2), to = (uint32_t)(k % shape[1] / 3);

		pairs[from][to] += 2;
		network += from == to ? 0 : 2;
		count_route(links, 8, from, to);
	}
	for (uint32_t from = 0; from < 64; from++) {
		for (uint32_t to = 0; to < 64; to++)
			assert_int_equal(accel_repartition_bytes(repartition, from, to),
					 pairs[from][to]);
		for (uint32_t direction = 0; direction < 4; direction++) {
			assert_int_equal(accel_repartition_link_bytes(repartition, from, direction),
					 links[from][direction]);
			sum += links[from][direction];
			most = links[from][direction] > most ? links[from][direction] : most;
		}
	}
	accel_repartition_info(repartition, &info);
	assert_int_equal(info.bytes, 67 * 187 * 2);
	assert_int_equal(info.network_bytes, network);
	assert_int_equal(info.link_bytes, sum);
	assert_int_equal(info.max_link_bytes, most);
	assert_int_equal(info.num_submissions, 63);
	assert_int_equal(info.num_jobs, 34 * 63);
	assert_int_equal(accel_repartition_bytes(repartition, ACCEL_PE_NONE, 0), 0);
	assert_int_equal(accel_repartition_bytes(repartition, 64, 0), 0);
	assert_int_equal(accel_repartition_bytes(repartition, 0, 64), 0);
	assert_int_equal(accel_repartition_link_bytes(repartition, 64, 0), 0);
	assert_int_equal(accel_repartition_link_bytes(repartition, 0, 4), 0);
	expect_ok(accel_repartition_submit(repartition, NULL, 0, &error));
	expect_ok(accel_repartition_wait(repartition, -1, &error));
	expect_elements(columns, shape, on_64_columns);
	accel_repartition_unref(repartition);
	accel_distribution_unref(rows);
	accel_distribution_unref(columns);
	accel_device_unref(device);
}

static uint32_t apart(uint32_t a, uint32_t b)
{
	return a < b ? b - a : a - b;
}

/* An element from each PE to each. */
static void expect_ways(const char *name, uint32_t num_pes, uint32_t columns)
{
	const int64_t shape[] = { num_pes, num_pes };
	struct accel_device *device = open_grid(name);
	struct accel_distribution *before, *after;
	struct accel_repartition *repartition;
	struct accel_repartition_info info;
	uint64_t links[64][4] = { 0 }, steps = 0;

	before = distribute(device, shape, "(i, j) -> (i, j)");
	after = distribute(device, shape, "(i, j) -> (j, i)");
	expect_ok(accel_repartition_create(after, before, &repartition, &error));
	for (uint32_t from = 0; from < num_pes; from++) {
		for (uint32_t to = 0; to < num_pes; to++) {
			assert_int_equal(accel_repartition_bytes(repartition, from, to), 2);
			count_route(links, columns, from, to);
			steps += apart(from % columns, to % columns) +
				 apart(from / columns, to / columns);
		}
	}
	for (uint32_t pe = 0; pe < 64; pe++) {
		for (uint32_t direction = 0; direction < 4; direction++)
			assert_int_equal(accel_repartition_link_bytes(repartition, pe, direction),
					 links[pe][direction]);
	}
	accel_repartition_info(repartition, &info);
	assert_int_equal(info.link_bytes, 2 * steps);
	assert_int_equal(info.num_jobs, num_pes * num_pes);
	accel_repartition_unref(repartition);
	accel_distribution_unref(before);
	accel_distribution_unref(after);
	accel_device_unref(device);
}

static void each_pair_of_pes_has_its_way(void **state)
{
	(void)state;
	expect_ways("cpu:pes=1,sram=8K", 1, 1);
	expect_ways("cpu:pes=6,columns=3,sram=8K", 6, 3);
	expect_ways("cpu:pes=13,sram=8K", 13, 13);
	expect_ways("cpu:pes=64,columns=1,sram=8K", 64, 1);
	expect_ways("cpu:pes=64,columns=8,sram=8K", 64, 8);
	expect_ways("cpu:pes=64,columns=64,sram=8K", 64, 64);
}

static void bytes_of_system_memory_cross_no_link(void **state)
{
	static const int64_t shape[] = { 4, 4 };
	struct accel_distribution *rows = distribute(*state, shape, "(i, j) -> (i, j)"), *whole;
	struct accel_tensor *tensor = count_up(*state, shape);
	struct accel_repartition *repartition;
	struct accel_repartition_info info;

	expect_ok(accel_distribution_from_tensor(tensor, &whole, &error));
	expect_ok(accel_repartition_create(rows, whole, &repartition, &error));
	accel_repartition_info(repartition, &info);
	assert_int_equal(info.bytes, 32);
	assert_int_equal(info.network_bytes, 0);
	assert_int_equal(info.link_bytes, 0);
	assert_int_equal(accel_repartition_bytes(repartition, ACCEL_PE_NONE, 3), 8);
	accel_repartition_unref(repartition);
	accel_distribution_unref(whole);
	accel_distribution_unref(rows);
	accel_tensor_unref(tensor);
}

static void repartition_runs_again_with_what_is_there_then(void **state)
{
	static const int64_t shape[] = { 10, 13 };
	struct accel_distribution *rows, *columns;
	struct accel_repartition *repartition;
	struct accel_fence *fence;

	rows = distribute(*state, shape, "(i, j) -> (i//3, i%3, j)");
	columns = distribute(*state, shape, "(i, j) -> (j//4, j%4, i)");
	expect_ok(accel_repartition_create(columns, rows, &repartition, &error));
	expect_failure(accel_repartition_wait(repartition, -1, &error), -EINVAL,
		       "repartition: nothing was submitted");
	expect_failure(accel_repartition_fence(repartition, 1, &fence, &error), -ENOENT,
		       "repartition: nothing was submitted to the queue of PE 1");
	expect_ok(accel_repartition_submit(repartition, NULL, 0, &error));
	assert_int_equal(map_buffer(accel_distribution_buffer(columns, 0))[0], 0);
	fill(rows, *state, shape);
	expect_ok(accel_repartition_submit(repartition, NULL, 0, &error));
	expect_ok(accel_repartition_fence(repartition, 1, &fence, &error));
	expect_ok(accel_fence_wait(fence, -1, &error));
	expect_ok(accel_repartition_wait(repartition, 0, &error));
	expect_elements(columns, shape, in_columns);
	accel_fence_unref(fence);
	accel_repartition_unref(repartition);
	accel_distribution_unref(rows);
	accel_distribution_unref(columns);
}

static void nothing_is_moved_without_elements(void **state)
{
	static const int64_t shape[] = { 0, 13 };
	struct accel_distribution *rows, *columns;
	struct accel_repartition *repartition;
	struct accel_repartition_info info;

	rows = distribute(*state, shape, "(i, j) -> (i//3, i%3, j)");
	columns = distribute(*state, shape, "(i, j) -> (j//4, j%4, i)");
	assert_null(accel_distribution_buffer(rows, 0));
	expect_ok(accel_repartition_create(columns, rows, &repartition, &error));
	expect_ok(accel_repartition_submit(repartition, NULL, 0, &error));
	expect_ok(accel_repartition_wait(repartition, -1, &error));
	accel_repartition_info(repartition, &info);
	assert_int_equal(info.num_jobs, 0);
	assert_int_equal(info.bytes, 0);
	accel_repartition_unref(repartition);
	accel_distribution_unref(rows);
	accel_distribution_unref(columns);
}

static void expect_no_distribution(struct accel_device *device, const int64_t *shape,
				   const char *text, int code, const char *message)
{
	struct accel_layout *layout = parse(text);
	struct accel_distribution *distribution;

	expect_failure(accel_distribution_create(device, ACCEL_DTYPE_U16, 2, shape, layout,
						 &distribution, &error), code, message);
	assert_null(distribution);
	accel_layout_unref(layout);
}

static void what_the_grid_cannot_hold_is_refused(void **state)
{
	struct accel_device *device = open_grid("cpu:pes=2,sram=4K");

	expect_no_distribution(*state, (int64_t[]){ 17, 2 }, "(i, j) -> (i//4, i%4, j)", -ERANGE,
			       "partition: there are elements on PE 4, expected 0 or more and less "
			       "than 4");
	expect_no_distribution(device, (int64_t[]){ 2, 2049 }, "(i, j) -> (i, j)", -EINVAL,
			       "buffer: 4098 bytes of on-chip memory, expected 1 to 4096 on "
			       "cpu:pes=2,sram=4K");
	expect_no_distribution(device, (int64_t[]){ 2, 3 }, "strides:1,2", -EINVAL,
			       "distribution: the layout's first physical axis, which is the PE, "
			       "is expected to be the outermost in memory");
	expect_no_distribution(device, (int64_t[]){ 2, 3 }, "(i, j, k) -> (i, j, k)", -EINVAL,
			       "layout of 3 axes: the shape has 2, expected 3");
	accel_device_unref(device);
}

/* Otherwise it would be left to chance which of them is there after a repartition. */
static void two_elements_at_a_place_are_refused(void **state)
{
	expect_no_distribution(*state, (int64_t[]){ 4, 4 }, "(i, j) -> (i//2, 0, j)", -EDOM,
			       "distribution: two elements are at the same place");
	expect_no_distribution(*state, (int64_t[]){ 4, 4 }, "strides:16,0", -EINVAL,
			       "distribution: the layout's physical axes are expected to be nested "
			       "in memory, so that none leads to where another does");
}

/* Squares come to PEs without order: each row, and each column, is a piece, nearly. */
static void too_many_jobs_are_refused(void **state)
{
	static const int64_t shape[] = { 400, 400 };
	struct accel_distribution *rows, *columns;
	struct accel_repartition *repartition;

	rows = distribute(*state, shape, "(i, j) -> (i*i//7%4, i, j)");
	columns = distribute(*state, shape, "(i, j) -> (j*j//7%4, i, j)");
	expect_failure(accel_repartition_create(columns, rows, &repartition, &error), -E2BIG,
		       "repartition: it needs more than 65536 jobs");
	assert_null(repartition);
	accel_distribution_unref(rows);
	accel_distribution_unref(columns);
}

static void other_shapes_types_and_devices_are_refused(void **state)
{
	static const int64_t shape[] = { 4, 4 }, other_shape[] = { 4, 5 };
	struct accel_device *other = open_grid("cpu");
	struct accel_distribution *rows, *wide, *bytes, *elsewhere;
	struct accel_layout *layout = parse("(i, j) -> (i, j)");
	struct accel_repartition *repartition;

	rows = distribute(*state, shape, "(i, j) -> (i, j)");
	wide = distribute(*state, other_shape, "(i, j) -> (i, j)");
	elsewhere = distribute(other, shape, "(i, j) -> (i, j)");
	expect_ok(accel_distribution_create(*state, ACCEL_DTYPE_U8, 2, shape, layout, &bytes,
					    &error));
	expect_failure(accel_repartition_create(rows, wide, &repartition, &error), -EINVAL,
		       "copy: axis 1 has 4 elements in the destination and 5 in the source; "
		       "expected the same shape");
	assert_null(repartition);
	expect_failure(accel_repartition_create(rows, bytes, &repartition, &error), -EINVAL,
		       "copy: the destination has elements of u16, the source of u8; expected the "
		       "same, or a raw type of the same size");
	expect_failure(accel_repartition_create(rows, elsewhere, &repartition, &error), -EXDEV,
		       "repartition: the distributions are on different devices");
	accel_layout_unref(layout);
	accel_distribution_unref(rows);
	accel_distribution_unref(wide);
	accel_distribution_unref(bytes);
	accel_distribution_unref(elsewhere);
	accel_device_unref(other);
	accel_distribution_unref(NULL);
	accel_repartition_unref(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_become_columns),
		cmocka_unit_test(diagonals_become_tiles),
		cmocka_unit_test(tensors_are_distributions_of_one_part),
		cmocka_unit_test(bytes_and_links_are_those_of_each_element),
		cmocka_unit_test(each_pair_of_pes_has_its_way),
		cmocka_unit_test(bytes_of_system_memory_cross_no_link),
		cmocka_unit_test(repartition_runs_again_with_what_is_there_then),
		cmocka_unit_test(nothing_is_moved_without_elements),
		cmocka_unit_test(what_the_grid_cannot_hold_is_refused),
		cmocka_unit_test(two_elements_at_a_place_are_refused),
		cmocka_unit_test(too_many_jobs_are_refused),
		cmocka_unit_test(other_shapes_types_and_devices_are_refused),
	};

	return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
