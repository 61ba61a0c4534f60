// SPDX-License-Identifier: MIT
/*
 * Random extents, windows and addresses, and buffers that are just large enough for them: as
 * large as the rule of the header says. Destinations never store to a byte twice.
 */
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "reference.h"

/* The job in the making. */
struct making {
	struct random *random;
	struct random_job *job;
	const struct random_job_options *options;
	bool is_plain;		/* dense operands in various orders, without windows */
};

static void shuffle_extents(struct making *making)
{
	struct random_job *job = making->job;

	for (uint32_t d = 1; d < job->rank; d++) {
		uint64_t other = random_below(making->random, d + 1);
		uint64_t extent = job->extents[d];

		job->extents[d] = job->extents[other];
		job->extents[other] = extent;
	}
}

/* Loops of many points: each as likely to have some ten as some thousand of them. */
static void make_large_extents(struct making *making)
{
	const struct random_job_options *options = making->options;
	struct random *random = making->random;
	struct random_job *job = making->job;
	uint64_t least = options->min_points;

	job->rank = (uint32_t)random_between(random, 2, 4);
	for (uint32_t d = 0; d + 1 < job->rank; d++) {
		uint64_t most = 1ull << random_below(random, 64 - (uint32_t)__builtin_clzll(least));

		job->extents[d] = random_chance(random, 20) ? most : 1 + random_below(random, most);
		least = (least - 1) / job->extents[d] + 1;
	}
	job->extents[job->rank - 1] = least + random_below(random, least / 8 + 1);
	shuffle_extents(making);
}

static void make_extents(struct making *making)
{
	struct random *random = making->random;
	struct random_job *job = making->job;
	uint64_t budget = 1 + random_below(random, making->options->max_points);

	/* small ones as often as large ones */
	budget = 1 + (budget - 1) / (1ull << random_below(random, 8));
	job->rank = (uint32_t)random_below(random, DRM_TESSERA_MAX_RANK + 1);
	for (uint32_t d = 0; d < job->rank; d++) {
		uint64_t most = d + 1 == job->rank || random_chance(random, 15) ? budget :
				budget < 7 ? budget : 7;

		job->extents[d] = 1 + random_below(random, most);
		budget /= job->extents[d];
	}
	/* the long loop is anywhere */
	shuffle_extents(making);
	if (job->rank && random_chance(random, 3))
		job->extents[random_below(random, job->rank)] = 0;
}

static uint32_t any_loop(const struct making *making)
{
	return (uint32_t)random_below(making->random, making->job->rank);
}

/* Windows and strides are made as if an empty loop had a point. */
static int64_t extent_of(const struct making *making, uint32_t d)
{
	return making->job->extents[d] ? (int64_t)making->job->extents[d] : 1;
}

/* -p <= c * i - p < n, as padding is. */
static void make_padding(struct making *making, struct drm_tessera_window *window)
{
	uint32_t d = any_loop(making);
	int64_t step = random_between(making->random, 1, 3);
	int64_t all = step * extent_of(making, d);

	window->value.strides[d] = random_chance(making->random, 20) ? -step : step;
	window->value.offset = -random_between(making->random, 0, 3);
	if (window->value.strides[d] < 0)
		window->value.offset += all;
	window->limit = (uint64_t)random_between(making->random, 0, all + 1);
}

/* 0 <= s * o + d * k - p < n, as im2col and partial tiles are. */
static void make_sliding(struct making *making, struct drm_tessera_window *window)
{
	uint32_t outer = any_loop(making), inner = any_loop(making);
	int64_t step = random_between(making->random, 1, 3);
	int64_t dilation = random_between(making->random, 1, 2);

	if (random_chance(making->random, 30)) {
		/* a tile's loop: the outer step is all of the inner loop */
		step = extent_of(making, inner);
		dilation = 1;
	}
	window->value.strides[outer] += step;
	window->value.strides[inner] += dilation;
	window->value.offset = -random_between(making->random, 0, 3);
	window->limit = (uint64_t)random_between(making->random, 1,
						 step * extent_of(making, outer) +
						 dilation * extent_of(making, inner));
}

