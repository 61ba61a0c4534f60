// SPDX-License-Identifier: MIT
/*
 * Copies in tiles: through two buffers of on-chip memory, in the orders that the caller chooses. A
 * tile and a sub-tile are views, and what is done with them are copies; here is which comes when,
 * on which queue, and what it waits for: a tile at a time, or all of them prepared.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "device/counters.h"
#include "device/submission.h"
#include "error.h"
#include "grid/batch.h"
#include "grid/walk.h"
#include "lower/copy.h"
#include "tensor/tensor.h"

/* Tiles whose fences are kept: they are waited for before others are submitted. */
#define MAX_PENDING	16

struct pending {
	struct accel_fence *load;
	struct accel_fence *store;
};

struct run {
	struct accel_tensor *dst, *src;
	const struct accel_tiling *tiling;
	struct accel_device_info device;
	struct walk tiles;
	uint32_t suborder[ACCEL_MAX_DIMS];
	int64_t subtile[ACCEL_MAX_DIMS];
	int64_t strides[ACCEL_MAX_DIMS];	/* of a tile, where it has no layout */
	struct accel_buffer *buffers[2];
	struct pending pending[MAX_PENDING];	/* tile t is at t % MAX_PENDING */
	struct accel_tiling_info info;
	struct accel_error *error;
};

/* Arguments ------------------------------------------------------------------------------------ */

static int take_order(struct run *run, const char *name, const uint32_t *order, uint32_t *result)
{
	uint32_t rank = run->tiles.rank, seen = 0;

	for (uint32_t k = 0; k < rank; k++) {
		uint32_t axis = order ? order[k] : k;

		if (axis >= rank || seen & 1u << axis)
			return accel_error_set(run->error, -EINVAL,
					       "tiling: axis %u in the %s, expected each of 0 to "
					       "%u once", axis, name, rank - 1);
		seen |= 1u << axis;
		result[k] = axis;
	}
	return 0;
}

/* Extents of blocks, none larger than what they are cut from. */
static int take_extents(struct run *run, const char *name, const int64_t *extents,
			const int64_t *whole, int64_t *result)
{
	for (uint32_t d = 0; d < run->tiles.rank; d++) {
		if (extents && extents[d] < 1)
			return accel_error_set(run->error, -EINVAL,
					       "tiling: extent %" PRId64 " of a %s on axis %u, "
					       "expected 1 or more", extents[d], name, d);
		result[d] = extents && extents[d] < whole[d] ? extents[d] : whole[d];
	}
	return 0;
}

static int take_arguments(struct run *run)
{
	const struct accel_tiling *tiling = run->tiling;
	struct walk *tiles = &run->tiles;
	int ret = copy_check(run->dst, run->src, run->error);

	if (ret)
		return ret;
	tiles->rank = accel_tensor_rank(run->src);
	memcpy(tiles->shape, accel_tensor_shape(run->src), tiles->rank * sizeof(tiles->shape[0]));
	ret = take_order(run, "order of tiles", tiling->order, tiles->order);
	if (!ret)
		ret = take_order(run, "order of sub-tiles", tiling->suborder, run->suborder);
	if (!ret)
		ret = take_extents(run, "tile", tiling->tile, tiles->shape, tiles->block);
	if (!ret)
		ret = take_extents(run, "sub-tile", tiling->subtile, tiles->block, run->subtile);
	return ret;
}

/* On-chip memory ------------------------------------------------------------------------------- */

/*
 * The axes of a tile are in memory as those of the source, which is nested best so. Returns how
 * many elements it has.
 */
static int64_t find_strides(struct run *run)
{
	const int64_t *strides = accel_tensor_strides(run->src);
	uint32_t axes[ACCEL_MAX_DIMS], rank = run->tiles.rank;
	int64_t num_elements = 1;

	for (uint32_t k = 0; k < rank; k++) {
		uint32_t at = k;

		for (; strides && at && llabs(strides[axes[at - 1]]) < llabs(strides[k]); at--)
			axes[at] = axes[at - 1];
		axes[at] = k;
	}
	/* they fit 63 bits: they are no more than those of the source */
	for (uint32_t k = rank; k--;) {
		run->strides[axes[k]] = num_elements;
		num_elements *= run->tiles.block[axes[k]];
	}
	return num_elements;
}

