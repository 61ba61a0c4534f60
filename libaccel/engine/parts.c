// SPDX-License-Identifier: MIT
/*
 * Splitting a box into parts. They are cut from the loops with the largest steps in the
 * destination, so that each part, and with it each thread, has a piece of the destination to
 * itself, and so that what lies side by side in it is written at about the same time. The parts of
 * a plan do not depend on how many threads there are: what a run does, and which fault it ends
 * with, does not either.
 */
#include "arithmetic.h"
#include "parts.h"
#include "staging_room.h"

/*
 * What is read from a source in one piece is worth the journey, in which a page is looked up; of
 * small elements it leaves long runs to the destination. A little more is not cut at all.
 */
#define PIECE_BYTES		2048
#define MOST_PIECE		512
#define WHOLE_BYTES		4096

/*
 * Where the destination's runs begin anywhere in lines each cut is one more line in pieces: those
 * of the source are shorter then. Rows that would not be cut otherwise are so, unless blocks have
 * them whole or a part has long runs even so.
 */
#define SHORT_PIECE_BYTES	1024
#define ROW_PIECE_BYTES		512
#define LEAST_ROW_PIECE		64
#define LONG_RUN_BYTES		2048

static int64_t extent(const struct engine_box *box, uint32_t d)
{
	return box->dims[d].highest - box->dims[d].lowest + 1;
}

/* All loops that have more than one value, those with the largest strides first. */
static uint32_t order_dims(const struct engine_box *box, const int64_t *strides, uint32_t *dims)
{
	uint32_t num_dims = 0;

	for (uint32_t d = 0; d < box->rank; d++) {
		const uint64_t stride = magnitude(strides[d]);
		uint32_t place = num_dims;

		if (extent(box, d) == 1)
			continue;
		for (; place && magnitude(strides[dims[place - 1]]) < stride; place--)
			dims[place] = dims[place - 1];
		dims[place] = d;
		num_dims++;
	}
	return num_dims;
}

/* The longest loop in which the source's elements are side by side, or the rank. */
static uint32_t contiguous_dim(const struct engine_box *box, const int64_t *src_strides,
			       int64_t size)
{
	uint32_t longest = box->rank;

	for (uint32_t d = 0; d < box->rank; d++)
		if (magnitude(src_strides[d]) == (uint64_t)size &&
		    (longest == box->rank || extent(box, d) > extent(box, longest)))
			longest = d;
	return longest;
}

/*
 * The fewest values in a part of so many bytes of a loop in which the source's elements are side by
 * side.
 */
static int64_t least_step(const struct engine_box *box, uint32_t d, int64_t dst_stride,
			  int64_t size, int64_t bytes)
{
	const int64_t count = extent(box, d);
	const bool is_row = count <= WHOLE_BYTES / size;

	if (dst_stride % LINE_BYTES == 0)
		return is_row ? count : min(PIECE_BYTES / size, MOST_PIECE);
	if (!is_row)
		return min(SHORT_PIECE_BYTES / size, MOST_PIECE);
	if (count <= STAGED_WHOLE_ROW_BYTES / size || bytes / count >= LONG_RUN_BYTES)
		return count;
	return max(ROW_PIECE_BYTES / size, LEAST_ROW_PIECE);
}

/* How many steps of a loop there are. */
static int64_t num_steps(const struct engine_box *box, uint32_t d, int64_t step)
{
	return (extent(box, d) - 1) / step + 1;
}

/* How many parts of loop k there are. */
static int64_t count_parts(const struct engine_parts *parts, const struct engine_box *box,
			   uint32_t k)
{
	const int64_t left = extent(box, parts->dims[k]) - parts->longest[k] + parts->missing[k];

	return left > 0 ? (left - 1) / parts->steps[k] + 2 : 1;
}

/* An eighth more than is wished for is better than another part that has as little. */
static int64_t with_rest(int64_t wanted, bool is_limit)
{
	return is_limit ? wanted : wanted + wanted / 8;
}

/*
 * What a part has room for if loop k is whole in it: twice as much as is wished for where columns
 * of the destination that begin within lines would be cut.
 */
static int64_t room_for(uint32_t k, const uint32_t *dims, const int64_t *dst_strides, int64_t size,
			int64_t wanted, bool is_limit)
{
	const bool are_columns = k && dst_strides[dims[k]] == size &&
				 dst_strides[dims[k - 1]] % LINE_BYTES;

	return with_rest(are_columns && !is_limit ? 2 * wanted : wanted, is_limit);
}

/* A step that is larger than need be, rounded down such that no line is in two parts. */
static int64_t whole_lines(int64_t step, int64_t least, int64_t stride)
{
	int64_t unit = LINE_BYTES;

	while (unit > 1 && magnitude(stride) * (uint64_t)unit / 2 % LINE_BYTES == 0)
		unit /= 2;
	return step / unit * unit < least ? step : step / unit * unit;
}

