// SPDX-License-Identifier: MIT
/*
 * Transposes: the kernels of each instruction set, the way through the staging buffer, which only
 * large jobs take by themselves, and what a plan says of itself.
 */
#include "engine_test.h"

#include "engine/move.h"
#include "random_test.h"

static struct random_run run;

static uint8_t *new_bytes(size_t size)
{
	uint8_t *bytes = aligned_alloc(64, (size + 63) / 64 * 64);

	assert_non_null(bytes);
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(i * 31 + i / 251);
	return bytes;
}

/* The bytes of rows that are a pitch apart, the last of which ends with its elements. */
static size_t bytes_of_rows(int64_t count, int64_t pitch, int64_t row_bytes)
{
	return (size_t)((count - 1) * pitch + row_bytes);
}

/*
 * From guard page to guard page; the gaps between rows, of so many bytes, must stay as they are.
 */
static void check_kernel(engine_tile_kernel *kernel, int64_t size, int64_t columns, int64_t rows,
			 int64_t dst_gap, int64_t src_gap, bool at_end)
{
	const int64_t dst_pitch = rows * size + dst_gap, src_pitch = columns * size + src_gap;
	const size_t dst_bytes = bytes_of_rows(columns, dst_pitch, rows * size);
	const size_t src_bytes = bytes_of_rows(rows, src_pitch, columns * size);
	const struct engine_tile tile = {
		.extents = { columns, rows },
		.dst_strides = { dst_pitch, size },
		.src_strides = { size, src_pitch },
		.ahead = src_gap % 64 ? 0 : 64,
	};
	uint8_t *from = new_bytes(src_bytes), *expected = new_bytes(dst_bytes);
	struct guarded src = guarded_copy(from, src_bytes, at_end);
	struct guarded dst = guarded_copy(expected, dst_bytes, at_end);

	for (int64_t c = 0; c < columns; c++)
		for (int64_t r = 0; r < rows; r++)
			memcpy(expected + c * dst_pitch + r * size,
			       from + r * src_pitch + c * size, (size_t)size);
	kernel(dst.bytes, src.bytes, &tile);
	assert_memory_equal(dst.bytes, expected, dst_bytes);
	munmap(dst.mapping, dst.mapped);
	munmap(src.mapping, src.mapped);
	free(from);
	free(expected);
}

static void kernels_touch_their_elements_alone(void **state)
{
	static const int64_t sides[] = { 1, 3, 7, 8, 16, 17, 32, 33, 67 };

	(void)state;
	for (uint32_t k = 0; engine_isa_at(k); k++) {
		const struct engine_isa *isa = engine_isa_at(k);

		if (!isa->is_available())
			continue;
		for (uint32_t shift = 0; shift < ENGINE_NUM_SIZES; shift++)
			for (size_t i = 0; i < COUNT(sides) * COUNT(sides); i++)
				check_kernel(isa->transpose->transpose[shift], 1 << shift,
					     sides[i / COUNT(sides)], sides[i % COUNT(sides)],
					     3, 5, i % 2);
	}
}

static void check_skewed_kernel(engine_tile_kernel *kernel, uint32_t shift)
{
	static const int64_t columns[] = { 1, 3, 4, 5, 7, 8, 66 };
	static const int64_t rows[] = { 2, 7, 63, 64, 65, 66, 67, 131 };

	for (size_t i = 0; kernel && i < COUNT(columns) * COUNT(rows) * 8; i++)
		check_kernel(kernel, 1 << shift, columns[i / 8 % COUNT(columns)],
			     rows[i / 8 / COUNT(columns)], (i / 2 % 4) << shift, i % 3 << shift,
			     i % 2);
}

/* Columns begin at any element of a line, the first one and those beside it. */
static void kernels_touch_elements_of_skewed_columns_alone(void **state)
{
	(void)state;
	for (uint32_t k = 0; engine_isa_at(k); k++) {
		const struct engine_isa *isa = engine_isa_at(k);

		if (!isa->is_available())
			continue;
		for (uint32_t shift = 0; shift < ENGINE_NUM_SIZES; shift++) {
			check_skewed_kernel(isa->transpose->skewed_transpose[shift], shift);
			check_skewed_kernel(isa->transpose->stream_skewed[shift], shift);
		}
	}
}

/*
 * A destination of whole lines, from so many squares of lines below each other and beside each
 * other: from lines, and from rows that begin anywhere.
 */
