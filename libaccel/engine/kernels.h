/* SPDX-License-Identifier: MIT */
/*
 * The micro-kernels of moves, and their contract. All take a tile: two loops, the second of them
 * inner, each with a stride in bytes on either side. A kernel may visit the elements of its tile in
 * any order, some of them twice, and touches no byte outside of them. Bases need no alignment;
 * extents may be anything, 0 included; strides may be negative or 0. Where the two sides overlap
 * other than in place, the bytes stored are not defined, but nothing else happens.
 *
 * Each table, a struct engine_copy_kernels or a struct engine_transpose_kernels, has a file of its
 * own. What an instruction set does not better in it is a simpler set's kernel; only where it says
 * so may there be none.
 */
#ifndef TESSERA_ENGINE_KERNELS_H
#define TESSERA_ENGINE_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "arithmetic.h"

struct engine_tile {
	int64_t extents[2];
	int64_t dst_strides[2];
	int64_t src_strides[2];
	int64_t ahead;	/* runs, transposes: fetch so many bytes ahead in the source; 0: nothing */
};

struct engine_ahead;	/* rows to be fetched: ahead.h */

typedef void engine_tile_kernel(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile);

/* Copies count elements, each from where it is to where it goes. */
typedef void engine_pairs_kernel(uint8_t *const *dst, uint8_t *const *src, int64_t count);

/*
 * Copies count runs of so many bytes. src has num_known addresses: those beyond count are of runs
 * to come. With streams, whole lines are stored around the caches.
 */
typedef void engine_runs_kernel(uint8_t *const *dst, uint8_t *const *src, int64_t count,
				int64_t num_known, int64_t bytes, bool streams);

/* Rows of a source that begin anywhere, and need not have all columns. */
struct engine_rows {
	const int64_t *places;		/* of column 0, in bytes after src */
	const uint64_t *columns;	/* of each row, by bit, side by side, 64 at most; or NULL */
	const uint8_t *fill;		/* an element, for what rows do not have */
	bool streams;			/* the destination is whole lines, to be streamed */
};

/*
 * Transposes such rows, extents[1] of them. The outer loop goes along rows, in steps of one element
 * or more; the inner one, over rows, is contiguous in the destination.
 */
typedef void engine_rows_kernel(uint8_t *dst, const uint8_t *src, const struct engine_rows *rows,
				const struct engine_tile *tile);

/* The line that rows have reached which go on into each other in the destination. */
struct engine_line {
	uint8_t *to;		/* its beginning; from a kernel that streams halves, that of one */
	int64_t filled;		/* what it has before the next row, less than 64: in bytes */
	int64_t others;		/* of that the first ones, which are not known, and not touched */
	uint8_t bytes[64];
};

/* Rows of which the source has some bytes; around those, in each row, is the fill. */
struct engine_bordered_rows {
	int64_t count;
	int64_t stride;		/* from row to row in the source */
	int64_t bytes;		/* of a row, 64 or more */
	int64_t first, end;	/* those that the source has */
	int64_t ahead;		/* fetch so many bytes ahead in the source */
	const uint8_t *fill;	/* 64 bytes, as every line that has nothing else has them */
};

/* Whether rows follow each other in the source, but for a gap of less than two lines. */
static inline bool engine_rows_are_close(int64_t stride, int64_t bytes)
{
	return magnitude(stride) < (uint64_t)(bytes + 2 * LINE_BYTES);
}

/* Streams such rows, of which the first one's byte 0 is at src, or would be. */
typedef void engine_bordered_kernel(struct engine_line *line, const uint8_t *src,
				    const struct engine_bordered_rows *rows);

/*
 * A tile whose destination's rows begin at cache lines, by streaming stores. For each line stored
 * one is fetched: they are side by side, from next on.
 */
typedef void engine_beside_kernel(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,
				  const uint8_t *next);

/* Rows of the source that are packed while others are streamed, and those fetched for later. */
struct engine_packing {
	const uint8_t *from;
	uint8_t *to;
	const uint8_t *ahead;	/* what is fetched: rows like these */
	int64_t row_bytes;	/* a multiple of four lines */
	int64_t stride;		/* from row to row in the source, */
	int64_t pitch;		/* and where they are packed */
};

/*
 * The same for tiles of whole lines on both sides, whose rows have been packed. For each line
 * stored one is packed and one fetched, row by row; these are lines of the caches, too.
 */
