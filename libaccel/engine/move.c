// SPDX-License-Identifier: MIT
/*
 * Moves: boxes of jobs without a program. A nest of two streams is matched to a kernel and cut into
 * blocks; with indirect operands that is done once, for the loops that the indices do not depend
 * on, and run at each point of the others. A source that is not loaded is a move from its fill,
 * which stands still.
 */
#include "access.h"
#include "kernels.h"

enum { DST, SRC, NUM_STREAMS };

/* A nest matched to a kernel. */
struct move {
	engine_tile_kernel *kernel;
	struct engine_nest nest;	/* the loops outside of the tile; both streams */
	struct engine_tile tile;
	int64_t block[2];		/* the tile is done in blocks of so many elements */
	int64_t size;			/* bytes of an element, as the kernel sees it */
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

/* The last loop, where it is contiguous on both sides and short, makes one larger element. */
static void widen_element(struct move *move, uint32_t *size_shift)
{
	struct engine_nest *nest = &move->nest;
	uint32_t last = nest->rank - 1;
	int64_t size = 1 << *size_shift;

	if (!nest->rank || nest->streams[DST].strides[last] != size ||
	    nest->streams[SRC].strides[last] != size)
		return;
	for (uint32_t shift = *size_shift + 1; shift < ENGINE_NUM_SIZES; shift++) {
		if (size * nest->extents[last] != 1 << shift)
			continue;
		nest->rank--;
		*size_shift = shift;
		return;
	}
}

/* The loop in which the source takes its smallest steps, if that is not the last: else the last. */
static uint32_t source_loop(const struct engine_nest *nest)
{
	const int64_t *strides = nest->streams[SRC].strides;
	uint32_t best = nest->rank - 1;

	if (!strides[best])
		return best;
	for (uint32_t d = nest->rank - 1; d-- > 0; )
		if (strides[d] && magnitude(strides[d]) < magnitude(strides[best]))
			best = d;
	return best;
}

/* Makes the last two loops of the nest the tile. */
static void take_tile(struct move *move)
{
	struct engine_nest *nest = &move->nest;

	move->tile = (struct engine_tile){ .extents = { 1, 1 } };
	for (int t = 1; t >= 0 && nest->rank; t--) {
		uint32_t d = --nest->rank;

		move->tile.extents[t] = nest->extents[d];
		move->tile.dst_strides[t] = nest->streams[DST].strides[d];
		move->tile.src_strides[t] = nest->streams[SRC].strides[d];
	}
}

/* Blocks of a transposition: what they touch on either side stays in the first cache. */
static void choose_transpose_blocks(struct move *move)
{
	const int64_t touched_bytes = 16384;
	int64_t lines = magnitude(move->tile.src_strides[1]);

	move->block[1] = max(64, touched_bytes / max(lines, 1));
	move->block[0] = max(1, min(64, touched_bytes / (move->block[1] * move->size)));
}

static void choose_blocks(struct move *move)
{
	int64_t elements = ENGINE_REPORT_BYTES / move->size;

	move->block[1] = min(move->tile.extents[1], elements);
	move->block[0] = max(1, elements / max(move->block[1], 1));
}

/* Matches a canonical nest to a kernel. */
static void prepare(struct move *move, const struct engine_nest *nest, uint32_t size_shift)
{
	enum engine_shape shape;
	uint32_t loop;

	move->nest = *nest;
	move->nest.num_streams = NUM_STREAMS;
	widen_element(move, &size_shift);
	move->size = 1 << size_shift;
	loop = move->nest.rank ? source_loop(&move->nest) : 0;
	if (loop + 1 < move->nest.rank) {
		shape = ENGINE_SHAPE_TRANSPOSE;
		engine_nest_sink(&move->nest, loop, move->nest.rank - 2);
		take_tile(move);
		choose_transpose_blocks(move);
	} else {
		take_tile(move);
		shape = engine_tile_shape(&move->tile, move->size);
		choose_blocks(move);
	}
	move->kernel = engine_kernels[shape][size_shift];
}

static int run_tile(struct engine_run *run, const struct move *move, uint8_t *dst, uint8_t *src)
{
	const struct engine_tile *tile = &move->tile;
	struct engine_tile block = *tile;
	int error;

	for (int64_t j = 0; j < tile->extents[0]; j += move->block[0]) {
		block.extents[0] = min(move->block[0], tile->extents[0] - j);
		for (int64_t i = 0; i < tile->extents[1]; i += move->block[1]) {
			block.extents[1] = min(move->block[1], tile->extents[1] - i);
			move->kernel(dst + j * tile->dst_strides[0] + i * tile->dst_strides[1],
				     src + j * tile->src_strides[0] + i * tile->src_strides[1],
				     &block);
			error = engine_run_advance(run, (uint64_t)(block.extents[0] *
								   block.extents[1] * move->size));
			if (error)
				return error;
		}
	}
	return 0;
}

static int run_prepared(struct engine_run *run, const struct move *move, uint8_t *dst, uint8_t *src)
{
	struct engine_walk walk;
	int error;

	engine_walk_begin(&walk, &move->nest, move->nest.rank);
	do {
		error = run_tile(run, move, dst + walk.offsets[DST], src + walk.offsets[SRC]);
	} while (!error && engine_walk_next(&walk));
	return error;
}

/* The bytes that a stream reaches around its address in the loops of a nest. */
static struct engine_interval reach(const struct engine_nest *nest, uint32_t stream, int64_t size)
{
	struct engine_interval around = { 0, size - 1 };

