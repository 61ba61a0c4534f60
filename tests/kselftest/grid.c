// SPDX-License-Identifier: MIT
/*
 * libaccel on the memories and queues of all PEs of a device: what tests/unit shows of buffers on
 * chip, repartitions and tilings on the CPU, side by side on the queues of the driver.
 */
#include "tessera_test.h"

#include <accel.h>

#define ROWS	37
#define COLUMNS	51

static const int64_t shape[] = { ROWS, COLUMNS };

FIXTURE(grid) {
	struct accel_device *device;
	struct accel_device_info info;
	struct accel_tensor *tensor;
	__u16 *map;
	struct accel_error error;
};

/* A call that has to work for the test to make sense */
#define ASSERT_DONE(call)								\
	ASSERT_EQ(0, (call)) TH_LOG("%s: %s", #call, self->error.message)

FIXTURE_SETUP(grid)
{
	int i;

	ASSERT_DONE(accel_open(NULL, &self->device, &self->error));
	accel_device_info(self->device, &self->info);
	ASSERT_DONE(accel_tensor_create(self->device, ACCEL_DTYPE_U16, 2, shape, NULL,
					&self->tensor, &self->error));
	ASSERT_DONE(accel_buffer_map(accel_tensor_buffer(self->tensor), (void **)&self->map,
				     &self->error));
	for (i = 0; i < ROWS * COLUMNS; i++)
		self->map[i] = i + 1;
}

FIXTURE_TEARDOWN(grid)
{
	accel_tensor_unref(self->tensor);
	accel_device_unref(self->device);
}

static struct accel_distribution *distribute(struct __test_metadata *_metadata,
					     FIXTURE_DATA(grid) *self, const char *text)
{
	struct accel_distribution *distribution;
	struct accel_layout *layout;

	ASSERT_DONE(accel_layout_parse(text, NULL, &layout, &self->error));
	ASSERT_DONE(accel_distribution_create(self->device, ACCEL_DTYPE_U16, 2, shape, layout,
					      &distribution, &self->error));
	accel_layout_unref(layout);
	return distribution;
}

static void move(struct __test_metadata *_metadata, FIXTURE_DATA(grid) *self,
		 struct accel_distribution *dst, struct accel_distribution *src)
{
	struct accel_repartition *repartition;

	ASSERT_DONE(accel_repartition_create(dst, src, &repartition, &self->error));
	ASSERT_DONE(accel_repartition_submit(repartition, NULL, 0, &self->error));
	ASSERT_DONE(accel_repartition_wait(repartition, -1, &self->error));
	accel_repartition_unref(repartition);
}

/* Fills a distribution with 1, 2, 3, .. */
static void fill(struct __test_metadata *_metadata, FIXTURE_DATA(grid) *self,
		 struct accel_distribution *distribution)
{
	struct accel_distribution *whole;

	ASSERT_DONE(accel_distribution_from_tensor(self->tensor, &whole, &self->error));
	move(_metadata, self, distribution, whole);
	accel_distribution_unref(whole);
}

/* Blocks of columns, transposed: how many elements are not where they belong */
static int count_wrong(struct __test_metadata *_metadata, FIXTURE_DATA(grid) *self,
		       struct accel_distribution *columns, int block)
{
	int wrong = 0;
	int i, j;

	for (j = 0; j < COLUMNS; j++) {
		struct accel_buffer *buffer = accel_distribution_buffer(columns, j / block);
		const __u16 *map;

		ASSERT_NE(NULL, buffer);
		EXPECT_EQ(j / block, accel_buffer_pe(buffer));
		ASSERT_DONE(accel_buffer_map(buffer, (void **)&map, &self->error));
		for (i = 0; i < ROWS; i++)
			wrong += map[j % block * ROWS + i] != i * COLUMNS + j + 1;
	}
	return wrong;
}

/* Layouts of blocks of rows, and of columns, for all PEs of the device */
static int blocks(FIXTURE_DATA(grid) *self, char *rows, char *columns)
{
	int row_block = (ROWS + self->info.num_queues - 1) / self->info.num_queues;
	int column_block = (COLUMNS + self->info.num_queues - 1) / self->info.num_queues;

	sprintf(rows, "(i, j) -> (i//%d, i%%%d, j)", row_block, row_block);
	sprintf(columns, "(i, j) -> (j//%d, j%%%d, i)", column_block, column_block);
	return column_block;
}

TEST_F(grid, memory_of_each_pe_is_there_and_has_an_end)
{
	struct accel_buffer *buffer, *other;
	uint32_t pe;
	int fd;

	for (pe = 0; pe < self->info.num_queues; pe++) {
		ASSERT_DONE(accel_buffer_create_sram(self->device, pe, self->info.sram_size,
						     &buffer, &self->error));
		EXPECT_EQ(pe, accel_buffer_pe(buffer));
		EXPECT_EQ(-ENOSPC, accel_buffer_create_sram(self->device, pe, 1, &other,
							    &self->error));
		EXPECT_NE(NULL, strstr(self->error.message, "bytes of the memory of PE"));
		EXPECT_EQ(-ENOTSUP, accel_buffer_export(buffer, &fd, &self->error));
		accel_buffer_unref(buffer);
	}
	EXPECT_EQ(-EINVAL, accel_buffer_create_sram(self->device, pe, 1, &buffer, &self->error));
}

TEST_F(grid, rows_become_columns_again_and_again)
{
	struct accel_distribution *rows, *columns;
	struct accel_repartition *repartition;
	char row_text[64], column_text[64];
	int block = blocks(self, row_text, column_text);
	int round;

	rows = distribute(_metadata, self, row_text);
	columns = distribute(_metadata, self, column_text);
	ASSERT_DONE(accel_repartition_create(columns, rows, &repartition, &self->error));
	fill(_metadata, self, rows);
	for (round = 0; round < 20; round++) {
		ASSERT_DONE(accel_repartition_submit(repartition, NULL, 0, &self->error));
		ASSERT_DONE(accel_repartition_wait(repartition, -1, &self->error));
		EXPECT_EQ(0, count_wrong(_metadata, self, columns, block));
	}
	accel_repartition_unref(repartition);
	accel_distribution_unref(rows);
	accel_distribution_unref(columns);
}

TEST_F(grid, parts_become_a_tensor_again)
{
	struct accel_distribution *turns, *whole;
	char text[64];

	sprintf(text, "(i, j) -> ((i + j)%%%u, i, j)", self->info.num_queues);
	turns = distribute(_metadata, self, text);
	fill(_metadata, self, turns);
	memset(self->map, 0, sizeof(__u16) * ROWS * COLUMNS);
	ASSERT_DONE(accel_distribution_from_tensor(self->tensor, &whole, &self->error));
	move(_metadata, self, whole, turns);
	for (int i = 0; i < ROWS * COLUMNS; i++)
		EXPECT_EQ(i + 1, self->map[i]);
	accel_distribution_unref(whole);
	accel_distribution_unref(turns);
}

TEST_F(grid, repartition_waits_for_its_fences)
{
	struct dma_buf_export_sync_file export = { .flags = DMA_BUF_SYNC_RW };
	struct accel_distribution *rows, *columns;
	struct accel_repartition *repartition;
	struct accel_fence *gate_fence, *fence;
	char row_text[64], column_text[64];
	int block = blocks(self, row_text, column_text);
	struct test_gate gate;
	int fd = test_open(_metadata);

	TEST_GATE_OR_SKIP(fd, &gate);
	ASSERT_EQ(0, test_ioctl(gate.dma_buf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &export));
	ASSERT_DONE(accel_fence_import(export.fd, &gate_fence, &self->error));
	close(export.fd);
	rows = distribute(_metadata, self, row_text);
	columns = distribute(_metadata, self, column_text);
	fill(_metadata, self, rows);
	ASSERT_DONE(accel_repartition_create(columns, rows, &repartition, &self->error));
	ASSERT_DONE(accel_repartition_submit(repartition, &gate_fence, 1, &self->error));
	EXPECT_EQ(-ETIME, accel_repartition_wait(repartition, 0, &self->error));
	EXPECT_STREQ("repartition: the jobs of queue 0 are not complete", self->error.message);
	EXPECT_EQ(-EBUSY, accel_repartition_submit(repartition, NULL, 0, &self->error));
	EXPECT_STREQ("repartition: what was submitted last is not complete", self->error.message);
	ASSERT_DONE(accel_repartition_fence(repartition, 0, &fence, &self->error));
	EXPECT_EQ(0, accel_fence_poll(fence, &self->error));
	EXPECT_EQ(ROWS * COLUMNS, count_wrong(_metadata, self, columns, block));
	ASSERT_EQ(0, test_gate_signal(&gate));
	ASSERT_DONE(accel_fence_wait(fence, -1, &self->error));
	ASSERT_DONE(accel_repartition_wait(repartition, -1, &self->error));
	EXPECT_EQ(0, count_wrong(_metadata, self, columns, block));
	accel_fence_unref(fence);
	accel_fence_unref(gate_fence);
	accel_repartition_unref(repartition);
	accel_distribution_unref(rows);
	accel_distribution_unref(columns);
	close(gate.dma_buf);
	close(gate.fd);
	close(fd);
}

/* What the device has counted on its links: to links, by PE and direction */
static void read_links(struct __test_metadata *_metadata, unsigned long long links[64][4])
{
	int fd = test_open(_metadata);
	char path[PATH_MAX], line[4096];
	unsigned int pe = 0;
	FILE *file;

	test_debugfs_path(_metadata, fd, "counters", path);
	file = fopen(path, "r");
	ASSERT_NE(NULL, file);
	for (; pe < 64 && fgets(line, sizeof(line), file); pe++) {
		const char *at = strstr(line, " links ");

		ASSERT_NE(NULL, at);
		ASSERT_EQ(4, sscanf(at, " links %llu %llu %llu %llu", &links[pe][0], &links[pe][1],
				    &links[pe][2], &links[pe][3]));
	}
	fclose(file);
	close(fd);
}

/* Rows of whole bursts are cut into blocks of whole bursts, so that these are bytes */
TEST_F(grid, device_counts_the_bytes_that_are_told)
{
	static const int64_t even_shape[] = { 64, 512 };
	unsigned long long before[64][4], after[64][4];
	struct accel_distribution *rows, *columns;
	struct accel_repartition *repartition;
	uint32_t num_pes = self->info.num_queues;
	struct accel_layout *layout;
	char text[64];
	uint32_t pe, k;

	if (!self->info.grid_columns || 64 % num_pes)
		SKIP(return, "the device has no grid, or one that 64 rows are not cut for");
	sprintf(text, "(i, j) -> (i//%u, i%%%u, j)", 64 / num_pes, 64 / num_pes);
	ASSERT_DONE(accel_layout_parse(text, NULL, &layout, &self->error));
	ASSERT_DONE(accel_distribution_create(self->device, ACCEL_DTYPE_U16, 2, even_shape, layout,
					      &rows, &self->error));
	accel_layout_unref(layout);
	sprintf(text, "(i, j) -> (j//%u, i, j%%%u)", 512 / num_pes, 512 / num_pes);
	ASSERT_DONE(accel_layout_parse(text, NULL, &layout, &self->error));
	ASSERT_DONE(accel_distribution_create(self->device, ACCEL_DTYPE_U16, 2, even_shape, layout,
					      &columns, &self->error));
	accel_layout_unref(layout);
	ASSERT_DONE(accel_repartition_create(columns, rows, &repartition, &self->error));
	read_links(_metadata, before);
	ASSERT_DONE(accel_repartition_submit(repartition, NULL, 0, &self->error));
	ASSERT_DONE(accel_repartition_wait(repartition, -1, &self->error));
	read_links(_metadata, after);
	for (pe = 0; pe < num_pes; pe++) {
		for (k = 0; k < 4; k++)
			EXPECT_EQ(accel_repartition_link_bytes(repartition, pe, k),
				  after[pe][k] - before[pe][k]);
	}
	accel_repartition_unref(repartition);
	accel_distribution_unref(rows);
	accel_distribution_unref(columns);
}

TEST_F(grid, tiles_are_loaded_and_stored_side_by_side)
{
	static const int64_t tile[] = { 5, 8 }, subtile[] = { 3, 5 };
	static const uint32_t order[] = { 1, 0 };
	struct accel_tiling tiling = {
		.tile = tile, .order = order, .subtile = subtile, .suborder = order,
	};
	struct accel_tiling_info info;
	struct accel_layout *layout;
	struct accel_tensor *result;
	__u16 *map;
	uint32_t queue;
	int i;

	ASSERT_DONE(accel_layout_parse("BA", "AB", &layout, &self->error));
	for (queue = 0; queue < self->info.num_queues; queue++) {
		tiling.pe = self->info.num_queues - 1;
		tiling.load_queue = queue;
		ASSERT_DONE(accel_tensor_create(self->device, ACCEL_DTYPE_U16, 2, shape, layout,
						&result, &self->error));
		ASSERT_DONE(accel_copy_tiled(result, self->tensor, &tiling, NULL, 0, &info,
					     &self->error));
		EXPECT_EQ(8 * 7, info.num_tiles);
		ASSERT_DONE(accel_buffer_map(accel_tensor_buffer(result), (void **)&map,
					     &self->error));
		for (i = 0; i < ROWS * COLUMNS; i++)
			EXPECT_EQ(i % ROWS * COLUMNS + i / ROWS + 1, map[i]);
		accel_tensor_unref(result);
	}
	accel_layout_unref(layout);
}

/* The transpose of the tensor, by tiles that are prepared: on the last PE, brought by the first */
static struct accel_tiled_copy *prepare_transpose(struct __test_metadata *_metadata,
						  FIXTURE_DATA(grid) *self,
						  struct accel_tensor **result, __u16 **map)
{
	static const int64_t tile[] = { 5, 8 }, subtile[] = { 3, 5 };
	const struct accel_tiling tiling = {
		.tile = tile, .subtile = subtile, .pe = self->info.num_queues - 1,
	};
	struct accel_tiled_copy *copy;
	struct accel_layout *layout;

	ASSERT_DONE(accel_layout_parse("BA", "AB", &layout, &self->error));
	ASSERT_DONE(accel_tensor_create(self->device, ACCEL_DTYPE_U16, 2, shape, layout, result,
					&self->error));
	accel_layout_unref(layout);
	ASSERT_DONE(accel_buffer_map(accel_tensor_buffer(*result), (void **)map, &self->error));
	ASSERT_DONE(accel_tiled_copy_create(*result, self->tensor, &tiling, &copy, &self->error));
	return copy;
}

static int count_not_transposed(FIXTURE_DATA(grid) *self, const __u16 *map)
{
	int wrong = 0;
	int i;

	for (i = 0; i < ROWS * COLUMNS; i++)
		wrong += map[i] != self->map[i % ROWS * COLUMNS + i / ROWS];
	return wrong;
}

TEST_F(grid, prepared_tiles_are_copied_again_and_again)
{
	struct accel_tiling_info info;
	struct accel_tiled_copy *copy;
	struct accel_tensor *result;
	__u16 *map;
	int round, i;

	copy = prepare_transpose(_metadata, self, &result, &map);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < ROWS * COLUMNS; i++)
			self->map[i] = i + round;
		ASSERT_DONE(accel_tiled_copy_submit(copy, NULL, 0, &self->error));
		ASSERT_DONE(accel_tiled_copy_wait(copy, -1, &self->error));
		EXPECT_EQ(0, count_not_transposed(self, map));
	}
	accel_tiled_copy_info(copy, &info);
	EXPECT_EQ(8 * 7, info.num_tiles);
	EXPECT_NE(0, info.store_ns);
	accel_tiled_copy_unref(copy);
	accel_tensor_unref(result);
}

