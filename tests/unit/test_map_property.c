// SPDX-License-Identifier: MIT
/*
 * Random maps over random shapes against enumeration. The maps are made, and their values computed,
 * by this file alone: it hands the library text and numbers, and compares what comes back.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <accel.h>

#include "seed.h"

#define MAX_RANK	4
#define MAX_OUTPUTS	6
#define MAX_POINTS	600
#define MAX_BOX		40000
#define NUM_POINTS	1000000

static uint64_t seed;

/* Expressions of the test's own ------------------------------------------------------------- */

struct node {
	char operation;			/* 'c' constant, 'v' input, + - * / % m M < = s */
	int64_t value;			/* of a constant; number of an input */
	struct node *operands[3];
};

struct arena {
	size_t count;
	struct node nodes[4096];
};

static struct node *new_node(struct arena *arena, char operation, int64_t value, struct node *a,
			     struct node *b, struct node *c)
{
	struct node *node = &arena->nodes[arena->count++];

	assert_true(arena->count < 4096);
	*node = (struct node){ operation, value, { a, b, c } };
	return node;
}

static int64_t python_divide(int64_t a, int64_t b)
{
	int64_t quotient = a / b, rest = a - quotient * b;

	return rest && (rest < 0) != (b < 0) ? quotient - 1 : quotient;
}

static int64_t value_of(const struct node *node, const int64_t *index)
{
	int64_t a, b;

	if (node->operation == 'c')
		return node->value;
	if (node->operation == 'v')
		return index[node->value];
	a = value_of(node->operands[0], index);
	b = value_of(node->operands[1], index);
	switch (node->operation) {
	case '+':
		return a + b;
	case '-':
		return a - b;
	case '*':
		return a * b;
	case '/':
		return python_divide(a, b);
	case '%':
		return a - b * python_divide(a, b);
	case 'm':
		return a < b ? a : b;
	case 'M':
		return a > b ? a : b;
	case '<':
		return a < b;
	case '=':
		return a == b;
	default:
		return a ? b : value_of(node->operands[2], index);
	}
}

static const struct {
	char operation;
	const char *before, *between, *after;
} spellings[] = {
	{ '+', "(", " + ", ")" },    { '-', "(", " - ", ")" },	 { '*', "(", "*", ")" },
	{ '/', "(", "//", ")" },     { '%', "(", "%", ")" },	 { 'm', "min(", ", ", ")" },
	{ 'M', "max(", ", ", ")" },  { '<', "(", " < ", ")" },	 { '=', "(", " == ", ")" },
	{ 's', "select(", ", ", "" },
};

static void spell(const struct node *node, char *text)
{
	size_t k;

	text += strlen(text);
	if (node->operation == 'c') {
		sprintf(text, "%lld", (long long)node->value);
		return;
	}
	if (node->operation == 'v') {
		sprintf(text, "x%lld", (long long)node->value);
		return;
	}
	for (k = 0; spellings[k].operation != node->operation; k++)
		;
	strcpy(text, spellings[k].before);
	spell(node->operands[0], text);
	strcat(text, spellings[k].between);
	spell(node->operands[1], text);
	strcat(text, spellings[k].after);
	if (node->operation == 's') {
		strcat(text, ", ");
		spell(node->operands[2], text);
		strcat(text, ")");
	}
}

/* Random maps ------------------------------------------------------------------------------- */

struct random_map {
	uint32_t rank;
	uint32_t num_outputs;
	int64_t shape[MAX_RANK];
	struct node *outputs[MAX_OUTPUTS];
	char text[65536];
};

static int64_t count_points(const int64_t *shape, uint32_t rank)
{
	int64_t count = 1;
	uint32_t k;

	for (k = 0; k < rank; k++)
		count *= shape[k];
	return count;
}

static void make_shape(struct random *random, struct random_map *map)
{
	uint32_t k;

	map->rank = random_between(random, 1, MAX_RANK);
	do {
		for (k = 0; k < map->rank; k++)
			map->shape[k] = random_between(random, 0, 9) ?
					random_between(random, 1, map->rank > 2 ? 8 : 20) :
					random_between(random, 0, 1);
	} while (count_points(map->shape, map->rank) > MAX_POINTS);
}

