// SPDX-License-Identifier: MIT
/*
 * The grid that the CPU stands for: how many PEs, and the memory of each.
 */
#include "accel_test.h"

static struct accel_error error;

static struct accel_device *open_grid(const char *name)
{
	struct accel_device *device;

	expect_ok(accel_open(name, &device, &error));
	return device;
}

static void expect_grid(const char *name, uint32_t num_pes, uint32_t columns, uint64_t sram_size)
{
	struct accel_device *device = open_grid(name);
	struct accel_device_info info;

	accel_device_info(device, &info);
	assert_string_equal(info.name, name);
	assert_int_equal(info.num_queues, num_pes);
	assert_int_equal(info.grid_columns, columns);
	assert_int_equal(info.sram_size, sram_size);
	accel_device_unref(device);
}

static void name_says_what_the_grid_is(void **state)
{
	(void)state;
	expect_grid("cpu", 4, 2, 1 << 20);
	expect_grid("cpu:", 4, 2, 1 << 20);
	expect_grid("cpu:pes=1", 1, 1, 1 << 20);
	expect_grid("cpu:pes=5", 5, 5, 1 << 20);
	expect_grid("cpu:pes=12", 12, 4, 1 << 20);
	expect_grid("cpu:pes=64,sram=64K", 64, 8, 65536);
	expect_grid("cpu:columns=7,sram=8192,pes=14", 14, 7, 8192);
	expect_grid("cpu:sram=256M", 4, 2, 256 << 20);
	expect_grid("cpu:sram=0", 4, 2, 0);
}

static void expect_refused(const char *name, int code, const char *message)
{
	struct accel_device *device;

	expect_failure(accel_open(name, &device, &error), code, message);
	assert_null(device);
}

static void malformed_grid_is_refused(void **state)
{
	(void)state;
	expect_refused("cpu:pes=0", -EINVAL,
		       "device cpu: pes=0, expected a multiple of 1 from 1 to 64");
	expect_refused("cpu:pes=65", -EINVAL,
		       "device cpu: pes=65, expected a multiple of 1 from 1 to 64");
	expect_refused("cpu:columns=0", -EINVAL,
		       "device cpu: columns=0, expected a multiple of 1 from 1 to 64");
	expect_refused("cpu:pes=6,columns=4", -EINVAL,
		       "device cpu: columns=4, expected to divide pes=6");
	expect_refused("cpu:sram=4097", -EINVAL,
		       "device cpu: sram=4097, expected a multiple of 4096 from 0 to 268435456");
	expect_refused("cpu:sram=257M", -EINVAL,
		       "device cpu: sram=257M, expected a multiple of 4096 from 0 to 268435456");
	expect_refused("cpu:pes=", -EINVAL,
		       "device cpu: pes=, expected a multiple of 1 from 1 to 64");
	expect_refused("cpu:pes", -EINVAL,
		       "device cpu: \"pes\", expected pes=, columns= or sram=");
	expect_refused("cpu:pes=K", -EINVAL,
		       "device cpu: pes=K, expected a multiple of 1 from 1 to 64");
	expect_refused("cpu:pes=-1", -EINVAL,
		       "device cpu: pes=-1, expected a multiple of 1 from 1 to 64");
	expect_refused("cpu:pes=1234567890", -EINVAL,
		       "device cpu: pes=1234567890, expected a multiple of 1 from 1 to 64");
	expect_refused("cpu:,pes=1", -EINVAL,
		       "device cpu: \"\", expected pes=, columns= or sram=");
	expect_refused("cpu:rows=2", -EINVAL,
		       "device cpu: \"rows=2\", expected pes=, columns= or sram=");
	expect_refused("cpu:pes=1,pes=1,pes=1,pes=1,pes=1,pes=1,pes=1,pes=1,pes=1,pes=1,"
		       "pes=1",
		       -ENAMETOOLONG,
		       "device cpu:pes=1,pes=1,pes=1,pes=1,pes=1,pes=1,...: a name of 69 bytes, "
		       "expected less than 64");
}

