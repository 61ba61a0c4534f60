// SPDX-License-Identifier: MIT
/*
 * Boxes of jobs with a program: a block of points at a time is loaded into strips, computed and
 * stored. A block is of the three inner loops. Where a source would rather have another loop inside
 * than the destination has, both are in the block, and whole lines on either side; the one of them
 * with more points is the inner loop of the strips.
 */
#include <stddef.h>

#include "access.h"
#include "kernels.h"

/* The loops of a block, the last one fastest in the strips. */
enum { OUTER, MIDDLE, INNER, NUM_LOOPS };

/* Bytes that memory is read and written in. */
#define LINE_BYTES	64

/* Rows of so many bytes are worth streaming, and of so many points reading where they are. */
#define LONG_ROW_BYTES	256
#define LONG_ROW_POINTS	128

/* So few points are not worth being the inner loop of strips. */
#define FEW_POINTS	16

/* Where a block lies in memory for an affine operand, as long as the strip has it. */
struct loaded {
	const uint8_t *address;
	int64_t extents[NUM_LOOPS];
};

/* A box of a program on its way. */
struct pass {
	struct engine_run *run;
	struct engine_access access;
	struct engine_walk walk;
	int64_t sides[NUM_LOOPS];	/* of a whole block */
	struct loaded loaded[DRM_TESSERA_MAX_OPERANDS];
	uint8_t *strips;
};

struct block {
	int64_t first[NUM_LOOPS];
	int64_t extents[NUM_LOOPS];
};

