// SPDX-License-Identifier: MIT
/*
 * Index maps as a notation: (n, h, w, c) -> (n, c//4, h, w, c%4). The physical index is stored in
 * row-major order. What the map's outputs split and fuse is read back into digits, so that it can
 * be written in other notations; an output that is more than that stays an expression.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout/notation.h"

struct map_layout {
	struct accel_layout layout;
	struct accel_map *map;
};

static bool recognizes(const char *text)
{
	return *text == '(' || !strncmp(text, "lambda", strlen("lambda"));
}

static void release(struct accel_layout *layout)
{
	accel_map_unref(layout_as(struct map_layout, layout)->map);
}

/* The inputs name the logical axes if all are single letters. */
static void name_axes(struct accel_layout *layout, const struct accel_map *map)
{
	char letters[ACCEL_MAX_DIMS + 1] = "";

	for (uint32_t k = 0; k < layout->rank; k++) {
		const char *name = accel_map_input_name(map, k);
		char letter = (char)toupper((unsigned char)name[0]);

		if (!islower((unsigned char)name[0]) || name[1] || strchr(letters, letter))
			return;
		letters[k] = letter;
	}
	memcpy(layout->letters, letters, sizeof(letters));
}

/* Takes a map into the layout. at is where the text of the map is, if there is one. */
static int set_map(struct accel_layout *layout, struct accel_map *map, struct accel_error *error)
{
	uint32_t num_inputs = accel_map_num_inputs(map);

	layout_as(struct map_layout, layout)->map = map;
	layout->has_fixed_axes = true;
	if (accel_map_is_variadic(map))
		return 0;
	if (num_inputs > ACCEL_MAX_DIMS)
		return accel_error_set(error, -EINVAL,
				       "layout: the map has %u inputs, expected at most %d",
				       num_inputs, ACCEL_MAX_DIMS);
	layout->rank = num_inputs;
	name_axes(layout, map);
	return 0;
}

static int parse(struct accel_layout *layout, struct cursor *cursor)
{
	struct accel_map *map;
	int ret = accel_map_parse(cursor->next, &map, cursor->error);

	if (ret) {
		/* the map was told of the text behind the prefix only */
		if (cursor->error && cursor->error->column)
			cursor->error->column += (int)(cursor->next - cursor->text);
		return ret;
	}
	return set_map(layout, map, cursor->error);
}

static void print(const struct accel_layout *layout, struct printer *printer)
{
	const struct map_layout *map_layout = layout_as_const(struct map_layout, layout);
	int length = accel_map_print(map_layout->map, NULL, 0);
	char *text = length < 0 ? NULL : malloc((size_t)length + 1);

	if (!text)
		return;
	accel_map_print(map_layout->map, text, (size_t)length + 1);
	printer_add_string(printer, text);
	free(text);
}

ACCEL_API int accel_layout_create_map(struct accel_map *map, const char *axes,
				      struct accel_layout **result, struct accel_error *error)
{
	struct accel_layout *layout = layout_alloc(&notation_map);
	struct cursor cursor = { "", "", error };
	int ret;

	*result = NULL;
	if (!layout)
		return accel_error_set(error, -ENOMEM, "layout: out of memory");
	ret = set_map(layout, accel_map_ref(map), error);
	if (!ret)
		ret = layout_set_axes(layout, axes, &cursor);
	if (ret) {
		accel_layout_unref(layout);
		return ret;
	}
	*result = layout;
	return 0;
}

/* Reading digits ---------------------------------------------------------------------------- */

/* What is known of the inputs while outputs are read. */
struct reader {
	const struct placement *placement;
	const char *names[ACCEL_MAX_DIMS];
};

/* A digit and what it is multiplied by. */
struct term {
	int64_t coefficient;
	struct digit digit;
};

struct sum {
	uint32_t count;
	struct term terms[ACCEL_MAX_DIMS];
};

static bool read_digit(const struct reader *reader, const struct accel_expression *expression,
		       struct digit *digit);

/* Adds the terms of an expression, each multiplied by factor. */
static bool read_sum(const struct reader *reader, const struct accel_expression *expression,
		     int64_t factor, struct sum *sum)
{
	struct accel_expression *const *operands = expression->operands;
	int64_t product;

	if (expression->kind == ACCEL_EXPRESSION_ADD)
		return read_sum(reader, operands[0], factor, sum) &&
		       read_sum(reader, operands[1], factor, sum);
	if (expression->kind == ACCEL_EXPRESSION_MULTIPLY) {
		uint32_t constant = expression_is_constant(operands[0]) ? 0 : 1;

		return expression_is_constant(operands[constant]) &&
		       !__builtin_mul_overflow(factor, operands[constant]->constant, &product) &&
		       read_sum(reader, operands[1 - constant], product, sum);
	}
	if (sum->count == ACCEL_MAX_DIMS ||
	    !read_digit(reader, expression, &sum->terms[sum->count].digit))
		return false;
	sum->terms[sum->count++].coefficient = factor;
	return true;
}

