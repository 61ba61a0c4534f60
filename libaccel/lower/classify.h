/* SPDX-License-Identifier: MIT */
/*
 * What a function does to the elements of its inputs, in a word, and the map from its output to
 * its input.
 */
#ifndef LOWER_CLASSIFY_H
#define LOWER_CLASSIFY_H

#include <accel.h>

/* Sets the class and the map of a plan of the function. */
int classify(const struct accel_function *function, struct accel_plan *plan,
	     struct accel_error *error);

#endif /* LOWER_CLASSIFY_H */