/* Any expression: what comes out is hardly ever injective. */
static struct node *random_expression(struct random *random, struct arena *arena, uint32_t rank,
				      int depth)
{
	static const char operations[] = "++--**//%%mM<=s";
	struct node *a, *b, *c = NULL;
	char operation;

	if (depth == 0 || random_between(random, 0, 5) == 0) {
		if (random_between(random, 0, 2))
			return new_node(arena, 'v', random_between(random, 0, rank - 1), NULL, NULL,
					NULL);
		return new_node(arena, 'c', random_between(random, -9, 20), NULL, NULL, NULL);
	}
	operation = operations[random_between(random, 0, sizeof(operations) - 2)];
	a = random_expression(random, arena, rank, depth - 1);
	if (operation == '/' || operation == '%')
		b = new_node(arena, 'c', random_between(random, 0, 4) ?
			     random_between(random, 1, 12) : random_between(random, -7, -1), NULL,
			     NULL, NULL);
	else
		b = random_expression(random, arena, rank, depth - 1);
	if (operation == 's')
		c = random_expression(random, arena, rank, depth - 1);
	return new_node(arena, operation, 0, a, b, c);
}

static struct node *binary(struct arena *arena, char operation, struct node *a, int64_t value)
{
	struct node *b = new_node(arena, 'c', value, NULL, NULL, NULL);

	return new_node(arena, operation, 0, a, b, NULL);
}

/* Something that counts 0 .. extent - 1, while a map is made of splits and fusions. */
struct axis {
	struct node *node;
	int64_t extent;
};

static void split_axis(struct random *random, struct arena *arena, struct axis *axes,
		       uint32_t *count)
{
	uint32_t k = random_between(random, 0, *count - 1);
	int64_t factor = random_between(random, 1, 6), left = 0;
	struct node *node = axes[k].node;

	if (*count == MAX_OUTPUTS)
		return;
	if (random_between(random, 0, 3) == 0) {
		left = random_between(random, 1, 9);
		node = binary(arena, '+', node, left);
	}
	axes[*count] = (struct axis){ binary(arena, '%', node, factor), factor };
	axes[k] = (struct axis){ binary(arena, '/', node, factor),
				 (axes[k].extent + left + factor - 1) / factor };
	++*count;
}

static void fuse_axes(struct random *random, struct arena *arena, struct axis *axes,
		      uint32_t *count)
{
	uint32_t a = random_between(random, 0, *count - 1);
	uint32_t b = random_between(random, 0, *count - 1);
	int64_t scale;

	if (a == b)
		return;
	scale = axes[b].extent + (random_between(random, 0, 5) ? 0 : random_between(random, 0, 3));
	axes[a].node = new_node(arena, '+', 0, binary(arena, '*', axes[a].node, scale),
				axes[b].node, NULL);
	axes[a].extent = axes[a].extent * scale;
	axes[b] = axes[--*count];
}

static void change_axis(struct random *random, struct arena *arena, struct axis *axes,
			uint32_t *count)
{
	uint32_t a = random_between(random, 0, *count - 1);
	uint32_t b = random_between(random, 0, *count - 1);
	struct axis axis = axes[a];

	switch (random_between(random, 0, 9)) {
	case 0:
		axes[a].node = new_node(arena, '-', 0,
					new_node(arena, 'c', axis.extent - 1, NULL, NULL, NULL),
					axis.node, NULL);
		break;
	case 1:
		if (*count < MAX_OUTPUTS)
			axes[(*count)++] = axis;
		break;
	case 2:
		if (*count > 1 && random_between(random, 0, 3) == 0)
			axes[a] = axes[--*count];
		break;
	default:
		axes[a] = axes[b];
		axes[b] = axis;
	}
}

