// SPDX-License-Identifier: MIT
/*
 * Distributions: made, and looked into. Which elements a PE has is partition.c's to find; where in
 * its memory they are is that of a tensor's layout. Moves nothing.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "error.h"
#include "grid/distribution.h"
#include "tensor/tensor.h"

static struct accel_distribution *new_distribution(struct accel_device *device,
						   struct accel_error *error)
{
	struct accel_distribution *distribution = calloc(1, sizeof(*distribution));

	if (!distribution) {
		accel_error_set(error, -ENOMEM, "distribution: out of memory");
		return NULL;
	}
	atomic_init(&distribution->refs, 1);
	distribution->device = accel_device_ref(device);
	return distribution;
}

/*
 * How far a part reaches from its first element. False if its physical axes are not nested, each
 * with steps that are longer than all that those with shorter steps reach together.
 */
static bool find_reach(const struct accel_layout_description *description, int64_t *reach)
{
	const int64_t *strides = description->strides;
	uint32_t axes[ACCEL_MAX_PHYSICAL_DIMS], count = 0;

	for (uint32_t k = 1; k < description->physical_rank; k++) {
		uint32_t at;

		if (description->physical_shape[k] == 1)
			continue;
		for (at = count++; at && strides[axes[at - 1]] > strides[k]; at--)
			axes[at] = axes[at - 1];
		axes[at] = k;
	}
	*reach = 0;
	for (uint32_t k = 0; k < count; k++) {
		int64_t length;

		if (strides[axes[k]] <= *reach ||
		    __builtin_mul_overflow(description->physical_shape[axes[k]] - 1,
					   strides[axes[k]], &length) ||
		    __builtin_add_overflow(*reach, length, reach))
			return false;
	}
	return true;
}

/*
 * Finds out how far parts are from each other: a step of the first physical axis, within which all
 * others stay.
 */
static int measure_part(const struct accel_layout_description *description, int64_t *part_elements,
			struct accel_error *error)
{
	int64_t reach;

	if (!find_reach(description, &reach))
		return accel_error_set(error, -EINVAL,
				       "distribution: the layout's physical axes are expected to "
				       "be nested in memory, so that none leads to where another "
				       "does");
	if (!description->physical_rank || description->offset < 0 ||
	    __builtin_add_overflow(reach, description->offset, &reach) ||
	    reach >= description->strides[0])
		return accel_error_set(error, -EINVAL,
				       "distribution: the layout's first physical axis, which is "
				       "the PE, is expected to be the outermost in memory");
	*part_elements = description->strides[0];
	return 0;
}

static int check_injective(struct accel_map *map, uint32_t rank, const int64_t *shape,
			   struct accel_error *error)
{
	struct accel_map_analysis analysis;
	int ret = accel_map_analyze(map, rank, shape, &analysis, error);

	if (ret)
		return ret;
	if (analysis.injective == ACCEL_ANSWER_NO)
		ret = accel_error_set(error, -EDOM,
				      "distribution: two elements are at the same place");
	accel_map_analysis_release(&analysis);
	return ret;
}

/* The layout over the memory of all PEs, and who has what of it. */
static int lay_out(struct accel_distribution *distribution, enum accel_dtype dtype, uint32_t rank,
		   const int64_t *shape, struct accel_layout *layout, struct accel_error *error)
{
	struct accel_layout_description description;
	struct accel_device_info info;
	struct accel_map *map;
	int ret;

	accel_device_info(distribution->device, &info);
	ret = tensor_describe(dtype, rank, shape, layout, &distribution->tensor, error);
	if (!ret)
		ret = accel_layout_describe(layout, dtype, rank, shape, &description, error);
	if (ret)
		return ret;
	if (accel_tensor_num_elements(distribution->tensor)) {
		ret = measure_part(&description, &distribution->part_elements, error);
		if (ret)
			return ret;
	}
	ret = accel_layout_map(layout, dtype, rank, shape, &map, error);
	if (ret)
		return ret;
	ret = check_injective(map, rank, shape, error);
	if (!ret)
		ret = partition_create(map, shape, info.num_queues, &distribution->partition,
				       error);
	accel_map_unref(map);
	return ret;
}

static int allocate_parts(struct accel_distribution *distribution, struct accel_error *error)
{
	const struct partition *partition = &distribution->partition;
	/* does not overflow: the bytes of all parts together fit 63 bits */
	uint64_t size = (uint64_t)distribution->part_elements *
			accel_dtype_size(accel_tensor_dtype(distribution->tensor));
	int ret = 0;

	for (uint32_t pe = 0; pe < partition->num_pes && partition->num_pieces && !ret; pe++) {
		if (partition->starts[pe] == partition->starts[pe + 1])
			continue;
		ret = accel_buffer_create_sram(distribution->device, pe, size,
					       &distribution->buffers[pe], error);
	}
	return ret;
}

