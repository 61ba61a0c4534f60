// SPDX-License-Identifier: MIT
/*
 * What the points of a suffix of the loops do, as seen from where the suffix begins, is a summary:
 * how many accesses, where the first and the last of them are, and how many bursts, for each place
 * within a burst at which the suffix may begin. A loop whose values all have the same summary
 * inside adds it up in closed form: the places at which it begins are an arithmetic progression
 * modulo the burst, so that they recur with a period of at most the burst. So summaries are found
 * from the innermost loop outward.
 *
 * Windows are conditions "sum of coefficients times loops >= bound", two for each window. A loop is
 * cut into runs of values that leave the same conditions to the loops inside of it. A bound matters
 * only between the extremes that these can reach, and only up to a multiple of the greatest common
 * divisor of their coefficients, which is what makes runs long.
 */
#include <string.h>

#include "arithmetic.h"
#include "count.h"

/* Two for each window of the job, and for an interval of addresses. */
#define MAX_CONDITIONS	(2 * (DRM_TESSERA_MAX_WINDOWS + 1))

struct summary {
	uint64_t accesses;
	int64_t first;		/* addresses of the first and of the last access, from the base */
	int64_t last;
	uint64_t bursts[ENGINE_MAX_BURST];	/* without the first burst of the first access */
};

/* The sum of coefficients[d] * i_d is at least a bound. */
struct condition {
	int64_t coefficients[DRM_TESSERA_MAX_RANK];
	/* of the sum over the loops from d on: its extremes, and what divides it; 0: it is 0 */
	int64_t lowest[DRM_TESSERA_MAX_RANK + 1];
	int64_t highest[DRM_TESSERA_MAX_RANK + 1];
	uint64_t divisor[DRM_TESSERA_MAX_RANK + 1];
};

/* The conditions that the loops from some one on have to meet. */
struct conditions {
	uint32_t count;
	uint8_t which[MAX_CONDITIONS];
	int64_t bounds[MAX_CONDITIONS];
};

struct counter {
	uint32_t rank;
	int64_t extents[DRM_TESSERA_MAX_RANK];
	int64_t strides[DRM_TESSERA_MAX_RANK];
	uint32_t element_bytes;
	uint32_t burst;
	uint32_t place;		/* of the base of the outermost loop, in its burst */
	/* The loops outside of d move the base by multiples of this, modulo the burst. */
	uint32_t grain[DRM_TESSERA_MAX_RANK + 1];
	uint32_t num_conditions;
	struct condition conditions[MAX_CONDITIONS];
	uint32_t *steps;
	bool has_free[DRM_TESSERA_MAX_RANK + 1];
	struct summary free[DRM_TESSERA_MAX_RANK + 1];	/* of the loops from d on, unconditioned */
};

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Places at which the loops from d on may begin. */
static uint32_t num_places(const struct counter *counter, uint32_t d)
{
	return counter->burst / counter->grain[d];
}

static uint32_t place_of(const struct counter *counter, uint32_t d, uint32_t t, int64_t address)
{
	return (uint32_t)(counter->place + t * counter->grain[d] + (uint64_t)address) &
	       (counter->burst - 1);
}

/* Whether an access, distance behind one at a place of a burst, begins in a burst of its own. */
static uint64_t changes_burst(const struct counter *counter, uint32_t place, int64_t distance)
{
	const int64_t far = 2 * (int64_t)counter->burst;
	int64_t next;

	if (distance <= -far || distance >= far)
		return 1;
	next = place + distance + far;
	return next / counter->burst !=
	       (place + counter->element_bytes - 1 + far) / counter->burst;
}

static void set_leaf(const struct counter *counter, struct summary *summary)
{
	summary->accesses = 1;
	summary->first = 0;
	summary->last = 0;
	for (uint32_t t = 0; t < num_places(counter, counter->rank); t++)
		summary->bursts[t] = place_of(counter, counter->rank, t, 0) +
				     counter->element_bytes > counter->burst;
}

/* Values first to first + count - 1 of loop d, with the same summary of the loops inside. */
struct run {
	uint32_t d;
	int64_t first;
	int64_t count;
	const struct summary *inner;
};