static int measure_tile(struct run *run, uint64_t *bytes)
{
	enum accel_dtype dtype = accel_tensor_dtype(run->src);
	struct accel_layout_description description;
	int64_t size;
	int ret;

	if (!run->tiling->layout) {
		if (__builtin_mul_overflow(find_strides(run), (int64_t)accel_dtype_size(dtype),
					   &size))
			return accel_error_set(run->error, -EOVERFLOW,
					       "tiling: the bytes of a tile do not fit 63 bits");
		*bytes = (uint64_t)size;
		return 0;
	}
	ret = accel_layout_describe(run->tiling->layout, dtype, run->tiles.rank, run->tiles.block,
				    &description, run->error);
	if (!ret)
		*bytes = (uint64_t)description.bytes;
	return ret;
}

static int allocate_tiles(struct run *run, struct accel_device *device)
{
	uint64_t bytes = 0;
	int ret = measure_tile(run, &bytes);

	if (ret)
		return ret;
	run->info.tile_bytes = bytes;
	if (bytes > run->device.sram_size / 2)
		return accel_error_set(run->error, -ENOSPC,
				       "tiling: two tiles of %" PRIu64 " bytes, expected at most %"
				       PRIu64 " together, the memory of a PE of %s", bytes,
				       run->device.sram_size, run->device.name);
	for (int k = 0; k < 2 && !ret; k++)
		ret = accel_buffer_create_sram(device, run->tiling->pe, bytes, &run->buffers[k],
					       run->error);
	return ret;
}

/* The tile that is next, as a tensor of its extents in one of the buffers. */
static int tile_tensor(struct run *run, struct accel_tensor **tile)
{
	struct accel_buffer *buffer = run->buffers[run->info.num_tiles % 2];
	enum accel_dtype dtype = accel_tensor_dtype(run->src);
	int64_t extents[ACCEL_MAX_DIMS];

	walk_extents(&run->tiles, extents);
	if (run->tiling->layout)
		return accel_tensor_from_layout(buffer, dtype, run->tiles.rank, extents,
						run->tiling->layout, 0, tile, run->error);
	return accel_tensor_from_buffer(buffer, dtype, run->tiles.rank, extents, run->strides, 0,
					tile, run->error);
}

/* Jobs ----------------------------------------------------------------------------------------- */

struct job_list {
	uint32_t count;
	struct accel_job *jobs[ACCEL_MAX_JOBS];
};

static void release_jobs(struct job_list *list)
{
	for (uint32_t k = 0; k < list->count; k++)
		accel_job_unref(list->jobs[k]);
	list->count = 0;
}

/* Copies the block of one tensor that is next in a walk to that of another, in its order. */
static int add_copy(struct run *run, struct job_list *list, const struct walk *to,
		    struct accel_tensor *dst, const struct walk *from, struct accel_tensor *src)
{
	struct accel_tensor *dst_view, *src_view = NULL;
	struct plan_binding binding = { 0 };
	int ret = walk_view(to, dst, &dst_view, run->error);

	if (!ret)
		ret = walk_view(from, src, &src_view, run->error);
	if (!ret)
		ret = copy_bind(dst_view, src_view, true, &binding, run->error);
	if (!ret && binding.num_jobs > run->device.max_jobs - list->count)
		ret = accel_error_set(run->error, -E2BIG,
				      "tiling: the sub-tiles of a tile need more than %u jobs, the "
				      "most of a submission", run->device.max_jobs);
	for (uint32_t k = 0; !ret && k < binding.num_jobs; k++)
		list->jobs[list->count++] = accel_job_ref(binding.jobs[k]);
	plan_binding_release(&binding);
	accel_tensor_unref(src_view);
	accel_tensor_unref(dst_view);
	return ret;
}

