// SPDX-License-Identifier: MIT
/*
 * From the options of a chain to a function. Each step defines a tensor from the one before; which
 * of them need a pass of their own is the library's to find.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chain.h"
#include "chain_shape.h"
#include "chain_text.h"
#include "element.h"
#include "error.h"

struct builder {
	const struct chain *chain;
	struct chain_function *built;
	struct accel_function *function;
	char value[ACCEL_NAME_MAX + 1];		/* the tensor that the next step takes */
	uint32_t num_extras;			/* of --in2 and on that have a name */
	uint32_t num_names;
	bool is_unpacked;
};

/* Names ------------------------------------------------------------------------------------ */

static const struct chain_step *next_step(const struct builder *builder, uint32_t step)
{
	return step < builder->chain->num_steps ? &builder->chain->steps[step] : NULL;
}

static bool is_mentioned(const struct builder *builder, const char *name)
{
	for (uint32_t i = 0; i < builder->chain->num_steps; i++) {
		const struct chain_step *step = &builder->chain->steps[i];

		if (step->kind == CHAIN_COMPUTE && strstr(step->text, name))
			return true;
	}
	return false;
}

/*
 * A name for the tensor that step number next takes: what a computation calls it, else one that
 * none does.
 */
static void name_value(struct builder *builder, uint32_t next, char name[ACCEL_NAME_MAX + 1])
{
	const struct chain_step *step = next_step(builder, next);
	struct compute_names names;

	if (step && step->kind == CHAIN_COMPUTE) {
		compute_names(step->text, &names);
		if (names.num_sources) {
			strcpy(name, names.sources[0]);
			return;
		}
	}
	do {
		if (builder->num_names++)
			snprintf(name, ACCEL_NAME_MAX + 1, "x%u", builder->num_names - 1);
		else
			strcpy(name, "x");
	} while (is_mentioned(builder, name));
}

/* Inputs ----------------------------------------------------------------------------------- */

/* Elements as they lie in the file, in its own order of axes. */
static int add_input(struct builder *builder, struct chain_input *input, struct accel_error *error)
{
	const struct npy_header *header = &input->header;
	struct accel_layout *layout = NULL;
	char text[ACCEL_MAX_DIMS * 24] = "strides:";
	int length = (int)strlen(text);
	int64_t stride = 1;
	int ret = 0;

	for (uint32_t i = 0; header->is_fortran && i < header->rank; i++) {
		length += sprintf(text + length, "%s%lld", i ? "," : "", (long long)stride);
		if (header->num_elements)
			stride *= header->shape[i];
	}
	if (header->is_fortran && header->rank)
		ret = accel_layout_parse(text, NULL, &layout, error);
	if (!ret)
		ret = accel_function_add_input(builder->function, input->name, header->dtype,
					       header->rank, header->shape, layout, error);
	accel_layout_unref(layout);
	return ret;
}

static int open_input(struct builder *builder, const char *path, const char *name,
		      struct accel_error *error)
{
	struct chain_input *input = &builder->built->inputs[builder->built->num_inputs];
	int ret = input->fd < 0 ? npy_open(path, &input->header, &input->fd, error) : 0;

	if (ret)
		return ret;
	input->path = path;
	strcpy(input->name, name);
	builder->built->num_inputs++;
	return add_input(builder, input, error);
}

static int parse_shape(const char *option, const char *text, uint32_t *rank, int64_t *shape,
		       struct accel_error *error)
{
	const char *end = chain_numbers(text, 0, ACCEL_MAX_DIMS, rank, shape);

	if (!*end)
		return 0;
	return accel_error_set_at(error, -EINVAL, (int)(end - text) + 1,
				  "%s: expected a shape of at most %d extents, as 1,64,56,56",
				  option, ACCEL_MAX_DIMS);
}

/* The elements and bytes of a shape that is in no file. */
static int count_bytes(struct npy_header *header, struct accel_error *error)
{
	bool overflows = false;

	header->num_elements = 1;
	for (uint32_t i = 0; i < header->rank; i++)
		overflows |= __builtin_mul_overflow(header->num_elements,
						    (uint64_t)header->shape[i],
						    &header->num_elements);
	overflows |= __builtin_mul_overflow(header->num_elements, accel_dtype_size(header->dtype),
					    &header->data_size);
	return overflows || header->data_size > INT64_MAX ?
	       accel_error_set(error, -EOVERFLOW, "--shape: the bytes do not fit 63 bits") : 0;
}

