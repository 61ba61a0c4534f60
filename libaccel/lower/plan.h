/* SPDX-License-Identifier: MIT */
/*
 * A plan while it is made. Jobs name slots in place of buffers: what is bound later, temporaries
 * and tables that the plan brings along. Once accel_plan_create() has returned it, a plan never
 * changes.
 */
#ifndef LOWER_PLAN_H
#define LOWER_PLAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <accel.h>

#define PLAN_NO_ALIAS	UINT32_MAX

/* What a slot is bound to. */
struct plan_slot {
	enum accel_slot_kind kind;
	char name[ACCEL_NAME_MAX + 1];	/* inputs, outputs */
	struct accel_tensor *tensor;	/* inputs, outputs: how they are laid out, no buffer */
	uint32_t alias;			/* outputs: the input that it is; PLAN_NO_ALIAS: none */
	uint64_t size;			/* temporaries, tables: bytes */
	void *table;			/* tables: the bytes, the plan's */
};

struct accel_plan {
	atomic_uint refs;
	uint32_t num_slots;
	struct plan_slot *slots;	/* inputs, outputs, in the function's order, others */
	uint32_t num_jobs;
	struct accel_plan_job *jobs;	/* offsets are from the start of the buffer that is bound */
	uint32_t num_notes;
	char **notes;
	struct accel_plan_info info;
	char *chain;			/* the definitions as written, a line each */
	char *map;			/* the composed map, or NULL */
};

struct accel_plan *plan_new(void);			/* NULL: no memory */

/* Append; the slot's number goes to *slot. -ENOMEM. tensor is referenced, table is copied. */
int plan_add_tensor(struct accel_plan *plan, enum accel_slot_kind kind, const char *name,
		    struct accel_tensor *tensor, uint32_t *slot, struct accel_error *error);
int plan_add_temporary(struct accel_plan *plan, uint64_t size, uint32_t *slot,
		       struct accel_error *error);
/* The same bytes are one slot, however often they are added. */
int plan_add_table(struct accel_plan *plan, const void *bytes, uint64_t size, uint32_t *slot,
		   struct accel_error *error);
int plan_add_job(struct accel_plan *plan, const struct accel_plan_job *job,
		 struct accel_error *error);

/* A sentence for the reader of the plan: what was done and why, without a full stop. */
__attribute__((format(printf, 3, 4)))
int plan_add_note(struct accel_plan *plan, struct accel_error *error, const char *format, ...);

#endif /* LOWER_PLAN_H */
