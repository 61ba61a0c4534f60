// SPDX-License-Identifier: MIT
/*
 * accel: finds the subcommand and runs it. What each does is in the file of its name.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

static const struct command *const commands[] = {
	&info_command,
	&run_command,
	&plan_command,
	&map_command,
	&layout_command,
	&bench_command,
	&demo_command,
	&top_command,
	&dump_command,
	&repartition_command,
	&tile_command,
};

#define NUM_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < NUM_COMMANDS; i++) {
		if (!strcmp(name, commands[i]->name))
			return commands[i];
	}
	return NULL;
}

static void print_help(FILE *stream)
{
	fputs("usage: accel COMMAND [OPTIONS]\n"
	      "       accel help COMMAND\n"
	      "       accel --version\n"
	      "\n"
	      "Copies tensors from one memory layout to another, on a Tessera device or the CPU.\n"
	      "\n", stream);
	for (size_t i = 0; i < NUM_COMMANDS; i++)
		fprintf(stream, "  %-11s %s\n", commands[i]->name, commands[i]->summary);
}

static int misuse(const char *what, const char *given)
{
	fprintf(stderr, "accel: %s%s%s\n\n", what, given ? " " : "", given ? given : "");
	print_help(stderr);
	return STATUS_USAGE;
}

static int help(int argc, char **argv)
{
	const struct command *command;

	if (argc < 3) {
		print_help(stdout);
		return STATUS_OK;
	}
	command = find_command(argv[2]);
	if (!command)
		return misuse("no such command:", argv[2]);
	fputs(command->usage, stdout);
	return STATUS_OK;
}

static int run(int argc, char **argv)
{
	const struct command *command;
	char name[32];

	if (argc < 2)
		return misuse("expected a command", NULL);
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help(argc, argv);
	if (!strcmp(argv[1], "--version")) {
		printf("accel %s\n", accel_version());
		return STATUS_OK;
	}
	command = find_command(argv[1]);
	if (!command)
		return misuse("no such command:", argv[1]);
	if (argc == 3 && (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h"))) {
		fputs(command->usage, stdout);
		return STATUS_OK;
	}
	snprintf(name, sizeof(name), "accel %s", command->name);
	argv[1] = name;
	return command->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	int status = run(argc, argv);

	/* a full disk shows only now */
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "accel: standard output: %s\n", strerror(errno));
		return status ? status : STATUS_FAILED;
	}
	return status;
}
