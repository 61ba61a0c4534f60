// SPDX-License-Identifier: MIT
/*
 * accel run: reads tensors from .npy files, has a chain of transforms done to them, and writes the
 * result to another. A large result is made in slices of one axis.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "argument.h"
#include "chain_tensor.h"
#include "counters.h"
#include "device/counters.h"
#include "error.h"
#include "json.h"
#include "output.h"
#include "progress.h"
#include "run.h"
#include "verify.h"

/* Bytes of the result that are made at a time: enough to hide what a slice costs besides. */
#define SLICE_BYTES	((uint64_t)64 << 20)

/* Everything that a run holds; what is not there (yet) is NULL. */
struct run {
	const struct chain *chain;
	struct run_report *report;
	struct chain_function built;		/* of the slice under way */
	struct accel_device *device;
	struct output *output;
	struct accel_tensor *tensors[CHAIN_MAX_TENSORS];	/* the inputs; the rest NULL */
	struct accel_device *checker;		/* --verify: the CPU, and the inputs there */
	struct accel_tensor *checked[CHAIN_MAX_TENSORS];
	uint32_t axis;				/* of the result: slices are rows along it */
	int64_t axis_rows;			/* 1 if the result has no axes */
	int64_t num_rows;			/* at all indices of the axes before it */
	int64_t num_done;
	int64_t slice_rows;
	uint64_t row_bytes;
	struct accel_buffer *slice;		/* slice_rows of the result */
	struct accel_buffer *checked_slice;
};

/* The first axis of which a slice can hold a row: the library has seen to it that bytes fit. */
static void choose_rows(struct run *run)
{
	const struct chain_function *built = &run->built;

	run->axis_rows = built->rank ? built->shape[0] : 1;
	run->num_rows = run->axis_rows;
	run->row_bytes = run->report->num_elements * accel_dtype_size(built->dtype);
	if (!run->row_bytes)
		return;
	run->row_bytes /= (uint64_t)run->axis_rows;
	while (run->row_bytes > SLICE_BYTES && run->axis + 1 < built->rank) {
		run->axis_rows = built->shape[++run->axis];
		run->num_rows *= run->axis_rows;
		run->row_bytes /= (uint64_t)run->axis_rows;
	}
}

static int open_device(struct run *run, struct accel_error *error)
{
	const char *name = run->chain->device ? run->chain->device : "auto";
	const char *priority = run->chain->priority ? run->chain->priority : "normal";
	bool is_low = !strcmp(priority, "low");
	int ret;

	if (!is_low && strcmp(priority, "normal"))
		return accel_error_set(error, -EINVAL, "--priority %s, expected normal or low",
				       priority);
	ret = command_open(name, &run->device, error);
	if (ret)
		return ret;
	ret = accel_device_set_priority(run->device,
					is_low ? ACCEL_PRIORITY_LOW : ACCEL_PRIORITY_NORMAL,
					error);
	return ret ? ret : accel_device_set_counting(run->device, run->chain->is_counted, error);
}

/* Whatever can be wrong with what was asked for shows here, before any work is done. */
static int prepare(struct run *run, struct accel_error *error)
{
	struct run_report *report = run->report;
	struct chain_function *built = &run->built;
	int ret = chain_build(run->chain, NULL, built, error);

	if (!ret)
		ret = open_device(run, error);
	if (!ret)
		ret = output_create(run->chain->out, &run->output, error);
	if (ret)
		return ret;
	accel_device_info(run->device, &report->device);
	report->in = built->inputs[0].header;
	report->out_dtype = built->dtype;
	report->out_rank = built->rank;
	memcpy(report->out_shape, built->shape, sizeof(built->shape));
	report->num_elements = 1;
	for (uint32_t i = 0; i < built->rank; i++)
		report->num_elements *= (uint64_t)built->shape[i];
	choose_rows(run);
	return 0;
}

static int load_inputs(struct accel_device *device, const struct chain_function *built,
		       struct accel_tensor **tensors, struct accel_error *error)
{
	int ret = 0;

	for (uint32_t i = 0; i < built->num_inputs && !ret; i++)
		ret = chain_load_input(device, &built->inputs[i], &tensors[i], error);
	return ret;
}

static int create_slice(struct accel_device *device, uint64_t size, struct accel_buffer **slice,
			struct accel_error *error)
{
	return accel_buffer_create(device, size ? size : 1, slice, error);
}

