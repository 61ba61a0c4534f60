// SPDX-License-Identifier: MIT
/*
 * accel map: what an index map does to a shape, and where it takes single indices.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argument.h"
#include "json.h"

#define MAX_THEN	16
#define MAX_POINTS	256

struct point {
	const char *text;		/* as it was given */
	uint32_t rank;
	int64_t index[ACCEL_MAP_MAX_AXES];
	int64_t output[ACCEL_MAP_MAX_AXES];
	int64_t flat[ACCEL_MAP_MAX_AXES];
};

struct map_arguments {
	const char *map;
	const char *shape_text;		/* NULL: none given */
	uint32_t rank;
	int64_t shape[ACCEL_MAP_MAX_AXES];
	uint32_t num_then;
	const char *then[MAX_THEN];
	uint32_t num_points;
	struct point points[MAX_POINTS];
	bool is_json;
};

/* All that is printed. */
struct report {
	struct accel_map *map;		/* all of them in a row, for the rank of the shape */
	char *map_text;
	char *inverse_text;		/* NULL: there is none */
	char *padding_text;		/* likewise */
	uint32_t output_rank;
	uint32_t flat_rank;
	int64_t output_shape[ACCEL_MAP_MAX_AXES];
	int64_t flat_shape[ACCEL_MAP_MAX_AXES];
	struct accel_map_analysis analysis;
};

static void report_release(struct report *report)
{
	accel_map_analysis_release(&report->analysis);
	accel_map_unref(report->map);
	free(report->map_text);
	free(report->inverse_text);
	free(report->padding_text);
}

/* All errors are about what was given, but for the lack of memory. */
static int status_of(const struct accel_error *error)
{
	return error->code == -ENOMEM ? STATUS_FAILED : STATUS_USAGE;
}

static int out_of_memory(struct accel_error *error)
{
	*error = (struct accel_error){ .code = -ENOMEM };
	snprintf(error->message, sizeof(error->message), "out of memory");
	return command_fail(&map_command, STATUS_FAILED, error);
}

/* A string with the text of the map; NULL: out of memory. */
static char *map_text(const struct accel_map *map)
{
	int length = accel_map_print(map, NULL, 0);
	char *text = length < 0 ? NULL : malloc((size_t)length + 1);

	if (text)
		accel_map_print(map, text, (size_t)length + 1);
	return text;
}

static char *expression_text(const struct accel_expression *expression)
{
	int length = accel_expression_print(expression, NULL, 0);
	char *text = length < 0 ? NULL : malloc((size_t)length + 1);

	if (text)
		accel_expression_print(expression, text, (size_t)length + 1);
	return text;
}

/* report->map is what all maps of the arguments do in a row. */
static int compose_maps(const struct map_arguments *arguments, struct report *report)
{
	struct accel_map *next, *composed;
	struct accel_error error;
	uint32_t k;
	int ret;

	if (accel_map_parse(arguments->map, &report->map, &error))
		return argument_fail(&map_command, arguments->map, &error);
	for (k = 0; k < arguments->num_then; k++) {
		if (accel_map_parse(arguments->then[k], &next, &error))
			return argument_fail(&map_command, arguments->then[k], &error);
		ret = accel_map_compose(report->map, next, &composed, &error);
		accel_map_unref(next);
		if (ret)
			return command_fail(&map_command, status_of(&error), &error);
		accel_map_unref(report->map);
		report->map = composed;
	}
	return STATUS_OK;
}

/* The map with as many inputs as the shape has axes. */
static int expand_map(const struct map_arguments *arguments, struct report *report,
		      struct accel_error *error)
{
	struct accel_map *expanded;
	int ret;

	ret = accel_map_expand(report->map, arguments->rank, &expanded, error);
	if (ret)
		return ret;
	accel_map_unref(report->map);
	report->map = expanded;
	return 0;
}

static int fill_report(const struct map_arguments *arguments, struct report *report)
{
	const int64_t *shape = arguments->shape;
	uint32_t rank = arguments->rank;
	struct accel_error error;

	if (expand_map(arguments, report, &error) ||
	    accel_map_apply_shape(report->map, rank, shape, &report->output_rank,
				  report->output_shape, &error) ||
	    accel_map_flat_shape(report->map, rank, shape, &report->flat_rank, report->flat_shape,
				 &error) ||
	    accel_map_analyze(report->map, rank, shape, &report->analysis, &error))
		return command_fail(&map_command, status_of(&error), &error);
	report->map_text = map_text(report->map);
	if (report->analysis.inverse)
		report->inverse_text = map_text(report->analysis.inverse);
	if (report->analysis.padding)
		report->padding_text = expression_text(report->analysis.padding);
	if (!report->map_text || (report->analysis.inverse && !report->inverse_text) ||
	    (report->analysis.padding && !report->padding_text))
		return out_of_memory(&error);
	return STATUS_OK;
}