/* An input that is a shape and a type alone. */
static int imagine_input(struct builder *builder, const char *name, struct accel_error *error)
{
	struct chain_input *input = &builder->built->inputs[0];
	struct npy_header *header = &input->header;
	int ret;

	builder->built->text_at_fault = builder->chain->shape;
	ret = parse_shape("--shape", builder->chain->shape, &header->rank, header->shape, error);
	if (ret)
		return ret;
	builder->built->text_at_fault = NULL;
	ret = accel_dtype_parse(builder->chain->dtype ? builder->chain->dtype : "f32",
				&header->dtype, error);
	if (!ret)
		ret = count_bytes(header, error);
	if (ret)
		return ret;
	strcpy(input->name, name);
	builder->built->num_inputs = 1;
	return add_input(builder, input, error);
}

/* Maps ------------------------------------------------------------------------------------- */

static int tensor_of(const struct builder *builder, enum accel_dtype *dtype, uint32_t *rank,
		     int64_t *shape, struct accel_error *error)
{
	return accel_function_tensor(builder->function, builder->value, dtype, rank, shape, error);
}

static int padding(const struct builder *builder, uint64_t bits[2], struct accel_error *error)
{
	int64_t shape[ACCEL_MAX_DIMS];
	enum accel_dtype dtype;
	uint32_t rank;
	int ret = tensor_of(builder, &dtype, &rank, shape, error);

	if (ret)
		return ret;
	return element_parse(builder->chain->pad_value ? builder->chain->pad_value : "0", dtype,
			    bits, error);
}

static int push_map(struct builder *builder, struct accel_map *map, uint32_t next,
		    struct accel_error *error)
{
	char name[ACCEL_NAME_MAX + 1];
	uint64_t bits[2];
	int ret = padding(builder, bits, error);

	if (ret)
		return ret;
	name_value(builder, next, name);
	ret = accel_function_map(builder->function, name, builder->value, map, bits, error);
	strcpy(builder->value, name);
	return ret;
}

/* Takes a map back: from the physical tensor there is, to the logical one of this shape. */
static int pull_map(struct builder *builder, struct accel_map *map, uint32_t rank,
		    const int64_t *shape, uint32_t next, struct accel_error *error)
{
	char name[ACCEL_NAME_MAX + 1];
	int ret;

	name_value(builder, next, name);
	ret = accel_function_unmap(builder->function, name, builder->value, map, rank, shape,
				   error);
	strcpy(builder->value, name);
	return ret;
}

/* Whether the map leaves every index of the shape where it is. */
static bool is_identity(struct accel_map *map, uint32_t rank, const int64_t *shape)
{
	enum accel_answer answer = ACCEL_ANSWER_UNKNOWN;
	struct accel_map *identity;

	if (accel_map_create_identity(rank, &identity, NULL))
		return false;
	if (accel_map_equal(map, identity, rank, shape, &answer, NULL))
		answer = ACCEL_ANSWER_UNKNOWN;
	accel_map_unref(identity);
	return answer == ACCEL_ANSWER_YES;
}

static int measure_map(void *context, uint32_t rank, const int64_t *shape,
		       uint32_t *physical_rank, int64_t *physical_shape, struct accel_error *error)
{
	return accel_map_apply_shape(context, rank, shape, physical_rank, physical_shape, error);
}

/* The logical shape before --unpack: as it is given, or the one without padding. */
static int unpacked_shape(const struct builder *builder, chain_measure *measure, void *context,
			  const char *what, uint32_t *rank, int64_t *shape,
			  struct accel_error *error)
{
	const char *text = builder->chain->unpack;
	int64_t physical_shape[ACCEL_MAX_DIMS];
	uint32_t physical_rank, given_rank;
	enum accel_dtype dtype;
	int ret = tensor_of(builder, &dtype, &physical_rank, physical_shape, error);

	if (ret)
		return ret;
	if (!text || !*text) {
		if (*rank == ACCEL_RANK_ANY)
			*rank = physical_rank;
		return chain_logical_shape(measure, context, what, *rank, physical_rank,
					   physical_shape, shape, error);
	}
	builder->built->text_at_fault = text;
	ret = parse_shape("--unpack", text, &given_rank, shape, error);
	if (ret)
		return ret;
	builder->built->text_at_fault = NULL;
	if (*rank != ACCEL_RANK_ANY && given_rank != *rank)
		return accel_error_set(error, -EINVAL,
				       "--unpack: %u extents, expected the %u of %s", given_rank,
				       *rank, what);
	*rank = given_rank;
	return chain_check_shape(measure, context, what, *rank, shape, physical_rank,
				 physical_shape, error);
}

