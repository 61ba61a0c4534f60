// SPDX-License-Identifier: MIT
/*
 * accel plan: what accel run would do, and why, without doing it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argument.h"
#include "chain_tensor.h"
#include "counters.h"
#include "device/counters.h"
#include "json.h"

static const struct {
	uint32_t bit;
	const char *name;
} classes[] = {
	{ ACCEL_CLASS_IDENTITY, "identity" },
	{ ACCEL_CLASS_BIJECTIVE, "bijective" },
	{ ACCEL_CLASS_EXPANDING, "expanding" },
	{ ACCEL_CLASS_SELECTING, "selecting" },
	{ ACCEL_CLASS_FILLING, "filling" },
	{ ACCEL_CLASS_COMPUTING, "computing" },
	{ ACCEL_CLASS_INDEXED, "indexed" },
};

#define NUM_CLASSES (sizeof(classes) / sizeof(classes[0]))

/* Enough for all of them. */
#define CLASS_SIZE 128

static const char *print_class(uint32_t map_class, char text[CLASS_SIZE])
{
	int length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < NUM_CLASSES; i++) {
		if (map_class & classes[i].bit)
			length += sprintf(text + length, "%s%s", length ? ", " : "",
					  classes[i].name);
	}
	return text;
}

#define OPCODE(name) [ACCEL_OP_##name]

static const char *const opcodes[] = {
	OPCODE(CONST) = "const", OPCODE(CAST) = "cast", OPCODE(ADD) = "add", OPCODE(SUB) = "sub",
	OPCODE(MUL) = "mul", OPCODE(FMA) = "fma", OPCODE(MIN) = "min", OPCODE(MAX) = "max",
	OPCODE(NEG) = "neg", OPCODE(ABS) = "abs", OPCODE(SELECT) = "select",
	OPCODE(COMPARE) = "compare",
};

static const uint8_t num_operands[] = {
	OPCODE(CONST) = 0, OPCODE(CAST) = 1, OPCODE(ADD) = 2, OPCODE(SUB) = 2, OPCODE(MUL) = 2,
	OPCODE(FMA) = 3, OPCODE(MIN) = 2, OPCODE(MAX) = 2, OPCODE(NEG) = 1, OPCODE(ABS) = 1,
	OPCODE(SELECT) = 3, OPCODE(COMPARE) = 2,
};

static const char *const predicates[] = { "", "eq", "ne", "lt", "le", "gt", "ge" };

#define INSTRUCTION_SIZE 96

/* "r0 = add.f32 r1, r2", as an assembler would have it. */
static const char *print_instruction(const struct accel_instruction *instruction,
				     char text[INSTRUCTION_SIZE])
{
	int length = sprintf(text, "r%u = %s.%s", instruction->dst, opcodes[instruction->opcode],
			     accel_dtype_name(instruction->dtype));

	if (instruction->opcode == ACCEL_OP_COMPARE)
		length += sprintf(text + length, ".%s", predicates[instruction->predicate]);
	if (instruction->flags & ACCEL_INSTRUCTION_SATURATE)
		length += sprintf(text + length, ".saturate");
	if (instruction->flags & ACCEL_INSTRUCTION_TRUNCATE)
		length += sprintf(text + length, ".truncate");
	for (unsigned int k = 0; k < num_operands[instruction->opcode]; k++)
		length += sprintf(text + length, "%s r%u", k ? "," : "", instruction->src[k]);
	if (instruction->opcode == ACCEL_OP_CONST)
		sprintf(text + length, " 0x%" PRIx64, instruction->immediate);
	return text;
}

/* A plan, and what its jobs will run with. */
struct report {
	const struct chain *chain;
	struct chain_function built;
	struct accel_plan *plan;
	struct accel_plan_info info;
	struct accel_task *task;	/* on the CPU, never run; NULL: too large for that */
	struct accel_job_counters counters;	/* --counters: of all jobs together */
	uint32_t clock_khz;
};