void engine_parts_init(struct engine_parts *parts, const struct engine_box *box,
		       const int64_t *dst_strides, const int64_t *src_strides, int64_t size,
		       int64_t bytes, bool is_limit)
{
	uint32_t dims[DRM_TESSERA_MAX_RANK];
	uint32_t num_dims = order_dims(box, dst_strides, dims);
	uint32_t contiguous = contiguous_dim(box, src_strides, size);
	int64_t inner_bytes = size;
	int64_t steps[DRM_TESSERA_MAX_RANK];
	uint32_t split = num_dims;
	int64_t fitting;

	*parts = (struct engine_parts){ .count = 1 };
	for (uint32_t k = 0; k < num_dims; k++) {
		steps[k] = 1;
		if (dims[k] == contiguous)
			steps[k] = least_step(box, dims[k], dst_strides[dims[k]], size, bytes);
		inner_bytes *= steps[k];
	}
	/* the innermost loops that fit a part together */
	while (split && num_steps(box, dims[split - 1], steps[split - 1]) <=
			room_for(split - 1, dims, dst_strides, size, bytes, is_limit) /
			inner_bytes) {
		split--;
		inner_bytes *= num_steps(box, dims[split], steps[split]);
	}
	if (!split)
		return;
	fitting = max(1, (is_limit ? bytes : bytes + inner_bytes / 2) / inner_bytes);
	steps[split - 1] = whole_lines(steps[split - 1] * fitting, steps[split - 1],
				       dst_strides[dims[split - 1]]);
	parts->num_dims = split;
	for (uint32_t k = 0; k < split; k++) {
		parts->dims[k] = dims[k];
		parts->steps[k] = steps[k];
		parts->longest[k] = with_rest(steps[k], is_limit);
		/* more than can be counted are never done with: nor is one part that is all */
		if (__builtin_mul_overflow(parts->count, (uint64_t)count_parts(parts, box, k),
					   &parts->count)) {
			*parts = (struct engine_parts){ .count = 1 };
			return;
		}
	}
}

void engine_parts_align(struct engine_parts *parts, const struct engine_box *box,
			const int64_t *dst_strides, const int64_t *strides, int64_t size,
			const uint8_t *place)
{
	const int64_t before = (int64_t)((uintptr_t)place % LINE_BYTES);
	uint64_t others;
	uint32_t k = 0;

	while (k < parts->num_dims && strides[parts->dims[k]] != size)
		k++;
	if (k == parts->num_dims || before % size || parts->steps[k] * size % LINE_BYTES ||
	    (strides != dst_strides && dst_strides[parts->dims[k]] % LINE_BYTES))
		return;
	for (uint32_t d = 0; d < box->rank; d++)
		if (d != parts->dims[k] && extent(box, d) > 1 && strides[d] % LINE_BYTES)
			return;
	others = parts->count / (uint64_t)count_parts(parts, box, k);
	parts->missing[k] = before / size;
	if (__builtin_mul_overflow(others, (uint64_t)count_parts(parts, box, k), &parts->count))
		*parts = (struct engine_parts){ .count = 1 };
}

bool engine_parts_are_runs(const struct engine_parts *parts, const struct engine_box *box,
			   const int64_t *dst_strides, int64_t size)
{
	uint32_t dims[DRM_TESSERA_MAX_RANK];
	uint32_t num_dims = order_dims(box, dst_strides, dims);
	int64_t bytes = size;

	/* each loop steps over all that those inside of it store */
	for (uint32_t k = num_dims; k-- > 0; ) {
		int64_t count = k < parts->num_dims ? parts->steps[k] : extent(box, dims[k]);

		if (count == 1)
			continue;
		if (dst_strides[dims[k]] != bytes || __builtin_mul_overflow(bytes, count, &bytes))
			return false;
	}
	return true;
}

void engine_parts_box(const struct engine_parts *parts, const struct engine_box *whole, uint64_t n,
		      struct engine_box *box)
{
	*box = *whole;
	for (uint32_t k = parts->num_dims; k-- > 0; ) {
		struct engine_interval *dim = &box->dims[parts->dims[k]];
		uint64_t count = (uint64_t)count_parts(parts, whole, k);
		int64_t before = (int64_t)(n % count), step = parts->steps[k];

		if (before)
			dim->lowest += before * step - parts->missing[k];
		else
			step -= parts->missing[k];
		if ((uint64_t)before < count - 1)
			dim->highest = dim->lowest + step - 1;
		n /= count;
	}
}

uint64_t engine_parts_merge(const struct engine_parts *parts, const struct engine_box *whole,
			    uint64_t n, uint64_t most, struct engine_box *box)
{
	struct engine_box last;
	uint64_t left;
	uint32_t k;

	engine_parts_box(parts, whole, n, box);
	if (most == 1 || !parts->num_dims)
		return 1;
	k = parts->num_dims - 1;
	left = (uint64_t)count_parts(parts, whole, k);
	left -= n % left;
	most = most < left ? most : left;
	engine_parts_box(parts, whole, n + most - 1, &last);
	box->dims[parts->dims[k]].highest = last.dims[parts->dims[k]].highest;
	return most;
}