/*
 * Adds to bursts[t] the sum of terms over the places that the run's values begin at, for each
 * place t of loop d. These are cycles of equal length among the places of loop d + 1; of each cycle
 * all of it is added some number of times, and a piece once more. All lengths are powers of two.
 */
static void add_progression(const struct counter *counter, const struct run *run,
			    const uint64_t *terms, uint64_t *bursts)
{
	const uint32_t grain = counter->grain[run->d + 1];
	const uint32_t mask = num_places(counter, run->d + 1) - 1;
	const uint32_t apart = counter->grain[run->d] / grain;	/* places of loop d are */
	const uint32_t step = (uint32_t)((uint64_t)counter->strides[run->d] / grain) & mask;
	const uint32_t cycles = step ? step & -step : mask + 1;
	const uint32_t period = (mask + 1) / cycles;
	const uint64_t rounds = (uint64_t)run->count / period;
	const uint32_t rest = (uint32_t)run->count & (period - 1);
	const uint32_t skip = (uint32_t)run->first & (period - 1);
	uint64_t sums[2 * ENGINE_MAX_BURST + 1];

	for (uint32_t cycle = 0; cycle < cycles; cycle++) {
		sums[0] = 0;
		for (uint32_t k = 0; k < 2 * period; k++)
			sums[k + 1] = sums[k] + terms[(cycle + k * step) & mask];
		for (uint32_t k = 0; k < period; k++) {
			uint32_t t = (cycle + k * step) & mask;
			uint32_t from = (k + skip) & (period - 1);

			if (!(t & (apart - 1)))
				bursts[t / apart] += rounds * sums[period] + sums[from + rest] -
						     sums[from];
		}
	}
}

/* The run by itself, added to bursts. */
static void add_run(const struct counter *counter, const struct run *run, uint64_t *bursts)
{
	const struct summary *inner = run->inner;
	const int64_t stride = counter->strides[run->d];
	const uint32_t places = num_places(counter, run->d + 1);
	struct run steps = *run;
	uint64_t between[ENGINE_MAX_BURST];

	add_progression(counter, run, inner->bursts, bursts);
	steps.count = run->count - 1;
	if (!steps.count)
		return;
	for (uint32_t t = 0; t < places; t++)
		between[t] = changes_burst(counter, place_of(counter, run->d + 1, t, inner->last),
					   stride + inner->first - inner->last);
	add_progression(counter, &steps, between, bursts);
}

/* Goes on after what the summary has with a run. */
static void append(const struct counter *counter, struct summary *summary, const struct run *run)
{
	const struct summary *inner = run->inner;
	const int64_t stride = counter->strides[run->d];
	const int64_t first = run->first * stride + inner->first;

	if (!inner->accesses)
		return;
	if (!summary->accesses)
		summary->first = first;
	else
		for (uint32_t t = 0; t < num_places(counter, run->d); t++)
			summary->bursts[t] += changes_burst(
				counter, place_of(counter, run->d, t, summary->last),
				first - summary->last);
	add_run(counter, run, summary->bursts);
	summary->accesses += inner->accesses * (uint64_t)run->count;
	summary->last = (run->first + run->count - 1) * stride + inner->last;
}

static void clear(const struct counter *counter, uint32_t d, struct summary *summary)
{
	summary->accesses = 0;
	memset(summary->bursts, 0, num_places(counter, d) * sizeof(summary->bursts[0]));
}

/* The loops from d on without conditions. */
static const struct summary *free_summary(struct counter *counter, uint32_t d)
{
	uint32_t known = d;

	while (known < counter->rank && !counter->has_free[known])
		known++;
	if (!counter->has_free[known]) {
		set_leaf(counter, &counter->free[known]);
		counter->has_free[known] = true;
	}
	while (known-- > d) {
		struct run all = { known, 0, counter->extents[known], &counter->free[known + 1] };

		clear(counter, known, &counter->free[known]);
		append(counter, &counter->free[known], &all);
		counter->has_free[known] = true;
	}
	return &counter->free[d];
}

static int64_t round_up_to(int64_t value, uint64_t divisor)
{
	int64_t rest = value % (int64_t)divisor;

	return rest > 0 ? value + ((int64_t)divisor - rest) : value - rest;
}

