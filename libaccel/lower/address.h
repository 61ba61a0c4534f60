/* SPDX-License-Identifier: MIT */
/*
 * Where the elements of a tensor are, as terms of a nest: from indices to bytes.
 */
#ifndef LOWER_ADDRESS_H
#define LOWER_ADDRESS_H

#include "layout/simplify.h"
#include "lower/nest.h"

/* Beside 0 and -errno: VALUE_INDEX is in the address otherwise than as a multiple. */
#define ADDRESS_IS_NOT_LINEAR	1

/*
 * The address of the element at indices, over the variables of bounds, in bytes from the start of
 * what is bound. *index_stride is what VALUE_INDEX is multiplied by, 0 if it is not there.
 * -EOVERFLOW, -E2BIG for more terms than a nest has.
 */
int address_make(const struct accel_tensor *tensor, struct accel_expression *const *indices,
		 const struct bounds *bounds, struct lower_address *address,
		 int64_t *index_stride);

/* Adds value * stride, in bytes; value is consumed, may be NULL with errno, is not simplified. */
int address_add(struct lower_address *address, struct accel_expression *value, int64_t stride);

void address_release(struct lower_address *address);
void address_copy(struct lower_address *to, const struct lower_address *from);
bool address_equal(const struct lower_address *a, const struct lower_address *b);
bool address_mentions(const struct lower_address *address, const char *name);

#endif /* LOWER_ADDRESS_H */
