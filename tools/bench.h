/* SPDX-License-Identifier: MIT */
/*
 * What the parts of accel bench share: a case, what is there when one is measured, and those that
 * are measured against each other. bench_case.c has the cases, bench_memory.c their buffers,
 * bench_job.c their jobs, bench_verify.c the check of what came out, bench_measure.c the clock,
 * bench_core.c what the core does meanwhile, bench_peer.c other libraries, bench_small.c and
 * bench_debugfs.c jobs that are not about memory, bench_report.c what is printed; bench.c is the
 * subcommand.
 */
#ifndef TOOLS_BENCH_H
#define TOOLS_BENCH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <accel.h>

#include "json.h"

/* Cases ------------------------------------------------------------------------------------ */

#define BENCH_MAX_WINDOWS	2
#define BENCH_MAX_PARAMETERS	2

/* How many values a parameter of a program has: one for each channel of an image. */
#define BENCH_NUM_CHANNELS	3

/* One loop, and how far apart in the source neighbours along it are, in elements. */
struct bench_loop {
	uint64_t extent;	/* 0: there are no more loops */
	int64_t source_stride;
};

/* The source is read where 0 <= bias + sum of coefficients[d] * i_d < limit, and is 0 elsewhere. */
struct bench_window {
	int64_t bias;
	int64_t coefficients[ACCEL_MAX_RANK];
	uint64_t limit;		/* 0: there are no more windows */
};

/* A program, and the same in plain C for the check. */
struct bench_program {
	uint32_t num_instructions;
	const struct accel_instruction *instructions;
	uint32_t num_parameters;	/* f32 sources 1 and up, which vary along parameter_loop */
	uint32_t parameter_loop;
	const float *parameters[BENCH_MAX_PARAMETERS];
	void (*expect)(const void *source, uint32_t channel, void *destination);
	double tolerance;		/* of results of peers, who may round in another order */
};

/* How the pages of operands lie in physical memory. */
enum bench_pages {
	BENCH_PAGES_ANY = 0,		/* as the device has them */
	BENCH_PAGES_IN_ORDER,		/* side by side, as far as they are to be had */
	BENCH_PAGES_SCATTERED,		/* each apart from its neighbours */
};

/* A job. Its destination is dense in the order of the loops. */
struct bench_case {
	const char *letter;		/* "g1" */
	const char *name;		/* "transpose-u8" */
	const char *what;		/* one line for a person */
	double floor;			/* least ratio to memcpy with one thread; 0: none */
	enum bench_pages pages;
	enum accel_dtype source_dtype;
	enum accel_dtype destination_dtype;
	uint64_t source_elements;	/* of the whole source */
	int64_t source_offset;		/* elements */
	struct bench_loop loops[ACCEL_MAX_RANK + 1];
	struct bench_window windows[BENCH_MAX_WINDOWS + 1];
	uint64_t num_rows;		/* of a gather along loop 0, else 0 */
	const struct bench_program *program;	/* NULL: elements are moved as they are */
	bool is_by_writes;		/* bytes that are read again and again are not counted */
};

/* Case number k, or NULL beyond the last. */
const struct bench_case *bench_case(size_t k);

/* Whether a case is meant by "g1", by "transpose-u8", or by "g", which means all that begin so. */
bool bench_is_named(const char *letter, const char *name, const char *given);

uint32_t bench_case_rank(const struct bench_case *bench);
uint64_t bench_case_points(const struct bench_case *bench);

/* Bytes read and written, each byte of the source once, or written alone if is_by_writes. */
uint64_t bench_case_bytes(const struct bench_case *bench);

/* The rows of a gather: what an index is, without a pattern that helps a prefetcher. */
int64_t bench_case_row(const struct bench_case *bench, uint64_t k);

/* Memory and job --------------------------------------------------------------------------- */

struct bench_memory {
	struct accel_buffer *buffer;
	void *data;
	uint64_t page_runs;	/* of neighbouring pages; 0: not known */
};

/* What there is of memory is to be released also after a failure, by dropping its buffer. */
int bench_memory_create(struct accel_device *device, uint64_t size, enum bench_pages pages,
			struct bench_memory *memory, struct accel_error *error);