static int load(struct run *run, struct accel_error *error)
{
	uint64_t rows = run->row_bytes ? SLICE_BYTES / run->row_bytes : (uint64_t)run->axis_rows;
	uint64_t size;
	int ret;

	run->slice_rows = rows > (uint64_t)run->axis_rows ? run->axis_rows : (int64_t)rows;
	size = (uint64_t)run->slice_rows * run->row_bytes;
	ret = create_slice(run->device, size, &run->slice, error);
	if (!ret)
		ret = load_inputs(run->device, &run->built, run->tensors, error);
	if (ret || !run->chain->is_verified)
		return ret;
	ret = accel_open("cpu", &run->checker, error);
	if (!ret)
		ret = create_slice(run->checker, size, &run->checked_slice, error);
	return ret ? ret : load_inputs(run->checker, &run->built, run->checked, error);
}

/* A plan of the slice, run on one device. */
struct pass {
	struct accel_tensor **tensors;	/* the inputs; the output is put behind them */
	struct accel_buffer *slice;
	bool is_unfused;
	struct accel_plan *plan;
	struct accel_task *task;
};

static void add_times(struct run_report *report, struct accel_fence *fence)
{
	struct accel_fence_result result;
	struct accel_job_result job_result;
	struct accel_job_counters counters;

	if (accel_fence_result(fence, &result, NULL))
		return;
	report->total_ns += result.end_ns - result.submit_ns;
	for (uint32_t j = 0; j < result.num_jobs; j++) {
		if (!accel_fence_job_result(fence, j, &job_result, NULL))
			report->device_ns += job_result.device_ns;
		if (!accel_fence_job_counters(fence, j, &counters, NULL))
			counters_add(&report->counters, &counters);
	}
}

static int run_task(struct pass *pass, struct run_report *report, struct accel_error *error)
{
	struct accel_fence *fence;
	int ret = accel_task_submit(pass->task, NULL, 0, error);

	if (!ret)
		ret = accel_task_wait(pass->task, -1, error);
	if (!ret && report)
		ret = accel_task_fence(pass->task, &fence, error);
	if (ret || !report)
		return ret;
	add_times(report, fence);
	accel_fence_unref(fence);
	return 0;
}

static int run_pass(struct run *run, struct pass *pass, struct run_report *report,
		    struct accel_error *error)
{
	struct accel_plan_options options = { .is_unfused = pass->is_unfused };
	const struct chain_function *built = &run->built;
	struct accel_tensor **output = &pass->tensors[built->num_inputs];
	int ret;

	ret = accel_plan_create(built->function, &options, &pass->plan, error);
	if (!ret)
		ret = accel_tensor_from_buffer(pass->slice, built->dtype, built->rank, built->shape,
					       NULL, 0, output, error);
	if (!ret)
		ret = accel_task_create(pass->plan, built->num_inputs + 1, pass->tensors,
					&pass->task, error);
	if (!ret)
		ret = run_task(pass, report, error);
	accel_task_unref(pass->task);
	accel_tensor_unref(*output);
	*output = NULL;
	return ret;
}

static void add_costs(struct run_report *report, const struct accel_plan *plan)
{
	struct accel_plan_info info;

	accel_plan_info(plan, &info);
	report->num_jobs += info.num_jobs;
	report->passes = info.passes;
	report->bytes_read += info.bytes_read;
	report->bytes_written += info.bytes_written;
}

/* From one order of axes to another, and nothing else: what verify_copy() knows by itself. */
static bool is_reorder(const struct chain *chain)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	return !chain->num_steps && !chain->unpack && chain->from && chain->to &&
	       chain->from[strspn(chain->from, letters)] == '\0' &&
	       chain->to[strspn(chain->to, letters)] == '\0';
}

static int verify_reorder(const struct run *run, const struct chain_rows *rows, const void *data,
			  struct accel_error *error)
{
	const struct npy_header *in = &run->report->in;
	int64_t row_elements = (int64_t)(run->row_bytes / accel_dtype_size(in->dtype));
	struct verify_copy copy = {
		.from = run->chain->from,
		.to = run->chain->to,
		.shape = in->shape,
		.is_fortran = in->is_fortran,
		.element_size = accel_dtype_size(in->dtype),
		.first_element = run->num_done * row_elements,
		.num_elements = rows->count * row_elements,
	};
	void *input;
	int ret = accel_buffer_map(accel_tensor_buffer(run->checked[0]), &input, error);

	return ret ? ret : verify_copy(&copy, input, data, error);
}

