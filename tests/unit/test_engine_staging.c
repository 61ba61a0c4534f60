// SPDX-License-Identifier: MIT
/*
 * Large transposes by way of the staging buffer: rows of small elements that are packed, runs of
 * any number of bytes, many loops of odd extents, bases anywhere in a line.
 */
#include "engine/ahead.h"
#include "engine/kernels.h"
#include "engine/place.h"
#include "large_test.h"

enum { MOST_ROWS = 200 };

/* A dense array of a permuted array's elements, or one with gaps between its rows. */
struct permutation {
	uint32_t size_shift;
	uint32_t rank;
	uint64_t extents[6];	/* of the source */
	uint32_t axes[6];	/* axis d of the destination is axis axes[d] of the source */
	int64_t gap;		/* elements between rows of the destination */
	int64_t offsets[2];	/* bytes by which each side is off its memory's beginning */
};

/* Adds a loop for each axis of the destination. */
static struct engine_job *permutation_job(const struct permutation *p)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_CLASS_RAW | p->size_shift);
	const int64_t size = 1ll << p->size_shift;
	struct engine_operand *dst = &job->operands[0], *src = &job->operands[1];
	int64_t src_strides[6], src_stride = size, dst_stride = size;

	job->rank = p->rank;
	for (uint32_t d = p->rank; d-- > 0; src_stride *= (int64_t)p->extents[d])
		src_strides[d] = src_stride;
	for (uint32_t d = p->rank; d-- > 0; ) {
		job->extents[d] = p->extents[p->axes[d]];
		dst->spec.address.strides[d] = dst_stride;
		src->spec.address.strides[d] = src_strides[p->axes[d]];
		dst_stride *= (int64_t)job->extents[d];
		dst_stride += d + 1 == p->rank ? p->gap * size : 0;
	}
	dst->spec.address.offset = p->offsets[0];
	src->spec.address.offset = p->offsets[1];
	set_size(job, 0, (uint64_t)(dst_stride + p->offsets[0]));
	set_size(job, 1, (uint64_t)(src_stride + p->offsets[1]));
	return job;
}

static void check_transposed(const struct permutation *p)
{
	check_large(permutation_job(p), "transpose of ", "strides");
}

static void check_staged(const struct permutation *p)
{
	check_large(permutation_job(p), " staged", "strides");
}

static void rows_of_small_elements_are_packed(void **state)
{
	(void)state;
	check_staged(&(struct permutation){ 0, 2, { 131, 1031 }, { 1, 0 }, 0, { 0, 0 } });
	check_staged(&(struct permutation){ 1, 2, { 67, 1153 }, { 1, 0 }, 0, { 0, 0 } });
}

/* A block has several of the middle loop, and of each of these all rows. */
static void rows_of_two_loops_are_packed(void **state)
{
	(void)state;
	check_staged(&(struct permutation){ 0, 3, { 67, 5, 517 }, { 2, 1, 0 }, 0, { 0, 0 } });
	check_staged(&(struct permutation){ 1, 3, { 33, 7, 601 }, { 2, 1, 0 }, 0, { 0, 0 } });
}

/* What is side by side in the source is a whole loop and a part of the next: no whole lines. */
static void rows_that_run_on_into_the_next_loop_are_packed(void **state)
{
	(void)state;
	check_staged(&(struct permutation){ 0, 3, { 67, 7, 281 }, { 2, 1, 0 }, 0, { 0, 0 } });
	check_staged(&(struct permutation){ 1, 3, { 33, 15, 137 }, { 2, 1, 0 }, 0, { 0, 0 } });
}

static void runs_of_odd_bytes_begin_at_odd_addresses(void **state)
{
	(void)state;
	check_staged(&(struct permutation){ 0, 2, { 301, 437 }, { 1, 0 }, 0, { 1, 3 } });
	check_staged(&(struct permutation){ 0, 2, { 131, 1031 }, { 1, 0 }, 0, { 63, 1 } });
	check_staged(&(struct permutation){ 1, 2, { 257, 301 }, { 1, 0 }, 0, { 1, 5 } });
	check_staged(&(struct permutation){ 3, 2, { 117, 151 }, { 1, 0 }, 0, { 9, 7 } });
}

static void what_is_between_runs_stays(void **state)
{
	(void)state;
	check_staged(&(struct permutation){ 0, 2, { 301, 437 }, { 1, 0 }, 5, { 1, 3 } });
	check_staged(&(struct permutation){ 1, 3, { 67, 3, 517 }, { 1, 2, 0 }, 1, { 2, 0 } });
}

/* Blocks are cut along rows of the destination, which go on where the ones before them ended. */
static void long_rows_go_on_in_lines_that_wait(void **state)
{
	(void)state;
	for (uint32_t shift = 0; shift < 5; shift++) {
		const uint64_t rows = 1031u >> shift / 2 | 1, columns = 259u >> (shift + 1) / 2 | 1;

		check_staged(&(struct permutation){
			shift, 2, { rows, columns }, { 1, 0 }, 0, { 1 << shift, 0 }
		});
		check_staged(&(struct permutation){
			shift, 2, { rows, columns }, { 1, 0 }, 2, { 0, 3 }
		});
	}
}

