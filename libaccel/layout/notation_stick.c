// SPDX-License-Identifier: MIT
/*
 * Sticks, the tensor layouts of Spyre: elements stand in sticks of 128 bytes along one dimension,
 * the stick dimension, which is the last of the order; the first of the order is tiled: device
 * dimensions are order[1] .. order[n-2], the sticks of the stick dimension, order[0], the stick.
 *
 *	stick					all dimensions padded to whole sticks
 *	stick:pad=stick				only the stick dimension padded
 *	stick:order=1,0,2			the same, in another order
 *	stick:pad=all;order=1,0,2		all padded, in another order
 *	stick:padded=5,128,192;order=0,1,2	padded to given extents
 *	stick:sparse				one element in each stick; also order=0,1,-1
 *	stick:device_size=..;stride_map=..	explicit: row-major elements of the shape that a
 *						step of each device dimension goes, -1 for none
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "layout/notation.h"

#define BYTES_IN_STICK	128

enum stick_option {
	OPTION_PAD,
	OPTION_ORDER,
	OPTION_PADDED,
	OPTION_SPARSE,
	OPTION_DEVICE_SIZE,
	OPTION_STRIDE_MAP,
	NUM_OPTIONS,
};

#define IS(option)	(1U << (option))

struct stick_layout {
	struct accel_layout layout;
	bool pads_all;			/* otherwise only the stick dimension */
	bool is_sparse;
	uint32_t num_order;		/* 0: the logical order */
	uint32_t order[ACCEL_MAX_DIMS];
	uint32_t num_padded;		/* 0: padded as needed */
	int64_t padded[ACCEL_MAX_DIMS];
	uint32_t num_device;		/* 0: not explicit */
	uint32_t num_strides;
	int64_t device_size[ACCEL_MAX_PHYSICAL_DIMS];
	int64_t stride_map[ACCEL_MAX_PHYSICAL_DIMS];
};

/* Text -------------------------------------------------------------------------------------- */

static int parse_pad(struct cursor *cursor, void *layout)
{
	struct stick_layout *stick = layout;

	stick->pads_all = cursor_take(cursor, "all");
	if (!stick->pads_all && !cursor_take(cursor, "stick"))
		return cursor_unexpected(cursor, "all or stick");
	return 0;
}

/* A permutation, and -1 behind it if the sticks are sparse. */
static int parse_order(struct cursor *cursor, void *layout)
{
	struct stick_layout *stick = layout;
	const char *start = cursor->next;
	int64_t order[ACCEL_MAX_DIMS + 1];
	uint32_t seen = 0, count;
	int ret;

	ret = cursor_numbers(cursor, -1, "a dimension", ACCEL_MAX_DIMS + 1, order, &count);
	if (ret)
		return ret;
	if (count && order[count - 1] == -1) {
		stick->is_sparse = true;
		count--;
	}
	if (!count || count > ACCEL_MAX_DIMS)
		return cursor_fail(cursor, start, "the order at column %d has %u dimensions, "
				   "expected 1 to 16", (int)(start - cursor->text) + 1, count);
	for (uint32_t k = 0; k < count; k++) {
		if (order[k] < 0 || order[k] >= count || seen & 1U << order[k])
			return cursor_fail(cursor, start, "the order at column %d has %" PRId64
					   " as number %u, expected each of 0 to %u once",
					   (int)(start - cursor->text) + 1, order[k], k, count - 1);
		seen |= 1U << order[k];
		stick->order[k] = (uint32_t)order[k];
	}
	stick->num_order = count;
	return 0;
}

static int parse_padded(struct cursor *cursor, void *layout)
{
	struct stick_layout *stick = layout;
	int ret;

	ret = cursor_numbers(cursor, 0, "a padded extent", ACCEL_MAX_DIMS, stick->padded,
			     &stick->num_padded);
	if (!ret && !stick->num_padded)
		ret = cursor_unexpected(cursor, "a padded extent");
	return ret;
}

static int parse_sparse(struct cursor *cursor, void *layout)
{
	(void)cursor;
	((struct stick_layout *)layout)->is_sparse = true;
	return 0;
}

