// SPDX-License-Identifier: MIT
/*
 * Definitions as text: what they mean, how they are printed, and where errors are.
 */
#include "function_test.h"

#define SHAPE(...)	((const int64_t[]){ __VA_ARGS__ })

/* A function of inputs of several types and ranks. */
static void start(struct fixture *fixture)
{
	fixture_start(fixture, 1);
	fixture_input(fixture, "x", ACCEL_DTYPE_F32, 1, SHAPE(6), NULL, 0);
	fixture_input(fixture, "m", ACCEL_DTYPE_F32, 2, SHAPE(4, 6), NULL, 0);
	fixture_input(fixture, "q", ACCEL_DTYPE_U8, 1, SHAPE(6), NULL, 0);
	fixture_input(fixture, "r", ACCEL_DTYPE_I32, 1, SHAPE(3), NULL, 4);
	fixture_input(fixture, "w", ACCEL_DTYPE_RAW128, 1, SHAPE(6), NULL, 0);
	fixture_input(fixture, "s", ACCEL_DTYPE_F32, 0, NULL, NULL, 0);
}

static void expect_error(const char *text, int code, int column, const char *message)
{
	struct fixture fixture;

	start(&fixture);
	expect_failure(accel_function_define(fixture.function, text, &error), code, message);
	assert_int_equal(error.column, column);
	fixture_finish(&fixture);
}

/* It computes what the oracle says, which reads the same values. */
static void expect_runs(const char *text, enum accel_dtype expected_dtype)
{
	int64_t shape[ACCEL_MAX_DIMS];
	struct fixture fixture;
	enum accel_dtype dtype;
	uint32_t rank;

	start(&fixture);
	fixture_define(&fixture, text);
	expect_ok(accel_function_tensor(fixture.function, "y", &dtype, &rank, shape, &error));
	assert_int_equal(dtype, expected_dtype);
	fixture_output(&fixture, "y", NULL, NULL);
	fixture_check_both(&fixture);
	fixture_finish(&fixture);
}

/* Elements of y[0], y[1], .. for x = 0, 1, .., 5. */
static void expect_values(const char *text, const float *expected)
{
	struct accel_tensor *tensors[2];
	struct accel_function *function;
	struct accel_device *device;
	struct accel_plan *plan;
	struct accel_task *task;
	void *address;

	expect_ok(accel_open("cpu", &device, &error));
	expect_ok(accel_function_create(&function, &error));
	expect_ok(accel_function_add_input(function, "x", ACCEL_DTYPE_F32, 1, SHAPE(6), NULL,
					   &error));
	expect_ok(accel_function_define(function, text, &error));
	expect_ok(accel_function_add_output(function, "y", NULL, NULL, &error));
	for (int k = 0; k < 2; k++)
		expect_ok(accel_tensor_create(device, ACCEL_DTYPE_F32, 1, SHAPE(6), NULL,
					      &tensors[k], &error));
	expect_ok(accel_buffer_map(accel_tensor_buffer(tensors[0]), &address, &error));
	for (int k = 0; k < 6; k++)
		((float *)address)[k] = (float)k;
	expect_ok(accel_plan_create(function, NULL, &plan, &error));
	expect_ok(accel_task_create(plan, 2, tensors, &task, &error));
	expect_ok(accel_task_submit(task, NULL, 0, &error));
	expect_ok(accel_task_wait(task, -1, &error));
	expect_ok(accel_buffer_map(accel_tensor_buffer(tensors[1]), &address, &error));
	assert_memory_equal(address, expected, 6 * sizeof(*expected));
	accel_task_unref(task);
	accel_plan_unref(plan);
	accel_tensor_unref(tensors[0]);
	accel_tensor_unref(tensors[1]);
	accel_function_unref(function);
	accel_device_unref(device);
}

/* What it means ---------------------------------------------------------------------------- */

static void operators_bind_as_in_c(void **state)
{
	(void)state;
	expect_values("y[i] = x[i] + 2 * 3", (float[]){ 6, 7, 8, 9, 10, 11 });
	expect_values("y[i] = x[i] * 2 + 1", (float[]){ 1, 3, 5, 7, 9, 11 });
	expect_values("y[i] = x[i] - 2 - 1", (float[]){ -3, -2, -1, 0, 1, 2 });
	expect_values("y[i] = x[i] * (2 - 1.5)", (float[]){ 0, 0.5, 1, 1.5, 2, 2.5 });
	expect_values("y[i] = --x[i] * -1e0", (float[]){ -0.0f, -1, -2, -3, -4, -5 });
	expect_values("y[i] = f32(x[i] < 3)", (float[]){ 1, 1, 1, 0, 0, 0 });
}

