/* SPDX-License-Identifier: MIT */
/*
 * What the tests of functions share: a function with tensors for its inputs and outputs, and an
 * oracle that computes every tensor of it, point by point, as its definition says.
 */
#ifndef TESTS_UNIT_FUNCTION_TEST_H
#define TESTS_UNIT_FUNCTION_TEST_H

#include "accel_test.h"
#include "layout/expression.h"
#include "lower/function.h"
#include "lower/number.h"
#include "reference/reference.h"
#include "seed.h"

#define MAX_TENSORS	64

struct fixture {
	struct accel_device *device;
	struct accel_function *function;
	struct random random;
	uint32_t num_inputs;
	struct accel_tensor *inputs[MAX_TENSORS];
	uint32_t num_outputs;
	struct accel_tensor *outputs[MAX_TENSORS];
	struct accel_layout *layouts[MAX_TENSORS];	/* of the outputs; NULL: no padding */
	uint64_t paddings[MAX_TENSORS][2];
	uint8_t *values[MAX_TENSORS];			/* the oracle's, row-major */
	struct accel_plan *plan;
	struct accel_plan_info info;
};

static struct accel_error error;

/* Memory ----------------------------------------------------------------------------------- */

static inline uint8_t *fixture_address(struct accel_tensor *tensor, const int64_t *index)
{
	size_t size = accel_dtype_size(accel_tensor_dtype(tensor));
	int64_t element;
	void *address;

	expect_ok(accel_tensor_element(tensor, index, &element, &error));
	expect_ok(accel_buffer_map(accel_tensor_buffer(tensor), &address, &error));
	return (uint8_t *)address + element * (int64_t)size;
}

/* The next index of a shape, the last axis fastest. */
static inline bool fixture_next(uint32_t rank, const int64_t *shape, int64_t *index)
{
	while (rank--) {
		if (++index[rank] < shape[rank])
			return true;
		index[rank] = 0;
	}
	return false;
}

static inline int64_t fixture_count(uint32_t rank, const int64_t *shape)
{
	int64_t count = 1;

	for (uint32_t k = 0; k < rank; k++)
		count *= shape[k];
	return count;
}

static inline struct accel_layout *fixture_layout(const char *text)
{
	struct accel_layout *layout = NULL;

	if (text)
		expect_ok(accel_layout_parse(text, NULL, &layout, &error));
	return layout;
}

/* Inputs and outputs ----------------------------------------------------------------------- */

/* Numbers that are exact in most types, and sometimes strange ones. */
static inline void fixture_element(struct fixture *fixture, enum accel_dtype dtype,
				   uint64_t bits[2])
{
	size_t size = accel_dtype_size(dtype);
	struct number number = { .is_integer = false };

	bits[0] = random_next(&fixture->random);
	bits[1] = size > 8 ? random_next(&fixture->random) : 0;
	if (size < 8)
		bits[0] &= (UINT64_C(1) << 8 * size) - 1;
	if (dtype_is_raw(dtype) || dtype_is_integer(dtype) ||
	    !random_between(&fixture->random, 0, 30))
		return;
	number.real = (double)random_between(&fixture->random, -200, 200) / 4;
	assert_int_equal(number_bits(&number, dtype, bits), 0);
}

/* Random elements; with a limit, integers below it. */
static inline void fixture_fill(struct fixture *fixture, struct accel_tensor *tensor,
				int64_t limit)
{
	uint32_t rank = accel_tensor_rank(tensor);
	const int64_t *shape = accel_tensor_shape(tensor);
	enum accel_dtype dtype = accel_tensor_dtype(tensor);
	int64_t index[ACCEL_MAX_DIMS] = { 0 };
	uint64_t bits[2];

	if (!fixture_count(rank, shape))
		return;
	do {
		fixture_element(fixture, dtype, bits);
		if (limit) {
			bits[0] = (uint64_t)random_between(&fixture->random, 0, limit - 1);
			bits[1] = 0;
		}
		memcpy(fixture_address(tensor, index), bits, accel_dtype_size(dtype));
	} while (fixture_next(rank, shape, index));
}

/* An input with random elements; with a limit, indices below it. */
static inline void fixture_input(struct fixture *fixture, const char *name,
				 enum accel_dtype dtype, uint32_t rank, const int64_t *shape,
				 const char *layout_text, int64_t limit)
{
	struct accel_tensor **tensor = &fixture->inputs[fixture->num_inputs++];
	struct accel_layout *layout = fixture_layout(layout_text);

	expect_ok(accel_tensor_create(fixture->device, dtype, rank, shape, layout, tensor,
				      &error));
	fixture_fill(fixture, *tensor, limit);
	expect_ok(accel_function_add_input(fixture->function, name, dtype, rank, shape, layout,
					   &error));
	accel_layout_unref(layout);
}

