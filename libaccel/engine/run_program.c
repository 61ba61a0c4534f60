// SPDX-License-Identifier: MIT
/*
 * Boxes of jobs with a program: a panel is put in order, and a block of its points at a time is
 * loaded into strips, computed and stored, while the next panel is put in order. What lies in
 * memory as it would in a strip is read, or computed, there. Where one of the two last loops has
 * few points, the other is the inner loop of the strips. Which sources have to be put in order, and
 * how, is panel.c's business; large boxes that are better computed in the order of their sources
 * are run_crossed.c's.
 */
#include <stddef.h>
#include <string.h>

#include "arithmetic.h"
#include "kernels.h"
#include "panel.h"
#include "place.h"
#include "run_crossed.h"

/* As panels have them. */
enum { OUTER = ENGINE_OUTER, MIDDLE = ENGINE_MIDDLE, INNER = ENGINE_INNER,
       NUM_LOOPS = ENGINE_PANEL_LOOPS };

/* Rows of so many bytes are worth streaming, and of so many points reading where they are. */
#define LONG_ROW_BYTES	256
#define LONG_ROW_POINTS	128

/*
 * Points of a large job that are computed at a time: enough to be worth the calls, and so few that
 * memory reads what comes next and writes what came before at the same time.
 */
#define BLOCK_POINTS	768

/* Where a block lies in memory for an affine operand, as long as the strip has it. */
struct loaded {
	const uint8_t *address;
	int64_t extents[NUM_LOOPS];
};

struct block {
	int64_t first[NUM_LOOPS];	/* in its panel */
	int64_t extents[NUM_LOOPS];
	bool is_beyond;			/* there is no such block */
};

/* How a block of these extents is computed, wherever it lies in its panel. */
struct manner {
	int64_t extents[NUM_LOOPS];
	int64_t points;			/* at a time: a row, or all of the block */
	uint32_t direct;		/* operands, by bit: read or stored where they lie */
	uint32_t uniform;		/* strips, by bit: of one value at these points */
	bool is_computed_there;		/* the last step leaves the result where it is to lie */
};

/* A box of a program on its way. */
struct pass {
	struct engine_run *run;
	struct engine_access access;
	struct engine_panels panels;
	bool is_crossed;		/* the sides differ in which of the last loops is inner */
	int64_t sides[NUM_LOOPS];	/* of a whole block */
	struct loaded loaded[DRM_TESSERA_MAX_OPERANDS];
	uint8_t *strips;
	const struct engine_panel *panel;	/* that is computed */
	struct manner manner;		/* of the block before; no extents: there is none */
	struct block block;			/* that is next there */
	int64_t due;			/* points that are to be computed before more is filled */
};