static int parse_device_size(struct cursor *cursor, void *layout)
{
	struct stick_layout *stick = layout;
	int ret;

	ret = cursor_numbers(cursor, 0, "a device extent", ACCEL_MAX_PHYSICAL_DIMS,
			     stick->device_size, &stick->num_device);
	if (!ret && !stick->num_device)
		ret = cursor_unexpected(cursor, "a device extent");
	return ret;
}

static int parse_stride_map(struct cursor *cursor, void *layout)
{
	struct stick_layout *stick = layout;
	const char *start = cursor->next;
	int ret;

	ret = cursor_numbers(cursor, -1, "elements or -1", ACCEL_MAX_PHYSICAL_DIMS,
			     stick->stride_map, &stick->num_strides);
	for (uint32_t k = 0; !ret && k < stick->num_strides; k++) {
		if (!stick->stride_map[k])
			ret = cursor_fail(cursor, start,
					  "number %u of the stride map is 0, "
					  "expected elements or -1", k);
	}
	return ret;
}

static const struct cursor_option options[NUM_OPTIONS] = {
	[OPTION_PAD] = { "pad", false, parse_pad },
	[OPTION_ORDER] = { "order", false, parse_order },
	[OPTION_PADDED] = { "padded", false, parse_padded },
	[OPTION_SPARSE] = { "sparse", true, parse_sparse },
	[OPTION_DEVICE_SIZE] = { "device_size", false, parse_device_size },
	[OPTION_STRIDE_MAP] = { "stride_map", false, parse_stride_map },
};

/* What an option cannot stand beside. */
static const struct {
	enum stick_option option;
	enum stick_option other;
} conflicts[] = {
	{ OPTION_PADDED, OPTION_PAD },
	{ OPTION_PADDED, OPTION_SPARSE },
	{ OPTION_DEVICE_SIZE, OPTION_PAD },
	{ OPTION_DEVICE_SIZE, OPTION_ORDER },
	{ OPTION_DEVICE_SIZE, OPTION_PADDED },
	{ OPTION_DEVICE_SIZE, OPTION_SPARSE },
};

static int check_options(const struct stick_layout *stick, struct cursor *cursor, uint32_t given,
			 const char *const *places)
{
	for (size_t k = 0; k < sizeof(conflicts) / sizeof(conflicts[0]); k++) {
		uint32_t both = IS(conflicts[k].option) | IS(conflicts[k].other);

		if ((given & both) == both)
			return cursor_fail(cursor, places[conflicts[k].other],
					   "%s cannot stand beside %s",
					   options[conflicts[k].other].name,
					   options[conflicts[k].option].name);
	}
	if (given & IS(OPTION_PADDED) && stick->is_sparse)
		return cursor_fail(cursor, places[OPTION_PADDED],
				   "padded is of no use where sticks are sparse");
	if (!(given & IS(OPTION_DEVICE_SIZE)) != !(given & IS(OPTION_STRIDE_MAP)))
		return cursor_fail(cursor, cursor->next, "%s= is missing",
				   options[given & IS(OPTION_DEVICE_SIZE) ? OPTION_STRIDE_MAP :
					   OPTION_DEVICE_SIZE].name);
	if (stick->num_device != stick->num_strides)
		return cursor_fail(cursor, places[OPTION_STRIDE_MAP],
				   "the stride map has %u numbers, expected %u as the device size",
				   stick->num_strides, stick->num_device);
	if (stick->num_padded && stick->num_order && stick->num_padded != stick->num_order)
		return cursor_fail(cursor, places[OPTION_PADDED],
				   "padded has %u extents, expected %u as order", stick->num_padded,
				   stick->num_order);
	return 0;
}

/* Whoever gives an order or extents has said which dimensions are padded. */
static bool pads_all_by_default(const struct stick_layout *stick)
{
	return !stick->num_order && !stick->num_padded && !stick->is_sparse;
}

static int parse(struct accel_layout *layout, struct cursor *cursor)
{
	struct stick_layout *stick = layout_as(struct stick_layout, layout);
	const char *places[NUM_OPTIONS];
	uint32_t given;
	int ret;

	stick->pads_all = true;
	if (!*cursor->next)
		return 0;
	ret = cursor_options(cursor, NUM_OPTIONS, options, stick, &given, places);
	if (!ret)
		ret = check_options(stick, cursor, given, places);
	if (ret)
		return ret;
	if (!(given & IS(OPTION_PAD)))
		stick->pads_all = pads_all_by_default(stick);
	if (stick->num_order || stick->num_padded)
		layout->rank = stick->num_order ? stick->num_order : stick->num_padded;
	return 0;
}

