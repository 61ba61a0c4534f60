// SPDX-License-Identifier: MIT
/*
 * Turns a copy between two tensors into a job, and runs it. Knows nothing of how a job is run.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "lower/copy.h"

static void drop_loop(struct lower_copy *copy, uint32_t loop)
{
	size_t num_after = copy->rank - loop - 1;

	memmove(&copy->extents[loop], &copy->extents[loop + 1],
		num_after * sizeof(copy->extents[0]));
	memmove(&copy->dst_strides[loop], &copy->dst_strides[loop + 1],
		num_after * sizeof(copy->dst_strides[0]));
	memmove(&copy->src_strides[loop], &copy->src_strides[loop + 1],
		num_after * sizeof(copy->src_strides[0]));
	copy->rank--;
	copy->extents[copy->rank] = 0;
	copy->dst_strides[copy->rank] = 0;
	copy->src_strides[copy->rank] = 0;
}

static bool is_empty(const struct lower_copy *copy)
{
	for (uint32_t i = 0; i < copy->rank; i++) {
		if (!copy->extents[i])
			return true;
	}
	return false;
}

static void turn_upwards(struct lower_copy *copy, uint32_t loop)
{
	int64_t last = (int64_t)copy->extents[loop] - 1;

	if (copy->dst_strides[loop] >= 0)
		return;
	copy->dst_offset += last * copy->dst_strides[loop];
	copy->src_offset += last * copy->src_strides[loop];
	copy->dst_strides[loop] = -copy->dst_strides[loop];
	copy->src_strides[loop] = -copy->src_strides[loop];
}

static uint64_t magnitude(int64_t value)
{
	return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

static bool is_outer(const struct lower_copy *copy, uint32_t a, uint32_t b)
{
	if (copy->dst_strides[a] != copy->dst_strides[b])
		return copy->dst_strides[a] > copy->dst_strides[b];
	return magnitude(copy->src_strides[a]) > magnitude(copy->src_strides[b]);
}

static void swap_loops(struct lower_copy *copy, uint32_t a, uint32_t b)
{
	uint64_t extent = copy->extents[a];
	int64_t dst_stride = copy->dst_strides[a];
	int64_t src_stride = copy->src_strides[a];

	copy->extents[a] = copy->extents[b];
	copy->dst_strides[a] = copy->dst_strides[b];
	copy->src_strides[a] = copy->src_strides[b];
	copy->extents[b] = extent;
	copy->dst_strides[b] = dst_stride;
	copy->src_strides[b] = src_stride;
}

/* Insertion: there are few loops, and equal ones keep their order. */
static void sort_loops(struct lower_copy *copy)
{
	for (uint32_t i = 1; i < copy->rank; i++) {
		for (uint32_t j = i; j && is_outer(copy, j, j - 1); j--)
			swap_loops(copy, j, j - 1);
	}
}

static bool runs_on(int64_t outer_stride, uint64_t inner_extent, int64_t inner_stride)
{
	int64_t run;

	return !__builtin_mul_overflow((int64_t)inner_extent, inner_stride, &run) &&
	       run == outer_stride;
}

static bool merge_with_inner(struct lower_copy *copy, uint32_t loop)
{
	uint64_t inner_extent = copy->extents[loop + 1];
	uint64_t extent;

	if (!runs_on(copy->dst_strides[loop], inner_extent, copy->dst_strides[loop + 1]) ||
	    !runs_on(copy->src_strides[loop], inner_extent, copy->src_strides[loop + 1]) ||
	    __builtin_mul_overflow(copy->extents[loop], inner_extent, &extent) ||
	    extent > INT64_MAX)
		return false;
	copy->extents[loop + 1] = extent;
	drop_loop(copy, loop);
	return true;
}

void lower_copy_canonicalize(struct lower_copy *copy)
{
	if (is_empty(copy)) {
		memset(copy->extents, 0, sizeof(copy->extents));
		memset(copy->dst_strides, 0, sizeof(copy->dst_strides));
		memset(copy->src_strides, 0, sizeof(copy->src_strides));
		copy->rank = 1;
		copy->dst_offset = 0;
		copy->src_offset = 0;
		return;
	}
	for (uint32_t i = copy->rank; i--;) {
		if (copy->extents[i] == 1)
			drop_loop(copy, i);
		else
			turn_upwards(copy, i);
	}
	sort_loops(copy);
	for (uint32_t i = copy->rank; i-- > 1;)
		merge_with_inner(copy, i - 1);
}

static bool is_raw(enum accel_dtype dtype)
{
	return dtype >= ACCEL_DTYPE_RAW8;
}

static int check_tensors(const struct accel_tensor *dst, const struct accel_tensor *src,
			 struct accel_error *error)
{
	enum accel_dtype dst_dtype = accel_tensor_dtype(dst);
	enum accel_dtype src_dtype = accel_tensor_dtype(src);
	const int64_t *dst_shape = accel_tensor_shape(dst);
	const int64_t *src_shape = accel_tensor_shape(src);