static int64_t stride_of(const struct pass *pass, uint32_t k, int loop)
{
	return pass->panel->views[k].strides[loop];
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

/*
 * Where an affine operand, or a fill, is at the beginning of a block. In numbers, for what is said
 * of an indirect one may lie anywhere, and is not used.
 */
static uint8_t *place(const struct pass *pass, uint32_t k, const struct block *block)
{
	uintptr_t address = (uintptr_t)pass->panel->views[k].address;

	for (int loop = 0; loop < NUM_LOOPS; loop++)
		address += (uintptr_t)block->first[loop] * (uintptr_t)stride_of(pass, k, loop);
	return (uint8_t *)address;
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

/* Whether an operand has the same value at all points of blocks that are as large. */
static bool is_constant(const struct pass *pass, uint32_t k, const int64_t *extents)
{
	for (int loop = 0; loop < NUM_LOOPS; loop++)
		if (extents[loop] > 1 && stride_of(pass, k, loop))
			return false;
	return true;
}

static void load(struct pass *pass, uint32_t k, const struct block *block)
{
	const uint32_t size_shift = pass->run->plan->operands[k].size_shift;
	const uint8_t *memory = place(pass, k, block);
	uint8_t *strip = strip_at(pass, strip_of(pass, k));
	struct block loaded = *block;
	struct transfer transfer;

	/* a whole block of a constant will do for all that are smaller */
	if (is_constant(pass, k, pass->sides))
		memcpy(loaded.extents, pass->sides, sizeof(loaded.extents));
	/* what is in order may be in the place of what was */
	if (!(pass->panels.crossed >> k & 1) && is_loaded(&pass->loaded[k], memory, &loaded))
		return;
	choose_transfer(&transfer, pass, k, &loaded);
	for (int64_t r = 0; r < loaded.extents[OUTER]; r++) {
		transfer.kernel(strip, memory, &transfer.tile);
		memory += stride_of(pass, k, OUTER);
		strip += loaded.extents[MIDDLE] * loaded.extents[INNER] << size_shift;
	}
}

/* Whether a tile that is transposed comes to lie in memory without gaps. */
static bool is_dense(const struct engine_tile *tile, int64_t size)
{
	return tile->dst_strides[1] == size && tile->dst_strides[0] == tile->extents[1] * size;
}

/* From where points lie in order to where they are to, around the caches. */
static void stream_points(const struct engine_plan *plan, uint8_t *memory, const uint8_t *strip,
			  int64_t count)
{
	const uint32_t size_shift = plan->operands[0].size_shift;
	const struct engine_tile run = {
		.extents = { 1, count },
		.dst_strides = { 0, (int64_t)1 << size_shift },
		.src_strides = { 0, (int64_t)1 << size_shift },
	};

	plan->isa->copy->stream_run[size_shift](memory, strip, &run);
}

/* By way of the spare strip, where all is put in its order, and around the caches from there. */
static void stream_transposed(const struct pass *pass, const struct transfer *transfer,
			      uint8_t *memory, const uint8_t *strip)
{
	const struct engine_plan *plan = pass->run->plan;
	uint8_t *spare = strip_at(pass, plan->program.num_strips);

	transfer->kernel(spare, strip, &transfer->tile);
	stream_points(plan, memory, spare, transfer->tile.extents[0] * transfer->tile.extents[1]);
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
			walk, walk->rank + INNER,
			pass->panel->place.first[INNER] + block->first[INNER] + i,
			min(ENGINE_STRIP_POINTS, count - i)
		};
		int error = copy_row(pass, k, &row, strip + (i << size_shift));

		if (error)
			return error;
	}
	return 0;
}

/* Goes to a row of the block, but for the loop along the row. */
static void go_to_row(struct engine_walk *walk, const struct pass *pass, const struct block *block,
		      int64_t r, int64_t j)
{
	const struct engine_panel_place *panel = &pass->panel->place;

	*walk = panel->walk;
	for (uint32_t s = 0; s < walk->nest->num_streams; s++) {
		const int64_t *strides = &walk->nest->streams[s].strides[walk->rank];

		walk->offsets[s] += (panel->first[OUTER] + block->first[OUTER] + r) *
				    strides[OUTER] +
				    (panel->first[MIDDLE] + block->first[MIDDLE] + j) *
				    strides[MIDDLE];
	}
}

static int copy_indirect(struct pass *pass, uint32_t k, const struct block *block)
{
	const uint32_t size_shift = pass->run->plan->operands[k].size_shift;
	uint8_t *strip = strip_at(pass, strip_of(pass, k));
	struct engine_walk walk;

	for (int64_t r = 0; r < block->extents[OUTER]; r++) {
		for (int64_t j = 0; j < block->extents[MIDDLE]; j++) {
			int error;

			go_to_row(&walk, pass, block, r, j);
			error = copy_rows(pass, k, block, &walk, strip);
			if (error)
				return error;
			strip += block->extents[INNER] << size_shift;
		}
	}
	return 0;
}