ACCEL_API int accel_distribution_create(struct accel_device *device, enum accel_dtype dtype,
					uint32_t rank, const int64_t *shape,
					struct accel_layout *layout,
					struct accel_distribution **result,
					struct accel_error *error)
{
	struct accel_distribution *distribution = new_distribution(device, error);
	int ret;

	*result = NULL;
	if (!distribution)
		return -ENOMEM;
	ret = lay_out(distribution, dtype, rank, shape, layout, error);
	if (!ret)
		ret = allocate_parts(distribution, error);
	if (ret) {
		accel_distribution_unref(distribution);
		return ret;
	}
	*result = distribution;
	return 0;
}

ACCEL_API int accel_distribution_from_tensor(struct accel_tensor *tensor,
					     struct accel_distribution **result,
					     struct accel_error *error)
{
	struct accel_device *device = accel_buffer_device(accel_tensor_buffer(tensor));
	struct accel_distribution *distribution = new_distribution(device, error);
	int ret;

	*result = NULL;
	if (!distribution)
		return -ENOMEM;
	distribution->is_whole = true;
	distribution->tensor = accel_tensor_ref(tensor);
	ret = partition_create_whole(accel_tensor_rank(tensor), accel_tensor_shape(tensor),
				     &distribution->partition, error);
	if (ret) {
		accel_distribution_unref(distribution);
		return ret;
	}
	*result = distribution;
	return 0;
}

ACCEL_API struct accel_distribution *accel_distribution_ref(
		struct accel_distribution *distribution)
{
	atomic_fetch_add_explicit(&distribution->refs, 1, memory_order_relaxed);
	return distribution;
}

ACCEL_API void accel_distribution_unref(struct accel_distribution *distribution)
{
	/* acq_rel: whoever frees sees what all others did to the object before they let go */
	if (!distribution ||
	    atomic_fetch_sub_explicit(&distribution->refs, 1, memory_order_acq_rel) != 1)
		return;
	for (uint32_t pe = 0; pe < ACCEL_MAX_PES; pe++)
		accel_buffer_unref(distribution->buffers[pe]);
	partition_release(&distribution->partition);
	accel_tensor_unref(distribution->tensor);
	accel_device_unref(distribution->device);
	free(distribution);
}

uint32_t distribution_pe(const struct accel_distribution *distribution, const struct piece *piece)
{
	if (distribution->is_whole)
		return accel_buffer_pe(accel_tensor_buffer(distribution->tensor));
	return piece->pe;
}

ACCEL_API struct accel_buffer *accel_distribution_buffer(
		const struct accel_distribution *distribution, uint32_t pe)
{
	struct accel_buffer *whole = accel_tensor_buffer(distribution->tensor);

	if (distribution->is_whole)
		return accel_buffer_pe(whole) == pe ? whole : NULL;
	return pe < ACCEL_MAX_PES ? distribution->buffers[pe] : NULL;
}

/* Views ---------------------------------------------------------------------------------------- */

/* The elements with these indices. */
static int slice(struct accel_tensor *tensor, const struct piece *piece,
		 struct accel_tensor **result, struct accel_error *error)
{
	struct accel_tensor *view = accel_tensor_ref(tensor);

	*result = NULL;
	for (uint32_t d = 0; d < accel_tensor_rank(tensor); d++) {
		const struct progression *axis = &piece->axes[d];
		int64_t end = axis->first + (axis->count - 1) * axis->step + 1;
		struct accel_tensor *narrowed;
		int ret = accel_tensor_slice(view, d, axis->first, end, axis->step, &narrowed,
					     error);

		accel_tensor_unref(view);
		if (ret)
			return ret;
		view = narrowed;
	}
	*result = view;
	return 0;
}

int distribution_view(const struct accel_distribution *distribution, const struct piece *piece,
		      const struct piece *common, struct accel_tensor **view,
		      struct accel_error *error)
{
	struct accel_tensor *described;
	int ret;

	*view = NULL;
	if (distribution->is_whole)
		return slice(distribution->tensor, common, view, error);
	ret = slice(distribution->tensor, common, &described, error);
	if (ret)
		return ret;
	/* does not overflow: it is an element of what the tensor describes */
	ret = tensor_attach(described, distribution->buffers[piece->pe],
			    distribution->part_elements * piece->pe, view, error);
	accel_tensor_unref(described);
	return ret;
}