	if (accel_dtype_size(dst_dtype) != accel_dtype_size(src_dtype) ||
	    (dst_dtype != src_dtype && !is_raw(dst_dtype) && !is_raw(src_dtype)))
		return accel_error_set(error, -EINVAL,
			"copy: the destination has elements of %s, the source of %s; expected the "
			"same, or a raw type of the same size",
			accel_dtype_name(dst_dtype), accel_dtype_name(src_dtype));
	if (accel_tensor_rank(dst) != accel_tensor_rank(src))
		return accel_error_set(error, -EINVAL,
			"copy: the destination has %u axes, the source %u; expected the same shape",
			accel_tensor_rank(dst), accel_tensor_rank(src));
	for (uint32_t i = 0; i < accel_tensor_rank(dst); i++) {
		if (dst_shape[i] != src_shape[i])
			return accel_error_set(error, -EINVAL,
				"copy: axis %u has %" PRId64 " elements in the destination and %"
				PRId64 " in the source; expected the same shape",
				i, dst_shape[i], src_shape[i]);
	}
	return 0;
}

/* In bytes: nothing overflows, as every axis with more than one element lies in its buffer. */
static void describe_copy(const struct accel_tensor *dst, const struct accel_tensor *src,
			  struct lower_copy *copy)
{
	int64_t size = (int64_t)accel_dtype_size(accel_tensor_dtype(dst));

	memset(copy, 0, sizeof(*copy));
	for (uint32_t i = 0; i < accel_tensor_rank(dst); i++) {
		int64_t extent = accel_tensor_shape(dst)[i];

		if (extent == 1)
			continue;
		copy->extents[copy->rank] = (uint64_t)extent;
		if (accel_tensor_num_elements(dst)) {
			copy->dst_strides[copy->rank] = accel_tensor_strides(dst)[i] * size;
			copy->src_strides[copy->rank] = accel_tensor_strides(src)[i] * size;
		}
		copy->rank++;
	}
	if (accel_tensor_num_elements(dst)) {
		copy->dst_offset = accel_tensor_offset(dst) * size;
		copy->src_offset = accel_tensor_offset(src) * size;
	}
}

static int add_operands(struct accel_job *job, const struct lower_copy *copy,
			const struct accel_tensor *dst, const struct accel_tensor *src,
			struct accel_error *error)
{
	struct accel_operand destination = {
		.buffer = accel_tensor_buffer(dst),
		.dtype = accel_tensor_dtype(dst),
		.address.offset = copy->dst_offset,
	};
	struct accel_operand source = {
		.buffer = accel_tensor_buffer(src),
		.dtype = accel_tensor_dtype(src),
		.address.offset = copy->src_offset,
	};
	int ret;

	memcpy(destination.address.strides, copy->dst_strides, sizeof(destination.address.strides));
	memcpy(source.address.strides, copy->src_strides, sizeof(source.address.strides));
	ret = accel_job_set_destination(job, &destination, error);
	if (ret)
		return ret;
	return accel_job_add_source(job, &source, error);
}

ACCEL_API int accel_job_create_copy(struct accel_tensor *dst, struct accel_tensor *src,
				    struct accel_job **job, struct accel_error *error)
{
	struct lower_copy copy;
	int ret;

	*job = NULL;
	ret = check_tensors(dst, src, error);
	if (ret)
		return ret;
	describe_copy(dst, src, &copy);
	lower_copy_canonicalize(&copy);
	if (copy.rank > ACCEL_MAX_RANK)
		return accel_error_set(error, -E2BIG,
				       "copy: it needs %u loops, a job has at most %u",
				       copy.rank, ACCEL_MAX_RANK);
	ret = accel_job_create(copy.rank, copy.extents, job, error);
	if (ret)
		return ret;
	ret = add_operands(*job, &copy, dst, src, error);
	if (ret) {
		accel_job_unref(*job);
		*job = NULL;
	}
	return ret;
}

ACCEL_API int accel_copy_async(struct accel_tensor *dst, struct accel_tensor *src,
			       struct accel_fence **fence, struct accel_error *error)
{
	struct accel_job *job;
	int ret;

	if (fence)
		*fence = NULL;
	ret = accel_job_create_copy(dst, src, &job, error);
	if (ret)
		return ret;
	ret = accel_submit(accel_buffer_device(accel_tensor_buffer(dst)), &job, 1, NULL, 0, fence,
			   error);
	accel_job_unref(job);
	return ret;
}

ACCEL_API int accel_copy(struct accel_tensor *dst, struct accel_tensor *src,
			 struct accel_error *error)
{
	struct accel_fence *fence;
	int ret = accel_copy_async(dst, src, &fence, error);

	if (ret)
		return ret;
	ret = accel_fence_wait(fence, -1, error);
	accel_fence_unref(fence);
	return ret;
}
