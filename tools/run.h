/* SPDX-License-Identifier: MIT */
/*
 * A chain from .npy files to another: what accel run does, for other commands as well.
 */
#ifndef TOOLS_RUN_H
#define TOOLS_RUN_H

#include "chain.h"

struct run_report {
	struct npy_header in;
	enum accel_dtype out_dtype;
	uint32_t out_rank;
	int64_t out_shape[ACCEL_MAX_DIMS];
	uint64_t num_elements;	/* of the output */
	struct accel_device_info device;
	uint32_t num_jobs;
	uint32_t passes;
	uint64_t bytes_read;	/* by the jobs */
	uint64_t bytes_written;
	uint64_t total_ns;	/* from submission to completion */
	uint64_t device_ns;	/* of it on the device */
	struct accel_job_counters counters;	/* --counters: of all jobs together */
};

/*
 * Runs the chain, which names an input and an output. Returns an enum exit_status; if it is not
 * STATUS_OK, error is filled in, and *text_at_fault is the text that its column is in, or NULL.
 */
int run_chain(const struct chain *chain, struct run_report *report, const char **text_at_fault,
	      struct accel_error *error);

#endif /* TOOLS_RUN_H */