/* All maps in a row as one. */
static int compose_maps(const struct builder *builder, uint32_t first, uint32_t end,
			struct accel_map **map, struct accel_error *error)
{
	struct accel_map *next, *both;
	int ret;

	*map = NULL;
	for (uint32_t i = first; i < end; i++) {
		builder->built->text_at_fault = builder->chain->steps[i].text;
		ret = accel_map_parse(builder->chain->steps[i].text, &next, error);
		if (ret)
			goto err_unref;
		if (!*map) {
			*map = next;
			continue;
		}
		ret = accel_map_compose(*map, next, &both, error);
		accel_map_unref(next);
		accel_map_unref(*map);
		*map = both;
		if (ret)
			goto err_unref;
	}
	builder->built->text_at_fault = NULL;
	return 0;

err_unref:
	accel_map_unref(*map);
	*map = NULL;
	return ret;
}

static int undo_maps(struct builder *builder, uint32_t first, uint32_t end,
		     struct accel_error *error)
{
	int64_t shape[ACCEL_MAX_DIMS];
	struct accel_map *map;
	uint32_t rank;
	int ret = compose_maps(builder, first, end, &map, error);

	if (ret)
		return ret;
	rank = accel_map_is_variadic(map) ? ACCEL_RANK_ANY : accel_map_num_inputs(map);
	ret = unpacked_shape(builder, measure_map, map, "--map", &rank, shape, error);
	if (!ret)
		ret = pull_map(builder, map, rank, shape, end, error);
	accel_map_unref(map);
	builder->is_unpacked = true;
	return ret;
}

/* Layouts ---------------------------------------------------------------------------------- */

/* A .npy file says an order of axes, nothing of strides, gaps and offsets. */
static int check_dense(const struct accel_layout_description *description, const char *option,
		       const char *text, struct accel_error *error)
{
	int64_t stride = 1;

	if (description->physical_rank > ACCEL_MAX_DIMS)
		return accel_error_set(error, -ENOTSUP, "%s %s: %u physical axes, a file has at "
				       "most %d", option, text, description->physical_rank,
				       ACCEL_MAX_DIMS);
	for (uint32_t i = description->physical_rank; i--; ) {
		if (description->strides[i] != stride && description->physical_shape[i] > 1)
			return accel_error_set(error, -ENOTSUP, "%s %s: its axes are not dense and "
					       "in order, as those of a .npy file are", option,
					       text);
		stride *= description->physical_shape[i];
	}
	if (description->offset)
		return accel_error_set(error, -ENOTSUP,
				       "%s %s: it begins at element %lld, a .npy file at 0", option,
				       text, (long long)description->offset);
	return 0;
}

struct layout_measure {
	struct accel_layout *layout;
	enum accel_dtype dtype;
};

static int measure_layout(void *context, uint32_t rank, const int64_t *shape,
			  uint32_t *physical_rank, int64_t *physical_shape,
			  struct accel_error *error)
{
	const struct layout_measure *measure = context;
	struct accel_layout_description description;
	int ret = accel_layout_describe(measure->layout, measure->dtype, rank, shape, &description,
					error);

	if (ret)
		return ret;
	*physical_rank = description.physical_rank;
	memcpy(physical_shape, description.physical_shape, sizeof(description.physical_shape));
	return 0;
}

/* The map of a layout over this shape. */
static int map_of(const struct accel_layout *layout, const char *option, const char *text,
		  enum accel_dtype dtype, uint32_t rank, const int64_t *shape,
		  struct accel_map **map, struct accel_error *error)
{
	struct accel_layout_description description;
	int ret = accel_layout_describe(layout, dtype, rank, shape, &description, error);

	*map = NULL;
	if (!ret)
		ret = check_dense(&description, option, text, error);
	return ret ? ret : accel_layout_map(layout, dtype, rank, shape, map, error);
}

static bool is_strides(const struct accel_layout *layout)
{
	return !strcmp(accel_layout_notation(layout), "strides");
}

static int parse_layout(struct builder *builder, const char *option, const char *text,
			const char *axes, struct accel_layout **layout, struct accel_error *error)
{
	int ret;

	builder->built->text_at_fault = text;
	ret = accel_layout_parse(text, axes, layout, error);
	if (ret)
		return ret;
	builder->built->text_at_fault = NULL;
	if (!is_strides(*layout))
		return 0;
	accel_layout_unref(*layout);
	*layout = NULL;
	return accel_error_set(error, -ENOTSUP,
			       "%s %s: a .npy file has an order of axes, no strides", option, text);
}

