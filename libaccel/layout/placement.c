// SPDX-License-Identifier: MIT
/*
 * Where a layout puts the elements of one shape: digits, their strides, and what can be
 * said of them. Knows nothing of any notation's text.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/placement.h"

static int too_large(struct accel_error *error)
{
	return accel_error_set(error, -EOVERFLOW,
			       "layout: the elements of this shape are not counted by 63 bits");
}

int64_t ceil_divide(int64_t extent, int64_t divisor)
{
	return extent / divisor + (extent % divisor != 0);
}

int placement_init(struct placement *placement, enum accel_dtype dtype, uint32_t rank,
		   const int64_t *shape, const char *axes, struct accel_error *error)
{
	int64_t bytes = 1;

	memset(placement, 0, sizeof(*placement));
	if (rank > ACCEL_MAX_DIMS)
		return accel_error_set(error, -EINVAL,
				       "layout: the shape has %u axes, expected at most %d", rank,
				       ACCEL_MAX_DIMS);
	placement->dtype = dtype;
	placement->element_size = (int64_t)accel_dtype_size(dtype);
	if (dtype && !placement->element_size)
		return accel_error_set(error, -EINVAL, "layout: there is no element type 0x%x",
				       (unsigned int)dtype);
	placement->rank = rank;
	snprintf(placement->axes, sizeof(placement->axes), "%s", axes);
	if (dtype)
		bytes = placement->element_size;
	for (uint32_t d = 0; d < rank; d++) {
		if (shape[d] < 0)
			return accel_error_set(
				error, -EINVAL,
				"shape: extent %u is %" PRId64 ", expected 0 or more", d, shape[d]);
		placement->shape[d] = shape[d];
		/* without the zeros, so that no product of a part of the shape can overflow */
		if (shape[d] && __builtin_mul_overflow(bytes, shape[d], &bytes))
			return too_large(error);
	}
	return 0;
}

void placement_release(struct placement *placement)
{
	for (uint32_t k = 0; k < placement->num_digits; k++)
		expression_unref(placement->digits[k].expression);
	placement->num_digits = 0;
}

int placement_add_digit(struct placement *placement, const struct digit *digit,
			struct accel_error *error)
{
	if (placement->num_digits == PLACEMENT_MAX_DIGITS) {
		expression_unref(digit->expression);
		return accel_error_set(error, -E2BIG,
				       "layout: it has more than %d physical axes",
				       PLACEMENT_MAX_DIGITS);
	}
	placement->digits[placement->num_digits++] = *digit;
	return 0;
}

int placement_add(struct placement *placement, int dim, int64_t divisor, int64_t modulus,
		  int64_t extent, struct accel_error *error)
{
	struct digit digit = {
		.num_dims = dim >= 0,
		.dims = { dim >= 0 ? (uint8_t)dim : 0 },
		.divisor = divisor,
		.modulus = modulus,
		.extent = extent,
	};

	return placement_add_digit(placement, &digit, error);
}

static bool shape_is_empty(const struct placement *placement)
{
	for (uint32_t d = 0; d < placement->rank; d++) {
		if (!placement->shape[d])
			return true;
	}
	return false;
}

int placement_check_bytes(const struct placement *placement, struct accel_error *error)
{
	int64_t bytes;

	if (placement->element_size &&
	    __builtin_mul_overflow(placement->num_elements, placement->element_size, &bytes))
		return too_large(error);
	return 0;
}

int placement_pack(struct placement *placement, struct accel_error *error)
{
	int64_t stride = 1;
	bool is_empty = false;

	for (uint32_t k = placement->num_digits; k--;) {
		struct digit *digit = &placement->digits[k];

		digit->stride = stride;
		is_empty |= !digit->extent;
		/* as NumPy does: an empty shape has the strides of one with extents of 1 instead */
		if (digit->extent && __builtin_mul_overflow(stride, digit->extent, &stride))
			return too_large(error);
	}
	placement->num_elements = is_empty ? 0 : stride;
	return placement_check_bytes(placement, error);
}

