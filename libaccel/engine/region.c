// SPDX-License-Identifier: MIT
/*
 * Windows are never tested point by point: the box of a job is cut until in each part every
 * window holds everywhere or nowhere. A window of one loop cuts it in at most three. One of several
 * loops is cut along the loop that leaves the fewest values undecided; these are then taken one
 * by one, and have one loop less. What padding, im2col and partial tiles need is a few large
 * boxes. Nothing here knows what is done in a box.
 */
#include <errno.h>

#include "arithmetic.h"
#include "region.h"

enum state { FAILS, UNDECIDED, HOLDS };

static enum state window_state(const struct drm_tessera_window *window,
			       const struct engine_box *box)
{
	struct engine_interval value = engine_affine_range(&window->value, box);

	if (value.highest < 0 || value.lowest >= (int64_t)window->limit)
		return FAILS;
	if (value.lowest >= 0 && value.highest < (int64_t)window->limit)
		return HOLDS;
	return UNDECIDED;
}

/* What is known of the windows in a box. */
struct region {
	struct engine_box box;
	uint32_t undecided;	/* windows still to be looked at */
	uint32_t failed;	/* windows that hold nowhere */
};

static void decide(struct region *region, const struct engine_plan *plan)
{
	for (uint32_t w = 0; w < plan->num_windows; w++) {
		enum state state;

		if (!(region->undecided >> w & 1))
			continue;
		state = window_state(&plan->windows[w], &region->box);
		if (state == FAILS)
			region->failed |= 1u << w;
		if (state != UNDECIDED)
			region->undecided &= ~(1u << w);
	}
}

/* The values of a loop at which a window may hold, and those at which it does. */
struct cut {
	uint32_t dim;
	struct engine_interval possible;
	struct engine_interval certain;	/* within possible; may be empty */
	int64_t num_undecided;
};

static int64_t count(const struct engine_interval *interval)
{
	return interval->highest - interval->lowest + 1;
}

/* The part of dim in which 0 <= coefficient * i + above and coefficient * i + below < limit. */
static struct engine_interval solve(const struct engine_interval *dim, int64_t coefficient,
				    __int128 above, __int128 below, uint64_t limit)
{
	__int128 room = (__int128)limit - 1 - below;
	__int128 first, last;

	if (coefficient > 0) {
		first = engine_ceiling_divide(-above, coefficient);
		last = engine_floor_divide(room, coefficient);
	} else {
		first = engine_ceiling_divide(room, coefficient);
		last = engine_floor_divide(-above, coefficient);
	}
	if (first < dim->lowest)
		first = dim->lowest;
	if (last > dim->highest)
		last = dim->highest;
	if (first > last)
		return (struct engine_interval){ dim->lowest, dim->lowest - 1 };
	return (struct engine_interval){ (int64_t)first, (int64_t)last };
}

static struct cut cut_along(const struct drm_tessera_window *window, const struct engine_box *box,
			    uint32_t d)
{
	const struct engine_interval *dim = &box->dims[d];
	int64_t coefficient = window->value.strides[d];
	struct engine_box others = *box;
	struct cut cut = { .dim = d };
	struct engine_interval rest;

	/* rest: the value without this loop's part */
	others.dims[d] = (struct engine_interval){ 0, 0 };
	rest = engine_affine_range(&window->value, &others);
	cut.possible = solve(dim, coefficient, rest.highest, rest.lowest, window->limit);
	cut.certain = solve(dim, coefficient, rest.lowest, rest.highest, window->limit);
	cut.num_undecided = count(&cut.possible) - count(&cut.certain);
	return cut;
}

/*
 * The loop to cut along: the fewest undecided values, and of equals the one outside of the others
 * in the destination, so that what is contiguous there stays so.
 */
