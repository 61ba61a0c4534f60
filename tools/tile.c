// SPDX-License-Identifier: MIT
/*
 * accel tile: copies a tensor in tiles, through the memory of a processing element.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "argument.h"
#include "counters.h"
#include "json.h"
#include "verify.h"

struct tile_arguments {
	const char *in;
	const char *out;
	const char *axes;		/* NULL: as --to has them */
	const char *to;			/* NULL: row-major */
	const char *device;
	struct argument_list tile, order, subtile, suborder;	/* a number for each axis */
	uint32_t pe;
	uint32_t load_queue;
	bool is_verified;
	bool is_counted;
	bool is_json;
};

struct session {
	const struct tile_arguments *arguments;
	struct accel_device *device;
	struct accel_device_info device_info;
	struct accel_layout *layout;
	struct accel_tensor *src, *dst;
	uint32_t order[ACCEL_MAX_DIMS], suborder[ACCEL_MAX_DIMS];
	struct accel_tiling_info info;
};

static void release(struct session *session)
{
	accel_tensor_unref(session->dst);
	accel_tensor_unref(session->src);
	accel_layout_unref(session->layout);
	accel_device_unref(session->device);
}

static int refuse(struct accel_error *error, const char *option, uint32_t count, uint32_t rank)
{
	*error = (struct accel_error){ .code = -EINVAL };
	snprintf(error->message, sizeof(error->message),
		 "%s: %u number%s, expected one for each of %u axes", option, count,
		 count == 1 ? "" : "s", rank);
	return -EINVAL;
}

/* The extents of an option, or NULL. */
static int take_extents(const struct session *session, const char *option,
			const struct argument_list *list, const int64_t **extents,
			struct accel_error *error)
{
	uint32_t rank = accel_tensor_rank(session->src);

	*extents = list->is_given ? list->numbers : NULL;
	return list->is_given && list->count != rank ?
	       refuse(error, option, list->count, rank) : 0;
}

/* The same of axes. */
static int take_order(const struct session *session, const char *option,
		      const struct argument_list *list, uint32_t *axes, const uint32_t **order,
		      struct accel_error *error)
{
	uint32_t rank = accel_tensor_rank(session->src);

	*order = list->is_given ? axes : NULL;
	if (list->is_given && list->count != rank)
		return refuse(error, option, list->count, rank);
	for (uint32_t k = 0; k < list->count; k++)
		axes[k] = list->numbers[k] < rank ? (uint32_t)list->numbers[k] : rank;
	return 0;
}

static int take_tiling(struct session *session, struct accel_tiling *tiling,
		       struct accel_error *error)
{
	const struct tile_arguments *arguments = session->arguments;
	int ret;

	*tiling = (struct accel_tiling){
		.pe = arguments->pe, .load_queue = arguments->load_queue,
	};
	ret = take_extents(session, "--tile", &arguments->tile, &tiling->tile, error);
	if (!ret)
		ret = take_extents(session, "--subtile", &arguments->subtile, &tiling->subtile,
				   error);
	if (!ret)
		ret = take_order(session, "--order", &arguments->order, session->order,
				 &tiling->order, error);
	if (!ret)
		ret = take_order(session, "--suborder", &arguments->suborder, session->suborder,
				 &tiling->suborder, error);
	return ret;
}

static int prepare(struct session *session, struct accel_error *error)
{
	const struct tile_arguments *arguments = session->arguments;
	int ret = command_open(arguments->device, &session->device, error);

	if (ret)
		return ret;
	accel_device_info(session->device, &session->device_info);
	ret = accel_device_set_counting(session->device, arguments->is_counted, error);
	if (ret)
		return ret;
	ret = accel_tensor_load(session->device, arguments->in, &session->src, error);
	if (!ret)
		ret = accel_tensor_create(session->device, accel_tensor_dtype(session->src),
					  accel_tensor_rank(session->src),
					  accel_tensor_shape(session->src), session->layout,
					  &session->dst, error);
	return ret;
}

/* Compares both tensors an element at a time. */
static int verify(const struct session *session, struct accel_error *error)
{
	size_t size = accel_dtype_size(accel_tensor_dtype(session->src));
	uint32_t rank = accel_tensor_rank(session->src);
	int64_t index[ACCEL_MAX_DIMS] = { 0 }, from, to;
	char text[COMMAND_SHAPE_SIZE];
	void *src, *dst;
	int ret;

	ret = accel_buffer_map(accel_tensor_buffer(session->src), &src, error);
	if (!ret)
		ret = accel_buffer_map(accel_tensor_buffer(session->dst), &dst, error);
	if (ret || !accel_tensor_num_elements(session->src))
		return ret;
	do {
		ret = accel_tensor_element(session->src, index, &from, error);
		if (!ret)
			ret = accel_tensor_element(session->dst, index, &to, error);
		if (ret)
			return ret;
		if (!memcmp((const uint8_t *)src + (size_t)from * size,
			    (const uint8_t *)dst + (size_t)to * size, size))
			continue;
		*error = (struct accel_error){ .code = -EIO };
		snprintf(error->message, sizeof(error->message),
			 "the element at %.150s is not that of the input",
			 command_print_shape(text, rank, index));
		return -EIO;
	} while (verify_next(rank, accel_tensor_shape(session->src), index));
	return 0;
}

