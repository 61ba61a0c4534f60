// SPDX-License-Identifier: MIT
/*
 * Copies from one tensor to another of the same shape: a nest over the axes of both, planned, bound
 * and run. Knows nothing of how a job is run.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "error.h"
#include "lower/address.h"
#include "lower/copy.h"
#include "tensor/tensor.h"

static bool is_raw(enum accel_dtype dtype)
{
	return dtype >= ACCEL_DTYPE_RAW8;
}

int copy_check(const struct accel_tensor *dst, const struct accel_tensor *src,
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

/* The axes of a copy, by the names i0, i1, .. */
struct copy_axes {
	uint32_t rank;
	struct accel_expression *indices[ACCEL_MAX_DIMS];
	struct variable_bounds variables[ACCEL_MAX_DIMS];
	struct bounds bounds;
};

static int begin_axes(struct copy_axes *axes, const struct accel_tensor *tensor,
		      struct lower_nest *nest, struct accel_error *error)
{
	axes->rank = accel_tensor_rank(tensor);
	axes->bounds = (struct bounds){ axes->rank, axes->variables };
	nest->num_axes = axes->rank;
	for (uint32_t i = 0; i < axes->rank; i++) {
		struct lower_axis *axis = &nest->axes[i];
		int length = snprintf(axis->name, sizeof(axis->name), "i%u", i);

		axis->extent = accel_tensor_shape(tensor)[i];
		axes->variables[i] = (struct variable_bounds){
			.name = axis->name, .interval = { 0, axis->extent ? axis->extent - 1 : 0 }
		};
		axes->indices[i] = expression_variable(axis->name, (size_t)length);
		if (!axes->indices[i])
			return accel_error_set(error, -ENOMEM, "copy: out of memory");
	}
	return 0;
}

static int add_operand(struct accel_plan *plan, enum accel_slot_kind kind, const char *name,
		       const struct accel_tensor *tensor, const struct copy_axes *axes,
		       struct lower_operand *operand, struct accel_error *error)
{
	struct accel_tensor *description;
	int64_t index_stride;
	int ret;

	ret = tensor_detach(tensor, &description, error);
	if (ret)
		return ret;
	ret = plan_add_tensor(plan, kind, name, description, &operand->slot, error);
	accel_tensor_unref(description);
	if (ret)
		return ret;
	operand->dtype = accel_tensor_dtype(tensor);
	ret = address_make(tensor, axes->indices, &axes->bounds, &operand->address, &index_stride);
	if (ret == -ENOMEM)
		return accel_error_set(error, -ENOMEM, "copy: out of memory");
	return ret ? accel_error_set(error, ret, "copy: the addresses of the %s %s",
				     kind == ACCEL_SLOT_INPUT ? "source" : "destination",
				     ret == -E2BIG ? "have more terms than a job can have" :
						     "do not fit 64 bits") : 0;
}

static int plan_nest(struct accel_plan *plan, struct lower_nest *nest, struct copy_axes *axes,
		     const struct accel_tensor *dst, const struct accel_tensor *src,
		     struct accel_error *error)
{
	int ret = begin_axes(axes, dst, nest, error);

	nest->num_operands = 2;
	if (!ret)
		ret = add_operand(plan, ACCEL_SLOT_INPUT, "source", src, axes, &nest->operands[1],
				  error);
	if (!ret)
		ret = add_operand(plan, ACCEL_SLOT_OUTPUT, "destination", dst, axes,
				  &nest->operands[0], error);
	return ret ? ret : lower_nest(nest, plan, error);
}

static int create_plan(const struct accel_tensor *dst, const struct accel_tensor *src,
		       bool keeps_order, struct accel_plan **result, struct accel_error *error)
{
	struct lower_nest nest = { .keeps_order = keeps_order };
	struct copy_axes axes = { 0 };
	struct accel_plan *plan;
	int ret;

	*result = NULL;
	ret = copy_check(dst, src, error);
	if (ret)
		return ret;
	plan = plan_new();
	if (!plan)
		return accel_error_set(error, -ENOMEM, "copy: out of memory");
	ret = plan_nest(plan, &nest, &axes, dst, src, error);
	for (uint32_t i = 0; i < axes.rank; i++)
		expression_unref(axes.indices[i]);
	lower_nest_release(&nest);
	if (ret) {
		accel_plan_unref(plan);
		return ret;
	}
	plan->info.map_class = ACCEL_CLASS_BIJECTIVE;
	plan->info.passes_unfused = plan->info.passes;
	*result = plan;
	return 0;
}

ACCEL_API int accel_plan_create_copy(const struct accel_tensor *dst,
				     const struct accel_tensor *src, struct accel_plan **plan,
				     struct accel_error *error)
{
	return create_plan(dst, src, false, plan, error);
}

int copy_bind(struct accel_tensor *dst, struct accel_tensor *src, bool keeps_order,
	      struct plan_binding *binding, struct accel_error *error)
{
	struct accel_tensor *tensors[] = { src, dst };
	struct accel_plan *plan;
	int ret = create_plan(dst, src, keeps_order, &plan, error);

	if (ret)
		return ret;
	ret = plan_bind(plan, 2, tensors, binding, error);
	accel_plan_unref(plan);
	return ret;
}

ACCEL_API int accel_job_create_copy(struct accel_tensor *dst, struct accel_tensor *src,
				    struct accel_job **job, struct accel_error *error)
{
	struct plan_binding binding;
	int ret;

	*job = NULL;
	ret = copy_bind(dst, src, false, &binding, error);
	if (ret)
		return ret;
	if (binding.num_jobs == 1)
		*job = accel_job_ref(binding.jobs[0]);
	else
		ret = accel_error_set(error, -E2BIG, "copy: it needs %u jobs, expected one",
				      binding.num_jobs);
	plan_binding_release(&binding);
	return ret;
}

ACCEL_API int accel_copy_async(struct accel_tensor *dst, struct accel_tensor *src,
			       struct accel_fence **fence, struct accel_error *error)
{
	struct plan_binding binding;
	int ret;

	if (fence)
		*fence = NULL;
	ret = copy_bind(dst, src, false, &binding, error);
	if (ret)
		return ret;
	ret = accel_submit(binding.device, binding.jobs, binding.num_jobs, NULL, 0, fence, error);
	plan_binding_release(&binding);
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
