/* SPDX-License-Identifier: MIT */
/*
 * Parts: the blocks of a plan's box that are run one after the other, or by several threads.
 */
#ifndef TESSERA_ENGINE_PARTS_H
#define TESSERA_ENGINE_PARTS_H

#include "bounds.h"

/* The loops with the largest steps in the destination are split, each in so many values a time. */
struct engine_parts {
	uint64_t count;			/* at least 1 */
	uint32_t num_dims;
	uint32_t dims[DRM_TESSERA_MAX_RANK];
	int64_t steps[DRM_TESSERA_MAX_RANK];
	int64_t longest[DRM_TESSERA_MAX_RANK];	/* the most that the last part has */
	int64_t missing[DRM_TESSERA_MAX_RANK];	/* values of a step that the first part lacks */
};

/*
 * Parts of about so many bytes of the destination, or of no more where they are a limit. Its
 * elements have size bytes and are dst_strides apart, and come from a source in which they are
 * src_strides apart.
 */
void engine_parts_init(struct engine_parts *parts, const struct engine_box *box,
		       const int64_t *dst_strides, const int64_t *src_strides, int64_t size,
		       int64_t bytes, bool is_limit);

/*
 * Has the loop in which the destination or a source is contiguous, by its strides, cut where lines
 * begin there, if they do so in all of its rows alike, and it makes no difference to lines of the
 * destination. The element of the box's lowest values is at this place.
 */
void engine_parts_align(struct engine_parts *parts, const struct engine_box *box,
			const int64_t *dst_strides, const int64_t *strides, int64_t size,
			const uint8_t *place);

/*
 * Whether each part is one run of bytes in the destination, where it begins at the lowest values of
 * its loops.
 */
bool engine_parts_are_runs(const struct engine_parts *parts, const struct engine_box *box,
			   const int64_t *dst_strides, int64_t size);

/* The box of part n. */
void engine_parts_box(const struct engine_parts *parts, const struct engine_box *whole, uint64_t n,
		      struct engine_box *box);

/*
 * The box of part n and of those behind it, most in all at most, that go on from it in the
 * innermost loop that is cut. Returns how many parts that is.
 */
uint64_t engine_parts_merge(const struct engine_parts *parts, const struct engine_box *whole,
			    uint64_t n, uint64_t most, struct engine_box *box);

#endif /* TESSERA_ENGINE_PARTS_H */
