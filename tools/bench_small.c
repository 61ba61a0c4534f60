// SPDX-License-Identifier: MIT
/*
 * What small jobs cost on a device, where it is not memory that takes the time: from submission to
 * completion of one, and how many a second. Submissions are prepared, as those of a plan are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "device/submission.h"
#include "error.h"

/* Submissions under way at a time when jobs a second are counted. */
#define DEPTH			16

/* Of a turn, whichever is less; jobs in whole submissions. */
#define JOBS_A_TURN		8192
#define SUBMISSIONS_A_TURN	512

/* A copy of 4 KiB. */
static const struct bench_case small_copy = {
	.letter = "p", .name = "small-copy", .what = "copy of 4 KiB",
	.source_dtype = ACCEL_DTYPE_F32, .destination_dtype = ACCEL_DTYPE_F32,
	.source_elements = 1024,
	.loops = { { 1024, 1 } },
};

/* One that has run, and was right. To be released also after a failure. */
static int create(struct accel_device *device, struct bench_setup *setup, struct accel_error *error)
{
	int ret = bench_setup_create(device, &small_copy, setup, error);

	if (!ret)
		ret = bench_setup_run(setup, error);
	return ret ? ret : bench_verify(setup, "the device", false, error);
}

/* Latency ---------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static struct bench_latency evaluate(double *samples, uint32_t count)
{
	qsort(samples, count, sizeof(*samples), compare);
	return (struct bench_latency){
		.median = samples[count / 2],
		/* the least that 99 of 100 do not exceed */
		.percentile = samples[(count * 99 + 99) / 100 - 1],
	};
}

static int run_once(struct accel_submission *submission, double *nanoseconds,
		    struct accel_error *error)
{
	uint64_t start = bench_now();
	int ret = submission_submit(submission, NULL, 0, error);

	if (!ret)
		ret = submission_wait(submission, -1, error);
	*nanoseconds = (double)(bench_now() - start);
	return ret;
}

/* A job and a bare round trip in turns; there are none once one has failed. */
static int take_samples(struct accel_submission *submission, const char *debugfs, double *jobs,
			double *trips, uint32_t count, bool *has_trips, struct accel_error *error)
{
	int ret = 0;

	*has_trips = true;
	for (uint32_t k = 0; k < count && !ret; k++) {
		*has_trips = *has_trips && bench_debugfs_round_trip(debugfs, &trips[k]);
		ret = run_once(submission, &jobs[k], error);
	}
	return ret;
}

int bench_small_latency(struct accel_device *device, uint32_t rounds, const char *debugfs,
			struct bench_latency *job, struct bench_latency *trip,
			struct accel_error *error)
{
	uint32_t count = rounds * BENCH_LATENCY_SAMPLES;
	double *samples = malloc(2 * count * sizeof(*samples));
	struct accel_submission *submission = NULL;
	struct bench_setup setup;
	bool has_trips;
	int ret;

	if (!samples)
		return accel_error_set(error, -ENOMEM, "latency: out of memory");
	ret = create(device, &setup, error);
	if (!ret)
		ret = submission_create(device, &setup.job, 1, &submission, error);
	if (!ret)
		ret = take_samples(submission, debugfs, samples, samples + count, count,
				   &has_trips, error);
	if (!ret) {
		*job = evaluate(samples, count);
		*trip = has_trips ? evaluate(samples + count, count) :
				    (struct bench_latency){ 0 };
	}
	submission_destroy(submission);
	bench_setup_release(&setup);
	free(samples);
	return ret;
}

/* Jobs a second ---------------------------------------------------------------------------- */

/* Each has memory of its own, so that none has to come after another. */
struct lane {
	struct bench_setup setup;
	struct accel_submission *submission;
};

static int prepare(struct accel_device *device, uint32_t num_jobs, struct lane *lane,
		   struct accel_error *error)
{
	struct accel_job *jobs[BENCH_SMALL_JOBS];
	int ret = create(device, &lane->setup, error);

	for (uint32_t k = 0; k < num_jobs; k++)
		jobs[k] = lane->setup.job;
	return ret ? ret : submission_create(device, jobs, num_jobs, &lane->submission, error);
}

/* Submissions of which some are under way all the time. */
static int run_turn(struct lane *lanes, uint32_t count, struct accel_error *error)
{
	int ret = 0;

	for (uint32_t k = 0; k < count + DEPTH && !ret; k++) {
		struct accel_submission *submission = lanes[k % DEPTH].submission;

		if (k >= DEPTH)
			ret = submission_wait(submission, -1, error);
		if (!ret && k < count)
			ret = submission_submit(submission, NULL, 0, error);
	}
	return ret;
}

static int measure_rate(struct lane *lanes, uint32_t num_jobs, uint32_t rounds,
			struct bench_rate *rate, struct accel_error *error)
{
	uint32_t count = JOBS_A_TURN / num_jobs;
	double samples[BENCH_MAX_ROUNDS];
	int ret = 0;

	if (count > SUBMISSIONS_A_TURN)
		count = SUBMISSIONS_A_TURN;
	for (uint32_t round = 0; round < rounds && !ret; round++) {
		uint64_t start = bench_now();

		ret = run_turn(lanes, count, error);
		samples[round] = (double)(count * num_jobs) * 1e9 / (double)(bench_now() - start);
	}
	if (ret)
		return ret;
	rate->jobs = bench_statistics(samples, rounds);
	rate->num_submissions = (uint64_t)rounds * count;
	return 0;
}

int bench_small_rate(struct accel_device *device, uint32_t num_jobs, uint32_t rounds,
		     const char *debugfs, struct bench_rate *rate, struct accel_error *error)
{
	struct lane lanes[DEPTH] = { 0 };
	struct bench_counts before, after;
	int ret = 0;

	for (uint32_t k = 0; k < DEPTH && !ret; k++)
		ret = prepare(device, num_jobs, &lanes[k], error);
	rate->has_counts = bench_debugfs_counts(debugfs, &before);
	if (!ret)
		ret = measure_rate(lanes, num_jobs, rounds, rate, error);
	rate->has_counts = rate->has_counts && bench_debugfs_counts(debugfs, &after);
	if (rate->has_counts) {
		rate->counts.doorbells = after.doorbells - before.doorbells;
		rate->counts.interrupts = after.interrupts - before.interrupts;
	}
	for (uint32_t k = 0; k < DEPTH; k++) {
		submission_destroy(lanes[k].submission);
		bench_setup_release(&lanes[k].setup);
	}
	return ret;
}