/* Buffers cost nothing before they are touched: the plan is bound as if it were to be run. */
static int bind(struct report *report, struct accel_error *error)
{
	struct accel_tensor *tensors[CHAIN_MAX_TENSORS] = { 0 };
	const struct chain_function *built = &report->built;
	struct accel_device_info info;
	struct accel_device *device;
	int ret = accel_open("cpu", &device, error);

	if (ret)
		return ret;
	accel_device_info(device, &info);
	report->clock_khz = info.clock_khz;
	for (uint32_t i = 0; i < built->num_inputs && !ret; i++)
		ret = chain_imagine_input(device, &built->inputs[i], &tensors[i], error);
	if (!ret)
		ret = accel_tensor_create(device, built->dtype, built->rank, built->shape, NULL,
					  &tensors[built->num_inputs], error);
	if (!ret)
		ret = accel_task_create(report->plan, built->num_inputs + 1, tensors,
					&report->task, error);
	for (uint32_t i = 0; i <= built->num_inputs; i++)
		accel_tensor_unref(tensors[i]);
	accel_device_unref(device);
	return ret;
}

static int count(struct report *report, struct accel_error *error)
{
	struct accel_job_counters counters;
	struct accel_job *job;
	int ret = 0;

	for (uint32_t k = 0; (job = accel_task_job(report->task, k)) && !ret; k++) {
		ret = accel_job_counters(job, &counters, error);
		if (!ret)
			counters_add(&report->counters, &counters);
	}
	return ret;
}

#define KERNEL_SIZE 160

static const char *describe_kernel(const struct report *report, uint32_t job,
				   char text[KERNEL_SIZE])
{
	if (!report->task ||
	    accel_job_describe(accel_task_job(report->task, job), text, KERNEL_SIZE, NULL))
		return NULL;
	return text;
}

static const char *slot_name(const struct report *report, uint32_t slot, char text[48])
{
	static const char *const kinds[] = { "input", "output", "temporary", "table" };
	enum accel_slot_kind kind;
	const char *name;

	accel_plan_slot(report->plan, slot, &kind, &name);
	if (*name)
		return name;
	sprintf(text, "%s%u", kinds[kind], slot);
	return text;
}

/* Text --------------------------------------------------------------------------------------- */

static void print_numbers(const char *what, const int64_t *numbers, uint32_t count)
{
	printf("%s", what);
	for (uint32_t i = 0; i < count; i++)
		printf("%s%" PRId64, i ? "," : "", numbers[i]);
}

static void print_operand(const struct report *report, const struct accel_plan_job *job, uint32_t k)
{
	const struct accel_plan_operand *operand = &job->operands[k];
	char text[48];

	printf("    %-10s %s, offset %" PRId64, slot_name(report, operand->slot, text),
	       accel_dtype_name(operand->dtype), operand->address.offset);
	print_numbers(", strides ", operand->address.strides, job->rank);
	if (operand->is_indirect) {
		printf(", plus %" PRId64 " times %s at offset %" PRId64, operand->index_stride,
		       slot_name(report, operand->index_slot, text),
		       operand->index_address.offset);
		print_numbers(", strides ", operand->index_address.strides, job->rank);
	}
	if (operand->window_mask) {
		printf(", where window");
		for (uint32_t w = 0; w < job->num_windows; w++) {
			if (operand->window_mask >> w & 1)
				printf(" %u", w);
		}
		printf(" holds");
		if (k)
			printf(", else 0x%" PRIx64, operand->fill[0]);
	}
	putchar('\n');
}

static void print_job(const struct report *report, uint32_t number)
{
	const struct accel_plan_job *job = accel_plan_job(report->plan, number);
	char text[INSTRUCTION_SIZE], kernel[KERNEL_SIZE];

	printf("job %-6u rank %u", number, job->rank);
	print_numbers(", extents ", (const int64_t *)job->extents, job->rank);
	putchar('\n');
	for (uint32_t k = 0; k < job->num_operands; k++)
		print_operand(report, job, k);
	for (uint32_t w = 0; w < job->num_windows; w++) {
		printf("    window %u   0 <= %" PRId64, w, job->windows[w].value.offset);
		print_numbers(" + index . ", job->windows[w].value.strides, job->rank);
		printf(" < %" PRIu64 "\n", job->windows[w].limit);
	}
	for (uint32_t i = 0; i < job->num_instructions; i++)
		printf("    %s\n", print_instruction(&job->program[i], text));
	if (describe_kernel(report, number, kernel))
		printf("    kernel     %s\n", kernel);
}

/* Lines of a text, the first behind a label, the others below it. */
static void print_lines(const char *label, const char *text)
{
	while (text && *text) {
		size_t length = strcspn(text, "\n");

		printf("%-10s %.*s\n", label, (int)length, text);
		text += length + (text[length] == '\n');
		label = "";
	}
}

