// SPDX-License-Identifier: MIT
/*
 * The proof that an affine operand stays inside its buffer, by the rule documented in
 * uapi/drm/tessera_accel.h and by no other: the driver has the same rule in its own code, and
 * both must come to the same answer.
 */
#include "arithmetic.h"
#include "bounds.h"

bool engine_affine_fits(const struct drm_tessera_affine *affine, uint32_t rank,
			const uint64_t *extents)
{
	uint64_t sum = magnitude(affine->offset);
	uint64_t term;

	for (uint32_t d = 0; d < rank; d++) {
		if (__builtin_mul_overflow(magnitude(affine->strides[d]), extents[d] - 1, &term) ||
		    __builtin_add_overflow(sum, term, &sum))
			return false;
	}
	return sum <= INT64_MAX;
}

/* The interval of coefficient * i. */
static struct engine_interval term_range(int64_t coefficient, const struct engine_interval *i)
{
	if (coefficient < 0)
		return (struct engine_interval){ coefficient * i->highest,
						 coefficient * i->lowest };
	return (struct engine_interval){ coefficient * i->lowest, coefficient * i->highest };
}

struct engine_interval engine_affine_range(const struct drm_tessera_affine *affine,
					   const struct engine_box *box)
{
	struct engine_interval range = { affine->offset, affine->offset };

	for (uint32_t d = 0; d < box->rank; d++) {
		struct engine_interval term = term_range(affine->strides[d], &box->dims[d]);

		range.lowest += term.lowest;
		range.highest += term.highest;
	}
	return range;
}

void engine_box_init(struct engine_box *box, uint32_t rank, const uint64_t *extents)
{
	box->rank = rank;
	for (uint32_t d = 0; d < rank; d++)
		box->dims[d] = (struct engine_interval){ 0, (int64_t)(extents[d] - 1) };
}

/* Tightens dimension d to where the window can hold. Returns false when that is nowhere. */
static bool tighten_dim(struct engine_box *box, const struct drm_tessera_window *window, uint32_t d)
{
	int64_t coefficient = window->value.strides[d];
	struct engine_interval *dim = &box->dims[d];
	struct engine_interval value = engine_affine_range(&window->value, box);
	struct engine_interval own = term_range(coefficient, dim);
	/* 0 <= coefficient * i + rest < limit, for some rest in its interval */
	__int128 lowest = -((__int128)value.highest - own.highest);
	__int128 highest = (__int128)window->limit - 1 - ((__int128)value.lowest - own.lowest);
	__int128 first, last;

	if (coefficient > 0) {
		first = engine_ceiling_divide(lowest, coefficient);
		last = engine_floor_divide(highest, coefficient);
	} else {
		first = engine_ceiling_divide(highest, coefficient);
		last = engine_floor_divide(lowest, coefficient);
	}
	if (first > dim->lowest)
		dim->lowest = first > dim->highest ? dim->highest + 1 : (int64_t)first;
	if (last < dim->highest)
		dim->highest = last < dim->lowest ? dim->lowest - 1 : (int64_t)last;
	return dim->lowest <= dim->highest;
}

static bool tighten_by_window(struct engine_box *box, const struct drm_tessera_window *window)
{
	bool is_constant = true;

	for (uint32_t d = 0; d < box->rank; d++) {
		if (!window->value.strides[d])
			continue;
		is_constant = false;
		if (!tighten_dim(box, window, d))
			return false;
	}
	return !is_constant || (window->value.offset >= 0 &&
				(uint64_t)window->value.offset < window->limit);
}

bool engine_box_tighten(struct engine_box *box, const struct drm_tessera_window *windows,
			uint32_t mask)
{
	for (int round = 0; round < 2; round++)
		for (uint32_t w = 0; w < DRM_TESSERA_MAX_WINDOWS; w++)
			if ((mask >> w & 1) && !tighten_by_window(box, &windows[w]))
				return false;
	return true;
}

/* The dimension that step 2 of the rule takes for this window, or the rank if there is none. */
static uint32_t widest_dim(const struct drm_tessera_affine *address, const struct engine_box *box,
			   const struct drm_tessera_window *window)
{
	uint32_t widest = box->rank;

	for (uint32_t d = 0; d < box->rank; d++) {
		if (!window->value.strides[d] || box->dims[d].lowest == box->dims[d].highest)
			continue;
		if (widest == box->rank ||
		    magnitude(address->strides[d]) > magnitude(address->strides[widest]))
			widest = d;
	}
	return widest;
}

