// SPDX-License-Identifier: MIT
/*
 * Addresses: the indices of a tensor go through its view and its placement to one sum, which is
 * simplified as a whole, so that what was taken apart and is put together again is gone.
 */
#include <errno.h>

#include "lower/address.h"
#include "lower/value.h"
#include "tensor/tensor.h"

void address_release(struct lower_address *address)
{
	for (uint32_t k = 0; k < address->num_terms; k++)
		expression_unref(address->terms[k].value);
	address->num_terms = 0;
}

void address_copy(struct lower_address *to, const struct lower_address *from)
{
	to->offset = from->offset;
	to->num_terms = from->num_terms;
	for (uint32_t k = 0; k < from->num_terms; k++) {
		to->terms[k].value = expression_ref(from->terms[k].value);
		to->terms[k].stride = from->terms[k].stride;
	}
}

bool address_equal(const struct lower_address *a, const struct lower_address *b)
{
	if (a->offset != b->offset || a->num_terms != b->num_terms)
		return false;
	for (uint32_t k = 0; k < a->num_terms; k++)
		if (a->terms[k].stride != b->terms[k].stride ||
		    expression_compare(a->terms[k].value, b->terms[k].value))
			return false;
	return true;
}

bool address_mentions(const struct lower_address *address, const char *name)
{
	for (uint32_t k = 0; k < address->num_terms; k++)
		if (expression_mentions(address->terms[k].value, name))
			return true;
	return false;
}

int address_add(struct lower_address *address, struct accel_expression *value, int64_t stride)
{
	if (!value)
		return -errno;
	if (address->num_terms == LOWER_MAX_TERMS) {
		expression_unref(value);
		return -E2BIG;
	}
	address->terms[address->num_terms].value = value;
	address->terms[address->num_terms++].stride = stride;
	return 0;
}

/* Sums ------------------------------------------------------------------------------------- */

/* sum + factor * value; a sum of NULL is 0. Consumes both. */
static struct accel_expression *add_multiple(struct accel_expression *sum, int64_t factor,
					     struct accel_expression *value)
{
	if (!value) {
		expression_unref(sum);
		return NULL;
	}
	if (factor != 1)
		value = expression_multiply(expression_constant(factor), value);
	return sum ? expression_add(sum, value) : value;
}

/* The base's index on one of its axes. NULL with errno. */
static struct accel_expression *base_index(const struct accel_tensor *tensor, uint32_t axis,
					   struct accel_expression *const *indices)
{
	struct accel_expression *sum = NULL;

	for (uint32_t k = 0; k < tensor->rank; k++) {
		if (!tensor->steps[axis][k])
			continue;
		sum = add_multiple(sum, tensor->steps[axis][k], expression_ref(indices[k]));
		if (!sum)
			return NULL;
	}
	if (!sum)
		return expression_constant(tensor->origin[axis]);
	return tensor->origin[axis] ?
	       expression_add(sum, expression_constant(tensor->origin[axis])) : sum;
}

/* The coordinate that a digit is of the base's index. NULL with errno. */
static struct accel_expression *coordinate(const struct placement *placement,
					   const struct digit *digit,
					   struct accel_expression *const *base)
{
	int64_t weight = placement_fused_extent(placement, digit);
	char names[ACCEL_MAX_DIMS][4];
	const char *pointers[ACCEL_MAX_DIMS];
	struct accel_expression *fused = NULL;

	if (digit->expression) {
		for (uint32_t k = 0; k < placement->rank; k++) {
			placement_variable(placement, k, names[k]);
			pointers[k] = names[k];
		}
		return expression_substitute(digit->expression, placement->rank, pointers, base);
	}
	if (!digit->num_dims || digit->modulus == 1)
		return expression_constant(0);
	for (uint32_t k = 0; k < digit->num_dims; k++) {
		int64_t extent = placement->shape[digit->dims[k]];

		weight = extent ? weight / extent : 1;
		fused = add_multiple(fused, weight, expression_ref(base[digit->dims[k]]));
		if (!fused)
			return NULL;
	}
	if (digit->divisor != 1)
		fused = expression_divide(fused, expression_constant(digit->divisor));
	if (digit->modulus)
		fused = expression_modulo(fused, expression_constant(digit->modulus));
	return fused;
}

/* The element's number, from the start of what is bound, not simplified. NULL with errno. */
static struct accel_expression *element(const struct accel_tensor *tensor,
					struct accel_expression *const *indices)
{
	const struct placement *placement = &tensor->base->placement;
	struct accel_expression *base[ACCEL_MAX_DIMS] = { NULL };
	struct accel_expression *sum = expression_constant(placement->offset);
	uint32_t k;

	for (k = 0; k < placement->rank; k++) {
		base[k] = base_index(tensor, k, indices);
		if (!base[k]) {
			expression_unref(sum);
			sum = NULL;
			break;
		}
	}
	for (k = 0; sum && k < placement->num_digits; k++)
		sum = add_multiple(sum, placement->digits[k].stride,
				   coordinate(placement, &placement->digits[k], base));
	for (k = 0; k < placement->rank; k++)
		expression_unref(base[k]);
	return sum;
}

/* Terms ------------------------------------------------------------------------------------ */

struct taking {
	struct lower_address *address;
	int64_t *index_stride;
};

static int take_term(const struct taking *taking, struct accel_expression *value, int64_t factor)
{
	if (!expression_mentions(value, VALUE_INDEX))
		return address_add(taking->address, expression_ref(value), factor);
	if (!expression_is_variable(value))
		return ADDRESS_IS_NOT_LINEAR;
	*taking->index_stride = factor;
	return 0;
}

/* Adds factor * sum, a canonical one, term by term. */
static int take_terms(const struct taking *taking, struct accel_expression *sum, int64_t factor)
{
	struct accel_expression *const *operands = sum->operands;
	int64_t product;
	int ret;

	switch (sum->kind) {
	case ACCEL_EXPRESSION_CONSTANT:
		if (__builtin_mul_overflow(sum->constant, factor, &product) ||
		    __builtin_add_overflow(taking->address->offset, product,
					   &taking->address->offset))
			return -EOVERFLOW;
		return 0;
	case ACCEL_EXPRESSION_ADD:
	case ACCEL_EXPRESSION_SUBTRACT:
		ret = take_terms(taking, operands[0], factor);
		if (ret)
			return ret;
		return take_terms(taking, operands[1],
				  sum->kind == ACCEL_EXPRESSION_ADD ? factor : -factor);
	case ACCEL_EXPRESSION_MULTIPLY:
		if (!expression_is_constant(operands[0]))
			return take_term(taking, sum, factor);
		if (__builtin_mul_overflow(operands[0]->constant, factor, &product) ||
		    product == INT64_MIN)
			return -EOVERFLOW;
		return take_terms(taking, operands[1], product);
	default:
		return take_term(taking, sum, factor);
	}
}

int address_make(const struct accel_tensor *tensor, struct accel_expression *const *indices,
		 const struct bounds *bounds, struct lower_address *address,
		 int64_t *index_stride)
{
	const struct taking taking = { address, index_stride };
	int64_t size = (int64_t)accel_dtype_size(tensor->dtype);
	struct accel_expression *sum;
	int ret;

	address->offset = 0;
	address->num_terms = 0;
	*index_stride = 0;
	sum = expression_simplify_take(element(tensor, indices), bounds);
	if (!sum)
		return -errno;
	ret = take_terms(&taking, sum, size);
	expression_unref(sum);
	if (ret)
		address_release(address);
	return ret;
}