/* The input is the physical tensor of --from: the logical one is what the chain begins with. */
static int apply_from(struct builder *builder, struct accel_layout *layout, const char *name,
		      struct accel_error *error)
{
	const char *text = builder->chain->from;
	struct layout_measure measure = { .layout = layout };
	int64_t shape[ACCEL_MAX_DIMS];
	uint32_t rank = accel_layout_rank(layout);
	uint32_t physical_rank;
	struct accel_map *map;
	int ret;

	ret = tensor_of(builder, &measure.dtype, &physical_rank, shape, error);
	if (!ret)
		ret = unpacked_shape(builder, measure_layout, &measure, "--from", &rank, shape,
				     error);
	if (!ret)
		ret = map_of(layout, "--from", text, measure.dtype, rank, shape, &map, error);
	if (ret)
		return ret;
	ret = accel_function_unmap(builder->function, name, builder->value, map, rank, shape,
				   error);
	strcpy(builder->value, name);
	accel_map_unref(map);
	return ret;
}

static int apply_to(struct builder *builder, const char *axes, struct accel_error *error)
{
	const char *text = builder->chain->to;
	int64_t shape[ACCEL_MAX_DIMS];
	struct accel_layout *layout;
	enum accel_dtype dtype;
	struct accel_map *map;
	uint32_t rank;
	int ret;

	ret = tensor_of(builder, &dtype, &rank, shape, error);
	if (!ret)
		ret = parse_layout(builder, "--to", text,
				   axes && strlen(axes) == rank ? axes : NULL, &layout, error);
	if (ret)
		return ret;
	ret = map_of(layout, "--to", text, dtype, rank, shape, &map, error);
	if (!ret && !is_identity(map, rank, shape))
		ret = push_map(builder, map, builder->chain->num_steps, error);
	accel_map_unref(map);
	accel_layout_unref(layout);
	return ret;
}

/* Steps ------------------------------------------------------------------------------------ */

static int apply_map(struct builder *builder, uint32_t step, struct accel_error *error)
{
	struct accel_map *map;
	int ret = compose_maps(builder, step, step + 1, &map, error);

	if (ret)
		return ret;
	ret = push_map(builder, map, step + 1, error);
	accel_map_unref(map);
	return ret;
}

static int apply_slice(struct builder *builder, uint32_t step, struct accel_error *error)
{
	const char *text = builder->chain->steps[step].text;
	char name[ACCEL_NAME_MAX + 1];
	int ret;

	name_value(builder, step + 1, name);
	builder->built->text_at_fault = text;
	ret = accel_function_slice(builder->function, name, builder->value, text, error);
	strcpy(builder->value, name);
	return ret;
}

static int apply_im2col(struct builder *builder, uint32_t step, struct accel_error *error)
{
	const char *text = builder->chain->steps[step].text;
	const char *from = builder->chain->from;
	struct accel_im2col im2col;
	char name[ACCEL_NAME_MAX + 1];
	int ret;

	builder->built->text_at_fault = text;
	ret = im2col_parse(text, from && !strcmp(from, "NHWC"), &im2col, error);
	if (ret)
		return ret;
	builder->built->text_at_fault = NULL;
	name_value(builder, step + 1, name);
	ret = accel_function_im2col(builder->function, name, builder->value, &im2col, error);
	strcpy(builder->value, name);
	return ret;
}

static int apply_gather(struct builder *builder, uint32_t step, struct accel_error *error)
{
	const char *text = builder->chain->steps[step].text;
	char name[ACCEL_NAME_MAX + 1], indices[ACCEL_NAME_MAX + 1];
	const char *path;
	uint32_t axis;
	int ret;

	builder->built->text_at_fault = text;
	ret = gather_parse(text, &axis, &path, error);
	if (ret)
		return ret;
	builder->built->text_at_fault = NULL;
	snprintf(indices, sizeof(indices), "indices%u", step);
	ret = open_input(builder, path, indices, error);
	if (ret)
		return ret;
	name_value(builder, step + 1, name);
	ret = accel_function_gather(builder->function, name, builder->value, axis, indices, error);
	strcpy(builder->value, name);
	return ret;
}

