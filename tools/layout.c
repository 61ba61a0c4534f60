// SPDX-License-Identifier: MIT
/*
 * accel layout: what a layout makes of a shape, and the same layout in other notations.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argument.h"
#include "json.h"

struct layout_arguments {
	const char *notation;
	const char *axes;		/* NULL: as the notation has them */
	const char *to;			/* NULL: nothing to convert to */
	const char *dtype_name;
	enum accel_dtype dtype;
	struct argument_list shape;
	bool is_json;
};

/* A layout of the shape, and all that is printed of it. */
struct report {
	const char *notation;		/* as it was given */
	struct accel_layout *layout;
	char *canonical;
	char *map;
	char *sticks;			/* NULL: it is none of sticks */
	const int64_t *shape;
	uint32_t rank;
	struct accel_layout_description description;
};

static void report_release(struct report *report)
{
	accel_layout_unref(report->layout);
	free(report->canonical);
	free(report->map);
	free(report->sticks);
}

/* A string with what print() prints, which counts as snprintf() does. NULL: out of memory. */
static char *print_layout(const struct accel_layout *layout)
{
	int length = accel_layout_print(layout, NULL, 0);
	char *text = length < 0 ? NULL : malloc((size_t)length + 1);

	if (text)
		accel_layout_print(layout, text, (size_t)length + 1);
	return text;
}

static char *print_map(const struct accel_map *map)
{
	int length = accel_map_print(map, NULL, 0);
	char *text = length < 0 ? NULL : malloc((size_t)length + 1);

	if (text)
		accel_map_print(map, text, (size_t)length + 1);
	return text;
}

static int out_of_memory(struct accel_error *error)
{
	*error = (struct accel_error){ .code = -ENOMEM };
	snprintf(error->message, sizeof(error->message), "out of memory");
	return -ENOMEM;
}

static int print_sticks(struct report *report, enum accel_dtype dtype, struct accel_error *error)
{
	int length = accel_layout_print_sticks(report->layout, dtype, report->rank, report->shape,
					       NULL, 0, error);

	if (length < 0)
		return length;
	report->sticks = malloc((size_t)length + 1);
	if (!report->sticks)
		return out_of_memory(error);
	accel_layout_print_sticks(report->layout, dtype, report->rank, report->shape,
				  report->sticks, (size_t)length + 1, error);
	return 0;
}

/* Finds out everything about report->layout. */
static int fill_report(struct report *report, const struct layout_arguments *arguments,
		       const int64_t *shape, struct accel_error *error)
{
	struct accel_map *map;
	int ret;

	report->rank = arguments->shape.count;
	report->shape = shape;
	ret = accel_layout_describe(report->layout, arguments->dtype, report->rank, shape,
				    &report->description, error);
	if (!ret)
		ret = accel_layout_map(report->layout, arguments->dtype, report->rank, shape, &map,
				       error);
	if (ret)
		return ret;
	report->map = print_map(map);
	accel_map_unref(map);
	report->canonical = print_layout(report->layout);
	if (!report->map || !report->canonical)
		return out_of_memory(error);
	return report->description.has_sticks ? print_sticks(report, arguments->dtype, error) : 0;
}

/* Printing ---------------------------------------------------------------------------------- */

static void json_numbers32(struct json *json, const char *key, const int32_t *values,
			   uint32_t count)
{
	int64_t wide[ACCEL_MAX_PHYSICAL_DIMS];

	for (uint32_t k = 0; k < count; k++)
		wide[k] = values[k];
	json_integers(json, key, wide, count);
}

static void print_report_json(struct json *json, const struct report *report)
{
	const struct accel_layout_description *description = &report->description;
	uint32_t count = description->physical_rank;

	json_string(json, "notation", report->notation);
	json_string(json, "canonical", report->canonical);
	json_string(json, "map", report->map);
	json_integers(json, "shape", report->shape, report->rank);
	json_integers(json, "physical_shape", description->physical_shape, count);
	json_integers(json, "strides", description->strides, count);
	if (description->offset > 0)
		json_unsigned(json, "offset", (uint64_t)description->offset);
	json_unsigned(json, "bytes", (uint64_t)description->bytes);
	if (report->rank && description->alignment[0])
		json_integers(json, "alignment", description->alignment, report->rank);
	if (!description->has_sticks)
		return;
	json_integers(json, "device_size", description->physical_shape, count);
	json_numbers32(json, "dim_map", description->dim_map, count);
	json_integers(json, "stride_map", description->stride_map, count);
	json_unsigned(json, "num_stick_dims", description->num_stick_dims);
	json_string(json, "format", description->is_sparse ? "Sparse" : "Dense");
}