/* What waits holds up nobody: the fence is there at once */
TEST_F(grid, prepared_tiles_wait_for_their_fences)
{
	struct dma_buf_export_sync_file export = { .flags = DMA_BUF_SYNC_RW };
	struct accel_fence *gate_fence, *fence;
	struct accel_tiled_copy *copy;
	struct accel_tensor *result;
	struct test_gate gate;
	int fd = test_open(_metadata);
	__u16 *map;

	TEST_GATE_OR_SKIP(fd, &gate);
	ASSERT_EQ(0, test_ioctl(gate.dma_buf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &export));
	ASSERT_DONE(accel_fence_import(export.fd, &gate_fence, &self->error));
	close(export.fd);
	copy = prepare_transpose(_metadata, self, &result, &map);
	ASSERT_DONE(accel_tiled_copy_submit(copy, &gate_fence, 1, &self->error));
	EXPECT_EQ(-ETIME, accel_tiled_copy_wait(copy, 0, &self->error));
	EXPECT_STREQ("tiling: the jobs of queue 0 are not complete", self->error.message);
	EXPECT_EQ(-EBUSY, accel_tiled_copy_submit(copy, NULL, 0, &self->error));
	EXPECT_STREQ("tiling: what was submitted last is not complete", self->error.message);
	ASSERT_DONE(accel_tiled_copy_fence(copy, &fence, &self->error));
	EXPECT_EQ(0, accel_fence_poll(fence, &self->error));
	EXPECT_EQ(ROWS * COLUMNS, count_not_transposed(self, map));
	ASSERT_EQ(0, test_gate_signal(&gate));
	ASSERT_DONE(accel_fence_wait(fence, -1, &self->error));
	EXPECT_EQ(0, count_not_transposed(self, map));
	ASSERT_DONE(accel_tiled_copy_wait(copy, -1, &self->error));
	accel_fence_unref(fence);
	accel_fence_unref(gate_fence);
	accel_tiled_copy_unref(copy);
	accel_tensor_unref(result);
	close(gate.dma_buf);
	close(gate.fd);
	close(fd);
}

