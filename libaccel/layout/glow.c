// SPDX-License-Identifier: MIT
/*
 * Attributes of Glow layouts, and whether a tensor satisfies one. Their text is notation_glow.c's.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "layout/glow.h"

/* The Glow layout behind layout, if it is one and has the axis; otherwise NULL and *ret. */
static const struct glow_layout *to_glow(const struct accel_layout *layout, uint32_t axis,
					 int *ret, struct accel_error *error)
{
	if (layout->notation != &notation_glow) {
		*ret = accel_error_set(error, -ENOTSUP,
				       "layout: it is written as %s, only glow has attributes",
				       layout->notation->name);
		return NULL;
	}
	if (axis >= layout->rank) {
		*ret = accel_error_set(error, -EINVAL, "layout: there is no axis %u, it has %u",
				       axis, layout->rank);
		return NULL;
	}
	return layout_as_const(struct glow_layout, layout);
}

ACCEL_API int accel_layout_alignment(const struct accel_layout *layout, uint32_t axis,
				     int64_t *alignment, struct accel_error *error)
{
	int ret = 0;
	const struct glow_layout *glow = to_glow(layout, axis, &ret, error);

	if (glow)
		*alignment = glow_alignment(glow, axis);
	return ret;
}

ACCEL_API int accel_layout_attribute(const struct accel_layout *layout, uint32_t axis,
				     const char *name, char *value, size_t size,
				     struct accel_error *error)
{
	const struct glow_attribute *attribute;
	const struct glow_layout *glow;
	struct printer printer;
	int ret = 0;

	glow = to_glow(layout, axis, &ret, error);
	if (!glow)
		return ret;
	attribute = glow_find(glow, axis, name, strlen(name));
	if (!attribute)
		return -ENOENT;
	printer_init(&printer, value, size);
	if (attribute->text)
		printer_add_string(&printer, attribute->text + strlen(name) + 1);
	else
		printer_add(&printer, "%" PRId64, attribute->alignment);
	return printer_finish(&printer);
}

/* Prints the layout with another value, or none, for one attribute of one axis. */
static void print_edited(const struct glow_layout *glow, uint32_t edited, const char *name,
			 const char *value, struct printer *printer)
{
	const struct glow_attribute *old = glow_find(glow, edited, name, strlen(name));
	bool is_alignment = !strcmp(name, "a");

	printer_add_string(printer, "glow:");
	for (uint32_t axis = 0; axis < glow->layout.rank; axis++) {
		printer_add(printer, "%c", glow->names[axis]);
		for (uint32_t k = 0; k < glow->num_attributes; k++) {
			const struct glow_attribute *attribute = &glow->attributes[k];

			if (attribute->axis != axis || attribute == old)
				continue;
			if (!attribute->text)
				printer_add(printer, "[a=%" PRId64, attribute->alignment);
			else
				printer_add_string(printer, "[");
			printer_add_string(printer, attribute->text ? attribute->text : "");
			printer_add_string(printer, "]");
		}
		if (axis != edited || !value)
			continue;
		printer_add_string(printer, "[");
		printer_add_string(printer, name);
		printer_add_string(printer, is_alignment ? "=" : ":");
		printer_add_string(printer, value);
		printer_add_string(printer, "]");
	}
}

ACCEL_API int accel_layout_set_attribute(struct accel_layout *layout, uint32_t axis,
					 const char *name, const char *value,
					 struct accel_layout **result, struct accel_error *error)
{
	const struct glow_layout *glow;
	struct printer printer;
	char *text;
	int length, ret = 0;

	*result = NULL;
	glow = to_glow(layout, axis, &ret, error);
	if (!glow)
		return ret;
	if (!*name || name[glow_name_length(name)])
		return accel_error_set(error, -EINVAL, "layout: \"%.40s\" is not the name of an "
				       "attribute, expected a or a namespace", name);
	/* either would end the attribute and begin something else */
	if (value && strpbrk(value, "[]"))
		return accel_error_set(
			error, -EINVAL,
			"layout: the value \"%.60s\" of attribute %.40s has a bracket", value,
			name);
	printer_init(&printer, NULL, 0);
	print_edited(glow, axis, name, value, &printer);
	length = printer_finish(&printer);
	text = length < 0 ? NULL : malloc((size_t)length + 1);
	if (!text)
		return accel_error_set(error, -ENOMEM, "layout: out of memory");
	printer_init(&printer, text, (size_t)length + 1);
	print_edited(glow, axis, name, value, &printer);
	ret = accel_layout_parse(text, layout->axes[0] ? layout->axes : NULL, result, error);
	free(text);
	return ret;
}