/* Writes the destination as it is in memory, padding included. */
static int save(const struct session *session, struct accel_error *error)
{
	enum accel_dtype dtype = accel_tensor_dtype(session->dst);
	struct accel_layout_description description;
	struct accel_tensor *memory;
	int ret;

	if (!session->layout)
		return accel_tensor_save(session->dst, session->arguments->out, error);
	ret = accel_layout_describe(session->layout, dtype, accel_tensor_rank(session->dst),
				    accel_tensor_shape(session->dst), &description, error);
	if (!ret)
		ret = accel_tensor_from_buffer(accel_tensor_buffer(session->dst), dtype,
					       description.physical_rank,
					       description.physical_shape, description.strides,
					       description.offset, &memory, error);
	if (ret)
		return ret;
	ret = accel_tensor_save(memory, session->arguments->out, error);
	accel_tensor_unref(memory);
	return ret;
}

/* What each level does, and what it takes to read the tensor at both. */
static void print_counters(const struct session *session)
{
	const struct accel_tiling_info *info = &session->info;
	uint32_t clock_khz = session->device_info.clock_khz;
	uint64_t loads = info->loads.memory[0].cycles_read;
	uint64_t stores = info->stores.memory[1].cycles_read;

	printf("loads\n");
	counters_print(&info->loads, clock_khz);
	printf("stores\n");
	counters_print(&info->stores, clock_khz);
	printf("reads: %.1f us of tiles and %.1f us of sub-tiles, %.1f us together\n",
	       counters_us(loads, clock_khz), counters_us(stores, clock_khz),
	       counters_us(loads + stores, clock_khz));
}

static void print_text(const struct session *session)
{
	const struct tile_arguments *arguments = session->arguments;
	const struct accel_tiling_info *info = &session->info;
	char shape[COMMAND_SHAPE_SIZE];

	printf("%s: %s %s\n", arguments->in,
	       command_print_shape(shape, accel_tensor_rank(session->src),
				   accel_tensor_shape(session->src)),
	       accel_dtype_name(accel_tensor_dtype(session->src)));
	printf("%s: %" PRIu64 " tiles through PE %u, 2 x %" PRIu64 " bytes of its memory, %" PRIu64
	       " sub-tiles, %" PRIu64 " jobs; loads %.3f ms, stores %.3f ms%s\n",
	       session->device_info.name, info->num_tiles, arguments->pe, info->tile_bytes,
	       info->num_subtiles, info->num_jobs, (double)info->load_ns / 1e6,
	       (double)info->store_ns / 1e6, arguments->is_verified ? "; verified" : "");
	if (arguments->is_counted)
		print_counters(session);
}

static void print_json(const struct session *session)
{
	const struct tile_arguments *arguments = session->arguments;
	const struct accel_tiling_info *info = &session->info;
	struct json json = { .stream = stdout };

	json_begin_object(&json, NULL);
	json_string(&json, "in", arguments->in);
	json_string(&json, "out", arguments->out);
	json_string(&json, "to", arguments->to);
	json_string(&json, "dtype", accel_dtype_name(accel_tensor_dtype(session->src)));
	json_integers(&json, "shape", accel_tensor_shape(session->src),
		      accel_tensor_rank(session->src));
	json_string(&json, "device", session->device_info.name);
	json_unsigned(&json, "pe", arguments->pe);
	json_unsigned(&json, "tiles", info->num_tiles);
	json_unsigned(&json, "subtiles", info->num_subtiles);
	json_unsigned(&json, "jobs", info->num_jobs);
	json_unsigned(&json, "tile_bytes", info->tile_bytes);
	json_unsigned(&json, "load_ns", info->load_ns);
	json_unsigned(&json, "store_ns", info->store_ns);
	json_bool(&json, "verified", arguments->is_verified);
	if (arguments->is_counted) {
		counters_write(&json, "loads", &info->loads, session->device_info.clock_khz);
		counters_write(&json, "stores", &info->stores, session->device_info.clock_khz);
	}
	json_end_object(&json);
}

