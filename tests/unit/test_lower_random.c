// SPDX-License-Identifier: MIT
/*
 * Random nests, lowered and walked point by point. --seed N --count 1 replays one.
 */
#include <errno.h>

#include "lower_test.h"
#include "seed.h"

static uint64_t first_seed;
static uint64_t count = 500;

static const char *const names[] = { "a", "b", "c", "d", "e" };

static int64_t draw(struct random *random, int64_t first, int64_t last)
{
	return random_between(random, first, last);
}

static int64_t draw_extent(struct random *random)
{
	static const int64_t extents[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 14, 16 };

	return extents[draw(random, 0, 11)];
}

/* A sum of axes with random coefficients: a flattened index, a window of an image, or worse. */
static void draw_sum(struct random *random, const struct lower_nest *nest, char *text, size_t size)
{
	int64_t coefficient = 1, a = draw(random, 0, nest->num_axes - 1);
	size_t length = 0;

	for (int64_t n = draw(random, 1, 3); n > 0; n--) {
		int64_t used = draw(random, 0, 3) ? coefficient : draw(random, -5, 9);

		length += (size_t)snprintf(text + length, size - length, "%s%" PRId64 "*%s",
					   length ? " + " : "", used, nest->axes[a].name);
		coefficient *= nest->axes[a].extent;
		a = (a + 1) % nest->num_axes;
	}
	if (!draw(random, 0, 2))
		snprintf(text + length, size - length, " + %" PRId64, draw(random, -9, 9));
}

/* What is not quasi-affine. */
static void draw_worse_index(struct random *random, const struct lower_nest *nest, char *text,
			     size_t size)
{
	char a[128], b[128];

	draw_sum(random, nest, a, sizeof(a));
	draw_sum(random, nest, b, sizeof(b));
	switch (draw(random, 0, 3)) {
	case 0:
		snprintf(text, size, "min(%s, %s)", a, b);
		break;
	case 1:
		snprintf(text, size, "max((%s) // 3, %s)", a, b);
		break;
	case 2:
		snprintf(text, size, "select((%s) %% 5 < 2 or %s == 4, %s, 3)", a, b, b);
		break;
	default:
		snprintf(text, size, "(%s) * (%s) // 2", a, b);
		break;
	}
}

/* A digit of a sum: (sum // d) % m */
static void draw_index(struct random *random, const struct lower_nest *nest, char *text,
		       size_t size)
{
	char sum[128];

	if (!draw(random, 0, 15)) {
		draw_worse_index(random, nest, text, size);
		return;
	}
	draw_sum(random, nest, sum, sizeof(sum));
	switch (draw(random, 0, 4)) {
	case 0:
		snprintf(text, size, "%s", sum);
		break;
	case 1:
		snprintf(text, size, "(%s) // %" PRId64, sum, draw(random, 1, 17));
		break;
	case 2:
		snprintf(text, size, "(%s) %% %" PRId64, sum, draw(random, 1, 17));
		break;
	case 3:
		snprintf(text, size, "((%s) // %" PRId64 ") %% %" PRId64, sum, draw(random, 1, 9),
			 draw(random, 1, 9));
		break;
	default:
		snprintf(text, size, "((%s) %% %" PRId64 ") // %" PRId64, sum, draw(random, 1, 17),
			 draw(random, 1, 5));
		break;
	}
}

static void draw_operand(struct random *random, struct lower_nest *nest)
{
	struct lower_operand *operand = add_operand(nest, ACCEL_DTYPE_U8);
	bool is_destination = nest->num_operands == 1;
	char text[256];

	for (int64_t t = draw(random, 1, 4); t > 0; t--) {
		draw_index(random, nest, text, sizeof(text));
		add_term(nest, operand, text, draw(random, 1, 40) * draw(random, 1, 3));
	}
	for (int64_t c = draw(random, 0, is_destination ? 1 : 2); c > 0; c--) {
		if (draw(random, 0, 1))
			draw_sum(random, nest, text, sizeof(text));
		else
			draw_index(random, nest, text, sizeof(text));
		add_condition(nest, operand, text, draw(random, 0, 12));
	}
}