/* What a condition asks of the loops from d on, at most HOLDS and at least FAILS. */
enum state { HOLDS, UNDECIDED, FAILS };

/* Brings the bound to the least value that says the same. */
static enum state reduce(const struct condition *condition, uint32_t d, __int128 *bound)
{
	if (*bound <= condition->lowest[d])
		return HOLDS;
	if (*bound > condition->highest[d])
		return FAILS;
	/* between two multiples of the divisor, which fit */
	*bound = round_up_to((int64_t)*bound, condition->divisor[d]);
	return UNDECIDED;
}

static __int128 floor_divide(__int128 value, __int128 divisor)
{
	return value / divisor - (value % divisor < 0);
}

/*
 * The first value of loop d, after value, at which the condition asks something else of the loops
 * inside; bound is what it asks of them at value, reduced.
 */
static int64_t next_change(const struct counter *counter, const struct condition *condition,
			   uint32_t d, __int128 whole, __int128 bound, enum state state)
{
	const int64_t coefficient = condition->coefficients[d];
	const int64_t end = counter->extents[d];
	__int128 next;

	if (!coefficient)
		return end;
	if (coefficient > 0) {
		/* whole - coefficient * next <= threshold for the first time */
		__int128 threshold = bound - (__int128)condition->divisor[d + 1];

		if (state == HOLDS)
			return end;
		if (state == FAILS)
			threshold = condition->highest[d + 1];
		next = -floor_divide(threshold - whole, coefficient);
	} else {
		/* whole - coefficient * next > threshold for the first time */
		__int128 threshold = bound;

		if (state == FAILS)
			return end;
		if (state == HOLDS)
			threshold = condition->lowest[d + 1];
		next = floor_divide(threshold - whole, -(__int128)coefficient) + 1;
	}
	return next < end ? (int64_t)next : end;
}

/*
 * What the conditions ask of the loops after d at a value of d, and up to which value that stays.
 * False: they cannot be met.
 */
static bool descend(const struct counter *counter, const struct conditions *outer, uint32_t d,
		    int64_t value, struct conditions *inner, int64_t *next)
{
	bool is_possible = true;

	inner->count = 0;
	*next = counter->extents[d];
	for (uint32_t n = 0; n < outer->count; n++) {
		const struct condition *condition = &counter->conditions[outer->which[n]];
		__int128 bound = (__int128)outer->bounds[n] -
				 (__int128)condition->coefficients[d] * value;
		enum state state = reduce(condition, d + 1, &bound);

		*next = min(*next, next_change(counter, condition, d, outer->bounds[n], bound,
					       state));
		if (state == FAILS)
			is_possible = false;
		if (state != UNDECIDED)
			continue;
		inner->which[inner->count] = outer->which[n];
		inner->bounds[inner->count++] = (int64_t)bound;
	}
	return is_possible;
}

/* The loops from d on under conditions. Returns false when the steps are used up. */
static bool summarize(struct counter *counter, const struct conditions *conditions, uint32_t d,
		      struct summary *summary)
{
	struct conditions inner;
	struct summary conditioned;
	int64_t next;

	clear(counter, d, summary);
	for (int64_t value = 0; value < counter->extents[d]; value = next) {
		bool is_possible = descend(counter, conditions, d, value, &inner, &next);
		struct run run = { d, value, next - value, &conditioned };

		if (!*counter->steps)
			return false;
		--*counter->steps;
		if (!is_possible)
			continue;
		if (!inner.count)
			run.inner = free_summary(counter, d + 1);
		else if (!summarize(counter, &inner, d + 1, &conditioned))
			return false;
		append(counter, summary, &run);
	}
	return true;
}

/* Setting up */

/* Adds a condition and what it asks of all loops. Returns false if that is impossible. */
static bool add_condition(struct counter *counter, const struct engine_job *job,
			  const int64_t *coefficients, int64_t sign, __int128 bound,
			  struct conditions *conditions)
{
	struct condition *condition = &counter->conditions[counter->num_conditions];
	uint32_t rank = 0;
	enum state state;

