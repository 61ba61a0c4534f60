// SPDX-License-Identifier: MIT
/*
 * Layouts and maps without memory: whichever allocation is the first to fail, the call says
 * -ENOMEM, fills in the error and leaves nothing behind, which is for the leak sanitizer to see.
 */
#include "memory_test.h"

static const int64_t shape[] = { 5, 100, 150, 9, 7 };

static int analyze(const char *text, struct accel_error *error)
{
	struct accel_map_analysis analysis;
	struct accel_map *map;
	int code;

	code = accel_map_parse(text, &map, error);
	if (code)
		return code;
	code = accel_map_analyze(map, accel_map_num_inputs(map), strchr(text, '<') ? NULL : shape,
				 &analysis, error);
	accel_map_analysis_release(&analysis);
	accel_map_unref(map);
	return code;
}

static int compose(const char *text, struct accel_error *error)
{
	struct accel_map *map, *composed, *inner = NULL;
	enum accel_answer answer;
	int code;

	code = accel_map_parse(text, &map, error);
	if (code)
		return code;
	code = accel_map_compose(map, map, &composed, error);
	if (!code)
		code = accel_map_expand(composed, 4, &inner, error);
	if (!code)
		code = accel_map_equal(inner, map, 4, shape, &answer, error);
	accel_map_unref(inner);
	accel_map_unref(composed);
	accel_map_unref(map);
	return code;
}

static int transform(const char *text, struct accel_error *error)
{
	struct accel_loop_nest *nest = NULL;
	struct accel_transform *transform = NULL;
	struct accel_map *map, *applied = NULL;
	uint32_t rank;
	int code;

	code = accel_map_parse(text, &map, error);
	if (code)
		return code;
	rank = accel_map_num_inputs(map);
	code = accel_map_transform_layout(map, rank, shape, &nest, error);
	if (!code)
		code = accel_transform_create(rank, shape, &transform, error);
	if (!code)
		code = accel_transform_push(transform, map, error);
	if (!code)
		code = accel_transform_apply(transform, &applied, error);
	accel_map_unref(applied);
	accel_transform_unref(transform);
	accel_loop_nest_unref(nest);
	accel_map_unref(map);
	return code;
}

/* What a layout makes of the shape, and the same layout in each notation. */
static int use_layout(const char *text, struct accel_error *error)
{
	struct accel_layout *layout, *expressed;
	struct accel_error cause = { 0 };
	struct accel_map *map;
	int code;

	code = accel_layout_parse(text, NULL, &layout, error);
	if (code)
		return code;
	code = accel_layout_map(layout, ACCEL_DTYPE_F16, 3, shape, &map, error);
	accel_map_unref(map);
	for (uint32_t k = 0; !code && accel_notation_name(k); k++) {
		memset(&cause, 0, sizeof(cause));
		code = accel_layout_express(layout, ACCEL_DTYPE_F16, 3, shape,
					    accel_notation_name(k), &expressed, &cause);
		accel_layout_unref(expressed);
		if (code == -ENOTSUP)
			code = 0;
		if (code)
			*error = cause;
	}
	accel_layout_unref(layout);
	return code;
}

static int verify(const char *text, struct accel_error *error)
{
	static const uint32_t tensors[] = { 0, 1, 2 };
	static const struct accel_graph_node nodes[] = {
		{ "convolution", "Convolution", 1, &tensors[0], 1, &tensors[1], NULL },
		{ "sum", "Add", 1, &tensors[1], 1, &tensors[2], NULL },
	};
	struct accel_graph_tensor found[] = {
		{ "a", ACCEL_DTYPE_F16, 4, shape, NULL, text },
		{ "b", ACCEL_DTYPE_F16, 4, shape, NULL, NULL },
		{ "c", ACCEL_DTYPE_F16, 4, shape, NULL, NULL },
	};
	const struct accel_graph graph = { COUNT(found), found, COUNT(nodes), nodes };

	return accel_graph_verify(&graph, NULL, error);
}

static void maps_say_that_memory_is_short(void **state)
{
	(void)state;
	expect_failures(analyze, "(n, c, h, w) -> (n, c//16, h, (w + 2)//4, c%16, (w + 2)%4)");
	expect_failures(analyze, "(i < N, j < 4*M, k < M) -> (i*M + k, j//4, j%4)");
	expect_failures(analyze, "(i < 4) -> ((i + M)//4, (i + M)%4)");
	expect_failures(analyze, "(i, j) -> (max(i, j), min(i, j))");
	expect_failures(analyze, "[i//4, i%4]");
	expect_failures(compose, "(*b, c, d) -> (*b, d, c)");
	expect_failures(transform, "(i, j, k) -> (i//4, 150*j + k, i%4)");
}

static void layouts_say_that_memory_is_short(void **state)
{
	static const char *const texts[] = {
		"NHW", "NHW16h4w", "NH[4h4n]W", "glow:N[a=32][ns:data]H*[a=64]", "stick",
		"stick:padded=5,128,192;order=0,1,2", "stick:sparse", "strides:15000,150,1@3",
		"tile:outer=NHW;tile=1,8,8;inner=HNW", "xla:{2,1,0:T(8,128)(2,1)}",
		"onednn:ABc4b16a4b", "pack:inner_dims_pos=1;inner_tiles=16;outer_dims_perm=0,2,1",
		"(a, b, c) -> (a, b//4, c, b%4)", "(a, b, c) -> (a, max(b, c))",
	};

	(void)state;
	for (size_t k = 0; k < COUNT(texts); k++)
		expect_failures(use_layout, texts[k]);
}

static void verification_says_that_memory_is_short(void **state)
{
	(void)state;
	expect_failures(verify, "NHWC");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_say_that_memory_is_short),
		cmocka_unit_test(layouts_say_that_memory_is_short),
		cmocka_unit_test(verification_says_that_memory_is_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