static int64_t min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t max(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t magnitude(int64_t value)
{
	return value < 0 ? -value : value;
}

static int64_t extent_of(const struct pass *pass, int loop)
{
	return pass->access.nest.extents[pass->walk.rank + (uint32_t)loop];
}

static int64_t stride_of(const struct pass *pass, uint32_t stream, int loop)
{
	return pass->access.nest.streams[stream].strides[pass->walk.rank + (uint32_t)loop];
}

/* The strip of an operand: of the destination, where the result is. */
static uint32_t strip_of(const struct pass *pass, uint32_t k)
{
	return k ? k - 1 : pass->run->plan->program.result;
}

static uint8_t *strip_at(const struct pass *pass, uint32_t strip)
{
	return engine_strip(&pass->run->plan->program, pass->strips, strip);
}

/* Where an affine operand, or a fill, is at the beginning of a block. */
static uint8_t *place(const struct pass *pass, uint32_t k, const struct block *block)
{
	uint8_t *address = pass->access.bases[k] + pass->walk.offsets[k];

	for (int loop = 0; loop < NUM_LOOPS; loop++)
		address += block->first[loop] * stride_of(pass, k, loop);
	return address;
}

/* Two loops of a block between memory and strip, and the kernel for them. */
struct transfer {
	engine_tile_kernel *kernel;
	struct engine_tile tile;
};

/* The strip's side of the tile, and which of the tile's loops is the strip's inner one. */
static void describe_tile(struct engine_tile *tile, const struct block *block,
			  const int64_t *memory, int64_t size, bool is_store, int inner)
{
	const int64_t packed[2] = { block->extents[INNER] * size, size };

	tile->ahead = 0;
	for (int t = 0; t < 2; t++) {
		int side = t == inner ? 1 : 0;

		tile->extents[t] = block->extents[MIDDLE + side];
		tile->dst_strides[t] = is_store ? memory[side] : packed[side];
		tile->src_strides[t] = is_store ? packed[side] : memory[side];
	}
}

/* A block that is as contiguous in memory as in the strip is one run. */
static void join_tile(struct engine_tile *tile, int64_t size)
{
	const int64_t row = tile->extents[1] * size;

	if (tile->dst_strides[1] != size || tile->src_strides[1] != size ||
	    tile->dst_strides[0] != row || tile->src_strides[0] != row)
		return;
	tile->extents[1] *= tile->extents[0];
	tile->extents[0] = 1;
}

static engine_tile_kernel *store_kernel(const struct engine_plan *plan,
					const struct engine_tile *tile, uint32_t size_shift)
{
	const int64_t size = (int64_t)1 << size_shift;

	if (plan->streams && tile->dst_strides[1] == size && tile->src_strides[1] == size &&
	    tile->extents[1] >= LONG_ROW_BYTES >> size_shift)
		return plan->isa->copy->stream_run[size_shift];
	return engine_copy_kernel(plan->isa->copy, tile, size_shift);
}

static void choose_transfer(struct transfer *transfer, const struct pass *pass, uint32_t k,
			    const struct block *block)
{
	const struct engine_plan *plan = pass->run->plan;
	const uint32_t size_shift = plan->operands[k].size_shift;
	const int64_t size = (int64_t)1 << size_shift;
	const int64_t memory[2] = { stride_of(pass, k, MIDDLE), stride_of(pass, k, INNER) };
	const bool is_crossed = memory[0] == size && memory[1] != size &&
				(memory[1] || k == 0) && block->extents[MIDDLE] > 1;

	describe_tile(&transfer->tile, block, memory, size, k == 0, is_crossed && k == 0 ? 0 : 1);
	if (is_crossed) {
		transfer->kernel = plan->isa->transpose->transpose[size_shift];
		return;
	}
	join_tile(&transfer->tile, size);
	transfer->kernel = k ? engine_copy_kernel(plan->isa->copy, &transfer->tile, size_shift) :
			       store_kernel(plan, &transfer->tile, size_shift);
}

static bool is_loaded(struct loaded *loaded, const uint8_t *address, const struct block *block)
{
	bool is_same = loaded->address == address;

	for (int loop = 0; loop < NUM_LOOPS; loop++) {
		is_same = is_same && loaded->extents[loop] == block->extents[loop];
		loaded->extents[loop] = block->extents[loop];
	}
	loaded->address = address;
	return is_same;
}

static void load(struct pass *pass, uint32_t k, const struct block *block)
{
	const uint32_t size_shift = pass->run->plan->operands[k].size_shift;
	const int64_t row_points = block->extents[MIDDLE] * block->extents[INNER];
	const uint8_t *memory = place(pass, k, block);
	uint8_t *strip = strip_at(pass, strip_of(pass, k));
	struct transfer transfer;

	if (is_loaded(&pass->loaded[k], memory, block))
		return;
	choose_transfer(&transfer, pass, k, block);
	for (int64_t r = 0; r < block->extents[OUTER]; r++) {
		transfer.kernel(strip, memory, &transfer.tile);
		memory += stride_of(pass, k, OUTER);
		strip += row_points << size_shift;
	}
}

/* Whether a tile that is transposed comes to lie in memory without gaps. */
static bool is_dense(const struct engine_tile *tile, int64_t size)
{
	return tile->dst_strides[1] == size && tile->dst_strides[0] == tile->extents[1] * size;
}

/* By way of the spare strip, where all is put in its order, and around the caches from there. */
static void stream_transposed(const struct pass *pass, const struct transfer *transfer,
			      uint8_t *memory, const uint8_t *strip)
{
	const struct engine_plan *plan = pass->run->plan;
	const uint32_t size_shift = plan->operands[0].size_shift;
	uint8_t *spare = strip_at(pass, plan->program.num_strips);
	struct engine_tile run = {
		.extents = { 1, transfer->tile.extents[0] * transfer->tile.extents[1] },
		.dst_strides = { 0, (int64_t)1 << size_shift },
		.src_strides = { 0, (int64_t)1 << size_shift },
	};

	transfer->kernel(spare, strip, &transfer->tile);
	plan->isa->copy->stream_run[size_shift](memory, spare, &run);
}

static void store(const struct pass *pass, const struct block *block)
{
	const struct engine_plan *plan = pass->run->plan;
	const uint32_t size_shift = plan->operands[0].size_shift;
	const int64_t row_points = block->extents[MIDDLE] * block->extents[INNER];
	const uint8_t *strip = strip_at(pass, plan->program.result);
	uint8_t *memory = place(pass, 0, block);
	struct transfer transfer;
	bool is_streamed;

	choose_transfer(&transfer, pass, 0, block);
	is_streamed = plan->streams && is_dense(&transfer.tile, (int64_t)1 << size_shift) &&
		      transfer.kernel == plan->isa->transpose->transpose[size_shift];
	for (int64_t r = 0; r < block->extents[OUTER]; r++) {
		if (is_streamed)
			stream_transposed(pass, &transfer, memory, strip);
		else
			transfer.kernel(memory, strip, &transfer.tile);
		memory += stride_of(pass, 0, OUTER);
		strip += row_points << size_shift;
	}
}

/* A part of a row of an indirect operand. */
static int copy_row(struct pass *pass, uint32_t k, const struct engine_row *row, uint8_t *strip)
{
	const struct engine_plan *plan = pass->run->plan;
	const uint32_t size_shift = plan->operands[k].size_shift;
	const struct engine_interval around = { 0, (1 << size_shift) - 1 };
	uint8_t *memory[ENGINE_STRIP_POINTS], *packed[ENGINE_STRIP_POINTS];
	int error = engine_resolve(pass->run, &pass->access, k, row, &around, memory);

	if (error)
		return error;
	for (int64_t i = 0; i < row->count; i++)
		packed[i] = strip + (i << size_shift);
	plan->isa->copy->pairs[size_shift](k ? packed : memory, k ? memory : packed, row->count);
	return 0;
}

static int copy_rows(struct pass *pass, uint32_t k, const struct block *block,
		     struct engine_walk *walk, uint8_t *strip)
{
	const uint32_t size_shift = pass->run->plan->operands[k].size_shift;
	const int64_t count = block->extents[INNER];

	for (int64_t i = 0; i < count; i += ENGINE_STRIP_POINTS) {
		struct engine_row row = {
			walk, walk->rank + INNER, block->first[INNER] + i,
			min(ENGINE_STRIP_POINTS, count - i)
		};
		int error = copy_row(pass, k, &row, strip + (i << size_shift));

		if (error)
			return error;
	}
	return 0;
}

static int copy_indirect(struct pass *pass, uint32_t k, const struct block *block)
{
	const uint32_t size_shift = pass->run->plan->operands[k].size_shift;
	struct engine_walk walk = pass->walk;
	uint8_t *strip = strip_at(pass, strip_of(pass, k));

	for (int64_t r = 0; r < block->extents[OUTER]; r++) {
		for (int64_t j = 0; j < block->extents[MIDDLE]; j++) {
			int error;

			for (uint32_t s = 0; s < walk.nest->num_streams; s++)
				walk.offsets[s] = pass->walk.offsets[s] +
					(block->first[OUTER] + r) * stride_of(pass, s, OUTER) +
					(block->first[MIDDLE] + j) * stride_of(pass, s, MIDDLE);
			error = copy_rows(pass, k, block, &walk, strip);
			if (error)
				return error;
			strip += block->extents[INNER] << size_shift;
		}
	}
	return 0;
}

/*
 * Sources that need not be loaded, by bit: rows of the block lie in memory as they would in strips,
 * and are as long as kernels want them. Not one that is itself the result.
 */
static uint32_t find_direct(const struct pass *pass, const struct block *block)
{
	const struct engine_plan *plan = pass->run->plan;
	uint32_t direct = 0;

	if (block->extents[INNER] < LONG_ROW_POINTS ||
	    block->extents[INNER] % ENGINE_STRIP_ALIGNMENT)
		return 0;
	for (uint32_t k = 1; k < plan->num_operands; k++)
		if (pass->access.index_streams[k] == ENGINE_NO_STREAM &&
		    stride_of(pass, k, INNER) == (int64_t)1 << plan->operands[k].size_shift &&
		    strip_of(pass, k) != plan->program.result)
			direct |= 1u << k;
	return direct;
}

static int load_sources(struct pass *pass, const struct block *block, uint32_t direct)
{
	for (uint32_t k = 1; k < pass->run->plan->num_operands; k++) {
		int error = 0;

		if (direct >> k & 1)
			continue;
		if (pass->access.index_streams[k] == ENGINE_NO_STREAM)
			load(pass, k, block);
		else
			error = copy_indirect(pass, k, block);
		if (error)
			return error;
	}
	return 0;
}

/* Whether a block like this one follows it along the inner loop. */
static bool is_followed(const struct pass *pass, const struct block *block)
{
	return block->first[INNER] + 2 * block->extents[INNER] <= extent_of(pass, INNER);
}

/*
 * Fetches rows of memory, step bytes apart, for the block that follows: many short pieces, as a
 * rule, each of which the CPU would see too late for what it is.
 */
static void fetch_rows(const uint8_t *memory, int64_t count, int64_t step, int64_t bytes)
{
	for (int64_t row = 0; row < count; row++) {
		for (int64_t b = 0; b < bytes; b += LINE_BYTES)
			__builtin_prefetch(memory + b);
		memory += step;
	}
}

static void fetch_next(const struct pass *pass, uint32_t k, const struct block *block)
{
	const int64_t size = (int64_t)1 << pass->run->plan->operands[k].size_shift;
	const int64_t *extents = block->extents;
	const int64_t steps[NUM_LOOPS] = {
		stride_of(pass, k, OUTER), stride_of(pass, k, MIDDLE), stride_of(pass, k, INNER),
	};
	const uint8_t *memory = place(pass, k, block) + extents[INNER] * steps[INNER];

	for (int64_t r = 0; r < extents[OUTER]; r++) {
		if (steps[INNER] == size)
			fetch_rows(memory, extents[MIDDLE], steps[MIDDLE], extents[INNER] * size);
		else if (steps[MIDDLE] == size && steps[INNER] == extents[MIDDLE] * size)
			fetch_rows(memory, 1, 0, extents[MIDDLE] * extents[INNER] * size);
		else if (steps[MIDDLE] == size && steps[INNER])
			fetch_rows(memory, extents[INNER], steps[INNER], extents[MIDDLE] * size);
		memory += steps[OUTER];
	}
}

static void fetch_loaded(const struct pass *pass, const struct block *block, uint32_t direct)
{
	for (uint32_t k = 1; k < pass->run->plan->num_operands; k++)
		if (!(direct >> k & 1) && pass->access.index_streams[k] == ENGINE_NO_STREAM &&
		    is_followed(pass, block))
			fetch_next(pass, k, block);
}

/*
 * Where the strips begin: those of sources that are read where they are lie in memory. What is the
 * same for all rows of a block is found out once.
 */
struct rows {
	uint8_t *strips[ENGINE_MAX_STRIPS];
	uint8_t *first[DRM_TESSERA_MAX_OPERANDS];	/* of each operand, at the first row */
	uint32_t num_operands;
	uint32_t direct;
	int64_t bytes[DRM_TESSERA_MAX_OPERANDS];	/* of a row */
};

static void init_rows(struct rows *rows, const struct pass *pass, const struct block *block,
		      uint32_t direct, int64_t points)
{
	const struct engine_plan *plan = pass->run->plan;

	rows->num_operands = plan->num_operands;
	rows->direct = direct;
	for (uint32_t s = 0; s < plan->program.num_strips; s++)
		rows->strips[s] = strip_at(pass, s);
	for (uint32_t k = 0; k < plan->num_operands; k++) {
		rows->bytes[k] = points << plan->operands[k].size_shift;
		rows->first[k] = direct >> k & 1 ? place(pass, k, block) :
						   rows->strips[strip_of(pass, k)];
	}
}

/* Computes row number n, which lies at r and j in the block. */
static void compute_row(struct rows *rows, const struct pass *pass, int64_t n, int64_t r, int64_t j,
			bool is_followed, int64_t points)
{
	/* the destination's comes first: where it is a source's own, both are the same */
	for (uint32_t k = 0; k < rows->num_operands; k++) {
		uint8_t *row = rows->first[k] + n * rows->bytes[k];

		if (rows->direct >> k & 1) {
			row = rows->first[k] + r * stride_of(pass, k, OUTER) +
			      j * stride_of(pass, k, MIDDLE);
			if (is_followed)
				fetch_rows(row + rows->bytes[k], 1, 0, rows->bytes[k]);
		}
		rows->strips[strip_of(pass, k)] = row;
	}
	engine_program_run(&pass->run->plan->program, rows->strips, (uint32_t)points);
}

/* A row at a time, or all of the block when every source is in its strip. */
static void compute(const struct pass *pass, const struct block *block, uint32_t direct)
{
	const int64_t *extents = block->extents;
	const bool followed = is_followed(pass, block);
	const int64_t all = extents[OUTER] * extents[MIDDLE] * extents[INNER];
	struct rows rows;
	int64_t n = 0;

	init_rows(&rows, pass, block, direct, direct ? extents[INNER] : all);
	if (!direct) {
		engine_program_run(&pass->run->plan->program, rows.strips, (uint32_t)all);
		return;
	}
	for (int64_t r = 0; r < extents[OUTER]; r++)
		for (int64_t j = 0; j < extents[MIDDLE]; j++)
			compute_row(&rows, pass, n++, r, j, followed, extents[INNER]);
}

static int run_block(struct pass *pass, const struct block *block)
{
	const struct engine_plan *plan = pass->run->plan;
	const int64_t count = block->extents[OUTER] * block->extents[MIDDLE] *
			      block->extents[INNER];
	const uint32_t direct = find_direct(pass, block);
	int error = load_sources(pass, block, direct);

	if (error)
		return error;
	fetch_loaded(pass, block, direct);
	compute(pass, block, direct);
	if (pass->access.index_streams[0] == ENGINE_NO_STREAM)
		store(pass, block);
	else
		error = copy_indirect(pass, 0, block);
	if (error)
		return error;
	return engine_run_advance(pass->run, (uint64_t)count << plan->operands[0].size_shift);
}

static int run_blocks(struct pass *pass)
{
	const int64_t *sides = pass->sides;
	const int64_t extents[NUM_LOOPS] = {
		extent_of(pass, OUTER), extent_of(pass, MIDDLE), extent_of(pass, INNER),
	};
	struct block block;
	int error;

	for (int64_t r = 0; r < extents[OUTER]; r += sides[OUTER]) {
		for (int64_t j = 0; j < extents[MIDDLE]; j += sides[MIDDLE]) {
			for (int64_t i = 0; i < extents[INNER]; i += sides[INNER]) {
				block = (struct block){
					.first = { r, j, i },
					.extents = {
						min(sides[OUTER], extents[OUTER] - r),
						min(sides[MIDDLE], extents[MIDDLE] - j),
						min(sides[INNER], extents[INNER] - i),
					},
				};
				error = run_block(pass, &block);
				if (error)
					return error;
			}
		}
	}
	return 0;
}

/*
 * The loop in which a source takes smaller steps than in the last one, or the one before the last
 * where there is none such.
 */
static uint32_t second_loop(const struct engine_nest *nest, uint32_t num_operands)
{
	uint32_t last = nest->rank - 1;

	for (uint32_t k = 1; k < num_operands; k++) {
		const int64_t *strides = nest->streams[k].strides;
		uint32_t best = last;

		for (uint32_t d = last; strides[last] && d-- > 0; )
			if (strides[d] && magnitude(strides[d]) < magnitude(strides[best]))
				best = d;
		if (best != last)
			return best;
	}
	return last - 1;
}

/* Whether a source takes smaller steps in the loop before the last than in the last. */
static bool is_crossed(const struct engine_nest *nest, uint32_t num_operands)
{
	for (uint32_t k = 1; k < num_operands; k++) {
		const int64_t *strides = nest->streams[k].strides;
		int64_t outer = magnitude(strides[nest->rank - 2]);

		if (outer && outer < magnitude(strides[nest->rank - 1]))
			return true;
	}
	return false;
}

/* Gives the nest at least as many loops as blocks have. */
static void pad_nest(struct engine_nest *nest)
{
	while (nest->rank < NUM_LOOPS) {
		nest->extents[nest->rank] = 1;
		for (uint32_t s = 0; s < nest->num_streams; s++)
			nest->streams[s].strides[nest->rank] = 0;
		for (uint32_t d = nest->rank++; d-- > 0; )
			engine_nest_sink(nest, d, d + 1);
	}
}

/* Of a source that is walked across, so many lines are loaded at a time: one comes slowly. */
#define CROSSED_LINES	4

/* The points of these lines: at least that many are loaded from each row. */
static int64_t points_in_lines(const struct pass *pass)
{
	const struct engine_plan *plan = pass->run->plan;
	uint32_t size_shift = 3;

	for (uint32_t k = 0; k < plan->num_operands; k++)
		if (plan->operands[k].size_shift < size_shift)
			size_shift = plan->operands[k].size_shift;
	return CROSSED_LINES * LINE_BYTES >> size_shift;
}

static void choose_sides(struct pass *pass, bool crossed)
{
	const int64_t points = pass->run->plan->program.strip_points;
	int64_t *sides = pass->sides;

	sides[MIDDLE] = 1;
	if (crossed && extent_of(pass, MIDDLE) <= FEW_POINTS)
		sides[MIDDLE] = extent_of(pass, MIDDLE);
	else if (crossed)
		sides[MIDDLE] = min(extent_of(pass, MIDDLE), points_in_lines(pass));
	sides[INNER] = points / sides[MIDDLE];
	if (sides[INNER] > ENGINE_STRIP_ALIGNMENT)
		sides[INNER] -= sides[INNER] % ENGINE_STRIP_ALIGNMENT;
	else if (sides[INNER] > FEW_POINTS)
		sides[INNER] -= sides[INNER] % FEW_POINTS;
	sides[INNER] = min(extent_of(pass, INNER), sides[INNER]);
	sides[MIDDLE] = min(extent_of(pass, MIDDLE), max(sides[MIDDLE], points / sides[INNER]));
	sides[OUTER] = min(extent_of(pass, OUTER), points / (sides[INNER] * sides[MIDDLE]));
}

/* Puts the loops of blocks last, and begins to walk over the others. */
static void choose_loops(struct pass *pass)
{
	struct engine_nest *nest = &pass->access.nest;
	const int64_t *extents = nest->extents;
	const uint32_t num_operands = pass->run->plan->num_operands;
	bool crossed;

	pad_nest(nest);
	engine_nest_sink(nest, second_loop(nest, num_operands), nest->rank - 2);
	crossed = is_crossed(nest, num_operands);
	if (crossed && extents[nest->rank - 1] <= FEW_POINTS &&
	    extents[nest->rank - 1] < extents[nest->rank - 2])
		engine_nest_sink(nest, nest->rank - 2, nest->rank - 1);
	engine_walk_begin(&pass->walk, nest, nest->rank - NUM_LOOPS);
	choose_sides(pass, crossed);
}

int engine_run_program(struct engine_run *run, const struct engine_box *box, uint32_t loads)
{
	uint8_t strips[ENGINE_STRIPS_BYTES] __attribute__((aligned(ENGINE_STRIP_ALIGNMENT)));
	struct pass pass = { .run = run, .strips = strips };
	const int64_t *sides = pass.sides;
	int error;

	engine_access_init(&pass.access, run->plan, box, loads);
	choose_loops(&pass);
	engine_program_begin(&run->plan->program, strips,
			     (uint32_t)(sides[OUTER] * sides[MIDDLE] * sides[INNER]));
	do {
		error = run_blocks(&pass);
	} while (!error && engine_walk_next(&pass.walk));
	return error;
}