/* An input that is laid out as a tensor is, which is consumed. */
static inline void fixture_input_like(struct fixture *fixture, const char *name,
				      struct accel_tensor *tensor)
{
	fixture->inputs[fixture->num_inputs++] = tensor;
	fixture_fill(fixture, tensor, 0);
	expect_ok(accel_function_add_input_like(fixture->function, name, tensor, &error));
}

static inline void fixture_output(struct fixture *fixture, const char *name,
				  const char *layout_text, const uint64_t *padding)
{
	struct accel_layout *layout = fixture_layout(layout_text);
	uint32_t k = fixture->num_outputs++, rank;
	int64_t shape[ACCEL_MAX_DIMS];
	enum accel_dtype dtype;

	expect_ok(accel_function_tensor(fixture->function, name, &dtype, &rank, shape, &error));
	expect_ok(accel_tensor_create(fixture->device, dtype, rank, shape, layout,
				      &fixture->outputs[k], &error));
	expect_ok(accel_function_add_output(fixture->function, name, layout, padding, &error));
	fixture->layouts[k] = layout;
	if (padding)
		memcpy(fixture->paddings[k], padding, sizeof(fixture->paddings[k]));
}

static inline void fixture_define(struct fixture *fixture, const char *text)
{
	expect_ok(accel_function_define(fixture->function, text, &error));
}

static inline void fixture_start(struct fixture *fixture, uint64_t seed)
{
	*fixture = (struct fixture){ .random.state = seed };
	expect_ok(accel_open("cpu", &fixture->device, &error));
	expect_ok(accel_function_create(&fixture->function, &error));
}

static inline void fixture_finish(struct fixture *fixture)
{
	for (uint32_t k = 0; k < fixture->num_inputs; k++)
		accel_tensor_unref(fixture->inputs[k]);
	for (uint32_t k = 0; k < fixture->num_outputs; k++) {
		accel_tensor_unref(fixture->outputs[k]);
		accel_layout_unref(fixture->layouts[k]);
	}
	for (uint32_t k = 0; k < MAX_TENSORS; k++)
		free(fixture->values[k]);
	accel_plan_unref(fixture->plan);
	accel_function_unref(fixture->function);
	accel_device_unref(fixture->device);
}

/* The oracle ------------------------------------------------------------------------------- */

/* A point of a definition's axes, and what VALUE_INDEX is there. */
struct point {
	struct fixture *fixture;
	uint32_t count;
	const char *names[LOWER_MAX_AXES + 1];
	int64_t values[LOWER_MAX_AXES + 1];
};

static inline int64_t oracle_expression(const struct point *point,
					const struct accel_expression *expression)
{
	const char *missing = "";
	int64_t value = 0;

	if (expression_evaluate(expression, point->count, point->names, point->values, &value,
				&missing))
		fail_msg("an expression has no value; %s", missing);
	return value;
}

/* The element of a tensor, all of which has been computed. */
static inline uint8_t *oracle_element(const struct fixture *fixture, uint32_t number,
				      const int64_t *index)
{
	const struct function_tensor *tensor = &fixture->function->tensors[number];
	int64_t at = 0;

	for (uint32_t k = 0; k < tensor->rank; k++) {
		if (index[k] < 0 || index[k] >= tensor->shape[k])
			fail_msg("index %lld of axis %u of %s is outside", (long long)index[k], k,
				 tensor->name);
		at = at * tensor->shape[k] + index[k];
	}
	return fixture->values[number] + at * (int64_t)accel_dtype_size(tensor->dtype);
}

static inline void oracle_value(const struct point *point, const struct accel_value *value,
				uint64_t bits[2]);

static inline int64_t oracle_integer(enum accel_dtype dtype, uint64_t bits)
{
	unsigned int unused = 64 - 8 * (unsigned int)accel_dtype_size(dtype);

	return dtype >= ACCEL_DTYPE_I8 ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
}

/* The point with the index that a load, or a push, is to use. */
static inline struct point oracle_with_index(const struct point *point,
					     const struct accel_value *index)
{
	struct point with = *point;
	uint64_t bits[2];

	if (!index)
		return with;
	oracle_value(point, index, bits);
	with.names[with.count] = VALUE_INDEX;
	with.values[with.count++] = oracle_integer(
		function_value_dtype(point->fixture->function, index), bits[0]);
	return with;
}