int placement_measure(struct placement *placement, struct accel_error *error)
{
	int64_t lowest = placement->offset, highest = placement->offset, reach;

	if (shape_is_empty(placement)) {
		placement->num_elements = 0;
		return 0;
	}
	for (uint32_t k = 0; k < placement->num_digits; k++) {
		const struct digit *digit = &placement->digits[k];
		int64_t *end = digit->stride < 0 ? &lowest : &highest;

		if (__builtin_mul_overflow(digit->stride, digit->extent - 1, &reach) ||
		    __builtin_add_overflow(*end, reach, end))
			return too_large(error);
	}
	if (lowest < 0)
		return accel_error_set(error, -ERANGE,
				       "layout: its lowest element is at %" PRId64
				       ", expected 0 or more", lowest);
	if (__builtin_add_overflow(highest, 1, &placement->num_elements))
		return too_large(error);
	return placement_check_bytes(placement, error);
}

int64_t placement_fused_extent(const struct placement *placement, const struct digit *digit)
{
	int64_t extent = 1;

	for (uint32_t k = 0; k < digit->num_dims; k++)
		extent *= placement->shape[digit->dims[k]];
	return extent;
}

int64_t digit_range(const struct placement *placement, const struct digit *digit)
{
	int64_t range;

	if (digit->expression)
		return digit->extent > 1 ? digit->extent : 1;
	if (!digit->num_dims)
		return 1;
	range = ceil_divide(placement_fused_extent(placement, digit), digit->divisor);
	if (digit->modulus && range > digit->modulus)
		range = digit->modulus;
	return range ? range : 1;
}

bool digit_is_whole(const struct digit *digit)
{
	return digit->num_dims && !digit->expression && digit->divisor == 1 && !digit->modulus;
}

/* Coordinates as expressions ---------------------------------------------------------------- */

void placement_variable(const struct placement *placement, uint32_t dim, char name[4])
{
	if (placement->axes[0])
		snprintf(name, 4, "%c", tolower((unsigned char)placement->axes[dim]));
	else
		snprintf(name, 4, "i%u", dim % ACCEL_MAX_DIMS);
}

static struct accel_expression *variable_of(const struct placement *placement, uint32_t dim)
{
	char name[4];

	placement_variable(placement, dim, name);
	return expression_variable(name, strlen(name));
}

/* a * factor, without the factor where it is 1. Consumes. */
static struct accel_expression *scale(struct accel_expression *a, int64_t factor)
{
	return factor == 1 ? a : expression_multiply(a, expression_constant(factor));
}

/* a + b, without an a of NULL at the start of a sum. Consumes. */
static struct accel_expression *append(struct accel_expression *a, struct accel_expression *b,
				       bool is_first)
{
	return is_first ? b : expression_add(a, b);
}

struct accel_expression *placement_coordinate(const struct placement *placement,
					      const struct digit *digit)
{
	struct accel_expression *fused = NULL;
	int64_t weight = placement_fused_extent(placement, digit);

	if (digit->expression)
		return expression_ref(digit->expression);
	if (!digit->num_dims || digit->modulus == 1)
		return expression_constant(0);
	for (uint32_t k = 0; k < digit->num_dims; k++) {
		int64_t extent = placement->shape[digit->dims[k]];

		weight = extent ? weight / extent : 1;
		fused = append(fused, scale(variable_of(placement, digit->dims[k]), weight),
			       k == 0);
	}
	if (digit->divisor != 1)
		fused = expression_divide(fused, expression_constant(digit->divisor));
	if (digit->modulus)
		fused = expression_modulo(fused, expression_constant(digit->modulus));
	return fused;
}

/* The value of a digit's coordinate at an index. */
static int evaluate(const struct placement *placement, const struct digit *digit,
		    const int64_t *index, int64_t *value, struct accel_error *error)
{
	char names[ACCEL_MAX_DIMS][4];
	const char *pointers[ACCEL_MAX_DIMS];
	const char *missing;
	int64_t fused = 0;
	int ret;

	if (digit->expression) {
		for (uint32_t d = 0; d < placement->rank; d++) {
			placement_variable(placement, d, names[d]);
			pointers[d] = names[d];
		}
		ret = expression_evaluate(digit->expression, placement->rank, pointers, index,
					  value, &missing);
		return ret ? expression_error(error, ret, "layout") : 0;
	}
	for (uint32_t k = 0; k < digit->num_dims; k++)
		fused = fused * placement->shape[digit->dims[k]] + index[digit->dims[k]];
	*value = digit->num_dims ? fused / digit->divisor : 0;
	if (digit->modulus)
		*value %= digit->modulus;
	return 0;
}

