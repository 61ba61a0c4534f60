// SPDX-License-Identifier: MIT
/*
 * accel bench: how fast jobs run on a device, beside memcpy in the same run: arguments, and the
 * order of things. What a case is, how the clock is read and what is printed is in bench_*.c.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argument.h"
#include "bench.h"
#include "error.h"

#define MAX_NAMES	64
#define DEFAULT_ROUNDS	11

struct options {
	const char *names[MAX_NAMES];	/* none: all cases */
	uint32_t num_names;
	const char *device;
	uint32_t num_threads;
	uint32_t rounds;
	bool is_json;
	bool has_peers;
	bool is_modelled;
};

/* A peer while a case is measured. */
struct guest {
	const char *name;
	uint32_t num_threads;
	struct bench_peer *peer;
	struct bench_contestant contestant;
};

/* A run of the subcommand; what is not there (yet) is NULL. */
struct session {
	const struct options *options;
	struct accel_device *device;
	struct bench_copiers *copiers;
	struct bench_contestant copy;
	struct bench_contestant job;
	struct bench_contestant chain;
	struct bench_contestant additions;
	uint32_t num_guests;		/* of this case */
	struct guest guests[BENCH_NUM_PEERS];
	bool is_there[BENCH_NUM_PEERS];	/* peers that are installed, and their programs */
	char paths[BENCH_NUM_PEERS][PATH_MAX];
	struct bench_report report;
};

/* Measurement ------------------------------------------------------------------------------ */

static struct bench_statistics rate_of(const struct bench_contestant *contestant, uint32_t rounds,
			   uint64_t bytes)
{
	struct bench_statistics taken = bench_statistics(contestant->samples, rounds);

	/* bytes a nanosecond are gigabytes a second; the longest time is the least rate */
	return (struct bench_statistics){
		.median = (double)bytes / taken.median,
		.minimum = (double)bytes / taken.maximum,
		.maximum = (double)bytes / taken.minimum,
	};
}

/* The median of the rounds' ratios: what slows down a whole round does not change them. */
static double ratio_of(const struct bench_contestant *contestant,
		       const struct bench_contestant *copy, uint32_t rounds)
{
	double ratios[BENCH_MAX_ROUNDS];

	for (uint32_t k = 0; k < rounds; k++)
		ratios[k] = copy->samples[k] / contestant->samples[k];
	return bench_statistics(ratios, rounds).median;
}

/* Peers that are not there or do not agree are left out; why is said, and is no failure. */
static void leave_out(const struct bench_setup *setup, const char *name,
		      const struct accel_error *error)
{
	fprintf(stderr, "accel bench: case %s without %s: %s\n", setup->bench->letter, name,
		error->message);
}

/* Starts a peer, and looks at what it makes of the case before it is measured. */
static void invite(struct session *session, struct bench_setup *setup, size_t kind)
{
	struct guest *guest = &session->guests[session->num_guests];
	struct accel_error error;
	uint64_t taken;
	int ret;

	guest->name = bench_peer_name(kind);
	guest->num_threads = session->options->num_threads;
	ret = bench_peer_start(kind, session->paths[kind], setup, &guest->num_threads,
			       &guest->peer, &error);
	if (!ret && !guest->peer)
		return;
	if (!ret) {
		bench_setup_spoil(setup);
		ret = bench_run_peer(guest->peer, 1, &taken, &error);
	}
	if (!ret)
		ret = bench_verify(setup, guest->name, true, &error);
	if (ret) {
		leave_out(setup, guest->name, &error);
		bench_peer_stop(guest->peer);
		return;
	}
	guest->contestant.run = bench_run_peer;
	guest->contestant.context = guest->peer;
	guest->contestant.touches_memory = true;
	session->num_guests++;
}

static void invite_all(struct session *session, struct bench_setup *setup)
{
	session->num_guests = 0;
	for (size_t kind = 0; kind < BENCH_NUM_PEERS; kind++) {
		if (session->is_there[kind])
			invite(session, setup, kind);
	}
}

static void dismiss_all(struct session *session)
{
	for (uint32_t k = 0; k < session->num_guests; k++)
		bench_peer_stop(session->guests[k].peer);
}

