/* SPDX-License-Identifier: MIT */
/*
 * Jobs that copy one tensor to another, for those who submit them in their own ways.
 */
#ifndef LOWER_COPY_H
#define LOWER_COPY_H

#include "lower/bind.h"

/* Whether elements of src can go to dst as they are: -EINVAL for another shape or type. */
int copy_check(const struct accel_tensor *dst, const struct accel_tensor *src,
	       struct accel_error *error);

/*
 * The jobs of accel_copy(). With keeps_order the loops are in the order of the axes, outermost
 * first, otherwise in that of the destination. To be released, unless it fails.
 */
int copy_bind(struct accel_tensor *dst, struct accel_tensor *src, bool keeps_order,
	      struct plan_binding *binding, struct accel_error *error);

#endif /* LOWER_COPY_H */
