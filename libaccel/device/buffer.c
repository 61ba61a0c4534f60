// SPDX-License-Identifier: MIT
/*
 * Buffers: counted, mapped, and kept in their device's list so that memory which comes back by an
 * import is known again. Where the memory comes from is the backend's.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/device.h"

static struct accel_buffer *new_buffer(struct accel_device *device, struct accel_error *error)
{
	struct accel_buffer *buffer = calloc(1, sizeof(*buffer));

	if (!buffer) {
		accel_error_set(error, -ENOMEM, "buffer: out of memory");
		return NULL;
	}
	atomic_init(&buffer->refs, 1);
	atomic_init(&buffer->address, NULL);
	buffer->fd = -1;
	buffer->pe = ACCEL_PE_NONE;
	buffer->device = accel_device_ref(device);
	return buffer;
}

static void free_buffer(struct accel_buffer *buffer)
{
	if (buffer->fd >= 0)
		close(buffer->fd);
	if (buffer->release)
		buffer->release(buffer->context);
	accel_device_unref(buffer->device);
	free(buffer);
}

static struct accel_buffer *find_buffer(const struct accel_device *device, struct buffer_key key)
{
	struct accel_buffer *buffer = device->buffers;

	while (buffer && (buffer->key.space != key.space || buffer->key.number != key.number))
		buffer = buffer->next;
	return buffer;
}

static void link_buffer(struct accel_buffer *buffer)
{
	struct accel_device *device = buffer->device;

	buffer->next = device->buffers;
	if (buffer->next)
		buffer->next->previous = buffer;
	device->buffers = buffer;
}

static void unlink_buffer(struct accel_buffer *buffer)
{
	if (buffer->previous)
		buffer->previous->next = buffer->next;
	else
		buffer->device->buffers = buffer->next;
	if (buffer->next)
		buffer->next->previous = buffer->previous;
}

/* The arguments are checked. */
static int create_buffer(struct accel_device *device, uint32_t pe, uint64_t size,
			 struct accel_buffer **result, struct accel_error *error)
{
	struct accel_buffer *buffer = new_buffer(device, error);
	int ret;

	if (!buffer)
		return -ENOMEM;
	buffer->pe = pe;
	ret = device->backend->create_buffer(buffer, size, error);
	if (ret) {
		free_buffer(buffer);
		return ret;
	}
	/* in time: nobody can import it before it was exported */
	pthread_mutex_lock(&device->buffers_lock);
	link_buffer(buffer);
	pthread_mutex_unlock(&device->buffers_lock);
	*result = buffer;
	return 0;
}

ACCEL_API int accel_buffer_create(struct accel_device *device, uint64_t size,
				  struct accel_buffer **buffer, struct accel_error *error)
{
	*buffer = NULL;
	if (!size || size > device->info.max_buffer_size)
		return accel_error_set(error, -EINVAL,
				       "buffer: %" PRIu64 " bytes, expected 1 to %" PRIu64
				       " on %s", size, device->info.max_buffer_size,
				       device->info.name);
	return create_buffer(device, ACCEL_PE_NONE, size, buffer, error);
}

ACCEL_API int accel_buffer_create_sram(struct accel_device *device, uint32_t pe, uint64_t size,
				       struct accel_buffer **buffer, struct accel_error *error)
{
	const struct accel_device_info *info = &device->info;

	*buffer = NULL;
	if (!info->sram_size)
		return accel_error_set(error, -ENOTSUP, "buffer: %s has no on-chip memory",
				       info->name);
	if (pe >= info->num_queues)
		return accel_error_set(error, -EINVAL,
				       "buffer: in the memory of PE %u, expected less than %u on "
				       "%s", pe, info->num_queues, info->name);
	if (!size || size > info->sram_size)
		return accel_error_set(error, -EINVAL,
				       "buffer: %" PRIu64 " bytes of on-chip memory, expected 1 to "
				       "%" PRIu64 " on %s", size, info->sram_size, info->name);
	return create_buffer(device, pe, size, buffer, error);
}

ACCEL_API uint32_t accel_buffer_pe(const struct accel_buffer *buffer)
{
	return buffer->pe;
}

ACCEL_API int accel_buffer_import(struct accel_device *device, int fd,
				  struct accel_buffer **result, struct accel_error *error)
{
	struct accel_buffer *buffer, *known = NULL;
	int ret;

	*result = NULL;
	buffer = new_buffer(device, error);
	if (!buffer)
		return -ENOMEM;
	pthread_mutex_lock(&device->buffers_lock);
	ret = device->backend->import_buffer(buffer, fd, error);
	if (!ret) {
		known = find_buffer(device, buffer->key);
		if (known)
			accel_buffer_ref(known);
		else
			link_buffer(buffer);
	}
	pthread_mutex_unlock(&device->buffers_lock);
	if (ret || known)
		free_buffer(buffer);
	*result = ret ? NULL : known ? known : buffer;
	return ret;
}

