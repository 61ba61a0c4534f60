// SPDX-License-Identifier: MIT
/*
 * Moves: what a job without a program does to memory.
 */
#include "engine_test.h"

static void every_type_is_moved_bit_for_bit(void **state)
{
	uint8_t bytes[17 * 5], moved[17 * 5];

	(void)state;
	/* all ones is a NaN in every float type; it must not be touched */
	memset(bytes, 0xff, sizeof(bytes));
	for (uint32_t dtype = 0; dtype < 256; dtype++) {
		uint32_t size = engine_dtype_size(dtype);
		struct engine_job *job;

		if (!size)
			continue;
		memset(moved, 0, sizeof(moved));
		job = new_job(1, dtype);
		set_buffer(job, 0, moved + 1, 5 * size);
		set_buffer(job, 1, bytes, 5 * size);
		add_loop(job, 5, size, size);
		run_job(job);
		assert_memory_equal(moved + 1, bytes, 5 * size);
		assert_int_equal(moved[0], 0);
		assert_int_equal(moved[1 + 5 * size], 0);
	}
}

/* dst[i][j] = src[j][i] in an array a little wider than needed, at odd addresses. */
static void check_transpose(uint32_t shift, uint64_t rows, uint64_t columns)
{
	uint64_t size = 1ull << shift, bytes = (rows + 1) * (columns + 1) * size + 1;
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_CLASS_RAW | shift);
	uint8_t *src = malloc(bytes), *dst = calloc(1, bytes), *expected = calloc(1, bytes);

	for (uint64_t i = 0; i < bytes; i++)
		src[i] = (uint8_t)(i * 31 + i / 251);
	for (uint64_t i = 0; i < rows; i++)
		for (uint64_t j = 0; j < columns; j++)
			memcpy(expected + 1 + (i * (columns + 1) + j) * size,
			       src + 1 + (j * (rows + 1) + i) * size, size);
	set_buffer(job, 0, dst + 1, bytes - 1);
	set_buffer(job, 1, src + 1, bytes - 1);
	add_loop(job, rows, (int64_t)((columns + 1) * size), (int64_t)size);
	add_loop(job, columns, (int64_t)size, (int64_t)((rows + 1) * size));
	run_job(job);
	assert_memory_equal(dst, expected, bytes);
	free(src);
	free(dst);
	free(expected);
}

static void elements_of_every_size_are_transposed(void **state)
{
	static const uint64_t sides[] = { 1, 2, 3, 15, 16, 17, 31, 33, 64, 65, 130 };

	(void)state;
	for (uint32_t shift = 0; shift <= 4; shift++)
		for (size_t i = 0; i < COUNT(sides); i++)
			for (size_t j = 0; j < COUNT(sides); j++)
				check_transpose(shift, sides[i], sides[j]);
}

static void nchw_becomes_nhwc(void **state)
{
	enum { N = 2, C = 3, H = 5, W = 7 };
	static float nchw[N][C][H][W], nhwc[N][H][W][C];
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_F32);

	(void)state;
	for (int i = 0; i < N * C * H * W; i++)
		(&nchw[0][0][0][0])[i] = (float)i;
	SET_BUFFER(job, 0, nhwc);
	SET_BUFFER(job, 1, nchw);
	add_loop(job, N, sizeof(nhwc[0]), sizeof(nchw[0]));
	add_loop(job, C, sizeof(float), sizeof(nchw[0][0]));
	add_loop(job, H, sizeof(nhwc[0][0]), sizeof(nchw[0][0][0]));
	add_loop(job, W, sizeof(nhwc[0][0][0]), sizeof(float));
	run_job(job);
	for (int n = 0; n < N; n++)
		for (int c = 0; c < C; c++)
			for (int h = 0; h < H; h++)
				for (int w = 0; w < W; w++)
					assert_true(nhwc[n][h][w][c] == nchw[n][c][h][w]);
}

