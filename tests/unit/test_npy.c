// SPDX-License-Identifier: MIT
/*
 * The .npy reader and writer: headers good and hostile, data in both byte orders. Files are built
 * here, byte by byte. `--seed N` replays one run of the random damage.
 */
#include <limits.h>
#include <sys/stat.h>

#include "file_test.h"
#include "seed.h"

static struct accel_error error;
static uint64_t seed;

/* A file in memory. */
struct image {
	size_t size;
	unsigned char bytes[20000];
};

/* A file of this version whose header is text, as it stands, and no data. */
static struct image *build(int version, const char *text)
{
	static struct image image;
	size_t length = strlen(text), prefix = version == 1 ? 10 : 12;

	memcpy(image.bytes, "\x93NUMPY", 6);
	image.bytes[6] = (unsigned char)version;
	image.bytes[7] = 0;
	for (size_t i = 8; i < prefix; i++)
		image.bytes[i] = (unsigned char)(length >> (8 * (i - 8)));
	memcpy(image.bytes + prefix, text, length);
	image.size = prefix + length;
	return &image;
}

static void expect_header(int version, const char *text, struct npy_header *header)
{
	struct image *image = build(version, text);

	expect_ok(npy_parse(image->bytes, image->size, header, &error));
	assert_int_equal(header->data_offset, image->size);
}

static void header_of_each_version_is_read(void **state)
{
	struct npy_header header;

	(void)state;
	for (int version = 1; version <= 3; version++) {
		expect_header(version, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }"
			      "          \n", &header);
		assert_int_equal(header.dtype, ACCEL_DTYPE_F32);
		assert_false(header.is_big_endian);
		assert_false(header.is_fortran);
		assert_int_equal(header.rank, 2);
		assert_int_equal(header.shape[0], 3);
		assert_int_equal(header.shape[1], 4);
		assert_int_equal(header.num_elements, 12);
		assert_int_equal(header.data_size, 48);
	}
}

static void header_may_be_written_in_other_ways(void **state)
{
	struct npy_header header;

	(void)state;
	expect_header(1, "{\"shape\":(5,),\"fortran_order\":True,\"descr\":\">i2\"}", &header);
	assert_int_equal(header.dtype, ACCEL_DTYPE_I16);
	assert_true(header.is_big_endian);
	assert_true(header.is_fortran);
	assert_int_equal(header.rank, 1);
	assert_int_equal(header.shape[0], 5);
	expect_header(1, "\t{ 'shape' : ( 5 , 6 , ) , 'fortran_order' : False , 'descr' : '|u1' ,}",
		      &header);
	assert_int_equal(header.rank, 2);
}

static void scalar_has_an_empty_tuple(void **state)
{
	struct npy_header header;

	(void)state;
	expect_header(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", &header);
	assert_int_equal(header.rank, 0);
	assert_int_equal(header.num_elements, 1);
	assert_int_equal(header.data_size, 8);
}

static void empty_array_has_no_data(void **state)
{
	struct npy_header header;

	(void)state;
	expect_header(1, "{'descr': '<f8', 'fortran_order': False, "
		      "'shape': (9223372036854775807, 0, 9223372036854775807), }", &header);
	assert_int_equal(header.num_elements, 0);
	assert_int_equal(header.data_size, 0);
}

static void long_integers_of_python_2_are_read(void **state)
{
	struct npy_header header;

	(void)state;
	expect_header(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3L, 4L), }", &header);
	assert_int_equal(header.shape[1], 4);
}