struct bench_setup {
	const struct bench_case *bench;
	struct accel_device *device;	/* not owned */
	uint64_t copy_bytes;		/* what memcpy copies: half of what is read and written */
	struct bench_memory source;	/* both are large enough for memcpy as well */
	struct bench_memory destination;
	struct bench_memory indices;	/* of a gather */
	struct bench_memory parameters;
	struct accel_job *job;
};

/* Everything of a case, with memory that has been touched. To be released also after a failure. */
int bench_setup_create(struct accel_device *device, const struct bench_case *bench,
		       struct bench_setup *setup, struct accel_error *error);
void bench_setup_release(struct bench_setup *setup);

/* Spoils the destination, so that what is found there afterwards was written. */
void bench_setup_spoil(struct bench_setup *setup);

int bench_setup_run(struct bench_setup *setup, struct accel_error *error);

/* The same, and what the device has counted; from then on it counts no more. */
int bench_setup_count(struct bench_setup *setup, struct accel_job_counters *counters,
		      struct accel_error *error);

/*
 * Compares the destination with the source, point by point. -EIO with an element that is wrong;
 * who is named as the culprit. Peers are granted the tolerance of the program.
 */
int bench_verify(const struct bench_setup *setup, const char *who, bool is_peer,
		 struct accel_error *error);

/* Measurement ------------------------------------------------------------------------------ */

#define BENCH_MAX_THREADS	64
#define BENCH_MAX_ROUNDS	1001

/* One of those that are measured in turns. */
struct bench_contestant {
	const char *name;
	/* Does it a number of times; nanoseconds has how long that took. */
	int (*run)(void *context, uint32_t repetitions, uint64_t *nanoseconds,
		   struct accel_error *error);
	void *context;
	uint32_t least_repetitions;		/* in a turn */
	uint32_t repetitions;			/* that make a turn long enough: measured */
	bool touches_memory;			/* in run(), before its clock */
	double samples[BENCH_MAX_ROUNDS];	/* nanoseconds of one repetition, each round */
};

struct bench_statistics {
	double median;
	double minimum;
	double maximum;
};

struct bench_statistics bench_statistics(const double *values, uint32_t count);

/*
 * Runs this process and the threads that it will create on num_threads CPUs. -EINVAL if it may not
 * run on so many.
 */
int bench_pin(uint32_t num_threads, struct accel_error *error);

uint64_t bench_now(void);

/* Measures all in turns. */
int bench_measure(struct bench_contestant *const *contestants, uint32_t count, uint32_t rounds,
		  struct accel_error *error);

/* The run() of the job; context is a struct bench_setup. */
int bench_run_job(void *context, uint32_t repetitions, uint64_t *nanoseconds,
		  struct accel_error *error);

/*
 * The same for throughput: a job is submitted when the one before the last is over, so that the
 * device always has the next.
 */
#define BENCH_UNDER_WAY		2
#define BENCH_STREAM_JOBS	32	/* in a turn, at least */
int bench_run_stream(void *context, uint32_t repetitions, uint64_t *nanoseconds,
		     struct accel_error *error);

/* memcpy by a number of threads, which wait between two calls; context of bench_run_copy(). */
struct bench_copiers;

int bench_copiers_create(uint32_t num_threads, struct bench_copiers **copiers,
			 struct accel_error *error);
void bench_copiers_destroy(struct bench_copiers *copiers);
void bench_copiers_aim(struct bench_copiers *copiers, struct bench_setup *setup);
int bench_run_copy(void *context, uint32_t repetitions, uint64_t *nanoseconds,
		   struct accel_error *error);

/* Additions that wait for each other, and as many that do not, as a core makes several at once. */
int bench_run_chain(void *context, uint32_t repetitions, uint64_t *nanoseconds,
		    struct accel_error *error);
int bench_run_additions(void *context, uint32_t repetitions, uint64_t *nanoseconds,
			struct accel_error *error);

/* Peers ------------------------------------------------------------------------------------ */

/* Other libraries that do the same, each in a process of its own. */
#define BENCH_NUM_PEERS	3

struct bench_peer;

const char *bench_peer_name(size_t kind);

