// SPDX-License-Identifier: MIT
/*
 * How large transposes are cut into blocks and strips; why is in staging.h. Strips go along the
 * destination. Running them is staging_run.c's.
 */
#include <string.h>

#include "arithmetic.h"
#include "move.h"
#include "place.h"
#include "staging_room.h"

enum { DST = ENGINE_MOVE_DST, SRC = ENGINE_MOVE_SRC };

/* Less is not worth the way. */
#define LEAST_BYTES	131072

/*
 * A block, of which one is transposed while the next one comes to the second cache. Its rows are
 * long on both sides. In the source a page is looked up for each. In the destination lines that are
 * a power of two apart belong to the same part of the last cache, which takes one at a time: the
 * next lines of each row have others do so meanwhile. Blocks are large if these rows ask for it,
 * but what goes by way of the staging buffer is better off in smaller ones. Where rows are packed
 * piece by piece, fewer of them leave room for several lines of each.
 */
#define LARGE_BLOCK_BYTES	131072
#define SRC_RUN_BYTES		2048
#define DST_RUN_BYTES		256
#define SHORT_ROWS_BLOCK_BYTES	(1 << 20)
#define MOST_SHORT_LINES	4
#define LEAST_SHORT_COLUMNS	4		/* that kernels join, */
#define MOST_LINES_BESIDE	3		/* and rows, where squares are joined as well */
#define PACKED_DST_RUN		64

/*
 * A strip, which stays in the first cache with all that is done to it. Fetching and storing take
 * turns all the better the smaller the bites are (DIRECT_BYTES): what is asked for while too much
 * is under way, some CPUs forget. Runs by way of the staging buffer cost something each: where they
 * would be short otherwise, a strip may have twice as much.
 */
#define STAGED_STRIP_BYTES	4096
#define RUN_BYTES	256

/*
 * Where runs begin within lines, what waits for each is put before it: the fewer the better. But of
 * small elements long runs are too many rows, and of several loops these lie too far apart.
 */
#define WAITING_STRIP_BYTES	(2 * STAGED_STRIP_BYTES)
#define WAITING_DST_RUN_BYTES	(2 * DST_RUN_BYTES)

/*
 * Rows of the source itself may begin within lines: strips that go by way of the staging buffer
 * have so many of each row, lest too many are shared with the strips beside.
 */
#define STAGED_LINES	4

/*
 * Strips whose columns go on in lines that wait have longer runs, stored in pieces. Columns that
 * are joined along rows, not in strips, have so much at least.
 */
#define JOINED_BYTES		16384
#define LEAST_ALONG_BYTES	512

/*
 * Beside squares along rows the next block is fetched in the order in which it lies in memory. What
 * is in the last cache comes sooner if each square asks for the rows below it: so do squares of
 * larger elements, which are small, and of 4 bytes where rows have less than a square's lines.
 */
#define BESIDE_SIZE		4
#define LEAST_BESIDE_BYTES	1024

/*
 * Squares of elements of this size, of which what waits stays in registers from one to the next one
 * below, are joined so many at a time, if rows do not crowd each other.
 */
#define TALL_SIZE		8
#define TALL_SQUARES		4

/*
 * Squares of elements as small as this have many rows. Where these are so far apart, and back in
 * the same sets of the first cache after so few, they are packed if they are long enough. Not those
 * that are in the second cache, and of which a kernel loads each line once: there packing takes
 * more than it gives.
 */
#define PACKED_SIZE		2
#define PACKED_STRIDE		1024
#define MOST_PACKED_SETS	2

/* Of these rows the second cache has room for so many bytes, if they have all of its sets. */
#define SECOND_CACHE_BYTES	(1 << 20)

/*
 * Lines that wait for each other, one of each column of a strip: more of them than these are better
 * off in longer runs, by way of the staging buffer.
 */
#define MOST_IN_TURNS		8

/* Elements of 16 bytes are taken apart by lanes, and streamed. */
#define MOST_SIZE_APART		8