static void each_element_type_is_known(void **state)
{
	static const struct {
		const char *descr;
		enum accel_dtype dtype;
		const char *written;
	} types[] = {
		{ "|b1", ACCEL_DTYPE_U8, "|b1" }, { "|u1", ACCEL_DTYPE_U8, "|u1" },
		{ "<u1", ACCEL_DTYPE_U8, "|u1" }, { "|i1", ACCEL_DTYPE_I8, "|i1" },
		{ "<u2", ACCEL_DTYPE_U16, "<u2" }, { ">u2", ACCEL_DTYPE_U16, "<u2" },
		{ "=u2", ACCEL_DTYPE_U16, "<u2" }, { "<i2", ACCEL_DTYPE_I16, "<i2" },
		{ "<f2", ACCEL_DTYPE_F16, "<f2" }, { "<u4", ACCEL_DTYPE_U32, "<u4" },
		{ "<i4", ACCEL_DTYPE_I32, "<i4" }, { ">f4", ACCEL_DTYPE_F32, "<f4" },
		{ "<u8", ACCEL_DTYPE_U64, "<u8" }, { "<i8", ACCEL_DTYPE_I64, "<i8" },
		{ "<f8", ACCEL_DTYPE_F64, "<f8" }, { ">c8", ACCEL_DTYPE_RAW64, "<c8" },
		{ "<c16", ACCEL_DTYPE_RAW128, "<c16" }, { "<V2", ACCEL_DTYPE_BF16, "<V2" },
		{ "|V1", ACCEL_DTYPE_RAW8, "|V1" }, { "|V2", ACCEL_DTYPE_RAW16, "|V2" },
		{ "|V4", ACCEL_DTYPE_RAW32, "|V4" }, { "|V8", ACCEL_DTYPE_RAW64, "|V8" },
		{ "|V16", ACCEL_DTYPE_RAW128, "|V16" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(types); i++) {
		struct npy_header header;
		char text[100];

		snprintf(text, sizeof(text),
			 "{'descr': '%s', 'fortran_order': False, 'shape': ()}", types[i].descr);
		expect_header(1, text, &header);
		assert_int_equal(header.dtype, types[i].dtype);
		assert_string_equal(header.descr, types[i].written);
		assert_int_equal(header.is_big_endian, types[i].descr[0] == '>');
	}
}

#define TYPE_MESSAGE(descr)								\
	"header: element type '" descr "', expected b1, u1, i1, u2, i2, f2, u4, i4, f4, u8, i8, " \
	"f8, c8 or c16 after < or >, '<V2' (bf16) or '|V1' to '|V16'"
#define KEYS "'descr', 'fortran_order' or 'shape', each once"
#define FOR_SHAPE(shape) "{'descr': '<f4', 'fortran_order': False, 'shape': " shape "}"
#define FOR_DESCR(descr) "{'descr': " descr ", 'fortran_order': False, 'shape': ()}"

/* Bad headers: the text, the column or 0, the message. */
static const struct bad_header {
	const char *text;
	int column;
	const char *message;
} bad_headers[] = {
	{ "", 1, "header: found the end at column 1, expected '{'" },
	{ "[]", 1, "header: found '[' at column 1, expected '{'" },
	{ "{}", 0, "header: key 'descr' is missing" },
	{ "{'descr': '<f4', 'shape': ()}", 0, "header: key 'fortran_order' is missing" },
	{ "{'descr': '<f4', 'fortran_order': True}", 0, "header: key 'shape' is missing" },
	{ "{'descr': '<f4', 'descr': '<f4'}", 18,
	  "header: found key 'descr' at column 18, expected " KEYS },
	{ "{'order': 'C'}", 2, "header: found key 'order' at column 2, expected " KEYS },
	{ "{descr: '<f4'}", 2, "header: found 'd' at column 2, expected " KEYS },
	{ "{'descr", 8, "header: found the end at column 8, expected the quote that ends the "
	  "string" },
	{ "{'a_key_that_is_too_long': 1}", 18, "header: found 'o' at column 18, expected " KEYS },
	{ "{'descr' '<f4'}", 10, "header: found ''' at column 10, expected ':'" },
	{ "{'fortran_order': 0}", 19, "header: found '0' at column 19, expected True or False" },
	{ "{'fortran_order': True 'shape': ()}", 24,
	  "header: found ''' at column 24, expected ',' or '}'" },
	{ FOR_DESCR("'<f4'") "x", 54, "header: found 'x' at column 54, expected the end" },
	{ FOR_DESCR("'<f4"), 0, TYPE_MESSAGE("<f4, ") },
	{ FOR_DESCR("[('a', '<f4')]"), 11,
	  "header: the elements are structures (column 11), expected numbers" },
	{ FOR_DESCR("4"), 11,
	  "header: found '4' at column 11, expected an element type such as '<f4'" },
	{ FOR_DESCR("'\\x3cf4'"), 12,
	  "header: found '\\' at column 12, expected an element type such as '<f4'" },
	{ FOR_DESCR("'<f\001'"), 14,
	  "header: found byte 0x01 at column 14, expected an element type such as '<f4'" },
	{ FOR_DESCR("'f4'"), 0, TYPE_MESSAGE("f4") },
	{ FOR_DESCR("''"), 0, TYPE_MESSAGE("") },
	{ FOR_DESCR("'<'"), 0, TYPE_MESSAGE("<") },
	{ FOR_DESCR("'<f'"), 0, TYPE_MESSAGE("<f") },
	{ FOR_DESCR("'<f3'"), 0, TYPE_MESSAGE("<f3") },
	{ FOR_DESCR("'<f16'"), 0, TYPE_MESSAGE("<f16") },
	{ FOR_DESCR("'<f4x'"), 0, TYPE_MESSAGE("<f4x") },
	{ FOR_DESCR("'<f-4'"), 0, TYPE_MESSAGE("<f-4") },
	{ FOR_DESCR("'<f18446744073709551620'"), 0, TYPE_MESSAGE("<f18446744073709551620") },
	{ FOR_DESCR("'|f4'"), 0, TYPE_MESSAGE("|f4") },
	{ FOR_DESCR("'>V2'"), 0, TYPE_MESSAGE(">V2") },
	{ FOR_DESCR("'<U5'"), 0, TYPE_MESSAGE("<U5") },
	{ FOR_DESCR("'|O'"), 0, TYPE_MESSAGE("|O") },
	{ FOR_SHAPE("3"), 51, "header: found '3' at column 51, expected a shape such as (3, 4)" },
	{ FOR_SHAPE("[3]"), 51, "header: found '[' at column 51, expected a shape such as (3, 4)" },
	{ FOR_SHAPE("(3)"), 53, "header: found ')' at column 53, expected ','" },
	{ FOR_SHAPE("(3 4)"), 54, "header: found '4' at column 54, expected ','" },
	{ FOR_SHAPE("(3, 4"), 56, "header: found '}' at column 56, expected ',' or ')'" },
	{ FOR_SHAPE("(3, 4, "), 58,
	  "header: found '}' at column 58, expected an extent, a number of 0 or more" },
	{ FOR_SHAPE("(-3,)"), 52,
	  "header: found '-' at column 52, expected an extent, a number of 0 or more" },
	{ FOR_SHAPE("(,)"), 52,
	  "header: found ',' at column 52, expected an extent, a number of 0 or more" },
	{ FOR_SHAPE("(0x4,)"), 53, "header: found 'x' at column 53, expected ','" },
	{ FOR_SHAPE("(9223372036854775808,)"), 70,
	  "header: the extent at column 70 does not fit 63 bits" },
	{ FOR_SHAPE("(4611686018427387904, 4)"), 0,
	  "header: the bytes of this shape do not fit 63 bits" },
	{ FOR_SHAPE("(9223372036854775807,)"), 0,
	  "header: the bytes of this shape do not fit 63 bits" },
	{ FOR_SHAPE("(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17)"), 91,
	  "header: found '1' at column 91, expected at most 16 axes" },
};

static void bad_header_is_refused_with_its_column(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad_headers); i++) {
		const struct bad_header *bad = &bad_headers[i];
		struct image *image = build(1, bad->text);
		struct npy_header header;

		expect_failure(npy_parse(image->bytes, image->size, &header, &error), -EINVAL,
			       bad->message);
		assert_int_equal(error.column, bad->column);
	}
}

