/* SPDX-License-Identifier: MIT */
/*
 * The loops of a copy between two strided arrays of one shape.
 */
#ifndef LOWER_COPY_H
#define LOWER_COPY_H

#include <accel.h>

/* Strides and offsets are in one unit, whichever. Outermost loop first; 0 beyond the rank. */
struct lower_copy {
	uint32_t rank;
	uint64_t extents[ACCEL_MAX_DIMS];
	int64_t dst_offset;
	int64_t src_offset;
	int64_t dst_strides[ACCEL_MAX_DIMS];
	int64_t src_strides[ACCEL_MAX_DIMS];
};

/*
 * Brings the loops into the order of the destination with as few of them as there can be: drops
 * loops of one value, turns those round that go down in the destination, sorts by the
 * destination's strides and merges neighbours that run on in both. An empty box becomes one
 * loop of extent 0. The points and where each goes stay the same. Every product of an extent less
 * one and its stride, and every sum of these, must fit 64 bits.
 */
void lower_copy_canonicalize(struct lower_copy *copy);

#endif /* LOWER_COPY_H */