int placement_element(const struct placement *placement, const int64_t *index, int64_t *element,
		      struct accel_error *error)
{
	*element = placement->offset;
	for (uint32_t d = 0; d < placement->rank; d++) {
		if (index[d] < 0 || index[d] >= placement->shape[d])
			return accel_error_set(error, -ERANGE,
					       "index: number %u is %" PRId64
					       ", expected 0 or more and less than %" PRId64,
					       d, index[d], placement->shape[d]);
	}
	for (uint32_t k = 0; k < placement->num_digits; k++) {
		int64_t value;
		int ret = evaluate(placement, &placement->digits[k], index, &value, error);

		if (ret)
			return ret;
		*element += value * placement->digits[k].stride;
	}
	return 0;
}

/* The map over the placement's variables to these outputs, which are consumed. */
static int create_map(const struct placement *placement, uint32_t num_outputs,
		      struct accel_expression **outputs, struct accel_map **map,
		      struct accel_error *error)
{
	char names[ACCEL_MAX_DIMS][4];
	const char *pointers[ACCEL_MAX_DIMS];

	for (uint32_t d = 0; d < placement->rank; d++) {
		placement_variable(placement, d, names[d]);
		pointers[d] = names[d];
	}
	return map_create(placement->rank, pointers, num_outputs, outputs, 0, map, error);
}

int placement_map(const struct placement *placement, struct accel_map **map,
		  struct accel_error *error)
{
	struct accel_expression *outputs[PLACEMENT_MAX_DIGITS];
	uint32_t count = 0;

	for (uint32_t k = 0; k < placement->num_digits; k++) {
		const struct digit *digit = &placement->digits[k];
		struct accel_expression *coordinate = placement_coordinate(placement, digit);

		if (digit->is_joined) {
			count--;
			coordinate = expression_add(scale(outputs[count], digit->extent),
						    coordinate);
		}
		outputs[count++] = coordinate;
	}
	return create_map(placement, count, outputs, map, error);
}

int placement_element_map(const struct placement *placement, struct accel_map **map,
			  struct accel_error *error)
{
	struct accel_expression *sum = NULL;
	bool is_first = true;

	for (uint32_t k = 0; k < placement->num_digits; k++) {
		const struct digit *digit = &placement->digits[k];

		if (digit_range(placement, digit) == 1 || !digit->stride)
			continue;
		sum = append(sum, scale(placement_coordinate(placement, digit), digit->stride),
			     is_first);
		is_first = false;
	}
	if (placement->offset || is_first)
		sum = append(sum, expression_constant(placement->offset), is_first);
	return create_map(placement, 1, &sum, map, error);
}

int placement_axes(const struct placement *placement, uint32_t *rank, int64_t *shape,
		   int64_t *strides, struct accel_error *error)
{
	int64_t extent = 1;
	uint32_t count = 0;

	for (uint32_t k = 0; k < placement->num_digits; k++) {
		const struct digit *digit = &placement->digits[k];

		if (!digit->is_joined)
			extent = 1;
		if (__builtin_mul_overflow(extent, digit->extent, &extent))
			return too_large(error);
		count += !digit->is_joined;
		if (shape)
			shape[count - 1] = extent;
		if (strides)
			strides[count - 1] = digit->stride;
	}
	*rank = count;
	return 0;
}

void placement_host_strides(const struct placement *placement, int64_t *strides)
{
	int64_t stride = 1;

	for (uint32_t d = placement->rank; d--;) {
		strides[d] = stride;
		stride *= placement->shape[d] ? placement->shape[d] : 1;
	}
}

int64_t placement_step(const struct placement *placement, const struct digit *digit)
{
	int64_t strides[ACCEL_MAX_DIMS];

	if (digit->num_dims != 1 || digit->expression || digit_range(placement, digit) == 1)
		return -1;
	placement_host_strides(placement, strides);
	return digit->divisor * strides[digit->dims[0]];
}

/* Comparing --------------------------------------------------------------------------------- */

bool placement_is_dense(const struct placement *placement, struct digit *digits)
{
	int64_t stride = 1;

	memcpy(digits, placement->digits, placement->num_digits * sizeof(digits[0]));
	/* insertion keeps the order of equal strides, where all but one have an extent of 1 */
	for (uint32_t k = 1; k < placement->num_digits; k++) {
		struct digit digit = digits[k];
		uint32_t at = k;

		for (; at && digits[at - 1].stride < digit.stride; at--)
			digits[at] = digits[at - 1];
		digits[at] = digit;
	}
	if (placement->offset)
		return false;
	for (uint32_t k = placement->num_digits; k--;) {
		if (digits[k].extent != 1 && digits[k].stride != stride)
			return false;
		/* the product fits: placement_pack() or placement_measure() has seen to that */
		if (digits[k].extent && __builtin_mul_overflow(stride, digits[k].extent, &stride))
			return false;
	}
	return !placement->num_elements || placement->num_elements == stride;
}