static int64_t count_elements(const int64_t *extents, uint32_t rank)
{
	int64_t elements = 1;

	for (uint32_t d = 0; d < rank; d++)
		elements *= extents[d];
	return elements;
}

/* The loop that goes on where whole contiguous loops of a stream end; rank if none does. */
static uint32_t next_in_run(const struct engine_nest *nest, uint32_t stream, int64_t run_bytes)
{
	uint32_t d = 0;

	while (d < nest->rank && nest->streams[stream].strides[d] != run_bytes)
		d++;
	return d;
}

/* The kernel that stores lines of the destination where they are at home, if all are whole. */
static engine_tile_kernel *choose_stream_kernel(const struct engine_staging *staging,
						const struct engine_nest *nest, int64_t size,
						const struct engine_transpose_kernels *kernels)
{
	const int64_t stride = nest->streams[DST].strides[staging->src_loop];

	if (!staging->has_lines || (kernels->streams_in_turns && engine_is_in_few_parts(stride) &&
				    LINE_BYTES / size > MOST_IN_TURNS))
		return NULL;
	return kernels->stream_transpose[__builtin_ctzll((uint64_t)size)];
}

/*
 * Whether rows of a block, a power of two apart, have so few sets of the second cache that they
 * drive each other out of it before they are transposed.
 */
static bool are_crowded(const struct engine_nest *nest, int64_t size)
{
	const uint32_t last = nest->rank - 1;
	const uint64_t stride = (uint64_t)nest->streams[SRC].strides[last];
	const int64_t rows = min(DST_RUN_BYTES / size, nest->extents[last]);

	return (stride & -stride) > (uint64_t)(SECOND_CACHE_BYTES / rows);
}

/*
 * The kernel beside which such rows are packed while they are there, if all are copied. What larger
 * elements than bytes gain by it are the pairs of lines that it stores.
 */
static engine_packing_kernel *choose_packing_kernel(const struct engine_staging *staging,
						    const struct engine_nest *nest, int64_t size,
						    const struct engine_transpose_kernels *kernels)
{
	if (staging->pack_row || !staging->stream_kernel || !are_crowded(nest, size) ||
	    (size > 1 && !engine_stores_pairs()))
		return NULL;
	return kernels->stream_packing[__builtin_ctzll((uint64_t)size)];
}

/*
 * Whether rows are packed, if they turn out long enough: those that are computed, those that crowd
 * each other, and those of small elements whose lines a kernel would load several times.
 */
static bool wants_packing(const struct engine_staging *staging, const struct engine_nest *nest,
			  int64_t size, const struct engine_transpose_kernels *kernels)
{
	const int64_t stride = nest->streams[SRC].strides[nest->rank - 1];

	return staging->pack_row || staging->packing_kernel ||
	       (size <= PACKED_SIZE && !kernels->loads_lines &&
		magnitude(stride) >= PACKED_STRIDE &&
		engine_count_row_sets(stride, size) <= MOST_PACKED_SETS);
}

/*
 * Whether a block is to have the source's rows whole, where they go on into each other: all that it
 * has of them is one run then, and nothing is packed. It is not packed either where a block that
 * has the destination's rows whole has to cut them. What is computed always is packed.
 */
static bool takes_whole_rows(const struct engine_staging *staging, const struct engine_nest *nest,
			     int64_t size)
{
	const int64_t extent = nest->extents[staging->src_loop];

	return !staging->pack_row && extent <= NUM_SLOTS &&
	       extent * size <= STAGED_WHOLE_ROW_BYTES &&
	       next_in_run(nest, SRC, extent * staging->src_size) == nest->rank - 1;
}

/*
 * Whether such rows are no longer than lines, or a few if a kernel puts them together, and more
 * than a block has room for: strips have all of each, and go from one to the next as these lie in
 * the source.
 */
static bool are_rows_short(const struct engine_nest *nest, uint32_t src_loop, int64_t size,
			   bool are_joined)
{
	const int64_t row_bytes = nest->extents[src_loop] * size;

	return row_bytes <= (are_joined ? MOST_SHORT_LINES : 1) * LINE_BYTES &&
	       nest->extents[nest->rank - 1] > BLOCK_BYTES / row_bytes;
}

