/* SPDX-License-Identifier: MIT */
/*
 * Places in memory that kernels go to row by row, whatever the stride, and asking for them ahead.
 */
#ifndef TESSERA_ENGINE_PLACE_H
#define TESSERA_ENGINE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

/* A place so many bytes further on, which need not be one of a row: wide strides have no next. */
#define BEYOND(place, bytes)	((void *)((uintptr_t)(place) + (uintptr_t)(bytes)))

/* A place that goes from row to row. Kept from compilers, which would hold an address for each. */
#define ADVANCE(place, stride) do {								\
	(place) = BEYOND(place, stride);							\
	__asm__("" : "+r" (place));								\
} while (0)

/*
 * Asks for a line that is read some time later. The second cache has more of them under way at a
 * time than the first one, from which it is near enough.
 */
static inline void engine_fetch(const void *place)
{
	__builtin_prefetch(place, 0, 2);
}

/* The first cache has 64 sets of 8 lines, which repeat after so many bytes. */
#define ENGINE_SETS_BYTES	4096

/*
 * Whether rows are back in the sets where they began after 16 of them at most, but for so many
 * bytes. With 8 bytes, 256 rows have half of the sets.
 */
static inline bool engine_is_back(int64_t stride, uint64_t bytes)
{
	for (uint64_t rows = 1; rows <= 16; rows *= 2)
		if (((uint64_t)stride * rows + bytes) % ENGINE_SETS_BYTES <= 2 * bytes)
			return true;
	return false;
}

/*
 * Whether rows of elements of so many bytes crowd each other in few sets. Of single bytes, squares
 * have more columns, which do with fewer.
 */
static inline bool engine_is_crowded(int64_t stride, int64_t size)
{
	return engine_is_back(stride, size == 1 ? 4 : 8);
}

#endif /* TESSERA_ENGINE_PLACE_H */