static void print_text(const struct report *report)
{
	const struct accel_plan_info *info = &report->info;
	char text[CLASS_SIZE];

	print_lines("chain", accel_plan_chain(report->plan));
	print_lines("map", accel_plan_map(report->plan));
	printf("%-10s %s\n", "class", print_class(info->map_class, text));
	for (uint32_t k = 0; k < info->num_notes; k++)
		printf("%-10s %s\n", k ? "" : "notes", accel_plan_note(report->plan, k));
	for (uint32_t j = 0; j < info->num_jobs; j++)
		print_job(report, j);
	if (!info->num_jobs)
		printf("%-10s none: the output is the input\n", "jobs");
	printf("%-10s %" PRIu64 " bytes read, %" PRIu64 " written", "memory", info->bytes_read,
	       info->bytes_written);
	if (info->temporary_bytes)
		printf(", %" PRIu64 " in temporaries", info->temporary_bytes);
	printf("\n%-10s %u, without fusion %u\n", "passes", info->passes, info->passes_unfused);
	if (report->chain->is_counted)
		counters_print(&report->counters, report->clock_khz);
}

/* JSON --------------------------------------------------------------------------------------- */

static void json_affine(struct json *json, const char *offset_key, const char *strides_key,
			const struct accel_affine *affine, uint32_t rank)
{
	json_signed(json, offset_key, affine->offset);
	json_integers(json, strides_key, affine->strides, rank);
}

static void json_operand(struct json *json, const struct report *report,
			 const struct accel_plan_job *job, uint32_t k)
{
	const struct accel_plan_operand *operand = &job->operands[k];
	int64_t windows[ACCEL_MAX_WINDOWS];
	size_t num_windows = 0;
	char text[48];

	for (uint32_t w = 0; w < job->num_windows; w++) {
		if (operand->window_mask >> w & 1)
			windows[num_windows++] = w;
	}
	json_begin_object(json, NULL);
	json_string(json, "tensor", slot_name(report, operand->slot, text));
	json_string(json, "role", k ? "source" : "destination");
	json_string(json, "dtype", accel_dtype_name(operand->dtype));
	json_affine(json, "offset", "strides", &operand->address, job->rank);
	json_integers(json, "windows", windows, num_windows);
	if (k)
		json_unsigned(json, "fill", operand->fill[0]);
	if (operand->is_indirect) {
		json_string(json, "index", slot_name(report, operand->index_slot, text));
		json_string(json, "index_dtype",
			    accel_dtype_name((enum accel_dtype)operand->index_dtype));
		json_affine(json, "index_offset", "index_strides", &operand->index_address,
			    job->rank);
		json_signed(json, "index_stride", operand->index_stride);
	}
	json_end_object(json);
}

static void json_windows(struct json *json, const struct accel_plan_job *job)
{
	json_begin_array(json, "windows");
	for (uint32_t w = 0; w < job->num_windows; w++) {
		json_begin_object(json, NULL);
		json_affine(json, "offset", "coefficients", &job->windows[w].value, job->rank);
		json_unsigned(json, "limit", job->windows[w].limit);
		json_end_object(json);
	}
	json_end_array(json);
}

static void json_job(struct json *json, const struct report *report, uint32_t number)
{
	const struct accel_plan_job *job = accel_plan_job(report->plan, number);
	char text[INSTRUCTION_SIZE], kernel[KERNEL_SIZE];

	json_begin_object(json, NULL);
	json_unsigned(json, "rank", job->rank);
	json_integers(json, "extents", (const int64_t *)job->extents, job->rank);
	json_begin_array(json, "operands");
	for (uint32_t k = 0; k < job->num_operands; k++)
		json_operand(json, report, job, k);
	json_end_array(json);
	json_windows(json, job);
	json_begin_array(json, "program");
	for (uint32_t i = 0; i < job->num_instructions; i++)
		json_string(json, NULL, print_instruction(&job->program[i], text));
	json_end_array(json);
	json_string(json, "kernel", describe_kernel(report, number, kernel));
	json_end_object(json);
}

static void json_lines(struct json *json, const char *key, const char *text)
{
	char *lines = text ? strdup(text) : NULL;
	char *rest = lines;
	char *line;

	json_begin_array(json, key);
	while ((line = strsep(&rest, "\n"))) {
		if (*line)
			json_string(json, NULL, line);
	}
	json_end_array(json);
	free(lines);
}

