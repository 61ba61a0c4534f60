// SPDX-License-Identifier: MIT
/*
 * How pieces are found. The PE is a sum of terms over the indices. Axes that are together in a term
 * form a group, and the sum is taken apart by groups: what a group adds to it is tabulated,
 * over runs of indices where it stays the same, and the pieces are the products over all groups.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "grid/partition.h"

/* Evaluations of the PE: more than a second's worth. */
#define MAX_WORK	(1 << 20)

/* Indices that are side by side on an axis and have the same value. */
struct run {
	int64_t first;
	int64_t count;
	int64_t value;
};

struct runs {
	size_t count;
	struct run *list;
};

/* Indices of a group's axes that have the same value. Zero what is not used: it is compared. */
struct region {
	int64_t value;
	struct progression axes[ACCEL_MAX_DIMS];
};

struct regions {
	size_t count;
	struct region *list;
};

struct finder {
	struct accel_expression *expression;	/* the PE; borrowed */
	uint32_t rank;
	const int64_t *shape;
	struct bounds bounds;
	struct variable_bounds variables[ACCEL_MAX_DIMS];	/* of the place that is looked at */
	uint32_t work;
	struct accel_error *error;
};

static int no_memory(struct accel_error *error)
{
	return accel_error_set(error, -ENOMEM, "partition: out of memory");
}

static int too_many(struct accel_error *error)
{
	return accel_error_set(error, -E2BIG,
			       "partition: more than %d pieces of evenly spaced indices",
			       PARTITION_MAX_PIECES);
}

/* Makes room for one more: arrays double. NULL: no memory, and the array stays. */
static void *grow(void *array, size_t count, size_t size)
{
	if (count & (count - 1))
		return array;
	return reallocarray(array, count ? 2 * count : 1, size);
}

static int add_run(struct runs *runs, const struct run *run, struct accel_error *error)
{
	struct run *last = runs->count ? &runs->list[runs->count - 1] : NULL;
	void *grown;

	if (last && last->value == run->value && last->first + last->count == run->first) {
		last->count += run->count;
		return 0;
	}
	grown = grow(runs->list, runs->count, sizeof(*run));
	if (!grown)
		return no_memory(error);
	runs->list = grown;
	runs->list[runs->count++] = *run;
	return 0;
}

static int add_region(struct regions *regions, const struct region *region,
		      struct accel_error *error)
{
	void *grown;

	if (regions->count == PARTITION_MAX_PIECES)
		return too_many(error);
	grown = grow(regions->list, regions->count, sizeof(*region));
	if (!grown)
		return no_memory(error);
	regions->list = grown;
	regions->list[regions->count++] = *region;
	return 0;
}

/* Values --------------------------------------------------------------------------------------- */

static int spend(struct finder *finder)
{
	if (finder->work++ < MAX_WORK)
		return 0;
	return accel_error_set(finder->error, -E2BIG,
			       "partition: the PE changes too often along the axes, expected to be "
			       "done after %d evaluations", MAX_WORK);
}

static int evaluate(struct finder *finder, int64_t *value)
{
	const char *names[ACCEL_MAX_DIMS], *missing;
	int64_t values[ACCEL_MAX_DIMS];
	int ret = spend(finder);

	if (ret)
		return ret;
	for (uint32_t d = 0; d < finder->rank; d++) {
		names[d] = finder->variables[d].name;
		values[d] = finder->variables[d].interval.min;
	}
	ret = expression_evaluate(finder->expression, finder->rank, names, values, value, &missing);
	if (ret)
		return accel_error_set(finder->error, ret, "partition: the PE: %s",
				       ret == -EOVERFLOW ? "it does not fit 64 bits" :
				       ret == -EDOM ? "a division by 0" : "a name without a value");
	return 0;
}

/* Whether the value is proved to be the same for count indices of the axis from first on. */
static bool is_constant(struct finder *finder, uint32_t axis, int64_t first, int64_t count)
{
	struct interval *interval = &finder->variables[axis].interval;
	struct interval values;

	finder->work++;
	*interval = (struct interval){ first, first + count - 1 };
	values = expression_interval(finder->expression, &finder->bounds);
	interval->max = first;
	return values.min == values.max;
}