static void make_any_window(struct making *making, struct drm_tessera_window *window)
{
	for (uint32_t d = 0; d < making->job->rank; d++)
		if (random_chance(making->random, 50))
			window->value.strides[d] = random_between(making->random, -5, 5);
	window->value.offset = random_between(making->random, -20, 20);
	window->limit = random_below(making->random, 60);
}

static void make_constant_window(struct making *making, struct drm_tessera_window *window)
{
	window->value.offset = random_between(making->random, -1, 2);
	window->limit = random_chance(making->random, 50) ? INT64_MAX :
							     random_below(making->random, 3);
}

static void make_windows(struct making *making)
{
	struct random_job *job = making->job;

	if (making->is_plain || random_chance(making->random, 35))
		return;
	job->num_windows = (uint32_t)(1 + random_below(making->random,
						       random_chance(making->random, 5) ?
						       DRM_TESSERA_MAX_WINDOWS : 4));
	for (uint32_t w = 0; w < job->num_windows; w++) {
		struct drm_tessera_window *window = &job->windows[w];
		uint64_t kind = job->rank ? random_below(making->random, 20) : 19;

		if (kind < 9)
			make_padding(making, window);
		else if (kind < 15)
			make_sliding(making, window);
		else if (kind < 18)
			make_any_window(making, window);
		else
			make_constant_window(making, window);
	}
}

/* A mask of few windows, mostly. */
static uint32_t any_mask(struct making *making)
{
	uint32_t mask = 0;

	if (!making->job->num_windows)
		return 0;
	for (uint64_t n = random_below(making->random, 4); n > 0; n--)
		mask |= 1u << random_below(making->random, making->job->num_windows);
	return mask;
}

/* An order of the loops. */
struct order {
	uint32_t loops[DRM_TESSERA_MAX_RANK];
};

static struct order any_order(struct making *making)
{
	struct order order;
	uint32_t rank = making->job->rank;

	for (uint32_t d = 0; d < rank; d++)
		order.loops[d] = d;
	for (uint32_t d = 1; d < rank && random_chance(making->random, 80); d++) {
		uint64_t other = random_below(making->random, d + 1);
		uint32_t loop = order.loops[d];

		order.loops[d] = order.loops[other];
		order.loops[other] = loop;
	}
	return order;
}

/*
 * Strides of a dense tensor of the loops in mask, in any order, possibly with gaps and backward;
 * unit is its element's bytes. No two points get the same address. Returns the bytes of all of it.
 */
static int64_t make_dense(struct making *making, struct drm_tessera_affine *affine, uint32_t mask,
			  int64_t unit)
{
	struct order order = any_order(making);
	bool has_gaps = random_chance(making->random, 30);
	int64_t step = unit;

	for (uint32_t n = making->job->rank; n-- > 0; ) {
		uint32_t d = order.loops[n];

		if (!(mask >> d & 1))
			continue;
		affine->strides[d] = random_chance(making->random, 10) ? -step : step;
		step *= extent_of(making, d);
		if (has_gaps && random_chance(making->random, 40))
			step += random_between(making->random, 0, 20);
	}
	return step;
}

/* Those that an index depends on, or that a source does not stand still in. */
static uint32_t any_loops(struct making *making)
{
	return (uint32_t)random_below(making->random, 1u << making->job->rank);
}