/* The digit without the fused dimensions from first to the end; all its strides stay. */
static struct digit take_prefix(const struct digit *digit, uint32_t count)
{
	struct digit prefix = *digit;

	prefix.num_dims = count;
	return prefix;
}

static struct digit take_last(const struct digit *digit)
{
	struct digit last = *digit;

	last.num_dims = 1;
	last.dims[0] = digit->dims[digit->num_dims - 1];
	return last;
}

/*
 * Takes the last dimension of a fused digit off where the rest does not depend on it or goes
 * with it: with F = G * w + j and j < w,
 *
 *	F // (w * d) % m	= G // d % m
 *	F // d % m		= j // d % m			where d * m divides w
 *	F // d % m		= G % (m / q) * q + j // d	where q = w / d divides m, or no m
 *
 * Returns the number of digits that take its place in result, or 0 if none of these holds.
 */
static uint32_t unfuse(const struct placement *placement, const struct digit *digit,
		       struct digit result[2])
{
	struct digit prefix = take_prefix(digit, digit->num_dims - 1);
	struct digit last = take_last(digit);
	int64_t width = placement->shape[last.dims[0]];
	int64_t quotient;

	if (digit->divisor % width == 0) {
		prefix.divisor = digit->divisor / width;
		result[0] = prefix;
		return 1;
	}
	if (width % digit->divisor)
		return 0;
	quotient = width / digit->divisor;
	if (digit->modulus && quotient % digit->modulus == 0) {
		result[0] = last;
		return 1;
	}
	if (digit->modulus % quotient)
		return 0;
	prefix.divisor = 1;
	prefix.modulus = digit->modulus / quotient;
	/* where this does not fit, the prefix is always 0 and goes */
	(void)__builtin_mul_overflow(digit->stride, quotient, &prefix.stride);
	last.modulus = 0;
	result[0] = prefix;
	result[1] = last;
	return 2;
}

/* Whether high runs on where low ends: the two are one digit of low's divisor. */
static bool runs_on(const struct digit *high, const struct digit *low)
{
	int64_t divisor, stride;

	return low->modulus && high->num_dims == low->num_dims && low->num_dims &&
	       !memcmp(high->dims, low->dims, low->num_dims) &&
	       !__builtin_mul_overflow(low->divisor, low->modulus, &divisor) &&
	       divisor == high->divisor &&
	       !__builtin_mul_overflow(low->stride, low->modulus, &stride) &&
	       stride == high->stride;
}

static int compare_digits(const void *a, const void *b)
{
	const struct digit *left = a, *right = b;

	if (left->num_dims != right->num_dims)
		return left->num_dims < right->num_dims ? -1 : 1;
	if (memcmp(left->dims, right->dims, left->num_dims))
		return memcmp(left->dims, right->dims, left->num_dims);
	return (left->divisor > right->divisor) - (left->divisor < right->divisor);
}

/* Drops a digit that is always 0, and a modulus that is never reached. */
static uint32_t drop_idle(const struct placement *placement, struct digit *digits,
			  uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t k = 0; k < count; k++) {
		struct digit digit = digits[k];
		int64_t range = digit_range(placement, &digit);

		if (range == 1 || !digit.stride)
			continue;
		if (!digit.expression && digit.modulus &&
		    ceil_divide(placement_fused_extent(placement, &digit), digit.divisor) <=
		    digit.modulus)
			digit.modulus = 0;
		digits[kept++] = digit;
	}
	return kept;
}

static bool merge_one(struct digit *digits, uint32_t *count)
{
	for (uint32_t i = 0; i < *count; i++) {
		for (uint32_t j = 0; j < *count; j++) {
			struct digit *high = &digits[i], *low = &digits[j];

			if (i == j || high->expression || low->expression || !runs_on(high, low))
				continue;
			/* the product fits where the higher digit has a modulus below its range */
			low->modulus = high->modulus ? low->modulus * high->modulus : 0;
			*high = digits[--*count];
			return true;
		}
	}
	return false;
}