/* rest = address - quotient * value; false when a number does not fit. */
static bool subtract(const struct drm_tessera_affine *address, int64_t quotient,
		     const struct drm_tessera_affine *value, uint32_t rank,
		     struct drm_tessera_affine *rest)
{
	int64_t product;

	*rest = *address;
	if (__builtin_mul_overflow(quotient, value->offset, &product) ||
	    __builtin_sub_overflow(address->offset, product, &rest->offset))
		return false;
	for (uint32_t d = 0; d < rank; d++) {
		if (__builtin_mul_overflow(quotient, value->strides[d], &product) ||
		    __builtin_sub_overflow(address->strides[d], product, &rest->strides[d]))
			return false;
	}
	return true;
}

/* engine_affine_range() for an affine that may not fit. */
static bool checked_range(const struct drm_tessera_affine *affine, const struct engine_box *box,
			  struct engine_interval *range)
{
	int64_t at_lowest, at_highest;

	*range = (struct engine_interval){ affine->offset, affine->offset };
	for (uint32_t d = 0; d < box->rank; d++) {
		int64_t stride = affine->strides[d];

		if (__builtin_mul_overflow(stride, box->dims[d].lowest, &at_lowest) ||
		    __builtin_mul_overflow(stride, box->dims[d].highest, &at_highest) ||
		    __builtin_add_overflow(range->lowest, stride < 0 ? at_highest : at_lowest,
					   &range->lowest) ||
		    __builtin_add_overflow(range->highest, stride < 0 ? at_lowest : at_highest,
					   &range->highest))
			return false;
	}
	return true;
}

static bool checked_scale(const struct engine_interval *interval, int64_t factor,
			  struct engine_interval *scaled)
{
	int64_t at_lowest, at_highest;

	if (__builtin_mul_overflow(interval->lowest, factor, &at_lowest) ||
	    __builtin_mul_overflow(interval->highest, factor, &at_highest))
		return false;
	scaled->lowest = factor < 0 ? at_highest : at_lowest;
	scaled->highest = factor < 0 ? at_lowest : at_highest;
	return true;
}

static bool checked_add(const struct engine_interval *a, const struct engine_interval *b,
			struct engine_interval *sum)
{
	return !__builtin_add_overflow(a->lowest, b->lowest, &sum->lowest) &&
	       !__builtin_add_overflow(a->highest, b->highest, &sum->highest);
}

static uint64_t width(const struct engine_interval *interval)
{
	return (uint64_t)interval->highest - (uint64_t)interval->lowest;
}

/* What step 2 carries from window to window: the interval is that of address plus added. */
struct proof {
	struct drm_tessera_affine address;
	struct engine_interval added;
	struct engine_interval interval;
};

/* Takes quotient * value out of the address if that makes the interval narrower. */
static void take_out(struct proof *proof, const struct engine_box *box,
		     const struct drm_tessera_window *window, const struct engine_interval *value)
{
	uint32_t d = widest_dim(&proof->address, box, window);
	struct proof next = *proof;
	struct engine_interval scaled, rest;
	int64_t coefficient, quotient;

	if (d == box->rank)
		return;
	coefficient = window->value.strides[d];
	if (coefficient == -1 && proof->address.strides[d] == INT64_MIN)
		return;
	if (proof->address.strides[d] % coefficient)
		return;
	quotient = proof->address.strides[d] / coefficient;
	if (!subtract(&proof->address, quotient, &window->value, box->rank, &next.address) ||
	    !checked_range(&next.address, box, &rest) ||
	    !checked_scale(value, quotient, &scaled) ||
	    !checked_add(&proof->added, &scaled, &next.added) ||
	    !checked_add(&rest, &next.added, &next.interval))
		return;
	if (width(&next.interval) < width(&proof->interval))
		*proof = next;
}

struct engine_interval engine_bounds(const struct drm_tessera_affine *address,
				     const struct engine_box *box,
				     const struct drm_tessera_window *windows, uint32_t mask)
{
	struct proof proof = { .address = *address, .interval = engine_affine_range(address, box) };

	for (uint32_t w = 0; w < DRM_TESSERA_MAX_WINDOWS; w++) {
		struct engine_interval value;

		if (!(mask >> w & 1))
			continue;
		value = engine_affine_range(&windows[w].value, box);
		if (value.lowest < 0)
			value.lowest = 0;
		if (value.highest > (int64_t)(windows[w].limit - 1))
			value.highest = (int64_t)(windows[w].limit - 1);
		if (value.lowest > value.highest)
			return (struct engine_interval){ 0, -1 };
		take_out(&proof, box, &windows[w], &value);
	}
	return proof.interval;
}