/* A source's strides: dense, or with loops that stand still, overlap or follow the windows. */
static void make_source_address(struct making *making, struct drm_tessera_operand *operand,
				uint32_t mask)
{
	int64_t size = random_dtype_size(operand->dtype);
	int64_t unit = size;

	if (making->is_plain) {
		mask &= random_chance(making->random, 70) ? ~0u : any_loops(making);
		make_dense(making, &operand->address, mask, unit);
		return;
	}
	if (random_chance(making->random, 20))
		unit = random_between(making->random, 1, 3 * size);
	make_dense(making, &operand->address, mask, unit);
	for (uint32_t d = 0; d < making->job->rank; d++) {
		if (random_chance(making->random, 10))
			operand->address.strides[d] = 0;
		if (random_chance(making->random, 5))
			operand->address.strides[d] = random_between(making->random, -2 * size,
								     2 * size);
	}
	if (!random_chance(making->random, 50))
		return;
	for (uint32_t w = 0; w < making->job->num_windows; w++) {
		const struct drm_tessera_affine *value = &making->job->windows[w].value;
		int64_t factor = random_between(making->random, -4, 12) * size;

		if (!(operand->window_mask >> w & 1))
			continue;
		for (uint32_t d = 0; d < making->job->rank; d++)
			if (value->strides[d])
				operand->address.strides[d] = factor * value->strides[d];
	}
}

static uint64_t points_of(const struct making *making, uint32_t mask)
{
	uint64_t points = 1;

	for (uint32_t d = 0; d < making->job->rank; d++)
		if (mask >> d & 1)
			points *= making->job->extents[d];
	return points;
}

/* An integer type that holds 0 to count, and -count where that is asked for. */
static uint32_t index_dtype_for(struct making *making, uint64_t count, bool is_negative)
{
	uint32_t dtype, bits;

	do {
		dtype = random_integer_dtype(making->random);
		bits = 8 * random_dtype_size(dtype);
		if ((dtype & DRM_TESSERA_DTYPE_CLASS_MASK) == DRM_TESSERA_DTYPE_CLASS_SIGNED)
			bits--;
		else if (is_negative)
			bits = 0;
	} while (bits < 64 && count >> bits);
	return dtype;
}

/* What is known of an indirect operand before its indices are written. */
struct indirection {
	uint32_t loops;		/* that the index depends on */
	uint64_t num_values;	/* different indices */
	int64_t bias;		/* added to each */
};

static void make_indirect(struct making *making, uint32_t k, struct indirection *indirection)
{
	struct drm_tessera_operand *operand = &making->job->operands[k];
	uint32_t all = (1u << making->job->rank) - 1;
	int64_t block;

	operand->flags = DRM_TESSERA_OPERAND_INDIRECT;
	indirection->loops = any_loops(making);
	indirection->num_values = points_of(making, indirection->loops) +
				  random_below(making->random, 3);
	indirection->num_values += !indirection->num_values;
	if (random_chance(making->random, 20))
		indirection->bias = -random_between(making->random, 0,
						    (int64_t)indirection->num_values);
	operand->index_dtype = index_dtype_for(making, indirection->num_values,
					       indirection->bias < 0);
	if (!indirection->bias && random_chance(making->random, 60))
		operand->index_limit = indirection->num_values;
	make_dense(making, &operand->index_address, indirection->loops,
		   random_dtype_size(operand->index_dtype));
	if (k == 0) {
		block = make_dense(making, &operand->address, all & ~indirection->loops,
				   random_dtype_size(operand->dtype));
	} else {
		make_source_address(making, operand, all & ~indirection->loops);
		block = random_between(making->random, 0, 2 * random_dtype_size(operand->dtype));
	}
	operand->index_stride = random_chance(making->random, 10) ? -block : block;
}

/* The bytes that an operand reaches, with all its indices; empty when it reaches none. */
static struct reference_bounds reach(const struct making *making, uint32_t k,
				     const struct indirection *indirection)
{
	const struct drm_tessera_operand *operand = &making->job->operands[k];
	void *const none[RANDOM_JOB_MAX_BUFFERS] = { NULL };
	struct reference_bounds bounds;
	struct engine_job engine_job;
	__int128 ends[2];

	random_job_bind(making->job, none, &engine_job);
	bounds = reference_bounds_by_rule(&engine_job, k, false);
	if (bounds.lowest > bounds.highest || !(operand->flags & DRM_TESSERA_OPERAND_INDIRECT))
		return bounds;
	ends[0] = (__int128)operand->index_stride * indirection->bias;
	ends[1] = (__int128)operand->index_stride *
		  (indirection->bias + (int64_t)indirection->num_values - 1);
	bounds.lowest += ends[0] < ends[1] ? ends[0] : ends[1];
	bounds.highest += ends[0] < ends[1] ? ends[1] : ends[0];
	return bounds;
}