static void im2col_of_a_3x3_image_with_a_2x2_kernel(void **state)
{
	const char image[] = "abcdefghi";
	char columns[] = "................";
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

	(void)state;
	set_buffer(job, 0, columns, 16);
	set_buffer(job, 1, image, 9);
	add_loop(job, 2, 8, 3);
	add_loop(job, 2, 4, 1);
	add_loop(job, 2, 2, 3);
	add_loop(job, 2, 1, 1);
	run_job(job);
	assert_string_equal(columns, "abdebcefdeghefhi");
}

static void im2col_with_padding_reads_fill_around_the_image(void **state)
{
	const char image[] = "abcd";
	char columns[] = "....................................";
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);
	struct drm_tessera_window *rows, *lines;

	(void)state;
	/* 2x2 image, 3x3 kernel, padding 1: [kh][kw][oh][ow] */
	set_buffer(job, 0, columns, 36);
	set_buffer(job, 1, image, 4);
	add_loop(job, 3, 12, 2);
	add_loop(job, 3, 4, 1);
	add_loop(job, 2, 2, 2);
	add_loop(job, 2, 1, 1);
	job->operands[1].spec.address.offset = -3;
	job->operands[1].spec.fill[0] = '-';
	rows = add_window(job, 1, -1, 2);
	rows->value.strides[0] = 1;
	rows->value.strides[2] = 1;
	lines = add_window(job, 1, -1, 2);
	lines->value.strides[1] = 1;
	lines->value.strides[3] = 1;
	run_job(job);
	assert_string_equal(columns, "---a--ab--b--a-cabcdb-d--c--cd--d---");
}

static void window_before_the_start_reads_fill(void **state)
{
	const char line[] = "abc";
	char padded[] = ".....";
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

	(void)state;
	set_buffer(job, 0, padded, 5);
	set_buffer(job, 1, line, 3);
	add_loop(job, 5, 1, 1);
	job->operands[1].spec.address.offset = -2;
	job->operands[1].spec.fill[0] = '<';
	add_window(job, 1, -2, INT64_MAX)->value.strides[0] = 1;
	run_job(job);
	assert_string_equal(padded, "<<abc");
}

static void window_past_the_end_reads_fill(void **state)
{
	const char line[] = "abc";
	char padded[] = ".....";
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

	(void)state;
	set_buffer(job, 0, padded, 5);
	set_buffer(job, 1, line, 3);
	add_loop(job, 5, 1, 1);
	job->operands[1].spec.fill[0] = '>';
	add_window(job, 1, 0, 3)->value.strides[0] = 1;
	run_job(job);
	assert_string_equal(padded, "abc>>");
}

static void window_of_the_destination_leaves_memory_as_it_is(void **state)
{
	const char line[] = "abcde";
	char partial[] = ".....";
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

	(void)state;
	set_buffer(job, 0, partial, 5);
	set_buffer(job, 1, line, 5);
	add_loop(job, 5, 1, 1);
	add_window(job, 0, -1, 3)->value.strides[0] = 1;
	run_job(job);
	assert_string_equal(partial, ".bcd.");
}

static void windows_of_both_sides_are_independent(void **state)
{
	const char line[] = "abcde";
	char partial[] = ".....";
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

	(void)state;
	set_buffer(job, 0, partial, 5);
	set_buffer(job, 1, line, 5);
	add_loop(job, 5, 1, 1);
	job->operands[1].spec.fill[0] = '-';
	add_window(job, 0, 0, 4)->value.strides[0] = 1;
	add_window(job, 1, -2, 3)->value.strides[0] = 1;
	run_job(job);
	assert_string_equal(partial, "--cd.");
}

