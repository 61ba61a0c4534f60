// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files in sysfs, in the directory of the PCI device: what an administrator may set of one queue.
 * What holds for all devices are the module's parameters.
 */
#include "tessera_device.h"
#include "tessera_drv.h"
#include "tessera_queue.h"

/* Of each queue that a device may have; a device shows those of the queues that it has */
static struct device_attribute timeouts[TESSERA_MAX_QUEUES];
static char timeout_names[TESSERA_MAX_QUEUES][8];
static struct attribute *timeout_list[TESSERA_MAX_QUEUES + 1];

static struct tessera_queue *to_queue(struct device *dev, struct device_attribute *attribute)
{
	return &((struct tessera_device *)dev_get_drvdata(dev))->queues[attribute - timeouts];
}

static ssize_t timeout_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	return sysfs_emit(text, "%u\n", tessera_queue_timeout_ms(to_queue(dev, attribute)));
}

static ssize_t timeout_store(struct device *dev, struct device_attribute *attribute,
			     const char *text, size_t size)
{
	struct tessera_queue *queue = to_queue(dev, attribute);
	u32 ms;
	int ret = kstrtou32(text, 0, &ms);

	if (ret)
		return ret;
	WRITE_ONCE(queue->timeout_ms, ms);
	/* The next look may have been planned for long after this */
	tessera_queue_look(queue);
	return size;
}

static umode_t timeout_mode(struct kobject *kobj, struct attribute *attribute, int index)
{
	struct tessera_device *tdev = dev_get_drvdata(kobj_to_dev(kobj));

	return index < tdev->num_queues ? attribute->mode : 0;
}

static const struct attribute_group timeout_group = {
	.name = "job_timeout_ms",
	.attrs = timeout_list,
	.is_visible = timeout_mode,
};

/* &pci_driver.dev_groups */
const struct attribute_group *tessera_dev_groups[] = {
	&timeout_group,
	NULL
};

/**
 * tessera_sysfs_init() - fill in the files, before there is a device
 */
void __init tessera_sysfs_init(void)
{
	u32 q;

	for (q = 0; q < TESSERA_MAX_QUEUES; q++) {
		snprintf(timeout_names[q], sizeof(timeout_names[q]), "pe%u", q);
		timeouts[q] = (struct device_attribute)
			__ATTR(unnamed, 0644, timeout_show, timeout_store);
		timeouts[q].attr.name = timeout_names[q];
		timeout_list[q] = &timeouts[q].attr;
	}
}