static void functions_are_computed(void **state)
{
	(void)state;
	expect_values("y[i] = fma(x[i], 2, 1)", (float[]){ 1, 3, 5, 7, 9, 11 });
	expect_values("y[i] = min(x[i], 3) - max(1, x[i])", (float[]){ -1, 0, 0, 0, -1, -2 });
	expect_values("y[i] = abs(x[i] - 2)", (float[]){ 2, 1, 0, 1, 2, 3 });
	expect_values("y[i] = relu(x[i] - 2)", (float[]){ 0, 0, 0, 1, 2, 3 });
	expect_values("y[i] = clamp(x[i], 1, 3.5)", (float[]){ 1, 1, 2, 3, 3.5, 3.5 });
	expect_values("y[i] = select(x[i] == 2, 9, x[i])", (float[]){ 0, 1, 9, 3, 4, 5 });
	expect_values("y[i<6] = select(0 <= i-1 and i-1 < 4, x[i-1], 7)",
		      (float[]){ 7, 0, 1, 2, 3, 7 });
	expect_values("y[i<6] = select(i < 1, 7, x[i-1])", (float[]){ 7, 0, 1, 2, 3, 4 });
	expect_values("y[i<6] = f32(2.5)", (float[]){ 2.5, 2.5, 2.5, 2.5, 2.5, 2.5 });
}

static void every_form_runs(void **state)
{
	(void)state;
	expect_runs("y[i,j] = m[i,j] * x[j] + s[]", ACCEL_DTYPE_F32);
	expect_runs("y[j, i] = f16(m[i,j])", ACCEL_DTYPE_F16);
	expect_runs("y[i] = u8(x[i] * 0.5 + 3)", ACCEL_DTYPE_U8);
	expect_runs("y[i] = q[i] + 250", ACCEL_DTYPE_U8);
	expect_runs("y[i] = x[i] != x[5-i]", ACCEL_DTYPE_U8);
	expect_runs("y[i,j] = m[r[i], j]", ACCEL_DTYPE_F32);
	expect_runs("y[i,j<2] = x[r[i] + j%2]", ACCEL_DTYPE_F32);
	expect_runs("y[] = x[3]", ACCEL_DTYPE_F32);
	expect_runs("y = s[] + 1", ACCEL_DTYPE_F32);
	expect_runs("y[i<8, j] = m[i//2, j]", ACCEL_DTYPE_F32);
	expect_runs("y[i<0] = x[i]", ACCEL_DTYPE_F32);
	expect_runs("y[i] = select(i == 2, w[i], w[5 - i])", ACCEL_DTYPE_RAW128);
	expect_runs("y[i<5, j<6] = select(i < 4, m[i, j], x[j])", ACCEL_DTYPE_F32);
	expect_runs("y[i<7] = bf16(-3.5)", ACCEL_DTYPE_BF16);
}

/* Errors ----------------------------------------------------------------------------------- */

static void malformed_text_is_refused_at_its_column(void **state)
{
	(void)state;
	expect_error("y[i] x[i]", -EINVAL, 6, "expected \"=\", not \"x\"");
	expect_error("y[i]", -EINVAL, 5, "expected \"=\", not the end");
	expect_error("y[i] = ", -EINVAL, 8, "expected a value, not the end");
	expect_error("y[i] = x[i] +", -EINVAL, 14, "expected a value, not the end");
	expect_error("y[i] = x[i] x[i]", -EINVAL, 13,
		     "expected an operator or the end, not \"x\"");
	expect_error("y[i] = (x[i]", -EINVAL, 13, "expected \")\", not the end");
	expect_error("y[i] = x[i", -EINVAL, 11, "expected \"]\", not the end");
	expect_error("y[i, = x[i]", -EINVAL, 6, "expected the name of an axis, not the end");
	expect_error("y[i<j] = x[i]", -EINVAL, 5, "expected an extent, not \"j\"");
	expect_error("y[i,i] = m[i,i]", -EINVAL, 5, "axis i is there twice");
	expect_error("y[i] = max(x[i])", -EINVAL, 16, "expected \",\", not \")\"");
	expect_error("7[i] = x[i]", -EINVAL, 1, "expected the name of a tensor, not \"7\"");
}

static void unknown_names_are_refused_at_their_column(void **state)
{
	(void)state;
	expect_error("y[i] = z[i]", -ENOENT, 8,
		     "tensor \"z\" is neither an input nor defined before");
	expect_error("y[i] = 1 + sqrt(x[i])", -EINVAL, 12,
		     "\"sqrt\" is no function: expected fma, min, max, abs, relu, clamp, select or "
		     "a type");
	expect_error("y[i] = x[i] + i", -EINVAL, 16,
		     "expected \"[\" and the indices of a tensor, not the end");
	expect_error("y[i] = x[i,0]", -EINVAL, 8, "x has 1 axes, there are 2 indices");
	expect_error("y[i] = x[i] + m[k,i]", -EINVAL, 0, "definition of y: k is no axis of it");
	expect_error("x[i<3] = m[0,i]", -EINVAL, 0, "there is a tensor x already");
}

