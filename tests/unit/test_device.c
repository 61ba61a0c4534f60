// SPDX-License-Identifier: MIT
/*
 * Devices and buffers: opened, enumerated, mapped, exported, imported. On the CPU backend.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include "accel_test.h"

static struct accel_error error;

static struct accel_buffer *create_buffer(struct accel_device *device, uint64_t size)
{
	struct accel_buffer *buffer;

	expect_ok(accel_buffer_create(device, size, &buffer, &error));
	return buffer;
}

static void version_is_that_of_the_header(void **state)
{
	char version[32];

	(void)state;
	snprintf(version, sizeof(version), "%d.%d.%d", ACCEL_VERSION_MAJOR, ACCEL_VERSION_MINOR,
		 ACCEL_VERSION_PATCH);
	assert_string_equal(accel_version(), version);
}

static void cpu_describes_itself(void **state)
{
	struct accel_device_info info;

	accel_device_info(*state, &info);
	assert_int_equal(info.kind, ACCEL_DEVICE_CPU);
	assert_string_equal(info.name, "cpu");
	assert_string_equal(info.driver, "libaccel");
	assert_int_equal(info.max_rank, ACCEL_MAX_RANK);
	assert_int_equal(info.max_jobs, ACCEL_MAX_JOBS);
	assert_true(info.max_buffer_size > 1 << 20);
}

static void missing_node_is_refused(void **state)
{
	struct accel_device *device = (void *)1;

	(void)state;
	expect_failure(accel_open("/no/such/node", &device, &error), -ENOENT,
		       "device /no/such/node: No such file or directory (expected \"cpu\" or the "
		       "path of a Tessera node)");
	assert_null(device);
}

static void node_of_another_kind_is_refused(void **state)
{
	struct accel_device *device;

	(void)state;
	expect_failure(accel_open("/dev/null", &device, &error), -ENODEV,
		       "device /dev/null: not a DRM node, expected a Tessera");
}

static void long_path_is_refused(void **state)
{
	struct accel_device *device;
	char path[100];

	(void)state;
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	expect_failure(accel_open(path, &device, &error), -ENAMETOOLONG,
		       "device xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...: a path of 99 bytes, "
		       "expected less than 64");
}

static void errors_may_be_ignored(void **state)
{
	struct accel_device *device;

	(void)state;
	assert_int_equal(accel_open("/no/such/node", &device, NULL), -ENOENT);
}

static void cpu_takes_every_priority(void **state)
{
	expect_ok(accel_device_set_priority(*state, ACCEL_PRIORITY_LOW, &error));
	expect_ok(accel_device_set_priority(*state, ACCEL_PRIORITY_NORMAL, &error));
}

static void unknown_priority_is_refused(void **state)
{
	expect_failure(accel_device_set_priority(*state, (enum accel_priority)2, &error), -EINVAL,
		       "device: priority 2, expected 0 (normal) or 1 (low)");
}

static int keep_last(const char *name, void *context)
{
	snprintf(context, 64, "%s", name);
	return 0;
}

static int stop_with_7(const char *name, void *context)
{
	(void)name;
	++*(int *)context;
	return 7;
}

static void cpu_is_enumerated_last(void **state)
{
	char last[64] = "";

	(void)state;
	expect_ok(accel_device_enumerate(keep_last, last, &error));
	assert_string_equal(last, "cpu");
}

static void enumeration_stops_when_told(void **state)
{
	int count = 0;

	(void)state;
	assert_int_equal(accel_device_enumerate(stop_with_7, &count, &error), 7);
	assert_int_equal(count, 1);
}

static void buffer_reads_as_zero_and_keeps_what_is_written(void **state)
{
	struct accel_buffer *buffer = create_buffer(*state, 5000);
	unsigned char *data, *again;

	assert_true(accel_buffer_size(buffer) >= 5000);
	assert_int_equal(accel_buffer_size(buffer) % (uint64_t)sysconf(_SC_PAGESIZE), 0);
	assert_ptr_equal(accel_buffer_device(buffer), *state);
	expect_ok(accel_buffer_map(buffer, (void **)&data, &error));
	for (uint64_t i = 0; i < accel_buffer_size(buffer); i++)
		assert_int_equal(data[i], 0);
	data[4999] = 7;
	expect_ok(accel_buffer_map(buffer, (void **)&again, &error));
	assert_ptr_equal(again, data);
	assert_int_equal(again[4999], 7);
	accel_buffer_unref(buffer);
}

static void buffer_of_no_bytes_is_refused(void **state)
{
	struct accel_device_info info;
	struct accel_buffer *buffer;
	char message[200];

	accel_device_info(*state, &info);
	snprintf(message, sizeof(message), "buffer: 0 bytes, expected 1 to %llu on cpu",
		 (unsigned long long)info.max_buffer_size);
	expect_failure(accel_buffer_create(*state, 0, &buffer, &error), -EINVAL, message);
}

static void buffer_over_the_limit_is_refused(void **state)
{
	struct accel_buffer *buffer;

	assert_int_equal(accel_buffer_create(*state, UINT64_MAX, &buffer, &error), -EINVAL);
	assert_null(buffer);
}

static void buffer_waits_for_nothing_on_the_cpu(void **state)
{
	struct accel_buffer *buffer = create_buffer(*state, 1);

	expect_ok(accel_buffer_wait(buffer, ACCEL_ACCESS_READ, 0, &error));
	expect_ok(accel_buffer_wait(buffer, ACCEL_ACCESS_WRITE, -1, &error));
	expect_failure(accel_buffer_wait(buffer, (enum accel_access)2, 0, &error), -EINVAL,
		       "buffer: access 2, expected ACCEL_ACCESS_READ or ACCEL_ACCESS_WRITE");
	accel_buffer_unref(buffer);
}

static void exported_memory_is_the_buffers(void **state)
{
	struct accel_buffer *buffer = create_buffer(*state, 4096);
	unsigned char *data, *view;
	int fd;

	expect_ok(accel_buffer_map(buffer, (void **)&data, &error));
	expect_ok(accel_buffer_export(buffer, &fd, &error));
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	view = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(view, MAP_FAILED);
	data[9] = 3;
	assert_int_equal(view[9], 3);
	munmap(view, 4096);
	close(fd);
	accel_buffer_unref(buffer);
}

static void exported_memory_cannot_be_taken_away(void **state)
{
	struct accel_buffer *buffer = create_buffer(*state, 4096);
	int fd;

	expect_ok(accel_buffer_export(buffer, &fd, &error));
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(errno, EPERM);
	close(fd);
	accel_buffer_unref(buffer);
}

static void import_of_an_export_is_the_same_buffer(void **state)
{
	struct accel_buffer *buffer = create_buffer(*state, 4096), *imported;
	int fd;

	expect_ok(accel_buffer_export(buffer, &fd, &error));
	expect_ok(accel_buffer_import(*state, fd, &imported, &error));
	assert_ptr_equal(imported, buffer);
	close(fd);
	accel_buffer_unref(buffer);
	assert_int_equal(accel_buffer_size(imported), 4096);
	accel_buffer_unref(imported);
}

static void import_into_another_device_shares_the_memory(void **state)
{
	struct accel_buffer *buffer = create_buffer(*state, 4096), *imported;
	struct accel_device *other;
	unsigned char *data, *view;
	int fd;

	expect_ok(accel_open("cpu", &other, &error));
	expect_ok(accel_buffer_export(buffer, &fd, &error));
	expect_ok(accel_buffer_import(other, fd, &imported, &error));
	close(fd);
	assert_ptr_not_equal(imported, buffer);
	assert_int_equal(accel_buffer_size(imported), 4096);
	expect_ok(accel_buffer_map(buffer, (void **)&data, &error));
	expect_ok(accel_buffer_map(imported, (void **)&view, &error));
	data[100] = 5;
	accel_buffer_unref(buffer);
	assert_int_equal(view[100], 5);
	accel_buffer_unref(imported);
	accel_device_unref(other);
}

static void import_of_no_descriptor_is_refused(void **state)
{
	struct accel_buffer *buffer;

	expect_failure(accel_buffer_import(*state, -1, &buffer, &error), -EBADF,
		       "buffer: file descriptor -1: Bad file descriptor");
	assert_null(buffer);
}

/* Imports fd, which must be refused with this. */
static void expect_import_refused(struct accel_device *device, int fd, int code,
				  const char *format)
{
	struct accel_buffer *buffer;
	char message[200];

	assert_true(fd >= 0);
	snprintf(message, sizeof(message), format, fd);
	expect_failure(accel_buffer_import(device, fd, &buffer, &error), code, message);
	close(fd);
}

