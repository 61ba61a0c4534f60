/* SPDX-License-Identifier: MIT */
/*
 * Runs accel, or a subcommand of it, in this process, and keeps what it prints. A test of one
 * command defines COMMAND, its struct command, before it includes this.
 */
#ifndef TESTS_UNIT_COMMAND_TEST_H
#define TESTS_UNIT_COMMAND_TEST_H

#include <unistd.h>

#include "accel_test.h"
#include "command.h"

/* What the last run has printed. */
static char printed[65536], complained[65536];

/* Puts a file in place of a stream of the process; returns the stream's own descriptor. */
static int redirect(FILE *stream, int fd, FILE *file)
{
	int saved;

	fflush(stream);
	saved = dup(fd);
	assert_true(saved >= 0 && dup2(fileno(file), fd) >= 0);
	return saved;
}

static void restore(FILE *stream, int fd, int saved)
{
	fflush(stream);
	dup2(saved, fd);
	close(saved);
}

/* All of a file, as a string; closes it. */
static size_t read_back(FILE *file, char *text, size_t size)
{
	size_t length;

	rewind(file);
	length = fread(text, 1, size - 1, file);
	text[length] = '\0';
	fclose(file);
	return length;
}

#define MAX_ARGUMENTS 96

/* Runs what is like a main(), by that name, with arguments up to a NULL; keeps what it prints. */
static int run_with(int (*function)(int argc, char **argv), const char *name,
		    const char *const *arguments)
{
	FILE *out = tmpfile(), *err = tmpfile();
	int saved_out, saved_err, status, count = 1;
	char *argv[MAX_ARGUMENTS] = { (char *)name };

	assert_true(out && err);
	for (; arguments[count - 1]; count++)
		argv[count] = (char *)arguments[count - 1];
	saved_out = redirect(stdout, STDOUT_FILENO, out);
	saved_err = redirect(stderr, STDERR_FILENO, err);
	status = function(count, argv);
	restore(stderr, STDERR_FILENO, saved_err);
	restore(stdout, STDOUT_FILENO, saved_out);
	read_back(err, complained, sizeof(complained));
	read_back(out, printed, sizeof(printed));
	return status;
}

static inline int run_command_with(const struct command *command, const char *const *arguments)
{
	return run_with(command->run, command->name, arguments);
}

#ifdef COMMAND
static int run(const char *const *arguments)
{
	return run_command_with(&COMMAND, arguments);
}

#define RUN(...)	run((const char *const[]){ __VA_ARGS__, NULL })
#endif

#endif /* TESTS_UNIT_COMMAND_TEST_H */
