// SPDX-License-Identifier: MIT
/*
 * accel top: who uses the Tesseras, from what the driver tells in fdinfo of each open file. Only
 * files that the caller may look at are seen: for root, all.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "json.h"

/* An open file of a Tessera; several descriptors, also of several processes, may stand for it */
struct client {
	uint64_t id;
	char device[32];
	pid_t pid;		/* of the first process that has it */
	char name[32];
	uint64_t engine_ns;
	uint64_t capacity;
	uint64_t memory;
	double utilization;	/* of all engines, in percent, since the last sample */
};

struct sample {
	struct client *clients;
	size_t count, capacity;
	struct timespec time;
};

struct settings {
	const char *proc;
	double interval;
	bool is_once;
	bool is_json;
};

__attribute__((format(printf, 1, 2)))
static int fail(const char *format, ...)
{
	struct accel_error error = { .code = -EIO };
	va_list args;

	va_start(args, format);
	vsnprintf(error.message, sizeof(error.message), format, args);
	va_end(args);
	return command_fail(&top_command, STATUS_FAILED, &error);
}

/* The text of a small file: false where there is none any more, or it may not be read. */
static bool read_text(int folder, const char *path, char *text, size_t size)
{
	int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return false;
	length = read(fd, text, size - 1);
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	return length > 0;
}

/* What stands behind a key, or NULL */
static const char *find_value(const char *text, const char *key)
{
	size_t length = strlen(key);

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (!strncmp(text, key, length) && text[length] == ':')
			return text + length + 1 + strspn(text + length + 1, " \t");
	}
	return NULL;
}

static uint64_t find_number(const char *text, const char *key)
{
	const char *value = find_value(text, key);
	uint64_t number;
	char *end;

	if (!value)
		return 0;
	number = strtoull(value, &end, 10);
	end += strspn(end, " ");
	return number << (!strncmp(end, "KiB", 3) ? 10 : !strncmp(end, "MiB", 3) ? 20 : 0);
}

static void copy_word(char *to, size_t size, const char *from)
{
	size_t length = from ? strcspn(from, " \t\n") : 0;

	snprintf(to, size, "%.*s", (int)(length < size ? length : size - 1), from ? from : "");
}

static bool parse_client(const char *text, struct client *client)
{
	memset(client, 0, sizeof(*client));
	copy_word(client->name, sizeof(client->name), find_value(text, "drm-driver"));
	if (strcmp(client->name, "tessera"))
		return false;
	client->id = find_number(text, "drm-client-id");
	copy_word(client->device, sizeof(client->device), find_value(text, "drm-pdev"));
	client->engine_ns = find_number(text, "drm-engine-pe");
	client->capacity = find_number(text, "drm-engine-capacity-pe");
	client->memory = find_number(text, "drm-total-memory");
	return true;
}

static struct client *find_client(const struct sample *sample, const struct client *client)
{
	for (size_t n = 0; n < sample->count; n++) {
		if (sample->clients[n].id == client->id &&
		    !strcmp(sample->clients[n].device, client->device))
			return &sample->clients[n];
	}
	return NULL;
}

static bool add_client(struct sample *sample, const struct client *client)
{
	struct client *clients;
	size_t capacity = sample->capacity ? 2 * sample->capacity : 16;

	if (sample->count == sample->capacity) {
		clients = reallocarray(sample->clients, capacity, sizeof(*clients));
		if (!clients)
			return false;
		sample->clients = clients;
		sample->capacity = capacity;
	}
	sample->clients[sample->count++] = *client;
	return true;
}

/* A process may call itself anything, and this goes to a terminal */
static void read_name(int proc, const char *pid, char *name, size_t size)
{
	char path[NAME_MAX + 8];

	snprintf(path, sizeof(path), "%s/comm", pid);
	if (!read_text(proc, path, name, size))
		snprintf(name, size, "?");
	name[strcspn(name, "\n")] = '\0';
	for (; *name; name++) {
		if (!isprint((unsigned char)*name))
			*name = '?';
	}
}

static DIR *open_folder(int at, const char *path)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !folder)
		close(fd);
	return folder;
}

/* Adds what a process has open. A process that is gone meanwhile has nothing open. */
static bool scan_process(int proc, const char *pid, struct sample *sample)
{
	char path[NAME_MAX + 16], text[4096];
	struct dirent *entry;
	struct client client;
	bool is_good = true;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/fdinfo", pid);
	folder = open_folder(proc, path);
	if (!folder)
		return true;
	while (is_good && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.' ||
		    !read_text(dirfd(folder), entry->d_name, text, sizeof(text)) ||
		    !parse_client(text, &client) || find_client(sample, &client))
			continue;
		client.pid = (pid_t)strtol(pid, NULL, 10);
		read_name(proc, pid, client.name, sizeof(client.name));
		is_good = add_client(sample, &client);
	}
	closedir(folder);
	return is_good;
}

static int take_sample(const char *path, struct sample *sample)
{
	DIR *proc = open_folder(AT_FDCWD, path);
	struct dirent *entry;
	bool is_good = true;

	memset(sample, 0, sizeof(*sample));
	if (!proc)
		return fail("%s: %s", path, strerror(errno));
	clock_gettime(CLOCK_MONOTONIC, &sample->time);
	while (is_good && (entry = readdir(proc))) {
		if (isdigit((unsigned char)entry->d_name[0]))
			is_good = scan_process(dirfd(proc), entry->d_name, sample);
	}
	closedir(proc);
	return is_good ? STATUS_OK : fail("%s", strerror(ENOMEM));
}

