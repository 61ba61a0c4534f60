// SPDX-License-Identifier: MIT
/*
 * Random chains of one to five operations, with a temporary after each and fused, against the
 * oracle. `--seed N` replays the first of `--count N` chains.
 */
#include "function_test.h"

#define MAX_ELEMENTS	4000

static uint64_t seed, num_chains = 400;

/* The tensor at the end of the chain. */
struct end {
	char name[ACCEL_NAME_MAX + 1];
	enum accel_dtype dtype;
	uint32_t rank;
	int64_t shape[ACCEL_MAX_DIMS];
};

static int64_t draw(struct fixture *fixture, int64_t first, int64_t last)
{
	return random_between(&fixture->random, first, last);
}

static void look_up(struct fixture *fixture, const char *name, struct end *end)
{
	if (end->name != name)
		snprintf(end->name, sizeof(end->name), "%s", name);
	expect_ok(accel_function_tensor(fixture->function, end->name, &end->dtype, &end->rank,
					end->shape, &error));
}

/* Another name for each tensor. */
static void new_name(const struct fixture *fixture, char name[ACCEL_NAME_MAX + 1])
{
	snprintf(name, ACCEL_NAME_MAX + 1, "t%u", fixture->function->num_tensors);
}

static int64_t room(const struct end *end)
{
	int64_t count = fixture_count(end->rank, end->shape);

	return count ? MAX_ELEMENTS / count : MAX_ELEMENTS;
}

/* Steps: each defines result from the end, or returns false if it does not fit -------------- */

static bool step_permute(struct fixture *fixture, const struct end *end, const char *result)
{
	uint32_t axes[ACCEL_MAX_DIMS];

	for (uint32_t k = 0; k < end->rank; k++) {
		uint32_t other = (uint32_t)draw(fixture, 0, k);

		axes[k] = axes[other];
		axes[other] = k;
	}
	expect_ok(accel_function_permute(fixture->function, result, end->name, axes, &error));
	return true;
}

static bool step_reshape(struct fixture *fixture, const struct end *end, const char *result)
{
	int64_t count = fixture_count(end->rank, end->shape), shape[ACCEL_MAX_DIMS];
	uint32_t rank = 0, limit = (uint32_t)draw(fixture, 1, 5);

	while (rank + 1 < limit && count > 1) {
		int64_t extent = draw(fixture, 1, count < 12 ? count : 12);

		while (count % extent)
			extent--;
		shape[rank++] = extent;
		count /= extent;
	}
	shape[rank++] = count;
	expect_ok(accel_function_reshape(fixture->function, result, end->name, rank, shape,
					 &error));
	return true;
}

/* An axis split by a factor, its halves anywhere. */
static bool step_map(struct fixture *fixture, const struct end *end, const char *result)
{
	uint32_t axis = (uint32_t)draw(fixture, 0, (int64_t)end->rank - 1);
	uint32_t place = (uint32_t)draw(fixture, 0, end->rank);
	int64_t factor = draw(fixture, 2, 5), shift = draw(fixture, 0, 3) ? 0 : draw(fixture, 1, 4);
	uint64_t padding[2] = { 0 };
	char text[400] = "(";
	struct accel_map *map;

	if (room(end) < 2 || end->rank > 7)
		return false;
	fixture_element(fixture, end->dtype, padding);
	for (uint32_t k = 0; k < end->rank; k++)
		snprintf(text + strlen(text), 40, "%si%u", k ? ", " : "", k);
	strcat(text, ") -> (");
	for (uint32_t k = 0; k <= end->rank; k++) {
		if (k == place)
			snprintf(text + strlen(text), 60, "%s(i%u + %d)//%d", k ? ", " : "", axis,
				 (int)shift, (int)factor);
		if (k == end->rank)
			break;
		snprintf(text + strlen(text), 40, k || !place ? ", " : "");
		if (k == axis)
			snprintf(text + strlen(text), 60, "(i%u + %d)%%%d", k, (int)shift,
				 (int)factor);
		else
			snprintf(text + strlen(text), 40, "i%u", k);
	}
	strcat(text, ")");
	expect_ok(accel_map_parse(text, &map, &error));
	expect_ok(accel_function_map(fixture->function, result, end->name, map,
				     draw(fixture, 0, 1) ? padding : NULL, &error));
	accel_map_unref(map);
	return true;
}