/* A walk over all of the tile that is next at once. */
static struct walk walk_tile(const struct run *run)
{
	struct walk walk = run->tiles;

	walk_extents(&run->tiles, walk.shape);
	memcpy(walk.block, walk.shape, sizeof(walk.block));
	memset(walk.first, 0, sizeof(walk.first));
	return walk;
}

static int add_load(struct run *run, struct job_list *list, struct accel_tensor *tile)
{
	struct walk whole = walk_tile(run);

	return add_copy(run, list, &whole, tile, &run->tiles, run->src);
}

static int add_stores(struct run *run, struct job_list *list, struct accel_tensor *tile)
{
	struct walk inside = walk_tile(run), outside;
	int ret;

	memcpy(inside.block, run->subtile, sizeof(inside.block));
	memcpy(inside.order, run->suborder, sizeof(inside.order));
	outside = inside;
	memcpy(outside.shape, run->tiles.shape, sizeof(outside.shape));
	do {
		walk_extents(&inside, outside.block);
		for (uint32_t d = 0; d < inside.rank; d++)
			outside.first[d] = run->tiles.first[d] + inside.first[d];
		ret = add_copy(run, list, &outside, run->dst, &inside, tile);
		run->info.num_subtiles++;
	} while (!ret && walk_next(&inside));
	return ret;
}

/* The order of things -------------------------------------------------------------------------- */

/* Adds up what the device tells of jobs that are complete. */
static void add_results(struct accel_fence *fence, uint64_t *device_ns,
			struct accel_job_counters *sum)
{
	struct accel_job_counters counters;
	struct accel_job_result result;

	for (uint32_t k = 0; !accel_fence_job_result(fence, k, &result, NULL); k++) {
		*device_ns += result.device_ns;
		if (!accel_fence_job_counters(fence, k, &counters, NULL))
			counters_add(sum, &counters);
	}
}

/* Waits for what was submitted with a fence, which goes. */
static int finish(struct accel_fence **fence, uint64_t *device_ns,
		  struct accel_job_counters *sum, struct accel_error *error)
{
	int ret;

	if (!*fence)
		return 0;
	ret = accel_fence_wait(*fence, -1, error);
	add_results(*fence, device_ns, sum);
	accel_fence_unref(*fence);
	*fence = NULL;
	return ret;
}

static int finish_tile(struct run *run, struct pending *pending, struct accel_error *error)
{
	struct accel_tiling_info *info = &run->info;
	int ret = finish(&pending->load, &info->load_ns, &info->loads, error);
	int failure = finish(&pending->store, &info->store_ns, &info->stores, ret ? NULL : error);

	return ret ? ret : failure;
}

static int submit(struct run *run, uint32_t queue, struct job_list *list,
		  struct accel_fence *const *in_fences, size_t num_in_fences,
		  struct accel_fence **fence)
{
	struct accel_device *device = accel_buffer_device(run->buffers[0]);

	run->info.num_jobs += list->count;
	return accel_submit_to(device, queue, list->jobs, list->count, in_fences, num_in_fences,
			       fence, run->error);
}

/* A load waits for the store that had its buffer before, a store for its load. */
static int run_tile(struct run *run, struct job_list *list, struct accel_fence *const *in_fences,
		    size_t num_in_fences)
{
	uint64_t number = run->info.num_tiles;
	struct pending *pending = &run->pending[number % MAX_PENDING];
	struct pending *before = &run->pending[(number + MAX_PENDING - 2) % MAX_PENDING];
	bool is_first = number < 2;
	struct accel_tensor *tile;
	int ret = finish_tile(run, pending, run->error);

	if (!ret)
		ret = tile_tensor(run, &tile);
	if (ret)
		return ret;
	ret = add_load(run, list, tile);
	if (!ret)
		ret = submit(run, run->tiling->load_queue, list,
			     is_first ? in_fences : &before->store, is_first ? num_in_fences : 1,
			     &pending->load);
	release_jobs(list);
	if (!ret)
		ret = add_stores(run, list, tile);
	if (!ret)
		ret = submit(run, run->tiling->pe, list, &pending->load, 1, &pending->store);
	release_jobs(list);
	accel_tensor_unref(tile);
	run->info.num_tiles++;
	return ret;
}