static void make_structured(struct random *random, struct arena *arena, struct random_map *map)
{
	struct axis axes[MAX_OUTPUTS + 1];
	uint32_t count = map->rank, k;
	int steps = random_between(random, 0, 6);

	for (k = 0; k < map->rank; k++)
		axes[k] = (struct axis){ new_node(arena, 'v', k, NULL, NULL, NULL),
					 map->shape[k] ? map->shape[k] : 1 };
	while (steps--) {
		switch (random_between(random, 0, 2)) {
		case 0:
			split_axis(random, arena, axes, &count);
			break;
		case 1:
			fuse_axes(random, arena, axes, &count);
			break;
		default:
			change_axis(random, arena, axes, &count);
		}
	}
	map->num_outputs = count;
	for (k = 0; k < count; k++)
		map->outputs[k] = axes[k].node;
}

static void make_map(struct random *random, struct arena *arena, struct random_map *map)
{
	uint32_t k;

	arena->count = 0;
	make_shape(random, map);
	if (random_between(random, 0, 3)) {
		make_structured(random, arena, map);
	} else {
		map->num_outputs = random_between(random, 1, 4);
		for (k = 0; k < map->num_outputs; k++)
			map->outputs[k] = random_expression(random, arena, map->rank, 4);
	}
	strcpy(map->text, "(");
	for (k = 0; k < map->rank; k++)
		sprintf(map->text + strlen(map->text), "%sx%u", k ? ", " : "", k);
	strcat(map->text, ") -> (");
	for (k = 0; k < map->num_outputs; k++) {
		if (k)
			strcat(map->text, ", ");
		spell(map->outputs[k], map->text);
	}
	strcat(map->text, ")");
}

/* Enumeration ------------------------------------------------------------------------------- */

static bool next_index(const int64_t *shape, uint32_t rank, int64_t *index)
{
	while (rank--) {
		if (++index[rank] < shape[rank])
			return true;
		index[rank] = 0;
	}
	return false;
}

static int64_t flatten(const int64_t *shape, uint32_t rank, const int64_t *index)
{
	int64_t flat = 0;
	uint32_t k;

	for (k = 0; k < rank; k++)
		flat = flat * shape[k] + index[k];
	return flat;
}

static void evaluate_all(const struct random_map *map, const int64_t *index, int64_t *output)
{
	uint32_t k;

	for (k = 0; k < map->num_outputs; k++)
		output[k] = value_of(map->outputs[k], index);
}

static bool truth_at(const struct accel_expression *expression, const struct accel_map *names,
		     const int64_t *index)
{
	struct accel_binding bindings[ACCEL_MAP_MAX_AXES];
	uint32_t k, count = accel_map_num_inputs(names);
	int64_t value;

	for (k = 0; k < count; k++)
		bindings[k] = (struct accel_binding){ accel_map_input_name(names, k), index[k] };
	assert_int_equal(accel_expression_evaluate(expression, count, bindings, &value, NULL), 0);
	return value;
}

static void check_text(struct accel_map *map)
{
	enum accel_answer answer;
	struct accel_map *again;
	char first[65536], second[65536];

	assert_in_range(accel_map_print(map, first, sizeof(first)), 1, sizeof(first) - 1);
	assert_int_equal(accel_map_parse(first, &again, NULL), 0);
	accel_map_print(again, second, sizeof(second));
	assert_string_equal(first, second);
	assert_int_equal(accel_map_equal(map, again, 0, NULL, &answer, NULL), 0);
	if (answer != ACCEL_ANSWER_YES)
		print_error("not equal to itself: %s\n", first);
	assert_int_equal(answer, ACCEL_ANSWER_YES);
	accel_map_unref(again);
}

/* What the box of outputs looks like: how often each place is reached. */
struct image {
	int64_t shape[MAX_OUTPUTS];
	int64_t volume;		/* -1: too large to look at */
	int64_t num_reached;
	bool is_injective;
	uint8_t reached[MAX_BOX];
};

