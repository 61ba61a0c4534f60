// SPDX-License-Identifier: MIT
/*
 * The .npy format of NumPy (numpy/lib/format.py): magic, version, length, and a header that is the
 * text of a Python dictionary. Of Python's literals this reads what such a header can have:
 * strings, booleans, integers and tuples of them.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "tensor/npy.h"

static const char magic[] = "\x93NUMPY";

#define MAGIC_SIZE	6
#define MAX_TEXT	10000	/* of a header; NumPy's own limit (max_header_size) */
#define ALIGNMENT	64	/* of the data, as NumPy writes it */

/*
 * Element types: kind and bytes as in a file. Booleans are bytes; complex numbers are moved as they
 * are. NumPy knows no bfloat16: ml_dtypes writes it as two little-endian void bytes, while
 * void bytes of no order are raw.
 */
static const struct npy_type {
	char order;		/* '\0': any; '|': none; '<': little endian */
	char kind;
	uint32_t size;
	enum accel_dtype dtype;
	uint32_t swap_size;
	const char *descr;
} types[] = {
	{ '\0', 'b', 1, ACCEL_DTYPE_U8, 1, "|b1" },
	{ '\0', 'u', 1, ACCEL_DTYPE_U8, 1, "|u1" },
	{ '\0', 'i', 1, ACCEL_DTYPE_I8, 1, "|i1" },
	{ '\0', 'u', 2, ACCEL_DTYPE_U16, 2, "<u2" },
	{ '\0', 'i', 2, ACCEL_DTYPE_I16, 2, "<i2" },
	{ '\0', 'f', 2, ACCEL_DTYPE_F16, 2, "<f2" },
	{ '\0', 'u', 4, ACCEL_DTYPE_U32, 4, "<u4" },
	{ '\0', 'i', 4, ACCEL_DTYPE_I32, 4, "<i4" },
	{ '\0', 'f', 4, ACCEL_DTYPE_F32, 4, "<f4" },
	{ '\0', 'u', 8, ACCEL_DTYPE_U64, 8, "<u8" },
	{ '\0', 'i', 8, ACCEL_DTYPE_I64, 8, "<i8" },
	{ '\0', 'f', 8, ACCEL_DTYPE_F64, 8, "<f8" },
	{ '\0', 'c', 8, ACCEL_DTYPE_RAW64, 4, "<c8" },
	{ '\0', 'c', 16, ACCEL_DTYPE_RAW128, 8, "<c16" },
	{ '<', 'V', 2, ACCEL_DTYPE_BF16, 2, "<V2" },
	{ '|', 'V', 1, ACCEL_DTYPE_RAW8, 1, "|V1" },
	{ '|', 'V', 2, ACCEL_DTYPE_RAW16, 1, "|V2" },
	{ '|', 'V', 4, ACCEL_DTYPE_RAW32, 1, "|V4" },
	{ '|', 'V', 8, ACCEL_DTYPE_RAW64, 1, "|V8" },
	{ '|', 'V', 16, ACCEL_DTYPE_RAW128, 1, "|V16" },
};

/* The header's text while it is parsed; end is one past its last byte. */
struct cursor {
	const char *text;
	const char *next;
	const char *end;
	bool has_long_suffix;	/* versions 1 and 2: Python 2 may have written 12L */
	struct accel_error *error;
};

static int column_of(const struct cursor *cursor)
{
	return (int)(cursor->next - cursor->text) + 1;
}

static int unexpected(const struct cursor *cursor, const char *expected)
{
	char found[16] = "the end";

	if (cursor->next < cursor->end && isprint((unsigned char)*cursor->next))
		snprintf(found, sizeof(found), "'%c'", *cursor->next);
	else if (cursor->next < cursor->end)
		snprintf(found, sizeof(found), "byte 0x%02x", (unsigned char)*cursor->next);
	return accel_error_set_at(cursor->error, -EINVAL, column_of(cursor),
				  "header: found %s at column %d, expected %s", found,
				  column_of(cursor), expected);
}

static void skip_blanks(struct cursor *cursor)
{
	while (cursor->next < cursor->end && strchr(" \t\r\n\f", *cursor->next) && *cursor->next)
		cursor->next++;
}

static bool take(struct cursor *cursor, char c)
{
	skip_blanks(cursor);
	if (cursor->next == cursor->end || *cursor->next != c)
		return false;
	cursor->next++;
	return true;
}

static bool take_word(struct cursor *cursor, const char *word)
{
	size_t length = strlen(word);

	skip_blanks(cursor);
	if ((size_t)(cursor->end - cursor->next) < length || memcmp(cursor->next, word, length))
		return false;
	cursor->next += length;
	return true;
}

