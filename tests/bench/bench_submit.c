// SPDX-License-Identifier: MIT
/*
 * What a submission to a Tessera costs, whatever its jobs do: the time from submit to completion
 * of a job of 4 KiB, beside a bare write to a register and the interrupt that it raises, and jobs a
 * second. For the guest; where there is no device there is nothing to measure.
 *
 *   bench_submit [ROUNDS]
 */
#include <stdio.h>
#include <stdlib.h>

#include <accel.h>

#include "../../tools/bench.h"
#include "device/submission.h"
#include "measure.h"

#define BYTES		4096
#define MAX_ROUNDS	100000
#define MAX_DEPTH	16	/* submissions under way at a time */
#define NUM_JOBS	16384	/* of one measurement of throughput */

static void check(int ret, const char *what, const struct accel_error *error)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "%s: %s\n", what, error->message);
	exit(1);
}

/* A job that copies BYTES from a buffer of its own to another */
static struct accel_job *create_job(struct accel_device *device)
{
	struct accel_operand dst = { .dtype = ACCEL_DTYPE_RAW32, .address.strides = { 4 } };
	struct accel_operand src = dst;
	uint64_t extent = BYTES / 4;
	struct accel_error error;
	struct accel_job *job;

	check(accel_buffer_create(device, BYTES, &dst.buffer, &error), "buffer", &error);
	check(accel_buffer_create(device, BYTES, &src.buffer, &error), "buffer", &error);
	check(accel_job_create(1, &extent, &job, &error), "job", &error);
	check(accel_job_set_destination(job, &dst, &error), "job", &error);
	check(accel_job_add_source(job, &src, &error), "job", &error);
	accel_buffer_unref(dst.buffer);
	accel_buffer_unref(src.buffer);
	return job;
}

/* num_jobs times the same job */
static struct accel_submission *prepare(struct accel_device *device, uint32_t num_jobs)
{
	struct accel_job **jobs = calloc(num_jobs, sizeof(jobs[0]));
	struct accel_submission *submission;
	struct accel_error error;

	if (!jobs)
		abort();
	jobs[0] = create_job(device);
	for (uint32_t i = 1; i < num_jobs; i++)
		jobs[i] = jobs[0];
	check(submission_create(device, jobs, num_jobs, &submission, &error), "prepare", &error);
	accel_job_unref(jobs[0]);
	free(jobs);
	return submission;
}

static void submit(struct accel_submission *submission)
{
	struct accel_error error;

	check(submission_submit(submission, NULL, 0, &error), "submit", &error);
}

static void wait_for(struct accel_submission *submission)
{
	struct accel_error error;

	check(submission_wait(submission, -1, &error), "wait", &error);
}

/* Latency */

/* Sorts the times, and returns their median. */
static double print_times(const char *name, double *times_ns, uint32_t count)
{
	double middle = median(times_ns, count);

	printf("%-28s median %8.1f us   p99 %8.1f us   least %8.1f us\n", name, middle / 1e3,
	       times_ns[count * 99ull / 100] / 1e3, times_ns[0] / 1e3);
	return middle;
}

/* What the times of a submission are made of */
enum part {
	PART_SUBMIT,		/* the call that submits */
	PART_HAND_OVER,		/* from the driver's entry to the doorbell */
	PART_DEVICE,		/* from the doorbell to completion, as the driver saw it */
	PART_ENGINE,		/* of it, the job itself */
	PART_WAKE_UP,		/* from completion to the end of the wait, with the result */
	PART_TOTAL,
	NUM_PARTS,
};

static const char *const part_names[NUM_PARTS] = {
	"  submit (call)", "  driver to doorbell", "  doorbell to completion", "    job on device",
	"  wake-up and result", "job of 4 KiB",
};