static void memory_of_a_pe_is_zero_and_says_where_it_is(void **state)
{
	struct accel_buffer *buffer, *system;
	unsigned char *data;

	expect_ok(accel_buffer_create_sram(*state, 3, 5000, &buffer, &error));
	assert_int_equal(accel_buffer_size(buffer), 8192);
	assert_int_equal(accel_buffer_pe(buffer), 3);
	expect_ok(accel_buffer_map(buffer, (void **)&data, &error));
	for (int i = 0; i < 8192; i++)
		assert_int_equal(data[i], 0);
	accel_buffer_unref(buffer);
	expect_ok(accel_buffer_create(*state, 1, &system, &error));
	assert_int_equal(accel_buffer_pe(system), ACCEL_PE_NONE);
	accel_buffer_unref(system);
}

static void memory_of_a_pe_is_its_own_and_comes_back(void **state)
{
	struct accel_device *device = open_grid("cpu:pes=2,sram=12K");
	struct accel_buffer *two_pages, *page, *others, *buffer;

	(void)state;
	expect_ok(accel_buffer_create_sram(device, 0, 8192, &two_pages, &error));
	expect_ok(accel_buffer_create_sram(device, 0, 1, &page, &error));
	expect_failure(accel_buffer_create_sram(device, 0, 1, &buffer, &error), -ENOSPC,
		       "buffer: 4096 bytes of the memory of PE 0 on cpu:pes=2,sram=12K: 0 of 12288 "
		       "are free");
	assert_null(buffer);
	expect_ok(accel_buffer_create_sram(device, 1, 12288, &others, &error));
	accel_buffer_unref(page);
	expect_failure(accel_buffer_create_sram(device, 0, 8192, &buffer, &error), -ENOSPC,
		       "buffer: 8192 bytes of the memory of PE 0 on cpu:pes=2,sram=12K: 4096 of "
		       "12288 are free");
	expect_ok(accel_buffer_create_sram(device, 0, 4096, &page, &error));
	accel_buffer_unref(page);
	accel_buffer_unref(two_pages);
	accel_buffer_unref(others);
	expect_ok(accel_buffer_create_sram(device, 0, 12288, &buffer, &error));
	accel_buffer_unref(buffer);
	accel_device_unref(device);
}

static void wrong_pes_and_sizes_are_refused(void **state)
{
	struct accel_device *device = open_grid("cpu:sram=0");
	struct accel_buffer *buffer;

	expect_failure(accel_buffer_create_sram(*state, 4, 1, &buffer, &error), -EINVAL,
		       "buffer: in the memory of PE 4, expected less than 4 on cpu");
	expect_failure(accel_buffer_create_sram(*state, ACCEL_PE_NONE, 1, &buffer, &error), -EINVAL,
		       "buffer: in the memory of PE 4294967295, expected less than 4 on cpu");
	expect_failure(accel_buffer_create_sram(*state, 0, 0, &buffer, &error), -EINVAL,
		       "buffer: 0 bytes of on-chip memory, expected 1 to 1048576 on cpu");
	expect_failure(accel_buffer_create_sram(*state, 0, 1048577, &buffer, &error), -EINVAL,
		       "buffer: 1048577 bytes of on-chip memory, expected 1 to 1048576 on cpu");
	expect_failure(accel_buffer_create_sram(device, 0, 1, &buffer, &error), -ENOTSUP,
		       "buffer: cpu:sram=0 has no on-chip memory");
	accel_device_unref(device);
}

static void memory_of_a_pe_is_not_exported(void **state)
{
	struct accel_buffer *buffer;
	int fd;

	expect_ok(accel_buffer_create_sram(*state, 1, 1, &buffer, &error));
	expect_failure(accel_buffer_export(buffer, &fd, &error), -ENOTSUP,
		       "buffer: export: it is on-chip memory, of PE 1");
	assert_int_equal(fd, -1);
	accel_buffer_unref(buffer);
}