/* The line to the right of rows that end with the source's memory is not there. */
static void source_without_its_last_column_is_transposed(void **state)
{
	(void)state;
	for (uint32_t shift = 0; shift < 5; shift++) {
		const uint64_t line = 64 >> shift;
		struct engine_job *job = permutation_job(&(struct permutation){
			shift, 2, { 16 * line, 32 * line + 1 }, { 1, 0 }, 3, { 0, 0 }
		});

		job->extents[0]--;
		job->operands[1].buffer.size -= 1u << shift;
		check_large(job, "transpose of ", "strides");
	}
}

/* They could be stored at once if they did not begin beside a line. */
static void rows_of_whole_lines_begin_anywhere(void **state)
{
	(void)state;
	for (int64_t offset = 1; offset < 64; offset += 31) {
		struct permutation p = { 2, 2, { 1024, 64 }, { 1, 0 }, 16, { offset, 0 } };

		check_transposed(&p);
	}
}

/* Rows of whole lines that all begin beside one are cut where lines begin. */
static void blocks_begin_with_lines(void **state)
{
	(void)state;
	for (uint32_t shift = 0; shift < 5; shift++) {
		const int64_t size = 1 << shift;
		const int64_t offsets[][2] = {
			{ size, 0 }, { 0, size }, { size, size }, { 64 - size, 48 },
			{ 16, 64 - size }, { size, 1 }, { 1, size },
		};

		for (size_t i = 0; i < COUNT(offsets); i++) {
			check_transposed(&(struct permutation){
				shift, 2, { 1280u >> shift, 2304u >> shift }, { 1, 0 },
				i % 2 ? 64 : 0, { offsets[i][0], offsets[i][1] }
			});
		}
	}
}

/* Rows that begin with lines, or all beside them, are stored at once but for their ends. */
static void rows_that_begin_with_lines_end_anywhere(void **state)
{
	(void)state;
	for (uint32_t shift = 0; shift < 5; shift++) {
		const uint64_t rows = (1280u >> shift) - 3, columns = 2304u >> shift;

		check_transposed(&(struct permutation){
			shift, 2, { rows, columns }, { 1, 0 }, 3, { 0, 0 }
		});
		check_transposed(&(struct permutation){
			shift, 2, { rows, columns }, { 1, 0 }, 3, { 1 << shift, 1 << shift }
		});
	}
}

/*
 * Rows of small elements that crowd each other in the caches are packed a block before: of whole
 * blocks and of what is left behind, with destinations of whole lines and of others, from anywhere
 * in a line.
 */
static void rows_that_crowd_each_other_are_packed_ahead(void **state)
{
	static const struct { uint64_t rows, columns; int64_t gap, offsets[2]; } cases[] = {
		{ 512, 1024, 0, { 0, 0 } },
		{ 1024, 768, 64, { 0, 0 } },
		{ 700, 1300, 4, { 0, 0 } },
		{ 769, 520, 63, { 0, 64 } },
		{ 832, 1100, 0, { 0, 1 } },
		{ 832, 1100, 64, { 63, 1 } },
		{ 832, 1100, 0, { 8, 40 } },
	};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(cases); i++) {
		const uint32_t shift = i % 2;
		const uint64_t columns = cases[i / 2].columns;
		struct engine_job *job = permutation_job(&(struct permutation){
			shift, 2, { cases[i / 2].rows, 8192 }, { 1, 0 }, cases[i / 2].gap,
			{ cases[i / 2].offsets[0], cases[i / 2].offsets[1] }
		});

		job->extents[0] = columns;
		job->operands[1].buffer.size -= (8192 - columns) << shift;
		check_large(job, "transpose of ", "strides");
	}
}

/* Rows go on into the next of two loops; and matrices, one after the other. */
static void rows_of_two_loops_are_packed_ahead(void **state)
{
	(void)state;
	for (uint32_t shift = 0; shift < 2; shift++) {
		check_transposed(&(struct permutation){
			shift, 3, { 576, 32, 512 }, { 2, 1, 0 }, 0, { 0, 0 }
		});
		check_transposed(&(struct permutation){
			shift, 3, { 2, 576, 8192 }, { 0, 2, 1 }, 0, { 0, 0 }
		});
	}
}

static bool tells_that_it_packs(uint32_t shift)
{
	struct engine_job *job = permutation_job(&(struct permutation){
		shift, 2, { 512, 8192 }, { 1, 0 }, 0, { 0, 0 }
	});
	struct engine_plan *plan = create_large_plan(job);
	char text[160];

	engine_plan_describe(plan, text, sizeof(text));
	engine_plan_destroy(plan);
	free(job);
	return strstr(text, " packed");
}