static bool unfuse_one(const struct placement *placement, struct digit *digits, uint32_t *count)
{
	for (uint32_t k = 0; k < *count; k++) {
		struct digit parts[2];
		uint32_t num_parts;

		if (digits[k].expression || digits[k].num_dims < 2)
			continue;
		num_parts = unfuse(placement, &digits[k], parts);
		if (!num_parts)
			continue;
		digits[k] = parts[0];
		if (num_parts == 2)
			digits[(*count)++] = parts[1];
		return true;
	}
	return false;
}

uint32_t placement_canonical(const struct placement *placement, struct digit *digits)
{
	uint32_t count = placement->num_digits;

	memcpy(digits, placement->digits, count * sizeof(digits[0]));
	if (shape_is_empty(placement))
		return 0;
	/* each step leaves fewer digits or fewer fused dimensions: it ends */
	do {
		count = drop_idle(placement, digits, count);
	} while (merge_one(digits, &count) ||
		 (count < PLACEMENT_MAX_DIGITS * 2 && unfuse_one(placement, digits, &count)));
	qsort(digits, count, sizeof(digits[0]), compare_digits);
	return count;
}

int placement_strides(const struct placement *placement, int64_t *strides)
{
	struct digit digits[PLACEMENT_MAX_DIGITS * 2];
	uint32_t count = placement_canonical(placement, digits);

	for (uint32_t d = 0; d < placement->rank; d++)
		strides[d] = 0;
	for (uint32_t k = 0; k < placement->num_digits; k++) {
		const struct digit *digit = &placement->digits[k];

		if (digit->num_dims == 1 && digit->divisor == 1)
			strides[digit->dims[0]] = digit->stride;
	}
	for (uint32_t k = 0; k < count; k++) {
		if (!digit_is_whole(&digits[k]) || digits[k].num_dims != 1)
			return -ENOTSUP;
		strides[digits[k].dims[0]] = 0;
	}
	/* a diagonal: the dimension is there twice */
	for (uint32_t k = 0; k < count; k++) {
		int64_t *stride = &strides[digits[k].dims[0]];

		if (__builtin_add_overflow(*stride, digits[k].stride, stride))
			return -ENOTSUP;
	}
	return 0;
}

static bool same_digit(const struct digit *a, const struct digit *b)
{
	return !a->expression && !b->expression && !compare_digits(a, b) &&
	       a->modulus == b->modulus && a->stride == b->stride;
}

static int compare_maps(const struct placement *a, const struct placement *b,
			enum accel_answer *answer, struct accel_error *error)
{
	struct accel_map *map_a = NULL, *map_b = NULL;
	int ret;

	ret = placement_element_map(a, &map_a, error);
	if (!ret)
		ret = placement_element_map(b, &map_b, error);
	if (!ret)
		ret = accel_map_equal(map_a, map_b, a->rank, a->shape, answer, error);
	accel_map_unref(map_a);
	accel_map_unref(map_b);
	return ret;
}

int placement_equal(const struct placement *a, const struct placement *b,
		    enum accel_answer *answer, struct accel_error *error)
{
	struct digit digits_a[PLACEMENT_MAX_DIGITS * 2], digits_b[PLACEMENT_MAX_DIGITS * 2];
	uint32_t count_a, count_b;
	bool has_expression = false;

	*answer = ACCEL_ANSWER_NO;
	if (a->rank != b->rank || memcmp(a->shape, b->shape, a->rank * sizeof(a->shape[0])) ||
	    a->num_elements != b->num_elements)
		return 0;
	*answer = ACCEL_ANSWER_YES;
	if (shape_is_empty(a))
		return 0;
	count_a = placement_canonical(a, digits_a);
	count_b = placement_canonical(b, digits_b);
	for (uint32_t k = 0; k < count_a || k < count_b; k++) {
		has_expression |= k < count_a && digits_a[k].expression;
		has_expression |= k < count_b && digits_b[k].expression;
	}
	if (has_expression)
		return compare_maps(a, b, answer, error);
	if (a->offset != b->offset || count_a != count_b)
		*answer = ACCEL_ANSWER_NO;
	for (uint32_t k = 0; k < count_a && *answer == ACCEL_ANSWER_YES; k++) {
		if (!same_digit(&digits_a[k], &digits_b[k]))
			*answer = ACCEL_ANSWER_NO;
	}
	return 0;
}