static void evaluate(const struct session *session, const struct bench_setup *setup,
		     struct bench_result *result)
{
	uint32_t rounds = session->options->rounds;

	result->bytes = bench_case_bytes(result->bench);
	result->page_runs = setup->source.page_runs;
	result->copy = rate_of(&session->copy, rounds, result->bytes);
	result->job = rate_of(&session->job, rounds, result->bytes);
	result->ratio = ratio_of(&session->job, &session->copy, rounds);
	if (session->report.info.kind == ACCEL_DEVICE_CPU)
		result->additions = ratio_of(&session->additions, &session->chain, rounds);
	result->num_peers = session->num_guests;
	for (uint32_t k = 0; k < session->num_guests; k++) {
		const struct guest *guest = &session->guests[k];

		result->peers[k] = (struct bench_peer_result){
			.name = guest->name,
			.num_threads = guest->num_threads,
			.rate = rate_of(&guest->contestant, rounds, result->bytes),
			.ratio = ratio_of(&guest->contestant, &session->copy, rounds),
		};
	}
}

/* Cases about pages are about throughput: the device always has the next job. */
static void aim_job(struct bench_contestant *job, const struct bench_case *bench)
{
	bool is_stream = bench->pages != BENCH_PAGES_ANY;

	job->run = is_stream ? bench_run_stream : bench_run_job;
	job->least_repetitions = is_stream ? BENCH_STREAM_JOBS : 1;
}

static int measure(struct session *session, struct bench_setup *setup, struct bench_result *result,
		   struct accel_error *error)
{
	struct bench_contestant *contestants[4 + BENCH_NUM_PEERS];
	uint32_t count = 0;
	int ret;

	bench_copiers_aim(session->copiers, setup);
	invite_all(session, setup);
	bench_setup_spoil(setup);
	if (session->report.is_modelled)
		ret = bench_setup_count(setup, &result->counters, error);
	else
		ret = bench_setup_run(setup, error);
	if (!ret)
		ret = bench_verify(setup, session->report.info.name, false, error);
	contestants[count++] = &session->copy;
	for (uint32_t k = 0; k < session->num_guests; k++)
		contestants[count++] = &session->guests[k].contestant;
	/* the last to write to the destination, which is compared again */
	session->job.context = setup;
	aim_job(&session->job, setup->bench);
	contestants[count++] = &session->job;
	if (session->report.info.kind == ACCEL_DEVICE_CPU) {
		contestants[count++] = &session->chain;
		contestants[count++] = &session->additions;
	}
	if (!ret)
		ret = bench_measure(contestants, count, session->options->rounds, error);
	if (!ret)
		ret = bench_verify(setup, session->report.info.name, false, error);
	/* what a device runs a job with is its own affair */
	if (!ret && session->report.info.kind == ACCEL_DEVICE_CPU)
		ret = accel_job_describe(setup->job, result->kernel, sizeof(result->kernel), error);
	if (!ret)
		evaluate(session, setup, result);
	dismiss_all(session);
	return ret;
}

/* The run ---------------------------------------------------------------------------------- */

static const struct bench_small smalls[] = {
	{ "p", "latency", "copy of 4 KiB, from submission to completion", 0 },
	{ "q1", "rate-1", "copies of 4 KiB, 1 a submission", 1 },
	{ "q16", "rate-16", "copies of 4 KiB, 16 a submission", 16 },
	{ "q256", "rate-256", "copies of 4 KiB, 256 a submission", 256 },
};

#define NUM_SMALLS	(sizeof(smalls) / sizeof(smalls[0]))

static bool is_wanted(const struct options *options, const char *letter, const char *name)
{
	for (uint32_t k = 0; k < options->num_names; k++) {
		if (bench_is_named(letter, name, options->names[k]))
			return true;
	}
	return !options->num_names;
}

static int run_case(struct session *session, const struct bench_case *bench,
		    struct accel_error *error)
{
	struct bench_setup setup;
	struct bench_result result = { .bench = bench };
	int ret = bench_setup_create(session->device, bench, &setup, error);