static inline void oracle_load(const struct point *point, const struct value_load *load,
			       uint64_t bits[2])
{
	struct accel_function *function = point->fixture->function;
	uint32_t number = function_find(function, load->tensor);
	int64_t index[ACCEL_MAX_DIMS];
	struct point with;

	if (load->condition && !oracle_expression(point, load->condition)) {
		memcpy(bits, load->padding, sizeof(load->padding));
		return;
	}
	with = oracle_with_index(point, load->index);
	for (uint32_t k = 0; k < load->num_indices; k++)
		index[k] = oracle_expression(&with, load->indices[k]);
	memcpy(bits, oracle_element(point->fixture, number, index),
	       accel_dtype_size(function->tensors[number].dtype));
}

static inline void oracle_operate(const struct point *point, const struct accel_value *value,
				  uint64_t bits[2])
{
	const struct value_operate *operate = &value->operate;
	struct drm_tessera_instruction instruction = {
		.opcode = operate->opcode,
		.dtype = (uint8_t)value->dtype,
		.flags = operate->flags,
		.predicate = operate->predicate,
	};
	uint64_t operands[3][2] = { { 0 } };

	for (unsigned int k = 0; k < value_num_operands(value); k++)
		oracle_value(point, operate->operands[k], operands[k]);
	bits[0] = reference_instruction(
		&instruction, function_value_dtype(point->fixture->function, operate->operands[0]),
		operands[0][0], operands[1][0], operands[2][0]);
}

static inline void oracle_value(const struct point *point, const struct accel_value *value,
				uint64_t bits[2])
{
	memset(bits, 0, 2 * sizeof(bits[0]));
	switch (value->kind) {
	case VALUE_LOAD:
		oracle_load(point, &value->load, bits);
		break;
	case VALUE_CONSTANT:
		memcpy(bits, value->bits, sizeof(value->bits));
		break;
	case VALUE_OPERATE:
		oracle_operate(point, value, bits);
		break;
	case VALUE_CHOOSE:
		oracle_value(point, value->choose.operands[
				     !oracle_expression(point, value->choose.condition)], bits);
	}
}

/* The part of a definition that a point is in. */
static inline const struct accel_value *oracle_part(const struct function_tensor *tensor,
						    const int64_t *index)
{
	uint32_t k = 0;

	if (tensor->kind == FUNCTION_PARTS)
		while (index[tensor->axis] >= tensor->parts[k].start + tensor->parts[k].size)
			k++;
	return tensor->parts[k].value;
}

static inline void oracle_define(struct fixture *fixture, uint32_t number)
{
	const struct function_tensor *tensor = &fixture->function->tensors[number];
	size_t size = accel_dtype_size(tensor->dtype);
	int64_t count = fixture_count(tensor->rank, tensor->shape);
	struct point point = { .fixture = fixture, .count = tensor->num_axes };
	int64_t shape[LOWER_MAX_AXES], index[LOWER_MAX_AXES];
	uint64_t bits[2];

	for (int64_t k = 0; tensor->leaves_gaps && k < count; k++)
		memcpy(fixture->values[number] + k * (int64_t)size, tensor->padding, size);
	for (uint32_t k = 0; k < tensor->num_axes; k++) {
		point.names[k] = tensor->axes[k].name;
		shape[k] = tensor->axes[k].extent;
	}
	if (!fixture_count(tensor->num_axes, shape))
		return;
	do {
		struct point with = oracle_with_index(&point, tensor->index);

		oracle_value(&point, oracle_part(tensor, point.values), bits);
		for (uint32_t k = 0; k < tensor->rank; k++)
			index[k] = tensor->kind == FUNCTION_PUSH ?
				   oracle_expression(&with, tensor->indices[k]) : point.values[k];
		memcpy(oracle_element(fixture, number, index), bits, size);
	} while (fixture_next(tensor->num_axes, shape, point.values));
}

static inline void oracle_load_input(struct fixture *fixture, uint32_t number)
{
	const struct function_tensor *tensor = &fixture->function->tensors[number];
	struct accel_tensor *input = fixture->inputs[tensor->input];
	int64_t index[ACCEL_MAX_DIMS] = { 0 };

	if (!fixture_count(tensor->rank, tensor->shape))
		return;
	do {
		memcpy(oracle_element(fixture, number, index), fixture_address(input, index),
		       accel_dtype_size(tensor->dtype));
	} while (fixture_next(tensor->rank, tensor->shape, index));
}

/* Computes every tensor of the function. */
static inline void oracle_run(struct fixture *fixture)
{
	for (uint32_t k = 0; k < fixture->function->num_tensors; k++) {
		const struct function_tensor *tensor = &fixture->function->tensors[k];
		int64_t count = fixture_count(tensor->rank, tensor->shape);

		free(fixture->values[k]);
		fixture->values[k] = calloc((size_t)count + 1, accel_dtype_size(tensor->dtype));
		assert_non_null(fixture->values[k]);
		if (tensor->kind == FUNCTION_INPUT)
			oracle_load_input(fixture, k);
		else
			oracle_define(fixture, k);
	}
}