static void lower_wild_nest(uint64_t seed, uint32_t *statistics)
{
	struct random random = { seed };
	struct lower_nest nest = { 0 };
	struct accel_plan *plan;
	int64_t points = 1;
	int ret;

	for (int64_t a = draw(&random, 1, 5); a > 0 && points < 600; a--) {
		int64_t extent = draw_extent(&random);

		points *= extent;
		add_axis(&nest, names[nest.num_axes], extent);
	}
	nest.keeps_order = draw(&random, 0, 3) == 0;
	for (int64_t k = draw(&random, 2, 3); k > 0; k--)
		draw_operand(&random, &nest);
	plan = plan_new();
	for (uint32_t k = 0; k < nest.num_operands + 1; k++) {
		uint32_t slot;

		plan_add_temporary(plan, 1 << 20, &slot, &error);
	}
	ret = lower_nest(&nest, plan, &error);
	/* so many windows may cut it into more jobs than there can be */
	statistics[3] += ret == -E2BIG;
	if (ret == -E2BIG)
		goto out;
	if (ret) {
		print_nest(&nest);
		fail_msg("seed %" PRIu64 ": %s", seed, error.message);
	}
	printf("# seed %" PRIu64 "\n", seed);
	expect_same_visits(&nest, plan);
	statistics[0] += plan->num_jobs == 1;
	statistics[1] += plan->num_jobs > 1;
	statistics[2] += has_table(plan);
out:
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

/* An axis of a tensor in memory: how it is cut into digits, with room for more than it has. */
static void draw_axis_digits(struct random *random, const char *name, int64_t extent, char *text,
			     size_t size)
{
	int64_t inner = draw(random, 2, 6), outer = draw(random, 2, 3);
	int64_t tiles = (extent + inner - 1) / inner;

	switch (draw(random, 0, 3)) {
	case 0:
		snprintf(text, size, "%s: %" PRId64, name, extent + draw(random, 0, 2));
		break;
	case 1:
		snprintf(text, size, "%s//%" PRId64 ": %" PRId64 "; %s %% %" PRId64 ": %" PRId64,
			 name, inner, tiles, name, inner, inner);
		break;
	case 2:
		snprintf(text, size, "%" PRId64 " - %s: %" PRId64, extent - 1, name, extent);
		break;
	default:
		snprintf(text, size, "%s//%" PRId64 ": %" PRId64 "; %s//%" PRId64 " %% %" PRId64
			 ": %" PRId64 "; %s %% %" PRId64 ": %" PRId64, name, inner * outer,
			 (tiles + outer - 1) / outer, name, inner, outer, outer, name, inner,
			 inner);
		break;
	}
}

/* Two axes as one, cut elsewhere than where they meet. */
static void draw_fused_digits(struct random *random, const struct lower_axis *axes, char *text,
			      size_t size)
{
	int64_t total = axes[0].extent * axes[1].extent, inner = draw(random, 1, total);

	snprintf(text, size, "(%" PRId64 "*%s + %s)//%" PRId64 ": %" PRId64 "; (%" PRId64
		 "*%s + %s) %% %" PRId64 ": %" PRId64, axes[1].extent, axes[0].name, axes[1].name,
		 inner, (total + inner - 1) / inner, axes[1].extent, axes[0].name, axes[1].name,
		 inner, inner);
}

/* A tensor over all axes, its digits in random order. Nothing is twice in the same place. */
static void draw_tensor(struct random *random, struct lower_nest *nest)
{
	char digits[16][128], part[400], text[MAX_TEXT] = "";
	uint32_t count = 0;

	for (uint32_t a = 0; a < nest->num_axes; a++) {
		char *rest = part;

		if (a + 1 < nest->num_axes && !draw(random, 0, 2))
			draw_fused_digits(random, &nest->axes[a++], part, sizeof(part));
		else
			draw_axis_digits(random, nest->axes[a].name, nest->axes[a].extent, part,
					 sizeof(part));
		while (*rest)
			snprintf(digits[count++], sizeof(digits[0]), "%s", next_part(&rest, ';'));
	}
	while (count) {
		uint32_t chosen = (uint32_t)draw(random, 0, count - 1);

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s; ", digits[chosen]);
		memmove(digits[chosen], digits[--count], sizeof(digits[0]));
	}
	add_tensor(nest, ACCEL_DTYPE_U8, text);
}

static void lower_layouts(uint64_t seed, uint32_t *statistics)
{
	struct random random = { seed };
	struct lower_nest nest = { 0 };
	struct accel_plan *plan;

	printf("# seed %" PRIu64 "\n", seed);
	for (int64_t a = draw(&random, 1, 4); a > 0; a--)
		add_axis(&nest, names[nest.num_axes], draw_extent(&random));
	for (uint32_t k = 0; k < 2; k++)
		draw_tensor(&random, &nest);
	plan = lower_and_check(&nest);
	statistics[0] += plan->num_jobs == 1;
	statistics[1] += plan->num_jobs > 1;
	statistics[2] += has_table(plan);
	accel_plan_unref(plan);
	lower_nest_release(&nest);
}

static void random_layouts_keep_their_points(void **state)
{
	uint32_t statistics[3] = { 0 };

	(void)state;
	for (uint64_t n = 0; n < count; n++)
		lower_layouts(first_seed + n, statistics);
	printf("# %u of one job, %u of several, %u with tables\n", statistics[0], statistics[1],
	       statistics[2]);
}

static void random_nests_keep_their_points(void **state)
{
	uint32_t statistics[4] = { 0 };

	(void)state;
	for (uint64_t n = 0; n < count; n++)
		lower_wild_nest(first_seed + n, statistics);
	printf("# %u of one job, %u of several, %u with tables, %u of too many\n", statistics[0],
	       statistics[1], statistics[2], statistics[3]);
	assert_true(statistics[3] <= 1 + count / 100);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_layouts_keep_their_points),
		cmocka_unit_test(random_nests_keep_their_points),
	};

	first_seed = seed_from_arguments(argc, argv);
	for (int k = 1; k + 1 < argc; k++)
		if (!strcmp(argv[k], "--count"))
			count = strtoull(argv[k + 1], NULL, 0);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
