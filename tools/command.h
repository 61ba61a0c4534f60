/* SPDX-License-Identifier: MIT */
/*
 * What a subcommand of accel is, and the list of them. A new one is a file with its
 * struct command, a line here and a line in the table of accel.c.
 */
#ifndef TOOLS_COMMAND_H
#define TOOLS_COMMAND_H

#include <stdbool.h>

#include <accel.h>

enum exit_status {
	STATUS_OK = 0,
	STATUS_FAILED = 1,	/* what was asked for could not be done, or came out wrong */
	STATUS_USAGE = 2,	/* what was asked for makes no sense: arguments, files, devices */
};

struct command {
	const char *name;
	const char *summary;	/* one line, for the list of commands */
	const char *usage;	/* the whole help */
	/* argv[0] is "accel NAME". Returns an enum exit_status, after a message on stderr. */
	int (*run)(int argc, char **argv);
};

extern const struct command info_command;
extern const struct command run_command;
extern const struct command plan_command;
extern const struct command map_command;
extern const struct command layout_command;
extern const struct command bench_command;
extern const struct command demo_command;
extern const struct command top_command;
extern const struct command dump_command;
extern const struct command repartition_command;
extern const struct command tile_command;

/* Says what went wrong, as "accel NAME: MESSAGE", and returns status. */
int command_fail(const struct command *command, int status, const struct accel_error *error);

/* The same for bad arguments, with a pointer to the help. Returns STATUS_USAGE. */
__attribute__((format(printf, 2, 3)))
int command_misuse(const struct command *command, const char *format, ...);

/* accel_open() with the names of the command line: "auto" is NULL. */
int command_open(const char *name, struct accel_device **device, struct accel_error *error);

/* Prints "(1,64,56,56)"; returns text. 24 characters for each axis are enough. */
const char *command_print_shape(char *text, uint32_t rank, const int64_t *shape);
#define COMMAND_SHAPE_SIZE (ACCEL_MAX_DIMS * 24)
#define COMMAND_LONG_SHAPE_SIZE (ACCEL_MAP_MAX_AXES * 24)

#endif /* TOOLS_COMMAND_H */