/* The longest run from first on that is proved, by steps that double and then halve. */
static int64_t run_length(struct finder *finder, uint32_t axis, int64_t first)
{
	int64_t left = finder->shape[axis] - first, length = 1, step = 1;

	while (step <= left - length && is_constant(finder, axis, first, length + step)) {
		length += step;
		step = length;
	}
	for (; step; step /= 2) {
		if (step <= left - length && is_constant(finder, axis, first, length + step))
			length += step;
	}
	return length;
}

/* The runs of an axis, with the others where they are. */
static int find_runs(struct finder *finder, uint32_t axis, struct runs *runs)
{
	struct run run = { 0 };
	int ret = 0;

	while (!ret && run.first < finder->shape[axis]) {
		finder->variables[axis].interval = (struct interval){ run.first, run.first };
		ret = evaluate(finder, &run.value);
		if (ret)
			break;
		run.count = run_length(finder, axis, run.first);
		ret = add_run(runs, &run, finder->error);
		run.first += run.count;
	}
	finder->variables[axis].interval = (struct interval){ 0, 0 };
	return ret;
}

/* From runs to progressions -------------------------------------------------------------------- */

/* How many runs from the first on have the same length and are evenly spaced. */
static size_t even_runs(const struct run *runs, size_t count)
{
	size_t even = 1;

	while (even < count && runs[even].count == runs[0].count &&
	       runs[even].first - runs[even - 1].first == runs[1].first - runs[0].first)
		even++;
	return even;
}

/*
 * Adds regions like one, with the indices of runs for an axis: each run one progression, or, where
 * that is fewer, evenly spaced runs together one for each index of a run.
 */
static int add_progressions(struct regions *regions, struct region *region, uint32_t axis,
			    const struct run *runs, size_t count, struct accel_error *error)
{
	struct progression *progression = &region->axes[axis];
	int ret = 0;

	while (count && !ret) {
		size_t even = even_runs(runs, count);
		int64_t length = runs[0].count;
		bool is_spaced = even > 1 && length <= (int64_t)even;

		for (int64_t k = 0; !ret && k < (is_spaced ? length : (int64_t)even); k++) {
			*progression = is_spaced ? (struct progression){
				runs[0].first + k, runs[1].first - runs[0].first, (int64_t)even
			} : (struct progression){ runs[k].first, 1, length };
			ret = add_region(regions, region, error);
		}
		runs += even;
		count -= even;
	}
	return ret;
}

/* The runs of one value, which leave the list: its first is the first of them. */
static size_t take_value(struct runs *runs, struct run *taken)
{
	size_t count = 0, left = 0;
	int64_t value = runs->list[0].value;

	for (size_t k = 0; k < runs->count; k++) {
		if (runs->list[k].value == value)
			taken[count++] = runs->list[k];
		else
			runs->list[left++] = runs->list[k];
	}
	runs->count = left;
	return count;
}

/*
 * Regions of all runs. With classes, the value of a run is the number of one, and each run has all
 * regions of its class. Consumes the runs.
 */
static int gather_runs(struct runs *runs, uint32_t axis, const struct regions *classes,
		       struct regions *regions, struct accel_error *error)
{
	struct run *taken = calloc(runs->count ? runs->count : 1, sizeof(*taken));
	int ret = taken ? 0 : no_memory(error);

	while (!ret && runs->count) {
		size_t count = take_value(runs, taken);
		const struct regions *class = classes ? &classes[taken[0].value] : NULL;
		struct region region = { .value = taken[0].value };

		for (size_t k = 0; !ret && k < (class ? class->count : 1); k++) {
			if (class)
				region = class->list[k];
			ret = add_progressions(regions, &region, axis, taken, count, error);
		}
	}
	free(taken);
	free(runs->list);
	*runs = (struct runs){ 0 };
	return ret;
}

/* Groups --------------------------------------------------------------------------------------- */

/* Axes whose indices are together in terms of the PE. */
struct group {
	uint32_t num_axes;
	uint32_t axes[ACCEL_MAX_DIMS];
	struct regions regions;
};

struct classes {
	size_t count;
	struct regions *list;
};