#define EXPECTED_SEALED "buffer: file descriptor %d, expected a memfd sealed against " \
			"shrinking (the CPU takes no dma-buf)"

static void import_of_a_plain_file_is_refused(void **state)
{
	expect_import_refused(*state, open("/dev/null", O_RDWR), -EINVAL, EXPECTED_SEALED);
}

static void import_of_an_unsealed_memfd_is_refused(void **state)
{
	int fd = memfd_create("test", MFD_ALLOW_SEALING);

	assert_int_equal(ftruncate(fd, 4096), 0);
	expect_import_refused(*state, fd, -EINVAL, EXPECTED_SEALED);
}

static void import_of_an_empty_memfd_is_refused(void **state)
{
	int fd = memfd_create("test", MFD_ALLOW_SEALING);

	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	expect_import_refused(*state, fd, -EINVAL, "buffer: the memfd of file descriptor %d is "
			      "empty, expected 1 byte or more");
}

static void import_of_a_read_only_memfd_is_refused(void **state)
{
	int fd = memfd_create("test", MFD_ALLOW_SEALING);

	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_WRITE), 0);
	expect_import_refused(*state, fd, -EACCES, "buffer: file descriptor %d is read-only, "
			      "expected one to read and write");
}

#define NUM_THREADS 4
#define NUM_ROUNDS 2000

