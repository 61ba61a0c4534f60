/* SPDX-License-Identifier: MIT */
/*
 * Places in memory that kernels go to row by row, whatever the stride, and asking for them ahead.
 */
#ifndef TESSERA_ENGINE_PLACE_H
#define TESSERA_ENGINE_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "arithmetic.h"

/* A place so many bytes further on, which need not be one of a row: wide strides have no next. */
#define BEYOND(place, bytes)	((void *)((uintptr_t)(place) + (uintptr_t)(bytes)))

/*
 * Whether this CPU is of a maker or a family, by the compiler's name for it. What CPUs differ in is
 * asked for below, by a function for each question.
 */
#ifdef __x86_64__
#define CPU_IS(name)	__builtin_cpu_is(name)
#else
#define CPU_IS(name)	false
#endif

/*
 * A place that goes from row to row. Kept from compilers, which would hold an address for each.
 * Where two begin alike they do so all the same: what is asked for ahead begins where that is.
 */
#define ADVANCE(place, stride) do {								\
	(place) = BEYOND(place, stride);							\
	__asm__("" : "+r" (place));								\
} while (0)

/*
 * How far it is to the row so many strides on, to ask for it ahead. What has no source, or indices
 * that lead nowhere, may be so far away that it does not fit 64 bits: then it is any place.
 */
static inline int64_t engine_rows_on(int64_t stride, int64_t count)
{
	return (int64_t)((uint64_t)stride * (uint64_t)count);
}

/*
 * Asks for a line that is read some time later. The second cache has more of them under way at a
 * time than the first one, from which it is near enough.
 */
static inline void engine_fetch(const void *place)
{
	__builtin_prefetch(place, 0, 2);
}

/* Asks for what comes so many bytes after each of some rows. */
static inline __attribute__((always_inline)) void engine_fetch_after(const uint8_t *row,
								      int64_t stride, int count,
								      int64_t bytes)
{
	row = BEYOND(row, bytes);
	_Pragma("GCC unroll 64")
	for (int k = 0; k < count; k++) {
		engine_fetch(row);
		ADVANCE(row, stride);
	}
}

/* Fetches rows of memory, step bytes apart, which the CPU would see too late for what they are. */
static inline void engine_fetch_rows(const uint8_t *memory, int64_t count, int64_t step,
				     int64_t bytes)
{
	for (int64_t row = 0; row < count; row++) {
		for (int64_t b = 0; b < bytes; b += LINE_BYTES)
			engine_fetch(memory + b);
		memory += step;
	}
}

/*
 * Asks for a line that is stored to some time later, in functions whose target has prfchw; in
 * others it is asked for as one that is read. CPUs that do not have the instruction take it for
 * none, so nobody has to look for it.
 */
static inline __attribute__((always_inline)) void engine_own(void *place)
{
	__builtin_prefetch(place, 1, 3);
}

/*
 * Whether stores wait for their lines one after the other, unless these were asked for before. On
 * AMD's CPUs asking costs up to a tenth.
 */
static inline bool engine_stores_wait(void)
{
	return CPU_IS("intel");
}

/*
 * Asks for the lines in which so many bytes of columns end, which are to be stored to, where stores
 * would wait. Where columns begin is there already, from what is above.
 */
static inline __attribute__((always_inline)) void engine_own_columns(uint8_t *to, int64_t stride,
								      int count, int64_t bytes)
{
	if (!engine_stores_wait())
		return;
	to = BEYOND(to, bytes - 1);
	_Pragma("GCC unroll 64")
	for (int k = 0; k < count; k++) {
		engine_own(to);
		ADVANCE(to, stride);
	}
}

/* So far ahead lines of long rows are asked for: the CPU sees them come, but later. */
#define ENGINE_ROW_AHEAD	2048

/*
 * Whether that helps. Lines that are read once go to the first cache alone. AMD's CPUs copy a fifth
 * more so. Intel's have few lines under way there, and copy a third of what they do when left
 * alone.
 */
static inline bool engine_fetches_on(void)
{
	return CPU_IS("amd");
}

/* Asks for the line so far ahead, which is read once and need not stay in the caches behind. */
static inline void engine_fetch_on(const void *place)
{
	__builtin_prefetch(BEYOND(place, ENGINE_ROW_AHEAD), 0, 0);
}

/*
 * Whether what the caches have room for is better fetched into the second one. Where it is not,
 * Zen 3 and 4 have none of it in the last one afterwards. Zen 5 reads a quarter faster so.
 */
static inline bool engine_keeps_fetched(void)
{
	return CPU_IS("amdfam19h");
}

/*
 * Whether what comes next is fetched line by line beside lines that are joined. Asked for in
 * bursts, Intel's CPUs wait for the pages of its rows; AMD's take up to a tenth less so.
 */
static inline bool engine_fetches_beside_joins(void)
{
	return CPU_IS("intel");
}

