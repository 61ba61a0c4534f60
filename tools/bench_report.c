// SPDX-License-Identifier: MIT
/*
 * What accel bench prints, as text and as JSON. Documentation/accel.rst names the keys.
 */
#include <inttypes.h>
#include <stdio.h>

#include "bench.h"
#include "counters.h"

/* Floors are for one thread of the CPU. */
static bool has_floor(const struct bench_report *report, const struct bench_result *result)
{
	return report->num_threads == 1 && report->info.kind == ACCEL_DEVICE_CPU &&
	       result->bench->floor > 0;
}

/* Text ------------------------------------------------------------------------------------- */

static void print_heading(const struct bench_report *report)
{
	printf("%s, %u thread%s, %u round%s; GB/s of bytes read and written: "
	       "median (least to most)\n\n", report->info.name, report->num_threads,
	       report->num_threads == 1 ? "" : "s", report->rounds,
	       report->rounds == 1 ? "" : "s");
	printf("%-4s %-56s  %-24s%-24s%5s  %s\n", "", "case", "GB/s", "memcpy GB/s", "ratio",
	       "floor, additions, peers' ratios, kernel");
}

static void print_rate(const struct bench_statistics *rate)
{
	char text[64];

	snprintf(text, sizeof(text), "%.2f (%.2f to %.2f)", rate->median, rate->minimum,
		 rate->maximum);
	printf("%-24s", text);
}

static void print_case(const struct bench_report *report, const struct bench_result *result)
{
	const struct bench_case *bench = result->bench;

	printf("%-4s %-56s  ", bench->letter, bench->what);
	print_rate(&result->job);
	print_rate(&result->copy);
	printf("%5.2f", result->ratio);
	if (has_floor(report, result))
		printf("  %.2f %s", bench->floor,
		       result->ratio >= bench->floor ? "met" : "missed");
	if (result->additions > 0)
		printf("  %.1f additions a cycle", result->additions);
	for (uint32_t k = 0; k < result->num_peers; k++)
		printf("  %s %.2f", result->peers[k].name, result->peers[k].ratio);
	if (result->page_runs)
		printf("  %" PRIu64 " runs of pages", result->page_runs);
	printf("  %s\n", result->kernel);
	if (report->is_modelled)
		counters_print(&result->counters, report->info.clock_khz);
}

/* JSON ------------------------------------------------------------------------------------- */

static void begin_json(struct bench_report *report)
{
	struct json *json = &report->json;

	json_begin_object(json, NULL);
	json_string(json, "version", accel_version());
	json_string(json, "device", report->info.name);
	json_unsigned(json, "threads", report->num_threads);
	json_unsigned(json, "rounds", report->rounds);
	json_begin_array(json, "cases");
}

static void write_statistics(struct json *json, const char *prefix, const char *unit,
			     const struct bench_statistics *statistics)
{
	char key[64];

	snprintf(key, sizeof(key), "%s%s", prefix, unit);
	json_number(json, key, statistics->median);
	snprintf(key, sizeof(key), "%s%s_min", prefix, unit);
	json_number(json, key, statistics->minimum);
	snprintf(key, sizeof(key), "%s%s_max", prefix, unit);
	json_number(json, key, statistics->maximum);
}

static void write_peer(struct json *json, const struct bench_peer_result *peer)
{
	json_begin_object(json, NULL);
	json_string(json, "name", peer->name);
	json_unsigned(json, "threads", peer->num_threads);
	write_statistics(json, "", "gbps", &peer->rate);
	json_number(json, "ratio", peer->ratio);
	json_end_object(json);
}

static void begin_row(struct json *json, const char *letter, const char *name, const char *what)
{
	json_begin_object(json, NULL);
	json_string(json, "case", letter);
	json_string(json, "name", name);
	json_string(json, "what", what);
}