static bool names_agree(char a, char b)
{
	return a == '*' || b == '*' || a == b;
}

/* Whether found has each opaque attribute that the axis requires. */
static const struct glow_attribute *missing_attribute(const struct glow_layout *required,
						      const struct glow_layout *found,
						      uint32_t axis)
{
	for (uint32_t k = 0; k < required->num_attributes; k++) {
		const struct glow_attribute *attribute = &required->attributes[k];
		const struct glow_attribute *other;

		if (attribute->axis != axis || !attribute->text)
			continue;
		other = glow_find(found, axis, attribute->text,
				  strcspn(attribute->text, ":"));
		if (!other || strcmp(other->text, attribute->text))
			return attribute;
	}
	return NULL;
}

/* 1, or 0 with the reason, for the letters and opaque attributes. */
static int axes_satisfy(const struct glow_layout *required, const struct glow_layout *found,
			struct accel_error *error)
{
	uint32_t rank = required->layout.rank;

	if (found->layout.rank != rank) {
		accel_error_set(error, 0, "layout: it has %u axes, required are %u",
				found->layout.rank, rank);
		return 0;
	}
	for (uint32_t axis = 0; axis < rank; axis++) {
		const struct glow_attribute *missing;

		if (!names_agree(required->names[axis], found->names[axis])) {
			accel_error_set(error, 0, "layout: axis %u is %c, required is %c", axis,
					found->names[axis], required->names[axis]);
			return 0;
		}
		missing = missing_attribute(required, found, axis);
		if (missing) {
			accel_error_set(error, 0,
					"layout: axis %u lacks the required attribute [%.80s]",
					axis, missing->text);
			return 0;
		}
	}
	return 1;
}

static int strides_satisfy(const struct glow_layout *required, int64_t element_size,
			   const int64_t *strides, struct accel_error *error)
{
	for (uint32_t axis = 0; axis < required->layout.rank; axis++) {
		int64_t alignment = glow_alignment(required, axis);
		int64_t bytes;

		if (__builtin_mul_overflow(strides[axis], element_size, &bytes))
			return accel_error_set(error, -EOVERFLOW,
					       "layout: a stride of %" PRId64
					       " does not fit 63 bits in bytes", strides[axis]);
		if (bytes % alignment) {
			accel_error_set(error, 0,
					"layout: the stride of axis %u is %" PRId64
					" bytes, required is a multiple of %" PRId64,
					axis, bytes, alignment);
			return 0;
		}
	}
	return 1;
}

ACCEL_API int accel_layout_satisfies(const struct accel_layout *required,
				     const struct accel_layout *found, enum accel_dtype dtype,
				     uint32_t rank, const int64_t *strides,
				     struct accel_error *error)
{
	int64_t element_size = (int64_t)accel_dtype_size(dtype);
	const struct glow_layout *glow;
	int ret;

	if (required->notation != &notation_glow || (found && found->notation != &notation_glow))
		return accel_error_set(error, -ENOTSUP,
				       "layout: only layouts written as glow are requirements");
	if (!element_size)
		return accel_error_set(error, -EINVAL, "layout: there is no element type 0x%x",
				       (unsigned int)dtype);
	glow = layout_as_const(struct glow_layout, required);
	if (rank != required->rank) {
		accel_error_set(error, 0, "layout: the tensor has %u axes, required are %u", rank,
				required->rank);
		return 0;
	}
	ret = strides_satisfy(glow, element_size, strides, error);
	if (ret == 1 && found)
		ret = axes_satisfy(glow, layout_as_const(struct glow_layout, found), error);
	return ret;
}