/*
 * Whether memory takes lines that lie beside each other by pairs, if they are stored one after the
 * other around the caches. Intel's CPUs store half as many otherwise, where rows are far apart.
 */
static inline bool engine_stores_pairs(void)
{
	return CPU_IS("intel");
}

/* Of CPUs with AVX-512: GCC 12 has no name for it. */
static inline bool engine_is_zen5(void)
{
	return CPU_IS("amd") && !CPU_IS("amdfam19h");
}

/*
 * Whether a load that crosses from one line into the next is as fast as loads of both, where they
 * are in the second cache. Zen 4 waits several times as long.
 */
static inline bool engine_loads_across(void)
{
	return engine_is_zen5();
}

/*
 * Whether squares in the caches are better gone along rows than down them, and held up by asking
 * for what comes next. Where they are stored to the first cache both ways take as long; why the
 * destination makes the difference is not known. On others than Zen 5 it was not tried.
 */
static inline bool engine_goes_along_rows(void)
{
	return engine_is_zen5();
}

/*
 * Whether short rows that are no whole squares are better joined a few columns at a time, wherever
 * in their pages these begin. On others than Zen 5 it was not tried.
 */
static inline bool engine_joins_by_columns(void)
{
	return engine_is_zen5();
}

/*
 * Whether squares that are joined are better gone along rows, all columns of a block; and columns
 * begun by storing what they have of a line, not by way of the staging buffer. On others than Zen 5
 * it was not tried.
 */
static inline bool engine_joins_along_rows(void)
{
	return engine_is_zen5();
}

/*
 * Whether what comes next is fetched line by line beside lines that squares are joined to, and not
 * between squares. On others than Zen 5 it was not tried.
 */
static inline bool engine_fetches_beside_squares(void)
{
	return engine_is_zen5();
}

/*
 * Whether what is left behind whole squares is one row or column, which is copied by itself: a
 * square once more would take longer, unless it is a small one.
 */
static inline bool engine_is_last_one(int64_t at, int64_t end, int64_t size)
{
	return at && end - at == 1 && size <= 4;
}

/* A row that becomes a column, or a column that becomes a row. */
static inline __attribute__((always_inline)) void engine_copy_one(uint8_t *dst, int64_t dst_stride,
								   const uint8_t *src,
								   int64_t src_stride,
								   int64_t count, size_t size)
{
	_Pragma("GCC unroll 4")
	for (int64_t i = 0; i < count; i++)
		memcpy(dst + i * dst_stride, src + i * src_stride, size);
}

/* The first cache has 64 sets of so many lines, or more, which repeat after so many bytes. */
#define ENGINE_SET_LINES	8
#define ENGINE_SETS_BYTES	4096

/*
 * After how many rows, a power of two, they are back in the sets where they began, but for so many
 * bytes. With 16 rows and 8 bytes, 256 rows have half of the sets. If not after most_rows: more.
 */
static inline int64_t engine_rows_until_back(int64_t stride, int64_t most_rows, uint64_t bytes)
{
	int64_t rows = 1;

	while (rows <= most_rows &&
	       ((uint64_t)stride * (uint64_t)rows + bytes) % ENGINE_SETS_BYTES > 2 * bytes)
		rows *= 2;
	return rows;
}

static inline bool engine_is_back(int64_t stride, int64_t most_rows, uint64_t bytes)
{
	return engine_rows_until_back(stride, most_rows, bytes) <= most_rows;
}

/* Rows crowd each other in few sets if one of so many is back in those of another. */
#define ENGINE_MOST_ROW_SETS	16

/*
 * How many rows of elements of so many bytes there are until one is back. Of single bytes, squares
 * have more columns, which do with fewer.
 */
static inline int64_t engine_count_row_sets(int64_t stride, int64_t size)
{
	const int64_t bytes = size == 1 ? 4 : max(8, size);

	return engine_rows_until_back(stride, ENGINE_MOST_ROW_SETS, (uint64_t)bytes);
}

static inline bool engine_is_crowded(int64_t stride, int64_t size)
{
	return engine_count_row_sets(stride, size) <= ENGINE_MOST_ROW_SETS;
}

/*
 * Whether streaming stores to rows that are so far apart wait for each other: their lines belong to
 * one or two of the 16 parts of the last cache.
 */
static inline bool engine_is_in_few_parts(int64_t stride)
{
	return stride % 512 == 0;
}

/*
 * Whether all such lines belong to one part, which takes 32 of them one after the other: rows begin
 * where it has a line, or a byte further on each.
 */
static inline bool engine_is_in_one_part(int64_t stride)
{
	return ((uint64_t)stride + 1) % 1024 <= 2;
}

/*
 * Whether rows begin within a line of the same place of their pages, or of one of two places: then
 * streaming stores to several of them in turns take twice as long.
 */
static inline bool engine_is_in_page_step(int64_t stride)
{
	return ((uint64_t)stride + LINE_BYTES) % 2048 < 2 * LINE_BYTES;
}

#endif /* TESSERA_ENGINE_PLACE_H */