static void write_case(struct bench_report *report, const struct bench_result *result)
{
	const struct bench_case *bench = result->bench;
	struct json *json = &report->json;

	begin_row(json, bench->letter, bench->name, bench->what);
	json_unsigned(json, "bytes", result->bytes);
	json_unsigned(json, "threads", report->num_threads);
	write_statistics(json, "memcpy_", "gbps", &result->copy);
	write_statistics(json, "", "gbps", &result->job);
	json_number(json, "ratio", result->ratio);
	if (has_floor(report, result)) {
		json_number(json, "floor", bench->floor);
		json_bool(json, "is_floor_met", result->ratio >= bench->floor);
	}
	if (result->additions > 0)
		json_number(json, "additions_per_cycle", result->additions);
	if (result->page_runs)
		json_unsigned(json, "page_runs", result->page_runs);
	json_string(json, "kernel", result->kernel[0] ? result->kernel : NULL);
	if (report->is_modelled)
		counters_write(json, "counters", &result->counters, report->info.clock_khz);
	json_begin_array(json, "peers");
	for (uint32_t k = 0; k < result->num_peers; k++)
		write_peer(json, &result->peers[k]);
	json_end_array(json);
	json_end_object(json);
}

/* Either ----------------------------------------------------------------------------------- */

void bench_report_begin(struct bench_report *report)
{
	if (report->is_json)
		begin_json(report);
	else
		print_heading(report);
}

void bench_report_case(struct bench_report *report, const struct bench_result *result)
{
	if (report->is_json)
		write_case(report, result);
	else
		print_case(report, result);
	fflush(stdout);
}

void bench_report_begin_small(struct bench_report *report)
{
	if (!report->is_json)
		return;
	json_end_array(&report->json);
	json_begin_array(&report->json, "small_jobs");
}

static void print_latency(const struct bench_small *small, const struct bench_latency *job,
			  const struct bench_latency *trip)
{
	printf("%-4s %-56s  %.1f us, 99th percentile %.1f us", small->letter, small->what,
	       job->median / 1e3, job->percentile / 1e3);
	if (trip->median > 0)
		printf("; %.2f times a bare round trip of %.1f us, 99th percentile %.1f us",
		       job->median / trip->median, trip->median / 1e3, trip->percentile / 1e3);
	putchar('\n');
}

void bench_report_latency(struct bench_report *report, const struct bench_small *small,
			  const struct bench_latency *job, const struct bench_latency *trip)
{
	struct json *json = &report->json;

	if (!report->is_json) {
		print_latency(small, job, trip);
		return;
	}
	begin_row(json, small->letter, small->name, small->what);
	json_number(json, "median_ns", job->median);
	json_number(json, "p99_ns", job->percentile);
	if (trip->median > 0) {
		json_number(json, "round_trip_median_ns", trip->median);
		json_number(json, "round_trip_p99_ns", trip->percentile);
		json_number(json, "ratio", job->median / trip->median);
	}
	json_end_object(json);
}

static void print_jobs(const struct bench_small *small, const struct bench_rate *rate)
{
	double submissions = (double)rate->num_submissions;

	printf("%-4s %-56s  %.0f jobs/s (%.0f to %.0f)", small->letter, small->what,
	       rate->jobs.median, rate->jobs.minimum, rate->jobs.maximum);
	if (rate->has_counts)
		printf("; %.2f doorbells, %.2f interrupts a submission",
		       (double)rate->counts.doorbells / submissions,
		       (double)rate->counts.interrupts / submissions);
	putchar('\n');
}

void bench_report_rate(struct bench_report *report, const struct bench_small *small,
		       const struct bench_rate *rate)
{
	double submissions = (double)rate->num_submissions;
	struct json *json = &report->json;

	if (!report->is_json) {
		print_jobs(small, rate);
		return;
	}
	begin_row(json, small->letter, small->name, small->what);
	json_unsigned(json, "jobs_per_submission", small->num_jobs);
	write_statistics(json, "", "jobs_per_s", &rate->jobs);
	if (rate->has_counts) {
		json_number(json, "doorbells_per_submission",
			    (double)rate->counts.doorbells / submissions);
		json_number(json, "interrupts_per_submission",
			    (double)rate->counts.interrupts / submissions);
	}
	json_end_object(json);
}

void bench_report_end(struct bench_report *report)
{
	if (!report->is_json)
		return;
	json_end_array(&report->json);
	json_end_object(&report->json);
}