/* A string without escapes: none of the keys, and no element type, has one. */
static int parse_string(struct cursor *cursor, char *string, size_t size, const char *expected)
{
	size_t length = 0;
	char quote;

	skip_blanks(cursor);
	if (cursor->next == cursor->end || (*cursor->next != '\'' && *cursor->next != '"'))
		return unexpected(cursor, expected);
	quote = *cursor->next++;
	while (cursor->next < cursor->end && *cursor->next != quote) {
		if (length + 1 == size || !isprint((unsigned char)*cursor->next) ||
		    *cursor->next == '\\')
			return unexpected(cursor, expected);
		string[length++] = *cursor->next++;
	}
	if (cursor->next == cursor->end)
		return unexpected(cursor, "the quote that ends the string");
	cursor->next++;
	string[length] = '\0';
	return 0;
}

static const struct npy_type *find_type(char order, char kind, unsigned long size)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		const struct npy_type *type = &types[i];

		if (type->kind == kind && type->size == size &&
		    (!type->order || type->order == order))
			return type;
	}
	return NULL;
}

static int set_type(struct npy_header *header, const char *descr, struct accel_error *error)
{
	const struct npy_type *type = NULL;

	if (descr[0] && strchr("<>|=", descr[0]) && descr[1] && isdigit((unsigned char)descr[2]) &&
	    strspn(descr + 2, "0123456789") == strlen(descr + 2))
		/* "=" is the order of the machine that wrote it: little endian as far as we go */
		type = find_type(descr[0] == '=' ? '<' : descr[0], descr[1],
				 strtoul(descr + 2, NULL, 10));
	if (type && descr[0] == '|' && type->swap_size > 1)
		type = NULL;
	if (!type)
		return accel_error_set(error, -EINVAL,
				       "header: element type '%s', expected b1, u1, i1, u2, i2, "
				       "f2, u4, i4, f4, u8, i8, f8, c8 or c16 after < or >, '<V2' "
				       "(bf16) or '|V1' to '|V16'", descr);
	strcpy(header->descr, type->descr);
	header->dtype = type->dtype;
	header->swap_size = type->swap_size;
	header->is_big_endian = descr[0] == '>';
	return 0;
}

static int parse_descr(struct cursor *cursor, struct npy_header *header)
{
	char descr[32];
	int ret;

	skip_blanks(cursor);
	if (cursor->next < cursor->end && *cursor->next == '[')
		return accel_error_set_at(cursor->error, -EINVAL, column_of(cursor),
			"header: the elements are structures (column %d), expected numbers",
			column_of(cursor));
	ret = parse_string(cursor, descr, sizeof(descr), "an element type such as '<f4'");
	return ret ? ret : set_type(header, descr, cursor->error);
}

static int parse_fortran_order(struct cursor *cursor, struct npy_header *header)
{
	header->is_fortran = take_word(cursor, "True");
	if (header->is_fortran || take_word(cursor, "False"))
		return 0;
	return unexpected(cursor, "True or False");
}

static int parse_extent(struct cursor *cursor, int64_t *extent)
{
	*extent = 0;
	skip_blanks(cursor);
	if (cursor->next == cursor->end || !isdigit((unsigned char)*cursor->next))
		return unexpected(cursor, "an extent, a number of 0 or more");
	for (; cursor->next < cursor->end && isdigit((unsigned char)*cursor->next);
	     cursor->next++) {
		if (__builtin_mul_overflow(*extent, 10, extent) ||
		    __builtin_add_overflow(*extent, *cursor->next - '0', extent))
			return accel_error_set_at(cursor->error, -EINVAL, column_of(cursor),
				"header: the extent at column %d does not fit 63 bits",
				column_of(cursor));
	}
	if (cursor->has_long_suffix && cursor->next < cursor->end && *cursor->next == 'L')
		cursor->next++;
	return 0;
}

static int parse_shape(struct cursor *cursor, struct npy_header *header)
{
	if (!take(cursor, '('))
		return unexpected(cursor, "a shape such as (3, 4)");
	header->rank = 0;
	while (!take(cursor, ')')) {
		int ret;

		if (header->rank == ACCEL_MAX_DIMS)
			return unexpected(cursor, "at most 16 axes");
		ret = parse_extent(cursor, &header->shape[header->rank]);
		if (ret)
			return ret;
		header->rank++;
		if (take(cursor, ','))
			continue;
		/* (3) would be a number, not a tuple */
		if (header->rank == 1 || !take(cursor, ')'))
			return unexpected(cursor, header->rank == 1 ? "','" : "',' or ')'");
		break;
	}
	return 0;
}