/* Its program. -ENOENT if it was not built, for the library is not installed. */
int bench_peer_find(size_t kind, char path[PATH_MAX], struct accel_error *error);

/*
 * Starts a peer on the memory of a case, with as many threads as it has of those given: num_threads
 * says how many. peer is NULL if it cannot do this case.
 */
int bench_peer_start(size_t kind, const char *path, const struct bench_setup *setup,
		     uint32_t *num_threads, struct bench_peer **peer, struct accel_error *error);

/* Ends it. NULL is accepted. */
void bench_peer_stop(struct bench_peer *peer);

/* The run() of a peer, which is the context. */
int bench_run_peer(void *context, uint32_t repetitions, uint64_t *nanoseconds,
		   struct accel_error *error);

/* Small jobs ------------------------------------------------------------------------------- */

/* Jobs of 4 KiB, the cost of which is not that of memory. */
#define BENCH_LATENCY_SAMPLES	200	/* of a round */
#define BENCH_SMALL_JOBS	256	/* of a submission, at most */

/* Nanoseconds from submission to completion. */
struct bench_latency {
	double median;
	double percentile;	/* the 99th */
};

/* What a device has counted, over its queues. */
struct bench_counts {
	uint64_t doorbells;
	uint64_t interrupts;
};

struct bench_rate {
	struct bench_statistics jobs;	/* a second */
	uint64_t num_submissions;	/* of all rounds */
	bool has_counts;
	struct bench_counts counts;	/* of all rounds */
};

/* The folder of a device's node in debugfs; "" if there is none, as for the CPU. */
#define BENCH_DEBUGFS_SIZE	128
void bench_debugfs_find(const char *node, char folder[BENCH_DEBUGFS_SIZE]);

/* A write to a register, the interrupt that it raises, and the wake-up; false if it has none. */
bool bench_debugfs_round_trip(const char *folder, double *nanoseconds);
bool bench_debugfs_counts(const char *folder, struct bench_counts *counts);

/* In turns with bare round trips, as far as debugfs has them: otherwise those are 0. */
int bench_small_latency(struct accel_device *device, uint32_t rounds, const char *debugfs,
			struct bench_latency *job, struct bench_latency *trip,
			struct accel_error *error);

/* Submissions of num_jobs, some of which are under way at any time. */
int bench_small_rate(struct accel_device *device, uint32_t num_jobs, uint32_t rounds,
		     const char *debugfs, struct bench_rate *rate, struct accel_error *error);

/* Reports ---------------------------------------------------------------------------------- */

/* What came out for a peer. Rates are in gigabytes a second. */
struct bench_peer_result {
	const char *name;
	uint32_t num_threads;
	struct bench_statistics rate;
	double ratio;
};

struct bench_result {
	const struct bench_case *bench;
	uint64_t bytes;
	uint64_t page_runs;	/* of the source */
	struct bench_statistics copy;
	struct bench_statistics job;
	double ratio;		/* to memcpy */
	double additions;	/* that the core makes in a cycle; 0: not measured */
	char kernel[256];
	struct accel_job_counters counters;	/* if the report is modelled */
	uint32_t num_peers;
	struct bench_peer_result peers[BENCH_NUM_PEERS];
};

/* A row about small jobs. */
struct bench_small {
	const char *letter;
	const char *name;
	const char *what;
	uint32_t num_jobs;	/* of a submission; 0: it is about latency */
};

struct bench_report {
	bool is_json;
	bool is_modelled;
	uint32_t num_threads;
	uint32_t rounds;
	struct accel_device_info info;
	struct json json;
};

/* In this order: all cases come before all rows about small jobs. */
void bench_report_begin(struct bench_report *report);
void bench_report_case(struct bench_report *report, const struct bench_result *result);
void bench_report_begin_small(struct bench_report *report);
void bench_report_latency(struct bench_report *report, const struct bench_small *small,
			  const struct bench_latency *job, const struct bench_latency *trip);
void bench_report_rate(struct bench_report *report, const struct bench_small *small,
		       const struct bench_rate *rate);
void bench_report_end(struct bench_report *report);

#endif /* TOOLS_BENCH_H */
