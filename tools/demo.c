// SPDX-License-Identifier: MIT
/*
 * accel demo: one layout conversion of a small network from its cause to its proof, told so
 * that a person can follow it. Every number printed is computed, none is written down.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "argument.h"
#include "error.h"
#include "output.h"
#include "run.h"
#include "verify.h"

/* The network --------------------------------------------------------------------------------- */

/* An operator with the layouts that it requires; NULL: it takes any, and gives what it took. */
static const struct operator {
	const char *name;
	const char *takes;
	const char *gives;
} network[] = {
	{ "conv1", "NCHW", "NCHW" },
	{ "relu", NULL, NULL },
	{ "conv2", "NHWC", "NHWC" },
};

#define NUM_OPERATORS (sizeof(network) / sizeof(network[0]))

/* The logical axes of its tensors, and what is between conv1 and conv2. */
static const char axes[] = "NCHW";
static const int64_t shape[] = { 1, 64, 56, 56 };
static const int64_t sample_index[] = { 0, 32, 28, 28 };

#define RANK 4

struct mismatch {
	const struct operator *producer;
	const struct operator *consumer;
};

/* The first operator that does not get what it takes. */
static bool find_mismatch(struct mismatch *mismatch)
{
	const struct operator *producer = &network[0];

	for (size_t i = 1; i < NUM_OPERATORS; i++) {
		const struct operator *consumer = &network[i];

		if (consumer->takes && strcmp(consumer->takes, producer->gives)) {
			mismatch->producer = producer;
			mismatch->consumer = consumer;
			return true;
		}
		if (consumer->gives)
			producer = consumer;
	}
	return false;
}

static void show_network(const struct mismatch *mismatch)
{
	char text[COMMAND_SHAPE_SIZE];

	printf("1. A network: conv1 -> relu -> conv2, between them N,C,H,W = %s of f32\n\n",
	       command_print_shape(text, RANK, shape));
	printf("     operator  takes  gives\n");
	for (size_t i = 0; i < NUM_OPERATORS; i++)
		printf("     %-8s  %-5s  %s\n", network[i].name,
		       network[i].takes ? network[i].takes : "any",
		       network[i].gives ? network[i].gives : "what it took");
	printf("\n   Mismatch: %s gives %s, %s takes %s. The layout has to change once between\n"
	       "   them; relu takes any layout, so it is computed on the way.\n\n",
	       mismatch->producer->name, mismatch->producer->gives,
	       mismatch->consumer->name, mismatch->consumer->takes);
}

/* The conversion ------------------------------------------------------------------------------ */

/* The conversion on one device. */
struct conversion {
	struct accel_device *device;
	struct accel_device_info info;
	struct accel_tensor *src;
	struct accel_tensor *dst;
	struct accel_job *job;
	void *src_data;
	void *dst_data;
	struct accel_fence_result result;
	struct accel_job_result job_result;
};

static int create_tensor(struct conversion *conversion, const char *order,
			 struct accel_tensor **tensor, void **data, struct accel_error *error)
{
	struct accel_layout *layout;
	int ret = accel_layout_parse(order, axes, &layout, error);

	if (ret)
		return ret;
	ret = accel_tensor_create(conversion->device, ACCEL_DTYPE_F32, RANK, shape, layout, tensor,
				  error);
	accel_layout_unref(layout);
	return ret ? ret : accel_buffer_map(accel_tensor_buffer(*tensor), data, error);
}

/* relu(x) = max(x, 0), as a program of the job that copies */
static int add_relu(struct accel_job *job, struct accel_error *error)
{
	static const struct accel_instruction program[] = {
		{ .opcode = ACCEL_OP_CONST, .dtype = ACCEL_DTYPE_F32, .dst = 1, .immediate = 0 },
		{ .opcode = ACCEL_OP_MAX, .dtype = ACCEL_DTYPE_F32, .dst = 0, .src = { 0, 1 } },
	};
	int ret = 0;

	for (size_t i = 0; i < sizeof(program) / sizeof(program[0]) && !ret; i++)
		ret = accel_job_add_instruction(job, &program[i], error);
	return ret;
}

/* What relu leaves of an element, for the check: in plain C, away from the program above. */
static void expect_relu(void *element)
{
	float value;

	memcpy(&value, element, sizeof(value));
	if (!(value > 0))
		value = 0;
	memcpy(element, &value, sizeof(value));
}