/* Each point by formula, by the simplified formula and by the test's own arithmetic. */
static int64_t check_points(const struct random_map *random_map, const struct accel_map *map,
			    const struct accel_map *simplified, struct image *image)
{
	int64_t index[MAX_RANK] = { 0 }, expected[MAX_OUTPUTS], output[ACCEL_MAP_MAX_AXES];
	uint32_t rank = random_map->rank, k;
	int64_t count = 0;

	if (!count_points(random_map->shape, rank))
		return 0;
	do {
		evaluate_all(random_map, index, expected);
		assert_int_equal(accel_map_apply_index(map, rank, index, NULL, output, NULL), 0);
		assert_memory_equal(output, expected, random_map->num_outputs * sizeof(*output));
		assert_int_equal(accel_map_apply_index(simplified, rank, index, NULL, output,
						       NULL), 0);
		assert_memory_equal(output, expected, random_map->num_outputs * sizeof(*output));
		count++;
		if (!image)
			continue;
		for (k = 0; k < random_map->num_outputs; k++)
			assert_in_range(expected[k], 0, image->shape[k] - 1);
		if (image->volume < 0)
			continue;
		k = flatten(image->shape, random_map->num_outputs, expected);
		image->is_injective &= !image->reached[k];
		image->num_reached += !image->reached[k];
		image->reached[k] = 1;
	} while (next_index(random_map->shape, rank, index));
	return count;
}

static void check_inverse(const struct random_map *random_map,
			  const struct accel_map_analysis *analysis)
{
	int64_t index[MAX_RANK] = { 0 }, output[MAX_OUTPUTS], back[ACCEL_MAP_MAX_AXES];
	uint32_t rank;

	if (!count_points(random_map->shape, random_map->rank))
		return;
	do {
		evaluate_all(random_map, index, output);
		assert_int_equal(accel_map_apply_index(analysis->inverse, random_map->num_outputs,
						       output, &rank, back, NULL), 0);
		assert_int_equal(rank, random_map->rank);
		assert_memory_equal(back, index, rank * sizeof(*back));
	} while (next_index(random_map->shape, random_map->rank, index));
}

static void check_padding(const struct random_map *random_map, const struct image *image,
			  const struct accel_map_analysis *analysis)
{
	int64_t index[MAX_OUTPUTS] = { 0 }, count;

	assert_true(accel_expression_is_constant(analysis->padding_count, &count));
	assert_int_equal(count, image->volume - image->num_reached);
	assert_int_equal(analysis->bijective,
			 count ? ACCEL_ANSWER_NO : ACCEL_ANSWER_YES);
	if (!analysis->inverse)
		return;
	assert_int_equal(!analysis->padding, !count);
	if (!analysis->padding || !image->volume)
		return;
	do {
		bool is_padding = truth_at(analysis->padding, analysis->inverse, index);

		assert_int_equal(is_padding,
				 !image->reached[flatten(image->shape, random_map->num_outputs,
							 index)]);
	} while (next_index(image->shape, random_map->num_outputs, index));
}

static void check_collision(const struct random_map *random_map,
			    const struct accel_map_analysis *analysis)
{
	int64_t first[MAX_OUTPUTS], second[MAX_OUTPUTS];
	bool differ = false;
	uint32_t k;

	assert_true(analysis->has_collision);
	for (k = 0; k < random_map->rank; k++) {
		differ |= analysis->collision[0][k] != analysis->collision[1][k];
		assert_in_range(analysis->collision[0][k], 0, random_map->shape[k] - 1);
		assert_in_range(analysis->collision[1][k], 0, random_map->shape[k] - 1);
	}
	assert_true(differ);
	evaluate_all(random_map, analysis->collision[0], first);
	evaluate_all(random_map, analysis->collision[1], second);
	assert_memory_equal(first, second, random_map->num_outputs * sizeof(*first));
	assert_memory_equal(first, analysis->collision_at,
			    random_map->num_outputs * sizeof(*first));
}

struct tally {
	int64_t points, maps, analysed, injective, closed, padded;
};

static void check_map(const struct random_map *random_map, struct image *image,
		      struct tally *tally)
{
	struct accel_map_analysis analysis;
	struct accel_map *map, *simplified;
	uint32_t rank = random_map->rank, output_rank;
	int code;

