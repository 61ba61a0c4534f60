// SPDX-License-Identifier: MIT
/*
 * accel run: reads a tensor from a .npy file, has its layout changed, and writes it to another.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "json.h"
#include "output.h"
#include "run.h"
#include "verify.h"

/* Everything that a run holds; what is not there (yet) is NULL or -1. */
struct run {
	const struct run_request *request;
	struct run_report *report;
	int in_fd;
	struct accel_layout *from;
	struct accel_layout *to;	/* over the axes of from */
	struct accel_device *device;
	struct output *output;
	struct accel_tensor *src;
	struct accel_tensor *dst;
};

static int parse_layouts(struct run *run, struct accel_error *error)
{
	const struct run_request *request = run->request;
	const struct npy_header *in = &run->report->in;
	int ret = accel_layout_parse(request->from, NULL, &run->from, error);

	if (!ret)
		ret = accel_layout_parse(request->to, accel_layout_axes(run->from), &run->to,
					 error);
	if (ret)
		return ret;
	if (accel_layout_rank(run->from) != in->rank)
		return accel_error_set(error, -EINVAL,
				       "--from %s names %u axes, %s has %u", request->from,
				       accel_layout_rank(run->from), request->in, in->rank);
	/* strides say nothing of an output file's shape; those of an input are the file's own */
	ret = accel_layout_physical_shape(run->from, in->rank, in->shape, run->report->out_shape,
					  error);
	if (ret)
		return ret;
	return accel_layout_physical_shape(run->to, in->rank, in->shape, run->report->out_shape,
					   error);
}

/* Whatever can be wrong with what was asked for shows here, before any work is done. */
static int prepare(struct run *run, struct accel_error *error)
{
	int ret = npy_open(run->request->in, &run->report->in, &run->in_fd, error);

	if (!ret)
		ret = parse_layouts(run, error);
	if (!ret)
		ret = command_open(run->request->device, &run->device, error);
	if (!ret)
		ret = output_create(run->request->out, &run->output, error);
	if (!ret)
		accel_device_info(run->device, &run->report->device);
	return ret;
}

/* The input's strides are those of the file: its data goes into the buffer as it is. */
static int create_source(struct run *run, struct accel_error *error)
{
	const struct npy_header *in = &run->report->in;
	int64_t strides[ACCEL_MAX_DIMS];
	struct accel_buffer *buffer;
	int64_t stride = 1;
	int ret;

	for (uint32_t i = 0; i < in->rank; i++) {
		uint32_t axis = in->is_fortran ? i : in->rank - 1 - i;

		strides[axis] = stride;
		/* an empty shape may have extents of any size; its strides do not matter */
		if (in->num_elements)
			stride *= in->shape[axis];
	}
	ret = accel_buffer_create(run->device, in->data_size ? in->data_size : 1, &buffer, error);
	if (ret)
		return ret;
	ret = accel_tensor_from_buffer(buffer, in->dtype, in->rank, in->shape, strides, 0,
				       &run->src, error);
	accel_buffer_unref(buffer);
	return ret;
}

static int create_tensors(struct run *run, struct accel_error *error)
{
	const struct npy_header *in = &run->report->in;
	int ret = create_source(run, error);

	if (ret)
		return ret;
	return accel_tensor_create(run->device, in->dtype, in->rank, in->shape, run->to, &run->dst,
				   error);
}

static int copy(struct run *run, struct accel_error *error)
{
	struct run_report *report = run->report;
	struct accel_fence_result result;
	struct accel_job_result job_result;
	struct accel_fence *fence;
	int ret = accel_copy_async(run->dst, run->src, &fence, error);

	if (ret)
		return ret;
	ret = accel_fence_wait(fence, -1, error);
	if (!ret)
		ret = accel_fence_result(fence, &result, error);
	if (!ret)
		ret = accel_fence_job_result(fence, 0, &job_result, error);
	accel_fence_unref(fence);
	if (ret)
		return ret;
	report->total_ns = result.end_ns - result.submit_ns;
	report->device_ns = job_result.device_ns;
	report->bytes_read = report->in.data_size;
	report->bytes_written = report->in.data_size;
	return 0;
}

static int write_output(struct run *run, const void *data, struct accel_error *error)
{
	const struct npy_header *in = &run->report->in;
	char bytes[NPY_MAX_FORMATTED];
	size_t size = npy_format(in->descr, in->rank, run->report->out_shape, bytes);
	struct output *output = run->output;
	int ret = output_write(output, bytes, size, error);

	if (!ret)
		ret = output_write(output, data, in->data_size, error);
	if (ret)
		return ret;
	run->output = NULL;
	return output_commit(output, error);
}

static int work(struct run *run, struct accel_error *error)
{
	const struct run_request *request = run->request;
	const struct npy_header *in = &run->report->in;
	struct verify_copy verification = {
		.from = request->from,
		.to = request->to,
		.shape = in->shape,
		.is_fortran = in->is_fortran,
		.element_size = accel_dtype_size(in->dtype),
	};
	void *src_data, *dst_data;
	int ret = create_tensors(run, error);

	if (!ret)
		ret = accel_buffer_map(accel_tensor_buffer(run->src), &src_data, error);
	if (!ret)
		ret = accel_buffer_map(accel_tensor_buffer(run->dst), &dst_data, error);
	if (!ret)
		ret = npy_read(run->in_fd, request->in, in, src_data, error);
	if (!ret)
		ret = copy(run, error);
	if (!ret && request->is_verified)
		ret = verify_copy(&verification, src_data, dst_data, error);
	return ret ? ret : write_output(run, dst_data, error);
}