static void check_streaming_kernel(engine_tile_kernel *kernel, uint32_t shift, int64_t below,
				   int64_t beside)
{
	const int64_t side = 64 >> shift;

	for (int64_t src_gap = 0; src_gap <= 64; src_gap += 32)
		check_kernel(kernel, 1 << shift, beside * side, below * side, 64, src_gap, true);
}

static engine_beside_kernel *beside_kernel;

/* The source is fetched beside what is stored. */
static void stream_beside(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile)
{
	beside_kernel(dst, src, tile, src);
}

/* The rows that are packed beside a tile are many enough for the largest one. */
#define PACKED_BYTES	(27 * 4096)

struct packed_rows {
	uint8_t from[PACKED_BYTES + 64], to[2 * PACKED_BYTES], expected[2 * PACKED_BYTES];
} __attribute__((aligned(64)));

static struct packed_rows *packed_rows;
static engine_packing_kernel *packing_kernel;

/* Rows of so many lines, with a line between them where they are packed, and an overlap before. */
static void stream_packing(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile)
{
	const int64_t bytes = tile->extents[0] * tile->extents[1] * tile->dst_strides[1];
	struct packed_rows *rows = packed_rows;
	struct engine_packing packing = {
		.from = rows->from, .to = rows->to, .ahead = rows->from,
	};

	for (int64_t row_bytes = 256; row_bytes <= 1024; row_bytes *= 2) {
		packing.row_bytes = row_bytes;
		packing.stride = row_bytes - 64;
		packing.pitch = row_bytes + 64;
		memset(rows->to, 0, sizeof(rows->to));
		memset(rows->expected, 0, sizeof(rows->expected));
		for (int64_t r = 0; r < bytes / row_bytes; r++)
			memcpy(rows->expected + r * packing.pitch, rows->from + r * packing.stride,
			       (size_t)row_bytes);
		packing_kernel(dst, src, tile, &packing);
		assert_memory_equal(rows->to, rows->expected, sizeof(rows->to));
	}
}

static void check_packing_kernel(const struct engine_isa *isa, uint32_t shift)
{
	const int64_t side = 64 >> shift;

	packing_kernel = isa->transpose->stream_packing[shift];
	if (!isa->is_available() || !packing_kernel)
		return;
	for (int64_t n = 0; n < 27; n++)
		check_kernel(stream_packing, 1 << shift, (1 + n % 3) * side, (1 + n / 3) * side, 64,
			     0, true);
}

static void kernels_pack_rows_beside_squares(void **state)
{
	(void)state;
	packed_rows = aligned_alloc(64, sizeof(*packed_rows));
	assert_non_null(packed_rows);
	for (size_t i = 0; i < sizeof(packed_rows->from); i++)
		packed_rows->from[i] = (uint8_t)(i % 251 + 1);
	for (uint32_t k = 0; engine_isa_at(k); k++)
		for (uint32_t shift = 0; shift < ENGINE_NUM_SIZES; shift++)
			check_packing_kernel(engine_isa_at(k), shift);
	free(packed_rows);
}

static void check_streaming_kernels(const struct engine_transpose_kernels *kernels, uint32_t shift,
				    int64_t below, int64_t beside)
{
	if (kernels->stream_transpose[shift])
		check_streaming_kernel(kernels->stream_transpose[shift], shift, below, beside);
	beside_kernel = kernels->stream_beside[shift];
	if (beside_kernel)
		check_streaming_kernel(stream_beside, shift, below, beside);
}

static void kernels_stream_any_number_of_squares(void **state)
{
	(void)state;
	for (uint32_t k = 0; engine_isa_at(k); k++) {
		const struct engine_isa *isa = engine_isa_at(k);

		if (!isa->is_available())
			continue;
		for (uint32_t shift = 0; shift < ENGINE_NUM_SIZES; shift++)
			for (int64_t n = 0; n < 27; n++)
				check_streaming_kernels(isa->transpose, shift, 1 + n / 3,
							1 + n % 3);
	}
}

/*
 * Rows that begin so far behind a line's beginning: the lines that they fill are there, with what
 * is before the row in the source, and nothing else.
 */