typedef void engine_packing_kernel(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,
				   const struct engine_packing *packing);

/*
 * Copies lines around the caches: those that rows fill, extents[0] of them with extents[1] bytes
 * each. A row and where it goes are as far from a line's beginning, and what is before the row in
 * the line in which it begins is the destination's, too. For each line stored one is fetched, if
 * there are any to be: as many bytes as rows have, side by side, from next on.
 */
typedef void engine_lines_kernel(uint8_t *dst, const uint8_t *src, const struct engine_tile *rows,
				 const uint8_t *next);

/*
 * Transposes columns that go on into each other in the destination, around the caches. There are a
 * multiple of as many as a line has elements, and each has more than half a line and less than one,
 * but of elements of 16 bytes a line or more. dst is at the beginning of a line, of which so many
 * bytes wait already: the last ones of the 64 of line. What is left in the end are its last ones
 * after it, of which a first half of a line may have been stored as well. Elements begin at
 * multiples of their size.
 */
typedef void engine_chain_kernel(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,
				 uint8_t *line, int64_t filled);

/*
 * Copies so many rows of so many bytes each, which begin at these places and are not in the first
 * cache yet. dst is at the beginning of a line, and has room for whole lines; pitch is a multiple
 * of their size.
 */
typedef void engine_pack_kernel(uint8_t *dst, int64_t pitch, const uint8_t *src,
				const int64_t *places, int64_t count, int64_t bytes);

/* Rows that begin anywhere, and go to columns that begin anywhere. Lines are aligned. */
struct engine_join {
	const int64_t *places;	/* of column 0 of each row, in bytes after src */
	int64_t below;		/* fetch so many bytes after each row; 0: nothing */
	/* what is fetched instead and gone on in: as many bytes as the tile has; or NULL */
	struct engine_ahead *ahead;
	const uint8_t *next;	/* of that a square's: for kernels alone */
	/*
	 * The last bytes of line c are what is before column c in the line in which it begins; in
	 * the end, what is in the line in which the column ends.
	 */
	uint8_t (*lines)[64];
	/*
	 * The line in which row r of the tile to the right of this one begins, if both are as wide
	 * as a line. It is left here if the tile to the right is to find it, and is here from the
	 * one to the left if that left it.
	 */
	uint8_t (*shared)[64];
	bool has_shared;
	bool leaves_shared;
	/*
	 * Nothing waits: of the line in which a column begins what it has is stored. The tile has
	 * as many rows as a line has elements, or more.
	 */
	bool begins;
};

/* Transposes such rows, extents[1] of them, by streaming stores. */
typedef void engine_join_kernel(uint8_t *dst, const uint8_t *src, const struct engine_join *join,
				const struct engine_tile *tile);

/*
 * The same for rows that are packed: a stride apart, and aligned to 16 bytes. Each can be read up
 * to the next 16 bytes, and so many of them as make whole lines of the destination. For each line
 * stored one is fetched, unless ahead is NULL: rows there are whole lines.
 */
typedef void engine_packed_join_kernel(uint8_t *dst, const uint8_t *src, uint8_t (*lines)[64],
				       const struct engine_tile *tile,
				       const struct engine_ahead *ahead);

/*
 * The same for rows that are a stride apart, of four elements at least, which begin at multiples of
 * their size in the destination. For each line stored one is fetched, side by side from next on,
 * unless that is NULL.
 */
typedef void engine_short_join_kernel(uint8_t *dst, const uint8_t *src, uint8_t (*lines)[64],
				      const struct engine_tile *tile, const uint8_t *next);

/*
 * log2 of the sizes of elements: 1, 2, 4, 8, 16, 32 and 64 bytes. Operands' are at most 16; the
 * larger ones are a short contiguous run on both sides.
 */
#define ENGINE_NUM_SIZES	7

struct engine_copy_kernels {
	/* the inner loop is contiguous on both sides */
	engine_tile_kernel *run[ENGINE_NUM_SIZES];
	/* the same by streaming stores; before others may read what they wrote: end_streams() */
	engine_tile_kernel *stream_run[ENGINE_NUM_SIZES];
	/* the inner loop is contiguous in the destination, and the source stands still in it */
	engine_tile_kernel *broadcast[ENGINE_NUM_SIZES];
	engine_tile_kernel *stream_broadcast[ENGINE_NUM_SIZES];
	/* any tile */
	engine_tile_kernel *strided[ENGINE_NUM_SIZES];
	engine_pairs_kernel *pairs[ENGINE_NUM_SIZES];
	engine_runs_kernel *runs;
	/* NULL where there is no kernel that puts lines together */
	engine_bordered_kernel *stream_bordered;
	/* rows that lie apart in the source are worth it if they have so many bytes */
	int64_t bordered_far_bytes;
	void (*end_streams)(void);
};