static void long_integers_are_refused_in_version_3(void **state)
{
	struct image *image = build(3, FOR_SHAPE("(3L, 4)"));
	struct npy_header header;

	(void)state;
	expect_failure(npy_parse(image->bytes, image->size, &header, &error), -EINVAL,
		       "header: found 'L' at column 53, expected ','");
}

static void zero_byte_in_a_header_is_refused(void **state)
{
	struct image *image = build(1, "{ 'descr': '<f4'}");
	struct npy_header header;

	(void)state;
	image->bytes[11] = '\0';
	expect_failure(npy_parse(image->bytes, image->size, &header, &error), -EINVAL,
		       "header: found byte 0x00 at column 2, expected " KEYS);
}

static void file_that_is_no_npy_is_refused(void **state)
{
	static const char message[] = "not a .npy file: it does not begin with the six bytes 93 "
				      "'NUMPY' and a version";
	struct npy_header header;

	(void)state;
	expect_failure(npy_parse("", 0, &header, &error), -EINVAL, message);
	expect_failure(npy_parse("\x93NUMPY\1", 7, &header, &error), -EINVAL, message);
	expect_failure(npy_parse("\x89PNG\r\n\x1a\n....", 12, &header, &error), -EINVAL, message);
}

static void unknown_version_is_refused(void **state)
{
	struct image *image = build(4, FOR_SHAPE("()"));
	struct npy_header header;

	(void)state;
	expect_failure(npy_parse(image->bytes, image->size, &header, &error), -EINVAL,
		       "version 4.0, expected 1.0, 2.0 or 3.0");
	image->bytes[6] = 1;
	image->bytes[7] = 1;
	expect_failure(npy_parse(image->bytes, image->size, &header, &error), -EINVAL,
		       "version 1.1, expected 1.0, 2.0 or 3.0");
}