/* Bursts of system memory that jobs of all queues have read */
static unsigned long long count_bursts(struct __test_metadata *_metadata)
{
	int fd = test_open(_metadata);
	unsigned long long sum = 0, bursts;
	char path[PATH_MAX], line[4096];
	FILE *file;

	test_debugfs_path(_metadata, fd, "counters", path);
	file = fopen(path, "r");
	ASSERT_NE(NULL, file);
	while (fgets(line, sizeof(line), file)) {
		const char *at = strstr(line, " system_bursts_read ");

		ASSERT_NE(NULL, at);
		ASSERT_EQ(1, sscanf(at, " system_bursts_read %llu", &bursts));
		sum += bursts;
	}
	fclose(file);
	close(fd);
	return sum;
}

/* Rows lie in memory: tiles that are read along columns take a burst for each element */
TEST_F(grid, tiles_are_read_in_the_order_that_is_asked_for)
{
	static const int64_t tile[] = { 10, 51 };
	static const uint32_t orders[][2] = { { 0, 1 }, { 1, 0 } };
	unsigned long long bursts[2], before;
	struct accel_tensor *result;
	int i;

	if (!self->info.grid_columns)
		SKIP(return, "the device has no counters");
	ASSERT_DONE(accel_tensor_create(self->device, ACCEL_DTYPE_U16, 2, shape, NULL, &result,
					&self->error));
	for (i = 0; i < 2; i++) {
		struct accel_tiling tiling = { .tile = tile, .order = orders[i] };

		before = count_bursts(_metadata);
		ASSERT_DONE(accel_copy_tiled(result, self->tensor, &tiling, NULL, 0, NULL,
					     &self->error));
		bursts[i] = count_bursts(_metadata) - before;
	}
	EXPECT_GE(ROWS * COLUMNS / 16, bursts[0]);
	EXPECT_EQ(ROWS * COLUMNS, bursts[1]);
	accel_tensor_unref(result);
}