static void window_that_is_stepped_over_holds_nowhere(void **state)
{
	const char line[] = "ab";
	char filled[] = "..";
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

	(void)state;
	set_buffer(job, 0, filled, 2);
	set_buffer(job, 1, line, 2);
	add_loop(job, 2, 1, 1);
	job->operands[1].spec.fill[0] = '-';
	/* -3 and 7: neither is in 0 to 4 */
	add_window(job, 1, -3, 5)->value.strides[0] = 10;
	run_job(job);
	assert_string_equal(filled, "--");
}

static void window_without_coefficients_holds_or_does_not(void **state)
{
	const char line[] = "ab";
	char filled[] = "..";

	(void)state;
	for (int64_t bias = 0; bias < 2; bias++) {
		struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

		set_buffer(job, 0, filled, 2);
		set_buffer(job, 1, line, 2);
		add_loop(job, 2, 1, 1);
		job->operands[1].spec.fill[0] = '-';
		add_window(job, 1, bias, 1);
		run_job(job);
		assert_string_equal(filled, bias ? "--" : "ab");
	}
}

static void window_across_two_loops_cuts_a_triangle(void **state)
{
	char square[] = "................";
	const char star[] = "*";
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);
	struct drm_tessera_window *window;

	(void)state;
	set_buffer(job, 0, square, 16);
	set_buffer(job, 1, star, 1);
	add_loop(job, 4, 4, 0);
	add_loop(job, 4, 1, 0);
	window = add_window(job, 0, 0, 4);
	window->value.strides[0] = 1;
	window->value.strides[1] = -1;
	run_job(job);
	assert_string_equal(square, "*...**..***.****");
}

static void partial_tile_is_filled_up(void **state)
{
	const char line[] = "abcdefg";
	char tiles[] = "........";
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);
	struct drm_tessera_window *window;

	(void)state;
	/* 7 elements in 2 tiles of 4 */
	set_buffer(job, 0, tiles, 8);
	set_buffer(job, 1, line, 7);
	add_loop(job, 2, 4, 4);
	add_loop(job, 4, 1, 1);
	job->operands[1].spec.fill[0] = '-';
	window = add_window(job, 1, 0, 7);
	window->value.strides[0] = 4;
	window->value.strides[1] = 1;
	run_job(job);
	assert_string_equal(tiles, "abcdefg-");
}

static void negative_stride_reverses(void **state)
{
	const char line[] = "abcde";
	char reversed[] = ".....";
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

	(void)state;
	set_buffer(job, 0, reversed, 5);
	set_buffer(job, 1, line, 5);
	add_loop(job, 5, -1, 1);
	job->operands[0].spec.address.offset = 4;
	run_job(job);
	assert_string_equal(reversed, "edcba");
}

static void stride_of_zero_broadcasts(void **state)
{
	const char line[] = "ab";
	char rows[] = "......";
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

	(void)state;
	set_buffer(job, 0, rows, 6);
	set_buffer(job, 1, line, 2);
	add_loop(job, 2, 3, 1);
	add_loop(job, 3, 1, 0);
	run_job(job);
	assert_string_equal(rows, "aaabbb");
}

static void rank_0_moves_one_element(void **state)
{
	const char from[] = "ab";
	char to[] = "..";
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

	(void)state;
	set_buffer(job, 0, to, 2);
	set_buffer(job, 1, from, 2);
	job->operands[1].spec.address.offset = 1;
	run_job(job);
	assert_string_equal(to, "b.");
}

static void extent_of_0_does_nothing_whatever_the_addresses(void **state)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

	(void)state;
	set_buffer(job, 0, NULL, 0);
	set_buffer(job, 1, NULL, 0);
	add_loop(job, UINT64_MAX, INT64_MAX, INT64_MIN);
	add_loop(job, 0, 1, 1);
	run_job(job);
}

