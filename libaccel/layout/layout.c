// SPDX-License-Identifier: MIT
/*
 * What a layout makes of a shape: descriptions, maps, comparisons, conversions. Every notation is
 * the same here; their texts are in notation.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "layout/notation.h"

int layout_place(const struct accel_layout *layout, const char *axes, enum accel_dtype dtype,
		 uint32_t rank, const int64_t *shape, struct placement *placement,
		 struct accel_error *error)
{
	int ret = placement_init(placement, dtype, rank, shape, axes, error);

	if (ret)
		return ret;
	if (layout->rank != ACCEL_RANK_ANY && layout->rank != rank)
		return accel_error_set(error, -EINVAL,
				       "layout of %u axes: the shape has %u, expected %u",
				       layout->rank, rank, layout->rank);
	return layout->notation->place(layout, placement, error);
}

/* With the layout's own names for the axes. */
static int place(const struct accel_layout *layout, enum accel_dtype dtype, uint32_t rank,
		 const int64_t *shape, struct placement *placement, struct accel_error *error)
{
	return layout_place(layout, layout->axes, dtype, rank, shape, placement, error);
}

ACCEL_API int accel_layout_strides(const struct accel_layout *layout, uint32_t rank,
				   const int64_t *shape, int64_t *strides, int64_t *offset,
				   struct accel_error *error)
{
	struct placement placement;
	char text[80];
	int ret;

	ret = place(layout, 0, rank, shape, &placement, error);
	if (!ret && placement_strides(&placement, strides)) {
		accel_layout_print(layout, text, sizeof(text));
		ret = accel_error_set(error, -ENOTSUP,
				      "layout %s: its axes have no single stride in this shape",
				      text);
	}
	*offset = placement.offset;
	placement_release(&placement);
	return ret;
}

ACCEL_API int accel_layout_physical_shape(const struct accel_layout *layout, uint32_t rank,
					  const int64_t *shape, int64_t *physical_shape,
					  struct accel_error *error)
{
	int64_t extents[PLACEMENT_MAX_DIGITS];
	struct placement placement;
	uint32_t physical_rank;
	int ret;

	ret = place(layout, 0, rank, shape, &placement, error);
	if (!ret)
		ret = placement_axes(&placement, &physical_rank, extents, NULL, error);
	if (!ret && layout->notation == &notation_strides)
		ret = accel_error_set(
			error, -ENOTSUP,
			"layout: strides have no physical shape, a dimension order has");
	else if (!ret && physical_rank != rank)
		ret = accel_error_set(error, -ENOTSUP,
				      "layout: its physical shape has %u axes, the logical one %u",
				      physical_rank, rank);
	if (!ret)
		memcpy(physical_shape, extents, rank * sizeof(physical_shape[0]));
	placement_release(&placement);
	return ret;
}

static void describe_sticks(const struct placement *placement,
			    struct accel_layout_description *description)
{
	description->has_sticks = true;
	description->is_sparse = placement->is_sparse;
	description->num_stick_dims = 1;
	for (uint32_t k = 0; k < placement->num_digits; k++) {
		const struct digit *digit = &placement->digits[k];

		description->dim_map[k] = digit->num_dims ? digit->dims[0] : -1;
		description->stride_map[k] = placement_step(placement, digit);
	}
}

ACCEL_API int accel_layout_describe(const struct accel_layout *layout, enum accel_dtype dtype,
				    uint32_t rank, const int64_t *shape,
				    struct accel_layout_description *description,
				    struct accel_error *error)
{
	struct placement placement;
	int ret;

	memset(description, 0, sizeof(*description));
	ret = place(layout, dtype, rank, shape, &placement, error);
	if (!ret)
		ret = placement_axes(&placement, &description->physical_rank,
				     description->physical_shape, description->strides, error);
	if (!ret) {
		description->offset = placement.offset;
		/* the product fits: the placement has seen to that */
		description->bytes = placement.num_elements * placement.element_size;
		memcpy(description->alignment, placement.alignment, sizeof(placement.alignment));
		if (placement.has_sticks)
			describe_sticks(&placement, description);
	}
	placement_release(&placement);
	return ret;
}