static bool step_slice(struct fixture *fixture, const struct end *end, const char *result)
{
	static const char *const items[] = { ":", "::2", "::-1", "1:", ":-1", "::-2", "-3:", ":2" };
	char text[200] = "";

	for (uint32_t k = 0; k < end->rank; k++) {
		strcat(text, k ? ", " : "");
		if (!draw(fixture, 0, 6))
			strcat(text, "None, ");
		strcat(text, !draw(fixture, 0, 8) && end->shape[k] ? "0" :
			     items[draw(fixture, 0, COUNT(items) - 1)]);
	}
	if (end->rank > 6)
		return false;
	expect_ok(accel_function_slice(fixture->function, result, end->name, text, &error));
	return true;
}

static bool step_pad(struct fixture *fixture, const struct end *end, const char *result)
{
	int64_t before[ACCEL_MAX_DIMS] = { 0 }, after[ACCEL_MAX_DIMS] = { 0 };
	uint64_t padding[2] = { 0 };

	if (room(end) < 4)
		return false;
	fixture_element(fixture, end->dtype, padding);
	for (uint32_t k = 0; k < end->rank; k++) {
		if (draw(fixture, 0, 1))
			continue;
		before[k] = draw(fixture, end->shape[k] > 2 ? -1 : 0, 2);
		after[k] = draw(fixture, end->shape[k] > 2 ? -1 : 0, 2);
	}
	expect_ok(accel_function_pad(fixture->function, result, end->name, before, after,
				     draw(fixture, 0, 1) ? padding : NULL, &error));
	return true;
}

static bool step_repeat(struct fixture *fixture, const struct end *end, const char *result)
{
	int64_t counts[ACCEL_MAX_DIMS];
	uint32_t axis = (uint32_t)draw(fixture, 0, (int64_t)end->rank - 1);

	if (room(end) < 3)
		return false;
	if (draw(fixture, 0, 1)) {
		expect_ok(accel_function_repeat(fixture->function, result, end->name, axis,
						draw(fixture, 1, 3), &error));
		return true;
	}
	for (uint32_t k = 0; k < end->rank; k++)
		counts[k] = k == axis ? draw(fixture, 1, 3) : 1;
	expect_ok(accel_function_tile(fixture->function, result, end->name, counts, &error));
	return true;
}

static bool step_broadcast(struct fixture *fixture, const struct end *end, const char *result)
{
	int64_t shape[ACCEL_MAX_DIMS];

	if (room(end) < 3 || end->rank > 6)
		return false;
	memcpy(shape + 1, end->shape, sizeof(shape) - sizeof(shape[0]));
	shape[0] = draw(fixture, 1, 3);
	expect_ok(accel_function_broadcast(fixture->function, result, end->name, end->rank + 1,
					   shape, &error));
	return true;
}

static bool step_join(struct fixture *fixture, const struct end *end, const char *result)
{
	const char *const sources[] = { end->name, end->name };
	uint32_t axis = (uint32_t)draw(fixture, 0, (int64_t)end->rank - 1);

	if (room(end) < 2 || end->rank > 6)
		return false;
	if (draw(fixture, 0, 1))
		expect_ok(accel_function_concat(fixture->function, result, 2, sources, axis,
						&error));
	else
		expect_ok(accel_function_stack(fixture->function, result, 2, sources, axis,
					       &error));
	return true;
}

static bool step_gather(struct fixture *fixture, const struct end *end, const char *result)
{
	static const enum accel_dtype dtypes[] = {
		ACCEL_DTYPE_U8, ACCEL_DTYPE_I16, ACCEL_DTYPE_I32, ACCEL_DTYPE_U64,
	};
	uint32_t axis = (uint32_t)draw(fixture, 0, (int64_t)end->rank - 1);
	const int64_t shape[2] = { draw(fixture, 1, 3), draw(fixture, 1, 3) };
	char name[ACCEL_NAME_MAX + 1];

	if (!end->shape[axis] || room(end) < 9 || end->rank > 6)
		return false;
	snprintf(name, sizeof(name), "r%u", fixture->function->num_tensors);
	fixture_input(fixture, name, dtypes[draw(fixture, 0, 3)], 1 + draw(fixture, 0, 1), shape,
		      NULL, end->shape[axis]);
	expect_ok(accel_function_gather(fixture->function, result, end->name, axis, name, &error));
	return true;
}

