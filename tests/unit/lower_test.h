/* SPDX-License-Identifier: MIT */
/*
 * What the tests of lowering share: nests from text, and the oracle. It walks every point of a nest
 * by its expressions, and every point of the jobs that were made of it, and compares what is
 * stored where and loaded from where. Data are not looked at.
 */
#ifndef TESTS_UNIT_LOWER_TEST_H
#define TESTS_UNIT_LOWER_TEST_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "lower/nest.h"

static struct accel_error error;

/* Nests --------------------------------------------------------------------------------------- */

static inline void add_axis(struct lower_nest *nest, const char *name, int64_t extent)
{
	struct lower_axis *axis = &nest->axes[nest->num_axes++];

	snprintf(axis->name, sizeof(axis->name), "%s", name);
	axis->extent = extent;
}

/* Operand k has slot k. */
static inline struct lower_operand *add_operand(struct lower_nest *nest, enum accel_dtype dtype)
{
	struct lower_operand *operand = &nest->operands[nest->num_operands];

	operand->slot = nest->num_operands++;
	operand->dtype = dtype;
	return operand;
}

static inline struct accel_expression *parse_over(const struct lower_nest *nest, const char *text)
{
	struct accel_named_range ranges[LOWER_MAX_AXES];
	struct accel_expression *parsed, *simple;

	for (uint32_t a = 0; a < nest->num_axes; a++) {
		ranges[a].name = nest->axes[a].name;
		ranges[a].range.minimum = 0;
		ranges[a].range.limit = nest->axes[a].extent ? nest->axes[a].extent : 1;
	}
	if (accel_expression_parse(text, &parsed, &error))
		fail_msg("%s: %s", text, error.message);
	if (accel_expression_simplify(parsed, nest->num_axes, ranges, &simple, &error))
		fail_msg("%s: %s", text, error.message);
	accel_expression_unref(parsed);
	return simple;
}

static inline void add_to_address(const struct lower_nest *nest, struct lower_address *address,
				  const char *text, int64_t stride)
{
	address->terms[address->num_terms].value = parse_over(nest, text);
	address->terms[address->num_terms++].stride = stride;
}

static inline void add_term(const struct lower_nest *nest, struct lower_operand *operand,
			    const char *text, int64_t stride)
{
	add_to_address(nest, &operand->address, text, stride);
}

/* 0 <= text < limit */
static inline void add_condition(const struct lower_nest *nest, struct lower_operand *operand,
				 const char *text, int64_t limit)
{
	struct lower_condition *condition = &operand->conditions[operand->num_conditions++];

	condition->value = parse_over(nest, text);
	condition->limit = limit;
}

#define MAX_TEXT	400

/* The part of the text before the separator, without spaces around it; *rest is what follows. */
static inline char *next_part(char **rest, char separator)
{
	char *part = *rest, *end = strchr(part, separator);

	*rest = end ? end + 1 + strspn(end + 1, " ") : part + strlen(part);
	if (end)
		*end = '\0';
	for (end = part + strlen(part); end > part && end[-1] == ' '; end--)
		end[-1] = '\0';
	return part;
}

/* The axes of "n: 2; c: 64", each with its extent. */
static inline void add_axes(struct lower_nest *nest, const char *text)
{
	char copy[MAX_TEXT], *rest = copy;

	snprintf(copy, sizeof(copy), "%s", text);
	while (*rest) {
		char *extent = next_part(&rest, ';'), *name = next_part(&extent, ':');

		add_axis(nest, name, strtoll(extent, NULL, 10));
	}
}

/* The indices of "n: 2; c//16: 4; c % 16: 16", each with its extent, in a row-major tensor. */
static inline struct lower_operand *add_tensor(struct lower_nest *nest, enum accel_dtype dtype,
					       const char *text)
{
	struct lower_operand *operand = add_operand(nest, dtype);
	int64_t stride = (int64_t)accel_dtype_size(dtype);
	char copy[MAX_TEXT], *rest = copy;

	snprintf(copy, sizeof(copy), "%s", text);
	while (*rest) {
		char *extent = next_part(&rest, ';'), *index = next_part(&extent, ':');
		int64_t count = strtoll(extent, NULL, 10);

		for (uint32_t t = 0; t < operand->address.num_terms; t++)
			operand->address.terms[t].stride *= count;
		add_term(nest, operand, index, stride);
	}
	return operand;
}

/* The nest over these axes that copies one tensor to another. */
static inline void make_copy(struct lower_nest *nest, enum accel_dtype dtype, const char *axes,
			     const char *dst, const char *src)
{
	memset(nest, 0, sizeof(*nest));
	add_axes(nest, axes);
	add_tensor(nest, dtype, dst);
	add_tensor(nest, dtype, src);
}

/* Lowering ------------------------------------------------------------------------------------ */