static int find_points(struct map_arguments *arguments, const struct report *report)
{
	struct accel_error error;
	struct point *point;
	uint32_t k;

	for (k = 0; k < arguments->num_points; k++) {
		point = &arguments->points[k];
		if (point->rank != arguments->rank)
			return command_misuse(&map_command,
					      "--at %s has %u numbers, expected %u as --shape has",
					      point->text, point->rank, arguments->rank);
		if (accel_map_flat_index(report->map, arguments->rank, arguments->shape,
					 point->index, NULL, point->flat, &error) ||
		    accel_map_apply_index(report->map, arguments->rank, point->index, NULL,
					  point->output, &error))
			return command_fail(&map_command, status_of(&error), &error);
	}
	return STATUS_OK;
}

/* Printing ---------------------------------------------------------------------------------- */

static void json_answer(struct json *json, const char *key, enum accel_answer answer)
{
	if (answer == ACCEL_ANSWER_UNKNOWN)
		json_string(json, key, NULL);
	else
		json_bool(json, key, answer == ACCEL_ANSWER_YES);
}

static void print_json(const struct map_arguments *arguments, const struct report *report)
{
	struct json json = { .stream = stdout };
	int64_t separators[ACCEL_MAP_MAX_AXES], padding_count;
	uint32_t positions[ACCEL_MAP_MAX_AXES], count, k;
	const struct point *point;

	count = accel_map_separators(report->map, positions);
	for (k = 0; k < count; k++)
		separators[k] = positions[k];
	json_begin_object(&json, NULL);
	json_string(&json, "map", report->map_text);
	json_integers(&json, "input_shape", arguments->shape, arguments->rank);
	json_integers(&json, "output_shape", report->output_shape, report->output_rank);
	json_integers(&json, "axis_separators", separators, count);
	json_integers(&json, "flat_shape", report->flat_shape, report->flat_rank);
	json_answer(&json, "injective", report->analysis.injective);
	json_answer(&json, "bijective", report->analysis.bijective);
	json_string(&json, "inverse", report->inverse_text);
	json_string(&json, "padding", report->padding_text);
	if (report->analysis.padding_count &&
	    accel_expression_is_constant(report->analysis.padding_count, &padding_count))
		json_unsigned(&json, "padding_count", padding_count);
	else
		json_string(&json, "padding_count", NULL);
	json_begin_array(&json, "at");
	for (k = 0; k < arguments->num_points; k++) {
		point = &arguments->points[k];
		json_begin_object(&json, NULL);
		json_integers(&json, "index", point->index, arguments->rank);
		json_integers(&json, "output", point->output, report->output_rank);
		json_integers(&json, "flat", point->flat, report->flat_rank);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
}

static void print_numbers(const int64_t *numbers, uint32_t count)
{
	uint32_t k;

	printf("(");
	for (k = 0; k < count; k++)
		printf("%s%" PRId64, k ? "," : "", numbers[k]);
	printf(")");
}

static void print_line(const char *name, const int64_t *numbers, uint32_t count)
{
	printf("%-17s", name);
	print_numbers(numbers, count);
	printf("\n");
}

static void print_padding(const struct accel_map_analysis *analysis, const char *text)
{
	int64_t count;

	if (!analysis->padding_count ||
	    !accel_expression_is_constant(analysis->padding_count, &count))
		return;
	printf("%-17s%" PRId64 " point%s", "padding", count, count == 1 ? "" : "s");
	if (text)
		printf(", where %s", text);
	printf("\n");
}

static void print_text(const struct map_arguments *arguments, const struct report *report)
{
	static const char *const answers[] = { "no", "yes", "not known" };
	const struct accel_map_analysis *analysis = &report->analysis;
	uint32_t separators[ACCEL_MAP_MAX_AXES], count, k;
	const struct point *point;

	printf("%-17s%s\n", "map", report->map_text);
	print_line("input shape", arguments->shape, arguments->rank);
	print_line("output shape", report->output_shape, report->output_rank);
	count = accel_map_separators(report->map, separators);
	printf("%-17s", "axis separators");
	for (k = 0; k < count; k++)
		printf("%safter output %u", k ? ", " : "", separators[k]);
	printf("%s\n", count ? "" : "none");
	print_line("flat shape", report->flat_shape, report->flat_rank);
	printf("%-17s%s\n", "injective", answers[analysis->injective]);
	if (analysis->has_collision) {
		printf("%-17s", "");
		print_numbers(analysis->collision[0], analysis->input_rank);
		printf(" and ");
		print_numbers(analysis->collision[1], analysis->input_rank);
		printf(" both go to ");
		print_numbers(analysis->collision_at, analysis->output_rank);
		printf("\n");
	}
	printf("%-17s%s\n", "bijective", answers[analysis->bijective]);
	if (report->inverse_text)
		printf("%-17s%s\n", "inverse", report->inverse_text);
	else
		printf("%-17snone: %s\n", "inverse", analysis->reason);
	print_padding(analysis, report->padding_text);
	for (k = 0; k < arguments->num_points; k++) {
		point = &arguments->points[k];
		printf("%-17s", "at");
		print_numbers(point->index, arguments->rank);
		printf(" -> ");
		print_numbers(point->output, report->output_rank);
		printf(", flat ");
		print_numbers(point->flat, report->flat_rank);
		printf("\n");
	}
}

/* Arguments --------------------------------------------------------------------------------- */

static int add_point(struct map_arguments *arguments, const char *text)
{
	struct point *point = &arguments->points[arguments->num_points];

	if (arguments->num_points == MAX_POINTS)
		return command_misuse(&map_command, "more than %d times --at", MAX_POINTS);
	arguments->num_points++;
	point->text = text;
	return argument_numbers(&map_command, "--at", text, INT64_MIN, ACCEL_MAP_MAX_AXES,
				&point->rank, point->index);
}

static int add_map(struct map_arguments *arguments, const char *text)
{
	if (arguments->num_then == MAX_THEN)
		return command_misuse(&map_command, "more than %d times --then", MAX_THEN);
	arguments->then[arguments->num_then++] = text;
	return STATUS_OK;
}

static int read_option(struct map_arguments *arguments, int option)
{
	switch (option) {
	case 's':
		arguments->shape_text = optarg;
		return argument_numbers(&map_command, "--shape", optarg, 0, ACCEL_MAP_MAX_AXES,
					&arguments->rank, arguments->shape);
	case 'a':
		return add_point(arguments, optarg);
	case 't':
		return add_map(arguments, optarg);
	case 'j':
		arguments->is_json = true;
		return STATUS_OK;
	default:
		return command_misuse(&map_command, "bad option");
	}
}

static int read_arguments(struct map_arguments *arguments, int argc, char **argv)
{
	static const struct option options[] = {
		{ "shape", required_argument, NULL, 's' },
		{ "at", required_argument, NULL, 'a' },
		{ "then", required_argument, NULL, 't' },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	int option, status;

	optind = 0;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		status = read_option(arguments, option);
		if (status)
			return status;
	}
	if (optind == argc)
		return command_misuse(&map_command, "expected a map");
	arguments->map = argv[optind];
	if (optind + 1 < argc)
		return command_misuse(&map_command, "argument '%s', expected none",
				      argv[optind + 1]);
	if (!arguments->shape_text)
		return command_misuse(&map_command, "expected --shape");
	return STATUS_OK;
}

static int run_map(int argc, char **argv)
{
	struct map_arguments *arguments = calloc(1, sizeof(*arguments));
	struct report report = { 0 };
	struct accel_error error;
	int status;

	if (!arguments)
		return out_of_memory(&error);
	status = read_arguments(arguments, argc, argv);
	if (!status)
		status = compose_maps(arguments, &report);
	if (!status)
		status = fill_report(arguments, &report);
	if (!status)
		status = find_points(arguments, &report);
	if (!status && arguments->is_json)
		print_json(arguments, &report);
	else if (!status)
		print_text(arguments, &report);
	report_release(&report);
	free(arguments);
	return status;
}

const struct command map_command = {
	.name = "map",
	.summary = "what an index map does to a shape",
	.usage =
		"usage: accel map MAP --shape N,N,... [--at N,N,...]... [--then MAP]... [--json]\n"
		"\n"
		"Analyses a map over a shape: the shape that it makes, whether elements collide\n"
		"or padding is left, its inverse. Maps are written\n"
		"\n"
		"  '(n, h, w, c) -> (n, c//4, h | w, c%4)'     | separates flattened axes\n"
		"  'lambda n, h, w, c: [n, c//4, h, w, c%4]'\n"
		"  '[i//4, i%4]'                               of a single input\n"
		"  '(*b, c) -> (*b, c//8, c%8)'                *b is any number of axes\n"
		"\n"
		"  --shape N,N,...  extents of the map's inputs\n"
		"  --at N,N,...     an index to follow; may be given more than once\n"
		"  --then MAP       a map to apply afterwards; may be given more than once\n"
		"  --json           as JSON\n",
	.run = run_map,
};