static void rows_longer_than_a_block_are_moved_whole(void **state)
{
	enum { ROWS = 3, BYTES = 200001 };
	uint8_t *from = malloc((size_t)ROWS * BYTES), *to = calloc(ROWS, BYTES);
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

	(void)state;
	for (int i = 0; i < ROWS * BYTES; i++)
		from[i] = (uint8_t)(i * 7 + i / 255);
	set_buffer(job, 0, to, (uint64_t)ROWS * BYTES);
	set_buffer(job, 1, from, (uint64_t)ROWS * BYTES);
	/* the rows change places, so that the loops do not run on into each other */
	add_loop(job, ROWS, -BYTES, BYTES);
	add_loop(job, BYTES, 1, 1);
	job->operands[0].spec.address.offset = (ROWS - 1) * BYTES;
	run_job(job);
	for (int r = 0; r < ROWS; r++)
		assert_memory_equal(to + r * BYTES, from + (ROWS - 1 - r) * BYTES, BYTES);
	free(from);
	free(to);
}

static void in_place_fill_changes_what_windows_leave_out(void **state)
{
	char line[] = "abcde";
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

	(void)state;
	set_buffer(job, 0, line, 5);
	set_buffer(job, 1, line, 5);
	add_loop(job, 5, 1, 1);
	job->operands[1].spec.fill[0] = '-';
	add_window(job, 1, -1, 3)->value.strides[0] = 1;
	run_job(job);
	assert_string_equal(line, "-bcd-");
}

static const uint32_t index_dtypes[] = {
	DRM_TESSERA_DTYPE_U8, DRM_TESSERA_DTYPE_U16, DRM_TESSERA_DTYPE_U32, DRM_TESSERA_DTYPE_U64,
	DRM_TESSERA_DTYPE_I8, DRM_TESSERA_DTYPE_I16, DRM_TESSERA_DTYPE_I32, DRM_TESSERA_DTYPE_I64,
};

/* Indices of any type, packed at an odd address. */
struct indices {
	uint8_t bytes[1 + 8 * 8];
};

static struct indices pack(uint32_t dtype, const int64_t *values, size_t count)
{
	struct indices packed = { { 0 } };

	for (size_t i = 0; i < count; i++)
		memcpy(packed.bytes + 1 + i * engine_dtype_size(dtype), &values[i],
		       engine_dtype_size(dtype));
	return packed;
}

static void indices_of_every_type_gather(void **state)
{
	static const int64_t values[] = { 4, 0, 4, 1 };

	(void)state;
	for (size_t t = 0; t < COUNT(index_dtypes); t++) {
		struct indices packed = pack(index_dtypes[t], values, 4);
		struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);
		char gathered[] = "....";

		set_buffer(job, 0, gathered, 4);
		set_buffer(job, 1, "abcde", 5);
		add_loop(job, 4, 1, 0);
		add_indices(job, 1, packed.bytes + 1, sizeof(packed) - 1, index_dtypes[t], 0, 1);
		job->operands[1].spec.index_limit = 5;
		run_job(job);
		assert_string_equal(gathered, "eaeb");
	}
}

static void rows_are_gathered_whole(void **state)
{
	static const int32_t rows[] = { 2, 0, 1, 2 };
	static uint16_t table[3][100], gathered[4][100];
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U16);

	(void)state;
	for (int i = 0; i < 300; i++)
		(&table[0][0])[i] = (uint16_t)(i * 77);
	SET_BUFFER(job, 0, gathered);
	SET_BUFFER(job, 1, table);
	add_loop(job, 4, sizeof(gathered[0]), 0);
	add_loop(job, 100, 2, 2);
	add_indices(job, 1, rows, sizeof(rows), DRM_TESSERA_DTYPE_I32, 0, sizeof(table[0]));
	run_job(job);
	for (int r = 0; r < 4; r++)
		assert_memory_equal(gathered[r], table[rows[r]], sizeof(table[0]));
}

