// SPDX-License-Identifier: MIT
/*
 * Walking, sampling and searching boxes of points. This decides what closed forms do not, up to a
 * number of points, and finds witnesses.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout/points.h"

/* Starting points and distances for the search of pairs that collide. */
#define NUM_STARTS	16
#define MAX_DISTANCES	24

/* Pairs that are looked at, for each point that may be. */
#define PAIRS_PER_POINT	4

int64_t points_count(const struct bounds *bounds)
{
	int64_t count = 1, length;
	size_t k;

	for (k = 0; k < bounds->count; k++) {
		if (__builtin_sub_overflow(bounds->variables[k].interval.max,
					   bounds->variables[k].interval.min, &length) ||
		    length >= POINTS_MAX || count * (length + 1) > POINTS_MAX)
			return POINTS_MAX + 1;
		count *= length + 1;
	}
	return count;
}

int64_t points_limit(const struct accel_map *map)
{
	int64_t size = 1;
	uint32_t k;

	for (k = 0; k < map->num_outputs; k++)
		size += map->outputs[k]->size;
	return size > POINTS_MAX_OPERATIONS / POINTS_MAX ? POINTS_MAX_OPERATIONS / size :
							   POINTS_MAX;
}

bool points_first(const struct bounds *bounds, int64_t *index)
{
	size_t k;

	for (k = 0; k < bounds->count; k++) {
		index[k] = bounds->variables[k].interval.min;
		if (index[k] == INT64_MIN)
			return false;
	}
	return true;
}

bool points_next(const struct bounds *bounds, int64_t *index)
{
	size_t k = bounds->count;

	while (k--) {
		if (index[k] < bounds->variables[k].interval.max) {
			index[k]++;
			return true;
		}
		index[k] = bounds->variables[k].interval.min;
	}
	return false;
}

/* The next number of a linear congruential generator (Knuth, MMIX). */
static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

void points_sample(const struct bounds *bounds, uint64_t *state, int64_t *index)
{
	const struct interval *interval;
	uint64_t length;
	size_t k;

	for (k = 0; k < bounds->count; k++) {
		interval = &bounds->variables[k].interval;
		length = (uint64_t)interval->max - (uint64_t)interval->min;
		if (length > 65535)
			length = 65535;
		index[k] = interval->min + (int64_t)(next_random(state) % (length + 1));
	}
}

static bool evaluate(const struct accel_map *map, const char *const *names, const int64_t *index,
		     int64_t *output)
{
	const char *missing;
	uint32_t k;

	for (k = 0; k < map->num_outputs; k++)
		if (expression_evaluate(map->outputs[k], map->num_inputs, names, index, &output[k],
					&missing))
			return false;
	return true;
}

/* Looking at pairs ------------------------------------------------------------------------- */

struct distances {
	uint32_t count;
	int64_t values[MAX_DISTANCES];
};

static void add_distance(struct distances *distances, int64_t value)
{
	uint32_t k;

	if (value <= 0 || distances->count == MAX_DISTANCES)
		return;
	for (k = 0; k < distances->count; k++)
		if (distances->values[k] == value)
			return;
	distances->values[distances->count++] = value;
}

/* The constants in an expression: the periods and steps at which things repeat. */
static void collect_distances(const struct accel_expression *expression,
			      struct distances *distances)
{
	unsigned int count = expression_num_operands(expression->kind), k;
	int64_t product;

	if (expression_is_constant(expression))
		add_distance(distances, expression->constant);
	for (k = 0; k < count; k++)
		collect_distances(expression->operands[k], distances);
	/* (x // a) % b repeats after a*b */
	if (expression->kind == ACCEL_EXPRESSION_FLOOR_MODULO &&
	    expression_is_constant(expression->operands[1]) &&
	    expression->operands[0]->kind == ACCEL_EXPRESSION_FLOOR_DIVIDE &&
	    expression_is_constant(expression->operands[0]->operands[1]) &&
	    !__builtin_mul_overflow(expression->operands[1]->constant,
				    expression->operands[0]->operands[1]->constant, &product))
		add_distance(distances, product);
}