/* So much of a loop, whole lines of it, or all if what is beyond is no more than the excess. */
static int64_t cut_loop(int64_t extent, int64_t wanted, int64_t excess, int64_t most, int64_t line)
{
	wanted = min(wanted, most);
	if (extent <= min(wanted + excess, most))
		return extent;
	return wanted > line ? wanted / line * line : wanted;
}

/*
 * Widens the block along the loops in which a stream is contiguous until runs have the bytes
 * wanted, or some in excess where they are whole then, as far as the block's size allows.
 */
static void widen_block(struct engine_staging *staging, const struct engine_nest *nest,
			uint32_t stream, int64_t size, int64_t wanted, int64_t excess,
			int64_t block_bytes)
{
	const int64_t line = max(1, LINE_BYTES / size);
	int64_t run_bytes = stream == SRC ? staging->src_size : size;
	uint32_t loop = stream == SRC ? staging->src_loop : nest->rank - 1;
	uint32_t mask = 0;

	while (loop < nest->rank && !(mask >> loop & 1) && run_bytes < wanted) {
		int64_t others = count_elements(staging->block, nest->rank) / staging->block[loop];
		int64_t most = max(1, block_bytes / (others * size));
		int64_t extent = cut_loop(nest->extents[loop], divide_up(wanted, run_bytes),
					  divide_up(excess, run_bytes), most, line);

		staging->block[loop] = max(staging->block[loop], extent);
		if (staging->block[loop] < nest->extents[loop])
			return;
		mask |= 1u << loop;
		run_bytes *= nest->extents[loop];
		loop = next_in_run(nest, stream, run_bytes);
	}
}

/*
 * How much more of the destination's rows a block may have where they are whole then: as much
 * again, as the ends of runs are partial lines. But rows that are to be packed ahead should be
 * long; and where the source's are to be whole, only what leaves these so, or long.
 */
static int64_t dst_excess(const struct engine_staging *staging, const struct engine_nest *nest,
			  int64_t size, int64_t dst_run, int64_t block_bytes)
{
	const int64_t columns = min(nest->extents[staging->src_loop], STAGED_SRC_RUN_BYTES / size);

	if (staging->packing_kernel)
		return 0;
	if (!staging->has_whole_rows)
		return dst_run;
	return max(DST_RUN_BYTES, min(block_bytes / columns, 2 * dst_run)) - dst_run;
}

/* How long a block's runs of the destination are to be. */
static int64_t choose_dst_run(const struct engine_staging *staging, const struct engine_nest *nest,
			      int64_t size, bool is_staged, bool are_pieces, int64_t block_bytes)
{
	if (are_pieces)
		return min(DST_RUN_BYTES, PACKED_DST_RUN * size);
	if (staging->has_whole_rows)
		return min(DST_RUN_BYTES, block_bytes / nest->extents[staging->src_loop] /
					  LINE_BYTES * LINE_BYTES);
	if (is_staged && !staging->has_lines && size > PACKED_SIZE &&
	    nest->extents[nest->rank - 1] >= WAITING_DST_RUN_BYTES / size)
		return WAITING_DST_RUN_BYTES;
	return DST_RUN_BYTES;
}

/* Gives a block of short rows as many of them as it may have. */
static void heighten_block(struct engine_staging *staging, const struct engine_nest *nest,
			   int64_t size)
{
	const uint32_t last = nest->rank - 1;
	const int64_t most = SHORT_ROWS_BLOCK_BYTES / (nest->extents[staging->src_loop] * size);

	staging->block[last] = cut_loop(nest->extents[last], most, 0, most,
					max(1, LINE_BYTES / size));
}

/*
 * With rows as long as they are wanted, and then as many of them as there is room for; or of the
 * destination's what leaves the source's whole.
 */