static void rows_are_scattered_whole(void **state)
{
	static const uint8_t rows[] = { 2, 0, 1 };
	static uint32_t from[3][10], table[3][10];
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U32);

	(void)state;
	for (int i = 0; i < 30; i++)
		(&from[0][0])[i] = (uint32_t)i * 77777;
	SET_BUFFER(job, 0, table);
	SET_BUFFER(job, 1, from);
	add_loop(job, 3, 0, sizeof(from[0]));
	add_loop(job, 10, 4, 4);
	add_indices(job, 0, rows, sizeof(rows), DRM_TESSERA_DTYPE_U8, 0, sizeof(table[0]));
	run_job(job);
	for (int r = 0; r < 3; r++)
		assert_memory_equal(table[rows[r]], from[r], sizeof(table[0]));
}

static void both_sides_may_be_indirect(void **state)
{
	static const uint8_t sources[] = { 3, 1, 0, 2 }, destinations[] = { 0, 2, 1, 3 };
	char to[] = "....";
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

	(void)state;
	set_buffer(job, 0, to, 4);
	set_buffer(job, 1, "abcd", 4);
	add_loop(job, 4, 0, 0);
	add_indices(job, 0, destinations, 4, DRM_TESSERA_DTYPE_U8, 0, 1);
	add_indices(job, 1, sources, 4, DRM_TESSERA_DTYPE_U8, 0, 1);
	run_job(job);
	assert_string_equal(to, "dabc");
}

static void index_that_no_loop_changes_is_a_base(void **state)
{
	static const uint8_t base = 2;
	char to[] = "...";
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

	(void)state;
	set_buffer(job, 0, to, 3);
	set_buffer(job, 1, "abcde", 5);
	add_loop(job, 3, 1, 1);
	add_indices(job, 1, &base, 1, DRM_TESSERA_DTYPE_U8, 0, 1);
	job->operands[1].spec.index_address.strides[0] = 0;
	run_job(job);
	assert_string_equal(to, "cde");
}

static void negative_index_is_good_where_there_is_no_limit(void **state)
{
	static const int8_t indices[] = { -1, -2, 0 };
	char to[] = "...";
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

	(void)state;
	set_buffer(job, 0, to, 3);
	set_buffer(job, 1, "abc", 3);
	add_loop(job, 3, 1, 0);
	add_indices(job, 1, indices, 3, DRM_TESSERA_DTYPE_I8, 0, 1);
	job->operands[1].spec.address.offset = 2;
	run_job(job);
	assert_string_equal(to, "bac");
}

static void index_is_not_read_where_a_window_does_not_hold(void **state)
{
	static const uint8_t indices[] = { 1, 0, 200 };
	char to[] = "...";
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

	(void)state;
	set_buffer(job, 0, to, 3);
	set_buffer(job, 1, "abc", 3);
	add_loop(job, 3, 1, 0);
	add_indices(job, 1, indices, 3, DRM_TESSERA_DTYPE_U8, 0, 1);
	job->operands[1].spec.fill[0] = '-';
	add_window(job, 1, 0, 2)->value.strides[0] = 1;
	run_job(job);
	assert_string_equal(to, "ba-");
}

/* A gather of one byte by one index, for what can go wrong with it. */
static struct engine_job *gather_by(const void *index, uint32_t dtype, char *to)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U32);

	set_buffer(job, 0, to, 4);
	set_buffer(job, 1, "abcdefghijkl", 12);
	add_loop(job, 1, 4, 0);
	add_indices(job, 1, index, engine_dtype_size(dtype), dtype, 0, 4);
	return job;
}

static void index_at_the_limit_faults(void **state)
{
	static const uint16_t index = 2;
	char to[4] = "....";
	struct engine_job *job = gather_by(&index, DRM_TESSERA_DTYPE_U16, to);
	struct engine_fault fault;

	(void)state;
	job->operands[1].spec.index_limit = 2;
	assert_int_equal(try_job(job, NULL, &fault), -ERANGE);
	assert_int_equal(fault.cause, DRM_TESSERA_CAUSE_INDEX_LIMIT);
	assert_int_equal(fault.operand, 1);
	assert_int_equal(fault.offset, 2);
	assert_string_equal(fault.text,
			    "source 0: index is 2, expected at least 0 and less than 2");
	assert_memory_equal(to, "....", 4);
	free(job);
}

