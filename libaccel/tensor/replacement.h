/* SPDX-License-Identifier: MIT */
/*
 * Files that are written beside their name and renamed when they are whole, so that a failure
 * leaves what was there before.
 */
#ifndef TENSOR_REPLACEMENT_H
#define TENSOR_REPLACEMENT_H

#include <stddef.h>

#include <accel.h>

struct replacement;

/*
 * Begins a file. Where path is a symbolic link, what it leads to is replaced and the link stays. A
 * file that is there already gives its permissions to the new one. -EINVAL if path is there and is
 * no regular file.
 */
int replacement_create(const char *path, struct replacement **replacement,
		       struct accel_error *error);

/* The path of what is written, which is gone after the functions below. */
const char *replacement_temporary(const struct replacement *replacement);

int replacement_write(struct replacement *replacement, const void *data, size_t size,
		      struct accel_error *error);

/* Puts the file in its place, safe on disk, and frees replacement, also when it fails. */
int replacement_commit(struct replacement *replacement, struct accel_error *error);

/* Removes what was written and frees replacement. NULL is accepted. */
void replacement_discard(struct replacement *replacement);

#endif /* TENSOR_REPLACEMENT_H */
