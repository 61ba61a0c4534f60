// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files in sysfs, in the directory of the PCI device: what an administrator may set of one queue.
 * What holds for all devices are the module's parameters.
 */
#include "tessera_device.h"
#include "tessera_drv.h"
#include "tessera_queue.h"

static ssize_t timeout_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	struct tessera_queue *queue =
		container_of(attribute, struct tessera_queue, timeout_attribute);

	return sysfs_emit(text, "%u\n", tessera_queue_timeout_ms(queue));
}

static ssize_t timeout_store(struct device *dev, struct device_attribute *attribute,
			     const char *text, size_t size)
{
	struct tessera_queue *queue =
		container_of(attribute, struct tessera_queue, timeout_attribute);
	u32 ms;
	int ret;

	ret = kstrtou32(text, 0, &ms);
	if (ret)
		return ret;
	WRITE_ONCE(queue->timeout_ms, ms);
	/* The next look may have been planned for long after this */
	tessera_queue_look(queue);
	return size;
}

/**
 * tessera_sysfs_init() - make the files
 * @tdev: the device; they go when the driver lets go of it
 *
 * Return: 0 or an error.
 */
int tessera_sysfs_init(struct tessera_device *tdev)
{
	u32 q;

	tdev->timeout_group.name = "job_timeout_ms";
	tdev->timeout_group.attrs = tdev->timeout_attributes;
	for (q = 0; q < tdev->num_queues; q++) {
		struct device_attribute *attribute = &tdev->queues[q].timeout_attribute;

		sysfs_attr_init(&attribute->attr);
		attribute->attr.name = tdev->queues[q].name + strlen(TESSERA_NAME "-");
		attribute->attr.mode = 0644;
		attribute->show = timeout_show;
		attribute->store = timeout_store;
		tdev->timeout_attributes[q] = &attribute->attr;
	}
	return devm_device_add_group(tdev->drm.dev, &tdev->timeout_group);
}