/* Running and comparing -------------------------------------------------------------------- */

static inline void fixture_explain(const struct fixture *fixture)
{
	print_message("%s\n", accel_plan_chain(fixture->plan));
	for (uint32_t k = 0; k < fixture->info.num_notes; k++)
		print_message("note: %s\n", accel_plan_note(fixture->plan, k));
}

/* What no element is in has the padding. */
static inline void compare_padding(const struct fixture *fixture, uint32_t output,
				   const uint8_t *is_element)
{
	struct accel_tensor *tensor = fixture->outputs[output];
	size_t size = accel_dtype_size(accel_tensor_dtype(tensor));
	struct accel_layout_description description;
	void *address;

	if (!fixture->layouts[output])
		return;
	expect_ok(accel_layout_describe(fixture->layouts[output], accel_tensor_dtype(tensor),
					accel_tensor_rank(tensor), accel_tensor_shape(tensor),
					&description, &error));
	expect_ok(accel_buffer_map(accel_tensor_buffer(tensor), &address, &error));
	for (int64_t k = 0; k < description.bytes / (int64_t)size; k++) {
		if (is_element[k] || !memcmp((uint8_t *)address + k * (int64_t)size,
					     fixture->paddings[output], size))
			continue;
		fixture_explain(fixture);
		fail_msg("output %u: element %lld of memory is not the padding", output,
			 (long long)k);
	}
}

static inline void compare_output(const struct fixture *fixture, uint32_t output)
{
	struct accel_tensor *tensor = fixture->outputs[output];
	uint32_t number = fixture->function->outputs[output].tensor;
	uint32_t rank = accel_tensor_rank(tensor);
	const int64_t *shape = accel_tensor_shape(tensor);
	size_t size = accel_dtype_size(accel_tensor_dtype(tensor));
	uint8_t *is_element = calloc(accel_buffer_size(accel_tensor_buffer(tensor)) / size + 1, 1);
	int64_t index[ACCEL_MAX_DIMS] = { 0 }, element;
	char text[200] = "";

	assert_non_null(is_element);
	if (fixture_count(rank, shape)) {
		do {
			expect_ok(accel_tensor_element(tensor, index, &element, &error));
			is_element[element] = 1;
			if (!memcmp(fixture_address(tensor, index),
				    oracle_element(fixture, number, index), size))
				continue;
			fixture_explain(fixture);
			for (uint32_t k = 0; k < rank; k++)
				snprintf(text + strlen(text), sizeof(text) - strlen(text), " %lld",
					 (long long)index[k]);
			fail_msg("output %u is wrong at%s", output, text);
		} while (fixture_next(rank, shape, index));
		compare_padding(fixture, output, is_element);
	}
	free(is_element);
}

/* Memory that nobody has written to. */
static inline void scribble(struct accel_tensor *tensor)
{
	void *address;

	expect_ok(accel_buffer_map(accel_tensor_buffer(tensor), &address, &error));
	memset(address, 0xa5, accel_buffer_size(accel_tensor_buffer(tensor)));
}

/* Plans with these options, runs, and compares all outputs with the oracle. */
static inline void fixture_check(struct fixture *fixture, const struct accel_plan_options *options)
{
	struct accel_tensor *tensors[2 * MAX_TENSORS];
	struct accel_task *task;

	accel_plan_unref(fixture->plan);
	fixture->plan = NULL;
	expect_ok(accel_plan_create(fixture->function, options, &fixture->plan, &error));
	accel_plan_info(fixture->plan, &fixture->info);
	for (uint32_t k = 0; k < fixture->num_inputs; k++)
		tensors[k] = fixture->inputs[k];
	for (uint32_t k = 0; k < fixture->num_outputs; k++) {
		tensors[fixture->num_inputs + k] = fixture->outputs[k];
		scribble(fixture->outputs[k]);
	}
	if (accel_task_create(fixture->plan, fixture->num_inputs + fixture->num_outputs, tensors,
			      &task, &error)) {
		fixture_explain(fixture);
		fail_msg("task: %s", error.message);
	}
	expect_ok(accel_task_submit(task, NULL, 0, &error));
	expect_ok(accel_task_wait(task, -1, &error));
	accel_task_unref(task);
	oracle_run(fixture);
	for (uint32_t k = 0; k < fixture->num_outputs; k++)
		compare_output(fixture, k);
}

/* Fused and unfused; the fused plan stays. */
static inline void fixture_check_both(struct fixture *fixture)
{
	const struct accel_plan_options unfused = { .is_unfused = true };

	fixture_check(fixture, &unfused);
	fixture_check(fixture, NULL);
}

#endif /* TESTS_UNIT_FUNCTION_TEST_H */
