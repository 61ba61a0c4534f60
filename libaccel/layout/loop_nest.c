// SPDX-License-Identifier: MIT
/*
 * Loop nests that run along a physical layout: what transform_layout of a schedule returns. The
 * analysis of the map does the mathematics; this names the loops and orders them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout/map.h"

/* Immutable once made. The names of the loops are the inputs of index, in the same order. */
struct accel_loop_nest {
	atomic_uint references;
	uint32_t rank;
	struct accel_map *index;
	struct accel_expression *padding;		/* NULL: never */
	struct accel_expression *extents[ACCEL_MAP_MAX_AXES];
	uint32_t outputs[ACCEL_MAP_MAX_AXES];
};

static struct accel_loop_nest *nest_new(uint32_t rank, struct accel_expression *padding)
{
	struct accel_loop_nest *nest = calloc(1, sizeof(*nest));

	if (!nest)
		return NULL;
	atomic_init(&nest->references, 1);
	nest->rank = rank;
	nest->padding = expression_ref(padding);
	return nest;
}

int accel_map_transform_layout(struct accel_map *map, uint32_t rank, const int64_t *shape,
			       struct accel_loop_nest **nest, struct accel_error *error)
{
	struct accel_map_analysis analysis;
	uint32_t k;
	int code;

	*nest = NULL;
	code = accel_map_analyze(map, rank, shape, &analysis, error);
	if (code)
		goto out;
	if (!analysis.inverse) {
		code = accel_error_set(error, -EDOM, "map has no inverse in closed form: %s",
				       analysis.reason);
		goto out;
	}
	*nest = nest_new(analysis.output_rank, analysis.padding);
	if (!*nest) {
		code = accel_error_set(error, -ENOMEM, "loop nest: out of memory");
		goto out;
	}
	(*nest)->index = accel_map_ref(analysis.inverse);
	for (k = 0; k < analysis.output_rank; k++) {
		(*nest)->extents[k] = expression_ref(analysis.output_shape[k]);
		(*nest)->outputs[k] = k;
	}
out:
	accel_map_analysis_release(&analysis);
	return code;
}

struct accel_loop_nest *accel_loop_nest_ref(struct accel_loop_nest *nest)
{
	atomic_fetch_add_explicit(&nest->references, 1, memory_order_relaxed);
	return nest;
}

void accel_loop_nest_unref(struct accel_loop_nest *nest)
{
	uint32_t k;

	/* Pairs with itself: who frees the nest sees what the others did before they let go. */
	if (!nest ||
	    atomic_fetch_sub_explicit(&nest->references, 1, memory_order_acq_rel) != 1)
		return;
	accel_map_unref(nest->index);
	expression_unref(nest->padding);
	for (k = 0; k < nest->rank; k++)
		expression_unref(nest->extents[k]);
	free(nest);
}

uint32_t accel_loop_nest_rank(const struct accel_loop_nest *nest)
{
	return nest->rank;
}

struct accel_loop accel_loop_nest_loop(const struct accel_loop_nest *nest, uint32_t k)
{
	return (struct accel_loop){
		.name = nest->index->inputs[k].name,
		.extent = nest->extents[k],
		.output = nest->outputs[k],
	};
}

struct accel_map *accel_loop_nest_index(const struct accel_loop_nest *nest)
{
	return nest->index;
}

struct accel_expression *accel_loop_nest_padding(const struct accel_loop_nest *nest)
{
	return nest->padding;
}

static int check_order(const struct accel_loop_nest *nest, uint32_t rank, const uint32_t *order,
		       struct accel_error *error)
{
	uint32_t seen = 0, k;

	if (rank != nest->rank)
		return accel_error_set(error, -EINVAL, "order of %u loops, but there are %u", rank,
				       nest->rank);
	for (k = 0; k < rank; k++) {
		if (order[k] >= rank || seen & 1u << order[k])
			return accel_error_set(error, -EINVAL,
					       "loop %u at place %u, expected a permutation of %u",
					       order[k], k, rank);
		seen |= 1u << order[k];
	}
	return 0;
}

int accel_loop_nest_reorder(struct accel_loop_nest *nest, uint32_t rank, const uint32_t *order,
			    struct accel_loop_nest **result, struct accel_error *error)
{
	struct accel_expression *outputs[ACCEL_MAP_MAX_AXES] = { NULL };
	const char *names[ACCEL_MAP_MAX_AXES];
	struct accel_loop_nest *made;
	uint32_t k;
	int code;

	*result = NULL;
	code = check_order(nest, rank, order, error);
	if (code)
		return code;
	made = nest_new(rank, nest->padding);
	if (!made)
		return accel_error_set(error, -ENOMEM, "loop nest: out of memory");
	for (k = 0; k < rank; k++) {
		names[k] = nest->index->inputs[order[k]].name;
		made->extents[k] = expression_ref(nest->extents[order[k]]);
		made->outputs[k] = nest->outputs[order[k]];
	}
	for (k = 0; k < nest->index->num_outputs; k++)
		outputs[k] = expression_ref(nest->index->outputs[k]);
	code = map_create(rank, names, nest->index->num_outputs, outputs, 0, &made->index, error);
	if (code) {
		accel_loop_nest_unref(made);
		return code;
	}
	*result = made;
	return 0;
}