static bool regions_equal(const struct regions *a, const struct regions *b)
{
	return a->count == b->count &&
	       !memcmp(a->list, b->list, a->count * sizeof(a->list[0]));
}

/* The number of the class that has these regions, which are consumed. */
static int classify(struct classes *classes, struct regions *regions, int64_t *number,
		    struct accel_error *error)
{
	void *grown;

	for (size_t k = 0; k < classes->count; k++) {
		if (!regions_equal(&classes->list[k], regions))
			continue;
		free(regions->list);
		*number = (int64_t)k;
		return 0;
	}
	grown = grow(classes->list, classes->count, sizeof(*regions));
	if (!grown) {
		free(regions->list);
		return no_memory(error);
	}
	classes->list = grown;
	*number = (int64_t)classes->count;
	classes->list[classes->count++] = *regions;
	return 0;
}

static int find_regions(struct finder *finder, const struct group *group, uint32_t depth,
			struct regions *regions);

/* Each index of an axis has the regions of the axes behind it for its value. */
static int find_classes(struct finder *finder, const struct group *group, uint32_t depth,
			struct runs *runs, struct classes *classes)
{
	uint32_t axis = group->axes[depth];
	struct run run = { .count = 1 };
	int ret = 0;

	for (; !ret && run.first < finder->shape[axis]; run.first++) {
		struct regions regions = { 0 };

		finder->variables[axis].interval = (struct interval){ run.first, run.first };
		ret = find_regions(finder, group, depth + 1, &regions);
		if (ret) {
			free(regions.list);
			break;
		}
		ret = classify(classes, &regions, &run.value, finder->error);
		if (!ret)
			ret = add_run(runs, &run, finder->error);
	}
	finder->variables[axis].interval = (struct interval){ 0, 0 };
	return ret;
}

/* The regions of the axes of a group from depth on, with those before it where they are. */
static int find_regions(struct finder *finder, const struct group *group, uint32_t depth,
			struct regions *regions)
{
	bool is_last = depth + 1 == group->num_axes;
	struct classes classes = { 0 };
	struct runs runs = { 0 };
	int ret;

	ret = is_last ? find_runs(finder, group->axes[depth], &runs) :
			find_classes(finder, group, depth, &runs, &classes);
	if (ret)
		free(runs.list);
	else
		ret = gather_runs(&runs, group->axes[depth], classes.list, regions, finder->error);
	for (size_t k = 0; k < classes.count; k++)
		free(classes.list[k].list);
	free(classes.list);
	return ret;
}

/* The axes that a term mentions, as bits. */
static uint32_t mentioned_axes(const struct finder *finder,
			       const struct accel_expression *expression)
{
	uint32_t axes = 0;

	for (uint32_t d = 0; d < finder->rank; d++) {
		if (expression_mentions(expression, finder->variables[d].name))
			axes |= 1u << d;
	}
	return axes;
}

/* Joins the sets of axes that have one in common with these. */
static void join_sets(uint32_t sets[ACCEL_MAX_DIMS], uint32_t *num_sets, uint32_t axes)
{
	uint32_t kept = 0;

	for (uint32_t k = 0; k < *num_sets; k++) {
		if (sets[k] & axes)
			axes |= sets[k];
		else
			sets[kept++] = sets[k];
	}
	sets[kept++] = axes;
	*num_sets = kept;
}

static void split_sum(const struct finder *finder, const struct accel_expression *sum,
		      uint32_t sets[ACCEL_MAX_DIMS], uint32_t *num_sets)
{
	uint32_t axes;

	if (sum->kind == ACCEL_EXPRESSION_ADD || sum->kind == ACCEL_EXPRESSION_SUBTRACT) {
		split_sum(finder, sum->operands[0], sets, num_sets);
		split_sum(finder, sum->operands[1], sets, num_sets);
		return;
	}
	if (sum->kind == ACCEL_EXPRESSION_MULTIPLY && expression_is_constant(sum->operands[0])) {
		split_sum(finder, sum->operands[1], sets, num_sets);
		return;
	}
	axes = mentioned_axes(finder, sum);
	if (axes)
		join_sets(sets, num_sets, axes);
}