static void choose_block(struct engine_staging *staging, const struct engine_nest *nest,
			 int64_t size, bool is_staged, bool are_pieces)
{
	const int64_t src_run = (is_staged || are_pieces ? STAGED_SRC_RUN_BYTES : SRC_RUN_BYTES) /
				size * staging->src_size;
	const bool is_small = staging->packs || (is_staged && !staging->has_whole_rows);
	const int64_t most = is_small ? BLOCK_BYTES : LARGE_BLOCK_BYTES;
	const int64_t dst_run = choose_dst_run(staging, nest, size, is_staged, are_pieces, most);

	for (uint32_t d = 0; d < nest->rank; d++)
		staging->block[d] = 1;
	widen_block(staging, nest, DST, size, dst_run,
		    dst_excess(staging, nest, size, dst_run, most), most);
	widen_block(staging, nest, SRC, size, src_run, SRC_EXCESS(src_run), most);
	widen_block(staging, nest, DST, size, BLOCK_BYTES, 0, BLOCK_BYTES);
	if (staging->has_short_rows)
		heighten_block(staging, nest, size);
}

/* What a block has side by side in the source: whole loops, and one that it cuts. */
static void find_rows(struct engine_staging *staging, const struct engine_nest *nest)
{
	uint32_t loop = staging->src_loop;
	int64_t run_bytes = staging->src_size;

	for (uint32_t d = 0; d < nest->rank; d++)
		staging->row[d] = 1;
	while (loop < nest->rank && staging->row[loop] == 1) {
		staging->row[loop] = staging->block[loop];
		if (staging->block[loop] < nest->extents[loop])
			return;
		run_bytes *= nest->extents[loop];
		loop = next_in_run(nest, SRC, run_bytes);
	}
}

/* Rows have an odd number of lines, lest they meet in the same cache sets. */
static void lay_out_rows(struct engine_staging *staging, const struct engine_nest *nest,
			 int64_t size)
{
	const int64_t *strides = nest->streams[SRC].strides;
	int64_t row_bytes = size * count_elements(staging->row, nest->rank);
	int64_t pitch = round_up(row_bytes, LINE_BYTES);

	staging->packs = staging->packs && row_bytes >= PACKED_ROW_BYTES &&
			 staging->row[nest->rank - 1] == 1 &&
			 (staging->pack_row ||
			  staging->block[nest->rank - 1] >= LINE_BYTES / size);
	if (pitch / LINE_BYTES % 2 == 0)
		pitch += LINE_BYTES;
	for (uint32_t d = nest->rank; d-- > 0; ) {
		staging->packed[d] = staging->row[d] > 1 ? strides[d] / staging->src_size * size :
							   pitch;
		if (staging->row[d] == 1)
			pitch *= staging->block[d];
	}
}

static void order_loops(struct engine_staging *staging, const struct engine_nest *nest)
{
	const int64_t *strides = nest->streams[SRC].strides;

	for (uint32_t d = 0; d < nest->rank; d++) {
		uint32_t place = d;

		for (; place > 0; place--) {
			uint32_t before = staging->order[place - 1];

			if (magnitude(strides[before]) >= magnitude(strides[d]))
				break;
			staging->order[place] = before;
		}
		staging->order[place] = d;
	}
}

/* The loops as they are, but that of the columns last. */
static void order_across(struct engine_staging *staging, uint32_t rank)
{
	uint32_t place = 0;

	for (uint32_t d = 0; d < rank; d++)
		if (d != staging->src_loop)
			staging->across[place++] = d;
	staging->across[place] = staging->src_loop;
}

/* Whether columns, as a block has them, go on into each other. */
static bool are_one_run(const struct engine_staging *staging, const struct engine_nest *nest,
			int64_t size)
{
	int64_t run_bytes = size;

	uint32_t d = nest->rank - 1;

	while (d < nest->rank && d != staging->src_loop && staging->block[d] == nest->extents[d]) {
		run_bytes *= nest->extents[d];
		d = next_in_run(nest, DST, run_bytes);
	}
	return d == staging->src_loop;
}

/*
 * Whether the kernel that joins columns is to go along rows of the source, if it is used: strips
 * have some of these, a stride apart. Short rows are better read strip by strip; and packed those
 * of small elements that drive each other out of a set of the first cache.
 */