static int run_tiles(struct run *run, struct accel_fence *const *in_fences, size_t num_in_fences)
{
	struct job_list *list = calloc(1, sizeof(*list));
	uint64_t number;
	int ret;

	if (!list)
		return accel_error_set(run->error, -ENOMEM, "tiling: out of memory");
	do {
		ret = run_tile(run, list, in_fences, num_in_fences);
	} while (!ret && walk_next(&run->tiles));
	free(list);
	/* nothing is under way when this returns, whatever failed first */
	number = run->info.num_tiles;
	for (uint32_t k = 0; k < MAX_PENDING; k++) {
		struct pending *pending = &run->pending[(number + k) % MAX_PENDING];
		int failure = finish_tile(run, pending, ret ? NULL : run->error);

		ret = ret ? ret : failure;
	}
	return ret;
}

/* Checks what is given, and takes on-chip memory, unless there are no elements. */
static int begin(struct run *run, struct accel_tensor *dst, struct accel_tensor *src,
		 const struct accel_tiling *tiling, struct accel_error *error)
{
	struct accel_device *device = accel_buffer_device(accel_tensor_buffer(src));
	int ret;

	*run = (struct run){ .dst = dst, .src = src, .tiling = tiling, .error = error };
	accel_device_info(device, &run->device);
	if (device != accel_buffer_device(accel_tensor_buffer(dst)))
		return accel_error_set(error, -EXDEV,
				       "tiling: the tensors are on different devices");
	ret = take_arguments(run);
	if (!ret && accel_tensor_num_elements(src))
		ret = allocate_tiles(run, device);
	return ret;
}

static void end(struct run *run)
{
	accel_buffer_unref(run->buffers[0]);
	accel_buffer_unref(run->buffers[1]);
}

ACCEL_API int accel_copy_tiled(struct accel_tensor *dst, struct accel_tensor *src,
			       const struct accel_tiling *tiling,
			       struct accel_fence *const *in_fences, size_t num_in_fences,
			       struct accel_tiling_info *info, struct accel_error *error)
{
	struct run run;
	int ret = begin(&run, dst, src, tiling, error);

	if (!ret && accel_tensor_num_elements(src))
		ret = run_tiles(&run, in_fences, num_in_fences);
	end(&run);
	if (!ret && info)
		*info = run.info;
	return ret;
}

/* Prepared ------------------------------------------------------------------------------------- */

struct accel_tiled_copy {
	atomic_uint refs;
	struct batch batch;			/* of each tile its load, then its stores */
	struct accel_tiling_info info;		/* without what the device tells */
};

/* Jobs become a submission, and are let go. */
static int add_to_batch(struct run *run, struct accel_tiled_copy *copy, uint32_t queue,
			struct job_list *list)
{
	int ret = 0;

	run->info.num_jobs += list->count;
	if (run->info.num_jobs > ACCEL_TILED_COPY_MAX_JOBS)
		ret = accel_error_set(run->error, -E2BIG, "tiling: it needs more than %d jobs",
				      ACCEL_TILED_COPY_MAX_JOBS);
	if (!ret)
		ret = batch_add(&copy->batch, accel_buffer_device(run->buffers[0]), queue,
				list->jobs, list->count, run->error);
	release_jobs(list);
	return ret;
}

static int prepare_tile(struct run *run, struct accel_tiled_copy *copy, struct job_list *list)
{
	struct accel_tensor *tile;
	int ret = tile_tensor(run, &tile);

	if (ret)
		return ret;
	ret = add_load(run, list, tile);
	if (!ret)
		ret = add_to_batch(run, copy, run->tiling->load_queue, list);
	if (!ret)
		ret = add_stores(run, list, tile);
	if (!ret)
		ret = add_to_batch(run, copy, run->tiling->pe, list);
	release_jobs(list);
	accel_tensor_unref(tile);
	run->info.num_tiles++;
	return ret;
}