/*
 * Whether a tile of elements of so many bytes, at this place of the source, which comes from beyond
 * the caches or not, is better transposed from rows that have been packed to where each has sets of
 * the first cache of its own.
 */
typedef bool engine_packed_test(const struct engine_tile *tile, const uint8_t *src, int64_t size,
				bool is_far);

/* Columns that are no multiple of so many bytes apart begin at several places of vectors. */
#define ENGINE_SKEWED_BYTES	32

struct engine_transpose_kernels {
	/* the inner loop is contiguous in the destination, the outer one in the source */
	engine_tile_kernel *transpose[ENGINE_NUM_SIZES];
	/* the same for rows from beyond the caches, to such columns; NULL where it is no faster */
	engine_tile_kernel *skewed_transpose[ENGINE_NUM_SIZES];
	/*
	 * The same by streaming stores: columns begin at multiples of an element's size, anywhere
	 * in lines. NULL where none is faster than the staging buffer.
	 */
	engine_tile_kernel *stream_skewed[ENGINE_NUM_SIZES];
	/* the same to what is in the first cache already; NULL where it makes no difference */
	engine_tile_kernel *stage[ENGINE_NUM_SIZES];
	/* for tiles of transpose; NULL where no rows are to be packed for it */
	engine_packed_test *is_better_packed;
	/*
	 * The same by streaming stores: the destination's rows begin at cache lines. NULL where no
	 * kernel stores whole lines.
	 */
	engine_tile_kernel *stream_transpose[ENGINE_NUM_SIZES];
	/* the same, beside fetching; NULL where that gains nothing */
	engine_beside_kernel *stream_beside[ENGINE_NUM_SIZES];
	/* the same, beside packing; NULL where that gains nothing */
	engine_packing_kernel *stream_packing[ENGINE_NUM_SIZES];
	/* by log2 of an element's size, 1 to 8 bytes; NULL where short runs are as fast */
	engine_rows_kernel *const *transpose_rows;
	int64_t most_steps;	/* of an element, from column to column of such rows: 1 or 2 */
	/* NULL where there is no kernel that puts lines together */
	engine_join_kernel *join_transpose[ENGINE_NUM_SIZES];
	/*
	 * In its place, where rows begin within lines, as many as there are at a time: nothing is
	 * shared, begun, or fetched below. NULL where that gains nothing.
	 */
	engine_join_kernel *join_tall[ENGINE_NUM_SIZES];
	/* in place of join_transpose, where rows are long; NULL where that gains nothing */
	engine_packed_join_kernel *join_packed[ENGINE_NUM_SIZES];
	/* for rows of a few lines; NULL where they go by the kernel above, or by way of memory */
	engine_short_join_kernel *join_short[ENGINE_NUM_SIZES];
	engine_lines_kernel *stream_lines;
	/* NULL where columns go by way of memory */
	engine_chain_kernel *chain_transpose[ENGINE_NUM_SIZES];
	/* NULL where there is none, and memcpy() has to do; there is where join_packed is */
	engine_pack_kernel *pack_rows;
	bool loads_lines;	/* of the source whole, each of them once: a square is as wide */
	/* stream_transpose stores a line of all columns of a strip before their next ones */
	bool streams_in_turns;
};

extern const struct engine_copy_kernels engine_copy_portable, engine_copy_avx2, engine_copy_avx512;
extern const struct engine_transpose_kernels engine_transpose_portable, engine_transpose_avx2,
					     engine_transpose_avx512;

/*
 * log2 of the sizes of elements that are interleaved in registers, and of those of rows that begin
 * anywhere: 1, 2, 4 and 8 bytes.
 */
#define ENGINE_NUM_INTERLEAVED	4

/*
 * Transposes with few rows. Interleave: extents[1] rows, 2 to 8, of extents[0] elements become one:
 * src_strides[0] and dst_strides[1] are the element's size, dst_strides[0] extents[1] times that.
 * Deinterleave is its inverse, with extents[0] rows: src_strides[0] and dst_strides[1] are the
 * element's size, src_strides[1] extents[0] times that.
 */