static void check_lines(engine_lines_kernel *stream_lines, size_t before, size_t bytes,
			bool fetches)
{
	enum { ROWS = 3, PITCH = 5 * 64, STRIDE = 6 * 64 };
	const struct engine_tile rows = {
		.extents = { ROWS, (int64_t)bytes },
		.dst_strides = { STRIDE, 1 },
		.src_strides = { PITCH, 1 },
	};
	const size_t filled = (before + bytes) / 64 * 64;
	uint8_t from[ROWS * PITCH] __attribute__((aligned(64)));
	uint8_t to[64 + ROWS * STRIDE] __attribute__((aligned(64))) = { 0 };
	static const uint8_t zeros[STRIDE];

	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(i % 251 + 1);
	stream_lines(to + 64 + before, from + before, &rows, fetches ? from : NULL);
	assert_memory_equal(to, zeros, 64);
	for (size_t r = 0; r < ROWS; r++) {
		const uint8_t *row = to + 64 + r * STRIDE;

		assert_memory_equal(row, from + r * PITCH, filled);
		assert_memory_equal(row + filled, zeros, STRIDE - filled);
	}
}

static void rows_are_streamed_as_far_as_they_fill_lines(void **state)
{
	(void)state;
	for (uint32_t k = 0; engine_isa_at(k); k++) {
		const struct engine_isa *isa = engine_isa_at(k);

		if (!isa->is_available())
			continue;
		for (size_t before = 0; before < 64; before++) {
			for (size_t bytes = 0; bytes <= 4 * 64; bytes += 8) {
				check_lines(isa->transpose->stream_lines, before, bytes, false);
				check_lines(isa->transpose->stream_lines, before, bytes, true);
			}
		}
	}
}

/*
 * A row that begins so far behind a line's beginning, in memory that ends or begins there, and one
 * as long that begins with it.
 */
static void check_packed(engine_pack_kernel *pack_rows, size_t before, size_t bytes, bool at_end)
{
	uint8_t from[7 * 64], to[2][6 * 64] __attribute__((aligned(64))) = { 0 };
	const size_t size = before + bytes + (at_end ? -(before + bytes) % 64 : 0);
	const size_t lines = (bytes + 63) / 64 * 64;
	const int64_t places[] = { (int64_t)before, 0 };
	struct guarded row;

	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(i * 7 + 1);
	row = guarded_copy(from, size, at_end);
	pack_rows(to[0], sizeof(to[0]), row.bytes, places, 2, (int64_t)bytes);
	for (size_t n = 0; n < 2; n++) {
		assert_memory_equal(to[n], from + places[n], bytes);
		for (size_t i = lines; i < sizeof(to[n]); i++)
			assert_int_equal(to[n][i], 0);
	}
	munmap(row.mapping, row.mapped);
}

static void rows_that_are_far_away_are_packed(void **state)
{
	(void)state;
	for (uint32_t k = 0; engine_isa_at(k); k++) {
		if (!engine_isa_at(k)->is_available() || !engine_isa_at(k)->transpose->pack_rows)
			continue;
		for (size_t before = 0; before < 64; before += 3)
			for (size_t bytes = 1; bytes < 300; bytes += 1 + bytes % 5)
				check_packed(engine_isa_at(k)->transpose->pack_rows, before, bytes,
					     bytes % 2);
	}
}

/* A dense array of a permuted array's elements, as a job. */
struct permutation {
	uint32_t rank;
	uint32_t size_shift;
	uint64_t extents[6];	/* of the source */
	uint32_t axes[6];	/* axis d of the destination is axis axes[d] of the source */
	size_t shift;		/* bytes by which both sides are off a cache line */
};

static uint64_t permutation_bytes(const struct permutation *p)
{
	uint64_t bytes = 1ull << p->size_shift;

	for (uint32_t d = 0; d < p->rank; d++)
		bytes *= p->extents[d];
	return bytes;
}

static struct engine_job *permutation_job(const struct permutation *p, uint8_t *dst, uint8_t *src)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_CLASS_RAW | p->size_shift);
	int64_t src_strides[6], dst_strides[6], stride = 1ll << p->size_shift;

	for (uint32_t d = p->rank; d-- > 0; stride *= (int64_t)p->extents[d])
		src_strides[d] = stride;
	stride = 1ll << p->size_shift;
	for (uint32_t d = p->rank; d-- > 0; stride *= (int64_t)p->extents[p->axes[d]])
		dst_strides[d] = stride;
	for (uint32_t d = 0; d < p->rank; d++)
		add_loop(job, p->extents[p->axes[d]], dst_strides[d], src_strides[p->axes[d]]);
	set_buffer(job, 0, dst, permutation_bytes(p));
	set_buffer(job, 1, src, permutation_bytes(p));
	return job;
}

