// SPDX-License-Identifier: MIT
/*
 * Tensors from and to other libraries, and buffers of memory that is the caller's.
 */
#include "accel_test.h"
#include "tensor/dlpack.h"

static struct accel_error error;

/* DLPack's structures are these, wherever they come from. */
_Static_assert(sizeof(struct dlpack_tensor) == 48, "DLTensor");
_Static_assert(offsetof(struct dlpack_tensor, byte_offset) == 40, "DLTensor.byte_offset");
_Static_assert(offsetof(struct DLManagedTensor, deleter) == 56, "DLManagedTensor");
_Static_assert(offsetof(struct DLManagedTensorVersioned, tensor) == 32, "versioned");

/* Another library's tensor of 3 by 4 floats, which counts how often it is deleted. */
struct foreign {
	float data[64];
	int64_t shape[17];
	int64_t strides[17];
	int num_deleted;
	struct DLManagedTensor legacy;
	struct DLManagedTensorVersioned versioned;
};

static void delete_legacy(struct DLManagedTensor *self)
{
	((struct foreign *)self->manager_ctx)->num_deleted++;
}

static void delete_versioned(struct DLManagedTensorVersioned *self)
{
	((struct foreign *)self->manager_ctx)->num_deleted++;
}

static void prepare(struct foreign *foreign)
{
	struct dlpack_tensor tensor = {
		.data = foreign->data,
		.device = { DLPACK_DEVICE_CPU, 0 },
		.ndim = 2,
		.dtype = { DLPACK_FLOAT, 32, 1 },
		.shape = foreign->shape,
		.strides = foreign->strides,
	};

	memset(foreign, 0, sizeof(*foreign));
	for (int i = 0; i < 64; i++)
		foreign->data[i] = (float)i;
	foreign->shape[0] = 3;
	foreign->shape[1] = 4;
	foreign->strides[0] = 4;
	foreign->strides[1] = 1;
	foreign->legacy = (struct DLManagedTensor){
		.tensor = tensor, .manager_ctx = foreign, .deleter = delete_legacy,
	};
	foreign->versioned = (struct DLManagedTensorVersioned){
		.version = { 1, 1 }, .tensor = tensor, .manager_ctx = foreign,
		.deleter = delete_versioned,
	};
}

static float float_at(const struct accel_tensor *tensor, int64_t i, int64_t j)
{
	const int64_t index[] = { i, j };
	int64_t element;
	void *data;

	expect_ok(accel_tensor_element(tensor, index, &element, &error));
	expect_ok(accel_buffer_map(accel_tensor_buffer(tensor), &data, &error));
	return ((float *)data)[element];
}

static void imported_tensor_is_the_same_memory(void **state)
{
	struct accel_tensor *tensor;
	struct foreign foreign;

	prepare(&foreign);
	expect_ok(accel_tensor_from_dlpack(*state, &foreign.legacy, &tensor, &error));
	assert_int_equal(accel_tensor_rank(tensor), 2);
	assert_int_equal(accel_tensor_dtype(tensor), ACCEL_DTYPE_F32);
	assert_true(float_at(tensor, 2, 3) == 11);
	foreign.data[11] = 99;
	assert_true(float_at(tensor, 2, 3) == 99);
	accel_tensor_unref(tensor);
	assert_int_equal(foreign.num_deleted, 1);
}

static void deleter_is_called_once_behind_the_last_view(void **state)
{
	struct accel_tensor *tensor, *view;
	struct foreign foreign;

	prepare(&foreign);
	expect_ok(accel_tensor_from_dlpack_versioned(*state, &foreign.versioned, &tensor, &error));
	expect_ok(accel_tensor_transpose(tensor, 0, 1, &view, &error));
	accel_tensor_unref(tensor);
	assert_int_equal(foreign.num_deleted, 0);
	assert_true(float_at(view, 3, 2) == 11);
	accel_tensor_unref(view);
	assert_int_equal(foreign.num_deleted, 1);
}

static void tensor_without_a_deleter_is_taken(void **state)
{
	struct accel_tensor *tensor;
	struct foreign foreign;

	prepare(&foreign);
	foreign.legacy.deleter = NULL;
	foreign.versioned.deleter = NULL;
	expect_ok(accel_tensor_from_dlpack(*state, &foreign.legacy, &tensor, &error));
	accel_tensor_unref(tensor);
	expect_ok(accel_tensor_from_dlpack_versioned(*state, &foreign.versioned, &tensor, &error));
	accel_tensor_unref(tensor);
}

