// SPDX-License-Identifier: MIT
/*
 * Functions and plans without memory: whichever allocation is the first to fail, the call says
 * -ENOMEM, fills in the error and leaves nothing behind, which is for the leak sanitizer to see.
 */
#include "memory_test.h"

static const int64_t shape[] = { 3, 8, 5, 6 }, rows[] = { 4 };

static int add_inputs(struct accel_function *function, struct accel_error *error)
{
	struct accel_layout *layout = NULL;
	int ret;

	ret = accel_layout_parse("NCHW4c", NULL, &layout, error);
	if (!ret)
		ret = accel_function_add_input(function, "x", ACCEL_DTYPE_F32, 4, shape, layout,
					       error);
	accel_layout_unref(layout);
	if (!ret)
		ret = accel_function_add_input(function, "r", ACCEL_DTYPE_I32, 1, rows, NULL,
					       error);
	return ret;
}

/* The operation, by its name, from x to y. */
static int operate(struct accel_function *function, const char *name, struct accel_error *error)
{
	static const struct accel_im2col im2col = { .kernel = { 2, 2 }, .pad = { 1, 1 } };
	static const int64_t flat[] = { 24, -1 }, before[] = { 0, 1, 2, 0 }, sizes[] = { 1, 2 };
	static const char *const sources[] = { "x", "x" }, *const results[] = { "y", "z" };

	if (!strcmp(name, "reshape"))
		return accel_function_reshape(function, "y", "x", 2, flat, error);
	if (!strcmp(name, "slice"))
		return accel_function_slice(function, "y", "x", "::-1, 2, ..., None", error);
	if (!strcmp(name, "pad"))
		return accel_function_pad(function, "y", "x", before, before, NULL, error);
	if (!strcmp(name, "im2col"))
		return accel_function_im2col(function, "y", "x", &im2col, error);
	if (!strcmp(name, "gather"))
		return accel_function_gather(function, "y", "x", 1, "r", error);
	if (!strcmp(name, "scatter"))
		return accel_function_scatter(function, "y", "r", 0, "r", 9, NULL, error);
	if (!strcmp(name, "concat"))
		return accel_function_concat(function, "y", 2, sources, 1, error);
	if (!strcmp(name, "stack"))
		return accel_function_stack(function, "y", 2, sources, 1, error);
	if (!strcmp(name, "split"))
		return accel_function_split(function, 2, results, "x", 0, sizes, error);
	return accel_function_quantize(function, "y", "x", ACCEL_DTYPE_I8, 2, 1, error);
}

/* Plans y, in a layout with padding, and without fusion. */
static int plan(struct accel_function *function, const char *layout_text,
		struct accel_error *error)
{
	struct accel_plan_options options = { .is_unfused = true };
	struct accel_layout *layout = NULL;
	struct accel_plan *plan = NULL;
	int ret = 0;

	if (layout_text)
		ret = accel_layout_parse(layout_text, NULL, &layout, error);
	if (!ret)
		ret = accel_function_add_output(function, "y", layout, NULL, error);
	accel_layout_unref(layout);
	if (!ret)
		ret = accel_plan_create(function, &options, &plan, error);
	accel_plan_unref(plan);
	plan = NULL;
	if (!ret)
		ret = accel_plan_create(function, NULL, &plan, error);
	accel_plan_unref(plan);
	return ret;
}

static int use_operation(const char *name, struct accel_error *error)
{
	struct accel_function *function;
	int ret = accel_function_create(&function, error);

	if (ret)
		return ret;
	ret = add_inputs(function, error);
	if (!ret)
		ret = operate(function, name, error);
	if (!ret)
		ret = plan(function, NULL, error);
	accel_function_unref(function);
	return ret;
}

static int use_definition(const char *text, struct accel_error *error)
{
	struct accel_function *function;
	int ret = accel_function_create(&function, error);

	if (ret)
		return ret;
	ret = add_inputs(function, error);
	if (!ret)
		ret = accel_function_define(function, text, error);
	if (!ret)
		ret = plan(function, "(a, b, c, d) -> (a, b//4, c, d, b%4)", error);
	accel_function_unref(function);
	return ret;
}

static int use_map(const char *text, struct accel_error *error)
{
	struct accel_function *function;
	struct accel_map *map = NULL;
	int ret = accel_function_create(&function, error);

	if (ret)
		return ret;
	ret = add_inputs(function, error);
	if (!ret)
		ret = accel_map_parse(text, &map, error);
	if (!ret)
		ret = accel_function_map(function, "y", "x", map, NULL, error);
	if (!ret)
		ret = plan(function, NULL, error);
	accel_map_unref(map);
	accel_function_unref(function);
	return ret;
}

static void operations_say_that_memory_is_short(void **state)
{
	static const char *const names[] = {
		"reshape", "slice", "pad", "im2col", "gather", "scatter", "concat", "stack",
		"split", "quantize",
	};

	(void)state;
	for (size_t k = 0; k < COUNT(names); k++)
		expect_failures(use_operation, names[k]);
}

static void definitions_say_that_memory_is_short(void **state)
{
	static const char *const texts[] = {
		"y[n,h,w,c] = relu(x[n,c,h,w] * 2.5 + x[0,c,h,w])",
		"y[n,c,h,w] = select(c < 3 or h == 2, x[n,c,h,w], 7)",
		"y[n,c,h,w] = select(c % 2 == 0, x[n,c,h,w], x[n,c,h,w] + 1)",
		"y[n,i,h,w] = -x[n, r[i] + 2, h, w]",
		"y[n,c,h,w] = x[n,c,h,w]*1 + x[n,c,h,0]*2 + x[n,c,0,w]*3 + x[n,0,h,w]*4 + "
			"x[0,c,h,w]*5",
	};

	(void)state;
	for (size_t k = 0; k < COUNT(texts); k++)
		expect_failures(use_definition, texts[k]);
}

static void maps_say_that_memory_is_short(void **state)
{
	(void)state;
	expect_failures(use_map, "(n, c, h, w) -> (n, h, w//4, c, w%4)");
	expect_failures(use_map, "(n, c, h, w) -> (n*(n + 1)//2 + 8*n, c, h, w)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_say_that_memory_is_short),
		cmocka_unit_test(definitions_say_that_memory_is_short),
		cmocka_unit_test(maps_say_that_memory_is_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
