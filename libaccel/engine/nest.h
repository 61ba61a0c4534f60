/* SPDX-License-Identifier: MIT */
/*
 * Loop nests without windows, and their canonical form: the fewest loops, ordered so that memory is
 * walked forward and the last loop takes the smallest steps. It knows no buffers and no elements.
 */
#ifndef TESSERA_ENGINE_NEST_H
#define TESSERA_ENGINE_NEST_H

#include <stdbool.h>
#include <stdint.h>

#include <drm/tessera_accel.h>

/* The addresses of a job's operands and of their indices. */
#define ENGINE_MAX_STREAMS	(2 * DRM_TESSERA_MAX_OPERANDS)

/* An address that advances with the loops. */
struct engine_stream {
	int64_t offset;
	int64_t strides[DRM_TESSERA_MAX_RANK];
};

struct engine_nest {
	uint32_t rank;
	uint32_t num_streams;
	uint32_t index_mask;	/* streams that address indices */
	int64_t extents[DRM_TESSERA_MAX_RANK];
	struct engine_stream streams[ENGINE_MAX_STREAMS];
};

/*
 * Brings the nest into canonical form. Points and what belongs to each stay the same, their order
 * does not. Loops of one point are dropped. Loops that index streams depend on come first; among
 * these and among the others, loops are ordered by stream 0's strides, which are not negative
 * then, and by the next stream's where these are equal. Loops that run on into each other in
 * all streams are joined.
 */
void engine_nest_canonicalize(struct engine_nest *nest);

/* How many of the first loops the index streams depend on, in canonical form. */
uint32_t engine_nest_num_indexed(const struct engine_nest *nest);

/* Copies the loops, and of the streams the first ones. */
void engine_nest_copy(struct engine_nest *to, const struct engine_nest *from,
		      uint32_t num_streams);

/* Moves a loop inward to the place given, past those between. */
void engine_nest_sink(struct engine_nest *nest, uint32_t loop, uint32_t place);

/* A point of the first rank loops of a nest, and the offsets of all streams there. */
struct engine_walk {
	const struct engine_nest *nest;
	uint32_t rank;
	int64_t point[DRM_TESSERA_MAX_RANK];
	int64_t offsets[ENGINE_MAX_STREAMS];
};

void engine_walk_begin(struct engine_walk *walk, const struct engine_nest *nest, uint32_t rank);

/* Goes to the next point, the last loop fastest. Returns false after the last one. */
bool engine_walk_next(struct engine_walk *walk);

/*
 * Of the loops up to last, the one in which a stream takes its smallest steps; last where it stands
 * still in that one, or no other has smaller ones.
 */
uint32_t engine_nest_closest(const struct engine_nest *nest, uint32_t stream, uint32_t last);

#endif /* TESSERA_ENGINE_NEST_H */