static void byte_offset_is_honoured(void **state)
{
	struct accel_tensor *tensor;
	struct foreign foreign;

	prepare(&foreign);
	foreign.legacy.tensor.byte_offset = 20;
	expect_ok(accel_tensor_from_dlpack(*state, &foreign.legacy, &tensor, &error));
	assert_true(float_at(tensor, 0, 0) == 5);
	assert_true(float_at(tensor, 2, 3) == 16);
	accel_tensor_unref(tensor);
}

static void without_strides_it_is_row_major(void **state)
{
	struct accel_tensor *tensor;
	struct foreign foreign;

	prepare(&foreign);
	foreign.legacy.tensor.strides = NULL;
	expect_ok(accel_tensor_from_dlpack(*state, &foreign.legacy, &tensor, &error));
	assert_true(float_at(tensor, 1, 2) == 6);
	accel_tensor_unref(tensor);
}

static void negative_strides_reach_below_the_first_element(void **state)
{
	struct accel_tensor *tensor;
	struct foreign foreign;

	prepare(&foreign);
	foreign.strides[0] = -8;
	foreign.strides[1] = -1;
	foreign.legacy.tensor.byte_offset = 30 * 4;
	expect_ok(accel_tensor_from_dlpack(*state, &foreign.legacy, &tensor, &error));
	assert_true(float_at(tensor, 0, 0) == 30);
	assert_true(float_at(tensor, 2, 3) == 11);
	/* the memory is what the elements are in, no more */
	assert_int_equal(accel_buffer_size(accel_tensor_buffer(tensor)), 20 * 4);
	accel_tensor_unref(tensor);
}

static void sixteen_axes_are_taken(void **state)
{
	struct accel_tensor *tensor;
	struct foreign foreign;

	prepare(&foreign);
	for (int d = 0; d < 16; d++) {
		foreign.shape[d] = d < 6 ? 2 : 1;
		foreign.strides[d] = d < 6 ? 32 >> d : 7;
	}
	foreign.legacy.tensor.ndim = 16;
	expect_ok(accel_tensor_from_dlpack(*state, &foreign.legacy, &tensor, &error));
	assert_int_equal(accel_tensor_num_elements(tensor), 64);
	assert_true(accel_tensor_is_contiguous(tensor));
	accel_tensor_unref(tensor);
}

static void empty_tensor_is_deleted_at_once(void **state)
{
	struct accel_tensor *tensor;
	struct foreign foreign;

	prepare(&foreign);
	foreign.shape[0] = 0;
	foreign.legacy.tensor.data = NULL;
	expect_ok(accel_tensor_from_dlpack(*state, &foreign.legacy, &tensor, &error));
	assert_int_equal(foreign.num_deleted, 1);
	assert_int_equal(accel_tensor_shape(tensor)[1], 4);
	accel_tensor_unref(tensor);
	assert_int_equal(foreign.num_deleted, 1);
}

static void every_element_type_is_known(void **state)
{
	static const struct {
		struct dlpack_dtype type;
		enum accel_dtype dtype;
	} types[] = {
		{ { DLPACK_INT, 8, 1 }, ACCEL_DTYPE_I8 },
		{ { DLPACK_INT, 64, 1 }, ACCEL_DTYPE_I64 },
		{ { DLPACK_UINT, 16, 1 }, ACCEL_DTYPE_U16 },
		{ { DLPACK_UINT, 32, 1 }, ACCEL_DTYPE_U32 },
		{ { DLPACK_FLOAT, 16, 1 }, ACCEL_DTYPE_F16 },
		{ { DLPACK_FLOAT, 64, 1 }, ACCEL_DTYPE_F64 },
		{ { DLPACK_BFLOAT, 16, 1 }, ACCEL_DTYPE_BF16 },
		{ { DLPACK_BOOL, 8, 1 }, ACCEL_DTYPE_U8 },
		{ { DLPACK_COMPLEX, 64, 1 }, ACCEL_DTYPE_RAW64 },
		{ { DLPACK_COMPLEX, 128, 1 }, ACCEL_DTYPE_RAW128 },
		{ { DLPACK_OPAQUE, 32, 1 }, ACCEL_DTYPE_RAW32 },
	};
	_Alignas(16) static struct foreign foreign;

	for (uint32_t k = 0; k < COUNT(types); k++) {
		struct accel_tensor *tensor;

		prepare(&foreign);
		foreign.legacy.tensor.dtype = types[k].type;
		expect_ok(accel_tensor_from_dlpack(*state, &foreign.legacy, &tensor, &error));
		assert_int_equal(accel_tensor_dtype(tensor), types[k].dtype);
		accel_tensor_unref(tensor);
	}
}