static void plan_tells_that_rows_are_packed_ahead(void **state)
{
	const struct engine_transpose_kernels *kernels = engine_isa_choose()->transpose;

	(void)state;
	assert_int_equal(tells_that_it_packs(0), !!kernels->stream_packing[0]);
	assert_int_equal(tells_that_it_packs(1),
			 kernels->stream_packing[1] && engine_stores_pairs());
	assert_false(tells_that_it_packs(2));
}

static void rows_of_several_loops_go_on_in_lines_that_wait(void **state)
{
	(void)state;
	check_staged(&(struct permutation){ 2, 3, { 17, 151, 23 }, { 2, 1, 0 }, 0, { 4, 0 } });
	check_staged(&(struct permutation){ 3, 4, { 5, 13, 61, 9 }, { 3, 2, 1, 0 }, 0, { 8, 0 } });
	check_staged(&(struct permutation){ 2, 4, { 5, 13, 61, 37 }, { 3, 1, 2, 0 }, 0, { 0, 0 } });
}

/* None waits for what is before it, though the loops that it is made of end within lines. */
static void rows_of_several_loops_are_whole_lines(void **state)
{
	(void)state;
	check_staged(&(struct permutation){ 2, 3, { 20, 16, 103 }, { 2, 1, 0 }, 0, { 0, 0 } });
	check_staged(&(struct permutation){ 3, 4, { 12, 6, 37, 13 }, { 3, 2, 1, 0 }, 0, { 0, 8 } });
}

/* A strip is then one run: what is after a whole column is the next one. */
static void short_rows_go_on_into_each_other(void **state)
{
	(void)state;
	check_staged(&(struct permutation){ 2, 2, { 63, 1543 }, { 1, 0 }, 0, { 0, 0 } });
	check_staged(&(struct permutation){ 4, 2, { 31, 517 }, { 1, 0 }, 0, { 16, 0 } });
}

/* Columns that have most of a line: of whole squares, of some more, and from any byte on. */
static void columns_of_most_of_a_line_go_on_into_each_other(void **state)
{
	static const uint64_t columns[] = { 1360, 1377 };
	static const int64_t offsets[] = { 0, 4, 17, 60 };

	(void)state;
	for (uint64_t i = 0; i < 7 * COUNT(columns) * COUNT(offsets); i++) {
		const struct permutation p = {
			2, 3, { 3, 9 + i % 7, columns[i / 7 % COUNT(columns)] }, { 0, 2, 1 }, 0,
			{ offsets[i / 7 / COUNT(columns)], i % 2 ? 20 : 0 }
		};

		check_transposed(&p);
	}
}

/* Memory begins and ends with a line, so that its end does not say how the job begins. */
static void check_within_lines(const struct permutation *p)
{
	struct engine_job *job = permutation_job(p);

	job->operands[0].buffer.size += (uint64_t)(64 - p->offsets[0]);
	check_large(job, "transpose of ", "strides");
}

/* From line to line each has the end of a column and the beginning of the next one. */
static void columns_of_whole_lines_go_on_into_each_other_within_lines(void **state)
{
	(void)state;
	for (uint32_t shift = 2; shift < 4; shift++) {
		const int64_t size = 1 << shift;
		const int64_t offsets[] = { size, 64 - size, size / 2 };

		for (uint64_t i = 0; i < 2 * COUNT(offsets); i++) {
			const uint64_t rows = (1 + 2 * (i % 2)) * 64 >> shift;
			const int64_t offset = offsets[i / 2];

			check_within_lines(&(struct permutation){
				shift, 3, { 2, rows, 1185 }, { 0, 2, 1 }, 0,
				{ offset, i % 2 ? 20 : 0 }
			});
			check_within_lines(&(struct permutation){
				shift, 3, { rows, 3, 720 }, { 2, 1, 0 }, 0, { offset, 0 }
			});
			/* rows a page apart, which have the same sets of the first cache */
			check_within_lines(&(struct permutation){
				shift, 3, { 2, rows, 4096 >> shift }, { 0, 2, 1 }, 0,
				{ offset, i % 2 ? 20 : 0 }
			});
		}
	}
}

/* What has been told of a run, and the most that it was at a time. */
struct telling {
	uint64_t progress;
	uint64_t before;
	uint64_t most;
};

static bool note_progress(void *context)
{
	struct telling *telling = context;

	telling->most = max(telling->most, telling->progress - telling->before);
	telling->before = telling->progress;
	return true;
}