static void print_numbers(struct printer *printer, const char *name, uint32_t count,
			  const int64_t *numbers)
{
	printer_add(printer, "%s=", name);
	for (uint32_t k = 0; k < count; k++)
		printer_add(printer, "%s%" PRId64, k ? "," : "", numbers[k]);
}

static void print(const struct accel_layout *layout, struct printer *printer)
{
	const struct stick_layout *stick = layout_as_const(struct stick_layout, layout);
	const char *separator = ":";

	printer_add(printer, "stick");
	if (stick->num_device) {
		print_numbers(printer, ":device_size", stick->num_device, stick->device_size);
		print_numbers(printer, ";stride_map", stick->num_strides, stick->stride_map);
		return;
	}
	if (stick->is_sparse) {
		printer_add(printer, "%ssparse", separator);
		separator = ";";
	}
	if (stick->pads_all != pads_all_by_default(stick)) {
		printer_add(printer, "%spad=%s", separator, stick->pads_all ? "all" : "stick");
		separator = ";";
	}
	if (stick->num_padded) {
		printer_add(printer, "%s", separator);
		print_numbers(printer, "padded", stick->num_padded, stick->padded);
		separator = ";";
	}
	for (uint32_t k = 0; k < stick->num_order; k++)
		printer_add(printer, "%s%s%u", k ? "," : separator, k ? "" : "order=",
			    stick->order[k]);
}

/* Places ------------------------------------------------------------------------------------ */

static int round_up(int64_t extent, int64_t multiple, int64_t *result)
{
	return __builtin_mul_overflow(ceil_divide(extent, multiple), multiple, result) ?
	       -EOVERFLOW : 0;
}

/* The extents of the dimensions with their padding. */
static int pad_shape(const struct stick_layout *stick, const struct placement *placement,
		     uint32_t stick_dim, int64_t elements, int64_t *padded,
		     struct accel_error *error)
{
	if (stick->num_padded && stick->padded[stick_dim] % elements)
		return accel_error_set(error, -EINVAL,
				       "layout: the stick dimension %u is padded to %" PRId64
				       ", expected a multiple of the %" PRId64
				       " elements in a stick",
				       stick_dim, stick->padded[stick_dim], elements);
	for (uint32_t d = 0; d < placement->rank; d++) {
		bool in_sticks = d == stick_dim && !stick->is_sparse;

		padded[d] = stick->num_padded ? stick->padded[d] : placement->shape[d];
		if (padded[d] < placement->shape[d])
			return accel_error_set(error, -EINVAL,
					       "layout: dimension %u of extent %" PRId64
					       " is padded to %" PRId64 ", expected no less", d,
					       placement->shape[d], padded[d]);
		if ((stick->pads_all || in_sticks) && round_up(padded[d], elements, &padded[d]))
			return accel_error_set(error, -EOVERFLOW,
					       "layout: the padded extent %u does not fit 63 bits",
					       d);
	}
	return 0;
}

/* order[1] .. order[n-2], the sticks of order[n-1], order[0]: all but the stick itself. */
static int place_sticks(const struct stick_layout *stick, struct placement *placement,
			const uint32_t *order, const int64_t *padded, int64_t elements,
			struct accel_error *error)
{
	uint32_t rank = placement->rank;
	int ret = 0;

	for (uint32_t k = 1; !ret && k <= rank; k++) {
		uint32_t dim = order[k % rank];
		bool in_sticks = dim == order[rank - 1] && !stick->is_sparse;

		if (in_sticks)
			ret = placement_add(placement, (int)dim, elements, 0,
					    padded[dim] / elements, error);
		else
			ret = placement_add(placement, (int)dim, 1, 0, padded[dim], error);
	}
	return ret;
}