/* What a tensor takes to be read, into SRAM tile by tile and from there: tenths of a microsecond */
static uint64_t count_reads(struct __test_metadata *_metadata, FIXTURE_DATA(grid) *self,
			    const int64_t *extents, const int64_t *tile, const uint32_t *order)
{
	struct accel_tiling tiling = { .tile = tile, .order = order, .suborder = order };
	struct accel_tensor *src, *dst;
	struct accel_tiling_info info;

	ASSERT_DONE(accel_tensor_create(self->device, ACCEL_DTYPE_F32, 4, extents, NULL, &src,
					&self->error));
	ASSERT_DONE(accel_tensor_create(self->device, ACCEL_DTYPE_F32, 4, extents, NULL, &dst,
					&self->error));
	ASSERT_DONE(accel_copy_tiled(dst, src, &tiling, NULL, 0, &info, &self->error));
	EXPECT_EQ(802816, info.loads.memory[0].bytes_read);
	EXPECT_EQ(802816, info.stores.memory[1].bytes_read);
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
	return ((info.loads.memory[0].cycles_read + info.stores.memory[1].cycles_read) * 100000 /
		self->info.clock_khz + 5) / 10;
}

TEST_F(grid, tiles_cost_what_the_specification_says)
{
	static const int64_t nchw[] = { 1, 64, 56, 56 }, nhwc[] = { 1, 56, 56, 64 };
	static const int64_t channels[] = { 1, 16, 56, 56 }, rows[] = { 1, 14, 56, 64 };
	static const uint32_t matched[] = { 0, 1, 2, 3 };
	static const uint32_t along_channels[] = { 0, 2, 3, 1 }, along_rows[] = { 0, 3, 1, 2 };

	if (!self->info.clock_khz)
		SKIP(return, "the device has no counters");
	ASSERT_DONE(accel_device_set_counting(self->device, true, &self->error));
	EXPECT_EQ(161, count_reads(_metadata, self, nchw, channels, matched));
	EXPECT_EQ(1541, count_reads(_metadata, self, nchw, channels, along_channels));
	EXPECT_EQ(161, count_reads(_metadata, self, nhwc, rows, matched));
	EXPECT_EQ(1541, count_reads(_metadata, self, nhwc, rows, along_rows));
}

TEST_HARNESS_MAIN