/* Blocks of such columns have more bytes than are to be stored before progress is told. */
static void progress_of_columns_within_lines_is_told_in_small_steps(void **state)
{
	struct engine_job *job = permutation_job(&(struct permutation){
		2, 3, { 2, 64, 4096 }, { 0, 2, 1 }, 0, { 4, 0 }
	});
	uint8_t *source = calloc(1, job->operands[1].buffer.size);
	uint8_t *destination = aligned_alloc(64, job->operands[0].buffer.size + 60);
	struct telling telling = { 0 };
	const uint32_t cancel = 1;
	const struct engine_control control = {
		.progress = &telling.progress,
		.cancel = &cancel,
		.may_go_on = note_progress,
		.context = &telling,
	};
	struct engine_fault fault = { 0 };
	struct engine_plan *plan;

	(void)state;
	assert_non_null(source);
	assert_non_null(destination);
	job->operands[0].buffer.base = destination;
	job->operands[1].buffer.base = source;
	plan = create_large_plan(job);
	assert_int_equal(engine_plan_run(plan, &control, &fault), 0);
	assert_int_equal(telling.progress, 2 * 64 * 4096 * 4);
	assert_true(telling.most < 2 * ENGINE_REPORT_BYTES);
	engine_plan_destroy(plan);
	free(destination);
	free(source);
	free(job);
}

/* Strips are as long as columns are apart, but for the last ones. What is stored is not defined. */
static void columns_that_overlap_stay_in_their_memory(void **state)
{
	struct engine_job *job = permutation_job(&(struct permutation){
		2, 3, { 3, 968, 16 }, { 0, 2, 1 }, 0, { 4, 0 }
	});
	struct engine_fault fault = { 0 };
	uint8_t *source, *destination;
	struct guarded memory;

	(void)state;
	job->operands[0].spec.address.strides[1] = 256;
	job->operands[0].buffer.size += 64 - 4;
	source = initial_bytes(job, 1);
	destination = initial_bytes(job, 0);
	memory = guarded_copy(destination, job->operands[0].buffer.size, true);
	set_buffer(job, 0, memory.bytes, job->operands[0].buffer.size);
	set_buffer(job, 1, source, job->operands[1].buffer.size);
	for (uint32_t n = 0; engine_isa_at(n); n++) {
		struct engine_plan *plan;

		if (!engine_isa_at(n)->is_available())
			continue;
		setenv(ENGINE_ISA_VARIABLE, engine_isa_at(n)->name, 1);
		plan = create_large_plan(job);
		assert_int_equal(engine_plan_run(plan, NULL, &fault), 0);
		engine_plan_destroy(plan);
		unsetenv(ENGINE_ISA_VARIABLE);
	}
	munmap(memory.mapping, memory.mapped);
	free(destination);
	free(source);
	free(job);
}

/* Of less than a line, and of elements that a kernel takes apart: others are streamed. */
static void few_planes_are_stored_to_the_caches(void **state)
{
	(void)state;
	for (uint32_t shift = 0; shift < 5; shift++) {
		for (uint64_t planes = 2; planes <= 9; planes++) {
			const bool is_apart = shift <= 3 && planes <= 8 && planes << shift < 64;
			const struct permutation p = {
				shift, 3, { 3, (30011u >> shift) | 1, planes }, { 0, 2, 1 }, 0,
				{ 1 << shift, 0 }
			};

			if (is_apart)
				check_large(permutation_job(&p), "transpose of ", "streaming");
			else
				check_staged(&p);
		}
	}
}

/* From any byte on, and in more than one block. */
static void columns_of_short_rows_go_on_in_lines_that_wait(void **state)
{
	static const int64_t offsets[] = { 0, 4, 17, 32, 60 };

	(void)state;
	for (uint64_t i = 0; i < 8 * COUNT(offsets); i++)
		check_staged(&(struct permutation){
			2, 3, { 3, i % 3 ? 3001 : 3007, 9 + i % 8 }, { 0, 2, 1 }, 0,
			{ offsets[i / 8], i % 2 ? 20 : 0 }
		});
	for (uint64_t columns = 17; columns <= 65; columns += 16)
		check_staged(&(struct permutation){
			2, 3, { 2, 6007, columns }, { 0, 2, 1 }, 0, { 4, 20 }
		});
	check_staged(&(struct permutation){ 2, 3, { 2, 40009, 15 }, { 0, 2, 1 }, 0, { 4, 0 } });
	/* which begin at the same place of their pages, but for half a line */
	check_staged(&(struct permutation){ 2, 3, { 2, 6152, 15 }, { 0, 2, 1 }, 0, { 4, 0 } });
	check_staged(&(struct permutation){ 2, 3, { 2, 6007, 64 }, { 0, 2, 1 }, 0, { 60, 0 } });
}

/* Of rows that are no longer than lines a block has up to a megabyte, and a part some more. */
static void short_rows_are_in_long_blocks(void **state)
{
	(void)state;
	check_staged(&(struct permutation){
		4, 3, { 2, 210007, 3 }, { 0, 2, 1 }, 0, { 16, 8 }
	});
}