/* Sees to it that a plan streams, as one of a large job does, and has scratch to do it with. */
static void make_it_stream(struct engine_plan *plan)
{
	plan->streams = true;
	if (plan->scratch)
		return;
	plan->scratch = aligned_alloc(64, sizeof(*plan->scratch));
	assert_non_null(plan->scratch);
	plan->scratch->is_taken = 0;
}

/* What a plan says of itself when it streams. */
static void describe_streaming(const struct permutation *p, char *text, size_t size)
{
	struct engine_fault fault = { 0 };
	struct engine_plan *plan;
	struct engine_job *job;
	uint8_t *bytes = new_bytes(2 * permutation_bytes(p));

	job = permutation_job(p, bytes, bytes + permutation_bytes(p));
	assert_int_equal(engine_plan_create(job, &plan, &fault), 0);
	make_it_stream(plan);
	engine_plan_describe(plan, text, size);
	engine_plan_destroy(plan);
	free(job);
	free(bytes);
}

/* Sees to it that a plan takes its source to be beyond the caches, and no more. */
static void put_it_far(struct engine_plan *plan)
{
	plan->is_far = true;
}

/*
 * Runs a job whose plan is changed before, and the reference to what is expected: all of so many
 * bytes of the destination are to be alike then, those that stay as they are as well.
 */
static void check_job(struct engine_job *job, void (*change)(struct engine_plan *plan),
		      const uint8_t *dst, uint8_t *expected, size_t bytes)
{
	struct engine_buffer *buffer = &job->operands[0].buffer;
	const ptrdiff_t shift = (const uint8_t *)buffer->base - dst;
	struct engine_fault fault = { 0 };
	struct engine_plan *plan;

	assert_int_equal(engine_plan_create(job, &plan, &fault), 0);
	change(plan);
	assert_int_equal(engine_plan_run(plan, NULL, &fault), 0);
	engine_plan_destroy(plan);
	set_buffer(job, 0, expected + shift, buffer->size);
	assert_int_equal(reference_run(job, NULL), 0);
	if (memcmp(dst, expected, bytes))
		fail_msg("wrong; replay with --seed %" PRIu64 " --count 1", run.seed);
}

/* Runs the permutation as if it were large; other bytes must stay. */
static void check_permutation(const struct permutation *p, void (*change)(struct engine_plan *plan))
{
	const size_t whole = permutation_bytes(p) + 2 * 64;
	uint8_t *src = new_bytes(whole), *dst = new_bytes(whole), *expected = new_bytes(whole);
	struct engine_job *job = permutation_job(p, dst + p->shift, src + p->shift);

	check_job(job, change, dst, expected, whole);
	free(job);
	free(src);
	free(dst);
	free(expected);
}

static void check_streaming(const struct permutation *p)
{
	check_permutation(p, make_it_stream);
}

static void large_transpose_goes_through_staging(void **state)
{
	const struct permutation p = { 2, 2, { 300, 500 }, { 1, 0 }, 0 };
	char text[160];

	(void)state;
	describe_streaming(&p, text, sizeof(text));
	assert_non_null(strstr(text, "transpose of 4-byte elements"));
	assert_non_null(strstr(text, " staged"));
	check_streaming(&p);
}

