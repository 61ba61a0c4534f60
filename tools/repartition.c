// SPDX-License-Identifier: MIT
/*
 * accel repartition: moves a tensor from one distribution over PEs to another, and says how many
 * bytes that takes between which PEs and over which links.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "argument.h"
#include "json.h"
#include "verify.h"

struct repartition_arguments {
	const char *in;
	const char *out;		/* NULL: not asked for */
	const char *from;
	const char *to;
	const char *device;
	bool is_verified;
	bool is_json;
};

/* What is made on the way, and what came of it. */
struct session {
	const struct repartition_arguments *arguments;
	struct accel_device *device;
	struct accel_device_info info;
	struct accel_layout *to_layout;
	struct accel_tensor *tensor;		/* of the file, then of the distribution again */
	struct accel_distribution *whole, *from, *to;
	struct accel_repartition *repartition;
	uint64_t total_ns;
};

static void release(struct session *session)
{
	accel_repartition_unref(session->repartition);
	accel_distribution_unref(session->to);
	accel_distribution_unref(session->from);
	accel_distribution_unref(session->whole);
	accel_tensor_unref(session->tensor);
	accel_layout_unref(session->to_layout);
	accel_device_unref(session->device);
}

/* Moving --------------------------------------------------------------------------------------- */

static int distribute(struct session *session, const char *option, struct accel_layout *layout,
		      struct accel_distribution **distribution, struct accel_error *error)
{
	const struct accel_tensor *tensor = session->tensor;
	int ret;

	ret = accel_distribution_create(session->device, accel_tensor_dtype(tensor),
					accel_tensor_rank(tensor), accel_tensor_shape(tensor),
					layout, distribution, error);
	return ret ? argument_blame(option, error) : 0;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int run(struct accel_repartition *repartition, uint64_t *total_ns,
	       struct accel_error *error)
{
	uint64_t start_ns = now_ns();
	int ret = accel_repartition_submit(repartition, NULL, 0, error);

	if (!ret)
		ret = accel_repartition_wait(repartition, -1, error);
	*total_ns = now_ns() - start_ns;
	return ret;
}

/* The same for what is not reported. */
static int move(struct accel_distribution *dst, struct accel_distribution *src,
		struct accel_error *error)
{
	struct accel_repartition *repartition;
	uint64_t ignored;
	int ret = accel_repartition_create(dst, src, &repartition, error);

	if (!ret)
		ret = run(repartition, &ignored, error);
	accel_repartition_unref(repartition);
	return ret;
}

/* Opens, reads and distributes the input. */
static int prepare(struct session *session, struct accel_layout *from_layout,
		   struct accel_error *error)
{
	const struct repartition_arguments *arguments = session->arguments;
	int ret;