/* Whether a block lies in memory as it would in a strip. */
static bool is_in_order(const struct pass *pass, uint32_t k, const struct block *block)
{
	int64_t bytes = (int64_t)1 << pass->run->plan->operands[k].size_shift;

	for (int loop = NUM_LOOPS; loop-- > 0; ) {
		if (block->extents[loop] > 1 && stride_of(pass, k, loop) != bytes)
			return false;
		bytes *= block->extents[loop];
	}
	return true;
}

static int64_t points_of(const struct block *block)
{
	return block->extents[OUTER] * block->extents[MIDDLE] * block->extents[INNER];
}

/* Strips of sources that stand still over a part of a block, by bit. */
static uint32_t find_uniform(const struct pass *pass, const struct block *part)
{
	uint32_t uniform = 0;

	for (uint32_t k = 1; k < pass->run->plan->num_operands; k++)
		if (pass->access.index_streams[k] == ENGINE_NO_STREAM &&
		    is_constant(pass, k, part->extents))
			uniform |= 1u << strip_of(pass, k);
	return uniform;
}

/* Whether the last step can put its result into memory, with no point more. */
static bool is_computed_there(const struct pass *pass, const struct manner *manner)
{
	const struct engine_plan *plan = pass->run->plan;

	if (!plan->program.ends_with_result || manner->points % ENGINE_STRIP_ALIGNMENT ||
	    (plan->streams && !engine_program_can_stream(&plan->program, manner->uniform)))
		return false;
	for (uint32_t k = 1; k < plan->num_operands; k++)
		if (pass->panel->views[k].address == pass->panel->views[0].address)
			return false;
	return true;
}

/*
 * Operands that need not be loaded or stored, by bit: a block, or a row of it, of each lies in
 * memory as it would in a strip, and no more points are touched there than there are. Not a source
 * that is itself the result; and a result if it is computed there, or streamed from its strip.
 */
static uint32_t find_direct(const struct pass *pass, const struct block *part,
			    const struct manner *manner)
{
	const struct engine_plan *plan = pass->run->plan;
	const bool is_whole = manner->points % ENGINE_STRIP_ALIGNMENT == 0;
	const bool is_streamed = plan->streams && manner->points << plan->operands[0].size_shift >=
						  LONG_ROW_BYTES;
	uint32_t direct = 0;

	for (uint32_t k = 1; k < plan->num_operands; k++)
		if (pass->access.index_streams[k] == ENGINE_NO_STREAM &&
		    (is_whole || (pass->panels.crossed >> k & 1)) &&
		    is_in_order(pass, k, part) && strip_of(pass, k) != plan->program.result)
			direct |= 1u << k;
	if (pass->access.index_streams[0] == ENGINE_NO_STREAM && is_in_order(pass, 0, part) &&
	    (manner->is_computed_there || is_streamed))
		direct |= 1;
	return direct;
}