static void types_must_fit(void **state)
{
	(void)state;
	expect_error("y[i] = x[i] + q[i]", -EINVAL, 13,
		     "the operands of + are f32 and u8, expected one type");
	expect_error("y[i] = q[i] * 0.5", -ERANGE, 15, "the number is no u8");
	expect_error("y[i] = q[i] + 256", -ERANGE, 15, "the number is no u8");
	expect_error("y[i] = q[i] + -1", -ERANGE, 15, "the number is no u8");
	expect_error("y[i] = x[i] + 1e39", -ERANGE, 15, "the number is no f32");
	expect_error("y[i<3] = 7", -EINVAL, 10,
		     "a number alone has no type, expected one such as f32(7)");
	expect_error("y[i<3] = min(7, 8)", -EINVAL, 10,
		     "min of numbers alone has no type, expected one such as f32(7)");
	expect_error("y[i] = select(x[i], x[i], 0)", -EINVAL, 8,
		     "the condition of select is f32, expected u8, as a comparison is");
	expect_error("y[i] = m[x[i], i]", -EINVAL, 0,
		     "definition of y: indices in x are f32, expected integers");
	expect_error("y[i] = -w[i]", -EINVAL, 0,
		     "definition of y: elements of raw128 are moved, never computed with");
	expect_error("y[i] = x[i] + 99999999999999999999", -EOVERFLOW, 15,
		     "number is larger than 9223372036854775807");
}

static void extents_must_be_known(void **state)
{
	(void)state;
	expect_error("y[i,j] = m[i,j] + x[i]", -EINVAL, 0,
		     "axis i has 4 elements in m and 6 in x");
	expect_error("y[i] = x[i//2]", -EINVAL, 0,
		     "axis i: no tensor is indexed by it alone, expected its extent, such as i<8");
	expect_error("y[r[i], j] = m[i,j]", -EINVAL, 7,
		     "expected \"<\" and the extent of the axis, not \",\"");
}

static void indices_must_stay_in_their_tensor(void **state)
{
	(void)state;
	expect_error("y[i<7] = x[i]", -ERANGE, 0,
		     "axis 0 of x: the index i goes from 0 to 6, expected from 0 to 5 or a "
		     "condition");
	expect_error("y[i<6] = x[i-1]", -ERANGE, 0,
		     "axis 0 of x: the index i - 1 goes from -1 to 4, expected from 0 to 5 or a "
		     "condition");
	expect_error("y[i<7] = select(i < 6, x[i-1], 0)", -ERANGE, 0,
		     "axis 0 of x: the index i - 1 goes from -1 to 4, expected from 0 to 5 or a "
		     "condition");
	expect_error("y[i] = x[r[i] - 1]", -ERANGE, 0,
		     "axis 0 of x: a loaded index of 0 leads out of its 6 elements");
	expect_error("y[i] = x[r[i]//2]", -ENOTSUP, 0,
		     "gather from x: expected an index that is a multiple of the loaded one, plus "
		     "an expression");
}

static void loaded_indices_are_one_deep(void **state)
{
	(void)state;
	expect_error("y[i,j] = m[r[i], r[j]]", -EINVAL, 19,
		     "expected one loaded index for a tensor, not two");
	expect_error("y[i] = x[r[r[i]]]", -EINVAL, 13,
		     "an index is loaded as it is, expected no load in its own indices");
	expect_error("y[r[i]<5, r[j]<5] = m[i,j]", -EINVAL, 11,
		     "expected one loaded index, not two");
}

static void depth_is_limited(void **state)
{
	char text[4000] = "y[i] = ";

	(void)state;
	for (int k = 0; k < 300; k++)
		strcat(text, "(");
	expect_error(text, -E2BIG, 264, "more than 256 parentheses open");
}

/* Printing --------------------------------------------------------------------------------- */

/* Defined by values, a definition is printed as it could have been written. */
static void definition_by_values_is_printed(void **state)
{
	static const char *const axes[] = { "i", "j" };
	static const char *const texts[] = {
		"y[i, j] = m[i, j] * (x[j] + 1.5) - s[]",
		"y[i, j] = select(i >= 1 and j < 2, m[i, j], 2)",
		"y[i, j] = u8(max(m[i, j], 0))",
		"y[i, j] = x[r[i] + 1] + m[3 - r[i], j]",
	};

	(void)state;
	for (uint32_t k = 0; k < COUNT(texts); k++) {
		struct function_tensor *tensor;
		struct fixture fixture;

		start(&fixture);
		fixture_define(&fixture, texts[k]);
		tensor = &fixture.function->tensors[fixture.function->num_tensors - 1];
		expect_ok(accel_function_define_value(fixture.function, "z", 2, axes,
						      tensor->shape, tensor->parts[0].value,
						      &error));
		tensor = &fixture.function->tensors[fixture.function->num_tensors - 1];
		assert_string_equal(tensor->text + 1, texts[k] + 1);
		fixture_finish(&fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators_bind_as_in_c),
		cmocka_unit_test(functions_are_computed),
		cmocka_unit_test(every_form_runs),
		cmocka_unit_test(malformed_text_is_refused_at_its_column),
		cmocka_unit_test(unknown_names_are_refused_at_their_column),
		cmocka_unit_test(types_must_fit),
		cmocka_unit_test(extents_must_be_known),
		cmocka_unit_test(indices_must_stay_in_their_tensor),
		cmocka_unit_test(loaded_indices_are_one_deep),
		cmocka_unit_test(depth_is_limited),
		cmocka_unit_test(definition_by_values_is_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