static void print_numbers(const char *name, uint32_t count, const int64_t *numbers)
{
	printf("%-15s [", name);
	for (uint32_t k = 0; k < count; k++)
		printf("%s%" PRId64, k ? ", " : "", numbers[k]);
	printf("]\n");
}

static void print_report(const struct report *report)
{
	const struct accel_layout_description *description = &report->description;
	uint32_t count = description->physical_rank;

	printf("%-15s %s\n", "notation", report->notation);
	printf("%-15s %s\n", "canonical", report->canonical);
	printf("%-15s %s\n", "map", report->map);
	if (accel_layout_axes(report->layout)[0])
		printf("%-15s %s\n", "axes", accel_layout_axes(report->layout));
	print_numbers("shape", report->rank, report->shape);
	print_numbers("physical_shape", count, description->physical_shape);
	print_numbers("strides", count, description->strides);
	if (description->offset)
		printf("%-15s %" PRId64 "\n", "offset", description->offset);
	printf("%-15s %" PRId64 "\n", "bytes", description->bytes);
	if (report->rank && description->alignment[0])
		print_numbers("alignment", report->rank, description->alignment);
	if (report->sticks) {
		print_numbers("stride_map", count, description->stride_map);
		printf("%s\n", report->sticks);
	}
}

/* Converting -------------------------------------------------------------------------------- */

/* The name of a notation, if to is one, with or without a colon; otherwise NULL. */
static const char *to_name(const char *to)
{
	size_t length = strlen(to);

	length -= length && to[length - 1] == ':';
	for (uint32_t k = 0; accel_notation_name(k); k++) {
		const char *name = accel_notation_name(k);

		if (strlen(name) != length || memcmp(name, to, length))
			continue;
		/* stick alone is a layout already, and the name of its notation is stick: */
		return !strcmp(to, "stick") ? NULL : name;
	}
	return NULL;
}

/* The logical shape for a layout that has the same axes in another order. */
static void permute_shape(const struct layout_arguments *arguments,
			  const struct accel_layout *from, const struct accel_layout *to,
			  int64_t *shape)
{
	const char *from_axes = accel_layout_axes(from), *to_axes = accel_layout_axes(to);

	for (uint32_t d = 0; d < arguments->shape.count; d++) {
		const char *at = from_axes[0] && to_axes[0] ? strchr(from_axes, to_axes[d]) : NULL;

		shape[d] = arguments->shape.numbers[at ? at - from_axes : d];
	}
}

/*
 * Converts to another layout: fills in its report and the map from the physical index in the one to
 * that in the other.
 */
static int convert(const struct layout_arguments *arguments, const struct report *from,
		   struct report *to, int64_t *to_shape, char **conversion,
		   struct accel_error *error)
{
	struct accel_map *map;
	int ret;

	ret = accel_layout_conversion(from->layout, to->layout, arguments->dtype,
				      arguments->shape.count, arguments->shape.numbers, &map,
				      error);
	if (ret)
		return ret;
	*conversion = print_map(map);
	accel_map_unref(map);
	if (!*conversion)
		return out_of_memory(error);
	permute_shape(arguments, from->layout, to->layout, to_shape);
	return fill_report(to, arguments, to_shape, error);
}

static void print_both(const struct layout_arguments *arguments, const struct report *from,
		       const struct report *to, const char *conversion)
{
	struct json json = { .stream = stdout };

	if (!arguments->is_json) {
		print_report(from);
		if (!to)
			return;
		printf("\n");
		print_report(to);
		if (conversion)
			printf("%-15s %s\n", "conversion", conversion);
		return;
	}
	json_begin_object(&json, NULL);
	print_report_json(&json, from);
	if (to) {
		json_begin_object(&json, "to");
		print_report_json(&json, to);
		json_string(&json, "axes", accel_layout_axes(to->layout));
		if (conversion)
			json_string(&json, "conversion", conversion);
		json_end_object(&json);
	}
	json_end_object(&json);
}

/* Prints the layout, and the one that it is converted to. Returns an enum exit_status. */
static int report_layouts(const struct layout_arguments *arguments, struct report *from,
			  struct report *to)
{
	const char *name = arguments->to ? to_name(arguments->to) : NULL;
	int64_t to_shape[ACCEL_MAX_DIMS];
	char *conversion = NULL;
	struct accel_error error;
	int ret;

