// SPDX-License-Identifier: MIT
/*
 * The canonical form of a loop nest without windows, and walking over a nest.
 */
#include "arithmetic.h"
#include "nest.h"

static void copy_loop(struct engine_nest *nest, uint32_t to, uint32_t from)
{
	nest->extents[to] = nest->extents[from];
	for (uint32_t s = 0; s < nest->num_streams; s++)
		nest->streams[s].strides[to] = nest->streams[s].strides[from];
}

static void remove_loop(struct engine_nest *nest, uint32_t d)
{
	for (nest->rank--; d < nest->rank; d++)
		copy_loop(nest, d, d + 1);
}

static void swap_loops(struct engine_nest *nest, uint32_t a, uint32_t b)
{
	int64_t swapped = nest->extents[a];

	nest->extents[a] = nest->extents[b];
	nest->extents[b] = swapped;
	for (uint32_t s = 0; s < nest->num_streams; s++) {
		int64_t *strides = nest->streams[s].strides;

		swapped = strides[a];
		strides[a] = strides[b];
		strides[b] = swapped;
	}
}

static void drop_unit_loops(struct engine_nest *nest)
{
	for (uint32_t d = nest->rank; d-- > 0; )
		if (nest->extents[d] == 1)
			remove_loop(nest, d);
}

/* Walks the loop from its end when the first stream that moves in it goes backward. */
static void turn_forward(struct engine_nest *nest, uint32_t d)
{
	uint32_t s = 0;

	while (s + 1 < nest->num_streams && !nest->streams[s].strides[d])
		s++;
	if (nest->streams[s].strides[d] >= 0)
		return;
	for (s = 0; s < nest->num_streams; s++) {
		struct engine_stream *stream = &nest->streams[s];

		stream->offset += stream->strides[d] * (nest->extents[d] - 1);
		stream->strides[d] = -stream->strides[d];
	}
}

static bool is_indexed(const struct engine_nest *nest, uint32_t d)
{
	for (uint32_t s = 0; s < nest->num_streams; s++)
		if ((nest->index_mask >> s & 1) && nest->streams[s].strides[d])
			return true;
	return false;
}

/* Whether loop a goes outside of loop b. */
static bool is_outer(const struct engine_nest *nest, uint32_t a, uint32_t b)
{
	if (is_indexed(nest, a) != is_indexed(nest, b))
		return is_indexed(nest, a);
	for (uint32_t s = 0; s < nest->num_streams; s++) {
		uint64_t of_a = magnitude(nest->streams[s].strides[a]);
		uint64_t of_b = magnitude(nest->streams[s].strides[b]);

		if (of_a != of_b)
			return of_a > of_b;
	}
	return false;
}

static void sort_loops(struct engine_nest *nest)
{
	for (uint32_t sorted = 1; sorted < nest->rank; sorted++)
		for (uint32_t d = sorted; d > 0 && is_outer(nest, d, d - 1); d--)
			swap_loops(nest, d, d - 1);
}

/* Whether a step of loop d is as far as all of loop d + 1 goes. */
static bool runs_on(const struct engine_nest *nest, uint32_t d)
{
	int64_t whole;

	for (uint32_t s = 0; s < nest->num_streams; s++) {
		const int64_t *strides = nest->streams[s].strides;

		if (__builtin_mul_overflow(strides[d + 1], nest->extents[d + 1], &whole) ||
		    strides[d] != whole)
			return false;
	}
	return true;
}

static void join_loops(struct engine_nest *nest)
{
	for (uint32_t d = nest->rank; d-- > 1; ) {
		if (!runs_on(nest, d - 1))
			continue;
		nest->extents[d] *= nest->extents[d - 1];
		remove_loop(nest, d - 1);
	}
}

void engine_nest_canonicalize(struct engine_nest *nest)
{
	drop_unit_loops(nest);
	for (uint32_t d = 0; d < nest->rank; d++)
		turn_forward(nest, d);
	sort_loops(nest);
	join_loops(nest);
}

uint32_t engine_nest_num_indexed(const struct engine_nest *nest)
{
	uint32_t d = 0;

	while (d < nest->rank && is_indexed(nest, d))
		d++;
	return d;
}

/* Loop by loop: most nests have few, and are copied for each of many small boxes. */
void engine_nest_copy(struct engine_nest *to, const struct engine_nest *from, uint32_t num_streams)
{
	to->rank = from->rank;
	to->num_streams = num_streams;
	to->index_mask = from->index_mask;
	for (uint32_t s = 0; s < num_streams; s++)
		to->streams[s].offset = from->streams[s].offset;
	for (uint32_t d = 0; d < from->rank; d++) {
		to->extents[d] = from->extents[d];
		for (uint32_t s = 0; s < num_streams; s++)
			to->streams[s].strides[d] = from->streams[s].strides[d];
	}
}

void engine_nest_sink(struct engine_nest *nest, uint32_t loop, uint32_t place)
{
	for (; loop < place; loop++)
		swap_loops(nest, loop, loop + 1);
}

void engine_walk_begin(struct engine_walk *walk, const struct engine_nest *nest, uint32_t rank)
{
	walk->nest = nest;
	walk->rank = rank;
	for (uint32_t d = 0; d < rank; d++)
		walk->point[d] = 0;
	for (uint32_t s = 0; s < nest->num_streams; s++)
		walk->offsets[s] = nest->streams[s].offset;
}

bool engine_walk_next(struct engine_walk *walk)
{
	const struct engine_nest *nest = walk->nest;

	for (uint32_t d = walk->rank; d-- > 0; ) {
		if (++walk->point[d] < nest->extents[d]) {
			for (uint32_t s = 0; s < nest->num_streams; s++)
				walk->offsets[s] += nest->streams[s].strides[d];
			return true;
		}
		walk->point[d] = 0;
		for (uint32_t s = 0; s < nest->num_streams; s++)
			walk->offsets[s] -= nest->streams[s].strides[d] * (nest->extents[d] - 1);
	}
	return false;
}

uint32_t engine_nest_closest(const struct engine_nest *nest, uint32_t stream, uint32_t last)
{
	const int64_t *strides = nest->streams[stream].strides;
	uint32_t best = last;

	for (uint32_t d = last; d-- > 0; )
		if (strides[d] && magnitude(strides[d]) < magnitude(strides[best]))
			best = d;
	return best;
}
