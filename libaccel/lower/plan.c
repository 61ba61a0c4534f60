// SPDX-License-Identifier: MIT
/*
 * Plans as values: put together, compared, asked. What their jobs ought to be is decided elsewhere.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "lower/plan.h"
#include "tensor/tensor.h"

struct accel_plan *plan_new(void)
{
	struct accel_plan *plan = calloc(1, sizeof(*plan));

	if (plan)
		atomic_init(&plan->refs, 1);
	return plan;
}

ACCEL_API struct accel_plan *accel_plan_ref(struct accel_plan *plan)
{
	atomic_fetch_add_explicit(&plan->refs, 1, memory_order_relaxed);
	return plan;
}

ACCEL_API void accel_plan_unref(struct accel_plan *plan)
{
	/* the last one must see what the others did */
	if (!plan || atomic_fetch_sub_explicit(&plan->refs, 1, memory_order_acq_rel) != 1)
		return;
	for (uint32_t i = 0; i < plan->num_slots; i++) {
		accel_tensor_unref(plan->slots[i].tensor);
		free(plan->slots[i].table);
	}
	for (uint32_t i = 0; i < plan->num_notes; i++)
		free(plan->notes[i]);
	free(plan->slots);
	free(plan->jobs);
	free(plan->notes);
	free(plan->chain);
	free(plan->map);
	free(plan);
}

static int no_memory(struct accel_error *error)
{
	return accel_error_set(error, -ENOMEM, "plan: out of memory");
}

/* Room for one more: arrays double, from 4 on. */
static int reserve(void **array, uint32_t count, size_t size, struct accel_error *error)
{
	void *grown;

	if (count && (count < 4 || (count & (count - 1))))
		return 0;
	grown = reallocarray(*array, count < 4 ? 4 : 2 * (size_t)count, size);
	if (!grown)
		return no_memory(error);
	*array = grown;
	return 0;
}

static int add_slot(struct accel_plan *plan, const struct plan_slot *slot, uint32_t *number,
		    struct accel_error *error)
{
	int ret = reserve((void **)&plan->slots, plan->num_slots, sizeof(*slot), error);

	if (ret)
		return ret;
	*number = plan->num_slots;
	plan->slots[plan->num_slots++] = *slot;
	plan->info.num_slots = plan->num_slots;
	return 0;
}

int plan_add_tensor(struct accel_plan *plan, enum accel_slot_kind kind, const char *name,
		    struct accel_tensor *tensor, uint32_t *number, struct accel_error *error)
{
	struct plan_slot slot = { .kind = kind, .tensor = tensor, .alias = PLAN_NO_ALIAS };
	int ret;

	snprintf(slot.name, sizeof(slot.name), "%s", name);
	ret = add_slot(plan, &slot, number, error);
	if (ret)
		return ret;
	accel_tensor_ref(tensor);
	if (kind == ACCEL_SLOT_INPUT)
		plan->info.num_inputs++;
	else
		plan->info.num_outputs++;
	return 0;
}

int plan_add_temporary(struct accel_plan *plan, uint64_t size, uint32_t *number,
		       struct accel_error *error)
{
	struct plan_slot slot = { .kind = ACCEL_SLOT_TEMPORARY, .size = size };

	if (__builtin_add_overflow(plan->info.temporary_bytes, size, &plan->info.temporary_bytes))
		return accel_error_set(error, -EOVERFLOW,
				       "plan: the bytes of its temporaries do not fit 64 bits");
	return add_slot(plan, &slot, number, error);
}

int plan_add_table(struct accel_plan *plan, const void *bytes, uint64_t size, uint32_t *number,
		   struct accel_error *error)
{
	struct plan_slot slot = { .kind = ACCEL_SLOT_TABLE, .size = size };
	int ret;

	for (uint32_t i = 0; i < plan->num_slots; i++) {
		if (plan->slots[i].kind != ACCEL_SLOT_TABLE || plan->slots[i].size != size ||
		    memcmp(plan->slots[i].table, bytes, size))
			continue;
		*number = i;
		return 0;
	}
	slot.table = malloc(size);
	if (!slot.table)
		return no_memory(error);
	memcpy(slot.table, bytes, size);
	ret = add_slot(plan, &slot, number, error);
	if (ret)
		free(slot.table);
	return ret;
}

int plan_add_job(struct accel_plan *plan, const struct accel_plan_job *job,
		 struct accel_error *error)
{
	int ret;