/* More rows than a block has, and columns left over; rows of the source crowd each other or not. */
static void columns_from_afar_begin_anywhere(void **state)
{
	static const uint64_t sides[][2] = {
		{ 1025, 9 }, { 1027, 66 }, { 2311, 13 }, { 255, 9 }, { 1026, 512 }, { 1030, 4 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(sides) * 4; i++) {
		const struct permutation p = {
			2, 3, { sides[i / 4][0], sides[i / 4][1] }, { 1, 0 }, i % 4 * 8 + i % 2
		};

		check_permutation(&p, put_it_far);
	}
}

/* Long enough for kernels of their own; with a base that is no multiple of elements, too. */
static void long_columns_off_cache_lines_are_streamed(void **state)
{
	static const uint64_t sides[][2] = {
		{ 257, 65 }, { 643, 34 }, { 1102, 131 }, { 300, 513 }
	};

	(void)state;
	for (uint32_t size_shift = 3; size_shift <= 4; size_shift++)
		for (size_t i = 0; i < COUNT(sides) * 5; i++) {
			const struct permutation p = {
				2, size_shift, { sides[i / 5][0], sides[i / 5][1] }, { 1, 0 },
				i % 5 * 12
			};

			check_streaming(&p);
		}
}

/* Matrices of the destination that lie anywhere: what the first one begins with others do not. */
static void matrices_off_elements_are_streamed(void **state)
{
	enum { ROWS = 301, COLUMNS = 35, COUNT = 3 };

	(void)state;
	for (int64_t size = 8; size <= 16; size *= 2) {
		const int64_t matrix = ROWS * COLUMNS * size;
		const size_t bytes = (size_t)(COUNT * (matrix + 4));
		struct engine_job *job =
			new_job(1, DRM_TESSERA_DTYPE_CLASS_RAW | (size == 8 ? 3 : 4));
		uint8_t *src = new_bytes(bytes), *dst = new_bytes(bytes);
		uint8_t *expected = new_bytes(bytes);

		add_loop(job, COUNT, matrix + 4, matrix);
		add_loop(job, COLUMNS, ROWS * size, size);
		add_loop(job, ROWS, size, COLUMNS * size);
		set_buffer(job, 0, dst, bytes);
		set_buffer(job, 1, src, bytes);
		check_job(job, make_it_stream, dst, expected, bytes);
		free(job);
		free(src);
		free(dst);
		free(expected);
	}
}

/* Rows of small elements that have the same sets of a cache are packed, each from where it is. */
static void small_elements_of_rows_that_crowd_each_other_are_streamed(void **state)
{
	(void)state;
	for (uint32_t size_shift = 0; size_shift <= 1; size_shift++)
		for (size_t shift = 0; shift < 64; shift += 13) {
			const struct permutation p = {
				2, size_shift, { 301, (4096 >> size_shift) + 1 }, { 1, 0 }, shift
			};

			check_streaming(&p);
		}
}

static void rows_off_cache_lines_are_streamed_whole(void **state)
{
	(void)state;
	for (uint32_t size_shift = 0; size_shift <= 4; size_shift++)
		for (size_t shift = 0; shift < 64; shift += 13) {
			const uint64_t side = 401 >> (size_shift / 2);

			check_streaming(&(struct permutation){ 2, size_shift,
				{ side, side + 2 }, { 1, 0 }, shift });
		}
}

/* Whether rows that are so far apart go around the caches by a kernel of their own. */
static bool is_streamed_at_once(const struct engine_isa *isa, uint32_t size_shift,
				int64_t row_bytes)
{
	if (!isa->transpose->stream_transpose[size_shift])
		return false;
	return !isa->transpose->streams_in_turns || row_bytes % 512 || size_shift >= 3;
}

/* To rows of so many bytes: in blocks of several strips, or tile by tile. */
static void check_rows_of_whole_lines(int64_t row_bytes, bool in_strips)
{
	for (uint32_t size_shift = 0; size_shift <= 4; size_shift++) {
		const struct permutation p = {
			3, size_shift,
			{ 2, (uint64_t)row_bytes >> size_shift, 77 + (1024 >> size_shift) },
			{ 0, 2, 1 }, 0
		};
		const struct engine_isa *isa = engine_isa_choose();
		char text[160];

		describe_streaming(&p, text, sizeof(text));
		if (is_streamed_at_once(isa, size_shift, row_bytes)) {
			assert_null(strstr(text, "staged"));
			assert_int_equal(!!strstr(text, " by "), in_strips);
		} else {
			assert_non_null(strstr(text, "staged"));
		}
		check_streaming(&p);
	}
}

static void rows_of_whole_lines_are_streamed_at_once(void **state)
{
	(void)state;
	check_rows_of_whole_lines(1088, false);
}

static void rows_of_few_parts_of_the_cache_are_streamed_in_strips(void **state)
{
	(void)state;
	check_rows_of_whole_lines(1024, true);
	check_rows_of_whole_lines(1536, true);
}

static void blocks_are_cut_at_lines_of_the_destination(void **state)
{
	/* as many rows of 480 bytes as fit a block are no multiple of a line */
	const struct permutation p = { 2, 2, { 2048, 120 }, { 1, 0 }, 0 };

	(void)state;
	check_streaming(&p);
}

/* Planes of whole lines, each of which begins where an index says: beside a line. */
static void gathered_planes_off_cache_lines_are_transposed(void **state)
{
	enum { PLANES = 2, ROWS = 256, COLUMNS = 256, PITCH = ROWS * COLUMNS * 4 + 4 };
	static const uint32_t indices[PLANES] = { 1, 0 };
	uint8_t *src = new_bytes(PLANES * PITCH), *dst = new_bytes(PLANES * PITCH);
	uint8_t *expected = new_bytes(PLANES * PITCH);
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_F32);
	struct engine_fault fault = { 0 };
	struct engine_plan *plan;

	(void)state;
	add_loop(job, PLANES, PITCH, 0);
	add_loop(job, COLUMNS, ROWS * 4, 4);
	add_loop(job, ROWS, 4, COLUMNS * 4);
	set_buffer(job, 0, dst, PLANES * PITCH);
	set_buffer(job, 1, src, PLANES * PITCH);
	add_indices(job, 1, indices, sizeof(indices), DRM_TESSERA_DTYPE_U32, 0, PITCH);
	job->operands[1].spec.index_address.strides[0] = sizeof(indices[0]);
	assert_int_equal(engine_plan_create(job, &plan, &fault), 0);
	make_it_stream(plan);
	assert_int_equal(engine_plan_run(plan, NULL, &fault), 0);
	engine_plan_destroy(plan);
	set_buffer(job, 0, expected, PLANES * PITCH);
	assert_int_equal(reference_run(job, NULL), 0);
	assert_memory_equal(dst, expected, PLANES * PITCH);
	free(job);
	free(src);
	free(dst);
	free(expected);
}