struct importer {
	struct accel_device *device;
	int fd;
};

static void *import_and_drop(void *context)
{
	const struct importer *importer = context;

	for (int i = 0; i < NUM_ROUNDS; i++) {
		struct accel_buffer *buffer;
		void *data;

		if (accel_buffer_import(importer->device, importer->fd, &buffer, NULL) ||
		    accel_buffer_map(buffer, &data, NULL))
			return (void *)1;
		__atomic_add_fetch((unsigned char *)data, 1, __ATOMIC_RELAXED);
		accel_buffer_unref(buffer);
	}
	return NULL;
}

static void threads_may_import_and_drop_the_same_buffer(void **state)
{
	struct accel_buffer *buffer = create_buffer(*state, 4096);
	struct importer importer = { .device = *state };
	pthread_t threads[NUM_THREADS];

	expect_ok(accel_buffer_export(buffer, &importer.fd, &error));
	accel_buffer_unref(buffer);
	for (int i = 0; i < NUM_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, import_and_drop, &importer), 0);
	for (int i = 0; i < NUM_THREADS; i++) {
		void *result;

		pthread_join(threads[i], &result);
		assert_null(result);
	}
	close(importer.fd);
}

static void nothing_is_a_reference_to_drop(void **state)
{
	(void)state;
	accel_device_unref(NULL);
	accel_buffer_unref(NULL);
	accel_job_unref(NULL);
	accel_fence_unref(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_is_that_of_the_header),
		cmocka_unit_test(cpu_describes_itself),
		cmocka_unit_test(missing_node_is_refused),
		cmocka_unit_test(node_of_another_kind_is_refused),
		cmocka_unit_test(long_path_is_refused),
		cmocka_unit_test(errors_may_be_ignored),
		cmocka_unit_test(cpu_takes_every_priority),
		cmocka_unit_test(unknown_priority_is_refused),
		cmocka_unit_test(cpu_is_enumerated_last),
		cmocka_unit_test(enumeration_stops_when_told),
		cmocka_unit_test(buffer_reads_as_zero_and_keeps_what_is_written),
		cmocka_unit_test(buffer_of_no_bytes_is_refused),
		cmocka_unit_test(buffer_over_the_limit_is_refused),
		cmocka_unit_test(buffer_waits_for_nothing_on_the_cpu),
		cmocka_unit_test(exported_memory_is_the_buffers),
		cmocka_unit_test(exported_memory_cannot_be_taken_away),
		cmocka_unit_test(import_of_an_export_is_the_same_buffer),
		cmocka_unit_test(import_into_another_device_shares_the_memory),
		cmocka_unit_test(import_of_no_descriptor_is_refused),
		cmocka_unit_test(import_of_a_plain_file_is_refused),
		cmocka_unit_test(import_of_an_unsealed_memfd_is_refused),
		cmocka_unit_test(import_of_an_empty_memfd_is_refused),
		cmocka_unit_test(import_of_a_read_only_memfd_is_refused),
		cmocka_unit_test(threads_may_import_and_drop_the_same_buffer),
		cmocka_unit_test(nothing_is_a_reference_to_drop),
	};

	return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