	for (uint32_t d = 0; d < nest->rank; d++) {
		int64_t farthest = nest->streams[stream].strides[d] * (nest->extents[d] - 1);

		around.lowest += min(farthest, 0);
		around.highest += max(farthest, 0);
	}
	return around;
}

/* The loops that no index depends on, from the address that the others lead to. */
static void inner_nest(struct engine_nest *inner, const struct engine_nest *nest, uint32_t first)
{
	inner->rank = nest->rank - first;
	inner->num_streams = NUM_STREAMS;
	inner->index_mask = 0;
	for (uint32_t d = 0; d < inner->rank; d++)
		inner->extents[d] = nest->extents[first + d];
	for (uint32_t s = 0; s < NUM_STREAMS; s++) {
		inner->streams[s].offset = 0;
		for (uint32_t d = 0; d < inner->rank; d++)
			inner->streams[s].strides[d] = nest->streams[s].strides[first + d];
	}
}

/* A move with indirect operands: what is done at each point that has indices of its own. */
struct indirect_move {
	struct engine_access access;
	struct move move;
	struct engine_interval around[NUM_STREAMS];
	uint32_t size_shift;
	bool is_element;		/* a point moves one element */
};

static int run_row(struct engine_run *run, const struct indirect_move *indirect,
		   const struct engine_row *row)
{
	uint8_t *addresses[NUM_STREAMS][ENGINE_STRIP_POINTS];
	int error;

	for (uint32_t k = 0; k < NUM_STREAMS; k++) {
		error = engine_resolve(run, &indirect->access, k, row, &indirect->around[k],
				       addresses[k]);
		if (error)
			return error;
	}
	if (indirect->is_element) {
		engine_pairs_kernels[indirect->size_shift](addresses[DST], addresses[SRC],
							   row->count);
		return engine_run_advance(run, (uint64_t)row->count << indirect->size_shift);
	}
	for (int64_t i = 0; i < row->count; i++) {
		error = run_prepared(run, &indirect->move, addresses[DST][i], addresses[SRC][i]);
		if (error)
			return error;
	}
	return 0;
}

static int run_indirect(struct engine_run *run, struct indirect_move *indirect)
{
	const struct engine_nest *nest = &indirect->access.nest;
	uint32_t num_indexed = engine_nest_num_indexed(nest);
	uint32_t last = num_indexed ? num_indexed - 1 : nest->rank;
	int64_t extent = num_indexed ? nest->extents[last] : 1;
	struct engine_nest inner;
	struct engine_walk walk;
	int error;

	inner_nest(&inner, nest, num_indexed);
	indirect->is_element = !inner.rank;
	for (uint32_t k = 0; k < NUM_STREAMS; k++)
		indirect->around[k] = reach(&inner, k, 1 << indirect->size_shift);
	prepare(&indirect->move, &inner, indirect->size_shift);
	engine_walk_begin(&walk, nest, num_indexed ? last : 0);
	do {
		for (int64_t i = 0; i < extent; i += ENGINE_STRIP_POINTS) {
			struct engine_row row = {
				&walk, last, i, min(ENGINE_STRIP_POINTS, extent - i)
			};

			error = run_row(run, indirect, &row);
			if (error)
				return error;
		}
	} while (engine_walk_next(&walk));
	return 0;
}

/* Whether every element is where it is to go. */
static bool is_in_place(const struct engine_access *access)
{
	const struct engine_nest *nest = &access->nest;
	const struct engine_stream *dst = &nest->streams[DST], *src = &nest->streams[SRC];

	for (uint32_t d = 0; d < nest->rank; d++)
		if (dst->strides[d] != src->strides[d])
			return false;
	return access->bases[DST] + dst->offset == access->bases[SRC] + src->offset;
}

int engine_run_move(struct engine_run *run, const struct engine_box *box, uint32_t loads)
{
	uint32_t size_shift = run->plan->operands[DST].size_shift;
	struct indirect_move indirect;
	struct move move;

	engine_access_init(&indirect.access, run->plan, box, loads);
	if (indirect.access.nest.index_mask) {
		indirect.size_shift = size_shift;
		return run_indirect(run, &indirect);
	}
	if (is_in_place(&indirect.access))
		return engine_run_advance(run, 1);
	prepare(&move, &indirect.access.nest, size_shift);
	return run_prepared(run, &move, indirect.access.bases[DST], indirect.access.bases[SRC]);
}