static int work(struct session *session)
{
	const struct tile_arguments *arguments = session->arguments;
	struct accel_tiling tiling;
	struct accel_error error;
	int ret;

	if (arguments->to &&
	    accel_layout_parse(arguments->to, arguments->axes, &session->layout, &error))
		return argument_fail(&tile_command, arguments->to, &error);
	ret = prepare(session, &error);
	if (!ret)
		ret = take_tiling(session, &tiling, &error);
	if (ret)
		return command_fail(&tile_command, STATUS_USAGE, &error);
	ret = accel_copy_tiled(session->dst, session->src, &tiling, NULL, 0, &session->info,
			       &error);
	if (ret)
		return command_fail(&tile_command, ret == -EIO ? STATUS_FAILED : STATUS_USAGE,
				    &error);
	if (arguments->is_verified)
		ret = verify(session, &error);
	if (!ret && arguments->out)
		ret = save(session, &error);
	if (ret)
		return command_fail(&tile_command, STATUS_FAILED, &error);
	if (arguments->is_json)
		print_json(session);
	else
		print_text(session);
	return STATUS_OK;
}

/* Arguments ------------------------------------------------------------------------------------ */

#define AT(member) offsetof(struct tile_arguments, member)

static const struct argument_option options[] = {
	{ "in", ARGUMENT_TEXT, AT(in), 0 },
	{ "out", ARGUMENT_TEXT, AT(out), 0 },
	{ "axes", ARGUMENT_TEXT, AT(axes), 0 },
	{ "to", ARGUMENT_TEXT, AT(to), 0 },
	{ "device", ARGUMENT_TEXT, AT(device), 0 },
	{ "tile", ARGUMENT_NUMBERS, AT(tile), 1 },
	{ "order", ARGUMENT_NUMBERS, AT(order), 0 },
	{ "subtile", ARGUMENT_NUMBERS, AT(subtile), 1 },
	{ "suborder", ARGUMENT_NUMBERS, AT(suborder), 0 },
	{ "pe", ARGUMENT_QUEUE, AT(pe), 0 },
	{ "load-queue", ARGUMENT_QUEUE, AT(load_queue), 0 },
	{ "verify", ARGUMENT_FLAG, AT(is_verified), 0 },
	{ "counters", ARGUMENT_FLAG, AT(is_counted), 0 },
	{ "json", ARGUMENT_FLAG, AT(is_json), 0 },
};

static int run_tile(int argc, char **argv)
{
	struct tile_arguments arguments = { .device = "auto", .load_queue = ACCEL_QUEUE_ANY };
	struct session session = { .arguments = &arguments };
	int status = argument_parse_all(&tile_command, argc, argv, options,
					sizeof(options) / sizeof(options[0]), &arguments);

	if (status)
		return status;
	if (!arguments.in || !arguments.tile.is_given)
		return command_misuse(&tile_command, "expected --in and --tile");
	status = work(&session);
	release(&session);
	return status;
}

const struct command tile_command = {
	.name = "tile",
	.summary = "copy a tensor in tiles, through the memory of a PE",
	.usage =
		"usage: accel tile --in IN.npy --tile N,.. [--order AXIS,..] [--subtile N,..]\n"
		"                  [--suborder AXIS,..] [--to LAYOUT] [--axes AXES]\n"
		"                  [--out OUT.npy] [--pe N] [--load-queue N] [--device NAME]\n"
		"                  [--verify] [--counters] [--json]\n"
		"\n"
		"Brings a tensor tile by tile to the on-chip memory of a processing element (PE),\n"
		"and from there, in sub-tiles, to a tensor in another layout. While one tile is\n"
		"stored the next is brought.\n"
		"\n"
		"  --in PATH            the tensor, a .npy file\n"
		"  --tile N,..          extents of a tile; at the ends of axes tiles are smaller\n"
		"  --order AXIS,..      axes from the outermost to the innermost, counted from 0:\n"
		"                       how tiles follow and are read; 0,1,.. if not given\n"
		"  --subtile N,..       extents of a sub-tile; the tile if not given\n"
		"  --suborder AXIS,..   the same as --order, of sub-tiles\n"
		"  --to LAYOUT          of the output; row-major if not given\n"
		"  --axes AXES          the axes of the input by letters, as in NCHW\n"
		"  --out PATH           the output, as it is in memory\n"
		"  --pe N               whose memory, and whose queue stores; 0 if not given\n"
		"  --load-queue N       the queue that brings tiles; any if not given\n"
		"  --device NAME        auto (the first Tessera, else the CPU), cpu, a node's\n"
		"                       path, or such as cpu:pes=1,sram=64K\n"
		"  --verify             compare both tensors, element by element\n"
		"  --counters           count what the jobs of each level do to memory, and model\n"
		"                       what it costs\n"
		"  --json               report as JSON\n",
	.run = run_tile,
};
