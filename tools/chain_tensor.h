/* SPDX-License-Identifier: MIT */
/*
 * A chain's tensors in memory.
 */
#ifndef TOOLS_CHAIN_TENSOR_H
#define TOOLS_CHAIN_TENSOR_H

#include "chain.h"

#define CHAIN_MAX_TENSORS	(CHAIN_MAX_FILES + 1)	/* the inputs, and the output */

/*
 * The tensor of an input's data: on the CPU the file itself, mapped and not read before it is
 * needed; elsewhere, and where bytes have to be swapped, a buffer that it is read into.
 */
int chain_load_input(struct accel_device *device, const struct chain_input *input,
		     struct accel_tensor **tensor, struct accel_error *error);

/* The same with nothing read: zeros, for plans that are not run. */
int chain_imagine_input(struct accel_device *device, const struct chain_input *input,
			struct accel_tensor **tensor, struct accel_error *error);

/*
 * While one is loaded, a file that is cut short under us ends the process with a message and the
 * status of a failure, not with a signal. What SIGBUS did before comes back with false.
 */
void chain_guard_files(bool is_guarded);

#endif /* TOOLS_CHAIN_TENSOR_H */
