// SPDX-License-Identifier: MIT
/*
 * Axes that are split into blocks. Knows nothing of text.
 */
#include <errno.h>
#include <string.h>

#include "layout/blocked.h"

/* The product of the factors of each dimension. */
static int multiply_factors(uint32_t num_blocks, const struct block *blocks, int64_t *products,
			    struct accel_error *error)
{
	for (uint32_t d = 0; d < ACCEL_MAX_DIMS; d++)
		products[d] = 1;
	for (uint32_t k = 0; k < num_blocks; k++) {
		int64_t *product = &products[blocks[k].dim];

		if (blocks[k].factor && __builtin_mul_overflow(*product, blocks[k].factor, product))
			return accel_error_set(error, -EOVERFLOW,
					       "layout: the blocks of axis %u do not fit 63 bits",
					       blocks[k].dim);
	}
	return 0;
}

int blocked_place(struct placement *placement, uint32_t num_blocks, const struct block *blocks,
		  struct accel_error *error)
{
	int64_t products[ACCEL_MAX_DIMS], divisors[ACCEL_MAX_DIMS];
	int ret;

	ret = multiply_factors(num_blocks, blocks, products, error);
	if (ret)
		return ret;
	memcpy(divisors, products, sizeof(divisors));
	for (uint32_t k = 0; k < num_blocks; k++) {
		const struct block *block = &blocks[k];
		uint32_t dim = block->dim;

		if (block->factor) {
			divisors[dim] /= block->factor;
			ret = placement_add(placement, (int)dim, divisors[dim], block->factor,
					    block->factor, error);
		} else {
			ret = placement_add(placement, (int)dim, products[dim], 0,
					    ceil_divide(placement->shape[dim], products[dim]),
					    error);
		}
		if (ret)
			return ret;
		placement->digits[placement->num_digits - 1].is_joined = block->is_joined;
	}
	return placement_pack(placement, error);
}

/* Whether the digit is a block, or the outer part, of one dimension, without room to spare. */
static bool to_block(const struct placement *placement, const struct digit *digit,
		     struct block *block)
{
	if (digit->num_dims != 1 || digit->expression)
		return false;
	block->dim = digit->dims[0];
	block->is_joined = digit->is_joined;
	block->factor = digit->modulus;
	return digit->extent == (digit->modulus ? digit->modulus :
				 ceil_divide(placement->shape[block->dim], digit->divisor));
}

/* The dimensions that have an outer part of several values. */
static uint32_t dims_with_outer(const struct placement *placement)
{
	uint32_t dims = 0;

	for (uint32_t k = 0; k < placement->num_digits; k++) {
		const struct digit *digit = &placement->digits[k];

		if (digit->num_dims == 1 && !digit->modulus && digit->extent != 1)
			dims |= 1U << digit->dims[0];
	}
	return dims;
}

/* A digit of one value changes nothing, unless its dimension has no other outer part. */
static bool is_idle(const struct digit *digit, uint32_t with_outer)
{
	return digit->extent == 1 && (digit->modulus || !digit->num_dims ||
				      with_outer & 1U << digit->dims[0]);
}

bool blocked_recognize(const struct placement *placement, uint32_t *num_blocks,
		       struct block *blocks)
{
	struct digit digits[PLACEMENT_MAX_DIGITS];
	uint32_t with_outer = dims_with_outer(placement);
	uint32_t has_outer = 0;

	*num_blocks = 0;
	if (!placement_is_dense(placement, digits))
		return false;
	for (uint32_t k = 0; k < placement->num_digits; k++) {
		struct block *block = &blocks[*num_blocks];

		if (is_idle(&digits[k], with_outer))
			continue;
		if (!to_block(placement, &digits[k], block))
			return false;
		if (!block->factor && has_outer & 1U << block->dim)
			return false;
		has_outer |= block->factor ? 0 : 1U << block->dim;
		(*num_blocks)++;
	}
	return has_outer + 1 == 1U << placement->rank;
}

bool blocked_has_outer_first(uint32_t num_blocks, const struct block *blocks)
{
	bool seen_block = false;

	for (uint32_t k = 0; k < num_blocks; k++) {
		if (seen_block && !blocks[k].factor)
			return false;
		seen_block |= blocks[k].factor != 0;
	}
	return true;
}