ACCEL_API int accel_layout_map(const struct accel_layout *layout, enum accel_dtype dtype,
			       uint32_t rank, const int64_t *shape, struct accel_map **map,
			       struct accel_error *error)
{
	struct placement placement;
	int ret;

	*map = NULL;
	ret = place(layout, dtype, rank, shape, &placement, error);
	if (!ret)
		ret = placement_map(&placement, map, error);
	placement_release(&placement);
	return ret;
}

ACCEL_API int accel_layout_element(const struct accel_layout *layout, enum accel_dtype dtype,
				   uint32_t rank, const int64_t *shape, const int64_t *index,
				   int64_t *element, struct accel_error *error)
{
	struct placement placement;
	int ret;

	ret = place(layout, dtype, rank, shape, &placement, error);
	if (!ret)
		ret = placement_element(&placement, index, element, error);
	placement_release(&placement);
	return ret;
}

ACCEL_API int accel_layout_equal(const struct accel_layout *a, const struct accel_layout *b,
				 enum accel_dtype dtype, uint32_t rank, const int64_t *shape,
				 enum accel_answer *answer, struct accel_error *error)
{
	struct placement placement_a, placement_b;
	int ret;

	ret = place(a, dtype, rank, shape, &placement_a, error);
	if (!ret) {
		ret = place(b, dtype, rank, shape, &placement_b, error);
		if (!ret)
			ret = placement_equal(&placement_a, &placement_b, answer, error);
		placement_release(&placement_b);
	}
	placement_release(&placement_a);
	return ret;
}

ACCEL_API int accel_layout_inverse(const struct accel_layout *layout, enum accel_dtype dtype,
				   uint32_t rank, const int64_t *shape, struct accel_map **map,
				   struct accel_error *error)
{
	struct accel_map_analysis analysis;
	struct accel_map *forward;
	int ret;

	*map = NULL;
	ret = accel_layout_map(layout, dtype, rank, shape, &forward, error);
	if (ret)
		return ret;
	ret = accel_map_analyze(forward, rank, shape, &analysis, error);
	if (!ret && !analysis.inverse)
		ret = accel_error_set(error, -EDOM, "layout: its map has no inverse: %s",
				      analysis.injective == ACCEL_ANSWER_NO ?
				      "two elements are at the same place" : analysis.reason);
	if (!ret)
		*map = accel_map_ref(analysis.inverse);
	accel_map_analysis_release(&analysis);
	accel_map_unref(forward);
	return ret;
}

/* Conversions ------------------------------------------------------------------------------- */

static int not_convertible(const struct accel_layout *from, const struct accel_layout *to,
			   const char *reason, struct accel_error *error)
{
	char from_text[60], to_text[60];

	accel_layout_print(from, from_text, sizeof(from_text));
	accel_layout_print(to, to_text, sizeof(to_text));
	return accel_error_set(error, -ENOTSUP, "layout: %s and %s are not convertible: %s",
			       from_text, to_text, reason);
}

/* Which axis of from each axis of to is. */
static int match_axes(const struct accel_layout *from, const struct accel_layout *to,
		      uint32_t rank, uint32_t *axes, struct accel_error *error)
{
	if (to->rank != ACCEL_RANK_ANY && to->rank != rank)
		return not_convertible(from, to, "their axes are not as many", error);
	for (uint32_t d = 0; d < rank; d++) {
		axes[d] = d;
		if (!from->axes[0] || !to->axes[0])
			continue;
		if (!strchr(from->axes, to->axes[d]))
			return not_convertible(from, to, "their axes are not the same", error);
		axes[d] = layout_dim(from, to->axes[d]);
	}
	return 0;
}

/* first, then second; both are consumed, also when this fails. second may be NULL. */
static int chain(struct accel_map **first, struct accel_map *second, struct accel_error *error)
{
	struct accel_map *both = NULL;
	int ret = accel_map_compose(*first, second, &both, error);

	accel_map_unref(second);
	accel_map_unref(*first);
	*first = both;
	return ret;
}