/* The same slice a step at a time, on the CPU. */
static int verify_slice(struct run *run, const struct chain_rows *rows, const void *data,
			uint64_t size, struct accel_error *error)
{
	struct pass pass = {
		.tensors = run->checked, .slice = run->checked_slice, .is_unfused = true
	};
	void *expected;
	int ret;

	if (is_reorder(run->chain))
		return verify_reorder(run, rows, data, error);
	ret = run_pass(run, &pass, NULL, error);
	accel_plan_unref(pass.plan);
	if (!ret)
		ret = accel_buffer_map(run->checked_slice, &expected, error);
	return ret ? ret : verify_equal(data, expected, size, accel_dtype_size(run->built.dtype),
					error);
}

static int make_slice(struct run *run, const struct chain_rows *rows, struct accel_error *error)
{
	struct pass pass = {
		.tensors = run->tensors, .slice = run->slice, .is_unfused = run->chain->is_unfused
	};
	uint64_t size = (uint64_t)rows->count * run->row_bytes;
	void *data;
	int ret;

	if (rows->count != run->num_rows) {
		ret = chain_build(run->chain, rows, &run->built, error);
		if (ret)
			return ret;
	}
	ret = run_pass(run, &pass, run->report, error);
	if (!ret) {
		add_costs(run->report, pass.plan);
		ret = accel_buffer_map(run->slice, &data, error);
	}
	accel_plan_unref(pass.plan);
	if (!ret && run->chain->is_verified)
		ret = verify_slice(run, rows, data, size, error);
	return ret ? ret : output_write(run->output, data, size, error);
}

/* The rows behind those that are done, as many as a slice holds and the axis has. */
static struct chain_rows next_rows(const struct run *run)
{
	struct chain_rows rows = { .axis = run->axis };
	int64_t row = run->num_done;

	for (uint32_t i = run->report->out_rank ? run->axis + 1 : 0; i--;
	     row /= run->report->out_shape[i])
		rows.index[i] = row % run->report->out_shape[i];
	rows.count = run->axis_rows - rows.index[run->axis];
	if (rows.count > run->slice_rows)
		rows.count = run->slice_rows;
	return rows;
}

static int make_slices(struct run *run, struct accel_error *error)
{
	struct progress progress;
	int ret = 0;

	progress_begin(&progress, "accel run", (uint64_t)run->num_rows);
	while (run->num_done < run->num_rows && !ret) {
		struct chain_rows rows = next_rows(run);

		ret = make_slice(run, &rows, error);
		run->num_done += rows.count;
		progress_show(&progress, (uint64_t)run->num_done);
	}
	progress_end(&progress);
	return ret;
}

/* What is only moved keeps the file's own name for its type: a truth value, a complex number. */
static const char *output_descr(const struct run *run)
{
	const struct run_report *report = run->report;
	bool is_computed = false;

	for (uint32_t i = 0; i < run->chain->num_steps; i++)
		is_computed |= run->chain->steps[i].kind == CHAIN_COMPUTE ||
			       run->chain->steps[i].kind == CHAIN_CAST;
	return is_computed ? npy_descr(report->out_dtype) : report->in.descr;
}

static int work(struct run *run, struct accel_error *error)
{
	const struct run_report *report = run->report;
	char bytes[NPY_MAX_FORMATTED];
	struct output *output = run->output;
	size_t size;
	int ret = load(run, error);

	if (ret)
		return ret;
	size = npy_format(output_descr(run), report->out_rank, report->out_shape, bytes);
	ret = output_write(output, bytes, size, error);
	if (!ret)
		ret = make_slices(run, error);
	if (ret)
		return ret;
	run->output = NULL;
	return output_commit(output, error);
}

static void release(struct run *run)
{
	for (uint32_t i = 0; i < CHAIN_MAX_TENSORS; i++) {
		accel_tensor_unref(run->tensors[i]);
		accel_tensor_unref(run->checked[i]);
	}
	accel_buffer_unref(run->slice);
	accel_buffer_unref(run->checked_slice);
	output_discard(run->output);
	accel_device_unref(run->device);
	accel_device_unref(run->checker);
	chain_release(&run->built);
}

int run_chain(const struct chain *chain, struct run_report *report, const char **text_at_fault,
	      struct accel_error *error)
{
	struct run run = { .chain = chain, .report = report };
	int status = STATUS_OK;

	memset(report, 0, sizeof(*report));
	chain_init(&run.built);
	chain_guard_files(true);
	if (prepare(&run, error))
		status = STATUS_USAGE;
	else if (work(&run, error))
		status = STATUS_FAILED;
	*text_at_fault = status == STATUS_USAGE ? run.built.text_at_fault : NULL;
	release(&run);
	chain_guard_files(false);
	return status;
}