int buffer_from_memory(struct accel_device *device, void *address, uint64_t size,
		       bool is_read_only, void (*release)(void *context), void *context,
		       struct accel_buffer **result, struct accel_error *error)
{
	struct accel_buffer *buffer;
	uintptr_t end;

	*result = NULL;
	if (!device->backend->adopt_memory)
		return accel_error_set(error, -ENOTSUP,
				       "buffer: memory of the caller's on %s, only the CPU reaches "
				       "that", device->info.name);
	if (!address)
		return accel_error_set(error, -EINVAL, "buffer: address NULL, expected memory");
	if (!size)
		return accel_error_set(error, -EINVAL, "buffer: 0 bytes, expected 1 or more");
	if (__builtin_add_overflow((uintptr_t)address, size, &end))
		return accel_error_set(error, -EOVERFLOW,
				       "buffer: %" PRIu64 " bytes at 0x%" PRIxPTR
				       " reach beyond 64 bits", size, (uintptr_t)address);
	buffer = new_buffer(device, error);
	if (!buffer)
		return -ENOMEM;
	buffer->size = size;
	buffer->is_foreign = true;
	buffer->is_read_only = is_read_only;
	buffer->release = release;
	buffer->context = context;
	atomic_init(&buffer->address, address);
	device->backend->adopt_memory(buffer);
	pthread_mutex_lock(&device->buffers_lock);
	link_buffer(buffer);
	pthread_mutex_unlock(&device->buffers_lock);
	*result = buffer;
	return 0;
}

ACCEL_API int accel_buffer_from_memory(struct accel_device *device, void *address, uint64_t size,
				       void (*release)(void *context), void *context,
				       struct accel_buffer **buffer, struct accel_error *error)
{
	return buffer_from_memory(device, address, size, false, release, context, buffer, error);
}

ACCEL_API struct accel_buffer *accel_buffer_ref(struct accel_buffer *buffer)
{
	atomic_fetch_add_explicit(&buffer->refs, 1, memory_order_relaxed);
	return buffer;
}

/* Drops a reference unless it is the last. */
static bool drop_one_of_several(struct accel_buffer *buffer)
{
	unsigned int refs = atomic_load_explicit(&buffer->refs, memory_order_relaxed);

	/* release: pairs with the acquire of whoever drops the last one */
	while (refs > 1) {
		if (atomic_compare_exchange_weak_explicit(&buffer->refs, &refs, refs - 1,
							  memory_order_release,
							  memory_order_relaxed))
			return true;
	}
	return false;
}

ACCEL_API void accel_buffer_unref(struct accel_buffer *buffer)
{
	struct accel_device *device;
	void *address;

	if (!buffer || drop_one_of_several(buffer))
		return;
	device = buffer->device;
	/* the last one goes under the lock, so that no import finds a buffer without references */
	pthread_mutex_lock(&device->buffers_lock);
	if (atomic_fetch_sub_explicit(&buffer->refs, 1, memory_order_acq_rel) != 1) {
		pthread_mutex_unlock(&device->buffers_lock);
		return;
	}
	unlink_buffer(buffer);
	address = atomic_load_explicit(&buffer->address, memory_order_relaxed);
	if (address && !buffer->is_foreign)
		munmap(address, buffer->size);
	if (device->backend->release_buffer)
		device->backend->release_buffer(buffer);
	pthread_mutex_unlock(&device->buffers_lock);
	free_buffer(buffer);
}

ACCEL_API struct accel_device *accel_buffer_device(const struct accel_buffer *buffer)
{
	return buffer->device;
}

ACCEL_API uint64_t accel_buffer_size(const struct accel_buffer *buffer)
{
	return buffer->size;
}

ACCEL_API int accel_buffer_map(struct accel_buffer *buffer, void **address,
			       struct accel_error *error)
{
	/* acquire: pairs with the release below, so that the mapping is there before its use */
	void *known = atomic_load_explicit(&buffer->address, memory_order_acquire);
	void *mapped;
	int ret;

	*address = known;
	if (known)
		return 0;
	ret = buffer->device->backend->map_buffer(buffer, &mapped, error);
	if (ret)
		return ret;
	if (atomic_compare_exchange_strong_explicit(&buffer->address, &known, mapped,
						    memory_order_release, memory_order_acquire)) {
		*address = mapped;
	} else {
		munmap(mapped, buffer->size);
		*address = known;
	}
	return 0;
}

ACCEL_API int accel_buffer_export(struct accel_buffer *buffer, int *fd, struct accel_error *error)
{
	*fd = -1;
	return buffer->device->backend->export_buffer(buffer, fd, error);
}

ACCEL_API int accel_buffer_wait(struct accel_buffer *buffer, enum accel_access access,
				int64_t timeout_ns, struct accel_error *error)
{
	if (access != ACCEL_ACCESS_READ && access != ACCEL_ACCESS_WRITE)
		return accel_error_set(error, -EINVAL,
				       "buffer: access %d, expected ACCEL_ACCESS_READ or "
				       "ACCEL_ACCESS_WRITE", (int)access);
	return buffer->device->backend->wait_buffer(buffer, access,
						    device_deadline_ns(timeout_ns), error);
}