static int place_implicit(const struct stick_layout *stick, struct placement *placement,
			  int64_t elements, struct accel_error *error)
{
	uint32_t rank = placement->rank, order[ACCEL_MAX_DIMS], stick_dim;
	int64_t padded[ACCEL_MAX_DIMS];
	int ret;

	if (!rank) {
		placement->is_sparse = true;
		ret = placement_add(placement, -1, 1, 0, 1, error);
		return ret ? ret : placement_add(placement, -1, 1, 0, elements, error);
	}
	for (uint32_t k = 0; k < rank; k++)
		order[k] = stick->num_order ? stick->order[k] : k;
	stick_dim = order[rank - 1];
	placement->is_sparse = stick->is_sparse;
	ret = pad_shape(stick, placement, stick_dim, elements, padded, error);
	if (!ret)
		ret = place_sticks(stick, placement, order, padded, elements, error);
	if (!ret && stick->is_sparse)
		ret = placement_add(placement, -1, 1, 0, elements, error);
	else if (!ret)
		ret = placement_add(placement, (int)stick_dim, 1, elements, elements, error);
	return ret;
}

/* The dimension along which a step of so many row-major elements goes, or -1. */
static int find_dim(const struct placement *placement, const int64_t *strides, int64_t step)
{
	for (uint32_t d = 0; d < placement->rank; d++) {
		if (placement->shape[d] > 1 && step >= strides[d] &&
		    step / strides[d] < placement->shape[d])
			return (int)d;
	}
	return -1;
}

/* The digits of explicit device dimensions: what divides each, and yet no modulus. */
static int place_steps(const struct stick_layout *stick, struct placement *placement,
		       struct accel_error *error)
{
	int64_t strides[ACCEL_MAX_DIMS];
	int ret = 0;

	placement_host_strides(placement, strides);
	for (uint32_t k = 0; !ret && k < stick->num_device; k++) {
		int64_t step = stick->stride_map[k];
		int dim = step < 0 ? -1 : find_dim(placement, strides, step);

		if (dim >= 0 && step % strides[dim])
			return accel_error_set(error, -EINVAL,
					       "layout: number %u of the stride map is %" PRId64
					       ", expected a multiple of the %" PRId64
					       " elements that dimension %d steps", k, step,
					       strides[dim], dim);
		ret = placement_add(placement, dim, dim < 0 ? 1 : step / strides[dim], 0,
				    stick->device_size[k], error);
	}
	return ret;
}

/* The digit of the same dimension with the least divisor above, or NULL. */
static struct digit *next_above(struct placement *placement, const struct digit *digit)
{
	struct digit *above = NULL;

	for (uint32_t k = 0; k < placement->num_digits; k++) {
		struct digit *other = &placement->digits[k];

		if (other->num_dims && other->dims[0] == digit->dims[0] &&
		    other->divisor > digit->divisor &&
		    (!above || other->divisor < above->divisor))
			above = other;
	}
	return above;
}

static int expect_extent(const struct placement *placement, uint32_t k, int64_t least,
			 struct accel_error *error)
{
	if (placement->digits[k].extent >= least)
		return 0;
	return accel_error_set(error, -EINVAL,
			       "layout: device dimension %u has extent %" PRId64
			       ", expected at least %" PRId64, k, placement->digits[k].extent,
			       least);
}

/* Gives a digit its modulus, and checks that it has room for all of its values. */
static int close_digit(struct placement *placement, uint32_t k, struct accel_error *error)
{
	struct digit *digit = &placement->digits[k];
	const struct digit *above = next_above(placement, digit);
	int64_t range = ceil_divide(placement->shape[digit->dims[0]], digit->divisor);

	for (uint32_t j = 0; j < k; j++) {
		if (placement->digits[j].num_dims &&
		    placement->digits[j].dims[0] == digit->dims[0] &&
		    placement->digits[j].divisor == digit->divisor)
			return accel_error_set(error, -EINVAL,
					       "layout: numbers %u and %u of the stride map are "
					       "the same", j, k);
	}
	if (above) {
		if (above->divisor % digit->divisor)
			return accel_error_set(error, -EINVAL,
					       "layout: steps of %" PRId64 " and %" PRId64
					       " along dimension %u do not divide each other",
					       above->divisor, digit->divisor, digit->dims[0]);
		digit->modulus = above->divisor / digit->divisor;
		range = digit->modulus;
	}
	return expect_extent(placement, k, range, error);
}