	if (accel_layout_parse(arguments->notation, arguments->axes, &from->layout, &error))
		return argument_fail(&layout_command, arguments->notation, &error);
	if (arguments->to && !name && accel_layout_parse(arguments->to, NULL, &to->layout, &error))
		return argument_fail(&layout_command, arguments->to, &error);
	ret = fill_report(from, arguments, arguments->shape.numbers, &error);
	if (!ret && name)
		ret = accel_layout_express(from->layout, arguments->dtype, arguments->shape.count,
					   arguments->shape.numbers, name, &to->layout, &error);
	if (!ret && name)
		ret = fill_report(to, arguments, arguments->shape.numbers, &error);
	else if (!ret && arguments->to)
		ret = convert(arguments, from, to, to_shape, &conversion, &error);
	if (!ret)
		print_both(arguments, from, arguments->to ? to : NULL, conversion);
	free(conversion);
	if (!ret)
		return STATUS_OK;
	return command_fail(&layout_command, ret == -ENOMEM ? STATUS_FAILED : STATUS_USAGE, &error);
}

/* Arguments --------------------------------------------------------------------------------- */

#define AT(member) offsetof(struct layout_arguments, member)

static const struct argument_option options[] = {
	{ "shape", ARGUMENT_NUMBERS, AT(shape), 0 },
	{ "dtype", ARGUMENT_TEXT, AT(dtype_name), 0 },
	{ "axes", ARGUMENT_TEXT, AT(axes), 0 },
	{ "to", ARGUMENT_TEXT, AT(to), 0 },
	{ "json", ARGUMENT_FLAG, AT(is_json), 0 },
};

static int parse_arguments(struct layout_arguments *arguments, int argc, char **argv)
{
	struct accel_error error;
	int status = argument_parse(&layout_command, argc, argv, options,
				    sizeof(options) / sizeof(options[0]), arguments);

	if (status)
		return status;
	if (optind >= argc)
		return command_misuse(&layout_command, "expected a layout");
	if (optind + 1 < argc)
		return command_misuse(&layout_command, "argument '%s', expected one layout",
				      argv[optind + 1]);
	arguments->notation = argv[optind];
	if (!arguments->shape.is_given)
		return command_misuse(&layout_command, "expected --shape");
	if (!arguments->dtype_name)
		return command_misuse(&layout_command, "expected --dtype");
	if (accel_dtype_parse(arguments->dtype_name, &arguments->dtype, &error))
		return command_fail(&layout_command, STATUS_USAGE, &error);
	return STATUS_OK;
}

static int run_layout(int argc, char **argv)
{
	struct layout_arguments arguments = { 0 };
	struct report from = { 0 }, to = { 0 };
	int status;

	status = parse_arguments(&arguments, argc, argv);
	if (status)
		return status;
	from.notation = arguments.notation;
	to.notation = arguments.to;
	status = report_layouts(&arguments, &from, &to);
	report_release(&to);
	report_release(&from);
	return status;
}

const struct command layout_command = {
	.name = "layout",
	.summary = "what a layout makes of a shape, in any notation",
	.usage =
		"usage: accel layout NOTATION --shape N,.. --dtype TYPE [--axes AXES]\n"
		"                    [--to NOTATION] [--json]\n"
		"\n"
		"Prints where a layout puts the elements of a logical shape.\n"
		"\n"
		"  --shape N,..     the logical shape\n"
		"  --dtype TYPE     u8 i8 u16 i16 f16 bf16 u32 i32 f32 u64 i64 f64 raw8 .. raw128\n"
		"  --axes AXES      the logical axes in their order, as in NCHW; otherwise they\n"
		"                   are in the order in which the layout mentions them\n"
		"  --to NOTATION    another layout of the shape, and the map from the one to the\n"
		"                   other; or the name of a notation, as in xla:, for the same\n"
		"                   layout written in it\n"
		"  --json           as JSON\n"
		"\n"
		"Notations:\n"
		"  NHWC  NCHW16c  OIHW[4o4i]  '(n, c) -> (n, c//4, c%4)'\n"
		"  'glow:N[a=32]HWC'  strides:12,1,3@5  'xla:{1,0:T(8,128)}'  onednn:aBcd16b\n"
		"  'tile:outer=NCHW;tile=1,8,8,8;inner=NCHW'\n"
		"  'pack:inner_dims_pos=1;inner_tiles=16;outer_dims_perm=0,2,3,1'  unpack:..\n"
		"  stick  stick:pad=stick  stick:order=1,0,2  stick:sparse\n"
		"  'stick:padded=5,128,192;order=0,1,2'  'stick:device_size=..;stride_map=..'\n",
	.run = run_layout,
};