static int prepare_tiles(struct run *run, struct accel_tiled_copy *copy)
{
	struct job_list *list = calloc(1, sizeof(*list));
	int ret;

	if (!list)
		return accel_error_set(run->error, -ENOMEM, "tiling: out of memory");
	do {
		ret = prepare_tile(run, copy, list);
	} while (!ret && walk_next(&run->tiles));
	free(list);
	return ret;
}

ACCEL_API int accel_tiled_copy_create(struct accel_tensor *dst, struct accel_tensor *src,
				      const struct accel_tiling *tiling,
				      struct accel_tiled_copy **result, struct accel_error *error)
{
	struct accel_tiled_copy *copy = calloc(1, sizeof(*copy));
	struct run run;
	int ret;

	*result = NULL;
	if (!copy)
		return accel_error_set(error, -ENOMEM, "tiling: out of memory");
	atomic_init(&copy->refs, 1);
	copy->batch.name = "tiling";
	ret = begin(&run, dst, src, tiling, error);
	if (!ret && accel_tensor_num_elements(src))
		ret = prepare_tiles(&run, copy);
	end(&run);
	copy->info = run.info;
	if (ret) {
		accel_tiled_copy_unref(copy);
		return ret;
	}
	*result = copy;
	return 0;
}

ACCEL_API struct accel_tiled_copy *accel_tiled_copy_ref(struct accel_tiled_copy *copy)
{
	atomic_fetch_add_explicit(&copy->refs, 1, memory_order_relaxed);
	return copy;
}

ACCEL_API void accel_tiled_copy_unref(struct accel_tiled_copy *copy)
{
	/* acq_rel: whoever frees sees what all others did to the object before they let go */
	if (!copy || atomic_fetch_sub_explicit(&copy->refs, 1, memory_order_acq_rel) != 1)
		return;
	batch_release(&copy->batch);
	free(copy);
}

/* As run_tile(): number 2 * t of the batch is the load of tile t, the next are its stores. */
ACCEL_API int accel_tiled_copy_submit(struct accel_tiled_copy *copy,
				      struct accel_fence *const *in_fences, size_t num_in_fences,
				      struct accel_error *error)
{
	struct batch *batch = &copy->batch;
	int ret = batch_begin(batch, error);

	while (!ret && batch->num_submitted < batch->count) {
		size_t number = batch->num_submitted;
		bool is_load = number % 2 == 0;
		struct accel_fence *before;

		if (is_load && number < 4) {
			ret = batch_submit_next(batch, in_fences, num_in_fences, error);
			continue;
		}
		number -= is_load ? 3 : 1;
		before = submission_borrow_fence(batch->entries[number].submission);
		ret = batch_submit_next(batch, &before, 1, error);
	}
	return ret;
}

ACCEL_API int accel_tiled_copy_wait(struct accel_tiled_copy *copy, int64_t timeout_ns,
				    struct accel_error *error)
{
	return batch_wait(&copy->batch, timeout_ns, error);
}

ACCEL_API int accel_tiled_copy_fence(struct accel_tiled_copy *copy, struct accel_fence **fence,
				     struct accel_error *error)
{
	const struct batch *batch = &copy->batch;

	*fence = NULL;
	if (!batch->count || batch->num_submitted < batch->count)
		return accel_error_set(error, -ENOENT, "tiling: nothing was submitted");
	return submission_fence(batch->entries[batch->count - 1].submission, fence, error);
}

ACCEL_API void accel_tiled_copy_info(const struct accel_tiled_copy *copy,
				     struct accel_tiling_info *info)
{
	const struct batch *batch = &copy->batch;

	*info = copy->info;
	for (size_t k = 0; k < batch->num_submitted; k++) {
		struct accel_fence *fence = submission_borrow_fence(batch->entries[k].submission);

		if (k % 2)
			add_results(fence, &info->store_ns, &info->stores);
		else
			add_results(fence, &info->load_ns, &info->loads);
	}
}