	assert_int_equal(accel_map_parse(random_map->text, &map, NULL), 0);
	assert_int_equal(accel_map_simplify(map, rank, random_map->shape, &simplified, NULL), 0);
	check_text(map);
	check_text(simplified);
	tally->maps++;
	code = accel_map_analyze(map, rank, random_map->shape, &analysis, NULL);
	if (code) {
		/* An output can be negative, or so it seems. */
		assert_int_equal(code, -ERANGE);
		tally->points += check_points(random_map, map, simplified, NULL);
		goto out;
	}
	assert_int_equal(accel_map_apply_shape(map, rank, random_map->shape, &output_rank,
					       image->shape, NULL), 0);
	assert_int_equal(output_rank, random_map->num_outputs);
	memset(image->reached, 0, sizeof(image->reached));
	image->volume = count_points(image->shape, output_rank);
	image->is_injective = true;
	image->num_reached = 0;
	if (image->volume > MAX_BOX)
		image->volume = -1;
	tally->points += check_points(random_map, map, simplified, image);
	assert_int_not_equal(analysis.injective, ACCEL_ANSWER_UNKNOWN);
	if (image->volume >= 0)
		assert_int_equal(analysis.injective, image->is_injective);
	if (analysis.injective == ACCEL_ANSWER_NO)
		check_collision(random_map, &analysis);
	else if (image->volume >= 0)
		check_padding(random_map, image, &analysis);
	if (analysis.inverse)
		check_inverse(random_map, &analysis);
	tally->analysed++;
	tally->injective += analysis.injective == ACCEL_ANSWER_YES;
	tally->closed += !!analysis.inverse;
	tally->padded += !!analysis.padding;
out:
	accel_map_analysis_release(&analysis);
	accel_map_unref(simplified);
	accel_map_unref(map);
}

static struct random_map current;

static void a_million_points_agree_with_enumeration(void **state)
{
	static struct arena arena;
	static struct image image;
	struct random random = { seed };
	struct tally tally = { 0 };

	(void)state;
	while (tally.points < NUM_POINTS) {
		make_map(&random, &arena, &current);
		check_map(&current, &image, &tally);
	}
	print_message("%lld points of %lld maps: %lld analysed, %lld injective, %lld with an "
		      "inverse, %lld padded\n", (long long)tally.points, (long long)tally.maps,
		      (long long)tally.analysed, (long long)tally.injective,
		      (long long)tally.closed, (long long)tally.padded);
}

/* Both take each point that is reached back to where it comes from. */
static void check_inverses(const struct random_map *random_map, struct accel_map *map,
			   struct accel_map *one, struct accel_map *other)
{
	int64_t index[ACCEL_MAP_MAX_AXES] = { 0 }, output[ACCEL_MAP_MAX_AXES];
	int64_t back[ACCEL_MAP_MAX_AXES];
	uint32_t rank = random_map->rank, output_rank;

	do {
		assert_int_equal(accel_map_apply_index(map, rank, index, &output_rank, output,
						       NULL), 0);
		assert_int_equal(accel_map_apply_index(one, output_rank, output, NULL, back, NULL),
				 0);
		assert_memory_equal(back, index, rank * sizeof(*back));
		assert_int_equal(accel_map_apply_index(other, output_rank, output, NULL, back,
						       NULL), 0);
		assert_memory_equal(back, index, rank * sizeof(*back));
	} while (next_index(random_map->shape, rank, index));
}

struct compositions {
	uint32_t bijective, padded;
};

/*
 * (b after a)^-1 and a^-1 after b^-1, where all three have one: the same map if nothing is padded,
 * else the same on what is no padding, which is where both are defined.
 */
static void check_composition(struct random_map *random_map, struct accel_map *first,
			      struct accel_map *second, const int64_t *middle, uint32_t rank,
			      struct compositions *checked)
{
	struct accel_map_analysis one, two, both;
	struct accel_map *composed = NULL, *inverse = NULL;
	int64_t last[ACCEL_MAP_MAX_AXES];
	uint32_t last_rank;
	enum accel_answer answer;
	bool is_bijective;
	int code;