/* The command ---------------------------------------------------------------------------------- */

static void print_text(const struct chain *chain, const struct run_report *report)
{
	char in_shape[COMMAND_SHAPE_SIZE], out_shape[COMMAND_SHAPE_SIZE];

	printf("%s: %s%s%s %s\n", chain->in[0], chain->from ? chain->from : "",
	       chain->from ? " " : "",
	       command_print_shape(in_shape, report->in.rank, report->in.shape),
	       accel_dtype_name(report->in.dtype));
	printf("%s: %s%s%s %s\n", chain->out, chain->to ? chain->to : "", chain->to ? " " : "",
	       command_print_shape(out_shape, report->out_rank, report->out_shape),
	       accel_dtype_name(report->out_dtype));
	printf("%s: %" PRIu64 " bytes read, %" PRIu64 " written, %u job%s, %.3f ms, %.3f ms of it "
	       "for the job%s alone%s\n", report->device.name, report->bytes_read,
	       report->bytes_written, report->num_jobs, report->num_jobs == 1 ? "" : "s",
	       (double)report->total_ns / 1e6, (double)report->device_ns / 1e6,
	       report->num_jobs == 1 ? "" : "s", chain->is_verified ? "; verified" : "");
}

static void print_json(const struct chain *chain, const struct run_report *report)
{
	struct json json = { .stream = stdout };

	json_begin_object(&json, NULL);
	json_string(&json, "in", chain->in[0]);
	json_string(&json, "out", chain->out);
	json_string(&json, "from", chain->from);
	json_string(&json, "to", chain->to);
	json_string(&json, "dtype", accel_dtype_name(report->in.dtype));
	json_string(&json, "out_dtype", accel_dtype_name(report->out_dtype));
	json_integers(&json, "in_shape", report->in.shape, report->in.rank);
	json_integers(&json, "out_shape", report->out_shape, report->out_rank);
	json_string(&json, "device", report->device.name);
	json_unsigned(&json, "jobs", report->num_jobs);
	json_unsigned(&json, "passes", report->passes);
	json_unsigned(&json, "bytes_read", report->bytes_read);
	json_unsigned(&json, "bytes_written", report->bytes_written);
	json_unsigned(&json, "total_ns", report->total_ns);
	json_unsigned(&json, "device_ns", report->device_ns);
	json_bool(&json, "verified", chain->is_verified);
	if (chain->is_counted)
		counters_write(&json, "counters", &report->counters, report->device.clock_khz);
	json_end_object(&json);
}

static int run_run(int argc, char **argv)
{
	struct run_report report;
	struct accel_error error;
	struct chain chain;
	const char *text;
	int status = chain_parse(&run_command, argc, argv, &chain);

	if (status)
		return status;
	if (!chain.in[0])
		return command_misuse(&run_command, "--in is missing");
	if (!chain.out)
		return command_misuse(&run_command, "--out is missing");
	if (chain.shape || chain.dtype)
		return command_misuse(&run_command, "--%s: the input's is known; it is for accel "
				      "plan", chain.shape ? "shape" : "dtype");
	status = run_chain(&chain, &report, &text, &error);
	if (status)
		return text ? argument_fail(&run_command, text, &error) :
			      command_fail(&run_command, status, &error);
	if (chain.is_json)
		print_json(&chain, &report);
	else
		print_text(&chain, &report);
	if (chain.is_counted && !chain.is_json)
		counters_print(&report.counters, report.device.clock_khz);
	return STATUS_OK;
}

const struct command run_command = {
	.name = "run",
	.summary = "transform tensors in .npy files",
	.usage =
		"usage: accel run --in IN.npy --out OUT.npy [OPTION]...\n"
		"\n"
		"Reads a tensor, does to it what the options say, in the order in which they are\n"
		"written, and writes the result: all in one pass over memory where that can be.\n"
		"'accel plan' with the same options shows how.\n"
		"\n"
		CHAIN_USAGE
		"\n"
		"  --out PATH       the output, with the physical shape of --to; replaced as a\n"
		"                   whole, or not at all\n"
		"  --device NAME    auto (the first Tessera, else the CPU), cpu, or a node's path\n"
		"  --priority WHAT  normal, or low: others go before, where the device is shared\n"
		"  --verify         compare with the same steps done one at a time on the CPU\n"
		"  --counters       count what the jobs do to memory, and model what it costs\n"
		"  --json           report as JSON\n",
	.run = run_run,
};
