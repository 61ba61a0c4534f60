/* SPDX-License-Identifier: MIT */
/*
 * Files that are written beside their name and renamed when they are whole, so that a failure
 * leaves what was there before.
 */
#ifndef TOOLS_OUTPUT_H
#define TOOLS_OUTPUT_H

#include <stddef.h>

#include <accel.h>

struct output;

/*
 * Begins a file. Where path is a symbolic link, what it leads to is replaced and the link stays. A
 * file that is there already gives its permissions to the new one. There is one output at a
 * time; SIGINT, SIGTERM and SIGHUP remove what was written of it. -EINVAL if path is there and is
 * no regular file.
 */
int output_create(const char *path, struct output **output, struct accel_error *error);

int output_write(struct output *output, const void *data, size_t size, struct accel_error *error);

/* Puts the file in its place, safe on disk, and frees output, also when it fails. */
int output_commit(struct output *output, struct accel_error *error);

/* Removes what was written and frees output. NULL is accepted. */
void output_discard(struct output *output);

/* Removes what was written of the output that there is. Safe in the handler of a signal. */
void output_abandon(void);

#endif /* TOOLS_OUTPUT_H */
