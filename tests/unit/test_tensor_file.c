// SPDX-License-Identifier: MIT
/*
 * Tensors from and to .npy files. What a header may say is test_npy.c's.
 */
#include <sys/stat.h>

#include "file_test.h"

static struct accel_error error;
static char path[MAX_PATH];

static int set_up(void **state)
{
	if (make_folder(state))
		return -1;
	set_path(path, "x.npy");
	return open_cpu(state);
}

static int tear_down(void **state)
{
	close_cpu(state);
	return remove_folder(state);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static struct accel_tensor *create(void *device, enum accel_dtype dtype, uint32_t rank,
				   const int64_t *shape)
{
	struct accel_tensor *tensor;

	expect_ok(accel_tensor_create(device, dtype, rank, shape, NULL, &tensor, &error));
	return tensor;
}

static unsigned char *bytes_of(const struct accel_tensor *tensor)
{
	void *data;

	expect_ok(accel_buffer_map(accel_tensor_buffer(tensor), &data, &error));
	return data;
}

/* The data of the file, behind its header, of size bytes. */
static void read_file(struct npy_header *header, void *data, size_t size)
{
	int fd;

	expect_ok(npy_open(path, header, &fd, &error));
	assert_int_equal(header->data_size, size);
	expect_ok(npy_read(fd, path, header, data, &error));
	close(fd);
}

static void saved_tensor_is_loaded_back(void **state)
{
	static const enum accel_dtype dtypes[] = {
		ACCEL_DTYPE_U8, ACCEL_DTYPE_I8, ACCEL_DTYPE_U16, ACCEL_DTYPE_I16, ACCEL_DTYPE_F16,
		ACCEL_DTYPE_BF16, ACCEL_DTYPE_U32, ACCEL_DTYPE_I32, ACCEL_DTYPE_F32,
		ACCEL_DTYPE_U64, ACCEL_DTYPE_I64, ACCEL_DTYPE_F64, ACCEL_DTYPE_RAW8,
		ACCEL_DTYPE_RAW16, ACCEL_DTYPE_RAW32, ACCEL_DTYPE_RAW64, ACCEL_DTYPE_RAW128,
	};
	static const int64_t shape[] = { 3, 5 };

	for (uint32_t k = 0; k < COUNT(dtypes); k++) {
		struct accel_tensor *tensor = create(*state, dtypes[k], 2, shape), *again;
		size_t size = 15 * accel_dtype_size(dtypes[k]);

		for (size_t i = 0; i < size; i++)
			bytes_of(tensor)[i] = (unsigned char)(i + 1);
		expect_ok(accel_tensor_save(tensor, path, &error));
		expect_ok(accel_tensor_load(*state, path, &again, &error));
		assert_int_equal(accel_tensor_dtype(again), dtypes[k]);
		assert_int_equal(accel_tensor_rank(again), 2);
		assert_memory_equal(accel_tensor_shape(again), shape, sizeof(shape));
		assert_memory_equal(bytes_of(again), bytes_of(tensor), size);
		accel_tensor_unref(again);
		accel_tensor_unref(tensor);
	}
}

static void saved_view_is_in_the_order_of_its_shape(void **state)
{
	static const int64_t shape[] = { 3, 4 };
	struct accel_tensor *tensor = create(*state, ACCEL_DTYPE_U8, 2, shape), *view;
	unsigned char data[6];
	struct npy_header header;

	for (unsigned char i = 0; i < 12; i++)
		bytes_of(tensor)[i] = i;
	expect_ok(accel_tensor_slice_text(tensor, "1:, ::-2", &view, &error));
	expect_ok(accel_tensor_save(view, path, &error));
	read_file(&header, data, 4);
	assert_int_equal(header.shape[0], 2);
	assert_int_equal(header.shape[1], 2);
	assert_memory_equal(data, ((unsigned char[]){ 7, 5, 11, 9 }), 4);
	accel_tensor_unref(view);
	accel_tensor_unref(tensor);
}

static void contiguous_part_is_saved_from_its_offset(void **state)
{
	static const int64_t shape[] = { 3, 4 };
	struct accel_tensor *tensor = create(*state, ACCEL_DTYPE_U16, 2, shape), *view;
	unsigned char data[8];
	struct npy_header header;

	bytes_of(tensor)[8] = 42;
	expect_ok(accel_tensor_select(tensor, 0, 1, &view, &error));
	assert_true(accel_tensor_is_contiguous(view));
	expect_ok(accel_tensor_save(view, path, &error));
	read_file(&header, data, 8);
	assert_int_equal(data[0], 42);
	accel_tensor_unref(view);
	accel_tensor_unref(tensor);
}

static void empty_tensor_is_saved_and_loaded(void **state)
{
	static const int64_t shape[] = { 3, 0 };
	struct accel_tensor *tensor = create(*state, ACCEL_DTYPE_F32, 2, shape), *again;

	expect_ok(accel_tensor_save(tensor, path, &error));
	expect_ok(accel_tensor_load(*state, path, &again, &error));
	assert_memory_equal(accel_tensor_shape(again), shape, sizeof(shape));
	accel_tensor_unref(again);
	accel_tensor_unref(tensor);
}

static void fortrans_order_is_strides(void **state)
{
	static const char text[] = "\x93NUMPY\x01\x00\x3e\x00{'descr': '|u1', 'fortran_order': "
				   "True, 'shape': (2, 3)}     \n" "\0\1\2\3\4\5";
	static const int64_t index[] = { 1, 2 };
	struct accel_tensor *tensor;
	int64_t element;

	write_file(path, text, sizeof(text) - 1);
	expect_ok(accel_tensor_load(*state, path, &tensor, &error));
	assert_int_equal(accel_tensor_strides(tensor)[0], 1);
	assert_int_equal(accel_tensor_strides(tensor)[1], 2);
	expect_ok(accel_tensor_element(tensor, index, &element, &error));
	assert_int_equal(bytes_of(tensor)[element], 5);
	accel_tensor_unref(tensor);
}

static void file_of_another_kind_is_refused(void **state)
{
	struct accel_tensor *tensor = (void *)1;
	char message[256];

	write_file(path, "hello, world", 12);
	snprintf(message, sizeof(message), "%s: not a .npy file: it does not begin with the six "
		 "bytes 93 'NUMPY' and a version", path);
	expect_failure(accel_tensor_load(*state, path, &tensor, &error), -EINVAL, message);
	assert_null(tensor);
}

static void file_that_is_not_there_is_refused(void **state)
{
	struct accel_tensor *tensor;

	expect_failure(accel_tensor_load(*state, "/nowhere/x.npy", &tensor, &error), -ENOENT,
		       "/nowhere/x.npy: No such file or directory");
}

static void file_that_cannot_be_written_is_named(void **state)
{
	struct accel_tensor *tensor = create(*state, ACCEL_DTYPE_U8, 0, NULL);

	expect_failure(accel_tensor_save(tensor, "/nowhere/x.npy", &error), -ENOENT,
		       "/nowhere/x.npy: cannot write beside it: No such file or directory");
	expect_failure(accel_tensor_save(tensor, "/dev/null", &error), -EINVAL,
		       "/dev/null: expected a regular file or none");
	accel_tensor_unref(tensor);
}

static void replaced_file_keeps_its_permissions(void **state)
{
	struct accel_tensor *tensor = create(*state, ACCEL_DTYPE_U8, 0, NULL);
	struct stat status;

	write_file(path, "old", 3);
	assert_int_equal(chmod(path, 0640), 0);
	expect_ok(accel_tensor_save(tensor, path, &error));
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0640);
	assert_int_equal(status.st_size, 129);
	accel_tensor_unref(tensor);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(saved_tensor_is_loaded_back, remove_file),
		cmocka_unit_test_teardown(saved_view_is_in_the_order_of_its_shape, remove_file),
		cmocka_unit_test_teardown(contiguous_part_is_saved_from_its_offset, remove_file),
		cmocka_unit_test_teardown(empty_tensor_is_saved_and_loaded, remove_file),
		cmocka_unit_test_teardown(fortrans_order_is_strides, remove_file),
		cmocka_unit_test_teardown(file_of_another_kind_is_refused, remove_file),
		cmocka_unit_test(file_that_is_not_there_is_refused),
		cmocka_unit_test(file_that_cannot_be_written_is_named),
		cmocka_unit_test_teardown(replaced_file_keeps_its_permissions, remove_file),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
