/* SPDX-License-Identifier: MIT */
/*
 * The .npy format of NumPy, versions 1.0 to 3.0: headers read and written, data read. Knows nothing
 * of tensors and layouts. Nothing that a file says is believed before it is checked.
 */
#ifndef TENSOR_NPY_H
#define TENSOR_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <accel.h>

#define NPY_MAX_DESCR	8

struct npy_header {
	char descr[NPY_MAX_DESCR];	/* the element type as a file of ours names it: "<f4" */
	enum accel_dtype dtype;
	bool is_big_endian;
	uint32_t swap_size;		/* bytes to turn round in big-endian data */
	bool is_fortran;		/* the first axis is the fastest */
	uint32_t rank;
	int64_t shape[ACCEL_MAX_DIMS];
	uint64_t num_elements;
	uint64_t data_offset;		/* bytes from the start of the file */
	uint64_t data_size;		/* bytes */
};

/* Enough bytes of the start of a file for any header that is accepted. */
#define NPY_MAX_HEADER	(12 + 10000)

/*
 * Parses the header at the start of a file, of which size bytes are given: NPY_MAX_HEADER of
 * them, or all that there are. -EINVAL, with the column in the header's text where there is one.
 */
int npy_parse(const void *bytes, size_t size, struct npy_header *header,
	      struct accel_error *error);

/*
 * Opens a file and parses its header; *fd is the caller's to close. -EINVAL if it is no .npy
 * file, or is shorter than its header says; others of open().
 */
int npy_open(const char *path, struct npy_header *header, int *fd, struct accel_error *error);

/* Reads the data, little endian whatever the file has, to memory of data_size bytes. */
int npy_read(int fd, const char *path, const struct npy_header *header, void *data,
	     struct accel_error *error);

/* The element type as a file of ours names it, "<f4"; there is one for every type. */
const char *npy_descr(enum accel_dtype dtype);

/* Enough for any header that npy_format() makes: 64 for the rest, 22 for each extent. */
#define NPY_MAX_FORMATTED	(192 + ACCEL_MAX_DIMS * 22)

/*
 * Makes the header, version 1.0, of an array in C order. descr is that of a npy_header. Returns
 * its length, a multiple of 64.
 */
size_t npy_format(const char *descr, uint32_t rank, const int64_t *shape,
		  char bytes[NPY_MAX_FORMATTED]);

#endif /* TENSOR_NPY_H */