static double seconds_between(const struct sample *from, const struct sample *to)
{
	return (double)(to->time.tv_sec - from->time.tv_sec) +
	       (double)(to->time.tv_nsec - from->time.tv_nsec) / 1e9;
}

static int compare_clients(const void *left, const void *right)
{
	const struct client *a = left, *b = right;

	if (a->utilization != b->utilization)
		return a->utilization < b->utilization ? 1 : -1;
	return a->pid != b->pid ? (a->pid > b->pid) - (a->pid < b->pid) :
				  (a->id > b->id) - (a->id < b->id);
}

/* What is new since the last sample has used nothing before */
static void compare_samples(const struct sample *last, struct sample *sample)
{
	double seconds = seconds_between(last, sample);

	for (size_t n = 0; n < sample->count; n++) {
		struct client *client = &sample->clients[n];
		const struct client *before = find_client(last, client);
		uint64_t ns = client->engine_ns - (before ? before->engine_ns : 0);

		if (client->capacity && seconds > 0)
			client->utilization = (double)ns / (seconds * 1e7) /
					      (double)client->capacity;
	}
	if (sample->count)
		qsort(sample->clients, sample->count, sizeof(*sample->clients), compare_clients);
}

static void print_json(const struct sample *sample, double seconds)
{
	struct json json = { .stream = stdout };

	json_begin_object(&json, NULL);
	json_number(&json, "seconds", seconds);
	json_begin_array(&json, "clients");
	for (size_t n = 0; n < sample->count; n++) {
		const struct client *client = &sample->clients[n];

		json_begin_object(&json, NULL);
		json_unsigned(&json, "pid", (uint64_t)client->pid);
		json_string(&json, "name", client->name);
		json_string(&json, "device", client->device);
		json_unsigned(&json, "client", client->id);
		json_number(&json, "utilization_percent", client->utilization);
		json_unsigned(&json, "engine_ns", client->engine_ns);
		json_unsigned(&json, "engines", client->capacity);
		json_unsigned(&json, "memory_bytes", client->memory);
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
}

static void print_table(const struct sample *sample)
{
	if (isatty(STDOUT_FILENO))
		fputs("\033[H\033[J", stdout);	/* home, and nothing below */
	printf("%8s %-16s %-13s %7s %12s %12s\n", "PID", "NAME", "DEVICE", "USE %", "DEVICE ms",
	       "MEMORY KiB");
	for (size_t n = 0; n < sample->count; n++) {
		const struct client *client = &sample->clients[n];

		printf("%8d %-16s %-13s %7.1f %12" PRIu64 " %12" PRIu64 "\n", (int)client->pid,
		       client->name, client->device, client->utilization,
		       client->engine_ns / 1000000, client->memory >> 10);
	}
}

static int show(const struct settings *settings)
{
	struct timespec pause = { .tv_sec = (time_t)settings->interval };
	struct sample last, sample;
	int status;

	pause.tv_nsec = (long)((settings->interval - (double)pause.tv_sec) * 1e9);
	status = take_sample(settings->proc, &last);
	while (status == STATUS_OK) {
		nanosleep(&pause, NULL);
		status = take_sample(settings->proc, &sample);
		if (status == STATUS_OK) {
			compare_samples(&last, &sample);
			if (settings->is_json)
				print_json(&sample, seconds_between(&last, &sample));
			else
				print_table(&sample);
		}
		free(last.clients);
		last = sample;
		/* Who reads it has gone, or the disk is full: main() says so */
		if (settings->is_once || fflush(stdout))
			break;
	}
	free(last.clients);
	return status;
}

static int run_top(int argc, char **argv)
{
	static const struct option options[] = {
		{ "once", no_argument, NULL, 'o' },
		{ "json", no_argument, NULL, 'j' },
		{ "interval", required_argument, NULL, 'i' },
		{ "proc", required_argument, NULL, 'p' },
		{ 0 },
	};
	struct settings settings = { .proc = "/proc", .interval = 1 };
	char *end = "";
	int option;

	optind = 0;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'o')
			settings.is_once = true;
		else if (option == 'j')
			settings.is_json = true;
		else if (option == 'i')
			settings.interval = strtod(optarg, &end);
		else if (option == 'p')
			settings.proc = optarg;
		else
			return command_misuse(&top_command, "bad option");
		if (option == 'i' && (end == optarg || *end || !(settings.interval >= 0.01) ||
				      settings.interval > 3600))
			return command_misuse(&top_command,
					      "--interval %s, expected seconds from 0.01 to 3600",
					      optarg);
	}
	if (optind < argc)
		return command_misuse(&top_command, "argument '%s', expected none", argv[optind]);
	return show(&settings);
}

const struct command top_command = {
	.name = "top",
	.summary = "who uses the devices, live",
	.usage =
		"usage: accel top [--interval SECONDS] [--once] [--json] [--proc FOLDER]\n"
		"\n"
		"Shows each open file of a Tessera: its process, how much of the device's\n"
		"engines it has used since the last look (100 % is all of them), what it has\n"
		"used in all, and the memory of its buffers. Those of other users are seen by\n"
		"root alone.\n"
		"\n"
		"  --interval SECONDS   between two looks (default: 1)\n"
		"  --once               one look, and end\n"
		"  --json               each look as an object of JSON\n"
		"  --proc FOLDER        in place of /proc\n",
	.run = run_top,
};