/* A legacy import that fails, which leaves the tensor to its owner. */
static void expect_refused(void *device, struct foreign *foreign, int code, const char *message)
{
	struct accel_tensor *tensor = (void *)1;

	expect_failure(accel_tensor_from_dlpack(device, &foreign->legacy, &tensor, &error), code,
		       message);
	assert_null(tensor);
	assert_int_equal(foreign->num_deleted, 0);
}

static void unknown_element_type_is_named(void **state)
{
	struct foreign foreign;

	prepare(&foreign);
	foreign.legacy.tensor.dtype = (struct dlpack_dtype){ 10, 8, 1 };
	expect_refused(*state, &foreign, -ENOTSUP,
		       "dlpack: elements of type code 10 with 8 bits, expected int, uint, float, "
		       "opaque, bfloat, complex or bool (0 to 6) of a usual width");
}

static void lanes_are_refused(void **state)
{
	struct foreign foreign;

	prepare(&foreign);
	foreign.legacy.tensor.dtype.lanes = 4;
	expect_refused(*state, &foreign, -ENOTSUP, "dlpack: elements of 4 lanes, expected 1");
}

static void memory_of_other_devices_is_refused(void **state)
{
	struct foreign foreign;

	prepare(&foreign);
	foreign.legacy.tensor.device.type = 2;
	expect_refused(*state, &foreign, -ENOTSUP,
		       "dlpack: memory of device type 2, expected the CPU's (1)");
}

static void too_many_axes_are_refused(void **state)
{
	struct foreign foreign;

	prepare(&foreign);
	foreign.legacy.tensor.ndim = 17;
	expect_refused(*state, &foreign, -EINVAL, "dlpack: 17 axes, expected 0 to 16");
	foreign.legacy.tensor.ndim = -1;
	expect_refused(*state, &foreign, -EINVAL, "dlpack: -1 axes, expected 0 to 16");
}

static void axes_need_a_shape(void **state)
{
	struct foreign foreign;

	prepare(&foreign);
	foreign.legacy.tensor.shape = NULL;
	expect_refused(*state, &foreign, -EINVAL, "dlpack: 2 axes without a shape");
}

static void negative_extent_is_refused(void **state)
{
	struct foreign foreign;

	prepare(&foreign);
	foreign.shape[1] = -4;
	expect_refused(*state, &foreign, -EINVAL, "dlpack: extent 1 is -4, expected 0 or more");
}

static void elements_need_data(void **state)
{
	struct foreign foreign;

	prepare(&foreign);
	foreign.legacy.tensor.data = NULL;
	expect_refused(*state, &foreign, -EINVAL, "dlpack: elements without data");
}

static void unaligned_elements_are_refused(void **state)
{
	struct foreign foreign;
	char message[128];

	prepare(&foreign);
	foreign.legacy.tensor.byte_offset = 2;
	snprintf(message, sizeof(message),
		 "dlpack: the first element is at 0x%lx, expected a multiple of 4 for f32",
		 (unsigned long)foreign.data + 2);
	expect_refused(*state, &foreign, -EINVAL, message);
}

static void reach_beyond_63_bits_is_refused(void **state)
{
	struct foreign foreign;

	prepare(&foreign);
	foreign.strides[0] = INT64_MAX / 4;
	expect_refused(*state, &foreign, -EOVERFLOW,
		       "dlpack: extent 3 with stride 2305843009213693951 on axis 0 does not fit "
		       "63 bits");
}

static void offset_beyond_64_bits_is_refused(void **state)
{
	struct foreign foreign;

	prepare(&foreign);
	foreign.legacy.tensor.byte_offset = UINT64_MAX - 3;
	expect_refused(*state, &foreign, -EOVERFLOW,
		       "dlpack: offset 18446744073709551612 and elements from byte 0 to 44 of it "
		       "reach beyond 64 bits");
}

static void row_major_beyond_63_bits_is_refused(void **state)
{
	struct foreign foreign;

	prepare(&foreign);
	foreign.legacy.tensor.strides = NULL;
	foreign.shape[0] = INT64_MAX;
	expect_refused(*state, &foreign, -EOVERFLOW,
		       "tensor: the strides of this shape do not fit 63 bits");
}

