/* SPDX-License-Identifier: MIT */
/*
 * Columns that are whole lines long and go on into each other in the destination, but begin within
 * lines. From line to line each of them is the end of a column and the beginning of the next one:
 * as if rows began later, and the first ones of them came last, from the next column. So they are
 * transposed to whole lines, as columns are that begin with lines.
 */
#ifndef TESSERA_ENGINE_SHIFTED_H
#define TESSERA_ENGINE_SHIFTED_H

#include "kernels.h"
#include "staging_room.h"

/* Columns side by side in the source. They begin at a multiple of an element's size. */
struct engine_shifted {
	const int64_t *places;	/* of column 0 of each row, in bytes after src */
	int64_t num_rows;	/* MAX_ROWS at most, and whole lines of the destination */
	int64_t num_columns;
	int64_t size;		/* of an element */
	bool is_begun;		/* others have stored what column 0 has of the line it begins in */
	bool goes_on;		/* there is a column after the last one, which is stored as far */
	engine_rows_kernel *kernel;
};

/* Streams all whole lines, and stores the others' parts. */
void engine_transpose_shifted(uint8_t *dst, const uint8_t *src,
			      const struct engine_shifted *shifted);

#endif /* TESSERA_ENGINE_SHIFTED_H */