	memset(&both, 0, sizeof(both));
	assert_int_equal(accel_map_analyze(first, random_map->rank, random_map->shape, &one, NULL),
			 0);
	assert_int_equal(accel_map_analyze(second, rank, middle, &two, NULL), 0);
	if (!one.inverse || !two.inverse)
		goto out;
	is_bijective = one.bijective == ACCEL_ANSWER_YES && two.bijective == ACCEL_ANSWER_YES;
	assert_int_equal(accel_map_compose(first, second, &composed, NULL), 0);
	code = accel_map_analyze(composed, random_map->rank, random_map->shape, &both, NULL);
	if (code) {
		/* An output can be negative, or so it seems. */
		assert_int_equal(code, -ERANGE);
		goto out;
	}
	assert_int_equal(both.injective, ACCEL_ANSWER_YES);
	if (is_bijective)
		assert_int_equal(both.bijective, ACCEL_ANSWER_YES);
	if (!both.inverse)
		goto out;
	assert_int_equal(accel_map_compose(two.inverse, one.inverse, &inverse, NULL), 0);
	check_inverses(random_map, composed, both.inverse, inverse);
	checked->bijective += is_bijective;
	checked->padded += !is_bijective;
	if (!is_bijective)
		goto out;
	accel_map_apply_shape(second, rank, middle, &last_rank, last, NULL);
	assert_int_equal(accel_map_equal(both.inverse, inverse, last_rank, last, &answer, NULL), 0);
	assert_int_equal(answer, ACCEL_ANSWER_YES);
out:
	accel_map_analysis_release(&one);
	accel_map_analysis_release(&two);
	accel_map_analysis_release(&both);
	accel_map_unref(composed);
	accel_map_unref(inverse);
}

static void inverse_of_a_composition_is_the_composition_of_inverses(void **state)
{
	static struct arena arena;
	static struct random_map next;
	struct random random = { seed };
	struct accel_map *first, *second;
	int64_t middle[ACCEL_MAP_MAX_AXES];
	struct compositions checked = { 0 };
	uint32_t rank, round, k;

	(void)state;
	for (round = 0; (checked.bijective < 500 || checked.padded < 500) && round < 100000;
	     round++) {
		arena.count = 0;
		make_map(&random, &arena, &current);
		assert_int_equal(accel_map_parse(current.text, &first, NULL), 0);
		if (!count_points(current.shape, current.rank) ||
		    accel_map_apply_shape(first, current.rank, current.shape, &rank, middle,
					  NULL) ||
		    rank > MAX_RANK || count_points(middle, rank) > MAX_POINTS) {
			accel_map_unref(first);
			continue;
		}
		arena.count = 0;
		next.rank = rank;
		for (k = 0; k < rank; k++)
			next.shape[k] = middle[k];
		make_structured(&random, &arena, &next);
		strcpy(next.text, "(");
		for (k = 0; k < rank; k++)
			sprintf(next.text + strlen(next.text), "%sx%u", k ? ", " : "", k);
		strcat(next.text, ") -> (");
		for (k = 0; k < next.num_outputs; k++) {
			strcat(next.text, k ? ", " : "");
			spell(next.outputs[k], next.text);
		}
		strcat(next.text, ")");
		assert_int_equal(accel_map_parse(next.text, &second, NULL), 0);
		check_composition(&current, first, second, middle, rank, &checked);
		accel_map_unref(first);
		accel_map_unref(second);
	}
	assert_in_range(checked.bijective, 500, 100000);
	assert_in_range(checked.padded, 500, 100000);
}

static int print_map(void **state)
{
	uint32_t k;

	(void)state;
	print_error("last map: %s, shape", current.text);
	for (k = 0; k < current.rank; k++)
		print_error(" %lld", (long long)current.shape[k]);
	print_error("\n");
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_million_points_agree_with_enumeration, print_map),
		cmocka_unit_test_teardown(inverse_of_a_composition_is_the_composition_of_inverses,
					  print_map),
	};

	seed = seed_from_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