static bool are_columns_long(const struct engine_staging *staging, const struct engine_nest *nest,
			     int64_t size)
{
	const int64_t row_bytes = nest->extents[staging->src_loop] * size;
	const int64_t rows = nest->extents[nest->rank - 1];
	const int64_t stride = nest->streams[SRC].strides[nest->rank - 1];

	return engine_joins_along_rows() && !staging->packs && rows > MAX_ROWS &&
	       rows * size >= LEAST_ALONG_BYTES && row_bytes >= PACKED_ROW_BYTES &&
	       (size > PACKED_SIZE || engine_count_row_sets(stride, size) > 1);
}

/*
 * Along rows, lines of many columns are stored in turns. If these belong to one part of the last
 * cache strips have fewer: of bytes, those of half a square.
 */
static void choose_joining(struct engine_staging *staging, const struct engine_nest *nest,
			   int64_t size)
{
	const bool are_long = are_columns_long(staging, nest, size);
	const int64_t stride = nest->streams[DST].strides[staging->src_loop];
	const bool are_in_one_part = engine_is_in_one_part(stride);

	staging->joins_along = are_long && !are_in_one_part;
	staging->joins_halves = are_long && are_in_one_part && size == 1;
}

/* The kernel for rows that are packed piece by piece, unless they are joined as they lie. */
static engine_packed_join_kernel *choose_packed_join(const struct engine_staging *staging,
						     int64_t size,
						     const struct engine_transpose_kernels *kernels)
{
	if (staging->joins_along || staging->joins_halves)
		return NULL;
	return kernels->join_packed[__builtin_ctzll((uint64_t)size)];
}

/* How many rows are gone along at a time where those below are asked for; 0: they are not. */
static int64_t choose_rows_below(const struct engine_staging *staging,
				 const struct engine_nest *nest, int64_t size)
{
	const int64_t line = max(1, LINE_BYTES / size);
	const int64_t row_bytes = staging->block[staging->src_loop] * size;
	const int64_t stride = nest->streams[SRC].strides[nest->rank - 1];

	if (!staging->joins_along || size <= PACKED_SIZE ||
	    (size <= BESIDE_SIZE && row_bytes >= LEAST_BESIDE_BYTES))
		return 0;
	return size == TALL_SIZE && !engine_is_crowded(stride, size) ? TALL_SQUARES * line : line;
}

/*
 * Whether more rows than a square's may be gone down at a time, beside which others are fetched:
 * along rows, where their lines are still there for the columns beside.
 */
static bool can_join_tall(const struct engine_staging *staging, const struct engine_nest *nest,
			  int64_t size)
{
	const int64_t stride = nest->streams[SRC].strides[nest->rank - 1];

	if (!engine_loads_across() || !engine_fetches_beside_squares() || staging->rows_below)
		return false;
	return !staging->joins_along || !engine_is_crowded(stride, size);
}

/* The kernels that put lines together, if columns do not go on into each other. */
static void choose_join_kernels(struct engine_staging *staging, const struct engine_nest *nest,
				int64_t size, const struct engine_transpose_kernels *kernels,
				bool is_staged)
{
	const int shift = __builtin_ctzll((uint64_t)size);
	const int64_t row_bytes = staging->block[staging->src_loop] * size;
	const bool has_long_rows = row_bytes >= PACKED_ROW_BYTES;

	staging->join_kernel = NULL;
	staging->tall_join_kernel = NULL;
	staging->packed_join_kernel = NULL;
	if (is_staged || are_one_run(staging, nest, size))
		return;
	staging->join_kernel = kernels->join_transpose[shift];
	staging->rows_below = choose_rows_below(staging, nest, size);
	staging->begins_joined = staging->joins_along ||
				 (engine_joins_along_rows() && size <= PACKED_SIZE);
	if (can_join_tall(staging, nest, size))
		staging->tall_join_kernel = kernels->join_tall[shift];
	if (has_long_rows)
		staging->packed_join_kernel = choose_packed_join(staging, size, kernels);
}