static const struct npy_key {
	const char *name;
	int (*parse)(struct cursor *cursor, struct npy_header *header);
} keys[] = {
	{ "descr", parse_descr },
	{ "fortran_order", parse_fortran_order },
	{ "shape", parse_shape },
};

#define NUM_KEYS (sizeof(keys) / sizeof(keys[0]))

static int parse_item(struct cursor *cursor, struct npy_header *header, bool *is_known)
{
	static const char expected[] = "'descr', 'fortran_order' or 'shape', each once";
	const char *start;
	char name[16];
	size_t i = 0;
	int ret;

	skip_blanks(cursor);
	start = cursor->next;
	ret = parse_string(cursor, name, sizeof(name), expected);
	if (ret)
		return ret;
	while (i < NUM_KEYS && strcmp(name, keys[i].name))
		i++;
	if (i == NUM_KEYS || is_known[i]) {
		cursor->next = start;
		return accel_error_set_at(cursor->error, -EINVAL, column_of(cursor),
					  "header: found key '%s' at column %d, expected %s", name,
					  column_of(cursor), expected);
	}
	is_known[i] = true;
	if (!take(cursor, ':'))
		return unexpected(cursor, "':'");
	return keys[i].parse(cursor, header);
}

static int parse_dictionary(struct cursor *cursor, struct npy_header *header)
{
	bool is_known[NUM_KEYS] = { false };

	if (!take(cursor, '{'))
		return unexpected(cursor, "'{'");
	while (!take(cursor, '}')) {
		int ret = parse_item(cursor, header, is_known);

		if (ret)
			return ret;
		if (take(cursor, ','))
			continue;
		if (!take(cursor, '}'))
			return unexpected(cursor, "',' or '}'");
		break;
	}
	skip_blanks(cursor);
	if (cursor->next != cursor->end)
		return unexpected(cursor, "the end");
	for (size_t i = 0; i < NUM_KEYS; i++) {
		if (!is_known[i])
			return accel_error_set(cursor->error, -EINVAL,
					       "header: key '%s' is missing", keys[i].name);
	}
	return 0;
}

static int compute_size(struct npy_header *header, struct accel_error *error)
{
	uint64_t size = accel_dtype_size(header->dtype);

	header->num_elements = 1;
	for (uint32_t i = 0; i < header->rank; i++) {
		if (!header->shape[i])
			header->num_elements = 0;
	}
	for (uint32_t i = 0; i < header->rank && header->num_elements; i++) {
		if (__builtin_mul_overflow(header->num_elements, (uint64_t)header->shape[i],
					   &header->num_elements))
			goto err_overflow;
	}
	if (__builtin_mul_overflow(header->num_elements, size, &header->data_size) ||
	    header->data_size > INT64_MAX - NPY_MAX_HEADER)
		goto err_overflow;
	return 0;

err_overflow:
	return accel_error_set(error, -EINVAL,
			       "header: the bytes of this shape do not fit 63 bits");
}

/* Finds the header's text; size bytes of the file are there. */
static int find_text(const unsigned char *bytes, size_t size, struct cursor *cursor,
		     struct accel_error *error)
{
	size_t prefix, length;

	if (size < MAGIC_SIZE + 2 || memcmp(bytes, magic, MAGIC_SIZE))
		return accel_error_set(error, -EINVAL, "not a .npy file: it does not begin with "
				       "the six bytes 93 'NUMPY' and a version");
	if (bytes[6] < 1 || bytes[6] > 3 || bytes[7])
		return accel_error_set(error, -EINVAL, "version %u.%u, expected 1.0, 2.0 or 3.0",
				       bytes[6], bytes[7]);
	prefix = bytes[6] == 1 ? 10 : 12;
	if (size < prefix)
		return accel_error_set(error, -EINVAL, "truncated: it has %zu bytes, expected the "
				       "length of the header", size);
	length = bytes[8] | (size_t)bytes[9] << 8;
	if (bytes[6] > 1)
		length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
	if (length > MAX_TEXT)
		return accel_error_set(error, -EINVAL, "header: %zu bytes, expected at most %d",
				       length, MAX_TEXT);
	if (length > size - prefix)
		return accel_error_set(error, -EINVAL,
				       "truncated: the header has %zu bytes, expected %zu",
				       size - prefix, length);
	cursor->text = (const char *)bytes + prefix;
	cursor->next = cursor->text;
	cursor->end = cursor->text + length;
	cursor->has_long_suffix = bytes[6] < 3;
	cursor->error = error;
	return 0;
}