static void negative_index_faults_where_there_is_a_limit(void **state)
{
	static const int64_t index = -1;
	char to[4] = "....";
	struct engine_job *job = gather_by(&index, DRM_TESSERA_DTYPE_I64, to);
	struct engine_fault fault;

	(void)state;
	job->operands[1].spec.index_limit = 2;
	assert_int_equal(try_job(job, NULL, &fault), -ERANGE);
	assert_int_equal(fault.cause, DRM_TESSERA_CAUSE_INDEX_LIMIT);
	assert_int_equal(fault.offset, -1);
	free(job);
}

static void index_past_the_end_of_the_buffer_faults(void **state)
{
	static const uint8_t index = 3;
	char to[4] = "....";
	struct engine_job *job = gather_by(&index, DRM_TESSERA_DTYPE_U8, to);
	struct engine_fault fault;

	(void)state;
	assert_int_equal(try_job(job, NULL, &fault), -ERANGE);
	assert_int_equal(fault.cause, DRM_TESSERA_CAUSE_BOUNDS);
	assert_int_equal(fault.operand, 1);
	assert_int_equal(fault.offset, 15);
	assert_string_equal(fault.text,
			    "source 0: index 3 leads to byte 15 of a buffer of 12 bytes");
	free(job);
}

static void index_before_the_start_of_the_buffer_faults(void **state)
{
	static const int8_t index = -1;
	char to[4] = "....";
	struct engine_job *job = gather_by(&index, DRM_TESSERA_DTYPE_I8, to);
	struct engine_fault fault;

	(void)state;
	assert_int_equal(try_job(job, NULL, &fault), -ERANGE);
	assert_int_equal(fault.cause, DRM_TESSERA_CAUSE_BOUNDS);
	assert_int_equal(fault.offset, -4);
	free(job);
}

/* So far from row to row that the row to fetch some of them ahead has no address in 64 bits. */
static void gathered_rows_that_lie_too_far_apart_fault(void **state)
{
	static const uint8_t index;
	char from[14], to[4][14];
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U16);
	struct engine_fault fault;

	(void)state;
	SET_BUFFER(job, 0, to);
	SET_BUFFER(job, 1, from);
	add_loop(job, 4, sizeof(to[0]), -(1ll << 58));
	add_loop(job, 7, 2, 2);
	add_indices(job, 1, &index, 1, DRM_TESSERA_DTYPE_U8, 0, 1);
	job->operands[1].spec.index_address.strides[0] = 0;
	assert_int_equal(try_job(job, NULL, &fault), -ERANGE);
	assert_int_equal(fault.cause, DRM_TESSERA_CAUSE_BOUNDS);
	free(job);
}

static void index_of_the_destination_faults_alike(void **state)
{
	static const uint8_t index = 9;
	char to[4] = "....";
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);
	struct engine_fault fault;

	(void)state;
	set_buffer(job, 0, to, 4);
	set_buffer(job, 1, "a", 1);
	add_loop(job, 1, 0, 0);
	add_indices(job, 0, &index, 1, DRM_TESSERA_DTYPE_U8, 0, 1);
	assert_int_equal(try_job(job, NULL, &fault), -ERANGE);
	assert_int_equal(fault.cause, DRM_TESSERA_CAUSE_BOUNDS);
	assert_int_equal(fault.operand, 0);
	assert_int_equal(fault.offset, 9);
	free(job);
}