static void release(struct run *run)
{
	accel_tensor_unref(run->dst);
	accel_tensor_unref(run->src);
	output_discard(run->output);
	accel_device_unref(run->device);
	accel_layout_unref(run->to);
	accel_layout_unref(run->from);
	if (run->in_fd >= 0)
		close(run->in_fd);
}

int run_file(const struct run_request *request, struct run_report *report,
	     struct accel_error *error)
{
	struct run run = { .request = request, .report = report, .in_fd = -1 };
	int status = STATUS_OK;

	memset(report, 0, sizeof(*report));
	if (prepare(&run, error))
		status = STATUS_USAGE;
	else if (work(&run, error))
		status = STATUS_FAILED;
	release(&run);
	return status;
}

static void print_text(const struct run_request *request, const struct run_report *report)
{
	char in_shape[COMMAND_SHAPE_SIZE], out_shape[COMMAND_SHAPE_SIZE];

	printf("%s: %s %s %s\n", request->in, request->from,
	       command_print_shape(in_shape, report->in.rank, report->in.shape),
	       accel_dtype_name(report->in.dtype));
	printf("%s: %s %s %s\n", request->out, request->to,
	       command_print_shape(out_shape, report->in.rank, report->out_shape),
	       accel_dtype_name(report->in.dtype));
	printf("%s: %" PRIu64 " bytes read, %" PRIu64 " written, %.3f ms, %.3f ms of it for the "
	       "job alone%s\n", report->device.name, report->bytes_read, report->bytes_written,
	       (double)report->total_ns / 1e6, (double)report->device_ns / 1e6,
	       request->is_verified ? "; verified" : "");
}

static void print_json(const struct run_request *request, const struct run_report *report)
{
	struct json json = { .stream = stdout };

	json_begin_object(&json, NULL);
	json_string(&json, "in", request->in);
	json_string(&json, "out", request->out);
	json_string(&json, "from", request->from);
	json_string(&json, "to", request->to);
	json_string(&json, "dtype", accel_dtype_name(report->in.dtype));
	json_integers(&json, "in_shape", report->in.shape, report->in.rank);
	json_integers(&json, "out_shape", report->out_shape, report->in.rank);
	json_string(&json, "device", report->device.name);
	json_unsigned(&json, "bytes_read", report->bytes_read);
	json_unsigned(&json, "bytes_written", report->bytes_written);
	json_unsigned(&json, "total_ns", report->total_ns);
	json_unsigned(&json, "device_ns", report->device_ns);
	json_bool(&json, "verified", request->is_verified);
	json_end_object(&json);
}

/* Options that take a value, and where it goes. */
static const struct {
	const char *name;
	size_t offset;
} valued_options[] = {
	{ "in", offsetof(struct run_request, in) },
	{ "out", offsetof(struct run_request, out) },
	{ "from", offsetof(struct run_request, from) },
	{ "to", offsetof(struct run_request, to) },
	{ "device", offsetof(struct run_request, device) },
};

#define NUM_REQUIRED 4	/* the first of them */

static const char **value_of(struct run_request *request, size_t i)
{
	return (const char **)((char *)request + valued_options[i].offset);
}

static int parse_arguments(int argc, char **argv, struct run_request *request, bool *is_json)
{
	static const struct option options[] = {
		{ "in", required_argument, NULL, 0 },
		{ "out", required_argument, NULL, 1 },
		{ "from", required_argument, NULL, 2 },
		{ "to", required_argument, NULL, 3 },
		{ "device", required_argument, NULL, 4 },
		{ "verify", no_argument, NULL, 'v' },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	int option;

	optind = 0;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == '?')
			return command_misuse(&run_command, "bad option");
		if (option == 'v')
			request->is_verified = true;
		else if (option == 'j')
			*is_json = true;
		else if (*value_of(request, (size_t)option))
			return command_misuse(&run_command, "--%s is given twice",
					      valued_options[option].name);
		else
			*value_of(request, (size_t)option) = optarg;
	}
	if (optind < argc)
		return command_misuse(&run_command, "argument '%s', expected options alone",
				      argv[optind]);
	for (size_t i = 0; i < NUM_REQUIRED; i++) {
		if (!*value_of(request, i))
			return command_misuse(&run_command, "--%s is missing",
					      valued_options[i].name);
	}
	if (!request->device)
		request->device = "auto";
	return STATUS_OK;
}

static int run_run(int argc, char **argv)
{
	struct run_request request = { 0 };
	struct run_report report;
	struct accel_error error;
	bool is_json = false;
	int status = parse_arguments(argc, argv, &request, &is_json);

	if (status)
		return status;
	status = run_file(&request, &report, &error);
	if (status)
		return command_fail(&run_command, status, &error);
	if (is_json)
		print_json(&request, &report);
	else
		print_text(&request, &report);
	return STATUS_OK;
}

const struct command run_command = {
	.name = "run",
	.summary = "change the layout of a tensor in a .npy file",
	.usage =
		"usage: accel run --in IN.npy --out OUT.npy --from ORDER --to ORDER\n"
		"                 [--device auto|cpu|PATH] [--verify] [--json]\n"
		"\n"
		"Reads a tensor, has its elements put into another order, and writes the result.\n"
		"\n"
		"  --in PATH      the input\n"
		"  --out PATH     the output; replaced as a whole, or not at all\n"
		"  --from ORDER   the axes of the input, outermost first: NCHW\n"
		"  --to ORDER     the axes of the output, the same letters: NHWC\n"
		"  --device NAME  auto (the first Tessera, else the CPU), cpu, or a node's path\n"
		"  --verify       compare the result with the input, element by element\n"
		"  --json         report as JSON\n",
	.run = run_run,
};
