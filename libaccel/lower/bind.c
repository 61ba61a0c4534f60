// SPDX-License-Identifier: MIT
/*
 * Binding: the jobs of a plan, with buffers in place of its slots. What runs them is not known
 * here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "lower/bind.h"
#include "tensor/tensor.h"

/* What a slot is bound to. */
struct bound_slot {
	struct accel_buffer *buffer;	/* referenced; NULL: an output that is an alias */
	int64_t distance;		/* bytes from where the plan has it to where it is */
};

/* A binding while it is made. */
struct binder {
	const struct accel_plan *plan;
	struct plan_binding *binding;
	struct bound_slot *slots;
};

static int no_memory(struct accel_error *error)
{
	return accel_error_set(error, -ENOMEM, "bind: out of memory");
}

static const char *kind_name(const struct plan_slot *slot)
{
	return slot->kind == ACCEL_SLOT_INPUT ? "input" : "output";
}

static int bind_tensor(struct binder *binder, uint32_t number, struct accel_tensor *tensor,
		       struct accel_error *error)
{
	const struct plan_slot *slot = &binder->plan->slots[number];
	struct bound_slot *bound = &binder->slots[number];
	struct accel_device *device;

	if (!tensor && slot->alias != PLAN_NO_ALIAS)
		return 0;
	if (!tensor)
		return accel_error_set(error, -EINVAL, "bind: %s \"%s\" is NULL, expected a tensor",
				       kind_name(slot), slot->name);
	device = accel_buffer_device(accel_tensor_buffer(tensor));
	if (binder->binding->device && binder->binding->device != device)
		return accel_error_set(error, -EXDEV,
				       "bind: %s \"%s\" is on another device than those before it",
				       kind_name(slot), slot->name);
	binder->binding->device = device;
	if (tensor->dtype != slot->tensor->dtype || !tensor_is_laid_out_as(tensor, slot->tensor))
		return accel_error_set(error, -EINVAL,
				       "bind: %s \"%s\" has another type, shape or layout than the "
				       "plan was made for", kind_name(slot), slot->name);
	/* does not overflow: both are in elements of memory that there is, or was described */
	bound->distance = (tensor->offset - slot->tensor->offset) *
			  (int64_t)accel_dtype_size(tensor->dtype);
	bound->buffer = accel_buffer_ref(accel_tensor_buffer(tensor));
	return 0;
}

static int bind_own(struct binder *binder, uint32_t number, struct accel_error *error)
{
	const struct plan_slot *slot = &binder->plan->slots[number];
	struct bound_slot *bound = &binder->slots[number];
	void *address;
	int ret;

	ret = accel_buffer_create(binder->binding->device, slot->size ? slot->size : 1,
				  &bound->buffer, error);
	if (ret || slot->kind != ACCEL_SLOT_TABLE)
		return ret;
	ret = accel_buffer_map(bound->buffer, &address, error);
	if (!ret)
		memcpy(address, slot->table, slot->size);
	return ret;
}

static int bind_slots(struct binder *binder, uint32_t num_tensors,
		      struct accel_tensor *const *tensors, struct accel_error *error)
{
	const struct accel_plan *plan = binder->plan;
	int ret = 0;

	if (num_tensors != plan->info.num_inputs + plan->info.num_outputs)
		return accel_error_set(error, -EINVAL,
				       "bind: %u tensors, expected %u inputs and %u outputs",
				       num_tensors, plan->info.num_inputs, plan->info.num_outputs);
	binder->slots = calloc(plan->num_slots, sizeof(binder->slots[0]));
	if (!binder->slots)
		return no_memory(error);
	for (uint32_t i = 0; i < plan->num_slots && !ret; i++)
		ret = i < num_tensors ? bind_tensor(binder, i, tensors[i], error) :
					bind_own(binder, i, error);
	return ret;
}

static int place_address(struct accel_affine *address, const struct accel_affine *planned,
			 int64_t distance, struct accel_error *error)
{
	*address = *planned;
	if (__builtin_add_overflow(address->offset, distance, &address->offset))
		return accel_error_set(error, -EOVERFLOW,
				       "bind: an offset does not fit 64 bits");
	return 0;
}