static void truncated_header_is_refused(void **state)
{
	struct image *image = build(2, FOR_SHAPE("()"));
	struct npy_header header;
	char message[100];

	(void)state;
	expect_failure(npy_parse(image->bytes, 11, &header, &error), -EINVAL,
		       "truncated: it has 11 bytes, expected the length of the header");
	snprintf(message, sizeof(message), "truncated: the header has 5 bytes, expected %zu",
		 image->size - 12);
	expect_failure(npy_parse(image->bytes, 17, &header, &error), -EINVAL, message);
}

static void header_of_enormous_length_is_refused(void **state)
{
	struct image *image = build(2, FOR_SHAPE("()"));
	struct npy_header header;

	(void)state;
	memset(image->bytes + 8, 0xff, 4);
	expect_failure(npy_parse(image->bytes, image->size, &header, &error), -EINVAL,
		       "header: 4294967295 bytes, expected at most 10000");
}

static void longest_header_is_read(void **state)
{
	struct npy_header header;
	char text[10001];

	(void)state;
	memset(text, ' ', 10000);
	memcpy(text, FOR_SHAPE("()"), strlen(FOR_SHAPE("()")));
	text[10000] = '\0';
	expect_header(2, text, &header);
	assert_true(header.data_offset <= NPY_MAX_HEADER);
}

static struct random random_state;

static uint64_t draw(uint64_t limit)
{
	return random_next(&random_state) % limit;
}

/* In a copy of exactly its size, so that a byte too many is seen by the sanitizer. */
static void damaged_headers_never_lead_outside(void **state)
{
	static const char alphabet[] = "{}()[]'\":,\\ \n<>|=0123456789LTrueFalsdcpfo_V\x93\xff";

	(void)state;
	random_state.state = seed;
	for (int run = 0; run < 100000; run++) {
		struct image *image = build(1 + (int)draw(3), FOR_SHAPE("(3, 4)"));
		size_t size = draw(4) ? image->size : draw(image->size + 1);
		unsigned char *copy = malloc(size ? size : 1);
		struct npy_header header;
		uint64_t changes = draw(6);

		memcpy(copy, image->bytes, size);
		for (uint64_t i = 0; i < changes && size; i++)
			copy[draw(size)] = (unsigned char)alphabet[draw(sizeof(alphabet))];
		if (!npy_parse(copy, size, &header, &error)) {
			assert_true(header.rank <= ACCEL_MAX_DIMS);
			assert_true(header.data_offset <= size);
			assert_int_equal(header.data_size,
					 header.num_elements * accel_dtype_size(header.dtype));
		}
		free(copy);
	}
}