/* Room in a buffer for what lies within bounds; returns the offset to add to addresses. */
static bool make_room(struct making *making, uint32_t buffer, struct reference_bounds bounds,
		      int64_t *offset)
{
	struct random_job_buffer *room = &making->job->buffers[buffer];
	uint64_t multiple = making->options->size_multiple;
	__int128 size;

	if (bounds.lowest > bounds.highest) {
		/* nothing is accessed, wherever it is */
		*offset = random_between(making->random, -1000, 1000);
		bounds = (struct reference_bounds){ -*offset, -*offset };
	} else {
		*offset = (int64_t)-bounds.lowest + (int64_t)room->size;
		if (random_chance(making->random, 50))
			*offset += random_between(making->random, 0, 20);
	}
	size = bounds.highest + *offset + 1;
	if (random_chance(making->random, 50))
		size += random_between(making->random, 0, 20);
	size = (size + multiple - 1) / multiple * multiple;
	if (size > making->options->max_buffer_bytes)
		return false;
	if (room->size < size)
		room->size = (uint64_t)size;
	return true;
}

static uint32_t new_buffer(struct random_job *job)
{
	return job->num_buffers++;
}

static bool place_operand(struct making *making, uint32_t k, const struct indirection *indirection)
{
	struct random_job *job = making->job;
	struct drm_tessera_operand *operand = &job->operands[k];
	struct reference_bounds bounds = reach(making, k, indirection);
	uint32_t buffer;
	int64_t offset;

	/* now and then beside the destination, behind it in its buffer */
	buffer = k && random_chance(making->random, 8) ? job->operands[0].handle - 1 :
							  new_buffer(job);
	operand->handle = buffer + 1;
	if (!make_room(making, buffer, bounds, &offset))
		return false;
	operand->address.offset = offset;
	return true;
}

/* Indices: all different for a destination, any for a source. */
static void write_indices(struct making *making, uint32_t k, const struct indirection *indirection)
{
	struct random_job *job = making->job;
	const struct drm_tessera_operand *operand = &job->operands[k];
	uint32_t size = random_dtype_size(operand->index_dtype);
	uint64_t count = points_of(making, indirection->loops);
	uint64_t *values = malloc((indirection->num_values + 1) * sizeof(*values));
	uint64_t point[DRM_TESSERA_MAX_RANK] = { 0 };

	if (!values)
		abort();
	for (uint64_t n = 0; n < indirection->num_values; n++) {
		uint64_t other = random_below(making->random, n + 1);

		values[n] = values[other];
		values[other] = n;
	}
	for (uint64_t n = 0; n < count; n++) {
		int64_t address = operand->index_address.offset;
		int64_t value = indirection->bias;

		value += (int64_t)(k ? random_below(making->random, indirection->num_values) :
				       values[n]);
		for (uint32_t d = 0; d < job->rank; d++)
			address += (int64_t)point[d] * operand->index_address.strides[d];
		/* where no window lets it be read, an index may be outside the buffer */
		if (address >= 0 &&
		    (uint64_t)address + size <= job->buffers[operand->index_handle - 1].size)
			memcpy(job->buffers[operand->index_handle - 1].initial + address, &value,
			       size);
		for (uint32_t d = job->rank; d-- > 0; ) {
			if (!(indirection->loops >> d & 1))
				continue;
			if (++point[d] < job->extents[d])
				break;
			point[d] = 0;
		}
	}
	free(values);
}

static bool place_indices(struct making *making, uint32_t k)
{
	struct random_job *job = making->job;
	struct drm_tessera_operand *operand = &job->operands[k];
	void *const none[RANDOM_JOB_MAX_BUFFERS] = { NULL };
	struct engine_job engine_job;
	int64_t offset;

	random_job_bind(job, none, &engine_job);
	operand->index_handle = new_buffer(job) + 1;
	if (!make_room(making, operand->index_handle - 1,
		       reference_bounds_by_rule(&engine_job, k, true), &offset))
		return false;
	operand->index_address.offset = offset;
	return true;
}