	for (uint32_t d = 0; d < job->rank; d++)
		if (job->extents[d] > 1)
			condition->coefficients[rank++] = sign * coefficients[d];
	condition->lowest[rank] = 0;
	condition->highest[rank] = 0;
	condition->divisor[rank] = 0;
	for (uint32_t d = rank; d-- > 0; ) {
		int64_t coefficient = condition->coefficients[d];
		int64_t most = coefficient * (counter->extents[d] - 1);

		condition->lowest[d] = condition->lowest[d + 1] + min(most, 0);
		condition->highest[d] = condition->highest[d + 1] + max(most, 0);
		condition->divisor[d] = gcd(condition->divisor[d + 1], magnitude(coefficient));
	}
	state = reduce(condition, 0, &bound);
	if (state == UNDECIDED) {
		conditions->which[conditions->count] = (uint8_t)counter->num_conditions++;
		conditions->bounds[conditions->count++] = (int64_t)bound;
	}
	return state != FAILS;
}

/* lowest <= value <= highest */
static bool add_interval(struct counter *counter, const struct engine_job *job,
			 const struct drm_tessera_affine *value, __int128 lowest, __int128 highest,
			 struct conditions *conditions)
{
	const int64_t *coefficients = (const int64_t *)value->strides;

	return lowest <= highest &&
	       add_condition(counter, job, coefficients, 1, lowest - value->offset, conditions) &&
	       add_condition(counter, job, coefficients, -1, value->offset - highest, conditions);
}

/* Returns false if nothing is accessed. */
static bool add_conditions(struct counter *counter, const struct engine_count_stream *stream,
			   struct conditions *conditions)
{
	const struct engine_job *job = stream->job;
	uint32_t mask = job->operands[0].spec.window_mask |
			job->operands[stream->operand].spec.window_mask;

	conditions->count = 0;
	counter->num_conditions = 0;
	for (uint32_t w = 0; w < job->num_windows; w++) {
		const struct drm_tessera_window *window = &job->windows[w];

		if ((mask >> w & 1) &&
		    !add_interval(counter, job, &window->value, 0, (__int128)window->limit - 1,
				  conditions))
			return false;
	}
	return !stream->within ||
	       add_interval(counter, job, stream->address, stream->within->lowest,
			    stream->within->highest, conditions);
}

/* Returns false if there are no points. */
static bool set_loops(struct counter *counter, const struct engine_count_stream *stream)
{
	const struct engine_job *job = stream->job;

	counter->rank = 0;
	for (uint32_t d = 0; d < job->rank; d++) {
		if (!job->extents[d])
			return false;
		if (job->extents[d] == 1)
			continue;
		counter->extents[counter->rank] = (int64_t)job->extents[d];
		counter->strides[counter->rank++] = stream->address->strides[d];
	}
	return true;
}

static void set_places(struct counter *counter, const struct engine_count_stream *stream)
{
	counter->place = (uint32_t)((uint64_t)stream->address->offset & (counter->burst - 1));
	counter->grain[0] = counter->burst;
	for (uint32_t d = 0; d < counter->rank; d++)
		counter->grain[d + 1] =
			(uint32_t)gcd(counter->grain[d], magnitude(counter->strides[d]));
	memset(counter->has_free, 0, sizeof(counter->has_free));
}

bool engine_count(const struct engine_count_stream *stream, uint32_t burst_bytes, uint32_t *steps,
		  struct engine_count *count)
{
	struct counter counter;
	struct conditions conditions;
	struct summary conditioned;
	const struct summary *summary = &conditioned;

	counter.element_bytes = stream->element_bytes;
	counter.burst = burst_bytes;
	counter.steps = steps;
	*count = (struct engine_count){ 0 };
	if (!set_loops(&counter, stream) || !add_conditions(&counter, stream, &conditions))
		return true;
	set_places(&counter, stream);
	if (!conditions.count)
		summary = free_summary(&counter, 0);
	else if (!summarize(&counter, &conditions, 0, &conditioned))
		return false;
	count->accesses = summary->accesses;
	if (count->accesses)
		count->bursts = summary->bursts[0] + 1;
	return true;
}