extern engine_tile_kernel *const engine_interleave_avx2[ENGINE_NUM_INTERLEAVED];
extern engine_tile_kernel *const engine_deinterleave_avx2[ENGINE_NUM_INTERLEAVED];
extern engine_tile_kernel *const engine_interleave_avx512[ENGINE_NUM_INTERLEAVED];
extern engine_tile_kernel *const engine_deinterleave_avx512[ENGINE_NUM_INTERLEAVED];

/* Around the caches, and the same beside fetching: see stream_transpose. */
engine_tile_kernel engine_stream_2_avx2, engine_stream_4_avx2, engine_stream_8_avx2,
		   engine_stream_16_avx2;
engine_short_join_kernel engine_join_short_4_avx2;
engine_chain_kernel engine_chain_4_avx2, engine_chain_16_avx2;
engine_beside_kernel engine_stream_beside_2_avx2, engine_stream_beside_4_avx2,
		     engine_stream_beside_8_avx2, engine_stream_beside_16_avx2;

/*
 * Transposes to columns that begin at multiples of an element's size: of 8-byte elements 4 columns
 * or more, of at least 16 rows.
 */
engine_tile_kernel engine_skewed_8_avx2, engine_stream_skewed_8_avx2,
		   engine_stream_skewed_16_avx2;

/*
 * Transposes down 16 bytes of the rows at a time, by log2 of an element's size. extents[0] is at
 * least so many elements, extents[1] at least a line's.
 */
extern engine_tile_kernel *const engine_lanes_avx512[];

/*
 * Around the caches, by log2 of an element's size: rows of both sides begin with lines, and both
 * extents are multiples of as many elements as a line has. Others do so beside fetching.
 */
extern engine_tile_kernel *const engine_stream_lines_avx512[];
engine_beside_kernel engine_stream_beside_4_avx512, engine_stream_beside_8_avx512,
		     engine_stream_beside_16_avx512;
engine_packing_kernel engine_stream_packing_1_avx512, engine_stream_packing_2_avx512;

engine_join_kernel engine_join_tall_4_avx512;
engine_packed_join_kernel engine_join_packed_1_avx512, engine_join_packed_2_avx512;
engine_pack_kernel engine_pack_rows_avx512;

engine_bordered_kernel engine_stream_bordered_avx2, engine_stream_bordered_avx512;

extern engine_rows_kernel *const engine_rows_avx2[ENGINE_NUM_INTERLEAVED];
extern engine_rows_kernel *const engine_rows_avx512[ENGINE_NUM_INTERLEAVED];

/* Whether a tile to be transposed takes rows apart that lie interleaved in the source. */
static inline bool engine_is_deinterleave(const struct engine_tile *tile, int64_t size)
{
	return tile->extents[0] >= 2 && tile->extents[0] <= 8 &&
	       tile->src_strides[1] == tile->extents[0] * size;
}

/* Whether it interleaves rows. */
static inline bool engine_is_interleave(const struct engine_tile *tile, int64_t size)
{
	return tile->extents[1] >= 2 && tile->extents[1] <= 8 &&
	       tile->dst_strides[0] == tile->extents[1] * size;
}

/* The kernel for a tile whose loops are in order, and which is not to be transposed. */
static inline engine_tile_kernel *engine_copy_kernel(const struct engine_copy_kernels *kernels,
						     const struct engine_tile *tile,
						     uint32_t size_shift)
{
	const int64_t size = (int64_t)1 << size_shift;

	if (tile->dst_strides[1] == size && tile->src_strides[1] == size)
		return kernels->run[size_shift];
	if (tile->dst_strides[1] == size && tile->src_strides[1] == 0)
		return kernels->broadcast[size_shift];
	return kernels->strided[size_shift];
}

/* The same, for a destination that is not to be kept in the caches. */
static inline engine_tile_kernel *engine_stream_kernel(const struct engine_copy_kernels *kernels,
						       const struct engine_tile *tile,
						       uint32_t size_shift)
{
	const int64_t size = (int64_t)1 << size_shift;

	if (tile->dst_strides[1] == size && tile->src_strides[1] == size)
		return kernels->stream_run[size_shift];
	if (tile->dst_strides[1] == size && tile->src_strides[1] == 0)
		return kernels->stream_broadcast[size_shift];
	return kernels->strided[size_shift];
}

#endif /* TESSERA_ENGINE_KERNELS_H */