static void largest_index_times_least_stride_does_not_wrap(void **state)
{
	static const uint64_t index = UINT64_MAX;
	char to[4] = "....";
	struct engine_job *job = gather_by(&index, DRM_TESSERA_DTYPE_U64, to);
	struct engine_fault fault;

	(void)state;
	job->operands[1].spec.index_stride = INT64_MIN;
	assert_int_equal(try_job(job, NULL, &fault), -ERANGE);
	assert_int_equal(fault.cause, DRM_TESSERA_CAUSE_BOUNDS);
	assert_true(fault.offset == INT64_MIN);
	job->operands[1].spec.index_stride = INT64_MAX;
	assert_int_equal(try_job(job, NULL, &fault), -ERANGE);
	assert_true(fault.offset == INT64_MAX);
	free(job);
}

static void last_row_that_reaches_out_of_the_buffer_faults(void **state)
{
	static const uint8_t row = 1;
	char to[5] = ".....";
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);
	struct engine_fault fault;

	(void)state;
	/* the row of 5 begins inside the buffer of 8 and ends outside */
	set_buffer(job, 0, to, 5);
	set_buffer(job, 1, "abcdefgh", 8);
	add_loop(job, 1, 0, 0);
	add_loop(job, 5, 1, 1);
	add_indices(job, 1, &row, 1, DRM_TESSERA_DTYPE_U8, 0, 4);
	assert_int_equal(try_job(job, NULL, &fault), -ERANGE);
	assert_int_equal(fault.cause, DRM_TESSERA_CAUSE_BOUNDS);
	assert_int_equal(fault.offset, 8);
	assert_memory_equal(to, ".....", 5);
	free(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_is_moved_bit_for_bit),
		cmocka_unit_test(elements_of_every_size_are_transposed),
		cmocka_unit_test(nchw_becomes_nhwc),
		cmocka_unit_test(im2col_of_a_3x3_image_with_a_2x2_kernel),
		cmocka_unit_test(im2col_with_padding_reads_fill_around_the_image),
		cmocka_unit_test(window_before_the_start_reads_fill),
		cmocka_unit_test(window_past_the_end_reads_fill),
		cmocka_unit_test(window_of_the_destination_leaves_memory_as_it_is),
		cmocka_unit_test(windows_of_both_sides_are_independent),
		cmocka_unit_test(window_that_is_stepped_over_holds_nowhere),
		cmocka_unit_test(window_without_coefficients_holds_or_does_not),
		cmocka_unit_test(window_across_two_loops_cuts_a_triangle),
		cmocka_unit_test(partial_tile_is_filled_up),
		cmocka_unit_test(negative_stride_reverses),
		cmocka_unit_test(stride_of_zero_broadcasts),
		cmocka_unit_test(rank_0_moves_one_element),
		cmocka_unit_test(extent_of_0_does_nothing_whatever_the_addresses),
		cmocka_unit_test(rows_longer_than_a_block_are_moved_whole),
		cmocka_unit_test(in_place_fill_changes_what_windows_leave_out),
		cmocka_unit_test(indices_of_every_type_gather),
		cmocka_unit_test(rows_are_gathered_whole),
		cmocka_unit_test(rows_are_scattered_whole),
		cmocka_unit_test(both_sides_may_be_indirect),
		cmocka_unit_test(index_that_no_loop_changes_is_a_base),
		cmocka_unit_test(negative_index_is_good_where_there_is_no_limit),
		cmocka_unit_test(index_is_not_read_where_a_window_does_not_hold),
		cmocka_unit_test(index_at_the_limit_faults),
		cmocka_unit_test(negative_index_faults_where_there_is_a_limit),
		cmocka_unit_test(index_past_the_end_of_the_buffer_faults),
		cmocka_unit_test(index_before_the_start_of_the_buffer_faults),
		cmocka_unit_test(gathered_rows_that_lie_too_far_apart_fault),
		cmocka_unit_test(index_of_the_destination_faults_alike),
		cmocka_unit_test(largest_index_times_least_stride_does_not_wrap),
		cmocka_unit_test(last_row_that_reaches_out_of_the_buffer_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