/* Every slot but the tables is so large. */
#define SLOT_SIZE	(1 << 24)

static inline struct accel_plan *lower(const struct lower_nest *nest)
{
	struct accel_plan *plan = plan_new();
	uint32_t slot;

	assert_non_null(plan);
	for (uint32_t k = 0; k < nest->num_operands + 1; k++)
		assert_int_equal(plan_add_temporary(plan, SLOT_SIZE, &slot, &error), 0);
	if (lower_nest(nest, plan, &error))
		fail_msg("lower_nest: %s", error.message);
	return plan;
}

static inline bool has_note(const struct accel_plan *plan, const char *text)
{
	for (uint32_t n = 0; n < plan->num_notes; n++)
		if (strstr(plan->notes[n], text))
			return true;
	return false;
}

static inline bool has_table(const struct accel_plan *plan)
{
	for (uint32_t s = 0; s < plan->num_slots; s++)
		if (plan->slots[s].kind == ACCEL_SLOT_TABLE)
			return true;
	return false;
}

static inline void print_affine(const struct accel_affine *affine, uint32_t rank)
{
	fprintf(stderr, "%" PRId64 " + (", affine->offset);
	for (uint32_t d = 0; d < rank; d++)
		fprintf(stderr, "%s%" PRId64, d ? ", " : "", affine->strides[d]);
	fprintf(stderr, ")");
}

static inline void print_plan(const struct accel_plan *plan)
{
	for (uint32_t n = 0; n < plan->num_notes; n++)
		fprintf(stderr, "note: %s\n", plan->notes[n]);
	for (uint32_t j = 0; j < plan->num_jobs && j < 8; j++) {
		const struct accel_plan_job *job = &plan->jobs[j];

		fprintf(stderr, "job %u: (", j);
		for (uint32_t d = 0; d < job->rank; d++)
			fprintf(stderr, "%s%" PRIu64, d ? ", " : "", job->extents[d]);
		fprintf(stderr, ")\n");
		for (uint32_t k = 0; k < job->num_operands; k++) {
			const struct accel_plan_operand *operand = &job->operands[k];

			fprintf(stderr, "  operand %u windows %#x: ", k, operand->window_mask);
			print_affine(&operand->address, job->rank);
			if (operand->is_indirect) {
				fprintf(stderr, " + slot %u[", operand->index_slot);
				print_affine(&operand->index_address, job->rank);
				fprintf(stderr, "] * %" PRId64, operand->index_stride);
			}
			fprintf(stderr, "\n");
		}
		for (uint32_t w = 0; w < job->num_windows; w++) {
			fprintf(stderr, "  window %u: ", w);
			print_affine(&job->windows[w].value, job->rank);
			fprintf(stderr, " < %" PRIu64 "\n", job->windows[w].limit);
		}
	}
}

static inline void print_nest(const struct lower_nest *nest)
{
	char text[400];

	for (uint32_t a = 0; a < nest->num_axes; a++)
		fprintf(stderr, "axis %s: %" PRId64 "\n", nest->axes[a].name,
			nest->axes[a].extent);
	for (uint32_t k = 0; k < nest->num_operands; k++) {
		const struct lower_operand *operand = &nest->operands[k];

		fprintf(stderr, "operand %u: %" PRId64, k, operand->address.offset);
		for (uint32_t t = 0; t < operand->address.num_terms; t++) {
			accel_expression_print(operand->address.terms[t].value, text, sizeof(text));
			fprintf(stderr, " + (%s)*%" PRId64, text, operand->address.terms[t].stride);
		}
		for (uint32_t c = 0; c < operand->num_conditions; c++) {
			accel_expression_print(operand->conditions[c].value, text, sizeof(text));
			fprintf(stderr, "; 0 <= %s < %" PRId64, text, operand->conditions[c].limit);
		}
		fprintf(stderr, "\n");
	}
}

/* The oracle ---------------------------------------------------------------------------------- */

#define FILLED	INT64_MIN

/* A point: where it stores, and where each source loads from, or FILLED. */
struct visit {
	int64_t addresses[1 + ACCEL_MAX_SOURCES];
};

struct visits {
	size_t count;
	size_t capacity;
	struct visit *list;
};

static inline void add_visit(struct visits *visits, const struct visit *visit)
{
	if (visits->count == visits->capacity) {
		visits->capacity = visits->capacity ? 2 * visits->capacity : 1024;
		visits->list = realloc(visits->list, visits->capacity * sizeof(*visits->list));
		assert_non_null(visits->list);
	}
	visits->list[visits->count++] = *visit;
}

static inline int compare_visits(const void *a, const void *b)
{
	const struct visit *left = a, *right = b;

	for (uint32_t k = 0; k < 1 + ACCEL_MAX_SOURCES; k++)
		if (left->addresses[k] != right->addresses[k])
			return left->addresses[k] < right->addresses[k] ? -1 : 1;
	return 0;
}