static int compare_terms(const void *a, const void *b)
{
	int64_t left = ((const struct term *)a)->coefficient;
	int64_t right = ((const struct term *)b)->coefficient;

	return (left < right) - (left > right);
}

/* Whole dimensions that are fused as a row-major index over them: 20*i + j where j < 20. */
static bool read_fused(const struct reader *reader, const struct accel_expression *expression,
		       struct digit *digit)
{
	struct sum sum = { 0 };
	int64_t weight = 1;

	if (!read_sum(reader, expression, 1, &sum))
		return false;
	qsort(sum.terms, sum.count, sizeof(sum.terms[0]), compare_terms);
	*digit = (struct digit){ .num_dims = sum.count, .divisor = 1 };
	for (uint32_t k = sum.count; k--;) {
		const struct term *term = &sum.terms[k];

		if (!digit_is_whole(&term->digit) || term->digit.num_dims != 1 ||
		    term->coefficient != weight)
			return false;
		digit->dims[k] = term->digit.dims[0];
		weight *= reader->placement->shape[term->digit.dims[0]];
	}
	return true;
}

static bool read_variable(const struct reader *reader, const char *name, struct digit *digit)
{
	for (uint32_t d = 0; d < reader->placement->rank; d++) {
		if (strcmp(reader->names[d], name))
			continue;
		*digit = (struct digit){ .num_dims = 1, .dims = { (uint8_t)d }, .divisor = 1 };
		return true;
	}
	return false;
}

/* a // constant: see split() in notation_xla.c for the rules. */
static bool divide(struct digit *digit, int64_t constant)
{
	if (digit->modulus % constant)
		return false;
	digit->modulus /= constant;
	return !__builtin_mul_overflow(digit->divisor, constant, &digit->divisor);
}

/* a % constant */
static bool reduce(struct digit *digit, int64_t constant)
{
	if (digit->modulus && constant >= digit->modulus)
		return true;
	if (digit->modulus % constant)
		return false;
	digit->modulus = constant;
	return true;
}

static bool read_digit(const struct reader *reader, const struct accel_expression *expression,
		       struct digit *digit)
{
	bool is_division = expression->kind == ACCEL_EXPRESSION_FLOOR_DIVIDE;
	const struct accel_expression *dividend, *divisor;
	bool is_read;

	if (expression_is_variable(expression))
		return read_variable(reader, expression->name, digit);
	if (!is_division && expression->kind != ACCEL_EXPRESSION_FLOOR_MODULO)
		return false;
	dividend = expression->operands[0];
	divisor = expression->operands[1];
	if (!expression_is_constant(divisor) || divisor->constant <= 0)
		return false;
	if (dividend->kind == ACCEL_EXPRESSION_ADD)
		is_read = read_fused(reader, dividend, digit);
	else
		is_read = read_digit(reader, dividend, digit);
	if (!is_read)
		return false;
	return is_division ? divide(digit, divisor->constant) : reduce(digit, divisor->constant);
}

/* Gives the digits of a sum their extents, if they run on without gaps and end at extent. */
static bool join_digits(const struct reader *reader, struct sum *sum, int64_t extent)
{
	int64_t above = extent;

	qsort(sum->terms, sum->count, sizeof(sum->terms[0]), compare_terms);
	for (uint32_t k = 0; k < sum->count; k++) {
		struct term *term = &sum->terms[k];

		if (term->coefficient <= 0 || above % term->coefficient)
			return false;
		term->digit.extent = above / term->coefficient;
		term->digit.is_joined = k > 0;
		if (digit_range(reader->placement, &term->digit) > term->digit.extent)
			return false;
		/* the modulus is not reached, and says nothing */
		if (term->digit.extent < term->digit.modulus)
			term->digit.modulus = 0;
		above = term->coefficient;
	}
	return above == 1;
}

/* The digits of an output, if it has such a form. */
static bool read_output(const struct reader *reader, const struct accel_expression *output,
			int64_t extent, struct sum *sum)
{
	sum->count = 0;
	if (!expression_is_value(output, 0))
		return read_sum(reader, output, 1, sum) && join_digits(reader, sum, extent);
	sum->terms[0].digit = (struct digit){ .divisor = 1, .extent = extent };
	sum->count = 1;
	return true;
}