static void measure_job(struct accel_submission *submission, double *parts[NUM_PARTS], uint32_t n)
{
	struct accel_job_result job;
	struct accel_fence_result result;
	struct accel_fence *fence;
	struct accel_error error;
	double start, submitted, end;

	start = now_ns();
	submit(submission);
	submitted = now_ns();
	wait_for(submission);
	end = now_ns();
	check(submission_fence(submission, &fence, &error), "fence", &error);
	check(accel_fence_result(fence, &result, &error), "result", &error);
	check(accel_fence_job_result(fence, 0, &job, &error), "result", &error);
	accel_fence_unref(fence);
	parts[PART_SUBMIT][n] = submitted - start;
	parts[PART_HAND_OVER][n] = (double)(result.start_ns - result.submit_ns);
	parts[PART_DEVICE][n] = (double)(result.end_ns - result.start_ns);
	parts[PART_ENGINE][n] = (double)job.device_ns;
	parts[PART_WAKE_UP][n] = end - (double)result.end_ns;
	parts[PART_TOTAL][n] = end - start;
}

static double *new_times(uint32_t count)
{
	double *times_ns = calloc(count, sizeof(*times_ns));

	if (!times_ns)
		abort();
	return times_ns;
}

/* A device without registers for it has no bare round trips: they are 0. */
static void measure_latency(struct accel_device *device, const char *debugfs, uint32_t rounds)
{
	struct accel_submission *submission = prepare(device, 1);
	double *trips = new_times(rounds), *parts[NUM_PARTS], trip, total;

	for (int i = 0; i < NUM_PARTS; i++)
		parts[i] = new_times(rounds);
	for (uint32_t n = 0; n < rounds; n++) {
		bench_debugfs_round_trip(debugfs, &trips[n]);
		measure_job(submission, parts, n);
	}
	trip = print_times("register to interrupt", trips, rounds);
	total = print_times(part_names[PART_TOTAL], parts[PART_TOTAL], rounds);
	for (int i = PART_TOTAL - 1; i >= 0; i--)
		print_times(part_names[i], parts[i], rounds);
	printf("job / register to interrupt  median %.2f\n", total / trip);
	for (int i = 0; i < NUM_PARTS; i++)
		free(parts[i]);
	free(trips);
	submission_destroy(submission);
}

/* Throughput */

static void measure_throughput(struct accel_device *device, const char *debugfs, uint32_t num_jobs,
			       uint32_t depth)
{
	struct accel_submission *submissions[MAX_DEPTH];
	uint32_t num_submits = NUM_JOBS / num_jobs;
	struct bench_counts before = { 0 }, after = { 0 };
	double start, took;

	if (num_submits > 2048)
		num_submits = 2048;
	for (uint32_t i = 0; i < depth; i++)
		submissions[i] = prepare(device, num_jobs);
	bench_debugfs_counts(debugfs, &before);
	start = now_ns();
	for (uint32_t n = 0; n < num_submits + depth; n++) {
		if (n >= depth)
			wait_for(submissions[n % depth]);
		if (n < num_submits)
			submit(submissions[n % depth]);
	}
	took = now_ns() - start;
	bench_debugfs_counts(debugfs, &after);
	printf("%4u jobs a submit, %u under way  %9.0f jobs/s   %.2f doorbells, %.2f interrupts "
	       "a submit\n", num_jobs, depth,
	       (double)num_submits * num_jobs * 1e9 / took,
	       (double)(after.doorbells - before.doorbells) / num_submits,
	       (double)(after.interrupts - before.interrupts) / num_submits);
	for (uint32_t i = 0; i < depth; i++)
		submission_destroy(submissions[i]);
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = { 1, 16, 256 };
	uint32_t rounds = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 2000;
	struct accel_device_info info;
	struct accel_device *device;
	char debugfs[BENCH_DEBUGFS_SIZE];
	struct accel_error error;

	if (!rounds || rounds > MAX_ROUNDS) {
		fprintf(stderr, "bench_submit: rounds '%s', expected 1 to %d\n", argv[1],
			MAX_ROUNDS);
		return 1;
	}
	check(accel_open(NULL, &device, &error), "open", &error);
	accel_device_info(device, &info);
	if (info.kind == ACCEL_DEVICE_CPU) {
		printf("submissions: there is no Tessera here, and nothing to measure\n");
	} else {
		bench_debugfs_find(info.name, debugfs);
		measure_latency(device, debugfs, rounds);
		for (uint32_t i = 0; i < 3; i++) {
			measure_throughput(device, debugfs, sizes[i], 1);
			measure_throughput(device, debugfs, sizes[i], MAX_DEPTH);
		}
	}
	accel_device_unref(device);
	return 0;
}