/* What the tensor of indices holds at a byte address, by a rule. */
static inline int64_t index_at(int64_t address)
{
	return (address * 7 + 3) % 11;
}

struct point {
	struct accel_binding bindings[LOWER_MAX_AXES];
	uint32_t count;
};

static inline int64_t evaluate(const struct accel_expression *expression, const struct point *point)
{
	int64_t value;

	if (accel_expression_evaluate(expression, point->count, point->bindings, &value, &error))
		fail_msg("%s", error.message);
	return value;
}

static inline int64_t evaluate_address(const struct lower_address *address,
				       const struct point *point)
{
	int64_t sum = address->offset;

	for (uint32_t t = 0; t < address->num_terms; t++)
		sum += evaluate(address->terms[t].value, point) * address->terms[t].stride;
	return sum;
}

static inline bool conditions_hold(const struct lower_operand *operand, const struct point *point)
{
	for (uint32_t c = 0; c < operand->num_conditions; c++) {
		int64_t value = evaluate(operand->conditions[c].value, point);

		if (value < 0 || value >= operand->conditions[c].limit)
			return false;
	}
	return true;
}

static inline void visit_nest_point(const struct lower_nest *nest, const struct point *point,
				    struct visits *visits)
{
	struct visit visit = { { 0 } };

	if (!conditions_hold(&nest->operands[0], point))
		return;
	for (uint32_t k = 0; k < nest->num_operands; k++) {
		const struct lower_operand *operand = &nest->operands[k];

		visit.addresses[k] = FILLED;
		if (!conditions_hold(operand, point))
			continue;
		visit.addresses[k] = evaluate_address(&operand->address, point);
		if (operand->is_indirect)
			visit.addresses[k] += operand->index_stride *
				index_at(evaluate_address(&operand->index_address, point));
	}
	add_visit(visits, &visit);
}

static inline void visit_nest(const struct lower_nest *nest, struct visits *visits)
{
	struct point point = { .count = nest->num_axes };
	uint32_t a;

	for (a = 0; a < nest->num_axes; a++) {
		point.bindings[a].name = nest->axes[a].name;
		if (!nest->axes[a].extent)
			return;
	}
	do {
		visit_nest_point(nest, &point, visits);
		for (a = nest->num_axes; a-- > 0; ) {
			if (++point.bindings[a].value < nest->axes[a].extent)
				break;
			point.bindings[a].value = 0;
		}
	} while (a != UINT32_MAX);
}

static inline int64_t affine_at(const struct accel_affine *affine, const uint64_t *point)
{
	int64_t sum = affine->offset;

	for (uint32_t d = 0; d < ACCEL_MAX_RANK; d++)
		sum += affine->strides[d] * (int64_t)point[d];
	return sum;
}

static inline bool windows_hold(const struct accel_plan_job *job, uint32_t mask,
				const uint64_t *point)
{
	for (uint32_t w = 0; w < job->num_windows; w++) {
		int64_t value = affine_at(&job->windows[w].value, point);

		if ((mask >> w & 1) && (value < 0 || (uint64_t)value >= job->windows[w].limit))
			return false;
	}
	return true;
}

/* What an index of a job is: an entry of a table, or what the rule says. */
static inline int64_t job_index(const struct accel_plan *plan,
				const struct accel_plan_operand *operand, const uint64_t *point)
{
	int64_t address = affine_at(&operand->index_address, point);
	const struct plan_slot *slot = &plan->slots[operand->index_slot];
	size_t size = accel_dtype_size(operand->index_dtype);
	uint64_t entry = 0;

	if (slot->kind != ACCEL_SLOT_TABLE)
		return index_at(address);
	assert_true(address >= 0 && (uint64_t)address + size <= slot->size);
	memcpy(&entry, (uint8_t *)slot->table + address, size);
	assert_true(entry < operand->index_limit);
	return (int64_t)entry;
}

static inline void visit_job_point(const struct accel_plan *plan, const struct accel_plan_job *job,
				   const uint64_t *point, struct visits *visits)
{
	struct visit visit = { { 0 } };

	if (!windows_hold(job, job->operands[0].window_mask, point))
		return;
	for (uint32_t k = 0; k < job->num_operands; k++) {
		const struct accel_plan_operand *operand = &job->operands[k];

		visit.addresses[k] = FILLED;
		if (!windows_hold(job, operand->window_mask, point))
			continue;
		visit.addresses[k] = affine_at(&operand->address, point);
		if (operand->is_indirect)
			visit.addresses[k] += operand->index_stride *
					      job_index(plan, operand, point);
	}
	add_visit(visits, &visit);
}