static int apply_cast(struct builder *builder, uint32_t step, struct accel_error *error)
{
	char name[ACCEL_NAME_MAX + 1];
	enum accel_dtype dtype;
	int ret = accel_dtype_parse(builder->chain->steps[step].text, &dtype, error);

	if (ret)
		return ret;
	name_value(builder, step + 1, name);
	ret = accel_function_cast(builder->function, name, builder->value, dtype, error);
	strcpy(builder->value, name);
	return ret;
}

static bool is_defined(const struct builder *builder, const char *name)
{
	int64_t shape[ACCEL_MAX_DIMS];
	enum accel_dtype dtype;
	uint32_t rank;

	return !accel_function_tensor(builder->function, name, &dtype, &rank, shape, NULL);
}

/* --in2 and on get the names, in order, of the tensors that are not there yet. */
static int bind_extras(struct builder *builder, const struct compute_names *names,
		       struct accel_error *error)
{
	const struct chain *chain = builder->chain;
	int ret = 0;

	for (uint32_t i = 0; i < names->num_sources + names->num_targets && !ret; i++) {
		const char *name = i < names->num_targets ? names->targets[i] :
							    names->sources[i - names->num_targets];

		if (is_defined(builder, name))
			continue;
		if (builder->num_extras + 1 == CHAIN_MAX_INPUTS ||
		    !chain->in[builder->num_extras + 1])
			return accel_error_set(error, -EINVAL,
					       "--compute: nothing is called \"%s\", expected "
					       "--in%u with it", name, builder->num_extras + 2);
		ret = open_input(builder, chain->in[++builder->num_extras], name, error);
	}
	return ret;
}

static bool is_source(const struct compute_names *names, const char *name)
{
	for (uint32_t i = 0; i < names->num_sources + names->num_targets; i++) {
		if (!strcmp(name, i < names->num_targets ? names->targets[i] :
						    names->sources[i - names->num_targets]))
			return true;
	}
	return false;
}

/*
 * What a computation makes is the next step's, but for another computation, which may begin from
 * something else: one of those behind it has to want it, or the step were left out in silence.
 */
static int check_wanted(const struct builder *builder, uint32_t step, const char *name,
			struct accel_error *error)
{
	const struct chain_step *later = next_step(builder, step + 1);
	struct compute_names names;

	if (!later || later->kind != CHAIN_COMPUTE)
		return 0;
	for (uint32_t i = step + 1; (later = next_step(builder, i)); i++) {
		if (later->kind != CHAIN_COMPUTE)
			continue;
		compute_names(later->text, &names);
		if (is_source(&names, name))
			return 0;
	}
	return accel_error_set(error, -EINVAL, "--compute: %s is used by no --compute after it",
			       name);
}

static int apply_compute(struct builder *builder, uint32_t step, struct accel_error *error)
{
	const char *text = builder->chain->steps[step].text;
	struct compute_names names;
	int ret;

	compute_names(text, &names);
	ret = bind_extras(builder, &names, error);
	if (!ret)
		ret = check_wanted(builder, step, names.result, error);
	if (ret)
		return ret;
	builder->built->text_at_fault = text;
	ret = accel_function_define(builder->function, text, error);
	if (!ret)
		strcpy(builder->value, names.result);
	return ret;
}

typedef int apply_step(struct builder *builder, uint32_t step, struct accel_error *error);

static apply_step *const appliers[CHAIN_NUM_KINDS] = {
	[CHAIN_MAP] = apply_map,
	[CHAIN_SLICE] = apply_slice,
	[CHAIN_IM2COL] = apply_im2col,
	[CHAIN_GATHER] = apply_gather,
	[CHAIN_CAST] = apply_cast,
	[CHAIN_COMPUTE] = apply_compute,
};

static int apply_steps(struct builder *builder, struct accel_error *error)
{
	const struct chain *chain = builder->chain;
	uint32_t step = 0;
	int ret;

	while (step < chain->num_steps) {
		uint32_t end = step + 1;

		if (chain->steps[step].kind == CHAIN_MAP && chain->unpack && !chain->from) {
			if (builder->is_unpacked)
				return accel_error_set(error, -EINVAL,
						       "--unpack: its maps are not in a row");
			while (end < chain->num_steps && chain->steps[end].kind == CHAIN_MAP)
				end++;
			ret = undo_maps(builder, step, end, error);
		} else {
			ret = appliers[chain->steps[step].kind](builder, step, error);
		}
		if (ret)
			return ret;
		builder->built->text_at_fault = NULL;
		step = end;
	}
	return 0;
}

/* The whole -------------------------------------------------------------------------------- */