static void count_beyond_63_bits_is_refused(void **state)
{
	struct foreign foreign;

	prepare(&foreign);
	foreign.shape[0] = INT64_MAX;
	foreign.strides[0] = 0;
	expect_refused(*state, &foreign, -EOVERFLOW,
		       "tensor: the number of elements does not fit 63 bits");
}

static void other_major_version_is_refused(void **state)
{
	struct accel_tensor *tensor;
	struct foreign foreign;

	prepare(&foreign);
	foreign.versioned.version.major = 2;
	expect_failure(accel_tensor_from_dlpack_versioned(*state, &foreign.versioned, &tensor,
							  &error), -ENOTSUP,
		       "dlpack: version 2.1, expected 1.x");
	assert_int_equal(foreign.num_deleted, 0);
}

static void read_only_memory_is_no_destination(void **state)
{
	struct DLManagedTensorVersioned *exported;
	struct accel_tensor *tensor, *copy;
	struct DLManagedTensor *legacy;
	struct foreign foreign;

	prepare(&foreign);
	foreign.versioned.flags = DLPACK_FLAG_READ_ONLY;
	expect_ok(accel_tensor_from_dlpack_versioned(*state, &foreign.versioned, &tensor, &error));
	expect_ok(accel_tensor_create(*state, ACCEL_DTYPE_F32, 2, foreign.shape, NULL, &copy,
				      &error));
	expect_ok(accel_copy(copy, tensor, &error));
	assert_true(float_at(copy, 2, 3) == 11);
	assert_int_equal(accel_copy(tensor, copy, &error), -EACCES);
	expect_failure(accel_tensor_to_dlpack(tensor, &legacy, &error), -ENOTSUP,
		       "dlpack: the memory is read-only, which only versioned tensors can say");
	expect_ok(accel_tensor_to_dlpack_versioned(tensor, &exported, &error));
	assert_int_equal(exported->flags, DLPACK_FLAG_READ_ONLY);
	exported->deleter(exported);
	accel_tensor_unref(copy);
	accel_tensor_unref(tensor);
}

/* Export ------------------------------------------------------------------------------------ */

static void exported_view_begins_at_its_first_element(void **state)
{
	static const int64_t shape[] = { 10, 20 };
	struct DLManagedTensor *managed;
	struct accel_tensor *tensor, *view;
	void *data;

	expect_ok(accel_tensor_create(*state, ACCEL_DTYPE_F32, 2, shape, NULL, &tensor, &error));
	expect_ok(accel_buffer_map(accel_tensor_buffer(tensor), &data, &error));
	expect_ok(accel_tensor_slice_text(tensor, "2:8, 14:4:-1", &view, &error));
	expect_ok(accel_tensor_to_dlpack(view, &managed, &error));
	accel_tensor_unref(tensor);
	accel_tensor_unref(view);
	assert_ptr_equal((char *)managed->tensor.data + managed->tensor.byte_offset,
			 (float *)data + 54);
	assert_int_equal(managed->tensor.ndim, 2);
	assert_int_equal(managed->tensor.shape[0], 6);
	assert_int_equal(managed->tensor.shape[1], 10);
	assert_int_equal(managed->tensor.strides[0], 20);
	assert_int_equal(managed->tensor.strides[1], -1);
	assert_int_equal(managed->tensor.device.type, DLPACK_DEVICE_CPU);
	assert_int_equal(managed->tensor.dtype.code, DLPACK_FLOAT);
	assert_int_equal(managed->tensor.dtype.bits, 32);
	assert_int_equal(managed->tensor.dtype.lanes, 1);
	/* the memory is there until it is deleted */
	*(float *)managed->tensor.data = 1;
	managed->deleter(managed);
}

static void exported_tensor_comes_back(void **state)
{
	static const int64_t shape[] = { 3, 5 };
	struct DLManagedTensorVersioned *managed;
	struct accel_tensor *tensor, *again;
	void *data;

	expect_ok(accel_tensor_create(*state, ACCEL_DTYPE_BF16, 2, shape, NULL, &tensor, &error));
	expect_ok(accel_buffer_map(accel_tensor_buffer(tensor), &data, &error));
	((uint16_t *)data)[14] = 0x1234;
	expect_ok(accel_tensor_to_dlpack_versioned(tensor, &managed, &error));
	assert_int_equal(managed->version.major, 1);
	assert_int_equal(managed->flags, 0);
	accel_tensor_unref(tensor);
	expect_ok(accel_tensor_from_dlpack_versioned(*state, managed, &again, &error));
	assert_int_equal(accel_tensor_dtype(again), ACCEL_DTYPE_BF16);
	expect_ok(accel_buffer_map(accel_tensor_buffer(again), &data, &error));
	assert_int_equal(((uint16_t *)data)[14], 0x1234);
	accel_tensor_unref(again);
}