static int find_groups(struct finder *finder, struct group *groups, uint32_t *num_groups)
{
	uint32_t sets[ACCEL_MAX_DIMS];
	int ret = 0;

	split_sum(finder, finder->expression, sets, num_groups);
	for (uint32_t g = 0; g < *num_groups; g++) {
		groups[g] = (struct group){ 0 };
		for (uint32_t d = 0; d < finder->rank; d++) {
			if (sets[g] & 1u << d)
				groups[g].axes[groups[g].num_axes++] = d;
		}
	}
	for (uint32_t g = 0; !ret && g < *num_groups; g++)
		ret = find_regions(finder, &groups[g], 0, &groups[g].regions);
	return ret;
}

/* Pieces --------------------------------------------------------------------------------------- */

/* The product of a region of each group. origin is the PE of index 0, which is in each value. */
static int make_piece(const struct finder *finder, const struct group *groups, uint32_t num_groups,
		      const size_t *chosen, int64_t origin, uint32_t num_pes, struct piece *piece)
{
	int64_t pe = origin;

	for (uint32_t d = 0; d < finder->rank; d++)
		piece->axes[d] = (struct progression){ 0, 1, finder->shape[d] };
	for (uint32_t g = 0; g < num_groups; g++) {
		const struct region *region = &groups[g].regions.list[chosen[g]];
		int64_t added;

		if (__builtin_sub_overflow(region->value, origin, &added) ||
		    __builtin_add_overflow(pe, added, &pe))
			return accel_error_set(finder->error, -EOVERFLOW,
					       "partition: the PE does not fit 64 bits");
		for (uint32_t k = 0; k < groups[g].num_axes; k++)
			piece->axes[groups[g].axes[k]] = region->axes[groups[g].axes[k]];
	}
	if (pe < 0 || pe >= num_pes)
		return accel_error_set(finder->error, -ERANGE,
				       "partition: there are elements on PE %" PRId64
				       ", expected 0 or more and less than %u", pe, num_pes);
	piece->pe = (uint32_t)pe;
	return 0;
}

/* Goes to the next choice of a region of each group; false after the last. */
static bool next_choice(const struct group *groups, uint32_t num_groups, size_t *chosen)
{
	for (uint32_t g = num_groups; g--;) {
		if (++chosen[g] < groups[g].regions.count)
			return true;
		chosen[g] = 0;
	}
	return false;
}

static int make_pieces(const struct finder *finder, const struct group *groups,
		       uint32_t num_groups, int64_t origin, struct partition *partition)
{
	size_t chosen[ACCEL_MAX_DIMS] = { 0 }, count = 1, k = 0;
	int ret;

	for (uint32_t g = 0; g < num_groups; g++) {
		count *= groups[g].regions.count;
		if (count > PARTITION_MAX_PIECES)
			return too_many(finder->error);
	}
	partition->pieces = calloc(count, sizeof(partition->pieces[0]));
	if (!partition->pieces)
		return no_memory(finder->error);
	partition->num_pieces = count;
	do {
		ret = make_piece(finder, groups, num_groups, chosen, origin, partition->num_pes,
				 &partition->pieces[k++]);
	} while (!ret && next_choice(groups, num_groups, chosen));
	return ret;
}

static int compare_pieces(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->pe != y->pe)
		return x->pe < y->pe ? -1 : 1;
	for (uint32_t d = 0; d < ACCEL_MAX_DIMS; d++) {
		if (x->axes[d].first != y->axes[d].first)
			return x->axes[d].first < y->axes[d].first ? -1 : 1;
	}
	return 0;
}

static void sort_pieces(struct partition *partition)
{
	qsort(partition->pieces, partition->num_pieces, sizeof(partition->pieces[0]),
	      compare_pieces);
	for (uint32_t pe = 0; pe <= partition->num_pes; pe++) {
		size_t start = pe ? partition->starts[pe - 1] : 0;

		while (start < partition->num_pieces && partition->pieces[start].pe < pe)
			start++;
		partition->starts[pe] = start;
	}
}