static void print_json(const struct report *report)
{
	const struct accel_plan_info *info = &report->info;
	struct json json = { .stream = stdout };
	char text[CLASS_SIZE];

	json_begin_object(&json, NULL);
	json_lines(&json, "chain", accel_plan_chain(report->plan));
	json_string(&json, "map", accel_plan_map(report->plan));
	json_string(&json, "class", print_class(info->map_class, text));
	json_begin_array(&json, "jobs");
	for (uint32_t j = 0; j < info->num_jobs; j++)
		json_job(&json, report, j);
	json_end_array(&json);
	json_begin_array(&json, "notes");
	for (uint32_t k = 0; k < info->num_notes; k++)
		json_string(&json, NULL, accel_plan_note(report->plan, k));
	json_end_array(&json);
	json_integers(&json, "out_shape", report->built.shape, report->built.rank);
	json_string(&json, "out_dtype", accel_dtype_name(report->built.dtype));
	json_unsigned(&json, "bytes_read", info->bytes_read);
	json_unsigned(&json, "bytes_written", info->bytes_written);
	json_unsigned(&json, "temporary_bytes", info->temporary_bytes);
	json_unsigned(&json, "passes_unfused", info->passes_unfused);
	json_unsigned(&json, "passes", info->passes);
	if (report->chain->is_counted)
		counters_write(&json, "counters", &report->counters, report->clock_khz);
	json_end_object(&json);
}

/* The command -------------------------------------------------------------------------------- */

static int make_plan(struct report *report, struct accel_error *error)
{
	struct accel_plan_options options = {
		.is_unfused = report->chain->is_unfused, .may_alias = true
	};
	int ret = chain_build(report->chain, NULL, &report->built, error);

	if (!ret)
		ret = accel_plan_create(report->built.function, &options, &report->plan, error);
	if (!ret)
		accel_plan_info(report->plan, &report->info);
	return ret;
}

/* Without buffers a plan is told all the same, but for kernels; there is nothing to count then. */
static int look_at_jobs(struct report *report, struct accel_error *error)
{
	int ret = bind(report, error);

	if (!report->chain->is_counted)
		return 0;
	return ret ? ret : count(report, error);
}

static int show_plan(struct report *report)
{
	struct accel_error error;

	if (make_plan(report, &error))
		return report->built.text_at_fault ?
		       argument_fail(&plan_command, report->built.text_at_fault, &error) :
		       command_fail(&plan_command, STATUS_USAGE, &error);
	if (look_at_jobs(report, &error))
		return command_fail(&plan_command, STATUS_FAILED, &error);
	if (report->chain->is_json)
		print_json(report);
	else
		print_text(report);
	return STATUS_OK;
}

static int run_plan(int argc, char **argv)
{
	struct report report = { 0 };
	struct chain chain;
	int status = chain_parse(&plan_command, argc, argv, &chain);

	if (status)
		return status;
	if (!chain.in[0] == !chain.shape)
		return command_misuse(&plan_command, "expected --in or --shape%s",
				      chain.in[0] ? ", not both" : "");
	if (chain.in[0] && chain.dtype)
		return command_misuse(&plan_command, "--dtype goes with --shape");
	report.chain = &chain;
	chain_init(&report.built);
	status = show_plan(&report);
	accel_task_unref(report.task);
	accel_plan_unref(report.plan);
	chain_release(&report.built);
	return status;
}

const struct command plan_command = {
	.name = "plan",
	.summary = "what run would do, and why",
	.usage =
		"usage: accel plan --in IN.npy [OPTION]...\n"
		"       accel plan --shape SHAPE [--dtype TYPE] [OPTION]...\n"
		"\n"
		"Shows the chain of steps, the map that they make together, and the jobs that do\n"
		"it: loops, operands, windows, programs, the kernels of the CPU that they run\n"
		"with, and what they read and write. Takes the options of 'accel run'.\n"
		"\n"
		"  --shape SHAPE    an input of this shape, such as 1,64,56,56, in place of --in\n"
		"  --dtype TYPE     of this type, in place of f32\n"
		CHAIN_USAGE
		"  --counters       what the jobs would do to memory, and what a model of an\n"
		"                   accelerator makes of that\n"
		"  --json           as JSON: chain, map, class, jobs, bytes_read, bytes_written,\n"
		"                   passes_unfused, passes and more\n",
	.run = run_plan,
};