static void small_loops_join_into_long_runs(void **state)
{
	/* neither side has a run of a line in one loop */
	const struct permutation p = { 5, 2, { 6, 12, 10, 12, 14 }, { 4, 0, 1, 3, 2 }, 0 };

	(void)state;
	check_streaming(&p);
}

static void images_are_taken_apart_and_put_together(void **state)
{
	(void)state;
	for (uint64_t channels = 2; channels <= 9; channels++) {
		const uint64_t points = 70001 / channels;

		check_streaming(&(struct permutation){ 3, 1, { 2, points, channels }, { 0, 2, 1 },
						       6 });
		check_streaming(&(struct permutation){ 3, 1, { 2, channels, points }, { 0, 2, 1 },
						       6 });
	}
}

static struct permutation random_permutation(struct random *random)
{
	struct permutation p = { .rank = (uint32_t)random_between(random, 2, 5) };
	uint64_t points = 1;

	p.size_shift = (uint32_t)random_between(random, 0, 4);
	p.shift = (size_t)random_between(random, 0, 63);
	for (uint32_t d = 0; d < p.rank; d++) {
		uint32_t place = (uint32_t)random_between(random, 0, d);

		p.axes[d] = p.axes[place];
		p.axes[place] = d;
		p.extents[d] = (uint64_t)random_between(random, 1, 40);
		points *= p.extents[d];
	}
	p.extents[random_between(random, 0, p.rank - 1)] *= 1 + (400000 >> p.size_shift) / points;
	return p;
}

static void random_permutations_give_what_the_reference_says(void **state)
{
	(void)state;
	for (uint64_t n = 0; n < run.count; n++, run.seed++) {
		struct random random = { run.seed };
		struct permutation p = random_permutation(&random);

		check_streaming(&p);
	}
}

/* As another run of the plan does. */
static void take_its_scratch(struct engine_plan *plan)
{
	make_it_stream(plan);
	plan->scratch->is_taken = 1;
}

static void run_without_scratch_takes_another_way(void **state)
{
	const struct permutation p = { 2, 2, { 300, 500 }, { 1, 0 }, 0 };

	(void)state;
	check_permutation(&p, take_its_scratch);
}

