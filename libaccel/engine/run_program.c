// SPDX-License-Identifier: MIT
/*
 * Boxes of jobs with a program: a strip of points at a time is loaded, computed and stored. A strip
 * is a block of the two inner loops, square where a source would be walked across its lines.
 */
#include "access.h"
#include "kernels.h"

/* A block of the last two loops, at a point of the others. */
struct block {
	const struct engine_walk *walk;
	int64_t first[2];
	int64_t extents[2];
};

static int64_t min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t magnitude(int64_t value)
{
	return value < 0 ? -value : value;
}

static int64_t stride_of(const struct engine_walk *walk, uint32_t stream, int t)
{
	uint32_t d = walk->rank + (uint32_t)t;

	return d < walk->nest->rank ? walk->nest->streams[stream].strides[d] : 0;
}

/* Where an affine operand, or a fill, is at the beginning of a block. */
static uint8_t *place(const struct engine_access *access, uint32_t k, const struct block *block)
{
	return access->bases[k] + block->walk->offsets[k] +
	       block->first[0] * stride_of(block->walk, k, 0) +
	       block->first[1] * stride_of(block->walk, k, 1);
}

static void copy_tile(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,
		      uint32_t size_shift)
{
	engine_kernels[engine_tile_shape(tile, 1 << size_shift)][size_shift](dst, src, tile);
}

/* An operand and its strip: the destination's is stored, a source's is loaded. */
static void copy_affine(const struct engine_access *access, uint32_t k, uint32_t size_shift,
			const struct block *block, union engine_strip *strip)
{
	const int64_t memory[2] = { stride_of(block->walk, k, 0), stride_of(block->walk, k, 1) };
	const int64_t packed[2] = { block->extents[1] << size_shift, 1 << size_shift };
	struct engine_tile tile = { .extents = { block->extents[0], block->extents[1] } };

	for (int t = 0; t < 2; t++) {
		tile.dst_strides[t] = k ? packed[t] : memory[t];
		tile.src_strides[t] = k ? memory[t] : packed[t];
	}
	if (k)
		copy_tile(strip->bytes, place(access, k, block), &tile, size_shift);
	else
		copy_tile(place(access, k, block), strip->bytes, &tile, size_shift);
}

static int copy_indirect(struct engine_run *run, const struct engine_access *access, uint32_t k,
			 const struct block *block, union engine_strip *strip)
{
	const struct engine_plan_operand *operand = &run->plan->operands[k];
	const struct engine_interval around = { 0, (1 << operand->size_shift) - 1 };
	uint8_t *memory[ENGINE_STRIP_POINTS], *packed[ENGINE_STRIP_POINTS];
	struct engine_walk walk = *block->walk;
	int64_t count = block->extents[0] * block->extents[1];
	int error;

	for (int64_t j = 0; j < block->extents[0]; j++) {
		struct engine_row row = {
			&walk, walk.rank + 1, block->first[1], block->extents[1]
		};

		for (uint32_t s = 0; s < walk.nest->num_streams; s++)
			walk.offsets[s] = block->walk->offsets[s] +
					  (block->first[0] + j) * stride_of(&walk, s, 0);
		error = engine_resolve(run, access, k, &row, &around,
				       &memory[j * block->extents[1]]);
		if (error)
			return error;
	}
	for (int64_t i = 0; i < count; i++)
		packed[i] = strip->bytes + (i << operand->size_shift);
	engine_pairs_kernels[operand->size_shift](k ? packed : memory, k ? memory : packed, count);
	return 0;
}

static int copy_operand(struct engine_run *run, const struct engine_access *access, uint32_t k,
			const struct block *block, union engine_strip *strip)
{
	if (access->index_streams[k] != ENGINE_NO_STREAM)
		return copy_indirect(run, access, k, block, strip);
	copy_affine(access, k, run->plan->operands[k].size_shift, block, strip);
	return 0;
}

static int run_block(struct engine_run *run, const struct engine_access *access,
		     const struct block *block)
{
	const struct engine_plan *plan = run->plan;
	union engine_strip strips[ENGINE_NUM_STRIPS];
	int64_t count = block->extents[0] * block->extents[1];
	int error;

	for (uint32_t k = 1; k < plan->num_operands; k++) {
		error = copy_operand(run, access, k, block, &strips[k - 1]);
		if (error)
			return error;
	}
	engine_program_run(&plan->program, strips, (uint32_t)count);
	error = copy_operand(run, access, 0, block, &strips[plan->program.result]);
	if (error)
		return error;
	return engine_run_advance(run, (uint64_t)count << plan->operands[0].size_shift);
}

/* The loop that a source would rather have inside than the last one, or the one before the last. */
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

/* Gives the nest at least two loops, as blocks have. */
static void pad_nest(struct engine_nest *nest)
{
	while (nest->rank < 2) {
		nest->extents[nest->rank] = 1;
		for (uint32_t s = 0; s < nest->num_streams; s++)
			nest->streams[s].strides[nest->rank] = 0;
		if (nest->rank++)
			engine_nest_sink(nest, 0, 1);
	}
}

#define SQUARE_SIDE	16

static void choose_block(const struct engine_nest *nest, uint32_t num_operands, int64_t side[2])
{
	const int64_t *extents = &nest->extents[nest->rank - 2];

	if (is_crossed(nest, num_operands) && extents[0] >= SQUARE_SIDE) {
		side[0] = SQUARE_SIDE;
		side[1] = ENGINE_STRIP_POINTS / SQUARE_SIDE;
		return;
	}
	side[1] = min(extents[1], ENGINE_STRIP_POINTS);
	side[0] = ENGINE_STRIP_POINTS / side[1];
}

static int run_blocks(struct engine_run *run, const struct engine_access *access,
		      const struct engine_walk *walk, const int64_t side[2])
{
	const int64_t *extents = &walk->nest->extents[walk->rank];
	struct block block = { .walk = walk };
	int error;

	for (int64_t j = 0; j < extents[0]; j += side[0]) {
		for (int64_t i = 0; i < extents[1]; i += side[1]) {
			block.first[0] = j;
			block.first[1] = i;
			block.extents[0] = min(side[0], extents[0] - j);
			block.extents[1] = min(side[1], extents[1] - i);
			error = run_block(run, access, &block);
			if (error)
				return error;
		}
	}
	return 0;
}

int engine_run_program(struct engine_run *run, const struct engine_box *box, uint32_t loads)
{
	uint32_t num_operands = run->plan->num_operands;
	struct engine_access access;
	struct engine_nest *nest = &access.nest;
	struct engine_walk walk;
	int64_t side[2];
	int error;

	engine_access_init(&access, run->plan, box, loads);
	pad_nest(nest);
	engine_nest_sink(nest, second_loop(nest, num_operands), nest->rank - 2);
	choose_block(nest, num_operands, side);
	engine_walk_begin(&walk, nest, nest->rank - 2);
	do {
		error = run_blocks(run, &access, &walk, side);
	} while (!error && engine_walk_next(&walk));
	return error;
}