/* What conv1 would give: numbers of both signs, the same in every run. */
static void fill_source(float *data, int64_t count)
{
	uint32_t state = 1;

	for (int64_t i = 0; i < count; i++) {
		/* Numerical Recipes' generator: good enough to tell elements apart */
		state = state * 1664525 + 1013904223;
		data[i] = (float)(int32_t)state / (float)(1 << 29);
	}
}

static int prepare_conversion(struct conversion *conversion, const char *device,
			      const struct mismatch *mismatch, struct accel_error *error)
{
	int ret;

	memset(conversion, 0, sizeof(*conversion));
	ret = command_open(device, &conversion->device, error);
	if (ret)
		return ret;
	accel_device_info(conversion->device, &conversion->info);
	ret = create_tensor(conversion, mismatch->producer->gives, &conversion->src,
			    &conversion->src_data, error);
	if (!ret)
		ret = create_tensor(conversion, mismatch->consumer->takes, &conversion->dst,
				    &conversion->dst_data, error);
	if (ret)
		return ret;
	fill_source(conversion->src_data, accel_tensor_num_elements(conversion->src));
	ret = accel_job_create_copy(conversion->dst, conversion->src, &conversion->job, error);
	return ret ? ret : add_relu(conversion->job, error);
}

static void release_conversion(struct conversion *conversion)
{
	accel_job_unref(conversion->job);
	accel_tensor_unref(conversion->dst);
	accel_tensor_unref(conversion->src);
	accel_device_unref(conversion->device);
}

static int run_conversion(struct conversion *conversion, struct accel_error *error)
{
	struct accel_fence *fence;
	int ret = accel_submit(conversion->device, &conversion->job, 1, NULL, 0, &fence, error);

	if (ret)
		return ret;
	ret = accel_fence_wait(fence, -1, error);
	if (!ret)
		ret = accel_fence_result(fence, &conversion->result, error);
	if (!ret)
		ret = accel_fence_job_result(fence, 0, &conversion->job_result, error);
	accel_fence_unref(fence);
	return ret;
}

static int check_conversion(const struct conversion *conversion, const struct mismatch *mismatch,
			    struct accel_error *error)
{
	struct verify_copy copy = {
		.from = mismatch->producer->gives,
		.to = mismatch->consumer->takes,
		.shape = shape,
		.element_size = sizeof(float),
		.expect = expect_relu,
	};

	return verify_copy(&copy, conversion->src_data, conversion->dst_data, error);
}

/* What is printed ------------------------------------------------------------------------------ */

static int show_layouts(const struct conversion *conversion, const struct mismatch *mismatch,
			struct accel_error *error)
{
	char text[COMMAND_SHAPE_SIZE];
	int64_t src_element, dst_element;
	int ret = accel_tensor_element(conversion->src, sample_index, &src_element, error);

	if (!ret)
		ret = accel_tensor_element(conversion->dst, sample_index, &dst_element, error);
	if (ret)
		return ret;
	printf("2. The two layouts: how far apart neighbours on the axes %s are, in elements\n\n",
	       axes);
	printf("     source       %s  strides %s\n", mismatch->producer->gives,
	       command_print_shape(text, RANK, accel_tensor_strides(conversion->src)));
	printf("     destination  %s  strides %s\n\n", mismatch->consumer->takes,
	       command_print_shape(text, RANK, accel_tensor_strides(conversion->dst)));
	printf("   Index %s is element %" PRId64 " of the source and element %" PRId64
	       " of the destination.\n\n", command_print_shape(text, RANK, sample_index),
	       src_element, dst_element);
	return 0;
}

static void show_operand(const char *name, const struct accel_operand *operand, uint32_t rank)
{
	char text[COMMAND_SHAPE_SIZE];

	printf("     %-12s %s at byte %" PRId64 ", strides %s bytes, a buffer of %" PRIu64
	       " bytes\n", name, accel_dtype_name(operand->dtype), operand->address.offset,
	       command_print_shape(text, rank, operand->address.strides),
	       accel_buffer_size(operand->buffer));
}

static void show_job(const struct conversion *conversion)
{
	uint64_t extents[ACCEL_MAX_RANK];
	uint32_t rank = accel_job_extents(conversion->job, extents);
	struct accel_operand src, dst;
	char text[COMMAND_SHAPE_SIZE];
	int64_t printed[ACCEL_MAX_RANK];

	if (accel_job_operand(conversion->job, 0, &dst) ||
	    accel_job_operand(conversion->job, 1, &src))
		return;
	for (uint32_t i = 0; i < rank; i++)
		printed[i] = (int64_t)extents[i];
	printf("3. The job for %s: one loop nest, the copy and relu in one pass\n\n",
	       conversion->info.name);
	printf("     loops        rank %u, extents %s: axes that run on in both are one loop\n",
	       rank, command_print_shape(text, rank, printed));
	show_operand("source", &src, rank);
	show_operand("destination", &dst, rank);
	printf("     program      r1 = 0; r0 = max(r0, r1)\n\n");
}

