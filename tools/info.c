// SPDX-License-Identifier: MIT
/*
 * accel info: the devices there are, and what they can do.
 */
#include <inttypes.h>
#include <stdio.h>

#include "argument.h"
#include "json.h"

struct report {
	struct json *json;	/* NULL: text */
	bool has_failed;	/* a device could not be opened */
};

static void print_json(struct json *json, const struct accel_device_info *info)
{
	char version[40];

	json_begin_object(json, NULL);
	json_string(json, "name", info->name);
	json_string(json, "kind", info->kind == ACCEL_DEVICE_TESSERA ? "tessera" : "cpu");
	json_string(json, "driver", info->driver);
	snprintf(version, sizeof(version), "%u.%u.%u", info->driver_version[0],
		 info->driver_version[1], info->driver_version[2]);
	json_string(json, "driver_version", version);
	snprintf(version, sizeof(version), "%u.%u", info->hw_version[0], info->hw_version[1]);
	json_string(json, "device_version", info->kind == ACCEL_DEVICE_CPU ? NULL : version);
	json_unsigned(json, "queues", info->num_queues);
	json_unsigned(json, "max_rank", info->max_rank);
	json_unsigned(json, "max_sources", info->max_sources);
	json_unsigned(json, "max_windows", info->max_windows);
	json_unsigned(json, "max_instructions", info->max_instructions);
	json_unsigned(json, "max_jobs", info->max_jobs);
	json_unsigned(json, "sram_bytes", info->sram_size);
	json_unsigned(json, "grid_columns", info->grid_columns);
	json_unsigned(json, "max_buffer_bytes", info->max_buffer_size);
	json_end_object(json);
}

static void print_text(const struct accel_device_info *info)
{
	printf("%s\n", info->name);
	printf("  driver          %s %u.%u.%u\n", info->driver, info->driver_version[0],
	       info->driver_version[1], info->driver_version[2]);
	if (info->kind == ACCEL_DEVICE_TESSERA)
		printf("  device version  %u.%u\n", info->hw_version[0], info->hw_version[1]);
	printf("  queues          %u, each with %" PRIu64 " bytes of on-chip memory",
	       info->num_queues, info->sram_size);
	if (info->grid_columns)
		printf(", in rows of %u", info->grid_columns);
	printf("\n");
	printf("  a job           %u loops, %u sources, %u windows, %u instructions\n",
	       info->max_rank, info->max_sources, info->max_windows, info->max_instructions);
	printf("  a submission    %u jobs\n", info->max_jobs);
	printf("  a buffer        %" PRIu64 " bytes\n", info->max_buffer_size);
}

static int report_device(const char *name, void *context)
{
	struct report *report = context;
	struct accel_device_info info;
	struct accel_device *device;
	struct accel_error error;

	if (accel_open(name, &device, &error)) {
		command_fail(&info_command, STATUS_FAILED, &error);
		report->has_failed = true;
		return 0;
	}
	accel_device_info(device, &info);
	accel_device_unref(device);
	if (report->json)
		print_json(report->json, &info);
	else
		print_text(&info);
	return 0;
}

static int report_devices(bool is_json)
{
	struct json json = { .stream = stdout };
	struct report report = { .json = is_json ? &json : NULL };
	struct accel_error error;
	int ret;

	if (is_json) {
		json_begin_object(&json, NULL);
		json_string(&json, "version", accel_version());
		json_begin_array(&json, "devices");
	}
	ret = accel_device_enumerate(report_device, &report, &error);
	if (is_json) {
		json_end_array(&json);
		json_end_object(&json);
	}
	if (ret)
		return command_fail(&info_command, STATUS_FAILED, &error);
	return report.has_failed ? STATUS_FAILED : STATUS_OK;
}

static int run_info(int argc, char **argv)
{
	static const struct argument_option options[] = { { "json", ARGUMENT_FLAG, 0, 0 } };
	bool is_json = false;
	int status = argument_parse_all(&info_command, argc, argv, options, 1, &is_json);

	return status ? status : report_devices(is_json);
}

const struct command info_command = {
	.name = "info",
	.summary = "the devices there are, and what they can do",
	.usage =
		"usage: accel info [--json]\n"
		"\n"
		"Lists the Tessera devices and the CPU: versions and limits.\n"
		"\n"
		"  --json   as JSON\n",
	.run = run_info,
};
