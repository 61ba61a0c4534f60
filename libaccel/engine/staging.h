/* SPDX-License-Identifier: MIT */
/*
 * Transposing what is larger than the caches. A block of the source is fetched into the core's own
 * caches in long rows, while the one before it is transposed in small strips, whose lines go
 * around the caches: at once where the destination's rows begin with lines, or go on in lines that
 * wait for them, and else by way of a staging buffer. Rows that would drive each other out of the
 * caches are packed, where a kernel does so beside streaming, as soon as they are there.
 */
#ifndef TESSERA_ENGINE_STAGING_H
#define TESSERA_ENGINE_STAGING_H

#include "kernels.h"
#include "nest.h"

struct engine_move;
struct engine_run;

/*
 * Puts the part of a source's row that begins at this point of the nest, and has so many elements,
 * into its place as the destination has them.
 */
typedef void engine_pack_row(void *context, uint8_t *packed, const int64_t *point, int64_t count);

/* How a nest of two streams is cut into blocks and strips. Loops are those of the nest. */
struct engine_staging {
	uint32_t src_loop;			/* in which the source is contiguous */
	int64_t src_size;			/* bytes of an element there */
	engine_pack_row *pack_row;		/* NULL: rows are copied, if they are packed */
	void *context;
	int64_t block[DRM_TESSERA_MAX_RANK];	/* extents of a block */
	int64_t row[DRM_TESSERA_MAX_RANK];	/* of what a block has side by side in the source */
	uint32_t order[DRM_TESSERA_MAX_RANK];	/* loops by strides of the source, largest first */
	uint32_t across[DRM_TESSERA_MAX_RANK];	/* loops, that of the columns last */
	bool has_whole_rows;			/* of the source, if a block has room for them */
	bool has_short_rows;			/* they are, and strips have them whole */
	bool packs;				/* rows are put side by side first */
	int64_t packed[DRM_TESSERA_MAX_RANK];	/* strides of elements there */
	int64_t strip[DRM_TESSERA_MAX_RANK];	/* of a strip */
	int64_t tile[DRM_TESSERA_MAX_RANK];	/* and of the tiles that it has */
	bool are_tiles;				/* each strip is one */
	int64_t panel[DRM_TESSERA_MAX_RANK];	/* a strip of all rows and columns of a block */
	int64_t bite;				/* rows of it that are streamed at a time */
	bool has_lines;				/* the destination's rows begin with lines */
	engine_tile_kernel *stream_kernel;	/* then: to these, or NULL */
	engine_beside_kernel *beside_kernel;	/* the same beside fetching, or NULL */
	engine_packing_kernel *packing_kernel;	/* beside packing of the next block, or NULL */
	engine_tile_kernel *stage_kernel;	/* to the staging buffer */
	engine_join_kernel *join_kernel;	/* NULL: rows have no lines that wait */
	engine_join_kernel *tall_join_kernel;	/* for rows that begin within lines, or NULL */
	engine_packed_join_kernel *packed_join_kernel;	/* in its place, or NULL */
	bool begins_joined;			/* it begins columns for which nothing waits */
	bool joins_along;			/* it goes along rows, */
	int64_t rows_below;			/* so many, asking for as many below, unless 0; */
	bool joins_halves;			/* or by strips of half a square's columns */
	engine_short_join_kernel *short_kernel;	/* for short rows; NULL if there is none */
	engine_chain_kernel *chain_kernel;	/* NULL: columns do not make lines in registers */

	/* there they are runs of the destination, side by side in the staging buffer */
	int64_t strides[DRM_TESSERA_MAX_RANK];	/* of elements there */
	int64_t run_bytes;
	bool is_one_run;			/* of all columns, which go on into each other */
	int64_t slots[DRM_TESSERA_MAX_RANK];	/* strides of where the ends of runs wait */
	int64_t num_slots;			/* all that are used */
};

/*
 * Cuts a nest whose last loop is contiguous in the destination, and whose loop src_loop is in the
 * source; elements have size bytes. has_lines says whether the destination's rows all begin with
 * lines where the first one does. The members src_loop, src_size and pack_row, with its context,
 * have been set. Returns false where this is of no use.
 */
bool engine_staging_prepare(struct engine_staging *staging, const struct engine_nest *nest,
			    int64_t size, const struct engine_transpose_kernels *kernels,
			    bool has_lines);

/* As engine_move_run(), with the run's scratch memory. */
int engine_staging_run(struct engine_run *run, const struct engine_move *move, uint8_t *dst,
		       const uint8_t *src);

#endif /* TESSERA_ENGINE_STAGING_H */