static bool step_scatter(struct fixture *fixture, const struct end *end, const char *result)
{
	uint32_t axis = (uint32_t)draw(fixture, 0, (int64_t)end->rank - 1);
	int64_t extent = end->shape[axis] + draw(fixture, 0, 2), index = 0;
	char name[ACCEL_NAME_MAX + 1];
	uint64_t padding[2] = { 0 };

	if (!end->shape[axis] || end->shape[axis] > 200 || room(end) < 3)
		return false;
	fixture_element(fixture, end->dtype, padding);
	snprintf(name, sizeof(name), "r%u", fixture->function->num_tensors);
	fixture_input(fixture, name, ACCEL_DTYPE_U8, 1, &end->shape[axis], NULL, 1);
	for (; index < end->shape[axis]; index++)
		*fixture_address(fixture->inputs[fixture->num_inputs - 1], &index) =
			(uint8_t)(extent - 1 - index);
	expect_ok(accel_function_scatter(fixture->function, result, end->name, axis, name, extent,
					 padding, &error));
	return true;
}

/* "i0, i1" */
static void axis_names(uint32_t rank, char text[200])
{
	*text = '\0';
	for (uint32_t k = 0; k < rank; k++)
		snprintf(text + strlen(text), 20, "%si%u", k ? ", " : "", k);
}

static bool step_compute(struct fixture *fixture, const struct end *end, const char *result)
{
	static const char *const formats[] = {
		"%s[%s] = %s[%s] * 3 + 1",
		"%s[%s] = relu(%s[%s])",
		"%s[%s] = -%s[%s] + 2",
		"%s[%s] = clamp(%s[%s], 1, 9)",
		"%s[%s] = i16(%s[%s])",
		"%s[%s] = f32(%s[%s]) * 0.25",
		"%s[%s] = u8(%s[%s])",
	};
	char text[1000], axes[200];

	if (dtype_is_raw(end->dtype) || !end->rank)
		return false;
	axis_names(end->rank, axes);
	snprintf(text, sizeof(text), formats[draw(fixture, 0, COUNT(formats) - 1)], result, axes,
		 end->name, axes);
	fixture_define(fixture, text);
	return true;
}

/* The end, twice, or with an input that is broadcast. */
static bool step_combine(struct fixture *fixture, const struct end *end, const char *result)
{
	char text[1000], axes[200], name[ACCEL_NAME_MAX + 1];
	uint32_t axis = (uint32_t)draw(fixture, 0, (int64_t)end->rank - 1);

	if (dtype_is_raw(end->dtype))
		return false;
	axis_names(end->rank, axes);
	if (draw(fixture, 0, 1)) {
		snprintf(text, sizeof(text), "%s[%s] = %s[%s] * %s[%s] - %s[%s]", result, axes,
			 end->name, axes, end->name, axes, end->name, axes);
	} else {
		snprintf(name, sizeof(name), "s%u", fixture->function->num_tensors);
		fixture_input(fixture, name, end->dtype, 1, &end->shape[axis], NULL, 0);
		snprintf(text, sizeof(text), "%s[%s] = select(i%u %% 2 == 0, %s[%s], %s[i%u] + 1)",
			 result, axes, axis, end->name, axes, name, axis);
	}
	fixture_define(fixture, text);
	return true;
}

static bool step_im2col(struct fixture *fixture, const struct end *end, const char *result)
{
	struct accel_im2col im2col = {
		.is_nhwc = draw(fixture, 0, 1),
		.is_view = draw(fixture, 0, 1),
		.kernel = { draw(fixture, 1, 3), draw(fixture, 1, 3) },
		.stride = { draw(fixture, 0, 2), draw(fixture, 0, 2) },
		.pad = { draw(fixture, 0, 2), draw(fixture, 0, 2) },
		.dilation = { draw(fixture, 0, 2), draw(fixture, 0, 2) },
	};
	int ret;

	if (end->rank != 4 || room(end) < 9)
		return false;
	ret = accel_function_im2col(fixture->function, result, end->name, &im2col, &error);
	assert_true(!ret || ret == -EINVAL);
	return !ret;
}

