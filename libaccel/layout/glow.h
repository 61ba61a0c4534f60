/* SPDX-License-Identifier: MIT */
/*
 * Glow layouts inside the library: shared by the notation and by those who look at attributes.
 */
#ifndef ACCEL_LAYOUT_GLOW_H
#define ACCEL_LAYOUT_GLOW_H

#include "layout/notation.h"

#define GLOW_MAX_ATTRIBUTES	64

struct glow_attribute {
	uint32_t axis;
	int64_t alignment;	/* bytes, if text is NULL */
	char *text;		/* an opaque one: namespace:data */
};

struct glow_layout {
	struct accel_layout layout;
	char names[ACCEL_MAX_DIMS + 1];		/* a letter or * for each axis */
	uint32_t num_attributes;
	struct glow_attribute *attributes;
};

/* An axis' attribute by its name of length bytes, "a" for the alignment; or NULL. */
const struct glow_attribute *glow_find(const struct glow_layout *glow, uint32_t axis,
				       const char *name, size_t length);

/* The alignment of an axis in bytes, 1 if it has none. */
int64_t glow_alignment(const struct glow_layout *glow, uint32_t axis);

/* How many bytes at the start of text can be the name of an attribute. */
size_t glow_name_length(const char *text);

#endif /* ACCEL_LAYOUT_GLOW_H */