static bool move(const struct bounds *bounds, int64_t *index, size_t axis, int64_t distance)
{
	if (__builtin_add_overflow(index[axis], distance, &index[axis]))
		return false;
	return index[axis] >= bounds->variables[axis].interval.min &&
	       index[axis] <= bounds->variables[axis].interval.max;
}

/* What a search needs at hand. */
struct search {
	const struct accel_map *map;
	const struct bounds *bounds;
	const char *names[ACCEL_MAP_MAX_AXES];
	struct distances distances;
	int64_t limit;				/* of points */
	int64_t num_pairs;			/* that may still be looked at */
	int64_t (*collision)[ACCEL_MAP_MAX_AXES];
};

/* Whether collision[0] and collision[1] go to the same place, and that may be looked at. */
static bool collides(struct search *search)
{
	int64_t first[ACCEL_MAP_MAX_AXES], second[ACCEL_MAP_MAX_AXES];

	if (!search->num_pairs)
		return false;
	search->num_pairs--;
	return evaluate(search->map, search->names, search->collision[0], first) &&
	       evaluate(search->map, search->names, search->collision[1], second) &&
	       !memcmp(first, second, search->map->num_outputs * sizeof(*first));
}

/* From collision[0]: each step along an axis, alone and with a step back along another. */
static bool search_around(struct search *search)
{
	const struct distances *distances = &search->distances;
	size_t count = search->bounds->count, bytes = count * sizeof(int64_t), axis, other;
	int64_t *second = search->collision[1];
	uint32_t j, k;

	for (axis = 0; axis < count; axis++) {
		for (k = 0; k < distances->count; k++) {
			memcpy(second, search->collision[0], bytes);
			if (move(search->bounds, second, axis, distances->values[k]) &&
			    collides(search))
				return true;
		}
	}
	for (axis = 0; axis < count; axis++) {
		for (other = 0; other < count; other++) {
			if (axis == other)
				continue;
			for (k = 0; k < distances->count * distances->count; k++) {
				j = k / distances->count;
				memcpy(second, search->collision[0], bytes);
				if (move(search->bounds, second, axis, distances->values[j]) &&
				    move(search->bounds, second, other,
					 -distances->values[k % distances->count]) &&
				    collides(search))
					return true;
			}
		}
	}
	return false;
}

static bool search_pairs(struct search *search)
{
	uint64_t state = 1;
	uint32_t k;

	add_distance(&search->distances, 1);
	for (k = 0; k < search->map->num_outputs; k++)
		collect_distances(search->map->outputs[k], &search->distances);
	for (k = 0; k < NUM_STARTS; k++) {
		if (search_around(search))
			return true;
		points_sample(search->bounds, &state, search->collision[0]);
	}
	return false;
}

/* Looking at all points of a box --------------------------------------------------------------- */

/* A box of at most limit points inside of another, which it halves along the longest axis. */
static void shrink(const struct bounds *bounds, int64_t limit, struct variable_bounds *variables)
{
	struct bounds box = { bounds->count, variables };
	struct interval *longest, *interval;
	uint64_t length;
	size_t k;

	memcpy(variables, bounds->variables, bounds->count * sizeof(*variables));
	while (points_count(&box) > limit) {
		longest = &variables[0].interval;
		for (k = 1; k < bounds->count; k++) {
			interval = &variables[k].interval;
			if ((uint64_t)interval->max - (uint64_t)interval->min >
			    (uint64_t)longest->max - (uint64_t)longest->min)
				longest = interval;
		}
		length = (uint64_t)longest->max - (uint64_t)longest->min;
		longest->max = longest->min + (int64_t)(length / 2);
	}
}

static uint64_t hash_output(const int64_t *output, uint32_t count)
{
	uint64_t hash = 0x9e3779b97f4a7c15u;
	uint32_t k;

	for (k = 0; k < count; k++) {
		hash ^= (uint64_t)output[k];
		hash *= 0xff51afd7ed558ccdu;
		hash ^= hash >> 32;
	}
	return hash;
}