/*
 * No more than so much of a loop, in parts that are alike: the rows of a strip are listed once for
 * all that have the same, and short strips cost as much as long ones.
 */
static int64_t cut_evenly(int64_t extent, int64_t most)
{
	return divide_up(extent, divide_up(extent, most));
}

/*
 * A strip is a tile as wide as a line, wider where it is short, and longer where no line is filled.
 * Where the destination goes on in another loop, so does a small strip. Of short rows that a kernel
 * puts together it is the first one alone, of which the staging buffer is to have all columns.
 */
static void choose_strip(struct engine_staging *staging, const struct engine_nest *nest,
			 int64_t size)
{
	const uint32_t last = nest->rank - 1, columns = staging->src_loop;
	const int64_t line = max(1, LINE_BYTES / size);
	const bool is_joined = staging->join_kernel && !staging->stream_kernel;
	const int64_t strip_bytes = staging->stream_kernel ? DIRECT_BYTES :
				    is_joined ? JOINED_BYTES :
				    staging->has_lines ? STAGED_STRIP_BYTES :
							 WAITING_STRIP_BYTES;
	int64_t width = min(staging->block[columns], line);
	int64_t height, bytes, run_bytes;

	height = round_up(max(RUN_BYTES, strip_bytes / width) / size, line);
	if (staging->has_short_rows && staging->short_kernel)
		height = RUN_BYTES / size;
	height = min(staging->block[last], min(height, MAX_ROWS));
	if (is_joined && staging->joins_halves)
		width = min(width, line / 2);
	if (!is_joined)
		width = max(width, strip_bytes / size / height / line * line);
	width = min(staging->block[columns], width);
	for (uint32_t d = 0; d < nest->rank; d++)
		staging->tile[d] = 1;
	staging->tile[columns] = width;
	staging->tile[last] = height;
	memcpy(staging->strip, staging->tile, sizeof(staging->strip));
	bytes = size * height;
	run_bytes = strip_bytes / width;
	if (!is_joined && !staging->stream_kernel)
		run_bytes = max(run_bytes, min(RUN_BYTES, 2 * run_bytes));
	run_bytes = min(run_bytes, MAX_ROWS * size);
	for (uint32_t d = last; staging->strip[d] == nest->extents[d]; ) {
		d = next_in_run(nest, DST, bytes);
		if (d == nest->rank || d == columns)
			break;
		staging->strip[d] = cut_evenly(staging->block[d], max(1, run_bytes / bytes));
		bytes *= staging->strip[d];
	}
	staging->are_tiles = !memcmp(staging->strip, staging->tile, sizeof(staging->tile));
	/* halves of squares are stored by fours, and strips of the staging buffer whole */
	staging->bite = height;
	if (size > 1 && staging->stream_kernel && !staging->packing_kernel)
		staging->bite = min(height, max(1, DIRECT_BYTES / (width * size * line)) * line);
	memcpy(staging->panel, staging->strip, sizeof(staging->panel));
	staging->panel[columns] = staging->block[columns];
	staging->panel[last] = staging->block[last];
}

/*
 * Runs have a line between them, and are as far from a line's beginning as where they go, if the
 * first one is. They are one where they go on from column to column.
 */
static void lay_out_strip(struct engine_staging *staging, const struct engine_nest *nest,
			  int64_t size)
{
	const int64_t *strides = nest->streams[DST].strides;
	const uint32_t columns = staging->src_loop;

	staging->run_bytes = size;
	for (uint32_t d = 0; d < nest->rank; d++) {
		staging->strides[d] = strides[d];
		if (d != columns)
			staging->run_bytes *= staging->strip[d];
	}
	staging->is_one_run = strides[columns] == staging->run_bytes;
	if (!staging->is_one_run)
		staging->strides[columns] = round_up(staging->run_bytes, LINE_BYTES) + LINE_BYTES +
					    (int64_t)((uint64_t)strides[columns] % LINE_BYTES);
}

