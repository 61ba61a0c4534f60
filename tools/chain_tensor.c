// SPDX-License-Identifier: MIT
/*
 * A chain's tensors in memory: files are mapped where the device can read them there.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "chain_tensor.h"
#include "error.h"
#include "output.h"

static struct sigaction old_action;

static void fail_on_bus_error(int number)
{
	static const char message[] =
		"accel: an input became shorter, or could not be read, while it was used\n";
	ssize_t ignored = write(STDERR_FILENO, message, sizeof(message) - 1);

	(void)ignored;
	(void)number;
	output_abandon();
	_exit(STATUS_FAILED);
}

void chain_guard_files(bool is_guarded)
{
	struct sigaction action = { .sa_handler = fail_on_bus_error, .sa_flags = SA_RESETHAND };

	if (is_guarded)
		sigaction(SIGBUS, &action, &old_action);
	else
		sigaction(SIGBUS, &old_action, NULL);
}

/* A tensor of the data at the start of a buffer, in the file's own order of axes. */
static int place_tensor(const struct chain_input *input, struct accel_buffer *buffer,
			struct accel_tensor **tensor, struct accel_error *error)
{
	const struct npy_header *header = &input->header;
	int64_t strides[ACCEL_MAX_DIMS];
	int64_t stride = 1;

	for (uint32_t i = 0; i < header->rank; i++) {
		uint32_t axis = header->is_fortran ? i : header->rank - 1 - i;

		strides[axis] = stride;
		/* an empty shape may have extents of any size; its strides do not matter */
		if (header->num_elements)
			stride *= header->shape[axis];
	}
	return accel_tensor_from_buffer(buffer, header->dtype, header->rank, header->shape, strides,
					0, tensor, error);
}

/* A mapped file: from the page before its data to their end. */
struct mapping {
	void *start;
	size_t size;
};

static void unmap(void *context)
{
	struct mapping *mapping = context;

	munmap(mapping->start, mapping->size);
	free(mapping);
}

static int map_file(struct accel_device *device, const struct chain_input *input,
		    struct accel_buffer **buffer, struct accel_error *error)
{
	const struct npy_header *header = &input->header;
	uint64_t start = header->data_offset & ~((uint64_t)sysconf(_SC_PAGESIZE) - 1);
	uint64_t lead = header->data_offset - start;
	struct mapping *mapping = malloc(sizeof(*mapping));
	int ret;

	if (!mapping)
		return accel_error_set(error, -ENOMEM, "%s: out of memory", input->path);
	mapping->size = header->data_size + lead;
	mapping->start = mmap(NULL, mapping->size, PROT_READ, MAP_PRIVATE, input->fd,
			      (off_t)start);
	if (mapping->start == MAP_FAILED) {
		ret = accel_error_set(error, -errno, "%s: %s", input->path, strerror(errno));
		free(mapping);
		return ret;
	}
	ret = accel_buffer_from_memory(device, (char *)mapping->start + lead, header->data_size,
				       unmap, mapping, buffer, error);
	if (ret)
		unmap(mapping);
	return ret;
}

static int create_buffer(struct accel_device *device, const struct chain_input *input,
			 struct accel_buffer **buffer, struct accel_error *error)
{
	uint64_t size = input->header.data_size;

	return accel_buffer_create(device, size ? size : 1, buffer, error);
}

static int read_file(struct accel_device *device, const struct chain_input *input,
		     struct accel_buffer **buffer, struct accel_error *error)
{
	void *address;
	int ret = create_buffer(device, input, buffer, error);

	if (ret)
		return ret;
	ret = accel_buffer_map(*buffer, &address, error);
	if (!ret)
		ret = npy_read(input->fd, input->path, &input->header, address, error);
	if (ret)
		accel_buffer_unref(*buffer);
	return ret;
}

int chain_load_input(struct accel_device *device, const struct chain_input *input,
		     struct accel_tensor **tensor, struct accel_error *error)
{
	struct accel_device_info info;
	struct accel_buffer *buffer;
	int ret;

	accel_device_info(device, &info);
	if (info.kind == ACCEL_DEVICE_CPU && !input->header.is_big_endian &&
	    input->header.data_size)
		ret = map_file(device, input, &buffer, error);
	else
		ret = read_file(device, input, &buffer, error);
	if (ret)
		return ret;
	ret = place_tensor(input, buffer, tensor, error);
	accel_buffer_unref(buffer);
	return ret;
}

int chain_imagine_input(struct accel_device *device, const struct chain_input *input,
			struct accel_tensor **tensor, struct accel_error *error)
{
	struct accel_buffer *buffer;
	int ret = create_buffer(device, input, &buffer, error);

	if (ret)
		return ret;
	ret = place_tensor(input, buffer, tensor, error);
	accel_buffer_unref(buffer);
	return ret;
}