int npy_parse(const void *bytes, size_t size, struct npy_header *header, struct accel_error *error)
{
	struct cursor cursor;
	int ret;

	memset(header, 0, sizeof(*header));
	ret = find_text(bytes, size, &cursor, error);
	if (!ret)
		ret = parse_dictionary(&cursor, header);
	if (!ret)
		ret = compute_size(header, error);
	if (ret)
		return ret;
	header->data_offset = (uint64_t)(cursor.end - (const char *)bytes);
	return 0;
}

/* As pread(), but only the end of the file makes it short. */
static ssize_t read_fully(int fd, void *data, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		/* Linux reads at most 2 GiB at once */
		ssize_t count = pread(fd, (char *)data + done, size - done, (off_t)(offset + done));

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -errno;
		if (!count)
			break;
		done += (size_t)count;
	}
	return (ssize_t)done;
}

static int check_file(int fd, const char *path, struct npy_header *header,
		      struct accel_error *error)
{
	char bytes[NPY_MAX_HEADER];
	struct accel_error cause = { 0 };
	struct stat status;
	uint64_t available;
	ssize_t size;
	int ret;

	if (fstat(fd, &status))
		return accel_error_set(error, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return accel_error_set(error, -EINVAL, "%s: expected a regular file", path);
	size = read_fully(fd, bytes, sizeof(bytes), 0);
	if (size < 0)
		return accel_error_set(error, (int)size, "%s: %s", path, strerror((int)-size));
	ret = npy_parse(bytes, (size_t)size, header, &cause);
	if (ret)
		return accel_error_set_at(error, ret, cause.column, "%.100s: %.150s", path,
					  cause.message);
	available = (uint64_t)status.st_size - header->data_offset;
	if (available < header->data_size)
		return accel_error_set(error, -EINVAL,
				       "%s: truncated: %" PRIu64 " bytes of data, expected %"
				       PRIu64, path, available, header->data_size);
	return 0;
}

int npy_open(const char *path, struct npy_header *header, int *fd, struct accel_error *error)
{
	int ret;

	/* NONBLOCK: to open a pipe must not wait; it has no effect on files */
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (*fd < 0)
		return accel_error_set(error, -errno, "%s: %s", path, strerror(errno));
	ret = check_file(*fd, path, header, error);
	if (ret) {
		close(*fd);
		*fd = -1;
	}
	return ret;
}

static void swap_bytes(unsigned char *data, uint64_t size, uint32_t swap_size)
{
	for (uint64_t start = 0; start < size; start += swap_size) {
		for (uint32_t i = 0; i < swap_size / 2; i++) {
			unsigned char byte = data[start + i];

			data[start + i] = data[start + swap_size - 1 - i];
			data[start + swap_size - 1 - i] = byte;
		}
	}
}

int npy_read(int fd, const char *path, const struct npy_header *header, void *data,
	     struct accel_error *error)
{
	ssize_t size = read_fully(fd, data, header->data_size, header->data_offset);

	if (size < 0)
		return accel_error_set(error, (int)size, "%s: %s", path, strerror((int)-size));
	if ((uint64_t)size < header->data_size)
		return accel_error_set(error, -EIO, "%s: it became shorter while it was read",
				       path);
	if (header->is_big_endian)
		swap_bytes(data, header->data_size, header->swap_size);
	return 0;
}

const char *npy_descr(enum accel_dtype dtype)
{
	const char *descr = NULL;

	/* the last row of a type is the plain one: u1 behind b1, V8 behind c8 */
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (types[i].dtype == dtype)
			descr = types[i].descr;
	}
	return descr;
}

size_t npy_format(const char *descr, uint32_t rank, const int64_t *shape,
		  char bytes[NPY_MAX_FORMATTED])
{
	size_t length = 10, padded;

	memcpy(bytes, magic, MAGIC_SIZE);
	bytes[6] = 1;
	bytes[7] = 0;
	length += (size_t)sprintf(bytes + length, "{'descr': '%s', 'fortran_order': False, "
				  "'shape': (", descr);
	for (uint32_t i = 0; i < rank; i++)
		length += (size_t)sprintf(bytes + length, "%s%" PRId64 "%s", i ? ", " : "",
					  shape[i], rank == 1 ? "," : "");
	length += (size_t)sprintf(bytes + length, "), }");
	/* blanks and a newline, so that the data begins at a multiple of 64 */
	padded = (length + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	memset(bytes + length, ' ', padded - length - 1);
	bytes[padded - 1] = '\n';
	bytes[8] = (char)((padded - 10) & 0xff);
	bytes[9] = (char)((padded - 10) >> 8);
	return padded;
}