/* Has strips that go by way of the staging buffer as wide as they should be, if it has the room. */
static void widen_strip(struct engine_staging *staging, int64_t size)
{
	const uint32_t columns = staging->src_loop;
	const int64_t line = max(1, LINE_BYTES / size), stride = staging->strides[columns];
	const int64_t room = (STAGED_BYTES - 2 * LINE_BYTES) / stride / line * line;
	int64_t width = min(STAGED_LINES * staging->strip[columns], room);

	if (staging->join_kernel || staging->has_lines || staging->packs)
		return;
	width = min(max(width, staging->strip[columns]), staging->block[columns]);
	staging->strip[columns] = width;
	staging->tile[columns] = width;
}

/*
 * Loops along which one strip goes on where another ended: those of the run, but where a block cuts
 * the run and has several points of a loop beyond, these are far from each other.
 */
static uint32_t continuing_loops(const struct engine_staging *staging,
				 const struct engine_nest *nest, int64_t size)
{
	int64_t run_bytes = size;
	bool is_cut = false;
	uint32_t mask = 0;

	for (uint32_t d = nest->rank - 1; d < nest->rank; d = next_in_run(nest, DST, run_bytes)) {
		if (d == staging->src_loop && !staging->is_one_run)
			break;
		if (!is_cut || staging->block[d] == 1)
			mask |= 1u << d;
		is_cut = is_cut || staging->block[d] < nest->extents[d];
		run_bytes *= nest->extents[d];
	}
	return mask;
}

/* Slots are those of runs that do not go on into each other; those of columns are side by side. */
static void number_slots(struct engine_staging *staging, const struct engine_nest *nest,
			 int64_t size)
{
	const uint32_t columns = staging->src_loop;
	const uint32_t mask = continuing_loops(staging, nest, size);
	int64_t count = mask >> columns & 1 ? 1 : staging->block[columns];

	staging->slots[columns] = mask >> columns & 1 ? 0 : 1;
	for (uint32_t d = 0; d < nest->rank; d++) {
		if (d == columns)
			continue;
		staging->slots[d] = mask >> d & 1 ? 0 : count;
		if (staging->slots[d])
			count *= staging->block[d];
	}
	staging->num_slots = min(count, NUM_SLOTS);
}

/* Whether rows are better joined a few columns at a time, by a kernel for that, if there is one. */
static bool is_better_short(const struct engine_staging *staging, const struct engine_nest *nest,
			    int64_t size, bool are_squares_joined)
{
	const uint32_t columns = staging->src_loop;
	const int64_t row_bytes = nest->extents[columns] * size;

	if (are_squares_joined)
		return engine_joins_by_columns() && row_bytes % LINE_BYTES &&
		       row_bytes < MOST_LINES_BESIDE * LINE_BYTES;
	return !engine_is_in_page_step(nest->streams[DST].strides[columns]);
}

/*
 * The kernel for short rows, if strips have all of each and their columns do not go on. It stores
 * lines of several columns in turns.
 */
static engine_short_join_kernel *choose_short_kernel(const struct engine_staging *staging,
						     const struct engine_nest *nest, int64_t size,
						     const struct engine_transpose_kernels *kernels)
{
	const int shift = __builtin_ctzll((uint64_t)size);

	if (staging->has_lines || nest->extents[staging->src_loop] < LEAST_SHORT_COLUMNS ||
	    !is_better_short(staging, nest, size, kernels->join_transpose[shift]))
		return NULL;
	return kernels->join_short[shift];
}

/* Whether strips are such that it can be used. */
static bool are_short_rows_whole(const struct engine_staging *staging,
				 const struct engine_nest *nest)
{
	const uint32_t columns = staging->src_loop;

	return staging->has_short_rows && !staging->is_one_run && staging->are_tiles &&
	       staging->strip[columns] == nest->extents[columns];
}

/* Whether columns have so many bytes as kernels chain: see engine_chain_kernel. */
static bool is_chained(int64_t run_bytes, int64_t size)
{
	return size == 16 ? run_bytes >= LINE_BYTES :
			    run_bytes > LINE_BYTES / 2 && run_bytes < LINE_BYTES;
}