/* A table of the points seen, by where they go. An entry is the number of a point plus one. */
struct table {
	uint32_t *entries;
	int64_t *outputs;	/* of each point seen */
	uint32_t mask;
};

/* The number of the point that was put there before, or -1 after putting this one in. */
static int64_t table_put(struct table *table, uint32_t number, const int64_t *output,
			 uint32_t num_outputs)
{
	uint64_t slot = hash_output(output, num_outputs) & table->mask;
	int64_t *copies = table->outputs;

	while (table->entries[slot]) {
		if (!memcmp(copies + (uint64_t)(table->entries[slot] - 1) * num_outputs, output,
			    num_outputs * sizeof(*output)))
			return table->entries[slot] - 1;
		slot = (slot + 1) & table->mask;
	}
	table->entries[slot] = number + 1;
	memcpy(copies + (uint64_t)number * num_outputs, output, num_outputs * sizeof(*output));
	return -1;
}

/* The point with that number in row-major order. */
static void point_at(const struct bounds *box, int64_t number, int64_t *index)
{
	size_t k = box->count;
	int64_t extent;

	while (k--) {
		extent = box->variables[k].interval.max - box->variables[k].interval.min + 1;
		index[k] = box->variables[k].interval.min + number % extent;
		number /= extent;
	}
}

/* Looks at each point of the box. UNKNOWN if the map has no value at one of them. */
static enum accel_answer search_box(struct search *search, const struct bounds *box,
				    struct table *table)
{
	int64_t *index = search->collision[0], output[ACCEL_MAP_MAX_AXES] = { 0 }, found;
	uint32_t num_outputs = search->map->num_outputs, number = 0;
	enum accel_answer answer = ACCEL_ANSWER_YES;

	points_first(box, index);
	do {
		found = -1;
		if (evaluate(search->map, search->names, index, output))
			found = table_put(table, number, output, num_outputs);
		else
			answer = ACCEL_ANSWER_UNKNOWN;
		if (found >= 0) {
			point_at(box, found, search->collision[1]);
			return ACCEL_ANSWER_NO;
		}
		number++;
	} while (points_next(box, index));
	return answer;
}

static int search_points(struct search *search, enum accel_answer *answer)
{
	struct variable_bounds variables[ACCEL_MAP_MAX_AXES];
	struct bounds box = { search->bounds->count, variables };
	bool is_complete = points_count(search->bounds) <= search->limit;
	struct table table = { 0 };
	uint64_t count;
	int code = -ENOMEM;

	shrink(search->bounds, search->limit, variables);
	count = points_count(&box);
	for (table.mask = 1; table.mask < 2 * count; table.mask *= 2)
		;
	table.entries = calloc(table.mask, sizeof(*table.entries));
	table.outputs = malloc((count * search->map->num_outputs + 1) * sizeof(*table.outputs));
	table.mask--;
	if (table.entries && table.outputs) {
		*answer = search_box(search, &box, &table);
		if (*answer == ACCEL_ANSWER_YES && !is_complete)
			*answer = ACCEL_ANSWER_UNKNOWN;
		code = 0;
	}
	free(table.entries);
	free(table.outputs);
	return code;
}

int points_find_collision(const struct accel_map *map, const struct bounds *bounds,
			  enum accel_answer *injective,
			  int64_t collision[2][ACCEL_MAP_MAX_AXES])
{
	struct search search = { .map = map, .bounds = bounds, .collision = collision };

	*injective = ACCEL_ANSWER_UNKNOWN;
	if (!points_first(bounds, collision[0]))
		return 0;
	map_names(map, search.names);
	search.limit = points_limit(map);
	search.num_pairs = search.limit * PAIRS_PER_POINT;
	if (search_pairs(&search)) {
		*injective = ACCEL_ANSWER_NO;
		return 0;
	}
	return search_points(&search, injective);
}