static int add_first_input(struct builder *builder, const char *name, struct accel_error *error)
{
	const struct chain *chain = builder->chain;

	strcpy(builder->value, name);
	return chain->in[0] ? open_input(builder, chain->in[0], name, error) :
			      imagine_input(builder, name, error);
}

/* The input and, where --from is more than its order of axes, the logical tensor that it holds. */
static int begin(struct builder *builder, struct accel_layout **from, struct accel_error *error)
{
	const char *text = builder->chain->from;
	char name[ACCEL_NAME_MAX + 1];
	uint32_t rank;
	int ret;

	name_value(builder, 0, name);
	if (!text)
		return add_first_input(builder, name, error);
	ret = parse_layout(builder, "--from", text, NULL, from, error);
	if (ret)
		return ret;
	/* a dimension order of its own letters is row-major */
	if (!strcmp(accel_layout_notation(*from), "order")) {
		ret = add_first_input(builder, name, error);
		rank = builder->built->inputs[0].header.rank;
		if (!ret && rank != accel_layout_rank(*from))
			ret = accel_error_set(error, -EINVAL, "--from %s names %u axes, %s has %u",
					      text, accel_layout_rank(*from),
					      builder->chain->in[0] ? builder->chain->in[0] :
								      "--shape", rank);
		return ret;
	}
	ret = add_first_input(builder, "packed", error);
	return ret ? ret : apply_from(builder, *from, name, error);
}

static int check_extras(const struct builder *builder, struct accel_error *error)
{
	for (uint32_t i = builder->num_extras + 1; i < CHAIN_MAX_INPUTS; i++) {
		if (builder->chain->in[i])
			return accel_error_set(error, -EINVAL,
					       "--in%u %s: no --compute has a tensor for it", i + 1,
					       builder->chain->in[i]);
	}
	return 0;
}

static int take_rows(struct builder *builder, const struct chain_rows *rows,
		     struct accel_error *error)
{
	char text[ACCEL_MAX_DIMS * 42] = "";
	int length = 0, ret;

	for (uint32_t i = 0; i <= rows->axis; i++) {
		int64_t count = i < rows->axis ? 1 : rows->count;

		length += sprintf(text + length, "%s%lld:%lld", i ? "," : "",
				  (long long)rows->index[i], (long long)(rows->index[i] + count));
	}
	ret = accel_function_slice(builder->function, "rows", builder->value, text, error);
	strcpy(builder->value, "rows");
	return ret;
}

static int build(struct builder *builder, const struct chain_rows *rows,
		 struct accel_layout **from, struct accel_error *error)
{
	const struct chain *chain = builder->chain;
	struct chain_function *built = builder->built;
	int ret;

	if (chain->unpack && !chain->from && !chain->num_steps)
		return accel_error_set(error, -EINVAL,
				       "--unpack: expected --from or --map, which say what to "
				       "undo");
	ret = begin(builder, from, error);
	if (!ret)
		ret = apply_steps(builder, error);
	if (!ret)
		ret = check_extras(builder, error);
	if (!ret && chain->to)
		ret = apply_to(builder, *from ? accel_layout_axes(*from) : NULL, error);
	if (!ret && rows)
		ret = take_rows(builder, rows, error);
	if (!ret)
		ret = tensor_of(builder, &built->dtype, &built->rank, built->shape, error);
	if (ret)
		return ret;
	strcpy(built->output, builder->value);
	return accel_function_add_output(builder->function, built->output, NULL, NULL, error);
}

void chain_init(struct chain_function *built)
{
	memset(built, 0, sizeof(*built));
	for (uint32_t i = 0; i < CHAIN_MAX_FILES; i++)
		built->inputs[i].fd = -1;
}

int chain_build(const struct chain *chain, const struct chain_rows *rows,
		struct chain_function *built, struct accel_error *error)
{
	struct builder builder = { .chain = chain, .built = built };
	struct accel_layout *from = NULL;
	int ret;

	accel_function_unref(built->function);
	built->num_inputs = 0;
	built->text_at_fault = NULL;
	ret = accel_function_create(&built->function, error);
	if (ret)
		return ret;
	builder.function = built->function;
	ret = build(&builder, rows, &from, error);
	accel_layout_unref(from);
	return ret;
}

void chain_release(struct chain_function *built)
{
	for (uint32_t i = 0; i < CHAIN_MAX_FILES; i++) {
		if (built->inputs[i].fd >= 0)
			close(built->inputs[i].fd);
	}
	accel_function_unref(built->function);
}