static void canceled_transpose_stops(void **state)
{
	const struct permutation p = { 2, 2, { 300, 500 }, { 1, 0 }, 0 };
	const uint32_t cancel = 1;
	const struct engine_control control = { .cancel = &cancel };
	uint8_t *bytes = new_bytes(2 * permutation_bytes(&p));
	struct engine_job *job = permutation_job(&p, bytes, bytes + permutation_bytes(&p));
	struct engine_fault fault = { 0 };
	struct engine_plan *plan;
	struct engine_run canceled = { .control = &control, .fault = &fault };

	(void)state;
	assert_int_equal(engine_plan_create(job, &plan, &fault), 0);
	make_it_stream(plan);
	canceled.plan = plan;
	canceled.scratch = plan->scratch->bytes;
	/* engine_plan_run() would not begin */
	assert_int_equal(engine_run_move(&canceled, &plan->box, ~0u), -ECANCELED);
	assert_int_equal(fault.cause, DRM_TESSERA_CAUSE_CANCELED);
	engine_plan_destroy(plan);
	free(job);
	free(bytes);
}

static void expect_description(struct engine_job *job, const char *expected)
{
	struct engine_fault fault = { 0 };
	struct engine_plan *plan;
	char text[160];

	assert_int_equal(engine_plan_create(job, &plan, &fault), 0);
	engine_plan_describe(plan, text, sizeof(text));
	engine_plan_destroy(plan);
	if (strncmp(text, expected, strlen(expected)))
		fail_msg("\"%s\", expected it to begin with \"%s\"", text, expected);
}

static void plans_say_what_they_run_with(void **state)
{
	static const uint32_t indices[4];
	static uint8_t dst[4096], src[4096];
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);

	(void)state;
	SET_BUFFER(job, 0, dst);
	SET_BUFFER(job, 1, src);
	add_loop(job, 4, 32, 1);
	add_loop(job, 32, 1, 100);
	expect_description(job, "transpose of 1-byte elements, ");
	job->operands[1].spec.address.strides[0] = 2;
	expect_description(job, "copy by strides of 1-byte elements, ");
	job->extents[0] = 0;
	expect_description(job, "nothing to do");
	job->extents[0] = 4;
	add_instruction(job, DRM_TESSERA_OP_NEG, DRM_TESSERA_DTYPE_U8);
	expect_description(job, "program, ");
	job->num_instructions = 0;
	add_indices(job, 1, indices, sizeof(indices), DRM_TESSERA_DTYPE_U32, 0, 1);
	expect_description(job, "gather by indices, ");
	free(job);
}

static void description_is_cut_off_at_its_size(void **state)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);
	struct engine_fault fault = { 0 };
	struct engine_plan *plan;
	char text[8] = "1234567";

	(void)state;
	SET_BUFFER(job, 0, text);
	add_loop(job, 0, 1, 1);
	assert_int_equal(engine_plan_create(job, &plan, &fault), 0);
	engine_plan_describe(plan, text, 4);
	assert_string_equal(text, "not");
	assert_int_equal(text[4], '5');
	engine_plan_destroy(plan);
	free(job);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_touch_their_elements_alone),
		cmocka_unit_test(kernels_touch_elements_of_skewed_columns_alone),
		cmocka_unit_test(kernels_stream_any_number_of_squares),
		cmocka_unit_test(kernels_pack_rows_beside_squares),
		cmocka_unit_test(rows_are_streamed_as_far_as_they_fill_lines),
		cmocka_unit_test(rows_that_are_far_away_are_packed),
		cmocka_unit_test(large_transpose_goes_through_staging),
		cmocka_unit_test(columns_from_afar_begin_anywhere),
		cmocka_unit_test(long_columns_off_cache_lines_are_streamed),
		cmocka_unit_test(matrices_off_elements_are_streamed),
		cmocka_unit_test(small_elements_of_rows_that_crowd_each_other_are_streamed),
		cmocka_unit_test(rows_off_cache_lines_are_streamed_whole),
		cmocka_unit_test(rows_of_whole_lines_are_streamed_at_once),
		cmocka_unit_test(rows_of_few_parts_of_the_cache_are_streamed_in_strips),
		cmocka_unit_test(blocks_are_cut_at_lines_of_the_destination),
		cmocka_unit_test(gathered_planes_off_cache_lines_are_transposed),
		cmocka_unit_test(small_loops_join_into_long_runs),
		cmocka_unit_test(images_are_taken_apart_and_put_together),
		cmocka_unit_test(random_permutations_give_what_the_reference_says),
		cmocka_unit_test(run_without_scratch_takes_another_way),
		cmocka_unit_test(canceled_transpose_stops),
		cmocka_unit_test(plans_say_what_they_run_with),
		cmocka_unit_test(description_is_cut_off_at_its_size),
	};

	run = parse_options(argc, argv, 40);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