/* Writes 0, 1, 2, .. to the memory of a tensor of u8. */
static void fill(struct accel_tensor *tensor)
{
	struct accel_buffer *buffer = accel_tensor_buffer(tensor);
	unsigned char *data;

	expect_ok(accel_buffer_map(buffer, (void **)&data, &error));
	for (uint64_t i = 0; i < accel_buffer_size(buffer); i++)
		data[i] = (unsigned char)i;
}

static void tensors_in_it_are_copied_like_others(void **state)
{
	static const int64_t shape[] = { 3, 5 };
	struct accel_tensor *near, *far;
	struct accel_layout *columns;
	struct accel_fence *fence;
	struct accel_job *job;
	unsigned char *data;

	expect_ok(accel_layout_parse("BA", "AB", &columns, &error));
	expect_ok(accel_tensor_create_sram(*state, 0, ACCEL_DTYPE_U8, 2, shape, NULL, &near,
					   &error));
	expect_ok(accel_tensor_create_sram(*state, 3, ACCEL_DTYPE_U8, 2, shape, columns, &far,
					   &error));
	assert_int_equal(accel_buffer_pe(accel_tensor_buffer(far)), 3);
	fill(near);
	expect_ok(accel_job_create_copy(far, near, &job, &error));
	expect_ok(accel_submit_to(*state, 3, &job, 1, NULL, 0, &fence, &error));
	expect_ok(accel_fence_wait(fence, -1, &error));
	expect_ok(accel_buffer_map(accel_tensor_buffer(far), (void **)&data, &error));
	for (int i = 0; i < 15; i++)
		assert_int_equal(data[i], i % 3 * 5 + i / 3);
	accel_fence_unref(fence);
	accel_job_unref(job);
	accel_tensor_unref(far);
	accel_tensor_unref(near);
	accel_layout_unref(columns);
}

static void tensor_that_does_not_fit_is_refused(void **state)
{
	static const int64_t shape[] = { 1 << 20, 2 }, empty[] = { 0, 7 };
	struct accel_tensor *tensor;

	expect_failure(accel_tensor_create_sram(*state, 0, ACCEL_DTYPE_U8, 2, shape, NULL, &tensor,
						&error), -EINVAL,
		       "buffer: 2097152 bytes of on-chip memory, expected 1 to 1048576 on cpu");
	assert_null(tensor);
	expect_ok(accel_tensor_create_sram(*state, 2, ACCEL_DTYPE_U8, 2, empty, NULL, &tensor,
					   &error));
	assert_int_equal(accel_buffer_pe(accel_tensor_buffer(tensor)), 2);
	accel_tensor_unref(tensor);
}

static void queue_that_is_not_there_is_refused(void **state)
{
	static const int64_t shape[] = { 4 };
	struct accel_tensor *from, *to;
	struct accel_fence *fence;
	struct accel_job *job;

	expect_ok(accel_tensor_create(*state, ACCEL_DTYPE_U8, 1, shape, NULL, &from, &error));
	expect_ok(accel_tensor_create(*state, ACCEL_DTYPE_U8, 1, shape, NULL, &to, &error));
	expect_ok(accel_job_create_copy(to, from, &job, &error));
	expect_failure(accel_submit_to(*state, 4, &job, 1, NULL, 0, &fence, &error), -EINVAL,
		       "submit: queue 4, expected less than 4 on cpu");
	assert_null(fence);
	expect_ok(accel_submit_to(*state, ACCEL_QUEUE_ANY, &job, 1, NULL, 0, NULL, &error));
	accel_job_unref(job);
	accel_tensor_unref(from);
	accel_tensor_unref(to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(name_says_what_the_grid_is),
		cmocka_unit_test(malformed_grid_is_refused),
		cmocka_unit_test(memory_of_a_pe_is_zero_and_says_where_it_is),
		cmocka_unit_test(memory_of_a_pe_is_its_own_and_comes_back),
		cmocka_unit_test(wrong_pes_and_sizes_are_refused),
		cmocka_unit_test(memory_of_a_pe_is_not_exported),
		cmocka_unit_test(tensors_in_it_are_copied_like_others),
		cmocka_unit_test(tensor_that_does_not_fit_is_refused),
		cmocka_unit_test(queue_that_is_not_there_is_refused),
	};

	return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