static void exported_types_are_dlpacks(void **state)
{
	static const struct {
		enum accel_dtype dtype;
		struct dlpack_dtype type;
	} types[] = {
		{ ACCEL_DTYPE_U8, { DLPACK_UINT, 8, 1 } },
		{ ACCEL_DTYPE_I32, { DLPACK_INT, 32, 1 } },
		{ ACCEL_DTYPE_F64, { DLPACK_FLOAT, 64, 1 } },
		{ ACCEL_DTYPE_BF16, { DLPACK_BFLOAT, 16, 1 } },
		{ ACCEL_DTYPE_RAW8, { DLPACK_UINT, 8, 1 } },
		{ ACCEL_DTYPE_RAW64, { DLPACK_UINT, 64, 1 } },
	};

	for (uint32_t k = 0; k < COUNT(types); k++) {
		struct DLManagedTensor *managed;
		struct accel_tensor *tensor;

		expect_ok(accel_tensor_create(*state, types[k].dtype, 0, NULL, NULL, &tensor,
					      &error));
		expect_ok(accel_tensor_to_dlpack(tensor, &managed, &error));
		assert_memory_equal(&managed->tensor.dtype, &types[k].type, sizeof(types[k].type));
		managed->deleter(managed);
		accel_tensor_unref(tensor);
	}
}

static void elements_of_16_bytes_are_not_exported(void **state)
{
	struct DLManagedTensor *managed;
	struct accel_tensor *tensor;

	expect_ok(accel_tensor_create(*state, ACCEL_DTYPE_RAW128, 0, NULL, NULL, &tensor, &error));
	expect_failure(accel_tensor_to_dlpack(tensor, &managed, &error), -ENOTSUP,
		       "dlpack: elements of raw128, for which it has no type; reinterpreted they "
		       "may go");
	assert_null(managed);
	accel_tensor_unref(tensor);
}

static void split_axes_are_not_exported(void **state)
{
	static const int64_t shape[] = { 1, 8, 2, 2 };
	struct DLManagedTensorVersioned *managed;
	struct accel_tensor *tensor;
	struct accel_layout *layout;

	expect_ok(accel_layout_parse("NCHW4c", NULL, &layout, &error));
	expect_ok(accel_tensor_create(*state, ACCEL_DTYPE_F32, 4, shape, layout, &tensor, &error));
	accel_layout_unref(layout);
	expect_failure(accel_tensor_to_dlpack_versioned(tensor, &managed, &error), -ENOTSUP,
		       "dlpack: the tensor has no strides, its layout splits axes");
	assert_null(managed);
	accel_tensor_unref(tensor);
}

/* Buffers of the caller's memory ------------------------------------------------------------ */

static void count(void *context)
{
	++*(int *)context;
}

static void buffer_of_memory_is_that_memory(void **state)
{
	struct accel_buffer *buffer;
	int num_released = 0;
	char memory[100];
	void *address;

	expect_ok(accel_buffer_from_memory(*state, memory + 1, 99, count, &num_released, &buffer,
					   &error));
	assert_int_equal(accel_buffer_size(buffer), 99);
	expect_ok(accel_buffer_map(buffer, &address, &error));
	assert_ptr_equal(address, memory + 1);
	accel_buffer_ref(buffer);
	accel_buffer_unref(buffer);
	assert_int_equal(num_released, 0);
	accel_buffer_unref(buffer);
	assert_int_equal(num_released, 1);
}

static void memory_stays_when_its_buffer_goes(void **state)
{
	/* whole pages, which could be unmapped */
	char *memory = aligned_alloc(4096, 4096);
	struct accel_buffer *buffer;

	memory[4095] = 42;
	expect_ok(accel_buffer_from_memory(*state, memory, 4096, NULL, NULL, &buffer, &error));
	accel_buffer_unref(buffer);
	assert_int_equal(memory[4095], 42);
	free(memory);
}