	ret = command_open(arguments->device, &session->device, error);
	if (ret)
		return ret;
	accel_device_info(session->device, &session->info);
	ret = accel_tensor_load(session->device, arguments->in, &session->tensor, error);
	if (!ret)
		ret = accel_distribution_from_tensor(session->tensor, &session->whole, error);
	if (!ret)
		ret = distribute(session, "--from", from_layout, &session->from, error);
	if (!ret)
		ret = distribute(session, "--to", session->to_layout, &session->to, error);
	if (!ret)
		ret = move(session->from, session->whole, error);
	return ret;
}

/* Verifying ------------------------------------------------------------------------------------ */

/* The element that the layout has at an index, in the memory of the PE that it says. */
static int find_element(const struct session *session, int64_t part_elements,
			const int64_t *index, const uint8_t **bytes, struct accel_error *error)
{
	enum accel_dtype dtype = accel_tensor_dtype(session->tensor);
	struct accel_buffer *buffer;
	int64_t element;
	void *data;
	int ret;

	ret = accel_layout_element(session->to_layout, dtype, accel_tensor_rank(session->tensor),
				   accel_tensor_shape(session->tensor), index, &element, error);
	if (ret)
		return ret;
	buffer = accel_distribution_buffer(session->to, (uint32_t)(element / part_elements));
	ret = accel_buffer_map(buffer, &data, error);
	*bytes = (const uint8_t *)data + (size_t)(element % part_elements) *
		 accel_dtype_size(dtype);
	return ret;
}

/* Compares the memory of the PEs with the input, an element at a time. */
static int verify(const struct session *session, struct accel_error *error)
{
	const int64_t *shape = accel_tensor_shape(session->tensor);
	uint32_t rank = accel_tensor_rank(session->tensor);
	size_t size = accel_dtype_size(accel_tensor_dtype(session->tensor));
	struct accel_layout_description description;
	int64_t index[ACCEL_MAX_DIMS] = { 0 }, element;
	char text[COMMAND_SHAPE_SIZE];
	const uint8_t *found;
	void *input;
	int ret;

	ret = accel_layout_describe(session->to_layout, accel_tensor_dtype(session->tensor), rank,
				    shape, &description, error);
	if (!ret)
		ret = accel_buffer_map(accel_tensor_buffer(session->tensor), &input, error);
	if (ret || !accel_tensor_num_elements(session->tensor))
		return ret;
	do {
		ret = find_element(session, description.strides[0], index, &found, error);
		if (!ret)
			ret = accel_tensor_element(session->tensor, index, &element, error);
		if (ret)
			return ret;
		if (!memcmp(found, (const uint8_t *)input + (size_t)element * size, size))
			continue;
		*error = (struct accel_error){ .code = -EIO };
		snprintf(error->message, sizeof(error->message),
			 "the element at %.150s is not that of the input",
			 command_print_shape(text, rank, index));
		return -EIO;
	} while (verify_next(rank, shape, index));
	return 0;
}

/* Reporting ------------------------------------------------------------------------------------ */

static const char *const direction_names[] = { "east", "west", "south", "north" };

#define NUM_DIRECTIONS	(sizeof(direction_names) / sizeof(direction_names[0]))

static void print_text(const struct session *session)
{
	const struct repartition_arguments *arguments = session->arguments;
	struct accel_repartition_info info;
	char shape[COMMAND_SHAPE_SIZE];
	uint32_t num_pes = session->info.num_queues;

	accel_repartition_info(session->repartition, &info);
	printf("%s: %s %s\n", arguments->in,
	       command_print_shape(shape, accel_tensor_rank(session->tensor),
				   accel_tensor_shape(session->tensor)),
	       accel_dtype_name(accel_tensor_dtype(session->tensor)));
	printf("%s: %" PRIu64 " bytes, %" PRIu64 " of them from PE to PE, %u jobs in %u "
	       "submissions, %.3f ms%s\n", session->info.name, info.bytes, info.network_bytes,
	       info.num_jobs, info.num_submissions, (double)session->total_ns / 1e6,
	       arguments->is_verified ? "; verified" : "");
	for (uint32_t from = 0; from < num_pes; from++) {
		for (uint32_t to = 0; to < num_pes; to++) {
			uint64_t bytes = accel_repartition_bytes(session->repartition, from, to);

			if (bytes)
				printf("  PE %u to PE %u: %" PRIu64 " bytes\n", from, to, bytes);
		}
	}
	printf("links: %" PRIu64 " bytes, at most %" PRIu64 " over one\n", info.link_bytes,
	       info.max_link_bytes);
	for (uint32_t pe = 0; pe < ACCEL_MAX_PES; pe++) {
		for (uint32_t k = 0; k < NUM_DIRECTIONS; k++) {
			uint64_t bytes = accel_repartition_link_bytes(session->repartition, pe, k);

			if (bytes)
				printf("  PE %u %s: %" PRIu64 " bytes\n", pe, direction_names[k],
				       bytes);
		}
	}
}

static void print_pairs(struct json *json, const struct session *session)
{
	json_begin_array(json, "pairs");
	for (uint32_t from = 0; from < session->info.num_queues; from++) {
		for (uint32_t to = 0; to < session->info.num_queues; to++) {
			uint64_t bytes = accel_repartition_bytes(session->repartition, from, to);

			if (!bytes)
				continue;
			json_begin_object(json, NULL);
			json_unsigned(json, "from", from);
			json_unsigned(json, "to", to);
			json_unsigned(json, "bytes", bytes);
			json_end_object(json);
		}
	}
	json_end_array(json);
}

static void print_links(struct json *json, const struct session *session)
{
	json_begin_array(json, "links");
	for (uint32_t pe = 0; pe < ACCEL_MAX_PES; pe++) {
		for (uint32_t k = 0; k < NUM_DIRECTIONS; k++) {
			uint64_t bytes = accel_repartition_link_bytes(session->repartition, pe, k);

			if (!bytes)
				continue;
			json_begin_object(json, NULL);
			json_unsigned(json, "pe", pe);
			json_string(json, "direction", direction_names[k]);
			json_unsigned(json, "bytes", bytes);
			json_end_object(json);
		}
	}
	json_end_array(json);
}

static void print_json(const struct session *session)
{
	const struct repartition_arguments *arguments = session->arguments;
	struct json json = { .stream = stdout };
	struct accel_repartition_info info;

	accel_repartition_info(session->repartition, &info);
	json_begin_object(&json, NULL);
	json_string(&json, "in", arguments->in);
	json_string(&json, "out", arguments->out);
	json_string(&json, "from", arguments->from);
	json_string(&json, "to", arguments->to);
	json_string(&json, "dtype", accel_dtype_name(accel_tensor_dtype(session->tensor)));
	json_integers(&json, "shape", accel_tensor_shape(session->tensor),
		      accel_tensor_rank(session->tensor));
	json_string(&json, "device", session->info.name);
	json_unsigned(&json, "jobs", info.num_jobs);
	json_unsigned(&json, "submissions", info.num_submissions);
	json_unsigned(&json, "bytes", info.bytes);
	json_unsigned(&json, "network_bytes", info.network_bytes);
	json_unsigned(&json, "link_bytes", info.link_bytes);
	json_unsigned(&json, "max_link_bytes", info.max_link_bytes);
	print_pairs(&json, session);
	print_links(&json, session);
	json_unsigned(&json, "total_ns", session->total_ns);
	json_bool(&json, "verified", arguments->is_verified);
	json_end_object(&json);
}

/* The command ---------------------------------------------------------------------------------- */

/* Puts the parts together again, and writes what comes of it. */
static int save(struct session *session, struct accel_error *error)
{
	struct accel_distribution *result;
	struct accel_tensor *tensor;
	int ret;

	ret = accel_tensor_create(session->device, accel_tensor_dtype(session->tensor),
				  accel_tensor_rank(session->tensor),
				  accel_tensor_shape(session->tensor), NULL, &tensor, error);
	if (ret)
		return ret;
	ret = accel_distribution_from_tensor(tensor, &result, error);
	if (!ret)
		ret = move(result, session->to, error);
	if (!ret)
		ret = accel_tensor_save(tensor, session->arguments->out, error);
	accel_distribution_unref(result);
	accel_tensor_unref(tensor);
	return ret;
}

static int work(struct session *session)
{
	const struct repartition_arguments *arguments = session->arguments;
	struct accel_layout *from_layout;
	struct accel_error error;
	int ret;

	if (accel_layout_parse(arguments->to, NULL, &session->to_layout, &error))
		return argument_fail(&repartition_command, arguments->to, &error);
	if (accel_layout_parse(arguments->from, NULL, &from_layout, &error))
		return argument_fail(&repartition_command, arguments->from, &error);
	ret = prepare(session, from_layout, &error);
	accel_layout_unref(from_layout);
	if (!ret)
		ret = accel_repartition_create(session->to, session->from, &session->repartition,
					       &error);
	if (ret)
		return command_fail(&repartition_command, STATUS_USAGE, &error);
	ret = run(session->repartition, &session->total_ns, &error);
	if (!ret && arguments->is_verified)
		ret = verify(session, &error);
	if (!ret && arguments->out)
		ret = save(session, &error);
	if (ret)
		return command_fail(&repartition_command, STATUS_FAILED, &error);
	if (arguments->is_json)
		print_json(session);
	else
		print_text(session);
	return STATUS_OK;
}

#define AT(member) offsetof(struct repartition_arguments, member)

static const struct argument_option options[] = {
	{ "in", ARGUMENT_TEXT, AT(in), 0 },
	{ "out", ARGUMENT_TEXT, AT(out), 0 },
	{ "from", ARGUMENT_TEXT, AT(from), 0 },
	{ "to", ARGUMENT_TEXT, AT(to), 0 },
	{ "device", ARGUMENT_TEXT, AT(device), 0 },
	{ "verify", ARGUMENT_FLAG, AT(is_verified), 0 },
	{ "json", ARGUMENT_FLAG, AT(is_json), 0 },
};

static int run_repartition(int argc, char **argv)
{
	struct repartition_arguments arguments = { .device = "auto" };
	struct session session = { .arguments = &arguments };
	int status = argument_parse_all(&repartition_command, argc, argv, options,
					sizeof(options) / sizeof(options[0]), &arguments);

	if (status)
		return status;
	if (!arguments.in || !arguments.from || !arguments.to)
		return command_misuse(&repartition_command, "expected --in, --from and --to");
	status = work(&session);
	release(&session);
	return status;
}

const struct command repartition_command = {
	.name = "repartition",
	.summary = "move a tensor from one distribution over PEs to another",
	.usage =
		"usage: accel repartition --in IN.npy --from LAYOUT --to LAYOUT [--out OUT.npy]\n"
		"                         [--device NAME] [--verify] [--json]\n"
		"\n"
		"Distributes a tensor over the memories of processing elements (PEs) as --from\n"
		"says, moves it to where --to says, and reports bytes between PEs and over links.\n"
		"\n"
		"  --in PATH        the tensor, a .npy file\n"
		"  --from LAYOUT    a layout whose first physical axis is the PE:\n"
		"                   '(i, j) -> (i//16, i%16, j)' are blocks of 16 rows\n"
		"  --to LAYOUT      another: '(i, j) -> (j//16, j%16, i)' are 16 columns,\n"
		"                   transposed\n"
		"  --out PATH       the tensor, put together again\n"
		"  --device NAME    auto (the first Tessera, else the CPU), cpu, a node's path,\n"
		"                   or such as cpu:pes=16,columns=4,sram=256K\n"
		"  --verify         look for each element where --to says that it is\n"
		"  --json           report as JSON\n",
	.run = run_repartition,
};