static int bind_operand(const struct binder *binder, const struct accel_plan_operand *planned,
			struct accel_operand *operand, struct accel_error *error)
{
	const struct bound_slot *slot = &binder->slots[planned->slot];
	const struct bound_slot *index_slot = &binder->slots[planned->index_slot];
	int ret;

	*operand = (struct accel_operand){
		.buffer = slot->buffer,
		.dtype = planned->dtype,
		.window_mask = planned->window_mask,
		.fill = { planned->fill[0], planned->fill[1] },
	};
	ret = place_address(&operand->address, &planned->address, slot->distance, error);
	if (ret || !planned->is_indirect)
		return ret;
	operand->index_buffer = index_slot->buffer;
	operand->index_dtype = planned->index_dtype;
	operand->index_stride = planned->index_stride;
	operand->index_limit = planned->index_limit;
	return place_address(&operand->index_address, &planned->index_address,
			     index_slot->distance, error);
}

static int add_operands(const struct binder *binder, const struct accel_plan_job *planned,
			struct accel_job *job, struct accel_error *error)
{
	struct accel_operand operand;
	int ret = 0;

	for (uint32_t k = 0; k < planned->num_operands && !ret; k++) {
		ret = bind_operand(binder, &planned->operands[k], &operand, error);
		if (ret)
			return ret;
		ret = k ? accel_job_add_source(job, &operand, error) :
			  accel_job_set_destination(job, &operand, error);
	}
	for (uint32_t w = 0; w < planned->num_windows && !ret; w++)
		ret = accel_job_add_window(job, &planned->windows[w], error);
	for (uint32_t i = 0; i < planned->num_instructions && !ret; i++)
		ret = accel_job_add_instruction(job, &planned->program[i], error);
	return ret;
}

/* Something to submit for a plan of no jobs, so that its fence still comes after in_fences. */
static int make_idle_job(struct binder *binder, struct accel_error *error)
{
	static const uint64_t no_points;
	struct accel_operand operand = { .dtype = ACCEL_DTYPE_RAW8 };
	int ret;

	ret = accel_buffer_create(binder->binding->device, 1, &operand.buffer, error);
	if (ret)
		return ret;
	ret = accel_job_create(1, &no_points, &binder->binding->jobs[0], error);
	if (!ret)
		ret = accel_job_set_destination(binder->binding->jobs[0], &operand, error);
	if (!ret)
		ret = accel_job_add_source(binder->binding->jobs[0], &operand, error);
	accel_buffer_unref(operand.buffer);
	return ret;
}

static int make_jobs(struct binder *binder, struct accel_error *error)
{
	const struct accel_plan *plan = binder->plan;
	int ret = 0;

	binder->binding->num_jobs = plan->num_jobs ? plan->num_jobs : 1;
	binder->binding->jobs = calloc(binder->binding->num_jobs, sizeof(binder->binding->jobs[0]));
	if (!binder->binding->jobs)
		return no_memory(error);
	if (!plan->num_jobs)
		return make_idle_job(binder, error);
	for (uint32_t j = 0; j < plan->num_jobs && !ret; j++) {
		ret = accel_job_create(plan->jobs[j].rank, plan->jobs[j].extents,
				       &binder->binding->jobs[j], error);
		if (!ret)
			ret = add_operands(binder, &plan->jobs[j], binder->binding->jobs[j], error);
	}
	return ret;
}

int plan_bind(const struct accel_plan *plan, uint32_t num_tensors,
	      struct accel_tensor *const *tensors, struct plan_binding *binding,
	      struct accel_error *error)
{
	struct binder binder = { .plan = plan, .binding = binding };
	int ret;

	memset(binding, 0, sizeof(*binding));
	ret = bind_slots(&binder, num_tensors, tensors, error);
	if (!ret)
		ret = make_jobs(&binder, error);
	/* from here on the jobs keep the buffers */
	for (uint32_t i = 0; binder.slots && i < plan->num_slots; i++)
		accel_buffer_unref(binder.slots[i].buffer);
	free(binder.slots);
	if (ret)
		plan_binding_release(binding);
	return ret;
}

void plan_binding_release(struct plan_binding *binding)
{
	for (uint32_t j = 0; binding->jobs && j < binding->num_jobs; j++)
		accel_job_unref(binding->jobs[j]);
	free(binding->jobs);
	memset(binding, 0, sizeof(*binding));
}