	if (!ret)
		ret = measure(session, &setup, &result, error);
	bench_setup_release(&setup);
	if (!ret)
		bench_report_case(&session->report, &result);
	return ret;
}

static int run_small(struct session *session, const struct bench_small *small,
		     struct accel_error *error)
{
	uint32_t rounds = session->options->rounds;
	char debugfs[BENCH_DEBUGFS_SIZE];
	struct bench_latency job, trip;
	struct bench_rate rate;
	int ret;

	bench_debugfs_find(session->report.info.name, debugfs);
	if (!small->num_jobs) {
		ret = bench_small_latency(session->device, rounds, debugfs, &job, &trip, error);
		if (!ret)
			bench_report_latency(&session->report, small, &job, &trip);
		return ret;
	}
	ret = bench_small_rate(session->device, small->num_jobs, rounds, debugfs, &rate, error);
	if (!ret)
		bench_report_rate(&session->report, small, &rate);
	return ret;
}

static int run_all(struct session *session, struct accel_error *error)
{
	const struct options *options = session->options;
	const struct bench_case *bench;
	int ret = 0;

	bench_report_begin(&session->report);
	for (size_t k = 0; (bench = bench_case(k)) && !ret; k++) {
		if (is_wanted(options, bench->letter, bench->name))
			ret = run_case(session, bench, error);
	}
	bench_report_begin_small(&session->report);
	for (size_t k = 0; k < NUM_SMALLS && !ret; k++) {
		if (is_wanted(options, smalls[k].letter, smalls[k].name))
			ret = run_small(session, &smalls[k], error);
	}
	/* what was measured before a failure is whole all the same */
	bench_report_end(&session->report);
	return ret;
}

/* Threads that are created from here on run on the CPUs that were chosen. */
static int prepare(struct session *session, struct accel_error *error)
{
	const struct options *options = session->options;
	int ret = bench_pin(options->num_threads, error);

	if (!ret)
		ret = command_open(options->device, &session->device, error);
	if (!ret)
		ret = bench_copiers_create(options->num_threads, &session->copiers, error);
	if (ret)
		return ret;
	accel_device_info(session->device, &session->report.info);
	if (session->report.info.kind == ACCEL_DEVICE_CPU)
		ret = accel_device_set_threads(session->device, options->num_threads, error);
	session->copy.run = bench_run_copy;
	session->copy.context = session->copiers;
	session->chain.run = bench_run_chain;
	session->additions.run = bench_run_additions;
	session->report.json.stream = stdout;
	session->report.is_json = options->is_json;
	session->report.is_modelled = options->is_modelled;
	session->report.num_threads = options->num_threads;
	session->report.rounds = options->rounds;
	return ret;
}

static int find_peers(struct session *session, struct accel_error *error)
{
	if (!session->options->has_peers)
		return 0;
	if (session->report.info.kind != ACCEL_DEVICE_CPU)
		return accel_error_set(error, -EINVAL, "--peers with --device %s, expected cpu, "
				       "where they run", session->report.info.name);
	for (size_t kind = 0; kind < BENCH_NUM_PEERS; kind++) {
		session->is_there[kind] = !bench_peer_find(kind, session->paths[kind], error);
		if (!session->is_there[kind])
			fprintf(stderr, "accel bench: without %s: %s\n", bench_peer_name(kind),
				error->message);
	}
	return 0;
}

static int bench(const struct options *options)
{
	struct session *session = calloc(1, sizeof(*session));
	struct accel_error error;
	int status = STATUS_OK;
	cpu_set_t cpus;

	if (!session) {
		fputs("accel bench: out of memory\n", stderr);
		return STATUS_FAILED;
	}
	session->options = options;
	sched_getaffinity(0, sizeof(cpus), &cpus);
	if (prepare(session, &error) || find_peers(session, &error))
		status = command_fail(&bench_command, STATUS_USAGE, &error);
	else if (run_all(session, &error))
		status = command_fail(&bench_command, STATUS_FAILED, &error);
	bench_copiers_destroy(session->copiers);
	accel_device_unref(session->device);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	free(session);
	return status;
}

/* Arguments -------------------------------------------------------------------------------- */