static struct cut best_cut(const struct drm_tessera_window *window, const struct engine_box *box,
			   const int64_t *dst_strides)
{
	struct cut best = { .dim = box->rank };

	for (uint32_t d = 0; d < box->rank; d++) {
		struct cut cut;

		if (!window->value.strides[d] || box->dims[d].lowest == box->dims[d].highest)
			continue;
		cut = cut_along(window, box, d);
		if (best.dim == box->rank || cut.num_undecided < best.num_undecided ||
		    (cut.num_undecided == best.num_undecided &&
		     magnitude(dst_strides[d]) > magnitude(dst_strides[best.dim])))
			best = cut;
	}
	return best;
}

/* Whose regions are visited, and by whom. */
struct visitor {
	const struct engine_plan *plan;
	engine_visit *visit;
	void *context;
};

static int visit_region(const struct visitor *visitor, const struct region *whole);

/* Where a region is cut, for which window, and what is done with the parts. */
struct cutting {
	const struct visitor *visitor;
	const struct region *region;
	uint32_t window;
	uint32_t dim;
};

static int visit_part(const struct cutting *cutting, int64_t lowest, int64_t highest,
		      enum state state)
{
	struct region part = *cutting->region;

	if (lowest > highest)
		return 0;
	part.box.dims[cutting->dim] = (struct engine_interval){ lowest, highest };
	if (state != UNDECIDED)
		part.undecided &= ~(1u << cutting->window);
	if (state == FAILS)
		part.failed |= 1u << cutting->window;
	return visit_region(cutting->visitor, &part);
}

static int visit_each(const struct cutting *cutting, int64_t lowest, int64_t highest)
{
	int error = 0;

	for (int64_t i = lowest; i <= highest && !error; i++)
		error = visit_part(cutting, i, i, UNDECIDED);
	return error;
}

/* The depth of recursion is bounded: each level decides a window or takes a loop from it. */
static int visit_parts(const struct cutting *cutting, const struct cut *cut)
{
	const struct engine_interval dim = cutting->region->box.dims[cut->dim];
	const struct engine_interval *possible = &cut->possible;
	struct engine_interval certain = cut->certain;
	int error;

	if (certain.lowest > certain.highest)
		certain = (struct engine_interval){ possible->highest + 1, possible->highest };
	error = visit_part(cutting, dim.lowest, possible->lowest - 1, FAILS);
	if (!error)
		error = visit_each(cutting, possible->lowest, certain.lowest - 1);
	if (!error)
		error = visit_part(cutting, certain.lowest, certain.highest, HOLDS);
	if (!error)
		error = visit_each(cutting, certain.highest + 1, possible->highest);
	if (!error)
		error = visit_part(cutting, possible->highest + 1, dim.highest, FAILS);
	return error;
}

static int visit_region(const struct visitor *visitor, const struct region *whole)
{
	const struct engine_plan *plan = visitor->plan;
	struct region region = *whole;
	uint32_t loads = 0;

	decide(&region, plan);
	if (region.failed & plan->operands[0].window_mask)
		return visitor->visit(visitor->context, &region.box, 0);
	for (uint32_t k = 0; k < plan->num_operands; k++) {
		uint32_t mask = plan->operands[k].window_mask;

		if (region.failed & mask)
			continue;
		if (region.undecided & mask) {
			uint32_t w = (uint32_t)__builtin_ctz(region.undecided & mask);
			struct cut cut = best_cut(&plan->windows[w], &region.box,
						  plan->operands[0].address.strides);
			struct cutting cutting = { visitor, &region, w, cut.dim };

			return visit_parts(&cutting, &cut);
		}
		loads |= 1u << k;
	}
	return visitor->visit(visitor->context, &region.box, loads);
}

int engine_visit_regions(const struct engine_plan *plan, const struct engine_box *box,
			 engine_visit *visit, void *context)
{
	const struct visitor visitor = { plan, visit, context };
	struct region region = { .box = *box };

	for (uint32_t k = 0; k < plan->num_operands; k++)
		region.undecided |= plan->operands[k].window_mask;
	return visit_region(&visitor, &region);
}