typedef bool (*step)(struct fixture *fixture, const struct end *end, const char *result);

static const step steps[] = {
	step_permute, step_reshape, step_map, step_slice, step_pad, step_repeat, step_broadcast,
	step_join, step_gather, step_scatter, step_compute, step_combine, step_im2col,
	step_permute, step_reshape, step_map, step_compute, step_im2col,
};

/* Chains ----------------------------------------------------------------------------------- */

static void start_chain(struct fixture *fixture, struct end *end)
{
	static const enum accel_dtype dtypes[] = {
		ACCEL_DTYPE_U8, ACCEL_DTYPE_I8, ACCEL_DTYPE_U16, ACCEL_DTYPE_I32, ACCEL_DTYPE_I64,
		ACCEL_DTYPE_F16, ACCEL_DTYPE_BF16, ACCEL_DTYPE_F32, ACCEL_DTYPE_F64,
		ACCEL_DTYPE_RAW8, ACCEL_DTYPE_RAW32, ACCEL_DTYPE_RAW128,
	};
	static const char *const layouts[] = { NULL, NULL, "NHWC", "NCHW4c", "NCHW3c" };
	enum accel_dtype dtype = dtypes[draw(fixture, 0, COUNT(dtypes) - 1)];
	uint32_t rank = (uint32_t)draw(fixture, 1, 4);
	const char *layout = NULL;
	int64_t shape[4];

	for (uint32_t k = 0; k < rank; k++)
		shape[k] = draw(fixture, draw(fixture, 0, 30) ? 1 : 0, rank < 3 ? 9 : 6);
	if (rank == 4)
		layout = layouts[draw(fixture, 0, COUNT(layouts) - 1)];
	fixture_input(fixture, "x", dtype, rank, shape, layout, 0);
	look_up(fixture, "x", end);
}

static void finish_chain(struct fixture *fixture, const struct end *end)
{
	uint64_t padding[2] = { 0 };
	char text[600] = "", names[200];

	fixture_element(fixture, end->dtype, padding);
	if (end->rank && end->rank < 8 && !draw(fixture, 0, 2)) {
		axis_names(end->rank, names);
		snprintf(text, sizeof(text), "(%s) -> (i0//3, %s%si0%%3)", names,
			 end->rank > 1 ? names + 4 : "", end->rank > 1 ? ", " : "");
	}
	fixture_output(fixture, end->name, *text ? text : NULL, padding);
	if (!draw(fixture, 0, 3) && fixture->function->num_tensors > 2)
		fixture_output(fixture, fixture->function->tensors[1].name, NULL, NULL);
}

static void run_chain(uint64_t chain_seed)
{
	const struct accel_plan_options unfused = { .is_unfused = true };
	const struct accel_plan_options ordered = { .keeps_order = true };
	char name[ACCEL_NAME_MAX + 1];
	struct fixture fixture;
	struct end end;

	fixture_start(&fixture, chain_seed);
	start_chain(&fixture, &end);
	for (int64_t left = draw(&fixture, 1, 5); left && end.rank; left--) {
		new_name(&fixture, name);
		if (steps[draw(&fixture, 0, COUNT(steps) - 1)](&fixture, &end, name))
			look_up(&fixture, name, &end);
	}
	finish_chain(&fixture, &end);
	fixture_check(&fixture, &unfused);
	fixture_check(&fixture, draw(&fixture, 0, 1) ? &ordered : NULL);
	fixture_finish(&fixture);
}

static void random_chains_compute_what_they_say(void **state)
{
	(void)state;
	for (uint64_t k = 0; k < num_chains; k++) {
		fprintf(stderr, "\rchain --seed %llu --count 1   ", (unsigned long long)(seed + k));
		run_chain(seed + k);
	}
	fprintf(stderr, "\r");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_chains_compute_what_they_say),
	};

	seed = seed_from_arguments(argc, argv);
	for (int k = 1; k + 1 < argc; k++)
		if (!strcmp(argv[k], "--count"))
			num_chains = strtoull(argv[k + 1], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