/* Makes the first source the destination itself. */
static bool make_in_place(struct making *making)
{
	struct random_job *job = making->job;
	struct drm_tessera_operand *dst = &job->operands[0], *src = &job->operands[1];
	const struct indirection none = { 0 };
	struct reference_bounds stored, loaded;
	int64_t offset;

	src->address = dst->address;
	stored = reach(making, 0, &none);
	loaded = reach(making, 1, &none);
	if (stored.lowest > stored.highest)
		stored = loaded;
	if (loaded.lowest > loaded.highest)
		loaded = stored;
	if (loaded.lowest < stored.lowest)
		stored.lowest = loaded.lowest;
	if (loaded.highest > stored.highest)
		stored.highest = loaded.highest;
	dst->handle = src->handle = new_buffer(job) + 1;
	if (!make_room(making, dst->handle - 1, stored, &offset))
		return false;
	dst->address.offset = src->address.offset = offset;
	return true;
}

static void fill_buffer(struct making *making, struct random_job_buffer *buffer, uint32_t dtype)
{
	uint32_t size = random_dtype_size(dtype);

	if (!buffer->size)
		buffer->size = making->options->size_multiple;
	buffer->initial = malloc(buffer->size);
	if (!buffer->initial)
		abort();
	for (uint64_t i = 0; i < buffer->size; i++)
		buffer->initial[i] = (uint8_t)random_bits(making->random);
	for (uint64_t i = 0; i + 16 <= buffer->size; i += size) {
		uint64_t element = random_element(making->random, dtype);

		memcpy(buffer->initial + i, &element, size < 8 ? size : 8);
	}
}

/* The type that a buffer is full of: that of the first operand that is in it. */
static uint32_t dtype_in(const struct random_job *job, uint32_t buffer)
{
	for (uint32_t k = 0; k < job->num_operands; k++)
		if (job->operands[k].handle == buffer + 1)
			return job->operands[k].dtype;
	return DRM_TESSERA_DTYPE_RAW8;
}

bool random_layout(struct random *random, struct random_job *job,
		   const struct random_job_options *options)
{
	struct making making = { random, job, options, false };
	struct indirection indirections[DRM_TESSERA_MAX_OPERANDS] = { 0 };
	uint32_t all;
	bool is_in_place;

	if (options->min_points) {
		making.is_plain = random_chance(random, 60);
		make_large_extents(&making);
	} else {
		make_extents(&making);
	}
	make_windows(&making);
	all = (1u << job->rank) - 1;
	for (uint32_t k = 0; k < job->num_operands; k++) {
		struct drm_tessera_operand *operand = &job->operands[k];

		if (random_chance(random, k ? 70 : 40))
			operand->window_mask = any_mask(&making);
		if (random_chance(random, 15))
			make_indirect(&making, k, &indirections[k]);
		else if (k == 0)
			make_dense(&making, &operand->address, all,
				   random_dtype_size(operand->dtype));
		else
			make_source_address(&making, operand, all);
	}
	is_in_place = job->num_operands > 1 && !job->operands[0].flags && !job->operands[1].flags &&
		      random_dtype_size(job->operands[0].dtype) ==
		      random_dtype_size(job->operands[1].dtype) && random_chance(random, 15);
	if (is_in_place && !make_in_place(&making))
		return false;
	for (uint32_t k = is_in_place ? 2 : 0; k < job->num_operands; k++)
		if (!place_operand(&making, k, &indirections[k]))
			return false;
	for (uint32_t k = 0; k < job->num_operands; k++)
		if (job->operands[k].flags && !place_indices(&making, k))
			return false;
	for (uint32_t b = 0; b < job->num_buffers; b++)
		fill_buffer(&making, &job->buffers[b], dtype_in(job, b));
	for (uint32_t k = 0; k < job->num_operands; k++)
		if (job->operands[k].flags)
			write_indices(&making, k, &indirections[k]);
	return true;
}