/* Each dimension of several values is stepped along one by one. */
static int check_dims(const struct placement *placement, struct accel_error *error)
{
	for (uint32_t d = 0; d < placement->rank; d++) {
		bool is_there = placement->shape[d] <= 1;

		for (uint32_t k = 0; k < placement->num_digits; k++) {
			const struct digit *digit = &placement->digits[k];

			is_there |= digit->num_dims && digit->dims[0] == d && digit->divisor == 1;
		}
		if (!is_there)
			return accel_error_set(
				error, -EINVAL,
				"layout: no device dimension steps along dimension %u "
				"one by one",
				d);
	}
	return 0;
}

static int place_explicit(const struct stick_layout *stick, struct placement *placement,
			  int64_t elements, struct accel_error *error)
{
	int64_t last = stick->device_size[stick->num_device - 1];
	int ret;

	if (last != elements)
		return accel_error_set(error, -EINVAL,
				       "layout: the last device extent is %" PRId64
				       ", expected the %" PRId64 " elements in a stick",
				       last, elements);
	ret = place_steps(stick, placement, error);
	for (uint32_t k = 0; !ret && k < placement->num_digits; k++) {
		/* elements are at index 0 of a dimension that is not stepped along */
		if (placement->digits[k].num_dims)
			ret = close_digit(placement, k, error);
		else
			ret = expect_extent(placement, k, 1, error);
	}
	if (!ret)
		ret = check_dims(placement, error);
	if (!ret)
		placement->is_sparse = !placement->digits[placement->num_digits - 1].num_dims;
	return ret;
}

static int place(const struct accel_layout *layout, struct placement *placement,
		 struct accel_error *error)
{
	const struct stick_layout *stick = layout_as_const(struct stick_layout, layout);
	int64_t elements;
	int ret;

	if (!placement->element_size)
		return accel_error_set(error, -EINVAL,
				       "layout: the length of its sticks needs an element type");
	elements = BYTES_IN_STICK / placement->element_size;
	placement->has_sticks = true;
	if (stick->num_device)
		ret = place_explicit(stick, placement, elements, error);
	else
		ret = place_implicit(stick, placement, elements, error);
	return ret ? ret : placement_pack(placement, error);
}

/* Proposals --------------------------------------------------------------------------------- */

/* The order of dimensions, if the digits are those of sticks. */
static bool propose_order(const struct placement *placement, struct printer *printer)
{
	uint32_t order[ACCEL_MAX_DIMS], rank = placement->rank;

	if (!rank || placement->num_digits != rank + 1)
		return true;
	for (uint32_t k = 0; k < rank; k++) {
		if (placement->digits[k].num_dims != 1)
			return true;
		order[(k + 1) % rank] = placement->digits[k].dims[0];
	}
	for (uint32_t k = 0; k < rank; k++)
		printer_add(printer, "%s%u", k ? "," : "order=", order[k]);
	return true;
}

static bool propose_explicit(const struct placement *placement, struct printer *printer)
{
	int64_t sizes[PLACEMENT_MAX_DIGITS], steps[PLACEMENT_MAX_DIGITS];

	for (uint32_t k = 0; k < placement->num_digits; k++) {
		const struct digit *digit = &placement->digits[k];

		if (digit->num_dims > 1 || digit->expression)
			return false;
		sizes[k] = digit->extent;
		steps[k] = placement_step(placement, digit);
	}
	print_numbers(printer, "device_size", placement->num_digits, sizes);
	print_numbers(printer, ";stride_map", placement->num_digits, steps);
	return true;
}

/*
 * From what is shortest to what says all. Padding and sparse sticks are not among it: no layout
 * that is written in another way has them.
 */
static bool propose(const struct placement *placement, uint32_t attempt, struct printer *printer)
{
	struct placement sorted = *placement;

	if (!placement_is_dense(placement, sorted.digits))
		return false;
	switch (attempt) {
	case 0:
		return true;
	case 1:
		printer_add(printer, "pad=stick");
		return true;
	case 2:
		return propose_order(&sorted, printer);
	case 3:
		return propose_explicit(&sorted, printer);
	default:
		return false;
	}
}

const struct notation notation_stick = {
	.name = "stick",
	.size = sizeof(struct stick_layout),
	.has_bare_form = true,
	.parse = parse,
	.print = print,
	.place = place,
	.propose = propose,
};
