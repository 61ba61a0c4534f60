// SPDX-License-Identifier: MIT
/*
 * Devices: found, opened, counted. What a device can do is its backend's: cpu.c, tessera.c.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "device/device.h"

#define NODES_FOLDER	"/dev/accel"
#define CPU_NAME	"cpu"
#define STRINGIFY(x)	#x
#define VERSION(a, b, c) STRINGIFY(a) "." STRINGIFY(b) "." STRINGIFY(c)

ACCEL_API const char *accel_version(void)
{
	return VERSION(ACCEL_VERSION_MAJOR, ACCEL_VERSION_MINOR, ACCEL_VERSION_PATCH);
}

int64_t device_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t device_deadline_ns(int64_t timeout_ns)
{
	int64_t deadline_ns;

	if (timeout_ns < 0)
		return INT64_MAX;
	/* a time in the past is what the driver takes for: do not wait */
	if (!timeout_ns)
		return 0;
	if (__builtin_add_overflow(device_now_ns(), timeout_ns, &deadline_ns))
		return INT64_MAX;
	return deadline_ns;
}

/* The number N of a name accelN, or -1. */
static long node_number(const char *name)
{
	const char *digits = name + strlen("accel");

	if (strncmp(name, "accel", strlen("accel")) || !*digits || strlen(digits) > 9 ||
	    digits[strspn(digits, "0123456789")])
		return -1;
	return strtol(digits, NULL, 10);
}

static int compare_numbers(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

/* The numbers of all accel nodes, whoever's, in order; *numbers is the caller's to free. */
static int list_nodes(long **numbers, size_t *count, struct accel_error *error)
{
	DIR *folder = opendir(NODES_FOLDER);
	struct dirent *entry;
	int ret = 0;

	*numbers = NULL;
	*count = 0;
	if (!folder)
		return errno == ENOENT ? 0 : accel_error_set(error, -errno, NODES_FOLDER ": %s",
							     strerror(errno));
	while ((entry = readdir(folder))) {
		long number = node_number(entry->d_name);
		long *grown;

		if (number < 0)
			continue;
		grown = reallocarray(*numbers, *count + 1, sizeof(grown[0]));
		if (!grown) {
			ret = accel_error_set(error, -ENOMEM, NODES_FOLDER ": out of memory");
			break;
		}
		*numbers = grown;
		grown[(*count)++] = number;
	}
	closedir(folder);
	if (*count)
		qsort(*numbers, *count, sizeof((*numbers)[0]), compare_numbers);
	return ret;
}

ACCEL_API int accel_device_enumerate(int (*visit)(const char *name, void *context), void *context,
				     struct accel_error *error)
{
	char path[sizeof(NODES_FOLDER "/accel") + 20];
	long *numbers;
	size_t count;
	int ret = list_nodes(&numbers, &count, error);

	for (size_t i = 0; i < count && !ret; i++) {
		snprintf(path, sizeof(path), NODES_FOLDER "/accel%ld", numbers[i]);
		if (tessera_is_node(path))
			ret = visit(path, context);
	}
	free(numbers);
	return ret ? ret : visit(CPU_NAME, context);
}

static int take_first(const char *name, void *context)
{
	snprintf(context, sizeof(((struct accel_device_info *)0)->name), "%s", name);
	return 1;
}

static int open_backend(struct accel_device *device, const char *name, struct accel_error *error)
{
	char first[sizeof(device->info.name)];

	if (!name) {
		int ret = accel_device_enumerate(take_first, first, error);

		if (ret < 0)
			return ret;
		name = first;
	}
	if (!strncmp(name, CPU_NAME, strlen(CPU_NAME)) &&
	    (!name[strlen(CPU_NAME)] || name[strlen(CPU_NAME)] == ':'))
		return cpu_open(device, name, error);
	return tessera_open(device, name, error);
}

ACCEL_API int accel_open(const char *name, struct accel_device **result, struct accel_error *error)
{
	struct accel_device *device = calloc(1, sizeof(*device));
	int ret;

	*result = NULL;
	if (!device)
		return accel_error_set(error, -ENOMEM, "device: out of memory");
	atomic_init(&device->refs, 1);
	atomic_init(&device->priority, ACCEL_PRIORITY_NORMAL);
	atomic_init(&device->is_counting, false);
	pthread_mutex_init(&device->buffers_lock, NULL);
	device->fd = -1;
	ret = open_backend(device, name, error);
	if (ret) {
		pthread_mutex_destroy(&device->buffers_lock);
		free(device);
		return ret;
	}
	*result = device;
	return 0;
}

ACCEL_API struct accel_device *accel_device_ref(struct accel_device *device)
{
	atomic_fetch_add_explicit(&device->refs, 1, memory_order_relaxed);
	return device;
}

ACCEL_API void accel_device_unref(struct accel_device *device)
{
	/* acq_rel: whoever frees sees what all others did to the object before they let go */
	if (!device || atomic_fetch_sub_explicit(&device->refs, 1, memory_order_acq_rel) != 1)
		return;
	device->backend->close(device);
	pthread_mutex_destroy(&device->buffers_lock);
	free(device);
}

ACCEL_API void accel_device_info(const struct accel_device *device,
				 struct accel_device_info *info)
{
	*info = device->info;
}

ACCEL_API int accel_device_set_priority(struct accel_device *device, enum accel_priority priority,
					struct accel_error *error)
{
	if (priority != ACCEL_PRIORITY_NORMAL && priority != ACCEL_PRIORITY_LOW)
		return accel_error_set(error, -EINVAL,
				       "device: priority %u, expected %d (normal) or %d (low)",
				       priority, ACCEL_PRIORITY_NORMAL, ACCEL_PRIORITY_LOW);
	/* relaxed: it stands for nothing but itself */
	atomic_store_explicit(&device->priority, priority, memory_order_relaxed);
	return 0;
}