static bool has_fused(const struct sum *sum)
{
	for (uint32_t k = 0; k < sum->count; k++) {
		if (sum->terms[k].digit.num_dims > 1)
			return true;
	}
	return false;
}

/*
 * The output as it was written says more, for c // 16 is 0 where c is less than 16; simplified it
 * may be without the fused dimensions that it was written with.
 */
static bool read_either(const struct reader *reader, const struct accel_expression *written,
			const struct accel_expression *simplified, int64_t extent,
			struct sum *sum)
{
	struct sum other;

	if (!read_output(reader, written, extent, sum))
		return read_output(reader, simplified, extent, sum);
	if (has_fused(sum) && read_output(reader, simplified, extent, &other) &&
	    !has_fused(&other))
		*sum = other;
	return true;
}

/* An output that is no digit, over the placement's names for the inputs. */
static int add_expression(const struct reader *reader, struct placement *placement,
			  struct accel_expression *output, int64_t extent,
			  struct accel_error *error)
{
	struct accel_expression *variables[ACCEL_MAX_DIMS] = { NULL };
	struct digit digit = { .extent = extent };
	bool is_built = true;
	char name[4];

	for (uint32_t d = 0; d < placement->rank; d++) {
		placement_variable(placement, d, name);
		variables[d] = expression_variable(name, strlen(name));
		is_built &= variables[d] != NULL;
	}
	if (is_built)
		digit.expression = expression_substitute(output, placement->rank, reader->names,
							 variables);
	for (uint32_t d = 0; d < placement->rank; d++)
		expression_unref(variables[d]);
	if (!digit.expression)
		return expression_error(error, -errno, "layout");
	return placement_add_digit(placement, &digit, error);
}

static int add_outputs(struct placement *placement, const struct accel_map *map,
		       const struct accel_map *simplified, const int64_t *extents,
		       struct accel_error *error)
{
	struct reader reader = { .placement = placement };
	int ret = 0;

	for (uint32_t d = 0; d < placement->rank; d++)
		reader.names[d] = accel_map_input_name(map, d);
	for (uint32_t k = 0; !ret && k < accel_map_num_outputs(map); k++) {
		struct accel_expression *output = accel_map_output(simplified, k);
		struct sum sum;

		if (!read_either(&reader, accel_map_output(map, k), output, extents[k], &sum)) {
			ret = add_expression(&reader, placement, output, extents[k], error);
			continue;
		}
		for (uint32_t t = 0; !ret && t < sum.count; t++)
			ret = placement_add_digit(placement, &sum.terms[t].digit, error);
	}
	return ret;
}

static int place(const struct accel_layout *layout, struct placement *placement,
		 struct accel_error *error)
{
	const struct map_layout *map_layout = layout_as_const(struct map_layout, layout);
	struct accel_map *map = NULL, *simplified = NULL;
	int64_t extents[ACCEL_MAP_MAX_AXES];
	uint32_t rank;
	int ret;

	ret = accel_map_expand(map_layout->map, placement->rank, &map, error);
	if (!ret)
		ret = accel_map_simplify(map, placement->rank, placement->shape, &simplified,
					 error);
	if (!ret)
		ret = accel_map_apply_shape(simplified, placement->rank, placement->shape, &rank,
					    extents, error);
	if (!ret)
		ret = add_outputs(placement, map, simplified, extents, error);
	accel_map_unref(simplified);
	accel_map_unref(map);
	return ret ? ret : placement_pack(placement, error);
}

/* The physical index where memory is dense, otherwise the element as a single output. */
static bool propose(const struct placement *placement, uint32_t attempt, struct printer *printer)
{
	struct accel_map *map = NULL;
	struct placement sorted = *placement;
	char text[2048];
	int ret;

	if (attempt > 1)
		return false;
	if (attempt)
		ret = placement_element_map(placement, &map, NULL);
	else if (placement_is_dense(placement, sorted.digits))
		ret = placement_map(&sorted, &map, NULL);
	else
		return true;
	if (ret)
		return true;
	if (accel_map_print(map, text, sizeof(text)) < (int)sizeof(text))
		printer_add_string(printer, text);
	accel_map_unref(map);
	return true;
}

const struct notation notation_map = {
	.name = "map",
	.size = sizeof(struct map_layout),
	.recognizes = recognizes,
	.parse = parse,
	.release = release,
	.print = print,
	.place = place,
	.propose = propose,
};