/* Files -------------------------------------------------------------------------------------- */

static char path[MAX_PATH];

static int set_up(void **state)
{
	if (make_folder(state))
		return -1;
	set_path(path, "x.npy");
	return 0;
}

static int tear_down(void **state)
{
	unlink(path);
	return remove_folder(state);
}

/* Writes the header with this data behind it, reads it back as an array of data_size bytes. */
static void expect_data(const char *descr, const void *data, const void *expected, size_t size)
{
	struct npy_header header;
	struct image *image;
	unsigned char found[64];
	char text[100];
	int fd;

	snprintf(text, sizeof(text), "{'descr': '%s', 'fortran_order': False, 'shape': (2,)}",
		 descr);
	image = build(1, text);
	memcpy(image->bytes + image->size, data, size);
	write_file(path, image->bytes, image->size + size);
	expect_ok(npy_open(path, &header, &fd, &error));
	assert_int_equal(header.data_size, size);
	expect_ok(npy_read(fd, path, &header, found, &error));
	assert_memory_equal(found, expected, size);
	close(fd);
}

static void little_endian_data_is_read_as_it_is(void **state)
{
	(void)state;
	expect_data("<u4", "abcdefgh", "abcdefgh", 8);
}

static void big_endian_data_is_turned(void **state)
{
	(void)state;
	expect_data(">u2", "abcd", "badc", 4);
	expect_data(">f4", "abcdefgh", "dcbahgfe", 8);
	expect_data(">i8", "abcdefghijklmnop", "hgfedcbaponmlkji", 16);
	expect_data(">u1", "ab", "ab", 2);
}

static void halves_of_complex_numbers_are_turned_apart(void **state)
{
	(void)state;
	expect_data(">c8", "abcdefghijklmnop", "dcbahgfelkjiponm", 16);
}

static void data_behind_the_array_is_ignored(void **state)
{
	struct image *image = build(1, FOR_SHAPE("()"));
	struct npy_header header;
	int fd;

	(void)state;
	write_file(path, image->bytes, image->size + 100);
	expect_ok(npy_open(path, &header, &fd, &error));
	close(fd);
}

static void truncated_data_is_refused(void **state)
{
	struct image *image = build(1, FOR_SHAPE("(3,)"));
	struct npy_header header;
	char message[120];
	int fd;

	(void)state;
	write_file(path, image->bytes, image->size + 11);
	snprintf(message, sizeof(message),
		 "%s: truncated: 11 bytes of data, expected 12", path);
	expect_failure(npy_open(path, &header, &fd, &error), -EINVAL, message);
	assert_int_equal(fd, -1);
}

static void file_that_shrinks_while_it_is_read_is_refused(void **state)
{
	struct image *image = build(1, FOR_SHAPE("(3,)"));
	struct npy_header header;
	char message[120], data[12];
	int fd;

	(void)state;
	write_file(path, image->bytes, image->size + 12);
	expect_ok(npy_open(path, &header, &fd, &error));
	assert_int_equal(truncate(path, (off_t)image->size), 0);
	snprintf(message, sizeof(message), "%s: it became shorter while it was read", path);
	expect_failure(npy_read(fd, path, &header, data, &error), -EIO, message);
	close(fd);
}

static void message_about_a_header_names_the_file(void **state)
{
	struct image *image = build(1, "{}");
	struct npy_header header;
	char message[120];
	int fd;

	(void)state;
	write_file(path, image->bytes, image->size);
	snprintf(message, sizeof(message), "%s: header: key 'descr' is missing", path);
	expect_failure(npy_open(path, &header, &fd, &error), -EINVAL, message);
}

static void missing_file_is_refused(void **state)
{
	struct npy_header header;
	int fd;

	(void)state;
	expect_failure(npy_open("/no/such/file", &header, &fd, &error), -ENOENT,
		       "/no/such/file: No such file or directory");
}