static void show_times(const struct conversion *conversion)
{
	double total_ms =
		(double)(conversion->result.end_ns - conversion->result.submit_ns) / 1e6;
	double device_ms = (double)conversion->job_result.device_ns / 1e6;

	if (conversion->info.kind == ACCEL_DEVICE_TESSERA)
		printf("     time         %.3f ms in the kernel, from submission to completion;\n"
		       "                  %.3f ms of it on the device\n", total_ms, device_ms);
	else
		printf("     time         %.3f ms from submission to completion, in this process\n",
		       total_ms);
}

static void show_run(const struct conversion *conversion)
{
	int64_t count = accel_tensor_num_elements(conversion->dst);

	printf("4. The run on %s\n\n", conversion->info.name);
	printf("     moved        %" PRId64 " bytes read, %" PRId64 " bytes written\n", 4 * count,
	       4 * count);
	show_times(conversion);
	printf("     result       all %" PRId64 " elements equal max(x, 0), compared point by "
	       "point\n\n", count);
}

/* The steps ------------------------------------------------------------------------------------ */

/* The whole conversion on one device, up to a result that has been checked. */
static int convert(struct conversion *conversion, const struct mismatch *mismatch,
		   struct accel_error *error)
{
	int ret = show_layouts(conversion, mismatch, error);

	if (ret)
		return ret;
	show_job(conversion);
	ret = run_conversion(conversion, error);
	if (!ret)
		ret = check_conversion(conversion, mismatch, error);
	if (ret)
		return ret;
	show_run(conversion);
	return 0;
}

static int compare_with_cpu(const struct conversion *conversion, const struct mismatch *mismatch,
			    struct accel_error *error)
{
	size_t size = (size_t)accel_tensor_num_elements(conversion->dst) * sizeof(float);
	struct conversion cpu;
	int ret = prepare_conversion(&cpu, "cpu", mismatch, error);

	if (!ret)
		ret = run_conversion(&cpu, error);
	if (!ret)
		ret = check_conversion(&cpu, mismatch, error);
	if (!ret && memcmp(cpu.dst_data, conversion->dst_data, size))
		ret = accel_error_set(error, -EIO, "the result of %s and the result of the CPU "
				      "differ, expected the same bits", conversion->info.name);
	if (!ret) {
		printf("5. The same job on the CPU backend\n\n");
		show_times(&cpu);
		printf("     result       %zu bytes, equal bit for bit to those of %s\n\n", size,
		       conversion->info.name);
	}
	release_conversion(&cpu);
	return ret;
}

/* The photograph ------------------------------------------------------------------------------- */

static const int64_t photograph_shape[] = { 1080, 1920, 3 };

#define PHOTOGRAPH_SIZE (1080 * 1920 * 3)

/* A sky over a field with the grain of a sensor: smooth in space, no two channels alike. */
static void paint_photograph(unsigned char *pixels)
{
	int64_t height = photograph_shape[0], width = photograph_shape[1];
	uint32_t state = 1;

	for (int64_t y = 0; y < height; y++) {
		for (int64_t x = 0; x < width; x++) {
			int64_t light = 160 * (height - y) / height + 60 * x / width;
			bool is_sky = y < height * 5 / 9;

			for (int channel = 0; channel < 3; channel++) {
				int64_t tint = is_sky ? 10 * channel : 20 - 10 * channel;

				state = state * 1664525 + 1013904223;
				*pixels++ = (unsigned char)(light + tint + (state >> 29));
			}
		}
	}
}

static int write_photograph(const char *path, struct accel_error *error)
{
	unsigned char *pixels = malloc(PHOTOGRAPH_SIZE);
	char header[NPY_MAX_FORMATTED];
	size_t header_size = npy_format("|u1", 3, photograph_shape, header);
	struct output *output = NULL;
	int ret;

	if (!pixels)
		return accel_error_set(error, -ENOMEM, "photograph: out of memory");
	paint_photograph(pixels);
	ret = output_create(path, &output, error);
	if (!ret)
		ret = output_write(output, header, header_size, error);
	if (!ret)
		ret = output_write(output, pixels, PHOTOGRAPH_SIZE, error);
	if (ret)
		output_discard(output);
	else
		ret = output_commit(output, error);
	free(pixels);
	return ret;
}