static int load_sources(struct pass *pass, const struct block *block)
{
	for (uint32_t k = 1; k < pass->run->plan->num_operands; k++) {
		int error = 0;

		if (pass->manner.direct >> k & 1)
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

/*
 * Where the strips begin: those of operands that are read or stored where they lie are in memory.
 * What is the same for all rows of a block is found out once.
 */
struct rows {
	uint8_t *strips[ENGINE_MAX_STRIPS];
	uint8_t *first[DRM_TESSERA_MAX_OPERANDS];	/* of each operand, at the first row */
	uint32_t num_operands;
	uint32_t fetched;	/* operands, by bit: what comes next of them is asked for */
	bool keeps;		/* in caches that have room for it */
	int64_t bytes[DRM_TESSERA_MAX_OPERANDS];	/* of a row */
};

static void init_rows(struct rows *rows, const struct pass *pass, const struct block *block)
{
	const struct engine_plan *plan = pass->run->plan;
	const struct manner *manner = &pass->manner;

	rows->num_operands = plan->num_operands;
	rows->fetched = pass->run->scratch && engine_fetches_on() ?
				manner->direct & ~pass->panels.crossed : 0;
	rows->keeps = !plan->streams && engine_keeps_fetched();
	for (uint32_t s = 0; s < plan->program.num_strips; s++)
		rows->strips[s] = strip_at(pass, s);
	for (uint32_t k = 0; k < plan->num_operands; k++) {
		rows->bytes[k] = manner->points << plan->operands[k].size_shift;
		rows->first[k] = manner->direct >> k & 1 ? place(pass, k, block) :
							   rows->strips[strip_of(pass, k)];
	}
}

/* Row number n of an operand, which lies at r and j in the block. */
static uint8_t *row_at(const struct rows *rows, const struct pass *pass, uint32_t k, int64_t n,
		       int64_t r, int64_t j)
{
	if (pass->manner.direct >> k & 1)
		return rows->first[k] + r * stride_of(pass, k, OUTER) +
		       j * stride_of(pass, k, MIDDLE);
	return rows->first[k] + n * rows->bytes[k];
}

/* Computes points whose result lies in memory as in a strip, and puts it there. */
static void compute_to(const struct pass *pass, const struct rows *rows, uint8_t *memory)
{
	const struct engine_plan *plan = pass->run->plan;
	const struct engine_program *program = &plan->program;
	const uint32_t uniform = pass->manner.uniform, points = (uint32_t)pass->manner.points;

	if (pass->manner.is_computed_there && !plan->streams) {
		engine_program_run_to(program, rows->strips, uniform, memory, points);
	} else if (pass->manner.is_computed_there && (uintptr_t)memory % LINE_BYTES == 0) {
		engine_program_stream_to(program, rows->strips, uniform, memory, points);
	} else {
		engine_program_run(program, rows->strips, uniform, points);
		stream_points(plan, memory, rows->strips[program->result], points);
	}
}

/* Fetches as much of what comes after a row that is read where it lies. */
static void fetch_after(const uint8_t *row, int64_t bytes, bool keeps)
{
	if (keeps)
		engine_fetch_rows(BEYOND(row, ENGINE_ROW_AHEAD), 1, 0, bytes);
	else
		for (int64_t byte = 0; byte < bytes; byte += LINE_BYTES)
			engine_fetch_on(row + byte);
}

static void compute_row(struct rows *rows, const struct pass *pass, int64_t n, int64_t r, int64_t j)
{
	const struct engine_program *program = &pass->run->plan->program;
	uint8_t *result = row_at(rows, pass, 0, n, r, j);

	/* the result's comes first: where it is a source's own, both are the same */
	if (!(pass->manner.direct & 1))
		rows->strips[program->result] = result;
	for (uint32_t k = 1; k < rows->num_operands; k++) {
		uint8_t *row = row_at(rows, pass, k, n, r, j);

		rows->strips[strip_of(pass, k)] = row;
		if (rows->fetched >> k & 1)
			fetch_after(row, rows->bytes[k], rows->keeps);
	}
	if (pass->manner.direct & 1)
		compute_to(pass, rows, result);
	else
		engine_program_run(program, rows->strips, pass->manner.uniform,
				   (uint32_t)pass->manner.points);
}

/* So many points at a time as is the manner. */
static void compute(const struct pass *pass, const struct block *block)
{
	struct rows rows;
	int64_t n = 0;

	init_rows(&rows, pass, block);
	if (pass->manner.points == points_of(block)) {
		compute_row(&rows, pass, 0, 0, 0);
		return;
	}
	for (int64_t r = 0; r < block->extents[OUTER]; r++)
		for (int64_t j = 0; j < block->extents[MIDDLE]; j++)
			compute_row(&rows, pass, n++, r, j);
}

/* Goes to the next block of the panel, the last loop fastest. */
static void go_to_next(const struct pass *pass, struct block *block)
{
	const int64_t *extents = pass->panel->place.extents;
	int loop = NUM_LOOPS;

	while (loop-- > 0) {
		block->first[loop] += pass->sides[loop];
		if (block->first[loop] < extents[loop])
			break;
		block->first[loop] = 0;
	}
	block->is_beyond = loop < 0;
	for (loop = 0; loop < NUM_LOOPS; loop++)
		block->extents[loop] = min(pass->sides[loop], extents[loop] - block->first[loop]);
}

/* With all points of a part of a block at a time. */
static struct manner manner_of(const struct pass *pass, const struct block *part)
{
	struct manner manner = { .points = points_of(part), .uniform = find_uniform(pass, part) };

	manner.is_computed_there = is_computed_there(pass, &manner);
	manner.direct = find_direct(pass, part, &manner);
	return manner;
}

/* By rows, where more is in order, or uniform, in these than in the block. */
static void choose_manner(struct pass *pass, const struct block *block)
{
	struct block row = *block;
	struct manner by_rows;

	if (!memcmp(pass->manner.extents, block->extents, sizeof(block->extents)))
		return;
	pass->manner = manner_of(pass, block);
	row.extents[OUTER] = row.extents[MIDDLE] = 1;
	by_rows = manner_of(pass, &row);
	if (by_rows.points >= LONG_ROW_POINTS && by_rows.points % ENGINE_STRIP_ALIGNMENT == 0 &&
	    (by_rows.direct != pass->manner.direct || by_rows.uniform != pass->manner.uniform))
		pass->manner = by_rows;
	memcpy(pass->manner.extents, block->extents, sizeof(block->extents));
}

static int store_result(struct pass *pass, const struct block *block)
{
	if (pass->manner.direct & 1)
		return 0;
	if (pass->access.index_streams[0] != ENGINE_NO_STREAM)
		return copy_indirect(pass, 0, block);
	store(pass, block);
	return 0;
}

static int run_block(struct pass *pass)
{
	const struct engine_plan *plan = pass->run->plan;
	const struct block block = pass->block;
	const int64_t count = points_of(&block);
	int error;

	choose_manner(pass, &block);
	error = load_sources(pass, &block);
	if (error)
		return error;
	go_to_next(pass, &pass->block);
	compute(pass, &block);
	error = store_result(pass, &block);
	if (error)
		return error;
	pass->due -= count;
	return engine_run_advance(pass->run, (uint64_t)count << plan->operands[0].size_shift);
}

/* Computes so many more points of the panel, or a few more, or all that are left. */
static int run_blocks(struct pass *pass, int64_t points)
{
	int error = 0;

	if (!pass->panel)
		return 0;
	pass->due = points == INT64_MAX ? points : pass->due + points;
	while (!error && pass->due > 0 && !pass->block.is_beyond)
		error = run_block(pass);
	return error;
}

static void begin_panel(struct pass *pass, const struct engine_panel *panel)
{
	pass->panel = panel;
	pass->due = 0;
	pass->manner.extents[INNER] = 0;
	pass->block = (struct block){ .is_beyond = false };
	for (int loop = 0; loop < NUM_LOOPS; loop++)
		pass->block.extents[loop] = min(pass->sides[loop], panel->place.extents[loop]);
}

/* While a panel is put in order, the one before it is computed. */
static int run_panels(struct pass *pass)
{
	struct engine_panel panels[2];
	int error = 0;

	for (int n = 0; !error && engine_panels_next(&pass->panels, &panels[n]); n ^= 1) {
		int64_t points = engine_panels_fill(&pass->panels, &panels[n]);

		for (; !error && points; points = engine_panels_fill(&pass->panels, &panels[n]))
			error = run_blocks(pass, points);
		if (!error)
			error = run_blocks(pass, INT64_MAX);
		begin_panel(pass, &panels[n]);
	}
	return error ? error : run_blocks(pass, INT64_MAX);
}

/*
 * The loop in which a source takes smaller steps than in the last one, or the one before the last
 * where there is none such.
 */
static uint32_t second_loop(const struct engine_nest *nest, uint32_t num_operands)
{
	uint32_t last = nest->rank - 1;

	for (uint32_t k = 1; k < num_operands; k++) {
		uint32_t closest = engine_nest_closest(nest, k, last);

		if (closest != last)
			return closest;
	}
	return last - 1;
}

/* Whether a source takes smaller steps in the loop before the last than in the last. */
static bool is_crossed(const struct engine_nest *nest, uint32_t num_operands)
{
	for (uint32_t k = 1; k < num_operands; k++) {
		const int64_t *strides = nest->streams[k].strides;
		uint64_t outer = magnitude(strides[nest->rank - 2]);

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

/* Blocks of a panel; where one side has a few rows interleaved, of all of them. */
static void choose_sides(struct pass *pass)
{
	const int64_t room = pass->run->plan->program.strip_points;
	const int64_t points = pass->run->scratch ? min(BLOCK_POINTS, room) : room;
	const int64_t *extents = pass->panels.sides;
	int64_t *sides = pass->sides;

	sides[MIDDLE] = 1;
	if (pass->is_crossed && !pass->panels.crossed && extents[MIDDLE] <= ENGINE_FEW_POINTS)
		sides[MIDDLE] = extents[MIDDLE];
	sides[INNER] = min(points, room / sides[MIDDLE]);
	if (sides[INNER] > ENGINE_STRIP_ALIGNMENT)
		sides[INNER] -= sides[INNER] % ENGINE_STRIP_ALIGNMENT;
	sides[INNER] = min(extents[INNER], sides[INNER]);
	sides[MIDDLE] = min(extents[MIDDLE], max(sides[MIDDLE], points / sides[INNER]));
	sides[OUTER] = max(1, points / (sides[INNER] * sides[MIDDLE]));
	sides[OUTER] = min(extents[OUTER], sides[OUTER]);
}

/* Puts the loops of panels last. */
static void choose_loops(struct pass *pass)
{
	struct engine_nest *nest = &pass->access.nest;
	const uint32_t num_operands = pass->run->plan->num_operands;
	const int64_t *extents = nest->extents;
	uint32_t last;

	pad_nest(nest);
	last = nest->rank - 1;
	engine_nest_sink(nest, second_loop(nest, num_operands), last - 1);
	pass->is_crossed = is_crossed(nest, num_operands);
	if (pass->is_crossed && extents[last] <= ENGINE_FEW_POINTS &&
	    extents[last] < extents[last - 1])
		engine_nest_sink(nest, last - 1, last);
}

int engine_run_program(struct engine_run *run, const struct engine_box *box, uint32_t loads)
{
	uint8_t strips[ENGINE_STRIPS_BYTES] __attribute__((aligned(ENGINE_STRIP_ALIGNMENT)));
	uint8_t room[ENGINE_SMALL_PANELS_BYTES] __attribute__((aligned(LINE_BYTES)));
	struct pass pass = { .run = run, .strips = strips };
	const int64_t *sides = pass.sides;
	struct engine_crossed crossed;

	engine_access_init(&pass.access, run->plan, box, loads);
	if (engine_crossed_prepare(&crossed, run, &pass.access))
		return engine_crossed_run(&crossed, run, strips);
	choose_loops(&pass);
	if (run->scratch)
		engine_panels_init(&pass.panels, run->plan, &pass.access, run->scratch,
				   ENGINE_SCRATCH_BYTES);
	else
		engine_panels_init(&pass.panels, run->plan, &pass.access, room, sizeof(room));
	choose_sides(&pass);
	engine_program_begin(&run->plan->program, strips,
			     (uint32_t)(sides[OUTER] * sides[MIDDLE] * sides[INNER]));
	return run_panels(&pass);
}