static bool is_known(const char *name)
{
	const struct bench_case *bench;

	for (size_t k = 0; (bench = bench_case(k)); k++) {
		if (bench_is_named(bench->letter, bench->name, name))
			return true;
	}
	for (size_t k = 0; k < NUM_SMALLS; k++) {
		if (bench_is_named(smalls[k].letter, smalls[k].name, name))
			return true;
	}
	return false;
}

static int add_name(struct options *options, const char *name)
{
	if (options->num_names == MAX_NAMES)
		return command_misuse(&bench_command, "--case is given %u times, expected at most "
				      "%u", MAX_NAMES + 1, MAX_NAMES);
	if (!is_known(name))
		return command_misuse(&bench_command, "--case %s, expected a letter or a name out "
				      "of the list of cases", name);
	options->names[options->num_names++] = name;
	return STATUS_OK;
}

static int parse_count(const char *option, const char *text, int64_t maximum, uint32_t *result)
{
	uint32_t count;
	int64_t number = 0;
	int status = argument_numbers(&bench_command, option, text, 1, 1, &count, &number);

	if (status)
		return status;
	if (!count || number > maximum)
		return command_misuse(&bench_command, "%s %s, expected 1 to %" PRId64, option, text,
				      maximum);
	*result = (uint32_t)number;
	return STATUS_OK;
}

static int parse_option(struct options *options, int option)
{
	switch (option) {
	case 'c':
		return add_name(options, optarg);
	case 'd':
		options->device = optarg;
		return STATUS_OK;
	case 't':
		return parse_count("--threads", optarg, BENCH_MAX_THREADS, &options->num_threads);
	case 'r':
		return parse_count("--repeat", optarg, BENCH_MAX_ROUNDS, &options->rounds);
	case 'j':
		options->is_json = true;
		return STATUS_OK;
	case 'p':
		options->has_peers = true;
		return STATUS_OK;
	case 'm':
		options->is_modelled = true;
		return STATUS_OK;
	}
	return command_misuse(&bench_command, "bad option");
}

static int parse_arguments(int argc, char **argv, struct options *options)
{
	static const struct option long_options[] = {
		{ "case", required_argument, NULL, 'c' },
		{ "device", required_argument, NULL, 'd' },
		{ "threads", required_argument, NULL, 't' },
		{ "repeat", required_argument, NULL, 'r' },
		{ "json", no_argument, NULL, 'j' },
		{ "peers", no_argument, NULL, 'p' },
		{ "model", no_argument, NULL, 'm' },
		{ 0 },
	};
	int option, status;

	optind = 0;
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		status = parse_option(options, option);
		if (status)
			return status;
	}
	if (optind < argc)
		return command_misuse(&bench_command, "argument '%s', expected options alone",
				      argv[optind]);
	return STATUS_OK;
}

static int bench_run(int argc, char **argv)
{
	struct options options = {
		.device = "cpu",
		.num_threads = 1,
		.rounds = DEFAULT_ROUNDS,
	};
	int status = parse_arguments(argc, argv, &options);

	return status ? status : bench(&options);
}

const struct command bench_command = {
	.name = "bench",
	.summary = "measure how fast jobs run, beside memcpy",
	.usage =
		"usage: accel bench [--case NAME]... [--device cpu|PATH] [--threads N]\n"
		"                   [--repeat N] [--json] [--peers] [--model]\n"
		"\n"
		"Runs jobs and memcpy of as many bytes in turns, and compares. Every result is\n"
		"checked, element by element.\n"
		"\n"
		"  --case NAME    a case, by letter or name; otherwise all of them\n"
		"  --device NAME  cpu (the default), auto, or a node's path\n"
		"  --threads N    for jobs and memcpy alike, on as many CPUs; 1 if not given\n"
		"  --repeat N     rounds, of which the median counts; 11 if not given\n"
		"  --json         report as JSON\n"
		"  --peers        other libraries, too, as far as they are installed: oneDNN,\n"
		"                 Eigen, NumPy\n"
		"  --model        what each job does to memory, and what a model of an\n"
		"                 accelerator makes of that\n",
	.run = bench_run,
};