static void show_photograph(const struct chain *chain, const struct run_report *report)
{
	char text[COMMAND_SHAPE_SIZE];

	printf("     input        %s: %s %s, %s\n", chain->in[0], chain->from,
	       command_print_shape(text, report->in.rank, report->in.shape),
	       accel_dtype_name(report->in.dtype));
	printf("     output       %s: %s %s, %s\n", chain->out, chain->to,
	       command_print_shape(text, report->out_rank, report->out_shape),
	       accel_dtype_name(report->out_dtype));
	printf("     moved        %" PRIu64 " bytes read, %" PRIu64 " bytes written, on %s\n",
	       report->bytes_read, report->bytes_written, report->device.name);
	printf("     time         %.3f ms from submission to completion, %.3f ms of it for the job "
	       "alone\n", (double)report->total_ns / 1e6, (double)report->device_ns / 1e6);
	printf("     result       all %" PRIu64 " elements equal, compared point by point\n\n",
	       report->num_elements);
}

static int convert_photograph(const char *device, struct accel_error *error)
{
	const char *parent = getenv("TMPDIR");
	char folder[256], in[300], out[300];
	struct chain chain = {
		.in = { in }, .out = out, .from = "HWC", .to = "CHW",
		.device = device, .is_verified = true,
	};
	struct run_report report;
	const char *text;
	int ret;

	snprintf(folder, sizeof(folder), "%.200s/accel-demo-XXXXXX",
		 parent && *parent ? parent : "/tmp");
	if (!mkdtemp(folder))
		return accel_error_set(error, -errno, "%s: %s", folder, strerror(errno));
	snprintf(in, sizeof(in), "%s/photograph.npy", folder);
	snprintf(out, sizeof(out), "%s/planes.npy", folder);
	printf("6. A photograph, from a file to a file, as 'accel run --verify' does it\n\n");
	ret = write_photograph(in, error);
	if (!ret && run_chain(&chain, &report, &text, error))
		ret = error->code;
	if (!ret)
		show_photograph(&chain, &report);
	unlink(out);
	unlink(in);
	rmdir(folder);
	return ret;
}

/* The command ---------------------------------------------------------------------------------- */

static int tell(const char *device, const struct mismatch *mismatch,
		struct conversion *conversion, struct accel_error *error)
{
	int ret;

	if (!strcmp(device, "auto") && conversion->info.kind == ACCEL_DEVICE_CPU)
		printf("There is no Tessera device here: all of this runs on the CPU.\n\n");
	show_network(mismatch);
	ret = convert(conversion, mismatch, error);
	if (!ret)
		ret = compare_with_cpu(conversion, mismatch, error);
	if (!ret)
		ret = convert_photograph(device, error);
	if (!ret)
		printf("All results are right.\n");
	return ret;
}

static int run_demo(int argc, char **argv)
{
	static const struct argument_option options[] = { { "device", ARGUMENT_TEXT, 0, 0 } };
	struct conversion conversion;
	struct accel_error error;
	struct mismatch mismatch;
	const char *device = "auto";
	int status = argument_parse_all(&demo_command, argc, argv, options, 1, &device);

	if (status)
		return status;
	if (!find_mismatch(&mismatch)) {
		printf("The operators agree on their layouts: there is nothing to convert.\n");
		return STATUS_OK;
	}
	if (prepare_conversion(&conversion, device, &mismatch, &error)) {
		status = command_fail(&demo_command,
				      conversion.device ? STATUS_FAILED : STATUS_USAGE, &error);
		goto out_release;
	}
	if (tell(device, &mismatch, &conversion, &error)) {
		fflush(stdout);
		status = command_fail(&demo_command, STATUS_FAILED, &error);
	}

out_release:
	release_conversion(&conversion);
	return status;
}

const struct command demo_command = {
	.name = "demo",
	.summary = "one layout conversion, from its cause to its proof",
	.usage =
		"usage: accel demo [--device auto|cpu|PATH]\n"
		"\n"
		"A network needs a tensor in another layout: what the mismatch is, which job\n"
		"mends it, what the device does, and that the result is right. Then a\n"
		"photograph.\n"
		"\n"
		"  --device NAME  auto (the first Tessera, else the CPU), cpu, or a node's path\n",
	.run = run_demo,
};