/* A column's end and the next one's beginning may have a line in common, or the next strip's. */
static void columns_of_large_elements_go_on_into_each_other(void **state)
{
	static const uint64_t rows[] = { 4, 5, 7, 14 };
	static const int64_t offsets[] = { 0, 16, 48, 8 };

	(void)state;
	for (uint64_t i = 0; i < 2 * COUNT(rows) * COUNT(offsets); i++)
		check_transposed(&(struct permutation){
			4, 3, { 2, rows[i / 2 % COUNT(rows)], i % 2 ? 1040 : 1057 },
			{ 0, 2, 1 }, 0, { offsets[i / 2 / COUNT(rows)], i % 2 ? 20 : 0 }
		});
}

static bool is_staged(const struct engine_plan *plan)
{
	char text[160];

	engine_plan_describe(plan, text, sizeof(text));
	return strstr(text, " staged");
}

static void columns_shorter_than_a_line_are_staged_only_where_much_is_stored(void **state)
{
	static uint8_t memory[2][2 * 33 * 4001 * 2];

	(void)state;
	for (uint64_t rows = 31; rows <= 33; rows += 2) {
		struct engine_job *job = permutation_job(&(struct permutation){
			1, 3, { 2, rows, 4001 }, { 0, 2, 1 }, 0, { 0, 0 }
		});
		struct engine_plan *plan;

		set_buffer(job, 0, memory[0], sizeof(memory[0]));
		set_buffer(job, 1, memory[1], sizeof(memory[1]));
		plan = create_large_plan(job);
		assert_true(is_staged(plan));
		plan->overflows = false;
		assert_int_equal(is_staged(plan), rows == 33);
		engine_plan_destroy(plan);
		free(job);
	}
}