static void folder_is_refused(void **state)
{
	struct npy_header header;
	int fd;

	(void)state;
	expect_failure(npy_open("/tmp", &header, &fd, &error), -EINVAL,
		       "/tmp: expected a regular file");
}

static void pipe_is_refused_without_waiting(void **state)
{
	struct npy_header header;
	char message[120];
	int fd;

	(void)state;
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	snprintf(message, sizeof(message), "%s: expected a regular file", path);
	expect_failure(npy_open(path, &header, &fd, &error), -EINVAL, message);
	unlink(path);
}

/* Writing -------------------------------------------------------------------------------------- */

static void written_header_is_that_of_numpy(void **state)
{
	static const int64_t shape[] = { 3, 4 };
	/* what numpy.save() writes for numpy.zeros((3, 4), 'f4') */
	static const char expected[] =
		"\x93NUMPY\1\0\x76\0{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }"
		"                                                          \n";
	char bytes[NPY_MAX_FORMATTED];

	(void)state;
	assert_int_equal(npy_format("<f4", 2, shape, bytes), 128);
	assert_int_equal(sizeof(expected) - 1, 128);
	assert_memory_equal(bytes, expected, 128);
}

static void written_headers_are_read_back(void **state)
{
	int64_t shape[ACCEL_MAX_DIMS];

	(void)state;
	for (uint32_t rank = 0; rank <= ACCEL_MAX_DIMS; rank++) {
		char bytes[NPY_MAX_FORMATTED];
		struct npy_header header;
		size_t size;

		/* the longest numbers: an extent of 0 makes them fit */
		for (uint32_t i = 0; i < rank; i++)
			shape[i] = i ? INT64_MAX - i : 0;
		size = npy_format("<c16", rank, shape, bytes);
		assert_int_equal(size % 64, 0);
		assert_true(size <= sizeof(bytes));
		expect_ok(npy_parse(bytes, size, &header, &error));
		assert_int_equal(header.data_offset, size);
		assert_int_equal(header.rank, rank);
		assert_memory_equal(header.shape, shape, rank * sizeof(shape[0]));
		assert_string_equal(header.descr, "<c16");
		assert_false(header.is_fortran);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(header_of_each_version_is_read),
		cmocka_unit_test(header_may_be_written_in_other_ways),
		cmocka_unit_test(scalar_has_an_empty_tuple),
		cmocka_unit_test(empty_array_has_no_data),
		cmocka_unit_test(long_integers_of_python_2_are_read),
		cmocka_unit_test(each_element_type_is_known),
		cmocka_unit_test(bad_header_is_refused_with_its_column),
		cmocka_unit_test(long_integers_are_refused_in_version_3),
		cmocka_unit_test(zero_byte_in_a_header_is_refused),
		cmocka_unit_test(file_that_is_no_npy_is_refused),
		cmocka_unit_test(unknown_version_is_refused),
		cmocka_unit_test(truncated_header_is_refused),
		cmocka_unit_test(header_of_enormous_length_is_refused),
		cmocka_unit_test(longest_header_is_read),
		cmocka_unit_test(damaged_headers_never_lead_outside),
		cmocka_unit_test(little_endian_data_is_read_as_it_is),
		cmocka_unit_test(big_endian_data_is_turned),
		cmocka_unit_test(halves_of_complex_numbers_are_turned_apart),
		cmocka_unit_test(data_behind_the_array_is_ignored),
		cmocka_unit_test(truncated_data_is_refused),
		cmocka_unit_test(file_that_shrinks_while_it_is_read_is_refused),
		cmocka_unit_test(message_about_a_header_names_the_file),
		cmocka_unit_test(missing_file_is_refused),
		cmocka_unit_test(folder_is_refused),
		cmocka_unit_test(pipe_is_refused_without_waiting),
		cmocka_unit_test(written_header_is_that_of_numpy),
		cmocka_unit_test(written_headers_are_read_back),
	};

	seed = seed_from_arguments(argc, argv);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