static void jobs_run_on_memory_of_the_caller(void **state)
{
	static const int64_t shape[] = { 3, 5 }, strides[] = { 1, 3 };
	uint32_t from[15], to[15];
	struct accel_buffer *buffers[2];
	struct accel_tensor *src, *dst;

	for (uint32_t i = 0; i < 15; i++)
		from[i] = i;
	expect_ok(accel_buffer_from_memory(*state, from, sizeof(from), NULL, NULL, &buffers[0],
					   &error));
	expect_ok(accel_buffer_from_memory(*state, to, sizeof(to), NULL, NULL, &buffers[1],
					   &error));
	expect_ok(accel_tensor_from_buffer(buffers[0], ACCEL_DTYPE_U32, 2, shape, NULL, 0, &src,
					   &error));
	expect_ok(accel_tensor_from_buffer(buffers[1], ACCEL_DTYPE_U32, 2, shape, strides, 0, &dst,
					   &error));
	expect_ok(accel_copy(dst, src, &error));
	for (uint32_t i = 0; i < 15; i++)
		assert_int_equal(to[i], i % 3 * 5 + i / 3);
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
	accel_buffer_unref(buffers[0]);
	accel_buffer_unref(buffers[1]);
}

static void memory_of_the_caller_is_not_exported(void **state)
{
	struct accel_buffer *buffer;
	char memory[16];
	int fd;

	expect_ok(accel_buffer_from_memory(*state, memory, 16, NULL, NULL, &buffer, &error));
	expect_failure(accel_buffer_export(buffer, &fd, &error), -ENOTSUP,
		       "buffer: export: it is memory of the caller's, which no file descriptor "
		       "stands for");
	assert_int_equal(fd, -1);
	accel_buffer_unref(buffer);
}

static void no_memory_is_no_buffer(void **state)
{
	struct accel_buffer *buffer;
	char message[128];
	char memory[16];

	expect_failure(accel_buffer_from_memory(*state, NULL, 16, NULL, NULL, &buffer, &error),
		       -EINVAL, "buffer: address NULL, expected memory");
	expect_failure(accel_buffer_from_memory(*state, memory, 0, NULL, NULL, &buffer, &error),
		       -EINVAL, "buffer: 0 bytes, expected 1 or more");
	snprintf(message, sizeof(message),
		 "buffer: 18446744073709551615 bytes at 0x%lx reach beyond 64 bits",
		 (unsigned long)memory);
	expect_failure(accel_buffer_from_memory(*state, memory, UINT64_MAX, NULL, NULL, &buffer,
						&error), -EOVERFLOW, message);
	assert_null(buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(imported_tensor_is_the_same_memory),
		cmocka_unit_test(deleter_is_called_once_behind_the_last_view),
		cmocka_unit_test(tensor_without_a_deleter_is_taken),
		cmocka_unit_test(byte_offset_is_honoured),
		cmocka_unit_test(without_strides_it_is_row_major),
		cmocka_unit_test(negative_strides_reach_below_the_first_element),
		cmocka_unit_test(sixteen_axes_are_taken),
		cmocka_unit_test(empty_tensor_is_deleted_at_once),
		cmocka_unit_test(every_element_type_is_known),
		cmocka_unit_test(unknown_element_type_is_named),
		cmocka_unit_test(lanes_are_refused),
		cmocka_unit_test(memory_of_other_devices_is_refused),
		cmocka_unit_test(too_many_axes_are_refused),
		cmocka_unit_test(axes_need_a_shape),
		cmocka_unit_test(negative_extent_is_refused),
		cmocka_unit_test(elements_need_data),
		cmocka_unit_test(unaligned_elements_are_refused),
		cmocka_unit_test(reach_beyond_63_bits_is_refused),
		cmocka_unit_test(offset_beyond_64_bits_is_refused),
		cmocka_unit_test(row_major_beyond_63_bits_is_refused),
		cmocka_unit_test(count_beyond_63_bits_is_refused),
		cmocka_unit_test(other_major_version_is_refused),
		cmocka_unit_test(read_only_memory_is_no_destination),
		cmocka_unit_test(exported_view_begins_at_its_first_element),
		cmocka_unit_test(exported_tensor_comes_back),
		cmocka_unit_test(exported_types_are_dlpacks),
		cmocka_unit_test(elements_of_16_bytes_are_not_exported),
		cmocka_unit_test(split_axes_are_not_exported),
		cmocka_unit_test(buffer_of_memory_is_that_memory),
		cmocka_unit_test(memory_stays_when_its_buffer_goes),
		cmocka_unit_test(jobs_run_on_memory_of_the_caller),
		cmocka_unit_test(memory_of_the_caller_is_not_exported),
		cmocka_unit_test(no_memory_is_no_buffer),
	};

	return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