static inline void visit_job(const struct accel_plan *plan, const struct accel_plan_job *job,
			     struct visits *visits)
{
	uint64_t point[ACCEL_MAX_RANK] = { 0 };
	uint32_t d;

	do {
		visit_job_point(plan, job, point, visits);
		for (d = job->rank; d-- > 0; ) {
			if (++point[d] < job->extents[d])
				break;
			point[d] = 0;
		}
	} while (d != UINT32_MAX);
}

static inline struct drm_tessera_affine to_engine(const struct accel_affine *affine)
{
	struct drm_tessera_affine result = { .offset = affine->offset };

	memcpy(result.strides, affine->strides, sizeof(result.strides));
	return result;
}

/* Slots lie far apart; nothing is read from or written to them. */
static inline struct engine_buffer slot_buffer(const struct accel_plan *plan, uint32_t slot)
{
	return (struct engine_buffer){
		.base = (void *)(((uintptr_t)slot + 1) << 32),
		.size = plan->slots[slot].size,
		.is_writable = true,
	};
}

static inline void bind_operand(const struct accel_plan *plan,
				const struct accel_plan_operand *operand,
				struct engine_operand *bound)
{
	bound->spec.dtype = operand->dtype;
	bound->spec.window_mask = operand->window_mask;
	bound->spec.address = to_engine(&operand->address);
	memcpy(bound->spec.fill, operand->fill, sizeof(bound->spec.fill));
	bound->buffer = slot_buffer(plan, operand->slot);
	if (!operand->is_indirect)
		return;
	bound->spec.flags = DRM_TESSERA_OPERAND_INDIRECT;
	bound->spec.index_dtype = operand->index_dtype;
	bound->spec.index_address = to_engine(&operand->index_address);
	bound->spec.index_stride = operand->index_stride;
	bound->spec.index_limit = operand->index_limit;
	bound->index_buffer = slot_buffer(plan, operand->index_slot);
}

/* The device takes the job: it is well-formed, inside of its buffers, and writes nothing twice. */
static inline void expect_accepted(const struct accel_plan *plan, const struct accel_plan_job *job)
{
	struct engine_job bound = {
		.rank = job->rank,
		.num_operands = job->num_operands,
		.num_windows = job->num_windows,
		.num_instructions = job->num_instructions,
	};
	struct engine_plan *engine_plan;
	struct engine_fault fault;

	memcpy(bound.extents, job->extents, sizeof(bound.extents));
	memcpy(bound.program, job->program, sizeof(bound.program));
	for (uint32_t w = 0; w < job->num_windows; w++) {
		bound.windows[w].value = to_engine(&job->windows[w].value);
		bound.windows[w].limit = job->windows[w].limit;
	}
	for (uint32_t k = 0; k < job->num_operands; k++)
		bind_operand(plan, &job->operands[k], &bound.operands[k]);
	if (engine_plan_create(&bound, &engine_plan, &fault)) {
		print_plan(plan);
		fail_msg("a job is refused: %s", fault.text);
	}
	engine_plan_destroy(engine_plan);
	if (engine_job_check_overlap(&bound, &fault)) {
		print_plan(plan);
		fail_msg("a job is refused: %s", fault.text);
	}
}

static inline void expect_same_visits(const struct lower_nest *nest, const struct accel_plan *plan)
{
	struct visits wanted = { 0 }, made = { 0 };
	size_t v;

	visit_nest(nest, &wanted);
	for (uint32_t j = 0; j < plan->num_jobs; j++)
		visit_job(plan, &plan->jobs[j], &made);
	if (wanted.count)
		qsort(wanted.list, wanted.count, sizeof(wanted.list[0]), compare_visits);
	if (made.count)
		qsort(made.list, made.count, sizeof(made.list[0]), compare_visits);
	for (v = 0; v < wanted.count && v < made.count; v++)
		if (compare_visits(&wanted.list[v], &made.list[v]))
			break;
	if (v < wanted.count || v < made.count) {
		print_nest(nest);
		print_plan(plan);
		if (v < wanted.count && v < made.count)
			fprintf(stderr, "wanted %" PRId64 " <- %" PRId64 ", made %" PRId64
				" <- %" PRId64 "\n", wanted.list[v].addresses[0],
				wanted.list[v].addresses[1], made.list[v].addresses[0],
				made.list[v].addresses[1]);
		fail_msg("%zu points wanted, %zu made, the first %zu are the same", wanted.count,
			 made.count, v);
	}
	free(wanted.list);
	free(made.list);
}

static inline struct accel_plan *lower_and_check(const struct lower_nest *nest)
{
	struct accel_plan *plan = lower(nest);

	for (uint32_t j = 0; j < plan->num_jobs; j++)
		expect_accepted(plan, &plan->jobs[j]);
	expect_same_visits(nest, plan);
	return plan;
}

#endif /* TESTS_UNIT_LOWER_TEST_H */
