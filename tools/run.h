/* SPDX-License-Identifier: MIT */
/*
 * A copy from a .npy file to another: what accel run does, for other commands as well.
 */
#ifndef TOOLS_RUN_H
#define TOOLS_RUN_H

#include <stdbool.h>

#include "command.h"
#include "npy.h"

struct run_request {
	const char *in;		/* path */
	const char *out;	/* path */
	const char *from;	/* dimension order of the input */
	const char *to;		/* of the output */
	const char *device;	/* "auto", "cpu" or a path */
	bool is_verified;
};

struct run_report {
	struct npy_header in;
	int64_t out_shape[ACCEL_MAX_DIMS];
	struct accel_device_info device;
	uint64_t bytes_read;	/* by the job */
	uint64_t bytes_written;
	uint64_t total_ns;	/* from submission to completion */
	uint64_t device_ns;	/* of it on the device */
};

/* Returns an enum exit_status; if it is not STATUS_OK, error is filled in. */
int run_file(const struct run_request *request, struct run_report *report,
	     struct accel_error *error);

#endif /* TOOLS_RUN_H */