/* The map that was composed, simplified over the physical shape that it starts from. */
static int simplify(struct accel_map **map, const struct accel_layout *from,
		    enum accel_dtype dtype, uint32_t rank, const int64_t *shape,
		    struct accel_error *error)
{
	struct accel_layout_description description;
	struct accel_map *simplified = NULL;
	int ret;

	ret = accel_layout_describe(from, dtype, rank, shape, &description, error);
	if (!ret)
		ret = accel_map_simplify(*map, description.physical_rank,
					 description.physical_shape, &simplified, error);
	accel_map_unref(*map);
	*map = simplified;
	return ret;
}

ACCEL_API int accel_layout_conversion(const struct accel_layout *from,
				      const struct accel_layout *to, enum accel_dtype dtype,
				      uint32_t rank, const int64_t *shape,
				      struct accel_map **map, struct accel_error *error)
{
	int64_t to_shape[ACCEL_MAX_DIMS];
	uint32_t axes[ACCEL_MAX_DIMS];
	struct accel_map *next;
	int ret;

	*map = NULL;
	ret = accel_layout_inverse(from, dtype, rank, shape, map, error);
	if (!ret)
		ret = match_axes(from, to, rank, axes, error);
	if (ret)
		goto err_unref;
	for (uint32_t d = 0; d < rank; d++)
		to_shape[d] = shape[axes[d]];
	ret = accel_map_create_permutation(rank, axes, &next, error);
	if (!ret)
		ret = chain(map, next, error);
	if (!ret)
		ret = accel_layout_map(to, dtype, rank, to_shape, &next, error);
	if (!ret)
		ret = chain(map, next, error);
	if (!ret)
		ret = simplify(map, from, dtype, rank, shape, error);
	if (!ret)
		return 0;
err_unref:
	accel_map_unref(*map);
	*map = NULL;
	return ret;
}

/* Sticks ------------------------------------------------------------------------------------ */

/* Spyre's names for element types; those it does not have are printed as here. */
static const struct {
	enum accel_dtype dtype;
	const char *name;
} stick_formats[] = {
	{ ACCEL_DTYPE_F16, "SEN169_FP16" },
	{ ACCEL_DTYPE_BF16, "BFLOAT16" },
	{ ACCEL_DTYPE_F32, "IEEE_FP32" },
	{ ACCEL_DTYPE_I8, "SENINT8" },
	{ ACCEL_DTYPE_I16, "SENINT16" },
	{ ACCEL_DTYPE_I32, "IEEE_INT32" },
	{ ACCEL_DTYPE_I64, "IEEE_INT64" },
};

static const char *stick_format(enum accel_dtype dtype)
{
	for (size_t k = 0; k < sizeof(stick_formats) / sizeof(stick_formats[0]); k++) {
		if (stick_formats[k].dtype == dtype)
			return stick_formats[k].name;
	}
	return accel_dtype_name(dtype);
}

ACCEL_API int accel_layout_print_sticks(const struct accel_layout *layout, enum accel_dtype dtype,
					uint32_t rank, const int64_t *shape, char *text,
					size_t size, struct accel_error *error)
{
	struct accel_layout_description description;
	struct printer printer;
	int ret;

	ret = accel_layout_describe(layout, dtype, rank, shape, &description, error);
	if (ret)
		return ret;
	if (!description.has_sticks)
		return accel_error_set(error, -ENOTSUP, "layout: it is written as %s, not as stick",
				       layout->notation->name);
	printer_init(&printer, text, size);
	printer_add(&printer, "SpyreTensorLayout(device_size=[");
	for (uint32_t k = 0; k < description.physical_rank; k++)
		printer_add(&printer, "%s%" PRId64, k ? ", " : "", description.physical_shape[k]);
	printer_add(&printer, "], dim_map =[");
	for (uint32_t k = 0; k < description.physical_rank; k++)
		printer_add(&printer, "%s%d", k ? ", " : "", description.dim_map[k]);
	printer_add(&printer, "], num_stick_dims=%u, format=StickFormat.%s, ",
		    description.num_stick_dims, description.is_sparse ? "Sparse" : "Dense");
	printer_add(&printer, "device_dtype=DataFormats.%s)", stick_format(dtype));
	return printer_finish(&printer);
}