/* The kernel for strips that are one tile, whose columns are one run. */
static engine_chain_kernel *choose_chain_kernel(const struct engine_staging *staging,
						const struct engine_nest *nest, int64_t size,
						const struct engine_transpose_kernels *kernels)
{
	if (!staging->is_one_run || !staging->are_tiles || !is_chained(staging->run_bytes, size) ||
	    staging->tile[nest->rank - 1] * size != staging->run_bytes)
		return NULL;
	return kernels->chain_transpose[__builtin_ctzll((uint64_t)size)];
}

/*
 * Whether columns are few and side by side, which a kernel of their own takes apart: it reads one
 * run and stores few long ones, and ordinary stores do that faster than the staging buffer.
 */
static bool takes_rows_apart(const struct engine_staging *staging, const struct engine_nest *nest,
			     int64_t size)
{
	const uint32_t last = nest->rank - 1;
	const struct engine_tile tile = {
		.extents = { nest->extents[staging->src_loop], nest->extents[last] },
		.src_strides = { size, nest->streams[SRC].strides[last] },
	};

	return size <= MOST_SIZE_APART && tile.extents[0] * size < LINE_BYTES &&
	       !staging->pack_row && engine_is_deinterleave(&tile, size);
}

bool engine_staging_prepare(struct engine_staging *staging, const struct engine_nest *nest,
			    int64_t size, const struct engine_transpose_kernels *kernels,
			    bool has_lines)
{
	const uint32_t src_loop = staging->src_loop;
	const int shift = __builtin_ctzll((uint64_t)size);
	bool has_whole_rows, has_short_rows, is_staged;
	int64_t strip_bytes;

	if (count_elements(nest->extents, nest->rank) < LEAST_BYTES / size ||
	    takes_rows_apart(staging, nest, size))
		return false;
	staging->has_lines = has_lines;
	staging->stream_kernel = choose_stream_kernel(staging, nest, size, kernels);
	staging->short_kernel = choose_short_kernel(staging, nest, size, kernels);
	has_whole_rows = takes_whole_rows(staging, nest, size);
	has_short_rows = has_whole_rows &&
			 are_rows_short(nest, src_loop, size, staging->short_kernel);
	is_staged = !staging->stream_kernel && (!kernels->join_transpose[shift] ||
						(has_short_rows && staging->short_kernel));
	staging->packing_kernel = choose_packing_kernel(staging, nest, size, kernels);
	staging->has_whole_rows = is_staged && has_whole_rows;
	staging->has_short_rows = is_staged && has_short_rows;
	staging->packs = !staging->has_whole_rows && wants_packing(staging, nest, size, kernels);
	staging->stage_kernel = kernels->stage[shift] ? kernels->stage[shift] :
							kernels->transpose[shift];
	choose_joining(staging, nest, size);
	choose_block(staging, nest, size, is_staged, !staging->stream_kernel &&
		     choose_packed_join(staging, size, kernels));
	find_rows(staging, nest);
	lay_out_rows(staging, nest, size);
	if (!staging->packs)
		staging->packing_kernel = NULL;
	staging->beside_kernel = staging->pack_row || staging->packing_kernel ? NULL :
				 kernels->stream_beside[shift];
	order_loops(staging, nest);
	order_across(staging, nest->rank);
	choose_join_kernels(staging, nest, size, kernels, is_staged);
	choose_strip(staging, nest, size);
	lay_out_strip(staging, nest, size);
	widen_strip(staging, size);
	number_slots(staging, nest, size);
	if (!are_short_rows_whole(staging, nest))
		staging->short_kernel = NULL;
	staging->chain_kernel = choose_chain_kernel(staging, nest, size, kernels);
	strip_bytes = staging->strip[src_loop] * staging->strides[src_loop];
	if (staging->pack_row && !staging->packs)
		return false;
	return (staging->is_one_run || staging->run_bytes >= LINE_BYTES) &&
	       strip_bytes <= STAGED_BYTES - 2 * LINE_BYTES;
}
