/* SPDX-License-Identifier: MIT */
/*
 * Index maps inside the library: the object, and helpers for those who build maps (notations)
 * and those who take them apart (analysis, lowering).
 */
#ifndef ACCEL_LAYOUT_MAP_H
#define ACCEL_LAYOUT_MAP_H

#include "layout/simplify.h"

/* An input: minimum <= name < limit. The bounds are over symbols. */
struct map_input {
	char name[ACCEL_NAME_MAX + 1];		/* with a leading * if it stands for several */
	struct accel_expression *minimum;	/* NULL: 0 */
	struct accel_expression *limit;		/* NULL: not known */
};

/* Immutable once made. Bit k of separators: a flattened axis ends after output k. */
struct accel_map {
	atomic_uint references;
	uint32_t num_inputs;
	uint32_t num_outputs;
	uint32_t separators;
	bool is_variadic;
	struct map_input *inputs;		/* behind the map, in its allocation */
	struct accel_expression **outputs;	/* likewise */
};

/*
 * What a map is put together from. Columns are those of the text, for errors, or 0. Zero it, then
 * fill it in: references to expressions go with it.
 */
struct map_parts {
	uint32_t num_inputs;
	uint32_t num_outputs;
	uint32_t separators;
	struct map_input inputs[ACCEL_MAP_MAX_AXES];
	struct accel_expression *outputs[ACCEL_MAP_MAX_AXES];
	int input_columns[ACCEL_MAP_MAX_AXES];
	int output_columns[ACCEL_MAP_MAX_AXES];
};

void map_parts_release(struct map_parts *parts);

/* Checks the parts and makes a map of them. They are consumed, also on failure. */
int map_assemble(struct map_parts *parts, struct accel_map **map, struct accel_error *error);

/*
 * A map over rank inputs with these names (NULL: i0, i1, ...), without ranges. Consumes the
 * outputs, also when it fails; if one of them is NULL, errno says why.
 */
int map_create(uint32_t rank, const char *const *names, uint32_t num_outputs,
	       struct accel_expression **outputs, uint32_t separators, struct accel_map **map,
	       struct accel_error *error);

/* The first name in the map that is no input, or NULL. */
const char *map_find_symbol(const struct accel_map *map);

/* The number of the input with that name, or -1. */
int map_find_input(const struct accel_map *map, const char *name);

/* A name made from hint that is neither an input, nor a symbol of the map or of also (or NULL). */
void map_fresh_name(const struct accel_map *map, const struct accel_map *also, const char *hint,
		    char name[ACCEL_NAME_MAX + 1]);

/* A new reference to the map, or to what *b makes of it at that rank. */
int map_expand(const struct accel_map *map, uint32_t rank, struct accel_map **result,
	       struct accel_error *error);

/* What is known of a map's inputs. It borrows from the map. */
struct map_bounds {
	struct variable_bounds variables[ACCEL_MAP_MAX_AXES];
	struct bounds bounds;
	bool is_empty[ACCEL_MAP_MAX_AXES];	/* no index is in the range of that input */
};

/*
 * Fills in bounds: those in the map, or with shape 0 <= input < extent. -EINVAL for a wrong
 * rank or a negative extent. The map must not be variadic.
 */
int map_bounds_init(struct map_bounds *map_bounds, const struct accel_map *map, uint32_t rank,
		    const int64_t *shape, struct accel_error *error);

/* Whether the output depends on an input that has no value at all. */
bool map_output_is_empty(const struct accel_map *map, const struct map_bounds *bounds,
			 uint32_t output);

/* The inputs' names, as expression_evaluate() takes them. */
void map_names(const struct accel_map *map, const char *names[ACCEL_MAP_MAX_AXES]);

/*
 * Names for what counts a map's outputs: c for c, c_outer for c//4, c_inner for c%4, jk_merged
 * for 128*j + k. Different from each other, and from inputs and symbols but for c itself.
 */
void map_output_names(const struct accel_map *map,
		      char names[ACCEL_MAP_MAX_AXES][ACCEL_NAME_MAX + 1]);

#endif /* ACCEL_LAYOUT_MAP_H */
