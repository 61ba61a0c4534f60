/* SPDX-License-Identifier: MIT */
/*
 * What a notation is. A notation is one file, notation_<name>.c, and one row in the table of
 * notation.c: nothing else knows of it.
 */
#ifndef ACCEL_LAYOUT_NOTATION_H
#define ACCEL_LAYOUT_NOTATION_H

#include "layout/cursor.h"
#include "layout/placement.h"

struct accel_layout;

struct notation {
	const char *name;		/* with a colon behind it: its prefix */
	size_t size;			/* of its layouts, which begin with a struct accel_layout */
	bool has_bare_form;		/* the name alone is a layout, without a colon */
	bool needs_prefix;		/* print() is preceded by the prefix */

	/* Whether a text without a prefix is in this notation; NULL: never. */
	bool (*recognizes)(const char *text);

	/*
	 * Reads to the end of the text, which is behind the prefix, and sets rank, and letters
	 * where the notation names its axes. The layout is zeroed, its rank ACCEL_RANK_ANY.
	 */
	int (*parse)(struct accel_layout *layout, struct cursor *cursor);

	/* Frees what parse allocated, also after a failure; NULL: nothing to do. */
	void (*release)(struct accel_layout *layout);

	/* Prints what parse reads. */
	void (*print)(const struct accel_layout *layout, struct printer *printer);

	/* Fills in an initialised placement with digits, strides and size. */
	int (*place)(const struct accel_layout *layout, struct placement *placement,
		     struct accel_error *error);

	/*
	 * Writes, without the prefix, a text that may say the same as the placement. Attempts
	 * are counted from 0 until it returns false. A guess is enough: it is parsed, placed
	 * and compared. The placement's axes have letters.
	 */
	bool (*propose)(const struct placement *placement, uint32_t attempt,
			struct printer *printer);
};

struct accel_layout {
	atomic_uint references;
	const struct notation *notation;
	uint32_t rank;
	char letters[ACCEL_MAX_DIMS + 1];	/* the axes, as the notation lists them, or empty */
	char axes[ACCEL_MAX_DIMS + 1];		/* the axes, in logical order, or empty */
	bool has_fixed_axes;			/* the notation says which dimension each axis is */
};

/* The logical dimension of an axis: the place of its letter in axes. It is there. */
uint32_t layout_dim(const struct accel_layout *layout, char letter);

/* layout as a pointer to the structure that embeds it as its first member. */
#define layout_as(type, layout)	((type *)(layout))
#define layout_as_const(type, layout)	((const type *)(layout))

extern const struct notation notation_order;
extern const struct notation notation_topi;
extern const struct notation notation_glow;
extern const struct notation notation_stick;
extern const struct notation notation_strides;
extern const struct notation notation_tile;
extern const struct notation notation_xla;
extern const struct notation notation_onednn;
extern const struct notation notation_pack;
extern const struct notation notation_unpack;
extern const struct notation notation_map;

/* The notation of this name, or NULL. */
const struct notation *notation_find(const char *name, size_t length);

/* An empty layout in a notation, with one reference; NULL if out of memory. */
struct accel_layout *layout_alloc(const struct notation *notation);

/*
 * Sets the logical axes, or with NULL those of the notation, and checks that they are the same. The
 * cursor is at the text of the notation.
 */
int layout_set_axes(struct accel_layout *layout, const char *axes, struct cursor *cursor);

/*
 * Places a shape, with its checks; axes names the placement's variables, or is empty. The placement
 * is to be released, also after a failure.
 */
int layout_place(const struct accel_layout *layout, const char *axes, enum accel_dtype dtype,
		 uint32_t rank, const int64_t *shape, struct placement *placement,
		 struct accel_error *error);

#endif /* ACCEL_LAYOUT_NOTATION_H */