static void six_loops_of_odd_extents_are_permuted(void **state)
{
	static const uint32_t orders[][6] = {
		{ 5, 4, 3, 2, 1, 0 }, { 1, 0, 3, 2, 5, 4 }, { 0, 5, 2, 4, 3, 1 },
		{ 3, 5, 1, 0, 2, 4 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(orders); i++) {
		struct permutation p = {
			i % 2, 6, { 3, 7, 5, 9, 11, 13 }, .offsets = { (int64_t)i, 1 }
		};

		memcpy(p.axes, orders[i], sizeof(p.axes));
		check_transposed(&p);
	}
}

/* --- the kernel that puts lines together ------------------------------------------------------ */

/* A tile, or tiles side by side as wide as lines, which have a line of each row in common. */
static void run_join_kernel(engine_join_kernel *kernel, uint8_t *dst, const uint8_t *src,
			    struct engine_join join, const struct engine_tile *whole,
			    int64_t width)
{
	const int64_t size = whole->dst_strides[1], columns = whole->extents[0];
	struct engine_tile tile = *whole;

	for (int64_t c = 0; c < columns; c += width) {
		const int64_t left = columns - c;

		tile.extents[0] = left < width ? left : width;
		join.leaves_shared = width * size == 64 && left >= 2 * width;
		kernel(dst + c * whole->dst_strides[0], src + c * size, &join, &tile);
		join.has_shared = join.leaves_shared;
		join.lines += width;
	}
}

/* Columns that a kernel is to put into lines, and what it does. */
struct joined {
	int64_t size, columns, rows;
	int64_t unit;		/* columns begin some of these bytes after a line's beginning */
	bool begins;		/* with nothing that waits */
	int64_t pitch;		/* from column to column, of which no two have a line in common */
	int64_t places[MOST_ROWS];
	int64_t src_bytes, dst_bytes;
	uint8_t *from;
	struct guarded src;
	uint8_t *dst;
	uint8_t (*lines)[64];
};

static int64_t first_of(const struct joined *joined)
{
	return 64 + 3 * joined->unit;
}

/* What is before a column in its first line: not what the destination is filled with. */
static uint8_t waiting_for(int64_t c)
{
	return (uint8_t)(c % 0xa5);
}

/* With its first members and places set. */
static void prepare_joined(struct joined *joined)
{
	joined->pitch = joined->rows * joined->size + 2 * 64 + 5 * joined->unit;
	joined->dst_bytes = first_of(joined) + joined->columns * joined->pitch;
	joined->from = malloc((size_t)joined->src_bytes);
	joined->dst = aligned_alloc(64, (size_t)(joined->dst_bytes + 63) / 64 * 64);
	joined->lines = aligned_alloc(64, (size_t)joined->columns * 64);
	for (int64_t i = 0; i < joined->src_bytes; i++)
		joined->from[i] = (uint8_t)(i * 37 + i / 256);
	joined->src = guarded_copy(joined->from, (size_t)joined->src_bytes, true);
	memset(joined->dst, 0xa5, (size_t)joined->dst_bytes);
	for (int64_t c = 0; c < joined->columns; c++)
		memset(joined->lines[c], waiting_for(c), 64);
}

/* Checks what is in the destination and in lines that wait, and frees them. */
static void check_joined(struct joined *joined)
{
	const uint8_t *dst = joined->dst;

	for (int64_t c = 0; c < joined->columns; c++) {
		const int64_t begin = first_of(joined) + c * joined->pitch;
		const int64_t end = begin + joined->rows * joined->size;
		const uint8_t before = joined->begins ? 0xa5 : waiting_for(c);

		for (int64_t i = begin / 64 * 64; i < end; i++) {
			const int64_t r = (i - begin) / joined->size;
			const int64_t byte = c * joined->size + (i - begin) % joined->size;
			const uint8_t stored = i < end / 64 * 64 ? dst[i] :
					       joined->lines[c][i % 64 + 64 - end % 64];

			assert_int_equal(stored, i < begin ? before :
					 joined->from[joined->places[r] + byte]);
		}
		for (int64_t i = end / 64 * 64; i < (begin + joined->pitch) / 64 * 64 &&
						i < joined->dst_bytes; i++)
			assert_int_equal(dst[i], 0xa5);
	}
	munmap(joined->src.mapping, joined->src.mapped);
	free(joined->from);
	free(joined->dst);
	free(joined->lines);
}

static void check_columns(engine_join_kernel *kernel, int64_t size, int64_t columns, int64_t rows,
			  int64_t width, int64_t unit, bool begins)
{
	struct joined joined = {
		.size = size, .columns = columns, .rows = rows, .unit = unit, .begins = begins,
		.src_bytes = (columns + 2 * rows) * size,
	};
	const int64_t bytes = columns * rows * size, most = 200 * columns;
	uint8_t (*shared)[64] = aligned_alloc(64, (size_t)rows * 64);
	struct engine_tile tile = { .extents = { columns, rows } };
	struct engine_ahead ahead = {
		.left = 200, .count = columns, .row_bytes = 200, .stride = 192,
	};

	for (int64_t r = 0; r < rows; r++)
		joined.places[r] = (r * 5 + 3) % (2 * rows + 1) * size;
	prepare_joined(&joined);
	ahead.from = joined.src.bytes;
	tile.dst_strides[0] = joined.pitch;
	tile.dst_strides[1] = size;
	run_join_kernel(kernel, joined.dst + first_of(&joined), joined.src.bytes,
			(struct engine_join){
				.places = joined.places, .ahead = unit == 1 ? &ahead : NULL,
				.lines = joined.lines, .shared = shared, .begins = begins,
			}, &tile, width);
	if (unit == 1)
		assert_int_equal(engine_ahead_bytes(&ahead), bytes < most ? most - bytes : 0);
	check_joined(&joined);
	free(shared);
}

static void check_join_kernel(engine_join_kernel *kernel, int64_t size, int64_t columns,
			      int64_t rows, int64_t width)
{
	check_columns(kernel, size, columns, rows, width, 1, false);
	check_columns(kernel, size, columns, rows, width, size, false);
}

static const int64_t sides[] = { 1, 3, 8, 15, 16, 17, 33, 64, 70, 100, 130, 200 };

/* Asks for a check of the kernel of each instruction set, for each size of elements. */
static void check_join_kernels(void (*check)(engine_join_kernel *kernel, int64_t size))
{
	for (uint32_t k = 0; engine_isa_at(k); k++) {
		const struct engine_isa *isa = engine_isa_at(k);

		for (uint32_t shift = 0; isa->is_available() && shift < ENGINE_NUM_SIZES; shift++) {
			engine_join_kernel *kernel = isa->transpose->join_transpose[shift];

			if (kernel)
				check(kernel, 1 << shift);
		}
	}
}

static void check_one_tile(engine_join_kernel *kernel, int64_t size)
{
	for (size_t i = 0; i < COUNT(sides) * COUNT(sides); i++)
		check_join_kernel(kernel, size, sides[i / COUNT(sides)], sides[i % COUNT(sides)],
				  sides[i / COUNT(sides)]);
}

static void kernels_put_lines_together(void **state)
{
	(void)state;
	check_join_kernels(check_one_tile);
}

static void kernels_put_lines_of_many_rows_together(void **state)
{
	const struct engine_isa *isa;

	(void)state;
	for (uint32_t k = 0; (isa = engine_isa_at(k)); k++)
		for (uint32_t shift = 0; isa->is_available() && shift < ENGINE_NUM_SIZES; shift++)
			if (isa->transpose->join_tall[shift])
				check_one_tile(isa->transpose->join_tall[shift], 1 << shift);
}

/* The last tile but one has a whole one beside it, or one that is less wide. */
static void check_tiles_side_by_side(engine_join_kernel *kernel, int64_t size)
{
	const int64_t line = 64 / size;

	for (size_t i = 0; i < COUNT(sides); i++) {
		check_join_kernel(kernel, size, 3 * line, sides[i], line);
		check_join_kernel(kernel, size, 3 * line - 1, sides[i], line);
	}
}

static void tiles_side_by_side_share_lines_of_rows(void **state)
{
	(void)state;
	check_join_kernels(check_tiles_side_by_side);
}

/* Of as many rows as a line has elements, or more. */
static void check_columns_begin(engine_join_kernel *kernel, int64_t size)
{
	for (size_t i = 0; i < COUNT(sides) * COUNT(sides); i++) {
		const int64_t columns = sides[i / COUNT(sides)], rows = sides[i % COUNT(sides)];

		if (rows * size < 64)
			continue;
		check_columns(kernel, size, columns, rows, columns, 1, true);
		check_columns(kernel, size, columns, rows, columns, size, true);
	}
}

static void kernels_begin_columns_where_nothing_waits(void **state)
{
	(void)state;
	check_join_kernels(check_columns_begin);
}

/* Rows are packed; memory ends where rows do that fill a line of the destination. */
static void check_packed_columns(engine_packed_join_kernel *kernel, int64_t size, int64_t columns,
				 int64_t rows, int64_t unit)
{
	const int64_t line = 64 / size, row_bytes = (columns + line - 1) / line * 64;
	struct joined joined = {
		.size = size, .columns = columns, .rows = rows, .unit = unit,
		.src_bytes = (rows + line - 1) / line * line * row_bytes,
	};
	struct engine_tile tile = {
		.extents = { columns, rows }, .src_strides = { size, row_bytes },
	};

	for (int64_t r = 0; r < rows; r++)
		joined.places[r] = r * row_bytes;
	prepare_joined(&joined);
	tile.dst_strides[0] = joined.pitch;
	tile.dst_strides[1] = size;
	kernel(joined.dst + first_of(&joined), joined.src.bytes, joined.lines, &tile,
	       unit == 1 ? &(struct engine_ahead){
		       joined.src.bytes, 128, MOST_ROWS, 128, 192
	       } : NULL);
	check_joined(&joined);
}

static void kernels_put_lines_of_packed_rows_together(void **state)
{
	const struct engine_isa *isa;

	(void)state;
	for (uint32_t k = 0; (isa = engine_isa_at(k)); k++)
		for (uint32_t shift = 0; isa->is_available() && shift < ENGINE_NUM_SIZES; shift++)
			for (size_t i = 0; isa->transpose->join_packed[shift] &&
					   i < 2 * COUNT(sides) * COUNT(sides); i++)
				check_packed_columns(isa->transpose->join_packed[shift],
						     1 << shift, sides[i / 2 % COUNT(sides)],
						     sides[i / 2 / COUNT(sides)],
						     i % 2 ? 1 : 1 << shift);
}

/* Rows are a stride apart, and come in two tiles. Memory ends with the last row. */
static void check_short_columns(engine_short_join_kernel *kernel, int64_t size, int64_t columns,
				int64_t rows)
{
	const int64_t stride = (columns + rows % 3) * size, above = rows / 2;
	struct joined joined = {
		.size = size, .columns = columns, .rows = rows, .unit = size,
		.src_bytes = (rows - 1) * stride + columns * size,
	};
	struct engine_tile tile = {
		.extents = { columns, above }, .src_strides = { size, stride },
	};
	uint8_t *dst;

	for (int64_t r = 0; r < rows; r++)
		joined.places[r] = r * stride;
	prepare_joined(&joined);
	tile.dst_strides[0] = joined.pitch;
	tile.dst_strides[1] = size;
	dst = joined.dst + first_of(&joined);
	kernel(dst, joined.src.bytes, joined.lines, &tile, NULL);
	tile.extents[1] = rows - above;
	kernel(dst + above * size, joined.src.bytes + above * stride, joined.lines, &tile,
	       joined.src.bytes);
	check_joined(&joined);
}

static void kernels_put_lines_of_short_rows_together(void **state)
{
	const struct engine_isa *isa;

	(void)state;
	for (uint32_t k = 0; (isa = engine_isa_at(k)); k++)
		for (uint32_t shift = 0; isa->is_available() && shift < ENGINE_NUM_SIZES; shift++)
			for (size_t i = 0; isa->transpose->join_short[shift] &&
					   i < 14 * COUNT(sides); i++)
				check_short_columns(isa->transpose->join_short[shift], 1 << shift,
						    4 + (int64_t)i % 14, sides[i / 14]);
}

/* --- the kernel that puts columns together ---------------------------------------------------- */

/* So many columns that make whole lines, after so many bytes of a line. */
static void check_chain_kernel(engine_chain_kernel *kernel, const int64_t *extents, int64_t size,
			       int64_t filled)
{
	const int64_t pitch = extents[0] * size + 12, src_bytes = extents[1] * pitch - 12;
	const int64_t bytes = extents[0] * extents[1] * size;
	const struct engine_tile tile = {
		.extents = { extents[0], extents[1] },
		.dst_strides = { extents[1] * size, size }, .src_strides = { size, pitch },
	};
	uint8_t *from = malloc((size_t)src_bytes);
	uint8_t *dst = aligned_alloc(64, (size_t)bytes + 128);
	struct guarded src;
	uint8_t line[64];

	for (int64_t i = 0; i < src_bytes; i++)
		from[i] = (uint8_t)(i * 37 + i / 256);
	src = guarded_copy(from, (size_t)src_bytes, true);
	memset(dst, 0xa5, (size_t)bytes + 128);
	memset(line, 0x5a, sizeof(line));
	kernel(dst + 64, src.bytes, &tile, line, filled);
	for (int64_t i = 0; i < bytes + filled; i++) {
		const int64_t at = i - filled, c = at / size / extents[1];
		const int64_t r = at / size % extents[1];
		const uint8_t stored = i < bytes ? dst[64 + i] : line[i - bytes + 64 - filled];

		assert_int_equal(stored, at < 0 ? 0x5a : from[r * pitch + c * size + at % size]);
	}
	/* of what is left a first half may be stored as well */
	for (int64_t i = 0; i < 64; i++) {
		assert_int_equal(dst[i], 0xa5);
		if (i >= filled / 32 * 32 || dst[64 + bytes] == 0xa5)
			assert_int_equal(dst[64 + bytes + i], 0xa5);
		else
			assert_int_equal(dst[64 + bytes + i], line[64 - filled + i]);
	}
	munmap(src.mapping, src.mapped);
	free(from);
	free(dst);
}

static void check_chain_kernels_of(const struct engine_isa *isa, uint32_t shift)
{
	const int64_t line = 64 >> shift;
	const int64_t least = shift < 4 ? line / 2 + 1 : line, most = shift < 4 ? line - 1 : 13;

	for (int64_t rows = least; rows <= most; rows++)
		for (int64_t filled = 0; filled < 64; filled += 1 << shift)
			check_chain_kernel(isa->transpose->chain_transpose[shift],
					   (const int64_t[]){ line * (1 + filled % 3), rows },
					   1 << shift, filled);
}

static void kernels_put_columns_together(void **state)
{
	(void)state;
	for (uint32_t k = 0; engine_isa_at(k); k++) {
		const struct engine_isa *isa = engine_isa_at(k);

		for (uint32_t shift = 0; isa->is_available() && shift < ENGINE_NUM_SIZES; shift++)
			if (isa->transpose->chain_transpose[shift])
				check_chain_kernels_of(isa, shift);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_small_elements_are_packed),
		cmocka_unit_test(rows_of_two_loops_are_packed),
		cmocka_unit_test(rows_that_run_on_into_the_next_loop_are_packed),
		cmocka_unit_test(runs_of_odd_bytes_begin_at_odd_addresses),
		cmocka_unit_test(what_is_between_runs_stays),
		cmocka_unit_test(long_rows_go_on_in_lines_that_wait),
		cmocka_unit_test(source_without_its_last_column_is_transposed),
		cmocka_unit_test(rows_of_whole_lines_begin_anywhere),
		cmocka_unit_test(blocks_begin_with_lines),
		cmocka_unit_test(rows_that_begin_with_lines_end_anywhere),
		cmocka_unit_test(rows_that_crowd_each_other_are_packed_ahead),
		cmocka_unit_test(rows_of_two_loops_are_packed_ahead),
		cmocka_unit_test(plan_tells_that_rows_are_packed_ahead),
		cmocka_unit_test(rows_of_several_loops_go_on_in_lines_that_wait),
		cmocka_unit_test(rows_of_several_loops_are_whole_lines),
		cmocka_unit_test(short_rows_go_on_into_each_other),
		cmocka_unit_test(columns_of_most_of_a_line_go_on_into_each_other),
		cmocka_unit_test(columns_of_whole_lines_go_on_into_each_other_within_lines),
		cmocka_unit_test(progress_of_columns_within_lines_is_told_in_small_steps),
		cmocka_unit_test(columns_that_overlap_stay_in_their_memory),
		cmocka_unit_test(columns_of_large_elements_go_on_into_each_other),
		cmocka_unit_test(few_planes_are_stored_to_the_caches),
		cmocka_unit_test(columns_of_short_rows_go_on_in_lines_that_wait),
		cmocka_unit_test(short_rows_are_in_long_blocks),
		cmocka_unit_test(
			columns_shorter_than_a_line_are_staged_only_where_much_is_stored),
		cmocka_unit_test(six_loops_of_odd_extents_are_permuted),
		cmocka_unit_test(kernels_put_lines_together),
		cmocka_unit_test(kernels_put_lines_of_many_rows_together),
		cmocka_unit_test(tiles_side_by_side_share_lines_of_rows),
		cmocka_unit_test(kernels_begin_columns_where_nothing_waits),
		cmocka_unit_test(kernels_put_lines_of_packed_rows_together),
		cmocka_unit_test(kernels_put_lines_of_short_rows_together),
		cmocka_unit_test(kernels_put_columns_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