	if (plan->num_jobs == ACCEL_MAX_JOBS)
		return accel_error_set(error, -E2BIG,
				       "plan: it needs more than %d jobs, the most of a submission",
				       ACCEL_MAX_JOBS);
	ret = reserve((void **)&plan->jobs, plan->num_jobs, sizeof(*job), error);
	if (ret)
		return ret;
	memcpy(&plan->jobs[plan->num_jobs++], job, sizeof(*job));
	plan->info.num_jobs = plan->num_jobs;
	return 0;
}

int plan_add_note(struct accel_plan *plan, struct accel_error *error, const char *format, ...)
{
	va_list arguments;
	char *note;
	int ret = reserve((void **)&plan->notes, plan->num_notes, sizeof(*plan->notes), error);

	if (ret)
		return ret;
	va_start(arguments, format);
	ret = vasprintf(&note, format, arguments);
	va_end(arguments);
	if (ret < 0)
		return no_memory(error);
	plan->notes[plan->num_notes++] = note;
	plan->info.num_notes = plan->num_notes;
	return 0;
}

static bool slots_equal(const struct plan_slot *a, const struct plan_slot *b)
{
	if (a->kind != b->kind || a->size != b->size)
		return false;
	if (a->kind == ACCEL_SLOT_TABLE)
		return !memcmp(a->table, b->table, a->size);
	if (a->kind == ACCEL_SLOT_TEMPORARY)
		return true;
	return a->alias == b->alias && a->tensor->dtype == b->tensor->dtype &&
	       a->tensor->offset == b->tensor->offset &&
	       tensor_is_laid_out_as(a->tensor, b->tensor);
}

ACCEL_API bool accel_plan_equal(const struct accel_plan *a, const struct accel_plan *b)
{
	if (a == b)
		return true;
	if (a->num_slots != b->num_slots || a->num_jobs != b->num_jobs ||
	    a->info.num_inputs != b->info.num_inputs)
		return false;
	for (uint32_t i = 0; i < a->num_slots; i++) {
		if (!slots_equal(&a->slots[i], &b->slots[i]))
			return false;
	}
	return !a->num_jobs || !memcmp(a->jobs, b->jobs, a->num_jobs * sizeof(a->jobs[0]));
}

/* FNV-1a */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
	const uint8_t *byte = bytes;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ byte[i]) * 0x100000001b3;
	return hash;
}

ACCEL_API uint64_t accel_plan_hash(const struct accel_plan *plan)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (uint32_t i = 0; i < plan->num_slots; i++) {
		const struct plan_slot *slot = &plan->slots[i];

		hash = hash_bytes(hash, &slot->kind, sizeof(slot->kind));
		hash = hash_bytes(hash, &slot->size, sizeof(slot->size));
		if (slot->table)
			hash = hash_bytes(hash, slot->table, slot->size);
	}
	return plan->num_jobs ?
	       hash_bytes(hash, plan->jobs, plan->num_jobs * sizeof(plan->jobs[0])) : hash;
}

ACCEL_API void accel_plan_info(const struct accel_plan *plan, struct accel_plan_info *info)
{
	*info = plan->info;
}

ACCEL_API const struct accel_plan_job *accel_plan_job(const struct accel_plan *plan, uint32_t k)
{
	return k < plan->num_jobs ? &plan->jobs[k] : NULL;
}

ACCEL_API int accel_plan_slot(const struct accel_plan *plan, uint32_t slot,
			      enum accel_slot_kind *kind, const char **name)
{
	if (slot >= plan->num_slots)
		return -ENOENT;
	*kind = plan->slots[slot].kind;
	*name = plan->slots[slot].name;
	return 0;
}

ACCEL_API const char *accel_plan_chain(const struct accel_plan *plan)
{
	return plan->chain;
}

ACCEL_API const char *accel_plan_map(const struct accel_plan *plan)
{
	return plan->map;
}

ACCEL_API const char *accel_plan_note(const struct accel_plan *plan, uint32_t k)
{
	return k < plan->num_notes ? plan->notes[k] : NULL;
}

ACCEL_API int accel_plan_alias(const struct accel_plan *plan, uint32_t output, uint32_t *input)
{
	const struct plan_slot *slot = &plan->slots[plan->info.num_inputs + output];

	if (output >= plan->info.num_outputs || slot->alias == PLAN_NO_ALIAS)
		return -ENOENT;
	*input = slot->alias;
	return 0;
}