static int find_pieces(struct finder *finder, struct partition *partition)
{
	struct group groups[ACCEL_MAX_DIMS] = { 0 };
	uint32_t num_groups = 0;
	int64_t origin;
	int ret = evaluate(finder, &origin);

	if (!ret)
		ret = find_groups(finder, groups, &num_groups);
	if (!ret)
		ret = make_pieces(finder, groups, num_groups, origin, partition);
	for (uint32_t g = 0; g < num_groups; g++)
		free(groups[g].regions.list);
	return ret;
}

static bool has_elements(uint32_t rank, const int64_t *shape)
{
	for (uint32_t d = 0; d < rank; d++) {
		if (!shape[d])
			return false;
	}
	return true;
}

int partition_create(struct accel_map *map, const int64_t *shape, uint32_t num_pes,
		     struct partition *partition, struct accel_error *error)
{
	struct finder finder = { .rank = map->num_inputs, .shape = shape, .error = error };
	struct accel_map *simple;
	int ret;

	*partition = (struct partition){ .rank = finder.rank, .num_pes = num_pes };
	if (!has_elements(finder.rank, shape))
		return 0;
	ret = accel_map_simplify(map, finder.rank, shape, &simple, error);
	if (ret)
		return ret;
	finder.expression = simple->outputs[0];
	finder.bounds = (struct bounds){ finder.rank, finder.variables };
	for (uint32_t d = 0; d < finder.rank; d++)
		finder.variables[d].name = simple->inputs[d].name;
	ret = find_pieces(&finder, partition);
	accel_map_unref(simple);
	if (ret) {
		partition_release(partition);
		return ret;
	}
	sort_pieces(partition);
	return 0;
}

int partition_create_whole(uint32_t rank, const int64_t *shape, struct partition *partition,
			   struct accel_error *error)
{
	*partition = (struct partition){ .rank = rank, .num_pes = 1 };
	if (!has_elements(rank, shape))
		return 0;
	partition->pieces = calloc(1, sizeof(partition->pieces[0]));
	if (!partition->pieces)
		return no_memory(error);
	partition->num_pieces = 1;
	for (uint32_t d = 0; d < rank; d++)
		partition->pieces[0].axes[d] = (struct progression){ 0, 1, shape[d] };
	sort_pieces(partition);
	return 0;
}

void partition_release(struct partition *partition)
{
	free(partition->pieces);
	*partition = (struct partition){ 0 };
}

/* Intersections -------------------------------------------------------------------------------- */

static int64_t last_index(const struct progression *progression)
{
	return progression->first + (progression->count - 1) * progression->step;
}

/* The first index of a that b has, too, or -1: looked for among as many as b's step allows. */
static int64_t first_common(const struct progression *a, const struct progression *b)
{
	int64_t last = last_index(a) < last_index(b) ? last_index(a) : last_index(b);
	int64_t index = a->first, steps;

	if (b->first > index) {
		steps = (b->first - index - 1) / a->step + 1;
		if (steps >= a->count)
			return -1;
		index += steps * a->step;
	}
	for (int64_t tries = 0; tries < b->step && index <= last; tries++) {
		if (!((index - b->first) % b->step))
			return index;
		if (a->step > last - index)
			break;
		index += a->step;
	}
	return -1;
}

static bool intersect(const struct progression *a, const struct progression *b,
		      struct progression *result)
{
	int64_t last = last_index(a) < last_index(b) ? last_index(a) : last_index(b);
	bool is_swapped = b->step > a->step;
	int64_t first = first_common(is_swapped ? b : a, is_swapped ? a : b);
	int64_t step;

	if (first < 0)
		return false;
	*result = (struct progression){ first, 1, 1 };
	if (__builtin_mul_overflow(a->step / greatest_common_divisor(a->step, b->step), b->step,
				   &step) || step > last - first)
		return true;
	result->step = step;
	result->count = (last - first) / step + 1;
	return true;
}

bool piece_intersect(const struct piece *a, const struct piece *b, uint32_t rank,
		     struct piece *result)
{
	for (uint32_t d = 0; d < rank; d++) {
		if (!intersect(&a->axes[d], &b->axes[d], &result->axes[d]))
			return false;
	}
	return true;
}

int64_t piece_num_elements(const struct piece *piece, uint32_t rank)
{
	int64_t count = 1;

	for (uint32_t d = 0; d < rank; d++)
		count *= piece->axes[d].count;
	return count;
}
